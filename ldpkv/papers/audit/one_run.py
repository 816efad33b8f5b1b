"""Pages 05 and 05b of the auditor: Figure 8, DP-SGD audited in one run."""

from __future__ import annotations

import functools
import importlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import special, stats

from ldpkv import data as datasets
from ldpkv import surrogates
from ldpkv.auditing import boundaries, targets
from ldpkv.auditing.apt import APT, NOT_REJECTED, path, run_many
from ldpkv.auditing.canaries import (
    RATIO,
    RAW,
    REMOVED,
    CanaryRun,
    OneRun,
    limit_mu,
    log_ratio,
    removed_errors,
    separation,
    train,
)
from ldpkv.auditing.classifiers import ScoreThreshold
from ldpkv.papers import plots
from ldpkv.papers.audit.ground_truth import CORRECTED, PUBLISHED, SOUND, wilson
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    NOT_CHECKABLE,
    SHAPE_ONLY,
    WITHIN_ERROR,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)
from ldpkv.tradeoff import GaussianDP

PAGE = "notebooks/audit/05-one-run.ipynb"
FILES_PAGE = "notebooks/audit/05b-published-scores.ipynb"
Floats = NDArray[np.float64]

# Probability that chance alone turns a verdict; shared by all comparisons behind it.
FALSE_ALARM = 1e-4
LEVEL = 0.05
DELTA = 1e-5

# Figure 8: claims, burn-in, horizon, resamplings.
MUS = (0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4)
BURN_IN, HORIZON = 100, 10_100
RESAMPLINGS = 250
AUTHORS_RUNS = 250
KINDS = (PUBLISHED, CORRECTED, SOUND)
# Where rates lie between 0 and 1, scores are also drawn without replacement.
EDGE = (1.1, 1.2, 1.3, 1.4)
WITHOUT = f"{RAW}, without replacement"

# The learning rate is ours: the paper's 4 belongs to another network.
PAPER_RUN = OneRun(learning_rate=0.25)

# Authors' result files: rejections among 250 resamplings, mean pairs of those that reject.
AUTHORS: Mapping[float, tuple[int, float]] = {
    0.8: (250, 205.6),
    0.9: (250, 343.6),
    1.0: (250, 602.6),
    1.1: (249, 2366.8),
    1.2: (85, 3166.0),
    1.3: (50, 5975.0),
    1.4: (3, 100.0),
}
_COLUMNS = ["scores", "setting", "mu", "repeats", "hits", "rate", "low", "high"]
_COLUMNS += ["mean", "error", "q25", "median", "q75", "largest"]


# --- the run ----------------------------------------------------------------------------------


def digits() -> tuple[Any, Any, Any, Any]:
    """Load scikit-learn's 1,797 digits, split once and for all.

    Returns
    -------
    x, labels, test_x, test_labels : ndarray
        1,437 records to train on and 360 to test; pixels in [0, 1], shape (n, 64).
    """
    from sklearn.datasets import load_digits

    x, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(x))
    first, last = order[:1437], order[1437:]
    return x[first] / 16, labels[first], x[last] / 16, labels[last]


_DIGITS = 5


@functools.lru_cache(maxsize=16)
def _trained(settings: OneRun, seed: int) -> CanaryRun:
    x, labels, test_x, test_labels = digits()
    run = train(settings, x, labels, test=(test_x, test_labels), rng=seed)
    # The last digits depend on the machine's linear algebra; where two thresholds of APT nearly tie
    # they would decide. A hundred-thousandth is far below the scores' spread.
    return replace(
        run,
        scores_in={kind: np.round(values, _DIGITS) for kind, values in run.scores_in.items()},
        scores_out={kind: np.round(values, _DIGITS) for kind, values in run.scores_out.items()},
    )


def dp_sgd_scores(profile: str = "quick", seed: int = 2026) -> CanaryRun:
    """Train once with the paper's settings, and give the scores of all canaries.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both train the same: the whole run takes seconds.
    seed : int, default 2026
        Seed of the run.

    Returns
    -------
    CanaryRun
        10,000 included and 10,000 held-out canaries, scores to five decimals; kept, so that it is
        trained once in a process.
    """
    check_profile(profile)
    return _trained(replace(PAPER_RUN, n_watched=300), seed)


def shorter(settings: OneRun, n_steps: int) -> OneRun:
    """Change the number of steps and sigma together, so that the limit mu stays the same.

    Parameters
    ----------
    settings : OneRun
        Where to start.
    n_steps : int
        New number of steps.

    Returns
    -------
    OneRun
        With less noise for fewer steps.
    """
    growth = math.expm1(settings.noise_multiplier**-2) * settings.n_steps / n_steps
    return replace(settings, n_steps=n_steps, noise_multiplier=math.log1p(growth) ** -0.5)


def exact_moments(settings: OneRun) -> Mapping[str, tuple[float, float, float, float]]:
    """Exact means and standard deviations of the scores with the base gradient removed.

    Parameters
    ----------
    settings : OneRun
        T, q and sigma are used.

    Returns
    -------
    mapping
        For "removed" and "ratio": mean and standard deviation of included, then of held-out scores.
    """
    steps, q, sigma = settings.n_steps, settings.sampling_rate, settings.noise_multiplier
    z = np.linspace(-12 * sigma, 1 + 12 * sigma, 200_001)
    without = stats.norm.pdf(z, 0, sigma) * (z[1] - z[0])
    included = (1 - q) * without + q * stats.norm.pdf(z, 1, sigma) * (z[1] - z[0])
    value = log_ratio(z, q, sigma)
    found: list[float] = []
    for mass in (included, without):
        mean = float(value @ mass)
        found += [steps * mean, math.sqrt(steps * (float(value**2 @ mass) - mean**2))]
    spread = sigma / math.sqrt(steps)
    with_coin = math.sqrt((sigma**2 + q * (1 - q)) / steps)
    return {REMOVED: (q, with_coin, 0.0, spread), RATIO: (found[0], found[1], found[2], found[3])}


def _exact_separation(moments: tuple[float, float, float, float]) -> float:
    mean_in, sd_in, mean_out, sd_out = moments
    return (mean_in - mean_out) / math.sqrt((sd_in**2 + sd_out**2) / 2)


def training(profile: str = "quick", seed: int = 2026) -> Result:
    """Describe the run: accuracy, sampling, noise, and how far apart the scores are.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.
    seed : int, default 2026
        Seed of the run.

    Returns
    -------
    Result
        One row for each kind of score: means and standard deviations of both sides, d' with its
        standard error, exact d' where the law is known.
    """
    run = dp_sgd_scores(profile, seed)
    settings, moments = run.settings, exact_moments(run.settings)
    rows, found = [], {}
    for kind in run.scores_in:
        included, excluded = run.scores_in[kind], run.scores_out[kind]
        found[kind] = separation(included, excluded)
        rows.append(
            {
                "score": kind,
                "mean, included": included.mean(),
                "sd, included": included.std(),
                "mean, held out": excluded.mean(),
                "sd, held out": excluded.std(),
                "d′": f"{found[kind].value:.3f} ± {1.96 * found[kind].error:.3f}",
                "d′, exact": f"{_exact_separation(moments[kind]):.4f}" if kind in moments else "–",
            }
        )
    z = {
        kind: (found[kind].value - _exact_separation(moments[kind])) / found[kind].error
        for kind in moments
    }
    alpha, beta = removed_errors(settings, [settings.sampling_rate / 2])
    held_out, included = run.scores_out[REMOVED], run.scores_in[REMOVED]
    sd = settings.noise_multiplier / math.sqrt(settings.n_steps)
    k, steps, q = settings.n_canaries, settings.n_steps, settings.sampling_rate
    squares = stats.chi2.cdf(float(np.sum((held_out / sd) ** 2)), k)
    facts = {
        "accuracy": run.accuracy,
        "train_accuracy": run.train_accuracy,
        "separation": {kind: (one.value, one.error) for kind, one in found.items()},
        "exact": {kind: _exact_separation(moments[kind]) for kind in moments},
        "z": z,
        "gain": _paired(run, RATIO, RAW),
        "pull": float(included.mean() - run.scores_in[RAW].mean()),
        "base_sd": float((run.scores_out[RAW] - held_out).std()),
        "limit": limit_mu(settings),
        "p_values": {
            "records sampled": float(
                stats.binomtest(int(run.batch_sizes.sum()), 1437 * steps, q).pvalue
            ),
            "canaries sampled": float(stats.binomtest(int(run.takings.sum()), k * steps, q).pvalue),
            "size of the noise": float(2 * min(squares, 1 - squares)),
            "shape of the noise": float(stats.kstest(held_out / sd, "norm").pvalue),
            "noise under canaries": float(
                stats.kstest((included - run.takings / steps) / sd, "norm").pvalue
            ),
            "held out called included": float(
                stats.binomtest(int((held_out >= q / 2).sum()), k, float(alpha[0])).pvalue
            ),
            "included called held out": float(
                stats.binomtest(int((included < q / 2).sum()), k, float(beta[0])).pvalue
            ),
        },
    }
    setting = (
        f"digits, 64-290-10 network, q = 1/12, T = {steps:,}, σ = 3, C = 1, {k:,} + {k:,} canaries"
    )
    return Result(profile, pd.DataFrame(rows), facts, setting)


