"""What nbval does not see: cells that never ran, hidden values, missing texts, stale verdicts."""

import ast
from pathlib import Path

import nbformat
import pytest
import yaml
from outputs import EVIDENCE, FIGURE, TABLE, bundles
from run_notebooks import Project, canonical

from ldpkv.papers.claims import CLAIMS

ROOT = Path(__file__).resolve().parent.parent
PROJECT = Project(ROOT)
NAMES = PROJECT.notebooks()
CODE_LINES = 80


def read(name: Path):
    return nbformat.read(PROJECT.source(name), as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


each_notebook = pytest.mark.parametrize("name", NAMES, ids=str)


def test_there_are_notebooks():
    assert NAMES


@each_notebook
def test_code_is_thin(name):
    cells = code_cells(read(name))
    lines = [line for cell in cells for line in cell.source.splitlines() if line.strip()]
    lines = [line for line in lines if not line.lstrip().startswith("#")]
    assert len(lines) < CODE_LINES, f"{len(lines)} code lines: move some into the library"
    banned = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    for number, cell in enumerate(cells, 1):
        for node in ast.walk(ast.parse(cell.source)):
            assert not isinstance(node, banned), f"code cell {number} defines something"


@each_notebook
def test_one_cell_of_parameters(name):
    tagged = [c for c in read(name).cells if "parameters" in c.metadata.get("tags", [])]
    assert len(tagged) == 1
    assigned = {
        target.id: ast.literal_eval(statement.value)
        for statement in ast.parse(tagged[0].source).body
        for target in statement.targets
    }
    assert assigned["profile"] == "quick", "the stored outputs are those of the quick profile"


@each_notebook
def test_nothing_is_hidden(name):
    for number, cell in enumerate(code_cells(read(name)), 1):
        last = cell.source.rstrip()
        assert not last.endswith(";"), f"code cell {number}: `;` hides a value from nbval"
        assert "np.random.seed" not in cell.source, f"code cell {number}: seeds the global state"
        skipped = {"nbval-skip", "nbval-ignore-output", "raises-exception"}
        assert not skipped & set(cell.metadata.get("tags", [])), f"code cell {number}"


@each_notebook
def test_all_cells_ran_in_order_without_complaint(name):
    cells = code_cells(read(name))
    counts = [cell.execution_count for cell in cells]
    assert counts == list(range(1, len(cells) + 1)), "stored outputs are not one run: make refresh"
    for number, cell in enumerate(cells, 1):
        for output in cell.outputs:
            assert output.output_type != "error", f"code cell {number} failed"
            assert output.get("name") != "stderr", f"code cell {number}: {output.text}"


@each_notebook
def test_figures_and_tables_have_their_texts(name):
    notebook = read(name)
    for cell in code_cells(notebook):
        pictures = [o for o in cell.outputs if "image/png" in o.get("data", {})]
        assert len(pictures) <= 1, "one figure per cell"
        # The book names a cell's every output after its figure, so nothing else may be shown there.
        shown = [o for o in cell.outputs if o.get("metadata", {}).get("scrapbook") is None]
        assert not pictures or len(shown) == 1, "a figure has its cell for itself"
        for output in pictures:
            assert FIGURE in output.data, "a figure without alternative text: use plots.show_figure"
    for kind, fields in (
        (FIGURE, ("id", "alt", "caption", "csv")),
        (TABLE, ("id", "caption", "csv")),
    ):
        for _, _, content in bundles(notebook, kind):
            for field in fields:
                assert content[field].strip(), f"{content['id']}: {field} is empty"


@each_notebook
def test_ends_in_verdicts(name):
    shown = [(cell, content) for cell, _, content in bundles(read(name), EVIDENCE)]
    assert shown, "no verdict"
    for cell, content in shown:
        assert "claims.show" in cell.source, f"{content['id']} is not shown by claims.show"
        assert content["profile"] == "quick"


@each_notebook
def test_file_is_canonical(name):
    text = PROJECT.source(name).read_text(encoding="utf-8")
    again = nbformat.writes(canonical(nbformat.reads(text, as_version=4))) + "\n"
    assert again == text, "run `make refresh`"


@each_notebook
def test_stored_results_of_absent_data_are_dated(name):
    mine = read(name).metadata.get("ldpkv", {})
    if mine.get("needs_data"):
        assert mine.get("stored_on"), "run `make refresh` where the data are"


def test_every_notebook_is_in_the_book():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = []

    def walk(entry):
        listed.append(entry.get("file", entry.get("root")))
        for key in ("parts", "chapters", "sections"):
            for below in entry.get(key, []):
                walk(below)

    walk(toc)
    for name in NAMES:
        assert f"notebooks/{name.with_suffix('').as_posix()}" in listed
    for page in listed:
        if page and page.startswith("notebooks/"):
            assert Path(page.removeprefix("notebooks/") + ".ipynb") in NAMES


def test_names_of_figures_and_tables_are_unique():
    ids = [
        content["id"]
        for name in NAMES
        for kind in (FIGURE, TABLE)
        for _, _, content in bundles(read(name), kind)
    ]
    assert sorted(ids) == sorted(set(ids))


def test_stored_verdicts_are_the_recorded_ones():
    shown = {}
    for name in NAMES:
        for _, _, content in bundles(read(name), EVIDENCE):
            assert content["id"] not in shown, f"{content['id']} is shown twice"
            shown[content["id"]] = (content, name)
    assert sorted(shown) == sorted(claim.id for claim in CLAIMS)
    for claim in CLAIMS:
        content, name = shown[claim.id]
        recorded = claim.recorded[content["profile"], content["source"]]
        assert content["verdict"] == recorded, claim.id
        stored = content.get("paper_profile")
        assert stored is None or stored["verdict"] == stored["recorded"], claim.id
        assert claim.page == f"notebooks/{name.as_posix()}", f"{claim.id}: page"
