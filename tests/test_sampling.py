"""Sampling: the compiled pass is plain numpy, and its law is Algorithm 1."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statistical import assert_plausible, assert_rejected, goodness_of_fit

from ldpkv import sampling
from ldpkv.data import KeyValueData
from ldpkv.mechanisms import padded_symbol_law

SETS = [{0: 0.5}, {0: -1.0, 2: 0.25, 3: 1.0}, {1: 0.0, 2: 0.0}, {}, {0: 1, 1: 1, 2: 1, 3: -1}]


@pytest.fixture
def users() -> KeyValueData:
    return KeyValueData.from_sets(SETS, n_keys=4, allow_empty=True)


def plain_draw(data: KeyValueData, rng: np.random.Generator) -> sampling.Draws:
    """The same draws in plain numpy: three uniform numbers a user, in this order."""
    which, coin, uniform = rng.random((data.n_users, 3)).T
    lengths = np.diff(data.indptr)
    pair = data.indptr[:-1] + (which * lengths).astype(np.int64)
    held = lengths > 0
    keys = np.full(data.n_users, -1)
    keys[held] = data.keys[pair[held]]
    negative = np.zeros(data.n_users, dtype=np.int8)
    negative[held] = 2 * coin[held] >= 1 + data.values[pair[held]]
    return sampling.Draws(keys, negative, uniform, lengths, data.n_keys)


def test_compiled_draw_equals_numpy(users: KeyValueData) -> None:
    many = users.take_users(np.tile(np.arange(users.n_users), 500))
    compiled = sampling.pad_and_sample(many, rng=7)
    plain = plain_draw(many, np.random.default_rng(7))
    for name in ("keys", "negative", "uniform", "lengths"):
        assert np.array_equal(getattr(compiled, name), getattr(plain, name)), name


@pytest.mark.parametrize("padding", [1, 2, 3, 5])
@pytest.mark.parametrize("user", SETS)
def test_law_of_symbols(user: dict, padding: int, rng: np.random.Generator) -> None:
    # false alarm 1e-9 for each of 20 cases
    n = 60_000
    one = KeyValueData.from_sets([user], n_keys=4, allow_empty=True)
    data = one.take_users(np.zeros(n, dtype=np.int64))
    table = sampling.pad_and_sample(data, rng=rng).pad(padding).table()
    law = padded_symbol_law(user, 4, padding).astype(float)
    if np.count_nonzero(law) == 1:
        assert table.ravel()[law.argmax()] == n
        return
    assert_plausible(goodness_of_fit(table, law))
    # twin: one cell's probability moved by 0.02 to another
    for step in (0.02, -0.02):
        first, last = np.flatnonzero(law)[[0, -1]]
        wrong = law.copy()
        wrong[[first, last]] += step, -step
        if wrong.min() >= 0:
            assert_rejected(goodness_of_fit(table, wrong), f"moved by {step}")


def test_possessed_pair_rate_is_one_over_longest() -> None:
    """Claim pckv-3: a held pair is sampled with probability 1 / max(|S|, l), the mean is kept."""
    for user in ({0: Fraction(1, 3)}, {0: Fraction(1, 3), 1: -1, 2: 1}):
        for padding in (1, 2, 4):
            law = padded_symbol_law(user, 4, padding)
            assert law.sum() == 1
            for key, value in user.items():
                rate = law[2 * key] + law[2 * key + 1]
                assert rate == Fraction(1, max(len(user), padding))
                assert (law[2 * key] - law[2 * key + 1]) / rate == value


def test_dummy_boundary() -> None:
    """The last uniform below 1 still gives an existing dummy; the bound itself is not kept."""
    top = np.nextafter(1.0, 0.0)
    draws = sampling.Draws(
        np.array([0, 0, -1], np.int32),
        np.zeros(3, np.int8),
        np.array([top, 1 / 3, top]),
        np.array([1, 1, 0]),
        5,
    )
    assert draws.pad(3).codes.tolist() == [15, 10, 15]
    assert draws.pad(1).codes.tolist() == [0, 0, 11]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=20), st.integers(0, 2**32 - 1))
def test_one_draw_serves_every_padding(lengths: list[int], seed: int) -> None:
    """A longer padding only ever turns pairs into dummies, and keeps the pair otherwise."""
    data = KeyValueData.from_sets([{k: 1.0 for k in range(n)} for n in lengths], n_keys=6)
    draws = sampling.pad_and_sample(data, rng=seed)
    real = draws.pad(1).codes
    for padding in (2, 4, 9):
        symbols = draws.pad(padding)
        kept = symbols.codes < 2 * 6
        assert np.array_equal(symbols.codes[kept], real[kept])
        assert (symbols.codes < 2 * symbols.width).all()
        assert kept[np.array(lengths) >= padding].all()
        assert symbols.table().sum() == symbols.n_users == len(lengths)


def test_index_sampling(users: KeyValueData, rng: np.random.Generator) -> None:
    n = 100_000
    data = users.take_users(np.full(n, 1))
    table = sampling.sample_uniform_key(data, rng=rng).table()
    law = np.array([[0, 1, 0], [0, 0, 1], [0.625, 0.375, 0], [1, 0, 0]]) / 4
    assert_plausible(goodness_of_fit(table, law))
    assert_rejected(goodness_of_fit(table, law[:, [1, 0, 2]]), "signs swapped")


def test_discretise(rng: np.random.Generator) -> None:
    signs = sampling.discretise(np.full(100_000, 0.5), rng=rng)
    plus = int((signs == 1).sum())
    assert_plausible(goodness_of_fit(np.array([plus, signs.size - plus]), np.array([0.75, 0.25])))
    assert_rejected(goodness_of_fit(np.array([plus, signs.size - plus]), np.array([0.77, 0.23])))
    assert set(sampling.discretise(np.array([1.0, -1.0, 1.0]), rng=rng)) == {1, -1}
    with pytest.raises(ValueError, match=r"values must lie in \[-1, 1\], got nan"):
        sampling.discretise(np.array([0.0, np.nan]))


@pytest.mark.parametrize("padding", [0, -1, 1.5, "2", True])
def test_bad_padding(users: KeyValueData, padding: object) -> None:
    draws = sampling.pad_and_sample(users, rng=0)
    with pytest.raises((ValueError, TypeError), match="padding must be an integer of at least 1"):
        draws.pad(padding)
