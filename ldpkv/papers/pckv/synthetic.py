"""Page 08: PCKV and its competitors on synthetic data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from ldpkv import baselines, theory
from ldpkv import data as datasets
from ldpkv.data import KeyValueData
from ldpkv.mechanisms import PCKVGRR, PCKVUE, Mechanism
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    SHAPE_ONLY,
    WITHIN_ERROR,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    num,
)
from ldpkv.trials import Trials, run_trials

PAGE = "notebooks/pckv/08-synthetic.ipynb"

EPSILONS = (0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
N_KEYS = 100
N_USERS = {"quick": 10**5, "paper": 10**6}
REPEATS = {"quick": 20, "paper": 100}
# Probability that chance alone turns one verdict; shared by all comparisons behind it.
FALSE_ALARM = 1e-4
# First-order forms of the mean are held to account where every key has this signal.
CLEAR_SIGNAL = 10.0
# How far a first-order form may be off, and how many moved estimates count as "clipping acts".
FIRST_ORDER = 0.05
MOVED = 0.01

PCKV = ("PCKV-UE", "PCKV-GRR")
COMPETITORS = ("PrivKV", "PrivKVM (1 + 5 virtual)", "KVUE")
OTHERS = (*COMPETITORS, "KVOH")
METHODS = (*PCKV, *OTHERS)

# Name -> generator of `ldpkv.data` and the spread of a key's values.
SETTINGS: Mapping[str, tuple[str, float]] = {
    "uniform": ("uniform", 0.0),
    "Gaussian": ("gaussian", 0.0),
    "power law": ("power_law", 0.0),
    "linear": ("linear", 0.0),
    "uniform, values vary": ("uniform", 1.0),
}
PAPER_FAMILIES = ("uniform", "Gaussian")


def method(name: str, epsilon: float, n_keys: int, padding: int = 1) -> Mechanism:
    """One of the compared mechanisms by its name in the figures.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    epsilon : float
        Budget in nats.
    n_keys, padding : int
        d and l; only PCKV pads.

    Returns
    -------
    Mechanism
        With the optimised allocation for PCKV; PrivKV is PrivKVM with one round.
    """
    ours: dict[str, Any] = {"PCKV-UE": PCKVUE, "PCKV-GRR": PCKVGRR}
    if name in ours:
        padded: Mechanism = ours[name].from_epsilon(epsilon, n_keys=n_keys, padding=padding)
        return padded
    theirs: dict[str, Any] = {
        "PrivKV": baselines.PrivKV,
        "PrivKVM (1 + 5 virtual)": baselines.PrivKVMVirtual,
        "KVUE": baselines.KVUE,
        "KVOH": baselines.KVOH,
    }
    made: Mechanism = theirs[name].from_epsilon(epsilon, n_keys=n_keys)
    return made


def make_users(
    family: str, n_users: int, n_keys: int, options: tuple[Any, ...], rng: np.random.Generator
) -> KeyValueData:
    """Make the users of one repetition.

    Parameters
    ----------
    family : str
        A generator of `ldpkv.data`.
    n_users, n_keys : int
        n and d.
    options : tuple of (name, value) pairs
        More arguments of the generator.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    KeyValueData
        One pair a user.
    """
    users: KeyValueData = getattr(datasets, family)(n_users, n_keys, rng=rng, **dict(options))
    return users


def _source(family: str, n_users: int, n_keys: int, **options: Any) -> Any:
    return partial(make_users, family, n_users, n_keys, tuple(options.items()))


def _seeds(seed: int, count: int) -> list[int]:
    return [int(s.generate_state(1)[0]) for s in np.random.SeedSequence(seed).spawn(count)]


def _labelled(mechanisms: Mapping[Any, Mechanism]) -> dict[str, Mechanism]:
    return {str(key): mechanism for key, mechanism in mechanisms.items()}


def sign_of(difference: NDArray[np.float64], comparisons: int) -> int:
    """Say whether paired differences are below or above 0, or 0 where it is not decided.

    Parameters
    ----------
    difference : ndarray, shape (repeats,)
        Independent between repetitions.
    comparisons : int
        Number of tests that share `FALSE_ALARM`.

    Returns
    -------
    int
        -1, 1 or 0, by Student's t.
    """
    repeats = len(difference)
    spread = difference.std(ddof=1) / math.sqrt(repeats)
    if spread == 0:
        return int(np.sign(difference[0]))
    critical = stats.t.isf(FALSE_ALARM / (2 * comparisons), repeats - 1)
    t = difference.mean() / spread
    return int(np.sign(t)) if abs(t) > critical else 0


def interval(sample: NDArray[np.float64], level: float = 0.95) -> tuple[float, float, float]:
    """Average of independent repetitions with its Student interval.

    Parameters
    ----------
    sample : ndarray, shape (repeats,)
        One number a repetition.
    level : float, default 0.95
        Coverage.

    Returns
    -------
    average, low, high : float
        The interval is not cut at 0.
    """
    repeats = len(sample)
    spread = float(sample.std(ddof=1)) / math.sqrt(repeats)
    reach = float(stats.t.ppf((1 + level) / 2, repeats - 1)) * spread
    average = float(sample.mean())
    return average, average - reach, average + reach


def expected_errors(
    mechanism: PCKVUE | PCKVGRR, trials: Trials, n_users: int, *, with_bias: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Theorem 4's MSE of frequency and mean, averaged over the keys, for each repetition's users.

    Parameters
    ----------
    mechanism : PCKVUE or PCKVGRR
        With numbers a, b, p, l.
    trials : Trials
        For its true frequencies and means.
    n_users : int
        n.
    with_bias : bool, default True
        Add the square of (10), which is of second order and grows without limit as the signal
        vanishes.

    Returns
    -------
    frequency, mean : ndarray, shape (repeats,)
        Without correction. The frequency's is exact for users with at most l pairs; the mean's is
        of first order, variance (11) plus the square of bias (10), if a key has one value.

    Notes
    -----
    Source: PCKV equations (9), corrected, (10), (11) and (16).
    """
    numbers = theory.Numbers.of(mechanism)
    f, m = trials.true_frequency, trials.true_mean
    frequency = theory.frequency_variance(numbers, f, n_users)
    held = f > 0
    at, mean = np.where(held, f, 1.0), np.nan_to_num(m)
    variance = theory.mean_variance(numbers, at, mean, n_users)
    bias = theory.mean_bias(numbers, at, mean, n_users) if with_bias else 0.0
    return (
        np.asarray(frequency.mean(axis=1)),
        np.asarray(np.mean(variance + bias**2, axis=1, where=held)),
    )


def weakest_signal(mechanism: PCKVUE | PCKVGRR, trials: Trials, n_users: int) -> float:
    """Smallest `theory.signal` over keys and repetitions."""
    numbers = theory.Numbers.of(mechanism)
    return float(theory.signal(numbers, trials.true_frequency, n_users).min())


# --- every method, every family ---------------------------------------------------------------


