"""Page 04, second half: what each budget does, which mechanism wins, and a better a."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from ldpkv import allocation, theory
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
from ldpkv.theory import Numbers
from ldpkv.trials import run_trials

PAGE = "notebooks/pckv/04-budget-allocation.ipynb"

KINDS: Mapping[str, type[PCKVUE] | type[PCKVGRR]] = {"PCKV-UE": PCKVUE, "PCKV-GRR": PCKVGRR}
# Probability that chance alone turns the simulated verdict; shared by all its comparisons.
FALSE_ALARM = 1e-4


def budgets(profile: str = "quick") -> Result:
    """Vary the two budgets one at a time, in exact fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Steps of each budget.

    Returns
    -------
    Result
        One row for each mechanism, d, l and pair of budgets: g, h and the variance of (7), exact
        (sampling included) at f = 1/3 and n = 1.
    """
    steps = {"quick": 6, "paper": 15}[check_profile(profile)]
    exps = [1 + Fraction(k * k, 4) for k in range(1, steps + 1)]
    rows = []
    shapes = ((1, 1), (10, 1), (10, 3), (100, 20))
    for (n_keys, padding), key, value in itertools.product(shapes, exps, exps):
        for name, numbers in (
            ("PCKV-UE", Numbers.ue(key, value, padding)),
            ("PCKV-GRR", Numbers.grr(key, value, n_keys, padding)),
        ):
            rows.append(
                {
                    "mechanism": name,
                    "n_keys": n_keys,
                    "padding": padding,
                    "exp_key": key,
                    "exp_value": value,
                    "g": theory.g(numbers),
                    "h": theory.h(numbers),
                    "variance": theory.frequency_variance(numbers, Fraction(1, 3), 1),
                }
            )
    table = pd.DataFrame(rows)
    shape = ["mechanism", "n_keys", "padding"]
    by_key = [part for _, part in table.groupby([*shape, "exp_key"])]
    by_value = [part.sort_values("exp_key") for _, part in table.groupby([*shape, "exp_value"])]

    def falls(column: str) -> bool:
        return all(
            later < before
            for part in by_value
            for before, later in itertools.pairwise(part[column])
        )

    facts = {
        "cases": len(table),
        "value_does_not_matter": all(
            part[column].nunique() == 1 for part in by_key for column in ("h", "variance")
        ),
        "h_falls": falls("h"),
        "variance_falls": falls("variance"),
        "g_falls": falls("g"),
        **_all_on_the_key(),
    }
    return Result(profile, table, facts)


def _all_on_the_key() -> dict[str, Any]:
    """Let the key budget approach its maximum; the value gets what (3) or (6) leaves."""
    rising, nothing_left, growth = True, True, []
    for exp_epsilon, padding in itertools.product((Fraction(2), Fraction(20)), (1, 3)):
        top = allocation.amplified(exp_epsilon, padding)
        # No value budget at all is left at the top: 2 p - 1 = 0.
        nothing_left &= theory.largest_keep_sign(top, exp_epsilon, padding) == Fraction(1, 2)
        for name in KINDS:
            values = []
            for step in range(1, 7):
                theta = top * (1 - Fraction(1, 10 ** (step + 1)))
                if name == "PCKV-UE":
                    if padding > 1:
                        continue
                    numbers = theory.along_ue(theta, exp_epsilon)
                else:
                    numbers = theory.along_grr(theta, exp_epsilon, 10, padding)
                values.append(theory.g(numbers))
            rising &= all(later > 50 * before for before, later in itertools.pairwise(values))
            growth += [float(y / x) for x, y in itertools.pairwise(values)]
    return {"g_unbounded": rising, "value_gets_nothing": bool(nothing_left), "growth": growth[-1]}


def along_the_budget(profile: str = "quick") -> Result:
    """Errors (18) along all ways to spend epsilon = 1, for the page's figure.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Fineness.

    Returns
    -------
    Result
        One row for each key budget: g, h and g + h / 4 (m = 1/2) of PCKV-UE, with the facts of
        `budgets`.
    """
    points = {"quick": 40, "paper": 200}[check_profile(profile)]
    top = math.e
    low, high = math.log((top + 1) / 2), 1.0
    # Up to where the value budget is 1/100 of the total.
    shares = np.linspace(0, 0.995, points)
    key = low + (high - low) * shares
    numbers = theory.along_ue(np.exp(key), top)
    table = pd.DataFrame(
        {
            "epsilon_1": key,
            "epsilon_2": np.log(numbers.keep_sign / (1 - numbers.keep_sign)),
            "g": theory.g(numbers),
            "h": theory.h(numbers),
            "objective": theory.objective(numbers, 0.25),
        }
    )
    return Result(profile, table, budgets(profile).facts, "PCKV-UE, ε = 1, m = 0.5, closed forms")


def draw_along_the_budget(result: Result) -> Figure:
    """Draw g, h and the mean's error against the key budget."""
    figure, axis = plots.new_figure()
    plots.log_axis(axis)
    axis.set(xlabel="key budget ε₁ (nats), all of ε = 1 spent", ylabel="error, in units of μ")
    ends = {}
    names = {"objective": "mean (m = 0.5)", "g": "g", "h": "h (frequency)"}
    for position, (column, name) in enumerate(names.items()):
        look = {**plots.style(name, position), "markevery": 4}
        axis.plot(result.table["epsilon_1"], result.table[column], **look)
        ends[name] = (result.table["epsilon_1"].iloc[-1], result.table[column].iloc[-1])
    figure.canvas.draw()
    plots.label_ends(axis, ends)
    return figure


