"""What the library writes into a cell's output, and how the tools find it there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

EVIDENCE = "application/vnd.ldpkv.evidence+json"
FIGURE = "application/vnd.ldpkv.figure+json"
TABLE = "application/vnd.ldpkv.table+json"

# The verdicts, best first, with the shape that stands for each. Never colour alone.
SHAPES = {
    "exact": "●",
    "within error": "○",
    "shape only": "◐",
    "differs": "◆",
    "not checkable": "–",
}
PAPERS = {
    "foundations": "Foundations",
    "pckv": "PCKV",
    "hiskv": "HISKV",
    "audit": "Auditing",
    "together": "Together",
}


def bundles(notebook: Any, kind: str) -> Iterator[tuple[Any, Any, dict]]:
    """Yield (cell, output, content) for each output that carries this kind of bundle."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            content = output.get("data", {}).get(kind)
            if content is not None:
                yield cell, output, content


def page_of(name: Path) -> str:
    """Return the address of a notebook's page inside the book."""
    return (Path("notebooks") / name).with_suffix(".html").as_posix()


def badge(verdict: str) -> str:
    """Return the HTML of a verdict: word, shape and colour."""
    style = verdict.replace(" ", "-")
    return f'<span class="badge badge-{style}">{SHAPES[verdict]} {verdict}</span>'
