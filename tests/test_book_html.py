"""A small book, built with the project's own settings, down to the pages a reader gets."""

import json
import re
import shutil
from pathlib import Path

import build_book
import check_html
import nbformat
import pytest
import run_notebooks
import test_tools
from run_notebooks import Project
from test_tools import evidence, executed_notebook

ROOT = Path(__file__).resolve().parent.parent
NAME = Path("pckv/01-x.ipynb")
TOC = """
format: jb-book
root: book/intro
chapters:
  - file: book/claims-table
  - file: notebooks/pckv/01-x
"""
INTRO = """# Small

It is $\\frac{a}{b}$, as {cite}`gu2020pckv` say. {{COUNT:pckv}}

$$ a = b $$ (eq-a)

:::{prf:theorem}
:label: thm-a
See {eq}`eq-a` and {numref}`fig-sq`.
:::

{{VERDICT_FIGURE}}

{{VERDICT_COUNTS}}

```{bibliography}
:filter: docname in docnames
```
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    """A checkout with one page and one executed notebook."""
    root = tmp_path_factory.mktemp("book")
    shutil.copy(ROOT / "_config.yml", root)
    shutil.copytree(ROOT / "book" / "static", root / "book" / "static")
    shutil.copy(ROOT / "book" / "references.bib", root / "book")
    (root / "_toc.yml").write_text(TOC)
    (root / "book" / "intro.md").write_text(INTRO)
    project = Project(root)
    records = [
        evidence(page="notebooks/pckv/01-x.html"),
        evidence("demo-2", page="notebooks/pckv/01-x.html", verdict="differs", recorded="differs"),
    ]
    test_tools.write_notebook(project.source(NAME))
    run_notebooks.write_atomically(executed_notebook(*records), project.executed("quick", NAME))
    (root / "_build" / "claims.json").write_text(json.dumps(records))
    return project


@pytest.fixture(scope="module")
def site(project) -> Path:
    assert build_book.build(project, "quick") == 0
    return project.root / "_build" / "html"


def test_pages_have_no_fault(site):
    assert check_html.check(site) == []


def test_figure_has_alternative_text_caption_and_data(site):
    page = (site / "notebooks/pckv/01-x.html").read_text()
    figure = re.search(r"<figure.*?</figure>", page, re.DOTALL)[0]
    assert 'alt="It grows."' in figure
    assert "width: 900px" in figure
    assert "Growth. More." in figure
    link = re.search(r'href="([^"]*sq\.csv)"', figure)[1]
    assert (site / "notebooks/pckv" / link).read_text() == "x,y\n1,2\n"


def test_verdicts_are_shown_and_linked(site):
    table = (site / "book/claims-table.html").read_text()
    assert "../notebooks/pckv/01-x.html#claim-demo-1" in table
    assert "Budgets *add* &lt;up&gt;." in table
    intro = (site / "book/intro.html").read_text()
    assert "claims-table.html#paper=pckv&amp;verdict=differs" in intro
    assert "Verdicts per paper. PCKV, 2 claims: 1 exact, 1 differs." in intro


def test_mathematics_comes_from_the_book(site):
    intro = (site / "book/intro.html").read_text()
    assert '"../_static/mathjax/tex-svg-full.js' in intro
    assert (site / "_static/mathjax/tex-svg-full.js").stat().st_size > 1_000_000
    assert "injected" not in (site / "notebooks/pckv/01-x.html").read_text()


def test_second_build_does_nothing_and_a_change_builds_again(project, site, capsys):
    assert build_book.build(project, "quick") == 0
    assert "up to date" in capsys.readouterr().out
    notebook = nbformat.read(project.executed("quick", NAME), as_version=4)
    notebook.cells[0].source += "\n\nA {ref}`dangling-reference`."
    run_notebooks.write_atomically(notebook, project.executed("quick", NAME))
    # A warning of Sphinx is an error of the build, and no book is left.
    assert build_book.build(project, "quick") == 1
    assert "dangling-reference" in capsys.readouterr().out
