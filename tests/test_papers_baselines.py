"""The page on the baselines: verdicts, judges that can say no, wrong libraries that are seen."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import pytest

from ldpkv import allocation, theory
from ldpkv.baselines import KVUE, PrivKV, PrivKVM, PrivKVMVirtual
from ldpkv.papers import evidence, plots
from ldpkv.papers.pckv import baselines

CLAIMS = {claim.id: claim for claim in baselines.CLAIMS}


@functools.cache
def computed(run) -> evidence.Result:
    return run("quick")


@pytest.mark.parametrize("id", CLAIMS)
def test_recorded_verdict(id: str) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    found = claim.judge(result)
    assert found.verdict == claim.recorded[result.profile, result.source]
    json.dumps(asdict(found))
    assert claim.page == baselines.PAGE
    assert set(claim.recorded.values()) <= set(evidence.VERDICTS)
    assert claim.statement.endswith(".")


def order(below: int, undecided: int, above: list) -> dict:
    return {"below": below, "undecided": undecided, "above": above, "cases": 56}


# A judge must be able to say no: each broken fact changes its claim's verdict.
BROKEN = [
    ("pckv-baseline-epsilon", {"violations": 1}),
    ("pckv-privkvm-budgets", {"sums": 0}),
    ("pckv-privkvm-budgets", {"shares": False}),
    ("pckv-privkvm-total", {"violations": 1}),
    ("pckv-privkvm-tighter", {"no_tighter": 12}),
    ("pckv-privkvm-bias", {"formula": 0}),
    ("pckv-privkvm-bias", {"never_zero": False}),
    ("pckv-privkvm-bias", {"shrinks": False}),
    ("pckv-privkvm-bias", {"variance_grows": False}),
    ("pckv-privkvm-bias", {"limit_ratio": 2.0}),
    ("pckv-privkvm-measured", {"real_t": 9.0}),
    ("pckv-privkvm-measured", {"deviation_ratio": 0.9}),
    ("pckv-virtual-rounds", {"virtual_t": 9.0}),
    ("pckv-communication", {"counted": 0}),
    ("pckv-communication", {"grr_adds": False}),
    ("pckv-first-frequency", {"frequency": order(56, 0, [])}),
    ("pckv-first-frequency", {"frequency": order(55, 0, [(1.0, "PCKV-UE", "KVUE")])}),
    ("pckv-first-mean", {"mean": order(50, 6, [])}),
    ("pckv-first-mean", {"mean": order(56, 0, [])}),
]


@pytest.mark.parametrize(("id", "broken"), BROKEN, ids=[f"{i}-{min(b)}" for i, b in BROKEN])
def test_judges_can_say_no(id: str, broken: dict) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    worse = replace(result, facts={**result.facts, **broken})
    assert claim.judge(worse).verdict != claim.judge(result).verdict


def test_every_judge_is_broken_once() -> None:
    assert {id for id, _ in BROKEN} == set(CLAIMS)


# A wrong library changes the verdicts too.


def verdict(id: str) -> str:
    claim = CLAIMS[id]
    return claim.judge(claim.run("quick")).verdict


def test_a_baseline_that_breaks_its_promise_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @classmethod
    def careless(cls, exp_epsilon, *, n_keys):  # GRR over two states instead of three
        return cls(n_keys, exp_epsilon / (exp_epsilon + 1))

    monkeypatch.setattr(KVUE, "from_exp_budgets", careless)
    assert verdict("pckv-baseline-epsilon") == "differs"


def test_a_first_fake_value_of_one_reaches_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's statement on PrivKVM would be exact had round 1 a fake value of 1."""
    right = PrivKVM.stage

    def stage(self, index, fake_value=1):
        return right(self, index, fake_value)

    monkeypatch.setattr(PrivKVM, "stage", stage)
    assert verdict("pckv-privkvm-tighter") == "exact"


def test_key_budget_in_every_round_breaks_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    def stage(self, index, fake_value=0):
        return PrivKV(self.n_keys, self.keep_key, self.keep_sign, fake_value)

    monkeypatch.setattr(PrivKVM, "stage", stage)
    assert verdict("pckv-privkvm-total") == "differs"
    assert verdict("pckv-privkvm-bias") == "differs"


