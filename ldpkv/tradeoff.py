"""Trade-off curves: how well any test can tell two output laws apart, or may under a claim.

A *test* phi looks at one output and decides P (phi = 0) or Q (phi = 1). Its errors are
``alpha = E_P phi`` and ``beta = 1 - E_Q phi``. A *trade-off curve* f maps alpha to the smallest
beta that is possible (for two laws) or allowed (for a claim). It is convex and falls from f(0) <= 1
to f(1) = 0. A mechanism is f-DP when for every neighbouring pair no test has its errors below f.

Besides f itself an auditor needs its supporting lines. For a slope s > 0 the *support*
``c(s) = min over alpha of s alpha + f(alpha)`` is the largest number such that

    s E_P phi + 1 - E_Q phi >= c(s)   for every test phi, if the claim f holds.

So a mean that is certainly below c(s) refutes the claim. `TradeoffCurve.support` therefore never
exceeds the true minimum: the rounding errors of its evaluation are bounded and subtracted.

Source: Kutta, Dunsche, Wei, Zikas (arXiv 2602.06518), section 2.1; Dong, Roth, Su, "Gaussian
differential privacy".
"""

from __future__ import annotations

import abc
import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import interpolate, optimize, special

from ldpkv import _check

Floats = NDArray[np.float64]

_ULP = float(np.finfo(np.float64).eps)
_SMALLEST = float(np.finfo(np.float64).tiny)
# Below this logarithm the rounding of -a^2 / 2 alone makes delta wrong by more than 0.1 %.
_LOG_RESOLUTION = -1e12


class TradeoffCurve(abc.ABC):
    """A claim f, or the exact curve of two laws.

    Every curve is a frozen value; curves with equal parameters are equal and hash alike.

    Attributes
    ----------
    support_kind : str
        How `support` is computed: "closed form" (less a bound on its rounding error), "exact" (for
        `Fraction` vertices) or "certified lower bound" (a numerical minimum less a bound on its
        distance from the true one).
    """

    support_kind: ClassVar[str]

    @abc.abstractmethod
    def __call__(self, alpha: Any) -> Any:
        """Value of the curve.

        Parameters
        ----------
        alpha : array_like of float in [0, 1]
            Probability of deciding Q under P.

        Returns
        -------
        ndarray of float64, same shape, or float
            Smallest 1 - (probability of deciding Q under Q), in [0, 1].

        Raises
        ------
        ValueError
            If an alpha is NaN or outside [0, 1].
        """

    @abc.abstractmethod
    def slope(self, alpha: Any) -> Any:
        """Right derivative of the curve, at most 0; -inf where the curve is vertical.

        Parameters
        ----------
        alpha : array_like of float in [0, 1]
            At 1 the left derivative is given.
        """

    @abc.abstractmethod
    def support(self, s: Any) -> Any:
        """Largest c with ``s alpha + f(alpha) >= c`` for every alpha, never overstated.

        Parameters
        ----------
        s : array_like of float
            Slope of the line, positive and finite.

        Returns
        -------
        ndarray of float64, same shape, or float
            c(s), in [0, min(1, s)].

        Raises
        ------
        ValueError
            If an s is not positive and finite.
        """

    @abc.abstractmethod
    def delta_at(self, epsilon: float) -> float:
        """Smallest delta for which the curve implies (epsilon, delta)-DP of Q against P.

        Equal to ``1 - c(e^epsilon)``, in a form that keeps its digits when delta is small. A
        symmetric curve implies (epsilon, delta)-DP both ways.

        Parameters
        ----------
        epsilon : float
            At least 0, in nats.

        Notes
        -----
        Source: Dong, Roth, Su, Proposition 2.12.
        """

    @property
    @abc.abstractmethod
    def symmetric(self) -> bool:
        """Whether f is its own inverse, so that P and Q may be swapped."""

    @property
    @abc.abstractmethod
    def vertices(self) -> tuple[tuple[Any, Any], ...] | None:
        """Corners (alpha, beta) of a piecewise-linear curve by rising alpha, else None."""


