"""Closed forms against enumeration, computer algebra and independent numbers.

The oracle is `World`: a few users, a tiny domain, and the exact law of one key's counts over every
sampling and channel outcome, from the mechanism's own `symbol_law` and `channel`. No formula of
`ldpkv.theory` enters it.
"""

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction as F

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from ldpkv import allocation, channels, theory
from ldpkv.data import KeyValueData
from ldpkv.estimation import CORRECTIONS, Counts, calibrate_pairs, estimate_pckv
from ldpkv.mechanisms import PCKVGRR, PCKVUE
from ldpkv.privacy import extreme_users, worst_ratio
from ldpkv.theory import Numbers

ROUNDING = 1e-12  # floats against the same number computed exactly


# --- the oracle ------------------------------------------------------------------------------


def key_law(mechanism, user, key, *, fair_fakes=True):
    """Exact probabilities that the user's report says +1, -1 or nothing of the key."""
    channel, symbols = mechanism.channel(), mechanism.symbol_law(user)
    weights = channel.weights
    if isinstance(mechanism, PCKVUE):
        shape = (len(weights), 3**key, 3, 3 ** (mechanism.width - key - 1))
        rows = weights.reshape(shape).sum(axis=(1, 3))
    else:
        plus, minus = weights[:, 2 * key], weights[:, 2 * key + 1]
        rows = np.stack([plus, minus, weights.sum(axis=1) - plus - minus], axis=1)
    if not fair_fakes:  # a planted defect: a fake entry is always +1
        other = np.arange(len(rows)) // 2 != key
        rows[other, 0] += rows[other, 1]
        rows[other, 1] = 0
    return [F(sum(symbols * rows[:, cell])) / channel.denominator for cell in range(3)]


def counts_law(laws):
    """Exact joint law of (n_1, n_2) over independent users."""
    total = {(0, 0): F(1)}
    for plus, minus, none in laws:
        following = Counter()
        for (first, second), chance in total.items():
            following[first + 1, second] += chance * plus
            following[first, second + 1] += chance * minus
            following[first, second] += chance * none
        total = following
    return total


@dataclass(frozen=True)
class World:
    """Users, a mechanism and one key; every moment is exact."""

    mechanism: object
    users: tuple
    key: int = 0
    fair_fakes: bool = True

    @property
    def n(self):
        return len(self.users)

    @property
    def numbers(self):
        return Numbers.of(self.mechanism)

    @property
    def frequency(self):
        return F(sum(self.key in user for user in self.users), self.n)

    @property
    def mean(self):
        values = [user[self.key] for user in self.users if self.key in user]
        return F(sum(values)) / len(values)

    def law(self):
        return counts_law(
            key_law(self.mechanism, user, self.key, fair_fakes=self.fair_fakes)
            for user in self.users
        )

    def law_iid(self, n):
        """The law for n users drawn independently from the world's users."""
        laws = [key_law(self.mechanism, user, self.key) for user in self.users]
        return counts_law([[sum(cell) / self.n for cell in zip(*laws, strict=True)]] * n)

    def data(self):
        rows = [(u, k, float(v)) for u, user in enumerate(self.users) for k, v in user.items()]
        users, keys, values = zip(*rows, strict=True)
        d = self.mechanism.n_keys
        return KeyValueData.from_pairs(
            users, keys, values, n_users=self.n, n_keys=d, allow_empty=True
        )


def expect(law, function):
    return sum(chance * function(*counts) for counts, chance in law.items())


def variance(law, function):
    centre = expect(law, function)
    return expect(law, lambda *counts: (function(*counts) - centre) ** 2)


def estimators(mechanism, n):
    """Unclipped estimates as exact functions of (n_1, n_2), by the library's own calibration."""
    a, b, p, padding = Numbers.of(mechanism)

    def calibrated(first, second):
        counts = Counts(np.array([[first, second]], dtype=object), np.array([n], dtype=object))
        (plus,), (minus,) = calibrate_pairs(counts, a, b, p)
        return plus, minus

    def frequency(first, second):
        return padding * sum(calibrated(first, second)) / n

    def total(first, second):
        plus, minus = calibrated(first, second)
        return padding * (plus - minus) / n

    return calibrated, frequency, total


def make(kind, d, padding, exp_key=F(3), exp_value=F(5, 2)):
    cls = {"ue": PCKVUE, "grr": PCKVGRR}[kind]
    return cls.from_exp_budgets(exp_key, exp_value, n_keys=d, padding=padding)


SHORT = ({0: F(1, 2), 1: F(-1)}, {0: F(-1, 4)}, {1: F(1)})
LONG = ({0: F(1, 2), 1: F(-1), 2: F(1)}, {0: F(-1, 4)}, {})
KINDS = pytest.mark.parametrize("kind", ["ue", "grr"])
SHORT_WORLDS = [
    World(make(kind, 2, padding), users, key)
    for kind in ("ue", "grr")
    for padding, users in ((1, ({0: F(1, 2)}, {1: F(1)}, {0: F(-1)})), (2, SHORT), (3, SHORT))
    for key in (0, 1)
]
LONG_WORLDS = [
    World(make(kind, 3, padding), LONG, key)
    for kind in ("ue", "grr")
    for padding in (1, 2)
    for key in (0, 1)
]


# --- frequency oracles -----------------------------------------------------------------------


@pytest.mark.parametrize("exp_epsilon", [F(4), F(9, 4), F(25)])
@pytest.mark.parametrize("frequency", [F(0), F(1, 3), F(1)])
def test_oracle_variance_is_that_of_the_enumerated_estimator(exp_epsilon, frequency):
    root = allocation.square_root(exp_epsilon)
    n, size = 3, 4
    pairs = {
        "grr": channels.grr_probabilities(exp_epsilon, size),
        "rappor": (root / (root + 1), 1 / (root + 1)),
        "oue": (F(1, 2), 1 / (exp_epsilon + 1)),
    }
    simplified = {
        "grr": theory.grr_oracle_variance(exp_epsilon, size, frequency, n),
        "rappor": theory.rappor_oracle_variance(root, n),
        "oue": theory.oue_oracle_variance(exp_epsilon, frequency, n),
    }
    for name, (p, q) in pairs.items():
        holders = int(frequency * n)
        law = counts_law([(p, 0, 1 - p)] * holders + [(q, 0, 1 - q)] * (n - holders))

        def estimate(count, _, p=p, q=q):
            return (F(count, n) - q) / (p - q)

        assert expect(law, estimate) == frequency
        exact = variance(law, estimate)
        assert exact == theory.oracle_variance(p, q, frequency, n) == simplified[name], name


