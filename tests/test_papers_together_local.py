"""The page on local mechanisms under audit: laws, structure, floors, verdicts, planted defects."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import NoFakeValues
from statistical import assert_plausible, assert_rejected, binomial_tail, goodness_of_fit

from ldpkv import allocation, hiskv, privacy
from ldpkv.auditing.information import information_floor
from ldpkv.baselines import GRR, KVUE, UE, PrivKVM
from ldpkv.hiskv import LRRKV, LengthEstimate
from ldpkv.mechanisms import PCKVUE
from ldpkv.papers import evidence, plots
from ldpkv.papers.together import local as page
from ldpkv.tradeoff import PureDP

CLAIMS = {claim.id: claim for claim in page.CLAIMS}
SAMPLES = 20_000


@functools.cache
def computed(run) -> evidence.Result:
    return run("quick")


@pytest.mark.parametrize("id", CLAIMS)
def test_recorded_verdict(id: str) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    found = claim.judge(result)
    assert found.verdict == claim.recorded[result.profile, result.source], found
    json.dumps(asdict(found))
    assert claim.page == page.PAGE and claim.paper == "together" and claim.mark == "own"


def fact(**broken):
    return lambda facts: {**facts, **broken}


def in_view(view: str, **broken):
    return lambda facts: {**facts, view: {**facts[view], **broken}}


# A judge must be able to say no: each broken fact changes its claim's verdict.
BROKEN = [
    ("exact", fact(below=1)),
    ("exact", fact(over=1)),
    ("unused", fact(reached=["RR"])),
    ("unused", fact(reached=["GRR", "Harmony", "KVUE", "OETL", "RR"])),
    ("structure", fact(different=1)),
    ("structure", fact(different_sent=0)),
    ("lists", fact(gap=0.01)),
    ("lists", fact(full_gap=0.01)),
    ("lists", fact(full_finite=1)),
    ("floor", fact(least_bce=1e5)),
    ("floor", fact(largest_d=200.0)),
    ("null", fact(p=1e-9)),
    ("null", fact(pooled=1e-9)),
    ("caught", in_view("ratio", p=1e-9)),
    ("score", in_view("score", p=1e-9)),
    ("black-box", in_view("report", p=1e-9)),
    ("missed", fact(p=1e-9)),
    ("no-better", fact(z=99.0)),
]


@pytest.mark.parametrize(
    ("id", "change"), BROKEN, ids=[f"{i}-{n}" for n, (i, _) in enumerate(BROKEN)]
)
def test_judges_can_say_no(id: str, change) -> None:
    claim = CLAIMS[f"together-ldp-{id}"]
    result = computed(claim.run)
    worse = replace(result, facts=change(dict(result.facts)))
    assert claim.judge(worse).verdict != claim.judge(result).verdict


def test_every_judge_is_broken_once() -> None:
    assert {f"together-ldp-{id}" for id, _ in BROKEN} == set(CLAIMS)


# --- laws by structure --------------------------------------------------------------------------


def mechanisms(n_keys: int, padding: int) -> list:
    found = [(name, m) for name, m, _ in page.keepers(page.ROOT, n_keys, padding)]
    for letter, sent, dummies in itertools.product("BD", (False, True), hiskv.DUMMIES):
        mechanism = LRRKV.from_exp_budgets(
            page.EXP,
            n_keys=n_keys,
            padding=padding,
            reading=letter,
            send_position=sent,
            dummies=dummies,
        )
        found.append((f"HISKV {letter} {sent} {dummies}", mechanism))
    return found


def users_for(mechanism) -> list:
    if isinstance(mechanism, GRR | UE):
        return [{0: 1}, {1: 1}]
    if isinstance(mechanism, LengthEstimate):
        return [{0: 1}, {0: 1, 1: -1}]
    return [{0: 1, 1: Fraction(1, 3)}, {1: -1}, {}]


@pytest.mark.parametrize("size", [(2, 1), (2, 2), (3, 2)])
def test_curves_by_structure_are_those_of_enumeration(size: tuple[int, int]) -> None:
    for name, mechanism in mechanisms(*size):
        for users in itertools.permutations(users_for(mechanism), 2):
            pair = page.Pair(mechanism, *users)
            assert pair.curve() == privacy.exact_curve(mechanism, *users), name
            found = privacy.worst_ratio(mechanism, users)
            assert pair.exp_epsilon() == found.ratio, name
            assert pair.advantage() == 1 - pair.curve().support(Fraction(1)), name


def test_a_forgotten_dummy_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without dummies the counted law of PCKV-UE is another, or none."""
    mechanism = PCKVUE.from_exp_budgets(*allocation.optimised(page.EXP), n_keys=2, padding=2)
    users = ({0: 1}, {0: 1, 1: 1})
    right = privacy.exact_curve(mechanism, *users)
    assert page.Pair(mechanism, *users).curve() == right
    gains = page._gains

    def forgetful(mechanism, user):
        found = gains(mechanism, user)
        found[mechanism.n_keys :] = Fraction(0)
        return found

    monkeypatch.setattr(page, "_gains", forgetful)
    assert page.Pair(mechanism, *users).curve() != right


