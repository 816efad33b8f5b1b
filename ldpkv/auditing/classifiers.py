"""Tests that the auditor learns: from outputs of both laws to a region where it decides Q.

A *classifier* is a frozen recipe with one method, ``fit(x, y)``. The fit is a score, an estimate
of ``log(q / p)``, together with the errors it expects of every threshold. `choose` picks the
threshold for a claimed curve and returns a `Witness`: phi(z) = 1, decide Q, where the score is
large. This is the convention of equation (2) of the paper.

Outputs are single numbers. They may repeat (atoms, discrete outputs) and may be infinite; numbers
beyond 1e300 count as infinite. NaN and vectors are refused, by `as_pairs`.

Source: arXiv 2602.06518, sections 3.3, 3.4, 4.1 and 4.2, Algorithms 2, 3, 6 and 7.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import special

from ldpkv import _check
from ldpkv.tradeoff import TradeoffCurve, diagonal_crossing

Floats = NDArray[np.float64]
Score = Callable[[Floats], Floats]

_HUGE = 1e300
# Added to densities before logarithms are taken, as the paper's artifact does.
_FLOOR = 1e-12


def as_pairs(pairs: Any) -> tuple[Floats, Floats]:
    """Check and split output pairs.

    Parameters
    ----------
    pairs : tuple (x, y) of array_like, shape (n,), or array_like, shape (n, 2)
        Outputs of the mechanism on D (law P) and on D' (law Q). Any real numbers, also infinite.

    Returns
    -------
    x, y : ndarray of float64, shape (n,)

    Raises
    ------
    TypeError
        If the outputs are not real numbers.
    ValueError
        If an output is NaN, outputs are vectors, or x and y differ in length.
    """
    if isinstance(pairs, tuple) and len(pairs) == 2:
        x, y = _outputs("x", pairs[0]), _outputs("y", pairs[1])
    else:
        both = np.asarray(pairs)
        if both.ndim != 2 or both.shape[1] != 2:
            raise ValueError(
                "pairs must be a tuple (x, y) or an array of shape (n, 2), one number for each "
                f"output, got shape {both.shape}; audit a score where outputs are vectors"
            )
        x, y = _outputs("x", both[:, 0]), _outputs("y", both[:, 1])
    if len(x) != len(y):
        raise ValueError(f"x and y must have one length, got {len(x)} and {len(y)}")
    return x, y


def _outputs(name: str, values: Any) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if array.ndim == 0:
        array = array[None]
    if array.ndim != 1:
        raise ValueError(
            f"{name} must have shape (n,), one number for each output, got shape {array.shape}; "
            "audit a score where outputs are vectors"
        )
    result = array.astype(np.float64)
    missing = np.isnan(result)
    if missing.any():
        raise ValueError(f"{name} must hold no NaN, got one at index {int(np.argmax(missing))}")
    return result


@dataclass(frozen=True)
class Tuning:
    """How the threshold of a score is chosen for a claimed curve f.

    Parameters
    ----------
    rule : {"diagonal", "vertical"}
        Rule (8): largest distance to f along the line at 45 degrees. Rule (7), of the paper's
        predecessor: largest f(alpha) - beta.
    signed : bool
        Whether only points below f count. The paper's distance has no sign, so that it can choose
        points above f.
    eta_max : float
        Thresholds of p / q lie on an even grid over [0, eta_max].
    n_eta : int
        Number of thresholds.
    perturbation : float
        h: a threshold is blurred uniformly over an interval of this length when its errors are
        computed from densities; 0 for none.
    """

    rule: str = "diagonal"
    signed: bool = True
    eta_max: float = 15.0
    n_eta: int = 1000
    perturbation: float = 0.1

    def __post_init__(self) -> None:
        _check.one_of("rule", self.rule, ("diagonal", "vertical"))
        _check.integer("n_eta", self.n_eta, minimum=2)
        if not 0 < self.eta_max < math.inf:
            raise ValueError(f"eta_max must be a finite number above 0, got {self.eta_max!r}")
        if not 0 <= self.perturbation < math.inf:
            raise ValueError(f"perturbation must be a number >= 0, got {self.perturbation!r}")

    def etas(self) -> Floats:
        """Grid of thresholds for p / q, shape (n_eta,)."""
        return np.linspace(0.0, self.eta_max, self.n_eta)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Thresholds of a score with the errors expected of them.

    Parameters
    ----------
    level : ndarray of float64, shape (k,)
        Decide Q where the score is at least this.
    alpha, beta : ndarray of float64, shape (k,)
        Expected errors.
    """

    level: Floats
    alpha: Floats
    beta: Floats


