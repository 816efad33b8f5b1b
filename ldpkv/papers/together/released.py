"""Page 04 of "together": the auditor turned on released libraries, from stored, dated results.

Nothing here imports those libraries. `make peers` runs ``tools/audit_peers.py`` in an environment
of its own and writes ``data/peers.json``; this module reads that file, compares it with what is
recorded here, and with exact laws where there are any.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

import ldpkv
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    WITHIN_ERROR,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)

PAGE = "notebooks/together/04-released-libraries.ipynb"
Stored = Mapping[str, Any]
Law = Mapping[Any, Any]

# The releases that the texts of this page speak of.
VERSIONS = MappingProxyType(
    {
        "pure-ldp": "1.2.0",
        "multi-freq-ldpy": "0.2.5",
        "opendp": "0.16.0",
        "diffprivlib": "0.6.6",
        "jax-privacy": "2.0.0",
    }
)
BEFORE = "1.1.2"  # pure-ldp, the release before

# Probability that chance alone turns a verdict; shared by all comparisons behind it.
FALSE_ALARM = 1e-4

# Cases whose claim the audit rejects; all others are not rejected.
REJECTED = frozenset(
    {
        "pure-ldp-rappor",
        "pure-ldp-rappor-2",
        "pure-ldp-hm-type",
        "pure-ldp-old-sue",
        "pure-ldp-old-oue",
        "pure-ldp-he-low-bits",
        "multi-freq-ss-order",
        "multi-freq-rsfd-grr",
        "multi-freq-rsfd-ue-zero",
        "multi-freq-rsfd-ue-rnd",
        "multi-freq-he-low-bits",
        "diffprivlib-histogram-replaced",
        "diffprivlib-regression",
        "diffprivlib-laplace-low-bits",
        "diffprivlib-gaussian-low-bits",
    }
)
LOCAL = ("pure-ldp", "multi-freq-ldpy")
CENTRAL = ("opendp", "diffprivlib")
LOW_BITS = "-low-bits"


# --- the stored results ---------------------------------------------------------------------------


@functools.cache
def stored() -> Stored:
    """Return what `make peers` stored last.

    It is ``peers.json`` inside an installed package, else ``data/peers.json`` of the checkout that
    the package lies in.

    Returns
    -------
    mapping
        ``made`` (date), ``python``, ``audited`` and ``beside`` (versions), ``level``, and the lists
        ``cases``, ``counts``, ``conversions``, ``seeds``, ``bounds``, ``installs``.

    Raises
    ------
    FileNotFoundError
        If neither file is there.
    ValueError
        If the file lacks a part; see `checked`.
    """
    package = Path(ldpkv.__file__).resolve().parent
    places = [package / "peers.json", package.parent / "data" / "peers.json"]
    for place in places:
        if place.is_file():
            return checked(json.loads(place.read_text(encoding="utf-8")))
    raise FileNotFoundError(
        f"stored results on released libraries are missing; looked at {places[0]} and {places[1]}; "
        "`make peers` makes them"
    )


_PARTS = ("made", "python", "system", "audited", "beside", "level")
_LISTS: Mapping[str, tuple[str, ...]] = {
    "cases": (
        *("id", "library", "version", "mechanism", "setup", "call", "inputs", "score", "claim"),
        *("epsilon", "delta", "seed", "pairs", "rejected_at", "half_rejected_at", "epsilon_low"),
    ),
    "counts": ("id", "library", "version", "what", "call", "seed", "hits", "trials", "claimed"),
    "conversions": ("epsilon", "f", "one_hash", "two_hashes"),
    "seeds": ("call", "numpy_seed", "numba_seed"),
    "bounds": ("function", "call", "seed", "sets", "above_zero", "largest", "median", "version"),
    "installs": ("library", "version", "added", "beside", "parts"),
}


def checked(found: Any) -> Stored:
    """Refuse stored results that lack a part.

    Parameters
    ----------
    found : object
        What was read from JSON.

    Returns
    -------
    mapping
        The same.

    Raises
    ------
    ValueError
        If a part or a field is missing, or two cases share an id; the text names it.
    """
    if not isinstance(found, dict):
        raise ValueError(f"peers.json must hold an object, got {type(found).__name__}")
    absent = [name for name in (*_PARTS, *_LISTS) if name not in found]
    if absent:
        raise ValueError(f"peers.json lacks {', '.join(absent)}; `make peers` writes it anew")
    for name, fields in _LISTS.items():
        for row in found[name]:
            missing = [field for field in fields if field not in row]
            if missing:
                raise ValueError(
                    f"peers.json: {name} entry {row.get('id', row)!r} lacks {', '.join(missing)}"
                )
    for name in ("cases", "counts"):
        ids = [row["id"] for row in found[name]]
        twice = sorted({id for id in ids if ids.count(id) > 1})
        if twice:
            raise ValueError(f"peers.json: {name} holds {', '.join(twice)} twice")
    return MappingProxyType(found)


def setting(data: Stored) -> str:
    """Say when and with what the results were made, for captions."""
    return (
        f"stored results of {data['made']}, Python {data['python']}, numpy "
        f"{data['beside']['numpy']}; level {data['level']:g} a case"
    )


def _outcome(case: Mapping[str, Any]) -> str:
    stop = case["rejected_at"]
    return f"after {stop:,}" if stop else f"no, {case['pairs']:,}"


def shown_call(setup: str, call: str) -> str:
    """Write a case's call with the object it is made on in place of that object's name.

    Parameters
    ----------
    setup, call : str
        As stored.

    Returns
    -------
    str
        One line.
    """
    made = re.search(r"^(client|m) = (.+(?:\n(?: .*|\)))*)$", setup, re.M)
    if made is None:
        return call
    value = re.sub(r"\s*\n\s*", " ", made[2]).replace("( ", "(").replace(" )", ")")
    return re.sub(rf"\b{made[1]}\b(?=[.(])", lambda _: value, call, count=1)


def _cases(data: Stored, libraries: Sequence[str]) -> pd.DataFrame:
    """Cases of some libraries, one row each, every stored field kept."""
    rows = [
        {
            **case,
            "inputs": " | ".join(case["inputs"]),
            "outcome": _outcome(case),
            "rejected": case["rejected_at"] is not None,
            "half": case["half_rejected_at"] is not None,
            "seed": "none" if case["seed"] is None else str(case["seed"]),
        }
        for case in data["cases"]
        if case["library"] in libraries
    ]
    return pd.DataFrame(rows)


def _audited(data: Stored, libraries: Sequence[str], profile: str, *, bits: bool) -> Result:
    """Outcomes of the cases of some libraries, with or without those on lowest bits."""
    check_profile(profile)
    table = _cases(data, libraries)
    table = table[table["id"].str.endswith(LOW_BITS) == bits].reset_index(drop=True)
    found = set(table.loc[table["rejected"], "id"])
    wanted = {id for id in REJECTED if id in set(table["id"])}
    facts = {
        "cases": len(table),
        "rejected": sorted(found),
        "unexpected": sorted(found ^ wanted),
        "lost": sorted(wanted - set(table["id"])),
        "level": data["level"],
        "false_alarm": len(table) * data["level"],
        "largest_ratio": float((table["epsilon_low"] / table["epsilon"])[~table["rejected"]].max()),
        "by_id": table.set_index("id")[["epsilon", "epsilon_low", "rejected_at"]].to_dict("index"),
        "versions": _versions(data, libraries),
    }
    return Result(profile, table, facts, setting(data))


def _versions(data: Stored, libraries: Iterable[str]) -> bool:
    """Whether the stored releases are those that the texts name."""
    return all(data["audited"][name] == VERSIONS[name] for name in libraries)


def local(profile: str = "quick") -> Result:
    """Outcomes for the local protocols of pure-ldp and multi-freq-ldpy.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both read the same stored results.

    Returns
    -------
    Result
        One row a case: what was called, on which inputs, with which seed; the claim; whether and
        after how many pairs it was rejected; a 95 % lower bound on epsilon.
    """
    return _audited(stored(), LOCAL, profile, bits=False)


def central(profile: str = "quick") -> Result:
    """Outcomes for the mechanisms of opendp and diffprivlib.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both read the same stored results.

    Returns
    -------
    Result
        As from `local`.
    """
    return _audited(stored(), CENTRAL, profile, bits=False)


def low_bits(profile: str = "quick") -> Result:
    """Outcomes where only this is seen of a report: whether it is a multiple of 2^-53.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both read the same stored results.

    Returns
    -------
    Result
        As from `local`, all four libraries.
    """
    return _audited(stored(), (*LOCAL, *CENTRAL), profile, bits=True)


def outcomes_table(result: Result, library: str) -> pd.DataFrame:
    """Cases of one library for the page: the call, the claim, the outcome.

    Parameters
    ----------
    result : Result
        From `local`, `central` or `low_bits`.
    library : str
        One that occurs in it.

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        If there is no such case.
    """
    rows = result.table[result.table["library"] == library]
    if rows.empty:
        known = sorted(set(result.table["library"]))
        raise ValueError(f"library must be one of {known}, got {library!r}")
    return pd.DataFrame(
        {
            "release": rows["version"],
            "mechanism": rows["mechanism"],
            "call; two inputs x; seed": [
                f"{shown_call(setup, call)}; x = {inputs}; {seed}"
                for setup, call, inputs, seed in zip(
                    rows["setup"], rows["call"], rows["inputs"], rows["seed"], strict=True
                )
            ],
            "claimed ε": [
                num(epsilon, 4) + (f", δ = {delta:g}" if delta else "")
                for epsilon, delta in zip(rows["epsilon"], rows["delta"], strict=True)
            ],
            "rejected": rows["outcome"],
            "ε at least": [num(value, 3) for value in rows["epsilon_low"]],
        }
    )


def full_table(result: Result, library: str) -> pd.DataFrame:
    """Everything stored on one library's cases, for the CSV beside its table."""
    rows = result.table[result.table["library"] == library]
    return rows.drop(columns=["outcome", "rejected", "half"])


