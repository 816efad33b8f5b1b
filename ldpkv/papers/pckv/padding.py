"""Page 10: how the padding length trades bias for variance, and how to choose it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from ldpkv import baselines, theory
from ldpkv import data as datasets
from ldpkv.data import KeyValueData
from ldpkv.mechanisms import PCKVGRR, PCKVUE
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
from ldpkv.papers.pckv.synthetic import interval, legend_below
from ldpkv.trials import run_trials

PAGE = "notebooks/pckv/10-padding-length.ipynb"

PCKV: dict[str, Any] = {"PCKV-UE": PCKVUE, "PCKV-GRR": PCKVGRR}
TOP = 50
# Every student of the original 2,972 is taken this often; 297,200 and 998,592 users.
COPIES = {"quick": 100, "paper": 336}
REPEATS = {"quick": 20, "paper": 100}
FALSE_ALARM = 1e-4

SHOWN_EPSILON = 6.0
EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
PERCENTILES = (50, 75, 90, 95, 100)
LENGTHS = (
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    10,
    12,
    15,
    18,
    22,
    26,
    30,
    33,
    36,
    40,
    44,
    47,
    51,
    55,
    62,
    70,
    80,
    92,
)
MEASURED = (5, 22, 47, 92)
# The first-order variance of a mean is used where every key has this signal.
CLEAR_SIGNAL = 5.0
FIRST_ORDER = 0.1


def students() -> tuple[KeyValueData, NDArray[np.int64]]:
    """InstEval as it is, and its most frequent keys."""
    users = datasets.load("insteval")
    return users, users.top_keys(TOP)


def expected(
    users: KeyValueData, mechanism: PCKVUE | PCKVGRR, keys: NDArray[np.int64], copies: int
) -> dict[str, float]:
    """Bias and variance of both estimators if every user is taken `copies` times.

    Parameters
    ----------
    users : KeyValueData
        The original users.
    mechanism : PCKVUE or PCKVGRR
        The mechanism.
    keys : ndarray of int
        Keys to average over.
    copies : int
        How often each user is taken. Biases stay, variances are divided by it.

    Returns
    -------
    dict of str to float
        Averages over the keys: relative frequency bias, squared biases and variances, and the
        weakest signal. Frequencies are exact; the mean's variance is of first order.

    Notes
    -----
    Source: PCKV equations (7) and (8) under Algorithm 1 (`theory.moments_of_data`).
    """
    numbers = theory.Numbers.of(mechanism)
    moments = theory.moments_of_data(numbers, users)
    moments = moments._replace(
        support_variance=moments.support_variance / copies,
        difference_variance=moments.difference_variance / copies,
        covariance=moments.covariance / copies,
    )
    truth = users.truth()
    variance = theory.frequency_variance_of(numbers, moments)[keys]
    limit = theory.limit_estimates(users, mechanism.padding)
    picked = theory.Moments(*(part[keys] for part in moments))
    centre, bias, mean_variance = theory.mean_first_order(numbers, picked)
    gap = limit.frequency[keys] - truth.frequency[keys]
    return {
        "relative_bias": float(np.mean(limit.frequency[keys] / truth.frequency[keys] - 1)),
        "frequency_bias": float(np.mean(gap**2)),
        "frequency_variance": float(variance.mean()),
        "mean_bias": float(np.mean((centre + bias - truth.mean[keys]) ** 2)),
        "mean_limit_bias": float(np.mean((centre - truth.mean[keys]) ** 2)),
        "mean_variance": float(mean_variance.mean()),
        "signal": float(np.min(limit.frequency[keys] / np.sqrt(variance))),
    }


def _at(name: str, epsilon: float, padding: int, n_keys: int) -> Any:
    return PCKV[name].from_epsilon(epsilon, n_keys=n_keys, padding=padding)


def trade_off(profile: str = "quick", seed: int = 2020, **options: Any) -> Result:
    """Bias and variance against the padding length on InstEval, exactly and measured.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Every student taken 100 or 336 times; 20 or 100 repetitions.
    seed : int, default 2020
        Seed of the measured points.
    **options
        `n_jobs` and `checkpoint` of `ldpkv.trials.run_trials`.

    Returns
    -------
    Result
        One row for each mechanism, epsilon and padding length; four lengths are also measured at
        epsilon = 6, without correction.
    """
    copies, repeats = COPIES[check_profile(profile)], REPEATS[profile]
    users, keys = students()
    rows: list[dict[str, Any]] = []
    for name in PCKV:
        for epsilon in EPSILONS:
            for padding in LENGTHS:
                mechanism = _at(name, epsilon, padding, users.n_keys)
                found = expected(users, mechanism, keys, copies)
                rows.append({"mechanism": name, "epsilon": epsilon, "padding": padding, **found})
    table = pd.DataFrame(rows)
    for statistic in ("frequency", "mean"):
        table[f"{statistic}_mse"] = table[f"{statistic}_bias"] + table[f"{statistic}_variance"]
    table = table.merge(
        _measure(users, keys, copies, repeats, seed, options),
        how="left",
        on=["mechanism", "epsilon", "padding"],
    )
    facts = {
        "n_users": copies * users.n_users,
        "p90": int(np.quantile(users.lengths, 0.9)),
        **_against_measured(table, repeats),
        **_monotone(table, users),
        **_rule(table, int(np.quantile(users.lengths, 0.9))),
    }
    setting = (
        f"InstEval, each of 2,972 students {copies} times: n = {facts['n_users']:,}, "
        f"d = {users.n_keys:,}, top {TOP} keys"
    )
    return Result(profile, table, facts, setting, "index")


def _measure(
    users: KeyValueData,
    keys: NDArray[np.int64],
    copies: int,
    repeats: int,
    seed: int,
    options: dict[str, Any],
) -> pd.DataFrame:
    many = users.take_users(np.tile(np.arange(users.n_users), copies))
    cases = [(name, padding) for name in PCKV for padding in MEASURED]
    mechanisms = {
        f"{name} {padding}": _at(name, SHOWN_EPSILON, padding, users.n_keys)
        for name, padding in cases
    }
    trials = run_trials(
        many,
        mechanisms,
        repeats=repeats,
        rng=seed,
        keys=keys,
        correction="none",
        **options,
    )
    rows = []
    for position, (name, padding) in enumerate(cases):
        row: dict[str, Any] = {"mechanism": name, "epsilon": SHOWN_EPSILON, "padding": padding}
        for statistic in ("frequency", "mean"):
            sample = trials.squared_error(statistic)[:, position]
            average, low, high = interval(sample)
            row[f"{statistic}_measured"] = average
            row[f"{statistic}_low"], row[f"{statistic}_high"] = low, high
            row[f"{statistic}_error"] = sample.std(ddof=1) / math.sqrt(repeats)
        rows.append(row)
    return pd.DataFrame(rows)


def _against_measured(table: pd.DataFrame, repeats: int) -> dict[str, Any]:
    seen = table.dropna(subset=["frequency_measured"])
    clear = seen[seen["signal"] >= CLEAR_SIGNAL]
    t = (seen["frequency_measured"] - seen["frequency_mse"]) / seen["frequency_error"]
    gap = (clear["mean_measured"] - clear["mean_mse"]).abs() - FIRST_ORDER * clear["mean_mse"]
    largest = max(float(t.abs().max()), float((gap / clear["mean_error"]).max()))
    return {
        "repeats": repeats,
        "cases": len(seen) + len(clear),
        "largest_t": largest,
        "critical_t": float(stats.t.isf(FALSE_ALARM / (4 * len(seen)), repeats - 1)),
    }


def _monotone(table: pd.DataFrame, users: KeyValueData) -> dict[str, Any]:
    lengths = [int(np.quantile(users.lengths, p / 100)) for p in PERCENTILES]
    steps = table[table["padding"].isin(lengths)]

    groups = steps.groupby(["mechanism", "epsilon"], sort=False)

    def steadily(column: str, direction: int) -> bool:
        return all(bool((direction * np.diff(part) > 0).all()) for _, part in groups[column])

    # The mean's first-order variance is meant where all the lengths have a clear signal.
    clear = [(case, part) for case, part in groups if part["signal"].min() >= CLEAR_SIGNAL]
    falling = [
        (case, part["padding"].to_list()[int(np.argmin(part["mean_variance"]))])
        for case, part in clear
        if (np.diff(part["mean_variance"]) < 0).any()
    ]
    one = table[(table["mechanism"] == "PCKV-UE") & (table["epsilon"] == 1.0)]
    bias = dict(zip(one["padding"], one["relative_bias"], strict=True))
    variance = one.set_index("padding")["frequency_variance"]
    other = table[(table["mechanism"] == "PCKV-GRR") & (table["epsilon"] == 1.0)]
    other = other.set_index("padding")["frequency_variance"]
    return {
        "lengths": dict(zip(PERCENTILES, lengths, strict=True)),
        "bias_falls": steadily("frequency_bias", -1),
        "variance_rises": steadily("frequency_variance", 1),
        "mean_bias_falls": steadily("mean_limit_bias", -1),
        "clear": [case for case, _ in clear],
        "mean_variance_falls": falling,
        "relative_bias": bias,
        "underestimates": bool((table["relative_bias"] <= 1e-12).all()),
        "rises_throughout": all(
            bool((np.diff(part) > 0).all())
            for _, part in table.groupby(["mechanism", "epsilon"])["frequency_variance"]
        ),
        "growth_ue": float(variance[92] / variance[22]),
        "growth_grr": float(other[92] / other[22]),
    }


def _rule(table: pd.DataFrame, p90: int) -> dict[str, Any]:
    """Best padding length and what the 90th percentile costs, for each mechanism and epsilon."""
    best, cost = {}, {}
    for (name, epsilon), part in table.groupby(["mechanism", "epsilon"]):
        mse = part.set_index("padding")["frequency_mse"]
        best[name, epsilon] = int(mse.idxmin())
        cost[name, epsilon] = float(mse[p90] / mse.min())
    return {"best": best, "cost": cost}


def rule_table(result: Result) -> pd.DataFrame:
    """Best padding length for the frequency error, and the price of the 90th percentile."""
    facts = result.facts
    return pd.DataFrame(
        {
            "ε": EPSILONS,
            "best l, UE": [facts["best"]["PCKV-UE", e] for e in EPSILONS],
            "MSE at rule / best, UE": [facts["cost"]["PCKV-UE", e] for e in EPSILONS],
            "best l, GRR": [facts["best"]["PCKV-GRR", e] for e in EPSILONS],
            "MSE at rule / best, GRR": [facts["cost"]["PCKV-GRR", e] for e in EPSILONS],
        }
    )


def draw_trade_off(result: Result) -> Figure:
    """Draw squared bias, variance and MSE against l at epsilon = 6, with the measured points."""
    figure, axes = plots.new_figure(2, rows=2, height=2.9)
    pairs = [(s, name) for s in ("frequency", "mean") for name in PCKV]
    table = result.table[result.table["epsilon"] == SHOWN_EPSILON]
    parts = (("bias", "bias²"), ("variance", "variance"), ("mse", "MSE"))
    for axis, (statistic, name) in zip(axes, pairs, strict=True):
        part = table[table["mechanism"] == name]
        if statistic == "mean":
            part = part[part["signal"] >= CLEAR_SIGNAL]
        plots.log_axis(axis)
        plots.log_axis(axis, "x")
        axis.set(xlabel="padding length l", ylabel=f"error of {statistic}", xlim=(0.9, 105))
        axis.axvline(result.facts["p90"], color=plots.BLACK, lw=0.8, ls=":")
        for position, (column, words) in enumerate(parts):
            shown = part[part[f"{statistic}_{column}"] > 1e-15]
            look = {**plots.style(words, position), "marker": ""}
            axis.plot(shown["padding"], shown[f"{statistic}_{column}"], label=words, **look)
        seen = part.dropna(subset=["frequency_measured"])
        look = {**plots.style("MSE", 2), "linestyle": ""}
        axis.plot(seen["padding"], seen[f"{statistic}_measured"], label="MSE, measured", **look)
        low = max(part[f"{statistic}_mse"].min() / 100, 1e-9)
        axis.set_ylim(bottom=low)
        axis.set_title(name, fontsize="medium")
    legend_below(figure, axes[0], 4)
    return figure


def draw_rule(result: Result) -> Figure:
    """Draw the frequency MSE against l for several epsilon, with each line's minimum."""
    figure, axes = plots.new_figure(2, height=3.8)
    shown = (0.5, 1.0, 2.0, 4.0, 6.0)
    for axis, name in zip(axes, PCKV, strict=True):
        plots.log_axis(axis)
        plots.log_axis(axis, "x")
        axis.set(xlabel="padding length l", ylabel="frequency MSE", xlim=(0.9, 105))
        axis.axvline(result.facts["p90"], color=plots.BLACK, lw=0.8, ls=":")
        for position, epsilon in enumerate(shown):
            mine = (result.table["mechanism"] == name) & (result.table["epsilon"] == epsilon)
            part = result.table[mine].set_index("padding")["frequency_mse"]
            look = {**plots.style(f"ε = {epsilon:g}", position), "marker": ""}
            axis.plot(part.index, part, label=f"ε = {epsilon:g}", **look)
            best = result.facts["best"][name, epsilon]
            axis.plot([best], [part[best]], color=look["color"], marker="o", markersize=6, ls="")
        axis.set_title(name, fontsize="medium")
    legend_below(figure, axes[0], 5)
    return figure


