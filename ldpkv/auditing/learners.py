"""Learners for betting: from outputs of both laws to an estimate of log(q / p).

A *learner* is a frozen recipe with one method, ``fit(x, y)``, that returns a score: a callable from
outputs to estimates of the log-ratio of their densities. The betting auditor is valid for every
score that looks at each output by itself, so learners may assume what they like: a wrong assumption
costs samples, never the level. All estimates are drawn a little towards P = Q, because a bet on a
ratio that is not there costs money.

Source: the project's own; see "An exact auditor" in the book.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ldpkv.auditing.classifiers import Floats, Score, binned_density, plug_in_bandwidth

# Standardised outputs beyond this count as being there: squares stay finite, outliers stay few.
_FAR = 50.0
# Weight of P = Q in the estimates of locations and scales, in pairs.
_PRIOR = 4.0
_GRID = 401


class Learner(Protocol):
    """A recipe for a score.

    The score must be one fixed function of a single output, the same for outputs of P and of Q and
    at every call. One that looks at the outputs beside it (a network that normalises by its batch,
    say) has seen what it bets on, and no level holds; the auditor refuses it where it notices.

    Attributes
    ----------
    vectors : bool
        Whether outputs may be vectors, shape (n, k); else they are numbers, shape (n,).
    capital : float
        Share of the wealth that it starts with, relative to the other learners; above 0.
    """

    name: ClassVar[str]
    vectors: ClassVar[bool]
    capital: ClassVar[float]

    def fit(self, x: Floats, y: Floats) -> Score:
        """Learn from outputs of P (`x`) and of Q (`y`), at least two of each."""


@dataclass(frozen=True)
class Known:
    """A likelihood ratio that the analyst knows.

    Parameters
    ----------
    log_ratio : callable
        Outputs, shape (n,) or (n, k), to log(q / p), shape (n,); may be infinite, never NaN.
    """

    log_ratio: Score
    name: ClassVar[str] = "known likelihood ratio"
    vectors: ClassVar[bool] = True
    capital: ClassVar[float] = 1.0

    def fit(self, x: Floats, y: Floats) -> Score:
        """Return `log_ratio`; nothing is learned."""
        return self.log_ratio


@dataclass(frozen=True)
class Normal:
    """Two normal laws, each with its own location and scale.

    Notes
    -----
    Outputs are centred at the pooled median and divided by the pooled interquartile range, and cut
    off far outside, so that heavy tails and infinite outputs do no harm.
    """

    name: ClassVar[str] = "normal laws"
    vectors: ClassVar[bool] = False
    capital: ClassVar[float] = 2.0  # it learns fastest, and sums of noise are nearly normal

    def fit(self, x: Floats, y: Floats) -> Score:
        """Estimate the normal laws; see `Learner.fit`."""
        frame = _Frame.of(x, y)
        (mean_p, sd_p), (mean_q, sd_q) = _moments(frame(x), frame(y))
        return _NormalRatio(frame, mean_p, sd_p, mean_q, sd_q)


@dataclass(frozen=True)
class CommonShape:
    """Two laws of one symmetric shape, each with its own location and scale.

    This is what a mechanism that adds noise looks like, whatever the noise. The shape is a kernel
    density of the residuals of both samples and of their mirror images.

    Notes
    -----
    While data are few the shape is mixed with a normal and a Laplace law, weight
    ``2 / (2 + sqrt(n))`` together.
    """

    name: ClassVar[str] = "common shape"
    vectors: ClassVar[bool] = False
    capital: ClassVar[float] = 1.0

    def fit(self, x: Floats, y: Floats) -> Score:
        """Estimate locations, scales and the shape; see `Learner.fit`."""
        frame = _Frame.of(x, y)
        u, v = frame(x), frame(y)
        (mean_p, sd_p), (mean_q, sd_q) = _moments(u, v)
        rest = np.concatenate([(u - mean_p) / sd_p, (v - mean_q) / sd_q])
        rest = np.concatenate([rest, -rest])
        width = max(plug_in_bandwidth(rest), 0.05)
        high = max(8.0, float(np.abs(rest).max()) + 3 * width)
        nodes = np.linspace(-high, high, 2 * _GRID - 1)
        shape = binned_density(rest, width, -high, nodes[1] - nodes[0], len(nodes))
        start = np.exp(-(nodes**2) / 2) / math.sqrt(2 * math.pi) / 2
        start += np.exp(-math.sqrt(2) * np.abs(nodes)) / math.sqrt(2) / 2
        share = 2 / (2 + math.sqrt(min(len(x), len(y))))
        density = np.log((1 - share) * shape + share * start + 1e-300)
        return _ShapeRatio(frame, mean_p, sd_p, mean_q, sd_q, nodes, density)


@dataclass(frozen=True)
class Densities:
    """A kernel density for each law, and a probability for each value that repeats.

    Values seen at least twice, and infinite ones, are atoms; each gets the share of either sample
    that it has. The rest gets a density: kernels on a scale that is linear in the middle of the
    data and logarithmic far out, where ratios of densities are the same.

    Parameters
    ----------
    pull : float, default 0.5
        Both densities are mixed with their average, weight ``pull / sqrt(n)`` against 1.
    """

    pull: float = 0.5
    name: ClassVar[str] = "densities and atoms"
    vectors: ClassVar[bool] = False
    capital: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.pull < math.inf:
            raise ValueError(f"pull must be a finite number above 0, got {self.pull!r}")

    def fit(self, x: Floats, y: Floats) -> Score:
        """Estimate atoms and densities; see `Learner.fit`."""
        values, place, count = np.unique(
            np.concatenate([x, y]), return_inverse=True, return_counts=True
        )
        repeats = (count > 1) | np.isinf(values)
        atom_x, atom_y = repeats[place[: len(x)]], repeats[place[len(x) :]]
        share_p = np.bincount(place[: len(x)], minlength=len(values))[repeats] / len(x)
        share_q = np.bincount(place[len(x) :], minlength=len(values))[repeats] / len(y)
        rest_p, rest_q = float(np.mean(~atom_x)), float(np.mean(~atom_y))
        n = min(len(x), len(y))
        ratios = _drawn_ratio(np.append(share_p, rest_p), np.append(share_q, rest_q), n)
        nodes, table = np.array([0.0, 1.0]), np.zeros(2)
        frame = _Frame(0.0, 1.0)
        if min((~atom_x).sum(), (~atom_y).sum()) >= 2:
            frame, nodes, table = self._smooth(x[~atom_x], y[~atom_y])
        return _DensityRatio(frame, nodes, table + ratios[-1], values[repeats], ratios[:-1])

    def _smooth(self, x: Floats, y: Floats) -> tuple[_Frame, Floats, Floats]:
        frame = _Frame.of(x, y)
        u, v = (2 * np.arcsinh(frame(s, cut=False) / 2) for s in (x, y))
        width_u, width_v = plug_in_bandwidth(u), plug_in_bandwidth(v)
        reach = 3 * max(width_u, width_v)
        low = min(u.min(), v.min()) - reach
        high = max(u.max(), v.max()) + reach
        nodes = np.linspace(low, high, _GRID) if high > low else low + np.linspace(-1, 1, _GRID)
        step = nodes[1] - nodes[0]
        p = binned_density(u, width_u, nodes[0], step, _GRID)
        q = binned_density(v, width_v, nodes[0], step, _GRID)
        # A broad law beneath, so that a single far output is no proof.
        broad = 1 / (2 * math.pi * (1 + (nodes / 2) ** 2))
        middle = 0.9 * (p + q) / 2 + 0.1 * broad
        pull = self.pull / math.sqrt(min(len(x), len(y)))
        return frame, nodes, np.log(q + pull * middle) - np.log(p + pull * middle)


@dataclass(frozen=True)
class Categories:
    """Learner for outputs that are categories: each value by itself, whatever the numbers mean.

    Parameters
    ----------
    prior : float, default 1.0
        Outputs that each value is thought to have had on either side before the first.

    Notes
    -----
    ``log((n_q + prior) / (n_p + prior))`` for a value seen n_p and n_q times, 0 for a new one. A
    value tells nothing before it has come several times, so the samples must be large against
    the number of values that matter.
    """

    prior: float = 1.0
    name: ClassVar[str] = "categories"
    vectors: ClassVar[bool] = False
    capital: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.prior < math.inf:
            raise ValueError(f"prior must be a finite number above 0, got {self.prior!r}")

    def fit(self, x: Floats, y: Floats) -> Score:
        """Count values; see `Learner.fit`."""
        values, place = np.unique(np.concatenate([x, y]), return_inverse=True)
        p, q = (
            np.bincount(part, minlength=len(values)) + self.prior
            for part in (place[: len(x)], place[len(x) :])
        )
        return _CategoryRatio(values, np.log(q / p))


@dataclass(frozen=True)
class Probabilistic:
    """Any classifier with scikit-learn's interface, also for vector outputs.

    Parameters
    ----------
    make : callable
        ``make()`` gives a fresh estimator with ``fit(Z, labels)`` and ``predict_proba(Z)``; its
        random state is fixed there.
    largest : float, default 4.0
        Log-ratios are cut off here, since a classifier may be sure for no reason.
    """

    make: Callable[[], Any]
    largest: float = 4.0
    name: ClassVar[str] = "classifier"
    vectors: ClassVar[bool] = True
    capital: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        if not callable(self.make):
            raise TypeError(f"make must be callable, got {self.make!r}")
        if not 0 < self.largest < math.inf:
            raise ValueError(f"largest must be a finite number above 0, got {self.largest!r}")

    def fit(self, x: Floats, y: Floats) -> Score:
        """Fit on outputs of P with label 0 and of Q with label 1; see `Learner.fit`."""
        outputs = np.concatenate([x, y])
        labels = np.repeat([0, 1], [len(x), len(y)])
        estimator = self.make()
        estimator.fit(_rows(outputs), labels)
        return _ProbabilityRatio(estimator, self.largest, math.log(len(x) / len(y)))


@dataclass(frozen=True)
class _Frame:
    """Centre and scale of both samples together."""

    centre: float
    scale: float

    @classmethod
    def of(cls, x: Floats, y: Floats) -> _Frame:
        pooled = np.concatenate([x, y])
        pooled = pooled[np.abs(pooled) < 1e300]
        if len(pooled) == 0:
            return cls(0.0, 1.0)
        first, centre, third = (float(q) for q in np.percentile(pooled, (25, 50, 75)))
        scale = third / 1.349 - first / 1.349
        if not scale > 0:
            # More than half of the outputs are one value.
            scale = float(np.mean(np.abs(pooled / 4 - centre / 4))) * 4
        return cls(centre, scale) if 0 < scale < math.inf else cls(centre, 1.0)

    def __call__(self, outputs: Floats, *, cut: bool = True) -> Floats:
        # Divided first: the difference of two huge outputs may overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            result = (outputs - self.centre) / self.scale
        return np.clip(result, -_FAR, _FAR) if cut else np.clip(result, -1e300, 1e300)


@dataclass(frozen=True)
class _NormalRatio:
    frame: _Frame
    mean_p: float
    sd_p: float
    mean_q: float
    sd_q: float

    def __call__(self, outputs: Floats) -> Floats:
        z = self.frame(outputs)
        a, b = (z - self.mean_p) / self.sd_p, (z - self.mean_q) / self.sd_q
        return np.asarray((a * a - b * b) / 2 + math.log(self.sd_p / self.sd_q))


@dataclass(frozen=True, eq=False)
class _ShapeRatio:
    frame: _Frame
    mean_p: float
    sd_p: float
    mean_q: float
    sd_q: float
    nodes: Floats
    density: Floats

    def __call__(self, outputs: Floats) -> Floats:
        z = self.frame(outputs)
        q = np.interp((z - self.mean_q) / self.sd_q, self.nodes, self.density)
        p = np.interp((z - self.mean_p) / self.sd_p, self.nodes, self.density)
        return np.asarray(q - p + math.log(self.sd_p / self.sd_q))


@dataclass(frozen=True, eq=False)
class _DensityRatio:
    frame: _Frame
    nodes: Floats
    table: Floats
    atoms: Floats
    at_atoms: Floats

    def __call__(self, outputs: Floats) -> Floats:
        u = 2 * np.arcsinh(self.frame(outputs, cut=False) / 2)
        score = np.interp(u, self.nodes, self.table)
        if len(self.atoms):
            place = np.minimum(np.searchsorted(self.atoms, outputs), len(self.atoms) - 1)
            score = np.where(self.atoms[place] == outputs, self.at_atoms[place], score)
        return np.asarray(score)


@dataclass(frozen=True, eq=False)
class _CategoryRatio:
    values: Floats
    ratio: Floats

    def __call__(self, outputs: Floats) -> Floats:
        place = np.minimum(np.searchsorted(self.values, outputs), len(self.values) - 1)
        return np.where(self.values[place] == outputs, self.ratio[place], 0.0)


@dataclass(frozen=True, eq=False)
class _ProbabilityRatio:
    estimator: Any
    largest: float
    offset: float  # log of the ratio of the sample sizes

    def __call__(self, outputs: Floats) -> Floats:
        if len(outputs) == 0:
            return np.empty(0)
        chance = np.asarray(self.estimator.predict_proba(_rows(outputs)), dtype=np.float64)[:, 1]
        with np.errstate(divide="ignore"):
            score = np.log(chance) - np.log1p(-chance) + self.offset
        return np.clip(np.nan_to_num(score, nan=0.0), -self.largest, self.largest)


def _rows(outputs: Floats) -> Floats:
    return outputs if outputs.ndim == 2 else outputs[:, None]


def _moments(x: Floats, y: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """Mean and standard deviation of both samples, drawn towards those of the pooled one."""
    pooled = np.concatenate([x, y])
    centre, spread = float(pooled.mean()), float(pooled.var()) or 1.0
    result = []
    for sample in (x, y):
        n = len(sample)
        mean = (n * float(sample.mean()) + _PRIOR * centre) / (n + _PRIOR)
        square = (float(((sample - mean) ** 2).sum()) + _PRIOR * spread) / (n + _PRIOR)
        result.append((mean, math.sqrt(square)))
    return result[0], result[1]


def _drawn_ratio(p: Floats, q: Floats, n: int) -> Floats:
    """Log-ratios of shares of n outputs each, drawn towards 0 by `_PRIOR` outputs."""
    middle = (p + q) / 2
    if not len(middle):
        return middle
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(n * q + _PRIOR * middle) - np.log(n * p + _PRIOR * middle)
    return np.where(middle > 0, ratio, 0.0)
