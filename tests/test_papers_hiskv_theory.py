"""HISKV pages 01 to 03: claims, judges, and the laws behind them."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import replace
from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest
from statistical import assert_rejected, binomial_tail

from ldpkv import hiskv, theory
from ldpkv.hiskv import LRRKV, LengthEstimate
from ldpkv.papers import evidence, plots
from ldpkv.papers.hiskv import mechanism, privacy, utility

CLAIMS = {c.id: c for c in (*mechanism.CLAIMS, *privacy.CLAIMS, *utility.CLAIMS)}
NUMBERS = (
    {1, 2, 3, 4, 6, 16, 23, 24, 39, 40, 42}
    | {9, 10, 11, 12, 36}
    | {7, 8, 13, 14, 15, 17, 18, 19, 20, 41, 44, 46}
)


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
    assert result.setting


def test_every_number_has_its_claim() -> None:
    labels = " ".join(c.label for c in CLAIMS.values())
    words = labels.replace("(", " ").replace(")", " ").split()
    assert {int(w[6:]) for w in words if w.startswith("hiskv-")} == NUMBERS


def test_what_rests_on_lost_numbers_says_so() -> None:
    """A verdict about the paper that depends on q1 and q2 names the readings, or none is needed."""
    for id in ("hiskv-alg-2", "hiskv-thm-2", "hiskv-thm-3-frequency", "hiskv-thm-3-mean"):
        found = CLAIMS[id].judge(computed(CLAIMS[id].run))
        assert "reading" in (found.measured + found.note).lower(), id
    for claim in CLAIMS.values():
        if claim.mark == "derived" and "hiskv-" in claim.label and claim.id != "hiskv-alg-3":
            assert claim.statement.startswith("Restored"), claim.id


# A judge must be able to say no: each broken fact changes its claim's verdict.
BROKEN = [
    ("hiskv-table-1", {"k2_mean": F(3, 5)}),
    ("hiskv-table-1", {"send_plus": F(2, 5)}),
    ("hiskv-fig-2-mean", {"k2_bucket_mean": F(1)}),
    ("hiskv-empty-reports", {"absent": {"KVUE": F(5, 7)}}),
    ("hiskv-alg-3", {"short_right": 0}),
    ("hiskv-alg-3", {"library": 0}),
    ("hiskv-alg-3-dummies", {"collides": 0}),
    ("hiskv-alg-2", {"fit_all": 1}),
    ("hiskv-identity", {"same_law": 52}),
    ("hiskv-identity", {"same_epsilon": 52}),
    ("hiskv-linked", {"same_law": 52}),
    ("hiskv-budget-split", {"one_grr": 0}),
    ("hiskv-budget-split", {"sum_above": 0}),
    ("hiskv-wrong-cells", {"printed_above": 8}),
    ("hiskv-eq-6", {"root": 1}),
    ("hiskv-eq-6", {"peak": 1}),
    ("hiskv-eq-6", {"lengths": 1}),
    ("hiskv-eq-8", {"equation_8": 1}),
    ("hiskv-eq-8", {"others_cancel": 1}),
    ("hiskv-communication", {"one_cell": False}),
    ("hiskv-thm-1", {"equal": 0}),
    ("hiskv-definition-1", {"breached": 0}),
    ("hiskv-definition-1", {"closed": False}),
    ("hiskv-thm-2", {"large_bce": 0.0}),
    ("hiskv-set-level", {"equal": 1}),
    ("hiskv-padding-privacy", {"amplified": 1}),
    ("hiskv-position", {"sent_equal_pair": 1}),
    ("hiskv-corrected", {"promise": 1}),
    ("hiskv-whole", {"in_budget": 2}),
    ("hiskv-whole", {"laws": False}),
    ("hiskv-composition", {"parallel": 1}),
    ("hiskv-composition", {"below_sequential": 1}),
    ("hiskv-thm-3-frequency", {"long_low": 0}),
    ("hiskv-eq-7", {"equation_7": 1}),
    ("hiskv-thm-3-mean", {"one_user_biased": False}),
    ("hiskv-thm-4", {"right_b": 1}),
    ("hiskv-thm-5", {"pieces": (52, 53)}),
    ("hiskv-thm-5", {"shrinks": False}),
    ("hiskv-thm-5", {"variance_gap": 0.02}),
    ("hiskv-thm-6", {"covered": 1}),
    ("hiskv-thm-6", {"rate_high": 5.0}),
    ("hiskv-thm-7", {"mean_covered": 1}),
    ("hiskv-thm-7", {"infinite_where_expected": False}),
    ("hiskv-deviation-measured", {"smallest_p": 1e-6}),
    ("hiskv-deviation-measured", {"quarter_seen": 3}),
    ("hiskv-larger-q1-frequency", {"falls": 1}),
    ("hiskv-larger-q1-mean", {"rises": 1}),
    ("hiskv-oetl-variance", {"held_right": 18}),
    ("hiskv-padding-length", {"mean_raised": F(-1, 3)}),
    ("hiskv-domain", {"shapes": {"GRR": "rises", "RAPPOR, one-hot": "rises"}}),
    ("hiskv-domain-indexed", {"shapes": {"KVOH": "flat", "LDPKV (a guess)": "rises"}}),
    ("hiskv-harmony-range", {"harmony": F(1)}),
    ("hiskv-domain-pckv-grr", {"grr_slope_closed": False}),
    ("hiskv-domain-pckv-grr", {"grr_enumerated": False}),
]
# By reading of two texts only: there is nothing that could come out otherwise.
READ_ONLY = {"hiskv-no-rule"}


@pytest.mark.parametrize(("id", "broken"), BROKEN, ids=[f"{i}-{next(iter(b))}" for i, b in BROKEN])
def test_judges_can_say_no(id: str, broken: dict) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    assert set(broken) <= set(result.facts)
    worse = replace(result, facts={**result.facts, **broken})
    assert claim.judge(worse).verdict != claim.judge(result).verdict


def test_every_judge_is_broken_once() -> None:
    assert {id for id, _ in BROKEN} == set(CLAIMS) - READ_ONLY
    assert all(set(CLAIMS[id].recorded.values()) == {evidence.NOT_CHECKABLE} for id in READ_ONLY)


def verdict(id: str) -> str:
    claim = CLAIMS[id]
    return claim.judge(claim.run("quick")).verdict


# --- planted errors: the computation, not only the judge, must see them ----------------------


@pytest.fixture
def numbers_without_l(monkeypatch: pytest.MonkeyPatch) -> None:
    right = LRRKV.numbers.fget
    monkeypatch.setattr(LRRKV, "numbers", property(lambda self: right(self)._replace(padding=1)))


def test_a_lost_factor_l_is_seen(numbers_without_l: None) -> None:
    result = utility.theorem_3()
    short = result.table[result.table["users"] == "short"]
    wrong = short["expected"] != short["true"]
    assert wrong.any()
    # Where l > 1 it is wrong, and only there: the padding column has become 1 everywhere.
    assert result.facts["fit_unbiased"] < result.facts["fit_cases"]


def test_a_wrong_position_law_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sending the place changes the set-level ratio: a closed form that forgets it is refused."""
    right = LRRKV.exp_epsilon

    def forgets(self, level="set", *, empty=False):
        return right(dataclasses.replace(self, send_position=True), level, empty=empty)

    monkeypatch.setattr(LRRKV, "exp_epsilon", forgets)
    assert verdict("hiskv-set-level") == "differs"


