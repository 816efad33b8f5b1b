"""Foundations, page 01: the mechanisms that key-value collection is made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from ldpkv import allocation, channels, theory
from ldpkv.baselines import GRR, RR, UE, Harmony, duchi_law
from ldpkv.data import KeyValueData
from ldpkv.estimation import Counts
from ldpkv.mechanisms import PCKVGRR, Mechanism, User
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
from ldpkv.privacy import extreme_users, report_laws, worst_ratio

PAGE = "notebooks/foundations/01-primitives.ipynb"

# Squares of fractions, so that RAPPOR's e^(epsilon / 2) is exact too.
ROOTS = (Fraction(21, 20), Fraction(3, 2), Fraction(2), Fraction(5))
# Probability that chance alone turns a verdict; shared by all comparisons behind it.
FALSE_ALARM = 1e-4


def _oracles(root: Fraction, n_keys: int) -> dict[str, GRR | UE]:
    """Give the frequency oracles of one categorical value, at e^epsilon = root^2."""
    exp_epsilon = root * root
    return {
        "GRR": GRR.from_exp_budgets(exp_epsilon, n_keys=n_keys),
        "RAPPOR": UE.rappor(exp_epsilon, n_keys=n_keys),
        "OUE": UE.oue(exp_epsilon, n_keys=n_keys),
    }


# --- exact privacy --------------------------------------------------------------------------


def exact_epsilon(profile: str = "quick") -> Result:
    """Enumerate every input and report of RR, GRR, UE, RAPPOR, OUE and Harmony, in fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The paper profile has more categories.

    Returns
    -------
    Result
        One row for each mechanism, d and e^epsilon: exact worst ratio against the claimed one.
    """
    most = {"quick": 4, "paper": 7}[check_profile(profile)]
    rows = []
    for root in ROOTS:
        exp = root * root
        binary = RR.from_exp_budgets(exp, n_keys=1)
        found = worst_ratio(binary, extreme_users(1, empty=True)).ratio
        rows.append(("RR", 2, exp, found))
        for n_keys in range(1, 3):
            harmony = Harmony.from_exp_budgets(exp, n_keys=n_keys)
            found = worst_ratio(harmony, extreme_users(n_keys, empty=True)).ratio
            rows.append(("Harmony", n_keys, exp, found))
        for n_keys in range(2, most + 1):
            users = [{key: 1} for key in range(n_keys)]
            for name, mechanism in _oracles(root, n_keys).items():
                rows.append((name, n_keys, exp, worst_ratio(mechanism, users).ratio))
    for p, q in ((Fraction(3, 4), Fraction(1, 5)), (Fraction(9, 10), Fraction(1, 2))):
        for n_keys in range(2, most + 1):
            users = [{key: 1} for key in range(n_keys)]
            found = worst_ratio(UE(n_keys, p, q), users).ratio
            rows.append(("UE", n_keys, p * (1 - q) / (q * (1 - p)), found))
    table = pd.DataFrame(rows, columns=["mechanism", "categories", "claimed", "ratio"])
    # RAPPOR with e^epsilon in the place of e^(epsilon / 2).
    doubled = [
        worst_ratio(UE(2, x / (x + 1), 1 / (x + 1)), [{0: 1}, {1: 1}]).ratio == x * x for x in ROOTS
    ]
    facts = {
        "cases": len(table),
        "equal": int((table["ratio"] == table["claimed"]).sum()),
        "full_exponent_doubles": all(doubled),
    }
    return Result(profile, table, facts)


PROBABILITIES = {
    "RR": "p = e^ε/(e^ε + 1)",
    "GRR": "p = e^ε/(e^ε + d - 1), q = (1 - p)/(d - 1)",
    "UE": "p and q free",
    "RAPPOR": "p = e^(ε/2)/(e^(ε/2) + 1), q = 1 - p",
    "OUE": "p = 1/2, q = 1/(e^ε + 1)",
    "Harmony": "one dimension, ±C by Duchi's mechanism",
}


def epsilon_table(result: Result) -> pd.DataFrame:
    """Summarise `exact_epsilon` for the page: one row for each mechanism."""
    rows = []
    for name, setting in PROBABILITIES.items():
        part = result.table[result.table["mechanism"] == name]
        rows.append(
            {
                "mechanism": name,
                "setting": setting,
                "claimed e^ε": "p(1 - q)/(q(1 - p))" if name == "UE" else "e^ε",
                "cases": len(part),
                "exact ratio equal to it": int((part["ratio"] == part["claimed"]).sum()),
            }
        )
    return pd.DataFrame(rows)


def groups(profile: str = "quick") -> Result:
    """Split users into a group that reports its list's length and one that runs PCKV-GRR.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The paper profile has one key more.

    Returns
    -------
    Result
        One row for each e^epsilon: exact worst ratio when one user of two changes her set, when a
        public coin chooses the group, and, for contrast, when every user does both tasks.
    """
    n_keys = {"quick": 2, "paper": 3}[check_profile(profile)]
    users = list(extreme_users(n_keys, empty=True))
    rows = []
    for exp in (Fraction(3, 2), Fraction(2), Fraction(20)):
        sizes = n_keys + 1
        truthful = channels.grr_channel(*channels.grr_probabilities(exp, sizes), sizes)
        main = PCKVGRR.from_exp_budgets(
            *allocation.optimised(exp, n_keys), n_keys=n_keys, padding=n_keys
        )
        length = truthful.weights[[len(user) for user in users]]
        pairs, _ = report_laws(main, users)
        # Joint law of two users' reports; first index: both users' sets.
        joint = np.multiply.outer(length, pairs).transpose(0, 2, 1, 3)
        joint = joint.reshape(len(users), len(users), -1)
        one_changes = max(
            *(largest_ratio(joint[:, fixed]) for fixed in range(len(users))),
            *(largest_ratio(joint[fixed]) for fixed in range(len(users))),
        )
        coin = np.concatenate([length, 4 * pairs], axis=1)  # the report says which task it was
        products = [np.multiply.outer(*laws).ravel() for laws in zip(length, pairs, strict=True)]
        rows.append((exp, one_changes, largest_ratio(coin), largest_ratio(np.array(products))))
    table = pd.DataFrame(rows, columns=["exp_epsilon", "one_changes", "public_coin", "same_user"])
    facts = {
        "cases": len(table),
        "split": int((table["one_changes"] == table["exp_epsilon"]).sum()),
        "coin": int((table["public_coin"] == table["exp_epsilon"]).sum()),
        "both_cost_more": bool((table["same_user"] > table["exp_epsilon"]).all()),
    }
    return Result(profile, table, facts)


def largest_ratio(laws: NDArray[Any]) -> Any:
    """Largest ratio of two rows' probabilities of one report.

    Parameters
    ----------
    laws : ndarray of int or Fraction (dtype object), shape (n_inputs, n_reports)
        Laws of the report, over any common denominator for each column.

    Returns
    -------
    Fraction
        Exact; raises if a report is possible under one input only.
    """
    return max(
        Fraction(high) / Fraction(low)
        for high, low in zip(laws.max(axis=0), laws.min(axis=0), strict=True)
        if high
    )


# --- exact moments --------------------------------------------------------------------------


def list_laws(
    mechanism: Mechanism, users: Sequence[User]
) -> tuple[NDArray[Any], int, NDArray[np.int64]]:
    """Enumerate every list of the users' reports.

    Parameters
    ----------
    mechanism : Mechanism
        Exact, with a finite set of reports: GRR, UE or one of index sampling.
    users : sequence of mapping
        The users, few.

    Returns
    -------
    weights : ndarray of int (dtype object), shape (n_lists,)
        Probability of each list times the denominator.
    denominator : int
        Common denominator.
    counts : ndarray of int64, shape (n_lists, width, cells)
        What the mechanism's own `aggregate` counts in each list.
    """
    laws, denominator = report_laws(mechanism, users)
    weights = laws[0]
    for law in laws[1:]:
        weights = np.multiply.outer(weights, law).ravel()
    reports: NDArray[Any] = np.arange(laws.shape[1])
    if isinstance(mechanism, UE):
        # As channels.binary_unary_channel orders them.
        bits = itertools.product((1, 0), repeat=mechanism.n_keys)
        reports = np.array(list(bits), dtype=np.int8)
    single = np.array([mechanism.aggregate(reports[[code]]).table for code in range(len(reports))])
    lists = np.array(list(itertools.product(range(len(reports)), repeat=len(users))))
    return weights, int(denominator) ** len(users), single[lists].sum(axis=1)


def _moments(weights: NDArray[Any], denominator: int, counts: NDArray[Any]) -> tuple[Any, Any]:
    """Exact expectation and variance of one count."""
    exact = counts.astype(object)
    first = Fraction(int((weights * exact).sum()), denominator)
    second = Fraction(int((weights * exact * exact).sum()), denominator)
    return first, second - first * first


def oracle_moments(profile: str = "quick") -> Result:
    """Enumerate the frequency estimator of RR, GRR, RAPPOR and OUE over every list of reports.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The paper profile has more users.

    Returns
    -------
    Result
        One row for each mechanism, e^epsilon, population and item: exact expectation and variance
        beside the true frequency and `ldpkv.theory.oracle_variance`.
    """
    most = {"quick": 3, "paper": 4}[check_profile(profile)]
    records: list[dict[str, Any]] = []
    for root in ROOTS:
        exp = root * root
        settings: list[tuple[str, GRR | UE | RR, list[User]]] = [
            ("RR", RR.from_exp_budgets(exp, n_keys=1), [{}, {0: 1}])
        ]
        for n_keys in (2, 3):
            single: list[User] = [{key: 1} for key in range(n_keys)]
            settings += [(name, m, single) for name, m in _oracles(root, n_keys).items()]
        for (name, mechanism, kinds), size in itertools.product(settings, range(1, most + 1)):
            for users in itertools.combinations_with_replacement(kinds, size):
                records += _oracle_records(name, mechanism, users, root)
    table = pd.DataFrame(records)
    facts = {
        "cases": len(table),
        "unbiased": int((table["expectation"] == table["frequency"]).sum()),
        "variance": int((table["variance"] == table["formula"]).sum()),
        "simplified": bool((table["formula"] == table["simplified"]).all()),
        "code": float(table["code_error"].max()),
    }
    return Result(profile, table, facts)


def _oracle_records(
    name: str, mechanism: GRR | UE | RR, users: Sequence[User], root: Fraction
) -> Iterator[dict[str, Any]]:
    exp, n_users = root * root, len(users)
    p = mechanism.keep_key
    q = 1 - p if isinstance(mechanism, RR) else mechanism.fake_key
    weights, denominator, counts = list_laws(mechanism, users)
    for key in range(mechanism.n_keys):
        expected, variance = _moments(weights, denominator, counts[:, key, 0])
        frequency = Fraction(sum(key in user for user in users), n_users)
        size = 2 if name == "RR" else mechanism.n_keys
        simplified = {
            "RR": theory.grr_oracle_variance(exp, size, frequency, n_users),
            "GRR": theory.grr_oracle_variance(exp, size, frequency, n_users),
            "RAPPOR": theory.rappor_oracle_variance(root, n_users),
            "OUE": theory.oue_oracle_variance(exp, frequency, n_users),
        }[name]
        # The mechanism's own estimator, on the counts of one list, against the formula.
        report = Counts(counts[0], np.full(len(counts[0]), n_users))
        formula = float((Fraction(int(counts[0, key, 0]), n_users) - q) / (p - q))
        yield {
            "mechanism": name,
            "categories": size,
            "exp_epsilon": exp,
            "n_users": n_users,
            "frequency": frequency,
            "expectation": (expected / n_users - q) / (p - q),
            "variance": variance / (n_users * (p - q)) ** 2,
            "formula": theory.oracle_variance(p, q, frequency, n_users),
            "simplified": simplified,
            "code_error": abs(mechanism.estimate(report).frequency[key] - formula),
        }


def harmony_moments(profile: str = "quick") -> Result:
    """Enumerate Duchi's mechanism, and Harmony's totals over every list of draws and reports.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The paper profile has one user more.

    Returns
    -------
    Result
        One row for each e^epsilon, population, key and number n_j of users who drew the key:
        expectation and variance of the estimated total, given n_j. The variance should be
        (C^2 + (n_j - 1) r) / n_j - (f m)^2, with r the average product of two users' values.
    """
    size = {"quick": 3, "paper": 4}[check_profile(profile)]
    half = Fraction(1, 2)
    kinds: list[User] = [{}, {0: 1}, {0: -half}, {0: half, 1: -1}]
    duchi, rows = [], []
    for root in ROOTS:
        exp = root * root
        for value in (Fraction(-1), -half, Fraction(0), Fraction(1, 3), Fraction(1)):
            plus, size_c = duchi_law(value, exp)
            mean = size_c * (2 * plus - 1)
            duchi.append(mean == value)
        mechanism = Harmony.from_exp_budgets(exp, n_keys=2)
        scale = 1 / (2 * mechanism.keep_sign - 1)
        for users in itertools.combinations_with_replacement(kinds, size):
            weights, _, counts = list_laws(mechanism, users)
            for key in range(2):
                values = [Fraction(user.get(key, 0)) for user in users]
                total = sum(values, Fraction(0)) / size
                signs = counts[:, key, 0] - counts[:, key, 1]
                # Two different users who drew the key: the average product of their values.
                products = total**2 * size**2 - sum(value * value for value in values)
                products /= size * (size - 1)
                for n_drawn in range(1, size + 1):
                    here = counts[:, key].sum(axis=1) == n_drawn
                    chance = int(weights[here].sum())
                    first, second = _moments(weights[here], chance, signs[here])
                    expected = scale * first / n_drawn
                    variance = (scale / n_drawn) ** 2 * second
                    formula = (scale**2 + (n_drawn - 1) * products) / n_drawn - total**2
                    rows.append((exp, key, n_drawn, total, expected, variance, formula))
    table = pd.DataFrame(
        rows,
        columns=["exp_epsilon", "key", "drawn", "total", "expectation", "variance", "formula"],
    )
    facts = {
        "cases": len(table),
        "unbiased": int((table["expectation"] == table["total"]).sum()),
        "variance": int((table["variance"] == table["formula"]).sum()),
        "duchi": all(duchi),
    }
    return Result(profile, table, facts)


# --- OUE among the unary encodings ----------------------------------------------------------


def unary_fake(keep_key: Any, exp_epsilon: Any) -> Any:
    """Return the q of a unary encoding that spends exactly epsilon with a given p.

    Parameters
    ----------
    keep_key : number or array
        p in (0, 1).
    exp_epsilon : number
        E.

    Returns
    -------
    number or array
        p / (p + E (1 - p)).
    """
    return keep_key / (keep_key + exp_epsilon * (1 - keep_key))


def best_unary_keep(exp_epsilon: float, frequency: float) -> float:
    """Return the p of the unary encoding with the smallest exact variance.

    Parameters
    ----------
    exp_epsilon : float
        E above 1.
    frequency : float
        f in [0, 1] of the item.

    Returns
    -------
    float
        1 / (1 + sqrt((E - k) / (E (1 + k)))) with k = f (E - 1). At f = 0 it is OUE's 1/2, at
        f = 1/2 RAPPOR's.

    Notes
    -----
    Source: derived; at budget epsilon n Var = (E + k (E (1 - p)^2 - p^2)) / ((E - 1)^2 p (1 - p)).
    """
    k = frequency * (exp_epsilon - 1)
    return 1 / (1 + math.sqrt((exp_epsilon - k) / (exp_epsilon * (1 + k))))


OUE_EXP = Fraction(4)
OUE_FREQUENCIES = (Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2))


def unary_choice(profile: str = "quick") -> Result:
    """Compute the exact variance of every unary encoding that spends the same budget.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Fineness of the search over p.

    Returns
    -------
    Result
        One row for each f and p at e^epsilon = 4: n times the variance, exact.
    """
    steps = {"quick": 60, "paper": 600}[check_profile(profile)]
    keeps = [Fraction(step, steps) for step in range(steps // 5, steps)]
    half = Fraction(1, 2)
    least = []
    beaten = []
    for exp in (Fraction(11, 10), Fraction(2), OUE_EXP, Fraction(9), Fraction(50)):
        for frequency in (*OUE_FREQUENCIES, Fraction(1)):
            oue = theory.oracle_variance(half, unary_fake(half, exp), frequency, 1)
            others = [
                theory.oracle_variance(p, unary_fake(p, exp), frequency, 1)
                for p in keeps
                if p != half
            ]
            if frequency == 0:
                least.append(oue < min(others))
            else:
                best = best_unary_keep(float(exp), float(frequency))
                at_best = theory.oracle_variance(best, unary_fake(best, exp), frequency, 1)
                below = at_best <= min(map(float, others)) * (1 + 1e-12) and best > 0.5
                beaten.append((exp, frequency, below and at_best < float(oue), at_best / oue))
    rows = [
        (
            f"f = {float(frequency):g}",
            float(p),
            float(theory.oracle_variance(p, unary_fake(p, OUE_EXP), frequency, 1)),
        )
        for frequency in OUE_FREQUENCIES
        for p in keeps
        if p <= Fraction(9, 10)
    ]
    table = pd.DataFrame(rows, columns=["frequency", "p", "variance"])
    # The smallest example: e^epsilon = 4 and f = 1/4, the average over d = 4 items.
    quarter = Fraction(1, 4)
    exps = np.exp(np.array([0.5, 1.0, 2.0, 4.0]))
    mean_gain = []
    for square in (0.0, 1.0):
        budgets = (exps + 1) / 2, exps  # Lemma 2
        better = theory.best_keep_key(*budgets, square)
        used = theory.objective(theory.unary_numbers(0.5, *budgets), square)
        mean_gain.append(
            1 - theory.objective(theory.unary_numbers(better, *budgets), square) / used
        )
    facts = {
        "least_without_f": all(least),
        "budgets": len(least),
        "beaten": sum(bool(row[2]) for row in beaten),
        "with_f": len(beaten),
        "oue": theory.oue_oracle_variance(OUE_EXP, quarter, 1),
        "rappor": theory.rappor_oracle_variance(Fraction(2), 1),
        "best_quarter": best_unary_keep(4.0, 0.25),
        "gain_example": float(
            1 - min(row[3] for row in beaten if row[0] == OUE_EXP and row[1] == quarter)
        ),
        "mean_gain": float(mean_gain[0][1]),
        "mean_gain_square": float(mean_gain[1][1]),
        "mean_always_beaten": bool((np.array(mean_gain) > 0).all()),
    }
    return Result(profile, table, facts, setting="e^ε = 4, exact, no randomness")


def draw_unary_choice(result: Result) -> Figure:
    """Draw n times the variance against p, with the least of each curve marked."""
    figure, axis = plots.new_figure()
    ends = {}
    for position, (name, part) in enumerate(result.table.groupby("frequency", sort=False)):
        look = plots.style(str(name), position)
        axis.plot(part["p"], part["variance"], **{**look, "marker": ""})
        frequency = float(str(name).removeprefix("f = "))
        best = best_unary_keep(float(OUE_EXP), frequency)
        lowest = theory.oracle_variance(best, unary_fake(best, float(OUE_EXP)), frequency, 1)
        axis.plot([best], [lowest], **{**look, "linestyle": ""})
        ends[str(name)] = (part["p"].iloc[-1], part["variance"].iloc[-1])
    axis.set(xlabel="p: own bit is reported as 1", ylabel="n · variance", ylim=(0, 6))
    for p, name in ((1 / 2, "OUE"), (2 / 3, "RAPPOR")):
        axis.axvline(p, color=plots.BLACK, linewidth=0.8, linestyle=":")
        axis.text(p + 0.008, 0.2, name, fontsize="small")
    figure.canvas.draw()
    plots.label_ends(axis, ends)
    return figure


# --- which oracle ---------------------------------------------------------------------------

ORACLES = ("GRR", "RAPPOR", "OUE")
OVER_EPSILON = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)  # at d = D_SHOWN
D_SHOWN = 32
OVER_SIZE = (2, 4, 8, 16, 32, 64, 128)  # at epsilon = E_SHOWN
E_SHOWN = 2.0
RARE = 0.01
N_USERS = 10_000
REPEATS = {"quick": 300, "paper": 4000}


def _oracle(name: str, epsilon: float, n_keys: int) -> GRR | UE:
    if name == "GRR":
        return GRR.from_epsilon(epsilon, n_keys=n_keys)
    return UE.from_epsilon(epsilon, n_keys=n_keys, setting=name.lower())


def crossover(profile: str = "quick", seed: int = 2020) -> Result:
    """Compare GRR, RAPPOR and OUE: exact rule, closed forms, and measured variances.

    Parameters
    ----------
    profile : {"quick", "paper"}
        300 or 4,000 repetitions.
    seed : int, default 2020
        Seed of the repetitions.

    Returns
    -------
    Result
        One row for each oracle, epsilon and d: n times the variance of one item's estimate, from
        the closed form and measured with a 95 % interval.
    """
    repeats = REPEATS[check_profile(profile)]
    points = [(epsilon, D_SHOWN) for epsilon in OVER_EPSILON]
    points += [(E_SHOWN, size) for size in OVER_SIZE if size != D_SHOWN]
    cases = list(itertools.product(ORACLES, points))
    low, high = stats.chi2.ppf((0.025, 0.975), repeats - 1)
    rows = []
    for (name, (epsilon, size)), generator in zip(
        cases, np.random.default_rng(seed).spawn(len(cases)), strict=True
    ):
        mechanism = _oracle(name, epsilon, size)
        holders = round(RARE * N_USERS)
        rest = np.full(size - 1, (N_USERS - holders) // (size - 1))
        rest[0] += N_USERS - holders - rest.sum()
        symbols = np.concatenate([[holders], rest])[:, None].astype(np.int64)
        estimates = [
            mechanism.estimate(mechanism.simulate_counts(symbols, rng=generator)).frequency[0]
            for _ in range(repeats)
        ]
        exact = N_USERS * float(
            theory.oracle_variance(mechanism.keep_key, mechanism.fake_key, RARE, N_USERS)
        )
        measured = N_USERS * np.var(estimates, ddof=1)
        squares = (repeats - 1) * measured
        chance = stats.chi2.cdf(squares / exact, repeats - 1)
        rows.append(
            {
                "oracle": name,
                "epsilon": epsilon,
                "categories": size,
                "variance": exact,
                "measured": measured,
                "low": squares / high,
                "high": squares / low,
                "p_value": 2 * min(chance, 1 - chance),
            }
        )
    table = pd.DataFrame(rows)
    rule: list[bool] = []
    with_f: list[bool] = []
    for exp in (Fraction(11, 10), Fraction(2), Fraction(7), Fraction(20)):
        for size in range(2, 80):
            for frequency in (Fraction(0), Fraction(1, 20), Fraction(1, 4), Fraction(1)):
                grr = theory.grr_oracle_variance(exp, size, frequency, 1)
                oue = theory.oue_oracle_variance(exp, frequency, 1)
                limit = grr_below(exp, frequency)
                agrees = (grr < oue) == (size < limit) and (grr == oue) == (size == limit)
                (rule if frequency == 0 else with_f).append(agrees)
    facts = {
        "repeats": repeats,
        "p_value": float(table["p_value"].min()),
        "cases": len(table),
        "rule": all(rule),
        "rule_cases": len(rule),
        "rule_with_f": all(with_f),
        "limit": float(grr_below(math.exp(E_SHOWN), 0.0)),
        "limit_rare": float(grr_below(math.exp(E_SHOWN), RARE)),
        "limit_one": float(grr_below(math.e, 0.0)),
        "limit_four": float(grr_below(math.exp(4.0), 0.0)),
    }
    setting = f"n = {N_USERS:,}, item with f = {RARE:g}, {repeats:,} repetitions"
    return Result(profile, table, facts, setting)


def grr_below(exp_epsilon: Any, frequency: Any) -> Any:
    """Return the number of categories below which GRR has the smaller variance than OUE.

    Parameters
    ----------
    exp_epsilon : number
        E above 1.
    frequency : number
        f in [0, 1] of the item.

    Returns
    -------
    number
        (3 E + 2 + f (E^2 - 1)) / (1 + f (E - 1)); 3 E + 2 for a rare item.

    Notes
    -----
    Source: derived from PCKV section 2 (MSE of GRR and OUE); at f = 0 it is Wang et al.'s rule.
    """
    gap = exp_epsilon - 1
    top = 3 * exp_epsilon + 2 + frequency * gap * (exp_epsilon + 1)
    return top / (1 + frequency * gap)


def draw_crossover(result: Result) -> Figure:
    """Draw n times the variance against epsilon, and against the number of categories."""
    figure, axes = plots.new_figure(2)
    panels = (
        (result.table[result.table["categories"] == D_SHOWN], "epsilon"),
        (result.table[result.table["epsilon"] == E_SHOWN], "categories"),
    )
    for axis, (part, x) in zip(axes, panels, strict=True):
        plots.log_axis(axis)
        if x == "categories":
            axis.set_xscale("log", base=2)
            axis.set_xticks(OVER_SIZE, [str(size) for size in OVER_SIZE])
            limit = result.facts["limit"]
            axis.axvline(limit, color=plots.BLACK, linewidth=0.8, linestyle=":")
            axis.text(
                limit * 0.92,
                0.23,
                "d = 3e^ε + 2".replace("e^ε", r"$e^{ε}$"),
                ha="right",
                fontsize="small",
            )
        part = part.sort_values(["oracle", x], key=lambda column: column.map(_place))
        plots.lines_with_bands(
            axis,
            part,
            x=x,
            y="measured",
            low="low",
            high="high",
            theory="variance",
            series="oracle",
        )
        axis.set(ylabel="n · variance")
    axes[0].set(xlabel=f"ε (nats), d = {D_SHOWN}")
    axes[1].set(xlabel=f"number of categories d, ε = {E_SHOWN:g}")
    return figure


def _place(value: Any) -> Any:
    return ORACLES.index(value) if value in ORACLES else value


# --- two roads ------------------------------------------------------------------------------


def roads(profile: str = "quick", seed: int = 2020) -> Result:
    """Run each primitive user by user and by counts, and compare both with the exact law.

    Parameters
    ----------
    profile : {"quick", "paper"}
        1,500 or 20,000 repetitions.
    seed : int, default 2020
        Seed of the repetitions.

    Returns
    -------
    Result
        One row for each mechanism and road: p-value of the joint counts against the law that
        enumeration gives.
    """
    repeats = {"quick": 1500, "paper": 20_000}[check_profile(profile)]
    oracles = _oracles(Fraction(2), 3)
    single: list[User] = [{0: 1}, {0: 1}, {2: 1}]
    sets: list[User] = [{}, {0: 1}, {0: Fraction(-1, 2), 1: Fraction(1, 2)}]
    settings: list[tuple[str, Any, list[User]]] = [
        ("RR", RR.from_exp_budgets(4, n_keys=2), sets),
        *((name, oracle, single) for name, oracle in oracles.items()),
        ("Harmony", Harmony.from_exp_budgets(4, n_keys=2), sets),
    ]
    cases = [(*setting, road) for setting in settings for road in ("literal", "counted")]
    rows = []
    for (name, mechanism, users, road), generator in zip(
        cases, np.random.default_rng(seed).spawn(len(cases)), strict=True
    ):
        data = KeyValueData.from_sets(
            [{key: float(value) for key, value in user.items()} for user in users],
            n_keys=mechanism.n_keys,
            allow_empty=True,
        )
        weights, denominator, counts = list_laws(mechanism, users)
        law: dict[bytes, int] = {}
        for weight, count in zip(weights, counts, strict=True):
            law[count.tobytes()] = law.get(count.tobytes(), 0) + weight
        observed = dict.fromkeys(law, 0)
        impossible = 0
        for _ in range(repeats):
            symbols = mechanism.symbols(mechanism.draw(data, rng=generator))
            if road == "literal":
                found = mechanism.aggregate(mechanism.perturb(symbols, rng=generator))
            else:
                found = mechanism.simulate_counts(symbols.table(), rng=generator)
            seen = found.table.astype(np.int64).tobytes()
            if seen in observed:
                observed[seen] += 1
            else:
                impossible += 1
        chances = np.array([Fraction(weight, denominator) for weight in law.values()], dtype=float)
        p_value = 0.0 if impossible else fit(np.array(list(observed.values())), chances)
        rows.append((name, road, len(law), p_value))
    table = pd.DataFrame(rows, columns=["mechanism", "road", "outcomes", "p_value"])
    facts = {"repeats": repeats, "cases": len(table), "p_value": float(table["p_value"].min())}
    return Result(profile, table, facts, f"n = 3 users, {repeats:,} repetitions a road")


def fit(observed: NDArray[Any], law: NDArray[np.float64], least: float = 25.0) -> float:
    """p-value of observed counts against an exact law, by chi-square.

    Parameters
    ----------
    observed : ndarray of int
        Counts of each outcome.
    law : ndarray of float64, same shape
        Probabilities; they sum to 1.
    least : float, default 25
        Outcomes are merged, the rarest first, until each cell expects at least this many.

    Returns
    -------
    float
        Small if the counts do not follow the law.
    """
    order = np.argsort(law, kind="stable")
    expected, seen = law[order] * observed.sum(), observed[order]
    cell = np.zeros(len(law), dtype=int)
    filled = 0.0
    for index in range(1, len(law)):
        filled += expected[index - 1]
        if filled >= least:
            cell[index], filled = cell[index - 1] + 1, 0.0
        else:
            cell[index] = cell[index - 1]
    merged, counts = np.bincount(cell, expected), np.bincount(cell, seen)
    if merged[-1] < least:
        merged, counts = (np.append(x[:-2], x[-2:].sum()) for x in (merged, counts))
    statistic = ((counts - merged) ** 2 / merged).sum()
    return float(stats.chi2.sf(statistic, len(merged) - 1))


# --- judges ---------------------------------------------------------------------------------


def _judge_epsilon(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["equal"] == facts["cases"],
        f"exact ratio equal to the claimed e^ε in {facts['equal']} of {facts['cases']} cases",
        "ε-LDP for users with one item each, and no better",
        "UE: ε = ln[p(1 - q)/(q(1 - p))]."
        + (
            " RAPPOR needs e^(ε/2): with e^ε, as one public note prints it, it spends 2ε."
            if facts["full_exponent_doubles"]
            else ""
        ),
    )


def _judge_groups(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["split"] == facts["cases"] and facts["coin"] == facts["cases"],
        f"exact ratio e^ε in {facts['split']} of {facts['cases']} cases, and in {facts['coin']} "
        "when a public coin chooses the group",
        "ε-LDP in each group gives ε-LDP overall",
        "The groups must not depend on the data. A user who does both tasks spends more"
        + (" in every case." if facts["both_cost_more"] else "; not seen here."),
    )


def _judge_moments(result: Result) -> Evidence:
    facts = result.facts
    right = facts["unbiased"] == facts["variance"] == facts["cases"] and facts["simplified"]
    return exact_if(
        right and facts["code"] < 1e-12,
        f"expectation equal in {facts['unbiased']}, variance in {facts['variance']} of "
        f"{facts['cases']} cases, all lists of reports enumerated",
        "f, and q(1 - q)/(n(p - q)²) + f(1 - p - q)/(n(p - q))",
        "For fixed data; exact fractions.",
    )


def _judge_oue(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["least_without_f"],
        f"p = 1/2 is the strict minimum at {facts['budgets']} budgets, exact search over p",
        "the smallest q(1 - q)/(n(p - q)²) at a given ε",
        "In closed form e^ε/(n (e^ε - 1)² p(1 - p)): proof on the page.",
    )


def _judge_oue_mse(result: Result) -> Evidence:
    facts = result.facts
    beaten = facts["beaten"]
    return Evidence(
        DIFFERS if beaten else EXACT,
        f"another p is better in {beaten} of {facts['with_f']} cases with f > 0",
        "p = 1/2 has the minimum MSE at a given ε",
        note="True without the term in f, which Wang et al. drop. For every f > 0 a larger p is "
        f"better. Smallest example: e^ε = 4, f = 1/4 (four equal items): n·MSE of OUE is "
        f"{facts['oue']}, of RAPPOR {facts['rappor']}. The best p gains "
        f"{num(100 * facts['gain_example'], 2)} % there.",
    )


def _judge_oue_mean(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["mean_always_beaten"],
        f"another a is better at all budgets: at ε = 1 by {num(100 * facts['mean_gain'])} % for "
        f"m = 0, by {num(100 * facts['mean_gain_square'])} % for |m| = 1",
        "a = 1/2 is chosen for the frequency, not for the mean",
        "Same ε₁ and ε₂ (Lemma 2), error g + h m². The paper aims at the mean's error, and says "
        "that a and b are those of the frequency.",
    )


def _judge_crossover(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["rule"] and facts["rule_with_f"],
        f"holds in {facts['rule_cases']} exact cases" if facts["rule"] else "fails",
        "GRR better iff d < 3e^ε + 2",
        "For an item of frequency f the limit is (3e^ε + 2 + f(e^(2ε) - 1))/(1 + f(e^ε - 1)), "
        "which falls to e^ε + 3 + e^-ε at f = 1.",
    )


def _judge_measured(result: Result) -> Evidence:
    facts = result.facts
    limit = FALSE_ALARM / facts["cases"]
    return Evidence(
        WITHIN_ERROR if facts["p_value"] >= limit else DIFFERS,
        f"smallest p-value {num(facts['p_value'], 2)} over {facts['cases']} variances",
        "the closed form of each",
        tolerance=f"p ≥ {num(limit, 2)}, chi-square on {facts['repeats']:,} repetitions",
        false_alarm=FALSE_ALARM,
    )


def _judge_harmony(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["unbiased"] == facts["variance"] == facts["cases"] and facts["duchi"],
        f"expectation right in {facts['unbiased']}, variance in {facts['variance']} of "
        f"{facts['cases']} cases, all draws and reports enumerated",
        "the total f m, and (C² + (nⱼ - 1) r)/nⱼ - (f m)² with C = (e^ε + 1)/(e^ε - 1), given that "
        "nⱼ ≥ 1 users drew the key",
        "r is the average product of the values of two different users (0 where the key is "
        "absent). A total alone does not give the mean: Harmony knows no frequency.",
    )


def _judge_roads(result: Result) -> Evidence:
    facts = result.facts
    limit = FALSE_ALARM / facts["cases"]
    return Evidence(
        WITHIN_ERROR if facts["p_value"] >= limit else DIFFERS,
        f"smallest p-value {num(facts['p_value'], 2)} over {facts['cases']} comparisons",
        "the exact law of the joint counts, on both roads",
        tolerance=f"p ≥ {num(limit, 2)}, chi-square on {facts['repeats']:,} repetitions",
        false_alarm=FALSE_ALARM,
    )


CLAIMS = (
    Claim(
        id="pckv-primitives",
        paper="pckv",
        label="RR, GRR, UE, RAPPOR and OUE (pckv-1)",
        kind="statement",
        mark="text",
        statement="RR, GRR, UE, RAPPOR and OUE with the stated probabilities are ε-LDP.",
        run=exact_epsilon,
        judge=_judge_epsilon,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-groups",
        paper="pckv",
        label="Disjoint groups of users (pckv-57)",
        kind="statement",
        mark="text",
        statement="If users are split into groups, each of which takes part in one ε-LDP task, "
        "the whole is ε-LDP.",
        run=groups,
        judge=_judge_groups,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-oracle-variance",
        paper="pckv",
        label="Frequency estimator and its MSE (pckv-52)",
        kind="equation",
        mark="found",
        statement="For RR, GRR, RAPPOR and OUE the estimator (share - q)/(p - q) is unbiased, and "
        "its MSE is its variance q(1 - q)/(n(p - q)²) + f(1 - p - q)/(n(p - q)).",
        run=oracle_moments,
        judge=_judge_moments,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-oue",
        paper="pckv",
        label="OUE, approximate variance (pckv-40)",
        kind="statement",
        mark="text",
        statement="OUE is the unary encoding with the smallest approximate variance, the one "
        "without the term in f, at a given ε.",
        run=unary_choice,
        judge=_judge_oue,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-oue-mse",
        paper="pckv",
        label="OUE, exact MSE (pckv-40, exact)",
        kind="statement",
        mark="text",
        statement="Among unary encodings OUE has the minimum MSE of frequency estimation at the "
        "same privacy budget.",
        run=unary_choice,
        judge=_judge_oue_mse,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="pckv-oue-mean",
        paper="pckv",
        label="OUE keys and the mean (pckv-40, mean)",
        kind="statement",
        mark="derived",
        statement="At fixed budgets for key and value, OUE's a = 1/2 is not the choice with the "
        "smallest error of the mean.",
        run=unary_choice,
        judge=_judge_oue_mean,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="foundations-crossover",
        paper="foundations",
        label="GRR or OUE (own)",
        kind="statement",
        mark="derived",
        statement="For a rare item GRR has a smaller variance than OUE iff d < 3e^ε + 2.",
        run=crossover,
        judge=_judge_crossover,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="foundations-variance-measured",
        paper="foundations",
        label="Variances, measured (own)",
        kind="statement",
        mark="own",
        statement="Simulated variances of GRR, RAPPOR and OUE are those of the closed form.",
        run=crossover,
        judge=_judge_measured,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
    Claim(
        id="foundations-harmony",
        paper="foundations",
        label="Duchi's mechanism and Harmony (own)",
        kind="statement",
        mark="own",
        statement="Duchi's report has the value as its expectation, and Harmony's total is "
        "unbiased.",
        run=harmony_moments,
        judge=_judge_harmony,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="foundations-roads",
        paper="foundations",
        label="Literal and counted road (own)",
        kind="statement",
        mark="own",
        statement="Perturbing user by user and drawing the server's counts at once give the same "
        "law, for every primitive.",
        run=roads,
        judge=_judge_roads,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
)
