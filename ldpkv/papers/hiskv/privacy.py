"""HISKV page 02: what its two stages promise, by exact enumeration, under every reading."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ldpkv import hiskv
from ldpkv.estimation import Counts
from ldpkv.hiskv import HISKV, LRRKV, LengthEstimate
from ldpkv.mechanisms import User
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)
from ldpkv.papers.hiskv.mechanism import PRINTED, TALKING, reading, reading_lines
from ldpkv.privacy import extreme_users, report_laws, worst_ratio

PAGE = "notebooks/hiskv/02-privacy.ipynb"

GRID = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # the paper's budgets
EXPS = (Fraction(9, 4), Fraction(25))
SIZES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "quick": ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2)),
    "paper": tuple(itertools.product(range(1, 6), range(1, 4))),
}
# The corrected family, by tilt and level of its promise.
CORRECTED = tuple(itertools.product((Fraction(1, 2), Fraction(1), Fraction(3, 2)), hiskv.LEVELS))


# --- one pair --------------------------------------------------------------------------------


def lemma_1(profile: str = "quick") -> Result:
    """Vary q_1 at the printed p_1 and enumerate the channel, in exact fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes.

    Returns
    -------
    Result
        One row for each e^epsilon, d' and c = q_1 (e^epsilon + d' - 1): the exact ratio of a pair
        and the closed form of Lemma 1.
    """
    rows = []
    for exp_epsilon, (n_keys, padding) in itertools.product(EXPS, SIZES[check_profile(profile)]):
        cells = 2 * (n_keys + padding)
        unit = 1 / (exp_epsilon + cells - 1)
        top = min(exp_epsilon, Fraction(cells) - Fraction(3, 2))
        for tilt in (Fraction(1, 2), Fraction(1), (1 + top) / 2, top):
            q2 = (1 - (exp_epsilon + tilt) * unit) / (cells - 2)
            m = LRRKV(n_keys, padding, exp_epsilon * unit, tilt * unit, q2)
            weights = m.channel().weights
            ratio = max(Fraction(int(max(c)), int(min(c))) for c in weights.T)
            closed = exp_epsilon * hiskv.lemma1_excess(tilt, cells) if tilt >= 1 else None
            rows.append((exp_epsilon, cells, tilt, ratio, closed))
    table = pd.DataFrame(rows, columns=["exp_epsilon", "cells", "tilt", "ratio", "closed_form"])
    above, one = table["tilt"] > 1, table["tilt"] == 1
    breached = table["ratio"] > table["exp_epsilon"]
    example = LRRKV.reading_c(Fraction(4), n_keys=1, padding=1)
    facts = {
        "cases": int(above.sum()),
        "breached": int((breached & above).sum()),
        "equal": int(one.sum()),
        "kept": int((~breached & one).sum()),
        "below": int((table["tilt"] < 1).sum()),
        "breached_below": int((breached & (table["tilt"] < 1)).sum()),
        "closed": bool((table["ratio"] == table["closed_form"])[above | one].all()),
        "example": example.exp_epsilon("pair"),
    }
    return Result(profile, table, facts, setting="exact fractions")


def breach(profile: str = "quick") -> Result:
    """Exact epsilon of one pair for the printed readings, against d' and epsilon.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The paper profile has a finer grid.

    Returns
    -------
    Result
        One row for each panel, reading and point: the excess over the nominal epsilon. It depends
        on d and l through d' = 2 (d + l) only.
    """
    steps = 13 if check_profile(profile) == "quick" else 40
    widths = sorted({*np.geomspace(4, 2000, steps).astype(int).tolist(), 6, 110, 343, 452})
    budgets = np.linspace(0.1, 3.2, steps).tolist()
    rows = []
    for letter in PRINTED:
        points = [("cells", 1.6, width) for width in widths]
        points += [("epsilon", epsilon, 6) for epsilon in budgets]
        for panel, epsilon, width in points:
            m = reading(letter, math.exp(epsilon), width - 1, 1)
            if m is not None:
                excess = math.log(m.exp_epsilon("pair")) - epsilon
                rows.append((panel, letter, epsilon, 2 * width, max(0.0, excess)))
    table = pd.DataFrame(rows, columns=["panel", "reading", "epsilon", "cells", "excess"])
    large = {
        letter: max(
            math.log(
                LRRKV.from_epsilon(e, n_keys=306, padding=37, reading=letter).exp_epsilon("pair")
            )
            - e
            for e in GRID
        )
        for letter in PRINTED
    }
    small = table[(table["panel"] == "epsilon") & (table["epsilon"] == 3.2)]
    facts = {
        "large_bce": max(large[letter] for letter in "BCE"),
        "large_d": large["D"],
        "small_c": float(small.set_index("reading")["excess"]["C"]),
        "small_b": float(small.set_index("reading")["excess"]["B"]),
        "a": float(table["excess"][table["reading"] == "A"].max()),
    }
    return Result(profile, table, facts, setting="(a) nominal ε = 1.6, (b) d' = 12")


def draw_breach(result: Result) -> Figure:
    """Draw the excess of a pair's exact epsilon over the nominal one."""
    figure, axes = plots.new_figure(2)
    for axis, panel, name in zip(
        axes, ("cells", "epsilon"), ("number of cells d'", "nominal ε (nats)"), strict=True
    ):
        part = result.table[result.table["panel"] == panel]
        if panel == "cells":
            plots.log_axis(axis, "x")
        plots.log_axis(axis)
        axis.set(xlabel=name, ylabel="exact ε of a pair, above nominal", ylim=(1e-4, 12))
        reading_lines(axis, part[part["excess"] > 1e-9], panel, "excess")
        axis.text(
            1.02,
            0.0,
            "A: none",
            transform=axis.transAxes,
            color=plots.BLUE,
            va="center",
            fontsize="small",
        )
    for name, cells in (("synthetic", 220), ("TalkingData", 686)):
        axes[0].axvline(cells, color=plots.GREY, linewidth=0.6)
        axes[0].text(
            cells * 0.95, 0.06, name, rotation=90, ha="right", va="bottom", fontsize="x-small"
        )
    return figure


