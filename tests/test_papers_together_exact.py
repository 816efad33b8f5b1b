"""The exact auditor's pages: verdicts, judges that can say no, planted defects."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statistical import FALSE_ALARM, assert_rejected, binomial_tail

from ldpkv.auditing import betting, targets
from ldpkv.auditing.apt import NOT_REJECTED
from ldpkv.auditing.betting import Betting
from ldpkv.auditing.information import respects
from ldpkv.papers import evidence, plots
from ldpkv.papers.together import exact as page
from ldpkv.tradeoff import GaussianDP, PiecewiseLinear, PureDP

CLAIMS = {claim.id.removeprefix("together-exact-"): claim for claim in page.CLAIMS}
FAST = ("no-gain", "level", "dependence")


@pytest.mark.parametrize("id", FAST)
def test_recorded_verdict(id: str) -> None:
    claim = CLAIMS[id]
    found = claim.judge(claim.run("quick"))
    assert found.verdict == claim.recorded["quick", "computed"] == evidence.EXACT
    json.dumps(asdict(found))


def test_claims_are_well_formed() -> None:
    for claim in page.CLAIMS:
        assert claim.id.startswith("together-exact-") and claim.paper == "together"
        assert claim.mark == "own" and claim.statement.endswith(".")
        assert {profile for profile, _ in claim.recorded} == set(evidence.PROFILES)


# --- results by hand, so that judges are tried without simulation ----------------------------


def bar_result(**changes: Any) -> evidence.Result:
    limit = page.floor(page.rows()[0])
    records = []
    for row in page.rows():
        stops = np.array([0.98, 1.02] * 200) * 2 * limit.low
        record = page._bar_record(row, stops.astype(np.int64), limit)
        records.append({**record, "z_published": -30.0, "z_prototype": -30.0, "prototype": 90.0})
    table = pd.DataFrame(records)
    for name, value in changes.items():
        table.loc[3, name] = value
    facts = {"smallest": 2.0, "largest": 2.0}
    return evidence.Result("paper", table, facts)


def null_result(**changes: Any) -> evidence.Result:
    facts = {
        "p": 0.3,
        "bound": 1e-5,
        "largest": 0.05,
        "largest_null": "a",
        "seen": 0.07,
        "defect_p": 1e-30,
        "defect_rate": 1.0,
        "nulls": 13,
        "repeats": 4000,
    }
    return evidence.Result("paper", pd.DataFrame(), {**facts, **changes})


def known_result(order: int) -> evidence.Result:
    saved = {"order": order, "ratio": 0.8, "earlier": 0.8}
    return evidence.Result("paper", pd.DataFrame(), {"saved": saved})


def bounds_result(**changes: Any) -> evidence.Result:
    row = {"stream": "a", "μ above": 1.2, "ε above": 2.0, "μ at most": 1.4, "ε at most": 6.0}
    facts = {
        "p": 0.5,
        "p_values": {"a": 0.5},
        "inside": True,
        "monotone": True,
        "same": True,
        "ends": pd.DataFrame([{**row, **changes.pop("row", {})}]),
        "observations": {"published scores": 10},
    }
    return evidence.Result("paper", pd.DataFrame(), {**facts, **changes})


def compare_result(order: int = -1, *, p: Mapping[str, float] | None = None) -> evidence.Result:
    methods = (*page.METHODS[1:], *page.TABLE_ONLY)
    row = {name: {"order": order, "ratio": 0.5, "earlier": 0.9} for name in methods}
    chances = {page.OURS: 0.5, page.PUBLISHED: 1e-9, page.CORRECTED: 1e-9, **(p or {})}
    summary = pd.DataFrame(
        {"setting": page.NULL_SETTING, "method": name, "rejected": 0.05, "p": value}
        for name, value in chances.items()
    )
    return evidence.Result("paper", pd.DataFrame(), {"order": {"one": row}, "summary": summary})


def vectors_result(first: int, both: int, added: int = 400) -> evidence.Result:
    hits = dict(zip(page.SEEN, (first, both, added), strict=True))
    table = pd.DataFrame(
        {"the auditor sees": seen, "rejected": n, "runs": 400} for seen, n in hits.items()
    )
    return evidence.Result("paper", table)


def record_result(**changes: Any) -> evidence.Result:
    facts = {"runs": 9, "equal": 9, "seed": True, "made": ["2026-11-30"], "versions": "x 1"}
    facts |= changes
    return evidence.Result("quick", pd.DataFrame(), facts)


def broken_facts(id: str, **broken: Any) -> evidence.Result:
    result = CLAIMS[id].run("quick")
    return replace(result, facts={**result.facts, **broken})


GOOD: Mapping[str, Callable[[], evidence.Result]] = {
    "null": null_result,
    "bar": bar_result,
    "prototype": bar_result,
    "rates": bar_result,
    "floor": bar_result,
    "known": functools.partial(known_result, -1),
    "vectors": functools.partial(vectors_result, 20, 400),
    "record": record_result,
    "compare-record": record_result,
    "bounds": bounds_result,
    "nested": bounds_result,
    "compare": compare_result,
    "compare-rescored": compare_result,
    "compare-fixed": compare_result,
    "compare-null": compare_result,
    "published": bounds_result,
}
BROKEN: list[tuple[str, Callable[[], evidence.Result], str]] = [
    ("no-gain", lambda: broken_facts("no-gain", excess=1e-6), "differs"),
    ("no-gain", lambda: broken_facts("no-gain", smallest_return=-1e-9), "differs"),
    ("no-gain", lambda: broken_facts("no-gain", idle=0.01), "differs"),
    ("no-gain", lambda: broken_facts("no-gain", defect=0.0), "differs"),
    ("level", lambda: broken_facts("level", largest=0.51), "differs"),
    ("level", lambda: broken_facts("level", least=0.0), "differs"),
    ("level", lambda: broken_facts("level", growth=1e-9), "differs"),
    ("level", lambda: broken_facts("level", false_growth=0.0), "differs"),
    ("null", lambda: null_result(p=1e-7), "differs"),
    ("null", lambda: null_result(defect_p=0.2), "shape only"),
    ("bar", lambda: bar_result(z_published=20.0), "differs"),
    ("bar", lambda: bar_result(z_published=-1.0), "shape only"),
    ("prototype", lambda: bar_result(z_prototype=20.0), "differs"),
    ("prototype", lambda: bar_result(prototype=25.0), "shape only"),
    ("rates", lambda: bar_result(rate=0.9), "differs"),
    ("rates", lambda: bar_result(rate=0.9975), "shape only"),
    ("floor", lambda: bar_result(z_floor=-20.0), "differs"),
    ("floor", lambda: bar_result(z_factor=20.0), "differs"),
    ("floor", lambda: bar_result(mean=90.0), "shape only"),
    ("known", lambda: known_result(1), "differs"),
    ("known", lambda: known_result(0), "shape only"),
    ("vectors", lambda: vectors_result(60, 400), "differs"),
    ("vectors", lambda: vectors_result(20, 300), "differs"),
    ("vectors", lambda: vectors_result(20, 399), "shape only"),
    ("record", lambda: record_result(equal=8), "differs"),
    ("compare-record", lambda: record_result(equal=8), "differs"),
    ("record", lambda: record_result(seed=False), "not checkable"),
    ("bounds", lambda: bounds_result(p=1e-9), "differs"),
    ("bounds", lambda: bounds_result(inside=False), "shape only"),
    ("nested", lambda: bounds_result(monotone=False), "differs"),
    ("nested", lambda: bounds_result(same=False), "differs"),
    ("dependence", lambda: broken_facts("dependence", coin_told=1.0), "differs"),
    ("dependence", lambda: broken_facts("dependence", guess_told=1.1), "differs"),
    ("dependence", lambda: broken_facts("dependence", guess_rejects=0.2), "differs"),
    ("compare", lambda: compare_result(1), "differs"),
    ("compare", lambda: compare_result(0), "shape only"),
    ("compare-rescored", lambda: compare_result(1), "differs"),
    ("compare-fixed", lambda: compare_result(1), "differs"),
    ("compare-null", lambda: compare_result(p={page.OURS: 1e-9}), "differs"),
    (
        "compare-null",
        lambda: compare_result(p={page.PUBLISHED: 0.1, page.CORRECTED: 0.1}),
        "shape only",
    ),
    ("published", lambda: bounds_result(row={"μ above": 1.4}), "differs"),
    ("published", lambda: bounds_result(row={"μ above": 1.0}), "differs"),
]


@pytest.mark.parametrize("id", GOOD)
def test_judges_can_say_yes(id: str) -> None:
    found = CLAIMS[id].judge(GOOD[id]())
    assert found.verdict in (evidence.EXACT, evidence.WITHIN_ERROR)
    json.dumps(asdict(found))


@pytest.mark.parametrize(
    ("id", "make", "verdict"), BROKEN, ids=[f"{row[0]}-{n}" for n, row in enumerate(BROKEN)]
)
def test_judges_can_say_no(id: str, make: Callable[[], evidence.Result], verdict: str) -> None:
    assert CLAIMS[id].judge(make()).verdict == verdict


def test_every_judge_is_broken_once() -> None:
    assert {row[0] for row in BROKEN} == set(CLAIMS)


# --- exact parts -----------------------------------------------------------------------------


def test_laws_of_the_recursion_lie_on_their_claims() -> None:
    for _, curve, p, q, _ in page.TIGHT:
        assert respects(p, q, curve)
        own = PiecewiseLinear.from_laws(p, q)
        gap = [float(b) - float(curve(float(a))) for a, b in own.points]
        assert max(map(abs, gap)) < 1e-12


def test_coin_returns_by_hand() -> None:
    """The page's fractions are the returns that the auditor pays."""
    e = Fraction(3)
    arrays = betting._assets(Betting(PureDP(math.log(3.0)), form="coins")).arrays("coins")
    _, _, base_p, gain_p, base_q, gain_q = arrays[:, -1]  # the steep line
    for phi in (Fraction(0), Fraction(1, 3), Fraction(1)):
        paid = [float(page._payoff(page.COIN, e, phi, coin)) for coin in (0, 1)]
        assert paid[0] == pytest.approx(base_p + gain_p * (1 - float(phi)))
        assert paid[1] == pytest.approx(base_q + gain_q * float(phi))
    assert page._mean_payoff(page.COIN, e, Fraction(0), Fraction(1, 4)) == Fraction(11, 10)