@dataclass(frozen=True)
class GaussianDP(TradeoffCurve):
    """mu-GDP: N(0, 1) against N(mu, 1).

    Parameters
    ----------
    mu : float
        Distance of the means in standard deviations, at least 0 and finite.

    Notes
    -----
    ``f(alpha) = Phi(Phi^-1(1 - alpha) - mu)`` and, by setting the derivative to -s,
    ``c(s) = s Phi(-mu/2 - log(s)/mu) + Phi(-mu/2 + log(s)/mu)``.

    Source: arXiv 2602.06518, T_Gauss in section 4; Dong, Roth, Su, Definition 2.6.
    """

    mu: float
    support_kind: ClassVar[str] = "closed form"

    def __post_init__(self) -> None:
        _keep(self, mu=_number("mu", self.mu, minimum=0.0))

    def __call__(self, alpha: Any) -> Any:
        """``Phi(Phi^-1(1 - alpha) - mu)``; see `TradeoffCurve`."""
        return _like(special.ndtr(-special.ndtri(_alphas(alpha)) - self.mu), alpha)

    def slope(self, alpha: Any) -> Any:
        """``-exp(-mu Phi^-1(alpha) - mu^2 / 2)``; see `TradeoffCurve`."""
        quantile = special.ndtri(_alphas(alpha))
        if self.mu == 0:
            return _like(np.full_like(quantile, -1.0), alpha)
        with np.errstate(over="ignore"):
            return _like(-np.exp(-self.mu * quantile - self.mu**2 / 2), alpha)

    def support(self, s: Any) -> Any:
        """Give the closed form less its rounding error; see `TradeoffCurve`."""
        slopes = _slopes(s)
        if self.mu == 0:
            return _like(np.minimum(slopes, 1.0), s)
        with np.errstate(over="ignore"):
            shift = np.log(slopes) / self.mu
        total = np.zeros_like(slopes)
        for factor, z in ((slopes, -self.mu / 2 - shift), (1.0, -self.mu / 2 + shift)):
            # In the lower tail a relative error of z becomes z^2 times that error in Phi(z).
            lost = _ULP * (32 + 8 * np.clip(-z, 0.0, 1e4) ** 2)
            total += factor * special.ndtr(z) * (1 - lost)
        return _like(np.minimum(total, np.minimum(slopes, 1.0)), s)

    def log_delta_at(self, epsilon: float) -> float:
        """Logarithm of `delta_at`, also where delta itself is below the smallest float.

        Parameters
        ----------
        epsilon : float
            At least 0, in nats.

        Returns
        -------
        float
            -inf for mu = 0.

        Raises
        ------
        ValueError
            If the logarithm is below -1e12, where delta could not be given to three digits.
        """
        value = _gaussian_log_delta(self.mu, _epsilon(epsilon))
        if self.mu > 0 and value < _LOG_RESOLUTION:
            raise ValueError(
                f"epsilon = {epsilon!r} is out of resolution for mu = {self.mu!r}: log(delta) "
                f"is below {_LOG_RESOLUTION:g}"
            )
        return value

    def delta_at(self, epsilon: float) -> float:
        """Smallest delta with mu-GDP => (epsilon, delta)-DP.

        Raises
        ------
        ValueError
            If delta is positive but below 2.2e-308; `log_delta_at` gives its logarithm.

        Notes
        -----
        Source: Dong, Roth, Su, Corollary 2.13.
        """
        if self.mu == 0:
            _epsilon(epsilon)
            return 0.0
        logarithm = _gaussian_log_delta(self.mu, _epsilon(epsilon))
        if logarithm < math.log(_SMALLEST):
            raise ValueError(
                f"delta at epsilon = {epsilon!r} for mu = {self.mu!r} is positive but below "
                f"{_SMALLEST:.2g}: use log_delta_at"
            )
        return math.exp(logarithm)

    def epsilon_at(self, delta: float) -> float:
        """Smallest epsilon with mu-GDP => (epsilon, delta)-DP, rounded up.

        Parameters
        ----------
        delta : float
            In (0, 1).

        Returns
        -------
        float
            At least 0, in nats; 0 when delta is that large.

        Raises
        ------
        ValueError
            If delta is not in (0, 1): no Gaussian mechanism is (epsilon, 0)-DP.
        """
        target = math.log(_open_unit("delta", delta))
        if self.mu == 0 or _gaussian_log_delta(self.mu, 0.0) <= target:
            return 0.0

        def gap(value: float) -> float:
            return _gaussian_log_delta(self.mu, value) - target

        high = 1.0
        while gap(high) > 0:
            high *= 16
        # The root may be tiny, so that it is bracketed by its size first.
        while high > _SMALLEST and gap(high / 16) <= 0:
            high /= 16
        root = optimize.brentq(gap, high / 16, high, xtol=1e-320, rtol=4 * _ULP, maxiter=500)
        return _nudged(root, lambda value: gap(value) > 0, 1.0)

    @classmethod
    def from_approximate(cls, epsilon: float, delta: float) -> GaussianDP:
        """Weakest mu-GDP claim that implies (epsilon, delta)-DP, rounded down.

        Parameters
        ----------
        epsilon : float
            At least 0, in nats.
        delta : float
            In (0, 1).

        Raises
        ------
        ValueError
            If delta is not in (0, 1), or epsilon is negative or not finite.
        """
        budget, target = _epsilon(epsilon), math.log(_open_unit("delta", delta))

        def gap(log_mu: float) -> float:
            # The floor keeps the root finder's arithmetic finite.
            return max(_gaussian_log_delta(math.exp(log_mu), budget), -1e300) - target

        low = high = 0.0
        while gap(low) > 0:
            low -= 1.0
        while gap(high) <= 0:
            high += 1.0
        root = math.exp(optimize.brentq(gap, low, high, xtol=1e-15, rtol=4 * _ULP))
        return cls(_nudged(root, lambda mu: _gaussian_log_delta(mu, budget) > target, -1.0))

    @property
    def symmetric(self) -> bool:
        """True."""
        return True

    @property
    def vertices(self) -> None:
        """None: the curve is smooth."""
        return None


