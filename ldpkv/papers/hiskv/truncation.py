"""Page 04: how long the padded list should be, and how well OETL finds it."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

import numba
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ldpkv import surrogates, theory
from ldpkv.data import KeyValueData
from ldpkv.hiskv import LRRKV, LengthEstimate
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    NOT_CHECKABLE,
    WITHIN_ERROR,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    num,
)
from ldpkv.theory import Numbers
from ldpkv.trials import run_trials

PAGE = "notebooks/hiskv/04-truncation-length.ipynb"

EPSILONS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
SHARE = 0.9
GROUP_SHARE = 0.1
# Probability that chance alone turns a verdict; shared by all comparisons behind it.
FALSE_ALARM = 1e-4

# How LRR_KV is set up: name, and the mechanism at (epsilon, d, l).
ACCOUNTS: Mapping[str, Callable[[float, int, int], LRRKV]] = {
    "set level": lambda epsilon, d, padding: LRRKV.corrected(
        math.exp(epsilon), n_keys=d, padding=padding, level="set"
    ),
    "reading A": lambda epsilon, d, padding: LRRKV.from_epsilon(
        epsilon, n_keys=d, padding=padding, reading="A"
    ),
    "reading B": lambda epsilon, d, padding: LRRKV.from_epsilon(
        epsilon, n_keys=d, padding=padding, reading="B"
    ),
}

# --- the data ------------------------------------------------------------------------------------


@functools.cache
def stand_in(name: str, profile: str, seed: int) -> KeyValueData:
    """Make one of the four surrogates of HISKV's data sets.

    Parameters
    ----------
    name : {"TalkingData", "JData", "LNR", "GAUSS"}
        Which.
    profile : {"quick", "paper"}
        LNR and GAUSS have 10^5 users in the first, 10^6 as in Table 2 in the second.
    seed : int
        Seed of the generator.

    Returns
    -------
    KeyValueData
        Users who never were.
    """
    n_users = {"quick": 10**5, "paper": 10**6}[check_profile(profile)]
    rng = np.random.default_rng([seed, "TJLG".index(name[0])])
    if name == "TalkingData":
        return surrogates.talkingdata(rng=rng)
    if name == "JData":
        return surrogates.jdata(rng=rng)
    return {"LNR": surrogates.lnr, "GAUSS": surrogates.gauss}[name](n_users, rng=rng)


SETS = ("TalkingData", "JData", "LNR", "GAUSS")


def ninetieth(lengths: NDArray[np.int64], share: float = SHARE) -> int:
    """Smallest length that covers the share of the users."""
    covered = np.cumsum(np.bincount(lengths)) / len(lengths)
    return int(np.argmax(covered >= share))


def lengths(profile: str = "quick", seed: int = 2021) -> Result:
    """Lengths of the lists of the TalkingData surrogate, beside what Figure 1 is said to show.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.
    seed : int, default 2021
        Seed of the surrogate.

    Returns
    -------
    Result
        One row a length.
    """
    users = stand_in("TalkingData", check_profile(profile), seed)
    counts = np.bincount(users.lengths, minlength=users.n_keys + 1)[1:]
    share = counts / users.n_users
    table = pd.DataFrame(
        {
            "length": np.arange(1, users.n_keys + 1),
            "share": share,
            "covered": np.cumsum(share),
        }
    )
    facts = {
        "real_data": False,
        "density": users.n_pairs / (users.n_users * users.n_keys),
        "below_50": float(table["covered"][48]),
        "ninetieth": ninetieth(users.lengths),
        "mean_length": float(users.lengths.mean()),
        "median": int(np.median(users.lengths)),
        "assumptions": tuple(users.provenance["assumptions"]),  # type: ignore[arg-type]
    }
    setting = f"TalkingData surrogate, n = {users.n_users:,}, d = {users.n_keys}"
    return Result(profile, table, facts, setting, "surrogate")


def draw_lengths(result: Result) -> Figure:
    """Draw the histogram of the surrogate's lengths, with the marks the paper mentions."""
    figure, axis = plots.new_figure()
    table = result.table[result.table["length"] <= 80]
    axis.bar(table["length"], table["share"], width=0.9, color=plots.GREEN, linewidth=0)
    top = float(table["share"].max())
    for place, text in (
        (result.facts["ninetieth"], f"90 % up to {result.facts['ninetieth']}"),
        (50, "98 % below 50 (the paper's number)"),
    ):
        axis.axvline(place, color=plots.BLACK, linewidth=0.8, linestyle=":")
        height = 0.95 * top if place < 50 else 0.6 * top
        axis.text(place + 1, height, text, fontsize="small", va="top")
    axis.set(xlabel="pairs of a user", ylabel="share of users", xlim=(0, 80))
    return figure


