"""Run the paper profile of a check and store its outcomes in data/records/.

    python tools/record.py together-exact-bar

`make refresh` then renews the page that shows them.
"""

import argparse
import inspect
import sys
import time

from ldpkv.papers import claims, records
from ldpkv.papers.together.exact import RECORDED, stored


def main() -> int:
    parser = argparse.ArgumentParser(description="store the runs of a paper profile")
    parser.add_argument("id", choices=sorted(RECORDED))
    options = parser.parse_args()
    claim = claims.find(options.id)
    seed = inspect.signature(claim.run).parameters["seed"].default
    start = time.perf_counter()
    runs = RECORDED[options.id][0]("paper", seed)
    seconds = time.perf_counter() - start
    path = records.save(options.id, runs, seed=seed, seconds=seconds)
    about = claims.judge(options.id, stored(options.id))
    print(claims.summary(about))
    print(f"  recorded  {about['recorded']}")
    print(f"stored {path.name} after {seconds:.0f} s; now: make refresh NB={claim.page}")
    return 0 if about["verdict"] == about["recorded"] else 1


if __name__ == "__main__":
    sys.exit(main())