def accuracy(profile: str = "quick", seed: int = 2020, **options: Any) -> Result:
    """Run all methods over the grid of epsilon on every family of users.

    Parameters
    ----------
    profile : {"quick", "paper"}
        10^5 users and 20 repetitions, or 10^6 and 100. Each repetition makes new users.
    seed : int, default 2020
        Seed of users and trials.
    **options
        `n_jobs` and `checkpoint` of `ldpkv.trials.run_trials`.

    Returns
    -------
    Result
        One row for each family, mechanism and epsilon: both MSEs over all keys with 95 %
        intervals, and the mean's with the lower clip of the authors' code (PCKV only; the others
        have one correction).
    """
    n_users, repeats = N_USERS[check_profile(profile)], REPEATS[profile]
    cases = [(name, epsilon) for name in METHODS for epsilon in EPSILONS]
    mechanisms = {case: method(*case, N_KEYS) for case in cases}
    # PCKV comes first, so its draws are the same when it runs alone.
    ours = {case: m for case, m in mechanisms.items() if case[0] in PCKV}
    comparisons = len(SETTINGS) * len(EPSILONS) * len(PCKV) * len(OTHERS) * 3
    rows = []
    signs: dict[str, dict[tuple[str, str, str, float], int]] = {}
    between: dict[tuple[str, float], int] = {}
    for (label, (family, spread)), run_seed in zip(
        SETTINGS.items(), _seeds(seed, len(SETTINGS)), strict=True
    ):
        source = _source(family, n_users, N_KEYS, value_spread=spread)
        settings: dict[str, Any] = {"repeats": repeats, "rng": run_seed, **options}
        trials = run_trials(source, _labelled(mechanisms), **settings)
        code = run_trials(source, _labelled(ours), correction="code", **settings)
        errors = {
            "frequency": dict(zip(cases, trials.squared_error("frequency").T, strict=True)),
            "mean": dict(zip(cases, trials.squared_error("mean").T, strict=True)),
        }
        coded = zip(ours, code.squared_error("mean").T, strict=True)
        errors["mean_code"] = {**errors["mean"], **dict(coded)}
        nothing = float(np.nanmean(trials.true_mean**2))
        for case in cases:
            row: dict[str, Any] = {"family": label, "mechanism": case[0], "epsilon": case[1]}
            for statistic, found in errors.items():
                average, low, high = interval(found[case])
                row[f"{statistic}_mse"] = average
                row[f"{statistic}_low"], row[f"{statistic}_high"] = max(low, 0.0), high
            row["mean_nothing"] = nothing
            rows.append(row)
        for statistic, found in errors.items():
            signs.setdefault(statistic, {}).update(
                {
                    (label, one, other, e): sign_of(found[one, e] - found[other, e], comparisons)
                    for e in EPSILONS
                    for one in PCKV
                    for other in OTHERS
                }
            )
        for e in EPSILONS:
            pair = errors["frequency"]
            between[label, e] = sign_of(pair["PCKV-UE", e] - pair["PCKV-GRR", e], comparisons)
    table = pd.DataFrame(rows)
    facts = {
        "n_users": n_users,
        "repeats": repeats,
        "signs": signs,
        "between": between,
        # Last epsilon at which PCKV-UE, first at which PCKV-GRR has the smaller frequency error.
        "last_ue": max(
            (e for (f, e), s in between.items() if (f, s) == ("uniform", -1)), default=0
        ),
        "first_grr": min(
            (e for (f, e), s in between.items() if (f, s) == ("uniform", 1)), default=0
        ),
        "nothing": float(table[table["family"] == "uniform"]["mean_nothing"].iloc[0]),
    }
    return Result(profile, table, facts, _setting(n_users, repeats))


def _setting(n_users: int, repeats: int, d: int | str = N_KEYS) -> str:
    return f"n = {n_users:,}, d = {d}, l = 1, {repeats} repetitions, each with new users"


def draw_accuracy(result: Result, statistic: str) -> Figure:
    """Draw one statistic's MSE against epsilon, a panel for each family."""
    figure, axes = plots.new_figure(2, rows=2, height=2.9)
    for axis, family in zip(axes, list(SETTINGS)[:4], strict=True):
        part = result.table[result.table["family"] == family]
        plots.log_axis(axis)
        if statistic == "mean":
            _nothing(axis, part)
        axis.set(xlabel="ε (nats)", ylabel=f"MSE of {statistic}")
        _bands(axis, part, "epsilon", statistic)
        _name(axis, family)
    legend_below(figure, axes[0])
    return figure


def _bands(axis: Axes, table: pd.DataFrame, x: str, statistic: str) -> None:
    plots.lines_with_bands(
        axis,
        table,
        x=x,
        y=f"{statistic}_mse",
        low=f"{statistic}_low",
        high=f"{statistic}_high",
        series="mechanism",
        direct=False,
    )


def _nothing(axis: Axes, part: pd.DataFrame) -> None:
    # What a server that learns nothing can have: the estimate 0 for every key.
    axis.axhline(part["mean_nothing"].iloc[0], color=plots.BLACK, lw=0.8, ls=":")


def _name(axis: Axes, text: str) -> None:
    axis.set_title(text, fontsize="medium")


def legend_below(figure: Figure, axis: Axes, columns: int = 3) -> None:
    """Put one legend for all panels below them."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize="small"
    )


def draw_variants(result: Result) -> Figure:
    """Draw the mean's MSE of PCKV under both lower clips, on the paper's two families."""
    figure, axes = plots.new_figure(2, height=3.6)
    for axis, family in zip(axes, PAPER_FAMILIES, strict=True):
        plots.log_axis(axis)
        part = result.table[result.table["family"] == family]
        _nothing(axis, part)
        axis.set(xlabel="ε (nats)", ylabel="MSE of mean")
        for name in PCKV:
            line = part[part["mechanism"] == name]
            look = plots.style(name)
            axis.plot(line["epsilon"], line["mean_mse"], label=f"{name}, text", **look)
            hollow = {**look, "linestyle": ":", "markerfacecolor": "white"}
            axis.plot(line["epsilon"], line["mean_code_mse"], label=f"{name}, code", **hollow)
        _name(axis, family)
    legend_below(figure, axes[0], 4)
    return figure


def spread_table(result: Result) -> pd.DataFrame:
    """Mean errors with one value a key, and with values that vary among its holders."""
    wide = result.table.pivot_table(
        index=["mechanism", "epsilon"], columns="family", values="mean_mse", sort=False
    ).reset_index()
    wide = wide[wide["epsilon"].isin((1.0, 3.0, 6.0)) & wide["mechanism"].isin(METHODS[:5])]
    one, varied = wide["uniform"], wide["uniform, values vary"]
    return pd.DataFrame(
        {
            "mechanism": wide["mechanism"],
            "ε": wide["epsilon"],
            "one value a key": one,
            "values vary": varied,
            "ratio": varied / one,
        }
    )


# --- Theorem 4 against the runs ---------------------------------------------------------------


def theorem_4(profile: str = "quick", seed: int = 2020, **options: Any) -> Result:
    """Compare PCKV's errors with Theorem 4, with and without the correction of Algorithm 4.

    Parameters
    ----------
    profile, seed, **options
        As for `accuracy`; the two families of the paper.

    Returns
    -------
    Result
        One row for each family, mechanism and epsilon: predicted and measured MSEs, the share of
        the estimates that the correction moves, and the weakest signal of a key.
    """
    n_users, repeats = N_USERS[check_profile(profile)], REPEATS[profile]
    cases = [(name, epsilon) for name in PCKV for epsilon in EPSILONS]
    mechanisms: dict[Any, Any] = {case: method(*case, N_KEYS) for case in cases}
    rows = []
    for label, run_seed in zip(PAPER_FAMILIES, _seeds(seed + 1, 2), strict=True):
        source = _source(SETTINGS[label][0], n_users, N_KEYS)
        settings: dict[str, Any] = {"repeats": repeats, "rng": run_seed, **options}
        raw = run_trials(source, _labelled(mechanisms), correction="none", **settings)
        clipped = run_trials(source, _labelled(mechanisms), **settings)
        for position, (case, mechanism) in enumerate(mechanisms.items()):
            row: dict[str, Any] = {"family": label, "mechanism": case[0], "epsilon": case[1]}
            row["signal"] = weakest_signal(mechanism, raw, n_users)
            expected = expected_errors(mechanism, raw, n_users)
            for statistic, prediction in zip(("frequency", "mean"), expected, strict=True):
                without = raw.squared_error(statistic)[:, position]
                with_it = clipped.squared_error(statistic)[:, position]
                moved = (
                    getattr(raw, statistic)[:, position] - getattr(clipped, statistic)[:, position]
                )
                row[f"{statistic}_predicted"] = prediction.mean()
                row[f"{statistic}_moved"] = float(np.mean(~(np.abs(moved) < 1e-9)))
                row[f"{statistic}_mse"] = with_it.mean()
                row[f"{statistic}_low"], row[f"{statistic}_high"] = interval(with_it)[1:]
                row[f"{statistic}_raw"] = without.mean()
                for kind, sample in (("raw", without), ("clipped", with_it)):
                    gap = sample - prediction
                    row[f"{statistic}_{kind}_error"] = gap.std(ddof=1) / math.sqrt(repeats)
            rows.append(row)
    table = pd.DataFrame(rows)
    # Two statistics, without and with the correction.
    critical = float(stats.t.isf(FALSE_ALARM / (2 * 4 * len(table)), repeats - 1))
    facts = _theorem_4_facts(table, critical)
    return Result(profile, table, {"repeats": repeats, **facts}, _setting(n_users, repeats))


def _theorem_4_facts(table: pd.DataFrame, critical: float) -> dict[str, Any]:
    t = (table["frequency_raw"] - table["frequency_predicted"]) / table["frequency_raw_error"]
    clear = table[table["signal"] >= CLEAR_SIGNAL]
    beyond = (clear["mean_raw"] - clear["mean_predicted"]).abs() - (
        FIRST_ORDER * clear["mean_predicted"] + critical * clear["mean_raw_error"]
    )
    facts: dict[str, Any] = {
        "critical_t": critical,
        "largest_t": float(t.abs().max()),
        "clear": len(clear),
        "mean_off": int((beyond > 0).sum()),
        "largest_clear_gap": float((clear["mean_raw"] / clear["mean_predicted"] - 1).abs().max()),
        "unexplained": [],
        "region": {},
    }
    for statistic in ("frequency", "mean"):
        gap = (table[f"{statistic}_mse"] - table[f"{statistic}_predicted"]).abs()
        allowed = 2 * FIRST_ORDER * table[f"{statistic}_predicted"]
        apart = gap > allowed + critical * table[f"{statistic}_clipped_error"]
        acts = table[f"{statistic}_moved"] > MOVED
        for row in table[apart & ~acts].itertuples():
            facts["unexplained"].append((statistic, row.family, row.mechanism, row.epsilon))
        for name in PCKV:
            mine = table[apart & (table["mechanism"] == name)]
            facts["region"][statistic, name] = sorted(set(mine["epsilon"]))
    return facts


def draw_theorem_4(result: Result) -> Figure:
    """Draw corrected measurements over Theorem 4's lines."""
    figure, axes = plots.new_figure(2, rows=2, height=2.9)
    pairs = [(f, s) for f in PAPER_FAMILIES for s in ("frequency", "mean")]
    for axis, (family, statistic) in zip(axes, pairs, strict=True):
        part = result.table[result.table["family"] == family]
        plots.log_axis(axis)
        axis.set(xlabel="ε (nats)", ylabel=f"MSE of {statistic}")
        plots.lines_with_bands(
            axis,
            part,
            x="epsilon",
            y=f"{statistic}_mse",
            low=f"{statistic}_low",
            high=f"{statistic}_high",
            theory=f"{statistic}_predicted",
            series="mechanism",
            direct=False,
        )
        if statistic == "mean":
            axis.set_ylim(top=20)
        _name(axis, family)
    legend_below(figure, axes[0])
    return figure


