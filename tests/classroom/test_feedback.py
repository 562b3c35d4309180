"""What a student reads in the feedback, and which model answers are shown."""

import html
import re
from datetime import UTC, datetime

import pytest

from classroom.execute import case_seed
from classroom.sheets import sheets
from grading.task import all_tasks
from tests.classroom import fake_class
from tests.classroom.class_runs import GRADED, TEXTS, again, fill, graded, policy_of, rows_of
from tests.classroom.fake_class import LATER, RIGHT, SHEET, put, run_here, sheet
from tests.grading.sample_tasks import notebook

pytestmark = pytest.mark.grader


def test_feedback_does_not_reveal_the_secret_seed(tmp_path):
    """The cases of no other task follow from it, nor from a seed that is an input."""
    secret = 20417
    seeds = {name: case_seed(secret, name) for name in (*GRADED, "essay", "train_lstm")}
    assert len({*seeds.values()}) == len(seeds) and secret not in seeds.values()
    assert all(0 <= seed < 2**31 for seed in seeds.values())
    assert case_seed(secret + 1, "essay") != seeds["essay"]
    shown = []

    def asked(cells, tasks, slot):
        shown.extend((one.task.name, repr(one.cases)) for one in tasks)
        return run_here(cells, tasks, slot)

    put(tmp_path / "in" / "ada.ipynb", sheet(RIGHT), LATER)
    graded(tmp_path / "in", tmp_path / "out", told={"seed": secret}, examiner=asked)
    for name, cases in shown:
        assert cases == repr(GRADED[name].cases(seeds[name]))


def test_feedback_shows_input_code_and_failing_cell(tmp_path):
    """With the numbers and titles of the sheet."""
    folder = tmp_path / "in"
    wrong = "def stable_softmax(scores):\n    return scores / scores.sum()  # <mine>"
    broken = "halved = 1 / 0\nquery_context = [2.0, 1.0]"
    answers = {"stable_softmax": wrong, "query_context": broken}
    put(folder / "ada.ipynb", sheet(answers), LATER)
    text = "[feedback]\nmodel_answers = true\nkeep_back = ['query_context']"
    graded(folder, tmp_path / "out", policy=policy_of(tmp_path, text))
    page = next((tmp_path / "out" / "feedback").glob("*.html")).read_text(encoding="utf-8")
    heads = [f"{i.number}. {i.title}" for i in sheets()[2].items if i.task in answers]
    assert 0 < page.index(heads[0]) < page.index(heads[1])
    assert "scores = [[" in page and "# shape" in page
    assert "scores / scores.sum()  # &lt;mine&gt;" in page
    assert 'The cell that defines `query_context` did not finish. <a href="#cell-3">' in page
    assert 'id="cell-3"' in page and "ZeroDivisionError" in page
    assert page.count("The model answer") == 1
    assert f"Lecture 2, {sheets()[2].title}" in page


def test_keep_back_by_sheet_number(tmp_path):
    put(tmp_path / "in" / "ada.ipynb", sheet(fake_class.HALF), LATER)
    for kept, shown in (("[5]", True), ("[2]", False), ("['stable_softmax', 2]", False)):
        policy = policy_of(tmp_path, f"[feedback]\nmodel_answers = true\nkeep_back = {kept}")
        graded(tmp_path / "in", tmp_path / "out", policy=policy)
        page = next((tmp_path / "out" / "feedback").glob("*.html")).read_text(encoding="utf-8")
        assert ("The model answer" in page) == shown


def test_page_says_once_that_only_whole_answers_count(small, tmp_path):
    folder, out = small
    said = "<p>In this class, a task that the grader judges earns all of its points or none.</p>"
    for text, times in (("partial = false", 1), ("partial = true", 0)):
        policy = policy_of(tmp_path, f"roster = 'class.csv'\n[sheets.{SHEET}]\n{text}")
        graded(folder, out, tasks=TEXTS, policy=policy)
        page = next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")
        assert page.count(said) == times
        page = next((out / "feedback").glob("dan-*")).read_text(encoding="utf-8")
        assert said not in page  # nothing was handed in
    policy = policy_of(tmp_path, "[sheets.5]\npartial = false")
    graded(folder, out, tasks=TEXTS, policy=policy)
    assert said not in next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")