def _paired(run: CanaryRun, first: str, second: str) -> tuple[float, float]:
    """Difference of two kinds' d' on the same canaries, and its standard error."""
    values, parts = [], []
    for kind in (first, second):
        a, b = run.scores_in[kind], run.scores_out[kind]
        square = (a.var() + b.var()) / 2
        value = (a.mean() - b.mean()) / math.sqrt(square)
        values.append(value)
        parts.append(
            [
                sign * (s - s.mean()) / math.sqrt(square)
                - value * ((s - s.mean()) ** 2 - s.var()) / (4 * square)
                for sign, s in ((1, a), (-1, b))
            ]
        )
    spread = sum(float((x - y).var()) / len(x) for x, y in zip(*parts, strict=True))
    return float(values[0] - values[1]), math.sqrt(spread)


# --- the accountant's bound -------------------------------------------------------------------


def privacy_loss(settings: OneRun, *, lower: bool = False) -> Any:
    """Privacy-loss distribution of a run, by Google's dp-accounting.

    Parameters
    ----------
    settings : OneRun
        T, q and sigma are used; neighbours differ by one record added or removed.
    lower : bool, default False
        Whether delta is rounded down, for a bound from below, instead of up.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
    """
    # Of the book only: the library does without.
    distributions = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
    one = distributions.from_gaussian_mechanism(
        settings.noise_multiplier,
        sampling_prob=settings.sampling_rate,
        use_connect_dots=not lower,
        pessimistic_estimate=not lower,
        value_discretization_interval=2e-5 if lower else 1e-4,
    )
    return one.self_compose(settings.n_steps)


def claimed_epsilon(settings: OneRun, delta: float = DELTA) -> float:
    """Epsilon that the accountant states for a run.

    Parameters
    ----------
    settings : OneRun
        T, q and sigma are used.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        In nats; 6.554 for the paper's settings and delta = 1e-5.
    """
    return float(privacy_loss(settings).get_epsilon_for_delta(delta))


def accounting(profile: str = "quick") -> Result:
    """Translate between (epsilon, delta) and mu, and bound what the run really leaks.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row for each delta: the accountant's epsilon, and the mu whose curve has the same one.
    """
    check_profile(profile)
    loss, under = privacy_loss(PAPER_RUN), privacy_loss(PAPER_RUN, lower=True)
    rows = []
    for delta in (1e-2, 1e-4, 1e-5, 1e-6, 1e-8):
        epsilon = float(loss.get_epsilon_for_delta(delta))
        rows.append((f"{delta:.0e}", epsilon, GaussianDP.from_approximate(epsilon, delta).mu))
    table = pd.DataFrame(rows, columns=["δ", "ε, accountant", "equivalent μ"])
    epsilon, least = (float(p.get_epsilon_for_delta(DELTA)) for p in (loss, under))
    at = GaussianDP(1.4).epsilon_at(DELTA)
    thresholds = np.linspace(-0.4, 0.6, 2001)
    alpha, beta = removed_errors(PAPER_RUN, thresholds)
    inside = (alpha > 1e-12) & (alpha < 1 - 1e-12)
    facts = {
        "epsilon": epsilon,
        "epsilon_low": least,
        "mu": GaussianDP.from_approximate(epsilon, DELTA).mu,
        "mu_low": GaussianDP.from_approximate(least, DELTA).mu,
        "mu_of_656": GaussianDP.from_approximate(6.56, DELTA).mu,
        "epsilons": {mu: GaussianDP(mu).epsilon_at(DELTA) for mu in (1.1, 1.2, 1.4)},
        "at": at,
        "delta_high": float(loss.get_delta_for_epsilon(at)),
        "delta_low": float(under.get_delta_for_epsilon(at)),
        "mean_margin": float(np.max((GaussianDP(1.4)(alpha) - beta)[inside])),
        "smallest_mu": float(2 * special.ndtri((1 + loss.get_delta_for_epsilon(0.0)) / 2)),
        "largest_mu": float(table["equivalent μ"].iloc[-1]),
        "limit": limit_mu(PAPER_RUN),
    }
    return Result(profile, table, facts, "q = 1/12, T = 2,400, σ = 3; no randomness")


# --- audits of scores -------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def _published_critical_value() -> float:
    """The constant that the paper's recipe gives for M = 100: looks from M + 10 on."""
    return boundaries.critical_value(
        LEVEL / 2, burn_in=BURN_IN, check_every=10, horizon=HORIZON, look_at_burn_in=False
    )


def settings_of(kind: str, mu: float, **changes: Any) -> APT:
    """Audit of Figure 8 in one of `KINDS`.

    Parameters
    ----------
    kind : str
        "published options", "corrected side" or "sound default".
    mu : float
        The claim.
    **changes
        Other fields of `APT`.

    Returns
    -------
    APT
        Burn-in 100 and a horizon of 10,100 pairs.
    """
    own: dict[str, Any] = {"level": LEVEL, "burn_in": BURN_IN, "horizon": HORIZON}
    if kind == SOUND:
        return APT(GaussianDP(mu), **(own | changes))
    own["critical_value"] = _published_critical_value()
    if kind == CORRECTED:
        own["side"] = "corrected"
    return APT.published(GaussianDP(mu), **(own | changes))


def sweep(
    included: Any,
    excluded: Any,
    name: str,
    *,
    repeats: int,
    rng: np.random.Generator | int | None,
    kinds: Sequence[str] = KINDS,
    mus: Sequence[float] = MUS,
    replacement: bool = True,
    **changes: Any,
) -> pd.DataFrame:
    """Audit resampled scores for a range of claims.

    Parameters
    ----------
    included, excluded : array_like of float
        Scores with the canary (law P) and without (law Q).
    name : str
        What the scores are called in the table.
    repeats : int
        Resamplings.
    rng : numpy.random.Generator or seed
        Passed through `numpy.random.default_rng`. Claims and settings share their resamplings.
    kinds : sequence of str
        Settings of the audit.
    mus : sequence of float
        Claims.
    replacement : bool, default True
        Whether scores are drawn with replacement; without, an audit ends with the scores.
    **changes
        Fields of `APT` that differ.

    Returns
    -------
    DataFrame
        One row for each setting and claim: rejections with 95 % Wilson interval; mean, quartiles
        and largest number of pairs of the audits that reject.
    """
    pools = targets.Resampled(np.asarray(included), np.asarray(excluded))
    seed = int(np.random.default_rng(rng).integers(2**62))
    rows = []
    for kind in kinds:
        for mu in mus:
            audit = settings_of(kind, mu, **changes)
            if replacement:
                stops = run_many(audit, pools.sample, repeats=repeats, rng=seed)
            else:
                stops = _without_replacement(audit, pools, repeats, seed)
            rows.append((name, kind, mu, *_summary(stops)))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _without_replacement(
    audit: APT, pools: targets.Resampled, repeats: int, seed: int
) -> NDArray[np.int64]:
    stops = []
    for generator in np.random.default_rng(seed).spawn(repeats):
        pair = (generator.permutation(pools.pool_p), generator.permutation(pools.pool_q))
        n = min(len(part) for part in pair)
        stops.append(path(audit, (pair[0][:n], pair[1][:n]), stop=True).rejected_at)
    return np.array(stops, dtype=np.int64)


def _summary(stops: NDArray[np.int64]) -> tuple[Any, ...]:
    rejected = stops[stops != NOT_REJECTED]
    hits = len(rejected)
    rate, low, high = (float(v[0]) for v in wilson(np.array([hits]), len(stops)))
    about = [math.nan] * 6
    if hits:
        error = float(rejected.std(ddof=1)) / math.sqrt(hits) if hits > 1 else math.nan
        quartiles = np.quantile(rejected, [0.25, 0.5, 0.75]).tolist()
        about = [float(rejected.mean()), error, *quartiles, float(rejected.max())]
    return (len(stops), hits, rate, low, high, *about)


def _repeats(profile: str) -> int:
    return {"quick": 40, "paper": RESAMPLINGS}[check_profile(profile)]


