"""Run notebooks in place and store their outputs: `python tools/execute.py [--fresh] [NOTEBOOK …]`.

Nothing that changes from run to run is stored, but for the CPU seconds that the kernel took, which
the page of execution times shows. Outputs are kept only if every cell succeeded. What comes out
after the words "Predict, then run" is folded until the reader asks for it.

Diffs stay quiet: a figure of trained or timed data keeps its stored drawing while the code that it
comes from is the same (`--fresh` draws all anew, as is due after a change of `helpers`), and stored
seconds change only when they differ by more than a quarter.
"""

import ast
import builtins
import hashlib
import os
import re
import sys
from pathlib import Path

import nbformat
import psutil
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent

PREDICTION = "Predict, then run"


def execute(path: Path, fresh: bool = False) -> float:
    """Run one notebook, store its outputs, and return the CPU seconds it took."""
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    stored = [cell.outputs for cell in cells]
    known = notebook.metadata.get("lamplight", {}).get("seconds", 0)
    seconds = 0.0

    def after_cell(cell: NotebookNode, **_: object) -> None:
        nonlocal seconds
        seconds = cpu_seconds(client)
        bar.update(cell.cell_type == "code")

    with tqdm(total=len(cells), desc=path.stem, unit="cell") as bar:
        client = NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": str(path.parent)}},
            on_cell_executed=after_cell,
        )
        client.execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "lamplight": {"seconds": settled_seconds(known, seconds)},
    }
    for cell in cells:
        cell.outputs = [_settled(output) for output in _joined(cell.outputs)]
        for passing in ("execution", "lines_to_next_cell"):  # left by clients and jupytext
            cell.metadata.pop(passing, None)
    if not fresh:
        keep_drawings(cells, stored)
    mark_drawings(cells)
    fold_predictions(notebook)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)
    return seconds


def cpu_seconds(client: NotebookClient) -> float:
    """CPU seconds of the kernel so far: what else the machine does hardly changes them."""
    times = psutil.Process(client.km.provisioner.pid).cpu_times()
    return times.user + times.system


def settled_seconds(known: int, seconds: float) -> int:
    """The seconds to store: those that are known, unless they are off by a quarter, or by two."""
    near = known and abs(known - seconds) <= max(2, known / 4)
    return known if near else round(seconds)


MODULES = {"np", "torch", "nn", "F", "plt"}
MEASURED = '<figure class="lamplight-figure" data-measured>'


def keep_drawings(cells: list, stored: list[list]) -> None:
    """Put the stored drawing of measured data back where its code and its kind are the same."""
    for cell, before, code in zip(cells, stored, origins(cells), strict=True):
        same_code = cell.metadata.get("lamplight", {}).get("drawn") == code
        if same_code and len(before) == len(cell.outputs):
            for old, new in zip(before, cell.outputs, strict=True):
                html = [output.get("data", {}).get("text/html", "") for output in (old, new)]
                if all(text.startswith(MEASURED) for text in html) and kind(html[0]) == kind(
                    html[1]
                ):
                    new.data = old.data


def mark_drawings(cells: list) -> None:
    """Store with each drawing of measured data what code it comes from."""
    for cell, code in zip(cells, origins(cells), strict=True):
        cell.metadata.pop("lamplight", None)
        if MEASURED in str(cell.outputs):
            cell.metadata["lamplight"] = {"drawn": code}


def kind(html: str) -> tuple:
    """How a drawing is made, apart from its numbers: the words about it, colours, sizes of text."""
    return re.findall(r'(?:viewBox|aria-label)="[^"]*"', html), set(
        re.findall(r'style="[^"]*"', html)
    )


def origins(cells: list) -> list[str]:
    """For each code cell a short name of its code and of all code above that it rests on.

    A cell rests on those above that define a name it reads, or hand it to a function that may
    change it. Cells that have nothing to do with it may come and go.
    """
    rests_on: list[set[int]] = []
    makes: list[set[str]] = []
    for i, cell in enumerate(cells):
        reads, makes_now = _names(cell.source)
        makes.append(makes_now)
        rests_on.append({i}.union(*(rests_on[j] for j in range(i) if makes[j] & reads)))
    texts = ["\n".join(cells[j].source for j in sorted(above)) for above in rests_on]
    return [hashlib.sha256(text.encode()).hexdigest()[:8] for text in texts]


def _names(source: str) -> tuple[set[str], set[str]]:
    """The names that code reads before it sets them, and those that it sets or may change."""
    reads, sets, changes = set(), set(), set()
    python = re.sub(r"^(\s*)%.*", r"\1pass", source, flags=re.MULTILINE)  # %pip is none
    for statement in ast.parse(python).body:
        nodes = list(ast.walk(statement))
        names = [node for node in nodes if isinstance(node, ast.Name)]
        reads |= {node.id for node in names if isinstance(node.ctx, ast.Load)} - sets
        if not isinstance(
            statement, ast.FunctionDef | ast.ClassDef
        ):  # what is set there stays there
            sets |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        sets |= {
            alias.asname or alias.name
            for node in nodes
            for alias in getattr(node, "names", ())
            if isinstance(alias, ast.alias)
        }
        sets |= {getattr(statement, "name", "")} - {""}
        for node in nodes:
            if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                changes |= _bare(node.value)
            elif isinstance(node, ast.Call) and not _bare(node.func) & set(dir(builtins)):
                changes |= set().union(*map(_bare, node.args))
                changes |= _bare(getattr(node.func, "value", None)) - MODULES
    return reads, sets | changes


def _bare(node: ast.AST | None) -> set[str]:
    return {node.id} if isinstance(node, ast.Name) else set()


def predicted(notebook: nbformat.NotebookNode) -> list[list[nbformat.NotebookNode]]:
    """After each "Predict, then run": the code cells up to the next text that show something.

    A cell that asks for the prediction (`predict(…)` of `helpers.viz.quiz`) does not count.
    """
    groups: list[list[nbformat.NotebookNode]] = []
    asked = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            asked = PREDICTION in cell.source
            if asked:
                groups.append([])
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
    paths = [Path(name) for name in names if name != "--fresh"]
    paths = paths or sorted(path for f in folders for path in ROOT.glob(f"{f}/*.ipynb"))
    failed = 0
    for path in paths:
        if not path.is_file():
            print(f"{path}: no such notebook. Name it as in: make execute NB=lectures/NAME.ipynb")
            return 2
        try:
            print(f"{path.name}: {execute(path, '--fresh' in names):.0f} CPU seconds")
        except CellExecutionError as error:
            failed += 1
            print(f"{path.name}: a cell failed, so its stored outputs were left as they were.")
            print(error)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
