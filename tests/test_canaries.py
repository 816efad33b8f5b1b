"""One-run DP-SGD with canaries: exact parts, the law of every score, planted errors."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statistical import assert_plausible, assert_rejected, binomial_tail, goodness_of_fit

from ldpkv.auditing import canaries
from ldpkv.auditing.canaries import KINDS, RATIO, RAW, RAW_RATIO, REMOVED, Network, OneRun

SMALL = Network(5, 4, 3)


def batch(seed: int, n: int, network: Network = SMALL):
    rng = np.random.default_rng(seed)
    weights = network.start(rng=rng)
    weights += 0.3 * rng.standard_normal(len(weights))
    x = rng.standard_normal((n, network.features))
    return weights, x, rng.integers(network.classes, size=n)


# --- gradients --------------------------------------------------------------------------------


def gradient_error(gradients, seed: int) -> float:
    """Largest distance to central differences of the losses, away from the kinks."""
    weights, x, labels = batch(seed, 6)
    found = gradients(SMALL, weights, x, labels)
    step, worst = 1e-6, 0.0
    for j in range(len(weights)):
        move = np.zeros(len(weights))
        move[j] = step
        up, down = (SMALL.losses(weights + s * move, x, labels) for s in (1, -1))
        worst = max(worst, float(np.abs((up - down) / (2 * step) - found[:, j]).max()))
    return worst


def no_rectifier(network, weights, x, labels):
    """Planted: the derivative of the rectifier forgotten."""
    hidden, _, top = network._deltas(weights, x, labels)
    low = top @ network._parts(weights)[2].T
    parts = (x[:, :, None] * low[:, None, :], low, hidden[:, :, None] * top[:, None, :], top)
    return np.concatenate([part.reshape(len(x), -1) for part in parts], axis=1)


def wrong_label(network, weights, x, labels):
    """Planted: the label of another record."""
    return network.example_gradients(weights, x, np.roll(labels, 1))


def averaged(network, weights, x, labels):
    """Planted: the gradient of the mean loss for every record, as one batch backward pass gives."""
    gradients = network.example_gradients(weights, x, labels)
    return np.broadcast_to(gradients.mean(axis=0), gradients.shape)


@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_finite_differences(seed: int) -> None:
    assert gradient_error(Network.example_gradients, seed) < 1e-8


@pytest.mark.parametrize("planted", [no_rectifier, wrong_label, averaged])
def test_wrong_gradients_are_seen(planted) -> None:
    assert min(gradient_error(planted, seed) for seed in range(4)) > 1e-2


def test_a_gradient_by_hand() -> None:
    """One feature, one unit, two classes: every number on paper."""
    network = Network(1, 1, 2)
    weights = np.array([2.0, -1.0, 1.0, 0.0, 0.0, 0.0])  # hidden 2x - 1, logits (h, 0)
    x = np.array([[1.0], [0.0]])
    p = math.e / (1 + math.e)
    expected = [[-(1 - p)] * 2 + [-(1 - p), 1 - p] * 2, [0.0, 0.0, 0.0, 0.0, -0.5, 0.5]]
    np.testing.assert_allclose(network.example_gradients(weights, x, np.array([0, 0])), expected)
    np.testing.assert_allclose(
        network.losses(weights, x, np.array([0, 1])), [-math.log(p), math.log(2)]
    )


def test_size_of_the_network() -> None:
    assert Network().n_weights == 21_760 == len(Network().start(rng=1))


# --- clipping ---------------------------------------------------------------------------------


def literal_sum(network, weights, x, labels, clip):
    """Each gradient by itself, scaled down, added."""
    total = np.zeros(len(weights))
    for i in range(len(x)):
        gradient = network.example_gradients(weights, x[i : i + 1], labels[i : i + 1])[0]
        total += gradient * min(1.0, clip / np.linalg.norm(gradient))
    return total


def clipped_together(network, weights, x, labels, clip):
    """Planted: the sum is clipped, not its terms."""
    total = network.example_gradients(weights, x, labels).sum(axis=0)
    return total * min(1.0, clip / np.linalg.norm(total))


def clipped_by_layer(network, weights, x, labels, clip):
    """Planted: each layer is clipped to C, so that a record can have norm sqrt(2) C."""
    gradients = network.example_gradients(weights, x, labels)
    cut = (network.features + 1) * network.hidden
    for part in (gradients[:, :cut], gradients[:, cut:]):
        norms = np.linalg.norm(part, axis=1, keepdims=True)
        part *= np.minimum(1, clip / np.maximum(norms, 1e-12))
    return gradients.sum(axis=0)


def clipped_without_offsets(network, weights, x, labels, clip):
    """Planted: the norm leaves the offsets out."""
    gradients = network.example_gradients(weights, x, labels)
    cut = network.features * network.hidden
    kept = np.r_[0:cut, cut + network.hidden : gradients.shape[1] - network.classes]
    norms = np.linalg.norm(gradients[:, kept], axis=1, keepdims=True)
    return (gradients * np.minimum(1, clip / np.maximum(norms, 1e-12))).sum(axis=0)


def library_sum(network, weights, x, labels, clip):
    return network.clipped_sum(weights, x, labels, clip)[0]


def excess_of_one_record(total_of, seed: int, clip: float) -> float:
    """Largest norm of what one record adds, over C."""
    weights, x, labels = batch(seed, 8)
    added = [total_of(SMALL, weights, x[i : i + 1], labels[i : i + 1], clip) for i in range(len(x))]
    return max(float(np.linalg.norm(a)) for a in added) / clip


@given(seed=st.integers(0, 10**6), n=st.integers(1, 9), clip=st.floats(0.01, 20))
@settings(max_examples=60, deadline=None)
def test_the_clipped_sum_is_the_sum_of_clipped_gradients(seed: int, n: int, clip: float) -> None:
    weights, x, labels = batch(seed, n)
    total, norms = SMALL.clipped_sum(weights, x, labels, clip)
    np.testing.assert_allclose(total, literal_sum(SMALL, weights, x, labels, clip), atol=1e-12)
    gradients = SMALL.example_gradients(weights, x, labels)
    np.testing.assert_allclose(norms, np.linalg.norm(gradients, axis=1), rtol=1e-12, atol=1e-12)
    assert excess_of_one_record(library_sum, seed, clip) <= 1 + 1e-12


def test_a_record_adds_exactly_c_when_its_gradient_is_longer() -> None:
    for seed in range(5):
        assert excess_of_one_record(library_sum, seed, 0.05) == pytest.approx(1, abs=1e-12)


def test_empty_batches_and_zero_gradients() -> None:
    weights, x, labels = batch(1, 3)
    total, norms = SMALL.clipped_sum(weights, x[:0], labels[:0], 1.0)
    assert not total.any() and len(norms) == 0
    # One class: the loss is constant, and 0 / 0 must not appear.
    network = Network(5, 4, 1)
    total, norms = network.clipped_sum(network.start(rng=1), x, 0 * labels, 1.0)
    assert not total.any() and not norms.any()


def test_wrong_clipping_is_seen() -> None:
    for planted in (clipped_by_layer, clipped_without_offsets):
        assert max(excess_of_one_record(planted, seed, 0.05) for seed in range(5)) > 1.01
    weights, x, labels = batch(1, 8)
    right = literal_sum(SMALL, weights, x, labels, 0.05)
    wrong = clipped_together(SMALL, weights, x, labels, 0.05)
    assert np.abs(wrong - right).max() > 1e-2


# --- the loop against its literal twin --------------------------------------------------------

TINY = OneRun(
    n_canaries=6, n_steps=7, hidden=4, clip_norm=0.4, sampling_rate=0.3, n_watched=2,
    noise_multiplier=0.8,
)  # fmt: skip


def literal_run(run: OneRun, x, labels, seed: int):
    """The same draws in the same order, every record written out; scores by their definitions."""
    network = Network(x.shape[1], run.hidden, int(labels.max()) + 1)
    rng = np.random.default_rng(seed)
    weights = network.start(rng=rng)
    k, clip, sigma, q = run.n_canaries, run.clip_norm, run.noise_multiplier, run.sampling_rate
    places = rng.permutation(network.n_weights)[: 2 * k]
    seen, bases = [], []
    for _ in range(run.n_steps):
        batch = rng.random(len(x)) < q
        base = literal_sum(network, weights, x[batch], labels[batch], clip)
        total = base.copy()
        for place, taken in zip(places[:k], rng.random(k) < q, strict=True):
            canary = np.zeros(len(weights))
            canary[place] = clip
            total += taken * canary
        total += sigma * clip * rng.standard_normal(len(weights), dtype=np.float32)
        weights = weights - run.learning_rate * total / (q * len(x) * clip)
        seen.append(total[places] / clip)
        bases.append(base[places] / clip)
    seen, bases = np.array(seen), np.array(bases)

    def ratio(z):
        with_canary = q * stats.norm.pdf(z, 1, sigma) + (1 - q) * stats.norm.pdf(z, 0, sigma)
        return np.log(with_canary / stats.norm.pdf(z, 0, sigma)).sum(axis=0)

    scores = {
        RAW: seen.mean(axis=0),
        REMOVED: (seen - bases).mean(axis=0),
        RAW_RATIO: ratio(seen),
        RATIO: ratio(seen - bases),
    }
    return scores, seen, network.accuracy(weights, x, labels)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_run_is_its_literal_twin(seed: int) -> None:
    _, x, labels = batch(seed, 20)
    found = canaries.train(TINY, x, labels, rng=seed)
    scores, seen, accuracy = literal_run(TINY, x, labels, seed)
    k = TINY.n_canaries
    for kind in KINDS:
        np.testing.assert_allclose(found.scores_in[kind], scores[kind][:k], atol=1e-6)
        np.testing.assert_allclose(found.scores_out[kind], scores[kind][k:], atol=1e-6)
    np.testing.assert_allclose(found.steps_in, seen[:, :2], atol=1e-5)
    np.testing.assert_allclose(found.steps_out, seen[:, k : k + 2], atol=1e-5)
    assert found.train_accuracy == accuracy
    assert math.isnan(found.accuracy)


def test_runs_depend_on_the_seed_only() -> None:
    _, x, labels = batch(1, 20)
    one, two, other = (canaries.train(TINY, x, labels, rng=seed) for seed in (3, 3, 4))
    for kind in KINDS:
        np.testing.assert_array_equal(one.scores_in[kind], two.scores_in[kind])
        assert not np.array_equal(one.scores_in[kind], other.scores_in[kind])


# --- laws of a run: sampling, noise, scores ---------------------------------------------------

LAW = OneRun(
    n_canaries=3_000, n_steps=40, sampling_rate=0.15, noise_multiplier=1.4, clip_norm=0.7,
    hidden=290, n_watched=300,
)  # fmt: skip


def digits_like(n: int = 300):
    """Records of 64 features in ten classes that a network can tell apart."""
    rng = np.random.default_rng(5)
    centres = rng.random((10, 64))
    labels = rng.integers(10, size=n)
    return centres[labels] + 0.2 * rng.standard_normal((n, 64)), labels


def law_run(run: OneRun = LAW, seed: int = 8) -> canaries.CanaryRun:
    return canaries.train(run, *digits_like(), rng=seed)


def p_values(run: canaries.CanaryRun) -> dict[str, float]:
    """p-values of everything whose exact law is known; one for each kind of error."""
    s = run.settings
    t, q, k = s.n_steps, s.sampling_rate, s.n_canaries
    sd = s.noise_multiplier / math.sqrt(t)
    included, excluded = run.scores_in[REMOVED], run.scores_out[REMOVED]
    counts = np.bincount(run.takings, minlength=t + 1)
    noise = (included - run.takings / t) / sd
    squares = float(np.sum((excluded / sd) ** 2))
    batches = ((run.batch_sizes - 300 * q) ** 2).sum() / (300 * q * (1 - q))
    shared = ((run.canary_batches - k * q) ** 2).sum() / (k * q * (1 - q))
    alpha, beta = canaries.removed_errors(s, [q / 2])
    return {
        "records sampled": binomial_tail(run.batch_sizes.sum(), 300 * t, q),
        "spread of batch sizes": two_sided(float(stats.chi2.cdf(batches, t))),
        "canaries sampled": binomial_tail(run.takings.sum(), k * t, q),
        "steps of each canary": goodness_of_fit(counts, stats.binom.pmf(np.arange(t + 1), t, q)),
        "canaries of each step": two_sided(float(stats.chi2.cdf(shared, t))),
        "noise, held out": two_sided(float(stats.chi2.cdf(squares, k))),
        "noise, held out, shape": float(stats.kstest(excluded / sd, "norm").pvalue),
        "noise, included": float(stats.kstest(noise, "norm").pvalue),
        "held out below q / 2": binomial_tail((excluded >= q / 2).sum(), k, float(alpha[0])),
        "included above q / 2": binomial_tail((included < q / 2).sum(), k, float(beta[0])),
        "ratio": balance(run),
    }


def two_sided(cdf: float) -> float:
    return 2 * min(cdf, 1 - cdf)


def balance(run: canaries.CanaryRun) -> float:
    """p-value of E_out[r / (1 + r)^2] = E_in[1 / (1 + r)^2], true of a likelihood ratio r.

    Both sides are means of numbers in [0, 1]: Hoeffding's bound, no approximation. The square
    makes it see a ratio upside down as well.
    """
    k = run.settings.n_canaries
    r_in, r_out = np.exp(run.scores_in[RATIO]), np.exp(run.scores_out[RATIO])
    gap = np.mean(r_out / (1 + r_out) ** 2) - np.mean(1 / (1 + r_in) ** 2)
    return float(2 * np.exp(-k * gap**2))


# Batch sizes are binomial with variance 38, included canaries of a step with 382: their chi-square
# is close to exact; the others are exact. Each p-value is compared with 1e-9.
@pytest.mark.parametrize("seed", [8, 9])
def test_laws_of_a_run(seed: int) -> None:
    for what, p in p_values(law_run(seed=seed)).items():
        assert_plausible(p, what)


def planted_sampling(kind: str):
    right = canaries.sample_records

    def wrong(n: int, rate: float, *, rng):
        if kind == "rate":
            return right(n, 1.2 * rate, rng=rng)
        if kind == "fixed size":
            taken = np.zeros(n, dtype=bool)
            taken[rng.permutation(n)[: round(rate * n)]] = True
            return taken
        return np.full(n, rng.random() < rate)  # one coin for all

    return wrong


def planted_noise(kind: str):
    right = canaries.gaussian_noise
    kept: list = []

    def wrong(n: int, sd: float, *, rng):
        if kind == "no clip norm":
            return right(n, LAW.noise_multiplier, rng=rng)
        if kind == "5 % too small":
            return right(n, 0.95 * sd, rng=rng)
        if kind == "uniform":
            return sd * rng.uniform(-math.sqrt(3), math.sqrt(3), n).astype(np.float32)
        if kind == "shared":
            return np.full(n, sd * rng.standard_normal(), dtype=np.float32)
        # "reused": the same noise in two steps running
        kept.append(right(n, sd, rng=rng))
        return kept[2 * ((len(kept) - 1) // 2)]

    return wrong


DEFECTS = [
    ("sample_records", planted_sampling("rate"), "records sampled"),
    ("sample_records", planted_sampling("rate"), "canaries sampled"),
    ("sample_records", planted_sampling("fixed size"), "canaries of each step"),
    ("sample_records", planted_sampling("one coin"), "canaries of each step"),
    ("sample_records", planted_sampling("one coin"), "spread of batch sizes"),
    ("sample_records", planted_sampling("one coin"), "steps of each canary"),
    ("gaussian_noise", planted_noise("no clip norm"), "noise, held out"),
    ("gaussian_noise", planted_noise("no clip norm"), "noise, included"),
    ("gaussian_noise", planted_noise("shared"), "noise, held out, shape"),
    ("gaussian_noise", planted_noise("reused"), "noise, held out"),
    ("log_ratio", lambda z, q, s: z / s**2, "ratio"),  # the limit of rare sampling, wrong here
    ("log_ratio", lambda z, q, s: -np.log1p(q * np.expm1((z - 0.5) / s**2)), "ratio"),
]


@pytest.mark.parametrize(
    ("part", "wrong", "seen_by"), DEFECTS, ids=[f"{p}-{n}" for n, (p, *_) in enumerate(DEFECTS)]
)
def test_planted_errors_are_seen(part: str, wrong, seen_by: str, monkeypatch) -> None:
    monkeypatch.setattr(canaries, part, wrong)
    assert_rejected(p_values(law_run())[seen_by], f"{part}: {seen_by}")


def test_a_small_error_of_the_noise_is_seen(monkeypatch) -> None:
    """5 % too little noise: 10,000 canaries a side see it."""
    run = dataclasses.replace(LAW, n_canaries=10_000)
    assert_plausible(p_values(law_run(run))["noise, held out"], "right noise")
    monkeypatch.setattr(canaries, "gaussian_noise", planted_noise("5 % too small"))
    assert_rejected(p_values(law_run(run))["noise, held out"], "5 % too small")


def test_uniform_noise_is_seen_step_by_step(monkeypatch) -> None:
    """Means over steps hide the shape; single observations show it."""

    def p(run: canaries.CanaryRun) -> float:
        # No data, so that nothing has to be removed: one record of one class.
        return float(stats.kstest(run.steps_out.ravel() / LAW.noise_multiplier, "norm").pvalue)

    data = np.zeros((1, 64)), np.zeros(1, dtype=np.int64)
    run = dataclasses.replace(LAW, hidden=330, n_canaries=3000)
    right = canaries.train(run, *data, rng=1)
    np.testing.assert_allclose(right.scores_out[RAW], right.scores_out[REMOVED], atol=1e-12)
    assert_plausible(p(right), "normal")
    monkeypatch.setattr(canaries, "gaussian_noise", planted_noise("uniform"))
    assert_rejected(p(canaries.train(run, *data, rng=1)), "uniform")


def test_raw_scores_hold_the_base_gradient() -> None:
    run = law_run()
    base = run.scores_out[RAW] - run.scores_out[REMOVED]
    assert base.std() > 1e-3 and abs(np.corrcoef(base, run.scores_out[REMOVED])[0, 1]) < 0.5


# --- exact laws and small functions -----------------------------------------------------------


def test_errors_of_the_mean_by_enumeration() -> None:
    """Three steps: the sum over all eight histories of one canary."""
    s = OneRun(n_steps=3, sampling_rate=0.3, noise_multiplier=0.7)
    thresholds = np.linspace(-1, 2, 7)
    alpha, beta = canaries.removed_errors(s, thresholds)
    sd = 0.7 / math.sqrt(3)
    expected = np.zeros(7)
    for history in itertools.product((0, 1), repeat=3):
        weight = math.prod(0.3 if taken else 0.7 for taken in history)
        expected += weight * stats.norm.cdf(thresholds, np.mean(history), sd)
    np.testing.assert_allclose(beta, expected, rtol=1e-12)
    np.testing.assert_allclose(alpha, stats.norm.sf(thresholds, 0, sd), rtol=1e-12)


@pytest.mark.parametrize(("q", "sigma"), [(1 / 12, 3.0), (0.5, 0.8), (0.01, 1.0)])
def test_one_step_ratio_is_a_ratio_of_densities(q: float, sigma: float) -> None:
    z = np.linspace(-6, 6, 41) * sigma
    with_canary = q * stats.norm.pdf(z, 1, sigma) + (1 - q) * stats.norm.pdf(z, 0, sigma)
    expected = np.log(with_canary / stats.norm.pdf(z, 0, sigma))
    np.testing.assert_allclose(canaries.log_ratio(z, q, sigma), expected, atol=1e-10)


def test_the_limit_of_many_steps() -> None:
    """The paper's settings; and the mean of the ratio has this separation to first order."""
    assert canaries.limit_mu(OneRun()) == pytest.approx(1.3995, abs=1e-4)
    few = OneRun(n_steps=2400, sampling_rate=1e-4, noise_multiplier=3.0)
    z = np.linspace(-40, 40, 200_001)
    ratio = canaries.log_ratio(z, few.sampling_rate, 3.0)
    density = stats.norm.pdf(z, 0, 3.0)
    variance = np.sum(ratio**2 * density) * (z[1] - z[0])
    assert math.sqrt(2400 * variance) == pytest.approx(canaries.limit_mu(few), rel=1e-3)


