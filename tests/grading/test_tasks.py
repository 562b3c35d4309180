"""Proof, over every task, that right answers pass, wrong ones do not, and mistakes are named."""

import copy
import importlib
import inspect
import itertools
import math
import random
import re
import types
import warnings
from dataclasses import replace

import nbformat
import numpy as np
import pytest
import torch

from grading.author import STUB
from grading.check import PUBLIC_SEED, check, of_lecture, progress
from grading.feedback import judge as judging
from grading.feedback import messages
from grading.feedback.judge import grade
from grading.generate import MARK, exercise_from, main, tasks_in, with_task_lines
from grading.runner.compare import NotPlain, difference, plain
from grading.runner.outcome import Location, Outcome, Status
from grading.runner.run import KEPT, KEPT_LINES, MISSING, run
from grading.task import CODE, Case, Mistake, UnknownTask, all_tasks, load
from grading.tasks.lecture_08.DiagnoseRun import OTHER_LOGITS, REPORTED
from tests.conftest import ROOT
from tests.grading import sample_tasks
from tests.grading.mistake_variants import sheet_of

checking = importlib.import_module("grading.check")  # the package's name is its function
TASKS = sorted(all_tasks().values(), key=lambda task: (task.lecture, task.name))
CODE_TASKS = [task for task in TASKS if task.kind in CODE]
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
AS_GIVEN = "This does the same as the given code"


def by_name(task):
    return task.name


# ------------------------------------------------------------------ every task


DEAR_RIGHT = {
    "DiagnoseRun",
    "length_generalization",
    "train_adder",
    "train_heads",
    "train_language_model",
    "train_lstm",
    "train_question_answering",
    "train_summarizer",
    "train_translator",
}
DEAR_WRONG = {
    "cache_test",
    "DiagnoseRun",
    "length_generalization",
    "train_heads",
    "train_head",
    "train_language_model",
    "train_lstm",
    "train_question_answering",
    "train_summarizer",
    "train_translator",
}
"""Trainings that only `make test-all` tries on other seeds, and with known mistakes: most of the
time that all trainings would take."""


def seeds():
    """Each task with three seeds. A training on seed 0 is what its solution runs and shows."""
    for task in TASKS:
        for seed in (PUBLIC_SEED, 1, 2):
            train = task.kind == "train"
            often = seed == (1 if train else PUBLIC_SEED) and task.name not in DEAR_RIGHT
            marks = [] if often or (seed == 1 and not train) else [pytest.mark.full]
            yield pytest.param(task, seed, marks=marks, id=f"{task.name}-{seed}")


@pytest.mark.parametrize(("task", "seed"), list(seeds()))
def test_right_answers_get_full_marks(task, seed):
    sheet = sheet_of(task, seed)
    given = [sheet.right]
    if task.kind != "train":
        given += [run(task, answer, sheet.cases) for answer in task.alternatives]
    for outcomes in given:
        verdict = sheet.verdict(outcomes)
        if task.kind == "written":  # a person gives the points
            assert (verdict.points, verdict.needs_review) == (0, True)
            continue
        assert verdict.points == task.points
        reached = (
            r" It reaches \d\.\d{3}( nats above the entropy)?; at (least|most) \S+ was needed\."
        )
        assert re.fullmatch(rf"Right\.({reached})?", verdict.message)


@pytest.mark.parametrize("task", TASKS, ids=by_name)
def test_no_answer_gets_nothing(task):
    for nothing in (MISSING, None, ...):
        assert grade(task, nothing, PUBLIC_SEED).points == 0


def marked(task):
    return pytest.param(task, marks=pytest.mark.full if task.name in DEAR_WRONG else ())


@pytest.mark.parametrize("task", [marked(task) for task in TASKS], ids=by_name)
def test_every_known_mistake_is_rejected_and_named(task, record_property):
    tried, faults, sheet = 0, [], sheet_of(task)
    if task.kind == "written":
        return  # what is missing in a text, a person sees: the sentences are a guide for marking
    for number, mistake in enumerate(task.mistakes):
        if task.kind == "choose" and mistake.answer in task.reference:
            continue  # a right option: its reason stands in the solution
        verdict = sheet.verdict(sheet.outcomes(number))
        tried += 1
        if verdict.points == task.points:
            faults.append(f"mistake {number} passes: {mistake.why}")
        elif mistake.why not in verdict.message:
            faults.append(f"mistake {number} is taken for another: {verdict}")
    record_property("wrong answers", (tried, tried - len(faults)))
    assert faults == []


@pytest.mark.parametrize("task", CODE_TASKS, ids=by_name)
def test_code_task_has_five_mistakes_and_alternatives(task):
    known, other = len(task.mistakes), len(task.alternatives)
    said = f"{task.name} has {known} known mistakes (5 wanted) and {other} alternatives (1 wanted)"
    assert known >= 5 and other >= 1, said
    assert len({mistake.why for mistake in task.mistakes}) == known, "two with the same sentence"


@pytest.mark.parametrize(
    "task", [task for task in TASKS if task.kind == "find the bug"], ids=by_name
)
def test_given_code_is_the_first_mistake(task):
    """Whoever runs the untouched notebook sees its sentence: it tells what is seen, not why."""
    assert task.mistakes[0].why.startswith(AS_GIVEN)


