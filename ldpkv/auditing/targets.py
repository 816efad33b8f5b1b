"""Mechanisms under audit, with a known truth: each draws pairs of outputs on D and on D'.

A target is a frozen value. ``sample(n, rng=...)`` returns ``(x, y)``: n outputs on D (law P) and n
on its neighbour D' (law Q), all independent. Where P and Q have a closed-form trade-off curve,
``curve()`` gives it.

None of these samplers protects anybody: they use floating-point noise of a seedable generator.

Source: arXiv 2602.06518, section 4 and Table 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ldpkv import _check
from ldpkv.tradeoff import DPSGDToy, GaussianDP, LaplaceDP, PureDP, TradeoffCurve

Floats = NDArray[np.float64]
Pairs = tuple[Floats, Floats]
Rng = np.random.Generator | int | None

# What the published mechanisms put in place of a noisy count that is not positive.
_LEAST_COUNT = 1e-12


class Target(Protocol):
    """What every mechanism under audit can do."""

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'."""


@dataclass(frozen=True)
class Gaussian:
    """A sum plus normal noise: N(0, sd^2) against N(mu sd, sd^2).

    Parameters
    ----------
    mu : float
        Shift in standard deviations. The paper's data have D = 0^10, D' = (1, 0, ..., 0) and sd 1.
    sd : float
        Above 0.
    """

    mu: float = 1.0
    sd: float = 1.0

    def __post_init__(self) -> None:
        _finite("mu", self.mu)
        _positive("sd", self.sd)

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        noise = self.sd * np.random.default_rng(rng).standard_normal((2, n))
        return noise[0], noise[1] + self.mu * self.sd

    def curve(self) -> TradeoffCurve:
        """Exact trade-off curve."""
        return GaussianDP(abs(self.mu))

    def log_ratio(self, outputs: Floats) -> Floats:
        """Exact log(q / p)."""
        return np.asarray(self.mu * (outputs / self.sd - self.mu / 2))


@dataclass(frozen=True)
class Laplace:
    """A sum plus Laplace noise: Lap(0, scale) against Lap(mu scale, scale).

    Parameters
    ----------
    mu : float
        Shift divided by scale.
    scale : float
        Above 0.
    """

    mu: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        _finite("mu", self.mu)
        _positive("scale", self.scale)

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        noise = np.random.default_rng(rng).laplace(0.0, self.scale, (2, n))
        return noise[0], noise[1] + self.mu * self.scale

    def curve(self) -> TradeoffCurve:
        """Exact trade-off curve."""
        return LaplaceDP(abs(self.mu))

    def log_ratio(self, outputs: Floats) -> Floats:
        """Exact log(q / p)."""
        z = outputs / self.scale
        return np.asarray(np.abs(z) - np.abs(z - self.mu))


@dataclass(frozen=True)
class Cauchy:
    """Cauchy laws at distance mu: heavy tails, which trouble density estimates.

    Parameters
    ----------
    mu : float
        Shift; 0 gives P = Q.
    """

    mu: float = 0.0

    def __post_init__(self) -> None:
        _finite("mu", self.mu)

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        noise = np.random.default_rng(rng).standard_cauchy((2, n))
        return noise[0], noise[1] + self.mu


@dataclass(frozen=True)
class RandomisedResponse:
    """One bit, told truthfully with probability e^epsilon / (1 + e^epsilon), plus normal noise.

    Parameters
    ----------
    epsilon : float
        Above 0, in nats.
    noise : float
        Standard deviation of noise added to the answer; 0 leaves two atoms. With noise the pair is
        a little more private than `curve` says.
    """

    epsilon: float
    noise: float = 0.0

    def __post_init__(self) -> None:
        _check.epsilon(self.epsilon)
        if not 0 <= self.noise < math.inf:
            raise ValueError(f"noise must be a finite number >= 0, got {self.noise!r}")

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        generator = np.random.default_rng(rng)
        truthful = generator.random((2, n)) < 1 / (1 + math.exp(-self.epsilon))
        answers = np.stack([~truthful[0], truthful[1]]).astype(np.float64)
        answers += self.noise * generator.standard_normal((2, n))
        return answers[0], answers[1]

    def curve(self) -> TradeoffCurve:
        """Exact trade-off curve of the answers without noise."""
        return PureDP(self.epsilon)


@dataclass(frozen=True)
class DPSGD:
    """Last iterate of noisy gradient descent; parameters as in `ldpkv.tradeoff.DPSGDToy`.

    Parameters
    ----------
    tau : int
        Number of steps.
    rate, sigma : float
        Step size rho and standard deviation of the gradient noise.
    batch, records : int
        Batch size m and number of records r.

    Notes
    -----
    The loss is ``(theta - x)^2 / 2``, theta starts at 0, D = 0^r and D' = (1, 0, ..., 0).

    Source: arXiv 2602.06518, section 4, "DP-SGD".
    """

    tau: int = 10
    rate: float = 0.2
    sigma: float = 0.2
    batch: int = 5
    records: int = 10

    def __post_init__(self) -> None:
        self.curve()  # checks the parameters

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D', step by step; see `Target`."""
        generator = np.random.default_rng(rng)
        theta = np.zeros((2, n))
        for _ in range(self.tau):
            # The batch is drawn without replacement; it matters only whether it holds the 1.
            holds = generator.random(n) < self.batch / self.records
            gradient = theta + self.sigma * generator.standard_normal((2, n))
            gradient[1] -= holds / self.batch
            theta = theta - self.rate * gradient
        return theta[0], theta[1]

    def curve(self) -> TradeoffCurve:
        """Exact trade-off curve."""
        return DPSGDToy(self.tau, self.rate, self.sigma, self.batch, self.records)


