"""Every sentence that a student reads about an answer, except those of the tasks.

The functions get typed facts and give text. Nothing reads the text again: another wording changes
no points, no case and no mistake.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from grading.feedback.baseline import BadTask
from grading.feedback.diagnosis import Certainty
from grading.feedback.findings import (
    BelowThreshold,
    Different,
    Finding,
    MissingLetters,
    Mutated,
    NoLetters,
    NoText,
    NotRun,
    OnCase,
    ReturnsNone,
    UnknownLetters,
    Unscorable,
    WrongLetter,
    is_other_number_of_results,
    was_mutated,
)
from grading.feedback.partial_credit import ByEntry, ByKind, Earned, Guessable
from grading.feedback.relations import Exchanged, Nearly, Reordered, Scaled, relation
from grading.feedback.verdict import Verdict
from grading.runner.compare import Aspect, Difference
from grading.runner.outcome import Form, FormKind, Location, Mutation, Outcome, Status, Target
from grading.task import PROJECT, VALUES, Case, Task

# ------------------------------------------------------------------ the verdict


def render(task: Task, cases: Sequence[Case], verdict: Verdict) -> str:
    """What a student is told about an answer."""
    if verdict.needs_review:
        return "A person reads this answer and gives the points."
    if verdict.finding is None:
        return _right(task, verdict.score)
    text = finding(task, verdict.finding)
    if verdict.case is None:
        return text
    if len(cases) > 1:
        text = f"{_which_case(verdict.case, cases)}: {text}"
    if was_mutated(verdict.outcome) and not isinstance(verdict.finding, Mutated):
        text += f"\nAlso, {mutations(task, verdict.outcome)}, which may be the cause: {_COPY}"
    if verdict.diagnosis:
        why = task.mistakes[verdict.diagnosis.mistake].why
        text += f"\n{SAID[verdict.diagnosis.certainty]} {why}"
        if verdict.diagnosis.unexplained:
            text += "\n" + _unexplained(verdict.diagnosis.unexplained[0], cases)
    elif not verdict.two_mistakes and isinstance(verdict.finding, Different):
        text += _related(task, verdict.finding)
    if verdict.two_mistakes:
        text += "\n" + "\n- ".join([TOGETHER[len(verdict.two_mistakes)], *verdict.two_mistakes])
    return text


def _related(task: Task, found: Different) -> str:
    """What the arrays have in common, on a line of its own, if the line before is about them."""
    if task.kind == "predict" or found.diagnostic or found.difference.arrays is None:
        return ""
    match relation(*found.difference.arrays):
        case Scaled(factor) if abs(factor + 1) < 1e-3:
            return "\nEach entry has the opposite sign."
        case Scaled(factor):
            return f"\nEach entry is {factor:.4g} times the expected one."
        case Nearly():
            return "\nNo entry is far off: is there a small constant, a rounding or a coarse dtype?"
        case Exchanged((one, other)):
            return f"\nWith axes {one} and {other} exchanged, it would be right."
        case Reordered(axis):
            return f"\nThe entries along axis {axis} are right, but in another order."
    return ""


_COPY = "work on a copy."
SAID = {
    Certainty.ALL_AGREE: "What went wrong:",
    Certainty.MOST_AGREE: "Probable cause:",
    Certainty.SYMPTOM_ONLY: "A frequent cause of this:",
}
"""How a known mistake is introduced, by how well it fits."""
TOGETHER = {1: "There seem to be two mistakes. One of them:", 2: "Two mistakes:"}
"""How two mistakes at once are introduced, by how many of them are known."""


def _right(task: Task, score: float | None) -> str:
    if score is None:
        return "Right."
    reached, _, wanted = _scores(task, score)
    return f"Right. It reaches {reached}; {wanted} was wanted."


def _which_case(number: int, cases: Sequence[Case]) -> str:
    note = cases[number].note
    return f"On case {number + 1} of {len(cases)}" + (f" ({note})" if note else "")


def _unexplained(number: int, cases: Sequence[Case]) -> str:
    other = _which_case(number, cases).removeprefix("On ")
    return f"It does not explain everything: {other} is wrong in another way."


def finding(task: Task, found: Finding) -> str:
    """What is wrong, in a sentence or two."""
    match found:
        case NotRun(outcome):
            return not_run(task, outcome)
        case MissingLetters(number):
            more = "option is right" if number == 1 else "options are right"
            return f"Your choices are right, but {number} more {more}."
        case WrongLetter(letter, reason, more):
            text = f"({letter}) is not right: {reason}"
            if more:
                choices = "choice is" if more == 1 else "choices are"
                text += f"\n{more} more {choices} wrong or missing."
            return text
        case UnknownLetters(letters):
            came = f"holds {list(letters)}" if letters else "is empty"
            options = ", ".join(sorted(mistake.answer for mistake in task.mistakes))
            return f"{task.name} {came}; the options are {options}."
        case NoLetters():
            return f'Write the letters that you choose as a set: {task.name} = {{"a", "b"}}.'
        case NoText():
            return f"{task.name} is not written yet: write a text."
        case _:
            return _on_case(task, found)


def _on_case(task: Task, found: OnCase) -> str:
    match found:
        case ReturnsNone():
            return f"{task.name} returns None. Is a return statement missing, or the code itself?"
        case Unscorable(came):
            return f"{task.name} returns {form(came)}, which cannot be scored."
        case BelowThreshold(score, diagnostic):
            if diagnostic and score == 0:
                return diagnostic
            reached, most, wanted = _scores(task, score)
            text = f"It reaches {reached}; the goal is {most} {wanted}."
            return f"{text} {diagnostic}" if diagnostic else text
        case Different(wrong, diagnostic):
            return _different(task, wrong, diagnostic)
        case Mutated(outcome):
            return f"The result is right, but {mutations(task, outcome)}: {_COPY}"


def _different(task: Task, wrong: Difference, diagnostic: str | None) -> str:
    if task.kind == "predict":
        return difference(wrong, task.name, hidden=not wrong.in_form)
    if is_other_number_of_results(task, wrong):
        return results(task.name, wrong.got, task.results)
    if not diagnostic:
        return difference(wrong, of=task.results)
    ours = task.harness is not None and wrong.path and isinstance(wrong.path[0], str)
    if ours or wrong.shown:  # a name that only the check has, or a table
        return diagnostic
    return f"{diagnostic} ({difference(wrong, of=task.results)})"


def _scores(task: Task, score: float) -> tuple[str, str, str]:
    """A score, "at least" or "at most", and what is wanted."""
    if not task.nats:
        return _apart(score, task.threshold), "at least", f"{task.threshold:g}"
    above, most = -math.log(max(score, 1e-9)), -math.log(task.threshold)
    return f"{_apart(above, float(f'{most:.2g}'))} nats above the floor", "at most", f"{most:.2g}"


def _apart(number: float, limit: float) -> str:
    """A number with three digits after the point, or as many as distinguish it from the limit."""
    digits = range(3, 7)
    told = (f"{number:.{n}f}" for n in digits if number == limit or round(number, n) != limit)
    return next(told, f"{number:.{digits[-1]}f}")


# ------------------------------------------------------------------ how a run ended


def not_run(task: Task, outcome: Outcome) -> str:
    """Why a run did not end with a value, and the line of the student's code if one is known."""
    text = _not_run(task, outcome)
    return f"{text}\n  in {line(outcome.line)}" if outcome.line else text


