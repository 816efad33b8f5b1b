"""Fixed-size tests and the naive repeated t-test. Statistical assertions spend 1e-9 each."""

import math

import numpy as np
import pytest
from scipy import stats
from statistical import assert_plausible, assert_rejected, binomial_tail

from ldpkv.auditing import targets
from ldpkv.auditing.apt import NOT_REJECTED
from ldpkv.auditing.batch import BatchTest, naive_t_test, rejection_rates
from ldpkv.auditing.classifiers import KnownRatio
from ldpkv.tradeoff import GaussianDP, PureDP


def slow_t_test(row, level, start, every):
    for n in range(start, len(row) + 1, every):
        if stats.ttest_1samp(row[:n], 0.0).pvalue < level:
            return n
    return NOT_REJECTED


@pytest.mark.parametrize(("start", "every", "offset"), [(2, 1, 0.0), (5, 7, 0.3), (10, 10, 1e6)])
def test_naive_t_test_is_that_of_scipy(start, every, offset):
    rows = np.random.default_rng(1).normal(size=(30, 60)) + offset
    ours = naive_t_test(rows, level=0.05, start=start, every=every)
    assert ours.tolist() == [slow_t_test(row, 0.05, start, every) for row in rows]


def test_peeking_raises_false_alarms_as_the_notes_say():
    # Example 2.3: the 24 % of Figure 2 need a look at every tenth observation.
    rows = np.random.default_rng(2).normal(size=(4000, 200))
    tenth = int(np.sum(naive_t_test(rows, start=10, every=10) != NOT_REJECTED))
    every = int(np.sum(naive_t_test(rows) != NOT_REJECTED))
    assert_plausible(binomial_tail(tenth, 4000, 0.253), "every tenth")
    assert_plausible(binomial_tail(every, 4000, 0.438), "every single one")
    assert_rejected(binomial_tail(every, 4000, 0.253), "not 24 % at every observation")


def test_naive_t_test_of_constant_rows():
    assert naive_t_test(np.zeros((2, 20))).tolist() == [NOT_REJECTED, NOT_REJECTED]
    assert naive_t_test(np.ones((1, 20))).tolist() == [2]
    assert naive_t_test(np.ones((1, 1))).tolist() == [NOT_REJECTED]


def test_bounds_are_the_formulas():
    x, y = np.arange(100.0), np.arange(100.0) + 60
    known = KnownRatio(lambda z: z - 89.5, threshold=0.0)
    normal = BatchTest.one_shot(GaussianDP(0.5), classifier=known).test((x, y))
    assert (normal.alpha, normal.beta) == pytest.approx((0.1, 0.3))
    z = stats.norm.ppf(0.975)
    assert normal.bound_alpha == pytest.approx(0.1 + z * math.sqrt(0.09 / 100))
    assert normal.bound_beta == pytest.approx(0.3 + z * math.sqrt(0.21 / 100))
    assert normal.guarantee == "none" and normal.n_samples == 100
    hoeffding = BatchTest.predecessor(GaussianDP(0.5), classifier=known).test((x[::-1], y[::-1]))
    # The second half, which is the lower one here, is judged.
    assert (hoeffding.alpha, hoeffding.beta) == pytest.approx((0.0, 0.6))
    assert hoeffding.bound_beta == pytest.approx(0.6 + math.sqrt(math.log(40) / 100))
    assert hoeffding.guarantee == "fixed n, finite sample"
    assert normal.rejected == bool(GaussianDP(0.5)(normal.bound_alpha) > normal.bound_beta)


def test_order_of_figures_9_and_10():
    # One look with normal bounds needs fewer pairs than Hoeffding bounds on half of the data.
    source = targets.Gaussian(1.0).sample
    claimed = GaussianDP(0.5)
    one_shot = rejection_rates(BatchTest.one_shot(claimed), source, [100, 200], repeats=60, rng=3)
    old = rejection_rates(BatchTest.predecessor(claimed), source, [100, 200], repeats=60, rng=3)
    assert np.all(one_shot > old + 0.3)


