"""Jupyter Lab on the lectures: `python tools/lab.py [--install-only] [--cuda]`.

Run it with the Python of an environment of its own. On Linux and macOS `make lab` does both; on
Windows, in the course's folder:

    py -m venv .venv
    .venv\\Scripts\\python tools\\lab.py

The first time, it installs what the notebooks need, in the versions of requirements-lab.txt.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = ("requirements-lab.txt", "requirements.txt", "pyproject.toml")


def main(arguments: list[str]) -> int:
    """Install what is missing, then open Jupyter Lab."""
    if sys.prefix == sys.base_prefix:
        print("This Python is not in an environment of its own. Make one: python -m venv .venv")
        return 2
    stamp = Path(sys.prefix) / "lab.stamp"
    newest = max((ROOT / name).stat().st_mtime for name in NEEDED)
    if not stamp.exists() or stamp.stat().st_mtime < newest:
        if code := install([a for a in arguments if a == "--cuda"]):
            return code
        stamp.touch()
    if "--install-only" in arguments:
        return 0
    return subprocess.call([sys.executable, "-m", "jupyterlab", str(ROOT / "lectures")])


def install(options: list[str]) -> int:
    """PyTorch in the build that fits, the pinned packages, and the course itself."""
    print("Installing what the notebooks need (some minutes, about 1 GB)", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = (
        [sys.executable, str(ROOT / "tools" / "pytorch.py"), *options],
        [*pip, "-r", str(ROOT / "requirements-lab.txt")],
        [*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT)],
    )
    for step in steps:
        if code := subprocess.call(step):
            print("The installation stopped. With the network back, run the command again.")
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
