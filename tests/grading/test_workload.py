"""How long a sheet takes: stars by minutes, and a core of four hours at most."""

import re

import nbformat
import pytest

from grading import workload
from grading.check import of_lecture
from grading.generate import MARK, with_task_lines
from grading.task import PROJECT, Task, all_tasks
from tests.conftest import ROOT

SHEETS = sorted((ROOT / "exercises").glob("*.ipynb"))
LINE = re.compile(r"\*(\d+) points · ([★☆]{3}) · about (\d+) minutes · ([\w ]+?)( · extra)?\*")


def made(name, minutes, extra=False):
    return Task(name, 1, "predict", 2, minutes, "to plan", 1, extra=extra)


@pytest.mark.parametrize(("minutes", "stars"), [(1, 1), (10, 1), (11, 2), (18, 2), (19, 3)])
def test_stars_agree_with_minutes(minutes, stars):
    assert workload.stars(made("a", minutes)) == stars


def test_core_takes_at_most_four_hours():
    """The longest tasks are left out."""
    assert workload.CORE == 4 * 60
    tasks = [made("a", 100), made("b", 90, extra=True), made("c", 100), made("d", 60)]
    assert [task.name for task in workload.core(tasks)] == ["a", "d"]
    assert workload.core(tasks[::3]) == tasks[::3]


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(40, "40 min"), (58, "1 h"), (60, "1 h"), (190, "3 h 10 min"), (219, "3 h 40 min")],
)
def test_times_are_said_as_people_do(minutes, said):
    assert workload.hours(minutes) == said


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_sheet_states_core_hours_and_extra_tasks(path):
    cells = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown"]
    tasks = of_lecture(int(path.name[:2]))
    core = workload.core(tasks)
    assert workload.minutes(core) <= workload.CORE or tasks == core == of_lecture(PROJECT)
    assert f"about {workload.hours(workload.minutes(core))}" in cells[0]
    assert ("marked *extra*" in cells[0]) == (len(core) < len(tasks))
    for cell in cells:
        for name in MARK.findall(cell):
            task = all_tasks()[name]
            points, stars, minutes, kind, extra = LINE.search(cell).groups()
            assert (int(points), int(minutes), kind) == (task.points, task.minutes, task.kind)
            assert stars.count("★") == workload.stars(task)
            assert bool(extra) == (task not in core)


def test_a_sheet_that_is_too_long_marks_what_is_extra(monkeypatch):
    [path] = (ROOT / "solutions").glob("04_*")
    tasks = of_lecture(4)
    longest = max(reversed(tasks), key=lambda task: task.minutes)
    monkeypatch.setattr(workload, "CORE", workload.minutes(tasks) - 1)
    solution = with_task_lines(nbformat.read(path, as_version=4))
    marked = [c.source for c in solution.cells if "· extra*" in c.source]
    assert len(marked) == 1 and f"<!-- task: {longest.name} -->" in marked[0]
    assert f"The core, {len(tasks) - 1} tasks worth" in solution.cells[0].source
