"""What a check returns and what a judge says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ldpkv import _check

PROFILES = ("quick", "paper")
EXACT, WITHIN_ERROR, SHAPE_ONLY, DIFFERS, NOT_CHECKABLE = VERDICTS = (
    "exact",
    "within error",
    "shape only",
    "differs",
    "not checkable",
)
SHAPES = dict(zip(VERDICTS, ("●", "○", "◐", "◆", "–"), strict=True))


@dataclass(frozen=True, eq=False)
class Result:
    """What a paper function computed.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Sizes and repetitions that were used.
    table : DataFrame
        The numbers behind the figure or table, one row a point.
    facts : mapping
        Single numbers that judges and prose use.
    setting : str
        n, d, l, repetitions, in words, for the caption.
    source : str, default "computed"
        Where the data come from: "computed" (none, or generated), "index" (package index),
        "files" (files that are not shipped), "surrogate".
    """

    profile: str
    table: pd.DataFrame
    facts: Mapping[str, Any] = field(default_factory=dict)
    setting: str = ""
    source: str = "computed"


@dataclass(frozen=True)
class Evidence:
    """A verdict and what it rests on.

    Parameters
    ----------
    verdict : {"exact", "within error", "shape only", "differs", "not checkable"}
        What the code found.
    measured, expected : str
        The numbers compared, rounded to what is stable across machines.
    tolerance : str, default ""
        How far apart they may be.
    false_alarm : float, default 0.0
        Probability that a true claim is called "differs" by chance; 0 for what is not random.
    note : str, default ""
        The condition, the smallest counter-example, or what the verdict does not cover.
    """

    verdict: str
    measured: str
    expected: str
    tolerance: str = ""
    false_alarm: float = 0.0
    note: str = ""

    def __post_init__(self) -> None:
        _check.one_of("verdict", self.verdict, VERDICTS)


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, and how it is checked.

    Parameters
    ----------
    id : str
        Short name, unique: "pckv-thm-2".
    paper : {"foundations", "pckv", "hiskv", "audit", "together"}
        Where it belongs.
    label : str
        Its name in the paper, and its claim numbers, each written like "pckv-4".
    kind : {"theorem", "lemma", "equation", "figure", "table", "statement"}
        What it is.
    mark : str
        How the statement reached us: "text", "found", "derived", "recalled" or "own".
    statement : str
        The claim in our words.
    run : callable
        ``run(profile) -> Result``.
    judge : callable
        ``judge(result) -> Evidence``.
    page : str
        Notebook that shows it, relative to the top folder.
    recorded : mapping of (profile, source) to verdict
        What the code is known to say; a build fails when it says something else.
    """

    id: str
    paper: str
    label: str
    kind: str
    mark: str
    statement: str
    run: Callable[[str], Result]
    judge: Callable[[Result], Evidence]
    page: str
    recorded: Mapping[tuple[str, str], str]


def always(verdict: str, source: str = "computed") -> dict[tuple[str, str], str]:
    """Record one verdict for both profiles."""
    return {(profile, source): verdict for profile in PROFILES}


def exact_if(holds: bool, measured: str, expected: str, note: str = "") -> Evidence:
    """Judge something proved, enumerated or in closed form."""
    return Evidence(EXACT if holds else DIFFERS, measured, expected, note=note)


def check_profile(profile: str) -> str:
    """Return the profile if it is one."""
    return _check.one_of("profile", profile, PROFILES)


def num(value: float, digits: int = 3) -> str:
    """Write a number with `digits` significant digits, the same way everywhere.

    Parameters
    ----------
    value : float
        Any number; NaN and infinity are written as words.
    digits : int, default 3
        Significant digits.

    Returns
    -------
    str
        Plain for ordinary sizes, powers of ten otherwise; never "-0".
    """
    value = float(value)
    if math.isnan(value):
        return "not defined"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    rounded = float(f"{value:.{digits - 1}e}")
    if rounded == 0:
        return "0"
    if 1e-3 <= abs(rounded) < 1e6:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
        return f"{rounded:,.{decimals}f}"
    mantissa, exponent = f"{rounded:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"
