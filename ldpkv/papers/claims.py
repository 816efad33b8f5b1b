"""Every claim of the papers, and the verdicts on them.

``python -m ldpkv.papers.claims pckv-thm-2`` recomputes one claim.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
import time
from typing import Any

from ldpkv.papers import foundations
from ldpkv.papers.audit import (
    curves,
    ground_truth,
    one_run,
    prior_work,
    sequential,
    what_holds,
)
from ldpkv.papers.evidence import (
    DIFFERS,
    PROFILES,
    SHAPES,
    Claim,
    Evidence,
    Result,
)
from ldpkv.papers.hiskv import experiments, fair, mechanism, repaired, truncation, utility
from ldpkv.papers.hiskv import privacy as hiskv_privacy
from ldpkv.papers.pckv import (
    allocation,
    baselines,
    choice,
    estimators,
    large_data,
    padding,
    privacy,
    real_data,
    sampling,
    synthetic,
)
from ldpkv.papers.together import defects, exact, local, released

CLAIMS: tuple[Claim, ...] = (
    *sampling.CLAIMS,
    *privacy.CLAIMS,
    *estimators.CLAIMS,
    *allocation.CLAIMS,
    *choice.CLAIMS,
    *baselines.CLAIMS,
    *real_data.CLAIMS,
    *synthetic.CLAIMS,
    *large_data.CLAIMS,
    *padding.CLAIMS,
    *foundations.CLAIMS,
    *mechanism.CLAIMS,
    *hiskv_privacy.CLAIMS,
    *utility.CLAIMS,
    *truncation.CLAIMS,
    *experiments.CLAIMS,
    *fair.CLAIMS,
    *repaired.CLAIMS,
    *curves.CLAIMS,
    *sequential.CLAIMS,
    *ground_truth.CLAIMS,
    *prior_work.CLAIMS,
    *one_run.CLAIMS,
    *what_holds.CLAIMS,
    *exact.CLAIMS,
    *local.CLAIMS,
    *defects.CLAIMS,
    *released.CLAIMS,
)

# A power in a claim's plain text: e^x or e^(x+y).
POWER = re.compile(r"\^(?:\(([^()]*)\)|(-?[\w₀-₉]+))")

MARKS = {
    "text": "stated in the surviving text",
    "found": "read in a public source",
    "derived": "derived here",
    "recalled": "recalled, not verified",
    "own": "our own check",
}


def find(id: str) -> Claim:
    """Find a claim by its id, or by a claim number such as "pckv-4" in its label.

    Parameters
    ----------
    id : str
        Id or number.

    Returns
    -------
    Claim
        The only one that answers to it.

    Raises
    ------
    KeyError
        If there is none; the text names the nearest ids, at most ten.
    """
    import difflib

    for claim in CLAIMS:
        if claim.id == id:
            return claim
    for claim in CLAIMS:
        if id in re.findall(r"[a-z]+-\d+", claim.label):
            return claim
    near = difflib.get_close_matches(id.lower(), [claim.id for claim in CLAIMS], n=10, cutoff=0.5)
    raise KeyError(
        f"no claim {id!r}; {'nearest: ' + ', '.join(near) if near else 'no id is like it'}. "
        "Numbers such as pckv-20 work too; book/index-of-results.md lists all claims."
    )


def judge(id: str, result: Result, paper: Result | None = None) -> dict[str, Any]:
    """Judge one result.

    Parameters
    ----------
    id : str
        The claim's id.
    result : Result
        What its run gave, or what a notebook computed for several claims at once.
    paper : Result, optional
        The paper profile of the same, from stored runs; judged beside a quick result.

    Returns
    -------
    dict
        The claim and its evidence, in words and numbers, ready for JSON.
    """
    claim = find(id)
    evidence = claim.judge(result)
    about = {
        "id": claim.id,
        "paper": claim.paper,
        "label": claim.label,
        "kind": claim.kind,
        "mark": claim.mark,
        "statement": claim.statement,
        "verdict": evidence.verdict,
        "recorded": claim.recorded.get((result.profile, result.source), "none"),
        "measured": evidence.measured,
        "expected": evidence.expected,
        "tolerance": evidence.tolerance,
        "false_alarm": evidence.false_alarm,
        "note": evidence.note,
        "profile": result.profile,
        "source": result.source,
    }
    if paper is not None and result.profile == "quick":
        stored = judge(id, paper)
        kept = ("verdict", "recorded", "measured", "note")
        shown = {key: stored[key] for key in kept}
        about["paper_profile"] = {**shown, "setting": paper.setting}
    return about


def show(id: str, result: Result, paper: Result | None = None) -> None:
    """Judge a result and display the claim's card, with the evidence in the output.

    Parameters
    ----------
    id : str
        The claim's id.
    result : Result
        What was computed.
    paper : Result, optional
        As in `judge`.
    """
    from IPython.display import display

    about = judge(id, result, paper)
    display(
        {
            "text/html": card(about),
            "text/plain": summary(about),
            "application/vnd.ldpkv.evidence+json": about,
        },
        raw=True,
    )


def markup(text: str) -> str:
    """Escape a claim's text for HTML, with its powers (``e^x``, ``e^(x+y)``) raised."""
    return POWER.sub(_raise, html.escape(text))


