"""The information floor: closed forms, both certificates, the anchors, and wrong claims of it."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from ldpkv.auditing import information
from ldpkv.auditing.information import (
    InformationFloor,
    binned_laws,
    information_floor,
    largest_gap,
    merge_cells,
    respects,
)
from ldpkv.tradeoff import ApproximateDP, DPSGDToy, GaussianDP, LaplaceDP, PiecewiseLinear, PureDP


def kl(p, q) -> float:
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    seen = p > 0
    return float(np.sum(p[seen] * np.log(p[seen] / q[seen])))


def check(found: InformationFloor, curve, tight: float = 1e-6) -> None:
    """Both certificates, computed once more from the fields."""
    divergence = kl(found.law_p, found.law_p0) + kl(found.law_q, found.law_q0)
    assert found.divergence_high == pytest.approx(divergence, rel=1e-9, abs=1e-13)
    corners = PiecewiseLinear.from_laws(found.law_p0.tolist(), found.law_q0.tolist()).points
    assert all(float(b) >= float(curve(float(a))) - 1e-11 for a, b in corners)
    assert found.divergence_low <= found.divergence_high
    assert found.divergence_high - found.divergence_low <= tight * found.divergence_high + 1e-9
    assert found.low == pytest.approx(math.log(1 / found.level) / found.divergence_high)
    assert found.low <= found.high


def test_randomised_response_in_closed_form() -> None:
    """Two outputs, symmetric: the nearest pair is randomised response at the claimed epsilon."""
    for true, claimed in ((2.0, 1.0), (0.2, 0.1), (3.0, 0.5)):
        keep, allowed = (1 / (1 + math.exp(-e)) for e in (true, claimed))
        found = information_floor([keep, 1 - keep], [1 - keep, keep], PureDP(claimed))
        expected = 2 * kl([keep, 1 - keep], [allowed, 1 - allowed])
        assert found.divergence_low == pytest.approx(expected, rel=1e-8)
        check(found, PureDP(claimed))


def test_certain_outputs_in_closed_form() -> None:
    """An output that tells D from D' surely: the claim must give it some probability."""
    found = information_floor([1, 0], [0, 1], PureDP(1.0))
    assert found.divergence_high == pytest.approx(2 * math.log1p(math.exp(-1.0)), rel=1e-8)
    check(found, PureDP(1.0))
    # With delta: a <= e^epsilon (1 - a) + delta.
    curve = ApproximateDP(1.0, 0.1)
    found = information_floor([1, 0], [0, 1], curve)
    expected = -2 * math.log((math.e + 0.1) / (1 + math.e))
    assert found.divergence_high == pytest.approx(expected, rel=1e-8)
    check(found, curve)


def test_only_equal_laws_allowed() -> None:
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    found = information_floor(p, q, PureDP(0.0))
    half = (p + q) / 2
    assert found.divergence_low == found.divergence_high == pytest.approx(kl(p, half) + kl(q, half))


def test_a_pair_within_the_claim_has_no_floor() -> None:
    keep = 1 / (1 + math.exp(-1.0))
    laws = [keep, 1 - keep], [1 - keep, keep]
    for curve in (PureDP(1.0), PureDP(1.2), GaussianDP(3.0), PiecewiseLinear.from_laws(*laws)):
        found = information_floor(*laws, curve)
        assert (found.low, found.high, found.divergence_high) == (math.inf, math.inf, 0.0)
    assert math.isfinite(information_floor(*laws, PureDP(0.99)).low)
    # A Laplace pair is within pure epsilon-DP but breaks no more than its own curve.
    p, q = binned_laws(stats.laplace(0).cdf, stats.laplace(1).cdf, np.linspace(-1, 2, 100))
    assert respects(p, q, LaplaceDP(1.0)) and respects(p, q, PureDP(1.0))
    assert not respects(p, q, LaplaceDP(0.99)) and not respects(p, q, PureDP(0.99))


