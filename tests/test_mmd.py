"""The kernel test: its level proved on trees, its path against a plain loop, its closed forms.

Statistical assertions spend 1e-9 each (`statistical.FALSE_ALARM`).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from statistical import FALSE_ALARM, assert_plausible, assert_rejected

from ldpkv.auditing import mmd, targets
from ldpkv.auditing.apt import NOT_REJECTED, audit
from ldpkv.auditing.mmd import (
    COUNTED,
    PAPER,
    RELEASED,
    REPAIRED,
    VARIANTS,
    MMDTest,
    gaussian_mmd,
    laplace_mmd,
    median_distance,
    mmd_threshold,
    run_many,
    typical_bandwidth,
)

BUDGETS = st.floats(0, 20)
DELTAS = st.floats(0, 0.999)
# Two answers at distance 1 and this bandwidth: the kernel only tells equal from different.
ATOMS = {"bandwidth": 0.0}


def pairs(n, seed, shift=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(shift, 1, size=n)


# --- the threshold ------------------------------------------------------------------------------


@given(BUDGETS, DELTAS)
def test_threshold_is_root_two_times_the_largest_total_variation(epsilon, delta):
    printed = math.sqrt(2) * (1 - 2 * (1 - delta) / (1 + math.exp(epsilon)))
    assert mmd_threshold(epsilon, delta) == pytest.approx(printed, abs=1e-14)
    # The released notebook's formula, written out, is sqrt(2) times that for every claim.
    u = math.exp(-epsilon)
    theirs = 2 * ((1 + delta * u) * (1 - u) / (1 + u) + u * delta)
    assert MMDTest(epsilon, delta, threshold="notebook").tau == pytest.approx(theirs, abs=1e-13)


def mmd_of_laws(p, q, places, bandwidth):
    gram = np.exp(-0.5 * ((places[:, None] - places) / bandwidth) ** 2)
    return math.sqrt(max(0.0, (p - q) @ gram @ (p - q)))


def private_laws(rng, epsilon, delta, atoms):
    """Two laws on a few atoms, exactly as private as claimed: post-processed response."""
    u = math.exp(-epsilon)
    base = np.array([[1 - delta, 0], [0, 1 - delta]]) / (1 + u)
    worst = np.array(
        [
            [delta, base[0, 0], u * base[1, 1], 0],
            [0, u * base[0, 0], base[1, 1], delta],
        ]
    )
    post = rng.dirichlet(np.full(atoms, 0.3), size=4)
    return worst @ post, worst


def test_no_private_pair_of_laws_exceeds_the_threshold():
    rng = np.random.default_rng(1)
    for _ in range(400):
        epsilon, delta = rng.uniform(0, 3), rng.choice([0.0, 1e-5, 0.1])
        (p, q), _ = private_laws(rng, epsilon, delta, atoms := int(rng.integers(2, 7)))
        places, h = rng.normal(size=atoms), rng.uniform(0.05, 3)
        assert mmd_of_laws(p, q, places, h) <= mmd_threshold(epsilon, delta) + 1e-12


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0), (1, 0), (3, 0)])
def test_randomised_response_attains_the_threshold(epsilon, delta):
    tell = 1 / (1 + math.exp(-epsilon))
    p, q = np.array([tell, 1 - tell]), np.array([1 - tell, tell])
    found = mmd_of_laws(p, q, np.array([0.0, 100.0]), 1.0)
    assert found == pytest.approx(mmd_threshold(epsilon, delta), rel=1e-12)
    # A smaller factor than sqrt(2) would call this private mechanism a violation.
    assert found > 1.4 / math.sqrt(2) * mmd_threshold(epsilon, delta)


# --- the level, exactly -------------------------------------------------------------------------


def response(epsilon):
    """Randomised response: probabilities of the four pairs (x, y)."""
    tell = 1 / (1 + math.exp(-epsilon))
    law_p, law_q = (tell, 1 - tell), (1 - tell, tell)
    return {(x, y): law_p[x] * law_q[y] for x in (0, 1) for y in (0, 1)}


def tree(test, law, depth, learned=0):
    """List all paths of `depth` pairs, after so many pairs that teach the best witness.

    Returns the mean growth of the wealth, its largest growth given any past, the smallest factor.
    """
    start = test.step(test.init(), (np.zeros(learned), np.ones(learned)))
    growth, least = -math.inf, math.inf
    level = [(start, 1.0)]
    for _ in range(depth):
        following = []
        for state, probability in level:
            average = 0.0
            for pair, weight in law.items():
                child = test.step(state, (np.array([pair[0]]), np.array([pair[1]])))
                average += weight * child.evidence
                least = min(least, child.evidence / state.evidence)
                following.append((child, probability * weight))
            growth = max(growth, average / state.evidence)
        level = following
    mean = sum(state.evidence * probability for state, probability in level)
    return mean / start.evidence, growth, least


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("learned", [0, 30])
def test_wealth_is_a_supermartingale_on_the_tightest_private_pair(name, epsilon, learned):
    test = MMDTest.variant(name, epsilon, level=1e-50, **ATOMS)
    mean, growth, least = tree(test, response(epsilon), 4, learned)
    assert test.guarantee == "anytime"
    assert growth <= 1 + 1e-14 and mean <= 1 + 1e-14
    assert least >= 1 - test.largest_loss - 1e-14 >= 0
    # With the ball of radius 1 nothing is given away once the witness has been learned.
    if learned and test.radius == 1:
        assert growth > 1 - 1e-2


def test_planted_defects_break_the_supermartingale_and_are_named():
    wide = MMDTest(0.3, radius=2.0, level=1e-50, **ATOMS)
    assert wide.guarantee == "none"
    assert tree(wide, response(0.3), 4, 30)[0] > 1.1
    low = MMDTest(0.25, level=1e-50, **ATOMS)
    assert tree(low, response(0.3), 4, 30)[0] > 1 + 1e-3
    greedy = MMDTest(0.3, bet_cap=3.0, **ATOMS)
    assert greedy.guarantee == "none" and greedy.largest_loss > 1


def test_a_greedy_bet_can_lose_more_than_everything():
    # The witness has learned one difference; then the opposite pair comes.
    x, y = np.zeros(40), np.ones(40)
    x[-1], y[-1] = 1.0, 0.0
    for cap, negative in (("largest", False), (1.0, True)):
        test = MMDTest(0.01, bet_cap=cap, level=1e-30, **ATOMS)
        state = test.step(test.init(), (x, y))
        assert state.n_samples == 40
        assert (state.evidence < 0) is negative
        assert (test.guarantee == "none") is negative


@pytest.mark.parametrize("name", VARIANTS)
def test_level_and_a_broken_level(name):
    """Randomised response at its own epsilon: at most 5 % in 300 pairs."""
    epsilon, source = 1.0, targets.RandomisedResponse(1.0).sample
    test = MMDTest.variant(name, epsilon, horizon=300, **ATOMS)
    hits = int(np.sum(run_many(test, source, repeats=300, rng=2) != NOT_REJECTED))
    assert_plausible(stats.binom.sf(hits - 1, 300, 0.05), name)


def test_a_lost_factor_in_the_threshold_is_seen():
    # A claim of 0.55 about a mechanism with epsilon 1 stands for tau without its factor.
    source = targets.RandomisedResponse(1.0).sample
    claim = 2 * math.atanh(math.tanh(0.5) / math.sqrt(2))
    lost = MMDTest.variant(REPAIRED, claim, horizon=1000, **ATOMS)
    assert lost.tau == pytest.approx(mmd_threshold(1.0) / math.sqrt(2))
    hits = int(np.sum(run_many(lost, source, repeats=200, rng=2) != NOT_REJECTED))
    assert_rejected(stats.binom.sf(hits - 1, 200, 0.05), "threshold without its factor")


def test_equal_laws_are_not_rejected_too_often():
    for name in VARIANTS:
        test = MMDTest.variant(name, 0.0, horizon=250)
        found = run_many(test, targets.Gaussian(0.0).sample, repeats=100, rng=3)
        hits = int(np.sum(found != NOT_REJECTED))
        assert_plausible(stats.binom.sf(hits - 1, 100, 0.05), name)


# --- the path -----------------------------------------------------------------------------------


def plain_loop(test, x, y):
    """The same test from its definition: the whole Gram matrix, nothing updated in place."""
    aside = test.bandwidth_pairs
    pooled = np.concatenate([x[:aside], y[:aside]])
    first, second = np.triu_indices(len(pooled), 1)
    h = np.median(np.abs(pooled[first] - pooled[second]))
    x, y = x[aside:], y[aside:]

    def k(a, b):
        return np.exp(-((a[:, None] - b) ** 2) / (2 * h * h))

    gram = k(x, x) - k(x, y) - k(y, x) + k(y, y)  # <g_s, g_t>
    n = len(x)
    f = np.zeros(n)
    bet, newton, wealth = 0.0, 1.0, [1.0]
    for t in range(n):
        gain = f @ gram[t] - test.tau
        wealth.append(wealth[-1] * (1 + bet * gain))
        f = f.copy()
        f[t] += 1 / (2 * math.sqrt(np.trace(gram[: t + 1, : t + 1])))
        norm = math.sqrt(f @ gram @ f)
        f *= min(1.0, test.radius / norm)
        slope = -gain / (1 + bet * gain)
        newton += slope**2
        bet = float(np.clip(bet - 2 / (2 - math.log(3)) * slope / newton, 0, test.cap))
    return np.array(wealth[1:]), math.sqrt(f @ gram @ f), bet


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_a_plain_loop_agrees(name, shift):
    test = MMDTest.variant(name, 0.05, 1e-5, level=1e-200)
    x, y = pairs(150, 4, shift)
    wealth, norm, bet = plain_loop(test, x, y)
    state = test.step(test.init(), (x, y))
    np.testing.assert_allclose(state.wealth, wealth, rtol=1e-9)
    assert state.norm == pytest.approx(norm, rel=1e-9) and state.norm <= test.radius
    assert state.bet == pytest.approx(bet, rel=1e-9)
    other = dataclasses.replace(test, radius=0.8 * test.radius)
    assert not np.allclose(other.step(other.init(), (x, y)).wealth, wealth, rtol=1e-6)


def same(first, second):
    for field in dataclasses.fields(first):
        one, two = getattr(first, field.name), getattr(second, field.name)
        np.testing.assert_array_equal(one, two, err_msg=field.name)


@pytest.mark.parametrize("count", [True, False])
@pytest.mark.parametrize("bandwidth", [None, 1.0])
def test_chunks_and_stored_states_give_one_path(count, bandwidth):
    test = MMDTest.variant(
        PAPER, 0.02, count_bandwidth_pairs=count, bandwidth=bandwidth, horizon=90
    )
    x, y = pairs(200, 5)
    whole = test.step(test.init(), (x, y))
    for cuts in ([1] * 200, [7, 13, 1, 30, 149], [20, 180]):
        state, start = test.init(), 0
        for size in cuts:
            before = pickle.loads(pickle.dumps(state))
            state = test.step(before, (x[start : start + size], y[start : start + size]))
            start += size
        same(state, whole)
    same(audit(test, (x, y)), whole)


def test_a_step_leaves_the_state_alone():
    test = MMDTest.variant(COUNTED, 0.02)
    x, y = pairs(60, 6)
    state = test.step(test.init(), (x[:40], y[:40]))
    copy = pickle.loads(pickle.dumps(state))
    test.step(state, (x[40:], y[40:]))
    same(state, copy)


def test_no_look_ahead():
    test = MMDTest.variant(REPAIRED, 0.02, level=1e-9)
    x, y = pairs(80, 7)
    whole = test.step(test.init(), (x, y))
    x[60:], y[60:] = 5.0, -5.0
    other = test.step(test.init(), (x, y))
    np.testing.assert_array_equal(whole.wealth[:40], other.wealth[:40])
    assert whole.wealth[-1] != other.wealth[-1]


def test_bandwidth_pairs_are_counted_or_not():
    x, y = pairs(400, 8, 2.0)
    counted = MMDTest.variant(REPAIRED, 0.02)
    bare = dataclasses.replace(counted, count_bandwidth_pairs=False)
    one, two = (t.step(t.init(), (x, y)) for t in (counted, bare))
    assert one.rejected_at == two.rejected_at + 20 == one.n_samples
    assert len(one.x) == len(two.x) == one.rejected_at
    early = bare.step(bare.init(), (x[:15], y[:15]))
    assert early.n_samples == 0 and math.isnan(early.bandwidth) and early.evidence == 1
    short = dataclasses.replace(bare, horizon=3)
    last = short.step(short.init(), (x, y))
    assert last.n_samples == 3 and len(last.x) == 23 and short.finished(last)


def test_a_decided_test_reads_no_more():
    test = MMDTest.variant(REPAIRED, 0.02)
    x, y = pairs(400, 8, 2.0)
    state = test.step(test.init(), (x, y))
    assert state.evidence >= state.threshold == 20
    assert np.all(state.wealth[:-1] < 20) and state.wealth[-1] == state.evidence
    assert test.step(state, (x, y)) is state


def test_repetitions_do_not_depend_on_workers():
    test = MMDTest.variant(PAPER, 0.01)
    source = targets.NonDPGaussian1(0.01).sample
    one = run_many(test, source, repeats=20, rng=9)
    np.testing.assert_array_equal(one, run_many(test, source, repeats=20, rng=9, n_jobs=2))
    assert len(set(one)) > 5
    state = audit(test, source, rng=np.random.default_rng(9).spawn(1)[0])
    assert state.rejected_at == one[0]


HOSTILE = {
    "constant": (np.zeros(60), np.zeros(60)),
    "infinite": (np.full(60, np.inf), np.full(60, np.inf)),
    "separated by infinity": (np.full(60, np.inf), np.full(60, -np.inf)),
    "some infinite": (np.tile([0.0, np.inf], 30), np.tile([1.0, 2.0], 30)),
    "huge": (np.tile([1e308, -1e308], 30), np.tile([1e300, 0.0], 30)),
    "tiny": (np.tile([0.0, 5e-324], 30), np.zeros(60)),
    "ties": (np.tile([0.0, 1.0], 30), np.tile([0.0, 0.0, 1.0], 20)),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_outputs(case):
    for name in VARIANTS:
        test = MMDTest.variant(name, 0.5)
        state = test.step(test.init(), HOSTILE[case])
        assert math.isfinite(state.evidence) and state.evidence > 0
        assert np.all(np.isfinite(state.wealth)) and 0 <= state.bet <= test.cap


def test_separated_atoms_are_told_apart():
    test = MMDTest.variant(REPAIRED, 0.5)
    for case, refuted in (("separated by infinity", True), ("infinite", False)):
        assert (test.step(test.init(), HOSTILE[case]).rejected_at is not None) is refuted


@given(
    st.lists(
        st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)),
        min_size=3,
        max_size=25,
    ),
    st.sampled_from(VARIANTS),
    st.floats(0, 3),
)
@settings(max_examples=150, deadline=None)
def test_each_pair_takes_at_most_the_stated_share(outputs, name, epsilon):
    test = MMDTest.variant(name, epsilon, level=1e-300, bandwidth_pairs=1)
    x, y = np.array(outputs).T
    state = test.step(test.init(), (x, y))
    factors = state.wealth / np.concatenate([[1.0], state.wealth[:-1]])
    assert factors.min() >= 1 - test.largest_loss - 1e-12
    assert factors.max() <= 1 + test.largest_win + 1e-11
    assert test.largest_loss < 1 and 0 <= state.bet <= test.cap
    assert state.norm <= test.radius
    # Swapping the laws mirrors the witness and changes nothing.
    swapped = test.step(test.init(), (y, x))
    np.testing.assert_allclose(swapped.wealth, state.wealth, rtol=1e-9)


def test_doubling_outputs_changes_nothing():
    test = MMDTest.variant(COUNTED, 0.1)
    x, y = pairs(100, 10)
    one, two = (test.step(test.init(), (c * x + s, c * y + s)) for c, s in ((1, 0), (4, 8)))
    np.testing.assert_allclose(one.wealth, two.wealth, rtol=1e-12)


def test_median_distance():
    x, y = pairs(20, 11)
    pooled = np.concatenate([x, y])
    distances = [abs(a - b) for a, b in itertools.combinations(pooled, 2)]
    assert median_distance(x, y) == pytest.approx(np.median(distances), rel=1e-15)
    assert median_distance([0, 1], [3]) == 2
    assert median_distance([np.inf, np.inf], [np.inf, np.inf, 0.0]) == 0
    assert median_distance([np.inf, np.inf], [np.inf, 0.0]) == np.inf
    assert median_distance([np.inf], [-np.inf]) == np.inf
    with pytest.raises(ValueError, match="at least 2 outputs together, got 1"):
        median_distance([1.0], [])


# --- published numbers --------------------------------------------------------------------------

# Mean pairs to reject and its printed error, arXiv 2509.07055, Table 1.
PRINTED = [
    (targets.NonDPGaussian1(0.01), 0.01, 1e-5, 264, 9.3),
    (targets.NonDPGaussian1(0.1), 0.1, 1e-5, 562, 29.2),
    (targets.NonDPLaplace1(0.01), 0.01, 0.0, 331, 14.5),
    (targets.NonDPLaplace1(0.1), 0.1, 0.0, 920, 61.6),
]


def p_value(test, target, printed, error, repeats):
    stops = run_many(test, target.sample, repeats=repeats, rng=12)
    assert np.all(stops != NOT_REJECTED)
    own = stops.std(ddof=1) / math.sqrt(repeats)
    return 2 * stats.norm.sf(abs(stops.mean() - printed) / math.hypot(own, error))


@pytest.mark.parametrize(("target", "epsilon", "delta", "printed", "error"), PRINTED)
def test_published_counts(target, epsilon, delta, printed, error):
    test = MMDTest.variant(COUNTED, epsilon, delta)
    assert_plausible(p_value(test, target, printed, error, 60), repr(target))
    wrong = MMDTest.variant(REPAIRED, epsilon, delta)
    assert_rejected(p_value(wrong, target, printed, error, 60), repr(target))


def test_detects_above():
    """The wealth grows in the long run iff MMD(P, Q) > tau / R: two claims around that."""
    target, h = targets.Gaussian(1.0), 1.0
    true = float(gaussian_mmd(1.0, 1.0, 1.0, h))
    for radius in (0.5, 1.0):
        edge = 2 * math.atanh(radius * true / math.sqrt(2))
        for factor, rejects in ((0.6, True), (1.3, False)):
            test = MMDTest(factor * edge, radius=radius, bandwidth=h, horizon=3000)
            assert (true > test.detects_above) is rejects
            found = run_many(test, target.sample, repeats=8, rng=13) != NOT_REJECTED
            # 8 of 8, or fewer than 8: a level of 5 % gives 8 of 8 with probability 4e-11.
            assert (
                found.all() if rejects else stats.binom.sf(found.sum() - 1, 8, 0.05) > FALSE_ALARM
            )


# --- population values --------------------------------------------------------------------------

SCALES = st.floats(0.05, 20)


def mean_kernel(law, h):
    """E exp(-D^2 / (2 h^2)) by quadrature over the density of D."""
    points = [law.median(), 0.0]
    reach = 40 * law.std() + 40 * h + abs(law.median())

    def integrand(z):
        return law.pdf(z) * math.exp(-0.5 * (z / h) ** 2)

    return integrate.quad(integrand, -reach, reach, points=points, limit=400, epsabs=1e-12)[0]


@pytest.mark.parametrize(("m", "p", "q", "h"), [(0.5, 2, 1, 1.4), (0, 1, 1, 0.3), (3, 0.2, 5, 2)])
def test_gaussian_mmd_by_quadrature(m, p, q, h):
    squared = (
        mean_kernel(stats.norm(0, math.sqrt(2) * p), h)
        + mean_kernel(stats.norm(0, math.sqrt(2) * q), h)
        - 2 * mean_kernel(stats.norm(m, math.hypot(p, q)), h)
    )
    assert float(gaussian_mmd(m, p, q, h)) ** 2 == pytest.approx(squared, abs=1e-9)


def laplace_squared(m, p, q, h):
    """MMD^2 by the spectral formula, in 30 digits: an integral of |difference of transforms|^2."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(30):
        m, p, q, h = (mpmath.mpf(v) for v in (m, p, q, h))

        def integrand(w):
            one, two = 1 / (1 + (p * w) ** 2), 1 / (1 + (q * w) ** 2)
            gap = one**2 + two**2 - 2 * one * two * mpmath.cos(m * w)
            return gap * mpmath.exp(-((h * w) ** 2) / 2)

        knots = sorted({0, *(k / v for v in (p, q, h) for k in (0.3, 1, 3)), 14 / h})
        knots = [k for k in knots if k <= 14 / h]
        total = mpmath.quad(integrand, knots)
        return float(2 * total * h / mpmath.sqrt(2 * mpmath.pi))


