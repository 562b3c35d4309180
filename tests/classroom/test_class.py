"""A class of 120 in every form of export: each student's points, and nobody missing or merged."""

import csv
import html
import io
import json
import random
import re
import sqlite3
import subprocess
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from classroom import tables
from classroom.execute import case_seed
from classroom.gradebook.store import Correction, Store
from classroom.intake.owners import owner_of, settled
from classroom.lms import exports
from classroom.options import Options, Summary
from classroom.pipeline import grade_class
from classroom.policy import read_policy
from classroom.sheets import items_of, plain_words, sheets
from grading.task import all_tasks
from tests.classroom import fake_class
from tests.classroom.fake_class import FULL, LATER, RIGHT, SHEET, Made, put, run_here, sheet
from tests.conftest import ROOT
from tests.grading.sample_tasks import TASKS, notebook
from tools import autograder

pytestmark = pytest.mark.grader

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
LECTURES = sorted((ROOT / "lectures").glob("*.ipynb"))


def pages_about_grading():
    """The pages for a lecturer who grades, one after the other."""
    pages = sorted((ROOT / "pages").glob("grading*.md"))
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def rows_of(path):
    """A table that the grader wrote."""
    return tables.read(path)[1]


def graded(folder, out, **more):
    """Grade with made-up submissions run in this process."""
    asked = {"lecture": SHEET, "seed": 7} | more.pop("told", {})
    more = {"tasks": GRADED, "examiner": run_here} | more
    return grade_class(folder, out, Options(**asked), **more)


@pytest.fixture(scope="module", params=FORMS)
def whole(request, tmp_path_factory):
    """The class in one form of export, graded by its roster."""
    top = tmp_path_factory.mktemp(request.param)
    members = fake_class.students()
    table = FORMS[request.param](top / "in", members)
    done = graded(top / "in", top / "out", told={"rosters": (table,)})
    return request.param, members, top, done


def test_everybody_has_the_points_that_are_theirs(whole):
    form, members, top, done = whole
    rows = {row["id"]: row for row in rows_of(top / "out" / "grades.csv")}
    assert len(rows) == len(members) == 120
    assert done.failures == 0
    for one in members:
        row = rows[IDS[form](one)]
        assert float(row["points"]) == one.points, (one, row)
        empty = form == "folder" and not one.files
        assert ("The folder is empty" if empty else one.status) in row["status"], (one, row)
        if form == "moodle":
            assert row["name"] == one.name


def test_what_a_person_should_see_is_listed(whole):
    form, members, top, _ = whole
    looks = {}
    for row in rows_of(top / "out" / "look.csv"):
        looks.setdefault(row["id"], []).append(row["what"])
    for one in members:
        if form == "canvas" and one.look == "same time":
            continue  # there, the upload has a number
        said = " ".join(looks.get(IDS[form](one), []))
        assert one.look in said, (one, said)
    everybody = {IDS[form](one) for one in members}
    assert set(looks) <= everybody, "something was given to nobody"


def test_every_file_is_listed_with_its_student(whole):
    form, members, top, _ = whole
    found = {}
    for row in rows_of(top / "out" / "files.csv"):
        found.setdefault(row["id"], []).append(row)
    for one in members:
        assert len(found.get(IDS[form](one), [])) >= len(one.files), one


def test_final_grades_fill_the_lms_table(whole):
    """Before that there is no file to upload."""
    form, members, top, _ = whole
    out = top / "out"
    assert not (out / "upload.csv").exists() and not (out / "feedback.zip").exists()
    looks = rows_of(out / "look.csv")
    seen = ([*(row | {"seen": "yes"}).values()] for row in looks)
    tables.write(out / "look.csv", list(looks[0]), seen)
    table = next((top / n for n in ("worksheet.csv", "gradebook.csv") if (top / n).exists()), None)
    roster = table or top / "class.csv"
    told = {"rosters": (roster,), "table": table, "column": "Sheet 2", "scale": True}
    done = graded(top / "in", out, told=told)
    assert (done.open_items, done.waiting) == (0, 0)
    assert {row["final"] for row in rows_of(out / "grades.csv")} == {"yes"}
    names = zipfile.ZipFile(out / "feedback.zip").namelist()
    assert len(names) == len(set(names))
    if table is None:
        return
    columns, before = tables.read(table, exact=True)
    after_columns, after = tables.read(out / "upload.csv", exact=True)
    assert f"{len(members)} of {len(before)} rows" in done.filled
    assert after_columns == columns and len(after) == len(before)
    column = "Grade" if form in ("moodle", "blind") else "Sheet 2 (77)"
    for old, new in zip(before, after, strict=True):  # but for the grade, as it came
        assert {**old, column: ""} == {**new, column: ""}
    by_number = {str(one.number): one for one in members}
    for row in after:
        number = row.get("ID") or row.get("Identifier", "").removeprefix("Participant ")
        one = by_number.get(number)
        if one and one.status == "ok":
            assert float(row[column]) == pytest.approx(one.points * 98 / 14, abs=0.01)
        elif one and row[column]:
            assert float(row[column]) == 0
    by_form = {"moodle": "_assignfeedback_file_/", "blind": "_assignfeedback_file_/"}
    for name in names:
        if form in by_form:  # as Moodle reads it: the name, the number, the kind and the plugin
            _, number, kind, plugin, *_ = name.split("/")[0].split("_", 4)
            assert (number in by_number, kind, plugin) == (True, "assignfeedback", "file")
        else:  # as Canvas reads it: the first two numbers are the student and the upload
            number, upload = [part for part in name.split("_") if part.isdigit()][:2]
            assert number in by_number and int(upload) >= 9000


def test_blind_class_keeps_points_once_names_are_known(whole):
    """Nothing is to be reviewed a second time."""
    form, members, top, _ = whole
    if form != "blind":
        return
    out, before = top / "out", points_of(top / "out")
    table = fake_class.moodle(top / "again" / "in", members)
    done = graded(top / "again" / "in", out, told={"rosters": (table,), "scale": True})
    assert (done.failures, done.open_items, done.renamed) == (0, 0, 120)
    found = points_of(out)
    assert found == {one.email: before[f"Participant {one.number}"] for one in members}
    assert found == {one.email: one.points for one in members}


# ------------------------------------------------------------------ what persons enter


@pytest.fixture
def small(tmp_path):
    """Three students with a text to be read, and the folder of results."""
    folder = tmp_path / "in"
    for name in ("ada", "bob", "cem"):
        answers = RIGHT | {"essay": f"essay = 'By {name}.'"}
        put(folder / name / "02_sheet.ipynb", sheet(answers), LATER)
    (tmp_path / "class.csv").write_text(
        "id,name,email\nada,Ada,a@x\nbob,Bob,b@x\ncem,Cem,c@x\ndan,Dan,d@x\n", encoding="utf-8"
    )
    return folder, tmp_path / "out"


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


def test_changed_csv_lists_changed_points_and_why(small):
    folder, out = small
    assert again(small).changed == 0 and not (out / "changed.csv").exists()
    fill(out / "written.csv", lambda row: row.update(points="2" if row["id"] == "bob" else ""))
    answers = fake_class.HALF | {"essay": "essay = 'By ada.'"}
    put(folder / "ada" / "x.ipynb", sheet(answers), LATER + 9)
    assert again(small).changed == 2
    found = {row["id"]: row for row in rows_of(out / "changed.csv")}
    assert found.keys() == {"ada", "bob"}
    assert found["bob"]["what changed"] == "essay: 0 → 2"
    assert (found["ada"]["before"], found["ada"]["now"]) == (f"{FULL:g}", "10")
    assert "query_context: 4 → 0" in found["ada"]["what changed"]
    assert "file: ada/02_sheet.ipynb → ada/x.ipynb" in found["ada"]["what changed"]
    assert again(small).changed == 0 and not (out / "changed.csv").exists()
    left_out = policy_of(folder.parent, "[sheets.2]\nexcluded = ['essay']")
    told = {"rosters": (folder.parent / "class.csv",)}
    graded(folder, out, tasks=TEXTS, policy=left_out, told=told)
    [row] = rows_of(out / "changed.csv")
    assert (row["id"], row["what changed"]) == ("bob", "essay: 2 → not graded")


def test_who_had_a_file_and_has_no_row_now_is_counted(small):
    folder, _ = small
    assert again(small).lost == 0
    whole = (folder.parent / "class.csv").read_text(encoding="utf-8")
    (folder.parent / "class.csv").write_text("id,name,email\nada,Ada,a@x\n", encoding="utf-8")
    assert again(small).lost == 2  # Bob and Cem; of Dan there was nothing
    (folder.parent / "class.csv").write_text(whole, encoding="utf-8")
    assert again(small).lost == 0


def test_simultaneous_files_say_which_has_more_answers(tmp_path):
    put(tmp_path / "in" / "ada" / "x.ipynb", sheet(RIGHT), LATER)
    put(tmp_path / "in" / "ada" / "x-1.ipynb", sheet(RIGHT | {"stable_softmax": "pass"}), LATER)
    put(tmp_path / "in" / "bob" / "x.ipynb", sheet(fake_class.STUB), LATER)
    (tmp_path / "class.csv").write_text("id,name,email\nada,Ada,a@x\nbob,Bob,b@x\n")
    graded(tmp_path / "in", tmp_path / "out", told={"rosters": (tmp_path / "class.csv",)})
    [row] = [r for r in rows_of(tmp_path / "out" / "look.csv") if "same time" in r["what"]]
    assert row["what"].endswith("which counts, and holds more answers")
    said = {row["file"]: row["status"] for row in rows_of(tmp_path / "out" / "files.csv")}
    told = "not counted: ada/x-1.ipynb, handed in at the same time, counts"
    assert said["ada/x.ipynb"] == told
    flags = {row["id"]: row["flags"] for row in rows_of(tmp_path / "out" / "grades.csv")}
    assert sorted(flags.values()) == ["", "no task is answered"]


def test_points_for_a_removed_answer_are_reviewed(small):
    folder, out = small
    again(small)
    again(small, correct=(("ada", "stable_softmax", "3", ""),))
    put(folder / "ada" / "x.ipynb", sheet({"query_context": RIGHT["query_context"]}), LATER + 9)
    again(small)
    said = [row["what"] for row in rows_of(out / "look.csv") if row["id"] == "ada"]
    assert "stable_softmax: no answer is there now, and 3 points were given" in said


@pytest.mark.parametrize("form", ["moodle", "canvas"])
def test_later_download_regrades_only_changes(tmp_path, form):
    members = fake_class.students(60)[50:]
    FORMS[form](tmp_path / "in", members)
    seen = []

    def watched(cells, tasks, slot):
        seen.append(cells)
        return run_here(cells, tasks, slot)

    for name in ("week2.zip", "week2-later.zip"):
        if form == "canvas":
            (tmp_path / name).write_bytes((tmp_path / "in" / "submissions.zip").read_bytes())
        else:
            with zipfile.ZipFile(tmp_path / name, "w") as archive:
                for path in sorted((tmp_path / "in").rglob("*.ipynb")):
                    archive.write(path, path.relative_to(tmp_path / "in"))
        done = graded(tmp_path / name, tmp_path / "out", examiner=watched)
        empty = sum(one.points == 0 for one in members)
        assert len(seen) == 10 and done.counts["graded"] == 10 - empty > 0
        assert done.counts["graded, and no task is answered"] == empty > 0
    assert len(points_of(tmp_path / "out")) == 10


def test_marks_in_written_csv_survive_later_runs(small):
    folder, out = small
    assert again(small).waiting == 3

    def mark(row):
        if row["id"] == "ada":
            row.update(points="2,5", comment="Rows, not columns.", author="Prof")

    fill(out / "written.csv", mark)
    for _ in range(3):
        assert again(small).waiting == 2
        row = next(r for r in rows_of(out / "written.csv") if r["id"] == "ada")
        assert (row["points"], row["comment"]) == ("2.5", "Rows, not columns.")
        assert points_of(out)["ada"] == FULL + 2.5
    # another text is another answer: it waits again, and the old points are still told
    put(folder / "ada" / "02_sheet.ipynb", sheet(RIGHT | {"essay": "essay = 'New.'"}), LATER + 9)
    assert again(small).waiting == 3
    row = next(r for r in rows_of(out / "written.csv") if r["id"] == "ada")
    assert row["points"] == "" and "2.5 for an earlier answer" in row["earlier"]
    assert points_of(out)["ada"] == FULL


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_points_are_read_in_any_csv_dialect(small, mark, encoding):
    folder, out = small
    again(small)
    lines = [["id", "task", "points", "comment"], ["bob", "essay", "1.5", "Schön"]]
    text = "\n".join(mark.join(line) for line in lines)
    (folder.parent / "p.csv").write_text(text, encoding=encoding)
    again(small, points=(folder.parent / "p.csv",), author="Prof")
    row = next(r for r in rows_of(out / "written.csv") if r["id"] == "bob")
    assert (row["points"], row["comment"], row["author"]) == ("1.5", "Schön", "Prof")


def test_ids_turned_into_numbers_lose_no_points(tmp_path):
    """A spreadsheet makes 123 of 00123."""
    put(tmp_path / "in" / "00123.ipynb", sheet(RIGHT | {"essay": "essay = 'Because.'"}), LATER)
    graded(tmp_path / "in", tmp_path / "out", tasks=TEXTS)
    fill(tmp_path / "out" / "written.csv", lambda row: row.update(id="123", points="3"))
    for row in rows_of(tmp_path / "out" / "written.csv"):
        assert row["answer id"].startswith("a")
    graded(tmp_path / "in", tmp_path / "out", tasks=TEXTS)
    assert points_of(tmp_path / "out") == {"00123": FULL + 3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,task\nada,essay\n", "no column points"),
        ("id,task,points\nada,essay,\n", "no row with points"),
        ("id,task,points\nnobody,essay,1\n", "line 2: no student"),
        ("id,task,points\nada,nothing,1\n", "line 2: no task .*POLICY="),
        ("id,task,points\nada,essay,9\n", "a number from 0 to 3"),
        ("id,task,points\nada,essay,many\n", "a number from 0 to 3"),
    ],
)
def test_invalid_points_table_changes_nothing(small, text, said):
    folder, out = small
    again(small)
    (folder.parent / "p.csv").write_text(text, encoding="utf-8")
    before = (out / "grades.csv").read_bytes()
    with pytest.raises(ValueError, match=said):
        again(small, points=(folder.parent / "p.csv",))
    assert (out / "grades.csv").read_bytes() == before


def test_corrections_survive_later_runs(small):
    folder, out = small
    again(small)
    said = ("bob", "stable_softmax", "7", "Right idea.")
    again(small, correct=(said,), author="Prof")
    assert points_of(out)["bob"] == 4 + 7
    again(small)
    assert points_of(out)["bob"] == 4 + 7
    page = next((out / "feedback").glob("bob-*")).read_text(encoding="utf-8")
    assert "Prof: Right idea." in page
    # the answer changes: the points stay, and a person is told
    other = RIGHT["stable_softmax"] + "\n# nicer"
    put(folder / "bob" / "02_sheet.ipynb", sheet(RIGHT | {"stable_softmax": other}), LATER + 9)
    again(small)
    assert points_of(out)["bob"] == 4 + 7
    assert any("the answer changed since 7" in r["what"] for r in rows_of(out / "look.csv"))
    again(small, correct=(("bob", "stable_softmax", "-", ""),))  # taken back
    assert points_of(out)["bob"] == FULL
    with sqlite3.connect(out / "grades.sqlite") as base:
        kept = base.execute("SELECT points, comment, author FROM correction").fetchall()
    assert kept == [(7.0, "Right idea.", "Prof"), (None, "", "")]


