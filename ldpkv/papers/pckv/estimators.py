"""Page 03: what the estimators of frequency and mean do, exactly and by simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from ldpkv import allocation, theory
from ldpkv.data import KeyValueData
from ldpkv.estimation import Counts, calibrate_pairs
from ldpkv.mechanisms import PCKVGRR, PCKVUE, User
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    WITHIN_ERROR,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)
from ldpkv.theory import Numbers
from ldpkv.trials import run_trials

PAGE = "notebooks/pckv/03-estimators.ipynb"

Mechanism = PCKVUE | PCKVGRR
KINDS: Mapping[str, type[PCKVUE] | type[PCKVGRR]] = {"PCKV-UE": PCKVUE, "PCKV-GRR": PCKVGRR}
# Probability that chance alone turns one verdict; shared by all its comparisons.
FALSE_ALARM = 1e-4
# Standard deviations between the estimated frequency and 0 from which (10) and (11) are trusted.
CLEAR_SIGNAL = 5

# (e^epsilon_1, e^epsilon_2) of what is enumerated.
BUDGETS: Mapping[str, Sequence[tuple[Fraction, Fraction]]] = {
    "quick": ((Fraction(3), Fraction(5, 2)),),
    "paper": (
        (Fraction(3), Fraction(5, 2)),
        (Fraction(3, 2), Fraction(4)),
        (Fraction(20), Fraction(6)),
    ),
}
ONE_PAIR: Sequence[User] = ({0: Fraction(1, 2)}, {1: Fraction(1)}, {0: Fraction(-1)})
SHORT: Sequence[User] = (
    {0: Fraction(1, 2), 1: Fraction(-1)},
    {0: Fraction(-1, 4)},
    {1: Fraction(1)},
)
LONG: Sequence[User] = (
    {0: Fraction(1, 2), 1: Fraction(-1), 2: Fraction(1)},
    {0: Fraction(-1, 4)},
    {},
)


# --- exact laws of one key's counts ---------------------------------------------------------


def key_law(mechanism: Mechanism, user: User, key: int) -> list[Fraction]:
    """Exact probabilities that a user's report says +1, -1 or nothing of one key.

    Parameters
    ----------
    mechanism : PCKVUE or PCKVGRR
        With fractions for probabilities.
    user : mapping of int to number
        The user's set.
    key : int
        Which key.

    Returns
    -------
    list of Fraction
        Three probabilities, from the mechanism's own `symbol_law` and `channel`.
    """
    law: list[Fraction] = (_said_of(mechanism, key).T @ mechanism.symbol_law(user)).tolist()
    return law


def _said_of(mechanism: Mechanism, key: int) -> NDArray[Any]:
    """Chance that a report says +1, -1 or nothing of the key, one row a symbol."""
    channel = mechanism.channel()
    weights = channel.weights
    if isinstance(mechanism, PCKVUE):
        shape = (len(weights), 3**key, 3, 3 ** (mechanism.width - key - 1))
        rows = weights.reshape(shape).sum(axis=(1, 3))
    else:
        said = weights[:, 2 * key : 2 * key + 2]
        rows = np.column_stack([said, weights.sum(axis=1) - said.sum(axis=1)])
    return np.array([[Fraction(int(x), int(channel.denominator)) for x in row] for row in rows])


def counts_law(laws: Iterable[Sequence[Fraction]]) -> dict[tuple[int, int], Fraction]:
    """Exact joint law of (n_1, n_2) for independent users.

    Parameters
    ----------
    laws : iterable of three probabilities
        One for each user; see `key_law`.

    Returns
    -------
    dict of (int, int) to Fraction
        Counts -> probability.
    """
    total = {(0, 0): Fraction(1)}
    for plus, minus, none in laws:
        following: dict[tuple[int, int], Fraction] = {}
        for (first, second), chance in total.items():
            for counts, step in (
                ((first + 1, second), plus),
                ((first, second + 1), minus),
                ((first, second), none),
            ):
                following[counts] = following.get(counts, Fraction(0)) + chance * step
        total = following
    return total


def _moments(
    law: Mapping[tuple[int, int], Fraction], values: Mapping[tuple[int, int], Fraction]
) -> tuple[Fraction, Fraction]:
    mean = sum((law[counts] * values[counts] for counts in law), Fraction(0))
    square = sum((law[counts] * values[counts] ** 2 for counts in law), Fraction(0))
    return mean, square - mean**2


def _calibrated(numbers: Numbers, first: int, second: int, n_users: int) -> tuple[Any, Any]:
    """Lemma 1's estimates, by the library's own calibration in exact fractions."""
    a, b, p, _ = numbers
    table = np.array([[first, second]], dtype=object)
    (plus,), (minus,) = calibrate_pairs(Counts(table, np.array([n_users], dtype=object)), a, b, p)
    return plus, minus


def _mechanisms(profile: str, n_keys: int, paddings: Sequence[int]) -> Iterator[Mechanism]:
    for budgets, cls, padding in itertools.product(BUDGETS[profile], KINDS.values(), paddings):
        yield cls.from_exp_budgets(*budgets, n_keys=n_keys, padding=padding)


def _floats(numbers: Numbers) -> Numbers:
    a, b, p, padding = numbers
    return Numbers(float(a), float(b), float(p), padding)


def _name(mechanism: Mechanism) -> str:
    return next(name for name, cls in KINDS.items() if isinstance(mechanism, cls))


def _worlds(profile: str) -> Iterator[tuple[Mechanism, Sequence[User], int]]:
    """Users with at most l pairs: a mechanism, the users, a key."""
    for mechanism in _mechanisms(profile, 2, (1, 2, 3)):
        for key in (0, 1):
            yield mechanism, ONE_PAIR if mechanism.padding == 1 else SHORT, key
    # The smallest case of all: one user, one key, padding 2.
    for mechanism in _mechanisms(profile, 1, (2,)):
        yield mechanism, ({0: Fraction(1)},), 0


def enumeration(profile: str = "quick") -> Result:
    """Enumerate sampling and channel for a few users: every moment of the estimators, exactly.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of budget pairs.

    Returns
    -------
    Result
        One row for each mechanism, users and key: the exact expectation and variance of (7), for
        fixed users and for as many drawn independently, with (9) as printed and corrected; and
        whether (7), the total f m, and Lemma 1 are unbiased.
    """
    records = []
    for mechanism, users, key in _worlds(check_profile(profile)):
        numbers, n_users = Numbers.of(mechanism), len(users)
        held = [Fraction(user[key]) for user in users if key in user]
        true, true_total = Fraction(len(held), n_users), sum(held, Fraction(0)) / n_users
        laws = [key_law(mechanism, user, key) for user in users]
        law = counts_law(laws)
        mixture = [sum(cell, Fraction(0)) / n_users for cell in zip(*laws, strict=True)]
        law_iid = counts_law([mixture] * n_users)
        calibrated = {counts: _calibrated(numbers, *counts, n_users) for counts in law}
        scale = Fraction(mechanism.padding, n_users)
        frequency = {counts: scale * (x + y) for counts, (x, y) in calibrated.items()}
        total = {counts: scale * (x - y) for counts, (x, y) in calibrated.items()}
        expected, variance = _moments(law, frequency)
        symbols = np.array([mechanism.symbol_law(user) for user in users])
        sampled = symbols[:, 2 * key : 2 * key + 2].sum(axis=0)
        lemma = [
            _moments(law, {counts: pair[sign] for counts, pair in calibrated.items()})[0]
            for sign in (0, 1)
        ]
        records.append(
            {
                "mechanism": _name(mechanism),
                "padding": mechanism.padding,
                "n_users": n_users,
                "n_keys": mechanism.n_keys,
                "frequency": true,
                "expected": expected,
                "total_unbiased": _moments(law, total)[0] == true_total,
                "lemma_1": lemma == sampled.tolist(),
                "variance": variance,
                "printed": theory.frequency_variance_printed(numbers, true, n_users),
                "corrected": theory.frequency_variance(numbers, true, n_users),
                "variance_iid": _moments(law_iid, frequency)[1],
                "corrected_iid": theory.frequency_variance(numbers, true, n_users, users="iid"),
            }
        )
    table = pd.DataFrame(records)
    one = table["padding"] == 1
    printed = table["variance"] == table["printed"]
    small = table[table["n_users"] == 1].iloc[0]
    facts = {
        "cases": len(table),
        "unbiased": int((table["expected"] == table["frequency"]).sum()),
        "total_unbiased": int(table["total_unbiased"].sum()),
        "lemma_1": int(table["lemma_1"].sum()),
        "cases_at_1": int(one.sum()),
        "printed_at_1": int(printed[one].sum()),
        "cases_above": int((~one).sum()),
        "printed_above": int(printed[~one].sum()),
        "corrected": int((table["variance"] == table["corrected"]).sum()),
        "corrected_iid": int((table["variance_iid"] == table["corrected_iid"]).sum()),
        "example_printed": small["printed"],
        "example_exact": small["variance"],
        "worst_ratio": _ratio_to_printed(PCKVGRR, 10, 50, 6.0, 0.5),
        "cases_a_budget": len(table) // len(BUDGETS[profile]),
    }
    return Result(profile, table, facts)


def _ratio_to_printed(
    cls: type[PCKVUE] | type[PCKVGRR], padding: int, n_keys: int, epsilon: float, frequency: float
) -> float:
    numbers = Numbers.of(cls.from_epsilon(epsilon, n_keys=n_keys, padding=padding))
    exact = theory.frequency_variance(numbers, frequency, 1)
    return float(exact / theory.frequency_variance_printed(numbers, frequency, 1))


def variance_table(result: Result) -> pd.DataFrame:
    """Printed and exact variances of the first pair of budgets, for the page; equal rows once."""
    table = result.table[result.table["frequency"] > 0]
    table = table.drop_duplicates(["mechanism", "padding", "n_users", "frequency"])
    return pd.DataFrame(
        {
            "mechanism": table["mechanism"],
            "users": table["n_users"],
            "l": table["padding"],
            "f": table["frequency"].astype(str),
            "(9) as printed": table["printed"].astype(str),
            "exact, fixed users": table["variance"].astype(str),
            "exact, independent users": table["variance_iid"].astype(str),
        }
    )


def reports_of_one_key(profile: str = "quick") -> Result:
    """What a single report says of a key, given the pair that its user sampled.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of budget pairs.

    Returns
    -------
    Result
        One row for each mechanism, key and sampled symbol: the exact expectation of its sign at
        that key, and of Lemma 1's two estimates.
    """
    records = []
    for mechanism in _mechanisms(check_profile(profile), 2, (1, 2)):
        numbers = Numbers.of(mechanism)
        for key in range(mechanism.n_keys):
            for symbol, said in enumerate(_said_of(mechanism, key)):
                one_report = zip(said, ((1, 0), (0, 1), (0, 0)), strict=True)
                lemma = np.array([0, 0], dtype=object)
                for chance, counts in one_report:
                    lemma += chance * np.array(_calibrated(numbers, *counts, 1), dtype=object)
                on_key = symbol // 2 == key
                sign = (-1) ** (symbol % 2) if on_key else 0
                a, _, p, _ = numbers
                records.append(
                    {
                        "mechanism": _name(mechanism),
                        "padding": mechanism.padding,
                        "key": key,
                        "symbol": symbol,
                        "on_key": on_key,
                        "sign": said[0] - said[1],
                        "expected_sign": a * (2 * p - 1) * sign,
                        "lemma_1": lemma.tolist() == [int(sign > 0), int(sign < 0)],
                    }
                )
    table = pd.DataFrame(records)
    facts = {
        "cases": len(table),
        "fake_cases": int((~table["on_key"]).sum()),
        "fake_zero": int((table["sign"] == 0)[~table["on_key"]].sum()),
        "own_sign": bool((table["sign"] == table["expected_sign"]).all()),
        "lemma_1": int(table["lemma_1"].sum()),
    }
    return Result(profile, table, facts)


def identities(profile: str = "quick") -> Result:
    """Compare the forms of (8), and (13) to (15), at every possible pair of counts.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Largest number of users.

    Returns
    -------
    Result
        One row for each mechanism, n and counts, in exact fractions.
    """
    most = {"quick": 4, "paper": 8}[check_profile(profile)]
    records = []
    for mechanism in _mechanisms(profile, 3, (1, 2, 5)):
        a, b, p, padding = numbers = Numbers.of(mechanism)
        for n_users in range(1, most + 1):
            for n1, n2 in itertools.product(range(n_users + 1), repeat=2):
                if n1 + n2 > n_users:
                    continue
                plus, minus = _calibrated(numbers, n1, n2, n_users)
                frequency = (Fraction(n1 + n2, n_users) - b) / (a - b) * padding
                near, far = a * p - b / 2, a * (1 - p) - b / 2
                shift = n_users * b / 2
                matrix = (near * plus + far * minus, far * plus + near * minus)
                record = {
                    "counts": (n1, n2, n_users),
                    "matrix": matrix == (n1 - shift, n2 - shift),
                    "sum": plus + minus == n_users * frequency / padding,
                    "difference": plus - minus == (n1 - n2) / (a * (2 * p - 1)),
                    "mean_defined": frequency != 0,
                }
                if frequency:
                    first = (n1 - n2) / (2 * p - 1) / (n_users * frequency * a / padding)
                    second = (n1 - n2) * (a - b) / (a * (2 * p - 1) * (n1 + n2 - n_users * b))
                    record["two_forms"] = first == second
                    record["from_lemma_1"] = (
                        padding * (plus - minus) / (n_users * frequency) == second
                    )
                records.append(record)
    table = pd.DataFrame(records).fillna({"two_forms": True, "from_lemma_1": True})
    columns = ("matrix", "sum", "difference", "two_forms", "from_lemma_1")
    facts = {
        "cases": len(table),
        "defined": int(table["mean_defined"].sum()),
        **{column: bool(table[column].all()) for column in columns},
    }
    return Result(profile, table, facts)


# --- Theorem 4: simulation, first order, consistency ----------------------------------------


def half_and_half(n_users: int, n_keys: int) -> KeyValueData:
    """Users with one pair each: half hold key 0, three in four of them with 1, one with -1.

    Parameters
    ----------
    n_users : int
        A multiple of 8.
    n_keys : int
        d, at least 2.

    Returns
    -------
    KeyValueData
        For key 0, f = 1/2, m = 1/2, and the values' variance is 3/4. The others hold key 1.
    """
    keys = np.repeat([0, 1], n_users // 2)
    values = np.concatenate(
        [np.tile([1.0, 1.0, 1.0, -1.0], n_users // 8), np.full(n_users // 2, -0.5)]
    )
    return KeyValueData.from_pairs(np.arange(n_users), keys, values, n_keys=n_keys)


def simulation(profile: str = "quick", seed: int = 2020) -> Result:
    """Simulate both estimators on fixed data and compare printed and corrected variances.

    Parameters
    ----------
    profile : {"quick", "paper"}
        500 or 4,000 repetitions.
    seed : int, default 2020
        Seed of the repetitions.

    Returns
    -------
    Result
        One row for each mechanism, l and epsilon: measured squared error of the frequency of key 0
        over (9), with a 95 % interval, beside corrected (9) over (9); the same for its mean over
        (11), where `theory.signal` is at least 20.

    Notes
    -----
    An estimate from this many users is normal, for all that matters here; so the sum of its
    squared errors over the variance is chi-square with as many degrees as repetitions.
    """
    repeats = {"quick": 500, "paper": 4000}[check_profile(profile)]
    n_users, n_keys, frequency, true_mean = 20_000, 50, 0.5, 0.5
    cases = list(itertools.product(KINDS, (1, 3, 10), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)))
    mechanisms = {
        f"{name} {padding} {epsilon:g}": KINDS[name].from_epsilon(
            epsilon, n_keys=n_keys, padding=padding
        )
        for name, padding, epsilon in cases
    }
    trials = run_trials(
        half_and_half(n_users, n_keys),
        mechanisms,
        repeats=repeats,
        rng=seed,
        keys=np.array([0]),
        correction="none",
    )
    squares = ((trials.frequency[:, :, 0] - frequency) ** 2).sum(axis=0)
    mean_squares = ((trials.mean[:, :, 0] - true_mean) ** 2).sum(axis=0)
    rows = []
    for position, ((name, padding, epsilon), mechanism) in enumerate(
        zip(cases, mechanisms.values(), strict=True)
    ):
        numbers = Numbers.of(mechanism)
        printed = theory.frequency_variance_printed(numbers, frequency, n_users)
        corrected = theory.frequency_variance(numbers, frequency, n_users)
        bound = theory.mean_variance_printed(numbers, frequency, true_mean, n_users)
        sharper = theory.mean_variance(numbers, frequency, true_mean, n_users, spread=0.75)
        clear = theory.signal(numbers, frequency, n_users) >= 20
        low, high = repeats / stats.chi2.ppf([0.975, 0.025], repeats)
        ratio = squares[position] / repeats / printed
        mean_ratio = mean_squares[position] / repeats / bound if clear else np.nan
        rows.append(
            {
                "mechanism": name,
                "padding": padding,
                "epsilon": epsilon,
                "ratio": ratio,
                "ratio_low": low * ratio,
                "ratio_high": high * ratio,
                "ratio_corrected": corrected / printed,
                "p_printed": _p_value(squares[position] / printed, repeats),
                "p_corrected": _p_value(squares[position] / corrected, repeats),
                "mean_ratio": mean_ratio,
                "mean_ratio_low": low * mean_ratio,
                "mean_ratio_high": high * mean_ratio,
                "mean_ratio_sharper": sharper / bound if clear else np.nan,
                "p_mean_printed": _p_value(mean_ratio * repeats, repeats),
                "p_mean": _p_value(mean_ratio * repeats * bound / sharper, repeats),
            }
        )
    table = pd.DataFrame(rows)
    compared = len(table) + int(table["mean_ratio"].notna().sum())
    critical = FALSE_ALARM / compared
    facts = {
        "repeats": repeats,
        "cases": len(table),
        "mean_cases": int(table["mean_ratio"].notna().sum()),
        "critical_p": critical,
        "smallest_p": float(table["p_corrected"].min()),
        "smallest_p_mean": float(table["p_mean"].min()),
        "printed_rejected": int((table["p_printed"] < critical).sum()),
        "mean_printed_rejected": int((table["p_mean_printed"] < critical).sum()),
        "largest_ratio_corrected": float(table["ratio_corrected"].max()),
        "lowest_mean_ratio": float(table["mean_ratio_sharper"].min()),
    }
    setting = (
        f"n = {n_users:,}, d = {n_keys}, f = 0.5, one pair a user, fixed users, "
        f"{repeats} repetitions, no correction"
    )
    return Result(profile, table, facts, setting)


def _p_value(statistic: float, degrees: int) -> float:
    """Two-sided p-value of a chi-square statistic; NaN stays NaN."""
    tails = stats.chi2.cdf(statistic, degrees), stats.chi2.sf(statistic, degrees)
    return float(2 * np.minimum(*tails))


def draw_simulation(result: Result) -> Figure:
    """Draw measured over printed variance against epsilon, and corrected over printed."""
    figure, axes = plots.new_figure(2)
    top = 1.3 * result.table["ratio_high"].max()
    for axis, name in zip(axes, KINDS, strict=True):
        part = result.table[result.table["mechanism"] == name]
        part = part.assign(series="l = " + part["padding"].astype(str))
        axis.axhline(1, color=plots.BLACK, linewidth=0.8)
        plots.log_axis(axis)
        axis.set(xlabel="ε (nats)", ylabel="variance of the frequency / (9)", ylim=(0.75, top))
        axis.text(1, 0.8 * top, name, fontsize="small", fontweight="bold")
        plots.lines_with_bands(
            axis,
            part,
            x="epsilon",
            y="ratio",
            low="ratio_low",
            high="ratio_high",
            theory="ratio_corrected",
            series="series",
        )
    return figure


def first_order(profile: str = "quick") -> Result:
    """Compare (10) and (11) with the exact bias and variance of (8) as n grows.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Largest number of users.

    Returns
    -------
    Result
        One row for each mechanism and n: exact bias and variance for users drawn independently, by
        visiting every pair of counts, over (10) and (11). The facts hold the comparison for fixed
        users.
    """
    powers = {"quick": 3, "paper": 4}[check_profile(profile)]
    frequency, mean = 0.5, 0.6
    rows = []
    for name, cls in KINDS.items():
        mechanism = cls.from_exp_budgets(30.0, 60.0, n_keys=3, padding=2)
        numbers = Numbers.of(mechanism)
        for n_users in (1000 * 4**k for k in range(powers)):
            exact = theory.exact_errors(
                numbers, frequency, mean, n_users, correction="none", points=1 << 23
            )
            bias = theory.mean_bias(numbers, frequency, mean, n_users)
            variance = theory.mean_variance_printed(numbers, frequency, mean, n_users)
            exact_variance = exact.mean_mse - exact.mean_bias**2
            rows.append(
                {
                    "mechanism": name,
                    "n_users": n_users,
                    "signal": theory.signal(numbers, frequency, n_users),
                    "bias": exact.mean_bias,
                    "bias_ratio": exact.mean_bias / bias,
                    "variance": exact_variance,
                    "variance_ratio": exact_variance / variance,
                }
            )
    table = pd.DataFrame(rows)

    def shrinks(column: str, most: float) -> bool:
        # Four times the users: about a quarter is left.
        grouped = table.groupby("mechanism")[column]
        return all((np.abs(part[1:] / part[:-1]) < most).all() for part in map(_values, grouped))

    table = table.assign(
        bias_gap=(table["bias_ratio"] - 1).abs(), variance_gap=(table["variance_ratio"] - 1).abs()
    )
    last = table[table["n_users"] == table["n_users"].max()]
    facts = {
        "bias_gap": float(last["bias_gap"].max()),
        "variance_gap": float(last["variance_gap"].max()),
        "bias_gap_shrinks": shrinks("bias_gap", 0.3),
        "variance_gap_shrinks": shrinks("variance_gap", 0.3),
        "bias_vanishes": shrinks("bias", 0.3),
        "variance_vanishes": shrinks("variance", 0.3),
        "largest_n": int(table["n_users"].max()),
        "smallest_signal": float(table["signal"].min()),
        "last_bias": float(last["bias"].abs().max()),
        "last_variance": float(last["variance"].max()),
        **_fixed_first_order(),
    }
    setting = (
        "f = 0.5, m = 0.6, d = 3, l = 2, ε₁ = ln 30, ε₂ = ln 60, users drawn independently, exact"
    )
    return Result(profile, table.drop(columns=["bias_gap", "variance_gap"]), facts, setting)


def _values(group: tuple[Any, pd.Series]) -> NDArray[np.float64]:
    return group[1].to_numpy(dtype=np.float64)


def _fixed_first_order() -> dict[str, Any]:
    """First order for fixed users, from the exact moments of their counts, against (10), (11)."""
    equal, below, ratios = True, True, {}
    cases = itertools.product(BUDGETS["paper"], KINDS.values(), (1, 2, 5))
    for (exp_key, exp_value), cls, padding in cases:
        mechanism = cls.from_exp_budgets(exp_key, exp_value, n_keys=3, padding=padding)
        numbers = _floats(Numbers.of(mechanism))
        for values in ((0.5, 0.5, 0.5, 0.5), (1.0, 0.0, 1.0, 0.0), (1.0, -1.0, 0.5, 0.9)):
            users = [{0: value} for value in values] + [{1: 0.3}] * 4
            moments = theory.moments_of_data(numbers, KeyValueData.from_sets(users, n_keys=2))
            _, bias, variance = (x[0] for x in theory.mean_first_order(numbers, moments))
            mean, spread, n_users = np.mean(values), np.var(values), len(users)
            bound = theory.mean_variance_printed(numbers, 0.5, mean, n_users)
            sharper = theory.mean_variance(numbers, 0.5, mean, n_users, spread)
            printed_bias = theory.mean_bias(numbers, 0.5, mean, n_users)
            equal &= math.isclose(bias, printed_bias, rel_tol=1e-9, abs_tol=1e-12)
            equal &= math.isclose(variance, sharper, rel_tol=1e-9)
            below &= bool(variance <= bound * (1 + 1e-9))
            shown = ", ".join(f"{value:g}" for value in values)
            where = (
                f"{_name(mechanism)}, 8 users, f = 0.5, l = {padding}, ε₁ = ln {float(exp_key):g}, "
                f"ε₂ = ln {float(exp_value):g}, holders' values {shown}"
            )
            ratios[where] = float(variance / bound)
    lowest = min(ratios, key=lambda where: ratios[where])
    return {
        "fixed_equal": equal,
        "fixed_below": below,
        "fixed_lowest": ratios[lowest],
        "fixed_lowest_case": lowest,
    }


def first_order_table(result: Result) -> pd.DataFrame:
    """Exact over printed bias and variance, for the page."""
    table = result.table
    return pd.DataFrame(
        {
            "mechanism": table["mechanism"],
            "users n": table["n_users"],
            "f̂ over its deviation": table["signal"],
            "exact bias": table["bias"],
            "bias / (10)": table["bias_ratio"],
            "exact variance": table["variance"],
            "variance / (11)": table["variance_ratio"],
        }
    )


# --- out of range, and the correction -------------------------------------------------------


def outliers(profile: str = "quick") -> Result:
    """Exact chance that an uncorrected estimate leaves its range, against l^2 / (n f^2).

    Parameters
    ----------
    profile : {"quick", "paper"}
        10^4 or 10^6 users.

    Returns
    -------
    Result
        One row for each mechanism and frequency, at epsilon = 1.
    """
    n_users = {"quick": 10**4, "paper": 10**6}[check_profile(profile)]
    rows = []
    for name, cls in KINDS.items():
        numbers = Numbers.of(cls.from_epsilon(1.0, n_keys=20, padding=1))
        for scale in np.geomspace(1e-3, 10, 17):
            frequency = 1 / math.sqrt(n_users * scale)
            low, _, mean = _chance_outside(numbers, frequency, 0.5, n_users)
            rows.append((name, float(scale), frequency, low, mean))
    table = pd.DataFrame(rows, columns=["mechanism", "scale", "frequency", "below_0", "mean"])
    numbers = Numbers.of(PCKVUE.from_epsilon(1.0, n_keys=20, padding=1))
    falls = [
        bool((np.diff(part[column]) >= 0).all())
        for _, part in table.groupby("mechanism")
        for column in ("below_0", "mean")
    ]
    first, last = (table[table["scale"] == edge] for edge in (table["scale"].min(), 10))
    facts = {
        "grows": all(falls),
        "frequency_low": float(last["below_0"].max()),
        "frequency_high": _chance_outside(numbers, 1.0, 0.5, n_users)[1],
        "mean_large": float(table["mean"].max()),
        "mean_small": float(first[first["mechanism"] == "PCKV-UE"]["mean"].max()),
    }
    return Result(profile, table, facts, f"n = {n_users:,}, d = 20, l = 1, ε = 1, m = 0.5, exact")


def _chance_outside(
    numbers: Numbers, frequency: float, mean: float, n_users: int
) -> tuple[float, float, float]:
    """Exact chances of f < 0, f > 1 and |m| > 1 for users drawn independently, no correction.

    The support S is binomial, and given S the count n_1 is; (8) is a line in n_1 for each S.
    """
    a, b, p, padding = numbers
    moments = theory.moments_iid(numbers, frequency, mean, n_users)
    support = np.arange(n_users + 1)
    chance = stats.binom.pmf(support, n_users, moments.support)
    kept = chance > 1e-18
    support, chance = support[kept], chance[kept]
    estimate = padding * (support / n_users - b) / (a - b)
    # |m| > 1 iff |n_1 - n_2| exceeds this; n_1 - n_2 = 2 n_1 - S.
    bound = a * (2 * p - 1) / (a - b) * np.abs(support - n_users * b)
    share = (1 + moments.difference / moments.support) / 2
    above = stats.binom.sf(np.floor((support + bound) / 2), support, share)
    below = stats.binom.cdf(np.ceil((support - bound) / 2) - 1, support, share)
    outside = float(chance @ (above + below))
    return float(chance[estimate < 0].sum()), float(chance[estimate > 1].sum()), outside


def draw_outliers(result: Result) -> Figure:
    """Draw both chances against l^2 / (n f^2)."""
    figure, axes = plots.new_figure(2)
    titles = {"below_0": "chance that f̂ < 0", "mean": "chance that |m̂| > 1"}
    for axis, (column, title) in zip(axes, titles.items(), strict=True):
        plots.log_axis(axis, "x")
        axis.set(xlabel="l² / (n f²)", ylabel=title, ylim=(-0.01, 0.6))
        plots.lines_with_bands(axis, result.table, x="scale", y=column, series="mechanism")
    return figure


EPSILONS = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def clipping(profile: str = "quick") -> Result:
    """Exact errors with Algorithm 4 as printed, as the authors' code has it, and without it.

    Parameters
    ----------
    profile : {"quick", "paper"}
        2,000 users and f = 0.2, or the paper's 10^6 users and f = 0.01.

    Returns
    -------
    Result
        One row for each mechanism, variant and epsilon.
    """
    n_users, frequency = {"quick": (2000, 0.2), "paper": (10**6, 0.01)}[check_profile(profile)]
    mean, n_keys = 0.5, 20
    rows = []
    for name, cls in KINDS.items():
        for epsilon in EPSILONS:
            numbers = Numbers.of(cls.from_epsilon(epsilon, n_keys=n_keys, padding=1))
            for correction in ("paper", "code", "none"):
                exact = theory.exact_errors(
                    numbers, frequency, mean, n_users, correction=correction
                )
                rows.append(
                    {
                        "mechanism": name,
                        "correction": correction,
                        "epsilon": epsilon,
                        "signal": theory.signal(numbers, frequency, n_users),
                        "frequency_mse": exact.frequency_mse,
                        "mean_bias": exact.mean_bias,
                        "mean_mse": exact.mean_mse,
                    }
                )
    table = pd.DataFrame(rows)
    wide = table.pivot(index=["mechanism", "epsilon"], columns="correction", values="mean_mse")
    clear = table.drop_duplicates(["mechanism", "epsilon"]).set_index(["mechanism", "epsilon"])
    ratio = wide["code"] / wide["paper"]
    facts = {
        "largest_difference": float((ratio - 1).abs().max()),
        "lowest_ratio": float(ratio.min()),
        "paper_at_lowest": float(wide["paper"][ratio.idxmin()]),
        "code_at_lowest": float(wide["code"][ratio.idxmin()]),
        "where": ratio.idxmin(),
        "difference_when_clear": float((ratio - 1).abs()[clear["signal"] >= 6].max()),
        "zero_mse": mean**2,
        "worse_than_zero": int((wide["paper"] > mean**2).sum()),
    }
    setting = (
        f"n = {n_users:,}, f = {frequency:g}, m = {mean:g}, d = {n_keys}, l = 1, "
        "users drawn independently, no simulation"
    )
    # Without correction the error near the pole of (8) has no stable value: not shown there.
    shown = (table["correction"] != "none") | (table["signal"] >= 5)
    return Result(profile, table[shown].reset_index(drop=True), facts, setting)


def draw_clipping(result: Result) -> Figure:
    """Draw the mean's error against epsilon for the three variants, one panel a mechanism."""
    figure, axes = plots.new_figure(2)
    names = {"paper": "as printed", "code": "authors' code", "none": "none"}
    for axis, mechanism in zip(axes, KINDS, strict=True):
        part = result.table[result.table["mechanism"] == mechanism]
        plots.log_axis(axis, "x")
        plots.log_axis(axis)
        for position, (correction, label) in enumerate(names.items()):
            line = part[part["correction"] == correction]
            look = plots.style(label, position)
            axis.plot(line["epsilon"], line["mean_mse"], label=label, **look)
        axis.axhline(result.facts["zero_mse"], color=plots.BLACK, linewidth=0.8, linestyle=":")
        axis.text(6, 1.07 * result.facts["zero_mse"], "always 0", fontsize="small", ha="right")
        axis.text(0.1, axis.get_ylim()[0] * 1.3, mechanism, fontsize="small", fontweight="bold")
        axis.set(xlabel="ε (nats)", ylabel="MSE of the mean")
    axes[1].legend(fontsize="small", frameon=False, loc="lower center", title="correction")
    return figure


