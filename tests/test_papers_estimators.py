"""Pages 01 and 03, and the second half of 04: claims, judges and the law behind them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F
from functools import cache

import numpy as np
import planted
import pytest
from statistical import FALSE_ALARM, assert_plausible, binomial_tail

from ldpkv import theory
from ldpkv.mechanisms import PCKVGRR, PCKVUE, padded_symbol_law
from ldpkv.papers import evidence, plots
from ldpkv.papers.pckv import choice, estimators, sampling
from ldpkv.sampling import pad_and_sample
from ldpkv.theory import Numbers

CLAIMS = {c.id: c for c in (*sampling.CLAIMS, *estimators.CLAIMS, *choice.CLAIMS)}


@cache
def computed(run) -> evidence.Result:
    return run("quick")


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_claims_have_their_recorded_verdict(claim: evidence.Claim) -> None:
    result = computed(claim.run)
    found = claim.judge(result)
    assert found.verdict == claim.recorded["quick", result.source]
    assert set(claim.recorded) == {(p, result.source) for p in evidence.PROFILES}
    json.dumps([found.measured, found.note, found.false_alarm])
    assert (found.false_alarm > 0) == (found.verdict == evidence.WITHIN_ERROR)
    assert claim.statement.endswith(".")


# A judge must be able to say no: each broken fact changes its claim's verdict.
BROKEN = [
    ("pckv-alg-1", {"mean_kept": False}),
    ("pckv-alg-1", {"rate": False}),
    ("pckv-alg-1-one-draw", {"law": False}),
    ("pckv-alg-1-one-draw", {"nested": False}),
    ("pckv-sampling-rate", {"constant": False}),
    ("pckv-unreported-keys", {"equal": False}),
    ("pckv-unsampled-keys", {"frequent": 0.1}),
    ("pckv-truncated-mean", {"example_mean": F(0)}),
    ("pckv-truncated-mean", {"weights_agree": False}),
    ("pckv-eq-7", {"unbiased": 13}),
    ("pckv-fake-values", {"fake_zero": 39}),
    ("pckv-eq-8", {"two_forms": False}),
    ("pckv-thm-4-eq-9", {"printed_above": 10}),
    ("pckv-thm-4-corrected", {"smallest_p": 1e-7}),
    ("pckv-thm-4-corrected", {"smallest_p_mean": 1e-7}),
    ("pckv-thm-4-corrected", {"printed_rejected": 0}),
    ("pckv-thm-4-corrected", {"mean_printed_rejected": 0}),
    ("pckv-thm-4-eq-10", {"bias_gap_shrinks": False}),
    ("pckv-thm-4-eq-11", {"fixed_below": False}),
    ("pckv-consistency", {"variance_vanishes": False}),
    ("pckv-out-of-range", {"mean_large": 0.0}),
    ("pckv-lemma-1", {"lemma_1": 55}),
    ("pckv-eq-14", {"difference": False}),
    ("pckv-alg-4", {"inside": False}),
    ("pckv-alg-4-frequency", {"frequency_raised": 1}),
    ("pckv-alg-4-mean", {"mean_raised": 0}),
    ("pckv-alg-4-code", {"largest_difference": 0.0}),
    ("pckv-eq-18", {"worst_small_delta": 0.05}),
    ("pckv-first-order-region", {"mse_off": 0.2}),
    ("pckv-mean-dominates", {"factor": False}),
    ("pckv-long-lists", {"variance": False}),
    ("pckv-key-budget", {"value_does_not_matter": False}),
    ("pckv-key-budget-limit", {"g_unbounded": False}),
    ("pckv-ue-or-grr", {"wrong": 1}),
    ("pckv-ue-or-grr-simulated", {"reversed": 1}),
    ("pckv-ue-or-grr-simulated", {"grr_wins": 0}),
    ("pckv-better-a", {"always_gains": False}),
]


@pytest.mark.parametrize(("id", "broken"), BROKEN, ids=[f"{i}-{next(iter(b))}" for i, b in BROKEN])
def test_judges_can_say_no(id: str, broken: dict) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    assert set(broken) <= set(result.facts)
    worse = replace(result, facts={**result.facts, **broken})
    assert claim.judge(worse).verdict != claim.judge(result).verdict


def test_every_judge_is_broken_once() -> None:
    assert {id for id, _ in BROKEN} == set(CLAIMS)


def verdict(id: str) -> str:
    claim = CLAIMS[id]
    return claim.judge(claim.run("quick")).verdict


# --- planted errors: the computation, not only the judge, must see them ----------------------


def test_a_law_that_loses_the_dummies_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def unpadded(user, n_keys, padding):
        law = padded_symbol_law(user, n_keys, padding)
        law[2 * n_keys :] = F(0)
        return law

    monkeypatch.setattr(sampling, "padded_symbol_law", unpadded)
    assert verdict("pckv-alg-1") == "differs"


def test_a_dropped_sampling_term_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation rejects (9), and the enumeration counts how often it is wrong."""
    printed = theory.frequency_variance_printed
    monkeypatch.setattr(
        theory, "frequency_variance", lambda numbers, f, n, users="fixed": printed(numbers, f, n)
    )
    assert verdict("pckv-thm-4-corrected") == "differs"
    assert estimators.enumeration().facts["corrected"] < len(estimators.enumeration().table)


