"""Tables, times, names and notebooks as ordinary programs write them, in several languages."""

import contextlib
import io
import json
import re
import unicodedata
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from classroom import tables
from classroom.cli import beside
from classroom.execute import Answers, Prepared, results_of
from classroom.gradebook.store import Store
from classroom.intake.files import Handed, Refused
from classroom.intake.handed_times import set_times
from classroom.intake.notebook_cells import MOST_SOURCE, all_cells
from classroom.intake.owners import owner_of
from classroom.intake.roster import Class, Student
from classroom.intake.select import Listed
from classroom.intake.submissions import find
from classroom.lms import exports
from classroom.lms.times import moodle_time
from classroom.policy import Policy, read_policy
from classroom.policy_file import PolicyError
from classroom.sheets import PICTURE, is_untouched, own_texts
from classroom.verdicts import cause, written_text
from grading.author import cell_of, stub
from grading.runner.run import MISSING, run
from grading.task import all_tasks
from tests.conftest import ROOT

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


def test_a_letter_lost_by_the_class_list_is_not_odd(tmp_path):
    """The name that kept its letters is the student's, and another name is still odd."""
    worksheet, own = tmp_path / "worksheet.csv", tmp_path / "class.csv"
    whole, mail = "Tim Nguyễn", "tim@example.org"
    worksheet.write_text(f"Identifier,Full name,Email address\nParticipant 5,{whole},{mail}\n")
    own.write_text(COLUMNS + f"7;Tim Nguy?n;{mail}\n")
    assert Class.of([own, worksheet], {}).students["7"].name == whole
    worksheet.write_text(f"Identifier,Full name,Email address\nParticipant 5,Tim Nguy?n,{mail}\n")
    for name, is_odd in ((whole, False), ("Tim Nguyen", False), ("Tom Nguyễn", True)):
        folder = tmp_path / name / f"{name}_5_assignsubmission_file"
        folder.mkdir(parents=True)
        (folder / "04.ipynb").write_text("{}")
        [handed] = find(tmp_path / name)
        said = Class.of([worksheet], {}).whose(handed)[1]
        assert said.endswith("for participant number 5") if is_odd else not said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ID;Name;E-Mail\n", "columns of its first row are: ID, Name, E-Mail; missing: id. It"),
        (COLUMNS + "7;A;a@b.org\n7;B;b@b.org\n", "class.csv: 7 is in rows 2 and 3"),
        ("PK\x03\x04", "this is a spreadsheet; save it as CSV"),
    ],
)
def test_an_unusable_roster_is_explained(tmp_path, text, said):
    roster = tmp_path / "class.csv"
    roster.write_text(text)
    with pytest.raises(ValueError, match=re.escape(said)):
        Class.of([roster], {})


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


WRITTEN_TASKS = [task for task in all_tasks().values() if task.kind == "written"]


@pytest.mark.parametrize("task", WRITTEN_TASKS, ids=lambda task: task.name)
def test_only_an_answer_waits_for_a_person(task):
    """The sheet as it was handed out is no text to read; a text that breaks its cell is one."""
    path = ROOT / "grading" / "tasks" / f"lecture_{task.lecture:02d}" / f"{task.name}.py"
    untouched, prepared = stub(cell_of(path)), Prepared(task, task.cases(0), 1.0, {})
    broken = untouched.replace("...", '"It says "cannot", and nobody tried."')
    for cell, value, waits in ((untouched, ..., False), (broken, MISSING, True)):
        answers = Answers({task.name: run(task, value, prepared.cases)})
        [row] = results_of(answers, [prepared], [f'{cell}\n\ncheck("{task.name}")'])
        assert row.review is waits and row.points == 0


@pytest.mark.parametrize("cell", ["{0}  # {1}", "# {1}\n{0}", '"""{1}"""\n{0}', "{0}\n# {1}"])
def test_an_answer_in_a_comment_is_found(cell):
    """As reported at resonance 109: what was asked for is written beside the place for it."""
    task = WRITTEN_TASKS[0]
    prepared = Prepared(task, task.cases(0), 1.0, {})
    text = cell.format(f"{task.name} = ...", "The gate keeps one noun.")
    answers = Answers({task.name: run(task, ..., prepared.cases)})
    [row] = results_of(answers, [prepared], [f'{text}\n\ncheck("{task.name}")'])
    assert row.review and "keeps one noun" in row.answer


def test_a_pasted_picture_is_told():
    """As reported at nbgrader 950: an answer may be a drawing."""
    cells = [("markdown", "![my answer](attachment:image.png)")]
    assert own_texts(cells, 2) == [PICTURE]


def test_a_cell_without_text_is_empty():
    cells = [{"cell_type": "markdown", "source": None}, {"cell_type": "code", "source": "x = 1"}]
    book = json.dumps({"nbformat": 4, "cells": cells}).encode()
    assert all_cells(book) == [("markdown", ""), ("code", "x = 1")]


@pytest.mark.parametrize("gap", ["\n" * 20_000, " " * 20_000, "\nessay = 2" * 2_000])
def test_a_written_answer_is_found_in_linear_time(gap):
    """A regular expression that goes back and forth would take hours, and stop the class."""
    assert written_text("essay", [f"essay = 'One{gap}two"]).startswith("'One")


