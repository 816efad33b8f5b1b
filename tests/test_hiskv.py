"""HISKV: every reading against enumeration and algebra, two roads, planted defects."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import sympy
from exact_counts import fit, law_of_counts
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statistical import (
    FALSE_ALARM,
    assert_plausible,
    assert_rejected,
    binomial_tail,
    goodness_of_fit,
    same_law,
)

from ldpkv import allocation, channels, hiskv, privacy, theory, trials
from ldpkv.data import KeyValueData
from ldpkv.estimation import CORRECTIONS, Counts
from ldpkv.hiskv import HISKV, LRRKV, LengthEstimate, advantage, tilted
from ldpkv.mechanisms import PCKVGRR
from ldpkv.sampling import Symbols, pad_and_sample
from ldpkv.theory import Numbers

F = Fraction
FOUR = F(4)
EXPS = (F(9, 4), F(25))  # e^epsilon, perfect squares for reading B
PRINTED = ("A", "B", "C", "D", "E")
SIZES = [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2), (4, 1), (5, 3)]
USERS = [{0: F(1)}, {0: F(1, 2), 2: F(-1)}, {1: F(-1, 2)}, {0: F(-1), 1: F(1, 5)}, {}]
GRID = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # the paper's epsilons


def make(reading: str, exp_epsilon=FOUR, n_keys: int = 3, padding: int = 2, **how) -> LRRKV:
    """One of the printed readings, or "<c> <level>" for the corrected family."""
    if reading in PRINTED:
        return LRRKV.from_exp_budgets(
            exp_epsilon, n_keys=n_keys, padding=padding, reading=reading, **how
        )
    tilt, level = reading.split()
    return LRRKV.corrected(exp_epsilon, F(tilt), n_keys=n_keys, padding=padding, level=level, **how)


ALL = (*PRINTED, "1 pair", "3/2 pair", "1/2 pair", "1 set", "3/2 set", "1/2 set")


def worst(mechanism, *, empty: bool):
    users = privacy.extreme_users(mechanism.n_keys, empty=empty)
    return privacy.worst_ratio(mechanism, users).ratio


# --- defects planted on purpose ------------------------------------------------------------------


class SwappedNumbers(LRRKV):
    """Estimate with q_1 and q_2 in each other's place."""

    @property
    def numbers(self) -> Numbers:
        key = self.p1 + self.q2
        return Numbers(key, 2 * self.q1, self.p1 / key, self.padding)


class NoLengthFactor(LRRKV):
    """Equation (6) as its remnants look: without the factor l."""

    @property
    def numbers(self) -> Numbers:
        return super().numbers._replace(padding=1)


class CollidingDummies(LRRKV):
    """Dummies with the printed ids 1 to l, which are real keys."""

    def symbol_law(self, user):
        law = super().symbol_law(user)
        fake, law[2 * self.n_keys :] = law[2 * self.n_keys :].copy(), F(0)
        law[: 2 * self.padding] += fake
        return law


class SignsTurned(HISKV):
    """The second group keeps a pair with probability q_1 and turns its sign with p_1."""

    def stage(self, padding: int) -> LRRKV:
        right = super().stage(padding)
        return dataclasses.replace(right, p1=right.q1, q1=right.p1)


def wrong_size(exp_epsilon, *, n_keys: int, padding: int) -> LRRKV:
    """Reading A with p_1 computed over 2 d cells although 2 (d + l) are reported."""
    p1 = exp_epsilon / (exp_epsilon + 2 * n_keys - 1)
    rest = (1 - p1) / (2 * (n_keys + padding) - 1)
    return LRRKV(n_keys, padding, p1, rest, rest)


def planted(kind: type, mechanism: LRRKV) -> LRRKV:
    return kind(*(getattr(mechanism, f.name) for f in dataclasses.fields(mechanism)))


# --- the numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_keys", "padding"), SIZES)
@pytest.mark.parametrize("exp", EXPS)
def test_each_reading_follows_its_rule(exp: Fraction, n_keys: int, padding: int) -> None:
    cells = 2 * (n_keys + padding)
    found = {}
    for reading in PRINTED:
        if reading == "B" and exp > (cells - 1) ** 2:
            with pytest.raises(ValueError, match="has no law at exp_epsilon so large"):
                make(reading, exp, n_keys, padding)
            continue
        m = found[reading] = make(reading, exp, n_keys, padding)
        assert m.p1 == exp / (exp + cells - 1)
        assert m.p1 + m.q1 + (cells - 2) * m.q2 == 1
        near = make(reading, float(exp), n_keys, padding)
        for name in ("p1", "q1", "q2"):
            assert getattr(near, name) == pytest.approx(float(getattr(m, name)), rel=1e-12)
    assert found["A"].q1 == found["A"].q2 == 1 / (exp + cells - 1)
    if "B" in found:
        assert (found["B"].p1 / found["B"].q1) ** 2 == exp
    assert found["C"].q1 == exp * found["C"].q2
    gap = exp * (exp - 1) / ((exp + cells - 1) * (exp + cells - 2))
    assert found["C"].p1 - found["C"].q1 == gap
    assert found["D"].q1 == (1 - found["D"].p1) / 2
    assert (found["D"].p1 < found["D"].q1) == (exp < F(cells - 1, 2))
    assert found["E"].p1 + found["E"].q1 == exp / (exp + F(cells, 2) - 1)
    for letter in "ABCE":
        if letter in found:
            assert found[letter].p1 >= found[letter].q1 >= found[letter].q2


def test_reading_b_needs_its_root_below_the_number_of_cells() -> None:
    with pytest.raises(ValueError, match="has no law"):
        make("B", F(25), 1, 1)
    make("B", F(9), 1, 1)


@pytest.mark.parametrize("level", hiskv.LEVELS)
@pytest.mark.parametrize("tilt", [F(1, 2), F(1), F(3, 2), "top"])
@pytest.mark.parametrize(("n_keys", "padding"), SIZES)
def test_corrected_family_spends_exactly_its_budget(n_keys, padding, tilt, level) -> None:
    for exp in EXPS:
        c = hiskv.largest_keep(exp, 1, padding, level=level) if tilt == "top" else tilt
        m = LRRKV.corrected(exp, c, n_keys=n_keys, padding=padding, level=level)
        assert m.q1 / m.q2 == c
        assert m.exp_epsilon(level, empty=True) == exp
        if level == "set":
            assert worst(m, empty=True) == exp


def test_corrected_family_at_one_is_pckv_grr() -> None:
    for exp, padding in itertools.product(EXPS, (1, 3)):
        pair = LRRKV.corrected(exp, n_keys=4, padding=padding)
        assert pair == make("A", exp, 4, padding)
        amplified = LRRKV.corrected(exp, n_keys=4, padding=padding, level="set")
        budgets = allocation.optimised(exp, padding)
        assert amplified.to_pckv_grr() == PCKVGRR.from_exp_budgets(
            *budgets, n_keys=4, padding=padding
        )


def test_from_epsilon_and_settings() -> None:
    m = LRRKV.from_epsilon(1.2, n_keys=5, padding=2, reading="V", tilt=2.0, level="set")
    assert m == LRRKV.corrected(math.exp(1.2), 2.0, n_keys=5, padding=2, level="set")
    m = LRRKV.from_epsilon(1.2, n_keys=5, padding=2, reading="C", send_position=True)
    assert m.send_position
    assert LRRKV.optimal(5.0, 0.5, n_keys=5, padding=2) == LRRKV.corrected(
        5.0, 1.0, n_keys=5, padding=2
    )
    heavy = LRRKV.optimal(5.0, 30.0, n_keys=5, padding=2)
    assert heavy.q1 / heavy.q2 == pytest.approx(hiskv.best_tilt(5.0, 30.0, n_cells=14))


# --- identity with PCKV-GRR ----------------------------------------------------------------------


