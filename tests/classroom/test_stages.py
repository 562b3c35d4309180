"""The parts of the grader's stages, one by one; `test_class.py` grades a whole class with them."""

import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from classroom import tables
from classroom.gradebook import mark
from classroom.gradebook.grades import Grade, SheetGrade
from classroom.gradebook.store import Correction, Previous, Result, Store
from classroom.intake import handed_times, intake
from classroom.intake.files import Handed
from classroom.intake.owners import Owner, owner_of
from classroom.intake.roster import Class, Student
from classroom.intake.select import Listed, ReviewItem, select
from classroom.lms import canvas, gradescope, moodle
from classroom.options import Options
from classroom.policy import Policy, SheetRules
from classroom.policy_file import PolicyError, Table
from classroom.reports import results
from classroom.run import Run
from classroom.states import By, State
from grading.task import Tasks, all_tasks

COURSE = Tasks.of({n: task for n, task in all_tasks().items() if task.lecture in (2, 5)})
ADA = Student("ada", "Ada", also=frozenset({"moodle 501", "canvas 17"}))


def listed(name="ada/a.ipynb", **more):
    return Listed(Handed(Path(name), name, owner_of(name), 0.0), ADA, lecture=2, **more)


def sheet_of(points=3.0, **more):
    grade = Grade("essay", points, 4.0, By.GRADER, Result("essay", points, 4.0, "No."))
    return SheetGrade(ADA, 2, listed(), grades=[grade], **more)


def test_run_names_its_sheets_and_own_tasks(tmp_path):
    own = {"mine": replace(COURSE["stable_softmax"], name="mine", lecture=7)}
    tasks = COURSE | own
    run = Run(tmp_path, tmp_path, Options(), Policy(), COURSE, tasks, None, 1)
    assert run.lectures == run.sheets == [2, 5, 7]
    assert run.own_tasks == {"mine"}
    assert replace(run, options=Options(lecture=5)).sheets == [5]


def test_version_depends_on_points_and_own_files(tmp_path):
    before = intake.version(COURSE, 2)
    fewer = COURSE | {"stable_softmax": replace(COURSE["stable_softmax"], points=1)}
    assert intake.version(COURSE, 2) == before != intake.version(fewer, 2)
    assert intake.version(fewer, 5) == intake.version(COURSE, 5)
    (tmp_path / "cases.py").write_text("one = 1")
    first = intake.version(COURSE, 2, tmp_path)
    (tmp_path / "cases.py").write_text("one = 2")
    assert before != first != intake.version(COURSE, 2, tmp_path)


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("grading/check.py", True),
        ("grading/feedback/partial_credit.py", True),
        ("grading/runner/compare.py", True),
        ("grading/tasks/lecture_02/stable_softmax.py", True),
        ("grading/tasks/lecture_03/Head.py", False),
        ("classroom/gradebook/store.py", True),
        ("helpers/masks.py", True),
        ("classroom/benchmark/run.py", False),
    ],
)
def test_version_follows_the_code_that_grades(tmp_path, monkeypatch, file, changes):
    monkeypatch.setattr(intake, "ROOT", tmp_path)
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("1\n")
    before = intake.version(COURSE, 2)
    path.write_text("2\n")
    assert (intake.version(COURSE, 2) != before) == changes


@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_version_follows_the_libraries(monkeypatch, library):
    before, installed = intake.version(COURSE, 2), intake.metadata.version
    other = {library: "0.0"}
    monkeypatch.setattr(intake.metadata, "version", lambda name: other.get(name) or installed(name))
    assert intake.version(COURSE, 2) != before


def test_intake_accepts_files_that_count():
    rows = [listed(), listed("b.ipynb"), listed("c.ipynb")]
    rows[1].supersede("not counted: the same as a.ipynb")
    rows[2].reject(State.REFUSED, "The file is empty.")
    assert intake.Intake(rows, [], Class()).accepted == rows[:1]
    assert [row.refused for row in rows] == [False, False, True]


