"""Make the project's environment: .venv with every package of requirements.lock, and ldpkv itself.

    python3 tools/bootstrap.py

Needs Python with its venv module, and the package index. uv is put into .boot/; where it cannot be
had, plain pip does the same work more slowly. Nothing happens when the environment is up to date.
This file runs on whatever Python the reader has, so it avoids new syntax.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time

OLDEST, NEWEST = (3, 11), (3, 13)
BOOT, VENV = ".boot", ".venv"
KEY = os.path.join(VENV, "ldpkv-key.txt")
LOCK = "requirements.lock"


def say(text):
    sys.stdout.write("[setup] " + text + "\n")
    sys.stdout.flush()


def stop(text):
    sys.exit("[setup] " + text)


def check_python():
    found = sys.version_info[:2]
    if OLDEST <= found <= NEWEST:
        return
    stop(
        "ldpkv needs Python %d.%d to %d.%d, and %s is %d.%d.\n"
        "        Name another one, for example:  PYTHON=python3.12 make book"
        % (OLDEST + NEWEST + (sys.executable,) + found)
    )


def wanted_key():
    """What the environment depends on: the interpreter, the lock, the package's settings."""
    digest = hashlib.sha256()
    base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    digest.update((sys.version + base + os.getcwd()).encode())
    for name in (LOCK, "pyproject.toml", "tools/bootstrap.py", "tools/uv.txt"):
        with open(name, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def run(*command):
    """Run a command, quiet unless it fails; return whether it succeeded."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.stderr.write(done.stdout.decode(errors="replace"))
    return done.returncode == 0


def must(*command):
    if not run(*command):
        stop(
            "this command failed (see above): %s\n"
            "        Is the package index reachable? Once it is, run the same make command again."
            % " ".join(command)
        )


def new_venv(folder):
    shutil.rmtree(folder, ignore_errors=True)
    if not run(sys.executable, "-m", "venv", folder):
        stop(
            "%s cannot make a virtual environment. Debian and Ubuntu keep that part in a package\n"
            "        of its own: install python3-venv." % sys.executable
        )


def find_uv():
    """Path of the pinned uv in .boot/, installed on the first call; None where it cannot be had."""
    uv = os.path.join(BOOT, "bin", "uv")
    stamp = os.path.join(BOOT, "uv.txt")
    with open("tools/uv.txt", "rb") as file:
        pinned = file.read()
    if os.path.exists(uv) and os.path.exists(stamp):
        with open(stamp, "rb") as file:
            if file.read() == pinned and run(uv, "--version"):
                return uv
    say("putting the installer uv into %s/" % BOOT)
    new_venv(BOOT)
    pip = os.path.join(BOOT, "bin", "python")
    command = [pip, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    if not run(*(command + ["--require-hashes", "-r", "tools/uv.txt"])):
        say("uv could not be installed; going on with pip, which takes about two minutes")
        return None
    with open(stamp, "wb") as file:
        file.write(pinned)
    return uv


def install(uv):
    python = os.path.join(VENV, "bin", "python")
    if uv:
        base = getattr(sys, "_base_executable", sys.executable)
        must(uv, "venv", "--quiet", "--clear", "--python", base, VENV)
        pip = [uv, "pip"]
        must(*(pip + ["sync", "--python", python, "--require-hashes", LOCK]))
        pip += ["install", "--python", python]
    else:
        new_venv(VENV)
        pip = [python, "-m", "pip", "install", "--quiet"]
        must(*(pip + ["--require-hashes", "-r", LOCK]))
    # The build backend is in the lock: no isolated build, nothing fetched that is not listed.
    must(*(pip + ["--no-deps", "--no-build-isolation", "--editable", "."]))


def main():
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    check_python()
    key = wanted_key()
    if os.path.exists(KEY):
        with open(KEY) as file:
            if file.read() == key:
                return
    start = time.time()
    version = "%d.%d.%d" % sys.version_info[:3]
    uv = find_uv()
    say("installing the packages of %s into %s/ (Python %s)" % (LOCK, VENV, version))
    install(uv)
    # Written last: an interrupted set-up is done again.
    with open(KEY, "w") as file:
        file.write(key)
    say("ready after %.0f s" % (time.time() - start))


if __name__ == "__main__":
    main()
