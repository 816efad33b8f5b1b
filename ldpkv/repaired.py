"""HISKV repaired: the best symbol channel for a stated weight, and a length estimate that holds.

Three pieces, each usable alone:

* `optimal_symbol`: among all symbol channels (p_1, q_1, q_2) that spend a true epsilon behind
  padding and sampling, the one that minimises w Var(f*) / f^2 + Var(mu*). It is proved there that
  two one-dimensional convex problems hold the minimum, and when the first alone does.
* `LengthHistogram`: the lengths in a few classes that double, instead of one class for each length.
* `RepairedHISKV`: both, in HISKV's frame: a small group of users sends length classes, the rest
  one pair each.

Everything here is **derived** in this project; nothing of it stands in the paper. Letters are those
of `ldpkv.hiskv`: d = `n_keys`, l = `padding`, E = `exp_epsilon`, E_l = 1 + l (E - 1), D = 2 (d + l)
cells, u = p_1 / q_2 = `keep`, c = q_1 / q_2 = `tilt`, f and m the true frequency and mean of a key.
On top of them sigma = u + c - 2, r = u - c and x = f / l.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from ldpkv import _check, channels
from ldpkv.allocation import amplified
from ldpkv.baselines import GRR, ROADS
from ldpkv.channels import Channel
from ldpkv.data import KeyValueData
from ldpkv.estimation import CORRECTIONS, Counts
from ldpkv.hiskv import LRRKV, Collected, Composition
from ldpkv.mechanisms import User
from ldpkv.sampling import Draws, Symbols, pad_and_sample
from ldpkv.theory import Number

# --- the optimal symbol channel ------------------------------------------------------------------


def _exact(number: Any) -> Any:
    return Fraction(number) if isinstance(number, Rational) else number


def _ratio(top: Any, bottom: Any) -> Any:
    both = isinstance(top, Rational) and isinstance(bottom, Rational)
    return Fraction(top) / Fraction(bottom) if both else top / bottom


def _at_least(name: str, value: Any, least: float, *, infinite: bool = False) -> None:
    kind = "number" if infinite else "finite number"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a {kind} of at least {least:g}, got {value!r}")
    if not value >= least or (value == math.inf and not infinite):  # type: ignore[operator]
        raise ValueError(f"{name} must be a {kind} of at least {least:g}, got {value!r}")


class Problem(NamedTuple):
    """What the best symbol channel depends on, besides the weight.

    Parameters
    ----------
    exp_epsilon : Fraction or float
        E above 1, for whole sets behind padding and sampling, the place in the list not sent.
    n_keys, padding : int
        d and l. With d = 1 the empty set must be a user.
    frequency : Fraction or float, default 0
        f in [0, 1]; 0 is the limit of a rare key.
    mean_square : Fraction or float, default 0
        m^2 in [0, 1].
    """

    exp_epsilon: Any
    n_keys: int
    padding: Any
    frequency: Any = 0
    mean_square: Any = 0

    def checked(self) -> Problem:
        """Return the problem, or say which of its numbers is out of range.

        Returns
        -------
        Problem
            Itself.

        Raises
        ------
        ValueError, TypeError
            Naming the argument, its value and what is allowed.
        """
        _check.exp_budget("exp_epsilon", self.exp_epsilon)
        if not self.exp_epsilon > 1:
            raise ValueError(f"exp_epsilon must be above 1, got {self.exp_epsilon!r}")
        _check.integer("n_keys", self.n_keys, minimum=1)
        _check.integer("padding", self.padding, minimum=1)
        _check.probability("frequency", self.frequency)
        _check.probability("mean_square", self.mean_square)
        return self

    @property
    def cells(self) -> int:
        """Number of cells D = 2 (d + l)."""
        return 2 * (self.n_keys + self.padding)

    @property
    def rate(self) -> Any:
        """Chance x = f / l that a user samples the key."""
        return _ratio(self.frequency, self.padding)

    @property
    def reach(self) -> Any:
        """sigma_1 = l (E - 1): sigma and r of PCKV-GRR's optimum."""
        return self.padding * (self.exp_epsilon - 1)

    @property
    def shyness(self) -> Any:
        """How far below the other cells an own cell may lie: y = min(1, sigma_1 / E)."""
        return min(1 + 0 * self.exp_epsilon, _ratio(self.reach, self.exp_epsilon))

    @property
    def own_is_best(self) -> bool:
        """Whether it is proved that the best channel favours the user's own pair.

        f (d + l) <= d and f (d + l - 2) <= d - 1; see `optimal_symbol`. For d far above l that
        excludes keys that nearly everybody holds.
        """
        f, width = self.frequency, self.n_keys + self.padding
        return bool(f * width <= self.n_keys and f * (width - 2) <= self.n_keys - 1)