@pytest.mark.parametrize(
    "source", ["import " * 5_000, "\n" * 20_000 + "x", "if x:\n" + " " * 20_000 + "y"]
)
def test_the_cause_of_an_error_is_found_in_linear_time(source):
    assert cause("essay", None, [source], {0: "Cell 1: SyntaxError"}) == ""
    said = cause("essay", None, [f"{source}\nessay = 1"], {0: "Cell 1: SyntaxError"})
    assert said == "The cell that defines `essay` did not finish. Cell 1: SyntaxError"


def test_code_too_deep_to_be_parsed_is_no_stub():
    assert not is_untouched("essay = " + "-" * 100_000 + "1", "essay", None)


def zip_of(names, method=zipfile.ZIP_DEFLATED):
    """A zip whose entries hold their own names, as bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), name, method)
    return made.getvalue()


def test_a_zip_may_have_an_entry_for_its_own_folder(tmp_path):
    """As `zip -r work.zip ./` and some programs for Windows write it."""
    (tmp_path / "ada.zip").write_bytes(zip_of(["./", "./02.ipynb"]))
    found = find(tmp_path)
    assert {handed.owner.id for handed in found} == {"ada"}
    assert [handed.name for handed in found if not handed.problem] == ["ada.zip/./02.ipynb"]


@pytest.mark.parametrize(
    "torn",
    [
        zip_of(["ü.ipynb"]).replace("ü".encode(), b"\xff\xff"),  # marked as UTF-8, and it is not
        zip_of(["a.ipynb"], zipfile.ZIP_LZMA).replace(b"\x5d\0\0", b"\xff\xff\xff"),
        zip_of(["a.ipynb"])[:-10],
    ],
)
def test_a_torn_zip_stops_nobody_else(tmp_path, torn):
    (tmp_path / "ada.zip").write_bytes(torn)
    (tmp_path / "bea.ipynb").write_bytes(b"{}")
    for handed in find(tmp_path):
        with pytest.raises(Refused) if handed.name != "bea.ipynb" else contextlib.nullcontext():
            handed.read()


@pytest.mark.parametrize("when", [-(10.0**15), 10.0**15])
def test_a_file_time_that_no_calendar_has_is_unknown(tmp_path, when):
    row = Listed(
        Handed(tmp_path, "ada.ipynb", owner_of("ada.ipynb"), when), Student("ada"), lecture=2
    )
    set_times([row], Class(), Policy(), Store(tmp_path / "grades.sqlite"), ())
    assert row.when is None


POLICIES = {
    "late.grace_minutes = inf": "late.grace_minutes is inf; wanted: a number from 0 to 1,000,000",
    "late.grace_minutes = 1e300": "wanted: a number from 0 to 1,000,000",
    "late.percent_per_day = nan": "wanted: a number from 0 to 1,000,000",
    "sheets.2.points.essay = inf": "wanted: names with numbers above 0",
    "sheets.2.due = 0001-01-01": "wanted: a year from 1970 to 8999",
    "sheets.2.extensions.ada = 9999-12-31": "wanted: a year from 1970 to 8999",
    "feedback.model_answers = 0001-01-01T00:00:00": "wanted: a year from 1970 to 8999",
    'late.time_zone = "Europe"': "wanted: a zone that this machine knows",
    'roster = "~nobody9/class.csv"': "is not there",
    f'roster = "{"x" * 300}"': "is not there",
    "roster = [1]": "wanted: a path, or a list of paths",
    f'late.times = "{"x" * 300}"': "is not there",
    'packages = ["a.b"]': "a.b cannot be imported here",
    'packages = [".a"]': ".a cannot be imported here",
    'sheets."²".due = 2026-11-02': "a lecture's number is wanted",
}


@pytest.mark.parametrize(("rule", "said"), POLICIES.items(), ids=range(len(POLICIES)))
def test_odd_rules_are_refused_with_a_sentence(tmp_path, rule, said):
    (tmp_path / "class.toml").write_text(rule, encoding="utf-8")
    with pytest.raises(PolicyError) as refused:
        read_policy(tmp_path / "class.toml")
    assert said in str(refused.value)


@pytest.mark.parametrize("most", ["hundred", "1.234,5", "100 %", "inf", "0"])
@pytest.mark.parametrize("possible", [14.0, None])
def test_a_maximum_that_is_no_number_is_refused(tmp_path, most, possible):
    table = tmp_path / "worksheet.csv"
    table.write_text(f'Identifier,Full name,Grade,Maximum Grade\nParticipant 1,A,,"{most}"\n')
    with pytest.raises(ValueError, match=r"worksheet\.csv: the maximum is '.*' there; a number"):
        exports.require_fits(table, "", possible)


def test_large_outputs_are_no_reason_to_refuse():
    cell = {"cell_type": "code", "source": "x = 1", "outputs": [{"text": "a" * 11_000_000}]}
    book = {"nbformat": 4, "cells": [cell]}
    assert all_cells(json.dumps(book).encode()) == [("code", "x = 1")]
    cell["source"] = "#" * (MOST_SOURCE + 1)
    with pytest.raises(Refused, match="2 MB of text"):
        all_cells(json.dumps(book).encode())
