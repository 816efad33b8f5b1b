"""Pages 06 and 07: PCKV on real key-value data."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from ldpkv import data as datasets
from ldpkv import theory
from ldpkv.data import KeyValueData
from ldpkv.mechanisms import PCKVGRR, PCKVUE
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
from ldpkv.papers.pckv.synthetic import method, sign_of
from ldpkv.trials import Trials, run_trials

INDEX_PAGE = "notebooks/pckv/06-real-data.ipynb"
PAPER_PAGE = "notebooks/pckv/07-paper-data.ipynb"

EPSILONS = (0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
PCKV: Mapping[str, type[PCKVUE] | type[PCKVGRR]] = {"PCKV-UE": PCKVUE, "PCKV-GRR": PCKVGRR}
METHODS = (*PCKV, "KVUE", "PrivKV", "PrivKVM (1 + 5 virtual)")
# The order of Figure 10(b), best first; PrivKV is PrivKVM with one round.
CHAIN = ("PCKV-UE", "PCKV-GRR", "KVUE", "PrivKV")
REPEATS = {"quick": 40, "paper": 200}
# Probability that chance alone turns one of a figure's verdicts; shared by all its comparisons.
FALSE_ALARM = 1e-4


def expected_frequency_mse(
    data: KeyValueData,
    mechanism: PCKVUE | PCKVGRR,
    keys: NDArray[np.int64],
) -> tuple[float, float]:
    """Exact expectation of the frequency MSE of the uncorrected estimator on fixed data.

    Parameters
    ----------
    data : KeyValueData
        The users; any number of pairs each.
    mechanism : PCKVUE or PCKVGRR
        The mechanism.
    keys : ndarray of int
        Keys that the MSE averages over.

    Returns
    -------
    mse, squared_bias : float
        Averages over the keys: exact variance plus the squared bias of truncation.

    Notes
    -----
    Source: PCKV equation (7) with the sampling of Algorithm 1 (`theory.moments_of_data`).
    """
    numbers = theory.Numbers.of(mechanism)
    variance = theory.frequency_variance_of(numbers, theory.moments_of_data(numbers, data))[keys]
    limit = theory.limit_estimates(data, mechanism.padding).frequency
    bias = (limit - data.truth().frequency)[keys]
    return float(np.mean(variance + bias**2)), float(np.mean(bias**2))


def sweep(
    data: KeyValueData,
    *,
    padding: int,
    top: int,
    repeats: int,
    seed: int,
    epsilons: Sequence[float] = EPSILONS,
) -> tuple[pd.DataFrame, Mapping[str, Any]]:
    """Run PCKV and its competitors over a grid of epsilon on the most frequent keys.

    Parameters
    ----------
    data : KeyValueData
        The users.
    padding : int
        l.
    top : int
        Number of most frequent keys to average over.
    repeats : int
        Repetitions.
    seed : int
        Seed of the run.
    epsilons : sequence of float
        Budgets.

    Returns
    -------
    table : DataFrame
        One row a mechanism and epsilon: both MSEs with 95 % intervals (corrected estimator); for
        PCKV also the uncorrected frequency MSE with its exact expectation.
    facts : dict
        Verdict material: t scores against the exact expectation, signs of the paired differences.
    """
    keys = data.top_keys(top)
    cases = [(name, epsilon) for name in METHODS for epsilon in epsilons]
    mechanisms = {
        f"{name} {epsilon:g}": method(name, epsilon, data.n_keys, padding)
        for name, epsilon in cases
    }
    ours = dict(list(mechanisms.items())[: len(PCKV) * len(epsilons)])
    corrected = run_trials(data, mechanisms, repeats=repeats, rng=seed, keys=keys)
    raw = run_trials(data, ours, repeats=repeats, rng=seed, keys=keys, correction="none")
    frequency, mean = corrected.interval("frequency"), corrected.interval("mean")
    uncorrected = raw.squared_error("frequency")
    rows = []
    for position, ((name, epsilon), label) in enumerate(zip(cases, mechanisms, strict=True)):
        row: dict[str, Any] = {"mechanism": name, "epsilon": epsilon}
        for statistic, found in (("frequency", frequency), ("mean", mean)):
            for column, value in zip(("mse", "low", "high"), found[position], strict=True):
                row[f"{statistic}_{column}"] = value
        if label in ours:
            kind: Any = mechanisms[label]
            expected, squared_bias = expected_frequency_mse(data, kind, keys)
            sample = uncorrected[:, position]
            row["uncorrected_frequency_mse"] = sample.mean()
            row["expected_frequency_mse"] = expected
            row["squared_bias"] = squared_bias
            row["t"] = (sample.mean() - expected) / (sample.std(ddof=1) / np.sqrt(repeats))
        rows.append(row)
    table = pd.DataFrame(rows)
    signs = _signs_of_differences(corrected, cases)
    facts = {
        "repeats": repeats,
        "largest_t": float(table["t"].abs().max()),
        "critical_t": float(stats.t.isf(FALSE_ALARM / (2 * len(ours)), repeats - 1)),
        "bias_floor": float(table["squared_bias"].iloc[0]),
        "truncated": float(np.mean(data.lengths > padding)),
        "signs": signs,
        "order_frequency": {e: signs["frequency", "PCKV-UE", "PCKV-GRR", e] for e in epsilons},
        "predicted_order": _predicted(table, epsilons),
    }
    return table, facts


def _signs_of_differences(
    trials: Trials, cases: Sequence[tuple[str, float]]
) -> dict[tuple[str, str, str, float], int]:
    """Sign of error(one) - error(other): -1, +1, or 0 where the repetitions do not decide it.

    Both come from the same repetition's users, so the comparison is paired. All of them share the
    false-alarm rate.
    """
    epsilons = dict.fromkeys(epsilon for _, epsilon in cases)
    pairs = [*itertools.pairwise(CHAIN), *((one, "PrivKV") for one in PCKV), ("PCKV-UE", "KVUE")]
    signs = {}
    for statistic in ("frequency", "mean"):
        errors = dict(zip(cases, trials.squared_error(statistic).T, strict=True))
        for (one, other), e in itertools.product(pairs, epsilons):
            difference = errors[one, e] - errors[other, e]
            signs[statistic, one, other, e] = sign_of(difference, 2 * len(pairs) * len(epsilons))
    return signs


def _predicted(table: pd.DataFrame, epsilons: Sequence[float]) -> dict[float, int]:
    ours = table[table["mechanism"].isin(PCKV)]
    expected = ours.pivot(index="epsilon", columns="mechanism", values="expected_frequency_mse")
    return {
        epsilon: int(np.sign(expected.loc[epsilon, "PCKV-UE"] - expected.loc[epsilon, "PCKV-GRR"]))
        for epsilon in epsilons
    }


def draw_sweep(result: Result) -> Figure:
    """Draw both MSEs against epsilon, with 95 % bands over repetitions."""
    figure, axes = plots.new_figure(2)
    for axis, statistic, label in zip(
        axes, ("frequency", "mean"), ("MSE of frequency", "MSE of mean"), strict=True
    ):
        plots.log_axis(axis)
        # The floor comes first: names at line ends are placed on the final axes.
        if statistic == "frequency" and result.facts["bias_floor"] > 1e-12:
            floor = result.facts["bias_floor"]
            axis.axhline(floor, color=plots.BLACK, linewidth=0.8, linestyle=":")
            axis.text(0.1, floor, "bias² of truncation", va="bottom", fontsize="small")
        axis.set(xlabel="ε (nats)", ylabel=label)
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
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def sweep_table(result: Result) -> pd.DataFrame:
    """PCKV's frequency errors for the page: measured beside exact."""
    table = result.table[result.table["mechanism"].isin(PCKV)]
    return pd.DataFrame(
        {
            "mechanism": table["mechanism"],
            "ε": table["epsilon"],
            "expected (exact)": table["expected_frequency_mse"],
            "measured": table["uncorrected_frequency_mse"],
            "after correction": table["frequency_mse"],
            "mean MSE": table["mean_mse"],
        }
    )