# --- (7), (8), Lemma 1: expectations ---------------------------------------------------------


@pytest.mark.parametrize("world", SHORT_WORLDS)
def test_estimates_are_unbiased_with_short_lists(world):
    _, frequency, total = estimators(world.mechanism, world.n)
    law = world.law()
    assert expect(law, frequency) == world.frequency
    assert expect(law, total) == world.frequency * world.mean
    limit = theory.limit_estimates(world.data(), world.mechanism.padding)
    assert limit.frequency[world.key] == pytest.approx(float(world.frequency), rel=ROUNDING)
    assert limit.mean[world.key] == pytest.approx(float(world.mean), rel=ROUNDING)


@pytest.mark.parametrize("world", LONG_WORLDS)
def test_long_lists_are_weighted(world):
    _, frequency, total = estimators(world.mechanism, world.n)
    law, key = world.law(), world.key
    limit = theory.limit_estimates(world.data(), world.mechanism.padding)
    assert limit.frequency[key] == pytest.approx(float(expect(law, frequency)), rel=ROUNDING)
    assert limit.total[key] == pytest.approx(float(expect(law, total)), rel=ROUNDING)
    assert limit.mean[key] == pytest.approx(limit.total[key] / limit.frequency[key], rel=ROUNDING)
    # The must-fail side: the truth is not what is estimated.
    assert expect(law, frequency) < world.frequency


@pytest.mark.parametrize("world", SHORT_WORLDS + LONG_WORLDS)
def test_lemma_1_recovers_the_sampled_counts(world):
    calibrated, _, _ = estimators(world.mechanism, world.n)
    symbols = sum(world.mechanism.symbol_law(user) for user in world.users)
    for sign in (0, 1):
        expected = expect(world.law(), lambda *counts, sign=sign: calibrated(*counts)[sign])
        assert expected == symbols[2 * world.key + sign]


def test_a_key_that_nobody_holds_has_no_mean():
    data = KeyValueData.from_pairs([0, 1], [0, 0], [0.5, -1.0], n_keys=2)
    limit = theory.limit_estimates(data, 3)
    assert limit.frequency.tolist() == [1, 0]
    assert math.isnan(limit.mean[1])


def test_users_without_any_pair_at_all():
    data = KeyValueData.from_pairs([], [], [], n_users=2, n_keys=2, allow_empty=True)
    numbers = Numbers(0.5, 0.25, 0.75, 2)
    assert theory.limit_estimates(data, 2).frequency.tolist() == [0, 0]
    assert theory.moments_of_data(numbers, data).support.tolist() == [0.25, 0.25]


def test_a_repeated_key_enters_as_one_chance():
    # Two pairs with key 0 out of three: sampled with probability 2/3, not twice with 1/3.
    data = KeyValueData.from_pairs(
        [0, 0, 0], [0, 0, 1], [1.0, 0.0, 1.0], n_keys=2, duplicates="keep"
    )
    a, b, p = 0.5, 0.25, 0.75
    moments = theory.moments_of_data(Numbers(a, b, p, 2), data)
    support = b + (a - b) * 2 / 3
    assert moments.support[0] == pytest.approx(support, rel=ROUNDING)
    assert moments.support_variance[0] == pytest.approx(support * (1 - support), rel=ROUNDING)


# --- Theorem 4 -------------------------------------------------------------------------------


@pytest.mark.parametrize("world", SHORT_WORLDS)
def test_corrected_frequency_variance_is_exact(world):
    _, frequency, _ = estimators(world.mechanism, world.n)
    fixed = theory.frequency_variance(world.numbers, world.frequency, world.n)
    assert variance(world.law(), frequency) == fixed
    iid = theory.frequency_variance(world.numbers, world.frequency, world.n, users="iid")
    assert variance(world.law_iid(world.n), frequency) == iid


@KINDS
def test_printed_frequency_variance_is_the_one_given_the_samples(kind):
    mechanism = make(kind, 2, 3)
    a, b, _, padding = Numbers.of(mechanism)
    # Of six users, each holding the key, exactly 6 / 3 sampled it.
    law = counts_law([(a, 0, 1 - a)] * 2 + [(b, 0, 1 - b)] * 4)
    _, frequency, _ = estimators(mechanism, 6)
    printed = theory.frequency_variance_printed(Numbers.of(mechanism), F(1), 6)
    assert variance(law, frequency) == printed
    assert padding == 3


@pytest.mark.parametrize("world", SHORT_WORLDS + LONG_WORLDS)
def test_moments_of_data_are_those_of_the_enumerated_counts(world):
    law, n, key = world.law(), world.n, world.key
    moments = theory.moments_of_data(world.numbers, world.data())

    def support(first, second):
        return F(first + second, n)

    def difference(first, second):
        return F(first - second, n)

    def product(*counts):
        return support(*counts) * difference(*counts)

    exact = (
        expect(law, support),
        expect(law, difference),
        variance(law, support),
        variance(law, difference),
        expect(law, product) - expect(law, support) * expect(law, difference),
    )
    for field, value in zip(moments, exact, strict=True):
        assert field[key] == pytest.approx(float(value), rel=ROUNDING, abs=1e-15)
    _, frequency, _ = estimators(world.mechanism, n)
    assert theory.frequency_variance_of(world.numbers, moments)[key] == pytest.approx(
        float(variance(law, frequency)), rel=ROUNDING
    )


@pytest.mark.parametrize("world", SHORT_WORLDS)
def test_moments_iid_are_those_of_the_enumerated_counts(world):
    n = 2
    law = world.law_iid(n)
    m = theory.moments_iid(world.numbers, world.frequency, world.mean, n)

    def support(first, second):
        return F(first + second, n)

    def difference(first, second):
        return F(first - second, n)

    assert m.support == expect(law, support)
    assert m.difference == expect(law, difference)
    assert m.support_variance == variance(law, support)
    assert m.difference_variance == variance(law, difference)
    mixed = variance(law, lambda *c: support(*c) + difference(*c))
    assert 2 * m.covariance == mixed - m.support_variance - m.difference_variance


