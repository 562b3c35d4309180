"""Points that a person gives: marks of written answers, corrections, and their tables."""

import html
import json
import sqlite3
import subprocess
import zipfile
from dataclasses import replace

import pytest

from classroom import tables
from classroom.gradebook.store import Correction
from classroom.sheets import sheets
from grading.task import all_tasks
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
from tests.classroom.fake_class import FULL, LATER, RIGHT, put, sheet
from tests.conftest import ROOT

pytestmark = pytest.mark.grader


def test_points_for_a_removed_answer_are_reviewed(small):
    folder, out = small
    again(small)
    again(small, correct=(("ada", "stable_softmax", "3", ""),))
    put(folder / "ada" / "x.ipynb", sheet({"query_context": RIGHT["query_context"]}), LATER + 9)
    again(small)
    said = [row["what"] for row in rows_of(out / "look.csv") if row["id"] == "ada"]
    assert "stable_softmax: no answer is there now, and 3 points were given" in said


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
    assert row["points"] == "" and "2.5 for another text of this student" in row["earlier"]
    assert points_of(out)["ada"] == FULL


def test_mark_returns_with_the_text_it_was_given_for(small):
    folder, out = small
    again(small)
    fill(out / "written.csv", lambda row: row.update(points="2", comment="Why?", author="KL"))
    again(small)
    put(folder / "ada" / "new.ipynb", sheet(RIGHT | {"essay": "essay = 'New.'"}), LATER + 9)
    assert again(small).waiting == 1
    fill(out / "written.csv", lambda row: row.update(points="3") if not row["points"] else None)
    assert again(small).waiting == 0 and points_of(out)["ada"] == FULL + 3
    [row] = rows_of(out / "changed.csv")
    assert row["what changed"] == "essay: not marked → 3"
    for file, points in (("02_sheet.ipynb", 2), ("new.ipynb", 3), ("02_sheet.ipynb", 2)):
        assert again(small, count=(f"ada/{file}",)).waiting == 0
        assert points_of(out)["ada"] == FULL + points
    with sqlite3.connect(out / "grades.sqlite") as base:
        [made] = base.execute("SELECT count(*) FROM correction WHERE student = 'ada'").fetchone()
    assert made == 2, "nothing was marked again"
    again(small, correct=(("ada", "essay", "-", ""),))
    assert again(small, count=("ada/new.ipynb",)).waiting == 1, "all points of the task are gone"


ANSWER = "The weights are a softmax of scores, so they are positive and their sum in a row is 1."


def test_open_text_with_an_answer_elsewhere_is_listed(small):
    """But not the sheet's own text cells, a name, or what several students have."""
    folder, out = small
    cell = {"cell_type": "markdown", "metadata": {}}
    book = json.loads((ROOT / "exercises" / f"{sheets()[2].page}.ipynb").read_text("utf-8"))
    own = [one for one in book["cells"] if one["cell_type"] == "markdown"]
    shared = [cell | {"source": f"Please note: {ANSWER}"}]
    open_one = RIGHT | {"essay": "essay = ..."}
    below = sheet(open_one, *own, *shared, cell | {"source": ANSWER})
    put(folder / "ada" / "02_sheet.ipynb", below, LATER)
    put(folder / "bob" / "02_sheet.ipynb", sheet(open_one, *own, *shared), LATER)
    put(folder / "bob" / "onlinetext.html", f"<p>{ANSWER}</p>".encode(), LATER)
    put(folder / "bob" / "figure.png", b"PNG", LATER)
    name = cell | {"source": "Cem Xander, 1234567"}
    put(folder / "cem" / "02_sheet.ipynb", sheet(open_one, *own, *shared, name), LATER)
    assert again(small).open_items == 2
    rows = {row["id"]: row for row in rows_of(out / "look.csv")}
    said = "the written task essay is open, but there is text in "
    assert rows["ada"]["what"].startswith(f"{said}a text cell ({ANSWER[:60]}")
    assert rows["bob"]["what"].startswith(f"{said}onlinetext.html: read it and give points")
    assert rows["bob"]["file"] == "bob/onlinetext.html"
    final = {row["id"]: row["final"] for row in rows_of(out / "grades.csv")}
    assert (final["ada"], final["cem"]) == ("no", "yes")
    assert again(small, correct=(("ada", "essay", "2", ""),)).open_items == 1
    assert points_of(out)["ada"] == FULL + 2


