"""Situations in which users of other programs ran into trouble, each with the report."""

import io
import os
import sqlite3
import time
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from classroom import cli, tables
from classroom.intake.files import Handed, Refused
from classroom.intake.owners import owner_of
from classroom.intake.roster import read_roster
from classroom.intake.submissions import find
from classroom.lms import exports
from classroom.policy import Policy, SheetRules
from classroom.private_tasks import own_tasks, with_own_cases
from classroom.sandbox.worker import notebook_space
from classroom.sheets import sheets
from tests.classroom.class_runs import again, graded, policy_of, rows_of
from tests.classroom.fake_class import HALF, LATER, OTHER_SHEET, RIGHT, put, sheet
from tests.grading.sample_tasks import notebook

grader = pytest.mark.grader
linux = pytest.mark.skipif(os.name != "posix", reason="names of files are no bytes there")
BERLIN = ZoneInfo("Europe/Berlin")


def owners(folder):
    return {handed.owner.id for handed in find(folder)}


# ------------------------------------------------------------------ one file stops the run


@pytest.mark.parametrize("fault", ["locked", "damaged"])
@grader
def test_unusable_database_is_said(small, fault, capsys):
    """jupyter/nbformat#52, abraunegg/onedrive#688"""
    folder, out = small
    out.mkdir()
    base = sqlite3.connect(out / "grades.sqlite", isolation_level=None)
    if fault == "locked":
        base.execute("BEGIN EXCLUSIVE")
    else:
        (out / "grades.sqlite").write_bytes(b"half of what a program synchronized" * 50)
    try:
        assert cli.main([str(folder), "--out", str(out), "--lecture", "2"]) == 2
    finally:
        base.close()
    assert "grades.sqlite: " in capsys.readouterr().out


def test_full_disk_is_said(tmp_path, monkeypatch, capsys):
    """Where the database fails later than at its opening."""

    def full(*_, **__):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(cli, "grade_class", full)
    assert cli.main([str(tmp_path), "--out", str(tmp_path / "out"), "--lecture", "2"]) == 2
    assert "Nothing more was graded: database or disk is full" in capsys.readouterr().out


def test_one_student_needs_one_sheet(capsys):
    """Submitty/Submitty#11736"""
    with pytest.raises(SystemExit):
        cli.main(["in", "--student", "ada"])
    assert "--student needs --lecture too" in capsys.readouterr().err


TIMES = "[late]\ntimes = 'times.csv'\n[sheets.2]\ndue = 2023-11-15T12:00:00Z"


@grader
def test_who_has_no_time_stops_nobody(small, tmp_path):
    """MarkUsProject/Markus#6772, and two times for one student"""
    times = tmp_path / "times.csv"
    times.write_text("id,handed\nada,2023-11-15T11:00:00Z\ndan,\n")
    assert graded(*small, policy=policy_of(tmp_path, TIMES)).failures == 0
    times.write_text("id,handed\nada,2023-11-15T11:00:00Z\nada,2023-11-16T11:00:00Z\n")
    with pytest.raises(ValueError, match=r"times\.csv, line 3: ada has two times"):
        graded(*small, policy=policy_of(tmp_path, TIMES))


@linux
def test_a_closed_folder_stops_nobody(tmp_path, monkeypatch):
    """jupyter/nbgrader#419, #728: a student's folder may be listed, and not entered."""
    for name in ("ada/sub/02_x.ipynb", "bea/02_x.ipynb"):
        put(tmp_path / name, b"{}", LATER)
    is_symlink = Path.is_symlink

    def closed(path):
        if path.parent.name == "sub":  # for root no folder is closed
            raise PermissionError(13, "Permission denied", str(path))
        return is_symlink(path)

    monkeypatch.setattr(Path, "is_symlink", closed)
    problems = {handed.name: handed.problem for handed in find(tmp_path)}
    assert problems["bea/02_x.ipynb"] == ""
    assert problems["ada/sub/02_x.ipynb"].startswith("It cannot be read: Permission denied")


def test_feedback_tells_no_path_of_this_machine(tmp_path):
    handed = Handed(tmp_path / "gone.ipynb", "gone.ipynb", owner_of("gone.ipynb"), 0.0)
    with pytest.raises(Refused, match=r"cannot be read: No such file or directory\. Hand it"):
        handed.read()