# --- UE or GRR ------------------------------------------------------------------------------


def crossovers(profile: str = "quick") -> Result:
    """Compare the two mechanisms under (18) with the rule d < crossover, in exact fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Fineness of the check and of the curves.

    Returns
    -------
    Result
        One row for each l and epsilon: number of keys below which PCKV-GRR has the smaller error,
        for the frequency and for the mean with m = 0, both optimised.
    """
    steps = {"quick": 5, "paper": 12}[check_profile(profile)]
    wrong = cases = 0
    for step, padding in itertools.product(range(1, steps + 1), (1, 2, 3, 10)):
        exp_epsilon = 1 + Fraction(step**3, 2)
        edges = [
            theory.crossover_frequency(exp_epsilon, padding),
            *(theory.crossover(exp_epsilon, padding, Fraction(k, 4)) for k in range(5)),
        ]
        # Both sides of every edge, near and far.
        around = {
            max(1, math.floor(edge * x) + y) for edge in edges for x in (1, 2) for y in (0, 1)
        }
        for n_keys in sorted(around | {1, 10, 10**4}):
            ue = PCKVUE.from_exp_budgets(
                *allocation.optimised(exp_epsilon), n_keys=n_keys, padding=padding
            )
            grr = PCKVGRR.from_exp_budgets(
                *allocation.optimised(exp_epsilon, padding), n_keys=n_keys, padding=padding
            )
            one, two = Numbers.of(ue), Numbers.of(grr)
            for position, edge in enumerate(edges):
                if position == 0:
                    better = theory.h(two) < theory.h(one)
                else:
                    square = Fraction(position - 1, 4)
                    better = theory.objective(two, square) < theory.objective(one, square)
                wrong += better != (n_keys < edge)
                cases += 1
    table = pd.DataFrame(
        [
            (
                padding,
                epsilon,
                theory.crossover_frequency(math.exp(epsilon), padding),
                theory.crossover(math.exp(epsilon), padding, 0.0),
                theory.crossover(math.exp(epsilon), padding, 1.0),
            )
            for padding in (1, 2, 5)
            for epsilon in np.round(np.linspace(0.1, 6, 2 * steps + 15), 4)
        ],
        columns=["padding", "epsilon", "frequency", "mean_0", "mean_1"],
    )
    facts = {
        "cases": cases,
        "wrong": wrong,
        "at_4": float(theory.crossover_frequency(math.exp(4), 1)),
        "at_5": float(theory.crossover_frequency(math.exp(5), 1)),
        "clothing": float(theory.crossover_frequency(math.exp(6), 2)),
    }
    return Result(profile, table, facts, "both optimised, (18), closed forms")


