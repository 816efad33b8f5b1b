"""The pages on curves and on sequential testing: verdicts, judges, and what they rest on."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism
from scipy import stats
from statistical import assert_plausible, assert_rejected, binomial_tail

from ldpkv import tradeoff
from ldpkv.auditing import boundaries
from ldpkv.auditing.apt import APT, NOT_REJECTED, fixed_test_stops
from ldpkv.papers import evidence, plots
from ldpkv.papers.audit import curves, sequential
from ldpkv.tradeoff import ApproximateDP, GaussianDP, LaplaceDP, PureDP

CLAIMS = {claim.id: claim for claim in (*curves.CLAIMS, *sequential.CLAIMS)}


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
    assert claim.page in (curves.PAGE, sequential.PAGE)
    assert claim.paper == "audit"
    assert claim.statement.endswith(".")


def test_numbers_of_the_claims() -> None:
    for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 33, 36, 37, 38, 39, 42, 43, 44, 47):
        assert any(
            f"audit-{number}" in claim.label.replace("(", " ").replace(")", " ").replace(",", " ")
            for claim in CLAIMS.values()
        ), number


# A judge must be able to say no: each broken fact changes its claim's verdict.
BROKEN = [
    ("audit-closed-forms", {"gauss_error": 1e-6}),
    ("audit-closed-forms", {"laplace_error": 1e-6}),
    ("audit-dp-sgd-curve", {"error": 1e-6}),
    ("audit-dp-sgd-literal", {"least_p": 1e-7}),
    ("audit-neyman-pearson", {"below": 1}),
    ("audit-neyman-pearson", {"off": 1}),
    ("audit-neyman-pearson", {"corners": False}),
    ("audit-lambda", {"gauss_step": 0.5}),
    ("audit-ties", {"gain": 1e-3}),
    ("audit-side", {"useless": False}),
    ("audit-fig-4", {"pokes_out": -0.01}),
    ("audit-fig-4", {"others_fit": False}),
    ("audit-fig-4", {"side_7": 1.0}),
    ("audit-rule-8", {"n_more": 1}),
    ("audit-rule-8", {"n_same": 0}),
    ("audit-unsigned", {"lost": 0}),
    ("audit-conversions", {"delta_error": 1e-3}),
    ("audit-conversions", {"mu_error": 1e-3}),
    ("audit-support", {"too_large": 1e-9}),
    ("audit-support", {"too_small": 1e-3}),
    ("audit-finite", {"below": 1}),
    ("audit-finite", {"touching": 0}),
    ("audit-fig-2", {"p_values": dict.fromkeys(sequential.SCHEDULES, 0.5)}),
    ("audit-peeking-limit", {"factor": 1.0}),
    ("audit-peeking-limit", {"measured": [0.5, 0.4, 0.3]}),
    ("audit-fig-3", {"to_200": 0.05}),
    ("audit-boundary-level", {"least_on_curve": 0.05}),
    ("audit-bonferroni", {"gaussian_coverage": 0.94}),
    ("audit-critical-value", {"q_exact": 1.66}),
    ("audit-unspent", {"share_by_horizon": 0.5}),
    ("audit-thm-3-1-a", {"above_falls": False}),
    ("audit-thm-3-1-c", {"below_last": 0.9}),
    ("audit-thm-3-1-b", {"mu_1_limits": [0.05, 0.05]}),
    ("audit-approach", {"largest_bound": 0.06}),
    ("audit-burn-in", {"large_claims": 0.045}),
    ("audit-remark-3-2", {"flat": 2.0}),
    ("audit-remark-3-2", {"per_log_most": 1.5}),
    ("audit-remark-3-2", {"medians": [0.1, 1.0, 1.0]}),
    ("audit-adaptive", {"t_rescored": -1.0}),
    ("audit-settles", {"t_settles": -3.0}),
]


@pytest.mark.parametrize(("id", "broken"), BROKEN, ids=[f"{i}-{min(b)}" for i, b in BROKEN])
def test_judges_can_say_no(id: str, broken: dict) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    worse = replace(result, facts={**result.facts, **broken})
    assert claim.judge(worse).verdict != claim.judge(result).verdict


def test_every_judge_that_can_be_wrong_is_broken_once() -> None:
    # Nothing finite decides Theorem C.6; its judge always says so.
    assert {id for id, _ in BROKEN} == set(CLAIMS) - {"audit-thm-c-6"}


# A wrong library changes the verdicts too.


def verdict(id: str) -> str:
    claim = CLAIMS[id]
    return claim.judge(claim.run("quick")).verdict


def test_wrong_closed_forms_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = LaplaceDP.__call__
    monkeypatch.setattr(LaplaceDP, "__call__", lambda self, a: right(LaplaceDP(1.001 * self.mu), a))
    assert verdict("audit-closed-forms") == "differs"


def test_a_curve_without_the_empty_history_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The predecessor's public code drops the empty set of steps."""

    original = tradeoff._histories
    monkeypatch.setattr(
        tradeoff,
        "_histories",
        lambda c: tuple(
            v[1:] if k == 0 else v[1:] / v[1:].sum() for k, v in enumerate(original(c))
        ),
    )
    assert verdict("audit-dp-sgd-curve") == "differs"


