"""Results and packages for Gradescope."""

import json
import os
import zipfile
from importlib.metadata import version

import pytest

from classroom.gradebook.grades import Grade, SheetGrade
from classroom.gradebook.store import Graded, Result
from classroom.intake.roster import Student
from classroom.lms import gradescope
from classroom.options import Summary
from classroom.policy import Policy
from classroom.sheets import sheets
from classroom.states import By
from grading.task import all_tasks
from tests.classroom.class_runs import graded, policy_of
from tests.classroom.fake_class import FULL, LATER, RIGHT, put, sheet
from tools import autograder

pytestmark = pytest.mark.grader


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


def test_gradescope_installs_packages_of_the_policy(tmp_path):
    """By the names that pip knows; without them the policy would be refused in the container."""
    (tmp_path / "class.toml").write_text("packages = ['yaml', 'json']", encoding="utf-8")
    autograder.make(tmp_path / "x.zip", 2, 7, tmp_path / "class.toml")
    settings = zipfile.ZipFile(tmp_path / "x.zip").read("gradescope/settings.sh").decode()
    assert f"\nPACKAGES='PyYAML=={version('PyYAML')}'\n" in settings
    said = (autograder.SCRIPTS / "setup.sh").read_text(encoding="utf-8")
    assert said.index(". gradescope/settings.sh") < said.index("pip install --quiet $PACKAGES")


def test_the_zip_is_the_same_from_windows(tmp_path, monkeypatch):
    """As reported at otter-grader 526 and cpython 78278: other line ends, and files of 1970."""
    for folder in autograder.FOLDERS:
        (tmp_path / folder).mkdir()
    scripts = tmp_path / "classroom"
    for file in (tmp_path / "exercises" / "02_a.ipynb", scripts / "setup.sh"):
        file.write_bytes(b"#!/bin/bash\r\necho\r\n")
        os.utime(file, (0, 0))
    for file in (scripts / "run_autograder", *(tmp_path / name for name in autograder.FILES)):
        file.write_bytes(b"torch==2.9.0\r\n")
    monkeypatch.setattr(autograder, "ROOT", tmp_path)
    monkeypatch.setattr(autograder, "SCRIPTS", scripts)
    autograder.make(tmp_path / "x.zip", 2, 7)
    archive = zipfile.ZipFile(tmp_path / "x.zip")
    assert archive.read("setup.sh") == b"#!/bin/bash\necho\n"
    assert archive.read("requirements.txt") == b"torch==2.9.0\n"


def test_gradescope_can_store_what_students_wrote(tmp_path):
    """As reported at PrairieLearn 931 and 1270, whose database refuses a null character."""
    graded = Graded("", "", "ada", 2, notes=["Code cell 1: \0"])
    sheet = SheetGrade(Student("ada"), 2, graded=graded)
    for item, points in zip(sheets()[2].items, (0.1, 0.2), strict=False):  # their sum is 0.3000…04
        result = Result(item.task, points, 4.0, "ValueError: \0\ud83d\x1b[31m")
        sheet.grades.append(Grade(item.task, points, 4.0, By.GRADER, result))
    gradescope.write(tmp_path / "results.json", [sheet], all_tasks(), Policy())
    document = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert (document["score"], document["tests"][0]["score"]) == (0.3, 0.1)
    assert document["output"] == "Code cell 1:  "
    assert document["tests"][0]["output"] == "ValueError:  ? [31m"


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
    assert cli.main([*words, "--student", "submission", "--lecture", "2"]) == 0
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