def test_no_guess_gains_whatever_the_dependence() -> None:
    """Random joint laws of all scores that are epsilon-DP in every coin: three coins."""
    rng = np.random.default_rng(4)
    e = 3.0
    for _ in range(50):
        # Product of randomised responses about shared functions would do; here any law within e.
        law = np.exp(rng.uniform(0, math.log(e), (2, 2, 2, 5)))
        law /= law.sum(axis=3, keepdims=True)
        worst = max(
            float(np.max(np.divide(np.take(law, a, axis), np.take(law, 1 - a, axis))))
            for axis in range(3)
            for a in (0, 1)
        )
        joint = law / 8
        for i in range(3):
            later = tuple(range(i + 1, 3))
            table = joint.sum(axis=later)  # earlier coins, own coin, scores
            own = np.moveaxis(table, i, 0)
            share = own / own.sum(axis=0)
            assert np.all((1 + 1 / worst) * share <= 1 + 1e-12)


def test_ever_rich_against_simulation() -> None:
    rng = np.random.default_rng(3)
    right = rng.random((4000, 60)) < 0.75
    path = np.cumsum(np.where(right, math.log(1.1), math.log(0.9)), axis=1)
    hits = int((path.max(axis=1) >= math.log(20)).sum())
    chance = page._ever_rich(page.COIN, Fraction(3), Fraction(3, 4), 60)
    assert binomial_tail(hits, 4000, chance) >= FALSE_ALARM
    assert_rejected(binomial_tail(hits, 4000, 1.3 * chance), "a wrong recursion")


