"""Student notebooks from the solutions: `python -m grading.generate [--check] [--force]`.

A solution is a notebook in `solutions/`. From it comes the notebook of the same name in
`exercises/`:

- cells tagged `model-answer` are left out;
- in code cells, the lines from `# BEGIN SOLUTION` to `# END SOLUTION` are left out, and lines that
  begin with `#| ` (what a student finds there, for instance code with a bug) lose these three
  characters;
- outputs and execution counts are dropped.

So every line of a student notebook is in its solution, too. The task's file is the only source of
what both notebooks share:

- the code before `check("NAME")`, which is the model answer, and cells that it marks as given;
- after the line `<!-- task: NAME -->` of a Markdown cell, the task's points, stars and minutes, and
  at the end of this cell the hints.

Headings are numbered in the order of the tasks. A sentence about another task marks its number,
`task 3<!-- NAME -->`: the number is filled in here, and a number without a mark is an error. The
same marks are filled in in the lectures and in `pages/sessions.md`. The text between
`<!-- how this works -->` and its end mark is the same in all notebooks except for the numbers of
tasks and points, and the time that the core takes.

A student notebook that somebody has worked in (neither git's version nor what was written last) is
not overwritten, unless `--force` is given.

The tasks of each notebook are in the order of the list `TASKS` in `tasks/lecture_NN/__init__.py`.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grading import workload
from grading.author import cell_of, given_in, stub
from grading.task import PROJECT, Task, all_tasks, names_by_lecture
from helpers.validation import require

ROOT = Path(__file__).resolve().parent.parent
TASKS = ROOT / "grading" / "tasks"
WRITTEN = ROOT / "exercises" / ".written"
"""Hashes of the student notebooks that this command wrote last; not in git."""
KEPT_MARKS = 200
MARK = re.compile(r"<!-- task: (\w+) -->(?:.*?<!-- end of task -->)?", re.DOTALL)
HINTS = re.compile(r"\s*<!-- hints -->.*?<!-- end of hints -->", re.DOTALL)
HOW = re.compile(r"<!-- how this works -->(?:.*?<!-- end of how this works -->)?", re.DOTALL)
HOW_LINES = """\
<!-- how this works -->
There are {n} tasks, worth {points} points in all. {core}
Stars show the time a task takes: one for up to {one} minutes, two for up to {two}, and three for
more.

- Run the cells from top to bottom. In each task, replace the `...`, write the body of the function,
  or correct the code that is there. A written answer is a string; between triple quotes,
  `\"""…\"""`, it may have several lines. Then run the cell. `check` either says *Right* or tells
  you which case failed and, usually, which mistake caused it. It also shows what your code printed
  on that case.
- Try as often as you like. You can open the hints one after the other. After a full score, or
  after five attempts, `check` tells you where to find the model answer.
- Partly correct answers earn partial credit. A function earns half of the points if it passes all
  ordinary cases, and none otherwise. The other half is for further kinds of cases, such as batches
  or edge cases, and counts only if the ordinary cases all pass. A task with only one kind of case
  is all or nothing. A list earns points entry by entry. In a set of letters, one wrong or missing
  letter costs half of the points, and two cost all of them. `check` reports the first problem it
  finds. A written answer is marked by your teacher or, if you work alone, by you, with the help of
  the model answer.
- Your function must not modify its inputs. Rows, positions and heads are counted from 0.
- The points that `check` shows are for public cases. A class grader runs your functions on hidden
  cases of the same kind.
- If you take the course in a class, hand in this one file where your teacher tells you.
<!-- end of how this works -->"""
HEADING = re.compile(r"^## (?:\d+\. )?(?=.*\n\s*<!-- task: )", re.MULTILINE)
NUMBER = re.compile(r"(?:\d+|\?)<!-- (\w+) -->")
UNMARKED = re.compile(r"\b[Tt]asks?\s+(?:\d+\s*(?:,|and|or|to)\s*)*\d+\b(?!<!-- )")
CHECK = re.compile(r'^check\("(\w+)"\)$', re.MULTILINE)


def with_task_lines(solution: NotebookNode) -> NotebookNode:
    """The solution with points, stars, minutes and hints as the tasks have them.

    Raises:
        ValueError: if a task is named that does not exist, a task has no check, or a check no task.
    """
    solution = nbformat.from_dict(solution)
    tasks, named = all_tasks(), tasks_in(solution)
    unknown = [name for name in named if name not in tasks]
    require(not unknown, "a task mark", ", ".join(unknown), "the name of a task")
    sheet = [tasks[name] for name in named]
    _require_checked(named, _checks_in(solution))
    how, core = _how_lines(sheet), {task.name for task in workload.core(sheet)}
    for cell in solution.cells:
        if cell.cell_type == "markdown":
            cell.source = HOW.sub(how, _with_lines(cell.source, tasks, core))
        elif cell.cell_type == "code":
            cell.source = _with_answer(cell.source, tasks)
    _put_numbers(solution, named)
    _put_given_cells(solution, sheet)
    return solution


def _with_lines(text: str, tasks: Mapping[str, Task], core: Collection[str]) -> str:
    """A Markdown cell with the lines and the hints of the tasks that it marks."""
    names = MARK.findall(text)
    if not names:
        return text
    text = MARK.sub(lambda m: _task_lines(tasks[m[1]], extra=m[1] not in core), text)
    hints = [hint for name in names for hint in tasks[name].hints]
    return HINTS.sub("", text).rstrip() + _hint_lines(hints)


def _with_answer(source: str, tasks: Mapping[str, Task]) -> str:
    """The cell of the model answer, for a code cell with the check of one task; others as is."""
    names = CHECK.findall(source)
    return _answer_cell(tasks[names[0]]) if len(names) == 1 and names[0] in tasks else source


def _checks_in(notebook: NotebookNode) -> list[str]:
    """The names of the tasks that the code cells check."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "code")
    return [name for text in texts for name in CHECK.findall(text)]


