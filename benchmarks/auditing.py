"""Speed of the auditor, as ratios to a straightforward loop in the same run.

    python benchmarks/auditing.py [repetitions of Figure 5, default 100]

Bars, after compilation: a black-box audit of 10,000 pairs under 2 s, and the 18 panels of Figure 5
at 1,000 repetitions under 20 minutes on two cores.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import optimize, stats

from ldpkv.auditing import targets
from ldpkv.auditing.apt import APT, NOT_REJECTED, audit, path, run_many
from ldpkv.auditing.classifiers import GaussianPlugIn, plug_in_bandwidth, refresh_due
from ldpkv.tradeoff import DPSGDToy, GaussianDP, LaplaceDP, TradeoffCurve

PAIRS = 10_050
AUDIT_BAR_S, FIGURE_BAR_S, RATIO_BAR = 2.0, 1200.0, 20.0


def plain_audit(claimed: TradeoffCurve, x: np.ndarray, y: np.ndarray) -> int:
    """Algorithms 1 to 7 as they are written, with the corrected side: one thing after another."""
    fitted, densities, eta = 0, None, 0.0
    for n in range(50, len(x) + 1, 10):
        if fitted == 0 or refresh_due(n, fitted):
            fitted = n
            grid = np.linspace(
                min(x[:n].min(), y[:n].min()),
                max(x[:n].max(), y[:n].max()),
                max(50, min(1000, n // 10)),
            )
            densities = [
                stats.gaussian_kde(s, bw_method=plug_in_bandwidth(s) / s.std(ddof=1))(grid)
                for s in (x[:n], y[:n])
            ]
            masses = [density / density.sum() for density in densities]
            ratio = (densities[0] + 1e-12) / (densities[1] + 1e-12)
            best = -math.inf
            for candidate in np.linspace(0, 15, 1000):
                inside = np.clip((candidate + 0.05 - ratio) / 0.1, 0, 1)
                alpha, beta = float(masses[0] @ inside), 1 - float(masses[1] @ inside)
                if not -1 < beta - alpha < 1:
                    continue
                place = optimize.brentq(lambda a, d=beta - alpha: claimed(a) - a - d, 0, 1)
                if abs(place - alpha) > best:
                    best, eta = abs(place - alpha), candidate
        decided = []
        for sample in (x[:n], y[:n]):
            p, q = (np.interp(sample, grid, density) for density in densities)
            decided.append(np.log(p + 1e-12) - np.log(q + 1e-12) <= math.log(max(eta, 1e-300)))
        bounds = []
        for rate in (decided[0].mean(), 1 - decided[1].mean()):
            sd = max(math.sqrt(rate * (1 - rate)), 0.5 / math.sqrt(n))
            bounds.append(min(1, rate + 1.57761 * sd * math.sqrt(math.log(20 + n / 50) / n)))
        if bounds[1] < claimed(bounds[0]):
            return n
    return NOT_REJECTED


def timed(work: Callable[[], object], repeats: int = 1) -> float:
    """Shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def panels() -> list[tuple[str, APT, targets.Target]]:
    """Figure 5: mechanism x black or white box x strong, subtle, no violation."""
    sgd = DPSGDToy(10)
    rows = [
        ("Gaussian", targets.Gaussian(), 1.0, [GaussianDP(m) for m in (0.5, 0.8, 1.0)]),
        ("Laplace", targets.Laplace(), math.sqrt(2), [LaplaceDP(m) for m in (0.5, 0.8, 1.0)]),
        ("DP-SGD", targets.DPSGD(), sgd.sd, [DPSGDToy(t) for t in (5, 7, 10)]),
    ]
    result = []
    for name, target, sd, claims in rows:
        for claim, white in itertools.product(claims, (False, True)):
            changes = {"classifier": GaussianPlugIn(sd)} if white else {}
            label = f"{name} {'white' if white else 'black'} box {claim}"
            result.append((label, APT.published(claim, **changes), target))
    return result


def main() -> int:
    """Run all, print the numbers, and fail if one misses its bar."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    claim = GaussianDP(1.0)
    settings = APT.published(claim, side="corrected")
    x, y = targets.Gaussian(1.0).sample(PAIRS, rng=1)
    path(settings, (x[:300], y[:300]))  # compiles

    twin = timed(lambda: path(settings, (x, y)), 5)
    stepwise = timed(lambda: audit(settings, (x, y)), 3)
    pairwise = timed(lambda: one_by_one(settings, x, y))
    plain = timed(lambda: plain_audit(claim, x, y))
    print(f"one black-box audit of {PAIRS:,} pairs at its own curve (no rejection)")
    for name, seconds in (
        ("straightforward loop", plain),
        ("step, pair by pair", pairwise),
        ("step, in one go", stepwise),
        ("vectorised twin", twin),
    ):
        print(f"  {name:24}{seconds:10.3f} s{plain / seconds:10.1f}x")

    # Starts the workers.
    run_many(settings, targets.Gaussian(3.0).sample, repeats=4, rng=2, n_jobs=2)
    total = 0.0
    for label, panel, target in panels():
        seconds = timed(
            lambda p=panel, t=target: run_many(p, t.sample, repeats=repeats, rng=2, n_jobs=2)
        )
        total += seconds
        print(f"  {label:72}{seconds:8.2f} s")
    whole = total * max(1.0, 1000 / repeats)
    print(f"Figure 5, 18 panels x {repeats} on two cores: {total:.0f} s; x 1,000: {whole:.0f} s")

    rows = [
        ("black-box audit of 10,000 pairs, s", stepwise, AUDIT_BAR_S, stepwise <= AUDIT_BAR_S),
        ("Figure 5 at 1,000 repetitions, s", whole, FIGURE_BAR_S, whole <= FIGURE_BAR_S),
        ("twin against straightforward loop", plain / twin, RATIO_BAR, plain / twin >= RATIO_BAR),
    ]
    out = Path("_build/bench-auditing.json")
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps([dict(zip(("name", "value", "bar"), r, strict=False)) for r in rows]))
    for name, value, bar, good in rows:
        print(f"{name:40}{value:10.2f}   bar {bar:g}   {'ok' if good else 'MISSED'}")
    return 0 if all(good for *_, good in rows) else 1


def one_by_one(settings: APT, x: np.ndarray, y: np.ndarray) -> None:
    """Feed single pairs."""
    state = settings.init()
    for pair in zip(x, y, strict=True):
        state = settings.step(state, pair)


if __name__ == "__main__":
    raise SystemExit(main())
