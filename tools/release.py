"""Make a release: `python tools/release.py 0.2.0`, or `make release VERSION=0.2.0`.

Two commits are made. The first one is the release: it has the version in `pyproject.toml` and
`CITATION.cff`, a heading of its own in CHANGELOG.md, and notebooks whose badges and first cells
name its tag; it gets the tag. The second one sets the notebooks back to the branch `main`. Nothing
is pushed: the last line says how.
"""

import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r"\d+\.\d+\.\d+")
NEXT = "## Unreleased"


def git(*arguments: str) -> str:
    """What git says."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def replaced(name: str, pattern: str, text: str) -> None:
    """Write one line of a file anew.

    Raises:
        ValueError: if it is not there just once.
    """
    path = ROOT / name
    new, found = re.subn(pattern, text, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if found != 1:
        raise ValueError(f"{name}: got {found} lines like {pattern}; needed 1")
    path.write_text(new, encoding="utf-8")


def set_ref(ref: str) -> None:
    """Write the branch or tag into `pyproject.toml` and into all notebooks."""
    replaced("pyproject.toml", r"^ref = \".*\"$", f'ref = "{ref}"')
    subprocess.run([sys.executable, str(ROOT / "tools" / "address.py")], check=True)


def complaint(version: str) -> str:
    """Why no release can be made, or nothing."""
    if not VERSION.fullmatch(version):
        return "Name the version, three numbers: make release VERSION=0.2.0"
    if git("status", "--porcelain"):
        return "Commit first: there are changes that no commit has."
    if f"v{version}" in git("tag").split():
        return f"There is a tag v{version} already."
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^{NEXT}\n+- ", changes, re.MULTILINE):
        return f"CHANGELOG.md says nothing under `{NEXT}`: what has changed?"
    return ""


def main(arguments: list[str]) -> int:
    """Write, commit and tag."""
    version = arguments[0] if arguments else ""
    if said := complaint(version):
        print(said)
        return 1
    today = datetime.date.today().isoformat()
    replaced("pyproject.toml", r"^version = \".*\"$", f'version = "{version}"')
    replaced("CITATION.cff", r"^version: .*$", f"version: {version}")
    replaced("CITATION.cff", r"^date-released: .*$", f"date-released: {today}")
    replaced("CHANGELOG.md", rf"^{NEXT}$", f"{NEXT}\n\n## {version} ({today})")
    set_ref(f"v{version}")
    git("commit", "--all", "--message", f"Release {version}")
    git("tag", "--annotate", f"v{version}", "--message", f"Lamplight {version}")
    set_ref("main")
    git("commit", "--all", "--message", "Notebooks open and install main again")
    print(f"Made the release {version}. Publish it with: git push origin main v{version}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
