"""Exact law of the server's counts for a few users, and what a sampler made of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from statistical import goodness_of_fit

Law = dict[tuple[int, ...], float]


def law_of_counts(
    report_laws: Iterable[Sequence[float]], contribution: Callable[[int], Sequence[int]]
) -> Law:
    """Law of the sum of every user's contribution, from each user's law over report indices."""
    law: Law = {(): 1.0}
    for report_law in report_laws:
        following: Law = defaultdict(float)
        for counts, weight in law.items():
            for report, probability in enumerate(report_law):
                if probability:
                    added = contribution(report)
                    old = counts or (0,) * len(added)
                    total = tuple(x + int(y) for x, y in zip(old, added, strict=True))
                    following[total] += weight * float(probability)
        law = dict(following)
    return law


def fit(law: Law, rows: np.ndarray) -> float:
    """p-value of sampled counts, one row a sample; a row outside the law gives 0."""
    seen = Counter(map(tuple, np.asarray(rows).tolist()))
    impossible = sum(times for counts, times in seen.items() if counts not in law)
    observed = [seen.get(counts, 0) for counts in law]
    return goodness_of_fit(np.array([*observed, impossible]), np.array([*law.values(), 0.0]))