@pytest.mark.parametrize("reading", ALL)
def test_lrrkv_is_pckv_grr(reading: str, rng: np.random.Generator) -> None:
    m = make(reading)
    twin = m.to_pckv_grr()
    assert twin.symbol_probabilities == (m.p1, m.q1, m.q2)
    assert LRRKV.from_pckv_grr(twin) == m
    assert (m.channel().weights == twin.channel().weights).all()
    assert m.channel().denominator == twin.channel().denominator
    assert all((m.symbol_law(u) == twin.symbol_law(u)).all() for u in USERS)
    assert Numbers.of(twin) == m.numbers
    counts = m.simulate_counts(np.full((m.width, 2), 30), rng=rng)
    for correction in CORRECTIONS:
        one, two = (
            m.estimate(counts, correction=correction),
            twin.estimate(counts, correction=correction),
        )
        np.testing.assert_array_equal(one.frequency, two.frequency)
        np.testing.assert_array_equal(one.mean, two.mean)
    budgets = m.budgets()
    if budgets is None:
        assert m.p1 < m.q1 or m.p1 + m.q1 < 2 * m.q2
    else:
        assert PCKVGRR.from_exp_budgets(*budgets, n_keys=3, padding=2) == twin
        assert allocation.compose_grr(*budgets, 2) == m.exp_epsilon("set")


def test_only_reading_d_leaves_pckvs_family() -> None:
    for n_keys, padding in SIZES:
        for reading in PRINTED:
            m = make(reading, F(9, 4), n_keys, padding)
            assert (m.budgets() is None) == (reading == "D" and m.p1 < m.q1)


def test_trials_share_one_draw_with_pckv(rng: np.random.Generator) -> None:
    assert LRRKV.draw is PCKVGRR.draw
    data = KeyValueData.from_sets([{0: 1.0}, {1: 0.5}] * 20, n_keys=2)
    pair = {"one": make("A", 4.0, 2, 1), "two": make("A", 4.0, 2, 1).to_pckv_grr()}
    found = trials.run_trials(data, pair, repeats=2, rng=1)
    assert found.frequency.shape == (2, 2, 2)


def test_nothing_left_of_the_sign_or_of_the_key() -> None:
    lost = LRRKV(2, 1, F(1, 6), F(1, 6), F(1, 6))
    with pytest.raises(ValueError, match="must differ"):
        lost.estimate(Counts(np.ones((3, 2), dtype=np.int64), np.full(3, 6)))
    blind = LRRKV(2, 1, F(0), F(0), F(1, 4))
    assert blind.numbers == (0, F(1, 2), F(1, 2), 1)
    assert blind.budgets() is None
    found = blind.estimate(Counts(np.full((3, 2), 2), np.full(3, 12)), correction="none")
    assert np.isnan(found.mean).all()
    assert found.frequency == pytest.approx([1 / 3] * 2)


# --- privacy -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dummies", hiskv.DUMMIES)
@pytest.mark.parametrize(("n_keys", "padding"), SIZES)
@pytest.mark.parametrize("reading", ALL)
def test_set_level_is_exactly_the_closed_form(reading, n_keys, padding, dummies) -> None:
    if reading == "B" and padding == n_keys == 1:
        return  # no law at e^epsilon = 25 with four cells: its own test
    for exp, empty in itertools.product(EXPS, (False, True)):
        m = make(reading, exp, n_keys, padding, dummies=dummies)
        found = worst(m, empty=empty)
        assert found == m.exp_epsilon("set", empty=empty)
        if n_keys > 1 or empty:  # as the formula of the notes has it
            q2, up, flip = m.q2, m.p1 - m.q2, m.q1 - m.q2
            high, low = max(up, flip, F(0)) / padding, min(up, flip, F(0)) / padding
            assert found * (q2 + low) == q2 + high or (q2 + low == 0 and found == math.inf)
        else:
            assert found <= m.exp_epsilon("set", empty=True)


@pytest.mark.parametrize("epsilon", [0.4, 1.6, 3.2])
@pytest.mark.parametrize("reading", PRINTED)
def test_set_level_in_floats(reading: str, epsilon: float) -> None:
    m = LRRKV.from_epsilon(epsilon, n_keys=5, padding=3, reading=reading)
    found = privacy.worst_ratio(m, privacy.extreme_users(5, empty=False)).epsilon
    assert found == pytest.approx(math.log(m.exp_epsilon("set")), abs=1e-12)


@pytest.mark.parametrize("dummies", hiskv.DUMMIES)
@pytest.mark.parametrize(("n_keys", "padding"), [(1, 2), (2, 1), (2, 3), (3, 2)])
@pytest.mark.parametrize("reading", ALL)
def test_the_position_costs_all_amplification(reading, n_keys, padding, dummies) -> None:
    for exp, empty in itertools.product((F(9, 4), F(9)), (False, True)):
        m = make(reading, exp, n_keys, padding, dummies=dummies, send_position=True)
        found = worst(m, empty=empty)
        assert found == m.exp_epsilon("set", empty=empty)
        if n_keys > 1 or empty:
            assert found == m.exp_epsilon("pair")
        alone = dataclasses.replace(m, send_position=False)
        if padding > 1 and found > 1:
            assert found > worst(alone, empty=empty), "planted: position sent"


def test_position_law_has_the_pair_law_as_marginal() -> None:
    for dummies, user in itertools.product(hiskv.DUMMIES, [*USERS, {0: 1, 1: F(1, 3), 2: -1}]):
        m = make("B", dummies=dummies, send_position=True)
        law = m.symbol_law(user).reshape(2, -1)
        assert law.sum(axis=1).tolist() == [F(1, 2)] * 2  # the place itself says nothing
        alone = dataclasses.replace(m, send_position=False)
        assert (law.sum(axis=0) == alone.symbol_law(user)).all()
        reports = np.array(report_law(m, user), dtype=object).reshape(2, -1)
        assert reports.sum(axis=1).tolist() == [F(1, 2)] * 2
        assert reports.sum(axis=0).tolist() == report_law(alone, user)


def test_values_inside_never_exceed_the_extremes() -> None:
    values = [F(v, 2) for v in range(-2, 3)]
    users = [{0: x} for x in values] + [{0: x, 1: y} for x in values for y in values]
    for reading, position in itertools.product(ALL, (False, True)):
        m = make(reading, n_keys=2, send_position=position)
        assert privacy.worst_ratio(m, users).ratio <= m.exp_epsilon("set")


def test_lemma1() -> None:
    """With the printed p_1 only q_1 = q_2 keeps the promise for pairs."""
    for exp, (n_keys, padding) in itertools.product(EXPS, SIZES):
        cells = 2 * (n_keys + padding)
        unit = 1 / (exp + cells - 1)
        for tilt in (F(1), F(3, 2), min(exp, F(cells - 2))):
            q2 = (1 - (exp + tilt) * unit) / (cells - 2)
            m = LRRKV(n_keys, padding, exp * unit, tilt * unit, q2)
            assert m.exp_epsilon("pair") == exp * hiskv.lemma1_excess(tilt, cells)
            assert (m.exp_epsilon("pair") > exp) == (tilt > 1)
    below = LRRKV(2, 1, F(4, 9), F(1, 18), F(1, 8))  # q_1 below 1 / (E + d' - 1) breaks it too
    assert below.exp_epsilon("pair") == 8 > 4


def test_channel_level_is_enumerated_too() -> None:
    for reading in ALL:
        weights = make(reading).channel().weights
        ratio = max(F(int(max(column)), int(min(column))) for column in weights.T)
        assert ratio == make(reading).exp_epsilon("pair")


def test_breach_in_numbers() -> None:
    """The table of readings at d' = 686 and d' = 12, and what l = 37 leaves of epsilon = 1.6."""
    pair = {"A": 1.6, "B": 1.6018, "C": 1.6058, "D": 6.528, "E": 1.6057}
    used = {"A": 0.1015, "B": 0.1017, "C": 0.1022, "D": 2.968, "E": 0.1022}
    small = {"A": (0, 0), "B": (0.131, 0.503), "C": (0.307, 1.144), "D": (0.703, 0.598)}
    small["E"] = (0.221, 0.508)
    for reading in PRINTED:
        m = LRRKV.from_epsilon(1.6, n_keys=306, padding=37, reading=reading)
        assert math.log(m.exp_epsilon("pair")) == pytest.approx(pair[reading], abs=6e-4)
        assert math.log(m.exp_epsilon("set")) == pytest.approx(used[reading], abs=6e-4)
        for epsilon, excess in zip((1.6, 3.2), small[reading], strict=True):
            m = LRRKV.from_epsilon(epsilon, n_keys=5, padding=1, reading=reading)
            assert math.log(m.exp_epsilon("pair")) - epsilon == pytest.approx(excess, abs=6e-4)


