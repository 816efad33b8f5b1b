"""Build the book: stage its sources, run Jupyter Book on them, check the pages.

    python tools/build_book.py --profile quick

When the staged sources are those of the last good build, nothing is built again.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import check_html
import stage
from run_notebooks import Project


def tree_key(folder: Path, *more: Path) -> str:
    """Hash of all files below a folder, and of some others."""
    digest = hashlib.sha256(sys.version.encode())
    for path in [*sorted(folder.rglob("*")), *more]:
        if path.is_file():
            digest.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def jupyter_book(root: Path, source: Path) -> int:
    """Run Jupyter Book; its talk goes to _build/book.log, its warnings to the screen."""
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", str(source)]
    # -W -n: a warning or a dangling reference fails the build. --all: an incremental build leaves
    # old numbers in pages that glue them from a changed notebook.
    command += ["--path-output", str(root), "-W", "-n", "--keep-going", "--all"]
    # A fixed date, so that the same sources give the same bytes. Sphinx takes the year of the
    # copyright line from it.
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1780272000", "NO_COLOR": "1"}
    done = subprocess.run(
        command,
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    log = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    (root / "_build" / "book.log").write_text(log, encoding="utf-8")
    lines = [line for line in log.splitlines() if re.search("WARNING|ERROR", line)]
    if done.returncode != 0:
        print("\n".join(lines or log.splitlines()[-30:]))
        print("the book was not built; everything it said: _build/book.log")
    return done.returncode


def build(project: Project, profile: str) -> int:
    start = time.monotonic()
    source = stage.stage(project, profile)
    root = project.root
    site, stamp = root / "_build" / "html", root / "_build" / "book-key.txt"
    tools = sorted((root / "tools").glob("*.py"))
    key = tree_key(source, root / "requirements.lock", *tools)
    index = site / "index.html"
    if index.exists() and stamp.exists() and stamp.read_text() == key:
        print(f"book: up to date, {index.relative_to(root)}", flush=True)
        return 0
    pages = sum(1 for path in source.rglob("*") if path.suffix in (".md", ".ipynb"))
    print(f"book: building {pages} pages", flush=True)
    # Nothing of an earlier build may stay: a failed build leaves no book.
    stamp.unlink(missing_ok=True)
    shutil.rmtree(site, ignore_errors=True)
    if jupyter_book(root, source) != 0:
        return 1
    if not index.exists():
        print("the book has no index.html; see _build/book.log")
        return 1
    faults = check_html.check(site)
    for fault in faults:
        print(f"page check: {fault}")
    if faults:
        print(f"{len(faults)} fault(s) in the pages of {site.relative_to(root)}")
        return 1
    stamp.write_text(key)
    seconds = time.monotonic() - start
    print(f"book: {index.relative_to(root)} ({seconds:.1f} s)", flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="build the book")
    parser.add_argument("--profile", choices=["quick", "paper"], default="quick")
    profile = parser.parse_args().profile
    return build(Project(Path(__file__).resolve().parent.parent), profile)


if __name__ == "__main__":
    sys.exit(main())
