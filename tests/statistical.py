"""Calibrated checks: each states how often it fails although nothing is wrong.

Every assertion of the suite spends `FALSE_ALARM`; with a few hundred of them the whole suite
raises a false alarm less than once in a million runs. Each check is exact or conservative: exact
binomial tails, or a chi-square whose cells are merged until the approximation is safe far out in
the tail (expected count at least 25 a cell).
"""

from __future__ import annotations

import numpy as np
from scipy import stats

FALSE_ALARM = 1e-9


def binomial_tail(hits: int, trials: int, probability: float) -> float:
    """Exact two-sided p-value for `hits` of `trials`."""
    return float(stats.binomtest(int(hits), int(trials), probability).pvalue)


def goodness_of_fit(observed: np.ndarray, law: np.ndarray) -> float:
    """p-value of observed counts against an exact law, small cells merged; impossible cell: 0."""
    observed, law = np.ravel(observed).astype(float), np.ravel(law).astype(float)
    if observed[law == 0].sum() > 0:
        return 0.0
    expected = law * observed.sum()
    observed, expected = _merge(observed, expected, expected)
    if len(expected) == 1:
        raise ValueError("too few samples: everything was merged into one cell")
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)


def same_law(first: np.ndarray, second: np.ndarray) -> float:
    """p-value that two samples of integer rows, shape (n, k), come from one law."""
    rows = np.concatenate([np.atleast_2d(first), np.atleast_2d(second)])
    _, cell = np.unique(rows, axis=0, return_inverse=True)
    cell = cell.ravel()
    one = np.bincount(cell[: len(first)], minlength=cell.max() + 1).astype(float)
    two = np.bincount(cell[len(first) :], minlength=cell.max() + 1).astype(float)
    one, two = _merge(one, two, one + two)
    if len(one) == 1:
        raise ValueError("too few samples: everything was merged into one cell")
    return float(stats.chi2_contingency(np.stack([one, two]), correction=False).pvalue)


def assert_plausible(p_value: float, what: str = "") -> None:
    """Fail if the p-value is below the suite's false-alarm rate."""
    assert p_value >= FALSE_ALARM, f"{what}: p = {p_value:.3g} < {FALSE_ALARM:g}"


def assert_rejected(p_value: float, what: str = "") -> None:
    """Fail unless a planted defect is seen as clearly as the false-alarm rate demands."""
    assert p_value < FALSE_ALARM, f"planted defect not seen: {what}: p = {p_value:.3g}"


def _merge(
    first: np.ndarray, second: np.ndarray, size: np.ndarray, minimum: float = 50.0
) -> tuple[np.ndarray, np.ndarray]:
    """Merge the cells with the smallest `size` until each holds at least `minimum`."""
    order = np.argsort(-size, kind="stable")
    group = np.zeros(len(size), dtype=int)
    current, filled = 0, 0.0
    for index in order:
        if filled >= minimum:
            current, filled = current + 1, 0.0
        group[index] = current
        filled += size[index]
    if filled < minimum and current > 0:
        group[group == current] = current - 1
    return np.bincount(group, first), np.bincount(group, second)
