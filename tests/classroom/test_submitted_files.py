"""Which of the submitted files counts, and whose it is: lectures, downloads, zips within zips."""

import io
import json
import random
import zipfile

import pytest

from classroom import tables
from classroom.options import Options
from classroom.pipeline import grade_class
from classroom.sheets import sheets
from grading.task import all_tasks
from tests.classroom import fake_class
from tests.classroom.class_runs import (
    FORMS,
    GRADED,
    IDS,
    again,
    fill,
    graded,
    points_of,
    policy_of,
    rows_of,
)
from tests.classroom.fake_class import FULL, LATER, RIGHT, SHEET, put, run_here, sheet
from tests.conftest import ROOT
from tests.grading.sample_tasks import notebook

pytestmark = pytest.mark.grader

LECTURES = sorted((ROOT / "lectures").glob("*.ipynb"))


def test_simultaneous_files_say_which_has_more_answers(tmp_path):
    put(tmp_path / "in" / "ada" / "x.ipynb", sheet(RIGHT), LATER)
    put(tmp_path / "in" / "ada" / "x-1.ipynb", sheet(RIGHT | {"stable_softmax": "pass"}), LATER)
    put(tmp_path / "in" / "bob" / "x.ipynb", sheet(fake_class.STUB), LATER)
    (tmp_path / "class.csv").write_text("id,name,email\nada,Ada,a@x\nbob,Bob,b@x\n")
    graded(tmp_path / "in", tmp_path / "out", told={"rosters": (tmp_path / "class.csv",)})
    [row] = [r for r in rows_of(tmp_path / "out" / "look.csv") if "same time" in r["what"]]
    assert "which counts, and contains more answers;" in row["what"]
    said = {row["file"]: row["status"] for row in rows_of(tmp_path / "out" / "files.csv")}
    told = "not counted: ada/x-1.ipynb, submitted at the same time, counts"
    assert said["ada/x.ipynb"] == told
    flags = {row["id"]: row["flags"] for row in rows_of(tmp_path / "out" / "grades.csv")}
    assert sorted(flags.values()) == ["", "no task is answered"]


def test_lecture_is_not_mistaken_for_a_sheet(small):
    folder, out = small
    put(folder / "dan" / "lecture.ipynb", notebook(["x = [split_heads]"]), LATER)
    again(small)
    row = next(r for r in rows_of(out / "files.csv") if r["file"].startswith("dan"))
    assert row["status"] == f"It contains no task of sheet {SHEET}. Hand in that sheet."


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
        assert (
            row[column].removeprefix("not graded: ")
            == "It is the lecture. Hand in the sheet with your answers."
        )


def test_answers_inside_a_lecture_are_graded(tmp_path):
    book = json.loads((ROOT / "lectures" / f"{sheets()[2].page}.ipynb").read_text(encoding="utf-8"))
    whole = json.loads(sheet(RIGHT))
    answers = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
    book["cells"] = [cell for cell in book["cells"] if cell["cell_type"] == "markdown"] + answers
    put(tmp_path / "in" / "ada.ipynb", json.dumps(book).encode(), LATER)
    graded(tmp_path / "in", tmp_path / "out")
    assert points_of(tmp_path / "out") == {"ada": FULL}


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


def test_all_sheets_in_one_zip_stop_no_class(small):
    folder, out = small
    books = {
        f"{n:02}__dot__ipynb": notebook([f"check('{sheets()[n].items[0].task}')"])
        for n in (1, 3, 4, 6, 7)
    }
    course = {task.name: task for task in all_tasks().values()}
    put(
        folder / "dan" / "all.zip",
        fake_class.zipped(**books, **{"02__dot__ipynb": sheet(RIGHT)}),
        LATER,
    )
    graded(folder, out, tasks=course | GRADED, told={"rosters": (folder.parent / "class.csv",)})
    assert points_of(out)["dan"] == FULL


