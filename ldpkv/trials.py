"""Monte-Carlo repetitions: many mechanisms on the same draws, in parallel, resumable.

Each repetition has its own generator, spawned from one; so results do not depend on the number of
workers or on which repetitions were already done. Repetitions run through joblib: on a cluster,
wrap the call in ``joblib.parallel_config(backend="dask")``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from ldpkv import _check
from ldpkv.data import KeyValueData, Truth
from ldpkv.estimation import CORRECTIONS
from ldpkv.mechanisms import Mechanism

DataSource = KeyValueData | Callable[[np.random.Generator], KeyValueData]


@dataclass(frozen=True, eq=False)
class Trials:
    """Estimates of every repetition, with the truth they aim at.

    Parameters
    ----------
    labels : tuple of str
        One for each mechanism.
    keys : ndarray of int, shape (k,)
        The keys that were kept.
    frequency, mean : ndarray of float64, shape (repeats, len(labels), k)
        Estimates.
    true_frequency, true_mean : ndarray of float64, shape (repeats, k)
        Truth of each repetition's data; a mean is NaN where nobody holds the key.
    """

    labels: tuple[str, ...]
    keys: NDArray[np.int64]
    frequency: NDArray[np.float64]
    mean: NDArray[np.float64]
    true_frequency: NDArray[np.float64]
    true_mean: NDArray[np.float64]

    @property
    def repeats(self) -> int:
        """Number of repetitions."""
        return len(self.frequency)

    def squared_error(self, statistic: str) -> NDArray[np.float64]:
        """Mean squared error over the keys, for each repetition.

        Parameters
        ----------
        statistic : {"frequency", "mean"}
            Which estimate. Keys that nobody holds have no true mean and are left out of it.

        Returns
        -------
        ndarray of float64, shape (repeats, len(labels))
            Independent between repetitions.
        """
        _check.one_of("statistic", statistic, ("frequency", "mean"))
        truth = getattr(self, f"true_{statistic}")[:, None, :]
        squares = (getattr(self, statistic) - truth) ** 2
        known = np.broadcast_to(~np.isnan(truth), squares.shape)
        average: NDArray[np.float64] = np.mean(squares, axis=2, where=known)
        return average

    def interval(self, statistic: str, level: float = 0.95) -> NDArray[np.float64]:
        """Mean squared error with a bootstrap-free interval over independent repetitions.

        Parameters
        ----------
        statistic : {"frequency", "mean"}
            Which estimate.
        level : float, default 0.95
            Coverage of the interval, by Student's t on the repetitions.

        Returns
        -------
        ndarray of float64, shape (len(labels), 3)
            Average, lower end (not below 0), upper end.
        """
        from scipy import stats

        errors = self.squared_error(statistic)
        average = errors.mean(axis=0)
        if self.repeats == 1:
            return np.stack([average, np.zeros_like(average), np.full_like(average, np.inf)], 1)
        spread = errors.std(axis=0, ddof=1) / np.sqrt(self.repeats)
        reach = stats.t.ppf((1 + level) / 2, self.repeats - 1) * spread
        return np.stack([average, np.maximum(average - reach, 0.0), average + reach], axis=1)


def run_trials(
    data: DataSource,
    mechanisms: Mapping[str, Mechanism],
    *,
    repeats: int,
    rng: np.random.Generator | int | None = None,
    keys: NDArray[np.int64] | None = None,
    correction: str = "paper",
    n_jobs: int | None = None,
    checkpoint: Path | str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trials:
    """Run every mechanism on every repetition, by the counted road.

    Within a repetition, mechanisms of one kind of sampling share one draw.

    Parameters
    ----------
    data : KeyValueData, or callable taking a Generator and returning one
        The users; a callable makes new ones for each repetition. In a checkpoint a callable is
        known by its name and bound arguments, not by its code.
    mechanisms : mapping of str to Mechanism
        What to run, by label.
    repeats : int
        Number of repetitions, at least 1.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`; a seed is needed to resume from `checkpoint`.
    keys : ndarray of int, optional
        Keys to keep; all by default.
    correction : {"paper", "code", "none"}
        Passed to the mechanisms' `estimate`.
    n_jobs : int, optional
        Passed to `joblib.Parallel`; results do not depend on it.
    checkpoint : path, optional
        Folder where finished repetitions are stored, each written whole or not at all. A run
        with the same arguments picks them up; with other arguments it uses another subfolder.
    progress : callable, optional
        Called as ``progress(done, repeats)`` after each repetition.

    Returns
    -------
    Trials
        The same for any `n_jobs`, and whether or not the run was interrupted.

    Raises
    ------
    ValueError, TypeError
        If `repeats` is not at least 1, `mechanisms` is empty, `correction` is unknown, or
        `checkpoint` is given without a seed that names the run.
    """
    repeats = _check.integer("repeats", repeats, minimum=1)
    _check.one_of("correction", correction, CORRECTIONS)
    if not mechanisms:
        raise ValueError("mechanisms must hold at least one mechanism, got none")
    if checkpoint is not None and not isinstance(rng, int):
        raise ValueError(f"rng must be an integer seed when checkpoint is given, got {rng!r}")
    folder = None
    if checkpoint is not None:
        folder = Path(checkpoint) / _run_key(data, mechanisms, repeats, rng, keys, correction)
        folder.mkdir(parents=True, exist_ok=True)
    generators = _check.generator(rng).spawn(repeats)
    truth = data.truth() if isinstance(data, KeyValueData) else None
    work = (
        joblib.delayed(_repetition)(
            data, truth, dict(mechanisms), generator, keys, correction, path
        )
        for generator, path in zip(generators, _paths(folder, repeats), strict=True)
    )
    rows = []
    for row in joblib.Parallel(n_jobs=n_jobs, return_as="generator")(work):
        rows.append(row)
        if progress is not None:
            progress(len(rows), repeats)
    frequency, mean, true_frequency, true_mean = (
        np.stack(part) for part in zip(*rows, strict=True)
    )
    chosen = np.arange(true_frequency.shape[1]) if keys is None else np.asarray(keys)
    return Trials(tuple(mechanisms), chosen, frequency, mean, true_frequency, true_mean)


def _paths(folder: Path | None, repeats: int) -> list[Path | None]:
    return [None if folder is None else folder / f"{i:06d}.npz" for i in range(repeats)]


def _run_key(*arguments: Any) -> str:
    data = arguments[0]
    what = data.digest() if isinstance(data, KeyValueData) else joblib.hash(data)
    return hashlib.sha256(f"{what} {joblib.hash(arguments[1:])}".encode()).hexdigest()[:16]


def _repetition(
    data: DataSource,
    truth: Truth | None,
    mechanisms: Mapping[str, Mechanism],
    rng: np.random.Generator,
    keys: NDArray[np.int64] | None,
    correction: str,
    path: Path | None,
) -> tuple[NDArray[np.float64], ...]:
    if path is not None and path.exists():
        with np.load(path, allow_pickle=False) as stored:
            return tuple(stored[f"arr_{i}"] for i in range(4))
    data_rng, draw_rng, *count_rngs = rng.spawn(2 + len(mechanisms))
    users = data if isinstance(data, KeyValueData) else data(data_rng)
    truth = users.truth() if truth is None else truth
    chosen: Any = slice(None) if keys is None else keys
    draws: dict[Any, Any] = {}
    tables: dict[Any, NDArray[np.int64]] = {}
    frequency, mean = [], []
    for mechanism, count_rng in zip(mechanisms.values(), count_rngs, strict=True):
        # One draw for each kind of sampling, one table for each padding length on it.
        sampling = type(mechanism).draw
        if sampling not in draws:
            draws[sampling] = mechanism.draw(users, rng=draw_rng)
        kind = (sampling, mechanism.width)
        if kind not in tables:
            tables[kind] = mechanism.symbols(draws[sampling]).table()
        counts = mechanism.simulate_counts(tables[kind], rng=count_rng)
        estimates = mechanism.estimate(counts, correction=correction)
        frequency.append(estimates.frequency[chosen])
        mean.append(estimates.mean[chosen])
    row = (
        np.stack(frequency),
        np.stack(mean),
        truth.frequency[chosen],
        truth.mean[chosen],
    )
    if path is not None:
        partial = path.with_suffix(f".{os.getpid()}.partial.npz")
        np.savez(partial, *row)
        partial.replace(path)
    return row