def delta_method(a, b, p, groups, n):
    """Bias and variance of c X / Y to order 1 / n, by gradient and Hessian in (n_1, n_2) / n.

    `groups` holds (share of users, probability of +1, probability of -1).
    """
    x, y = sympy.symbols("x y")
    ratio = (a - b) / (a * (2 * p - 1)) * (x - y) / (x + y - b)
    plus = sum(w * q1 for w, q1, q2 in groups)
    minus = sum(w * q2 for w, q1, q2 in groups)
    var_plus = sum(w * q1 * (1 - q1) for w, q1, q2 in groups)
    var_minus = sum(w * q2 * (1 - q2) for w, q1, q2 in groups)
    both = -sum(w * q1 * q2 for w, q1, q2 in groups)
    cov = sympy.Matrix([[var_plus, both], [both, var_minus]]) / n
    at = {x: plus, y: minus}
    gradient = sympy.Matrix([ratio.diff(x), ratio.diff(y)]).subs(at)
    hessian = sympy.hessian(ratio, (x, y)).subs(at)
    return (hessian * cov).trace() / 2, (gradient.T * cov * gradient)[0]


def test_bias_10_and_variance_11_by_computer_algebra():
    a, b, p, l, f, m, n, w = sympy.symbols("a b p l f m n w", positive=True)  # noqa: E741
    numbers = Numbers(a, b, p, l)

    def group(share, value):  # users who hold the key with this value
        support, sign = b + (a - b) / l, a * (2 * p - 1) * value / l
        return share, (support + sign) / 2, (support - sign) / 2

    # iid users are all alike.
    support = b + (a - b) * f / l
    sign = a * (2 * p - 1) * f * m / l
    bias, var = delta_method(a, b, p, [(1, (support + sign) / 2, (support - sign) / 2)], n)
    assert sympy.simplify(bias - theory.mean_bias(numbers, f, m, n)) == 0
    assert sympy.simplify(var - theory.mean_variance_printed(numbers, f, m, n)) == 0
    assert theory.mean_variance(numbers, f, m, n) == theory.mean_variance_printed(numbers, f, m, n)

    # Fixed users: half of the holders have the value m + w, half m - w, so the spread is w^2.
    groups = [group(f / 2, m + w), group(f / 2, m - w), (1 - f, b / 2, b / 2)]
    bias, var = delta_method(a, b, p, groups, n)
    assert sympy.simplify(bias - theory.mean_bias(numbers, f, m, n)) == 0
    assert sympy.simplify(var - theory.mean_variance(numbers, f, m, n, w**2)) == 0


@pytest.mark.parametrize("world", SHORT_WORLDS)
def test_first_order_of_data_is_theorem_4_with_short_lists(world):
    moments = theory.moments_of_data(world.numbers, world.data())
    floats = Numbers(*(float(x) for x in world.numbers[:3]), world.mechanism.padding)
    f, m = float(world.frequency), float(world.mean)
    values = [float(user[world.key]) for user in world.users if world.key in user]
    limit, bias, var = theory.mean_first_order(floats, moments)
    assert limit[world.key] == pytest.approx(m, rel=ROUNDING, abs=1e-14)
    assert bias[world.key] == pytest.approx(
        theory.mean_bias(floats, f, m, world.n), rel=1e-11, abs=1e-13
    )
    exact = theory.mean_variance(floats, f, m, world.n, np.var(values))
    assert var[world.key] == pytest.approx(exact, rel=1e-11)


fractions = st.fractions(min_value=F(1, 50), max_value=F(49, 50), max_denominator=50)


@settings(deadline=None)
@given(a=fractions, b=fractions, p=fractions, f=fractions, m=fractions, l=st.integers(1, 9))
def test_first_order_of_iid_users_is_theorem_4(a, b, p, f, m, l):  # noqa: E741
    if a == b or p == F(1, 2):
        return
    numbers = Numbers(a, b, p, l)
    limit, bias, var = theory.mean_first_order(numbers, theory.moments_iid(numbers, f, m, 7))
    assert limit == m
    assert bias == theory.mean_bias(numbers, f, m, 7)
    assert var == theory.mean_variance_printed(numbers, f, m, 7)


@KINDS
def test_first_order_forms_are_reached_at_rate_one_over_n(kind):
    numbers = Numbers(*(float(x) for x in Numbers.of(make(kind, 3, 2, F(30), F(60)))[:3]), 2)
    f, m = 0.5, 0.6
    gaps = []
    for n in (2000, 8000):
        assert theory.signal(numbers, f, n) > 8
        exact = theory.exact_errors(numbers, f, m, n, correction="none")
        var = exact.mean_mse - exact.mean_bias**2
        gaps.append(
            (
                abs(exact.mean_bias / theory.mean_bias(numbers, f, m, n) - 1),
                abs(var / theory.mean_variance_printed(numbers, f, m, n) - 1),
            )
        )
    # Four times the users: a quarter of the relative gap, were it purely of order 1 / n.
    for before, after in zip(*gaps, strict=True):
        assert before < 0.02
        assert after < 0.3 * before


# --- planted defects -------------------------------------------------------------------------


def frequency_agrees(world, numbers, formula=theory.frequency_variance):
    _, frequency, _ = estimators(world.mechanism, world.n)
    return variance(world.law(), frequency) == formula(numbers, world.frequency, world.n)


def support_agrees(world, numbers):
    support = theory.moments_iid(numbers, world.frequency, world.mean, world.n).support
    return expect(world.law(), lambda x, y: F(x + y, world.n)) == support


def difference_agrees(world, numbers):
    difference = theory.moments_iid(numbers, world.frequency, world.mean, world.n).difference
    return expect(world.law(), lambda x, y: F(x - y, world.n)) == difference


PADDED = [World(make(kind, 2, 2), SHORT) for kind in ("ue", "grr")]


@pytest.mark.parametrize("world", PADDED)
def test_checks_pass_without_a_defect(world):
    assert frequency_agrees(world, world.numbers)
    assert support_agrees(world, world.numbers)
    assert difference_agrees(world, world.numbers)


@pytest.mark.parametrize("world", PADDED)
def test_defect_l_minus_1_term_dropped_is_caught(world):
    assert not frequency_agrees(world, world.numbers, theory.frequency_variance_printed)


@pytest.mark.parametrize("world", PADDED)
def test_defect_iid_variance_for_fixed_data_is_caught(world):
    def wrong(numbers, frequency, n):
        return theory.frequency_variance(numbers, frequency, n, users="iid")

    assert not frequency_agrees(world, world.numbers, wrong)


