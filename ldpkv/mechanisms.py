"""The mechanisms of PCKV, each in one screen.

A mechanism is a frozen value that holds all its probabilities. It can be run in two ways that
agree in law and meet at the server's counts:

* the literal road: `draw`, `symbols`, `perturb` (a report for every user), `aggregate`;
* the counted road: `draw`, `symbols`, `simulate_counts`.

`estimate` turns counts into estimates. `symbol_law` and `channel` give the exact law of a user's
report, which `ldpkv.privacy` enumerates. A mechanism may break the promise of its paper: privacy
is measured, never enforced here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldpkv import _check, allocation, channels
from ldpkv.channels import Channel
from ldpkv.data import KeyValueData
from ldpkv.estimation import Counts, Estimates, estimate_pckv
from ldpkv.sampling import Draws, Symbols, pad_and_sample

User: TypeAlias = Mapping[int, Any]
"""A user's set of pairs: key (0 to d - 1) -> value in [-1, 1]."""

SYMBOLS_ADVICE = "call mechanism.symbols(mechanism.draw(data))"


class Mechanism(Protocol):
    """One stage of collection: what every mechanism can do."""

    @property
    def n_keys(self) -> int:
        """Number of real keys d."""

    @property
    def width(self) -> int:
        """Number of keys a report can speak of, dummies included."""

    def draw(self, data: KeyValueData, *, rng: np.random.Generator | int | None = None) -> Any:
        """Sample for every user, before the mechanism's own numbers matter."""

    def symbols(self, draws: Any) -> Symbols:
        """Turn draws into one symbol per user."""

    def perturb(self, symbols: Symbols, *, rng: np.random.Generator | int | None = None) -> Any:
        """Perturb every user's symbol into a report."""

    def aggregate(self, reports: Any) -> Counts:
        """Count the reports."""

    def simulate_counts(
        self, table: NDArray[np.int64], *, rng: np.random.Generator | int | None = None
    ) -> Counts:
        """Draw the counts that `perturb` and `aggregate` would give, from the symbols' table."""

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """Estimate frequencies and means."""

    def symbol_law(self, user: User) -> NDArray[Any]:
        """Exact law of the user's symbol."""

    def channel(self) -> Channel:
        """Exact law of a report given a symbol."""


def padded_symbol_law(user: User, n_keys: int, padding: int) -> NDArray[Any]:
    """Exact law of the symbol that Padding-and-Sampling gives a user.

    Parameters
    ----------
    user : mapping of int to number
        The user's set; exact when the values are integers or fractions. May be empty.
    n_keys, padding : int
        d and l.

    Returns
    -------
    ndarray of Fraction or float (dtype object), shape (2 * (n_keys + padding),)
        Probabilities; a pair is sampled with probability 1 / max(|S|, l), each dummy (with
        either sign) with (1 - |S| / max(|S|, l)) / l.

    Raises
    ------
    ValueError
        If a key is not in 0 .. d - 1 or a value is outside [-1, 1].

    Notes
    -----
    Source: PCKV Algorithm 1.
    """
    slots = max(len(user), padding)
    law = np.full(2 * (n_keys + padding), Fraction(0), dtype=object)
    for key, value in user.items():
        if not 0 <= key < n_keys:
            raise ValueError(f"user: keys must lie in 0 .. {n_keys - 1}, got {key!r}")
        if not -1 <= value <= 1:
            raise ValueError(f"user: values must lie in [-1, 1], got {value!r} at key {key}")
        exact = Fraction(value) if isinstance(value, Rational) else float(value)
        law[2 * key] = (1 + exact) / 2 / slots
        law[2 * key + 1] = (1 - exact) / 2 / slots
    law[2 * n_keys :] = Fraction(slots - len(user), slots) / (2 * padding)
    return law


