"""Page 05: the mechanisms that PCKV is compared with, what they promise and what they do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from ldpkv import allocation, theory
from ldpkv import data as datasets
from ldpkv.baselines import (
    F2M,
    KVOH,
    KVUE,
    LDPKV2020,
    VIRTUAL_RULES,
    Harmony,
    PrivKV,
    PrivKVM,
    PrivKVMVirtual,
)
from ldpkv.data import KeyValueData
from ldpkv.mechanisms import PCKVGRR, PCKVUE, Mechanism
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
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
from ldpkv.papers.foundations import largest_ratio
from ldpkv.privacy import extreme_users, report_laws, worst_ratio
from ldpkv.trials import Trials, run_trials

PAGE = "notebooks/pckv/05-baselines.ipynb"

# Probability that chance alone turns a verdict; shared by all comparisons behind it.
FALSE_ALARM = 1e-4

# --- exact privacy --------------------------------------------------------------------------

# Name, what it claims, why the exact value is what it is.
BASELINES: Mapping[str, tuple[str, str]] = {
    "Harmony": ("ε", "one answer of two"),
    "PrivKV": ("ε/2 + ε/2", "fake value 0 is a fair sign"),
    "PrivKV, fake value 1": ("ε/2 + ε/2", "the fake sign is known"),
    "PrivKVM (1 + 5 virtual)": ("ε/2 + ε/2", "only the real round reports"),
    "KVUE": ("ε", "one state of three"),
    "KVOH": ("ε", "two bits of three differ"),
    "LDPKV 2020 (a guess)": ("ε", "taken to be KVUE"),
    "F2M": ("ε/2 + ε/2", "default value 0"),
    "F2M, default 1": ("ε/2 + ε/2", "the default sign is known"),
}


def _baselines(half: Any, n_keys: int) -> dict[str, Mechanism]:
    """Give every baseline at e^(epsilon / 2) = half."""
    exp = half * half
    return {
        "Harmony": Harmony.from_exp_budgets(exp, n_keys=n_keys),
        "PrivKV": PrivKV.from_exp_budgets(half, half, n_keys=n_keys),
        "PrivKV, fake value 1": PrivKV.from_exp_budgets(half, half, n_keys=n_keys, fake_value=1),
        "PrivKVM (1 + 5 virtual)": PrivKVMVirtual.from_exp_budgets(half, half, n_keys=n_keys),
        "KVUE": KVUE.from_exp_budgets(exp, n_keys=n_keys),
        "KVOH": KVOH.from_exp_budgets(exp, n_keys=n_keys),
        "LDPKV 2020 (a guess)": LDPKV2020.from_exp_budgets(exp, n_keys=n_keys),
        "F2M": F2M.from_exp_budgets(half, half, n_keys=n_keys),
        "F2M, default 1": F2M.from_exp_budgets(half, half, n_keys=n_keys, default=1),
    }


def _formula(name: str, half: Any) -> Any:
    """What the exact e^epsilon should be."""
    if name in ("PrivKV", "PrivKVM (1 + 5 virtual)"):
        return allocation.compose_ue(half, half)
    if name == "F2M":
        return max(half, half * (1 + half) / 2)
    return half * half


SHOWN_EPSILONS = (0.5, 1.0, 2.0, 4.0)


def exact_epsilons(profile: str = "quick") -> Result:
    """Enumerate every set of pairs and every report of each baseline.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Two or three keys.

    Returns
    -------
    Result
        One row for each baseline and epsilon: claimed and exact, in nats (floats). The facts count
        the same in exact fractions, against a closed form.
    """
    n_keys = {"quick": 2, "paper": 3}[check_profile(profile)]
    users = list(extreme_users(n_keys, empty=True))
    rows = []
    for epsilon in SHOWN_EPSILONS:
        for name, mechanism in _baselines(math.exp(epsilon / 2), n_keys).items():
            rows.append((name, epsilon, worst_ratio(mechanism, users).epsilon))
    table = pd.DataFrame(rows, columns=["mechanism", "claimed", "exact"])
    privkv = table[table["mechanism"] == "PrivKV"].set_index("claimed")["exact"]
    unspent = 1 - privkv / privkv.index
    exact = [
        (name, half * half, worst_ratio(mechanism, users).ratio, _formula(name, half))
        for half in (Fraction(21, 20), Fraction(3, 2), Fraction(2), Fraction(7))
        for name, mechanism in _baselines(half, n_keys).items()
    ]
    facts = {
        "cases": len(exact),
        "violations": sum(found > claimed for _, claimed, found, _ in exact),
        "formula": sum(found == formula for *_, found, formula in exact),
        "below": sorted({name for name, claimed, found, _ in exact if found < claimed}),
        "glued": {
            "privkv_at_2": float(privkv[2.0]),
            "privkv_at_4": float(privkv[4.0]),
            "privkv_less_low": 100 * float(unspent.min()),
            "privkv_less_high": 100 * float(unspent.max()),
        },
    }
    return Result(profile, table, facts, f"d = {n_keys}, exact enumeration")


def epsilon_table(result: Result) -> pd.DataFrame:
    """Exact epsilon of each baseline for the page, one column for each claimed epsilon."""
    wide = result.table.pivot(index="mechanism", columns="claimed", values="exact")
    table = pd.DataFrame(
        {"mechanism": list(BASELINES), "claimed": [claim for claim, _ in BASELINES.values()]}
    )
    for epsilon in SHOWN_EPSILONS:
        table[f"ε = {epsilon:g}"] = wide.loc[list(BASELINES), epsilon].to_numpy()
    table["why"] = [why for _, why in BASELINES.values()]
    return table


def rounds(profile: str = "quick") -> Result:
    """Enumerate all rounds of PrivKVM together, for every mean that may be broadcast.

    Parameters
    ----------
    profile : {"quick", "paper"}
        One or two keys.

    Returns
    -------
    Result
        One row for each c and budget: exact worst ratio of the joint report of c rounds, over
        sets of pairs and over fake values -1, 0 and 1 for each key and round. A report's
        probability is affine in each fake value, so no value between gives more.
    """
    n_keys = {"quick": 1, "paper": 2}[check_profile(profile)]
    users = list(extreme_users(n_keys, empty=True))
    broadcasts = list(itertools.product((-1, 0, 1), repeat=n_keys))
    rows = []
    for n_rounds in (1, 2, 3):
        for value in (Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5)):
            key = value**n_rounds  # epsilon / 2, the value's epsilon / (2 c) being ln(value)
            mechanism = PrivKVM.from_exp_budgets(key, value, n_keys=n_keys, rounds=n_rounds)
            first, _ = report_laws(mechanism.stage(1), users)
            later = [
                report_laws(mechanism.stage(2, fakes), users)[0]
                for fakes in (broadcasts if n_rounds > 1 else [])
            ]
            found = max(
                largest_ratio(_joint([first, *path]))
                for path in itertools.product(later, repeat=n_rounds - 1)
            )
            known, _ = report_laws(mechanism.stage(1, 1), users)
            extreme = max(
                largest_ratio(_joint([known, *path]))
                for path in itertools.product(later, repeat=n_rounds - 1)
            )
            claimed = key * value**n_rounds
            rows.append(
                {
                    "rounds": n_rounds,
                    "claimed": math.log(claimed),
                    "exact": math.log(found),
                    "saved": math.log(claimed / found),
                    "exp_claimed": claimed,
                    "exp_exact": found,
                    "exp_formula": math.prod(mechanism.stage_budgets()),
                    "theory": float(theory.privkvm_epsilon(math.log(claimed), n_rounds)),
                    "exp_fake_known": extreme,
                    "exp_sum": math.prod([key, *[value] * n_rounds]),
                }
            )
    table = pd.DataFrame(rows)
    unspent = 100 * table["saved"] / table["claimed"]
    one, three = (unspent[table["rounds"] == count] for count in (1, 3))
    largest = table[table["rounds"] == 1].iloc[-1]
    facts = {
        "cases": len(table),
        "glued": {
            "privkvm_one_claimed": float(largest["claimed"]),
            "privkvm_one_exact": float(largest["exact"]),
            "privkvm_less_low": float(one.min()),
            "privkvm_less_high": float(one.max()),
            "privkvm_less_low_3": float(three.min()),
            "privkvm_less_high_3": float(three.max()),
        },
        "violations": int((table["exp_exact"] > table["exp_claimed"]).sum()),
        "no_tighter": int((table["exp_exact"] == table["exp_claimed"]).sum()),
        "formula": bool((table["exp_exact"] == table["exp_formula"]).all()),
        "theory": bool(np.allclose(table["theory"], table["exact"], rtol=1e-12, atol=0)),
        "example": str(table.loc[table["exp_claimed"] == 4, "exp_exact"].iloc[0]),
        "known_reaches": bool((table["exp_fake_known"] == table["exp_claimed"]).all()),
        # pckv-16: the shares add up.
        "sums": int((table["exp_sum"] == table["exp_claimed"]).sum()),
        "shares": all(
            math.isclose(_shares(epsilon, c), epsilon, rel_tol=1e-12)
            for epsilon in (0.1, 1.0, 4.0)
            for c in (1, 2, 5, 20)
        ),
    }
    return Result(profile, table, facts, f"d = {n_keys}, exact enumeration")


def _joint(laws: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Joint law of independent reports of one user; first index: the user's set."""
    joint = laws[0]
    for law in laws[1:]:
        joint = (joint[:, :, None] * law[:, None, :]).reshape(len(joint), -1)
    return joint