def test_another_channel_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that keeps signs with 1 - p is not the same mechanism."""
    right = LRRKV.to_pckv_grr

    def turned(self):
        twin = right(self)
        return dataclasses.replace(twin, keep_sign=1 - twin.keep_sign)

    monkeypatch.setattr(LRRKV, "to_pckv_grr", turned)
    assert verdict("hiskv-identity") == "differs"


def test_a_wrong_lemma_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hiskv, "lemma1_excess", lambda tilt, cells: 1 / tilt)
    assert not privacy.lemma_1().facts["closed"]


def test_wrong_lengths_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """OETL over one length too many: its probabilities no longer fit the promise."""
    right = LengthEstimate.from_exp_budgets.__func__

    def wide(cls, exp_epsilon, *, n_keys, empty="refuse", **rule):
        stage = right(cls, exp_epsilon, n_keys=n_keys, empty=empty, **rule)
        p = stage.keep_length + stage.fake_length / 2
        q = (1 - p) / (stage.n_lengths - 1)
        return dataclasses.replace(stage, keep_length=p, fake_length=q)

    monkeypatch.setattr(LengthEstimate, "from_exp_budgets", classmethod(wide))
    assert verdict("hiskv-thm-1") == "differs"


def test_a_variance_without_its_sampling_term_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = theory.frequency_variance_printed
    monkeypatch.setattr(
        theory, "frequency_variance", lambda numbers, f, n, users="fixed": printed(numbers, f, n)
    )
    facts = utility.theorem_4().facts
    assert facts["right_a"] == facts["cases"]
    assert facts["right_b"] < facts["cases"]
    assert verdict("hiskv-thm-4") == "differs"


def test_a_bound_without_its_factor_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both bounds a quarter as wide: the exact laws and the simulation refuse them."""
    frequency, mean = hiskv.frequency_deviation, hiskv.mean_deviation
    monkeypatch.setattr(hiskv, "frequency_deviation", lambda *x: frequency(*x) / 4)
    monkeypatch.setattr(hiskv, "mean_deviation", lambda *x: mean(*x) / 4)
    result = utility.deviations()
    for id in ("hiskv-thm-6", "hiskv-thm-7"):
        assert CLAIMS[id].judge(result).verdict == "differs"
    assert verdict("hiskv-deviation-measured") == "differs"