SETTINGS = tuple(itertools.product((5, 60, 800), (1, 2, 5), (1.0, 2.5, 4.0)))


def duel(profile: str = "quick", seed: int = 2020) -> Result:
    """Run both mechanisms on the same users and compare their errors with the rule's prediction.

    Parameters
    ----------
    profile : {"quick", "paper"}
        150 or 600 repetitions.
    seed : int, default 2020
        Seed of the repetitions.

    Returns
    -------
    Result
        One row for each (d, l, epsilon) and statistic: which mechanism's squared error at key 0
        is smaller, by the sign of the mean paired difference, and which should be.
    """
    repeats = {"quick": 150, "paper": 600}[check_profile(profile)]
    n_users, holders, value = 100_000, 5_000, 0.5
    rows = []
    domains = sorted({n_keys for n_keys, _, _ in SETTINGS})
    spawned = np.random.default_rng(seed).spawn(len(domains))
    for n_keys, generator in zip(domains, spawned, strict=True):
        chosen = [(padding, epsilon) for d, padding, epsilon in SETTINGS if d == n_keys]
        mechanisms = {
            f"{name} {padding} {epsilon:g}": cls.from_epsilon(
                epsilon, n_keys=n_keys, padding=padding
            )
            for (padding, epsilon), (name, cls) in itertools.product(chosen, KINDS.items())
        }
        trials = run_trials(
            _one_rare_key(n_users, n_keys, holders, value),
            mechanisms,
            repeats=repeats,
            rng=generator,
            keys=np.array([0]),
            correction="none",
        )
        for position, (padding, epsilon) in enumerate(chosen):
            pair = slice(2 * position, 2 * position + 2)
            rows += [
                {
                    "n_keys": n_keys,
                    "padding": padding,
                    "epsilon": epsilon,
                    "statistic": statistic,
                    **_compare(trials.squared_error(statistic)[:, pair], repeats),
                    **_predicted(statistic, n_keys, padding, epsilon, holders / n_users, value),
                }
                for statistic in ("frequency", "mean")
            ]
    table = pd.DataFrame(rows)
    # The mean's rule is one of first order: where the frequency is lost in noise it says nothing.
    table = table[(table["statistic"] == "frequency") | (table["signal"] >= 6)]
    table = table.reset_index(drop=True)
    critical = FALSE_ALARM / len(table)
    decided = table["p"] < critical
    table["winner"] = np.where(~decided, 0, np.sign(table["difference"])).astype(int)
    reversed_ = decided & (table["winner"] != table["predicted"])
    facts = {
        "repeats": repeats,
        "cases": len(table),
        "decided": int(decided.sum()),
        "reversed": int(reversed_.sum()),
        "grr_wins": int((table["winner"] == 1).sum()),
        "ue_wins": int((table["winner"] == -1).sum()),
        "critical_p": critical,
    }
    setting = (
        f"n = {n_users:,}, f = {holders / n_users:g}, m = {value:g} at one key, fixed users, "
        f"{repeats} repetitions, no correction"
    )
    return Result(profile, table, facts, setting)


def _one_rare_key(n_users: int, n_keys: int, holders: int, value: float) -> KeyValueData:
    """One pair a user: `holders` users hold key 0, the rest share the other keys."""
    keys = np.zeros(n_users, dtype=np.int64)
    keys[holders:] = 1 + np.arange(n_users - holders) % (n_keys - 1)
    return KeyValueData.from_pairs(np.arange(n_users), keys, np.full(n_users, value), n_keys=n_keys)


def _compare(errors: Any, repeats: int) -> dict[str, float]:
    """UE's squared errors against GRR's, with a two-sided p-value for equal expectations.

    Errors of one key are squares of normal variables, of one variance each; channel noise of the
    two is independent, so that their ratio of means is F-distributed. What they share, the sampled
    pairs, only brings the ratio nearer to 1.
    """
    ue, grr = errors.mean(axis=0)
    ratio = ue / grr
    tails = stats.f.cdf(ratio, repeats, repeats), stats.f.sf(ratio, repeats, repeats)
    return {"ue_mse": ue, "grr_mse": grr, "difference": ue - grr, "p": 2 * min(tails)}


