"""Lay out the book's sources in _build/src: pages, executed notebooks, what is computed from them.

    python tools/stage.py --profile quick

Files keep their paths, so that links to the repository and between pages stay right. Figures get
their alternative text, caption and CSV from the output that the library wrote.
"""

import argparse
import html
import json
import re
import shutil
import struct
from base64 import b64decode
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_markdown_cell
from outputs import EVIDENCE, FIGURE, PAPERS, SHAPES, TABLE, badge, bundles
from run_notebooks import Project

from ldpkv.papers.claims import POWER

WIDEST = 900  # pixels on the page; the PNG files have twice as many


# --- notebook pages --------------------------------------------------------------------------


def png_width(data: str) -> int:
    """Return the width in a PNG's header, in pixels."""
    return int(struct.unpack(">I", b64decode("".join(data.split()))[16:20])[0])


def write_csv(results: Path, content: dict) -> None:
    (results / f"{content['id']}.csv").write_text(content["csv"], encoding="utf-8")


def one_line(text: str) -> str:
    return " ".join(text.split())


def plain(text: str) -> str:
    """Return one line of text as Markdown that shows it as it is."""
    escaped = re.sub(r"([\\`*_{}\[\]<>()#+!|~$^&:])", r"\\\1", text)
    return re.sub(r"^(\d+)\. ", r"\1\\. ", escaped)


def markup(text: str) -> str:
    """Return a claim's text as Markdown that shows it as it is, with its powers raised."""
    parts = POWER.split(one_line(text))  # text, power in brackets or None, bare power or None, ...
    raised = [
        f"<sup>{plain(braced or bare)}</sup>"
        for braced, bare in zip(parts[1::3], parts[2::3], strict=True)
    ]
    return "".join(
        plain(part) + power for part, power in zip(parts[::3], [*raised, ""], strict=True)
    )


def csv_link(content: dict, up: str) -> str:
    return f"{{download}}`Data (CSV) <{up}results/{content['id']}.csv>`"


