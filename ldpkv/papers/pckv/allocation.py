"""Page 04: how the budget is shared, and whether the paper's sharing is the best one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ldpkv import allocation, theory
from ldpkv.mechanisms import PCKVGRR, PCKVUE
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    SHAPE_ONLY,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)

PAGE = "notebooks/pckv/04-budget-allocation.ipynb"

EPSILONS = np.round(np.geomspace(0.1, 6.0, 25), 4)
POINTS = {"quick": 60, "paper": 400}


def equation_4(profile: str = "quick") -> Result:
    """Follow the family of allocations (4) in exact fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Number of steps along the family.

    Returns
    -------
    Result
        One row for each (e^epsilon, theta): whether it spends exactly epsilon, and what is left
        for the value.
    """
    steps = POINTS[check_profile(profile)]
    rows = []
    for exp_epsilon in (Fraction(11, 10), Fraction(2), Fraction(20)):
        low = (exp_epsilon + 1) / 2
        for step in range(steps):
            theta = low + (exp_epsilon - low) * step / steps
            budgets = allocation.from_key_budget(theta, exp_epsilon)
            more = theta * Fraction(1001, 1000)
            rows.append(
                {
                    "exp_epsilon": exp_epsilon,
                    "exp_key": theta,
                    "exp_value": budgets.exp_value,
                    "product": theta * budgets.exp_value,
                    "spends_all": allocation.compose_ue(*budgets) == exp_epsilon,
                    # With this value budget, any larger key budget breaks the promise.
                    "key_is_largest": allocation.compose_ue(more, budgets.exp_value) > exp_epsilon,
                }
            )
    table = pd.DataFrame(rows)
    falls = [
        bool((np.diff(part[column].to_numpy()) < 0).all())
        for _, part in table.groupby("exp_epsilon")
        for column in ("exp_value", "product")
    ]
    facts = {
        "cases": len(table),
        "spends_all": bool(table["spends_all"].all()),
        "key_is_largest": bool(table["key_is_largest"].all()),
        "falls": all(falls),
    }
    return Result(profile, table, facts)


def lemma_2(profile: str = "quick") -> Result:
    """Compare Lemma 2's allocation with the true minimiser of g + h m^2 along (4).

    Parameters
    ----------
    profile : {"quick", "paper"}
        Fineness of the map.

    Returns
    -------
    Result
        One row for each (epsilon, m^2): how much larger the objective is at Lemma 2's choice.
    """
    points = POINTS[check_profile(profile)]
    epsilons = np.geomspace(0.02, 2.0, points)
    squares = np.linspace(0, 1, points // 2 + 1)
    grid, mean_square = np.meshgrid(epsilons, squares, indexing="ij")
    loss = theory.lemma2_loss(np.exp(grid), mean_square)
    table = pd.DataFrame(
        {"epsilon": grid.ravel(), "mean_square": mean_square.ravel(), "loss": loss.ravel()}
    )
    threshold = theory.lemma2_threshold()[1]
    above = theory.lemma2_loss(np.exp(np.linspace(threshold, 8, 50))[:, None], squares)
    # Exact: at the smallest mean square that the condition allows, m^2 = 1/2, it always holds.
    half = all(theory.lemma2_holds(1 + Fraction(1, k), Fraction(1, 2)) for k in range(1, 2000, 37))
    facts = {
        "threshold": threshold,
        "worst": float(loss.max()),
        "limit": 12 / (1 + 2 ** (1 / 3)) ** 3 - 1,
        "loss_above_threshold": float(above.max()),
        "half_suffices": half,
        "fails_somewhere": bool((loss > 1e-6).any()),
        "both_terms_equal": all(
            allocation.optimised(exp).exp_value
            == 2 * allocation.optimised(exp).exp_key * exp / (exp + 1)
            == exp
            for exp in (Fraction(11, 10), Fraction(2), Fraction(20))
        ),
    }
    return Result(profile, table, facts, "exact optimum along (4)")


def draw_lemma_2(result: Result) -> Figure:
    """Draw the loss of Lemma 2's choice as a map over epsilon and m^2."""
    figure, axis = plots.new_figure()
    grid = result.table.pivot(index="mean_square", columns="epsilon", values="loss")
    mesh = axis.pcolormesh(
        grid.columns,
        grid.index,
        100 * grid.to_numpy(),
        cmap="cividis",
        shading="nearest",
        rasterized=True,
    )
    lines = axis.contour(
        grid.columns,
        grid.index,
        100 * grid.to_numpy(),
        levels=[0.5, 1, 2, 3],
        colors="white",
        linewidths=0.9,
    )
    axis.clabel(lines, fmt=lambda level: f"{level:g} %", fontsize=8)
    condition = theory.lemma2_mean_square(np.exp(grid.columns.to_numpy()))
    axis.plot(grid.columns[condition <= 1], condition[condition <= 1], color="white", linewidth=2)
    plots.log_axis(axis, "x")
    axis.axvline(result.facts["threshold"], color="white", linestyle="--", linewidth=1)
    axis.text(result.facts["threshold"] * 1.05, 0.05, "ε = 0.853", color="white", fontsize="small")
    axis.text(0.025, 0.2, "Lemma 2 is optimal", color="white", fontsize="small")
    axis.set(xlabel="ε (nats)", ylabel="squared mean m²")
    figure.colorbar(mesh, ax=axis, label="excess over the optimum (%)")
    return figure