def test_the_spread_of_values_is_seen() -> None:
    """By the same test, (11) as an equality for fixed users is rejected somewhere."""
    facts = computed(estimators.simulation).facts
    assert facts["mean_printed_rejected"] > 0


@pytest.mark.parametrize("defect", ["swapped", "fakes"])
def test_wrong_channels_are_seen(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = estimators._mechanisms

    def wrong(*arguments):
        for mechanism in right(*arguments):
            if defect == "swapped":
                yield planted.swapped_signs(mechanism)
            elif isinstance(mechanism, PCKVUE):
                yield planted.NoFakeValues(**mechanism.__dict__)
            else:
                yield planted.SignKeptOnFakeKey(**mechanism.__dict__)

    monkeypatch.setattr(estimators, "_mechanisms", wrong)
    if defect == "fakes":
        assert verdict("pckv-fake-values") == "differs"
        assert verdict("pckv-lemma-1") == "differs"
        assert verdict("pckv-eq-7") == "differs"
    else:
        # Swapped on both sides, estimators stay unbiased: the server knows p.
        assert verdict("pckv-lemma-1") == "exact"


def test_a_wrong_crossover_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = theory.crossover_frequency
    monkeypatch.setattr(theory, "crossover_frequency", lambda e, l: 1000 * right(e, l))  # noqa: E741
    assert verdict("pckv-ue-or-grr") == "differs"
    assert verdict("pckv-ue-or-grr-simulated") == "differs"


# --- independent numbers ---------------------------------------------------------------------


def test_algorithm_1_by_hand() -> None:
    law = sampling._follow({0: F(1, 2), 2: F(-1)}, 3, 4)
    assert law.tolist() == [F(3, 16), F(1, 16), 0, 0, 0, F(1, 4), *[F(1, 16)] * 8]
    law = sampling._follow({0: F(1, 2), 2: F(-1)}, 3, 1)
    assert law.tolist() == [F(3, 8), F(1, 8), 0, 0, 0, F(1, 2), 0, 0]


def test_unsampled_share_against_simulation() -> None:
    """A key with three holders is missed as often as the product of 1 - 1/max(|S|, l) says."""
    data = sampling._with_lengths(np.array([1, 3, 6]), np.array([1.0, 0.0, -1.0]), 6)
    trials, generator = 20_000, np.random.default_rng(1)
    missed = 0
    for _ in range(trials):
        codes = pad_and_sample(data, rng=generator).pad(2).codes
        missed += not (codes < 2).any()
    expected = (1 - 1 / 2) * (1 - 1 / 3) * (1 - 1 / 6)
    assert_plausible(binomial_tail(missed, trials, expected))
    assert binomial_tail(missed, trials, (1 - 1 / 2) * (1 - 1 / 3)) < FALSE_ALARM


def test_smallest_example_of_equation_9() -> None:
    facts = computed(estimators.enumeration).facts
    assert facts["example_exact"] == 15
    assert facts["example_printed"] == 14
    assert facts["worst_ratio"] == pytest.approx(24.04, abs=0.01)


def test_key_law_of_both_mechanisms() -> None:
    a, b, p = F(1, 2), F(1, 4), F(5, 7)
    mechanism = PCKVUE.from_exp_budgets(F(3), F(5, 2), n_keys=2, padding=1)
    assert Numbers.of(mechanism) == (a, b, p, 1)
    assert estimators.key_law(mechanism, {0: F(1)}, 0) == [a * p, a * (1 - p), 1 - a]
    assert estimators.key_law(mechanism, {0: F(1)}, 1) == [b / 2, b / 2, 1 - b]
    mechanism = PCKVGRR.from_exp_budgets(F(3), F(5, 2), n_keys=2, padding=1)
    a, b = F(3, 5), F(1, 5)
    assert estimators.key_law(mechanism, {1: F(0)}, 1) == [a / 2, a / 2, 1 - a]
    assert estimators.key_law(mechanism, {1: F(0)}, 0) == [b / 2, b / 2, 1 - b]


def test_chances_outside_against_a_plain_sum() -> None:
    numbers, n = Numbers(0.5, 0.25, 0.8, 2), 9
    moments = theory.moments_iid(numbers, 0.4, 0.5, n)
    plus = (moments.support + moments.difference) / 2
    minus = (moments.support - moments.difference) / 2
    laws = [[plus, minus, 1 - moments.support]] * n
    low = high = outside = 0.0
    for (n1, n2), chance in estimators.counts_law(laws).items():
        plain, far = estimators._calibrated(numbers, n1, n2, n)
        frequency = 2 * (plain + far) / n
        low += chance * (frequency < 0)
        high += chance * (frequency > 1)
        outside += chance * (abs(plain - far) > abs(plain + far))
    found = estimators._chance_outside(numbers, 0.4, 0.5, n)
    assert found == pytest.approx((low, high, outside), rel=1e-12)


def test_correction_can_hurt_a_key_that_everybody_holds() -> None:
    """By simulation, independently of `exact_errors`: n = 4000, UE at epsilon = 6, m = 0.9."""
    mechanism = PCKVUE.from_epsilon(6.0, n_keys=1, padding=1)
    n, repeats, generator = 4000, 4000, np.random.default_rng(5)
    squares = {"paper": [], "none": []}
    for _ in range(repeats):
        # A value of 0.9 is sent as +1 by each user with probability 0.95.
        plus = generator.binomial(n, 0.95)
        table = np.array([[plus, n - plus], [0, 0]])
        counts = mechanism.simulate_counts(table, rng=generator)
        for kind, errors in squares.items():
            errors.append((mechanism.estimate(counts, correction=kind).mean[0] - 0.9) ** 2)
    difference = np.array(squares["paper"]) - np.array(squares["none"])
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(repeats))
    assert t > 10
    ratio = np.mean(squares["paper"]) / np.mean(squares["none"])
    assert ratio == pytest.approx(2.02, abs=0.25)