def test_the_exact_coverage_is_that_of_the_estimator(rng: np.random.Generator) -> None:
    """Both coverages against a simulation of the counts; a wrong level is refused."""
    numbers = LRRKV.from_epsilon(1.6, n_keys=5, padding=2, reading="B").numbers
    f, m, n, times = 0.5, 0.4, 3000, 20_000
    moments = theory.moments_iid(numbers, f, m, n)
    law = [(moments.support + s * moments.difference) / 2 for s in (1, -1)]
    plus, minus, _ = rng.multinomial(n, [*law, 1 - sum(law)], size=times).T
    a, b, p, padding = numbers
    frequency = padding * ((plus + minus) / n - b) / (a - b)
    mean = (plus - minus) * (a - b) / (a * (2 * p - 1) * (plus + minus - n * b))
    for errors, exact, bound in (
        (frequency - f, utility._frequency_coverage, 0.08),
        (mean - m, utility._mean_coverage, 0.3),
    ):
        given = (numbers, f, n, bound) if exact is utility._frequency_coverage else None
        chance = exact(*given) if given else exact(numbers, f, m, n, bound)
        hits = int((np.abs(errors) <= bound).sum())
        assert 0.3 < chance < 0.999
        assert binomial_tail(hits, times, chance) >= 1e-9
        assert_rejected(binomial_tail(hits, times, 1 - (1 - chance) / 2), "half the misses")


# --- what the pages say ----------------------------------------------------------------------


def test_readings_follow_their_names() -> None:
    for letter in mechanism.PRINTED:
        m = mechanism.reading(letter, F(4), 4, 2)
        assert m == LRRKV.from_exp_budgets(F(4), n_keys=4, padding=2, reading=letter)
    v = mechanism.reading("V(c)", F(4), 4, 2)
    assert v is not None
    assert v.p1 / v.q2 == 4
    assert v.q1 / v.q2 == 2
    assert mechanism.reading("B", F(25), 1, 1) is None


def test_the_printed_example_is_the_texts() -> None:
    assert [len(user) for user in mechanism.TABLE_1] == [5, 2, 1]
    assert [set(user) for user in mechanism.TABLE_1] == [
        set(signs) for signs in mechanism.PRINTED_SIGNS
    ]
    # A good's bucket mean has the Table's mean for expectation, not for value.
    chances = [(1 + user[1]) / 2 for user in mechanism.TABLE_1[:2]]
    expected = sum(2 * p - 1 for p in chances) / 2
    assert expected == F(61, 100)


def test_numbers_of_the_notes() -> None:
    """Numbers of the audit: breach, spent budget, coverage, loss of the mean."""
    breach = computed(privacy.breach).facts
    assert breach["large_bce"] == pytest.approx(0.034, abs=5e-4)
    assert (breach["small_b"], breach["small_c"]) == pytest.approx((0.503, 1.144), abs=6e-4)
    spent = computed(privacy.spent_budget).facts
    assert (spent["spent_a"], spent["spent_d"]) == pytest.approx((0.1015, 2.968), abs=6e-4)
    rescue = computed(privacy.rescue).facts
    assert (rescue["a"], rescue["bce"], rescue["d_never"], rescue["c_small"]) == (True, True, 4, 3)
    assert computed(utility.tilt).facts["at_root_frequency"] == pytest.approx(1.71, abs=0.006)
    assert computed(utility.theorem_4).facts["most_lifted"] > 1.7
    assert math.isclose(computed(utility.ratio).facts["relative_plain"] * 0.9, 198, rel_tol=2e-3)


@pytest.mark.parametrize(
    ("draw", "run"),
    [
        (mechanism.draw_buckets, mechanism.example),
        (mechanism.draw_tree, mechanism.readings),
        (privacy.draw_breach, privacy.breach),
        (privacy.draw_spent, privacy.spent_budget),
        (utility.draw_ratio, utility.ratio),
        (utility.draw_bounds, utility.bound_curves),
        (utility.draw_tilt, utility.tilt),
        (utility.draw_domain, utility.domain),
    ],
)
def test_figures_draw(draw, run) -> None:
    plots.plt.close(draw(computed(run)))


@pytest.mark.parametrize(
    ("table", "run"),
    [
        (mechanism.example_table, mechanism.example),
        (mechanism.readings_table, mechanism.readings),
        (privacy.set_table, privacy.set_level),
        (privacy.rescue_table, privacy.rescue),
        (privacy.composition_table, privacy.composition),
        (utility.versions_table, utility.theorem_4),
        (utility.padding_table, utility.padding_length),
    ],
)
def test_tables_fit_a_page(table, run) -> None:
    found = table(computed(run))
    assert 0 < found.shape[1] <= 7
    assert len(found)
    assert len(mechanism.survival_table().columns) <= 7


def test_unknown_profile_is_refused() -> None:
    for run in {claim.run for claim in CLAIMS.values()}:
        with pytest.raises(ValueError, match="profile must be one of"):
            run("qick")
