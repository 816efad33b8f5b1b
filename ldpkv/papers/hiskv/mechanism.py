"""HISKV page 01: the example, the tree, the readings of what is lost, and PCKV-GRR behind it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ldpkv import allocation, channels, theory
from ldpkv.baselines import KVOH, KVUE, LDPKV2020, PrivKV
from ldpkv.estimation import Counts
from ldpkv.hiskv import LRRKV, LengthEstimate
from ldpkv.mechanisms import PCKVGRR, User
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    NOT_CHECKABLE,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)
from ldpkv.privacy import extreme_users
from ldpkv.theory import Numbers

PAGE = "notebooks/hiskv/01-mechanism.ipynb"

# Table 1 of the paper, over seven goods, and its values after discretisation, as printed.
TABLE_1: tuple[Mapping[int, Fraction], ...] = (
    {
        0: Fraction(7, 10),
        1: Fraction(4, 5),
        2: Fraction(2, 5),
        3: Fraction(11, 20),
        4: Fraction(3, 5),
    },
    {1: Fraction(21, 50), 3: Fraction(3, 5)},
    {4: Fraction(3, 5)},
)
PRINTED_SIGNS: tuple[Mapping[int, int], ...] = (
    {0: 1, 1: 1, 2: -1, 3: -1, 4: 1},
    {1: -1, 3: 1},
    {4: 1},
)
N_GOODS = 7

RULES: Mapping[str, str] = {
    "A": "q₁ = q₂",
    "B": "p₁/q₁ = e^(ε/2)",
    "C": "q₁/q₂ = e^ε",
    "D": "q₁ = (1 - p₁)/2",
    "E": "p₁ + q₁ = e^ε/(e^ε + d'/2 - 1)",
    "V(c)": "p₁ : q₁ : q₂ = e^ε : c : 1, here c = e^(ε/2)",
}
PRINTED = ("A", "B", "C", "D", "E")
TALKING = (306, 37)  # keys, and the 90th percentile of stand-in lengths
EXPS = (Fraction(9, 4), Fraction(4), Fraction(25))  # e^epsilon, squares so that B is exact
SIZES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "quick": ((1, 1), (2, 2), (3, 2)),
    "paper": ((1, 1), (1, 3), (2, 1), (2, 2), (3, 2), (4, 1), (3, 4)),
}
VALUES = (Fraction(-1), Fraction(-1, 3), Fraction(0), Fraction(2, 5), Fraction(1))


def reading(letter: str, exp_epsilon: Any, n_keys: int, padding: int, **how: Any) -> LRRKV | None:
    """One of the readings by name; None where reading B has no law.

    Parameters
    ----------
    letter : {"A", "B", "C", "D", "E", "V(c)"}
        Which; V(c) is taken at c = e^(epsilon / 2).
    exp_epsilon : Fraction or float
        E; a perfect square if exact.
    n_keys, padding : int
        d and l.
    **how
        Settings of `LRRKV`.

    Returns
    -------
    LRRKV or None
        Exact if `exp_epsilon` is.
    """
    root = allocation.square_root(exp_epsilon)
    if letter == "B" and root > 2 * (n_keys + padding) - 1:
        return None
    if letter == "V(c)":
        how["tilt"] = root
    return LRRKV.from_exp_budgets(
        exp_epsilon, n_keys=n_keys, padding=padding, reading=letter[0], **how
    )


def worlds(profile: str) -> Iterator[tuple[str, Fraction, LRRKV]]:
    """Every reading at every size and budget of the profile, in fractions."""
    sizes = SIZES[check_profile(profile)]
    for exp_epsilon, (n_keys, padding), letter in itertools.product(EXPS, sizes, RULES):
        mechanism = reading(letter, exp_epsilon, n_keys, padding)
        if mechanism is not None:
            yield letter, exp_epsilon, mechanism


# --- the worked example ----------------------------------------------------------------------


def example(profile: str = "quick") -> Result:
    """Work the paper's example: Table 1, its histogram, and what each user's sampling wastes.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row a good: holders, frequency and mean in Table 1, the two buckets of Figure 2 as the
        text describes them, and the mean that the buckets give.
    """
    check_profile(profile)
    n = len(TABLE_1)
    rows = []
    for key in range(N_GOODS):
        values = [user[key] for user in TABLE_1 if key in user]
        signs = [user[key] for user in PRINTED_SIGNS if key in user]
        rows.append(
            {
                "key": f"k{key + 1}",
                "holders": len(values),
                "frequency": Fraction(len(values), n),
                "mean": sum(values, Fraction(0)) / len(values) if values else None,
                "plus": signs.count(1),
                "minus": signs.count(-1),
                "mean_of_buckets": Fraction(sum(signs), len(signs)) if signs else None,
            }
        )
    # How often each method over the whole key domain draws a key that u3 does not hold.
    over_domain = (
        PrivKV.from_exp_budgets(Fraction(2), Fraction(2), n_keys=N_GOODS),
        *(kind.from_exp_budgets(Fraction(4), n_keys=N_GOODS) for kind in (KVUE, KVOH, LDPKV2020)),
    )
    absent = {
        type(one).__name__: sum(one.symbol_law(TABLE_1[2])[2::3], Fraction(0))
        for one in over_domain
    }
    one = LRRKV.reading_a(Fraction(4), n_keys=1, padding=1).symbol_law({0: Fraction(2, 5)})
    k2 = rows[1]
    facts = {
        "k2_holders": k2["holders"],
        "k2_frequency": k2["frequency"],
        "k2_mean": k2["mean"],
        "k2_plus": k2["plus"],
        "k2_minus": k2["minus"],
        "k2_bucket_mean": k2["mean_of_buckets"],
        "same_keys": all(
            set(user) == set(signs) for user, signs in zip(TABLE_1, PRINTED_SIGNS, strict=True)
        ),
        "send_plus": one[0],
        "absent": absent,
        "padded": Fraction(1, 3),  # u3 behind padding to 3, see `padding_sampling`
    }
    return Result(profile, pd.DataFrame(rows), facts, setting="three users, seven goods")


def example_table(result: Result) -> pd.DataFrame:
    """Table 1 by good, beside the buckets and the mean that they give."""
    table = result.table[result.table["holders"] > 0].copy()
    for name in ("frequency", "mean", "mean_of_buckets"):
        table[name] = table[name].astype(float)
    return table.rename(
        columns={
            "plus": "bucket ⟨k, +1⟩",
            "minus": "bucket ⟨k, -1⟩",
            "mean": "mean in Table 1",
            "mean_of_buckets": "mean of the buckets",
        }
    )


def draw_buckets(result: Result) -> Figure:
    """Draw Figure 2: one bar a bucket, +1 upwards and -1 downwards."""
    figure, axis = plots.new_figure(height=2.6)
    place = np.arange(N_GOODS)
    axis.bar(place, result.table["plus"], color=plots.BLUE, width=0.6)
    axis.bar(place, -result.table["minus"], color=plots.ORANGE, width=0.6, hatch="//")
    axis.axhline(0, color=plots.BLACK, linewidth=0.8)
    axis.set_xticks(place, result.table["key"])
    axis.set_yticks([-1, 0, 1, 2], ["1", "0", "1", "2"])
    axis.set(xlabel="good", ylabel="pairs in the bucket", ylim=(-1.6, 2.4))
    axis.text(6.4, 2.0, "⟨k, +1⟩ upwards", color=plots.BLUE, ha="right", fontsize="small")
    axis.text(6.4, -1.2, "⟨k, -1⟩ downwards", color="#8A6000", ha="right", fontsize="small")
    return figure


# --- the three probabilities and their readings ----------------------------------------------


def readings(profile: str = "quick") -> Result:
    """Hold every reading of the lost numbers to the three sentences that survive.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes.

    Returns
    -------
    Result
        One row a reading: whether p_1 is the printed one, whether q_1 is above the average of the
        wrong cells, whether pairs keep Definition 1 (all in exact fractions, at every size and
        budget tried), and its numbers at TalkingData's size.
    """
    flags: dict[str, list[tuple[bool, bool, bool, bool]]] = {letter: [] for letter in RULES}
    for letter, exp_epsilon, m in worlds(profile):
        cells = m.n_cells
        flags[letter].append(
            (
                m.p1 == exp_epsilon / (exp_epsilon + cells - 1),
                m.q1 > (1 - m.p1) / (cells - 1),
                m.exp_epsilon("pair") <= exp_epsilon,
                m.p1 + m.q1 + (cells - 2) * m.q2 == 1,
            )
        )
    rows = []
    for letter, found in flags.items():
        printed, larger, promise, law = (all(column) for column in zip(*found, strict=True))
        m_float = reading(letter, math.exp(1.6), *TALKING)
        assert m_float is not None
        rows.append(
            {
                "reading": letter,
                "rule": RULES[letter],
                "printed_p1": printed,
                "q1_above_average": larger,
                "definition_1": promise,
                "law": law,
                "epsilon_pair": math.log(m_float.exp_epsilon("pair")),
                "right_sign": m_float.p1 / (m_float.p1 + m_float.q1),
                "p1": m_float.p1,
                "q1": m_float.q1,
                "q2": m_float.q2,
            }
        )
    table = pd.DataFrame(rows)
    three = table["printed_p1"] & table["q1_above_average"] & table["definition_1"]
    facts = {
        "readings": len(table),
        "laws": bool(table["law"].all()),
        "fit_all": int(three.sum()),
        "fit_printed_and_larger": "".join(
            table["reading"][table["printed_p1"] & table["q1_above_average"]]
        ),
        "fit_promise": ", ".join(table["reading"][table["definition_1"]]),
        "sign_c": float(table.set_index("reading")["right_sign"]["C"]),
        "sign_d": float(table.set_index("reading")["right_sign"]["D"]),
        "pair_d": float(table.set_index("reading")["epsilon_pair"]["D"]),
    }
    setting = f"d = {TALKING[0]}, l = {TALKING[1]}, nominal ε = 1.6"
    return Result(profile, table, facts, setting)


def readings_table(result: Result) -> pd.DataFrame:
    """What each reading keeps of the text."""
    return result.table[
        [
            "reading",
            "rule",
            "printed_p1",
            "q1_above_average",
            "definition_1",
            "epsilon_pair",
            "right_sign",
        ]
    ].rename(
        columns={
            "printed_p1": "p₁ as printed",
            "q1_above_average": "q₁ above average",
            "definition_1": "pairs keep Definition 1",
            "epsilon_pair": "exact ε of a pair",
            "right_sign": "kept keys with the right sign",
        }
    )


def draw_tree(result: Result) -> Figure:
    """Draw Figure 3 as the text describes it: four outcomes for each of two inputs."""
    figure, axes = plots.new_figure(2, height=2.8)
    for axis, (sign, other) in zip(axes, (("+1", "-1"), ("-1", "+1")), strict=True):
        leaves = (
            (f"⟨k, {sign}⟩", "p₁", plots.BLUE),
            (f"⟨k, {other}⟩", "q₁", plots.VERMILION),
            ("each ⟨k′, +1⟩", "q₂", plots.GREY),
            ("each ⟨k′, -1⟩", "q₂", plots.GREY),
        )
        for height, (name, chance, color) in zip((3, 2, 1, 0), leaves, strict=True):
            axis.plot([0.28, 0.62], [1.5, height], color=color, linewidth=1.8)
            axis.text(0.65, height, name, va="center", fontsize="small")
            axis.text(
                0.5,
                1.5 + (height - 1.5) * 0.65 + 0.16,
                chance,
                color=color,
                ha="center",
                fontsize="small",
                fontweight="bold",
            )
        axis.text(0.26, 1.5, f"⟨k, {sign}⟩", va="center", ha="right", fontsize="medium")
        axis.set(xlim=(0, 1), ylim=(-0.5, 3.5))
        axis.axis("off")
    return figure


def reading_lines(axis: Axes, table: pd.DataFrame, x: str, y: str) -> None:
    """Draw one line a reading, in the same look on every figure of the chapter.

    Parameters
    ----------
    axis : Axes
        Where; its scales and limits are set already.
    table : DataFrame
        One row a point, with a column "reading".
    x, y : str
        Columns.
    """
    looks = {letter: plots.style(letter, place) for place, letter in enumerate(RULES)}
    ends = {}
    for letter, look in looks.items():
        part = table[table["reading"] == letter]
        if len(part):
            axis.plot(part[x], part[y], **look)
            ends[letter] = (part[x].iloc[-1], part[y].iloc[-1])
    axis.figure.canvas.draw()
    plots.label_ends(axis, ends)
    for text in axis.texts:
        if text.get_text() in looks:
            text.set_color(looks[text.get_text()]["color"])


# --- PCKV-GRR --------------------------------------------------------------------------------


def identity(profile: str = "quick") -> Result:
    """Compare LRR_KV under every reading with PCKV-GRR, in exact fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes.

    Returns
    -------
    Result
        One row for each reading, size and budget: a, b, p of PCKV-GRR; whether the report has the
        same law for every user, whether the estimator has the same numbers, whether PCKV's two
        budgets lead there, and whether PCKV's Theorem 3 then gives the same epsilon.
    """
    rows = []
    for letter, exp_epsilon, m in worlds(profile):
        twin = m.to_pckv_grr()
        users: list[User] = [*extreme_users(m.n_keys, empty=True), {0: Fraction(1, 3)}]
        ours, theirs = m.channel(), twin.channel()
        same_law = (
            ours.denominator == theirs.denominator
            and bool((ours.weights == theirs.weights).all())
            and all((m.symbol_law(user) == twin.symbol_law(user)).all() for user in users)
        )
        table = np.arange(2 * m.width).reshape(-1, 2) ** 2 % 17
        counts = Counts(table, np.full(m.width, table.sum()))
        one, two = (x.estimate(counts, correction="none") for x in (m, twin))
        budgets = m.budgets()
        rows.append(
            {
                "reading": letter,
                "exp_epsilon": exp_epsilon,
                "n_keys": m.n_keys,
                "padding": m.padding,
                "a": twin.keep_key,
                "b": twin.fake_key,
                "p": twin.keep_sign,
                "same_law": same_law,
                "same_estimates": np.array_equal(one.frequency, two.frequency, equal_nan=True)
                and np.array_equal(one.mean, two.mean, equal_nan=True)
                and Numbers.of(twin) == m.numbers,
                "has_budgets": budgets is not None,
                "same_set_up": budgets is None
                or PCKVGRR.from_exp_budgets(*budgets, n_keys=m.n_keys, padding=m.padding) == twin,
                "same_epsilon": budgets is None
                or allocation.compose_grr(*budgets, m.padding) == m.exp_epsilon("set", empty=True),
            }
        )
    table = pd.DataFrame(rows)
    facts: dict[str, Any] = {"cases": len(table)}
    for name in ("same_law", "same_estimates", "same_set_up", "same_epsilon"):
        facts[name] = int(table[name].sum())
    facts["outside"] = "".join(sorted(set(table["reading"][~table["has_budgets"]])))
    facts["within"] = int(table["has_budgets"].sum())
    return Result(profile, table, facts, setting="exact fractions")


def pckv_optimum(profile: str = "quick") -> Result:
    """Look at PCKV-GRR's own optimum: its budgets, and what its wrong cells get.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes.

    Returns
    -------
    Result
        One row for each size and budget: probability of a wrong cell, what HISKV says it is, and
        e^(epsilon_1 + epsilon_2).
    """
    rows = []
    exps = (Fraction(9, 8), Fraction(2), Fraction(4), Fraction(25))
    for exp_epsilon, (n_keys, padding) in itertools.product(exps, SIZES[check_profile(profile)]):
        budgets = allocation.optimised(exp_epsilon, padding)
        mechanism = PCKVGRR.from_exp_budgets(*budgets, n_keys=n_keys, padding=padding)
        p1, q1, q2 = mechanism.symbol_probabilities
        cells = 2 * (n_keys + padding)
        channel, one = mechanism.channel(), channels.grr_channel(p1, q1, cells)
        rows.append(
            {
                "exp_epsilon": exp_epsilon,
                "n_keys": n_keys,
                "padding": padding,
                "wrong_cell": q2,
                "printed": 1 / (exp_epsilon + cells - 1),
                "amplified": 1 / (allocation.amplified(exp_epsilon, padding) + cells - 1),
                "one_grr": q1 == q2
                and channel.denominator == one.denominator
                and bool((channel.weights == one.weights).all()),
                "exp_sum": budgets.exp_key * budgets.exp_value,
            }
        )
    table = pd.DataFrame(rows)
    short = table["padding"] == 1
    equal = table["wrong_cell"] == table["printed"]
    small = PCKVGRR.from_exp_budgets(
        *allocation.optimised(Fraction(2), 2), n_keys=1, padding=2
    ).symbol_probabilities[2]
    sums = {
        padding: math.log(math.prod(allocation.optimised(math.exp(1.6), padding)))
        for padding in (1, TALKING[1])
    }
    facts = {
        "cases": len(table),
        "one_grr": int(table["one_grr"].sum()),
        "sum_above": int((table["exp_sum"] > table["exp_epsilon"]).sum()),
        "cases_at_1": int(short.sum()),
        "printed_at_1": int((equal & short).sum()),
        "cases_above": int((~short).sum()),
        "printed_above": int((equal & ~short).sum()),
        "amplified": int((table["wrong_cell"] == table["amplified"]).sum()),
        "example": small,
        "example_printed": Fraction(1, 2 + 2 * 3 - 1),
        "sum_short": sums[1],
        "sum_long": sums[TALKING[1]],
    }
    return Result(profile, table, facts, setting="exact fractions")


# --- estimators and steps --------------------------------------------------------------------


def estimators(profile: str = "quick") -> Result:
    """Hold equations (5), (6), (8) and the counts of OETL to exact expectations.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes.

    Returns
    -------
    Result
        One row for each reading, size and budget.
    """
    rows = []
    roots = outside = 0
    for letter, exp_epsilon, m in worlds(profile):
        channel = m.channel()
        # The sampled pair's own sign, as in equation (8): discretise, then perturb.
        signs = []
        for value in VALUES:
            law = [(1 + value) / 2, (1 - value) / 2]
            said = [
                sum(x * int(w) for x, w in zip(law, channel.weights[:2, cell], strict=True))
                for cell in (0, 1)
            ]
            signs.append((said[0] - said[1]) / channel.denominator)
        other = channel.weights[2:, 0] - channel.weights[2:, 1]
        # Equation (6) against the likelihood's slope, for every number of supporting reports.
        a, b, _, padding = m.numbers
        users, zero, peak = 6, True, True
        for hits in range(users + 1):
            frequency = Fraction(padding, users) * (hits - users * b) / (a - b)
            chance = b + (a - b) * frequency / padding
            zero &= hits * (1 - chance) == (users - hits) * chance
            for step in (Fraction(-1, 100), Fraction(1, 100)):
                moved = chance + step
                if 0 < moved < 1:
                    peak &= (hits / moved - (users - hits) / (1 - moved)) * step < 0
            roots += 1
            outside += not 0 <= frequency <= 1
        rows.append(
            {
                "reading": letter,
                "exp_epsilon": exp_epsilon,
                "n_keys": m.n_keys,
                "padding": padding,
                "equation_8": signs == [v * (m.p1 - m.q1) for v in VALUES],
                "others_cancel": not other.any(),
                "corrected": m.p1 == m.q1 or [s / (m.p1 - m.q1) for s in signs] == list(VALUES),
                "root": zero,
                "peak": peak,
            }
        )
    table = pd.DataFrame(rows)
    facts: dict[str, Any] = {"cases": len(table), "counts": roots, "outside": outside}
    for name in ("equation_8", "others_cancel", "corrected", "root", "peak"):
        facts[name] = int(table[name].sum())
    lengths = [_length_counts(exp_epsilon, n) for exp_epsilon in EXPS for n in (2, 3, 5)]
    facts |= {"length_cases": len(lengths), "lengths": sum(lengths)}
    return Result(profile, table, facts, setting="exact fractions")


def _length_counts(exp_epsilon: Fraction, n_keys: int) -> bool:
    """Whether OETL's corrected counts have the true counts for expectations."""
    stage = LengthEstimate.from_exp_budgets(exp_epsilon, n_keys=n_keys)
    lengths = np.array([1, 1, n_keys, 2, n_keys])
    channel, codes = stage.channel(), stage.symbols(lengths).codes
    p, q, n = stage.keep_length, stage.fake_length, len(lengths)
    reported = [Fraction(int(x), int(channel.denominator)) for x in channel.weights[codes].sum(0)]
    true = np.bincount(codes, minlength=n_keys).tolist()
    return [(count - n * q) / (p - q) for count in reported] == true