def own_audits(profile: str = "quick", seed: int = 2026) -> Result:
    """Figure 8 on the scores of our own DP-SGD run, raw and as likelihood ratios.

    Parameters
    ----------
    profile : {"quick", "paper"}
        40 or 250 resamplings of the scores of one run.
    seed : int, default 2026
        Seed of the run and of the resamplings.

    Returns
    -------
    Result
        See `sweep`; also raw scores drawn without replacement.
    """
    repeats = _repeats(profile)
    run = dp_sgd_scores(profile, seed)
    raw = run.scores_in[RAW], run.scores_out[RAW]
    table = pd.concat(
        [
            sweep(*raw, RAW, repeats=repeats, rng=seed),
            sweep(run.scores_in[RATIO], run.scores_out[RATIO], RATIO, repeats=repeats, rng=seed),
            sweep(
                *raw,
                WITHOUT,
                repeats=repeats,
                rng=seed,
                replacement=False,
                kinds=(PUBLISHED,),
                mus=EDGE,
            ),
        ],
        ignore_index=True,
    )
    whole = table[table["scores"].isin([RAW, RATIO])]
    facts = {
        "shapes": _shapes(whole),
        "replacement": _replacement(table),
        "reach": {
            kind: float(part.loc[(part["rate"] >= 0.5) & (part["setting"] == SOUND), "mu"].max())
            for kind, part in whole.groupby("scores")
        },
        "pairs_at_1": {
            (kind, setting): float(mean)
            for kind, setting, mean in whole.loc[
                whole["mu"] == 1.0, ["scores", "setting", "mean"]
            ].itertuples(index=False)
        },
    }
    setting = f"one run of DP-SGD, {repeats} resamplings of its 10,000 scores a side"
    return Result(profile, table, facts, setting)


def surrogate_audits(profile: str = "quick", seed: int = 2026) -> Result:
    """Figure 8 on the surrogate of the published scores: two normals with their four moments.

    Parameters
    ----------
    profile : {"quick", "paper"}
        40 or 250 resamplings.
    seed : int, default 2026
        Seed of the surrogate and of the resamplings.

    Returns
    -------
    Result
        See `sweep`.
    """
    repeats = _repeats(profile)
    scores = surrogates.canary_scores(rng=seed)
    table = sweep(
        scores.included, scores.excluded, "surrogate", repeats=repeats, rng=seed,
        kinds=(PUBLISHED, CORRECTED),
    )  # fmt: skip
    row = table[(table["setting"] == PUBLISHED) & (table["mu"] == 1.1)].iloc[0]
    theirs = AUTHORS[1.1][0]
    counts = [
        [int(row["hits"]), int(row["repeats"] - row["hits"])],
        [theirs, AUTHORS_RUNS - theirs],
    ]
    facts = {
        "shapes": _shapes(table[table["setting"] == CORRECTED]),
        "at_1.1": float(row["rate"]),
        "p_less": float(stats.fisher_exact(counts, alternative="less").pvalue),
    }
    setting = f"surrogate scores (two normals), {repeats} resamplings"
    return Result(profile, table, facts, setting, source="surrogate")