@pytest.mark.parametrize("name", ["__init__.py", "._essay.py"])
def test_private_folder_may_hold_other_files(tmp_path, name):
    """AUTOMATIC1111/stable-diffusion-webui#11649: macOS writes such files beside others."""
    for place in ("tasks/lecture_02", "cases"):
        put(tmp_path / place / name, b"\0\5\26\7", LATER)
    assert own_tasks(tmp_path) == [] and with_own_cases(tmp_path, {}) == {}


def test_help_is_there_as_in_jupyter():
    """pyinstaller/pyinstaller#4768: it comes from `site`, which a worker does without."""
    import sys

    main = sys.modules["__main__"]
    try:
        assert "help" in notebook_space()
    finally:
        sys.modules["__main__"] = main


# ------------------------------------------------------------------ files of other programs


@pytest.mark.parametrize(
    "text",
    [
        "\n;;\nid;name;email\nada;Brook, Ada;a@x\n",  # tidyverse/readr#680
        '"id", "name", "email"\n"ada", "Brook, Ada", "a@x"\n',  # wireservice/csvkit#201
        'id,name,email\r\nada,"Brook, Ada",a@x\r\n\x1a',  # Rdatatable/data.table#1612
        'id,name,email\nada,"Brook, Ada",a@x\n\ufeffid,name,email\n',  # whitfin/s3-concat#3
        'id,name,email\n\u200bada\ufeff,"Brook, Ada",\u200ea@x\n',  # LuteOrg/lute-v3#612
        'id,name,email,a;b;c;d;e\nada,"Brook, Ada",a@x,\n',  # python/cpython#97611
    ],
)
def test_rosters_as_programs_write_them(tmp_path, text):
    (tmp_path / "class.csv").write_text(text, encoding="utf-8", newline="")
    [student] = read_roster([tmp_path / "class.csv"])
    assert (student.id, student.name, student.email) == ("ada", "Brook, Ada", "a@x")


def test_a_row_may_end_early(tmp_path):
    """Some programs leave out the delimiters after the last cell that is filled in."""
    (tmp_path / "class.csv").write_text("id;name;email\nada;Brook, Ada;a@x\nbea\n")
    assert [student.id for student in read_roster([tmp_path / "class.csv"])] == ["ada", "bea"]


def test_whole_numbers_may_come_from_pandas(tmp_path):
    """pandas-dev/pandas#28335: one empty cell in a column makes 501.0 of 501."""
    table = tmp_path / "gradebook.csv"
    table.write_text(GRADEBOOK.format("", "") + '"Brook, Ada",501.0,a@x,A,\n')
    [student] = read_roster([table])
    assert student.numbers == {"canvas 501"}
    one = SimpleNamespace(student=student, lecture=2, points=14.0, possible=14.0, graded=True)
    assert exports.fill([one], table, "Sheet 2", scale=False).rows[1]["Sheet 2 (77)"] == "14"


def test_zip_of_a_mac_keeps_letters_with_marks(tmp_path):
    """weichsel/ZIPFoundation#63: its names are UTF-8, but nothing in it says so."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("jörg/02_x.ipynb", "{}")
        archive.writestr("bea/02_x.ipynb", "{}")
    data = made.getvalue()
    for header, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = data.index(header) + flags
        data = data[:place] + b"\0\0" + data[place + 2 :]
    (tmp_path / "in.zip").write_bytes(data)
    assert owners(tmp_path / "in.zip") == {"jörg", "bea"}
    assert all(handed.read() == b"{}" for handed in find(tmp_path / "in.zip"))


@linux
def test_names_in_latin_1_stay_apart(tmp_path):
    """cs50/submit50#158, squell/bb-scripts#54"""
    for name in ("müller", "möller"):
        place = os.path.join(os.fsencode(tmp_path), name.encode("latin-1"))
        os.mkdir(place)
        with open(place + b"/02_x.ipynb", "wb") as file:
            file.write(b"{}")
    assert owners(tmp_path) == {"müller", "möller"}


def test_what_git_and_editors_leave_is_litter(tmp_path):
    """dodona-edu/dodona#4578"""
    for name in (".git/HEAD", ".gitignore", ".venv/x.ipynb", "__pycache__/x.pyc", "02_x.ipynb"):
        put(tmp_path / "ada" / name, b"{}", LATER)
    assert [handed.name for handed in find(tmp_path)] == ["ada/02_x.ipynb"]


# ------------------------------------------------------------------ numbers and times


