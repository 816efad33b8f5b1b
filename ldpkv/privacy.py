"""Exact privacy of any finite mechanism, by enumeration.

Nothing here knows a theorem. A mechanism gives the law of a user's symbol and the law of a report
given a symbol; their product is the law of the user's report, and the worst ratio over users and
reports is read off. With `Fraction` probabilities the whole computation is in integers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpkv import _check
from ldpkv.channels import integers
from ldpkv.mechanisms import Mechanism, User
from ldpkv.tradeoff import PiecewiseLinear


@dataclass(frozen=True)
class WorstRatio:
    """The largest ratio of two users' probabilities of one report.

    Parameters
    ----------
    ratio : Fraction or float
        e^epsilon; infinite when a report is possible for one user only.
    high, low : mapping
        The user to whom the report is likely, and the one to whom it is unlikely.
    report : int
        Index of the report, as in the mechanism's `channel`.
    """

    ratio: Any
    high: User
    low: User
    report: int

    @property
    def epsilon(self) -> float:
        """The exact epsilon of the mechanism over the users given, in nats."""
        return math.log(self.ratio) if self.ratio < math.inf else math.inf


def extreme_users(
    n_keys: int, *, empty: bool, max_length: int | None = None
) -> Iterator[dict[int, int]]:
    """Every set of pairs whose values are all +1 or -1.

    A report's probability is affine in each single value, so the worst ratio over values in
    [-1, 1] is reached at these.

    Parameters
    ----------
    n_keys : int
        Number of real keys d.
    empty : bool
        Whether the empty set is a user.
    max_length : int, optional
        Largest number of pairs; d by default.

    Yields
    ------
    dict of int to int
        Key -> +1 or -1; ``3 ** n_keys`` of them with `empty` and no `max_length`.
    """
    longest = n_keys if max_length is None else min(n_keys, max_length)
    for states in itertools.product((0, 1, -1), repeat=n_keys):
        user = {key: state for key, state in enumerate(states) if state}
        if len(user) <= longest and (user or empty):
            yield user


def report_laws(mechanism: Mechanism, users: Sequence[User]) -> tuple[NDArray[Any], int | float]:
    """Exact law of every user's report.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism with a finite set of reports.
    users : sequence of mapping
        Sets of pairs.

    Returns
    -------
    weights : ndarray, shape (n_users, n_reports)
        Integers (dtype object) when the mechanism is exact, else float64.
    denominator : int or float
        ``Pr[report | user] = weights / denominator``.
    """
    channel = mechanism.channel()
    symbols, denominator = integers(np.array([mechanism.symbol_law(user) for user in users]))
    if symbols.dtype != object or channel.weights.dtype != object:
        symbols = symbols.astype(np.float64) / float(denominator)
        return symbols @ (channel.weights.astype(np.float64) / float(channel.denominator)), 1.0
    return symbols @ channel.weights, int(denominator) * int(channel.denominator)


def worst_ratio(mechanism: Mechanism, users: Iterable[User]) -> WorstRatio:
    """Largest ratio of report probabilities over all pairs of the users and all reports.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism with a finite set of reports.
    users : iterable of mapping
        Sets of pairs to compare, at least one; see `extreme_users`.

    Returns
    -------
    WorstRatio
        A `Fraction` ratio when the mechanism is exact, with the users and report that reach it.

    Raises
    ------
    ValueError, TypeError
        If `users` is empty, or no iterable of sets of pairs.

    Notes
    -----
    Source: the definition of epsilon-LDP (PCKV Definition 1).
    """
    if isinstance(users, Mapping) or not isinstance(users, Iterable):
        raise TypeError(
            "users must be an iterable of {key: value} mappings, such as "
            f"extreme_users(n_keys, empty=True), got {type(users).__name__}"
        )
    candidates = list(users)
    if not candidates:
        raise ValueError("users must hold at least one set of pairs, got none")
    weights, _ = report_laws(mechanism, candidates)
    highest, lowest = weights.max(axis=0), weights.min(axis=0)
    exact = weights.dtype == object
    best: Any = Fraction(0) if exact else 0.0
    best_report = 0
    for report, (high, low) in enumerate(zip(highest, lowest, strict=True)):
        if high == 0:
            continue
        # Cross-multiplied, so that exact ratios are compared without making a Fraction of each.
        if low == 0:
            best, best_report = math.inf, report
            break
        if high * (best.denominator if exact else 1) > low * (best.numerator if exact else best):
            best, best_report = Fraction(high, low) if exact else high / low, report
    return WorstRatio(
        best,
        candidates[int(np.argmax(weights[:, best_report] == highest[best_report]))],
        candidates[int(np.argmax(weights[:, best_report] == lowest[best_report]))],
        best_report,
    )


def delta(mechanism: Mechanism, user0: User, user1: User, epsilon: float) -> float:
    """Hockey-stick divergence between two users' reports.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism with a finite set of reports.
    user0, user1 : mapping
        Sets of pairs.
    epsilon : float
        At least 0, in nats.

    Returns
    -------
    float
        max over events of Pr[event | user0] - e^epsilon Pr[event | user1]; 0 iff the pair is
        epsilon-indistinguishable in this direction.

    Raises
    ------
    ValueError
        If epsilon is negative or not finite.
    """
    if epsilon != 0:
        _check.epsilon(epsilon)
    weights, denominator = report_laws(mechanism, [user0, user1])
    laws = (weights / denominator).astype(np.float64)
    return float(np.maximum(laws[0] - math.exp(epsilon) * laws[1], 0.0).sum())


def exact_curve(mechanism: Mechanism, user0: User, user1: User) -> PiecewiseLinear:
    """Exact trade-off curve of two users' reports, by enumeration.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism with a finite set of reports.
    user0, user1 : mapping
        Sets of pairs: P is the law of the report of `user0`, Q that of `user1`.

    Returns
    -------
    PiecewiseLinear
        In fractions when the mechanism and the users' values are exact. A pair keeps a promise of
        epsilon iff this curve lies nowhere below ``PureDP(epsilon)``.

    Raises
    ------
    ValueError
        If a key or a value of a user is out of range.

    Notes
    -----
    Source: arXiv 2602.06518, Definition 2.1, for the laws of PCKV Definition 1; the best tests are
    those of Neyman and Pearson. `delta` is one less its supporting line of slope e^epsilon.
    """
    weights, _ = report_laws(mechanism, [user0, user1])
    return PiecewiseLinear.from_laws(*weights.tolist())