def _not_run(task: Task, outcome: Outcome) -> str:
    match outcome.status:
        case Status.MISSING:
            return f"There is no {task.name} yet. Run the cell that defines it."
        case Status.UNWRITTEN:
            return f"{task.name} is not written yet."
        case Status.NOT_PLAIN:
            begins = task.name + " is" if task.kind in VALUES else "It returns"
            return f"{begins} {not_plain(outcome.form)}."
        case Status.NOT_CALLABLE:
            return f"{task.name} is {form(outcome.form)}, but it should be a function."
        case Status.FORBIDDEN:
            return f"It calls {outcome.error}, which this task is about: write that part yourself."
        case Status.REFUSED:
            return f"It cannot be judged: {outcome.error}"
        case Status.UNSENDABLE:
            return f"It returns {outcome.error}."
        case _:
            return f"It stops with {outcome.error}"


def line(place: Location) -> str:
    """A line of the student's code: "line 3 of your cell: return a / b"."""
    return f"line {place.number} of your cell" + (f": {place.text}" if place.text else "")


def mutations(task: Task, outcome: Outcome) -> str:
    """What was changed that is not the answer's own, by the names that the task has for it."""
    if not outcome.mutated:
        return mutation(outcome.mutation)
    names = list(inspect.signature(task.harness or task.reference).parameters)
    names = names[1:] if task.harness else names  # the first one of a harness is the answer
    changed = [f"`{names[i]}`" for i in outcome.mutated]
    return f"{' and '.join(changed)} {'were' if len(changed) > 1 else 'was'} changed in place"