def test_conflicting_marks_are_listed_until_settled(small):
    _, out = small
    again(small)
    given = {"ada": "2", "bob": "1.5", "cem": "3"}
    fill(out / "written.csv", lambda row: row.update(points=given[row["id"]], author="Ada"))
    copy = out.parent / "copy.csv"
    copy.write_text("id,task,points\nada,essay,2\nbob,essay,2.5\ncem,essay,0.5\n")
    assert again(small, points=(copy,), author="Bea").open_items == 2
    with sqlite3.connect(out / "grades.sqlite") as base:
        kept = base.execute("SELECT file FROM decision WHERE what = 'marked twice'").fetchall()
    assert sorted(kept) == [("bob essay",), ("cem essay",)]
    said = "essay: Ada gave 1.5, Bea gave 2.5 points, and the latter count"
    for _ in range(2):  # also in a later run, which does not have the copy
        found = {row["id"]: row["what"] for row in rows_of(out / "look.csv")}
        assert found.keys() == {"bob", "cem"} and found["bob"] == said
        assert points_of(out)["bob"] == FULL + 2.5
        again(small)
    assert again(small, correct=(("bob", "essay", "2", "Talked."),), author="Prof").open_items == 1
    fill(out / "written.csv", lambda row: row.update(points="3"))
    assert again(small).open_items == 0
    assert points_of(out)["cem"] == FULL + 3


def test_points_for_another_sheets_task_are_refused(small):
    again(small)
    with pytest.raises(ValueError, match=r"tree_mask.*sheet 4.*sheet 2"):
        graded(*small, tasks=all_tasks(), told={"correct": (("bob", "tree_mask", "1", ""),)})


def test_who_corrects_has_not_marked_the_texts(small):
    _, out = small
    again(small)
    rows = rows_of(out / "written.csv")
    marked = ([*(row | {"points": "2"}).values()] for row in rows)
    tables.write(out / "written.csv", list(rows[0]), marked)
    again(small, correct=(("bob", "stable_softmax", "7", ""),), author="Prof")
    with sqlite3.connect(out / "grades.sqlite") as base:
        kept = base.execute("SELECT task, author FROM correction").fetchall()
    assert set(kept) == {("essay", ""), ("stable_softmax", "Prof")}


def test_policy_may_name_students_who_left(small, tmp_path):
    """In the rules of another sheet than the one that is graded."""
    text = """
    roster = "class.csv"
    [late]
    times = "files"
    [sheets.%d]
    due = 2030-01-01T12:00:00+01:00
    extensions = { eva = 2030-01-02T12:00:00+01:00 }
    """
    graded(*small, policy=policy_of(tmp_path, text % 3))
    with pytest.raises(ValueError, match="eva"):
        graded(*small, policy=policy_of(tmp_path, text % 2))


def test_a_student_is_named_by_identifier_or_e_mail(small):
    folder, out = small
    put(folder / "Dan.final" / "my sheet.ipynb", sheet(RIGHT), LATER)
    said = ("B@x", "stable_softmax", "7", "")
    again(small, correct=(said,), assign=(("Dan.final/my sheet.ipynb", "d@x"),))
    assert points_of(out)["bob"] == 4 + 7 and points_of(out)["dan"] == FULL
    (folder.parent / "more.csv").write_text("id,task,points\nc@x,stable_softmax,5\n")
    again(small, points=(folder.parent / "more.csv",))
    assert points_of(out)["cem"] == 4 + 5
    with pytest.raises(ValueError, match=r"'nobody@x'; the column id of grades\.csv has them"):
        again(small, correct=(("nobody@x", "stable_softmax", "7", ""),))


def test_the_table_of_another_assignment_is_refused(small):
    folder, out = small
    table = folder.parent / "worksheet.csv"
    columns = "Identifier,Full name,Email address,Grade,Maximum Grade"
    table.write_text(f"{columns}\nParticipant 999,Zoe,z@x,,14\n")
    with pytest.raises(ValueError, match="nobody on it is in the class"):
        graded(folder, out, told={"rosters": (folder.parent / "class.csv",), "table": table})
    assert not (out / "upload.csv").exists()


