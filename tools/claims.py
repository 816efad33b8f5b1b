"""Collect the verdicts of the executed notebooks into _build/claims.json.

    python tools/claims.py collect --profile quick [--show]

Fails, naming each, when a verdict is not the recorded one, when a claim of the library appears in
no notebook, and when one appears twice.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
from outputs import EVIDENCE, PAPERS, SHAPES, bundles, page_of
from run_notebooks import Project

COPIED = ("id", "paper", "label", "kind", "statement", "verdict", "recorded")
VALUES = ("measured", "expected", "false_alarm")


def cell_seconds(cell: Any) -> float | None:
    """Return how long papermill took for the cell; None in a stored copy, which has no times."""
    seconds = cell.metadata.get("papermill", {}).get("duration")
    return None if seconds is None else round(seconds, 3)


def collect(project: Project, profile: str) -> list[dict]:
    """Return one record per piece of evidence, in reading order."""
    records = []
    for name in project.notebooks():
        path = project.executed(profile, name)
        if not path.exists():
            raise SystemExit(f"{path} is missing: run `make book` (or tools/run_notebooks.py)")
        notebook = nbformat.read(path, as_version=4)
        for cell, _, evidence in bundles(notebook, EVIDENCE):
            record = {field: evidence[field] for field in COPIED}
            record |= {field: evidence.get(field) for field in VALUES}
            record["page"] = page_of(name)
            record["seconds"] = cell_seconds(cell)
            record["mark"] = evidence.get("mark")
            record["paper_profile"] = evidence.get("paper_profile")
            records.append(record)
    order = list(PAPERS)
    return sorted(records, key=lambda record: order.index(record["paper"]))


def problems(records: list[dict], known: list[str]) -> list[str]:
    """Return what is wrong with the collected verdicts, one line each."""
    found = []
    for record in records:
        where = f"{record['id']} ({record['page']})"
        if record["verdict"] not in SHAPES:
            found.append(f"{where}: {record['verdict']!r} is not a verdict")
        if record["recorded"] in (None, "none"):
            found.append(f"{where}: verdict {record['verdict']!r}, none recorded")
        elif record["verdict"] != record["recorded"]:
            found.append(f"{where}: verdict {record['verdict']!r}, recorded {record['recorded']!r}")
        stored = record.get("paper_profile")
        if stored and stored["verdict"] != stored["recorded"]:
            line = f"paper profile {stored['verdict']!r}, recorded {stored['recorded']!r}"
            found.append(f"{where}: {line}")
    counts = Counter(record["id"] for record in records)
    found += [f"{claim}: shown {n} times" for claim, n in counts.items() if n > 1]
    found += [f"{claim}: in no notebook" for claim in known if claim not in counts]
    found += [f"{claim}: not in CLAIMS" for claim in counts if claim not in known]
    return found


def summary(records: list[dict]) -> str:
    counts = Counter(record["verdict"] for record in records)
    parts = [f"{counts[verdict]} {verdict}" for verdict in SHAPES if counts[verdict]]
    return f"{len(records)} claims: " + (", ".join(parts) or "none")


def write(project: Project, profile: str, known: list[str], show: bool = False) -> int:
    records = collect(project, profile)
    target = project.root / "_build" / "claims.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(records, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if show:
        width = max((len(record["id"]) for record in records), default=0)
        for record in records:
            shape = SHAPES.get(record["verdict"], "?")
            print(f"{record['id']:{width}}  {shape} {record['verdict']:13}  {record['page']}")
    found = problems(records, known)
    for line in found:
        print(f"claims: {line}")
    print(f"{summary(records)} -> {target.relative_to(project.root)}", flush=True)
    return 1 if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="collect the verdicts")
    parser.add_argument("action", choices=["collect"])
    parser.add_argument("--profile", choices=["quick", "paper"], default="quick")
    parser.add_argument("--show", action="store_true", help="print one line per claim")
    options = parser.parse_args()
    from ldpkv.papers.claims import CLAIMS

    project = Project(Path(__file__).resolve().parent.parent)
    return write(project, options.profile, [claim.id for claim in CLAIMS], options.show)


if __name__ == "__main__":
    sys.exit(main())
