"""Private cases, and tasks of the lecturer's own."""

import re
from datetime import UTC, datetime

import pytest

from classroom.sheets import items_of, sheets
from grading.task import Tasks
from tests.classroom import fake_class
from tests.classroom.class_runs import (
    GRADED,
    graded,
    pages_about_grading,
    points_of,
    policy_of,
    rows_of,
)
from tests.classroom.fake_class import FULL, LATER, RIGHT, put, sheet
from tests.grading.sample_tasks import TASKS, notebook

pytestmark = pytest.mark.grader


def test_own_tasks_are_numbered_after_the_sheet():
    known = sheets()[2].items
    some = Tasks({known[0].task: 2, "mine": 2})
    assert [item.number for item in items_of(2, some)] == [1, max(i.number for i in known) + 1]


def test_private_cases_and_tasks_are_used(small, tmp_path):
    """They lie outside the repository."""
    folder, out = small
    private = tmp_path / "private"
    put(
        private / "cases" / "stable_softmax.py",
        b"import numpy as np\nfrom grading.task import Case\n"
        b"def cases(seed):\n    return [Case((np.zeros((1, 4)),), 'mine')]\n",
        LATER,
    )
    put(
        private / "tasks" / "lecture_02" / "my_own.py",
        b"from grading.author import TaskFile\n# %% the cell\nmy_own = 7\n# %%\n"
        b"task = TaskFile('predict', points=3, minutes=1, outcome='to try')\n",
        LATER,
    )
    put(folder / "ada" / "02_sheet.ipynb", sheet(RIGHT | {"my_own": "my_own = 7"}), LATER)
    policy = policy_of(tmp_path, 'private = "private"\nroster = "class.csv"')
    done = graded(folder, out, tasks=GRADED, policy=policy)
    assert points_of(out)["ada"] == FULL + 3
    assert done.own_cases == ["stable_softmax (1 ordinary cases)"]
    text = pages_about_grading()
    code = next(c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def cases" in c)
    put(private / "cases" / "stable_softmax.py", code.encode(), LATER)
    graded(folder, out, tasks=GRADED, policy=policy)
    assert points_of(out)["ada"] == FULL + 3
    put(private / "cases" / "no_task.py", b"def cases(seed): return []", LATER)
    with pytest.raises(ValueError, match=r"no_task\.py"):
        graded(folder, out, tasks=GRADED, policy=policy)


CASES = "import numpy as np\nfrom grading.task import Case\n\n\ndef cases(seed):\n    return "


def test_the_kind_that_a_private_case_says_counts(small, tmp_path):
    """Also beside one ordinary case; by the words of the notes alone it would be a whole."""
    folder, out = small
    (tmp_path / "private").mkdir()
    policy = policy_of(tmp_path, "private = 'private'")
    one, two = "Case((np.zeros((1, 4)),), 'mine')", "Case((np.zeros((2, 4)),), 'a batch of two'"
    for code, said in (
        (f"[{one}, {two}, kind='long texts')]", "1 ordinary cases, 1 long texts"),
        (f"[{one}, {two})]", "2 ordinary cases"),
    ):
        put(tmp_path / "private" / "cases" / "stable_softmax.py", (CASES + code).encode(), LATER)
        done = graded(folder, out, tasks=GRADED, policy=policy)
        assert done.own_cases == [f"stable_softmax ({said})"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "[Case((np.zeros((1, 4)),)), Case((np.array(['a']),), 'words')]",
            r"case 2 \(words\): an "
            "argument is an array of <U1, which is not plain data; wanted are numbers, texts, ",
        ),
        ("[Case((object(),))]", "case 1: an argument is an object of type object, .*; wanted are"),
        ("[Case(np.zeros((1, 4)))]", r"case 1: its arguments are an array .*as in Case\(\(x,\)\)"),
        ("[]", r"cases\(seed\) must return a list of grading.task.Case, not empty"),
        ("np.zeros(3)", r"cases\(seed\) must return a list of grading.task.Case, not empty"),
        ("nothing", r"cases\(0\) stops: NameError: name 'nothing' is not defined"),
        ("[Case((np.zeros((1, 4)),), kind='batches')]", "no case is an ordinary one"),
    ],
)
def test_invalid_private_cases_are_refused(small, code, said):
    """The message names the file, the case and what is needed."""
    folder, out = small
    put(folder.parent / "private" / "cases" / "stable_softmax.py", (CASES + code).encode(), LATER)
    policy = policy_of(folder.parent, 'private = "private"')
    with pytest.raises(ValueError, match=rf"cases/stable_softmax\.py: {said}"):
        graded(folder, out, tasks=GRADED, policy=policy)
    assert not (out / "grades.csv").exists()


