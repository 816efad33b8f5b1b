"""From a user's set of pairs to one symbol.

A *draw* is what chance decides for a user before any padding length is fixed: one of the user's
pairs, a sign for its value, and a uniform number. Turning a draw into a *symbol* is then
deterministic, so that one draw serves every padding length and every epsilon.

A symbol is coded as ``cells * key + cell``. Padding-and-Sampling has two cells (value +1, value
-1); index sampling has three (+1, -1, key absent).
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from ldpkv import _check
from ldpkv.data import KeyValueData

PLUS, MINUS, ABSENT = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Symbols:
    """One symbol per user.

    Parameters
    ----------
    codes : ndarray of int64, shape (n_users,)
        ``cells * key + cell``.
    width : int
        Number of keys a symbol can carry, dummies included.
    cells : int
        1 (a category), 2 (+1, -1) or 3 (+1, -1, absent).
    """

    codes: NDArray[np.int64]
    width: int
    cells: int

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.codes)

    def table(self) -> NDArray[np.int64]:
        """Count the symbols.

        Returns
        -------
        ndarray of int64, shape (width, cells)
            How many users hold each symbol; sums to `n_users`.
        """
        counts = np.bincount(self.codes, minlength=self.width * self.cells)
        return counts.astype(np.int64).reshape(self.width, self.cells)


@dataclass(frozen=True, eq=False)
class Draws:
    """What chance decides for each user before a padding length is fixed (Algorithm 1 of PCKV).

    Parameters
    ----------
    keys : ndarray of int32, shape (n_users,)
        Key of a pair drawn uniformly from the user's set; -1 for an empty set.
    negative : ndarray of int8, shape (n_users,)
        1 where the discretised value is -1, else 0; it is -1 with probability (1 - v) / 2.
    uniform : ndarray of float64, shape (n_users,)
        Uniform on [0, 1); decides between the pair and a dummy, and which dummy.
    lengths : ndarray of int64, shape (n_users,)
        Number of pairs of each user.
    n_keys : int
        Number of real keys d.
    """

    keys: NDArray[np.int32]
    negative: NDArray[np.int8]
    uniform: NDArray[np.float64]
    lengths: NDArray[np.int64]
    n_keys: int

    def pad(self, padding: int) -> Symbols:
        """Finish Padding-and-Sampling for one padding length.

        The pair is kept iff ``uniform * max(padding, length) < length``. Given that it is not
        kept, `uniform` is uniform on the rest of the interval, which is cut into ``2 * padding``
        equal parts: one for each dummy key and sign.

        Parameters
        ----------
        padding : int
            Padding length l >= 1.

        Returns
        -------
        Symbols
            Two cells, width ``n_keys + padding``.

        Raises
        ------
        ValueError, TypeError
            If `padding` is not an integer of at least 1.

        Notes
        -----
        Source: PCKV Algorithm 1.
        """
        padding = _check.integer("padding", padding, minimum=1)
        codes = _pad(self.keys, self.negative, self.uniform, self.lengths, self.n_keys, padding)
        return Symbols(codes, self.n_keys + padding, 2)


def pad_and_sample(data: KeyValueData, *, rng: np.random.Generator | int | None = None) -> Draws:
    """Draw one pair, a sign and a uniform number for every user, in one compiled pass.

    Parameters
    ----------
    data : KeyValueData
        The users' sets; empty sets are allowed here.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`.

    Returns
    -------
    Draws
        Call `Draws.pad` for the symbols.

    Notes
    -----
    Source: PCKV Algorithm 1, lines 1 to 7; the discretisation keeps the mean, E[sign] = v.
    """
    generator = _check.generator(rng)
    keys, negative, uniform = _draw(data.indptr, data.keys, data.values, generator)
    return Draws(keys, negative, uniform, np.diff(data.indptr), data.n_keys)


def sample_uniform_key(
    data: KeyValueData, *, rng: np.random.Generator | int | None = None
) -> Symbols:
    """Draw one key uniformly from the domain for every user, and the user's state at that key.

    Parameters
    ----------
    data : KeyValueData
        The users' sets.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`.

    Returns
    -------
    Symbols
        Three cells (+1, -1, absent), width ``n_keys``. A user who holds the key several times
        (duplicates kept) answers with the first.

    Notes
    -----
    Source: PrivKV (Ye et al. 2019), KVUE; the sampling that PCKV replaces.
    """
    generator = _check.generator(rng)
    codes = _draw_index(data.indptr, data.keys, data.values, data.n_keys, generator)
    return Symbols(codes, data.n_keys, 3)


def discretise(
    values: NDArray[np.float64], *, rng: np.random.Generator | int | None = None
) -> NDArray[np.int8]:
    """Round values in [-1, 1] to +1 or -1 so that the expectation is the value.

    Parameters
    ----------
    values : ndarray of float64, any shape
        Values in [-1, 1].
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`.

    Returns
    -------
    ndarray of int8, same shape
        +1 with probability (1 + value) / 2, else -1.

    Raises
    ------
    ValueError
        If a value is NaN or outside [-1, 1].

    Notes
    -----
    Source: PCKV Algorithm 1, line 7.
    """
    values = np.asarray(values, dtype=np.float64)
    bad = ~(np.abs(values) <= 1)
    if bad.any():
        raise ValueError(f"values must lie in [-1, 1], got {float(values[bad].flat[0])!r}")
    coin = _check.generator(rng).random(values.shape)
    return np.where(2 * coin < 1 + values, 1, -1).astype(np.int8)


# The compiled loops read three uniform numbers a user in a fixed order, so that plain numpy on
# ``rng.random((n_users, 3))`` gives the very same draws; a test holds them to that.
@numba.njit(cache=True)
def _draw(indptr, keys, values, rng):  # type: ignore[no-untyped-def]
    n_users = len(indptr) - 1
    drawn = np.empty(n_users, np.int32)
    negative = np.empty(n_users, np.int8)
    uniform = np.empty(n_users, np.float64)
    for user in range(n_users):
        start = indptr[user]
        length = indptr[user + 1] - start
        which, coin, last = rng.random(), rng.random(), rng.random()
        uniform[user] = last
        if length == 0:
            drawn[user] = -1
            negative[user] = 0
        else:
            pair = start + np.int64(which * length)
            drawn[user] = keys[pair]
            negative[user] = 0 if 2 * coin < 1 + values[pair] else 1
    return drawn, negative, uniform


@numba.njit(cache=True)
def _pad(keys, negative, uniform, lengths, n_keys, padding):  # type: ignore[no-untyped-def]
    codes = np.empty(len(keys), np.int64)
    for user in range(len(keys)):
        length = lengths[user]
        scaled = uniform[user] * padding
        if length >= padding or scaled < length:
            codes[user] = 2 * np.int64(keys[user]) + negative[user]
        else:
            part = np.int64((scaled - length) / (padding - length) * (2 * padding))
            codes[user] = 2 * n_keys + min(part, 2 * padding - 1)
    return codes


@numba.njit(cache=True)
def _draw_index(indptr, keys, values, n_keys, rng):  # type: ignore[no-untyped-def]
    codes = np.empty(len(indptr) - 1, np.int64)
    for user in range(len(codes)):
        key = np.int64(rng.random() * n_keys)
        coin = rng.random()
        low, high = indptr[user], indptr[user + 1]
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        if low == indptr[user + 1] or keys[low] != key:
            codes[user] = 3 * key + 2
        else:
            codes[user] = 3 * key + (0 if 2 * coin < 1 + values[low] else 1)
    return codes