def correction(profile: str = "quick") -> Result:
    """Compare exact errors with and without Algorithm 4, for rare and for universal keys.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of users.

    Returns
    -------
    Result
        One row for each mechanism, epsilon, f and m: error with the correction over error
        without, for frequency and mean. Also a full list of the corrected estimates of small n.
    """
    n_users = {"quick": 400, "paper": 4000}[check_profile(profile)]
    rows = []
    grid = itertools.product(KINDS, (1.0, 3.0, 6.0), (0.02, 0.1, 0.5, 0.9, 1.0), (0.0, 0.5, 0.9))
    for name, epsilon, frequency, mean in grid:
        numbers = Numbers.of(KINDS[name].from_epsilon(epsilon, n_keys=3, padding=1))
        exact = {
            kind: theory.exact_errors(numbers, frequency, mean, n_users, correction=kind)
            for kind in ("paper", "none")
        }
        rows.append(
            {
                "mechanism": name,
                "epsilon": epsilon,
                "frequency": frequency,
                "mean": mean,
                "frequency_ratio": exact["paper"].frequency_mse / exact["none"].frequency_mse,
                "mean_ratio": exact["paper"].mean_mse / exact["none"].mean_mse,
            }
        )
    table = pd.DataFrame(rows)
    everyone = table["frequency"] == 1
    worst = table.loc[table["mean_ratio"].idxmax()]
    small = Numbers.of(PCKVUE.from_epsilon(6.0, n_keys=1, padding=1))
    little = [
        theory.exact_errors(small, 1.0, 0.5, 6, correction=kind).mean_mse
        for kind in ("paper", "none")
    ]
    facts = {
        **_ranges(),
        "cases": len(table),
        "frequency_raised": int((table["frequency_ratio"] > 1 + 1e-9).sum()),
        "lowest_frequency_ratio": float(table["frequency_ratio"].min()),
        "mean_raised": int((table["mean_ratio"] > 1.001).sum()),
        "mean_raised_elsewhere": int((table["mean_ratio"] > 1.001)[table["frequency"] < 0.9].sum()),
        "worst_mean_ratio": float(worst["mean_ratio"]),
        "worst_case": f"{worst['mechanism']}, ε = {worst['epsilon']:g}, f = "
        f"{worst['frequency']:g}, m = {worst['mean']:g}",
        "worst_elsewhere": float(table["mean_ratio"][~everyone].max()),
        "mean_excess": 100 * float(worst["mean_ratio"] - 1),
        "example_excess": 100 * (little[0] / little[1] - 1),
    }
    return Result(
        profile, table, facts, f"n = {n_users:,}, d = 3, l = 1, users drawn independently, exact"
    )