def lemma_3(profile: str = "quick") -> Result:
    """Search both branches of equation (6) for an allocation better than Lemma 3's.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Fineness of the search.

    Returns
    -------
    Result
        One row for each (epsilon, l, d, m^2): excess of Lemma 3 over the best point searched,
        and the sign of the slopes that prove it.
    """
    points = 20 * POINTS[check_profile(profile)]
    rows = []
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0, 6.0):
        for padding in (1, 2, 5, 100):
            for n_keys in (1, 10, 1000):
                exp_epsilon = math.exp(epsilon)
                top = allocation.amplified(exp_epsilon, padding)
                theta0 = (top + 1) / 2
                # Below `least` the value gets no budget on this branch; it is left out.
                least = max(1.0, (padding - 1) * (exp_epsilon - 1) / 2)
                theta = np.linspace(least, top, points + 2)[1:-1]
                numbers = theory.along_grr(theta, exp_epsilon, n_keys, padding)
                used = theory.along_grr(theta0, exp_epsilon, n_keys, padding)
                for mean_square in (0.0, 0.5, 1.0):
                    values = theory.objective(numbers, mean_square)
                    best = values[numbers.keep_sign > 0.5].min()
                    left = theory.lemma3_left_slopes(theta0, exp_epsilon, n_keys, padding)
                    right = theory.lemma3_slope(exp_epsilon, n_keys, padding, mean_square)
                    rows.append(
                        {
                            "epsilon": epsilon,
                            "padding": padding,
                            "n_keys": n_keys,
                            "mean_square": mean_square,
                            "excess": theory.objective(used, mean_square) / best - 1,
                            "slopes_agree": bool(max(left) < 0 < right),
                        }
                    )
    table = pd.DataFrame(rows)
    exact = [
        allocation.compose_grr(*allocation.optimised(exp, padding), padding) == exp
        and allocation.optimised(exp, 1) == allocation.Budgets((exp + 1) / 2, exp)
        for exp in (Fraction(11, 10), Fraction(2), Fraction(20))
        for padding in (1, 2, 5, 100)
    ]
    facts = {
        "cases": len(table),
        "excess": float(table["excess"].max()),
        "slopes_agree": bool(table["slopes_agree"].all()),
        "spends_all": all(exact),
    }
    return Result(profile, table, facts)