@pytest.mark.parametrize(
    ("m", "p", "q", "h"),
    [
        (0.05, 2, 1, 1.3),
        (0, 2, 1, 0.02),
        (1, 1, 1, 1),
        (1, 1, 1 + 1e-9, 1),
        (0.5, 1, 1.99, 2),
        (0.5, 1, 2.01, 2),
        (4, 0.5, 0.5, 0.3),
        (2, 3, 0.1, 5),
        (0.3, 1, 2, 100),
        (0.3, 1, 2, 0.01),
    ],
)
def test_laplace_mmd_by_its_spectrum(m, p, q, h):
    found = float(laplace_mmd(m, p, q, h)) ** 2
    assert found == pytest.approx(laplace_squared(m, p, q, h), abs=1e-11)


def test_laplace_mmd_far_away_and_by_simulation():
    # So far apart that only the within terms count; the naive product of factors overflows there.
    far, near = float(laplace_mmd(1e4, 1, 1, 0.5)), float(laplace_mmd(60.0, 1, 1, 0.5))
    assert far == pytest.approx(near, rel=1e-12)
    rng = np.random.default_rng(14)
    n, h = 200_000, 1.3
    x, x2 = 2 * rng.laplace(size=(2, n))
    y, y2 = 0.05 + rng.laplace(size=(2, n))

    def k(a, b):
        return np.exp(-0.5 * ((a - b) / h) ** 2)

    terms = k(x, x2) + k(y, y2) - k(x, y2) - k(x2, y)
    z = (terms.mean() - float(laplace_mmd(0.05, 2, 1, h)) ** 2) / (terms.std() / math.sqrt(n))
    assert_plausible(2 * stats.norm.sf(abs(z)), "laplace_mmd")