@dataclass(frozen=True)
class LaplaceDP(TradeoffCurve):
    """Laplace laws of scale 1 whose locations differ by mu.

    Parameters
    ----------
    mu : float
        Shift divided by scale, at least 0 and finite; the pair is also (mu, 0)-DP.

    Notes
    -----
    The curve is ``1 - e^mu alpha`` up to ``e^-mu / 2``, ``e^-mu / (4 alpha)`` up to 1/2, and
    ``e^-mu (1 - alpha)`` after it. Where |log s| <= mu the line touches the middle piece and
    ``c(s) = sqrt(s) e^(-mu/2)``; elsewhere ``c(s) = min(1, s)``.

    Source: arXiv 2602.06518, T_Lap in section 4.
    """

    mu: float
    support_kind: ClassVar[str] = "closed form"

    def __post_init__(self) -> None:
        _keep(self, mu=_number("mu", self.mu, minimum=0.0))

    def __call__(self, alpha: Any) -> Any:
        """Three pieces; see `TradeoffCurve`."""
        a = _alphas(alpha)
        fade = math.exp(-self.mu)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            first = 1 - np.exp(self.mu + np.log(a))
            middle = fade / (4 * a)
        value = np.where(a < fade / 2, first, np.where(a <= 0.5, middle, fade * (1 - a)))
        return _like(np.clip(value, 0.0, 1.0), alpha)

    def slope(self, alpha: Any) -> Any:
        """Right derivative; see `TradeoffCurve`."""
        a = _alphas(alpha)
        fade = math.exp(-self.mu)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            steep = -np.exp(np.float64(self.mu))
            middle = -fade / (4 * a) / a
        return _like(np.where(a < fade / 2, steep, np.where(a < 0.5, middle, -fade)), alpha)

    def support(self, s: Any) -> Any:
        """Give the closed form less its rounding error; see `TradeoffCurve`."""
        slopes = _slopes(s)
        exponent = (np.log(slopes) - self.mu) / 2
        value = np.exp(exponent) * (1 - _ULP * (16 + 4 * np.abs(exponent) + self.mu))
        inside = np.abs(np.log(slopes)) <= self.mu
        cap = np.minimum(slopes, 1.0)
        return _like(np.where(inside, np.minimum(np.maximum(value, 0.0), cap), cap), s)

    def delta_at(self, epsilon: float) -> float:
        """``1 - e^((epsilon - mu) / 2)`` below mu, else 0; see `TradeoffCurve`."""
        return max(0.0, -math.expm1(min(0.0, (_epsilon(epsilon) - self.mu) / 2)))

    @property
    def symmetric(self) -> bool:
        """True."""
        return True

    @property
    def vertices(self) -> None:
        """None: the middle piece is curved."""
        return None


@dataclass(frozen=True)
class ApproximateDP(TradeoffCurve):
    """(epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : float
        At least 0 and finite, in nats; there is no upper limit.
    delta : float
        In [0, 1).

    Notes
    -----
    ``f = max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha))``, with corners
    (0, 1 - delta), (a, a) for a = (1 - delta) / (1 + e^epsilon), (1 - delta, 0) and (1, 0); so
    ``c(s) = (1 - delta) min(1, s, (1 + s) / (1 + e^epsilon))``.

    Source: arXiv 2602.06518, T_(epsilon, delta) in section 4.3.
    """

    epsilon: float
    delta: float
    support_kind: ClassVar[str] = "closed form"

    def __post_init__(self) -> None:
        _keep(self, epsilon=_epsilon(self.epsilon))
        _keep(self, delta=_number("delta", self.delta, minimum=0.0))
        if not self.delta < 1:
            raise ValueError(f"delta must be a number in [0, 1), got {self.delta!r}")

    def __call__(self, alpha: Any) -> Any:
        """Largest of three lines; see `TradeoffCurve`."""
        return _like(_approximate(_alphas(alpha), self.epsilon, self.delta), alpha)

    def slope(self, alpha: Any) -> Any:
        """Slope of the piece to the right; see `TradeoffCurve`."""
        return _like(_approximate_slope(_alphas(alpha), self.epsilon, self.delta), alpha)

    def support(self, s: Any) -> Any:
        """Give the closed form less its rounding error; see `TradeoffCurve`."""
        return _like(_approximate_support(_slopes(s), self.epsilon, self.delta), s)

    def delta_at(self, epsilon: float) -> float:
        """``1 - c(e^epsilon)``; see `TradeoffCurve`."""
        return _approximate_delta(_epsilon(epsilon), self.epsilon, self.delta)

    @property
    def symmetric(self) -> bool:
        """True."""
        return True

    @property
    def vertices(self) -> tuple[tuple[float, float], ...]:
        """The corners."""
        return _approximate_vertices(self.epsilon, self.delta)