OWN = b"""from grading.author import Case, TaskFile

# %% the cell
def my_own(x):
    # BEGIN SOLUTION
    return 2 * x  # <mine>
    # END SOLUTION
    #| return x
# %%
task = TaskFile("implement", points=3, minutes=1, outcome="x")
task.cases(lambda s: [Case((1.5,))])
"""

OWN_RIGHT = "def my_own(x):\n    return x + x"


def an_own_task(tmp_path, text=""):
    put(tmp_path / "private" / "tasks" / "lecture_02" / "my_own.py", OWN, LATER)
    return policy_of(tmp_path, f"private = 'private'\n{text}")


def test_second_notebook_adds_own_tasks(tmp_path):
    """Wherever it lies, whichever is later; what the sheet itself answers stands."""
    (tmp_path / "class.csv").write_text(
        "id,name,email\n" + "\n".join(f"{n},,{n}@x" for n in "ada bob cem dan eva fay gus".split())
    )
    policy, out = an_own_task(tmp_path, "roster = 'class.csv'"), tmp_path / "out"
    own, wrong = notebook([OWN_RIGHT]), notebook(["def my_own(x):\n    return x"])
    stub = notebook(["def my_own(x):\n    ..."])
    untouched = sheet(fake_class.STUB)
    files = {  # what is handed in, and its points
        "ada": ({"02_x.ipynb": sheet(RIGHT), "own.ipynb": own}, FULL + 3),
        "bob": ({"z.ipynb": sheet(RIGHT), "own.ipynb": own}, FULL + 3),
        "cem": ({"z.ipynb": sheet(RIGHT, OWN_RIGHT), "own.ipynb": wrong}, FULL + 3),
        "dan": ({"z.ipynb": untouched, "own.ipynb": own}, 3),
        "eva": ({"z.ipynb": sheet(RIGHT), "own.ipynb": stub}, FULL),
        "fay": ({"z.ipynb": sheet(RIGHT), "own.ipynb": own, "own-1.ipynb": wrong}, FULL),
        "gus": ({"own.ipynb": own}, 3),
    }
    for name, (mine, _) in files.items():
        for file, data in mine.items():
            put(tmp_path / "in" / name / file, data, LATER + 9 * ("own" in file))
    graded(tmp_path / "in", out, policy=policy)
    assert points_of(out) == {name: points for name, (_, points) in files.items()}
    looks = {row["id"]: row["what"] for row in rows_of(out / "look.csv")}
    assert looks.keys() == {"cem", "eva", "gus"}
    assert looks["cem"] == "also answers my_own; the answer in z.ipynb counts"
    assert "hardly the sheet" in looks["gus"]
    rows = {row["id"]: row for row in rows_of(out / "grades.csv")}
    assert (rows["dan"]["flags"], rows["eva"]["flags"]) == ("", "")
    assert rows["bob"]["file"] == "bob/z.ipynb"
    said = {row["file"]: row["status"] for row in rows_of(out / "files.csv")}
    assert said["bob/own.ipynb"] == "not counted alone: its answers count with bob/z.ipynb"
    page = next((out / "feedback").glob("bob-*")).read_text(encoding="utf-8")
    assert "Your files: z.ipynb, followed by own.ipynb" in page
    # another second notebook is another submission; and a person may choose otherwise
    put(tmp_path / "in" / "bob" / "own.ipynb", wrong, LATER + 9)
    graded(tmp_path / "in", out, policy=policy)
    assert points_of(out)["bob"] == FULL
    graded(tmp_path / "in", out, policy=policy, told={"count": ("ada/own.ipynb",)})
    assert points_of(out)["ada"] == 3


def test_second_notebook_of_other_download_is_ignored(tmp_path):
    policy, out = an_own_task(tmp_path), tmp_path / "out"
    one = fake_class.Made(901, "Ada Byron", {"x.ipynb": (sheet(RIGHT), LATER)})
    for name in ("a", "b"):
        table = fake_class.moodle(tmp_path / "in" / name, [one])
        one.files = {"own.ipynb": (notebook([OWN_RIGHT]), LATER + 9)}
    graded(tmp_path / "in", out, policy=policy, told={"rosters": (table,)})
    assert [*points_of(out).values()] == [FULL]
    said = [row["status"] for row in rows_of(out / "files.csv")]
    assert said[0] == "ok" and said[1].startswith(
        "not counted: it is from another download than a/"
    )


