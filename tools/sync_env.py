"""Keep requirements.lock and environment.yml in step with pyproject.toml.

    python tools/sync_env.py lock     resolve again, write both files (needs uv and the index)
    python tools/sync_env.py env      write environment.yml from the lock
    python tools/sync_env.py check    fail when environment.yml is not what the lock gives

The lock holds versions and hashes but no address, so any mirror of the index serves.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GROUPS = ("book", "test", "build")
CONDA_PYTHON = "3.12"

HEADER = """\
# Generated from requirements.lock by tools/sync_env.py; change pyproject.toml and run `make lock`.
# conda gives Python and pip, pip gives everything else at the locked versions. In it, plain
# papermill runs any notebook:  papermill notebooks/pckv/02-privacy.ipynb out.ipynb
"""


def pins(lock_text: str) -> list[str]:
    """Return the lines `name==version ; marker` of a lock, without hashes and comments."""
    found = []
    for line in lock_text.splitlines():
        if re.match(r"[A-Za-z0-9]", line):
            found.append(line.removesuffix("\\").strip())
    return found


def environment(lock_text: str) -> str:
    """Return the text of environment.yml."""
    lines = ["name: ldpkv", "channels:", "  - conda-forge", "dependencies:"]
    lines += [f"  - python={CONDA_PYTHON}", "  - pip", "  - pip:"]
    for pin in pins(lock_text):
        lines.append(f'      - "{pin}"' if ";" in pin else f"      - {pin}")
    lines.append("      - -e .")
    return HEADER + "\n".join(lines) + "\n"


def resolve() -> None:
    uv = ROOT / ".boot" / "bin" / "uv"
    if not uv.exists():
        sys.exit("make lock needs uv in .boot/; `make setup` puts it there")
    command = [str(uv), "pip", "compile", "pyproject.toml", "--quiet", "--all-extras"]
    for group in GROUPS:
        command += ["--group", group]
    command += ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-header"]
    # What this machine knows about indexes must not get into the file.
    command += ["--no-emit-index-url", "--no-emit-find-links", "--output-file", "requirements.lock"]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"UV_NO_PROGRESS": "1"})


def main() -> None:
    parser = argparse.ArgumentParser(description="keep the lock and environment.yml in step")
    parser.add_argument("action", choices=["lock", "env", "check"])
    action = parser.parse_args().action
    if action == "lock":
        resolve()
    wanted = environment((ROOT / "requirements.lock").read_text())
    target = ROOT / "environment.yml"
    if action != "check":
        target.write_text(wanted)
    elif not target.exists() or target.read_text() != wanted:
        sys.exit("environment.yml is not what requirements.lock gives: run `make lock`")


if __name__ == "__main__":
    main()