def test_rates_have_exact_intervals() -> None:
    row = page.rate_record("a", np.array([5] * 7 + [NOT_REJECTED] * 93))
    exact = stats.binomtest(7, 100).proportion_ci(0.95, "exact")
    assert (row["low"], row["high"]) == pytest.approx((exact.low, exact.high))
    assert row["p"] == pytest.approx(stats.binomtest(7, 100, 0.05, "greater").pvalue)
    none = page.rate_record("a", np.full(10, NOT_REJECTED))
    every = page.rate_record("a", np.full(10, 3))
    assert none["low"] == 0 and none["p"] == 1 and every["high"] == 1


def test_coupled_pairs_have_the_marginals_of_the_claim() -> None:
    for mirrored in (False, True):
        x, y = page.Coupled(1.0, mirrored).sample(2000, rng=1)
        np.testing.assert_allclose(y, 1 - x if mirrored else 1 + x)
        assert stats.kstest(x, "norm").pvalue > FALSE_ALARM
        assert stats.kstest(y - 1, "norm").pvalue > FALSE_ALARM


def test_ten_rows_of_the_bar() -> None:
    every = page.rows()
    assert len(every) == 10 and len({row.name for row in every}) == 10
    for row in every:
        assert row.prototype < row.published[1]
        x, _ = row.target.sample(3, rng=1)
        assert x.shape == (3,)
    # The binned laws are those of the samplers.
    for row in (every[1], every[3], every[5], every[8]):
        sd = DPSGD_SD if "DP-SGD" in row.name else 1.0
        pair = row.target.sample(2000, rng=2)
        for cdf, side in zip(row.cdfs, pair, strict=True):
            assert stats.kstest(side / sd, cdf).pvalue > FALSE_ALARM
    shifted = stats.kstest(every[5].target.sample(2000, rng=2)[1], every[5].cdfs[0]).pvalue
    assert_rejected(float(shifted), "laws in the wrong order")