@dataclass(frozen=True)
class PureDP(TradeoffCurve):
    """epsilon-DP.

    Parameters
    ----------
    epsilon : float
        At least 0 and finite, in nats; there is no upper limit.

    Notes
    -----
    `ApproximateDP` with delta = 0.

    Source: arXiv 2602.06518, T_(epsilon, delta) in section 4.3.
    """

    epsilon: float
    support_kind: ClassVar[str] = "closed form"

    def __post_init__(self) -> None:
        _keep(self, epsilon=_epsilon(self.epsilon))

    def __call__(self, alpha: Any) -> Any:
        """``max(1 - e^epsilon alpha, e^-epsilon (1 - alpha))``; see `TradeoffCurve`."""
        return _like(_approximate(_alphas(alpha), self.epsilon, 0.0), alpha)

    def slope(self, alpha: Any) -> Any:
        """Slope of the piece to the right; see `TradeoffCurve`."""
        return _like(_approximate_slope(_alphas(alpha), self.epsilon, 0.0), alpha)

    def support(self, s: Any) -> Any:
        """Give the closed form less its rounding error; see `TradeoffCurve`."""
        return _like(_approximate_support(_slopes(s), self.epsilon, 0.0), s)

    def delta_at(self, epsilon: float) -> float:
        """``1 - c(e^epsilon)``; see `TradeoffCurve`."""
        return _approximate_delta(_epsilon(epsilon), self.epsilon, 0.0)

    @property
    def symmetric(self) -> bool:
        """True."""
        return True

    @property
    def vertices(self) -> tuple[tuple[float, float], ...]:
        """The corners."""
        return _approximate_vertices(self.epsilon, 0.0)