@linux
@grader
def test_times_in_a_zip_are_those_of_the_class(tmp_path, monkeypatch):
    """php/php-src#12532: a zip has local times, and does not say of which place; so a zip in it."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    made, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        entry = zipfile.ZipInfo("02_x.ipynb", (2026, 11, 2, 23, 30, 0))
        archive.writestr(entry, sheet(RIGHT))
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("work.zip", made.getvalue())
    put(tmp_path / "in" / "ada.zip", outer.getvalue(), LATER)
    rules = "[late]\ntimes = 'files'\ntime_zone = 'Europe/Berlin'\n[sheets.2]\ndue = 2026-11-02"
    try:
        graded(tmp_path / "in", tmp_path / "out", policy=policy_of(tmp_path, rules))
    finally:
        monkeypatch.undo()
        time.tzset()
    [file] = rows_of(tmp_path / "out" / "files.csv")
    assert file["handed in"] == "2026-11-02T23:30:00+01:00"


@pytest.mark.parametrize(
    ("due", "minutes", "days"),
    [
        (datetime(2027, 3, 28, 1, 50), 15, 0),  # the clocks go from 2 to 3
        (datetime(2026, 10, 25, 2, 50), 65, 1),  # and from 3 back to 2
        (datetime(2026, 10, 25, 2, 50), 30, 1),  # at 2:20, half an hour after 2:50
        (datetime(2026, 10, 24, 20, 0), 24 * 60 + 50, 1),  # a day of 25 hours
        (datetime(2027, 3, 27, 20, 0), 23 * 60 + 30, 2),  # and one of 23
    ],
)
def test_grace_and_days_where_clocks_change(due, minutes, days):
    """autolab/Autolab#932, Submitty/Submitty#10014, python/cpython#116111"""
    due = due.replace(tzinfo=BERLIN)
    handed = datetime.fromtimestamp(due.timestamp() + 60 * minutes, BERLIN)
    for zone in (BERLIN, ZoneInfo("UTC")):
        rules = {2: SheetRules(due=due.astimezone(zone))}
        policy = Policy(sheets=rules, grace=timedelta(minutes=20), zone=BERLIN)
        assert policy.days_late(2, "ada", handed) == days


def test_an_extension_never_shortens():
    """eecs-autograder/autograder.io#29, okpy/ok#1164"""
    day = datetime(2026, 11, 2, tzinfo=BERLIN)
    for due, longer, until in ((2, 1, 2), (1, 2, 2), (None, 1, 1)):
        rules = SheetRules(due and day.replace(day=due), {"ada": day.replace(day=longer)})
        assert Policy(sheets={2: rules}).due(2, "ada") == day.replace(day=until)


def test_underscores_are_no_part_of_a_number():
    """omry/omegaconf#996: 1_5 is a slip for 1.5, and not 15."""
    with pytest.raises(ValueError, match="1_5"):
        tables.number("1_5")


@pytest.mark.parametrize("most", ["33.33333", "12.345"])
def test_all_points_scale_to_the_maximum(tmp_path, most):
    """autolab/Autolab#1859; Moodle refuses 12.35 of 12.345 points."""
    table = tmp_path / "worksheet.csv"
    table.write_text(f"Identifier,Grade,Maximum Grade\nParticipant 901,,{most}\n")
    student = SimpleNamespace(also=("moodle 901",))
    one = SimpleNamespace(student=student, lecture=2, points=97.0, possible=97.0, graded=True)
    assert exports.fill([one], table, "", scale=True).rows[0]["Grade"] == most


@grader
def test_all_points_are_the_maximum_of_a_task(small, tmp_path):
    """autolab/Autolab#1859: 0.333 points, rounded, would be less, and 0.667 more."""
    rules = "[sheets.2]\npoints = { query_context = 0.333, stable_softmax = 0.667 }"
    graded(*small, policy=policy_of(tmp_path, rules))
    row = rows_of(small[1] / "grades.csv")[0]
    assert [row[name] for name in ("points", *RIGHT)] == ["1", "0.667", "0.333"]


@grader
def test_a_share_is_shown_as_it_counts(small, tmp_path):
    """ls1intum/Artemis#2969: 7 of 8 points are not 88 percent of them."""
    rules = (
        "[late]\ntimes = 'files'\npercent_per_day = 12.5\n[sheets.2]\ndue = 2023-11-15T23:00:00Z"
    )
    graded(*small, policy=policy_of(tmp_path, rules))
    pages = [path.read_text(encoding="utf-8") for path in (small[1] / "feedback").glob("*.html")]
    assert pages and all("87.5% of 14 points count" in page for page in pages)