def _predicted(
    statistic: str, n_keys: int, padding: int, epsilon: float, frequency: float, mean: float
) -> dict[str, float]:
    exp_epsilon = math.exp(epsilon)
    edge = (
        theory.crossover_frequency(exp_epsilon, padding)
        if statistic == "frequency"
        else theory.crossover(exp_epsilon, padding, mean**2)
    )
    signals = [
        theory.signal(
            Numbers.of(cls.from_epsilon(epsilon, n_keys=n_keys, padding=padding)),
            frequency,
            100_000,
        )
        for cls in KINDS.values()
    ]
    return {"predicted": 1 if n_keys < edge else -1, "edge": edge, "signal": min(signals)}


def draw_crossovers(rule: Result, simulated: Result) -> Figure:
    """Draw the phase diagram: boundaries over epsilon and d, with the simulated points."""
    figure, axes = plots.new_figure(3, height=3.6)
    points = simulated.table[simulated.table["statistic"] == "frequency"]
    looks = {1: (plots.VERMILION, "s"), -1: (plots.BLUE, "o"), 0: (plots.GREY, "x")}
    for axis, padding in zip(axes, (1, 2, 5), strict=True):
        part = rule.table[rule.table["padding"] == padding]
        plots.log_axis(axis)
        axis.plot(part["epsilon"], part["frequency"], color=plots.BLACK, linewidth=1.5)
        # Below one key the rule says that UE wins at every d.
        axis.plot(
            part["epsilon"],
            part["mean_0"].where(part["mean_0"] > 0.5),
            color=plots.BLACK,
            linewidth=1.2,
            linestyle="--",
        )
        own = points[points["padding"] == padding]
        for winner, (color, marker) in looks.items():
            some = own[own["winner"] == winner]
            axis.plot(
                some["epsilon"], some["n_keys"], marker, color=color, markersize=6, linestyle=""
            )
        axis.set(xlabel="ε (nats)", ylim=(1, 1e5), xlim=(0, 6.1))
        axis.text(0.2, 5e4, f"l = {padding}", fontsize="small", fontweight="bold")
        axis.text(0.5, 1e4, "PCKV-UE better", color=plots.BLUE, fontsize="small")
        axis.text(2.6, 1.6, "PCKV-GRR better", color=plots.VERMILION, fontsize="small")
    axes[0].set_ylabel("number of keys d")
    return figure


def duel_table(result: Result) -> pd.DataFrame:
    """The simulated comparisons nearest to the boundary, for the page."""
    table = result.table.assign(
        nearness=(np.log(result.table["n_keys"] / result.table["edge"].clip(lower=0.5))).abs()
    )
    table = table.sort_values(["nearness", "statistic"], kind="stable").head(12)
    words = {1: "GRR", -1: "UE", 0: "undecided"}
    return pd.DataFrame(
        {
            "statistic": table["statistic"],
            "d": table["n_keys"],
            "l": table["padding"],
            "ε": table["epsilon"],
            "GRR better below d =": table["edge"],
            "UE / GRR error": table["ue_mse"] / table["grr_mse"],
            "decided": table["winner"].map(words),
        }
    )


# --- a better a -----------------------------------------------------------------------------

SQUARES = (0.0, 0.25, 1.0)  # squared means that are shown