@dataclass(frozen=True)
class DPSGDToy(TradeoffCurve):
    """Last iterate of noisy gradient descent on a mean, with one record in or out of each batch.

    Parameters
    ----------
    tau : int
        Number of steps, 1 to 16; the curve is a sum over the 2^tau histories.
    rate : float
        Step size rho in (0, 1).
    sigma : float
        Standard deviation of the gradient noise, above 0.
    batch, records : int
        Batch size m and number of records r; the record is in a batch with probability m / r.

    Notes
    -----
    From theta_0 = 0, ``theta <- theta - rho (mean over batch of (theta - x) + N(0, sigma^2))``.
    Under D = 0 the last iterate is N(0, v), ``v = rho^2 sigma^2 (1 - (1 - rho)^(2 tau)) /
    (1 - (1 - rho)^2)``; under D' = (1, 0, ..., 0) it is a mixture over the set I of steps whose
    batch holds the record, with mean ``mu_I = sum over t in I of rho (1 - rho)^(tau - t) / m``. The
    ratio of densities rises, so thresholds are the best tests and ``T(alpha) = sum over I of
    Pr[I] Phi(Phi^-1(1 - alpha) - mu_I / sqrt(v))``.

    Source: arXiv 2602.06518, section 4, "DP-SGD", and its reference [5].
    """

    tau: int
    rate: float = 0.2
    sigma: float = 0.2
    batch: int = 5
    records: int = 10
    support_kind: ClassVar[str] = "certified lower bound"

    def __post_init__(self) -> None:
        _keep(self, tau=_check.integer("tau", self.tau, minimum=1))
        if self.tau > 16:
            raise ValueError(f"tau must be at most 16 (2^tau histories), got {self.tau!r}")
        _keep(self, rate=_number("rate", self.rate, minimum=0.0))
        if not 0 < self.rate < 1:
            raise ValueError(f"rate must be a number in (0, 1), got {self.rate!r}")
        _keep(self, sigma=_number("sigma", self.sigma, minimum=0.0))
        if self.sigma == 0:
            raise ValueError(f"sigma must be above 0, got {self.sigma!r}")
        _keep(self, batch=_check.integer("batch", self.batch, minimum=1))
        _keep(self, records=_check.integer("records", self.records, minimum=1))
        if self.records < self.batch:
            raise ValueError(f"records must be at least batch = {self.batch}, got {self.records!r}")

    @property
    def sd(self) -> float:
        """Standard deviation of the last iterate given the history."""
        # Without cancellation, also for tiny rates: support is certified with these digits.
        log_fade = 2 * math.log1p(-self.rate)
        steps = math.expm1(self.tau * log_fade) / math.expm1(log_fade)
        return self.rate * self.sigma * math.sqrt(steps)

    def histories(self) -> tuple[Floats, Floats]:
        """Every history's standardised mean and probability.

        Returns
        -------
        shift, weight : ndarray of float64, shape (k,)
            ``mu_I / sd`` by rising value and Pr[I]; k is 2^tau, or 1 when batch = records.
        """
        return _histories(self)

    def __call__(self, alpha: Any) -> Any:
        """Mixture over histories; see `TradeoffCurve`."""
        a = _alphas(alpha)
        return _like(self._beta(-special.ndtri(a)), alpha)

    def slope(self, alpha: Any) -> Any:
        """Minus the ratio of densities at the threshold; see `TradeoffCurve`."""
        return _like(-self._ratio(-special.ndtri(_alphas(alpha))), alpha)

    def support(self, s: Any) -> Any:
        """Minimum found numerically less a bound on its error; see `TradeoffCurve`."""
        slopes = np.atleast_1d(_slopes(s))
        values = np.array([self._support(float(v)) for v in slopes.ravel()]).reshape(slopes.shape)
        return _like(values.reshape(np.shape(s)), s)

    def delta_at(self, epsilon: float) -> float:
        """``E_Q phi - e^epsilon E_P phi`` at the best threshold; see `TradeoffCurve`.

        Absolute accuracy 1e-14.
        """
        budget = _epsilon(epsilon)
        threshold = self._threshold(budget)
        if math.isinf(threshold):
            return 0.0
        shift, weight = self.histories()
        above = float(weight @ special.ndtr(shift - threshold))
        return max(0.0, above - math.exp(budget + float(special.log_ndtr(-threshold))))

    @property
    def symmetric(self) -> bool:
        """Whether every batch holds the record, which leaves one Gaussian."""
        return self.batch == self.records

    @property
    def vertices(self) -> None:
        """None: the curve is smooth."""
        return None

    def _beta(self, threshold: Floats) -> Floats:
        shift, weight = self.histories()
        flat = np.ravel(threshold)
        value = np.empty_like(flat)
        for start in range(0, flat.size, 256):  # keeps the temporary array small
            part = slice(start, start + 256)
            # Not a matrix product: each row's sum must not depend on how many rows there are.
            value[part] = np.sum(special.ndtr(flat[part, None] - shift) * weight, axis=1)
        return np.clip(value, 0.0, 1.0).reshape(threshold.shape)

    def _ratio(self, threshold: Floats) -> Floats:
        shift, weight = self.histories()
        flat = np.ravel(threshold)
        with np.errstate(over="ignore", invalid="ignore"):
            exponent = flat[:, None] * shift - shift**2 / 2
            # Infinite thresholds: only the history of no participation keeps the ratio finite.
            exponent = np.where(shift == 0, 0.0, exponent)
            value = np.exp(exponent) @ weight
        return np.asarray(value).reshape(threshold.shape)

    def _threshold(self, log_s: float) -> float:
        """Solve ratio(t) = s; -inf when the ratio never falls to s."""
        shift, weight = self.histories()

        def gap(t: float) -> float:
            return float(special.logsumexp(t * shift - shift**2 / 2, b=weight)) - log_s

        low, high = -1.0, 1.0
        while gap(low) > 0:
            low *= 2
            if low < -1e6:
                return -math.inf
        while gap(high) < 0:
            high *= 2
        return float(optimize.brentq(gap, low, high, xtol=1e-14, rtol=4 * _ULP))

    def _support(self, s: float) -> float:
        threshold = self._threshold(math.log(s))
        cap = min(1.0, s)
        if math.isinf(threshold):
            return cap * (1 - 8 * _ULP)
        t = np.array([threshold])
        value = s * float(special.ndtr(-threshold)) + float(self._beta(t)[0])
        # The objective is convex in alpha, so it drops by at most |derivative| over [0, 1].
        residual = abs(s - float(self._ratio(t)[0]))
        rounding = _ULP * (1 + s) * (64 + 8 * min(threshold**2, 1e6) + len(self.histories()[0]))
        return max(0.0, min(cap, value - residual - rounding))


@functools.lru_cache(maxsize=64)
def _histories(curve: DPSGDToy) -> tuple[Floats, Floats]:
    share = curve.batch / curve.records
    size = curve.rate * (1 - curve.rate) ** np.arange(curve.tau) / curve.batch / curve.sd
    if share == 1:
        shift, weight = np.array([size.sum()]), np.ones(1)
    else:
        bits = (np.arange(2**curve.tau)[:, None] >> np.arange(curve.tau)) & 1
        shift = bits @ size
        weight = share ** bits.sum(axis=1) * (1 - share) ** (curve.tau - bits.sum(axis=1))
    order = np.argsort(shift, kind="stable")
    shift, weight = shift[order], weight[order]
    shift.flags.writeable = weight.flags.writeable = False
    return shift, weight


