"""The page on mechanisms with a known truth: verdicts, judges that can say no, planted defects."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy import special, stats
from statistical import assert_plausible, assert_rejected

from ldpkv.auditing.apt import APT, path, run_many
from ldpkv.auditing.classifiers import GaussianPlugIn
from ldpkv.papers import evidence, plots
from ldpkv.papers.audit import ground_truth as page
from ldpkv.tradeoff import GaussianDP

CLAIMS = {claim.id: claim for claim in page.CLAIMS}
PANELS = {panel.key: panel for panel in page.panels()}


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
    assert claim.page == page.PAGE and claim.paper == "audit"
    assert set(claim.recorded.values()) <= set(evidence.VERDICTS)
    assert claim.statement.endswith(".")


def test_every_numbered_claim_of_the_page_is_there() -> None:
    labels = " ".join(claim.label.replace("(", " ").replace(")", " ") for claim in page.CLAIMS)
    words = labels.replace(",", " ").split()
    for number in (10, 11, 12, 31, 32, 35, 40, 41, 45, 46, 47, 48, 49, 56):
        assert f"audit-{number}" in words


def changed(column: str, value: float, **where: str):
    """Summary with one column overwritten in the rows that match."""

    def change(facts: dict) -> dict:
        summary = facts["summary"].copy()
        chosen = np.ones(len(summary), dtype=bool)
        for name, wanted in where.items():
            chosen &= (summary[name] == wanted).to_numpy()
        summary.loc[chosen & summary[column].notna().to_numpy(), column] = value
        return {**facts, "summary": summary}

    return change


def signs(name: str, smaller: int, larger: int, undecided: int):
    """Comparisons with the given counts."""

    def change(facts: dict) -> dict:
        counts = {"smaller": smaller, "larger": larger, "undecided": undecided}
        order = {k: [f"case {i}" for i in range(n)] for k, n in counts.items()}
        ratios = facts[name]["ratios"]
        return {**facts, name: {**order, "cases": sum(counts.values()), "ratios": ratios}}

    return change


def fact(**broken):
    return lambda facts: {**facts, **broken}


NULL = {"mechanism": "Laplace", "box": "black", "violation": "none"}
# A judge must be able to say no: each broken fact changes its claim's verdict.
BROKEN = [
    ("audit-fig-5", changed("z", 9.0, mechanism="Gaussian")),
    ("audit-fig-5", changed("rate_p", 1e-9, mechanism="DP-SGD")),
    ("audit-fig-5-null", changed("null_p", 1e-9, setting=page.PUBLISHED, **NULL)),
    ("audit-fig-5-null-corrected", changed("null_p", 0.5, setting=page.CORRECTED)),
    ("audit-fig-5-null-sound", changed("null_p", 1e-9, setting=page.SOUND, **NULL)),
    ("audit-few-hundred", changed("median", 3000.0, violation="strong", mechanism="Laplace")),
    ("audit-stronger-faster", signs("stronger", 17, 1, 0)),
    ("audit-stronger-faster", signs("stronger", 2, 0, 16)),
    ("audit-corrected-side", signs("side", 5, 1, 0)),
    ("audit-corrected-side", signs("side", 0, 0, 6)),
    ("audit-white-box", signs(f"white, {page.CORRECTED}", 0, 0, 2)),
    ("audit-white-box-sound", signs(f"white, {page.SOUND}", 0, 2, 0)),
    ("audit-plug-in", changed("rate", 0.5, setting=page.PUBLISHED, box="white")),
    ("audit-swapped-sides", fact(averaged=1)),
    ("audit-swapped-sides", fact(single=1)),
    ("audit-fixed-order", signs("order", 11, 1, 0)),
    ("audit-fixed-order", signs("order", 0, 0, 12)),
    ("audit-fixed-factor", fact(factors={"a": 5.0})),
    ("audit-fixed-factor", fact(factors={"a": 0.9})),
    ("audit-one-shot-level", fact(level_p=0.2)),
    ("audit-fixed-rule", fact(worse=1)),
    ("audit-fixed-rule-measured", signs("rule", 5, 1, 0)),
    ("audit-horizon", fact(share=0.3)),
    ("audit-horizon", fact(corner=(0.05, 0.04, 0.06))),
    ("audit-horizon", fact(line=(0.01, 0.005, 0.02))),
    ("audit-acceptable", fact(quantile=65)),
    ("audit-ribbons", fact(half_width=0.05)),
    ("audit-overhead", fact(fitted=3.0)),
    ("audit-overhead", fact(scored=4.0)),
    ("audit-open-source", fact(licence=True)),
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


# A wrong library changes what the judges see.


def mean_z(panel: page.Panel, settings: APT, repeats: int) -> float:
    stops = run_many(settings, panel.target.sample, repeats=repeats, rng=5)
    return page._summary(panel, page.PUBLISHED, stops)["z"]


def test_a_wrong_critical_value_is_seen() -> None:
    panel = PANELS["Gaussian", "black", "strong"]
    right = panel.settings(page.PUBLISHED)
    assert_plausible(2 * stats.norm.sf(abs(mean_z(panel, right, 200))), "published")
    wrong = dataclasses.replace(right, critical_value=2.4)
    assert_rejected(2 * stats.norm.sf(abs(mean_z(panel, wrong, 200))), "published")


def test_too_many_rejections_of_a_true_claim_are_seen() -> None:
    panel = PANELS["Gaussian", "white", "none"]
    row = page._summary(panel, page.SOUND, np.repeat([100, -1], [20, 80]))
    assert row["rate"] == 0.2 and row["null_p"] == pytest.approx(stats.binom.sf(19, 100, 0.05))
    assert math.isnan(row["authors_rate"]) and math.isnan(row["z"])


def test_settings_are_what_they_are_called() -> None:
    for panel in PANELS.values():
        published, corrected, sound = (panel.settings(kind) for kind in page.SETTINGS)
        assert (published.side, published.scoring) == ("published", "rescored")
        assert dataclasses.replace(published, side="corrected") == corrected
        assert (sound.side, sound.scoring, sound.tuning.signed) == ("corrected", "burn-in", True)
        assert sound.critical_value is None and not sound.look_at_burn_in
        white = isinstance(published.classifier, GaussianPlugIn)
        assert white == (panel.box == "white")
        if panel.violation == "none":
            assert panel.claimed == panel.target.curve()
    assert len(PANELS) == 18 and set(page._AUTHORS) <= set(PANELS)


def test_panels_of_one_mechanism_share_their_pairs() -> None:
    def draws(key: tuple[str, str, str], kind: str) -> list:
        panel = PANELS[key]
        seen = []

        def source(n, *, rng):
            seen.append(panel.target.sample(n, rng=rng))
            return seen[-1]

        run_many(panel.settings(kind), source, repeats=1, rng=7)
        return seen

    first = draws(("Gaussian", "black", "none"), page.PUBLISHED)
    for key, kind in (
        (("Gaussian", "white", "none"), page.PUBLISHED),
        (("Gaussian", "black", "none"), page.CORRECTED),
        (("Gaussian", "black", "subtle"), page.CORRECTED),
    ):
        for one, two in zip(first, draws(key, kind), strict=False):
            np.testing.assert_array_equal(one, two)


def test_results_depend_neither_on_workers_nor_on_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_repeats", lambda *_: 2)
    one = page.figure_5("quick", 3)
    monkeypatch.setattr(page, "N_JOBS", {"quick": 2})
    two = page.figure_5("quick", 3)
    assert one.table.equals(two.table) and not one.table.equals(page.figure_5("quick", 4).table)
    panel = PANELS["Laplace", "black", "strong"]
    sizes = [50, 200]

    def generators() -> list:
        return np.random.default_rng(1).spawn(3)

    whole = page._decide(panel, sizes, generators())
    parts = [page._decide(panel, sizes, [g]) for g in generators()]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_wilson_is_that_of_scipy() -> None:
    for trials in (1, 30, 1000):
        for hits in {0, 1, trials // 3, trials}:
            share, low, high = (v[0] for v in page.wilson(np.array([hits]), trials))
            ci = stats.binomtest(hits, trials).proportion_ci(method="wilson")
            assert (share, low, high) == pytest.approx((hits / trials, ci.low, ci.high), abs=1e-12)


def test_paired_signs() -> None:
    rng = np.random.default_rng(1)
    noise, common = rng.normal(size=50), 1000 * rng.random(50)
    found = page._signs(
        {
            "less": (common - 5 + noise, common),
            "more": (common + 5 + noise, common),
            "equal": (common + noise, common),
            "same": (common, common),
        }
    )
    assert (found["smaller"], found["larger"]) == (["less"], ["more"])
    assert found["undecided"] == ["equal", "same"] and found["ratios"]["same"] == 1


def test_best_errors_and_first_sizes() -> None:
    alpha, beta = page.best_errors(stats.norm(0, 1), stats.norm(1, 1))
    np.testing.assert_allclose(beta, GaussianDP(1.0)(np.clip(alpha, 0, 1)), atol=1e-4)
    curve, a, b = GaussianDP(0.5), np.array([0.3]), np.array([GaussianDP(1.0)(0.3)])
    for constant, sequential in ((1.96, False), (1.5776, True)):
        n = int(page._first_size(curve, a, b, constant, sequential)[0])
        rejects = []
        for size in (n - 1, n):
            grow = math.sqrt(math.log(20 + size / 50)) if sequential else 1.0
            bounds = [e + constant * grow * math.sqrt(e * (1 - e) / size) for e in (a[0], b[0])]
            rejects.append(bool(curve(bounds[0]) > bounds[1]))
        assert rejects == [False, True]


# Without chance: t-test with rules (8) and (7), APT; from an independent implementation.
FLUID = [
    ("NonDPGaussian1, ε = 0.01", 29, 29, 58),
    ("NonDPLaplace1, ε = 0.1", 67, 67, 135),
    ("Gaussian, μ = 0.5", 96, 98, 196),
    ("Gaussian, μ = 0.8", 631, 671, 1618),
    ("Laplace, μ = 0.5", 110, 110, 227),
    ("Laplace, μ = 0.8", 798, 818, 2140),
    ("DP-SGD, τ = 5", 372, 419, 873),
    ("DP-SGD, τ = 7", 1674, 1959, 5231),
]


@pytest.mark.parametrize(("case", "eight", "seven", "sequential"), FLUID, ids=[r[0] for r in FLUID])
def test_sample_sizes_without_chance(case: str, eight: int, seven: int, sequential: int) -> None:
    row = computed(page.fluid).table.set_index("case").loc[case]
    assert row["t-test, rule (8)"] == pytest.approx(eight, rel=0.003, abs=1)
    assert row["t-test, rule (7)"] == pytest.approx(seven, rel=0.003, abs=1)
    assert row["APT, rule (8)"] == pytest.approx(sequential, rel=0.003, abs=1)


def test_swapped_sides_by_hand() -> None:
    row = computed(page.swaps).table.iloc[0]
    x = row["threshold"]
    alpha, beta = math.exp(-x) / 2, 1 - math.exp(1 - x) / 2
    assert 1 < x and (row["α"], row["β"]) == pytest.approx((alpha, beta))
    # The claim mu = 0.5 is 1 - e^0.5 a for small a, e^-0.5 / (4 a) in the middle.
    assert row["margin"] == pytest.approx(1 - math.exp(0.5) * alpha - beta)
    centre = (alpha + beta) / 2
    assert row["margin, both sides averaged"] == pytest.approx(
        math.exp(-0.5) / (4 * centre) - centre
    )
    assert row["best margin"] > row["margin"]


def test_counted_fits_are_those_of_an_audit() -> None:
    sizes = []

    class Counting:
        name = "counting"

        def fit(self, x, y, tuning):
            sizes.append(len(x))
            return GaussianPlugIn().fit(x, y, tuning)

    settings = APT.published(GaussianDP(1.0), classifier=Counting(), critical_value=9.0)
    path(settings, PANELS["Gaussian", "white", "none"].target.sample(page.HORIZON, rng=1))
    row = computed(page.overhead).table.iloc[0]
    assert row["pairs"] == page.HORIZON and row["fits"] == len(sizes)
    assert row["pairs fitted / n"] == pytest.approx(sum(sizes) / page.HORIZON)


def test_half_of_the_rejections() -> None:
    assert page._half([50, 100, 200], np.array([0.0, 0.25, 0.75])) == pytest.approx(100 * 2**0.5)
    assert math.isnan(page._half([50, 100], np.array([0.0, 0.4])))
    assert math.isnan(page._half([50, 100], np.array([0.6, 0.4])))
    # A rate that falls back was reached before.
    assert page._half([50, 100, 200], np.array([0.0, 0.5, 0.3])) == pytest.approx(100)


def test_the_published_critical_value_was_made_for_this_horizon() -> None:
    facts = computed(page.horizon).facts
    assert facts["spent"] == pytest.approx(0.0264, abs=1e-4)
    assert 0.98 < facts["share"] < 1
    assert facts["corner"][1] <= 0.0020 <= facts["corner"][2]


def test_reports_say_what_they_do_not_mean() -> None:
    rejected, kept = page.explained()
    assert rejected.startswith("Rejected after") and "Witness" in rejected
    assert kept.startswith("Not rejected") and "no evidence that the claim" in kept
    assert "private" not in rejected + kept


def test_unknown_profile() -> None:
    for run in {claim.run for claim in CLAIMS.values()}:
        with pytest.raises((ValueError, KeyError), match="profile must be one of"):
            run("qick")


def test_tables_and_figures() -> None:
    figure_5, batch = computed(page.figure_5), computed(page.fixed_batch)
    assert page.published_table(figure_5).shape == (12, 7)
    assert page.settings_table(figure_5).shape == (18, 7)
    assert page.half_table(batch).shape == (6, 7)
    assert computed(page.fluid).table.shape == (10, 7)
    for panel_figure in (
        page.draw_figure_5(page.only(figure_5, "black")),
        page.draw_figure_5(page.only(figure_5, "white")),
        page.draw_fixed_batch(batch),
    ):
        assert all(axis.get_lines() for axis in panel_figure.axes)
        plots.plt.close(panel_figure)
    assert special.ndtri(0.975) == pytest.approx(1.96, abs=1e-3)