# --- a user's whole set ----------------------------------------------------------------------


def _mechanisms(
    exp_epsilon: Fraction, n_keys: int, padding: int, **how: Any
) -> list[tuple[str, LRRKV]]:
    found = []
    for letter in PRINTED:
        m = reading(letter, exp_epsilon, n_keys, padding, **how)
        if m is not None:
            found.append((letter, m))
    for tilt, level in CORRECTED:
        m = LRRKV.corrected(exp_epsilon, tilt, n_keys=n_keys, padding=padding, level=level, **how)
        found.append((f"V({tilt}) {level}", m))
    return found


def set_level(profile: str = "quick") -> Result:
    """Enumerate every set, every report: readings, dummies, with and without the position.

    Parameters
    ----------
    profile : {"quick", "paper"}
        (d, l) up to (3, 2), or up to (5, 3).

    Returns
    -------
    Result
        One row for each mechanism: exact worst ratio over users with any two sets, the closed
        form, and the ratio of two pairs.
    """
    rows = []
    sizes = SIZES[check_profile(profile)]
    for exp_epsilon, (n_keys, padding), dummies in itertools.product(EXPS, sizes, hiskv.DUMMIES):
        for sent in (False, True):
            if sent and n_keys * padding > 6:
                continue  # the law with the position is l^2 times as large
            for name, m in _mechanisms(
                exp_epsilon, n_keys, padding, dummies=dummies, send_position=sent
            ):
                found = worst_ratio(m, extreme_users(n_keys, empty=True)).ratio
                rows.append(
                    {
                        "mechanism": name,
                        "exp_epsilon": exp_epsilon,
                        "n_keys": n_keys,
                        "padding": padding,
                        "dummies": dummies,
                        "position": sent,
                        "ratio": found,
                        "closed_form": m.exp_epsilon("set", empty=True),
                        "pair": m.exp_epsilon("pair"),
                    }
                )
    table = pd.DataFrame(rows)
    sent, longer = table["position"], table["padding"] > 1
    lossy = (table["pair"] > 1) & (table["pair"] < math.inf)
    promised = table["mechanism"].str.endswith("set")
    printed = table["mechanism"].isin(PRINTED)
    facts: dict[str, Any] = {
        "cases": int((~sent).sum()),
        "equal": int((table["ratio"] == table["closed_form"])[~sent].sum()),
        "sent_cases": int(sent.sum()),
        "sent_equal_pair": int((table["ratio"] == table["pair"])[sent].sum()),
        "amplified_cases": int((printed & ~sent & longer & lossy).sum()),
        "amplified": int((table["ratio"] < table["pair"])[printed & ~sent & longer & lossy].sum()),
        "promise_cases": int((promised & ~sent).sum()),
        "promise": int((table["ratio"] == table["exp_epsilon"])[promised & ~sent].sum()),
        "largest_set": (5, 3) if profile == "paper" else (3, 2),
    }
    spent = LRRKV.from_epsilon(1.6, n_keys=306, padding=37, reading="A")
    facts["spent"] = math.log(spent.exp_epsilon("set"))
    facts["key_sent"] = _key_sent()
    return Result(profile, table, facts, setting="exact fractions, the empty set a user")


