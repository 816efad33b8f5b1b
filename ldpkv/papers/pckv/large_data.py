"""Page 09: Amazon and Movie of Figure 10, on surrogates of the sets that cannot be had."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ldpkv import surrogates
from ldpkv.data import KeyValueData
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    SHAPE_ONLY,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    num,
)
from ldpkv.papers.pckv.synthetic import (
    EPSILONS,
    FALSE_ALARM,
    PCKV,
    interval,
    legend_below,
    method,
    numbers,
    sign_of,
)
from ldpkv.trials import run_trials

PAGE = "notebooks/pckv/09-large-surrogates.ipynb"
SURROGATE = "surrogate"

METHODS = (*PCKV, "PrivKV", "KVUE")
TOP = 50
REPEATS = {
    "amazon_beauty": {"quick": 10, "paper": 30},
    "movielens20m": {"quick": 20, "paper": 50},
}
# A repetition over 249,274 keys takes seconds.
GRIDS: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "amazon_beauty": {"quick": (1.0, 3.0, 6.0), "paper": EPSILONS},
    "movielens20m": {"quick": EPSILONS, "paper": EPSILONS},
}
PADDING = {"amazon_beauty": 2, "movielens20m": 100}
TITLES = {"amazon_beauty": "Amazon (surrogate)", "movielens20m": "Movie (surrogate)"}
USERS = {"amazon_beauty": 1_210_271, "movielens20m": 138_493}


@functools.lru_cache(maxsize=2)
def make(name: str, share: float, seed: int) -> KeyValueData:
    """Make a surrogate, or a share of its users; the last two are kept.

    Parameters
    ----------
    name : {"amazon_beauty", "movielens20m"}
        Which one.
    share : float
        In (0, 1].
    seed : int
        Seed of dealing keys and values.

    Returns
    -------
    KeyValueData
        Its provenance lists every assumption.
    """
    generators: dict[str, Any] = {
        "amazon_beauty": surrogates.amazon_beauty,
        "movielens20m": surrogates.movielens20m,
    }
    made: KeyValueData = generators[name](rng=seed, n_users=round(share * USERS[name]))
    return made


def amazon(profile: str = "quick", seed: int = 2020, **options: Any) -> Result:
    """Run four mechanisms on the Amazon Beauty surrogate, l = 2.

    Parameters
    ----------
    profile : {"quick", "paper"}
        10 repetitions at three epsilon, or 30 at all; both at full size.
    seed : int, default 2020
        Seed of the surrogate and of the trials.
    **options
        `n_jobs` and `checkpoint` of `ldpkv.trials.run_trials`.

    Returns
    -------
    Result
        One row for each mechanism and epsilon: both MSEs over the 50 most frequent keys.
    """
    return _run("amazon_beauty", profile, seed, options)


def movie(profile: str = "quick", seed: int = 2020, **options: Any) -> Result:
    """Run four mechanisms on the MovieLens-20M surrogate, l = 100.

    Parameters
    ----------
    profile : {"quick", "paper"}
        20 or 50 repetitions; both at full size.
    seed : int, default 2020
        Seed of the surrogate and of the trials.
    **options
        `n_jobs` and `checkpoint` of `ldpkv.trials.run_trials`.

    Returns
    -------
    Result
        As for `amazon`.
    """
    return _run("movielens20m", profile, seed, options)


def _run(
    name: str, profile: str, seed: int, options: Mapping[str, Any], share: float = 1.0
) -> Result:
    repeats, padding = REPEATS[name][check_profile(profile)], PADDING[name]
    users = make(name, share, seed)
    grid = GRIDS[name][profile]
    cases = [(one, epsilon) for one in METHODS for epsilon in grid]
    mechanisms = {
        f"{one} {epsilon:g}": method(one, epsilon, users.n_keys, padding) for one, epsilon in cases
    }
    trials = run_trials(
        users, mechanisms, repeats=repeats, rng=seed + 1, keys=users.top_keys(TOP), **options
    )
    errors = {
        s: dict(zip(cases, trials.squared_error(s).T, strict=True)) for s in ("frequency", "mean")
    }
    rows = []
    for case in cases:
        row: dict[str, Any] = {"data": TITLES[name], "mechanism": case[0], "epsilon": case[1]}
        for statistic in ("frequency", "mean"):
            average, low, high = interval(errors[statistic][case])
            row[f"{statistic}_mse"] = average
            row[f"{statistic}_low"], row[f"{statistic}_high"] = max(low, 0.0), high
        rows.append(row)
    pairs = [*itertools.product(PCKV, METHODS[2:]), PCKV]
    comparisons = 2 * len(grid) * len(pairs)
    signs = {
        (statistic, one, other, e): sign_of(found[one, e] - found[other, e], comparisons)
        for statistic, found in errors.items()
        for one, other in pairs
        for e in grid
    }
    truth, keys = users.truth(), users.top_keys(TOP)
    # What the estimates of PCKV tend to, as `theory.limit_estimates` for users with distinct keys,
    # with a fraction of its memory.
    share_sent = np.repeat(padding / np.maximum(users.lengths, padding), users.lengths)
    limit = np.bincount(users.keys, share_sent, minlength=users.n_keys) / users.n_users
    facts = {
        "bias_floor": float(np.mean((limit - truth.frequency)[keys] ** 2)),
        "signs": signs,
        "truncated": float(np.mean(users.lengths > padding)),
        "per_key": users.n_users / users.n_keys,
        "nothing": float(np.mean(truth.mean[keys] ** 2)),
        "assumptions": _assumptions(users),
    }
    setting = (
        f"{TITLES[name]}, n = {users.n_users:,}, d = {users.n_keys:,}, l = {padding}, "
        f"top {TOP} keys, {repeats} repetitions"
    )
    return Result(profile, pd.DataFrame(rows), facts, setting, SURROGATE)


def _assumptions(users: KeyValueData) -> tuple[str, ...]:
    listed: Any = users.provenance["assumptions"]
    return tuple(listed)


def assumptions_table(*results: Result) -> pd.DataFrame:
    """Every assumption behind the surrogates, from their provenance."""
    rows: dict[str, list[str]] = {}
    for result in results:
        for line in result.facts["assumptions"]:
            rows.setdefault(str(line), []).append(str(result.table["data"].iloc[0]))
    return pd.DataFrame(
        [(", ".join(who), line) for line, who in rows.items()],
        columns=["surrogate", "assumption"],
    )


def draw(result: Result) -> Figure:
    """Draw both MSEs against epsilon."""
    figure, axes = plots.new_figure(2, height=3.8)
    for axis, statistic in zip(axes, ("frequency", "mean"), strict=True):
        plots.log_axis(axis)
        line = result.facts["nothing" if statistic == "mean" else "bias_floor"]
        axis.axhline(line, color=plots.BLACK, lw=0.8, ls=":")
        axis.set(xlabel="ε (nats)", ylabel=f"MSE of {statistic}")
        plots.lines_with_bands(
            axis,
            result.table,
            x="epsilon",
            y=f"{statistic}_mse",
            low=f"{statistic}_low",
            high=f"{statistic}_high",
            series="mechanism",
            direct=False,
        )
        axis.set_title(str(result.table["data"].iloc[0]), fontsize="medium")
    legend_below(figure, axes[0], 4)
    return figure


# --- marginals --------------------------------------------------------------------------------

LARGEST = 0.1


def marginals(profile: str = "quick", seed: int = 2020) -> Result:
    """Compare the surrogates with all that is published of the real sets.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.
    seed : int, default 2020
        Seed of the surrogates.

    Returns
    -------
    Result
        One row for each statistic.
    """
    check_profile(profile)
    parts = []
    for name in USERS:
        table = surrogates.compare_with_published(name, make(name, 1.0, seed)).reset_index()
        parts.append(table.assign(data=TITLES[name]))
    table = pd.concat(parts, ignore_index=True)
    table = table[["data", "statistic", "published", "generated", "relative", "source"]]
    worst = table.loc[table["relative"].abs().idxmax()]
    facts = {
        "count": len(table),
        "worst": float(abs(worst["relative"])),
        "worst_name": f"{worst['statistic']} of {worst['data']}",
        "exact": int((table["relative"].abs() < 1e-9).sum()),
    }
    return Result(profile, table, facts, "surrogates, not the real sets", SURROGATE)


def marginals_table(result: Result) -> pd.DataFrame:
    """Published and surrogate numbers side by side."""
    table = result.table
    return pd.DataFrame(
        {
            "surrogate of": table["data"].str.replace(" (surrogate)", ""),
            "statistic": table["statistic"],
            "published": [num(value, 5) for value in table["published"]],
            "surrogate": [num(value, 5) for value in table["generated"]],
            "deviation in %": [f"{100 * value + 0.0:.2f}" for value in table["relative"]],
        }
    )


def unsent_keys(profile: str = "quick", seed: int = 2020) -> Result:
    """Expected share of the held keys that no holder sends, on the Amazon surrogate at full size.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.
    seed : int, default 2020
        Seed of the surrogate.

    Returns
    -------
    Result
        One row for each class of keys, by their number of holders. Given the lists nothing is
        random: the chance that nobody sends a key is the product of 1 - 1 / max(|S|, l) over its
        holders.
    """
    check_profile(profile)
    users = make("amazon_beauty", 1.0, seed)
    holders = np.bincount(users.keys, minlength=users.n_keys)
    chance = np.repeat(1 / np.maximum(users.lengths, PADDING["amazon_beauty"]), users.lengths)
    nobody = np.exp(np.bincount(users.keys, np.log1p(-chance), minlength=users.n_keys))
    edges = (1, 2, 5, 20, 100, users.n_users + 1)
    rows = []
    for low, high in itertools.pairwise(edges):
        chosen = (holders >= low) & (holders < high)
        words = f"{low} to {high - 1}" if high < users.n_users else f"{low} or more"
        words = "1" if high == 2 else words
        rows.append((words, int(chosen.sum()), float(nobody[chosen].mean())))
    table = pd.DataFrame(rows, columns=["holders", "keys (surrogate)", "not sent by anybody"])
    facts = {
        "falls": bool((np.diff(table["not sent by anybody"]) < 0).all()),
        "rare": float(table["not sent by anybody"].iloc[0]),
        "frequent": float(table["not sent by anybody"].iloc[-1]),
    }
    setting = f"{TITLES['amazon_beauty']}, n = {users.n_users:,}, l = 2, exact"
    return Result(profile, table, facts, setting, SURROGATE)


# --- judges: on a surrogate the best verdict is "shape only" --------------------------------------

NOT_REAL = "A surrogate: the real set could not be had, and how values and keys hang together is "
NOT_REAL += "assumed."


def _judge(result: Result, statistic: str, favoured: str | None = None) -> Evidence:
    signs = {k[1:]: s for k, s in result.facts["signs"].items() if k[0] == statistic}
    against = {k: s for k, s in signs.items() if k[1] not in PCKV}
    above = [k for k, s in against.items() if s > 0]
    between = {k[2]: s for k, s in signs.items() if k[1] in PCKV}
    names = {-1: "PCKV-UE", 1: "PCKV-GRR", 0: "undecided"}
    order = "; ".join(
        f"{names[s]} at ε = {numbers(e for e, x in between.items() if x == s)}"
        for s in (-1, 1, 0)
        if s in between.values()
    )
    expected = "both PCKV mechanisms below KVUE and PrivKVM (one round) at every ε"
    wrong = bool(above)
    if favoured is not None:
        expected += f"; {favoured} the better of the two"
        wrong |= any(names[s] != favoured for s in between.values() if s)
    where: dict[tuple[str, str], list[float]] = {}
    for one, other, e in above:
        where.setdefault((one, other), []).append(e)
    listed = "; ".join(f"{a} against {b} at ε = {numbers(es)}" for (a, b), es in where.items())
    return Evidence(
        DIFFERS if wrong else SHAPE_ONLY,
        f"below in {sum(s < 0 for s in against.values())}, undecided in "
        f"{sum(s == 0 for s in against.values())}, above in {len(above)} of {len(against)} "
        f"comparisons; the better of the two: {order}",
        expected,
        tolerance="signs of paired differences that repetitions decide",
        false_alarm=FALSE_ALARM,
        note=(f"Above: {listed}. " if listed else "") + NOT_REAL,
    )


def _judge_frequency(result: Result) -> Evidence:
    return _judge(result, "frequency")


def _judge_mean(result: Result) -> Evidence:
    return _judge(result, "mean")


def _judge_movie_frequency(result: Result) -> Evidence:
    return _judge(result, "frequency", "PCKV-GRR")


def _judge_movie_mean(result: Result) -> Evidence:
    return _judge(result, "mean", "PCKV-GRR")


def _judge_marginals(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        SHAPE_ONLY if facts["worst"] <= LARGEST else DIFFERS,
        f"{facts['exact']} of {facts['count']} equal; largest deviation "
        f"{num(100 * facts['worst'], 2)} % ({facts['worst_name']})",
        "the published statistics of the real sets",
        tolerance="10 % each",
        note="Marginals only. " + NOT_REAL,
    )


def _judge_unsent(result: Result) -> Evidence:
    facts = result.facts
    fine = facts["falls"] and facts["frequent"] < 1e-6
    return Evidence(
        SHAPE_ONLY if fine else DIFFERS,
        f"not sent: {num(100 * facts['rare'], 2)} % of the keys with one holder, a share of "
        f"{num(facts['frequent'], 2)} of those with 100 or more",
        "only infrequent keys are not sent",
        tolerance="share falls with the number of holders, to below 1e-6",
        note=NOT_REAL,
    )


def _claim(
    id: str, label: str, mark: str, statement: str, run: Any, judge: Any, recorded: Any
) -> Claim:
    kind = "figure" if "Figure" in label else "statement"
    return Claim(id, "pckv", label, kind, mark, statement, run, judge, PAGE, recorded)


CLAIMS = (
    _claim(
        "pckv-fig-10-amazon-frequency",
        "Figure 10, Amazon, frequency, on a surrogate (pckv-49, Amazon)",
        "recalled",
        "On Amazon (here: a surrogate), both PCKV mechanisms have smaller frequency errors than "
        "KVUE and PrivKVM at every ε.",
        amazon,
        _judge_frequency,
        always(SHAPE_ONLY, SURROGATE),
    ),
    _claim(
        "pckv-fig-10-amazon-mean",
        "Figure 10, Amazon, mean, on a surrogate (pckv-49, Amazon, mean)",
        "recalled",
        "On Amazon (here: a surrogate), both PCKV mechanisms have smaller mean errors than KVUE "
        "and PrivKVM at every ε.",
        amazon,
        _judge_mean,
        {("quick", SURROGATE): SHAPE_ONLY, ("paper", SURROGATE): DIFFERS},
    ),
    _claim(
        "pckv-fig-10-movie-frequency",
        "Figure 10, Movie, frequency, on a surrogate (pckv-49, Movie)",
        "recalled",
        "On Movie (here: a surrogate), both PCKV mechanisms have smaller frequency errors than "
        "KVUE and PrivKVM at every ε, and PCKV-GRR the smaller of the two.",
        movie,
        _judge_movie_frequency,
        always(SHAPE_ONLY, SURROGATE),
    ),
    _claim(
        "pckv-fig-10-movie-mean",
        "Figure 10, Movie, mean, on a surrogate (pckv-49, Movie, mean)",
        "recalled",
        "On Movie (here: a surrogate), both PCKV mechanisms have smaller mean errors than KVUE "
        "and PrivKVM at every ε, and PCKV-GRR the smaller of the two.",
        movie,
        _judge_movie_mean,
        always(SHAPE_ONLY, SURROGATE),
    ),
    _claim(
        "pckv-surrogate-marginals",
        "The surrogates' marginals (own, surrogate)",
        "own",
        "The surrogates of Amazon and Movie meet every published statistic of the real sets to "
        "within 10 %.",
        marginals,
        _judge_marginals,
        always(SHAPE_ONLY, SURROGATE),
    ),
    _claim(
        "pckv-unsent-keys",
        "Keys that nobody sends, on the Amazon surrogate (own, as pckv-59)",
        "own",
        "On a surrogate of Amazon, the keys that Padding-and-Sampling leaves out are infrequent "
        "ones.",
        unsent_keys,
        _judge_unsent,
        always(SHAPE_ONLY, SURROGATE),
    ),
)