# ------------------------------------------------------------------ results in the wrong place


@pytest.mark.parametrize(
    "files",
    [
        ("ada/solution.ipynb", "bea/solution.ipynb"),  # earthlab/abc-classroom#88
        ("ada/ps1/02_x.ipynb", "bea/ps1/02_x.ipynb"),  # jupyter/nbgrader#1905
        ("in/ada/ps1/02_x.ipynb", "in/ada/ps1/x.png", "in/bea/ps1/02_x.ipynb"),
        ("ada/hw_02_2026_11_02.ipynb", "bea/hw_02_2026_11_02.ipynb"),
        ("monday/ada.ipynb", "tuesday/bea.ipynb"),
        ("1/ada.ipynb", "1/bea.ipynb", "2/ada.ipynb"),
    ],
)
def test_students_are_told_apart_by_what_differs(tmp_path, files):
    for name in files:
        put(tmp_path / name, b"{}", LATER)
    assert owners(tmp_path) == {"ada", "bea"}


@pytest.mark.parametrize(
    "name",
    [
        "hw_02_2026_11_02",
        "hw_2_2026_11_02",
        "hw_02_1234_x",
        "hw_2_20261102_v1",
        "hw_20261102_235900_x",
    ],
)
def test_a_date_in_a_name_is_not_canvas(name):
    """federicazoe/gradetools#17: the files keep the names that students gave them."""
    assert owner_of(f"ada/{name}.ipynb").system == ""
    assert owner_of(f"brookada_501_9001_{name}.ipynb").id == "501"


@pytest.mark.parametrize("told", ["out", "term"])
@grader
def test_results_among_submissions_are_refused(small, told):
    """someodd/burrow#69: the next run would read them as submissions."""
    folder, out = small
    inside, asked = folder / "results", {}
    out, asked = (inside, {}) if told == "out" else (out, {"term": inside})
    with pytest.raises(ValueError, match="lies in the folder of submissions"):
        graded(folder, out, told=asked)
    assert not inside.exists()


GRADEBOOK = "Student,ID,SIS Login ID,Section,{}Sheet 2 (77)\n    Points Possible,,,,{}14\n"


@grader
def test_columns_of_one_name_are_refused(tmp_path):
    """python/cpython#61739: the last of them would be written into both."""
    table = tmp_path / "gradebook.csv"
    table.write_text(GRADEBOOK.format("Notes,Notes,", ",,") + '"Brook, Ada",501,a@x,A,b,c,\n')
    with pytest.raises(ValueError, match="two columns are named 'Notes'"):
        exports.require_fits(table, "Sheet 2", 14.0)


def test_what_the_system_keeps_is_said(tmp_path):
    """sakaiproject/sakai#14926, turnitin/moodle-mod_turnitintooltwo#832"""
    student = SimpleNamespace(also=("canvas 501", "moodle 501"), name="Ada", id="ada")
    one = SimpleNamespace(student=student, lecture=2, points=14.0, possible=14.0, graded=True)
    table = tmp_path / "table.csv"
    table.write_text(GRADEBOOK.format("", "") + '"Brook, Ada",501,a@x,A,EX\n')
    filled = exports.fill([one], table, "Sheet 2", scale=False)
    assert filled.rows[1]["Sheet 2 (77)"] == "EX" and "1 are excused (EX)" in filled.said
    table.write_text("Identifier,Grade,Maximum Grade,Grade can be changed\nP 501,3,14,No\n")
    assert "1 Moodle lets nobody change" in exports.fill([one], table, "", scale=False).said


def test_another_student_has_the_same_number(tmp_path):
    """TEAMSchools/teamster#3954: one's own number may be another's in Canvas."""
    own, table = tmp_path / "class.csv", tmp_path / "gradebook.csv"
    own.write_text("id,name\n501,Ada Brook\n")
    table.write_text(GRADEBOOK.format("", "") + '"Cole, Ben",501,,A,\n')
    with pytest.raises(ValueError, match="'canvas 501' is Ada Brook in another table and Cole"):
        read_roster([own, table])
    table.write_text(GRADEBOOK.format("", "") + '"Brook, Ada",501,,A,\n')
    assert len(read_roster([own, table])) == 1


