"""The boundary of the sequential auditor, and how often a Brownian motion crosses it.

After k scored pairs an error rate has mean zero fluctuation S_k / k. The auditor compares it with
``q sd sqrt(log(20 + k/M) / k)``, M being the burn-in. With Gaussian increments the chance of a
false alarm is the chance that ``S_k / sqrt(k log(20 + k/M))`` exceeds q at some look k. Here it is
computed, not simulated:

* at a finite set of looks, by carrying the density of S_k, cut off at the boundary, from look to
  look (`crossing_probability`, accurate to about 1e-8);
* for Brownian motion watched all the time, by the integral equation of the second kind for its
  first-passage density (`continuous_crossing_probability`, accurate to about 1e-6).

Source: arXiv 2602.06518, proof of Theorem 3.1 (section A.1), Algorithms 4 and 5, Figure 3. The
integral equation is due to Buonocore, Nobile and Ricciardi (1987).
"""

from __future__ import annotations

import functools
import math

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from ldpkv import _check

Floats = NDArray[np.float64]

PUBLISHED_CRITICAL_VALUE = 1.57761
"""The q behind the published figures: a simulated quantile, standard error about 0.015."""

# Standard deviations after which a density is cut off; what is lost is below 1e-17.
_REACH = 8.6
# Grid points for one standard deviation of the increment between two looks.
_POINTS = 8
# Gregory's coefficients: end corrections of the trapezoidal rule by forward differences.
_GREGORY = (-1 / 2, 1 / 12, -1 / 24, 19 / 720, -3 / 160, 863 / 60480, -275 / 24192)

# Critical values of the paper's settings, so that nobody waits for them. Keys are the arguments of
# `critical_value` in order; a test computes the entries again.
_KNOWN: dict[tuple[float, int, int, int, bool], float] = {
    (0.025, 50, 10, 10050, False): 1.58082718,
    (0.025, 50, 10, 10050, True): 1.58863416,
    (0.025, 100, 10, 10100, False): 1.59838323,
    (0.025, 100, 10, 10100, True): 1.60302970,
    (0.05, 50, 10, 10050, False): 1.43590400,
    (0.05, 50, 10, 10050, True): 1.44379083,
    (0.05, 100, 10, 10100, False): 1.45086804,
    (0.05, 100, 10, 10100, True): 1.45559405,
}


def boundary(x: ArrayLike, constant: float = 0.5) -> NDArray[np.float64]:
    """Boundary ``g(x) = constant sqrt(x log(20 + x))``.

    Parameters
    ----------
    x : array_like of float
        Time, at least 0.
    constant : float, default 0.5
        1/2 gives the g that is plotted, ``sqrt((x / 4) log(20 + x))``.

    Returns
    -------
    ndarray of float64, same shape

    Notes
    -----
    Source: arXiv 2602.06518, Figure 3.
    """
    time = np.asarray(x, dtype=np.float64)
    return np.asarray(constant * np.sqrt(time * np.log(20 + time)))


def margin(k: ArrayLike, burn_in: int) -> NDArray[np.float64]:
    """Half-width ``b = sqrt(log(20 + k / M) / k)`` that multiplies q sd in Algorithm 4.

    Parameters
    ----------
    k : array_like of int
        Scored pairs, at least 1.
    burn_in : int
        M.

    Returns
    -------
    ndarray of float64, same shape
    """
    count = np.asarray(k, dtype=np.float64)
    return np.asarray(np.sqrt(np.log(20 + count / burn_in) / count))


def looks(
    burn_in: int, check_every: int, horizon: int, *, include_burn_in: bool
) -> NDArray[np.int64]:
    """Sample sizes at which the auditor looks.

    Parameters
    ----------
    burn_in, check_every : int
        M and M_2, at least 1.
    horizon : int
        Largest sample size.
    include_burn_in : bool
        Whether k = M is a look; the others are M + M_2, M + 2 M_2, ...

    Returns
    -------
    ndarray of int64
    """
    start = burn_in if include_burn_in else burn_in + check_every
    return np.arange(start, horizon + 1, check_every, dtype=np.int64)


def crossing_probability(
    constant: float,
    *,
    burn_in: int = 50,
    check_every: int = 10,
    horizon: int = 10_050,
    look_at_burn_in: bool = False,
) -> float:
    """Probability that a Gaussian random walk is above the boundary at some look.

    Parameters
    ----------
    constant : float
        q, above 0: the boundary is ``q sqrt(k log(20 + k / burn_in))`` for a walk whose
        increments have variance 1.
    burn_in, check_every, horizon : int
        M, the distance of the looks, the last possible look.
    look_at_burn_in : bool
        Whether k = M is a look.

    Returns
    -------
    float
        One-sided crossing probability, to about 1e-8.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.

    Notes
    -----
    Source: arXiv 2602.06518, Algorithm 5, whose Monte Carlo this replaces.
    """
    return float(
        crossing_path(
            constant,
            burn_in=burn_in,
            check_every=check_every,
            horizon=horizon,
            look_at_burn_in=look_at_burn_in,
        )[-1]
    )