def mutation(seen: Mutation) -> str:
    """What the mutation guard saw."""
    things = {
        Target.ARGUMENT: f"`{seen.name}`",
        Target.OWN_RESULT: "what it returned before",
        Target.OTHER_RESULT: "a result that was returned before",
    }
    return f"{things[seen.target]} was changed in place"


# ------------------------------------------------------------------ values


def form(came: Form) -> str:
    """What a value is: "None", "an array of shape (2, 3)", "a list of 4"."""
    match came.kind:
        case FormKind.NONE:
            return "None"
        case FormKind.SCALAR:
            return TYPES[came.name]
        case FormKind.ARRAY:
            return f"an array of shape {came.size}"
        case FormKind.CONTAINER:
            return f"a {came.name} of {came.size[0]}"
        case FormKind.DTYPE:
            return f"an array of {came.name}"
        case FormKind.OBJECT:
            return f"an object of type {came.name}"


COUNTS = {2: "two", 3: "three"}
TYPES = {"bool": "a boolean", "int": "a whole number", "float": "a number", "str": "a text"}
ENTRIES = {"b": "booleans", "i": "whole numbers", "u": "whole numbers", "f": "numbers"}
"""What an array holds, by NumPy's letters."""


def bad_task(error: BadTask) -> str:
    """For whoever wrote a task: why it can judge nobody."""
    if error.outcome is None:
        return f"{error.name} has no cases, so every answer would pass; give one"
    said = f"{error.outcome.status} {error.outcome.error}".strip()
    return (
        f"the model answer of {error.name} has no result on case {error.case + 1} ({said}); "
        "a model answer must give one on every case"
    )


def not_plain(came: Form) -> str:
    """What a value is that is not plain data."""
    return f"{form(came)}, which is not plain data"


def results(name: str, came: Form, wanted: Sequence[str]) -> str:
    """That something else came than the several results that are wanted."""
    listed = " and ".join([", ".join(wanted[:-1]), wanted[-1]])
    return (
        f"{name} returns {form(came)}, but it must return {COUNTS[len(wanted)]} results: {listed}."
    )


def difference(
    found: Difference,
    name: str = "the result",
    *,
    of: Sequence[str] = (),
    hidden: bool = False,
) -> str:
    """How a value differs from what was expected: "result[1] is 3; expected 2."

    Places are counted from 0 and written as in Python.

    Args:
        found: the difference.
        name: of the value.
        of: what its parts are, if they have names.
        hidden: whether what was expected is left out, since it would only have to be copied.
    """
    where = "".join([name.removeprefix("the ") if found.path else name, *map(_index, found.path)])
    if of and found.path:
        where += f", {of[found.path[0]]},"
    came, wanted = _came_and_wanted(found)
    if hidden:
        return f"{where} {came}: this is not right."
    return f"{where} {came}; expected {wanted}." + _table(found)


def _index(key: int | str) -> str:
    return f"[{key!r}]"


def _came_and_wanted(found: Difference) -> tuple[str, str]:
    got, want = found.got, found.want
    wrong = f"differs from what was expected in {found.wrong} of {found.size} entries"
    match found.aspect:
        case Aspect.FORM:
            return f"is {form(got)}", form(want)
        case Aspect.KEYS:
            return f"is {form(got)}", f"a dict with {want}"
        case Aspect.SHAPE:
            return f"has shape {got}", f"shape {want}"
        case Aspect.DTYPE:
            return f"holds {ENTRIES[got.kind]} ({got})", f"{ENTRIES[want.kind]} ({want})"
        case Aspect.NUMBER:
            return f"is {got:.6g}", f"{want:.6g}"
        case Aspect.VALUE:
            return f"is {got!r}", f"{want!r}"
        case Aspect.NAN:
            return f"{wrong}. At {found.place} it is NaN", _entry(want)
        case Aspect.ENTRIES:
            at = f", most at {found.place}" if found.place else ""
            return f"{wrong}{at}: {_entry(got)}", _entry(want)


def _table(found: Difference) -> str:
    if not found.shown:
        return ""
    got, want = found.arrays
    return f"\n  got:      {_rounded(got)}\n  expected: {_rounded(want)}"


def _entry(number: np.generic) -> str:
    return f"{number:.6g}" if np.issubdtype(type(number), np.floating) else str(number)