def _shares(epsilon: float, n_rounds: int) -> float:
    """Sum of the budgets that the mechanism's own probabilities spend."""
    mechanism = PrivKVM.from_epsilon(epsilon, n_keys=1, rounds=n_rounds)
    key, sign = mechanism.keep_key, mechanism.keep_sign
    return float(math.log(key / (1 - key)) + n_rounds * math.log(sign / (1 - sign)))


def rounds_table(result: Result) -> pd.DataFrame:
    """Claimed and exact epsilon of PrivKVM for the page."""
    names = {
        "rounds": "rounds c",
        "claimed": "claimed ε",
        "exact": "exact ε",
        "saved": "difference",
    }
    return result.table[list(names)].rename(columns=names)


# --- bias and variance of PrivKVM -----------------------------------------------------------


def recursion(profile: str = "quick") -> Result:
    """Follow PrivKVM's expected mean through its rounds, from the channel itself.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The paper profile goes to more rounds.

    Returns
    -------
    Result
        One row for each f, m, budget and number of rounds c, in exact fractions: expectation of
        the last round's mean given that the key bit is 1, for users drawn from one law.
    """
    most = {"quick": 8, "paper": 20}[check_profile(profile)]
    grid = itertools.product(
        (Fraction(1, 20), Fraction(1, 5), Fraction(1, 2), Fraction(1)),
        (Fraction(4, 5), Fraction(-1, 3)),
        (Fraction(3, 2), Fraction(4)),
        range(1, most + 1),
    )
    rows = []
    for frequency, mean, exp_key, n_rounds in grid:
        # Any value budget gives the same expectation; this one is exact.
        mechanism = PrivKVM.from_exp_budgets(exp_key, Fraction(2), n_keys=1, rounds=n_rounds)
        strength = 2 * mechanism.keep_sign - 1
        state = np.array(
            [frequency * (1 + mean) / 2, frequency * (1 - mean) / 2, 1 - frequency], dtype=object
        )
        running = Fraction(0)
        for index in range(1, n_rounds + 1):
            plus, minus, _ = state @ mechanism.stage(index, running).rows()[0]
            running = (plus - minus) / (plus + minus) / strength
        formula = theory.privkvm_expected_mean(frequency, mean, exp_key, n_rounds)
        rows.append((frequency, mean, exp_key, n_rounds, running, formula))
    columns = ["frequency", "mean", "exp_key", "rounds", "expected", "formula"]
    table = pd.DataFrame(rows, columns=columns)
    bias = (table["expected"] - table["mean"]).abs()
    partial = table["frequency"] < 1
    shrinks = all(
        bool((np.diff(bias[part.index].to_numpy()) < 0).all())
        for _, part in table[partial].groupby(["frequency", "mean", "exp_key"])
    )
    many = np.arange(1, 101)
    factors = np.array([theory.privkvm_variance_factor(e, many) for e in (0.1, 1.0, 4.0, 8.0)])
    limits = np.array([(4 * many / e) ** 2 for e in (0.1, 1.0, 4.0, 8.0)])
    values = [Fraction(x) for x in (Fraction(11, 10), 2, 9)]
    exact_factor = all(
        (2 * PrivKVM.from_exp_budgets(2, x, n_keys=1, rounds=1).keep_sign - 1) ** -2
        == ((x + 1) / (x - 1)) ** 2
        for x in values
    )
    facts = {
        "cases": len(table),
        "formula": int((table["expected"] == table["formula"]).sum()),
        "never_zero": bool((bias[partial] > 0).all()),
        "shrinks": shrinks,
        "variance_grows": bool((np.diff(factors, axis=1) > 0).all()) and exact_factor,
        "limit_ratio": float((factors / limits)[:, -1].max()),
        "above_limit": bool((factors > limits).all()),
        "factor_1": float(theory.privkvm_variance_factor(4.0, 1)),
        "factor_10": float(theory.privkvm_variance_factor(4.0, 10)),
    }
    return Result(profile, table, facts)