def test_partial_points_are_numbers_everywhere(small, monkeypatch):
    """A judge may give a part of the points; a policy may take that back."""
    from classroom import verdicts
    from grading.feedback.verdict import Verdict

    def part(*_):
        return Verdict(2.5, message="On case 1 of 2: no.", part="Part of the points: <half> of it.")

    monkeypatch.setattr(verdicts, "judge", part)
    folder, out = small
    again(small)
    rows = rows_of(out / "grades.csv")
    assert {row["stable_softmax"] for row in rows if row["id"] == "ada"} == {"2.5"}
    page = next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")
    assert "2.5 of 10 points" in page and "Part of the points: &lt;half&gt; of it." in page
    whole = policy_of(out, f"[sheets.{SHEET}]\npartial = false")
    graded(folder, out, tasks=TEXTS, policy=whole)
    rows = rows_of(out / "grades.csv")
    assert {row["stable_softmax"] for row in rows if row["id"] == "ada"} == {"0"}
    page = next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")
    assert "In this class a task counts all or nothing" in page and "&lt;half&gt;" not in page


def test_feedback_leads_to_the_section_of_the_lecture(tmp_path):
    from docutils.nodes import make_id

    from classroom.policy import Policy
    from classroom.reports.feedback import _address
    from grading.task import PROJECT, all_tasks

    for task in all_tasks().values():
        page = sheets()[task.lecture].page
        folder = "exercises" if task.lecture == PROJECT else "lectures"
        found = _address(page, task, Policy(site="https://example.org/course/"))
        place = f"#{make_id(task.section)}" if task.section else ""
        assert found == f"https://example.org/course/{folder}/{page}.html{place}"
    put(tmp_path / "in" / "ada.ipynb", sheet(fake_class.HALF), LATER)
    for text, address in (
        (
            "site = 'https://example.org'",
            f"https://example.org/lectures/{sheets()[2].page}.html#one",
        ),
        ("inputs = true", "lamplight/blob/main/lectures/"),
    ):
        graded(tmp_path / "in", tmp_path / "out", policy=policy_of(tmp_path, f"[feedback]\n{text}"))
        page = next((tmp_path / "out" / "feedback").glob("*.html")).read_text(encoding="utf-8")
        assert address in page
        assert f"Lecture 2, {sheets()[2].title}: One query, three operations</a>" in page


def test_points_without_comment_show_the_marking_guide(tmp_path):
    tasks = GRADED | {"claim_gates": all_tasks()["claim_gates"]}
    answers = RIGHT | {"claim_gates": "claim_gates = 'A gate is fixed.'"}
    put(tmp_path / "in" / "ada.ipynb", sheet(answers), LATER)
    out = tmp_path / "out"
    graded(tmp_path / "in", out, tasks=tasks)

    def page_for(points, author="", text="model_answers = true", comment=""):
        new = {"points": points, "comment": comment, "author": author}
        fill(out / "written.csv", lambda row: row.update(new))
        graded(tmp_path / "in", out, tasks=tasks, policy=policy_of(tmp_path, f"[feedback]\n{text}"))
        return next((out / "feedback").glob("ada-*")).read_text(encoding="utf-8")

    guide = "<p>How the points are divided:</p><p>One point for the straight line"
    page = page_for("2")
    assert f"<p>Marked by your teacher.</p>\n{guide}" in page
    assert "points given by a person" not in page
    assert "<p>Marked by Bea.</p>" in page_for("3", "Bea")
    assert guide not in page_for("5")
    assert guide not in page_for("2", text="inputs = true")
    assert guide not in page_for("2", text="model_answers = true\nkeep_back = ['claim_gates']")
    page = page_for("2", comment="One gate more.")
    assert "One gate more." in page and guide not in page and "Marked by" not in page