def stage_figures(notebook: Any, results: Path, up: str) -> None:
    for cell, output, figure in list(bundles(notebook, FIGURE)):
        write_csv(results, figure)
        width = min(png_width(output["data"]["image/png"]) // 2, WIDEST)
        caption = f"{one_line(figure['caption'])} {csv_link(figure, up)}"
        # MyST-NB reads alternative text only from the cell, not from the output.
        cell.metadata["mystnb"] = {
            "figure": {"name": f"fig-{figure['id']}", "caption": caption},
            "image": {"alt": one_line(figure["alt"]), "width": f"{width}px"},
        }
        output["data"] = {"image/png": output["data"]["image/png"]}
        output["metadata"] = {}


def stage_tables(notebook: Any, results: Path, up: str) -> None:
    for cell, output, table in list(bundles(notebook, TABLE)):
        write_csv(results, table)
        body = output["data"]["text/html"]
        box = f'<div class="ldpkv-scroll" id="tab-{table["id"]}" tabindex="0">'
        output["data"] = {"text/html": f"{box}{body}</div>"}
        caption = "" if "<caption" in body else one_line(table["caption"]) + " "
        note = new_markdown_cell(
            f":::{{div}} ldpkv-caption\n{caption}{csv_link(table, up)}\n:::",
            id=f"csv-{table['id']}",
        )
        notebook.cells.insert(notebook.cells.index(cell) + 1, note)


def stage_evidence(notebook: Any) -> list[str]:
    """Give each card an anchor; return links to the cards for the page's header."""
    links = []
    for _, output, evidence in bundles(notebook, EVIDENCE):
        anchor = f"claim-{evidence['id']}"
        card = output["data"].get("text/html", f"<p>{html.escape(evidence['statement'])}</p>")
        if f'id="{anchor}"' not in card:
            card = f'<div id="{anchor}">{card}</div>'
        output["data"] = {"text/html": card}
        label = html.escape(evidence["label"])
        links.append(f'<a href="#{anchor}">{label}</a> {badges(evidence)}')
    return links


def header(notebook: Any, name: Path, links: list[str]) -> str:
    """Return the lines under the title: verdicts, how the page was made, how to make it again."""
    mine = notebook.metadata.get("ldpkv", {})
    profile = mine.get("profile", "quick")
    command = f"papermill notebooks/{name.as_posix()} out.ipynb -p profile {profile}"
    lines = []
    if mine.get("stored"):
        date = mine.get("stored_on", "an unknown date")
        absent = ", ".join(mine.get("missing", []))
        lines += [
            ":::{admonition} Stored results",
            ":class: warning",
            f"These results are stored, from {date}; the data files are not on this machine "
            f"({absent}).",
            ":::",
            "",
        ]
        made = f"<b>{profile}</b> profile, stored"
    else:
        made = f"<b>{profile}</b> profile, ran in {mine.get('seconds', 0):.0f} s"
    lines.append('<div class="ldpkv-header">')
    if links:
        lines.append(f"<p>{' · '.join(links)}</p>")
    lines.append(f"<p>{made} · run this yourself: <code>{command}</code></p>")
    lines.append("</div>")
    return "\n".join(lines)


def stage_notebook(notebook: Any, name: Path, results: Path) -> Any:
    """Change an executed notebook into what the book shows."""
    up = "../" * len(name.parts)  # from the page to the root of the book
    stage_figures(notebook, results, up)
    stage_tables(notebook, results, up)
    links = stage_evidence(notebook)
    for cell in notebook.cells:
        # papermill's own copy of the parameters repeats the cell above it.
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.metadata["tags"] = [*cell.metadata["tags"], "remove-cell"]
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("papermill", None)
    # The header follows the title, which has to open the page.
    first = notebook.cells[0]
    title, _, rest = first.source.partition("\n")
    if first.cell_type != "markdown" or not title.startswith("# "):
        raise SystemExit(f"notebooks/{name} has to open with a markdown cell `# Title`")
    first.source = f"{title}\n\n{header(notebook, name, links)}\n\n{rest.lstrip()}".rstrip() + "\n"
    return notebook


# --- pages computed from the verdicts --------------------------------------------------------


def show_value(value: Any) -> str:
    """Return a measured or expected value as a short text."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return "; ".join(f"{key}: {show_value(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(show_value(item) for item in value)
    return one_line(str(value))


def by_paper(records: list[dict]) -> dict[str, list[dict]]:
    grouped = {paper: [r for r in records if r["paper"] == paper] for paper in PAPERS}
    return {paper: rows for paper, rows in grouped.items() if rows}


def is_own(record: dict) -> bool:
    """Whether the statement is the project's own and not a claim of the paper."""
    return record.get("mark") == "own"


def count_text(records: list[dict]) -> str:
    stated = [record for record in records if not is_own(record)]
    own = len(records) - len(stated)
    counts = Counter(record["verdict"] for record in stated)
    parts = [f"{counts[verdict]} {badge(verdict)}" for verdict in SHAPES if counts[verdict]]
    noun = "claim" if len(stated) == 1 else "claims"
    text = f"{len(stated)} {noun}: " + ", ".join(parts) if stated else "no claims yet"
    return text + (f"; and {own} {'check' if own == 1 else 'checks'} of our own" if own else "")


def count_table(records: list[dict], to_table: str) -> str:
    """Return a Markdown table of papers by verdicts, own checks left out; numbers link to rows."""
    used = [v for v in SHAPES if any(record["verdict"] == v for record in records)]
    rows = ["| paper | claims | " + " | ".join(badge(verdict) for verdict in used) + " |"]
    rows.append("|:---|---:|" + "---:|" * len(used))
    for paper, group in by_paper(records).items():
        counts = Counter(record["verdict"] for record in group if not is_own(record))
        cells = []
        for verdict in used:
            where = f"{to_table}#paper={paper}&verdict={verdict.replace(' ', '-')}"
            number = counts[verdict]
            cells.append(f'<a href="{html.escape(where)}">{number}</a>' if number else "0")
        total = f'<a href="{to_table}#paper={paper}">{sum(counts.values())}</a>'
        rows.append(f"| {PAPERS[paper]} | {total} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def claims_page(records: list[dict]) -> str:
    lines = ["# Claims", ""]
    lines += [
        "Each row is a claim of a paper, or a check of our own (marked *own*), judged by the "
        "notebook that its name links to.",
        "",
        count_text(records),
        "",
    ]
    for paper, group in by_paper(records).items():
        lines += [f"(claims-{paper})=", f"## {PAPERS[paper]}", "", count_text(group), ""]
        lines += [":::{div} ldpkv-scroll", "", "::::{list-table}", ":header-rows: 1"]
        lines += [":widths: 20 16 28 18 18", f":class: ldpkv-claims ldpkv-paper-{paper}", ""]
        lines += ["* - Claim", "  - Verdict", "  - Statement", "  - Measured", "  - Expected"]
        for record in group:
            address = f"../{record['page']}#claim-{record['id']}"
            lines += [
                f'* - <a href="{address}">{html.escape(record["label"])}</a>',
                f"  - {badge(record['verdict'])}",
                f"  - {markup(record['statement'])}",
                f"  - {markup(show_value(record['measured']))}",
                f"  - {markup(show_value(record['expected']))}",
            ]
        lines += ["::::", "", ":::", ""]
    return "\n".join(lines)


COLOURS = {
    "exact": "#0072b2",
    "within error": "#a9d3ee",
    "shape only": "#b8c4cf",
    "differs": "#d55e00",
    "not checkable": "#e4e4e4",
}


def draw_counts(records: list[dict], target: Path) -> str:
    """Draw the stacked bars of the landing page; return their alternative text."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    groups = by_paper([record for record in records if not is_own(record)])
    longest = max(len(group) for group in groups.values())
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.55 * len(groups)), layout="constrained")
    texts = []
    for row, group in enumerate(groups.values()):
        counts = Counter(record["verdict"] for record in group)
        left = 0
        for verdict, colour in COLOURS.items():
            number = counts[verdict]
            if not number:
                continue
            axes.barh(row, number, left=left, color=colour, edgecolor="white", linewidth=1.5)
            ink = "white" if verdict in ("exact", "differs") else "#222222"
            # A short segment has room for the number only, or for nothing; the table has them all.
            if number / longest > 0.012:
                label = f"{SHAPES[verdict]} {number}" if number / longest > 0.05 else f"{number}"
                axes.text(left + number / 2, row, label, ha="center", va="center", color=ink)
            left += number
    for paper, group in groups.items():
        counts = Counter(record["verdict"] for record in group)
        parts = [f"{counts[verdict]} {verdict}" for verdict in SHAPES if counts[verdict]]
        texts.append(f"{PAPERS[paper]}, {len(group)} claims: {', '.join(parts)}")
    axes.set_yticks(range(len(groups)), [PAPERS[paper] for paper in groups])
    axes.invert_yaxis()
    axes.set_xlabel("claims checked")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    used = [v for v in COLOURS if any(record["verdict"] == v for record in records)]
    handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[verdict]) for verdict in used]
    labels = [f"{SHAPES[verdict]} {verdict}" for verdict in used]
    figure.legend(handles, labels, loc="outside upper center", ncols=len(used), frameon=False)
    figure.savefig(target, dpi=200, metadata={"Software": None})
    plt.close(figure)
    return "Verdicts per paper. " + ". ".join(texts) + "."


def fill_placeholders(
    text: str, records: list[dict], profile: str, figure: str, page: str = ""
) -> str:
    """Replace {{NAME}} and {{NAME:argument}} in a page; a name that is not known is an error."""
    values = {
        "VERDICT_FIGURE": figure,
        "VERDICT_COUNTS": count_table(records, "claims-table.html"),
        "PROFILE": profile,
    }

    by_id = {record["id"]: record for record in records}
    linked: set[str] = set()

    def value(match: re.Match[str]) -> str:
        name, _, argument = match[1].partition(":")
        if name == "COUNT" and argument in PAPERS:
            return count_text([record for record in records if record["paper"] == argument])
        if name == "CLAIM" and argument in by_id:
            # On the errata page a claim's first link is also what its card points to.
            first = page == "errata" and argument not in linked
            linked.add(argument)
            return claim_link(by_id[argument], "erratum" if first else "")
        if match[1] in values:
            return values[match[1]]
        known = ", ".join([*values, "COUNT:paper", "CLAIM:id"])
        raise SystemExit(f"unknown placeholder {match[0]}; known: {known}")

    return re.sub(r"\{\{([A-Z_]+(?::[a-z0-9-]+)?)\}\}", value, text)


def claim_link(record: dict, anchor: str = "") -> str:
    """Return a link to a claim's card, as it is seen from a page in book/, with its badges."""
    address = f"../{record['page']}#claim-{record['id']}"
    name = f'id="{anchor}-{record["id"]}" ' if anchor else ""
    return f'<a {name}href="{address}">{record["id"]}</a> {badges(record)}'


def badges(record: dict) -> str:
    """Return a claim's badge, and that of its recorded paper profile if that says more."""
    stored = record.get("paper_profile")
    if not stored or stored["verdict"] == record["verdict"]:
        return badge(record["verdict"])
    return f"{badge(record['verdict'])} (paper profile: {badge(stored['verdict'])})"


def verdict_figure(records: list[dict], folder: Path) -> str:
    """Draw the figure into the staged book/ and return the Markdown that shows it."""
    if not records:
        return "No claims yet."
    alt = draw_counts(records, folder / "verdicts.png")
    links = " · ".join(
        f'<a href="claims-table.html#paper={paper}">{PAPERS[paper]}</a>'
        for paper in by_paper(records)
    )
    return "\n".join(
        [
            "```{figure} verdicts.png",
            ":name: fig-verdicts",
            ":width: 800px",
            f":alt: {alt}",
            "",
            f"Claims by verdict. The rows behind each bar: {links}.",
            "```",
        ]
    )


# --- the whole -------------------------------------------------------------------------------


def stage(project: Project, profile: str) -> Path:
    """Write _build/src and _build/results; return the first."""
    root = project.root
    target, results = root / "_build" / "src", root / "_build" / "results"
    for folder in (target, results):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(root / name, target)
    shutil.copytree(root / "book", target / "book")
    for name in project.notebooks():
        executed = project.executed(profile, name)
        if not executed.exists():
            raise SystemExit(f"{executed} is missing: run tools/run_notebooks.py first")
        page = stage_notebook(nbformat.read(executed, as_version=4), name, results)
        destination = target / "notebooks" / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(page, destination)
    shutil.copytree(results, target / "results")
    records = json.loads((root / "_build" / "claims.json").read_text(encoding="utf-8"))
    figure = verdict_figure(records, target / "book")
    for path in sorted((target / "book").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        filled = fill_placeholders(text, records, profile, figure, path.stem)
        path.write_text(filled, encoding="utf-8")
    page = claims_page(records)
    (target / "book" / "claims-table.md").write_text(page, encoding="utf-8")
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description="lay out the book's sources in _build/src")
    parser.add_argument("--profile", choices=["quick", "paper"], default="quick")
    stage(Project(Path(__file__).resolve().parent.parent), parser.parse_args().profile)


if __name__ == "__main__":
    main()