def test_lecture_is_not_mistaken_for_a_sheet(small):
    folder, out = small
    put(folder / "dan" / "lecture.ipynb", notebook(["x = [split_heads]"]), LATER)
    again(small)
    row = next(r for r in rows_of(out / "files.csv") if r["file"].startswith("dan"))
    assert row["status"] == f"It holds no task of sheet {SHEET}."


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
@pytest.mark.parametrize("gone", ["heading", "badge"])
def test_submitted_lecture_is_reported_as_one(tmp_path, path, gone):
    number, tasks = int(path.name[:2]) or 1, all_tasks()
    book = json.loads(path.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        if cell["cell_type"] == "markdown":
            lines = "".join(cell["source"]).splitlines(keepends=True)
            word = "# " if gone == "heading" else "colab.research"
            cell["source"] = [line for line in lines if word not in line]
    put(tmp_path / "in" / "ada.ipynb", json.dumps(book).encode(), LATER)
    options = Options(lecture=number, seed=7)
    grade_class(tmp_path / "in", tmp_path / "out", options, tasks=tasks, examiner=run_here)
    for table, column in (("files", "status"), ("grades", "status"), ("look", "what")):
        [row] = rows_of(tmp_path / "out" / f"{table}.csv")
        assert row[column].removeprefix("not graded: ") == "It is the lecture, not the sheet."


def test_answers_inside_a_lecture_are_graded(tmp_path):
    book = json.loads((ROOT / "lectures" / f"{sheets()[2].page}.ipynb").read_text(encoding="utf-8"))
    whole = json.loads(sheet(RIGHT))
    answers = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
    book["cells"] = [cell for cell in book["cells"] if cell["cell_type"] == "markdown"] + answers
    put(tmp_path / "in" / "ada.ipynb", json.dumps(book).encode(), LATER)
    graded(tmp_path / "in", tmp_path / "out")
    assert points_of(tmp_path / "out") == {"ada": FULL}


def test_missing_submission_has_a_row_and_takes_points(small):
    _, out = small
    again(small)
    row = next(r for r in rows_of(out / "grades.csv") if r["id"] == "dan")
    assert (row["status"], row["points"]) == ("nothing handed in", "0")
    again(small, correct=(("dan", "essay", "2", "Told me."),))
    assert points_of(out)["dan"] == 2


def test_unowned_file_waits_for_assign(small):
    folder, out = small
    put(folder / "Dan.final" / "my sheet.ipynb", sheet(RIGHT), LATER)
    again(small)
    row = next(r for r in rows_of(out / "files.csv") if r["file"].startswith("Dan.final"))
    assert row["id"] == "" and "nobody" in row["status"]
    assert points_of(out)["dan"] == 0
    again(small, assign=(("Dan.final/my sheet.ipynb", "dan"),))
    assert points_of(out)["dan"] == FULL
    again(small)
    assert points_of(out)["dan"] == FULL
    with pytest.raises(ValueError, match=r"files\.csv"):
        again(small, assign=(("no such file", "dan"),))


def test_a_person_may_choose_the_file_that_counts(small):
    folder, out = small
    put(folder / "ada" / "02_sheet (1).ipynb", sheet(fake_class.HALF), LATER + 9)
    again(small)
    assert points_of(out)["ada"] == fake_class.SOME
    again(small, count=("ada/02_sheet.ipynb",))
    assert points_of(out)["ada"] == FULL


def test_a_person_may_choose_between_two_downloads(tmp_path):
    """Also where both have the same file name, and the last word holds."""
    for name, answers in (("week.zip", fake_class.HALF), ("week (1).zip", RIGHT)):
        inside = "Participant_901_assignsubmission_file/a.ipynb"
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_bytes(fake_class.zipped(**{inside: sheet(answers)}))
    for name, points in (
        ("week.zip", fake_class.SOME),
        ("week (1).zip", FULL),
        ("week.zip", fake_class.SOME),
    ):
        file = f"{name}/Participant_901_assignsubmission_file/a.ipynb"
        for told in ({"count": (file,)}, {}):  # it is kept
            graded(tmp_path / "in", tmp_path / "out", told=told)
            assert [*points_of(tmp_path / "out").values()] == [points]
            [other] = [
                row for row in rows_of(tmp_path / "out" / "files.csv") if row["file"] != file
            ]
            assert other["status"] == f"not counted: a person chose {file}"
        changed = tmp_path / "out" / "changed.csv"
        assert not changed.exists()  # of the second run; a zip's name alone is no change
    graded(tmp_path / "in", tmp_path / "out", told={"count": (file.replace("week", "week (1)"),)})
    [row] = rows_of(changed)
    assert "query_context" in row["what changed"] and "file" not in row["what changed"]


def a_table_of_times(table, *times):
    """Moodle's worksheet with the times of handing in, row by row."""
    columns, rows = tables.read(table, exact=True)
    lines = [[*row.values(), when] for row, when in zip(rows, times, strict=True)]
    tables.write(table, [*columns, "Last modified (submission)"], lines)
    return table


def test_two_downloads_in_a_folder_keep_their_times(tmp_path):
    """Their files have the times of the downloads; what an earlier run knew of a file, holds."""
    members = [fake_class.Made(901, "Ada Byron"), fake_class.Made(902, "Bea Byron")]
    policy = policy_of(
        tmp_path, "[late]\ntimes = 'moodle'\ntime_zone = 'UTC'\n[sheets.2]\ndue = 2026-11-03"
    )
    out = tmp_path / "out"
    for name, day, answers in (("a", "Monday, 2", RIGHT), ("b", "Wednesday, 4", fake_class.HALF)):
        for one in members:
            one.files = {"x.ipynb": (sheet(RIGHT), LATER)}
        members[0].files = {"x.ipynb": (sheet(answers), LATER)}
        table = fake_class.moodle(tmp_path / "both" / name, members)
        when = [f"{day} November 2026, 10:00 AM", "Monday, 2 November 2026, 9:00 AM"]
        table = a_table_of_times(table, *when).rename(tmp_path / f"{name}.csv")
        graded(tmp_path / "both" / name, out, policy=policy, told={"rosters": (table,)})
    graded(tmp_path / "both", out, policy=policy, told={"rosters": (table,)})
    first, second = (f"{n}/Ada Byron_901_assignsubmission_file/x.ipynb" for n in "ab")
    [look] = [row for row in rows_of(out / "look.csv") if row["file"] == first]
    assert look["what"].startswith(f"is of another download than {second}, which counts")
    assert "--count" in look["what"] and "same time" not in look["what"]
    rows = {row["file"]: row for row in rows_of(out / "files.csv")}
    assert rows[first]["status"] == f"not counted: {second} of another download counts"
    assert [rows[name]["handed in"][:10] for name in (first, second)] == [
        "2026-11-02",
        "2026-11-04",
    ]
    # a time that is mended later still holds for what counts, and for what is in both
    fill(
        table,
        lambda row: row.update(
            {"Last modified (submission)": f"{'Friday, 6'} November 2026, 10:00 AM"}
        ),
    )
    graded(tmp_path / "both", out, policy=policy, told={"rosters": (table,)})
    rows = {row["file"]: row["handed in"][:10] for row in rows_of(out / "files.csv")}
    assert rows.pop(first) == "2026-11-02" and set(rows.values()) == {"2026-11-06"}


def test_canvas_column_matches_exactly_or_by_prefix(tmp_path):
    table = tmp_path / "gradebook.csv"
    table.write_text("Student,ID,Sheet 1 (77),Sheet 10 (78),Sheet 20: Masks (79)\nAda,901,,,\n")
    student = SimpleNamespace(also=("canvas 901",))
    one = SimpleNamespace(student=student, lecture=2, points=7.0, possible=9.0, graded=True)
    for said, name in (
        ("Sheet 1", "Sheet 1 (77)"),
        ("Sheet 10", "Sheet 10 (78)"),
        ("Sheet 1 (77)", "Sheet 1 (77)"),
        ("Sheet 2", "Sheet 20: Masks (79)"),
    ):
        [row] = exports.fill([one], table, said, scale=False).rows
        assert {key for key, value in row.items() if value == "7"} == {name}
    for said, what in (("Sheet", "fits 3"), ("Sheet 3", "fits 0"), ("", "no --column is named")):
        with pytest.raises(ValueError, match=rf"{what}.*; one is wanted of: Sheet 1 \(77\)"):
            exports.fill([one], table, said, scale=False)


def test_changed_maximum_is_reported(small, tmp_path, monkeypatch, capsys):
    """It is compared with that of the previous run."""
    from classroom import cli

    folder, out = small
    done = again(small)
    assert list(done.maxima) == []
    policy = policy_of(tmp_path, "[sheets.2]\nexcluded = ['query_context']")
    told = {"rosters": (folder.parent / "class.csv",)}
    done = graded(folder, out, tasks=TEXTS, policy=policy, told=told)
    most = FULL + TASKS["essay"].points
    assert done.maxima == [f"sheet 2 is {most - 4:g}, and was {most:g}"]
    assert list(graded(folder, out, tasks=TEXTS, policy=policy, told=told).maxima) == []
    done = replace(done, own_tasks=["mine"])
    monkeypatch.setattr(cli, "grade_class", lambda *_, **__: done)
    assert cli.main([str(folder), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert f"The maximum of sheet 2 is {most - 4:g}, and was {most:g} in the last run" in printed
    assert "With tasks of your own: mine\n" in printed


TABLES_OF_ANOTHER_MAXIMUM = {
    "moodle": "Identifier,Grade,Maximum Grade\nParticipant 901,,150\n",
    "canvas": "Student,ID,Sheet 2 (77),Sheet 20 (78)\n Points Possible,,150,9\nAda,901,,\n",
}


@pytest.mark.parametrize("form", TABLES_OF_ANOTHER_MAXIMUM)
def test_other_maximum_in_the_table_stops_the_run(form, small, tmp_path):
    """It stops before anything is graded."""
    folder, out = small
    (tmp_path / "table.csv").write_text(TABLES_OF_ANOTHER_MAXIMUM[form])
    told = {"table": tmp_path / "table.csv", "column": "Sheet 2"}
    most = FULL + TASKS["essay"].points
    for text, now in (("", most), ("bonus = ['essay']\npoints = { query_context = 9 }", FULL + 5)):
        policy = policy_of(tmp_path, f"[sheets.2]\n{text}")
        with pytest.raises(ValueError, match=rf"the maximum is 150 there and {now:g} on the sheet"):
            graded(folder, out, tasks=TEXTS, policy=policy, told=told)
        assert not out.exists()
    graded(folder, out, tasks=TEXTS, told=told | {"scale": True})  # and nothing is final yet


def test_unusable_table_stops_the_run(small, tmp_path):
    """It stops before anything is graded."""
    folder, out = small
    (tmp_path / "canvas.csv").write_text(TABLES_OF_ANOTHER_MAXIMUM["canvas"])
    for table, said in (("class", "neither Moodle's worksheet nor"), ("canvas", "'Sheet 4' fits")):
        told = {"table": tmp_path / f"{table}.csv", "column": "Sheet 4", "scale": True}
        with pytest.raises(ValueError, match=said):
            graded(folder, out, tasks=TEXTS, told=told)
        assert not out.exists()


def test_an_extension_on_another_sheet_stops_nothing(small, tmp_path):
    folder, out = small
    told = {"rosters": (tmp_path / "class.csv",)}
    rules = "[late]\ntimes = 'files'\n[sheets.{}]\ndue = 2030-01-01\n"
    rules += "extensions = {{ '7300222' = 2030-02-01 }}"
    graded(folder, out, policy=policy_of(tmp_path, rules.format(5)), told=told)
    with pytest.raises(ValueError, match=r"\[sheets.2\] extensions: got '7300222'"):
        graded(folder, out, policy=policy_of(tmp_path, rules.format(2)), told=told)


@pytest.mark.parametrize("comment", ["$\\sqrt{d_k}$", "is `missing`"])
def test_make_refuses_comments_the_shell_changes(comment):
    options = f'--correct ada essay 2 "{comment}"'
    words = ["make", "-n", "grade", "SUBMISSIONS=x", f"OPTIONS={options}"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode and "put such a comment into a table" in done.stderr
    words[-1] = 'OPTIONS=--correct ada essay 2 "see #3 & 5%"'
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and '"see #3 & 5%"' in done.stdout


def test_scaled_points_have_two_decimals(tmp_path):
    table = tmp_path / "worksheet.csv"
    table.write_text("Identifier,Grade,Maximum Grade\nParticipant 901,,150\n")
    student = SimpleNamespace(also=("moodle 901",))
    one = SimpleNamespace(student=student, lecture=2, points=70.0, possible=97.0, graded=True)
    [row] = exports.fill([one], table, "", scale=True).rows
    assert row["Grade"] == "108.25"
    table.write_text("Identifier,Grade,Maximum grade\nParticipant 901,,150\n")
    with pytest.raises(ValueError, match="the maximum is 150 there"):
        exports.fill([one], table, "", scale=False)


def test_agreeing_marker_keeps_the_comment():
    from classroom.gradebook.decisions import is_new

    first = Correction("ada", "essay", 2.0, "Well put.", "Grace", "", "a")
    held = {("ada", "essay"): first}
    assert not is_new(replace(first, comment="", author="Alan"), held)
    assert is_new(replace(first, comment=""), held)  # who gave it may take it back
    assert is_new(replace(first, author="Alan"), held)
    assert is_new(replace(first, comment="", author="Alan", points=1.0), held)
    assert is_new(replace(first, comment="", author="Alan", answer="b"), held)


def test_own_tasks_are_numbered_after_the_sheet():
    known = sheets()[2].items
    some = {name: SimpleNamespace(lecture=2) for name in (known[0].task, "mine")}
    assert [item.number for item in items_of(2, some)] == [1, max(i.number for i in known) + 1]


def test_a_sum_over_the_database_counts_nothing_twice(small):
    folder, out = small
    again(small)
    put(folder / "ada" / "02_sheet.ipynb", sheet(RIGHT, "# again"), LATER + 9)
    again(small)
    with sqlite3.connect(out / "grades.sqlite") as base:
        sums = dict(base.execute("SELECT student, sum(points) FROM grade GROUP BY student"))
        counting = base.execute(
            "SELECT sum(r.points) FROM result r JOIN submission s USING (key) WHERE s.counts "
            "AND s.student = 'ada'"
        ).fetchone()
        every = base.execute("SELECT count(*) FROM submission WHERE student = 'ada'").fetchone()
    assert (sums["ada"], counting, every) == (FULL, (FULL,), (2,))
    (folder / "ada" / "02_sheet.ipynb").unlink()  # what is no longer there no longer counts
    again(small)
    with sqlite3.connect(out / "grades.sqlite") as base:
        query = "SELECT count(*) FROM submission WHERE student = 'ada' AND counts"
        assert base.execute(query).fetchone() == (0,)
        query = "SELECT points FROM sheet WHERE student = 'ada'"
        assert base.execute(query).fetchone() == (0,)


def test_macos_zip_keeps_its_owner_without_a_roster(tmp_path):
    put(tmp_path / "in" / "eve.zip", fake_class.mac_zip(sheet(RIGHT)), LATER)
    put(tmp_path / "in" / "bob.zip", fake_class.mac_zip(sheet(fake_class.HALF)), LATER)
    graded(tmp_path / "in", tmp_path / "out")
    assert points_of(tmp_path / "out") == {"eve": FULL, "bob": fake_class.SOME}
    assert len(rows_of(tmp_path / "out" / "files.csv")) == 2


def nested(data, *names):
    """The first name is the file's, each further one that of a zip around it."""
    for before in names[:-1]:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(before, data)
            archive.writestr(f"__MACOSX/._{before}", b"\0")
        data = made.getvalue()
    return data


@pytest.mark.parametrize("form", [*FORMS, "one zip", "no roster"])
def test_nested_zip_is_opened(tmp_path, form):
    """In every export, from a folder or a zip; the same names inside make nobody another."""
    members = [fake_class.Made(n, "Same Name") for n in (901, 902, 903)]
    for one, answers in zip(members, (RIGHT, fake_class.HALF, fake_class.STUB), strict=True):
        data = nested(sheet(answers), "02_a.ipynb", "sheet.zip", "more.zip", "work.zip")
        one.files, one.points = (
            {"work.zip": (data, LATER)},
            (FULL, fake_class.SOME, 0.0)[one.number - 901],
        )
    kind = {"one zip": "moodle", "no roster": "folder"}.get(form, form)
    told = {"rosters": (FORMS[kind](tmp_path / "in", members),)}
    source, ids = tmp_path / "in", {IDS[kind](one): one.points for one in members}
    if form == "one zip":
        source = tmp_path / "all.zip"
        with zipfile.ZipFile(source, "w") as archive:
            for path in (tmp_path / "in").rglob("*.zip"):
                archive.write(path, path.relative_to(tmp_path / "in"))
    if form == "no roster":
        told, source = {}, tmp_path / "zips"
        for one in members:
            put(source / f"u{one.number}.zip", one.files["work.zip"][0], LATER)
    graded(source, tmp_path / "out", told=told)
    assert points_of(tmp_path / "out") == ids


def test_nested_zip_bomb_is_refused(tmp_path, monkeypatch):
    """The student is told."""
    from classroom.intake import archives

    monkeypatch.setattr(archives, "MOST_ENTRIES", 200)
    monkeypatch.setattr(archives, "MOST_WITHIN", 1_000_000)
    wide = io.BytesIO()
    with zipfile.ZipFile(wide, "w") as archive:
        small = nested(b"{}", *["02_a.ipynb"] * 2)
        for n in range(150):
            archive.writestr(f"{n:03}.zip", small)
    deep = nested(b"x" * 50_000_000, "a.ipynb", *["z.zip"] * 9)
    large = io.BytesIO()
    with zipfile.ZipFile(large, "w") as archive:
        for n in range(9):
            noise = random.Random(n).randbytes(90_000).hex().encode()
            archive.writestr(f"{n}.ipynb", noise)
    bombs = {"wide": wide.getvalue(), "deep": deep, "large": large.getvalue()}
    for name, data in bombs.items():
        put(tmp_path / "in" / f"{name}.zip", nested(data, "b.zip", "c.zip"), LATER)
    put(tmp_path / "in" / "ada.zip", nested(sheet(RIGHT), "02_a.ipynb", "b.zip", "c.zip"), LATER)
    roster = tmp_path / "class.csv"
    roster.write_text("id,name\nada,A\nwide,W\ndeep,D\nlarge,L\n", encoding="utf-8")
    graded(tmp_path / "in", tmp_path / "out", told={"rosters": (roster,)})
    rows = {row["id"]: row for row in rows_of(tmp_path / "out" / "grades.csv")}
    assert {id: float(row["points"]) for id, row in rows.items()} == dict.fromkeys(bombs, 0) | {
        "ada": FULL
    }
    assert "it holds more than 200 files; hand in the notebook itself" in rows["wide"]["status"]
    assert "a zip within 4 others" in rows["deep"]["status"]
    assert "it unpacks to more than 1 MB; hand in the notebook" in rows["large"]["status"]
    assert len(rows_of(tmp_path / "out" / "files.csv")) < 400


def test_without_a_roster_whoever_handed_in_has_a_row(tmp_path):
    put(tmp_path / "in" / "ada.ipynb", b"", LATER)
    put(tmp_path / "in" / "bob.py", b"x = 1", LATER)
    put(tmp_path / "in" / "cem.ipynb", sheet(RIGHT), LATER)
    options = Options(seed=7)
    grade_class(tmp_path / "in", tmp_path / "out", options, tasks=GRADED, examiner=run_here)
    rows = {row["id"]: row for row in rows_of(tmp_path / "out" / "grades.csv")}
    assert (rows["ada"]["points"], rows["ada"]["status"]) == ("0", "The file is empty.")
    assert rows["cem"]["points"] == "14"
    [look] = [r for r in rows_of(tmp_path / "out" / "look.csv") if r["file"] == "bob.py"]
    assert "no notebook (.py)" in look["what"]


def test_wrong_sheet_for_a_whole_class_stops_the_run(tmp_path):
    folder = tmp_path / "in"
    for name in ("ada", "bob"):
        put(folder / f"{name}.ipynb", notebook(fake_class.OTHER_SHEET), LATER)
    with pytest.raises(ValueError, match="2 of 2 notebooks are sheet 5"):
        graded(folder, tmp_path / "out")


def test_without_a_roster_two_of_one_name_are_two(tmp_path):
    folder = tmp_path / "in"
    for number, answers in ((501, RIGHT), (502, fake_class.HALF)):
        place = folder / f"Ada Bea_{number}_assignsubmission_file_"
        put(place / "02_x.ipynb", sheet(answers), LATER)
    for number, answers in ((601, RIGHT), (602, fake_class.HALF)):
        place = folder / f"Participant_{number}_assignsubmission_file"
        put(place / "02_x.ipynb", sheet(answers), LATER)
    graded(folder, tmp_path / "out")
    points = points_of(tmp_path / "out")
    assert points == {"501": 14.0, "502": 10.0, "601": 14.0, "602": 10.0}


# ------------------------------------------------------------------ names that are known later


def test_settled_path_is_independent_of_the_layout():
    ways = (
        "a.zip/Ada_7_{}file/x/y.ipynb",
        "Participant_7_{}file_/x/y.ipynb",
        "Bea_7_{}file_x/y.ipynb",
    )
    assert {settled(way.format("assignsubmission_")) for way in ways} == {
        "7_assignsubmission_file_/x/y.ipynb"
    }
    assert (
        settled("Ada_7_assignsubmission_file_a\nb.ipynb") == "7_assignsubmission_file_/a\nb.ipynb"
    )
    assert settled("ada/x.ipynb") == "ada/x.ipynb"


@pytest.mark.parametrize(("first", "then"), [("_", "/"), ("/", "_"), ("_/", "_"), ("_", "_/")])
def test_other_download_layout_keeps_choices(tmp_path, first, then):
    """Moodle's zip with folders and without, blind and then with names."""
    members = [fake_class.Made(n, f"Same Name{n % 2}") for n in (901, 902, 903)]
    later = {"b.ipynb": (sheet(fake_class.HALF), LATER + 9)}
    stub = {"b.ipynb": (sheet(fake_class.STUB), LATER + 9)}  # to be looked at
    members[0].files = {"a.ipynb": (sheet(RIGHT), LATER)} | later
    members[1].files = {"a.ipynb": (sheet(RIGHT), LATER)} | stub
    members[2].files = {"a.zip": (fake_class.mac_zip(sheet(RIGHT)), LATER)}
    out, file = tmp_path / "out", f"Participant_901_assignsubmission_file{first}a.ipynb"
    table = fake_class.moodle(tmp_path / "blind", members, blind=True, layout=first)
    done = graded(tmp_path / "blind", out, told={"rosters": (table,), "count": (file,)})
    assert done.open_items == 1
    fill(out / "look.csv", lambda row: row.update(seen="E"))
    for folder, blind in (("again", True), ("named", False)):
        table = fake_class.moodle(tmp_path / folder, members, blind=blind, layout=then)
        done = graded(tmp_path / folder, out, told={"rosters": (table,)})
        assert (done.open_items, done.changed) == (0, 0)
        assert set(points_of(out).values()) == {FULL}
        with sqlite3.connect(out / "grades.sqlite") as base:
            assert base.execute("SELECT count(*) FROM submission").fetchone() == (3,)


def a_blind_week(tmp_path, form="moodle"):
    """Four students; what persons gave them while they were numbers; the points they must have."""
    members = [fake_class.Made(n, f"Same Name{n % 2}") for n in (901, 902, 903, 904)]
    for one, answers in zip(members, (RIGHT, fake_class.HALF, RIGHT), strict=False):
        text = {"essay": f"essay = 'By {one.number}.'"}
        one.files = {"a.ipynb": (sheet(answers | text), LATER)}
    members[2].files["b.ipynb"] = (sheet(fake_class.STUB), LATER + 9)  # to be looked at
    members[0].files["b.ipynb"] = (sheet(fake_class.HALF), LATER + 9)  # a person chooses the first
    names = {one.number: f"Participant {one.number}" for one in members}
    place = "Participant_901_assignsubmission_file/a.ipynb"
    rosters = ()
    if form == "canvas":
        fake_class.canvas(tmp_path / "blind", members, anonymous=True)
        names = {one.number: f"anon_{one.number:05}" for one in members}
        place = "submissions.zip/anon_00901_18010_a.ipynb"
    else:
        rosters = (fake_class.moodle(tmp_path / "blind", members, blind=True),)
    told = {"term": tmp_path / "term", "rosters": rosters}
    out = tmp_path / "term" / "sheet-2"
    graded(tmp_path / "blind", out, tasks=TEXTS, told=told | {"count": (place,)})

    def mark(row):
        if row["id"] == names[903]:
            row.update(points="2.5", comment="Rows.", author="Eva")

    fill(out / "written.csv", mark)
    fill(out / "look.csv", lambda row: row.update(seen="E"))
    given = [(names[902], "stable_softmax", "7", "Right idea.")]
    wanted = {901: FULL, 902: 7.0, 903: FULL + 2.5, 904: 0.0}
    if rosters:  # without a roster nobody is known who handed in nothing
        given.append((names[904], "query_context", "3", "Told me."))
        wanted[904] = 3.0
    graded(tmp_path / "blind", out, tasks=TEXTS, told=told | {"correct": tuple(given)})
    graded(tmp_path / "blind", out, tasks=TEXTS, told=told)
    found = points_of(out)
    assert {n: found.get(names[n], 0.0) for n in wanted} == wanted
    return members, out, wanted


def named(tmp_path, members, out, folder, **told):
    return graded(tmp_path / folder, out, tasks=TEXTS, told={"term": tmp_path / "term"} | told)


def everything_is_their_own(tmp_path, out, wanted, id_of):
    """Each student has the points of the participant, once, in every table and in the database."""
    wanted = {id_of(n): points for n, points in wanted.items()}
    assert points_of(out) == wanted
    totals = {row["id"]: float(row["points"]) for row in rows_of(tmp_path / "term" / "totals.csv")}
    assert totals == wanted
    assert not (tmp_path / "term" / "blind.csv").exists()
    with sqlite3.connect(tmp_path / "term" / "grades.sqlite") as base:
        sums = dict(base.execute("SELECT student, sum(points) FROM grade GROUP BY student"))
        counting = base.execute("SELECT count(*) FROM submission WHERE counts").fetchone()
        others = base.execute("SELECT count(*) FROM student").fetchone()
    assert (sums, counting, others) == (wanted, (3,), (len(wanted),))
    row = next(row for row in rows_of(out / "written.csv") if row["id"] == id_of(903))
    assert (row["points"], row["comment"], row["author"]) == ("2.5", "Rows.", "Eva")
    assert all(
        row["seen"] for row in rows_of(out / "look.csv") if "holds no answers" in row["what"]
    )


@pytest.mark.parametrize("folder", ["blind", "named"], ids=["the same files", "a new download"])
def test_blind_marks_follow_their_students(tmp_path, folder):
    members, out, wanted = a_blind_week(tmp_path)
    table = fake_class.moodle(tmp_path / "named", members)  # its worksheet has the same numbers
    for _ in range(2):
        named(tmp_path, members, out, folder, rosters=(table,))
        everything_is_their_own(tmp_path, out, wanted, lambda n: f"s{n}@example.org")
    # a marker's table still says the number
    (tmp_path / "late.csv").write_text("id,task,points\nParticipant 902,essay,1\n")
    named(tmp_path, members, out, folder, rosters=(table,), points=(tmp_path / "late.csv",))
    assert points_of(out)["s902@example.org"] == 8
    with pytest.raises(ValueError, match="no student has the identifier 'u902'"):
        named(tmp_path, members, out, folder, correct=(("u902", "essay", "1", ""),))


def test_waiting_blind_marks_follow_their_students(tmp_path):
    """Marks that were typed in and not yet read."""
    members, out, wanted = a_blind_week(tmp_path)
    fill(out / "written.csv", lambda row: row.update(points=row["points"] or "1"))
    (tmp_path / "saved.csv").write_bytes((out / "written.csv").read_bytes())
    table = fake_class.moodle(tmp_path / "named", members)
    told = {"rosters": (table,)}
    wanted |= {901: wanted[901] + 1, 902: wanted[902] + 1}
    assert named(tmp_path, members, out, "named", **told).waiting == 0
    assert points_of(out) == {f"s{n}@example.org": points for n, points in wanted.items()}
    (out / "written.csv").write_bytes((tmp_path / "saved.csv").read_bytes())  # saved once more
    assert named(tmp_path, members, out, "named", **told).waiting == 0
    assert points_of(out) == {f"s{n}@example.org": points for n, points in wanted.items()}


def class_table(tmp_path, *numbers):
    """A list of the class without Moodle's numbers."""
    lines = ["id,name,email", *(f"u{n},Same Name{n % 2},s{n}@example.org" for n in numbers)]
    (tmp_path / "class.csv").write_text("\n".join(lines), encoding="utf-8")
    return (tmp_path / "class.csv",)


def pairs_table(tmp_path, text):
    (tmp_path / "pairs.csv").write_text(text, encoding="utf-8")
    return (tmp_path / "pairs.csv",)


def test_participants_table_identifies_students(tmp_path):
    members, out, wanted = a_blind_week(tmp_path)
    roster = class_table(tmp_path, *wanted)
    text = "participant,email\n901,s901@example.org\nParticipant 902,S902@example.org\n"
    pairs = pairs_table(tmp_path, text + "903,s903@example.org\n")
    named(tmp_path, members, out, "blind", rosters=roster, participants=pairs)
    # one is nobody's still: in no total, listed, and the others are whole
    assert points_of(out) == {"u901": FULL, "u902": 7, "u903": FULL + 2.5, "u904": 0}
    [row] = rows_of(tmp_path / "term" / "blind.csv")
    assert (row["participant"], row["points"]) == ("Participant 904", "3")
    totals = {row["id"] for row in rows_of(tmp_path / "term" / "totals.csv")}
    assert totals == {"u901", "u902", "u903", "u904"}
    [said] = [row["what"] for row in rows_of(out / "look.csv") if "nobody's" in row["what"]]
    assert said.endswith("Participant 904")
    # what the table said is kept, and the rest comes by another
    pairs = pairs_table(tmp_path, "participant;id\n904;u904\n")
    named(tmp_path, members, out, "blind", rosters=roster, participants=pairs)
    for rosters in (roster, (tmp_path / "worksheet.csv", *roster)):  # that is the blind one
        everything_is_their_own(tmp_path, out, wanted, lambda n: f"u{n}")
        named(tmp_path, members, out, "blind", rosters=rosters)
    everything_is_their_own(tmp_path, out, wanted, lambda n: f"u{n}")


def test_repaired_participants_table_swaps_back(tmp_path):
    members, out, wanted = a_blind_week(tmp_path)
    roster = class_table(tmp_path, *wanted)
    rest = "903,u903\n904,u904\n"
    pairs = pairs_table(tmp_path, "participant,id\n901,u902\n902,u901\n" + rest)
    named(tmp_path, members, out, "blind", rosters=roster, participants=pairs)
    assert points_of(out) == {"u902": FULL, "u901": 7, "u903": FULL + 2.5, "u904": 3}
    pairs = pairs_table(tmp_path, "participant,id\n901,u901\n902,u902\n")
    named(tmp_path, members, out, "blind", rosters=roster, participants=pairs)
    everything_is_their_own(tmp_path, out, wanted, lambda n: f"u{n}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("participant,id\n901,902", "row 2: '902' is nobody on the roster"),
        ("participant,id\nu901,u902", "row 2: a participant's number"),
        ("participant,id\n901,u999", "row 2: 'u999' is nobody on the roster"),
        ("participant,id\n901,u901\n902,u901", "row 3: '902' or 'u901' stands in another row too"),
        ("participant,id\n901,u901\n901,u902", "row 3: '901' or 'u902' stands in another row too"),
        ("participant,id\nAda,u901", "row 2: a participant's number"),
        ("number,id\n901,u901", "wanted are participant, and id or email"),
        ("Identifier,Full name\nParticipant 901,Ada", "Moodle's worksheet with e-mail addresses"),
    ],
)
def test_participants_table_must_not_merge_or_lose(tmp_path, text, said):
    members, out, wanted = a_blind_week(tmp_path)
    before = (out / "grades.csv").read_bytes()
    told = {"rosters": class_table(tmp_path, *wanted), "participants": pairs_table(tmp_path, text)}
    with pytest.raises(ValueError, match=said):
        named(tmp_path, members, out, "blind", **told)
    assert (out / "grades.csv").read_bytes() == before


def test_participants_table_must_match_the_worksheet(tmp_path):
    members, out, _ = a_blind_week(tmp_path)
    table = fake_class.moodle(tmp_path / "named", members)
    pairs = pairs_table(tmp_path, "participant,email\n901,s902@example.org\n")
    with pytest.raises(ValueError, match=r"'moodle 901' is s901@example\.org on the roster"):
        named(tmp_path, members, out, "named", rosters=(table,), participants=pairs)


def test_two_participants_are_never_one_student(tmp_path):
    """Two tables that lead two numbers to one person: nobody gets the other's files or marks."""
    members, out, wanted = a_blind_week(tmp_path)
    table = fake_class.moodle(tmp_path / "named", members)
    (tmp_path / "wrong.csv").write_text(
        "Identifier,Full name,Email address\nParticipant 903,Same Name1,s902@example.org\n"
    )
    fill(table, lambda row: row.update({"Identifier": row["Identifier"].replace("903", "999")}))
    named(tmp_path, members, out, "blind", rosters=(table, tmp_path / "wrong.csv"))
    points = points_of(out)
    assert (points["s901@example.org"], points["s902@example.org"]) == (wanted[901], 0)
    said = " ".join(row["what"] for row in rows_of(out / "look.csv"))
    assert "the tables make one of 902 and 903" in said
    assert "marks of Participant 902 and of Participant 903 both lead here" in said


def test_a_number_that_is_two_people_is_refused(tmp_path):
    members, out, _ = a_blind_week(tmp_path)
    table = fake_class.moodle(tmp_path / "named", members)
    other = tmp_path / "other.csv"
    other.write_text("Identifier,Full name,Email address\nParticipant 903,Zoe,zoe@example.org\n")
    with pytest.raises(ValueError, match=r"'moodle 903' is s903@example\.org in another table"):
        named(tmp_path, members, out, "named", rosters=(table, other))


def test_id_like_a_participant_number_is_another(tmp_path):
    members, out, _ = a_blind_week(tmp_path)
    (tmp_path / "class.csv").write_text("id,name\n903,Zoe\n17,Yan\n", encoding="utf-8")
    table = fake_class.moodle(tmp_path / "named", members)
    named(tmp_path, members, out, "named", rosters=(tmp_path / "class.csv", table))
    points = points_of(out)
    assert (points["903"], points["s903@example.org"]) == (0, FULL + 2.5)


def test_anonymous_canvas_is_matched_by_upload_ids(tmp_path):
    members, out, wanted = a_blind_week(tmp_path, "canvas")
    assert {row["name"] for row in rows_of(tmp_path / "term" / "totals.csv")} == set()
    assert len(rows_of(tmp_path / "term" / "blind.csv")) == 3
    table = fake_class.canvas(tmp_path / "named", members)
    named(tmp_path, members, out, "named", rosters=(table,))
    everything_is_their_own(tmp_path, out, wanted, lambda n: f"u{n}")


def test_canvas_marks_late_anonymous_files():
    for name, late in (
        ("LATE_anon_x9yz2_880012_a.ipynb", True),
        ("anon_x9yz2_880012_a.ipynb", False),
    ):
        owner = owner_of(name)
        assert (owner.id, owner.name, owner.late, owner.upload) == ("anon_x9yz2", "", late, 880012)


def test_blind_and_named_weeks_share_students(tmp_path):
    members, out, wanted = a_blind_week(tmp_path)
    for one in members:
        one.number += 300  # Moodle numbers everybody anew
        one.files = {"a.ipynb": (notebook(fake_class.OTHER_SHEET), LATER)}
    table = fake_class.moodle(tmp_path / "five", members)
    fill(
        table,
        lambda row: row.update(
            {"Email address": f"s{int(row['Identifier'][-4:]) - 300}@example.org"}
        ),
    )
    options = Options(lecture=5, rosters=(table,), term=tmp_path / "term", seed=7)
    out = tmp_path / "term" / "sheet-5"
    done = grade_class(tmp_path / "five", out, options, tasks=TEXTS, examiner=run_here)
    assert done.blind == 4
    rows = rows_of(tmp_path / "term" / "totals.csv")
    assert {row["id"] for row in rows} == {f"s{n}@example.org" for n in wanted}
    assert {(row["sheet 2"], row["final"]) for row in rows} == {("", "no")}
    page = (tmp_path / "term" / "course.html").read_text(encoding="utf-8")
    assert "Names are not known yet for 4 sheets of: 2." in page
    assert "not handed in: 2" not in page and "Participant" not in page
    for one in members:
        one.number -= 300
    table = fake_class.moodle(tmp_path / "named", members)
    named(tmp_path, members, out, "blind", rosters=(table,))
    rows = {row["id"]: row for row in rows_of(tmp_path / "term" / "totals.csv")}
    assert {id: float(row["sheet 2"]) for id, row in rows.items()} == {
        f"s{n}@example.org": points for n, points in wanted.items()
    }


def test_anonymous_week_takes_no_name_of_another_week(tmp_path):
    """Not even where the numbers of uploads, or of participants, come again."""
    for form, blind in (("canvas", {"anonymous": True}), ("moodle", {"blind": True})):
        place = tmp_path / form
        members = fake_class.students(60)[50:54]
        table = FORMS[form](place / "named", members)
        told = {"rosters": (table,), "term": place / "term"}
        graded(place / "named", place / "term" / "sheet-2", told=told)
        before = rows_of(place / "term" / "totals.csv")
        assert sum(float(row["points"]) for row in before) > 0
        for one in members:
            one.files = {"a.ipynb": (notebook(fake_class.OTHER_SHEET), LATER)}
        (place / "more").mkdir()
        table = FORMS[form](place / "more" / "blind", members, **blind)
        rosters = () if form == "canvas" else (table,)
        options = Options(lecture=5, term=place / "term", rosters=rosters, seed=7)
        handed_in, out = place / "more" / "blind", place / "term" / "sheet-5"
        done = grade_class(handed_in, out, options, tasks=GRADED, examiner=run_here)
        assert (done.renamed, done.blind) == (0, 4)
        after = rows_of(place / "term" / "totals.csv")
        assert [row["id"] for row in after] == [row["id"] for row in before]
        assert [row["points"] for row in after] == [row["points"] for row in before]


@pytest.mark.parametrize("form", ["moodle", "canvas"])
def test_blind_week_reports_nobody_as_missing(tmp_path, form):
    """A roster cannot tell who handed in nothing."""
    members = [fake_class.Made(n, f"Same Name{n % 2}") for n in (901, 902, 903)]
    for one in members[:2]:
        one.files = {"a.ipynb": (sheet(RIGHT), LATER)}
    hidden = {"anonymous": True} if form == "canvas" else {"blind": True}
    table = FORMS[form](tmp_path / "blind", members, **hidden)
    class_table(tmp_path, *(one.number for one in members))
    policy = policy_of(tmp_path, "roster = 'class.csv'")
    rosters = () if form == "canvas" else (table,)
    out, told = tmp_path / "term" / "sheet-2", {"term": tmp_path / "term", "rosters": rosters}
    done = graded(tmp_path / "blind", out, policy=policy, told=told)
    assert done.counts["graded"] == 2 and not done.open_items
    assert all(
        row["id"].startswith(("Participant", "anon_")) for row in rows_of(out / "grades.csv")
    )
    assert rows_of(tmp_path / "term" / "totals.csv") == []
    assert "not handed in" not in (tmp_path / "term" / "course.html").read_text()
    rows_named = {f"u{n}" for n in (901, 902, 903)} | {f"s{n}@example.org" for n in (901, 902, 903)}
    place = tmp_path / "again"
    place.mkdir()
    table = FORMS[form](place / "named", members)
    told["rosters"] = (table, tmp_path / "class.csv")
    graded(place / "named", out, policy=policy, told=told)
    rows = rows_of(tmp_path / "term" / "totals.csv")
    assert {row["id"] for row in rows} <= rows_named and len(rows) == 3
    assert sorted(float(row["points"]) for row in rows) == [0, FULL, FULL]


def test_what_students_read_has_no_marks_of_a_page():
    said = "say what {term}`query`, {term}`keys <key>` and {ref}`this <a-b>` are"
    assert plain_words(said) == "say what query, keys and this are"


def test_an_extension_holds_by_number_and_by_e_mail(tmp_path):
    members, out, _ = a_blind_week(tmp_path)
    (tmp_path / "worksheet.csv").rename(tmp_path / "blind.csv")
    table = fake_class.moodle(tmp_path / "named", members)
    days = "[late]\ntimes = 'times.csv'\npercent_per_day = 50\n[sheets.2]\ndue = 2026-11-02"
    (tmp_path / "times.csv").write_text(
        "id,handed\n" + "".join(f"Participant {n},2026-11-03T10:00\n" for n in (901, 902))
    )
    text = days + "\nextensions = { 'Participant 901' = 2026-11-09 }"
    for rosters in ((tmp_path / "blind.csv",), (table,)):
        policy = policy_of(tmp_path, text)
        told = {"rosters": rosters, "term": tmp_path / "term"}
        graded(tmp_path / "blind", out, tasks=TEXTS, policy=policy, told=told)
        late = {row["id"]: row["days late"] for row in rows_of(out / "grades.csv")}
        assert sorted(late.values()) == ["", "", "", "1"]
    # one by e-mail waits while nobody has a name, and holds then
    text = text.replace("Participant 901", "s901@example.org")
    for rosters, days, waits in (((tmp_path / "blind.csv",), ["1", "1"], 1), ((table,), ["1"], 0)):
        policy, told = policy_of(tmp_path, text), {"rosters": rosters, "term": tmp_path / "term"}
        graded(tmp_path / "blind", out, tasks=TEXTS, policy=policy, told=told)
        rows = rows_of(out / "grades.csv")
        assert [row["days late"] for row in rows if row["days late"]] == days
        looks = [row["what"] for row in rows_of(out / "look.csv")]
        assert (
            sum(what.startswith("the extension of s901@example.org holds") for what in looks)
            == waits
        )


def test_extension_waits_until_its_owner_is_known(tmp_path):
    waits = "the extension of s901@example.org holds when names are known; hand back after that"
    text = "[late]\ntimes = 'times.csv'\n[sheets.2]\ndue = 2026-11-02"
    text += "\nextensions = { 's901@example.org' = 2026-11-09 }"
    (tmp_path / "times.csv").write_text("id,handed\n")
    for form in ("moodle", "canvas"):
        place = tmp_path / form
        place.mkdir()
        _, out, wanted = a_blind_week(place, form)
        rosters = ()
        if form == "moodle":  # beside the list of the class, which knows the owner
            rosters = (*class_table(place, *wanted), place / "worksheet.csv")
        told = {"term": place / "term", "rosters": rosters}
        graded(place / "blind", out, tasks=TEXTS, policy=policy_of(tmp_path, text), told=told)
        looks = [row["what"] for row in rows_of(out / "look.csv")]
        assert looks.count(waits) == 1


def test_rules_that_were_forgotten_are_noticed(tmp_path):
    members = [fake_class.Made(7, "Ada", {"a.ipynb": (sheet(RIGHT), LATER)})]
    table = fake_class.moodle(tmp_path / "in", members)
    out, said = tmp_path / "out", "a run before this one had the rules of a class"
    for policy, times in ((None, 0), (policy_of(tmp_path, "[sheets.2]\nbonus = []"), 0), (None, 1)):
        graded(tmp_path / "in", out, policy=policy, told={"rosters": (table,)})
        looks = [row["what"] for row in rows_of(out / "look.csv")]
        assert sum(look.startswith(said) for look in looks) == times


def test_same_email_is_the_same_student(tmp_path):
    members, out, wanted = a_blind_week(tmp_path)
    table = fake_class.moodle(tmp_path / "named", members)
    named(tmp_path, members, out, "named", rosters=(table,))
    roster = (*class_table(tmp_path, *wanted), table)
    named(tmp_path, members, out, "named", rosters=roster)
    everything_is_their_own(tmp_path, out, wanted, lambda n: f"u{n}")


# ------------------------------------------------------------------ the policy


def policy_of(tmp_path, text):
    path = tmp_path / "class.toml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path)


def test_the_policy_decides_what_counts(small, tmp_path):
    folder, out = small
    text = """
    roster = "class.csv"
    [late]
    times = "files"
    grace_minutes = 30
    percent_per_day = 10
    days = 3
    [sheets.2]
    due = 2023-11-15T12:00:00Z
    extensions = { bob = 2023-11-18T12:00:00Z, cem = 2023-11-10T00:00:00Z }
    bonus = ["query_context"]
    excluded = ["essay"]
    points = { stable_softmax = 20 }
    """
    graded(folder, out, tasks=TEXTS, policy=policy_of(tmp_path, text))
    # all handed in on 2023-11-16, 02:00 UTC: ada a day late, bob in time, cem far too late
    rows = {row["id"]: row for row in rows_of(out / "grades.csv")}
    assert {id: float(row["points"]) for id, row in rows.items()} == {
        "ada": pytest.approx(24 * 0.9),
        "bob": 24,
        "cem": 0,
        "dan": 0,
    }
    assert {row["possible"] for row in rows.values()} == {"20"}
    assert (rows["ada"]["days late"], rows["bob"]["days late"]) == ("1", "")
    assert [rows[id]["extended until"][:10] for id in ("ada", "bob")] == ["", "2023-11-18"]
    page = next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")
    assert "1 day late, so 90% of 24 points count" in page


def test_excluded_task_is_shown_as_not_graded(small, tmp_path):
    folder, out = small
    tasks = GRADED | {"log_softmax": all_tasks()["log_softmax"]}
    policy = policy_of(tmp_path, "[sheets.2]\nexcluded = ['log_softmax']")
    graded(folder, out, tasks=tasks, policy=policy)
    item = next(item for item in sheets()[2].items if item.task == "log_softmax")
    page = next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")
    assert f"<p>{item.number}. {html.escape(item.title)}: not graded in this class.</p>" in page
    assert page.count("not graded in this class") == 1


def test_late_file_worth_less_is_reviewed(tmp_path):
    text = "[late]\ntimes = 'files'\npercent_per_day = 10\n[sheets.2]\ndue = 2023-11-15T12:00:00Z"
    policy, file = policy_of(tmp_path, text), tmp_path / "in" / "ada" / "x.ipynb"
    in_time = datetime(2023, 11, 15, 10, tzinfo=UTC).timestamp()
    for days, answers, points, less in (
        (0, fake_class.HALF, 10, []),
        (2, RIGHT, 14 * 0.8, []),  # better, in spite of the penalty
        (4, RIGHT, 14 * 0.6, ["8.4; what came before, 15 Nov", "8.4; what came before, 17 Nov"]),
    ):
        put(file, sheet(answers, f"# {days}"), in_time + days * 86_400)
        graded(tmp_path / "in", tmp_path / "out", policy=policy)
        assert [*points_of(tmp_path / "out").values()] == [pytest.approx(points)]
        said = [row["what"] for row in rows_of(tmp_path / "out" / "look.csv")]
        assert [x for x in less if any(f"counts for {x}" in y for y in said)] == less
        assert len(said) == len(less)
    assert any("would have 11.2: ada/x.ipynb" in what for what in said)


def test_blind_reviews_stay_open_once_names_are_known(tmp_path):
    text = "[late]\ntimes = 'moodle'\npercent_per_day = 10\ntime_zone = 'UTC'\n"
    policy = policy_of(tmp_path, text + "[sheets.2]\ndue = 2023-11-15T12:00:00Z")
    one = fake_class.Made(901, "Ada Byron")

    def run(folder, day, answers, blind, **more):
        one.files = {"a.ipynb": (sheet(answers), LATER)}
        table = fake_class.moodle(tmp_path / folder, [one], blind)
        columns, rows = tables.read(table, exact=True)
        when = f"{day} November 2023, 10:00 AM"
        rows = [[*row.values(), when] for row in rows]
        tables.write(table, [*columns, "Last modified (submission)"], rows)
        told = {"rosters": (table,)} | ({"table": table, "scale": True} if more else {})
        graded(tmp_path / folder, tmp_path / "out", policy=policy, told=told)
        return [row["what"] for row in rows_of(tmp_path / "out" / "look.csv") if not row["seen"]]

    assert run("early", "Wednesday, 15", RIGHT, blind=True) == []
    [said] = run("late", "Friday, 17", fake_class.HALF, blind=True)
    assert "is late and counts for 8; what came before, 15 Nov 10:00, would have 14" in said
    [known] = run("named", "Friday, 17", fake_class.HALF, blind=False, table=True)
    assert known == said
    assert not (tmp_path / "out" / "upload.csv").exists()
    # the earlier one may be chosen, from the two downloads in one folder, and has its own time
    (tmp_path / "both").mkdir()
    for folder in ("early", "named"):
        (tmp_path / folder).rename(tmp_path / "both" / folder)
    file = "early/Participant_901_assignsubmission_file/a.ipynb"
    told = {"rosters": (tmp_path / "worksheet.csv",), "count": (file,)}
    graded(tmp_path / "both", tmp_path / "out", policy=policy, told=told)
    [row] = rows_of(tmp_path / "out" / "grades.csv")
    assert (float(row["points"]), row["days late"]) == (FULL, "")
    assert not rows_of(tmp_path / "out" / "look.csv")


def test_late_days_start_after_the_grace_period(tmp_path):
    text = "[late]\ntimes = 'files'\ngrace_minutes = 10\npercent_per_day = 10\ndays = 3\n"
    policy = policy_of(tmp_path, text + "[sheets.2]\ndue = 2026-11-02T12:00:00Z")
    due = datetime(2026, 11, 2, 12, tzinfo=UTC)
    hours = {0: 0, 1 / 6: 0, 0.2: 1, 24: 1, 24.1: 2, 72: 3, 73: 4}
    found = {h: policy.days_late(2, "ada", due + timedelta(hours=h)) for h in hours}
    assert found == hours
    assert [policy.share(n) for n in range(5)] == [1, 0.9, 0.8, 0.7, 0]


def test_times_of_handing_in_can_come_from_a_table(small, tmp_path):
    folder, out = small
    (tmp_path / "times.csv").write_text("id,handed\nada,2023-11-15T11:00:00Z\n", encoding="utf-8")
    text = (
        "[late]\ntimes = 'times.csv'\npercent_per_day = 50\n[sheets.2]\ndue = 2023-11-15T12:00:00Z"
    )
    roster = (tmp_path / "class.csv",)
    told = {"rosters": roster}
    graded(folder, out, tasks=GRADED, policy=policy_of(tmp_path, text), told=told)
    assert points_of(out)["ada"] == FULL
    assert any("is not known" in row["what"] for row in rows_of(out / "look.csv"))


def test_submission_times_come_from_moodle(tmp_path):
    members = fake_class.students(50)[44:50]
    table = fake_class.moodle(tmp_path / "in", members)
    days = ["Sunday, 1 November 2026, 10:03 PM", "Tuesday, 3 November 2026, 12:10 AM", "-"] * 2
    columns, rows = tables.read(table)
    lines = [[*row.values(), day] for row, day in zip(rows, days, strict=True)]
    tables.write(table, [*columns, "Last modified (submission)"], lines)
    text = "[late]\ntimes = 'moodle'\npercent_per_day = 50\n[sheets.2]\ndue = 2026-11-02"
    policy = policy_of(tmp_path, text)
    told = {"rosters": (table,)}
    graded(tmp_path / "in", tmp_path / "out", policy=policy, told=told)
    rows = {row["id"]: row for row in rows_of(tmp_path / "out" / "grades.csv")}
    assert [rows[one.email]["days late"] for one in members] == ["", "1", ""] * 2
    policy = policy_of(tmp_path, text.replace("moodle", "files"))
    with pytest.raises(ValueError, match="the time of the download"):
        graded(tmp_path / "in", tmp_path / "out", policy=policy, told=told)
    fill(table, lambda row: row.update({"Last modified (submission)": "lundi 2 novembre"}))
    with pytest.raises(ValueError, match="Moodle in English"):
        graded(tmp_path / "in", tmp_path / "out", policy=policy_of(tmp_path, text), told=told)


def test_filled_table_reports_points_above_maximum(tmp_path):
    members = fake_class.students(60)[50:]
    table = fake_class.moodle(tmp_path / "in", members)
    policy = policy_of(tmp_path, "[sheets.2]\nbonus = ['query_context']")
    told = {"rosters": (table,), "table": table, "scale": True}
    done = graded(tmp_path / "in", tmp_path / "out", policy=policy, told=told)
    above = sum(one.points == FULL for one in members)
    assert above and f"10 of the class have points, {above} more than the maximum" in done.filled


@pytest.mark.parametrize("form", ["moodle", "canvas"])
def test_filled_table_names_rows_of_strangers(tmp_path, form):
    members = fake_class.students(60)[50:]
    table = FORMS[form](tmp_path / "in", members)
    columns, rows = tables.read(table, exact=True)
    key, name = ("ID", "Student") if form == "canvas" else ("Identifier", "Full name")
    more = [rows[-1] | {key: f"{77000 + n}", name: f"Stranger {n}"} for n in range(6)]
    longer = tmp_path / "longer.csv"
    tables.write(longer, columns, ([*row.values()] for row in [*rows, *more]))
    told = {"rosters": (table,), "table": longer, "scale": True, "column": "Sheet 2"}
    done = graded(tmp_path / "in", tmp_path / "out", told=told)
    own = ["Points Possible", "Student, Test"] if form == "canvas" else []  # rows of the system
    named = "; ".join([*own, *(f"Stranger {n}" for n in range(6))][:5])
    assert f"10 of {len(rows) + 6} rows are of the class (not {named} and " in done.filled


def test_refused_table_keeps_changed_csv(tmp_path):
    members = fake_class.students(60)[50:]
    table = fake_class.moodle(tmp_path / "in", members)
    out, told = tmp_path / "out", {"rosters": (table,)}
    graded(tmp_path / "in", out, told=told)
    given = {"correct": ((members[0].email, "query_context", "1", ""),)}
    strangers = tmp_path / "strangers.csv"
    strangers.write_text("Identifier,Grade\nParticipant 77000,\n")
    with pytest.raises(ValueError, match="nobody on it is in the class"):
        graded(tmp_path / "in", out, told=told | given | {"table": strangers})
    done = graded(tmp_path / "in", out, told=told | {"table": table, "scale": True})
    assert done.changed == 1 and [r["id"] for r in rows_of(out / "changed.csv")] == [
        members[0].email
    ]


def test_texts_that_wait_are_not_counted_as_0_points(small):
    _, out = small
    again(small)
    assert 'to be read</th><td class="number">3' in (out / "summary.html").read_text()
    fill(out / "written.csv", lambda row: row.update(points="0"))
    again(small)
    text = (out / "summary.html").read_text()
    assert "to be read" not in text and '0 points</th><td class="number">3' in text


def test_policy_time_zone_applies_to_bare_times(tmp_path, monkeypatch):
    """So that a penalty does not depend on the machine that grades."""
    members = fake_class.students(50)[44:46]
    table = fake_class.moodle(tmp_path / "in", members)
    columns, rows = tables.read(table)
    days = ["Monday, 2 November 2026, 11:30 PM", "Tuesday, 3 November 2026, 12:30 AM"]
    lines = [[*row.values(), day] for row, day in zip(rows, days, strict=True)]
    tables.write(table, [*columns, "Last modified (submission)"], lines)
    rules = "[late]\ntimes = 'moodle'\npercent_per_day = 50\n"
    due = "[sheets.2]\ndue = 2026-11-02T22:59:59Z"  # a second before midnight in Berlin
    for zone, late in (("Europe/Berlin", ["", "1"]), ("America/New_York", ["1", "1"])):
        policy = policy_of(tmp_path, f"{rules}time_zone = '{zone}'\n{due}")
        graded(tmp_path / "in", tmp_path / zone[:6], policy=policy, told={"rosters": (table,)})
        rows = {row["id"]: row for row in rows_of(tmp_path / zone[:6] / "grades.csv")}
        assert [rows[one.email]["days late"] for one in members] == late
    policy = policy_of(
        tmp_path, f"{rules}time_zone = 'Europe/Berlin'\n[sheets.2]\ndue = 2026-11-02"
    )
    assert policy.of(2).due == datetime(2026, 11, 2, 22, 59, 59, tzinfo=UTC)
    with pytest.raises(ValueError, match=r"late\.time_zone is 'Berlin'.*as Europe/Berlin"):
        policy_of(tmp_path, f"{rules}time_zone = 'Berlin'")


def test_feedback_does_not_reveal_the_secret_seed(tmp_path):
    """The cases of no other task follow from it, nor from a seed that is an input."""
    secret = 20417
    seeds = {name: case_seed(secret, name) for name in (*GRADED, "essay", "train_lstm")}
    assert len({*seeds.values()}) == len(seeds) and secret not in seeds.values()
    assert all(0 <= seed < 2**31 for seed in seeds.values())
    assert case_seed(secret + 1, "essay") != seeds["essay"]
    shown = []

    def asked(cells, tasks, slot):
        shown.extend((one.task.name, repr(one.cases)) for one in tasks)
        return run_here(cells, tasks, slot)

    put(tmp_path / "in" / "ada.ipynb", sheet(RIGHT), LATER)
    graded(tmp_path / "in", tmp_path / "out", told={"seed": secret}, examiner=asked)
    for name, cases in shown:
        assert cases == repr(GRADED[name].cases(seeds[name]))


def test_canvas_lateness_is_measured_by_a_table(tmp_path):
    members = [one for one in fake_class.students(100)[44:] if one.number % 10 in (7, 8)]
    table = fake_class.canvas(tmp_path / "in", members)
    late = [one for one in members if one.number % 10 == 7]
    lines = ["id,handed", f"u{late[0].number},2026-11-03T10:00"]
    (tmp_path / "late.csv").write_text("\n".join(lines), encoding="utf-8")
    text = "[late]\ntimes = 'late.csv'\npercent_per_day = 50\n[sheets.2]\ndue = 2026-11-02"
    told = {"rosters": (table,)}
    policy = policy_of(tmp_path, text)
    done = graded(tmp_path / "in", tmp_path / "out", policy=policy, told=told)
    rows = {row["id"]: row["days late"] for row in rows_of(tmp_path / "out" / "grades.csv")}
    assert rows.pop(f"u{late[0].number}") == "1" and set(rows.values()) == {""}
    looks = {row["id"] for row in rows_of(tmp_path / "out" / "look.csv")}
    assert looks == {f"u{one.number}" for one in late[1:]}
    flags = {row["id"]: row["flags"] for row in rows_of(tmp_path / "out" / "grades.csv")}
    flagged = {id for id, said in flags.items() if "late, says Canvas" in said}
    assert flagged == {f"u{one.number}" for one in late if one.files}
    assert done.late == len(flagged) > 0


def test_private_cases_and_tasks_are_used(small, tmp_path):
    """They lie outside the repository."""
    folder, out = small
    private = tmp_path / "private"
    put(
        private / "cases" / "stable_softmax.py",
        b"import numpy as np\nfrom grading.task import Case\n"
        b"def cases(seed):\n    return [Case((np.zeros((1, 4)),), 'mine')]\n",
        LATER,
    )
    put(
        private / "tasks" / "lecture_02" / "my_own.py",
        b"from grading.author import TaskFile\n# %% the cell\nmy_own = 7\n# %%\n"
        b"task = TaskFile('predict', points=3, minutes=1, outcome='to try')\n",
        LATER,
    )
    put(folder / "ada" / "02_sheet.ipynb", sheet(RIGHT | {"my_own": "my_own = 7"}), LATER)
    policy = policy_of(tmp_path, 'private = "private"\nroster = "class.csv"')
    done = graded(folder, out, tasks=GRADED, policy=policy)
    assert points_of(out)["ada"] == FULL + 3
    assert done.own_cases == ["stable_softmax (1 ordinary cases)"]
    text = pages_about_grading()
    code = next(c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def cases" in c)
    put(private / "cases" / "stable_softmax.py", code.encode(), LATER)
    graded(folder, out, tasks=GRADED, policy=policy)
    assert points_of(out)["ada"] == FULL + 3
    put(private / "cases" / "no_task.py", b"def cases(seed): return []", LATER)
    with pytest.raises(ValueError, match=r"no_task\.py"):
        graded(folder, out, tasks=GRADED, policy=policy)


CASES = "import numpy as np\nfrom grading.task import Case\n\n\ndef cases(seed):\n    return "


def test_the_kind_that_a_private_case_says_counts(small, tmp_path):
    """Also beside one ordinary case; by the words of the notes alone it would be a whole."""
    folder, out = small
    (tmp_path / "private").mkdir()
    policy = policy_of(tmp_path, "private = 'private'")
    one, two = "Case((np.zeros((1, 4)),), 'mine')", "Case((np.zeros((2, 4)),), 'a batch of two'"
    for code, said in (
        (f"[{one}, {two}, kind='long texts')]", "1 ordinary cases, 1 long texts"),
        (f"[{one}, {two})]", "2 ordinary cases"),
    ):
        put(tmp_path / "private" / "cases" / "stable_softmax.py", (CASES + code).encode(), LATER)
        done = graded(folder, out, tasks=GRADED, policy=policy)
        assert done.own_cases == [f"stable_softmax ({said})"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "[Case((np.zeros((1, 4)),)), Case((np.array(['a']),), 'words')]",
            r"case 2 \(words\): an "
            "argument is an array of <U1, which is no plain data; wanted are numbers, texts, ",
        ),
        ("[Case((object(),))]", "case 1: an argument is an object of type object, .*; wanted are"),
        ("[Case(np.zeros((1, 4)))]", r"case 1: its arguments are an array .*as in Case\(\(x,\)\)"),
        ("[]", r"cases\(seed\) must return a list of grading.task.Case, not empty"),
        ("np.zeros(3)", r"cases\(seed\) must return a list of grading.task.Case, not empty"),
        ("nothing", r"cases\(0\) stops: NameError: name 'nothing' is not defined"),
        ("[Case((np.zeros((1, 4)),), kind='batches')]", "no case is an ordinary one"),
    ],
)
def test_invalid_private_cases_are_refused(small, code, said):
    """The message names the file, the case and what is needed."""
    folder, out = small
    put(folder.parent / "private" / "cases" / "stable_softmax.py", (CASES + code).encode(), LATER)
    policy = policy_of(folder.parent, 'private = "private"')
    with pytest.raises(ValueError, match=rf"cases/stable_softmax\.py: {said}"):
        graded(folder, out, tasks=GRADED, policy=policy)
    assert not (out / "grades.csv").exists()


OWN = b"""from grading.author import Case, TaskFile

# %% the cell
def my_own(x):
    # BEGIN SOLUTION
    return 2 * x  # <mine>
    # END SOLUTION
    #| return x
# %%
task = TaskFile("implement", points=3, minutes=1, outcome="x")
task.cases(lambda s: [Case((1.5,))])
"""
OWN_RIGHT = "def my_own(x):\n    return x + x"


def an_own_task(tmp_path, text=""):
    put(tmp_path / "private" / "tasks" / "lecture_02" / "my_own.py", OWN, LATER)
    return policy_of(tmp_path, f"private = 'private'\n{text}")


def test_second_notebook_adds_own_tasks(tmp_path):
    """Wherever it lies, whichever is later; what the sheet itself answers stands."""
    (tmp_path / "class.csv").write_text(
        "id,name,email\n" + "\n".join(f"{n},,{n}@x" for n in "ada bob cem dan eva fay gus".split())
    )
    policy, out = an_own_task(tmp_path, "roster = 'class.csv'"), tmp_path / "out"
    own, wrong = notebook([OWN_RIGHT]), notebook(["def my_own(x):\n    return x"])
    stub = notebook(["def my_own(x):\n    ..."])
    untouched = sheet(fake_class.STUB)
    files = {  # what is handed in, and its points
        "ada": ({"02_x.ipynb": sheet(RIGHT), "own.ipynb": own}, FULL + 3),
        "bob": ({"z.ipynb": sheet(RIGHT), "own.ipynb": own}, FULL + 3),
        "cem": ({"z.ipynb": sheet(RIGHT, OWN_RIGHT), "own.ipynb": wrong}, FULL + 3),
        "dan": ({"z.ipynb": untouched, "own.ipynb": own}, 3),
        "eva": ({"z.ipynb": sheet(RIGHT), "own.ipynb": stub}, FULL),
        "fay": ({"z.ipynb": sheet(RIGHT), "own.ipynb": own, "own-1.ipynb": wrong}, FULL),
        "gus": ({"own.ipynb": own}, 3),
    }
    for name, (mine, _) in files.items():
        for file, data in mine.items():
            put(tmp_path / "in" / name / file, data, LATER + 9 * ("own" in file))
    graded(tmp_path / "in", out, policy=policy)
    assert points_of(out) == {name: points for name, (_, points) in files.items()}
    looks = {row["id"]: row["what"] for row in rows_of(out / "look.csv")}
    assert looks.keys() == {"cem", "eva", "gus"}
    assert looks["cem"] == "answers my_own too: what stands in cem/z.ipynb counts"
    assert "hardly the sheet" in looks["gus"]
    rows = {row["id"]: row for row in rows_of(out / "grades.csv")}
    assert (rows["dan"]["flags"], rows["eva"]["flags"]) == ("", "")
    assert rows["bob"]["file"] == "bob/z.ipynb"
    said = {row["file"]: row["status"] for row in rows_of(out / "files.csv")}
    assert said["bob/own.ipynb"] == "not counted alone: its answers count with bob/z.ipynb"
    page = next((out / "feedback").glob("bob-*")).read_text(encoding="utf-8")
    assert "Your files: bob/z.ipynb, followed by bob/own.ipynb" in page
    # another second notebook is another submission; and a person may choose otherwise
    put(tmp_path / "in" / "bob" / "own.ipynb", wrong, LATER + 9)
    graded(tmp_path / "in", out, policy=policy)
    assert points_of(out)["bob"] == FULL
    graded(tmp_path / "in", out, policy=policy, told={"count": ("ada/own.ipynb",)})
    assert points_of(out)["ada"] == 3


def test_second_notebook_of_other_download_is_ignored(tmp_path):
    policy, out = an_own_task(tmp_path), tmp_path / "out"
    one = fake_class.Made(901, "Ada Byron", {"x.ipynb": (sheet(RIGHT), LATER)})
    for name in ("a", "b"):
        table = fake_class.moodle(tmp_path / "in" / name, [one])
        one.files = {"own.ipynb": (notebook([OWN_RIGHT]), LATER + 9)}
    graded(tmp_path / "in", out, policy=policy, told={"rosters": (table,)})
    assert [*points_of(out).values()] == [FULL]
    said = [row["status"] for row in rows_of(out / "files.csv")]
    assert said[0] == "ok" and said[1].startswith("not counted: it is of another download than a/")


def test_late_second_notebook_makes_all_late(tmp_path):
    text = "[late]\ntimes = 'files'\npercent_per_day = 10\n[sheets.2]\ndue = 2023-11-15T12:00:00Z"
    (tmp_path / "class.csv").write_text("id,name,email\nada,Ada,a@x\n")
    policy = an_own_task(tmp_path, f"roster = 'class.csv'\n{text}")
    due = datetime(2023, 11, 15, 12, tzinfo=UTC).timestamp()
    put(tmp_path / "in" / "ada" / "x.ipynb", sheet(RIGHT), due - 60)
    put(tmp_path / "in" / "ada" / "own.ipynb", notebook([OWN_RIGHT]), due + 60)
    graded(tmp_path / "in", tmp_path / "out", policy=policy)
    assert [*points_of(tmp_path / "out").values()] == [pytest.approx((FULL + 3) * 0.9)]
    put(tmp_path / "canvas" / "adabyron_901_9001_x.ipynb", sheet(RIGHT), LATER)
    put(tmp_path / "canvas" / "adabyron_LATE_901_9002_own.ipynb", notebook([OWN_RIGHT]), LATER)
    done = graded(tmp_path / "canvas", tmp_path / "more", policy=an_own_task(tmp_path))
    [row] = rows_of(tmp_path / "more" / "grades.csv")
    assert (done.late, row["flags"]) == (1, "late, says Canvas")


@pytest.mark.parametrize(
    ("place", "code"),
    [
        (
            "cases/stable_softmax.py",  # an argument too many
            "from grading.task import Case\ndef cases(seed):\n    return [Case((1, 2), 'mine')]\n",
        ),
        (
            "tasks/lecture_02/my_own.py",
            "from grading.author import Case, TaskFile\n# %% the cell\ndef my_own(x):\n"
            "    # BEGIN SOLUTION\n    return x / 0\n    # END SOLUTION\n# %%\ntask = TaskFile("
            "'implement', points=3, minutes=1, outcome='x', cases=lambda s: [Case((1,))])\n",
        ),
    ],
)
def test_private_cases_must_accept_the_model_answer(small, place, code):
    folder, out = small
    put(folder.parent / "private" / place, code.encode(), LATER)
    policy = policy_of(folder.parent, 'private = "private"')
    with pytest.raises(ValueError, match=r"\.py: the model answer itself has 0 of"):
        graded(folder, out, tasks=GRADED, policy=policy)
    assert not (out / "grades.csv").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rooster = 'x'", "has no key 'rooster'"),
        ("roster = 'nowhere.csv'", "nowhere.csv is not there"),
        ("[late]\npercent = 3", "no key 'percent'"),
        ("[late]\npercent_per_day = -3", "not negative"),
        ("[late]\npercent_per_day = 'ten'", "late.percent_per_day is 'ten'"),
        ("[sheets.four]", "a lecture's number"),
        ("[sheets.2]\ndue = 2026-11-02", "a sheet has a deadline"),
        ("[sheets.2]\ndue = 'soon'", "sheets.2.due is 'soon'"),
        ("[sheets.2]\nextensions = { ada = 'soon' }", "identifiers with dates"),
        ("[sheets.2]\npoints = { stable_softmax = 0 }", "numbers above 0"),
        ("[feedback]\ngradescope = 'never'", "after_due_date"),
        ("[feedback]\nkeep_back = [2.5]", "names of tasks and numbers of sheets"),
        ("[feedback]\nkeep_back = [true]", "names of tasks and numbers of sheets"),
        ("packages = ['no_such_package']", "install it"),
        ("x = ", "Invalid"),
    ],
)
def test_a_policy_that_cannot_be_is_refused_by_name(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        policy_of(tmp_path, text)


KEYS = {
    "": ("roster", "private", "packages", "late", "feedback", "sheets"),
    "late": ("times", "time_zone", "grace_minutes", "percent_per_day", "days"),
    "feedback": ("model_answers", "keep_back", "site", "inputs", "gradescope"),
    "sheets.2": ("due", "extensions", "excluded", "bonus", "points", "partial"),
}
DUE = "[sheets.2]\ndue = 2026-11-02\n"
"""With a deadline and without `late.times` there is a second fault, which is not the cause."""


@pytest.mark.parametrize("slip", ["a letter missing", "two letters changed about"])
@pytest.mark.parametrize(("table", "key"), [(t, key) for t, keys in KEYS.items() for key in keys])
def test_misspelled_policy_key_suggests_the_right_one(tmp_path, table, key, slip):
    wrong = key[:2] + key[3:] if slip == "a letter missing" else key[:-2] + key[-1] + key[-2]
    line = f"[{wrong}]\n" if key in ("late", "feedback") else f"{wrong} = 3\n"
    line = f"[{wrong}.2]\n" if key == "sheets" else line
    head = f"[{table}]\n" if table and table != "sheets.2" else ""
    text = DUE + line if table == "sheets.2" else line + DUE if not table else DUE + head + line
    with pytest.raises(ValueError, match=f"{wrong!r}; {key!r} was probably meant"):
        policy_of(tmp_path, text)


def test_example_policy_explains_every_key():
    from classroom.policy import EXAMPLE

    text = EXAMPLE.read_text(encoding="utf-8")
    named = set(re.findall(r"^#? ?(\w+) = ", text, re.MULTILINE))
    assert named == {key for keys in KEYS.values() for key in keys} - set(KEYS[""][3:])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[lat]\ntimes = 'files'\n" + DUE, "no table 'lat'; 'late' was probably meant"),
        ("[late]\nroster = 'x.csv'", r"'roster'; it belongs above the first \[table\]"),
        ("percent_per_day = 3", r"'percent_per_day'; it belongs under \[late\]"),
        ("[feedback]\ndue = 2026-11-02", r"'due'; it belongs under \[sheets.4\]"),
        ("[2]\ndue = 2026-11-02", r"a sheet's table is \[sheets.2\]"),
        ("[late]\ngrace = 5", "'grace_minutes' was probably meant"),
        ("[late]\ntimes = 'moodel'", "not there; 'moodle' was probably meant"),
        ("[feedback]\ngradescope = 'hiden'", "'hidden' was probably meant"),
        ("late = 3", r"a table, \[late\]"),
        ("sheets = 3", r"tables, as \[sheets.4\]"),
    ],
)
def test_misplaced_policy_key_names_the_right_table(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        policy_of(tmp_path, text)


def test_a_policy_names_only_tasks_that_there_are(small, tmp_path):
    folder, out = small
    policy = policy_of(tmp_path, "[sheets.2]\nexcluded = ['stable_sofmax']")
    said = "no task 'stable_sofmax'; 'stable_softmax' was probably meant"
    with pytest.raises(ValueError, match=said):
        graded(folder, out, policy=policy)
    assert not (out / "grades.csv").exists()


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("7", "no sheet 7; the sheets are: 2, 5"),
        ("'2'", "no task '2'; a sheet's number has no quotes"),
        ("'stable_sofmax'", "'stable_softmax' was probably meant"),
    ],
)
def test_keep_back_refuses_unknown_model_answers(small, tmp_path, kept, said):
    folder, out = small
    policy = policy_of(tmp_path, f"[feedback]\nkeep_back = [{kept}]")
    with pytest.raises(ValueError, match=f"feedback.keep_back: {said}" if "2" in said else said):
        graded(folder, out, policy=policy)
    assert not (out / "grades.csv").exists()