@dataclass(frozen=True)
class _PaddedMechanism:
    """What PCKV-UE and PCKV-GRR share: their five numbers, sampling and estimation."""

    n_keys: int
    padding: int
    keep_key: Any
    fake_key: Any
    keep_sign: Any

    def __post_init__(self) -> None:
        _check.keep_integer(self, "n_keys", minimum=1)
        _check.keep_integer(self, "padding", minimum=1)
        for name in ("keep_key", "fake_key", "keep_sign"):
            _check.probability(name, getattr(self, name))

    @property
    def width(self) -> int:
        """Number of keys d' = d + l, dummies included."""
        return self.n_keys + self.padding

    def draw(self, data: KeyValueData, *, rng: np.random.Generator | int | None = None) -> Draws:
        """Sample for every user (Algorithm 1); see `ldpkv.sampling.pad_and_sample`."""
        _check.instance("data", data, KeyValueData, "see KeyValueData.from_sets and from_pairs")
        if data.n_keys != self.n_keys:
            raise ValueError(f"data must have n_keys = {self.n_keys}, got {data.n_keys}")
        return pad_and_sample(data, rng=rng)

    def symbols(self, draws: Draws) -> Symbols:
        """One symbol per user, at this mechanism's padding length."""
        _check.instance("draws", draws, Draws, "call mechanism.draw(data)")
        return draws.pad(self.padding)

    def symbol_law(self, user: User) -> NDArray[Any]:
        """Exact law of the user's symbol; see `padded_symbol_law`."""
        return padded_symbol_law(user, self.n_keys, self.padding)

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """Estimate frequencies and means (Algorithm 4); see `ldpkv.estimation.estimate_pckv`."""
        _check.instance("counts", counts, Counts, "call simulate_counts or aggregate")
        return estimate_pckv(
            counts,
            keep_key=float(self.keep_key),
            fake_key=float(self.fake_key),
            keep_sign=float(self.keep_sign),
            padding=self.padding,
            n_keys=self.n_keys,
            correction=correction,
        )


@dataclass(frozen=True)
class PCKVUE(_PaddedMechanism):
    """PCKV-UE: a report has one entry in {+1, -1, 0} for each of the d' keys.

    Parameters
    ----------
    n_keys, padding : int
        d and l, at least 1.
    keep_key : Fraction or float
        a: the sampled key's entry is not 0.
    fake_key : Fraction or float
        b: another key's entry is not 0.
    keep_sign : Fraction or float
        p: the sampled key's sign survives, given that the entry is not 0.

    Notes
    -----
    Source: PCKV Algorithm 2.
    """

    @classmethod
    def from_exp_budgets(cls, exp_key: Any, exp_value: Any, *, n_keys: int, padding: int) -> PCKVUE:
        """Equation (19): a = 1/2, b = 1 / (e^epsilon_1 + 1), p by randomised response."""
        exp_key = _check.exp_budget("exp_key", exp_key)
        exp_value = _check.exp_budget("exp_value", exp_value)
        half = Fraction(1, 2) if isinstance(exp_key, Rational) else 0.5
        return cls(n_keys, padding, half, 1 / (exp_key + 1), exp_value / (exp_value + 1))

    @classmethod
    def from_epsilon(
        cls, epsilon: float, *, n_keys: int, padding: int, allocation: str = "optimised"
    ) -> PCKVUE:
        """Equation (21) with the optimised allocation; see `ldpkv.allocation.allocate`."""
        budgets = _allocate(allocation, epsilon, 1)
        return cls.from_exp_budgets(*budgets, n_keys=n_keys, padding=padding)

    def channel(self) -> Channel:
        """Exact law of a report given a symbol; ``3 ** width`` reports."""
        return channels.ternary_unary_channel(
            self.keep_key, self.fake_key, self.keep_sign, self.width
        )

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int8]:
        """Perturb every user's symbol (Algorithm 2); shape (n_users, width)."""
        _check.instance("symbols", symbols, Symbols, SYMBOLS_ADVICE)
        return channels.perturb_ternary_unary(
            symbols.codes,
            self.keep_key,
            self.fake_key,
            self.keep_sign,
            self.width,
            _check.generator(rng),
        )

    def aggregate(self, reports: NDArray[np.int8]) -> Counts:
        """Count the entries +1 and -1 of each key."""
        table = np.stack([(reports == 1).sum(axis=0), (reports == -1).sum(axis=0)], axis=1)
        return Counts(table, np.full(self.width, len(reports)))

    def simulate_counts(
        self, table: NDArray[np.int64], *, rng: np.random.Generator | int | None = None
    ) -> Counts:
        """Draw the counts directly; the same law as `perturb` then `aggregate`."""
        _check.instance("table", table, np.ndarray, "call symbols.table()")
        counted = channels.count_ternary_unary(
            table, self.keep_key, self.fake_key, self.keep_sign, _check.generator(rng)
        )
        return Counts(counted, np.full(self.width, table.sum()))