@pytest.mark.parametrize("other_format", [True, False])
def test_what_a_file_is_hangs_on_no_wording(other_format):
    """A file of another format that nobody is known for is nobody's; any other is a student's."""
    handed = Handed(Path("bob.py"), "bob.py", Owner("", "bob"), 0.0, (), "Unwanted.", other_format)
    [row], [item] = select([handed], COURSE, 2, {2: ""}, Class(), {})
    assert (row.student is None) == other_format and row.status == "Unwanted."
    assert item.what == ("nobody's file: Unwanted." if other_format else "not graded: Unwanted.")


def test_times_of_a_table_need_a_date(tmp_path):
    table, members = tmp_path / "times.csv", Class({"ada": ADA}, closed=True)
    table.write_text("id,handed\nada,2026-11-02T23:59\n")
    policy = Policy(times=table, zone=UTC)
    wanted = {"ada": datetime(2026, 11, 2, 23, 59, tzinfo=UTC)}
    assert handed_times.table_times(policy, members) == wanted
    table.write_text("id,handed\nada,yesterday\n")
    with pytest.raises(ValueError, match=r"times\.csv, line 2: 'yesterday' is no time"):
        handed_times.table_times(policy, members)


def test_times_of_exported_files_are_refused(tmp_path):
    row = listed("Ada_501_assignsubmission_file_a.ipynb")
    due = {2: SheetRules(due=datetime(2026, 11, 2, tzinfo=UTC))}
    store = Store(tmp_path / "grades.sqlite")
    with pytest.raises(ValueError, match="the time of the download"):
        policy = Policy(sheets=due, times="files")
        handed_times.set_times([row], Class(), policy, store, ())
    handed_times.set_times([row], Class(), Policy(sheets=due), store, ())
    assert row.when is None, "nobody knows when an exported file was handed in"
    store.close()


def test_written_answers_wait_until_marked(tmp_path):
    sheet = sheet_of(0.0)
    [grade] = sheet.grades
    grade.result.review, grade.result.answer, grade.by = True, "It attends.", By.WAITING
    path = tmp_path / "written.csv"
    assert mark.write_written(path, [sheet], Policy()) == 1
    [row] = tables.read(path)[1]
    assert (row["points"], row["possible"], row["answer"]) == ("", "4", "It attends.")
    grade.correction = Correction("ada", "essay", 3.0, "Good.", "Bea")
    grade.points, grade.by = 3.0, By.PERSON
    assert mark.write_written(path, [sheet], Policy()) == 0
    [row] = tables.read(path)[1]
    assert (row["points"], row["comment"]) == ("3", "Good.")


def test_database_holds_states_and_refuses_other_words(tmp_path):
    failed = listed()
    failed.fail(KeyError("head"))
    marked = sheet_of()
    marked.grades[0].correction = Correction("ada", "essay", 3.0, author="waiting")
    marked.grades[0].by = By.PERSON  # whose name is no state
    sheets = [SheetGrade(ADA, 1), marked, SheetGrade(ADA, 3, failed)]
    assert [sheet.state for sheet in sheets] == [State.MISSING, State.COUNTS, State.GRADER_FAILED]
    assert not marked.waiting
    store = Store(tmp_path / "grades.sqlite")
    store.publish([ADA], sheets)
    found = store.base.execute("SELECT lecture, state FROM sheet ORDER BY lecture").fetchall()
    assert found == [(1, "missing"), (2, "counts"), (3, "grader failed")]
    assert store.base.execute("SELECT by, author FROM grade").fetchall() == [("person", "waiting")]
    for table, column in (("sheet", "state"), ("grade", "by")):
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            store.base.execute(f"UPDATE {table} SET {column} = 'ok'")
    store.close()


