"""Run the notebooks: for the book, or to renew the outputs stored in git.

    python tools/run_notebooks.py run --profile quick [--jobs N] [--timeout S] [notebook ...]
    python tools/run_notebooks.py refresh [notebook ...]
    python tools/run_notebooks.py runnable

`run` executes with papermill into _build/executed/<profile>/. An executed copy carries a key: a
hash of everything its outputs depend on. While the key holds, the notebook is not run again.
`refresh` runs with the default parameters and writes the outputs back into notebooks/. `runnable`
lists the notebooks whose data files are here.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil

TIMEOUTS = {"quick": 600.0, "paper": 7200.0}
HEARTBEAT = 20.0  # seconds between lines about a notebook that is still running
KEPT_CELL_METADATA = ("tags", "mystnb")


def say(text: str) -> None:
    print(text, flush=True)


# --- what there is ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Project:
    """The folders of one checkout."""

    root: Path

    def notebooks(self) -> list[Path]:
        """Return all notebooks, relative to notebooks/, in reading order."""
        folder = self.root / "notebooks"
        found = [path.relative_to(folder) for path in sorted(folder.rglob("*.ipynb"))]
        return [
            path
            for path in found
            if ".ipynb_checkpoints" not in path.parts and not path.name.endswith(".partial.ipynb")
        ]

    def source(self, name: Path) -> Path:
        return self.root / "notebooks" / name

    def executed(self, profile: str, name: Path) -> Path:
        return self.root / "_build" / "executed" / profile / name

    def shared_digest(self) -> str:
        """Hash of what every notebook depends on: the library, the data registry, the lock."""
        digest = hashlib.sha256(f"Python {sys.version_info[0]}.{sys.version_info[1]}".encode())
        files = sorted((self.root / "ldpkv").rglob("*.py"))
        files += [self.root / "data" / "registry.toml", self.root / "requirements.lock"]
        files += sorted((self.root / "data").glob("*.json"))
        for path in files:
            if path.exists():
                digest.update(str(path.relative_to(self.root)).encode() + b"\0")
                digest.update(path.read_bytes() + b"\0")
        return digest.hexdigest()


def needs(notebook: nbformat.NotebookNode) -> list[str]:
    return list(notebook.metadata.get("ldpkv", {}).get("needs_data", []))


def missing_data(names: list[str]) -> list[str]:
    """Return those data sets whose files are not on this machine."""
    if not names:
        return []  # the library need not be imported
    from ldpkv import data

    absent = []
    for name in names:
        try:
            data.find(name)
        except data.MissingDataError:
            absent.append(name)
    return absent


def notebook_key(
    notebook: nbformat.NotebookNode, shared: str, profile: str, absent: list[str]
) -> str:
    """Hash of all that an executed copy depends on; stored outputs count only when shown."""
    cells = [
        [cell.cell_type, cell.source, cell.metadata.get("tags", []), cell.metadata.get("mystnb")]
        for cell in notebook.cells
    ]
    parts = [shared, profile, cells, needs(notebook), absent]
    if absent:
        parts.append([cell.get("outputs", []) for cell in notebook.cells])
        parts.append(notebook.metadata.get("ldpkv", {}))
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def check_parameters(path: Path, wanted: dict[str, str]) -> None:
    """Refuse parameters that the notebook does not have.

    papermill only logs a line and runs the defaults: "paper" results would be quick ones.
    """
    if not wanted:
        return
    import papermill

    try:
        known = papermill.inspect_notebook(str(path))
    except ValueError as error:  # no kernel named in the file
        raise NotebookError(f"{path}: {error} `make refresh` writes one.") from None
    for name in wanted:
        if name not in known:
            listed = ", ".join(known) or "none (is a cell tagged `parameters`?)"
            raise NotebookError(f"{path} has no parameter {name!r}; it has: {listed}")


# --- running one notebook --------------------------------------------------------------------


class NotebookError(Exception):
    """A notebook could not be run; the text says why."""


class Running:
    """The processes that are running now, so that Ctrl-C and time-outs leave none behind."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.processes: set[subprocess.Popen[str]] = set()
        self.stopped = False

    def start(self, command: list[str]) -> "subprocess.Popen[str]":
        with self.lock:
            if self.stopped:
                raise NotebookError("interrupted")
            # A session of its own: Ctrl-C reaches this script alone, which then ends the kernels.
            process = subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self.processes.add(process)
            return process

    def end(self, process: "subprocess.Popen[str]") -> None:
        with self.lock:
            self.processes.discard(process)

    @staticmethod
    def kill(process: "subprocess.Popen[str]") -> None:
        """End papermill and its kernel, which sits in a session of its own."""
        try:
            parent = psutil.Process(process.pid)
            family = [*parent.children(recursive=True), parent]
        except psutil.NoSuchProcess:
            return
        for member in family:
            try:
                member.kill()
            except psutil.NoSuchProcess:
                pass

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for process in self.processes:
                self.kill(process)


