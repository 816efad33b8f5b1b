"""Page 02 of "together": every local mechanism of the library under audit.

First exactly: the trade-off curve of any two users' reports, by enumeration in small domains and by
the structure of the mechanism in large ones. Then from samples only: each mechanism's own code
draws the reports, and the auditor sees nothing but them.

Two users' reports reach the auditor in one of three *views*:

* ``report``: the report itself, coded as one integer; the auditor knows nothing of the mechanism;
* ``score``: the report's log likelihood ratio under the law that the mechanism states, as a
  number whose meaning the auditor does not know;
* ``ratio``: the same, and the auditor knows that it is the log likelihood ratio.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import optimize, special, stats

from ldpkv import _check, privacy
from ldpkv.allocation import optimised
from ldpkv.auditing import betting
from ldpkv.auditing.information import InformationFloor, information_floor
from ldpkv.auditing.learners import Categories, Known, Learner
from ldpkv.baselines import (
    F2M,
    GRR,
    KVOH,
    KVUE,
    LDPKV2020,
    RR,
    UE,
    Harmony,
    PrivKV,
    PrivKVM,
    PrivKVMVirtual,
)
from ldpkv.channels import Channel
from ldpkv.data import KeyValueData
from ldpkv.hiskv import LRRKV, LengthEstimate
from ldpkv.mechanisms import PCKVGRR, PCKVUE, User
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    WITHIN_ERROR,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)
from ldpkv.sampling import Symbols
from ldpkv.tradeoff import PiecewiseLinear, PureDP

PAGE = "notebooks/together/02-auditing-ldp.ipynb"
Floats = NDArray[np.float64]

LEVEL = 0.05
HORIZON = 10_000
VIEWS = ("report", "score", "ratio")
DIGITS = 9  # scores are rounded to this many decimals, so that equal ratios are equal numbers

# Probability that chance alone turns a verdict; shared by all comparisons behind it.
FALSE_ALARM = 1e-4

# --- two users and their reports -------------------------------------------------------------


@dataclass(frozen=True)
class Rounds:
    """All rounds of PrivKVM as one mechanism, for fixed means handed on by the server.

    Parameters
    ----------
    mechanism : PrivKVM
        The rounds.
    fakes : tuple of number, or of tuples with one number for each key
        Fake value of each round but the first, in [-1, 1].

    Notes
    -----
    A report is one code for all rounds, the first round most significant. The server chooses the
    means after it has seen earlier rounds of *all* users; for one user any means may come. A
    round's law is affine in its fake value, so the worst ratio is reached at +1 and -1.
    """

    mechanism: PrivKVM
    fakes: tuple[Any, ...]

    def __post_init__(self) -> None:
        if len(self.fakes) != self.mechanism.rounds - 1:
            raise ValueError(
                f"fakes must hold rounds - 1 = {self.mechanism.rounds - 1} entries, "
                f"got {len(self.fakes)}"
            )

    @property
    def n_keys(self) -> int:
        """Number of keys d."""
        return self.mechanism.n_keys

    @property
    def width(self) -> int:
        """Number of keys d; there are no dummies."""
        return self.mechanism.n_keys

    def stages(self) -> list[PrivKV]:
        """Mechanism of every round."""
        later = enumerate(self.fakes, start=2)
        return [self.mechanism.stage(1), *(self.mechanism.stage(i, f) for i, f in later)]

    def symbol_law(self, user: User) -> NDArray[Any]:
        """Law of the symbols of all rounds: every round draws its key anew."""
        law = np.array([Fraction(1)], dtype=object)
        for stage in self.stages():
            law = np.multiply.outer(law, stage.symbol_law(user)).ravel()
        return law

    def channel(self) -> Channel:
        """Law of all reports given all symbols; rounds are perturbed independently."""
        weights: NDArray[Any] = np.ones((1, 1), dtype=object)
        denominator: Any = 1
        for stage in self.stages():
            one = stage.channel()
            weights = np.kron(weights, one.weights)
            denominator = denominator * one.denominator
        exact = isinstance(denominator, int)
        return Channel(weights if exact else weights.astype(np.float64), denominator)


@dataclass(frozen=True, eq=False)
class Pair:
    """A mechanism and two users: the exact laws of their reports, and reports from its own code.

    Parameters
    ----------
    mechanism : Mechanism, Rounds or LengthEstimate
        Any of the library.
    user0, user1 : mapping of int to number
        P is the law of the report of the first, Q that of the second.
    """

    mechanism: Any
    user0: User
    user1: User

    @cached_property
    def laws(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Laws of both reports, one entry for each report or group of equally telling reports.

        Returns
        -------
        law0, law1 : ndarray
            Fractions (dtype object) when mechanism and users are exact, else float64.

        Notes
        -----
        Reports that are one cell (GRR, symbol channels, index sampling) are listed cell by cell:
        cell j has q_2 + (p_1 - q_2) w(j) + (q_1 - q_2) w(flip of j), w the law of the symbol.
        Reports with an entry for each key (PCKV-UE, UE) factorise given the symbol: against the law
        of a report that is all fake, the law of a user's report is the sum over keys of
        (mass of the key) x (ratio of its own entry's law to a fake one's). So keys that neither
        user may send drop out, and keys with the same masses count only through how many of them
        show which entry. Tests hold both to `ldpkv.privacy.report_laws`.
        """
        if _has_entries(self.mechanism):
            return _counted_laws(self.mechanism, self.user0, self.user1)
        return _cells(self.mechanism, self.user0), _cells(self.mechanism, self.user1)

    @cached_property
    def grouped(self) -> tuple[Floats, Floats, Floats]:
        """Distinct log likelihood ratios, rising, and the probabilities of each.

        Returns
        -------
        score, law0, law1 : ndarray of float64, shape (k,)
            The score is log(q / p), rounded to `DIGITS` decimals; infinite where one law is 0.
        """
        p, q = (law.astype(np.float64) for law in self.laws)
        seen = (p > 0) | (q > 0)
        with np.errstate(divide="ignore"):
            ratio = np.log(q[seen]) - np.log(p[seen])
        score, group = np.unique(np.round(ratio, DIGITS) + 0.0, return_inverse=True)
        group = group.ravel()
        first, second = (np.bincount(group, law[seen]).astype(np.float64) for law in (p, q))
        return score, first, second

    def curve(self) -> PiecewiseLinear:
        """Exact trade-off curve of P against Q; of grouped floats where the laws are floats."""
        law0, law1 = self.laws
        if law0.dtype == object:
            return PiecewiseLinear.from_laws(law0.tolist(), law1.tolist())
        return PiecewiseLinear.from_laws(*(law.tolist() for law in self.grouped[1:]))

    def exp_epsilon(self) -> Any:
        """Largest ratio of the two laws, either way; infinite if a report gives a user away."""
        law0, law1 = self.laws
        pairs = [(p, q) for p, q in zip(law0, law1, strict=True) if p or q]
        if any(not p or not q for p, q in pairs):
            return math.inf
        return max(max(p / q, q / p) for p, q in pairs)

    def advantage(self) -> Any:
        """Total variation distance: what one report tells at best, 1 - min(alpha + beta)."""
        law0, law1 = self.laws
        return sum(abs(p - q) for p, q in zip(law0, law1, strict=True)) / 2

    def reports(self, n: int, user: User, rng: np.random.Generator) -> NDArray[Any]:
        """Draw reports of n users with one set, by the mechanism's own literal road.

        Parameters
        ----------
        n : int
            Number of users.
        user : mapping of int to number
            The set they all hold.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        ndarray of int64, shape (n,), or of int8, shape (n, width)
            One code, or one entry for each key.
        """
        return _reports(self.mechanism, n, user, rng)

    def view(self, reports: NDArray[Any], name: str) -> Floats:
        """Give reports as an auditor sees them.

        Parameters
        ----------
        reports : ndarray
            From `reports`.
        name : {"report", "score", "ratio"}
            See the module.

        Returns
        -------
        ndarray of float64, shape (n,)

        Raises
        ------
        ValueError
            If a report has too many entries to be coded as one integer.
        """
        if name == "report":
            return _coded(self.mechanism, reports)
        return np.round(self.log_ratio(reports), DIGITS) + 0.0

    def log_ratio(self, reports: NDArray[Any]) -> Floats:
        """Give log(q / p) of reports, from the law that the mechanism states."""
        if not _has_entries(self.mechanism):
            return self._table[reports]
        entry = _entry_index(self.mechanism, reports)
        sums = []
        for user in (self.user1, self.user0):
            gains = _gains(self.mechanism, user).astype(np.float64)
            keys = np.flatnonzero(gains.any(axis=1))
            sums.append(gains[keys, entry[:, keys]].sum(axis=1))
        return np.asarray(np.log(sums[0]) - np.log(sums[1]))

    @cached_property
    def _table(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            p, q = (np.log(law.astype(np.float64)) for law in self.laws)
            return np.asarray(q - p)

    def source(self, name: str) -> Callable[..., tuple[Floats, Floats]]:
        """Give the auditor's source of pairs in one view: ``source(n, rng=...)``."""

        def draw(n: int, *, rng: Any = None) -> tuple[Floats, Floats]:
            generator = np.random.default_rng(rng)
            return (
                self.view(self.reports(n, self.user0, generator), name),
                self.view(self.reports(n, self.user1, generator), name),
            )

        return draw


def _has_entries(mechanism: Any) -> bool:
    return isinstance(mechanism, PCKVUE | UE)


def _entry_rows(mechanism: Any) -> tuple[list[list[Any]], list[Any]]:
    """Law of an entry of the sampled key, for each cell of the symbol, and of any other key."""
    if isinstance(mechanism, UE):
        p, q = mechanism.keep_key, mechanism.fake_key
        return [[p, 1 - p]], [q, 1 - q]
    a, b, p = mechanism.keep_key, mechanism.fake_key, mechanism.keep_sign
    own = [[a * p, a * (1 - p), 1 - a], [a * (1 - p), a * p, 1 - a]]
    return own, [b / 2, b / 2, 1 - b]


def _entry_index(mechanism: Any, reports: NDArray[Any]) -> NDArray[np.int64]:
    """Entries as indices into `_entry_rows`: 1, -1, 0 become 0, 1, 2, or bits 1, 0 become 0, 1."""
    if isinstance(mechanism, UE):
        return 1 - reports.astype(np.int64)
    return np.array([2, 0, 1])[reports.astype(np.int64)]


def _gains(mechanism: Any, user: User) -> NDArray[Any]:
    """Mass of each key times ratio of its entry's law to a fake entry's; shape (width, entries)."""
    own, fake = _entry_rows(mechanism)
    ratio = np.array([[x / y for x, y in zip(row, fake, strict=True)] for row in own], dtype=object)
    return mechanism.symbol_law(user).reshape(-1, len(own)) @ ratio


def _counted_laws(mechanism: Any, user0: User, user1: User) -> tuple[NDArray[Any], NDArray[Any]]:
    """Laws of entries' counts over groups of keys that both users treat alike."""
    _, fake = _entry_rows(mechanism)
    gains = [_gains(mechanism, user) for user in (user0, user1)]
    exact = all(isinstance(x, Fraction | int) for x in [*fake, *gains[0].flat, *gains[1].flat])
    sizes: dict[Any, int] = {}
    for row in zip(gains[0].tolist(), gains[1].tolist(), strict=True):
        key = tuple(map(tuple, row))
        if any(key[0]) or any(key[1]):
            sizes[key] = sizes.get(key, 0) + 1
    kind = object if exact else np.float64
    one, zero = (np.array([Fraction(x) if exact else x], dtype=kind) for x in (1, 0))
    base, total0, total1 = one, zero, zero
    for (gain0, gain1), size in sizes.items():
        weights, sums0, sums1 = _group(fake, gain0, gain1, size, kind)
        base = np.multiply.outer(base, weights).ravel()
        total0 = np.add.outer(total0, sums0).ravel()
        total1 = np.add.outer(total1, sums1).ravel()
    return base * total0, base * total1


def _group(
    fake: Sequence[Any], gain0: Sequence[Any], gain1: Sequence[Any], size: int, kind: Any
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Chance of each count of entries among `size` fake keys, and both users' sums of gains."""
    merged: dict[Any, list[Any]] = {}
    for p, g0, g1 in zip(fake, gain0, gain1, strict=True):
        # Entries that tell the same, as both signs of a dummy do, are one.
        key = (g0, g1) if kind is object else (round(g0, 13), round(g1, 13))
        merged.setdefault(key, [0 * p, g0, g1])[0] += p
    chances, first, second = (list(part) for part in zip(*merged.values(), strict=True))
    rows = []
    for counts in _compositions(size, len(chances)):
        ways = math.factorial(size)
        weight: Any = 1
        for count, chance in zip(counts, chances, strict=True):
            ways //= math.factorial(count)
            weight = weight * chance**count
        rows.append(
            (
                ways * weight,
                sum(c * g for c, g in zip(counts, first, strict=True)),
                sum(c * g for c, g in zip(counts, second, strict=True)),
            )
        )
    return tuple(np.array(column, dtype=kind) for column in zip(*rows, strict=True))  # type: ignore[return-value]


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def _cells(mechanism: Any, user: User) -> NDArray[Any]:
    """Law of a report that is one cell, without the whole channel."""
    symbols: NDArray[Any] = mechanism.symbol_law(user)
    if isinstance(mechanism, PCKVGRR | LRRKV):
        if isinstance(mechanism, LRRKV):
            p1, q1, q2 = mechanism.p1, mechanism.q1, mechanism.q2
        else:
            p1, q1, q2 = mechanism.symbol_probabilities
        flipped = symbols.reshape(-1, 2)[:, ::-1].ravel()
        # With the position sent, each place is a block of its own, with the mass of that place.
        blocks = symbols.reshape(-1, 2 * mechanism.width).sum(axis=1)
        spread = np.repeat(blocks, 2 * mechanism.width)
        law = q2 * spread + (p1 - q2) * symbols + (q1 - q2) * flipped
    elif hasattr(mechanism, "rows"):
        rows = np.broadcast_to(mechanism.rows(), (mechanism.n_keys, 3, mechanism.answers))
        law = (symbols.reshape(-1, 3, 1) * rows).sum(axis=1).ravel()
    else:
        weights, denominator = privacy.report_laws(mechanism, [user])
        exact = weights.dtype == object
        law = weights[0] if not exact else Fraction(1, int(denominator)) * weights[0]
    exact = all(isinstance(x, Fraction | int) for x in law)
    return law if exact else law.astype(np.float64)


def _reports(mechanism: Any, n: int, user: User, rng: np.random.Generator) -> NDArray[Any]:
    """Draw n reports of one set by the mechanism's own code."""
    if isinstance(mechanism, LengthEstimate):
        return mechanism.grr.perturb(mechanism.symbols(np.full(n, len(user))), rng=rng)
    if isinstance(mechanism, Rounds):
        code = np.zeros(n, dtype=np.int64)
        for stage in mechanism.stages():
            code = code * (stage.answers * stage.n_keys) + _reports(stage, n, user, rng)
        return code
    symbols = mechanism.symbols(mechanism.draw(_crowd(n, user, mechanism.n_keys), rng=rng))
    reports = mechanism.perturb(symbols, rng=rng)
    if isinstance(mechanism, LRRKV) and mechanism.send_position:
        place = _places(mechanism, user, symbols, rng)
        return place * mechanism.n_cells + reports
    return np.asarray(reports)


def _places(
    mechanism: LRRKV, user: User, symbols: Symbols, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Place of each symbol in the padded list; see `LRRKV` for the order."""
    held, n = len(user), symbols.n_users
    if held > mechanism.padding:
        return rng.integers(mechanism.padding, size=n)
    key = symbols.codes // 2
    rank = np.searchsorted(np.array(sorted(user)), key) if held else np.zeros(n, dtype=np.int64)
    if mechanism.dummies == "random":
        # Which dummy stands where is as random as which dummies there are.
        dummy = rng.integers(held, max(mechanism.padding, held + 1), size=n)
    else:
        dummy = held + key - mechanism.n_keys
    return np.where(key < mechanism.n_keys, rank, dummy)


def _crowd(n: int, user: User, n_keys: int) -> KeyValueData:
    """Build data of n users who all hold one set."""
    keys = np.array(sorted(user), dtype=np.int32)
    values = np.array([float(user[int(key)]) for key in keys], dtype=np.float64)
    return KeyValueData(
        indptr=np.arange(n + 1, dtype=np.int64) * len(keys),
        keys=np.tile(keys, n),
        values=np.tile(values, n),
        n_keys=n_keys,
        allow_empty=True,
    )


def _coded(mechanism: Any, reports: NDArray[Any]) -> Floats:
    """Code reports as in the mechanism's `channel`."""
    if not _has_entries(mechanism):
        return reports.astype(np.float64)
    base = len(_entry_rows(mechanism)[1])
    if mechanism.width * math.log2(base) > 53:
        raise ValueError(
            f"reports must have few enough entries for one integer, got {mechanism.width} with "
            f"{base} values each: use the view 'score' or 'ratio'"
        )
    places = base ** np.arange(mechanism.width - 1, -1, -1, dtype=np.int64)
    return (_entry_index(mechanism, reports) @ places).astype(np.float64)


# --- which two users ---------------------------------------------------------------------------


def class_of(user0: User, user1: User) -> tuple[int, int, int, int]:
    """Class of a pair of users under renaming keys and exchanging a key's signs.

    Parameters
    ----------
    user0, user1 : mapping of int to int
        Sets with values +1 and -1.

    Returns
    -------
    tuple of int
        Length of the first list, and how many pairs of the second are the same, have the opposite
        sign, and have a key of their own.
    """
    both = [key for key in user1 if key in user0]
    same = sum(user0[key] == user1[key] for key in both)
    return len(user0), same, len(both) - same, len(user1) - len(both)


def classes(n_keys: int, longest: int | None = None) -> Iterator[tuple[User, User]]:
    """One pair of users of every class.

    Parameters
    ----------
    n_keys : int
        d, at least 1.
    longest : int, optional
        Longest list; d by default.

    Yields
    ------
    user0, user1 : dict of int to int
        The first holds +1 at its first keys.

    Notes
    -----
    Renaming keys, or exchanging the signs of a key for both users, permutes the reports of every
    mechanism without fake means, so the trade-off curve depends on the class only (the test
    compares every pair with its class). Values between -1 and +1 mix the laws of +1 and -1, and
    neither a worst ratio nor an information floor is worst at a mixture.
    """
    most = n_keys if longest is None else min(n_keys, longest)
    for length in range(most + 1):
        for same, opposite in itertools.product(range(length + 1), repeat=2):
            for own in range(min(n_keys - length, most) + 1):
                if same + opposite <= length and same + opposite + own <= most:
                    yield _pair_of_class(length, same, opposite, own)


def _pair_of_class(length: int, same: int, opposite: int, own: int) -> tuple[User, User]:
    second = dict.fromkeys(range(same), 1)
    second |= dict.fromkeys(range(same, same + opposite), -1)
    second |= dict.fromkeys(range(length, length + own), 1)
    return dict.fromkeys(range(length), 1), second


def disjoint_lists(n_keys: int, padding: int) -> tuple[User, User]:
    """Two lists of l pairs each with no key in common: the pair that is easiest to audit.

    Parameters
    ----------
    n_keys, padding : int
        d >= 2 l, and l.

    Returns
    -------
    user0, user1 : dict of int to int

    Raises
    ------
    ValueError
        If d < 2 l.
    """
    if n_keys < 2 * padding:
        raise ValueError(f"n_keys must be at least 2 * padding = {2 * padding}, got {n_keys}")
    return _pair_of_class(padding, 0, 0, padding)


def quoted(found: InformationFloor) -> float:
    """Certified lower end of a floor, to the three digits that are stable across machines."""
    return float(f"{found.low:.2e}")


def floor(pair: Pair, epsilon: float) -> InformationFloor:
    """Fewest expected pairs of reports with which any audit can refute a claim of epsilon.

    Parameters
    ----------
    pair : Pair
        Mechanism and users; at most 600 distinct ratios.
    epsilon : float
        The claim, in nats.

    Returns
    -------
    InformationFloor
        At level 5 %; see `ldpkv.auditing.information`.
    """
    return information_floor(*pair.grouped[1:], PureDP(epsilon), LEVEL)


# --- exactly: the mechanisms that keep their promise ------------------------------------------

ROOT = Fraction(3, 2)  # e^(epsilon / 4), so that half and quarter budgets are fractions as well
EXP = ROOT**4  # epsilon = 1.62


def keepers(
    root: Fraction, n_keys: int, padding: int
) -> list[tuple[str, Any, list[tuple[User, User]]]]:
    """Give every mechanism of the library that promises e^epsilon = root^4, with pairs of users.

    Parameters
    ----------
    root : Fraction
        e^(epsilon / 4).
    n_keys, padding : int
        d and l.

    Returns
    -------
    list of (name, mechanism, pairs)
        All pairs of users, one of each class where classes tell all. Mechanisms without padding
        are listed at l = 1 only.
    """
    exp, half = root**4, root**2
    every = list(classes(n_keys))
    size: dict[str, Any] = {"n_keys": n_keys, "padding": padding}
    found: list[tuple[str, Any, list[tuple[User, User]]]] = [
        ("PCKV-UE", PCKVUE.from_exp_budgets(*optimised(exp), **size), every),
        ("PCKV-GRR", PCKVGRR.from_exp_budgets(*optimised(exp, padding), **size), every),
        ("HISKV A", LRRKV.reading_a(exp, **size), every),
        ("HISKV V(c), pair", LRRKV.corrected(exp, half, **size), every),
        ("HISKV V(c), set", LRRKV.corrected(exp, half, level="set", **size), every),
    ]
    if padding > 1:
        return found
    indexed: list[tuple[str, Any]] = [
        ("RR", RR.from_exp_budgets(exp, n_keys=n_keys)),
        ("Harmony", Harmony.from_exp_budgets(exp, n_keys=n_keys)),
        ("PrivKV", PrivKV.from_exp_budgets(half, half, n_keys=n_keys)),
        ("PrivKVM, virtual", PrivKVMVirtual.from_exp_budgets(half, half, n_keys=n_keys)),
        ("KVUE", KVUE.from_exp_budgets(exp, n_keys=n_keys)),
        ("LDPKV (guess)", LDPKV2020.from_exp_budgets(exp, n_keys=n_keys)),
        ("KVOH", KVOH.from_exp_budgets(exp, n_keys=n_keys)),
        ("F2M", F2M.from_exp_budgets(half, half, n_keys=n_keys)),
    ]
    found += [(name, mechanism, every) for name, mechanism in indexed]
    if n_keys > 1:
        single: list[tuple[User, User]] = [({0: 1}, {1: 1}), ({0: 1}, {0: 1})]
        lengths: list[tuple[User, User]] = [
            (dict.fromkeys(range(i), 1), dict.fromkeys(range(j), 1))
            for i, j in itertools.product(range(1, n_keys + 1), repeat=2)
        ]
        found += [
            ("GRR", GRR.from_exp_budgets(exp, n_keys=n_keys), single),
            ("RAPPOR", UE.rappor(exp, n_keys=n_keys), single),
            ("OUE", UE.oue(exp, n_keys=n_keys), single),
            ("OETL", LengthEstimate.from_exp_budgets(exp, n_keys=n_keys), lengths),
        ]
    if n_keys < 3:
        # Fake means break the symmetry, so all pairs of sets are compared, for all means +1, -1.
        rounds = PrivKVM.from_exp_budgets(half, root, n_keys=n_keys, rounds=2)
        users = list(privacy.extreme_users(n_keys, empty=True))
        both: list[tuple[User, User]] = [(u, v) for u in users for v in users]
        for means in itertools.product((1, -1), repeat=n_keys):
            found.append(("PrivKVM, 2 rounds", Rounds(rounds, (means,)), both))
    return found


SIZES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "quick": ((1, 1), (2, 1), (2, 2), (4, 2)),
    "paper": ((1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (4, 2), (2, 3), (6, 3)),
}
ROOTS: Mapping[str, tuple[Fraction, ...]] = {
    "quick": (ROOT,),
    "paper": (Fraction(11, 10), ROOT, Fraction(2)),
}


def exact(profile: str = "quick") -> Result:
    """Compare every pair of users' exact curve with the claimed pure-epsilon curve, in fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Domains and budgets.

    Returns
    -------
    Result
        One row for each mechanism, (d, l) and e^epsilon: how many pairs of users were compared, how
        many of their curves lie below the claim somewhere, the exact e^epsilon, and the largest
        advantage of a test of one report, beside what the claim allows.
    """
    rows: dict[Any, dict[str, Any]] = {}
    for root, (n_keys, padding) in itertools.product(ROOTS[check_profile(profile)], SIZES[profile]):
        claimed = root**4
        for name, mechanism, pairs in keepers(root, n_keys, padding):
            row = rows.setdefault(
                (name, n_keys, padding, claimed),
                {
                    "mechanism": name,
                    "d": n_keys,
                    "l": padding,
                    "claimed": claimed,
                    "pairs": 0,
                    "below": 0,
                    "exact": Fraction(1),
                    "advantage": Fraction(0),
                },
            )
            for users in pairs:
                pair = Pair(mechanism, *users)
                curve = pair.curve()
                row["pairs"] += 1
                row["below"] += _below(curve, claimed)
                row["exact"] = max(row["exact"], pair.exp_epsilon())
                row["advantage"] = max(row["advantage"], 1 - curve.support(Fraction(1)))
    table = pd.DataFrame(rows.values())
    table["allowed"] = [(e - 1) / (e + 1) for e in table["claimed"]]
    spent = table["exact"] == table["claimed"]
    loose = sorted(set(table["mechanism"][~spent & (table["d"] >= table["l"])]))
    reached = table["advantage"] == table["allowed"]
    facts = {
        "pairs": int(table["pairs"].sum()),
        "below": int(table["below"].sum()),
        "mechanisms": int(table["mechanism"].nunique()),
        "over": int((table["exact"] > table["claimed"]).sum()),
        "loose": loose,
        "reached": sorted(set(table["mechanism"][reached])),
    }
    return Result(profile, table, facts, setting="exact fractions")


def _below(curve: PiecewiseLinear, exp_epsilon: Fraction) -> bool:
    """Whether a curve lies below the pure-epsilon curve somewhere; its corners decide."""
    return any(exp_epsilon * a + b < 1 or a + exp_epsilon * b < 1 for a, b in curve.points)


def exact_table(result: Result) -> pd.DataFrame:
    """Show the claim e^epsilon = (3/2)^4 at the largest domain of each mechanism."""
    part = result.table[result.table["claimed"] == EXP]
    part = part.sort_values(["d", "l"]).groupby("mechanism", sort=False).tail(1)
    return pd.DataFrame(
        {
            "mechanism": part["mechanism"],
            "d": part["d"],
            "l": [
                str(n) if name.startswith(("PCKV", "HISKV")) else "none"
                for name, n in zip(part["mechanism"], part["l"], strict=True)
            ],
            "pairs of users": part["pairs"],
            "claimed ε": [math.log(e) for e in part["claimed"]],
            "exact ε": [math.log(e) for e in part["exact"]],
            "advantage / allowed": [
                float(a / b) for a, b in zip(part["advantage"], part["allowed"], strict=True)
            ],
        }
    )


def hull(curves: Iterable[PiecewiseLinear]) -> PiecewiseLinear:
    """Largest trade-off curve below all given ones: what a mechanism promises for all pairs.

    Parameters
    ----------
    curves : iterable of PiecewiseLinear
        At least one; all exact or all floats.

    Returns
    -------
    PiecewiseLinear
        Lower convex hull of all corners.
    """
    corners = sorted({point for curve in curves for point in curve.points})
    kept: list[tuple[Any, Any]] = []
    for a, b in corners:
        if kept and a == kept[-1][0]:
            continue  # sorted: the first one at this alpha is the lowest
        while len(kept) > 1 and (kept[-1][1] - kept[-2][1]) * (a - kept[-2][0]) >= (
            b - kept[-2][1]
        ) * (kept[-1][0] - kept[-2][0]):
            kept.pop()
        kept.append((a, b))
    return PiecewiseLinear(tuple(kept))


DRAWN = ("RR", "RAPPOR", "KVUE", "OUE", "PrivKV", "PCKV-GRR", "PCKV-UE")


def mechanisms_curves(profile: str = "quick") -> Result:
    """Exact trade-off curve of whole mechanisms: the hull over all pairs of users.

    Parameters
    ----------
    profile : {"quick", "paper"}
        d = 4, l = 2, or d = 6, l = 3.

    Returns
    -------
    Result
        One row for each mechanism and corner.
    """
    n_keys, padding = (4, 2) if check_profile(profile) == "quick" else (6, 3)
    found = {name: (m, p) for name, m, p in keepers(ROOT, n_keys, 1)}
    found |= {name: (m, p) for name, m, p in keepers(ROOT, n_keys, padding)}
    rows, facts = [], {}
    for name in DRAWN:
        mechanism, pairs = found[name]
        curve = hull(Pair(mechanism, *users).curve() for users in pairs)
        rows += [(name, float(a), float(b)) for a, b in curve.points]
        facts[name] = curve
    claim = PureDP(math.log(EXP))
    rows += [("claim", *point) for point in claim.vertices]
    table = pd.DataFrame(rows, columns=["mechanism", "alpha", "beta"])
    setting = f"ε = {num(math.log(EXP))}, d = {n_keys}, l = {padding} for PCKV"
    return Result(profile, table, {"curves": facts}, setting)


def draw_curves(result: Result) -> Figure:
    """Draw the curves of whole mechanisms above the claimed one."""
    figure, axis = plots.new_figure(height=4.2)
    axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="error α: decides Q under P", ylabel="error β")
    own = {"RAPPOR": (plots.PURPLE, "v", "-."), "OUE": (plots.SKY, "X", "--")}
    claim = result.table[result.table["mechanism"] == "claim"]
    axis.fill_between(claim["alpha"], 0, claim["beta"], color=plots.GREY, alpha=0.15, lw=0)
    axis.plot(claim["alpha"], claim["beta"], color=plots.BLACK, linewidth=2.2)
    axis.plot([0, 1], [1, 0], color=plots.GREY, linewidth=0.6)
    for name in DRAWN[1:]:
        look = plots.style(name)
        if name in own:
            look.update(zip(("color", "marker", "linestyle"), own[name], strict=True))
        part = result.table[result.table["mechanism"] == name]
        label = f"{name} (and KVOH)" if name == "RAPPOR" else name
        axis.plot(part["alpha"], part["beta"], label=label, **look)
    axis.plot([], [], color=plots.BLACK, linewidth=2.2, label="claim (and RR, Harmony)")
    axis.text(0.05, 0.05, "below the claim", fontsize="small", color=plots.GREY)
    axis.legend(loc="upper right", frameon=False, fontsize="small")
    return figure


# --- exactly: structure against enumeration ----------------------------------------------------

SENT = "HISKV C, position sent"


def structure(profile: str = "quick") -> Result:
    """Compare the curve of every pair of users, by enumeration, with that of its class.

    Parameters
    ----------
    profile : {"quick", "paper"}
        d, l up to 2, or up to 3 and 2.

    Returns
    -------
    Result
        One row for each mechanism and (d, l): pairs, classes, and how many pairs' curves differ
        from the curve of their class. The last mechanism is none for which classes tell all: if
        the position is sent, the place of a key in the list depends on the other keys.
    """
    sizes = (
        ((1, 1), (2, 1), (2, 2))
        if check_profile(profile) == "quick"
        else ((1, 1), (2, 1), (2, 2), (3, 1))
    )
    rows = []
    for n_keys, padding in sizes:
        users = list(privacy.extreme_users(n_keys, empty=True))
        for name, mechanism, _ in _symmetric(n_keys, padding):
            curves = {class_of(*pair): Pair(mechanism, *pair).curve() for pair in classes(n_keys)}
            different = sum(
                privacy.exact_curve(mechanism, *pair) != curves[class_of(*pair)]
                for pair in itertools.product(users, repeat=2)
            )
            rows.append((name, n_keys, padding, len(users) ** 2, len(curves), different))
    columns = ["mechanism", "d", "l", "pairs", "classes", "different"]
    table = pd.DataFrame(rows, columns=columns)
    sent = table["mechanism"] == SENT
    facts = {
        "pairs": int(table["pairs"][~sent].sum()),
        "classes": int(table["classes"][~sent].sum()),
        "different": int(table["different"][~sent].sum()),
        "different_sent": int(table["different"][sent].sum()),
    }
    return Result(profile, table, facts, setting="exact fractions, the empty set a user")


def _symmetric(n_keys: int, padding: int) -> list[tuple[str, Any, Any]]:
    """Mechanisms for all sets without fake means, with the readings that break their promise."""
    found = [row for row in keepers(ROOT, n_keys, padding) if _for_all_sets(row[1])]
    for name, letter, sent in (("HISKV B", "B", False), ("HISKV D", "D", False), (SENT, "C", True)):
        mechanism = LRRKV.from_exp_budgets(
            EXP, n_keys=n_keys, padding=padding, reading=letter, send_position=sent
        )
        found.append((name, mechanism, []))
    return found


def _for_all_sets(mechanism: Any) -> bool:
    return not isinstance(mechanism, Rounds | GRR | UE | LengthEstimate)


# --- exactly: who is easiest to audit, and what that takes ---------------------------------------

PRINTED = "BCDE"  # the readings with the printed p_1 whose pairs break the promise


def reading(
    letter: str, epsilon: float, n_keys: int, padding: int, *, sent: bool = False
) -> LRRKV | None:
    """Give a reading, or None where it has no law."""
    try:
        return LRRKV.from_epsilon(
            epsilon, n_keys=n_keys, padding=padding, reading=letter, send_position=sent
        )
    except ValueError:
        return None


def easiest(profile: str = "quick") -> Result:
    """Search all classes of users for the pair with the lowest floor.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Domains up to (6, 2), or up to (6, 3) with a second budget; and, for reading D in a large
        domain, all pairs of full lists.

    Returns
    -------
    Result
        One row for each reading that breaks its promise and (d, l) with d >= 2 l: floors of the
        best pair, of two disjoint lists, and of the best pair with at most one key each.
    """
    quick = check_profile(profile) == "quick"
    sizes = ((2, 1), (3, 1), (4, 2), (6, 2)) if quick else ((2, 1), (5, 1), (4, 2), (6, 2), (6, 3))
    rows = []
    for epsilon, (n_keys, padding), letter in itertools.product(
        (1.6,) if quick else (1.6, 3.2), sizes, PRINTED
    ):
        mechanism = reading(letter, epsilon, n_keys, padding)
        if mechanism is None or mechanism.exp_epsilon("set") <= math.exp(epsilon):
            continue
        lists, best, single = math.inf, math.inf, math.inf
        target = class_of(*disjoint_lists(n_keys, padding))
        count = 0
        for users in classes(n_keys):
            found = floor(Pair(mechanism, *users), epsilon).high
            best, count = min(best, found), count + 1
            if len(users[0]) <= 1 and len(users[1]) <= 1:
                single = min(single, found)
            if class_of(*users) == target:
                lists = found
        rows.append((letter, epsilon, n_keys, padding, count, best, lists, single))
    columns = ["reading", "epsilon", "d", "l", "classes", "best", "lists", "single"]
    table = pd.DataFrame(rows, columns=columns)
    n_keys, padding = (40, 8) if quick else (306, 37)
    mechanism = reading("D", 1.6, n_keys, padding)
    full = {
        (same, opposite): floor(
            Pair(mechanism, *_pair_of_class(padding, same, opposite, padding - same - opposite)),
            1.6,
        ).high
        for same in range(padding + 1)
        for opposite in range(padding + 1 - same)
    }
    facts = {
        "cases": len(table),
        "classes": int(table["classes"].sum()),
        "gap": float((table["lists"] / table["best"] - 1).max()),
        "single": float((table["single"] / table["lists"])[table["l"] > 1].max()),
        "large": (n_keys, padding),
        "full": len(full),
        "full_gap": full[0, 0] / min(full.values()) - 1,
        "full_finite": sum(math.isfinite(value) for value in full.values()),
    }
    setting = "level 5 %; large domain: reading D, ε = 1.6, " + f"d = {n_keys}, l = {padding}"
    return Result(profile, table, facts, setting)


def easiest_table(result: Result) -> pd.DataFrame:
    """Show the search where lists are longer than one pair."""
    part = result.table[result.table["l"] > 1]
    return part.drop(columns=["epsilon"]).rename(
        columns={
            "classes": "classes of pairs",
            "best": "lowest floor",
            "lists": "two disjoint lists",
            "single": "at most one key each",
        }
    )


DOMAINS = (2, 3, 4, 5, 6, 8, 10, 14, 20, 30, 50, 70, 100, 150, 220, 306)


def floors(profile: str = "quick") -> Result:
    """Floor of every printed reading against d and l, for two disjoint lists.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row for each panel, epsilon, reading, d and l: the floor, exact epsilon for the two
        users, and the largest power of any audit of `HORIZON` pairs.
    """
    check_profile(profile)
    panels = [("a", 1.6, n_keys, 1) for n_keys in DOMAINS]
    panels += [("b", 1.6, 306, padding) for padding in (1, 2, 3, 5, 8, 12, 20, 37)]
    panels += [("paper", epsilon, 306, 1) for epsilon in (0.1, 0.2, 0.4, 0.8, 3.2)]
    panels += [("paper", epsilon, 306, 37) for epsilon in (0.1, 0.2, 0.4, 0.8, 3.2)]
    rows = []
    for (panel, epsilon, n_keys, padding), letter in itertools.product(panels, PRINTED):
        mechanism = reading(letter, epsilon, n_keys, padding)
        if mechanism is None:
            continue
        pair = Pair(mechanism, *disjoint_lists(n_keys, padding))
        found = floor(pair, epsilon)
        exact_epsilon = math.log(pair.exp_epsilon())
        power = best_power(found, HORIZON)
        rows.append((panel, letter, epsilon, n_keys, padding, exact_epsilon, quoted(found), power))
    columns = ["panel", "reading", "epsilon", "d", "l", "exact", "floor", "power"]
    table = pd.DataFrame(rows, columns=columns)
    at = table[(table["d"] == 306) & (table["l"] == 1)]
    small = table[(table["panel"] == "a") & (table["d"] == 2)]
    bce, d = at["reading"] != "D", at["reading"] == "D"
    padded = table[(table["d"] == 306) & (table["l"] == 37)]
    facts = {
        "budgets": int(at["epsilon"].nunique()),
        "least_bce": float(at["floor"][bce].min()),
        "least_bce_16": float(at["floor"][bce & (at["epsilon"] == 1.6)].min()),
        "largest_d": float(at["floor"][d].max()),
        "largest_small": float(small["floor"].max()),
        "power_bce": float(at["power"][bce].max()),
        "padded_bce": bool(np.isinf(padded["floor"][padded["reading"] != "D"]).all()),
        "padded_d": {
            float(row.epsilon): float(row.floor)
            for row in padded[padded["reading"] == "D"].itertuples()
        },
        "growth": _growth(table, "B"),
    }
    return Result(profile, table, facts, setting="ε = 1.6; (a) l = 1, (b) d = 306; level 5 %")


def _growth(table: pd.DataFrame, letter: str) -> float:
    """Exponent with which a floor grows with d, between the two largest domains."""
    part = table[(table["panel"] == "a") & (table["reading"] == letter)].tail(2)
    return float(np.diff(np.log(part["floor"]))[0] / np.diff(np.log(part["d"]))[0])


def best_power(found: InformationFloor, pairs: int) -> float:
    """Largest probability with which any audit of so many pairs may reject.

    Parameters
    ----------
    found : InformationFloor
        Of the mechanism and users.
    pairs : int
        Pairs that the audit may look at.

    Returns
    -------
    float
        The largest b with kl(b, level) <= pairs x KL_inf, kl that of two coins, from the upper
        bound on KL_inf: an audit is a coin, and telling it apart costs no less than that.
    """
    level, nats = found.level, pairs * found.divergence_high

    def excess(power: float) -> float:
        return float(special.rel_entr(power, level) + special.rel_entr(1 - power, 1 - level)) - nats

    if nats <= 0:
        return level
    return 1.0 if excess(1.0) <= 0 else float(optimize.brentq(excess, level, 1.0, xtol=1e-15))


# --- from samples ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Subject:
    """What is audited: a mechanism, two users and a claim.

    Parameters
    ----------
    name : str
        Mechanism in words.
    pair : Pair
        Mechanism and users.
    epsilon : float
        Claimed, in nats.
    padding : int
        l; 0 for mechanisms without padding.
    """

    name: str
    pair: Pair
    epsilon: float
    padding: int = 0

    @property
    def n_keys(self) -> int:
        """Number of keys d."""
        return int(self.pair.mechanism.n_keys)

    @property
    def cells(self) -> int | None:
        """How many different reports there are, or None if they are too many for one integer."""
        mechanism = self.pair.mechanism
        if not _has_entries(mechanism):
            return len(self.pair.laws[0])
        base = len(_entry_rows(mechanism)[1])
        return int(base**mechanism.width) if base**mechanism.width <= MOST_CELLS else None

    @property
    def views(self) -> tuple[str, ...]:
        """Views that make sense: not the report where hardly any comes twice."""
        return VIEWS if self.cells is not None else VIEWS[1:]


MOST_CELLS = 1000
# Reports have few different ratios, so tests may be sharper than the auditor's own default. Who
# knows the ratio takes it as it is and bets in full. Chosen on other seeds than the page's.
SOFTNESS = (0.02, 0.25, 1.0)
CERTAIN: Mapping[str, Any] = {"optimism": (1e-6,), "stakes": (1.0,)}


def _itself(score: Floats) -> Floats:
    return score


def settings(subject: Subject, view: str, horizon: int = HORIZON) -> betting.Betting:
    """Give the audit of a subject in one view.

    Parameters
    ----------
    subject : Subject
        What is audited.
    view : {"report", "score", "ratio"}
        What the auditor sees and knows; see the module.
    horizon : int
        Largest number of pairs.

    Returns
    -------
    Betting
        At level 5 %. Reports and scores are categories; with the ratio known nothing needs to be
        learned but how much to bet on what.
    """
    learner: Learner = Known(_itself) if view == "ratio" else Categories()
    return betting.Betting(
        PureDP(subject.epsilon),
        learners=(learner,),
        level=LEVEL,
        horizon=horizon,
        softness=SOFTNESS,
        **(CERTAIN if view == "ratio" else {}),
    )


def audit(
    subjects: Sequence[Subject], repeats: int, seed: int, horizon: int = HORIZON
) -> pd.DataFrame:
    """Audit every subject in every view.

    Parameters
    ----------
    subjects : sequence of Subject
        What is audited.
    repeats : int
        Repetitions of each audit, at least 2.
    seed : int
        Seed; every subject and view has a generator of its own.
    horizon : int
        Largest number of pairs.

    Returns
    -------
    DataFrame
        One row for each subject and view: exact epsilon, floor, share of audits that reject with
        its exact 95 % interval, median stop (NaN if fewer than half reject), mean of the pairs
        used (the horizon, if an audit does not reject) with its standard error, and the largest
        power that any audit could have.
    """
    _check.integer("repeats", repeats, minimum=2)
    rows = []
    for subject, rng in zip(
        subjects, np.random.default_rng(seed).spawn(len(subjects)), strict=True
    ):
        found = floor(subject.pair, subject.epsilon)
        for view in subject.views:
            stops = betting.run_many(
                settings(subject, view, horizon),
                subject.pair.source(view),
                repeats=repeats,
                rng=rng.spawn(1)[0],
                n_jobs=1,
            )
            rows.append(_row(subject, view, found, stops, horizon))
    return pd.DataFrame(rows)


def _row(
    subject: Subject,
    view: str,
    found: InformationFloor,
    stops: NDArray[np.int64],
    horizon: int,
) -> dict[str, Any]:
    rejected, repeats = stops != betting.NOT_REJECTED, len(stops)
    hits = int(rejected.sum())
    used = np.where(rejected, stops, horizon).astype(np.float64)
    low, high = clopper_pearson(hits, repeats)
    return {
        "mechanism": subject.name,
        "d": subject.n_keys,
        "l": subject.padding,
        "cells": subject.cells or 0,
        "claimed": subject.epsilon,
        "exact": math.log(subject.pair.exp_epsilon()),
        "view": view,
        "floor": quoted(found),
        "divergence": found.divergence_high,
        "best_power": best_power(found, horizon),
        "repeats": repeats,
        "hits": hits,
        "rate": hits / repeats,
        "low": low,
        "high": high,
        "median": float(np.median(used)) if 2 * hits > repeats else math.nan,
        "mean": float(used.mean()),
        "error": float(used.std(ddof=1)) / math.sqrt(repeats),
        "horizon": horizon,
    }


def clopper_pearson(hits: int, trials: int, miss: float = 0.05) -> tuple[float, float]:
    """Exact interval for a share.

    Parameters
    ----------
    hits, trials : int
        Successes, and of how many.
    miss : float, default 0.05
        Largest probability that the interval misses the share.

    Returns
    -------
    low, high : float
    """
    low = float(stats.beta.ppf(miss / 2, hits, trials - hits + 1)) if hits else 0.0
    high = float(stats.beta.isf(miss / 2, hits + 1, trials - hits)) if hits < trials else 1.0
    return low, high


def _all_keys(n_keys: int) -> tuple[User, User]:
    """Users who differ at every key, so that a drawn key always tells."""
    return dict.fromkeys(range(n_keys), 1), dict.fromkeys(range(n_keys), -1)


def true_claims() -> list[Subject]:
    """Subjects that keep their promise, each with users for whom the claim is tightest."""
    epsilon, exp, half, root = (math.log(EXP), EXP, ROOT**2, ROOT)
    found: list[Subject] = []

    def add(name: str, mechanism: Any, users: tuple[User, User], padding: int = 0) -> None:
        found.append(Subject(name, Pair(mechanism, *users), epsilon, padding))

    for n_keys, padding in ((2, 1), (4, 2)):
        users = disjoint_lists(n_keys, padding)
        size: dict[str, Any] = {"n_keys": n_keys, "padding": padding}
        opposite = _pair_of_class(padding, 0, padding, 0)
        add("PCKV-UE", PCKVUE.from_exp_budgets(*optimised(exp), **size), opposite, padding)
        add("PCKV-GRR", PCKVGRR.from_exp_budgets(*optimised(exp, padding), **size), users, padding)
        add(
            "HISKV V(c), set",
            LRRKV.corrected(exp, half, level="set", **size),
            users,
            padding,
        )
    size = {"n_keys": 2, "padding": 1}
    add("HISKV A", LRRKV.reading_a(exp, **size), disjoint_lists(2, 1), 1)
    size = {"n_keys": 12, "padding": 2}
    for letter in "BCE":
        mechanism = LRRKV.from_exp_budgets(exp, reading=letter, **size)
        add(f"HISKV {letter}", mechanism, disjoint_lists(12, 2), 2)
    every = _all_keys(2)
    add("Harmony", Harmony.from_exp_budgets(exp, n_keys=2), every)
    add("KVUE", KVUE.from_exp_budgets(exp, n_keys=2), every)
    add("KVOH", KVOH.from_exp_budgets(exp, n_keys=2), every)
    absent: tuple[User, User] = ({0: 1, 1: 1}, {})
    add("RR", RR.from_exp_budgets(exp, n_keys=2), absent)
    add("F2M", F2M.from_exp_budgets(half, half, n_keys=2), absent)
    add("PrivKV", PrivKV.from_exp_budgets(half, half, n_keys=2), absent)
    add("PrivKVM, virtual", PrivKVMVirtual.from_exp_budgets(half, half, n_keys=2), absent)
    rounds = PrivKVM.from_exp_budgets(half, root, n_keys=2, rounds=2)
    add("PrivKVM, 2 rounds", Rounds(rounds, (-1,)), absent)
    one = ({0: 1}, {1: 1})
    add("GRR", GRR.from_exp_budgets(exp, n_keys=2), one)
    add("RAPPOR", UE.rappor(exp, n_keys=3), one)
    add("OUE", UE.oue(exp, n_keys=3), one)
    add("OETL", LengthEstimate.from_exp_budgets(exp, n_keys=2), ({0: 1}, {0: 1, 1: 1}))
    size = {"n_keys": 100, "padding": 10}
    ue = PCKVUE.from_epsilon(epsilon, **size)
    add("PCKV-UE", ue, _pair_of_class(10, 0, 10, 0), 10)
    grr = PCKVGRR.from_epsilon(epsilon, n_keys=306, padding=37)
    add("PCKV-GRR", grr, disjoint_lists(306, 37), 37)
    return found


# Letter, claimed epsilon, d, l, whether the position is sent.
BROKEN: tuple[tuple[str, float, int, int, bool], ...] = (
    ("B", 1.6, 2, 1, False),
    ("C", 1.6, 2, 1, False),
    ("D", 1.6, 2, 1, False),
    ("E", 1.6, 2, 1, False),
    ("B", 1.6, 3, 1, False),
    ("C", 1.6, 5, 1, False),
    ("D", 1.6, 20, 1, False),
    ("E", 1.6, 5, 1, False),
    ("D", 1.6, 306, 1, False),
    ("D", 1.6, 6, 2, False),
    ("D", 1.6, 306, 37, False),
    ("B", 3.2, 3, 1, False),
    ("C", 3.2, 5, 1, False),
    ("C", 3.2, 5, 2, False),
    ("C", 1.6, 4, 2, True),
    ("D", 0.4, 12, 3, True),
)
MISSED: tuple[tuple[str, float, int, int, bool], ...] = (
    ("B", 1.6, 306, 1, False),
    ("C", 1.6, 306, 1, False),
    ("E", 1.6, 306, 1, False),
    ("B", 1.6, 50, 1, False),
    ("C", 1.6, 50, 1, False),
)


def broken_claims(which: Sequence[tuple[str, float, int, int, bool]]) -> list[Subject]:
    """Subjects for readings that break their promise, with two disjoint lists as users."""
    found = []
    for letter, epsilon, n_keys, padding, sent in which:
        mechanism = reading(letter, epsilon, n_keys, padding, sent=sent)
        pair = Pair(mechanism, *disjoint_lists(n_keys, padding))
        name = f"HISKV {letter}" + (", position sent" if sent else "")
        found.append(Subject(name, pair, epsilon, padding))
    return found


def draw_floors(result: Result) -> Figure:
    """Draw floors against d and against l.

    Parameters
    ----------
    result : Result
        From `floors`.
    """
    figure, axes = plots.new_figure(2, height=3.8)
    for axis, panel, x, name in zip(
        axes, "ab", ("d", "l"), ("keys d", "padding length l"), strict=True
    ):
        part = result.table[(result.table["panel"] == panel) & np.isfinite(result.table["floor"])]
        plots.log_axis(axis)
        plots.log_axis(axis, "x")
        axis.axhline(HORIZON, color=plots.GREY, linewidth=0.8, linestyle=":")
        ends = {}
        for position, letter in enumerate(PRINTED):
            series = part[part["reading"] == letter]
            look = {**plots.style(letter, position), "linestyle": "-"}
            if len(series) > 1:
                look["marker"] = ""
            axis.plot(series[x], series["floor"], **look)
            ends[letter] = (series[x].iloc[-1], series["floor"].iloc[-1])
        axis.set(xlabel=name, ylabel="floor: pairs of reports", ylim=(4, 2e9))
        axis.text(
            0.99,
            HORIZON * 1.25,
            "10,000 pairs",
            ha="right",
            fontsize="x-small",
            transform=axis.get_yaxis_transform(),
        )
        if panel == "a":
            axis.figure.canvas.draw()
            plots.label_ends(axis, ends)
        else:
            axis.set_xlim(0.85, 45)
            for letter, drop in zip("BCE", (0, -7, 7), strict=True):
                axis.annotate(
                    f"{letter}: promise kept from l = 2",
                    ends[letter],
                    textcoords="offset points",
                    xytext=(9, drop),
                    va="center",
                    fontsize="x-small",
                )
            axis.annotate("D", ends["D"], textcoords="offset points", xytext=(7, 0), va="center")
    return figure


# --- audits: results, figures and tables -----------------------------------------------------

CAUGHT = 2_000  # floors up to which a violation should be caught
REPEATS: Mapping[str, Mapping[str, int]] = {
    "quick": {"true": 6, "broken": 20, "missed": 6},
    "paper": {"true": 200, "broken": 200, "missed": 200},
}
SHORT = 1_000  # horizon of the quick profile for claims that are true
QUICK = (1, 2, 4, 8, 10, 12, 14)  # of `BROKEN`


def nulls(profile: str = "quick", seed: int = 2027) -> Result:
    """Audit every mechanism that keeps its promise.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Few repetitions of up to `SHORT` pairs, or 200 of up to `HORIZON`.
    seed : int, default 2027
        Seed of the audits.

    Returns
    -------
    Result
        As `audit`.
    """
    horizon = SHORT if check_profile(profile) == "quick" else HORIZON
    repeats = REPEATS[profile]["true"]
    table = audit(true_claims(), repeats, seed, horizon)
    p_values = stats.binom.sf(table["hits"] - 1, table["repeats"], LEVEL)
    facts = {
        "audits": int(table["repeats"].sum()),
        "hits": int(table["hits"].sum()),
        "rows": len(table),
        "mechanisms": int(table["mechanism"].nunique()),
        "largest": int(table["hits"].max()),
        "repeats": repeats,
        "p": float(np.min(p_values)),
        "pooled": float(stats.binom.sf(table["hits"].sum() - 1, table["repeats"].sum(), LEVEL)),
    }
    setting = f"{repeats} audits of up to {horizon:,} pairs in each row and view, ε = 1.62"
    return Result(profile, table, facts, setting)


def broken(profile: str = "quick", seed: int = 2028) -> Result:
    """Audit readings of HISKV that break their promise, for two disjoint lists.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Some of them, or all with 200 repetitions.
    seed : int, default 2028
        Seed of the audits.

    Returns
    -------
    Result
        As `audit`.
    """
    which = [BROKEN[i] for i in QUICK] if check_profile(profile) == "quick" else BROKEN
    repeats = REPEATS[profile]["broken"]
    table = audit(broken_claims(which), repeats, seed)
    table["least"] = [_least_mean(row) for row in table.to_dict("records")]
    facts: dict[str, Any] = {"repeats": repeats, "cases": len(which)}
    for view in VIEWS:
        rows = table[(table["view"] == view) & (table["floor"] <= CAUGHT)]
        worst = rows.loc[rows["hits"].idxmin()]
        p_values = stats.binom.cdf(rows["hits"], rows["repeats"], 0.95)
        facts[view] = {
            "cases": len(rows),
            "p": float(np.min(p_values)),
            "worst": float(worst["rate"]),
            "worst_name": _label(worst),
            "times": [float(t) for t in (rows["mean"] / rows["floor"])[rows["rate"] == 1]],
        }
    z = (table["least"] - table["mean"]) / table["error"].where(table["error"] > 0, np.inf)
    facts["z"] = float(z.max())
    facts["critical"] = float(stats.t.isf(FALSE_ALARM / (2 * len(table)), repeats - 1))
    facts["closest"] = float((table["mean"] / table["least"]).min())
    means = table.pivot_table(
        index=["mechanism", "d", "l", "claimed"], columns="view", values="mean"
    )
    for view in ("report", "score"):
        price = means[view] / means["ratio"]
        facts[f"price_{view}"] = (float(price.min()), float(price.max()))
    setting = f"{repeats} audits of up to {HORIZON:,} pairs in each row and view"
    return Result(profile, table, facts, setting)


def _label(row: Any) -> str:
    return f"{row['mechanism']} at d = {row['d']}, l = {row['l']}, ε = {row['claimed']:g}"


def _least_mean(row: Mapping[str, Any]) -> float:
    """Smallest mean of pairs used that any audit with such a power could have.

    An audit of at most N pairs uses at least kl(power, level) / KL_inf of them in expectation; the
    power is taken at the lower end of an interval that fails once in 2 / `FALSE_ALARM` x 100 times.
    """
    power = max(clopper_pearson(row["hits"], row["repeats"], FALSE_ALARM / 100)[0], LEVEL)
    nats = special.rel_entr(power, LEVEL) + special.rel_entr(1 - power, 1 - LEVEL)
    return float(nats / row["divergence"])


def missed(profile: str = "quick", seed: int = 2029) -> Result:
    """Audit readings whose floor lies far beyond 10,000 pairs.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Repetitions.
    seed : int, default 2029
        Seed of the audits.

    Returns
    -------
    Result
        As `audit`.
    """
    which = MISSED[:3] if check_profile(profile) == "quick" else MISSED
    repeats = REPEATS[profile]["missed"]
    table = audit(broken_claims(which), repeats, seed)
    p_values = stats.binom.sf(table["hits"] - 1, table["repeats"], table["best_power"])
    large = table[table["d"] == 306]
    facts = {
        "rows": len(table),
        "audits": int(table["repeats"].sum()),
        "hits": int(table["hits"].sum()),
        "p": float(np.min(p_values)),
        "power_large": float(large["best_power"].max()),
        "floor_large": float(large["floor"].min()),
    }
    setting = f"{repeats} audits of up to {HORIZON:,} pairs in each row and view"
    return Result(profile, table, facts, setting)


def draw_stops(result: Result) -> Figure:
    """Draw the mean pairs used by every audit against its floor."""
    figure, axis = plots.new_figure(height=4.0)
    plots.log_axis(axis)
    plots.log_axis(axis, "x")
    span = np.array([5.0, 4000.0])
    axis.plot(span, span, color=plots.BLACK, linewidth=1)
    axis.text(4000, 4000, " floor", va="center", fontsize="small")
    axis.axhline(HORIZON, color=plots.GREY, linewidth=0.8, linestyle=":")
    names = {
        "ratio": "likelihood ratio known",
        "score": "score, meaning unknown",
        "report": "report only",
    }
    for position, (view, name) in enumerate(names.items()):
        part = result.table[result.table["view"] == view]
        look = {**plots.style(name, position), "linestyle": ""}
        axis.errorbar(part["floor"], part["mean"], 1.96 * part["error"], label=name, **look)
    axis.set(xlabel="floor: pairs of reports", ylabel="mean pairs used")
    axis.set_ylim(5, 20_000)
    axis.legend(frameon=False, fontsize="small", loc="lower right")
    return figure


COLUMNS = {"ratio": "ratio known", "score": "score", "report": "report only"}


def audits_table(result: Result) -> pd.DataFrame:
    """Show audits of broken promises: one row a case, mean pairs by view.

    Parameters
    ----------
    result : Result
        From `broken` or `missed`.
    """
    keys = ["mechanism", "d", "l", "claimed"]
    rows = []
    for _, part in result.table.groupby(keys, sort=False):
        views = part.set_index("view")
        first = part.iloc[0]
        rows.append(
            {
                "mechanism": first["mechanism"],
                "d, l": f"{first['d']}, {first['l']}",
                "claimed, exact ε": f"{first['claimed']:g}, {num(first['exact'])}",
                "floor": first["floor"],
                **{name: _outcome(views.loc[view]) for view, name in COLUMNS.items()},
            }
        )
    return pd.DataFrame(rows)


def _outcome(row: Any) -> str:
    """Mean pairs if every audit rejects, else the share that do with its exact interval."""
    if row["hits"] == row["repeats"]:
        return num(row["mean"])
    return f"{100 * row['rate']:.0f} % [{100 * row['low']:.0f}, {100 * row['high']:.0f}]"


def nulls_table(result: Result) -> pd.DataFrame:
    """Show audits of kept promises: rejections by view."""
    rows = []
    for _, part in result.table.groupby(["mechanism", "d", "l"], sort=False):
        views = part.set_index("view")
        first = part.iloc[0]
        rows.append(
            {
                "mechanism": first["mechanism"],
                "d, l": f"{first['d']}, {first['l'] or 'none'}",
                "exact ε": num(first["exact"]),
                **{
                    name: f"{views.loc[view, 'hits']} of {views.loc[view, 'repeats']}"
                    if view in views.index
                    else "too many reports"
                    for view, name in COLUMNS.items()
                },
                "interval of the worst (%)": _percent(part.loc[part["hits"].idxmax()]),
            }
        )
    totals = result.table.groupby("view")[["hits", "repeats"]].sum()
    worst = totals.loc[(totals["hits"] / totals["repeats"]).idxmax()]
    low, high = clopper_pearson(int(worst["hits"]), int(worst["repeats"]))
    rows.append(
        {
            "mechanism": "all",
            "d, l": "",
            "exact ε": "",
            **{
                name: f"{totals.loc[view, 'hits']} of {totals.loc[view, 'repeats']}"
                for view, name in COLUMNS.items()
            },
            "interval of the worst (%)": _percent({"low": low, "high": high}),
        }
    )
    return pd.DataFrame(rows)


def _percent(row: Any) -> str:
    return f"{100 * row['low']:.1f} to {100 * row['high']:.1f}"


def numbers(
    curves: Result, easy: Result, least: Result, caught: Result | None = None
) -> dict[str, float]:
    """Numbers that the page's prose refers to, by the name under which they are glued.

    Parameters
    ----------
    curves, easy, least : Result
        From `exact`, `easiest` and `floors`.
    caught : Result, optional
        From `broken`.
    """
    shares = exact_table(curves).set_index("mechanism")["advantage / allowed"]
    found: dict[str, float] = {
        "ldp_ue_share": float(shares["PCKV-UE"]),
        "ldp_grr_share": float(shares["PCKV-GRR"]),
        "ldp_single": float(easy.facts["single"]),
        "ldp_floor_bce": float(least.facts["least_bce_16"]) / 1e6,
        "ldp_floor_d": float(least.facts["largest_d"]),
        "ldp_growth": float(least.facts["growth"]),
        "ldp_power": 100 * float(least.facts["power_bce"]),
    }
    if caught is not None:
        found["ldp_times"] = float(np.median(caught.facts["ratio"]["times"]))
        found["ldp_price"] = float(caught.facts["price_report"][1])
    return found


# --- judges --------------------------------------------------------------------------------------


def _judge_exact(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["below"] == 0 and facts["over"] == 0,
        f"{facts['below']} of {facts['pairs']:,} curves below the claim, "
        f"{facts['mechanisms']} mechanisms",
        "none",
        "In fractions. Pairs are one of each class, all pairs of sets for PrivKVM in two rounds "
        "(with fake means +1 and -1), of lengths for OETL. Less than ε is spent by "
        + ", ".join(facts["loose"])
        + ".",
    )


def _judge_unused(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["reached"] == ["GRR", "Harmony", "OETL", "RR"],
        "reached by " + ", ".join(facts["reached"]),
        "RR and Harmony, and GRR over two categories",
        "The advantage is 1 - (α + β) of the best test of one report, for the worst pair of users; "
        "ε allows (e^ε - 1)/(e^ε + 1), for ratios e^ε and e^(-ε) only. OETL is GRR on lengths.",
    )


def _judge_structure(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["different"] == 0 and facts["different_sent"] > 0,
        f"{facts['different']} of {facts['pairs']:,} pairs differ from their class "
        f"({facts['classes']} classes); with the position sent {facts['different_sent']} do",
        "none without the position",
        "Curves by enumeration of every report against curves by structure, in fractions. With the "
        "position sent, a key's place depends on the user's other keys, and classes do not do.",
    )


def _judge_lists(result: Result) -> Evidence:
    facts = result.facts
    n_keys, padding = facts["large"]
    holds = max(facts["gap"], facts["full_gap"]) < 1e-6 and facts["full_finite"] > 1
    return exact_if(
        holds,
        f"lowest floor in {facts['cases']} of {facts['cases']} cases, {facts['classes']:,} classes "
        f"of pairs; among all {facts['full']} pairs of full lists at d = {n_keys}, l = {padding}"
        if holds
        else f"another pair is easier by {num(max(facts['gap'], facts['full_gap']))}",
        "the lowest of all",
        "KL_inf is convex in the two laws, so full lists are worst (proof on the page); which pair "
        f"of them, is enumerated. With one key each, {num(facts['single'], 3)} times as many pairs "
        "are needed at the longest l searched.",
    )


def _judge_floors(result: Result) -> Evidence:
    facts = result.facts
    holds = facts["least_bce"] > 1e6 and facts["largest_d"] < 100
    return exact_if(
        holds,
        f"B, C, E: at least {num(facts['least_bce'], 2)} pairs; D: at most "
        f"{num(facts['largest_d'], 2)}; {facts['budgets']} budgets",
        "above 1,000,000, and below 100",
        "d = 306, l = 1, two disjoint lists, level 5 %; lower ends of certified intervals. "
        "10,000 pairs give no audit of B, C, E a power above "
        f"{num(facts['power_bce'], 2)}. With l = 37 they keep the promise; D breaks it up to "
        "ε = 1.6.",
    )


def _judge_null(result: Result) -> Evidence:
    facts = result.facts
    holds = min(facts["p"] * facts["rows"], facts["pooled"]) >= FALSE_ALARM / 2
    return Evidence(
        WITHIN_ERROR if holds else DIFFERS,
        f"{facts['hits']} of {facts['audits']:,} audits reject; at most {facts['largest']} of "
        f"{facts['repeats']} in one row and view",
        "at most 5 %",
        tolerance="exact binomial tests, for each row and view and for all together",
        false_alarm=FALSE_ALARM,
        note=f"{facts['mechanisms']} mechanisms, pairs of users for whom the claim is tight or "
        "nearly so. That the level holds for any number of pairs is Ville's inequality; here it is "
        "checked on the mechanisms' own code.",
    )


def _judge_view(view: str) -> Callable[[Result], Evidence]:
    def judge(result: Result) -> Evidence:
        facts = result.facts[view]
        holds = facts["p"] * facts["cases"] >= FALSE_ALARM
        return Evidence(
            WITHIN_ERROR if holds else DIFFERS,
            f"at least {100 * facts['worst']:.0f} % of {result.facts['repeats']} runs in "
            f"{facts['cases']} cases; worst: {facts['worst_name']}",
            "95 %",
            tolerance="exact binomial tests",
            false_alarm=FALSE_ALARM,
            note=f"Where all reject, the mean number of pairs is {num(min(facts['times']), 2)} to "
            f"{num(max(facts['times']), 2)} times the floor.",
        )

    return judge


def _judge_missed(result: Result) -> Evidence:
    facts = result.facts
    holds = facts["p"] * facts["rows"] >= FALSE_ALARM
    return Evidence(
        WITHIN_ERROR if holds else DIFFERS,
        f"{facts['hits']} of {facts['audits']:,} audits reject",
        f"no more than the largest power of any audit, {num(facts['power_large'], 2)} at d = 306",
        tolerance="exact binomial tests",
        false_alarm=FALSE_ALARM,
        note="These claims are false, yet nobody could show it with so few reports: the power of "
        "any audit b obeys kl(b, level) ≤ pairs × KL_inf.",
    )


def _judge_no_better(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        WITHIN_ERROR if facts["z"] <= facts["critical"] else DIFFERS,
        f"mean pairs at least {num(facts['closest'], 2)} times what the measured power needs",
        "at least 1",
        tolerance=f"t ≤ {num(facts['critical'], 2)}",
        false_alarm=FALSE_ALARM,
        note="A check of the floors and of the auditor at once: an auditor below the floor would "
        "break its level.",
    )


def _claim(id: str, label: str, statement: str, run: Any, judge: Any, verdict: str) -> Claim:
    return Claim(
        id=f"together-ldp-{id}",
        paper="together",
        label=f"{label} (own)",
        kind="statement",
        mark="own",
        statement=statement,
        run=run,
        judge=judge,
        page=PAGE,
        recorded=always(verdict),
    )


CLAIMS = (
    _claim(
        "exact",
        "Kept promises, exactly",
        "No two users of a mechanism that keeps its promise have a trade-off curve below that of "
        "pure ε.",
        exact,
        _judge_exact,
        EXACT,
    ),
    _claim(
        "unused",
        "What one report tells",
        "One report tells two users apart as well as ε allows only if it has two answers.",
        exact,
        _judge_unused,
        EXACT,
    ),
    _claim(
        "structure",
        "Classes of pairs of users",
        "The curve of two users depends only on how long their lists are, and how many pairs they "
        "share with equal and with opposite sign.",
        structure,
        _judge_structure,
        EXACT,
    ),
    _claim(
        "lists",
        "The easiest users to audit",
        "Among all pairs of users, two disjoint lists of l pairs need the fewest reports to refute "
        "a reading of HISKV.",
        easiest,
        _judge_lists,
        EXACT,
    ),
    _claim(
        "floor",
        "Readings of HISKV in the paper's domain",
        "At d = 306 and l = 1, readings B, C and E break their promise by so little that no audit "
        "refutes them with fewer than a million pairs of reports; reading D needs few.",
        floors,
        _judge_floors,
        EXACT,
    ),
    _claim(
        "null",
        "True claims",
        "No mechanism that keeps its promise is flagged more often than the level.",
        nulls,
        _judge_null,
        WITHIN_ERROR,
    ),
    _claim(
        "caught",
        "False claims, likelihood ratio known",
        "Readings of HISKV whose floor is at most 2,000 pairs are caught within 10,000 pairs in "
        "at least 95 % of the runs by an auditor who knows the likelihood ratio.",
        broken,
        _judge_view("ratio"),
        WITHIN_ERROR,
    ),
    _claim(
        "score",
        "False claims, score of unknown meaning",
        "The same holds for an auditor who sees the likelihood ratio as a number of unknown "
        "meaning.",
        broken,
        _judge_view("score"),
        WITHIN_ERROR,
    ),
    _claim(
        "black-box",
        "False claims, from reports only",
        "The same holds for an auditor who sees coded reports and knows nothing of the mechanism.",
        broken,
        _judge_view("report"),
        WITHIN_ERROR,
    ),
    _claim(
        "missed",
        "False claims beyond reach",
        "Readings with floors far above 10,000 pairs are flagged no more often than any audit "
        "could.",
        missed,
        _judge_missed,
        WITHIN_ERROR,
    ),
    _claim(
        "no-better",
        "The floor holds",
        "No audit uses fewer pairs in the mean than its power needs.",
        broken,
        _judge_no_better,
        WITHIN_ERROR,
    ),
)