def assumptions_table(name: str, users: KeyValueData) -> pd.DataFrame:
    """What a surrogate assumes, one row each."""
    listed = users.provenance["assumptions"]
    assert isinstance(listed, list | tuple)
    return pd.DataFrame({"data set": f"{name} surrogate", "assumed": [str(a) for a in listed]})


# --- the law of the chosen length ----------------------------------------------------------------


@numba.njit(cache=True)
def _passage(chances, bounds, n_users):  # type: ignore[no-untyped-def] # pragma: no cover - compiled
    # chances: law of one report; bounds: count at which the path has passed, for each length. The
    # cumulative count is a Markov chain, since the reports are independent with one law.
    n_lengths = len(chances)
    law = np.zeros(n_lengths)
    state = np.zeros(n_users + 1)
    state[0] = 1.0
    low, high = 0, 0  # states that have not passed
    left = 1.0
    for place in range(n_lengths):
        hazard = min(1.0, chances[place] / left)
        left -= chances[place]
        new = np.zeros(n_users + 1)
        new_low, new_high = n_users, 0
        for count in range(low, high + 1):
            mass = state[count]
            if mass < 1e-40:
                continue
            rest = n_users - count
            mean = rest * hazard
            reach = 9.0 * math.sqrt(mean * (1.0 - hazard)) + 25.0
            first = max(0, int(mean - reach))
            last = min(rest, int(mean + reach))
            if hazard >= 1.0:
                first, last = rest, rest
                chance = 1.0
                odds = 0.0
            else:
                odds = hazard / (1.0 - hazard)
                chance = math.exp(
                    math.lgamma(rest + 1.0)
                    - math.lgamma(first + 1.0)
                    - math.lgamma(rest - first + 1.0)
                    + first * math.log(hazard)
                    + (rest - first) * math.log1p(-hazard)
                )
            for more in range(first, last + 1):
                new[count + more] += mass * chance
                chance *= odds * (rest - more) / (more + 1.0)
            new_low = min(new_low, count + first)
            new_high = max(new_high, count + last)
        passed = max(bounds[place], 0)
        for count in range(max(passed, new_low), new_high + 1):
            law[place] += new[count]
            new[count] = 0.0
        if place == n_lengths - 1:
            for count in range(new_low, new_high + 1):
                law[place] += new[count]
        state = new
        low, high = new_low, min(new_high, passed - 1)
    return law


def first_passage(
    length_law: NDArray[np.float64], n_users: int, stage: LengthEstimate
) -> NDArray[np.float64]:
    """Exact law of OETL's choice, for users whose lengths are independent with one law.

    A report then has one law, so the number of reports up to length L is a Markov chain in L with
    binomial steps; the choice is the first L at which it passes a bound. No enumeration is needed.

    Parameters
    ----------
    length_law : ndarray of float64, shape (n_lengths,)
        Probabilities of the true lengths, `stage.shortest` first.
    n_users : int
        Users of the first group.
    stage : LengthEstimate
        The mechanism; not strict.

    Returns
    -------
    ndarray of float64, shape (n_keys,)
        Probability that l = 1, 2, ..., d. Sums to 1 up to about 1e-9.

    Notes
    -----
    Source: derived, from HISKV Algorithm 4 as fitted in `ldpkv.hiskv`.
    """
    p, q = float(stage.keep_length), float(stage.fake_length)
    chances = q + (p - q) * np.asarray(length_law)
    places = np.arange(1, stage.n_lengths + 1)
    # (K - n L q) / (p - q) >= share n, as a smallest whole K; the slack forgives rounding.
    exact = n_users * (float(stage.share) * (p - q) + places * q)
    bounds = np.ceil(exact - 1e-9 * np.maximum(1.0, exact)).astype(np.int64)
    law = _passage(chances, np.minimum(bounds, n_users + 1), n_users)
    if stage.shortest == 0:
        return np.concatenate([[law[0] + law[1]], law[2:]])
    return np.asarray(law)