@given(
    st.lists(st.integers(0, 20), min_size=2, max_size=5),
    st.lists(st.integers(0, 20), min_size=5, max_size=5),
    st.sampled_from(
        [PureDP(0.3), PureDP(2.0), ApproximateDP(0.5, 0.05), GaussianDP(0.7), LaplaceDP(0.4)]
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=40, deadline=None)
def test_certificates_and_relations(first, second, curve, random) -> None:
    second = second[: len(first)]
    if not any(first) or not any(second):
        return
    found = information_floor(first, second, curve)
    if found.divergence_high == 0:
        assert respects(found.law_p, found.law_q, curve) and found.low == math.inf
        return
    check(found, curve)
    # Nothing depends on the order of outputs, nor on how a cell is cut.
    order = list(range(len(first)))
    random.shuffle(order)
    cut = [Fraction(v, 3) for i in order for v in (first[i], 2 * first[i])]
    cut_q = [Fraction(v, 3) for i in order for v in (second[i], 2 * second[i])]
    again = information_floor(cut, cut_q, curve)
    assert again.divergence_high == pytest.approx(found.divergence_high, rel=1e-5, abs=1e-8)
    # All claims here are symmetric.
    swapped = information_floor(second, first, curve)
    assert swapped.divergence_high == pytest.approx(found.divergence_high, rel=1e-5, abs=1e-8)
    # Merging is post-processing.
    if len(first) > 2:
        merged = [first[0] + first[1], *first[2:]], [second[0] + second[1], *second[2:]]
        less = information_floor(*merged, curve)
        assert less.divergence_low <= found.divergence_high * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("curve", [PureDP(0.5), ApproximateDP(0.3, 0.02), GaussianDP(0.6)], ids=str)
def test_a_general_optimiser_agrees(curve) -> None:
    """SLSQP on the definition: every test's line, no order of cells assumed."""
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
    slopes = np.exp(np.linspace(-4, 4, 161)) if curve.vertices is None else None
    if slopes is None:
        slopes = np.array([math.exp(curve.epsilon), math.exp(-curve.epsilon)])
    tests = (np.arange(16)[:, None] >> np.arange(4)) & 1  # rows: which outputs decide Q
    s = np.repeat(slopes, 16)
    a = np.hstack(
        [s[:, None] * np.tile(tests, (len(slopes), 1)), 1 - np.tile(tests, (len(slopes), 1))]
    )
    c = np.repeat(np.asarray(curve.support(slopes)), 16)
    half = (p + q) / 2
    slsqp = optimize.minimize(
        lambda x: -float(p @ np.log(x[:4]) + q @ np.log(x[4:])),
        np.r_[half, half],
        jac=lambda x: -np.r_[p / x[:4], q / x[4:]],
        bounds=[(1e-9, 1)] * 8,
        constraints=[
            {"type": "ineq", "fun": lambda x: a @ x - c, "jac": lambda x: a},
            {"type": "eq", "fun": lambda x: [x[:4].sum() - 1, x[4:].sum() - 1]},
        ],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    found = information_floor(p, q, curve)
    expected = kl(p, slsqp.x[:4]) + kl(q, slsqp.x[4:])
    assert found.divergence_high == pytest.approx(expected, rel=1e-3)


def anchor(first, second, curve, edges, cells: int = 60) -> float:
    laws = merge_cells(*binned_laws(first, second, edges), cells)
    found = information_floor(*laws, curve)
    check(found, curve)
    return found.low


# log(20) / KL_inf of laws on 120 cells, from another solver.
@pytest.mark.parametrize(
    ("name", "epsilon", "expected"),
    [("norm", 0.01, 16.4), ("norm", 0.1, 18.8), ("laplace", 0.01, 28.5), ("laplace", 0.1, 34.7)],
)
def test_anchors_of_table_1(name: str, epsilon: float, expected: float) -> None:
    law = getattr(stats, name)
    edges = np.linspace(-40 / epsilon, 40 / epsilon, 20_001)
    low = anchor(law(0, 2 / epsilon).cdf, law(0.5, 1 / epsilon).cdf, PureDP(epsilon), edges)
    assert low == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("name", "claimed", "expected"),
    [("norm", 0.5, 54.1), ("norm", 0.8, 335), ("laplace", 0.5, 76.3), ("laplace", 0.8, 514)],
)
def test_anchors_of_figure_5(name: str, claimed: float, expected: float) -> None:
    law = getattr(stats, name)
    curve = (GaussianDP if name == "norm" else LaplaceDP)(claimed)
    low = anchor(law(0).cdf, law(1).cdf, curve, np.linspace(-7, 8, 3001))
    assert low == pytest.approx(expected, rel=0.012)


@pytest.mark.parametrize(("tau", "expected"), [(5, (207, 213)), (7, (900, 930))])
def test_anchors_of_noisy_descent(tau: int, expected: tuple[float, float]) -> None:
    shift, weight = DPSGDToy(10).histories()

    def mixture(x):
        return special.ndtr(np.asarray(x)[:, None] - shift) @ weight

    low = anchor(special.ndtr, mixture, DPSGDToy(tau), np.linspace(-7, 8, 801), cells=40)
    assert expected[0] < low < expected[1]


def test_finer_bins_lower_the_floor() -> None:
    floors = [
        information_floor(
            *binned_laws(special.ndtr, lambda x: special.ndtr(x - 1), np.linspace(-4, 5, n)),
            GaussianDP(0.5),
        )
        for n in (3, 9, 33)
    ]
    for coarse, fine in itertools.pairwise(floors):
        assert fine.low < coarse.high
    # A pair of normals with a larger common variance is allowed, hence a bound from below.
    sigma = np.linspace(1.0, 1.5, 501)
    shift = (1 - 0.5 * sigma) / 2
    normals = 2 * np.min(np.log(sigma) + (1 + shift**2) / (2 * sigma**2) - 0.5)
    assert floors[-1].high > math.log(20) / normals


def test_a_wrong_certificate_would_be_seen() -> None:
    """The checks of this file fail on a floor that is off by one part in a thousand."""
    keep = 1 / (1 + math.exp(-2.0))
    found = information_floor([keep, 1 - keep], [1 - keep, keep], PureDP(1.0))
    wrong = dataclasses.replace(found, divergence_low=1.001 * found.divergence_low)
    with pytest.raises(AssertionError):
        check(wrong, PureDP(1.0))
    with pytest.raises(AssertionError):
        check(found, PureDP(0.999))
    lines = information._lines(np.array([0, 0]), np.array([math.e, 1 / math.e]), PureDP(1.0))
    for lam in ([0.0, 0.0], [0.3, 0.1], [0.0, 5.0], [1e6, 1.0]):
        start = np.full(4, 0.5)
        bound = information._dual(found.law_p, found.law_q, lines, np.array(lam), start)[0]
        assert bound <= found.divergence_high


def test_merged_cells() -> None:
    rng = np.random.default_rng(5)
    p, q = rng.dirichlet(np.ones(300)), rng.dirichlet(np.ones(300))
    p[:3], q[5:9] = 0.0, 0.0
    small = merge_cells(p, q, 40)
    assert len(small[0]) <= 40 and small[0].sum() == pytest.approx(1)
    assert small[1][small[0] == 0].sum() == pytest.approx(q[:3].sum() / q.sum())
    same = merge_cells([0.5, 0.25, 0.25], [0.2, 0.4, 0.4], 5)
    np.testing.assert_allclose(same, [[0.5, 0.5], [0.2, 0.8]])


def test_largest_gap_by_hand() -> None:
    # Randomised response at 2 against a claim of 1: the corner is the farthest point.
    keep = 1 / (1 + math.exp(-2.0))
    gap = largest_gap([keep, 1 - keep], [1 - keep, keep], PureDP(1.0))
    assert gap == pytest.approx(1 - math.e * (1 - keep) - (1 - keep))
    grid = np.linspace(0, 1, 100_001)
    claim, true = GaussianDP(0.5), PiecewiseLinear.from_laws([0.6, 0.3, 0.1], [0.2, 0.3, 0.5])
    gap = largest_gap([0.6, 0.3, 0.1], [0.2, 0.3, 0.5], claim)
    assert gap == pytest.approx(float(np.max(claim(grid) - true(grid))), abs=1e-4)
    assert largest_gap([0.5, 0.5], [0.5, 0.5], claim) <= 0


def test_level_scales_the_floor() -> None:
    laws = [0.9, 0.1], [0.1, 0.9]
    one, two = (information_floor(*laws, PureDP(1.0), level) for level in (0.05, 0.01))
    assert two.low / one.low == pytest.approx(math.log(100) / math.log(20))


def test_bad_input() -> None:
    claim = PureDP(1.0)
    with pytest.raises(TypeError, match="curve must be a TradeoffCurve"):
        information_floor([1, 0], [0, 1], 1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"level must be a number in \(0, 1\), got 1"):
        information_floor([1, 0], [0, 1], claim, 1.0)
    with pytest.raises(ValueError, match="law_p and law_q must have one length, got 1 and 2"):
        information_floor([1], [0, 1], claim)
    with pytest.raises(ValueError, match="law_q must be finite weights >= 0"):
        information_floor([1, 0], [1, -1], claim)
    with pytest.raises(ValueError, match="law_p must be finite weights >= 0"):
        information_floor([math.nan, 0], [1, 1], claim)
    with pytest.raises(ValueError, match="law_p must have shape"):
        information_floor([[1, 0]], [1, 1], claim)
    many = np.arange(1.0, 700.0)
    with pytest.raises(ValueError, match="at most 600 different ratios q / p, got 699"):
        information_floor(many, many[::-1], claim)
    with pytest.raises(ValueError, match="edges must be finite and strictly rising"):
        binned_laws(special.ndtr, special.ndtr, [1.0, 1.0])
    with pytest.raises(ValueError, match="cdf_q must rise"):
        binned_laws(special.ndtr, lambda x: -x, [1.0, 2.0])
    with pytest.raises(ValueError, match="cells must be an integer of at least 2"):
        merge_cells([1, 0], [0, 1], 1)
