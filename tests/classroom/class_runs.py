"""What tests of the class grader share: how they grade a class and read its tables and pages."""

from classroom import tables
from classroom.options import Options
from classroom.pipeline import grade_class
from classroom.policy import read_policy
from grading.task import all_tasks
from tests.classroom import fake_class
from tests.classroom.fake_class import RIGHT, SHEET, run_here
from tests.conftest import ROOT
from tests.grading.sample_tasks import TASKS

GRADED = {name: TASKS[name] for name in RIGHT} | {
    name: task for name, task in all_tasks().items() if task.lecture == 5
}

FORMS = {
    "moodle": fake_class.moodle,
    "blind": lambda folder, members: fake_class.moodle(folder, members, blind=True),
    "canvas": fake_class.canvas,
    "folder": fake_class.plain,
}

IDS = {
    "moodle": lambda one: one.email,
    "blind": lambda one: f"Participant {one.number}",
    "canvas": lambda one: f"u{one.number}",
    "folder": lambda one: f"u{one.number}",
}


def pages_about_grading():
    """The pages for a lecturer who grades, one after the other."""
    pages = sorted((ROOT / "pages").glob("grading*.md"))
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def rows_of(path):
    """A table that the grader wrote."""
    return tables.read(path)[1]


def graded(folder, out, **more):
    """Grade with made-up submissions run in this process."""
    # The maximum in the made-up tables is not that of the sample tasks.
    asked = {"lecture": SHEET, "seed": 7, "scale": True} | more.pop("told", {})
    more = {"tasks": GRADED, "examiner": run_here} | more
    return grade_class(folder, out, Options(**asked), **more)


TEXTS = GRADED | {"essay": TASKS["essay"]}


def again(small, **told):
    folder, out = small
    told = {"rosters": (folder.parent / "class.csv",), **told}
    return graded(folder, out, tasks=TEXTS, told=told)


def fill(path, change):
    """Change a table as a person would."""
    columns, rows = tables.read(path)
    for row in rows:
        change(row)
    tables.write(path, columns, ([row[name] for name in columns] for row in rows))


def points_of(out):
    return {row["id"]: float(row["points"]) for row in rows_of(out / "grades.csv")}


def policy_of(tmp_path, text):
    path = tmp_path / "class.toml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path)
