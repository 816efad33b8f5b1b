"""Channels: exact law, literal perturbation and count sampler are one law."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from statistical import assert_plausible, assert_rejected, goodness_of_fit, same_law

from ldpkv import channels

GRR = (Fraction(3, 10), Fraction(1, 10), Fraction(1, 10))  # width 4: 3/10 + 1/10 + 6 * 1/10
ODD = (Fraction(1, 5), Fraction(1, 20), Fraction(1, 8))  # q2 above q1: the other branch
UNARY = (Fraction(1, 2), Fraction(1, 5), Fraction(4, 5))
TABLE = np.array([[5, 0], [2, 3], [0, 0], [1, 1]])
CODES = np.repeat(np.arange(8), TABLE.ravel())


def count_law(table: np.ndarray, law: channels.Channel) -> dict[tuple[int, ...], Fraction]:
    """Exact law of report counts: convolve the users' report laws one by one."""
    size = law.weights.shape[1]
    total = {(0,) * size: Fraction(1)}
    for symbol, users in enumerate(table.ravel()):
        for _ in range(users):
            longer: dict[tuple[int, ...], Fraction] = {}
            for counts, probability in total.items():
                for report in range(size):
                    weight = Fraction(law.weights[symbol, report], law.denominator)
                    new = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                    longer[new] = longer.get(new, Fraction(0)) + probability * weight
            total = longer
    return total


def observed_against(counts: np.ndarray, law: dict[tuple[int, ...], Fraction]) -> float:
    """p-value of sampled count vectors against their exact joint law."""
    cells = {counts_: i for i, counts_ in enumerate(law)}
    seen = np.zeros(len(cells))
    rows, often = np.unique(counts.reshape(len(counts), -1), axis=0, return_counts=True)
    for row, times in zip(rows, often, strict=True):
        seen[cells[tuple(int(x) for x in row)]] = times
    return goodness_of_fit(seen, np.array([float(x) for x in law.values()]))


@pytest.mark.parametrize("numbers", [GRR, ODD])
def test_symbol_channel_rows(numbers: tuple[Fraction, ...]) -> None:
    law = channels.symbol_channel(*numbers, 4)
    matrix = np.array([[Fraction(w, law.denominator) for w in row] for row in law.weights])
    for symbol, report in itertools.product(range(8), range(8)):
        expected = numbers[0] if symbol == report else numbers[1 if symbol ^ 1 == report else 2]
        assert matrix[symbol, report] == expected


def test_channel_refuses_what_is_no_law() -> None:
    with pytest.raises(ValueError, match="rows that sum to the denominator"):
        channels.symbol_channel(0.5, 0.2, 0.2, 4)
    with pytest.raises(ValueError, match="rows that sum to the denominator"):
        channels.ternary_unary_channel(0.5, 1.5, 0.5, 2)


def test_ternary_unary_channel_factorises() -> None:
    a, b, p = UNARY
    law = channels.ternary_unary_channel(a, b, p, 3)
    own = {0: a * p, 1: a * (1 - p), 2: 1 - a}
    fake = {0: b / 2, 1: b / 2, 2: 1 - b}
    for code in range(6):
        for index, report in enumerate(itertools.product(range(3), repeat=3)):
            expected = Fraction(1)
            for key, entry in enumerate(report):
                if key != code // 2:
                    expected *= fake[entry]
                else:
                    expected *= own[entry if code % 2 == 0 or entry == 2 else 1 - entry]
            assert Fraction(law.weights[code, index], law.denominator) == expected


@pytest.mark.parametrize("numbers", [GRR, ODD])
def test_symbol_counts_have_the_exact_joint_law(
    numbers: tuple[Fraction, ...], rng: np.random.Generator
) -> None:
    """Both roads against enumeration; false alarm 1e-9 each, four twins must be seen."""
    table = np.array([[2, 0], [0, 1]])
    p1, q1, _ = numbers
    q2 = (1 - p1 - q1) / 2
    law = count_law(table, channels.symbol_channel(p1, q1, q2, 2))
    n = 100_000
    counted = np.stack([channels.count_symbols(table, p1, q1, q2, rng) for _ in range(n)])
    assert_plausible(observed_against(counted, law), "counted")
    codes = np.tile(np.repeat(np.arange(4), table.ravel()), n)
    reports = channels.perturb_symbols(codes, p1, q1, q2, 2, rng).reshape(n, 3)
    literal = np.stack([(reports == code).sum(axis=1) for code in range(4)], axis=1)
    assert_plausible(observed_against(literal, law), "literal")
    for step in (Fraction(1, 50), Fraction(-1, 50)):
        wrong = count_law(table, channels.symbol_channel(p1 + step, q1, q2 - step / 2, 2))
        assert_rejected(observed_against(counted, wrong), f"p1 moved by {step}")
        wrong = count_law(table, channels.symbol_channel(p1, q1 + step, q2 - step / 2, 2))
        assert_rejected(observed_against(literal, wrong), f"q1 moved by {step}")


