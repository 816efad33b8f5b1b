"""Crossing probabilities against closed forms, finer grids, simulation and the paper's picture."""

import numpy as np
import pytest
from scipy import special, stats
from statistical import assert_plausible, assert_rejected, binomial_tail

from ldpkv.auditing import boundaries
from ldpkv.auditing.boundaries import (
    continuous_critical_value,
    continuous_crossing_probability,
    critical_value,
    crossing_path,
    crossing_probability,
    looks,
)


def test_one_look_is_a_normal_tail():
    for constant in (0.2, 1.0, 1.6):
        edge = constant * np.sqrt(np.log(20 + 60 / 50))
        assert crossing_probability(constant, horizon=60) == pytest.approx(
            special.ndtr(-edge), abs=1e-8
        )


def test_two_looks_are_a_bivariate_normal():
    for constant, every in ((0.3, 10), (1.0, 10), (1.2, 200), (1.5, 3)):
        times = np.array([50, 50 + every]) / 50
        edge = constant * np.sqrt(times * np.log(20 + times))
        cov = np.minimum.outer(times, times)
        below = stats.multivariate_normal.cdf(edge, cov=cov, abseps=1e-12, releps=1e-12)
        ours = crossing_probability(
            constant, check_every=every, horizon=50 + every, look_at_burn_in=True
        )
        assert ours == pytest.approx(1 - below, abs=1e-8)


def test_a_finer_grid_changes_nothing(monkeypatch):
    settings = {"burn_in": 30, "check_every": 7, "horizon": 1000}
    coarse = crossing_path(1.4, **settings)
    monkeypatch.setattr(boundaries, "_POINTS", 17)
    np.testing.assert_allclose(crossing_path(1.4, **settings), coarse, atol=1e-8)


def test_crossing_grows_with_looks_and_falls_with_the_constant():
    path = crossing_path(1.58, horizon=1000)
    assert np.all(np.diff(path) > 0) and len(path) == len(
        looks(50, 10, 1000, include_burn_in=False)
    )
    assert crossing_probability(1.58, horizon=1000, look_at_burn_in=True) > path[-1]
    assert crossing_probability(1.58, horizon=1000, check_every=1) > path[-1]
    assert crossing_probability(1.6, horizon=1000) < path[-1]


def simulated_crossings(constant, paths, rng):
    times = looks(50, 10, 500, include_burn_in=True)
    steps = np.sqrt(np.diff(times, prepend=0)) * rng.standard_normal((paths, len(times)))
    edge = constant * np.sqrt(times * np.log(20 + times / 50))
    return int(np.any(np.cumsum(steps, axis=1) > edge, axis=1).sum())


def test_simulation_agrees():
    # False alarm 1e-9; with 200,000 paths a difference of 0.002 in probability would be seen.
    rng = np.random.default_rng(11)
    true = crossing_probability(1.4, horizon=500, look_at_burn_in=True)
    hits = simulated_crossings(1.4, 200_000, rng)
    assert_plausible(binomial_tail(hits, 200_000, true), "crossings")
    assert_rejected(binomial_tail(hits, 200_000, true + 0.004), "too high")
    assert_rejected(binomial_tail(hits, 200_000, true - 0.004), "too low")


@pytest.mark.parametrize("key", sorted(boundaries._KNOWN), ids=str)
def test_built_in_critical_values(key):
    level, burn_in, check_every, horizon, include = key
    crossing = crossing_probability(
        boundaries._KNOWN[key],
        burn_in=burn_in,
        check_every=check_every,
        horizon=horizon,
        look_at_burn_in=include,
    )
    assert crossing == pytest.approx(level, abs=5e-9)


def test_other_critical_values_are_solved_for():
    q = critical_value(0.01, burn_in=20, check_every=5, horizon=300)
    assert crossing_probability(q, burn_in=20, check_every=5, horizon=300) == pytest.approx(
        0.01, abs=1e-8
    )
    # One look: a normal quantile.
    q = critical_value(0.2, burn_in=20, check_every=5, horizon=25)
    assert q * np.sqrt(np.log(20 + 1.25)) == pytest.approx(-special.ndtri(0.2), abs=1e-7)


def test_published_critical_value_is_a_little_low():
    # Computed: 1.5808. The artifact's 1.57761 comes from 10,000 paths, standard error 0.015.
    crossing = crossing_probability(boundaries.PUBLISHED_CRITICAL_VALUE)
    assert crossing == pytest.approx(0.02541, abs=1e-5)


def test_plotted_boundary_is_no_five_percent_boundary():
    # Figure 3 plots g = sqrt((x / 4) log(20 + x)) with standard Brownian paths.
    assert continuous_crossing_probability(0.5, stop=200) == pytest.approx(0.7614, abs=1e-4)
    assert continuous_crossing_probability(1.0, stop=200) == pytest.approx(0.3072, abs=1e-4)
    assert continuous_crossing_probability(1.0) == pytest.approx(0.3422, abs=1e-3)
    assert float(boundaries.boundary(4.0)) == pytest.approx(np.sqrt(np.log(24)))


def test_integral_equation_converges_and_is_the_limit_of_many_looks():
    fine = continuous_crossing_probability(1.0, stop=20, nodes=4000)
    assert continuous_crossing_probability(1.0, stop=20, nodes=1000) == pytest.approx(
        fine, abs=5e-6
    )
    # Looks at distance 1/M miss a share of crossings that falls like sqrt(1/M).
    sparse, dense = (
        crossing_probability(1.0, burn_in=m, check_every=1, horizon=20 * m, look_at_burn_in=True)
        for m in (25, 100)
    )
    assert sparse < dense < fine
    assert 2 * dense - sparse == pytest.approx(fine, abs=2e-3)


def test_continuous_critical_values():
    assert continuous_critical_value(0.025) == pytest.approx(1.6575, abs=2e-4)
    assert continuous_critical_value(0.05) == pytest.approx(1.5122, abs=2e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: critical_value(0.5), r"level must be one-sided and in \(0, 1/2\), got 0.5"),
        (lambda: critical_value(0.025, horizon=10), "horizon must be an integer of at least 50"),
        (lambda: crossing_probability(0.0), "constant must be a finite number above 0, got 0.0"),
        (lambda: crossing_probability(1.0, horizon=55), "horizon must reach the first look"),
        (lambda: crossing_probability(1.0, burn_in=0), "burn_in must be an integer of at least 1"),
        (lambda: continuous_crossing_probability(1.0, start=2.0, stop=1.0), "0 < start < stop"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