# --- the index data -------------------------------------------------------------------------


def insteval(profile: str = "quick", seed: int = 2020) -> Result:
    """Lecture ratings of 2,972 students, resampled to a stated number of users.

    Parameters
    ----------
    profile : {"quick", "paper"}
        10^5 users and 40 repetitions, or 10^6 users and 200.
    seed : int, default 2020
        Seed of resampling and of the trials.

    Returns
    -------
    Result
        See `sweep`. The padding length is the 90th percentile of the lengths.
    """
    n_users = {"quick": 10**5, "paper": 10**6}[check_profile(profile)]
    resampling, trials = np.random.SeedSequence(seed).spawn(2)
    original = datasets.load("insteval")
    users = original.resample_users(n_users, rng=np.random.default_rng(resampling))
    padding = int(np.quantile(original.lengths, 0.9))
    table, facts = sweep(
        users,
        padding=padding,
        top=50,
        repeats=REPEATS[profile],
        seed=int(trials.generate_state(1)[0]),
    )
    setting = (
        f"InstEval, 2,972 students resampled to n = {n_users:,}, d = {users.n_keys:,}, "
        f"l = {padding}, top 50 keys, {REPEATS[profile]} repetitions"
    )
    return Result(profile, table, {**facts, "padding": padding}, setting, "index")