_SHORT: Mapping[str, str] = MappingProxyType(
    {
        "pure-ldp-rappor": "RAPPOR",
        "pure-ldp-rappor-2": "RAPPOR, two hashes",
        "pure-ldp-hm-type": "HM, type",
        "pure-ldp-old-sue": "SUE, 1.1.2",
        "pure-ldp-old-oue": "OUE, 1.1.2",
        "multi-freq-ss-order": "SS, array",
        "multi-freq-rsfd-grr": "RS+FD, GRR",
        "multi-freq-rsfd-ue-zero": "RS+FD, OUE-z",
        "multi-freq-rsfd-ue-rnd": "RS+FD, OUE-r",
        "diffprivlib-histogram-replaced": "histogram, replaced",
        "diffprivlib-regression": "regression",
    }
)


def bounds(local_result: Result, central_result: Result) -> Result:
    """Relate each case's lower bound on epsilon to its claim.

    Parameters
    ----------
    local_result, central_result : Result
        From `local` and `central`.

    Returns
    -------
    Result
        One row a case whose claimed epsilon is not 0.
    """
    table = pd.concat([local_result.table, central_result.table])
    table = table.loc[
        table["epsilon"] > 0, ["id", "library", "version", "epsilon", "epsilon_low", "rejected"]
    ]
    table = table.assign(ratio=table["epsilon_low"] / table["epsilon"]).reset_index(drop=True)
    return Result(local_result.profile, table, setting=local_result.setting)


