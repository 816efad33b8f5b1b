"""Pages 08 to 10: synthetic data, surrogates of the large sets, the padding length."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ldpkv import theory
from ldpkv.mechanisms import PCKVGRR, PCKVUE
from ldpkv.papers import evidence, plots
from ldpkv.papers.evidence import Result
from ldpkv.papers.pckv import large_data, padding, synthetic
from ldpkv.trials import Trials

CLAIMS = {c.id: c for module in (synthetic, large_data, padding) for c in module.CLAIMS}
RUNS = {
    "accuracy": synthetic.accuracy,
    "theorem_4": synthetic.theorem_4,
    "allocations": synthetic.allocations,
    "privkvm_bias": synthetic.privkvm_bias,
    "domain": synthetic.domain,
    "user_number": synthetic.user_number,
    "precision": synthetic.precision,
    "trade_off": padding.trade_off,
}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few users and repetitions: enough to run every line, not to decide anything."""
    monkeypatch.setattr(synthetic, "N_USERS", {"quick": 2_000})
    monkeypatch.setattr(synthetic, "REPEATS", {"quick": 3})
    monkeypatch.setattr(synthetic, "EPSILONS", (1.0, 6.0))
    monkeypatch.setattr(synthetic, "N_KEYS", 8)
    monkeypatch.setattr(synthetic, "DOMAIN", (20, 50))
    monkeypatch.setattr(synthetic, "PRECISION_DOMAIN", {"quick": (20, 50)})
    monkeypatch.setattr(synthetic, "SWEEP_USERS", {"quick": (1_000, 3_000)})
    monkeypatch.setattr(synthetic, "TOP", (5, 10))
    monkeypatch.setattr(padding, "COPIES", {"quick": 2})
    monkeypatch.setattr(padding, "REPEATS", {"quick": 3})
    monkeypatch.setattr(padding, "EPSILONS", (1.0, 6.0))


def frames_equal(one: Result, two: Result) -> None:
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    assert str(one.facts) == str(two.facts)


@pytest.mark.parametrize("name", ["accuracy", "domain", "trade_off"])
def test_workers_do_not_matter(tiny: None, name: str) -> None:
    frames_equal(RUNS[name]("quick", 7, n_jobs=1), RUNS[name]("quick", 7, n_jobs=2))


@pytest.mark.parametrize("name", ["precision", "privkvm_bias", "theorem_4"])
def test_resumed_runs_are_the_same(tiny: None, name: str, tmp_path: Path) -> None:
    whole = RUNS[name]("quick", 7)
    RUNS[name]("quick", 7, checkpoint=tmp_path)
    stored = sorted(tmp_path.rglob("*.npz"))
    assert stored
    for path in stored[::2]:  # as if killed half-way
        path.unlink()
    frames_equal(whole, RUNS[name]("quick", 7, checkpoint=tmp_path))


def test_another_seed_is_another_run(tiny: None) -> None:
    one, two = (synthetic.user_number("quick", seed) for seed in (1, 2))
    assert not np.allclose(one.table["frequency_mse"], two.table["frequency_mse"])


# --- the pieces that verdicts rest on -----------------------------------------------------------


def test_signs_of_paired_differences() -> None:
    noise = np.tile([-1.0, 1.0], 20)
    assert synthetic.sign_of(10 + noise, 100) == 1
    assert synthetic.sign_of(-10 + noise, 100) == -1
    assert synthetic.sign_of(0.1 + noise, 100) == 0
    assert synthetic.sign_of(np.full(5, 0.0), 1) == 0
    assert synthetic.sign_of(np.full(5, -2.0), 1) == -1


def test_sign_keeps_its_false_alarm(rng: np.random.Generator) -> None:
    """Without any difference, 2,000 tests at 1e-4 decide hardly one."""
    decided = [synthetic.sign_of(rng.standard_normal(10), 1) != 0 for _ in range(2_000)]
    assert sum(decided) <= 4


def test_intervals_by_hand() -> None:
    average, low, high = synthetic.interval(np.array([1.0, 3.0]))
    assert average == 2
    assert high - 2 == pytest.approx(12.7062, rel=1e-4)  # t(0.975; 1) * sqrt(2) / sqrt(2)
    assert low == 4 - high


def trials_of(frequency: list[list[float]], truth: list[float]) -> Trials:
    estimates = np.array(frequency)[None]
    true = np.array([truth])
    return Trials(
        tuple("ab"[: len(frequency)]), np.arange(len(truth)), estimates, estimates, true, true
    )


