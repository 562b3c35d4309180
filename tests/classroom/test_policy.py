"""The rules of a class in `class.toml`: what counts, and what is refused by name."""

import html
import os
import re

import pytest

from classroom.policy_file import PolicyError
from classroom.sheets import sheets
from grading.task import all_tasks
from tests.classroom import fake_class
from tests.classroom.class_runs import GRADED, TEXTS, graded, policy_of, rows_of
from tests.classroom.fake_class import HALF, LATER, RIGHT, put, sheet

pytestmark = pytest.mark.grader


def test_policy_may_name_students_who_left(small, tmp_path):
    """In the rules of another sheet than the one that is graded."""
    text = """
    roster = "class.csv"
    [late]
    times = "files"
    [sheets.%d]
    due = 2030-01-01T12:00:00+01:00
    extensions = { eva = 2030-01-02T12:00:00+01:00 }
    """
    graded(*small, policy=policy_of(tmp_path, text % 5))
    with pytest.raises(ValueError, match="eva"):
        graded(*small, policy=policy_of(tmp_path, text % 2))


def test_rules_that_were_forgotten_are_noticed(tmp_path):
    members = [fake_class.Made(7, "Ada", {"a.ipynb": (sheet(RIGHT), LATER)})]
    table = fake_class.moodle(tmp_path / "in", members)
    out, said = tmp_path / "out", "a run before this one had the rules of a class"
    for policy, times in ((None, 0), (policy_of(tmp_path, "[sheets.2]\nbonus = []"), 0), (None, 1)):
        graded(tmp_path / "in", out, policy=policy, told={"rosters": (table,)})
        looks = [row["what"] for row in rows_of(out / "look.csv")]
        assert sum(look.startswith(said) for look in looks) == times


def test_the_policy_decides_what_counts(small, tmp_path):
    folder, out = small
    text = """
    roster = "class.csv"
    [late]
    times = "files"
    grace_minutes = 30
    percent_per_day = 10
    days = 3
    [sheets.2]
    due = 2023-11-15T12:00:00Z
    extensions = { bob = 2023-11-18T12:00:00Z, cem = 2023-11-10T00:00:00Z }  # before
    bonus = ["query_context"]
    excluded = ["essay"]
    points = { stable_softmax = 20 }
    """
    late = LATER + 4 * 86_400
    os.utime(folder / "cem" / "02_sheet.ipynb", (late, late))
    graded(folder, out, tasks=TEXTS, policy=policy_of(tmp_path, text))
    # handed in on 2023-11-16, 02:00 UTC: ada a day late, bob in time; cem four days later, too late
    rows = {row["id"]: row for row in rows_of(out / "grades.csv")}
    assert {id: float(row["points"]) for id, row in rows.items()} == {
        "ada": pytest.approx(24 * 0.9),
        "bob": 24,
        "cem": 0,
        "dan": 0,
    }
    assert {row["possible"] for row in rows.values()} == {"20"}
    assert (rows["ada"]["days late"], rows["bob"]["days late"]) == ("1", "")
    assert [rows[id]["extended until"][:10] for id in ("ada", "bob")] == ["", "2023-11-18"]
    page = next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")
    assert "late, which counts as 1 day, so 90% of 24 points count" in page