def _follow(user: User, n_keys: int, padding: int, *, printed: bool) -> NDArray[Any]:
    """Law of the pair that Algorithm 3 returns, step by step; dummies new, or as printed."""
    law = np.full(2 * (n_keys + padding), Fraction(0), dtype=object)
    pairs = [(key, Fraction(value)) for key, value in user.items()]
    fakes = [(i if printed else n_keys + i, Fraction(0)) for i in range(padding)]
    if len(pairs) >= padding:  # the case l_i = l, which is missing, handled like a longer list
        lists = [list(part) for part in itertools.combinations(pairs, padding)]
    else:
        lists = [[*pairs, *part] for part in itertools.combinations(fakes, padding - len(pairs))]
    for filled in lists:
        for key, value in filled:
            chance = Fraction(1, len(lists) * len(filled))
            law[2 * key] += chance * (1 + value) / 2
            law[2 * key + 1] += chance * (1 - value) / 2
    return law


def padding_sampling(profile: str = "quick") -> Result:
    """Follow Algorithm 3 step by step, with new dummies and with the printed ones.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes.

    Returns
    -------
    Result
        One row for each (d, l, user): probability of each owned pair, and whether the law is that
        of the library; whether the printed dummies give another one.
    """
    rows = []
    for n_keys, padding in SIZES[check_profile(profile)]:
        for user in extreme_users(n_keys, empty=True):
            law = _follow(user, n_keys, padding, printed=False)
            right = LRRKV.reading_a(Fraction(4), n_keys=n_keys, padding=padding).symbol_law(user)
            chances = {law[2 * key] + law[2 * key + 1] for key in user}
            printed = _follow(user, n_keys, padding, printed=True)
            rows.append(
                {
                    "n_keys": n_keys,
                    "padding": padding,
                    "length": len(user),
                    "chance": max(chances, default=None),
                    "fits": len(user) <= padding,
                    "owned": chances <= {Fraction(1, max(padding, len(user)))},
                    "library": bool((law == right).all()),
                    "collides": bool((printed[: 2 * n_keys] != law[: 2 * n_keys]).any()),
                }
            )
    table = pd.DataFrame(rows)
    short = table["fits"] & (table["length"] > 0)
    facts = {
        "cases": len(table),
        "short": int(short.sum()),
        "short_right": int((table["owned"] & short).sum()),
        "long": int((~table["fits"]).sum()),
        "long_right": int((table["owned"] & ~table["fits"]).sum()),
        "library": int(table["library"].sum()),
        "padded": int((table["length"] < table["padding"]).sum()),
        "collides": int(table["collides"].sum()),
        # One user, one key, l = 2: how often the key is drawn, times l.
        "example": 2 * sum(_follow({0: Fraction(1)}, 1, 2, printed=True)[:2], Fraction(0)),
    }
    return Result(profile, table, facts, setting="exact fractions")