def test_large_domains_agree_with_exact_ones_in_floats() -> None:
    """Structure in floats, at sizes where enumeration still works."""
    for reading in "BD":
        exact = LRRKV.from_exp_budgets(page.EXP, n_keys=6, padding=3, reading=reading)
        near = LRRKV.from_exp_budgets(float(page.EXP), n_keys=6, padding=3, reading=reading)
        users = page.disjoint_lists(6, 3)
        one, two = (page.Pair(m, *users) for m in (exact, near))
        np.testing.assert_allclose(one.grouped, two.grouped, rtol=0, atol=1e-9)
        assert float(one.exp_epsilon()) == pytest.approx(two.exp_epsilon(), rel=1e-12)
    exact = PCKVUE.from_exp_budgets(*allocation.optimised(page.EXP), n_keys=4, padding=2)
    near = PCKVUE.from_epsilon(math.log(page.EXP), n_keys=4, padding=2)
    one, two = (page.Pair(m, {0: 1, 1: 1}, {0: -1, 2: 1}) for m in (exact, near))
    np.testing.assert_allclose(one.grouped, two.grouped, rtol=0, atol=1e-9)


def test_infinite_ratios_are_told() -> None:
    mechanism = LRRKV(2, 1, Fraction(1), Fraction(0), Fraction(0))
    assert page.Pair(mechanism, {0: 1}, {1: 1}).exp_epsilon() == math.inf


# --- reports come from the law --------------------------------------------------------------------


def report_p_value(mechanism, sampled, law_of, seed: int = 3) -> float:
    """p-value of reports of one mechanism against the law of another."""
    pair = page.Pair(mechanism, sampled, sampled)
    reports = pair.reports(SAMPLES, sampled, np.random.default_rng(seed))
    codes = pair.view(reports, "report").astype(np.int64)
    weights, total = privacy.report_laws(law_of, [sampled])
    law = (weights[0] / total).astype(np.float64)
    return goodness_of_fit(np.bincount(codes, minlength=len(law)), law)


@pytest.mark.parametrize("size", [(2, 1), (3, 2)])
def test_reports_have_the_exact_law(size: tuple[int, int]) -> None:
    """41 or so checks, each with the suite's false-alarm rate."""
    for name, mechanism in mechanisms(*size):
        for user in users_for(mechanism):
            assert_plausible(report_p_value(mechanism, user, mechanism), name)


def test_reports_of_another_reading_are_seen() -> None:
    one, two = (
        LRRKV.from_exp_budgets(page.EXP, n_keys=2, padding=2, reading=r, send_position=True)
        for r in "BC"
    )
    assert_rejected(report_p_value(one, {0: 1}, two), "reading C taken for B")
    wrong = dataclasses.replace(two, dummies="first")
    assert_rejected(report_p_value(two, {0: 1}, wrong), "first dummies")


def test_scores_are_the_logarithms_of_the_ratios() -> None:
    for _, mechanism in mechanisms(2, 2):
        pair = page.Pair(mechanism, *users_for(mechanism)[:2])
        reports = pair.reports(2000, pair.user1, np.random.default_rng(4))
        codes = pair.view(reports, "report").astype(np.int64)
        weights, _ = privacy.report_laws(mechanism, [pair.user0, pair.user1])
        ratio = np.array([math.log(q / p) if p and q else np.nan for p, q in weights.T])
        np.testing.assert_allclose(pair.view(reports, "score"), ratio[codes], atol=1e-8)
        # Every score is one of the groups' scores, to the last digit.
        assert np.isin(pair.view(reports, "ratio"), pair.grouped[0]).all()


