"""Page 01: trade-off curves, their checks, and the two rules for the threshold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import optimize, special, stats

from ldpkv import allocation
from ldpkv.auditing import boundaries
from ldpkv.mechanisms import PCKVGRR
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    SHAPE_ONLY,
    WITHIN_ERROR,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)
from ldpkv.privacy import extreme_users, report_laws
from ldpkv.tradeoff import (
    ApproximateDP,
    DPSGDToy,
    GaussianDP,
    LaplaceDP,
    PiecewiseLinear,
    PureDP,
    TradeoffCurve,
    diagonal_crossing,
)

PAGE = "notebooks/audit/01-tradeoff-curves.ipynb"
# Probability that chance alone turns a verdict; shared by all comparisons behind it.
FALSE_ALARM = 1e-4
Floats = NDArray[np.float64]
Density = Callable[[Floats], Floats]


# --- closed forms ---------------------------------------------------------------------------


def _overlap(
    p: Density, q: Density, s: float, low: float, high: float, kinks: Sequence[float] = ()
) -> tuple[float, float]:
    """Integrate min(s p, q), and q - s p where that is positive, by Gauss-Legendre pieces.

    The first is ``min over tests of s alpha + beta``, by the lemma of Neyman and Pearson.
    """
    cuts = np.unique(np.concatenate([np.linspace(low, high, 1201), kinks]))

    def gap(z: float) -> float:
        at = np.array([z])
        return float((s * p(at) - q(at))[0])

    sign = np.sign(s * p(cuts) - q(cuts))
    turns = np.flatnonzero(sign[:-1] * sign[1:] < 0)
    roots = [optimize.brentq(gap, cuts[i], cuts[i + 1], xtol=1e-14) for i in turns]
    cuts = np.unique(np.concatenate([cuts, roots]))
    node, weight = np.polynomial.legendre.leggauss(12)
    half = np.diff(cuts) / 2
    z = (cuts[:-1] + half)[:, None] + half[:, None] * node
    both = s * p(z.ravel()), q(z.ravel())
    mass = (half[:, None] * weight).ravel()
    return float(mass @ np.minimum(*both)), float(mass @ np.maximum(both[1] - both[0], 0.0))


def _lowest(curve: TradeoffCurve, s: float) -> float:
    """Smallest ``s alpha + f(alpha)``, searched on the curve's values alone."""

    def line(z: float) -> float:
        alpha = float(special.ndtr(z))
        return s * alpha + float(curve(alpha))

    grid = np.linspace(-9, 9, 721)
    values = s * special.ndtr(grid) + np.asarray(curve(special.ndtr(grid)))
    best = int(np.argmin(values))
    around = (grid[max(best - 1, 0)], grid[min(best + 1, 720)])
    found = optimize.minimize_scalar(line, bounds=around, method="bounded")
    return min(float(values[best]), float(found.fun), float(curve(0.0)), s)