@dataclass(frozen=True)
class PCKVGRR(_PaddedMechanism):
    """PCKV-GRR: a report is one key, real or dummy, and one sign.

    Parameters
    ----------
    n_keys, padding : int
        d and l, at least 1.
    keep_key : Fraction or float
        a: the sampled key is reported.
    fake_key : Fraction or float
        b = (1 - a) / (d' - 1): each other key is reported, with a fair sign.
    keep_sign : Fraction or float
        p: the sign survives, given that the key does.

    Notes
    -----
    Source: PCKV Algorithm 3. In the terms of `ldpkv.channels`: p1 = a p, q1 = a (1 - p),
    q2 = b / 2.
    """

    @classmethod
    def from_exp_budgets(
        cls, exp_key: Any, exp_value: Any, *, n_keys: int, padding: int
    ) -> PCKVGRR:
        """GRR over the d' = d + l keys, randomised response for the sign (Algorithm 3)."""
        exp_key = _check.exp_budget("exp_key", exp_key)
        exp_value = _check.exp_budget("exp_value", exp_value)
        n_keys = _check.integer("n_keys", n_keys, minimum=1)
        padding = _check.integer("padding", padding, minimum=1)
        keep, fake = channels.grr_probabilities(exp_key, n_keys + padding)
        return cls(n_keys, padding, keep, fake, exp_value / (exp_value + 1))

    @classmethod
    def from_epsilon(
        cls, epsilon: float, *, n_keys: int, padding: int, allocation: str = "optimised"
    ) -> PCKVGRR:
        """Equation (24) with the optimised allocation; see `ldpkv.allocation.allocate`."""
        budgets = _allocate(allocation, epsilon, padding)
        return cls.from_exp_budgets(*budgets, n_keys=n_keys, padding=padding)

    @property
    def symbol_probabilities(self) -> tuple[Any, Any, Any]:
        """The channel's ``(p1, q1, q2)``."""
        return (
            self.keep_key * self.keep_sign,
            self.keep_key * (1 - self.keep_sign),
            self.fake_key / 2,
        )

    def channel(self) -> Channel:
        """Exact law of a report given a symbol; ``2 * width`` reports."""
        return channels.symbol_channel(*self.symbol_probabilities, self.width)

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Perturb every user's symbol (Algorithm 3); shape (n_users,), coded like symbols."""
        _check.instance("symbols", symbols, Symbols, SYMBOLS_ADVICE)
        return channels.perturb_symbols(
            symbols.codes, *self.symbol_probabilities, self.width, _check.generator(rng)
        )

    def aggregate(self, reports: NDArray[np.int64]) -> Counts:
        """Count the reports of each key and sign."""
        table = Symbols(reports, self.width, 2).table()
        return Counts(table, np.full(self.width, len(reports)))

    def simulate_counts(
        self, table: NDArray[np.int64], *, rng: np.random.Generator | int | None = None
    ) -> Counts:
        """Draw the counts directly; the same law as `perturb` then `aggregate`."""
        _check.instance("table", table, np.ndarray, "call symbols.table()")
        counted = channels.count_symbols(table, *self.symbol_probabilities, _check.generator(rng))
        return Counts(counted, np.full(self.width, table.sum()))


def _allocate(name: str, epsilon: float, padding: int) -> allocation.Budgets:
    # In the classes `allocation` is an argument's name, so the module is reached from here.
    return allocation.allocate(name, epsilon, _check.integer("padding", padding, minimum=1))