def code_cell(cells: list[nbformat.NotebookNode], number: int) -> str:
    """Name the `number`-th cell as a reader of the source counts: code cells, none injected."""
    mine = [
        cell.cell_type == "code" and "injected-parameters" not in cell.metadata.get("tags", [])
        for cell in cells
    ]
    return f"code cell {max(1, sum(mine[:number]))} of {sum(mine)}"


def executed_cells(source: Path, injects: bool) -> list[nbformat.NotebookNode]:
    """Return the cells in papermill's order: it puts its own after the one tagged `parameters`."""
    cells = list(nbformat.read(source, as_version=4).cells)
    tags = [cell.metadata.get("tags", []) for cell in cells]
    if injects and not any("injected-parameters" in mine for mine in tags):
        at = next(number for number, mine in enumerate(tags) if "parameters" in mine)
        own = nbformat.v4.new_code_cell(metadata={"tags": ["injected-parameters"]})
        cells.insert(at + 1, own)
    return cells


def first_error(path: Path) -> str:
    """Return the traceback in a partial notebook, without colour codes."""
    if not path.exists():
        return ""
    notebook = nbformat.read(path, as_version=4)
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                lines = "\n".join(output.traceback) or f"{output.ename}: {output.evalue}"
                plain = re.sub(r"\x1b\[[0-9;]*m", "", lines)
                return f"{code_cell(notebook.cells, number)} failed:\n{cell.source}\n\n{plain}"
    return ""


def papermill(
    source: Path,
    partial: Path,
    parameters: dict[str, str],
    timeout: float,
    running: Running,
    label: str,
) -> float:
    """Execute `source` into `partial`; return the seconds it took or raise NotebookError."""
    check_parameters(source, parameters)
    cells = executed_cells(source, bool(parameters))
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.unlink(missing_ok=True)
    command = [sys.executable, "-m", "papermill", str(source), str(partial)]
    for name, value in parameters.items():
        command += ["-r", name, value]
    # The kernel name is ours: a notebook saved in another environment names another one.
    command += ["--kernel", "python3", "--cwd", str(source.parent)]
    # With its output logged, papermill also says which cell it is in.
    command += ["--no-progress-bar", "--log-output"]
    start = time.monotonic()
    process = running.start(command)
    log: deque[str] = deque(maxlen=30)
    where = "starting"

    def listen() -> None:
        nonlocal where
        assert process.stderr is not None
        for line in process.stderr:
            log.append(line.rstrip())
            if match := re.search(r"^Executing Cell (\d+)-", line):
                where = code_cell(cells, int(match[1]))

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    next_line = HEARTBEAT
    try:
        while process.poll() is None:
            seconds = time.monotonic() - start
            if seconds > timeout:
                running.kill(process)
                process.wait()
                raise NotebookError(
                    f"still running after {timeout:g} s, in {where}: killed.\n"
                    f"What it had done: {partial}"
                )
            if seconds > next_line:
                say(f"      {label}: {where}, {seconds:.0f} s so far (limit {timeout:g} s)")
                next_line += HEARTBEAT
            time.sleep(0.1)
    finally:
        running.end(process)
        listener.join(timeout=5)
        if process.stderr is not None and not listener.is_alive():
            process.stderr.close()
    if running.stopped:
        raise NotebookError("interrupted")
    if process.returncode != 0:
        why = first_error(partial) or "\n".join(log)
        raise NotebookError(f"{why}\nThe notebook up to there: {partial}")
    return time.monotonic() - start