def frequency_loss(problem: Problem, sigma: Number) -> Number:
    """Variance of f* for independent users, times n / l^2.

    Parameters
    ----------
    problem : Problem
        Sizes and x.
    sigma : number or array
        u + c - 2, not 0.

    Returns
    -------
    number or array
        (2 + x sigma) (D - 2 + (1 - x) sigma) / sigma^2: version c of `ldpkv.hiskv.theorem4`.
    """
    x, cells = problem.rate, problem.cells
    return (2 + x * sigma) * (cells - 2 + (1 - x) * sigma) / sigma**2


def mean_loss(problem: Problem, sigma: Number, r: Number) -> Number:
    """First-order variance of mu* for independent users, times n x^2.

    Parameters
    ----------
    problem : Problem
        Sizes, x and m^2.
    sigma, r : number or array
        u + c - 2 and u - c, neither 0.

    Returns
    -------
    number or array
        (2 + x sigma) (D + sigma) / r^2 + m^2 (2 (D - 2 + sigma) - x sigma (D + sigma)) / sigma^2:
        `ldpkv.theory.mean_variance_printed`, in the limit if x = 0.
    """
    x, cells = problem.rate, problem.cells
    whole = cells + sigma
    signs = (2 + x * sigma) * whole / r**2
    return signs + problem.mean_square * (2 * (whole - 2) - x * sigma * whole) / sigma**2


def weighted_loss(problem: Problem, keep: Any, tilt: Any, weight: Any) -> Any:
    """Return what the optimal channel minimises, w Var(f*) / f^2 + Var(mu*), times n x^2.

    Parameters
    ----------
    problem : Problem
        Sizes, f and m^2.
    keep, tilt : Fraction or float
        u = p_1 / q_2 and c = q_1 / q_2, at least 0.
    weight : Fraction or float
        w >= 0; infinite for the frequency alone, then the loss is `frequency_loss`.

    Returns
    -------
    Fraction or float
        Infinite where the key (u + c = 2) or the sign (u = c, finite w) is lost.
    """
    sigma, r = keep + tilt - 2, keep - tilt
    if sigma == 0:
        return math.inf
    if weight == math.inf:
        return frequency_loss(problem, sigma)
    if r == 0:
        return math.inf
    return weight * frequency_loss(problem, sigma) + mean_loss(problem, sigma, r)


def corners(exp_epsilon: Any, padding: int) -> list[tuple[Any, Any]]:
    """Corners of the set of all symbol channels that spend at most epsilon, where p_1 >= q_1.

    Parameters
    ----------
    exp_epsilon : Fraction or float
        E above 1.
    padding : int
        l.

    Returns
    -------
    list of (u, c)
        Convex and in order: both own cells favoured (E_l, E_l); PCKV-GRR's optimum (E_l, 1); the
        end of the line u = E_l - E (1 - c); and its own cells both shunned (1 - y, 1 - y), with
        y = min(1, l (E - 1) / E).

    Notes
    -----
    The conditions max(u, c, 1) + l - 1 <= E (min(u, c, 1) + l - 1) of `LRRKV.exp_epsilon` are
    linear. q_2 = 0 spends an infinite epsilon, so ratios to q_2 describe every channel.
    """
    problem = Problem(exp_epsilon, 1, padding).checked()
    top, low = amplified(exp_epsilon, padding), 1 - problem.shyness
    return [(top, top), (top, 1 + 0 * low), (top - exp_epsilon * (1 - low), low), (low, low)]


def weight_limit(problem: Problem) -> Any:
    """Largest weight of the frequency at which PCKV-GRR's optimum is the best symbol channel.

    Parameters
    ----------
    problem : Problem
        Sizes, f and m^2.

    Returns
    -------
    Fraction or float
        w_0 = (4 D + 3 s (2 + x D) + 4 x s^2 - m^2 (4 (D - 2) + s (2 - x D))) / (4 (D - 2) +
        s (2 (1 - x) + x (D - 2))), s = l (E - 1). It is above 1 - m^2.

    Notes
    -----
    The loss along u = E_l is convex (see `optimal_symbol`), so c = 1 is best on it exactly while
    the slope there is not negative.
    """
    problem.checked()
    s, x, cells = problem.reach, problem.rate, problem.cells
    square = problem.mean_square * (4 * (cells - 2) + s * (2 - x * cells))
    top = 4 * cells + 3 * s * (2 + x * cells) + 4 * x * s**2 - square
    return _ratio(top, 4 * (cells - 2) + s * (2 * (1 - x) + x * (cells - 2)))


class Optimum(NamedTuple):
    """The best symbol channel.

    Parameters
    ----------
    keep, tilt : number
        u = p_1 / q_2 and c = q_1 / q_2.
    loss : number
        `weighted_loss` there.
    own : bool
        Whether the user's own key is favoured (u > 1); if not, it is reported less often than
        others.
    """

    keep: Any
    tilt: Any
    loss: Any
    own: bool