def test_an_overstated_support_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = GaussianDP.support
    monkeypatch.setattr(GaussianDP, "support", lambda self, s: right(self, s) + 1e-9)
    assert verdict("audit-support") == "differs"


# What the pages compute for themselves, against other ways.


@pytest.mark.parametrize("mu", (0.5, 1.0, 3.0))
def test_overlap_against_dp_accounting(mu: float) -> None:
    gauss = privacy_loss_mechanism.GaussianPrivacyLoss(1 / mu)
    laplace = privacy_loss_mechanism.LaplacePrivacyLoss(1 / mu)
    for epsilon in (0.0, 0.4, 1.0, 2.5):
        for theirs, density, reach in (
            (gauss, curves._normal, 12.0),
            (laplace, curves._laplace, 40.0),
        ):
            ours = curves._overlap(
                density(0.0), density(mu), math.exp(epsilon), -reach, reach + mu, (0.0, mu)
            )[1]
            assert ours == pytest.approx(theirs.get_delta_for_epsilon(epsilon), abs=1e-10)


@pytest.mark.parametrize(("kind", "law"), (("Gaussian", stats.norm), ("Laplace", stats.laplace)))
@pytest.mark.parametrize("epsilon", (0.1, 1.0))
def test_scale_leak_is_the_exact_curve(kind: str, law, epsilon: float) -> None:
    p, q = law(0, 2 / epsilon), law(0.5, 1 / epsilon)
    alpha, beta, ratio = curves.scale_leak(kind, epsilon, 401)
    assert np.all(np.diff(alpha) >= 0) and np.all(np.diff(beta) <= 0)
    for s in (0.5, 1.0, 1.8):
        best, _ = curves._overlap(p.pdf, q.pdf, s, -60 / epsilon, 60 / epsilon, (0.0, 0.5))
        assert np.min(s * alpha + beta) == pytest.approx(best, abs=2e-5)
        # q / p is the slope there.
        at = int(np.argmin(s * alpha + beta))
        assert 1 / ratio[at] == pytest.approx(s, rel=0.03)


def test_square_by_bisection() -> None:
    claim = GaussianDP(0.5)
    for alpha, beta in ((0.1, 0.4), (0.3, 0.3), (0.5, 0.1)):
        side = float(curves.square_side(claim, np.array([alpha]), np.array([beta]))[0])
        assert beta + side == pytest.approx(float(claim(alpha + side)), abs=1e-6)


def test_fluid_samples_against_the_formula() -> None:
    claim, alpha, beta = PureDP(0.1), 0.5, 0.2
    n = int(curves.fluid_samples(claim, alpha, beta)[0])
    q = boundaries.critical_value(0.025)
    rejects = []
    for k in (n - 1, n):
        bound = [
            p + q * math.sqrt(p * (1 - p)) * math.sqrt(math.log(20 + k / 50) / k)
            for p in (alpha, beta)
        ]
        rejects.append(claim(bound[0]) > bound[1])
    assert rejects == [False, True]


# Fluid sample sizes of the reference, M = 50: rules (8) and (7), best threshold.
REFERENCE = (
    (58, 58, 47),
    (65, 65, 51),
    (110, 110, 98),
    (135, 135, 115),
    (196, 201, 196),
    (1618, 1741, 1618),
    (227, 229, 227),
    (2141, 2205, 2140),
    (874, 1001, 873),
    (5231, 6337, 5231),
)


def test_fluid_samples_of_the_paper() -> None:
    table = computed(curves.rules).table
    for row, expected in zip(
        table[["n_8", "n_7", "n_best"]].itertuples(index=False), REFERENCE, strict=True
    ):
        assert list(row) == pytest.approx(expected, rel=0.012, abs=1.5)