FREQUENCIES = (0.05, 0.2, 0.5)
MEAN = 0.6
EPSILON = 4.0
ROUNDS = (1, 2, 3, 4, 6, 8)
VIRTUAL = (0, 1, 2, 3, 5, 8, 12)
N_USERS = {"quick": 120_000, "paper": 1_000_000}
REPEATS = {"quick": 100, "paper": 400}


def _sets(n_users: int, rng: np.random.Generator) -> KeyValueData:
    """Make users who hold three keys independently, in exact numbers, all with one value."""
    holders = [rng.choice(n_users, round(f * n_users), replace=False) for f in FREQUENCIES]
    keys = np.repeat(np.arange(len(FREQUENCIES)), [len(users) for users in holders])
    return KeyValueData.from_pairs(
        np.concatenate(holders),
        keys,
        np.full(len(keys), MEAN),
        n_users=n_users,
        n_keys=len(FREQUENCIES),
        allow_empty=True,
    )


def measured_rounds(profile: str = "quick", seed: int = 2020) -> Result:
    """Run PrivKVM with several numbers of rounds, and PrivKV with virtual rounds.

    Parameters
    ----------
    profile : {"quick", "paper"}
        120,000 users and 100 repetitions, or 10^6 and 400.
    seed : int, default 2020
        Seed of the users and the repetitions.

    Returns
    -------
    Result
        One row for each kind of rounds, number and key: average and standard deviation of the
        estimated mean with 95 % intervals, beside the expectation and the first-order standard
        deviation.
    """
    n_users, repeats = N_USERS[check_profile(profile)], REPEATS[profile]
    users_rng, real_rng, virtual_rng = np.random.default_rng(seed).spawn(3)
    data = _sets(n_users, users_rng)
    n_keys = len(FREQUENCIES)
    runs: list[tuple[str, int, NDArray[np.float64]]] = []
    for n_rounds, generator in zip(ROUNDS, real_rng.spawn(len(ROUNDS)), strict=True):
        mechanism = PrivKVM.from_epsilon(EPSILON, n_keys=n_keys, rounds=n_rounds)
        found = [mechanism.collect(data, rng=each).mean for each in generator.spawn(repeats)]
        runs.append(("real", n_rounds, np.array(found)))
    virtual = {
        (rule, count): PrivKVMVirtual.from_epsilon(
            EPSILON, n_keys=n_keys, virtual_rounds=count, rule=rule
        )
        for rule in VIRTUAL_RULES
        for count in VIRTUAL
    }
    labelled = {f"{rule} {count}": mechanism for (rule, count), mechanism in virtual.items()}
    trials = run_trials(data, labelled, repeats=repeats, rng=virtual_rng)
    runs += [(rule, count, trials.mean[:, index]) for index, (rule, count) in enumerate(virtual)]
    critical = stats.t.ppf(0.975, repeats - 1)
    low, high = stats.chi2.ppf((0.025, 0.975), repeats - 1)
    rows = []
    for kind, count, means in runs:
        for key, frequency in enumerate(FREQUENCIES):
            sample = means[:, key]
            spread = sample.std(ddof=1)
            error = spread / math.sqrt(repeats)
            expected = _expected(kind, count, frequency)
            rows.append(
                {
                    "kind": kind,
                    "count": count,
                    "frequency": f"f = {frequency:g}",
                    "average": sample.mean(),
                    "low": sample.mean() - critical * error,
                    "high": sample.mean() + critical * error,
                    "expected": expected,
                    "deviation": spread,
                    "deviation_low": spread * math.sqrt((repeats - 1) / high),
                    "deviation_high": spread * math.sqrt((repeats - 1) / low),
                    "deviation_theory": _deviation(kind, count, frequency, n_users / n_keys),
                    "rmse": math.sqrt(((sample - MEAN) ** 2).mean()),
                    "t": (sample.mean() - expected) / error,
                }
            )
    table = pd.DataFrame(rows)
    is_real = table["kind"] == "real"
    deviations = table[is_real].pivot(index="count", columns="frequency", values="deviation")
    picked = table[is_real & (table["frequency"] == "f = 0.2")].set_index("count")
    facts = {
        "repeats": repeats,
        "real_cases": int(is_real.sum()),
        "real_t": float(table.loc[is_real, "t"].abs().max()),
        "virtual_cases": int((~is_real).sum()),
        "virtual_t": float(table.loc[~is_real, "t"].abs().max()),
        "deviation_ratio": float((deviations.iloc[-1] / deviations.iloc[0]).min()),
        "average_1": float(picked.loc[1, "average"]),
        "average_8": float(picked.loc[8, "average"]),
        "deviation_1": float(picked.loc[1, "deviation"]),
        "deviation_8": float(picked.loc[8, "deviation"]),
    }
    setting = (
        f"n = {n_users:,}, d = {n_keys}, true mean {MEAN:g}, total ε = {EPSILON:g}, "
        f"{repeats} repetitions"
    )
    return Result(profile, table, facts, setting)


