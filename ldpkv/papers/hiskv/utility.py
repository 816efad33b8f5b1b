"""HISKV page 03: Theorems 3 to 7 and what the paper says of errors, for every reading."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from ldpkv import allocation, hiskv, theory
from ldpkv.baselines import GRR, KVOH, LDPKV2020, UE, Harmony
from ldpkv.data import KeyValueData
from ldpkv.hiskv import LRRKV, LengthEstimate, tilted
from ldpkv.mechanisms import PCKVGRR, User
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    NOT_CHECKABLE,
    WITHIN_ERROR,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)
from ldpkv.papers.hiskv.mechanism import EXPS, RULES, reading, reading_lines, worlds
from ldpkv.privacy import report_laws
from ldpkv.sampling import Symbols, pad_and_sample
from ldpkv.theory import Numbers

PAGE = "notebooks/hiskv/03-utility-theory.ipynb"

# Probability that chance alone turns one verdict; shared by all its comparisons.
FALSE_ALARM = 1e-4
GRID = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
TALKING_USERS = round(0.9 * 60_822)  # beta = 1/10 is not known to be the paper's

SHORT: tuple[User, ...] = (
    {0: Fraction(1)},
    {0: Fraction(-1, 2)},
    {0: Fraction(1, 3)},
    {},
)
LONG: tuple[User, ...] = (
    {0: Fraction(1)},
    {0: Fraction(1, 2), 1: Fraction(-1), 2: Fraction(1)},
    {1: Fraction(1), 2: Fraction(-1)},
)


def _floats(numbers: Numbers) -> Numbers:
    a, b, p, padding = numbers
    return Numbers(float(a), float(b), float(p), padding)


def _laws(mechanism: LRRKV, users: Sequence[User]) -> list[list[Fraction]]:
    """Exact chance of a report ⟨k1, +1⟩, ⟨k1, -1⟩ or anything else, for each user."""
    weights, denominator = report_laws(mechanism, users)
    rows = []
    for row in weights:
        plus, minus = (Fraction(int(row[cell]), int(denominator)) for cell in (0, 1))
        rows.append([plus, minus, 1 - plus - minus])
    return rows


def _pair_laws(mechanism: LRRKV, sampled: Iterable[int]) -> list[list[Fraction]]:
    """The same for users whose sampled pair is given by its cell."""
    channel = mechanism.channel()
    rows = []
    for cell in sampled:
        plus, minus = (
            Fraction(int(channel.weights[cell, c]), int(channel.denominator)) for c in (0, 1)
        )
        rows.append([plus, minus, 1 - plus - minus])
    return rows


def _expected(laws: Sequence[Sequence[Fraction]], values: Sequence[int]) -> Fraction:
    return sum((p * v for law in laws for p, v in zip(law, values, strict=True)), Fraction(0))


def _variance(laws: Sequence[Sequence[Fraction]], values: Sequence[int]) -> Fraction:
    total = Fraction(0)
    for law in laws:
        total += _expected([law], [v * v for v in values]) - _expected([law], values) ** 2
    return total


SUPPORT, SIGN, BOTH = (1, 1, 0), (1, -1, 0), (2, 0, 0)


# --- Theorem 3 -------------------------------------------------------------------------------


def theorem_3(profile: str = "quick") -> Result:
    """Enumerate expectations of f*, with lists of at most l pairs and with longer ones.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes.

    Returns
    -------
    Result
        One row for each reading, size and budget: exact E f* and f.
    """
    rows = []
    for letter, exp_epsilon, m in worlds(profile):
        a, b, p, padding = m.numbers
        worlds_of_users = {"short": SHORT}
        if m.n_keys >= 3:
            worlds_of_users["long"] = LONG
        for kind, users in worlds_of_users.items():
            n, laws = len(users), _laws(m, users)
            expected = Fraction(padding, n) * (_expected(laws, SUPPORT) - n * b) / (a - b)
            weighted = sum(
                (Fraction(padding, max(padding, len(user))) for user in users if 0 in user),
                Fraction(0),
            )
            total = None
            if m.p1 != m.q1:
                total = padding * _expected(laws, SIGN) / (a * (2 * p - 1))
            true_total = sum((Fraction(user.get(0, 0)) for user in users), Fraction(0))
            rows.append(
                {
                    "reading": letter,
                    "exp_epsilon": exp_epsilon,
                    "n_keys": m.n_keys,
                    "padding": padding,
                    "users": kind,
                    "expected": expected,
                    "true": Fraction(sum(0 in user for user in users), n),
                    "weighted": weighted / n,
                    "longest": max(len(user) for user in users),
                    "total": total is None or total == true_total,
                    "equation_7": _equation_7(m),
                }
            )
    table = pd.DataFrame(rows)
    fits = table["longest"] <= table["padding"]
    equal = table["expected"] == table["true"]
    facts = {
        "fit_cases": int(fits.sum()),
        "fit_unbiased": int((equal & fits).sum()),
        "fit_totals": int(table["total"][fits].sum()),
        "long_cases": int((~fits).sum()),
        "long_low": int((table["expected"] < table["true"])[~fits].sum()),
        "weighted": int((table["expected"] == table["weighted"]).sum()),
        "cases": len(table),
        "equation_7": int(table["equation_7"].sum()),
        "example": _expected_frequency({0: Fraction(1), 1: Fraction(1)}, 2, 1),
    }
    return Result(profile, table, facts, setting="exact fractions")


def _expected_frequency(user: User, n_keys: int, padding: int) -> Fraction:
    m = LRRKV.reading_b(Fraction(4), n_keys=n_keys, padding=padding)
    a, b, _, _ = m.numbers
    found: Fraction = padding * (_expected(_laws(m, [user]), SUPPORT) - b) / (a - b)
    return found


def _equation_7(mechanism: LRRKV) -> bool:
    """E[n_1 + n_2] for four users of whom two sampled ⟨k1, 1⟩ and one ⟨k1, -1⟩."""
    gap = mechanism.p1 + mechanism.q1 - 2 * mechanism.q2
    found = _expected(_pair_laws(mechanism, (0, 0, 1, 2)), SUPPORT)
    return bool(found == 3 * gap + 2 * 4 * mechanism.q2)


def ratio(profile: str = "quick") -> Result:
    """Exact bias and variance of the unclipped mean, beside their first-order forms.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The paper profile has more users.

    Returns
    -------
    Result
        One row for each reading and number of users (iid): exact bias and variance of mu* over
        the restored first-order forms, summed over all counts; and `theory.signal`.
    """
    most = 6 if check_profile(profile) == "quick" else 8
    frequency, mean = 0.5, 0.6
    rows = []
    for letter in ("A", "B", "E", "V(c)"):
        m = reading(letter, math.exp(1.6), 5, 1)
        assert m is not None
        numbers = _floats(m.numbers)
        for step in range(most):
            n = 500 * 2**step
            found = theory.exact_errors(numbers, frequency, mean, n, correction="none")
            variance = found.mean_mse - found.mean_bias**2
            rows.append(
                {
                    "reading": letter,
                    "n_users": n,
                    "signal": float(theory.signal(numbers, frequency, n)),
                    "bias": found.mean_bias,
                    "bias_ratio": found.mean_bias / theory.mean_bias(numbers, frequency, mean, n),
                    "variance_ratio": variance
                    / theory.mean_variance_printed(numbers, frequency, mean, n),
                }
            )
    table = pd.DataFrame(rows)
    last = table[table["n_users"] == table["n_users"].max()]
    gaps = table.assign(
        bias_gap=(table["bias_ratio"] - 1).abs(), variance_gap=(table["variance_ratio"] - 1).abs()
    ).groupby("reading", sort=False)
    facts: dict[str, Any] = {
        "largest_n": int(table["n_users"].max()),
        "bias_gap": float((last["bias_ratio"] - 1).abs().max()),
        "variance_gap": float((last["variance_ratio"] - 1).abs().max()),
        "first_gap": float((table["variance_ratio"] - 1).abs().max()),
        "shrinks": all(
            (np.diff(part[["bias_gap", "variance_gap"]].to_numpy()[-3:], axis=0) < 0).all()
            for _, part in gaps
        ),
        "pieces": _pieces(profile),
        **_one_user(),
        **_relative_bias(),
    }
    setting = (
        "d = 5, l = 1, ε = 1.6, f = 0.5, m = 0.6, users drawn independently, no clipping, "
        "all counts summed"
    )
    return Result(profile, table, facts, setting)


def _one_user() -> dict[str, Any]:
    """E mu* for one user who holds one key with value 1, under every reading."""
    found = {}
    for letter in RULES:
        m = reading(letter, Fraction(4), 1, 1)
        assert m is not None
        gap, strength = m.p1 + m.q1 - 2 * m.q2, m.p1 - m.q1
        (law,) = _laws(m, [{0: Fraction(1)}])
        total = Fraction(0)
        for chance, support, sign in zip(law, SUPPORT, SIGN, strict=True):
            total += chance * sign * gap / (strength * (support - 2 * m.q2))
        found[letter] = total
    return {"one_user": found, "one_user_biased": all(value != 1 for value in found.values())}


def _relative_bias() -> dict[str, float]:
    """First-order relative bias at TalkingData's size, epsilon = 1.6."""
    plain = LRRKV.from_epsilon(1.6, n_keys=306, padding=37, reading="A")
    lifted = LRRKV.from_epsilon(1.6, n_keys=306, padding=37, reading="V", level="set")
    return {
        name: float(theory.mean_bias(_floats(m.numbers), f, 1.0, TALKING_USERS))
        for name, m, f in (
            ("relative_plain", plain, 0.1),
            ("relative_lifted", lifted, 0.1),
            ("relative_plain_rare", plain, 0.02),
            ("relative_lifted_rare", lifted, 0.02),
        )
    }