def test_precision_by_hand() -> None:
    trials = trials_of([[0.5, 0.3, 0.2, 0.1], [0.1, np.nan, 0.4, 0.3]], [0.4, 0.3, 0.2, 0.1])
    one, two = synthetic.top_precision(trials, (1, 2), 0)
    assert one.tolist() == [[1.0, 0.0]]
    assert two.tolist() == [[1.0, 0.0]]


def test_ties_are_broken_by_lot_not_by_index() -> None:
    trials = trials_of([[0.1] * 40], [0.1] * 10 + [0.0] * 30)
    hits = [synthetic.top_precision(trials, (10,), seed)[0][0, 0] for seed in range(200)]
    assert np.mean(hits) == pytest.approx(0.25, abs=0.05)


def test_expected_errors_are_theorem_4() -> None:
    mechanism = PCKVUE.from_epsilon(2.0, n_keys=2, padding=1)
    truth = trials_of([[0.0, 0.0]], [0.7, 0.3])
    truth = replace(truth, true_mean=np.array([[0.5, -0.2]]))
    numbers = theory.Numbers.of(mechanism)
    frequency, mean = synthetic.expected_errors(mechanism, truth, 1000)
    by_hand = [theory.frequency_variance(numbers, f, 1000) for f in (0.7, 0.3)]
    assert frequency[0] == pytest.approx(np.mean(by_hand))
    first, second = (
        theory.mean_variance_printed(numbers, f, m, 1000)
        + theory.mean_bias(numbers, f, m, 1000) ** 2
        for f, m in ((0.7, 0.5), (0.3, -0.2))
    )
    assert mean[0] == pytest.approx((first + second) / 2)
    lower = synthetic.expected_errors(mechanism, truth, 1000, with_bias=False)[1]
    assert lower[0] < mean[0]


def test_slope() -> None:
    x = np.log([1.0, 10.0, 100.0])
    assert synthetic._slope(x, 2 * x[None] + 1)[0] == pytest.approx(2)


def test_copies_divide_variances_and_keep_biases() -> None:
    """`expected` for copied users is `moments_of_data` on the copies."""
    users, keys = padding.students()
    users = users.take_users(np.arange(60))
    keys = users.top_keys(5)
    many = users.take_users(np.tile(np.arange(60), 7))
    mechanism = PCKVGRR.from_epsilon(6.0, n_keys=users.n_keys, padding=9)
    one = padding.expected(users, mechanism, keys, 7)
    two = padding.expected(many, mechanism, keys, 1)
    assert one == pytest.approx(two)


def test_percentile_of_shares() -> None:
    assert padding.percentile(np.array([0.5, 0.4, 0.1]), 0.9) == 2
    assert padding.percentile(np.array([0.5, 0.4, -0.3, 0.1]), 0.9) == 2
    assert padding.percentile(np.array([0.0, 0.0, 1.0]), 0.9) == 3


def test_private_lengths_need_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(padding, "COPIES", {"quick": 10})
    monkeypatch.setattr(padding, "LENGTH_REPEATS", {"quick": 20})
    monkeypatch.setattr(padding, "LENGTH_EPSILONS", (0.1, 6.0))
    table = padding.private_lengths("quick", 1).table.set_index(["coding", "epsilon"])
    assert table.loc[("each length", 6.0), "average"] == pytest.approx(47, abs=2)
    assert table.loc[("each length", 0.1), "average"] > 70


# --- judges must be able to say no ----------------------------------------------------------------

