"""Run notebooks from other seeds, and store nothing: `python tools/seeds.py NOTEBOOK … [BY …]`.

`helpers.training.set_seed(s)` becomes `set_seed(s + BY)`, so every training starts and draws anew,
and what a cell asserts should hold there as well. Each cell that fails is named. From a lucky seed
a claim looks as sound as from any other; this is how to find out.
"""

import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

BY = (1000, 2000, 3000)
SHIFT = """\
import helpers.training
usual_set_seed = helpers.training.set_seed
helpers.training.set_seed = lambda seed: usual_set_seed(seed + {by})"""


def failures(path: Path, by: int) -> list[str]:
    """The section and the failing line of each cell that fails when all seeds are `by` larger."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, new_code_cell(SHIFT.format(by=by)))
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", allow_errors=True, resources=resources
    ).execute()
    section, found = "the beginning", []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            section = (re.findall(r"^#+ (.*)$", cell.source, re.MULTILINE) or [section])[-1]
        elif cell.cell_type == "code" and "raises-exception" not in cell.metadata.get("tags", []):
            errors = [output for output in cell.outputs if output.output_type == "error"]
            found += [f"{section}: {_line(error)}" for error in errors]
    return found


def _line(error: nbformat.NotebookNode) -> str:
    """The line of the cell at which an error arose, and the error."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
    lines = re.findall(r"^-+> \d+ (.*)$", plain, re.MULTILINE)
    return f"{lines[0].strip() if lines else '?'} ({error.ename}: {error.evalue})"


def main(words: list[str]) -> int:
    """Run each notebook from each of the other seeds."""
    paths = [Path(word) for word in words if not word.isdecimal()]
    if not paths or not all(path.is_file() for path in paths):
        named = ", ".join(map(str, paths)) or "none"
        print(f"No such notebook: {named}. Name it as in: make seeds NB=lectures/NAME.ipynb")
        return 2
    failed = 0
    for path in paths:
        for by in [int(word) for word in words if word.isdecimal()] or BY:
            found = failures(path, by)
            print(f"{path.name}, seeds {by} larger: {len(found) or 'no'} cells fail", flush=True)
            print(*(f"  {line}" for line in found), sep="\n", end="\n" if found else "")
            failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