@dataclass(frozen=True, eq=False)
class Fit:
    """What a classifier learned.

    Parameters
    ----------
    name : str
        Of the classifier.
    score : callable
        Outputs, shape (n,), to estimates of log(q / p), shape (n,), possibly infinite.
    candidates : Candidates
        Thresholds to choose from.
    reversible : bool
        Whether the score is a log-ratio, so that a threshold has a mirror image, its negative.
    n_pairs : int
        Pairs it was fitted on.
    """

    name: str
    score: Score
    candidates: Candidates
    reversible: bool
    n_pairs: int


@dataclass(frozen=True, eq=False)
class Witness:
    """A test phi, fixed before it is used on new data.

    Parameters
    ----------
    name : str
        Classifier it comes from.
    score : callable
        Estimate of log(q / p), or a given score.
    threshold : float
        Of the score.
    strict : bool
        Whether phi = 1 needs score > threshold; else score >= threshold.
    alpha, beta : float
        Errors that were expected when the threshold was chosen; NaN if unknown.
    slope : float
        s of the supporting line the test is aimed at; NaN if none.
    fitted_on : int
        Pairs that the score was fitted on.
    """

    name: str
    score: Score = field(repr=False)
    threshold: float
    strict: bool
    alpha: float
    beta: float
    slope: float
    fitted_on: int

    def __call__(self, outputs: Floats) -> NDArray[np.bool_]:
        """Decide Q (True) or P (False) for each output.

        Parameters
        ----------
        outputs : ndarray of float64, shape (n,)
            No NaN.

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        values = self.score(outputs)
        decided = values > self.threshold if self.strict else values >= self.threshold
        return np.asarray(decided, dtype=np.bool_)

    @property
    def orientation(self) -> str:
        """Which outputs are taken for those of Q."""
        sign = ">" if self.strict else ">="
        return f"decide Q where score {sign} {self.threshold:.6g}; the score grows with q / p"


class Classifier(Protocol):
    """A recipe for a score."""

    name: ClassVar[str]

    def fit(self, x: Floats, y: Floats, tuning: Tuning) -> Fit:
        """Learn from outputs of P (`x`) and of Q (`y`)."""


def choose(
    fit: Fit,
    curve: TradeoffCurve,
    tuning: Tuning,
    *,
    side: str = "corrected",
    decision: str = "corner",
) -> Witness:
    """Choose the threshold of a fitted score.

    Parameters
    ----------
    fit : Fit
        The score and its candidates.
    curve : TradeoffCurve
        The claim f.
    tuning : Tuning
        Rule of choice.
    side : {"corrected", "published"}
        "published" uses the threshold on the wrong side of the ratio, as the code behind Table 1
        and Figures 5 and 8 of the paper did: chosen for p / q <= eta, used as q / p > eta.
    decision : {"corner", "line"}
        For "line" threshold and slope s are chosen together, by the largest margin
        ``c(s) - s alpha - beta`` in standard deviations of one pair; `tuning.rule` is not used.

    Returns
    -------
    Witness

    Notes
    -----
    Source: arXiv 2602.06518, rules (7) and (8), Algorithm 6. As in the paper's code, points with
    alpha = 0 or beta > 1 are left out, and the middle of the grid is taken when none remains.
    """
    _check.one_of("side", side, ("corrected", "published"))
    _check.one_of("decision", decision, ("corner", "line"))
    level, alpha, beta = fit.candidates.level, fit.candidates.alpha, fit.candidates.beta
    slope = math.nan
    if decision == "line":
        index, slope = _best_line(curve, alpha, beta, fit.n_pairs)
    else:
        index = _best_point(curve, alpha, beta, tuning)
    threshold, strict = float(level[index]), False
    if side == "published" and fit.reversible:
        threshold, strict = -threshold, True
    return Witness(
        fit.name,
        fit.score,
        threshold,
        strict,
        float(alpha[index]),
        float(beta[index]),
        slope,
        fit.n_pairs,
    )


def _best_point(curve: TradeoffCurve, alpha: Floats, beta: Floats, tuning: Tuning) -> int:
    if tuning.rule == "diagonal":
        distance = math.sqrt(2) * (diagonal_crossing(curve, beta - alpha) - alpha)
    else:
        distance = curve(np.clip(alpha, 0.0, 1.0)) - beta
    if not tuning.signed:
        distance = np.abs(distance)
    usable = (alpha > 0) & (beta <= 1) & ~np.isnan(distance)
    if not usable.any():
        return (len(alpha) - 1) // 2
    return int(np.argmax(np.where(usable, distance, -np.inf)))


def _best_line(
    curve: TradeoffCurve, alpha: Floats, beta: Floats, n_pairs: int
) -> tuple[int, float]:
    slopes, supports = _lines(curve)
    a, b = np.clip(alpha, 0.0, 1.0), np.clip(beta, 0.0, 1.0)
    least = 1 / (4 * n_pairs)
    var_a, var_b = np.maximum(a * (1 - a), least), np.maximum(b * (1 - b), least)
    gain = (supports - np.outer(a, slopes) - b[:, None]) / np.sqrt(
        np.outer(var_a, slopes**2) + var_b[:, None]
    )
    index, line = np.unravel_index(int(np.argmax(gain)), gain.shape)
    return int(index), float(slopes[line])


@functools.lru_cache(maxsize=128)
def _lines(curve: TradeoffCurve) -> tuple[Floats, Floats]:
    slopes = np.exp(np.linspace(-2.5, 2.5, 41))
    if curve.vertices is not None:
        # The lines of the curve's own pieces touch it all along and are often the best.
        points = np.array([[float(a), float(b)] for a, b in curve.vertices])
        with np.errstate(divide="ignore", over="ignore"):
            own = -np.diff(points[:, 1]) / np.diff(points[:, 0])
        slopes = np.union1d(slopes, own[(own > 1e-6) & (own < 1e6)])
    return slopes, np.asarray(curve.support(slopes), dtype=np.float64)


def refresh_due(n_pairs: int, fitted_on: int, tolerance: float = 0.1) -> bool:
    """Whether a density estimate is worth refitting.

    Parameters
    ----------
    n_pairs, fitted_on : int
        Pairs seen, and pairs at the last fit.
    tolerance : float, default 0.1
        Refit when the bandwidth would shrink by more than this share.

    Returns
    -------
    bool
        ``1 - (fitted_on / n_pairs)^(1/5) > tolerance``.

    Notes
    -----
    Source: arXiv 2602.06518, Algorithm 7.
    """
    return 1 - (fitted_on / n_pairs) ** 0.2 > tolerance


@dataclass(frozen=True)
class BinnedKDE:
    """Kernel densities on a grid, Gaussian kernel, direct plug-in bandwidth.

    Parameters
    ----------
    min_grid, max_grid : int
        The grid over the common range of both samples has n // 10 points, within these limits.
    published : bool
        Whether to follow two details of the code behind the paper's figures: binning leaves out
        every observation at the right end of the range, which loses an atom there; and the mass
        that kernels carry off the grid is not put back, so that errors expected far out are wrong
        by as much. By default nothing is left out and each density is given its mass again.

    Notes
    -----
    Both densities share one grid; each has its own bandwidth (`plug_in_bandwidth`). The kernel's
    weights on the grid are divided by their sum: otherwise a bandwidth below the grid step gives
    the ratio a random factor. Infinite outputs are atoms of their own.

    Source: arXiv 2602.06518, section 4.1 and Algorithm 3; Wand and Jones, "Kernel smoothing".
    """

    min_grid: int = 50
    max_grid: int = 1000
    published: bool = False
    name: ClassVar[str] = "binned kernel densities"

    def __post_init__(self) -> None:
        _check.integer("min_grid", self.min_grid, minimum=2)
        _check.integer("max_grid", self.max_grid, minimum=self.min_grid)

    def fit(self, x: Floats, y: Floats, tuning: Tuning) -> Fit:
        """Estimate both densities; see `Classifier`.

        Parameters
        ----------
        x, y : ndarray of float64, shape (n,)
            Outputs of P and of Q.
        tuning : Tuning
            Grid of thresholds and blur.
        """
        n = len(x)
        grid = max(self.min_grid, min(self.max_grid, n // 10))
        finite_x, finite_y = x[np.abs(x) <= _HUGE], y[np.abs(y) <= _HUGE]
        both = np.concatenate([finite_x, finite_y])
        low, high = (float(both.min()), float(both.max())) if len(both) else (0.0, 0.0)
        step = (high - low) / (grid - 1)
        if step < np.finfo(np.float64).tiny or low + step == low:
            # One point, or points that float64 cannot tell apart on this grid: a single atom.
            low, step = low, 1.0
            p, q = np.array([len(finite_x) / n]), np.array([len(finite_y) / n])
        else:
            keep = not self.published
            p, q = (
                binned_density(
                    s, plug_in_bandwidth(s, keep_end=keep), low, step, grid, keep_end=keep
                )
                for s in (finite_x, finite_y)
            )
            # An infinite output takes its share of the mass away from the finite ones.
            for density, share in ((p, len(finite_x) / n), (q, len(finite_y) / n)):
                density *= share if self.published or not share else share / (density.sum() * step)
        atoms = [(np.mean(s < -_HUGE), np.mean(s > _HUGE)) for s in (x, y)]
        below, above = (
            math.log(float(atoms[1][i]) + _FLOOR) - math.log(float(atoms[0][i]) + _FLOOR)
            for i in (0, 1)
        )
        score = _GridScore(low, step, p, q, below, above)
        mass_p = np.concatenate([p * step, atoms[0]])
        mass_q = np.concatenate([q * step, atoms[1]])
        ratio = np.concatenate([(p + _FLOOR) / (q + _FLOOR), np.exp([-below, -above])])
        return Fit(self.name, score, _from_cells(mass_p, mass_q, ratio, tuning), True, n)


@dataclass(frozen=True, eq=False)
class _GridScore:
    """log(q / p) of two densities on an even grid, linear between nodes, constant outside."""

    low: float
    step: float
    p: Floats
    q: Floats
    below: float
    above: float

    def __call__(self, outputs: Floats) -> Floats:
        score: Floats = _grid_score(
            outputs, self.low, self.step, self.p, self.q, self.below, self.above
        )
        return score


@dataclass(frozen=True)
class GaussianPlugIn:
    """Two normal laws with estimated means.

    Parameters
    ----------
    sd : float or None
        Known common standard deviation, above 0; None estimates one for each law, so that
        unequal variances are seen too.

    Notes
    -----
    With a known sd the candidates are 1,000 thresholds t over the range of the data, with
    ``alpha = 1 - Phi((t - m_P) / sd)``, ``beta = Phi((t - m_Q) / sd)`` when m_Q > m_P and mirrored
    otherwise. Infinite outputs are refused: they have no place in a normal law.

    Source: arXiv 2602.06518, section 4.2.
    """

    sd: float | None = 1.0
    name: ClassVar[str] = "normal laws"

    def __post_init__(self) -> None:
        if self.sd is not None and not 0 < self.sd < math.inf:
            raise ValueError(f"sd must be a finite number above 0 or None, got {self.sd!r}")

    def fit(self, x: Floats, y: Floats, tuning: Tuning) -> Fit:
        """Estimate the normal laws; arguments as in `BinnedKDE.fit`."""
        for label, sample in (("x", x), ("y", y)):
            if not np.all(np.abs(sample) <= _HUGE):
                raise ValueError(f"{label} must be finite for normal laws, got {sample!r}")
        mean_p, mean_q = float(x.mean()), float(y.mean())
        if self.sd is None:
            return self._unequal(x, y, mean_p, mean_q, tuning)
        score = _NormalScore(mean_p, self.sd, mean_q, self.sd)
        low, high = min(x.min(), y.min()), max(x.max(), y.max())
        t = np.linspace(low, high, tuning.n_eta)
        sign = 1.0 if mean_q >= mean_p else -1.0
        alpha = special.ndtr(-sign * (t - mean_p) / self.sd)
        beta = special.ndtr(sign * (t - mean_q) / self.sd)
        return Fit(self.name, score, Candidates(score(t), alpha, beta), True, len(x))

    def _unequal(self, x: Floats, y: Floats, mean_p: float, mean_q: float, tuning: Tuning) -> Fit:
        # Scaled first: squares of outputs near the limit of float64 would overflow.
        unit = max(float(np.abs(x).max()), float(np.abs(y).max())) or 1.0
        sd_p, sd_q = (float((s / unit).std(ddof=1)) * unit for s in (x, y))
        # Constant samples have no spread; a common tiny one keeps the ratio defined.
        least = 1e-9 * max(sd_p, sd_q, abs(mean_p), abs(mean_q), 1e-3)
        sd_p, sd_q = max(sd_p, least), max(sd_q, least)
        score = _NormalScore(mean_p, sd_p, mean_q, sd_q)
        z = np.linspace(-8, 8, 1001)
        weight = np.exp(-z * z / 2)
        weight /= weight.sum()
        nodes = np.concatenate([mean_p + sd_p * z, mean_q + sd_q * z])
        none = np.zeros_like(weight)
        with np.errstate(over="ignore"):
            ratio = np.exp(-score(nodes))
        cells = _from_cells(
            np.concatenate([weight, none]), np.concatenate([none, weight]), ratio, tuning
        )
        return Fit(self.name, score, cells, True, len(x))


@dataclass(frozen=True)
class _NormalScore:
    mean_p: float
    sd_p: float
    mean_q: float
    sd_q: float

    def __call__(self, outputs: Floats) -> Floats:
        a, b = (outputs - self.mean_p) / self.sd_p, (outputs - self.mean_q) / self.sd_q
        # As a product, because the difference of two huge squares would be lost.
        with np.errstate(over="ignore"):
            return np.asarray((a - b) * (a / 2 + b / 2) + math.log(self.sd_p / self.sd_q))


@dataclass(frozen=True)
class KnownRatio:
    """A likelihood ratio that the analyst knows.

    Parameters
    ----------
    log_ratio : callable
        Outputs, shape (n,), to log(q / p), shape (n,); may be infinite, never NaN.
    threshold : float, optional
        Fixed threshold of log(q / p): the test then never depends on data, the setting of Theorem
        3.1. By default it is tuned on the errors observed so far.
    """

    log_ratio: Score
    threshold: float | None = None
    name: ClassVar[str] = "known likelihood ratio"

    def fit(self, x: Floats, y: Floats, tuning: Tuning) -> Fit:
        """Count the errors of every threshold; arguments as in `BinnedKDE.fit`."""
        score_x, score_y = self._scores(x), self._scores(y)
        if self.threshold is not None:
            candidates = Candidates(
                np.array([self.threshold]),
                np.array([np.mean(score_x >= self.threshold)]),
                np.array([np.mean(score_y < self.threshold)]),
            )
            return Fit(self.name, self._scores, candidates, True, len(x))
        share = np.full(len(x), 1 / len(x))
        none = np.zeros(len(x))
        with np.errstate(over="ignore"):
            ratio = np.exp(-np.concatenate([score_x, score_y]))
        candidates = _from_cells(
            np.concatenate([share, none]), np.concatenate([none, share]), ratio, tuning
        )
        return Fit(self.name, self._scores, candidates, True, len(x))

    def _scores(self, outputs: Floats) -> Floats:
        scores = np.asarray(self.log_ratio(outputs), dtype=np.float64)
        if scores.shape != outputs.shape or np.isnan(scores).any():
            raise ValueError("log_ratio must give one number, not NaN, for each output")
        return scores


@dataclass(frozen=True)
class ScoreThreshold:
    """Outputs that are scores already: decide by a threshold on them.

    Parameters
    ----------
    larger : {"Q", "P"}
        The law whose scores are larger. In one-run audits P is the side with canaries and has the
        larger scores.

    Notes
    -----
    Candidates are `Tuning.n_eta` thresholds over the range of the data with their observed errors.

    Source: arXiv 2602.06518, section 4.4.
    """

    larger: str = "Q"
    name: ClassVar[str] = "threshold on the given score"

    def __post_init__(self) -> None:
        _check.one_of("larger", self.larger, ("Q", "P"))

    def fit(self, x: Floats, y: Floats, tuning: Tuning) -> Fit:
        """Count the errors of every threshold; arguments as in `BinnedKDE.fit`."""
        sign = 1.0 if self.larger == "Q" else -1.0
        a, b = np.sort(sign * x), np.sort(sign * y)
        low = max(min(a[0], b[0]), -_HUGE)
        high = min(max(a[-1], b[-1]), _HUGE)
        level = np.linspace(low, high, tuning.n_eta)
        alpha = 1 - np.searchsorted(a, level) / len(a)
        beta = np.searchsorted(b, level) / len(b)
        return Fit(self.name, _Signed(sign), Candidates(level, alpha, beta), False, len(x))


@dataclass(frozen=True)
class _Signed:
    sign: float

    def __call__(self, outputs: Floats) -> Floats:
        return self.sign * outputs


def _from_cells(mass_p: Floats, mass_q: Floats, ratio: Floats, tuning: Tuning) -> Candidates:
    etas = tuning.etas()
    inside_p, inside_q = _blurred_mass(mass_p, mass_q, ratio, etas, tuning.perturbation)
    # Errors from the side p / q > eta, as in the paper's code. It matters where densities lose
    # mass at the ends of the grid: from the other side Figure 6 comes out too high.
    with np.errstate(divide="ignore"):
        return Candidates(-np.log(etas), 1 - (mass_p.sum() - inside_p), mass_q.sum() - inside_q)


def plug_in_bandwidth(sample: Floats, grid: int = 401, *, keep_end: bool = True) -> float:
    """Direct plug-in bandwidth of a Gaussian kernel, two stages.

    Parameters
    ----------
    sample : ndarray of float64, shape (n,)
        Finite numbers.
    grid : int, default 401
        Points on which the sample is binned.
    keep_end : bool, default True
        Whether the largest observations are binned too; see `BinnedKDE`.

    Returns
    -------
    float
        ``h = (R(K) / (psi_4 n))^(1/5)``; 0 when fewer than two values differ.

    Notes
    -----
    ``psi_r = E p^(r)(X)`` is estimated by the mean of ``K_g^(r)(X_i - X_j)`` over all i, j, with
    the g that cancels the leading bias, ``g = (-2 K^(r)(0) / (psi_(r+2) n))^(1/(r+3))``. psi_8 is
    that of a normal law whose standard deviation is the smaller of the sample's and of the
    interquartile range over 1.349; psi_6 and psi_4 follow.

    Source: Sheather and Jones (1991); Wand and Jones, "Kernel smoothing", section 3.6.1.
    """
    n = len(sample)
    if n < 2:
        return 0.0
    low, high = float(sample.min()), float(sample.max())
    # Numbers near the limit of float64 would overflow in the sum of squares.
    unit = max(abs(low), abs(high), np.finfo(np.float64).tiny)
    scaled = sample / unit
    first, third = np.percentile(scaled, (25, 75))
    sd = float(scaled.std(ddof=1))
    scale = min(sd, float(third - first) / 1.349) or sd
    reach = (high / unit - low / unit) / scale if scale > 0 else 0.0
    if not (scale > 0 and 0 < reach < math.inf):
        return 0.0
    start = low / unit / scale
    counts = _linear_bins(scaled / scale, start, reach / (grid - 1), grid, keep_end)
    correlation = _autocorrelation(counts)
    total = counts.sum()
    offset = np.arange(grid) * (reach / (grid - 1))

    def psi(order: int, g: float) -> float:
        u2 = (offset / g) ** 2
        hermite = u2**3 - 15 * u2**2 + 45 * u2 - 15 if order == 6 else u2**2 - 6 * u2 + 3
        kernel = hermite * np.exp(-u2 / 2) / math.sqrt(2 * math.pi) / g ** (order + 1)
        return float(2 * correlation @ kernel - correlation[0] * kernel[0]) / total**2

    pilot = (2 * math.sqrt(2) ** 9 / (7 * n)) ** (1 / 9)
    psi6 = psi(6, pilot)
    if psi6 < 0:
        psi4 = psi(4, (-3 * math.sqrt(2 / math.pi) / (psi6 * n)) ** (1 / 7))
    else:
        psi4 = 3 / (8 * math.sqrt(math.pi))  # that of a normal law
    if psi4 <= 0:
        psi4 = 3 / (8 * math.sqrt(math.pi))
    return scale * unit * (1 / (2 * math.sqrt(math.pi) * psi4 * n)) ** 0.2


def binned_density(
    sample: Floats,
    bandwidth: float,
    low: float,
    step: float,
    grid: int,
    *,
    keep_end: bool = True,
) -> Floats:
    """Gaussian kernel density on an even grid.

    Parameters
    ----------
    sample : ndarray of float64, shape (n,)
        Finite numbers within the grid.
    bandwidth : float
        At least 0; well below `step` each observation stays at its nodes.
    low, step : float
        First node and distance of the nodes.
    grid : int
        Number of nodes.
    keep_end : bool, default True
        Whether observations on the last node count; see `BinnedKDE`.

    Returns
    -------
    ndarray of float64, shape (grid,)
        Density; an empty sample gives 0. Mass that the kernel carries off the grid is lost.
    """
    if len(sample) == 0:
        return np.zeros(grid)
    counts = _linear_bins(sample, low, step, grid, keep_end)
    width = bandwidth / step
    reach = min(int(4 * width), grid - 1)
    kernel = np.exp(-((np.arange(reach + 1) / width) ** 2) / 2) if reach else np.ones(1)
    kernel /= 2 * kernel.sum() - kernel[0]
    density: Floats = _smooth(counts, kernel) / (len(sample) * step)
    return density


@numba.njit(cache=True)
def _linear_bins(sample, low, step, grid, keep_end):  # type: ignore[no-untyped-def]
    """Share each observation between its two nodes."""
    counts = np.zeros(grid)
    for value in sample:
        place = (value - low) / step
        node = int(place)
        if 0 <= node < grid - 1:
            rest = place - node
            counts[node] += 1 - rest
            counts[node + 1] += rest
        elif keep_end:
            # On the last node, or a rounding error beyond it.
            counts[grid - 1] += 1
    return counts


@numba.njit(cache=True)
def _autocorrelation(counts):  # type: ignore[no-untyped-def]
    n = len(counts)
    result = np.zeros(n)
    for lag in range(n):
        total = 0.0
        for i in range(n - lag):
            total += counts[i] * counts[i + lag]
        result[lag] = total
    return result


@numba.njit(cache=True)
def _smooth(counts, kernel):  # type: ignore[no-untyped-def]
    n, reach = len(counts), len(kernel) - 1
    result = np.zeros(n)
    for i in range(n):
        total = 0.0
        for j in range(max(0, i - reach), min(n, i + reach + 1)):
            total += counts[j] * kernel[abs(i - j)]
        result[i] = total
    return result


@numba.njit(cache=True)
def _grid_score(outputs, low, step, p, q, below, above):  # type: ignore[no-untyped-def]
    last = len(p) - 1
    scores = np.empty(len(outputs))
    for k in range(len(outputs)):
        z = outputs[k]
        if z < -1e300:
            scores[k] = below
            continue
        if z > 1e300:
            scores[k] = above
            continue
        place = (z - low) / step
        if place <= 0:
            in_p, in_q = p[0], q[0]
        elif place >= last:
            in_p, in_q = p[last], q[last]
        else:
            node = int(place)
            rest = place - node
            in_p = p[node] + rest * (p[node + 1] - p[node])
            in_q = q[node] + rest * (q[node + 1] - q[node])
        scores[k] = math.log(in_q + 1e-12) - math.log(in_p + 1e-12)
    return scores


@numba.njit(cache=True)
def _blurred_mass(mass_p, mass_q, ratio, etas, blur):  # type: ignore[no-untyped-def]
    """P and Q mass where p / q <= eta + U, U uniform on [-blur / 2, blur / 2], for each eta."""
    below_p, below_q = np.zeros(len(etas)), np.zeros(len(etas))
    order = np.argsort(ratio)
    before_p = before_q = 0.0
    first = 0
    for k in range(len(etas)):
        # Cells that are certainly inside, by rising ratio, are added once.
        while first < len(order) and ratio[order[first]] <= etas[k] - blur / 2:
            before_p += mass_p[order[first]]
            before_q += mass_q[order[first]]
            first += 1
        inside_p, inside_q = before_p, before_q
        i = first
        while i < len(order) and ratio[order[i]] < etas[k] + blur / 2:
            share = 0.5 + (etas[k] - ratio[order[i]]) / blur
            inside_p += share * mass_p[order[i]]
            inside_q += share * mass_q[order[i]]
            i += 1
        below_p[k], below_q[k] = inside_p, inside_q
    return below_p, below_q