# --- allocation -------------------------------------------------------------------------------

ALLOCATIONS = ("optimised", "non-optimised", "naive")


def allocations(profile: str = "quick", seed: int = 2020, **options: Any) -> Result:
    """Run PCKV with three allocations of the budget.

    Parameters
    ----------
    profile, seed, **options
        As for `accuracy`, with four times the repetitions; uniform keys.

    Returns
    -------
    Result
        One row for each mechanism, allocation and epsilon: MSEs with the correction, Theorem 4's
        prediction without it, and ratios to the optimised allocation.
    """
    n_users, repeats = N_USERS[check_profile(profile)], 4 * REPEATS[profile]
    kinds: dict[str, Any] = {"PCKV-UE": PCKVUE, "PCKV-GRR": PCKVGRR}
    mechanisms: dict[Any, Any] = {
        (name, rule, epsilon): kind.from_epsilon(epsilon, n_keys=N_KEYS, padding=1, allocation=rule)
        for name, kind in kinds.items()
        for rule in ALLOCATIONS
        for epsilon in EPSILONS
    }
    source = _source("uniform", n_users, N_KEYS)
    settings: dict[str, Any] = {"repeats": repeats, "rng": _seeds(seed + 2, 1)[0], **options}
    trials = run_trials(source, _labelled(mechanisms), **settings)
    raw = run_trials(source, _labelled(mechanisms), correction="none", **settings)
    errors = {
        s: dict(zip(mechanisms, trials.squared_error(s).T, strict=True))
        for s in ("frequency", "mean")
    }
    raw_mean = dict(zip(mechanisms, raw.squared_error("mean").T, strict=True))
    rows: list[dict[str, Any]] = []
    signs = {}
    comparisons = len(kinds) * len(EPSILONS) * (len(ALLOCATIONS) - 1) * 2
    predicted = {
        case: expected_errors(mechanism, raw, n_users, with_bias=False)
        for case, mechanism in mechanisms.items()
    }
    off, clear, largest = 0, 0, 0.0
    for (name, rule, epsilon), mechanism in mechanisms.items():
        case, best = (name, rule, epsilon), (name, "optimised", epsilon)
        row: dict[str, Any] = {"kind": name, "allocation": rule, "epsilon": epsilon}
        for statistic, expected in zip(("frequency", "mean"), predicted[case], strict=True):
            average, low, high = interval(errors[statistic][case])
            row[f"{statistic}_mse"], row[f"{statistic}_predicted"] = average, expected.mean()
            row[f"{statistic}_low"], row[f"{statistic}_high"] = low, high
        row["ratio"] = errors["mean"][best].mean() / errors["mean"][case].mean()
        row["ratio_predicted"] = predicted[best][1].mean() / predicted[case][1].mean()
        row["signal"] = weakest_signal(mechanism, raw, n_users)
        rows.append(row)
        if rule == "optimised":
            continue
        difference = errors["mean"][best] - errors["mean"][case]
        signs[case] = sign_of(difference, comparisons)
        # The predicted ratio, as a paired difference that is 0 if it holds.
        if min(weakest_signal(mechanisms[c], raw, n_users) for c in (best, case)) >= CLEAR_SIGNAL:
            ratio = row["ratio_predicted"]
            gap = raw_mean[best] - ratio * raw_mean[case]
            slack = FIRST_ORDER * raw_mean[best].mean()
            error = gap.std(ddof=1) / math.sqrt(repeats)
            critical = stats.t.isf(FALSE_ALARM / (2 * comparisons), repeats - 1)
            off += bool(abs(gap.mean()) > slack + critical * error)
            clear += 1
            largest = max(largest, abs(gap.mean()) / raw_mean[best].mean())
    table = pd.DataFrame(rows)
    facts = {
        "signs": signs,
        "ratios_off": off,
        "ratios": clear,
        "largest_gap": largest,
        "range": (float(table["ratio"].min()), float(table["ratio"].max())),
    }
    return Result(profile, table, facts, f"uniform keys, {_setting(n_users, repeats)}")


def draw_allocations(result: Result) -> Figure:
    """Draw both MSEs for the three allocations, theory as lines, measurements as points."""
    figure, axes = plots.new_figure(2, rows=2, height=2.9)
    pairs = [(s, name) for s in ("mean", "frequency") for name in PCKV]
    for axis, (statistic, name) in zip(axes, pairs, strict=True):
        part = result.table[result.table["kind"] == name]
        plots.log_axis(axis)
        axis.set(xlabel="ε (nats)", ylabel=f"MSE of {statistic}")
        plots.lines_with_bands(
            axis,
            part,
            x="epsilon",
            y=f"{statistic}_mse",
            low=f"{statistic}_low",
            high=f"{statistic}_high",
            theory=f"{statistic}_predicted",
            series="allocation",
            direct=False,
        )
        if statistic == "mean":
            axis.set_ylim(top=20)
        _name(axis, name)
    legend_below(figure, axes[0])
    return figure