def test_smallest_rescuing_padding() -> None:
    table = {"A": [1] * 6, "B": [2] * 6, "C": [2] * 6, "E": [2] * 6}
    table["D"] = [None, None, None, None, 312, 29]
    for reading, expected in table.items():
        found = [hiskv.smallest_rescuing_padding(reading, math.exp(e), 306, most=399) for e in GRID]
        assert found == expected
    assert hiskv.smallest_rescuing_padding("C", math.exp(3.2), 5) == 3
    assert hiskv.smallest_rescuing_padding("C", F(2), 306) == 2
    # The rescue is exact: rescued at l, not at l - 1, by enumeration.
    for padding, rescued in ((2, False), (3, True)):
        m = LRRKV.from_epsilon(3.2, n_keys=5, padding=padding, reading="C")
        assert (worst(m, empty=False) <= math.exp(3.2)) == rescued


@pytest.mark.parametrize(("n_keys", "padding"), [(2, 1), (3, 2), (3, 3)])
def test_planted_grr_over_the_wrong_size_breaks_the_promise(n_keys: int, padding: int) -> None:
    for exp in EXPS:
        defect = wrong_size(exp, n_keys=n_keys, padding=padding)
        assert defect.exp_epsilon("pair") > exp
        position = dataclasses.replace(defect, send_position=True)
        assert worst(position, empty=False) > exp
        right = make("A", exp, n_keys, padding, send_position=True)
        assert worst(right, empty=False) == exp


def test_impossible_report_is_infinite() -> None:
    m = LRRKV(2, 1, F(1), F(0), F(0))
    assert m.exp_epsilon("pair") == m.exp_epsilon("set") == math.inf
    assert worst(m, empty=False) == math.inf


# --- estimation ----------------------------------------------------------------------------------


def expected_counts(mechanism: LRRKV, users: list) -> np.ndarray:
    weights, denominator = privacy.report_laws(mechanism, users)
    cells = np.array([F(int(w), denominator) for w in weights.sum(axis=0)], dtype=object)
    return cells.reshape(mechanism.width, 2)


def expected_estimates(mechanism: LRRKV, users: list) -> tuple[list, list]:
    """Exact expectation of f* and of (n_1 - n_2) l / (n delta), which are affine in the counts."""
    a, b, p, padding = mechanism.numbers
    n = len(users)
    cells = expected_counts(mechanism, users)[: mechanism.n_keys]
    frequency = [padding * (row.sum() - n * b) / (n * (a - b)) for row in cells]
    total = [padding * (row[0] - row[1]) / (n * a * (2 * p - 1)) for row in cells]
    return frequency, total


def truth(users: list, n_keys: int) -> tuple[list, list]:
    n = len(users)
    return (
        [F(sum(k in u for u in users), n) for k in range(n_keys)],
        [sum((F(u.get(k, 0)) for u in users), F(0)) / n for k in range(n_keys)],
    )


@pytest.mark.parametrize("dummies", hiskv.DUMMIES)
@pytest.mark.parametrize("padding", [2, 3])
@pytest.mark.parametrize("reading", ALL)
def test_frequency_and_total_are_exactly_unbiased(reading, padding, dummies) -> None:
    m = make(reading, padding=padding, dummies=dummies)
    assert expected_estimates(m, USERS) == truth(USERS, 3)
    for kind in (SwappedNumbers, NoLengthFactor, CollidingDummies):
        if kind is SwappedNumbers and m.q1 == m.q2:
            continue
        assert expected_estimates(planted(kind, m), USERS)[0] != truth(USERS, 3)[0], kind


@pytest.mark.parametrize("reading", ALL)
def test_estimate_is_the_affine_estimator(reading: str) -> None:
    """Equation (6) and the mean, written out, on the same counts; reading D has p_1 < q_1."""
    m = make(reading, F(9, 4))
    table = np.array([[30, 12], [9, 25], [14, 14], [8, 9], [11, 7]])
    found = m.estimate(Counts(table, np.full(5, 139)), correction="none")
    delta, gap = m.p1 - m.q1, m.p1 + m.q1 - 2 * m.q2
    for k, (n1, n2) in enumerate(table[:3].tolist()):
        frequency = F(2, 139) * (n1 + n2 - 2 * 139 * m.q2) / gap
        mean = (n1 - n2) * gap / (delta * (n1 + n2 - 2 * 139 * m.q2))
        assert found.frequency[k] == pytest.approx(float(frequency), rel=1e-12)
        assert found.mean[k] == pytest.approx(float(mean), rel=1e-9, abs=1e-12)
    if reading == "D":
        assert delta < 0


def test_clipping_keeps_estimates_in_range() -> None:
    table = np.array([[0, 40], [40, 0], [1, 0], [3, 3], [3, 3]])
    for reading, correction in itertools.product(ALL, ("paper", "code")):
        found = make(reading, F(9, 4)).estimate(
            Counts(table, np.full(5, 93)), correction=correction
        )
        assert ((found.frequency >= 1 / 93) & (found.frequency <= 1)).all()
        assert (np.abs(found.mean) <= 1 + 1e-12).all()
    assert make("D", F(9, 4)).estimate(Counts(table, np.full(5, 93))).mean[0] == 1  # sign turned


def test_mean_is_not_unbiased() -> None:
    """Exact law of three users' counts: the mean is a ratio, and its expectation is not m."""
    m = make("B", n_keys=1, padding=1)
    users = [{0: F(1)}] * 3
    weights, denominator = privacy.report_laws(m, users)
    law = law_of_counts(weights / denominator, lambda r: np.eye(4, dtype=int)[r])
    expected = 0.0
    for counts, chance in law.items():
        table = np.array(counts).reshape(2, 2)
        expected += chance * m.estimate(Counts(table, np.full(2, 3)), correction="none").mean[0]
    assert abs(expected - 1) > 0.01


# --- two roads -----------------------------------------------------------------------------------


def symbols_of(mechanism, users: list, times: int, rng) -> np.ndarray:
    """Codes of `times` independent samplings; shape (times, len(users))."""
    data = KeyValueData.from_sets(
        [{k: float(v) for k, v in u.items()} for u in users],
        n_keys=mechanism.n_keys,
        allow_empty=True,
    ).take_users(np.tile(np.arange(len(users)), times))
    return mechanism.symbols(mechanism.draw(data, rng=rng)).codes.reshape(times, -1)


@pytest.mark.parametrize("dummies", hiskv.DUMMIES)
def test_symbols_have_their_law(dummies: str, rng: np.random.Generator) -> None:
    """Both dummy conventions; the other one is the twin that must be seen."""
    m = make("B", n_keys=2, padding=3, dummies=dummies)
    twin = dataclasses.replace(m, dummies=hiskv.DUMMIES[dummies == "random"])
    for user in ({}, {0: F(1, 2)}, {0: F(-1, 3), 1: 1}):
        codes = symbols_of(m, [user], 100_000, rng).ravel()
        seen = np.bincount(codes, minlength=m.n_cells)
        assert_plausible(goodness_of_fit(seen, m.symbol_law(user).astype(float)))
        if user:
            assert_rejected(goodness_of_fit(seen, twin.symbol_law(user).astype(float)))


@pytest.mark.parametrize("reading", ["B", "D", "3/2 set", "1/2 pair"])
def test_both_roads_have_the_exact_joint_law(reading: str, rng: np.random.Generator) -> None:
    """Joint counts of all cells, sampling included; false alarm 1e-9 each, four twins."""
    m = make(reading, F(9), n_keys=2, padding=2)
    users, times = [{0: F(1)}, {0: F(-1, 2), 1: F(1)}], 30_000
    codes = symbols_of(m, users, times, rng)
    reports = m.perturb(Symbols(codes.ravel(), m.width, 2), rng=rng).reshape(times, -1)
    literal = np.stack([(reports == cell).sum(axis=1) for cell in range(4)], axis=1)
    counted = np.stack(
        [
            m.simulate_counts(Symbols(row, m.width, 2).table(), rng=rng).table[:2].ravel()
            for row in symbols_of(m, users, times, rng)
        ]
    )

    def law(mechanism):
        weights, denominator = privacy.report_laws(mechanism, users)
        return law_of_counts(weights / denominator, lambda r: np.eye(m.n_cells, dtype=int)[r][:4])

    right = law(m)
    assert_plausible(fit(right, literal), "literal")
    assert_plausible(fit(right, counted), "counted")
    swapped = dataclasses.replace(m, q1=m.q2, p1=1 - m.q2 - (m.n_cells - 2) * m.q2)
    twins = {
        "q1 takes the place of q2": swapped,
        "p1 and q1 swapped": dataclasses.replace(m, p1=m.q1, q1=m.p1),
        "p1 over the wrong size": wrong_size(F(9), n_keys=2, padding=2),
        "dummies collide": planted(CollidingDummies, m),
    }
    for name, twin in twins.items():
        assert_rejected(fit(law(twin), literal), f"{name}, literal")
        assert_rejected(fit(law(twin), counted), f"{name}, counted")