def _pieces(profile: str) -> tuple[int, int]:
    """How many enumerated moments of R and S are those of Theorem 5, the printed tail included."""
    right = cases = 0
    for _, _, m in worlds(profile):
        plus, minus, n = 3, 1, 8
        laws = _pair_laws(m, (0, 0, 0, 1, 2, 2, 2, 2))
        found = hiskv.moments_sampled(m.numbers, plus, minus, n)
        covariance = (_variance(laws, BOTH) - _variance(laws, SUPPORT) - _variance(laws, SIGN)) / 2
        p1, q1, q2 = m.p1, m.q1, m.q2
        tail = (p1 - q2) * (1 - p1 - q2) - (q1 - q2) * (1 - q1 - q2)
        gap, strength = p1 + q1 - 2 * q2, p1 - q1
        right += (
            found.difference * n == _expected(laws, SIGN) == (plus - minus) * strength
            and found.support * n == _expected(laws, SUPPORT) == (plus + minus) * gap + 2 * n * q2
            and found.difference_variance * n**2
            == _variance(laws, SIGN)
            == 2 * n * q2 + (plus + minus) * (gap - strength**2)
            and found.support_variance * n**2
            == _variance(laws, SUPPORT)
            == 2 * n * q2 * (1 - 2 * q2) + (plus + minus) * gap * (1 - p1 - q1 - 2 * q2)
            and found.covariance * n**2 == covariance == (plus - minus) * tail
        )
        cases += 1
    return right, cases


def draw_ratio(result: Result) -> Figure:
    """Draw exact bias and variance of the mean over their first-order forms."""
    figure, axes = plots.new_figure(2)
    for axis, column, name in zip(
        axes, ("bias_ratio", "variance_ratio"), ("bias", "variance"), strict=True
    ):
        axis.axhline(1, color=plots.BLACK, linewidth=0.8)
        plots.log_axis(axis, "x")
        axis.set(xlabel="users n'", ylabel=f"exact {name} / first-order form")
        reading_lines(axis, result.table, "n_users", column)
    return figure


# --- Theorem 4 -------------------------------------------------------------------------------


def theorem_4(profile: str = "quick") -> Result:
    """Hold each version of Theorem 4 to enumeration, and compare their sizes.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes of what is enumerated.

    Returns
    -------
    Result
        One row for each setting, epsilon and version: its variance over version (a), at
        TalkingData's size and f = 0.3.
    """
    right = {version: 0 for version in hiskv.VERSIONS}
    cases = 0
    for _, _, m in worlds(profile):
        cases += 1
        for version, held in _versions(m).items():
            right[version] += held
    rows = []
    settings = {
        "B, as printed": lambda e: LRRKV.from_epsilon(e, n_keys=306, padding=37, reading="B"),
        "V(1), amplified": lambda e: LRRKV.from_epsilon(
            e, n_keys=306, padding=37, reading="V", level="set"
        ),
    }
    for (name, make), epsilon in itertools.product(settings.items(), GRID):
        numbers = _floats(make(epsilon).numbers)
        for version in hiskv.VERSIONS:
            value, base = (
                float(hiskv.theorem4(numbers, 0.3, TALKING_USERS, version=v, n_total=60_822))
                for v in (version, "a")
            )
            rows.append((name, epsilon, version, value, value / base))
    table = pd.DataFrame(rows, columns=["setting", "epsilon", "version", "variance", "over_a"])
    lifted = table[table["setting"].str.startswith("V")]
    plain = table[table["setting"].str.startswith("B")]
    facts = {
        "cases": cases,
        **{f"right_{version}": count for version, count in right.items()},
        "most_lifted": float(lifted["over_a"].max()),
        "most_plain": float(plain["over_a"].max()),
    }
    setting = "d = 306, l = 37, f = 0.3, n = 60,822, β = 0.1"
    return Result(profile, table, facts, setting)


