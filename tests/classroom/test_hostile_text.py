"""What students write reaches pages, tables, JSON and SQL: as text, wherever it comes from.

Every place where a text is escaped is taken away in turn, and the check must notice it.
"""

import csv
import json
import re
import sqlite3
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from classroom import publish, tables
from classroom.gradebook.grades import Grade, SheetGrade
from classroom.gradebook.store import Correction, Graded, Result, Store
from classroom.intake.files import Handed
from classroom.intake.owners import Owner
from classroom.intake.roster import Student
from classroom.intake.select import Listed
from classroom.options import Options
from classroom.pipeline import grade_class
from classroom.policy import Policy, SheetRules
from classroom.reports import feedback, guide, page, similarity, summary, totals
from classroom.sheets import Holds, Item
from classroom.states import By, State
from grading.task import Case, Mistake, Task
from tests.conftest import ROOT
from tests.grading.sample_tasks import TASKS

pytestmark = pytest.mark.grader

BAD = '<x-bad a="1">\'"&;\n=1+1'
FOLDER = ROOT / "classroom" / "reports"
PAGES = {
    module.__name__.rpartition(".")[2]: module
    for module in (feedback, guide, page, similarity, summary, totals)
}


class Tags(HTMLParser):
    """Every element of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append(tag)
        self.found += [name for name, _ in attributes if name.startswith("on")]


def mistaken(seed):
    return [Case((1.0,), BAD)]


def hostile_task(kind):
    """A task all of whose texts are hostile too: the lecturer's own may be anybody's."""
    mistakes = (Mistake(0, BAD), Mistake(1, BAD))
    return Task("t_" + kind[:4], 2, kind, 3, 1, BAD, BAD, mistaken, mistakes)


WORDS = (
    "def f(a, b):\n    return " + " + ".join(f"a.m{n}(b, {n})" for n in range(12)) + f"\n# {BAD}"
)


def hostile_class(items, tasks):
    """Two students whose every text is hostile."""
    made = []
    for n in range(2):
        student = Student(f"{BAD}{n}", BAD, BAD, frozenset({f"moodle {n}"}))
        handed = Handed(ROOT, BAD + str(n), Owner("", BAD, BAD), 1.0)
        holds = Holds(2, answered=frozenset({BAD}))
        row = Listed(handed, student, "ok", 2, BAD, BAD, holds, beside=(handed,))
        results = [Result(name, 1, 3, f"{BAD} cell 3", 0, False, WORDS, BAD) for name in tasks]
        results[1].review, results[2].part = True, BAD
        graded = Graded(BAD, BAD, student.id, 2, BAD, [BAD], [f"Cell 3: {BAD}", BAD], 0.0, results)
        given = Correction(student.id, results[0].task, 1.0, "" if n else BAD, BAD)
        grades = [
            Grade(r.task, 1.0, 3.0, By.WAITING if r.review else By.GRADER, r) for r in results
        ]
        grades[0].correction, grades[0].by = given, By.PERSON
        made.append(SheetGrade(student, 2, row, graded, grades, 1, 0.5, False))
    lost = Listed(handed, student, BAD, 2, state=State.REFUSED)
    made.append(SheetGrade(Student("z", BAD), 2, lost))
    return [row.row for row in made], made


def pages(folder, monkeypatch):
    """Every page that the grader makes of the hostile class."""
    tasks = {t.name: t for t in map(hostile_task, ("predict", "written", "implement"))}
    items = [Item(n, BAD, name) for n, name in enumerate(tasks, 1)]
    known = type("Sheet", (), {"title": BAD, "page": BAD, "template": {}})()
    known.answers = known.questions = known.marking = dict.fromkeys(tasks, BAD)
    known.items = [*items, Item(9, BAD, "left_out")]
    for module in (feedback, guide, publish, totals):
        monkeypatch.setattr(module, "items_of", lambda *_: items)
    monkeypatch.setattr(feedback, "all_sheets", lambda: {2: known})
    monkeypatch.setattr(guide, "all_sheets", lambda: {2: known})
    known_to_similar = type("Sheet", (), {"template": {}, "answers": {}})()
    monkeypatch.setattr(similarity, "all_sheets", lambda: {2: known_to_similar})
    rows, made = hostile_class(items, tasks)
    rules = {2: SheetRules(excluded=frozenset({"left_out"}))}
    policy = Policy(sheets=rules, answers_from=datetime.fromtimestamp(0, UTC))
    publish.write_reports(folder, rows, made, tasks, policy)
    store = Store(folder / "grades.sqlite")
    store.publish([sheet.student for sheet in made], made)
    totals.write(folder, store, tasks)
    store.close()
    return {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}


def strange(found):
    """Elements that no page of ours has."""
    own = {*"html head meta title style body main h1 h2 h3 p pre table tr th td span".split()}
    own |= {*"ul ol li a details summary section div h4 em strong code".split()}
    return {tag for text in found.values() for tag in Tags(text).found if tag not in own}


def test_no_text_becomes_an_element(tmp_path, monkeypatch):
    found = pages(tmp_path, monkeypatch)
    assert {path.name for path in found} >= {
        "summary.html",
        "similar.html",
        "guide.html",
        "course.html",
    }
    assert strange(found) == set()
    assert all("&lt;x-bad" in text for text in found.values())


def places():
    """Every escape in the code, as module and number."""
    for name in PAGES:
        source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        yield from ((name, number) for number in range(source.count("html.escape(")))


@pytest.mark.parametrize(("name", "number"), list(places()))
def test_every_escape_that_is_taken_away_is_noticed(name, number, tmp_path, monkeypatch):
    path = FOLDER / f"{name}.py"
    source = path.read_text(encoding="utf-8")
    starts = [found.start() for found in re.finditer(r"html\.escape\(", source)]
    spoiled = source[: starts[number]] + "str(" + source[starts[number] + len("html.escape(") :]
    try:
        exec(compile(spoiled, str(path), "exec"), PAGES[name].__dict__)
        assert "x-bad" in strange(pages(tmp_path, monkeypatch))
    finally:
        exec(compile(source, str(path), "exec"), PAGES[name].__dict__)
        monkeypatch.undo()


# ------------------------------------------------------------------ tables, JSON, SQL


def no_formula(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    bad = [x for row in rows for x in row if x.lstrip().startswith(("=", "+", "-", "@"))]
    return not bad and len({len(row) for row in rows}) == 1


def write_table(folder):
    rows = [["=1+1", BAD], ["\t=x", "+1"], [" @a", "-2"], ["\r=1", "a,b\n;c"]]
    tables.write(folder / "t.csv", ["a", "b"], rows)
    return no_formula(folder / "t.csv")


def test_tables_hold_no_formulas(tmp_path, monkeypatch):
    """A table that is written without this care is noticed."""
    assert write_table(tmp_path)
    monkeypatch.setattr(tables, "cell", lambda value: value)
    assert not write_table(tmp_path)


NAME = "x'); DROP TABLE grade; --"


def answers_in(folder, students):
    """Grade answers whose text is hostile to a database and to JSON."""
    from tests.classroom import fake_class

    texts = {"essay": "essay = 'it''s \"\\ud83d\" \\x00 <x-bad>'"}
    for student in students:
        data = fake_class.sheet(fake_class.RIGHT | texts)
        fake_class.put(folder / "in" / f"{student}.ipynb", data, fake_class.LATER)
    names = ("essay", "stable_softmax", "query_context")
    options = Options(lecture=2, student=students[0] if len(students) == 1 else "")
    return grade_class(
        folder / "in",
        folder / "out",
        options,
        tasks={name: TASKS[name] for name in names},
        examiner=fake_class.run_here,
    )


def test_names_and_answers_reach_the_database_as_text(tmp_path):
    answers_in(tmp_path, [NAME, "bob"])
    with sqlite3.connect(tmp_path / "out" / "grades.sqlite") as base:
        students = {row[0] for row in base.execute("SELECT DISTINCT student FROM grade")}
        answers = [row[0] for row in base.execute("SELECT answer FROM result WHERE task='essay'")]
    assert students == {NAME, "bob"}
    assert all("<x-bad>" in answer for answer in answers)


def test_lone_surrogate_in_the_database_is_noticed(tmp_path, monkeypatch):
    """Only `text` keeps such an answer storable: without it, the submission fails, and says why."""
    monkeypatch.setattr("classroom.gradebook.store.text", lambda value: value)
    assert answers_in(tmp_path, ["bob"]) != 0
    with sqlite3.connect(tmp_path / "out" / "grades.sqlite") as base:
        assert not base.execute("SELECT * FROM result").fetchall()
    said = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").glob("*.csv"))
    assert "the grader failed" in said and "surrogates not allowed" in said


def test_hostile_text_keeps_results_json_valid(tmp_path):
    answers_in(tmp_path, [NAME])
    document = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert document["score"] == 14