def communication(profile: str = "quick") -> Result:
    """Count what a user sends: one of d' cells.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row for each size of Table 2 of the paper, with a stand-in l: bits of one report, and
        of a report of PCKV-UE.
    """
    check_profile(profile)
    rows = []
    sizes = {"LNR, GAUSS": (100, 10), "TalkingData": TALKING, "JData": (442, 10)}
    for name, (n_keys, padding) in sizes.items():
        cells = 2 * (n_keys + padding)
        unary = theory.upload_bits(n_keys, padding)["PCKV-UE"]
        rows.append((name, n_keys, padding, cells, math.ceil(math.log2(cells)), math.ceil(unary)))
    table = pd.DataFrame(rows, columns=["data", "keys", "padding", "cells", "bits", "bits_unary"])
    facts = {
        "one_cell": all(
            m.channel().weights.shape == (m.n_cells, m.n_cells) for _, _, m in worlds("quick")
        ),
        "most_bits": int(table["bits"].max()),
        "doubling": math.ceil(math.log2(4 * 442 + 20)) - math.ceil(math.log2(2 * 442 + 20)),
    }
    return Result(profile, table, facts, setting="l is a stand-in: the paper's is not known")


def padding_rule(profile: str = "quick") -> Result:
    """Put beside each other what the two papers say of the choice of l.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row for each part of the rule.
    """
    check_profile(profile)
    rows = [
        ("percentile of the lengths", "described: the 90th", "used: the 90th"),
        ("lengths estimated privately", "described", "used: GRR"),
        ("by a separate group of users", "described", "used: a share β"),
        ("in the experiments", "l set by hand", "l from the rule"),
        ("best share and percentile", "left as future work", "not discussed"),
    ]
    table = pd.DataFrame(rows, columns=["part", "PCKV", "HISKV"])
    return Result(profile, table, {"described": 3}, setting="surviving texts")