def _raise(power: re.Match[str]) -> str:
    return f"<sup>{power[1] or power[2]}</sup>"


def badge(verdict: str) -> str:
    """Word, shape and colour of a verdict, as HTML."""
    kind = verdict.replace(" ", "-")
    return f'<span class="badge badge-{kind}">{SHAPES[verdict]} {verdict}</span>'


def card(about: dict[str, Any]) -> str:
    """The card that opens a claim's section, as HTML."""
    text = {key: markup(str(value)) for key, value in about.items() if key != "paper_profile"}
    rows = [("Measured", text["measured"]), ("Expected", text["expected"])]
    if "paper_profile" in about:
        paper = about["paper_profile"]
        more = f"{markup(paper['measured'])} <small>({markup(paper['setting'])})</small>"
        rows.append(("Paper profile", f"{badge(paper['verdict'])} {more}"))
    if about["tolerance"]:
        rows.append(("Tolerance", text["tolerance"]))
    if about["false_alarm"]:
        rows.append(("False alarm", f"{about['false_alarm']:g}"))
    later = about.get("paper_profile", about)["note"]
    if about["note"] == later:
        rows += [("Note", text["note"])] if later else []
    else:
        rows += [("Note, quick", text["note"]), ("Note, paper profile", markup(later))]
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    link = (
        f' <a class="errata-link" href="../../book/errata.html#erratum-{about["id"]}">'
        "see the errata</a>"
        if about["verdict"] == DIFFERS
        else ""
    )
    return (
        f'<div class="ldpkv-card" id="claim-{text["id"]}"><p class="ldpkv-card-head">'
        f"<strong>{text['label']}</strong> {badge(about['verdict'])}{link}</p>"
        f"<p>{text['statement']}</p><dl>{listed}</dl>"
        f'<p class="ldpkv-card-mark">Statement: {MARKS[about["mark"]]}.</p></div>'
    )


def summary(about: dict[str, Any]) -> str:
    """The card in plain text."""
    lines = [
        f"{about['label']}: {about['verdict'].upper()}",
        about["statement"],
        f"  measured  {about['measured']}",
        f"  expected  {about['expected']}",
    ]
    if "paper_profile" in about:
        paper = about["paper_profile"]
        lines.append(f"  paper profile  {paper['verdict'].upper()}: {paper['measured']}")
    lines += [f"  {k}  {about[k]}" for k in ("tolerance", "note") if about[k]]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Recompute one claim and print it; the exit status is 1 if the verdict is not the recorded."""
    parser = argparse.ArgumentParser(prog="python -m ldpkv.papers.claims", description=main.__doc__)
    parser.add_argument("id", help="a claim's id or number, such as pckv-thm-2 or pckv-4")
    parser.add_argument("--profile", choices=PROFILES, default="quick")
    options = parser.parse_args(arguments)
    try:
        claim = find(options.id)
    except KeyError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    start = time.perf_counter()
    about = judge(claim.id, claim.run(options.profile))
    print(summary(about))
    print(f"  recorded  {about['recorded']}")
    print(f"  page      {claim.page}")
    print(f"  took      {time.perf_counter() - start:.1f} s, {options.profile} profile")
    return 0 if about["verdict"] == about["recorded"] else 1


__all__ = [
    "CLAIMS",
    "Claim",
    "Evidence",
    "Result",
    "badge",
    "card",
    "find",
    "judge",
    "main",
    "show",
]

if __name__ == "__main__":
    raise SystemExit(main())
