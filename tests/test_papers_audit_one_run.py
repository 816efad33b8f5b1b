"""The pages on one-run audits: verdicts, judges that can say no, planted defects."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statistical import assert_plausible, assert_rejected

from ldpkv import data as datasets
from ldpkv import surrogates
from ldpkv.auditing import canaries, targets
from ldpkv.auditing.apt import NOT_REJECTED, run_many
from ldpkv.auditing.canaries import RATIO, RAW, REMOVED, OneRun
from ldpkv.papers import evidence, plots
from ldpkv.papers.audit import one_run as page
from ldpkv.tradeoff import GaussianDP

CLAIMS = {claim.id: claim for claim in page.CLAIMS}
OURS = [id for id, claim in CLAIMS.items() if claim.page == page.PAGE]
FILES = [id for id, claim in CLAIMS.items() if claim.page == page.FILES_PAGE]


@functools.cache
def scores_are_here() -> bool:
    try:
        datasets.load_scores("canary_scores_in")
        datasets.load_scores("canary_scores_out")
    except datasets.MissingDataError:
        return False
    return True


def stand_in(name: str) -> np.ndarray:
    """Two normals with the moments of the published scores, where these are not at hand."""
    made = surrogates.canary_scores(rng=3)
    return made.included if name == "canary_scores_in" else made.excluded


@functools.cache
def computed(run) -> evidence.Result:
    with pytest.MonkeyPatch.context() as patch:
        if not scores_are_here():
            patch.setattr(datasets, "load_scores", stand_in)
            patch.setattr(page, "RESAMPLINGS", 50)
        return run("quick")


@pytest.mark.parametrize("id", OURS)
def test_recorded_verdict(id: str) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    found = claim.judge(result)
    assert found.verdict == claim.recorded[result.profile, result.source]
    json.dumps(asdict(found))
    assert claim.paper == "audit" and claim.statement.endswith(".")


@pytest.mark.skipif(not scores_are_here(), reason="the published scores are not shipped")
@pytest.mark.parametrize("id", FILES)
def test_recorded_verdict_on_the_published_scores(id: str) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    found = claim.judge(result)
    assert result.source == "files"
    assert found.verdict == claim.recorded[result.profile, result.source]
    json.dumps(asdict(found))


def test_every_numbered_claim_of_the_pages_is_there() -> None:
    words = " ".join(c.label for c in page.CLAIMS).replace(")", " ").replace("(", " ").split()
    for number in (*range(21, 31), 34, 53, 54, 55, 58):
        assert f"audit-{number}" in words


# --- judges -----------------------------------------------------------------------------------


def fact(**broken):
    return lambda facts: {**facts, **broken}


def inside(name: str, key, value):
    """One entry of a mapping among the facts overwritten."""
    return lambda facts: {**facts, name: {**facts[name], key: value}}


def all_shapes(**broken):
    def change(facts: dict) -> dict:
        shapes = {name: {**shape, **broken} for name, shape in facts["shapes"].items()}
        return {**facts, "shapes": shapes}

    return change


def column(name: str, field: str, value: float):
    return lambda facts: {**facts, name: facts[name].assign(**{field: value})}


# On made-up facts where the published scores are needed, on computed ones elsewhere.
def good_files() -> evidence.Result:
    rows = [
        (mu, hits / 250, hits / 250, 0.5, mean, mean, 1.0, 0.5)
        for mu, (hits, mean) in page.AUTHORS.items()
    ]
    columns = ["mu", "rate, authors", "rate", "p", "mean, authors", "mean", "error", "z"]
    authors = pd.DataFrame(rows, columns=columns)
    facts = {
        "authors": authors,
        "threshold": authors.assign(z=20.0),
        "authors_null": 3,
        "early": (12, 1000),
        "none_in_250": 0.05,
        "hits": {mu: (hits, 250) for mu, (hits, _) in page.AUTHORS.items()},
        "rates": {mu: hits / 250 for mu, (hits, _) in page.AUTHORS.items()},
        "p_text": {1.1: 0.5, 1.2: 0.5},
        "mean_at_1.1": (2300.0, 100.0),
        "by": {1000: 0.3, 2000: 0.55},
        "quantile_z": {850: 1.0, 1820: 1.0},
        "mean_at_0.8": 206.0,
        "largest": {0.8: 600.0, 0.9: 900.0, 1.0: 2800.0},
        "corrected": {1.2: (0.99, 0.97, 1.0), 1.3: (0.04, 0.02, 0.08)},
        "sd_in": 0.0709,
        "sd_out": 0.0606,
        "base_sd": 0.035,
        "noise_only": 0.4,
        "measured_z": -16.0,
        "gap": 0.026,
        "gap_alpha": 0.0016,
        "gap_beta": 0.913,
    }
    return evidence.Result("quick", authors, facts, source="files")


def base_result(id: str) -> evidence.Result:
    return good_files() if id in FILES else computed(CLAIMS[id].run)


# A judge must be able to say no: each broken fact changes its claim's verdict.
BROKEN = [
    ("audit-epsilon-star", fact(epsilon=6.6)),
    ("audit-epsilon-star", fact(epsilon_low=6.565)),
    ("audit-mu-exactly", fact(mu_of_656=1.4004)),
    ("audit-mu-translations", inside("epsilons", 1.2, 5.4151)),
    ("audit-mu-translations", inside("epsilons", 1.1, 4.9)),
    ("audit-no-violation", fact(delta_low=9.9e-6)),
    ("audit-one-run-law", inside("p_values", "size of the noise", 1e-6)),
    ("audit-one-run-ratio", inside("z", REMOVED, 5.0)),
    ("audit-one-run-ratio", inside("z", RATIO, -5.0)),
    ("audit-one-run-ratio", fact(gain=(0.02, 0.006))),
    ("audit-one-run-shape", all_shapes(always=False)),
    ("audit-one-run-shape", all_shapes(longer=False)),
    ("audit-one-run-shape", all_shapes(falls=False)),
    ("audit-one-run-shape", all_shapes(**{"p_at_1.4": 1e-8})),
    ("audit-one-run-replacement", inside("replacement", 1.2, (0.4, 1.0, 1e-9))),
    ("audit-one-run-replacement", inside("replacement", 1.2, (1.0, 0.4, 1e-9))),
    ("audit-one-run-surrogate", all_shapes(falls=False)),
    ("audit-one-run-surrogate-limits", fact(p_less=0.01)),
    ("audit-one-run-noise", fact(p=1e-6)),
    ("audit-one-run-noise", fact(excess=6.0)),
    ("audit-one-run-noise", fact(reach={RAW: 0.9, RATIO: 0.8})),
    ("audit-one-run-noise", fact(reach={RAW: 0.0, RATIO: 0.8})),
    ("audit-distinct-coordinates", fact(largest=0.02)),
    ("audit-distinct-coordinates", fact(pair_largest=0.5)),
    ("audit-dependence", fact(p=0.2)),
    ("audit-first", fact(both=1)),
    ("audit-fig-8", column("authors", "z", 6.0)),
    ("audit-fig-8", column("authors", "p", 1e-9)),
    ("audit-fig-8-null", fact(authors_null=0)),
    ("audit-fig-8-null", fact(early=(0, 1000))),
    ("audit-fig-8-null", column("authors", "p", 1e-9)),
    ("audit-fig-8-edge", inside("p_text", 1.2, 1e-6)),
    ("audit-fig-8-edge", inside("rates", 1.2, 0.46)),
    ("audit-fig-8-most", inside("p_text", 1.1, 1e-6)),
    ("audit-fig-8-most", fact(**{"mean_at_1.1": (2950.0, 50.0)})),
    ("audit-fig-8-quartiles", inside("by", 2000, 0.39)),
    ("audit-fig-8-quartiles", inside("by", 1000, 0.36)),
    ("audit-fig-8-quartiles", inside("quantile_z", 850, -5.0)),
    ("audit-fig-8-strong", fact(**{"mean_at_0.8": 800.0})),
    ("audit-fig-8-short", inside("rates", 1.0, 0.996)),
    ("audit-fig-8-short", inside("largest", 1.0, 9000.0)),
    ("audit-fig-8-corrected", inside("corrected", 1.2, (0.9, 0.85, 0.95))),
    ("audit-fig-8-corrected", inside("corrected", 1.3, (0.2, 0.15, 0.26))),
    ("audit-fig-8-classifier", column("threshold", "z", 1.0)),
    ("audit-fig-8-classifier", column("authors", "z", 6.0)),
    ("audit-fig-8-no-canary", fact(noise_only=1e-6)),
    ("audit-fig-8-no-canary", fact(measured_z=-1.0)),
    ("audit-fig-8-pool", fact(gap=-0.001)),
]


@pytest.mark.parametrize(
    ("id", "change"), BROKEN, ids=[f"{i}-{n}" for n, (i, _) in enumerate(BROKEN)]
)
def test_judges_can_say_no(id: str, change) -> None:
    claim, result = CLAIMS[id], base_result(id)
    worse = replace(result, facts=change(dict(result.facts)))
    assert claim.judge(worse).verdict != claim.judge(result).verdict


def test_every_judge_is_broken_once() -> None:
    assert {id for id, _ in BROKEN} == set(CLAIMS)


@pytest.mark.parametrize("id", FILES)
def test_made_up_facts_give_the_recorded_verdict(id: str) -> None:
    """So that breaking them means something, where the published scores are not at hand too."""
    assert CLAIMS[id].judge(good_files()).verdict == CLAIMS[id].recorded["quick", "files"]


def test_made_up_facts_have_the_form_of_computed_ones() -> None:
    made = good_files().facts
    both = {**computed(page.published_laws).facts, **computed(page.published_audits).facts}
    assert set(made) <= set(both)
    for name, value in made.items():
        if isinstance(value, pd.DataFrame):
            assert list(value.columns) == list(both[name].columns)
        if isinstance(value, dict):
            assert set(value) <= set(both[name])


def test_replacement_is_decided_when_rates_move_outward() -> None:
    judge, result = CLAIMS["audit-one-run-replacement"].judge, computed(page.own_audits)
    for pair, verdict in (
        ((0.82, 1.0, 1e-9), "within error"),
        ((0.2, 0.0, 1e-9), "within error"),
        ((0.82, 0.5, 1e-9), "differs"),
        ((0.82, 1.0, 1e-3), "shape only"),
    ):
        found = {mu: (1.0, 1.0, 1.0) for mu in page.EDGE} | {1.2: pair}
        assert (
            judge(replace(result, facts={**result.facts, "replacement": found})).verdict == verdict
        )


# --- a wrong library changes what the judges see ------------------------------------------------


def judged(id: str, monkeypatch, **changes) -> str:
    """Verdict on a smaller run; settings differ from test to test, since runs are kept."""
    monkeypatch.setattr(page, "PAPER_RUN", replace(page.PAPER_RUN, **changes))
    claim = CLAIMS[id]
    return claim.judge(claim.run("quick")).verdict


def test_a_short_run_passes(monkeypatch) -> None:
    assert judged("audit-one-run-law", monkeypatch, n_steps=60) == "within error"


def test_a_run_with_too_little_noise_is_seen(monkeypatch) -> None:
    right = canaries.gaussian_noise

    def wrong(n: int, sd: float, *, rng):
        return right(n, 0.9 * sd, rng=rng)

    monkeypatch.setattr(canaries, "gaussian_noise", wrong)
    assert judged("audit-one-run-law", monkeypatch, n_steps=61) == "differs"


def test_a_wrong_sampling_rate_is_seen(monkeypatch) -> None:
    right = canaries.sample_records

    def wrong(n: int, rate: float, *, rng):
        return right(n, 1.2 * rate, rng=rng)

    monkeypatch.setattr(canaries, "sample_records", wrong)
    assert judged("audit-one-run-law", monkeypatch, n_steps=62) == "differs"


def test_shared_noise_is_no_independence(monkeypatch) -> None:
    """A common part in the noise, 2 % of its variance, is seen over runs."""
    small = {"n_canaries": 4000, "hidden": 145}
    assert judged("audit-distinct-coordinates", monkeypatch, n_steps=63, **small) == "within error"
    right = canaries.gaussian_noise

    def wrong(n: int, sd: float, *, rng):
        common = np.float32(sd * math.sqrt(0.02) * rng.standard_normal())
        return math.sqrt(0.98) * right(n, sd, rng=rng) + common

    monkeypatch.setattr(canaries, "gaussian_noise", wrong)
    assert judged("audit-distinct-coordinates", monkeypatch, n_steps=64, **small) == "differs"


def test_noise_of_half_the_size_refutes_the_bound(monkeypatch) -> None:
    """The audit finds a DP-SGD that adds too little noise for the bound it states."""
    run = canaries.train(
        replace(page.PAPER_RUN, n_steps=100, noise_multiplier=0.7), *page.digits()[:2], rng=1
    )
    stated = replace(page.PAPER_RUN, n_steps=100, noise_multiplier=1.4)
    mu = GaussianDP.from_approximate(page.claimed_epsilon(stated), 1e-5).mu
    pools = targets.Resampled(run.scores_in[REMOVED], run.scores_out[REMOVED])
    stops = run_many(page.settings_of(page.SOUND, mu), pools.sample, repeats=20, rng=1)
    assert np.mean(stops != NOT_REJECTED) == 1


# --- exact parts --------------------------------------------------------------------------------


def test_exact_moments() -> None:
    """The mean's by hand, the ratio's by quadrature against draws of the literal observation."""
    s = OneRun(n_steps=5, sampling_rate=0.3, noise_multiplier=0.9)
    moments = page.exact_moments(s)
    assert moments[REMOVED] == pytest.approx(
        (0.3, math.sqrt((0.81 + 0.21) / 5), 0.0, 0.9 / math.sqrt(5))
    )
    rng = np.random.default_rng(4)
    n = 200_000
    for side, taken in ((0, rng.random((n, 5)) < 0.3), (2, np.zeros((n, 5)))):
        z = taken + 0.9 * rng.standard_normal((n, 5))
        ratio = canaries.log_ratio(z, 0.3, 0.9).sum(axis=1)
        mean, sd = moments[RATIO][side : side + 2]
        assert_plausible(2 * stats.norm.sf(abs(ratio.mean() - mean) / (sd / math.sqrt(n))))
        assert_rejected(2 * stats.norm.sf(abs(ratio.mean() - mean - 0.1) / (sd / math.sqrt(n))))
        assert ratio.std() == pytest.approx(sd, rel=0.02)


def test_limit_mu_stays_when_steps_change() -> None:
    for steps in (100, 600, 9600):
        one = page.shorter(page.PAPER_RUN, steps)
        assert one.n_steps == steps
        assert canaries.limit_mu(one) == pytest.approx(canaries.limit_mu(page.PAPER_RUN), rel=1e-12)


def test_the_accountant() -> None:
    facts = computed(page.accounting).facts
    assert facts["epsilon"] == pytest.approx(6.5543, abs=5e-4)
    assert facts["epsilon_low"] < facts["epsilon"] < facts["epsilon_low"] + 0.03
    assert facts["mu"] == pytest.approx(1.4108, abs=5e-4)
    # One step without sampling is one Gaussian mechanism, whose epsilon is in closed form.
    whole = OneRun(n_steps=2, sampling_rate=1 - 1e-12, noise_multiplier=2.0)
    exact = GaussianDP(math.sqrt(2) / 2).epsilon_at(1e-5)
    assert page.claimed_epsilon(whole) == pytest.approx(exact, abs=2e-3)
    lower = page.privacy_loss(whole, lower=True).get_epsilon_for_delta(1e-5)
    assert lower <= exact <= page.claimed_epsilon(whole) + 1e-9


def test_the_mean_of_a_canary_is_bounded_by_the_accountant() -> None:
    """Every test on the score `removed` lies above the curve that the accountant allows."""
    loss = page.privacy_loss(page.PAPER_RUN)
    alpha, beta = canaries.removed_errors(page.PAPER_RUN, np.linspace(-0.3, 0.5, 81))
    for epsilon in (0.5, 2.0, 5.0):
        delta = loss.get_delta_for_epsilon(epsilon)
        assert np.all(alpha * math.exp(epsilon) + beta >= 1 - delta - 1e-9)
        assert np.all(beta * math.exp(epsilon) + alpha >= 1 - delta - 1e-9)
    # The same test with the noise of half the size would break it.
    less = replace(page.PAPER_RUN, noise_multiplier=1.5)
    alpha, beta = canaries.removed_errors(less, np.linspace(-0.3, 0.5, 81))
    assert np.any(alpha * math.exp(2.0) + beta < 1 - loss.get_delta_for_epsilon(2.0))


def test_pool_gap_by_counting() -> None:
    """Two pools of three: all thresholds by hand."""
    included, excluded = [1.0, 2.0, 3.0], [0.0, 1.5, 2.5]
    points = []
    for t in included + excluded:
        alpha = np.mean(np.array(excluded) >= t)
        points.append((float(GaussianDP(0.5)(alpha)) - np.mean(np.array(included) < t), alpha))
    gap, alpha, _ = page.pool_gap(included, excluded, 0.5)
    assert gap == pytest.approx(max(points)[0])
    assert page.pool_gap(included, included, 0.5)[0] <= 0
    assert alpha in {a for _, a in points}


def test_pools_of_the_published_moments_break_the_claim() -> None:
    made = surrogates.canary_scores(rng=1, n=200_000)
    assert page.pool_gap(made.included, made.excluded, 1.4)[0] == pytest.approx(0.026, abs=0.006)
    one, two = np.random.default_rng(1).normal(0, 1, (2, 200_000))
    assert page.pool_gap(one + 1.36, two, 1.4)[0] < 0.005


# --- audits -------------------------------------------------------------------------------------


def test_settings_are_what_they_are_called() -> None:
    published, corrected, sound = (page.settings_of(kind, 1.2) for kind in page.KINDS)
    assert (published.side, published.scoring, published.burn_in) == ("published", "rescored", 100)
    assert dataclasses.replace(published, side="corrected") == corrected
    assert (sound.side, sound.scoring, sound.critical_value) == ("corrected", "burn-in", None)
    assert {s.horizon for s in (published, corrected, sound)} == {10_100}
    # Their recipe for M = 100, simulated there with a standard error of 0.015.
    assert published.critical_value == pytest.approx(1.59, abs=0.03)


def test_claims_and_settings_share_their_resamplings(monkeypatch) -> None:
    seen = []

    def spy(settings, source, *, repeats, rng):
        seen.append(rng)
        return np.full(repeats, NOT_REJECTED)

    monkeypatch.setattr(page, "run_many", spy)
    found = page.sweep([1.0, 2.0], [0.0, 1.0], "s", repeats=4, rng=1)
    assert len(found) == 21 and len(set(seen)) == 1
    assert not found["hits"].any() and found["mean"].isna().all()
    assert (found["high"] > 0).all()


def test_summary_of_stops() -> None:
    found = dict(zip(page._COLUMNS[3:], page._summary(np.array([-1, 100, 200, 300])), strict=True))
    assert (found["repeats"], found["hits"], found["rate"]) == (4, 3, 0.75)
    assert (found["mean"], found["median"], found["largest"]) == (200, 200, 300)
    assert found["error"] == pytest.approx(100 / math.sqrt(3))
    assert math.isnan(page._summary(np.array([-1, 100]))[6])


def test_without_replacement_every_score_is_used_once(monkeypatch) -> None:
    pools = targets.Resampled(np.arange(300.0), np.arange(400.0))
    seen = []

    def spy(settings, pairs, *, stop):
        seen.append(pairs)
        return type("Path", (), {"rejected_at": NOT_REJECTED})

    monkeypatch.setattr(page, "path", spy)
    page._without_replacement(page.settings_of(page.PUBLISHED, 1.0), pools, 3, 5)
    for x, y in seen:
        assert len(x) == len(y) == 300
        assert len(set(x)) == len(set(y)) == 300
    assert not np.array_equal(seen[0][0], seen[1][0])


def test_shapes() -> None:
    rates = {0.8: 40, 0.9: 40, 1.0: 40, 1.1: 40, 1.2: 20, 1.3: 4, 1.4: 0}
    rows = [("s", "k", mu, 40, hits, hits / 40, 0, 1, 100 * mu) for mu, hits in rates.items()]
    table = pd.DataFrame(rows, columns=[*page._COLUMNS[:8], "mean"])
    (shape,) = page._shapes(table).values()
    assert shape["always"] and shape["longer"] and shape["falls"] and shape["p_at_1.4"] == 1
    for column, row, value, name in (
        ("hits", 2, 39, "always"),
        ("mean", 2, 10.0, "longer"),
        ("hits", 5, 39, "falls"),
    ):
        worse = table.copy()
        worse.loc[row, column] = value
        assert not next(iter(page._shapes(worse).values()))[name]
    table.loc[6, "hits"] = 12
    assert next(iter(page._shapes(table).values()))["p_at_1.4"] < 1e-6


def test_a_paired_gain_is_surer_than_two_unpaired_values() -> None:
    run = page.dp_sgd_scores()
    gain, error = page._paired(run, RATIO, RAW)
    one, two = (canaries.separation(run.scores_in[k], run.scores_out[k]) for k in (RATIO, RAW))
    assert gain == pytest.approx(one.value - two.value)
    assert error < 0.5 * math.hypot(one.error, two.error)
    assert page._paired(run, RAW, RAW) == (0.0, 0.0)


def test_limit_under_dependence() -> None:
    """Formula against draws of the common part (false alarm 1e-9)."""
    row = computed(page.dependence).table.iloc[-1]
    u, v = np.random.default_rng(1).standard_normal((2, 100_000))
    distance = np.abs(1 + math.sqrt(0.1) * (u - v)) / math.sqrt(0.9)
    hits = int(np.sum(distance > 1))
    assert_plausible(stats.binomtest(hits, 100_000, row["limit"]).pvalue)
    assert_rejected(stats.binomtest(hits, 100_000, 1 - row["limit"]).pvalue)


def test_scores_are_kept_within_a_process() -> None:
    assert page.dp_sgd_scores("quick", 2026) is page.dp_sgd_scores("paper", 2026)
    run = page.dp_sgd_scores()
    assert run.accuracy > 0.9 and run.settings.n_canaries == 10_000
    assert run.settings == replace(OneRun(), learning_rate=0.25, n_watched=300)


def test_unknown_profile() -> None:
    for run in {claim.run for claim in CLAIMS.values()}:
        with pytest.raises((ValueError, KeyError), match="profile must be one of"):
            run("qick")


def test_the_surrogate_is_called_one() -> None:
    result = computed(page.surrogate_audits)
    assert result.source == "surrogate" and "surrogate" in result.setting
    assert set(result.table["scores"]) == {"surrogate"}
    assert "surrogate" in CLAIMS["audit-one-run-surrogate"].label


def test_tables_and_figures() -> None:
    own, published = computed(page.own_audits), computed(page.published_audits)
    assert page.audits_table(own, RAW).shape == (7, 7)
    assert page.audits_table(published, "published").shape == (7, 7)
    assert page.authors_table(published).shape == (7, 7)
    assert page.replacement_table(own).shape == (4, 4)
    assert computed(page.noise_levels).table.shape[1] == 7
    figures = [
        page.draw_audits(own, 1.41),
        page.draw_audits(computed(page.surrogate_audits), 1.41),
        page.draw_audits(published, 1.41, authors=True),
    ]
    for figure in figures:
        assert all(axis.get_lines() for axis in figure.axes)
        plots.plt.close(figure)