@dataclass(frozen=True)
class PiecewiseLinear(TradeoffCurve):
    """Straight lines between given points, exact for `Fraction` points.

    Parameters
    ----------
    points : tuple of (alpha, beta)
        Corners by strictly rising alpha from alpha = 0 to (1, 0): convex, beta falling. Either
        all Fractions or integers (exact) or floats.

    Raises
    ------
    ValueError
        If the points are not such a curve.
    """

    points: tuple[tuple[Any, Any], ...]
    support_kind: ClassVar[str] = "exact"

    def __post_init__(self) -> None:
        points = tuple((_plain(a), _plain(b)) for a, b in self.points)
        object.__setattr__(self, "points", points)
        if len(points) < 2 or points[0][0] != 0 or points[-1] != (1, 0):
            raise ValueError(f"points must lead from alpha = 0 to (1, 0), got {self.points!r}")
        if not all(0 <= b <= 1 for _, b in points):
            raise ValueError(f"points must have every beta in [0, 1], got {self.points!r}")
        slack = 0 if self.exact else 1e-12
        for (a0, b0), (a1, b1) in itertools.pairwise(points):
            if not (a0 < a1 and b0 >= b1):
                raise ValueError(
                    f"points must have rising alpha and falling beta, got {(a0, b0)}, {(a1, b1)}"
                )
        for (a0, b0), (a1, b1), (a2, b2) in zip(points, points[1:], points[2:], strict=False):
            if (b1 - b0) * (a2 - a1) > (b2 - b1) * (a1 - a0) + slack:
                raise ValueError(f"points must be convex, they are not at {(a1, b1)}")

    @classmethod
    def from_laws(cls, law0: Sequence[Any], law1: Sequence[Any]) -> PiecewiseLinear:
        """Exact curve of P = `law0` against Q = `law1` on one finite set of outputs.

        Outputs enter the region where Q is decided by falling ratio of their probabilities, by
        the lemma of Neyman and Pearson.

        Parameters
        ----------
        law0, law1 : sequence of Fraction, int or float, same length
            Probabilities, or non-negative integer weights (each law is divided by its sum).

        Raises
        ------
        ValueError
            If the lengths differ, a weight is negative or not finite, or a law sums to 0.
        """
        first, second = [_plain(p) for p in law0], [_plain(q) for q in law1]
        if len(first) != len(second):
            raise ValueError(
                f"law0 and law1 must have one length, got {len(first)} and {len(second)}"
            )
        for name, law in (("law0", first), ("law1", second)):
            if not all(0 <= p < math.inf for p in law) or sum(law) == 0:
                raise ValueError(f"{name} must be weights >= 0 with a positive sum, got {law!r}")
        exact = all(isinstance(p, Fraction) for p in first + second)
        groups: dict[Any, list[Any]] = {}
        for p, q in zip(first, second, strict=True):
            if p or q:
                ratio = (Fraction(q, p) if exact else q / p) if p else math.inf
                cell = groups.setdefault(ratio, [Fraction(0), Fraction(0)])
                # Floats are fractions too: sums of thousands of them must not round.
                cell[0] += Fraction(p)
                cell[1] += Fraction(q)
        total0, total1 = (sum(cell[side] for cell in groups.values()) for side in (0, 1))
        kind: Any = Fraction if exact else float
        one: Any = kind(1)
        alpha, beta, points = Fraction(0), total1, []
        for ratio in sorted(groups, reverse=True):
            p, q = groups[ratio]
            if ratio == math.inf:
                beta -= q
                continue
            points.append((kind(alpha / total0), kind(beta / total1)))
            alpha, beta = alpha + p, beta - q
        # Rounding must not leave the last corner off (1, 0).
        corners = [point for point in points if exact or point[0] < 1 - 1e-15]
        if not exact:
            corners = [(a, b if b > 1e-15 else 0.0) for a, b in corners]
        return cls((*corners, (one, 0 * one)))

    @property
    def exact(self) -> bool:
        """Whether every coordinate is a `Fraction`."""
        return all(isinstance(v, Fraction) for point in self.points for v in point)

    def __call__(self, alpha: Any) -> Any:
        """Interpolate; exact for a `Fraction` on exact points. See `TradeoffCurve`."""
        if isinstance(alpha, Fraction) and self.exact:
            if not 0 <= alpha <= 1:
                raise ValueError(f"alpha must be a number in [0, 1], got {alpha!r}")
            for (a0, b0), (a1, b1) in itertools.pairwise(self.points):
                if alpha <= a1:
                    return b0 + (b1 - b0) * (alpha - a0) / (a1 - a0)
        a, b = self._arrays()
        return _like(np.interp(_alphas(alpha), a, b), alpha)

    def slope(self, alpha: Any) -> Any:
        """Slope of the piece to the right; see `TradeoffCurve`."""
        a, b = self._arrays()
        piece = np.clip(np.searchsorted(a, _alphas(alpha), side="right") - 1, 0, len(a) - 2)
        return _like((np.diff(b) / np.diff(a))[piece], alpha)

    def support(self, s: Any) -> Any:
        """Smallest value over the corners: exact for a `Fraction`, else less 4 ulp."""
        if isinstance(s, Fraction) and self.exact:
            if not s > 0:
                raise ValueError(f"s must be positive and finite, got {s!r}")
            return min(s * a + b for a, b in self.points)
        a, b = self._arrays()
        slopes = _slopes(s)
        value = np.min(slopes[..., None] * a + b, axis=-1) * (1 - 4 * _ULP)
        if not self.exact:
            # Floating corners are themselves sums with rounding errors.
            value = np.maximum(value - 4 * _ULP * len(a) * (1 + slopes), 0.0)
        return _like(np.minimum(value, np.minimum(slopes, 1.0)), s)

    def delta_at(self, epsilon: float) -> float:
        """``max over corners of 1 - beta - e^epsilon alpha``; see `TradeoffCurve`."""
        factor = math.exp(min(_epsilon(epsilon), 709.0))
        return max(0.0, max(float(1 - b) - factor * float(a) for a, b in self.points))

    @property
    def symmetric(self) -> bool:
        """Whether mirroring the corners at the diagonal gives the same curve."""
        mirrored = PiecewiseLinear(_complete(tuple((b, a) for a, b in reversed(self.points))))
        ours = PiecewiseLinear(_complete(self.points))
        a = np.unique(np.concatenate([ours._arrays()[0], mirrored._arrays()[0]]))
        if self.exact:
            return all(ours(Fraction(v)) == mirrored(Fraction(v)) for v in _corners(ours, mirrored))
        return bool(np.allclose(ours(a), mirrored(a), rtol=0, atol=1e-12))

    @property
    def vertices(self) -> tuple[tuple[Any, Any], ...]:
        """The points."""
        return self.points

    def _arrays(self) -> tuple[Floats, Floats]:
        return (
            np.array([float(a) for a, _ in self.points]),
            np.array([float(b) for _, b in self.points]),
        )