def _require_checked(named: Sequence[str], checked: Sequence[str]) -> None:
    """Refuse a task without a check, a check without a task, and a task that is named twice."""
    without = sorted(set(named) - set(checked))
    require(not without, "tasks without a check", ", ".join(without), 'check("name") after each')
    without = sorted(set(checked) - set(named))
    require(not without, "checks without a task", ", ".join(without), "a task mark before each")
    twice = sorted({name for name in named if named.count(name) > 1})
    require(not twice, "tasks named twice", ", ".join(twice), "each once")


def exercise_from(solution: NotebookNode) -> NotebookNode:
    """The student notebook.

    Raises:
        ValueError: as `with_task_lines`, or if begin and end marks do not pair up.
    """
    exercise = with_task_lines(solution)
    exercise.metadata.pop("lamplight", None)
    exercise.cells = [
        cell for cell in exercise.cells if "model-answer" not in cell.metadata.get("tags", [])
    ]
    for cell in exercise.cells:
        cell.source = cell.source.replace("/blob/main/solutions/", "/blob/main/exercises/")
        if cell.cell_type == "code":
            cell.source = stub(cell.source)
            cell.outputs, cell.execution_count = [], None
            for passing in ("execution", "lines_to_next_cell"):  # as tools/execute.py leaves out
                cell.metadata.pop(passing, None)
    return exercise


def _require_listed(lecture: int, names: Sequence[str]) -> None:
    """Compare the tasks of a notebook with the list of its lecture.

    Raises:
        ValueError: if they are others, or in another order.
    """
    listed = list(names_by_lecture().get(lecture, ()))
    where = f"TASKS in grading/tasks/lecture_{lecture:02d}/__init__.py"
    require(listed == list(names), where, listed, f"{list(names)}, the tasks of the sheet in order")


def _file(task: Task) -> Path:
    return TASKS / f"lecture_{task.lecture:02d}" / f"{task.name}.py"


def _answer_cell(task: Task) -> str:
    """The cell of the model answer, with the check below it."""
    answer = cell_of(_file(task))
    gap = "\n\n" if task.kind in ("predict", "choose", "written") else "\n\n\n"
    return f'{answer}{gap}check("{task.name}")'


def _put_numbers(solution: NotebookNode, names: Sequence[str]) -> None:
    """Number the headings of the tasks, and what is said about them elsewhere."""
    number = {name: str(n) for n, name in enumerate(names, 1)}
    for cell in solution.cells:
        if cell.cell_type == "markdown":
            cell.source = numbered(cell.source, number)
            for name in MARK.findall(cell.source):
                cell.source = HEADING.sub(f"## {number[name]}. ", cell.source)
            bare = UNMARKED.search(cell.source)
            require(not bare, "what is said of a task", bare and bare[0], "N<!-- its name -->")


def numbered(text: str, number: Mapping[str, str]) -> str:
    """A text with the numbers of the tasks that it marks.

    Raises:
        ValueError: if it marks a task that has no number.
    """
    unknown = set(NUMBER.findall(text)) - set(number)
    require(not unknown, "a number of a task", ", ".join(unknown), "a task of this sheet")
    return NUMBER.sub(lambda m: f"{number[m[1]]}<!-- {m[1]} -->", text)


def about_tasks() -> dict[Path, dict[str, str]]:
    """Lectures and session plans, with the numbers of the tasks that each may mark."""
    sheets = {
        lecture: {name: str(n) for n, name in enumerate(names, 1)}
        for lecture, names in names_by_lecture().items()
    }
    every = {name: number for sheet in sheets.values() for name, number in sheet.items()}
    lectures = sorted((ROOT / "lectures").glob("*.ipynb"))
    found = {path: sheets.get(int(path.name[:2]), {}) for path in lectures}
    return {**found, ROOT / "pages" / "sessions.md": every}


def _put_given_cells(solution: NotebookNode, tasks: Sequence[Task]) -> None:
    """Put what the tasks' files hold of other cells where these begin with the same definition."""
    for task in tasks:
        for text in given_in(_file(task)):
            first = text.partition("(")[0]
            cells = [c for c in solution.cells if c.source.partition("(")[0] == first]
            require(len(cells) == 1, f"task {task.name!r}, cells with {first!r}", len(cells), "1")
            cells[0].source = text


