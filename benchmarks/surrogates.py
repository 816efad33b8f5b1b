"""Time and peak memory of the full-size surrogates, each in a process of its own.

``.venv/bin/python benchmarks/surrogates.py`` also prints how far each is from the published
numbers. The peak is the whole process: interpreter, libraries and compiled code included. The
first run compiles and is slower by some seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys

# Name, most seconds, most GiB.
LIMITS = {
    "amazon_beauty": (60, 4.0),
    "movielens20m": (60, 2.0),
    "talkingdata": (60, 2.0),
    "jdata": (60, 2.0),
    "jdata_categories": (60, 2.0),
    "gauss": (60, 2.0),
    "lnr": (60, 2.0),
}

CHILD = """
import json, resource, sys, time
from ldpkv import surrogates
start = time.perf_counter()
data = getattr(surrogates, sys.argv[1])(rng=2020)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
gib = peak / 2**30 if sys.platform == "darwin" else peak / 2**20
table = surrogates.compare_with_published(sys.argv[1], data)
print(json.dumps({
    "seconds": seconds, "gib": gib, "pairs": data.n_pairs, "digest": data.digest()[:12],
    "table": table.drop(columns="source").to_string(float_format=lambda x: f"{x:.6g}"),
}))
"""


def main() -> int:
    """Measure all, print, and fail if a limit is passed."""
    failed = False
    for name, (most_seconds, most_gib) in LIMITS.items():
        done = subprocess.run(
            [sys.executable, "-c", CHILD, name], check=True, capture_output=True, text=True
        )
        found = json.loads(done.stdout)
        good = found["seconds"] <= most_seconds and found["gib"] <= most_gib
        failed |= not good
        print(
            f"{name}: {found['pairs']:,} pairs, {found['seconds']:.1f} s (at most {most_seconds}), "
            f"peak {found['gib']:.2f} GiB (at most {most_gib:g}), digest {found['digest']}"
            + ("" if good else "  TOO MUCH")
        )
        print(found["table"], end="\n\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
