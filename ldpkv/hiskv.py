"""HISKV: the mechanism of the second paper, with every reading of the numbers that were lost.

HISKV (Zhang, Xu, Fu, Meng, JCRD 58(3), 2021) takes two disjoint groups of users. The first sends
the lengths of its lists (`LengthEstimate`, the paper's OETL), from which a padding length is
chosen; the second sends one perturbed pair a user (`LRRKV`, the paper's LRR_KV). The displayed
formulas of the paper do not survive. Each docstring says under *Source* how its content is known:

* **text**: it stands in the surviving text;
* **found**: it stands in another named public source;
* **fitted**: the display is lost, but symbols, steps or remnants around it fix it;
* **derived**: worked out here and held to enumeration or algebra by the tests;
* **unknown**: cannot be fixed, so it is an argument.

Letters of the paper: d = `n_keys`, l = `padding`, d' = 2 (d + l) the number of *cells* (key and
sign; in `ldpkv.theory` d' counts keys), (p_1, q_1, q_2) = (`p1`, `q1`, `q2`), beta =
`group_share`, n' = (1 - beta) n, E = e^epsilon = `exp_epsilon`, f and m = mu the *true* frequency
and mean of a key, x = f / l. Delta = p_1 + q_1 - 2 q_2 and delta = p_1 - q_1.

LRRKV is PCKV-GRR with other numbers: a = p_1 + q_1, p = p_1 / (p_1 + q_1), b = 2 q_2. So its
estimator and its variances are those of `ldpkv.estimation` and `ldpkv.theory`, reached through
`LRRKV.numbers`; only what is new stands here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ldpkv import _check, allocation, channels, theory
from ldpkv.allocation import Budgets
from ldpkv.baselines import GRR, ROADS
from ldpkv.channels import SLACK, Channel
from ldpkv.data import KeyValueData
from ldpkv.estimation import CORRECTIONS, Counts, Estimates, estimate_pckv
from ldpkv.mechanisms import PCKVGRR, User, padded_symbol_law
from ldpkv.sampling import Draws, Symbols, pad_and_sample
from ldpkv.theory import Moments, Number, Numbers

READINGS = ("A", "B", "C", "D", "E", "V")
LEVELS = ("pair", "set")
DUMMIES = ("random", "first")
EMPTY = ("refuse", "one", "own")
VERSIONS = ("a", "b", "c", "split")
SHARE = Fraction(9, 10)

# --- LRR_KV --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LRRKV:
    """LRR_KV: a report is one key, real or dummy, and one sign; three probabilities.

    Parameters
    ----------
    n_keys, padding : int
        d and l, at least 1.
    p1 : Fraction or float
        The sampled pair is reported.
    q1 : Fraction or float
        Its key with the other sign is reported.
    q2 : Fraction or float
        Each of the other 2 (d + l) - 2 pairs is reported.
    send_position : bool, default False
        Whether the report also names the place of the pair in the user's padded list.
    dummies : {"random", "first"}
        Which dummies fill a list of L < l pairs: l - L of the l dummies at random, or the first
        l - L of them.

    Raises
    ------
    ValueError, TypeError
        If a number is no probability, or the three do not make a law.

    Notes
    -----
    Source: HISKV Algorithms 2 and 3. The structure and p_1 = E / (E + d' - 1) are **text**; q_1
    and q_2 are **unknown**: see the constructors `reading_a` to `reading_e`, and `corrected` for
    the family that keeps its promise. That the dummies are new ids d + 1 to d + l is **fitted**
    (d' = 2 (d + l)): the printed ids 1 to l would collide with real keys. A list of exactly l
    pairs, which Algorithm 3 leaves out, is handled like a longer one.

    Algorithm 2 returns "j and" the perturbed pair (**text**); what j is, is **unknown**. If it is
    the place in the list, `send_position` shows what it costs: the laws `symbol_law` and
    `channel` then carry it (code ``position * 2 * width + pair``). The collector has no use for
    it, so both roads, `draw` to `estimate`, leave it out. Lists of at most l pairs are taken to
    stand in their own order, dummies last; longer ones in the order in which they were drawn.
    """

    n_keys: int
    padding: int
    p1: Any
    q1: Any
    q2: Any
    send_position: bool = False
    dummies: str = "random"

    # The very function of PCKV, so that `ldpkv.trials` shares one draw among them all.
    draw: ClassVar[Callable[..., Draws]] = PCKVGRR.draw

    def __post_init__(self) -> None:
        _check.keep_integer(self, "n_keys", minimum=1)
        _check.keep_integer(self, "padding", minimum=1)
        for name in ("p1", "q1", "q2"):
            _check.probability(name, getattr(self, name))
        total = self.p1 + self.q1 + (self.n_cells - 2) * self.q2
        if abs(float(total) - 1) > SLACK or (isinstance(total, Rational) and total != 1):
            raise ValueError(
                f"p1 + q1 + {self.n_cells - 2} * q2 must be 1 for n_keys = {self.n_keys} and "
                f"padding = {self.padding}, got {float(total)!r}"
            )
        if not isinstance(self.send_position, bool):
            raise TypeError(f"send_position must be True or False, got {self.send_position!r}")
        _check.one_of("dummies", self.dummies, DUMMIES)

    # --- readings ---

    @classmethod
    def reading_a(cls, exp_epsilon: Any, *, n_keys: int, padding: int, **how: Any) -> LRRKV:
        """Reading A: q_1 = q_2 = 1 / (E + d' - 1), which the paper ascribes to PCKV-GRR.

        Notes
        -----
        Source: **unknown** whether meant; contradicts "q_1 should lean larger" (text). The only
        reading with the printed p_1 that keeps the promise for single pairs (`lemma1_excess`).
        """
        p1 = _printed_p1(exp_epsilon, n_keys, padding)
        rest = (1 - p1) / (2 * (n_keys + padding) - 1)
        return cls(n_keys, padding, p1, rest, rest, **how)

    @classmethod
    def reading_b(cls, exp_epsilon: Any, *, n_keys: int, padding: int, **how: Any) -> LRRKV:
        """Reading B: p_1 / q_1 = e^(epsilon / 2), the rest evenly; exact at perfect squares.

        Notes
        -----
        Source: **unknown** whether meant; fits the text well. No law if e^(epsilon / 2) > d' - 1.
        """
        p1 = _printed_p1(exp_epsilon, n_keys, padding)
        return cls._even(n_keys, padding, p1, p1 / allocation.square_root(exp_epsilon), how)

    @classmethod
    def reading_c(cls, exp_epsilon: Any, *, n_keys: int, padding: int, **how: Any) -> LRRKV:
        """Reading C: q_1 / q_2 = E, so q_2 = (1 - p_1) / (E + d' - 2).

        Notes
        -----
        Source: **unknown** whether meant; fits "if ... then" (text), but leaves p_1 - q_1 = E
        (E - 1) / ((E + d' - 1) (E + d' - 2)), of order 1 / d'^2: the mean is lost.
        """
        p1 = _printed_p1(exp_epsilon, n_keys, padding)
        q2 = (1 - p1) / (exp_epsilon + 2 * (n_keys + padding) - 2)
        return cls(n_keys, padding, p1, exp_epsilon * q2, q2, **how)

    @classmethod
    def reading_d(cls, exp_epsilon: Any, *, n_keys: int, padding: int, **how: Any) -> LRRKV:
        """Reading D: q_1 = (1 - p_1) / 2; p_1 < q_1 as long as E < (d' - 1) / 2.

        Notes
        -----
        Source: **unknown** whether meant; crude. The estimator stays valid, since p_1 - q_1 and
        the difference of the counts are then negative together.
        """
        p1 = _printed_p1(exp_epsilon, n_keys, padding)
        return cls._even(n_keys, padding, p1, (1 - p1) / 2, how)

    @classmethod
    def reading_e(cls, exp_epsilon: Any, *, n_keys: int, padding: int, **how: Any) -> LRRKV:
        """Reading E: p_1 + q_1 = E / (E + d' / 2 - 1), generalised randomised response on keys.

        Notes
        -----
        Source: **unknown** whether meant. Close to reading C.
        """
        p1 = _printed_p1(exp_epsilon, n_keys, padding)
        key, _ = channels.grr_probabilities(_exact(exp_epsilon), n_keys + padding)
        return cls._even(n_keys, padding, p1, key - p1, how)

    @classmethod
    def corrected(
        cls,
        exp_epsilon: Any,
        tilt: Any = 1,
        *,
        n_keys: int,
        padding: int,
        level: str = "pair",
        **how: Any,
    ) -> LRRKV:
        """Family V(c): p_1 : q_1 : q_2 = E^ : c : 1, with E^ as large as the promise allows.

        Parameters
        ----------
        exp_epsilon : Fraction or float
            E of the promise.
        tilt : Fraction or float, default 1
            c in (0, E^]; 1 is PCKV-GRR's published optimum, above 1 is what HISKV asks for.
        n_keys, padding : int
            d and l.
        level : {"pair", "set"}
            Promise for one pair, or for a user's whole set behind padding and sampling; see
            `largest_keep`.
        **how
            `send_position`, `dummies`.

        Returns
        -------
        LRRKV
            It spends exactly epsilon at that level (the set without its position). p_1 is the
            printed one only if c = 1 and the level is "pair".

        Raises
        ------
        ValueError
            If the tilt is out of range.

        Notes
        -----
        Source: **derived**; HISKV's idea with numbers that keep its promise.
        """
        if isinstance(tilt, bool) or not isinstance(tilt, Real):
            raise TypeError(f"tilt must be a number above 0, got {tilt!r}")
        keep = largest_keep(exp_epsilon, tilt, padding, level=level)
        if not 0 < float(tilt) <= float(keep) * (1 + SLACK):
            raise ValueError(f"tilt must lie in (0, {float(keep):g}], got {tilt!r}")
        q2 = 1 / (keep + _exact(tilt) + 2 * (n_keys + padding) - 2)
        return cls(n_keys, padding, keep * q2, tilt * q2, q2, **how)

    @classmethod
    def optimal(
        cls,
        exp_epsilon: float,
        weight: float = 0.0,
        *,
        n_keys: int,
        padding: int,
        mean_square: float = 0.0,
        level: str = "pair",
        **how: Any,
    ) -> LRRKV:
        """V(c) at the c that minimises weight Var(f*) / f^2 + Var(mu*); see `best_tilt`.

        Parameters
        ----------
        exp_epsilon : float
            E of the promise.
        weight : float, default 0
            w >= 0, of the squared relative error of the frequency against that of the mean.
        n_keys, padding : int
            d and l.
        mean_square : float, default 0
            m^2 in [0, 1].
        level : {"pair", "set"}
            As in `corrected`.
        **how
            `send_position`, `dummies`.

        Returns
        -------
        LRRKV
            c = 1 whenever weight + m^2 <= 1.

        Notes
        -----
        Source: **derived**.
        """
        keep = largest_keep(exp_epsilon, 1, padding, level=level)
        tilt = best_tilt(keep, weight, mean_square, n_cells=2 * (n_keys + padding))
        return cls.corrected(exp_epsilon, tilt, n_keys=n_keys, padding=padding, level=level, **how)

    @classmethod
    def from_exp_budgets(
        cls,
        exp_epsilon: Any,
        *,
        n_keys: int,
        padding: int,
        reading: str,
        tilt: Any = 1,
        level: str = "pair",
        **how: Any,
    ) -> LRRKV:
        """Look a reading up by its letter.

        Parameters
        ----------
        exp_epsilon : Fraction or float
            E, at least 1.
        n_keys, padding : int
            d and l.
        reading : {"A", "B", "C", "D", "E", "V"}
            `reading_a` to `reading_e`, or `corrected`. There is no default: the paper's is lost.
        tilt, level
            For reading V only; see `corrected`.
        **how
            `send_position`, `dummies`.

        Returns
        -------
        LRRKV
            Exact if `exp_epsilon` is.

        Raises
        ------
        ValueError, TypeError
            If an argument is out of range.
        """
        n_keys = _check.integer("n_keys", n_keys, minimum=1)
        padding = _check.integer("padding", padding, minimum=1)
        if _check.one_of("reading", reading, READINGS) == "V":
            return cls.corrected(
                exp_epsilon, tilt, n_keys=n_keys, padding=padding, level=level, **how
            )
        if tilt != 1 or level != "pair":
            raise ValueError(f"tilt and level belong to reading 'V', got reading {reading!r}")
        rule: Callable[..., LRRKV] = getattr(cls, f"reading_{reading.lower()}")
        return rule(exp_epsilon, n_keys=n_keys, padding=padding, **how)

    @classmethod
    def from_epsilon(
        cls, epsilon: float, *, n_keys: int, padding: int, reading: str, **how: Any
    ) -> LRRKV:
        """As `from_exp_budgets`, from epsilon in nats."""
        exp_epsilon = math.exp(_check.epsilon(epsilon))
        return cls.from_exp_budgets(
            exp_epsilon, n_keys=n_keys, padding=padding, reading=reading, **how
        )

    @classmethod
    def _even(cls, n_keys: int, padding: int, p1: Any, q1: Any, how: dict[str, Any]) -> LRRKV:
        n_keys = _check.integer("n_keys", n_keys, minimum=1)
        padding = _check.integer("padding", padding, minimum=1)
        q2 = (1 - p1 - q1) / (2 * (n_keys + padding) - 2)
        if -SLACK < q2 < 0 and isinstance(q2, float):
            q2 = 0.0
        if q2 < 0:
            raise ValueError(
                f"this reading has no law at exp_epsilon so large for n_keys = {n_keys} and "
                f"padding = {padding}: p1 + q1 = {float(p1 + q1):g} > 1"
            )
        return cls(n_keys, padding, p1, q1, q2, **how)

    # --- PCKV-GRR ---

    @classmethod
    def from_pckv_grr(cls, mechanism: PCKVGRR, **how: Any) -> LRRKV:
        """Read PCKV-GRR as LRR_KV: p_1 = a p, q_1 = a (1 - p), q_2 = b / 2 (**derived**)."""
        p1, q1, q2 = mechanism.symbol_probabilities
        return cls(mechanism.n_keys, mechanism.padding, p1, q1, q2, **how)

    def to_pckv_grr(self) -> PCKVGRR:
        """PCKV-GRR with the same law: a = p_1 + q_1, p = p_1 / (p_1 + q_1), b = 2 q_2.

        Returns
        -------
        PCKVGRR
            The same channel for every (p_1, q_1, q_2); `budgets` says whether it is one that PCKV
            could set up. p = 1/2 if p_1 = q_1 = 0, where the sign is lost.

        Notes
        -----
        Source: **derived**.
        """
        a, b, p, _ = self.numbers
        return PCKVGRR(self.n_keys, self.padding, a, b, p)

    @property
    def numbers(self) -> Numbers:
        """The numbers (a, b, p, l) on which all errors depend; see `ldpkv.theory`."""
        key = self.p1 + self.q1
        sign = self.p1 / key if key else (self.p1 + 1) / 2
        return Numbers(key, 2 * self.q2, sign, self.padding)

    def budgets(self) -> Budgets | None:
        """Budgets from which PCKV-GRR would get these numbers (Algorithm 3 of PCKV).

        Returns
        -------
        Budgets or None
            e^epsilon_1 = (p_1 + q_1) / (2 q_2), e^epsilon_2 = p_1 / q_1; None if one of them
            would be below 1 (as in reading D) or infinite.

        Notes
        -----
        Source: **derived**.
        """
        if self.q1 == 0 or self.q2 == 0:
            return None
        found = Budgets((self.p1 + self.q1) / (2 * self.q2), self.p1 / self.q1)
        return found if min(found) >= 1 else None

    # --- the mechanism ---

    @property
    def width(self) -> int:
        """Number of keys d + l, dummies included."""
        return self.n_keys + self.padding

    @property
    def n_cells(self) -> int:
        """Number of pairs d' = 2 (d + l) that a report can name."""
        return 2 * (self.n_keys + self.padding)

    def symbols(self, draws: Draws) -> Symbols:
        """One symbol per user, at this mechanism's padding length and with its dummies."""
        symbols = draws.pad(self.padding)
        if self.dummies == "random":
            return symbols
        # Given that a dummy was drawn, the uniform number is uniform on what lies above L / l.
        free = self.padding - draws.lengths
        part = (2 * (draws.uniform * self.padding - draws.lengths)).astype(np.int64)
        dummy = 2 * self.n_keys + np.minimum(part, 2 * free - 1)
        codes = np.where(symbols.codes < 2 * self.n_keys, symbols.codes, dummy)
        return replace(symbols, codes=codes)

    def perturb(
        self, symbols: Symbols, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Perturb every user's symbol (Algorithm 2); shape (n_users,), coded like symbols."""
        generator = np.random.default_rng(rng)
        return channels.perturb_symbols(
            symbols.codes, self.p1, self.q1, self.q2, self.width, generator
        )

    def aggregate(self, reports: NDArray[np.int64]) -> Counts:
        """Fill the d' buckets (Algorithm 1)."""
        table = Symbols(reports, self.width, 2).table()
        return Counts(table, np.full(self.width, len(reports)))

    def simulate_counts(
        self, table: NDArray[np.int64], *, rng: np.random.Generator | int | None = None
    ) -> Counts:
        """Draw the counts directly; the same law as `perturb` then `aggregate`."""
        generator = np.random.default_rng(rng)
        counted = channels.count_symbols(table, self.p1, self.q1, self.q2, generator)
        return Counts(counted, np.full(self.width, table.sum()))

    def estimate(self, counts: Counts, *, correction: str = "paper") -> Estimates:
        """Estimate frequencies and means.

        Parameters
        ----------
        counts : Counts
            From the n' users of the second group only.
        correction : {"paper", "code", "none"}
            "none" gives f* = (l / n') (n_1 + n_2 - 2 n' q_2) / Delta and mu* = (n_1 - n_2) Delta /
            (delta (n_1 + n_2 - 2 n' q_2)). The others clip as PCKV does; see
            `ldpkv.estimation.estimate_pckv`.

        Returns
        -------
        Estimates
            The mean is NaN if p_1 = q_1 (without correction).

        Raises
        ------
        ValueError
            If Delta = 0, where reports say nothing of the key.

        Notes
        -----
        Source: HISKV Algorithm 1 and equation (6), **fitted**; the factor l is not visible in the
        remnants. HISKV says nothing of clipping (**unknown**); both variants are PCKV's.
        """
        a, b, p, padding = self.numbers
        return estimate_pckv(
            counts,
            keep_key=float(a),
            fake_key=float(b),
            keep_sign=float(p),
            padding=padding,
            n_keys=self.n_keys,
            correction=correction,
        )

    def symbol_law(self, user: User) -> NDArray[Any]:
        """Exact law of the user's symbol, and of its place in the list with `send_position`.

        Parameters
        ----------
        user : mapping of int to number
            The user's set; exact when the values are integers or fractions. May be empty.

        Returns
        -------
        ndarray of Fraction or float (dtype object)
            Shape (2 * width,); with `send_position` (padding * 2 * width,), place by place.

        Raises
        ------
        ValueError
            If a key or a value is out of range.
        """
        padding, first, held = self.padding, 2 * self.n_keys, len(user)
        law = padded_symbol_law(user, self.n_keys, padding)
        half_slot = Fraction(1, 2 * padding)
        if self.dummies == "first" and held < padding:
            law[first:] = Fraction(0)
            law[first : first + 2 * (padding - held)] = half_slot
        if not self.send_position:
            return law
        if held > padding:
            return np.tile(law / padding, padding)
        places = np.full((padding, self.n_cells), Fraction(0), dtype=object)
        for place, key in enumerate(sorted(user)):
            places[place, 2 * key : 2 * key + 2] = law[2 * key : 2 * key + 2]
        if self.dummies == "random":
            places[held:, first:] = half_slot / padding
        else:
            for place in range(held, padding):
                dummy = first + 2 * (place - held)
                places[place, dummy : dummy + 2] = half_slot
        return places.ravel()

    def channel(self) -> Channel:
        """Exact law of a report given a symbol; with `send_position` the place goes unchanged."""
        one = channels.symbol_channel(self.p1, self.q1, self.q2, self.width)
        if not self.send_position:
            return one
        size = self.n_cells
        weights = np.zeros((self.padding * size,) * 2, dtype=one.weights.dtype)
        for place in range(self.padding):
            rows = slice(place * size, (place + 1) * size)
            weights[rows, rows] = one.weights
        return Channel(weights, one.denominator)

    def exp_epsilon(self, level: str = "set", *, empty: bool = False) -> Any:
        """Exact e^epsilon.

        Parameters
        ----------
        level : {"pair", "set"}
            "pair": the channel alone, any two pairs, dummies included. "set": users with any two
            sets, behind padding and sampling.
        empty : bool, default False
            Whether the empty set is a user; matters only if there is one key.

        Returns
        -------
        Fraction or float
            (M + s) / (m + s), with M and m the largest and smallest of p_1, q_1, q_2, and s = 0 at
            pair level or with `send_position`, else (l - 1) q_2. Infinite if m + s = 0.

        Raises
        ------
        ValueError
            If `level` is unknown.

        Notes
        -----
        Source: **derived**. Proof. A user's law of a real cell is q_2 + w (p_1 - q_2) +
        w' (q_1 - q_2) with w, w' >= 0 and w + w' <= 1 / l, which lies between (m + s) / l and
        (M + s) / l; a user with one pair reaches each end, and someone without the key q_2. That
        someone is missing only if d = 1 and nobody is empty; q_2 then leaves M and m. A dummy cell
        has w = w' <= 1 / (2 l), so it lies between the same ends. With the place sent, the one
        pair stands at place 1 for certain. For numbers of PCKV's own family this is PCKV Theorem
        3, `ldpkv.allocation.compose_grr`.
        """
        _check.one_of("level", level, LEVELS)
        ends = [self.p1, self.q1, self.q2]
        if level == "set" and self.n_keys == 1 and not empty:
            ends.pop()
        alone = level == "pair" or self.send_position
        shared = 0 * self.q2 if alone else (self.padding - 1) * self.q2
        low = min(ends) + shared
        return (max(ends) + shared) / low if low else math.inf


def _exact(number: Any) -> Any:
    return Fraction(number) if isinstance(number, Rational) else number


def _ratio(top: Any, bottom: Any) -> Any:
    both = isinstance(top, Rational) and isinstance(bottom, Rational)
    return Fraction(top) / Fraction(bottom) if both else top / bottom


def _printed_p1(exp_epsilon: Any, n_keys: int, padding: int) -> Any:
    exp_epsilon = _check.exp_budget("exp_epsilon", exp_epsilon)
    n_keys = _check.integer("n_keys", n_keys, minimum=1)
    padding = _check.integer("padding", padding, minimum=1)
    return channels.grr_probabilities(_exact(exp_epsilon), 2 * (n_keys + padding))[0]


# --- privacy of the readings ---------------------------------------------------------------------


def lemma1_excess(tilt: Number, n_cells: Number) -> Number:
    """By what factor the printed p_1 with q_1 = c / (E + d' - 1) breaks e^epsilon for pairs.

    Proof. p_1 = E / (E + d' - 1) leaves q_2 = (d' - 1 - c) / ((d' - 2) (E + d' - 1)), and for
    1 <= c <= E that is the smallest of the three: the ratio is p_1 / q_2.

    Parameters
    ----------
    tilt : number or array
        c in [1, E], below d' - 1.
    n_cells : int or array
        d' = 2 (d + l).

    Returns
    -------
    number or array
        (d' - 2) / (d' - 1 - c): 1 at c = 1, above 1 for every larger c.

    Notes
    -----
    Source: HISKV section 3.2 and Theorem 2, whose displays are lost; **derived**. So q_1 = q_2 is
    the only choice that makes Theorem 2 true for pairs.
    """
    return (_exact(n_cells) - 2) / (n_cells - 1 - tilt)


def largest_keep(exp_epsilon: Any, tilt: Any = 1, padding: int = 1, *, level: str = "pair") -> Any:
    """Largest E^ for which p_1 : q_1 : q_2 = E^ : c : 1 keeps a promise of epsilon.

    Parameters
    ----------
    exp_epsilon : Fraction or float
        E, at least 1.
    tilt : Fraction or float, default 1
        c above 0.
    padding : int, default 1
        l; not used at pair level.
    level : {"pair", "set"}
        As in `LRRKV.exp_epsilon`, the place not sent.

    Returns
    -------
    Fraction or float
        min(c, 1) E at pair level; at set level l (E - 1) + 1 (PCKV's E', equation (23)), less
        E (1 - c) if c < 1.

    Raises
    ------
    ValueError, TypeError
        If `level` is unknown or E is below 1.

    Notes
    -----
    Source: **derived**; `LRRKV.exp_epsilon` solved for p_1 / q_2.
    """
    exp_epsilon = _check.exp_budget("exp_epsilon", exp_epsilon)
    slots = 1 if _check.one_of("level", level, LEVELS) == "pair" else padding
    lost = exp_epsilon * (1 - min(_exact(tilt), 1))
    return allocation.amplified(_exact(exp_epsilon), slots) - lost


def smallest_rescuing_padding(
    reading: str, exp_epsilon: Any, n_keys: int, *, most: int = 400
) -> int | None:
    """Smallest l at which padding and sampling repair a reading: set-level epsilon <= epsilon.

    Parameters
    ----------
    reading : {"A", "B", "C", "D", "E"}
        Which.
    exp_epsilon : Fraction or float
        E.
    n_keys : int
        d.
    most : int, default 400
        Largest l to try.

    Returns
    -------
    int or None
        None if there is none up to `most`. The numbers change with l, through d'.

    Notes
    -----
    Source: **derived**.
    """
    slack = 1 if isinstance(exp_epsilon, Rational) else 1 + SLACK
    for padding in range(1, _check.integer("most", most, minimum=1) + 1):
        mechanism = LRRKV.from_exp_budgets(
            exp_epsilon, n_keys=n_keys, padding=padding, reading=reading
        )
        if mechanism.exp_epsilon("set", empty=True) <= exp_epsilon * slack:
            return padding
    return None


# --- Theorems 4 and 5: variances -----------------------------------------------------------------


def theorem4(
    numbers: Numbers,
    frequency: Number,
    n_users: Number,
    *,
    version: str,
    n_total: Number | None = None,
) -> Number:
    """Variance of f*, in the versions that Theorem 4 may have meant; no list longer than l.

    Parameters
    ----------
    numbers : Numbers
        From `LRRKV.numbers`.
    frequency, n_users : number or array
        f, and n' = (1 - beta) n.
    version : {"a", "b", "c", "split"}
        "a": the sampled pairs are fixed, as in PCKV's equation (9). "b": the users are fixed. "c":
        users are independent (the proof's "binomial"). "split": all n users are fixed and n' of
        them are drawn without replacement; f is that of all n.
    n_total : number or array, optional
        n, for "split".

    Returns
    -------
    number or array
        "a": 2 l^2 q_2 (1 - 2 q_2) / (n' Delta^2) + l f (1 - p_1 - q_1 - 2 q_2) / (n' Delta). "b"
        adds f (l - 1) / n'; to that "c" adds f (1 - f) / n', and "split" the same times
        (n - n') / (n - 1).

    Raises
    ------
    ValueError
        If `version` is unknown, or "split" comes without `n_total`.

    Notes
    -----
    Source: HISKV Theorem 4; which version was printed is **unknown**, all are **derived**. For
    "a" to "c" see `ldpkv.theory`.
    """
    if _check.one_of("version", version, VERSIONS) == "a":
        return theory.frequency_variance_printed(numbers, frequency, n_users)
    if version == "c":
        return theory.frequency_variance(numbers, frequency, n_users, users="iid")
    fixed = theory.frequency_variance(numbers, frequency, n_users, users="fixed")
    if version == "b":
        return fixed
    if n_total is None:
        raise ValueError("n_total must be given for version 'split'")
    left = (n_total - n_users) * frequency * (1 - frequency)
    return fixed + left / (n_users * (n_total - 1))


def moments_sampled(numbers: Numbers, plus: Number, minus: Number, n_users: Number) -> Moments:
    """Moments of a key's counts given the sampled pairs: the pieces of Theorem 5.

    Parameters
    ----------
    numbers : Numbers
        From `LRRKV.numbers`.
    plus, minus : number or array
        True counts of the sampled <k, 1> and <k, -1>.
    n_users : number or array
        n'.

    Returns
    -------
    Moments
        Exact, per user as everywhere: E R / n', Var R / n'^2 and so on, with R = n_1 - n_2 and,
        for the support, n_1 + n_2 (S of the paper is that less 2 n' q_2).

    Notes
    -----
    Source: HISKV Theorem 5, **fitted** to the surviving tail of Cov(R, S). Bias and variance of
    mu*, equation (12), are `ldpkv.theory.mean_first_order` of this; for independent users use
    `ldpkv.theory.moments_iid` or `mean_variance_printed`, for given data `moments_of_data`.
    """
    a, b, p, _ = numbers
    gap, strength = a - b, a * (2 * p - 1)
    share, lean = _ratio(plus + minus, n_users), _ratio(plus - minus, n_users)
    return Moments(
        b + gap * share,
        strength * lean,
        (b * (1 - b) + share * gap * (1 - a - b)) / n_users,
        (b + share * (gap - strength**2)) / n_users,
        strength * lean * (1 - a) / n_users,
    )


# --- Theorems 6 and 7: deviations ----------------------------------------------------------------


def frequency_deviation(
    numbers: Numbers, frequency: Number, n_users: Number, eta: Number
) -> NDArray[np.float64]:
    """Bound that |f* - f| keeps with probability at least 1 - eta, if no list is longer than l.

    Proof. Bernstein's inequality for the n' reports' supports: their variances add up to at most
    n' P (1 - P), P = 2 q_2 + f Delta / l. That holds for independent users and for fixed ones; a
    group drawn without replacement has no larger moment generating function than one drawn with
    replacement (Hoeffding 1963), so it holds for HISKV's group too.

    Parameters
    ----------
    numbers : Numbers
        From `LRRKV.numbers`.
    frequency, n_users : number or array
        f and n'.
    eta : number or array
        In (0, 1).

    Returns
    -------
    ndarray of float64
        sqrt(2 l^2 P (1 - P) L / (n' Delta^2)) + 2 l L / (3 n' |Delta|), L = ln(2 / eta).

    Notes
    -----
    Source: HISKV Theorem 6; the display is lost, this is **derived**. See `deviation_rate`.
    """
    a, b, _, padding = numbers
    support = b + (a - b) * np.asarray(frequency) / padding
    spread = _bernstein(support * (1 - support), 1, n_users, np.log(2 / np.asarray(eta)))
    return padding * spread / abs(a - b)


def mean_deviation(
    numbers: Numbers, frequency: Number, mean: Number, n_users: Number, eta: Number
) -> NDArray[np.float64]:
    """Bound that |mu* - m| keeps with probability at least 1 - eta, if no list is longer than l.

    Proof. With A = |R / (n' delta) - x m| and B = |S / (n' Delta) - x|, mu* - m is at most
    (A + |m| B) / (x - B) as long as B < x. Bernstein bounds A and B, with eta / 2 for each: the
    signs of the reports have variances that add up to at most n' (P - (delta x m)^2) and lie
    within 1 + |delta| of their expectations.

    Parameters
    ----------
    numbers : Numbers
        From `LRRKV.numbers`, with p_1 != q_1.
    frequency, mean, n_users : number or array
        f above 0, m and n'.
    eta : number or array
        In (0, 1).

    Returns
    -------
    ndarray of float64
        Infinite where the bound on B reaches x: fewer than about `mean_deviation_users`.

    Notes
    -----
    Source: HISKV Theorem 7; the display is lost, this is **derived**. It is of the order of
    `deviation_rate` / f only for q_1 / p_1 bounded away from 1.
    """
    a, b, p, padding = numbers
    x = np.asarray(frequency) / padding
    half = np.asarray(eta) / 2
    shift = frequency_deviation(numbers, frequency, n_users, half) / padding
    strength = a * (2 * p - 1)
    variance = b + (a - b) * x - (strength * x * mean) ** 2
    sign = _bernstein(variance, 1 + abs(strength), n_users, np.log(2 / half)) / abs(strength)
    room = x - shift
    top = sign + np.abs(mean) * shift
    return np.divide(top, room, out=np.full(np.shape(top), np.inf), where=room > 0)


def mean_deviation_users(numbers: Numbers, frequency: Number, eta: Number) -> NDArray[np.float64]:
    """Return the number of users n' above which `mean_deviation` says anything.

    Parameters
    ----------
    numbers : Numbers
        From `LRRKV.numbers`.
    frequency, eta : number or array
        f above 0, and eta in (0, 1).

    Returns
    -------
    ndarray of float64
        Where B's bound equals x, a quadratic in 1 / sqrt(n').

    Notes
    -----
    Source: HISKV Theorem 7, the condition it needs; **derived**.
    """
    a, b, _, padding = numbers
    x = np.asarray(frequency) / padding
    support = b + (a - b) * x
    log = np.log(4 / np.asarray(eta))
    linear = np.sqrt(2 * support * (1 - support) * log)
    root = (np.sqrt(linear**2 + 8 * log * x * abs(a - b) / 3) - linear) / (4 * log / 3)
    return 1 / root**2


def _bernstein(variance: Number, reach: Number, n_users: Number, log: Number) -> Number:
    # The mean of n terms stays within this of its expectation, but with probability 2 e^-log.
    return np.sqrt(2 * variance * log / n_users) + 2 * reach * log / (3 * n_users)


def deviation_rate(
    epsilon: Number, n_keys: Number, padding: Number, n_users: Number, eta: Number
) -> Number:
    """Rate of Theorem 6: l sqrt(d' ln(1 / eta)) / (epsilon sqrt(n')), constant left out.

    Parameters
    ----------
    epsilon : number or array
        Of order 1 or less, unamplified.
    n_keys, padding, n_users : number or array
        d, l and n', n' at least of the order of d' ln(1 / eta).
    eta : number or array
        In (0, 1).

    Returns
    -------
    number or array
        For Theorem 7 divide by f.

    Notes
    -----
    Source: HISKV Theorems 6 and 7, **fitted**.
    """
    cells = 2 * (np.asarray(n_keys) + padding)
    return padding * np.sqrt(cells * np.log(1 / np.asarray(eta)) / n_users) / epsilon


# --- the tilt: Theorems A and B, and what is best for both ---------------------------------------


def tilted(exp_keep: Number, tilt: Number, n_keys: Number, padding: Number) -> Numbers:
    """Numbers of V(c) with a given E^; arrays allowed, unlike in `LRRKV.corrected`.

    Theorem A: every version of the frequency's variance falls as c grows, by at most a factor 4 on
    [1, E^]. Proof: with s = E^ + c - 2, version c is (l^2 / n') (2 / s + x) ((d' - 2) / s + 1 - x),
    and all versions have only non-negative coefficients in 1 / s; s at most doubles.

    Theorem B: the first-order variance of the mean strictly rises with c on [1, E^), for every f,
    m and d'. Proof: its part free of m has slope at least (2 / s^2 + 4 (s + d') / s^3) / x^2, since
    E^ - c <= s; its part in m^2 falls at most at (2 / s^2 + 4 (d' - 2) / s^3) / x^2.

    Parameters
    ----------
    exp_keep : number or array
        E^ = p_1 / q_2 above 1; see `largest_keep`.
    tilt : number or array
        c = q_1 / q_2 in (0, E^].
    n_keys, padding : int or array
        d and l.

    Returns
    -------
    Numbers
        For the functions of `ldpkv.theory`.

    Notes
    -----
    Source: **derived**; the paper says that a larger q_1 helps frequency and mean.
    """
    both = exp_keep + tilt
    total = both + 2 * (n_keys + padding) - 2
    return Numbers(both / total, 2 / total, exp_keep / both, padding)


def best_tilt(
    exp_keep: float, weight: float, mean_square: float = 0.0, *, n_cells: int | None = None
) -> float:
    """Find the c in [1, E^] that minimises w Var(f*) / f^2 + Var(mu*), for rare keys (f / l to 0).

    The sum is then (l^2 / (n' f^2)) (g + (w + m^2) h), with g and h of `ldpkv.theory`. As d' grows
    at fixed E^ it tends to a multiple of 1 / (E^ - c)^2 + (w + m^2) / (E^ + c - 2)^2, with its
    minimum at (E^ + c - 2) / (E^ - c) = (w + m^2)^(1/3).

    Parameters
    ----------
    exp_keep : float
        E^ above 1.
    weight : float
        w >= 0. The plain sum MSE(f) + MSE(mu) has w = f^2.
    mean_square : float, default 0
        m^2 in [0, 1].
    n_cells : int, optional
        d'; the limit of many cells by default.

    Returns
    -------
    float
        1 whenever w + m^2 <= 1 (by Theorem B for any d', and by the limit's formula). In the limit
        max{1, 1 + (E^ - 1) (k - 1) / (k + 1)}, k = (w + m^2)^(1/3).

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: **derived**.
    """
    if not (math.isfinite(exp_keep) and exp_keep > 1):
        raise ValueError(f"exp_keep must be a finite number above 1, got {exp_keep!r}")
    if not (math.isfinite(weight) and weight >= 0):
        raise ValueError(f"weight must be a finite number of at least 0, got {weight!r}")
    if not 0 <= mean_square <= 1:
        raise ValueError(f"mean_square must lie in [0, 1], got {mean_square!r}")
    stake = weight + mean_square
    if stake <= 1:
        return 1.0
    ratio = stake ** (1 / 3)
    if n_cells is None:
        return float(1 + (exp_keep - 1) * (ratio - 1) / (ratio + 1))
    width = _check.integer("n_cells", n_cells, minimum=4) / 2

    def loss(part: float) -> float:
        numbers = tilted(float(exp_keep), 1 + part * (exp_keep - 1), width - 1, 1)
        return math.log(theory.objective(numbers, stake))

    # On a scale free of E^; the pole at c = E^ is left out.
    found = minimize_scalar(
        loss, bounds=(0.0, 1.0 - 1e-12), method="bounded", options={"xatol": 1e-10}
    )
    part = float(found.x) if found.fun < loss(0.0) else 0.0
    return float(1 + part * (exp_keep - 1))


# --- comparisons with PCKV-GRR -------------------------------------------------------------------


class Factors(NamedTuple):
    """By what factor one mechanism's variances are smaller than another's.

    Parameters
    ----------
    frequency, mean : number or array
        Above 1 where the first mechanism is better.
    """

    frequency: Number
    mean: Number


def advantage(
    numbers: Numbers,
    rival: Numbers,
    *,
    frequency: Number | None = None,
    mean: Number = 0,
    group_share: Number = 0,
) -> Factors:
    """Variances of a rival over those of a mechanism, of whose users a share sent only lengths.

    Parameters
    ----------
    numbers, rival : Numbers
        Of the mechanism (`LRRKV.numbers`), and of what it is compared with.
    frequency : number or array, optional
        f; the limit of a rare key by default.
    mean : number or array, default 0
        m.
    group_share : number or array, default 0
        beta, the share of the mechanism's users that send no pair; the rival uses all.

    Returns
    -------
    Factors
        Of the exact variance of the frequency and the first-order variance of the mean, both for
        independent users, both unclipped. Times (1 - beta). The mean's is 0 where the sign is lost,
        and NaN if the rival loses it too.

    Notes
    -----
    Source: **derived** from `ldpkv.theory`. At equal true epsilon and padding length the frequency
    gains at most 4 and the mean at most 1: Theorems A and B in `tilted`.
    """

    def variances(of: Numbers) -> tuple[Number, Number]:
        if frequency is None:
            square = of.padding**2
            return square * theory.h(of), _or_infinite(
                lambda sane: square * theory.objective(sane, mean**2), of
            )
        return (
            theory.frequency_variance(of, frequency, 1, users="iid"),
            _or_infinite(lambda sane: theory.mean_variance_printed(sane, frequency, mean, 1), of),
        )

    rest = 1 - group_share
    (key, value), (rival_key, rival_value) = variances(numbers), variances(rival)
    with np.errstate(invalid="ignore"):  # infinite over infinite
        return Factors(rest * rival_key / key, rest * rival_value / value)


def _or_infinite(variance: Callable[[Numbers], Number], numbers: Numbers) -> Number:
    # Variance of a mean; infinite where the sign is lost (p = 1/2, that is c = E^).
    lost = 2 * numbers.keep_sign == 1
    if np.ndim(lost) == 0:
        return math.inf if lost else variance(numbers)
    sane = numbers._replace(keep_sign=np.where(lost, 1.0, numbers.keep_sign))
    return np.where(lost, math.inf, variance(sane))


def fair_rival(mechanism: LRRKV, level: str = "set") -> PCKVGRR:
    """PCKV-GRR at its optimum, with the mechanism's true epsilon and padding length.

    Parameters
    ----------
    mechanism : LRRKV
        Whose exact epsilon is taken, by `LRRKV.exp_epsilon` (the empty set being a user).
    level : {"pair", "set"}
        "pair": neither gets credit for sampling. "set": both do.

    Returns
    -------
    PCKVGRR
        With the allocation of PCKV Lemma 3, unamplified at pair level.

    Notes
    -----
    Source: **derived**.
    """
    exp_epsilon = mechanism.exp_epsilon(level, empty=True)
    alone = level == "pair" or mechanism.send_position
    budgets = allocation.optimised(exp_epsilon, 1 if alone else mechanism.padding)
    return PCKVGRR.from_exp_budgets(*budgets, n_keys=mechanism.n_keys, padding=mechanism.padding)


class PrintedFactor(NamedTuple):
    """One way in which the paper's factors over PCKV-GRR could have come about.

    Parameters
    ----------
    rival : str
        How PCKV-GRR was run: "naive" (epsilon / 2 + epsilon / 2), "optimised" (PCKV's optimum
        without credit for padding) or "amplified" (PCKV's own optimum).
    reading : str
        Reading of LRR_KV's numbers.
    epsilon : float
        The budget in nats.
    frequency, mean : float
        Variance of PCKV-GRR over that of HISKV, in the limit of rare keys.
    """

    rival: str
    reading: str
    epsilon: float
    frequency: float
    mean: float


def printed_factors(
    epsilons: Iterable[float],
    *,
    n_keys: int,
    padding: int,
    group_share: float = 0.1,
    mean_square: float = 0.0,
    readings: Sequence[str] = ("A", "B", "C", "E"),
) -> list[PrintedFactor]:
    """Tabulate the readings against PCKV-GRR run in three ways, at equal *nominal* epsilon.

    Parameters
    ----------
    epsilons : iterable of float
        Budgets in nats.
    n_keys, padding : int
        d, and l of both.
    group_share : float, default 0.1
        beta, which is **unknown**.
    mean_square : float, default 0
        m^2.
    readings : sequence of str
        Which readings.

    Returns
    -------
    list of PrintedFactor
        In the order rival, reading, epsilon.

    Notes
    -----
    Source: **derived**, and no more than a hypothesis: the paper claims factors of 4 to 6 in
    frequency and 3 in mean.
    """
    budgets = list(epsilons)
    rows = []
    for rival in ("naive", "optimised", "amplified"):
        name, slots = ("optimised", padding) if rival == "amplified" else (rival, 1)
        for reading in readings:
            for epsilon in budgets:
                mechanism = LRRKV.from_epsilon(
                    epsilon, n_keys=n_keys, padding=padding, reading=reading
                )
                other = PCKVGRR.from_exp_budgets(
                    *allocation.allocate(name, epsilon, slots), n_keys=n_keys, padding=padding
                )
                found = advantage(
                    mechanism.numbers,
                    Numbers.of(other),
                    mean=math.sqrt(mean_square),
                    group_share=group_share,
                )
                rows.append(
                    PrintedFactor(
                        rival, reading, epsilon, float(found.frequency), float(found.mean)
                    )
                )
    return rows


# --- OETL: the padding length --------------------------------------------------------------------


@dataclass(frozen=True)
class LengthEstimate:
    """OETL: lengths by generalised randomised response, then a percentile of what they show.

    Parameters
    ----------
    n_keys : int
        d; lengths are 1 to d.
    keep_length : Fraction or float
        p: the length is reported truthfully.
    fake_length : Fraction or float
        q: each other length is reported.
    share : Fraction or float, default 9/10
        Share of users that the padding length is to cover, in (0, 1).
    strict : bool, default False
        Whether more than the share must be covered, or at least the share.
    empty : {"refuse", "one", "own"}
        What a user without pairs does: there is none (an error), sends length 1, or sends a
        category of its own, so that there are d + 1.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.

    Notes
    -----
    Source: HISKV Algorithm 4. Steps, GRR and the 90th percentile are **text**, formulas **fitted**;
    whether > or >= is **unknown**, and so is what a user of length 0 does: on [1, d] as printed,
    length 0 has no code. Claimed (Theorem 1), and exact: epsilon = ln(p / q), if every length has
    a code.
    """

    n_keys: int
    keep_length: Any
    fake_length: Any
    share: Any = SHARE
    strict: bool = False
    empty: str = "refuse"

    def __post_init__(self) -> None:
        _check.keep_integer(self, "n_keys", minimum=1)
        _check.one_of("empty", self.empty, EMPTY)
        if self.n_lengths < 2:
            raise ValueError("n_keys must be at least 2, or empty 'own': one length says nothing")
        for name in ("keep_length", "fake_length", "share"):
            _check.probability(name, getattr(self, name))
        total = self.keep_length + (self.n_lengths - 1) * self.fake_length
        if abs(float(total) - 1) > SLACK:
            raise ValueError(
                f"keep_length + {self.n_lengths - 1} * fake_length must be 1, got {float(total)!r}"
            )
        if not 0 < self.share < 1:
            raise ValueError(f"share must lie strictly between 0 and 1, got {self.share!r}")

    @classmethod
    def from_exp_budgets(
        cls, exp_epsilon: Any, *, n_keys: int, empty: str = "refuse", **rule: Any
    ) -> LengthEstimate:
        """Set p = E / (E + k - 1), q = 1 / (E + k - 1), k the number of lengths."""
        exp_epsilon = _check.exp_budget("exp_epsilon", exp_epsilon)
        size = _check.integer("n_keys", n_keys, minimum=1) + (empty == "own")
        numbers = channels.grr_probabilities(_exact(exp_epsilon), size)
        return cls(n_keys, *numbers, empty=empty, **rule)

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int, **rule: Any) -> LengthEstimate:
        """As `from_exp_budgets`, from epsilon in nats."""
        return cls.from_exp_budgets(math.exp(_check.epsilon(epsilon)), n_keys=n_keys, **rule)

    @property
    def shortest(self) -> int:
        """Smallest length with a code: 1, or 0 if empty sets have their own."""
        return 0 if self.empty == "own" else 1

    @property
    def n_lengths(self) -> int:
        """Number of lengths that can be reported."""
        return self.n_keys + 1 - self.shortest

    @property
    def grr(self) -> GRR:
        """The channel: GRR whose categories are the lengths."""
        return GRR(self.n_lengths, self.keep_length, self.fake_length)

    def symbols(self, lengths: NDArray[np.int64]) -> Symbols:
        """Code the lengths.

        Parameters
        ----------
        lengths : ndarray of int64, shape (n_users,)
            Number of pairs of each user.

        Returns
        -------
        Symbols
            One cell; category 0 is the length `shortest`.

        Raises
        ------
        ValueError
            If a length has no code.
        """
        sent = np.maximum(lengths, 1) if self.empty == "one" else np.asarray(lengths)
        bad = (sent < self.shortest) | (sent > self.n_keys)
        if bad.any():
            user = int(np.argmax(bad))
            raise ValueError(
                f"lengths must lie in {self.shortest} .. {self.n_keys}, user {user} has "
                f"{int(sent[user])}" + ("; see `empty`" if sent[user] == 0 else "")
            )
        return Symbols(sent.astype(np.int64) - self.shortest, self.n_lengths, 1)

    def symbol_law(self, user: User) -> NDArray[Any]:
        """Law of the user's length, certain; so that `ldpkv.privacy` can enumerate sets."""
        law = np.full(self.n_lengths, Fraction(0), dtype=object)
        law[self.symbols(np.array([len(user)])).codes[0]] = Fraction(1)
        return law

    def channel(self) -> Channel:
        """Exact law of a reported length given the true one."""
        return self.grr.channel()

    def counts(
        self,
        lengths: NDArray[np.int64],
        *,
        rng: np.random.Generator | int | None = None,
        road: str = "counted",
    ) -> Counts:
        """Collect the lengths.

        Parameters
        ----------
        lengths : ndarray of int64, shape (n_users,)
            Number of pairs of each user of the first group.
        rng : numpy.random.Generator or seed, optional
            Passed through `numpy.random.default_rng`.
        road : {"counted", "literal"}
            Draw the server's counts, or perturb user by user; one law.

        Returns
        -------
        Counts
            One cell; row 0 is the length `shortest`.
        """
        _check.one_of("road", road, ROADS)
        symbols, grr = self.symbols(lengths), self.grr
        if road == "counted":
            return grr.simulate_counts(symbols.table(), rng=rng)
        return grr.aggregate(grr.perturb(symbols, rng=rng))

    def unbiased(self, counts: Counts) -> NDArray[Any]:
        """Unbiased number of users of each length.

        Parameters
        ----------
        counts : Counts
            From `counts`.

        Returns
        -------
        ndarray of Fraction (dtype object) or float64, shape (n_lengths,)
            (c_t - n q) / (p - q), exact if p and q are; they add up to n, the group's size.

        Raises
        ------
        ValueError
            If p = q.

        Notes
        -----
        Source: HISKV Algorithm 4, **fitted**.
        """
        p, q = self.keep_length, self.fake_length
        if p == q:
            raise ValueError(f"keep_length and fake_length must differ, both are {p!r}")
        table = counts.table[:, 0]
        if isinstance(p, Rational) and isinstance(q, Rational):
            table = table.astype(object)
        reports = counts.n_reports.astype(table.dtype)
        return (table - reports * q) / (p - q)

    def choose(self, counts: Counts) -> int:
        """Smallest length at which the estimated distribution function first reaches the share.

        Parameters
        ----------
        counts : Counts
            From `counts`, of at least one user.

        Returns
        -------
        int
            l in 1 .. d: the *first* passage of a noisy path that need not rise, so noise alone
            may stop it early. It always stops, since at d the path is exactly 1. If it stops at
            length 0, l is 1.

        Raises
        ------
        ValueError
            If there is no user.

        Notes
        -----
        Source: HISKV Algorithm 4, **fitted**.
        """
        n_users = int(counts.n_reports[0])
        if n_users < 1:
            raise ValueError("counts must come from at least one user")
        path = np.cumsum(self.unbiased(counts))
        target = self.share * n_users
        passed = path > target if self.strict else path >= target
        passed[-1] = True  # the path ends at n exactly, but for rounding
        return max(1, int(np.argmax(passed)) + self.shortest)

    def path(
        self, lengths: NDArray[np.int64], n_users: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Share of lists that each length covers, and the noise of its estimate.

        Parameters
        ----------
        lengths : ndarray of int64
            True lengths of some users.
        n_users : int, optional
            Size of a group with these shares of lengths; the number of `lengths` by default.

        Returns
        -------
        covered, deviation : ndarray of float64, shape (n_lengths,)
            Share of users up to each length, `shortest` first, and the standard deviation of its
            estimate for fixed users: lists up to the L-th length are reported as such with
            probability p + (L - 1) q, the others with L q. Where the deviation is not far below
            1 - `share`, the choice is mostly noise.

        Notes
        -----
        Source: **derived**.
        """
        seen = self.symbols(lengths).table()[:, 0]
        covered = np.cumsum(seen) / len(lengths)
        p, q = float(self.keep_length), float(self.fake_length)
        no = q * np.arange(1, self.n_lengths + 1)
        size = len(lengths) if n_users is None else n_users
        variance = theory.oracle_variance(no + p - q, no, covered, size)
        return covered, np.sqrt(np.maximum(0.0, variance))

    def law(self, lengths: Sequence[int]) -> dict[int, Any]:
        """Exact law of the chosen length, by enumeration of all counts; for a few users.

        Parameters
        ----------
        lengths : sequence of int
            True lengths of the group's users.

        Returns
        -------
        dict of int to Fraction or float
            l -> probability, for the l that can come out; ascending.
        """
        codes = self.symbols(np.asarray(lengths, dtype=np.int64)).codes
        joint: dict[tuple[int, ...], Any] = {(0,) * self.n_lengths: Fraction(1)}
        for code in codes.tolist():
            longer: dict[tuple[int, ...], Any] = {}
            for seen, chance in joint.items():
                for report in range(self.n_lengths):
                    step = self.keep_length if report == code else self.fake_length
                    new = (*seen[:report], seen[report] + 1, *seen[report + 1 :])
                    longer[new] = longer.get(new, 0) + chance * step
            joint = longer
        n_reports = np.full(self.n_lengths, len(codes))
        law: dict[int, Any] = {}
        for seen, chance in joint.items():
            chosen = self.choose(Counts(np.array(seen)[:, None], n_reports))
            law[chosen] = law.get(chosen, 0) + chance
        return dict(sorted(law.items()))


def length_estimate(
    data: KeyValueData,
    epsilon: float,
    *,
    rng: np.random.Generator | int | None = None,
    road: str = "counted",
    **rule: Any,
) -> int:
    """OETL in one call: choose a padding length from all users of `data`.

    Parameters
    ----------
    data : KeyValueData
        The first group.
    epsilon : float
        Its whole budget, in nats.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`.
    road : {"counted", "literal"}
        As in `LengthEstimate.counts`.
    **rule
        `share`, `strict`, `empty` of `LengthEstimate`.

    Returns
    -------
    int
        l.
    """
    stage = LengthEstimate.from_epsilon(epsilon, n_keys=data.n_keys, **rule)
    return stage.choose(stage.counts(data.lengths, rng=rng, road=road))


def length_count_variance(
    exp_epsilon: Number, n_lengths: Number, true_count: Number, n_users: Number
) -> Number:
    """Variance of one unbiased count of OETL, for fixed users.

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.
    n_lengths : int or array
        Number of lengths, d as printed.
    true_count : number or array
        Users of the group who have that length.
    n_users : int or array
        Users of the group, beta n.

    Returns
    -------
    number or array
        beta n (E + d - 2) / (E - 1)^2 + c (d - 2) / (E - 1).

    Notes
    -----
    Source: the first term is **text** (for HISKV the whole), right for a length that nobody has;
    the second **derived**, see `ldpkv.theory.grr_oracle_variance`.
    """
    share = _ratio(true_count, n_users)
    return n_users**2 * theory.grr_oracle_variance(exp_epsilon, n_lengths, share, n_users)


# --- HISKV ---------------------------------------------------------------------------------------


class Composition(NamedTuple):
    """Exact e^epsilon of HISKV's two stages, and of the whole by two rules.

    Parameters
    ----------
    lengths, pairs : number
        Of OETL and of LRR_KV.
    parallel : number
        The larger one. Every user takes part in one stage only, and which one is drawn without a
        look at the data; so this is the privacy of the whole.
    sequential : number
        Their product. The paper names this rule, which would charge a user who takes part in both.
    """

    lengths: Any
    pairs: Any
    parallel: Any
    sequential: Any


@dataclass(frozen=True, eq=False)
class Collected:
    """What HISKV's collector ends up with.

    Parameters
    ----------
    estimates : Estimates
        Frequencies and means.
    padding : int
        The chosen l.
    lengths : ndarray of float64, shape (n_lengths,)
        Unbiased number of first-group users of each length.
    n_length_users, n_pair_users : int
        Sizes of the two groups.
    """

    estimates: Estimates
    padding: int
    lengths: NDArray[np.float64]
    n_length_users: int
    n_pair_users: int


@dataclass(frozen=True)
class HISKV:
    """HISKV: a group of users finds the padding length, the others send one pair each.

    Parameters
    ----------
    n_keys : int
        d, at least 2 (1 if `empty` is "own").
    exp_epsilon : Fraction or float
        E; both groups spend all of epsilon.
    reading : {"A", "B", "C", "D", "E", "V"}
        Reading of LRR_KV's numbers; see `LRRKV.from_exp_budgets`.
    group_share : Fraction or float, default 1/10
        beta in (0, 1): share of users who send their length.
    tilt, level
        For reading V; see `LRRKV.corrected`.
    share, strict, empty
        As in `LengthEstimate`.
    send_position, dummies
        As in `LRRKV`.

    Notes
    -----
    Source: HISKV Algorithm 1. The two disjoint groups are **text**; beta is **unknown** (a tenth
    is what the percentile rule's own source uses, from memory). The first group has beta n users,
    rounded, and neither group is empty. Privacy is the two stages' under *parallel composition*:
    see `composition`.
    """

    n_keys: int
    exp_epsilon: Any
    reading: str
    group_share: Any = Fraction(1, 10)
    tilt: Any = 1
    level: str = "pair"
    share: Any = SHARE
    strict: bool = False
    empty: str = "refuse"
    send_position: bool = False
    dummies: str = "random"

    def __post_init__(self) -> None:
        _check.probability("group_share", self.group_share)
        if not 0 < self.group_share < 1:
            raise ValueError(
                f"group_share must lie strictly between 0 and 1, got {self.group_share!r}"
            )
        _ = self.length_stage, self.stage(1)  # whatever else is wrong is said there

    @classmethod
    def from_epsilon(cls, epsilon: float, *, n_keys: int, reading: str, **settings: Any) -> HISKV:
        """As the constructor, from epsilon in nats."""
        return cls(n_keys, math.exp(_check.epsilon(epsilon)), reading, **settings)

    @property
    def length_stage(self) -> LengthEstimate:
        """The first group's mechanism."""
        return LengthEstimate.from_exp_budgets(
            self.exp_epsilon,
            n_keys=self.n_keys,
            share=self.share,
            strict=self.strict,
            empty=self.empty,
        )

    def stage(self, padding: int) -> LRRKV:
        """Return the second group's mechanism, once l is chosen."""
        return LRRKV.from_exp_budgets(
            self.exp_epsilon,
            n_keys=self.n_keys,
            padding=padding,
            reading=self.reading,
            tilt=self.tilt,
            level=self.level,
            send_position=self.send_position,
            dummies=self.dummies,
        )

    def composition(self, padding: int, *, level: str = "set") -> Composition:
        """Exact privacy of the stages at one l, and of the whole.

        Parameters
        ----------
        padding : int
            l. What the first group spends does not depend on it; the promise must hold for each l
            that may be chosen.
        level : {"pair", "set"}
            For the second group; see `LRRKV.exp_epsilon`.

        Returns
        -------
        Composition
            That l is known to the second group costs nothing (post-processing).

        Notes
        -----
        Source: **derived**. The text names sequential composition: right conclusion, wrong rule.
        """
        stage = self.length_stage
        lengths = stage.keep_length / stage.fake_length
        pairs = self.stage(padding).exp_epsilon(level, empty=self.empty != "refuse")
        return Composition(lengths, pairs, max(lengths, pairs), lengths * pairs)

    def group_size(self, n_users: int) -> int:
        """Return the size of the first group: beta n rounded, at least 1 and at most n - 1."""
        if _check.integer("n_users", n_users, minimum=1) < 2:
            raise ValueError(f"n_users must be at least 2, one for each group, got {n_users}")
        return min(n_users - 1, max(1, round(self.group_share * n_users)))

    def collect(
        self,
        data: KeyValueData,
        *,
        rng: np.random.Generator | int | None = None,
        road: str = "counted",
        correction: str = "paper",
    ) -> Collected:
        """Run both stages.

        Parameters
        ----------
        data : KeyValueData
            The users; an empty set only as `empty` allows.
        rng : numpy.random.Generator or seed, optional
            Passed through `numpy.random.default_rng`.
        road : {"counted", "literal"}
            Draw the server's counts, or perturb user by user; one law.
        correction : {"paper", "code", "none"}
            See `LRRKV.estimate`.

        Returns
        -------
        Collected
            Frequencies are shares of the second group, divided by n', not by n.
        """
        if data.n_keys != self.n_keys:
            raise ValueError(f"data must have n_keys = {self.n_keys}, got {data.n_keys}")
        generator = np.random.default_rng(rng)
        draws = pad_and_sample(data, rng=generator)
        return self.collect_draws(draws, rng=generator, road=road, correction=correction)

    def collect_draws(
        self,
        draws: Draws,
        *,
        rng: np.random.Generator | int | None = None,
        road: str = "counted",
        correction: str = "paper",
    ) -> Collected:
        """Run both stages on draws that other mechanisms, or other budgets, may share.

        Parameters
        ----------
        draws : Draws
            Of all users; those of the first group go unused but for the lengths.
        rng, road, correction
            As in `collect`.

        Returns
        -------
        Collected
            As from `collect`.
        """
        _check.one_of("road", road, ROADS)
        _check.one_of("correction", correction, CORRECTIONS)
        generator = np.random.default_rng(rng)
        n_users = len(draws.keys)
        first = np.zeros(n_users, dtype=bool)
        first[generator.choice(n_users, self.group_size(n_users), replace=False)] = True
        lengths = self.length_stage
        length_counts = lengths.counts(draws.lengths[first], rng=generator, road=road)
        padding = lengths.choose(length_counts)
        stage = self.stage(padding)
        symbols = stage.symbols(
            Draws(
                draws.keys[~first],
                draws.negative[~first],
                draws.uniform[~first],
                draws.lengths[~first],
                draws.n_keys,
            )
        )
        if road == "counted":
            counts = stage.simulate_counts(symbols.table(), rng=generator)
        else:
            counts = stage.aggregate(stage.perturb(symbols, rng=generator))
        n_first = int(first.sum())
        return Collected(
            stage.estimate(counts, correction=correction),
            padding,
            lengths.unbiased(length_counts).astype(np.float64),
            n_first,
            n_users - n_first,
        )