def gss(profile: str = "quick", seed: int = 2020) -> Result:
    """Seven yes-no survey items answered by 45,599 persons, at their own number.

    Parameters
    ----------
    profile : {"quick", "paper"}
        40 or 200 repetitions.
    seed : int, default 2020
        Seed of the trials.

    Returns
    -------
    Result
        See `sweep`. The padding length is 7: nobody is truncated.
    """
    users = datasets.load("gss")
    repeats = REPEATS[check_profile(profile)]
    table, facts = sweep(users, padding=7, top=7, repeats=repeats, seed=seed)
    setting = f"GSS items, n = {users.n_users:,}, d = 7, l = 7, all keys, {repeats} repetitions"
    return Result(profile, table, facts, setting, "index")


# --- the paper's own data -------------------------------------------------------------------


def ecommerce(profile: str = "quick", seed: int = 2020) -> Result:
    """E-commerce of Figure 10: one rating for each of 23,486 users.

    Parameters
    ----------
    profile : {"quick", "paper"}
        40 or 200 repetitions.
    seed : int, default 2020
        Seed of the trials.

    Returns
    -------
    Result
        See `sweep`.
    """
    return _paper_data("ecommerce", "E-commerce", 1, profile, seed)


def clothing(profile: str = "quick", seed: int = 2020) -> Result:
    """Clothing of Figure 10(b): 105,508 users, 15 % of them with more than l = 2 pairs.

    Parameters
    ----------
    profile : {"quick", "paper"}
        40 or 200 repetitions.
    seed : int, default 2020
        Seed of the trials.

    Returns
    -------
    Result
        See `sweep`. Repeated (user, key) pairs are kept, as in the authors' code.
    """
    return _paper_data("clothing", "Clothing", 2, profile, seed, duplicates="keep")


def _paper_data(
    name: str,
    title: str,
    padding: int,
    profile: str,
    seed: int,
    duplicates: datasets.Duplicates = "error",
) -> Result:
    users = datasets.load(name, duplicates=duplicates)
    repeats = REPEATS[check_profile(profile)]
    table, facts = sweep(users, padding=padding, top=50, repeats=repeats, seed=seed)
    setting = (
        f"{title}, n = {users.n_users:,}, d = {users.n_keys:,}, l = {padding}, top 50 keys, "
        f"{repeats} repetitions"
    )
    return Result(profile, table, facts, setting, "files")