@pytest.mark.parametrize("task", CODE_TASKS, ids=by_name)
def test_arguments_have_names(task):
    """By these a changed one is told to the student."""
    names = list(inspect.signature(task.harness or task.reference).parameters)
    for seed in (PUBLIC_SEED, 1):
        for case in sheet_of(task, seed).cases:
            assert len(case.args) <= len(names) - bool(task.harness)


@pytest.mark.parametrize("task", [marked(task) for task in CODE_TASKS], ids=by_name)
def test_constant_answers_are_rejected(task):
    """Zeros of the right shape, and the right answer to another input, earn nothing.

    They are compared with all known mistakes, so these run.
    """
    sheet = sheet_of(task)
    expected = sheet.right
    zeros = [copy.deepcopy(outcome) for outcome in expected]
    zeros = [Outcome(value=_zeroed(outcome.value)) for outcome in zeros]
    shifted = expected[1:] + expected[:1]
    for outcomes in (zeros, shifted):
        assert sheet.verdict(outcomes).points == 0


def _zeroed(value):
    if isinstance(value, np.ndarray):
        return np.zeros_like(value)
    if isinstance(value, list | tuple):
        return type(value)(_zeroed(item) for item in value)
    if isinstance(value, dict):
        return {key: _zeroed(item) for key, item in value.items()}
    return type(value)() if value is not None else None


@pytest.mark.parametrize("task", CODE_TASKS, ids=by_name)
def test_inputs_changed_in_place_are_reported(task):
    """The model answer, but it leaves its first array argument changed."""
    sheet = sheet_of(task)
    places = [
        i for i, arg in enumerate(sheet.cases[0].args) if isinstance(arg, np.ndarray | torch.Tensor)
    ]
    if not places:
        pytest.skip("no argument of this task is an array")
    changed = [Outcome(value=o.value, mutated=(places[0],)) for o in sheet.right]
    verdict = sheet.verdict(changed)
    assert verdict.points <= task.points / 2
    names = list(inspect.signature(task.harness or task.reference).parameters)
    assert f"`{names[places[0] + bool(task.harness)]}` was changed in place" in verdict.message


@pytest.mark.parametrize("task", [t for t in TASKS if t.kind == "predict"], ids=by_name)
def test_two_mistakes_in_a_list_name_one_of_them(task, record_property):
    """A third is never named."""
    if not isinstance(task.reference, list):
        return

    def shown(mistake):
        pairs = zip(mistake.answer, task.reference, strict=True)
        return {i for i, (a, b) in enumerate(pairs) if difference(a, b, task.rtol, task.atol)}

    lists = [m for m in task.mistakes if len(m.answer) == len(task.reference)]
    tried = named = 0
    for one, other in itertools.combinations(lists, 2):
        if one.why == other.why or shown(one) & shown(other):
            continue
        both = [
            other.answer[i] if i in shown(other) else entry for i, entry in enumerate(one.answer)
        ]
        if any(difference(both, m.answer, task.rtol, task.atol) is None for m in lists):
            continue  # together they are another known mistake
        said = grade(task, both, PUBLIC_SEED).message
        tried, true = tried + 1, {one.why, other.why}
        assert not any(m.why in said for m in task.mistakes if m.why not in true), said
        named += any(why in said for why in true)
    record_property("two mistakes in a list", (tried, named))
    assert named >= 0.8 * tried


# ------------------------------------------------------------------ notebooks


def blank(path):
    """A notebook as a student finds it; that of sheet 8 trains models before it can say what."""
    marks = pytest.mark.full if path.name.startswith("08_") else ()
    return pytest.param(path, marks=marks, id=path.stem)


@pytest.mark.parametrize("path", [blank(path) for path in SOLUTIONS])
def test_the_student_notebook_earns_nothing_and_runs(path, capsys):
    """Every stub gets 0, with a plain sentence and no traceback."""
    exercise = exercise_from(nbformat.read(path, as_version=4))
    module = types.ModuleType("student")
    for cell in exercise.cells:
        if cell.cell_type == "code" and "%pip" not in cell.source:
            exec(compile(cell.source, path.name, "exec"), module.__dict__)
    said = capsys.readouterr().out
    assert "✓" not in said
    names = [task.name for task in of_lecture(int(path.name[:2]))]
    assert all(f"✗ {name}: 0 of" in said for name in names)
    assert "Traceback" not in said
    for name in names:
        if load(name).kind == "find the bug":  # what is given is known as what is given
            assert AS_GIVEN in said.partition(f"✗ {name}: ")[2].partition("✗")[0], name


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_the_solution_shows_full_marks(path):
    """In its stored outputs, with which nbval compares those of its run."""
    cells = nbformat.read(path, as_version=4).cells
    said = "".join(out.get("text", "") for c in cells for out in c.get("outputs", ()))
    for task in of_lecture(int(path.name[:2])):
        points = f"{task.points} of {task.points} points"
        line = "… {}: up to " if task.kind == "written" else "✓ {}: " + points
        assert line.format(task.name) in said


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_generation_is_a_pure_function(path):
    before = path.read_text(encoding="utf-8")
    once, again = (nbformat.writes(exercise_from(nbformat.reads(before, 4))) for _ in range(2))
    assert once == again
    assert path.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_stub_lines_occur_in_the_solution(path):
    solution = nbformat.read(path, as_version=4)
    lines = {
        line.strip().removeprefix(STUB)
        for cell in solution.cells
        for line in cell.source.replace("/solutions/", "/exercises/").splitlines()
    }
    for cell in exercise_from(solution).cells:
        if cell.cell_type == "code":
            assert {line.strip() for line in cell.source.splitlines()} <= lines