@pytest.mark.parametrize("formula", [gaussian_mmd, laplace_mmd])
@given(m=st.floats(-5, 5), p=SCALES, q=SCALES, h=SCALES, c=st.floats(0.1, 10))
@settings(max_examples=60, deadline=None)
def test_relations_of_the_population_value(formula, m, p, q, h, c):
    value = float(formula(m, p, q, h))
    assert 0 <= value <= math.sqrt(2) + 1e-12
    assert float(formula(-m, q, p, h)) ** 2 == pytest.approx(value**2, abs=1e-10)
    assert float(formula(c * m, c * p, c * q, c * h)) ** 2 == pytest.approx(value**2, abs=1e-10)
    assert float(formula(0.0, p, p, h)) ** 2 == pytest.approx(0, abs=1e-10)
    both = formula([m, 0.0], p, q, [h, 2 * h])
    assert both.shape == (2,) and both[0] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("kind", ["Gaussian", "Laplace"])
@pytest.mark.parametrize(("m", "p", "q"), [(0.05, 2, 1), (3, 1, 1), (0.5, 1, 1.0001)])
def test_typical_bandwidth_is_the_median_of_a_distance(kind, m, p, q):
    rng = np.random.default_rng(15)
    draw = rng.standard_normal if kind == "Gaussian" else (lambda n: rng.laplace(size=n))
    h, n = typical_bandwidth(kind, m, p, q), 100_000
    within_p = abs(p * (draw(n) - draw(n))) < h
    within_q = abs(q * (draw(n) - draw(n))) < h
    across = abs(p * draw(n) - m - q * draw(n)) < h
    share = 19 / 78 * (within_p.mean() + within_q.mean()) + 20 / 39 * across.mean()
    # The variance of each share is at most 1 / (4 n).
    sd = math.sqrt((2 * (19 / 78) ** 2 + (20 / 39) ** 2) / (4 * n))
    assert_plausible(2 * stats.norm.sf(abs(share - 0.5) / sd), f"{kind} {m} {p} {q}")
    assert_rejected(2 * stats.norm.sf(abs(share - 0.48) / sd), "a wrong median")


