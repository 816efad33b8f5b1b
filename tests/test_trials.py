"""Trials: independent of workers, resumable, and what they claim to be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statistical import FALSE_ALARM

from ldpkv import data as datasets
from ldpkv import theory
from ldpkv.data import KeyValueData
from ldpkv.mechanisms import PCKVGRR, PCKVUE
from ldpkv.trials import Trials, run_trials


@pytest.fixture
def users() -> KeyValueData:
    sets = [{0: 1.0}, {0: 0.5, 2: -1.0}, {1: -0.5}, {0: -1.0, 1: 1.0, 2: 0.0}]
    return KeyValueData.from_sets(sets * 50, n_keys=4)


MECHANISMS = {
    "UE, l = 2": PCKVUE.from_epsilon(2.0, n_keys=4, padding=2),
    "GRR, l = 2": PCKVGRR.from_epsilon(2.0, n_keys=4, padding=2),
    "UE, l = 1": PCKVUE.from_epsilon(2.0, n_keys=4, padding=1),
}


def same(first: Trials, second: Trials) -> bool:
    names = ("frequency", "mean", "true_frequency", "true_mean", "keys")
    return all(
        np.array_equal(getattr(first, name), getattr(second, name), equal_nan=name != "keys")
        for name in names
    )


@pytest.mark.parametrize("source", ["fixed", "generated"])
def test_workers_do_not_matter(users: KeyValueData, source: str) -> None:
    given = users if source == "fixed" else (lambda rng: datasets.uniform(300, 4, rng=rng))
    one = run_trials(given, MECHANISMS, repeats=5, rng=3)
    two = run_trials(given, MECHANISMS, repeats=5, rng=3, n_jobs=2)
    assert same(one, two)
    assert one.frequency.shape == (5, 3, 4)


def test_adding_repetitions_keeps_the_first(users: KeyValueData) -> None:
    few = run_trials(users, MECHANISMS, repeats=2, rng=3)
    many = run_trials(users, MECHANISMS, repeats=4, rng=3)
    assert np.array_equal(few.frequency, many.frequency[:2])


def test_resume_gives_the_same(users: KeyValueData, tmp_path: Path) -> None:
    whole = run_trials(users, MECHANISMS, repeats=6, rng=3)

    def stop(done: int, repeats: int) -> None:
        assert repeats == 6
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_trials(users, MECHANISMS, repeats=6, rng=3, checkpoint=tmp_path, progress=stop)
    stored = sorted(tmp_path.glob("*/*.npz"))
    assert 3 <= len(stored) < 6
    assert not list(tmp_path.glob("*/*partial*"))
    before = {path: path.stat().st_mtime_ns for path in stored}
    seen: list[int] = []
    resumed = run_trials(
        users,
        MECHANISMS,
        repeats=6,
        rng=3,
        checkpoint=tmp_path,
        progress=lambda done, _: seen.append(done),
    )
    assert same(whole, resumed)
    assert seen == [1, 2, 3, 4, 5, 6]
    assert all(path.stat().st_mtime_ns == before[path] for path in stored)


def test_other_arguments_do_not_reuse_a_checkpoint(users: KeyValueData, tmp_path: Path) -> None:
    first = run_trials(users, MECHANISMS, repeats=2, rng=3, checkpoint=tmp_path)
    for changed in (
        {"rng": 4},
        {"correction": "none"},
        {"mechanisms": {"UE": MECHANISMS["UE, l = 2"]}},
    ):
        arguments = {"mechanisms": MECHANISMS, "rng": 3, **changed}
        direct = run_trials(users, repeats=2, **arguments)
        stored = run_trials(users, repeats=2, checkpoint=tmp_path, **arguments)
        assert same(direct, stored)
        assert not same(first, stored)
    assert len(list(tmp_path.iterdir())) == 4


def test_errors_and_intervals_by_hand() -> None:
    trials = Trials(
        ("x",),
        np.array([0, 1]),
        np.array([[[1.0, 3.0]], [[2.0, 2.0]], [[1.0, 1.0]]]),
        np.array([[[0.5, 9.0]], [[0.0, 9.0]], [[1.0, 9.0]]]),
        np.array([[1.0, 1.0]] * 3),
        np.array([[0.0, np.nan]] * 3),
    )
    assert trials.squared_error("frequency").ravel().tolist() == [2.0, 1.0, 0.0]
    assert trials.squared_error("mean").ravel().tolist() == [0.25, 0.0, 1.0]
    average, low, high = trials.interval("frequency")[0]
    reach = stats.t.ppf(0.975, 2) / np.sqrt(3)
    assert (average, low, high) == pytest.approx((1.0, max(0.0, 1 - reach), 1 + reach))
    with pytest.raises(ValueError, match="statistic must be one of"):
        trials.squared_error("total")


def test_one_repetition_claims_nothing(users: KeyValueData) -> None:
    interval = run_trials(users, MECHANISMS, repeats=1, rng=0).interval("frequency")
    assert (interval[:, 1] == 0).all()
    assert np.isinf(interval[:, 2]).all()


def test_average_error_is_the_exact_variance(users: KeyValueData) -> None:
    """t-test on independent repetitions, false alarm 1e-9; dropping the sampling term is seen."""
    mechanism = PCKVUE.from_epsilon(6.0, n_keys=4, padding=8)
    trials = run_trials(users, {"UE": mechanism}, repeats=3000, rng=5, correction="none")
    numbers = theory.Numbers.of(mechanism)
    exact = theory.frequency_variance_of(numbers, theory.moments_of_data(numbers, users)).mean()
    printed = theory.frequency_variance_printed(
        numbers, users.truth().frequency, users.n_users
    ).mean()
    errors = trials.squared_error("frequency")[:, 0]
    assert stats.ttest_1samp(errors, exact).pvalue >= FALSE_ALARM
    assert stats.ttest_1samp(errors, printed).pvalue < FALSE_ALARM


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"repeats": 0}, "repeats must be an integer of at least 1, got 0"),
        ({"mechanisms": {}}, "mechanisms must hold at least one"),
        ({"correction": "most"}, "correction must be one of"),
        ({"checkpoint": "somewhere", "rng": None}, "rng must be an integer seed when checkpoint"),
    ],
)
def test_bad_arguments(users: KeyValueData, arguments: dict, message: str) -> None:
    good = {"mechanisms": MECHANISMS, "repeats": 2, "rng": 1}
    with pytest.raises(ValueError, match=message):
        run_trials(users, **{**good, **arguments})
    assert not Path("somewhere").exists()
