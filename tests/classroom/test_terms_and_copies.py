"""Totals of a term, and copied answers."""

import html

import pytest

from classroom.options import Options
from classroom.pipeline import grade_class
from classroom.sheets import sheets
from grading.task import all_tasks
from tests.classroom import fake_class
from tests.classroom.class_runs import GRADED, fill, graded, policy_of, rows_of
from tests.classroom.fake_class import FULL, LATER, RIGHT, SHEET, put, run_here, sheet
from tests.grading.sample_tasks import notebook

pytestmark = pytest.mark.grader


def test_new_results_are_the_owners_alone(small, tmp_path):
    folder, term = small[0], tmp_path / "term"
    graded(folder, term / "sheet-2", told={"term": term})
    for path in (term, term / "sheet-2", term / "grades.sqlite"):
        assert path.stat().st_mode & 0o077 == 0, path
    assert all(path.stat().st_mode & 0o044 for path in (term / "sheet-2" / "feedback").iterdir())


def test_mistyped_names_leave_nothing_behind(small, tmp_path, capsys):
    from classroom.cli import main

    folder = small[0]
    for words, said in (
        (["nothere"], "Not started: nothere: there is no such folder, zip or notebook"),
        ([str(folder), "--roster", "no.csv"], "Not started: there is no roster no.csv"),
    ):
        assert main([*words, "--out", str(tmp_path / "other")]) == 2
        assert capsys.readouterr().out.strip() == said
        assert not (tmp_path / "other").exists()


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
    assert "Cem (cem): 0% of the points; not submitted: 5" in page
    assert "Bob (bob): " in page and "% of the points; submitted, not graded: 5" in page
    assert "Students who have less than 50% of the points, or a sheet that is missing" in page
    assert page.count("sheet 2: all of it, 0 points") == 1  # and not each task of it once more
    titles = {item.task: f"2.{item.number} {item.title}" for item in sheets()[2].items}
    assert f"<li>1 ×: {titles['query_context']}</li>" in page  # bob's alone
    assert titles["stable_softmax"] not in page


def test_totals_do_not_depend_on_wording(tmp_path, monkeypatch):
    """A person may be called "waiting", and no sentence decides who handed something in."""
    texts, term = tmp_path / "in", tmp_path / "term"
    put(texts / "ada.ipynb", sheet(RIGHT), LATER)
    put(texts / "bob.html", b"<html>", LATER)
    (tmp_path / "class.csv").write_text("id,name\nada,Ada\nbob,Bob\ncem,Cem\n", encoding="utf-8")
    monkeypatch.setattr("classroom.gradebook.grades.NOTHING", "Where is it?")
    told = {"term": term, "rosters": (tmp_path / "class.csv",), "author": "waiting"}
    told["correct"] = (("ada", "stable_softmax", "0", ""),)
    assert graded(texts, term / "sheet-2", told=told).waiting == 0
    page = (term / "course.html").read_text(encoding="utf-8")
    assert "Bob (bob): 0% of the points; submitted, not graded: 2" in page
    assert "Cem (cem): 0% of the points; not submitted: 2" in page
    assert "Ada (ada): 29% of the points" in page and "Texts that wait" not in page


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
    text = (tmp_path / "out" / "similar.html").read_text(encoding="utf-8")
    assert "<h2>ada and bob: 1 similar answer</h2>" in text and "<h3>stable_softmax: " in text


ALSO_COPIED = """
def log_softmax(scores):
    top = np.amax(scores, axis=-1)[..., None]
    rest = scores - top
    total = np.einsum("...t->...", np.exp(rest))[..., None]
    return rest - np.log(total) + np.zeros_like(rest) * len(rest)
"""


def test_most_similar_students_come_first(tmp_path):
    tasks = GRADED | {"log_softmax": all_tasks()["log_softmax"]}
    both = {"stable_softmax": ALSO_COPIED.replace("log_softmax", "stable_softmax")}
    both |= {"log_softmax": ALSO_COPIED}
    copied = {"ada": {"stable_softmax": COPIED}, "bob": {"stable_softmax": COPIED}}
    for name, answers in (copied | {"cem": both, "dan": both}).items():
        put(tmp_path / "in" / f"{name}.ipynb", sheet(RIGHT | answers, f"# by {name}"), LATER)
    graded(tmp_path / "in", tmp_path / "out", tasks=tasks)
    rows = rows_of(tmp_path / "out" / "similar.csv")
    assert [row["id"] + row["other id"] for row in rows] == ["cemdan", "cemdan", "adabob"]
    text = (tmp_path / "out" / "similar.html").read_text(encoding="utf-8")
    assert text.count("<h2>cem and dan: 2 similar answers</h2>") == 1