# --- a private estimate of the lengths ---------------------------------------------------------

CAP = 100  # a public bound on the length
GROUP = 0.1
CODINGS = {"each length": 1, "steps of 10": 10}
LENGTH_EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0)
LENGTH_REPEATS = {"quick": 200, "paper": 2000}


def private_lengths(profile: str = "quick", seed: int = 2020) -> Result:
    """Let a tenth of the users report their length by GRR, and take the 90th percentile.

    Parameters
    ----------
    profile : {"quick", "paper"}
        200 or 2,000 repetitions; users as in `trade_off`.
    seed : int, default 2020
        Seed of groups and reports.

    Returns
    -------
    Result
        One row for each coding of the lengths and epsilon: average and 95 % range of the
        estimated percentile, and the frequency error of PCKV-GRR with it, relative to that with
        the known percentile.
    """
    copies, repeats = COPIES[check_profile(profile)], LENGTH_REPEATS[profile]
    users, keys = students()
    n_users = copies * users.n_users
    known = int(np.quantile(users.lengths, 0.9))
    group = round(GROUP * n_users)
    rng = np.random.default_rng(seed)
    rows = []
    errors: dict[float, dict[int, float]] = {}
    for coding, step in CODINGS.items():
        size = CAP // step
        counts = copies * np.bincount((users.lengths - 1) // step, minlength=size)
        for epsilon in LENGTH_EPSILONS:
            mechanism = baselines.GRR.from_epsilon(epsilon, n_keys=size)
            groups = rng.multivariate_hypergeometric(counts, group, size=repeats)
            found = np.array(
                [
                    step
                    * percentile(
                        mechanism.estimate(
                            mechanism.simulate_counts(drawn[:, None], rng=rng)
                        ).frequency,
                        0.9,
                    )
                    for drawn in groups
                ]
            )
            known_errors = errors.setdefault(epsilon, {})
            for padding in {known, *found.tolist()} - set(known_errors):
                grr = _at("PCKV-GRR", epsilon, padding, users.n_keys)
                parts = expected(users, grr, keys, copies)
                known_errors[padding] = parts["frequency_bias"] + parts["frequency_variance"]
            cost = np.array([known_errors[padding] for padding in found]) / known_errors[known]
            answer = step * math.ceil(known / step)
            rows.append(
                {
                    "coding": coding,
                    "epsilon": epsilon,
                    "known": known,
                    "average": float(found.mean()),
                    "low": float(np.quantile(found, 0.025)),
                    "high": float(np.quantile(found, 0.975)),
                    "close": int((np.abs(found - answer) <= 10).sum()),
                    "cost": float(cost.mean()),
                }
            )
    table = pd.DataFrame(rows)
    coarse = table[table["coding"] == "steps of 10"]
    facts = {
        "known": known,
        "group": group,
        "repeats": repeats,
        "close": dict(zip(coarse["epsilon"], coarse["close"] / repeats, strict=True)),
        "close_fine": dict(
            zip(
                LENGTH_EPSILONS,
                table[table["coding"] == "each length"]["close"] / repeats,
                strict=True,
            )
        ),
        "worst_cost": float(coarse[coarse["epsilon"] >= 1]["cost"].max()),
    }
    setting = (
        f"InstEval, n = {n_users:,}, of whom {group:,} report a length of at most {CAP}; "
        f"{repeats:,} repetitions"
    )
    return Result(profile, table, facts, setting, "index")


def percentile(shares: NDArray[np.float64], level: float) -> int:
    """Smallest category up to which the estimated shares reach a level.

    Parameters
    ----------
    shares : ndarray, shape (size,)
        Estimated shares of the categories in order; may be negative.
    level : float
        In (0, 1].

    Returns
    -------
    int
        From 1 to `size`. Negative shares are set to 0 and the rest is scaled to sum to 1.
    """
    kept = np.maximum(shares, 0.0)
    running = np.cumsum(kept) / kept.sum()
    return int(np.argmax(running >= level * (1 - 1e-12))) + 1


def draw_private_lengths(result: Result) -> Figure:
    """Draw the estimated percentile with its 95 % range, and what it costs."""
    figure, axes = plots.new_figure(2, height=3.6)
    axes[0].axhline(result.facts["known"], color=plots.BLACK, lw=0.8, ls=":")
    axes[0].set(xlabel="ε of the length report (nats)", ylabel="estimated 90th percentile")
    axes[1].axhline(1.0, color=plots.BLACK, lw=0.8, ls=":")
    axes[1].set(xlabel="ε (nats)", ylabel="frequency MSE, relative")
    for position, (coding, part) in enumerate(result.table.groupby("coding", sort=False)):
        look = plots.style(str(coding), position)
        shift = 0.05 * (2 * position - 1)
        x = part["epsilon"] + shift
        axes[0].vlines(x, part["low"], part["high"], color=look["color"], lw=1.5)
        axes[0].plot(x, part["average"], label=coding, **look)
        axes[1].plot(part["epsilon"], part["cost"], label=coding, **look)
    axes[0].set_ylim(0, 105)
    legend_below(figure, axes[1])
    return figure


# --- judges -----------------------------------------------------------------------------------


def _judge_percentile(result: Result) -> Evidence:
    facts = result.facts
    lengths = ", ".join(f"{p} % gives l = {length}" for p, length in facts["lengths"].items())
    words = ("falls" if facts["bias_falls"] else "does not always fall") + ", variance "
    words += "rises" if facts["variance_rises"] else "does not always rise"
    return exact_if(
        facts["bias_falls"] and facts["variance_rises"],
        f"{lengths}; bias of the frequency {words}",
        "bias falls and variance rises with the percentile, for both mechanisms at every ε",
        "Averages over the 50 most frequent keys.",
    )


def _judge_percentile_mean(result: Result) -> Evidence:
    facts = result.facts
    falling = facts["mean_variance_falls"]
    where = "; ".join(
        f"{name} at ε = {epsilon:g} (least at l = {least})" for (name, epsilon), least in falling
    )
    bias = "falls" if facts["mean_bias_falls"] else "does not always fall"
    return exact_if(
        facts["mean_bias_falls"] and not falling,
        f"bias of the mean {bias}; variance rises in {len(facts['clear']) - len(falling)} of "
        f"{len(facts['clear'])} cases with a clear signal",
        "bias falls and variance rises with the percentile",
        (
            f"It first falls for {where}: padding amplifies the budget of PCKV-GRR, and while "
            "lists are longer than l that costs no samples. "
            if falling
            else ""
        )
        + "Variances are of first order, where every key stands 5 standard deviations above 0.",
    )


def _judge_short(result: Result) -> Evidence:
    facts = result.facts
    bias = facts["relative_bias"]
    shown = ", ".join(f"{100 * bias[p]:.0f} %" for p in (5, 22, 47, 92))
    return exact_if(
        facts["underestimates"] and facts["rises_throughout"],
        f"relative bias {shown.replace('-0 %', '0 %')} at l = 5, 22, 47, 92; from 22 to 92 the "
        f"variance grows {num(facts['growth_ue'], 2)}-fold for PCKV-UE, "
        f"{num(facts['growth_grr'], 2)}-fold for PCKV-GRR, at ε = 1",
        "a short l underestimates, a longer one raises the variance",
        "" if facts["rises_throughout"] else "The variance does not rise throughout.",
    )


def _judge_measured(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        WITHIN_ERROR if facts["largest_t"] <= facts["critical_t"] else DIFFERS,
        f"largest |t| {num(facts['largest_t'], 2)} over {facts['cases']} cases",
        "exact frequency errors, first-order mean errors, at l = 5, 22, 47, 92 and ε = 6",
        tolerance=f"|t| ≤ {num(facts['critical_t'], 2)}; mean 10 % beyond that, where every key "
        "stands 5 standard deviations above 0",
        false_alarm=FALSE_ALARM,
        note="Without correction.",
    )


def _judge_rule(result: Result) -> Evidence:
    cost, best = result.facts["cost"], result.facts["best"]
    worst = {name: max(cost[name, e] for e in EPSILONS) for name in PCKV}
    bad = [
        f"{name} at ε = " + "/".join(f"{e:g}" for e in EPSILONS if cost[name, e] > 2)
        for name in PCKV
        if worst[name] > 2
    ]
    shown = "; ".join(
        f"{name}: best l from {min(best[name, e] for e in EPSILONS)} to "
        f"{max(best[name, e] for e in EPSILONS)}, rule up to {num(worst[name], 2)} times the "
        "smallest error"
        for name in PCKV
    )
    return Evidence(
        DIFFERS if bad else EXACT,
        shown,
        f"l = {result.facts['p90']} (90th percentile) within twice the smallest frequency error",
        note=f"More than twice: {'; '.join(bad)}. The best length depends on n and ε."
        if bad
        else "",
    )


def _judge_private(result: Result) -> Evidence:
    facts = result.facts
    chance = {e: share for e, share in facts["close"].items() if e >= 1}
    # Exact binomial tail: would a true chance of 95 % show so few?
    tails = [
        float(stats.binom.cdf(round(share * facts["repeats"]), facts["repeats"], 0.95))
        for share in chance.values()
    ]
    shown = ", ".join(f"{100 * share:.0f} % at ε = {e:g}" for e, share in facts["close"].items())
    fine = ", ".join(
        f"{100 * share:.0f} % at ε = {e:g}" for e, share in facts["close_fine"].items()
    )
    return Evidence(
        WITHIN_ERROR if min(tails) > FALSE_ALARM / len(tails) else DIFFERS,
        f"within one step: {shown}",
        "in 95 % of the runs from ε = 1 on, with steps of 10",
        tolerance=f"binomial, {facts['repeats']:,} repetitions",
        false_alarm=FALSE_ALARM,
        note=f"Where each length is reported by itself: {fine}.",
    )


INDEX = "index"
CLAIMS = (
    Claim(
        id="pckv-padding-frequency",
        paper="pckv",
        label="Percentile for the padding length, frequency (pckv-58)",
        kind="statement",
        mark="text",
        statement="Taking a larger percentile of the lengths as padding length gives the "
        "frequency less bias and more variance.",
        run=trade_off,
        judge=_judge_percentile,
        page=PAGE,
        recorded=always(EXACT, INDEX),
    ),
    Claim(
        id="pckv-padding-mean",
        paper="pckv",
        label="Percentile for the padding length, mean (pckv-58, mean)",
        kind="statement",
        mark="text",
        statement="A larger percentile gives the mean, too, less bias and more variance.",
        run=trade_off,
        judge=_judge_percentile_mean,
        page=PAGE,
        recorded=always(DIFFERS, INDEX),
    ),
    Claim(
        id="pckv-padding-short",
        paper="pckv",
        label="Padding length on InstEval (own, as pckv-28)",
        kind="statement",
        mark="own",
        statement="On lecture ratings, too, a padding length that is too short underestimates "
        "frequencies, and a longer one raises the variance.",
        run=trade_off,
        judge=_judge_short,
        page=PAGE,
        recorded=always(EXACT, INDEX),
    ),
    Claim(
        id="pckv-padding-measured",
        paper="pckv",
        label="Bias and variance against the padding length, measured (own)",
        kind="statement",
        mark="own",
        statement="Runs meet the exact frequency errors and the first-order mean errors on "
        "truncated lists.",
        run=trade_off,
        judge=_judge_measured,
        page=PAGE,
        recorded=always(WITHIN_ERROR, INDEX),
    ),
    Claim(
        id="pckv-padding-rule",
        paper="pckv",
        label="The 90th-percentile rule (own)",
        kind="statement",
        mark="own",
        statement="The 90th percentile of the lengths comes within twice the smallest frequency "
        "error that any padding length reaches, for both mechanisms at every ε.",
        run=trade_off,
        judge=_judge_rule,
        page=PAGE,
        recorded=always(DIFFERS, INDEX),
    ),
    Claim(
        id="pckv-padding-private",
        paper="pckv",
        label="A private estimate of the lengths (own)",
        kind="statement",
        mark="own",
        statement="A tenth of the users, reporting their length in steps of ten, suffice to find "
        "the 90th percentile to within one step from ε = 1 on.",
        run=private_lengths,
        judge=_judge_private,
        page=PAGE,
        recorded=always(WITHIN_ERROR, INDEX),
    ),
)