def crossing_path(
    constant: float,
    *,
    burn_in: int = 50,
    check_every: int = 10,
    horizon: int = 10_050,
    look_at_burn_in: bool = False,
) -> NDArray[np.float64]:
    """Crossing probability up to each look; arguments as in `crossing_probability`.

    Returns
    -------
    ndarray of float64, shape (number of looks,)
        Rising; entry i belongs to ``looks(...)[i]``.
    """
    _check_schedule(burn_in, check_every, horizon)
    if not (math.isfinite(constant) and constant > 0):
        raise ValueError(f"constant must be a finite number above 0, got {constant!r}")
    times = looks(burn_in, check_every, horizon, include_burn_in=look_at_burn_in)
    if len(times) == 0:
        raise ValueError(f"horizon must reach the first look, got {horizon!r}")
    # Time in burn-ins keeps all numbers near 1.
    edges = constant * np.sqrt(times / burn_in * np.log(20 + times / burn_in))
    return np.asarray(1 - _survival(times / burn_in, edges, _end_weights(), _POINTS, _REACH))


def continuous_crossing_probability(
    constant: float, *, start: float = 1.0, stop: float = 1e12, nodes: int = 3000
) -> float:
    """Probability that Brownian motion crosses ``constant sqrt(x log(20 + x))``.

    Parameters
    ----------
    constant : float
        Above 0; for a motion of standard deviation sd, the plotted constant divided by sd.
    start, stop : float
        The motion is watched on [start, stop], 0 < start < stop. Beyond 1e12 nothing is left for
        constants above 1.
    nodes : int, default 3000
        Nodes of the integral equation.

    Returns
    -------
    float
        One-sided crossing probability, to about 1e-6.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    With ``psi(t | y, tau) = (g'(t) - (g(t) - y) / (t - tau)) p(g(t), t | y, tau) / 2`` the density
    h of the first passage solves ``h(t) = -2 psi(t | start) + 2 int h(tau) psi(t | g(tau), tau)
    d tau``. The kernel vanishes at tau = t. The value at `start` is normal; being already above
    the boundary counts as crossing.

    Source: arXiv 2602.06518, Figure 3 and section A.1; Buonocore, Nobile, Ricciardi (1987).
    """
    if not (math.isfinite(constant) and constant > 0):
        raise ValueError(f"constant must be a finite number above 0, got {constant!r}")
    if not 0 < start < stop < math.inf:
        raise ValueError(f"start and stop must satisfy 0 < start < stop, got {start!r}, {stop!r}")
    _check.integer("nodes", nodes, minimum=10)
    # Equal steps in the square root of log time: the density has an inverse square root at start.
    root = np.linspace(0, math.sqrt(math.log(stop / start)), nodes + 1)
    time = start * np.exp(root**2)
    edge = constant * np.sqrt(time * np.log(20 + time))
    slope = edge / 2 * (1 / time + 1 / ((20 + time) * np.log(20 + time)))
    above = float(special.ndtr(-edge[0] / math.sqrt(start)))
    flow = 2 * root * time  # d time / d root
    # Just after the start a walker at height y below the edge is carried over it as if the edge
    # were level: the flow through it tends to the density there times sqrt(2 start / pi).
    at_edge = math.exp(-(edge[0] ** 2) / (2 * start)) / math.sqrt(2 * math.pi * start)
    first = at_edge * math.sqrt(2 * start / math.pi)
    passage = _first_passage(time, edge, slope, flow, root[1] - root[0], first, start)
    return above + float(np.trapezoid(passage, root))


@functools.lru_cache(maxsize=256)
def critical_value(
    level: float,
    *,
    burn_in: int = 50,
    check_every: int = 10,
    horizon: int = 10_050,
    look_at_burn_in: bool = False,
) -> float:
    """Find the q whose boundary is crossed with probability `level` at the looks.

    Parameters
    ----------
    level : float
        One-sided level in (0, 1/2); APT with level gamma and two errors uses gamma / 2.
    burn_in, check_every, horizon, look_at_burn_in
        As in `crossing_probability`.

    Returns
    -------
    float
        To about 1e-7. Values are remembered, the usual ones are built in.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.

    Notes
    -----
    Source: arXiv 2602.06518, Algorithm 5.
    """
    _check_level(level)
    _check_schedule(burn_in, check_every, horizon)
    known = _KNOWN.get((level, burn_in, check_every, horizon, look_at_burn_in))
    if known is not None:
        return known
    return compute_critical_value(
        level,
        burn_in=burn_in,
        check_every=check_every,
        horizon=horizon,
        look_at_burn_in=look_at_burn_in,
    )


def compute_critical_value(
    level: float, *, burn_in: int, check_every: int, horizon: int, look_at_burn_in: bool
) -> float:
    """Solve for `critical_value` without looking into the table."""
    _check_level(level)

    def excess(constant: float) -> float:
        crossing = crossing_probability(
            constant,
            burn_in=burn_in,
            check_every=check_every,
            horizon=horizon,
            look_at_burn_in=look_at_burn_in,
        )
        # Nearly linear in the constant, so that few evaluations are needed.
        return float(special.ndtri(crossing) - special.ndtri(level))

    # One look at the first k needs the least constant, so it brackets the root from below.
    first = looks(burn_in, check_every, horizon, include_burn_in=look_at_burn_in)[0] / burn_in
    low = -float(special.ndtri(level)) / math.sqrt(math.log(20 + first)) * (1 - 1e-3)
    high = low + 0.5
    while excess(high) > 0:
        high += 0.5
    return float(optimize.brentq(excess, low, high, xtol=1e-8))


