"""Defects planted in the mechanisms of PCKV: every check that matters must see them.

Each is a mechanism that looks like the right one and differs in one way that real code has had.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np

from ldpkv.channels import Channel, symbol_channel
from ldpkv.mechanisms import PCKVGRR, PCKVUE


def swapped_signs(mechanism):
    """Use p where 1 - p belongs."""
    return dataclasses.replace(mechanism, keep_sign=1 - mechanism.keep_sign)


def moved(mechanism, name: str, by: float):
    """Move one probability a little."""
    return dataclasses.replace(mechanism, **{name: getattr(mechanism, name) + by})


def grr_over_real_keys(exp_key, exp_value, *, n_keys: int, padding: int) -> PCKVGRR:
    """Compute GRR's probabilities over d keys although d' = d + l are reported."""
    right = PCKVGRR.from_exp_budgets(exp_key, exp_value, n_keys=n_keys, padding=padding)
    keep = exp_key / (exp_key + n_keys - 1)
    fake = (1 - keep) / (right.width - 1)
    return dataclasses.replace(right, keep_key=keep, fake_key=fake)


class NoFakeValues(PCKVUE):
    """Never report a key that was not sampled with value -1: fake values are all +1."""

    def channel(self) -> Channel:
        """Same report as PCKV-UE, with every fake entry +1."""
        from ldpkv.channels import _kron, integers

        a, b, p = self.keep_key, self.fake_key, self.keep_sign
        rows, denominator = integers(
            [[a * p, a * (1 - p), 1 - a], [a * (1 - p), a * p, 1 - a], [b, 0 * b, 1 - b]]
        )
        weights = [
            _kron([rows[sign] if key == position else rows[2] for position in range(self.width)])
            for key in range(self.width)
            for sign in range(2)
        ]
        return Channel(np.array(weights), denominator**self.width)


class NoPadding(PCKVGRR):
    """Sample from the real pairs only, but estimate and allocate as if padded."""

    def symbol_law(self, user):
        """Law of the symbol when the list is not padded."""
        law = np.full(2 * self.width, Fraction(0), dtype=object)
        for key, value in user.items():
            law[2 * key] = Fraction(1 + value, 2) / len(user)
            law[2 * key + 1] = Fraction(1 - value, 2) / len(user)
        return law


class SignKeptOnFakeKey(PCKVGRR):
    """Report another key with the user's own sign instead of a fair one."""

    def channel(self) -> Channel:
        """As the symbol channel, but the sign of another key is the symbol's."""
        law = symbol_channel(*self.symbol_probabilities, self.width)
        weights = law.weights.copy()
        size = 2 * self.width
        for symbol in range(size):
            for report in range(size):
                if report // 2 != symbol // 2:
                    same = report % 2 == symbol % 2
                    weights[symbol, report] = (2 if same else 0) * law.weights[symbol, report]
        return Channel(weights, law.denominator)
