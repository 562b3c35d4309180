"""What this machine has for the course, and what it lacks: `python tools/ready.py`.

Nothing is installed, and nothing beside Python's own library is needed. The exit code is 1 if
something is missing without which no notebook runs.
"""

import importlib.util
import platform
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
GB = 1e9
NEEDED, WISHED = "✗", "–"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def lacks() -> list[tuple[str, str]]:
    """What is missing: whether it is needed, and what to do."""
    found = []
    if sys.version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        found.append((NEEDED, f"Python {wanted} or newer; this is {platform.python_version()}"))
    if importlib.util.find_spec("ensurepip") is None:
        found.append((NEEDED, "venv: on Debian and Ubuntu, sudo apt-get install python3-venv"))
    free = shutil.disk_usage(ROOT).free / GB
    if free < 4 and not (ROOT / ".venv" / "full.stamp").exists():
        found.append((NEEDED, f"4 GB of disk for the environment; {free:.1f} are free"))
    if shutil.which("git") is None:
        found.append((WISHED, "git: for contributors"))
    if shutil.which("make") is None:
        found.append((WISHED, "make: without it, python -m venv .venv, then tools/lab.py"))
    if not any(map(shutil.which, CHROMIUM)):
        found.append((WISHED, "chromium: without it, make test does not look at the site"))
    if platform.system() == "Linux" and shutil.which("bwrap") is None:
        found.append((WISHED, "bubblewrap: without it, no class can be graded in a sandbox"))
    return found


def main() -> int:
    """Print what was found."""
    print(f"Python {platform.python_version()} on {platform.system()}")
    for stamp, what in (
        ("book", "the site needs"),
        ("full", "the notebooks need"),
        ("test", "the tests need"),
    ):
        there = (ROOT / ".venv" / f"{stamp}.stamp").exists()
        print(f"  {'✓' if there else '–'} what {what}: {'installed' if there else 'not yet'}")
    missing = lacks()
    for sign, what in missing:
        print(f"  {sign} {what}")
    needed = [what for sign, what in missing if sign == NEEDED]
    print("Something is missing." if needed else "This machine is ready.")
    return 1 if needed else 0


if __name__ == "__main__":
    sys.exit(main())