def data_sets(profile: str = "quick") -> Result:
    """Sizes of the two data sets of the paper that can be had, counted from the files.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row a number: as stated, how that is known, and counted.
    """
    check_profile(profile)
    stated = (
        ("ecommerce", "ratings", 23_486, "read"),
        ("ecommerce", "users", 23_486, "recalled"),
        ("ecommerce", "keys", 1_206, "recalled"),
        ("clothing", "ratings", 192_462, "read"),
        ("clothing", "users", 105_508, "read"),
        ("clothing", "keys", 5_850, "read"),
    )
    counts = {}
    for name in ("ecommerce", "clothing"):
        found = datasets.load(name, duplicates="keep" if name == "clothing" else "error")
        counts[name] = {"ratings": found.n_pairs, "users": found.n_users, "keys": found.n_keys}
    rows = [(name, what, number, known, counts[name][what]) for name, what, number, known in stated]
    table = pd.DataFrame(rows, columns=["data set", "what", "stated", "known how", "counted"])
    judged = table[table["known how"] == "read"]
    facts = {
        "equal": bool((judged["stated"] == judged["counted"]).all()),
        "cases": len(judged),
        "recalled": bool((table["stated"] == table["counted"]).all()),
    }
    return Result(profile, table, facts, source="files")


def truncation(profile: str = "quick") -> Result:
    """Relative bias of the top-50 frequencies of Clothing for several padding lengths, exactly.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same: nothing is sampled.

    Returns
    -------
    Result
        One row a padding length: share of users who are truncated, average relative bias, and
        the expected frequency MSE of PCKV-UE at epsilon = 2, split in bias and variance.
    """
    check_profile(profile)
    users = datasets.load("clothing", duplicates="keep")
    keys = users.top_keys(50)
    true = users.truth().frequency[keys]
    rows = []
    for padding in (1, 2, 3, 5, 8, 12):
        expected = theory.limit_estimates(users, padding).frequency[keys]
        mechanism = PCKVUE.from_epsilon(2.0, n_keys=users.n_keys, padding=padding)
        mse, squared_bias = expected_frequency_mse(users, mechanism, keys)
        rows.append(
            {
                "padding": padding,
                "truncated": float(np.mean(users.lengths > padding)),
                "relative_bias": float(np.mean(expected / true - 1)),
                "squared_bias": squared_bias,
                "variance": mse - squared_bias,
                "mse": mse,
            }
        )
    table = pd.DataFrame(rows)
    bias = table["relative_bias"].to_numpy()
    facts = {
        "bias": dict(zip(table["padding"], bias, strict=True)),
        "bias_shrinks": bool((np.diff(np.abs(bias)) < 0).all() and (bias <= 0).all()),
        "variance_grows": bool((np.diff(table["variance"]) > 0).all()),
        "best": int(table["padding"][table["mse"].idxmin()]),
    }
    setting = "Clothing, n = 105,508, d = 5,850, top 50 keys, PCKV-UE at ε = 2, exact expectations"
    return Result(profile, table, facts, setting, "files")


def draw_truncation(result: Result) -> Figure:
    """Draw squared bias and variance against the padding length."""
    figure, axis = plots.new_figure()
    plots.log_axis(axis)
    ends = {}
    for position, (column, name) in enumerate(
        (("squared_bias", "bias²"), ("variance", "variance"), ("mse", "MSE"))
    ):
        axis.plot(result.table["padding"], result.table[column], **plots.style(name, position))
        ends[name] = (result.table["padding"].iloc[-1], result.table[column].iloc[-1])
    axis.set(xlabel="padding length l", ylabel="frequency MSE at ε = 2")
    axis.set_xticks(result.table["padding"])
    figure.canvas.draw()
    plots.label_ends(axis, ends)
    return figure


# --- judges ---------------------------------------------------------------------------------


def _judge_expected(result: Result) -> Evidence:
    facts = result.facts
    cases = int(result.table["t"].notna().sum())
    return Evidence(
        WITHIN_ERROR if facts["largest_t"] <= facts["critical_t"] else DIFFERS,
        f"largest |t| {num(facts['largest_t'], 2)} over {cases} cases",
        "the exact expectation of each",
        tolerance=f"|t| ≤ {num(facts['critical_t'], 2)}, {facts['repeats']} repetitions",
        false_alarm=FALSE_ALARM,
        note="Uncorrected frequency estimates; the correction is not part of the closed form.",
    )


