"""Pages 01, 01b and 01c of "together": the auditor with an exact guarantee.

It bets against the claim (`ldpkv.auditing.betting`). What can be enumerated is enumerated; what is
measured is measured with the one configuration that `Betting` has by default, and with seeds that
were not used when it was chosen.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import joblib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray
from scipy import special, stats

from ldpkv import data as datasets
from ldpkv.auditing import apt, betting, targets
from ldpkv.auditing.apt import APT, NOT_REJECTED
from ldpkv.auditing.batch import BatchTest
from ldpkv.auditing.betting import Betting, BettingState, LowerBound
from ldpkv.auditing.canaries import RATIO, REMOVED
from ldpkv.auditing.information import InformationFloor, binned_laws, information_floor, merge_cells
from ldpkv.auditing.learners import Densities, Known, Probabilistic
from ldpkv.auditing.mmd import REPAIRED, MMDTest
from ldpkv.papers import plots, records
from ldpkv.papers.audit import one_run
from ldpkv.papers.audit.ground_truth import wilson
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    NOT_CHECKABLE,
    SHAPE_ONLY,
    WITHIN_ERROR,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)
from ldpkv.tradeoff import (
    ApproximateDP,
    DPSGDToy,
    GaussianDP,
    LaplaceDP,
    PiecewiseLinear,
    PureDP,
    TradeoffCurve,
)

PAGE = "notebooks/together/01-exact-auditor.ipynb"
COMPARISON_PAGE = "notebooks/together/01b-comparison.ipynb"
FILES_PAGE = "notebooks/together/01c-published-bounds.ipynb"
Floats = NDArray[np.float64]
Stops = NDArray[np.int64]

LEVEL = 0.05
HORIZON = 10_050
DELTA = 1e-5

# Probability that chance alone turns a verdict; shared by all comparisons behind it.
FALSE_ALARM = 1e-4

# More than one process only where it pays; results do not depend on it.
N_JOBS: Mapping[str, int | None] = {"quick": None, "paper": -1}

# --- the bar: ten violated claims ------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One violated claim, with what others needed to refute it.

    Parameters
    ----------
    name : str
        Mechanism and claim in words.
    target : Target
        The mechanism under audit.
    claimed : TradeoffCurve
        The claim.
    published : tuple of float
        APT's published rejection rate within 10,050 pairs, mean and standard deviation of the pairs
        at rejection, over 1,000 runs.
    prototype : float
        Mean pairs of the prototype that was tuned a little on these rows.
    cdfs : tuple of callable
        Distribution functions of both laws.
    edges : tuple of (float, float, int)
        First and last edge of the bins in which the information floor is computed, and how many.
    repeats : int
        Repetitions in the quick profile.

    Notes
    -----
    The seeds of `bar` were chosen after the defaults of `Betting` had been revised for the last
    time; an earlier draw, with other seeds, had led to that revision.
    """

    name: str
    target: targets.Target
    claimed: TradeoffCurve
    published: tuple[float, float, float]
    prototype: float
    cdfs: tuple[Callable[[Floats], Any], Callable[[Floats], Any]]
    edges: tuple[float, float, int]
    repeats: int

    @property
    def cheap(self) -> bool:
        """Whether a run takes some 200 pairs or fewer."""
        return self.prototype <= 200


def rows() -> list[Row]:
    """Give the ten rows: Table 1 and Figure 5 of arXiv 2602.06518, violated claims only.

    Returns
    -------
    list of Row
        Table 1's published numbers are printed there; those of Figure 5 are from the authors'
        result files, as on the auditor's page 03.
    """
    table = []
    for kind, epsilon, published, prototype in (
        ("Gaussian", 0.01, (1.0, 60.86, 19.33), 42.7),
        ("Gaussian", 0.1, (1.0, 71.60, 29.79), 56.3),
        ("Laplace", 0.01, (1.0, 81.38, 39.43), 64.1),
        ("Laplace", 0.1, (1.0, 115.34, 70.92), 93.8),
    ):
        normal = kind == "Gaussian"
        law = stats.norm if normal else stats.laplace
        target: targets.Target = (targets.NonDPGaussian1 if normal else targets.NonDPLaplace1)(
            epsilon
        )
        claim: TradeoffCurve = ApproximateDP(epsilon, DELTA) if normal else PureDP(epsilon)
        cdfs = (law(0, 2 / epsilon).cdf, law(0.5, 1 / epsilon).cdf)
        reach = (-40 / epsilon, 40 / epsilon, 20_001)
        name = f"NonDP{kind}1, ε = {epsilon:g}"
        table.append(Row(name, target, claim, published, prototype, cdfs, reach, 60))
    figure = [
        Row(
            f"{kind} μ = 1, claim {mu:g}",
            target,
            claim(mu),
            published,
            prototype,
            (law(0).cdf, law(1).cdf),
            (-7.0, 8.0, 3001),
            60 if mu == 0.5 else 24,
        )
        for kind, law, target, claim, mu, published, prototype in (
            ("Gaussian", stats.norm, targets.Gaussian(), GaussianDP, 0.5, _AUTHORS[0], 124.3),
            ("Gaussian", stats.norm, targets.Gaussian(), GaussianDP, 0.8, _AUTHORS[1], 588.0),
            ("Laplace", stats.laplace, targets.Laplace(), LaplaceDP, 0.5, _AUTHORS[2], 195.0),
            ("Laplace", stats.laplace, targets.Laplace(), LaplaceDP, 0.8, _AUTHORS[3], 1187.0),
        )
    ]
    descent = [
        Row(
            f"DP-SGD τ = 10, claim {tau}",
            targets.DPSGD(10),
            DPSGDToy(tau),
            published,
            prototype,
            (special.ndtr, _descent_cdf),
            (-7.0, 8.0, 801),
            24,
        )
        for tau, published, prototype in ((5, _AUTHORS[4], 362.0), (7, _AUTHORS[5], 1534.0))
    ]
    return [*table, *figure, *descent]


_AUTHORS = (
    (1.0, 187.8, 106.0),
    (1.0, 1453.1, 868.0),
    (1.0, 219.7, 135.0),
    (1.0, 1700.2, 1140.0),
    (1.0, 831.0, 517.0),
    (0.927, 4568.7, 2475.0),
)
AUTHORS_RUNS = 1000


def _descent_cdf(x: Any) -> Floats:
    """Distribution function of DP-SGD's last iterate on D', in units of its noise."""
    shift, weight = DPSGDToy(10).histories()
    return np.asarray(special.ndtr(np.asarray(x)[..., None] - shift) @ weight)


def floor(row: Row, cells: int = 60) -> InformationFloor:
    """Fewest expected pairs of any audit at level 0.05 of one row.

    Parameters
    ----------
    row : Row
        Laws and claim.
    cells : int, default 60
        Bins of the outputs; more bins lower the floor, here by about a hundredth.

    Returns
    -------
    InformationFloor
    """
    laws = binned_laws(*row.cdfs, np.linspace(row.edges[0], row.edges[1], row.edges[2]))
    return information_floor(*merge_cells(*laws, cells), row.claimed, LEVEL)


@functools.cache
def _floor_of(name: str) -> InformationFloor:
    return next(floor(row) for row in rows() if row.name == name)


def bar(profile: str = "quick", seed: int = 9_104_772) -> Result:
    """Refute the ten violated claims with the default configuration and fresh seeds.

    Parameters
    ----------
    profile : {"quick", "paper"}
        24 or 60 repetitions a row, or 400 or 1,000.
    seed : int, default 9104772
        Seed of the repetitions.

    Returns
    -------
    Result
        One row for each claim: rejection rate within 10,050 pairs, mean pairs at rejection with
        standard error, APT's published mean, the prototype's, and the information floor.
    """
    return _bar_result(check_profile(profile), _bar_runs(profile, seed), seed)


def _bar_runs(profile: str, seed: int) -> dict[str, Stops]:
    every = rows()
    seeds = np.random.default_rng(seed).integers(2**62, size=len(every))
    return {
        row.name: betting.run_many(
            Betting(row.claimed, level=LEVEL, horizon=HORIZON),
            row.target.sample,
            repeats=row.repeats if profile == "quick" else 1000 if row.cheap else 400,
            rng=int(own),
            n_jobs=N_JOBS[profile],
        )
        for row, own in zip(every, seeds, strict=True)
    }


def _bar_result(profile: str, runs: records.Runs, seed: int) -> Result:
    table = pd.DataFrame(_bar_record(row, runs[row.name], _floor_of(row.name)) for row in rows())
    facts = {
        **_drawn("together-exact-bar", runs, seed),
        "configuration": repr(Betting(GaussianDP(1.0))),
        "largest": float((table["mean"] / table["floor"]).max()),
        "smallest": float((table["mean"] / table["floor"]).min()),
        "saved_least": float((1 - table["mean"] / table["published"]).min()),
        "saved_most": float((1 - table["mean"] / table["published"]).max()),
    }
    counted = " or ".join(f"{n:,}" for n in sorted(set(table["repeats"])))
    return Result(profile, table, facts, f"{counted} repetitions of up to {HORIZON:,} pairs")


def _bar_record(row: Row, stops: Stops, limit: InformationFloor) -> dict[str, Any]:
    rejected = stops[stops != NOT_REJECTED]
    hits = len(rejected)
    mean = float(rejected.mean()) if hits else math.nan
    error = float(rejected.std(ddof=1)) / math.sqrt(hits) if hits > 1 else math.nan
    rate, published, sd = row.published
    theirs = sd / math.sqrt(round(rate * AUTHORS_RUNS))
    return {
        "row": row.name,
        "repeats": len(stops),
        "rate": hits / len(stops),
        "mean": mean,
        "error": error,
        "median": float(np.median(rejected)) if hits else math.nan,
        "published": published,
        "published_rate": rate,
        "z_published": (mean - published) / math.hypot(error, theirs),
        "prototype": row.prototype,
        "z_prototype": (mean - 1.1 * row.prototype) / error,
        "floor": limit.low,
        "floor_high": limit.high,
        "z_floor": (mean - limit.low) / error,
        "z_factor": (mean - FACTOR * limit.high) / error,
    }


# What the page claims: never more than this many times the information floor.
FACTOR = 2.5


def bar_table(result: Result) -> pd.DataFrame:
    """Rows of the bar for print: ours beside APT's published mean, the prototype and the floor."""
    shown = []
    for record in result.table.to_dict("records"):
        shown.append(
            {
                "violated claim": record["row"],
                "ours, mean pairs": f"{num(record['mean'])} ± {num(1.96 * record['error'], 2)}",
                "rejected": f"{100 * record['rate']:.3g} %",
                "APT, published": f"{num(record['published'])} "
                f"({100 * record['published_rate']:.3g} %)",
                "prototype": num(record["prototype"]),
                "floor": num(record["floor"]),
                "ours / floor": round(record["mean"] / record["floor"], 2),
            }
        )
    return pd.DataFrame(shown)


