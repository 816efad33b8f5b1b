"""Randomised channels: from a symbol to a report.

Each channel comes three times, and tests hold the three to one law:

* its exact law (`Channel`), in integers over one denominator when its numbers are `Fraction`;
* a literal perturbation, one report for every user;
* a count sampler, which draws the server's counts directly from the table of symbols.

The symbol channel has three numbers ``(p1, q1, q2)``: the symbol itself, the same key with the
other sign, and each of the remaining ``2 * width - 2`` symbols. PCKV-GRR and LRRKV are both of
this kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Number: TypeAlias = Fraction | float
SLACK = 1e-12  # rounding allowed when floats that should add up, or be equal, are compared
CHUNK = 1 << 16  # users perturbed at a time, so that random numbers of a wide unary report fit


@dataclass(frozen=True, eq=False)
class Channel:
    """Exact law of a report given a symbol.

    Parameters
    ----------
    weights : ndarray, shape (n_symbols, n_reports)
        Python integers (dtype object) when exact, else float64. Row sums equal `denominator`.
    denominator : int or float
        ``Pr[report j | symbol i] = weights[i, j] / denominator``.
    """

    weights: NDArray[Any]
    denominator: int | float

    def __post_init__(self) -> None:
        sums = self.weights.sum(axis=1)
        if self.weights.dtype == object:
            wrong = sums != self.denominator
        else:
            wrong = np.abs(sums - self.denominator) > SLACK * self.denominator
        if wrong.any() or (self.weights < 0).any():
            raise ValueError("weights must be non-negative with rows that sum to the denominator")


def integers(numbers: NDArray[Any] | list[Any]) -> tuple[NDArray[Any], int | float]:
    """Put exact numbers over one denominator; leave floats as they are.

    Parameters
    ----------
    numbers : array of Fraction, int or float, any shape
        All exact, or at least one float.

    Returns
    -------
    weights : ndarray
        Integers (dtype object), or float64 when a float was among them.
    denominator : int or float
        Their common denominator, or 1.0.
    """
    array = np.asarray(numbers, dtype=object)
    if any(isinstance(x, float | np.floating) for x in array.flat):
        return array.astype(np.float64), 1.0
    exact = [Fraction(x) for x in array.flat]
    denominator = math.lcm(*(x.denominator for x in exact))
    scaled = np.empty(array.size, dtype=object)
    scaled[:] = [x.numerator * (denominator // x.denominator) for x in exact]
    return scaled.reshape(array.shape), denominator


# --- the binary and categorical primitives -------------------------------------------------


def grr_probabilities(exp_epsilon: Any, size: int) -> tuple[Any, Any]:
    """Probabilities of generalised randomised response over `size` categories.

    Parameters
    ----------
    exp_epsilon : Fraction or float
        e^epsilon >= 1.
    size : int
        Number of categories, at least 2; 2 gives Warner's randomised response.

    Returns
    -------
    p, q : same type
        Probability of the truth, and of each other category.

    Notes
    -----
    Source: PCKV section 2 (GRR); Kairouz et al. 2014.
    """
    total = exp_epsilon + size - 1
    return exp_epsilon / total, 1 / total


# --- the symbol channel --------------------------------------------------------------------


def symbol_channel(p1: Any, q1: Any, q2: Any, width: int) -> Channel:
    """Exact law of the symbol channel.

    Parameters
    ----------
    p1, q1, q2 : Fraction or float
        Probability of the symbol itself, of its key with the other sign, of each other symbol.
    width : int
        Number of keys, dummies included.

    Returns
    -------
    Channel
        ``2 * width`` symbols and as many reports, coded as in `ldpkv.sampling`.

    Raises
    ------
    ValueError
        If ``p1 + q1 + (2 * width - 2) * q2`` is not 1.
    """
    (keep, flip, other), denominator = integers([p1, q1, q2])
    weights = np.full((2 * width, 2 * width), other, dtype=object)
    same = np.arange(2 * width)
    weights[same, same] = keep
    weights[same, same ^ 1] = flip
    exact = isinstance(denominator, int)
    return Channel(weights if exact else weights.astype(np.float64), denominator)


def perturb_symbols(
    codes: NDArray[np.int64], p1: Any, q1: Any, q2: Any, width: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Send every user's symbol through the symbol channel.

    Parameters
    ----------
    codes : ndarray of int64, shape (n_users,)
        Symbols.
    p1, q1, q2 : Fraction or float
        As in `symbol_channel`.
    width : int
        Number of keys, dummies included.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (n_users,)
        Reports, coded like symbols.
    """
    coin = rng.random(len(codes))
    # A uniform other key: draw from width - 1 and step over the user's own.
    key = rng.integers(width - 1, size=len(codes))
    key += key >= codes // 2
    other = 2 * key + rng.integers(2, size=len(codes))
    return np.where(coin < float(p1), codes, np.where(coin < float(p1 + q1), codes ^ 1, other))