def test_wrong_recursion_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = theory.privkvm_expected_mean
    monkeypatch.setattr(
        theory, "privkvm_expected_mean", lambda f, m, e, rounds: right(f, m, e, rounds + 1)
    )
    assert verdict("pckv-privkvm-bias") == "differs"
    assert verdict("pckv-privkvm-measured") == "differs"


def test_wrong_virtual_factor_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from ldpkv import baselines as library

    right = library.virtual_factor
    monkeypatch.setattr(library, "virtual_factor", lambda f, p, v, rule: right(f, p, v + 1, rule))
    assert verdict("pckv-virtual-rounds") == "differs"


def test_closed_forms_of_the_table() -> None:
    facts = computed(baselines.exact_epsilons).facts
    assert facts["formula"] == facts["cases"]
    assert facts["below"] == ["F2M", "PrivKV", "PrivKVM (1 + 5 virtual)"]
    # One real round, from pckv.md: .367, .719, 1.380, 2.566 nats at epsilon = .5, 1, 2, 4.
    table = computed(baselines.exact_epsilons).table
    found = table.loc[table["mechanism"] == "PrivKV", "exact"].round(3).tolist()
    assert found == [0.367, 0.719, 1.380, 2.566]
    assert list(facts["glued"].values()) == pytest.approx([1.380, 2.566, 26.56, 35.84], abs=5e-3)


def test_what_the_rounds_of_privkvm_leave_unspent() -> None:
    expected = [math.log(25), math.log(25 / 3), 25.60, 34.13, 8.53, 11.38]
    glued = computed(baselines.rounds).facts["glued"]
    assert list(glued.values()) == pytest.approx(expected, abs=5e-3)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_product_of_round_budgets_is_reached(rounds: int) -> None:
    table = computed(baselines.rounds).table
    part = table[table["rounds"] == rounds]
    for value, exact in zip(
        (Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5)), part["exp_exact"], strict=True
    ):
        assert exact == allocation.compose_ue(value**rounds, value) * value ** (rounds - 1)


def test_deviation_is_first_order() -> None:
    """Measured standard deviations within 95 % bands mostly; checked at a stated rate."""
    table = computed(baselines.measured_rounds).table
    real = table[table["kind"] == "real"]
    repeats = computed(baselines.measured_rounds).facts["repeats"]
    ratio = (real["deviation"] / real["deviation_theory"]) ** 2
    # Each ratio is chi-square / (R - 1), standard deviation sqrt(2 / (R - 1)): 6 of them.
    assert (np.abs(ratio - 1) < 6 * math.sqrt(2 / (repeats - 1))).all()
    assert table.loc[table["kind"] != "real", "deviation_theory"].isna().all()


def test_expected_mean_of_virtual_rounds_is_the_librarys() -> None:
    for kind in baselines.VIRTUAL_RULES:
        for frequency in baselines.FREQUENCIES:
            first = baselines._expected("real", 1, frequency)
            mechanism = PrivKVMVirtual.from_epsilon(
                baselines.EPSILON, n_keys=1, virtual_rounds=5, rule=kind
            )
            from ldpkv.baselines import virtual_factor

            factor = virtual_factor(np.array([frequency]), mechanism.keep_key, 5, kind)[0]
            assert math.isclose(baselines._expected(kind, 5, frequency), first * factor)


def test_results_depend_on_the_seed_only() -> None:
    again = baselines.comparison("quick", 2020)
    assert again.table.equals(computed(baselines.comparison).table)


def test_unknown_profile() -> None:
    for run in {claim.run for claim in CLAIMS.values()}:
        with pytest.raises((ValueError, KeyError), match="profile must be one of"):
            run("qick")


def test_tables_and_figures() -> None:
    assert baselines.epsilon_table(computed(baselines.exact_epsilons)).shape == (9, 7)
    assert baselines.rounds_table(computed(baselines.rounds)).shape == (12, 4)
    errors = baselines.rounds_error_table(computed(baselines.measured_rounds))
    assert errors["rounds"].tolist()[-1] == "1 real + 5 virtual, half"
    assert computed(baselines.communication).table.shape[1] <= 7
    for draw, run in (
        (baselines.draw_rounds, baselines.measured_rounds),
        (baselines.draw_virtual, baselines.measured_rounds),
        (baselines.draw_comparison, baselines.comparison),
    ):
        figure = draw(computed(run))
        assert all(axis.get_lines() for axis in figure.axes)
        plots.plt.close(figure)
