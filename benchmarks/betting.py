"""Speed of the betting auditor, as ratios to a straightforward loop in the same run.

    python benchmarks/betting.py

Bars, after compilation: over 10^6 pairs a second with a known likelihood ratio, and a black-box
audit of 10,000 pairs under 5 s. CPU seconds of one process are counted, so that a busy machine
matters less.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ldpkv.auditing import betting, targets
from ldpkv.auditing.betting import Betting
from ldpkv.auditing.learners import Known
from ldpkv.tradeoff import GaussianDP

RATE_BAR, AUDIT_BAR_S, RATIO_BAR = 1e6, 5.0, 50.0
MANY, SOME = 1_000_000, 20_000


def plain_loop(settings: Betting, x: np.ndarray, y: np.ndarray) -> float:
    """The same accounts, one pair and one asset after the other, on portfolios that are given."""
    state = settings.step(settings.init(), (x[:1000], y[:1000]))
    assert state.bets is not None
    threshold, sharpness, _, gain_p, _, gain_q = betting._assets(settings).arrays("pairs")
    weights = state.bets.weights[0, 0]
    cash = 1 - weights.sum()
    wealth = [1.0 for _ in settings.stakes]
    log_p, log_q = (settings.learners[0].fit(x, y)(side) for side in (x, y))
    for a, b in zip(log_p, log_q, strict=True):
        growth = cash
        for j in range(len(weights)):
            phi_x = min(1.0, max(0.0, 0.5 + (a - threshold[j]) * sharpness[j]))
            phi_y = min(1.0, max(0.0, 0.5 + (b - threshold[j]) * sharpness[j]))
            growth += weights[j] * (gain_p[j] * (1 - phi_x) + gain_q[j] * phi_y)
        wealth = [
            w * (1 - stake + stake * growth)
            for w, stake in zip(wealth, settings.stakes, strict=True)
        ]
    return math.log(max(sum(wealth) / len(wealth), 1e-300))


def timed(work: Callable[[], object], repeats: int = 1) -> float:
    """Fewest CPU seconds of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> int:
    """Run all, print the numbers, and fail if one misses its bar."""
    target = targets.Gaussian(1.0)
    known = Betting(GaussianDP(1.1), learners=(Known(target.log_ratio),), horizon=MANY)
    blind = Betting(GaussianDP(1.1))
    x, y = target.sample(MANY, rng=1)
    for settings in (known, blind):
        settings.step(settings.init(), (x[:300], y[:300]))  # compiles
    assert known.step(known.init(), (x, y)).n_samples == MANY, "rejected: choose another seed"
    assert blind.step(blind.init(), (x[:10_000], y[:10_000])).n_samples == 10_000
    fast = timed(lambda: known.step(known.init(), (x, y)), 3)
    plain = timed(lambda: plain_loop(known, x[:SOME], y[:SOME])) * MANY / SOME
    black_box = timed(lambda: blind.step(blind.init(), (x[:10_000], y[:10_000])), 3)
    rows = [
        ("pairs a second, known ratio", MANY / fast, RATE_BAR, MANY / fast >= RATE_BAR),
        ("black-box audit of 10,000 pairs, s", black_box, AUDIT_BAR_S, black_box <= AUDIT_BAR_S),
        ("compiled against plain loop", plain / fast, RATIO_BAR, plain / fast >= RATIO_BAR),
    ]
    out = Path("_build/bench-betting.json")
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps([dict(zip(("name", "value", "bar"), r, strict=False)) for r in rows]))
    for name, value, bar, good in rows:
        print(f"{name:40}{value:12,.2f}   bar {bar:g}   {'ok' if good else 'MISSED'}")
    return 0 if all(good for *_, good in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
