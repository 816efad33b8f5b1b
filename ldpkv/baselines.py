"""The mechanisms that the papers compare with, each in one screen.

Two families, both as `ldpkv.mechanisms.Mechanism` asks:

* *categorical* (GRR, UE): a user holds exactly one key, whose value is ignored;
* *index sampling* (RR, Harmony, PrivKV, KVUE, KVOH, LDPKV2020, F2M): the user draws one key
  uniformly from the domain, and sends that key in the clear, since it says nothing of the data,
  with a perturbed answer about the user's own state at it: +1, -1 or absent.

A report of index sampling is coded as ``answers * key + answer``. Each class says its answers,
and gives their law as `rows`; the exact channel and the counted road follow from it. The literal
road takes the steps of the paper one by one, and tests hold the two to each other.

PrivKVM is PrivKV in rounds: its `PrivKVM.collect` runs them one after the other.

Where no user drew a key (n_j = 0) nothing is known of it. With ``correction="none"`` every
estimate there is NaN. With "paper" or "code", which are the same for all mechanisms here, the
frequency is 0, and so is the mean (PrivKV: its fake value, which is the server's earlier guess).
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpkv import _check, channels
from ldpkv.allocation import compose_ue, square_root
from ldpkv.channels import Channel, integers
from ldpkv.data import KeyValueData
from ldpkv.estimation import CORRECTIONS, Counts, Estimates
from ldpkv.mechanisms import User
from ldpkv.sampling import ABSENT, Symbols, discretise, sample_uniform_key

ROADS = ("counted", "literal")
VIRTUAL_RULES = ("repeated", "half")

# --- one key per user ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Categorical:
    """What GRR and UE share: users with one key each, two probabilities, and the estimator."""

    n_keys: int
    keep_key: Any
    fake_key: Any

    def __post_init__(self) -> None:
        _check.keep_integer(self, "n_keys", minimum=2)
        for name in ("keep_key", "fake_key"):
            _check.probability(name, getattr(self, name))

    @property
    def width(self) -> int:
        """Number of keys d; there are no dummies."""
        return self.n_keys

    def draw(self, data: KeyValueData, *, rng: np.random.Generator | int | None = None) -> Symbols:
        """Read off every user's only key; nothing is drawn."""
        _same_keys(data, self.n_keys)
        lengths = np.diff(data.indptr)
        if (lengths != 1).any():
            user = int(np.argmax(lengths != 1))
            raise ValueError(
                f"data: every user must hold exactly one key, user {user} holds {lengths[user]}"
            )
        return Symbols(data.keys.astype(np.int64), self.n_keys, 1)

    def symbols(self, draws: Symbols) -> Symbols:
        """One symbol per user: the key."""
        return draws

    def symbol_law(self, user: User) -> NDArray[Any]:
        """Law of the user's symbol, certain for this family; raises unless there is one key."""
        states = _states(user, self.n_keys)
        if len(user) != 1:
            raise ValueError(f"user must hold exactly one key, got {len(user)}")
        return np.array([1 - state[ABSENT] for state in states], dtype=object)

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """Unbiased frequencies; no mean. No correction was ever printed: all names do the same.

        Notes
        -----
        Source: PCKV section 2, f = (share - q) / (p - q).
        """
        _check.one_of("correction", correction, CORRECTIONS)
        p, q = float(self.keep_key), float(self.fake_key)
        if p == q:
            raise ValueError(f"keep_key and fake_key must differ to estimate anything, both {p!r}")
        unknown = np.full(self.n_keys, np.nan)
        share = _divide(counts.table[:, 0], counts.n_reports)
        return Estimates((share - q) / (p - q), unknown, unknown.copy())


@dataclass(frozen=True)
class GRR(_Categorical):
    """Generalised randomised response: a report is one key; two keys give Warner's RR.

    Parameters
    ----------
    n_keys : int
        d, at least 2.
    keep_key, fake_key : Fraction or float
        p, the probability of the truth, and q = (1 - p) / (d - 1), that of each other key.

    Notes
    -----
    Source: PCKV section 2; Kairouz et al. 2014. Claimed, and exact: epsilon = ln(p / q).
    """

    @classmethod
    def from_exp_budgets(cls, exp_epsilon: Any, *, n_keys: int) -> GRR:
        """Set p = e^epsilon / (e^epsilon + d - 1)."""
        exp_epsilon = _check.exp_budget("exp_epsilon", exp_epsilon)
        n_keys = _check.integer("n_keys", n_keys, minimum=2)
        return cls(n_keys, *channels.grr_probabilities(_exact(exp_epsilon), n_keys))

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int) -> GRR:
        """As `from_exp_budgets`, from epsilon in nats."""
        return cls.from_exp_budgets(math.exp(_check.epsilon(epsilon)), n_keys=n_keys)

    def channel(self) -> Channel:
        """Exact law of a report given a symbol; `n_keys` reports."""
        return channels.grr_channel(self.keep_key, self.fake_key, self.n_keys)

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Perturb every user's key; shape (n_users,)."""
        return channels.perturb_grr(
            symbols.codes, self.keep_key, self.n_keys, np.random.default_rng(rng)
        )

    def aggregate(self, reports: NDArray[np.int64]) -> Counts:
        """Count the reports of each key."""
        table = Symbols(reports, self.n_keys, 1).table()
        return Counts(table, np.full(self.n_keys, len(reports)))

    def simulate_counts(
        self, table: NDArray[np.int64], *, rng: np.random.Generator | int | None = None
    ) -> Counts:
        """Draw the counts directly; the same law as `perturb` then `aggregate`."""
        counted = channels.count_grr(
            table[:, 0], self.keep_key, self.fake_key, np.random.default_rng(rng)
        )
        return Counts(counted[:, None], np.full(self.n_keys, table.sum()))


