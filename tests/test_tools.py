"""The tools behind `make`, tried on tiny notebooks."""

import base64
import json
import os
import signal
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import bootstrap
import check_html
import claims
import nbformat
import psutil
import pytest
import run_notebooks
import stage
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from outputs import EVIDENCE, FIGURE, TABLE
from run_notebooks import Project

TOOLS = Path(__file__).resolve().parent.parent / "tools"
PARAMETERS = 'profile = "quick"'


def tiny_png(width: int = 8) -> str:
    """A grey picture, one pixel high."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0" + b"\x80" * width)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return base64.b64encode(png).decode()


def write_notebook(path: Path, *code: str, title: str = "Tiny", **mine) -> None:
    cells = [
        new_markdown_cell(f"# {title}\n", id="title"),
        new_code_cell(PARAMETERS, id="parameters", metadata={"tags": ["parameters"]}),
    ]
    cells += [new_code_cell(source, id=f"code-{n}") for n, source in enumerate(code)]
    notebook = run_notebooks.canonical(new_notebook(cells=cells))
    if mine:
        notebook.metadata["ldpkv"] = mine
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


@pytest.fixture
def project(tmp_path) -> Project:
    (tmp_path / "ldpkv").mkdir()
    (tmp_path / "ldpkv" / "core.py").write_text("a = 1\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "registry.toml").write_text("")
    (tmp_path / "requirements.lock").write_text("")
    return Project(tmp_path)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but was not yet collected does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def run(project: Project, profile: str = "quick", timeout: float = 60) -> int:
    return run_notebooks.run(project, project.notebooks(), profile, 2, timeout)


# --- running ---------------------------------------------------------------------------------


def test_only_what_changed_runs_again(project, capsys):
    one, two = project.root / "notebooks/a/01-one.ipynb", project.root / "notebooks/a/02-two.ipynb"
    write_notebook(one, "print(profile)")
    write_notebook(two, "print(2)")
    assert run(project) == 0
    assert "2 run, 0 up to date" in capsys.readouterr().out

    assert run(project) == 0
    assert "0 run, 2 up to date" in capsys.readouterr().out

    write_notebook(two, "print(3)")
    assert run(project) == 0
    said = capsys.readouterr().out
    assert "1 run, 1 up to date" in said
    assert "a/02-two done" in said

    (project.root / "ldpkv" / "core.py").write_text("a = 2\n")
    assert run(project) == 0
    assert "2 run, 0 up to date" in capsys.readouterr().out

    assert run(project, "paper") == 0
    executed = nbformat.read(project.executed("paper", Path("a/01-one.ipynb")), as_version=4)
    assert executed.metadata.ldpkv.profile == "paper"
    assert executed.cells[-1].outputs[0].text == "paper\n"


def test_outputs_and_dates_do_not_count_but_sources_and_data_do(project):
    notebook = new_notebook(cells=[new_code_cell("1", id="a")])
    key = run_notebooks.notebook_key(notebook, "lib", "quick", [])
    notebook.cells[0].outputs = [new_output("stream", text="x")]
    assert run_notebooks.notebook_key(notebook, "lib", "quick", []) == key
    assert run_notebooks.notebook_key(notebook, "lib", "paper", []) != key
    assert run_notebooks.notebook_key(notebook, "other", "quick", []) != key
    assert run_notebooks.notebook_key(notebook, "lib", "quick", ["clothing"]) != key
    notebook.cells[0].source = "2"
    assert run_notebooks.notebook_key(notebook, "lib", "quick", []) != key


def test_misspelt_parameter_is_refused(project):
    path = project.root / "notebooks/a/01-one.ipynb"
    write_notebook(path)
    run_notebooks.check_parameters(path, {"profile": "quick"})
    with pytest.raises(run_notebooks.NotebookError, match="no parameter 'profil'; it has: profile"):
        run_notebooks.check_parameters(path, {"profil": "quick"})


def test_notebook_without_parameters_is_refused(project, capsys):
    path = project.root / "notebooks/a/01-one.ipynb"
    write_notebook(path)
    notebook = nbformat.read(path, as_version=4)
    del notebook.cells[1].metadata["tags"]
    nbformat.write(notebook, path)
    assert run(project) == 1
    assert "no parameter 'profile'" in capsys.readouterr().out


def test_failure_is_shown_and_leaves_a_partial(project, capsys):
    write_notebook(project.root / "notebooks/a/01-bad.ipynb", "x = 1", "x / 0", "print('never')")
    write_notebook(project.root / "notebooks/a/02-good.ipynb", "print(1)")
    assert run(project) == 1
    said = capsys.readouterr().out
    assert "a/01-bad FAILED" in said and "a/02-good done" in said
    assert "ZeroDivisionError" in said and "x / 0" in said
    assert "code cell 3 of 4 failed:" in said
    executed = project.executed("quick", Path("a/01-bad.ipynb"))
    assert not executed.exists()
    partial = executed.with_suffix(".partial.ipynb")
    assert str(partial) in said and partial.exists()
    assert project.executed("quick", Path("a/02-good.ipynb")).exists()


def test_failure_removes_nothing_that_is_fresh_and_hides_nothing_stale(project, capsys):
    path = project.root / "notebooks/a/01-one.ipynb"
    write_notebook(path, "print(1)")
    assert run(project) == 0
    write_notebook(path, "print(1 / 0)")
    assert run(project) == 1
    # The old copy's key does not match, so the next run tries again.
    assert run(project) == 1
    assert "1 run" in capsys.readouterr().out


def test_cells_are_counted_as_in_the_source(project):
    path = project.root / "notebooks/a/01-one.ipynb"
    write_notebook(path, "1", "2")
    # Papermill's numbers: title, parameters, injected, 1, 2.
    cells = run_notebooks.executed_cells(path, injects=True)
    named = [run_notebooks.code_cell(cells, number) for number in range(1, 6)]
    assert named == [f"code cell {n} of 3" for n in (1, 1, 1, 2, 3)]
    cells = run_notebooks.executed_cells(path, injects=False)
    assert run_notebooks.code_cell(cells, 4) == "code cell 3 of 3"


def test_hung_notebook_is_killed(project, capsys):
    # Deaf to interrupts, as compiled code is.
    code = "import os, signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    code += "open('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)"
    write_notebook(project.root / "notebooks/a/01-hung.ipynb", code)
    start = time.monotonic()
    assert run(project, timeout=6) == 1
    assert time.monotonic() - start < 20
    assert "still running after 6 s, in code cell 2 of 2: killed" in capsys.readouterr().out
    assert not alive(int((project.root / "notebooks/a/pid").read_text()))


def test_interrupted_run_goes_on_where_it_was(project):
    write_notebook(project.root / "notebooks/a/01-fast.ipynb", "print(1)")
    wait = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\n"
    wait += "while not os.path.exists('go'):\n    time.sleep(0.05)"
    write_notebook(project.root / "notebooks/a/02-slow.ipynb", wait)
    command = [sys.executable, str(TOOLS / "run_notebooks.py"), "run", "--root", str(project.root)]
    command += ["--jobs", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pid = project.root / "notebooks/a/pid"
    fast = project.executed("quick", Path("a/01-fast.ipynb"))
    deadline = time.monotonic() + 60
    while not (fast.exists() and pid.exists() and pid.read_text()):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 130, said
    assert "goes on from here" in said
    assert not alive(int(pid.read_text()))

    (project.root / "notebooks/a/go").touch()
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    assert "1 run, 1 up to date" in done.stdout


def test_without_its_data_a_notebook_shows_what_is_stored(project, capsys, monkeypatch):
    monkeypatch.setattr(run_notebooks, "missing_data", list)
    path = project.root / "notebooks/a/01-one.ipynb"
    write_notebook(path, "1 / 0", needs_data=["clothing"], stored_on="2026-11-29")
    assert run(project) == 0
    said = capsys.readouterr().out
    assert "data not here (clothing); showing results stored on 2026-11-29" in said
    executed = nbformat.read(project.executed("quick", Path("a/01-one.ipynb")), as_version=4)
    assert executed.metadata.ldpkv.stored is True
    page = stage.stage_notebook(executed, Path("a/01-one.ipynb"), project.root)
    assert "These results are stored, from 2026-11-29" in page.cells[0].source

    # Once the files are here it is run.
    monkeypatch.setattr(run_notebooks, "missing_data", lambda names: [])
    assert run(project) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_refresh_writes_the_same_bytes_twice(project, capsys):
    path = project.root / "notebooks/a/01-one.ipynb"
    code = "import sys\nprint(1)\nsys.stdout.flush()\nprint(2)\n3"
    write_notebook(path, code, needs_data=["clothing"])
    names = project.notebooks()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_notebooks, "missing_data", lambda names: [])
        assert run_notebooks.refresh(project, names, 1, 60) == 0
        first = path.read_bytes()
        assert run_notebooks.refresh(project, names, 1, 60) == 0
    assert path.read_bytes() == first
    assert "unchanged" in capsys.readouterr().out
    notebook = nbformat.reads(first.decode(), as_version=4)
    assert [cell.get("execution_count") for cell in notebook.cells] == [None, 1, 2]
    assert notebook.cells[2].outputs[0].text == "1\n2\n"
    assert set(notebook.metadata) == {"kernelspec", "language_info", "ldpkv"}
    assert set(notebook.metadata.ldpkv) == {"needs_data", "stored_on"}
    assert notebook.cells[1].metadata == {"tags": ["parameters"]}


def test_one_notebook_can_be_named_after_the_options(project, capsys):
    for name in ("01-one", "02-two"):
        write_notebook(project.root / f"notebooks/a/{name}.ipynb", "print(1)")
    one = str(project.root / "notebooks/a/02-two.ipynb")
    assert run_notebooks.main(["run", "--root", str(project.root), "--jobs", "1", one]) == 0
    said = capsys.readouterr().out
    assert "a/02-two done" in said and "01-one" not in said


def test_unknown_notebook_is_named(project):
    write_notebook(project.root / "notebooks/a/01-one.ipynb")
    with pytest.raises(SystemExit, match="no such notebook: notebooks/a/9"):
        run_notebooks.chosen(project, ["notebooks/a/9.ipynb"])


# --- the set-up and make ---------------------------------------------------------------------


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "PYTHON")}
    command = ["make", "-C", str(TOOLS.parent), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=clean)


def test_installer_is_fetched_before_the_packages(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bootstrap.os, "chdir", lambda folder: None)
    monkeypatch.setattr(bootstrap, "check_python", lambda: None)
    monkeypatch.setattr(bootstrap, "wanted_key", lambda: "key")
    monkeypatch.setattr(bootstrap, "KEY", str(tmp_path / "key.txt"))
    monkeypatch.setattr(bootstrap, "find_uv", lambda: bootstrap.say("putting the installer"))
    monkeypatch.setattr(bootstrap, "install", lambda uv: None)
    bootstrap.main()
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in said] == ["putting", "installing", "ready"]
    assert (tmp_path / "key.txt").read_text() == "key"


def test_a_python_that_cannot_start_is_named(tmp_path):
    """As a version manager's shim does: found on the path, a note of its own, status 127."""
    shim = tmp_path / "python3.10"
    shim.write_text("#!/bin/sh\necho 'pyenv: python3.10: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    for python in (str(shim), "no-such-python"):
        for goal in ("setup", "book"):
            done = make(goal, f"PYTHON={python}")
            assert done.returncode != 0
            said = done.stdout + done.stderr
            assert f"ldpkv needs Python 3.11 to 3.13, and '{python}' cannot be run" in said
            assert "PYTHON=python3.12 make book" in said
            assert "pyenv" not in said and "Error 127" not in said


def test_help_says_that_claims_runs_notebooks():
    done = make("help")
    [line] = [line for line in done.stdout.splitlines() if line.startswith("claims ")]
    assert "run the notebooks that are not up to date" in line


# --- staging ---------------------------------------------------------------------------------


def evidence(id: str = "demo-1", **changes) -> dict:
    record = {
        "id": id,
        "paper": "pckv",
        "label": "Theorem 1",
        "kind": "theorem",
        "statement": "Budgets *add* <up>.",
        "verdict": "exact",
        "recorded": "exact",
        "measured": "1.00",
        "expected": "1",
        "false_alarm": 0.0,
    }
    return record | changes


def shown(kind: str, content: dict, **data):
    return [new_output("display_data", data={kind: content, "text/plain": "x", **data})]


def executed_notebook(*contents: dict):
    figure = {"id": "sq", "alt": "It grows.", "caption": "Growth.\nMore.", "csv": "x,y\n1,2\n"}
    table = {"id": "tab", "caption": "Numbers.", "csv": "a\n1\n"}
    cells = [
        new_markdown_cell("# Tiny\n\nText.", id="title"),
        new_code_cell('profile = "paper"', metadata={"tags": ["injected-parameters"]}),
        new_code_cell("figure", outputs=shown(FIGURE, figure, **{"image/png": tiny_png(3000)})),
        new_code_cell("table", outputs=shown(TABLE, table, **{"text/html": "<table></table>"})),
    ]
    for content in contents or (evidence(),):
        output = shown(EVIDENCE, content, **{"text/html": "<p>card</p>"})
        cells.append(new_code_cell("claims.show()", outputs=output))
    notebook = run_notebooks.canonical(new_notebook(cells=cells))
    notebook.metadata["ldpkv"] = {"key": "k", "profile": "quick", "seconds": 3.0}
    return notebook


def test_staging_a_notebook(tmp_path):
    page = stage.stage_notebook(executed_notebook(), Path("pckv/01-x.ipynb"), tmp_path)
    title, injected, figure, table, note, card = page.cells
    assert title.source.startswith("# Tiny\n")
    assert "<b>quick</b> profile, ran in 3 s" in title.source
    assert "papermill notebooks/pckv/01-x.ipynb" in title.source
    assert '<a href="#claim-demo-1">Theorem 1</a>' in title.source
    assert title.source.endswith("Text.\n")
    assert "remove-cell" in injected.metadata.tags
    settings = figure.metadata.mystnb
    assert settings.image.alt == "It grows."
    assert settings.image.width == "900px"  # 3000 pixels are 1500 at double resolution
    assert settings.figure.name == "fig-sq"
    assert settings.figure.caption.startswith("Growth. More. ")
    assert "<../../results/sq.csv>" in settings.figure.caption
    assert list(figure.outputs[0].data) == ["image/png"]
    assert (tmp_path / "sq.csv").read_text() == "x,y\n1,2\n"
    assert 'id="tab-tab"' in table.outputs[0].data["text/html"]
    assert "Numbers. {download}`Data (CSV) <../../results/tab.csv>`" in note.source
    assert 'id="claim-demo-1"' in card.outputs[0].data["text/html"]


def test_notebook_without_title_is_refused(tmp_path):
    notebook = executed_notebook()
    notebook.cells[0].source = "Text."
    with pytest.raises(SystemExit, match="has to open with a markdown cell"):
        stage.stage_notebook(notebook, Path("pckv/01-x.ipynb"), tmp_path)


def test_placeholders():
    records = [evidence(), evidence("demo-2", verdict="differs")]
    text = "{{PROFILE}} {{COUNT:pckv}} {{COUNT:hiskv}}"
    filled = stage.fill_placeholders(text, records, "quick", "")
    assert filled.startswith("quick 2 claims: 1 ")
    assert filled.endswith("no claims yet")
    for bad in ("{{COUNT:nobody}}", "{{VERDICTS}}"):
        with pytest.raises(SystemExit, match="unknown placeholder"):
            stage.fill_placeholders(bad, records, "quick", "")


def test_verdict_figure_tells_its_counts(tmp_path):
    records = [evidence(), evidence("demo-2", verdict="differs")]
    alt = stage.draw_counts(records, tmp_path / "a.png")
    assert alt == "Verdicts per paper. PCKV, 2 claims: 1 exact, 1 differs."
    stage.draw_counts(records, tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


# --- verdicts --------------------------------------------------------------------------------


def write_executed(project: Project, *contents: dict) -> None:
    name = Path("pckv/01-x.ipynb")
    write_notebook(project.source(name))
    run_notebooks.write_atomically(executed_notebook(*contents), project.executed("quick", name))


def test_a_link_shows_the_paper_profile_too():
    record = evidence() | {"page": "notebooks/pckv/01-x.html"}
    assert "paper profile" not in stage.claim_link(record)
    link = stage.claim_link(record | {"paper_profile": {"verdict": "within error"}})
    assert "(paper profile: " in link and stage.badge("within error") in link
    same = stage.claim_link(record | {"paper_profile": {"verdict": "exact"}})
    assert same == stage.claim_link(record)


def test_claims_are_collected(project):
    write_executed(project, evidence(), evidence("demo-2", verdict="differs", recorded="differs"))
    assert claims.write(project, "quick", ["demo-1", "demo-2"]) == 0
    records = json.loads((project.root / "_build/claims.json").read_text())
    assert [record["id"] for record in records] == ["demo-1", "demo-2"]
    assert records[0]["page"] == "notebooks/pckv/01-x.html"
    fields = "id paper label kind statement verdict recorded measured expected false_alarm"
    assert list(records[0]) == [*fields.split(), "page", "seconds", "mark", "paper_profile"]


@pytest.mark.parametrize(
    ("contents", "known", "complaint"),
    [
        ([evidence(verdict="differs")], ["demo-1"], "verdict 'differs', recorded 'exact'"),
        ([evidence(recorded="none")], ["demo-1"], "none recorded"),
        ([evidence()], ["demo-1", "demo-2"], "demo-2: in no notebook"),
        ([evidence(), evidence()], ["demo-1"], "demo-1: shown 2 times"),
        ([evidence()], [], "demo-1: not in CLAIMS"),
        ([evidence(verdict="fine", recorded="fine")], ["demo-1"], "'fine' is not a verdict"),
        (
            [evidence(paper_profile={"verdict": "differs", "recorded": "exact"})],
            ["demo-1"],
            "paper profile 'differs', recorded 'exact'",
        ),
    ],
)
def test_wrong_claims_fail(project, capsys, contents, known, complaint):
    write_executed(project, *contents)
    assert claims.write(project, "quick", known) == 1
    assert complaint in capsys.readouterr().out


# --- checking pages --------------------------------------------------------------------------

GOOD = """<html><head><link rel="stylesheet" href="a.css"></head><body><p id="here">Text with
<span class="math">\\(\\frac{a}{b}\\)</span>, <code>{{ x }}</code>.</p>
<img src="a.png" alt="The curve falls."><a href="b.html#there">b</a> <a href="#here">up</a>
<a href="b.html#paper=pckv">rows</a> <a href="https://example.org">elsewhere</a></body></html>"""
FAULTS = {
    '<img src="a.png">': "image without alternative text",
    '<img src="a.png" alt=" ">': "image without alternative text",
    '<img src="a.png" alt="../_images/a.png">': "alternative text is a file name",
    "<p>It is $$x$$.</p>": "$$ left in the text",
    "<p>The ratio \\frac{a}{b}.</p>": "LaTeX left in the text",
    "<p>See {prf:ref}`x`.</p>": "a MyST role left in the text",
    "<p>{{COUNT}}</p>": "{{ left in the text",
    '<script src="https://example.org/x.js"></script>': "<script> from elsewhere",
    '<script src="//example.org/x.js"></script>': "<script> from elsewhere",
    '<link rel="stylesheet" href="https://example.org/x.css">': "<link> from elsewhere",
    '<iframe src="https://example.org/"></iframe>': "<iframe> from elsewhere",
    '<a href="gone.html">x</a>': "dead link: gone.html",
    '<a href="b.html#gone">x</a>': "dead anchor: b.html#gone",
    '<a href="#gone">x</a>': "dead anchor: #gone",
    '<p id="here"></p>': "id used 2 times: here",
}


@pytest.fixture
def site(tmp_path) -> Path:
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "b.html").write_text('<html><body><p id="there">b</p></body></html>')
    (tmp_path / "a.css").write_text("p { color: red }")
    (tmp_path / "a.png").write_bytes(b"")
    return tmp_path


def test_good_page_passes(site):
    assert check_html.check(site) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_found(site, fault):
    (site / "index.html").write_text(GOOD.replace("</body>", fault + "</body>"))
    found = check_html.check(site)
    assert len(found) == 1, found
    assert FAULTS[fault] in found[0]


def test_fonts_from_elsewhere_are_found(site):
    (site / "a.css").write_text("@font-face { src: url('https://example.org/f.woff2') }")
    assert check_html.check(site) == ["a.css: style from elsewhere: https://example.org/f.woff2"]