def survival_table() -> pd.DataFrame:
    """What survives of each part of the paper, for the page."""
    rows = [
        ("Definition 1, randomised response", "preliminaries", "text"),
        ("(2) GRR, (3) frequency, (4) mean, (5) discretisation", "preliminaries", "restored"),
        ("Algorithm 1, steps and buckets", "section on HISKV", "text; formulas restored"),
        ("(6), the estimators", "section on HISKV", "restored; the factor l is not visible"),
        ("p₁ of Algorithm 2", "section on LRR_KV", "text"),
        ("q₁ and q₂ of Algorithm 2", "section on LRR_KV", "lost"),
        ("Algorithm 3, padding and sampling", "section on LRR_KV", "text"),
        ("Algorithm 4, length estimate", "section on OETL", "text; formulas restored"),
        ("Theorems 1 to 3", "analysis", "statements text; displays lost or restored"),
        ("Theorems 4 to 7", "analysis", "displays lost; restored or derived"),
        ("β, clipping, data generators, LDPKV", "experiments", "lost"),
    ]
    return pd.DataFrame(rows, columns=["what", "where in the paper", "how it reached us"])


# --- judges ----------------------------------------------------------------------------------


def _judge_waste(result: Result) -> Evidence:
    absent = result.facts["absent"]
    return exact_if(
        set(absent.values()) == {Fraction(6, 7)},
        f"{', '.join(f'{name} {share}' for name, share in absent.items())}",
        "6/7 for user u3, who holds one of seven goods",
        "Such a report says nothing of a mean. It does say that a key is absent, which the "
        "frequency uses. LDPKV2020 is a guess.",
    )


