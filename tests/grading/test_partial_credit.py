"""Partial credit: what is right counts, what is guessed does not, and all places agree."""

import ast
import importlib
import itertools
import statistics

import numpy as np
import pytest

from grading.check import PUBLIC_SEED, check, keep_back, progress
from grading.feedback import partial_credit as parts
from grading.feedback.judge import grade
from grading.feedback.partial_credit import Guessable, of_code, of_entries, of_slips
from grading.runner.run import MISSING
from grading.task import CODE, ORDINARY, Case, Mistake, Task, all_tasks
from tests.conftest import ROOT
from tests.grading.mistake_variants import sheet_of
from tests.grading.test_task_rules import fingerprint

checking = importlib.import_module("grading.check")
TASKS = sorted(all_tasks().values(), key=lambda task: (task.lecture, task.name))
CODE_TASKS = [task for task in TASKS if task.kind in CODE]
LISTS = [t for t in TASKS if t.kind == "predict" and isinstance(t.reference, list)]
FILES = sorted((ROOT / "grading" / "tasks").glob("lecture_*/*.py"))
CHOICES = [task for task in TASKS if task.kind == "choose"]


def by_name(task):
    return task.name


def kinds_of(cases):
    return {case.kind for case in cases}


def doubled(x):
    return 2 * x


def cases(seed):
    rng = np.random.default_rng(seed)
    notes = ("by hand", "", "a batch of two", "large numbers")
    kinds = (ORDINARY, ORDINARY, "batches", "edge cases")
    return [
        Case((rng.normal(size=(1 + i, 2)),), note, kind=kind)
        for i, (note, kind) in enumerate(zip(notes, kinds, strict=True))
    ]


def example(**changes):
    fields = {
        "name": "doubled",
        "lecture": 1,
        "kind": "implement",
        "points": 8,
        "minutes": 1,
        "outcome": "double",
        "reference": doubled,
        "cases": cases,
        "mistakes": (Mistake(lambda x: 2 * x if len(x) < 3 else x, "Not in a batch."),),
    }
    return Task(**fields | changes)


# ------------------------------------------------------------------ kinds of cases


def test_note_tells_no_kind():
    assert Case((), "a batch of two, an empty row").kind == ORDINARY
    assert Case((), "", kind="batches").kind == "batches"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_case_says_its_kind(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    cases = [node for node in calls if getattr(node.func, "id", "") == "Case"]
    silent = [node.lineno for node in cases if "kind" not in {k.arg for k in node.keywords}]
    assert silent == [], (
        f'write kind="ordinary cases" or another kind in these lines of {path.name}'
    )


@pytest.mark.parametrize("task", CODE_TASKS, ids=by_name)
def test_kinds_ignore_the_seed_and_cases_follow_it(task):
    """Or the points would, or half of them could be learned by heart."""
    public, first, other = (sheet_of(task, seed).cases for seed in (PUBLIC_SEED, 1, 2))
    assert kinds_of(first) == kinds_of(other) == kinds_of(public)
    assert ORDINARY in kinds_of(first) and "" not in kinds_of(first)
    seen = [[fingerprint(case.args) for case in c if case.kind == ORDINARY] for c in (first, other)]
    assert seen[0] != seen[1]


# ------------------------------------------------------------------ what is earned

KINDS = [ORDINARY, ORDINARY, "batches", "edge cases"]
ALL = [True] * 4


@pytest.mark.parametrize(
    ("right", "clean", "given", "points"),
    [
        ((1, 1, 0, 0), ALL, None, 4),
        ((1, 1, 1, 0), ALL, None, 6),
        ((1, 0, 1, 1), ALL, None, 0),
        ((0, 0, 1, 1), ALL, None, 0),
        (ALL, (1, 0, 1, 1), None, 4),
        ((1, 1, 1, 0), (1, 1, 1, 0), None, 6),
        ((1, 1, 1, 0), ALL, (1, 1, 0, 0), 4),
        ((1, 1, 0, 0), ALL, (1, 1, 0, 0), 0),
        ((1, 1, 0, 0), ALL, (0, 0, 1, 0), 4),
        ((1, 1, 0, 0), ALL, (0, 0, 1, 1), 8),
    ],
)
def test_code_counts_by_kind(right, clean, given, points):
    assert of_code(KINDS, right, clean, given).of(8) == points


def test_points_are_halves_rounded_down():
    assert of_code(KINDS, (1, 1, 1, 0), ALL, None).of(9) == 6.5


def test_one_slip_in_code_keeps_other_points():
    """The message says for which kinds of cases."""
    verdict = grade(example(), lambda x: 2 * x if len(x) < 3 else x, 0)
    assert verdict.points == 4 and verdict.mistake == 0
    assert verdict.part == (
        "Partial credit: right on ordinary cases (1/2 of the points); "
        "not yet all right on batches (1/4 of the points), edge cases (1/4 of the points)."
    )
    assert "a batch of two" in verdict.message and "Not in a batch." in verdict.message


def test_failing_ordinary_case_leaves_no_points():
    """If something else is right, or if some of several bugs may be fixed."""
    said = "No partial credit, because an ordinary case fails"
    assert grade(example(), lambda x: 2 * x if len(x) > 3 else x, 0).part == f"{said}."
    assert grade(example(), lambda x: x, 0).part == ""
    bugs = example(kind="find the bug", mistakes=(Mistake(lambda x: x, "As given."),))
    assert grade(bugs, lambda x: x, 0).part == "", "nothing is fixed"
    part = grade(bugs, lambda x: 3 * x, 0).part
    assert part == "The points come when all bugs are fixed."


def in_place(x):
    x *= 2
    return x


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        (lambda x: x, 0),
        (lambda x: 0 * x, 0),
        (lambda x: None, 0),
        (..., 0),
        (MISSING, 0),
        (lambda x: 2 * x if len(x) < 4 else object(), 0),  # no plain data anywhere
        (lambda x: 2 * x if len(x) < 4 else x[9], 6),
        (in_place, 4),
    ],
)
def test_points_of_broken_answers(answer, points):
    """A missing, forged or wholly wrong answer earns none; a late error keeps some."""
    assert grade(example(), answer, 0).points == points