def _expected(kind: str, count: int, frequency: float) -> float:
    """Expected mean after `count` real rounds, or after one real and `count` virtual ones."""
    exp_key = math.exp(EPSILON / 2)
    if kind == "real":
        return float(theory.privkvm_expected_mean(frequency, MEAN, exp_key, count))
    rho = float(theory.privkvm_weight(frequency, exp_key))
    if kind == "repeated":
        return MEAN * (1 - (1 - rho) ** (count + 1))
    return MEAN * (1 - (1 - rho) * (1 - frequency) ** count)


def _deviation(kind: str, count: int, frequency: float, n_reports: float) -> float:
    """First-order standard deviation for real rounds; NaN for virtual ones.

    A round adds (coth^2 - x^2) / N, with x its expected mean and N the number of key bits 1, and
    hands on (1 - rho)^2 of the variance before it.
    """
    if kind != "real":
        return math.nan
    keep = math.exp(EPSILON / 2) / (math.exp(EPSILON / 2) + 1)
    factor = float(theory.privkvm_variance_factor(EPSILON, count))
    mean = variance = 0.0
    for index in range(1, count + 1):
        p1 = keep if index == 1 else 0.5
        bits = frequency * p1 + (1 - frequency) * (1 - p1)
        rho = frequency * p1 / bits
        mean = rho * MEAN + (1 - rho) * mean
        variance = (factor - mean**2) / (n_reports * bits) + (1 - rho) ** 2 * variance
    return math.sqrt(variance)