def test_example_policy_is_valid_uncommented(tmp_path):
    """As it stands it is valid too."""
    from classroom.policy import EXAMPLE

    text = EXAMPLE.read_text(encoding="utf-8")
    policy_of(tmp_path, text)
    (tmp_path / "class.csv").write_text("id,name,email\n", encoding="utf-8")
    (tmp_path / "moodle-worksheet.csv").write_text("Identifier,Full name\n", encoding="utf-8")
    place = tmp_path / "inner"
    place.mkdir()
    (tmp_path / "private").mkdir()
    lines = text.splitlines()
    uncommented = [x.removeprefix("# ") if " = " in x or x.startswith("# [") else x for x in lines]
    whole = (
        "\n".join(uncommented).replace('"../private"', '"private"').replace('"pandas"', '"numpy"')
    )
    policy = policy_of(tmp_path, whole)
    assert policy.percent_per_day == 10 and policy.of(4).bonus == {"future_leaks"}


# ------------------------------------------------------------------ feedback


def test_feedback_shows_input_code_and_failing_cell(tmp_path):
    """With the numbers and titles of the sheet."""
    folder = tmp_path / "in"
    wrong = "def stable_softmax(scores):\n    return scores / scores.sum()  # <mine>"
    broken = "halved = 1 / 0\nquery_context = [2.0, 1.0]"
    answers = {"stable_softmax": wrong, "query_context": broken}
    put(folder / "ada.ipynb", sheet(answers), LATER)
    text = "[feedback]\nmodel_answers = true\nkeep_back = ['query_context']"
    graded(folder, tmp_path / "out", policy=policy_of(tmp_path, text))
    page = next((tmp_path / "out" / "feedback").glob("*.html")).read_text(encoding="utf-8")
    heads = [f"{i.number}. {i.title}" for i in sheets()[2].items if i.task in answers]
    assert 0 < page.index(heads[0]) < page.index(heads[1])
    assert "scores = [[" in page and "# shape" in page
    assert "scores / scores.sum()  # &lt;mine&gt;" in page
    assert 'The cell that defines `query_context` did not finish. <a href="#cell-3">' in page
    assert 'id="cell-3"' in page and "ZeroDivisionError" in page
    assert page.count("The model answer") == 1
    assert f"Lecture 2, {sheets()[2].title}" in page