def _ranges() -> dict[str, Any]:
    """Corrected estimates at every pair of counts of a few users."""
    inside, cases, truncated = True, 0, True
    for mechanism in _mechanisms("paper", 3, (1, 2, 5)):
        for n_users in (1, 2, 5, 12):
            pairs = itertools.product(range(n_users + 1), repeat=2)
            table = np.array([pair for pair in pairs if sum(pair) <= n_users])
            counts = Counts(table, np.full(len(table), n_users))
            as_keys = type(mechanism)(
                len(table),
                mechanism.padding,
                mechanism.keep_key,
                mechanism.fake_key,
                mechanism.keep_sign,
            )
            found = as_keys.estimate(counts)
            raw = as_keys.estimate(counts, correction="none")
            edge = 1e-12
            inside &= bool((found.frequency >= 1 / n_users - edge).all())
            inside &= bool((found.frequency <= 1 + edge).all())
            inside &= bool((np.abs(found.mean) <= 1 + edge).all())
            calm = (raw.frequency >= 1 / n_users) & (raw.frequency <= 1)
            gap = found.mean[calm] - np.clip(raw.mean[calm], -1, 1)
            truncated &= bool((np.abs(gap) < 1e-9).all())
            cases += len(table)
    return {"inside": inside, "range_cases": cases, "plain_truncation": truncated}