def test_largest_win_and_blindness():
    """With radius R nothing can be rejected once tau reaches sqrt(2) R, not even disjoint laws."""
    apart = np.zeros(4000), np.ones(4000)
    edges = {COUNTED: math.log(3), RELEASED: 2 * math.atanh(1 / math.sqrt(8))}
    for name in VARIANTS:
        edge = edges.get(name, 10.0)
        for factor in (0.9, 1.0, 1.1):
            test = MMDTest.variant(name, factor * edge, **ATOMS)
            state = test.step(test.init(), apart)
            sees = name not in edges or factor < 1
            assert (test.largest_win > 1e-9) is sees
            assert (state.evidence > 1) is sees
            if factor == 0.9 and name in edges:
                assert state.rejected_at is not None


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"epsilon": -1.0}, ValueError, "epsilon must be a finite number >= 0"),
        ({"epsilon": "1"}, TypeError, "epsilon must be a finite number >= 0"),
        ({"epsilon": math.inf}, ValueError, "epsilon must be a finite number >= 0"),
        ({"delta": 1}, ValueError, r"delta must be a number in \[0, 1\)"),
        ({"delta": -0.1}, ValueError, "delta must be a number"),
        ({"level": 0}, ValueError, r"level must be a number in \(0, 1\), got 0"),
        ({"threshold": "theirs"}, ValueError, "threshold must be one of"),
        ({"radius": 0}, ValueError, "radius must be a finite number above 0, got 0"),
        ({"radius": "1"}, TypeError, "radius must be a finite number above 0, got '1'"),
        ({"bet_cap": "all"}, ValueError, "bet_cap must be one of"),
        ({"bet_cap": -1.0}, ValueError, "bet_cap must be a finite number above 0"),
        ({"bandwidth": -1.0}, ValueError, "bandwidth must be a number >= 0 or None"),
        ({"bandwidth_pairs": 0}, ValueError, "bandwidth_pairs must be an integer of at least 1"),
        ({"horizon": 20}, ValueError, "horizon must be an integer of at least 21"),
    ],
)
def test_wrong_settings_are_named(changes, error, message):
    with pytest.raises(error, match=message):
        MMDTest(**{"epsilon": 0.1, **changes})


