"""Run notebooks in place and store their outputs: `python tools/execute.py [NOTEBOOK …]`.

Nothing that changes from run to run is stored, but for the seconds that the run took, which the
page of execution times shows. Outputs are kept only if every cell succeeded. What comes out after
the words "Predict, then run" is folded until the reader asks for it.
"""

import os
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent

PREDICTION = "Predict, then run"


def execute(path: Path) -> float:
    """Run one notebook, store its outputs, and return the seconds it took."""
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    with tqdm(total=len(cells), desc=path.stem, unit="cell") as bar:
        client = NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": str(path.parent)}},
            on_cell_executed=lambda cell, cell_index, execute_reply: bar.update(
                cell.cell_type == "code"
            ),
        )
        start = time.perf_counter()
        client.execute()
        seconds = time.perf_counter() - start
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "lamplight": {"seconds": round(seconds)},
    }
    for cell in cells:
        cell.outputs = [_settled(output) for output in _joined(cell.outputs)]
        for passing in ("execution", "lines_to_next_cell"):  # left by clients and jupytext
            cell.metadata.pop(passing, None)
    fold_predictions(notebook)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)
    return seconds


def predicted(notebook: nbformat.NotebookNode) -> list[list[nbformat.NotebookNode]]:
    """After each "Predict, then run": the code cells up to the next text that show something.

    A cell that asks for the prediction (`predict(…)` of `helpers.quiz`) does not count.
    """
    groups: list[list[nbformat.NotebookNode]] = []
    asked = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            asked = PREDICTION in cell.source
            groups += [[]] * asked
        elif asked and cell.outputs and not re.search(r"^predict\(", cell.source, re.MULTILINE):
            groups[-1] = [*groups[-1], cell]
    return groups


def is_folded(cell: nbformat.NotebookNode) -> bool:
    """Whether the output of a cell is folded everywhere: site, Jupyter, other programs."""
    metadata = cell.metadata
    hidden = metadata.get("jupyter", {}).get("outputs_hidden", False)
    return "hide-output" in metadata.get("tags", []) and hidden and metadata.get("collapsed", False)


def fold_predictions(notebook: nbformat.NotebookNode) -> None:
    """Fold what comes out after a prediction, and nothing else."""
    folded = [cell.id for group in predicted(notebook) for cell in group]
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        metadata = cell.metadata
        tags = [tag for tag in metadata.pop("tags", []) if tag != "hide-output"]
        jupyter = metadata.pop("jupyter", {})
        jupyter.pop("outputs_hidden", None)
        metadata.pop("collapsed", None)
        if cell.id in folded:
            tags.append("hide-output")  # what the site heeds; the others are nbformat's
            jupyter["outputs_hidden"] = metadata["collapsed"] = True
        if tags:
            metadata["tags"] = tags
        if jupyter:
            metadata["jupyter"] = jupyter


def _joined(outputs: list) -> list:
    """Consecutive pieces of one stream arrive cut at random places: join them."""
    joined: list = []
    for output in outputs:
        same = joined and output.output_type == "stream" == joined[-1].output_type
        if same and output.name == joined[-1].name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _settled(output: dict) -> dict:
    """Object addresses in a repr differ in every run and say nothing."""
    data = output.get("data", {})
    if "text/plain" in data:
        data["text/plain"] = re.sub(r" at 0x[0-9a-f]+", "", data["text/plain"])
    return output


def main(names: list[str]) -> int:
    """Execute the named notebooks, or all of them."""
    os.environ["LAMPLIGHT_QUIET"] = "1"
    os.environ["PYTHONHASHSEED"] = "0"
    folders = ("lectures", "solutions")
    paths = [Path(name) for name in names]
    paths = paths or sorted(path for f in folders for path in ROOT.glob(f"{f}/*.ipynb"))
    failed = 0
    for path in paths:
        if not path.is_file():
            print(f"{path}: no such notebook. Name it as in: make execute NB=lectures/NAME.ipynb")
            return 2
        try:
            print(f"{path.name}: {execute(path):.0f} s")
        except CellExecutionError as error:
            failed += 1
            print(f"{path.name}: a cell failed, so its stored outputs were left as they were.")
            print(error)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
