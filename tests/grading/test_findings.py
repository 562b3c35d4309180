"""What is wrong with what an answer gave, as facts."""

import numpy as np
import pytest
import torch

from grading.feedback import findings
from grading.feedback.baseline import Baseline
from grading.feedback.judge import grade
from grading.runner.compare import plain
from grading.runner.outcome import Mutation, Outcome, Status, Target
from grading.runner.run import run
from grading.task import Case, Mistake
from tests.grading import sample_tasks


def found(answer, **changes):
    """What is wrong on each of the two cases of the example."""
    task = sample_tasks.example(**changes)
    cases = task.cases(0)
    return findings.compare(task, cases, run(task, answer, cases), Baseline(task, cases))


def double_in_place(x):
    x *= 2
    return x


SCORED = {"kind": "train", "score": lambda args, value: float(value), "threshold": 0.9}


@pytest.mark.parametrize(
    ("answer", "kind", "changes"),
    [
        (lambda x: None, findings.ReturnsNone, {}),
        (lambda x: x[9], findings.NotRun, {}),
        (lambda x: 3 * x, findings.Different, {}),
        (double_in_place, findings.Mutated, {}),
        (lambda x: 0.5, findings.BelowThreshold, SCORED),
        (lambda x: float("nan"), findings.BelowThreshold, SCORED),
        (lambda x: "great", findings.Unscorable, SCORED),
    ],
)
def test_compare_tells_what_is_wrong(answer, kind, changes):
    assert [type(finding) for finding in found(answer, **changes)] == [kind, kind]


def test_compare_finds_nothing_in_a_right_answer():
    assert found(lambda x: 2 * x) == [None, None]
    assert found(lambda x: 0.95, **SCORED) == [None, None]


def test_task_whose_own_answer_fails_judges_nobody():
    cases = [Case((np.array([1.0]),)), Case((np.array([]),))]
    own = sample_tasks.example(reference=lambda x: x.max(), cases=lambda seed: cases)
    with pytest.raises(ValueError, match="model answer of doubled has no result on case 2"):
        grade(own, lambda x: x.max() if len(x) else 0.0, 0)
    with pytest.raises(ValueError, match="doubled has no cases"):
        grade(sample_tasks.example(cases=lambda seed: []), lambda x: 1 / 0, 0)


@pytest.mark.parametrize(
    "value",
    [torch.tensor([[1.0, 3.0], [2.0, 0.0]]).max(dim=0), np.linalg.eigh(np.eye(2))],
    ids=["max", "eigh"],
)
def test_tuple_with_names_of_a_library_is_a_tuple(value):
    assert type(plain(value)) is tuple and len(plain(value)) == 2


def test_whole_number_too_large_for_a_float_is_refused():
    verdict = grade(sample_tasks.example(), lambda x: 10**400, 0)
    assert verdict.points == 0 and "more than 64 bits" in verdict.message


def test_only_the_case_that_is_wrong_has_a_finding():
    right, wrong = found(lambda x: 2 * x if len(x) == 2 else x)
    assert right is None and wrong.difference.place == (2,)


def test_diagnostic_that_stops_is_passed_over():
    def stops(args, value):
        raise TypeError

    told = {"diagnostics": (stops, lambda args, value: "It is too large.")}
    assert {finding.diagnostic for finding in found(lambda x: 3 * x, **told)} == {
        "It is too large."
    }


@pytest.mark.parametrize(
    ("letters", "wanted"),
    [
        ({"a", "b"}, None),
        ({"a"}, findings.MissingLetters(1)),
        ({"b", "c"}, findings.WrongLetter("c", "Reason c.", 1)),
        ({"z"}, findings.UnknownLetters(("z",))),
        (set(), findings.UnknownLetters(())),
        (7, findings.NoLetters()),
    ],
)
def test_choice(letters, wanted):
    options = tuple(Mistake(letter, f"Reason {letter}.") for letter in "abc")
    task = sample_tasks.example(kind="choose", reference={"a", "b"}, mistakes=options)
    assert findings.on_choice(task, Outcome(value=letters)) == wanted


def test_text_has_to_be_there():
    assert findings.on_text(Outcome(value="Because.")) is None
    assert findings.on_text(Outcome(value="  ")) == findings.NoText()
    missing = Outcome(Status.MISSING)
    assert findings.on_text(missing) == findings.NotRun(missing)


def test_mutations_of_both_kinds_count():
    assert not findings.was_mutated(Outcome(value=np.zeros(2)))
    assert findings.was_mutated(Outcome(mutated=(0,)))
    assert findings.was_mutated(Outcome(mutation=Mutation(Target.ARGUMENT, "x")))


def test_grade_draws_the_cases_once():
    """The same cases are run and compared; a further answer draws none."""
    draws = []

    def cases(seed):
        draws.append(seed)
        return [Case((np.array([float(seed)]),))]

    task = sample_tasks.example(cases=cases)
    assert [grade(task, answer, 3).points for answer in (lambda x: 2 * x, lambda x: x)] == [5, 0]
    assert draws == [3]