def _how_lines(tasks: Sequence[Task]) -> str:
    core = workload.core(tasks)
    more = [task for task in tasks if task not in core]
    time = workload.hours(workload.minutes(core))
    project = any(task.lecture == PROJECT for task in tasks)
    said = (
        f"The whole project takes about {time}."
        if project
        else f"Allow about {time} for the whole sheet."
    )
    if more:
        said = f"The core, {len(core)} tasks worth {_points(core)} points, takes about {time}."
        said += f" The tasks marked *extra* take {workload.hours(workload.minutes(more))} more."
    sizes = {"one": workload.ONE_STAR, "two": workload.TWO_STARS}
    return HOW_LINES.format(n=len(tasks), points=_points(tasks), core=said, **sizes)


def _points(tasks: Sequence[Task]) -> int:
    return sum(task.points for task in tasks)


def _task_lines(task: Task, extra: bool) -> str:
    stars = workload.stars(task)
    facts = [f"{task.points} points", "★" * stars + "☆" * (3 - stars)]
    facts += [f"about {task.minutes} minutes", task.kind]
    if extra:
        facts.append("extra")
    lines = [f"<!-- task: {task.name} -->", f"*{' · '.join(facts)}*"]
    return "\n".join([*lines, "", "<!-- end of task -->"])


def _hint_lines(hints: Sequence[str]) -> str:
    lines = []
    for number, hint in enumerate(hints, 1):
        lines += [f"<details><summary>Hint {number}</summary>", "", hint, "", "</details>", ""]
    return "\n".join(["\n", "<!-- hints -->", *lines, "<!-- end of hints -->"]) if lines else ""


def tasks_in(notebook: NotebookNode) -> list[str]:
    """The names of the tasks, in the order in which they stand there."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return [name for text in texts for name in MARK.findall(text)]


def _put(path: Path, text: str, check: bool) -> bool:
    """Write a file whose text has changed, unless only to be checked; whether it has."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    if not check:
        path.write_text(text, encoding="utf-8")
    return True


def worked_in(path: Path) -> bool:
    """Whether a student notebook is neither what git has nor what was written here last."""
    if not path.is_file():
        return False
    now = path.read_bytes()
    if hashlib.sha256(now).hexdigest() in _written():
        return False
    git = ["git", "show", f"HEAD:./{path.name}"]
    try:
        stored = subprocess.run(git, cwd=path.parent, capture_output=True)
    except FileNotFoundError:  # no git: nobody can tell
        return False
    return stored.returncode == 0 and stored.stdout != now


def _would_lose_work(path: Path, text: str) -> bool:
    """Whether somebody has worked in a student notebook, and this text is another one."""
    return worked_in(path) and path.read_text(encoding="utf-8") != text


def _written() -> list[str]:
    return WRITTEN.read_text(encoding="utf-8").split() if WRITTEN.is_file() else []


def _remember(text: str) -> None:
    known = [*_written(), hashlib.sha256(text.encode()).hexdigest()][-KEPT_MARKS:]
    WRITTEN.parent.mkdir(exist_ok=True)
    WRITTEN.write_text("\n".join(known) + "\n", encoding="utf-8")


def main(check: bool, force: bool = False) -> int:
    """Write the student notebooks, or only name those that are not in step."""
    stale = []
    try:
        all_tasks()
    except ValueError as error:
        print(f"grading/tasks: {error}")
        return 1
    for path in sorted((ROOT / "solutions").glob("*.ipynb")):
        try:
            before = nbformat.read(path, as_version=4)
            solution, exercise = with_task_lines(before), exercise_from(before)
            _require_listed(int(path.name[:2]), tasks_in(solution))
        except ValueError as error:
            print(f"solutions/{path.name}: {error}")
            return 1
        target = ROOT / "exercises" / path.name
        target.parent.mkdir(exist_ok=True)
        made = ((path, solution), (target, exercise))
        texts = {place: nbformat.writes(notebook) + "\n" for place, notebook in made}
        if not (check or force) and _would_lose_work(target, texts[target]):
            print(f"exercises/{path.name} holds work that is not in git, so it was left as it is.")
            print("Move it elsewhere (make lab works on copies), or: make exercises FORCE=yes")
            return 1
        if not check:
            _remember(texts[target])
        stale += [place for place, text in texts.items() if _put(place, text, check)]
    for path, number in about_tasks().items():
        try:
            text = numbered(path.read_text(encoding="utf-8"), number)
        except ValueError as error:
            print(f"{path.relative_to(ROOT).as_posix()}: {error}")
            return 1
        stale += [path] if _put(path, text, check) else []
    for path in stale:
        name = path.relative_to(ROOT).as_posix()
        print(f"{name}: {'not in step; run: make exercises' if check else 'written'}")
    if not stale:
        print("All student notebooks are in step with their solutions.")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:], "--force" in sys.argv[1:]))