def test_own_model_answer_follows_feedback_rules(tmp_path):
    wrong = "def my_own(x):\n    return x"
    put(tmp_path / "in" / "ada.ipynb", sheet(RIGHT | {"my_own": wrong}), LATER)
    out = tmp_path / "out"
    for text, shown in (
        ("model_answers = true", True),
        ("inputs = true", False),
        ("model_answers = 2999-01-01", False),
        ("model_answers = true\nkeep_back = ['my_own']", False),
        ("model_answers = true\nkeep_back = [2]", False),
        ("model_answers = true\nkeep_back = [5]", True),
    ):
        done = graded(tmp_path / "in", out, policy=an_own_task(tmp_path, f"[feedback]\n{text}"))
        assert done.own_tasks == ["my_own"]
        page = next((out / "feedback").glob("*.html")).read_text(encoding="utf-8")
        answer = "<pre>def my_own(x):\n    return 2 * x  # &lt;mine&gt;</pre>"
        assert (answer in page, "The model answer" in page) == (shown, shown), text


def test_own_answer_is_a_source_or_a_value(tmp_path):
    from classroom.private_tasks import own_answer, own_tasks

    head = "from grading.author import Case, TaskFile\n"
    end = "task = TaskFile({!r}, points=3, minutes=1, outcome='x', cases=lambda s: [Case((1,))])"
    place = tmp_path / "tasks" / "lecture_02"
    put(place / "a.py", f"{head}def a(x):\n    return x\n{end.format('implement')}".encode(), LATER)
    put(place / "b.py", f"{head}b = [1.5]\n{end.format('predict')}".encode(), LATER)
    found = {task.name: own_answer(tmp_path, task) for task in own_tasks(tmp_path)}
    assert found == {"a": "def a(x):\n    return x\n", "b": "b = [1.5]"}
    assert own_answer(tmp_path, TASKS["essay"]) == own_answer(None, TASKS["essay"]) == ""