@pytest.mark.parametrize(
    ("claim", "alpha"), ((GaussianDP(3.0), 0.002), (PureDP(3.0), 0.03), (GaussianDP(1.0), 0.05))
)
def test_exact_rejection_against_simulation(claim, alpha: float) -> None:
    # False alarm 1e-9 each; with 20,000 repetitions a shift of 0.02 would be seen.
    beta = float(claim(alpha))
    path, lost = sequential.exact_rejection(claim, alpha, beta, horizon=1_050)
    assert np.all(np.diff(path) >= 0) and 0 <= lost < 1e-6
    settings = APT(
        claim,
        look_at_burn_in=True,
        horizon=1_050,
        critical_value=boundaries.PUBLISHED_CRITICAL_VALUE,
        scoring="rescored",
    )
    stops = fixed_test_stops(settings, alpha, beta, repeats=20_000, rng=41)
    for n in (50, 200, 1_050):
        hits = int(np.sum((stops != NOT_REJECTED) & (stops <= n)))
        assert_plausible(binomial_tail(hits, 20_000, max(path[(n - 50) // 10], 1e-12)), f"by {n}")
    hits = int(np.sum(stops != NOT_REJECTED))
    assert_rejected(binomial_tail(hits, 20_000, path[-1] + 0.02), "too high")


def test_exact_rejection_of_two_looks_by_enumeration() -> None:
    claim, alpha, beta = ApproximateDP(0.3, 0.01), 0.3, 0.25
    path, _ = sequential.exact_rejection(
        claim, alpha, beta, burn_in=4, check_every=2, horizon=6, q=0.4
    )

    def rejects(a: int, b: int, n: int) -> bool:
        bounds = [sequential.upper_bound(v, n, 4, 0.4) for v in (a, b)]
        return bool(claim(float(bounds[0])) > float(bounds[1]))

    total = [0.0, 0.0]
    pmf = stats.binom.pmf
    for a in range(5):
        for b in range(5):
            first = pmf(a, 4, alpha) * pmf(b, 4, beta)
            if rejects(a, b, 4):
                total[0] += first
                continue
            for c in range(3):
                for d in range(3):
                    if rejects(a + c, b + d, 6):
                        total[1] += first * pmf(c, 2, alpha) * pmf(d, 2, beta)
    assert total[0] > 0 and total[1] > 0
    assert path == pytest.approx([total[0], sum(total)], abs=1e-9)


def test_a_bound_that_is_too_low() -> None:
    assert float(sequential.upper_bound(0, 70, 50, 1.57761)) == pytest.approx(0.0197, abs=5e-5)
    # No error among 70 pairs is one way to miss 0.02.
    assert 0.98**70 < sequential.exact_miss(0.02) < 0.35
    # At 1/2 it is near that of a Gaussian walk with the same looks.
    walk = boundaries.crossing_probability(
        boundaries.PUBLISHED_CRITICAL_VALUE, look_at_burn_in=True
    )
    assert sequential.exact_miss(0.5) == pytest.approx(walk, abs=0.006)


def test_hoeffding_tail_bounds_the_exact_probability() -> None:
    claim = GaussianDP(1.0)
    beta = float(claim(0.31)) + 0.15
    path, _ = sequential.exact_rejection(claim, 0.31, beta, horizon=3_000)
    after = float(path[-1] - path[(500 - 50) // 10])
    assert after <= sequential._hoeffding_tail(claim, 0.31, beta, 500, 10)


def test_the_plotted_boundary_on_a_grid_of_times() -> None:
    """The recursion over looks 1, 1.02, ... approaches the integral equation from below."""
    exact = boundaries.continuous_crossing_probability(0.5, stop=200.0)
    grids = [
        boundaries.crossing_probability(
            0.5, burn_in=m, check_every=1, horizon=200 * m, look_at_burn_in=True
        )
        for m in (2, 8)
    ]
    assert grids[0] < grids[1] < exact == pytest.approx(0.7614, abs=1e-4)
    assert exact - grids[1] < 0.6 * (exact - grids[0])


def test_curves_and_tables_of_the_pages_are_drawn() -> None:
    for draw, run in (
        (curves.draw_curves, curves.curve_points),
        (curves.draw_figure_4, curves.figure_4),
        (curves.draw_unsigned, curves.unsigned),
        (curves.draw_finite_mechanism, curves.finite_mechanism),
        (sequential.draw_peeking, sequential.peeking),
        (sequential.draw_boundary, sequential.boundary_crossings),
        (sequential.draw_on_the_curve, sequential.on_the_curve),
        (sequential.draw_rates, sequential.rates),
    ):
        plots.plt.close(draw(computed(run)))
    for table, run in (
        (curves.rules_table, curves.rules),
        (sequential.theorem_table, sequential.theorem_3_1),
        (sequential.adaptive_table, sequential.adaptive),
    ):
        assert table(computed(run)).shape[1] <= 7


def test_unknown_profile() -> None:
    for run in {claim.run for claim in CLAIMS.values()}:
        with pytest.raises(ValueError, match=r"profile must be one of .* got 'qick'"):
            run("qick")
