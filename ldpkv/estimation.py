"""From the server's counts to frequencies and means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpkv import _check
from ldpkv.data import Truth

CORRECTIONS = ("paper", "code", "none")


@dataclass(frozen=True, eq=False)
class Counts:
    """What the server counts.

    Parameters
    ----------
    table : ndarray of int64, shape (width, cells)
        Reports of each kind at each key: +1 and -1 for PCKV; one column for each answer of an
        index-sampling method; one column for a categorical oracle.
    n_reports : ndarray of int64, shape (width,)
        Number of reports that could have supported the key: all n for PCKV, n_j for index
        sampling.
    """

    table: NDArray[np.int64]
    n_reports: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or self.n_reports.shape != self.table.shape[:1]:
            raise ValueError(
                "table must have shape (width, cells) and n_reports (width,), got "
                f"{self.table.shape} and {self.n_reports.shape}"
            )

    def __add__(self, other: Counts) -> Counts:
        """Join the counts of two groups of users."""
        return Counts(self.table + other.table, self.n_reports + other.n_reports)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimated statistics of every real key; NaN where a mechanism does not give one.

    Parameters
    ----------
    frequency : ndarray of float64, shape (n_keys,)
        Share of users who hold the key.
    total : ndarray of float64, shape (n_keys,)
        Sum of the key's values divided by the number of users, f m.
    mean : ndarray of float64, shape (n_keys,)
        Mean value among the holders.
    """

    frequency: NDArray[np.float64]
    total: NDArray[np.float64]
    mean: NDArray[np.float64]


def calibrate_pairs(
    counts: Counts, a: float, b: float, p: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unbiased counts of the sampled +1 and -1 of each key.

    Parameters
    ----------
    counts : Counts
        Two cells.
    a, b, p : float
        `keep_key`, `fake_key`, `keep_sign`, with a != b.

    Returns
    -------
    plus, minus : ndarray of float64, shape (width,)
        Estimates of n_1* and n_2*; NaN if p = 1/2, where the sign is lost.

    Raises
    ------
    ValueError
        If a = b, where reports carry nothing.

    Notes
    -----
    Source: PCKV Lemma 1, equations (12) to (14), solved through sum and difference.
    """
    if a == b:
        raise ValueError(f"keep_key and fake_key must differ to estimate anything, both are {a!r}")
    plus, minus = counts.table[:, 0], counts.table[:, 1]
    both = (plus + minus - counts.n_reports * b) / (a - b)
    difference = (plus - minus) / (a * (2 * p - 1)) if p != 0.5 else np.full(len(plus), np.nan)
    return (both + difference) / 2, (both - difference) / 2


def estimate_pckv(
    counts: Counts,
    *,
    keep_key: float,
    fake_key: float,
    keep_sign: float,
    padding: int,
    n_keys: int,
    correction: str = "paper",
) -> Estimates:
    """Frequencies and means of PCKV, with or without the correction of Algorithm 4.

    Parameters
    ----------
    counts : Counts
        Two cells; rows beyond `n_keys` are dummies and are dropped.
    keep_key, fake_key, keep_sign : float
        a, b, p.
    padding : int
        Padding length l.
    n_keys : int
        Number of real keys d.
    correction : {"paper", "code", "none"}
        "none": the baseline estimators. "paper": f clipped to [1/n, 1], then both counts to
        [0, n f / l]. "code": as the authors' public code has it, the counts clipped to
        [1, n f / l], upper bound last.

    Returns
    -------
    Estimates
        With "none", the mean is NaN where the estimated frequency is 0.

    Raises
    ------
    ValueError
        If `correction` is unknown, or keep_key = fake_key.

    Notes
    -----
    Source: PCKV equations (7), (8), (14), (15) and Algorithm 4.
    """
    _check.one_of("correction", correction, CORRECTIONS)
    real = Counts(counts.table[:n_keys], counts.n_reports[:n_keys])
    n_users = real.n_reports
    plus, minus = calibrate_pairs(real, keep_key, fake_key, keep_sign)
    share = real.table.sum(axis=1) / n_users
    frequency = (share - fake_key) / (keep_key - fake_key) * padding
    if correction != "none":
        frequency = np.clip(frequency, 1 / n_users, 1)
        ceiling = n_users * frequency / padding
        floor = 0.0 if correction == "paper" else 1.0
        plus = np.minimum(np.maximum(plus, floor), ceiling)
        minus = np.minimum(np.maximum(minus, floor), ceiling)
    total = padding * (plus - minus) / n_users
    mean = np.divide(total, frequency, out=np.full(n_keys, np.nan), where=frequency != 0)
    return Estimates(frequency, total, mean)


def squared_errors(
    estimates: Estimates, truth: Truth, keys: NDArray[np.int64] | None = None
) -> tuple[float, float]:
    """Mean squared errors of frequency and mean over a set of keys.

    Parameters
    ----------
    estimates : Estimates
        What the server computed.
    truth : Truth
        What the users hold.
    keys : ndarray of int, optional
        Keys to average over; all by default. A key that nobody holds has no true mean: it counts
        for the frequency and is left out of the mean.

    Returns
    -------
    frequency_mse, mean_mse : float
        Averages over `keys`.

    Notes
    -----
    Source: PCKV section 6 (the MSE of frequency and of mean over the set X).
    """
    chosen: Any = slice(None) if keys is None else keys
    held = truth.frequency[chosen] > 0
    frequency_error = estimates.frequency[chosen] - truth.frequency[chosen]
    mean_error = (estimates.mean[chosen] - truth.mean[chosen])[held]
    return float(np.mean(frequency_error**2)), float(np.mean(mean_error**2))
