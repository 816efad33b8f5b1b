"""Tests with a fixed sample size, and the naive way of repeating one.

They are the yardsticks of the sequential auditor: a corner test with bounds for one look only, by
the normal approximation ("one-shot t-test") or by Hoeffding's inequality with a separate sample for
learning (the auditor that came before APT). `naive_t_test` repeats a t-test as data come in, which
raises far more false alarms than its level says.

Source: arXiv 2602.06518, section 2.3 and Figures 2, 9 and 10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from ldpkv import _check
from ldpkv.auditing.apt import NOT_REJECTED, Source
from ldpkv.auditing.classifiers import BinnedKDE, Classifier, Tuning, Witness, as_pairs, choose
from ldpkv.tradeoff import TradeoffCurve

_DENSITIES, _SIGNED = BinnedKDE(), Tuning()


@dataclass(frozen=True, eq=False)
class BatchResult:
    """Outcome of one fixed-size test.

    Parameters
    ----------
    rejected : bool
        Whether both bounds together lie below f.
    alpha, beta : float
        Observed errors.
    bound_alpha, bound_beta : float
        Their upper bounds.
    n_samples : int
        Pairs used, those for learning included.
    witness : Witness
        The test phi.
    guarantee : str
        "fixed n, finite sample", "fixed n, asymptotic", or "none" where the test is judged on the
        data it was learned from.
    """

    rejected: bool
    alpha: float
    beta: float
    bound_alpha: float
    bound_beta: float
    n_samples: int
    witness: Witness
    guarantee: str


@dataclass(frozen=True)
class BatchTest:
    """Corner test at one sample size.

    Parameters
    ----------
    claimed : TradeoffCurve
        The claim f.
    level : float
        gamma in (0, 1/2); half of it for each error.
    bound : {"hoeffding", "normal"}
        ``sqrt(log(2 / gamma) / (2 n))``, or ``z sd / sqrt(n)`` with z the normal quantile at
        1 - gamma / 2 and sd as in `ldpkv.auditing.apt.APT`.
    training : float
        Share of the pairs, in [0, 1), that is used for learning only; with 0 the test is learned
        from and judged on the same pairs.
    classifier : Classifier
        How the test is learned.
    tuning : Tuning
        How its threshold is chosen.
    side : {"corrected", "published"}
        See `ldpkv.auditing.classifiers.choose`.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.

    Notes
    -----
    Source: arXiv 2602.06518, Figures 9 and 10 (the paper describes both tests only there).
    """

    claimed: TradeoffCurve
    level: float = 0.05
    bound: str = "hoeffding"
    training: float = 0.5
    classifier: Classifier = _DENSITIES
    tuning: Tuning = _SIGNED
    side: str = "corrected"

    def __post_init__(self) -> None:
        _check.probability("level", self.level)
        if not 0 < self.level < 0.5:
            raise ValueError(f"level must be a number in (0, 1/2), got {self.level!r}")
        _check.one_of("bound", self.bound, ("hoeffding", "normal"))
        if not 0 <= self.training < 1:
            raise ValueError(f"training must be a number in [0, 1), got {self.training!r}")
        _check.one_of("side", self.side, ("corrected", "published"))

    @classmethod
    def predecessor(cls, claimed: TradeoffCurve, **changes: Any) -> BatchTest:
        """Choose Hoeffding bounds, rule (7), and half of the pairs for learning."""
        settings: dict[str, Any] = {"tuning": Tuning(rule="vertical")}
        return cls(claimed, **(settings | changes))

    @classmethod
    def one_shot(cls, claimed: TradeoffCurve, **changes: Any) -> BatchTest:
        """Choose normal bounds and the fit of APT, on all pairs at once."""
        settings: dict[str, Any] = {
            "bound": "normal",
            "training": 0.0,
            "tuning": Tuning(signed=False),
        }
        return cls(claimed, **(settings | changes))

    @property
    def guarantee(self) -> str:
        """See `BatchResult`."""
        if self.training == 0:
            return "none"
        return f"fixed n, {'finite sample' if self.bound == 'hoeffding' else 'asymptotic'}"

    def test(self, pairs: Any) -> BatchResult:
        """Test the claim once, on all pairs given.

        Parameters
        ----------
        pairs : tuple (x, y) or array_like, shape (n, 2)
            Outputs on D and on D', at least 4; see `ldpkv.auditing.classifiers.as_pairs`.

        Returns
        -------
        BatchResult

        Raises
        ------
        ValueError
            If there are fewer than 4 pairs.
        """
        x, y = as_pairs(pairs)
        if len(x) < 4:
            raise ValueError(f"pairs must be at least 4, got {len(x)}")
        learned = min(max(2, int(self.training * len(x))), len(x) - 2) if self.training else 0
        train = slice(0, learned) if learned else slice(None)
        fit = self.classifier.fit(x[train], y[train], self.tuning)
        witness = choose(fit, self.claimed, self.tuning, side=self.side)
        alpha = float(witness(x[learned:]).mean())
        beta = 1 - float(witness(y[learned:]).mean())
        bounds = [min(1.0, rate + self._margin(rate, len(x) - learned)) for rate in (alpha, beta)]
        rejected = bool(self.claimed(bounds[0]) > bounds[1])
        return BatchResult(
            rejected, alpha, beta, bounds[0], bounds[1], len(x), witness, self.guarantee
        )

    def _margin(self, rate: float, n: int) -> float:
        if self.bound == "hoeffding":
            return math.sqrt(math.log(2 / self.level) / (2 * n))
        sd = max(math.sqrt(rate * (1 - rate)), 0.5 / math.sqrt(n))
        return float(special.ndtri(1 - self.level / 2)) * sd / math.sqrt(n)


def rejection_rates(
    settings: BatchTest,
    source: Source,
    sizes: Sequence[int],
    *,
    repeats: int,
    rng: np.random.Generator | int | None = None,
) -> NDArray[np.float64]:
    """Share of repetitions that reject, for each sample size.

    Parameters
    ----------
    settings : BatchTest
        The test.
    source : callable
        ``source(n, rng=generator)`` draws n pairs.
    sizes : sequence of int
        Pairs; within a repetition smaller samples are the beginning of larger ones.
    repeats : int
        Number of repetitions, each with its own spawned generator.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`.

    Returns
    -------
    ndarray of float64, shape (len(sizes),)
    """
    _check.integer("repeats", repeats, minimum=1)
    hits = np.zeros(len(sizes))
    for generator in np.random.default_rng(rng).spawn(repeats):
        x, y = as_pairs(source(max(sizes), rng=generator))
        hits += [settings.test((x[:n], y[:n])).rejected for n in sizes]
    return hits / repeats


def naive_t_test(
    observations: Any, *, level: float = 0.05, start: int = 2, every: int = 1
) -> NDArray[np.int64]:
    """Repeat a two-sided t-test of "mean = 0" as observations come in.

    Parameters
    ----------
    observations : array_like of float, shape (repeats, n)
        One row for each repetition.
    level : float
        Level of each single test, in (0, 1).
    start, every : int
        First sample size tested, at least 2, and distance of the tests.

    Returns
    -------
    ndarray of int64, shape (repeats,)
        Observations at the first rejection, or `ldpkv.auditing.apt.NOT_REJECTED`. The share of
        repetitions that have rejected by n rises to 1 even when the mean is 0.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range or an observation is not finite.

    Notes
    -----
    Source: arXiv 2602.06518, Example 2.3 and Figure 2. The figure's 24 % after 200 observations
    needs a test at every tenth observation; at every single one it is about 44 %.
    """
    rows = np.atleast_2d(np.asarray(observations, dtype=np.float64))
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError("observations must be finite numbers of shape (repeats, n)")
    _check.probability("level", level)
    if not 0 < level < 1:
        raise ValueError(f"level must be a number in (0, 1), got {level!r}")
    _check.integer("start", start, minimum=2)
    _check.integer("every", every, minimum=1)
    counts = np.arange(start, rows.shape[1] + 1, every)
    if len(counts) == 0:
        return np.full(len(rows), NOT_REJECTED, dtype=np.int64)
    # Shifted by the first observation, so that the sums of squares keep their digits.
    shifted = rows - rows[:, :1]
    mean = np.cumsum(shifted, axis=1)[:, counts - 1] / counts
    squares = np.cumsum(shifted**2, axis=1)[:, counts - 1]
    variance = np.maximum(squares - counts * mean**2, 0.0) / (counts - 1)
    reach = stats.t.ppf(1 - level / 2, counts - 1) * np.sqrt(variance / counts)
    rejected = np.abs(mean + rows[:, :1]) > reach
    first = counts[np.argmax(rejected, axis=1)]
    return np.where(rejected.any(axis=1), first, NOT_REJECTED).astype(np.int64)
