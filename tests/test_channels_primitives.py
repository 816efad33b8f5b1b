"""The categorical and the binary unary channel: exact law, literal road, counted road."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from exact_counts import fit, law_of_counts
from statistical import assert_plausible, assert_rejected, goodness_of_fit

from ldpkv import channels

EXPONENTIALS = [Fraction(11, 10), Fraction(2), Fraction(9, 4), Fraction(20)]
REPEATS = 60_000
USERS = np.array([0, 0, 0, 0, 1, 1, 2, 2])  # a few users, their categories out of three
TABLE = np.bincount(USERS, minlength=3)


@pytest.fixture
def rng(request):
    return np.random.default_rng(list(request.node.nodeid.encode()))


def shifts(*numbers):
    """Planted defects: each probability moved by 0.02, both ways."""
    for i, step in itertools.product(range(len(numbers)), (0.02, -0.02)):
        moved = list(map(float, numbers))
        moved[i] += step
        yield tuple(moved)


def ratio(channel):
    return max(max(column) / Fraction(min(column)) for column in channel.weights.T)


# --- exact law ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("exp_epsilon", EXPONENTIALS)
def test_grr_is_exactly_private(exp_epsilon, size):
    p, q = channels.grr_probabilities(exp_epsilon, size)
    assert p + (size - 1) * q == 1
    channel = channels.grr_channel(p, q, size)
    assert ratio(channel) == exp_epsilon
    assert Fraction(channel.weights[1, 1], channel.denominator) == p
    assert Fraction(channel.weights[1, 0], channel.denominator) == q


def test_grr_over_two_categories_is_randomised_response():
    e = Fraction(3)
    assert channels.grr_probabilities(e, 2) == (e / (e + 1), 1 / (e + 1))


def test_grr_rejects_numbers_that_do_not_add_up():
    with pytest.raises(ValueError, match="rows that sum"):
        channels.grr_channel(Fraction(1, 2), Fraction(1, 3), 3)
    with pytest.raises(ValueError, match="rows that sum"):
        channels.grr_channel(0.5, 0.3, 3)


@pytest.mark.parametrize("width", [2, 3, 4])
@pytest.mark.parametrize(
    "p, q",
    [(Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 2), Fraction(1, 5)), (Fraction(3, 4), 0.125)],
)
def test_unary_law_is_a_product_of_bits(p, q, width):
    channel = channels.binary_unary_channel(p, q, width)
    assert channel.weights.shape == (width, 2**width)
    for own in range(width):
        for index, bits in enumerate(itertools.product((1, 0), repeat=width)):
            expected = 1
            for key, bit in enumerate(bits):
                one = p if key == own else q
                expected *= one if bit else 1 - one
            got = channel.weights[own, index] / channel.denominator
            assert got == pytest.approx(float(expected), rel=1e-14)


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("exp_epsilon", [Fraction(121, 100), Fraction(9, 4), Fraction(16)])
def test_unary_is_exactly_private(exp_epsilon, width):
    half, q = Fraction(1, 2), 1 / (exp_epsilon + 1)
    assert ratio(channels.binary_unary_channel(half, q, width)) == exp_epsilon
    # Any p and q: p (1 - q) / (q (1 - p)), here with a third pair.
    p, q = Fraction(3, 5), Fraction(1, 7)
    assert ratio(channels.binary_unary_channel(p, q, width)) == p * (1 - q) / (q * (1 - p))


@pytest.mark.parametrize("exact", [True, False])
def test_float_and_fraction_give_one_law(exact):
    number = Fraction if exact else float
    grr = channels.grr_channel(number(0.5), number(0.25), 3)
    unary = channels.binary_unary_channel(number(0.5), number(0.25), 3)
    assert (grr.weights.dtype == object) is exact
    assert (unary.weights.dtype == object) is exact
    assert (grr.weights[0] / grr.denominator).tolist() == [0.5, 0.25, 0.25]
    assert unary.weights[0, 0] / unary.denominator == 0.5 * 0.25 * 0.25


# --- literal road ------------------------------------------------------------------------------


def grr_fit(rng, p, planted_p):
    """Reports of many users of each category, against the exact law."""
    channel = channels.grr_channel(p, (1 - p) / 2, 3)
    values = np.repeat(np.arange(3), 50_000)
    reports = channels.perturb_grr(values, planted_p, 3, rng)
    law = (channel.weights / channel.denominator).astype(float) / 3
    return goodness_of_fit(np.bincount(3 * values + reports, minlength=9), law)


def test_grr_literal_road(rng):
    p = Fraction(1, 2)
    assert_plausible(grr_fit(rng, p, p))
    assert_rejected(grr_fit(rng, p, 0.52))
    assert_rejected(grr_fit(rng, p, 0.48))
    # "Uniform over all" in place of "uniform over the others".
    assert_rejected(grr_fit(rng, p, 0.5 + 0.5 / 3))


def unary_fit(rng, truth, planted):
    channel = channels.binary_unary_channel(*truth, 3)
    values = np.repeat(np.arange(3), 50_000)
    bits = channels.perturb_binary_unary(values, *planted, 3, rng)
    index = (1 - bits) @ np.array([4, 2, 1])
    law = (channel.weights / channel.denominator).astype(float) / 3
    return goodness_of_fit(np.bincount(8 * values + index, minlength=24), law)


def test_unary_literal_road(rng):
    truth = (Fraction(1, 2), Fraction(1, 5))
    assert_plausible(unary_fit(rng, truth, truth))
    for planted in shifts(*truth):
        assert_rejected(unary_fit(rng, truth, planted), str(planted))
    assert_rejected(unary_fit(rng, truth, truth[::-1]), "p and q swapped")


def test_unary_literal_road_in_chunks(rng, monkeypatch):
    monkeypatch.setattr(channels, "CHUNK", 1 << 10)
    assert_plausible(unary_fit(rng, (0.5, 0.2), (0.5, 0.2)))


# --- counted road ------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 5)], ids=["p>q", "p<q"])
def test_grr_counted_road(rng, p):
    # Unbalanced, since near-even counts hardly feel a moved probability.
    table = np.array([24, 8, 2])
    channel = channels.grr_channel(p, (1 - p) / 2, 3)
    laws = channel.weights[np.repeat(np.arange(3), table)] / channel.denominator
    law = law_of_counts(laws, lambda report: np.eye(3, dtype=int)[report])

    def drawn(keep):
        other = (1 - keep) / 2
        return np.array([channels.count_grr(table, keep, other, rng) for _ in range(20_000)])

    assert_plausible(fit(law, drawn(p)))
    for (keep,) in shifts(p):
        assert_rejected(fit(law, drawn(keep)), f"p = {keep}")
    assert_rejected(fit(law, drawn(p)[:, ::-1]), "categories swapped")


def test_unary_counted_road(rng):
    p, q = Fraction(3, 5), Fraction(1, 5)
    channel = channels.binary_unary_channel(p, q, 3)
    laws = channel.weights[USERS] / channel.denominator
    bits = list(itertools.product((1, 0), repeat=3))
    law = law_of_counts(laws, bits.__getitem__)

    def drawn(*numbers):
        return np.array([channels.count_binary_unary(TABLE, *numbers, rng) for _ in range(REPEATS)])

    assert_plausible(fit(law, drawn(p, q)))
    for planted in shifts(p, q):
        assert_rejected(fit(law, drawn(*planted)), str(planted))
    assert_rejected(fit(law, drawn(p, q)[:, ::-1]), "categories swapped")


def test_grr_counts_keep_the_number_of_users(rng):
    table = np.array([10**6, 0, 7])
    assert channels.count_grr(table, 0.6, 0.2, rng).sum() == table.sum()
    assert channels.count_grr(table, 0.2, 0.4, rng).sum() == table.sum()