def keep_key(profile: str = "quick") -> Result:
    """Choose a for the mean rather than for the frequency, at Lemma 2's budgets.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Fineness.

    Returns
    -------
    Result
        One row for each m^2 and epsilon: the best a within b <= 1/2, and by how much it lowers
        g + h m^2 below its value at a = 1/2. The budgets, and so the privacy, are the same.
    """
    points = {"quick": 49, "paper": 193}[check_profile(profile)]
    rows = []
    for square in SQUARES:
        for epsilon in np.round(np.linspace(0.1, 6, points), 4):
            rows.append((square, float(epsilon), *_gain(math.exp(epsilon), square)))
    table = pd.DataFrame(rows, columns=["mean_square", "epsilon", "keep_key", "gain"])
    at_one = {square: _gain(math.e, square) for square in SQUARES}
    facts = {
        **_oue_scan(),
        "at_one": at_one,
        "always_gains": bool((table["gain"] > 0).all()),
        "largest_gain": float(table["gain"].max()),
        # At m = 0 the saving is largest, and there 1 / theta^2, which falls (proof on the page).
        "gain_at_3": _largest_gain(math.exp(3)),
        "gain_at_4": _largest_gain(math.exp(4)),
    }
    facts["glued"] = {
        "better_a": 100 * facts["largest_gain"],
        "better_a_3": 100 * facts["gain_at_3"],
        "better_a_4": 100 * facts["gain_at_4"],
    }
    return Result(profile, table, facts, "PCKV-UE at Lemma 2's budgets, closed forms")


def _gain(exp_epsilon: float, square: float) -> tuple[float, float]:
    """Give the best a at Lemma 2's budgets, and the share of the mean's error that it saves."""
    exp_key, exp_value = allocation.optimised(exp_epsilon)
    best = theory.best_keep_key(exp_key, exp_value, square)
    numbers = theory.unary_numbers(best, exp_key, exp_value)
    used = theory.objective(Numbers.ue(exp_key, exp_value), square)
    return float(best), 1 - float(theory.objective(numbers, square) / used)


def _largest_gain(exp_epsilon: float) -> float:
    return max(_gain(exp_epsilon, square)[1] for square in SQUARES)


def _oue_scan() -> dict[str, Any]:
    """Privacy and h of PCKV-UE for many a at the same budgets, in exact fractions."""
    same, least = True, True
    for exp_key, exp_value in ((Fraction(3, 2), Fraction(2)), (Fraction(5), Fraction(9))):
        half = theory.h(theory.unary_numbers(Fraction(1, 2), exp_key, exp_value))
        for step in range(1, 20):
            a, b, p, _ = theory.unary_numbers(Fraction(step, 20), exp_key, exp_value)
            same &= a * (1 - b) / (b * (1 - a)) == exp_key and p / (1 - p) == exp_value
            least &= b * (1 - b) / (a - b) ** 2 >= half
    return {"same_budgets": bool(same), "oue_least_h": bool(least)}


def draw_keep_key(result: Result) -> Figure:
    """Draw the gain against epsilon, one line for each m^2."""
    figure, axis = plots.new_figure()
    axis.set(xlabel="ε (nats)", ylabel="error of the mean saved (%)", ylim=(0, 18))
    ends = {}
    for position, (square, part) in enumerate(result.table.groupby("mean_square")):
        look = {**plots.style(f"m² = {square:g}", position), "markevery": 4}
        axis.plot(part["epsilon"], 100 * part["gain"], **look)
        ends[f"m² = {square:g}"] = (part["epsilon"].iloc[-1], 100 * part["gain"].iloc[-1])
    figure.canvas.draw()
    plots.label_ends(axis, ends)
    return figure


# --- judges ---------------------------------------------------------------------------------


def _judge_key_only(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["value_does_not_matter"] and facts["h_falls"] and facts["variance_falls"],
        f"both parts hold in {facts['cases']} exact cases"
        if facts["value_does_not_matter"]
        else "the value budget matters",
        "no change with ε₂, and falling in ε₁, at fixed d and l",
        "Holds for (18) and for the exact variance with its sampling part.",
    )


def _judge_more_key(result: Result) -> Evidence:
    facts = result.facts
    held = facts["h_falls"] and facts["g_falls"]
    limit = facts["g_unbounded"] and facts["value_gets_nothing"]
    return exact_if(
        held and limit,
        f"g and h fall in ε₁ on the whole grid ({facts['cases']} exact cases); ten times nearer to "
        f"the largest ε₁, g is {num(facts['growth'])} times larger",
        "a larger ε₁ lowers both errors, but the largest leaves ε₂ = 0 and the mean's error "
        "without bound",
        "Under (18). For PCKV-GRR with l > 1 the largest ε₁ is ln(l(e^ε - 1) + 1).",
    )