def test_level_of_the_predecessor_with_separate_data():
    # Finite-sample guarantee 0.05; false alarm 1e-9. The twin audits a violation.
    source = targets.Gaussian(0.0).sample
    hits = 300 * rejection_rates(
        BatchTest.predecessor(PureDP(0.01)), source, [200], repeats=300, rng=4
    )
    assert_plausible(float(stats.binom.sf(hits[0] - 1, 300, 0.05)), "level")
    source = targets.Gaussian(2.0).sample
    hits = 300 * rejection_rates(
        BatchTest.predecessor(PureDP(0.01)), source, [200], repeats=300, rng=4
    )
    assert_rejected(float(stats.binom.sf(hits[0] - 1, 300, 0.05)), "violation")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BatchTest(PureDP(1.0), level=0.7), r"level must be a number in \(0, 1/2\)"),
        (lambda: BatchTest(PureDP(1.0), bound="exact"), "bound must be one of"),
        (lambda: BatchTest(PureDP(1.0), training=1.0), r"training must be a number in \[0, 1\)"),
        (lambda: BatchTest(PureDP(1.0)).test(([1.0] * 3, [1.0] * 3)), "at least 4, got 3"),
        (lambda: naive_t_test([[0.0, math.nan]]), "observations must be finite numbers"),
        (lambda: naive_t_test(np.zeros((1, 9)), start=1), "start must be an integer of at least 2"),
        (lambda: naive_t_test(np.zeros((1, 9)), level=1.0), r"level must be a number in \(0, 1\)"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("target", "mean_p", "mean_q"),
    [
        (targets.Gaussian(0.7, 2.0), 0.0, 1.4),
        (targets.Laplace(0.7, 2.0), 0.0, 1.4),
        (targets.NonDPGaussian1(0.5), 0.0, 0.5),
        (targets.NonDPLaplace1(0.5), 0.0, 0.5),
        (targets.NonDPGaussian2(3.0), 0.0, 0.5),
        (targets.RandomisedResponse(1.0), 1 / (1 + math.e), math.e / (1 + math.e)),
        (targets.DPSGD(), 0.0, 0.5 * (1 - 0.8**10) / 5),
        (targets.Resampled(np.array([1.0, 3.0]), np.array([5.0])), 2.0, 5.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_targets_have_the_stated_medians_or_means(target, mean_p, mean_q):
    x, y = target.sample(40_000, rng=5)
    assert x.shape == y.shape == (40_000,)
    for sample, centre in ((x, mean_p), (y, mean_q)):
        if isinstance(target, targets.RandomisedResponse | targets.DPSGD | targets.Resampled):
            error = max(sample.std(), 1e-12) / 200
            assert abs(sample.mean() - centre) < 6.2 * error + 1e-12
        else:
            # All these laws are symmetric: half of the outputs lie above the centre.
            assert_plausible(binomial_tail(int(np.sum(sample > centre)), 40_000, 0.5), str(target))
    again = target.sample(40_000, rng=5)
    np.testing.assert_array_equal(x, again[0])


@pytest.mark.parametrize(
    "target",
    [targets.Gaussian(1.0, 3.0), targets.Laplace(1.0, 0.5), targets.DPSGD(4), targets.DPSGD(10)],
    ids=repr,
)
def test_curves_of_targets_are_those_of_their_samples(target):
    # Thresholds are best tests for all four; each error is a binomial count.
    x, y = target.sample(40_000, rng=6)
    curve = target.curve()
    for quantile in (0.05, 0.3, 0.6, 0.9):
        t = np.quantile(target.sample(400_000, rng=7)[0], quantile)
        alpha = float(np.mean(target.sample(400_000, rng=8)[0] > t))
        if isinstance(target, targets.Laplace) and not 0 < t < 0.5 * 1.0:
            continue
        hits = int(np.sum(y <= t))
        # alpha itself is estimated from ten times as many outputs; its error moves beta by about
        # a third of the binomial one, so a wider tail is asked for.
        error = math.sqrt(curve(alpha) * (1 - curve(alpha)) / 40_000) + 6.2 * abs(
            curve.slope(alpha)
        ) * math.sqrt(alpha * (1 - alpha) / 400_000)
        assert abs(hits / 40_000 - curve(alpha)) < 6.2 * error
        assert abs(hits / 40_000 - 0.02 - curve(alpha)) > abs(hits / 40_000 - curve(alpha))
    assert len(x) == 40_000


def test_private_means_and_true_means():
    x, _ = targets.NonDPLaplace2(0.5).sample(20_000, rng=9)
    exact = np.mean(np.abs(x) < 1e-9)  # a noisy count below 0 publishes the mean
    assert_plausible(
        binomial_tail(int(exact * 20_000), 20_000, 0.5 * math.exp(-0.25)), "exact mean"
    )
    x, y = targets.DPLaplace(1.0).sample(20_000, rng=10)
    assert np.max(np.abs(x)) > 1e9 and np.isfinite(x).all() and np.isfinite(y).all()
    x, y = targets.DPGaussian(1.0).sample(1000, rng=11)
    assert np.isfinite(x).all() and np.isfinite(y).all()