def _judge_table_1(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["k2_holders"] == 2
        and facts["k2_frequency"] == Fraction(2, 3)
        and facts["k2_mean"] == Fraction(61, 100)
        and facts["send_plus"] == Fraction(7, 10),
        f"k2 has {facts['k2_holders']} holders ({facts['k2_frequency']}), mean "
        f"{num(facts['k2_mean'], 2)}; 0.4 becomes +1 with probability {num(facts['send_plus'], 1)}",
        "2 of 3 users, mean 0.61; 0.7",
        "Equation (5) is restored; the printed 0.7 fixes it.",
    )


def _judge_slip(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        EXACT if facts["k2_bucket_mean"] == 1 else DIFFERS,
        f"buckets of k2: {facts['k2_plus']} and {facts['k2_minus']}, mean "
        f"{num(float(facts['k2_bucket_mean']), 2)}",
        "mean 1",
        note="The text's own list has ⟨k2, +1⟩ for u1 and ⟨k2, -1⟩ for u2. The frequency 2/3 is "
        "right. A slip of the example; nothing rests on it.",
    )


def _judge_readings(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        EXACT if facts["fit_all"] == 1 else NOT_CHECKABLE,
        f"{facts['fit_all']} of {facts['readings']} readings keep all three sentences; p₁ as "
        f"printed with a larger q₁: {', '.join(facts['fit_printed_and_larger'])}; Definition 1 for "
        f"pairs: {facts['fit_promise']}",
        "p₁ as printed, q₁ above average, Definition 1",
        note="The displayed condition that sets q₁ and q₂ is lost. No q₁ fits all three sentences "
        "(Lemma 1 on the next page), so the text cannot tell which one gave way.",
    )