def _key_sent() -> float:
    """Worst ratio if the "j" of Algorithm 2 were the sampled key itself, for two single pairs."""
    m = LRRKV.reading_a(Fraction(4), n_keys=2, padding=1)
    weights = m.channel().weights
    laws = []
    for user in ({0: Fraction(1)}, {1: Fraction(1)}):
        law = m.symbol_law(user)
        # Report (key of the sampled pair, perturbed pair).
        rows = [sum(law[s] * weights[s] for s in (2 * k, 2 * k + 1)) for k in range(m.width)]
        laws.append(np.concatenate(rows))
    return max(
        math.inf if low == 0 else float(high / low)
        for high, low in zip(*laws, strict=True)
        if high > 0
    )


def set_table(result: Result) -> pd.DataFrame:
    """Summarise the enumeration: one row a size, the position not sent."""
    rows = []
    table = result.table[~result.table["position"]]
    for (n_keys, padding), part in table.groupby(["n_keys", "padding"]):
        printed = part[part["mechanism"].isin(PRINTED)]
        over = printed["ratio"] > printed["exp_epsilon"]
        rows.append(
            {
                "d": n_keys,
                "l": padding,
                "cases": len(part),
                "equal to the closed form": int((part["ratio"] == part["closed_form"]).sum()),
                "printed readings": len(printed),
                "of these over budget": int(over.sum()),
            }
        )
    return pd.DataFrame(rows)


def spent_budget(profile: str = "quick") -> Result:
    """Exact epsilon of a user's set against l, at nominal epsilon 1.6.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Longest l.

    Returns
    -------
    Result
        One row for each d, reading and l, from the closed form that `set_level` confirms.
    """
    longest = 50 if check_profile(profile) == "quick" else 400
    rows = []
    for n_keys, letter, padding in itertools.product((306, 5), PRINTED, range(1, longest + 1)):
        m = reading(letter, math.exp(1.6), n_keys, padding)
        if m is not None:
            rows.append((n_keys, letter, padding, math.log(m.exp_epsilon("set", empty=True))))
    table = pd.DataFrame(rows, columns=["n_keys", "reading", "padding", "epsilon"])
    at = table[(table["n_keys"] == TALKING[0]) & (table["padding"] == TALKING[1])]
    spent = at.set_index("reading")["epsilon"]
    facts = {
        "nominal": 1.6,
        "spent_a": float(spent["A"]),
        "spent_c": float(spent["C"]),
        "spent_d": float(spent["D"]),
    }
    return Result(profile, table, facts, setting="nominal ε = 1.6; (a) d = 306, (b) d = 5")


def draw_spent(result: Result) -> Figure:
    """Draw the exact epsilon of a set against l, for two domains."""
    figure, axes = plots.new_figure(2)
    for axis, n_keys in zip(axes, (306, 5), strict=True):
        part = result.table[result.table["n_keys"] == n_keys]
        part = part[part["padding"].isin([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48])]
        plots.log_axis(axis)
        plots.log_axis(axis, "x")
        axis.axhline(1.6, color=plots.BLACK, linewidth=0.8)
        axis.text(50, 1.7, "nominal", ha="right", fontsize="small")
        axis.set(xlabel="padding length l", ylabel="exact ε of a set (nats)", ylim=(0.05, 9))
        reading_lines(axis, part, "padding", "epsilon")
    return figure


def rescue(profile: str = "quick") -> Result:
    """Find the smallest l from which padding and sampling keep each printed reading in budget.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row for each domain and reading, one column for each of the paper's budgets.
    """
    check_profile(profile)
    rows = []
    for name, n_keys in (("TalkingData, d = 306", 306), ("d = 5", 5)):
        for letter in PRINTED:
            found = [
                hiskv.smallest_rescuing_padding(letter, math.exp(e), n_keys, most=399) for e in GRID
            ]
            rows.append((name, letter, *found))
    table = pd.DataFrame(rows, columns=["domain", "reading", *(f"{e:g}" for e in GRID)])
    large = table[table["domain"].str.contains("306")].set_index("reading")
    facts = {
        "a": set(large.loc["A"][1:]) == {1},
        "bce": all(set(large.loc[letter][1:]) == {2} for letter in "BCE"),
        "d_never": int(large.loc["D"][1:].isna().sum()),
        "c_small": table.set_index(["domain", "reading"]).loc[("d = 5", "C"), "3.2"],
    }
    return Result(profile, table, facts, setting="l up to 399")