@pytest.mark.parametrize("world", PADDED)
def test_defect_p_and_1_minus_p_swapped_is_caught(world):
    swapped = world.numbers._replace(keep_sign=1 - world.numbers.keep_sign)
    assert not difference_agrees(world, swapped)
    assert frequency_agrees(world, swapped)  # the frequency does not see the sign


def test_defect_grr_over_d_instead_of_d_prime_is_caught():
    world = World(make("grr", 2, 2), SHORT)
    keep, fake = channels.grr_probabilities(F(3), 2)
    wrong = world.numbers._replace(keep_key=keep, fake_key=fake)
    assert not support_agrees(world, wrong)
    assert not difference_agrees(world, wrong)
    assert not frequency_agrees(world, wrong)
    assert Numbers.grr(F(3), F(5, 2), 2, 2) == world.numbers != wrong


@pytest.mark.parametrize("world", PADDED)
def test_defect_unfair_fake_values_are_caught(world):
    unfair = World(world.mechanism, world.users, fair_fakes=False)
    assert not difference_agrees(unfair, unfair.numbers)
    assert support_agrees(unfair, unfair.numbers)


@pytest.mark.parametrize("world", PADDED)
def test_defect_fake_entries_missing_is_caught(world):
    missing = world.numbers._replace(fake_key=F(0))
    assert not support_agrees(world, missing)
    assert not frequency_agrees(world, missing)


# --- (16) to (18), the optimum ---------------------------------------------------------------


def test_18_is_the_limit_of_theorem_4_for_rare_keys():
    a, b, p, l, f, m, n = sympy.symbols("a b p l f m n", positive=True)  # noqa: E741
    numbers = Numbers(a, b, p, l)

    def leading(expression):
        return sympy.simplify(sympy.limit(expression, f, 0))

    assert leading(theory.frequency_quality(numbers, f)) == 1
    assert leading(theory.mean_quality(numbers, f, m)) == 1
    # The longer form keeps the squared bias.
    true = theory.mse(
        theory.mean_variance_printed(numbers, f, m, n), theory.mean_bias(numbers, f, m, n)
    )
    longer = theory.mean_mse_approx(numbers, f, m, n, longer=True)
    assert leading((true - longer) * f**4) == 0
    shorter = theory.mean_mse_approx(numbers, f, m, n)
    mu, h = theory.mu(l, f, n), theory.h(numbers)
    assert sympy.simplify(longer - shorter - mu**2 * h**2 * m**2) == 0


def test_quality_counts_the_sampling_variance_only_when_asked():
    numbers = Numbers.of(make("grr", 3, 4))
    f = F(1, 5)
    printed = theory.frequency_quality(numbers, f)
    for law, extra in (("fixed", f * 3), ("iid", f * (4 - f))):
        added = theory.frequency_quality(numbers, f, law=law) - printed
        assert added == extra / (16 * theory.h(numbers))
    with pytest.raises(ValueError, match="law must be one of"):
        theory.frequency_quality(numbers, f, law="sampled")
    with pytest.raises(ValueError, match="users must be one of"):
        theory.frequency_variance(numbers, f, 1, users="printed")


def test_closed_forms_at_the_optimum_by_computer_algebra():
    E, d, l = sympy.symbols("E d l", positive=True)  # noqa: E741
    ue = Numbers.ue((E + 1) / 2, E)
    for form, function in zip(theory.ue_optimum(E), (theory.g, theory.h), strict=True):
        assert sympy.simplify(form - function(ue)) == 0
    top = allocation.amplified(E, l)
    grr = Numbers.grr((top + 1) / 2, top, d, l)
    for form, function in zip(theory.grr_optimum(E, d, l), (theory.g, theory.h), strict=True):
        assert sympy.simplify(form - function(grr)) == 0
    # Plain GRR over the 2 d' states: the flipped sign is as likely as any other state.
    assert sympy.simplify(grr.keep_key * (1 - grr.keep_sign) - grr.fake_key / 2) == 0


@KINDS
def test_numbers_are_those_of_the_mechanism(kind):
    if kind == "ue":
        numbers = Numbers.ue(F(3), F(5, 2), 2)
    else:
        numbers = Numbers.grr(F(3), F(5, 2), 3, 2)
    assert numbers == Numbers.of(make(kind, 3, 2))


@given(
    exp_epsilon=st.fractions(min_value=F(21, 20), max_value=F(60), max_denominator=20),
    padding=st.integers(1, 6),
    square=st.fractions(min_value=0, max_value=1, max_denominator=8),
    n_keys=st.integers(1, 3000),
)
@settings(deadline=None)
def test_crossover_says_who_wins(exp_epsilon, padding, square, n_keys):
    ue = Numbers.ue(*allocation.optimised(exp_epsilon), padding)
    grr = Numbers.grr(*allocation.optimised(exp_epsilon, padding), n_keys, padding)
    wins = theory.objective(grr, square) < theory.objective(ue, square)
    assert wins == (n_keys < theory.crossover(exp_epsilon, padding, square))
    wins = theory.frequency_mse_approx(grr, 1) < theory.frequency_mse_approx(ue, 1)
    assert wins == (n_keys < theory.crossover_frequency(exp_epsilon, padding))


@pytest.mark.parametrize(("d", "padding"), [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 2)])
@pytest.mark.parametrize("exp_epsilon", [F(11, 10), F(3)])
def test_ue_gains_from_padding_only_when_keys_are_few(d, padding, exp_epsilon):
    budgets = allocation.optimised(exp_epsilon)
    mechanism = PCKVUE.from_exp_budgets(*budgets, n_keys=d, padding=padding)
    measured = worst_ratio(mechanism, extreme_users(d, empty=False)).ratio
    assert measured == theory.ue_exact_exp_epsilon(exp_epsilon, d, padding)
    assert (measured < exp_epsilon) == (d < padding)


# --- Lemma 2 ---------------------------------------------------------------------------------