def _versions(mechanism: LRRKV) -> dict[str, bool]:
    """Whether each version is the exact variance in its own world."""
    a, b, _, padding = mechanism.numbers
    scale = Fraction(padding) / (a - b)
    users = SHORT
    n, f = len(users), Fraction(3, 4)
    laws = _laws(mechanism, users)
    fixed = scale**2 * _variance(laws, SUPPORT) / n**2
    mixture = [[sum(column, Fraction(0)) / n for column in zip(*laws, strict=True)]]
    iid = scale**2 * _variance(mixture, SUPPORT) / n
    # Version (a): of 4 l users with f = 3/4, three sampled the key.
    many = 4 * padding
    sampled = _pair_laws(mechanism, (0, 1, 0, *(2,) * (many - 3)))
    given = scale**2 * _variance(sampled, SUPPORT) / many**2
    # Split: every group of 2 of the 4.
    groups = list(itertools.combinations(laws, 2))
    within = sum((_variance(group, SUPPORT) for group in groups), Fraction(0)) / len(groups)
    centres = [_expected(group, SUPPORT) for group in groups]
    middle = sum(centres, Fraction(0)) / len(groups)
    between = sum(((c - middle) ** 2 for c in centres), Fraction(0)) / len(groups)
    split = scale**2 * (within + between) / 4
    numbers = mechanism.numbers
    return {
        "a": hiskv.theorem4(numbers, f, many, version="a") == given,
        "b": hiskv.theorem4(numbers, f, n, version="b") == fixed,
        "c": hiskv.theorem4(numbers, f, n, version="c") == iid,
        "split": hiskv.theorem4(numbers, f, 2, version="split", n_total=n) == split,
    }


def versions_table(result: Result) -> pd.DataFrame:
    """Versions (b), (c) and split over (a), by budget."""
    wide = result.table.pivot_table(
        index=["setting", "epsilon"], columns="version", values="over_a", sort=False
    ).reset_index()
    base = result.table[result.table["version"] == "a"]["variance"].to_numpy()
    return pd.DataFrame(
        {
            "numbers": wide["setting"],
            "ε": wide["epsilon"],
            "version (a)": base,
            "(b) / (a)": wide["b"],
            "(c) / (a)": wide["c"],
            "split / (a)": wide["split"],
        }
    )


# --- Theorems 6 and 7 ------------------------------------------------------------------------


def _frequency_coverage(numbers: Numbers, f: float, n: int, bound: float) -> float:
    """Exact probability that |f* - f| stays within the bound, for iid users."""
    a, b, _, padding = numbers
    chance = b + (a - b) * f / padding
    reach = n * bound * abs(a - b) / padding
    middle = n * chance
    low, high = math.ceil(middle - reach), math.floor(middle + reach)
    return float(stats.binom.cdf(high, n, chance) - stats.binom.cdf(low - 1, n, chance))


def _mean_coverage(numbers: Numbers, f: float, m: float, n: int, bound: float) -> float:
    """Exact probability that |mu* - m| stays within the bound, for iid users.

    Given the number of reports that support the key, their signs are binomial.
    """
    a, b, p, _ = numbers
    moments = theory.moments_iid(numbers, f, m, n)
    spread = math.sqrt(n * moments.support * (1 - moments.support))
    hits = np.arange(
        max(0, math.floor(n * moments.support - 10 * spread)),
        min(n, math.ceil(n * moments.support + 10 * spread)) + 1,
    )
    scale = a * (2 * p - 1) * (hits - n * b) / (a - b)  # R = mu* times this
    ends = np.sort(np.stack([(m - bound) * scale, (m + bound) * scale]), axis=0)
    plus = (hits + ends) / 2
    chance = (moments.support + moments.difference) / (2 * moments.support)
    inside = stats.binom.cdf(np.floor(plus[1]), hits, chance) - stats.binom.cdf(
        np.ceil(plus[0]) - 1, hits, chance
    )
    return float(stats.binom.pmf(hits, n, moments.support) @ inside)


def deviations(profile: str = "quick") -> Result:
    """Exact coverage of the restored bounds of Theorems 6 and 7.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Grid.

    Returns
    -------
    Result
        One row for each reading, size, epsilon, f, n' and eta: both bounds, and the exact
        probability that each holds. Bounds on the mean are infinite below the number of users
        that Theorem 7 needs.
    """
    quick = check_profile(profile) == "quick"
    sizes = ((20, 3), (100, 10)) if quick else ((5, 1), (20, 3), (100, 10))
    epsilons = (0.4, 1.6) if quick else (0.1, 0.4, 0.8, 1.6, 3.2)
    rows = []
    for letter, (n_keys, padding), epsilon, f, eta in itertools.product(
        ("A", "B", "D", "set"), sizes, epsilons, (0.1, 0.5), (0.05, 1e-3)
    ):
        m = (
            LRRKV.from_epsilon(epsilon, n_keys=n_keys, padding=padding, reading="V", level="set")
            if letter == "set"
            else reading(letter, math.exp(epsilon), n_keys, padding)
        )
        assert m is not None
        numbers = _floats(m.numbers)
        needed = float(hiskv.mean_deviation_users(numbers, f, eta))
        for times in (0.5, 1.5, 8.0):
            n = max(10, round(times * needed))
            frequency = float(hiskv.frequency_deviation(numbers, f, n, eta))
            mean = float(hiskv.mean_deviation(numbers, f, 0.4, n, eta))
            rate = float(hiskv.deviation_rate(epsilon, n_keys, padding, n, eta))
            rows.append(
                {
                    "reading": "V(1), set level" if letter == "set" else letter,
                    "n_keys": n_keys,
                    "padding": padding,
                    "epsilon": epsilon,
                    "frequency": f,
                    "eta": eta,
                    "n_users": n,
                    "bound": frequency,
                    "covered": _frequency_coverage(numbers, f, n, frequency),
                    "third": _frequency_coverage(numbers, f, n, frequency / 3),
                    "over_rate": frequency / rate,
                    "mean_bound": mean,
                    "mean_covered": _mean_coverage(numbers, f, 0.4, n, mean)
                    if mean < math.inf
                    else math.nan,
                    "needed": needed,
                }
            )
    table = pd.DataFrame(rows)
    finite = np.isfinite(table["mean_bound"])
    level = 1 - table["eta"]
    low = table["eta"] == 0.05
    ordinary = table["reading"].isin(["A", "B"]) & (table["epsilon"] <= 0.8)
    facts: dict[str, Any] = {
        "cases": len(table),
        "covered": int((table["covered"] >= level).sum()),
        "lowest": float(table["covered"][low].min()),
        "third_fails": int((table["third"] < level).sum()),
        "rate_low": float(table["over_rate"][ordinary].min()),
        "rate_high": float(table["over_rate"][ordinary].max()),
        "mean_cases": int(finite.sum()),
        "mean_covered": int((table["mean_covered"] >= level)[finite].sum()),
        "mean_lowest": float(table["mean_covered"][low & finite].min()),
        "infinite": int((~finite).sum()),
        "infinite_where_expected": bool(
            (~finite == (table["n_users"] < table["needed"].round())).all()
        ),
    }
    for name, how in (
        ("plain", {"reading": "B"}),
        ("lifted", {"reading": "V", "level": "set"}),
    ):
        m = LRRKV.from_epsilon(1.6, n_keys=306, padding=37, **how)
        facts[f"needed_{name}"] = float(hiskv.mean_deviation_users(_floats(m.numbers), 0.1, 0.05))
    facts["talking_users"] = TALKING_USERS
    setting = "users drawn independently, exact laws, no clipping"
    return Result(profile, table, facts, setting)


