"""What the pages about grading and `make help` say is true."""

import re
import sqlite3

import pytest

from tests.classroom import fake_class
from tests.classroom.class_runs import (
    again,
    fill,
    graded,
    pages_about_grading,
    points_of,
    policy_of,
    rows_of,
)
from tests.classroom.fake_class import LATER, RIGHT, put, sheet
from tests.conftest import ROOT

pytestmark = pytest.mark.grader


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
    assert "The answer does not say what large scores do" in guide


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
    theirs = {"late.csv", "pairs.csv", "onlinetext.html"}  # a teacher's, and Moodle's
    for name in set(re.findall(r"`([a-z]+\.(?:csv|html|zip|sqlite))`", text)) - theirs:
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
