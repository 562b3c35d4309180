"""Another wording changes no points, no case and no mistake: all sentences in other words."""

import ast
import importlib
import inspect
import string
from dataclasses import fields

import numpy as np
import pytest

from classroom.execute import Answers, Prepared, results_of
from grading.feedback import messages
from grading.feedback.judge import grade
from grading.feedback.partial_credit import Earned
from grading.runner.run import MISSING, run
from grading.task import Mistake, all_tasks
from tests.conftest import ROOT, first_and_full
from tests.grading import sample_tasks
from tests.grading.mistake_variants import sheet_of

checking = importlib.import_module("grading.check")
TASKS = [task for task in all_tasks().values() if task.kind != "train"]
SPEAKS = ("messages", "run")  # `run` puts the type and the text of an error together
WITHOUT = [
    path
    for package in ("runner", "feedback")
    for path in sorted((ROOT / "grading" / package).glob("*.py"))
    if path.stem not in SPEAKS
]
LECTURES = sorted({task.lecture for task in TASKS})


LETTERS = string.ascii_lowercase
NEXT = str.maketrans(LETTERS, LETTERS[1:] + LETTERS[:1])


def in_other_words(text):
    """Each letter is the next one, so that no word of a sentence is left."""
    return f"~{text.translate(NEXT)}~" if isinstance(text, str) else text


def reworded(function):
    def other(*args, **kwargs):
        told = function(*args, **kwargs)
        return tuple(map(in_other_words, told)) if type(told) is tuple else in_other_words(told)

    return other


@pytest.fixture
def other_words(monkeypatch):
    """Every function and every constant of `messages` gives other words."""
    for name, thing in list(vars(messages).items()):
        if inspect.isfunction(thing) and thing.__module__ == messages.__name__:
            monkeypatch.setattr(messages, name, reworded(thing))
        elif isinstance(thing, str) and name.isupper():
            monkeypatch.setattr(messages, name, in_other_words(thing))
        elif isinstance(thing, dict) and name.isupper():
            monkeypatch.setattr(messages, name, {k: in_other_words(v) for k, v in thing.items()})


def facts(verdict):
    """All fields of a verdict but its text, with objects by their types."""
    told = {f.name: getattr(verdict, f.name) for f in fields(verdict)}
    del told["message"], told["part"], told["outcome"]
    told["finding"] = type(verdict.finding)
    told["earned"] = (verdict.earned or Earned()).share
    return told | {"mistake": verdict.mistake, "stdout": verdict.stdout}


def mutating(x):
    x += 1
    return x - 1 if len(x) == 3 else 2 * (x - 1)


def none(*args):
    return None


def stub(*args):
    raise NotImplementedError


def stops(*args):
    raise ValueError("no")


ANSWERS = {
    "mutates": mutating,
    "none": none,
    "stub": stub,
    "stops": stops,
    "missing": MISSING,
    "unwritten": ...,
    "a number": 3,
    "a text": "abc",
    "an object": object(),
    "another object": lambda *args: object(),
    "one case": lambda x, *args: 2 * x if len(x) == 2 else x,
}


MOST = 4
"""So many known mistakes of each task are tried."""


def verdicts_of(task):
    """Verdicts on what the file of a task holds and on answers that belong to no task."""
    sheet = sheet_of(task)
    told = {"model answer": sheet.right} if task.kind != "written" else {}
    told |= {number: sheet.outcomes(number) for number in range(len(task.mistakes))[:MOST]}
    told |= {name: run(task, answer, sheet.cases) for name, answer in ANSWERS.items()}
    return {name: facts(sheet.verdict(outcomes)) for name, outcomes in told.items()}


def rows_of(task):
    """What the class grader makes of answers that belong to no task."""
    prepared, rows = Prepared(task, task.cases(0), 1.0, {}), {}
    cells, notes = [f"{task.name} = helper(1)"], {0: "Cell 1: NameError: no"}
    for name, answer in ANSWERS.items():
        answers = Answers({task.name: run(task, answer, prepared.cases)}, notes=notes)
        [row] = results_of(answers, [prepared], cells)
        rows[name] = (row.points, row.mistake, row.review, row.input)
    return rows


@pytest.mark.parametrize("lecture", first_and_full(*LECTURES))
def test_verdicts_do_not_hang_on_words(lecture, other_words, monkeypatch):
    """Each verdict with all sentences in other words, and then as they are."""
    tasks = [task for task in TASKS if task.lecture == lecture]
    other = [verdicts_of(task) for task in tasks]
    monkeypatch.undo()
    assert other == [verdicts_of(task) for task in tasks]


@pytest.mark.parametrize("kind", sorted({task.kind for task in TASKS}))
def test_class_grader_does_not_hang_on_words(kind, other_words, monkeypatch):
    task = next(task for task in TASKS if task.kind == kind)
    other = rows_of(task)
    monkeypatch.undo()
    assert other == rows_of(task)


def double_in_place(x):
    x *= 2
    return x


def driven(answer, x):
    return [answer(x.copy()) for _ in range(2)]


SAMPLES = [
    sample_tasks.example(mistakes=(Mistake(lambda x: x**2, "Squared."),)),
    sample_tasks.example(name="driven", harness=driven),
    sample_tasks.example(
        name="scored", kind="train", score=lambda args, value: float(np.sum(value)), threshold=4.0
    ),
]


@pytest.mark.parametrize("task", SAMPLES, ids=lambda task: task.name)
@pytest.mark.parametrize(
    "answer", [*ANSWERS.values(), double_in_place], ids=[*ANSWERS, "double in place"]
)
def test_sample_verdicts_do_not_hang_on_words(task, answer, other_words, monkeypatch):
    other = facts(grade(task, answer, 0))
    monkeypatch.undo()
    assert other == facts(grade(task, answer, 0))


def test_tries_are_counted_without_words(other_words, monkeypatch, capsys):
    """Only an answer that nobody has tried to write is no try."""
    task = SAMPLES[0]
    monkeypatch.setattr(checking, "load", lambda name: task)
    monkeypatch.setattr(checking, "of_lecture", lambda lecture: [task])
    monkeypatch.setattr(checking, "_tries", type(checking._tries)())
    monkeypatch.delenv("LAMPLIGHT_QUIET", raising=False)
    for answer, tries in ((..., 0), (stub, 0), (none, 1), (stops, 2), (MISSING, 2)):
        checking.check("doubled", answer)
        assert checking._tries[task.name] == tries


def test_every_sentence_was_in_other_words(other_words):
    """Or the tests above would prove nothing."""
    for answer in ANSWERS.values():
        message = grade(SAMPLES[0], answer, 0).message
        assert message.startswith("~") and message.endswith("~")
        assert not any(word in message for word in ("result", "is not", "returns", "stops with"))


@pytest.mark.parametrize("path", WITHOUT, ids=lambda path: path.stem)
def test_other_modules_join_no_words(path):
    """A sentence needs the name or the number that it is about, so without this there is none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