def test_lost_choice_is_listed(small):
    """Also if the newer download has another file of the same name."""
    folder, out = small
    put(folder / "ada" / "02_sheet (1).ipynb", sheet(fake_class.HALF), LATER + 9)
    again(small, count=("ada/02_sheet.ipynb",))
    assert not rows_of(out / "look.csv")
    (folder / "ada" / "02_sheet.ipynb").unlink()
    again(small)
    [row] = rows_of(out / "look.csv")
    assert row["what"].startswith("you chose 02_sheet.ipynb on 20")
    after = "which is no longer among the submissions; 02_sheet (1).ipynb counts now"
    assert row["what"].endswith(after) and row["file"] == "ada/02_sheet (1).ipynb"
    again(small, count=("ada/02_sheet (1).ipynb",))
    assert not rows_of(out / "look.csv"), "a new choice settles it"


def test_lost_choice_of_an_older_download_is_listed(tmp_path):
    inside = "Participant_901_assignsubmission_file/a.ipynb"
    (tmp_path / "in").mkdir()
    for name, answers in (("week.zip", RIGHT), ("week (1).zip", fake_class.HALF)):
        data = fake_class.zipped(**{inside: sheet(answers)})
        (tmp_path / "in" / name).write_bytes(data)
        (tmp_path / name).write_bytes(data)
    out = tmp_path / "out"
    graded(tmp_path / "in", out, told={"count": (f"week.zip/{inside}",)})
    assert not rows_of(out / "look.csv")
    graded(tmp_path / "week.zip", out)
    assert not rows_of(out / "look.csv"), "the same file in another place"
    graded(tmp_path / "week (1).zip", out)
    [row] = rows_of(out / "look.csv")
    assert "you chose a.ipynb in week.zip on 20" in row["what"]
    assert row["what"].endswith("; a.ipynb counts now")


def test_file_in_two_downloads_is_listed_once(tmp_path):
    inside = "Participant_901_assignsubmission_file/"
    first = {f"{inside}a.ipynb": sheet(fake_class.HALF), f"{inside}b.ipynb": sheet(RIGHT)}
    (tmp_path / "in").mkdir()
    for name in ("week.zip", "week (1).zip"):
        (tmp_path / "in" / name).write_bytes(fake_class.zipped(**first))
        graded(tmp_path / "in", tmp_path / "out")
        [row] = rows_of(tmp_path / "out" / "look.csv")
        assert row["what"].startswith("submitted at the same time as b.ipynb, which counts")
        assert bool(row["seen"]) == (name == "week (1).zip")
        fill(tmp_path / "out" / "look.csv", lambda row: row.update(seen="KL"))


@pytest.mark.parametrize("lines", [100_000, 2_500_000])
def test_repeated_output_in_a_zip_is_no_bomb(tmp_path, lines):
    """A notebook of 50 MB is read however well it can be compressed."""
    book = json.loads(sheet(RIGHT))
    text = "step 1 of 10: loss 0.25\n" * lines
    book["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("02_sheet.ipynb", json.dumps(book))
    put(tmp_path / "in" / "ada.zip", made.getvalue(), LATER)
    graded(tmp_path / "in", tmp_path / "out")
    [row] = rows_of(tmp_path / "out" / "grades.csv")
    if lines < 1_000_000:
        assert (float(row["points"]), row["status"]) == (FULL, "ok")
    else:
        assert "It is larger than 50 MB. Clear all outputs" in row["status"]


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
    assert look["what"].startswith("is from another download than x.ipynb in b, which counts")
    assert "--count" in look["what"] and "same time" not in look["what"]
    rows = {row["file"]: row for row in rows_of(out / "files.csv")}
    assert rows[first]["status"] == f"not counted: {second} from another download counts"
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
    assert "it contains more than 200 files. Hand in the notebook itself" in rows["wide"]["status"]
    assert "a zip within 4 others" in rows["deep"]["status"]
    assert "it unpacks to more than 1 MB. Hand in the notebook" in rows["large"]["status"]
    assert len(rows_of(tmp_path / "out" / "files.csv")) < 400