def test_keep_back_by_sheet_number(tmp_path):
    put(tmp_path / "in" / "ada.ipynb", sheet(fake_class.HALF), LATER)
    for kept, shown in (("[5]", True), ("[2]", False), ("['stable_softmax', 2]", False)):
        policy = policy_of(tmp_path, f"[feedback]\nmodel_answers = true\nkeep_back = {kept}")
        graded(tmp_path / "in", tmp_path / "out", policy=policy)
        page = next((tmp_path / "out" / "feedback").glob("*.html")).read_text(encoding="utf-8")
        assert ("The model answer" in page) == shown


def test_page_says_once_that_only_whole_answers_count(small, tmp_path):
    folder, out = small
    said = "<p>In this class only complete answers earn points.</p>"
    for text, times in (("partial = false", 1), ("partial = true", 0)):
        policy = policy_of(tmp_path, f"roster = 'class.csv'\n[sheets.{SHEET}]\n{text}")
        graded(folder, out, tasks=TEXTS, policy=policy)
        page = next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")
        assert page.count(said) == times
        page = next((out / "feedback").glob("dan-*")).read_text(encoding="utf-8")
        assert said not in page  # nothing was handed in
    policy = policy_of(tmp_path, "[sheets.5]\npartial = false")
    graded(folder, out, tasks=TEXTS, policy=policy)
    assert said not in next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")