def test_exercises_are_in_step_with_solutions(capsys):
    assert main(check=True) == 0, capsys.readouterr().out


def test_every_task_stands_in_its_notebook():
    for path in SOLUTIONS:
        text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
        for task in of_lecture(int(path.name[:2])):
            assert f"<!-- task: {task.name} -->" in text


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_headings_and_progress_number_tasks_alike(path):
    solution = nbformat.read(path, as_version=4)
    heads = [c.source for c in solution.cells if MARK.search(c.source)]
    numbers = [int(re.match(r"## (\d+)\. ", head)[1]) for head in heads]
    assert numbers == list(range(1, len(heads) + 1))
    assert tasks_in(solution) == [task.name for task in of_lecture(int(path.name[:2]))]


# ------------------------------------------------------------------ the generator's errors


def notebook(*cells):
    make = {"m": nbformat.v4.new_markdown_cell, "c": nbformat.v4.new_code_cell}
    return nbformat.v4.new_notebook(cells=[make[kind](source) for kind, source in cells])


def test_with_task_lines_is_idempotent():
    """Points stand at the mark, hints at the end."""
    task = next(task for task in TASKS if task.hints)
    cells = ("m", f"## 1\n\n<!-- task: {task.name} -->\n\nIt says."), ("c", f'check("{task.name}")')
    once = with_task_lines(notebook(*cells))
    text = once.cells[0].source
    points, statement, hint = (text.index(s) for s in ("points", "It says.", task.hints[-1]))
    assert points < statement < hint
    assert with_task_lines(once).cells[0].source == text


def test_task_and_check_must_pair_up():
    name = TASKS[0].name
    with pytest.raises(ValueError, match="without a check"):
        with_task_lines(notebook(("m", f"<!-- task: {name} -->")))
    with pytest.raises(ValueError, match="without a task"):
        with_task_lines(notebook(("c", f'check("{name}")')))
    with pytest.raises(ValueError, match="no_such_task"):
        with_task_lines(notebook(("m", "<!-- task: no_such_task -->")))


# ------------------------------------------------------------------ what check says


def example(**changes):
    mistakes = (Mistake(lambda x: x**2, "Squared, not doubled."),)
    return sample_tasks.example(**{"mistakes": mistakes} | changes)


class Liar:
    """Equals everything and calls itself an array."""

    __class__ = np.ndarray

    def __eq__(self, other):
        return True

    __hash__ = None


class FancyTensor(torch.Tensor):
    pass


def endless(x):
    return endless(x)


def unfinished(x):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (MISSING, "There is no doubled yet"),
        (3, "but it should be a function"),
        (lambda x: None, "returns None"),
        (unfinished, "not written yet"),
        (lambda x: x[5], "stops with IndexError"),
        (lambda x, y: x, "stops with TypeError"),
        (endless, "stops with RecursionError"),
        (lambda x: [[0.0], [2.0, 4.0]], "is a list of 2; expected an array of shape (2,)"),
        (lambda x: [[0.0, 2.0]], "has shape (1, 2); expected shape (2,)"),
        (lambda x: 2 * x[:, None], "has shape (2, 1); expected shape (2,)"),
        (lambda x: x > 0, "holds booleans"),
        (lambda x: 2 * x + np.nan, "it is NaN"),
        (lambda x: 2 * x + (x > 0), "differs from what was expected in 1 of 2 entries"),
        (lambda x: x**2, "What went wrong: Squared, not doubled."),
        (lambda x: Liar(), "which is not plain data"),
        (lambda x: torch.zeros(2).as_subclass(FancyTensor), "which is not plain data"),
        (lambda x: np.array([object(), object()]), "which is not plain data"),
    ],
)
def test_wrong_answer_gets_a_plain_sentence(answer, sentence):
    verdict = grade(example(), answer, 0)
    assert verdict.points == 0
    assert sentence in verdict.message
    assert "Traceback" not in verdict.message


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        (31622, 7, "doubled is 7: this is not right."),
        (31622.5, 7.0, "doubled is 7: this is not right."),
        ("alpha", "b", "doubled is 'b': this is not right."),
        ([1.0, 31622.0], [1.0, 2.0], "doubled[1] is 2: this is not right."),
        (np.array([1, 31622]), np.array([1, 2]), "in 1 of 2 entries, most at (1,): 2: this is not"),
        ([1.0, 31622.0], [1.0], "doubled is a list of 1; expected a list of 2."),
        (31622, "x", "doubled is a string; expected a whole number."),
    ],
)
def test_a_wrong_prediction_is_not_told_the_right_one(right, wrong, sentence):
    said = grade(example(kind="predict", reference=right), wrong, 0).message
    assert sentence in said
    assert "31622" not in said and "alpha" not in said


