"""The map in CONTRIBUTING.md is the truth: every module is on it, and imports go one way."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def mapped() -> list[str]:
    """Modules and packages in the order of the map, the lowest first."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listing = text.split("from the bottom up:")[1].split("```")[1]
    return [m[1] for m in re.finditer(r"^(\w+)(?:\.py|/)\s", listing, re.M)]


def imported(path: Path) -> set[str]:
    """Top-level modules of the library that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ldpkv":
            parts = (node.module or "").split(".")
            names |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
    return names


def test_every_module_is_on_the_map() -> None:
    found = {
        path.stem
        for path in (ROOT / "ldpkv").iterdir()
        if not path.stem.startswith("_")
        and (path.suffix == ".py" or (path / "__init__.py").exists())
    }
    assert found == set(mapped())


def test_imports_go_one_way() -> None:
    order = mapped()
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((ROOT / "ldpkv").rglob("*.py"))
        for name in imported(path)
        if (me := path.relative_to(ROOT / "ldpkv").parts[0].removesuffix(".py")) in order
        and name in order
        and order.index(name) > order.index(me)
    ]
    assert wrong == []


def test_a_wrong_way_would_be_seen() -> None:
    order = mapped()
    assert order.index("data") < order.index("mechanisms") < order.index("papers")
    assert "mechanisms" in imported(ROOT / "ldpkv" / "privacy.py")
