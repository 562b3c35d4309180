"""Begin a task: `make task LECTURE=4 NAME=hidden_words` makes its file and its cells.

The file is `grading/tasks/lecture_04/hidden_words.py`, and its name is last in the list `TASKS` of
that folder. The cells are at the end of the notebook in `solutions/`. They may be moved, and the
name with them, since the list has the order of the sheet. `make exercises` then numbers them and
makes the students' notebook. The example that it begins with is a task already: its checks pass.
"""

import argparse
import keyword
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent

FILE = '''\
"""What the task is about, in a line."""

import numpy as np

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=5,
    minutes=5,
    outcome="one of the lecture's outcomes, in its words",
    hints=("Try it with two numbers on paper.",),
)


# %% the cell
def {name}(x):
    """The numbers x (n,), doubled."""
    # BEGIN SOLUTION
    return 2 * x
    # END SOLUTION


# %%


@task.alternative
def by_adding(x):
    """As a sum."""
    return x + x


task.mistake("Each number was squared. Twice 3 is 6.", lambda x: x**2)
task.mistake("The numbers came back as they were.", lambda x: x)
task.mistake("The numbers were halved.", lambda x: x / 2)
task.mistake("The sign is wrong.", lambda x: -2 * x)
task.mistake("2 was added to each number. It is to be doubled.", lambda x: x + 2)


@task.cases
def cases(seed):
    """An example to check by hand; then random numbers."""
    rng = np.random.default_rng(seed)
    return [
        Case((np.array([3.0, -1.0]),), "the example", kind="ordinary cases"),
        Case((rng.normal(size=5),), kind="ordinary cases"),
    ]
'''

STATEMENT = """\
## A heading

<!-- task: {name} -->

Write `{name}(x)`. It gets a NumPy array of numbers, of shape (n,), and returns them doubled.

For instance, `{name}(np.array([3.0, -1.0]))` returns `[6.0, -2.0]`."""


def begin(root: Path, lecture: int, name: str) -> list[Path]:
    """Write the file and the cells of a task.

    Raises:
        ValueError: if the name is no name, is taken, or the lecture has no exercises.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"NAME={name}: a Python name is needed, such as hidden_words")
    tasks = root / "grading" / "tasks"
    taken = sorted(tasks.glob(f"*/{name}.py"))
    if taken:
        raise ValueError(f"NAME={name}: there is {taken[0].relative_to(root)} already")
    notebooks = sorted((root / "solutions").glob(f"{lecture:02d}_*.ipynb"))
    if not notebooks:
        raise ValueError(f"LECTURE={lecture}: there is no notebook solutions/{lecture:02d}_….ipynb")
    file = tasks / f"lecture_{lecture:02d}" / f"{name}.py"
    listing = file.with_name("__init__.py")
    if not listing.is_file():
        file.parent.mkdir(exist_ok=True)
        start = f'"""Tasks of lecture {lecture}, in the order of its sheet."""\n\nTASKS = [\n]\n'
        listing.write_text(start, encoding="utf-8")
    before, _, after = listing.read_text(encoding="utf-8").rpartition("]\n")
    listing.write_text(f'{before}    "{name}",\n]\n{after}', encoding="utf-8")
    file.write_text(FILE.format(name=name), encoding="utf-8")
    notebook = nbformat.read(notebooks[0], as_version=4)
    answer = nbformat.v4.new_markdown_cell("Why the model answer is as it is.")
    answer.metadata["tags"] = ["model-answer"]
    cells = [
        nbformat.v4.new_markdown_cell(STATEMENT.format(name=name)),
        nbformat.v4.new_code_cell(f'check("{name}")'),
        answer,
    ]
    last = notebook.cells[-1].source.startswith("progress(")
    end = len(notebook.cells) - last
    notebook.cells[end:end] = cells
    notebooks[0].write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    return [file, notebooks[0]]


def main() -> int:
    """Begin the task that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lecture", type=int)
    parser.add_argument("name")
    given = parser.parse_args()
    try:
        file, notebook = (p.relative_to(ROOT) for p in begin(ROOT, given.lecture, given.name))
    except ValueError as error:
        print(error)
        return 1
    print(f"{file}: written, with an example to replace")
    print(f"{notebook}: three cells more, at the end; move them where the task belongs")
    print(f"Then: make exercises, make execute NB={notebook}, make check TASK={given.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