def rescue_table(result: Result) -> pd.DataFrame:
    """Smallest rescuing l at TalkingData's domain."""
    table = result.table[result.table["domain"].str.contains("306")]
    columns = [name for name in table if name != "domain"]
    shown = table[columns].astype(object)
    shown = shown.where(shown.notna(), "none")
    return shown.map(lambda cell: cell if isinstance(cell, str) else str(int(cell))).rename(
        columns={name: f"ε = {name}" for name in columns if name != "reading"}
    )


# --- OETL, and both stages together ----------------------------------------------------------


def theorem_1(profile: str = "quick") -> Result:
    """Enumerate OETL over sets, in exact fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The paper profile has more keys.

    Returns
    -------
    Result
        One row for each e^epsilon, d and way to treat empty sets.
    """
    rows = []
    most = 4 if check_profile(profile) == "quick" else 6
    for exp_epsilon, n_keys, empty in itertools.product(
        (Fraction(11, 10), *EXPS), range(2, most + 1), hiskv.EMPTY
    ):
        stage: Any = LengthEstimate.from_exp_budgets(exp_epsilon, n_keys=n_keys, empty=empty)
        users = extreme_users(n_keys, empty=empty != "refuse")
        rows.append((exp_epsilon, n_keys, empty, worst_ratio(stage, users).ratio))
    table = pd.DataFrame(rows, columns=["exp_epsilon", "n_keys", "empty", "ratio"])
    refuse = LengthEstimate.from_exp_budgets(Fraction(4), n_keys=3)
    try:
        refuse.symbols(np.array([0]))
        coded = True
    except ValueError:
        coded = False
    facts = {
        "cases": len(table),
        "equal": int((table["ratio"] == table["exp_epsilon"]).sum()),
        "zero_coded": coded,
    }
    return Result(profile, table, facts, setting="exact fractions")


def composition(profile: str = "quick") -> Result:
    """Enumerate the whole protocol: who is in which group, length report, pair report.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Budgets.

    Returns
    -------
    Result
        One row for each reading and e^epsilon: the exact ratio of all transcripts of two users,
        one of whom changes, beside the larger of the two stages and their product.
    """
    quick = check_profile(profile) == "quick"
    exps = (Fraction(4),) if quick else (Fraction(4), Fraction(9, 4), Fraction(9))
    rows = []
    for exp_epsilon, (name, letter, tilt, level) in itertools.product(
        exps,
        (
            ("A", "A", 1, "pair"),
            ("B", "B", 1, "pair"),
            ("C", "C", 1, "pair"),
            ("V(3/2) set", "V", Fraction(3, 2), "set"),
            ("V(1) set", "V", 1, "set"),
        ),
    ):
        how = HISKV(2, exp_epsilon, letter, group_share=Fraction(1, 2), tilt=tilt, level=level)
        laws = [_transcripts(how, user) for user in extreme_users(2, empty=False)]
        ratio = max(max(column) / min(column) for column in zip(*laws, strict=True))
        stages = [how.composition(padding) for padding in (1, 2)]
        rows.append(
            {
                "reading": name,
                "exp_epsilon": exp_epsilon,
                "lengths": stages[0].lengths,
                "pairs": max(stage.pairs for stage in stages),
                "ratio": ratio,
                "parallel": max(stage.parallel for stage in stages),
                "sequential": max(stage.sequential for stage in stages),
                "adds_up": all(sum(law, Fraction(0)) == 1 for law in laws),
            }
        )
    table = pd.DataFrame(rows)
    kept = table["pairs"] <= table["exp_epsilon"]
    first = table.iloc[0]
    facts = {
        "cases": len(table),
        "parallel": int((table["ratio"] == table["parallel"]).sum()),
        "below_sequential": int((table["ratio"] < table["sequential"]).sum()),
        "kept": int(kept.sum()),
        "in_budget": int((table["ratio"] <= table["exp_epsilon"])[kept].sum()),
        "laws": bool(table["adds_up"].all()),
        "example": (first["ratio"], first["sequential"], first["exp_epsilon"]),
    }
    return Result(profile, table, facts, setting="two users, d = 2, exact fractions")