def test_lemma_2_condition_by_computer_algebra():
    E, theta, square = sympy.symbols("E theta s", positive=True)
    numbers = Numbers(sympy.Rational(1, 2), 1 / (theta + 1), E / (2 * theta), 1)
    objective = theory.objective(numbers, square)
    slope = sympy.diff(objective, theta)
    # The polynomial that lemma2_best_key solves.
    rising = theta * (theta**2 + E * theta + 2 * E) * (theta - 1) ** 3
    falling = square * (theta + 1) ** 3 * (E - theta) ** 3
    scale = 4 / ((theta + 1) ** 2 * (E - theta) ** 3 * (theta - 1) ** 3)
    assert sympy.simplify(slope - scale * (rising - falling)) == 0
    (limit,) = sympy.solve(slope.subs(theta, (E + 1) / 2), square)
    assert sympy.simplify(limit - theory.lemma2_mean_square(E)) == 0
    # It rises from 1/2, and passes 1 at the cubic's root.
    assert theory.lemma2_mean_square(sympy.Integer(1)) == sympy.Rational(1, 2)
    growth = sympy.numer(sympy.together(sympy.diff(limit, E).subs(E, 1 + square)))
    assert all(c > 0 for c in sympy.Poly(growth, square).coeffs())
    one = sympy.numer(sympy.together(theory.lemma2_mean_square(2 * theta - 1) - 1))
    assert sympy.expand(one - (2 * theta**3 - 5 * theta - 1)) == 0


def test_lemma_2_threshold():
    theta, epsilon = theory.lemma2_threshold()
    assert 2 * theta**3 - 5 * theta - 1 == pytest.approx(0, abs=1e-14)
    assert (round(theta, 5), round(epsilon, 4)) == (1.67298, 0.8527)
    # The equation as `papers/pckv.md` has it, with the same root.
    left = 2 / (theta + 1) - theta / (theta + 1) ** 2 + 1 / theta
    assert left == pytest.approx(2 / (theta**2 - 1), rel=ROUNDING)
    assert theory.lemma2_holds(math.exp(epsilon) * (1 + 1e-12), 1)
    assert not theory.lemma2_holds(math.exp(epsilon) * (1 - 1e-12), 1)
    assert theory.lemma2_holds(F(1001, 1000), F(1, 2))
    assert not theory.lemma2_holds(F(1001, 1000), F(51, 100))


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.8, 0.9, 3.0])
@pytest.mark.parametrize("square", [0.0, 0.5, 0.75, 1.0])
def test_best_key_budget_against_a_numerical_minimiser(epsilon, square):
    E = math.exp(epsilon)
    best = float(theory.lemma2_best_key(E, square))

    def objective(theta):
        return theory.objective(theory.along_ue(theta, E), square)

    ends = ((E + 1) / 2, E - 1e-3 * (E - 1))
    found = minimize_scalar(objective, bounds=ends, method="bounded", options={"xatol": 1e-12})
    assert objective(best) <= found.fun * (1 + 1e-12)
    assert best == pytest.approx(found.x, abs=1e-5 * (E - 1))
    assert theory.lemma2_holds(E, square) == (best == (E + 1) / 2)
    # The bounded search never visits the ends of its interval.
    loss = objective((E + 1) / 2) / min(found.fun, objective((E + 1) / 2)) - 1
    assert float(theory.lemma2_loss(E, square)) == pytest.approx(loss, abs=1e-9)


def test_lemma_2_loss_is_largest_for_small_budgets():
    epsilon = np.geomspace(1e-3, 2, 60)
    squares = np.linspace(0, 1, 41)
    loss = theory.lemma2_loss(np.exp(epsilon)[:, None], squares)
    worst = 12 / (1 + 2 ** (1 / 3)) ** 3 - 1
    assert loss.shape == (60, 41)
    assert 0 <= loss.min() and loss.max() < worst
    assert np.unravel_index(loss.argmax(), loss.shape) == (0, 40)
    assert float(theory.lemma2_loss(math.exp(1e-4), 1)) == pytest.approx(worst, rel=1e-3)
    assert round(worst, 4) == 0.0397


def test_lemma_2_loss_limit_by_computer_algebra():
    # At scale epsilon -> 0, theta = 1 + y (E - 1): g -> 2 / (1 - y)^2 and h -> 4 / y^2.
    y, r, small = sympy.symbols("y r s", positive=True)
    E, theta = 1 + small, 1 + y * small
    numbers = Numbers(sympy.Rational(1, 2), 1 / (theta + 1), E / (2 * theta), 1)
    objective = sympy.limit(theory.objective(numbers, r**3 / 2) * small**2, small, 0)
    best = objective.subs(y, r / (1 + r))
    assert sympy.simplify(objective.diff(y).subs(y, r / (1 + r))) == 0
    used = objective.subs(y, sympy.Rational(1, 2))
    assert sympy.simplify(used / best - 4 * (1 + r**3) / (1 + r) ** 3) == 0


def test_oue_keys_minimise_h_but_not_g():
    a, theta = sympy.symbols("a theta", positive=True)
    value = sympy.Symbol("v", positive=True)
    numbers = theory.unary_numbers(a, theta, value)
    h = sympy.simplify(theory.h(numbers))
    assert sympy.simplify(h - theta / ((theta - 1) ** 2 * a * (1 - a))) == 0
    assert sympy.simplify(h.diff(a).subs(a, sympy.Rational(1, 2))) == 0
    inner = a * (theta - (theta - 1) * a)
    sign = ((value + 1) / (value - 1)) ** 2
    assert sympy.simplify(theory.g(numbers) - sign / inner) == 0
    assert sympy.simplify(inner.diff(a).subs(a, sympy.Rational(1, 2))) == 1  # so g still falls
    odds = numbers.keep_key * (1 - numbers.fake_key) / numbers.fake_key / (1 - numbers.keep_key)
    assert sympy.simplify(odds - theta) == 0


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("square", [0.0, 0.25, 1.0])
def test_best_keep_key_against_a_numerical_minimiser(epsilon, square):
    key, value = allocation.optimised(math.exp(epsilon))
    best = float(theory.best_keep_key(key, value, square))

    def objective(a):
        return theory.objective(theory.unary_numbers(a, key, value), square)

    ends = (0.5, key / (1 + key))
    found = minimize_scalar(objective, bounds=ends, method="bounded", options={"xatol": 1e-12})
    assert objective(best) <= found.fun * (1 + 1e-12)
    assert best == pytest.approx(found.x, abs=1e-5)


# --- Lemma 3 ---------------------------------------------------------------------------------


def key_budgets(exp_epsilon, padding):
    """Fractions theta on both branches of (6), the optimum among them."""
    top = allocation.amplified(exp_epsilon, padding)
    low = max(F(1), (padding - 1) * (exp_epsilon - 1) / 2)
    middle = (top + 1) / 2
    return [low + (middle - low) * F(i, 8) for i in range(1, 9)] + [
        middle + (top - middle) * F(i, 8) for i in range(1, 8)
    ]