def test_every_student_has_a_folder_in_the_zip():
    """RunestoneInteractive/RunestoneServer#1038: of two with one path, one would have no page."""
    ids = ["ada", "a@x.org", "jörg", "Ada", "a/b", "a_b", "a:b", "..", ".x", "A_B"]
    folders = [exports._folder(id) for id in ids]
    assert len({folder.lower() for folder in folders}) == len(ids)
    assert folders[:3] == ids[:3] and not any("/" in f or f.startswith(".") for f in folders)


@grader
def test_points_that_contradict_are_refused(small, tmp_path):
    """pawtograder/platform#979: of two rows about one student, the last one would count."""
    table = tmp_path / "points.csv"
    table.write_text("id,task,points\nada,essay,1\nada,essay,3\n")
    with pytest.raises(ValueError, match="line 3: line 2 has other points for ada, essay"):
        again(small, points=(table,))
    table.write_text("id,task,points,author\nada,essay,1,Ann\nada,essay,3,Ben\n")
    assert again(small, points=(table,)).open_items == 1


@grader
def test_a_picture_is_no_other_sheet(tmp_path):
    """jupyter/nbgrader#1211: what lies beside one sheet says nothing of another."""
    (tmp_path / "class.csv").write_text("id,name\nada,Ada\nbea,Bea\ncem,Cem\n")
    for name, data in {
        "ada/02_x.ipynb": sheet(RIGHT),
        "ada/plot.png": b"x",
        "cem/02_x.ipynb": sheet(RIGHT),
        "cem/05_x.ipynb": b"half a notebook",
        "cem/plot.png": b"x",
        "bea/02_x.ipynb": sheet(HALF),
        "bea/05_x.ipynb": notebook(OTHER_SHEET),
    }.items():
        put(tmp_path / "in" / name, data, LATER)
    told = {"lecture": None, "scale": False, "rosters": (tmp_path / "class.csv",)}
    graded(tmp_path / "in", tmp_path / "out", told=told)
    said = {
        (row["id"], row["lecture"]): row["status"] for row in rows_of(tmp_path / "out/grades.csv")
    }
    assert said["ada", "5"] == "submitted nothing"
    assert said["cem", "5"].startswith("The file is damaged")


@grader
def test_two_sheets_in_one_notebook_are_listed(small):
    """jupyter/nbgrader#1219: what nobody grades is not left out without a word."""
    folder, out = small
    cells = [f'{source}\n\ncheck("{name}")' for name, source in RIGHT.items()]
    put(folder / "eve" / "02_x.ipynb", notebook([*cells, *OTHER_SHEET]), LATER)
    graded(folder, out, told={"lecture": None, "scale": False})
    [row] = [row for row in rows_of(out / "look.csv") if row["id"] == "eve"]
    assert row["what"].startswith("answers sheet 5 too")


@pytest.mark.parametrize("lecture", [2, 5])
@grader
def test_each_sheet_of_one_notebook_is_graded(tmp_path, lecture):
    """Whichever is asked for: the other one may have more tasks."""
    folder, out = tmp_path / "in", tmp_path / "out"
    cells = [f'{source}\n\ncheck("{name}")' for name, source in RIGHT.items()]
    others = [
        f"def {item.task}(x):\n    return x\ncheck('{item.task}')" for item in sheets()[5].items
    ]
    put(folder / "eve" / "all.ipynb", notebook([*cells, *others]), LATER)
    graded(folder, out, told={"lecture": lecture, "scale": False})
    [row] = rows_of(out / "grades.csv")
    assert (row["status"], row["lecture"]) == ("ok", str(lecture))


@grader
def test_policy_of_no_sheet_is_refused(small, tmp_path):
    """K0M15/webserv#62: a slip in a number would leave a sheet without its rules."""
    with pytest.raises(ValueError, match=r"\[sheets.20\]: no sheet 20; the sheets are: 2, 5"):
        graded(*small, policy=policy_of(tmp_path, "[sheets.20]\npartial = false"))


@grader
def test_replaced_tables_of_a_sheet_are_said(small):
    """mitobo-hub/mitobo#7"""
    folder, out = small
    put(folder / "ada" / "05_x.ipynb", notebook(OTHER_SHEET), LATER)
    assert graded(folder, out).replaced == []
    told = {"lecture": 5, "scale": False}
    (folder / "bob" / "02_sheet.ipynb").unlink()
    (folder / "cem" / "02_sheet.ipynb").unlink()
    assert graded(folder, out, told=told).replaced == [2]
