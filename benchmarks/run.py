"""Speed of the counted road and of compiled sampling, as ratios within one run.

``make bench``. Absolute times depend on the machine; the ratios are what is claimed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ldpkv import data, sampling
from ldpkv.mechanisms import PCKVGRR, PCKVUE

N_USERS, N_KEYS, PADDING = 10**6, 100, 1


def best(work: Callable[[], object], repeats: int) -> float:
    """Shortest of several runs, in seconds: the least disturbed one."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def plain_sampling(users: data.KeyValueData, rng: np.random.Generator) -> np.ndarray:
    """Padding-and-Sampling in plain numpy, one array operation after another."""
    lengths = np.diff(users.indptr)
    which, coin, uniform = rng.random((3, users.n_users))
    pair = users.indptr[:-1] + (which * lengths).astype(np.int64)
    codes = 2 * users.keys[pair].astype(np.int64) + (2 * coin >= 1 + users.values[pair])
    dummy = 2 * users.n_keys + rng.integers(2 * PADDING, size=users.n_users)
    return np.where(uniform * np.maximum(lengths, PADDING) < lengths, codes, dummy)


def main() -> int:
    """Run all, print a table, write the numbers, and fail if a ratio is below its bar."""
    rng = np.random.default_rng(1)
    users = data.uniform(N_USERS, N_KEYS, rng=rng)
    rows = []
    compiled = best(lambda: sampling.pad_and_sample(users, rng=rng).pad(PADDING), 7)
    plain = best(lambda: plain_sampling(users, rng), 7)
    rows.append(("sampling, compiled against numpy", plain, compiled, 3.0))
    for name, kind, bar in (("PCKV-UE", PCKVUE, 1000.0), ("PCKV-GRR", PCKVGRR, 50.0)):
        mechanism = kind.from_epsilon(1.0, n_keys=N_KEYS, padding=PADDING)
        symbols = mechanism.symbols(mechanism.draw(users, rng=rng))
        table = symbols.table()
        literal = best(
            lambda m=mechanism, s=symbols: m.aggregate(m.perturb(s, rng=rng)),
            2 if kind is PCKVUE else 5,
        )
        counted = best(lambda m=mechanism, t=table: m.simulate_counts(t, rng=rng), 200)
        rows.append((f"{name}, counted against literal", literal, counted, bar))
    print(f"n = {N_USERS:,}, d = {N_KEYS}, l = {PADDING}; best of several runs, one process")
    print(f"{'':36}{'slower':>12}{'faster':>12}{'ratio':>10}{'bar':>8}")
    for name, slow, fast, bar in rows:
        ratio = slow / fast
        print(f"{name:36}{1e3 * slow:9.2f} ms{1e3 * fast:9.3f} ms{ratio:9.1f}x{bar:7.0f}x")
    out = Path("_build/bench.json")
    out.parent.mkdir(exist_ok=True)
    out.write_text(
        json.dumps(
            [
                {"name": name, "slow_s": slow, "fast_s": fast, "ratio": slow / fast, "bar": bar}
                for name, slow, fast, bar in rows
            ],
            indent=1,
        )
    )
    below = [name for name, slow, fast, bar in rows if slow / fast < bar]
    for name in below:
        print(f"below its bar: {name}", file=sys.stderr)
    return 1 if below else 0


if __name__ == "__main__":
    raise SystemExit(main())