def draw_rounds(result: Result) -> Figure:
    """Draw the estimated mean and its standard deviation against the number of real rounds."""
    figure, axes = plots.new_figure(2)
    part = result.table[result.table["kind"] == "real"]
    axes[0].set_ylim(0, 1.15 * MEAN)
    _truth_line(axes[0], ROUNDS[0])
    plots.lines_with_bands(
        axes[0],
        part,
        x="count",
        y="average",
        low="low",
        high="high",
        theory="expected",
        series="frequency",
    )
    axes[0].set(xlabel="real rounds c", ylabel="estimated mean")
    plots.log_axis(axes[1])
    plots.lines_with_bands(
        axes[1],
        part,
        x="count",
        y="deviation",
        low="deviation_low",
        high="deviation_high",
        theory="deviation_theory",
        series="frequency",
    )
    axes[1].set(xlabel="real rounds c", ylabel="standard deviation of the mean")
    return figure


def draw_virtual(result: Result) -> Figure:
    """Draw the estimated mean against the number of virtual rounds, for both rules."""
    figure, axes = plots.new_figure(2)
    for axis, rule in zip(axes, VIRTUAL_RULES, strict=True):
        axis.set_ylim(0, 1.15 * MEAN)
        _truth_line(axis, 4)
        plots.lines_with_bands(
            axis,
            result.table[result.table["kind"] == rule],
            x="count",
            y="average",
            low="low",
            high="high",
            theory="expected",
            series="frequency",
        )
        axis.set(xlabel=f"virtual rounds, rule “{rule}”", ylabel="estimated mean")
    return figure


def _truth_line(axis: Any, x: float) -> None:
    axis.axhline(MEAN, color=plots.BLACK, linewidth=0.8, linestyle=":")
    axis.text(x, MEAN + 0.02, "true mean", fontsize="small")


def rounds_error_table(result: Result) -> pd.DataFrame:
    """Root mean squared errors of the mean: real rounds against virtual ones."""
    wanted = [("real", 1), ("real", 2), ("real", 4), ("real", 8), ("repeated", 5), ("half", 5)]
    names = {
        "real": "real",
        "repeated": "1 real + {} virtual, repeated",
        "half": "1 real + {} virtual, half",
    }
    rows = []
    for kind, count in wanted:
        part = result.table[(result.table["kind"] == kind) & (result.table["count"] == count)]
        label = f"{count} real" if kind == "real" else names[kind].format(count)
        rows.append({"rounds": label, **dict(zip(part["frequency"], part["rmse"], strict=True))})
    return pd.DataFrame(rows)


# --- communication --------------------------------------------------------------------------

COSTS: Mapping[str, tuple[str, str]] = {
    "PCKV-UE": ("O(d')", "O(n d')"),
    "PCKV-GRR": ("O(1)", "O(n + d)"),
    "PrivKVM": ("O(1) a round", "O(n + d) a round"),
    "KVUE": ("O(1)", "O(n + d)"),
}
DOMAINS = (100, 5_850, 249_274)  # the synthetic data, Clothing, Amazon
PADDING = 2
C_SHOWN = 6


def communication(profile: str = "quick") -> Result:
    """Count the bits that a user sends, from the number of reports a mechanism can make.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row a mechanism: bits for three sizes of the domain, work of user and server, rounds.
        The facts compare the formula with the channels themselves on small domains, and with the
        entropy of a PCKV-UE report, below which no encoding goes.
    """
    check_profile(profile)
    bits = {n_keys: theory.upload_bits(n_keys, PADDING, C_SHOWN) for n_keys in DOMAINS}
    rows = []
    for name, (user, server) in COSTS.items():
        upload = {f"bits, d = {n_keys:,}": bits[n_keys][name] for n_keys in DOMAINS}
        real = C_SHOWN if name == "PrivKVM" else 1
        rows.append(
            {"mechanism": name, **upload, "user work": user, "server work": server, "rounds": real}
        )
    table = pd.DataFrame(rows)
    counted = []
    for n_keys, padding in itertools.product(range(1, 5), (1, 2)):
        formula = theory.upload_bits(n_keys, padding)
        made: dict[str, Mechanism] = {
            "PCKV-UE": PCKVUE.from_epsilon(1.0, n_keys=n_keys, padding=padding),
            "PCKV-GRR": PCKVGRR.from_epsilon(1.0, n_keys=n_keys, padding=padding),
            "PrivKVM": PrivKV.from_epsilon(1.0, n_keys=n_keys),
            "KVUE": KVUE.from_epsilon(1.0, n_keys=n_keys),
        }
        counted += [
            math.isclose(math.log2(mechanism.channel().weights.shape[1]), formula[name])
            for name, mechanism in made.items()
        ]
    # Entropy of one entry of PCKV-UE that was not sampled: 0 with 1 - b, each sign with b / 2.
    fake = PCKVUE.from_epsilon(1.0, n_keys=1, padding=1).fake_key
    entropy = float(stats.entropy([1 - fake, fake / 2, fake / 2], base=2))
    big, bigger = (theory.upload_bits(n, PADDING) for n in (10**6, 2 * 10**6))
    facts = {
        "cases": len(counted),
        "counted": sum(counted),
        "ue_doubles": math.isclose(bigger["PCKV-UE"] / big["PCKV-UE"], 2, rel_tol=1e-5),
        "grr_adds": math.isclose(bigger["PCKV-GRR"] - big["PCKV-GRR"], 1, abs_tol=1e-5),
        "entropy": entropy,
        "ue_bits": bits[DOMAINS[1]]["PCKV-UE"],
        "grr_bits": bits[DOMAINS[1]]["PCKV-GRR"],
    }
    return Result(profile, table, facts, f"l = {PADDING}; PrivKVM with c = {C_SHOWN}")