def optimal_tilt(problem: Problem, weight: Any) -> Any:
    """Find the best c in [1, E_l] along u = E_l.

    Parameters
    ----------
    problem : Problem
        Sizes, f and m^2.
    weight : float
        w >= 0, or infinite.

    Returns
    -------
    Fraction or float
        Exactly 1 if w <= `weight_limit`; E_l if w is infinite; else the one root of a quartic,
        by bisection.

    Raises
    ------
    ValueError, TypeError
        If the weight is negative or no number, or a number of the problem is out of range.
    """
    problem.checked()
    _at_least("weight", weight, 0, infinite=True)
    if weight == math.inf:
        return amplified(_exact(problem.exp_epsilon), problem.padding)
    if weight <= weight_limit(problem):
        return 1
    s, x, cells = float(problem.reach), float(problem.rate), problem.cells
    square, share = float(problem.mean_square), float(weight)

    def slope(part: float) -> float:
        # Sign of the loss' slope; sigma = s (1 + part), r = s (1 - part).
        sigma, left = s * (1 + part), 1 - part
        rise = (2 + x * cells + 2 * x * sigma) * s * left + 2 * (sigma + cells) * (2 + x * sigma)
        fall = share * (4 * (cells - 2) + (2 * (1 - x) + x * (cells - 2)) * sigma)
        fall += square * (4 * (cells - 2) + (2 - x * cells) * sigma)
        return rise * (1 + part) ** 3 - fall * left**3

    return 1 + s * float(brentq(slope, 0.0, 1.0, xtol=1e-15, rtol=1e-14))


def optimal_symbol(problem: Problem, weight: Any) -> Optimum:
    """Find the best of all symbol channels with a true epsilon at set level.

    Theorem. Let E > 1, l >= 1, d >= 2 (or d = 1 and the empty set a user), 0 <= f <= 1, m^2 <= 1
    and w >= 0. Over all (p_1, q_1, q_2) with set-level epsilon at most ln E, w Var(f*) / f^2 +
    Var(mu*) has its minimum (i) on u = E_l, 1 <= c <= E_l, where it is convex in c, or (ii) on
    c = 1 - y, 1 - y <= u <= 1 with y = min(1, l (E - 1) / E), where it is convex in u. If
    f (d + l) <= d and f (d + l - 2) <= d - 1, it is on (i). There it is at c = 1, PCKV-GRR's
    optimum, iff w <= `weight_limit`.

    Proof. Swapping the signs' names swaps p_1 and q_1, so let u >= c. The loss is w F(sigma) +
    A(sigma) / r^2 + m^2 M(sigma) with F = 2 (D-2) v^2 + (2 (1-x) + x (D-2)) v + x (1-x) and
    M = 2 (D-2) v^2 + (2 - x D) v - x for v = 1 / sigma, and A = (sigma + D) (2 + x sigma) > 0. For
    fixed sigma it falls as r grows: the minimum is on the chain of `corners`, which is a graph over
    sigma. Its four parts:

    1. u = E_l, c in [1, E_l]: r = 2 s - sigma, s = l (E - 1). Convex: F'' > 0, and (A / r^2)'' >=
       4 A' / r^3 >= 4 (2 + x D) / sigma^3 since r <= sigma, which covers the only negative term of
       M'', -2 x D / sigma^3.
    2. u = E_l - E (1 - c), c <= 1. With z = (E + 1) (l - 1 + c): sigma = z - 2 l, r = z / rho and
       A / r^2 = x rho^2 (1 + 2 d / z) (1 + 2 e / z), rho = (E+1) / (E-1), e = l / f - l: it falls
       as c grows. Where sigma > 0, so does F, and M' / x = 2 (d - e) / sigma^2 - 8 (e + l)
       (d + l - 1) / sigma^3 is no larger than A / r^2 falls, since rho^2 / z^2 >= (1 - 4 l / z) /
       sigma^2. Where sigma < 0, |sigma| <= 1 - c <= y, F and M are at least their values at
       sigma = -y (they fall as |sigma| grows to 1), and these at least those at s: point 4 with
       kappa t = s, where no condition is needed. So c = 1 beats all of it.
    3. c = 0, 1 <= u (only if y = 1): r = sigma + 2, and the same three steps hold.
    4. c = 1 - y, u <= 1: sigma = -t, r = 2 y - t with t in [y, 2 y]. Put kappa = s / y >= E and
       compare with sigma = kappa t, r = kappa (2 y - t), which lies on part 1. Each term there is
       at most the one here: with tau = kappa t <= 2 l (kappa - 1) the differences are positive
       multiples of 2 (kappa-1) (D-2) - tau (2 (1-x) + x (D-2)) for F, of 2 (kappa-1) D -
       tau (2 + x D) for A / r^2 and of 2 (kappa-1) (D-2) - tau (2 - x D) for M. They are not
       negative if f (d + l - 2) <= d - 1, if f (d + l) <= d, and always. Convex: in t, F'' and M''
       are positive as 6 (D-2) >= t max(2, D-2); A / r^2 is a polynomial in 1 / r with coefficients
       that are not negative.

    Parameters
    ----------
    problem : Problem
        Sizes, f and m^2.
    weight : float
        w >= 0, or infinite.

    Returns
    -------
    Optimum
        Part (ii) is searched only where it is not excluded.

    Raises
    ------
    ValueError, TypeError
        If a number is out of range.
    """
    tilt = optimal_tilt(problem, weight)
    keep = amplified(_exact(problem.exp_epsilon), problem.padding)
    best = Optimum(keep, tilt, weighted_loss(problem, keep, tilt, weight), True)
    if problem.own_is_best:
        return best
    y = float(problem.shyness)
    if weight == math.inf:
        shy = 1 - y  # F falls as t grows
    else:
        found = minimize_scalar(
            lambda u: float(weighted_loss(problem, u, 1 - y, weight)),
            bounds=(1 - y, 1.0),
            method="bounded",
            options={"xatol": 1e-12},
        )
        shy = float(found.x)
    loss = weighted_loss(problem, shy, 1 - y, weight)
    return Optimum(shy, 1 - y, loss, False) if loss < best.loss else best