def test_wide_reports_have_no_code() -> None:
    pair = page.Pair(PCKVUE.from_epsilon(1.0, n_keys=40, padding=2), {0: 1}, {1: 1})
    reports = pair.reports(3, pair.user0, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"reports must have few enough entries .* got 42 with 3"):
        pair.view(reports, "report")
    assert page.Subject("UE", pair, 1.0, 2).views == ("score", "ratio")


# --- classes, hulls, rounds -----------------------------------------------------------------------


@given(
    st.dictionaries(st.integers(0, 3), st.sampled_from([1, -1])),
    st.dictionaries(st.integers(0, 3), st.sampled_from([1, -1])),
    st.permutations(range(4)),
    st.lists(st.sampled_from([1, -1]), min_size=4, max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_classes_are_invariant(user0, user1, names, signs) -> None:
    """Renaming keys and exchanging signs changes neither the class nor the curve."""

    def moved(user):
        return {names[key]: value * signs[key] for key, value in user.items()}

    assert page.class_of(moved(user0), moved(user1)) == page.class_of(user0, user1)
    mechanism = KVUE.from_exp_budgets(Fraction(4), n_keys=4)
    one = page.Pair(mechanism, user0, user1).curve()
    assert one == page.Pair(mechanism, moved(user0), moved(user1)).curve()


@pytest.mark.parametrize("n_keys", [1, 2, 3])
def test_classes_cover_all_pairs(n_keys: int) -> None:
    users = list(privacy.extreme_users(n_keys, empty=True))
    every = {page.class_of(*pair) for pair in itertools.product(users, repeat=2)}
    listed = [page.class_of(*pair) for pair in page.classes(n_keys)]
    assert len(listed) == len(set(listed))
    assert set(listed) == every
    short = {c for c in every if c[0] <= 1 and sum(c[1:]) <= 1}
    assert {page.class_of(*pair) for pair in page.classes(n_keys, 1)} == short


def test_hull_lies_below_and_touches() -> None:
    mechanism = LRRKV.reading_c(page.EXP, n_keys=2, padding=1)
    curves = [page.Pair(mechanism, *pair).curve() for pair in page.classes(2)]
    hull = page.hull(curves)
    for curve in curves:
        assert all(hull(a) <= b for a, b in curve.points)
    corners = {point for curve in curves for point in curve.points}
    assert set(hull.points) <= corners
    assert hull.symmetric


def test_rounds_compose() -> None:
    """Two rounds with one key: the worst ratio is the product of the rounds' ratios."""
    mechanism = PrivKVM.from_exp_budgets(Fraction(9, 4), Fraction(3, 2), n_keys=1, rounds=2)
    worst = max(
        privacy.worst_ratio(
            page.Rounds(mechanism, (mean,)), privacy.extreme_users(1, empty=True)
        ).ratio
        for mean in (1, -1)
    )
    assert worst == math.prod(mechanism.stage_budgets())
    with pytest.raises(ValueError, match=r"fakes must hold rounds - 1 = 1 entries, got 2"):
        page.Rounds(mechanism, (1, 1))


def test_a_broken_promise_has_curves_below() -> None:
    """What `exact` counts is not always 0."""
    for mechanism in (
        LRRKV.reading_b(page.EXP, n_keys=2, padding=1),
        NoFakeValues.from_exp_budgets(*allocation.optimised(page.EXP), n_keys=2, padding=1),
    ):
        below = [
            page._below(privacy.exact_curve(mechanism, *pair), page.EXP) for pair in page.classes(2)
        ]
        assert any(below) and not all(below)


def test_below_is_what_the_claimed_curve_says() -> None:
    claim = PureDP(math.log(page.EXP))
    mechanism = LRRKV.reading_c(page.EXP, n_keys=3, padding=1)
    for pair in page.classes(3):
        curve = page.Pair(mechanism, *pair).curve()
        gaps = [float(b) - claim(float(a)) for a, b in curve.points]
        assert page._below(curve, page.EXP) == (min(gaps) < -1e-12)


# --- floors --------------------------------------------------------------------------------


def test_floor_convexity() -> None:
    """No other class has a larger KL_inf than two disjoint full lists (the page's proof)."""
    mechanism = LRRKV.reading_d(math.exp(1.6), n_keys=6, padding=2)
    users = page.disjoint_lists(6, 2)
    full = page.floor(page.Pair(mechanism, *users), 1.6).divergence_low
    for other in page.classes(6, 2):
        found = page.floor(page.Pair(mechanism, *other), 1.6).divergence_high
        assert found <= full * (1 + 1e-9) + 1e-12


def test_two_lists_need_twice_the_keys() -> None:
    with pytest.raises(ValueError, match=r"n_keys must be at least 2 \* padding = 6, got 5"):
        page.disjoint_lists(5, 3)


def test_grouping_loses_nothing() -> None:
    """The floor of the score is that of the report."""
    pair = page.Pair(LRRKV.reading_c(math.exp(1.6), n_keys=5, padding=1), {0: 1}, {1: 1})
    laws = [law.astype(float) for law in pair.laws]
    one = information_floor(*laws, PureDP(1.6), page.LEVEL)
    assert page.floor(pair, 1.6).high == pytest.approx(one.high, rel=1e-6)


def test_best_power() -> None:
    pair = page.Pair(LRRKV.reading_c(math.exp(1.6), n_keys=50, padding=1), {0: 1}, {1: 1})
    found = page.floor(pair, 1.6)
    power = page.best_power(found, 10_000)
    kl = power * math.log(power / 0.05) + (1 - power) * math.log((1 - power) / 0.95)
    assert kl == pytest.approx(10_000 * found.divergence_high, rel=1e-9)
    assert page.best_power(found, 100) < power < page.best_power(found, 10**6)
    assert page.best_power(found, 10**9) == 1.0
    kept = page.floor(page.Pair(pair.mechanism, {0: 1}, {0: 1}), 1.6)
    assert page.best_power(kept, 10_000) == page.LEVEL


def test_clopper_pearson_covers() -> None:
    for hits, trials in ((0, 20), (20, 20), (3, 20)):
        low, high = page.clopper_pearson(hits, trials)
        assert low <= hits / trials <= high
        tails = binomial_tail(hits, trials, low or 1e-12), binomial_tail(hits, trials, high)
        assert min(tails) >= 0.02 or hits in (0, trials)
    assert page.clopper_pearson(0, 20)[1] == pytest.approx(1 - 0.025 ** (1 / 20))


# --- audits --------------------------------------------------------------------------------


def test_audits_refuse_too_few_repeats() -> None:
    with pytest.raises(ValueError, match="repeats must be"):
        page.audit([], 1, 0)


def test_true_claims_are_true_and_mostly_tight() -> None:
    subjects = page.true_claims()
    spent = [math.log(s.pair.exp_epsilon()) / s.epsilon for s in subjects]
    assert max(spent) <= 1 + 1e-12
    assert sum(part > 1 - 1e-12 for part in spent) >= 16
    for subject in subjects:
        assert math.isinf(page.floor(subject.pair, subject.epsilon).low), subject.name


def test_broken_claims_are_false() -> None:
    for subject in page.broken_claims(page.BROKEN + page.MISSED):
        assert math.log(subject.pair.exp_epsilon()) > subject.epsilon
        assert math.isfinite(page.floor(subject.pair, subject.epsilon).high)


def test_a_flagged_null_would_be_seen() -> None:
    """A claim that is false, listed among the true ones: the judge says no."""
    false = page.broken_claims([("D", 1.6, 306, 1, False)])
    table = page.audit(false, 12, 5, 500)
    p_value = min(binomial_tail(h, 12, page.LEVEL) for h in table["hits"])
    assert p_value < page.FALSE_ALARM / 100


@pytest.mark.parametrize(
    ("draw", "run"),
    [
        (page.draw_curves, page.mechanisms_curves),
        (page.draw_floors, page.floors),
        (page.draw_stops, page.broken),
    ],
)
def test_figures_draw(draw, run) -> None:
    figure = draw(computed(run))
    assert figure.axes
    plots.plt.close(figure)


@pytest.mark.parametrize(
    ("table", "run"),
    [
        (page.exact_table, page.exact),
        (page.easiest_table, page.easiest),
        (page.audits_table, page.broken),
        (page.audits_table, page.missed),
        (page.nulls_table, page.nulls),
    ],
)
def test_tables_fit_a_page(table, run) -> None:
    shown = table(computed(run))
    assert 0 < shown.shape[1] <= 7 and len(shown)


def test_unknown_profile() -> None:
    for run in {claim.run for claim in page.CLAIMS} | {page.mechanisms_curves}:
        with pytest.raises(ValueError, match=r"profile must be one of .* got 'qick'"):
            run("qick")