def _transcripts(how: HISKV, user: User) -> list[Fraction]:
    """Law of everything the collector sees, if this user takes part together with {k1: 1}."""
    lengths: Any = how.length_stage
    other = {0: 1}
    law: list[Fraction] = []
    for first, second in ((user, other), (other, user)):
        sent, denominator = report_laws(lengths, [first])
        for report in range(lengths.n_lengths):
            seen = np.eye(lengths.n_lengths, dtype=np.int64)[report][:, None]
            chosen = lengths.choose(Counts(seen, np.ones(lengths.n_lengths, dtype=np.int64)))
            chance = Fraction(int(sent[0, report]), int(denominator)) / 2
            pairs, below = report_laws(how.stage(chosen), [second])
            law += [chance * Fraction(int(weight), int(below)) for weight in pairs[0]]
    return law


def composition_table(result: Result) -> pd.DataFrame:
    """Exact epsilon of the whole, in nats."""
    shown: dict[str, Sequence[Any]] = {"reading": result.table["reading"].tolist()}
    for name, title in (
        ("exp_epsilon", "nominal ε"),
        ("lengths", "length stage"),
        ("pairs", "pair stage"),
        ("ratio", "whole, enumerated"),
        ("parallel", "parallel rule"),
        ("sequential", "sequential rule"),
    ):
        shown[title] = [math.log(x) for x in result.table[name]]
    return pd.DataFrame(shown)


# --- judges ----------------------------------------------------------------------------------


def _judge_lemma_1(result: Result) -> Evidence:
    facts = result.facts
    broken = facts["breached"] == facts["cases"] and facts["closed"]
    return Evidence(
        DIFFERS if broken and facts["kept"] == facts["equal"] else EXACT,
        f"a larger q₁ breaks Definition 1 in {facts['breached']} of {facts['cases']} cases, "
        f"q₁ = 1/(e^ε + d' - 1) in {facts['equal'] - facts['kept']} of {facts['equal']}; "
        f"d = l = 1, e^ε = 4, reading C: ratio {facts['example']}",
        "ratio at most e^ε",
        note="For any pair of inputs, by proof, whatever the lost display says: this p₁ leaves "
        "room for q₁ = q₂ only. A smaller q₁ breaks it too "
        f"({facts['breached_below']} of {facts['below']}). With q₁ = c/(e^ε + d' - 1) the excess "
        "is ln((d' - 2)/(d' - 1 - c)).",
    )


def _judge_theorem_2(result: Result) -> Evidence:
    facts = result.facts
    fails = facts["large_bce"] > 1e-9 and facts["large_d"] > 1e-9
    return Evidence(
        DIFFERS if fails else EXACT,
        f"exact ε of a pair above nominal by up to {num(facts['large_bce'], 2)} (B, C, E) and "
        f"{num(facts['large_d'], 2)} (D) at d' = 686, {num(facts['small_c'], 3)} (C) at d' = 12",
        "none; q₁ and q₂ are lost, so each reading is tried",
        note="True under reading A, which contradicts the larger q₁. For a user's whole set behind "
        "padding and sampling it is true under B, C and E from l = 2 on at the paper's domains "
        "(C needs l = 3 at d = 5, ε = 3.2), if the position is not sent; the proof does not use "
        "this.",
    )


def _judge_theorem_1(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["equal"] == facts["cases"],
        f"exact ratio e^ε in {facts['equal']} of {facts['cases']} cases",
        "at most e^ε, and reached",
        "For lengths that have a code. As printed, on [1, d], length 0 has none; with a code of "
        "its own, or sent as 1, the theorem stays true.",
    )


def _judge_set(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["equal"] == facts["cases"],
        f"equal as fractions in {facts['equal']} of {facts['cases']} cases, (d, l) up to "
        f"{facts['largest_set']}",
        "e^ε = (M + (l - 1)q₂)/(m + (l - 1)q₂), M and m the largest and smallest probability",
        "All readings, both kinds of dummies. With one key and no empty sets q₂ drops out of M, m.",
    )


def _judge_position(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["sent_equal_pair"] == facts["sent_cases"],
        f"ε of a set = ε of a pair in {facts['sent_equal_pair']} of {facts['sent_cases']} cases",
        "no gain from padding is left",
        'Algorithm 2 returns "j and" the pair; what j is, the text does not say. If it is the '
        f"key, the ratio is {num(facts['key_sent'])}. Algorithm 1 speaks of the pair alone, which "
        "is how HISKV is run here.",
    )