def test_wrong_calls_are_named():
    with pytest.raises(ValueError, match="name must be one of"):
        MMDTest.variant("fixed", 0.1)
    with pytest.raises(ValueError, match="scale_p must be finite and above 0"):
        gaussian_mmd(0, 0, 1, 1)
    with pytest.raises(ValueError, match="shift must be finite, got inf"):
        laplace_mmd(math.inf, 1, 1, 1)
    with pytest.raises(ValueError, match="kind must be one of"):
        typical_bandwidth("Cauchy", 0, 1, 1)
    test = MMDTest(0.1)
    with pytest.raises(ValueError, match="no NaN"):
        test.step(test.init(), ([math.nan], [0.0]))
    with pytest.raises(ValueError, match="repeats must be an integer of at least 1"):
        run_many(test, targets.Gaussian().sample, repeats=0)


def test_variants_are_what_they_are_called():
    made = {name: MMDTest.variant(name, 0.1, 1e-5) for name in VARIANTS}
    tau = mmd_threshold(0.1, 1e-5)
    assert made[PAPER].cap == 1 / (4 + 2 * tau) and made[PAPER].radius == 1
    assert made[COUNTED].cap == 1 / (8 + 4 * tau) and made[COUNTED].radius == 0.5
    assert made[RELEASED].tau == math.sqrt(2) * tau and made[RELEASED].radius == 0.5
    assert made[RELEASED].cap == 1 / (8 + 4 * made[RELEASED].tau)
    assert made[REPAIRED].cap == 0.99 / (math.sqrt(2) + tau)
    assert made[REPAIRED].largest_loss == pytest.approx(0.99)
    assert {t.guarantee for t in made.values()} == {"anytime"}
    above = {name: t.detects_above / tau for name, t in made.items()}
    assert above == pytest.approx(
        {PAPER: 1, RELEASED: 2 * math.sqrt(2), COUNTED: 2, REPAIRED: 1}, rel=1e-12
    )


def test_explanations():
    x, y = pairs(400, 8, 2.0)
    test = MMDTest.variant(REPAIRED, 0.02)
    text = test.explain(test.step(test.init(), (x, y)))
    assert text.startswith("Rejected after") and "at most 0.05" in text
    text = test.explain(test.step(test.init(), (x, x)))
    assert "Not rejected after 400 pairs" in text and "no evidence" in text
    unsafe = dataclasses.replace(test, radius=2.0)
    assert "no proved level" in unsafe.explain(unsafe.step(unsafe.init(), (x, y)))
    assert mmd.NOT_REJECTED == -1