def diagonal_crossing(curve: TradeoffCurve, difference: ArrayLike) -> Floats:
    """Where the line beta = alpha + difference meets the curve.

    Rule (8) of the auditor walks from a point (alpha, beta) at 45 degrees to the curve; the place
    where it arrives depends on beta - alpha only, and f(a) - a falls strictly, so it is unique.

    Parameters
    ----------
    curve : TradeoffCurve
        The curve f.
    difference : array_like of float
        beta - alpha.

    Returns
    -------
    ndarray of float64, same shape
        The a with f(a) - a = difference, to 1e-6; NaN where the line misses the curve.

    Notes
    -----
    Source: arXiv 2602.06518, section 3.4, rule (8), and Algorithm 6.
    """
    table = _diagonal_table(curve)
    d = np.asarray(difference, dtype=np.float64)
    if curve.vertices is not None:
        corners, offsets = table
        return np.asarray(np.interp(d, offsets, corners, left=np.nan, right=np.nan))
    return np.asarray(table(d), dtype=np.float64)


@functools.lru_cache(maxsize=128)
def _diagonal_table(curve: TradeoffCurve) -> Any:
    if curve.vertices is not None:
        a = np.array([float(p) for p, _ in curve.vertices])
        b = np.array([float(q) for _, q in curve.vertices])
        return a[::-1], (b - a)[::-1]
    # Smooth curves: dense where alpha is near 0 or 1, and at the corners of the Laplace curve.
    grid = special.ndtr(np.linspace(-8.2, 8.2, 8001))
    mu = getattr(curve, "mu", 0.0)
    extra = [0.0, 1.0, 0.5, math.exp(-mu) / 2]
    grid = np.unique(np.concatenate([grid, np.linspace(0, 1, 2001), extra]))
    offsets = np.asarray(curve(grid)) - grid
    offsets, first = np.unique(offsets, return_index=True)
    return interpolate.PchipInterpolator(offsets, grid[first], extrapolate=False)


def _gaussian_log_delta(mu: float, epsilon: float) -> float:
    """log(Phi(-a) - e^epsilon Phi(-b)) with a, b = epsilon / mu -+ mu / 2.

    As e^epsilon phi(b) = phi(a), delta = phi(a) (R(a) - R(b)) with the Mills ratio R, which
    neither overflows nor underflows. Where R(a) and R(b) nearly agree the same number is the
    integral of the positive function (1 - e^(-mu t)) e^(-a t - t^2 / 2) over t > 0.
    """
    if mu == 0:
        return -math.inf
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if a < -5:
        return math.log1p(-float(special.ndtr(a)) - math.exp(epsilon + float(special.log_ndtr(-b))))
    if a > 1e150:
        return -math.inf
    log_phi = -a * a / 2 - math.log(2 * math.pi) / 2
    mills_a, mills_b = (
        math.sqrt(math.pi / 2) * float(special.erfcx(z / math.sqrt(2))) for z in (a, b)
    )
    if mills_a - mills_b > 1e-2 * mills_a:
        return log_phi + math.log(mills_a - mills_b)
    scale = max(a, 1.0)
    u, weight = _legendre()
    rate = mu / scale
    # (1 - e^(-rate u)) / rate, which tends to u and must not underflow for tiny rates.
    loss = -np.expm1(-rate * u) / rate if rate > 1e-12 else u
    integral = float(weight @ (loss * np.exp(-a / scale * u - (u / scale) ** 2 / 2)))
    return log_phi + math.log(mu) - 2 * math.log(scale) + math.log(integral)


@functools.cache
def _legendre() -> tuple[Floats, Floats]:
    nodes, weights = special.roots_legendre(120)
    return 22.5 * (nodes + 1), 22.5 * weights


