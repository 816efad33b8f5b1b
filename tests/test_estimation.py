"""Estimation: unbiased by exact enumeration, and corrected as Algorithm 4 says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import NoFakeValues, NoPadding, SignKeptOnFakeKey, grr_over_real_keys

from ldpkv import allocation
from ldpkv.data import KeyValueData
from ldpkv.estimation import Counts, calibrate_pairs, estimate_pckv, squared_errors
from ldpkv.mechanisms import PCKVGRR, PCKVUE
from ldpkv.privacy import report_laws

D, L = 3, 2
USERS = [{0: 1}, {0: Fraction(1, 3), 2: -1}, {1: Fraction(-1, 2)}, {0: -1, 1: 1}]
BUDGETS = (Fraction(4), Fraction(3))


def expected_counts(mechanism, users) -> np.ndarray:
    """Exact expectation of the server's table of counts, by enumeration of every report."""
    weights, denominator = report_laws(mechanism, users)
    reports = weights.shape[1]
    width = mechanism.width
    table = np.full((width, 2), Fraction(0), dtype=object)
    for report in range(reports):
        mass = Fraction(int(weights[:, report].sum()), denominator)
        if reports == 2 * width:
            table[report // 2, report % 2] += mass
        else:
            for key in range(width):
                entry = report // 3 ** (width - 1 - key) % 3
                if entry < 2:
                    table[key, entry] += mass
    return table


def exact_estimates(mechanism, table: np.ndarray, n: int) -> tuple[list, list]:
    """Frequency (7) and total from Lemma 1, written out in fractions."""
    a, b, p, padding = mechanism.keep_key, mechanism.fake_key, mechanism.keep_sign, L
    frequency = [((x + y) / n - b) / (a - b) * padding for x, y in table[:D]]
    total = [padding * (x - y) / (a * (2 * p - 1)) / n for x, y in table[:D]]
    return frequency, total


TRUE_F = [Fraction(3, 4), Fraction(1, 2), Fraction(1, 4)]
TRUE_T = [Fraction(1, 12), Fraction(1, 8), Fraction(-1, 4)]


@pytest.mark.parametrize("kind", [PCKVUE, PCKVGRR])
def test_expectation_is_the_truth(kind: type) -> None:
    """Claims pckv-17, pckv-25, pckv-26: exact, no user has more than l pairs."""
    mechanism = kind.from_exp_budgets(*BUDGETS, n_keys=D, padding=L)
    table = expected_counts(mechanism, USERS)
    frequency, total = exact_estimates(mechanism, table, len(USERS))
    assert frequency == TRUE_F
    assert total == TRUE_T


@pytest.mark.parametrize(
    "defect",
    [
        NoFakeValues.from_exp_budgets(*BUDGETS, n_keys=D, padding=L),
        NoPadding.from_exp_budgets(*BUDGETS, n_keys=D, padding=L),
        SignKeptOnFakeKey.from_exp_budgets(*BUDGETS, n_keys=D, padding=L),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_planted_defects_bias_the_estimates(defect) -> None:
    table = expected_counts(defect, USERS)
    assert exact_estimates(defect, table, len(USERS)) != (TRUE_F, TRUE_T)


def test_grr_over_d_instead_of_width_is_biased() -> None:
    right = PCKVGRR.from_exp_budgets(*BUDGETS, n_keys=D, padding=L)
    wrong = grr_over_real_keys(*BUDGETS, n_keys=D, padding=L)
    table = expected_counts(wrong, USERS)
    assert exact_estimates(right, table, len(USERS)) != (TRUE_F, TRUE_T)


def test_library_estimators_equal_the_fractions() -> None:
    mechanism = PCKVUE.from_exp_budgets(*BUDGETS, n_keys=D, padding=L)
    table = np.array([[500, 300], [410, 320], [200, 350], [180, 170], [200, 200]])
    counts = Counts(table, np.full(5, 2000))
    found = mechanism.estimate(counts, correction="none")
    frequency, total = exact_estimates(
        mechanism, np.array([[Fraction(int(x)) for x in row] for row in table]), 2000
    )
    assert found.frequency == pytest.approx([float(x) for x in frequency], rel=1e-13)
    assert found.total == pytest.approx([float(x) for x in total], rel=1e-13)
    assert found.mean == pytest.approx(
        [float(t / f) for t, f in zip(total, frequency, strict=True)], rel=1e-13
    )


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=2, max_size=5),
    st.integers(1, 4),
    st.sampled_from(["paper", "code"]),
)
def test_correction_keeps_its_ranges(rows: list, padding: int, correction: str) -> None:
    """Claim pckv-27: f in [1/n, 1] and m in [-1, 1]; n f / l may be below the code's floor 1."""
    counts = Counts(np.array(rows), np.full(len(rows), 2000))
    found = estimate_pckv(
        counts,
        keep_key=0.5,
        fake_key=0.2,
        keep_sign=0.7,
        padding=padding,
        n_keys=len(rows),
        correction=correction,
    )
    assert ((found.frequency >= 1 / 2000) & (found.frequency <= 1)).all()
    assert (np.abs(found.mean) <= 1 + 1e-12).all()
    raw = (counts.table.sum(axis=1) / 2000 - 0.2) / 0.3 * padding
    inside = (raw >= 1 / 2000) & (raw <= 1)
    assert found.frequency[inside] == pytest.approx(raw[inside])
    if correction == "paper":
        plain = estimate_pckv(
            counts,
            keep_key=0.5,
            fake_key=0.2,
            keep_sign=0.7,
            padding=padding,
            n_keys=len(rows),
            correction="none",
        )
        # With f untouched, the correction is plain truncation of the mean.
        assert found.mean[inside] == pytest.approx(np.clip(plain.mean[inside], -1, 1), abs=1e-9)


def test_two_corrections_differ_only_where_the_signal_is_lost() -> None:
    numbers = {"keep_key": 0.5, "fake_key": 0.2, "keep_sign": 0.7, "padding": 1, "n_keys": 2}
    counts = Counts(np.array([[150, 20], [400, 300]]), np.full(2, 1000))
    paper = estimate_pckv(counts, **numbers, correction="paper")
    code = estimate_pckv(counts, **numbers, correction="code")
    assert paper.mean[0] == pytest.approx(1.0)
    assert code.mean[0] == 0.0  # both counts end at n f / l = 1
    assert paper.mean[1] == code.mean[1]


def test_calibration_inverts_lemma_1() -> None:
    a, b, p = 0.5, 0.2, 0.7
    sampled = np.array([[30.0, 10.0], [0.0, 25.0]])
    matrix = np.array([[a * p - b / 2, a * (1 - p) - b / 2], [a * (1 - p) - b / 2, a * p - b / 2]])
    expected = sampled @ matrix + 100 * b / 2
    plus, minus = calibrate_pairs(Counts(expected, np.full(2, 100)), a, b, p)
    assert np.stack([plus, minus], 1) == pytest.approx(sampled, abs=1e-12)
    swapped = calibrate_pairs(Counts(expected, np.full(2, 100)), a, b, 1 - p)
    assert np.stack(swapped, 1) != pytest.approx(sampled, abs=1e-3)


def test_lost_sign_and_useless_key() -> None:
    counts = Counts(np.array([[3, 2]]), np.array([10]))
    numbers = {"padding": 1, "n_keys": 1, "correction": "none"}
    found = estimate_pckv(counts, keep_key=0.5, fake_key=0.2, keep_sign=0.5, **numbers)
    assert found.frequency == pytest.approx([1.0])
    assert np.isnan(found.mean).all()
    with pytest.raises(ValueError, match="keep_key and fake_key must differ"):
        estimate_pckv(counts, keep_key=0.5, fake_key=0.5, keep_sign=0.7, **numbers)
    with pytest.raises(ValueError, match=r"correction must be one of .* got 'both'"):
        estimate_pckv(
            counts,
            keep_key=0.5,
            fake_key=0.2,
            keep_sign=0.5,
            padding=1,
            n_keys=1,
            correction="both",
        )


def test_counts_of_two_groups_add() -> None:
    one = Counts(np.array([[1, 2]]), np.array([5]))
    both = one + Counts(np.array([[3, 0]]), np.array([4]))
    assert both.table.tolist() == [[4, 2]]
    assert both.n_reports.tolist() == [9]
    with pytest.raises(ValueError, match=r"table must have shape \(width, cells\)"):
        Counts(np.array([1, 2]), np.array([5]))


def test_squared_errors_leave_out_unknown_means() -> None:
    data = KeyValueData.from_sets([{0: 1.0}, {0: 0.0}], n_keys=2)
    mechanism = PCKVUE.from_exp_budgets(*allocation.optimised(9.0), n_keys=2, padding=1)
    counts = mechanism.simulate_counts(np.array([[2, 0], [0, 0], [0, 0]]), rng=1)
    found = mechanism.estimate(counts)
    truth = data.truth()
    frequency, mean = squared_errors(found, truth)
    assert frequency == pytest.approx(np.mean((found.frequency - [1, 0]) ** 2))
    assert mean == pytest.approx((found.mean[0] - 0.5) ** 2)
    only_second, _ = squared_errors(found, truth, np.array([1, 0])[:1] * 0)
    assert only_second == pytest.approx((found.frequency[0] - 1) ** 2)
