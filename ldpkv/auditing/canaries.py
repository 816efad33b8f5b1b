"""Auditing DP-SGD in one run: a training loop with canaries on both sides, and their scores.

`train` trains a small network with DP-SGD. Besides the data it has 2 k canaries, each a gradient of
norm C along a coordinate of its own (a "Dirac canary"). Half of them take part like any other
record; the other half do not, but their coordinates are measured as well. So one run gives k scores
with and k scores without a canary, both from the same noise and the same training.

What each score asks of the analyst:

========= ======================================================================================
kind      what its scorer knows
========= ======================================================================================
raw       the noisy sums of gradients at every step (the intermediate models give them away), C,
          and which coordinate belongs to which canary
removed   also the sum of all other records' clipped gradients at every step: the worst case of
          the definition of privacy, where the adversary knows everything but one record
raw ratio as raw, and q and sigma: sum over steps of the log-likelihood ratio, with against without
          the canary, as if the other records had no gradient on the coordinate
ratio     as removed, and q and sigma: the same sum, which then is exact
========= ======================================================================================

"raw" and "removed" are means over steps in units of C. After removal a canary's observations are
``B + sigma Z``, with B its own coin and Z its own noise, independent over steps and coordinates
whatever the network does: `removed_errors` gives the exact law, and "ratio" is the best score.

Nothing here protects anybody: the noise is floating-point noise of a seedable generator.

Source: arXiv 2602.06518, section 4.4, with a network and data that fit into a page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from ldpkv import _check

Floats = NDArray[np.float64]

KINDS = RAW, REMOVED, RAW_RATIO, RATIO = ("raw", "removed", "raw ratio", "ratio")
"""The four scores."""


@dataclass(frozen=True)
class Network:
    """One hidden layer of rectified units, softmax on top, cross-entropy loss.

    Parameters
    ----------
    features, hidden, classes : int
        Sizes, at least 1; the default has 21,760 weights.

    Notes
    -----
    Weights are one flat array: hidden weights (features x hidden), hidden offsets, output weights
    (hidden x classes), output offsets.
    """

    features: int = 64
    hidden: int = 290
    classes: int = 10

    def __post_init__(self) -> None:
        for name in ("features", "hidden", "classes"):
            _check.integer(name, getattr(self, name), minimum=1)

    @property
    def n_weights(self) -> int:
        """Length of the weights."""
        return (self.features + 1) * self.hidden + (self.hidden + 1) * self.classes

    def start(self, *, rng: np.random.Generator | int | None = None) -> Floats:
        """Draw initial weights: normal with variance 2 / inputs, offsets 0.

        Parameters
        ----------
        rng : numpy.random.Generator or seed, optional
            Passed through `numpy.random.default_rng`.

        Returns
        -------
        ndarray of float64, shape (n_weights,)
        """
        generator = np.random.default_rng(rng)
        weights = np.zeros(self.n_weights)
        first, _, second, _ = self._parts(weights)
        for part in (first, second):
            part[...] = generator.standard_normal(part.shape) * math.sqrt(2 / part.shape[0])
        return weights

    def _parts(self, weights: Any) -> tuple[Any, Any, Any, Any]:
        """Views of the four parts."""
        ends = np.cumsum([self.features * self.hidden, self.hidden, self.hidden * self.classes])
        a, b, c, d = np.split(weights, ends)
        return a.reshape(self.features, -1), b, c.reshape(self.hidden, -1), d

    def log_probabilities(self, weights: Any, x: Any) -> Any:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        weights : ndarray of float64, shape (n_weights,)
            Where.
        x : ndarray of float, shape (n, features)
            Records.

        Returns
        -------
        ndarray, shape (n, classes)
        """
        first, offset, second, last = self._parts(weights)
        logits = np.maximum(x @ first + offset, 0) @ second + last
        logits -= logits.max(axis=1, keepdims=True)
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def losses(self, weights: Any, x: Any, labels: Any) -> Any:
        """Cross-entropy of each record, shape (n,); arguments as in `example_gradients`."""
        return -self.log_probabilities(weights, x)[np.arange(len(x)), labels]

    def accuracy(self, weights: Any, x: Any, labels: Any) -> float:
        """Share of records whose most probable class is the right one."""
        return float(np.mean(self.log_probabilities(weights, x).argmax(axis=1) == labels))

    def _deltas(self, weights: Any, x: Any, labels: Any) -> tuple[Any, Any, Any]:
        """Hidden outputs, and derivatives of each loss by hidden and output inputs."""
        first, offset, second, last = self._parts(weights)
        hidden = np.maximum(x @ first + offset, 0)
        logits = hidden @ second + last
        logits -= logits.max(axis=1, keepdims=True)
        top = np.exp(logits)
        top /= top.sum(axis=1, keepdims=True)
        top[np.arange(len(x)), labels] -= 1
        return hidden, (top @ second.T) * (hidden > 0), top

    def example_gradients(self, weights: Any, x: Any, labels: Any) -> Any:
        """Gradient of each record's loss, written out.

        Parameters
        ----------
        weights : ndarray of float64, shape (n_weights,)
            Where.
        x : ndarray of float, shape (n, features)
            Records.
        labels : ndarray of int, shape (n,)
            Classes 0 to classes - 1.

        Returns
        -------
        ndarray, shape (n, n_weights)
        """
        hidden, low, top = self._deltas(weights, x, labels)
        parts = (x[:, :, None] * low[:, None, :], low, hidden[:, :, None] * top[:, None, :], top)
        return np.concatenate([part.reshape(len(x), -1) for part in parts], axis=1)

    def clipped_sum(self, weights: Any, x: Any, labels: Any, clip_norm: float) -> tuple[Any, Any]:
        """Sum of the records' gradients, each scaled down to norm `clip_norm` if it is longer.

        Parameters
        ----------
        weights, x, labels
            As in `example_gradients`.
        clip_norm : float
            C, above 0.

        Returns
        -------
        total : ndarray, shape (n_weights,)
            The sum.
        norms : ndarray, shape (n,)
            Norms before clipping.

        Notes
        -----
        A gradient is made of outer products, so its norm is a product of small norms and the sum
        a product of small matrices: the gradients themselves are never written out.
        """
        hidden, low, top = self._deltas(weights, x, labels)
        squares = [np.einsum("ij,ij->i", part, part) for part in (x, low, hidden, top)]
        norms = np.sqrt((squares[0] + 1) * squares[1] + (squares[2] + 1) * squares[3])
        with np.errstate(divide="ignore"):
            scale = np.minimum(1, clip_norm / norms)
        low, top = low * scale[:, None], top * scale[:, None]
        parts = (x.T @ low, low.sum(axis=0), hidden.T @ top, top.sum(axis=0))
        return np.concatenate([part.ravel() for part in parts]), norms