def draw_bounds(result: Result) -> Figure:
    """Draw each case's lower bound on epsilon, as a multiple of the claim."""
    figure, axis = plots.new_figure(height=4.6)
    table = result.table
    plots.log_axis(axis, "x")
    axis.axvline(1.0, color=plots.BLACK, linewidth=0.8, linestyle=":")
    libraries = (*LOCAL, *CENTRAL)
    for height, library in enumerate(reversed(libraries)):
        rows = table[table["library"] == library]
        kept = np.maximum(rows.loc[~rows["rejected"], "ratio"], 0.1)
        shift = (np.arange(len(kept)) % 9 - 4) * 0.07
        axis.plot(kept, height + shift, "o", color=plots.BLUE, markersize=4, alpha=0.8)
        # One below the other, so that names do not meet.
        hit = rows[rows["rejected"]].sort_values("ratio")
        places = height + 0.16 * ((len(hit) - 1) / 2 - np.arange(len(hit)))
        axis.plot(hit["ratio"], places, "D", color=plots.VERMILION, markersize=5)
        for x, y, id in zip(hit["ratio"], places, hit["id"], strict=True):
            axis.annotate(
                _SHORT.get(id, id),
                (x, y),
                (6, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
            )
    axis.set_yticks(range(len(libraries)), list(reversed(libraries)))
    axis.set_ylim(-0.6, len(libraries) - 0.3)
    axis.set_xlim(0.09, 16)
    axis.set_xticks([0.1, 0.2, 0.5, 1, 2, 5, 10], ["0.1", "0.2", "0.5", "1", "2", "5", "10"])
    axis.set_xlabel("95 % lower bound on ε, as a multiple of the claimed ε")
    top = len(libraries) - 0.45
    axis.text(0.1, top, "● not rejected", color=plots.BLUE, fontsize="small")
    axis.text(1.08, top, "◆ rejected", color=plots.VERMILION, fontsize="small")
    return figure


# --- exact laws -----------------------------------------------------------------------------------


def worst_epsilon(first: Law, second: Law) -> float:
    """Largest log ratio of two exact laws, in either direction.

    Parameters
    ----------
    first, second : mapping of outcome to probability
        Fractions or floats; absent outcomes have probability 0.

    Returns
    -------
    float
        In nats; infinite when an outcome is possible under one law only.
    """
    worst = 0.0
    for outcome in {*first, *second}:
        p, q = first.get(outcome, 0), second.get(outcome, 0)
        if p == q:
            continue
        if p == 0 or q == 0:
            return math.inf
        worst = max(worst, abs(math.log(p / q)))
    return worst


def unary_epsilon(keep: float, fake: float) -> float:
    """Exact epsilon of unary encoding: own bit 1 with probability `keep`, others with `fake`."""
    return math.log(keep * (1 - fake) / (fake * (1 - keep)))


def unary_before(epsilon: float, *, optimised: bool) -> tuple[float, float]:
    """Probabilities of unary encoding in pure-ldp 1.1.2, read from its source.

    The own bit is first drawn like every other bit, and then set with probability p.

    Parameters
    ----------
    epsilon : float
        The argument, above 0.
    optimised : bool
        OUE or SUE.

    Returns
    -------
    keep, fake : float
    """
    keep, fake = unary_now(epsilon, optimised=optimised)
    return keep + (1 - keep) * fake, fake


def unary_now(epsilon: float, *, optimised: bool) -> tuple[float, float]:
    """Probabilities of SUE and OUE as designed; see `unary_before`."""
    if optimised:
        return 0.5, 1 / (math.exp(epsilon) + 1)
    root = math.exp(epsilon / 2)
    return root / (root + 1), 1 / (root + 1)


def subset_law(own: int, size: int, n_values: int, exp_epsilon: Any, *, ordered: bool) -> Law:
    """Law of a subset selection report that puts the own value first, if it is in.

    Parameters
    ----------
    own : int
        The user's value, in [0, `n_values`).
    size, n_values : int
        Values in the report, and in the domain; ``1 <= size < n_values``.
    exp_epsilon : Fraction or float
        e^epsilon.
    ordered : bool
        The array as returned, or the set of its values.

    Returns
    -------
    mapping of tuple or frozenset to probability
    """
    keep = size * exp_epsilon / (size * exp_epsilon + n_values - size)
    others = [value for value in range(n_values) if value != own]
    law: dict[Any, Any] = {}
    with_own = list(itertools.permutations(others, size - 1))
    without = list(itertools.permutations(others, size))
    reports = [((own, *rest), keep / len(with_own)) for rest in with_own]
    reports += [(rest, (1 - keep) / len(without)) for rest in without]
    for report, chance in reports:
        name: Any = report if ordered else frozenset(report)
        law[name] = law.get(name, 0) + chance
    return law


def sampled_law(values: Sequence[int], size: int, exp_epsilon: Any) -> Law:
    """Law of RS+FD with GRR: one attribute perturbed at the raised epsilon, the others uniform.

    Parameters
    ----------
    values : sequence of int
        The user's d values, each in [0, `size`).
    size : int
        Values of every attribute.
    exp_epsilon : Fraction or float
        e^epsilon of the argument; the sampled attribute gets ``1 + d (e^epsilon - 1)``.

    Returns
    -------
    mapping of tuple to probability
    """
    d = len(values)
    raised = 1 + d * (exp_epsilon - 1)
    law = {}
    for report in itertools.product(range(size), repeat=d):
        chance = exp_epsilon * 0
        for value, seen in zip(values, report, strict=True):
            own = raised if seen == value else 1
            chance += own / (raised + size - 1) / Fraction(size) ** (d - 1) / d
        law[report] = chance
    return law


def differing(profile: str = "quick") -> Result:
    """Enumerate RS+FD with GRR for tuples that differ in some attributes, in exact fractions.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Up to three attributes with three values, or four.

    Returns
    -------
    Result
        One row for each number of attributes, number that differ, and e^epsilon: the exact ratio.
    """
    largest = 4 if check_profile(profile) == "paper" else 3
    rows = []
    for size, exp_epsilon in itertools.product((2, 3), (Fraction(3, 2), Fraction(3))):
        for d in range(2, largest + 1):
            for differ in range(1, d + 1):
                second = [1] * differ + [0] * (d - differ)
                laws = [sampled_law(v, size, exp_epsilon) for v in ([0] * d, second)]
                ratio = max(laws[0][report] / laws[1][report] for report in laws[0])
                rows.append((d, size, differ, exp_epsilon, ratio))
    table = pd.DataFrame(rows, columns=["d", "size", "differ", "exp_epsilon", "ratio"])
    equal = [
        row.ratio == 1 + row.differ * (row.exp_epsilon - 1) for row in table.itertuples(index=False)
    ]
    data = stored()
    outcomes = {
        case["id"]: case["rejected_at"]
        for case in data["cases"]
        if case["id"].startswith("multi-freq-rsfd-")
    }
    facts = {
        "cases": len(table),
        "equal": sum(equal),
        "epsilon_both": math.log(1 + 2 * (math.e - 1)),
        "both": [stop for id, stop in outcomes.items() if not id.endswith("-one")],
        "one": [stop for id, stop in outcomes.items() if id.endswith("-one")],
        "false_alarm": len(outcomes) * data["level"],
        "versions": _versions(data, ["multi-freq-ldpy"]),
    }
    shown = table[(table["size"] == 3) & (table["exp_epsilon"] == 3)]
    return Result(profile, shown.astype({"exp_epsilon": float, "ratio": float}), facts)


def differing_table(result: Result) -> pd.DataFrame:
    """Exact ratios of RS+FD for the page."""
    table = result.table
    return pd.DataFrame(
        {
            "attributes d": table["d"],
            "of which differ": table["differ"],
            "e^ε of the argument": table["exp_epsilon"],
            "e^ε of the report": table["ratio"],
        }
    )


# --- single frequencies ---------------------------------------------------------------------------


def counts(profile: str = "quick") -> Result:
    """Frequencies of single events beside the probabilities of the laws that explain them.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both read the same stored results.

    Returns
    -------
    Result
        One row an event: how often, its 95 % Clopper-Pearson interval, its probability in the law
        of the source and in the law as designed, with exact two-sided p-values.
    """
    check_profile(profile)
    data = stored()
    laws = _source_laws()
    rows = []
    for row in data["counts"]:
        test = stats.binomtest(row["hits"], row["trials"])
        interval = test.proportion_ci(0.95, method="exact")
        source = laws[row["id"]]
        rows.append(
            {
                **row,
                "share": row["hits"] / row["trials"],
                "low": interval.low,
                "high": interval.high,
                "source": source,
                "p_source": _p_value(row["hits"], row["trials"], source),
                "p_claimed": _p_value(row["hits"], row["trials"], row["claimed"]),
            }
        )
    table = pd.DataFrame(rows)
    known = table.set_index("id")
    released = known.loc["opendp-laplace-threshold"]
    facts = {
        "critical": FALSE_ALARM / (2 * len(table)),
        "p_source": known["p_source"].to_dict(),
        "p_claimed": known["p_claimed"].to_dict(),
        "hits": known["hits"].to_dict(),
        "trials": known["trials"].to_dict(),
        "share": known["share"].to_dict(),
        "claimed": known["claimed"].to_dict(),
        "rejected": {case["id"]: case["rejected_at"] for case in data["cases"]},
        "epsilon_low": {case["id"]: case["epsilon_low"] for case in data["cases"]},
        "unary": {
            name: unary_epsilon(*unary_before(0.5, optimised=name == "OUE"))
            for name in ("SUE", "OUE")
        },
        "subset_array": worst_epsilon(
            *(subset_law(v, 3, 6, Fraction(3), ordered=True) for v in (0, 1))
        ),
        "subset_set": worst_epsilon(
            *(subset_law(v, 3, 6, Fraction(3), ordered=False) for v in (0, 1))
        ),
        "threshold": (float(released["low"]), float(released["claimed"])),
        "renyi": _renyi(known),
        "versions": _versions(data, VERSIONS),
    }
    return Result(profile, table, facts, setting(data))


def _p_value(hits: int, trials: int, chance: float | None) -> float:
    """Exact two-sided p-value; NaN where there is no such probability."""
    if chance is None:
        return math.nan
    return float(stats.binomtest(hits, trials, chance).pvalue)


def _source_laws() -> dict[str, float | None]:
    """Probability of each counted event in the law that the release's source or docs describe."""
    decay = math.exp(-1)
    laws: dict[str, float | None] = {
        "pure-ldp-rappor-cleared": 0.0,
        "pure-ldp-rappor-2-cleared": 0.0,
        "multi-freq-ss-first": 3 * math.e / (3 * math.e + 7),
        "multi-freq-ss-later": 0.0,
        # Any other value is at each place with probability 1/9, whatever comes first.
        "multi-freq-ss-other": 2 / 9,
        "pure-ldp-hm-list": math.e / (math.e + 1),
        "pure-ldp-hm-mixed": 0.0,
        # Discrete Laplace noise of scale 1: a count of 1 reaches 5.
        "opendp-laplace-threshold": decay**4 / (1 + decay),
        "opendp-noisy-max-zcdp-0": 0.5,
        "opendp-noisy-max-zcdp-1": 1 / (1 + math.exp(2)),
    }
    for name in ("sue", "oue"):
        laws[f"pure-ldp-old-{name}-own-bit"] = unary_before(0.5, optimised=name == "oue")[0]
        laws[f"pure-ldp-new-{name}-own-bit"] = unary_now(0.5, optimised=name == "oue")[0]
    return laws


def _renyi(known: pd.DataFrame, order: float = 2.0) -> dict[str, float]:
    """Rényi divergence of noisy_max from its two frequencies, and what its rho allows.

    The lower end holds with 95 % confidence: the smallest divergence over the rectangle of both
    Clopper-Pearson intervals at 97.5 %.
    """
    ends = []
    for name in ("opendp-noisy-max-zcdp-0", "opendp-noisy-max-zcdp-1"):
        row = known.loc[name]
        found = stats.binomtest(int(row["hits"]), int(row["trials"]))
        interval = found.proportion_ci(0.975, method="exact")
        ends.append((interval.low, interval.high))

    def divergence(p: float, q: float) -> float:
        total = p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)
        return math.log(total) / (order - 1)

    # It falls as the two come together, so a corner is smallest (the intervals do not meet).
    corners = [divergence(p, q) for p in ends[0] for q in ends[1]]
    corners += [divergence(q, p) for p in ends[0] for q in ends[1]]
    forward, backward = corners[:4], corners[4:]
    peeling = math.exp(-2) / 2  # second place under permute-and-flip at the same scale
    return {
        "low": max(min(forward), min(backward)),
        "allowed": order * float(known.loc["opendp-noisy-max-zcdp-0", "rho"]),
        "before": max(divergence(0.5, peeling), divergence(peeling, 0.5)),
    }


