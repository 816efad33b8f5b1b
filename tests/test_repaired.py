"""The best symbol channel, length classes, and the repaired mechanism."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from statistical import assert_plausible, assert_rejected, binomial_tail, same_law

from ldpkv import allocation, repaired, theory
from ldpkv.data import KeyValueData
from ldpkv.hiskv import LRRKV, LengthEstimate, best_tilt, tilted
from ldpkv.mechanisms import PCKVGRR
from ldpkv.papers.hiskv.repaired import defects
from ldpkv.privacy import extreme_users, worst_ratio
from ldpkv.repaired import LengthHistogram, Problem, RepairedHISKV, weighted_loss

SHAPES = [(2, 1), (2, 3), (3, 2), (10, 4), (306, 36)]

# --- the loss ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "padding"), SHAPES)
@pytest.mark.parametrize("e", [F(3, 2), F(5)])
@pytest.mark.parametrize("f", [F(1, 3), F(1)])
@pytest.mark.parametrize("m", [F(0), F(3, 4)])
def test_the_loss_is_that_of_the_theory(d, padding, e, f, m) -> None:
    problem, weight = Problem(e, d, padding, f, m * m), F(7, 3)
    for keep, tilt in ((allocation.amplified(e, padding), F(5, 4)), (F(1, 2), F(1, 5))):
        numbers = tilted(keep, tilt, d, padding)
        x = f / padding
        expected = weight * theory.frequency_variance(numbers, f, 1, users="iid") / f**2
        expected += theory.mean_variance_printed(numbers, f, m, 1)
        assert weighted_loss(problem, keep, tilt, weight) == expected * x**2
        alone = theory.frequency_variance(numbers, f, 1, users="iid") / padding**2
        assert weighted_loss(problem, keep, tilt, math.inf) == alone


def test_what_is_lost_costs_everything() -> None:
    problem = Problem(F(2), 3, 2)
    assert weighted_loss(problem, F(2), F(0), 1) == math.inf  # the key
    assert weighted_loss(problem, F(3), F(3), 1) == math.inf  # the sign
    assert weighted_loss(problem, F(3), F(3), math.inf) < math.inf


# --- the polygon ---------------------------------------------------------------------------------


def channel_of(problem: Problem, u, c) -> LRRKV:
    q2 = 1 / (u + c + problem.cells - 2)
    return LRRKV(problem.n_keys, problem.padding, u * q2, c * q2, q2)


@pytest.mark.parametrize("padding", [1, 2, 5])
@pytest.mark.parametrize("e", [F(9, 8), F(2), F(7)])
def test_edges_spend_all_of_epsilon_and_beyond_them_more(e, padding) -> None:
    problem = Problem(e, 4, padding)
    corners = repaired.corners(e, padding)
    centre = (F(1), F(1))
    for one, two in itertools.pairwise(corners):
        for part in (F(0), F(1, 3), F(1)):
            u, c = (a + part * (b - a) for a, b in zip(one, two, strict=True))
            spent = channel_of(problem, u, c).exp_epsilon("set", empty=True)
            # The last edge is c = 0 where that bound is the tighter one.
            assert spent == e or (c == 0 and spent <= e)
            out = [p + F(1, 1000) * (p - q) for p, q in zip((u, c), centre, strict=True)]
            if min(out) >= 0:
                assert channel_of(problem, *out).exp_epsilon("set", empty=True) > e


@pytest.mark.parametrize("e", [F(3, 2), F(4)])
@pytest.mark.parametrize(("d", "padding"), [(2, 1), (2, 2), (3, 2)])
def test_corners_enumerated(e, d, padding) -> None:
    users = list(extreme_users(d, empty=True))
    problem = Problem(e, d, padding)
    for u, c in repaired.corners(e, padding):
        assert worst_ratio(channel_of(problem, u, c), users).ratio <= e
    u, c = repaired.corners(e, padding)[0]
    assert worst_ratio(channel_of(problem, u, c), users).ratio == e
    assert worst_ratio(channel_of(problem, u + 1, c), users).ratio > e


# --- the steps of the proof ----------------------------------------------------------------------

A, B, P, S, T = sympy.symbols("a b p s t", nonnegative=True)
POS = sympy.symbols("z", positive=True)
N_KEYS, LENGTH = 1 + A, 1 + B


def coefficients(expression, *variables) -> list:
    top, bottom = sympy.fraction(sympy.together(expression))
    parts = [sympy.Poly(sympy.expand(part), *variables).coeffs() for part in (top, bottom)]
    assert min(parts[1]) > 0
    return parts[0]


def test_second_edge_falls_towards_pckv() -> None:
    """Point 2, sigma > 0, at m^2 = 1: every coefficient of minus the slope is positive."""
    e, z, far = P, 2 * LENGTH + S, 2 * LENGTH + S + T
    rho = far / (far - 2 * LENGTH)
    signs = (1 + 2 * N_KEYS / POS) * (1 + 2 * e / POS)
    square = (2 * e + 4 * LENGTH - POS) * (POS + 2 * N_KEYS) - 4 * (e + LENGTH)
    square /= (POS - 2 * LENGTH) ** 2
    slope = rho**2 * sympy.diff(signs, POS) + sympy.diff(square, POS)
    assert min(coefficients(-slope.subs(POS, z), A, B, P, S, T)) > 0
    # A planted slip: rho taken for the far end of the edge plus one.
    wrong = (far + 40) ** 2 / (far + 40 - 2 * LENGTH) ** 2 / 4
    slip = wrong * sympy.diff(signs, POS) + sympy.diff(square, POS)
    assert min(coefficients(-slip.subs(POS, z), A, B, P, S, T)) < 0


def test_second_edge_is_what_it_says() -> None:
    """The parametrisation by z, and the loss in it."""
    e, c, big, f = sympy.symbols("e c E f", positive=True)
    d, length = sympy.symbols("d l", positive=True)
    u = 1 + length * (big - 1) - big * (1 - c)
    z = (big + 1) * (length - 1 + c)
    sigma, r = u + c - 2, u - c
    assert sympy.simplify(sigma - (z - 2 * length)) == 0
    assert sympy.simplify(r - z * (big - 1) / (big + 1)) == 0
    x, cells = f / length, 2 * (d + length)
    whole = (sigma + cells) * (2 + x * sigma) / r**2
    short = ((big + 1) / (big - 1)) ** 2 * (1 + 2 * d / z) * (1 + 2 * e / z) * x
    assert sympy.simplify(whole - short.subs(e, length / f - length)) == 0


def test_third_edge_falls() -> None:
    """Point 3: c = 0, r = sigma + 2; with and without the part in m^2."""
    cells = 2 * (N_KEYS + LENGTH)
    signs = (POS + cells) * (POS + 2 * P + 2 * LENGTH) / (POS + 2) ** 2
    square = -1 + 2 * (P - N_KEYS) / POS + 4 * (P + LENGTH) * (N_KEYS + LENGTH - 1) / POS**2
    for part in (signs, signs + square):
        assert min(coefficients(-sympy.diff(part, POS).subs(POS, S), A, B, P, S)) > 0


def test_comparisons_of_the_last_edge() -> None:
    """Point 4: the three differences are the stated multiples."""
    k, t, x, cells = sympy.symbols("k t x D")
    tau = k * t
    frequency = k**2 * (2 - x * t) * (cells - 2 - (1 - x) * t)
    frequency -= (2 + x * tau) * (cells - 2 + (1 - x) * tau)
    stated = 2 * (k - 1) * (cells - 2) - tau * (2 * (1 - x) + x * (cells - 2))
    assert sympy.expand(frequency - (k + 1) * stated) == 0
    signs = k**2 * (cells - t) * (2 - x * t) - (cells + tau) * (2 + x * tau)
    assert sympy.expand(signs - (k + 1) * (2 * (k - 1) * cells - tau * (2 + x * cells))) == 0

    def square(v):
        return 2 * (cells - 2) * v**2 + (2 - x * cells) * v - x

    gap = (square(-1 / t) - square(1 / tau)) * tau**2
    stated = (k + 1) * (2 * (k - 1) * (cells - 2) - tau * (2 - x * cells))
    assert sympy.simplify(gap - stated) == 0


@given(
    st.floats(0.02, 3.0),
    st.integers(1, 30),
    st.integers(1, 9),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1e4),
)
def test_convex_on_both_edges(epsilon, d, padding, f, square, weight) -> None:
    problem = Problem(math.exp(epsilon), d, padding, f, square)
    top, low = 1 + problem.reach, 1 - problem.shyness
    for ends, fixed in (((1, top), ("c", top)), ((low, 1.0), ("u", low))):
        places = np.linspace(*ends, 41)[1:-1]
        losses = [
            weighted_loss(problem, fixed[1], z, weight)
            if fixed[0] == "c"
            else weighted_loss(problem, z, fixed[1], weight)
            for z in places
        ]
        bends = np.diff(losses, 2)
        assert (bends >= -1e-9 * np.abs(losses[1:-1])).all()


# --- the optimum ---------------------------------------------------------------------------------


@given(
    st.floats(0.05, 3.0),
    st.integers(1, 8),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
    st.sampled_from([0.0, 0.4, 1.0]),
    st.sampled_from([0.0, 0.5, 3.0, 50.0, 1e4]),
    st.integers(0, 2**32 - 1),
)
def test_no_symbol_channel_is_better(epsilon, d, padding, f, square, weight, seed) -> None:
    problem = Problem(math.exp(epsilon), d, padding, f, square)
    best = repaired.optimal_symbol(problem, weight)
    rng = np.random.default_rng(seed)
    top = 1 + problem.reach
    u, c = rng.uniform(0, top, (2, 4000)) ** rng.choice([1, 0.5], 4000)
    high, low = (fn(fn(u, c), 1.0) + padding - 1 for fn in (np.maximum, np.minimum))
    ok = (high <= math.exp(epsilon) * low) & (np.abs(u + c - 2) > 1e-6) & (np.abs(u - c) > 1e-9)
    sigma, r = (u + c - 2)[ok], (u - c)[ok]
    losses = weight * repaired.frequency_loss(problem, sigma)
    losses = losses + repaired.mean_loss(problem, sigma, r)
    assert losses.min(initial=math.inf) >= best.loss * (1 - 1e-9)
    assert best.own or not problem.own_is_best
    spent = repaired.optimal_channel(problem, weight).exp_epsilon("set", empty=True)
    assert math.log(spent) <= epsilon + 1e-9
    assert not best.own or math.log(spent) == pytest.approx(epsilon, abs=1e-9)


def test_a_wrong_optimum_is_beaten() -> None:
    """The twin: a tilt on half the way is seen to be worse."""
    problem = Problem(math.exp(1.0), 50, 5)
    top, best = 1 + problem.reach, repaired.optimal_symbol(problem, 20.0)
    half = 1 + (best.tilt - 1) / 2
    assert weighted_loss(problem, top, half, 20.0) > best.loss * (1 + 1e-4)


@pytest.mark.parametrize(("d", "padding"), SHAPES)
@pytest.mark.parametrize("e", [F(9, 8), F(3)])
@pytest.mark.parametrize("f", [F(0), F(1, 2), F(1)])
@pytest.mark.parametrize("square", [F(0), F(1, 3), F(1)])
def test_weight_limit_is_exact(d, padding, e, f, square) -> None:
    problem = Problem(e, d, padding, f, square)
    limit = repaired.weight_limit(problem)
    assert limit > 1 - square
    top, step = allocation.amplified(e, padding), F(1, 10**7)
    for part, sign in ((F(999, 1000), 1), (F(1001, 1000), -1)):
        near = weighted_loss(problem, top, 1 + step, part * limit)
        assert (near - weighted_loss(problem, top, 1, part * limit)) * sign > 0
    assert repaired.optimal_tilt(problem, limit) == 1
    assert repaired.optimal_tilt(problem, limit * F(101, 100)) > 1
    assert repaired.optimal_tilt(problem, math.inf) == top


@pytest.mark.parametrize(("d", "padding"), SHAPES)
@pytest.mark.parametrize("e", [F(9, 8), F(3)])
def test_pckv_is_the_member_without_tilt(d, padding, e) -> None:
    grr = PCKVGRR.from_exp_budgets(*allocation.optimised(e, padding), n_keys=d, padding=padding)
    mine = repaired.optimal_channel(Problem(e, d, padding), 0)
    assert mine == LRRKV.from_pckv_grr(grr)
    assert mine.to_pckv_grr() == grr
    assert mine == LRRKV.corrected(e, n_keys=d, padding=padding, level="set")


def test_agrees_with_the_search_and_with_the_limit_of_many_cells() -> None:
    for epsilon, weight, square in itertools.product((0.4, 1.6, 3.2), (2, 10, 1e3), (0, 1 / 3)):
        problem = Problem(math.exp(epsilon), 306, 36, 0, square)
        keep = 1 + problem.reach
        found = best_tilt(keep, weight, square, n_cells=problem.cells)
        assert repaired.optimal_tilt(problem, weight) == pytest.approx(found, rel=1e-5)
    many = Problem(math.exp(1.0), 10**9, 3)
    limit = best_tilt(1 + many.reach, 8.0)
    assert repaired.optimal_tilt(many, 8.0) == pytest.approx(limit, rel=1e-6)


def test_avoiding_the_own_key() -> None:
    everybody = Problem(F(2), 2, 2, F(1), F(0))
    best = repaired.optimal_symbol(everybody, math.inf)
    assert (best.keep, best.tilt, best.own) == (0, 0, False)
    assert best.loss == F(5, 4)
    assert weighted_loss(everybody, F(3), F(3), math.inf) == 2
    assert repaired.optimal_symbol(everybody._replace(frequency=F(1, 3)), math.inf).own
    # Its counts are estimated without bias: everybody holds key 0, nobody key 1.
    channel = repaired.optimal_channel(everybody, 100.0)
    users = KeyValueData.from_sets([{0: 1.0}] * 40_000, n_keys=2)
    symbols = channel.symbols(channel.draw(users, rng=1))
    found = channel.estimate(channel.simulate_counts(symbols.table(), rng=2), correction="none")
    scale = 2 * math.sqrt(weighted_loss(everybody, 0.2, 0.0, math.inf) / 40_000)
    assert np.abs(found.frequency - [1, 0]).max() < 7 * scale


# --- lengths -------------------------------------------------------------------------------------


@pytest.mark.parametrize("longest", [2, 3, 7, 100, 306])
def test_length_classes(longest) -> None:
    tops = repaired.length_classes(longest)
    assert tops[0] == 1 and tops[-1] == longest
    assert all(a < b <= 2 * a for a, b in itertools.pairwise(tops))
    assert len(tops) == math.ceil(math.log2(longest)) + 1


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6))
def test_nearest_point_of_the_simplex(values) -> None:
    numbers = np.array(values)
    found = repaired.to_simplex(numbers)
    assert found.min() >= 0 and found.sum() == pytest.approx(1)
    size = len(numbers)
    searched = minimize(
        lambda y: ((y - numbers) ** 2).sum(),
        np.full(size, 1 / size),
        bounds=[(0, 1)] * size,
        constraints={"type": "eq", "fun": lambda y: y.sum() - 1},
    )
    assert ((found - numbers) ** 2).sum() <= searched.fun + 1e-6


@pytest.mark.parametrize("e", [F(3, 2), F(6)])
def test_length_report_is_private_and_unbiased(e) -> None:
    stage = LengthHistogram.from_exp_budgets(e, longest=5)
    assert stage.tops == (1, 2, 4, 5)
    assert worst_ratio(stage, list(extreme_users(5, empty=True))).ratio == e  # type: ignore[arg-type]
    codes = stage.symbols(np.array([0, 1, 2, 3, 4, 5, 9])).codes
    assert codes.tolist() == [0, 0, 1, 2, 2, 3, 3]
    weights = stage.channel().weights
    for code in range(4):
        law = [F(int(w), int(stage.channel().denominator)) for w in weights[code]]
        p, q = stage.keep_class, stage.fake_class
        assert [(c - q) / (p - q) for c in law] == [int(k == code) for k in range(4)]


def test_the_two_roads_have_one_law(rng) -> None:
    stage = LengthHistogram.from_exp_budgets(2.0, longest=5)
    lengths = np.array([1, 2, 4, 5, 5, 0])
    rows = [
        np.array([stage.counts(lengths, rng=rng, road=road).table[:, 0] for _ in range(4000)])
        for road in ("literal", "counted")
    ]
    assert_plausible(same_law(*rows), "roads")
    other = LengthHistogram.from_exp_budgets(4.0, longest=5)
    wrong = np.array([other.counts(lengths, rng=rng).table[:, 0] for _ in range(4000)])
    assert_rejected(same_law(rows[0], wrong), "another budget")


def test_law_of_the_lengths() -> None:
    stage = LengthHistogram.from_exp_budgets(math.exp(6.0), longest=100)
    lengths = np.repeat([3, 7, 40], [5000, 3000, 2000])
    law = stage.law(stage.counts(lengths, rng=1))
    assert law.shape == (100,) and law.sum() == pytest.approx(1)
    for low, high, mass in ((3, 4, 0.5), (5, 8, 0.3), (33, 64, 0.2)):
        part = law[low - 1 : high]
        assert part.sum() == pytest.approx(mass, abs=0.03)
        assert np.allclose(part * np.arange(low, high + 1), part[0] * low)
    # Noise alone: a tenth, by and large, is left for all classes alike.
    noise = LengthHistogram.from_exp_budgets(1.01, longest=100)
    least = [
        min(
            part.sum()
            for part in np.split(noise.law(noise.counts(lengths, rng=k)), noise.tops[:-1])
        )
        for k in range(50)
    ]
    assert 0.002 < np.median(least) < 0.05
    certain = replace(noise, doubt=0.0)
    assert (
        min(
            part.sum()
            for part in np.split(certain.law(certain.counts(lengths, rng=3)), noise.tops[:-1])
        )
        == 0
    )
    with pytest.raises(ValueError, match="counts must come from at least one user"):
        stage.law(stage.counts(lengths[:0], rng=1))


# --- the whole -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "padding"), [(2, 1), (2, 3), (3, 2), (4, 3), (5, 3)])
@pytest.mark.parametrize("weight", [0, 10, math.inf])
def test_exact_epsilon_is_the_claim(d, padding, weight) -> None:
    e = F(5, 2)
    mechanism = RepairedHISKV(d, e, weight=weight)
    users = list(extreme_users(d, empty=True))
    for part in (mechanism.message(padding), mechanism.stage(padding), mechanism.length_stage):
        assert worst_ratio(part, users).ratio == e  # type: ignore[arg-type]
    assert mechanism.composition(padding) == (e, e, e, e * e)
    plain = RepairedHISKV(d, 2.5, weight=weight)
    assert worst_ratio(plain.message(padding), users).ratio == pytest.approx(2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", defects(F(3, 2), 3, 2))
def test_a_defect_spends_more(name) -> None:
    wrong = defects(F(3, 2), 3, 2)[name]
    assert worst_ratio(wrong, list(extreme_users(3, empty=True))).ratio > F(3, 2)


def test_with_equal_weight_it_is_pckv_grr() -> None:
    mechanism = RepairedHISKV.from_epsilon(0.8, n_keys=50)
    grr = PCKVGRR.from_epsilon(0.8, n_keys=50, padding=7)
    assert np.allclose(mechanism.stage(7).numbers, LRRKV.from_pckv_grr(grr).numbers)
    assert not np.allclose(
        replace(mechanism, weight=9.0).stage(7).numbers, mechanism.stage(7).numbers
    )


def test_predicted_error_is_exact_where_it_says_so() -> None:
    """Even keys: the frequency's variance and squared bias, long lists included."""
    rng = np.random.default_rng(5)
    sets = [dict.fromkeys(range(12), 0.0), {}]
    sets += [dict.fromkeys((np.arange(4) + k) % 12, 0.0) for k in range(12)]
    sets += [{int(k): 0.0} for k in rng.permutation(12)]
    users = KeyValueData.from_sets(sets[:1] * 3 + sets[2:], n_keys=12)
    law = np.bincount(users.lengths, minlength=13)[1:] / users.n_users
    mechanism = RepairedHISKV.from_epsilon(1.0, n_keys=12, weight=math.inf)
    paddings, losses = mechanism.predicted(law, users.n_users)
    for padding, loss in zip(paddings.tolist(), losses, strict=True):
        numbers = mechanism.stage(padding).numbers
        variance = theory.frequency_variance_of(numbers, theory.moments_of_data(numbers, users))
        bias = theory.limit_estimates(users, padding).frequency - users.truth().frequency
        assert loss == pytest.approx(np.mean(variance + bias**2), rel=1e-9)
    # The mean's part, for short lists, is the first-order variance of a rare key.
    short = np.array([0.0, 0.0, 1.0])
    both = RepairedHISKV.from_epsilon(1.0, n_keys=12, weight=2.0, mean_square=0.5)
    alone = both.predicted(short, 1000)[1][2]
    padding = int(both.candidates()[2])
    assert padding == 3
    numbers = both.stage(3).numbers
    tiny = 1e-7
    mean = theory.mean_variance_printed(numbers, tiny, math.sqrt(0.5), 1000) * tiny**2
    frequency = theory.frequency_variance(numbers, 3 / 12, 1000, users="fixed")
    assert alone == pytest.approx(2 * frequency + mean, rel=1e-5)