def parameters(profile: str = "quick") -> Result:
    """Check the printed probabilities (21) and (24) against the budgets of the lemmas.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same, in exact fractions.

    Returns
    -------
    Result
        One row for each (e^epsilon, d, l).
    """
    check_profile(profile)
    rows = []
    for exp in (Fraction(11, 10), Fraction(2), Fraction(20)):
        for n_keys in (1, 7, 100):
            for padding in (1, 2, 10):
                ue = PCKVUE.from_exp_budgets(
                    *allocation.optimised(exp), n_keys=n_keys, padding=padding
                )
                grr = PCKVGRR.from_exp_budgets(
                    *allocation.optimised(exp, padding), n_keys=n_keys, padding=padding
                )
                lift = padding * (exp - 1)
                width = n_keys + padding
                a = (lift + 2) / (lift + 2 * width)
                printed_ue = (Fraction(1, 2), 2 / (exp + 3), exp / (exp + 1))
                printed_grr = (a, (1 - a) / (width - 1), (lift + 1) / (lift + 2))
                _, q1, q2 = grr.symbol_probabilities
                rows.append(
                    {
                        "exp_epsilon": exp,
                        "n_keys": n_keys,
                        "padding": padding,
                        "ue": (ue.keep_key, ue.fake_key, ue.keep_sign) == printed_ue,
                        "grr": (grr.keep_key, grr.fake_key, grr.keep_sign) == printed_grr,
                        "plain_grr": q1 == q2 == 1 / (lift + 2 * width),
                    }
                )
    table = pd.DataFrame(rows)
    facts = {"cases": len(table), **{c: bool(table[c].all()) for c in ("ue", "grr", "plain_grr")}}
    return Result(profile, table, facts)


def figure_4(profile: str = "quick") -> Result:
    """Values of g and h against epsilon for the three allocations (PCKV-UE).

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same: closed forms.

    Returns
    -------
    Result
        One row for each allocation and epsilon.
    """
    check_profile(profile)
    rows = []
    for rule in ("naive", "non-optimised", "optimised"):
        for epsilon in EPSILONS:
            numbers = theory.Numbers.ue(*allocation.allocate(rule, float(epsilon)))
            rows.append((rule, epsilon, theory.g(numbers), theory.h(numbers)))
    table = pd.DataFrame(rows, columns=["allocation", "epsilon", "g", "h"])
    g, h = (table.pivot(index="epsilon", columns="allocation", values=v) for v in ("g", "h"))
    ratio = (g + h)["optimised"] / (g + h)["non-optimised"]
    facts = {
        "g_smallest": bool((g["optimised"] < g[["naive", "non-optimised"]].min(axis=1)).all()),
        "h_between": bool(
            ((h["non-optimised"] < h["optimised"]) & (h["optimised"] < h["naive"])).all()
        ),
        "sum_smallest": bool((ratio < 1).all()),
        "h_excess_low": float(h["optimised"].iloc[0] / h["non-optimised"].iloc[0] - 1),
        "h_excess_high": float(h["optimised"].iloc[-1] / h["non-optimised"].iloc[-1] - 1),
        "g_gain_low": float(g["non-optimised"].iloc[0] / g["optimised"].iloc[0]),
        "g_gain_high": float(g["non-optimised"].iloc[-1] / g["optimised"].iloc[-1]),
        "sum_ratio_low": float(ratio.iloc[0]),
        "sum_ratio_high": float(ratio.iloc[-1]),
    }
    return Result(profile, table, facts, "closed forms (17), PCKV-UE")


def draw_figure_4(result: Result) -> Figure:
    """Draw g and h against epsilon, one line for each allocation."""
    figure, axes = plots.new_figure(2)
    for axis, column in zip(axes, ("g", "h"), strict=True):
        plots.log_axis(axis)
        plots.lines_with_bands(axis, result.table, x="epsilon", y=column, series="allocation")
        axis.set(xlabel="ε (nats)", ylabel=f"{column} (share of the mean's error)")
    return figure