# --- running many ----------------------------------------------------------------------------


def in_parallel(work: dict[Path, float], jobs: int, do, running: Running) -> dict[Path, str]:
    """Call `do(name)` for every notebook, the longest first; return name -> error text."""
    order = sorted(work, key=lambda name: -work[name])
    failures: dict[Path, str] = {}
    done = 0
    pool = ThreadPoolExecutor(max_workers=jobs)
    futures = {pool.submit(do, name): name for name in order}
    try:
        for future in as_completed(futures):
            name = futures[future].with_suffix("")
            done += 1
            left = f"{len(order) - done} left"
            try:
                say(f"[{done}/{len(order)}] {name} {future.result()}, {left}")
            except NotebookError as error:
                failures[futures[future]] = str(error)
                say(f"[{done}/{len(order)}] {name} FAILED, {left}")
    except BaseException:
        running.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return failures


def report(failures: dict[Path, str]) -> int:
    for name, why in failures.items():
        say(f"\n--- {name}\n{why}")
    if failures:
        say(f"\n{len(failures)} notebook(s) failed: {', '.join(map(str, failures))}")
    return 1 if failures else 0


def read_executed(path: Path) -> dict:
    """Return the `ldpkv` metadata of an executed copy; empty when there is none or it is broken."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))["metadata"]["ldpkv"]
    except (OSError, ValueError, KeyError):
        return {}


def write_atomically(notebook: nbformat.NotebookNode, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial.ipynb")
    nbformat.write(notebook, partial)
    partial.replace(target)


def run(project: Project, names: list[Path], profile: str, jobs: int, timeout: float) -> int:
    start = time.monotonic()
    shared = project.shared_digest()
    running = Running()
    work: dict[Path, float] = {}
    keys: dict[Path, str] = {}
    for name in names:
        notebook = nbformat.read(project.source(name), as_version=4)
        absent = missing_data(needs(notebook))
        keys[name] = notebook_key(notebook, shared, profile, absent)
        target = project.executed(profile, name)
        before = read_executed(target)
        if before.get("key") == keys[name]:
            continue
        if absent:
            mine = notebook.metadata.setdefault("ldpkv", {})
            mine.update(key=keys[name], stored=True, missing=absent, profile="quick")
            write_atomically(notebook, target)
            date = mine.get("stored_on", "an unknown date")
            say(f"{name}: data not here ({', '.join(absent)}); showing results stored on {date}")
            continue
        # Without an earlier run, the length of the file has to do as a guess.
        work[name] = before.get("seconds", project.source(name).stat().st_size * 1e-6)

    def one(name: Path) -> str:
        target = project.executed(profile, name)
        partial = target.with_suffix(".partial.ipynb")
        label = str(name.with_suffix(""))
        parameters = {"profile": profile}
        seconds = papermill(project.source(name), partial, parameters, timeout, running, label)
        notebook = nbformat.read(partial, as_version=4)
        notebook.metadata.setdefault("ldpkv", {}).update(
            key=keys[name], stored=False, profile=profile, seconds=round(seconds, 1)
        )
        # Renamed last: a failed or interrupted run never looks like a finished one.
        write_atomically(notebook, target)
        return f"done in {seconds:.1f} s"

    if work:
        say(f"running {len(work)} of {len(names)} notebooks ({profile} profile, {jobs} at a time)")
    failures = in_parallel(work, jobs, one, running)
    seconds = time.monotonic() - start
    say(f"notebooks: {len(work)} run, {len(names) - len(work)} up to date, {seconds:.1f} s")
    return report(failures)


# --- renewing the stored outputs -------------------------------------------------------------


def merge_streams(outputs: list) -> list:
    """Join neighbouring pieces of one stream: how they were cut is a matter of timing."""
    merged: list = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def canonical(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove from a notebook what differs between two runs or two editors."""
    kept = dict(notebook.metadata.get("ldpkv", {}))
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            # Without the lexer's name MyST-NB warns, and a warning fails the book.
            "language_info": {"name": "python", "pygments_lexer": "ipython3"},
        }
    )
    kept = {name: kept[name] for name in ("needs_data", "stored_on") if name in kept}
    if kept:
        notebook.metadata["ldpkv"] = kept
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: set[str] = set()
    count = 0
    for number, cell in enumerate(notebook.cells):
        cell.metadata = nbformat.from_dict(
            {name: cell.metadata[name] for name in KEPT_CELL_METADATA if cell.metadata.get(name)}
        )
        if cell.get("id") in seen or not cell.get("id"):
            cell["id"] = f"cell-{number:02d}"
        seen.add(cell["id"])
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        cell.outputs = merge_streams(cell.outputs)
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = count
            output.pop("transient", None)
    return notebook