def test_mistake_that_raises_is_named():
    task = example(
        mistakes=(Mistake(lambda x: 2 * x + 0 * x[2], "There may be fewer than three."),)
    )
    verdict = grade(task, lambda x: x * 2 + x[2] * 0, 0)
    assert "stops with IndexError" in verdict.message
    assert "There may be fewer than three." in verdict.message
    assert "What went wrong" not in grade(task, MISSING, 0).message


def test_a_changed_input_is_reported():
    def in_place(x):
        x *= 2
        return x

    verdict = grade(example(), in_place, 0)
    assert (verdict.points, "changed in place" in verdict.message) == (2.5, True)

    def wrong_and_in_place(x):
        x += 3
        return x

    message = grade(example(), wrong_and_in_place, 0).message
    assert "Also, `x` was changed in place" in message


def test_other_precision_and_tensors_are_accepted():
    for answer in (lambda x: torch.tensor(2 * x), lambda x: (2 * x).astype(np.float32)):
        assert grade(example(), answer, 0).points == 5


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ([[1, 2], [3, 4]], np.array([[1.0, 2.0], [3.0, 4.0]])),
        ([np.array(1.0), 2.0], np.array([1.0, 2.0])),
        (([True, False],), np.array([[True, False]])),
        (0.5, np.array(0.5)),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        (np.array([[1, 2]]), [(1, 2)]),
        (3.0, 3),
        ([3.0, np.array(4)], [3, 4]),
    ],
)
def test_same_values_in_another_form_are_accepted(got, want):
    """Lists for an array, an array for a list, a float for the whole number that it is."""
    assert difference(got, want, 1e-4, 1e-5) is None


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ([1, 0], np.array([True, False])),  # a mask of numbers is none
        ([1.0, 2.0], np.array([1, 2])),  # ids of floats are none
        ([[1], [2, 3]], np.array([[1, 0], [2, 3]])),
        (np.array([92_751, 2]), np.array([92_750, 2])),  # though rtol would let it pass
        ([10**400], np.array([1.0])),
        (3.5, 3),
        (True, 1),
        ("ab", ["a", "b"]),
    ],
)
def test_other_values_are_not_accepted(got, want):
    assert difference(got, want, 1e-4, 1e-5) is not None


def test_forbidden_function_is_found_under_an_alias():
    from torch.nn.functional import softmax

    task = example(reference=lambda x: x, forbidden=("torch.nn.functional.softmax",))
    for answer in (
        lambda x: torch.nn.functional.softmax(torch.tensor(x), -1),
        types.FunctionType(
            (lambda x: mine(torch.tensor(x), -1)).__code__,  # noqa: F821
            {"mine": softmax, "torch": torch},
        ),
        softmax,
    ):
        verdict = grade(task, answer, 0)
        assert "calls torch.nn.functional.softmax" in verdict.message
    assert torch.nn.functional.softmax is softmax


def test_global_state_is_given_back():
    def rude(x):
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(3)
        torch.set_grad_enabled(False)
        return 2 * x

    before = torch.get_rng_state()
    assert grade(example(), rude, 0).points == 5
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), before)


def test_choice_names_wrong_options_and_counts_missing():
    options = tuple(Mistake(letter, f"Reason {letter}.") for letter in "abc")
    task = example(kind="choose", reference={"a", "b"}, mistakes=options)
    assert grade(task, {"a", "b"}, 0).points == 5
    assert grade(task, "ba", 0).points == 5
    assert grade(task, "A, b", 0).points == 5
    assert grade(task, {"a", "b", "c"}, 0).message == "(c) is not right: Reason c."
    assert "1 more option is right" in grade(task, {"a"}, 0).message
    assert "the options are a, b, c" in grade(task, {"z"}, 0).message


def test_ticking_every_option_shows_one_reason_only():
    options = tuple(Mistake(letter, f"Reason {letter}.") for letter in "abcde")
    task = example(kind="choose", reference={"b", "e"}, mistakes=options)
    said = grade(task, {"a", "b", "c", "d", "e"}, 0).message
    assert said == "(a) is not right: Reason a.\n2 more choices are wrong or missing."
    said = grade(task, {"b", "d"}, 0).message
    assert said == "(d) is not right: Reason d.\n1 more choice is wrong or missing."


def loud(x):
    print(x.shape)
    warnings.warn("Careful.", stacklevel=1)
    return 2 * x if len(x) == 2 else x


