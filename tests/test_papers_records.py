"""Stored runs: written whole, read strictly, held against the runs of today."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpkv.auditing.apt import NOT_REJECTED
from ldpkv.papers import claims, records
from ldpkv.papers.evidence import PROFILES
from ldpkv.papers.together import exact

RUNS = {"a": np.array([5, 300, NOT_REJECTED]), "b: c": np.array([[0, 1], [1, 1]])}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    records.save("x", RUNS, seed=7, seconds=1.25, where=tmp_path)
    return tmp_path


def test_round_trip(stored: Path) -> None:
    found = records.load("x", stored)
    assert found.seed == 7 and found.seconds == 1.2 and found.versions["numpy"] == np.__version__
    assert found.runs.keys() == RUNS.keys()
    for key, rows in RUNS.items():
        np.testing.assert_array_equal(found.runs[key], rows)
    assert found.made in found.words() and "seed 7" in found.words()
    assert [path.name for path in stored.iterdir()] == ["x.json"]


def test_an_interrupted_save_keeps_the_old_record(stored: Path) -> None:
    before = (stored / "x.json").read_bytes()
    with pytest.raises(TypeError):
        records.save("x", {"a": np.array([object()])}, seed=1, seconds=0, where=stored)
    assert (stored / "x.json").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"runs": None}, "lacks runs"),
        ({"made": None, "seed": None}, "lacks made, seed"),
        ({"name": "y"}, "must hold the record 'x', got 'y'"),
    ],
)
def test_files_that_are_no_record(stored: Path, change: dict[str, Any], word: str) -> None:
    path = stored / "x.json"
    kept = {**json.loads(path.read_text(encoding="utf-8")), **change}
    kept = {key: value for key, value in kept.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")
    with pytest.raises(ValueError, match=word):
        records.load("x", stored)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match="must hold an object, got list"):
        records.load("x", stored)
    with pytest.raises(FileNotFoundError, match="make record ID=nothing"):
        records.load("nothing", stored)


def test_runs_of_today_against_the_first_stored_ones(stored: Path) -> None:
    record = records.load("x", stored)
    again = records.reproduces(record, {"a": np.array([5, 300]), "b: c": np.array([[0, 1]])})
    assert again["runs"] == again["equal"] == 3 and again["settings"] == 2
    # Today's audits ended earlier: a later rejection is none.
    short = records.reproduces(record, {"a": np.array([5, NOT_REJECTED])}, horizon=200)
    assert short["equal"] == short["runs"] == 2
    # Planted: one run differs, one decision differs.
    assert records.reproduces(record, {"a": np.array([5, 301])})["equal"] == 1
    assert records.reproduces(record, {"b: c": np.array([[0, 1], [1, 0]])})["equal"] == 1
    for runs in ({"a": np.arange(4)}, {"new": np.arange(1)}):
        with pytest.raises(ValueError, match="too few runs"):
            records.reproduces(record, runs)


@pytest.mark.parametrize("name", exact.RECORDED)
def test_each_record_is_complete_and_judged_as_recorded(name: str) -> None:
    record = records.load(name)
    result = exact.stored(name)
    assert record.made in result.setting and result.profile == "paper"
    assert set(record.versions) == set(records.versions())
    about = claims.judge(name, result)
    assert about["verdict"] == about["recorded"]
    # What `make record` would run.
    assert claims.find(name).recorded.keys() == {(profile, "computed") for profile in PROFILES}
    assert (records.folder() / f"{name}.json").stat().st_size < 400_000


def test_a_card_with_the_paper_profile() -> None:
    full = exact.stored("together-exact-known")
    quick = exact._known_result("quick", {k: v[:50] for k, v in full.facts["runs"].items()}, 1)
    about = claims.judge("together-exact-known", quick, full)
    assert about["paper_profile"]["verdict"] == about["paper_profile"]["recorded"] == "within error"
    assert "Paper profile" in claims.card(about) and full.setting in claims.card(about)
    assert "paper profile  WITHIN ERROR" in claims.summary(about)
    assert "paper_profile" not in claims.judge("together-exact-known", full, full)
    # Notes that speak of different numbers of runs are told apart.
    about["paper_profile"]["note"] = "Many runs."
    card = claims.card(about)
    assert "Note, quick" in card and "Note, paper profile</dt><dd>Many runs." in card