SIGNS = {
    (family, one, other, epsilon): -1
    for family in synthetic.SETTINGS
    for one in synthetic.PCKV
    for other in synthetic.OTHERS
    for epsilon in (1.0, 6.0)
}
SWEEP_SIGNS = {
    (statistic, one, other, d): -1
    for statistic in ("frequency", "mean")
    for one in synthetic.PCKV
    for other in synthetic.OTHERS
    for d in (20, 2000)
}
WIDE = {("raw", name): (1.0, 0.98, 1.02) for name in synthetic.METHODS}
WIDE["raw", "PCKV-UE"] = (0.0, -0.02, 0.02)
SLOPES = {
    (s, name): (1.0, 0.99, 1.01) for s in ("raw", "frequency", "mean") for name in synthetic.METHODS
}
FALLS = {
    (family, top, name): -1
    for family in synthetic.PRECISION_FAMILIES
    for top in (10, 20)
    for name in synthetic.METHODS
}
BEST = {("Gaussian", "d", 10, name, 50): 1 for name in synthetic.OTHERS}
AGAINST = {key: dict.fromkeys(synthetic.PCKV, 1) for key in BEST}
LARGE = {
    (statistic, one, other, e): -1
    for statistic in ("frequency", "mean")
    for one, other in [
        ("PCKV-UE", "PrivKV"),
        ("PCKV-GRR", "PrivKV"),
        ("PCKV-UE", "KVUE"),
        ("PCKV-GRR", "KVUE"),
        ("PCKV-UE", "PCKV-GRR"),
    ]
    for e in (1.0, 6.0)
}
GRR_FIRST = {k: (1 if k[2] == "PCKV-GRR" else s) for k, s in LARGE.items()}
TRADE = {
    "n_users": 1000,
    "p90": 47,
    "lengths": {50: 22, 75: 33, 90: 47, 95: 55, 100: 92},
    "bias_falls": True,
    "variance_rises": True,
    "mean_bias_falls": True,
    "clear": [("PCKV-GRR", 6.0)],
    "mean_variance_falls": [],
    "relative_bias": {5: -0.7, 22: -0.2, 47: -0.03, 92: 0.0},
    "underestimates": True,
    "rises_throughout": True,
    "growth_ue": 17.0,
    "growth_grr": 1.1,
    "largest_t": 1.0,
    "critical_t": 5.0,
    "cases": 10,
    "best": {(n, e): 47 for n in padding.PCKV for e in padding.EPSILONS},
    "cost": {(n, e): 1.0 for n in padding.PCKV for e in padding.EPSILONS},
}
ACCURACY = {
    "n_users": 10**5,
    "repeats": 20,
    "signs": {"frequency": SIGNS, "mean": SIGNS, "mean_code": SIGNS},
}
FAMILY = ("uniform", "PCKV-UE", "KVUE", 1.0)
OTHER_FAMILY = ("linear", "PCKV-UE", "KVOH", 1.0)


def with_sign(statistic: str, case: tuple[Any, ...], sign: int) -> dict[str, Any]:
    changed = {**SIGNS, case: sign}
    return {**ACCURACY, "signs": {**ACCURACY["signs"], statistic: changed}}