@dataclass(frozen=True)
class NonDPLaplace1:
    """A mean with noise Lap(2 / (n epsilon)): its scale gives the number of records away.

    D = (0) and D' = (0, 1), so P = Lap(0, 2 / epsilon) and Q = Lap(1/2, 1 / epsilon).

    Parameters
    ----------
    epsilon : float
        Claimed budget, above 0.

    Notes
    -----
    Source: arXiv 2602.06518, Table 1, without the ceiling that the paper prints in the scale.
    """

    epsilon: float

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon)

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        noise = np.random.default_rng(rng).laplace(0.0, 1.0, (2, n))
        return 2 / self.epsilon * noise[0], 0.5 + noise[1] / self.epsilon


@dataclass(frozen=True)
class NonDPGaussian1:
    """A mean with noise N(0, (2 / (n epsilon))^2); else as `NonDPLaplace1`.

    Parameters
    ----------
    epsilon : float
        Claimed budget, above 0.
    """

    epsilon: float

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon)

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        noise = np.random.default_rng(rng).standard_normal((2, n))
        return 2 / self.epsilon * noise[0], 0.5 + noise[1] / self.epsilon


@dataclass(frozen=True)
class DPLaplace:
    """A noisy sum over a noisy count, half of the budget each: private.

    ``m = max(1e-12, n + Lap(2 / epsilon))``, output ``(sum + Lap(2 / epsilon)) / m``; D = (0) and
    D' = (0, 1).

    Parameters
    ----------
    epsilon : float
        Budget, above 0.
    """

    epsilon: float

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon)

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        noise = np.random.default_rng(rng).laplace(0.0, 2 / self.epsilon, (2, 2, n))
        return _noisy_mean(noise)


@dataclass(frozen=True)
class DPGaussian:
    """A noisy sum over a noisy count with normal noise: private.

    Sum and count get ``s = sqrt(2 log(1.25 / (delta / 2))) / (epsilon / 2)``; else as `DPLaplace`.

    Parameters
    ----------
    epsilon : float
        Budget, above 0.
    delta : float
        In (0, 1).
    """

    epsilon: float
    delta: float = 1e-5

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon)
        _inside("delta", self.delta)

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        scale = _gaussian_scale(self.epsilon, self.delta)
        return _noisy_mean(scale * np.random.default_rng(rng).standard_normal((2, 2, n)))


@dataclass(frozen=True)
class NonDPLaplace2:
    """The true mean, with a noise scale taken from the noisy count.

    ``m = n + Lap(2 / epsilon)``, output ``mean + Lap(max(1e-12, 2 / (m epsilon)))``: a negative
    noisy count publishes the exact mean. D = (0) and D' = (0, 1).

    Parameters
    ----------
    epsilon : float
        Claimed budget, above 0.
    """

    epsilon: float

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon)

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        noise = np.random.default_rng(rng).laplace(0.0, 1.0, (2, 2, n))
        return _true_mean(noise, 2 / self.epsilon)


@dataclass(frozen=True)
class NonDPGaussian2:
    """The true mean, with a noise scale taken from the noisy count; normal noise.

    As `NonDPLaplace2` with the scale s of `DPGaussian` in place of 2 / epsilon.

    Parameters
    ----------
    epsilon : float
        Claimed budget, above 0.
    delta : float
        In (0, 1).
    """

    epsilon: float
    delta: float = 1e-5

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon)
        _inside("delta", self.delta)

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        noise = np.random.default_rng(rng).standard_normal((2, 2, n))
        return _true_mean(noise, _gaussian_scale(self.epsilon, self.delta))


@dataclass(frozen=True, eq=False)
class Resampled:
    """Pairs drawn with replacement from two pools of scores.

    Parameters
    ----------
    pool_p, pool_q : ndarray of float64, shape (m,) and (k,)
        Scores of the two worlds. An audit of these pairs audits the pools' empirical laws, not the
        mechanism that filled them.
    """

    pool_p: Floats
    pool_q: Floats

    def sample(self, n: int, *, rng: Rng = None) -> Pairs:
        """Draw n outputs on D and n on D'; see `Target`."""
        generator = np.random.default_rng(rng)
        return generator.choice(self.pool_p, n), generator.choice(self.pool_q, n)


def _noisy_mean(noise: Floats) -> Pairs:
    """Noise of shape (count or sum, D or D', n) to means of (0) and of (0, 1)."""
    count = np.maximum(_LEAST_COUNT, np.array([[1.0], [2.0]]) + noise[0])
    means = (np.array([[0.0], [1.0]]) + noise[1]) / count
    return means[0], means[1]


def _true_mean(noise: Floats, scale: float) -> Pairs:
    """Standard noise of shape (count or mean, D or D', n) to noisy means of (0) and of (0, 1)."""
    count = np.array([[1.0], [2.0]]) + scale * noise[0]
    means = np.array([[0.0], [0.5]]) + np.maximum(_LEAST_COUNT, scale / count) * noise[1]
    return means[0], means[1]


def _gaussian_scale(epsilon: float, delta: float) -> float:
    return math.sqrt(2 * math.log(1.25 / (delta / 2))) / (epsilon / 2)


def _finite(name: str, value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")


def _positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")


def _inside(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must be a number in (0, 1), got {value!r}")