def test_printed_output_of_the_failing_case_is_shown(monkeypatch, capsys):
    verdict = grade(example(), loud, 0)
    assert verdict.message.startswith("On case 2 of 2")
    first, *others = verdict.stdout.splitlines()
    assert first == "(3,)"
    assert [line for line in others if "UserWarning" in line] == ["UserWarning: Careful."]
    assert grade(example(), lambda x: print(x) or 2 * x, 0).stdout == ""
    monkeypatch.setitem(check.__globals__, "load", lambda name: example())
    for answer in (loud, lambda x: print("before") or x[5]):
        check("doubled", answer)
        said, how, printed = capsys.readouterr().out.partition("\nYour code printed:\n")
        verdict = grade(example(), answer, 0)
        assert all(part in said for part in (verdict.message, verdict.part))
        assert how and printed.startswith(("(3,)", "before"))
    check("doubled", lambda x: x**2)
    assert "Your code printed" not in capsys.readouterr().out


def test_of_much_that_is_printed_the_beginning_is_kept():
    lines = grade(example(), lambda x: print(*range(1000), sep="\n"), 0).stdout.splitlines()
    assert lines == [*map(str, range(KEPT_LINES)), "…"]
    one = grade(example(), lambda x: print("x" * 5000), 0).stdout
    assert one == "x" * KEPT + "\n…"
    twenty = "\n".join("abcdefghijklmnopqrst")
    assert grade(example(), lambda x: print(twenty), 0).stdout == twenty


def test_parts_are_counted_as_in_python():
    for want, got, sentence in (
        ([1, 2], [1, 3], "result[1] is 3; expected 2."),
        ([[1]], [[3]], "result[0][0] is 3; expected 1."),
        ([{"a": (1.0, 2.0)}], [{"a": (1.0, 4.0)}], "result[0]['a'][1] is 4; expected 2."),
    ):
        assert messages.difference(difference(got, want, 0, 0)) == sentence


def test_number_of_results_is_told():
    """A single array that happens to have as many rows as there are results stands for none."""
    sure = (lambda args, value: "A row sums to 7.",)
    task = example(
        reference=lambda x: (x, 2 * x), results=("the sum", "the double"), diagnostics=sure
    )
    wanted = "but it must return two results: the sum and the double."
    for answer, came in (
        (lambda x: np.ones((2, len(x))), r"doubled returns an array of shape \(2, 2\), "),
        (lambda x: (x, x, x), "doubled returns a tuple of 3, "),
        (lambda x: {"sum": x}, "doubled returns a dict of 1, "),
    ):
        assert re.fullmatch(f"On case 1 of 2: {came}{wanted}", grade(task, answer, 0).message)
    assert "(result[1], the double, is" in grade(task, lambda x: (x, None), 0).message
    assert grade(task, lambda x: np.stack([x, 2 * x]), 0).points == 5


def test_numpy_transpose_is_not_that_of_torch():
    place = Location(3, "return q @ k.transpose(-2, -1)")
    for error, told in (("ValueError: matmul", True), ("RuntimeError: size", False)):
        message = messages.not_run(example(), Outcome(Status.RAISED, error=error, line=place), "")
        assert message.endswith(messages._NOT_AS_IN_TORCH) == told


def test_cross_entropy_wants_the_vocabulary_on_axis_1():
    logits, targets = torch.zeros(2, 3, 5), torch.zeros(2, 3, dtype=torch.long)
    with pytest.raises(RuntimeError) as caught:
        torch.nn.functional.cross_entropy(logits, targets)
    place = Location(3, "loss = F.cross_entropy(logits, targets)")
    raised = Outcome(Status.RAISED, error=f"RuntimeError: {caught.value}", line=place)
    assert messages.not_run(example(), raised, "").endswith(messages._CLASSES_ON_AXIS_1)


def test_diagnostic_hides_names_of_the_harness():
    """A difference without a sentence shows them."""

    def harness(answer, x):
        return {"rows that sum to 1": answer(x)}

    told = {
        "cases": lambda seed: [Case((2,))],
        "diagnostics": (lambda args, value: "No row does.",),
    }
    driven = example(harness=harness, **told)
    assert grade(driven, lambda x: x + 7, 0).message == "No row does."
    assert "(The result is 9; expected 4.)" in grade(example(**told), lambda x: x + 7, 0).message
    bare = grade(example(harness=harness, cases=told["cases"]), lambda x: x + 7, 0).message
    assert "“rows that sum to 1” is 9; expected 4." in bare


def test_labels_of_the_harness_are_quoted():
    """Numbers that put them in order are left out, and a truth value becomes a sentence."""
    for got, want, said in (
        ({"1 context": [1.0, 2.0]}, {"1 context": [1.0, 3.0]}, "“context”[1] is 2; expected 3."),
        (
            {"A is zero": True},
            {"A is zero": False},
            "This holds, but should not: “A is zero”.",
        ),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "“a”, “b” is 1; expected 2."),
    ):
        assert messages.difference(difference(got, want, 0, 0), labels=True) == said


def test_what_is_a_tensor_is_called_one():
    of_tensors = {
        "reference": lambda x: 2 * x,
        "cases": lambda seed: [Case((torch.arange(n),)) for n in (2, 3)],
    }
    for fields, name in (({}, "an array"), (of_tensors, "a tensor")):
        said = grade(example(**fields), lambda x: [[0.0], [2.0, 4.0]], 0).message
        assert f"is a list of 2; expected {name} of shape (2,)" in said


