"""Write the repository's address and the course's version into every notebook.

The address stands once, in `_config.yml`, and the version once, in `pyproject.toml`. From them come
each notebook's Colab badge and its first code cell, which also installs a library of scores if the
notebook imports one. `python tools/address.py` brings the notebooks in line; with `--check` it
changes nothing and names those that are not.
"""

import re
import sys
import tomllib
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("lectures", "solutions", "exercises")
BADGE = re.compile(r"\[!\[Open in Colab\]\([^)]*\)\]\([^)]*\)")

LIBRARIES = {"rouge-score": "rouge_score", "sacrebleu": "sacrebleu"}
"""Small libraries of scores, and the modules by which a notebook imports them."""

COLAB_CELL = """\
# On Colab this installs the course's own package; everywhere else it does nothing.
import sys

if "google.colab" in sys.modules:
    %pip install --quiet --no-deps "lamplight @ git+{address}@v{version}"
"""


def address() -> str:
    """The repository's address, as `_config.yml` has it."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return config["repository"]["url"].rstrip("/")


def version() -> str:
    """The course's version, as `pyproject.toml` has it."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]


def needs(notebook: nbformat.NotebookNode) -> list[str]:
    """The libraries that this notebook imports and Colab has not."""
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return [
        library
        for library, module in LIBRARIES.items()
        if re.search(rf"^\s*(import|from) {module}\b", code, re.MULTILINE)
    ]


def colab_cell(notebook: nbformat.NotebookNode) -> str:
    """The first code cell of a notebook: the course, and what else the notebook needs."""
    cell = COLAB_CELL.format(address=address(), version=version())
    more = "".join(f"    %pip install --quiet {library}\n" for library in needs(notebook))
    return (cell + more).rstrip("\n")


def badge(notebook: Path) -> str:
    """The Markdown of a notebook's Colab badge."""
    path = notebook.resolve().relative_to(ROOT).as_posix()
    colab = address().replace("https://github.com", "https://colab.research.google.com/github")
    return f"[![Open in Colab](../_static/colab.svg)]({colab}/blob/main/{path})"


def notebooks() -> list[Path]:
    """Every notebook of the course."""
    return sorted(path for folder in FOLDERS for path in ROOT.glob(f"{folder}/*.ipynb"))


def brought_in_line(path: Path) -> nbformat.NotebookNode:
    """The notebook with the first code cell and the badge as they should be."""
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    code[0].source = colab_cell(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = BADGE.sub(lambda _: badge(path), cell.source)
    return notebook


def main(check: bool) -> int:
    """Rewrite, or only name, the notebooks that are not in line."""
    stale = [p for p in notebooks() if brought_in_line(p) != nbformat.read(p, as_version=4)]
    for path in stale:
        if not check:
            nbformat.write(brought_in_line(path), path)
        print(f"{path.relative_to(ROOT)}: {'differs; run: make address' if check else 'rewritten'}")
    if not stale:
        print(f"All {len(notebooks())} notebooks carry {address()} and version {version()}.")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
