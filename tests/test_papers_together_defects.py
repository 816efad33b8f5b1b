"""The page on planted defects: laws, samplers, verdicts, judges that can say no."""

from __future__ import annotations

import functools
import itertools
import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy import stats
from statistical import assert_plausible, assert_rejected

from ldpkv import privacy
from ldpkv.auditing.information import information_floor, largest_gap, merge_cells
from ldpkv.mechanisms import PCKVGRR
from ldpkv.papers import evidence, plots
from ldpkv.papers.together import defects as page
from ldpkv.tradeoff import LaplaceDP, PureDP

CLAIMS = {claim.id: claim for claim in page.CLAIMS}
CATALOGUE = {defect.name: defect for defect in page.catalogue()}


@functools.cache
def computed(run) -> evidence.Result:
    return run("quick")


@pytest.mark.parametrize("id", CLAIMS)
def test_recorded_verdict(id: str) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    found = claim.judge(result)
    assert found.verdict == claim.recorded[result.profile, result.source]
    json.dumps(asdict(found))
    assert claim.page == page.PAGE and claim.paper == "together"
    assert claim.statement.endswith(".")


def column(name: str, value, row: int = 0):
    """One cell of a fact's table overwritten."""

    def change(facts: dict, table: str) -> dict:
        frame = facts[table].copy()
        frame[name] = frame[name].astype(float)
        frame.loc[frame.index[row], name] = value
        return {**facts, table: frame}

    return change


# A judge must be able to say no: each broken fact changes its claim's verdict.
BROKEN = [
    ("together-defects-exact", lambda f: {**f, "wrong": ["GRR over d"]}),
    ("together-defects-exact", lambda f: {**f, "wrong_twins": ["GRR over d"]}),
    ("together-defects-unseen", lambda f: {**f, "no_slip": ["δ forgotten"]}),
    ("together-defects-unseen", lambda f: {**f, "reasons": {**f["reasons"], page.WITHIN: 0}}),
    ("together-defects-caught", lambda f: column("hits", 5)(f, "reach")),
    ("together-defects-caught", lambda f: column("caught", 0.9)(f, "reach")),
    ("together-defects-twins", lambda f: column("hits", 6)(f, "null")),
    ("together-defects-floor", lambda f: column("mean", 1.0, row=8)(f, "reach")),
    ("together-low-bits", lambda f: {**f, "raw_p": 1e-9}),
    ("together-low-bits", lambda f: {**f, "score_hits": 3}),
    ("together-low-bits", lambda f: {**f, "disjoint": False}),
]


@pytest.mark.parametrize(
    ("id", "change"), BROKEN, ids=[f"{i}-{n}" for n, (i, _) in enumerate(BROKEN)]
)
def test_judges_can_say_no(id: str, change) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    worse = replace(result, facts=change(dict(result.facts)))
    assert claim.judge(worse).verdict != claim.judge(result).verdict


def test_every_judge_is_broken_once() -> None:
    assert {id for id, _ in BROKEN} == set(CLAIMS)


# --- the catalogue ---


def test_the_catalogue_is_complete() -> None:
    assert len(CATALOGUE) == len(page.catalogue()) >= 25
    asked = (
        "GRR over d, value flipped at whole budget, no fake values, padding dropped, "
        "position sent, budget counted twice, sign kept on a fake key, signs swapped, "
        "budget amplified l times, RAPPOR never clears, boolean response, own bit flipped twice, "
        "noise divided by dimension, variance for deviation, count leaked, clipping after noise, "
        "unclipped copy released, sensitivity halved, noisy threshold missing, queries without "
        "noise, odometer without log, top noise removed, sensitivity from the lower bound, "
        "exact mean when the count fails, batch size leaked, amplified without sampling"
    )
    assert set(asked.split(", ")) <= set(CATALOGUE)
    assert {d.reason for d in CATALOGUE.values()} == {"", *page.REASONS}
    for defect in CATALOGUE.values():
        assert defect.family in (page.LOCAL, page.CENTRAL)
        assert (defect.elsewhere is not None) == (defect.reason == page.ELSEWHERE)
        assert defect.what.endswith(".") and not defect.where.endswith(".")


