"""APT, the sequential auditor of f-DP, with a switch wherever text, code and sound practice differ.

`APT` holds the settings, `APT.init` and `APT.step` are pure: a state and more output pairs give the
next state. Feeding pairs one by one, in chunks, or after storing and loading the state gives the
same path. `audit` drives it from a callable or arrays; `run_many` repeats it for figures by a
vectorised twin that gives the same stopping times.

The guarantee is asymptotic: the boundary is that of a Brownian motion, which small error counts
resemble badly, and the theory covers scores that are predictable only (`scoring` below).

Source: arXiv 2602.06518, Algorithms 1 to 7, Theorem 3.1, section C.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from ldpkv import _check
from ldpkv.auditing import boundaries
from ldpkv.auditing.classifiers import (
    BinnedKDE,
    Classifier,
    Floats,
    Tuning,
    Witness,
    as_pairs,
    choose,
    refresh_due,
)
from ldpkv.tradeoff import TradeoffCurve

Source = Callable[..., Any]
"""Draws pairs: ``source(n, rng=generator)`` returns n of them, in a form that `as_pairs` takes."""

NOT_REJECTED = -1
"""What `run_many` and `stopping_times` give for a repetition that did not reject."""

_DENSITIES, _SIGNED = BinnedKDE(), Tuning()


class Look(NamedTuple):
    """One look at the evidence.

    Parameters
    ----------
    n_samples : int
        Pairs consumed.
    alpha, beta : float
        Observed errors over the scored pairs.
    evidence : float
        See `AuditState`.
    """

    n_samples: int
    alpha: float
    beta: float
    evidence: float


class _Tally(NamedTuple):
    """Sums over scored pairs, of tests that are no longer in force."""

    scored: int = 0
    alpha: int = 0  # pairs with phi(x) = 1
    beta: int = 0  # pairs with phi(y) = 0
    s_alpha: float = 0.0  # sums of s phi(x), s^2 and c(s)
    s_squared: float = 0.0
    supports: float = 0.0


class _Counts(NamedTuple):
    """The same counts for the test in force."""

    scored: Any = 0
    alpha: Any = 0
    beta: Any = 0


@dataclass(frozen=True, eq=False)
class AuditState:
    """Where an audit stands.

    Parameters
    ----------
    n_samples : int
        Pairs consumed. An audit that has rejected or reached its horizon consumes none.
    evidence : float
        At the last look; NaN before the first. Corner: f(alpha bound) - beta bound. Line: distance
        below the supporting line in standard deviations times the boundary's shape.
    threshold : float
        The claim is rejected when the evidence exceeds this: 0 for the corner, q for the line.
    rejected_at : int or None
        Pairs consumed when the claim was rejected.
    witness : Witness or None
        Test in force; when the claim is rejected, the test that refutes it.
    looks : tuple of Look
        All looks so far.
    guarantee : str
        "asymptotic".
    """

    n_samples: int
    evidence: float
    threshold: float
    rejected_at: int | None
    witness: Witness | None
    looks: tuple[Look, ...] = dataclasses.field(repr=False)
    guarantee: str
    x: Floats = dataclasses.field(repr=False)
    y: Floats = dataclasses.field(repr=False)
    checked: int = dataclasses.field(repr=False)
    tally: _Tally = dataclasses.field(repr=False)
    counts: _Counts = dataclasses.field(repr=False)


@dataclass(frozen=True)
class APT:
    """Settings of an audit of one claim on one pair of neighbouring inputs.

    Parameters
    ----------
    claimed : TradeoffCurve
        The claim f.
    level : float
        gamma, in (0, 1/2): the false-alarm rate aimed at.
    classifier : Classifier
        How tests are learned.
    tuning : Tuning
        How their threshold is chosen.
    burn_in : int
        M, pairs before the first test exists.
    check_every : int
        M_2, pairs between looks.
    horizon : int
        Largest number of pairs.
    refresh : float or None
        tau of Algorithm 7: the test is learned again when the bandwidth would shrink by more than
        this share; None keeps the first one.
    side : {"corrected", "published"}
        See `ldpkv.auditing.classifiers.choose`.
    scoring : {"burn-in", "predictable", "rescored"}
        Which test judges a pair. "rescored": the test in force judges all pairs, also those it
        was learned from, as Algorithm 1 says; its errors then look smaller than they are.
        "predictable": a pair is judged by the test that was in force before it; the burn-in by the
        test learned from it. "burn-in": the burn-in is used for learning only; the first look comes
        after M scored pairs.
    look_at_burn_in : bool
        Whether there is a look when M pairs are scored, as in the paper's code.
    decision : {"corner", "line"}
        "corner": both errors' upper bounds together lie below f. "line": ``s alpha + beta`` lies
        below the supporting line c(s), one bound at the full level. A line needs far fewer pairs,
        but has no slack that would hide an error of the approximation: use it with
        ``scoring="burn-in"`` only, and for epsilon or mu of about 0.1: at 1 it exceeds its level.
    critical_value : float, optional
        q; computed for the looks by default.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.

    Notes
    -----
    Both errors' bounds are ``estimate + q sd sqrt(log(20 + k / M) / k)`` for k scored pairs, with
    ``sd = max(sqrt(p (1 - p)), 1 / (2 sqrt k))`` estimated at each look (the paper's code; its
    Algorithm 4 prints p (1 - p)).

    Source: arXiv 2602.06518, Algorithms 1 and 4.
    """

    claimed: TradeoffCurve
    level: float = 0.05
    classifier: Classifier = _DENSITIES
    tuning: Tuning = _SIGNED
    burn_in: int = 50
    check_every: int = 10
    horizon: int = 10_050
    refresh: float | None = 0.1
    side: str = "corrected"
    scoring: str = "burn-in"
    look_at_burn_in: bool = False
    decision: str = "corner"
    critical_value: float | None = None
    guarantee: ClassVar[str] = "asymptotic"

    def __post_init__(self) -> None:
        if not isinstance(self.claimed, TradeoffCurve):
            raise TypeError(f"claimed must be a TradeoffCurve, got {self.claimed!r}")
        _check.probability("level", self.level)
        if not 0 < self.level < 0.5:
            raise ValueError(f"level must be a number in (0, 1/2), got {self.level!r}")
        _check.integer("burn_in", self.burn_in, minimum=2)
        _check.integer("check_every", self.check_every, minimum=1)
        _check.integer("horizon", self.horizon, minimum=self._scored_from + self.burn_in)
        if self.refresh is not None and not 0 < self.refresh < 1:
            raise ValueError(f"refresh must be a number in (0, 1) or None, got {self.refresh!r}")
        _check.one_of("side", self.side, ("corrected", "published"))
        _check.one_of("scoring", self.scoring, ("burn-in", "predictable", "rescored"))
        _check.one_of("decision", self.decision, ("corner", "line"))
        if self.critical_value is not None and not 0 < self.critical_value < math.inf:
            raise ValueError(
                f"critical_value must be a finite number above 0 or None, "
                f"got {self.critical_value!r}"
            )

    @classmethod
    def published(cls, claimed: TradeoffCurve, **changes: Any) -> APT:
        """Choose the settings behind Table 1 and Figures 5 and 8 of the paper.

        The package's kernel densities, thresholds on the wrong side of the ratio, unsigned
        distance, all pairs re-scored, a look at k = M, and the simulated critical value. Figure 6
        was made with ``side="corrected"``.

        Parameters
        ----------
        claimed : TradeoffCurve
            The claim f.
        **changes
            Any other field.
        """
        settings: dict[str, Any] = {
            "classifier": BinnedKDE(published=True),
            "tuning": Tuning(signed=False),
            "side": "published",
            "scoring": "rescored",
            "look_at_burn_in": True,
            "critical_value": boundaries.PUBLISHED_CRITICAL_VALUE,
        }
        return cls(claimed, **(settings | changes))

    @property
    def _scored_from(self) -> int:
        """Pairs consumed before the first one that is scored."""
        return self.burn_in if self.scoring == "burn-in" else 0

    @property
    def _first_look(self) -> int:
        start = self._scored_from + self.burn_in
        return start if self.look_at_burn_in else start + self.check_every

    def q(self) -> float:
        """Critical value in force, at level / 2 for each error or at `level` for a line."""
        if self.critical_value is not None:
            return self.critical_value
        return boundaries.critical_value(
            self.level / 2 if self.decision == "corner" else self.level,
            burn_in=self.burn_in,
            check_every=self.check_every,
            horizon=self.horizon - self._scored_from,
            look_at_burn_in=self.look_at_burn_in,
        )

    def init(self) -> AuditState:
        """State of an audit that has seen nothing."""
        return AuditState(
            n_samples=0,
            evidence=math.nan,
            threshold=0.0 if self.decision == "corner" else self.q(),
            rejected_at=None,
            witness=None,
            looks=(),
            guarantee=self.guarantee,
            x=np.empty(0),
            y=np.empty(0),
            checked=0,
            tally=_Tally(),
            counts=_Counts(),
        )

    def finished(self, state: AuditState) -> bool:
        """Whether the audit has rejected or reached its horizon."""
        return state.rejected_at is not None or state.n_samples >= self.horizon

    def step(self, state: AuditState, pairs: Any) -> AuditState:
        """Consume output pairs.

        Parameters
        ----------
        state : AuditState
            From `init` or an earlier `step` of the same settings; it is not changed.
        pairs : tuple (x, y) or array_like, shape (n, 2)
            Outputs on D and on D'; see `ldpkv.auditing.classifiers.as_pairs`. What comes after a
            rejection or the horizon is left unread.

        Returns
        -------
        AuditState

        Raises
        ------
        ValueError, TypeError
            If the pairs are refused by `as_pairs`.
        """
        x, y = as_pairs(pairs)
        taken = 0
        while taken < len(x) and not self.finished(state):
            check = max(self.burn_in, state.checked + self.check_every)
            more = min(check, self.horizon) - state.n_samples
            state = dataclasses.replace(
                state,
                x=np.concatenate([state.x, x[taken : taken + more]]),
                y=np.concatenate([state.y, y[taken : taken + more]]),
            )
            taken += more
            state = dataclasses.replace(state, n_samples=len(state.x))
            if state.n_samples == check:
                state = self._check(state)
        return state

    def _check(self, state: AuditState) -> AuditState:
        """Learn, score and look, at a moment of the schedule."""
        n, tally, counts, witness = state.n_samples, state.tally, state.counts, state.witness
        if witness is None:
            witness = self._learn(state.x, state.y)
            if self.scoring != "burn-in":
                counts = _score(witness, state.x, state.y)
        else:
            due = self.refresh is not None and refresh_due(n, witness.fitted_on, self.refresh)
            if due and self.scoring == "rescored":
                witness = self._learn(state.x, state.y)
                counts = _score(witness, state.x, state.y)
            else:
                new = _score(witness, state.x[state.checked :], state.y[state.checked :])
                counts = _Counts(*(a + b for a, b in zip(counts, new, strict=True)))
        evidence, looks, rejected = state.evidence, state.looks, None
        if n >= self._first_look:
            alpha, beta, strength = self._evidence(witness, tally, counts)
            evidence = float(strength)
            looks = (*looks, Look(n, float(alpha), float(beta), evidence))
            if evidence > state.threshold:
                rejected = n
        if self.scoring != "rescored" and rejected is None and self.refresh is not None:
            if refresh_due(n, witness.fitted_on, self.refresh):
                tally, counts = self._retired(witness, tally, counts), _Counts()
                witness = self._learn(state.x, state.y)
        return dataclasses.replace(
            state,
            evidence=evidence,
            rejected_at=rejected,
            witness=witness,
            looks=looks,
            checked=n,
            tally=tally,
            counts=counts,
        )

    def _learn(self, x: Floats, y: Floats) -> Witness:
        fit = self.classifier.fit(x, y, self.tuning)
        return choose(fit, self.claimed, self.tuning, side=self.side, decision=self.decision)

    def _retired(self, witness: Witness, tally: _Tally, counts: _Counts) -> _Tally:
        """Tally with the counts of a test that leaves the force."""
        return _Tally(*(part.item() for part in self._totals(witness, tally, counts)))

    def _totals(self, witness: Witness, tally: _Tally, counts: _Counts) -> tuple[Any, ...]:
        scored, alpha, beta = (np.asarray(part) for part in counts)
        s = witness.slope
        # Sums, not running means: the same numbers come out for one look or a thousand.
        line: tuple[Any, ...] = (0.0 * alpha, 0.0 * alpha, 0.0 * alpha)
        if self.decision == "line":
            support = self.claimed.support(s)
            line = (s * alpha, s * s * scored, support * scored)
        sums = (scored, alpha, beta, *line)
        return tuple(np.asarray(old + new) for old, new in zip(tally, sums, strict=True))

    def _evidence(self, witness: Witness, tally: _Tally, counts: _Counts) -> tuple[Any, Any, Any]:
        """Observed errors and evidence, elementwise over looks with one witness."""
        scored, alpha, beta, s_alpha, s_squared, supports = self._totals(witness, tally, counts)
        p, r = alpha / scored, beta / scored
        least = 0.5 / np.sqrt(scored)
        sd_p = np.maximum(np.sqrt(p * (1 - p)), least)
        sd_r = np.maximum(np.sqrt(r * (1 - r)), least)
        b = boundaries.margin(scored, self.burn_in)
        if self.decision == "corner":
            q = self.q()
            bound_p = np.minimum(p + q * sd_p * b, 1.0)
            bound_r = np.minimum(r + q * sd_r * b, 1.0)
            return p, r, np.asarray(self.claimed(bound_p)) - bound_r
        spread = np.sqrt(s_squared / scored * sd_p**2 + sd_r**2)
        return p, r, (supports / scored - s_alpha / scored - r) / (spread * b)

    def explain(self, state: AuditState) -> str:
        """Say what the state means, and what it does not.

        Parameters
        ----------
        state : AuditState
            Of these settings.

        Returns
        -------
        str
            A few sentences.
        """
        caveat = f"The false-alarm rate of {self.level:g} is asymptotic, not exact" + (
            "; with scoring='rescored' it can be several times larger, because a test is "
            "judged on the data it was learned from."
            if self.scoring == "rescored"
            else "."
        )
        if state.rejected_at is not None and state.witness is not None:
            last = state.looks[-1]
            return (
                f"Rejected after {state.rejected_at} pairs: this pair of inputs refutes the claim "
                f"{self.claimed!r}. Witness: {state.witness.name}, fitted on "
                f"{state.witness.fitted_on} pairs; {state.witness.orientation}. Observed errors: "
                f"alpha = {last.alpha:.4g}, beta = {last.beta:.4g}. {caveat}"
            )
        return (
            f"Not rejected after {state.n_samples} pairs. This is no evidence that the claim "
            f"{self.claimed!r} holds: the tests tried, on this one pair of inputs, found no "
            "violation large enough for this sample size. Other inputs, other tests or more "
            f"pairs may. {caveat}"
        )


def audit(
    settings: APT,
    source: Source | tuple[Any, Any] | Any,
    *,
    rng: np.random.Generator | int | None = None,
    state: AuditState | None = None,
    chunk: int = 500,
    max_pairs: int | None = None,
) -> AuditState:
    """Audit until rejection, the horizon, or the end of the data.

    Parameters
    ----------
    settings : APT
        What to audit and how.
    source : callable or array_like
        ``source(n, rng=generator)`` draws n pairs; or the pairs themselves.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`, then to a callable source.
    state : AuditState, optional
        Where to resume.
    chunk : int, default 500
        Pairs asked of a callable at a time.
    max_pairs : int, optional
        Stop after so many more pairs.

    Returns
    -------
    AuditState

    Raises
    ------
    ValueError, TypeError
        If pairs are refused, or `chunk` or `max_pairs` is not at least 1.
    """
    _check.integer("chunk", chunk, minimum=1)
    left = settings.horizon
    if max_pairs is not None:
        left = min(left, _check.integer("max_pairs", max_pairs, minimum=1))
    now = settings.init() if state is None else state
    if not callable(source):
        x, y = as_pairs(source)
        return settings.step(now, (x[:left], y[:left]))
    generator = np.random.default_rng(rng)
    while left > 0 and not settings.finished(now):
        size = min(chunk, left, settings.horizon - now.n_samples)
        now = settings.step(now, as_pairs(source(size, rng=generator)))
        left -= size
    return now


@dataclass(frozen=True, eq=False)
class Path:
    """Evidence of one audit at every look, also after the first rejection.

    Parameters
    ----------
    n_samples : ndarray of int64, shape (k,)
        Pairs consumed at each look.
    alpha, beta, evidence : ndarray of float64, shape (k,)
        As in `Look`.
    threshold : float
        As in `AuditState`.
    """

    n_samples: NDArray[np.int64]
    alpha: Floats
    beta: Floats
    evidence: Floats
    threshold: float

    @property
    def rejected_at(self) -> int:
        """Pairs at the first rejection, or `NOT_REJECTED`."""
        hits = np.flatnonzero(self.evidence > self.threshold)
        return int(self.n_samples[hits[0]]) if len(hits) else NOT_REJECTED


def path(settings: APT, pairs: Any, *, stop: bool = False) -> Path:
    """Evidence at every look, by the vectorised twin of `APT.step`.

    Parameters
    ----------
    settings : APT
        What to audit and how.
    pairs : tuple (x, y) or array_like, shape (n, 2)
        Outputs; see `ldpkv.auditing.classifiers.as_pairs`.
    stop : bool, default False
        Whether to end soon after the first rejection.

    Returns
    -------
    Path
        Up to its first rejection the same as the looks of `APT.step`.
    """
    x, y = as_pairs(pairs)
    return _path(settings, lambda n: (x, y), min(len(x), settings.horizon), stop)


def run_many(
    settings: APT,
    source: Source,
    *,
    repeats: int,
    rng: np.random.Generator | int | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Repeat an audit on fresh pairs.

    Parameters
    ----------
    settings : APT
        What to audit and how.
    source : callable
        ``source(n, rng=generator)`` draws n pairs.
    repeats : int
        Number of repetitions, at least 1; each has its own spawned generator.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`.
    n_jobs : int, optional
        Passed to `joblib.Parallel`; results do not depend on it.

    Returns
    -------
    ndarray of int64, shape (repeats,)
        Pairs at rejection, or `NOT_REJECTED`.
    """
    # q is solved here once, not in every worker.
    settings = dataclasses.replace(settings, critical_value=settings.q())
    return in_blocks(_stops, settings, source, repeats=repeats, rng=rng, n_jobs=n_jobs)


def in_blocks(
    stops: Callable[..., list[int]],
    settings: Any,
    source: Source,
    *,
    repeats: int,
    rng: np.random.Generator | int | None,
    n_jobs: int | None,
) -> NDArray[np.int64]:
    """Repeat an audit of any kind, a block of spawned generators at a time.

    Parameters
    ----------
    stops : callable
        ``stops(settings, source, generators)`` gives a stopping time for each generator.
    settings, source, repeats, rng, n_jobs
        As in `run_many`.

    Returns
    -------
    ndarray of int64, shape (repeats,)
        Does not depend on the blocks.
    """
    _check.integer("repeats", repeats, minimum=1)
    generators = np.random.default_rng(rng).spawn(repeats)
    size = max(1, min(100, -(-repeats // 16)))
    blocks = [generators[i : i + size] for i in range(0, repeats, size)]
    work = (joblib.delayed(stops)(settings, source, block) for block in blocks)
    return np.concatenate(joblib.Parallel(n_jobs=n_jobs)(work)).astype(np.int64)


def stopping_times(settings: APT, x: Any, y: Any) -> NDArray[np.int64]:
    """Give the stopping time of each row of outputs.

    Parameters
    ----------
    settings : APT
        What to audit and how.
    x, y : array_like of float, shape (repeats, n)
        Outputs on D and on D'.

    Returns
    -------
    ndarray of int64, shape (repeats,)
        Pairs at rejection, or `NOT_REJECTED`.
    """
    rows = zip(np.atleast_2d(x), np.atleast_2d(y), strict=True)
    return np.array([path(settings, row, stop=True).rejected_at for row in rows], dtype=np.int64)


def fixed_test_stops(
    settings: APT,
    alpha: float,
    beta: float,
    *,
    repeats: int,
    slope: float = math.nan,
    rng: np.random.Generator | int | None = None,
) -> NDArray[np.int64]:
    """Stop an audit whose test never changes, from its two error probabilities alone.

    Parameters
    ----------
    settings : APT
        Boundary, looks and decision; classifier and scoring play no part, every pair is scored.
    alpha, beta : float
        True errors of the test.
    repeats : int
        Number of repetitions, at least 1.
    slope : float
        s of the line, for ``decision="line"``.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`.

    Returns
    -------
    ndarray of int64, shape (repeats,)
        Pairs at rejection, or `NOT_REJECTED`.

    Notes
    -----
    Error counts between two looks are binomial, so a repetition costs one draw for each look.

    Source: arXiv 2602.06518, Theorem 3.1.
    """
    _check.probability("alpha", alpha)
    _check.probability("beta", beta)
    _check.integer("repeats", repeats, minimum=1)
    if settings.decision == "line" and not slope > 0:
        raise ValueError(f"slope must be above 0 for decision='line', got {slope!r}")
    settings = dataclasses.replace(settings, scoring="rescored")
    times = np.arange(settings.burn_in, settings.horizon + 1, settings.check_every)
    steps = np.diff(times, prepend=0)
    witness = Witness("fixed", lambda z: z, 0.0, False, alpha, beta, slope, 0)
    threshold = settings.init().threshold
    generator = np.random.default_rng(rng)
    stops = np.empty(repeats, dtype=np.int64)
    block = max(1, 1_000_000 // len(times))
    for start in range(0, repeats, block):
        size = min(block, repeats - start)
        hits, misses = (
            np.cumsum(generator.binomial(steps, rate, (size, len(times))), axis=1)
            for rate in (alpha, beta)
        )
        counts = _Counts(np.broadcast_to(times, hits.shape), hits, misses)
        *_, evidence = settings._evidence(witness, _Tally(), counts)
        rejected = (evidence > threshold) & (times >= settings._first_look)
        first = times[np.argmax(rejected, axis=1)]
        stops[start : start + size] = np.where(rejected.any(axis=1), first, NOT_REJECTED)
    return stops


def limit_on_the_curve(
    curve: TradeoffCurve, alpha: float, *, level: float = 0.05, slope: float | None = None
) -> float:
    """Limit for large burn-in of the chance that APT rejects a test exactly on f.

    Parameters
    ----------
    curve : TradeoffCurve
        The claim f.
    alpha : float
        Error of the test, with alpha and f(alpha), the other error, in (0, 1).
    level : float
        gamma.
    slope : float, optional
        Slope of f at alpha, below 0. At a kink the claim is broken below either of two lines, and
        the limit is at most the sum of the values for both slopes; the right one is the default.

    Returns
    -------
    float
        Accurate to about 1e-6.

    Raises
    ------
    ValueError
        If alpha or f(alpha) is 0 or 1.

    Notes
    -----
    Near the point f is its tangent of slope -s. Both errors' processes are independent with the
    law of one process w, so that ``s sd_a w_a + sd_b w_b`` has the law of ``sqrt(s^2 sd_a^2 +
    sd_b^2) w``: the corner rule crosses like one w with the constant q multiplied by ``(s sd_a +
    sd_b) / sqrt(s^2 sd_a^2 + sd_b^2)``, which lies between 1 and sqrt(2). Hence the limit is below
    gamma / 2; Theorem 3.1(b) of arXiv 2602.06518 says gamma.
    """
    beta = float(curve(alpha))
    if not (0 < alpha < 1 and 0 < beta < 1):
        raise ValueError(f"alpha and f(alpha) must lie in (0, 1), got {alpha!r} and {beta!r}")
    steep = float(curve.slope(alpha)) if slope is None else slope
    first = -steep * math.sqrt(alpha * (1 - alpha))
    second = math.sqrt(beta * (1 - beta))
    q = boundaries.continuous_critical_value(level / 2)
    factor = (first + second) / math.hypot(first, second)
    return boundaries.continuous_crossing_probability(q * factor)


def _stops(settings: APT, source: Source, generators: list[np.random.Generator]) -> list[int]:
    return [
        _path(settings, _Drawn(source, g).upto, settings.horizon, True).rejected_at
        for g in generators
    ]


class _Drawn:
    """Pairs of one repetition, drawn when they are needed and kept."""

    def __init__(self, source: Source, rng: np.random.Generator) -> None:
        self._source, self._rng = source, rng
        self._x, self._y = np.empty(0), np.empty(0)

    def upto(self, n: int) -> tuple[Floats, Floats]:
        if n > len(self._x):
            x, y = as_pairs(self._source(n - len(self._x), rng=self._rng))
            self._x, self._y = np.concatenate([self._x, x]), np.concatenate([self._y, y])
        return self._x, self._y


def _path(
    settings: APT, upto: Callable[[int], tuple[Floats, Floats]], last: int, stop: bool
) -> Path:
    """Go from one fit to the next; between them the looks are cumulative sums."""
    threshold = settings.init().threshold
    checks = np.arange(settings.burn_in, last + 1, settings.check_every)
    rescored = settings.scoring == "rescored"
    parts: list[tuple[Any, ...]] = []
    tally = _Tally()
    now = 0  # index of the check at which the witness is learned
    while now < len(checks):
        fitted = int(checks[now])
        later = now + 1
        while later < len(checks) and not (
            settings.refresh is not None
            and refresh_due(int(checks[later]), fitted, settings.refresh)
        ):
            later += 1
        # Rescored tests are replaced before the look at which that is due, others after it.
        end = later if rescored else min(later + 1, len(checks))
        x, y = upto(int(checks[end - 1]))
        witness = settings._learn(x[:fitted], y[:fitted])
        from_start = rescored or (now == 0 and settings.scoring == "predictable")
        start = 0 if from_start else fitted
        span = slice(start, int(checks[end - 1]))
        hits, misses = witness(x[span]), ~witness(y[span])
        at = checks[now if from_start else now + 1 : end]
        counts = _Counts(
            at - start,
            np.cumsum(hits, dtype=np.int64)[at - start - 1],
            np.cumsum(misses, dtype=np.int64)[at - start - 1],
        )
        seen = at >= settings._first_look
        if seen.any():
            chosen = _Counts(*(part[seen] for part in counts))
            look = (at[seen], *settings._evidence(witness, tally, chosen))
            parts.append(look)
            if stop and np.any(look[3] > threshold):
                break
        if not rescored and len(at):
            tally = settings._retired(witness, tally, _Counts(*(part[-1] for part in counts)))
        now = later
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.empty(0)] * 4
    return Path(columns[0].astype(np.int64), columns[1], columns[2], columns[3], threshold)


def _score(witness: Witness, x: Floats, y: Floats) -> _Counts:
    return _Counts(len(x), int(witness(x).sum()), int((~witness(y)).sum()))
