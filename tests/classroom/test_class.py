"""A class of 120 in every form of export: each student's points, and nobody missing or merged."""

import shutil
import sqlite3
import zipfile

import pytest

from classroom import tables
from classroom.cli import run_lines
from classroom.gradebook.store import Store
from classroom.options import Options
from classroom.pipeline import grade_class
from tests.classroom import fake_class
from tests.classroom.class_runs import (
    FORMS,
    GRADED,
    IDS,
    TEXTS,
    again,
    fill,
    graded,
    points_of,
    policy_of,
    rows_of,
)
from tests.classroom.fake_class import FULL, LATER, RIGHT, Made, put, run_here, sheet
from tests.grading.sample_tasks import notebook

pytestmark = pytest.mark.grader


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


@pytest.fixture
def reviewed(whole, tmp_path):
    """A copy of the class in which a person has looked at everything that look.csv lists."""
    form, members, graded_once, _ = whole
    top = tmp_path / form
    shutil.copytree(graded_once, top)
    fill(top / "out" / "look.csv", lambda row: row.update(seen="yes"))
    return form, members, top


def test_final_grades_fill_the_lms_table(reviewed):
    """Before that there is no file to upload."""
    form, members, top = reviewed
    out = top / "out"
    assert not (out / "upload.csv").exists() and not (out / "feedback.zip").exists()
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


@pytest.mark.parametrize("whole", ["blind"], indirect=True)
def test_blind_class_keeps_points_once_names_are_known(reviewed):
    """Nothing is to be reviewed a second time."""
    _, members, top = reviewed
    out, before = top / "out", points_of(top / "out")
    table = fake_class.moodle(top / "again" / "in", members)
    done = graded(top / "again" / "in", out, told={"rosters": (table,), "scale": True})
    assert (done.failures, done.open_items, done.renamed) == (0, 0, 120)
    found = points_of(out)
    assert found == {one.email: before[f"Participant {one.number}"] for one in members}
    assert found == {one.email: one.points for one in members}


def test_changed_csv_lists_changed_points_and_why(small):
    folder, out = small
    assert again(small).changed == 0 and not (out / "changed.csv").exists()
    fill(out / "written.csv", lambda row: row.update(points="2" if row["id"] == "bob" else ""))
    answers = fake_class.HALF | {"essay": "essay = 'By ada.'"}
    put(folder / "ada" / "x.ipynb", sheet(answers), LATER + 9)
    assert again(small).changed == 2
    found = {row["id"]: row for row in rows_of(out / "changed.csv")}
    assert found.keys() == {"ada", "bob"}
    assert found["bob"]["what changed"] == "essay: not marked → 2"
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
        assert done.counts["left the sheet unanswered"] == empty > 0
    assert len(points_of(tmp_path / "out")) == 10


def test_missing_submission_has_a_row_and_takes_points(small):
    _, out = small
    again(small)
    row = next(r for r in rows_of(out / "grades.csv") if r["id"] == "dan")
    assert (row["status"], row["points"]) == ("submitted nothing", "0")
    again(small, correct=(("dan", "essay", "2", "Told me."),))
    assert points_of(out)["dan"] == 2


@pytest.mark.parametrize(("form", "theirs"), [("moodle", "and this assignment"), ("canvas", "")])
def test_number_not_in_the_table_has_a_likely_reason(tmp_path, form, theirs):
    """Not the question whether there is such a table, if there is one."""
    names = {7: "Ada Seven", 8: "Bob Eight"}
    members = [Made(n, who, {"a.ipynb": (sheet(RIGHT), LATER)}) for n, who in names.items()]
    table = FORMS[form](tmp_path / "in", members)
    text = table.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    table.write_text("".join(line for line in text if "Eight" not in line), encoding="utf-8")
    graded(tmp_path / "in", tmp_path / "out", told={"rosters": (table,)})
    [row] = rows_of(tmp_path / "out" / "look.csv")
    assert f"a guest, or is {form.title()}'s" in row["what"] and theirs in row["what"]
    others = tmp_path / "members.csv"
    others.write_text("id,name,email\nx,X,x@x\n")
    graded(tmp_path / "in", tmp_path / "other", told={"rosters": (others,)})
    said = [row["what"] for row in rows_of(tmp_path / "other" / "look.csv")]
    assert len(said) == 2 and all("among the rosters" in what for what in said)


def test_tables_of_another_class_are_noticed(small, tmp_path):
    """Before 120 students who submitted nothing are taken for a result."""
    folder, out = small
    again(small)
    table = tmp_path / "other.csv"
    table.write_text("id,name,email\nzoe,Zoe,z@x\n")
    options = Options(lecture=fake_class.SHEET, rosters=(table,))
    said = "\n".join(run_lines(graded(folder, out, told={"rosters": (table,)}), options, out))
    assert "No file belongs to anybody on the roster" in said
    assert "3 students of earlier runs have no row now" in said and "(OUT=…)" in said
    assert "No file belongs" not in "\n".join(run_lines(again(small), options, out))
    assert points_of(out)["ada"] == FULL  # the first class is still there


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


def test_without_a_roster_whoever_handed_in_has_a_row(tmp_path):
    put(tmp_path / "in" / "ada.ipynb", b"", LATER)
    put(tmp_path / "in" / "bob.py", b"x = 1", LATER)
    put(tmp_path / "in" / "cem.ipynb", sheet(RIGHT), LATER)
    options = Options(seed=7)
    grade_class(tmp_path / "in", tmp_path / "out", options, tasks=GRADED, examiner=run_here)
    rows = {row["id"]: row for row in rows_of(tmp_path / "out" / "grades.csv")}
    assert rows["ada"]["points"] == "0" and rows["ada"]["status"].startswith("The file is empty.")
    assert rows["cem"]["points"] == "14"
    [look] = [r for r in rows_of(tmp_path / "out" / "look.csv") if r["file"] == "bob.py"]
    assert "not a notebook (.py)" in look["what"]


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


def test_made_students_are_what_they_say():
    """Two of each name, every oddity in two students of the same name."""
    members = fake_class.students()
    names = [one.name for one in members]
    assert all(names.count(name) > 1 for name in names)
    assert isinstance(members[0], Made)


def test_store_refuses_another_version(tmp_path):
    path = tmp_path / "grades.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA user_version = 99")
    with pytest.raises(ValueError, match="another version of the grader"):
        Store(path)
