"""An auditor with an exact guarantee: it bets against the claim and rejects when it is rich.

A claim f bounds every test phi on every supporting line: ``s E_P phi + 1 - E_Q phi >= c(s)``, with
``c(s)`` from `TradeoffCurve.support`. So the *asset* with the return

    R(x, y) = (phi(y) + s (1 - phi(x))) / (1 + s - c(s)) >= 0

on a pair of outputs has an expectation of at most 1 under the claim, whatever phi. The auditor
starts with wealth 1 and spreads it over assets and cash before each pair. If the claim holds,
wealth is a nonnegative supermartingale, and by Ville's inequality it ever reaches 1 / level with
probability at most `level`: at any stopping time, for any number of pairs, however the tests are
learned from earlier pairs. A test is fixed before the outputs it bets on, and looks at each of them
by itself (`ldpkv.auditing.learners.Learner`). Only the marginal laws of x and y given the past
matter, so the two outputs of a pair may depend on each other.

`Betting` holds the settings; `Betting.init` and `Betting.step` are pure, as in
`ldpkv.auditing.apt`. `audit` drives it, `run_many` repeats it, `LowerBound` turns it into a bound
on mu or epsilon that holds at all times at once.

Source: the project's own. Ville (1939); Shafer, "Testing by betting" (2021); Waudby-Smith and
Ramdas, "Estimating means of bounded random variables by betting" (2024).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numba
import numpy as np
from numpy.typing import NDArray

from ldpkv import _check
from ldpkv.auditing.apt import NOT_REJECTED, Source, in_blocks
from ldpkv.auditing.classifiers import Floats, Score, as_pairs
from ldpkv.auditing.learners import CommonShape, Densities, Learner, Normal
from ldpkv.tradeoff import TradeoffCurve

_ULP = float(np.finfo(np.float64).eps)
# Cells of equal count that stand for the law of a score when the portfolio is chosen.
_CELLS = 24
# Steps of the portfolio's optimisation; more would follow the noise of the estimate.
_STEPS = 40
# Power of the factors in the portfolio's optimisation.
_HASTE = 4.0
# Share of a portfolio that is spread evenly again at each fit.
_RENEWED = 0.1
# Latest outputs of either side that the cells are made of.
_RECENT = 10_000
_NO_HORIZON = 2**62
# Smaller ones would make 1 / level infinite.
_SMALLEST_LEVEL = 1e-300
# How far a score may move when the outputs beside it change: rounding, also of 32-bit networks.
_SAME_SCORE = 1e-3
# With few slopes, thresholds beside log s too.
_SHIFTS = (-0.4, 0.0, 0.4)

_DEFAULT: tuple[Learner, ...] = (Normal(), CommonShape(), Densities())


@dataclass(frozen=True, eq=False)
class Witness:
    """The asset that earned most, in words an auditor can repeat.

    Parameters
    ----------
    learner : str
        Name of the learner whose score it uses.
    slope : float
        s of its supporting line.
    threshold : float
        phi is 1/2 where the score, an estimate of log(q / p), equals this.
    softness : float
        phi rises from 0 to 1 while the score rises from threshold - softness to threshold +
        softness.
    score : callable
        The score.
    wealth_share : float
        Share of the wealth that the learner earned, in [0, 1].
    """

    learner: str
    slope: float
    threshold: float
    softness: float
    score: Score = dataclasses.field(repr=False)
    wealth_share: float

    def __call__(self, outputs: Floats) -> Floats:
        """Degree of deciding Q, in [0, 1], for each output."""
        return np.clip(0.5 + (self.score(outputs) - self.threshold) / (2 * self.softness), 0, 1)


@dataclass(frozen=True, eq=False)
class BettingState:
    """Where an audit stands.

    Parameters
    ----------
    n_samples : int
        Pairs consumed (observations, for coin flips).
    evidence : float
        Log of the wealth; starts at 0.
    peak : float
        Largest evidence so far; ``exp(-peak)`` is a p-value that is valid at any time.
    threshold : float
        log(1 / level): the claim is rejected when the evidence reaches it.
    rejected_at : int or None
        Pairs consumed when the claim was rejected.
    guarantee : str
        "anytime".
    """

    n_samples: int
    evidence: float
    peak: float
    threshold: float
    rejected_at: int | None
    guarantee: str
    x: Floats = dataclasses.field(repr=False)
    y: Floats = dataclasses.field(repr=False)
    wealth: Floats = dataclasses.field(repr=False)  # of learner, optimism, stake
    bets: _Bets | None = dataclasses.field(repr=False)
    next_fit: int = dataclasses.field(repr=False)

    @property
    def p_value(self) -> float:
        """Anytime-valid p-value of the claim, in [0, 1]."""
        return min(1.0, math.exp(-self.peak))


@dataclass(frozen=True, eq=False)
class _Bets:
    """Scores and portfolios in force until the next fit."""

    scores: tuple[Score, ...]
    weights: Floats  # of learner, optimism, asset


@dataclass(frozen=True)
class Betting:
    """Settings of an audit of one claim on one pair of neighbouring inputs.

    Parameters
    ----------
    claimed : TradeoffCurve
        The claim f.
    level : float
        In (0, 1): the probability of ever rejecting a claim that holds is at most this.
    learners : tuple of Learner
        Each runs its own accounts and starts with its share, `Learner.capital`, of the wealth.
    form : {"pairs", "coins"}
        "pairs": each observation is one output of either law. "coins": it is one output and a
        fair coin that says from which law, 0 for P and 1 for Q, as in audits of one run. There
        each output must follow P or Q by its own coin, given what came before: an assumption that
        scores which tell about other canaries' coins would break.
    horizon : int
        Largest number of pairs. The guarantee does not depend on it.
    slopes : tuple of float, optional
        Slopes s of the supporting lines; by default the claim's own pieces, or nine between its
        tangents at alpha = 0.02 and 0.98.
    softness : tuple of float
        Half-widths w of the tests: phi rises linearly from 0 to 1 while the score rises from
        log s - w to log s + w.
    optimism : tuple of float
        Portfolios are those that grow fastest when the estimated log-ratio is multiplied by
        ``1 + optimism / sqrt(n)`` after n pairs: a timid estimate would see no violation to bet
        on, and a bold one would bet too much on a small violation later.
    stakes : tuple of float in (0, 1]
        Shares of an account that are put into its portfolio; the rest is cash.
    first_bet : int
        Pairs before the first bet, at least 2.
    growth : float
        Learners and portfolios are renewed each time the number of pairs has grown by this share.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.

    Notes
    -----
    The defaults were chosen on the project's own runs and then frozen; the numbers in the book come
    from other seeds.
    """

    claimed: TradeoffCurve
    level: float = 0.05
    learners: tuple[Learner, ...] = _DEFAULT
    form: str = "pairs"
    horizon: int = 10_050
    slopes: tuple[float, ...] | None = None
    softness: tuple[float, ...] = (0.1, 0.5, 1.5)
    optimism: tuple[float, ...] = (6.0,)
    stakes: tuple[float, ...] = (0.5, 1.0)
    first_bet: int = 6
    growth: float = 0.1
    guarantee: ClassVar[str] = "anytime"

    def __post_init__(self) -> None:
        if not isinstance(self.claimed, TradeoffCurve):
            raise TypeError(f"claimed must be a TradeoffCurve, got {self.claimed!r}")
        if not _SMALLEST_LEVEL <= self.level < 1:
            raise ValueError(
                f"level must be a number in [{_SMALLEST_LEVEL:g}, 1), got {self.level!r}"
            )
        if not self.learners or not all(hasattr(learner, "fit") for learner in self.learners):
            raise TypeError(f"learners must be a tuple of at least one, got {self.learners!r}")
        for learner in self.learners:
            if not 0 < learner.capital < math.inf:
                raise ValueError(
                    f"learners must have a finite capital above 0, got {learner.capital!r} of "
                    f"{learner.name!r}"
                )
        _check.one_of("form", self.form, ("pairs", "coins"))
        if not 0 < self.growth <= 1:
            raise ValueError(f"growth must be a number in (0, 1], got {self.growth!r}")
        plain: dict[str, Any] = {
            "level": float(self.level),
            "horizon": _check.integer("horizon", self.horizon, minimum=1),
            "first_bet": _check.integer("first_bet", self.first_bet, minimum=2),
            "growth": float(self.growth),
            "softness": _all_within("softness", self.softness, math.inf),
            "optimism": _all_within("optimism", self.optimism, math.inf),
            "stakes": _all_within("stakes", self.stakes, 1.0),
        }
        if self.slopes is not None:
            plain["slopes"] = _all_within("slopes", self.slopes, math.inf)
        for name, value in plain.items():
            object.__setattr__(self, name, value)

    def init(self) -> BettingState:
        """State of an audit that has seen nothing."""
        return BettingState(
            n_samples=0,
            evidence=0.0,
            peak=0.0,
            threshold=math.log(1 / self.level),
            rejected_at=None,
            guarantee=self.guarantee,
            x=np.empty(0),
            y=np.empty(0),
            wealth=self._capital(),
            bets=None,
            next_fit=self.first_bet,
        )

    def _capital(self) -> Floats:
        """What each account starts with: 1 on average, in the proportions learners ask for."""
        share = np.array([float(learner.capital) for learner in self.learners])
        accounts = np.ones((len(share), len(self.optimism), len(self.stakes)))
        return accounts * (share / share.mean())[:, None, None]

    def finished(self, state: BettingState) -> bool:
        """Whether the audit has rejected or reached its horizon."""
        return state.rejected_at is not None or state.n_samples >= self.horizon

    def step(self, state: BettingState, observations: Any) -> BettingState:
        """Consume observations.

        Parameters
        ----------
        state : BettingState
            From `init` or an earlier `step` of the same settings; it is not changed.
        observations : tuple (x, y) or array_like, shape (n, 2)
            Outputs on D and on D'; numbers, or vectors of shape (n, k) where every learner takes
            them. For coin flips ``(outputs, coins)``. What comes after a rejection or the horizon
            is left unread.

        Returns
        -------
        BettingState

        Raises
        ------
        ValueError, TypeError
            If the observations are not such outputs, or a coin is not 0 or 1.
        """
        return self._run(state, observations, None)[0]

    def explain(self, state: BettingState) -> str:
        """Say what the outcome means, and what it does not mean.

        Parameters
        ----------
        state : BettingState
            After any number of pairs.

        Returns
        -------
        str
            A few sentences.
        """
        what = "pairs" if self.form == "pairs" else "observations"
        if state.rejected_at is not None:
            witness = self.witness(state)
            return (
                f"Rejected after {state.rejected_at} {what}: this pair of inputs refutes the claim "
                f"{self.claimed!r}. If the claim held, this would happen with probability at most "
                f"{self.level:g}, whenever one looks. Most was earned by the learner "
                f"'{witness.learner}', on the supporting line of slope {witness.slope:.4g}."
            )
        return (
            f"Not rejected after {state.n_samples} {what} (p-value {state.p_value:.3g}). This is "
            f"no evidence that the claim {self.claimed!r} holds: the bets tried, on this one pair "
            "of inputs, earned too little. Other inputs, other learners or more pairs may earn "
            "more."
        )

    def witness(self, state: BettingState) -> Witness:
        """Name the asset with the largest weight in the richest account.

        Parameters
        ----------
        state : BettingState
            After the first bet.

        Raises
        ------
        ValueError
            If there was no bet yet.
        """
        if state.bets is None:
            raise ValueError(f"state must be later than the first bet, got {state.n_samples} pairs")
        assets = _assets(self)
        learner, optimism, _ = np.unravel_index(int(np.argmax(state.wealth)), state.wealth.shape)
        asset = int(np.argmax(state.bets.weights[learner, optimism]))
        return Witness(
            learner=self.learners[learner].name,
            slope=float(assets.slope[asset]),
            threshold=float(assets.threshold[asset]),
            softness=float(assets.softness[asset]),
            score=state.bets.scores[learner],
            wealth_share=float(state.wealth[learner].sum() / state.wealth.sum()),
        )

    def _run(
        self, state: BettingState, observations: Any, shared: dict[int, tuple[Score, ...]] | None
    ) -> tuple[BettingState, Floats]:
        """Consume observations; give the evidence after each one too."""
        first, second = self._read(observations)
        coins = second if self.form == "coins" else None
        left = self.horizon - state.n_samples if state.rejected_at is None else 0
        first, second = first[:left], second[:left]
        assets = _assets(self)
        start, taken, wealth, evidence = state.n_samples, 0, state.wealth, []
        x, y = _grown(state, first, second, self.form)
        bets, next_fit = state.bets, state.next_fit
        rejected_at = None
        while taken < len(first) and rejected_at is None:
            n = start + taken
            if n == next_fit:
                past = (n, n)
                if coins is not None:
                    seen = int((coins[:taken] == 1).sum())
                    past = (len(state.x) + taken - seen, len(state.y) + seen)
                bets = self._learn(x[: past[0]], y[: past[1]], bets, shared)
                next_fit = max(n + 1, int(n * (1 + self.growth)))
            end = min(len(first), next_fit - start)
            a, b = first[taken:end], second[taken:end]
            if bets is None:
                log_wealth, used = np.full(end - taken, _log_mean(wealth)), end - taken
                crossed = False
            else:
                scores = [_scored(score, a) for score in bets.scores]
                other = [_scored(s, b) for s in bets.scores] if coins is None else [b] * len(scores)
                wealth, log_wealth, used, crossed = _bet(
                    np.array(scores),
                    np.array(other),
                    coins is not None,
                    assets.arrays(self.form),
                    bets.weights,
                    np.array(self.stakes),
                    wealth.copy(),
                    1 / self.level,
                )
            evidence.append(log_wealth[:used])
            taken += used
            if crossed:
                rejected_at = start + taken
        path = np.concatenate(evidence) if evidence else np.empty(0)
        if taken == 0:
            return state, path
        kept = (start + taken, start + taken)
        if coins is not None:
            seen = int((coins[:taken] == 1).sum())
            kept = (len(state.x) + taken - seen, len(state.y) + seen)
        new = dataclasses.replace(
            state,
            n_samples=start + taken,
            evidence=float(path[-1]),
            peak=max(state.peak, float(path.max())),
            rejected_at=rejected_at,
            x=x[: kept[0]],
            y=y[: kept[1]],
            wealth=wealth,
            bets=bets,
            next_fit=next_fit,
        )
        return new, path

    def _read(self, observations: Any) -> tuple[Floats, Floats]:
        vectors = all(learner.vectors for learner in self.learners)
        if self.form == "coins":
            if not (isinstance(observations, tuple) and len(observations) == 2):
                raise TypeError("observations must be a tuple (outputs, coins)")
            outputs, coins = observations
            given = np.asarray(coins)
            if given.ndim != 1 or not np.isin(given, (0, 1)).all():
                raise ValueError("coins must be a sequence of 0 and 1")
            given = given.astype(np.float64)
            if vectors and np.ndim(outputs) == 2:
                return _vectors("outputs", outputs, len(given)), given
            return as_pairs((outputs, given))
        if vectors and isinstance(observations, tuple) and np.ndim(observations[0]) == 2:
            x = _vectors("x", observations[0], None)
            return x, _vectors("y", observations[1], len(x))
        return as_pairs(observations)

    def _learn(
        self,
        x: Floats,
        y: Floats,
        before: _Bets | None,
        shared: dict[int, tuple[Score, ...]] | None,
    ) -> _Bets | None:
        """Renew scores and portfolios from all past observations."""
        if min(len(x), len(y)) < 2:
            return None
        n = len(x) + len(y)
        scores = None if shared is None else shared.get(n)
        if scores is None:
            # Copies: a view would hand the learner the rest of the block, which is the future.
            seen = _frozen(x.copy()), _frozen(y.copy())
            scores = tuple(learner.fit(*seen) for learner in self.learners)
            if shared is not None:
                shared[n] = scores
        assets = _assets(self)
        weights = np.empty((len(scores), len(self.optimism), len(assets.slope)))
        # The way to the optimum is long where gains are small: it goes on from fit to fit.
        even = 1 / (len(assets.slope) + 1)
        start = np.full_like(weights, even)
        if before is not None:
            start = (1 - _RENEWED) * before.weights + _RENEWED * even
        recent = np.concatenate([x[-_RECENT:], y[-_RECENT:]])
        for i, score in enumerate(scores):
            cells, mass = _cells(np.sort(_scored(score, recent)))
            for k, optimism in enumerate(self.optimism):
                factor = 1 + optimism / math.sqrt(n / 2)
                weights[i, k] = _portfolio(
                    cells,
                    mass,
                    factor,
                    self.form == "coins",
                    assets.arrays(self.form),
                    start[i, k],
                    _STEPS,
                )
        return _Bets(scores, weights)


def audit(
    settings: Betting,
    source: Source | tuple[Any, Any] | Any,
    *,
    rng: np.random.Generator | int | None = None,
    state: BettingState | None = None,
    chunk: int = 500,
    max_pairs: int | None = None,
) -> BettingState:
    """Audit until rejection, the horizon, or the end of the data.

    Parameters
    ----------
    settings : Betting
        What to audit and how.
    source : callable or array_like
        ``source(n, rng=generator)`` draws n observations; or the observations themselves.
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`, then to a callable source.
    state : BettingState, optional
        Where to resume.
    chunk : int, default 500
        Observations asked of a callable at a time.
    max_pairs : int, optional
        Stop after so many more.

    Returns
    -------
    BettingState

    Raises
    ------
    ValueError, TypeError
        If observations are refused, or `chunk` or `max_pairs` is not at least 1.
    """
    _check.integer("chunk", chunk, minimum=1)
    left = settings.horizon
    if max_pairs is not None:
        left = min(left, _check.integer("max_pairs", max_pairs, minimum=1))
    now = settings.init() if state is None else state
    if not callable(source):
        first, second = settings._read(source)
        return settings.step(now, (first[:left], second[:left]))
    generator = np.random.default_rng(rng)
    while left > 0 and not settings.finished(now):
        size = min(chunk, left, settings.horizon - now.n_samples)
        now = settings.step(now, source(size, rng=generator))
        left -= size
    return now


def path(settings: Betting, observations: Any) -> Floats:
    """Evidence after every observation, up to rejection or the horizon.

    Parameters
    ----------
    settings : Betting
        What to audit and how.
    observations : tuple (x, y) or array_like, shape (n, 2)
        As in `Betting.step`.

    Returns
    -------
    ndarray of float64, shape (number consumed,)
        Log of the wealth.
    """
    return settings._run(settings.init(), observations, None)[1]


def exact_rejection(
    settings: Betting, law_p: Any, law_q: Any, outputs: Any, *, depth: int
) -> Floats:
    """Probability of having rejected after 1, 2, ..., `depth` pairs, without simulation.

    All histories are followed; those that leave the auditor in one state are followed together.
    The number of states grows fast: for two outputs and ``growth=1`` it is a few thousand after
    eight pairs.

    Parameters
    ----------
    settings : Betting
        With ``form="pairs"`` and learners that do not mind the order of the outputs.
    law_p, law_q : array_like of float, shape (k,)
        Probabilities of the outputs under P and under Q.
    outputs : array_like of float, shape (k,)
        Distinct numbers.
    depth : int
        At least 1.

    Returns
    -------
    ndarray of float64, shape (depth,)
        Rising; exact up to rounding.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.
    """
    _check.integer("depth", depth, minimum=1)
    _check.one_of("form", settings.form, ("pairs",))
    p, q, values = (np.asarray(v, dtype=np.float64) for v in (law_p, law_q, outputs))
    for name, law in (("law_p", p), ("law_q", q)):
        if law.shape != values.shape or not (law >= 0).all() or abs(law.sum() - 1) > 1e-9:
            raise ValueError(f"{name} must hold a probability for each output, got {law!r}")
    nodes: dict[Any, tuple[BettingState, float]] = {None: (settings.init(), 1.0)}
    rejected = np.zeros(depth)
    for now in range(depth):
        later: dict[Any, tuple[BettingState, float]] = {}
        for state, chance in nodes.values():
            for i, j in itertools.product(np.flatnonzero(p), np.flatnonzero(q)):
                weight = chance * p[i] * q[j]
                child = settings.step(state, (values[[i]], values[[j]]))
                if child.rejected_at is not None:
                    rejected[now] += weight
                    continue
                key = (
                    np.round(np.log(np.maximum(child.wealth, 1e-300)), 9).tobytes(),
                    None if child.bets is None else _betting_on(child.bets, values),
                    np.sort(child.x).tobytes(),
                    np.sort(child.y).tobytes(),
                )
                same, before = later.get(key, (child, 0.0))
                later[key] = (same, before + weight)
        nodes = later
    return np.cumsum(rejected)


def run_many(
    settings: Betting,
    source: Source,
    *,
    repeats: int,
    rng: np.random.Generator | int | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Repeat an audit on fresh observations.

    Parameters
    ----------
    settings : Betting
        What to audit and how.
    source : callable
        ``source(n, rng=generator)`` draws n observations.
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
    return in_blocks(_stops, settings, source, repeats=repeats, rng=rng, n_jobs=n_jobs)


@dataclass(frozen=True, eq=False)
class BoundState:
    """Where a confidence sequence stands.

    Parameters
    ----------
    n_samples : int
        Observations consumed.
    bound : float
        The parameter is larger than this; 0 while nothing is refuted. It never falls.
    jumps : tuple of (int, float)
        Number of observations and bound after it, for each rise.
    guarantee : str
        "anytime".
    """

    n_samples: int
    bound: float
    jumps: tuple[tuple[int, float], ...]
    guarantee: str
    audit: BettingState | None = dataclasses.field(repr=False)
    refuted: int = dataclasses.field(repr=False)  # claims of the grid refuted so far
    first: Floats = dataclasses.field(repr=False)
    second: Floats = dataclasses.field(repr=False)
    fits: dict[int, tuple[Score, ...]] = dataclasses.field(repr=False)


@dataclass(frozen=True)
class LowerBound:
    """A lower bound on a privacy parameter that holds at all times at once.

    Claims of a nested family are audited in rising order, each by its own account on the whole
    stream; the bound is the last one of the unbroken row of rejected claims.

    Parameters
    ----------
    family : callable
        ``family(parameter)`` gives a claim; a larger parameter must give a weaker one. Examples:
        ``GaussianDP`` for mu, ``functools.partial(ApproximateDP, delta=1e-5)`` for epsilon.
    grid : tuple of float
        Parameters, above 0 and rising strictly.
    settings : Betting, optional
        Everything but the claim; defaults otherwise. Its level is one minus the confidence.

    Raises
    ------
    ValueError, TypeError
        If the grid does not rise, or a claim of the family is seen to lie above the one before it
        at one of 25 points. That is a spot check: that the family is nested is the caller's word.

    Notes
    -----
    Let the truth be t and j the first claim of the grid with a parameter of at least t. The bound
    is at least t only if claim j, which holds, is rejected; so its chance is at most the level,
    whatever the number of claims.
    """

    family: Callable[[float], TradeoffCurve]
    grid: tuple[float, ...]
    settings: Betting | None = None

    def __post_init__(self) -> None:
        grid = tuple(float(v) for v in self.grid)
        object.__setattr__(self, "grid", grid)
        if not grid or not all(0 < v < math.inf for v in grid):
            raise ValueError(f"grid must hold finite numbers above 0, got {self.grid!r}")
        if not all(a < b for a, b in itertools.pairwise(grid)):
            raise ValueError(f"grid must rise strictly, got {self.grid!r}")
        alpha = np.linspace(0.01, 0.99, 25)
        for a, b in itertools.pairwise(grid):
            if np.any(np.asarray(self.family(b)(alpha)) > self.family(a)(alpha) + 1e-12):
                raise ValueError(
                    f"family must give weaker claims for larger parameters, not at {b!r}"
                )

    def init(self) -> BoundState:
        """State that has seen nothing."""
        return BoundState(0, 0.0, (), Betting.guarantee, None, 0, np.empty(0), np.empty(0), {})

    def step(self, state: BoundState, observations: Any) -> BoundState:
        """Consume observations; arguments as in `Betting.step`."""
        reader = self._audit(0)
        first, second = reader._read(observations)
        if state.n_samples:
            first = np.concatenate([state.first, first])
            second = np.concatenate([state.second, second])
        now, refuted, jumps = state.audit, state.refuted, list(state.jumps)
        fits = dict(state.fits)
        last = jumps[-1][0] if jumps else 0
        while refuted < len(self.grid):
            settings = self._audit(refuted)
            now = settings.init() if now is None else now
            seen = now.n_samples
            now, _ = settings._run(now, (first[seen:], second[seen:]), fits)
            if now.rejected_at is None:
                break
            last = max(last, now.rejected_at)
            if jumps and jumps[-1][0] == last:
                jumps.pop()
            jumps.append((last, self.grid[refuted]))
            refuted, now = refuted + 1, None
        bound = jumps[-1][1] if jumps else 0.0
        return BoundState(
            len(first), bound, tuple(jumps), state.guarantee, now, refuted, first, second, fits
        )

    def _audit(self, index: int) -> Betting:
        claim = self.family(self.grid[index])
        if self.settings is None:
            return Betting(claim, horizon=_NO_HORIZON)
        return dataclasses.replace(self.settings, claimed=claim, horizon=_NO_HORIZON)


def _betting_on(bets: _Bets, outputs: Floats) -> tuple[bytes, ...]:
    """What the bets in force pay on these outputs: portfolios, and every learner's scores."""
    scores = (_scored(score, outputs) for score in bets.scores)
    return tuple(np.round(part, 9).tobytes() for part in (bets.weights, *scores))


def _stops(settings: Betting, source: Source, generators: list[np.random.Generator]) -> list[int]:
    stops = []
    for generator in generators:
        state = settings.init()
        while not settings.finished(state):
            # Twice as many each time: few wasted draws, few steps.
            size = min(max(128, state.n_samples), settings.horizon - state.n_samples)
            state = settings.step(state, source(size, rng=generator))
        stops.append(NOT_REJECTED if state.rejected_at is None else state.rejected_at)
    return stops


@dataclass(frozen=True, eq=False)
class _Assets:
    """One line and one test for each entry."""

    slope: Floats
    support: Floats
    threshold: Floats
    softness: Floats

    def arrays(self, form: str) -> Floats:
        """Threshold, 1 / (2 softness), and the return as linear functions of phi.

        An output of P adds ``base_p + gain_p (1 - phi)`` and one of Q ``base_q + gain_q phi``; all
        four are nonnegative, so that no digits cancel. A coin's return is one of the two parts,
        ``2 ((m - s) + s (1 - phi)) / (2 m - c)`` or ``2 ((m - 1) + phi) / (2 m - c)`` with m the
        larger of 1 and s; its mean over the coin is ``(2 m - s alpha - beta) / (2 m - c)``.
        """
        one = np.ones_like(self.slope)
        if form == "pairs":
            up = 1 / (1 + self.slope - self.support)
            parts = (0 * one, up * self.slope, 0 * one, up)
        else:
            most = np.maximum(1.0, self.slope)
            up = 2 / (2 * most - self.support)
            parts = (up * (most - self.slope), up * self.slope, up * (most - 1), up)
        return np.stack([self.threshold, 0.5 / self.softness, *parts])


@functools.lru_cache(maxsize=256)
def _assets_of(
    curve: TradeoffCurve, slopes: tuple[float, ...] | None, softness: tuple[float, ...]
) -> _Assets:
    log_slopes = np.log(np.array(slopes)) if slopes is not None else _log_slopes(curve)
    shifts = _SHIFTS if len(log_slopes) <= 3 else (0.0,)
    rows = [(s, s + shift, width) for s in log_slopes for shift in shifts for width in softness]
    log_slope, threshold, widths = (np.array(column) for column in zip(*rows, strict=True))
    slope = np.exp(log_slope)
    support = np.asarray(curve.support(slope), dtype=np.float64)
    return _Assets(slope, support, threshold, widths)


def _assets(settings: Betting) -> _Assets:
    return _assets_of(settings.claimed, settings.slopes, settings.softness)


def _log_slopes(curve: TradeoffCurve) -> Floats:
    if curve.vertices is not None:
        points = np.array([[float(a), float(b)] for a, b in curve.vertices])
        with np.errstate(divide="ignore"):
            own = np.log(-np.diff(points[:, 1]) / np.diff(points[:, 0]))
        own = np.unique(own[np.abs(own) < 12])
        if len(own) == 0:
            return np.zeros(1)
        return own if len(own) <= 9 else own[np.linspace(0, len(own) - 1, 9).round().astype(int)]
    with np.errstate(divide="ignore"):
        ends = np.log(-np.asarray(curve.slope(np.array([0.02, 0.98]))))
    high, low = (float(end) for end in np.clip(ends, -12, 12))
    if curve.symmetric:
        high = max(high, -low)
        low = -high
    if high - low < 1e-9:
        return np.zeros(1)
    return np.linspace(low, high, max(9, 1 + math.ceil((high - low) / 0.75)))


def _cells(scores: Floats) -> tuple[Floats, Floats]:
    """Means and shares of groups of equal count."""
    edges = np.linspace(0, len(scores), min(_CELLS, len(scores)) + 1).astype(int)
    count = np.diff(edges)
    # Infinite scores would spoil the means; beyond 700 no test can tell them apart.
    total = np.add.reduceat(np.clip(scores, -700, 700), edges[:-1])
    return total / count, count / len(scores)


def _scored(score: Score, outputs: Floats) -> Floats:
    values = np.asarray(score(_frozen(outputs)), dtype=np.float64)
    if values.shape != (len(outputs),) or np.isnan(values).any():
        raise ValueError("a score must give one number, not NaN, for each output")
    if len(outputs) > 1:
        # The level rests on this; one output of each block is a spot check, no proof.
        alone = np.asarray(score(_frozen(outputs[-1:])), dtype=np.float64)
        if not np.allclose(alone, values[-1], rtol=_SAME_SCORE, atol=_SAME_SCORE):
            raise ValueError(
                "a score must depend on each output alone, got "
                f"{float(values[-1])!r} for {outputs[-1]!r} beside others and "
                f"{alone.tolist()!r} by itself"
            )
    return values


def _frozen(outputs: Floats) -> Floats:
    """Give a view that cannot be written to."""
    view = outputs.view()
    view.flags.writeable = False
    return view


def _grown(state: BettingState, first: Floats, second: Floats, form: str) -> tuple[Floats, Floats]:
    """All outputs of P and of Q, with those that have just arrived."""
    if form == "coins":
        first, second = first[second == 0], first[second == 1]
    if state.n_samples == 0:
        return first, second
    return (
        np.concatenate([state.x, first]) if len(state.x) else first,
        np.concatenate([state.y, second]) if len(state.y) else second,
    )


def _vectors(name: str, outputs: Any, length: int | None) -> Floats:
    array = np.asarray(outputs)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if array.ndim != 2 or (length is not None and len(array) != length):
        raise ValueError(f"{name} must have shape ({length or 'n'}, k), got {array.shape}")
    if np.isnan(array.astype(np.float64)).any():
        raise ValueError(f"{name} must hold no NaN")
    return array.astype(np.float64)


def _all_within(name: str, values: tuple[float, ...], most: float) -> tuple[float, ...]:
    if not values or not all(0 < v <= most and math.isfinite(v) for v in values):
        limit = "above 0" if most == math.inf else f"in (0, {most:g}]"
        raise ValueError(f"{name} must be a tuple of finite numbers {limit}, got {values!r}")
    return tuple(float(v) for v in values)


def _log_mean(wealth: Floats) -> float:
    mean = float(wealth.mean())
    return math.log(mean) if mean > 0 else -math.inf


@numba.njit(cache=True)
def _phi(score, threshold, sharpness):  # type: ignore[no-untyped-def]
    value = 0.5 + (score - threshold) * sharpness
    return 0.0 if value < 0 else 1.0 if value > 1 else value


@numba.njit(cache=True)
def _portfolio(cells, mass, factor, coins, assets, start, steps):  # type: ignore[no-untyped-def]
    """Weights of the assets with the fastest growth under an estimated pair of laws.

    The cells' laws are ``p = 2 m / (1 + e^u)`` and ``q = 2 m / (1 + e^-u)``, u the score times
    `factor`. Cover's algorithm multiplies each weight, cash included, by the expected ratio of the
    asset's return to the portfolio's; growth rises at every step.
    """
    threshold, sharpness, base_p, gain_p, base_q, gain_q = assets
    n_cells, n_assets = len(cells), len(threshold)
    p, q = np.empty(n_cells), np.empty(n_cells)
    for b in range(n_cells):
        u = min(max(factor * cells[b], -700.0), 700.0)
        p[b], q[b] = mass[b] / (1 + math.exp(u)), mass[b] / (1 + math.exp(-u))
    p /= p.sum()
    q /= q.sum()
    on_p, on_q = np.empty((n_assets, n_cells)), np.empty((n_assets, n_cells))
    for j in range(n_assets):
        for b in range(n_cells):
            phi = _phi(cells[b], threshold[j], sharpness[j])
            on_p[j, b] = base_p[j] + gain_p[j] * (1 - phi)
            on_q[j, b] = base_q[j] + gain_q[j] * phi
    weights = start.copy()
    cash = 1 - weights.sum()
    for _ in range(steps):
        part_p, part_q = weights @ on_p, weights @ on_q
        of_p, of_q = np.zeros(n_cells), np.zeros(n_cells)
        of_cash = 0.0
        if coins:
            for b in range(n_cells):
                of_p[b] = 0.5 * p[b] / (cash + part_p[b])
                of_q[b] = 0.5 * q[b] / (cash + part_q[b])
            of_cash = of_p.sum() + of_q.sum()
        else:
            for b in range(n_cells):
                for d in range(n_cells):
                    ratio = p[b] * q[d] / (cash + part_p[b] + part_q[d])
                    of_p[b] += ratio
                    of_q[d] += ratio
            of_cash = of_p.sum()
        weights = weights * (on_p @ of_p + on_q @ of_q) ** _HASTE
        cash *= of_cash**_HASTE
        total = weights.sum() + cash
        weights /= total
        cash /= total
    return weights


@numba.njit(cache=True)
def _bet(first, second, coins, assets, weights, stakes, wealth, target):  # type: ignore[no-untyped-def]
    """Multiply every account by its returns, one observation after the other, until the target.

    Rounding: a return is a sum of nonnegative terms, so its relative error is below a few units in
    the last place for each asset; so much is taken off each return, and the wealth that is computed
    is never above the true one.
    """
    threshold, sharpness, base_p, gain_p, base_q, gain_q = assets
    n_learners, n_optimism, n_assets = weights.shape
    keep = 1 - (8 * n_assets + 64) * 2.220446049250313e-16
    cash = np.empty((n_learners, n_optimism))
    for i in range(n_learners):
        for k in range(n_optimism):
            cash[i, k] = max(0.0, 1 - weights[i, k].sum())
    returns = np.empty(n_assets)
    log_wealth = np.empty(first.shape[1])
    n = first.shape[1]
    for t in range(n):
        total = 0.0
        for i in range(n_learners):
            a, b = first[i, t], second[i, t]
            for j in range(n_assets):
                phi = _phi(a, threshold[j], sharpness[j])
                if not coins:
                    other = _phi(b, threshold[j], sharpness[j])
                    returns[j] = gain_p[j] * (1 - phi) + gain_q[j] * other
                elif b == 0:
                    returns[j] = base_p[j] + gain_p[j] * (1 - phi)
                else:
                    returns[j] = base_q[j] + gain_q[j] * phi
            for k in range(n_optimism):
                growth = cash[i, k]
                for j in range(n_assets):
                    growth += weights[i, k, j] * returns[j]
                for f in range(len(stakes)):
                    wealth[i, k, f] *= max(0.0, 1 - stakes[f] + stakes[f] * growth) * keep
                    total += wealth[i, k, f]
        mean = total / wealth.size
        log_wealth[t] = math.log(mean) if mean > 0 else -math.inf
        if mean * keep >= target:
            return wealth, log_wealth, t + 1, True
    return wealth, log_wealth, n, False