def _shapes(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """What makes the shape of Figure 8, for each kind of score and setting."""
    groups = list(table.groupby(["scores", "setting"], sort=False))
    share = FALSE_ALARM / (len(MUS) * len(groups))
    shapes = {}
    for (scores, kind), whole in groups:
        part = whole.set_index("mu")
        low = part.loc[[mu for mu in part.index if mu <= 1]]
        true = part.loc[1.4]
        # Over claims that are always rejected the mean is not cut off by the horizon.
        means = part.loc[part["hits"] == part["repeats"], "mean"]
        rises = [_greater(one, two) for (_, one), (_, two) in itertools.pairwise(part.iterrows())]
        shapes[f"{scores}, {kind}"] = {
            "always": bool((low["hits"] == low["repeats"]).all()),
            "longer": bool((np.diff(means) > 0).all()),
            "falls": bool(min(rises) >= share),
            "at_1.4": float(true["rate"]),
            "p_at_1.4": float(stats.binom.sf(true["hits"] - 1, int(true["repeats"]), LEVEL)),
            "at_1.2": float(part.loc[1.2, "rate"]),
            "at_0.8": float(part.loc[0.8, "mean"]),
        }
    return shapes


def _greater(one: Any, two: Any) -> float:
    """Exact p-value that the second of two rows rejects no more often than the first."""
    counts = [[int(r["hits"]), int(r["repeats"] - r["hits"])] for r in (two, one)]
    return float(stats.fisher_exact(counts, alternative="greater").pvalue)


def _replacement(table: pd.DataFrame) -> dict[float, tuple[float, float, float]]:
    """Rates with and without replacement, and the exact p-value that they are equal."""
    index = table[table["setting"] == PUBLISHED].set_index(["scores", "mu"])
    found = {}
    for mu in EDGE:
        pair = [index.loc[(kind, mu)] for kind in (RAW, WITHOUT)]
        counts = [[int(r["hits"]), int(r["repeats"] - r["hits"])] for r in pair]
        p = float(stats.fisher_exact(counts).pvalue)
        found[mu] = (float(pair[0]["rate"]), float(pair[1]["rate"]), p)
    return found


def noise_levels(profile: str = "quick", seed: int = 2026) -> Result:
    """Audit DP-SGD runs with several noise multipliers, beside the accountant's bound.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Two noise multipliers, 600 steps and 40 resamplings, with noise scaled down so that the
        limit mu is that of the paper profile; or five, 2,400 steps and 250.
    seed : int, default 2026
        Seed of runs and resamplings.

    Returns
    -------
    Result
        One row for each run and kind of score: bound, d' with standard error, largest share of the
        bound that at least half of the audits refute, and the rate at the bound itself.
    """
    sigmas, steps, repeats, stride = {
        "quick": ((3.0, 6.0), 600, 40, 0.1),
        "paper": ((2.0, 2.5, 3.0, 4.0, 6.0), 2400, RESAMPLINGS, 0.05),
    }[check_profile(profile)]
    shares = np.round(np.arange(0.6, 1.001, stride), 2)
    rows, rates = [], []
    for sigma in sigmas:
        settings = shorter(replace(PAPER_RUN, noise_multiplier=sigma), steps)
        run = _trained(settings, seed)
        epsilon = claimed_epsilon(settings)
        mu = GaussianDP.from_approximate(epsilon, DELTA).mu
        for kind in (RAW, RATIO):
            scores = run.scores_in[kind], run.scores_out[kind]
            part = sweep(
                *scores, kind, repeats=repeats, rng=seed, kinds=(SOUND,), mus=list(shares * mu)
            )
            d = separation(*scores)
            half = shares[(part["rate"] >= 0.5).to_numpy()]
            rows.append(
                {
                    "σ": settings.noise_multiplier,
                    "ε at δ = 1e-5": epsilon,
                    "bound μ": mu,
                    "score": kind,
                    "d′": f"{d.value:.3f} ± {1.96 * d.error:.3f}",
                    "refuted, share of bound": f"{half.max():.2f}" if len(half) else "below 0.6",
                    "accuracy": run.accuracy,
                }
            )
            rates.append(
                {
                    "sigma": settings.noise_multiplier,
                    "score": kind,
                    "hits": int(part["hits"].iloc[-1]),
                    "reach": float(half.max()) if len(half) else 0.0,
                    "excess": (d.value - mu) / d.error,
                }
            )
    about = pd.DataFrame(rates)
    worst = int(about["hits"].max())
    facts = {
        "rates": about,
        "repeats": repeats,
        "cases": len(about),
        "worst": worst / repeats,
        "p": float(stats.binom.sf(worst - 1, repeats, LEVEL)),
        "reach": {
            kind: float(about.loc[about["score"] == kind, "reach"].min()) for kind in (RAW, RATIO)
        },
        "excess": float(about["excess"].max()),
    }
    setting = f"T = {steps:,}, {repeats} resamplings, sound default"
    return Result(profile, pd.DataFrame(rows), facts, setting)


# --- dependence of scores ---------------------------------------------------------------------


def independence(profile: str = "quick", seed: int = 2026) -> Result:
    """Measure how strongly scores of canaries on distinct coordinates depend on each other.

    Parameters
    ----------
    profile : {"quick", "paper"}
        12 runs of 300 steps, with noise scaled down to the same limit mu; or 40 runs of 2,400.
    seed : int, default 2026
        Seed of the runs.

    Returns
    -------
    Result
        One row for each kind of score and side: correlation of two scores over runs, with an
        interval whose error shares the false-alarm rate, and what it does to the variance of the
        mean of 10,000.

    Notes
    -----
    Coordinates are drawn anew in each run, so two scores of one side have the same correlation
    whichever two they are. For k of them the variance of the mean is
    ``(1 + (k - 1) rho) / (1 - rho)`` times the mean variance within a run divided by k.
    """
    runs, steps = {"quick": (12, 300), "paper": (40, 2400)}[check_profile(profile)]
    settings = shorter(PAPER_RUN, steps)
    x, labels, _, _ = digits()
    k = settings.n_canaries
    kinds = (RAW, REMOVED)
    kept: dict[tuple[str, str], list[tuple[float, float]]] = {}
    spread: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for generator in np.random.default_rng(seed).spawn(runs):
        run = train(settings, x, labels, rng=generator)
        for kind in kinds:
            sides = {"included": run.scores_in[kind], "held out": run.scores_out[kind]}
            for side, scores in sides.items():
                kept.setdefault((kind, side), []).append(
                    (float(scores.mean()), float(scores.var(ddof=1)))
                )
            d = separation(*sides.values())
            spread[kind].append((d.value, d.error))
    rows = []
    share = FALSE_ALARM / (2 * len(kept))
    for (kind, side), values in kept.items():
        means, variances = np.array(values).T
        factor = k * means.var(ddof=1) / variances.mean()
        ends = [factor * (runs - 1) / stats.chi2.ppf(p, runs - 1) for p in (1 - share, share)]
        rho, low, high = ((f - 1) / (f + k - 1) for f in (factor, *ends))
        rows.append((kind, side, rho, low, high, factor))
    columns = ["score", "side", "correlation", "low", "high", "variance of the mean, factor"]
    table = pd.DataFrame(rows, columns=columns)
    steps_of = dp_sgd_scores(profile, seed)
    pairwise = _pairwise(np.concatenate([steps_of.steps_in, steps_of.steps_out], axis=1))
    q, sigma = PAPER_RUN.sampling_rate, PAPER_RUN.noise_multiplier
    raw = np.array(spread[RAW])
    facts = {
        "runs": runs,
        "largest": float(table[["low", "high"]].abs().to_numpy().max()),
        "factor": float(table["variance of the mean, factor"].max()),
        "d_factor": float(raw[:, 0].var(ddof=1) / np.mean(raw[:, 1] ** 2)),
        "same_coordinate": (sigma**2 + q * (1 - q)) / (sigma**2 + 2 * q * (1 - q)),
        **pairwise,
    }
    return Result(profile, table, facts, f"{runs} runs of {steps:,} steps")


def _pairwise(observed: NDArray[Any]) -> dict[str, float]:
    """Correlations over the steps of one run between all pairs of watched coordinates."""
    steps, width = observed.shape
    matrix: Floats = np.asarray(np.corrcoef(observed.astype(np.float64), rowvar=False))
    pairs = matrix[np.triu_indices(width, 1)]
    # Independent coordinates: each |r| stays below this, all together but for the false alarm.
    reach = math.tanh(special.ndtri(1 - FALSE_ALARM / (2 * len(pairs))) / math.sqrt(steps - 3))
    return {
        "pairs": len(pairs),
        "pair_mean": float(pairs.mean()),
        "pair_rms": float(np.sqrt(np.mean(pairs**2))),
        "pair_expected": 1 / math.sqrt(steps - 1),
        "pair_largest": float(np.abs(pairs).max()),
        "pair_bound": reach,
    }


def dependence(profile: str = "quick", seed: int = 2026) -> Result:
    """Audit a true claim on scores that are correlated, each with the right law by itself.

    Parameters
    ----------
    profile : {"quick", "paper"}
        60 or 400 repetitions.
    seed : int, default 2026
        Seed of the scores.

    Returns
    -------
    Result
        One row for each correlation: rejection rate of the claim mu = 1, which every pair taken by
        itself meets exactly, within 10,100 pairs; and its limit for many pairs, for every auditor
        that finds all violations in the end.
    """
    repeats = {"quick": 60, "paper": 400}[check_profile(profile)]
    rows = []
    for rho in (0.0, 0.001, 0.01, 0.1):
        stops = []
        for generator in np.random.default_rng(seed).spawn(repeats):
            common = math.sqrt(rho) * generator.standard_normal((2, 1))
            own = math.sqrt(1 - rho) * generator.standard_normal((2, HORIZON))
            scores = common + own
            audit = settings_of(SOUND, 1.0)
            stops.append(path(audit, (scores[0] + 1, scores[1]), stop=True).rejected_at)
        hits = sum(stop != NOT_REJECTED for stop in stops)
        rate, low, high = (float(v[0]) for v in wilson(np.array([hits]), repeats))
        # Given the common parts the pairs are independent, at distance (1 + U - V) / sqrt(1 - rho).
        reach = np.array([1 - math.sqrt(1 - rho), -1 - math.sqrt(1 - rho)])
        limit = float(special.ndtr(reach / math.sqrt(2 * rho)).sum()) if rho else math.nan
        rows.append((rho, hits, rate, low, high, limit))
    columns = ["correlation", "hits", "rate", "low", "high", "limit"]
    table = pd.DataFrame(rows, columns=columns)
    last, first = table.iloc[-1], table.iloc[0]
    facts = {
        "rate": float(last["rate"]),
        "rate_independent": float(first["rate"]),
        "p": float(stats.binom.sf(last["hits"] - 1, repeats, LEVEL)),
        "limit": float(last["limit"]),
    }
    return Result(profile, table, facts, f"sound default, {repeats} repetitions")


# --- the published scores ---------------------------------------------------------------------


def _published_scores() -> tuple[Floats, Floats]:
    """The scores as the authors' script sees them: it takes the first line for a header."""
    included, excluded = (datasets.load_scores(f"canary_scores_{s}") for s in ("in", "out"))
    return included[1:], excluded[1:]


@functools.lru_cache(maxsize=2)
def published_audits(profile: str = "quick", seed: int = 2026) -> Result:
    """Figure 8 on the published canary scores, beside the numbers of the authors' files.

    Parameters
    ----------
    profile : {"quick", "paper"}
        250 resamplings as in the paper (100 for other settings), or 2,000.
    seed : int, default 2026
        Seed of the resamplings.

    Returns
    -------
    Result
        See `sweep`. The facts hold the comparisons with the authors' files, the first look at
        mu = 1.4, and audits with the threshold rule that the text describes.
    """
    repeats, others, early_repeats = {
        "quick": (RESAMPLINGS, 100, 1000),
        "paper": (2000, 2000, 20_000),
    }[check_profile(profile)]
    scores = _published_scores()
    first = sweep(*scores, "published", repeats=repeats, rng=seed, kinds=(PUBLISHED,))
    rest = sweep(*scores, "published", repeats=others, rng=seed, kinds=(CORRECTED, SOUND))
    table = pd.concat([first, rest], ignore_index=True)
    mine = first.set_index("mu")
    # A threshold on the score has one side only, so the published side changes nothing.
    threshold = sweep(
        *scores,
        "published, threshold rule of section 4.2",
        repeats=others,
        rng=seed,
        kinds=(PUBLISHED,),
        classifier=ScoreThreshold(larger="P"),
    ).set_index("mu")
    # Rejections of mu = 1.4 come early, and short audits are cheap to repeat.
    early = sweep(
        *scores,
        "early",
        repeats=early_repeats,
        rng=seed,
        kinds=(PUBLISHED,),
        mus=(1.4,),
        horizon=500,
    ).iloc[0]
    at_11 = mine.loc[1.1]
    stops_11 = run_many(
        settings_of(PUBLISHED, 1.1), targets.Resampled(*scores).sample, repeats=repeats,
        rng=int(np.random.default_rng(seed).integers(2**62)),
    )  # fmt: skip
    done = stops_11 != NOT_REJECTED
    facts = {
        "authors": _compare(mine),
        "threshold": _compare(threshold),
        "hits": {mu: (int(mine.loc[mu, "hits"]), repeats) for mu in MUS},
        "rates": {mu: float(mine.loc[mu, "rate"]) for mu in MUS},
        "corrected": {
            mu: (float(r), float(lo), float(hi))
            for mu, r, lo, hi in table.loc[
                table["setting"] == CORRECTED, ["mu", "rate", "low", "high"]
            ].itertuples(index=False)
        },
        "authors_null": AUTHORS[1.4][0],
        "early": (int(early["hits"]), int(early["repeats"])),
        "none_in_250": float((1 - early["rate"]) ** RESAMPLINGS),
        "sound": {
            mu: (float(r), float(lo), float(hi))
            for mu, r, lo, hi in table.loc[
                table["setting"] == SOUND, ["mu", "rate", "low", "high"]
            ].itertuples(index=False)
        },
        "p_text": {
            mu: _same_rate(mine.loc[mu], share) for mu, share in ((1.1, 0.995), (1.2, 0.35))
        },
        "mean_at_1.1": (float(at_11["mean"]), float(at_11["error"])),
        "by": {n: float(np.mean(done & (stops_11 <= n))) for n in (1000, 2000)},
        # Quartile and median in the authors' file.
        "quantile_z": {
            n: (float(np.mean(done & (stops_11 <= n))) - share)
            / math.sqrt(share * (1 - share) * (1 / repeats + 1 / AUTHORS_RUNS))
            for n, share in ((850, 0.25), (1820, 0.5))
        },
        "mean_at_0.8": float(mine.loc[0.8, "mean"]),
        "largest": {mu: float(mine.loc[mu, "largest"]) for mu in (0.8, 0.9, 1.0)},
    }
    setting = f"9,999 scores a side, {repeats:,} resamplings"
    return Result(profile, table, facts, setting, source="files")


def _compare(mine: pd.DataFrame) -> pd.DataFrame:
    """Set rates and mean stops beside the authors' files.

    Their spread is not known for all claims; ours has the same law if their code was ours.
    """
    rows = []
    for mu, (hits, mean) in AUTHORS.items():
        row = mine.loc[mu]
        counts = [[hits, AUTHORS_RUNS - hits], [row["hits"], row["repeats"] - row["hits"]]]
        p = float(stats.fisher_exact(np.array(counts, dtype=np.int64)).pvalue)
        z = math.nan
        if min(hits, row["hits"]) >= 20:
            z = (row["mean"] - mean) / (row["error"] * math.sqrt(1 + row["hits"] / hits))
        rows.append((mu, hits / AUTHORS_RUNS, row["rate"], p, mean, row["mean"], row["error"], z))
    columns = ["mu", "rate, authors", "rate", "p", "mean, authors", "mean", "error", "z"]
    return pd.DataFrame(rows, columns=columns)


def _same_rate(row: Any, share: float) -> float:
    """Exact p-value that a row's rate is that of `share` among 250."""
    theirs = round(share * AUTHORS_RUNS)
    counts = [
        [theirs, AUTHORS_RUNS - theirs],
        [int(row["hits"]), int(row["repeats"] - row["hits"])],
    ]
    return float(stats.fisher_exact(counts).pvalue)


def published_laws(profile: str = "quick") -> Result:
    """Look at the published scores themselves: moments, the held-out side, the pool's own curve.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both run the same.

    Returns
    -------
    Result
        One row for each side: moments, and what noise and canary alone would give.
    """
    check_profile(profile)
    included, excluded = (datasets.load_scores(f"canary_scores_{s}") for s in ("in", "out"))
    exact = exact_moments(PAPER_RUN)[REMOVED]
    rows = []
    for side, scores, (mean, sd) in (
        ("canary included", included, exact[:2]),
        ("no canary", excluded, exact[2:]),
    ):
        rows.append((side, scores.mean(), mean, scores.std(), sd, stats.kurtosis(scores)))
    columns = ["side", "mean", "mean, noise and canary", "sd", "sd, noise and canary"]
    table = pd.DataFrame(rows, columns=[*columns, "excess kurtosis"])
    n = len(excluded)
    base = included.var() - exact[1] ** 2
    # With the same base gradients on both sides the no-canary scores would vary as much more.
    ratio = excluded.var() / (exact[3] ** 2 + base)
    gap, alpha, beta = pool_gap(included[1:], excluded[1:], 1.4)
    facts = {
        "sd_in": float(included.std()),
        "sd_out": float(excluded.std()),
        "base_sd": math.sqrt(base),
        "noise_only": float(stats.kstest(excluded / exact[3], "norm").pvalue),
        "noise_z": float(excluded.var() / exact[3] ** 2 - 1) / math.sqrt(2 / n),
        # Kurtosis as large as that of the other side makes the variance less certain.
        "measured_z": float(ratio - 1) / math.sqrt((2 + float(stats.kurtosis(included))) / n),
        "separation": separation(included, excluded).value,
        "over_noise": float(included.mean() - excluded.mean()) / float(excluded.std()),
        "gap": gap,
        "gap_alpha": alpha,
        "gap_beta": beta,
    }
    return Result(profile, table, facts, "10,000 published scores a side", source="files")


def pool_gap(included: Any, excluded: Any, mu: float) -> tuple[float, float, float]:
    """How far the best threshold test between two pools lies below the curve of mu-GDP.

    Parameters
    ----------
    included, excluded : array_like of float
        Scores with and without the canary.
    mu : float
        The claim.

    Returns
    -------
    gap, alpha, beta : float
        Largest f(alpha) - beta over all tests "included where the score is at least t"; its errors
        over the pools. A gap above 0 means that the pools themselves break the claim.
    """
    a, b = np.sort(np.asarray(included)), np.sort(np.asarray(excluded))
    t = np.concatenate([a, b])
    alpha = 1 - np.searchsorted(b, t) / len(b)
    beta = np.searchsorted(a, t) / len(a)
    gap: Floats = np.asarray(GaussianDP(mu)(alpha)) - beta
    best = int(np.argmax(gap))
    return float(gap[best]), float(alpha[best]), float(beta[best])


def first_of_its_kind(profile: str = "quick") -> Result:
    """Hold what a build cannot check: whether there was a sequential f-DP auditor before.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both give the same.

    Returns
    -------
    Result
        Auditors that were looked at, and what they do.
    """
    check_profile(profile)
    rows = [
        ("Gonzalez et al. 2025", True, False),
        ("Askin et al. 2025", False, True),
        ("Nasr et al. 2023", False, True),
        ("Mahloujifar et al. 2024", False, True),
        ("Steinke et al. 2023", False, False),
    ]
    table = pd.DataFrame(rows, columns=["auditor", "sequential", "f-DP"])
    both = int((table["sequential"] & table["f-DP"]).sum())
    return Result(profile, table, {"both": both, "looked_at": len(table)}, "read, not computed")


# --- tables and figures -----------------------------------------------------------------------


def audits_table(result: Result, scores: str) -> pd.DataFrame:
    """Rates and mean pairs of one kind of score: one row a claim."""
    part = result.table[result.table["scores"] == scores]
    table: dict[str, list[Any]] = {"claim μ": list(dict.fromkeys(part["mu"]))}
    for kind, rows in part.groupby("setting", sort=False):
        table[f"{kind}: rate"] = [f"{r:.3f}" for r in rows["rate"]]
        table[f"{kind}: mean pairs"] = [_or_dash(m) for m in rows["mean"]]
    return pd.DataFrame(table)


def authors_table(result: Result) -> pd.DataFrame:
    """Set the authors' rates and means beside ours: one row a claim."""
    part = result.facts["authors"]
    mine = result.table[result.table["setting"] == PUBLISHED]
    return pd.DataFrame(
        {
            "claim μ": part["mu"],
            "rate, authors": [f"{r:.3f}" for r in part["rate, authors"]],
            "rate, measured": [
                f"{r:.3f} [{lo:.3f}, {hi:.3f}]"
                for r, lo, hi in zip(mine["rate"], mine["low"], mine["high"], strict=True)
            ],
            "mean pairs, authors": [_or_dash(v) for v in part["mean, authors"]],
            "mean pairs, measured": [
                _or_dash(m, e) for m, e in zip(part["mean"], part["error"], strict=True)
            ],
            "z": [_or_dash(v, digits=1) for v in part["z"]],
            "mean pairs, threshold rule": [_or_dash(v) for v in result.facts["threshold"]["mean"]],
        }
    )


def replacement_table(result: Result) -> pd.DataFrame:
    """Rates of the published options with and without replacement: one row a claim."""
    found = result.facts["replacement"]
    rows = [(mu, f"{one:.3f}", f"{two:.3f}", p) for mu, (one, two, p) in found.items()]
    columns = ["claim μ", "rate, with replacement", "rate, without", "exact p"]
    return pd.DataFrame(rows, columns=columns)


def _or_dash(value: float, error: float = math.nan, digits: int = 0) -> str:
    if value != value:
        return "–"
    text = f"{value:,.{digits}f}"
    return text if error != error else f"{text} ± {1.96 * error:,.0f}"


def draw_audits(result: Result, bound: float, *, authors: bool = False) -> Figure:
    """Draw rejection rate and pairs of the rejecting audits against the claim.

    Parameters
    ----------
    result : Result
        From `own_audits`, `surrogate_audits` or `published_audits`.
    bound : float
        The accountant's mu, drawn as a vertical line.
    authors : bool, default False
        Whether to mark the numbers of the authors' files.

    Returns
    -------
    Figure
        Two panels for each kind of score.
    """
    kinds = [name for name in dict.fromkeys(result.table["scores"]) if name != WITHOUT]
    figure, axes = plots.new_figure(2, rows=len(kinds), height=3.0)
    for row, name in enumerate(kinds):
        rate_axis, pairs_axis = axes[2 * row : 2 * row + 2]
        plots.log_axis(pairs_axis)
        for axis in (rate_axis, pairs_axis):
            axis.axvline(bound, color=plots.BLACK, linewidth=0.8, linestyle="--")
            axis.set_xlim(0.78, 1.43)
            if row == len(kinds) - 1:
                axis.set_xlabel("claimed μ")
        rate_axis.axhline(LEVEL, color=plots.BLACK, linewidth=0.8, linestyle=":")
        ends = {}
        part = result.table[result.table["scores"] == name]
        for position, (kind, series) in enumerate(part.groupby("setting", sort=False)):
            look = plots.style(str(kind), position)
            rate_axis.plot(series["mu"], series["rate"], label=kind, **look)
            rate_axis.fill_between(
                series["mu"], series["low"], series["high"], color=look["color"], alpha=0.2, lw=0
            )
            often = series[(series["hits"] >= 5) & (series["rate"] >= 0.1)]
            pairs_axis.plot(often["mu"], often["mean"], **look)
            pairs_axis.fill_between(
                often["mu"], often["q25"], often["q75"], color=look["color"], alpha=0.2, lw=0
            )
            ends[str(kind)] = (often["mu"].iloc[-1], often["mean"].iloc[-1])
        if authors:
            marks = {"color": plots.BLACK, "markersize": 5, "zorder": 5, "linestyle": ""}
            mus = list(AUTHORS)
            rates = [hits / AUTHORS_RUNS for hits, _ in AUTHORS.values()]
            rate_axis.plot(mus, rates, "x", clip_on=False, **marks)
            pairs_axis.plot(mus[:-1], [mean for _, mean in AUTHORS.values()][:-1], "x", **marks)
        rate_axis.set_ylim(-0.02, 1.03)
        rate_axis.set_ylabel("rejection rate")
        pairs_axis.set_ylim(80, 12_000)
        pairs_axis.set_ylabel("pairs, audits that reject")
        rate_axis.set_title(f"{name} scores", loc="right", fontsize="small")
        if row == 0:
            pairs_axis.text(bound - 0.01, 90, "accountant", ha="right", fontsize="small")
        axis.figure.canvas.draw()
        plots.label_ends(pairs_axis, ends, gap=0.09)
    return figure


# --- judges -----------------------------------------------------------------------------------


def _judge_epsilon(result: Result) -> Evidence:
    facts = result.facts
    close = abs(facts["epsilon"] - 6.56) <= 0.01 and facts["epsilon_low"] <= 6.56
    return Evidence(
        WITHIN_ERROR if close else DIFFERS,
        f"ε = {num(facts['epsilon'], 4)} from above, {num(facts['epsilon_low'], 4)} from below",
        "6.56",
        tolerance="0.01, the usual error of the numerical accountant that was used",
        note="Privacy-loss distributions, one record added or removed. The larger one, 6.56, is a "
        "bound too.",
    )


def _judge_exactly(result: Result) -> Evidence:
    facts = result.facts
    low = facts["mu_of_656"]
    return Evidence(
        EXACT if abs(low - 1.4) < 0.005 else DIFFERS,
        f"6.56 gives μ = {num(low, 4)}; μ = 1.4 has ε = {num(facts['at'], 4)} at δ = 1e-5",
        "μ = 1.4 exactly",
        note="A rounding, of some weight only because the claim at 1.4 is then stronger than the "
        f"bound. Over δ the accountant's μ runs from {num(facts['smallest_mu'])} (ε = 0) to "
        f"{num(facts['largest_mu'], 4)} (δ = 1e-8): no single μ follows from one pair (ε, δ).",
    )


def _judge_translations(result: Result) -> Evidence:
    found = result.facts["epsilons"]
    close = abs(found[1.2] - 5.413) < 0.001 and abs(found[1.1] - 4.88) < 0.01
    return Evidence(
        WITHIN_ERROR if close else DIFFERS,
        f"μ = 1.2: ε = {num(found[1.2], 5)}; μ = 1.1: {num(found[1.1], 5)}",
        "5.413 and 4.88",
        tolerance="one unit of the last digit printed",
        note="4.88 is cut off, not rounded.",
    )


def _judge_no_violation(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        DIFFERS if facts["delta_low"] > DELTA else EXACT,
        f"at ε = {num(facts['at'], 4)}: δ between {num(facts['delta_low'])} and "
        f"{num(facts['delta_high'])}, where μ = 1.4 allows 1e-5",
        "no violation at μ = 1.4",
        note="With one record added or removed the run is not 1.4-GDP, by so little that no audit "
        "of some thousand scores can see it: the statement is right for practice. Means over steps "
        "of a canary's coordinate, the base gradient removed, do meet the curve (largest margin "
        f"{num(max(facts['mean_margin'], 0.0), 1)}).",
    )


def _judge_law(result: Result) -> Evidence:
    p = result.facts["p_values"]
    name = min(p, key=lambda key: p[key])
    least = FALSE_ALARM / len(p)
    return Evidence(
        WITHIN_ERROR if p[name] >= least else DIFFERS,
        f"smallest of {len(p)} p-values: {num(p[name], 2)} ({name})",
        "sampling, noise and scores have their exact laws",
        tolerance=f"p ≥ {num(least, 2)} each",
        false_alarm=FALSE_ALARM,
        note="Gradients, clipping and planted errors: tests/test_canaries.py. The model classifies "
        f"{100 * result.facts['accuracy']:.1f} % of the test digits rightly.",
    )


def _judge_ratio(result: Result) -> Evidence:
    facts = result.facts
    critical = float(special.ndtri(1 - FALSE_ALARM / 6))
    gain, error = facts["gain"]
    apart = max(abs(v) for v in facts["z"].values())
    raw, ratio = (facts["separation"][kind][0] for kind in (RAW, RATIO))
    return Evidence(
        WITHIN_ERROR if apart <= critical and gain > critical * error else DIFFERS,
        f"d′ = {num(raw)} raw, {num(ratio)} as a ratio (gain {num(gain, 2)} ± "
        f"{num(1.96 * error, 2)}); largest |z| against exact d′ {num(apart, 2)}",
        f"{num(facts['exact'][REMOVED])} with the base gradient removed, "
        f"{num(facts['exact'][RATIO])} as a ratio; limit of many steps {num(facts['limit'])}",
        tolerance=f"|z| ≤ {num(critical)}",
        false_alarm=FALSE_ALARM,
        note="Raw scores lose twice: the other records' gradients add spread, and the model "
        "answers to the constant pull of the canaries, which lowers the included scores by "
        f"{num(facts['pull'], 2)}. Scores are treated as independent.",
    )


def _judge_shape(result: Result) -> Evidence:
    shapes = result.facts["shapes"]
    least = FALSE_ALARM / len(shapes)
    good = [
        s["always"] and s["longer"] and s["falls"] and s["p_at_1.4"] >= least
        for s in shapes.values()
    ]
    worst = max(s["at_1.4"] for s in shapes.values())
    bad = [name for name, fine in zip(shapes, good, strict=True) if not fine]
    return Evidence(
        SHAPE_ONLY if all(good) else DIFFERS,
        f"so for {sum(good)} of {len(good)} combinations of scores and settings; rate at μ = 1.4 "
        f"at most {100 * worst:.1f} %" + (f"; not so: {', '.join(bad)}" if bad else ""),
        "always rejected up to μ = 1, ever later; rates falling, at most 5 % at μ = 1.4",
        tolerance=f"exact p ≥ {num(least, 2)}",
        false_alarm=FALSE_ALARM,
        note="Other data and another network than the paper's: only the shape can be compared.",
    )


def _judge_surrogate_limits(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        WITHIN_ERROR if facts["p_less"] < FALSE_ALARM else DIFFERS,
        f"μ = 1.1 rejected in {100 * facts['at_1.1']:.0f} % of the audits of the surrogate, in "
        "99.6 % of those of the published scores (authors' file)",
        "fewer rejections on the surrogate",
        tolerance=f"exact p < {FALSE_ALARM:g}",
        false_alarm=FALSE_ALARM,
        note="Four moments do not fix what a threshold on the wrong side of the ratio does: the "
        "published scores with canary have heavier tails than a normal law.",
    )


def _judge_replacement(result: Result) -> Evidence:
    found = result.facts["replacement"]
    least = FALSE_ALARM / len(found)
    sure = {mu: pair for mu, pair in found.items() if pair[2] < least}
    outward = all(abs(two - 0.5) > abs(one - 0.5) for one, two, _ in sure.values())
    words = "; ".join(f"μ = {mu:g}: {one:.2f}, {two:.2f}" for mu, (one, two, _) in found.items())
    return Evidence(
        DIFFERS if not outward else WITHIN_ERROR if sure else SHAPE_ONLY,
        f"rates with and without: {words}",
        "without replacement closer to 0 or 1",
        tolerance=f"exact p < {num(least, 2)} where called different",
        false_alarm=FALSE_ALARM,
        note="Drawn without replacement, every audit ends with the same 10,000 scores a side, and "
        "so nearly with the same answer: rates say less about a new run than they seem to. With "
        "replacement an audit is about the pool's empirical law, not about DP-SGD.",
    )


def _judge_noise(result: Result) -> Evidence:
    facts = result.facts
    least = FALSE_ALARM / facts["cases"]
    kept = facts["p"] >= least and facts["excess"] <= float(special.ndtri(1 - least))
    reach = facts["reach"]
    return Evidence(
        WITHIN_ERROR if kept and 0 < reach[RAW] <= reach[RATIO] else DIFFERS,
        f"bound refuted in at most {100 * facts['worst']:.1f} % of {facts['repeats']} audits; "
        f"refuted in half of them or more, at the least: {reach[RAW]:g} of the bound with raw "
        f"scores, {reach[RATIO]:g} with ratios",
        "at most 5 % at the bound",
        tolerance=f"exact p ≥ {num(least, 2)}",
        false_alarm=FALSE_ALARM,
        note="Bound: μ whose curve has the accountant's ε at δ = 1e-5.",
    )


def _judge_distinct(result: Result) -> Evidence:
    facts = result.facts
    near = facts["largest"] <= 0.01 and facts["pair_largest"] <= facts["pair_bound"]
    return Evidence(
        WITHIN_ERROR if near else DIFFERS,
        f"correlation of two scores over runs: intervals within ±{num(facts['largest'], 2)}; over "
        f"the steps of one run, {facts['pairs']:,} pairs: root mean square "
        f"{num(facts['pair_rms'])} (independent: {num(facts['pair_expected'])})",
        f"near 0; two canaries on one coordinate have {num(facts['same_coordinate'], 2)}",
        tolerance=f"0.01 over runs; |r| ≤ {num(facts['pair_bound'], 2)} over steps",
        false_alarm=FALSE_ALARM,
        note="The variance of a mean of 10,000 scores is multiplied by "
        f"{num(facts['factor'], 2)} at most, as estimated from {facts['runs']} runs. With the base "
        "gradient removed the scores are exactly independent.",
    )


def _judge_dependence(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        WITHIN_ERROR if facts["p"] < FALSE_ALARM else DIFFERS,
        f"correlation 0.1 among the scores of a side: true claim rejected in "
        f"{100 * facts['rate']:.0f} % of the audits, without correlation in "
        f"{100 * facts['rate_independent']:.0f} %",
        "an assumption: robustness is not claimed",
        tolerance=f"exact p < {FALSE_ALARM:g} that the level is kept",
        false_alarm=FALSE_ALARM,
        note="So the assumption is needed. It is that of every auditor that takes pairs as "
        "independent, exact ones too: given what the scores share, their distance is another one, "
        f"and is larger than claimed with probability {num(facts['limit'], 2)}.",
    )


def _judge_first(result: Result) -> Evidence:
    facts = result.facts
    return Evidence(
        NOT_CHECKABLE if facts["both"] == 0 else DIFFERS,
        f"none among {facts['looked_at']} earlier auditors that we looked at",
        "none before",
        note="That nothing existed cannot be computed; a list of what was read proves little.",
    )


def _judge_figure_8(result: Result) -> Evidence:
    part = result.facts["authors"]
    z, p = part["z"].dropna(), part["p"]
    tests = len(z) + len(p)
    critical = float(special.ndtri(1 - FALSE_ALARM / (2 * tests)))
    equal = z.abs().max() <= critical and p.min() >= FALSE_ALARM / tests
    return Evidence(
        WITHIN_ERROR if equal else DIFFERS,
        f"largest |z| {num(z.abs().max(), 2)} over {len(z)} means, smallest p "
        f"{num(p.min(), 2)} over {len(p)} rates",
        "rates and means in the authors' files",
        tolerance=f"|z| ≤ {num(critical)}, exact p ≥ {num(FALSE_ALARM / tests, 2)}",
        false_alarm=FALSE_ALARM,
        note="With the options that produced the figure: threshold on the wrong side of the ratio, "
        "burn-in 100 (the text: defaults, which are 50), the first score of each side lost.",
    )


def _judge_null(result: Result) -> Evidence:
    facts = result.facts
    hits, repeats = facts["early"]
    p = float(facts["authors"].set_index("mu").loc[1.4, "p"])
    seen = facts["authors_null"] > 0 and hits > 0 and p >= FALSE_ALARM
    return Evidence(
        DIFFERS if seen else WITHIN_ERROR,
        f"{facts['authors_null']} of {AUTHORS_RUNS} in the authors' file; ours: "
        f"{facts['hits'][1.4][0]} of {facts['hits'][1.4][1]:,}, and {hits} of {repeats:,} within "
        "500 pairs",
        "0 of 250",
        tolerance=f"exact p ≥ {FALSE_ALARM:g} that ours has the rate of the file, p = {num(p, 2)}",
        false_alarm=FALSE_ALARM,
        note="A slip of reporting: the level of 5 % is kept all the same. With our rate, 250 runs "
        f"without rejection have probability {num(facts['none_in_250'], 2)}. These rejections are "
        "no false alarms about what is sampled, see the claim on the pool.",
    )


def _judge_edge(result: Result) -> Evidence:
    facts = result.facts
    p, rate = facts["p_text"][1.2], facts["rates"][1.2]
    return Evidence(
        WITHIN_ERROR if p >= FALSE_ALARM and abs(rate - 0.35) <= 0.1 else DIFFERS,
        f"{100 * rate:.1f} % (authors' file: 34 %)",
        "about 35 %",
        tolerance=f"exact p ≥ {FALSE_ALARM:g} and 10 points",
        false_alarm=FALSE_ALARM,
        note=f"On the corrected side it is {100 * facts['corrected'][1.2][0]:.0f} %.",
    )


def _judge_most(result: Result) -> Evidence:
    facts = result.facts
    mean, error = facts["mean_at_1.1"]
    good = facts["p_text"][1.1] >= FALSE_ALARM and mean + 1.96 * error < 3000
    return Evidence(
        WITHIN_ERROR if good else DIFFERS,
        f"{100 * facts['rates'][1.1]:.1f} %, {num(mean)} ± {num(1.96 * error, 2)} pairs",
        "above 99.5 %, below 3,000 pairs",
        tolerance=f"exact p ≥ {FALSE_ALARM:g} for the rate, 95 % interval of the mean",
        false_alarm=FALSE_ALARM,
        note="Authors' file: 249 of 250 and 2,367 pairs.",
    )


def _judge_quartiles(result: Result) -> Evidence:
    facts = result.facts
    by, z = facts["by"], max(abs(v) for v in facts["quantile_z"].values())
    critical = float(special.ndtri(1 - FALSE_ALARM / 4))
    near = abs(by[2000] - 0.5) <= 0.1 and abs(by[1000] - 0.25) <= 0.1
    return Evidence(
        WITHIN_ERROR if near and z <= critical else DIFFERS,
        f"{100 * by[2000]:.0f} % by 2,000 pairs, {100 * by[1000]:.0f} % by 1,000; against the "
        f"quartile and median of the authors' file |z| ≤ {num(z, 2)}",
        "about 50 % and 25 %",
        tolerance=f"10 points; |z| ≤ {num(critical)}",
        false_alarm=FALSE_ALARM,
    )


def _judge_strong(result: Result) -> Evidence:
    mean = result.facts["mean_at_0.8"]
    return Evidence(
        WITHIN_ERROR if 100 < mean < 500 else DIFFERS,
        f"{num(mean)} pairs on average",
        "a few hundred",
        tolerance="read as: between 100 and 500",
        note="Half of it is the burn-in of 100 pairs, the least an audit can use.",
    )


def _judge_short(result: Result) -> Evidence:
    facts = result.facts
    always_rejected = all(facts["rates"][mu] == 1 for mu in (0.8, 0.9, 1.0))
    largest = facts["largest"]
    return Evidence(
        SHAPE_ONLY if always_rejected and max(largest.values()) < HORIZON / 2 else DIFFERS,
        "always rejected; longest audits: "
        + ", ".join(f"{num(largest[mu])} (μ = {mu:g})" for mu in largest),
        "rate 100 %, all runs very short",
        note=f"Of {HORIZON:,} pairs at most. At μ = 1 some audits are not very short.",
    )


def _judge_corrected(result: Result) -> Evidence:
    facts = result.facts
    # Both intervals would have to lie on one side for the statement to be wrong by chance.
    low, high = facts["corrected"][1.2][1], facts["corrected"][1.3][2]
    return Evidence(
        WITHIN_ERROR if low > 0.9 and high < 0.25 else DIFFERS,
        f"{100 * facts['corrected'][1.2][0]:.1f} % at μ = 1.2, "
        f"{100 * facts['corrected'][1.3][0]:.1f} % at 1.3",
        "above 90 % and below 25 %",
        tolerance="95 % intervals",
        false_alarm=0.0,
        note="The edge moves from between 1.1 and 1.2 to between 1.2 and 1.3: the wrong side cost "
        "the audit power, not its level.",
    )


def _judge_classifier(result: Result) -> Evidence:
    rule, density = result.facts["threshold"], result.facts["authors"]
    z, own = rule["z"].abs().max(), density["z"].abs().max()
    critical = float(special.ndtri(1 - FALSE_ALARM / (2 * len(rule))))
    return Evidence(
        DIFFERS if z > critical >= own else WITHIN_ERROR,
        f"against the authors' means: |z| up to {num(z, 2)} with the threshold rule, "
        f"{num(own, 2)} with kernel densities",
        "the threshold rule of section 4.2",
        tolerance=f"|z| ≤ {num(critical)}",
        false_alarm=FALSE_ALARM,
        note="The authors' script uses kernel densities. The rule in the text would have done "
        f"better: {num(rule['mean'].iloc[3])} instead of {num(density['mean'].iloc[3])} pairs at "
        "μ = 1.1, because a threshold on the score has no wrong side.",
    )


def _judge_no_canary(result: Result) -> Evidence:
    facts = result.facts
    synthetic = facts["noise_only"] >= FALSE_ALARM and facts["measured_z"] < -6
    return Evidence(
        DIFFERS if synthetic else NOT_CHECKABLE,
        f"sd {num(facts['sd_out'])} without canary (noise alone: p = "
        f"{num(facts['noise_only'], 2)}), {num(facts['sd_in'])} with; a measured side would have "
        f"{num(facts['base_sd'], 2)} of base gradient in it too: z = "
        f"{num(facts['measured_z'], 2)}",
        "both sides from the training run",
        tolerance="Kolmogorov-Smirnov p ≥ 1e-4 for noise alone, z below -6 for a measured side",
        false_alarm=FALSE_ALARM,
        note="The authors' code draws them from N(0, σ²/T). So P and Q differ in the base gradient "
        "too, which has nothing to do with the canary. On our own run both sides are measured.",
    )


def _judge_pool(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["gap"] > 0,
        f"test with errors {num(facts['gap_alpha'], 2)} and {num(facts['gap_beta'])} over the "
        f"pools: {num(facts['gap'], 2)} below the curve of μ = 1.4",
        "a test below the curve",
        "Counted. The scores with canary spread more, because of the base gradient that the other "
        "side lacks. It is a fact about these two pools, not a violation by DP-SGD.",
    )


def _claim(
    id: str,
    label: str,
    statement: str,
    run: Any,
    judge: Any,
    recorded: Mapping[tuple[str, str], str],
    *,
    mark: str = "text",
    kind: str = "statement",
    page: str = PAGE,
) -> Claim:
    return Claim(id, "audit", label, kind, mark, statement, run, judge, page, recorded)


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "audit-epsilon-star",
        "Section 4.4, bound of the accountant (audit-21)",
        "With batch rate 1/12, 2,400 steps and σ = 3 a theoretical upper bound is ε = 6.56 at "
        "δ = 1e-5.",
        accounting,
        _judge_epsilon,
        always(WITHIN_ERROR),
    ),
    _claim(
        "audit-mu-exactly",
        "Section 4.4, μ of the bound (audit-22)",
        "The bound translates into μ = 1.4 exactly.",
        accounting,
        _judge_exactly,
        always(DIFFERS),
    ),
    _claim(
        "audit-mu-translations",
        "Section 4.4, other μ (audit-23)",
        "At δ = 1e-5, μ = 1.2 corresponds to ε = 5.413 and μ = 1.1 to ε = 4.88.",
        accounting,
        _judge_translations,
        always(WITHIN_ERROR),
    ),
    _claim(
        "audit-no-violation",
        "Section 4.4, no violation at μ = 1.4 (audit-55)",
        "For μ = 1.4 no violation of the claim exists.",
        accounting,
        _judge_no_violation,
        always(DIFFERS),
    ),
    _claim(
        "audit-one-run-law",
        "Our DP-SGD run does what it says (own)",
        "Sampling, noise and scores of the run have the laws that its settings state.",
        training,
        _judge_law,
        always(WITHIN_ERROR),
        mark="own",
    ),
    _claim(
        "audit-one-run-ratio",
        "Raw scores and likelihood ratios (own)",
        "Summed likelihood ratios of the steps, the base gradient removed, tell included from "
        "held-out canaries better than raw means, by the exact amount.",
        training,
        _judge_ratio,
        always(WITHIN_ERROR),
        mark="own",
    ),
    _claim(
        "audit-one-run-shape",
        "Figure 8 on our own DP-SGD run (own)",
        "With both sides measured in one run of our own, the audits show the shape of Figure 8.",
        own_audits,
        _judge_shape,
        always(SHAPE_ONLY),
        mark="own",
        kind="figure",
    ),
    _claim(
        "audit-one-run-replacement",
        "With and without replacement (own)",
        "Audits of one run agree with each other more when scores are drawn without replacement.",
        own_audits,
        _judge_replacement,
        {("quick", "computed"): SHAPE_ONLY, ("paper", "computed"): WITHIN_ERROR},
        mark="own",
    ),
    _claim(
        "audit-one-run-surrogate",
        "Figure 8 on a surrogate (own)",
        "On the corrected side audits of the surrogate of the published scores show the shape of "
        "Figure 8.",
        surrogate_audits,
        _judge_shape,
        always(SHAPE_ONLY, "surrogate"),
        mark="own",
        kind="figure",
    ),
    _claim(
        "audit-one-run-surrogate-limits",
        "Where the surrogate is no stand-in (own)",
        "With the published options the surrogate gives fewer rejections at μ = 1.1 than the "
        "published scores.",
        surrogate_audits,
        _judge_surrogate_limits,
        always(WITHIN_ERROR, "surrogate"),
        mark="own",
    ),
    _claim(
        "audit-one-run-noise",
        "Several noise multipliers (own)",
        "At several noise multipliers audits of one run refute claims up to a large part of the "
        "accountant's bound, and not the bound.",
        noise_levels,
        _judge_noise,
        always(WITHIN_ERROR),
        mark="own",
    ),
    _claim(
        "audit-distinct-coordinates",
        "Section 4.4, distinct coordinates (audit-53)",
        "Canaries on distinct coordinates interfere little, and their scores are close to "
        "independent.",
        independence,
        _judge_distinct,
        always(WITHIN_ERROR),
    ),
    _claim(
        "audit-dependence",
        "Section 4.4, dependent scores (audit-58)",
        "Scores of one run are treated as independent pairs; robustness to arbitrary dependence "
        "is not claimed.",
        dependence,
        _judge_dependence,
        always(WITHIN_ERROR),
    ),
    _claim(
        "audit-first",
        "First of its kind (audit-34)",
        "APT is the first sequential auditor of f-DP.",
        first_of_its_kind,
        _judge_first,
        always(NOT_CHECKABLE),
    ),
    _claim(
        "audit-fig-8",
        "Figure 8",
        "On the published scores APT rejects claims from μ = 0.8 to 1.4 at the rates and after the "
        "pairs of the authors' files.",
        published_audits,
        _judge_figure_8,
        always(WITHIN_ERROR, "files"),
        mark="found",
        kind="figure",
        page=FILES_PAGE,
    ),
    _claim(
        "audit-fig-8-null",
        "Figure 8, μ = 1.4 (audit-24)",
        "At μ = 1.4 none of the 250 runs rejects.",
        published_audits,
        _judge_null,
        always(DIFFERS, "files"),
        page=FILES_PAGE,
    ),
    _claim(
        "audit-fig-8-edge",
        "Figure 8, μ = 1.2 (audit-25)",
        "At μ = 1.2 about 35 % of the runs reject.",
        published_audits,
        _judge_edge,
        always(WITHIN_ERROR, "files"),
        page=FILES_PAGE,
    ),
    _claim(
        "audit-fig-8-most",
        "Figure 8, μ = 1.1 (audit-26)",
        "At μ = 1.1 more than 99.5 % reject, after less than 3,000 pairs on average.",
        published_audits,
        _judge_most,
        always(WITHIN_ERROR, "files"),
        page=FILES_PAGE,
    ),
    _claim(
        "audit-fig-8-quartiles",
        "Figure 8, spread at μ = 1.1 (audit-27)",
        "At μ = 1.1 about half of the runs end by 2,000 pairs, and a quarter even by 1,000.",
        published_audits,
        _judge_quartiles,
        always(WITHIN_ERROR, "files"),
        page=FILES_PAGE,
    ),
    _claim(
        "audit-fig-8-strong",
        "Figure 8, μ = 0.8 (audit-28)",
        "At μ = 0.8 a few hundred pairs are enough on average.",
        published_audits,
        _judge_strong,
        always(WITHIN_ERROR, "files"),
        page=FILES_PAGE,
    ),
    _claim(
        "audit-fig-8-short",
        "Figure 8, μ up to 1 (audit-54)",
        "For μ up to 1 every run rejects, and all runs are very short.",
        published_audits,
        _judge_short,
        always(SHAPE_ONLY, "files"),
        page=FILES_PAGE,
    ),
    _claim(
        "audit-fig-8-corrected",
        "Figure 8, corrected side (own)",
        "On the corrected side of the ratio the same scores refute μ = 1.2 nearly always, and "
        "μ = 1.3 seldom.",
        published_audits,
        _judge_corrected,
        always(WITHIN_ERROR, "files"),
        mark="own",
        page=FILES_PAGE,
    ),
    _claim(
        "audit-fig-8-classifier",
        "Section 4.4, which test (audit-29)",
        "The scores are judged by the threshold rule of section 4.2.",
        published_audits,
        _judge_classifier,
        always(DIFFERS, "files"),
        page=FILES_PAGE,
    ),
    _claim(
        "audit-fig-8-no-canary",
        "Section 4.4, scores without canary (audit-30)",
        "The scores with and without canary come from the single training run.",
        published_laws,
        _judge_no_canary,
        always(DIFFERS, "files"),
        page=FILES_PAGE,
    ),
    _claim(
        "audit-fig-8-pool",
        "The pools against μ = 1.4 (own)",
        "The two pools of scores that are resampled themselves lie below the curve of μ = 1.4.",
        published_laws,
        _judge_pool,
        always(EXACT, "files"),
        mark="own",
        page=FILES_PAGE,
    ),
)