def counts_table(result: Result) -> pd.DataFrame:
    """Counted events for the page."""
    table = result.table
    return pd.DataFrame(
        {
            "release": table["library"] + " " + table["version"],
            "event": table["what"],
            "seen": [
                f"{h:,} of {t:,}" for h, t in zip(table["hits"], table["trials"], strict=True)
            ],
            "95 % interval": [
                f"{num(low)} to {num(high)}"
                for low, high in zip(table["low"], table["high"], strict=True)
            ],
            "in the law of the source": [_shown(value) for value in table["source"]],
            "as claimed": [_shown(value) for value in table["claimed"]],
            "seed": ["none" if pd.isna(seed) else f"{int(seed)}" for seed in table["seed"]],
        }
    )


def _shown(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else num(value, 4)


# --- conversions, auditors, installations, power --------------------------------------------------


def conversions(profile: str = "quick") -> Result:
    """What pure-ldp's RAPPOR client makes of an epsilon.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both read the same stored results.

    Returns
    -------
    Result
        One row an epsilon: the f it is turned into, rounded to two decimals, and the epsilon that
        this f stands for by the client's own inverse, with one and with two hash functions.
    """
    check_profile(profile)
    data = stored()
    table = pd.DataFrame(data["conversions"])
    exact = 2 / (np.exp(table["epsilon"] / 2) + 1)
    over = table[table["one_hash"].isna() | (table["one_hash"] > table["epsilon"] + 1e-9)]
    doubled = (table["two_hashes"] / table["one_hash"]).dropna()
    facts = {
        "rounded": bool((table["f"] == exact.round(2)).all()),
        "above": over["epsilon"].tolist(),
        "no_noise": table.loc[table["f"] == 0, "epsilon"].tolist(),
        "doubled": bool(np.allclose(doubled, 2, rtol=1e-4)) and len(doubled) > 0,
        "versions": _versions(data, ["pure-ldp"]),
    }
    return Result(profile, table, facts, setting(data))


def conversions_table(result: Result) -> pd.DataFrame:
    """Conversions for the page."""
    table = result.table
    return pd.DataFrame(
        {
            "ε asked for": table["epsilon"],
            "f = convert_eps_to_f(ε)": [f"{f:.2f}" for f in table["f"]],
            "convert_f_to_eps(f, 1)": [_of_f(v) for v in table["one_hash"]],
            "convert_f_to_eps(f, 2)": [_of_f(v) for v in table["two_hashes"]],
        }
    )


def _of_f(value: float | None) -> str:
    return "no noise" if value is None or math.isnan(value) else num(value, 4)


def auditors(profile: str = "quick") -> Result:
    """How often lower bounds of jax-privacy are above 0 where true epsilon is 0.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both read the same stored results.

    Returns
    -------
    Result
        One row a bound: data sets with a bound above 0, of how many; the largest bound.
    """
    check_profile(profile)
    data = stored()
    table = pd.DataFrame(data["bounds"])
    # One-sided: how surprising are so many, if each bound errs with probability 0.05 at most?
    table["p_value"] = stats.binom.sf(table["above_zero"] - 1, table["sets"], 0.05)
    table["share"] = table["above_zero"] / table["sets"]
    known = table.set_index("function")
    facts = {
        "p_value": known["p_value"].to_dict(),
        "share": known["share"].to_dict(),
        "above": known["above_zero"].to_dict(),
        "sets": known["sets"].to_dict(),
        "largest": known["largest"].to_dict(),
        "critical": FALSE_ALARM / len(table),
        "versions": _versions(data, ["jax-privacy"]),
    }
    return Result(profile, table, facts, setting(data))


def auditors_table(result: Result) -> pd.DataFrame:
    """Bounds of jax-privacy on null data for the page."""
    table = result.table
    return pd.DataFrame(
        {
            "release": "jax-privacy " + table["version"],
            "call": [call.split("\n")[-1] for call in table["call"]],
            "above 0": [
                f"{h} of {t}" for h, t in zip(table["above_zero"], table["sets"], strict=True)
            ],
            "median": table["median"],
            "largest": table["largest"],
            "seed": table["seed"].astype(str),
        }
    )


def installs(profile: str = "quick") -> Result:
    """What runs after a plain installation with the newest versions that a release allows.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both read the same stored results.

    Returns
    -------
    Result
        One row a release, what was added to it, and a part: whether it runs, or its last error.
    """
    check_profile(profile)
    data = stored()
    rows = [
        {
            "release": f"{entry['library']} {entry['version']}",
            "added": ", ".join(entry["added"]),
            "part": part["part"],
            "runs": part["error"] == "",
            "error": part["error"],
            "beside": ", ".join(f"{name} {v}" for name, v in entry["beside"].items()),
            "code": part["code"],
        }
        for entry in data["installs"]
        for part in entry["parts"]
    ]
    table = pd.DataFrame(rows)
    plain = table[table["added"] == ""]
    more = table[table["added"] != ""]
    facts = {
        "fails": {
            name.rsplit(" ", 1)[0]: sorted(part.loc[~part["runs"], "part"])
            for name, part in plain.groupby("release")
        },
        "parts": {name.rsplit(" ", 1)[0]: len(p) for name, p in plain.groupby("release")},
        "fails_added": sorted(more.loc[~more["runs"], "part"]),
        "parts_added": len(more),
        "seeds": data["seeds"],
        "made": data["made"],
        "versions": _versions(data, VERSIONS),
    }
    return Result(profile, table, facts, setting(data))


def installs_table(result: Result) -> pd.DataFrame:
    """Plain installations for the page: parts with the same outcome share a row."""
    rows = []
    for keys, part in result.table.groupby(["release", "added", "error"], sort=False):
        release, added, error = keys
        rows.append(
            {
                "release": release,
                "added": added or "nothing",
                "parts": ", ".join(part["part"]),
                "outcome": "runs" if error == "" else error,
                "beside": part["beside"].iloc[0] or "–",
            }
        )
    return pd.DataFrame(rows)


def power(profile: str = "quick") -> Result:
    """Whether the audit could have failed: half of each claim, on the same pairs.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Both read the same stored results.

    Returns
    -------
    Result
        One row a case that is not rejected: pairs after which half the claim was.
    """
    check_profile(profile)
    data = stored()
    table = _cases(data, (*LOCAL, *CENTRAL))
    table = table[~table["rejected"]].reset_index(drop=True)
    caught = table[table["half"]]
    facts = {
        "cases": len(table),
        "caught": len(caught),
        "local": int((~table["half"] & table["library"].isin(LOCAL)).sum()),
        "missed": sorted(table.loc[~table["half"], "id"]),
        "median": float(caught["half_rejected_at"].median()),
        "versions": _versions(data, (*LOCAL, *CENTRAL)),
    }
    columns = ["id", "library", "mechanism", "epsilon", "pairs", "half_rejected_at", "epsilon_low"]
    return Result(profile, table[columns], facts, setting(data))


def numbers(
    local_result: Result, central_result: Result, count_result: Result, null_result: Result
) -> dict[str, float | str]:
    """Numbers that the page refers to, and the date.

    Parameters
    ----------
    local_result, central_result, count_result, null_result : Result
        From `local`, `central`, `counts` and `auditors`.

    Returns
    -------
    dict of str to float or str
        By the name under which they are glued.
    """
    return {
        "released_made": stored()["made"],
        "released_cases": local_result.facts["cases"] + central_result.facts["cases"],
        "released_rejected": len(local_result.facts["rejected"])
        + len(central_result.facts["rejected"]),
        "released_rappor": local_result.facts["by_id"]["pure-ldp-rappor"]["rejected_at"],
        "released_rsfd": local_result.facts["by_id"]["multi-freq-rsfd-grr"]["rejected_at"],
        "released_gdp": 100 * null_result.facts["share"]["epsilon_from_gdp"],
        "released_threshold": 100 * count_result.facts["share"]["opendp-laplace-threshold"],
        "released_delta": 100 * count_result.facts["claimed"]["opendp-laplace-threshold"],
    }


# --- judges ---------------------------------------------------------------------------------------


def _outdated(result: Result) -> Evidence | None:
    """The verdict on results of other releases than those that the statement names."""
    if result.facts["versions"]:
        return None
    return Evidence(
        DIFFERS,
        "results of other releases",
        ", ".join(f"{name} {version}" for name, version in VERSIONS.items()),
        note="The statement names releases; `make peers` measured others.",
    )


def _sequential(result: Result, expected: str, note: str) -> Evidence:
    facts = result.facts
    good = not facts["unexpected"] and not facts["lost"]
    return _outdated(result) or Evidence(
        WITHIN_ERROR if good else DIFFERS,
        f"{len(facts['rejected'])} of {facts['cases']} claims rejected: "
        + (", ".join(facts["rejected"]) or "none"),
        expected,
        tolerance=f"level {facts['level']:g} a case, anytime-valid",
        false_alarm=facts["false_alarm"],
        note=note,
    )


def _judge_local(result: Result) -> Evidence:
    return _sequential(
        result,
        "RAPPOR, the Hadamard mechanism as returned, subset selection as an array, RS+FD for "
        "tuples that differ in both attributes, and unary encoding in pure-ldp 1.1.2",
        "Not rejected means: these bets, on this pair of inputs, within so many pairs, found "
        "nothing. It does not mean correct.",
    )


def _judge_central(result: Result) -> Evidence:
    return _sequential(
        result,
        "tools.histogram for a replaced record, and LinearRegression with bounds_X from 0 to 5",
        "Not rejected does not mean correct. No docstring of diffprivlib says which neighbours it "
        "means; the histogram keeps its claim when a record is added. LinearRegression was "
        "reported by others: issues 104 and 105 of the library's repository.",
    )


def _judge_low_bits(result: Result) -> Evidence:
    return _sequential(
        result,
        "numpy's Laplace noise in both local libraries, Laplace and GaussianAnalytic of "
        "diffprivlib; not laplace of opendp, not Snapping",
        "1 + noise is always a multiple of 2⁻⁵³ in double precision, 0 + noise often is not. Known "
        "since Mironov (2012); for diffprivlib, issues 19 and 94 of its repository.",
    )


def _judge_rappor(result: Result) -> Evidence:
    facts = result.facts
    ids = ("pure-ldp-rappor-cleared", "pure-ldp-rappor-2-cleared")
    hits, trials = (sum(facts[name][id] for id in ids) for name in ("hits", "trials"))
    missing = all(facts["p_claimed"][id] < facts["critical"] for id in ids)
    stops = [facts["rejected"][id] for id in ("pure-ldp-rappor", "pure-ldp-rappor-2")]
    good = hits == 0 and missing and None not in stops
    return _outdated(result) or Evidence(
        WITHIN_ERROR if good else DIFFERS,
        f"{hits} of {trials:,} set bits reported as 0; the claim rejected after "
        f"{' and '.join(map(str, stops))} pairs",
        f"0 in the law of the source; f/2 = {num(facts['claimed'][ids[0]], 2)} of them by design",
        tolerance=f"exact binomial p < {num(facts['critical'], 2)}",
        false_alarm=FALSE_ALARM,
        note="A report without a bit excludes every value that sets it, so ε is infinite in that "
        "law.",
    )


def _judge_unary(result: Result) -> Evidence:
    facts = result.facts
    old = [f"pure-ldp-old-{name}-own-bit" for name in ("sue", "oue")]
    new = [f"pure-ldp-new-{name}-own-bit" for name in ("sue", "oue")]
    good = (
        all(facts["p_source"][id] > facts["critical"] for id in (*old, *new))
        and all(facts["p_claimed"][id] < facts["critical"] for id in old)
        and all(facts["rejected"][f"pure-ldp-old-{n}"] is not None for n in ("sue", "oue"))
        and all(facts["rejected"][f"pure-ldp-new-{n}"] is None for n in ("sue", "oue"))
        and min(facts["unary"].values()) > 0.5
    )
    return _outdated(result) or Evidence(
        WITHIN_ERROR if good else DIFFERS,
        f"own bit set in {' and '.join(num(facts['share'][id]) for id in old)} of reports (SUE, "
        f"OUE), {' and '.join(num(facts['share'][id]) for id in new)} in the next release",
        "p + (1 − p) q before, p after; exact ε of the former "
        + " and ".join(num(value) for value in facts["unary"].values())
        + " at ε = 0.5",
        tolerance=f"exact binomial p > {num(facts['critical'], 2)}",
        false_alarm=FALSE_ALARM,
        note="Found and fixed by others: issue 11 of the library's repository. The audit rejects "
        "the old release and not the new one.",
    )


def _judge_subset(result: Result) -> Evidence:
    facts = result.facts
    later, other = facts["hits"]["multi-freq-ss-later"], facts["hits"]["multi-freq-ss-other"]
    good = (
        later == 0
        and all(
            facts["p_source"][f"multi-freq-ss-{id}"] > facts["critical"]
            for id in ("first", "later", "other")
        )
        and facts["rejected"]["multi-freq-ss-order"] is not None
        and facts["rejected"]["multi-freq-ss"] is None
        and math.isinf(facts["subset_array"])
        and math.isclose(facts["subset_set"], math.log(3))
    )
    return _outdated(result) or Evidence(
        WITHIN_ERROR if good else DIFFERS,
        f"the own value at a later place in {later} of {facts['trials']['multi-freq-ss-later']:,} "
        f"arrays, another value in {other:,}; the array rejected after "
        f"{facts['rejected']['multi-freq-ss-order']} pairs, the set not",
        "0 and 2/9 in the law of the source; exact ε infinite for the array, as claimed for the "
        "set (6 values, 3 of them sent)",
        tolerance=f"exact binomial p > {num(facts['critical'], 2)}",
        false_alarm=FALSE_ALARM,
        note="Sorting or shuffling the array before it leaves the device removes this; the "
        "library's aggregators use the set only.",
    )


def _judge_hadamard(result: Result) -> Evidence:
    facts = result.facts
    stop = facts["rejected"]["pure-ldp-hm-type"]
    good = (
        stop is not None
        and facts["rejected"]["pure-ldp-hm-1"] is None
        and facts["p_source"]["pure-ldp-hm-list"] > facts["critical"]
        and facts["hits"]["pure-ldp-hm-mixed"] == 0
    )
    return _outdated(result) or Evidence(
        WITHIN_ERROR if good else DIFFERS,
        f"a list in {num(facts['share']['pure-ldp-hm-list'])} of reports, "
        f"{facts['hits']['pure-ldp-hm-mixed']} of {facts['trials']['pure-ldp-hm-mixed']:,} against "
        f"the rule; rejected after {stop} pairs with the type, not without it",
        f"e^ε/(e^ε + 1) = {num(facts['claimed']['pure-ldp-hm-list'])}: a list exactly when true",
        tolerance=f"exact binomial p > {num(facts['critical'], 2)}",
        false_alarm=FALSE_ALARM,
        note="Of the Python object only; a report that is written out as pairs has no type left.",
    )


def _judge_differing(result: Result) -> Evidence:
    facts = result.facts
    exact = facts["equal"] == facts["cases"]
    seen = None not in facts["both"] and set(facts["one"]) == {None} and len(facts["both"]) == 3
    return _outdated(result) or Evidence(
        WITHIN_ERROR if exact and seen else DIFFERS,
        f"equal in {facts['equal']} of {facts['cases']} enumerations; at ε = 1, d = 2 rejected "
        f"after {', '.join(f'{stop:,}' for stop in facts['both'] if stop)} pairs when both "
        "attributes differ, not when one does",
        f"e^ε' = 1 + m (e^ε − 1) for m attributes that differ; ε' = "
        f"{num(facts['epsilon_both'])} for ε = 1, m = 2",
        tolerance="exact fractions; level 1e-06 a case",
        false_alarm=facts["false_alarm"],
        note="The docstring calls ε the privacy guarantee. It is one for tuples that differ in one "
        "attribute; local privacy of the whole tuple compares any two.",
    )


def _judge_threshold(result: Result) -> Evidence:
    facts = result.facts
    low, claimed = facts["threshold"]
    id = "opendp-laplace-threshold"
    good = low > claimed and facts["p_claimed"][id] < facts["critical"]
    good = good and facts["p_source"][id] > facts["critical"]
    return _outdated(result) or Evidence(
        WITHIN_ERROR if good else DIFFERS,
        f"{facts['hits'][id]:,} of {facts['trials'][id]:,} keys released, at least {num(low)}",
        f"δ = {num(claimed)} by the map; P(1 + noise ≥ 5) = {num(math.exp(-4) / (1 + 1 / math.e))}",
        tolerance=f"exact binomial p < {num(facts['critical'], 2)}",
        false_alarm=FALSE_ALARM,
        note="Without the user the key cannot be released, so the frequency is a lower bound on δ. "
        "Reported by others: issue 2922 of the library's repository.",
    )


def _judge_noisy_max(result: Result) -> Evidence:
    facts = result.facts
    ids = ("opendp-noisy-max-zcdp-0", "opendp-noisy-max-zcdp-1")
    renyi = facts["renyi"]
    good = (
        all(facts["p_source"][id] > facts["critical"] for id in ids)
        and renyi["low"] <= renyi["allowed"]
        and renyi["before"] > renyi["allowed"]
    )
    return _outdated(result) or Evidence(
        WITHIN_ERROR if good else DIFFERS,
        f"the second of [1, −1] wins {facts['hits'][ids[1]]:,} of {facts['trials'][ids[1]]:,} "
        f"times; Rényi divergence of order 2 at least {num(renyi['low'])}",
        f"{num(facts['claimed'][ids[1]])} under the exponential mechanism; at most 2 ρ = "
        f"{num(renyi['allowed'])}",
        tolerance=f"exact binomial p > {num(facts['critical'], 2)}",
        false_alarm=FALSE_ALARM,
        note=f"Permute-and-flip at the same scale would have {num(renyi['before'])}: issue 2911 of "
        "the library's repository, reported for 0.15.1. Not rejected here; only this pair of "
        "scores and this order were looked at.",
    )


def _judge_conversions(result: Result) -> Evidence:
    facts = result.facts
    good = facts["rounded"] and facts["above"] and facts["no_noise"] and facts["doubled"]
    return _outdated(result) or exact_if(
        bool(good),
        f"f stands for more than was asked at ε = {', '.join(f'{e:g}' for e in facts['above'])}; "
        f"f = 0 at ε = {', '.join(f'{e:g}' for e in facts['no_noise'])}; two hash functions double",
        "f = 2/(e^(ε/2) + 1) rounded to two decimals, for one hash function",
        "Of the conversion alone; the client of this release does not use f to clear bits.",
    )


def _judge_gdp(result: Result) -> Evidence:
    facts = result.facts
    name = "epsilon_from_gdp"
    others = [key for key in facts["p_value"] if key != name]
    good = facts["p_value"][name] < facts["critical"]
    good = good and all(facts["p_value"][key] > facts["critical"] for key in others)
    return _outdated(result) or Evidence(
        WITHIN_ERROR if good else DIFFERS,
        f"{name}: {facts['above'][name]} of {facts['sets'][name]} data sets above 0, up to "
        f"{num(facts['largest'][name])}; "
        + ", ".join(f"{key}: {facts['above'][key]}" for key in others),
        "at most 5 % each, since true ε is 0",
        tolerance=f"exact binomial p < {num(facts['critical'], 2)}",
        false_alarm=FALSE_ALARM,
        note="60 scores against 60 of the same normal law, significance 0.05, δ = 1e-5. Reported "
        "by others: issue 270 of the library's repository.",
    )


# Parts of each release that do not run.
_FAILS: Mapping[str, int] = MappingProxyType(
    {"pure-ldp": 11, "multi-freq-ldpy": 3, "opendp": 0, "diffprivlib": 1, "jax-privacy": 0}
)


def _judge_installs(result: Result) -> Evidence:
    facts = result.facts
    found = {name: len(parts) for name, parts in facts["fails"].items()}
    good = found == dict(_FAILS) and len(facts["fails_added"]) == 6
    return _outdated(result) or exact_if(
        good,
        "do not run: "
        + ", ".join(f"{found[name]} of {facts['parts'][name]} ({name})" for name in _FAILS)
        + f"; pure-ldp with scikit-learn and statsmodels added: {len(facts['fails_added'])} of "
        f"{facts['parts_added']} ({', '.join(facts['fails_added'])})",
        "nothing promised",
        f"With the newest versions that each release allowed on {facts['made']}; older ones may "
        "run.",
    )


def _judge_seeds(result: Result) -> Evidence:
    seeds = result.facts["seeds"]
    good = bool(seeds) and not any(row["numpy_seed"] for row in seeds)
    good = good and all(row["numba_seed"] for row in seeds)
    return _outdated(result) or exact_if(
        good,
        f"after numpy.random.seed(1), twice: other reports in {len(seeds)} of {len(seeds)} calls"
        if good
        else "some calls repeat",
        "seeded inside compiled code, twice: the same reports",
        "The clients are compiled by numba, whose generator is another one. No argument sets it.",
    )


def _judge_power(result: Result) -> Evidence:
    facts = result.facts
    good = facts["local"] == 0 and facts["caught"] >= 0.85 * facts["cases"]
    return _outdated(result) or Evidence(
        WITHIN_ERROR if good else DIFFERS,
        f"{facts['caught']} of {facts['cases']} halves rejected, half of them within "
        f"{num(facts['median'], 2)} pairs; not: {', '.join(facts['missed'])}",
        "every local one, and most central ones",
        note="A claim that is loose on the pair audited may be halved unseen.",
    )


def _claim(
    id: str,
    label: str,
    statement: str,
    run: Any,
    judge: Any,
    verdict: str = WITHIN_ERROR,
    kind: str = "statement",
) -> Claim:
    return Claim(
        id="together-released-" + id,
        paper="together",
        label=label,
        kind=kind,
        mark="own",
        statement=statement,
        run=run,
        judge=judge,
        page=PAGE,
        recorded=always(verdict),
    )


CLAIMS = (
    _claim(
        "local",
        "Local protocols of two libraries (own)",
        "Of the local protocols of pure-ldp 1.2.0 and multi-freq-ldpy 0.2.5, the audit rejects the "
        "claim of RAPPOR, of the Hadamard mechanism's and subset selection's reports as returned, "
        "and of RS+FD for tuples that differ in every attribute; and of no other within the pairs "
        "drawn.",
        local,
        _judge_local,
    ),
    _claim(
        "rappor",
        "RAPPOR in pure-ldp (own)",
        "The RAPPOR client of pure-ldp 1.2.0 was never seen to clear a bit that is set, as its "
        "source says; its claim is rejected.",
        counts,
        _judge_rappor,
    ),
    _claim(
        "conversion",
        "RAPPOR's conversion of ε in pure-ldp (own)",
        "The RAPPOR client of pure-ldp 1.2.0 turns ε into f with two decimals: f stands for a "
        "larger ε than asked at some, for no noise at 12, and for twice as much with two hash "
        "functions.",
        conversions,
        _judge_conversions,
        EXACT,
    ),
    _claim(
        "unary",
        "Unary encoding before and after a fix (own)",
        "Unary encoding in pure-ldp 1.1.2 sets the own bit with probability p + (1 − p) q, and its "
        "claim is rejected; in 1.2.0 with probability p, and it is not.",
        counts,
        _judge_unary,
    ),
    _claim(
        "hadamard",
        "The type of a report in pure-ldp (own)",
        "The Hadamard mechanism of pure-ldp 1.2.0 returns a list exactly when its report is true; "
        "with the type the claim is rejected, with the values alone it is not.",
        counts,
        _judge_hadamard,
    ),
    _claim(
        "subset",
        "The order of a report in multi-freq-ldpy (own)",
        "Subset selection in multi-freq-ldpy 0.2.5 puts the own value first whenever it is in the "
        "subset: as an array the report's claim is rejected, as a set it is not.",
        counts,
        _judge_subset,
    ),
    _claim(
        "rsfd",
        "RS+FD and tuples that differ in several attributes (own)",
        "For tuples that differ in m attributes, a report of RS+FD in multi-freq-ldpy 0.2.5 has "
        "e^ε' = 1 + m (e^ε − 1): the claim for one attribute, more for several.",
        differing,
        _judge_differing,
        kind="theorem",
    ),
    _claim(
        "seeds",
        "Seeds in multi-freq-ldpy (own)",
        "Reports of multi-freq-ldpy 0.2.5 do not repeat after numpy.random.seed.",
        installs,
        _judge_seeds,
        EXACT,
    ),
    _claim(
        "central",
        "Mechanisms of opendp and diffprivlib (own)",
        "Of the audited mechanisms of opendp 0.16.0 and diffprivlib 0.6.6, the audit rejects the "
        "claim of histogram when a record is replaced and of LinearRegression with bounds from 0 "
        "to 5; and of no other within the pairs drawn.",
        central,
        _judge_central,
    ),
    _claim(
        "threshold",
        "δ of a thresholded count in opendp (own)",
        "With scale 1 and threshold 5, laplace_threshold of opendp 0.16.0 releases a lone user's "
        "key more often than the δ of its map.",
        counts,
        _judge_threshold,
    ),
    _claim(
        "noisy-max",
        "noisy_max under zCDP in opendp (own)",
        "noisy_max of opendp 0.16.0 chooses as the exponential mechanism does, within its ρ on the "
        "pair that was reported for an earlier release.",
        counts,
        _judge_noisy_max,
    ),
    _claim(
        "low-bits",
        "Lowest bits of noisy numbers (own)",
        "A noisy 1 is told from a noisy 0 by its lowest bits in pure-ldp, multi-freq-ldpy and "
        "diffprivlib; not, within the pairs drawn, in opendp or with Snapping.",
        low_bits,
        _judge_low_bits,
    ),
    _claim(
        "gdp",
        "A lower bound on null data in jax-privacy (own)",
        "On data of two equal laws, epsilon_from_gdp of jax-privacy 2.0.0 is above 0 far more "
        "often than its significance; three other bounds of the module are not.",
        auditors,
        _judge_gdp,
    ),
    _claim(
        "installs",
        "What runs after a plain installation (own)",
        "Installed alone with the newest versions they allow, pure-ldp 1.2.0 and diffprivlib 0.6.6 "
        "could not be imported; local hashing and histogram encoding of multi-freq-ldpy 0.2.5 did "
        "not run.",
        installs,
        _judge_installs,
        EXACT,
    ),
    _claim(
        "power",
        "Half of each claim (own)",
        "On the same pairs the audit rejects half of every local claim that it does not reject "
        "whole, and half of most central ones.",
        power,
        _judge_power,
    ),
)
