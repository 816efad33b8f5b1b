"""Scores, bandwidths and thresholds against slow formulas, scipy and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from ldpkv.auditing import classifiers
from ldpkv.auditing.classifiers import (
    BinnedKDE,
    Candidates,
    Fit,
    GaussianPlugIn,
    KnownRatio,
    ScoreThreshold,
    Tuning,
    as_pairs,
    binned_density,
    choose,
    plug_in_bandwidth,
    refresh_due,
)
from ldpkv.tradeoff import ApproximateDP, DPSGDToy, GaussianDP, LaplaceDP, PureDP

CURVES = [GaussianDP(0.8), LaplaceDP(0.5), PureDP(0.3), ApproximateDP(0.1, 1e-5), DPSGDToy(5)]


def slow_bandwidth(x):
    """Two-stage plug-in by double sums over the data, from the formulas alone."""
    n = len(x)
    scale = min(x.std(ddof=1), np.subtract(*np.percentile(x, (75, 25))) / 1.349)
    difference = np.subtract.outer(x, x) / scale

    def psi(order, g):
        u = difference / g
        hermite = np.polynomial.hermite_e.HermiteE.basis(order)(u)
        return np.mean(hermite * stats.norm.pdf(u)) / g ** (order + 1)

    def at_zero(order):
        return np.polynomial.hermite_e.HermiteE.basis(order)(0.0) / math.sqrt(2 * math.pi)

    psi8 = 105 / (32 * math.sqrt(math.pi))
    psi6 = psi(6, (-2 * at_zero(6) / (psi8 * n)) ** (1 / 9))
    psi4 = psi(4, (-2 * at_zero(4) / (psi6 * n)) ** (1 / 7))
    return scale * (1 / (2 * math.sqrt(math.pi) * psi4 * n)) ** 0.2


@pytest.mark.parametrize("law", ["normal", "laplace", "exponential", "two bumps"])
def test_bandwidth_is_that_of_the_formulas(law):
    rng = np.random.default_rng(4)
    x = {
        "normal": lambda: rng.normal(3, 2, 800),
        "laplace": lambda: rng.laplace(0, 200, 800),
        "exponential": lambda: rng.exponential(1e-3, 800),
        "two bumps": lambda: np.concatenate([rng.normal(0, 1, 400), rng.normal(6, 0.5, 400)]),
    }[law]()
    # Binning on 401 points, and the one observation it leaves out, cost below 1 %.
    assert plug_in_bandwidth(x) == pytest.approx(slow_bandwidth(x), rel=0.01)


def test_bandwidth_moves_with_the_data():
    x = np.random.default_rng(5).normal(size=300)
    h = plug_in_bandwidth(x)
    assert plug_in_bandwidth(1e-200 * x) == pytest.approx(1e-200 * h, rel=1e-9)
    assert plug_in_bandwidth(1e200 * x) == pytest.approx(1e200 * h, rel=1e-9)
    # Rounding may move the largest observation off the last node, so this holds less exactly.
    assert plug_in_bandwidth(x + 10) == pytest.approx(h, rel=0.01)
    assert plug_in_bandwidth(np.ones(10)) == 0 and plug_in_bandwidth(np.ones(1)) == 0
    assert 0 < plug_in_bandwidth(np.array([0.0] * 90 + [1.0] * 10)) < 1


def test_density_agrees_with_scipy():
    x = np.random.default_rng(6).normal(size=500)
    grid = np.linspace(-6, 6, 1001)
    step = grid[1] - grid[0]
    ours = binned_density(x, 0.4, -6.0, step, 1001)
    theirs = stats.gaussian_kde(x, bw_method=0.4 / x.std(ddof=1))(grid)
    np.testing.assert_allclose(ours, theirs, atol=2e-4)
    assert ours.sum() * step == pytest.approx(1, abs=1e-9)


def test_two_details_of_the_package_behind_the_figures():
    # A bandwidth far below the grid step must leave the data where they are, at any bandwidth.
    x = np.array([0.0, 1.0, 2.0, 2.0, 10.0])
    for bandwidth in (0.0, 1e-9, 0.2):
        density = binned_density(x, bandwidth, 0.0, 1.0, 11)
        assert density.tolist() == [0.2, 0.2, 0.4, 0, 0, 0, 0, 0, 0, 0, 0.2]
        # The package leaves out the observation on the last node; the others keep their weight.
        density = binned_density(x, bandwidth, 0.0, 1.0, 11, keep_end=False)
        assert density.tolist() == [0.2, 0.2, 0.4, 0, 0, 0, 0, 0, 0, 0, 0]


def test_densities_keep_their_mass():
    rng = np.random.default_rng(13)
    x, y = rng.normal(size=300), rng.normal(size=300)
    for published in (False, True):
        fit = BinnedKDE(published=published).fit(x, y, Tuning(eta_max=1e9, perturbation=0.0))
        whole = (fit.candidates.alpha[-1], 1 - fit.candidates.beta[0])
        if published:
            assert whole[1] > 0.001  # the mass off the grid
        else:
            assert whole == pytest.approx((1, 0), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 12)), min_size=1),
    st.sampled_from([0.0, 0.1, 1.0, 2.5]),
)
def test_blurred_errors_are_averages_over_thresholds(cells, blur):
    p, q, ratio = (np.array(column, dtype=float) for column in zip(*cells, strict=True))
    ratio = ratio / 4 + 0.01
    etas = np.linspace(0, 4, 23)
    alpha, power = classifiers._blurred_mass(p, q, ratio, etas, blur)
    for k, eta in enumerate(etas):
        if blur == 0:
            inside = (ratio <= eta).astype(float)
        else:
            inside = np.clip((eta + blur / 2 - ratio) / blur, 0, 1)
        assert alpha[k] == pytest.approx(p @ inside, abs=1e-9)
        assert power[k] == pytest.approx(q @ inside, abs=1e-9)


def fit_of(alpha, beta):
    alpha, beta = np.array(alpha), np.array(beta)
    level = np.arange(len(alpha), dtype=float)
    return Fit("given", lambda z: z, Candidates(level, alpha, beta), True, 100)


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_rules_choose_what_their_definitions_say(curve):
    rng = np.random.default_rng(7)
    alpha, beta = rng.uniform(0.01, 0.99, 40), rng.uniform(0, 1, 40)

    def crossing(a, b):
        def gap(v):
            return curve(v) - b - (v - a)

        return optimize.brentq(gap, 0, 1, xtol=1e-14) if gap(0.0) > 0 > gap(1.0) else math.nan

    reach = np.array([crossing(a, b) for a, b in zip(alpha, beta, strict=True)]) - alpha
    expected = {
        ("diagonal", True): np.nanargmax(reach),
        ("diagonal", False): np.nanargmax(np.abs(reach)),
        ("vertical", True): np.argmax(curve(alpha) - beta),
    }
    for (rule, signed), index in expected.items():
        witness = choose(fit_of(alpha, beta), curve, Tuning(rule=rule, signed=signed))
        assert witness.threshold == index


def test_unsigned_distance_prefers_a_point_above_the_curve():
    fit = fit_of([0.05, 0.3], [0.6, 0.95])  # a little below f, far above f
    curve = GaussianDP(1.0)
    assert choose(fit, curve, Tuning(signed=True)).threshold == 0
    assert choose(fit, curve, Tuning(signed=False)).threshold == 1


def test_no_usable_point_gives_the_middle_of_the_grid():
    fit = fit_of([0.0] * 1000, [1.0] * 1000)
    assert choose(fit, GaussianDP(1.0), Tuning()).threshold == 499


def test_line_has_the_best_margin():
    rng = np.random.default_rng(8)
    alpha, beta = rng.uniform(0.01, 0.5, 30), rng.uniform(0, 0.5, 30)
    for curve in CURVES:
        witness = choose(fit_of(alpha, beta), curve, Tuning(), decision="line")

        def gain(a, b, s, curve=curve):
            sd = np.sqrt(s * s * a * (1 - a) + b * (1 - b))
            return (curve.support(s) - s * a - b) / sd

        ours = gain(witness.alpha, witness.beta, witness.slope)
        others = gain(alpha[:, None], beta[:, None], np.exp(np.linspace(-2.5, 2.5, 41)))
        assert ours >= others.max() - 1e-12


def test_published_side_mirrors_the_threshold():
    fit = fit_of([0.05, 0.3], [0.6, 0.95])
    good = choose(fit, GaussianDP(1.0), Tuning(signed=False))
    bad = choose(fit, GaussianDP(1.0), Tuning(signed=False), side="published")
    assert bad.threshold == -good.threshold and bad.strict and not good.strict
    z = np.array([-1.0, 0.5, 1.0, 2.0])
    assert good(z).tolist() == [False, False, True, True]
    assert bad(z).tolist() == [False, True, True, True]


def test_densities_find_the_likelihood_ratio():
    rng = np.random.default_rng(9)
    x, y = rng.normal(0, 1, 20_000), rng.normal(1, 1, 20_000)
    fit = BinnedKDE().fit(x, y, Tuning())
    z = np.linspace(-1.5, 2.5, 41)
    np.testing.assert_allclose(fit.score(z), z - 0.5, atol=0.25)
    # Expected errors near those of the best tests.
    good = (fit.candidates.alpha > 0.05) & (fit.candidates.alpha < 0.9)
    np.testing.assert_allclose(
        fit.candidates.beta[good], GaussianDP(1.0)(fit.candidates.alpha[good]), atol=0.02
    )


def test_normal_plug_in_agrees_with_scikit_learn():
    rng = np.random.default_rng(10)
    x, y = rng.normal(0, 2, 400), rng.normal(0.5, 1, 400)
    fit = GaussianPlugIn(sd=None).fit(x, y, Tuning())
    oracle = QuadraticDiscriminantAnalysis(priors=[0.5, 0.5])
    oracle.fit(np.concatenate([x, y])[:, None], np.repeat([0, 1], 400))
    z = np.linspace(-5, 5, 51)
    np.testing.assert_allclose(fit.score(z), oracle.decision_function(z[:, None]), atol=0.05)


def test_known_sd_gives_the_closed_form_errors():
    x, y = np.array([-1.0, 1.0, 0.0]), np.array([1.0, 3.0, 2.0])
    for first, second in ((x, y), (y, x)):
        fit = GaussianPlugIn(sd=1.0).fit(first, second, Tuning(n_eta=9))
        np.testing.assert_allclose(
            fit.candidates.beta, GaussianDP(2.0)(fit.candidates.alpha), atol=1e-12
        )
        index = int(np.argmin(np.abs(fit.candidates.level)))
        density = stats.norm(first.mean()).pdf
        above = fit.score(np.linspace(-9, 9, 4001)) >= fit.candidates.level[index]
        area = integrate.trapezoid(density(np.linspace(-9, 9, 4001)) * above, dx=18 / 4000)
        assert area == pytest.approx(fit.candidates.alpha[index], abs=2e-3)


def test_known_ratio_and_given_scores_count_errors():
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0, 5.0])
    fit = KnownRatio(lambda z: z - 2.5, threshold=0.0).fit(x, y, Tuning())
    assert (fit.candidates.alpha[0], fit.candidates.beta[0]) == (0.25, 0.25)
    tuned = KnownRatio(lambda z: z - 2.5).fit(x, y, Tuning(perturbation=0.0))
    for level, alpha, beta in zip(
        tuned.candidates.level, tuned.candidates.alpha, tuned.candidates.beta, strict=True
    ):
        assert alpha == pytest.approx(np.mean(x - 2.5 >= level))
        assert beta == pytest.approx(np.mean(y - 2.5 < level))
    for larger, (p, q) in {"Q": (x, y), "P": (y, x)}.items():
        scores = ScoreThreshold(larger).fit(p, q, Tuning(n_eta=11))
        assert scores.candidates.alpha[5] == 0.25 and scores.candidates.beta[5] == 0.25
        witness = choose(scores, GaussianDP(0.5), Tuning())
        assert witness(q).mean() > witness(p).mean()


def test_infinite_outputs_are_atoms():
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=200), rng.normal(size=200)
    y[:80], x[:2] = np.inf, -np.inf
    fit = BinnedKDE().fit(x, y, Tuning())
    score = fit.score(np.array([-np.inf, 0.0, np.inf, 1e305]))
    assert score[0] < -20 and abs(score[1]) < 3 and score[2] > 20 and score[3] == score[2]
    witness = choose(fit, PureDP(0.1), Tuning())
    assert witness(np.array([np.inf])).all()
    with pytest.raises(ValueError, match="y must be finite for normal laws"):
        GaussianPlugIn().fit(rng.normal(size=200), y, Tuning())


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (([1.0, math.nan], [1.0, 2.0]), "x must hold no NaN, got one at index 1"),
        (([1.0, 2.0], [math.nan, 2.0]), "y must hold no NaN, got one at index 0"),
        (([[1.0, 2.0]], [[1.0, 2.0]]), r"x must have shape \(n,\), one number for each output"),
        (np.zeros((4, 3)), r"pairs must be a tuple \(x, y\) or an array of shape \(n, 2\)"),
        (np.zeros(4), r"pairs must be a tuple \(x, y\) or an array of shape \(n, 2\)"),
        (([1.0], [1.0, 2.0]), "x and y must have one length, got 1 and 2"),
    ],
)
def test_bad_outputs_are_refused_by_name(pairs, message):
    with pytest.raises(ValueError, match=message):
        as_pairs(pairs)


def test_outputs_must_be_numbers():
    for wrong in (["a", "b"], [1j, 2j], [None, 1.0]):
        with pytest.raises(TypeError, match="x must hold real numbers, got dtype"):
            as_pairs((wrong, [0.0, 0.0]))
    x, y = as_pairs((1, True))
    assert x.tolist() == [1.0] and y.tolist() == [1.0]


def test_wrong_settings_are_named():
    for make, message in [
        (lambda: Tuning(rule="square"), "rule must be one of"),
        (lambda: Tuning(eta_max=0.0), "eta_max must be a finite number above 0, got 0.0"),
        (lambda: Tuning(perturbation=-1.0), "perturbation must be a number >= 0, got -1.0"),
        (lambda: GaussianPlugIn(0.0), "sd must be a finite number above 0 or None, got 0.0"),
        (lambda: ScoreThreshold("X"), "larger must be one of"),
        (lambda: BinnedKDE(1), "min_grid must be an integer of at least 2, got 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(ValueError, match="log_ratio must give one number, not NaN"):
        KnownRatio(lambda z: z * math.nan).fit(np.zeros(3), np.zeros(3), Tuning())


def test_refresh_schedule_of_the_paper():
    n, fits = 50, [50]
    for n in range(60, 1400, 10):
        if refresh_due(n, fits[-1]):
            fits.append(n)
    assert fits == [50, 90, 160, 280, 480, 820, 1390]
