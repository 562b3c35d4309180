"""Tables, times, names and notebooks as ordinary programs write them, in several languages."""

import json
import unicodedata
from datetime import datetime
from pathlib import Path

import pytest

from classroom import tables
from classroom.cli import beside
from classroom.intake.files import Refused
from classroom.intake.notebook_cells import MOST_SOURCE, all_cells
from classroom.intake.roster import Class
from classroom.intake.submissions import find
from classroom.lms import exports
from classroom.lms.times import moodle_time
from classroom.policy import read_policy
from classroom.verdicts import written_text

COLUMNS = "id;name;email\n"


@pytest.mark.parametrize(
    "data",
    [
        b"sep=;\r\nid;name\r\na;Ada\r\n",
        b'"sep=,"\nid,name\na,Ada\n',
        b"\xef\xbb\xbfid\tname\na\tAda\n",
        "id;name\na;Ada\n".encode("utf-16"),
        "id;name\na;Ada\n".encode("utf-16-le"),
        b"id;name\ra;Ada\r",
        b"id;name\n\na;Ada\n",
    ],
)
def test_a_table_is_read_whoever_wrote_it(tmp_path, data):
    (tmp_path / "t.csv").write_bytes(data)
    assert tables.read(tmp_path / "t.csv", ("id",))[1] == [{"id": "a", "name": "Ada"}]


def test_a_cell_may_be_long(tmp_path):
    tables.write(tmp_path / "t.csv", ["id", "answer"], [["a", "x" * 300_000]])
    assert len(tables.read(tmp_path / "t.csv")[1][0]["answer"]) == 300_000


def test_half_a_surrogate_pair_can_be_written(tmp_path):
    tables.write(tmp_path / "t.csv", ["id"], [["a\udcdf"]])
    assert tables.read(tmp_path / "t.csv")[1] == [{"id": "a?"}]


def test_a_policy_may_have_a_byte_order_mark(tmp_path):
    policy = tmp_path / "class.toml"
    policy.write_bytes(b"\xef\xbb\xbf[late]\r\nper_day = 0.1\r\n")
    plain = tmp_path / "plain.toml"
    plain.write_text("[late]\nper_day = 0.1\n")
    outcomes = []
    for path in (policy, plain):
        try:
            outcomes.append(read_policy(path))
        except ValueError as error:
            outcomes.append(str(error).partition(":")[2])
    assert outcomes[0] == outcomes[1]


NINE = datetime(2020, 9, 23, 21, 0)


@pytest.mark.parametrize(
    ("words", "when"),
    [
        ("Wednesday, 23 September 2020, 9:00 PM", NINE),
        ("Wednesday, September 23, 2020, 9:00 PM", NINE),
        ("Wednesday, September 23, 2020, 9:00\u202fPM", NINE),
        ("Mittwoch, 23. September 2020, 21:00", NINE),
        ("miércoles, 23 de septiembre de 2020, 21:00", NINE),
        ("středa, 23. září 2020, 21.00", NINE),
        ("Wednesday, 23 September 2020, 12:05 AM", datetime(2020, 9, 23, 0, 5)),
        ("Wednesday, 23 September 2020, 12:05 PM", datetime(2020, 9, 23, 12, 5)),
    ],
)
def test_times_of_moodle_in_its_languages(words, when):
    assert moodle_time(words) == when


@pytest.mark.parametrize(
    "words",
    [
        "23/09/2020, 21:00",  # or the other way round
        "listopad 23 2020, 21:00",  # October in one language, November in another
        "31 September 2020, 21:00",
        "23 September 2020, 13:00 PM",
        "yesterday",
    ],
)
def test_a_doubtful_time_is_refused(words):
    with pytest.raises(ValueError, match=r"is no time|no hour"):
        moodle_time(words)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_letters_with_marks_are_one_however_written(tmp_path, form):
    other = {"NFC": "NFD", "NFD": "NFC"}[form]
    roster = tmp_path / "class.csv"
    roster.write_text(COLUMNS + unicodedata.normalize(form, "jörg;Jörg;j@example.org\n"))
    folder = tmp_path / "in" / unicodedata.normalize(other, "jörg")
    folder.mkdir(parents=True)
    (folder / "02.ipynb").write_text("{}")
    members = Class.of([roster], {})
    [handed] = find(tmp_path / "in")
    student, odd = members.whose(handed)
    assert student is not None and odd == ""
    assert members.id_of(unicodedata.normalize(other, "jörg")) == student.id


def test_a_team_name_before_the_student_is_not_odd(tmp_path):
    roster = tmp_path / "worksheet.csv"
    roster.write_text("Identifier,Full name,Email address\nParticipant 5,Ada Brook,a@example.org\n")
    for name, is_odd in (("Team-B-Ada Brook", False), ("Ben Cole", True)):
        folder = tmp_path / name / f"{name}_5_assignsubmission_file"
        folder.mkdir(parents=True)
        (folder / "04.ipynb").write_text("{}")
        [handed] = find(tmp_path / name)
        assert bool(Class.of([roster], {}).whose(handed)[1]) == is_odd


def test_maxima_that_add_up_in_floats_agree(tmp_path):
    table = tmp_path / "worksheet.csv"
    table.write_text("Identifier,Full name,Email address,Grade,Maximum Grade\nP 1,A,a@b.org,,100\n")
    exports.require_fits(table, "", sum([8.3] * 8 + [8.4] * 4))
    with pytest.raises(ValueError, match="the maximum is 100"):
        exports.require_fits(table, "", 99.9)


def test_results_lie_beside_the_whole_name(tmp_path, monkeypatch):
    first, second = (beside(tmp_path / f"INF.2026-Sheet {n}-12") for n in (4, 5))
    assert first != second
    assert beside(tmp_path / "in.zip").name == "in-graded"
    (tmp_path / "course").mkdir()
    monkeypatch.chdir(tmp_path / "course")

    assert beside(Path(".")) == tmp_path / "course-graded"


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("answer = “Each gate keeps one noun.”\ncheck('answer')", "“Each gate keeps one noun.”"),
        ('answer = "The gate "forgets" the noun."', '"The gate "forgets" the noun."'),
        ('answer = "Each gate\nkeeps one."\ncheck("answer")', '"Each gate\nkeeps one."'),
        ("other = 1", ""),
    ],
)
def test_a_broken_written_answer_is_found(cell, text):
    assert written_text("answer", [cell]) == text


def test_large_outputs_are_no_reason_to_refuse():
    cell = {"cell_type": "code", "source": "x = 1", "outputs": [{"text": "a" * 11_000_000}]}
    book = {"nbformat": 4, "cells": [cell]}
    assert all_cells(json.dumps(book).encode()) == [("code", "x = 1")]
    cell["source"] = "#" * (MOST_SOURCE + 1)
    with pytest.raises(Refused, match="2 MB of text"):
        all_cells(json.dumps(book).encode())