def draw_bar(result: Result) -> Figure:
    """Draw mean pairs at rejection of the ten rows, from the information floor upwards."""
    figure, axis = plots.new_figure(height=4.4)
    table = result.table
    height = np.arange(len(table))[::-1].astype(float)
    plots.log_axis(axis, "x")
    looks = {
        "floor": (plots.BLACK, "|", "information floor"),
        "mean": (plots.BLUE, "o", "ours"),
        "prototype": (plots.GREY, "x", "prototype"),
        "published": (plots.VERMILION, "s", "APT, published"),
    }
    axis.hlines(height, table["floor"], table["published"], color=plots.GREY, lw=0.7, alpha=0.6)
    for column, (color, marker, label) in looks.items():
        size = 11 if column == "floor" else 5.5
        axis.plot(
            table[column], height, marker, color=color, label=label, ms=size, mew=1.6, ls="none"
        )
    reach = 1.96 * table["error"]
    axis.hlines(height, table["mean"] - reach, table["mean"] + reach, color=plots.BLUE, lw=3.0)
    axis.set_yticks(height, table["row"])
    axis.set_xlim(10, 7000)
    axis.set_ylim(-0.6, len(table) - 0.3)
    axis.set_xlabel("mean pairs until the claim is rejected at level 0.05")
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize="small"
    )
    return figure


# --- the assets ------------------------------------------------------------------------------

CURVES: tuple[TradeoffCurve, ...] = (
    PureDP(0.0),
    PureDP(1.0),
    PureDP(3.0),
    PureDP(20.0),
    ApproximateDP(0.01, DELTA),
    ApproximateDP(0.5, 1e-2),
    GaussianDP(0.0),
    GaussianDP(0.5),
    GaussianDP(1.0),
    GaussianDP(4.0),
    LaplaceDP(0.5),
    LaplaceDP(1.0),
    DPSGDToy(5),
    DPSGDToy(10),
    PiecewiseLinear.from_laws([4, 3, 2, 1], [1, 1, 4, 4]),
)
_OVERSTATED = 1.01  # the planted defect: supports that are one per cent too large


def no_gain(profile: str = "quick") -> Result:
    """Look for an asset with a mean return above 1 under laws exactly on the claim.

    Parameters
    ----------
    profile : {"quick", "paper"}
        4,001 or 100,001 points on each curve.

    Returns
    -------
    Result
        One row for each claim and form: lines, largest mean return of any asset, least of the
        largest over the lines (1 where the line touches the curve), and the largest mean return
        when supports are overstated by one per cent.
    """
    points = 100_001 if check_profile(profile) == "paper" else 4001
    inner = np.linspace(-8, 8, points)
    alpha = np.concatenate([[0.0, 1.0], special.ndtr(inner)])
    records = []
    for curve, form in itertools.product(CURVES, ("pairs", "coins")):
        corners = curve.vertices
        own = [] if corners is None else [float(corner[0]) for corner in corners]
        at = np.concatenate([alpha, own])
        beta = np.asarray(curve(at))
        # The tables are private to the auditor; what they promise is what is checked here.
        assets = betting._assets(Betting(curve))
        mean, least = _mean_returns(assets.arrays(form), at, beta, form)
        wrong = replace(assets, support=_OVERSTATED * assets.support)
        broken, _ = _mean_returns(wrong.arrays(form), at, beta, form)
        records.append(
            {
                "claim": _short(curve),
                "form": form,
                "lines": len(np.unique(assets.slope)),
                "largest mean return − 1": float(mean.max()) - 1,
                "line farthest from the curve": 1 - float(mean.min()),
                "smallest return": least,
                "overstated − 1": float(broken.min()) - 1,
            }
        )
    table = pd.DataFrame(records)
    facts = {
        "excess": float(table["largest mean return − 1"].max()),
        "idle": float(table["line farthest from the curve"].max()),
        "smallest_return": float(table["smallest return"].min()),
        "defect": float(table["overstated − 1"].min()),
        "curves": len(CURVES),
        "points": points,
    }
    return Result(profile, table, facts, f"{points:,} points on each curve; no randomness")


def _mean_returns(arrays: Floats, alpha: Floats, beta: Floats, form: str) -> tuple[Floats, float]:
    """Largest mean return of each asset over points (alpha, beta), and the smallest return."""
    _, _, base_p, gain_p, base_q, gain_q = arrays
    share = 0.5 if form == "coins" else 1.0
    largest = np.array(
        [
            float(np.max(share * (b + g * (1 - alpha) + c + h * (1 - beta))))
            for b, g, c, h in zip(base_p, gain_p, base_q, gain_q, strict=True)
        ]
    )
    least = min(base_p.min(), base_q.min()) if form == "coins" else (base_p + base_q).min()
    return largest, float(least)


def _short(curve: TradeoffCurve) -> str:
    """Name of a claim in print."""
    if isinstance(curve, PureDP):
        return f"ε = {curve.epsilon:g}"
    if isinstance(curve, ApproximateDP):
        return f"ε = {curve.epsilon:g}, δ = {curve.delta:g}"
    if isinstance(curve, GaussianDP):
        return f"Gaussian μ = {curve.mu:g}"
    if isinstance(curve, LaplaceDP):
        return f"Laplace μ = {curve.mu:g}"
    if isinstance(curve, DPSGDToy):
        return f"DP-SGD τ = {curve.tau}"
    return "four outputs"


# --- the level, by enumeration ---------------------------------------------------------------

_E = math.e
# name, claim, P, Q, outputs: laws exactly on the claim, so that nothing hides an error.
TIGHT: tuple[tuple[str, TradeoffCurve, list[float], list[float], list[float]], ...] = (
    (
        "randomised response, ε = 1",
        PureDP(1.0),
        [_E / (1 + _E), 1 / (1 + _E)],
        [1 / (1 + _E), _E / (1 + _E)],
        [0.0, 1.0],
    ),
    ("fair coin, P = Q", PureDP(0.0), [0.5, 0.5], [0.5, 0.5], [0.0, 1.0]),
    (
        "two unequal laws, their own curve",
        PiecewiseLinear.from_laws([6, 4], [5, 5]),
        [0.6, 0.4],
        [0.5, 0.5],
        [3.5, -1.0],
    ),
    (
        "three outputs, their own curve",
        PiecewiseLinear.from_laws([5, 3, 2], [2, 3, 5]),
        [0.5, 0.3, 0.2],
        [0.2, 0.3, 0.5],
        [0.0, 1.0, 2.0],
    ),
)
_SMALL_LEVEL = 0.5  # so that a few pairs can reject at all


def small(curve: TradeoffCurve, level: float = _SMALL_LEVEL) -> Betting:
    """Audit that can reject within a few pairs, so that all histories can be followed.

    Parameters
    ----------
    curve : TradeoffCurve
        The claim.
    level : float, default 0.5
        In (0, 1).

    Returns
    -------
    Betting
        Everything staked, first bet at the third pair, refits at 2, 4 and 8 pairs.
    """
    return Betting(
        curve, level=level, learners=(Densities(),), stakes=(1.0,), first_bet=2, growth=1.0
    )


def level(profile: str = "quick") -> Result:
    """Compute the probability of rejecting a true claim, over all histories.

    Parameters
    ----------
    profile : {"quick", "paper"}
        7 or 9 pairs (4 or 6 for three outputs); one-step means up to 4 or 5 pairs.

    Returns
    -------
    Result
        One row for each pair of laws on its own claim: probability of having rejected, largest
        ratio of the expected wealth after a pair to the wealth before it, over all histories; both
        also for a claim that is too strong.
    """
    paper = check_profile(profile) == "paper"
    records, paths = [], {}
    for name, curve, p, q, outputs in TIGHT:
        depth = (9 if paper else 7) if len(outputs) == 2 else (5 if paper else 4)
        steps = (5 if paper else 4) if len(outputs) == 2 else 3
        chance = betting.exact_rejection(small(curve), p, q, outputs, depth=depth)
        strong = PureDP(0.0) if curve != PureDP(0.0) else None
        # P = Q respects every claim, so its twin are laws that differ.
        laws = (p, q) if strong else TIGHT[0][2:4]
        wrong = betting.exact_rejection(
            small(strong or curve), laws[0], laws[1], outputs, depth=depth
        )
        grows = max(_one_step(small(curve, 1e-9), p, q, outputs, steps))
        defect = max(_one_step(small(strong or curve, 1e-9), laws[0], laws[1], outputs, steps))
        paths[name] = chance
        records.append(
            {
                "laws": name,
                "pairs": depth,
                "rejected": float(chance[-1]),
                "growth − 1": grows - 1,
                "rejected, false claim": float(wrong[-1]),
                "growth − 1, false claim": defect - 1,
            }
        )
    table = pd.DataFrame(records)
    facts = {
        "largest": float(table["rejected"].max()),
        "least": float(table["rejected"].min()),
        "growth": float(table["growth − 1"].max()),
        "false_largest": float(table["rejected, false claim"].max()),
        "false_growth": float(table["growth − 1, false claim"].min()),
        "paths": paths,
    }
    return Result(profile, table, facts, f"level {_SMALL_LEVEL:g}; all histories, no randomness")


def _one_step(
    settings: Betting, p: Sequence[float], q: Sequence[float], outputs: Sequence[float], depth: int
) -> Iterator[float]:
    """Expected wealth after one more pair over the wealth before it, at every history."""
    nodes = [settings.init()]
    for _ in range(depth):
        later: list[BettingState] = []
        for state in nodes:
            terms = []
            for (a, first), (b, second) in itertools.product(
                zip(p, outputs, strict=True), zip(q, outputs, strict=True)
            ):
                child = settings.step(state, (np.array([first]), np.array([second])))
                terms.append(a * b * math.exp(child.evidence))
                later.append(child)
            yield math.fsum(terms) / math.exp(state.evidence)
        nodes = later


# --- the level, measured ---------------------------------------------------------------------


@dataclass(frozen=True)
class Coupled:
    """Pairs that share all their noise: x = Z and y = mu + Z or mu - Z, with Z normal.

    Parameters
    ----------
    mu : float
        Shift; the marginals are N(0, 1) and N(mu, 1).
    mirrored : bool
        Whether y falls as x rises.
    """

    mu: float = 1.0
    mirrored: bool = False

    def sample(self, n: int, *, rng: np.random.Generator | int | None = None) -> Any:
        """Draw n outputs on D and n on D'."""
        noise = np.random.default_rng(rng).standard_normal(n)
        return noise, self.mu + (-noise if self.mirrored else noise)