def optimal_channel(problem: Problem, weight: Any) -> LRRKV:
    """Set up the best symbol channel as a mechanism.

    Parameters
    ----------
    problem : Problem
        Sizes, f and m^2.
    weight : float
        w >= 0, or infinite.

    Returns
    -------
    LRRKV
        It spends epsilon at set level: exactly if the own key is favoured, else at most. With c = 1
        it is PCKV-GRR with its optimised budget, exact if E is.
    """
    best = optimal_symbol(problem, weight)
    q2 = _ratio(1 + 0 * best.keep, best.keep + best.tilt + problem.cells - 2)
    return LRRKV(problem.n_keys, problem.padding, best.keep * q2, best.tilt * q2, q2)


# --- the lengths ---------------------------------------------------------------------------------


def length_classes(longest: int, ratio: float = 2.0) -> tuple[int, ...]:
    """Upper ends of length classes that grow by a ratio: 1, 2, 4, 8, ..., `longest`.

    Parameters
    ----------
    longest : int
        Last upper end, at least 2.
    ratio : float, default 2
        Above 1. A class never has fewer than one length.

    Returns
    -------
    tuple of int
        Ascending, from 1 to `longest`.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.
    """
    longest = _check.integer("longest", longest, minimum=2)
    _at_least("ratio", ratio, 1)
    if ratio == 1:
        raise ValueError(f"ratio must be above 1, got {ratio!r}")
    tops = [1]
    while tops[-1] < longest:
        tops.append(min(longest, max(tops[-1] + 1, int(tops[-1] * ratio))))
    return tuple(tops)