def _rounded(array: np.ndarray) -> str:
    if array.dtype.kind != "f":
        return str(array.tolist())
    return str(array.astype(float).round(4).tolist())  # rounded in float32, .1723 has 17 digits


# ------------------------------------------------------------------ partial credit


def partial_points(earned: Earned) -> str:
    """Why an answer that is not right earns a part of the points."""
    return f"Partial credit: {reason(earned)}"


def reason(earned: Earned) -> str:
    """What is right in an answer, and what is not yet."""
    match earned.reason:
        case ByKind(right, wrong, worth, mutated):
            text = f"right on {_worth(right, worth)}"
            if wrong:
                text += f"; not yet on {_worth(wrong, worth)}"
            if mutated:
                text += "; half of that, because an input was changed in place"
            return text + "."
        case ByEntry(right, entries):
            return f"{right} of {entries} entries {'is' if right == 1 else 'are'} right."
        case Guessable() as what:
            return (
                f"one {what.value} is wrong or missing, which costs half of the points; "
                "a second costs the rest."
            )
        case None:
            return ""


def _worth(kinds: Sequence[str], worth: Mapping[str, Fraction]) -> str:
    """Kinds of cases with what they are worth: "batches (1/4 of the points)"."""
    shares = {kind: "all" if worth[kind] == 1 else f"{worth[kind]}" for kind in kinds}
    return ", ".join(f"{kind} ({share} of the points)" for kind, share in shares.items())


# ------------------------------------------------------------------ check and progress


def looking() -> str:
    """The line that is shown while the search for the cause takes its time."""
    return "Not right yet. Looking for the cause …"


def printed(stdout: str) -> str:
    """What the student's own code printed."""
    return f"Your code printed:\n{stdout}"


def points(task: Task, verdict: Verdict) -> str:
    """The line above a verdict: "✓ masked_softmax: 12 of 12 points"."""
    if verdict.needs_review:
        return f"… {task.name}: a person gives up to {task.points} points"
    partial = "◐" if verdict.points else "✗"
    sign = "✓" if verdict.points == task.points else partial
    return f"{sign} {task.name}: {verdict.points:g} of {task.points} points"


def model_answer(task: Task, number: int, tries: int | None) -> str:
    """Where the model answer is.

    Args:
        task: whose model answer is meant.
        number: of the task on its sheet.
        tries: after how many wrong answers this is said; None to a student who is done.
    """
    sheet = "of the project" if task.lecture == PROJECT else f"{task.lecture}"
    place = f'task {number} of "Model answers {sheet}" on the course\'s site'
    if tries is None:
        return f"To compare, see {place}."
    return f"After {tries} attempts: the model answer, with its reasons, is in {place}."


def progress(
    tasks: Sequence[Task], done: Sequence[Task], read: Sequence[Task], points: float
) -> str:
    """How many tasks of a lecture are done, and what is left.

    Args:
        tasks: of the lecture, in the order of its notebook.
        done: those with full points.
        read: those whose answers a person reads.
        points: that all answers have together.
    """
    possible = sum(task.points for task in tasks)
    lines = [
        f"{len(done)} of {len(tasks)} tasks, {points:g} of {possible} points on the public cases"
    ]
    if read:
        lines.append("A person reads: " + ", ".join(task.name for task in read))
    closed = [*done, *read]
    left = [f"{n}. {task.name}" for n, task in enumerate(tasks, 1) if task not in closed]
    if left:
        lines.append("Still open: " + ", ".join(left))
    return "\n".join(lines)


# ------------------------------------------------------------------ mistakes in several tasks

AXIS_LOST = (
    "The maxima or the sums of the rows have lost their axis, so NumPy broadcasts them along the "
    "rows instead of down the columns, or raises an error. Write keepdims=True."
)
MASK_UNUSED = "The argument `mask` is not used."
NORMS_SWAPPED = "The two norms of a block are swapped."
NOT_SCALED = "The scores are not divided by √d_k."
SCALED_BY_D_K = "The scores are divided by d_k. Divide by its square root, √d_k."
TRUTH_SWAPPED = "True and False are swapped. In this course True means “may attend”."
WEIGHTS_FIRST = (
    "The two results are in the wrong order: first the context vectors, then the weights."
)
WHOLE_ARRAY = (
    "One sum was taken over the whole array. Each row needs its own: axis=-1 with keepdims=True."
)