def test_the_quality_map_knows_the_published_points() -> None:
    """Numbers found by an independent script, in the notes on the paper."""
    facts = computed(estimators.quality).facts
    assert facts["frequency"] == pytest.approx(1.50, abs=0.005)
    assert facts["mean"] == pytest.approx(1.47, abs=0.005)


def test_better_a_in_numbers() -> None:
    at_one = computed(choice.keep_key).facts["at_one"]
    assert at_one[0.0] == pytest.approx((0.650, 0.155), abs=1e-3)
    assert at_one[0.25] == pytest.approx((0.650, 0.084), abs=1e-3)
    assert at_one[1.0] == pytest.approx((0.577, 0.021), abs=1e-3)


@pytest.mark.parametrize("epsilon", [1.7, 2.0, 3.0, 4.0, 6.0])
def test_better_a_saves_one_over_theta_squared(epsilon: float) -> None:
    """At m = 0 and theta >= 3, in closed form; at other means less."""
    theta = (np.exp(epsilon) + 1) / 2
    assert choice._gain(np.exp(epsilon), 0.0)[1] == pytest.approx(theta**-2, rel=1e-6)
    for square in (0.1, 0.5, 1.0):
        assert 0 < choice._gain(np.exp(epsilon), square)[1] < theta**-2