def bound_curves(profile: str = "quick") -> Result:
    """Bounds of Theorems 6 and 7 and the exact 95 % point, at the synthetic data's size.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row for each quantity, curve and epsilon, reading B.
    """
    check_profile(profile)
    n, f, m, eta = 900_000, 0.1, 0.4, 0.05
    rows = []
    for epsilon in GRID:
        numbers = _floats(LRRKV.from_epsilon(epsilon, n_keys=100, padding=10, reading="B").numbers)
        bound = float(hiskv.frequency_deviation(numbers, f, n, eta))
        point = _point(lambda x, who=numbers: _frequency_coverage(who, f, n, x), bound, 1 - eta)
        rows += [
            ("frequency", "bound", epsilon, bound),
            ("frequency", "exact 95 %", epsilon, point),
        ]
        mean_bound = float(hiskv.mean_deviation(numbers, f, m, n, eta))
        if mean_bound < math.inf:
            rows.append(("mean", "bound", epsilon, mean_bound))
        start = min(mean_bound, 1e3)
        point = _point(lambda x, who=numbers: _mean_coverage(who, f, m, n, x), start, 1 - eta)
        rows.append(("mean", "exact 95 %", epsilon, point))
    table = pd.DataFrame(rows, columns=["quantity", "curve", "epsilon", "deviation"])
    wide = table.pivot(index=["quantity", "epsilon"], columns="curve", values="deviation")
    share = (wide["bound"] / wide["exact 95 %"]).dropna()
    facts = {
        "frequency_share": float(share["frequency"].max()),
        "first_mean": float(share["mean"].index.min()),
        "mean_share": float(share["mean"].iloc[-1]),
    }
    setting = "n' = 900,000, d = 100, l = 10, f = 0.1, m = 0.4, η = 0.05, reading B"
    return Result(profile, table, facts, setting)


def _point(covered: Any, high: float, level: float) -> float:
    """Smallest deviation that is kept with the probability wanted, by bisection."""
    low = 0.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if covered(middle) >= level else (middle, high)
    return high


def draw_bounds(result: Result) -> Figure:
    """Draw the bounds above the exact 95 % points."""
    figure, axes = plots.new_figure(2)
    for axis, quantity in zip(axes, ("frequency", "mean"), strict=True):
        part = result.table[result.table["quantity"] == quantity]
        part = part.sort_values(["curve", "epsilon"])
        plots.log_axis(axis)
        plots.log_axis(axis, "x")
        axis.set(xlabel="ε (nats)", ylabel=f"deviation of the {quantity}")
        plots.lines_with_bands(axis, part, x="epsilon", y="deviation", series="curve")
    return figure


