"""The mechanisms that the papers compare with: privacy, estimators, two roads, rounds."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from exact_counts import fit, law_of_counts
from hypothesis import given
from hypothesis import strategies as st
from statistical import assert_plausible, assert_rejected, goodness_of_fit

from ldpkv import allocation, baselines, privacy
from ldpkv.baselines import (
    F2M,
    GRR,
    KVOH,
    KVUE,
    LDPKV2020,
    RR,
    UE,
    Harmony,
    PrivKV,
    PrivKVM,
    PrivKVMVirtual,
)
from ldpkv.data import KeyValueData
from ldpkv.estimation import CORRECTIONS, Counts

F = Fraction
SQUARES = [F(121, 100), F(9, 4), F(4), F(25)]  # e^epsilon; half of epsilon is rational too

# Everything that promises a single epsilon, from e^epsilon and d.
PURE = {
    "RR": RR.from_exp_budgets,
    "GRR": GRR.from_exp_budgets,
    "RAPPOR": UE.rappor,
    "OUE": UE.oue,
    "Harmony": Harmony.from_exp_budgets,
    "KVUE": KVUE.from_exp_budgets,
    "KVOH": KVOH.from_exp_budgets,
    "LDPKV2020": LDPKV2020.from_exp_budgets,
}
CATEGORICAL = ("GRR", "RAPPOR", "OUE")
# One of each index-sampling mechanism, exact, with numbers that have nothing in common.
INDEXED = {
    "RR": lambda d: RR(d, F(2, 3)),
    "Harmony": lambda d: Harmony(d, F(3, 4)),
    "PrivKV": lambda d: PrivKV(d, F(3, 5), F(4, 5)),
    "PrivKV-fake": lambda d: PrivKV(d, F(3, 5), F(4, 5), F(-1, 4)),
    "PrivKV-later": lambda d: PrivKV(d, F(1, 2), F(4, 5), F(1, 3)),
    "PrivKVMVirtual": lambda d: PrivKVMVirtual(d, F(3, 5), F(4, 5)),
    "KVUE": lambda d: KVUE(d, F(1, 2)),
    "LDPKV2020": lambda d: LDPKV2020(d, F(1, 2)),
    "KVOH": lambda d: KVOH(d, F(2, 3)),
    "F2M": lambda d: F2M(d, F(3, 5), F(2, 3)),
    "F2M-default": lambda d: F2M(d, F(3, 5), F(2, 3), F(1, 4)),
}


@pytest.fixture
def rng(request):
    return np.random.default_rng(list(request.node.nodeid.encode()))


def users_of(name, n_keys):
    if name in CATEGORICAL:
        return list(privacy.extreme_users(n_keys, empty=False, max_length=1))
    return list(privacy.extreme_users(n_keys, empty=True))


def exact_ratio(mechanism, name=""):
    return privacy.worst_ratio(mechanism, users_of(name, mechanism.n_keys)).ratio


# --- laws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INDEXED)
def test_laws_are_exact_and_name_the_key_in_the_clear(name):
    mechanism = INDEXED[name](3)
    channel = mechanism.channel()  # its constructor checks that rows sum to one
    assert channel.weights.dtype == object
    assert channel.weights.shape == (9, 3 * mechanism.answers)
    for user in ({}, {0: 1}, {1: F(1, 3), 2: -1}):
        law = mechanism.symbol_law(user)
        assert law.sum() == 1
        report = law @ channel.weights / F(channel.denominator)
        # The key says nothing of the user: each has probability 1 / d.
        assert report.reshape(3, -1).sum(axis=1).tolist() == [F(1, 3)] * 3


@pytest.mark.parametrize("name", INDEXED)
def test_rows_agree_with_their_float_twin(name):
    exact = INDEXED[name](2)
    numbers = {
        field.name: float(getattr(exact, field.name))
        for field in dataclasses.fields(exact)
        if isinstance(getattr(exact, field.name), Fraction)
    }
    float_law = dataclasses.replace(exact, **numbers).channel()
    exact_law = exact.channel()
    assert float_law.weights.dtype == np.float64
    np.testing.assert_allclose(
        float_law.weights,
        (exact_law.weights / exact_law.denominator).astype(float),
        rtol=1e-14,
    )


def test_fake_values_of_each_key_enter_only_its_absent_row():
    fakes = (F(0), F(1), F(-1, 2))
    rows = PrivKV(3, F(3, 5), F(2, 3), fakes).rows()
    for key, fake in enumerate(fakes):
        one = PrivKV(1, F(3, 5), F(2, 3), fake).rows()[0]
        assert (rows[key] == one).all()
        assert rows[key, 2, 0] == F(2, 5) * (1 + F(1, 3) * fake) / 2


def test_state_law_is_affine_in_the_value():
    mechanism = KVUE(2, F(1, 2))
    v = F(3, 7)
    high, low = mechanism.symbol_law({1: 1}), mechanism.symbol_law({1: -1})
    assert (mechanism.symbol_law({1: v}) == (1 + v) / 2 * high + (1 - v) / 2 * low).all()


# --- privacy -----------------------------------------------------------------------------------


@pytest.mark.parametrize("exp_epsilon", SQUARES)
@pytest.mark.parametrize("name", PURE)
def test_epsilon_is_exactly_what_is_claimed(name, exp_epsilon):
    for n_keys in (2, 3):
        assert exact_ratio(PURE[name](exp_epsilon, n_keys=n_keys), name) == exp_epsilon
    if name not in CATEGORICAL:
        assert exact_ratio(PURE[name](exp_epsilon, n_keys=1), name) == exp_epsilon


@pytest.mark.parametrize("name", PURE)
def test_from_epsilon_is_the_same_formula(name):
    make = {
        "OUE": lambda: UE.from_epsilon(1.3, n_keys=3, setting="oue"),
        "RAPPOR": lambda: UE.from_epsilon(1.3, n_keys=3, setting="rappor"),
    }.get(name, lambda: type(PURE[name](F(4), n_keys=3)).from_epsilon(1.3, n_keys=3))
    ratio = exact_ratio(make(), name)
    assert math.log(ratio) == pytest.approx(1.3, abs=1e-12)


@pytest.mark.parametrize("make", [*PURE.values()], ids=PURE)
def test_whole_numbers_stay_exact(make):
    mechanism = make(4, n_keys=2)
    assert mechanism.channel().weights.dtype == object
    assert mechanism == make(F(4), n_keys=2)


def test_wrong_probability_is_seen_by_enumeration():
    # The binary formula used over three states: a slip that public code has made.
    e = F(3)
    assert exact_ratio(KVUE(2, e / (e + 1))) == 2 * e
    assert exact_ratio(KVOH(2, e / (e + 1))) == e**2
    assert exact_ratio(UE(3, e / (e + 1), 1 / (e + 1)), "OUE") == e**2


@pytest.mark.parametrize("exp_value", [F(11, 10), F(2), F(5)])
@pytest.mark.parametrize("exp_key", [F(11, 10), F(2), F(5)])
def test_first_round_of_privkv_composes_tightly(exp_key, exp_value):
    tight = allocation.compose_ue(exp_key, exp_value)
    assert tight < exp_key * exp_value
    for n_keys in (1, 2):
        made = PrivKV.from_exp_budgets(exp_key, exp_value, n_keys=n_keys)
        assert exact_ratio(made) == tight
        assert exact_ratio(PrivKVMVirtual(n_keys, made.keep_key, made.keep_sign)) == tight
    # In general the fake value's size sets the price, from the tight sum to the plain one.
    p2 = exp_value / (exp_value + 1)
    for fake in (F(-1), F(-1, 3), F(0), F(2, 3), F(1)):
        ratio = exact_ratio(PrivKV(2, exp_key / (exp_key + 1), p2, fake))
        assert ratio == max(exp_value, exp_key * 2 * p2 / (1 - (2 * p2 - 1) * abs(fake)))
        if abs(fake) == 1:
            assert ratio == exp_key * exp_value


@pytest.mark.parametrize("exp_value", [F(11, 10), F(2), F(5)])
@pytest.mark.parametrize("exp_key", [F(11, 10), F(2), F(5)])
def test_f2m_costs_more_than_privkv_and_less_than_the_sum(exp_key, exp_value):
    # It sends a sign with key bit 0 too: that of a default against that of a value.
    made = F2M.from_exp_budgets(exp_key, exp_value, n_keys=2)
    ratio = exact_ratio(made)
    assert ratio == max(exp_value, exp_key * (1 + exp_value) / 2)
    assert allocation.compose_ue(exp_key, exp_value) <= ratio < exp_key * exp_value
    for default in (F(-1), F(1)):
        made = F2M.from_exp_budgets(exp_key, exp_value, n_keys=2, default=default)
        assert exact_ratio(made) == exp_key * exp_value


@pytest.mark.parametrize("exp_value", [F(11, 10), F(2), F(5)])
def test_later_rounds_of_privkvm_cost_the_value_budget(exp_value):
    rounds = PrivKVM.from_exp_budgets(F(3), exp_value, n_keys=2, rounds=3)
    for fake in (F(-1), F(-1, 3), F(0), F(2, 3), F(1), (F(1), F(-1, 2))):
        assert exact_ratio(rounds.stage(2, fake)) == exp_value
        assert rounds.stage(2, fake) == rounds.stage(3, fake)


def test_missing_fake_values_break_privacy():
    class NoFakes(PrivKV):
        """A user without the key who flips to bit 1 sends (0, 0) all the same."""

        def rows(self):
            rows = super().rows()
            rows[:, 2] = [F(0), F(0), F(1)]
            return rows

    assert exact_ratio(NoFakes(2, F(3, 5), F(2, 3))) == math.inf


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_rounds_compose_to_the_product_of_their_budgets(rounds):
    exp_key, exp_value = F(3), F(2)
    privkvm = PrivKVM.from_exp_budgets(exp_key, exp_value, n_keys=1, rounds=rounds)
    budgets = privkvm.stage_budgets()
    assert budgets == (allocation.compose_ue(exp_key, exp_value),) + (exp_value,) * (rounds - 1)
    assert math.prod(budgets) < exp_key * exp_value**rounds  # the claim

    def joint(fakes):
        stages = [privkvm.stage(1)] + [privkvm.stage(i + 2, f) for i, f in enumerate(fakes)]
        laws = []
        for state in range(3):
            law = np.array([F(1)], dtype=object)
            for stage in stages:
                law = np.multiply.outer(law, stage.rows()[0, state]).ravel()
            laws.append(law)
        return max(max(column) / min(column) for column in zip(*laws, strict=True))

    everything = itertools.product((F(-1), F(0), F(1, 2), F(1)), repeat=rounds - 1)
    worst = max(map(joint, everything))
    # Nothing is lost by composing: fake values of one sign reach the product.
    assert worst == math.prod(budgets)


def test_tight_numbers_of_the_first_round():
    for epsilon, tight in ((0.5, 0.367), (1, 0.719), (2, 1.380), (4, 2.566)):
        mechanism = PrivKV.from_epsilon(epsilon, n_keys=2)
        users = privacy.extreme_users(2, empty=True)
        assert privacy.worst_ratio(mechanism, users).epsilon == pytest.approx(tight, abs=5e-4)


def test_budgets_of_privkvm_add_up():
    for rounds in (1, 2, 6):
        made = PrivKVM.from_epsilon(1.7, n_keys=2, rounds=rounds)
        key, value = (math.log(p / (1 - p)) for p in (made.keep_key, made.keep_sign))
        assert key + rounds * value == pytest.approx(1.7, abs=1e-12)
    assert PrivKVM(2, F(1), F(2, 3), 2).stage_budgets() == (math.inf, F(2))


# --- the mechanism of Duchi et al. ---------------------------------------------------------------


@pytest.mark.parametrize("exp_epsilon", [F(11, 10), F(2), F(20), 3])
def test_duchi_is_unbiased_and_exactly_private(exp_epsilon):
    grid = [F(i, 7) for i in range(-7, 8)]
    laws = [baselines.duchi_law(v, exp_epsilon) for v in grid]
    for v, (plus, magnitude) in zip(grid, laws, strict=True):
        assert magnitude * (2 * plus - 1) == v
        # Rounding first and flipping the sign is the same law.
        keep = F(exp_epsilon) / (exp_epsilon + 1)
        assert plus == (1 + v) / 2 * keep + (1 - v) / 2 * (1 - keep)
    plus = [law[0] for law in laws]
    assert max(plus) / min(plus) == exp_epsilon
    assert (1 - min(plus)) / (1 - max(plus)) == exp_epsilon


def test_harmony_sends_duchi_of_the_value_or_zero():
    rows = Harmony.from_exp_budgets(F(3), n_keys=1).rows()[0]
    for state, value in enumerate((1, -1, 0)):
        plus, _ = baselines.duchi_law(value, F(3))
        assert rows[state].tolist() == [plus, 1 - plus]


def test_duchi_sampler(rng):
    values = np.repeat([-1.0, -0.3, 0.0, 1.0], 50_000)
    exp_epsilon = 3.0

    def observed(e):
        reports = baselines.duchi(values, e, rng=rng).reshape(4, -1)
        return np.stack([(reports > 0).sum(axis=1), (reports < 0).sum(axis=1)], axis=1)

    plus = np.array([baselines.duchi_law(v, exp_epsilon)[0] for v in values[::50_000]])
    law = np.stack([plus, 1 - plus], axis=1) / 4
    seen = observed(exp_epsilon)
    assert_plausible(goodness_of_fit(seen, law))
    assert_rejected(goodness_of_fit(seen[:, ::-1], law), "signs swapped")
    for keep in (0.73, 0.77):  # instead of 0.75
        assert_rejected(goodness_of_fit(observed(keep / (1 - keep)), law), f"{keep}")
    assert set(np.abs(baselines.duchi([0.5, -0.5], 3.0, rng=rng))) == {2.0}


# --- estimators ----------------------------------------------------------------------------------

THREE_USERS = ({0: F(1, 2)}, {0: F(-1), 1: F(1, 3)}, {})


def expectation(mechanism, users, estimator, statistic):
    """E[estimate of every key | somebody drew the key], over every list of reports."""
    weights, denominator = privacy.report_laws(mechanism, users)
    laws = (weights / F(denominator)).astype(float)
    n_keys = mechanism.n_keys
    if isinstance(mechanism, UE):
        reports = np.array(list(itertools.product((1, 0), repeat=n_keys)), dtype=np.int8)
    else:
        reports = np.arange(laws.shape[1])
    total, known = np.zeros(n_keys), np.zeros(n_keys)
    for chosen in itertools.product(range(laws.shape[1]), repeat=len(users)):
        probability = math.prod(laws[u, r] for u, r in enumerate(chosen))
        counts = mechanism.aggregate(reports[list(chosen)])
        estimate = getattr(estimator.estimate(counts, correction="none"), statistic)
        there = counts.n_reports > 0
        total[there] += probability * estimate[there]
        known[there] += probability
    return total / known


UNBIASED = [
    ("RR", "frequency"),
    ("Harmony", "total"),
    ("PrivKV", "frequency"),
    ("PrivKV-fake", "frequency"),
    ("KVUE", "frequency"),
    ("KVUE", "total"),
    ("KVOH", "frequency"),
    ("KVOH", "total"),
    ("F2M", "frequency"),
    ("F2M", "total"),
    ("F2M-default", "total"),
]


@pytest.mark.parametrize("name, statistic", UNBIASED)
def test_unbiased_over_every_list_of_reports(name, statistic):
    mechanism = INDEXED[name](2)
    # The third user is dropped for KVOH, which has sixteen reports.
    users = THREE_USERS[: 2 if name == "KVOH" else 3]
    frequency = [sum(key in user for user in users) / len(users) for key in (0, 1)]
    total = [float(sum(user.get(key, 0) for user in users)) / len(users) for key in (0, 1)]
    truth = {"frequency": frequency, "total": total}[statistic]
    found = expectation(mechanism, users, mechanism, statistic)
    np.testing.assert_allclose(found, truth, atol=1e-12)
    # Must fail: the server believes in a probability that is 0.02 off.
    moved = {
        field.name: getattr(mechanism, field.name) + F(1, 50)
        for field in dataclasses.fields(mechanism)
        if field.name.startswith("keep")
    }
    wrong = expectation(mechanism, users, dataclasses.replace(mechanism, **moved), statistic)
    assert np.abs(wrong - truth).max() > 1e-3


@pytest.mark.parametrize("name", CATEGORICAL)
def test_categorical_unbiased_over_every_list_of_reports(name):
    mechanism = PURE[name](F(4), n_keys=3)
    users = [{0: 1}, {0: -1}, {2: F(1, 2)}]
    found = expectation(mechanism, users, mechanism, "frequency")
    np.testing.assert_allclose(found, [2 / 3, 0, 1 / 3], atol=1e-12)
    wrong = dataclasses.replace(mechanism, keep_key=mechanism.keep_key + F(1, 50))
    assert np.abs(expectation(mechanism, users, wrong, "frequency") - found).max() > 1e-3


@pytest.mark.parametrize("exp_epsilon", SQUARES)
def test_calibration_inverts_the_law_exactly(exp_epsilon):
    # Solved by sympy from the law itself, not from the formula in the code.
    for mechanism, cells in (
        (KVUE.from_exp_budgets(exp_epsilon, n_keys=1), np.eye(3, dtype=int)),
        (KVOH.from_exp_budgets(exp_epsilon, n_keys=1), baselines._BITS),
    ):
        one = mechanism.rows()[0] @ cells  # expected cells of one user in each state
        table = np.array([{3: [7, 4, 9], 8: [3, 1, 2, 5, 0, 4, 2, 3]}[mechanism.answers]])
        n = int(table.sum())
        observed = (table @ cells)[0]
        a, b = sympy.symbols("a b")
        unknown = (a, b, n - a - b)
        equations = [
            sum(unknown[s] * sympy.Rational(one[s, c]) for s in range(3)) - int(observed[c])
            for c in range(2)
        ]
        solution = sympy.solve(equations, (a, b))
        got = mechanism.estimate(Counts(table, np.array([n])), correction="none")
        assert got.frequency[0] == pytest.approx(float(solution[a] + solution[b]) / n, rel=1e-12)
        assert got.total[0] == pytest.approx(float(solution[a] - solution[b]) / n, rel=1e-12)
        assert got.mean[0] == pytest.approx(got.total[0] / got.frequency[0], rel=1e-12)


counts_of_one_key = st.lists(st.integers(0, 40), min_size=3, max_size=3)


@given(counts_of_one_key, st.floats(0.51, 0.99), st.floats(0.51, 0.99), st.floats(-1, 1))
def test_privkv_is_the_authors_calibration(cells, p1, p2, fake):
    """The PCKV authors' public code, step by step."""
    n1, n2, rest = cells
    held, n = n1 + n2, n1 + n2 + rest
    if held == 0:
        frequency, mean = 0.0, fake
    else:
        frequency = (p1 - 1 + held / n) / (2 * p1 - 1)
        plus = min(max(((p2 - 1) * held + n1) / (2 * p2 - 1), 0), held)
        minus = min(max(((p2 - 1) * held + n2) / (2 * p2 - 1), 0), held)
        mean = (plus - minus) / held
    got = PrivKV(1, p1, p2, fake).estimate(Counts(np.array([cells]), np.array([n])))
    assert got.frequency[0] == pytest.approx(frequency, rel=1e-9, abs=1e-9)
    assert got.mean[0] == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert got.total[0] == got.frequency[0] * got.mean[0]