def figure_5(profile: str = "quick") -> Result:
    """Optimised key and value budgets against epsilon for several padding lengths.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same: closed forms.

    Returns
    -------
    Result
        One row for each padding length and epsilon. Padding 1 is also PCKV-UE at any padding.
    """
    check_profile(profile)
    rows = []
    for padding in (1, 2, 10, 100):
        for epsilon in EPSILONS:
            budgets = allocation.optimised(math.exp(epsilon), padding)
            rows.append((padding, epsilon, budgets.epsilon_key, budgets.epsilon_value))
    table = pd.DataFrame(rows, columns=["padding", "epsilon", "epsilon_1", "epsilon_2"])
    at_one = {padding: allocation.optimised(math.e, padding)[:] for padding in (1, 2, 10, 100)}
    two = allocation.optimised(Fraction(7, 3), 2)
    facts = {
        "at_one": {k: (math.log(x), math.log(y)) for k, (x, y) in at_one.items()},
        "value_never_smaller": bool((table["epsilon_2"] >= table["epsilon_1"]).all()),
        "two_is_epsilon": two.exp_key == Fraction(7, 3),
    }
    return Result(profile, table, facts, "closed forms (20) and (23)")


def draw_figure_5(result: Result) -> Figure:
    """Draw both budgets against epsilon; the diagonal is the total budget."""
    figure, axes = plots.new_figure(2)
    for axis, column, name in zip(
        axes, ("epsilon_1", "epsilon_2"), ("key budget ε₁", "value budget ε₂"), strict=True
    ):
        ends = {}
        for position, (padding, part) in enumerate(result.table.groupby("padding")):
            label = f"l = {padding}"
            look = {**plots.style(label, position), "markevery": 4}
            axis.plot(part["epsilon"], part[column], **look)
            ends[label] = (part["epsilon"].iloc[-1], part[column].iloc[-1])
        axis.plot([0, 6], [0, 6], color=plots.BLACK, linewidth=0.8)
        axis.text(4.2, 3.6, "total ε", fontsize="small", rotation=35)
        axis.set(xlabel="total ε (nats)", ylabel=f"{name} (nats)", xlim=(0, 6.1), ylim=(0, 11))
        figure.canvas.draw()
        plots.label_ends(axis, ends)
    return figure


# --- judges ---------------------------------------------------------------------------------


def _judge_equation_4(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["spends_all"] and facts["key_is_largest"],
        f"spends exactly ε in {facts['cases']} exact cases, and no larger key budget fits",
        "uses up ε for every θ, with the largest ε₁ for its ε₂",
    )


def _judge_falls(result: Result) -> Evidence:
    return exact_if(
        result.facts["falls"],
        "both fall along every family, in exact fractions",
        "ε₂ and ε₁ + ε₂ fall as θ grows",
    )


def _judge_lemma_2(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        DIFFERS if facts["fails_somewhere"] else EXACT,
        f"optimal for every |m| ≤ 1 iff ε ≥ {num(facts['threshold'], 4)}; below, up to "
        f"{num(100 * facts['worst'])} % worse than the optimum",
        "the minimiser of g + h m² for every ε and m",
        note="For m² ≤ 1/2 it is optimal at every ε. The loss stays below "
        f"{num(100 * facts['limit'])} % for every ε and m, and tends to it as ε tends to 0 with "
        "|m| = 1 (proof on the page). The paper's proof could not be read; it may state an "
        "approximation.",
    )


def _judge_both_terms(result: Result) -> Evidence:
    return exact_if(
        result.facts["both_terms_equal"],
        "both equal e^ε exactly, for three values of e^ε",
        "the two terms of the maximum in (3) meet",
    )


def _judge_lemma_3(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["excess"] <= 1e-9 and facts["slopes_agree"] and facts["spends_all"],
        f"no better point on either branch in {facts['cases']} searches; slopes fall before it "
        "and rise after it",
        "the minimiser of g + h m² under (6); Lemma 2 at l = 1",
        "The search agrees with a proof by slopes (on the page); the paper's own proof is lost.",
    )


def _judge_parameters(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["ue"] and facts["grr"] and facts["plain_grr"],
        f"equal in {facts['cases']} exact cases",
        "(21) and (24)",
        "At the optimum PCKV-GRR is plain GRR over the 2 d' pairs of key and sign.",
    )


