"""Say where Chromium is; install it where that is possible.

    python tools/find_chromium.py

Used by `make browser`. Names the browser on the last line, or says what to do and fails.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find() -> str | None:
    """Return the path of a Chromium: $CHROMIUM, or the first one on the path."""
    if named := os.environ.get("CHROMIUM"):
        return shutil.which(named)
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def install() -> None:
    print("[browser] no Chromium here; asking apt for it", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        command = ["apt-get", "-qq", *arguments]
        if subprocess.run(command, stdout=subprocess.DEVNULL, env=environment).returncode != 0:
            return


def main() -> int:
    if find() is None and shutil.which("apt-get") and os.geteuid() == 0:
        install()
    found = find()
    if found is None:
        print(
            "[browser] Chromium is missing. Install it (Debian, Ubuntu: package `chromium`), or\n"
            "          name it:  CHROMIUM=/path/to/chrome make browser"
        )
        return 1
    print(f"[browser] {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
