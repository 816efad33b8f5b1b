"""Trade-off curves against their definitions, against each other, and against dp-accounting."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from ldpkv.tradeoff import (
    ApproximateDP,
    DPSGDToy,
    GaussianDP,
    LaplaceDP,
    PiecewiseLinear,
    PureDP,
    diagonal_crossing,
)

RESPONSE = PiecewiseLinear.from_laws(
    [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]
)
LEAKY = PiecewiseLinear.from_laws([0.5, 0.3, 0.2, 0.0], [0.1, 0.3, 0.4, 0.2])
CURVES = [
    GaussianDP(0.0),
    GaussianDP(0.1),
    GaussianDP(1.0),
    GaussianDP(4.0),
    LaplaceDP(0.0),
    LaplaceDP(0.5),
    LaplaceDP(3.0),
    PureDP(0.0),
    PureDP(0.1),
    PureDP(2.0),
    ApproximateDP(1.0, 1e-5),
    ApproximateDP(0.5, 0.2),
    DPSGDToy(1),
    DPSGDToy(5),
    DPSGDToy(10),
    DPSGDToy(3, batch=10),
    RESPONSE,
    LEAKY,
]
SLOPES = np.exp(np.linspace(-6, 6, 61))


def alphas() -> np.ndarray:
    return np.unique(
        np.concatenate([special.ndtr(np.linspace(-8, 8, 4001)), np.linspace(0, 1, 2001)])
    )


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_curve_is_convex_falling_and_below_the_line_of_guessing(curve):
    a = alphas()
    f = curve(a)
    assert np.all(np.diff(f) <= 1e-15)
    assert np.all(f >= 0) and np.all(f <= 1 - a + 1e-15) and curve(1.0) == 0
    middle = curve((a[:-1] + a[1:]) / 2)
    assert np.all(middle <= (f[:-1] + f[1:]) / 2 + 1e-14)


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_slope_is_the_derivative(curve):
    a = np.linspace(0.013, 0.987, 101)
    slope = curve.slope(a)
    step = 1e-6
    forward, backward = (curve(a + step) - curve(a)) / step, (curve(a) - curve(a - step)) / step
    # Convexity: the right derivative lies between the two difference quotients, but for rounding.
    assert np.all(slope <= forward + 1e-8) and np.all(slope >= backward - 1e-8)


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_support_is_the_minimum_and_never_above_it(curve):
    a = alphas()
    if curve.vertices is not None:
        a = np.union1d(a, [float(p) for p, _ in curve.vertices])
    values = SLOPES[:, None] * a + curve(a)
    support = curve.support(SLOPES)
    # The curve's own values carry rounding errors of 1e-15 relative to s + 1.
    assert np.all(support <= values.min(axis=1) + 2e-15 * (1 + SLOPES))
    assert np.all(support >= values.min(axis=1) - 1e-5 * (1 + SLOPES))
    assert np.all(support <= np.minimum(1, SLOPES)) and np.all(support >= 0)
    assert curve.support(float(SLOPES[7])) == support[7]


@pytest.mark.parametrize(
    "curve", [GaussianDP(1.0), GaussianDP(5.0), LaplaceDP(1.0), DPSGDToy(7)], ids=repr
)
def test_support_touches_the_curve_to_many_digits(curve):
    # At the alpha where the slope is -s the line through the curve has height c(s).
    a = special.ndtr(np.linspace(-4, 4, 41))
    s = -curve.slope(a)
    inside = (s > 1e-9) & (s < 1e9)
    if isinstance(curve, LaplaceDP):
        inside &= (a > math.exp(-curve.mu) / 2) & (a < 0.5)
    height = s[inside] * a[inside] + curve(a[inside])
    gap = height - curve.support(s[inside])
    assert inside.any()
    assert np.all(gap > -1e-14 * (1 + s[inside])) and np.all(gap < 1e-10 * (1 + s[inside]))


def test_certified_support_with_mpmath():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(50):
        for mu, s in itertools.product((1e-3, 0.1, 1.0, 7.0, 40.0), (1e-4, 0.3, 1.0, 2.5, 1e5)):
            m, t = mpmath.mpf(mu), mpmath.mpf(s)
            true = t * mpmath.ncdf(-m / 2 - mpmath.log(t) / m) + mpmath.ncdf(
                -m / 2 + mpmath.log(t) / m
            )
            ours = GaussianDP(mu).support(s)
            assert ours <= true and ours >= true * (1 - mpmath.mpf("1e-8"))
        for eps, s in itertools.product((0.01, 1.0, 20.0, 600.0), (1e-4, 1.0, 2.5, 1e5)):
            true = min(1, s, (1 + mpmath.mpf(s)) / (1 + mpmath.exp(eps)))
            assert true * (1 - mpmath.mpf("1e-11")) <= PureDP(eps).support(s) <= true


def checked_supports(mpmath, ours, truths):
    """Count the supports that are above the truth."""
    return sum(mpmath.mpf(float(c)) > true for c, true in zip(ours, truths, strict=True))


def test_certified_support_of_laplace_with_mpmath():
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(1)
    ours, naive, truths = [], [], []
    with mpmath.workdps(50):
        for mu in rng.uniform(0.01, 30, 60):
            for log_s in rng.uniform(-mu, mu, 5):
                s = math.exp(log_s)
                if abs(math.log(s)) > mu:
                    continue
                ours.append(LaplaceDP(mu).support(s))
                naive.append(math.exp((math.log(s) - mu) / 2))
                truths.append(mpmath.sqrt(mpmath.mpf(s)) * mpmath.exp(-mpmath.mpf(mu) / 2))
        assert checked_supports(mpmath, ours, truths) == 0
        assert checked_supports(mpmath, naive, truths) > 0
        assert all(c > t * (1 - mpmath.mpf("1e-13")) for c, t in zip(ours, truths, strict=True))


@pytest.mark.parametrize("rate", [0.3, 1e-2, 1e-5, 1e-9])
def test_certified_support_of_descent_with_mpmath(rate):
    mpmath = pytest.importorskip("mpmath")
    curve = DPSGDToy(4, rate=rate)
    ours, naive, truths = [], [], []
    with mpmath.workdps(50):
        fade = (1 - mpmath.mpf(rate)) ** 2
        steps = sum(fade**k for k in range(4))
        sd = mpmath.mpf(rate) * mpmath.mpf(0.2) * mpmath.sqrt(steps)
        size = [mpmath.mpf(rate) * (1 - mpmath.mpf(rate)) ** k / 5 / sd for k in range(4)]
        sets = itertools.product((0, 1), repeat=4)
        shifts = [sum(one * bit for one, bit in zip(size, bits, strict=True)) for bits in sets]

        def ratio(t):
            return sum(mpmath.exp(t * m - m * m / 2) for m in shifts) / 16

        for s in np.exp(np.random.default_rng(2).uniform(-0.6, 4, 12)):
            first = curve._threshold(math.log(s))
            t = mpmath.findroot(lambda t, s=s: mpmath.log(ratio(t)) - mpmath.log(s), first)
            beta = sum(mpmath.ncdf(t - m) for m in shifts) / 16
            truths.append(mpmath.mpf(s) * mpmath.ncdf(-t) + beta)
            ours.append(curve.support(s))
            at = np.array([first])
            naive.append(s * float(special.ndtr(-first)) + float(curve._beta(at)[0]))
        assert checked_supports(mpmath, ours, truths) == 0
        assert checked_supports(mpmath, naive, truths) > 0
        assert all(c > t - mpmath.mpf("1e-12") * (1 + t) for c, t in zip(ours, truths, strict=True))


@pytest.mark.parametrize("exact", [True, False])
def test_support_of_finite_laws_is_never_above_the_exact_one(exact):
    rng = np.random.default_rng(3)
    above = 0
    for _ in range(60):
        laws = rng.integers(1, 50, (2, 5)).tolist() if exact else rng.random((2, 5)).tolist()
        curve = PiecewiseLinear.from_laws(*laws)
        assert curve.exact is exact
        corners = PiecewiseLinear.from_laws(*([Fraction(v) for v in law] for law in laws)).points
        a, b = curve._arrays()
        for s in np.exp(rng.uniform(-1, 1, 4)):
            true = min(Fraction(s) * p + q for p, q in corners)
            ours = Fraction(curve.support(float(s)))
            assert true - Fraction(1, 10**13) < ours <= true
            # The twin: without its margin.
            above += Fraction(min(float((s * a + b).min()), 1.0, float(s))) > true
    assert above > 0


def test_a_corner_that_is_lost_to_rounding_is_allowed_for():
    """The last corner is nearer to (1, 0) than floats are kept apart."""
    laws = [1.0, 9.9e-16], [1.0, 1e-30]
    curve = PiecewiseLinear.from_laws(*laws)
    assert curve.points == ((0.0, 1.0), (1.0, 0.0))
    corners = PiecewiseLinear.from_laws(*([Fraction(v) for v in law] for law in laws)).points
    assert Fraction(curve.support(0.5)) <= min(a / 2 + b for a, b in corners)


def test_many_outputs_of_one_ratio_do_not_round():
    """30,000 floats are one group: their sums are exact, so the support is, but for ulps."""
    v, k, n, s = 0.7493395061746735, 5.0, 30_000, 1.3
    curve = PiecewiseLinear.from_laws([v] * n + [k * v] * n, [k * v] * n + [v] * n)
    true = min(Fraction(s), Fraction(1), (1 + Fraction(s)) / 6)
    assert true - Fraction(1, 10**14) < Fraction(curve.support(s)) <= true
    # The twin: added up one by one, both coordinates of the corner round, by far more than ulps.
    careless = [0.0, 1.0]
    for _ in range(n):
        careless[0] += v / (n * (v + k * v))
        careless[1] -= k * v / (n * (v + k * v))
    assert s * careless[0] + careless[1] - true > 1e-13


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float16, np.float32, np.float64])
def test_numbers_of_small_types_are_plain_inside(kind):
    s = np.exp(np.linspace(-3, 3, 7))
    for value in (1, 3) if np.issubdtype(kind, np.integer) else (0.7, 3.0):
        small, plain = kind(value), float(kind(value))
        for curve, same in (
            (GaussianDP(small), GaussianDP(plain)),
            (LaplaceDP(small), LaplaceDP(plain)),
            (PureDP(small), PureDP(plain)),
            (ApproximateDP(small, np.float16(1e-2)), ApproximateDP(plain, float(np.float16(1e-2)))),
            (DPSGDToy(np.uint8(3), sigma=small), DPSGDToy(3, sigma=plain)),
        ):
            assert curve == same and curve.support(1.3) == same.support(1.3)
            np.testing.assert_array_equal(curve.support(s), same.support(s))
            for field in dataclasses.fields(curve):
                assert type(getattr(curve, field.name)) in (int, float)


def test_symmetric_curves_are_their_own_inverse():
    a = np.linspace(0.001, 0.999, 999)
    for curve in CURVES:
        f = curve(a)
        inside = (f > 1e-6) & (f < 1 - 1e-6)
        own_inverse = np.allclose(curve(f[inside]), a[inside], atol=1e-9)
        flat_end = isinstance(curve, ApproximateDP)  # a point with f = 0 has no unique inverse
        assert curve.symmetric == own_inverse or (flat_end and curve.symmetric), curve


def test_conversion_of_gaussian_curves_agrees_with_dp_accounting():
    for mu in (0.01, 0.1, 0.5, 1.0, 3.0, 8.0):
        oracle = privacy_loss_mechanism.GaussianPrivacyLoss(1 / mu)
        for epsilon in (0.0, 0.01, 0.1, 1.0, 4.0, 10.0):
            theirs = oracle.get_delta_for_epsilon(epsilon)
            if theirs > 1e-200:
                assert GaussianDP(mu).delta_at(epsilon) == pytest.approx(
                    theirs, rel=1e-9, abs=1e-15
                )


def test_conversion_of_gaussian_curves_agrees_with_mpmath_far_out():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(400):
        for mu, epsilon in [
            (1e-9, 0.0),
            (1e-6, 1e-5),
            (1e-3, 0.03),
            (0.1, 2.0),
            (1.0, 30.0),
            (5.0, 80.0),
            (36.0, 800.0),
            (60.0, 800.0),
        ]:
            m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
            true = mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2)
            ours = GaussianDP(mu).log_delta_at(epsilon)
            assert ours == pytest.approx(float(mpmath.log(true)), rel=1e-12, abs=1e-13)


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 800), st.floats(-280, -0.1))
def test_conversions_undo_each_other_and_round_to_the_safe_side(epsilon, log10_delta):
    delta = 10.0**log10_delta
    curve = GaussianDP.from_approximate(epsilon, delta)
    assert curve.log_delta_at(epsilon) <= math.log(delta)
    assert GaussianDP(curve.mu * (1 + 1e-9)).log_delta_at(epsilon) > math.log(delta) - 1e-13
    back = curve.epsilon_at(delta)
    assert curve.log_delta_at(back) <= math.log(delta)
    assert back == pytest.approx(epsilon, rel=1e-9, abs=1e-9 * (curve.mu + curve.mu**2))


def test_paper_values_of_the_conversion():
    # 6.56 is not "exactly" mu = 1.4, and 4.88 is 4.8897 cut off (section 4.4 of the paper).
    assert GaussianDP.from_approximate(6.56, 1e-5).mu == pytest.approx(1.41187, abs=1e-5)
    assert GaussianDP(1.2).epsilon_at(1e-5) == pytest.approx(5.4135, abs=1e-4)
    assert GaussianDP(1.1).epsilon_at(1e-5) == pytest.approx(4.8897, abs=1e-4)


def test_no_answer_below_resolution():
    with pytest.raises(ValueError, match="use log_delta_at"):
        GaussianDP(0.01).delta_at(10.0)
    assert GaussianDP(0.01).log_delta_at(10.0) < -400_000
    with pytest.raises(ValueError, match="out of resolution"):
        GaussianDP(1e-9).log_delta_at(1.0)
    with pytest.raises(ValueError, match=r"delta must be a number in \(0, 1\), got 0"):
        GaussianDP(1.0).epsilon_at(0.0)
    with pytest.raises(ValueError, match=r"delta must be a number in \(0, 1\), got 1"):
        GaussianDP.from_approximate(1.0, 1.0)


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_delta_is_one_minus_the_support(curve):
    for epsilon in (0.0, 0.01, 0.3, 1.0, 2.5):
        assert curve.delta_at(epsilon) == pytest.approx(
            1 - curve.support(math.exp(epsilon)), abs=2e-11
        )


def test_huge_epsilon():
    for curve in (PureDP(800.0), ApproximateDP(800.0, 0.0)):
        assert curve(np.array([0.0, 1e-320, 0.5, 1.0])).tolist() == [1.0, 0.0, 0.0, 0.0]
        assert curve.support(1.0) == 0 and curve.delta_at(800.0) == 0
        assert 0 < curve.delta_at(799.0) < 1
        assert diagonal_crossing(curve, 0.0) == pytest.approx(0.0, abs=1e-300)
    assert GaussianDP(60.0)(0.5) == pytest.approx(0.0, abs=1e-300)
    assert LaplaceDP(800.0)(0.5) == 0


def test_exact_piecewise_curve_of_a_finite_law():
    assert RESPONSE.points == ((0, 1), (Fraction(1, 4), Fraction(1, 4)), (1, 0))
    assert RESPONSE(Fraction(1, 8)) == Fraction(5, 8)
    assert RESPONSE.support(Fraction(2)) == Fraction(3, 4)
    assert RESPONSE.exact and RESPONSE.symmetric
    a = np.linspace(0, 1, 101)
    np.testing.assert_allclose(RESPONSE(a), PureDP(math.log(3))(a), atol=1e-15)
    assert not LEAKY.symmetric and LEAKY(0.0) == pytest.approx(0.8)


laws = st.lists(st.integers(0, 6), min_size=2, max_size=5).filter(any)


@settings(max_examples=150, deadline=None)
@given(laws, laws)
def test_piecewise_curve_is_the_best_of_all_tests(weights0, weights1):
    size = min(len(weights0), len(weights1))
    weights0, weights1 = weights0[:size], weights1[:size]
    if not any(weights0) or not any(weights1):
        return
    curve = PiecewiseLinear.from_laws(weights0, weights1)
    total0, total1 = sum(weights0), sum(weights1)
    reached = set()
    for region in itertools.product((0, 1), repeat=size):
        alpha = Fraction(sum(w for w, r in zip(weights0, region, strict=True) if r), total0)
        beta = 1 - Fraction(sum(w for w, r in zip(weights1, region, strict=True) if r), total1)
        assert beta >= curve(alpha)
        for s in (Fraction(1, 3), Fraction(1), Fraction(5, 2)):
            assert s * alpha + beta >= curve.support(s)
        reached.add((alpha, beta))
    assert all(point in reached or point == (1, 0) for point in curve.points)
    floats = PiecewiseLinear.from_laws([float(w) for w in weights0], [float(w) for w in weights1])
    grid = np.linspace(0, 1, 51)
    np.testing.assert_allclose(floats(grid), curve(grid), atol=1e-12)
    assert np.all(floats.support(SLOPES) <= curve.support(SLOPES) + 1e-300 + 1e-15 * (1 + SLOPES))


def test_sgd_curve_is_that_of_its_densities():
    # Independent of the closed form: integrate both densities on a grid, order by their ratio.
    toy = DPSGDToy(4)
    shift, weight = toy.histories()
    assert weight.sum() == pytest.approx(1) and len(shift) == 16
    z = np.linspace(-9, 14, 200_001)
    p = np.exp(-z * z / 2)
    q = sum(w * np.exp(-((z - m) ** 2) / 2) for w, m in zip(weight, shift, strict=True))
    order = np.argsort(-q / p)
    alpha, beta = np.cumsum(p[order]) / p.sum(), 1 - np.cumsum(q[order]) / q.sum()
    chosen = np.searchsorted(alpha, np.linspace(0.01, 0.99, 99))
    np.testing.assert_allclose(toy(alpha[chosen]), beta[chosen], atol=1e-6)
    assert DPSGDToy(3, batch=10).symmetric and not toy.symmetric


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_diagonal_crossing_lies_on_the_curve_and_on_the_line(curve):
    d = np.linspace(-0.995, float(curve(0.0)) - 0.005, 301)
    a = diagonal_crossing(curve, d)
    np.testing.assert_allclose(curve(a) - a, d, atol=1e-6)
    assert np.isnan(diagonal_crossing(curve, 1.01)) and np.isnan(diagonal_crossing(curve, -1.01))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianDP(-1.0), "mu must be a finite number >= 0, got -1.0"),
        (lambda: GaussianDP(math.nan), "mu must be a finite number >= 0, got nan"),
        (lambda: PureDP(math.inf), "epsilon must be a finite number >= 0, got inf"),
        (lambda: ApproximateDP(1.0, 1.0), r"delta must be a number in \[0, 1\), got 1.0"),
        (lambda: DPSGDToy(17), "tau must be at most 16"),
        (lambda: DPSGDToy(3, rate=1.0), r"rate must be a number in \(0, 1\), got 1.0"),
        (lambda: DPSGDToy(3, batch=11), "records must be at least batch = 11, got 10"),
        (lambda: PiecewiseLinear(((0, 1), (1, 1))), "points must lead from"),
        (lambda: PiecewiseLinear(((0, 1), (0.5, 0.9), (1, 0))), "points must be convex"),
        (lambda: PiecewiseLinear(((0, 1), (0.5, 0.2), (0.4, 0.1), (1, 0))), "rising alpha"),
        (lambda: PiecewiseLinear.from_laws([1], [1, 1]), "must have one length, got 1 and 2"),
        (lambda: PiecewiseLinear.from_laws([1, -1], [1, 1]), "law0 must be weights >= 0"),
        (lambda: PiecewiseLinear.from_laws([0, 0], [1, 1]), "law0 must be weights >= 0"),
        (lambda: GaussianDP(1.0)(1.5), r"alpha must be a number in \[0, 1\], got 1.5"),
        (lambda: GaussianDP(1.0)(np.array([0.1, math.nan])), "alpha .* got nan"),
        (lambda: LaplaceDP(1.0).support(0.0), "s must be positive and finite, got 0.0"),
        (lambda: LaplaceDP(1.0).delta_at(-0.1), "epsilon must be a finite number >= 0, got -0.1"),
    ],
)
def test_wrong_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_planted_defects_are_seen():
    # The support tests must fail for a support that is off by 1e-4 either way.
    a = alphas()
    for factor, fails_high in ((1.0001, True), (0.9999, False)):
        wrong = factor * GaussianDP(1.0).support(SLOPES)
        true = (SLOPES[:, None] * a + GaussianDP(1.0)(a)).min(axis=1)
        too_high = np.any(wrong > true + 2e-15 * (1 + SLOPES))
        too_low = np.any(wrong < true - 1e-5 * (1 + SLOPES))
        assert too_high if fails_high else too_low