def test_counted_road_alone_is_counted() -> None:
    m = make("C", 4.0)
    counts = m.simulate_counts(np.full((5, 2), 10), rng=1)
    assert counts.table.sum() == 100
    assert (counts.n_reports == 100).all()


# --- Theorems 4 and 5 ----------------------------------------------------------------------------


def exact_variance(laws: list, values: list) -> Fraction:
    """Variance of a sum of independent terms, each with a law over common values."""
    total = F(0)
    for law in laws:
        first = sum((p * v for p, v in zip(law, values, strict=True)), F(0))
        total += sum((p * v * v for p, v in zip(law, values, strict=True)), F(0)) - first**2
    return total


def report_law(mechanism, user) -> list:
    weights, denominator = privacy.report_laws(mechanism, [user])
    return [F(int(w), denominator) for w in weights[0]]


@pytest.mark.parametrize("reading", ALL)
def test_theorem4_versions_by_enumeration(reading: str) -> None:
    m = make(reading, padding=2)
    a, b, _, padding = m.numbers
    support = [int(cell // 2 == 0) for cell in range(m.n_cells)]
    scale = padding / (a - b)
    laws = [report_law(m, user) for user in USERS]
    n, f = len(USERS), F(3, 5)
    fixed = scale**2 * exact_variance(laws, support) / n**2
    assert hiskv.theorem4(m.numbers, f, n, version="b") == fixed
    # (a): of 10 users, 3 sampled the key, as 6 holders do on average.
    channel = m.channel()
    rows = [[F(int(w), channel.denominator) for w in row] for row in channel.weights]
    sampled = [rows[0], rows[0], rows[1]] + [rows[2]] * 7
    given_pairs = scale**2 * exact_variance(sampled, support) / 100
    assert hiskv.theorem4(m.numbers, f, 10, version="a") == given_pairs
    # (c): each user is one of the five, at random.
    mixture = [sum(column) / n for column in zip(*laws, strict=True)]
    iid = scale**2 * exact_variance([mixture], support) / n
    assert hiskv.theorem4(m.numbers, f, n, version="c") == iid
    # split: every group of 2 of the 5.
    estimates = []
    within = F(0)
    groups = list(itertools.combinations(range(n), 2))
    for group in groups:
        part = [laws[u] for u in group]
        within += scale**2 * exact_variance(part, support) / 4
        supports = sum(p * s for law in part for p, s in zip(law, support, strict=True))
        estimates.append(scale * (supports / 2 - b))
    centre = sum(estimates) / len(groups)
    assert centre == f
    total = (within + sum((e - centre) ** 2 for e in estimates)) / len(groups)
    assert hiskv.theorem4(m.numbers, f, 2, version="split", n_total=n) == total


@pytest.mark.parametrize("reading", ALL)
def test_theorem5_moments_by_enumeration(reading: str) -> None:
    m = make(reading)
    channel = m.channel()
    rows = [[F(int(w), channel.denominator) for w in row] for row in channel.weights]
    users = [rows[0]] * 3 + [rows[1]] + [rows[5]] * 4
    signs = [1, -1] + [0] * (m.n_cells - 2)
    support = [abs(s) for s in signs]
    n = len(users)
    found = hiskv.moments_sampled(m.numbers, 3, 1, n)
    mean = [sum(p * s for u in users for p, s in zip(u, v, strict=True)) for v in (support, signs)]
    var_s, var_r = exact_variance(users, support), exact_variance(users, signs)
    both = exact_variance(users, [s + t for s, t in zip(support, signs, strict=True)])
    assert found.support == mean[0] / n
    assert found.difference == mean[1] / n
    assert found.support_variance == var_s / n**2
    assert found.difference_variance == var_r / n**2
    assert found.covariance == (both - var_s - var_r) / 2 / n**2
    # The surviving tail of the printed covariance.
    p1, q1, q2 = m.p1, m.q1, m.q2
    tail = (p1 - q2) * (1 - p1 - q2) - (q1 - q2) * (1 - q1 - q2)
    assert found.covariance == 2 * tail / n**2
    # Equation (12).
    ratio = mean[1] / (mean[0] - 2 * n * q2)
    spread = (found.difference_variance - 2 * ratio * found.covariance) * n**2
    spread += ratio**2 * found.support_variance * n**2
    gap = (p1 + q1 - 2 * q2) / (p1 - q1)
    variance = gap**2 * spread / (mean[0] - 2 * n * q2) ** 2
    limit, _, first_order = theory.mean_first_order(m.numbers, found)
    assert first_order == variance
    assert limit == F(1, 2)


def test_theorem5_in_closed_form() -> None:
    """Users i.i.d., V(c): the printed pieces add up to the form in s = E + c - 2 (sympy)."""
    keep, c, cells, x, m = sympy.symbols("keep c cells x m", positive=True)
    s = keep + c - 2
    numbers = tilted(keep, c, cells / 2 - 1, 1)
    variance = theory.mean_variance_printed(numbers, x, m, 1)
    form = (s + cells) * (2 + x * s) / (x**2 * (keep - c) ** 2) - m**2
    form += m**2 * ((1 - x) / x + (cells - 2) / (x * s)) * (2 / (x * s) - 1)
    assert sympy.simplify(variance - form) == 0
    bias = theory.mean_bias(numbers, x, m, 1)
    q2, gap = numbers.fake_key / 2, numbers.keep_key - numbers.fake_key
    support = 2 * q2 + x * gap
    assert sympy.simplify(bias - 2 * q2 * (1 - support) / (x * gap) ** 2 * m) == 0


def test_equation_6_is_the_likelihoods_only_root() -> None:
    f, padding, a, b, hits, n = sympy.symbols("f padding a b hits n", positive=True)
    chance = f / padding * a + (1 - f / padding) * b
    score = sympy.diff(hits * sympy.log(chance) + (n - hits) * sympy.log(1 - chance), f)
    roots = sympy.solve(sympy.numer(sympy.together(score)), f)
    assert len(roots) == 1
    assert sympy.simplify(roots[0] - padding / n * (hits - n * b) / (a - b)) == 0


# --- Theorems 6 and 7 ----------------------------------------------------------------------------


@pytest.mark.parametrize("reading", ["A", "B", "C", "D", "1/2 set"])
def test_theorem6_holds_exactly(reading: str) -> None:
    """Coverage from the exact binomial law; a bound a third as wide does not hold."""
    m = make(reading, 4.0, n_keys=20, padding=3)
    a, b, _, padding = m.numbers
    for f, n, eta in itertools.product((0.02, 0.3, 1.0), (50, 2000), (0.05, 1e-3)):
        bound = float(hiskv.frequency_deviation(m.numbers, f, n, eta))
        hits = np.arange(n + 1)
        error = np.abs(padding * (hits / n - b) / (a - b) - f)
        law = stats.binom.pmf(hits, n, b + (a - b) * f / padding)
        assert law[error > bound].sum() <= eta
        assert law[error > bound / 3].sum() > eta or n == 50


@pytest.mark.parametrize("reading", ["A", "B", "D"])
def test_theorem7_holds(reading: str, rng: np.random.Generator) -> None:
    """One-sided exact binomial check at 1e-9; an eighth of the bound is refused."""
    m = make(reading, 9.0, n_keys=4, padding=1)
    numbers, f, mean, n, eta, times = m.numbers, 0.5, 0.4, 20_000, 0.05, 20_000
    bound = float(hiskv.mean_deviation(numbers, f, mean, n, eta))
    assert bound < 1
    moments = theory.moments_iid(numbers, f, mean, n)
    law = [(moments.support + s * moments.difference) / 2 for s in (1, -1)]
    counts = rng.multinomial(n, [*law, 1 - sum(law)], size=times)[:, :2]
    a, b, p, _ = numbers
    estimate = (counts[:, 0] - counts[:, 1]) * (a - b) / (a * (2 * p - 1))
    estimate = estimate / (counts.sum(axis=1) - n * b)
    error = np.abs(estimate - mean)
    assert stats.binom.sf((error > bound).sum() - 1, times, eta) >= FALSE_ALARM
    assert stats.binom.sf((error > bound / 8).sum() - 1, times, eta) < FALSE_ALARM


def test_theorem7_needs_enough_users() -> None:
    numbers = make("B", 4.0, n_keys=100, padding=10).numbers
    needed = float(hiskv.mean_deviation_users(numbers, 0.1, 0.05))
    assert hiskv.mean_deviation(numbers, 0.1, 0.5, needed * 0.999, 0.05) == np.inf
    assert np.isfinite(hiskv.mean_deviation(numbers, 0.1, 0.5, needed * 1.001, 0.05))
    many = hiskv.mean_deviation(numbers, np.array([0.1, 0.2]), 0.5, needed * 2, 0.05)
    assert many[0] > many[1]


def test_rate_of_theorem6() -> None:
    """Without amplification the bound is a bounded multiple of the rate over the paper's range."""
    ratios = []
    for epsilon, n_keys, padding, tilt in itertools.product(
        (0.1, 0.4, 0.8), (50, 300), (1, 10, 40), (1.0, "root")
    ):
        c = math.exp(epsilon / 2) if tilt == "root" else tilt
        numbers = tilted(math.exp(epsilon), c, n_keys, padding)
        n = 10**7
        bound = float(hiskv.frequency_deviation(numbers, 0.01, n, 0.05))
        ratios.append(bound / float(hiskv.deviation_rate(epsilon, n_keys, padding, n, 0.05)))
    assert 0.5 < min(ratios) < max(ratios) < 3


# --- Theorems A and B ----------------------------------------------------------------------------


def test_theorem_a() -> None:
    """sympy: the form in s, falling in c, at most a factor 4 on [1, E^]."""
    keep, c, cells, x = sympy.symbols("keep c cells x", positive=True)
    s = keep + c - 2
    numbers = tilted(keep, c, cells / 2 - 1, 1)
    iid = theory.frequency_variance(numbers, x, 1, users="iid")
    assert sympy.simplify(iid - (2 / s + x) * ((cells - 2) / s + 1 - x)) == 0
    # Versions (b) and (a) take away constants in s; all coefficients in 1 / s stay >= 0.
    t, more = sympy.symbols("t more", positive=True)
    for version in ("a", "b", "c"):
        variance = hiskv.theorem4(numbers, x, 1, version=version)
        in_t = sympy.simplify(variance.subs(keep, 1 / t - c + 2))
        coefficients = sympy.Poly(sympy.expand(in_t), t).all_coeffs()[::-1]
        assert len(coefficients) == 3
        # x in (0, 1] and d' >= 4
        for coefficient in coefficients:
            shifted = sympy.expand(coefficient.subs(cells, 4 + more))
            shifted = sympy.factor(shifted.subs(x, 1 / (1 + t)))
            top = sympy.Poly(sympy.numer(sympy.together(shifted)), more, t)
            assert all(k >= 0 for k in top.coeffs()), (version, coefficient)
    # s at c = E^ over s at c = 1 is 2.
    assert sympy.simplify(s.subs(c, keep) / s.subs(c, 1)) == 2


def test_theorem_a_in_numbers() -> None:
    for epsilon, top, root in ((0.1, 4.0, 2.21), (0.8, 3.99, 1.96), (1.6, 3.98, 1.71)):
        keep = math.exp(epsilon)
        one = tilted(keep, 1.0, 306, 37)
        found = advantage(tilted(keep, keep, 306, 37), one)
        assert found.frequency == pytest.approx(top, abs=0.006)
        assert found.frequency == pytest.approx(4 * (keep + 683) / (2 * keep + 682), rel=1e-12)
        assert found.mean == 0  # the sign is lost
        assert advantage(tilted(keep, math.sqrt(keep), 306, 37), one).frequency == pytest.approx(
            root, abs=0.006
        )


def test_theorem_b() -> None:
    """sympy: the mean's first-order variance has a positive slope in c on [1, E^).

    Everywhere on c >= 1, u = E^ - c > 0, d' >= 4, 0 < x <= 1, at m^2 = 0 and m^2 = 1 (it is linear
    in m^2): the slope's numerator has non-negative coefficients only.
    """
    keep, c, cells, x, square = sympy.symbols("keep c cells x square", positive=True)
    u, k, more, y = sympy.symbols("u k more y", positive=True)
    numbers = tilted(keep, c, cells / 2 - 1, 1)
    variance = theory.mean_variance_printed(numbers, x, sympy.sqrt(square), 1)
    slope = sympy.together(sympy.diff(variance, c))
    for end in (0, 1):
        inside = slope.subs(square, end).subs(
            {keep: u + 1 + k, c: 1 + k, cells: 4 + more, x: 1 / (1 + y)}, simultaneous=True
        )
        top, bottom = sympy.fraction(sympy.cancel(sympy.together(inside)))
        top, bottom = sympy.Poly(top, u, k, more, y), sympy.Poly(bottom, u, k, more, y)
        sign = 1 if bottom.coeffs()[0] > 0 else -1
        assert all(sign * coefficient > 0 for coefficient in bottom.coeffs())
        assert all(sign * coefficient > 0 for coefficient in top.coeffs())


def test_below_one_is_worse_for_both() -> None:
    """c < 1: the frequency by algebra, the mean by a scan over x <= 1 / l."""
    for level, epsilon, n_keys, padding in itertools.product(
        hiskv.LEVELS, (0.1, 0.8, 3.2), (1, 10, 300), (1, 2, 10, 40)
    ):
        exp = math.exp(epsilon)
        tilts = np.linspace(0.05, 1, 39)
        keeps = np.array([hiskv.largest_keep(exp, float(c), padding, level=level) for c in tilts])
        useful = keeps + tilts > 2.0  # Delta > 0
        if level == "set":
            assert (np.diff(keeps + tilts) > 0).all()
        numbers = tilted(keeps[useful], tilts[useful], n_keys, padding)
        for f, m in itertools.product((0.01, 0.3, 1.0), (0.0, 0.5, 1.0)):
            mean = theory.mean_variance_printed(numbers, f, m, 1)
            frequency = theory.frequency_variance(numbers, f, 1, users="iid")
            assert (frequency >= frequency[-1] * (1 - 1e-12)).all()
            assert (mean >= mean[-1] * (1 - 1e-12)).all()


@given(
    st.floats(0.05, 5),
    st.floats(0, 1),
    st.integers(1, 500),
    st.integers(1, 50),
    st.floats(1e-3, 1),
    st.floats(-1, 1),
)
def test_theorems_by_scan(epsilon, part, n_keys, padding, f, m) -> None:
    for keep in (math.exp(epsilon), allocation.amplified(math.exp(epsilon), padding)):
        tilt = 1 + part * (keep - 1) * 0.999
        gain = advantage(
            tilted(keep, tilt, n_keys, padding),
            tilted(keep, 1.0, n_keys, padding),
            frequency=f,
            mean=m,
        )
        assert 1 - 1e-9 <= gain.frequency <= 4 + 1e-9
        assert gain.mean <= 1 + 1e-9


def test_no_reading_beats_pckv_grr_fairly() -> None:
    """Equal true epsilon and padding: at most 4 in frequency, at most 1 in mean."""
    for level, reading, epsilon, (n_keys, padding) in itertools.product(
        hiskv.LEVELS, PRINTED, GRID, [(306, 37), (442, 10), (100, 10), (5, 2)]
    ):
        m = LRRKV.from_epsilon(epsilon, n_keys=n_keys, padding=padding, reading=reading)
        rival = hiskv.fair_rival(m, level)
        assert LRRKV.from_pckv_grr(rival).exp_epsilon(level, empty=True) == pytest.approx(
            m.exp_epsilon(level, empty=True), rel=1e-9
        )
        for f, mean in ((None, 0.0), (0.1, 0.6), (1.0, 1.0)):
            gain = advantage(m.numbers, Numbers.of(rival), frequency=f, mean=mean)
            assert gain.frequency <= 4 + 1e-6
            assert gain.mean <= 1 + 1e-6


def test_fair_rival_with_position_gets_no_credit_either() -> None:
    m = make("B", 4.0, send_position=True)
    assert hiskv.fair_rival(m, "set") == hiskv.fair_rival(m, "pair")


def test_best_tilt() -> None:
    """The closed form is the limit; the numeric one is a minimum on a grid."""
    for keep, weight, square in itertools.product((1.2, 5.0, 25.0), (2.0, 10.0, 500.0), (0, 1.0)):
        limit = hiskv.best_tilt(keep, weight, square)
        far = hiskv.best_tilt(keep, weight, square, n_cells=10**9)
        assert far == pytest.approx(limit, rel=1e-4)
        for cells in (8, 686):
            found = hiskv.best_tilt(keep, weight, square, n_cells=cells)
            grid = np.linspace(1, keep, 4001)[:-1]
            objective = theory.objective(tilted(keep, grid, cells // 2 - 1, 1), weight + square)
            best = theory.objective(tilted(keep, found, cells // 2 - 1, 1), weight + square)
            assert best <= objective.min() * (1 + 1e-9)
    for weight, square in ((0.0, 1.0), (0.75, 0.25), (1.0, 0.0)):
        assert hiskv.best_tilt(20.0, weight, square, n_cells=8) == 1.0
    # f^2 + m^2 <= 1: the plain sum of the two errors never asks for a tilt.
    assert hiskv.best_tilt(20.0, 0.3**2, 0.9**2) == 1.0


def test_what_could_have_made_the_printed_factors() -> None:
    rows = hiskv.printed_factors(GRID, n_keys=306, padding=37)
    assert len(rows) == 3 * 4 * 6
    table = {(r.rival, r.reading, r.epsilon): (r.frequency, r.mean) for r in rows}
    for key, expected in {
        ("naive", "B", 1.6): (4.02, 2.34),
        ("naive", "B", 0.8): (2.75, 1.40),
        ("naive", "B", 0.2): (2.17, 1.00),
        ("naive", "A", 1.6): (2.34, 4.91),
        ("optimised", "A", 1.6): (0.9, 0.9),
        ("optimised", "C", 1.6): (3.61, 0.0),
    }.items():
        assert table[key] == pytest.approx(expected, abs=0.006)
    assert all(r.frequency < 0.1 for r in rows if r.rival == "amplified")
    # c = 1, unamplified against amplified, in closed form: l^2 (D + E - 3) / (D + E_l - 3).
    keep = math.exp(1.6)
    lifted = allocation.amplified(keep, 37)
    ratio = 37**2 * (686 + keep - 3) / (686 + lifted - 3)
    assert 0.9 / table["amplified", "A", 1.6][0] == pytest.approx(ratio, rel=1e-9)


def test_advantage_takes_arrays() -> None:
    keep = np.array([2.0, 3.0])
    found = advantage(tilted(keep, keep, 5, 2), tilted(keep, 1.0, 5, 2), group_share=0.5)
    assert found.mean.tolist() == [0.0, 0.0]
    assert (found.frequency > 0.5).all()


# --- OETL ----------------------------------------------------------------------------------------


LENGTHS = [1, 3, 3]


def brute_force_law(stage: LengthEstimate, lengths: list) -> dict:
    """First passage over every tuple of reports, with the formulas written out again."""
    first, size, n = stage.shortest, stage.n_lengths, len(lengths)
    p, q = stage.keep_length, stage.fake_length
    law: dict[int, Fraction] = {}
    for reports in itertools.product(range(first, first + size), repeat=n):
        chance = math.prod(
            (p if r == t else q for r, t in zip(reports, lengths, strict=True)), start=F(1)
        )
        path = F(0)
        for length in range(first, first + size):
            path += (reports.count(length) - n * q) / (p - q)
            if path > stage.share * n or (path == stage.share * n and not stage.strict):
                break
        law[max(1, length)] = law.get(max(1, length), F(0)) + chance
    return law


@pytest.mark.parametrize("empty", hiskv.EMPTY)
def test_first_passage_law(empty: str) -> None:
    for exp, strict, share in itertools.product(
        (F(3, 2), F(8)), (False, True), (F(9, 10), F(1, 3), F(2, 3))
    ):
        stage = LengthEstimate.from_exp_budgets(
            exp, n_keys=3, empty=empty, strict=strict, share=share
        )
        lengths = [0, *LENGTHS] if empty == "own" else LENGTHS
        law = stage.law(lengths)
        assert sum(law.values()) == 1
        assert law == dict(sorted(brute_force_law(stage, lengths).items()))
    # Noise alone stops the path early although two of three lists have 3 pairs.
    assert law[1] > 0


def test_first_passage_of_one_user_by_hand() -> None:
    stage = LengthEstimate.from_exp_budgets(F(3), n_keys=2)
    assert stage.law([1]) == {1: F(3, 4), 2: F(1, 4)}
    assert stage.law([2]) == {1: F(1, 4), 2: F(3, 4)}


def test_strictness_shows_where_the_path_meets_the_share() -> None:
    """e^epsilon = 3, d = 2: path after one of two reports is (1 - 1/2) / (1/2) = 1 = n / 2."""
    counts = Counts(np.array([[1], [1]]), np.array([2, 2]))
    for strict, expected in ((False, 1), (True, 2)):
        stage = LengthEstimate.from_exp_budgets(F(3), n_keys=2, share=F(1, 2), strict=strict)
        assert stage.choose(counts) == expected


@pytest.mark.parametrize("road", ["counted", "literal"])
def test_chosen_length_has_its_exact_law(road: str, rng: np.random.Generator) -> None:
    stage = LengthEstimate.from_exp_budgets(F(3), n_keys=3)
    law = stage.law(LENGTHS)
    chosen = Counter(
        stage.choose(stage.counts(np.array(LENGTHS), rng=rng, road=road)) for _ in range(20_000)
    )
    seen = np.array([chosen[length] for length in law])
    assert_plausible(goodness_of_fit(seen, np.array([float(x) for x in law.values()])))
    swapped = dataclasses.replace(
        stage, keep_length=stage.fake_length, fake_length=(1 - stage.fake_length) / 2
    )
    wide = LengthEstimate.from_exp_budgets(F(3), n_keys=4)
    wrong = dataclasses.replace(
        stage, keep_length=wide.keep_length, fake_length=(1 - wide.keep_length) / 2
    )
    for name, twin in {"p and q swapped": swapped, "GRR over d + 1": wrong}.items():
        other = twin.law(LENGTHS)
        other = np.array([float(other.get(length, 0)) for length in law])
        assert_rejected(goodness_of_fit(seen, other), name)


@pytest.mark.parametrize("empty", hiskv.EMPTY)
def test_length_counts_are_exactly_unbiased(empty: str) -> None:
    stage = LengthEstimate.from_exp_budgets(F(5), n_keys=4, empty=empty)
    lengths = np.array([1, 3, 3, 4] if empty == "refuse" else [0, 1, 3, 3, 4])
    codes = stage.symbols(lengths).codes
    channel = stage.channel()
    expected = channel.weights[codes].sum(axis=0) / F(channel.denominator)
    n = len(lengths)
    p, q = stage.keep_length, stage.fake_length
    true = np.bincount(codes, minlength=stage.n_lengths).tolist()
    assert [(c - n * q) / (p - q) for c in expected] == true
    counts = stage.counts(lengths, rng=1)
    assert stage.unbiased(counts).sum() == n  # identically
    near = LengthEstimate.from_exp_budgets(5.0, n_keys=4, empty=empty)
    assert near.unbiased(counts) == pytest.approx(stage.unbiased(counts).astype(float))
    # Planted: probabilities over one category too many.
    wrong_p, wrong_q = channels.grr_probabilities(F(5), stage.n_lengths + 1)
    assert [(c - n * wrong_q) / (wrong_p - wrong_q) for c in expected] != true


def test_length_variance_by_enumeration() -> None:
    exp, lengths = F(5), np.array([1, 3, 3, 4])
    stage = LengthEstimate.from_exp_budgets(exp, n_keys=4)
    channel = stage.channel()
    rows = [
        [F(int(w), channel.denominator) for w in channel.weights[code]]
        for code in stage.symbols(lengths).codes
    ]
    gap = stage.keep_length - stage.fake_length
    covered, deviation = stage.path(lengths)
    assert covered.tolist() == [0.25, 0.25, 0.75, 1.0]
    for category in range(4):
        alone = [int(t == category) for t in range(4)]
        up_to = [int(t <= category) for t in range(4)]
        true = int((lengths == category + 1).sum())
        found = hiskv.length_count_variance(exp, 4, true, 4)
        assert found == exact_variance(rows, alone) / gap**2
        if true == 0:
            assert found == 4 * (exp + 4 - 2) / (exp - 1) ** 2  # as printed
        variance = exact_variance(rows, up_to) / gap**2 / 16
        assert deviation[category] == pytest.approx(math.sqrt(variance), abs=1e-12)
    assert stage.path(lengths, 400)[1] == pytest.approx(deviation / 10)


def test_oetl_noise_in_numbers() -> None:
    """Noise of one bin as a share of the group: n = 60,822, beta = 0.1, d = 306."""
    n = 6082
    found = [math.sqrt(hiskv.length_count_variance(math.exp(e), 306, 0, n)) / n for e in GRID]
    assert found == pytest.approx([2.13, 1.01, 0.456, 0.183, 0.057, 0.010], rel=0.02)


@pytest.mark.parametrize("empty", hiskv.EMPTY)
def test_theorem1_on_sets(empty: str) -> None:
    for exp in EXPS:
        stage = LengthEstimate.from_exp_budgets(exp, n_keys=3, empty=empty)
        users = list(privacy.extreme_users(3, empty=empty != "refuse"))
        assert privacy.worst_ratio(stage, users).ratio == exp


def test_empty_sets_at_oetl() -> None:
    refuse, one, own = (
        LengthEstimate.from_exp_budgets(F(4), n_keys=3, empty=empty) for empty in hiskv.EMPTY
    )
    with pytest.raises(ValueError, match=r"lie in 1 .. 3, user 1 has 0; see `empty`"):
        refuse.symbols(np.array([2, 0]))
    assert one.symbols(np.array([2, 0])).codes.tolist() == [1, 0]
    assert own.symbols(np.array([2, 0])).codes.tolist() == [2, 0]
    assert own.n_lengths == 4
    # Everybody empty: the path may stop at length 0, and l is 1 all the same.
    everybody = own.law([0, 0])
    assert min(everybody) == 1
    assert everybody[1] > F(1, 2)
    with pytest.raises(ValueError, match=r"lie in 1 .. 3, user 0 has 4$"):
        refuse.symbols(np.array([4]))


def test_length_estimate_of_data() -> None:
    data = KeyValueData.from_sets([{0: 1.0}] * 89 + [{0: 1.0, 1: 0.0, 2: -1.0}] * 11, n_keys=5)
    for road in ("counted", "literal"):
        assert hiskv.length_estimate(data, 30.0, rng=1, road=road) == 3
        assert hiskv.length_estimate(data, 30.0, rng=1, road=road, share=0.8) == 1


# --- HISKV ---------------------------------------------------------------------------------------


def collection(users: list, times: int, how: HISKV, road: str, rng) -> np.ndarray:
    """Rows of (l, n_1 + n_2, n_1 - n_2) of key 0, read back from unclipped estimates."""
    data = KeyValueData.from_sets(users, n_keys=how.n_keys)
    rows = []
    for _ in range(times):
        found = how.collect(data, rng=rng, road=road, correction="none")
        a, b, p, padding = (float(x) for x in how.stage(found.padding).numbers)
        n, estimates = found.n_pair_users, found.estimates
        support = n * (b + (a - b) * estimates.frequency[0] / padding)
        sign = n * a * (2 * p - 1) * estimates.total[0] / padding
        rows.append([padding, round(support), round(sign)])
        assert abs(support - rows[-1][1]) < 1e-6
    return np.array(rows)


@pytest.mark.parametrize("reading", ["B", "D"])
def test_hiskv_roads_agree(reading: str, rng: np.random.Generator) -> None:
    """The chosen length with the joint counts; three twins must be seen."""
    users = [{0: 1.0}] * 12 + [{0: -0.5, 1: 1.0}] * 8
    how = HISKV(3, F(9), reading, group_share=F(3, 10))
    literal = collection(users, 2000, how, "literal", rng)
    assert_plausible(same_law(literal, collection(users, 2000, how, "counted", rng)))
    for name, twin in {
        "another share of users": dataclasses.replace(how, group_share=F(1, 2)),
        "another percentile": dataclasses.replace(how, share=F(1, 2)),
        "signs turned": SignsTurned(3, F(9), reading, group_share=F(3, 10)),
    }.items():
        assert_rejected(same_law(literal, collection(users, 2000, twin, "counted", rng)), name)


@pytest.mark.parametrize("road", ["counted", "literal"])
def test_hiskv_divides_by_the_second_group(road: str, rng: np.random.Generator) -> None:
    """Exact binomial tail of the key's support; the twin forgets 1 / (1 - beta)."""
    how = HISKV(2, F(9), "B", group_share=F(1, 4))
    data = KeyValueData.from_sets([{0: 1.0}] * 200, n_keys=2)
    supports, forgotten, users = Counter(), Counter(), Counter()
    for _ in range(400):
        found = how.collect(data, rng=rng, road=road, correction="none")
        assert (found.n_length_users, found.n_pair_users) == (50, 150)
        assert found.lengths.sum() == pytest.approx(50)
        a, b, _, padding = how.stage(found.padding).numbers
        for counter, scale in ((supports, 1.0), (forgotten, 0.75)):
            share = float(b) + float(a - b) * scale * found.estimates.frequency[0] / padding
            counter[padding] += round(150 * share)
        users[padding] += 150
    for padding, n in users.items():
        a, b, _, _ = (float(x) for x in how.stage(padding).numbers)
        chance = b + (a - b) / padding  # f = 1
        assert_plausible(binomial_tail(supports[padding], n, chance))
    often = users.most_common(1)[0][0]
    a, b, _, _ = (float(x) for x in how.stage(often).numbers)
    assert_rejected(
        binomial_tail(forgotten[often], users[often], b + (a - b) / often), "1 / (1 - beta)"
    )


def test_first_group_is_drawn_without_replacement(rng: np.random.Generator) -> None:
    """Everybody is in the first group equally often, and the groups part the users."""
    how = HISKV(3, F(10**9), "A", group_share=F(1, 2))
    data = KeyValueData.from_sets([{0: 1.0}, {0: 1.0, 1: 1.0}, {2: 1.0}, {0: 0.0}], n_keys=3)
    long = 0
    for _ in range(3000):
        found = how.collect(data, rng=rng)
        assert found.lengths.sum() == pytest.approx(2)
        long += round(found.lengths[1]) == 1  # nearly no noise: user 1 sent its length
    assert_plausible(binomial_tail(long, 3000, 0.5))


def test_shared_draws_give_the_same_as_collect() -> None:
    how = HISKV(3, 4.0, "B")
    data = KeyValueData.from_sets([{0: 1.0}, {0: 0.5, 1: 1.0}, {2: -1.0}] * 20, n_keys=3)
    rng, twin = np.random.default_rng(5), np.random.default_rng(5)
    one = how.collect(data, rng=rng)
    two = how.collect_draws(pad_and_sample(data, rng=twin), rng=twin)
    assert one.padding == two.padding
    np.testing.assert_array_equal(one.estimates.mean, two.estimates.mean)


def test_group_sizes() -> None:
    how = HISKV(3, 4.0, "A")
    assert [how.group_size(n) for n in (2, 10, 60_822, 1_000_000)] == [1, 1, 6082, 100_000]
    assert dataclasses.replace(how, group_share=0.99).group_size(2) == 1
    with pytest.raises(ValueError, match="n_users must be at least 2"):
        how.group_size(1)


def test_composition_is_parallel() -> None:
    how = HISKV(5, F(4), "V", tilt=F(2), level="set")
    found = how.composition(3)
    assert found == (4, 4, 4, 16)
    printed = HISKV(5, F(25), "C")
    assert printed.composition(1).parallel > 25  # over budget
    assert printed.composition(1).parallel == printed.composition(1).pairs
    assert printed.composition(3).parallel == 25 > printed.composition(3).pairs
    assert printed.composition(3, level="pair").pairs == printed.stage(1 + 2).exp_epsilon("pair")
    assert dataclasses.replace(printed, empty="own").composition(2).lengths == 25


@pytest.mark.parametrize("reading", ["A", "C", "D", "V"])
def test_whole_protocol_by_enumeration(reading: str) -> None:
    """Two users, every transcript (who is first, length report, pair report): the ratio is max."""
    tilt, level = (F(2), "set") if reading == "V" else (1, "pair")
    how = HISKV(2, F(4), reading, group_share=F(1, 2), tilt=tilt, level=level)
    lengths = how.length_stage
    other = {0: 1}

    def transcripts(user) -> list:
        law = []
        for first, second in ((user, other), (other, user)):
            for report in range(2):
                table = np.eye(2, dtype=np.int64)[report][:, None]
                chosen = lengths.choose(Counts(table, np.array([1, 1])))
                weights, denominator = privacy.report_laws(lengths, [first])
                sent = F(int(weights[0, report]), denominator) / 2
                law += [sent * chance for chance in report_law(how.stage(chosen), second)]
        return law

    laws = [transcripts(user) for user in privacy.extreme_users(2, empty=False)]
    assert all(sum(law) == 1 for law in laws)
    ratio = max(max(column) / min(column) for column in zip(*laws, strict=True))
    assert ratio == max(how.composition(padding).parallel for padding in (1, 2))
    assert ratio < how.composition(1).sequential


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"epsilon": 0}, ValueError, "epsilon must be a finite number above 0"),
        ({"epsilon": math.nan}, ValueError, "epsilon must be a finite number above 0"),
        ({"epsilon": "1"}, TypeError, "epsilon must be a finite number above 0"),
        ({"n_keys": 0}, ValueError, "n_keys must be an integer of at least 1, got 0"),
        ({"padding": 0}, ValueError, "padding must be an integer of at least 1, got 0"),
        ({"padding": 1.5}, TypeError, "padding must be an integer"),
        ({"reading": "F"}, ValueError, "reading must be one of"),
        ({"tilt": 2}, ValueError, "tilt and level belong to reading 'V'"),
        ({"level": "set"}, ValueError, "tilt and level belong to reading 'V'"),
        ({"reading": "V", "tilt": 0}, ValueError, r"tilt must lie in \(0, "),
        ({"reading": "V", "tilt": 4}, ValueError, r"tilt must lie in \(0, 2.718"),
        ({"reading": "V", "tilt": "2"}, TypeError, "tilt must be a number above 0"),
        ({"reading": "V", "level": "user"}, ValueError, "level must be one of"),
        ({"dummies": "last"}, ValueError, "dummies must be one of"),
        ({"send_position": 1}, TypeError, "send_position must be True or False"),
    ],
)
def test_bad_arguments(arguments, error, message) -> None:
    good = {"epsilon": 1.0, "n_keys": 4, "padding": 2, "reading": "A"}
    with pytest.raises(error, match=message):
        LRRKV.from_epsilon(**{**good, **arguments})


def test_bad_probabilities_and_data() -> None:
    with pytest.raises(ValueError, match=r"p1 \+ q1 \+ 8 \* q2 must be 1"):
        LRRKV(3, 2, 0.5, 0.2, 0.1)
    with pytest.raises(ValueError, match=r"p1 must be a number in \[0, 1\], got 1.2"):
        LRRKV(3, 2, 1.2, 0.1, 0.1)
    with pytest.raises(TypeError, match="q1 must be a number"):
        LRRKV(3, 2, 0.5, "b", 0.1)
    with pytest.raises(ValueError, match="exp_epsilon must be exp"):
        make("A", 0.5)
    with pytest.raises(ValueError, match="an exact square root needs a perfect square"):
        make("B", F(2))
    with pytest.raises(ValueError, match="data must have n_keys = 3, got 1"):
        make("A").draw(KeyValueData.from_sets([{0: 1.0}], n_keys=1), rng=0)
    with pytest.raises(ValueError, match=r"user: keys must lie in 0 .. 2, got 3"):
        make("A", send_position=True).symbol_law({3: 1})
    with pytest.raises(ValueError, match="level must be one of"):
        make("A").exp_epsilon("user")
    with pytest.raises(ValueError, match="correction must be one of"):
        make("A").estimate(Counts(np.ones((5, 2), dtype=np.int64), np.full(5, 10)), correction="x")


def test_bad_closed_form_arguments() -> None:
    numbers = make("A").numbers
    with pytest.raises(ValueError, match="version must be one of"):
        hiskv.theorem4(numbers, 0.1, 10, version="d")
    with pytest.raises(ValueError, match="n_total must be given"):
        hiskv.theorem4(numbers, 0.1, 10, version="split")
    with pytest.raises(ValueError, match="exp_keep must be a finite number above 1"):
        hiskv.best_tilt(1.0, 2.0)
    with pytest.raises(ValueError, match="weight must be a finite number"):
        hiskv.best_tilt(2.0, -1.0)
    with pytest.raises(ValueError, match="mean_square must lie"):
        hiskv.best_tilt(2.0, 1.0, 1.5)
    with pytest.raises(ValueError, match="n_cells must be an integer of at least 4"):
        hiskv.best_tilt(2.0, 3.0, n_cells=2)
    with pytest.raises(ValueError, match="most must be an integer"):
        hiskv.smallest_rescuing_padding("A", 2.0, 3, most=0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_keys": 1}, ValueError, "one length says nothing"),
        ({"share": 1}, ValueError, "share must lie strictly between 0 and 1"),
        ({"share": 0.0}, ValueError, "share must lie strictly between 0 and 1"),
        ({"empty": "drop"}, ValueError, "empty must be one of"),
        ({"keep_length": 0.9}, ValueError, r"keep_length \+ 2 \* fake_length must be 1"),
    ],
)
def test_bad_length_estimate(arguments, error, message) -> None:
    good = {"n_keys": 3, "keep_length": F(1, 2), "fake_length": F(1, 4)}
    with pytest.raises(error, match=message):
        LengthEstimate(**{**good, **arguments})


def test_length_estimate_needs_signal_and_users() -> None:
    blind = LengthEstimate(2, F(1, 2), F(1, 2))
    with pytest.raises(ValueError, match="keep_length and fake_length must differ"):
        blind.unbiased(Counts(np.ones((2, 1), dtype=np.int64), np.full(2, 2)))
    good = LengthEstimate.from_epsilon(1.0, n_keys=2)
    with pytest.raises(ValueError, match="counts must come from at least one user"):
        good.choose(Counts(np.zeros((2, 1), dtype=np.int64), np.zeros(2, dtype=np.int64)))
    with pytest.raises(ValueError, match="road must be one of"):
        good.counts(np.array([1]), road="short")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group_share": 0}, "group_share must lie strictly between 0 and 1"),
        ({"group_share": 1.0}, "group_share must lie strictly between 0 and 1"),
        ({"group_share": -0.1}, r"group_share must be a number in \[0, 1\]"),
        ({"reading": "Z"}, "reading must be one of"),
        ({"share": 2}, "share must be a number"),
        ({"n_keys": 0}, "n_keys must be an integer"),
    ],
)
def test_bad_hiskv(arguments, message) -> None:
    good = {"epsilon": 1.0, "n_keys": 3, "reading": "A"}
    with pytest.raises(ValueError, match=message):
        HISKV.from_epsilon(**{**good, **arguments})


