"""Allocation: identities in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpkv import allocation
from ldpkv.allocation import Budgets

budgets = st.fractions(1, 50)
totals = st.fractions(Fraction(101, 100), 50)


@given(budgets, budgets)
def test_composition_is_at_most_the_sum_and_at_least_each(key: Fraction, value: Fraction) -> None:
    total = allocation.compose_ue(key, value)
    assert max(key, value) <= total <= key * value
    assert allocation.compose_grr(key, value, 1) == total


@given(budgets, budgets, st.integers(1, 30))
def test_padding_amplifies_grr(key: Fraction, value: Fraction, padding: int) -> None:
    assert allocation.compose_grr(key, value, padding) >= allocation.compose_grr(
        key, value, padding + 1
    )
    assert allocation.compose_grr(key, Fraction(1), padding) == (key + padding - 1) / padding


@given(totals, st.integers(1, 100))
def test_optimised_spends_exactly_epsilon(exp: Fraction, padding: int) -> None:
    assert allocation.compose_grr(*allocation.optimised(exp, padding), padding) == exp
    assert allocation.compose_ue(*allocation.optimised(exp)) == exp


@given(st.fractions(Fraction(101, 100), 7))
def test_non_optimised_spends_epsilon_and_naive_does_not(root: Fraction) -> None:
    exp = root**2
    assert allocation.compose_ue(*allocation.non_optimised(exp)) == exp
    assert allocation.naive(exp) == Budgets(root, root)
    assert allocation.compose_ue(*allocation.naive(exp)) < exp


@given(totals, st.fractions(0, 1))
def test_family_4(exp: Fraction, where: Fraction) -> None:
    low = (exp + 1) / 2
    key = low + (exp - low) * where * Fraction(999, 1000)
    family = allocation.from_key_budget(key, exp)
    assert allocation.compose_ue(*family) == exp
    # 2 p theta = e^epsilon
    assert 2 * key * family.exp_value / (family.exp_value + 1) == exp


def test_planted_composition_errors_are_seen() -> None:
    """The identities above would fail for a lost factor."""

    def without_two(key: Fraction, value: Fraction) -> Fraction:
        return max(value, key * value / (value + 1))

    def without_lambda(key: Fraction, value: Fraction, padding: int) -> Fraction:
        return key * value / min(key, (value + 1) / 2)

    exp = Fraction(5)
    assert without_two(*allocation.non_optimised(Fraction(25))) != 25
    assert without_lambda(*allocation.optimised(exp, 3), 3) != exp


def test_float_and_fraction_agree() -> None:
    for padding in (1, 4):
        exact = allocation.optimised(Fraction(7, 2), padding)
        near = allocation.optimised(3.5, padding)
        assert [float(x) for x in exact] == pytest.approx(list(near), rel=1e-15)
    assert Budgets(math.e, 1.0).epsilon_key == 1.0
    assert Budgets(math.e, 1.0).epsilon_value == 0.0


def test_square_root_stays_exact() -> None:
    assert allocation.square_root(Fraction(9, 4)) == Fraction(3, 2)
    assert allocation.square_root(2.25) == 1.5
    with pytest.raises(ValueError, match="perfect square, got 2"):
        allocation.square_root(Fraction(2))


@pytest.mark.parametrize("epsilon", [0, -1.0, math.inf, math.nan, 701, "1", True])
def test_bad_epsilon(epsilon: object) -> None:
    with pytest.raises((ValueError, TypeError), match=r"epsilon must be .*, got"):
        allocation.allocate("optimised", epsilon)


def test_bad_names_and_ranges() -> None:
    with pytest.raises(ValueError, match=r"allocation must be one of .*'optimised'.*got 'best'"):
        allocation.allocate("best", 1.0)
    with pytest.raises(ValueError, match="exp_key must lie in"):
        allocation.from_key_budget(Fraction(5), Fraction(5))