def coverage(profile: str = "quick", seed: int = 2021) -> Result:
    """Run the second stage on fixed users, a fresh group each time, and count deviations.

    Parameters
    ----------
    profile : {"quick", "paper"}
        400 or 4,000 repetitions.
    seed : int, default 2021
        Seed of the repetitions.

    Returns
    -------
    Result
        One row for each reading and theorem: how often the restored bound was left, and by chance
        how often that may happen at most; the same for a bound a quarter as wide.
    """
    repeats = {"quick": 400, "paper": 4000}[check_profile(profile)]
    n_users, n_keys, padding, eta, epsilon = 6000, 6, 2, 0.05, 3.2
    sets = [{0: 1.0}, {0: -0.2, 1: 1.0}, {2: 0.5}, {3: 1.0, 4: -1.0}] * (n_users // 4)
    data = KeyValueData.from_sets(sets, n_keys=n_keys)
    f, mean = 0.5, 0.4
    group = round(0.9 * n_users)
    rows = []
    generators = np.random.default_rng(seed).spawn(2)
    for letter, generator in zip(("B", "V(1), set level"), generators, strict=True):
        m = (
            LRRKV.from_epsilon(epsilon, n_keys=n_keys, padding=padding, reading="V", level="set")
            if letter.startswith("V")
            else LRRKV.from_epsilon(epsilon, n_keys=n_keys, padding=padding, reading="B")
        )
        numbers = _floats(m.numbers)
        bounds = {
            "frequency": float(hiskv.frequency_deviation(numbers, f, group, eta)),
            "mean": float(hiskv.mean_deviation(numbers, f, mean, group, eta)),
        }
        errors = np.array(
            [_one_run(m, data, group, rng) for rng in generator.spawn(repeats)]
        ) - np.array([f, mean])
        for column, (quantity, bound) in enumerate(bounds.items()):
            left = int((np.abs(errors[:, column]) > bound).sum())
            narrow = int((np.abs(errors[:, column]) > bound / 4).sum())
            rows.append(
                {
                    "reading": letter,
                    "quantity": quantity,
                    "bound": bound,
                    "left": left,
                    "share_left": left / repeats,
                    "p_value": float(stats.binom.sf(left - 1, repeats, eta)),
                    "p_quarter": float(stats.binom.sf(narrow - 1, repeats, eta)),
                }
            )
    table = pd.DataFrame(rows)
    facts = {
        "repeats": repeats,
        "critical_p": FALSE_ALARM / len(table),
        "smallest_p": float(table["p_value"].min()),
        "most_left": float(table["share_left"].max()),
        "quarter_seen": int((table["p_quarter"] < FALSE_ALARM / len(table)).sum()),
        "cases": len(table),
        "finite": bool(np.isfinite(table["bound"]).all()),
    }
    setting = (
        f"n = {n_users:,}, n' = {group:,}, d = {n_keys}, l = {padding}, ε = {epsilon:g}, η = 0.05, "
        f"{repeats:,} repetitions"
    )
    return Result(profile, table, facts, setting)


def _one_run(
    mechanism: LRRKV, data: KeyValueData, group: int, rng: np.random.Generator
) -> tuple[float, float]:
    n_users = len(data.lengths)
    second = data.take_users(np.sort(rng.choice(n_users, group, replace=False)))
    symbols: Symbols = mechanism.symbols(pad_and_sample(second, rng=rng))
    counts = mechanism.aggregate(mechanism.perturb(symbols, rng=rng))
    found = mechanism.estimate(counts, correction="none")
    return float(found.frequency[0]), float(found.mean[0])


# --- a larger q_1 ----------------------------------------------------------------------------


def tilt(profile: str = "quick") -> Result:
    """Vary c = q_1 / q_2 at equal true epsilon: variances of frequency and mean.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Grid.

    Returns
    -------
    Result
        One row for each curve and c, at d' = 686, epsilon = 1.6 and rare keys: variance at c = 1
        over variance at c.
    """
    steps = 41 if check_profile(profile) == "quick" else 401
    cells = {"quick": (4, 12, 686), "paper": (4, 6, 12, 40, 220, 686, 4000)}[profile]
    keeps = [math.exp(e) for e in GRID] + [allocation.amplified(math.exp(e), 37) for e in GRID]
    falls = rises = cases = 0
    gains = []
    for keep, width, x, mean in itertools.product(keeps, cells, (1e-3, 0.1, 1.0), (0.0, 0.6, 1.0)):
        c = 1 + np.linspace(0, 1, steps, endpoint=False) * (keep - 1)
        numbers = tilted(keep, c, width // 2 - 1, 1)
        variance = theory.frequency_variance(numbers, x, 1, users="iid")
        of_mean = theory.mean_variance_printed(numbers, x, mean, 1)
        falls += bool((np.diff(variance) < 0).all())
        rises += bool((np.diff(of_mean) > 0).all())
        gains.append(float(variance[0] / variance[-1]))
        cases += 1
    keep, parts = math.exp(1.6), np.linspace(0, 1, 21)
    numbers = tilted(keep, 1 + parts * (keep - 1), 306, 37)
    rows = []
    for name, mean in (("frequency", 0.0), ("mean, m = 0", 0.0), ("mean, |m| = 1", 1.0)):
        found = hiskv.advantage(numbers, tilted(keep, 1.0, 306, 37), mean=mean)
        gain = found.frequency if name == "frequency" else found.mean
        rows += [(name, float(part), float(y)) for part, y in zip(parts, gain, strict=True)]
    table = pd.DataFrame(rows, columns=["curve", "part", "gain"])
    half = hiskv.advantage(
        tilted(keep, math.sqrt(keep), 306, 37), tilted(keep, 1.0, 306, 37), mean=0.0
    )
    facts = {
        "cases": cases,
        "falls": falls,
        "rises": rises,
        "most": max(gains),
        "at_root_frequency": float(half.frequency),
        "at_root_mean": float(half.mean),
        **_printed_tilt(),
    }
    return Result(profile, table, facts, setting="d' = 686, ε = 1.6 for pairs, f/l → 0")


def _printed_tilt() -> dict[str, Any]:
    """The same at the printed p_1, where a larger q_1 costs privacy: readings B, C, E against A."""
    better = worse = cases = 0
    for letter, epsilon, (n_keys, padding), mean in itertools.product(
        "BCE", GRID, ((306, 37), (442, 10), (100, 10)), (0.0, 0.6, 1.0)
    ):
        one, other = (
            LRRKV.from_epsilon(epsilon, n_keys=n_keys, padding=padding, reading=name)
            for name in (letter, "A")
        )
        found = hiskv.advantage(_floats(one.numbers), _floats(other.numbers), mean=mean)
        better += found.frequency > 1
        worse += found.mean < 1
        cases += 1
    return {"printed_cases": cases, "printed_better": better, "printed_worse": worse}


def draw_tilt(result: Result) -> Figure:
    """Draw variance at c = 1 over variance at c."""
    figure, axis = plots.new_figure()
    axis.axhline(1, color=plots.BLACK, linewidth=0.8)
    axis.set(
        xlabel="tilt, from q₁ = q₂ (0) to q₁ = p₁ (1)",
        ylabel="gain: variance at c = 1 / at c",
        ylim=(0, 4.2),
    )
    plots.lines_with_bands(axis, result.table, x="part", y="gain", series="curve")
    return figure


# --- padding length, OETL, domain ------------------------------------------------------------


def padding_length(profile: str = "quick") -> Result:
    """What l too short and l too long do to frequency and mean.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes of what is enumerated.

    Returns
    -------
    Result
        One row for each l: standard error of a frequency and of a mean at TalkingData's size,
        with the printed p_1 (reading A) and with the amplified one.
    """
    low = cases = 0
    most = 3 if check_profile(profile) == "quick" else 5
    for letter, exp_epsilon, n_keys in itertools.product(RULES, EXPS, range(2, most + 1)):
        for padding in range(1, n_keys):
            found = reading(letter, exp_epsilon, n_keys, padding)
            if found is not None:
                a, b, _, _ = found.numbers
                (law,) = _laws(found, [{key: Fraction(1, 2) for key in range(n_keys)}])
                low += padding * (_expected([law], SUPPORT) - b) / (a - b) < 1
                cases += 1
    m = LRRKV.reading_b(Fraction(4), n_keys=2, padding=1)
    means = {}
    for name, sign in (("raised", 1), ("lowered", -1)):
        users: list[User] = [{0: Fraction(sign)}, {0: Fraction(-sign), 1: Fraction(-1)}]
        a, b, p, _ = m.numbers
        laws = _laws(m, users)
        means[name] = (_expected(laws, SIGN) / (a * (2 * p - 1))) / (
            (_expected(laws, SUPPORT) - 2 * b) / (a - b)
        )
    rows = []
    for padding in (1, 2, 5, 10, 20, 37, 50, 100):
        for name, how in (
            ("as printed", {"reading": "A"}),
            ("amplified", {"reading": "V", "level": "set"}),
        ):
            numbers = _floats(LRRKV.from_epsilon(1.6, n_keys=306, padding=padding, **how).numbers)
            rows.append(
                {
                    "p1": name,
                    "padding": padding,
                    "frequency": math.sqrt(
                        theory.frequency_variance(numbers, 0.1, TALKING_USERS, users="iid")
                    ),
                    "mean": math.sqrt(
                        theory.mean_variance_printed(numbers, 0.1, 0.5, TALKING_USERS)
                    ),
                }
            )
    table = pd.DataFrame(rows)
    grown = {}
    for name, part in table.groupby("p1"):
        by = part.set_index("padding")
        grown[str(name)] = float(by["frequency"][100] / by["frequency"][10])
    facts = {
        "cases": cases,
        "low": low,
        "mean_raised": means["raised"],
        "mean_lowered": means["lowered"],
        "rises": all(
            bool((np.diff(part[["frequency", "mean"]].to_numpy(), axis=0) > 0).all())
            for _, part in table.groupby("p1")
        ),
        "grown_printed": grown["as printed"],
        "grown_amplified": grown["amplified"],
    }
    setting = f"d = 306, n' = {TALKING_USERS:,}, ε = 1.6, f = 0.1, m = 0.5; no list longer than l"
    return Result(profile, table, facts, setting)


def padding_table(result: Result) -> pd.DataFrame:
    """Standard errors against l."""
    wide = result.table.pivot(index="padding", columns="p1", values=["frequency", "mean"])
    return pd.DataFrame(
        {
            "l": wide.index,
            "frequency, p₁ as printed": wide["frequency", "as printed"].to_numpy(),
            "frequency, amplified": wide["frequency", "amplified"].to_numpy(),
            "mean, p₁ as printed": wide["mean", "as printed"].to_numpy(),
            "mean, amplified": wide["mean", "amplified"].to_numpy(),
        }
    )


def length_counts(profile: str = "quick") -> Result:
    """Enumerate the variance of OETL's corrected counts.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes.

    Returns
    -------
    Result
        One row for each e^epsilon, d and length: exact variance and the printed one.
    """
    most = 5 if check_profile(profile) == "quick" else 9
    rows = []
    for exp_epsilon, n_keys in itertools.product(EXPS, range(2, most + 1)):
        stage = LengthEstimate.from_exp_budgets(exp_epsilon, n_keys=n_keys)
        lengths = np.array([1, 1, n_keys, 1])
        channel, codes = stage.channel(), stage.symbols(lengths).codes
        gap = stage.keep_length - stage.fake_length
        for length in range(1, n_keys + 1):
            chances = [
                Fraction(int(channel.weights[code, length - 1]), int(channel.denominator))
                for code in codes
            ]
            exact = sum((p * (1 - p) for p in chances), Fraction(0)) / gap**2
            true = int((lengths == length).sum())
            printed = 4 * (exp_epsilon + n_keys - 2) / (exp_epsilon - 1) ** 2
            completed = hiskv.length_count_variance(exp_epsilon, n_keys, true, 4)
            rows.append((exp_epsilon, n_keys, length, true, exact, printed, completed))
    table = pd.DataFrame(
        rows,
        columns=["exp_epsilon", "n_keys", "length", "true", "exact", "printed", "completed"],
    )
    empty = table["true"] == 0
    equal = table["exact"] == table["printed"]
    talking = [
        float(hiskv.length_count_variance(math.exp(1.6), 306, share * 6082, 6082))
        for share in (0.05, 0.0)
    ]
    facts = {
        "empty": int(empty.sum()),
        "empty_right": int((equal & empty).sum()),
        "held": int((~empty & (table["n_keys"] > 2)).sum()),
        "held_right": int((equal & ~empty & (table["n_keys"] > 2)).sum()),
        "completed": int((table["exact"] == table["completed"]).sum()),
        "cases": len(table),
        "example": hiskv.length_count_variance(Fraction(2), 3, 1, 1),
        "example_printed": Fraction(2 + 3 - 2, (2 - 1) ** 2),
        "talking": talking[0] / talking[1],
    }
    return Result(profile, table, facts, setting="exact fractions")


def _answer_variance(rows: NDArray[Any], values: Sequence[Any]) -> Fraction:
    """Variance of one answer's value where the key is absent, from the answers' law."""
    law = [Fraction(x) for x in rows[0, 2]]
    first = sum((p * v for p, v in zip(law, values, strict=True)), Fraction(0))
    return sum((p * v * v for p, v in zip(law, values, strict=True)), Fraction(0)) - first**2


def domain(profile: str = "quick") -> Result:
    """Exact variance of a rare key's frequency against the number of keys, times n.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Largest number of keys.

    Returns
    -------
    Result
        One row for each mechanism and d, at e^epsilon = 4 in exact fractions, from the laws of
        the mechanisms; for a key that nobody holds.
    """
    quick = check_profile(profile) == "quick"
    sizes = (10, 20, 40, 80, 160) if quick else (10, 20, 40, 80, 160, 320)
    exp_epsilon, root = Fraction(4), Fraction(2)
    rows = []
    for d in sizes:
        one = GRR.from_exp_budgets(exp_epsilon, n_keys=d)
        p, q = one.keep_key, one.fake_key
        rows.append(("GRR", d, q * (1 - q) / (p - q) ** 2))
        keep = root / (root + 1)
        bits = UE(d, keep, 1 - keep)
        p, q = bits.keep_key, bits.fake_key
        rows.append(("RAPPOR, one-hot", d, q * (1 - q) / (p - q) ** 2))
        # Index sampling: n / d users answer for the key, each answer valued by the estimator.
        guess = LDPKV2020.from_exp_budgets(exp_epsilon, n_keys=d)
        p, q = guess.keep_state, (1 - guess.keep_state) / 2
        values = [(1 - 2 * q) / (p - q)] * 2 + [-2 * q / (p - q)]
        rows.append(("LDPKV (a guess)", d, d * _answer_variance(guess.rows(), values)))
        hot = KVOH.from_exp_budgets(exp_epsilon, n_keys=d)
        p = hot.keep_bit
        values = [
            (sum(answer[:2]) - 2 * (1 - p)) / (2 * p - 1)
            for answer in itertools.product((1, 0), repeat=3)
        ]
        rows.append(("KVOH", d, d * _answer_variance(hot.rows(), values)))
        m = PCKVGRR.from_exp_budgets(*allocation.optimised(exp_epsilon, 5), n_keys=d, padding=5)
        law = _laws(LRRKV.from_pckv_grr(m), [{1: Fraction(1)}])
        scale = Fraction(5) / (m.keep_key - m.fake_key)
        rows.append(("PCKV-GRR, l = 5", d, scale**2 * _variance(law, SUPPORT)))
    table = pd.DataFrame(rows, columns=["mechanism", "n_keys", "exact"])
    table["variance"] = table["exact"].astype(float)
    shapes = {}
    for name, part in table.groupby("mechanism", sort=False):
        slopes = [
            (after - before) / (more - less)
            for before, after, less, more in zip(
                part["exact"], part["exact"][1:], part["n_keys"], part["n_keys"][1:], strict=False
            )
        ]
        shapes[str(name)] = "flat" if set(slopes) == {0} else "rises" if min(slopes) > 0 else "no"
    linear = table[table["mechanism"].isin(["PCKV-GRR, l = 5"])]
    numbers = [
        theory.frequency_variance(
            Numbers.grr(*allocation.optimised(exp_epsilon, 5), d, 5), Fraction(0), 1
        )
        for d in sizes
    ]
    steps = np.diff(numbers) / np.diff(sizes)
    harmony = []
    for exp_half in (Fraction(11, 10), Fraction(4), Fraction(100)):
        p = Harmony.from_exp_budgets(exp_half, n_keys=3).keep_sign
        harmony.append(1 / (2 * p - 1))
    facts = {
        "shapes": shapes,
        "grr_slope_closed": len(set(steps.tolist())) == 1 and steps[0] > 0,
        "grr_enumerated": linear["exact"].tolist() == numbers,
        "harmony": min(harmony),
        "harmony_small": float(harmony[0]),
        "times": float(linear["variance"].iloc[-1] / linear["variance"].iloc[0]),
        "sizes": (sizes[0], sizes[-1]),
    }
    return Result(profile, table, facts, setting="e^ε = 4, a key that nobody holds, exact laws")


def draw_domain(result: Result) -> Figure:
    """Draw n times the variance against d."""
    figure, axis = plots.new_figure()
    plots.log_axis(axis)
    plots.log_axis(axis, "x")
    axis.set(xlabel="number of keys d", ylabel="n · variance of a frequency")
    plots.lines_with_bands(axis, result.table, x="n_keys", y="variance", series="mechanism")
    return figure


# --- judges ----------------------------------------------------------------------------------


def _judge_unbiased(result: Result) -> Evidence:
    facts = result.facts
    short = facts["fit_unbiased"] == facts["fit_cases"]
    return Evidence(
        DIFFERS if facts["long_low"] or not short else EXACT,
        f"E f* = f in {facts['fit_unbiased']} of {facts['fit_cases']} cases with lists of at most "
        f"l pairs, E f* < f in {facts['long_low']} of {facts['long_cases']} with longer ones; one "
        f"user with two pairs, l = 1: {facts['example']} instead of 1",
        "E f* = f",
        note="Exactly unbiased iff no holder has more than l pairs; else each counts as l/l_i "
        f"({facts['weighted']} of {facts['cases']} cases). OETL leaves about a tenth of the lists "
        "longer than l by design. The paper's section on the length says that short l "
        "underestimates; the theorem does not. For every reading.",
    )


def _judge_equation_7(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["equation_7"] == facts["cases"],
        f"equal in {facts['equation_7']} of {facts['cases']} cases",
        "(n₁ + n₂ sampled)(p₁ + q₁ - 2q₂) + 2n'q₂",
        "For every reading. With sampled counts; the true ones enter only through 1/l.",
    )


def _judge_mean(result: Result) -> Evidence:
    facts = result.facts
    one = facts["one_user"]
    return Evidence(
        DIFFERS if facts["one_user_biased"] else EXACT,
        f"one user, one key, value 1, e^ε = 4: E μ* = {one['A']} (A), {one['B']} (B), {one['C']} "
        f"(C), {one['V(c)']} (V)",
        "1",
        note="A ratio of unbiased counts is not unbiased. The bias falls like 1/n' and vanishes, "
        "so the mean is consistent. At TalkingData's size (ε = 1.6, l = 37, f = 0.1) the "
        f"first-order bias is {num(facts['relative_plain'])} times the mean with p₁ as printed, "
        f"where the expansion means nothing, and {num(facts['relative_lifted'])} with the credit "
        "for sampling. For every reading.",
    )


def _judge_theorem_4(result: Result) -> Evidence:
    facts = result.facts
    n = facts["cases"]
    counts = [facts[f"right_{version}"] for version in hiskv.VERSIONS]
    return Evidence(
        NOT_CHECKABLE if min(counts) == n else DIFFERS,
        f"exact in its own world: (a) {counts[0]}, (b) {counts[1]}, (c) {counts[2]}, split "
        f"{counts[3]} of {n} cases",
        "the printed version, which is lost",
        note="(a) given the sampled pairs, (b) given the users, (c) users at random, split: the "
        "group drawn from all users. The proof says binomial, which is (c). Version (a) would "
        f"omit f(l - 1)/n': up to {num(100 * (facts['most_lifted'] - 1), 2)} % at TalkingData's "
        f"size with amplified numbers, {num(100 * (facts['most_plain'] - 1), 2)} % with the "
        "printed p₁ (f = 0.3).",
    )


def _judge_theorem_5(result: Result) -> Evidence:
    facts = result.facts
    right, cases = facts["pieces"]
    return exact_if(
        right == cases and facts["shrinks"] and facts["variance_gap"] < 0.01,
        f"all moments of R and S right in {right} of {cases} cases; exact variance within "
        f"{num(100 * facts['variance_gap'], 2)} % of the form at n' = {facts['largest_n']:,}, "
        f"within {num(100 * facts['first_gap'], 2)} % at 500",
        "equal to first order in 1/n'",
        "Restored from the surviving tail of Cov[R, S]. For many users only: while f* may come "
        "near 0 the unclipped mean has a pole. Where l_i > l, S no longer aims at f.",
    )


def _judge_theorem_6(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["covered"] == facts["cases"] and facts["rate_high"] < 4,
        f"held in {facts['covered']} of {facts['cases']} cases; lowest coverage "
        f"{num(facts['lowest'])} at η = 0.05; bound / rate from {num(facts['rate_low'], 2)} to "
        f"{num(facts['rate_high'], 2)} for ε ≤ 0.8",
        "coverage at least 1 - η; a bounded multiple of the rate",
        "The display is lost: bound and rate are restored, not the authors'. They need l_i ≤ l, "
        "and the rate ε of order 1, no credit for sampling, and n' of the order of d' ln(1/η). A "
        f"third of the bound fails in {facts['third_fails']} cases.",
    )


def _judge_theorem_7(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["mean_covered"] == facts["mean_cases"] and facts["infinite_where_expected"],
        f"held in {facts['mean_covered']} of {facts['mean_cases']} cases with enough users; says "
        f"nothing in {facts['infinite']} with fewer",
        "coverage at least 1 - η",
        "The display is lost; this bound is derived. It needs l_i ≤ l, q₁/p₁ away from 1, and n' "
        "of the order of l² d' ln(1/η)/(εf)²: at d = 306, l = 37, ε = 1.6, f = 0.1 that is "
        f"{num(facts['needed_plain'], 2)} users (B) or {num(facts['needed_lifted'], 2)} "
        f"(amplified), against {facts['talking_users']:,} in TalkingData.",
    )


def _judge_coverage(result: Result) -> Evidence:
    facts = result.facts
    fits = facts["finite"] and facts["smallest_p"] >= facts["critical_p"]
    return Evidence(
        WITHIN_ERROR if fits and facts["quarter_seen"] == facts["cases"] else DIFFERS,
        f"bounds left in at most {num(100 * facts['most_left'], 2)} % of {facts['repeats']:,} "
        f"runs, {facts['cases']} comparisons",
        "at most 5 %",
        tolerance=f"one-sided exact p ≥ {num(facts['critical_p'], 2)}",
        false_alarm=FALSE_ALARM,
        note=f"The test sees a bound a quarter as wide: rejected in {facts['quarter_seen']} of "
        f"{facts['cases']}.",
    )


def _judge_tilt_frequency(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["falls"] == facts["cases"] and facts["printed_better"] == facts["printed_cases"],
        f"variance falls with q₁ in {facts['falls']} of {facts['cases']} cases, by a factor of at "
        f"most {num(facts['most'])}; {num(facts['at_root_frequency'])} at q₁ = e^(ε/2) q₂, ε = 1.6",
        "a smaller variance, factor at most 4",
        "At equal true ε (family V(c)); proved on the page. With p₁ as printed, readings B, C, E "
        f"beat A in {facts['printed_better']} of {facts['printed_cases']} cases, over budget "
        "for pairs.",
    )


def _judge_tilt_mean(result: Result) -> Evidence:
    facts = result.facts
    worse = facts["rises"] == facts["cases"]
    return Evidence(
        DIFFERS if worse else EXACT,
        f"first-order variance rises with q₁ in {facts['rises']} of {facts['cases']} cases; at "
        f"q₁ = e^(ε/2) q₂, ε = 1.6 it is {num(1 / facts['at_root_mean'])} times that of q₁ = q₂",
        "a smaller variance",
        note="A reported sign is worth p₁ - q₁. At equal true ε, proved on the page; unclipped, to "
        "first order. With p₁ as printed, B, C and E lose to A in "
        f"{facts['printed_worse']} of {facts['printed_cases']} cases. So no reading helps the mean "
        "there.",
    )


def _judge_length_counts(result: Result) -> Evidence:
    facts = result.facts
    complete = facts["completed"] == facts["cases"]
    empty = facts["empty_right"] == facts["empty"]
    right = facts["held_right"] == facts["held"]
    return Evidence(
        EXACT if complete and empty and right else DIFFERS,
        f"right in {facts['empty_right']} of {facts['empty']} cases of a length that nobody has, "
        f"in {facts['held_right']} of {facts['held']} of one that somebody has; d = 3, e^ε = 2, "
        f"one user: {facts['example']}, printed {facts['example_printed']}",
        "equality",
        note="Add c(d - 2)/(e^ε - 1) for a length of c users "
        f"({facts['completed']} of {facts['cases']} cases). For 5 % of the group, d = 306 and "
        f"ε = 1.6 the variance is {num(facts['talking'])} times the printed one. The source that "
        "the paper cites gives it as the approximation for rare values.",
    )


def _judge_padding(result: Result) -> Evidence:
    facts = result.facts
    raised = facts["mean_raised"] > 0
    parts = facts["low"] == facts["cases"] > 0 and facts["rises"]
    return Evidence(
        DIFFERS if raised or not parts else EXACT,
        f"frequency too low in {facts['low']} of {facts['cases']} cases; mean 0 becomes "
        f"{facts['mean_raised']} or {facts['mean_lowered']}; errors from l = 10 to 100: times "
        f"{num(facts['grown_printed'])} as printed, {num(facts['grown_amplified'])} amplified",
        "both too low for small l, both errors larger for large l",
        note="The frequency part and the part on large l hold. A short l weights each holder by "
        "l/l_i, so the mean is biased only where values go with list length, in either direction: "
        "users {⟨1, 1⟩} and {⟨1, -1⟩, ⟨2, -1⟩}, l = 1. For every reading.",
    )


def _judge_domain(result: Result) -> Evidence:
    shapes = result.facts["shapes"]
    return Evidence(
        DIFFERS if shapes["RAPPOR, one-hot"] == "flat" or shapes["GRR"] != "rises" else EXACT,
        f"variance of one key: GRR {shapes['GRR']}, one-hot RAPPOR {shapes['RAPPOR, one-hot']} "
        "in d",
        "both rise",
        note="Right for GRR, linear in d. One-hot RAPPOR perturbs each key's bit alone: the error "
        "of a key does not depend on d (the sum over keys does). RAPPOR's hashing is not checked.",
    )


def _judge_indexed(result: Result) -> Evidence:
    shapes = result.facts["shapes"]
    return exact_if(
        shapes["KVOH"] == shapes["LDPKV (a guess)"] == "rises",
        f"variance of one key: KVOH {shapes['KVOH']}, LDPKV {shapes['LDPKV (a guess)']} with d, in "
        "proportion",
        "both rise",
        "Each key is answered by n/d users. LDPKV's definition is lost; the guess is GRR on the "
        "drawn key's state, and any method that draws one key of d shares this.",
    )


def _judge_harmony(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["harmony"] > 1,
        f"reports ±C with C from {num(facts['harmony'], 4)} up; C = {num(facts['harmony_small'])} "
        "at e^ε = 1.1",
        "C > 1",
        "C = (e^ε + 1)/(e^ε - 1) for every ε. That is one report; the average over users is "
        "unbiased.",
    )


def _judge_pckv_domain(result: Result) -> Evidence:
    facts = result.facts
    few, many = facts["sizes"]
    return exact_if(
        facts["grr_slope_closed"]
        and facts["grr_enumerated"]
        and facts["shapes"]["PCKV-GRR, l = 5"] == "rises",
        f"linear in d; {num(facts['times'])} times as large at d = {many} as at {few}",
        "rises with d",
        "True of LRR_KV under every reading as well: it is the same mechanism. PCKV-UE's does not "
        "depend on d.",
    )


CLAIMS = (
    Claim(
        id="hiskv-thm-3-frequency",
        paper="hiskv",
        label="Analysis, Theorem 3, the frequency (hiskv-14)",
        kind="theorem",
        mark="text",
        statement="f* is an unbiased estimate of f.",
        run=theorem_3,
        judge=_judge_unbiased,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-eq-7",
        paper="hiskv",
        label="Analysis, equation (7)",
        kind="equation",
        mark="derived",
        statement="Restored: the expected number of reports of a key is linear in the number of "
        "users who sampled it.",
        run=theorem_3,
        judge=_judge_equation_7,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-thm-3-mean",
        paper="hiskv",
        label="Analysis, Theorem 3, the mean (hiskv-15)",
        kind="theorem",
        mark="text",
        statement="μ* is an unbiased estimate of μ.",
        run=ratio,
        judge=_judge_mean,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-thm-4",
        paper="hiskv",
        label="Analysis, Theorem 4 (hiskv-17)",
        kind="theorem",
        mark="text",
        statement="The variance of f* has a closed form in p₁, q₁ and q₂ (the display is lost).",
        run=theorem_4,
        judge=_judge_theorem_4,
        page=PAGE,
        recorded=always(NOT_CHECKABLE),
    ),
    Claim(
        id="hiskv-thm-5",
        paper="hiskv",
        label="Analysis, Theorem 5, equation (12) (hiskv-18)",
        kind="theorem",
        mark="derived",
        statement="Restored: to first order, the variance of μ* is that of a ratio R/S of counts, "
        "equation (12).",
        run=ratio,
        judge=_judge_theorem_5,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-thm-6",
        paper="hiskv",
        label="Analysis, Theorem 6 (hiskv-19)",
        kind="theorem",
        mark="derived",
        statement="Restored: with probability at least 1 - η, |f* - f| is within a bound of the "
        "order of l √(d' ln(1/η))/(ε √n').",
        run=deviations,
        judge=_judge_theorem_6,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-thm-7",
        paper="hiskv",
        label="Analysis, Theorem 7 (hiskv-20)",
        kind="theorem",
        mark="derived",
        statement="Restored: with probability at least 1 - η, |μ* - μ| is within a bound of that "
        "order over f, given enough users.",
        run=deviations,
        judge=_judge_theorem_7,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-deviation-measured",
        paper="hiskv",
        label="Own check: Theorems 6 and 7, measured",
        kind="statement",
        mark="own",
        statement="On fixed users with a random second group, both restored bounds hold as often "
        "as they promise.",
        run=coverage,
        judge=_judge_coverage,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
    Claim(
        id="hiskv-larger-q1-frequency",
        paper="hiskv",
        label="Section on LRR_KV, a larger q₁ and the frequency (hiskv-7)",
        kind="statement",
        mark="text",
        statement="A pair that only loses its sign still counts for its key, so a larger q₁ helps "
        "the frequency.",
        run=tilt,
        judge=_judge_tilt_frequency,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-larger-q1-mean",
        paper="hiskv",
        label="Section on LRR_KV, a larger q₁ and the mean (hiskv-8)",
        kind="statement",
        mark="text",
        statement="A larger q₁ helps the estimate of the mean.",
        run=tilt,
        judge=_judge_tilt_mean,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-oetl-variance",
        paper="hiskv",
        label="Analysis, variance of OETL (hiskv-13)",
        kind="equation",
        mark="text",
        statement="OETL's counts have variance βn(e^ε + d - 2)/(e^ε - 1)².",
        run=length_counts,
        judge=_judge_length_counts,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-padding-length",
        paper="hiskv",
        label="Before Algorithm 4, too small and too large l (hiskv-41)",
        kind="statement",
        mark="text",
        statement="If l is too small, frequencies and means are underestimated; if it is too "
        "large, their errors grow.",
        run=padding_length,
        judge=_judge_padding,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-domain",
        paper="hiskv",
        label="Related work, domain size: GRR and RAPPOR (hiskv-44)",
        kind="statement",
        mark="text",
        statement="The errors of GRR, RAPPOR and their variants grow with the domain.",
        run=domain,
        judge=_judge_domain,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="hiskv-domain-indexed",
        paper="hiskv",
        label="Related work, domain size: KVOH and LDPKV (hiskv-44)",
        kind="statement",
        mark="text",
        statement="The errors of KVOH and LDPKV depend on the size of the domain.",
        run=domain,
        judge=_judge_indexed,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-harmony-range",
        paper="hiskv",
        label="Related work, Harmony's range (hiskv-44)",
        kind="statement",
        mark="text",
        statement="Harmony's values lie outside the interval [-1, 1] of the true ones.",
        run=domain,
        judge=_judge_harmony,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="hiskv-domain-pckv-grr",
        paper="hiskv",
        label="Related work, domain size: PCKV-GRR (hiskv-46)",
        kind="statement",
        mark="text",
        statement="The error of PCKV-GRR grows with the domain.",
        run=domain,
        judge=_judge_pckv_domain,
        page=PAGE,
        recorded=always(EXACT),
    ),
)