def test_partial_points_are_numbers_everywhere(small, monkeypatch):
    """A judge may give a part of the points; a policy may take that back."""
    from classroom import verdicts
    from grading.feedback.verdict import Verdict

    def part(*_):
        return Verdict(2.5, message="On case 1 of 2: no.", part="Part of the points: <half> of it.")

    monkeypatch.setattr(verdicts, "judge", part)
    folder, out = small
    again(small)
    rows = rows_of(out / "grades.csv")
    assert {row["stable_softmax"] for row in rows if row["id"] == "ada"} == {"2.5"}
    page = next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")
    assert "2.5 of 10 points" in page and "Part of the points: &lt;half&gt; of it." in page
    whole = policy_of(out, f"[sheets.{SHEET}]\npartial = false")
    graded(folder, out, tasks=TEXTS, policy=whole)
    rows = rows_of(out / "grades.csv")
    assert {row["stable_softmax"] for row in rows if row["id"] == "ada"} == {"0"}
    page = next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")
    assert "In this class a task counts all or nothing" in page and "&lt;half&gt;" not in page


def test_feedback_leads_to_the_section_of_the_lecture(tmp_path):
    from docutils.nodes import make_id

    from classroom.policy import Policy
    from classroom.reports.feedback import _address
    from grading.task import PROJECT, all_tasks

    for task in all_tasks().values():
        page = sheets()[task.lecture].page
        folder = "exercises" if task.lecture == PROJECT else "lectures"
        found = _address(page, task, Policy(site="https://example.org/course/"))
        place = f"#{make_id(task.section)}" if task.section else ""
        assert found == f"https://example.org/course/{folder}/{page}.html{place}"
    put(tmp_path / "in" / "ada.ipynb", sheet(fake_class.HALF), LATER)
    for text, address in (
        (
            "site = 'https://example.org'",
            f"https://example.org/lectures/{sheets()[2].page}.html#one",
        ),
        ("inputs = true", "lamplight/blob/main/lectures/"),
    ):
        graded(tmp_path / "in", tmp_path / "out", policy=policy_of(tmp_path, f"[feedback]\n{text}"))
        page = next((tmp_path / "out" / "feedback").glob("*.html")).read_text(encoding="utf-8")
        assert address in page
        assert f"Lecture 2, {sheets()[2].title}: One query, three operations</a>" in page


def test_written_answer_round_trip(tmp_path):
    """Quotes, lines and what looks like a formula survive; the points come back."""
    from grading.task import all_tasks

    text = '=It "grants", what; the figure\nshows.\n+ A gate is fixed.'
    answers = RIGHT | {"claim_gates": f"claim_gates = {text!r}"}
    put(tmp_path / "in" / "ada.ipynb", sheet(answers), LATER)
    tasks = GRADED | {"claim_gates": all_tasks()["claim_gates"]}
    done = graded(tmp_path / "in", tmp_path / "out", tasks=tasks)
    assert done.waiting == 1
    [row] = rows_of(tmp_path / "out" / "written.csv")
    assert tables.read(tmp_path / "out" / "written.csv")[1][0]["answer"] == text
    guide = (tmp_path / "out" / "guide.html").read_text(encoding="utf-8")
    assert "straight" in guide and row["possible"] == "5"
    task = tasks["claim_gates"]
    asked = " ".join(guide.partition("A good answer")[0].split())
    assert "Write three to five sentences" in asked or "sentences" in asked
    assert "<details>" not in guide and "Hint" not in guide and "&lt;!--" not in guide
    for mistake in task.mistakes:
        assert html.escape(mistake.why) in guide
    assert "How the points are divided</h3><pre>One point for the straight line" in guide
    assert f"ada: ____ of 5 points</h4><pre>{html.escape(text)}</pre>" in guide
    fill(
        tmp_path / "out" / "written.csv",
        lambda row: row.update(points="3.5", comment="One gate more."),
    )
    done = graded(tmp_path / "in", tmp_path / "out", tasks=tasks)
    assert done.waiting == 0
    [row] = rows_of(tmp_path / "out" / "grades.csv")
    assert float(row["claim_gates"]) == 3.5 and float(row["points"]) == FULL + 3.5
    guide = (tmp_path / "out" / "guide.html").read_text(encoding="utf-8")
    assert "ada: 3.5 of 5 points (a person: One gate more.)</h4>" in guide
    page = next((tmp_path / "out" / "feedback").glob("ada-*")).read_text(encoding="utf-8")
    assert "One gate more." in page and "A person reads this answer" not in page
    policy = policy_of(tmp_path, "[sheets.2]\npoints = { claim_gates = 10 }")
    graded(tmp_path / "in", tmp_path / "out", tasks=tasks, policy=policy)
    guide = (tmp_path / "out" / "guide.html").read_text(encoding="utf-8")
    [row] = rows_of(tmp_path / "out" / "written.csv")
    assert row["possible"] == "10" and "(claim_gates): 10 points" in guide


def test_points_without_comment_show_the_marking_guide(tmp_path):
    tasks = GRADED | {"claim_gates": all_tasks()["claim_gates"]}
    answers = RIGHT | {"claim_gates": "claim_gates = 'A gate is fixed.'"}
    put(tmp_path / "in" / "ada.ipynb", sheet(answers), LATER)
    out = tmp_path / "out"
    graded(tmp_path / "in", out, tasks=tasks)

    def page_for(points, author="", text="model_answers = true", comment=""):
        new = {"points": points, "comment": comment, "author": author}
        fill(out / "written.csv", lambda row: row.update(new))
        graded(tmp_path / "in", out, tasks=tasks, policy=policy_of(tmp_path, f"[feedback]\n{text}"))
        return next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")

    guide = "<p>How the points are divided:</p><pre>One point for the straight line"
    page = page_for("2")
    assert f"<p>Marked by a person.</p>\n{guide}" in page
    assert "points given by a person" not in page
    assert "<p>Marked by Bea.</p>" in page_for("3", "Bea")
    assert guide not in page_for("5")
    assert guide not in page_for("2", text="inputs = true")
    assert guide not in page_for("2", text="model_answers = true\nkeep_back = ['claim_gates']")
    page = page_for("2", comment="One gate more.")
    assert "One gate more." in page and guide not in page and "Marked by" not in page


def test_written_tasks_have_question_answer_and_guide():
    for task in all_tasks().values():
        if task.kind == "written":
            asked = sheets()[task.lecture].questions[task.name]
            assert len(asked.split()) > 20 and "<" not in asked, task.name
            assert len(str(task.reference).split()) > 20, task.name
            assert len(task.mistakes) >= 2, task.name