@dataclass(frozen=True)
class Null:
    """A claim that holds, on the edge wherever possible.

    Parameters
    ----------
    name : str
        Laws and claim in words.
    source : callable
        Draws pairs.
    claimed : TradeoffCurve
        The claim.
    known : callable, optional
        Log-likelihood ratio given to the auditor.
    """

    name: str
    source: apt.Source
    claimed: TradeoffCurve
    known: Callable[[Floats], Floats] | None = None

    def settings(self, horizon: int) -> Betting:
        """Give the audit: the default configuration, or one learner that knows the ratio."""
        changes: dict[str, Any] = {}
        if self.known is not None:
            changes["learners"] = (Known(self.known),)
        return Betting(self.claimed, level=LEVEL, horizon=horizon, **changes)


def nulls() -> list[Null]:
    """Give thirteen true claims: tight, heavy-tailed, discrete, with dependent pairs."""
    gaussian, laplace = targets.Gaussian(), targets.Laplace()
    return [
        Null("P = Q normal, ε = 0", targets.Gaussian(0.0).sample, PureDP(0.0)),
        Null("P = Q Cauchy, ε = 0", targets.Cauchy(0.0).sample, PureDP(0.0)),
        Null("Gaussian μ = 1", gaussian.sample, GaussianDP(1.0)),
        Null("Gaussian μ = 3", targets.Gaussian(3.0).sample, GaussianDP(3.0)),
        Null("Gaussian μ = 1, known ratio", gaussian.sample, GaussianDP(1.0), gaussian.log_ratio),
        Null("Laplace μ = 1, own curve", laplace.sample, LaplaceDP(1.0)),
        Null("Laplace μ = 1, ε = 1", laplace.sample, PureDP(1.0)),
        Null("Laplace μ = 3, ε = 3", targets.Laplace(3.0).sample, PureDP(3.0)),
        Null("randomised response, ε = 1", targets.RandomisedResponse(1.0).sample, PureDP(1.0)),
        Null("noisy response, ε = 1", targets.RandomisedResponse(1.0, 0.1).sample, PureDP(1.0)),
        Null("DP-SGD τ = 10", targets.DPSGD(10).sample, DPSGDToy(10)),
        Null("shared noise, μ = 1", Coupled().sample, GaussianDP(1.0)),
        Null("mirrored noise, μ = 1", Coupled(mirrored=True).sample, GaussianDP(1.0)),
    ]


def type_one(profile: str = "quick", seed: int = 9_104_773) -> Result:
    """Measure how often true claims are rejected.

    Parameters
    ----------
    profile : {"quick", "paper"}
        16 runs of 256 pairs on each null, or 4,000 of 1,000.
    seed : int, default 9104773
        Seed of the repetitions.

    Returns
    -------
    Result
        One row for each null: rejections with an exact 95 % interval (Clopper-Pearson), and the
        exact binomial probability of so many or more at a rate of 0.05. The last row is a false
        claim, which the same table must expose.
    """
    return _type_one_result(check_profile(profile), _type_one_runs(profile, seed), seed)


# Pairs of a true claim that one audit gets.
_NULL_HORIZON: Mapping[str, int] = {"quick": 256, "paper": 1000}


def _type_one_runs(profile: str, seed: int) -> dict[str, Stops]:
    every = [*nulls(), Null(DEFECT, targets.Gaussian(1.0).sample, GaussianDP(0.4))]
    seeds = np.random.default_rng(seed).integers(2**62, size=len(every))
    return {
        null.name: betting.run_many(
            null.settings(_NULL_HORIZON[profile]),
            null.source,
            repeats=4000 if profile == "paper" else 16,
            rng=int(own),
            n_jobs=N_JOBS[profile],
        )
        for null, own in zip(every, seeds, strict=True)
    }


def _type_one_result(profile: str, runs: records.Runs, seed: int) -> Result:
    table = pd.DataFrame(rate_record(name, stops) for name, stops in runs.items())
    horizon, repeats = _NULL_HORIZON[profile], int(table["runs"].min())
    true = table[table["null"] != DEFECT]
    bound = FALSE_ALARM / len(true)
    needed = int(stats.binom.isf(bound, repeats, LEVEL)) + 1
    facts = {
        "p": float(true["p"].min()),
        "bound": bound,
        "largest": float(true["rate"].max()),
        "largest_null": str(true.loc[true["rate"].idxmax(), "null"]),
        "seen": float(stats.beta.isf(0.01, needed, repeats - needed + 1)),
        "defect_p": float(table.loc[table["null"] == DEFECT, "p"].iloc[0]),
        "defect_rate": float(table.loc[table["null"] == DEFECT, "rate"].iloc[0]),
        "nulls": len(true),
        "repeats": repeats,
        **_drawn("together-exact-null", runs, seed, horizon),
    }
    setting = f"{repeats:,} runs of up to {horizon:,} pairs on each"
    return Result(profile, table, facts, setting)


DEFECT = "false claim (Gaussian μ = 1 against 0.4)"


def rate_record(name: str, stops: Stops) -> dict[str, Any]:
    """Rejection rate with its exact interval, and its probability at a rate of 0.05.

    Parameters
    ----------
    name : str
        Of the null.
    stops : ndarray of int64
        From `betting.run_many`.

    Returns
    -------
    dict
        null, runs, hits, rate, low, high, p.
    """
    runs, hits = len(stops), int((stops != NOT_REJECTED).sum())
    return {
        "null": name,
        "runs": runs,
        "hits": hits,
        "rate": hits / runs,
        "low": float(stats.beta.ppf(0.025, hits, runs - hits + 1)) if hits else 0.0,
        "high": float(stats.beta.ppf(0.975, hits + 1, runs - hits)) if hits < runs else 1.0,
        "p": float(stats.binom.sf(hits - 1, runs, LEVEL)),
    }


def draw_type_one(result: Result) -> Figure:
    """Draw each null's rejection rate with its exact interval."""
    figure, axis = plots.new_figure(height=4.0)
    table = result.table[result.table["null"] != DEFECT]
    height = np.arange(len(table))[::-1].astype(float)
    axis.axvline(LEVEL, color=plots.BLACK, lw=0.8, ls=":")
    axis.hlines(height, table["low"], table["high"], color=plots.BLUE, lw=1.6)
    axis.plot(table["rate"], height, "o", color=plots.BLUE, ms=5)
    axis.set_yticks(height, table["null"])
    axis.set_xlim(-0.002, max(0.062, 1.03 * float(table["high"].max())))
    axis.set_xlabel("share of runs that reject a true claim (dotted: level 0.05)")
    return figure


# --- a known ratio ---------------------------------------------------------------------------


def known_ratio(profile: str = "quick", seed: int = 9_104_774) -> Result:
    """Compare the black box with an analyst who knows the likelihood ratio, on the same pairs.

    Parameters
    ----------
    profile : {"quick", "paper"}
        50 or 1,000 repetitions of Gaussian mu = 1 against the claim 0.5.
    seed : int, default 9104774
        Seed of the repetitions.

    Returns
    -------
    Result
        One row for each auditor: mean pairs at rejection with standard error.
    """
    return _known_result(check_profile(profile), _known_runs(profile, seed), seed)


def _known_runs(profile: str, seed: int) -> dict[str, Stops]:
    repeats = 1000 if profile == "paper" else 50
    target, claim = targets.Gaussian(), GaussianDP(0.5)
    found = {}
    for name, learners in (
        ("black box", None),
        ("known likelihood ratio", (Known(target.log_ratio),)),
    ):
        settings = Betting(claim, level=LEVEL, horizon=HORIZON)
        if learners:
            settings = replace(settings, learners=learners)
        found[name] = betting.run_many(
            settings, target.sample, repeats=repeats, rng=seed, n_jobs=N_JOBS[profile]
        )
    return found


def _known_result(profile: str, runs: records.Runs, seed: int) -> Result:
    limit, repeats = _floor_of(rows()[4].name), len(runs["black box"])
    table = pd.DataFrame(
        {
            "auditor": name,
            "rejected": float(np.mean(stops != NOT_REJECTED)),
            "mean pairs": float(_used(stops, HORIZON).mean()),
            "± 1.96 s.e.": 1.96 * float(_used(stops, HORIZON).std(ddof=1)) / math.sqrt(repeats),
            "information floor": limit.low,
        }
        for name, stops in runs.items()
    )
    facts = {
        "saved": paired(runs["known likelihood ratio"], runs["black box"], HORIZON, 1),
        **_drawn("together-exact-known", runs, seed),
    }
    return Result(profile, table, facts, f"{repeats:,} repetitions, the same pairs for both")


# --- vectors ---------------------------------------------------------------------------------

FIRST, BOTH, SUM = SEEN = (
    "the first release",
    "both, logistic regression",
    "their sum, which tells all",
)