def _judge_amplified(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["amplified"] == facts["amplified_cases"],
        f"ε of a set below that of a pair in {facts['amplified']} of {facts['amplified_cases']} "
        "cases with l ≥ 2",
        "all, for every printed reading",
        "Never credited: p₁ as printed spends only "
        f"{num(facts['spent'])} of a nominal 1.6 at d = 306, l = 37 (reading A). PCKV-GRR spends "
        "all. Lost if the position is sent.",
    )


def _judge_corrected(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["promise"] == facts["promise_cases"],
        f"exact ratio e^ε in {facts['promise']} of {facts['promise_cases']} cases",
        "e^ε, for c = 1/2, 1 and 3/2",
        "p₁ is then not the printed one.",
    )


def _judge_whole(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["laws"] and facts["in_budget"] == facts["kept"] > 0,
        f"whole protocol within e^ε in {facts['in_budget']} of {facts['kept']} cases whose pair "
        "stage is",
        "all",
        "Given Theorem 2, for which the readings differ (see there).",
    )


def _judge_rule(result: Result) -> Evidence:
    facts = result.facts
    n = facts["cases"]
    ratio, sequential, exp_epsilon = facts["example"]
    parallel = facts["parallel"] == n and facts["below_sequential"] == n
    return Evidence(
        DIFFERS if parallel else EXACT,
        f"the larger stage decides in {facts['parallel']} of {n} cases; e^ε = {exp_epsilon}: "
        f"ratio {ratio}, sequential rule {sequential}",
        "the product of the stages",
        note="The groups are disjoint, so parallel composition applies: ε. The sequential rule "
        "would only give 2ε. The conclusion is right, and stronger than its reason.",
    )


CLAIMS = (
    Claim(
        id="hiskv-thm-1",
        paper="hiskv",
        label="Analysis, Theorem 1 (hiskv-10)",
        kind="theorem",
        mark="text",
        statement="OETL is ε-LDP.",
        run=theorem_1,
        judge=_judge_theorem_1,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-definition-1",
        paper="hiskv",
        label="Section on LRR_KV, p₁ and a larger q₁ (hiskv-9)",
        kind="statement",
        mark="text",
        statement="By Definition 1, p₁ = e^ε/(e^ε + d' - 1) can go with a q₁ above the average of "
        "the wrong cells.",
        run=lemma_1,
        judge=_judge_lemma_1,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-thm-2",
        paper="hiskv",
        label="Analysis, Theorem 2 (hiskv-11)",
        kind="theorem",
        mark="text",
        statement="LRR_KV is ε-LDP: for any two pairs and every one of four outputs.",
        run=breach,
        judge=_judge_theorem_2,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-set-level",
        paper="hiskv",
        label="Own result: privacy of a user's whole set",
        kind="equation",
        mark="derived",
        statement="Behind padding and sampling, the exact e^ε of LRR_KV has a closed form for "
        "every p₁, q₁ and q₂.",
        run=set_level,
        judge=_judge_set,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-padding-privacy",
        paper="hiskv",
        label="Experiments, padding and sampling enhance privacy (hiskv-36)",
        kind="statement",
        mark="text",
        statement="Truncation and sampling bring a privacy enhancement.",
        run=set_level,
        judge=_judge_amplified,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-position",
        paper="hiskv",
        label="Section on LRR_KV, Algorithm 2, step 8: the position",
        kind="statement",
        mark="derived",
        statement="If the pair's place in the padded list is sent along, padding and sampling do "
        "not amplify privacy at all.",
        run=set_level,
        judge=_judge_position,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-corrected",
        paper="hiskv",
        label="Own result: the corrected family V(c)",
        kind="statement",
        mark="derived",
        statement="p₁ : q₁ : q₂ = E : c : 1 with E = l(e^ε - 1) + 1 (less e^ε(1 - c) if c < 1) "
        "spends exactly ε for a user's whole set.",
        run=set_level,
        judge=_judge_corrected,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-whole",
        paper="hiskv",
        label="Analysis, privacy of the whole (hiskv-12)",
        kind="statement",
        mark="text",
        statement="By Theorems 1 and 2, collecting with HISKV is locally differentially private.",
        run=composition,
        judge=_judge_whole,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-composition",
        paper="hiskv",
        label="Analysis, the rule of composition (hiskv-12)",
        kind="statement",
        mark="text",
        statement="The privacy of the two stages together follows from sequential composition.",
        run=composition,
        judge=_judge_rule,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
)