def test_everyone_gets_the_points_of_a_wrong_task(tmp_path):
    """Not without a file, and not against points given by hand."""
    folder, out = tmp_path / "in", tmp_path / "out"
    for name, answers in {"ada": RIGHT, "bob": HALF, "cem": HALF}.items():
        put(folder / f"{name}.ipynb", sheet(answers, f"# by {name}"), LATER)
    (tmp_path / "members.csv").write_text("id,name,email\nada,,\nbob,,\ncem,,\ndan,,\n")
    told = {"rosters": (tmp_path / "members.csv",)}
    graded(folder, out, told=told)
    policy = policy_of(tmp_path, "[sheets.2]\nfull_points = ['query_context']")
    told["correct"] = (("cem", "query_context", "1", "No answer."),)
    graded(folder, out, policy=policy, told=told)
    points = {row["id"]: row["query_context"] for row in rows_of(out / "grades.csv")}
    assert points == {"ada": "4", "bob": "4", "cem": "1", "dan": ""}
    changed = {row["id"]: row["what changed"] for row in rows_of(out / "changed.csv")}
    assert changed == {"bob": "query_context: 0 → 4", "cem": "query_context: 0 → 1"}

    def told_to(name):
        page = next((out / "feedback").glob(f"{name}-*")).read_text(encoding="utf-8")
        return page.partition("(query_context)")[2].partition("<h3>")[0]

    said = "<p>Everyone gets all points for this task.</p>"
    assert said in told_to("bob") and ": 4 of 4 points" in told_to("bob")
    assert "<summary>What the grader said</summary>" in told_to("bob")
    assert said not in told_to("ada") + told_to("cem")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("full_points = ['essay']", "'essay' is marked by a person"),
        ("full_points = ['query_contxt']", "'query_context' was probably meant"),
        ("full_points = ['query_context']\nexcluded = ['query_context']", "is excluded and full"),
    ],
)
def test_full_points_that_cannot_be_are_refused(tmp_path, text, said):
    policy = policy_of(tmp_path, f"[sheets.2]\n{text}")
    with pytest.raises(PolicyError, match=said):
        graded(tmp_path, tmp_path / "out", tasks=TEXTS, policy=policy)