def _judge_crossover(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["wrong"] == 0,
        f"the rule is right in all {facts['cases']} exact comparisons"
        if facts["wrong"] == 0
        else f"wrong in {facts['wrong']} of {facts['cases']}",
        "the sign of UE's error less GRR's under (18)",
        f"At l = 1 GRR has the smaller frequency error below {num(facts['at_4'], 2)} keys at "
        f"ε = 4 and {num(facts['at_5'])} at 5; at l = 2, ε = 6 below "
        f"{facts['clothing']:,.0f}. The paper's own inequality is lost.",
    )


def _judge_duel(result: Result) -> Evidence:
    facts = result.facts
    enough = facts["grr_wins"] > 0 and facts["ue_wins"] > 0
    return Evidence(
        WITHIN_ERROR if facts["reversed"] == 0 and enough else DIFFERS,
        f"{facts['reversed']} of {facts['decided']} decided comparisons against the rule "
        f"(GRR {facts['grr_wins']}, UE {facts['ue_wins']}; {facts['cases']} in all)",
        "none",
        tolerance=f"signs decided at p < {num(facts['critical_p'], 2)}, {facts['repeats']} "
        "repetitions",
        false_alarm=FALSE_ALARM,
        note="The rule is that of (18), for f/l small; near the boundary repetitions leave the "
        "sign open.",
    )


def _judge_keep_key(result: Result) -> Evidence:
    facts = result.facts
    shown = ", ".join(
        f"{num(100 * gain)} % (m² = {square:g}, a = {num(a)})"
        for square, (a, gain) in facts["at_one"].items()
    )
    return exact_if(
        facts["same_budgets"] and facts["oue_least_h"] and facts["always_gains"],
        f"at ε = 1 saves {shown}",
        "a smaller error of the mean at the same budgets",
        "a = 1/2 (OUE) gives the least error of the frequency, which a larger a raises. From ε = 3 "
        f"on at most {num(100 * facts['gain_at_3'], 2)} % is saved, from ε = 4 on "
        f"{num(100 * facts['gain_at_4'], 2)} %.",
    )


CLAIMS = (
    Claim(
        id="pckv-key-budget",
        paper="pckv",
        label="Frequency error and the key budget (pckv-31)",
        kind="statement",
        mark="text",
        statement="The error of the frequency depends on ε₁ only, and falls as ε₁ grows.",
        run=along_the_budget,
        judge=_judge_key_only,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-key-budget-limit",
        paper="pckv",
        label="Spending all on the key (pckv-56)",
        kind="statement",
        mark="text",
        statement="At a fixed ε₂ a larger ε₁ lowers both errors; but as ε₁ approaches its largest "
        "value, ε₂ tends to 0 and the error of the mean grows without bound.",
        run=along_the_budget,
        judge=_judge_more_key,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-ue-or-grr",
        paper="pckv",
        label="PCKV-UE or PCKV-GRR (pckv-39)",
        kind="statement",
        mark="derived",
        statement="With optimised budgets PCKV-GRR has the smaller frequency error iff "
        "d < d_h = l(4l - 1)(e^ε + 1)/2 + 1, and the smaller mean error iff d < "
        "(d_g + m² d_h)/(1 + m²) with d_g = 2l²(e^ε + 1)²/(e^ε + 3) - l(e^ε - 1)/2 - l.",
        run=crossovers,
        judge=_judge_crossover,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-ue-or-grr-simulated",
        paper="pckv",
        label="PCKV-UE or PCKV-GRR, simulated (own)",
        kind="statement",
        mark="own",
        statement="Where repetitions decide which mechanism has the smaller error, it is the one "
        "that the rule names.",
        run=duel,
        judge=_judge_duel,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
    Claim(
        id="pckv-better-a",
        paper="pckv",
        label="A better a for the mean (own)",
        kind="statement",
        mark="own",
        statement="At the same two budgets, PCKV-UE with another a than the 1/2 of equation (19) "
        "has a smaller error of the mean.",
        run=keep_key,
        judge=_judge_keep_key,
        page=PAGE,
        recorded=always(EXACT),
    ),
)