DPSGD_SD = targets.DPSGD(10).curve().sd


def test_known_floor() -> None:
    for index, expected in ((0, 16.4), (3, 34.7), (5, 337.0)):
        assert page.floor(page.rows()[index], 40).low == pytest.approx(expected, rel=0.02)


def test_flipped_coins_choose_sides() -> None:
    a, b = np.arange(1000.0), -np.arange(1000.0) - 1
    outputs, coins = page.flipped(a, b, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(outputs, np.where(coins == 1, a, b))
    assert binomial_tail(int(coins.sum()), 1000, 0.5) >= FALSE_ALARM


def test_paired_comparison() -> None:
    rng = np.random.default_rng(2)
    base = rng.integers(50, 500, 80)
    assert page.paired(base, 2 * base + rng.integers(0, 9, 80), 2000, 4)["order"] == -1
    assert page.paired(2 * base + rng.integers(0, 9, 80), base, 2000, 4)["order"] == 1
    assert page.paired(base, rng.permutation(base), 2000, 4)["order"] == 0
    same = page.paired(base, base, 2000, 4)
    assert same["order"] == 0 and same["ratio"] == 1
    # A run that did not reject has used the horizon.
    assert page.paired(np.full(9, NOT_REJECTED), np.full(9, 100), 200, 1)["ratio"] == pytest.approx(
        2
    )


def test_discordant_streams() -> None:
    theirs = np.zeros((len(page.SIZES), 60), dtype=bool)
    theirs[4:, :30] = True
    found = page._discordant(np.ones_like(theirs), theirs)
    assert (found["order"], found["only ours"], found["only theirs"]) == (-1, 30, 0)
    assert page._discordant(theirs, theirs)["order"] == 0
    assert page._discordant(np.zeros_like(theirs), theirs)["order"] == 1


def test_first_runs_of_a_record_are_made_again() -> None:
    """Two runs of the cheapest row, from the bar's own seeds; a planted defect is noticed."""
    row = page.rows()[0]
    own = np.random.default_rng(9_104_772).integers(2**62, size=10)[0]
    settings = Betting(row.claimed, level=page.LEVEL, horizon=page.HORIZON)
    stops = betting.run_many(settings, row.target.sample, repeats=2, rng=int(own))

    def held(stops: Any, seed: int = 9_104_772) -> str:
        facts = page._drawn("together-exact-bar", {row.name: stops}, seed)
        result = evidence.Result("quick", pd.DataFrame(), facts)
        return CLAIMS["record"].judge(page.reproduced(result)).verdict

    assert held(stops) == evidence.EXACT
    assert held(stops + 1) == evidence.DIFFERS
    assert held(stops, 1) == evidence.NOT_CHECKABLE


def test_medians_of_stops() -> None:
    assert page.median_stop(np.array([30, 10, 20, NOT_REJECTED])) == 20
    assert page.median_stop(np.array([30, 10, 20])) == 20
    assert math.isnan(page.median_stop(np.array([10, NOT_REJECTED, NOT_REJECTED])))


def test_half_points() -> None:
    assert page.half_point((50, 200), (0.25, 0.75)) == pytest.approx(100)
    assert math.isnan(page.half_point((50, 200), (0.1, 0.4)))
    assert page.half_point((50, 200), (0.6, 0.9)) == 50


def test_methods_share_their_stream() -> None:
    setting = page.comparison_settings()[1]
    pairs = setting.target.sample(page.SIZES[-1], rng=5)
    stops, batches = page.stops_on(setting, pairs)
    again = betting.audit(Betting(setting.claimed, horizon=page.SIZES[-1]), pairs)
    assert stops[page.OURS] == again.rejected_at
    assert set(stops) | set(batches) == set(page.GUARANTEES)
    assert set(page.METHODS) | set(page.TABLE_ONLY) == set(page.GUARANTEES)
    assert all(len(b) == len(page.SIZES) for b in batches.values())


# --- small runs, and figures -----------------------------------------------------------------


def test_bounds_of_a_short_stream() -> None:
    pairs = targets.Gaussian(1.0).sample(600, rng=3)
    truth = GaussianDP(1.0)
    stream = page.Stream("Gaussian", "pairs", pairs, 1.0, truth.epsilon_at(page.DELTA))
    result = page._bounds("quick", [stream], "computed")
    facts = result.facts
    assert facts["monotone"] and facts["same"] and facts["inside"] and facts["p"] > FALSE_ALARM
    assert facts["ends"]["μ above"].iloc[0] > 0.2
    # A bound that is too low a ceiling is exposed by its p-value.
    false = page._bounds("quick", [replace(stream, mu=0.1, epsilon=0.1)], "computed")
    assert CLAIMS["bounds"].judge(false).verdict == evidence.DIFFERS
    plots.plt.close(page.draw_bounds(result))
    assert page.bounds_table(result).shape == (1, 5)


def test_two_releases_break_the_claim_only_together() -> None:
    x, y = page.two_releases(4000, rng=np.random.default_rng(1))
    assert x.shape == y.shape == (4000, 2)
    for noise in (x, y - 1):
        assert abs(np.corrcoef(noise.T)[0, 1]) < 0.1
        for side in noise.T:
            assert stats.kstest(side, "norm").pvalue > FALSE_ALARM
    first = page._first_release(7, rng=np.random.default_rng(1))
    added = page._summed(7, rng=np.random.default_rng(1))
    both = page.two_releases(7, rng=np.random.default_rng(1))
    for one, two, three in zip(first, both, added, strict=True):
        np.testing.assert_array_equal(one, two[:, 0])
        np.testing.assert_array_equal(three, two.sum(axis=1))


def test_no_bound_is_sooner_than_the_floor() -> None:
    for symbol, truth in (("μ", 1.0), ("ε", GaussianDP(1.0).epsilon_at(page.DELTA))):
        pairs, values = zip(*page.reach(symbol, 3000), strict=True)
        assert list(pairs) == sorted(pairs) and max(values) < truth and max(pairs) <= 3000
    floors = page.epsilon_floors()
    assert floors["exact_floor_two"] == pytest.approx(2000, rel=0.05)
    assert floors["exact_floor_three"] == pytest.approx(90_000, rel=0.05)


def test_tables_and_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    result = bar_result()
    assert page.bar_table(result).shape == (10, 7)
    table = pd.DataFrame(
        [page.rate_record("a", np.array([3, -1, -1])), page.rate_record(page.DEFECT, np.ones(3))]
    )
    compared = pd.DataFrame(
        (s.name, m, n, 0.5, 0.4, 0.6)
        for s in page.comparison_settings()
        for m in page.METHODS
        for n in page.SIZES
    )
    compared.columns = pd.Index(["setting", "method", "n", "rate", "low", "high"])
    summary = pd.DataFrame(
        {"setting": s.name, "method": m, "half by": math.nan, "rejected": 0.1}
        for s in page.comparison_settings()
        for m in page.GUARANTEES
    )
    both = evidence.Result("quick", compared, {"summary": summary})
    assert page.compare_table(both).shape == (9, 7)
    for figure in (
        page.draw_bar(result),
        page.draw_type_one(evidence.Result("quick", table)),
        page.draw_compare(both),
    ):
        assert figure.axes[0].get_lines()
        plots.plt.close(figure)


def test_unknown_profile() -> None:
    for run in {claim.run for claim in page.CLAIMS}:
        with pytest.raises(ValueError, match="profile must be one of"):
            run("qick")
