"""Runs of the paper profile that are stored, dated, and judged again whenever they are shown.

A record holds raw outcomes (stopping times, decisions) and nothing that follows from them: means,
intervals and verdicts are computed from it each time. `make record` writes one. `reproduces` holds
the runs of today against the first runs of a record, so that a record that the code no longer gives
is noticed by every build.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldpkv
from ldpkv import _check
from ldpkv.auditing.apt import NOT_REJECTED

Runs = Mapping[str, NDArray[np.int64]]

_PARTS = ("name", "made", "versions", "seed", "seconds", "runs")


@dataclass(frozen=True, eq=False)
class Record:
    """Outcomes of one check in the paper profile.

    Parameters
    ----------
    name : str
        The claim whose paper profile it is; claims judged from the same runs share it.
    made : str
        Date, as 2026-11-30.
    versions : mapping
        Python, ldpkv and the libraries that the numbers depend on.
    seed : int
        Seed of the runs.
    seconds : float
        How long it took.
    runs : mapping
        Outcomes of each setting, one row a run.
    """

    name: str
    made: str
    versions: Mapping[str, str]
    seed: int
    seconds: float
    runs: Runs

    def words(self) -> str:
        """Say when and from which seed it was made, for captions."""
        return f"recorded on {self.made}, seed {self.seed}"


def folder() -> Path:
    """Return where records lie: inside an installed package, else in data/ of the checkout."""
    package = Path(ldpkv.__file__).resolve().parent
    inside = package / "records"
    return inside if inside.is_dir() else package.parent / "data" / "records"


def load(name: str, where: Path | None = None) -> Record:
    """Read a record.

    Parameters
    ----------
    name : str
        Its name.
    where : Path, optional
        Folder; `folder()` by default.

    Returns
    -------
    Record

    Raises
    ------
    FileNotFoundError
        If there is none; the text says how to make it.
    ValueError
        If the file is no record of this name.
    """
    path = (where or folder()) / f"{name}.json"
    if not path.is_file():
        raise FileNotFoundError(f"no record at {path}; `make record ID={name}` makes it")
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{path} must hold an object, got {type(found).__name__}")
    absent = [part for part in _PARTS if part not in found]
    if absent:
        missing = ", ".join(absent)
        raise ValueError(f"{path} lacks {missing}; `make record ID={name}` writes it anew")
    if found["name"] != name:
        raise ValueError(f"{path} must hold the record {name!r}, got {found['name']!r}")
    runs = {key: np.array(rows, dtype=np.int64) for key, rows in found.pop("runs").items()}
    return Record(**{part: found[part] for part in _PARTS if part != "runs"}, runs=runs)


def save(name: str, runs: Runs, *, seed: int, seconds: float, where: Path | None = None) -> Path:
    """Store outcomes with today's date; an earlier record is replaced at the end only.

    Parameters
    ----------
    name : str
        As in `Record`.
    runs : mapping
        As in `Record`.
    seed : int
        Seed of the runs.
    seconds : float
        How long they took.
    where : Path, optional
        Folder; `folder()` by default.

    Returns
    -------
    Path
        The file.
    """
    _check.integer("seed", seed, minimum=0)
    about = {
        "name": name,
        "made": datetime.date.today().isoformat(),
        "versions": versions(),
        "seed": seed,
        "seconds": round(seconds, 1),
    }
    # One line for each setting: the file stays readable, and its differences too.
    lines = [
        f"  {json.dumps(key, ensure_ascii=False)}: "
        + json.dumps(np.asarray(rows).tolist(), separators=(",", ":"))
        for key, rows in runs.items()
    ]
    head = json.dumps(about, indent=1, ensure_ascii=False).removesuffix("\n}")
    text = head + ',\n "runs": {\n' + ",\n".join(lines) + "\n }\n}\n"
    path = (where or folder()) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
    return path


def versions() -> dict[str, str]:
    """Return the versions that outcomes depend on."""
    import importlib.metadata as installed

    libraries = {name: installed.version(name) for name in ("numpy", "scipy", "numba")}
    return {"Python": platform.python_version(), "ldpkv": ldpkv.__version__, **libraries}


def reproduces(record: Record, runs: Runs, horizon: int | None = None) -> dict[str, Any]:
    """Compare the runs of today with the first runs of a record.

    Parameters
    ----------
    record : Record
        What was stored.
    runs : mapping
        Outcomes of today, from the same seed; no more runs of a setting than the record has.
    horizon : int, optional
        Where today's audits ended without a rejection, if that is earlier than in the record: a
        later rejection in the record then counts as none.

    Returns
    -------
    dict
        record, made, versions, settings, runs (compared), equal (how many of them are).
    """
    compared = equal = 0
    for key, rows in runs.items():
        stored = record.runs.get(key)
        if stored is None or len(stored) < len(rows):
            raise ValueError(f"record {record.name!r} has too few runs of {key!r} to compare with")
        first = stored[: len(rows)]
        if horizon is not None:
            first = np.where(first > horizon, NOT_REJECTED, first)
        compared += len(rows)
        equal += int((first == rows).reshape(len(rows), -1).all(axis=1).sum())
    return {
        "record": record.name,
        "made": record.made,
        "versions": ", ".join(f"{name} {number}" for name, number in record.versions.items()),
        "settings": len(runs),
        "runs": compared,
        "equal": equal,
    }


__all__ = ["Record", "folder", "load", "reproduces", "save", "versions"]