def _signs(order: Mapping[float, int]) -> str:
    words = {-1: "UE", 1: "GRR", 0: "undecided"}
    groups: list[tuple[str, list[float]]] = []
    for epsilon, sign in order.items():
        if groups and groups[-1][0] == words[sign]:
            groups[-1][1].append(epsilon)
        else:
            groups.append((words[sign], [epsilon]))
    return "; ".join(f"{word} at ε = {', '.join(f'{e:g}' for e in es)}" for word, es in groups)


def _judge_order(result: Result) -> Evidence:
    facts = result.facts
    wrong = [
        epsilon
        for epsilon, sign in facts["order_frequency"].items()
        if sign and sign != facts["predicted_order"][epsilon]
    ]
    return Evidence(
        DIFFERS if wrong else WITHIN_ERROR,
        f"smaller frequency error: {_signs(facts['order_frequency'])}",
        f"by the exact expectation: {_signs(facts['predicted_order'])}",
        tolerance="signs of paired differences that repetitions decide",
        false_alarm=FALSE_ALARM,
        note="Where the correction clips at small ε the order need not follow the closed form."
        if wrong
        else "",
    )


def _judge_chain(result: Result) -> Evidence:
    return _judge_pairs(result, list(itertools.pairwise(CHAIN)), "order " + " < ".join(CHAIN))


def _judge_rivals(result: Result) -> Evidence:
    pairs = [(one, other) for one in PCKV for other in ("KVUE", "PrivKV")]
    return _judge_pairs(result, pairs, "both PCKV mechanisms below KVUE and PrivKV")


def _judge_pairs(result: Result, pairs: Sequence[tuple[str, str]], expected: str) -> Evidence:
    chosen = {k: s for k, s in result.facts["signs"].items() if k[1:3] in pairs}
    below = sum(sign < 0 for sign in chosen.values())
    wrong = [key for key, sign in chosen.items() if sign > 0]
    open_ = [key for key, sign in chosen.items() if sign == 0]
    verdict = DIFFERS if wrong else WITHIN_ERROR if not open_ else SHAPE_ONLY
    notes = [
        f"{word}: {_where(keys)}."
        for word, keys in (("Reversed", wrong), ("Undecided", open_))
        if keys
    ]
    return Evidence(
        verdict,
        f"as stated in {below} of {len(chosen)} comparisons (frequency and mean, every ε), "
        f"reversed in {len(wrong)}",
        f"{expected}, for frequency and mean at every ε",
        tolerance="signs of paired differences that repetitions decide",
        false_alarm=FALSE_ALARM,
        note=" ".join([*notes, "PrivKV is PrivKVM with one round."]),
    )


def _where(keys: Sequence[tuple[str, str, str, float]]) -> str:
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for statistic, one, other, epsilon in keys:
        grouped.setdefault((statistic, one, other), []).append(f"{epsilon:g}")
    return "; ".join(
        f"{statistic}, {one} and {other} at ε = {', '.join(where)}"
        for (statistic, one, other), where in grouped.items()
    )


def _judge_data_sets(result: Result) -> Evidence:
    facts = result.facts
    recalled = "agree too" if facts["recalled"] else "do not all agree"
    return exact_if(
        facts["equal"],
        f"{facts['cases']} counts that could be read in a public source are equal",
        "the sizes stated there",
        "E-commerce: the reviews' page. Clothing: the authors' own file and code; the source "
        "lists 192,544 transactions, 82 of them without a rating. Two numbers of E-commerce are "
        f"recalled and not judged; they {recalled}. Amazon and Movie cannot be had here.",
    )


def _judge_truncation(result: Result) -> Evidence:
    facts = result.facts
    shown = ", ".join(f"{100 * facts['bias'][p]:.0f} %" for p in (1, 2, 3, 5))
    return exact_if(
        facts["bias_shrinks"] and facts["variance_grows"],
        f"relative bias {shown} at l = 1, 2, 3, 5; smallest MSE at l = {facts['best']}",
        "a short l underestimates, a long l raises the variance",
    )