@dataclass(frozen=True)
class OneRun:
    """Settings of a DP-SGD run with canaries; the defaults are those of the paper.

    Parameters
    ----------
    n_canaries : int
        k, canaries on each side; 2 k coordinates are needed.
    n_steps : int
        T, at least 2.
    sampling_rate : float
        q in (0, 1): every record and every included canary takes part in a step with this
        probability, independently of all others (Poisson sampling).
    noise_multiplier : float
        sigma, above 0: the sum of clipped gradients gets noise of standard deviation sigma C.
    clip_norm : float
        C, above 0.
    learning_rate : float
        Weights move by this times the noisy sum over q n C, n the number of data records.
    hidden : int
        Units of the hidden layer.
    n_watched : int
        Canaries on each side whose observation is kept for every single step, at most k.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.
    """

    n_canaries: int = 10_000
    n_steps: int = 2400
    sampling_rate: float = 1 / 12
    noise_multiplier: float = 3.0
    clip_norm: float = 1.0
    learning_rate: float = 0.5
    hidden: int = 290
    n_watched: int = 0

    def __post_init__(self) -> None:
        _check.integer("n_canaries", self.n_canaries, minimum=1)
        _check.integer("n_steps", self.n_steps, minimum=2)
        _check.integer("hidden", self.hidden, minimum=1)
        _check.integer("n_watched", self.n_watched, minimum=0)
        if self.n_watched > self.n_canaries:
            raise ValueError(
                f"n_watched must be at most n_canaries ({self.n_canaries}), got {self.n_watched}"
            )
        _check.probability("sampling_rate", self.sampling_rate)
        if not 0 < self.sampling_rate < 1:
            raise ValueError(
                f"sampling_rate must be a number in (0, 1), got {self.sampling_rate!r}"
            )
        for name in ("noise_multiplier", "clip_norm", "learning_rate"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise ValueError(f"{name} must be a finite number above 0, got {value!r}")


@dataclass(frozen=True, eq=False)
class CanaryRun:
    """What one run gave; arrays are read-only.

    Parameters
    ----------
    settings : OneRun
        How it was trained.
    scores_in, scores_out : mapping of str to ndarray of float64, shape (k,)
        For each of `KINDS`, the scores of included and of held-out canaries, in the same order for
        all kinds. "raw" and "removed" are in units of C, the ratios in nats.
    accuracy : float
        Share of test records that are classified rightly by the final model.
    train_accuracy : float
        The same for the records it was trained on.
    norms : ndarray of float64, shape (T,)
        Mean norm of the gradients sampled at a step, before clipping; NaN for none.
    batch_sizes : ndarray of int64, shape (T,)
        Data records at each step.
    canary_batches : ndarray of int64, shape (T,)
        Included canaries at each step.
    takings : ndarray of int64, shape (k,)
        Steps in which each included canary took part.
    steps_in, steps_out : ndarray of float32, shape (T, n_watched)
        Noisy sums on the coordinates of the first canaries of each side, in units of C, at each
        step; the base gradient is not removed.
    """

    settings: OneRun
    scores_in: Mapping[str, Floats] = field(repr=False)
    scores_out: Mapping[str, Floats] = field(repr=False)
    accuracy: float
    train_accuracy: float
    norms: Floats = field(repr=False)
    batch_sizes: NDArray[np.int64] = field(repr=False)
    canary_batches: NDArray[np.int64] = field(repr=False)
    takings: NDArray[np.int64] = field(repr=False)
    steps_in: NDArray[np.float32] = field(repr=False)
    steps_out: NDArray[np.float32] = field(repr=False)


class Separation(NamedTuple):
    """Distance of two samples of scores.

    Parameters
    ----------
    value : float
        d', difference of the means over the root mean square of both standard deviations.
    error : float
        Its standard error, for independent scores of any law.
    """

    value: float
    error: float


def separation(included: Any, excluded: Any) -> Separation:
    """Measure how far apart the two sides' scores are.

    Parameters
    ----------
    included, excluded : array_like of float, shape (n,) and (m,)
        Scores, at least two on each side.

    Returns
    -------
    Separation
        Standard error by the delta method; both samples are taken as independent draws.

    Raises
    ------
    ValueError
        If a side has fewer than two scores or both are constant.
    """
    a, b = (np.asarray(scores, dtype=np.float64) for scores in (included, excluded))
    if min(a.size, b.size) < 2:
        raise ValueError(f"both sides need two scores or more, got {a.size} and {b.size}")
    square = (a.var() + b.var()) / 2
    if not square > 0:
        raise ValueError("scores must not be constant on both sides")
    sd = math.sqrt(square)
    value = float(a.mean() - b.mean()) / sd
    error = 0.0
    for sign, scores in ((1.0, a), (-1.0, b)):
        centred = scores - scores.mean()
        influence = sign * centred / sd - value * (centred**2 - scores.var()) / (4 * square)
        error += float(influence.var()) / scores.size
    return Separation(value, math.sqrt(error))


def removed_errors(settings: OneRun, thresholds: Any) -> tuple[Floats, Floats]:
    """Exact errors of the test "included where the score `removed` is at least t".

    Parameters
    ----------
    settings : OneRun
        T, q and sigma are used.
    thresholds : array_like of float, shape (n,)
        t, in units of C.

    Returns
    -------
    alpha, beta : ndarray of float64, shape (n,)
        Probability that a held-out canary is called included, and the reverse.

    Notes
    -----
    A held-out score is N(0, sigma^2 / T), an included one the same plus Bin(T, q) / T. Their ratio
    grows with the score, so these tests are the best ones that use this score.
    """
    t = np.asarray(thresholds, dtype=np.float64)
    steps, sd = settings.n_steps, settings.noise_multiplier / math.sqrt(settings.n_steps)
    counts = np.arange(steps + 1)
    mass = stats.binom.pmf(counts, steps, settings.sampling_rate)
    seen = mass > 1e-18
    below = special.ndtr((t[:, None] - counts[seen] / steps) / sd) @ mass[seen]
    return special.ndtr(-t / sd), np.minimum(below, 1.0)


def limit_mu(settings: OneRun) -> float:
    """Give mu of the Gaussian limit of many steps, q sqrt(T (e^(1 / sigma^2) - 1)).

    Parameters
    ----------
    settings : OneRun
        T, q and sigma are used.

    Returns
    -------
    float
        An approximation, not a bound.
    """
    growth = math.expm1(settings.noise_multiplier**-2)
    return settings.sampling_rate * math.sqrt(settings.n_steps * growth)


def log_ratio(observed: Any, sampling_rate: float, noise_multiplier: float) -> Any:
    """Exact log-likelihood ratio of one step's observation, base gradient removed.

    Parameters
    ----------
    observed : ndarray of float
        In units of C.
    sampling_rate, noise_multiplier : float
        q and sigma.

    Returns
    -------
    ndarray
        ``log(1 - q + q exp((z - 1/2) / sigma^2))``: with the canary the observation is a mixture
        of N(0, sigma^2) and N(1, sigma^2), without it N(0, sigma^2). Positive where the canary is
        the better explanation.
    """
    return np.log1p(sampling_rate * np.expm1((observed - 0.5) / noise_multiplier**2))


def train(
    settings: OneRun,
    x: Any,
    labels: Any,
    *,
    test: tuple[Any, Any] | None = None,
    rng: np.random.Generator | int | None = None,
) -> CanaryRun:
    """Train with DP-SGD and score all canaries on the way.

    Parameters
    ----------
    settings : OneRun
        How to train.
    x : array_like of float, shape (n, features)
        Records, scaled to about [0, 1].
    labels : array_like of int, shape (n,)
        Classes 0, 1, ...
    test : tuple of (x, labels), optional
        Records for the accuracy; by default it is NaN.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`.

    Returns
    -------
    CanaryRun

    Raises
    ------
    ValueError
        If shapes do not fit, a number is not finite, a label is negative, or the network has fewer
        weights than there are canaries.

    Notes
    -----
    Coordinates of the canaries are drawn at random, so that both sides' scores have the same law
    but for the canary. Double precision: rounding errors of different machines then stay below
    1e-12 in the scores, and audits of the scores come out the same. The noise itself is drawn in
    single precision, which is faster and the same everywhere.
    """
    records, classes = _data("x", x, labels)
    n_classes = int(classes.max()) + 1
    if test is not None:
        held_x, held_labels = _data("test", *test)
        if held_x.shape[1] != records.shape[1]:
            raise ValueError(
                f"test must have {records.shape[1]} features like x, got {held_x.shape[1]}"
            )
        n_classes = max(n_classes, int(held_labels.max()) + 1)
    network = Network(records.shape[1], settings.hidden, n_classes)
    k, steps, width = settings.n_canaries, settings.n_steps, settings.n_watched
    if 2 * k > network.n_weights:
        raise ValueError(
            f"n_canaries must be at most {network.n_weights // 2}, half of the network's "
            f"{network.n_weights} weights, got {k}"
        )
    generator = np.random.default_rng(rng)
    weights = network.start(rng=generator)
    # The first k coordinates carry a canary, the others only its measurement.
    places = generator.permutation(network.n_weights)[: 2 * k]
    q, sigma, clip = settings.sampling_rate, settings.noise_multiplier, settings.clip_norm
    move = settings.learning_rate / (q * len(records) * clip)
    sums = {kind: np.zeros(2 * k) for kind in KINDS}
    takings = np.zeros(k, dtype=np.int64)
    norms = np.full(steps, np.nan)
    batch_sizes, canary_batches = (np.zeros(steps, dtype=np.int64) for _ in range(2))
    watched = np.empty((steps, 2 * width), dtype=np.float32)
    shown = np.r_[0:width, k : k + width]
    for step in range(steps):
        batch = sample_records(len(records), q, rng=generator)
        total, lengths = network.clipped_sum(weights, records[batch], classes[batch], clip)
        base = total[places] / clip
        taken = sample_records(k, q, rng=generator)
        total[places[:k]] += clip * taken
        total += gaussian_noise(len(total), sigma * clip, rng=generator)
        weights -= move * total
        observed = total[places] / clip
        removed = observed - base
        for kind, value in (
            (RAW, observed),
            (REMOVED, removed),
            (RAW_RATIO, log_ratio(observed, q, sigma)),
            (RATIO, log_ratio(removed, q, sigma)),
        ):
            sums[kind] += value
        takings += taken
        batch_sizes[step], canary_batches[step] = batch.sum(), taken.sum()
        if len(lengths):
            norms[step] = lengths.mean()
        watched[step] = observed[shown]
    for kind in (RAW, REMOVED):
        sums[kind] /= steps
    arrays = (norms, batch_sizes, canary_batches, takings, watched, *sums.values())
    for array in arrays:
        array.flags.writeable = False
    return CanaryRun(
        settings=settings,
        scores_in=MappingProxyType({kind: values[:k] for kind, values in sums.items()}),
        scores_out=MappingProxyType({kind: values[k:] for kind, values in sums.items()}),
        accuracy=math.nan if test is None else network.accuracy(weights, held_x, held_labels),
        train_accuracy=network.accuracy(weights, records, classes),
        norms=norms,
        batch_sizes=batch_sizes,
        canary_batches=canary_batches,
        takings=takings,
        steps_in=watched[:, :width],
        steps_out=watched[:, width:],
    )


def sample_records(n: int, rate: float, *, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Poisson sampling: which of n records take part, each with probability `rate` by itself.

    Parameters
    ----------
    n : int
        Records.
    rate : float
        Probability.
    rng : numpy.random.Generator
        Where the coins come from.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    return rng.random(n) < rate


def gaussian_noise(n: int, sd: float, *, rng: np.random.Generator) -> NDArray[np.float32]:
    """Independent normal noise of standard deviation `sd`, shape (n,), in single precision.

    Parameters
    ----------
    n : int
        Coordinates.
    sd : float
        Standard deviation.
    rng : numpy.random.Generator
        Where it comes from.

    Returns
    -------
    ndarray of float32, shape (n,)
    """
    return rng.standard_normal(n, dtype=np.float32) * np.float32(sd)


def _data(name: str, x: Any, labels: Any) -> tuple[Floats, NDArray[np.int64]]:
    """Records and classes as arrays, checked."""
    records = np.asarray(x, dtype=np.float64)
    classes = np.asarray(labels)
    if records.ndim != 2 or not records.size or not np.isfinite(records).all():
        raise ValueError(
            f"{name} must hold finite numbers of shape (n, features), got shape {records.shape}"
        )
    if classes.shape != records.shape[:1] or not np.issubdtype(classes.dtype, np.integer):
        raise ValueError(
            f"labels of {name} must be integers of shape ({len(records)},), got "
            f"{classes.dtype} of shape {classes.shape}"
        )
    if classes.min() < 0:
        raise ValueError(f"labels of {name} must be at least 0, got {classes.min()}")
    return records, classes.astype(np.int64)