# --- a first comparison ---------------------------------------------------------------------

GRID = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
PCKV_NAMES = ("PCKV-UE", "PCKV-GRR")
OTHERS = ("PrivKV", "PrivKVM (1 + 5 virtual)", "KVUE", "KVOH")


def _at(epsilon: float, n_keys: int) -> dict[str, Mechanism]:
    return {
        "PCKV-UE": PCKVUE.from_epsilon(epsilon, n_keys=n_keys, padding=1),
        "PCKV-GRR": PCKVGRR.from_epsilon(epsilon, n_keys=n_keys, padding=1),
        "PrivKV": PrivKV.from_epsilon(epsilon, n_keys=n_keys),
        "PrivKVM (1 + 5 virtual)": PrivKVMVirtual.from_epsilon(epsilon, n_keys=n_keys),
        "KVUE": KVUE.from_epsilon(epsilon, n_keys=n_keys),
        "KVOH": KVOH.from_epsilon(epsilon, n_keys=n_keys),
    }


def comparison(profile: str = "quick", seed: int = 2020) -> Result:
    """Run PCKV and the baselines at equal epsilon on Gaussian keys, one pair a user.

    Parameters
    ----------
    profile : {"quick", "paper"}
        20 or 100 repetitions, both at 10^6 users and 100 keys.
    seed : int, default 2020
        Seed of the users and the repetitions.

    Returns
    -------
    Result
        One row for each mechanism and epsilon: both MSEs over all keys with 95 % intervals, with
        each mechanism's own correction.
    """
    n_users, n_keys = 1_000_000, 100
    repeats = {"quick": 20, "paper": 100}[check_profile(profile)]
    users_rng, trials_rng = np.random.default_rng(seed).spawn(2)
    data = datasets.gaussian(n_users, n_keys, rng=users_rng)
    labels = [(epsilon, name) for epsilon in GRID for name in _at(epsilon, n_keys)]
    mechanisms = {
        f"{name} {epsilon:g}": mechanism
        for epsilon in GRID
        for name, mechanism in _at(epsilon, n_keys).items()
    }
    seed_of_trials = int(trials_rng.integers(2**31))
    runs = {
        correction: run_trials(
            data, mechanisms, repeats=repeats, rng=seed_of_trials, correction=correction
        )
        for correction in ("paper", "code")
    }
    trials = runs["paper"]
    frequency, mean = trials.interval("frequency"), trials.interval("mean")
    rows = [
        (name, epsilon, *frequency[index], *mean[index])
        for index, (epsilon, name) in enumerate(labels)
    ]
    columns = ["mechanism", "epsilon"]
    columns += [f"{s}_{end}" for s in ("frequency", "mean") for end in ("mse", "low", "high")]
    table = pd.DataFrame(rows, columns=columns)
    table = table.sort_values("mechanism", key=lambda names: names.map(_rank), kind="stable")
    # Two statistics and two corrections share the false-alarm rate.
    comparisons = 4 * len(GRID) * len(PCKV_NAMES) * len(OTHERS)
    facts: dict[str, Any] = {
        "repeats": repeats,
        "frequency": _signs(trials, labels, "frequency", comparisons),
        "mean": _signs(trials, labels, "mean", comparisons),
        "mean_code": _signs(runs["code"], labels, "mean", comparisons),
    }
    wide = table.pivot(index="epsilon", columns="mechanism", values="frequency_mse")
    facts["gap_one"] = float(wide.loc[1.0, "KVUE"] / wide.loc[1.0, "PCKV-UE"])
    setting = f"Gaussian keys, n = {n_users:,}, d = {n_keys}, l = 1, {repeats} repetitions"
    return Result(profile, table, facts, setting)


def _rank(name: str) -> int:
    return (*PCKV_NAMES, *OTHERS).index(name)


def _signs(
    trials: Trials, labels: Sequence[tuple[float, str]], statistic: str, comparisons: int
) -> dict[str, Any]:
    """Paired comparisons of each PCKV mechanism with each baseline at each epsilon."""
    errors = dict(zip(labels, trials.squared_error(statistic).T, strict=True))
    critical = stats.t.isf(FALSE_ALARM / (2 * comparisons), trials.repeats - 1)
    signs = {}
    for epsilon, ours, other in itertools.product(GRID, PCKV_NAMES, OTHERS):
        difference = errors[epsilon, ours] - errors[epsilon, other]
        t = difference.mean() / (difference.std(ddof=1) / math.sqrt(trials.repeats))
        signs[epsilon, ours, other] = int(np.sign(t)) if abs(t) > critical else 0
    return {
        "below": sum(sign < 0 for sign in signs.values()),
        "undecided": sum(sign == 0 for sign in signs.values()),
        "above": [case for case, sign in signs.items() if sign > 0],
        "cases": len(signs),
    }