def refresh(project: Project, names: list[Path], jobs: int, timeout: float) -> int:
    running = Running()
    work: dict[Path, float] = {}
    for name in names:
        notebook = nbformat.read(project.source(name), as_version=4)
        if absent := missing_data(needs(notebook)):
            say(f"{name}: data not here ({', '.join(absent)}); its stored results stay as they are")
        else:
            work[name] = project.source(name).stat().st_size

    def one(name: Path) -> str:
        source = project.source(name)
        partial = project.executed("refresh", name).with_suffix(".partial.ipynb")
        seconds = papermill(source, partial, {}, timeout, running, str(name.with_suffix("")))
        notebook = canonical(nbformat.read(partial, as_version=4))
        if needs(notebook):
            notebook.metadata.ldpkv["stored_on"] = datetime.date.today().isoformat()
        text = nbformat.writes(notebook) + "\n"
        partial.unlink()
        if text == source.read_text(encoding="utf-8"):
            return f"unchanged ({seconds:.1f} s)"
        fresh = source.with_suffix(".partial.ipynb")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(source)
        return f"stored ({seconds:.1f} s)"

    return report(in_parallel(work, jobs, one, running))


# --- the command -----------------------------------------------------------------------------


def chosen(project: Project, paths: list[str]) -> list[Path]:
    """Return the notebooks named on the command line, or all of them."""
    known = project.notebooks()
    if not paths:
        return known
    folder = project.root / "notebooks"
    names = []
    for path in paths:
        full = Path(path).resolve()
        name = full.relative_to(folder) if full.is_relative_to(folder) else Path(path)
        if name not in known:
            sys.exit(f"no such notebook: {path}")
        names.append(name)
    return names


def job_count(text: str) -> int:
    if text == "auto":
        # The cores this process may use; macOS knows only how many there are.
        mine = getattr(os, "sched_getaffinity", None)
        return len(mine(0)) if mine else os.cpu_count() or 1
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("a whole number from 1, or auto")
    return int(text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="run the notebooks")
    parser.add_argument("action", choices=["run", "refresh", "runnable"])
    parser.add_argument("notebooks", nargs="*")
    parser.add_argument("--profile", choices=sorted(TIMEOUTS), default="quick")
    parser.add_argument("--jobs", type=job_count, default=job_count("auto"))
    parser.add_argument("--timeout", type=float, help="seconds one notebook may take")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    # Options may stand before, between or after the notebooks.
    options = parser.parse_intermixed_args(arguments)
    project = Project(options.root.resolve())
    names = chosen(project, options.notebooks)
    timeout = options.timeout or TIMEOUTS[options.profile]
    try:
        if options.action == "run":
            return run(project, names, options.profile, options.jobs, timeout)
        if options.action == "refresh":
            return refresh(project, names, options.jobs, timeout)
        for name in names:
            absent = missing_data(needs(nbformat.read(project.source(name), as_version=4)))
            if absent:
                print(f"not compared, data not here ({', '.join(absent)}): {name}", file=sys.stderr)
            else:
                print(project.source(name).relative_to(project.root))
        return 0
    except KeyboardInterrupt:
        say("\ninterrupted; finished notebooks are kept, the same command goes on from here")
        return 130


if __name__ == "__main__":
    # Asked to end (CI, `kill`): the same clean way out as Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    sys.exit(main())