@functools.lru_cache(maxsize=64)
def continuous_critical_value(level: float) -> float:
    """Find the q whose boundary Brownian motion crosses on [1, inf) with chance `level`.

    Parameters
    ----------
    level : float
        One-sided level in (0, 1/2).

    Returns
    -------
    float
        To about 1e-5: the limit of `critical_value` for large burn-in, every k a look.

    Notes
    -----
    Source: arXiv 2602.06518, the variable L in section A.1.
    """
    _check_level(level)
    return float(
        optimize.brentq(
            lambda q: continuous_crossing_probability(q, nodes=2000) - level, 0.3, 6.0, xtol=1e-7
        )
    )


def _check_level(level: float) -> None:
    _check.probability("level", level)
    if not 0 < level < 0.5:
        raise ValueError(f"level must be one-sided and in (0, 1/2), got {level!r}")


def _check_schedule(burn_in: int, check_every: int, horizon: int) -> None:
    _check.integer("burn_in", burn_in, minimum=1)
    _check.integer("check_every", check_every, minimum=1)
    _check.integer("horizon", horizon, minimum=burn_in)


@functools.cache
def _end_weights() -> Floats:
    weights = np.zeros(len(_GREGORY))
    for order, coefficient in enumerate(_GREGORY):
        for i in range(order + 1):
            weights[i] += coefficient * (-1) ** (order - i) * math.comb(order, i)
    return weights


@numba.njit(cache=True)
def _first_passage(time, edge, slope, flow, step, first, start):  # type: ignore[no-untyped-def]
    """Density of the first passage in the square root of log time, by forward substitution."""
    n = len(time)
    density = np.zeros(n)
    density[0] = first
    for i in range(1, n):
        # -2 psi averaged over the normal start below the boundary: the start's density and the
        # transition multiply to p(edge, t) times a normal law with this mean and spread.
        t, g = time[i], edge[i]
        mean, spread = g * start / t, math.sqrt(start * (t - start) / t)
        cut = (edge[0] - mean) / spread
        inside = 0.5 * math.erfc(-cut / math.sqrt(2))
        tail = math.exp(-cut * cut / 2) / math.sqrt(2 * math.pi)
        below = inside * mean - spread * tail  # E[y; y < edge[0]]
        weight = math.exp(-g * g / (2 * t)) / math.sqrt(2 * math.pi * t)
        total = -weight * (slope[i] * inside - (g * inside - below) / (t - start))
        for j in range(i):
            gap = t - time[j]
            rise = g - edge[j]
            transition = math.exp(-rise * rise / (2 * gap)) / math.sqrt(2 * math.pi * gap)
            part = step / 2 if j == 0 else step
            total += density[j] * (slope[i] - rise / gap) * transition * part
        density[i] = total * flow[i]
    return density


@numba.njit(cache=True)
def _survival(times, edges, end_weights, points, reach):  # type: ignore[no-untyped-def]
    """Probability of never being above `edges` up to each of the equally spaced `times`."""
    survival = np.empty(len(times))
    gap = times[1] - times[0] if len(times) > 1 else times[0]
    step = math.sqrt(min(gap, times[0])) / points
    taps = int(reach * math.sqrt(gap) / step) + 2
    density = np.empty(int((edges[0] + reach * math.sqrt(times[0])) / step) + 9)
    for i in range(len(density)):
        z = (edges[0] - i * step) / math.sqrt(times[0])
        density[i] = math.exp(-z * z / 2) / math.sqrt(2 * math.pi * times[0])
    kernel = np.empty(2 * taps + 1)
    for look in range(len(times)):
        if look > 0:
            # Node i of look k lies at edges[k] - i step, so every boundary is a node and the
            # increment, shift - (i - j) step, depends on i - j only.
            shift = edges[look] - edges[look - 1]
            centre = round(shift / step)
            for m in range(2 * taps + 1):
                z = (shift - (m - taps + centre) * step) / math.sqrt(gap)
                kernel[m] = math.exp(-z * z / 2) / math.sqrt(2 * math.pi * gap) * step
            old = density
            for i in range(min(len(end_weights), len(old))):
                old[i] *= 1 + end_weights[i]
            density = np.zeros(int((edges[look] + reach * math.sqrt(times[look])) / step) + 9)
            for i in range(len(density)):
                total = 0.0
                for j in range(max(0, i - centre - taps), min(len(old), i - centre + taps + 1)):
                    total += old[j] * kernel[i - j - centre + taps]
                density[i] = total
        mass = 0.0
        for i in range(len(density)):
            mass += density[i] * (1 + end_weights[i] if i < len(end_weights) else 1.0)
        survival[look] = mass * step
    return survival
