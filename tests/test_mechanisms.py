"""Mechanisms: what every one of them must do; a new one is one more line in the list."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import moved, swapped_signs
from statistical import assert_plausible, assert_rejected, same_law

from ldpkv import allocation, sampling
from ldpkv.baselines import F2M, GRR, KVOH, KVUE, RR, UE, Harmony, PrivKV, PrivKVM
from ldpkv.data import KeyValueData
from ldpkv.hiskv import LRRKV
from ldpkv.mechanisms import PCKVGRR, PCKVUE
from ldpkv.repaired import RepairedHISKV
from ldpkv.trials import run_trials

KINDS = [PCKVUE, PCKVGRR]
USERS = [{0: 1.0}, {0: 0.5, 2: -1.0}, {1: -0.5}, {0: -1.0, 1: 1.0, 2: 0.0}]


def make(kind: type, n_keys: int = 3, padding: int = 2):
    return kind.from_exp_budgets(4.0, 3.0, n_keys=n_keys, padding=padding)


@pytest.fixture
def users() -> KeyValueData:
    return KeyValueData.from_sets(USERS, n_keys=3)


def sampled_counts(mechanism, users: KeyValueData, road: str, times: int, rng) -> np.ndarray:
    """Counts of `times` independent collections, both cells of key 0; shape (times, 2)."""
    rows = []
    for _ in range(times):
        symbols = mechanism.symbols(mechanism.draw(users, rng=rng))
        if road == "literal":
            counts = mechanism.aggregate(mechanism.perturb(symbols, rng=rng))
        else:
            counts = mechanism.simulate_counts(symbols.table(), rng=rng)
        rows.append(counts.table[0])
        assert (counts.n_reports == users.n_users).all()
    return np.array(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_roads_agree_in_law(kind: type, users: KeyValueData, rng: np.random.Generator) -> None:
    """Whole roads, sampling included; false alarm 1e-9, and three planted defects are seen."""
    mechanism = make(kind)
    many = users.take_users(np.repeat(np.arange(4), [16, 8, 4, 4]))
    literal = sampled_counts(mechanism, many, "literal", 4000, rng)
    assert_plausible(same_law(literal, sampled_counts(mechanism, many, "counted", 4000, rng)))
    for name, defect in {
        "signs swapped": swapped_signs(mechanism),
        "p up by 0.1": moved(mechanism, "keep_sign", 0.1),
        "p down by 0.1": moved(mechanism, "keep_sign", -0.1),
    }.items():
        twin = sampled_counts(defect, many, "counted", 4000, rng)
        assert_rejected(same_law(literal, twin), name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("user", [{}, *USERS])
def test_laws_sum_to_one(kind: type, user: dict) -> None:
    mechanism = make(kind)
    assert float(mechanism.symbol_law(user).sum()) == pytest.approx(1, abs=1e-15)
    channel = mechanism.channel()
    assert channel.weights.sum(axis=1) == pytest.approx(channel.denominator, rel=1e-12)


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
def test_relations(seed: int, kind: type) -> None:
    """Permuting users keeps the table; permuting keys permutes it; splitting users adds up."""
    mechanism = make(kind)
    codes = np.random.default_rng(seed).integers(2 * mechanism.width, size=40)
    symbols = sampling.Symbols(codes, mechanism.width, 2)
    order = np.random.default_rng(seed + 0).permutation(40)
    assert np.array_equal(
        symbols.table(), sampling.Symbols(codes[order], mechanism.width, 2).table()
    )
    keys = np.roll(np.arange(mechanism.width), 1)
    renamed = sampling.Symbols(2 * keys[codes // 2] + codes % 2, mechanism.width, 2)
    assert np.array_equal(renamed.table()[keys], symbols.table())
    flipped = sampling.Symbols(codes ^ 1, mechanism.width, 2)
    assert np.array_equal(flipped.table(), symbols.table()[:, ::-1])
    reports = mechanism.perturb(symbols, rng=seed)
    whole = mechanism.aggregate(reports)
    parts = mechanism.aggregate(reports[:15]) + mechanism.aggregate(reports[15:])
    assert np.array_equal(whole.table, parts.table)
    assert np.array_equal(whole.n_reports, parts.n_reports)


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
def test_renaming_keys_renames_estimates(seed: int, kind: type) -> None:
    mechanism = make(kind)
    counts = mechanism.simulate_counts(np.full((5, 2), 30), rng=seed)
    order = np.array([2, 0, 1])
    shuffled = type(counts)(
        np.concatenate([counts.table[order], counts.table[3:]]), counts.n_reports
    )
    for correction in ("paper", "code", "none"):
        straight = mechanism.estimate(counts, correction=correction)
        renamed = mechanism.estimate(shuffled, correction=correction)
        assert np.array_equal(renamed.frequency, straight.frequency[order])
        assert np.array_equal(renamed.mean, straight.mean[order], equal_nan=True)


def test_printed_numbers() -> None:
    """Equations (21) and (24)."""
    exp, n_keys, padding = Fraction(5), 7, 3
    ue = PCKVUE.from_exp_budgets(*allocation.optimised(exp), n_keys=n_keys, padding=padding)
    assert (ue.keep_key, ue.fake_key, ue.keep_sign) == (
        Fraction(1, 2),
        2 / (exp + 3),
        exp / (exp + 1),
    )
    grr = PCKVGRR.from_exp_budgets(
        *allocation.optimised(exp, padding), n_keys=n_keys, padding=padding
    )
    lift, width = padding * (exp - 1), n_keys + padding
    assert grr.keep_key == (lift + 2) / (lift + 2 * width)
    assert grr.fake_key == (1 - grr.keep_key) / (width - 1)
    assert grr.keep_sign == (lift + 1) / (lift + 2)
    assert grr.symbol_probabilities[1] == grr.symbol_probabilities[2]


@pytest.mark.parametrize("kind", KINDS)
def test_from_epsilon_is_from_exp_budgets(kind: type) -> None:
    for name, rule in allocation.ALLOCATIONS.items():
        padding = 3
        amplify = padding if kind is PCKVGRR else 1
        direct = kind.from_epsilon(1.2, n_keys=5, padding=padding, allocation=name)
        budgets = rule(math.exp(1.2), amplify)
        assert direct == kind.from_exp_budgets(*budgets, n_keys=5, padding=padding)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": -1.0}, "epsilon must be a finite number above 0"),
        ({"epsilon": math.inf}, "epsilon must be a finite number above 0"),
        ({"epsilon": math.nan}, "epsilon must be a finite number above 0"),
        ({"epsilon": "1"}, "epsilon must be a finite number above 0"),
        ({"n_keys": 0}, "n_keys must be an integer of at least 1, got 0"),
        ({"padding": 0}, "padding must be an integer of at least 1, got 0"),
        ({"padding": 1.5}, "padding must be an integer of at least 1, got 1.5"),
        ({"allocation": "best"}, "allocation must be one of"),
        ({"n_keys": None}, "n_keys must be an integer of at least 1, got None"),
        ({"n_keys": "3"}, "n_keys must be an integer of at least 1, got '3'"),
    ],
)
def test_bad_arguments(kind: type, arguments: dict, message: str) -> None:
    good = {"epsilon": 1.0, "n_keys": 4, "padding": 2}
    with pytest.raises((ValueError, TypeError), match=message):
        kind.from_epsilon(**{**good, **arguments})


@pytest.mark.parametrize("kind", KINDS)
def test_bad_probabilities_and_data(kind: type, users: KeyValueData) -> None:
    with pytest.raises(ValueError, match=r"keep_key must be a number in \[0, 1\], got 1.2"):
        kind(3, 2, 1.2, 0.1, 0.5)
    with pytest.raises(TypeError, match="fake_key must be a number"):
        kind(3, 2, 0.5, "b", 0.5)
    with pytest.raises(ValueError, match="exp_key must be exp"):
        kind.from_exp_budgets(0.5, 2.0, n_keys=3, padding=2)
    with pytest.raises(ValueError, match="data must have n_keys = 5, got 3"):
        make(kind, n_keys=5).draw(users, rng=0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_thing_on_the_road_is_named(kind: type, users: KeyValueData) -> None:
    mechanism = make(kind)
    symbols = mechanism.symbols(mechanism.draw(users, rng=0))
    for call, message in [
        (lambda: mechanism.draw([1, 2]), "data must be KeyValueData, got list; see KeyValueData."),
        (lambda: mechanism.symbols(users), "draws must be Draws, got KeyValueData; call mech"),
        (
            lambda: mechanism.perturb(users),
            r"symbols must be Symbols, got KeyValueData; "
            r"call mechanism\.symbols\(mechanism\.draw\(data\)\)$",
        ),
        (lambda: mechanism.simulate_counts(3), r"table must be ndarray, got int; call symbols\.t"),
        (lambda: mechanism.simulate_counts(symbols), "table must be ndarray, got Symbols"),
        (lambda: mechanism.estimate([1, 2, 3]), "counts must be Counts, got list; call simulate"),
        (lambda: mechanism.draw(users, rng="a"), "rng must be a Generator, a seed .* got 'a'"),
        (lambda: mechanism.perturb(symbols, rng="a"), "rng must be a Generator"),
        (lambda: mechanism.simulate_counts(symbols.table(), rng="a"), "rng must be a Generator"),
        (lambda: sampling.sample_uniform_key(users, rng="a"), "rng must be a Generator"),
        (lambda: sampling.discretise(np.zeros(2), rng=0.5), "rng must be a Generator.*got 0.5"),
        (
            lambda: run_trials(users, {"m": mechanism}, repeats=1, rng="a"),
            "rng must be a Generator",
        ),
    ]:
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(ValueError, match=r"rng must be a Generator, a seed .* got -1"):
        mechanism.draw(users, rng=-1)


SMALL: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (PCKVUE, {"padding": np.uint8(100)}),
    (PCKVGRR, {"padding": np.uint8(100)}),
    (functools.partial(LRRKV.from_epsilon, reading="D"), {"padding": np.uint8(100)}),
    (RepairedHISKV, {}),
    *((kind, {}) for kind in (RR, GRR, UE, Harmony, PrivKV, KVUE, KVOH, F2M)),
    (PrivKVM, {"rounds": np.uint8(3)}),
]


@pytest.mark.parametrize(("kind", "more"), SMALL)
def test_numbers_of_small_types_do_not_wrap(kind: Callable[..., Any], more: dict[str, Any]) -> None:
    """200 keys and 100 dummies as 8-bit integers: 300, not 44."""
    build = getattr(kind, "from_epsilon", kind)
    small = build(np.float32(1.3), n_keys=np.uint8(200), **more)
    plain = build(
        float(np.float32(1.3)), n_keys=200, **{name: int(value) for name, value in more.items()}
    )
    assert small == plain
    assert type(small.n_keys) is int and type(getattr(small, "padding", 1)) is int


def test_readme_runs() -> None:
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 3
    names: dict = {}
    exec(blocks[0], names)
    assert names["estimates"].frequency.shape == (100,)
    *before, last = blocks[1].strip().splitlines()
    exec("\n".join(before), names)
    assert eval(last, names) == pytest.approx(1.0)
    *before, last = blocks[2].strip().splitlines()
    exec("\n".join(before), names)
    said = eval(last.removeprefix("print(").removesuffix(")"), names)
    assert said.startswith("Rejected after")


def test_large_epsilon_and_domain_stay_finite(users: KeyValueData) -> None:
    for kind, epsilon in itertools.product(KINDS, (1e-3, 50.0, 600.0)):
        mechanism = kind.from_epsilon(epsilon, n_keys=10**5, padding=50)
        table = np.zeros((mechanism.width, 2), dtype=np.int64)
        table[:4] = 1000
        found = mechanism.estimate(mechanism.simulate_counts(table, rng=1))
        assert np.isfinite(found.frequency).all()
        assert np.isfinite(found.mean).all()