def test_every_floor_within_reach_belongs_to_an_open_defect() -> None:
    table = computed(page.exact_checks).table.set_index("defect")
    assert (table.loc[table["reason"] == "", "floor"] < page.HORIZON).all()
    assert np.isinf(table.loc[table["reason"].isin(page.REASONS[:3]), "floor"]).all()
    assert (table["looseness"].dropna() < 1.01).all()


# Epsilon by hand, and claims.
BY_HAND = [
    ("own bit flipped twice", math.log(6)),
    ("own bit flipped twice, SUE", math.log(7)),
    ("whole budget on each bit", math.log(16)),
    ("boolean response", math.log(24)),
    ("rounds not split", math.log(16)),
    ("budget counted twice", math.log(16)),
    ("value flipped at whole budget", math.log(8)),
    ("truth among the others", math.log(39 / 7)),
    ("value not clipped", math.log(19)),
    ("position sent", math.log(10)),
    ("budget amplified l times", math.log(22)),
    ("flip too likely, 12 symbols", math.log(40 / 9)),
    ("RAPPOR never clears", math.inf),
    ("noise divided by dimension", 2.0),
    ("unclipped copy released", 1.5),
    ("clipping after noise", 1.5),
    ("sensitivity from the lower bound", 2.5),
    ("odometer without log", 6.4),
    ("amplified without sampling", 1.0),
    ("variance for deviation", math.inf),
    ("count leaked", math.inf),
]


@pytest.mark.parametrize(("name", "expected"), BY_HAND, ids=[row[0] for row in BY_HAND])
def test_epsilon_by_hand(name: str, expected: float) -> None:
    assert CATALOGUE[name].outputs.epsilon() == pytest.approx(expected, rel=1e-9)


def test_twins_keep_their_claim_exactly() -> None:
    for defect in CATALOGUE.values():
        if isinstance(defect.claim, PureDP):
            assert defect.twin.epsilon() <= defect.claim.epsilon * (1 + 1e-12), defect.name
        assert largest_gap(*defect.twin.laws(), defect.claim) <= 1e-9, defect.name


def test_cells_keep_closed_form_curves() -> None:
    """Cells of a Laplace pair against its own curve: no gap above, next to none below."""
    laws = page._shifted("laplace", 1.0, 1.0).laws()
    assert -1e-9 <= largest_gap(*laws, LaplaceDP(1.0)) <= 1e-9
    assert largest_gap(*laws, LaplaceDP(0.99)) > 1e-4


def test_mechanisms_agree_with_the_planted_ones_of_the_tests() -> None:
    planted = pytest.importorskip("planted")
    wrong = planted.grr_over_real_keys(page.FOUR, page.TWO, n_keys=3, padding=2)
    users = list(privacy.extreme_users(3, empty=True))
    expected = privacy.worst_ratio(wrong, users).epsilon
    assert CATALOGUE["GRR over d"].outputs.epsilon() == pytest.approx(expected)
    kept = planted.SignKeptOnFakeKey(2, 1, *(page.Fraction(1, 3),) * 2, page.Fraction(2, 3))
    ours = page._SignKept(2, 1, *(page.Fraction(1, 3),) * 2, page.Fraction(2, 3))
    assert (kept.channel().weights == ours.channel().weights).all()
    right = PCKVGRR.from_exp_budgets(4, 2, n_keys=2, padding=1)
    assert (
        page._SignKept(*asdict(right).values()).channel().weights != right.channel().weights
    ).any()


def test_optimal_grr_spends_the_whole_budget() -> None:
    for d, length in itertools.product((2, 3), (1, 2, 3)):
        mechanism = page._optimal_grr(length * (page.FOUR - 1) + 1, d, length)
        worst = privacy.worst_ratio(mechanism, privacy.extreme_users(d, empty=True))
        assert worst.ratio == 4


# --- samplers against laws ---