def allocation_table(result: Result) -> pd.DataFrame:
    """Mean error of the optimised allocation over that of the others, measured and predicted."""
    table = result.table[result.table["allocation"] != "optimised"]
    wide = table.pivot(
        index=["kind", "epsilon"], columns="allocation", values=["ratio", "ratio_predicted"]
    ).sort_index(ascending=[False, True])
    return pd.DataFrame(
        {
            "mechanism": wide.index.get_level_values(0),
            "ε": wide.index.get_level_values(1),
            "over non-optimised": wide["ratio", "non-optimised"].to_numpy(),
            "predicted": wide["ratio_predicted", "non-optimised"].to_numpy(),
            "over naive": wide["ratio", "naive"].to_numpy(),
            "predicted ": wide["ratio_predicted", "naive"].to_numpy(),
        }
    )


# --- PrivKVM's bias ---------------------------------------------------------------------------

BIAS_METHODS = ("PCKV-UE", "PrivKV", "PrivKVM (1 + 5 virtual)", "KVUE")


def privkvm_bias(profile: str = "quick", seed: int = 2020, **options: Any) -> Result:
    """Split the mean's error of PrivKVM in bias and variance, on one fixed set of uniform users.

    Parameters
    ----------
    profile, seed, **options
        As for `accuracy`, with three times the repetitions; the users are the same in all.

    Returns
    -------
    Result
        One row for each mechanism and epsilon: squared bias and variance of the corrected mean,
        the slope of the estimated on the true means (1 without bias), and for PrivKVM what the
        recursion says of both.
    """
    n_users, repeats = N_USERS[check_profile(profile)], 3 * REPEATS[profile]
    data_seed, run_seed = _seeds(seed + 3, 2)
    users = datasets.uniform(n_users, N_KEYS, rng=data_seed)
    cases = [(name, epsilon) for name in BIAS_METHODS for epsilon in EPSILONS]
    mechanisms = {case: method(*case, N_KEYS) for case in cases}
    settings: dict[str, Any] = {"repeats": repeats, "rng": run_seed, **options}
    trials = run_trials(users, _labelled(mechanisms), **settings)
    raw = run_trials(users, _labelled(mechanisms), correction="none", **settings)
    f, m = users.truth().frequency, users.truth().mean
    weight = m / np.sum(m**2)
    slopes, variances, gaps = {}, {}, []
    rows: list[dict[str, Any]] = []
    for position, case in enumerate(cases):
        estimates = trials.mean[:, position]
        centre = estimates.mean(axis=0)
        spread = estimates.var(axis=0, ddof=1)
        slopes[case] = estimates @ weight
        variances[case] = np.mean((estimates - centre) ** 2, axis=1) * repeats / (repeats - 1)
        share = _kept_share(case[0], case[1], f)
        slope, low, high = interval(slopes[case])
        rows.append(
            {
                "mechanism": case[0],
                "epsilon": case[1],
                # What chance adds to the square of an average is taken off again.
                "squared_bias": float(np.mean((centre - m) ** 2 - spread / repeats)),
                "variance": float(spread.mean()),
                "slope": slope,
                "slope_low": low,
                "slope_high": high,
                "recursion_slope": float(weight @ (share * m)),
                "recursion_bias": float(np.mean(((1 - share) * m) ** 2)),
            }
        )
        if case[0] == "PrivKV":
            sample = raw.mean[:, position] @ weight
            error = sample.std(ddof=1) / math.sqrt(repeats)
            wanted = rows[-1]["recursion_slope"]
            gaps.append(max(0.0, abs(sample.mean() - wanted) - FIRST_ORDER * wanted) / error)
    table = pd.DataFrame(rows)
    comparisons = 2 * len(EPSILONS) + len(gaps)
    one, more = "PrivKV", "PrivKVM (1 + 5 virtual)"
    bias = table.pivot(index="epsilon", columns="mechanism", values="squared_bias")
    facts = {
        "repeats": repeats,
        "largest_t": float(max(gaps)),
        "critical_t": float(stats.t.isf(FALSE_ALARM / (2 * comparisons), repeats - 1)),
        "bias_sign": {
            # The virtual rounds may overshoot: their slope's distance from 1 counts.
            e: sign_of(
                np.sign(1 - slopes[more, e].mean()) * (1 - slopes[more, e]) - (1 - slopes[one, e]),
                comparisons,
            )
            for e in EPSILONS
        },
        "variance_sign": {
            e: sign_of(variances[more, e] - variances[one, e], comparisons) for e in EPSILONS
        },
        "kept_bias": float(bias.loc[6.0, one] / bias.loc[1.0, one]),
        "kept_bias_virtual": float(bias.loc[6.0, more] / bias.loc[1.0, more]),
        "smallest_recursion": float(
            table[table["mechanism"] == one]["recursion_bias"].min() / np.mean(m**2)
        ),
    }
    setting = f"uniform keys, n = {n_users:,}, d = {N_KEYS}, {repeats} repetitions, same users"
    return Result(profile, table, facts, setting)


def _kept_share(name: str, epsilon: float, frequency: NDArray[np.float64]) -> Any:
    # Share of the true mean that the unclipped estimate has in expectation, to first order.
    exp_key = math.exp(epsilon / 2)
    share = theory.privkvm_weight(frequency, exp_key)
    if name == "PrivKV":
        return share
    if name == "PrivKVM (1 + 5 virtual)":
        return share * baselines.virtual_factor(frequency, exp_key / (exp_key + 1), 5, "repeated")
    return np.ones_like(frequency)


def draw_privkvm_bias(result: Result) -> Figure:
    """Draw squared bias and variance of the mean against epsilon."""
    figure, axes = plots.new_figure(2, height=3.6)
    for axis, (column, label) in zip(
        axes, (("squared_bias", "squared bias"), ("variance", "variance")), strict=True
    ):
        plots.log_axis(axis)
        axis.set(xlabel="ε (nats)", ylabel=f"{label} of the mean")
        for name, part in result.table.groupby("mechanism", sort=False):
            look = plots.style(str(name))
            known = part["recursion_bias"] > 0
            if column == "squared_bias" and known.any():
                axis.plot(part["epsilon"], part["recursion_bias"], **{**look, "marker": ""})
                look["linestyle"] = ""
            # Where no bias can be told from chance there is no point.
            shown = part[part[column] > 0]
            axis.plot(shown["epsilon"], shown[column], label=str(name), **look)
    legend_below(figure, axes[0], 4)
    return figure


# --- domain size and number of users ------------------------------------------------------------

SWEEP_EPSILON = 1.0
DOMAIN = (20, 50, 100, 200, 500, 1000, 2000)
SWEEP_USERS = {
    "quick": (10_000, 30_000, 100_000),
    "paper": (10_000, 30_000, 100_000, 300_000, 1_000_000),
}


def domain(profile: str = "quick", seed: int = 2020, **options: Any) -> Result:
    """Run all methods over domains of 20 to 2,000 uniform keys at epsilon = 1.

    Parameters
    ----------
    profile, seed, **options
        As for `accuracy`.

    Returns
    -------
    Result
        One row for each mechanism and d: frequency MSE without and with correction, mean MSE;
        `facts` has the log-log slopes in d.
    """
    n_users, repeats = N_USERS[check_profile(profile)], REPEATS[profile]
    cases = [(n_users, n_keys) for n_keys in DOMAIN]
    table, facts = _sweep(cases, "n_keys", repeats, seed + 4, options)
    setting = f"uniform keys, ε = 1, {_setting(n_users, repeats, '20 to 2,000')}"
    return Result(profile, table, facts, setting)


def user_number(profile: str = "quick", seed: int = 2020, **options: Any) -> Result:
    """Run all methods over the number of users at epsilon = 1 and 100 uniform keys.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Up to 10^5 users and 80 repetitions, or 10^6 and 400.
    seed, **options
        As for `accuracy`.

    Returns
    -------
    Result
        As for `domain`, with slopes in n.
    """
    repeats = 4 * REPEATS[check_profile(profile)]
    cases = [(n_users, N_KEYS) for n_users in SWEEP_USERS[profile]]
    table, facts = _sweep(cases, "n_users", repeats, seed + 5, options)
    setting = f"uniform keys, ε = 1, d = {N_KEYS}, l = 1, {repeats} repetitions with new users"
    return Result(profile, table, facts, setting)