@given(counts_of_one_key, st.floats(0.35, 0.99))
def test_kvue_is_the_authors_estimator(cells, p):
    n = sum(cells)
    plus, minus = (min(max((2 * c - (1 - p) * n) / (3 * p - 1), 0), n) for c in cells[:2])
    frequency = (plus + minus) / n if n else 0.0
    mean = (plus - minus) / (plus + minus) if plus + minus > 1e-9 else None
    got = KVUE(1, p).estimate(Counts(np.array([cells]), np.array([n])))
    assert got.frequency[0] == pytest.approx(frequency, rel=1e-9, abs=1e-9)
    assert -1 <= got.mean[0] <= 1
    if mean is not None:
        assert got.mean[0] == pytest.approx(mean, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", INDEXED)
def test_a_key_nobody_drew(name):
    mechanism = INDEXED[name](2)
    table = np.zeros((2, mechanism.answers), dtype=np.int64)
    table[0] = np.arange(1, mechanism.answers + 1)
    counts = Counts(table, table.sum(axis=1))
    given_up = mechanism.estimate(counts, correction="none")
    for statistic in ("frequency", "total", "mean"):
        assert np.isnan(getattr(given_up, statistic)[1])
    for correction in ("paper", "code"):
        named = mechanism.estimate(counts, correction=correction)
        if name == "Harmony":
            assert named.total[1] == 0
        elif name == "PrivKV-later":
            assert np.isnan(named.frequency).all()  # a fair key bit says nothing
        else:
            assert named.frequency[1] == 0
        if name.startswith("PrivKV"):
            fake = getattr(mechanism, "fake_value", 0)
            assert named.mean[1] == float(fake)
        elif name not in ("RR", "Harmony"):
            assert named.mean[1] == named.total[1] == 0


def test_what_a_mechanism_does_not_estimate_is_nan():
    counts = Counts(np.array([[3, 1]]), np.array([4]))
    for correction in CORRECTIONS:
        harmony = Harmony(1, F(3, 4)).estimate(counts, correction=correction)
        assert np.isnan([harmony.frequency, harmony.mean]).all()
        assert harmony.total[0] == 1.0
        yes_no = RR(1, F(3, 4)).estimate(counts, correction=correction)
        assert np.isnan([yes_no.total, yes_no.mean]).all()
        assert yes_no.frequency[0] == 1.0
    ones = Counts(np.array([[3], [1]]), np.array([4, 4]))
    assert np.isnan(UE(2, F(3, 4), F(1, 4)).estimate(ones).mean).all()
    nobody = Counts(np.array([[0], [0]]), np.array([0, 0]))
    assert np.isnan(GRR(2, F(3, 4), F(1, 4)).estimate(nobody).frequency).all()


# --- PrivKVM: what a round does to the mean ------------------------------------------------------


def mean_given_a_bit(mechanism, report_laws):
    """E[mean | some key bit is 1], exactly, for users with these laws of the answer."""
    law = law_of_counts(report_laws, lambda report: np.eye(3, dtype=int)[report])
    total = known = 0.0
    for cells, probability in law.items():
        if cells[0] + cells[1]:
            counts = Counts(np.array([cells]), np.array([sum(cells)]))
            mean = mechanism.estimate(counts, correction="none").mean[0]
            total, known = total + probability * mean, known + probability
    return total / known


@pytest.mark.parametrize("fake", [F(0), F(1, 2), F(-1)])
@pytest.mark.parametrize("p1", [F(3, 4), F(3, 5), F(1, 2)])
def test_a_round_moves_the_mean_by_rho(p1, fake):
    f, m = F(1, 3), F(2, 5)
    mechanism = PrivKV(1, p1, F(2, 3), fake)
    states = np.array([f * (1 + m) / 2, f * (1 - m) / 2, 1 - f], dtype=object)
    rho = f * p1 / (f * p1 + (1 - f) * (1 - p1))
    expected = float(rho * m + (1 - rho) * fake)
    for n_users in (1, 2, 5):
        laws = [states @ mechanism.rows()[0]] * n_users
        assert mean_given_a_bit(mechanism, laws) == pytest.approx(expected, abs=1e-12)
    if p1 == F(1, 2):
        assert rho == f
    # Must fail: the fake value's part forgotten, where it has one.
    if fake:
        assert abs(float(rho * m) - expected) > 1e-3


def test_a_round_on_fixed_users():
    states, m, f = [0, 0, 1, 2, 2, 2], F(1, 3), F(1, 2)
    # Later rounds: the key bits are fair coins, so the expectation is exact.
    later = PrivKV(1, F(1, 2), F(2, 3), F(-1, 2))
    expected = float(f * m + (1 - f) * F(-1, 2))
    found = mean_given_a_bit(later, [later.rows()[0, s] for s in states])
    assert found == pytest.approx(expected, abs=1e-12)
    # The first round: only to first order in 1 / n.
    first = PrivKV(1, F(3, 4), F(2, 3))
    expected = float(F(3, 4) * m)
    errors = [
        mean_given_a_bit(first, [first.rows()[0, s] for s in states * copies]) - expected
        for copies in (1, 2, 4, 8)
    ]
    assert abs(errors[0]) > 1e-4
    for before, after in itertools.pairwise(errors):
        assert 0.4 < after / before < 0.6


def test_bias_after_c_rounds():
    f, m, p1 = sympy.symbols("f m p1", positive=True)
    rho = f * p1 / (f * p1 + (1 - f) * (1 - p1))
    mean = rho * m
    for rounds in range(1, 6):
        assert sympy.simplify(mean - m + m * (1 - rho) * (1 - f) ** (rounds - 1)) == 0
        mean = f * m + (1 - f) * mean


def test_bias_numbers_at_epsilon_two():
    f, m = 0.05, 0.8
    for rounds, expected in ((1, 0.1001), (2, 0.1351), (6, 0.2585)):
        p1 = PrivKVM.from_epsilon(2.0, n_keys=1, rounds=rounds).keep_key
        rho = f * p1 / (f * p1 + (1 - f) * (1 - p1))
        assert m - m * (1 - rho) * (1 - f) ** (rounds - 1) == pytest.approx(expected, abs=5e-5)


# --- virtual rounds -------------------------------------------------------------------------------


@pytest.mark.parametrize("virtual", [0, 1, 5, 40])
@pytest.mark.parametrize("f", [F(1, 20), F(1, 2), F(19, 20)])
def test_virtual_rounds_are_the_recursion(f, virtual):
    p1 = F(3, 4)
    rho = f * p1 / (f * p1 + (1 - f) * (1 - p1))
    for rule, step in (("repeated", rho), ("half", f)):
        mean = F(1)  # of the real round; it estimates rho m
        for _ in range(virtual):
            mean = step * (F(1) / rho) + (1 - step) * mean
        closed = {
            "repeated": (1 - (1 - rho) ** (virtual + 1)) / rho,
            "half": (1 - (1 - rho) * (1 - f) ** virtual) / rho,
        }[rule]
        assert mean == closed
        got = baselines.virtual_factor(np.array([float(f)]), float(p1), virtual, rule)
        assert got[0] == pytest.approx(float(closed), rel=1e-12)


def test_virtual_rounds_at_the_ends():
    factor = baselines.virtual_factor
    none, everyone = np.array([-0.1, 0.0]), np.array([1.0, 1.7])
    np.testing.assert_allclose(factor(none, 0.75, 5, "repeated"), 6)
    np.testing.assert_allclose(factor(none, 0.75, 5, "half"), 1 + 5 / 3)  # p_1 / (1 - p_1) = 3
    for rule in ("repeated", "half"):
        np.testing.assert_allclose(factor(everyone, 0.75, 5, rule), 1)
        np.testing.assert_allclose(factor(none, 1.0, 5, rule), 1)  # no fake values at all
        limit = factor(np.array([0.2]), 0.75, 2000, rule)
        np.testing.assert_allclose(limit, (0.2 * 0.75 + 0.8 * 0.25) / (0.2 * 0.75))
        assert np.isnan(factor(np.array([np.nan]), 0.75, 5, rule)).all()


def test_no_virtual_round_is_privkv():
    table = np.array([[5, 3, 12], [0, 0, 4], [0, 0, 0], [9, 1, 2]])
    counts = Counts(table, table.sum(axis=1))
    for correction in CORRECTIONS:
        one = PrivKV(4, F(3, 4), F(2, 3)).estimate(counts, correction=correction)
        for rule in ("repeated", "half"):
            virtual = PrivKVMVirtual(4, F(3, 4), F(2, 3), 0, rule)
            other = virtual.estimate(counts, correction=correction)
            for statistic in ("frequency", "total", "mean"):
                np.testing.assert_array_equal(getattr(one, statistic), getattr(other, statistic))
    five = PrivKVMVirtual(4, F(3, 4), F(2, 3)).estimate(counts)
    assert (np.abs(five.mean) <= 1).all()
    assert np.abs(five.mean[0]) > np.abs(one.mean[0])


# --- the two roads --------------------------------------------------------------------------------

MANY = 72_000  # keys, each an independent repetition of one key's few users
# Users of one state feel a moved probability most; the last group has all three.
GROUPS = np.array([[4, 0, 0], [0, 4, 0], [0, 0, 4], [2, 1, 1]])


def grouped_law(mechanism):
    """Exact law of (group, counts of the answers) at a key, each group as likely."""
    rows = mechanism.rows()[0].astype(float)
    one_hot = np.eye(mechanism.answers, dtype=int)
    laws = {}
    for group, table in enumerate(GROUPS):
        law = law_of_counts(rows[np.repeat(np.arange(3), table)], one_hot.__getitem__)
        laws |= {(group, *counts): weight / len(GROUPS) for counts, weight in law.items()}
    return laws


def counted_rows(mechanism, rng):
    many = dataclasses.replace(mechanism, n_keys=MANY)
    return grouped(many.simulate_counts(np.tile(GROUPS, (MANY // len(GROUPS), 1)), rng=rng))


def literal_rows(mechanism, rng):
    many = dataclasses.replace(mechanism, n_keys=MANY)
    states = np.concatenate([np.repeat(np.arange(3), table) for table in GROUPS])
    users = GROUPS.sum(axis=1)
    states = np.tile(states, MANY // len(GROUPS))
    keys = np.repeat(np.arange(MANY), np.tile(users, MANY // len(GROUPS)))
    codes = 3 * keys + states
    rng.shuffle(codes)
    return grouped(many.aggregate(many.perturb(baselines.Symbols(codes, MANY, 3), rng=rng)))


def grouped(counts):
    assert (counts.n_reports == np.tile(GROUPS.sum(axis=1), MANY // len(GROUPS))).all()
    return np.column_stack([np.arange(MANY) % len(GROUPS), counts.table])


def planted(mechanism):
    for field in dataclasses.fields(mechanism):
        if field.name.startswith("keep") or field.name in ("fake_value", "default"):
            for step in (0.02, -0.02):
                # A fake value moves the law of one report by far less than it moves itself.
                size = step if field.name.startswith("keep") else 30 * step
                moved = {field.name: float(getattr(mechanism, field.name)) + size}
                yield dataclasses.replace(mechanism, **moved)


@pytest.mark.parametrize("road", [counted_rows, literal_rows], ids=["counted", "literal"])
@pytest.mark.parametrize("name", INDEXED)
def test_road_has_the_exact_law(name, road, rng):
    mechanism = INDEXED[name](1)
    law = grouped_law(mechanism)
    rows = road(mechanism, rng)
    assert_plausible(fit(law, rows), name)
    for defect in planted(mechanism):
        assert_rejected(fit(law, road(defect, rng)), f"{defect}")
    swapped = np.arange(1 + mechanism.answers)
    swapped[[1, 2]] = 2, 1
    assert_rejected(fit(law, rows[:, swapped]), "two answers swapped")


@pytest.mark.parametrize("road", ["counted", "literal"])
def test_keys_do_not_mix(road, rng):
    """Two keys at once, each with its own fake value and users."""
    mechanism = PrivKV(2, F(3, 5), F(3, 4), (F(1), F(-1, 2)))
    codes = np.array([0, 1, 2, 2, 4, 5, 5])
    symbols = baselines.Symbols(codes, 2, 3)
    rows = mechanism.rows().astype(float)
    laws = [np.concatenate([rows[c // 3, c % 3] * (c // 3 == k) for k in (0, 1)]) for c in codes]
    law = law_of_counts(laws, np.eye(6, dtype=int).__getitem__)

    def drawn(made):
        one = {
            "counted": lambda: made.simulate_counts(symbols.table(), rng=rng),
            "literal": lambda: made.aggregate(made.perturb(symbols, rng=rng)),
        }[road]
        return np.array([one().table.ravel() for _ in range(8_000)])

    assert_plausible(fit(law, drawn(mechanism)))
    exchanged = dataclasses.replace(mechanism, fake_value=mechanism.fake_value[::-1])
    assert_rejected(fit(law, drawn(exchanged)), "fake values of the two keys exchanged")


@pytest.mark.parametrize("road", ["counted", "literal"])
@pytest.mark.parametrize("name", CATEGORICAL)
def test_categorical_road_has_the_exact_law(name, road, rng):
    mechanism = PURE[name](F(9, 4), n_keys=3)
    table, repeats = np.array([[12], [3], [1]]), 20_000
    codes = np.repeat(np.arange(3), table[:, 0])
    channel = mechanism.channel()
    if name == "GRR":
        one_hot = np.eye(3, dtype=int)
    else:
        one_hot = np.array(list(itertools.product((1, 0), repeat=3)))
    law = law_of_counts((channel.weights / channel.denominator)[codes], one_hot.__getitem__)

    def drawn(made):
        if road == "counted":
            return np.array([made.simulate_counts(table, rng=rng).table for _ in range(repeats)])[
                :, :, 0
            ]
        reports = made.perturb(baselines.Symbols(np.tile(codes, repeats), 3, 1), rng=rng)
        bits = one_hot[reports] if name == "GRR" else reports
        return bits.reshape(repeats, len(codes), 3).sum(axis=1)

    rows = drawn(mechanism)
    assert_plausible(fit(law, rows))
    assert_rejected(fit(law, rows[:, ::-1]), "keys swapped")
    for step in (0.04, -0.04):
        keep = float(mechanism.keep_key) + step
        fake = (1 - keep) / 2 if name == "GRR" else float(mechanism.fake_key) + step
        moved = dataclasses.replace(mechanism, keep_key=keep, fake_key=fake)
        assert_rejected(fit(law, drawn(moved)), f"{moved}")


def test_draws_follow_the_symbol_law(rng):
    mechanism = KVUE(3, F(1, 2))
    user = {0: 0.5, 2: -0.25}
    data = KeyValueData.from_sets([user] * 60_000, n_keys=3)
    symbols = mechanism.symbols(mechanism.draw(data, rng=rng))
    table = symbols.table()
    assert table.shape == (3, 3)
    law = mechanism.symbol_law(user).astype(float)
    assert_plausible(goodness_of_fit(table, law))
    assert_rejected(goodness_of_fit(table[:, [1, 0, 2]], law), "signs swapped")
    assert_rejected(goodness_of_fit(table, mechanism.symbol_law({0: 0.4, 2: -0.25})), "value")


def test_one_key_users_are_read_off():
    data = KeyValueData.from_sets([{2: 0.1}, {0: -1.0}, {2: 1.0}], n_keys=3)
    for mechanism in (GRR.from_epsilon(1.0, n_keys=3), UE.from_epsilon(1.0, n_keys=3)):
        assert mechanism.symbols(mechanism.draw(data)).table().tolist() == [[1], [0], [2]]
        assert mechanism.symbol_law({2: 0.1}).tolist() == [0, 0, 1]


# --- PrivKVM.collect ------------------------------------------------------------------------------


def two_round_law(privkvm, states):
    """Exact law of (frequency, mean) of two rounds on the users of one key."""
    one_hot = np.eye(3, dtype=int).__getitem__
    law = {}
    first = privkvm.stage(1)
    for cells, probability in law_of_counts(first.rows()[0, states], one_hot).items():
        estimate = first.estimate(Counts(np.array([cells]), np.array([len(states)])))
        second = privkvm.stage(2, tuple(estimate.mean.tolist()))
        for more, chance in law_of_counts(second.rows()[0, states], one_hot).items():
            mean = second.estimate(Counts(np.array([more]), np.array([len(states)]))).mean[0]
            key = scaled(estimate.frequency[0], mean)
            law[key] = law.get(key, 0.0) + probability * chance
    return law


def scaled(*numbers):
    return tuple(round(float(x) * 10**6) for x in numbers)


@pytest.mark.parametrize("road", ["counted", "literal"])
def test_collect_runs_two_rounds(road, rng):
    states = [0, 2, 2, 2]
    data = KeyValueData.from_sets([{0: 1.0}, {}, {}, {}], n_keys=1, allow_empty=True)
    privkvm = PrivKVM(1, 0.75, 0.95, 2)
    law = two_round_law(privkvm, states)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)

    def drawn(made):
        found = [made.collect(data, rng=rng, road=road) for _ in range(6_000)]
        return np.array([scaled(e.frequency[0], e.mean[0]) for e in found])

    assert_plausible(fit(law, drawn(privkvm)))
    assert_rejected(fit(law, drawn(PrivKVM(1, 0.75, 0.95, 1))), "one round only")
    assert_rejected(fit(law, drawn(PrivKVM(1, 0.75, 0.95, 3))), "three rounds")
    # The first round's mean not handed on, so that the second starts from 0 again.
    forgetful = type("Forgetful", (PrivKVM,), {"stage": lambda s, i, _=0: PrivKVM.stage(s, i)})
    assert_rejected(fit(law, drawn(forgetful(1, 0.75, 0.95, 2))), "fake values forgotten")


def test_one_round_is_privkv():
    data = KeyValueData.from_sets([{0: 0.5, 1: -0.5}, {2: 1.0}, {1: 0.0}] * 50, n_keys=3)
    privkvm, privkv = (
        PrivKVM.from_epsilon(2.0, n_keys=3, rounds=1),
        PrivKV.from_epsilon(2.0, n_keys=3),
    )
    for correction in CORRECTIONS:
        found = privkvm.collect(data, rng=7, correction=correction)
        generator = np.random.default_rng(7)
        table = privkv.symbols(privkv.draw(data, rng=generator)).table()
        counts = privkv.simulate_counts(table, rng=generator)
        expected = privkv.estimate(counts, correction=correction)
        for statistic in ("frequency", "total", "mean"):
            np.testing.assert_array_equal(getattr(found, statistic), getattr(expected, statistic))


def test_collect_is_reproducible_and_valid():
    data = KeyValueData.from_sets([{0: 0.5, 1: -0.5}, {2: 1.0}, {1: 0.0}] * 20, n_keys=40)
    privkvm = PrivKVM.from_epsilon(1.0, n_keys=40, rounds=6)
    for road in ("counted", "literal"):
        one = privkvm.collect(data, rng=3, road=road)
        other = privkvm.collect(data, rng=3, road=road)
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.frequency, other.frequency)
        assert (np.abs(one.mean) <= 1).all()  # also at the keys that nobody drew
        np.testing.assert_array_equal(one.total, one.frequency * one.mean)
    privkvm.collect(data, rng=3, correction="none")  # intermediate means stay values


# --- LDPKV2020, and bad input ---------------------------------------------------------------------


def test_ldpkv2020_is_named_a_guess_and_is_kvue():
    assert "a guess" in LDPKV2020.__doc__
    one, other = (m.from_exp_budgets(F(3), n_keys=2) for m in (LDPKV2020, KVUE))
    assert (one.rows() == other.rows()).all()
    assert one != other  # never taken for each other


@pytest.mark.parametrize("name", PURE)
def test_number_of_keys_is_checked(name):
    for wrong in (0, -3, *((1,) if name in CATEGORICAL else ())):
        with pytest.raises(ValueError, match="n_keys must be an integer"):
            PURE[name](F(4), n_keys=wrong)
    with pytest.raises(TypeError, match="n_keys must be an integer"):
        PURE[name](F(4), n_keys=2.0)


def test_probabilities_are_checked():
    for make in (
        lambda p: RR(1, p),
        lambda p: GRR(2, p, F(1, 2)),
        lambda p: UE(2, F(1, 2), p),
        lambda p: Harmony(1, p),
        lambda p: PrivKV(1, p, F(1, 2)),
        lambda p: PrivKV(1, F(1, 2), p),
        lambda p: PrivKVM(1, F(1, 2), p, 2),
        lambda p: KVUE(1, p),
        lambda p: KVOH(1, p),
        lambda p: F2M(1, F(1, 2), p),
    ):
        for wrong in (-0.1, 1.1, math.nan):
            with pytest.raises(ValueError, match=r"in \[0, 1\]"):
                make(wrong)
        with pytest.raises(TypeError, match=r"in \[0, 1\]"):
            make("0.5")


def test_budgets_are_checked():
    for make in (
        *(PURE[name] for name in PURE),
        lambda e, n_keys: PrivKV.from_exp_budgets(e, F(2), n_keys=n_keys),
        lambda e, n_keys: PrivKV.from_exp_budgets(F(2), e, n_keys=n_keys),
        lambda e, n_keys: F2M.from_exp_budgets(e, F(2), n_keys=n_keys),
        lambda e, n_keys: PrivKVM.from_exp_budgets(F(2), e, n_keys=n_keys, rounds=2),
        lambda e, n_keys: PrivKVMVirtual.from_exp_budgets(F(2), e, n_keys=n_keys),
    ):
        for wrong in (F(1, 2), 0.9, math.inf, math.nan):
            with pytest.raises(ValueError, match="exp"):
                make(wrong, n_keys=2)
    for from_epsilon in (
        RR.from_epsilon,
        GRR.from_epsilon,
        UE.from_epsilon,
        Harmony.from_epsilon,
        PrivKV.from_epsilon,
        PrivKVMVirtual.from_epsilon,
        KVUE.from_epsilon,
        KVOH.from_epsilon,
        LDPKV2020.from_epsilon,
        F2M.from_epsilon,
    ):
        for wrong in (0, -1.0, math.inf, math.nan):
            with pytest.raises(ValueError, match="epsilon"):
                from_epsilon(wrong, n_keys=2)
    for make in (UE.rappor, KVOH.from_exp_budgets):
        with pytest.raises(ValueError, match="perfect square"):
            make(F(2), n_keys=2)


def test_other_arguments_are_checked():
    data = KeyValueData.from_sets([{0: 0.5, 1: 0.5}, {1: 1.0}], n_keys=2)
    with pytest.raises(ValueError, match="setting"):
        UE.from_epsilon(1.0, n_keys=2, setting="best")
    with pytest.raises(ValueError, match="user 0 holds 2"):
        GRR.from_epsilon(1.0, n_keys=2).draw(data)
    for mechanism in (GRR.from_epsilon(1.0, n_keys=3), KVUE.from_epsilon(1.0, n_keys=3)):
        with pytest.raises(ValueError, match="n_keys = 3, got 2"):
            mechanism.draw(data)
        with pytest.raises(ValueError, match=r"keys must lie in 0 \.\. 2"):
            mechanism.symbol_law({3: 0.0})
        with pytest.raises(ValueError, match="values must lie"):
            mechanism.symbol_law({0: 1.5})
    with pytest.raises(ValueError, match="exactly one key, got 0"):
        GRR.from_epsilon(1.0, n_keys=2).symbol_law({})
    for fake in (1.5, math.nan, (0.0, -2.0)):
        with pytest.raises(ValueError, match=r"fake_value must lie in \[-1, 1\]"):
            PrivKV(2, 0.5, 0.75, fake)
    with pytest.raises(ValueError, match="n_keys = 2, got 3"):
        PrivKV(2, 0.5, 0.75, (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="default must lie"):
        F2M(2, 0.6, 0.75, -2)
    with pytest.raises(ValueError, match="virtual_rounds"):
        PrivKVMVirtual(2, 0.6, 0.75, -1)
    with pytest.raises(ValueError, match="rule"):
        PrivKVMVirtual(2, 0.6, 0.75, 5, "printed")
    with pytest.raises(ValueError, match="rounds"):
        PrivKVM.from_epsilon(1.0, n_keys=2, rounds=0)
    privkvm = PrivKVM.from_epsilon(1.0, n_keys=2, rounds=2)
    with pytest.raises(ValueError, match="at most rounds = 2"):
        privkvm.stage(3)
    with pytest.raises(ValueError, match="road"):
        privkvm.collect(data, road="fast")
    with pytest.raises(ValueError, match="correction"):
        privkvm.collect(data, correction="clip")
    for value in (1.5, math.nan):
        with pytest.raises(ValueError, match=r"lie in \[-1, 1\]"):
            baselines.duchi_law(value, 2.0)
        with pytest.raises(ValueError, match=r"lie in \[-1, 1\]"):
            baselines.duchi([0.0, value], 2.0)
    with pytest.raises(ValueError, match="above 1"):
        baselines.duchi_law(0.0, 1)


@pytest.mark.parametrize("name", INDEXED)
def test_unknown_correction_is_named(name):
    mechanism = INDEXED[name](1)
    counts = Counts(np.ones((1, mechanism.answers), dtype=np.int64), np.array([mechanism.answers]))
    with pytest.raises(ValueError, match="correction"):
        mechanism.estimate(counts, correction="clip")


@pytest.mark.parametrize(
    "mechanism",
    [RR(1, F(1, 2)), Harmony(1, F(1, 2)), KVUE(1, F(1, 3)), KVOH(1, F(1, 2)), F2M(1, F(1, 2), 1)],
    ids=lambda m: type(m).__name__,
)
def test_nothing_is_estimated_from_reports_that_carry_nothing(mechanism):
    counts = Counts(np.ones((1, mechanism.answers), dtype=np.int64), np.array([mechanism.answers]))
    with pytest.raises(ValueError, match="must differ"):
        mechanism.estimate(counts)
    with pytest.raises(ValueError, match="must differ"):
        GRR(2, F(1, 2), F(1, 2)).estimate(Counts(np.ones((2, 1), dtype=np.int64), np.array([2, 2])))