@dataclass(frozen=True)
class UE(_Categorical):
    """Unary encoding: a report has one bit for each key. RAPPOR and OUE are its two settings.

    Parameters
    ----------
    n_keys : int
        d, at least 2.
    keep_key : Fraction or float
        p: the bit of the user's own key is 1.
    fake_key : Fraction or float
        q: the bit of another key is 1.

    Notes
    -----
    Source: PCKV section 2. Claimed, and exact for users with one key: epsilon =
    ln(p (1 - q) / (q (1 - p))). RAPPOR here is basic one-time RAPPOR (symmetric unary encoding).
    """

    @classmethod
    def rappor(cls, exp_epsilon: Any, *, n_keys: int) -> UE:
        """Set p = e^(epsilon / 2) / (e^(epsilon / 2) + 1), q = 1 - p; exact at perfect squares."""
        exp_epsilon = _check.exp_budget("exp_epsilon", exp_epsilon)
        root = square_root(exp_epsilon)
        return cls(n_keys, root / (root + 1), 1 / (root + 1))

    @classmethod
    def oue(cls, exp_epsilon: Any, *, n_keys: int) -> UE:
        """Set p = 1/2, q = 1 / (e^epsilon + 1) (Wang et al. 2017)."""
        exp_epsilon = _check.exp_budget("exp_epsilon", exp_epsilon)
        half = Fraction(1, 2) if isinstance(exp_epsilon, Rational) else 0.5
        return cls(n_keys, half, _exact(1) / (exp_epsilon + 1))

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int, setting: str = "oue") -> UE:
        """`oue` or `rappor`, as `setting` says, from epsilon in nats."""
        rules = {"oue": cls.oue, "rappor": cls.rappor}
        rule = rules[_check.one_of("setting", setting, rules)]
        return rule(math.exp(_check.epsilon(epsilon)), n_keys=n_keys)

    def channel(self) -> Channel:
        """Exact law of a report given a symbol; ``2 ** n_keys`` reports."""
        return channels.binary_unary_channel(self.keep_key, self.fake_key, self.n_keys)

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int8]:
        """Perturb every user's key; bits of shape (n_users, n_keys)."""
        return channels.perturb_binary_unary(
            symbols.codes, self.keep_key, self.fake_key, self.n_keys, np.random.default_rng(rng)
        )

    def aggregate(self, reports: NDArray[np.int8]) -> Counts:
        """Count the ones of each key."""
        table = reports.sum(axis=0, dtype=np.int64)[:, None]
        return Counts(table, np.full(self.n_keys, len(reports)))

    def simulate_counts(
        self, table: NDArray[np.int64], *, rng: np.random.Generator | int | None = None
    ) -> Counts:
        """Draw the counts directly; the same law as `perturb` then `aggregate`."""
        counted = channels.count_binary_unary(
            table[:, 0], self.keep_key, self.fake_key, np.random.default_rng(rng)
        )
        return Counts(counted[:, None], np.full(self.n_keys, table.sum()))


# --- index sampling --------------------------------------------------------------------------


@dataclass(frozen=True)
class _IndexSampling(ABC):
    """What every index-sampling mechanism shares: all but its answers and its estimator."""

    answers: ClassVar[int]
    n_keys: int

    def __post_init__(self) -> None:
        _check.keep_integer(self, "n_keys", minimum=1)

    @property
    def width(self) -> int:
        """Number of keys d; there are no dummies."""
        return self.n_keys

    @abstractmethod
    def rows(self) -> NDArray[Any]:
        """Law of the answer at a key, given the state there.

        Returns
        -------
        ndarray of Fraction or float (dtype object), shape (n_keys or 1, 3, answers)
            The states are +1, -1, absent. One leading row serves all keys.
        """

    @abstractmethod
    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Answer for every user; shape (n_users,), coded ``answers * key + answer``."""

    def draw(self, data: KeyValueData, *, rng: np.random.Generator | int | None = None) -> Symbols:
        """Draw a key for every user; see `ldpkv.sampling.sample_uniform_key`."""
        return sample_uniform_key(_same_keys(data, self.n_keys), rng=rng)

    def symbols(self, draws: Symbols) -> Symbols:
        """One symbol per user: the drawn key and the user's state at it."""
        return draws

    def symbol_law(self, user: User) -> NDArray[Any]:
        """Exact law of the user's symbol: each key with probability 1 / d."""
        states = _states(user, self.n_keys)
        return np.array([x / self.n_keys for state in states for x in state], dtype=object)

    def channel(self) -> Channel:
        """Exact law of a report given a symbol: the key in the clear, and the answer's law."""
        rows, denominator = integers(self.rows())
        rows = np.broadcast_to(rows, (self.n_keys, *rows.shape[1:]))
        answers = self.answers
        weights = np.zeros((3 * self.n_keys, answers * self.n_keys), dtype=rows.dtype)
        for key, row in enumerate(rows):
            weights[3 * key : 3 * key + 3, answers * key : answers * (key + 1)] = row
        return Channel(weights, denominator)

    def aggregate(self, reports: NDArray[np.int64]) -> Counts:
        """Count the answers at each key."""
        table = Symbols(reports, self.n_keys, self.answers).table()
        return Counts(table, table.sum(axis=1))

    def simulate_counts(
        self, table: NDArray[np.int64], *, rng: np.random.Generator | int | None = None
    ) -> Counts:
        """Draw the counts directly; the same law as `perturb` then `aggregate`."""
        law = self.rows().astype(np.float64)
        counted = np.random.default_rng(rng).multinomial(table, law).sum(axis=1)
        return Counts(counted, table.sum(axis=1))