def _shares(users: KeyValueData) -> NDArray[np.float64]:
    return np.bincount(users.lengths, minlength=users.n_keys + 1)[1:] / users.n_users


def _quantile(law: NDArray[np.float64], part: float) -> int:
    return int(np.argmax(np.cumsum(law) >= part)) + 1


def passage(profile: str = "quick", seed: int = 2021) -> Result:
    """Exact law of the length that OETL chooses, over the paper's budgets.

    Parameters
    ----------
    profile : {"quick", "paper"}
        More simulated runs in the second; the law itself is the same.
    seed : int, default 2021
        Seed of the surrogates and of the simulated runs.

    Returns
    -------
    Result
        One row for each data set and epsilon: deciles of the chosen length, and how often it is
        close to the 90th percentile.
    """
    runs = {"quick": 60, "paper": 600}[check_profile(profile)]
    rng = np.random.default_rng([seed, 4])
    rows, distances, masses = [], [], []
    for name in SETS:
        users = stand_in(name, "quick", seed)
        # Users as in Table 2 whatever the profile: of the lengths only the shares matter.
        n_users = 10**6 if name in ("LNR", "GAUSS") else users.n_users
        n_first, target = round(GROUP_SHARE * n_users), ninetieth(users.lengths)
        shares = _shares(users)
        for epsilon in EPSILONS:
            stage = LengthEstimate.from_epsilon(epsilon, n_keys=users.n_keys)
            law = first_passage(shares, n_first, stage)
            masses.append(abs(law.sum() - 1))
            near = np.abs(np.arange(1, users.n_keys + 1) - target) <= 0.1 * target
            rows.append(
                {
                    "data": name,
                    "epsilon": epsilon,
                    "low": _quantile(law, 0.1),
                    "median": _quantile(law, 0.5),
                    "high": _quantile(law, 0.9),
                    "near": float(law[near].sum()),
                    "target": target,
                    "half": float(law[: target // 2].sum()),
                    "bin_noise": _bin_noise(epsilon, users.n_keys, n_first),
                }
            )
            if name == "TalkingData":
                chosen = np.empty(runs, dtype=np.int64)
                for index in range(runs):
                    sample = rng.choice(users.lengths, n_first)
                    chosen[index] = stage.choose(stage.counts(sample, rng=rng))
                seen = np.bincount(chosen, minlength=users.n_keys + 1)[1:]
                distances.append(float(np.abs(np.cumsum(seen) / runs - np.cumsum(law)).max()))
    table = pd.DataFrame(rows)
    talking = table[table["data"] == "TalkingData"].set_index("epsilon")
    good = {
        name: min((e for e, ok in zip(part["epsilon"], part["near"] >= 0.8, strict=True) if ok))
        if (part["near"] >= 0.8).any()
        else math.inf
        for name, part in table.groupby("data", sort=False)
    }
    facts = {
        "near": talking["near"].to_dict(),
        "low": talking["low"].to_dict(),
        "median": talking["median"].to_dict(),
        "high": talking["high"].to_dict(),
        "half": talking["half"].to_dict(),
        "target": int(talking["target"].iloc[0]),
        "good_from": good,
        "bin_noise": talking["bin_noise"].to_dict(),
        "distance": max(distances),
        # Dvoretzky-Kiefer-Wolfowitz-Massart, shared over the budgets.
        "allowed": math.sqrt(math.log(2 * len(EPSILONS) / FALSE_ALARM) / (2 * runs)),
        "runs": runs,
        "mass": float(max(masses)),
        "enumerated": _enumerated(),
    }
    setting = (
        f"surrogates, β = {GROUP_SHARE:g}, users of Table 2, lengths independent; "
        f"{runs} simulated runs"
    )
    return Result(profile, table, facts, setting, "surrogate")


def _bin_noise(epsilon: float, n_lengths: int, n_first: int) -> float:
    """Standard deviation of one estimated bin, as a share of the first group."""
    return float(np.sqrt(theory.grr_oracle_variance(math.exp(epsilon), n_lengths, 0.0, n_first)))


def _enumerated() -> float:
    """Largest difference between `first_passage` and enumeration over small groups of users."""
    length_law = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    worst = 0.0
    for exp_epsilon, n_users in itertools.product((Fraction(3, 2), Fraction(4)), (1, 2, 4)):
        stage = LengthEstimate.from_exp_budgets(exp_epsilon, n_keys=3)
        exact = dict.fromkeys((1, 2, 3), Fraction(0))
        for users in itertools.product((1, 2, 3), repeat=n_users):
            weight = math.prod((length_law[length - 1] for length in users), start=Fraction(1))
            for chosen, chance in stage.law(users).items():
                exact[chosen] += weight * chance
        found = first_passage(np.array(length_law, dtype=float), n_users, stage)
        worst = max(worst, *(abs(found[k - 1] - float(exact[k])) for k in exact))
    return worst


def draw_passage(result: Result) -> Figure:
    """Draw deciles of the chosen length against epsilon, for the four surrogates."""
    figure, axes = plots.new_figure(2, rows=2, height=2.6)
    for axis, (name, part) in zip(axes, result.table.groupby("data", sort=False), strict=True):
        plots.log_axis(axis, "x")
        plots.log_axis(axis)
        axis.axhline(part["target"].iloc[0], color=plots.BLACK, linewidth=0.8, linestyle=":")
        look = plots.style("HISKV")
        axis.fill_between(
            part["epsilon"], part["low"], part["high"], color=look["color"], alpha=0.2
        )
        axis.plot(part["epsilon"], part["median"], **look)
        axis.set(xlabel="ε (nats)", ylabel="chosen length l")
        axis.set_xticks(EPSILONS, [f"{e:g}" for e in EPSILONS])
        axis.set_ylim(0.8, 2 * float(max(part["high"].max(), part["target"].max())))
        axis.set_title(f"{name} surrogate", fontsize="small")
    return figure


def passage_table(result: Result) -> pd.DataFrame:
    """Deciles of the chosen length for the page."""
    part = result.table[result.table["data"] == "TalkingData"]
    return pd.DataFrame(
        {
            "ε": part["epsilon"],
            "noise of a bin / users": part["bin_noise"],
            "10 % below": part["low"],
            "median": part["median"],
            "10 % above": part["high"],
            "within 10 % of the 90th percentile": part["near"],
            "at most half of it": part["half"],
        }
    )


# --- the 90 % rule -------------------------------------------------------------------------------


class Holdings(NamedTuple):
    """For each key and list length, how many users hold the key and have that length."""

    table: NDArray[np.float64]  # (n_keys, n_keys): column L - 1 is length L
    n_users: int

    @classmethod
    def of(cls, users: KeyValueData) -> Holdings:
        """Count them."""
        length = np.repeat(users.lengths, users.lengths)
        codes = users.keys.astype(np.int64) * users.n_keys + length - 1
        counts = np.bincount(codes, minlength=users.n_keys**2)
        return cls(counts.reshape(users.n_keys, users.n_keys).astype(float), users.n_users)


def frequency_mse(
    holdings: Holdings, numbers: Numbers, n_pair_users: int
) -> tuple[float, float, float]:
    """Exact expected frequency MSE over all keys, without clipping.

    Parameters
    ----------
    holdings : Holdings
        The users.
    numbers : Numbers
        a, b, p, l.
    n_pair_users : int
        n', drawn from all users without replacement.

    Returns
    -------
    mse, variance, squared_bias : float
        Averages over the keys; lists longer than l included.
    """
    a, b, _, padding = (float(x) for x in numbers)
    n_users, width = holdings.n_users, len(holdings.table)
    chance = 1 / np.maximum(np.arange(1, width + 1), padding)
    once = holdings.table @ chance / n_users
    twice = holdings.table @ chance**2 / n_users
    mean = b + (a - b) * once
    square = b**2 + 2 * b * (a - b) * once + (a - b) ** 2 * twice
    between = (n_users - n_pair_users) / max(1, n_users - 1) * (square - mean**2)
    variance = padding**2 / (a - b) ** 2 * (mean - square + between) / n_pair_users
    bias = padding * once - holdings.table.sum(axis=1) / n_users
    return (
        float(np.mean(variance + bias**2)),
        float(np.mean(variance)),
        float(np.mean(bias**2)),
    )


PADDINGS = tuple(
    sorted({*range(1, 21), *range(22, 61, 2), *range(65, 100, 5), 25, 35, 37, 36, 26, 14, 15})
)


def rule(profile: str = "quick", seed: int = 2021) -> Result:
    """Expected frequency error at every padding length, and the length that is best.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes of LNR and GAUSS.
    seed : int, default 2021
        Seed of the surrogates.

    Returns
    -------
    Result
        One row for each data set, account and epsilon: best length, its error, and the error at
        the 90th percentile. All users send a pair here, and nothing is sampled.
    """
    check_profile(profile)
    rows, curves = [], []
    for name in SETS:
        users = stand_in(name, profile, seed)
        holdings, target = Holdings.of(users), ninetieth(users.lengths)
        grid = sorted({*(x for x in PADDINGS if x <= users.n_keys), target})
        for account, make in ACCOUNTS.items():
            for epsilon in EPSILONS:
                errors = {
                    padding: frequency_mse(
                        holdings, make(epsilon, users.n_keys, padding).numbers, users.n_users
                    )
                    for padding in grid
                }
                best = min(grid, key=lambda x: errors[x][0])
                rows.append(
                    {
                        "data": name,
                        "account": account,
                        "epsilon": epsilon,
                        "ninetieth": target,
                        "best": best,
                        "mse_best": errors[best][0],
                        "mse_ninetieth": errors[target][0],
                        "loss": errors[target][0] / errors[best][0],
                    }
                )
                if name == "TalkingData":
                    curves += [
                        (account, epsilon, padding, *error) for padding, error in errors.items()
                    ]
    table = pd.DataFrame(rows)
    talking = table[table["data"] == "TalkingData"]
    fair = talking[talking["account"] == "set level"].set_index("epsilon")
    printed = talking[talking["account"] == "reading B"].set_index("epsilon")
    facts = {
        "optimal": int((table["best"] == table["ninetieth"]).sum()),
        "within_10_percent": int((table["loss"] <= 1.1).sum()),
        "cases": len(table),
        "largest_loss": float(table["loss"].max()),
        "best_set": fair["best"].to_dict(),
        "best_b": printed["best"].to_dict(),
        "loss_set": fair["loss"].to_dict(),
        "loss_b": printed["loss"].to_dict(),
        "ninetieth": int(fair["ninetieth"].iloc[0]),
        "fair_from": {
            name: _smallest_good(part)
            for name, part in table[table["account"] == "set level"].groupby("data", sort=False)
        },
        "curves": pd.DataFrame(
            curves, columns=["account", "epsilon", "padding", "mse", "variance", "squared_bias"]
        ),
    }
    setting = "surrogates; exact expectation over all keys, no clipping, all users send a pair"
    return Result(profile, table, facts, setting, "surrogate")


def _smallest_good(part: pd.DataFrame) -> float:
    """Smallest epsilon from which the 90th percentile costs at most 10 %."""
    bad = part.loc[part["loss"] > 1.1, "epsilon"]
    later = part.loc[part["epsilon"] > (bad.max() if len(bad) else 0.0), "epsilon"]
    return float(later.min()) if len(later) else math.inf


def draw_rule(result: Result) -> Figure:
    """Draw the frequency error against the padding length, honest account and printed one."""
    figure, axes = plots.new_figure(2)
    curves = result.facts["curves"]
    for axis, account in zip(axes, ("set level", "reading B"), strict=True):
        plots.log_axis(axis)
        part = curves[(curves["account"] == account) & (curves["padding"] <= 60)]
        axis.axvline(result.facts["ninetieth"], color=plots.BLACK, linewidth=0.8, linestyle=":")
        axis.set(xlabel="padding length l", ylabel="frequency MSE", xlim=(0, 62))
        axis.set_title(account, fontsize="small")
        ends = {}
        for position, (epsilon, line) in enumerate(part.groupby("epsilon")):
            look = plots.style(f"ε = {epsilon:g}", position)
            axis.plot(line["padding"], line["mse"], **{**look, "marker": ""})
            best = line.loc[line["mse"].idxmin()]
            axis.plot(best["padding"], best["mse"], **{**look, "linestyle": ""})
            ends[f"ε = {epsilon:g}"] = (line["padding"].iloc[-1], line["mse"].iloc[-1])
        figure.canvas.draw()
        plots.label_ends(axis, ends)
    return figure


def rule_table(result: Result) -> pd.DataFrame:
    """Best length and loss of the 90 % rule for the page."""
    wide: dict[str, list[object]] = {"data (surrogate)": [], "90 % point": [], "account": []}
    columns: dict[float, list[str]] = {e: [] for e in (0.1, 0.8, 1.6, 3.2)}
    for (name, account), part in result.table.groupby(["data", "account"], sort=False):
        if account == "reading A":
            continue
        wide["data (surrogate)"].append(name)
        wide["90 % point"].append(part["ninetieth"].iloc[0])
        wide["account"].append(account)
        for epsilon, cells in columns.items():
            row = part[part["epsilon"] == epsilon].iloc[0]
            cells.append(f"{row['best']} (×{num(row['loss'], 2)})")
    return pd.DataFrame({**wide, **{f"ε = {e:g}": cells for e, cells in columns.items()}})


# --- the mean, measured --------------------------------------------------------------------------

MEAN_PADDINGS = (1, 2, 5, 10, 15, 20, 28, 36, 45, 60)
MEAN_EPSILONS = (0.4, 0.8, 1.6, 3.2)


def mean_by_padding(profile: str = "quick", seed: int = 2021) -> Result:
    """Measured mean error (clipped) over padding lengths, at the honest account.

    Parameters
    ----------
    profile : {"quick", "paper"}
        10 or 100 repetitions.
    seed : int, default 2021
        Seed of the surrogate and of the trials.

    Returns
    -------
    Result
        One row for each epsilon and length.
    """
    repeats = {"quick": 10, "paper": 100}[check_profile(profile)]
    users = stand_in("TalkingData", profile, seed)
    make = ACCOUNTS["set level"]
    cases = list(itertools.product(MEAN_EPSILONS, MEAN_PADDINGS))
    trials = run_trials(
        users,
        {f"{e:g} {x}": make(e, users.n_keys, x) for e, x in cases},
        repeats=repeats,
        rng=seed,
    )
    rows = [
        (epsilon, padding, *bounds)
        for (epsilon, padding), bounds in zip(cases, trials.interval("mean"), strict=True)
    ]
    table = pd.DataFrame(rows, columns=["epsilon", "padding", "mse", "low", "high"])
    best = table.loc[table.groupby("epsilon")["mse"].idxmin()].set_index("epsilon")
    target = table[table["padding"] == 36].set_index("epsilon")["mse"]
    facts = {
        "best": best["padding"].to_dict(),
        "loss": (target / best["mse"]).to_dict(),
        "always_zero": float(np.nanmean(users.truth().mean ** 2)),
    }
    setting = (
        f"TalkingData surrogate, n = {users.n_users:,}, d = {users.n_keys}, set level, "
        f"{repeats} repetitions"
    )
    return Result(profile, table, facts, setting, "surrogate")


def draw_mean(result: Result) -> Figure:
    """Draw the measured mean error against the padding length."""
    figure, axis = plots.new_figure()
    plots.log_axis(axis)
    zero = result.facts["always_zero"]
    axis.axhline(zero, color=plots.BLACK, linewidth=0.8, linestyle=":")
    axis.text(60, zero, "always answering 0", ha="right", va="bottom", fontsize="small")
    axis.set(xlabel="padding length l", ylabel="mean MSE")
    table = result.table.assign(name=[f"ε = {e:g}" for e in result.table["epsilon"]])
    plots.lines_with_bands(axis, table, x="padding", y="mse", low="low", high="high", series="name")
    return figure


# --- the split -----------------------------------------------------------------------------------

GROUP_SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def split(profile: str = "quick", seed: int = 2021) -> Result:
    """Expected frequency error over the share of users who send their length.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.
    seed : int, default 2021
        Seed of the surrogate.

    Returns
    -------
    Result
        One row for each account, epsilon and share: error averaged over the exact law of the
        chosen length.
    """
    users = stand_in("TalkingData", check_profile(profile), seed)
    holdings, shares = Holdings.of(users), _shares(users)
    n_users, n_keys = users.n_users, users.n_keys
    laws = {
        (epsilon, beta): first_passage(
            shares, round(beta * n_users), LengthEstimate.from_epsilon(epsilon, n_keys=n_keys)
        )
        for epsilon in EPSILONS
        for beta in GROUP_SHARES
    }
    rows = []
    for account in ("set level",):
        for epsilon in EPSILONS:
            numbers = [
                ACCOUNTS[account](epsilon, n_keys, padding).numbers
                for padding in range(1, n_keys + 1)
            ]
            whole = np.array([frequency_mse(holdings, x, n_users)[0] for x in numbers])
            for beta in GROUP_SHARES:
                law, rest = laws[epsilon, beta], n_users - round(beta * n_users)
                errors = np.array(
                    [
                        frequency_mse(holdings, x, rest)[0] if chance > 1e-15 else 0.0
                        for x, chance in zip(numbers, law, strict=True)
                    ]
                )
                rows.append(
                    {
                        "account": account,
                        "epsilon": epsilon,
                        "share": beta,
                        "mse": float(law @ errors),
                        "known": float(whole[ninetieth(users.lengths) - 1]),
                        "best_known": float(whole.min()),
                    }
                )
    table = pd.DataFrame(rows)
    table["ratio"] = table["mse"] / table["best_known"]
    fair = table[table["account"] == "set level"]
    best = fair.loc[fair.groupby("epsilon")["mse"].idxmin()].set_index("epsilon")
    at = {beta: fair[fair["share"] == beta].set_index("epsilon")["mse"] for beta in GROUP_SHARES}
    facts = {
        "best": best["share"].to_dict(),
        "ratio": best["ratio"].to_dict(),
        "tenth": (at[0.1] / best["mse"]).to_dict(),
        "third": (at[0.3] / best["mse"]).to_dict(),
        "half": (at[0.5] / best["mse"]).to_dict(),
        "against_known": (
            at[0.1] / fair[fair["share"] == 0.1].set_index("epsilon")["known"]
        ).to_dict(),
    }
    setting = f"TalkingData surrogate, n = {n_users:,}, d = {n_keys}, exact expectation"
    return Result(profile, table, facts, setting, "surrogate")


def draw_split(result: Result) -> Figure:
    """Draw the error against beta, as a multiple of the best known length's."""
    figure, axis = plots.new_figure()
    plots.log_axis(axis, "x")
    plots.log_axis(axis)
    part = result.table[result.table["account"] == "set level"]
    axis.set(xlabel="share β of users who send their length", ylabel="frequency MSE / best")
    part = part.assign(name=[f"ε = {e:g}" for e in part["epsilon"]])
    plots.lines_with_bands(axis, part, x="share", y="ratio", series="name")
    return figure


# --- judges --------------------------------------------------------------------------------------


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _judge_lengths(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        EXACT if facts["real_data"] else NOT_CHECKABLE,
        f"surrogate: density {num(100 * facts['density'], 2)} %, "
        f"{num(100 * facts['below_50'], 3)} % below 50, 90 % up to {facts['ninetieth']}",
        "6.9 % and 98 %",
        note="The table is not public. Both numbers went into the surrogate, so its agreement "
        "shows only that they fit together: 21.1 pairs a user and a gamma law reach both.",
    )


def _judge_rule(result: Result) -> Evidence:
    facts = result.facts
    fair, printed = facts["best_set"], facts["best_b"]
    return Evidence(
        EXACT if facts["optimal"] == facts["cases"] else DIFFERS,
        "TalkingData surrogate, best l at ε = "
        + "/".join(f"{e:g}" for e in fair)
        + f": {', '.join(map(str, fair.values()))} (set level); "
        + f"{', '.join(map(str, printed.values()))} (reading B)",
        f"the 90th percentile, {facts['ninetieth']}, at every ε",
        note="Exact expectation of the unclipped frequency error, surrogate data. With "
        "amplification credited the rule costs "
        f"{_percent(max(facts['loss_set'].values()) - 1)} at most; with the printed p₁, which "
        "gives padding no credit, the variance grows with l² and the rule costs a factor "
        f"{num(facts['loss_b'][1.6], 2)} at ε = 1.6 (reading B). Sure on all four surrogates: "
        "the best l grows with ε, so no fixed percentile is best at every ε.",
    )


def _judge_passage(result: Result) -> Evidence:
    facts = result.facts
    bad = [epsilon for epsilon, near in facts["near"].items() if near < 0.5]
    verdict = DIFFERS if bad else WITHIN_ERROR
    good = facts["good_from"]
    words = ", ".join(f"{100 * near:.0f} %" for near in facts["near"].values())
    return Evidence(
        verdict,
        f"TalkingData surrogate: within 10 % of {facts['target']} with probability {words} at "
        f"ε = {'/'.join(f'{e:g}' for e in facts['near'])}",
        "more often than not, at every ε",
        note=f"Exact law, β = {GROUP_SHARE:g} (β is unknown). Central 80 % at ε = 0.8: "
        f"{facts['low'][0.8]} to {facts['high'][0.8]}; at 1.6: {facts['low'][1.6]} to "
        f"{facts['high'][1.6]}. One bin's noise is {num(facts['bin_noise'][0.8], 2)} of the users "
        "at 0.8, and the path adds up dozens of bins. With 10⁶ users and 100 keys (LNR, GAUSS) it "
        f"works from ε = {good['LNR']:g} on. Sure for n, d and β as here; the lengths are assumed.",
    )


def _judge_law(result: Result) -> Evidence:
    facts = result.facts
    agrees = facts["enumerated"] < 1e-12 and facts["mass"] < 1e-8
    near = facts["distance"] <= facts["allowed"]
    return Evidence(
        WITHIN_ERROR if agrees and near else DIFFERS,
        f"up to 4 users: equal to enumeration; 6,082 users: largest distance of distribution "
        f"functions {num(facts['distance'], 2)}",
        "equal, and small",
        tolerance=f"1e-12; {num(facts['allowed'], 2)} over {facts['runs']} runs for each of "
        f"{len(EPSILONS)} budgets",
        false_alarm=FALSE_ALARM,
    )


def _judge_split(result: Result) -> Evidence:
    facts = result.facts
    small = [e for e, share in facts["best"].items() if e >= 0.8 and 0.02 <= share <= 0.2]
    holds = small == [0.8, 1.6, 3.2] and min(facts["third"].values()) > 1.1
    return Evidence(
        EXACT if holds else DIFFERS,
        "best β at ε = 0.8/1.6/3.2: "
        + ", ".join(f"{facts['best'][e]:g}" for e in (0.8, 1.6, 3.2))
        + "; β = 0.3 costs "
        + " to ".join(_percent(f(facts["third"].values()) - 1) for f in (min, max))
        + " more than the best",
        "between 0.02 and 0.2; more than 10 %",
        note="TalkingData surrogate, set level, unclipped frequency error. Below ε = 0.8 the best "
        "first group is the smallest one: its answer is noise, and every length serves about as "
        "well. The paper does not state its β.",
    )


CLAIMS = (
    Claim(
        id="hiskv-lengths",
        paper="hiskv",
        label="Figure 1 and introduction (hiskv-5)",
        kind="figure",
        mark="text",
        statement="In TalkingData 6.9 % of all pairs are present, and 98 % of the users hold fewer "
        "than 50.",
        run=lengths,
        judge=_judge_lengths,
        page=PAGE,
        recorded=always(NOT_CHECKABLE, "surrogate"),
    ),
    Claim(
        id="hiskv-ninetieth",
        paper="hiskv",
        label="The 90 % rule (hiskv-21)",
        kind="statement",
        mark="text",
        statement="The optimal truncation length is the 90th percentile of the users' lengths.",
        run=rule,
        judge=_judge_rule,
        page=PAGE,
        recorded=always(DIFFERS, "surrogate"),
    ),
    Claim(
        id="hiskv-oetl-finds",
        paper="hiskv",
        label="Algorithm 4, OETL (hiskv-22)",
        kind="statement",
        mark="text",
        statement="OETL finds that length from a group of the users, whatever the budget of the "
        "experiments.",
        run=passage,
        judge=_judge_passage,
        page=PAGE,
        recorded=always(DIFFERS, "surrogate"),
    ),
    Claim(
        id="hiskv-oetl-law",
        paper="hiskv",
        label="Law of OETL's choice (own)",
        kind="statement",
        mark="own",
        statement="The length that OETL chooses is the first passage of a Markov chain, whose law "
        "is computed exactly.",
        run=passage,
        judge=_judge_law,
        page=PAGE,
        recorded=always(WITHIN_ERROR, "surrogate"),
    ),
    Claim(
        id="hiskv-split",
        paper="hiskv",
        label="The share β (own)",
        kind="statement",
        mark="own",
        statement="Where OETL finds anything, a first group of 2 to 20 % of the users is best, and "
        "30 % costs more than a tenth of the accuracy.",
        run=split,
        judge=_judge_split,
        page=PAGE,
        recorded=always(EXACT, "surrogate"),
    ),
)