def as_given(x):
    return 2 * x if len(x) < 4 else x


def test_find_the_bug_counts_only_repaired_cases():
    task = example(kind="find the bug", mistakes=(Mistake(as_given, "This is the code as given."),))
    assert grade(task, as_given, 0).points == 0
    assert grade(task, lambda x: 2 * x if len(x) < 4 else -x, 0).points == 0
    assert grade(task, lambda x: 2 * x if len(x) > 3 else x, 0).points == 0
    assert grade(task, doubled, 0).points == 8


@pytest.mark.parametrize(
    "task", [task for task in CODE_TASKS if task.kind == "find the bug"], ids=by_name
)
@pytest.mark.parametrize("seed", [PUBLIC_SEED, 1])
def test_the_code_as_given_earns_nothing(task, seed):
    sheet = sheet_of(task, seed)
    assert sheet.verdict(sheet.outcomes(0)).points == 0


# ------------------------------------------------------------------ lists and letters


def test_a_list_counts_by_entry():
    task = example(kind="predict", points=5, reference=[2.0, (1, 2), 7], mistakes=())
    for got, points in (
        ([2.0, (1, 2), 7], 5),
        ([2.0, (1, 3), 7], 3),
        ([0, 0, 7], 1.5),
        ([7, 7, 7], 0),
        ([2.0, (1, 2)], 0),
        (7, 0),
        ("abc", 0),
    ):
        assert grade(task, got, 0).points == points, got
    assert "2 of 3 entries are right" in grade(task, [2.0, (1, 3), 7], 0).part
    assert "all entries of the list are the same" in grade(task, [7, 7, 7], 0).part
    assert grade(task, [8, 8, 8], 0).part == ""
    words = example(kind="predict", reference=[True, False, True, True], mistakes=())
    assert [grade(words, [True] * n + [False] * (4 - n), 0).points for n in (4, 1)] == [4, 0]


@pytest.mark.parametrize("task", LISTS, ids=by_name)
def test_the_same_value_everywhere_earns_nothing(task):
    for value in task.reference:
        got = [value] * len(task.reference)
        assert got == task.reference or of_entries(task, got).share == 0


@pytest.mark.parametrize("task", CHOICES, ids=by_name)
def test_guessing_letters_does_not_pay(task):
    """Whoever ticks at random has a twentieth on average; ticking any fixed number, a tenth."""
    letters = sorted(mistake.answer for mistake in task.mistakes)
    shares = {}
    for ticked in itertools.product((False, True), repeat=len(letters)):
        chosen = {letter for letter, tick in zip(letters, ticked, strict=True) if tick}
        slips = len(chosen ^ set(task.reference))
        if chosen:
            share = of_slips(slips, Guessable.LETTER).share
            assert grade(task, chosen, 0).points == (
                task.points if not slips else share and (parts.Earned(share).of(task.points))
            )
            shares.setdefault(len(chosen), []).append(float(share))
    assert statistics.fmean(itertools.chain(*shares.values())) <= 0.08
    assert max(statistics.fmean(some) for some in shares.values()) <= 0.12