def test_a_corrected_task_says_what_was_corrected(tmp_path):
    put(tmp_path / "in" / "ada.ipynb", sheet(RIGHT | {"query_context": "query_context = 1"}), LATER)

    def page(*correct):
        graded(tmp_path / "in", tmp_path / "out", told={"correct": correct})
        return next((tmp_path / "out" / "feedback").glob("ada-*")).read_text(encoding="utf-8")

    reason = re.search(r"<h3>✗ .*?</h3>\n<pre>(.*?)</pre>", page(), re.DOTALL)[1]
    said = page(("ada", "query_context", "3", "Right idea."))
    assert "<p>Corrected from 0 to 3 points. Your teacher: Right idea.</p>" in said
    folded = "<details><summary>What the grader said before the correction</summary>"
    assert f"{folded}<pre>{reason}</pre>" in said and said.count(reason) == 1


def test_feedback_says_what_wrong_letters_cost(tmp_path):
    """Right choices that get no points need a reason; an answer that is missing needs none."""
    tasks = GRADED | {"claims_vectors": all_tasks()["claims_vectors"]}
    template = sheets()[2].template["claims_vectors"]
    for name, answer in {"ada": "claims_vectors = {'b'}", "bob": template}.items():
        put(tmp_path / "in" / f"{name}.ipynb", sheet(RIGHT | {"claims_vectors": answer}), LATER)
    graded(tmp_path / "in", tmp_path / "out", tasks=tasks)
    for name, times in {"ada": 1, "bob": 0}.items():
        page = next((tmp_path / "out" / "feedback").glob(f"{name}-*")).read_text(encoding="utf-8")
        assert "(claims_vectors): 0 of 5 points" in page
        assert page.count("a second one costs the rest.</p>") == times, name


def page_of(tmp_path, cells, **more):
    """The feedback of a single student, as text."""
    put(tmp_path / "in" / "ada.ipynb", notebook(cells), LATER)
    graded(tmp_path / "in", tmp_path / "out", tasks=TEXTS, **more)
    page = next((tmp_path / "out" / "feedback").glob("*.html")).read_text(encoding="utf-8")
    return html.unescape(re.sub(r"<[^>]*>", "", page))


MERGED = "<<<<<<< HEAD\nquery_context = [1, 2]\n=======\nquery_context = [2, 1]\n>>>>>>> main"


def test_missing_answers_are_told_as_missing(tmp_path):
    cells = [fake_class.FIRST, RIGHT["stable_softmax"].replace("softmax", "sotfmax")]
    page = page_of(tmp_path, [*cells, MERGED, "essay = ..."])
    said = "Your notebook defines no stable_softmax. Is the name spelled as on the sheet?"
    assert f"{said} Did you mean stable_sotfmax?" in page
    assert "Your notebook has no answer under the name essay." in page
    assert "The cell that defines query_context did not finish" in page.replace("`", "")
    assert "The cell contains the marks of an unfinished merge." in page
    [row] = rows_of(tmp_path / "out" / "grades.csv")
    assert row["flags"] == "answer in a cell with a syntax error"


@pytest.mark.parametrize(
    ("minutes", "told"),
    [
        (25, "25 minutes late, which counts as 1 day,"),
        (60, "1 hour late, which counts as 1 day,"),
        (60 * 25 + 3, "1 day and 1 hour late, which counts as 2 days,"),
    ],
)
def test_feedback_says_how_late_a_file_is(tmp_path, minutes, told):
    text = "[late]\ntimes = 'files'\ntime_zone = 'Europe/Berlin'\npercent_per_day = 10\n"
    text += "[sheets.2]\ndue = 2023-10-28T14:00:00"  # in the night the clocks go back
    due = datetime(2023, 10, 28, 12, tzinfo=UTC).timestamp()
    put(tmp_path / "in" / "x" / "ada.ipynb", sheet(RIGHT), due + 60 * minutes)
    graded(tmp_path / "in", tmp_path / "out", policy=policy_of(tmp_path, text))
    page = next((tmp_path / "out" / "feedback").glob("*.html")).read_text(encoding="utf-8")
    assert f"Submitted {told}" in page and "Your file: ada.ipynb<" in page


def test_written_tasks_have_question_answer_and_guide():
    for task in all_tasks().values():
        if task.kind == "written":
            asked = sheets()[task.lecture].questions[task.name]
            assert len(asked.split()) > 20 and "<" not in asked, task.name
            assert len(str(task.reference).split()) > 20, task.name
            assert len(task.mistakes) >= 2, task.name