def to_simplex(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Nearest point whose parts are not negative and add up to 1.

    Parameters
    ----------
    numbers : ndarray of float64, shape (k,)
        Any finite numbers, k at least 1.

    Returns
    -------
    ndarray of float64, shape (k,)
        max(v - h, 0) for the one h that makes the sum 1.
    """
    falling = np.sort(numbers)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(numbers) + 1)
    height = excess[np.flatnonzero(falling > excess)[-1]]
    kept: NDArray[np.float64] = np.maximum(numbers - height, 0.0)
    return kept


def law_of_lengths(
    share: NDArray[np.float64],
    noise: float,
    tops: tuple[int, ...],
    *,
    cut: float = 2.0,
    doubt: float = 0.1,
) -> NDArray[np.float64]:
    """Make a law of lengths out of unbiased, noisy shares of classes.

    Shares below `cut` standard deviations become 0 (the largest is kept) and the rest goes to the
    nearest point of the simplex. With S the squared distance of the unbiased shares from 1 / B
    each, and N the part of it that noise alone would make, a part min(1, `doubt` N / S) of the mass
    is then shared by all classes alike: nothing if the signal is clear, `doubt` if there is only
    noise. So no class is ever ruled out by noise, and a tail that may be there counts. Each class
    is spread over its lengths in proportion to 1 / length.

    Parameters
    ----------
    share : ndarray of float64, shape (B,)
        Unbiased shares; they may be negative and need not add up to 1.
    noise : float
        Standard deviation of the share of an empty class.
    tops : tuple of int
        Upper ends of the classes.
    cut, doubt : float
        See `LengthHistogram`.

    Returns
    -------
    ndarray of float64, shape (tops[-1],)
        Probabilities of the lengths from 1 on.
    """
    kept = np.where(share < cut * noise, 0.0, share)
    if not kept.any():
        kept[np.argmax(share)] = 1.0
    kept = to_simplex(kept) if kept.sum() > 1 else kept / kept.sum()
    size = len(kept)
    seen = float(((share - 1 / size) ** 2).sum())
    unsure = min(1.0, doubt * size * noise**2 / seen) if seen > 0 else 1.0
    kept = (1 - unsure) * kept + unsure / size
    parts = 1 / np.arange(1, tops[-1] + 1)
    starts = np.array((0, *tops[:-1]))
    return np.repeat(kept / np.add.reduceat(parts, starts), np.diff((0, *tops))) * parts


@dataclass(frozen=True)
class LengthHistogram:
    """Lengths in a few classes, by generalised randomised response.

    Parameters
    ----------
    keep_class, fake_class : Fraction or float
        The class is reported truthfully; each other class is reported.
    tops : tuple of int
        Upper end of each class, ascending; see `length_classes`. A user without pairs is in the
        first class, one with more than the last end in the last class.
    cut : float, default 2
        A class whose estimated share is below `cut` standard deviations of an empty one counts as
        empty.
    doubt : float, default 1/10
        How much of what noise may have made is given to all classes alike; see
        `law_of_lengths`.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.

    Notes
    -----
    Source: **derived**. Why few classes: OETL has d of them, and its estimated distribution
    function at the k-th one has variance about 1 / (4 n (p - q)^2), 1 / (p - q) = (E + d - 1) /
    (E - 1). With B classes d becomes B: 9 to 10 in place of 306 to 442. Nothing is lost by a coarse
    grid, since the error of the pairs hardly depends on l (`padding_variance`).
    """

    keep_class: Any
    fake_class: Any
    tops: tuple[int, ...]
    cut: float = 2.0
    doubt: float = 0.1

    def __post_init__(self) -> None:
        steps = np.diff((0, *self.tops))
        if len(self.tops) < 2 or (steps < 1).any():
            raise ValueError(
                f"tops must ascend from at least 1 in at least two classes, got {self.tops!r}"
            )
        for name in ("keep_class", "fake_class"):
            _check.probability(name, getattr(self, name))
        total = self.keep_class + (len(self.tops) - 1) * self.fake_class
        if abs(float(total) - 1) > channels.SLACK:
            raise ValueError(
                f"keep_class + {len(self.tops) - 1} * fake_class must be 1, got {float(total)!r}"
            )
        if not self.keep_class > self.fake_class:
            raise ValueError(
                f"keep_class must be above fake_class, got {self.keep_class!r} and "
                f"{self.fake_class!r}"
            )
        _at_least("cut", self.cut, 0)
        _check.probability("doubt", self.doubt)

    @classmethod
    def from_exp_budgets(
        cls, exp_epsilon: Any, *, longest: int, ratio: float = 2.0, **rule: Any
    ) -> LengthHistogram:
        """Set p = E / (E + B - 1), q = 1 / (E + B - 1) for the B classes of `length_classes`."""
        exp_epsilon = _check.exp_budget("exp_epsilon", exp_epsilon)
        tops = length_classes(longest, ratio)
        numbers = channels.grr_probabilities(_exact(exp_epsilon), len(tops))
        return cls(*numbers, tops, **rule)

    @property
    def longest(self) -> int:
        """Upper end of the last class."""
        return self.tops[-1]

    @property
    def grr(self) -> GRR:
        """The channel: GRR whose categories are the classes."""
        return GRR(len(self.tops), self.keep_class, self.fake_class)

    def symbols(self, lengths: NDArray[np.int64]) -> Symbols:
        """Code the lengths by class.

        Parameters
        ----------
        lengths : ndarray of int64, shape (n_users,)
            Number of pairs of each user, at least 0.

        Returns
        -------
        Symbols
            One cell.

        Raises
        ------
        ValueError
            If a length is negative.
        """
        sent = np.asarray(lengths)
        if (sent < 0).any():
            raise ValueError(f"lengths must be at least 0, got {int(sent.min())}")
        codes = np.searchsorted(self.tops, np.clip(sent, 1, self.longest)).astype(np.int64)
        return Symbols(codes, len(self.tops), 1)

    def symbol_law(self, user: User) -> NDArray[Any]:
        """Law of the user's class, certain; so that `ldpkv.privacy` can enumerate sets."""
        law = np.full(len(self.tops), Fraction(0), dtype=object)
        law[self.symbols(np.array([len(user)])).codes[0]] = Fraction(1)
        return law

    def channel(self) -> Channel:
        """Exact law of a reported class given the true one."""
        return self.grr.channel()

    def counts(
        self,
        lengths: NDArray[np.int64],
        *,
        rng: np.random.Generator | int | None = None,
        road: str = "counted",
    ) -> Counts:
        """Collect the classes.

        Parameters
        ----------
        lengths : ndarray of int64, shape (n_users,)
            Number of pairs of each user of the first group.
        rng : numpy.random.Generator or seed, optional
            Passed through `numpy.random.default_rng`.
        road : {"counted", "literal"}
            Draw the server's counts, or perturb user by user; one law.

        Returns
        -------
        Counts
            One cell, one row a class.
        """
        _check.one_of("road", road, ROADS)
        symbols, grr = self.symbols(lengths), self.grr
        if road == "counted":
            return grr.simulate_counts(symbols.table(), rng=rng)
        return grr.aggregate(grr.perturb(symbols, rng=rng))

    def unbiased(self, counts: Counts) -> NDArray[np.float64]:
        """Unbiased share of users in each class, shape (n_classes,); they add up to 1."""
        p, q = float(self.keep_class), float(self.fake_class)
        share: NDArray[np.float64] = (counts.table[:, 0] / counts.n_reports - q) / (p - q)
        return share

    def law(self, counts: Counts) -> NDArray[np.float64]:
        """Estimate the law of the lengths; post-processing, so free of privacy cost.

        Parameters
        ----------
        counts : Counts
            From `counts`, of at least one user.

        Returns
        -------
        ndarray of float64, shape (longest,)
            Probabilities of the lengths from 1 on; see `law_of_lengths`.

        Raises
        ------
        ValueError
            If there is no user.
        """
        n_users = int(counts.n_reports[0])
        if n_users < 1:
            raise ValueError("counts must come from at least one user")
        share = self.unbiased(counts)
        p, q = float(self.keep_class), float(self.fake_class)
        noise = math.sqrt(q * (1 - q) / n_users) / (p - q)
        return law_of_lengths(share, noise, self.tops, cut=self.cut, doubt=self.doubt)


def padding_variance(exp_epsilon: Number, n_keys: Number, padding: Number) -> Number:
    """Variance of a rare key's frequency with PCKV-GRR's optimum, times n: linear in l.

    Proof. l^2 h with h = 2 (T - 2) / (l (E - 1))^2 and T = E_l + 1 + D - 2, so T - 2 = 2 (d - 1) +
    l (E + 1).

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.
    n_keys, padding : int or array
        d and l.

    Returns
    -------
    number or array
        2 (2 (d - 1) + l (E + 1)) / (E - 1)^2. Without credit for padding it would grow with l^2.
        So no choice of l <= d is worse than the best by more than a factor 1 + (d - 1) (E + 1) /
        (2 (d - 1) + E + 1), which is below 1 + (E + 1) / 2.
    """
    return 2 * (2 * (n_keys - 1) + padding * (exp_epsilon + 1)) / (exp_epsilon - 1) ** 2


# --- the repaired mechanism ----------------------------------------------------------------------


@dataclass(frozen=True)
class TwoGroups:
    """Everything that one user sends: which group, and that group's report.

    For enumeration with `ldpkv.privacy.worst_ratio`; it draws nothing.

    Parameters
    ----------
    n_keys : int
        d.
    group_share : Fraction or float
        Chance beta of being in the first group, drawn without a look at the data.
    first, second : LengthHistogram, LRRKV or the like
        With `symbol_law` and `channel`.
    """

    n_keys: int
    group_share: Any
    first: Any
    second: Any

    def symbol_law(self, user: User) -> NDArray[Any]:
        """Law of group and symbol, first group's symbols first."""
        beta = _exact(self.group_share)
        return np.concatenate(
            [beta * self.first.symbol_law(user), (1 - beta) * self.second.symbol_law(user)]
        )

    def channel(self) -> Channel:
        """Law of group and report given group and symbol: two blocks."""
        one, two = self.first.channel(), self.second.channel()
        rows, columns = one.weights.shape
        exact = one.weights.dtype == object and two.weights.dtype == object
        shape = (rows + two.weights.shape[0], columns + two.weights.shape[1])
        weights = np.zeros(shape, dtype=object if exact else np.float64)
        if exact:
            whole = math.lcm(int(one.denominator), int(two.denominator))
            weights[:rows, :columns] = one.weights * (whole // int(one.denominator))
            weights[rows:, columns:] = two.weights * (whole // int(two.denominator))
            return Channel(weights, whole)
        weights[:rows, :columns] = one.weights.astype(np.float64) / float(one.denominator)
        weights[rows:, columns:] = two.weights.astype(np.float64) / float(two.denominator)
        return Channel(weights, 1.0)


@functools.lru_cache(maxsize=256)
def _best_tilts(
    top: float, n_keys: int, paddings: tuple[int, ...], weight: float, square: float
) -> NDArray[np.float64]:
    # The same for every run of a mechanism, and the slow part of a choice.
    problems = (Problem(top, n_keys, padding, 0.0, square) for padding in paddings)
    return np.array([float(optimal_tilt(problem, weight)) for problem in problems])


@dataclass(frozen=True)
class RepairedHISKV:
    """HISKV with numbers that keep its promise, the best tilt, and a length that holds.

    A group of beta n users sends length classes with all of epsilon; from what they show, l and c
    are chosen so that the predicted weighted error is least; the other users send one pair each
    through the best symbol channel for that l, with all of epsilon at set level.

    Parameters
    ----------
    n_keys : int
        d, at least 2.
    exp_epsilon : Fraction or float
        E above 1: true epsilon of everything a user sends, for any two sets.
    weight : float, default 1
        w: squared relative error of the frequency against that of the mean. Infinite: the frequency
        alone (the sign is then lost).
    group_share : Fraction or float, default 1/50
        beta in (0, 1).
    mean_square : float, default 0
        m^2 in [0, 1] that the choice assumes.
    unevenness : float, default 1
        How unevenly the keys are lost to truncation: d times the sum of squared biases over the
        squared sum, at least 1 by Cauchy and Schwarz. It is not estimated.
    longest : int, optional
        Upper end of the last length class and largest l, in 2 .. d; d by default. A public bound,
        chosen without a look at the data: where d is in the thousands and nobody holds hundreds of
        keys, it keeps the noise of far classes out.
    ratio, cut, doubt
        Of the length classes; see `length_classes` and `LengthHistogram`.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.

    Notes
    -----
    Source: **derived**. The exact e^epsilon is E: both groups spend it in full, which group a user
    is in is drawn without a look at the data, and l is post-processing of the first group's reports
    (parallel composition). With `weight` of at most `weight_limit` the second group's mechanism
    *is* PCKV-GRR with its optimised budget.
    """

    n_keys: int
    exp_epsilon: Any
    weight: float = 1.0
    group_share: Any = Fraction(1, 50)
    mean_square: float = 0.0
    unevenness: float = 1.0
    longest: int | None = None
    ratio: float = 2.0
    cut: float = 2.0
    doubt: float = 0.1

    def __post_init__(self) -> None:
        _check.probability("group_share", self.group_share)
        if not 0 < self.group_share < 1:
            raise ValueError(
                f"group_share must lie strictly between 0 and 1, got {self.group_share!r}"
            )
        _at_least("unevenness", self.unevenness, 1)
        _check.keep_integer(self, "n_keys", minimum=2)
        if self.longest is not None:
            _check.keep_integer(self, "longest", minimum=2)
            if self.longest > self.n_keys:
                raise ValueError(
                    f"longest must be at most n_keys = {self.n_keys}, got {self.longest!r}"
                )
        _ = self.length_stage, self.stage(1)  # whatever else is wrong is said there

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int, **settings: Any) -> RepairedHISKV:
        """As the constructor, from epsilon in nats."""
        return cls(n_keys, math.exp(_check.epsilon(epsilon)), **settings)

    @property
    def length_stage(self) -> LengthHistogram:
        """The first group's mechanism."""
        return LengthHistogram.from_exp_budgets(
            self.exp_epsilon,
            longest=self.n_keys if self.longest is None else self.longest,
            ratio=self.ratio,
            cut=self.cut,
            doubt=self.doubt,
        )

    def problem(self, padding: int) -> Problem:
        """Return the channel's problem at one l, for a rare key."""
        square = _exact(self.mean_square)
        return Problem(_exact(self.exp_epsilon), self.n_keys, padding, 0, square)

    def stage(self, padding: int) -> LRRKV:
        """Return the second group's mechanism, once l is chosen; exact if E is."""
        tilt = optimal_tilt(self.problem(padding), self.weight)
        if isinstance(self.exp_epsilon, Rational):
            tilt = Fraction(tilt)
        return LRRKV.corrected(
            self.exp_epsilon, tilt, n_keys=self.n_keys, padding=padding, level="set"
        )

    def candidates(self) -> NDArray[np.int64]:
        """Padding lengths to choose from, at most sixty in nearly equal ratios, 1 to `longest`."""
        top = self.n_keys if self.longest is None else self.longest
        return np.unique(np.round(np.geomspace(1, top, 60)).astype(np.int64))

    def predicted(
        self, law: NDArray[np.float64], n_pair_users: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Predicted weighted error at every candidate l, each with its own best tilt.

        Parameters
        ----------
        law : ndarray of float64, shape (k,)
            Law of the lengths 1 to k.
        n_pair_users : int
            n'.

        Returns
        -------
        paddings : ndarray of int64
            `candidates`.
        losses : ndarray of float64, same shape
            w (variance + squared bias of f*) + fbar^2 (first-order variance of mu*), averages over
            keys, fbar = E L / d. The variance is exact for fixed users; the squared bias is
            `unevenness` times (E max(L - l, 0) / d)^2; the mean is that of a rare key whose pairs
            survive truncation in the share E [L l / max(L, l)] / E L. With an infinite weight, the
            frequency's part alone.

        Notes
        -----
        Source: **derived**. A key's bias is minus its lost share (`theory.limit_estimates`); over
        all keys the lost shares add up to E max(L - l, 0), which only needs the lengths.
        """
        d, n = self.n_keys, _check.integer("n_pair_users", n_pair_users, minimum=1)
        top, square = float(self.exp_epsilon), float(self.mean_square)
        tilts = _best_tilts(top, d, tuple(self.candidates().tolist()), float(self.weight), square)
        paddings = self.candidates()
        problem = Problem(top, d, paddings, 0.0, square)
        keep = amplified(top, paddings)  # type: ignore[arg-type] # arrays serve as well
        sigma, r, total = keep + tilts - 2, keep - tilts, keep + tilts + problem.cells - 2
        sizes = np.arange(1, len(law) + 1)
        sampled = np.maximum(sizes, paddings[:, None])
        once, twice = (sizes / sampled) @ law, (sizes / sampled**2) @ law
        gap, b = sigma / total, 2 / total
        spread = d * b * (1 - b) + gap * (1 - 2 * b) * once - gap**2 * twice
        lost = np.maximum(sizes - paddings[:, None], 0) @ law / d
        losses = (paddings / gap) ** 2 * spread / (n * d) + self.unevenness * lost**2
        if self.weight < math.inf:
            kept = paddings * once / (law @ sizes)
            mean = mean_loss(problem, sigma, r) * (paddings / kept) ** 2 / n
            losses = self.weight * losses + mean
        return paddings, losses

    def choose(self, counts: Counts, n_pair_users: int) -> int:
        """Choose l: the candidate with the least predicted error.

        Parameters
        ----------
        counts : Counts
            Of the first group, from `LengthHistogram.counts`.
        n_pair_users : int
            n'.

        Returns
        -------
        int
            One of `candidates`.
        """
        paddings, losses = self.predicted(self.length_stage.law(counts), n_pair_users)
        return int(paddings[np.argmin(losses)])

    def message(self, padding: int) -> TwoGroups:
        """Law of everything a user sends, at one l; for enumeration."""
        return TwoGroups(self.n_keys, self.group_share, self.length_stage, self.stage(padding))

    def composition(self, padding: int) -> Composition:
        """Exact privacy of the stages at one l, and of the whole.

        Parameters
        ----------
        padding : int
            l.

        Returns
        -------
        Composition
            `parallel` is the privacy of the whole, exactly E.
        """
        stage = self.length_stage
        lengths = stage.keep_class / stage.fake_class
        pairs = self.stage(padding).exp_epsilon("set", empty=True)
        return Composition(lengths, pairs, max(lengths, pairs), lengths * pairs)

    def group_size(self, n_users: int) -> int:
        """Return the size of the first group: beta n rounded, at least 1 and at most n - 1."""
        if _check.integer("n_users", n_users, minimum=1) < 2:
            raise ValueError(f"n_users must be at least 2, one for each group, got {n_users}")
        return min(n_users - 1, max(1, round(self.group_share * n_users)))

    def collect(
        self,
        data: KeyValueData,
        *,
        rng: np.random.Generator | int | None = None,
        road: str = "counted",
        correction: str = "paper",
    ) -> Collected:
        """Run both stages.

        Parameters
        ----------
        data : KeyValueData
            The users; empty sets are allowed.
        rng : numpy.random.Generator or seed, optional
            Passed through `numpy.random.default_rng`.
        road : {"counted", "literal"}
            Draw the server's counts, or perturb user by user; one law.
        correction : {"paper", "code", "none"}
            See `LRRKV.estimate`.

        Returns
        -------
        Collected
            `lengths` holds the unbiased number of first-group users in each length class.
        """
        _check.instance("data", data, KeyValueData, "see KeyValueData.from_sets and from_pairs")
        if data.n_keys != self.n_keys:
            raise ValueError(f"data must have n_keys = {self.n_keys}, got {data.n_keys}")
        generator = _check.generator(rng)
        draws = pad_and_sample(data, rng=generator)
        return self.collect_draws(draws, rng=generator, road=road, correction=correction)

    def collect_draws(
        self,
        draws: Draws,
        *,
        rng: np.random.Generator | int | None = None,
        road: str = "counted",
        correction: str = "paper",
    ) -> Collected:
        """Run both stages on draws that other mechanisms, or other budgets, may share.

        Parameters
        ----------
        draws : Draws
            Of all users; those of the first group go unused but for the lengths.
        rng, road, correction
            As in `collect`.

        Returns
        -------
        Collected
            As from `collect`.
        """
        _check.one_of("road", road, ROADS)
        _check.one_of("correction", correction, CORRECTIONS)
        generator = _check.generator(rng)
        n_users = len(draws.keys)
        first = np.zeros(n_users, dtype=bool)
        first[generator.choice(n_users, self.group_size(n_users), replace=False)] = True
        n_first = int(first.sum())
        lengths = self.length_stage
        length_counts = lengths.counts(draws.lengths[first], rng=generator, road=road)
        padding = self.choose(length_counts, n_users - n_first)
        stage = self.stage(padding)
        rest = ~first
        symbols = stage.symbols(
            Draws(
                draws.keys[rest],
                draws.negative[rest],
                draws.uniform[rest],
                draws.lengths[rest],
                draws.n_keys,
            )
        )
        collectors: dict[str, Callable[[], Counts]] = {
            "counted": lambda: stage.simulate_counts(symbols.table(), rng=generator),
            "literal": lambda: stage.aggregate(stage.perturb(symbols, rng=generator)),
        }
        return Collected(
            stage.estimate(collectors[road](), correction=correction),
            padding,
            n_first * lengths.unbiased(length_counts),
            n_first,
            n_users - n_first,
        )