def test_items_are_open_until_seen(tmp_path):
    items = [ReviewItem("is odd", 2, ADA, "a.ipynb"), ReviewItem("nobody's", 2, file="b.ipynb")]
    everything = mark.write_items(tmp_path / "look.csv", items, {})
    assert everything == {item.id for item in items}
    seen = {items[0].id: "yes"}
    assert mark.write_items(tmp_path / "look.csv", items, seen) == {items[1].id}
    assert [row["seen"] for row in tables.read(tmp_path / "look.csv")[1]] == ["", "yes"]


def test_moodle_worksheet_is_filled():
    assert moodle.is_worksheet(["Identifier", "Grade"]) and not moodle.is_worksheet(["ID"])
    assert moodle.maximum({"Maximum Grade": "4"}) == moodle.maximum({"Maximum grade": "4"}) == "4"
    rows = [{"Identifier": "Participant 501"}, {"Identifier": "Participant 9", "Full name": "Bob"}]
    sheet = sheet_of(graded=object())
    others = moodle.fill(rows, {"moodle 501": sheet}, lambda sheet, most: f"{sheet.points:g}")
    assert (rows[0]["Grade"], others) == ("3", ["Bob"])
    path = moodle.feedback_path("A_da/B", "501", "f.html")
    assert path == "A da B_501_assignfeedback_file_/f.html"


def test_canvas_gradebook_is_filled(tmp_path):
    assert canvas.is_gradebook(["Student", "ID"]) and not canvas.is_gradebook(["Identifier"])
    columns = ["Student", "ID", "Sheet 2 (77)", "Sheet 22 (78)"]
    assert canvas.column_named(tmp_path, columns, "Sheet 2") == "Sheet 2 (77)"
    with pytest.raises(ValueError, match="fits 2 columns"):
        canvas.column_named(tmp_path, columns, "Sheet")
    rows = [
        {"Student": "    Points Possible", "ID": "", "Sheet 2 (77)": "8"},
        {"Student": "Ada", "ID": "17", "Sheet 2 (77)": ""},
    ]
    sheets = {"canvas 17": sheet_of(graded=object())}
    others = canvas.fill(rows, sheets, lambda sheet, most: f"{most}:{sheet.points:g}", columns[2])
    assert (rows[1]["Sheet 2 (77)"], others) == ("8:3", ["Points Possible"])
    assert canvas.feedback_path("ada_17_1234_sheet.ipynb") == "ada_17_1234_sheet.html"


def test_gradescope_is_told_why_nothing_was_graded(tmp_path):
    path = tmp_path / "results.json"
    gradescope.write(path, [SheetGrade(ADA, 2, listed(status="The file is empty."))], {}, Policy())
    assert json.loads(path.read_text())["output"] == "The file is empty."
    gradescope.write(path, [SheetGrade(ADA, 2)], {}, Policy(visibility="hidden"))
    document = json.loads(path.read_text())
    assert (document["score"], document["visibility"]) == (0, "hidden")
    assert document["output"] == "submitted nothing that is a notebook (.ipynb)"


def test_policy_tables_refuse_unknown_keys_and_values():
    table = Table(Path("class.toml"), "late", {"days": -1, "dyas": 2})
    with pytest.raises(PolicyError, match=r"late\.days is -1; wanted: a number"):
        table.number("days", 0)
    with pytest.raises(PolicyError, match="has no key 'dyas'; 'days' was probably meant"):
        table.done({"late": table.asked})


def test_changed_lists_other_points_than_before(tmp_path):
    path, sheet = tmp_path / "changed.csv", sheet_of()
    before = {("ada", 2): Previous(2.0, 0, sheet.file, {"essay": 2.0}, 4.0)}
    assert results.write_changed(path, [sheet], before) == 1
    [row] = tables.read(path)[1]
    assert (row["before"], row["now"], row["what changed"]) == ("2", "3", "essay: 2 → 3")
    before = {("ada", 2): Previous(3.0, 0, sheet.file, {"essay": 3.0}, 4.0)}
    assert results.write_changed(path, [sheet], before) == 0 and not path.exists()