def test_a_score_is_reached_or_said():
    task = example(kind="train", score=lambda args, value: float(value), threshold=0.9)
    assert grade(task, lambda x: 0.95, 0).points == 5
    assert "reaches 0.500; the goal is at least 0.9" in grade(task, lambda x: 0.5, 0).message
    assert grade(task, lambda x: float("nan"), 0).points == 0
    assert "cannot be scored" in grade(task, lambda x: "great", 0).message


def test_a_loss_is_told_in_nats_above_the_floor():
    score = {"score": lambda args, value: float(value), "threshold": math.exp(-0.06), "nats": True}
    task = example(kind="train", **score)
    right, wrong = (grade(task, lambda x, n=n: math.exp(-n), 0) for n in (0.02, 0.134))
    assert (
        right.message == "Right. It reaches 0.020 nats above the entropy; at most 0.06 was needed."
    )
    assert right.points == 5 and wrong.points == 0
    assert "It reaches 0.134 nats above the entropy; the goal is at most 0.06." in wrong.message


def test_of_a_score_of_0_the_property_says_why():
    said = (lambda args, value: "Four heads are wanted.",)
    task = example(
        kind="train", score=lambda args, value: float(value), threshold=0.9, diagnostics=said
    )
    assert grade(task, lambda x: 0.0, 0).message.endswith(": Four heads are wanted.")
    assert "reaches 0.500" in grade(task, lambda x: 0.5, 0).message


def test_only_a_stub_is_not_written_yet():
    def stub(x):
        raise NotImplementedError

    assert "not written yet" in grade(example(), stub, 0).message
    stops = grade(example(), lambda x: torch.nn.ModuleList()(x), 0).message
    assert "It stops with NotImplementedError" in stops and "not written yet" not in stops


def test_what_the_check_refuses_has_not_stopped():
    def harness(answer, x):
        def refuse():
            raise ValueError("a pair is wanted")

        found = answer(x)
        if not isinstance(found, tuple):
            refuse()
        return found[0] + np.zeros(7)

    def stops(x):
        raise ValueError("a pair is wanted")

    pair = Mistake(lambda x: 2 * x, "Only one thing comes back.")
    task = example(harness=harness, reference=lambda x: (np.zeros(7), x), mistakes=(pair,))
    refused, stopped, in_numpy = (
        grade(task, answer, 0).message for answer in (lambda x: 3 * x, stops, lambda x: (x, x))
    )
    assert ": a pair is wanted" in refused and "stops" not in refused
    assert "Only one thing comes back." in refused
    assert "It stops with ValueError: a pair is wanted" in stopped
    assert ": the result does not fit: operands could not be" in in_numpy
    for own in (lambda: (1, 2), lambda x: (1, 2).double()):  # errors of the answer and its call
        assert "It stops with" in grade(task, own, 0).message


def test_another_form_is_no_error_of_the_student():
    """The harness asks the result for something that it does not have."""

    def harness(answer, x):
        first, second = answer(x)
        return first.double() + second

    task = example(harness=harness, reference=lambda x: (torch.tensor(x), x))
    for answer, said in (
        (lambda x: (x, x), "'numpy.ndarray' object has no attribute 'double'"),
        (lambda x: [x], "not enough values to unpack (expected 2, got 1)"),
    ):
        message = grade(task, answer, 0).message
        assert f": the result does not fit: {said}" in message
        assert "stops" not in message


def test_who_returns_none_is_named():
    """The harness goes on with None, which then lacks what it needs."""

    class Twice:
        kept = None

        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return self.by * x

        def weight(self):
            return None

    def pair(answer, x):
        first, second = answer(x)
        return first + second

    def with_weight(answer, x):
        twice = answer(2)
        return twice(x) + twice.weight().sum()

    def reads_kept(answer, x):
        twice = answer(2)
        twice.weight()
        return twice(x) + twice.kept.sum()  # what is None here, no call has returned

    for harness, answer, who in (
        (pair, lambda x: None, "doubled"),
        (with_weight, Twice, "`weight`"),
    ):
        right = example(harness=harness, reference=lambda x: (x, x))
        if answer is Twice:
            right = example(harness=harness, reference=type("Right", (Twice,), {"weight": _ones}))
        message = grade(right, answer, 0).message
        assert message.startswith(f"On case 1 of 2: {who} returns None. Is a return statement ")
    case = [Case((np.arange(2.0),))]
    (outcome,) = run(example(harness=reads_kept), Twice, case)
    assert outcome.status is Status.REFUSED


def _ones(self):
    return np.ones(2)


@pytest.mark.parametrize(
    ("reached", "told"), [(0.9497, "0.9497"), (0.94996, "0.94996"), (0.893, "0.893")]
)
def test_a_score_is_told_apart_from_its_limit(reached, told):
    task = example(kind="train", score=lambda args, value: float(value), threshold=0.95)
    wrong, right = (grade(task, lambda x, n=n: n, 0).message for n in (reached, 0.95))
    assert f"It reaches {told}; the goal is at least 0.95." in wrong
    assert "It reaches 0.950; at least 0.95 was needed." in right


def test_float32_difference_shows_four_digits():
    got, want = np.array([0.1723, 0.5], np.float32), np.array([0.1723, 0.25], np.float32)
    assert "got:      [0.1723, 0.5]" in messages.difference(difference(got, want, 1e-4, 1e-5))


