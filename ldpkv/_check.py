"""Argument checks shared by the whole library: one wording for one kind of mistake."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def integer(name: str, value: object, *, minimum: int) -> int:
    """Return `value` as an int, or say what is allowed."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer of at least {minimum}, got {value!r}")
    if int(value) < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value!r}")
    return int(value)


def keep_integer(owner: object, name: str, *, minimum: int) -> None:
    """Check a field of a frozen dataclass and keep it as an int: numpy's small ones wrap around."""
    object.__setattr__(owner, name, integer(name, getattr(owner, name), minimum=minimum))


def probability(name: str, value: object) -> None:
    """Raise unless `value` is a number in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number in [0, 1], got {value!r}")
    if not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be a number in [0, 1], got {value!r}")


def epsilon(value: object, name: str = "epsilon") -> float:
    """Return a finite budget above 0 as a float, or say what is allowed."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a finite number above 0 (nats), got {value!r}")
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a finite number above 0 (nats), got {value!r}")
    if number > 700:
        raise ValueError(f"{name} must be at most 700, where exp overflows, got {value!r}")
    return number


def exp_budget(name: str, value: object) -> Any:
    """Return exp(budget), a finite number of at least 1, as a Fraction or a float.

    An integer becomes exact. Numpy's small types do not stay: they wrap and round.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be exp(budget), a finite number >= 1, got {value!r}")
    if not (float(value) >= 1 and math.isfinite(value)):
        raise ValueError(f"{name} must be exp(budget), a finite number >= 1, got {value!r}")
    if isinstance(value, Integral):
        return Fraction(int(value))
    return value if isinstance(value, Fraction) else float(value)


def instance(name: str, value: object, kind: type, advice: str) -> None:
    """Raise unless `value` is a `kind`; `advice` says how to get one."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {kind.__name__}, got {type(value).__name__}; {advice}")


def generator(rng: Any) -> np.random.Generator:
    """Return `numpy.random.default_rng(rng)`, or say what is allowed."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"rng must be a Generator, a seed (an integer of at least 0) or None, got {rng!r}"
        ) from None


def one_of(name: str, value: T, allowed: Collection[T]) -> T:
    """Return `value` if it is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {sorted(map(str, allowed))}, got {value!r}")
    return value