@pytest.mark.parametrize("exp_epsilon", [F(11, 10), F(3), F(20)])
@pytest.mark.parametrize("padding", [1, 2, 5])
def test_the_value_gets_exactly_what_the_key_leaves(exp_epsilon, padding):
    for theta in key_budgets(exp_epsilon, padding):
        sign = theory.largest_keep_sign(theta, exp_epsilon, padding)
        assert allocation.compose_grr(theta, sign / (1 - sign), padding) == exp_epsilon
    theta = (exp_epsilon + 1) / 2 * F(11, 10)
    if theta < exp_epsilon:
        value = allocation.from_key_budget(theta, exp_epsilon).exp_value
        assert theory.along_ue(theta, exp_epsilon) == Numbers.ue(theta, value)


@pytest.mark.parametrize("theta", [F(7, 5), F(5, 2), F(3), F(4)])
def test_the_budget_is_used_up_by_enumeration(theta):
    a, b, p, padding = theory.along_grr(theta, F(3), 2, 2)
    mechanism = PCKVGRR(2, padding, a, b, p)
    assert worst_ratio(mechanism, extreme_users(2, empty=True)).ratio == 3


@given(
    exp_epsilon=st.fractions(min_value=F(21, 20), max_value=F(60), max_denominator=20),
    padding=st.integers(1, 20),
    d=st.integers(1, 200),
    square=st.fractions(min_value=0, max_value=1, max_denominator=8),
)
@settings(max_examples=60, deadline=None)
def test_lemma_3_is_optimal_on_both_branches(exp_epsilon, padding, d, square):
    thetas = key_budgets(exp_epsilon, padding)
    values = [
        theory.objective(theory.along_grr(theta, exp_epsilon, d, padding), square)
        for theta in thetas
    ]
    assert min(values) == values[7] and values.count(values[7]) == 1
    assert theory.lemma3_slope(exp_epsilon, d, padding, square) > 0
    assert max(theory.lemma3_left_slopes(thetas[3], exp_epsilon, d, padding)) < 0
    best = theory.along_grr(thetas[7], exp_epsilon, d, padding)
    assert best == Numbers.grr(*allocation.optimised(exp_epsilon, padding), d, padding)


def test_lemma_3_slopes_by_computer_algebra():
    E, d, l, theta, square = sympy.symbols("E d l theta s", positive=True)  # noqa: E741
    keep, fake = channels.grr_probabilities(theta, d + l)
    top = allocation.amplified(E, l)
    right = theory.objective(Numbers(keep, fake, top / (2 * theta), l), square)
    slope = right.diff(theta).subs(theta, (top + 1) / 2)
    assert sympy.simplify(slope - theory.lemma3_slope(E, d, l, square)) == 0
    within = (E - 1) * (theta + l - 1) / ((E + 1) * theta)
    left = Numbers(keep, fake, (1 + within) / 2, l)
    slopes = theory.lemma3_left_slopes(theta, E, d, l)
    for function, form in zip((theory.g, theory.h), slopes, strict=True):
        assert sympy.simplify(function(left).diff(theta) - form) == 0
    # Convex on the right branch: both second derivatives are positive for 1 < theta < E'.
    g = (theta + d + l - 1) / (top - theta) ** 2
    h = (theta + d + l - 2) / (theta - 1) ** 2
    assert sympy.simplify(theory.g(Numbers(keep, fake, top / (2 * theta), l)) - g) == 0
    assert sympy.simplify(theory.h(left) - h) == 0
    curve_g = (top - theta) ** 4 * g.diff(theta, 2)
    assert sympy.expand(sympy.simplify(curve_g - (6 * (d + l - 1) + 2 * theta + 4 * top))) == 0
    curve_h = (theta - 1) ** 4 * h.diff(theta, 2)
    assert sympy.expand(sympy.simplify(curve_h - (2 * (theta - 1) + 6 * (d + l - 1)))) == 0


# --- numbers computed elsewhere --------------------------------------------------------------


def optimal(kind, epsilon, padding, d=1):
    E = math.exp(epsilon)
    if kind == "ue":
        return Numbers.ue(*allocation.optimised(E), padding)
    return Numbers.grr(*allocation.optimised(E, padding), d, padding)


@pytest.mark.parametrize(
    ("numbers", "frequency", "ratio"),
    [
        (optimal("grr", 2, 3, 10), 0.1, 1.081),
        (optimal("ue", 6, 100), 0.5, 1.198),
        (optimal("grr", 3, 10, 50), 0.5, 1.950),
        (optimal("grr", 3, 100, 100), 0.5, 3.149),
        (optimal("grr", 6, 10, 50), 0.5, 24.04),
    ],
)
def test_how_far_9_is_off(numbers, frequency, ratio):
    """Monte Carlo ratios of `papers/pckv.md` section 3.6."""
    corrected = theory.frequency_variance(numbers, frequency, 10**5)
    printed = theory.frequency_variance_printed(numbers, frequency, 10**5)
    assert float(f"{corrected / printed:.4g}") == ratio


FIGURE_4 = {
    0.1: ((3121, 3081, 781), (1600, 705, 1523)),
    1: ((25.18, 20.95, 6.55), (15.67, 6.24, 10.07)),
    2: ((5.04, 3.09, 1.33), (3.68, 1.23, 1.64)),
    4: ((0.822, 0.216, 0.149), (0.724, 0.138, 0.155)),
    6: ((0.2315, 0.02295, 0.01988), (0.2206, 0.01907, 0.01998)),
}


@pytest.mark.parametrize("epsilon", FIGURE_4)
def test_figure_4(epsilon):
    """Values of `papers/pckv.md` section 3.4, to the digits given there."""
    for function, row in zip((theory.g, theory.h), FIGURE_4[epsilon], strict=True):
        for name, value in zip(("naive", "non-optimised", "optimised"), row, strict=True):
            numbers = Numbers.ue(*allocation.allocate(name, epsilon))
            half_digit = 0.5 * 10.0 ** -len(str(value).partition(".")[2])
            assert function(numbers) == pytest.approx(value, abs=1.01 * half_digit)