@dataclass(frozen=True)
class RR(_IndexSampling):
    """Warner's randomised response on whether the user holds the drawn key.

    With one key this is RR itself. With more it estimates frequencies of sets within a true
    epsilon, which one-hot encodings of whole sets do not. Answers: yes, no.

    Parameters
    ----------
    n_keys : int
        d, at least 1.
    keep_key : Fraction or float
        p: the answer is true.

    Notes
    -----
    Source: PCKV section 2 (RR). Claimed, and exact: epsilon = ln(p / (1 - p)).
    """

    answers: ClassVar[int] = 2
    keep_key: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.probability("keep_key", self.keep_key)

    @classmethod
    def from_exp_budgets(cls, exp_epsilon: Any, *, n_keys: int) -> RR:
        """Set p = e^epsilon / (e^epsilon + 1)."""
        return cls(n_keys, _truthful("exp_epsilon", exp_epsilon))

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int) -> RR:
        """As `from_exp_budgets`, from epsilon in nats."""
        return cls.from_exp_budgets(math.exp(_check.epsilon(epsilon)), n_keys=n_keys)

    def rows(self) -> NDArray[Any]:
        """Law of yes and no, given the state."""
        p = self.keep_key
        return np.array([[[p, 1 - p], [p, 1 - p], [1 - p, p]]], dtype=object)

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Answer for every user; shape (n_users,), coded ``2 * key + answer``."""
        key, state = np.divmod(symbols.codes, 3)
        answer = (state == ABSENT).astype(np.int64)
        return 2 * key + _keep_bit(answer, self.keep_key, np.random.default_rng(rng))

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """Unbiased frequencies, never clipped; no mean."""
        _informative("keep_key", self.keep_key)
        frequency = _frequency_from_bits(counts.table[:, 0], counts.n_reports, self.keep_key)
        unknown = np.full(self.n_keys, np.nan)
        return Estimates(_known(frequency, correction), unknown, unknown.copy())


def duchi_law(value: Any, exp_epsilon: Any) -> tuple[Any, Any]:
    """Law of the one-dimensional mechanism of Duchi et al., which reports +C or -C.

    Parameters
    ----------
    value : Fraction or float
        In [-1, 1].
    exp_epsilon : Fraction or float
        e^epsilon > 1.

    Returns
    -------
    probability, magnitude : same type
        Pr[+C] = (v (e^epsilon - 1) + e^epsilon + 1) / (2 e^epsilon + 2), and
        C = (e^epsilon + 1) / (e^epsilon - 1), so that E[report] = v.

    Raises
    ------
    ValueError, TypeError
        If the value is outside [-1, 1], or e^epsilon is not above 1.

    Notes
    -----
    Source: Duchi, Jordan, Wainwright 2013; Nguyen et al. 2016. It is affine in the value: rounding
    to +1 or -1 first and flipping the sign by randomised response has the same law.
    """
    exp_epsilon = _check.exp_budget("exp_epsilon", exp_epsilon)
    if exp_epsilon == 1:
        raise ValueError("exp_epsilon must be above 1: at epsilon = 0 the magnitude is infinite")
    if not -1 <= value <= 1:
        raise ValueError(f"value must lie in [-1, 1], got {value!r}")
    total = exp_epsilon + 1
    if isinstance(value, Rational) and isinstance(exp_epsilon, Rational):
        total = Fraction(total)  # int / int would be a float
    return (value * (exp_epsilon - 1) + total) / (2 * total), total / (exp_epsilon - 1)


def duchi(
    values: ArrayLike, exp_epsilon: float, *, rng: np.random.Generator | int | None = None
) -> NDArray[np.float64]:
    """Perturb values by the one-dimensional mechanism of Duchi et al.

    Parameters
    ----------
    values : array of float, any shape
        In [-1, 1].
    exp_epsilon : float
        e^epsilon > 1.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`.

    Returns
    -------
    ndarray of float64, same shape
        +C or -C; see `duchi_law`.

    Raises
    ------
    ValueError, TypeError
        If a value is NaN or outside [-1, 1], or e^epsilon is not above 1.
    """
    numbers = np.asarray(values, dtype=np.float64)
    bad = ~(np.abs(numbers) <= 1)
    if bad.any():
        raise ValueError(f"values must lie in [-1, 1], got {numbers[bad].flat[0]!r}")
    middle, magnitude = duchi_law(0.0, float(exp_epsilon))
    slope = duchi_law(1.0, float(exp_epsilon))[0] - middle
    coin = np.random.default_rng(rng).random(numbers.shape)
    return np.where(coin < middle + slope * numbers, magnitude, -magnitude)


@dataclass(frozen=True)
class Harmony(_IndexSampling):
    """Harmony: one dimension is drawn, and its value (0 if absent) goes through `duchi`.

    It estimates totals f m only: frequency and mean are NaN. Answers: +C, -C.

    Parameters
    ----------
    n_keys : int
        d, at least 1.
    keep_sign : Fraction or float
        e^epsilon / (e^epsilon + 1): the sign of a value +1 or -1 survives. C = 1 / (2 p - 1).

    Notes
    -----
    Source: Nguyen et al. 2016, from memory; averages are over the n_j users who drew the key.
    Claimed, and exact: epsilon = ln(p / (1 - p)).
    """

    answers: ClassVar[int] = 2
    keep_sign: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.probability("keep_sign", self.keep_sign)

    @classmethod
    def from_exp_budgets(cls, exp_epsilon: Any, *, n_keys: int) -> Harmony:
        """Set p = e^epsilon / (e^epsilon + 1)."""
        return cls(n_keys, _truthful("exp_epsilon", exp_epsilon))

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int) -> Harmony:
        """As `from_exp_budgets`, from epsilon in nats."""
        return cls.from_exp_budgets(math.exp(_check.epsilon(epsilon)), n_keys=n_keys)

    def rows(self) -> NDArray[Any]:
        """Law of +C and -C, given the state; an absent key counts as the value 0."""
        p = self.keep_sign
        half = Fraction(1, 2)
        return np.array([[[p, 1 - p], [1 - p, p], [half, half]]], dtype=object)

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Answer for every user; shape (n_users,), coded ``2 * key + answer``."""
        key, state = np.divmod(symbols.codes, 3)
        value = np.where(state == ABSENT, 0, 1 - 2 * state)
        coin = np.random.default_rng(rng).random(len(key))
        return 2 * key + (2 * coin >= 1 + (2 * float(self.keep_sign) - 1) * value)

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """Unbiased totals, never clipped; they may leave [-1, 1]."""
        _informative("keep_sign", self.keep_sign)
        total = _mean_of_signs(counts.table[:, 0], counts.table[:, 1], self.keep_sign)
        unknown = np.full(self.n_keys, np.nan)
        return Estimates(unknown, _known(total, correction), unknown.copy())


# --- PrivKV and PrivKVM ------------------------------------------------------------------------


@dataclass(frozen=True)
class _PrivKV(_IndexSampling):
    """What PrivKV and its virtual rounds share: one real round."""

    answers: ClassVar[int] = 3
    keep_key: Any
    keep_sign: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("keep_key", "keep_sign"):
            _check.probability(name, getattr(self, name))

    @abstractmethod
    def fakes(self) -> NDArray[Any]:
        """Fake value of each key, dtype object, shape (n_keys,) or (1,)."""

    def rows(self) -> NDArray[Any]:
        """Law of the answers (1, +1), (1, -1) and (0, 0), given the state."""
        p1, p2, fakes = self.keep_key, self.keep_sign, self.fakes()
        law = np.empty((len(fakes), 3, 3), dtype=object)
        law[:, 0] = np.array([p1 * p2, p1 * (1 - p2), 1 - p1], dtype=object)
        law[:, 1] = np.array([p1 * (1 - p2), p1 * p2, 1 - p1], dtype=object)
        plus = (1 + (2 * p2 - 1) * fakes) / 2
        law[:, 2, 0] = (1 - p1) * plus
        law[:, 2, 1] = (1 - p1) * (1 - plus)
        law[:, 2, 2] = p1
        return law

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Answer for every user; shape (n_users,), coded like symbols, (0, 0) as absent.

        Notes
        -----
        Source: PrivKV, local perturbation protocol: value perturbation (VPP), then the key.
        """
        generator = np.random.default_rng(rng)
        key, state = np.divmod(symbols.codes, 3)
        fake = np.broadcast_to(self.fakes().astype(np.float64), self.n_keys)
        value = np.where(state == ABSENT, fake[key], 1 - 2 * state)
        negative = (discretise(value, rng=generator) == -1).astype(np.int64)
        negative = _keep_bit(negative, self.keep_sign, generator)
        held = _keep_bit((state != ABSENT).astype(np.int64), self.keep_key, generator)
        return 3 * key + np.where(held == 1, negative, ABSENT)

    def _estimate(self, counts: Counts, correction: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Frequency and mean of one real round."""
        plus, minus = counts.table[:, 0], counts.table[:, 1]
        frequency = _frequency_from_bits(plus + minus, counts.n_reports, self.keep_key)
        mean = _mean_of_signs(plus, minus, self.keep_sign)
        if _check.one_of("correction", correction, CORRECTIONS) != "none":
            silent = plus + minus == 0
            if float(self.keep_key) != 0.5:
                frequency = np.where(silent, 0.0, frequency)
            mean = np.where(silent, self.fakes().astype(np.float64), np.clip(mean, -1, 1))
        return frequency, mean


@dataclass(frozen=True)
class PrivKV(_PrivKV):
    """PrivKV: the key's bit by randomised response, and a value that goes with it.

    A user without the drawn key sends (0, 0), or, if the bit flips to 1, the perturbed *fake*
    value. Answers: (1, +1), (1, -1), (0, 0).

    Parameters
    ----------
    n_keys : int
        d, at least 1.
    keep_key : Fraction or float
        p_1: the key's bit is true. 1/2 in the later rounds of PrivKVM, whose frequency is NaN.
    keep_sign : Fraction or float
        p_2: the sign survives.
    fake_value : number, or a tuple with one number for each key
        In [-1, 1]; rounded to +1 or -1 anew for each user. 0 has the same law as a value uniform
        on [-1, 1], which some descriptions use.

    Notes
    -----
    Source: Ye et al. 2019; PCKV section 2 and the authors' public code. Claimed: epsilon_1 +
    epsilon_2, with epsilon_1 = ln(p_1 / (1 - p_1)), epsilon_2 = ln(p_2 / (1 - p_2)). Exact: that
    only if a fake value is +1 or -1; with fake value 0, max{epsilon_2, epsilon_1 +
    ln(2 / (1 + e^-epsilon_2))}, as for PCKV-UE; with p_1 = 1/2, epsilon_2 whatever the fake value.
    """

    fake_value: Any = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fakes().shape not in ((1,), (self.n_keys,)):
            raise ValueError(
                f"fake_value must be one number, or a tuple of n_keys = {self.n_keys}, "
                f"got {len(self.fakes())}"
            )
        for fake in self.fakes():
            if not -1 <= fake <= 1:
                raise ValueError(f"fake_value must lie in [-1, 1], got {fake!r}")

    @classmethod
    def from_exp_budgets(
        cls, exp_key: Any, exp_value: Any, *, n_keys: int, fake_value: Any = 0
    ) -> PrivKV:
        """Set p_i = e^epsilon_i / (e^epsilon_i + 1)."""
        p1, p2 = _truthful("exp_key", exp_key), _truthful("exp_value", exp_value)
        return cls(n_keys, p1, p2, fake_value)

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int) -> PrivKV:
        """Set epsilon_1 = epsilon_2 = epsilon / 2; PrivKVM with one round."""
        half = math.exp(_check.epsilon(epsilon) / 2)
        return cls.from_exp_budgets(half, half, n_keys=n_keys)

    def fakes(self) -> NDArray[Any]:
        """Fake value of each key, dtype object, shape (n_keys,) or (1,)."""
        return np.atleast_1d(np.array(self.fake_value, dtype=object))

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """Frequency, unbiased; mean, drawn towards the fake value; total, their product.

        With n_1 and n_2 the numbers of (1, +1) and (1, -1): f = (p_1 - 1 + (n_1 + n_2) / n_j) /
        (2 p_1 - 1), m = (n_1 - n_2) / ((2 p_2 - 1) (n_1 + n_2)). The correction clips m to
        [-1, 1], which is the papers' clipping of both corrected counts to [0, n_1 + n_2]; where no
        report has bit 1 it sets f = 0 and m = the fake value. f itself is never clipped.

        Notes
        -----
        Source: PrivKV's calibration, with the conventions of the PCKV authors' public code.
        """
        frequency, mean = self._estimate(counts, correction)
        return Estimates(frequency, frequency * mean, mean)


@dataclass(frozen=True)
class PrivKVMVirtual(_PrivKV):
    """PrivKVM with one real round, after which the server plays the others by itself.

    Parameters
    ----------
    n_keys, keep_key, keep_sign
        As in `PrivKV`; the fake value is 0.
    virtual_rounds : int
        V, at least 0.
    rule : {"repeated", "half"}
        What a virtual round repeats: the first round, or a later one (p_1 = 1/2).

    Notes
    -----
    Source: the idea is PrivKVM's; its printed rule could not be had, and the two rules here are
    **derived**. A round moves the expected mean from m' to rho m + (1 - rho) m' (`PrivKVM`). The
    server does not know m, but the real round, started at 0, estimates rho_1 m; so with
    rho_1 = f p_1 / (f p_1 + (1 - f) (1 - p_1)) at its own f, clipped to [0, 1], it may go on
    without any noise. "repeated" gives m^(1) (1 - (1 - rho_1)^(V + 1)) / rho_1, "half"
    m^(1) (1 - (1 - rho_1) (1 - f)^V) / rho_1. Privacy is that of the real round.
    """

    virtual_rounds: int = 5
    rule: str = "repeated"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.keep_integer(self, "virtual_rounds", minimum=0)
        _check.one_of("rule", self.rule, VIRTUAL_RULES)

    @classmethod
    def from_exp_budgets(
        cls,
        exp_key: Any,
        exp_value: Any,
        *,
        n_keys: int,
        virtual_rounds: int = 5,
        rule: str = "repeated",
    ) -> PrivKVMVirtual:
        """Set p_i = e^epsilon_i / (e^epsilon_i + 1)."""
        p1, p2 = _truthful("exp_key", exp_key), _truthful("exp_value", exp_value)
        return cls(n_keys, p1, p2, virtual_rounds, rule)

    @classmethod
    def from_epsilon(
        cls, epsilon: float, *, n_keys: int, virtual_rounds: int = 5, rule: str = "repeated"
    ) -> PrivKVMVirtual:
        """Set epsilon_1 = epsilon_2 = epsilon / 2."""
        half = math.exp(_check.epsilon(epsilon) / 2)
        return cls.from_exp_budgets(
            half, half, n_keys=n_keys, virtual_rounds=virtual_rounds, rule=rule
        )

    def fakes(self) -> NDArray[Any]:
        """Fake value 0 for all keys."""
        return np.array([0], dtype=object)

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """`PrivKV.estimate`, the mean then taken through the virtual rounds and clipped again."""
        frequency, mean = self._estimate(counts, correction)
        mean = mean * virtual_factor(frequency, self.keep_key, self.virtual_rounds, self.rule)
        if correction != "none":
            mean = np.clip(mean, -1, 1)
        return Estimates(frequency, frequency * mean, mean)


def virtual_factor(
    frequency: NDArray[np.float64], keep_key: float, virtual_rounds: int, rule: str
) -> NDArray[np.float64]:
    """Return what V virtual rounds multiply the mean of the real round by.

    Parameters
    ----------
    frequency : ndarray of float64
        Estimated frequencies; clipped to [0, 1] here.
    keep_key : float
        p_1 of the real round, above 0.
    virtual_rounds : int
        V.
    rule : {"repeated", "half"}
        As in `PrivKVMVirtual`, whose formulas these are, written without dividing by rho_1, which
        may be 0.

    Returns
    -------
    ndarray of float64
        From 1 at V = 0 up to 1 / rho_1.
    """
    f, p1 = np.clip(frequency, 0, 1), float(keep_key)
    bit = f * p1 + (1 - f) * (1 - p1)  # probability of a key bit 1
    # It is 0 only at f = 0 with p_1 = 1: no fake values, so rho_1 = 1.
    rho = np.divide(f * p1, bit, out=np.ones_like(bit), where=bit != 0)
    if rule == "repeated":
        return np.sum([(1 - rho) ** r for r in range(virtual_rounds + 1)], axis=0)
    later = np.sum([(1 - f) ** r for r in range(virtual_rounds)], axis=0)
    return 1 + (1 - rho) * later * bit / p1  # bit / p_1 = f / rho_1


@dataclass(frozen=True)
class PrivKVM:
    """PrivKVM: PrivKV in rounds, each with the last round's mean as fake value.

    Parameters
    ----------
    n_keys : int
        d, at least 1.
    keep_key : Fraction or float
        p_1 of the first round; it is 1/2 in the others.
    keep_sign : Fraction or float
        p_2 of every round.
    rounds : int
        c, at least 1.

    Notes
    -----
    Source: Ye et al. 2019; PCKV section 2. Every user draws a new key in each round; frequencies
    come from the first, means from the last. Without clipping, a round moves the expected mean
    from m' to rho m + (1 - rho) m', where rho = f p_1 / (f p_1 + (1 - f) (1 - p_1)), which is f in
    the later rounds: the bias after c rounds is -m (1 - rho_1) (1 - f)^(c - 1). Given a key bit 1,
    a round's expectation is exact for users drawn from one law, and in the later rounds for any
    users; for fixed users the first round's is exact to first order in 1 / n.

    Claimed: epsilon_1 + c epsilon_2, by sequential composition. The first round costs less, since
    its fake value is 0 (`stage_budgets`); the smaller sum is exact, being reached where the means
    handed on come out as +1, or all as -1.
    """

    n_keys: int
    keep_key: Any
    keep_sign: Any
    rounds: int

    def __post_init__(self) -> None:
        _check.keep_integer(self, "n_keys", minimum=1)
        _check.keep_integer(self, "rounds", minimum=1)
        for name in ("keep_key", "keep_sign"):
            _check.probability(name, getattr(self, name))

    @classmethod
    def from_exp_budgets(cls, exp_key: Any, exp_value: Any, *, n_keys: int, rounds: int) -> PrivKVM:
        """Set p_i = e^epsilon_i / (e^epsilon_i + 1), `exp_value` being that of one round."""
        p1, p2 = _truthful("exp_key", exp_key), _truthful("exp_value", exp_value)
        return cls(n_keys, p1, p2, rounds)

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int, rounds: int) -> PrivKVM:
        """Set epsilon_1 = epsilon / 2 in the first round, epsilon_2 = epsilon / (2 c) in each."""
        half = _check.epsilon(epsilon) / 2
        share = half / _check.integer("rounds", rounds, minimum=1)
        return cls.from_exp_budgets(math.exp(half), math.exp(share), n_keys=n_keys, rounds=rounds)

    def stage(self, index: int, fake_value: Any = 0) -> PrivKV:
        """Mechanism of one round, counted from 1.

        Parameters
        ----------
        index : int
            Round, 1 to c.
        fake_value : number, or a tuple with one number for each key
            Means of the round before; 0 in the first.

        Returns
        -------
        PrivKV

        Raises
        ------
        ValueError, TypeError
            If there is no such round.
        """
        if _check.integer("index", index, minimum=1) > self.rounds:
            raise ValueError(f"index must be at most rounds = {self.rounds}, got {index}")
        keep = self.keep_key if index == 1 else Fraction(1, 2)
        return PrivKV(self.n_keys, keep, self.keep_sign, fake_value)

    def stage_budgets(self) -> tuple[Any, ...]:
        """Exact e^epsilon of every round; under *sequential composition* the product bounds all.

        Returns
        -------
        tuple of Fraction or float
            `ldpkv.allocation.compose_ue` for the first, e^epsilon_2 for each other, whatever its
            fake values. Probabilities of at least 1/2 are taken for granted.
        """
        key, value = (p / (1 - p) if p < 1 else math.inf for p in (self.keep_key, self.keep_sign))
        return (compose_ue(key, value),) + (value,) * (self.rounds - 1)

    def collect(
        self,
        data: KeyValueData,
        *,
        rng: np.random.Generator | int | None = None,
        road: str = "counted",
        correction: str = "paper",
    ) -> Estimates:
        """Run all rounds.

        Parameters
        ----------
        data : KeyValueData
            The users.
        rng : numpy.random.Generator or seed, optional
            Passed through `numpy.random.default_rng`.
        road : {"counted", "literal"}
            Draw the server's counts, or perturb user by user; one law.
        correction : {"paper", "code", "none"}
            For the first round's frequency and the last round's mean. Means that users are handed
            as fake values are always corrected, so that they are values.

        Returns
        -------
        Estimates
            `total` is frequency times mean.
        """
        _check.one_of("road", road, ROADS)
        _check.one_of("correction", correction, CORRECTIONS)
        generator = np.random.default_rng(rng)
        stage = self.stage(1)
        counts = _counts(stage, data, generator, road)
        frequency = stage.estimate(counts, correction=correction).frequency
        for index in range(2, self.rounds + 1):
            mean = stage.estimate(counts).mean
            stage = self.stage(index, tuple(mean.tolist()))
            counts = _counts(stage, data, generator, road)
        mean = stage.estimate(counts, correction=correction).mean
        return Estimates(frequency, frequency * mean, mean)


def _counts(
    mechanism: _IndexSampling, data: KeyValueData, rng: np.random.Generator, road: str
) -> Counts:
    symbols = mechanism.symbols(mechanism.draw(data, rng=rng))
    if road == "counted":
        return mechanism.simulate_counts(symbols.table(), rng=rng)
    return mechanism.aggregate(mechanism.perturb(symbols, rng=rng))


# --- the state of one key as a category ----------------------------------------------------------


@dataclass(frozen=True)
class _StateGRR(_IndexSampling):
    """GRR over the three states of the drawn key."""

    answers: ClassVar[int] = 3
    keep_state: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.probability("keep_state", self.keep_state)

    def rows(self) -> NDArray[Any]:
        """Law of the reported state, given the state."""
        p, q = self.keep_state, (1 - self.keep_state) / 2
        return np.array([[[p, q, q], [q, p, q], [q, q, p]]], dtype=object)

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Answer for every user; shape (n_users,), coded like symbols."""
        key, state = np.divmod(symbols.codes, 3)
        generator = np.random.default_rng(rng)
        return 3 * key + channels.perturb_grr(state, self.keep_state, 3, generator)

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """Unbiased frequency and total, and the ratio of the two as mean.

        The correction clips the estimated numbers of +1 and -1 to [0, n_j], as the PCKV authors'
        public code does; the method's own author does not clip, which is "none".
        """
        _informative("keep_state", self.keep_state, Fraction(1, 3))
        p, q = float(self.keep_state), (1 - float(self.keep_state)) / 2
        estimated = (counts.table[:, :2] - q * counts.n_reports[:, None]) / (p - q)
        return _state_estimates(estimated, counts, correction)


@dataclass(frozen=True)
class KVUE(_StateGRR):
    """KVUE: the state of the drawn key through GRR over {+1, -1, absent}.

    Answers: the three states.

    Parameters
    ----------
    n_keys : int
        d, at least 1.
    keep_state : Fraction or float
        p: the state is reported; each other with probability (1 - p) / 2.

    Notes
    -----
    Source: Sun et al. 2019 (arXiv 1907.05014), by its author's and the PCKV authors' public code.
    Claimed, and exact: epsilon = ln(2 p / (1 - p)).
    """

    @classmethod
    def from_exp_budgets(cls, exp_epsilon: Any, *, n_keys: int) -> KVUE:
        """Set p = e^epsilon / (e^epsilon + 2)."""
        return cls(n_keys, _truthful("exp_epsilon", exp_epsilon, size=3))

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int) -> KVUE:
        """As `from_exp_budgets`, from epsilon in nats."""
        return cls.from_exp_budgets(math.exp(_check.epsilon(epsilon)), n_keys=n_keys)


@dataclass(frozen=True)
class LDPKV2020(_StateGRR):
    """LDPKV, **a guess**: its definition is lost, and this is KVUE under another name.

    All that is known is what HISKV says of its reference [4]: keys are encoded over the whole
    domain, one is drawn, and GRR perturbs the discretised pair, from the domain of pairs to the
    domain of outputs as a whole. GRR over the drawn key's states is the plainest reading of that.
    No number obtained with this class says anything of the LDPKV that HISKV ran.

    Parameters
    ----------
    n_keys : int
        d, at least 1.
    keep_state : Fraction or float
        p: the state is reported; each other with probability (1 - p) / 2.

    Notes
    -----
    Source: HISKV's introduction and related work (prose only). Claimed: epsilon; exact for the
    guess.
    """

    @classmethod
    def from_exp_budgets(cls, exp_epsilon: Any, *, n_keys: int) -> LDPKV2020:
        """Set p = e^epsilon / (e^epsilon + 2)."""
        return cls(n_keys, _truthful("exp_epsilon", exp_epsilon, size=3))

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int) -> LDPKV2020:
        """As `from_exp_budgets`, from epsilon in nats."""
        return cls.from_exp_budgets(math.exp(_check.epsilon(epsilon)), n_keys=n_keys)


_BITS = np.array(list(itertools.product((1, 0), repeat=3)))  # as channels.binary_unary_channel
_PLACES = np.array([4, 2, 1])


@dataclass(frozen=True)
class KVOH(_IndexSampling):
    """KVOH: the state of the drawn key as three one-hot bits, each by randomised response.

    Answers: the eight triples of bits for +1, -1, absent, from (1, 1, 1) down to (0, 0, 0).

    Parameters
    ----------
    n_keys : int
        d, at least 1.
    keep_bit : Fraction or float
        p = e^(epsilon / 2) / (e^(epsilon / 2) + 1): a bit is true.

    Notes
    -----
    Source: the encoder is Sun et al.'s (arXiv 1907.05014), by its author's public code; HISKV
    describes KVOH as GRR on pairs, which would be KVUE. The estimator is **derived**: the author's
    decoder is empty. Claimed, and exact: epsilon = 2 ln(p / (1 - p)).
    """

    answers: ClassVar[int] = 8
    keep_bit: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.probability("keep_bit", self.keep_bit)

    @classmethod
    def from_exp_budgets(cls, exp_epsilon: Any, *, n_keys: int) -> KVOH:
        """Give each bit half the budget; exact where e^epsilon is a perfect square."""
        exp_epsilon = _check.exp_budget("exp_epsilon", exp_epsilon)
        return cls(n_keys, _truthful("exp_epsilon", square_root(exp_epsilon)))

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int) -> KVOH:
        """As `from_exp_budgets`, from epsilon in nats."""
        return cls.from_exp_budgets(math.exp(_check.epsilon(epsilon)), n_keys=n_keys)

    def rows(self) -> NDArray[Any]:
        """Law of the three bits, given the state."""
        p = self.keep_bit
        truth = np.eye(3, dtype=int)
        each = np.where(_BITS == truth[:, None], p, 1 - p).astype(object)  # state, answer, bit
        return each.prod(axis=2)[None]

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Answer for every user; shape (n_users,), coded ``8 * key + answer``."""
        key, state = np.divmod(symbols.codes, 3)
        p, generator = self.keep_bit, np.random.default_rng(rng)
        bits = channels.perturb_binary_unary(state, p, 1 - p, 3, generator)
        return 8 * key + (1 - bits) @ _PLACES

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """As KVUE's, from the numbers of ones of the first two bits."""
        _informative("keep_bit", self.keep_bit)
        p = float(self.keep_bit)
        ones = counts.table @ _BITS[:, :2]
        estimated = (ones - (1 - p) * counts.n_reports[:, None]) / (2 * p - 1)
        return _state_estimates(estimated, counts, correction)


def _state_estimates(numbers: NDArray[np.float64], counts: Counts, correction: str) -> Estimates:
    """Frequencies and means from the estimated numbers of +1 and -1 at each key."""
    if _check.one_of("correction", correction, CORRECTIONS) != "none":
        numbers = np.clip(numbers, 0, counts.n_reports[:, None])
    plus, minus = numbers.T
    frequency = _divide(plus + minus, counts.n_reports)
    total = _divide(plus - minus, counts.n_reports)
    mean = _divide(plus - minus, plus + minus)
    return Estimates(*(_known(x, correction) for x in (frequency, total, mean)))


# --- frequency and mean apart --------------------------------------------------------------------


@dataclass(frozen=True)
class F2M(_IndexSampling):
    """F2M: the key's bit by randomised response, and apart from it a value by `duchi`.

    Users without the drawn key send a default value. Answers: (1, +C), (1, -C), (0, +C), (0, -C).

    Parameters
    ----------
    n_keys : int
        d, at least 1.
    keep_key : Fraction or float
        p_1: the key's bit is true.
    keep_sign : Fraction or float
        p_2: the sign of a value +1 or -1 survives; C = 1 / (2 p_2 - 1).
    default : Fraction or float
        v_0 in [-1, 1], the value of those who lack the key.

    Notes
    -----
    Source: Sun et al. 2019, by its author's public code. Claimed: epsilon_1 + epsilon_2. Exact:
    that only if the default is +1 or -1; with default 0, max{epsilon_2, epsilon_1 +
    ln((1 + e^epsilon_2) / 2)}, more than `PrivKV`, since a sign goes with key bit 0 too.
    """

    answers: ClassVar[int] = 4
    keep_key: Any
    keep_sign: Any
    default: Any = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("keep_key", "keep_sign"):
            _check.probability(name, getattr(self, name))
        if not -1 <= self.default <= 1:
            raise ValueError(f"default must lie in [-1, 1], got {self.default!r}")

    @classmethod
    def from_exp_budgets(
        cls, exp_key: Any, exp_value: Any, *, n_keys: int, default: Any = 0
    ) -> F2M:
        """Set p_i = e^epsilon_i / (e^epsilon_i + 1)."""
        p1, p2 = _truthful("exp_key", exp_key), _truthful("exp_value", exp_value)
        return cls(n_keys, p1, p2, default)

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int, default: Any = 0) -> F2M:
        """Set epsilon_1 = epsilon_2 = epsilon / 2."""
        half = math.exp(_check.epsilon(epsilon) / 2)
        return cls.from_exp_budgets(half, half, n_keys=n_keys, default=default)

    def rows(self) -> NDArray[Any]:
        """Law of bit and value, given the state."""
        p1, p2 = self.keep_key, self.keep_sign
        law = []
        for held, value in ((p1, 1), (p1, -1), (1 - p1, self.default)):
            plus = (1 + (2 * p2 - 1) * value) / 2
            law.append([bit * sign for bit in (held, 1 - held) for sign in (plus, 1 - plus)])
        return np.array([law], dtype=object)

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Answer for every user; shape (n_users,), coded ``4 * key + answer``."""
        generator = np.random.default_rng(rng)
        key, state = np.divmod(symbols.codes, 3)
        value = np.where(state == ABSENT, float(self.default), 1 - 2 * state)
        coin = generator.random(len(key))
        negative = 2 * coin >= 1 + (2 * float(self.keep_sign) - 1) * value
        missing = _keep_bit((state == ABSENT).astype(np.int64), self.keep_key, generator)
        return 4 * key + 2 * missing + negative

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """Unbiased frequency and total, and the ratio of the two as mean; none is clipped."""
        _informative("keep_key", self.keep_key)
        _informative("keep_sign", self.keep_sign)
        yes = counts.table[:, :2].sum(axis=1)
        frequency = _frequency_from_bits(yes, counts.n_reports, self.keep_key)
        plus, minus = counts.table[:, [0, 2]].sum(axis=1), counts.table[:, [1, 3]].sum(axis=1)
        average = _mean_of_signs(plus, minus, self.keep_sign)
        total = average - (1 - frequency) * float(self.default)
        mean = _divide(total, frequency)
        return Estimates(*(_known(x, correction) for x in (frequency, total, mean)))


# --- small helpers -------------------------------------------------------------------------------


def _same_keys(data: KeyValueData, n_keys: int) -> KeyValueData:
    if data.n_keys != n_keys:
        raise ValueError(f"data must have n_keys = {n_keys}, got {data.n_keys}")
    return data


def _states(user: User, n_keys: int) -> list[tuple[Any, Any, Any]]:
    """Law of the user's state (+1, -1, absent) at each key."""
    states: list[tuple[Any, Any, Any]] = [(Fraction(0), Fraction(0), Fraction(1))] * n_keys
    for key, value in user.items():
        if not 0 <= key < n_keys:
            raise ValueError(f"user: keys must lie in 0 .. {n_keys - 1}, got {key!r}")
        if not -1 <= value <= 1:
            raise ValueError(f"user: values must lie in [-1, 1], got {value!r} at key {key}")
        exact = Fraction(value) if isinstance(value, Rational) else float(value)
        states[key] = ((1 + exact) / 2, (1 - exact) / 2, Fraction(0))
    return states


def _exact(number: Any) -> Any:
    # An int divided by an int would be a float.
    return Fraction(number) if isinstance(number, Rational) else number


def _truthful(name: str, exp_epsilon: Any, size: int = 2) -> Any:
    """Probability of the truth under randomised response over `size` answers."""
    exp_epsilon = _check.exp_budget(name, exp_epsilon)
    return channels.grr_probabilities(_exact(exp_epsilon), size)[0]


def _keep_bit(bits: NDArray[np.int64], keep: Any, rng: np.random.Generator) -> NDArray[np.int64]:
    """Keep each bit with probability `keep`, else flip it."""
    return np.where(rng.random(len(bits)) < float(keep), bits, 1 - bits)


def _informative(name: str, keep: Any, worthless: Any = Fraction(1, 2)) -> None:
    if float(keep) == float(worthless):
        raise ValueError(f"{name} must differ from {worthless} to estimate anything")


def _divide(numerator: NDArray[Any], denominator: NDArray[Any]) -> NDArray[np.float64]:
    """Quotient; NaN where the denominator is 0."""
    out = np.full(len(denominator), np.nan)
    return np.divide(numerator, denominator, out=out, where=denominator != 0)


def _known(numbers: NDArray[np.float64], correction: str) -> NDArray[np.float64]:
    """With a correction, 0 where nothing is known."""
    if _check.one_of("correction", correction, CORRECTIONS) == "none":
        return numbers
    return np.nan_to_num(numbers, nan=0.0)


def _frequency_from_bits(yes: NDArray[Any], n_reports: NDArray[Any], keep: Any) -> NDArray[Any]:
    """Unbiased share of true yeses; NaN where nobody was asked, or if keep = 1/2."""
    p = float(keep)
    share = _divide(yes, n_reports)
    return (share - (1 - p)) / (2 * p - 1) if p != 0.5 else np.full(len(share), np.nan)


def _mean_of_signs(plus: NDArray[Any], minus: NDArray[Any], keep: Any) -> NDArray[Any]:
    """Unbiased mean of signs that survive with probability `keep`; NaN if there is none."""
    p = float(keep)
    mean = _divide(plus - minus, plus + minus)
    return mean / (2 * p - 1) if p != 0.5 else np.full(len(mean), np.nan)
