"""Privacy: the enumerator on laws known by hand, and the theorems of PCKV."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from planted import NoFakeValues, NoPadding, SignKeptOnFakeKey, grr_over_real_keys

from ldpkv import allocation, privacy
from ldpkv.data import KeyValueData
from ldpkv.mechanisms import PCKVGRR, PCKVUE

EXPS = (Fraction(11, 10), Fraction(2), Fraction(3), Fraction(20))
SIZES = list(itertools.product(range(1, 4), range(1, 4)))


def worst(mechanism, *, empty: bool) -> Fraction:
    return privacy.worst_ratio(
        mechanism, privacy.extreme_users(mechanism.n_keys, empty=empty)
    ).ratio


def test_extreme_users() -> None:
    assert len(list(privacy.extreme_users(3, empty=True))) == 27
    assert len(list(privacy.extreme_users(3, empty=False))) == 26
    short = list(privacy.extreme_users(3, empty=False, max_length=1))
    assert short == [{2: 1}, {2: -1}, {1: 1}, {1: -1}, {0: 1}, {0: -1}]


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize(("n_keys", "padding"), SIZES)
@pytest.mark.parametrize("exp", EXPS)
def test_optimal_ue_is_exactly_the_closed_form(
    exp: Fraction, n_keys: int, padding: int, empty: bool
) -> None:
    mechanism = PCKVUE.from_exp_budgets(*allocation.optimised(exp), n_keys=n_keys, padding=padding)
    expected = 1 + min(Fraction(1), Fraction(n_keys, padding)) * (exp - 1)
    assert worst(mechanism, empty=empty) == expected


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize(("n_keys", "padding"), SIZES)
@pytest.mark.parametrize("exp", EXPS)
def test_optimal_grr_spends_exactly_epsilon(
    exp: Fraction, n_keys: int, padding: int, empty: bool
) -> None:
    mechanism = PCKVGRR.from_exp_budgets(
        *allocation.optimised(exp, padding), n_keys=n_keys, padding=padding
    )
    assert worst(mechanism, empty=empty) == exp


def test_four_keys_and_four_slots() -> None:
    for exp in EXPS:
        ue = PCKVUE.from_exp_budgets(*allocation.optimised(exp), n_keys=4, padding=4)
        grr = PCKVGRR.from_exp_budgets(*allocation.optimised(exp, 4), n_keys=4, padding=4)
        assert worst(ue, empty=True) == worst(grr, empty=True) == exp


def test_values_inside_never_exceed_the_extremes() -> None:
    """The claim behind `extreme_users`: values strictly between -1 and 1 give smaller ratios."""
    values = [Fraction(v, 2) for v in range(-2, 3)]
    users = [{0: x} for x in values] + [{0: x, 1: y} for x in values for y in values]
    for kind in (PCKVUE, PCKVGRR):
        mechanism = kind.from_exp_budgets(Fraction(3), Fraction(2), n_keys=2, padding=2)
        extreme = worst(mechanism, empty=False)
        assert privacy.worst_ratio(mechanism, users).ratio <= extreme


def test_witness_reaches_the_ratio() -> None:
    mechanism = PCKVGRR.from_exp_budgets(Fraction(3), Fraction(2), n_keys=2, padding=2)
    found = privacy.worst_ratio(mechanism, privacy.extreme_users(2, empty=True))
    weights, _ = privacy.report_laws(mechanism, [found.high, found.low])
    assert Fraction(weights[0, found.report], weights[1, found.report]) == found.ratio
    assert found.epsilon == math.log(found.ratio)


def test_float_mechanism_agrees_with_exact() -> None:
    for kind in (PCKVUE, PCKVGRR):
        exact = kind.from_exp_budgets(Fraction(3), Fraction(2), n_keys=3, padding=2)
        near = kind.from_exp_budgets(3.0, 2.0, n_keys=3, padding=2)
        assert worst(near, empty=True) == pytest.approx(float(worst(exact, empty=True)), rel=1e-12)


@pytest.mark.parametrize(
    ("defect", "budget"),
    [
        (NoFakeValues.from_exp_budgets(*allocation.optimised(Fraction(3)), n_keys=2, padding=2), 3),
        (NoPadding.from_exp_budgets(*allocation.optimised(Fraction(3), 2), n_keys=2, padding=2), 3),
        (
            SignKeptOnFakeKey.from_exp_budgets(
                *allocation.optimised(Fraction(3), 2), n_keys=2, padding=2
            ),
            3,
        ),
        (
            grr_over_real_keys(*allocation.optimised(Fraction(3), 2), n_keys=2, padding=2),
            3,
        ),
    ],
    ids=["no fake values", "no padding", "sign kept on fake key", "GRR over d"],
)
def test_planted_defects_break_the_promise(defect, budget: int) -> None:
    assert worst(defect, empty=False) > budget


def test_impossible_report_is_infinite() -> None:
    found = privacy.worst_ratio(
        PCKVGRR(2, 1, Fraction(1), Fraction(0), Fraction(1)), [{0: 1}, {1: 1}]
    )
    assert found.ratio == math.inf
    assert found.epsilon == math.inf


def test_delta_by_hand() -> None:
    """Two users who differ in one sign, l = 1: a two-point law (p, 1 - p) on the key's reports."""
    mechanism = PCKVGRR.from_exp_budgets(Fraction(6), Fraction(3), n_keys=1, padding=1)
    a, p = float(mechanism.keep_key), float(mechanism.keep_sign)
    for epsilon in (0.0, 0.5, 1.0):
        expected = max(a * p - math.exp(epsilon) * a * (1 - p), 0)
        found = privacy.delta(mechanism, {0: 1}, {0: -1}, epsilon)
        assert found == pytest.approx(expected, abs=1e-15)
    assert privacy.delta(mechanism, {0: 1}, {0: -1}, math.log(3)) == pytest.approx(0, abs=1e-15)