@pytest.mark.parametrize(
    ("epsilon", "padding", "high", "low"),
    [
        (1, 1, 6.577, 2.976),
        (4, 1, 84.40, 79.54),
        (5, 1, 225.1, 220.2),
        (6, 1, 607.6, 602.7),
        (6, 2, 2832, 2815),
        (0.1, 100, 41999, None),
    ],
)
def test_crossover_numbers(epsilon, padding, high, low):
    E = math.exp(epsilon)
    assert theory.crossover_frequency(E, padding) == pytest.approx(high, rel=1.5e-4)
    if low is not None:
        assert theory.crossover(E, padding, 0) == pytest.approx(low, rel=1.5e-4)
    assert theory.crossover(E, padding, 1) == pytest.approx(
        (theory.crossover(E, padding, 0) + theory.crossover_frequency(E, padding)) / 2
    )


@pytest.mark.parametrize(
    ("epsilon", "square", "keep", "gain"),
    [(1, 0, 0.6502, 0.155), (1, 0.25, 0.6502, 0.084), (1, 1, 0.5774, 0.021), (2, 0, 0.6565, 0.057)],
)
def test_gain_of_a_better_keep_key(epsilon, square, keep, gain):
    budgets = allocation.optimised(math.exp(epsilon))
    best = theory.best_keep_key(*budgets, square)
    assert float(best) == pytest.approx(keep, abs=6e-5)
    better, used = (
        theory.objective(theory.unary_numbers(a, *budgets), square) for a in (best, 0.5)
    )
    assert 1 - better / used == pytest.approx(gain, abs=6e-4)


def test_quality_of_18_in_numbers():
    ue, grr = optimal("ue", 6, 1), optimal("grr", 6, 1, 100)
    means = np.array([0.6, 0, 1])
    assert theory.frequency_quality(ue, 0.01) == pytest.approx(1.5005, abs=5e-5)
    assert theory.mean_quality(ue, 0.01, means) == pytest.approx([1.4702, 2.0061, 0.9950], abs=5e-5)
    assert theory.frequency_quality(ue, 0.1) == pytest.approx(6.0055, abs=5e-5)
    assert theory.frequency_quality(grr, 0.1) == pytest.approx(7.6133, abs=5e-5)
    assert theory.mean_quality(grr, 0.1, 0.6) == pytest.approx(10.4772, abs=5e-5)


def test_everything_broadcasts():
    E = np.exp(np.array([0.5, 1, 2]))[:, None, None]
    f = np.array([0.01, 0.1])[:, None]
    m = np.array([-0.5, 0, 0.5, 1])
    for numbers in (
        Numbers.ue(*allocation.optimised(E), 3),
        Numbers.grr(*allocation.optimised(E, 3), 40, 3),
    ):
        for function in (theory.mean_bias, theory.mean_variance_printed, theory.mean_mse_approx):
            whole = function(numbers, f, m, 1000)
            assert whole.shape == (3, 2, 4)
            one = Numbers(*(np.broadcast_to(x, (3, 1, 1))[1, 0, 0] for x in numbers))
            assert whole[1, 1, 3] == function(one, 0.1, 1.0, 1000)
        assert theory.frequency_quality(numbers, f).shape == (3, 2, 1)
        assert theory.mean_quality(numbers, f, m).shape == (3, 2, 4)
    assert theory.along_grr(E + 0.1, E, 9, np.array([1, 2])).keep_sign.shape == (3, 1, 2)
    assert theory.best_keep_key(E, E, m).shape == (3, 1, 4)
    assert theory.lemma2_holds(E, m).shape == (3, 1, 4)


# --- costs and PrivKVM -----------------------------------------------------------------------


def test_costs():
    bits = theory.upload_bits(6, 2, rounds=3)
    assert 2 ** bits["PCKV-GRR"] == pytest.approx(16)
    assert 2 ** bits["PCKV-UE"] == pytest.approx(3**8)
    assert 2 ** bits["KVUE"] == pytest.approx(18)
    assert bits["PrivKVM"] == 3 * bits["KVUE"]


def test_expected_nonzeros_by_enumeration():
    mechanism = make("ue", 2, 1)
    channel = mechanism.channel()
    zeros = [sum(digit == 2 for digit in r) for r in itertools.product(range(3), repeat=3)]
    expected = 3 - F(int(channel.weights[0] @ np.array(zeros, dtype=object)), channel.denominator)
    assert expected == theory.expected_nonzeros(Numbers.of(mechanism), 2)


def privkv_round(state, exp_key, exp_value, fake):
    """Law of (1, +1), (1, -1), (0, 0) for a holder with value `state`, or None."""
    p1, p2 = exp_key / (exp_key + 1), exp_value / (exp_value + 1)
    said = p1 if state is not None else 1 - p1
    plus = (1 + (2 * p2 - 1) * (fake if state is None else state)) / 2
    return said * plus, said * (1 - plus), 1 - said


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_privkvm_mean_by_running_the_rounds(rounds):
    f, values, exp_key, exp_value = F(1, 5), (F(1), F(1, 2)), F(3), F(2)
    running = F(0)
    for number in range(rounds):
        key = exp_key if number == 0 else F(1)
        laws = [(f / 2, privkv_round(v, key, exp_value, None)) for v in values]
        laws.append((1 - f, privkv_round(None, key, exp_value, running)))
        plus, minus = (sum(w * law[cell] for w, law in laws) for cell in (0, 1))
        running = (plus - minus) / (plus + minus) * (exp_value + 1) / (exp_value - 1)
    assert running == theory.privkvm_expected_mean(f, F(3, 4), exp_key, rounds)


def test_privkvm_numbers():
    """Section 3.8 of `papers/pckv.md`: f = .05, m = .8, epsilon = 2."""
    means = theory.privkvm_expected_mean(0.05, 0.8, math.e, np.array([1, 2, 6]))
    assert means == pytest.approx([0.1001, 0.1351, 0.2585], abs=5e-5)
    totals = theory.privkvm_epsilon(np.array([0.5, 1, 2, 4]), 1)
    assert totals == pytest.approx([0.367, 0.719, 1.380, 2.566], abs=5e-4)
    assert theory.privkvm_variance_factor(1.0, 50) == pytest.approx(200**2, rel=1e-4)
    for value in (1.5, 4.0):
        p2 = value / (value + 1)
        factor = theory.privkvm_variance_factor(6 * math.log(value), 3)
        assert factor == pytest.approx((2 * p2 - 1) ** -2, rel=ROUNDING)