CLAIMS = (
    Claim(
        id="pckv-index-insteval",
        paper="pckv",
        label="Frequency error on real ratings (own, InstEval)",
        kind="statement",
        mark="own",
        statement="With truncated users counted in, the exact variance and bias predict the "
        "frequency error of both mechanisms on real ratings.",
        run=insteval,
        judge=_judge_expected,
        page=INDEX_PAGE,
        recorded=always(WITHIN_ERROR, "index"),
    ),
    Claim(
        id="pckv-index-gss",
        paper="pckv",
        label="Frequency error on survey items (own, GSS)",
        kind="statement",
        mark="own",
        statement="The same on survey items, where every user has nearly all keys.",
        run=gss,
        judge=_judge_expected,
        page=INDEX_PAGE,
        recorded=always(WITHIN_ERROR, "index"),
    ),
    Claim(
        id="pckv-index-order",
        paper="pckv",
        label="UE or GRR on real ratings (own, InstEval)",
        kind="statement",
        mark="own",
        statement="Which of PCKV-UE and PCKV-GRR has the smaller frequency error on InstEval is "
        "what the exact expectation says.",
        run=insteval,
        judge=_judge_order,
        page=INDEX_PAGE,
        recorded=always(WITHIN_ERROR, "index"),
    ),
    Claim(
        id="pckv-index-rivals",
        paper="pckv",
        label="PCKV and its competitors on real ratings (own, InstEval)",
        kind="statement",
        mark="own",
        statement="On InstEval both PCKV mechanisms have smaller errors than KVUE and PrivKVM.",
        run=insteval,
        judge=_judge_rivals,
        page=INDEX_PAGE,
        recorded=always(DIFFERS, "index"),
    ),
    Claim(
        id="pckv-index-gss-rivals",
        paper="pckv",
        label="PCKV and its competitors on survey items (own, GSS)",
        kind="statement",
        mark="own",
        statement="On the survey items both PCKV mechanisms have smaller errors than KVUE and "
        "PrivKVM.",
        run=gss,
        judge=_judge_rivals,
        page=INDEX_PAGE,
        recorded=always(DIFFERS, "index"),
    ),
    Claim(
        id="pckv-fig-10-ecommerce",
        paper="pckv",
        label="Figure 10, E-commerce (pckv-49)",
        kind="figure",
        mark="recalled",
        statement="On E-commerce the errors are ordered PCKV-UE, PCKV-GRR, KVUE, PrivKVM, from the "
        "smallest up.",
        run=ecommerce,
        judge=_judge_chain,
        page=PAPER_PAGE,
        recorded=always(SHAPE_ONLY, "files"),
    ),
    Claim(
        id="pckv-fig-10-clothing",
        paper="pckv",
        label="Figure 10(b), Clothing (pckv-48)",
        kind="figure",
        mark="found",
        statement="On Clothing the errors are ordered PCKV-UE, PCKV-GRR, KVUE, PrivKVM, from the "
        "smallest up.",
        run=clothing,
        judge=_judge_chain,
        page=PAPER_PAGE,
        recorded=always(SHAPE_ONLY, "files"),
    ),
    Claim(
        id="pckv-data-sets",
        paper="pckv",
        label="Table of data sets (pckv-51)",
        kind="table",
        mark="found",
        statement="E-commerce has 23,486 ratings; Clothing has 192,462 ratings of 5,850 keys by "
        "105,508 users.",
        run=data_sets,
        judge=_judge_data_sets,
        page=PAPER_PAGE,
        recorded=always(EXACT, "files"),
    ),
    Claim(
        id="pckv-truncation",
        paper="pckv",
        label="Padding length on Clothing (pckv-28)",
        kind="statement",
        mark="text",
        statement="A padding length that is too short underestimates frequencies; a longer one "
        "raises the variance.",
        run=truncation,
        judge=_judge_truncation,
        page=PAPER_PAGE,
        recorded=always(EXACT, "files"),
    ),
)