def test_excluded_task_is_shown_as_not_graded(small, tmp_path):
    folder, out = small
    tasks = GRADED | {"log_softmax": all_tasks()["log_softmax"]}
    policy = policy_of(tmp_path, "[sheets.2]\nexcluded = ['log_softmax']")
    graded(folder, out, tasks=tasks, policy=policy)
    item = next(item for item in sheets()[2].items if item.task == "log_softmax")
    page = next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")
    assert f"<p>{item.number}. {html.escape(item.title)}: not graded in this class.</p>" in page
    assert page.count("not graded in this class") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rooster = 'x'", "has no key 'rooster'"),
        ("roster = 'nowhere.csv'", "nowhere.csv is not there"),
        ("[late]\npercent = 3", "no key 'percent'"),
        ("[late]\npercent_per_day = -3", "a number from 0 to 1,000,000"),
        ("[late]\npercent_per_day = 'ten'", "late.percent_per_day is 'ten'"),
        ("[sheets.four]", "a lecture's number"),
        ("[sheets.2]\ndue = 2026-11-02", "a sheet has a deadline"),
        ("[sheets.2]\ndue = 'soon'", "sheets.2.due is 'soon'"),
        ("[sheets.2]\nextensions = { ada = 'soon' }", "identifiers with dates"),
        ("[sheets.2]\npoints = { stable_softmax = 0 }", "numbers above 0"),
        ("[feedback]\ngradescope = 'never'", "after_due_date"),
        ("[feedback]\nkeep_back = [2.5]", "names of tasks and numbers of sheets"),
        ("[feedback]\nkeep_back = [true]", "names of tasks and numbers of sheets"),
        ("packages = ['no_such_package']", "install it"),
        ("x = ", "Invalid"),
    ],
)
def test_a_policy_that_cannot_be_is_refused_by_name(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        policy_of(tmp_path, text)


KEYS = {
    "": ("roster", "private", "packages", "late", "feedback", "sheets"),
    "late": ("times", "time_zone", "grace_minutes", "percent_per_day", "days"),
    "feedback": ("model_answers", "keep_back", "site", "inputs", "gradescope"),
    "sheets.2": ("due", "extensions", "excluded", "bonus", "full_points", "points", "partial"),
}

DUE = "[sheets.2]\ndue = 2026-11-02\n"

"""With a deadline and without `late.times` there is a second fault, which is not the cause."""


@pytest.mark.parametrize("slip", ["a letter missing", "two letters changed about"])
@pytest.mark.parametrize(("table", "key"), [(t, key) for t, keys in KEYS.items() for key in keys])
def test_misspelled_policy_key_suggests_the_right_one(tmp_path, table, key, slip):
    wrong = key[:2] + key[3:] if slip == "a letter missing" else key[:-2] + key[-1] + key[-2]
    line = f"[{wrong}]\n" if key in ("late", "feedback") else f"{wrong} = 3\n"
    line = f"[{wrong}.2]\n" if key == "sheets" else line
    head = f"[{table}]\n" if table and table != "sheets.2" else ""
    text = DUE + line if table == "sheets.2" else line + DUE if not table else DUE + head + line
    with pytest.raises(ValueError, match=f"{wrong!r}; {key!r} was probably meant"):
        policy_of(tmp_path, text)


def test_example_policy_explains_every_key():
    from classroom.policy import EXAMPLE

    text = EXAMPLE.read_text(encoding="utf-8")
    named = set(re.findall(r"^#? ?(\w+) = ", text, re.MULTILINE))
    assert named == {key for keys in KEYS.values() for key in keys} - set(KEYS[""][3:])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[lat]\ntimes = 'files'\n" + DUE, "no table 'lat'; 'late' was probably meant"),
        ("[late]\nroster = 'x.csv'", r"'roster'; it belongs above the first \[table\]"),
        ("percent_per_day = 3", r"'percent_per_day'; it belongs under \[late\]"),
        ("[feedback]\ndue = 2026-11-02", r"'due'; it belongs under \[sheets.4\]"),
        ("[2]\ndue = 2026-11-02", r"a sheet's table is \[sheets.2\]"),
        ("[late]\ngrace = 5", "'grace_minutes' was probably meant"),
        ("[late]\ntimes = 'moodel'", "not there; 'moodle' was probably meant"),
        ("[feedback]\ngradescope = 'hiden'", "'hidden' was probably meant"),
        ("late = 3", r"a table, \[late\]"),
        ("sheets = 3", r"tables, as \[sheets.4\]"),
    ],
)
def test_misplaced_policy_key_names_the_right_table(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        policy_of(tmp_path, text)


def test_a_policy_names_only_tasks_that_there_are(small, tmp_path):
    folder, out = small
    policy = policy_of(tmp_path, "[sheets.2]\nexcluded = ['stable_sofmax']")
    said = "no task 'stable_sofmax'; 'stable_softmax' was probably meant"
    with pytest.raises(ValueError, match=said):
        graded(folder, out, policy=policy)
    assert not (out / "grades.csv").exists()


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("7", "no sheet 7; the sheets are: 2, 5"),
        ("'2'", "no task '2'; a sheet's number has no quotes"),
        ("'stable_sofmax'", "'stable_softmax' was probably meant"),
    ],
)
def test_keep_back_refuses_unknown_model_answers(small, tmp_path, kept, said):
    folder, out = small
    policy = policy_of(tmp_path, f"[feedback]\nkeep_back = [{kept}]")
    with pytest.raises(ValueError, match=f"feedback.keep_back: {said}" if "2" in said else said):
        graded(folder, out, policy=policy)
    assert not (out / "grades.csv").exists()


def test_example_policy_is_valid_uncommented(tmp_path):
    """As it stands it is valid too."""
    from classroom.policy import EXAMPLE

    text = EXAMPLE.read_text(encoding="utf-8")
    policy_of(tmp_path, text)
    (tmp_path / "class.csv").write_text("id,name,email\n", encoding="utf-8")
    (tmp_path / "moodle-worksheet.csv").write_text("Identifier,Full name\n", encoding="utf-8")
    place = tmp_path / "inner"
    place.mkdir()
    (tmp_path / "private").mkdir()
    lines = text.splitlines()
    uncommented = [x.removeprefix("# ") if " = " in x or x.startswith("# [") else x for x in lines]
    whole = (
        "\n".join(uncommented).replace('"../private"', '"private"').replace('"pandas"', '"numpy"')
    )
    policy = policy_of(tmp_path, whole)
    assert policy.percent_per_day == 10 and policy.of(4).bonus == {"future_leaks"}