def _normal(mean: float, sd: float = 1.0) -> Density:
    return lambda z: np.exp(-(((z - mean) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))


def _laplace(mean: float) -> Density:
    return lambda z: np.exp(-np.abs(z - mean)) / 2


def closed_forms(profile: str = "quick") -> Result:
    """Compare T_Gauss and T_Lap with integrals of the two densities.

    A convex curve is determined by its supporting lines, ``c(s) = min s alpha + f(alpha)``. Here
    c(s) is computed from the printed curve, and again as the integral of min(s p, q).

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of slopes.

    Returns
    -------
    Result
        One row for each curve and slope.
    """
    count = {"quick": 13, "paper": 61}[check_profile(profile)]
    rows = []
    for mu in (0.1, 0.5, 0.8, 1.0, 3.0):
        pairs: list[tuple[str, TradeoffCurve, Density, Density, float]] = [
            ("Gaussian", GaussianDP(mu), _normal(0.0), _normal(mu), 12.0),
            ("Laplace", LaplaceDP(mu), _laplace(0.0), _laplace(mu), 40.0),
        ]
        for name, curve, p, q, reach in pairs:
            for s in np.exp(np.linspace(-4, 4, count)):
                value = _overlap(p, q, float(s), -reach, reach + mu, (0.0, mu))[0]
                rows.append((name, mu, float(s), _lowest(curve, float(s)), value))
    table = pd.DataFrame(rows, columns=["mechanism", "mu", "slope", "printed", "integral"])
    error = (table["printed"] - table["integral"]).abs()
    facts = {
        "cases": len(table),
        "gauss_error": float(error[table["mechanism"] == "Gaussian"].max()),
        "laplace_error": float(error[table["mechanism"] == "Laplace"].max()),
    }
    return Result(profile, table, facts)


def _last_iterate(curve: DPSGDToy) -> tuple[dict[Fraction, Fraction], float]:
    """Law of the last iterate, step by step: means with probabilities, and the variance."""
    rate, share = (
        Fraction(curve.rate).limit_denominator(10**6),
        Fraction(curve.batch, curve.records),
    )
    law, variance = {Fraction(0): Fraction(1)}, 0.0
    for _ in range(curve.tau):
        after: dict[Fraction, Fraction] = {}
        for mean, weight in law.items():
            for holds, chance in ((1, share), (0, 1 - share)):
                new = (1 - rate) * mean + rate * Fraction(holds, curve.batch)
                after[new] = after.get(new, Fraction(0)) + weight * chance
        law = {mean: weight for mean, weight in after.items() if weight}
        variance = (1 - curve.rate) ** 2 * variance + (curve.rate * curve.sigma) ** 2
    return law, variance


def dp_sgd_curve(profile: str = "quick") -> Result:
    """Compare the DP-SGD curve with the law of the last iterate, carried from step to step.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of slopes.

    Returns
    -------
    Result
        One row for each number of steps and slope.
    """
    count = {"quick": 7, "paper": 31}[check_profile(profile)]
    rows = []
    for tau in (1, 2, 5, 7, 10):
        curve = DPSGDToy(tau)
        law, variance = _last_iterate(curve)
        sd = math.sqrt(variance)
        means = np.array([float(mean) for mean in law]) / sd
        weights = np.array([float(weight) for weight in law.values()])

        def q(z: Floats, means: Floats = means, weights: Floats = weights) -> Floats:
            value = np.zeros_like(z)
            for mean, weight in zip(means, weights, strict=True):
                value += weight * _normal(mean)(z)
            return value

        for s in np.exp(np.linspace(-1, 3, count)):
            value = _overlap(_normal(0.0), q, float(s), -10.0, 10 + float(means.max()))[0]
            rows.append((tau, float(s), _lowest(curve, float(s)), value))
    table = pd.DataFrame(rows, columns=["tau", "slope", "printed", "integral"])
    error = (table["printed"] - table["integral"]).abs()
    facts = {"cases": len(table), "error": float(error.max())}
    return Result(profile, table, facts, "ρ = σ = 0.2, m = 5, r = 10")


def dp_sgd_literal(profile: str = "quick", seed: int = 2026) -> Result:
    """Run the toy DP-SGD record by record and count the errors of thresholds on its output.

    Parameters
    ----------
    profile : {"quick", "paper"}
        100,000 or 1,000,000 runs on each data set.
    seed : int, default 2026
        Seed of the runs.

    Returns
    -------
    Result
        One row a threshold: error alpha by the closed form, error beta by the closed form and as
        counted.
    """
    runs = {"quick": 100_000, "paper": 1_000_000}[check_profile(profile)]
    curve = DPSGDToy(10)
    finals = []
    for first, rng in zip((0.0, 1.0), np.random.default_rng(seed).spawn(2), strict=True):
        records = np.zeros(curve.records)
        records[0] = first
        parts = []
        for _ in range(runs // 50_000):
            theta = np.zeros(50_000)
            for _ in range(curve.tau):
                # The first m of a random order of the r records.
                order = np.argsort(rng.random((len(theta), curve.records)), axis=1)
                batch = records[order[:, : curve.batch]]
                noise = curve.sigma * rng.standard_normal(len(theta))
                theta = theta - curve.rate * ((theta[:, None] - batch).mean(axis=1) + noise)
            parts.append(theta)
        finals.append(np.concatenate(parts) / curve.sd)
    rows = []
    for alpha in (0.02, 0.1, 0.3, 0.5, 0.8):
        threshold = -float(special.ndtri(alpha))
        beta = float(curve(alpha))
        hits = int((finals[0] >= threshold).sum()), int((finals[1] < threshold).sum())
        for error, count, expected in (("alpha", hits[0], alpha), ("beta", hits[1], beta)):
            p_value = float(stats.binomtest(count, runs, expected).pvalue)
            rows.append((threshold, error, expected, count / runs, p_value))
    table = pd.DataFrame(rows, columns=["threshold", "error", "closed_form", "counted", "p_value"])
    gap = (table["closed_form"] - table["counted"]).abs()
    facts = {
        "cases": len(table),
        "least_p": float(table["p_value"].min()),
        "largest_gap": float(gap.max()),
        "runs": runs,
    }
    return Result(profile, table, facts, f"τ = 10, {runs:,} runs on each data set")


def curve_points(profile: str = "quick") -> Result:
    """Curves of the paper's three mechanisms and of the claims audited against them.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both draw the same.

    Returns
    -------
    Result
        One row a point.
    """
    check_profile(profile)
    alpha = np.unique(np.concatenate([np.linspace(0, 1, 101), np.linspace(0, 0.1, 41)]))
    groups: dict[str, dict[str, TradeoffCurve]] = {
        "Gaussian": {f"μ = {mu:g}": GaussianDP(mu) for mu in (0.5, 0.8, 1.0)},
        "Laplace": {f"μ = {mu:g}": LaplaceDP(mu) for mu in (0.5, 0.8, 1.0)},
        "DP-SGD": {f"τ = {tau}": DPSGDToy(tau) for tau in (5, 7, 10)},
    }
    rows = [
        (group, name, a, float(curve(a)))
        for group, curves in groups.items()
        for name, curve in curves.items()
        for a in alpha
    ]
    table = pd.DataFrame(rows, columns=["mechanism", "curve", "alpha", "beta"])
    return Result(profile, table, {}, "closed forms, no randomness")


def draw_curves(result: Result) -> Figure:
    """Draw the true curve and two claims for each mechanism."""
    figure, axes = plots.new_figure(3, height=3.0)
    for axis, (mechanism, part) in zip(
        axes, result.table.groupby("mechanism", sort=False), strict=True
    ):
        axis.plot([0, 1], [1, 0], color=plots.GREY, linewidth=0.8, linestyle=":")
        for position, (name, line) in enumerate(part.groupby("curve", sort=False)):
            look = {**plots.style(name, position), "marker": ""}
            axis.plot(line["alpha"], line["beta"], label=name, **look)
        axis.legend(frameon=False, fontsize="small", loc="upper right")
        axis.set(xlabel="α", ylabel="β", aspect="equal", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        axis.set_title(str(mechanism), fontsize="medium")
    return figure


# --- the lemma of Neyman and Pearson --------------------------------------------------------


def _laws(profile: str) -> list[tuple[list[Fraction], list[Fraction]]]:
    """Pairs of laws on five to nine outputs, ties and zeros included, from small integers."""
    size = {"quick": 6, "paper": 9}[check_profile(profile)]
    rng = np.random.default_rng(6)
    pairs = []
    for outputs in range(2, size + 1):
        for _ in range(8):
            first, second = (rng.integers(0, 5, outputs) for _ in range(2))
            if first.sum() and second.sum():
                pairs.append(
                    (
                        [Fraction(int(v), int(first.sum())) for v in first],
                        [Fraction(int(v), int(second.sum())) for v in second],
                    )
                )
    return pairs


def _ratio_test(
    p: Sequence[Fraction], q: Sequence[Fraction], eta: Fraction, mix: Fraction
) -> tuple[Fraction, Fraction]:
    """Errors of phi_(eta, lambda) of equation (6); mix is lambda, the chance of B = 1."""
    phi = [
        Fraction(1) if b > eta * a else mix if b == eta * a else Fraction(0)
        for a, b in zip(p, q, strict=True)
    ]
    alpha = sum((f * a for f, a in zip(phi, p, strict=True)), Fraction(0))
    power = sum((f * b for f, b in zip(phi, q, strict=True)), Fraction(0))
    return alpha, 1 - power


def neyman_pearson(profile: str = "quick") -> Result:
    """List every test of small pairs of laws, and every likelihood-ratio test, in fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Most outputs: 6 or 9.

    Returns
    -------
    Result
        One row a pair of laws: tests below T, tests off T among phi_(eta, lambda), and whether T
        is the lower hull of all tests.
    """
    rows = []
    for p, q in _laws(profile):
        curve = PiecewiseLinear.from_laws(p, q)
        below, points = 0, set()
        for subset in itertools.product((0, 1), repeat=len(p)):
            alpha = sum((a for a, f in zip(p, subset, strict=True) if f), Fraction(0))
            beta = 1 - sum((b for b, f in zip(q, subset, strict=True) if f), Fraction(0))
            below += beta < curve(alpha)
            points.add((alpha, beta))
        etas = sorted({b / a for a, b in zip(p, q, strict=True) if a})
        off = tests = unequal = 0
        for eta in [*etas, *(e + Fraction(1, 97) for e in etas)]:
            ends = [_ratio_test(p, q, eta, Fraction(k)) for k in (0, 1)]
            for mix in (Fraction(k, 4) for k in range(5)):
                alpha, beta = _ratio_test(p, q, eta, mix)
                off += beta != curve(alpha)
                tests += 1
                # A test that tosses a coin at a tie is the mixture of the two that do not.
                expected = tuple((1 - mix) * x + mix * y for x, y in zip(*ends, strict=True))
                unequal += (alpha, beta) != expected
        corners = all(point in points for point in curve.vertices)
        rows.append((len(p), 2 ** len(p), below, tests, off, unequal, corners))
    columns = ["outputs", "tests", "below", "ratio_tests", "off", "not_mixed", "corners_reached"]
    table = pd.DataFrame(rows, columns=columns)
    facts = {
        "pairs": len(table),
        "tests": int(table["tests"].sum()),
        "below": int(table["below"].sum()),
        "ratio_tests": int(table["ratio_tests"].sum()),
        "off": int(table["off"].sum()),
        "not_mixed": int(table["not_mixed"].sum()),
        "corners": bool(table["corners_reached"].all()),
    }
    return Result(profile, table, facts)


def role_of_lambda(profile: str = "quick") -> Result:
    """Find which alpha the tests phi_(eta, 0) reach, for the normal and the Laplace pair.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of claims and points that are tried for the value of randomising.

    Returns
    -------
    Result
        One row for each pair, with the alphas that no phi_(eta, 0) reaches. The facts say whether
        a randomised test is ever farther below a claim than both tests it mixes.
    """
    steps = {"quick": 21, "paper": 201}[check_profile(profile)]
    rows, gains, tried = [], [], 0
    for mu in (0.5, 1.0, 2.0):
        # log(q / p) = mu z - mu^2 / 2 has a density under P: alpha(eta) takes every value.
        etas = np.exp(mu * np.linspace(-8, 8, 4001) - mu**2 / 2)
        alphas = special.ndtr(-(np.log(etas) / mu + mu / 2))
        rows.append(("Gaussian", mu, 0.0, float(np.abs(np.diff(alphas)).max()), 0.0, 0.0))
        # q / p = e^mu on z >= mu and e^-mu on z <= 0.
        top, bottom = math.exp(-mu) / 2, 0.5
        rows.append(("Laplace", mu, top + bottom, math.nan, top, bottom))
        true = LaplaceDP(mu)
        for claim in (PureDP(mu / 2), GaussianDP(mu / 2), LaplaceDP(0.8 * mu), PureDP(0.9 * mu)):
            for low, high in ((0.0, top), (0.5, 1.0)):
                a = np.linspace(low, high, steps)
                b = np.asarray(true(a))
                vertical = np.asarray(claim(a)) - b
                diagonal = diagonal_crossing(claim, b - a) - a
                for distance in (vertical, diagonal):
                    gains.append(float(np.max(distance) - max(distance[0], distance[-1])))
                    tried += steps
    columns = ["mechanism", "mu", "not_reached", "largest_step", "atom_at_top", "atom_at_bottom"]
    table = pd.DataFrame(rows, columns=columns)
    facts = {
        "gauss_step": float(table["largest_step"].max()),
        "laplace_missing": float(table.loc[3, "not_reached"]),  # mu = 1
        "gain": max(gains),
        "tried": tried,
    }
    return Result(profile, table, facts)


# --- the side of the test -------------------------------------------------------------------


def orientation(profile: str = "quick") -> Result:
    """Errors of phi = 1{s >= eta} when phi = 1 means "decide Q", for both orders of the means.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both compute the same.

    Returns
    -------
    Result
        One row for each section and threshold.
    """
    check_profile(profile)
    rows = []
    for section, mean_p, mean_q in (("3.3 and 4.2", 0.0, 1.0), ("4.4", 1.0, 0.0)):
        for eta in np.linspace(-1.5, 2.5, 17):
            alpha = float(special.ndtr(mean_p - eta))  # E_P 1{s >= eta}
            beta = float(special.ndtr(eta - mean_q))  # 1 - E_Q 1{s >= eta}
            rows.append((section, mean_p, mean_q, float(eta), alpha, beta, alpha + beta))
    columns = ["section", "mean_p", "mean_q", "eta", "alpha", "beta", "sum"]
    table = pd.DataFrame(rows, columns=columns)
    usual, reversed_ = (part["sum"] for _, part in table.groupby("section"))
    middle = table[table["eta"] == 0.5]
    facts = {
        "decides_q": bool((usual < 1).all()),
        "useless": bool((reversed_ > 1).all()),
        "usual": float(middle["alpha"].iloc[0]),
        "reversed": float(middle["alpha"].iloc[1]),
    }
    return Result(profile, table, facts)


# --- rules (7) and (8) ----------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One audit of the paper: true errors of all thresholds, and the claim.

    Parameters
    ----------
    name : str
        Mechanism and what is claimed.
    alpha, beta : ndarray of float64, shape (k,)
        Errors of the likelihood-ratio tests by rising alpha.
    claim : TradeoffCurve
        What is audited.
    """

    name: str
    alpha: Floats
    beta: Floats
    claim: TradeoffCurve


def scale_leak(kind: str, epsilon: float, count: int = 4001) -> tuple[Floats, Floats, Floats]:
    """Errors of the likelihood-ratio tests of NonDPGaussian1 or NonDPLaplace1.

    P has location 0 and scale 2 / epsilon, Q has location 1/2 and scale 1 / epsilon. q / p > eta is
    an interval around 2/3 (normal) or 1/2 (Laplace).

    Parameters
    ----------
    kind : {"Gaussian", "Laplace"}
        The noise.
    epsilon : float
        Above 0.
    count : int, default 4001
        Number of tests.

    Returns
    -------
    alpha, beta, ratio : ndarray of float64, shape (count,)
        Errors by rising alpha and p / q at the edge of the interval.
    """
    e = epsilon
    if kind == "Gaussian":
        half = np.tan(np.linspace(0, math.pi / 2, count + 2)[1:-1]) / e
        low, high = 2 / 3 - half, 2 / 3 + half
        log_ratio = math.log(2) - ((high - 0.5) * e) ** 2 / 2 + (high * e / 2) ** 2 / 2
        law = stats.norm
    else:
        top = math.log(2) + e / 4
        level = top - np.tan(np.linspace(0, math.pi / 2, count + 2)[1:-1]) / 2
        high = 2 * (math.log(2) + e / 2 - level) / e
        corner = math.log(2) - e / 2  # the level at 0
        low = (level - corner) / np.where(level < corner, 0.5, 1.5) / e
        log_ratio = level
        law = stats.laplace
    alpha = law.cdf(high, 0, 2 / e) - law.cdf(low, 0, 2 / e)
    beta = law.cdf(low, 0.5, 1 / e) + law.sf(high, 0.5, 1 / e)
    with np.errstate(over="ignore"):
        return alpha, beta, np.exp(-log_ratio)


def rows_of_the_paper(count: int = 4001) -> list[Row]:
    """Give the ten violated claims of Table 1 and Figure 5."""
    alpha = special.ndtr(np.linspace(-4, 4, count))
    few = special.ndtr(np.linspace(-4, 4, max(201, count // 10)))
    rows = [
        Row(
            f"NonDPGaussian1, ε = {e:g}",
            *scale_leak("Gaussian", e, count)[:2],
            ApproximateDP(e, 1e-5),
        )
        for e in (0.01, 0.1)
    ]
    rows += [
        Row(f"NonDPLaplace1, ε = {e:g}", *scale_leak("Laplace", e, count)[:2], PureDP(e))
        for e in (0.01, 0.1)
    ]
    for mu in (0.5, 0.8):
        rows.append(
            Row(f"Gaussian, μ = {mu:g}", alpha, np.asarray(GaussianDP(1.0)(alpha)), GaussianDP(mu))
        )
    for mu in (0.5, 0.8):
        rows.append(
            Row(f"Laplace, μ = {mu:g}", alpha, np.asarray(LaplaceDP(1.0)(alpha)), LaplaceDP(mu))
        )
    for tau in (5, 7):
        rows.append(Row(f"DP-SGD, τ = {tau}", few, np.asarray(DPSGDToy(10)(few)), DPSGDToy(tau)))
    return rows


def square_side(claim: TradeoffCurve, alpha: Floats, beta: Floats) -> Floats:
    """Side of the largest square with lower left corner (alpha, beta) below the claim."""
    return np.asarray(diagonal_crossing(claim, beta - alpha) - alpha)


def fluid_samples(
    claim: TradeoffCurve, alpha: Any, beta: Any, burn_in: int = 50, *, doublings: int = 17
) -> NDArray[np.int64]:
    """First n at which APT's corner rule rejects when observed errors equal the true ones.

    Parameters
    ----------
    claim : TradeoffCurve
        The claim.
    alpha, beta : array_like of float, shape (k,)
        True errors.
    burn_in : int, default 50
        M.
    doublings : int, default 17
        The search ends at 2^17, which stands for more.

    Returns
    -------
    ndarray of int64, shape (k,)
    """
    a, b = np.atleast_1d(alpha), np.atleast_1d(beta)
    q = boundaries.critical_value(0.025)
    low, high = np.ones(len(a)), np.full(len(a), 2.0**doublings)
    for _ in range(doublings):
        n = np.floor((low + high) / 2)
        reach = q * boundaries.margin(n, burn_in)
        bounds = [
            np.minimum(p + reach * np.maximum(np.sqrt(p * (1 - p)), 0.5 / np.sqrt(n)), 1.0)
            for p in (a, b)
        ]
        rejects = np.asarray(claim(bounds[0])) > bounds[1]
        low, high = np.where(rejects, low, n), np.where(rejects, n, high)
    return high.astype(np.int64)


def rules(profile: str = "quick") -> Result:
    """Choose thresholds for the ten rows by rules (7) and (8), knowing P and Q.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of thresholds.

    Returns
    -------
    Result
        One row an audit: the side of the square that fits below the claim at both rules' points,
        fluid sample sizes of both, and the smallest over all thresholds.
    """
    count = {"quick": 2001, "paper": 20_001}[check_profile(profile)]
    records = []
    for row in rows_of_the_paper(count):
        side = np.nan_to_num(square_side(row.claim, row.alpha, row.beta), nan=-np.inf)
        vertical = np.asarray(row.claim(row.alpha)) - row.beta
        eight, seven = int(np.argmax(side)), int(np.argmax(vertical))
        n = fluid_samples(row.claim, row.alpha, row.beta)
        records.append(
            {
                "audit": row.name,
                "side_8": side[eight],
                "side_7": side[seven],
                "n_8": int(n[eight]),
                "n_7": int(n[seven]),
                "n_best": int(n.min()),
                "alpha_8": row.alpha[eight],
                "alpha_7": row.alpha[seven],
                "beta_8": row.beta[eight],
                "beta_7": row.beta[seven],
            }
        )
    table = pd.DataFrame(records)
    # Where the claim is a straight line the two rules agree up to the grid of thresholds.
    same = table["side_7"] >= table["side_8"] * (1 - 1e-3)
    excess = table["n_8"] / table["n_best"] - 1
    facts = {
        "rows": len(table),
        "square_larger": bool((table["side_8"] >= table["side_7"]).all()),
        "square_same": int(same.sum()),
        "n_more": int((table["n_8"] > table["n_7"]).sum()),
        "n_same": int((table["n_8"] == table["n_7"]).sum()),
        "n_fewer": int((table["n_8"] < table["n_7"]).sum()),
        "n_gain": float(1 - (table["n_8"] / table["n_7"]).min()),
        "excess_table_1": [float(v) for v in excess[:4]],
        "excess_others": float(excess[4:].max()),
    }
    return Result(profile, table, facts, f"errors known, q = 1.581, M = 50, {count:,} thresholds")


def rules_table(result: Result) -> pd.DataFrame:
    """Sample sizes of both rules for the page."""
    columns = {
        "audit": "audit",
        "side_8": "square, rule (8)",
        "side_7": "square, rule (7)",
        "n_8": "samples, rule (8)",
        "n_7": "samples, rule (7)",
        "n_best": "samples, best threshold",
    }
    return result.table[list(columns)].rename(columns=columns)


def figure_4(profile: str = "quick") -> Result:
    """Points that both rules choose for DP-SGD with 10 steps when 5 are claimed.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of thresholds.

    Returns
    -------
    Result
        Points of both curves; the facts hold the chosen points and squares.
    """
    count = {"quick": 2001, "paper": 20_001}[check_profile(profile)]
    alpha = special.ndtr(np.linspace(-4, 4, count))
    true, claim = DPSGDToy(10), DPSGDToy(5)
    beta, allowed = np.asarray(true(alpha)), np.asarray(claim(alpha))
    side = np.nan_to_num(square_side(claim, alpha, beta), nan=-np.inf)
    eight, seven = int(np.argmax(side)), int(np.argmax(allowed - beta))
    largest = float(side[eight])
    corner = alpha[seven] + largest, beta[seven] + largest
    grid = np.linspace(0, 1, 101)
    table = pd.DataFrame({"alpha": grid, "claimed": claim(grid), "true": true(grid)})
    facts = {
        "point_8": (float(alpha[eight]), float(beta[eight])),
        "point_7": (float(alpha[seven]), float(beta[seven])),
        "side": largest,
        "side_7": float(side[seven]),
        "vertical_gap": float(allowed[seven] - beta[seven]),
        # How far the corner of the same square, moved to rule (7)'s point, is above f.
        "pokes_out": float(corner[1] - claim(float(corner[0]))),
        "others_fit": bool((side <= largest).all()),
    }
    return Result(profile, table, facts, "DP-SGD, true τ = 10, claimed τ = 5; errors known")


def draw_figure_4(result: Result) -> Figure:
    """Draw both curves, both chosen points and the square of rule (8) at each."""
    figure, axes = plots.new_figure(2, height=3.9)
    facts, table = result.facts, result.table
    for axis in axes:
        axis.plot(table["alpha"], table["claimed"], color=plots.BLUE, linewidth=1.5)
        axis.plot(table["alpha"], table["true"], color=plots.VERMILION, linewidth=1.5, ls="--")
        for rule, color in ((7, plots.GREEN), (8, plots.ORANGE)):
            a, b = facts[f"point_{rule}"]
            side = facts["side"]
            edge = ([a, a + side, a + side, a, a], [b, b, b + side, b + side, b])
            axis.plot(*edge, color=color, linewidth=1.0)
            end = (a + side, b + side) if rule == 8 else (a, b + facts["vertical_gap"])
            axis.plot([a, end[0]], [b, end[1]], color=color, linewidth=2.2, marker="")
            axis.plot([a], [b], color=color, marker="o", markersize=4)
        axis.set(xlabel="α", ylabel="β")
    axes[0].set(xlim=(0, 1), ylim=(0, 1))
    axes[0].text(0.36, 0.36, "claimed f (τ = 5)", color=plots.BLUE, fontsize="small")
    axes[0].text(0.03, 0.06, "true T (τ = 10)", color=plots.VERMILION, fontsize="small")
    (a7, b7), (a8, b8) = facts["point_7"], facts["point_8"]
    left, right = min(a7, a8) - 0.08, max(a7, a8) + facts["side"] + 0.09
    low, high = min(b7, b8) - 0.06, max(b7, b8) + facts["side"] + 0.06
    axes[1].set(xlim=(left, right), ylim=(low, high))
    for name, point, color in (
        ("rule (7)", (a7, b7), plots.GREEN),
        ("rule (8)", (a8, b8), plots.ORANGE),
    ):
        axes[1].annotate(
            name,
            point,
            (-7, -9),
            textcoords="offset points",
            color=color,
            fontsize="small",
            ha="right",
        )
    return figure


def unsigned(profile: str = "quick") -> Result:
    """Apply rule (8) with and without a sign to the two mechanisms of Table 1 as epsilon grows.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of budgets.

    Returns
    -------
    Result
        One row for each mechanism and epsilon: the distance below f at the point chosen with a
        sign and without one; a negative one is above f.
    """
    count = {"quick": 37, "paper": 181}[check_profile(profile)]
    rows = []
    for kind, delta in (("Gaussian", 1e-5), ("Laplace", 0.0)):
        for epsilon in np.linspace(0.1, 1.9, count):
            alpha, beta, ratio = scale_leak(kind, float(epsilon))
            claim: TradeoffCurve = ApproximateDP(float(epsilon), delta)
            usable = (ratio <= 15) & (alpha > 0)  # the paper's grid of thresholds ends at 15
            side = square_side(claim, alpha, beta)
            usable &= ~np.isnan(side)
            with_sign = int(np.argmax(np.where(usable, side, -np.inf)))
            without = int(np.argmax(np.where(usable, np.abs(side), -np.inf)))
            best = fluid_samples(claim, alpha[[with_sign]], beta[[with_sign]])[0]
            rows.append((kind, epsilon, side[with_sign], side[without], int(best)))
    columns = ["mechanism", "epsilon", "signed", "unsigned", "samples_signed"]
    table = pd.DataFrame(rows, columns=columns)
    violated = table["signed"] > 0
    lost = violated & (table["unsigned"] < 0)
    first = table[lost].groupby("mechanism")["epsilon"].min()
    at_one = table[np.isclose(table["epsilon"], 1.0)].set_index("mechanism")
    facts = {
        "violated": int(violated.sum()),
        "lost": int(lost.sum()),
        "first": {str(k): float(v) for k, v in first.items()},
        "at_one": {
            str(k): (float(r["signed"]), float(r["unsigned"]), int(r["samples_signed"]))
            for k, r in at_one.iterrows()
        },
    }
    return Result(profile, table, facts, "NonDPGaussian1 and NonDPLaplace1; errors known")


def draw_unsigned(result: Result) -> Figure:
    """Draw the signed distance at the points chosen with and without a sign."""
    figure, axes = plots.new_figure(2)
    for axis, (kind, part) in zip(axes, result.table.groupby("mechanism", sort=False), strict=True):
        axis.axhline(0, color=plots.BLACK, linewidth=0.8)
        for position, (column, label) in enumerate(
            (("signed", "with a sign"), ("unsigned", "without a sign"))
        ):
            look = {**plots.style(label, position), "marker": ""}
            axis.plot(part["epsilon"], part[column], label=label, **look)
        axis.set(xlabel="ε, of mechanism and claim", ylabel="distance below f")
        axis.set_title(f"NonDP{kind}1", fontsize="medium")
        axis.legend(frameon=False, fontsize="small")
    return figure


# --- conversions, supporting lines, finite mechanisms ---------------------------------------


def conversions(profile: str = "quick") -> Result:
    """Turn mu into (epsilon, delta) and back; compare delta with an integral of the densities.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of budgets.

    Returns
    -------
    Result
        One row for each mu and epsilon: delta by the closed form and by quadrature, and both
        round trips.
    """
    budgets = {"quick": (0.0, 0.1, 1.0, 3.0, 6.0), "paper": (*np.arange(0, 8.1, 0.25),)}
    rows = []
    for mu in (0.1, 0.5, 1.0, 1.4, 3.0):
        curve = GaussianDP(mu)
        for epsilon in budgets[check_profile(profile)]:
            delta = (
                curve.delta_at(float(epsilon)) if curve.log_delta_at(float(epsilon)) > -60 else 0
            )
            if not delta:
                continue
            turn = epsilon / mu + mu / 2  # q = e^epsilon p here
            integral = _overlap(
                _normal(0.0), _normal(mu), math.exp(epsilon), min(turn, -10.0), turn + 14
            )[1]
            back_mu = GaussianDP.from_approximate(float(epsilon), delta).mu
            rows.append((mu, epsilon, delta, integral, curve.epsilon_at(delta), back_mu))
    columns = ["mu", "epsilon", "delta", "integral", "epsilon_back", "mu_back"]
    table = pd.DataFrame(rows, columns=columns)
    facts = {
        "cases": len(table),
        "delta_error": float((table["delta"] / table["integral"] - 1).abs().max()),
        "epsilon_error": float((table["epsilon"] - table["epsilon_back"]).abs().max()),
        "mu_error": float((table["mu"] / table["mu_back"] - 1).abs().max()),
        "least_delta": float(table["delta"].min()),
        "example": GaussianDP(1.0).delta_at(1.0),
    }
    return Result(profile, table, facts)


def support_lines(profile: str = "quick") -> Result:
    """Compare c(s) of every curve with the lowest point found on the curve itself.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of slopes.

    Returns
    -------
    Result
        One row for each curve: largest amounts by which c(s) is too large and too small.
    """
    slopes = np.exp(np.linspace(-4, 4, {"quick": 17, "paper": 161}[check_profile(profile)]))
    law = [Fraction(k, 10) for k in (4, 3, 2, 1)]
    curves: list[TradeoffCurve] = [
        *(GaussianDP(mu) for mu in (0.1, 1.0, 3.0)),
        *(LaplaceDP(mu) for mu in (0.1, 1.0, 3.0)),
        PureDP(1.0),
        ApproximateDP(1.0, 1e-5),
        DPSGDToy(5),
        PiecewiseLinear.from_laws(law, law[::-1]),
    ]
    rows = []
    for curve in curves:
        gaps = []
        for s in slopes:
            lowest = _lowest(curve, float(s))
            for a, b in curve.vertices or ():
                lowest = min(lowest, float(s) * float(a) + float(b))
            gaps.append(lowest - float(curve.support(float(s))))
        rows.append((repr(curve)[:40], curve.support_kind, max(0.0, -min(gaps)), max(gaps)))
    table = pd.DataFrame(rows, columns=["curve", "kind", "too_large", "too_small"])
    facts = {
        "curves": len(table),
        "slopes": len(slopes),
        "too_large": float(table["too_large"].max()),
        "too_small": float(table["too_small"].max()),
    }
    return Result(profile, table, facts)


def finite_mechanism(profile: str = "quick") -> Result:
    """Exact curves of PCKV-GRR between any two users, against pure epsilon, in fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        One or two numbers of keys.

    Returns
    -------
    Result
        One row a corner of three curves. The facts count pairs of users below pure epsilon, which
        there must not be, and pairs that touch its steep piece.
    """
    exp_epsilon, padding = Fraction(3), 1
    claim = PiecewiseLinear(
        ((Fraction(0), Fraction(1)), (1 / (exp_epsilon + 1),) * 2, (Fraction(1), Fraction(0)))
    )
    pairs = below = touching = 0
    least = Fraction(1)
    for n_keys in {"quick": (2,), "paper": (2, 3)}[check_profile(profile)]:
        mechanism = _grr(exp_epsilon, n_keys, padding)
        users = list(extreme_users(n_keys, empty=True))
        weights, total = report_laws(mechanism, users)
        laws = [[Fraction(int(w), int(total)) for w in row] for row in weights]
        for i, j in itertools.permutations(range(len(users)), 2):
            curve = PiecewiseLinear.from_laws(laws[i], laws[j])
            pairs += 1
            # The curve is convex, so it is above the claim's two lines iff its corners are.
            below += any(b < claim(a) for a, b in curve.vertices)
            (a0, b0), (a1, b1) = curve.vertices[:2]
            touching += (b0 - b1) / (a1 - a0) == exp_epsilon
            least = min(least, curve(Fraction(1, 4)))
    rows = []
    mechanism = _grr(exp_epsilon, 2, padding)
    shown = {
        "one key, opposite values": ({0: 1}, {0: -1}),
        "two keys, opposite values": ({0: 1, 1: 1}, {0: -1, 1: -1}),
        "one pair or none": ({0: 1}, {}),
    }
    for name, users_shown in shown.items():
        weights, total = report_laws(mechanism, users_shown)
        curve = PiecewiseLinear.from_laws(
            *([Fraction(int(w), int(total)) for w in row] for row in weights)
        )
        rows += [(name, float(a), float(b)) for a, b in curve.vertices]
    rows += [("claimed: pure ε = ln 3", float(a), float(b)) for a, b in claim.points]
    table = pd.DataFrame(rows, columns=["pair", "alpha", "beta"])
    facts = {
        "pairs": pairs,
        "below": below,
        "touching": touching,
        "at_corner": least,
        "corner": Fraction(1, 4),
    }
    return Result(profile, table, facts, "PCKV-GRR, e^ε = 3, d = 2, l = 1; exact fractions")


def _grr(exp_epsilon: Fraction, n_keys: int, padding: int) -> PCKVGRR:
    budgets = allocation.optimised(exp_epsilon, padding)
    return PCKVGRR.from_exp_budgets(*budgets, n_keys=n_keys, padding=padding)


def draw_finite_mechanism(result: Result) -> Figure:
    """Draw the exact curves of three pairs of users above the claim."""
    figure, axis = plots.new_figure(height=4.0)
    for position, (name, part) in enumerate(result.table.groupby("pair", sort=False)):
        look = plots.style(str(name), position)
        if str(name).startswith("claimed"):
            look |= {"color": plots.BLACK, "marker": "", "linestyle": "-", "linewidth": 1.0}
        axis.plot(part["alpha"], part["beta"], label=name, **look)
    axis.plot([0, 1], [1, 0], color=plots.GREY, linewidth=0.8, linestyle=":")
    axis.legend(frameon=False, fontsize="small")
    axis.set(xlabel="α", ylabel="β", aspect="equal")
    return figure


# --- judges ---------------------------------------------------------------------------------

PRECISION = 1e-9


def _size(error: float) -> str:
    """A rounding error, in words that do not depend on the machine."""
    return f"below {PRECISION:g}" if error < PRECISION else num(error, 1)


def _judge_closed_forms(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        max(facts["gauss_error"], facts["laplace_error"]) < PRECISION,
        f"largest difference {_size(facts['gauss_error'])} (Gaussian) and "
        f"{_size(facts['laplace_error'])} (Laplace) over {facts['cases']} supporting lines",
        "the same supporting lines from the formula and from the densities",
        "Both curves are convex, so their supporting lines determine them.",
    )


def _judge_dp_sgd(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["error"] < PRECISION,
        f"largest difference {_size(facts['error'])} over {facts['cases']} supporting lines",
        "the same supporting lines from the formula and from the law of the last iterate",
        "The formula was read in the authors' draft and is lost in the surviving text. The law was "
        "carried from step to step, means in fractions.",
    )


def _judge_literal(result: Result) -> Evidence:
    facts = result.facts
    critical = FALSE_ALARM / facts["cases"]
    return Evidence(
        WITHIN_ERROR if facts["least_p"] >= critical else DIFFERS,
        f"largest gap {num(facts['largest_gap'], 2)}, smallest p-value {num(facts['least_p'], 2)}",
        "errors of five thresholds as the closed form says",
        tolerance=f"exact binomial tests, p ≥ {critical:g} each",
        false_alarm=FALSE_ALARM,
    )


def _judge_neyman_pearson(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["below"] == 0 and facts["off"] == 0 and facts["corners"],
        f"{facts['below']} of {facts['tests']:,} tests below T; {facts['off']} of "
        f"{facts['ratio_tests']:,} likelihood-ratio tests off T",
        "none, none",
        f"All subsets of outputs for {facts['pairs']} pairs of laws in fractions, ties and zeros "
        "included; every corner of T is reached by a subset.",
    )


def _judge_lambda(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["gauss_step"] < 0.01,
        "for normal laws φ with λ = 0 reaches every α: q/p has no atom",
        "λ is irrelevant in the Gaussian case",
        f"Not so for Laplace noise: at μ = 1 a share {num(facts['laplace_missing'])} of all α "
        "is reached only with λ > 0.",
    )


def _judge_ties(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["gain"] <= 1e-7,
        f"{'no' if facts['gain'] <= 1e-7 else 'a'} gain in {facts['tried']:,} tests",
        "no randomised test is farther below a claim than both tests it mixes",
        "A proof is on the page. The diagonal distance is interpolated to about 1e-6.",
    )


def _judge_orientation(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        not (facts["decides_q"] and facts["useless"]),
        f"α = {num(facts['usual'])} at η = 1/2 if 1 means Q and Q has the larger mean; "
        f"{num(facts['reversed'])} if P has it, where α + β > 1 for every η",
        "decide P if s ≥ η, with φ = 1",
        "Equation (6) decides Q where q/p is large, so φ = 1 means Q. Section 3.3 reads its 1 as "
        "P; in section 4.4 P has the larger scores, and 1{z ≥ η} as printed can never be below a "
        "claim. Smallest example: N(1, 1) against N(0, 1), η = 1/2: errors (0.69, 0.69). Turn the "
        "inequality, or swap P and Q.",
    )


def _judge_square(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["others_fit"] and facts["side"] > facts["side_7"] and facts["pokes_out"] > 0,
        f"side {num(facts['side'])} at rule (8)'s point, {num(facts['side_7'])} at rule (7)'s; "
        f"there the same square is {num(facts['pokes_out'])} above f",
        "rule (8) has the largest square below f; moved to rule (7)'s point it crosses f",
        "With a signed distance. The region tested is a rectangle with sides q σ(α) b and q σ(β) "
        "b, σ(x) = √(x(1 - x)): a square only where α = β or α + β = 1.",
    )


def _judge_rules(result: Result) -> Evidence:
    facts = result.facts
    low, high = min(facts["excess_table_1"]), max(facts["excess_table_1"])
    holds = facts["n_more"] == 0 and facts["n_fewer"] > 0
    return Evidence(
        DIFFERS if not holds else SHAPE_ONLY if facts["n_same"] else EXACT,
        f"fewer samples in {facts['n_fewer']}, as many in {facts['n_same']}, more in "
        f"{facts['n_more']} of {facts['rows']} audits",
        "rule (8) needs fewer than rule (7)",
        note=f"At most {num(100 * facts['n_gain'], 2)} % fewer (DP-SGD, τ = 7). On the rows of "
        "Table 1 both rules choose the same point, and the best threshold needs fewer: rule (8) is "
        f"{num(100 * low, 2)} to {num(100 * high, 2)} % above it, since the tested region is no "
        "square. Sample sizes are those at which observed errors equal to the true ones reject.",
    )


def _judge_unsigned(result: Result) -> Evidence:
    facts = result.facts
    if not facts["lost"]:
        return exact_if(True, "a point below f in every case", "a point below f where there is one")
    signed, unsigned_, samples = facts["at_one"]["Gaussian"]
    return exact_if(
        False,
        f"above f in {facts['lost']} of {facts['violated']} violated claims",
        "a point below f wherever there is one",
        f"NonDPGaussian1 from ε = {num(facts['first']['Gaussian'], 2)}, NonDPLaplace1 from "
        f"{num(facts['first']['Laplace'], 2)}. Example: NonDPGaussian1 at ε = 1: a point "
        f"{num(signed, 2)} below f exists (about {samples} samples), but one {num(-unsigned_, 2)} "
        "above f is farther away. A signed distance cures it. The formula of rule (8) was read in "
        "the authors' draft; the words of section 3.4, a square under f, mean the signed one.",
    )


def _judge_conversions(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["delta_error"] < 1e-8 and facts["epsilon_error"] < 1e-8 and facts["mu_error"] < 1e-8,
        f"relative error of δ {_size(facts['delta_error'])}, of ε and μ after a round trip "
        f"{_size(max(facts['epsilon_error'], facts['mu_error']))}, {facts['cases']} cases",
        "below 1e-8",
        f"δ down to {num(facts['least_delta'], 1)}. Checked against dp-accounting too, in "
        "tests/test_tradeoff.py.",
    )


def _judge_support(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["too_large"] <= 1e-14 and facts["too_small"] < PRECISION,
        f"too large in {'no' if facts['too_large'] <= 1e-14 else 'some'} case, too small by "
        f"{_size(facts['too_small'])}: {facts['curves']} curves, {facts['slopes']} slopes",
        "never above the curve's lowest point, and close below it",
        "An auditor that uses c(s) rejects a true claim if it is overstated, never if understated.",
    )


def _judge_finite(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["below"] == 0 and facts["touching"] > 0,
        f"{facts['below']} of {facts['pairs']} ordered pairs of users below the pure-ε curve, "
        f"{facts['touching']} touch it",
        "none below; the guarantee is tight, so some touch",
        f"None reaches its corner: at α = {facts['corner']} the lowest curve is at "
        f"{facts['at_corner']}, the claim at 1/4. As f-DP the mechanism is far better than its ε."
        if facts["at_corner"] > facts["corner"]
        else "A pair reaches the corner of the claim as well: its curve is the claim.",
    )


CLAIMS = (
    Claim(
        id="audit-closed-forms",
        paper="audit",
        label="T_Gauss and T_Lap (audit-43)",
        kind="equation",
        mark="text",
        statement="T_Gauss and T_Lap, as printed in section 4, are the trade-off functions of "
        "Gaussian and Laplace noise.",
        run=closed_forms,
        judge=_judge_closed_forms,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="audit-dp-sgd-curve",
        paper="audit",
        label="Closed form for DP-SGD (audit-33)",
        kind="equation",
        mark="found",
        statement="The toy DP-SGD has the trade-off function 2^-τ Σ Φ(Φ^-1(1 - α) - μ/s), a sum "
        "over the sets of steps whose batch holds the record.",
        run=dp_sgd_curve,
        judge=_judge_dp_sgd,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="audit-dp-sgd-literal",
        paper="audit",
        label="DP-SGD, run record by record (audit-33, measured)",
        kind="statement",
        mark="own",
        statement="Thresholds on the output of literal runs have the errors of the closed form.",
        run=dp_sgd_literal,
        judge=_judge_literal,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
    Claim(
        id="audit-neyman-pearson",
        paper="audit",
        label="Equation (6), optimal tests (audit-38)",
        kind="equation",
        mark="text",
        statement="The errors of every test lie on or above T, and those of every test of the form "
        "(6) lie on T.",
        run=neyman_pearson,
        judge=_judge_neyman_pearson,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="audit-lambda",
        paper="audit",
        label="Role of λ (audit-39)",
        kind="statement",
        mark="text",
        statement="In the Gaussian case the choice of λ in (6) is irrelevant.",
        run=role_of_lambda,
        judge=_judge_lambda,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="audit-ties",
        paper="audit",
        label="λ = 0 suffices (audit-39, own)",
        kind="statement",
        mark="own",
        statement="For every claim, a test that tosses a coin where q/p = η is never farther below "
        "f than the better of the two tests it mixes, by rule (7) and by rule (8).",
        run=role_of_lambda,
        judge=_judge_ties,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="audit-side",
        paper="audit",
        label="Side of the threshold tests (audit-42)",
        kind="equation",
        mark="text",
        statement="With φ = 1{s ≥ η} the auditor decides P if s ≥ η and Q otherwise (section 3.3); "
        "section 4.4 uses the same test where P has the larger scores.",
        run=orientation,
        judge=_judge_orientation,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="audit-fig-4",
        paper="audit",
        label="Figure 4, the square (audit-44)",
        kind="figure",
        mark="text",
        statement="Rule (8) maximizes the size of the square that fits below f; at the point of "
        "rule (7) the same square crosses f.",
        run=figure_4,
        judge=_judge_square,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="audit-rule-8",
        paper="audit",
        label="Rule (8) against rule (7) (audit-9)",
        kind="statement",
        mark="text",
        statement="Rule (8) detects violations with more power than rule (7).",
        run=rules,
        judge=_judge_rules,
        page=PAGE,
        recorded=always(SHAPE_ONLY),
    ),
    Claim(
        id="audit-unsigned",
        paper="audit",
        label="Rule (8) without a sign (audit-9, formula)",
        kind="equation",
        mark="found",
        statement="The point at the largest Euclidean distance from f along the diagonal is one "
        "that shows the violation.",
        run=unsigned,
        judge=_judge_unsigned,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="audit-conversions",
        paper="audit",
        label="μ-GDP and (ε, δ) (own)",
        kind="statement",
        mark="own",
        statement="The library turns μ into (ε, δ) and back without losing digits.",
        run=conversions,
        judge=_judge_conversions,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="audit-support",
        paper="audit",
        label="Supporting lines (own)",
        kind="statement",
        mark="own",
        statement="The library's c(s) is never above the smallest value of s α + f(α), and equal "
        "to it up to rounding.",
        run=support_lines,
        judge=_judge_support,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="audit-finite",
        paper="audit",
        label="PCKV-GRR as a trade-off curve (own)",
        kind="statement",
        mark="own",
        statement="The exact curve of PCKV-GRR between any two users is nowhere below that of pure "
        "ε, and reaches its steep piece.",
        run=finite_mechanism,
        judge=_judge_finite,
        page=PAGE,
        recorded=always(EXACT),
    ),
)