def test_codes_have_their_law() -> None:
    """Chi-square, level 1e-4 shared over both sides of all finite laws, and a planted wrong one."""
    coded = [d for d in CATALOGUE.values() if isinstance(d.outputs, page.Coded)]
    rng = np.random.default_rng(7)
    n, least = 4_000, []
    for defect in coded:
        for sample, law in zip(
            defect.outputs.sample(n, rng=rng), defect.outputs.laws(), strict=True
        ):
            least.append(_fit(sample, np.array(law, dtype=float)))
    assert_plausible(min(1.0, len(least) * min(least)), "codes")
    wrong = CATALOGUE["own bit flipped twice"]
    law = np.array(wrong.twin.laws()[0], dtype=float)
    assert_rejected(_fit(wrong.outputs.sample(n, rng=rng)[0], law), "codes of the defect")


def _fit(sample: np.ndarray, law: np.ndarray) -> float:
    counts = np.bincount(sample.astype(int), minlength=len(law))
    assert not counts[law == 0].any()
    # Small cells together.
    small = law * len(sample) < 5
    expected = np.append(law[~small], law[small].sum()) * len(sample)
    seen = np.append(counts[~small], counts[small].sum())
    seen, expected = seen[expected > 0], expected[expected > 0]
    return (
        1.0
        if len(seen) < 2
        else float(stats.chisquare(seen, expected / expected.sum() * seen.sum()).pvalue)
    )


def test_noise_has_its_law() -> None:
    """Kolmogorov-Smirnov where there are no atoms, binomial at atoms; level shared."""
    rng, least = np.random.default_rng(8), []
    for defect in CATALOGUE.values():
        if not isinstance(defect.outputs, page.Real):
            continue
        for sample, law in zip(
            defect.outputs.sample(4_000, rng=rng), (defect.outputs.p, defect.outputs.q), strict=True
        ):
            for at, chance in law.atoms().items():
                hits = int(np.sum(sample == at))
                least.append(stats.binomtest(hits, len(sample), min(chance, 1.0)).pvalue)
            rest = sample[~np.isin(sample, list(law.atoms()))]
            if len(rest) > 50:
                ends = law.clamp or (-math.inf, math.inf)
                low, high = law.smooth(np.array([max(ends[0], -1e9), min(ends[1], 1e9)]))
                cdf = lambda x, law=law, a=low, b=high: (law.smooth(x) - a) / (b - a)  # noqa: E731
                least.append(stats.kstest(rest, cdf).pvalue)
    assert_plausible(min(1.0, len(least) * min(least)), "noise")
    twin = CATALOGUE["variance for deviation"]
    sample = twin.outputs.sample(4_000, rng=rng)[0]
    assert_rejected(stats.kstest(sample, twin.twin.p.smooth).pvalue, "noise of the defect")


def test_sparse_vector_and_maximum_by_simulation() -> None:
    """Literal runs of the four finite central mechanisms; chi-square, level shared."""
    rng, n, found = np.random.default_rng(9), 20_000, []
    for noisy in (False, True):
        law = page._svt(20, 2.0, 1.0, noisy=noisy)
        for query, side in zip((0.0, 1.0), (law.law_p, law.law_q), strict=True):
            threshold = 2.0 + (rng.laplace(0, 2.0, (n, 1)) if noisy else 0.0)
            above = query + rng.laplace(0, 4.0 if noisy else 2.0, (n, 20)) >= threshold
            code = np.where(above.any(axis=1), above.argmax(axis=1), 20)
            found.append(_fit(code, np.array(side)))
    exact = page._svt_without_query_noise(1.0)
    for queries, side in zip(((0.0, 1.0), (1.0, 0.0)), (exact.law_p, exact.law_q), strict=True):
        above = np.array(queries) >= 0.5 + rng.laplace(0, 2.0, (n, 1))
        found.append(_fit(2 * above[:, 0] + above[:, 1], np.array(side)))
    most = page._noisy_max(10, 1.0)
    for own, others, side in ((1.0, 0.0, most.law_p), (0.0, 1.0, most.law_q)):
        scores = np.r_[own, np.full(9, others)] + rng.laplace(0, 1.0, (n, 10))
        found.append(_fit((scores.argmax(axis=1) != 0).astype(int), np.array(side)))
    mean = page.ClampedCount(1.0)
    for sample, size, at in zip(mean.sample(n, rng=rng), (1, 2), (0.0, 0.5), strict=True):
        chance = float(stats.laplace.cdf(0, size, 2))
        found.append(stats.binomtest(int(np.sum(sample == at)), n, chance).pvalue)
    assert_plausible(min(1.0, len(found) * min(found)), "central mechanisms")