def _judge_identity(result: Result) -> Evidence:
    facts = result.facts
    n = facts["cases"]
    held = facts["same_law"] == facts["same_estimates"] == n
    outside = facts["outside"]
    return exact_if(
        held and facts["same_set_up"] == facts["same_epsilon"] == n,
        f"one law in {facts['same_law']} of {n} cases, one estimator in {facts['same_estimates']}; "
        f"PCKV's own budgets lead there in {facts['within']}",
        "all; a = p₁ + q₁, p = p₁/(p₁ + q₁), b = 2q₂",
        "Whatever q₁ and q₂ were. "
        + (
            f"Only reading {outside} needs budgets below 0." if outside else "Budgets always exist."
        ),
    )


def _judge_linked(result: Result) -> Evidence:
    facts = result.facts
    same = facts["same_law"] == facts["cases"]
    return Evidence(
        DIFFERS if same else EXACT,
        f"LRR_KV and PCKV-GRR have one law in {facts['same_law']} of {facts['cases']} cases",
        "a difference between the two",
        note="The first half holds: key and value are perturbed together. It holds for PCKV-GRR "
        "too, which is the same mechanism with other numbers. Against PrivKV, which answers key "
        "and value with two budgets, the statement stands. Rests on no reading.",
    )


def _judge_split(result: Result) -> Evidence:
    facts = result.facts
    n = facts["cases"]
    whole = facts["one_grr"] == n and facts["sum_above"] == n
    return Evidence(
        DIFFERS if whole else EXACT,
        f"its optimum is one GRR on pairs in {facts['one_grr']} of {n} cases; ε₁ + ε₂ = "
        f"{num(facts['sum_short'])} (l = 1) and {num(facts['sum_long'])} (l = 37) at ε = 1.6",
        "two budgets that share ε",
        note="PCKV has two parameters, but they compose more tightly than a sum: at l = 1 the "
        "value gets all of ε and the key ln((e^ε + 1)/2) besides. Only its unoptimised variant "
        "(ε/2 each) is a split.",
    )