def test_bad_collections() -> None:
    how = HISKV.from_epsilon(1.0, n_keys=3, reading="A")
    data = KeyValueData.from_sets([{0: 1.0}] * 4, n_keys=3)
    with pytest.raises(ValueError, match="road must be one of"):
        how.collect(data, rng=1, road="short")
    with pytest.raises(ValueError, match="correction must be one of"):
        how.collect(data, rng=1, correction="short")
    with pytest.raises(ValueError, match="data must have n_keys = 3, got 2"):
        how.collect(KeyValueData.from_sets([{0: 1.0}] * 4, n_keys=2), rng=1)
    with pytest.raises(ValueError, match="n_users must be at least 2"):
        how.collect(KeyValueData.from_sets([{0: 1.0}], n_keys=3), rng=1)
    hollow = KeyValueData.from_sets([{}] * 4, n_keys=3, allow_empty=True)
    with pytest.raises(ValueError, match="see `empty`"):
        how.collect(hollow, rng=1)
    found = dataclasses.replace(how, empty="own").collect(hollow, rng=1)
    assert found.n_pair_users == 3


def test_large_epsilon_and_domain_stay_finite() -> None:
    for epsilon, reading in itertools.product((1e-3, 5.0, 600.0), ("A", "C", "E", "V")):
        m = LRRKV.from_epsilon(epsilon, n_keys=10**5, padding=50, reading=reading)
        table = np.zeros((m.width, 2), dtype=np.int64)
        table[:4] = 1000
        found = m.estimate(m.simulate_counts(table, rng=1))
        assert np.isfinite(found.frequency).all()