def test_check_and_progress_speak(capsys, monkeypatch):
    monkeypatch.setattr(checking, "_earned", {})  # whatever other tests have answered
    monkeypatch.setattr(checking, "_best", {})
    monkeypatch.setattr(checking, "_for_review", set())
    task = CODE_TASKS[0]
    check(task.name, task.reference)
    assert capsys.readouterr().out.startswith(f"✓ {task.name}: {task.points} of {task.points}")
    progress(task.lecture)
    said, tasks = capsys.readouterr().out, of_lecture(task.lecture)
    assert f"1 of {len(tasks)} tasks" in said
    left = [f"{n}. {t.name}" for n, t in enumerate(tasks, 1) if t is not task]
    assert said.endswith("Still open: " + ", ".join(left) + "\n")


def test_check_says_that_it_looks_for_the_cause(capsys, monkeypatch):
    """It says so in trainings and where the search takes longer than half a second."""
    line = "Not right yet. Looking for the cause …\n"
    none = "The cause is not clear; there may be several. Begin here:\n"
    score = {"score": lambda args, value: float(value), "threshold": 0.9}
    for task, seconds, said in (
        (example(), 0.4, False),
        (example(), 0.6, True),
        (example(kind="train", **score), 0.0, True),
    ):
        clock = iter(np.arange(100) * seconds)
        monkeypatch.setattr(checking, "monotonic", lambda ticks=clock: next(ticks))
        monkeypatch.setitem(check.__globals__, "load", lambda name, known=task: known)
        monkeypatch.setattr(judging, "_baselines", {})
        check("doubled", lambda x: 0 * x if isinstance(x, np.ndarray) else 0.5)
        out = capsys.readouterr().out
        assert out.count(line) == said
        assert out.replace(line, "").startswith("✗ doubled")
        assert out.count(none) == said
        check("doubled", lambda x: nowhere)  # noqa: F821
        assert none not in capsys.readouterr().out
        check("doubled", lambda x, kind=task.kind: 0.95 if kind == "train" else 2 * x)
        out = capsys.readouterr().out
        assert line not in out and none not in out


def told_of_training(name, **result):
    """What the diagnostic of a training task says of these numbers."""
    task = load(name)
    [case] = task.cases(1)
    return task.diagnostics[0](case.args, {key.replace("_", " "): n for key, n in result.items()})


@pytest.mark.parametrize("name", REPORTED)
def test_number_that_is_not_the_loss_is_explained(name):
    again = "its own number, measured again"
    numbers = dict.fromkeys(REPORTED, 1.5) | {name: 1.6, again: 1.6}
    said = told_of_training("DiagnoseRun", loss=1.7, its_own_number=1.6, **numbers)
    assert said.endswith(f"but the loss is 1.700. {REPORTED[name]}")
    numbers[again] = 1.61
    said = told_of_training("DiagnoseRun", loss=1.7, its_own_number=1.6, **numbers)
    assert REPORTED[name] not in said and said.endswith("is dropout active?")
    alike = dict.fromkeys(REPORTED, 1.6) | {again: 1.6}
    said = told_of_training("DiagnoseRun", loss=1.7, its_own_number=1.6, **alike)
    assert not any(why in said for why in REPORTED.values())  # any of them may be it


def test_other_logits_are_noticed():
    numbers = {"its own number": 1.3, "its own number, measured again": 1.3, "loss": 1.3}
    for off, noticed in ((0.5, True), (1e-6, False)):
        said = told_of_training("DiagnoseRun", **numbers, **{"off in forward": off})
        assert (OTHER_LOGITS in said) == noticed


def test_later_words_that_were_not_learned_are_noticed():
    numbers = {"right verbs, of ten": 5.0, "loss": 3.5, "loss on the first words": 2.0}
    for later, noticed in ((4.5, True), (3.9, False)):
        told = told_of_training("train_language_model", **numbers, **{"loss on later words": later})
        assert ("on later ones 4.50. Did the later words take part?" in told) == noticed


def test_answers_one_position_to_the_left_are_noticed():
    numbers = {"right, of ten": 0.0, "right start, of ten": 0.5}
    numbers["right in the training data, of ten"] = 0.4
    for left, noticed in ((5.0, True), (2.0, False)):
        told = told_of_training(
            "train_question_answering", **numbers, **{"one position to the left, of ten": left}
        )
        assert ("5.0 of ten point exactly one position to the left" in told) == noticed


@pytest.mark.parametrize(
    ("learned", "right", "noticed"), [(9.5, 5.0, True), (9.5, 8.0, False), (6.0, 1.0, False)]
)
def test_new_names_that_are_hard_are_noticed(learned, right, noticed):
    numbers = {"right, of ten": right, "right start, of ten": right}
    numbers |= {
        "right in the training data, of ten": learned,
        "one position to the left, of ten": 0,
    }
    told = told_of_training("train_question_answering", **numbers)
    assert ("the new names that are hard" in told) == noticed