def test_delta_against_an_independent_accountant() -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    mechanism = PCKVGRR.from_epsilon(1.5, n_keys=3, padding=2)
    users = [{0: 1.0, 1: 1.0}, {2: -1.0}]
    weights, _ = privacy.report_laws(mechanism, users)
    upper, lower = ({i: math.log(p) for i, p in enumerate(row)} for row in weights.astype(float))
    for pessimistic in (True, False):
        accountant = pld.from_two_probability_mass_functions(
            lower, upper, pessimistic_estimate=pessimistic, value_discretization_interval=1e-4
        )
        for epsilon in (0.1, 0.7, 1.2):
            assert accountant.get_delta_for_epsilon(epsilon) == pytest.approx(
                privacy.delta(mechanism, *users, epsilon), abs=2e-4
            )


def test_bad_input() -> None:
    mechanism = PCKVGRR.from_epsilon(1.0, n_keys=2, padding=1)
    with pytest.raises(ValueError, match="users must hold at least one set of pairs"):
        privacy.worst_ratio(mechanism, [])
    data = KeyValueData.from_sets([{0: 1.0}], n_keys=2)
    with pytest.raises(TypeError, match=r"users must be .* extreme_users\(.*, got KeyValueData"):
        privacy.worst_ratio(mechanism, data)
    with pytest.raises(TypeError, match=r"users must be an iterable .*, got dict"):
        privacy.worst_ratio(mechanism, {0: 1})
    with pytest.raises(ValueError, match=r"user: keys must lie in 0 .. 1, got 2"):
        privacy.worst_ratio(mechanism, [{2: 1}])
    with pytest.raises(ValueError, match=r"user: values must lie in \[-1, 1\], got 2 at key 0"):
        privacy.worst_ratio(mechanism, [{0: 2}])
    with pytest.raises(ValueError, match="user: values must lie"):
        privacy.worst_ratio(mechanism, [{0: math.nan}])
    with pytest.raises(ValueError, match="epsilon must be a finite number above 0"):
        privacy.delta(mechanism, {0: 1}, {1: 1}, -1.0)


def test_report_laws_are_laws() -> None:
    for kind in (PCKVUE, PCKVGRR):
        mechanism = kind.from_exp_budgets(Fraction(3), Fraction(2), n_keys=2, padding=3)
        weights, denominator = privacy.report_laws(mechanism, [{}, {0: 1}, {0: Fraction(1, 7)}])
        assert (weights.sum(axis=1) == denominator).all()
        assert np.all(weights > 0)


def test_exact_curve_by_hand() -> None:
    """GRR on two keys: the law is (p, 1 - p) against (1 - p, p), the curve has one corner."""
    from ldpkv.baselines import GRR

    curve = privacy.exact_curve(
        GRR.from_exp_budgets(Fraction(3), n_keys=2), {0: Fraction(1)}, {1: Fraction(1)}
    )
    quarter = Fraction(1, 4)
    assert curve.points == ((0, 1), (quarter, quarter), (1, 0))
    assert curve.exact


@pytest.mark.parametrize("kind", [PCKVUE, PCKVGRR])
def test_exact_curve_has_the_deltas(kind) -> None:
    """One less the support at e^epsilon is `delta`, which sums over reports instead."""
    mechanism = kind.from_epsilon(1.5, n_keys=2, padding=2)
    for user0, user1 in itertools.permutations([{0: 1.0, 1: 1.0}, {1: -1.0}, {}], 2):
        curve = privacy.exact_curve(mechanism, user0, user1)
        for epsilon in (0.0, 0.3, 1.2, 1.6):
            expected = privacy.delta(mechanism, user1, user0, epsilon)
            assert curve.delta_at(epsilon) == pytest.approx(expected, abs=1e-14)


def test_exact_curve_against_all_tests() -> None:
    """No deterministic test lies below the curve, and some test lies on each of its corners."""
    mechanism = PCKVGRR.from_exp_budgets(Fraction(3), Fraction(2), n_keys=2, padding=1)
    users = [{0: 1, 1: -1}, {1: 1}]
    curve = privacy.exact_curve(mechanism, *users)
    weights, total = privacy.report_laws(mechanism, users)
    reached = set()
    for chosen in itertools.product((False, True), repeat=weights.shape[1]):
        alpha = Fraction(sum(weights[0, np.array(chosen)]), total)
        beta = 1 - Fraction(sum(weights[1, np.array(chosen)]), total)
        assert beta >= curve(alpha)
        reached.add((alpha, beta))
    assert set(curve.points) <= reached


def test_exact_curve_sees_a_planted_defect() -> None:
    """The claim holds for the right mechanism, just so, and not for the defect."""
    exp = Fraction(3)
    right = PCKVUE.from_exp_budgets(*allocation.optimised(exp), n_keys=2, padding=2)
    wrong = NoFakeValues.from_exp_budgets(*allocation.optimised(exp), n_keys=2, padding=2)
    users = list(privacy.extreme_users(2, empty=True))

    def least(mechanism) -> Fraction:
        return min(
            privacy.exact_curve(mechanism, *pair).support(exp)
            for pair in itertools.product(users, repeat=2)
        )

    assert least(right) == 1
    assert least(wrong) < 1


def test_exact_curve_refuses_bad_users() -> None:
    mechanism = PCKVGRR.from_epsilon(1.0, n_keys=2, padding=1)
    with pytest.raises(ValueError, match=r"user: keys must lie in 0 .. 1, got 2"):
        privacy.exact_curve(mechanism, {0: 1}, {2: 1})