def _judge_wrong_cells(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        EXACT if facts["printed_above"] == facts["cases_above"] else DIFFERS,
        f"equal in {facts['printed_at_1']} of {facts['cases_at_1']} cases with l = 1 and "
        f"{facts['printed_above']} of {facts['cases_above']} with l > 1; d = 1, l = 2, e^ε = 2: "
        f"{facts['example']}, printed {facts['example_printed']}",
        "1/(e^ε + d' - 1) for any l",
        note="It is 1/(e^ε' + d' - 1) with e^ε' = l(e^ε - 1) + 1 "
        f"({facts['amplified']} of {facts['cases']} cases): PCKV credits the sampling. The printed "
        "one is PCKV-GRR without that credit.",
    )


def _judge_rule(result: Result) -> Evidence:
    return Evidence(
        NOT_CHECKABLE,
        f"PCKV sets l by hand, but describes {result.facts['described']} of the 3 parts of "
        "HISKV's rule",
        "no method for l",
        note="Nothing to compute; by reading. PCKV's section on the choice of l names the 90th "
        "percentile of lengths, estimated privately by a separate group (from the same source as "
        "HISKV's), and leaves its tuning as future work. HISKV carries that out.",
    )


def _judge_factor(result: Result) -> Evidence:
    facts = result.facts
    n = facts["cases"]
    return exact_if(
        facts["equation_8"] == facts["corrected"] == facts["others_cancel"] == n,
        f"E[sign] = v(p₁ - q₁) in {facts['equation_8']} of {n} cases, other pairs cancel in "
        f"{facts['others_cancel']}",
        "all, for every reading",
        "It corrects the difference of the counts. The printed mean divides this by an estimated "
        "count and is not unbiased: see page 03.",
    )


def _judge_likelihood(result: Result) -> Evidence:
    facts = result.facts
    n = facts["cases"]
    return exact_if(
        facts["root"] == facts["peak"] == n and facts["lengths"] == facts["length_cases"],
        f"(6) is the root and the peak in {facts['root']} of {n} cases ({facts['counts']} counts); "
        f"OETL's counts are unbiased in {facts['lengths']} of {facts['length_cases']}",
        "all",
        f"At {facts['outside']} of the counts the root lies outside [0, 1]. Equation (6) and "
        "OETL's correction are restored.",
    )


def _judge_owned(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["short_right"] == facts["short"] and facts["library"] == facts["cases"],
        f"1/l for each owned pair in {facts['short_right']} of {facts['short']} short lists; "
        f"1/l_i in {facts['long_right']} of {facts['long']} long ones",
        "1/l when l_i ≤ l",
        "Followed step by step. The case l_i = l, missing in Algorithm 3, is taken with l_i > l.",
    )


def _judge_dummies(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        DIFFERS if facts["collides"] else EXACT,
        f"they change the law of a real key in {facts['collides']} of {facts['padded']} padded "
        f"lists; d = 1, l = 2, one holder: expected frequency {facts['example']}",
        "dummies that are no real keys; 1",
        note="A slip of notation: d' = 2(d + l), printed too, counts l keys beyond the real ones. "
        "With ids d + 1 to d + l nothing collides, and all other checks use them.",
    )


def _judge_communication(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["one_cell"],
        f"one of 2(d + l) cells; at most {facts['most_bits']} bits on the paper's data",
        "O(1)",
        "O(1) counts pairs. In bits it is ⌈log₂ 2(d + l)⌉, one more when the domain doubles.",
    )


