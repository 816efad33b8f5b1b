"""Page 02: what PCKV-UE and PCKV-GRR promise, by exact enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ldpkv import allocation, channels
from ldpkv.mechanisms import PCKVGRR, PCKVUE
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
from ldpkv.privacy import extreme_users, worst_ratio

PAGE = "notebooks/pckv/02-privacy.ipynb"

# e^epsilon of the optimised budgets that are enumerated, and other budget pairs around them: the
# value budget dominates, the key budget dominates, both meet.
EXP_EPSILONS = {"quick": (Fraction(11, 10), 2, 20), "paper": (Fraction(11, 10), 2, 3, 8, 20)}
OTHER_BUDGETS = ((2, 5), (5, 2), (Fraction(3, 2), Fraction(3, 2)), (3, 1), (1, 3))
SIZES = {"quick": (3, 3), "paper": (4, 4)}


def _budget_pairs(profile: str, padding: int) -> Iterator[tuple[str, allocation.Budgets]]:
    for exp_epsilon in EXP_EPSILONS[profile]:
        yield "optimised", allocation.optimised(Fraction(exp_epsilon), padding)
    for exp_key, exp_value in OTHER_BUDGETS:
        yield "other", allocation.Budgets(Fraction(exp_key), Fraction(exp_value))


def _grid(profile: str) -> Iterator[tuple[int, int, bool]]:
    most_keys, most_padding = SIZES[check_profile(profile)]
    yield from itertools.product(range(1, most_keys + 1), range(1, most_padding + 1), (False, True))


def _key_dominates(budgets: allocation.Budgets) -> bool:
    """Whether telling keys apart is strictly easier than telling signs apart."""
    return bool(2 * budgets.exp_key > budgets.exp_value + 1)


def theorem_1(profile: str = "quick") -> Result:
    """Compose two generalised randomised responses on one input, exactly.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The paper profile has more categories.

    Returns
    -------
    Result
        One row for each number of categories and pair of budgets.
    """
    rows = []
    for size in range(2, 5 if check_profile(profile) == "quick" else 7):
        exps = (Fraction(2), Fraction(3), Fraction(11, 10))
        for first, second in itertools.combinations_with_replacement(exps, 2):
            laws = []
            for exp_epsilon in (first, second):
                keep, other = channels.grr_probabilities(exp_epsilon, size)
                law = np.full((size, size), other, dtype=object)
                np.fill_diagonal(law, keep)
                laws.append(law)
            # Run one after the other on the same input, the two answers are independent.
            joint = np.stack([np.multiply.outer(x, y).ravel() for x, y in zip(*laws, strict=True)])
            ratio = max(joint.max(axis=0) / joint.min(axis=0))
            rows.append((size, first, second, ratio, first * second))
    table = pd.DataFrame(rows, columns=["categories", "exp_first", "exp_second", "ratio", "sum"])
    facts = {
        "cases": len(table),
        "equal": int((table["ratio"] == table["sum"]).sum()),
    }
    return Result(profile, table, facts)


def theorem_2(profile: str = "quick") -> Result:
    """Enumerate PCKV-UE: every set with values +-1, every report, exact fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes and budgets.

    Returns
    -------
    Result
        One row for each (d, l, with the empty set or not, budgets): exact worst ratio, the bound
        of equation (3), and where it should be reached.
    """
    rows = []
    for n_keys, padding, empty in _grid(profile):
        for rule, budgets in _budget_pairs(profile, 1):
            mechanism = PCKVUE.from_exp_budgets(*budgets, n_keys=n_keys, padding=padding)
            rows.append((n_keys, padding, empty, rule, budgets, mechanism))
        # Theorem 2 does not need a = 1/2.
        general = PCKVUE(n_keys, padding, Fraction(2, 3), Fraction(1, 4), Fraction(3, 5))
        a, b, p = general.keep_key, general.fake_key, general.keep_sign
        budgets = allocation.Budgets(a * (1 - b) / (b * (1 - a)), p / (1 - p))
        rows.append((n_keys, padding, empty, "a = 2/3", budgets, general))
    records = []
    for n_keys, padding, empty, rule, budgets, mechanism in rows:
        found = worst_ratio(mechanism, extreme_users(n_keys, empty=empty)).ratio
        bound = allocation.compose_ue(*budgets)
        enough = padding + (1 if _key_dominates(budgets) and not empty else 0)
        records.append(
            {
                "n_keys": n_keys,
                "padding": padding,
                "empty_set": empty,
                "budgets": rule,
                "exp_key": budgets.exp_key,
                "exp_value": budgets.exp_value,
                "ratio": found,
                "bound": bound,
                "tight": found == bound,
                "tight_expected": n_keys >= enough or bound == 1,
            }
        )
    table = pd.DataFrame(records)
    return Result(profile, table, _bound_facts(table))


def theorem_3(profile: str = "quick") -> Result:
    """Enumerate PCKV-GRR in the same way, against equation (6).

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes and budgets.

    Returns
    -------
    Result
        As for `theorem_2`.
    """
    records = []
    for n_keys, padding, empty in _grid(profile):
        for rule, budgets in _budget_pairs(profile, padding):
            mechanism = PCKVGRR.from_exp_budgets(*budgets, n_keys=n_keys, padding=padding)
            found = worst_ratio(mechanism, extreme_users(n_keys, empty=empty)).ratio
            bound = allocation.compose_grr(*budgets, padding)
            records.append(
                {
                    "n_keys": n_keys,
                    "padding": padding,
                    "empty_set": empty,
                    "budgets": rule,
                    "exp_key": budgets.exp_key,
                    "exp_value": budgets.exp_value,
                    "ratio": found,
                    "bound": bound,
                    "tight": found == bound,
                    "tight_expected": n_keys >= 2 or empty or not _key_dominates(budgets),
                }
            )
    table = pd.DataFrame(records)
    facts = _bound_facts(table)
    facts["at_padding_1"] = all(
        allocation.compose_grr(*budgets, 1) == allocation.compose_ue(*budgets)
        for _, budgets in _budget_pairs(profile, 1)
    )
    exp_keys = [Fraction(x, 2) for x in range(2, 12)]
    facts["key_only"] = all(
        allocation.compose_grr(x, Fraction(1), padding) == (x + padding - 1) / padding
        for x in exp_keys
        for padding in range(1, 8)
    )
    facts["falls"] = all(
        allocation.compose_grr(x, y, padding) > allocation.compose_grr(x, y, padding + 1)
        for x in exp_keys[1:]
        for y in exp_keys[1:]
        for padding in range(1, 8)
    )
    return Result(profile, table, facts)


def _bound_facts(table: pd.DataFrame) -> dict[str, Any]:
    loose = table[~table["tight"]]
    return {
        "cases": len(table),
        "violations": int((table["ratio"] > table["bound"]).sum()),
        "tight": int(table["tight"].sum()),
        "loose": len(loose),
        "loose_long": int((loose["padding"] > loose["n_keys"]).sum()),
        "loose_equal": int((loose["padding"] == loose["n_keys"]).sum()),
        "condition_errors": int((table["tight"] != table["tight_expected"]).sum()),
    }


def budget_sums(profile: str = "quick") -> Result:
    """Compare equation (3) with the sum of the budgets, and bound each budget by the total.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The paper profile has a finer grid.

    Returns
    -------
    Result
        One row for each pair of budgets, all exact.
    """
    steps = 12 if check_profile(profile) == "quick" else 60
    values = [1 + Fraction(i, 4) for i in range(steps)]
    records = []
    for exp_key, exp_value in itertools.product(values, values):
        total = allocation.compose_ue(exp_key, exp_value)
        records.append(
            {
                "exp_key": exp_key,
                "exp_value": exp_value,
                "exp_total": total,
                "at_most_sum": total <= exp_key * exp_value,
                "each_at_most_total": exp_key <= total and exp_value <= total,
                # epsilon_1 = epsilon forces epsilon_2 = 0; epsilon_2 = epsilon caps epsilon_1.
                "all_on_key": exp_key != total or exp_value == 1,
                "all_on_value": exp_value != total or exp_key <= (total + 1) / 2,
            }
        )
    table = pd.DataFrame(records)
    facts = {"cases": len(table)}
    for column in ("at_most_sum", "each_at_most_total", "all_on_key", "all_on_value"):
        facts[column] = bool(table[column].all())
    return Result(profile, table, facts)


def pair_ratios(profile: str = "quick") -> Result:
    """Ratios behind Theorem 2, for two users with one pair each.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Budgets.

    Returns
    -------
    Result
        One row for each pair of budgets: same key and opposite signs, and different keys.
    """
    records = []
    for _, budgets in _budget_pairs(check_profile(profile), 1):
        mechanism = PCKVUE.from_exp_budgets(*budgets, n_keys=2, padding=1)
        same = worst_ratio(mechanism, [{0: 1}, {0: -1}]).ratio
        different = worst_ratio(mechanism, [{0: 1}, {1: 1}]).ratio
        exp_key, exp_value = budgets
        records.append((same, exp_value, different, 2 * exp_key * exp_value / (exp_value + 1)))
    table = pd.DataFrame(records, columns=["same_key", "exp_value", "different_keys", "printed"])
    corrected = table[["printed", "exp_value"]].max(axis=1)
    facts = {
        "cases": len(table),
        "same": bool((table["same_key"] == table["exp_value"]).all()),
        "printed": int((table["different_keys"] == table["printed"]).sum()),
        "corrected": int((table["different_keys"] == corrected).sum()),
    }
    return Result(profile, table, facts)


def toy_example(profile: str = "quick") -> Result:
    """Two users with two keys each among four, padding 2, and a value budget of 0.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row a mechanism: probability of the paper's report under each user, their ratio, and
        the formula. epsilon_1 = 1.
    """
    check_profile(profile)
    exp_key = math.e
    unary = PCKVUE.from_exp_budgets(exp_key, 1.0, n_keys=4, padding=2)
    users = [{0: 0.0, 1: 0.0}, {2: 0.0, 3: 0.0}]
    channel = unary.channel()
    laws = np.array([u.astype(float) for u in map(unary.symbol_law, users)]) @ channel.weights
    # The report has keys 1 and 2 present; its sign pattern is summed out.
    digits = np.array(list(itertools.product(range(3), repeat=6)))
    event = (digits[:, :2] < 2).all(axis=1) & (digits[:, 2:] == 2).all(axis=1)
    a, b = unary.keep_key, unary.fake_key
    one_two, three_four = laws[:, event].sum(axis=1)
    grr = PCKVGRR.from_exp_budgets(exp_key, 1.0, n_keys=4, padding=2)
    ratio = worst_ratio(grr, users).ratio
    records = [
        {
            "mechanism": "PCKV-UE",
            "pr_users_12": one_two,
            "pr_users_34": three_four,
            "ratio": one_two / three_four,
            "formula": exp_key,
        },
        {
            "mechanism": "PCKV-GRR",
            "pr_users_12": np.nan,
            "pr_users_34": np.nan,
            "ratio": ratio,
            "formula": 1 + (grr.keep_key / grr.fake_key - 1) / 2,
        },
    ]
    facts = {
        "first": one_two,
        "second": three_four,
        "first_formula": a * b * (1 - b) ** 4,
        "second_formula": b**2 * (1 - a) * (1 - b) ** 3,
        "ue_ratio": one_two / three_four,
        "grr_ratio": ratio,
        "grr_formula": records[1]["formula"],
    }
    return Result(profile, pd.DataFrame(records), facts, setting="d = 4, l = 2, ε₁ = 1, ε₂ = 0")


def padding_gain(profile: str = "quick") -> Result:
    """How far below epsilon PCKV-UE really is when l > d, at the optimised allocation.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes.

    Returns
    -------
    Result
        One row for each (d, l): exact epsilon, and ln(1 + min(1, d/l)(e^epsilon - 1)); and
        PCKV-GRR with the *unpadded* budgets, whose epsilon padding does lower.
    """
    most_keys, most_padding = {"quick": (3, 5), "paper": (4, 6)}[check_profile(profile)]
    exp_epsilon = Fraction(3)
    records = []
    for n_keys in range(1, most_keys + 1):
        for padding in range(1, most_padding + 1):
            mechanism = PCKVUE.from_exp_budgets(
                *allocation.optimised(exp_epsilon), n_keys=n_keys, padding=padding
            )
            ratio = worst_ratio(mechanism, extreme_users(n_keys, empty=False)).ratio
            closed = 1 + min(Fraction(1), Fraction(n_keys, padding)) * (exp_epsilon - 1)
            records.append(
                {
                    "n_keys": n_keys,
                    "padding": padding,
                    "ratio": ratio,
                    "closed_form": closed,
                    "epsilon": math.log(ratio),
                    "epsilon_closed_form": math.log(closed),
                }
            )
    table = pd.DataFrame(records)
    enough = table["n_keys"] >= table["padding"]
    facts = {
        "cases": len(table),
        "equal": bool((table["ratio"] == table["closed_form"]).all()),
        "gain_when_l_exceeds_d": bool((table["ratio"] < exp_epsilon)[~enough].all()),
        "no_gain_otherwise": bool((table["ratio"] == exp_epsilon)[enough].all()),
        "smallest": table["epsilon"].min(),
        "promised": math.log(exp_epsilon),
    }
    return Result(
        profile, table, facts, setting="ε = ln 3, optimised allocation, exact enumeration"
    )


def draw_padding_gain(result: Result) -> Figure:
    """Draw exact epsilon against the padding length, one line for each d."""
    figure, axis = plots.new_figure()
    ends = {}
    for position, (n_keys, part) in enumerate(result.table.groupby("n_keys")):
        look = plots.style(f"d = {n_keys}", position)
        line = {**look, "marker": ""}
        points = {**look, "linestyle": ""}
        axis.plot(part["padding"], part["epsilon_closed_form"], **line)
        axis.plot(part["padding"], part["epsilon"], **points)
        ends[f"d = {n_keys}"] = (part["padding"].iloc[-1], part["epsilon"].iloc[-1])
    axis.axhline(result.facts["promised"], color=plots.BLACK, linewidth=0.8)
    axis.text(
        result.table["padding"].max(),
        result.facts["promised"] + 0.015,
        "promised by Theorem 2",
        ha="right",
        fontsize="small",
    )
    axis.set(xlabel="padding length l", ylabel="exact ε of PCKV-UE (nats)")
    axis.set_ylim(0, 1.25)
    axis.set_xticks(sorted(result.table["padding"].unique()))
    figure.canvas.draw()
    plots.label_ends(axis, ends)
    return figure


def bound_table(result: Result) -> pd.DataFrame:
    """Summarise an enumeration for the page: one row for each (d, l, budgets kind)."""
    grouped = result.table.assign(share=(result.table["ratio"] / result.table["bound"]))
    rows = []
    for (n_keys, padding), part in grouped.groupby(["n_keys", "padding"]):
        loosest = part["share"].min()
        rows.append(
            {
                "d": n_keys,
                "l": padding,
                "cases": len(part),
                "above the bound": int((part["ratio"] > part["bound"]).sum()),
                "equal to it": int(part["tight"].sum()),
                "smallest ratio / bound": float(loosest),
            }
        )
    return pd.DataFrame(rows)


# --- judges ---------------------------------------------------------------------------------


def _judge_theorem_1(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["equal"] == facts["cases"],
        f"joint ratio equals e^(ε₁+ε₂) in {facts['equal']} of {facts['cases']} cases",
        "never above, and reached by randomised response",
        "Equality here; the general bound is the product of two bounds (proof on the page).",
    )


def _judge_bound(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["violations"] == 0,
        f"{facts['violations']} of {facts['cases']} cases above the bound",
        "none, for sets of any size",
    )


def _judge_tight_2(result: Result) -> Evidence:
    return _judge_tight(
        result,
        "Tight iff d ≥ l; where the key term is strictly larger and every user holds a pair, "
        "iff d ≥ l + 1.",
    )


def _judge_tight_3(result: Result) -> Evidence:
    return _judge_tight(
        result,
        "Tight for every d ≥ 2. Loose for d = 1 when every user holds a pair and the key term is "
        "strictly larger.",
    )


def _judge_tight(result: Result, condition: str) -> Evidence:
    facts = result.facts
    note = condition + (
        " This condition decides every case."
        if facts["condition_errors"] == 0
        else f" It fails in {facts['condition_errors']} cases."
    )
    return Evidence(
        EXACT if facts["loose"] == 0 else DIFFERS,
        f"reached in {facts['tight']} of {facts['cases']} cases",
        "reached in all",
        note=note,
    )


def _judge_sum(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["at_most_sum"],
        f"holds in {facts['cases']} exact cases" if facts["at_most_sum"] else "fails",
        "ε ≤ ε₁ + ε₂",
    )


def _judge_each(result: Result) -> Evidence:
    facts = result.facts
    held = facts["each_at_most_total"] and facts["all_on_key"] and facts["all_on_value"]
    return exact_if(
        held,
        f"all three parts hold in {facts['cases']} exact cases" if held else "a part fails",
        "ε₁ ≤ ε and ε₂ ≤ ε; ε₁ = ε forces ε₂ = 0; ε₂ = ε forces ε₁ ≤ ln((e^ε + 1)/2)",
    )


def _judge_pairs(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["same"] and facts["printed"] == facts["cases"],
        f"same key: e^ε₂ in all; different keys: the printed ratio in {facts['printed']} of "
        f"{facts['cases']} cases",
        "e^ε₂ for the same key, 2 e^(ε₁+ε₂)/(e^ε₂ + 1) for different keys",
        f"Different keys give the larger of the two ({facts['corrected']} of {facts['cases']} "
        "cases): a report with y[k₁] = v₁ and y[k₂] = -v₂ has ratio e^ε₂. The maximum over both "
        "cases, Theorem 2, is not affected.",
    )


def _judge_special(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["at_padding_1"] and facts["key_only"],
        "both reductions hold exactly" if facts["key_only"] else "a reduction fails",
        "l = 1 gives (3); ε₂ = 0 gives ln((e^ε₁ + l - 1)/l)",
    )


def _judge_falls(result: Result) -> Evidence:
    return exact_if(
        result.facts["falls"],
        "strictly falling on the whole grid, l = 1 to 8",
        "ε falls as l grows, budgets fixed",
    )


def _judge_toy(result: Result) -> Evidence:
    facts = result.facts
    pairs = (
        (facts["first"], facts["first_formula"]),
        (facts["second"], facts["second_formula"]),
        (facts["ue_ratio"], math.e),
        (facts["grr_ratio"], facts["grr_formula"]),
    )
    return exact_if(
        all(math.isclose(x, y, rel_tol=1e-12) for x, y in pairs),
        f"PCKV-UE {num(facts['first'], 5)} and {num(facts['second'], 5)}, ratio "
        f"{num(facts['ue_ratio'], 5)}; PCKV-GRR ratio {num(facts['grr_ratio'], 5)}",
        "a b (1-b)⁴ and b² (1-a)(1-b)³, ratio e^ε₁; 1 + (a/b - 1)/l",
        "Floats, equal to 12 digits.",
    )


def _judge_gain(result: Result) -> Evidence:
    facts = result.facts
    gains = facts["gain_when_l_exceeds_d"]
    return Evidence(
        DIFFERS if gains else EXACT,
        f"no gain for l ≤ d; for l > d exact ε falls to {num(facts['smallest'])} "
        f"of {num(facts['promised'])}",
        "no gain from padding",
        note="For l > d the optimised PCKV-UE is exactly ln(1 + (d/l)(e^ε - 1))-LDP"
        + (
            " (proof on the page), as in every case enumerated."
            if facts["equal"]
            else "; this form fails here."
        ),
    )


CLAIMS = (
    Claim(
        id="pckv-thm-1",
        paper="pckv",
        label="Theorem 1 (pckv-2)",
        kind="theorem",
        mark="text",
        statement="Mechanisms run one after the other on the same input cost the sum of their "
        "budgets.",
        run=theorem_1,
        judge=_judge_theorem_1,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-thm-2",
        paper="pckv",
        label="Theorem 2, equation (3) (pckv-4)",
        kind="theorem",
        mark="found",
        statement="PCKV-UE is ε-LDP with ε = max{ε₂, ε₁ + ln(2 / (1 + e^-ε₂))}, for every set of "
        "pairs.",
        run=theorem_2,
        judge=_judge_bound,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-thm-2-tight",
        paper="pckv",
        label="Theorem 2, tightness (pckv-5)",
        kind="theorem",
        mark="found",
        statement="The bound of Theorem 2 is tight.",
        run=theorem_2,
        judge=_judge_tight_2,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="pckv-thm-2-sum",
        paper="pckv",
        label="Theorem 2 against the sum (pckv-6)",
        kind="statement",
        mark="text",
        statement="The composed budget of Theorem 2 is never above ε₁ + ε₂.",
        run=budget_sums,
        judge=_judge_sum,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-thm-2-limits",
        paper="pckv",
        label="Limits of the two budgets (pckv-7)",
        kind="statement",
        mark="text",
        statement="Neither budget exceeds the total; spending all on the key leaves nothing for "
        "the value, while spending all on the value leaves the key up to ln((e^ε + 1)/2).",
        run=budget_sums,
        judge=_judge_each,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-pair-ratios",
        paper="pckv",
        label="Pair-level ratios behind Theorem 2 (pckv-53)",
        kind="equation",
        mark="text",
        statement="Two single pairs with one key differ by e^ε₂, with two keys by "
        "2 e^(ε₁+ε₂)/(e^ε₂ + 1).",
        run=pair_ratios,
        judge=_judge_pairs,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="pckv-thm-3",
        paper="pckv",
        label="Theorem 3, equation (6) (pckv-9)",
        kind="theorem",
        mark="found",
        statement="PCKV-GRR is ε-LDP with the ε of equation (6), which padding lowers.",
        run=theorem_3,
        judge=_judge_bound,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-thm-3-tight",
        paper="pckv",
        label="Theorem 3, tightness (pckv-10)",
        kind="theorem",
        mark="found",
        statement="The bound of Theorem 3 is tight.",
        run=theorem_3,
        judge=_judge_tight_3,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="pckv-thm-3-special",
        paper="pckv",
        label="Theorem 3, special cases (pckv-11)",
        kind="equation",
        mark="text",
        statement="With l = 1 Theorem 3 is Theorem 2; with ε₂ = 0 it is ln((e^ε₁ + l - 1)/l).",
        run=theorem_3,
        judge=_judge_special,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-thm-3-falls",
        paper="pckv",
        label="Theorem 3, effect of padding (pckv-12)",
        kind="statement",
        mark="text",
        statement="At fixed budgets, the ε of PCKV-GRR falls as the padding length grows.",
        run=theorem_3,
        judge=_judge_falls,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-toy",
        paper="pckv",
        label="Toy example (pckv-13)",
        kind="statement",
        mark="text",
        statement="With d = 4, l = 2 and ε₂ = 0 the two users {1, 2} and {3, 4} are e^ε₁ apart "
        "under PCKV-UE, and 1 + (a/b - 1)/l apart under PCKV-GRR.",
        run=toy_example,
        judge=_judge_toy,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-ue-padding",
        paper="pckv",
        label="No amplification for PCKV-UE (pckv-14)",
        kind="statement",
        mark="text",
        statement="Padding-and-Sampling gives PCKV-UE no privacy amplification.",
        run=padding_gain,
        judge=_judge_gain,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
)