# Claim, facts that please it, and for each lesser verdict facts that bring it about.
JUDGED: list[tuple[str, dict[str, Any], str, dict[str, dict[str, Any]]]] = [
    (
        "pckv-synthetic-frequency",
        ACCURACY,
        "within error",
        {
            "differs": with_sign("frequency", FAMILY, 1),
            "shape only": with_sign("frequency", FAMILY, 0),
            "within error": with_sign("frequency", OTHER_FAMILY, 1),
        },
    ),
    (
        "pckv-synthetic-mean",
        ACCURACY,
        "within error",
        {"differs": with_sign("mean", FAMILY, 1), "shape only": with_sign("mean", FAMILY, 0)},
    ),
    (
        "pckv-other-families-frequency",
        ACCURACY,
        "within error",
        {"differs": with_sign("frequency", OTHER_FAMILY, 1)},
    ),
    (
        "pckv-other-families-mean",
        ACCURACY,
        "within error",
        {"differs": with_sign("mean", OTHER_FAMILY, 1)},
    ),
    (
        "pckv-theory-empirical",
        {
            "largest_t": 1.0,
            "critical_t": 5.0,
            "mean_off": 0,
            "unexplained": [],
            "largest_clear_gap": 0.01,
            "clear": 4,
            "region": {("mean", "PCKV-UE"): [0.1]},
        },
        "within error",
        {
            "differs": {"largest_t": 6.0},
            "differs ": {"mean_off": 1},
            "differs  ": {"unexplained": [("mean", "uniform", "PCKV-UE", 6.0)]},
        },
    ),
    (
        "pckv-allocation-empirical",
        {
            "signs": {("PCKV-UE", "naive", 1.0): -1},
            "ratios": 4,
            "ratios_off": 0,
            "largest_gap": 0.01,
        },
        "within error",
        {
            "differs": {"signs": {("PCKV-UE", "naive", 1.0): 1}},
            "differs ": {"ratios_off": 1},
            "shape only": {"signs": {("PCKV-UE", "naive", 1.0): 0}},
        },
    ),
    (
        "pckv-privkvm-empirical",
        {
            "largest_t": 1.0,
            "critical_t": 4.0,
            "kept_bias": 0.7,
            "kept_bias_virtual": 0.2,
            "repeats": 60,
            "bias_sign": {1.0: -1},
            "variance_sign": {1.0: 1},
        },
        "within error",
        {
            "differs": {"kept_bias": 0.3},
            "differs ": {"largest_t": 5.0},
            "differs  ": {"bias_sign": {1.0: 1}},
            "differs   ": {"variance_sign": {1.0: -1}},
            "shape only": {"bias_sign": {1.0: 0}},
        },
    ),
    (
        "pckv-domain-size",
        {"wide": WIDE, "slopes": SLOPES},
        "within error",
        {
            "differs": {"wide": {**WIDE, ("raw", "PCKV-UE"): (0.2, 0.15, 0.25)}},
            "differs ": {"wide": {**WIDE, ("raw", "PCKV-GRR"): (0.8, 0.75, 0.85)}},
            "differs  ": {"wide": {**WIDE, ("raw", "KVUE"): (-0.2, -0.25, -0.15)}},
            "shape only": {"wide": {**WIDE, ("raw", "PCKV-GRR"): (1.0, 0.8, 1.2)}},
        },
    ),
    (
        "pckv-domain-frequency",
        {"signs": SWEEP_SIGNS},
        "within error",
        {"differs": {"signs": {**SWEEP_SIGNS, ("frequency", "PCKV-UE", "KVUE", 20): 1}}},
    ),
    (
        "pckv-domain-mean",
        {"signs": SWEEP_SIGNS},
        "within error",
        {"differs": {"signs": {**SWEEP_SIGNS, ("mean", "PCKV-UE", "KVUE", 20): 1}}},
    ),
    (
        "pckv-user-number",
        {"wide": {k: (-1.0, -1.02, -0.98) for k in WIDE}, "slopes": SLOPES},
        "within error",
        {"differs": {"wide": {k: (-0.5, -0.52, -0.48) for k in WIDE}}},
    ),
    (
        "pckv-precision",
        {"falls": FALLS, "best": BEST, "against": AGAINST},
        "within error",
        {
            "differs": {"falls": {**FALLS, ("Gaussian", 10, "PCKV-UE"): 1}},
            "differs ": {"best": {**BEST, ("Gaussian", "d", 10, "KVUE", 50): -1}},
            "shape only": {"falls": {**FALLS, ("Gaussian", 10, "PCKV-UE"): 0}},
            "shape only ": {"best": {**BEST, ("Gaussian", "d", 10, "KVUE", 50): 0}},
        },
    ),
    (
        "pckv-fig-10-amazon-frequency",
        {"signs": LARGE},
        "shape only",
        {"differs": {"signs": {**LARGE, ("frequency", "PCKV-UE", "KVUE", 1.0): 1}}},
    ),
    (
        "pckv-fig-10-amazon-mean",
        {"signs": LARGE},
        "shape only",
        {"differs": {"signs": {**LARGE, ("mean", "PCKV-UE", "KVUE", 1.0): 1}}},
    ),
    (
        "pckv-fig-10-movie-frequency",
        {"signs": GRR_FIRST},
        "shape only",
        {"differs": {"signs": LARGE}},
    ),
    ("pckv-fig-10-movie-mean", {"signs": GRR_FIRST}, "shape only", {"differs": {"signs": LARGE}}),
    (
        "pckv-surrogate-marginals",
        {"count": 60, "exact": 47, "worst": 0.06, "worst_name": "item sd"},
        "shape only",
        {"differs": {"worst": 0.2}},
    ),
    (
        "pckv-unsent-keys",
        {"falls": True, "rare": 0.6, "frequent": 1e-20},
        "shape only",
        {"differs": {"falls": False}, "differs ": {"frequent": 0.1}},
    ),
    (
        "pckv-padding-frequency",
        TRADE,
        "exact",
        {"differs": {"bias_falls": False}, "differs ": {"variance_rises": False}},
    ),
    (
        "pckv-padding-mean",
        TRADE,
        "exact",
        {
            "differs": {"mean_variance_falls": [(("PCKV-GRR", 6.0), 33)]},
            "differs ": {"mean_bias_falls": False},
        },
    ),
    (
        "pckv-padding-short",
        TRADE,
        "exact",
        {"differs": {"underestimates": False}, "differs ": {"rises_throughout": False}},
    ),
    (
        "pckv-padding-measured",
        {**TRADE, "repeats": 20},
        "within error",
        {"differs": {"largest_t": 6.0}},
    ),
    (
        "pckv-padding-rule",
        TRADE,
        "exact",
        {"differs": {"cost": {**TRADE["cost"], ("PCKV-UE", 1.0): 9.0}}},
    ),
    (
        "pckv-padding-private",
        {"close": {0.5: 0.1, 1.0: 0.97, 2.0: 1.0}, "close_fine": {1.0: 0.0}, "repeats": 200},
        "within error",
        {"differs": {"close": {1.0: 0.7, 2.0: 1.0}}},
    ),
]