CLAIMS = (
    Claim(
        id="hiskv-table-1",
        paper="hiskv",
        label="Introduction and preliminaries, Table 1, equation (5) (hiskv-39)",
        kind="table",
        mark="text",
        statement="Good k2 is held by two users with mean 0.61; the value 0.4 becomes +1 with "
        "probability 0.7.",
        run=example,
        judge=_judge_table_1,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-fig-2-mean",
        paper="hiskv",
        label="Section on HISKV, worked example of Figure 2 (hiskv-24)",
        kind="figure",
        mark="text",
        statement="From the histogram of the example, k2 has frequency 2/3 and mean 1.",
        run=example,
        judge=_judge_slip,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-empty-reports",
        paper="hiskv",
        label="Introduction, reports of absent keys (hiskv-1)",
        kind="statement",
        mark="text",
        statement="PrivKV, KVUE, KVOH and LDPKV sample over the whole key domain; user u3 of Table "
        "1 sends ⟨0, 0⟩ with probability 6/7.",
        run=example,
        judge=_judge_waste,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-alg-3",
        paper="hiskv",
        label="Section on LRR_KV, Algorithm 3, sampling (hiskv-42)",
        kind="statement",
        mark="derived",
        statement="A user with at most l pairs samples each of them with probability 1/l.",
        run=padding_sampling,
        judge=_judge_owned,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-alg-3-dummies",
        paper="hiskv",
        label="Section on LRR_KV, Algorithm 3, dummies",
        kind="statement",
        mark="text",
        statement="Short lists are filled with the dummies ⟨1, 0⟩ to ⟨l, 0⟩.",
        run=padding_sampling,
        judge=_judge_dummies,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-alg-2",
        paper="hiskv",
        label="Section on LRR_KV, Algorithm 2, its probabilities",
        kind="statement",
        mark="text",
        statement="LRR_KV keeps a pair with p₁ = e^ε/(e^ε + d' - 1), turns its sign with a q₁ "
        "above the average of the wrong cells, and obeys Definition 1.",
        run=readings,
        judge=_judge_readings,
        page=PAGE,
        recorded=always(NOT_CHECKABLE),
    ),
    Claim(
        id="hiskv-identity",
        paper="hiskv",
        label="Own result: LRR_KV is PCKV-GRR",
        kind="statement",
        mark="derived",
        statement="For every p₁, q₁ and q₂, LRR_KV is PCKV-GRR with a = p₁ + q₁, p = p₁/(p₁ + q₁) "
        "and b = 2q₂, in law and in its estimates.",
        run=identity,
        judge=_judge_identity,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-linked",
        paper="hiskv",
        label="Introduction, key and value stay linked (hiskv-6)",
        kind="statement",
        mark="text",
        statement="Unlike PCKV-GRR, HISKV perturbs a pair as a whole without splitting the budget, "
        "and so keeps key and value linked.",
        run=identity,
        judge=_judge_linked,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-budget-split",
        paper="hiskv",
        label="Introduction, PCKV-GRR's budgets (hiskv-2)",
        kind="statement",
        mark="text",
        statement="Like PrivKV, PCKV-GRR splits ε into ε₁ for the key and ε₂ for the value.",
        run=pckv_optimum,
        judge=_judge_split,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-wrong-cells",
        paper="hiskv",
        label="Section on LRR_KV, PCKV-GRR's wrong cells (hiskv-3)",
        kind="statement",
        mark="text",
        statement="At its optimum PCKV-GRR gives each wrong cell the probability 1/(e^ε + d' - 1).",
        run=pckv_optimum,
        judge=_judge_wrong_cells,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-no-rule",
        paper="hiskv",
        label="Introduction, PCKV-GRR's padding length (hiskv-4)",
        kind="statement",
        mark="text",
        statement="PCKV-GRR gives no method for the truncation length l.",
        run=padding_rule,
        judge=_judge_rule,
        page=PAGE,
        recorded=always(NOT_CHECKABLE),
    ),
    Claim(
        id="hiskv-eq-6",
        paper="hiskv",
        label="Analysis, equation (6), and Algorithm 4 (hiskv-40)",
        kind="equation",
        mark="derived",
        statement="Restored: f* of equation (6) is the maximum of the likelihood, and OETL's "
        "corrected counts are unbiased.",
        run=estimators,
        judge=_judge_likelihood,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-eq-8",
        paper="hiskv",
        label="Analysis, equation (8), the correction 1/(p₁ - q₁) (hiskv-16)",
        kind="equation",
        mark="text",
        statement="The reported sign of a pair ⟨k, v⟩ has expectation v(p₁ - q₁), so that "
        "1/(p₁ - q₁) corrects it.",
        run=estimators,
        judge=_judge_factor,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-communication",
        paper="hiskv",
        label="Section on HISKV, communication (hiskv-23)",
        kind="statement",
        mark="text",
        statement="A user sends one perturbed pair, so the communication cost is O(1).",
        run=communication,
        judge=_judge_communication,
        page=PAGE,
        recorded=always(EXACT),
    ),
)
