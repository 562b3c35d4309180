"""What has not changed since it passed: `make test` does not run it again (`--skip-unchanged`).

A notebook rests on its code cells with their outputs, on `helpers`, on `grading` where it checks
answers, and on the installed versions. The tests of the tasks of a lecture rest on their files,
their notebooks and the same code. Everything that they rest on is hashed; what passed is kept in
`.pytest_cache`. Prose does not count: its rules are asked in every run. CI never skips.
"""

import hashlib
import importlib.metadata
import json
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PASSED = ROOT / ".pytest_cache" / "passed.json"
SETTINGS = ("conftest.py", "pyproject.toml", "tests/notebooks/nbval_sanitize.cfg")
SKIPPED_PARTS = {"__pycache__", "tasks"}


def digest(*texts: str | bytes) -> str:
    """One short name for all of it."""
    whole = hashlib.sha256()
    for text in texts:
        part = text.encode() if isinstance(text, str) else text
        whole.update(f"{len(part)}:".encode() + part)
    return whole.hexdigest()[:16]


def of_files(paths: Iterable[Path]) -> str:
    """A name for these files, as they are called and what they hold."""
    files = sorted(path for path in paths if path.is_file() and path.suffix != ".pyc")
    return digest(
        *(part for p in files for part in (p.relative_to(ROOT).as_posix(), p.read_bytes()))
    )


def of_code(path: Path) -> str:
    """A name for what nbval runs and compares: code cells, their tags, their outputs."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return digest(json.dumps([cell for cell in cells if cell["cell_type"] == "code"]))


def versions() -> str:
    """A name for this Python and all that is installed."""
    installed = {(d.metadata["Name"], d.version) for d in importlib.metadata.distributions()}
    return digest(sys.version, *(f"{name}=={version}" for name, version in sorted(installed)))


def keys() -> dict[str, str]:
    """For each notebook and the tasks of each lecture a name for all that it rests on."""
    tests = ROOT / "tests"
    everywhere = digest(
        versions(),
        of_files((ROOT / "helpers").rglob("*")),
        of_files(ROOT / name for name in SETTINGS),
    )
    grading = of_files(
        path
        for path in (ROOT / "grading").rglob("*")
        if not SKIPPED_PARTS & set(path.relative_to(ROOT).parts)
    )
    material = of_files(tests.rglob("[!t]*.py"))
    about = of_files(ROOT / name for name in ABOUT_TASKS)
    found = {}
    for path in sorted([*ROOT.glob("lectures/*.ipynb"), *ROOT.glob("solutions/*.ipynb")]):
        name = path.relative_to(ROOT).as_posix()
        parts = [everywhere, of_code(path)]
        if "grading" in path.read_text(encoding="utf-8"):
            parts += [grading, of_files(ROOT.glob(f"grading/tasks/lecture_{path.name[:2]}/*"))]
        found[name] = digest(*parts)
    for folder in sorted(ROOT.glob("grading/tasks/lecture_*")):
        number = folder.name.removeprefix("lecture_")
        notebooks = [*ROOT.glob(f"lectures/{number}_*"), *ROOT.glob(f"exercises/{number}_*")]
        notebooks += ROOT.glob(f"solutions/{number}_*")
        own = of_files([*folder.glob("*"), *notebooks])
        found[folder.name] = digest(everywhere, grading, material, about, own)
    return found


ABOUT_TASKS = tuple(
    f"tests/grading/test_{name}.py" for name in ("partial_credit", "task_rules", "tasks")
)
"""Files whose tests `make test` runs for each task."""


def passed() -> dict[str, str]:
    """What passed before, by its name."""
    try:
        return json.loads(PASSED.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def remember(known: dict[str, str]) -> None:
    """Keep what has passed."""
    PASSED.parent.mkdir(exist_ok=True)
    PASSED.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