@pytest.mark.parametrize(("id", "facts", "verdict", "worse"), JUDGED, ids=[r[0] for r in JUDGED])
def test_judges_can_say_no(id: str, facts: dict, verdict: str, worse: dict) -> None:
    judge = CLAIMS[id].judge

    def say(facts: dict) -> evidence.Evidence:
        found = judge(Result("quick", pd.DataFrame(), facts))
        json.dumps(found.__dict__)
        return found

    assert say(facts).verdict == verdict
    for expected, broken in worse.items():
        assert say({**facts, **broken}).verdict == expected.strip()


def test_every_claim_of_these_pages_is_broken_once() -> None:
    assert {row[0] for row in JUDGED} == set(CLAIMS)
    for claim in CLAIMS.values():
        assert claim.statement.endswith(".")
        assert {profile for profile, _ in claim.recorded} == set(evidence.PROFILES)
        if claim.page == large_data.PAGE:
            assert "surrogate" in claim.label + claim.statement
            assert set(claim.recorded.values()) <= {"shape only", "differs"}


def test_a_wrong_variance_changes_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs against formulas that are a tenth too small."""
    monkeypatch.setattr(synthetic, "N_USERS", {"quick": 20_000})
    monkeypatch.setattr(synthetic, "EPSILONS", (4.0, 6.0))
    monkeypatch.setattr(synthetic, "N_KEYS", 20)
    monkeypatch.setattr(synthetic, "REPEATS", {"quick": 200})
    assert CLAIMS["pckv-theory-empirical"].judge(synthetic.theorem_4()).verdict == "within error"
    right = theory.frequency_variance
    monkeypatch.setattr(theory, "frequency_variance", lambda *a, **k: 0.85 * right(*a, **k))
    assert CLAIMS["pckv-theory-empirical"].judge(synthetic.theorem_4()).verdict == "differs"


# --- figures and tables --------------------------------------------------------------------------


def test_figures_and_tables_are_drawn(tiny: None, monkeypatch: pytest.MonkeyPatch) -> None:
    accuracy = synthetic.accuracy("quick", 1)
    domain = synthetic.domain("quick", 1)
    precision = synthetic.precision("quick", 1)
    trade_off = padding.trade_off("quick", 1)
    allocations = synthetic.allocations("quick", 1)
    monkeypatch.setattr(padding, "LENGTH_REPEATS", {"quick": 3})
    monkeypatch.setattr(padding, "EPSILONS", (1.0, 6.0))
    figures = [
        synthetic.draw_accuracy(accuracy, "frequency"),
        synthetic.draw_accuracy(accuracy, "mean"),
        synthetic.draw_variants(accuracy),
        synthetic.draw_theorem_4(synthetic.theorem_4("quick", 1)),
        synthetic.draw_allocations(allocations),
        synthetic.draw_privkvm_bias(synthetic.privkvm_bias("quick", 1)),
        synthetic.draw_sweep(domain, "n_keys"),
        synthetic.draw_sweep(synthetic.user_number("quick", 1), "n_users"),
        synthetic.draw_precision(precision, "d"),
        synthetic.draw_precision(precision, "epsilon"),
        padding.draw_private_lengths(padding.private_lengths("quick", 1)),
    ]
    for figure in figures:
        for axis in figure.axes:
            assert axis.get_xlabel()
            assert axis.get_ylabel()
            assert axis.has_data()
        plots.plt.close(figure)
    assert len(synthetic.slope_table(domain)) == len(synthetic.METHODS)
    assert synthetic.allocation_table(allocations).shape == (4, 6)
    assert set(synthetic.spread_table(accuracy)["mechanism"]) <= set(synthetic.METHODS)
    assert padding.rule_table(trade_off).shape == (2, 5)


def test_surrogate_pages_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_data, "REPEATS", {"amazon_beauty": {"quick": 2}})
    monkeypatch.setattr(large_data, "GRIDS", {"amazon_beauty": {"quick": (2.0, 6.0)}})
    large_data.make.cache_clear()
    result = large_data._run("amazon_beauty", "quick", 3, {}, share=0.01)
    again = large_data._run("amazon_beauty", "quick", 3, {"n_jobs": 2}, share=0.01)
    large_data.make.cache_clear()
    frames_equal(result, again)
    assert result.source == "surrogate"
    assert "(surrogate)" in result.setting
    assert result.table["data"].eq("Amazon (surrogate)").all()
    figure = large_data.draw(result)
    assert all("surrogate" in axis.get_title() for axis in figure.axes)
    plots.plt.close(figure)
    assert len(large_data.assumptions_table(result)) == len(result.facts["assumptions"]) >= 8