def test_the_clamped_count_integrates_to_one() -> None:
    p, q = page.ClampedCount(1.0).laws()
    assert p.sum() == pytest.approx(1, abs=1e-9) and q.sum() == pytest.approx(1, abs=1e-9)
    x, y = page.ClampedCount(1.0).sample(40_000, rng=4)
    # The median of the smooth part is the mean of the data.
    for sample, at in ((x, 0.0), (y, 0.5)):
        rest = sample[sample != at]
        assert_plausible(stats.binomtest(int((rest > at).sum()), len(rest)).pvalue, "symmetry")


# --- power and floors ---


def test_most_power() -> None:
    assert page.most_power(math.inf) == page.LEVEL
    assert page.most_power(10.0) == 1.0
    floor = 50_000.0
    r = page.most_power(floor)
    nats = page.HORIZON * math.log(20) / floor
    kl = r * math.log(r / 0.05) + (1 - r) * math.log((1 - r) / 0.95)
    assert kl == pytest.approx(nats) and r > page.LEVEL
    assert page.most_power(floor, pairs=20_000) > r


def test_rare_outputs_have_the_floor_of_their_rate() -> None:
    """A certain output of probability h: KL_inf = 2 h log(1 + e^-eps) as h falls, up to O(h^2)."""
    floors = [
        information_floor(*merge_cells(*page._leaking(share).laws(), 50), PureDP(1.0)).low
        for share in (0.02, 1e-5)
    ]
    for floor, share in zip(floors, (0.02, 1e-5), strict=True):
        expected = math.log(20) / (2 * share * math.log1p(math.exp(-1.0)))
        assert floor == pytest.approx(expected, rel=1e-3)


def test_low_order_bits() -> None:
    x, y = page.fine_grid(500, rng=1)
    assert (page.off_grid(x) == 0).all() and set(page.off_grid(y)) == {0.333}


def test_effort_and_rows() -> None:
    assert page._effort("paper", math.inf) == (200, page.HORIZON)
    assert page._effort("quick", 10.0) == (20, page.HORIZON)
    row = page._row(np.array([10, 30, -1, 20]), 100)
    assert (row["hits"], row["caught"], row["median"], row["95 %"]) == (3, 0.75, 20.0, math.inf)
    assert row["mean"] == 40.0


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="law_p must be probabilities"):
        page.Coded((0.5, 0.6), (0.5, 0.5))
    with pytest.raises(ValueError, match="law_p and law_q must have one length"):
        page.Coded((0.5, 0.5), (1.0,))
    with pytest.raises(ValueError, match="kind must be"):
        page.Noise("cauchy", ((1.0, 0.0, 1.0),))
    with pytest.raises(ValueError, match="parts must have weights"):
        page.Noise("normal", ((0.5, 0.0, 1.0),))
    for run in {claim.run for claim in page.CLAIMS}:
        with pytest.raises(ValueError, match="profile must be one of"):
            run("qick")


def test_tables_and_figures() -> None:
    exact, audited = computed(page.exact_checks), computed(page.audits)
    for family in (page.LOCAL, page.CENTRAL):
        assert page.caught_table(exact, audited, family).shape[1] == 7
        assert page.description_table(family).shape[1] == 4
    assert page.unseen_table(exact).shape == (9, 6)
    figure = page.draw_floors(audited)
    assert len(figure.axes[0].get_lines()) == 5
    plots.plt.close(figure)