@pytest.mark.parametrize("e", [F(11, 10), F(3), F(20)])
def test_padding_variance(e) -> None:
    for d, padding in itertools.product((2, 10, 300), (1, 2, 9, 40)):
        numbers = tilted(allocation.amplified(e, padding), F(1), d, padding)
        assert repaired.padding_variance(e, d, padding) == padding**2 * theory.h(numbers)
    worst = repaired.padding_variance(e, 300, 300) / repaired.padding_variance(e, 300, 1)
    assert worst == 1 + 299 * (e + 1) / (2 * 299 + e + 1) < 1 + (e + 1) / 2


def small() -> KeyValueData:
    sets = [{0: 1.0}, {0: -1.0, 1: 1.0}, {}, {0: 1.0, 1: 1.0, 2: -1.0}] * 5
    return KeyValueData.from_sets(sets, n_keys=3, allow_empty=True)


def test_the_roads_of_the_whole_have_one_law(rng) -> None:
    mechanism = RepairedHISKV.from_epsilon(1.0, n_keys=3, group_share=0.3)

    def rows(one: RepairedHISKV, road: str) -> np.ndarray:
        found = (one.collect(small(), rng=rng, road=road, correction="none") for _ in range(900))
        return np.array([[x.padding, round(20 * x.estimates.frequency[0])] for x in found])

    literal = rows(mechanism, "literal")
    assert_plausible(same_law(literal, rows(mechanism, "counted")), "roads")
    other = replace(mechanism, exp_epsilon=math.exp(2.0))
    assert_rejected(same_law(literal, rows(other, "counted")), "another budget")