def _judge_figure_4(result: Result) -> Evidence:
    facts = result.facts
    ordered = facts["g_smallest"] and facts["h_between"] and facts["sum_smallest"]
    little = facts["h_excess_low"] < 0.25
    verdict = EXACT if ordered and little else SHAPE_ONLY if ordered else DIFFERS
    return Evidence(
        verdict,
        f"g smaller by a factor {num(facts['g_gain_low'], 2)} at ε = 0.1 to "
        f"{num(facts['g_gain_high'], 3)} at 6; h larger by "
        f"{num(100 * facts['h_excess_low'], 3)} % at 0.1 to {num(100 * facts['h_excess_high'], 2)} "
        "% at 6",
        "much smaller g; h a little larger than non-optimised",
        note="All orderings hold, and g + h is smallest at every ε. h is not a little larger at "
        "small ε, and g not much smaller at large ε.",
    )


def _judge_figure_5(result: Result) -> Evidence:
    facts = result.facts
    shown = "; ".join(
        f"l = {padding}: {num(key)}, {num(value)}"
        for padding, (key, value) in facts["at_one"].items()
    )
    return exact_if(
        facts["value_never_smaller"] and facts["two_is_epsilon"],
        f"(ε₁, ε₂) at ε = 1: {shown}",
        "the formulas of Lemmas 2 and 3",
        "Only the topic of the figure survives; its curves are the closed forms. For l = 2, "
        "ε₁ = ε exactly.",
    )


CLAIMS = (
    Claim(
        id="pckv-eq-4",
        paper="pckv",
        label="Equation (4) (pckv-8)",
        kind="equation",
        mark="found",
        statement="The one-parameter family of allocations (4) uses up the budget, and gives the "
        "key the largest share that its value budget leaves.",
        run=equation_4,
        judge=_judge_equation_4,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-eq-4-falls",
        paper="pckv",
        label="Along equation (4) (pckv-32)",
        kind="statement",
        mark="text",
        statement="A larger key budget leaves a smaller value budget and a smaller sum.",
        run=equation_4,
        judge=_judge_falls,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-lemma-2",
        paper="pckv",
        label="Lemma 2, equation (20) (pckv-33)",
        kind="lemma",
        mark="found",
        statement="For PCKV-UE the best allocation is ε₁ = ln((e^ε + 1)/2), ε₂ = ε.",
        run=lemma_2,
        judge=_judge_lemma_2,
        page=PAGE,
        recorded=always(DIFFERS),
    ),
    Claim(
        id="pckv-lemma-2-terms",
        paper="pckv",
        label="Lemma 2 makes both terms equal (pckv-34)",
        kind="statement",
        mark="text",
        statement="At Lemma 2's allocation both terms of the maximum in Theorem 2 equal ε.",
        run=lemma_2,
        judge=_judge_both_terms,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-lemma-3",
        paper="pckv",
        label="Lemma 3, equation (23) (pckv-36)",
        kind="lemma",
        mark="found",
        statement="For PCKV-GRR the best allocation is ε₁ = ln(l(e^ε - 1)/2 + 1), "
        "ε₂ = ln(l(e^ε - 1) + 1); with l = 1 it is Lemma 2's.",
        run=lemma_3,
        judge=_judge_lemma_3,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-parameters",
        paper="pckv",
        label="Perturbation probabilities (21), (24) (pckv-37)",
        kind="equation",
        mark="found",
        statement="The probabilities a, b, p printed for both mechanisms follow from the lemmas.",
        run=parameters,
        judge=_judge_parameters,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-fig-4",
        paper="pckv",
        label="Figure 4 (pckv-35)",
        kind="figure",
        mark="text",
        statement="The optimised allocation has a much smaller g than the other two, and an h a "
        "little larger than the non-optimised one; the gain in g prevails.",
        run=figure_4,
        judge=_judge_figure_4,
        page=PAGE,
        recorded=always(SHAPE_ONLY),
    ),
    Claim(
        id="pckv-fig-5",
        paper="pckv",
        label="Figure 5 (pckv-38)",
        kind="figure",
        mark="found",
        statement="The optimised budgets of both mechanisms, against the total budget.",
        run=figure_5,
        judge=_judge_figure_5,
        page=PAGE,
        recorded=always(EXACT),
    ),
)
