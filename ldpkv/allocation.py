"""How one budget is shared between key and value, and what two shares compose to.

Everything here is in terms of exponentials: ``exp_key`` = e^epsilon_1, ``exp_value`` =
e^epsilon_2, ``exp_epsilon`` = e^epsilon. The same formulas then serve `fractions.Fraction`
(exact) and `float`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from ldpkv import _check


class Budgets(NamedTuple):
    """Exponentials of a key budget and a value budget, each at least 1."""

    exp_key: Any
    exp_value: Any

    @property
    def epsilon_key(self) -> float:
        """Key budget epsilon_1 in nats."""
        return math.log(self.exp_key)

    @property
    def epsilon_value(self) -> float:
        """Value budget epsilon_2 in nats."""
        return math.log(self.exp_value)


def square_root(number: Any) -> Any:
    """Square root that stays exact: of a `Fraction` only where it is a perfect square.

    Parameters
    ----------
    number : Fraction, int or float
        At least 0.

    Returns
    -------
    Fraction or float
        The root, of the same kind.

    Raises
    ------
    ValueError
        If an exact number is not the square of a fraction.
    """
    if isinstance(number, int | Fraction):
        exact = Fraction(number)
        root = Fraction(math.isqrt(exact.numerator), math.isqrt(exact.denominator))
        if root * root != exact:
            raise ValueError(f"an exact square root needs a perfect square, got {number}")
        return root
    return math.sqrt(number)


def compose_ue(exp_key: Any, exp_value: Any) -> Any:
    """Privacy of PCKV-UE, and of any pair of a key and a value perturbed in correlation.

    Parameters
    ----------
    exp_key, exp_value : Fraction or float
        e^epsilon_1 and e^epsilon_2, at least 1.

    Returns
    -------
    same type
        e^epsilon = max{e^epsilon_2, 2 e^(epsilon_1 + epsilon_2) / (e^epsilon_2 + 1)}.

    Notes
    -----
    Source: PCKV Theorem 2, equation (3).
    """
    return max(exp_value, 2 * exp_key * exp_value / (exp_value + 1))


def compose_grr(exp_key: Any, exp_value: Any, padding: int) -> Any:
    """Privacy of PCKV-GRR, which padding amplifies.

    Parameters
    ----------
    exp_key, exp_value : Fraction or float
        e^epsilon_1 and e^epsilon_2, at least 1.
    padding : int
        Padding length l.

    Returns
    -------
    same type
        e^epsilon.

    Notes
    -----
    Source: PCKV Theorem 3, equation (6). With padding 1 it is `compose_ue`.
    """
    extra = (padding - 1) * (exp_value + 1) / 2
    return (exp_key * exp_value + extra) / (min(exp_key, (exp_value + 1) / 2) + extra)


def amplified(exp_epsilon: Any, padding: int) -> Any:
    """Budget that PCKV-GRR may spend on a padded symbol.

    Parameters
    ----------
    exp_epsilon : Fraction or float
        e^epsilon.
    padding : int
        Padding length l.

    Returns
    -------
    same type
        l (e^epsilon - 1) + 1.

    Notes
    -----
    Source: PCKV Lemma 3, equation (23).
    """
    return padding * (exp_epsilon - 1) + 1


def from_key_budget(exp_key: Any, exp_epsilon: Any) -> Budgets:
    """Give the value what is left once the key has its share.

    Parameters
    ----------
    exp_key : Fraction or float
        theta = e^epsilon_1, in [(e^epsilon + 1) / 2, e^epsilon).
    exp_epsilon : Fraction or float
        e^epsilon.

    Returns
    -------
    Budgets
        They compose to exactly e^epsilon under `compose_ue`.

    Raises
    ------
    ValueError
        If `exp_key` lies outside its range.

    Notes
    -----
    Source: PCKV equation (4).
    """
    if not (exp_epsilon + 1) / 2 <= exp_key < exp_epsilon:
        raise ValueError(
            f"exp_key must lie in [(exp_epsilon + 1) / 2, exp_epsilon) = "
            f"[{(exp_epsilon + 1) / 2}, {exp_epsilon}), got {exp_key!r}"
        )
    return Budgets(exp_key, 1 / (2 * exp_key / exp_epsilon - 1))


def optimised(exp_epsilon: Any, padding: int = 1) -> Budgets:
    """Allocation of Lemma 2 (padding 1: PCKV-UE) and Lemma 3 (PCKV-GRR).

    Parameters
    ----------
    exp_epsilon : Fraction or float
        e^epsilon.
    padding : int, default 1
        Padding length l; leave 1 for PCKV-UE, which padding does not amplify.

    Returns
    -------
    Budgets
        epsilon_2 = epsilon', epsilon_1 = ln((e^epsilon' + 1) / 2) with e^epsilon' = `amplified`.

    Notes
    -----
    Source: PCKV Lemma 2, equation (20), and Lemma 3, equation (23).
    """
    exp_value = amplified(exp_epsilon, padding)
    return Budgets((exp_value + 1) / 2, exp_value)


def non_optimised(exp_epsilon: Any, padding: int = 1) -> Budgets:
    """Half the budget for the value; the key gets what tight composition leaves.

    Parameters
    ----------
    exp_epsilon : Fraction or float
        e^epsilon; a perfect square when exact.
    padding : int, default 1
        Leave 1 for PCKV-UE.

    Returns
    -------
    Budgets
        They compose to exactly e^epsilon.

    Notes
    -----
    Source: the alternative of PCKV section 5, equation (22), derived from (4).
    """
    exp_epsilon = amplified(exp_epsilon, padding)
    root = square_root(exp_epsilon)
    return Budgets((exp_epsilon + root) / 2, root)


def naive(exp_epsilon: Any, padding: int = 1) -> Budgets:
    """Half the budget for each, as plain sequential composition would have it.

    Parameters
    ----------
    exp_epsilon : Fraction or float
        e^epsilon; a perfect square when exact.
    padding : int, default 1
        Leave 1 for PCKV-UE.

    Returns
    -------
    Budgets
        epsilon_1 = epsilon_2 = epsilon / 2.

    Notes
    -----
    Source: PCKV section 5 (the naive allocation).
    """
    root = square_root(amplified(exp_epsilon, padding))
    return Budgets(root, root)


ALLOCATIONS: dict[str, Callable[..., Budgets]] = {
    "optimised": optimised,
    "non-optimised": non_optimised,
    "naive": naive,
}


def allocate(allocation: str, epsilon: float, padding: int = 1) -> Budgets:
    """Look an allocation up by name and apply it.

    Parameters
    ----------
    allocation : {"optimised", "non-optimised", "naive"}
        Which one.
    epsilon : float
        Budget in nats, above 0.
    padding : int, default 1
        Leave 1 for PCKV-UE.

    Returns
    -------
    Budgets
        The shares.

    Raises
    ------
    ValueError, TypeError
        If the name is unknown or epsilon is not a finite number above 0.
    """
    rule = ALLOCATIONS[_check.one_of("allocation", allocation, ALLOCATIONS)]
    return rule(math.exp(_check.epsilon(epsilon)), padding)