def test_collects_what_is_there(rng) -> None:
    users = KeyValueData.from_sets(
        [{0: 1.0, 1: -1.0}, {0: 1.0}, {}] * 20_000, n_keys=4, allow_empty=True
    )
    found = RepairedHISKV.from_epsilon(3.0, n_keys=4).collect(users, rng=rng)
    assert found.n_length_users == 1200 and found.n_pair_users == 58_800
    assert found.padding >= 2
    assert found.lengths.shape == (3,) and found.lengths.sum() == pytest.approx(1200)
    assert np.allclose(found.estimates.frequency, [2 / 3, 1 / 3, 0, 0], atol=0.06)
    assert np.allclose(found.estimates.mean[:2], [1, -1], atol=0.15)
    assert np.isnan(
        RepairedHISKV.from_epsilon(3.0, n_keys=4, weight=math.inf)
        .collect(users, rng=rng)
        .estimates.mean
    ).all()


def test_first_passage_ruins_the_old_rule_and_not_the_new_one(rng) -> None:
    """At epsilon = 0.2: how often less than half of all pairs survives truncation."""
    lengths = np.clip(rng.poisson(20, 40_000), 1, 300)
    law = np.bincount(lengths, minlength=301)[1:] / len(lengths)
    sizes = np.arange(1, 301)

    def poor(padding: int) -> bool:
        return padding * (law @ (sizes / np.maximum(sizes, padding))) < 0.5 * (law @ sizes)

    ours = RepairedHISKV.from_epsilon(0.2, n_keys=300, group_share=0.1)
    oetl = LengthEstimate.from_epsilon(0.2, n_keys=300)
    runs = 60
    bad = [0, 0]
    for _ in range(runs):
        first = rng.choice(lengths, 4000, replace=False)
        bad[0] += poor(oetl.choose(oetl.counts(first, rng=rng)))
        bad[1] += poor(ours.choose(ours.length_stage.counts(first, rng=rng), 36_000))
    assert_rejected(binomial_tail(bad[0], runs, 0.1), "OETL below a tenth")
    assert bad[1] <= 20 or binomial_tail(bad[1], runs, 0.1) >= 1e-9


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Problem(1, 3, 2).checked(), ValueError, "exp_epsilon must be above 1, got 1"),
        (lambda: Problem(2.0, 0, 2).checked(), ValueError, "n_keys must be an integer of at least"),
        (lambda: Problem(2.0, 3, 2, 1.5).checked(), ValueError, r"frequency must be a number in"),
        (
            lambda: repaired.optimal_tilt(Problem(2.0, 3, 2), -1),
            ValueError,
            "weight must be a number of at least 0, got -1",
        ),
        (
            lambda: repaired.optimal_tilt(Problem(2.0, 3, 2), "much"),
            TypeError,
            "weight must be a number of at least 0, got 'much'",
        ),
        (
            lambda: repaired.length_classes(1),
            ValueError,
            "longest must be an integer of at least 2",
        ),
        (lambda: repaired.length_classes(9, 1.0), ValueError, "ratio must be above 1, got 1.0"),
        (
            lambda: repaired.length_classes(9, math.inf),
            ValueError,
            "ratio must be a finite number of at least 1, got inf",
        ),
        (
            lambda: LengthHistogram(0.5, 0.5, (2, 1)),
            ValueError,
            r"tops must ascend from at least 1 in at least two classes, got \(2, 1\)",
        ),
        (
            lambda: LengthHistogram(0.5, 0.4, (1, 2)),
            ValueError,
            r"keep_class \+ 1 \* fake_class must be 1, got 0.9",
        ),
        (
            lambda: LengthHistogram(0.25, 0.75, (1, 2)),
            ValueError,
            "keep_class must be above fake_class",
        ),
        (
            lambda: LengthHistogram.from_exp_budgets(2.0, longest=5, cut=-1.0),
            ValueError,
            "cut must be a finite number of at least 0, got -1.0",
        ),
        (
            lambda: LengthHistogram.from_exp_budgets(2.0, longest=5, doubt=2.0),
            ValueError,
            r"doubt must be a number in \[0, 1\], got 2.0",
        ),
        (
            lambda: LengthHistogram.from_exp_budgets(2.0, longest=5).symbols(np.array([-1])),
            ValueError,
            "lengths must be at least 0, got -1",
        ),
        (
            lambda: RepairedHISKV(5, 2.0, group_share=1.0),
            ValueError,
            "group_share must lie strictly between 0 and 1, got 1.0",
        ),
        (
            lambda: RepairedHISKV(5, 2.0, unevenness=0.5),
            ValueError,
            "unevenness must be a finite number of at least 1, got 0.5",
        ),
        (lambda: RepairedHISKV(1, 2.0), ValueError, "n_keys must be an integer of at least 2"),
        (lambda: RepairedHISKV(5, 1.0), ValueError, "keep_class must be above fake_class"),
        (
            lambda: RepairedHISKV(5, 2.0, longest=6),
            ValueError,
            "longest must be at most n_keys = 5, got 6",
        ),
        (
            lambda: RepairedHISKV(5, 2.0).collect(small(), rng=1),
            ValueError,
            "data must have n_keys = 5, got 3",
        ),
        (
            lambda: RepairedHISKV(3, 2.0).collect(small(), rng=1, road="short"),
            ValueError,
            "road must be one of",
        ),
        (lambda: RepairedHISKV(3, 2.0).group_size(1), ValueError, "n_users must be at least 2"),
    ],
)
def test_bad_arguments(call, error, words) -> None:
    with pytest.raises(error, match=words):
        call()