def test_late_second_notebook_makes_all_late(tmp_path):
    text = "[late]\ntimes = 'files'\npercent_per_day = 10\n[sheets.2]\ndue = 2023-11-15T12:00:00Z"
    (tmp_path / "class.csv").write_text("id,name,email\nada,Ada,a@x\n")
    policy = an_own_task(tmp_path, f"roster = 'class.csv'\n{text}")
    due = datetime(2023, 11, 15, 12, tzinfo=UTC).timestamp()
    put(tmp_path / "in" / "ada" / "x.ipynb", sheet(RIGHT), due - 60)
    put(tmp_path / "in" / "ada" / "own.ipynb", notebook([OWN_RIGHT]), due + 60)
    graded(tmp_path / "in", tmp_path / "out", policy=policy)
    assert [*points_of(tmp_path / "out").values()] == [pytest.approx((FULL + 3) * 0.9)]
    put(tmp_path / "canvas" / "adabyron_901_9001_x.ipynb", sheet(RIGHT), LATER)
    put(tmp_path / "canvas" / "adabyron_LATE_901_9002_own.ipynb", notebook([OWN_RIGHT]), LATER)
    done = graded(tmp_path / "canvas", tmp_path / "more", policy=an_own_task(tmp_path))
    [row] = rows_of(tmp_path / "more" / "grades.csv")
    assert (done.late, row["flags"]) == (1, "late, says Canvas")


@pytest.mark.parametrize(
    ("place", "code"),
    [
        (
            "cases/stable_softmax.py",  # an argument too many
            "from grading.task import Case\ndef cases(seed):\n    return [Case((1, 2), 'mine')]\n",
        ),
        (
            "tasks/lecture_02/my_own.py",
            "from grading.author import Case, TaskFile\n# %% the cell\ndef my_own(x):\n"
            "    # BEGIN SOLUTION\n    return x / 0\n    # END SOLUTION\n# %%\ntask = TaskFile("
            "'implement', points=3, minutes=1, outcome='x', cases=lambda s: [Case((1,))])\n",
        ),
    ],
)
def test_private_cases_must_accept_the_model_answer(small, place, code):
    folder, out = small
    put(folder.parent / "private" / place, code.encode(), LATER)
    policy = policy_of(folder.parent, 'private = "private"')
    with pytest.raises(ValueError, match=r"\.py: the model answer of \w+ has no result on case 1"):
        graded(folder, out, tasks=GRADED, policy=policy)
    assert not (out / "grades.csv").exists()


def test_own_model_answer_follows_feedback_rules(tmp_path):
    wrong = "def my_own(x):\n    return x"
    put(tmp_path / "in" / "ada.ipynb", sheet(RIGHT | {"my_own": wrong}), LATER)
    out = tmp_path / "out"
    for text, shown in (
        ("model_answers = true", True),
        ("inputs = true", False),
        ("model_answers = 2999-01-01", False),
        ("model_answers = true\nkeep_back = ['my_own']", False),
        ("model_answers = true\nkeep_back = [2]", False),
        ("model_answers = true\nkeep_back = [5]", True),
    ):
        done = graded(tmp_path / "in", out, policy=an_own_task(tmp_path, f"[feedback]\n{text}"))
        assert done.own_tasks == ["my_own"]
        page = next((out / "feedback").glob("*.html")).read_text(encoding="utf-8")
        answer = "<pre>def my_own(x):\n    return 2 * x  # &lt;mine&gt;</pre>"
        assert (answer in page, "The model answer" in page) == (shown, shown), text


def test_own_answer_is_a_source_or_a_value(tmp_path):
    from classroom.private_tasks import own_answer, own_tasks

    head = "from grading.author import Case, TaskFile\n"
    end = "task = TaskFile({!r}, points=3, minutes=1, outcome='x', cases=lambda s: [Case((1,))])"
    place = tmp_path / "tasks" / "lecture_02"
    put(place / "a.py", f"{head}def a(x):\n    return x\n{end.format('implement')}".encode(), LATER)
    put(place / "b.py", f"{head}b = [1.5]\n{end.format('predict')}".encode(), LATER)
    found = {task.name: own_answer(tmp_path, task) for task in own_tasks(tmp_path)}
    assert found == {"a": "def a(x):\n    return x\n", "b": "b = [1.5]"}
    assert own_answer(tmp_path, TASKS["essay"]) == own_answer(None, TASKS["essay"]) == ""