def test_one_letter_wrong_keeps_half_two_keep_nothing():
    options = tuple(Mistake(letter, f"Reason {letter}.") for letter in "abcde")
    task = example(kind="choose", reference={"a", "b", "c"}, mistakes=options)
    got = {"abc": 8, "ab": 4, "abcd": 4, "abd": 0, "a": 0, "abcde": 0}
    assert {letters: grade(task, set(letters), 0).points for letters in got} == got
    assert "one letter is wrong or missing" in grade(task, {"a", "b"}, 0).part


# ------------------------------------------------------------------ where it is shown


@pytest.fixture
def in_notebook(monkeypatch):
    """`check` and `progress` on the example, as in a notebook whose outputs nobody records."""
    task = example()
    monkeypatch.setattr(checking, "load", lambda name: task)
    monkeypatch.setattr(checking, "of_lecture", lambda lecture: [task])
    monkeypatch.setattr(checking, "names_by_lecture", lambda: {task.lecture: [task.name]})
    for kept in ("_earned", "_best", "_tries"):
        monkeypatch.setattr(checking, kept, type(getattr(checking, kept))())
    for kept in ("_for_review", "_kept_back"):
        monkeypatch.setattr(checking, kept, set())
    monkeypatch.delenv("LAMPLIGHT_QUIET", raising=False)
    return task


def batchless(x):
    return 2 * x if len(x) < 3 else x


def test_check_and_progress_tell_of_parts(in_notebook, capsys):
    check("doubled", batchless)
    said = capsys.readouterr().out
    assert said.startswith("◐ doubled: 4 of 8 points\n")
    assert "\nPartial credit: right on ordinary cases" in said
    progress(1)
    said = capsys.readouterr().out
    assert said.startswith("0 of 1 tasks, 4 of 8 points") and "Still open: 1. doubled" in said


def test_progress_counts_the_last_try_and_says_so(in_notebook, capsys):
    said = []
    for answer in (doubled, batchless, doubled):
        check("doubled", answer)
        capsys.readouterr()
        progress(1)
        said.append("An earlier one was better: doubled" in capsys.readouterr().out)
    assert said == [False, True, False]


def test_debug_raises_the_error_of_the_answer(in_notebook, capsys):
    def broken(x):
        raise KeyError("mine")

    check("doubled", broken)  # nothing gets out
    with pytest.raises(KeyError, match="mine") as caught:
        check("doubled", broken, debug=True)
    assert caught.traceback[-1].name == "broken"
    assert capsys.readouterr().out.count("✗ doubled: 0 of 8 points") == 2
    for answer in (doubled, batchless, ..., checking.MISSING):  # wrong or unwritten is no error
        check("doubled", answer, debug=True)


def test_what_a_person_reads_has_not_failed(capsys):
    check("suspicious_loss", "The mask is missing, since no model can be better than the floor.")
    said = capsys.readouterr().out
    assert said.startswith("… suspicious_loss: up to ") and "0 of" not in said


TO_MODEL = 'task 1 of "Answers to sheet 1"'


def test_full_points_link_the_model_answer(in_notebook, capsys):
    check("doubled", doubled)
    assert f"To compare, see {TO_MODEL}" in capsys.readouterr().out


def test_five_attempts_link_the_model_answer(in_notebook, capsys):
    """An untouched answer is no attempt."""
    for _ in range(9):
        check("doubled", ...)
    for _ in range(checking.TRIES - 1):
        check("doubled", batchless)
    assert TO_MODEL not in capsys.readouterr().out
    check("doubled", batchless)
    assert f"After 5 attempts: the model answer, with its reasons, is in {TO_MODEL}" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize("names", [(), ("doubled",)])
def test_a_course_can_keep_the_model_answers_back(in_notebook, capsys, names):
    keep_back("another")
    check("doubled", doubled)
    assert TO_MODEL in capsys.readouterr().out
    keep_back(*names)
    for answer in [doubled, *[batchless] * 9]:
        check("doubled", answer)
    assert "odel answer" not in capsys.readouterr().out


def test_recorded_outputs_have_no_link(in_notebook, capsys, monkeypatch):
    monkeypatch.setenv("LAMPLIGHT_QUIET", "1")
    check("doubled", doubled)
    assert "odel answer" not in capsys.readouterr().out