def test_closed_forget_gates_are_noticed():
    for bias, noticed in ((-4.5, True), (-0.5, False), (4.5, False)):
        said = told_of_training("train_lstm", right_of_ten=1.3, **{"forget bias": bias})
        assert ("closed, and the cell state forgets at once" in said) == noticed


def test_changed_input_is_a_clear_cause(capsys, monkeypatch):
    def in_place(x):
        x *= 2
        return x

    clock = iter(np.arange(100))
    monkeypatch.setattr(checking, "monotonic", lambda: next(clock))
    monkeypatch.setitem(check.__globals__, "load", lambda name: example())
    monkeypatch.setattr(judging, "_baselines", {})
    check("doubled", in_place)
    out = capsys.readouterr().out
    assert "Looking for the cause" in out and "was changed in place" in out
    assert "not clear" not in out


def test_training_runs_in_one_thread():
    """All other tasks keep their threads."""
    fields = {"name": "answer", "forbidden": (), "harness": None}
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for kind, threads in (("train", 1), ("implement", 2)):
            task = types.SimpleNamespace(kind=kind, **fields)
            [outcome] = run(task, torch.get_num_threads, [Case(())])
            assert outcome.value == threads
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def bare(answer, *args):
    """The outcome of an answer to a task without anything special, on one case."""
    task = types.SimpleNamespace(name="answer", kind="implement", forbidden=(), harness=None)
    return run(task, answer, [Case(args)])[0]


def test_argument_no_longer_plain_counts_as_changed():
    def object_in_it(words, numbers):
        words.append(object())
        return len(words)

    def itself_in_it(words, numbers):
        words.append(words)
        return len(words)

    for answer in (object_in_it, itself_in_it):
        outcome = bare(answer, ["a"], [1])
        assert (outcome.status, outcome.value, outcome.mutated) == (Status.OK, 2, (0,))


def test_generators_are_seeded_and_restored():
    def draws():
        return [random.random(), np.random.rand(), torch.rand(()).item()]  # noqa: NPY002

    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()  # noqa: NPY002
    first = bare(draws).value
    assert bare(draws).value == first
    assert random.getstate() == before[0]
    assert np.random.get_state()[1].tolist() == before[1]  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), before[2])


def test_message_on_a_text_hides_the_answer():
    found = difference(["; expected a ", "y"], ["key", "y"], 0, 0)
    assert messages.difference(found, "p").endswith("expected 'key'.")
    hidden = messages.difference(found, "p", hidden=True)
    assert hidden == "p[0] is '; expected a ': this is not right."


def test_load_refuses_an_unknown_task():
    with pytest.raises(UnknownTask, match="no_such_task"):
        load("no_such_task")


def test_tasks_are_replaced_and_left_out():
    course, name = all_tasks(), "stable_softmax"
    own = replace(course[name], points=1)
    changed = course | {name: own}
    assert changed[name] is own and list(changed) == list(course)
    assert (changed | course)[name] is course[name] is not own
    fewer = changed.without({name})
    assert name not in fewer and fewer.get(name) is None and len(fewer) == len(course) - 1
    assert set(changed.of_lecture(2)) - set(fewer.of_lecture(2)) == {name}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("multi_head_ouput", "There is no task multi_head_ouput. Did you mean multi_head_output?"),
        ("xyz", "There is no task xyz."),
        (
            load("nucleus").reference,
            'Write the name of the task in quotation marks: check("nucleus").',
        ),
        ({"a"}, 'Write the name of the task in quotation marks: check("…").'),
    ],
)
def test_check_tells_an_unknown_task_in_one_sentence(name, said, capsys):
    check(name)
    assert capsys.readouterr().out == said + "\n"


def test_a_short_text_is_told_so():
    """It still goes to the person who marks it."""
    task = example(kind="written", reference="A. B. C.", sentences=3)
    for text, came in (("x y z", "one sentence"), ("Is it so? “Yes.” ", "two sentences")):
        verdict = grade(task, text, 0)
        assert verdict.needs_review
        said = f"Only {came} so far; at least three are asked for.\n{messages._MARKED}"
        assert verdict.message == said
    assert grade(task, "One. Two! Three", 0).message == messages._MARKED


def test_plain_data_is_copied_and_compared():
    x = np.zeros(3)
    value = plain({"a": [x, torch.ones(2)], "b": (1, "t", None, True)})
    x[0] = 7
    assert value["a"][0].tolist() == [0, 0, 0]
    assert difference(value, value, 0, 0) is None
    with pytest.raises(NotPlain):
        plain(object())


def list_in_itself():
    """A list that holds itself."""
    items = [1]
    items.append(items)
    return items


class Flattering(np.float64):
    """A number that would answer comparisons itself."""

    def item(self):
        return Flattering(0)


@pytest.mark.parametrize(
    "value",
    [
        list_in_itself(),
        {torch.tensor(1.0)},
        torch.eye(2).to_sparse(),
        Flattering(1),
        np.complex64(1),
    ],
    ids=["list in itself", "set of tensors", "sparse", "subclass", "complex"],
)
def test_no_value_stops_its_check(value):
    (outcome,) = run(load("projection_shapes"), value, [Case(())])
    assert outcome.status is Status.NOT_PLAIN