def test_separation_and_its_error() -> None:
    """d' of samples with known moments; its error against repetitions (5 standard errors)."""
    value, _ = canaries.separation([0.0, 2.0], [-3.0, -1.0, -3.0, -1.0])
    assert value == pytest.approx(3.0)
    rng = np.random.default_rng(2)
    found = [
        canaries.separation(rng.exponential(size=400), 1.3 * rng.standard_normal(600))
        for _ in range(2000)
    ]
    spread = np.std([one.value for one in found], ddof=1)
    stated = np.mean([one.error for one in found])
    assert abs(spread / stated - 1) < 5 / math.sqrt(2 * 2000) + 0.01


def test_learning_on_digits() -> None:
    """The paper's q, sigma, C and half of its canaries and steps: still a classifier that works."""
    load_digits = pytest.importorskip("sklearn.datasets").load_digits
    x, labels = load_digits(return_X_y=True)
    run = OneRun(n_canaries=5000, n_steps=600, learning_rate=0.25)
    found = canaries.train(
        run, x[300:] / 16, labels[300:], test=(x[:300] / 16, labels[:300]), rng=1
    )
    assert found.accuracy > 0.8 and found.train_accuracy > 0.8
    d = canaries.separation(found.scores_in[REMOVED], found.scores_out[REMOVED])
    sd = math.sqrt(9 / 600 + run.sampling_rate * (1 - run.sampling_rate) / 1200)
    assert_plausible(2 * stats.norm.sf(abs(d.value - run.sampling_rate / sd) / d.error), "d'")


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"n_canaries": 0}, "n_canaries must be an integer of at least 1, got 0"),
        ({"n_steps": 1}, "n_steps must be an integer of at least 2, got 1"),
        ({"sampling_rate": 0.0}, r"sampling_rate must be a number in \(0, 1\), got 0.0"),
        ({"sampling_rate": 1.5}, r"sampling_rate must be a number in \[0, 1\], got 1.5"),
        ({"noise_multiplier": 0.0}, "noise_multiplier must be a finite number above 0, got 0.0"),
        ({"clip_norm": math.inf}, "clip_norm must be a finite number above 0, got inf"),
        ({"learning_rate": math.nan}, "learning_rate must be a finite number above 0, got nan"),
        ({"n_watched": 10_001}, "n_watched must be at most n_canaries"),
    ],
)
def test_bad_settings(change: dict, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        OneRun(**change)


def test_bad_data() -> None:
    x, labels = digits_like(20)
    run = dataclasses.replace(LAW, n_steps=2)
    for wrong, error in (
        ((x[:0], labels[:0]), "x must hold finite numbers"),
        ((np.where(x > 1, np.nan, x), labels), "x must hold finite numbers"),
        ((x, labels[:-1]), r"labels of x must be integers of shape \(20,\)"),
        ((x, labels / 2), "labels of x must be integers"),
        ((x, labels - 10), "labels of x must be at least 0, got -"),
    ):
        with pytest.raises(ValueError, match=error):
            canaries.train(run, *wrong)
    with pytest.raises(ValueError, match="test must have 64 features like x, got 63"):
        canaries.train(run, x, labels, test=(x[:, 1:], labels))
    with pytest.raises(ValueError, match="n_canaries must be at most 10880"):
        canaries.train(OneRun(n_canaries=10_881), x, np.arange(20) % 10)
    for samples in (([1.0], [1.0, 2.0]), ([1.0, 1.0], [2.0, 2.0])):
        with pytest.raises(ValueError, match=r"two scores or more|must not be constant"):
            canaries.separation(*samples)


def test_results_cannot_be_changed() -> None:
    _, x, labels = batch(1, 20)
    found = canaries.train(TINY, x, labels, rng=1)
    for array in (found.scores_in[RAW], found.scores_out[RATIO], found.takings, found.steps_in):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.accuracy = 1.0
    with pytest.raises(TypeError):
        found.scores_in[RAW] = None