def _sweep(
    cases: Sequence[tuple[int, int]], x: str, repeats: int, seed: int, options: Mapping[str, Any]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    rows = []
    errors: dict[tuple[str, str], list[NDArray[np.float64]]] = {}
    expected: dict[str, list[float]] = {name: [] for name in PCKV}
    signs = {}
    comparisons = len(cases) * len(PCKV) * len(OTHERS) * 2
    for (n_users, n_keys), run_seed in zip(cases, _seeds(seed, len(cases)), strict=True):
        mechanisms: dict[str, Any] = {name: method(name, SWEEP_EPSILON, n_keys) for name in METHODS}
        settings: dict[str, Any] = {"repeats": repeats, "rng": run_seed, **options}
        source = _source("uniform", n_users, n_keys)
        raw = run_trials(source, mechanisms, correction="none", **settings)
        trials = run_trials(source, mechanisms, **settings)
        found = {
            "raw": raw.squared_error("frequency"),
            "frequency": trials.squared_error("frequency"),
            "mean": trials.squared_error("mean"),
        }
        for position, name in enumerate(METHODS):
            row: dict[str, Any] = {"mechanism": name, "n_users": n_users, "n_keys": n_keys}
            for statistic, sample in found.items():
                errors.setdefault((statistic, name), []).append(sample[:, position])
                average, low, high = interval(sample[:, position])
                row[f"{statistic}_mse"] = average
                row[f"{statistic}_low"], row[f"{statistic}_high"] = low, high
            if name in PCKV:
                exact = expected_errors(mechanisms[name], raw, n_users)[0].mean()
                expected[name].append(float(exact))
            rows.append(row)
        point = {"n_users": n_users, "n_keys": n_keys}[x]
        for statistic in ("frequency", "mean"):
            for one in PCKV:
                for other in OTHERS:
                    difference = found[statistic][:, METHODS.index(one)]
                    difference = difference - found[statistic][:, METHODS.index(other)]
                    signs[statistic, one, other, point] = sign_of(difference, comparisons)
    points = np.log([{"n_users": n, "n_keys": d}[x] for n, d in cases])
    slopes = {
        (statistic, name): _slope(points, np.log(np.stack(sample, axis=1)))
        for (statistic, name), sample in errors.items()
    }
    level = 1 - FALSE_ALARM / len(METHODS)
    facts = {
        "repeats": repeats,
        "signs": signs,
        "slopes": {key: interval(sample) for key, sample in slopes.items()},
        "wide": {key: interval(sample, level) for key, sample in slopes.items()},
        "expected": {
            name: float(_slope(points, np.log([values]))[0]) for name, values in expected.items()
        },
    }
    table = pd.DataFrame(rows).sort_values(
        ["mechanism", x], key=lambda c: c.map(METHODS.index) if c.name == "mechanism" else c
    )
    return table, facts


def _slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least-squares slope of each row of y on x."""
    centred = x - x.mean()
    slopes: NDArray[np.float64] = np.asarray(y) @ centred / (centred @ centred)
    return slopes


def draw_sweep(result: Result, x: str) -> Figure:
    """Draw the frequency MSE without and with correction against d or n, on log-log axes."""
    figure, axes = plots.new_figure(2, height=3.8)
    label = {"n_keys": "number of keys d", "n_users": "number of users n"}[x]
    panels = {
        "n_keys": (("raw", "frequency, no correction"), ("frequency", "frequency, corrected")),
        "n_users": (("frequency", "frequency, corrected"), ("mean", "mean, corrected")),
    }[x]
    for axis, (statistic, words) in zip(axes, panels, strict=True):
        plots.log_axis(axis)
        plots.log_axis(axis, "x")
        axis.set(xlabel=label, ylabel=f"MSE of {words}")
        _bands(axis, result.table, x, statistic)
    if x == "n_keys":
        low = min(axis.get_ylim()[0] for axis in axes)
        high = max(axis.get_ylim()[1] for axis in axes)
        for axis in axes:
            axis.set_ylim(low, high)
    legend_below(figure, axes[0])
    return figure


def slope_table(result: Result) -> pd.DataFrame:
    """Log-log slopes with 95 % intervals, without and with correction."""
    facts = result.facts
    rows = []
    for name in METHODS:
        row: dict[str, Any] = {"mechanism": name}
        for statistic, words in (
            ("raw", "frequency, no correction"),
            ("frequency", "frequency, corrected"),
            ("mean", "mean, corrected"),
        ):
            centre, low, high = facts["slopes"][statistic, name]
            row[words] = f"{_fixed(centre)} [{_fixed(low)}, {_fixed(high)}]"
        exact = facts["expected"].get(name)
        row["expected, no correction"] = "" if exact is None else _fixed(exact)
        rows.append(row)
    return pd.DataFrame(rows)


def _fixed(value: float) -> str:
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00")


# --- precision --------------------------------------------------------------------------------

TOP = (10, 20)
PRECISION_EPSILON = 3.0
# 20 keys have a top 20 without error.
PRECISION_DOMAIN = {"quick": (50, 100, 500, 2000), "paper": DOMAIN[1:]}
PRECISION_FAMILIES = ("Gaussian", "power law")


def precision(profile: str = "quick", seed: int = 2020, **options: Any) -> Result:
    """Share of the true top 10 and 20 among the estimated ones, against d and epsilon.

    Parameters
    ----------
    profile, seed, **options
        As for `accuracy`.

    Returns
    -------
    Result
        One row for each family, sweep, mechanism and length of the list. Estimates are compared
        without correction, whose clipping makes ties; what ties remain are broken by lot. The
        Gaussian's scale is d / 2, 50 at d = 100 as in the authors' code.
    """
    n_users, repeats = N_USERS[check_profile(profile)], REPEATS[profile]
    domain = PRECISION_DOMAIN[profile]
    by_domain = [("d", n_keys, PRECISION_EPSILON) for n_keys in domain]
    by_epsilon = [("epsilon", N_KEYS, epsilon) for epsilon in EPSILONS]
    families: list[tuple[str, str, dict[str, float]]] = [
        ("Gaussian", "gaussian", {"key_scale": 0.5}),
        ("power law", "power_law", {}),
        ("Gaussian, scale 50", "gaussian", {"key_scale": 0.0}),
    ]
    rows, found = [], {}
    seeds = iter(_seeds(seed + 6, 2 * len(families) * len(by_domain + by_epsilon)))
    for label, family, scaled in families:
        points = by_domain + by_epsilon if label in PRECISION_FAMILIES else by_domain
        for sweep, n_keys, epsilon in points:
            run_seed, tie_seed = next(seeds), next(seeds)
            arguments = {"key_scale": scaled["key_scale"] * n_keys or 50.0} if scaled else {}
            trials = run_trials(
                _source(family, n_users, n_keys, **arguments),
                {name: method(name, epsilon, n_keys) for name in METHODS},
                repeats=repeats,
                rng=run_seed,
                correction="none",
                **options,
            )
            x = n_keys if sweep == "d" else epsilon
            for top, hits in zip(TOP, top_precision(trials, TOP, tie_seed), strict=True):
                for position, name in enumerate(METHODS):
                    found[label, sweep, top, name, x] = hits[:, position]
                    average, low, high = interval(hits[:, position])
                    rows.append((label, sweep, top, name, x, average, max(low, 0), min(high, 1)))
    columns = ["family", "sweep", "top", "mechanism", "x", "precision"]
    table = pd.DataFrame(rows, columns=[*columns, "precision_low", "precision_high"])
    return Result(
        profile,
        table,
        _precision_facts(found, domain, repeats),
        _setting(n_users, repeats, "50 to 2,000 at ε = 3, or 100"),
    )


def top_precision(trials: Trials, lengths: Sequence[int], seed: int) -> list[NDArray[np.float64]]:
    """Share of the true top keys among the estimated ones.

    Parameters
    ----------
    trials : Trials
        With all keys.
    lengths : sequence of int
        Lengths of the lists.
    seed : int
        Breaks ties, among estimates and among true frequencies.

    Returns
    -------
    list of ndarray, shape (repeats, mechanisms)
        In [0, 1]; one for each length.
    """
    rng = np.random.default_rng(seed)
    truth = trials.true_frequency[:, None, :]
    estimates = np.nan_to_num(trials.frequency, nan=-np.inf)
    order_true = np.lexsort((rng.random(truth.shape), -truth))
    order = np.lexsort((rng.random(estimates.shape), -estimates))
    rank = np.argsort(order_true)
    return [
        np.mean(np.take_along_axis(rank, order[..., :top], axis=2) < top, axis=2) for top in lengths
    ]


def _precision_facts(
    found: Mapping[tuple[str, str, int, str, float], NDArray[np.float64]],
    domain: Sequence[int],
    repeats: int,
) -> dict[str, Any]:
    grid = np.log(domain)
    tests = len(PRECISION_FAMILIES) * len(TOP)
    slopes, falls = {}, {}
    for label in (*PRECISION_FAMILIES, "Gaussian, scale 50"):
        for top in TOP:
            for name in METHODS:
                lines = [found[label, "d", top, name, d] for d in domain]
                slope = _slope(grid, np.stack(lines, axis=1))
                slopes[label, top, name] = interval(slope)
                falls[label, top, name] = sign_of(slope, tests * len(METHODS))
    best, against = {}, {}
    comparisons = tests * len(OTHERS) * len(PCKV) * (len(domain) + len(EPSILONS))
    for (label, sweep, top, name, x), sample in found.items():
        if name not in OTHERS or label not in PRECISION_FAMILIES:
            continue
        sign = {
            one: sign_of(found[label, sweep, top, one, x] - sample, comparisons) for one in PCKV
        }
        against[label, sweep, top, name, x] = sign
        best[label, sweep, top, name, x] = max(sign.values())
    return {"repeats": repeats, "slopes": slopes, "falls": falls, "best": best, "against": against}


def draw_precision(result: Result, sweep: str) -> Figure:
    """Draw the precision of both lists against d or epsilon, a row for each family."""
    figure, axes = plots.new_figure(2, rows=2, height=2.9)
    pairs = [(family, top) for family in PRECISION_FAMILIES for top in TOP]
    table = result.table[result.table["sweep"] == sweep]
    for axis, (family, top) in zip(axes, pairs, strict=True):
        part = table[(table["family"] == family) & (table["top"] == top)]
        if sweep == "d":
            plots.log_axis(axis, "x")
        axis.set(
            xlabel="number of keys d" if sweep == "d" else "ε (nats)",
            ylabel=f"precision of the top {top}",
            ylim=(-0.03, 1.03),
        )
        plots.lines_with_bands(
            axis,
            part,
            x="x",
            y="precision",
            low="precision_low",
            high="precision_high",
            series="mechanism",
            direct=False,
        )
        _name(axis, family)
    legend_below(figure, axes[0])
    return figure


# --- texts ------------------------------------------------------------------------------------

# Figure id -> caption, alternative text.
TEXTS: Mapping[str, tuple[str, str]] = {
    "pckv-synthetic-frequency": (
        "Frequency error over all keys, after each method's own correction. Bands are 95 % "
        "intervals over repetitions, narrower than the lines",
        "Four panels, one a family of users, with nearly the same picture: errors fall with "
        "epsilon; PCKV-UE is lowest up to epsilon 4, PCKV-GRR from 5 on. KVUE lies above both,"
        " then PrivKV and the virtual rounds, then KVOH. At epsilon 0.1 PCKV-GRR and KVUE are "
        "close.",
    ),
    "pckv-synthetic-mean": (
        "Mean error over all keys, with the correction of Algorithm 4. The dotted line is the "
        "error of answering 0 for every key. Bands are 95 % intervals over repetitions",
        "Four panels, one a family of users. At epsilon 0.1 all methods lie above the dotted "
        "line of answering 0. PrivKV follows that line from epsilon 1 on. PCKV-UE falls below "
        "it first, then PCKV-GRR, and both keep falling, far below the others; KVUE, the "
        "virtual rounds and KVOH follow late or not at all.",
    ),
    "pckv-synthetic-mean-variants": (
        "Mean error of PCKV with the lower clip of the paper's text (0) and of the authors' "
        "code (1). The dotted line is the error of answering 0 for every key",
        "Two panels. The variant of the code lies below that of the text at small epsilon, "
        "most at 0.1, and never above it. From epsilon 3 on the two curves are one.",
    ),
    "pckv-theory-empirical": (
        "Lines: Theorem 4 (for the mean: variance plus squared bias), averaged over the same "
        "users. Points: measured, with the correction, which the theorem leaves out. Lines "
        "that leave a panel at the top go on rising",
        "Four panels. For the frequency, points lie on the lines from epsilon 3 on and at "
        "about half of them at 0.1. For the mean, the lines rise far beyond 1 at small epsilon"
        " while the points stay below 1; from epsilon 4 on they meet.",
    ),
    "pckv-allocation-empirical": (
        "Three allocations. Lines: Theorem 4's variances. Points: measured, with the correction",
        "Four panels. For the mean, the optimised allocation is lowest at every epsilon and "
        "the naive one highest, by more than ten times for PCKV-GRR at epsilon 6. For the "
        "frequency, the non-optimised allocation is a little lower than the optimised one.",
    ),
    "pckv-privkvm-empirical": (
        "Squared bias and variance of the mean, over the same users in all repetitions. "
        "Points: measured, corrected. Lines in (a) for PrivKV and the virtual rounds: the "
        "recursion, without clipping",
        "Two panels. The squared bias of PrivKV is nearly flat in epsilon, that of the virtual"
        " rounds falls by about ten times at most, those of KVUE and PCKV-UE by a hundred "
        "times and more. The variance of PrivKV is lowest up to epsilon 4; that of the virtual"
        " rounds is more than ten times larger from epsilon 1 on.",
    ),
    "pckv-domain-size": (
        "Frequency error against the number of keys, without and with the correction. Bands "
        "are 95 % intervals over repetitions",
        "Two panels with logarithmic axes. Without correction PCKV-UE is flat and the five "
        "others rise in proportion to the number of keys, PCKV-GRR lowest among them. With "
        "correction PCKV-UE falls by half in the end, and PCKV-GRR rises a little less than "
        "before.",
    ),
    "pckv-user-number": (
        "Errors against the number of users, with the correction. Bands are 95 % intervals "
        "over repetitions",
        "Two panels with logarithmic axes. Frequency errors fall in proportion to the number "
        "of users, PCKV-UE lowest. Mean errors at epsilon 1 fall much less; PrivKV and PCKV-UE"
        " are lowest, and PrivKV levels off.",
    ),
    "pckv-precision-domain": (
        "Share of the true top keys that are found, against the number of keys. The Gaussian's"
        " scale is half the number of keys. Bands are 95 % intervals over repetitions",
        "Four panels. On Gaussian keys the precision of all methods falls to nearly 0 at 2,000"
        " keys, PCKV highest. On power-law keys PCKV-UE stays near its start; PCKV-GRR falls, "
        "and the others fall most.",
    ),
    "pckv-precision-epsilon": (
        "Share of the true top keys that are found, against the budget, for 100 keys. Bands "
        "are 95 % intervals over repetitions",
        "Four panels. Precision rises with epsilon. PCKV-UE and PCKV-GRR are highest, PCKV-UE "
        "ahead up to epsilon 4; on power-law keys both reach almost 1. The others stay below, "
        "KVOH lowest.",
    ),
}


def show(figure: Figure, result: Result, id: str) -> None:
    """Show a figure of this page with its texts.

    Parameters
    ----------
    figure : Figure
        What was drawn.
    result : Result
        Its data.
    id : str
        A key of `TEXTS`.
    """
    caption, alt = TEXTS[id]
    plots.show_figure(figure, result, id, caption=caption, alt=alt)


# --- judges -----------------------------------------------------------------------------------


def numbers(values: Iterable[float]) -> str:
    """List numbers with slashes: 0.1/1/2."""
    return "/".join(f"{value:,g}" for value in values)


def _count(signs: Sequence[int]) -> str:
    below, open_, above = (sum(s == k for s in signs) for k in (-1, 0, 1))
    return f"below in {below}, undecided in {open_}, above in {above} of {len(signs)} comparisons"


def _places(signs: Mapping[tuple[Any, ...], int], wanted: int) -> str:
    """Where a sign occurs, grouped: 'PCKV-GRR against KVUE at 0.1/1 (uniform)'."""
    families: dict[tuple[str, str, float], list[str]] = {}
    for (*where, one, other, x), sign in signs.items():
        if sign == wanted:
            families.setdefault((one, other, x), []).extend(str(w) for w in where)
    points: dict[tuple[str, str, str], list[float]] = {}
    for (one, other, x), names in families.items():
        points.setdefault((one, other, ", ".join(names)), []).append(x)
    shown = [
        f"{one} against {other} at {numbers(xs)}" + (f" ({names})" if names else "")
        for (one, other, names), xs in points.items()
    ]
    return "; ".join(shown[:8]) + (f"; and {len(shown) - 8} more" if len(shown) > 8 else "")


def _order_verdict(signs: Sequence[int]) -> str:
    if any(sign > 0 for sign in signs):
        return DIFFERS
    return WITHIN_ERROR if all(sign < 0 for sign in signs) else SHAPE_ONLY


def _chosen(
    signs: Mapping[tuple[str, str, str, float], int], families: Sequence[str], others: Sequence[str]
) -> dict[tuple[Any, ...], int]:
    return {k: s for k, s in signs.items() if k[0] in families and k[2] in others}


PAIRED = "signs of paired differences that repetitions decide"


AS_STATED = (
    "both PCKV mechanisms below PrivKVM (one round, and 1 + 5 virtual) and KVUE, for both "
    "families, at every ε"
)


def _judge_frequency(result: Result) -> Evidence:
    signs = _chosen(result.facts["signs"]["frequency"], PAPER_FAMILIES, COMPETITORS)
    return _order_evidence(signs, AS_STATED, "ε", f"n = {result.facts['n_users']:,}.")


def _judge_mean(result: Result) -> Evidence:
    facts = result.facts
    text = _chosen(facts["signs"]["mean"], PAPER_FAMILIES, COMPETITORS)
    code = _chosen(facts["signs"]["mean_code"], PAPER_FAMILIES, COMPETITORS)
    remark = f"n = {facts['n_users']:,}. With the lower clip of the authors' code: "
    remark += f"{_count(list(code.values()))}"
    where = _places(code, 1)
    remark += f"; above: {where}." if where else "."
    return _order_evidence(text, AS_STATED, "ε", remark)


def _order_evidence(
    signs: Mapping[tuple[Any, ...], int], expected: str, by: str, remark: str = ""
) -> Evidence:
    verdict = _order_verdict(list(signs.values()))
    where = _places(signs, 1 if verdict == DIFFERS else 0)
    word = "Above" if verdict == DIFFERS else "Undecided"
    notes = [f"{word}, by {by}: {where}."] if where else []
    return Evidence(
        verdict,
        _count(list(signs.values())),
        expected,
        tolerance=PAIRED,
        false_alarm=FALSE_ALARM,
        note=" ".join([*notes, *([remark] if remark else [])]),
    )


OTHER_FAMILIES = tuple(label for label in SETTINGS if label not in PAPER_FAMILIES)
BELOW_ALL = "both PCKV mechanisms below all four others, everywhere"


def _judge_families_frequency(result: Result) -> Evidence:
    signs = _chosen(result.facts["signs"]["frequency"], OTHER_FAMILIES, OTHERS)
    return _order_evidence(signs, BELOW_ALL, "ε")


def _judge_families_mean(result: Result) -> Evidence:
    signs = _chosen(result.facts["signs"]["mean"], OTHER_FAMILIES, OTHERS)
    return _order_evidence(signs, BELOW_ALL, "ε")


def _judge_theorem_4(result: Result) -> Evidence:
    facts = result.facts
    fine = (
        facts["largest_t"] <= facts["critical_t"]
        and facts["mean_off"] == 0
        and not facts["unexplained"]
    )
    region = "; ".join(
        f"{name} {statistic} at ε = {numbers(where)}"
        for (statistic, name), where in facts["region"].items()
        if where
    )
    return Evidence(
        WITHIN_ERROR if fine else DIFFERS,
        f"no correction: largest |t| {num(facts['largest_t'], 2)} (frequency), mean off by "
        f"at most {num(100 * facts['largest_clear_gap'], 2)} % in {facts['clear']} clear cases",
        "equations (9), corrected, (10) and (11)",
        tolerance=f"|t| ≤ {num(facts['critical_t'], 2)}; mean 5 % beyond that where every key "
        "stands 10 standard deviations above 0; with correction 10 % unless it moves more than "
        "1 % of the estimates",
        false_alarm=FALSE_ALARM,
        note=f"Clipping takes the corrected error away from the theorem for {region}."
        + (f" Unexplained: {facts['unexplained'][:3]}." if facts["unexplained"] else ""),
    )


def _judge_allocations(result: Result) -> Evidence:
    facts = result.facts
    signs = facts["signs"]
    verdict = _order_verdict(list(signs.values()))
    if facts["ratios_off"]:
        verdict = DIFFERS
    named = {
        1: sorted({(k[0], k[1], k[2]) for k, s in signs.items() if s > 0}),
        0: sorted({(k[0], k[1], k[2]) for k, s in signs.items() if s == 0}),
    }
    chosen = named[1] or named[0]
    where = "; ".join(f"{name} against {rule} at ε = {e:g}" for name, rule, e in chosen)
    word = "Above" if named[1] else "Undecided"
    return Evidence(
        verdict,
        f"optimised {_count(list(signs.values()))}; {facts['ratios']} predicted ratios off by at "
        f"most {num(100 * facts['largest_gap'], 2)} %",
        "smallest mean error at every ε, by the ratios of Theorem 4",
        tolerance="signs of paired differences; ratios 5 % beyond their error, where signals are "
        "clear",
        false_alarm=FALSE_ALARM,
        note=f"{word}: {where}." if where else "",
    )


def _judge_bias(result: Result) -> Evidence:
    facts = result.facts
    bias, variance = facts["bias_sign"], facts["variance_sign"]
    fails = (
        facts["largest_t"] > facts["critical_t"]
        or facts["kept_bias"] < 0.5
        or any(s > 0 for s in bias.values())
        or any(s < 0 for s in variance.values())
    )
    all_ = all(s < 0 for s in bias.values()) and all(s > 0 for s in variance.values())
    open_ = sorted({e for signs in (bias, variance) for e, s in signs.items() if s == 0})
    wrong = sorted(
        {e for e, s in bias.items() if s > 0} | {e for e, s in variance.items() if s < 0}
    )
    notes = [f"Undecided at ε = {numbers(open_)}."] if open_ else []
    notes += [f"Reversed at ε = {numbers(wrong)}."] if wrong else []
    return Evidence(
        DIFFERS if fails else WITHIN_ERROR if all_ else SHAPE_ONLY,
        f"squared bias at ε = 6 is {num(facts['kept_bias'], 2)} of that at ε = 1 (virtual rounds: "
        f"{num(facts['kept_bias_virtual'], 2)}); recursion met, largest |t| "
        f"{num(facts['largest_t'], 2)}",
        "at least half of it left; virtual rounds: smaller bias and larger variance at every ε",
        tolerance=f"|t| ≤ {num(facts['critical_t'], 2)}, {facts['repeats']} repetitions",
        false_alarm=FALSE_ALARM,
        note=" ".join(notes),
    )


def _within(cases: Sequence[tuple[tuple[float, float, float], float, float]]) -> str:
    """Verdict on intervals: all inside their bounds, some outside for certain, or neither."""
    if any(low > most or high < least for (_, low, high), least, most in cases):
        return DIFFERS
    if all(least <= low and high <= most for (_, low, high), least, most in cases):
        return WITHIN_ERROR
    return SHAPE_ONLY


def _judge_domain(result: Result) -> Evidence:
    wide = result.facts["wide"]
    verdict = _within(
        [
            (wide["raw", "PCKV-UE"], -0.1, 0.1),
            (wide["raw", "PCKV-GRR"], 0.9, 1.1),
            *((wide["raw", name], 0.0, math.inf) for name in OTHERS),
        ]
    )
    shown = ", ".join(
        f"{name} {_fixed(result.facts['slopes']['raw', name][0])}" for name in (*PCKV, *OTHERS)
    )
    corrected = ", ".join(
        f"{name} {_fixed(result.facts['slopes']['frequency', name][0])}" for name in PCKV
    )
    return Evidence(
        verdict,
        f"log-log slopes in d: {shown}",
        "0 for PCKV-UE, 1 for PCKV-GRR, above 0 for index sampling",
        tolerance="intervals within ±0.1 of 0 and of 1, and above 0",
        false_alarm=FALSE_ALARM,
        note=f"Frequency errors without correction at ε = 1. With it the clipping of small "
        f"estimates flattens the curves of PCKV: {corrected}.",
    )


def _judge_domain_frequency(result: Result) -> Evidence:
    signs = {k[1:]: s for k, s in result.facts["signs"].items() if k[0] == "frequency"}
    return _order_evidence(signs, BELOW_ALL, "d")


def _judge_domain_mean(result: Result) -> Evidence:
    signs = {k[1:]: s for k, s in result.facts["signs"].items() if k[0] == "mean"}
    return _order_evidence(signs, BELOW_ALL, "d", "ε = 1.")


def _judge_users(result: Result) -> Evidence:
    wide = result.facts["wide"]
    verdict = _within([(wide["raw", name], -1.1, -0.9) for name in METHODS])
    shown = ", ".join(f"{n} {_fixed(result.facts['slopes']['raw', n][0])}" for n in METHODS)
    return Evidence(
        verdict,
        f"log-log slopes in n: {shown}",
        "-1 for all",
        tolerance="intervals within ±0.1",
        false_alarm=FALSE_ALARM,
        note="Frequency errors without correction.",
    )


def _judge_precision(result: Result) -> Evidence:
    facts = result.facts
    falls = {key: sign for key, sign in facts["falls"].items() if key[0] in PRECISION_FAMILIES}
    rising = sorted({f"{k[2]} ({k[0]}, top {k[1]})" for k, s in falls.items() if s > 0})
    level = sorted({f"{k[2]} ({k[0]}, top {k[1]})" for k, s in falls.items() if s == 0})
    worse = [k for k, s in facts["best"].items() if s < 0]
    decided = sum(s > 0 for s in facts["best"].values())
    open_ = sum(s == 0 for s in facts["best"].values())
    verdict = DIFFERS if rising or worse else SHAPE_ONLY if level or open_ else WITHIN_ERROR
    single = [
        f"{one} below {k[3]} ({k[0]}, top {k[2]}, {k[1]} = {k[4]:g})"
        for k, signs in facts["against"].items()
        for one, sign in signs.items()
        if sign < 0
    ]
    notes = [f"No fall decided: {', '.join(level)}."] if level else []
    notes += [f"Rising: {', '.join(rising)}."] if rising else []
    if single:
        more = f" and {len(single) - 3} more" if len(single) > 3 else ""
        notes.append(f"Taken one by one: {'; '.join(single[:3])}{more}.")
    return Evidence(
        verdict,
        f"falls with d in {sum(s < 0 for s in falls.values())} of {len(falls)} curves; the better "
        f"PCKV mechanism is above the others in {decided}, undecided in {open_}, below in "
        f"{len(worse)} comparisons",
        "falls with d for all; PCKV best at every d and ε",
        tolerance=PAIRED,
        false_alarm=FALSE_ALARM,
        note=" ".join(notes),
    )


def _claim(
    id: str, label: str, mark: str, statement: str, run: Any, judge: Any, recorded: Any
) -> Claim:
    kind = "figure" if label.startswith("Synthetic data") else "statement"
    return Claim(id, "pckv", label, kind, mark, statement, run, judge, PAGE, recorded)


CLAIMS = (
    _claim(
        "pckv-synthetic-frequency",
        "Synthetic data, frequency (pckv-41)",
        "found",
        "On uniform and Gaussian data, PCKV-UE and PCKV-GRR have smaller frequency errors than "
        "PrivKVM and KVUE at every ε.",
        accuracy,
        _judge_frequency,
        always(SHAPE_ONLY),
    ),
    _claim(
        "pckv-synthetic-mean",
        "Synthetic data, mean (pckv-42)",
        "found",
        "On uniform and Gaussian data, PCKV-UE and PCKV-GRR have smaller mean errors than PrivKVM "
        "and KVUE at every ε.",
        accuracy,
        _judge_mean,
        always(DIFFERS),
    ),
    _claim(
        "pckv-other-families-frequency",
        "Other families, frequency (own)",
        "own",
        "The order of the frequency errors is the same on power-law and linear keys, where values "
        "vary within a key, and against KVOH.",
        accuracy,
        _judge_families_frequency,
        always(SHAPE_ONLY),
    ),
    _claim(
        "pckv-other-families-mean",
        "Other families, mean (own)",
        "own",
        "The order of the mean errors is the same on power-law and linear keys, where values vary "
        "within a key, and against KVOH.",
        accuracy,
        _judge_families_mean,
        always(DIFFERS),
    ),
    _claim(
        "pckv-theory-empirical",
        "Theorem 4 and the runs (pckv-43)",
        "found",
        "Measured errors match Theorem 4, except where the correction acts.",
        theorem_4,
        _judge_theorem_4,
        always(WITHIN_ERROR),
    ),
    _claim(
        "pckv-allocation-empirical",
        "Benefit of the optimised allocation (pckv-44)",
        "found",
        "The optimised allocation has smaller mean errors than the naive and the non-optimised "
        "one, by the predicted ratios.",
        allocations,
        _judge_allocations,
        always(WITHIN_ERROR),
    ),
    _claim(
        "pckv-privkvm-empirical",
        "PrivKVM's bias and virtual rounds (pckv-45)",
        "recalled",
        "PrivKVM's mean is biased and hardly improves with ε; virtual rounds cut the bias but "
        "raise the variance.",
        privkvm_bias,
        _judge_bias,
        always(SHAPE_ONLY),
    ),
    _claim(
        "pckv-domain-size",
        "Synthetic data, domain size (pckv-46)",
        "recalled",
        "The frequency error of PCKV-UE does not depend on d, that of PCKV-GRR is linear in it, "
        "and that of index sampling grows with it.",
        domain,
        _judge_domain,
        always(WITHIN_ERROR),
    ),
    _claim(
        "pckv-domain-frequency",
        "Synthetic data, every domain size, frequency (pckv-46, order of frequency)",
        "found",
        "PCKV has smaller frequency errors than its competitors at every domain size.",
        domain,
        _judge_domain_frequency,
        always(SHAPE_ONLY),
    ),
    _claim(
        "pckv-domain-mean",
        "Synthetic data, every domain size, mean (pckv-46, order of mean)",
        "found",
        "PCKV has smaller mean errors than its competitors at every domain size.",
        domain,
        _judge_domain_mean,
        always(DIFFERS),
    ),
    _claim(
        "pckv-user-number",
        "Number of users (own)",
        "own",
        "Frequency errors without correction fall as 1 / n for all mechanisms.",
        user_number,
        _judge_users,
        always(WITHIN_ERROR),
    ),
    _claim(
        "pckv-precision",
        "Synthetic data, precision of the top 10 and 20 (pckv-47)",
        "found",
        "The precision of the top 10 and top 20 keys falls with the domain size, and PCKV has the "
        "highest.",
        precision,
        _judge_precision,
        always(SHAPE_ONLY),
    ),
)