def test_better_a_at_three_and_four() -> None:
    facts = computed(choice.keep_key).facts
    assert facts["gain_at_3"] == pytest.approx(0.0090, abs=5e-5)
    assert facts["gain_at_4"] == pytest.approx(0.00129, abs=5e-6)
    table = computed(choice.keep_key).table
    for epsilon, name in ((3, "gain_at_3"), (4, "gain_at_4")):
        assert table["gain"][table["epsilon"] >= epsilon].max() <= facts[name]


def test_lemma_2_loses_less_than_the_limit() -> None:
    """The proof on page 04, step by step: the bound L(R), and its limit for small budgets."""

    def bound(root: np.ndarray) -> np.ndarray:
        return np.where(root > 1, 4 * (1 + root**3) / (1 + root) ** 3 - 1, 0)

    square = np.linspace(0, 1, 21)
    most = 12 / (1 + 2 ** (1 / 3)) ** 3 - 1
    for epsilon in (1e-4, 1e-2, 0.1, 0.3, 0.6, 0.8, 2.0):
        theta = (np.exp(epsilon) + 1) / 2
        loss = theory.lemma2_loss(np.exp(epsilon), square)
        limit = bound(np.cbrt(square * (1 + 1 / theta)))
        assert (loss <= limit + 1e-9).all()
        assert (limit < most).all()
    nearly = theory.lemma2_loss(np.exp(1e-4), square)
    assert nearly == pytest.approx(bound(np.cbrt(2 * square)), abs=5e-5)


def test_the_lowest_case_of_fixed_users_is_named() -> None:
    facts = computed(estimators.first_order).facts
    assert facts["fixed_lowest"] == pytest.approx(0.712, abs=1e-3)
    assert facts["fixed_lowest_case"].startswith("PCKV-GRR, 8 users, f = 0.5, l = 1, ε₁ = ln 20")
    assert computed(estimators.enumeration).facts["cases_a_budget"] == 14


def test_simulations_repeat_with_the_seed_and_change_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choice, "SETTINGS", ((5, 1, 1.0), (5, 2, 4.0)))
    once, again = choice.duel("quick", 7), choice.duel("quick", 7)
    other = choice.duel("quick", 8)
    assert once.table.equals(again.table)
    assert not once.table.equals(other.table)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: sampling.draw_sampling_rates(computed(sampling.sampling_rates)),
        lambda: sampling.draw_unreported_keys(computed(sampling.unreported_keys)),
        lambda: sampling.draw_truncation(computed(sampling.truncation)),
        lambda: estimators.draw_simulation(computed(estimators.simulation)),
        lambda: estimators.draw_outliers(computed(estimators.outliers)),
        lambda: estimators.draw_clipping(computed(estimators.clipping)),
        lambda: estimators.draw_quality(computed(estimators.quality)),
        lambda: choice.draw_along_the_budget(computed(choice.along_the_budget)),
        lambda: choice.draw_crossovers(computed(choice.crossovers), computed(choice.duel)),
        lambda: choice.draw_keep_key(computed(choice.keep_key)),
    ],
)
def test_figures_are_drawn(draw) -> None:
    figure = draw()
    assert all(axis.get_xlabel() for axis in figure.axes[:1])
    plots.plt.close(figure)


@pytest.mark.parametrize(
    ("summarise", "run"),
    [
        (sampling.rate_table, sampling.algorithm_1),
        (sampling.unsampled_table, sampling.unsampled_keys),
        (estimators.variance_table, estimators.enumeration),
        (estimators.first_order_table, estimators.first_order),
        (estimators.correction_table, estimators.correction),
        (choice.duel_table, choice.duel),
    ],
)
def test_tables_fit_a_page(summarise, run) -> None:
    table = summarise(computed(run))
    assert 0 < len(table) <= 20
    assert table.shape[1] <= 7


@pytest.mark.parametrize(
    "run", dict.fromkeys(c.run for c in CLAIMS.values()), ids=lambda run: run.__name__
)
def test_unknown_profiles_are_refused(run) -> None:
    with pytest.raises(ValueError, match="profile must be one of"):
        run("qick")