def draw_comparison(result: Result) -> Figure:
    """Draw both MSEs against epsilon, one line for each mechanism."""
    figure, axes = plots.new_figure(2)
    for axis, statistic in zip(axes, ("frequency", "mean"), strict=True):
        plots.log_axis(axis)
        plots.lines_with_bands(
            axis,
            result.table,
            x="epsilon",
            y=f"{statistic}_mse",
            low=f"{statistic}_low",
            high=f"{statistic}_high",
            series="mechanism",
        )
        axis.set(xlabel="ε (nats)", ylabel=f"MSE of {statistic}")
    return figure


# --- judges ---------------------------------------------------------------------------------


def _judge_baselines(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["violations"] == 0,
        f"{facts['violations']} of {facts['cases']} exact cases above the claimed ε",
        "at most the claimed ε",
        f"Below it: {', '.join(facts['below'])}. Closed forms right in {facts['formula']} of "
        f"{facts['cases']} cases. LDPKV of 2020 is a guess: its definition is lost.",
    )


def _judge_total(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["violations"] == 0,
        f"{facts['violations']} of {facts['cases']} cases above ε, all rounds enumerated together",
        "at most ε, by sequential composition",
    )


def _judge_tighter(result: Result) -> Evidence:
    facts = result.facts
    form = (
        "Exact: ε - ε₂ + ln(2/(1 + e^-ε₂)) with ε₂ = ε/(2c), below ε for every c. "
        if facts["formula"] and facts["theory"]
        else "The closed form fails here. "
    )
    known = (
        "With fake value ±1 in round 1 the sum would be reached."
        if facts["known_reaches"]
        else "Not even a first fake value of 1 reaches the sum."
    )
    return Evidence(
        EXACT if facts["no_tighter"] == facts["cases"] else DIFFERS,
        f"the sum is reached in {facts['no_tighter']} of {facts['cases']} cases",
        "reached: no composition tighter than ε/2 + c ε/(2c)",
        note=form + "The first fake value is 0, a fair sign, so Theorem 2 holds for round 1; later "
        f"rounds cost ε/(2c) each. {known} Smallest example: d = 1, c = 1, e^ε = 4: exact ratio "
        f"{facts['example']}.",
    )


def _judge_sum(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["sums"] == facts["cases"] and facts["shares"],
        f"equal in {facts['sums']} of {facts['cases']} exact cases, and for the probabilities that "
        "the code uses",
        "ε/2 + c ε/(2c) = ε",
    )


def _judge_recursion(result: Result) -> Evidence:
    facts = result.facts
    right = facts["formula"] == facts["cases"] and facts["never_zero"] and facts["shrinks"]
    grows = facts["variance_grows"] and facts["above_limit"] and facts["limit_ratio"] < 1.01
    return exact_if(
        right and grows,
        f"bias -m(1 - ρ)(1 - f)^(c-1) in {facts['formula']} of {facts['cases']} exact cases, never "
        f"0 for f < 1; variance factor {num(facts['factor_1'])} at c = 1 and "
        f"{num(facts['factor_10'])} at c = 10 (ε = 4)",
        "bias tends to 0 only as c grows; the value's variance grows with c",
        "ρ = f p₁/(f p₁ + (1 - f)(1 - p₁)). The variance factor (2p₂ - 1)^-2 tends to (4c/ε)². "
        "Holds for f > 0, without clipping, for users drawn from one law. At f = 1 there is no "
        "bias at all.",
    )


def _judge_measured(result: Result) -> Evidence:
    return _judge_t(result, "real")


def _judge_virtual(result: Result) -> Evidence:
    return _judge_t(result, "virtual")


def _judge_t(result: Result, kind: str) -> Evidence:
    facts = result.facts
    cases = facts[f"{kind}_cases"]
    critical = float(stats.t.isf(FALSE_ALARM / (2 * cases), facts["repeats"] - 1))
    within = facts[f"{kind}_t"] <= critical
    grown = kind == "virtual" or facts["deviation_ratio"] > 1
    note = (
        "The two rules are ours: PrivKVM's own text of the virtual rounds is lost."
        if kind == "virtual"
        else f"From c = 1 to {ROUNDS[-1]} the standard deviation grows at least "
        f"{num(facts['deviation_ratio'], 2)} times."
    )
    return Evidence(
        WITHIN_ERROR if within and grown else DIFFERS,
        f"largest |t| {num(facts[f'{kind}_t'], 2)} over {cases} averages",
        "the expected mean of each",
        tolerance=f"|t| ≤ {num(critical, 2)}, {facts['repeats']} repetitions",
        false_alarm=FALSE_ALARM,
        note=note,
    )


def _judge_communication(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["counted"] == facts["cases"] and facts["ue_doubles"] and facts["grr_adds"],
        f"bits equal to log₂ of the number of reports in {facts['counted']} of {facts['cases']} "
        "channels; twice the keys doubles UE and adds one bit to GRR",
        "UE O(d'), GRR O(log d'), one round",
        f"Compression does not change the order for UE: an entry has {num(facts['entropy'])} bits "
        "of entropy at ε = 1.",
    )


