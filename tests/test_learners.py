"""Learners: right ratios in the limit, drawn to zero at the start, at ease with any output."""

import functools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpkv.auditing import targets
from ldpkv.auditing.learners import (
    Categories,
    CommonShape,
    Densities,
    Known,
    Normal,
    Probabilistic,
)

BLIND = (Normal(), CommonShape(), Densities())
EVERY = (*BLIND, Categories())


@pytest.mark.parametrize("learner", BLIND, ids=lambda learner: learner.name)
@pytest.mark.parametrize("target", [targets.Gaussian(1.0), targets.Laplace(1.0)], ids=repr)
def test_ratio_is_found_in_the_limit(learner, target):
    x, y = target.sample(40_000, rng=1)
    points = np.linspace(-1, 2, 31)
    error = learner.fit(x, y)(points) - target.log_ratio(points)
    # A normal law is the wrong model for Laplace noise.
    allowed = 0.9 if isinstance(target, targets.Laplace) and learner == Normal() else 0.25
    assert np.abs(error).max() < allowed


def test_unequal_scales_are_found():
    x, y = targets.NonDPGaussian1(1.0).sample(40_000, rng=2)
    points = np.linspace(-1.5, 2.5, 21)
    truth = math.log(2) + (points / 2) ** 2 / 2 - (points - 0.5) ** 2 / 2
    for learner in BLIND:
        np.testing.assert_allclose(learner.fit(x, y)(points), truth, atol=0.25)


def test_atoms_get_their_ratio():
    x = np.repeat([0.0, 1.0, 2.0], [600, 300, 100])
    y = np.repeat([0.0, 1.0, 2.0], [100, 300, 600])
    score = Densities().fit(x, y)(np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(score, [-math.log(6), 0.0, math.log(6)], atol=0.02)


def test_atoms_beside_a_density():
    generator = np.random.default_rng(3)
    # Half of Q's outputs are exactly 0, the rest are noise as P's.
    x, y = generator.standard_normal((2, 4000))
    y[:2000] = 0.0
    score = Densities().fit(x, y)(np.array([0.0, 0.5, -0.5]))
    assert score[0] > 5
    np.testing.assert_allclose(score[1:], math.log(0.5), atol=0.2)


@pytest.mark.parametrize("learner", BLIND, ids=lambda learner: learner.name)
@given(n=st.integers(2, 6), seed=st.integers(0, 99))
def test_few_outputs_give_timid_scores(learner, n, seed):
    x, y = np.random.default_rng(seed).standard_normal((2, n))
    score = learner.fit(x, y)(np.concatenate([x, y]))
    assert np.isfinite(score).all()
    assert np.abs(score).max() < 8


@pytest.mark.parametrize("learner", BLIND, ids=lambda learner: learner.name)
@given(shift=st.floats(-1e6, 1e6), scale=st.floats(1e-6, 1e6))
def test_units_do_not_matter(learner, shift, scale):
    x, y = targets.Laplace(1.0).sample(60, rng=4)
    points = np.linspace(-2, 3, 11)
    one = learner.fit(x, y)(points)
    two = learner.fit(shift + scale * x, shift + scale * y)(shift + scale * points)
    # Digits of the outputs are lost where the shift is large against the scale.
    np.testing.assert_allclose(one, two, atol=1e-4 + 1e-9 * abs(shift) / scale)


@pytest.mark.parametrize("learner", EVERY, ids=lambda learner: learner.name)
def test_swapping_the_laws_turns_the_sign(learner):
    x, y = targets.NonDPLaplace1(1.0).sample(200, rng=5)
    points = np.linspace(-4, 4, 17)
    np.testing.assert_allclose(
        learner.fit(x, y)(points), -learner.fit(y, x)(points), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("learner", EVERY, ids=lambda learner: learner.name)
@pytest.mark.parametrize(
    "outputs",
    [
        [0.0, 0.0, 0.0],
        [1e308, -1e308, 0.0],
        [np.inf, -np.inf, 1.0],
        [5e-324, 0.0, 1.0],
        [np.inf, np.inf, np.inf],
    ],
    ids=str,
)
def test_any_output_has_a_score(learner, outputs):
    x, y = np.array(outputs), np.array(outputs[::-1])
    for a, b in ((x, y), (x, np.arange(3.0)), (np.arange(3.0), y)):
        score = learner.fit(a, b)(np.concatenate([a, b, [7.0, np.inf]]))
        assert not np.isnan(score).any()


def test_scores_can_be_stored():
    x, y = targets.Gaussian(1.0).sample(50, rng=6)
    for learner in EVERY:
        score = learner.fit(x, y)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(score))(x), score(x))


@pytest.mark.parametrize("prior", [0.5, 1.0])
def test_categories_count(prior: float) -> None:
    x, y = np.array([1.0, 1.0, 7.0, -3.0]), np.array([7.0, 7.0, 1.0, 2.0])
    score = Categories(prior).fit(x, y)
    assert score(np.array([])).shape == (0,)
    found = score(np.array([1.0, 7.0, 2.0, -3.0, 99.0, -99.0]))
    expected = [(1, 2), (2, 1), (1, 0), (0, 1), (0, 0), (0, 0)]
    assert found == pytest.approx([math.log((q + prior) / (p + prior)) for q, p in expected])
    # Only which outputs are equal matters, not their size.
    again = Categories(prior).fit(-(x**3), -(y**3))
    assert again(np.array([-1.0, -343.0])) == pytest.approx(found[:2])


def test_known_ratio_is_passed_on():
    target = targets.Gaussian(1.0)
    assert Known(target.log_ratio).fit(np.zeros(2), np.zeros(2)) == target.log_ratio


def test_a_classifier_corrects_for_unequal_sizes():
    linear_model = pytest.importorskip("sklearn.linear_model")
    learner = Probabilistic(functools.partial(linear_model.LogisticRegression, C=1e6))
    x, y = targets.Gaussian(1.0).sample(8000, rng=7)
    points = np.linspace(-1, 2, 7)
    np.testing.assert_allclose(
        learner.fit(x[:2000], y)(points), targets.Gaussian(1.0).log_ratio(points), atol=0.15
    )
    assert learner.fit(x, y)(np.empty(0)).shape == (0,)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: Densities(pull=0.0), ValueError, "pull"),
        (lambda: Densities(pull=math.nan), ValueError, "pull"),
        (lambda: Categories(0), ValueError, "prior must be a finite number above 0, got 0"),
        (lambda: Probabilistic(3), TypeError, "make"),
        (lambda: Probabilistic(dict, largest=0.0), ValueError, "largest"),
    ],
)
def test_bad_arguments_are_named(make, error, match):
    with pytest.raises(error, match=match):
        make()