def correction_table(result: Result) -> pd.DataFrame:
    """Errors with the correction over errors without, for PCKV-UE."""
    table = result.table[result.table["mechanism"] == "PCKV-UE"]
    table = table[table["epsilon"].isin([1.0, 6.0]) & table["mean"].isin([0.0, 0.9])]
    return pd.DataFrame(
        {
            "ε": table["epsilon"],
            "frequency f": table["frequency"],
            "mean m": table["mean"],
            "frequency MSE, with / without": table["frequency_ratio"],
            "mean MSE, with / without": table["mean_ratio"],
        }
    )


# --- equation (18) --------------------------------------------------------------------------


def quality(profile: str = "quick") -> Result:
    """True over approximate MSE (18) as a map over epsilon and f / l.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Fineness of the map.

    Returns
    -------
    Result
        One row for each mechanism, epsilon and f / l, at l = 1, d = 100 and m = 0.6: (9) and (11)
        over (18), and delta.
    """
    points = {"quick": 41, "paper": 161}[check_profile(profile)]
    epsilons = np.linspace(0.1, 6, points)
    shares = np.geomspace(1e-4, 1, points)
    grid, share = np.meshgrid(epsilons, shares, indexing="ij")
    parts = []
    for name in KINDS:
        numbers = _optimal_numbers(name, grid, 100)
        parts.append(
            pd.DataFrame(
                {
                    "mechanism": name,
                    "epsilon": grid.ravel(),
                    "share": share.ravel(),
                    "frequency": theory.frequency_quality(numbers, share).ravel(),
                    "mean": theory.mean_quality(numbers, share, 0.6).ravel(),
                    "delta": ((numbers.keep_key - numbers.fake_key) * share).ravel(),
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    worst = table[["frequency", "mean"]].sub(1).abs().max(axis=1)
    fake = np.concatenate([_optimal_numbers(name, grid, 100).fake_key.ravel() for name in KINDS])
    numbers = _optimal_numbers("PCKV-UE", np.float64(6.0), 100)
    facts = {
        "delta": float((numbers.keep_key - numbers.fake_key) * 0.01),
        "frequency": float(theory.frequency_quality(numbers, 0.01)),
        "mean": float(theory.mean_quality(numbers, 0.01, 0.6)),
        "good_share": float(np.mean(worst <= 0.1)),
        # Whether delta << 1 is enough, and whether delta << b is.
        "worst_small_delta": float(worst[table["delta"] <= 0.01].max()),
        "worst_small_ratio": float(worst[table["delta"] <= 0.04 * fake].max()),
        "worst_moderate": float(worst[(table["epsilon"] <= 1) & (table["share"] <= 0.1)].max()),
        "sampling_share": _ratio_to_printed(PCKVUE, 10, 100, 6.0, 0.1) - 1,
    }
    return Result(profile, table, facts, "l = 1, d = 100, m = 0.6, closed forms")


def _optimal_numbers(name: str, epsilon: Any, n_keys: int) -> Numbers:
    budgets = allocation.optimised(np.exp(epsilon))
    if name == "PCKV-UE":
        return Numbers.ue(*budgets)
    return Numbers.grr(*budgets, n_keys, 1)


def draw_quality(result: Result) -> Figure:
    """Draw the factor by which (18) is off, with the 10 % contour."""
    figure, axes = plots.new_figure(2, rows=2, height=2.9)
    panels = itertools.product(("frequency", "mean"), KINDS)
    mesh = None
    for axis, (column, name) in zip(axes, panels, strict=True):
        part = result.table[result.table["mechanism"] == name]
        grid = part.pivot(index="share", columns="epsilon", values=column)
        mesh = axis.pcolormesh(
            grid.columns,
            grid.index,
            np.log2(grid.to_numpy()),
            cmap="cividis",
            shading="nearest",
            rasterized=True,
            vmin=0,
            vmax=6,
        )
        lines = axis.contour(
            grid.columns,
            grid.index,
            grid.to_numpy(),
            levels=[1.1, 2, 10],
            colors="white",
            linewidths=[1.8, 0.9, 0.9],
        )
        names = {1.1: "10 % off", 2: "2 times", 10: "10 times"}
        axis.clabel(lines, fmt=names, fontsize=7, manual=_contour_places(grid))
        plots.log_axis(axis)
        axis.set(xlabel="ε (nats)", ylabel="f / l")
        axis.text(0.3, 1.6e-4, f"{column}, {name}", color="white", fontsize="small")
    assert mesh is not None
    _factor_bar(figure, mesh, axes)
    return figure


def _contour_places(grid: pd.DataFrame) -> list[tuple[float, float]]:
    """Where to write the contours' names: on each contour, at an epsilon well inside the map."""
    places = []
    for level, epsilon in ((1.1, 3.0), (2.0, 4.3), (10.0, 5.55)):
        column = grid.columns[np.abs(grid.columns - epsilon).argmin()]
        crossing = int(np.searchsorted(grid[column], level))
        places.append((float(column), float(grid.index[min(crossing, len(grid) - 1)])))
    return places


def _factor_bar(figure: Figure, mesh: Any, axes: Sequence[Axes]) -> None:
    bar = figure.colorbar(mesh, ax=list(axes), label="true MSE / (18)", extend="max")
    bar.set_ticks(range(0, 7, 2), labels=[f"{2**k}" for k in range(0, 7, 2)])


def first_order_map(profile: str = "quick") -> Result:
    """Exact error of the corrected mean over what (10) and (11) predict, as a map.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Fineness of the map.

    Returns
    -------
    Result
        One row for each mechanism, epsilon and f / l, at n = 2000, l = 1, d = 20 and m = 0.5:
        exact MSE over (11) plus the square of (10), exact bias less (10) in standard deviations,
        and the signal: how many standard deviations part the estimated frequency from 0.
    """
    points = {"quick": (12, 10), "paper": (30, 24)}[check_profile(profile)]
    n_users, mean = 2000, 0.5
    rows = []
    for name in KINDS:
        for epsilon in np.linspace(0.25, 6, points[0]):
            for share in np.geomspace(2e-3, 0.5, points[1]):
                numbers = _optimal_numbers(name, epsilon, 20)
                found = theory.exact_errors(numbers, share, mean, n_users, points=1 << 17)
                bias = theory.mean_bias(numbers, share, mean, n_users)
                variance = theory.mean_variance_printed(numbers, share, mean, n_users)
                rows.append(
                    {
                        "mechanism": name,
                        "epsilon": epsilon,
                        "share": share,
                        "signal": theory.signal(numbers, share, n_users),
                        "mse_ratio": found.mean_mse / (variance + bias**2),
                        "bias_error": abs(found.mean_bias - bias) / math.sqrt(variance),
                    }
                )
    table = pd.DataFrame(rows)
    clear = table["signal"] >= CLEAR_SIGNAL
    off = (table["mse_ratio"] - 1).abs()
    facts = {
        "cases": int(clear.sum()),
        "mse_off": float(off[clear].max()),
        "bias_off": float(table["bias_error"][clear].max()),
        "mse_off_weak": float(off[table["signal"] < 2].min()),
    }
    return Result(profile, table, facts, "n = 2,000, l = 1, d = 20, m = 0.5, exact")


def draw_first_order_map(result: Result) -> Figure:
    """Draw the exact MSE over the first-order one, with the line of a clear signal."""
    figure, axes = plots.new_figure(2, height=3.1)
    mesh: Any = None
    for axis, name in zip(axes, KINDS, strict=True):
        part = result.table[result.table["mechanism"] == name]
        ratio = part.pivot(index="share", columns="epsilon", values="mse_ratio")
        signal = part.pivot(index="share", columns="epsilon", values="signal")
        mesh = axis.pcolormesh(
            ratio.columns,
            ratio.index,
            np.log10(ratio.to_numpy()),
            cmap="cividis",
            shading="nearest",
            rasterized=True,
            vmin=-3,
            vmax=0,
        )
        plots.log_axis(axis)
        line = axis.contour(
            signal.columns, signal.index, signal, levels=[CLEAR_SIGNAL], colors="black"
        )
        axis.clabel(line, fmt=lambda level: f"signal {level:g}", fontsize=8)
        axis.set(xlabel="ε (nats)", ylabel="f / l")
        axis.text(0.04, 0.06, name, color="white", transform=axis.transAxes, fontsize="small")
    bar = figure.colorbar(mesh, ax=list(axes), label="exact MSE / first-order MSE")
    bar.set_ticks([-3, -2, -1, 0], labels=["0.001", "0.01", "0.1", "1"])
    return figure


def dominance(profile: str = "quick") -> Result:
    """Compare the two errors under (18), and the frequency below which the mean's is larger.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Fineness of the grid.

    Returns
    -------
    Result
        One row for each mechanism, d, l and e^epsilon: g / h in exact fractions. For m = 0 the
        error of the mean is larger iff f^2 < g / h; for other means it is larger still.
    """
    steps = {"quick": 8, "paper": 40}[check_profile(profile)]
    rows = []
    for step in range(1, steps + 1):
        exp_epsilon = 1 + Fraction(step * step, 3)
        for n_keys, padding in itertools.product((1, 10, 1000), (1, 2, 20)):
            for name, (g, h) in (
                ("PCKV-UE", theory.ue_optimum(exp_epsilon)),
                ("PCKV-GRR", theory.grr_optimum(exp_epsilon, n_keys, padding)),
            ):
                rows.append((name, n_keys, padding, exp_epsilon, g / h))
    table = pd.DataFrame(
        rows, columns=["mechanism", "n_keys", "padding", "exp_epsilon", "g_over_h"]
    )
    factor = all(
        Fraction(padding**2, n) / theory.mu(padding, f, n) == f**2
        for padding, n in itertools.product((1, 2, 7), (10, 1000))
        for f in (Fraction(1, 100), Fraction(1, 3), Fraction(1))
    )
    ue = table["g_over_h"][table["mechanism"] == "PCKV-UE"]
    grr = table["g_over_h"][table["mechanism"] == "PCKV-GRR"]
    facts = {
        "cases": len(table),
        "factor": factor,
        "lowest": float(table["g_over_h"].min()),
        "ue_range": bool(((ue > Fraction(1, 2)) & (ue < 1)).all()),
        "grr_above_one": bool((grr > 1).all()),
        "half_suffices": bool((table["g_over_h"] >= Fraction(1, 2)).all()),
    }
    return Result(profile, table, facts)


# --- lists longer than the padding ----------------------------------------------------------


def long_lists(profile: str = "quick") -> Result:
    """Enumerate users with more than l pairs: expectation and variance of (7), of the total.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of budget pairs.

    Returns
    -------
    Result
        One row for each mechanism and key: exact moments beside those from the lists' weights.
    """
    records = []
    sets = [{key: float(value) for key, value in user.items()} for user in LONG]
    data = KeyValueData.from_sets(sets, n_keys=3, allow_empty=True)
    for mechanism in _mechanisms(check_profile(profile), 3, (1, 2)):
        numbers, n_users = Numbers.of(mechanism), len(LONG)
        limit = theory.limit_estimates(data, mechanism.padding)
        variances = theory.frequency_variance_of(
            _floats(numbers),
            theory.moments_of_data(numbers, data),
        )
        scale = Fraction(mechanism.padding, n_users)
        for key in (0, 1):
            law = counts_law(key_law(mechanism, user, key) for user in LONG)
            calibrated = {counts: _calibrated(numbers, *counts, n_users) for counts in law}
            frequency = {counts: scale * (x + y) for counts, (x, y) in calibrated.items()}
            total = {counts: scale * (x - y) for counts, (x, y) in calibrated.items()}
            expected, variance = _moments(law, frequency)
            records.append(
                {
                    "mechanism": _name(mechanism),
                    "padding": mechanism.padding,
                    "key": key,
                    "true_frequency": Fraction(sum(key in user for user in LONG), n_users),
                    "expected": expected,
                    "expected_total": _moments(law, total)[0],
                    "variance": variance,
                    "weighted": limit.frequency[key],
                    "weighted_total": limit.total[key],
                    "variance_of_data": variances[key],
                }
            )
    table = pd.DataFrame(records)
    pairs = (
        ("expected", "weighted"),
        ("expected_total", "weighted_total"),
        ("variance", "variance_of_data"),
    )
    facts = {
        "cases": len(table),
        **{
            exact: bool(np.allclose(table[exact].astype(float), table[ours], rtol=1e-12, atol=0))
            for exact, ours in pairs
        },
        "too_low": bool((table["expected"] < table["true_frequency"]).all()),
    }
    return Result(profile, table, facts)


# --- judges ---------------------------------------------------------------------------------


def _judge_eq_7(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["unbiased"] == facts["total_unbiased"] == facts["cases"],
        f"E[f̂] = f in {facts['unbiased']} of {facts['cases']} enumerated cases",
        "equality when nobody holds more than l pairs",
        "The estimated total f̂ m̂ is unbiased too; the mean, a ratio, is so to first order only.",
    )


def _judge_fake(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["fake_zero"] == facts["fake_cases"] and facts["own_sign"],
        f"expected sign 0 in {facts['fake_zero']} of {facts['fake_cases']} cases of a key that was "
        "not sampled",
        "0; and a(2p - 1)v where it was",
    )


def _judge_eq_8(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["two_forms"],
        f"equal at {facts['defined']} pairs of counts" if facts["two_forms"] else "not equal",
        "one number",
        "Both are undefined where f̂ = 0.",
    )


def _judge_eq_9(result: Result) -> Evidence:
    facts = result.facts
    right = facts["printed_at_1"] == facts["cases_at_1"]
    return Evidence(
        EXACT if right and facts["printed_above"] == facts["cases_above"] else DIFFERS,
        f"equal in {facts['printed_at_1']} of {facts['cases_at_1']} cases with l = 1 and "
        f"{facts['printed_above']} of {facts['cases_above']} with l > 1; one user, one key, l = 2: "
        f"{facts['example_exact']}, printed {facts['example_printed']}",
        "the variance of f̂ for fixed users, any l",
        note="It is the variance given the sampled pairs. Add f(l - 1)/n for fixed users "
        f"(right in {facts['corrected']} of {facts['cases']} cases) or f(l - f)/n for users drawn "
        f"independently ({facts['corrected_iid']}). With l = 10, d = 50, ε = 6, f = 0.5 the "
        f"variance of PCKV-GRR is {num(facts['worst_ratio'])} times (9). Read in a public "
        "transcription, not in the paper itself.",
    )


def _judge_corrected(result: Result) -> Evidence:
    facts = result.facts
    fits = min(facts["smallest_p"], facts["smallest_p_mean"]) >= facts["critical_p"]
    seen = min(facts["printed_rejected"], facts["mean_printed_rejected"]) > 0
    return Evidence(
        WITHIN_ERROR if fits and seen else DIFFERS,
        f"smallest p-value {num(facts['smallest_p'], 2)} over {facts['cases']} settings for the "
        f"frequency, {num(facts['smallest_p_mean'], 2)} over {facts['mean_cases']} for the mean",
        "corrected (9) and sharpened (11), fixed users",
        tolerance=f"p ≥ {num(facts['critical_p'], 2)}, {facts['repeats']} repetitions",
        false_alarm=FALSE_ALARM,
        note="The test sees the difference: it rejects (9) as printed in "
        f"{facts['printed_rejected']} settings, and (11) as an equality in "
        f"{facts['mean_printed_rejected']}.",
    )


def _judge_eq_10(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["bias_gap_shrinks"] and facts["bias_gap"] < 0.01 and facts["fixed_equal"],
        f"exact bias within {num(100 * facts['bias_gap'], 2)} % of (10) at n = "
        f"{facts['largest_n']:,}, the gap falling like 1/n",
        "(10) to first order in 1/n",
        f"Needs f̂ well away from 0: here at least {num(facts['smallest_signal'], 2)} standard "
        "deviations. For fixed users the first-order bias is the same.",
    )


def _judge_eq_11(result: Result) -> Evidence:
    facts = result.facts
    first = facts["variance_gap_shrinks"] and facts["variance_gap"] < 0.01
    return exact_if(
        first and facts["fixed_equal"] and facts["fixed_below"],
        "users drawn independently: exact variance within "
        f"{num(100 * facts['variance_gap'], 2)} % of (11) at n = {facts['largest_n']:,}; "
        f"fixed users: down to {num(facts['fixed_lowest'], 2)} of it "
        f"({facts['fixed_lowest_case']})",
        "at most (11), to first order",
        "An equality for users drawn independently. Fixed users take away spread/(n f), where "
        "spread is the variance of the holders' values. How much that is of (11) depends on the "
        "setting.",
    )


def _judge_consistent(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["bias_vanishes"] and facts["variance_vanishes"],
        f"both fall about fourfold with four times the users, to {num(facts['last_bias'], 2)} and "
        f"{num(facts['last_variance'], 2)} at n = {facts['largest_n']:,}",
        "bias and variance tend to 0",
        "At any n the raw mean has a pole at f̂ = 0; the chance of being near it vanishes, which "
        "convergence in probability allows.",
    )


def _judge_outliers(result: Result) -> Evidence:
    facts = result.facts
    some = min(facts["frequency_low"], facts["frequency_high"], facts["mean_large"]) > 0.05
    return exact_if(
        some and facts["grows"],
        f"|m̂| > 1 with probability up to {num(facts['mean_large'], 2)}, f̂ < 0 up to "
        f"{num(facts['frequency_low'], 2)}, f̂ > 1 {num(facts['frequency_high'], 2)} at f = 1",
        "possible, and likelier as l²/(n f²) grows",
    )


def _judge_lemma_1(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["lemma_1"] == facts["cases"],
        f"unbiased in {facts['lemma_1']} of {facts['cases']} cases, both mechanisms",
        "E[n̂₁] = n₁* and E[n̂₂] = n₂* given the sampled pairs",
    )


def _judge_identities(result: Result) -> Evidence:
    facts = result.facts
    names = ("matrix", "sum", "difference", "from_lemma_1")
    held = all(facts[name] for name in names)
    return exact_if(
        held,
        f"all hold at {facts['cases']} pairs of counts" if held else "one fails",
        "n̂₁ + n̂₂ = n f̂ / l, n̂₁ - n̂₂ = (n₁ - n₂)/(a(2p - 1)), m̂ = l (n̂₁ - n̂₂)/(n f̂)",
    )


def _judge_ranges(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["inside"] and facts["plain_truncation"],
        f"inside at all {facts['range_cases']} pairs of counts tried"
        if facts["inside"]
        else "outside somewhere",
        "f̂ in [1/n, 1] and m̂ in [-1, 1]",
        "Where the raw f̂ lies in [1/n, 1], the corrected mean is the raw one cut to [-1, 1].",
    )


def _judge_lower_frequency(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["frequency_raised"] == 0,
        f"raised in {facts['frequency_raised']} of {facts['cases']} cases; lowest ratio "
        f"{num(facts['lowest_frequency_ratio'], 2)}",
        "never above the raw frequency's MSE",
        "By proof for every f ≥ 1/n: clipping to an interval that holds f only brings f̂ nearer.",
    )


def _judge_lower_mean(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        DIFFERS if facts["mean_raised"] else EXACT,
        f"raised in {facts['mean_raised']} of {facts['cases']} cases, by a factor of up to "
        f"{num(facts['worst_mean_ratio'])} ({facts['worst_case']})",
        "never above the raw mean's MSE",
        note="Only for keys that (nearly) everybody holds: there f̂ above 1 is clipped while "
        "the difference of counts is not scaled down with it, so that |m̂| comes out larger. "
        f"{facts['mean_raised_elsewhere']} cases with f < 0.9 are raised.",
    )


def _judge_clipping(result: Result) -> Evidence:
    facts = result.facts
    mechanism, epsilon = facts["where"]
    return Evidence(
        DIFFERS if facts["largest_difference"] > 0.01 else EXACT,
        f"MSE of the mean {num(facts['paper_at_lowest'])} as printed, "
        f"{num(facts['code_at_lowest'])} as coded ({mechanism}, ε = {epsilon:g})",
        "the same estimator",
        note="The text clips the counts from below at 0, the authors' public code at 1: where f̂ is "
        "clipped to 1/n, the first answers -1 or 1 and the second 0. Where f̂ is 6 standard "
        f"deviations from 0 they differ by {num(100 * facts['difference_when_clear'], 1)} % at "
        "most.",
    )


def _judge_eq_18(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        EXACT if facts["worst_small_delta"] <= 0.1 else DIFFERS,
        f"PCKV-UE, ε = 6, f/l = 0.01: true MSE {num(facts['frequency'])} (frequency) and "
        f"{num(facts['mean'])} (mean) times (18), although δ = {num(facts['delta'], 1)}",
        "near 1 when δ ≪ 1",
        note="It needs δ ≪ b: where δ ≤ b/25 it is within "
        f"{num(100 * facts['worst_small_ratio'], 2)} %. Fine at small ε (within "
        f"{num(100 * facts['worst_moderate'], 2)} % for ε ≤ 1, f/l ≤ 0.1). For l > 1 the missing "
        "term of (9) is missing here too.",
    )


def _judge_first_order_map(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["mse_off"] <= 0.1 and facts["bias_off"] <= 0.05 and facts["mse_off_weak"] > 0.1,
        f"at a signal of 5 and more the MSE is within {num(100 * facts['mse_off'], 2)} % and the "
        f"bias within {num(facts['bias_off'], 2)} standard deviations, in {facts['cases']} cases",
        "within 10 %, and within 0.05 standard deviations; not so below a signal of 2",
        "The signal is f over the standard deviation of its estimate. Below it the uncorrected "
        "mean has no useful error, and the corrected one a much smaller error than predicted.",
    )


def _judge_dominance(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["factor"] and facts["half_suffices"] and facts["grr_above_one"],
        f"(l²/n)/μ = f²; g/h at least {num(facts['lowest'], 2)} in {facts['cases']} exact cases",
        "the mean's error is the larger one for f ≪ 1",
        "It is larger for every mean iff f² < g/h. For PCKV-UE g/h = (e^ε + 1)/(e^ε + 3), so "
        "f² ≤ 1/2 is enough; for PCKV-GRR g/h > 1, so every f is.",
    )


def _judge_long(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["expected"] and facts["expected_total"] and facts["variance"] and facts["too_low"],
        f"expectation and variance agree in {facts['cases']} enumerated cases",
        "weights l / max(|S|, l) give the expectation, theory.moments_of_data the variance",
        "The frequency comes out too low; the clean form of Theorem 4 asks for |S| ≤ l.",
    )


CLAIMS = (
    Claim(
        id="pckv-eq-7",
        paper="pckv",
        label="Equation (7), Theorem 4 (pckv-17)",
        kind="equation",
        mark="found",
        statement="The frequency estimator (7) is unbiased when no user has more than l pairs.",
        run=enumeration,
        judge=_judge_eq_7,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-fake-values",
        paper="pckv",
        label="Fake values (pckv-18)",
        kind="statement",
        mark="text",
        statement="Fake values contribute nothing to the sum of values in expectation.",
        run=reports_of_one_key,
        judge=_judge_fake,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-eq-8",
        paper="pckv",
        label="Equation (8) (pckv-19)",
        kind="equation",
        mark="found",
        statement="The two forms of the mean estimator (8) are the same number.",
        run=identities,
        judge=_judge_eq_8,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-thm-4-eq-9",
        paper="pckv",
        label="Theorem 4, equation (9) (pckv-20)",
        kind="theorem",
        mark="found",
        statement="When no user has more than l pairs, the variance of the frequency estimator is "
        "l² b(1 - b)/(n(a - b)²) + l f(1 - a - b)/(n(a - b)).",
        run=enumeration,
        judge=_judge_eq_9,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="pckv-thm-4-corrected",
        paper="pckv",
        label="Theorem 4 with the sampling counted in (own)",
        kind="equation",
        mark="own",
        statement="For fixed users the variance of the frequency is (9) plus f(l - 1)/n, and that "
        "of the mean is (11) less the spread of the values over n f.",
        run=simulation,
        judge=_judge_corrected,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
    Claim(
        id="pckv-thm-4-eq-10",
        paper="pckv",
        label="Theorem 4, equation (10) (pckv-21)",
        kind="theorem",
        mark="found",
        statement="The mean estimator has expectation m[1 + (1 - b - δ)b/(n δ²)], approximately.",
        run=first_order,
        judge=_judge_eq_10,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-thm-4-eq-11",
        paper="pckv",
        label="Theorem 4, equation (11) (pckv-22)",
        kind="theorem",
        mark="found",
        statement="The variance of the mean estimator is at most (b + δ)/(n γ²) + "
        "(b(1 - b) - δ)m²/(n δ²), approximately.",
        run=first_order,
        judge=_judge_eq_11,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-consistency",
        paper="pckv",
        label="Convergence of the mean (pckv-23)",
        kind="statement",
        mark="text",
        statement="As n grows, bias and variance of the mean estimator tend to 0, so that it "
        "converges in probability to the true mean.",
        run=first_order,
        judge=_judge_consistent,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-out-of-range",
        paper="pckv",
        label="Estimates out of range (pckv-24)",
        kind="statement",
        mark="text",
        statement="When l²/(n f²) is not small, the raw mean may leave [-1, 1] and the raw "
        "frequency [0, 1].",
        run=outliers,
        judge=_judge_outliers,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-lemma-1",
        paper="pckv",
        label="Lemma 1, equations (12) and (13) (pckv-25)",
        kind="lemma",
        mark="found",
        statement="The calibrated counts of Lemma 1 are unbiased for the numbers of users who "
        "sampled the key with value 1 and -1, for both mechanisms.",
        run=reports_of_one_key,
        judge=_judge_lemma_1,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-eq-14",
        paper="pckv",
        label="Equations (14) and (15) (pckv-26)",
        kind="equation",
        mark="found",
        statement="Sum and difference of the calibrated counts give (7) and (8).",
        run=identities,
        judge=_judge_identities,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-alg-4",
        paper="pckv",
        label="Algorithm 4, ranges (pckv-27)",
        kind="statement",
        mark="text",
        statement="With the correction, frequencies lie in [1/n, 1] and means in [-1, 1].",
        run=correction,
        judge=_judge_ranges,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-alg-4-frequency",
        paper="pckv",
        label="Algorithm 4, frequency error (pckv-27, second part)",
        kind="statement",
        mark="text",
        statement="The correction reduces the error of the frequency.",
        run=correction,
        judge=_judge_lower_frequency,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-alg-4-mean",
        paper="pckv",
        label="Algorithm 4, mean error (pckv-27, third part)",
        kind="statement",
        mark="text",
        statement="The correction reduces the error of the mean.",
        run=correction,
        judge=_judge_lower_mean,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="pckv-alg-4-code",
        paper="pckv",
        label="Algorithm 4, text and code (own)",
        kind="statement",
        mark="own",
        statement="The text's correction and that of the authors' public code are the same.",
        run=clipping,
        judge=_judge_clipping,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="pckv-eq-18",
        paper="pckv",
        label="Equation (18) (pckv-29)",
        kind="equation",
        mark="found",
        statement="For many users and δ ≪ 1, the errors of frequency and mean are about l² h/n and "
        "μ(g + h m²).",
        run=quality,
        judge=_judge_eq_18,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="pckv-first-order-region",
        paper="pckv",
        label="Where (10) and (11) are good (own)",
        kind="statement",
        mark="own",
        statement="Equations (10) and (11) predict the mean's error well where the estimated "
        "frequency is at least five standard deviations away from 0.",
        run=first_order_map,
        judge=_judge_first_order_map,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-mean-dominates",
        paper="pckv",
        label="The mean's error dominates (pckv-30)",
        kind="statement",
        mark="text",
        statement="The error of the mean dominates that of the frequency, since (l²/n)/μ = f² ≪ 1.",
        run=dominance,
        judge=_judge_dominance,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-long-lists",
        paper="pckv",
        label="Estimators on lists longer than l (own)",
        kind="statement",
        mark="own",
        statement="With more than l pairs a user, expectation and variance of the frequency follow "
        "exactly from the lists' lengths.",
        run=long_lists,
        judge=_judge_long,
        page=PAGE,
        recorded=always(EXACT),
    ),
)