@pytest.mark.parametrize(("exp_key", "exp_value"), [(F(3), F(3)), (F(3), F(2)), (F(2), F(5))])
def test_privkvm_first_round_composes_tightly(exp_key, exp_value):
    states = (F(1), F(-1), None)
    laws = [privkv_round(state, exp_key, exp_value, F(0)) for state in states]
    worst = max(x / y for one in laws for two in laws for x, y in zip(one, two, strict=True))
    assert worst == allocation.compose_ue(exp_key, exp_value) < exp_key * exp_value
    if exp_key == exp_value:
        epsilon = 2 * math.log(exp_key)
        assert math.exp(theory.privkvm_epsilon(epsilon, 1)) == pytest.approx(float(worst))
    # A later round, whose key is free, costs its value budget whatever the fake value; and the
    # two add up for one pair of users once the broadcast mean is at an end.
    for fake, product in ((F(-1), worst * exp_value), (F(0), None)):
        later = [privkv_round(state, F(1), exp_value, fake) for state in states]
        ratios = [
            (x / y, first[0] / second[0] * x / y)
            for first, one in zip(laws, later, strict=True)
            for second, two in zip(laws, later, strict=True)
            for x, y in zip(one, two, strict=True)
        ]
        assert max(ratio for ratio, _ in ratios) == exp_value
        if product:
            assert max(joint for _, joint in ratios) == product
        elif exp_key >= exp_value:  # as PrivKVM has it
            assert max(joint for _, joint in ratios) < worst * exp_value


@pytest.mark.parametrize(("d", "n"), [(1, 2), (2, 3), (3, 4)])
def test_unreported_share_by_enumeration(d, n):
    missed = [d - len(set(choice)) for choice in itertools.product(range(d), repeat=n)]
    share = F(sum(missed), d * len(missed))
    assert theory.unreported_share(d, n) == pytest.approx(float(share), rel=ROUNDING)


def test_unreported_share_numbers():
    assert theory.unreported_share(1e4, 2e4) == pytest.approx(math.exp(-2), rel=2e-4)
    assert theory.unreported_share(1e4, 1e4) == pytest.approx(math.exp(-1), rel=2e-4)


# --- exact errors ----------------------------------------------------------------------------


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("mean", [F(-1), F(1, 4)])
def test_exact_errors_against_a_plain_sum(correction, mean):
    n, frequency = 8, F(3, 4)
    users = ({0: mean},) * 3 + ({1: F(1)},)
    # b = 1/4, so that n b is a possible count and the raw frequency can be 0.
    world = World(make("ue", 2, 2), users)
    a, b, p = (float(x) for x in world.numbers[:3])
    sums = np.zeros(5)
    for counts, chance in world.law_iid(n).items():
        estimate = estimate_pckv(
            Counts(np.array([counts]), np.array([n])),
            keep_key=a, fake_key=b, keep_sign=p, padding=2, n_keys=1, correction=correction,
        )  # fmt: skip
        gap = estimate.frequency[0] - float(frequency)
        sums[:2] += float(chance) * gap, float(chance) * gap**2
        if math.isnan(estimate.mean[0]):
            sums[4] += float(chance)
        else:
            gap = estimate.mean[0] - float(mean)
            sums[2:4] += float(chance) * gap, float(chance) * gap**2
    sums[2:4] /= 1 - sums[4]
    numbers = Numbers(a, b, p, 2)
    exact = theory.exact_errors(numbers, float(frequency), float(mean), n, correction=correction)
    assert exact == pytest.approx(tuple(sums), rel=1e-10, abs=1e-13)
    assert (exact.undefined > 0) == (correction == "none")


@KINDS
@pytest.mark.parametrize("n", [100, 10**6])
def test_exact_errors_agree_with_the_variance(kind, n):
    numbers = optimal(kind, 2.0, 3, 20)
    exact = theory.exact_errors(numbers, 0.2, -0.5, n, correction="none")
    assert exact.frequency_bias == pytest.approx(0, abs=1e-9)
    var = theory.frequency_variance(numbers, 0.2, n, users="iid")
    assert exact.frequency_mse == pytest.approx(var, rel=1e-8)


@pytest.mark.parametrize("correction", ["paper", "code"])
def test_exact_errors_on_a_coarser_lattice(correction):
    numbers = optimal("ue", 0.1, 1)
    args = (numbers, 0.05, 0.5, 20_000)
    full = theory.exact_errors(*args, correction=correction)
    coarse = theory.exact_errors(*args, correction=correction, points=1 << 17)
    assert coarse.frequency_mse == pytest.approx(full.frequency_mse, rel=1e-9)
    assert coarse.mean_mse == pytest.approx(full.mean_mse, rel=2e-3)
    assert coarse.mean_bias == pytest.approx(full.mean_bias, abs=2e-3)
    assert coarse != full


@pytest.mark.parametrize(
    ("numbers", "paper", "code"),
    [(optimal("ue", 0.1, 1), 0.6277, 0.4870), (optimal("grr", 1, 1, 5850), 0.7850, 0.5782)],
)
def test_clipping_variants_at_paper_scale(numbers, paper, code):
    """Monte Carlo (400,000 draws, standard error about .001) gave .628, .486, .785, .578."""
    for correction, value in (("paper", paper), ("code", code)):
        exact = theory.exact_errors(numbers, 0.01, 0.5, 10**6, correction=correction)
        assert exact.mean_mse == pytest.approx(value, abs=1e-4)


def test_exact_errors_where_clipping_does_nothing():
    numbers = optimal("ue", 5.0, 1)
    n, f, m = 10**5, 0.3, 0.4
    assert theory.signal(numbers, f, n) > 20
    errors = [theory.exact_errors(numbers, f, m, n, correction=c) for c in CORRECTIONS]
    for other in errors[1:]:
        assert other == pytest.approx(errors[0], rel=1e-9)
    first = theory.mse(
        theory.mean_variance_printed(numbers, f, m, n), theory.mean_bias(numbers, f, m, n)
    )
    assert errors[0].mean_mse == pytest.approx(first, rel=1e-3)


def test_exact_errors_refuse_what_makes_no_sense():
    numbers = Numbers(0.5, 0.25, 0.75, 1)
    with pytest.raises(ValueError, match="correction must be one of"):
        theory.exact_errors(numbers, 0.1, 0.1, 10, correction="both")
    with pytest.raises(ValueError, match="n_users must be an integer"):
        theory.exact_errors(numbers, 0.1, 0.1, 0)
    with pytest.raises(ValueError, match="padding must be an integer"):
        theory.limit_estimates(KeyValueData.from_pairs([0], [0], [1.0]), 0)