def test_pictures_of_several_students_are_listed(small):
    """A text that three have was handed out; of a picture nobody can tell."""
    picture = {"cell_type": "markdown", "metadata": {}, "source": "![](attachment:a.png)"}
    for name in ("ada", "bob", "cem"):
        data = sheet(RIGHT | {"essay": "essay = ..."}, picture)
        put(small[0] / name / "02_sheet.ipynb", data, LATER)
    assert again(small).open_items == 3


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


def test_all_slips_of_a_table_are_listed_at_once(small):
    folder, out = small
    again(small)
    table = folder.parent / "p.csv"
    table.write_text("id,task,points\nbob,essay,99\nnobody,essay,1\nbob,esay,1\nada,essay,2\n")
    with pytest.raises(ValueError, match=r"line 2: .*\n.*line 3: .*\n.*line 4: .*'essay' was prob"):
        again(small, points=(table,))
    assert all(row["points"] == "" for row in rows_of(out / "written.csv"))


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
    said = "essay: two people gave different points (Ada 1.5, Bea 2.5), and the second mark counts"
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


@pytest.mark.parametrize("comment", ["$\\sqrt{d_k}$", "is `missing`"])
def test_make_refuses_comments_the_shell_changes(comment):
    options = f'--correct ada essay 2 "{comment}"'
    words = ["make", "-n", "grade", "SUBMISSIONS=x", f"OPTIONS={options}"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode and "put such a comment into a table" in done.stderr
    words[-1] = 'OPTIONS=--correct ada essay 2 "see #3 & 5%"'
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and '"see #3 & 5%"' in done.stdout


def test_agreeing_marker_keeps_the_comment():
    from classroom.gradebook.decisions import is_new

    first = Correction("ada", "essay", 2.0, "Well put.", "Grace", "", "a")
    held = {("ada", "essay"): first}
    assert not is_new(replace(first, comment="", author="Alan"), held)
    assert is_new(replace(first, comment=""), held)  # who gave it may take it back
    assert is_new(replace(first, author="Alan"), held)
    assert is_new(replace(first, comment="", author="Alan", points=1.0), held)
    assert is_new(replace(first, comment="", author="Alan", answer="b"), held)


def test_texts_that_wait_are_not_counted_as_0_points(small):
    _, out = small
    again(small)
    assert 'to be read</th><td class="number">3' in (out / "summary.html").read_text()
    fill(out / "written.csv", lambda row: row.update(points="0"))
    again(small)
    text = (out / "summary.html").read_text()
    assert "to be read" not in text and '0 points</th><td class="number">3' in text


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
        assert html.escape(mistake.why.removeprefix("It ")) in guide
    assert "How the points are divided</h3><p>One point for the straight line" in guide
    assert "<li>what the figure shows at two" in guide and "<code>claim_gates</code>" in guide
    assert "★" not in guide
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
    assert "ada: 3.5 of 5 points (One gate more.)</h4>" in guide
    page = next((tmp_path / "out" / "feedback").glob("ada-*")).read_text(encoding="utf-8")
    assert "One gate more." in page and "will mark this answer" not in page
    policy = policy_of(tmp_path, "[sheets.2]\npoints = { claim_gates = 10 }")
    graded(tmp_path / "in", tmp_path / "out", tasks=tasks, policy=policy)
    guide = (tmp_path / "out" / "guide.html").read_text(encoding="utf-8")
    [row] = rows_of(tmp_path / "out" / "written.csv")
    assert row["possible"] == "10" and "(claim_gates): 10 points" in guide


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
    assert "The points that your teacher gave count." in page
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