def count_symbols(
    table: NDArray[np.int64], p1: Any, q1: Any, q2: Any, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the counts of reports that `perturb_symbols` would give, without the users.

    With ``q2 <= min(p1, q1)`` a report is the symbol (``p1 - q2``), its flip (``q1 - q2``), or
    uniform over all cells (the rest): binomials, and one uniform multinomial. Otherwise each
    symbol's reports are one multinomial.

    Parameters
    ----------
    table : ndarray of int64, shape (width, 2)
        Number of users with each symbol.
    p1, q1, q2 : Fraction or float
        As in `symbol_channel`.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (width, 2)
        Number of reports of each kind; sums to the number of users.
    """
    width = len(table)
    cells = table.ravel()
    keep, flip, other = float(p1), float(q1), float(q2)
    if other <= min(keep, flip) + SLACK:
        split = np.array([keep - other, max(flip - other, 0.0), 0.0])
        split[2] = 1.0 - split[:2].sum()
        kept, flipped, spread = rng.multinomial(cells, split).T
        uniform = rng.multinomial(spread.sum(), np.full(2 * width, 0.5 / width))
        reports = kept + flipped[np.arange(2 * width) ^ 1] + uniform
    else:
        reports = np.zeros(2 * width, dtype=np.int64)
        law = np.empty(2 * width)
        for code in np.flatnonzero(cells):
            law[:] = other
            law[code], law[code ^ 1] = keep, flip
            reports += rng.multinomial(cells[code], law / law.sum())
    return reports.reshape(width, 2)


# --- the ternary unary channel -------------------------------------------------------------


def ternary_unary_channel(a: Any, b: Any, p: Any, width: int) -> Channel:
    """Exact law of PCKV-UE's report: one entry in {+1, -1, 0} for each key, independent.

    Parameters
    ----------
    a, b, p : Fraction or float
        `keep_key`, `fake_key`, `keep_sign`.
    width : int
        Number of keys, dummies included; the law has ``3 ** width`` reports.

    Returns
    -------
    Channel
        Report index in base 3, the first key most significant; digits 0, 1, 2 stand for
        +1, -1, 0.

    Notes
    -----
    Source: PCKV Algorithm 2.
    """
    rows, denominator = integers(
        [
            [a * p, a * (1 - p), 1 - a],
            [a * (1 - p), a * p, 1 - a],
            [b / 2, b / 2, 1 - b],
        ]
    )
    weights = [
        _kron([rows[sign] if key == position else rows[2] for position in range(width)])
        for key in range(width)
        for sign in range(2)
    ]
    return Channel(np.array(weights), denominator**width)


def _kron(rows: list[NDArray[Any]]) -> NDArray[Any]:
    law = rows[0]
    for row in rows[1:]:
        law = np.multiply.outer(law, row).ravel()
    return law


def perturb_ternary_unary(
    codes: NDArray[np.int64], a: Any, b: Any, p: Any, width: int, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Send every user's symbol through the ternary unary channel.

    Parameters
    ----------
    codes : ndarray of int64, shape (n_users,)
        Symbols with two cells.
    a, b, p : Fraction or float
        `keep_key`, `fake_key`, `keep_sign`.
    width : int
        Number of keys, dummies included.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int8, shape (n_users, width)
        Entries in {+1, -1, 0}.

    Notes
    -----
    Source: PCKV Algorithm 2.
    """
    a, b, p = float(a), float(b), float(p)
    reports = np.empty((len(codes), width), dtype=np.int8)
    for start in range(0, len(codes), CHUNK):
        part = codes[start : start + CHUNK]
        coin = rng.random((len(part), width))
        block = (coin < b / 2).astype(np.int8) - ((coin >= b / 2) & (coin < b)).astype(np.int8)
        user = np.arange(len(part))
        own = coin[user, part // 2]
        sign = 1 - 2 * (part % 2)
        block[user, part // 2] = np.where(own < a * p, sign, np.where(own < a, -sign, 0))
        reports[start : start + CHUNK] = block
    return reports


def count_ternary_unary(
    table: NDArray[np.int64], a: Any, b: Any, p: Any, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the counts of +1 and -1 at each key that `perturb_ternary_unary` would give.

    Parameters
    ----------
    table : ndarray of int64, shape (width, 2)
        Number of users with each symbol.
    a, b, p : Fraction or float
        `keep_key`, `fake_key`, `keep_sign`.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (width, 2)
        Numbers of +1 and -1 at each key. Entries of a report are independent, so the keys are.
    """
    a, b, p = float(a), float(b), float(p)
    own = np.array([a * p, a * (1 - p), 1 - a])
    rest = table.sum() - table.sum(axis=1)
    plus = rng.multinomial(table[:, 0], own)
    minus = rng.multinomial(table[:, 1], own)
    fake = rng.multinomial(rest, [b / 2, b / 2, 1 - b])
    return plus[:, :2] + minus[:, 1::-1] + fake[:, :2]


# --- the categorical channel (GRR; with two categories, RR) ---------------------------------


def grr_channel(p: Any, q: Any, size: int) -> Channel:
    """Exact law of generalised randomised response.

    Parameters
    ----------
    p, q : Fraction or float
        Probability of the truth, and of each other category; see `grr_probabilities`.
    size : int
        Number of categories.

    Returns
    -------
    Channel
        `size` symbols and as many reports.

    Raises
    ------
    ValueError
        If ``p + (size - 1) * q`` is not 1.

    Notes
    -----
    Source: PCKV section 2 (GRR, and RR for two categories).
    """
    (keep, other), denominator = integers([p, q])
    weights = np.full((size, size), other, dtype=object)
    np.fill_diagonal(weights, keep)
    exact = isinstance(denominator, int)
    return Channel(weights if exact else weights.astype(np.float64), denominator)


def perturb_grr(
    values: NDArray[np.int64], p: Any, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Send every user's category through generalised randomised response.

    Parameters
    ----------
    values : ndarray of int64, shape (n_users,)
        Categories, 0 to ``size - 1``.
    p : Fraction or float
        Probability of the truth; the others share the rest evenly.
    size : int
        Number of categories, at least 2.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (n_users,)
        Reported categories.
    """
    coin = rng.random(len(values))
    # A uniform other category: draw from size - 1 and step over the user's own.
    other = rng.integers(size - 1, size=len(values))
    other += other >= values
    return np.where(coin < float(p), values, other)


def count_grr(
    table: NDArray[np.int64], p: Any, q: Any, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the counts of reports that `perturb_grr` would give, without the users.

    With ``q <= p`` a report is the truth (``p - q``) or uniform over all categories (the rest):
    binomials and one uniform multinomial. Otherwise each category's reports are one multinomial.

    Parameters
    ----------
    table : ndarray of int64, shape (size,)
        Number of users in each category.
    p, q : Fraction or float
        As in `grr_channel`.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (size,)
        Number of reports of each category; sums to the number of users.
    """
    size = len(table)
    keep, other = float(p), float(q)
    if other <= keep:
        kept = rng.binomial(table, keep - other)
        return kept + rng.multinomial(table.sum() - kept.sum(), np.full(size, 1 / size))
    law = np.full((size, size), other)
    np.fill_diagonal(law, keep)
    counts: NDArray[np.int64] = rng.multinomial(table, law).sum(axis=0)
    return counts


# --- the binary unary channel (UE: RAPPOR, OUE) ---------------------------------------------


def binary_unary_channel(p: Any, q: Any, width: int) -> Channel:
    """Exact law of unary encoding: one bit for each category, independent.

    Parameters
    ----------
    p, q : Fraction or float
        Probability that the own category's bit is 1, and that another's is.
    width : int
        Number of categories; the law has ``2 ** width`` reports.

    Returns
    -------
    Channel
        Report index in base 2, the first category most significant; digits 0, 1 stand for the
        bit being 1, 0 (as in `ternary_unary_channel`, the last digit is "nothing").

    Notes
    -----
    Source: PCKV section 2 (UE).
    """
    rows, denominator = integers([[p, 1 - p], [q, 1 - q]])
    weights = [
        _kron([rows[0] if key == position else rows[1] for position in range(width)])
        for key in range(width)
    ]
    return Channel(np.array(weights), denominator**width)


def perturb_binary_unary(
    values: NDArray[np.int64], p: Any, q: Any, width: int, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Send every user's category through unary encoding.

    Parameters
    ----------
    values : ndarray of int64, shape (n_users,)
        Categories, 0 to ``width - 1``.
    p, q : Fraction or float
        As in `binary_unary_channel`.
    width : int
        Number of categories.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int8, shape (n_users, width)
        Bits.

    Notes
    -----
    Source: PCKV section 2 (UE).
    """
    p, q = float(p), float(q)
    reports = np.empty((len(values), width), dtype=np.int8)
    for start in range(0, len(values), CHUNK):
        part = values[start : start + CHUNK]
        coin = rng.random((len(part), width))
        block = coin < q
        user = np.arange(len(part))
        block[user, part] = coin[user, part] < p
        reports[start : start + CHUNK] = block
    return reports


def count_binary_unary(
    table: NDArray[np.int64], p: Any, q: Any, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the number of ones of each category that `perturb_binary_unary` would give.

    Parameters
    ----------
    table : ndarray of int64, shape (width,)
        Number of users in each category.
    p, q : Fraction or float
        As in `binary_unary_channel`.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (width,)
        Numbers of ones. Bits of a report are independent, so the categories are.
    """
    own = rng.binomial(table, float(p))
    return own + rng.binomial(table.sum() - table, float(q))