def _judge_first_frequency(result: Result) -> Evidence:
    return _judge_order(result.facts["frequency"], "")


def _judge_first_mean(result: Result) -> Evidence:
    code = result.facts["mean_code"]
    note = (
        f"With the authors' code's lower clip (1, not 0) it is {_order_words(code)}. A mean that "
        "is drawn towards 0 has a small error where nothing can be learnt."
    )
    return _judge_order(result.facts["mean"], note)


def _order_words(order: Mapping[str, Any]) -> str:
    return (
        f"below in {order['below']}, undecided in {order['undecided']}, above in "
        f"{len(order['above'])} of {order['cases']} comparisons"
    )


def _judge_order(order: Mapping[str, Any], note: str) -> Evidence:
    above = order["above"]
    if above:
        shown = ", ".join(f"{ours} against {other} at ε = {e:g}" for e, ours, other in above[:3])
        more = f" and {len(above) - 3} more" if len(above) > 3 else ""
        note = f"Larger: {shown}{more}. {note}"
    return Evidence(
        DIFFERS if above else SHAPE_ONLY if order["undecided"] else WITHIN_ERROR,
        _order_words(order),
        "both PCKV mechanisms below all four baselines, at every ε",
        tolerance="signs of paired differences that repetitions decide",
        false_alarm=FALSE_ALARM,
        note=note,
    )


CLAIMS = (
    Claim(
        id="pckv-baseline-epsilon",
        paper="pckv",
        label="Privacy of the baselines (own)",
        kind="statement",
        mark="own",
        statement="Harmony, PrivKV, KVUE, KVOH, F2M and our guess at LDPKV keep the ε that they "
        "claim.",
        run=exact_epsilons,
        judge=_judge_baselines,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-privkvm-budgets",
        paper="pckv",
        label="PrivKVM, sum of the budgets (pckv-16)",
        kind="equation",
        mark="text",
        statement="PrivKVM's budgets add up: ε/2 for the key, c times ε/(2c) for the value.",
        run=rounds,
        judge=_judge_sum,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-privkvm-total",
        paper="pckv",
        label="PrivKVM, total budget (pckv-15)",
        kind="statement",
        mark="text",
        statement="All rounds of PrivKVM together are ε-LDP.",
        run=rounds,
        judge=_judge_total,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-privkvm-tighter",
        paper="pckv",
        label="No tighter composition for PrivKVM (pckv-15, tightness)",
        kind="statement",
        mark="text",
        statement="PrivKVM has no composition tighter than the sum of its budgets.",
        run=rounds,
        judge=_judge_tighter,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="pckv-privkvm-bias",
        paper="pckv",
        label="PrivKVM, bias and variance (pckv-55)",
        kind="statement",
        mark="text",
        statement="PrivKVM's mean becomes unbiased only as the number of rounds grows without "
        "bound, while the variance of the perturbed values grows with it.",
        run=recursion,
        judge=_judge_recursion,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-privkvm-measured",
        paper="pckv",
        label="PrivKVM's bias, measured (pckv-55, measured)",
        kind="statement",
        mark="own",
        statement="Simulated means of PrivKVM average to m(1 - (1 - ρ)(1 - f)^(c-1)), and their "
        "noise grows with c.",
        run=measured_rounds,
        judge=_judge_measured,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
    Claim(
        id="pckv-virtual-rounds",
        paper="pckv",
        label="Virtual rounds (own)",
        kind="statement",
        mark="derived",
        statement="One real and V virtual rounds give a mean that averages to m(1 - (1 - ρ)^(V+1)) "
        "under the rule “repeated”, and to m(1 - (1 - ρ)(1 - f)^V) under the rule “half”.",
        run=measured_rounds,
        judge=_judge_virtual,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
    Claim(
        id="pckv-communication",
        paper="pckv",
        label="Communication (pckv-50)",
        kind="statement",
        mark="derived",
        statement="A user sends O(d') bits with PCKV-UE and O(log d') with PCKV-GRR, in one round.",
        run=communication,
        judge=_judge_communication,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-first-frequency",
        paper="pckv",
        label="A first comparison, frequency (own)",
        kind="statement",
        mark="own",
        statement="On Gaussian keys, one pair a user, both PCKV mechanisms have a smaller "
        "frequency error than PrivKV, with and without virtual rounds, KVUE and KVOH.",
        run=comparison,
        judge=_judge_first_frequency,
        page=PAGE,
        recorded=always(SHAPE_ONLY),
    ),
    Claim(
        id="pckv-first-mean",
        paper="pckv",
        label="A first comparison, mean (own)",
        kind="statement",
        mark="own",
        statement="On Gaussian keys, one pair a user, both PCKV mechanisms have a smaller error "
        "of the mean than PrivKV, with and without virtual rounds, KVUE and KVOH.",
        run=comparison,
        judge=_judge_first_mean,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
)