def _approximate(alpha: Floats, epsilon: float, delta: float) -> Floats:
    with np.errstate(over="ignore", divide="ignore"):
        # In logs, so that e^epsilon alone need not be finite.
        steep = 1 - delta - np.exp(epsilon + np.log(alpha))
    flat = math.exp(-epsilon) * (1 - delta - alpha)
    return np.maximum(np.maximum(steep, flat), 0.0)


def _approximate_slope(alpha: Floats, epsilon: float, delta: float) -> Floats:
    corner = (1 - delta) * math.exp(-float(np.logaddexp(0.0, epsilon)))
    with np.errstate(over="ignore"):
        steep = -np.exp(np.float64(epsilon))
    end = 1 - delta if delta > 0 else math.inf  # with delta = 0 the last piece reaches (1, 0)
    value = np.where(alpha < corner, steep, np.where(alpha < end, -math.exp(-epsilon), 0.0))
    return np.asarray(value, dtype=np.float64)


def _approximate_support(s: Floats, epsilon: float, delta: float) -> Floats:
    exponent = np.log1p(s) - np.logaddexp(0.0, epsilon)
    kink = np.exp(exponent) * (1 - _ULP * (16 + 4 * np.abs(exponent) + epsilon))
    least = np.minimum(np.minimum(s, 1.0), np.maximum(kink, 0.0))
    return np.asarray((1 - delta) * least * (1 - 4 * _ULP if delta > 0 else 1.0))


def _approximate_delta(at: float, epsilon: float, delta: float) -> float:
    # 1 - (1 + e^at) / (1 + e^epsilon), for at < epsilon, without losing digits.
    lost = -math.expm1(float(np.logaddexp(0.0, at) - np.logaddexp(0.0, epsilon)))
    return delta + (1 - delta) * max(0.0, lost)


def _approximate_vertices(epsilon: float, delta: float) -> tuple[tuple[float, float], ...]:
    corner = (1 - delta) * math.exp(-float(np.logaddexp(0.0, epsilon)))
    points = ((0.0, 1 - delta), (corner, corner), (1 - delta, 0.0), (1.0, 0.0))
    return tuple(dict.fromkeys(points))


def _complete(points: tuple[tuple[Any, Any], ...]) -> tuple[tuple[Any, Any], ...]:
    """Corners of the same region {(alpha, beta): beta >= f(alpha)}, from alpha = 0 to (1, 0)."""
    kept = dict.fromkeys(point for point in points)
    by_alpha: dict[Any, Any] = {}
    for a, b in kept:
        by_alpha[a] = min(b, by_alpha.get(a, b))
    corners = sorted(by_alpha.items())
    if corners[-1][0] != 1:
        corners.append((type(corners[-1][0])(1), type(corners[-1][0])(0)))
    return tuple(corners)


def _corners(*curves: PiecewiseLinear) -> list[Any]:
    return sorted({a for curve in curves for a, _ in curve.points})


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return Fraction(int(value))
    if isinstance(value, float | np.floating):
        return float(value)
    raise TypeError(f"points and laws must hold numbers, got {value!r}")


def _alphas(alpha: Any) -> Floats:
    values = np.asarray(alpha, dtype=np.float64)
    if not np.all((values >= 0) & (values <= 1)):
        wrong = values[~((values >= 0) & (values <= 1))].ravel()[0]
        raise ValueError(f"alpha must be a number in [0, 1], got {float(wrong)!r}")
    return values


def _slopes(s: Any) -> Floats:
    values = np.asarray(s, dtype=np.float64)
    good = (values > 0) & np.isfinite(values)
    if not np.all(good):
        raise ValueError(f"s must be positive and finite, got {float(values[~good].ravel()[0])!r}")
    return values


def _like(value: Any, template: Any) -> Any:
    """Return a float where a single number was asked for."""
    return float(value) if np.ndim(template) == 0 else value


def _number(name: str, value: object, *, minimum: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a finite number >= {minimum:g}, got {value!r}")
    number = float(value)
    if not (math.isfinite(number) and number >= minimum):
        raise ValueError(f"{name} must be a finite number >= {minimum:g}, got {value!r}")
    return number


def _keep(curve: TradeoffCurve, **parameter: float) -> None:
    """Keep a checked parameter as a plain number.

    Numbers of small types (a numpy integer of 8 bits, a float of 32) would wrap or round in the
    formulas, and still be equal to plain ones.
    """
    ((name, number),) = parameter.items()
    if type(getattr(curve, name)) not in (int, float):
        object.__setattr__(curve, name, number)


def _epsilon(value: object) -> float:
    return _number("epsilon", value, minimum=0.0)


def _open_unit(name: str, value: object) -> float:
    number = _number(name, value, minimum=0.0)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be a number in (0, 1), got {value!r}")
    return number


def _nudged(root: float, bad: Any, direction: float) -> float:
    """Move a root until it is on the safe side, by steps that double from one ulp."""
    step = max(abs(root), _SMALLEST) * _ULP
    while bad(root):
        root += direction * step
        step *= 2
    return root