def test_tables_open_in_excel_and_hold_no_formula(small):
    _, out = small
    again(small)
    for path in out.glob("*.csv"):
        assert path.read_bytes().startswith(b"\xef\xbb\xbf"), path
        with open(path, encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


def test_results_json_fits_gradescope(tmp_path):
    put(tmp_path / "in" / "any name.ipynb", sheet(RIGHT), LATER)
    policy = policy_of(tmp_path, "[feedback]\ngradescope = 'after_due_date'")
    graded(tmp_path / "in", tmp_path / "out", told={"student": "one"}, policy=policy)
    document = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert document["score"] == FULL
    assert {test["visibility"] for test in document["tests"]} == {"after_due_date"}
    numbers = [str(item.number) for item in sheets()[2].items if item.task in RIGHT]
    assert [test["number"] for test in document["tests"]] == numbers


def test_gradescope_says_what_is_wrong_with_a_file(tmp_path):
    put(tmp_path / "in" / "sheet.py", b"x = 1", LATER)
    graded(tmp_path / "in", tmp_path / "out", told={"student": "one"})
    document = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert document["score"] == 0 and "notebook" in document["output"]


def test_gradescope_zip_has_no_private_files(tmp_path):
    longer = "[sheets.2.extensions]\n'ada@x' = 2026-11-09"  # a student's address stays here
    for line in ('roster = "class.csv"', 'private = "own"', '[late]\ntimes = "x.csv"', longer):
        (tmp_path / "class.toml").write_text(line, encoding="utf-8")
        with pytest.raises(ValueError, match="make a copy of the policy without them"):
            autograder.make(tmp_path / "x.zip", 2, 7, tmp_path / "class.toml")
    (tmp_path / "class.toml").write_text('[late]\ntimes = "files"', encoding="utf-8")
    autograder.make(tmp_path / "x.zip", 2, 7, tmp_path / "class.toml")
    assert "gradescope/class.toml" in zipfile.ZipFile(tmp_path / "x.zip").namelist()


def test_gradescope_policy_follows_the_page(tmp_path, monkeypatch):
    """A deadline may stay in it, without times: those are Gradescope's."""
    from classroom import cli

    path, asked = tmp_path / "class.toml", []
    path.write_text(
        "[late]\npercent_per_day = 10\n[sheets.2]\ndue = 2026-11-02\n", encoding="utf-8"
    )
    words = ["2", "--policy", str(path), "--out", str(tmp_path / "a.zip"), "--seed", "7"]
    monkeypatch.setattr("sys.argv", ["autograder.py", *words])
    autograder.main()
    assert "gradescope/class.toml" in zipfile.ZipFile(tmp_path / "a.zip").namelist()
    done = Summary()
    monkeypatch.setattr(cli, "grade_class", lambda *_, **more: asked.append(more) or done)
    words = [str(tmp_path), "--out", str(tmp_path / "out"), "--policy", str(path)]
    assert cli.main([*words, "--student", "submission"]) == 0
    assert cli.main(words) == 2 and len(asked) == 1


def test_grader_error_writes_no_gradescope_results(tmp_path):
    from classroom.sandbox.examiner import GraderError

    def fails(*_):
        raise GraderError("a package is missing")

    put(tmp_path / "in" / "x.ipynb", sheet(RIGHT), LATER)
    done = graded(tmp_path / "in", tmp_path / "out", told={"student": "one"}, examiner=fails)
    assert done.failures == 1
    assert not (tmp_path / "out" / "results.json").exists()
    graded(tmp_path / "in", tmp_path / "out", told={"student": "one"})
    assert (tmp_path / "out" / "results.json").exists()


def test_made_students_are_what_they_say():
    """Two of each name, every oddity in two students of the same name."""
    members = fake_class.students()
    names = [one.name for one in members]
    assert all(names.count(name) > 1 for name in names)
    assert isinstance(members[0], Made)


@pytest.mark.parametrize(
    ("form", "place"),
    [
        ("moodle", "Same Name_902_assignfeedback_file_/feedback-sheet-2.html"),
        ("blind", "Participant_902_assignfeedback_file_/feedback-sheet-2.html"),
        ("canvas", "namesame_902_feedback-sheet-2.html"),
        ("folder", "u902/feedback-sheet-2.html"),
    ],
)
def test_points_without_submission_have_a_page(tmp_path, form, place):
    members = [fake_class.Made(n, "Same Name") for n in (901, 902, 903)]
    members[0].files = {"a.ipynb": (sheet(RIGHT), LATER)}
    table = FORMS[form](tmp_path / "in", members)
    out, ids = tmp_path / "out", [IDS[form](one) for one in members]
    given = ((ids[1], "stable_softmax", "0", "Said nothing."), (ids[1], "query_context", "3", ""))
    told = {"rosters": (table,), "scale": True, "column": "Sheet 2"}
    for more in ({"correct": given, "author": "Prof"}, {"table": table}):
        if form == "folder":
            more.pop("table", None)
        graded(tmp_path / "in", out, tasks=TEXTS, told=told | more)
        if (out / "look.csv").exists():  # a plain folder's are empty
            fill(out / "look.csv", lambda row: row.update(seen="P"))
    graded(tmp_path / "in", out, tasks=TEXTS, told=told | more)
    archive = zipfile.ZipFile(out / "feedback.zip")
    assert place in archive.namelist()
    page = archive.read(place).decode()
    assert "The points that a person gave count." in page
    assert "3 of 4 points" in page and "<p>Points given by Prof.</p>" in page
    assert "0 of 10 points" in page and "Prof: Said nothing." in page
    assert page.count("<h3>") == 2, "of the other tasks there is nothing to say"
    assert not any("903" in name for name in archive.namelist() if form != "folder")
    if form != "folder":  # points of 0 that a person gave are handed back too
        more["correct"] = ((ids[1], "query_context", "0", ""),)
        graded(tmp_path / "in", out, tasks=TEXTS, told=told | more)
        column = "Sheet 2 (77)" if form == "canvas" else "Grade"
        rows = [row for row in tables.read(out / "upload.csv")[1] if "90" in str(row.values())]
        assert [bool(row[column]) for row in rows] == [True, True, False]


# ------------------------------------------------------------------ across the weeks


def test_a_term_has_totals_and_says_who_needs_help(tmp_path):
    folder, term = tmp_path / "in", tmp_path / "term"
    for name, answers in (("ada", RIGHT), ("bob", fake_class.HALF), ("cem", fake_class.STUB)):
        put(folder / "two" / f"{name}.ipynb", sheet(answers), LATER)
    put(folder / "five" / "ada.ipynb", notebook(fake_class.OTHER_SHEET), LATER)
    put(folder / "five" / "bob.html", b"<html>", LATER)
    roster = tmp_path / "class.csv"
    roster.write_text("id,name,email\nada,Ada,a@x\nbob,Bob,b@x\ncem,Cem,c@x\n", encoding="utf-8")
    for lecture, week in ((2, "two"), (5, "five")):
        options = Options(lecture=lecture, rosters=(roster,), term=term, seed=7)
        out = term / f"sheet-{lecture}"
        grade_class(folder / week, out, options, tasks=GRADED, examiner=run_here)
    rows = {row["id"]: row for row in rows_of(term / "totals.csv")}
    assert [float(rows["ada"][f"sheet {n}"]) for n in (2, 5)] == [FULL, 0]
    assert float(rows["bob"]["points"]) == fake_class.SOME
    page = (term / "course.html").read_text(encoding="utf-8")
    assert "Cem (cem): 0% of the points; not handed in: 5" in page
    assert "Bob (bob): " in page and "% of the points; handed in, not graded: 5" in page
    assert "Whoever has less than 50% of the points, or a sheet that is missing" in page
    assert page.count("sheet 2: all of it, 0 points") == 1  # and not each task of it once more
    titles = {item.task: f"2.{item.number} {item.title}" for item in sheets()[2].items}
    assert f"<li>1 ×: {titles['query_context']}</li>" in page  # bob's alone
    assert titles["stable_softmax"] not in page


def test_unread_texts_are_not_lost_points(tmp_path):
    folder, term = tmp_path / "in", tmp_path / "term"
    tasks = GRADED | {"claim_gates": all_tasks()["claim_gates"]}
    half = dict.fromkeys(RIGHT, "")  # of 14 points and 20 for the text, 10 are had
    half |= {"stable_softmax": RIGHT["stable_softmax"]}
    text = {"claim_gates": "claim_gates = 'A gate is fixed.'"}
    for name, answers in (("ada", RIGHT), ("bob", half), ("cem", fake_class.STUB)):
        put(folder / f"{name}.ipynb", sheet(answers | text), LATER)
    roster = tmp_path / "class.csv"
    roster.write_text("id,name,email\nada,Ada,a@x\nbob,Bob,b@x\ncem,Cem,c@x\n", encoding="utf-8")
    more = f"roster = 'class.csv'\n[sheets.{SHEET}]\npoints = {{ claim_gates = 20 }}"

    def course():
        told = {"term": term}
        policy = policy_of(tmp_path, more)
        graded(folder, term / "sheet-2", tasks=tasks, told=told, policy=policy)
        return (term / "course.html").read_text(encoding="utf-8")

    [title] = [f"2.{i.number} {i.title}" for i in sheets()[2].items if i.task == "claim_gates"]
    title, page = html.escape(title), course()
    assert f"<p>Texts that wait for a person are not counted here, 3: {title}: 3</p>" in page
    assert f"×: {title}" not in page and f"<li>{title}</li>" not in page
    assert "Ada" not in page and "Bob" not in page
    assert "Cem (cem): 0% of the points" in page and "sheet 2: all that was read, 0 points" in page
    fill(term / "sheet-2" / "written.csv", lambda row: row.update(points="0"))
    page = course()
    assert "wait for a person" not in page and f"<li>2 ×: {title}</li>" in page
    assert "Ada (ada): 41% of the points" in page and "sheet 2: all of it, 0 points" in page


def test_identical_files_are_listed(tmp_path):
    """Also if all their answers are the model answers."""
    folder = tmp_path / "in"
    for name, answers in (("ada", RIGHT), ("bob", RIGHT), ("cem", fake_class.HALF)):
        put(folder / f"{name}.ipynb", sheet(answers), LATER)
    for name in ("dan", "eva"):  # nothing is answered: the same file is no wonder
        put(folder / f"{name}.ipynb", sheet(fake_class.STUB), LATER)
    graded(folder, tmp_path / "out")
    found = [row for row in rows_of(tmp_path / "out" / "similar.csv") if row["share"] == "1"]
    assert [(r["task"], r["id"], r["other id"]) for r in found] == [
        ("the whole file", "ada", "bob")
    ]
    assert "Identical files: ada, bob</h2>" in (tmp_path / "out" / "similar.html").read_text()


COPIED = """
def stable_softmax(scores):
    largest = np.max(scores, axis=-1, keepdims=True)
    moved = np.subtract(scores, largest)
    powers = np.power(np.e, moved)
    below = np.add.reduce(powers, axis=-1, keepdims=True)
    shares = np.divide(powers, below)
    return np.asarray(shares)
"""


def test_similar_answers_are_listed_despite_renaming(tmp_path):
    folder = tmp_path / "in"
    renamed = COPIED
    for word in ("largest", "moved", "powers", "below", "shares"):
        renamed = renamed.replace(word, word[::-1])
    renamed = renamed.replace("\n    return", "\n\n    # my own idea\n    return")
    answers = {"ada": COPIED, "bob": renamed, "cem": RIGHT["stable_softmax"]}
    answers |= {
        f"s{n}": RIGHT["stable_softmax"] for n in range(9)
    }  # the model answer: nobody's own
    for name, answer in answers.items():
        own = sheet(RIGHT | {"stable_softmax": answer}, f"# by {name}")
        put(folder / f"{name}.ipynb", own, LATER)
    graded(folder, tmp_path / "out")
    [row] = rows_of(tmp_path / "out" / "similar.csv")
    assert (row["id"], row["other id"], row["task"]) == ("ada", "bob", "stable_softmax")
    assert float(row["share"]) > 0.9


# ------------------------------------------------------------------ written tasks


def test_written_task_from_the_page_passes_the_proof(tmp_path):
    """The code that stands there, in a folder of the lecturer's own, and a class that answers."""
    from classroom.private_tasks import own_tasks
    from tests.grading import test_tasks as proof

    text = pages_about_grading()
    code = next(c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "TaskFile" in c)
    put(tmp_path / "private" / "tasks" / "lecture_02" / "why_divide.py", code.encode(), LATER)
    [task] = own_tasks(tmp_path / "private")
    proof.test_right_answers_get_full_marks(task, 0)
    proof.test_no_answer_gets_nothing(task)
    proof.test_every_known_mistake_is_rejected_and_named(task, lambda *_: None)
    answers = {"ada": "why_divide = 'Because of the variance.'", "bob": "why_divide = ..."}
    for name, answer in answers.items():
        put(tmp_path / "in" / f"{name}.ipynb", sheet(RIGHT | {"why_divide": answer}), LATER)
    policy = policy_of(tmp_path, "private = 'private'")
    done = graded(tmp_path / "in", tmp_path / "out", policy=policy)
    assert done.waiting == 1
    [row] = rows_of(tmp_path / "out" / "written.csv")
    assert (row["id"], row["answer"]) == ("ada", "Because of the variance.")
    guide = (tmp_path / "out" / "guide.html").read_text(encoding="utf-8")
    assert "It does not say what large scores do" in guide


def test_what_the_page_says_of_the_database_is_true(small):
    _, out = small
    again(small)
    fill(out / "written.csv", lambda row: row.update(points="2" if row["id"] == "bob" else ""))
    answers = fake_class.HALF | {"essay": "essay = 'By cem.'"}  # which nobody has read
    put(small[0] / "cem" / "02_sheet.ipynb", sheet(answers), LATER + 9)
    again(small)
    text = pages_about_grading()
    part = text.partition("\n## The database\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", part, re.MULTILINE)
    with sqlite3.connect(out / "grades.sqlite") as base:
        there = {
            row[0] for row in base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
        assert {name for name, _ in rows} == there
        for name, columns in rows:
            known = [row[1] for row in base.execute(f"PRAGMA table_info({name})")]
            assert re.findall(r"`(\w+)`", columns) == known, name
        sums, means, said = (
            base.execute(query).fetchall() for query in re.findall(r'"(SELECT [^"]*)"', part)
        )
    assert dict(sums) == points_of(out)
    assert dict(means) == {"stable_softmax": 10, "query_context": pytest.approx(8 / 3), "essay": 2}
    [(task, message, times)] = said
    assert (task, times) == ("query_context", 1) and "sum of the first two" in message


def test_options_and_files_of_the_pages_exist():
    """What the pages about grading tell you to type can be typed."""
    text = pages_about_grading()
    made = "".join(path.read_text() for path in (ROOT / "classroom").rglob("*.py"))
    made += (ROOT / "tools" / "autograder.py").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for option in set(re.findall(r"(?<![-\w])--([a-z]+)\b", text)):
        assert f'"--{option}"' in made or f"--{option}" in makefile, option
    for name in set(re.findall(r"`([a-z]+\.(?:csv|html|zip|sqlite))`", text)):
        assert f'"{name}"' in made, name
    for word in set(re.findall(r"\b([A-Z]{4,})=", text)) - {"SUBMISSIONS"}:
        assert f"$({word})" in makefile, word


def helped():
    """What `make help` says, by command."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.findall(r"^([a-z-]+):.*## (.*(?:\n## .*)*)\n((?:\t.*\n)*)", text, re.MULTILINE)
    return {name: (said, recipe) for name, said, recipe in found}


def test_make_help_names_every_variable():
    own = {"BIN", "MAKE", "CURDIR", "SITE", "PYTHON", "MAKEFILE_LIST"}
    own |= {"CI", "FAULTY", "ONLINE", "TESTS"}  # CI is set by services, not by people
    for name, (said, recipe) in helped().items():
        for word in (
            set(re.findall(r"\$\((?:or |if |addprefix [A-Z]+=,\$\()?([A-Z_]+)", recipe)) - own
        ):
            assert f"{word.removesuffix('_OPTION')}=" in said, (name, word)
    assert {"TABLE", "OPTIONS"} <= set(re.findall(r"\b([A-Z]+)=", helped()["grade"][0]))


def test_make_help_names_the_options_of_the_grader(capsys):
    """All of them and no other."""
    from classroom.cli import main

    with pytest.raises(SystemExit):
        main(["--help"])
    said, recipe = helped()["grade"]
    served = set(re.findall(r"(--[a-z]+) ", recipe)) | {"--help", "--review"}
    there = set(re.findall(r"^  (--[a-z-]+)", capsys.readouterr().out, re.MULTILINE))
    named = set(re.findall(r"--[a-z-]+", said))
    assert there - served <= named <= there | {"--help"}


def test_store_refuses_another_version(tmp_path):
    path = tmp_path / "grades.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA user_version = 99")
    with pytest.raises(ValueError, match="another version of the grader"):
        Store(path)