def test_unary_counts_have_the_exact_joint_law(rng: np.random.Generator) -> None:
    """The counts of +1 and -1 at two keys, three users; false alarm 1e-9 each."""
    table = np.array([[2, 0], [0, 1]])
    n = 100_000

    def joint(a: Fraction, b: Fraction, p: Fraction) -> dict[tuple[int, ...], Fraction]:
        reports = count_law(table, channels.ternary_unary_channel(a, b, p, 2))
        law: dict[tuple[int, ...], Fraction] = {}
        pairs = list(itertools.product(range(3), repeat=2))
        for counts, probability in reports.items():
            seen = [0, 0, 0, 0]
            for report, times in zip(pairs, counts, strict=True):
                for key, entry in enumerate(report):
                    if entry < 2:
                        seen[2 * key + entry] += times
            law[tuple(seen)] = law.get(tuple(seen), Fraction(0)) + probability
        return law

    counted = np.stack([channels.count_ternary_unary(table, *UNARY, rng) for _ in range(n)])
    codes = np.tile(np.repeat(np.arange(4), table.ravel()), n)
    reports = channels.perturb_ternary_unary(codes, *UNARY, 2, rng).reshape(n, 3, 2)
    literal = np.stack(
        [(reports[:, :, key] == sign).sum(axis=1) for key in range(2) for sign in (1, -1)], axis=1
    )
    right = joint(*UNARY)
    assert_plausible(observed_against(counted, right), "counted")
    assert_plausible(observed_against(literal, right), "literal")
    a, b, p = UNARY
    step = Fraction(1, 50)
    for name, wrong in {
        "a up": (a + step, b, p),
        "a down": (a - step, b, p),
        "b up": (a, b + step, p),
        "b down": (a, b - step, p),
        "p up": (a, b, p + step),
        "p down": (a, b, p - step),
        "signs swapped": (a, b, 1 - p),
    }.items():
        assert_rejected(observed_against(counted, joint(*wrong)), f"{name}, counted")
        assert_rejected(observed_against(literal, joint(*wrong)), f"{name}, literal")


def test_roads_agree_on_a_larger_table(rng: np.random.Generator) -> None:
    """Joint counts of two cells, both roads, at a size that cannot be enumerated."""
    n = 30_000
    numbers = GRR
    codes = np.tile(CODES, n)
    reports = channels.perturb_symbols(codes, *numbers, 4, rng).reshape(n, len(CODES))
    literal = np.stack([(reports == cell).sum(axis=1) for cell in (0, 3)], axis=1)
    counted = np.stack(
        [channels.count_symbols(TABLE, *numbers, rng).ravel()[[0, 3]] for _ in range(n)]
    )
    assert_plausible(same_law(literal, counted))
    twin = np.stack(
        [
            channels.count_symbols(TABLE[:, ::-1].copy(), *numbers, rng).ravel()[[0, 3]]
            for _ in range(n)
        ]
    )
    assert_rejected(same_law(literal, twin), "signs swapped in the table")


def test_count_symbols_keeps_everybody(rng: np.random.Generator) -> None:
    for numbers in (GRR, ODD):
        assert channels.count_symbols(TABLE, *numbers, rng).sum() == TABLE.sum()


def test_integers_finds_the_common_denominator() -> None:
    weights, denominator = channels.integers([Fraction(1, 6), Fraction(3, 4), 1])
    assert denominator == 12
    assert weights.tolist() == [2, 9, 12]
    weights, denominator = channels.integers([0.5, Fraction(1, 4)])
    assert denominator == 1.0
    assert weights.dtype == np.float64


def test_grr_probabilities() -> None:
    assert channels.grr_probabilities(Fraction(3), 2) == (Fraction(3, 4), Fraction(1, 4))
    keep, other = channels.grr_probabilities(Fraction(5), 7)
    assert keep + 6 * other == 1
    assert keep / other == 5