def two_releases(n: int, *, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Release one count twice with fresh noise: each release is 1-GDP, both are sqrt(2)-GDP.

    Parameters
    ----------
    n : int
        Pairs of outputs.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    x, y : ndarray of float64, shape (n, 2)
    """
    noise = rng.standard_normal((2, n, 2))
    return noise[0], 1 + noise[1]


def _first_release(n: int, *, rng: np.random.Generator) -> tuple[Floats, Floats]:
    x, y = two_releases(n, rng=rng)
    return x[:, 0], y[:, 0]


def _summed(n: int, *, rng: np.random.Generator) -> tuple[Floats, Floats]:
    x, y = two_releases(n, rng=rng)
    return x.sum(axis=1), y.sum(axis=1)


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=0.1)


def vectors(profile: str = "quick", seed: int = 9_104_777) -> Result:
    """Audit the claim mu = 1 of two releases that only together break it.

    Parameters
    ----------
    profile : {"quick", "paper"}
        12 or 400 repetitions.
    seed : int, default 9104777
        Seed of the repetitions; all three audits see the same outputs.

    Returns
    -------
    Result
        One row for what the auditor sees: share of runs that reject, mean pairs used with
        standard error, the information floor (infinite for the first release: its claim holds).
    """
    repeats = 400 if check_profile(profile) == "paper" else 12
    claim = GaussianDP(1.0)
    learner = Probabilistic(_logistic)
    audits: dict[str, tuple[apt.Source, dict[str, Any]]] = {
        FIRST: (_first_release, {}),
        BOTH: (two_releases, {"learners": (learner,)}),
        SUM: (_summed, {}),
    }
    together = replace(rows()[4], cdfs=(stats.norm(0).cdf, stats.norm(math.sqrt(2)).cdf))
    limit = floor(replace(together, claimed=claim)).low
    table = []
    for seen, (source, changes) in audits.items():
        stops = betting.run_many(
            Betting(claim, level=LEVEL, horizon=_VECTOR_HORIZON, **changes),
            source,
            repeats=repeats,
            rng=seed,
            n_jobs=N_JOBS[profile],
        )
        used = _used(stops, _VECTOR_HORIZON)
        table.append(
            {
                "the auditor sees": seen,
                "rejected": int((stops != NOT_REJECTED).sum()),
                "runs": repeats,
                "mean pairs used": float(used.mean()),
                "± 1.96 s.e.": 1.96 * float(used.std(ddof=1)) / math.sqrt(repeats),
                "information floor": "none" if seen == FIRST else num(limit),
            }
        )
    setting = f"{repeats} repetitions of up to {_VECTOR_HORIZON:,} pairs, the same for all"
    return Result(profile, pd.DataFrame(table), {}, setting)


_VECTOR_HORIZON = 1000


def _used(stops: Stops, horizon: int) -> Floats:
    """Pairs used: those of an audit that did not reject are the horizon."""
    return np.where(stops == NOT_REJECTED, horizon, stops).astype(np.float64)


def paired(first: Stops, second: Stops, horizon: int, cases: int) -> dict[str, Any]:
    """Compare the pairs that two audits use on the same streams, by a t-test of their log-ratios.

    Parameters
    ----------
    first, second : ndarray of int64
        Pairs at rejection.
    horizon : int
        What a run without rejection counts as.
    cases : int
        Comparisons that share `FALSE_ALARM`.

    Returns
    -------
    dict
        order (-1 if the first uses fewer, 1 if more, 0 if undecided), the typical ratio (geometric
        mean), and the share of streams on which the first was earlier.
    """
    gap = np.log(_used(first, horizon)) - np.log(_used(second, horizon))
    spread = float(gap.std(ddof=1)) / math.sqrt(len(gap))
    t = float(gap.mean()) / spread if spread > 0 else 0.0
    critical = float(stats.t.isf(FALSE_ALARM / (2 * cases), len(gap) - 1))
    return {
        "order": 0 if abs(t) <= critical else int(math.copysign(1, t)),
        "ratio": math.exp(float(gap.mean())),
        "earlier": float(np.mean(gap < 0)),
    }


# --- one run: coins and dependence -----------------------------------------------------------


def dependence(profile: str = "quick") -> Result:
    """Bet on canaries whose scores give each other's coins away, exactly.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both compute the same.

    Returns
    -------
    Result
        One row for each bet and setting: largest mean return, in fractions, for e^epsilon = 3.

    Notes
    -----
    Coins S_1, S_2 are fair and independent. The first canary's score is randomised response about
    the *second* coin; the second canary's score is constant. All scores together are pure
    epsilon-DP in each coin. Yet once the first score is known, the second coin is not fair, and
    the bet of the coin form, which wins a little even where phi decides nothing, gains on average.
    A bet that only a right guess wins does not, whatever the dependence: given all scores and all
    earlier coins, no guess is right with a probability above e^epsilon / (1 + e^epsilon).

    Source: the last fact is from Steinke, Nasr, Jagielski (2023), "Privacy auditing with one (1)
    training run".
    """
    check_profile(profile)
    e = Fraction(3)
    keep = e / (1 + e)
    independent = {
        name: max(bet(e, phi, Fraction(1, 2)) for phi in (Fraction(0), Fraction(1)))
        for name, bet in BETS.items()
    }
    # Independent scores of randomised response: phi is the answer.
    answered = {
        name: sum(
            Fraction(1, 2) * (keep if answer == coin else 1 - keep) * _payoff(name, e, answer, coin)
            for answer, coin in itertools.product((0, 1), repeat=2)
        )
        for name in BETS
    }
    told = {
        name: max(bet(e, Fraction(0), 1 - keep), bet(e, Fraction(1), keep))
        for name, bet in BETS.items()
    }
    gains = {name: _ever_rich(name, e, keep, 200) for name in BETS}
    records = [
        {
            "bet": name,
            "no score": float(independent[name]),
            "independent scores": float(answered[name]),
            "an earlier score tells": float(told[name]),
            "rejects a true claim, 200 hints": gains[name],
        }
        for name in BETS
    ]
    facts = {
        "told": {name: str(value) for name, value in told.items()},
        "coin_told": float(told[COIN]),
        "guess_told": float(told[GUESS]),
        "answered": {name: float(value) for name, value in answered.items()},
        "coin_rejects": gains[COIN],
        "guess_rejects": gains[GUESS],
    }
    return Result(profile, pd.DataFrame(records), facts, "e^ε = 3; exact fractions")


COIN, GUESS = ("coin form", "guesses only")


def _payoff(name: str, e: Fraction, phi: Any, coin: int) -> Fraction:
    """Return of one coin for a degree phi of guessing 1, on the steep line of the claim."""
    phi = Fraction(phi)
    if name == COIN:
        up = 2 / (2 * e - 1)
        return up * (e * (1 - phi) if coin == 0 else e - 1 + phi)
    return (1 + 1 / e) * (phi if coin else 1 - phi)


def _mean_payoff(name: str, e: Fraction, phi: Fraction, one: Fraction) -> Fraction:
    """Mean return when the coin is 1 with probability `one`."""
    return (1 - one) * _payoff(name, e, phi, 0) + one * _payoff(name, e, phi, 1)


BETS: Mapping[str, Callable[[Fraction, Fraction, Fraction], Fraction]] = {
    name: functools.partial(_mean_payoff, name) for name in (COIN, GUESS)
}


def _ever_rich(name: str, e: Fraction, keep: Fraction, hints: int) -> float:
    """Chance that half of the wealth, staked on each hint, ever reaches 1 / level."""
    # A hint at 1 is played on the other line, with the same odds.
    win, lose = (float(_payoff(name, e, 0, coin)) / 2 + 0.5 for coin in (0, 1))
    alive, rich = np.array([1.0]), 0.0
    for n in range(1, hints + 1):
        wins = np.arange(n + 1)
        now = np.zeros(n + 1)
        now[1:] += float(keep) * alive
        now[:-1] += float(1 - keep) * alive
        over = wins * math.log(win) + (n - wins) * math.log(lose) >= math.log(1 / LEVEL)
        rich += float(now[over].sum())
        alive = np.where(over, 0.0, now)
    return rich


# --- bounds at all times ---------------------------------------------------------------------

COINS = "coin flips"
_LONG = 10**6  # a horizon beyond every stream
_OBSERVATIONS = 10_000


@dataclass(frozen=True, eq=False)
class Stream:
    """Observations, and what is known about the truth.

    Parameters
    ----------
    name : str
        Where they come from.
    form : {"pairs", "coins"}
        As in `Betting`.
    observations : tuple of ndarray
        As in `Betting.step`.
    mu, epsilon : float
        Largest values that are possible: the truth, or the accountant's upper bound. NaN where
        nothing is proved.
    equivalent : float
        mu with the accountant's epsilon at one of four delta, the largest; for comparison only.
    """

    name: str
    form: str
    observations: tuple[Floats, Any]
    mu: float
    epsilon: float
    equivalent: float = math.nan


def flipped(run_in: Floats, run_out: Floats, *, rng: np.random.Generator) -> tuple[Floats, Any]:
    """Let a fair coin say of every canary whether its score is the included or the held-out one.

    Parameters
    ----------
    run_in, run_out : ndarray of float64, shape (k,)
        Scores of both sides.
    rng : numpy.random.Generator
        Source of the coins.

    Returns
    -------
    outputs : ndarray of float64, shape (k,)
        One score a canary.
    coins : ndarray of int64, shape (k,)
        1 where it is the included one.
    """
    coins = rng.integers(0, 2, len(run_in))
    return np.where(coins == 1, run_in, run_out), coins


def _streams(seed: int) -> list[Stream]:
    drawn, flips = np.random.default_rng(seed).spawn(2)
    target = targets.Gaussian(1.0)
    truth = GaussianDP(1.0)
    streams = [
        Stream(
            "Gaussian μ = 1",
            "pairs",
            target.sample(_OBSERVATIONS, rng=drawn),
            1.0,
            truth.epsilon_at(DELTA),
        )
    ]
    run = one_run.dp_sgd_scores("paper", seed)
    loss = one_run.privacy_loss(one_run.PAPER_RUN)
    epsilon = float(loss.get_epsilon_for_delta(DELTA))
    # No ceiling for mu: it grows without a useful limit as delta falls, with the mixture's tail.
    equivalent = max(
        GaussianDP.from_approximate(float(loss.get_epsilon_for_delta(d)), d).mu
        for d in (1e-2, 1e-4, 1e-6, 1e-8)
    )
    included, excluded = run.scores_in, run.scores_out
    for kind in (REMOVED, RATIO):
        name = f"DP-SGD canaries, {kind}"
        streams.append(
            Stream(name, "pairs", (excluded[kind], included[kind]), math.nan, epsilon, equivalent)
        )
    coins = flipped(included[RATIO], excluded[RATIO], rng=flips)
    name = f"DP-SGD canaries, {RATIO}, {COINS}"
    streams.append(Stream(name, "coins", coins, math.nan, epsilon, equivalent))
    return streams


_MUS = tuple(round(0.05 * k, 2) for k in range(1, 36))
_EPSILONS = tuple(round(0.25 * k, 2) for k in range(1, 33))


def epsilon_family(value: float) -> TradeoffCurve:
    """(value, 1e-5)-DP as a claim."""
    return ApproximateDP(value, DELTA)


_FAMILIES: Mapping[str, tuple[Callable[[float], TradeoffCurve], tuple[float, ...]]] = {
    "μ": (GaussianDP, _MUS),
    "ε": (epsilon_family, _EPSILONS),
}


def bounds(profile: str = "quick", seed: int = 9_104_775) -> Result:
    """Bound mu, and epsilon at delta = 1e-5, from below while observations come in.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both compute the same: the paper's DP-SGD run of 2,400 steps, and 10,000 observations of
        each stream.
    seed : int, default 9104775
        Seed of the draws, the training run and the coins.

    Returns
    -------
    Result
        One row for each stream, parameter and rise of the bound. The facts hold the last bounds,
        what is known from above, and the anytime p-value of the largest claim that is surely true.
    """
    check_profile(profile)
    return _bounds(profile, _streams(seed), "computed", one_run.PAPER_RUN)


def _bounds(profile: str, streams: Sequence[Stream], source: str, run: Any = None) -> Result:
    points, ends, p_values = [], [], {}
    monotone = same = True
    for stream in streams:
        settings = Betting(GaussianDP(1.0), level=LEVEL, form=stream.form)
        row: dict[str, Any] = {"stream": stream.name, "equivalent": stream.equivalent}
        for symbol, (family, grid) in _FAMILIES.items():
            ceiling = stream.mu if symbol == "μ" else stream.epsilon
            sequence = LowerBound(family, grid, settings)
            state = sequence.step(sequence.init(), stream.observations)
            path = [(1, 0.0), *state.jumps, (state.n_samples, state.bound)]
            monotone &= all(a[1] <= b[1] for a, b in itertools.pairwise(path))
            points += [(stream.name, symbol, n, value) for n, value in path]
            row |= {f"{symbol} above": state.bound, f"{symbol} at most": ceiling}
            # The last refuted claim and the next one, each audited alone.
            for index, refuted in ((state.refuted - 1, True), (state.refuted, False)):
                if 0 <= index < len(grid):
                    alone = replace(settings, claimed=family(grid[index]), horizon=_LONG)
                    found = betting.audit(alone, stream.observations)
                    same &= (found.rejected_at is not None) == refuted
            if not math.isnan(ceiling):
                claim = family(ceiling)
                true = replace(settings, claimed=claim, level=1e-12, horizon=_LONG)
                found = betting.audit(true, stream.observations)
                p_values[f"{stream.name}, {symbol}"] = found.p_value
        ends.append(row)
    table = pd.DataFrame(points, columns=["stream", "parameter", "n", "bound"])
    facts = {
        "ends": pd.DataFrame(ends),
        "monotone": monotone,
        "same": same,
        "p": min(p_values.values()) if p_values else math.nan,
        "p_values": p_values,
        "inside": all(
            row[f"{symbol} above"] < row[f"{symbol} at most"]
            for row in ends
            for symbol in _FAMILIES
            if not math.isnan(row[f"{symbol} at most"])
        ),
        "least": min(row["μ above"] for row in ends),
        "observations": {stream.name: len(stream.observations[0]) for stream in streams},
    }
    longest = max(len(stream.observations[0]) for stream in streams)
    ran = ""
    if run is not None:
        k = run.n_canaries
        ran = f"; DP-SGD on digits, T = {run.n_steps:,}, {k:,} + {k:,} canaries"
    return Result(profile, table, facts, f"{longest:,} observations{ran}", source)


def published_bounds(profile: str = "quick") -> Result:
    """Bound mu and epsilon from the published canary scores, in the order of the files.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both compute the same.

    Returns
    -------
    Result
        As `bounds`. The scores without a canary were drawn from a normal law by the authors, not
        measured, so this bounds the distance of the two lists' laws, not the privacy of the run.
    """
    check_profile(profile)
    included = np.array(datasets.load_scores("canary_scores_in"))
    excluded = np.array(datasets.load_scores("canary_scores_out"))
    n = min(len(included), len(excluded))
    stream = Stream("published scores", "pairs", (excluded[:n], included[:n]), math.nan, math.nan)
    return _bounds(profile, [stream], "files")


def bounds_table(result: Result) -> pd.DataFrame:
    """Last lower bounds of each stream beside what is known from above."""
    ends = result.facts["ends"]
    return pd.DataFrame(
        {
            "stream": ends["stream"],
            "μ above": ends["μ above"],
            "μ, true or equivalent": ends["μ at most"].fillna(ends["equivalent"]),
            "ε above": ends["ε above"],
            "ε at most": ends["ε at most"],
        }
    )


def _gaussian_floor(claim: TradeoffCurve) -> float:
    # Claims about epsilon rest on rare outputs, which need finer cells.
    return floor(replace(rows()[4], claimed=claim), cells=240).low


def reach(symbol: str, most: int) -> list[tuple[float, float]]:
    """How high a bound for the Gaussian mechanism with mu = 1 can be, by the information floor.

    Parameters
    ----------
    symbol : {"μ", "ε"}
        The parameter.
    most : int
        Largest number of pairs.

    Returns
    -------
    list of (float, float)
        Fewest expected pairs at which any audit of level 0.05 refutes a claim, and the claim's
        parameter, up to `most` pairs.
    """
    family, grid = _FAMILIES[symbol]
    found = []
    for value in grid:
        pairs = _gaussian_floor(family(value))
        if pairs > most:
            break
        found.append((pairs, value))
    return found


def epsilon_floors() -> dict[str, float]:
    """Information floors of claims about epsilon at delta = 1e-5 for the Gaussian mechanism."""
    two, three = (_gaussian_floor(epsilon_family(value)) for value in (2, 3))
    true = GaussianDP(1.0).epsilon_at(DELTA)
    # Binning raises a floor by a few per cent: two digits.
    return {
        "exact_floor_two": float(f"{two:.1e}"),
        "exact_floor_three": float(f"{three:.0e}"),
        "exact_true_epsilon": true,
    }


def draw_bounds(result: Result) -> Figure:
    """Draw lower bounds over time: mu and epsilon, with the truth or the accountant's bound.

    Where the Gaussian mechanism is among the streams, the highest bound that the information floor
    allows for it is drawn too.
    """
    figure, axes = plots.new_figure(2, height=3.6)
    ends = result.facts["ends"].set_index("stream")
    for axis, symbol in zip(axes, _FAMILIES, strict=True):
        part = result.table[result.table["parameter"] == symbol]
        plots.log_axis(axis, "x")
        for position, (name, series) in enumerate(part.groupby("stream", sort=False)):
            look = {**plots.style(str(name), position), "marker": ""}
            axis.step(series["n"], series["bound"], where="post", label=str(name), **look)
        if "Gaussian μ = 1" in ends.index:
            pairs, value = zip(*reach(symbol, 11_000), strict=True)
            look = {"color": plots.style("", 0)["color"], "lw": 1.0, "ls": "--"}
            axis.plot(pairs, value, label="no audit is sooner on average (Gaussian)", **look)
        known = ends[f"{symbol} at most"]
        if symbol == "μ":
            known = known.fillna(ends["equivalent"])
        known = known.dropna()
        for name, value in known.drop_duplicates().items():
            own = str(name).startswith("Gaussian")
            color = plots.style("", 0)["color"] if own else plots.BLACK
            axis.axhline(value, color=color, lw=1.0, ls=":")
            word = "truth" if own else "accountant" if symbol == "ε" else "accountant, equivalent"
            axis.annotate(
                word,
                (9, value),
                xytext=(0, 2),
                textcoords="offset points",
                color=color,
                fontsize="small",
            )
        axis.set_xlim(8, 11_000)
        axis.set_ylim(0, None)
        axis.set_xlabel("pairs, or single coin flips")
    axes[0].set_ylabel("lower bound on μ")
    axes[1].set_ylabel("lower bound on ε, δ = 1e-5")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize="small"
    )
    return figure


# --- the comparison --------------------------------------------------------------------------

OURS, PUBLISHED, CORNER, LINE, BATCH, MMD = METHODS = (
    "betting",
    "APT, published",
    "APT, corner",
    "APT, line",
    "fixed batch",
    "MMD, repaired",
)
CORRECTED, ONE_SHOT, HOEFFDING = TABLE_ONLY = (
    "APT, corrected side",
    "fixed batch, own pairs",
    "fixed batch, Hoeffding",
)
GUARANTEES: Mapping[str, str] = {
    OURS: "exact, at any time",
    PUBLISHED: "none: re-scored pairs",
    CORRECTED: "none: re-scored pairs",
    ONE_SHOT: "none: judged on its own pairs",
    CORNER: "asymptotic; above it at μ = 3",
    LINE: "asymptotic; above it at μ = 1",
    BATCH: "asymptotic, for one n",
    HOEFFDING: "exact, for one n",
    MMD: "exact, at any time",
}
SIZES = (40, 60, 80, 120, 160, 240, 320, 480, 640, 960)
_FIXED = (BATCH, ONE_SHOT, HOEFFDING)


@dataclass(frozen=True)
class Setting:
    """One claim that all methods audit.

    Parameters
    ----------
    name : str
        Laws and claim.
    target : Target
        The mechanism.
    claimed : TradeoffCurve
        The claim.
    approximate : tuple of float
        (epsilon, delta) for the MMD test: the claim, or what it implies about total variation.
    """

    name: str
    target: targets.Target
    claimed: TradeoffCurve
    approximate: tuple[float, float]


NULL_SETTING = "P = Q Cauchy, ε = 0"
LAPLACE_SETTING = "Laplace μ = 1, claim 0.5"  # where another method is ahead for a while


def comparison_settings() -> list[Setting]:
    """Give four violated claims and a true one.

    The MMD test audits claims about epsilon and delta; for a curve it gets the total variation that
    the curve allows, (0, 1 - c(1)).
    """
    gaussian, laplace, descent = GaussianDP(0.5), LaplaceDP(0.5), DPSGDToy(5)
    return [
        Setting("NonDPLaplace1, ε = 0.1", targets.NonDPLaplace1(0.1), PureDP(0.1), (0.1, 0.0)),
        Setting(
            "Gaussian μ = 1, claim 0.5", targets.Gaussian(), gaussian, (0.0, gaussian.delta_at(0.0))
        ),
        Setting(LAPLACE_SETTING, targets.Laplace(), laplace, (0.0, laplace.delta_at(0.0))),
        Setting("DP-SGD τ = 10, claim 5", targets.DPSGD(10), descent, (0.0, descent.delta_at(0.0))),
        Setting(NULL_SETTING, targets.Cauchy(0.0), PureDP(0.0), (0.0, 0.0)),
    ]


def stops_on(setting: Setting, pairs: tuple[Floats, Floats]) -> tuple[dict[str, int], Any]:
    """Run every method on the same pairs.

    Parameters
    ----------
    setting : Setting
        The claim.
    pairs : tuple of ndarray of float64, shape (n,)
        Outputs on D and on D'.

    Returns
    -------
    stops : dict
        Pairs at rejection, or `NOT_REJECTED`, of the methods that may stop at any time.
    batches : dict of ndarray of bool, shape (len(SIZES),)
        Whether the tests for one n reject, for each n of `SIZES`.
    """
    x, y = pairs
    n = len(x)
    claim = setting.claimed
    found = betting.audit(Betting(claim, level=LEVEL, horizon=n), pairs).rejected_at
    stops = {OURS: NOT_REJECTED if found is None else found}
    for name, settings in (
        (PUBLISHED, APT.published(claim, level=LEVEL, horizon=HORIZON)),
        (CORRECTED, APT.published(claim, level=LEVEL, horizon=HORIZON, side="corrected")),
        # What a horizon costs, theirs need not pay for pairs that do not come.
        (CORNER, APT(claim, level=LEVEL, horizon=n)),
        (LINE, APT(claim, level=LEVEL, horizon=n, decision="line")),
    ):
        stops[name] = apt.path(settings, pairs, stop=True).rejected_at
    epsilon, delta = setting.approximate
    kernel = MMDTest.variant(REPAIRED, epsilon, delta, level=LEVEL, horizon=n)
    ended = kernel.step(kernel.init(), pairs).rejected_at
    stops[MMD] = NOT_REJECTED if ended is None else ended
    batches = {
        name: np.array([test.test((x[:m], y[:m])).rejected for m in SIZES])
        for name, test in (
            (BATCH, BatchTest(claim, level=LEVEL, bound="normal")),
            (ONE_SHOT, BatchTest.one_shot(claim, level=LEVEL)),
            (HOEFFDING, BatchTest(claim, level=LEVEL)),
        )
    }
    return stops, batches


def _many(setting: Setting, generators: Sequence[np.random.Generator]) -> list[Any]:
    last = SIZES[-1]
    return [stops_on(setting, setting.target.sample(last, rng=g)) for g in generators]


def compare(profile: str = "quick", seed: int = 9_104_776) -> Result:
    """Audit the same streams by every method.

    Parameters
    ----------
    profile : {"quick", "paper"}
        25 or 400 streams of 960 pairs for each setting (50 or 1,000 for the true claim).
    seed : int, default 9104776
        Seed of the streams.

    Returns
    -------
    Result
        One row for each setting, method and n: share of streams rejected by n, with 95 % Wilson
        intervals. The facts hold the paired comparisons of the pairs used.
    """
    return _compare_result(check_profile(profile), _compare_runs(profile, seed), seed)


def _compare_runs(profile: str, seed: int) -> dict[str, Stops]:
    """Outcomes by "setting: method": pairs at rejection, or 0 and 1 for each n of `SIZES`."""
    found = {}
    settings = comparison_settings()
    for setting, generator in zip(
        settings, np.random.default_rng(seed).spawn(len(settings)), strict=True
    ):
        null = setting.name == NULL_SETTING
        repeats = (1000 if null else 400) if profile == "paper" else (50 if null else 25)
        generators = generator.spawn(repeats)
        blocks = [generators[i : i + 10] for i in range(0, repeats, 10)]
        work = (joblib.delayed(_many)(setting, block) for block in blocks)
        outcomes = list(itertools.chain(*joblib.Parallel(n_jobs=N_JOBS[profile])(work)))
        for method in (*METHODS, *TABLE_ONLY):
            rows = [(one | other)[method] for one, other in outcomes]
            found[f"{setting.name}: {method}"] = np.array(rows, dtype=np.int64)
    return found


def _compare_result(profile: str, runs: records.Runs, seed: int) -> Result:
    grid = np.array(SIZES)
    points, summary = [], []
    order: dict[str, dict[str, Any]] = {}
    lead: dict[str, Any] = {}
    for setting in comparison_settings():
        null = setting.name == NULL_SETTING
        methods = {name: runs[f"{setting.name}: {name}"] for name in (*METHODS, *TABLE_ONLY)}
        by = {
            name: found.T == 1
            if name in _FIXED
            else (found != NOT_REJECTED) & (found <= grid[:, None])
            for name, found in methods.items()
        }
        repeats = len(methods[OURS])
        for name, found in methods.items():
            hits = by[name].sum(axis=1)
            rate, low, high = wilson(hits, repeats)
            points += [
                (setting.name, name, *row) for row in zip(SIZES, rate, low, high, strict=True)
            ]
            summary.append(
                {
                    "setting": setting.name,
                    "method": name,
                    "pairs used": math.nan
                    if name in _FIXED
                    else float(_used(found, SIZES[-1]).mean()),
                    "half by": half_point(SIZES, rate) if name in _FIXED else median_stop(found),
                    "rejected": float(rate[-1]),
                    "p": float(stats.binom.sf(hits[-1] - 1, repeats, LEVEL)),
                }
            )
        if not null:
            if setting.name == LAPLACE_SETTING:
                lead = _lead(by[OURS], by[CORRECTED])
            order[setting.name] = {
                name: _discordant(by[OURS], by[name])
                if name in _FIXED
                else paired(methods[OURS], found, SIZES[-1], _COMPARISONS)
                for name, found in methods.items()
                if name != OURS
            }
    table = pd.DataFrame(points, columns=["setting", "method", "n", "rate", "low", "high"])
    about = pd.DataFrame(summary)
    rates = about[about["setting"] == NULL_SETTING].set_index("method")["rejected"]
    facts = {
        "summary": about,
        "order": order,
        "own_null": float(rates[ONE_SHOT]),
        "corrected_null": float(rates[CORRECTED]),
        "lead": lead,
        **_drawn("together-exact-compare", runs, seed),
    }
    counted = "400 streams (1,000 of the true claim)" if profile == "paper" else "25 streams (50)"
    return Result(profile, table, facts, f"{counted} of {SIZES[-1]} pairs, the same for all")


def _lead(ours: NDArray[np.bool_], theirs: NDArray[np.bool_]) -> dict[str, Any]:
    """Where another method has rejected most more of the same streams than ours; rows are n."""
    place = int(np.argmax(theirs.mean(axis=1) - ours.mean(axis=1)))
    first, second = (
        int(np.sum(theirs[place] & ~ours[place])),
        int(np.sum(ours[place] & ~theirs[place])),
    )
    return {
        "n": SIZES[place],
        "ours": float(ours[place].mean()),
        "theirs": float(theirs[place].mean()),
        "p": float(stats.binomtest(first, max(1, first + second)).pvalue),
    }


# Four violated claims against eight other methods share the false-alarm rate.
_COMPARISONS = 32


def _discordant(ours: NDArray[np.bool_], theirs: NDArray[np.bool_]) -> dict[str, Any]:
    """Compare rejections on the same streams where a fixed test rejects about half of them.

    Rows of both arrays are sample sizes. Streams on which only one of the two rejects are fair
    coins if both reject equally often: an exact sign test.
    """
    place = int(np.argmin(np.abs(theirs.mean(axis=1) - 0.5)))
    first = int(np.sum(ours[place] & ~theirs[place]))
    second = int(np.sum(theirs[place] & ~ours[place]))
    p = float(stats.binomtest(first, first + second).pvalue) if first + second else 1.0
    decided = p < FALSE_ALARM / _COMPARISONS
    return {
        "order": (-1 if first > second else 1) if decided else 0,
        "n": SIZES[place],
        "only ours": first,
        "only theirs": second,
    }


def median_stop(stops: Stops) -> float:
    """Pairs by which half of the audits have rejected; NaN if fewer do."""
    ordered = np.sort(stops[stops != NOT_REJECTED])
    half = -(-len(stops) // 2)
    return float(ordered[half - 1]) if len(ordered) >= half else math.nan


def half_point(sizes: Sequence[int], rates: Any) -> float:
    """First n at which a test of one n rejects half of the streams, interpolated in log n.

    Parameters
    ----------
    sizes : sequence of int
        Rising.
    rates : sequence of float
        Shares at these sizes.

    Returns
    -------
    float
        NaN if half is not reached; the first size if it is exceeded there already.
    """
    top = np.maximum.accumulate(np.asarray(rates, dtype=np.float64))
    if top[-1] < 0.5:
        return math.nan
    place = int(np.argmax(top >= 0.5))
    if place == 0:
        return float(sizes[0])
    share = (0.5 - top[place - 1]) / (top[place] - top[place - 1])
    return float(sizes[place - 1] * (sizes[place] / sizes[place - 1]) ** share)


def draw_compare(result: Result) -> Figure:
    """Draw rejection rate against n, one panel for each setting."""
    figure, axes = plots.new_figure(3, rows=2, height=2.7)
    settings = [setting.name for setting in comparison_settings()]
    for axis, name in zip(axes[:-1], settings, strict=True):
        part = result.table[result.table["setting"] == name]
        plots.log_axis(axis, "x")
        axis.axhline(LEVEL, color=plots.BLACK, lw=0.8, ls=":")
        for position, method in enumerate(METHODS):
            series = part[part["method"] == method]
            look = {**plots.style(method, position), "marker": ""}
            axis.plot(series["n"], series["rate"], label=method, **look)
            axis.fill_between(
                series["n"], series["low"], series["high"], color=look["color"], alpha=0.08, lw=0
            )
        if name != NULL_SETTING:
            label = "information floor"
            axis.axvline(_floor_of(name).low, color=plots.BLACK, lw=1.0, ls="--", label=label)
        axis.set_xlim(30, SIZES[-1])
        ticks = (50, 100, 200, 500)
        axis.set_xticks(ticks, [str(n) for n in ticks])
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_title(name, loc="right", fontsize="x-small")
        top = 0.2 if name == NULL_SETTING else 1.03
        axis.set_ylim(-0.02 * top, top)
        axis.set_xlabel("pairs n")
    for axis in axes[::3]:
        axis.set_ylabel("rejected by n")
    axes[-1].set_axis_off()
    axes[-1].set_title("", loc="left")
    handles, labels = axes[0].get_legend_handles_labels()
    axes[-1].legend(handles, labels, loc="center", frameon=False)
    return figure


def compare_table(result: Result) -> pd.DataFrame:
    """One row for each method: pairs at which half are rejected, and the true claim's rate."""
    about = result.facts["summary"]
    shown = []
    for method in (*METHODS, *TABLE_ONLY):
        part = about[about["method"] == method].set_index("setting")
        row: dict[str, Any] = {"method": method, "level 0.05 holds": GUARANTEES[method]}
        for setting in comparison_settings():
            if setting.name == NULL_SETTING:
                row["true claim rejected"] = f"{100 * part.loc[setting.name, 'rejected']:.1f} %"
            else:
                half = float(part.loc[setting.name, "half by"])
                row[setting.name] = f"above {SIZES[-1]}" if math.isnan(half) else f"{half:.0f}"
        shown.append(row)
    return pd.DataFrame(shown)


# --- stored runs -----------------------------------------------------------------------------


def _drawn(name: str, runs: records.Runs, seed: int, horizon: int | None = None) -> dict[str, Any]:
    """What `reproduced` needs to hold a result against its record."""
    return {"record": name, "runs": runs, "seed": seed, "horizon": horizon}


RECORDED: Mapping[str, tuple[Callable[[str, int], Any], Callable[[str, Any, int], Result]]] = {
    "together-exact-null": (_type_one_runs, _type_one_result),
    "together-exact-bar": (_bar_runs, _bar_result),
    "together-exact-known": (_known_runs, _known_result),
    "together-exact-compare": (_compare_runs, _compare_result),
}
"""What `make record` runs, and how a result follows from the runs."""


def stored(name: str) -> Result:
    """Give the paper profile of a check from the stored runs.

    Parameters
    ----------
    name : str
        A key of `RECORDED`.

    Returns
    -------
    Result
        As the check itself gives; only the runs are stored. Its setting says when they were made.
    """
    record = records.load(name)
    result = RECORDED[name][1]("paper", record.runs, record.seed)
    return replace(result, setting=f"{result.setting}; {record.words()}")


def reproduced(*results: Result) -> Result:
    """Hold the runs of today against the stored ones.

    Parameters
    ----------
    *results : Result
        Of `type_one`, `bar`, `known_ratio` or `compare`, in either profile.

    Returns
    -------
    Result
        One row for each record: how many of its runs were made again, and how many came out equal.
    """
    rows = []
    for result in results:
        facts = result.facts
        record = records.load(facts["record"])
        found = records.reproduces(record, facts["runs"], facts["horizon"])
        rows.append({**found, "seed": facts["seed"] == record.seed})
    table = pd.DataFrame(rows)
    facts = {
        "runs": int(table["runs"].sum()),
        "equal": int(table["equal"].sum()),
        "seed": bool(table["seed"].all()),
        "made": sorted(set(table["made"])),
        "versions": "; ".join(sorted(set(table["versions"]))),
    }
    return Result(results[0].profile, table, facts, "seeds of the records")


# --- judges ----------------------------------------------------------------------------------


def _judge_no_gain(result: Result) -> Evidence:
    facts = result.facts
    holds = facts["excess"] <= 1e-12 and facts["smallest_return"] >= 0 and facts["idle"] < 1e-5
    return exact_if(
        holds and facts["defect"] > 1e-12,
        f"largest mean return at most 1 + {num(max(facts['excess'], 0.0), 1)} over "
        f"{facts['curves']} claims and both forms; no return below "
        f"{num(facts['smallest_return'], 1)}; every line comes within {num(facts['idle'], 1)} of 1",
        "at most 1, up to 1e-12; no return below 0; every line touches its curve",
        "Between the points the bound is that of c(s), which is proved. With c(s) overstated by "
        f"one per cent every asset gains on every claim, at least {num(facts['defect'], 2)}: the "
        "check can fail.",
    )


def _judge_level(result: Result) -> Evidence:
    facts = result.facts
    holds = 0 < facts["least"] and facts["largest"] <= _SMALL_LEVEL and facts["growth"] <= 1e-14
    seen = facts["false_largest"] > _SMALL_LEVEL and facts["false_growth"] > 1e-3
    return exact_if(
        holds and seen,
        f"rejected with probability {num(facts['least'])} to {num(facts['largest'])}; expected "
        f"wealth never grows in one step by more than {num(max(facts['growth'], 0.0), 1)}",
        f"above 0, at most {_SMALL_LEVEL:g}; no growth at any history",
        f"Everything staked, so that few pairs can reject. False claims: rejected with up to "
        f"{num(facts['false_largest'])}, and wealth grows at some history by at least "
        f"{num(facts['false_growth'])}.",
    )


def _judge_null(result: Result) -> Evidence:
    facts = result.facts
    seen = facts["defect_p"] < facts["bound"]
    fine = facts["p"] >= facts["bound"]
    return Evidence(
        (WITHIN_ERROR if seen else SHAPE_ONLY) if fine else DIFFERS,
        f"largest rate {num(facts['largest'], 2)} of {facts['repeats']:,} runs "
        f"({facts['largest_null']}); smallest exact p {num(facts['p'], 2)}",
        f"at most {LEVEL:g} on each of {facts['nulls']} true claims",
        tolerance=f"exact binomial p ≥ {num(facts['bound'], 2)} for each",
        false_alarm=FALSE_ALARM,
        note=f"A true rate of {num(facts['seen'], 2)} would be seen with probability 0.99. A false "
        f"claim in the same table is rejected in {num(100 * facts['defect_rate'])} % and is seen.",
    )


def _bar_critical(table: pd.DataFrame) -> Any:
    """Critical t of each row: two comparisons in each of ten rows share the false alarm."""
    return stats.t.isf(FALSE_ALARM / (2 * len(table)), table["rate"] * table["repeats"] - 1)


def _judge_bar(result: Result) -> Evidence:
    table = result.table
    critical = _bar_critical(table)
    below = table["z_published"] < -critical
    above = table["z_published"] > critical
    shares = table["mean"] / table["published"]
    return Evidence(
        DIFFERS if above.any() else WITHIN_ERROR if below.all() else SHAPE_ONLY,
        f"{num(100 * shares.min(), 2)} to {num(100 * shares.max(), 2)} % of APT's published mean, "
        f"surely below in {int(below.sum())} of {len(table)} rows",
        "below in all rows",
        tolerance="t-tests in every row",
        false_alarm=FALSE_ALARM,
        note="Both at level 0.05. APT's numbers come from options whose level fails on other true "
        "claims; its sound variants need more pairs. The configuration was revised once after an "
        "earlier draw with other seeds; these seeds are later.",
    )


def _judge_prototype(result: Result) -> Evidence:
    table = result.table
    worse = table["z_prototype"] > _bar_critical(table)
    ratio = table["mean"] / table["prototype"]
    upper = float(((table["mean"] + 1.96 * table["error"]) / table["prototype"]).max())
    close = ratio <= 1.1
    beyond = ", ".join(
        f"{row} {num(value)}" for row, value in zip(table["row"], ratio, strict=True) if value > 1.1
    )
    return Evidence(
        DIFFERS if worse.any() else WITHIN_ERROR if close.all() else SHAPE_ONLY,
        f"{num(ratio.min())} to {num(ratio.max())} times the prototype; at most 1.1 in "
        f"{int(close.sum())} of {len(table)} rows" + (f", above: {beyond}" if beyond else ""),
        "at most 1.1 times in all rows",
        tolerance="differs where a ratio above 1.1 is sure",
        false_alarm=FALSE_ALARM,
        note="The prototype, an earlier sketch of this auditor, was tuned a little on these rows "
        "and used two configurations; its means are taken as exact. Upper 95 % limits of the "
        f"ratios: up to {num(upper)}.",
    )


def _judge_rates(result: Result) -> Evidence:
    table = result.table
    missed = int(((1 - table["rate"]) * table["repeats"]).round().sum())
    least = int(table["repeats"].min())
    high = 1 - (0.05) ** (1 / least)
    worse = [
        str(row["row"])
        for _, row in table.iterrows()
        if stats.binom.cdf(round(row["rate"] * row["repeats"]), row["repeats"], 0.99)
        < FALSE_ALARM / len(table)
    ]
    return Evidence(
        DIFFERS if worse else WITHIN_ERROR if not missed else SHAPE_ONLY,
        f"{missed} of {int(table['repeats'].sum()):,} runs do not reject within {HORIZON:,} pairs",
        "0",
        tolerance="differs where a rate below 0.99 is sure",
        false_alarm=FALSE_ALARM,
        note=f"With no miss in {least:,} runs the chance of one is below {num(high, 2)} at 95 % "
        "confidence. APT's published rate for DP-SGD against claim 7 is 0.927.",
    )


def _judge_floor(result: Result) -> Evidence:
    table, facts = result.table, result.facts
    critical = _bar_critical(table)
    impossible = table["z_floor"] < -critical
    slow = table["z_factor"] > critical
    inside = (table["mean"] > table["floor"]) & (table["mean"] < FACTOR * table["floor_high"])
    return Evidence(
        DIFFERS
        if bool(impossible.any() or slow.any())
        else WITHIN_ERROR
        if inside.all()
        else SHAPE_ONLY,
        f"{num(facts['smallest'])} to {num(facts['largest'])} times log(1/level) / KL_inf",
        f"above 1, where no audit can be lower, and below {FACTOR:g}",
        tolerance="t-tests in every row",
        false_alarm=FALSE_ALARM,
        note="The floor is certified for outputs in 60 bins; finer bins lower it by less than one "
        "per cent in every row. It holds for audits that know both laws; ours learns them.",
    )


def _judge_known(result: Result) -> Evidence:
    saved = result.facts["saved"]
    verdict = {-1: WITHIN_ERROR, 0: SHAPE_ONLY, 1: DIFFERS}[saved["order"]]
    return Evidence(
        verdict,
        f"typically {num(saved['ratio'], 2)} times the pairs of the black box; earlier on "
        f"{num(100 * saved['earlier'], 2)} % of the streams",
        "fewer pairs with the known ratio",
        tolerance="paired t-test of log-ratios",
        false_alarm=FALSE_ALARM,
        note="What is left above the floor is not knowing which bet is best, cash held back, the "
        "pairs before the first bet, and the overshoot at the end.",
    )


def _judge_vectors(result: Result) -> Evidence:
    table = result.table.set_index("the auditor sees")
    hits, runs = table["rejected"], int(table["runs"].iloc[0])
    false = float(stats.binom.sf(hits[FIRST] - 1, runs, LEVEL))
    missed = [seen for seen in (BOTH, SUM) if hits[seen] < runs]
    surely = [
        seen
        for seen in missed
        if stats.binom.cdf(hits[seen], runs, 0.95) < FALSE_ALARM / (len(SEEN))
    ]
    wrong = bool(surely) or false < FALSE_ALARM / len(SEEN)
    return Evidence(
        DIFFERS if wrong else SHAPE_ONLY if missed else WITHIN_ERROR,
        "; ".join(f"{seen}: {hits[seen]} of {runs}" for seen in SEEN),
        "at most 5 % for the first release, whose claim holds; all for both",
        tolerance="exact binomial tests: above 5 % for the first, below 95 % for both",
        false_alarm=FALSE_ALARM,
        note="Any object with scikit-learn's fit and predict_proba will do; the level does not "
        "depend on it.",
    )


def _judge_bounds(result: Result) -> Evidence:
    facts = result.facts
    limit = FALSE_ALARM / max(1, len(facts["p_values"]))
    refuted = facts["p"] < limit
    ends = facts["ends"]
    words = "; ".join(
        f"{row['stream']}: {row['μ above']:g} and {row['ε above']:g}" for _, row in ends.iterrows()
    )
    return Evidence(
        DIFFERS if refuted else WITHIN_ERROR if facts["inside"] else SHAPE_ONLY,
        f"last bounds on μ and ε: {words}",
        "below the truth; for DP-SGD, ε below the accountant's",
        tolerance=f"anytime p-value of the true claims at least {num(limit, 2)}, smallest "
        f"{num(facts['p'], 2)}",
        false_alarm=FALSE_ALARM,
        note="Each single bound is wrong with probability at most 0.05, ever. For DP-SGD no useful "
        "μ is proved from above: the accountant's equivalent μ grows as δ falls. The bound on ε "
        "rests on one line of the curve, so it is far below what the accountant states.",
    )


def _judge_nested(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["monotone"] and facts["same"],
        f"never falls: {'yes' if facts['monotone'] else 'no'}; the last refuted claim and the next "
        f"one, each audited alone, agree: {'yes' if facts['same'] else 'no'}",
        "yes; yes",
        "All claims of the grid share one level: only one of them can make the bound wrong.",
    )


def _judge_dependence(result: Result) -> Evidence:
    facts = result.facts
    holds = (
        facts["coin_told"] > 1
        and facts["guess_told"] <= 1
        and all(value <= 1 for value in facts["answered"].values())
        and facts["coin_rejects"] > LEVEL >= facts["guess_rejects"]
    )
    return exact_if(
        holds,
        f"mean return once an earlier score tells the coin: coin form {facts['told'][COIN]}, "
        f"guesses only {facts['told'][GUESS]}; a true claim is ever rejected with probability "
        f"{num(facts['coin_rejects'])} and {num(facts['guess_rejects'])} in 200 such hints",
        "above 1 and at most 1; above and at most 0.05",
        "So the coin form needs what it says: given what came before, a fair coin and a score with "
        "law P or Q. The pure-ε argument for arbitrary dependence covers bets on guesses only.",
    )


def _judge_published(result: Result) -> Evidence:
    facts = result.facts
    row = facts["ends"].iloc[0]
    return exact_if(
        1.1 <= row["μ above"] < 1.4 and facts["monotone"],
        f"μ above {row['μ above']:g}, ε above {row['ε above']:g} at δ = 1e-5, after "
        f"{facts['observations']['published scores']:,} pairs in the order of the files",
        "at least 1.1, and below 1.4",
        "If the pairs are independent draws, each bound is wrong with probability at most 0.05. "
        "The scores without a canary were drawn by the authors, not measured.",
    )


def _judge_reproduced(result: Result) -> Evidence:
    facts = result.facts
    same = facts["equal"] == facts["runs"]
    verdict = (EXACT if same else DIFFERS) if facts["seed"] else NOT_CHECKABLE
    return Evidence(
        verdict,
        f"{facts['equal']:,} of {facts['runs']:,} runs of today equal those recorded on "
        f"{', '.join(facts['made'])}",
        "all",
        note="Made with the record's own seed, so no chance is involved. Means, intervals and "
        "verdicts of the paper profile are computed from the recorded runs on this page. Recorded "
        f"with {facts['versions']}.",
    )


def _orders(result: Result, methods: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Cases in which ours uses fewer pairs, more pairs, and undecided ones."""
    found: tuple[list[str], list[str], list[str]] = ([], [], [])
    for setting, row in result.facts["order"].items():
        for method in methods:
            found[{-1: 0, 1: 1, 0: 2}[row[method]["order"]]].append(f"{method} on {setting}")
    return found


def _order_evidence(result: Result, methods: Sequence[str], expected: str, note: str) -> Evidence:
    fewer, more, undecided = _orders(result, methods)
    cases = len(fewer) + len(more) + len(undecided)
    what = f"; another is faster: {', '.join(more)}" if more else ""
    return Evidence(
        DIFFERS if more else SHAPE_ONLY if undecided else WITHIN_ERROR,
        f"surely faster in {len(fewer)} of {cases} cases, undecided in {len(undecided)}{what}",
        expected,
        tolerance="paired tests on the same streams",
        false_alarm=FALSE_ALARM,
        note=note,
    )


def _judge_compare(result: Result) -> Evidence:
    ratios = [
        row[method]["ratio"]
        for row in result.facts["order"].values()
        for method in (CORNER, LINE, MMD)
    ]
    return _order_evidence(
        result,
        (CORNER, LINE, MMD),
        "faster in all",
        f"Typical pairs of ours over theirs: {num(min(ratios), 2)} to {num(max(ratios), 2)}, with "
        f"unfinished audits counted as {SIZES[-1]} pairs.",
    )


def _judge_rescored(result: Result) -> Evidence:
    ratios = {
        f"{method} on {setting}": row[method]["ratio"]
        for setting, row in result.facts["order"].items()
        for method in (PUBLISHED, CORRECTED)
    }
    slowest = max(ratios, key=lambda name: ratios[name])
    return _order_evidence(
        result,
        (PUBLISHED, CORRECTED),
        "faster in all",
        f"Typical pairs of ours over theirs: {num(min(ratios.values()), 2)} to "
        f"{num(ratios[slowest], 2)} ({slowest}). These variants have no level.",
    )


def _judge_fixed(result: Result) -> Evidence:
    return _order_evidence(
        result,
        (BATCH, HOEFFDING),
        "ours rejects more streams by the n at which the fixed test's share is nearest to a half",
        "The fixed test is given its best case: that n is not known beforehand. It learns on one "
        "half of the pairs and judges on the other.",
    )


def _judge_compare_null(result: Result) -> Evidence:
    about = result.facts["summary"]
    part = about[about["setting"] == NULL_SETTING].set_index("method")
    bound = FALSE_ALARM / 3
    ours = float(part.loc[OURS, "p"])
    broken = [m for m in (PUBLISHED, CORRECTED) if float(part.loc[m, "p"]) < bound]
    words = "; ".join(
        f"{m} {100 * float(part.loc[m, 'rejected']):.1f} %" for m in (OURS, PUBLISHED, CORRECTED)
    )
    if ours < bound:
        verdict = DIFFERS
    else:
        verdict = WITHIN_ERROR if broken else SHAPE_ONLY
    return Evidence(
        verdict,
        words,
        "at most 5 % for ours; more for APT with re-scored pairs",
        tolerance=f"exact binomial p < {num(bound, 2)}",
        false_alarm=FALSE_ALARM,
        note=f"By {SIZES[-1]} pairs. Surely above 5 %: {', '.join(broken) or 'none yet'}.",
    )


def _claim(
    id: str,
    label: str,
    kind: str,
    statement: str,
    run: Callable[[str], Result],
    judge: Callable[[Result], Evidence],
    recorded: Mapping[tuple[str, str], str],
    page: str = PAGE,
) -> Claim:
    return Claim(
        id=f"together-exact-{id}",
        paper="together",
        label=f"{label} (own)",
        kind=kind,
        mark="own",
        statement=statement,
        run=run,
        judge=judge,
        page=page,
        recorded=recorded,
    )


_LATER = {("quick", "computed"): SHAPE_ONLY, ("paper", "computed"): WITHIN_ERROR}

CLAIMS = (
    _claim(
        "no-gain",
        "No asset gains",
        "theorem",
        "Under laws that respect the claim no asset has a mean return above 1, and none a return "
        "below 0.",
        no_gain,
        _judge_no_gain,
        always(EXACT),
    ),
    _claim(
        "level",
        "The level, by enumeration",
        "theorem",
        "On laws exactly on the claim the probability of ever rejecting is at most the level, and "
        "wealth grows on average at no history.",
        level,
        _judge_level,
        always(EXACT),
    ),
    _claim(
        "null",
        "The level, measured",
        "statement",
        "Thirteen true claims, on the edge, with heavy tails, atoms or dependent pairs, are "
        "rejected in at most 5 % of the runs.",
        type_one,
        _judge_null,
        always(WITHIN_ERROR),
    ),
    _claim(
        "bar",
        "Pairs to reject",
        "table",
        "With one configuration and fresh seeds the mean number of pairs is below APT's published "
        "one in all ten rows.",
        bar,
        _judge_bar,
        _LATER,
    ),
    _claim(
        "prototype",
        "Against the prototype",
        "table",
        "The mean number of pairs is at most 1.1 times that of a prototype tuned on these rows.",
        bar,
        _judge_prototype,
        _LATER,
    ),
    _claim(
        "rates",
        "Every run rejects",
        "table",
        "All runs in all ten rows reject within 10,050 pairs.",
        bar,
        _judge_rates,
        always(WITHIN_ERROR),
    ),
    _claim(
        "floor",
        "The information floor",
        "table",
        "The mean number of pairs is at most 2.5 times the information floor in all ten rows.",
        bar,
        _judge_floor,
        _LATER,
    ),
    _claim(
        "known",
        "What the likelihood ratio is worth",
        "statement",
        "An analyst who knows the likelihood ratio needs fewer pairs than the black box.",
        known_ratio,
        _judge_known,
        _LATER,
    ),
    _claim(
        "vectors",
        "Outputs that are vectors",
        "statement",
        "Two releases, each within the claim μ = 1, are refuted together by a classifier with "
        "scikit-learn's interface; one release alone is not.",
        vectors,
        _judge_vectors,
        always(WITHIN_ERROR),
    ),
    _claim(
        "record",
        "The recorded runs",
        "statement",
        "The runs of the paper profile that this page shows are those that the code makes: the "
        "first of them are made again.",
        lambda profile: reproduced(type_one(profile), bar(profile), known_ratio(profile)),
        _judge_reproduced,
        always(EXACT),
    ),
    _claim(
        "bounds",
        "Lower bounds at all times",
        "figure",
        "The lower bounds on μ and ε stay below the truth, and for DP-SGD that on ε below the "
        "accountant's upper bound.",
        bounds,
        _judge_bounds,
        always(WITHIN_ERROR),
    ),
    _claim(
        "nested",
        "One level for all claims of a family",
        "theorem",
        "The lower bound never falls, and it is what separate audits of the claims give.",
        bounds,
        _judge_nested,
        always(EXACT),
    ),
    _claim(
        "dependence",
        "What one-run audits assume",
        "statement",
        "If scores tell about other canaries' coins, the coin form loses its level under pure "
        "ε-DP; bets that only right guesses win keep it.",
        dependence,
        _judge_dependence,
        always(EXACT),
    ),
    _claim(
        "compare",
        "Against audits whose tests are fixed beforehand",
        "figure",
        "On the same streams the betting audit needs fewer pairs than APT, by corner or line, and "
        "the MMD test.",
        compare,
        _judge_compare,
        _LATER,
        COMPARISON_PAGE,
    ),
    _claim(
        "compare-rescored",
        "Against APT with re-scored pairs",
        "figure",
        "On the same streams the betting audit needs fewer pairs than APT with re-scored pairs, "
        "which has no level.",
        compare,
        _judge_rescored,
        always(SHAPE_ONLY),
        COMPARISON_PAGE,
    ),
    _claim(
        "compare-fixed",
        "Against tests of one sample size",
        "figure",
        "By the n of the grid at which a held-out test of one sample size rejects nearest to half "
        "of the streams, the betting audit has rejected more of them.",
        compare,
        _judge_fixed,
        _LATER,
        COMPARISON_PAGE,
    ),
    _claim(
        "compare-null",
        "The same methods on a true claim",
        "statement",
        "Cauchy outputs with P = Q: the betting audit rejects at most 5 %, APT with re-scored "
        "pairs more.",
        compare,
        _judge_compare_null,
        _LATER,
        COMPARISON_PAGE,
    ),
    _claim(
        "compare-record",
        "The recorded streams",
        "statement",
        "The paper profile that this page shows is what the code gives: its first "
        "streams are audited again.",
        lambda profile: reproduced(compare(profile)),
        _judge_reproduced,
        always(EXACT),
        COMPARISON_PAGE,
    ),
    _claim(
        "published",
        "Published canary scores",
        "statement",
        "The published scores refute every μ up to at least 1.1, and not 1.4.",
        published_bounds,
        _judge_published,
        always(EXACT, "files"),
        FILES_PAGE,
    ),
)
