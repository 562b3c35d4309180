"""Every sentence that a student reads about an answer, except those of the tasks.

The functions get typed facts and give text. Nothing reads the text again: another wording changes
no points, no case and no mistake.
"""

from __future__ import annotations

import inspect
import math
import re
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
    TooShort,
    UnknownLetters,
    Unscorable,
    WrongLetter,
    is_other_number_of_results,
    was_mutated,
)
from grading.feedback.partial_credit import (
    AllEqual,
    ByEntry,
    ByKind,
    Earned,
    Guessable,
    OrdinaryFails,
)
from grading.feedback.relations import (
    Exchanged,
    Nearly,
    Reordered,
    Scaled,
    Scattered,
    relation,
)
from grading.feedback.training_facts import Seen, Sign
from grading.feedback.verdict import Verdict
from grading.runner.compare import Aspect, Difference
from grading.runner.outcome import Form, FormKind, Location, Mutation, Outcome, Status, Target
from grading.runner.tensors import is_tensor
from grading.task import PROJECT, VALUES, Case, Task

# ------------------------------------------------------------------ the verdict


def render(task: Task, cases: Sequence[Case], verdict: Verdict) -> str:
    """What a student is told about an answer."""
    if verdict.finding is None:
        return _MARKED if verdict.needs_review else _right(task, verdict.score)
    array = "a tensor" if _holds_tensor([case.args for case in cases]) else "an array"
    text = finding(task, verdict.finding, array)
    if verdict.needs_review:
        return f"{text}\n{_MARKED}"
    if verdict.case is None:
        return text
    cause = _cause(task, verdict)
    if len(cases) > 1:
        text = f"{_which_case(verdict.case, cases)}: {text}"
    if verdict.diagnosis and verdict.diagnosis.more:
        text += f" {_more(verdict.diagnosis.more)}"
    if was_mutated(verdict.outcome) and not isinstance(verdict.finding, Mutated):
        may_be = "" if cause else ", which may be the cause"
        text += f"\nAlso, {mutations(task, verdict.outcome)}{may_be}: {_COPY}"
    if cause:
        text = f"{cause}\n{text}"
    elif isinstance(verdict.finding, Different):
        text += _related(task, verdict.finding)
    if verdict.diagnosis and verdict.diagnosis.otherwise:
        text += "\n" + _unexplained(verdict.diagnosis.otherwise[0], cases)
    return text


def _holds_tensor(value: object) -> bool:
    """Whether there is a tensor in the arguments of cases: then an answer gives tensors, too."""
    if isinstance(value, list | tuple):
        return any(map(_holds_tensor, value))
    return is_tensor(value)


def _cause(task: Task, verdict: Verdict) -> str:
    """The known mistakes that an answer shows; empty if there is none."""
    if verdict.seen:
        return f"{_SEEN} {training(task, verdict.seen)}"
    if verdict.two_mistakes:
        return "\n- ".join([TOGETHER[len(verdict.two_mistakes)], *verdict.two_mistakes])
    if verdict.diagnosis is None:
        return ""
    return f"{SAID[verdict.diagnosis.certainty]} {task.mistakes[verdict.diagnosis.mistake].why}"


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
        case Scattered():
            return f"\nThe right entries are all there, but in other places. {_NEVER_MOVES}"
    return ""


_NEVER_MOVES = (
    "`reshape` keeps the numbers in their order in memory; only `transpose` or `permute` moves an "
    "axis."
)
_MARKED = "Your teacher, or you if you work alone, will mark this answer."
_COPY = "work on a copy."
SAID = {
    Certainty.ALL_AGREE: "What went wrong:",
    Certainty.MOST_AGREE: "Probable cause:",
    Certainty.SYMPTOM_ONLY: "Possible cause:",
}
"""How a known mistake is introduced, by how well it fits."""
_SEEN = "Seen during training:"
"""How a fact about a training is introduced."""
TOGETHER = {1: "There seem to be two mistakes. One of them:", 2: "Two mistakes:"}
"""How two mistakes at once are introduced, by how many of them are known."""


def _right(task: Task, score: float | None) -> str:
    if score is None:
        return "Right."
    reached, most, wanted = _scores(task, score)
    return f"Right. It reaches {reached}; {most} {wanted} was needed."


def _which_case(number: int, cases: Sequence[Case]) -> str:
    note = cases[number].note
    return f"On case {number + 1} of {len(cases)}" + (f" ({note})" if note else "")


def _unexplained(number: int, cases: Sequence[Case]) -> str:
    other = _which_case(number, cases).removeprefix("On ")
    return f"It may not explain everything: after your change, look at {other} again."


def _more(entries: int) -> str:
    """That entries of a list are wrong which the named mistake does not make wrong."""
    number = COUNTS.get(entries, entries)
    what = "another entry is" if entries == 1 else f"{number} other entries are"
    return f"Beyond what this explains, {what} wrong."


def finding(task: Task, found: Finding, array: str = "an array") -> str:
    """What is wrong, in a sentence or two; `array` is what an array is called in this task."""
    match found:
        case NotRun(outcome):
            return not_run(task, outcome, array)
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
        case TooShort(came, wanted):
            sentences = "one sentence" if came == 1 else f"{COUNTS.get(came, came)} sentences"
            least = COUNTS.get(wanted, wanted)
            return f"Only {sentences} so far; at least {least} are asked for."
        case _:
            return _on_case(task, found, array)


def _on_case(task: Task, found: OnCase, array: str) -> str:
    match found:
        case ReturnsNone():
            return _none(task.name)
        case Unscorable(came):
            return f"{task.name} returns {form(came, array)}, which cannot be scored."
        case BelowThreshold(score, diagnostic):
            if diagnostic and score == 0:
                return diagnostic
            reached, most, wanted = _scores(task, score)
            text = f"It reaches {reached}; the goal is {most} {wanted}."
            return f"{text} {diagnostic}" if diagnostic else text
        case Different(wrong, diagnostic):
            return _different(task, wrong, diagnostic, array)
        case Mutated(outcome):
            return f"The result is right, but {mutations(task, outcome)}: {_COPY}"


def _none(name: str) -> str:
    return f"{name} returns None. Is a return statement missing, or the code itself?"


def _different(task: Task, wrong: Difference, diagnostic: str | None, array: str) -> str:
    if task.kind == "predict":
        return difference(wrong, task.name, hidden=not wrong.in_form)
    if is_other_number_of_results(task, wrong):
        return results(task.name, form(wrong.got, array), task.results)
    labelled = wrong.aspect is Aspect.KEYS or (wrong.path and isinstance(wrong.path[0], str))
    ours = task.harness is not None and labelled
    if diagnostic and (ours or wrong.shown):  # a name that only the check has, or a table
        return diagnostic
    text = difference(wrong, of=task.results, array=array, labels=task.harness is not None)
    return f"{diagnostic} ({re.sub('^the ', 'The ', text)})" if diagnostic else text


def _scores(task: Task, score: float) -> tuple[str, str, str]:
    """A score, "at least" or "at most", and what is wanted."""
    if not task.nats:
        return _apart(score, task.threshold), "at least", f"{task.threshold:g}"
    above, most = -math.log(max(score, 1e-9)), -math.log(task.threshold)
    return f"{_apart(above, float(f'{most:.2g}'))} nats above the entropy", "at most", f"{most:.2g}"


def _apart(number: float, limit: float) -> str:
    """A number with three digits after the point, or as many as distinguish it from the limit."""
    digits = range(3, 7)
    told = (f"{number:.{n}f}" for n in digits if number == limit or round(number, n) != limit)
    return next(told, f"{number:.{digits[-1]}f}")


# ------------------------------------------------------------------ how a run ended


def not_run(task: Task, outcome: Outcome, array: str) -> str:
    """Why a run did not end with a value, and the line of the student's code if one is known."""
    text = _not_run(task, outcome, array)
    if not outcome.line:
        return text
    text += f"\n  in {line(outcome.line)}"
    if outcome.error.startswith("ValueError") and TORCH_TRANSPOSE.search(outcome.line.text or ""):
        text += f"\n{_NOT_AS_IN_TORCH}"
    if "Expected target size" in outcome.error:
        text += f"\n{_CLASSES_ON_AXIS_1}"
    return text


def not_in_notebook(name: str, like: str) -> str:
    """That a notebook that was handed in defines no answer, and the name that may be meant."""
    meant = f" Did you mean {like}?" if like else ""
    return f"Your notebook defines no {name}. Is the name spelled as on the sheet?{meant}"


def left_open(name: str) -> str:
    """That a notebook that was handed in has no answer in the place for it."""
    return f"Your notebook has no answer under the name {name}."


def _not_run(task: Task, outcome: Outcome, array: str) -> str:
    match outcome.status:
        case Status.MISSING:
            return f"There is no {task.name} yet. Run the cell that defines it."
        case Status.UNWRITTEN:
            return f"{task.name} is not written yet."
        case Status.NOT_PLAIN:
            begins = task.name + " is" if task.kind in VALUES else "It returns"
            return f"{begins} {not_plain(outcome.form, array)}."
        case Status.NOT_CALLABLE:
            return f"{task.name} is {form(outcome.form, array)}, but it should be a function."
        case Status.FORBIDDEN:
            return f"It calls {outcome.error}, which this task is about: write that part yourself."
        case Status.GAVE_NONE:
            return _none(f"`{outcome.error}`" if outcome.error else task.name)
        case Status.REFUSED:
            return outcome.error
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


# ------------------------------------------------------------------ trainings


def training(task: Task, fact: Seen) -> str:
    """What was seen of a training, and what to do about it."""
    seen, enough = fact.training, fact.enough
    match fact.sign:
        case Sign.NO_STEP:
            return (
                f"While {task.name} ran, no optimizer made a step. Train the model there, with "
                "`step` after `backward`, before you return it."
            )
        case Sign.EMPTY:
            return (
                f"{seen.empty:,} of {seen.steps:,} steps got a batch without examples. A slice "
                "beyond the end of the data is empty: sample rows from all that there are."
            )
        case Sign.NOT_FINITE:
            return f"The loss was NaN or infinite in {seen.not_finite:,} of {seen.steps:,} steps."
        case Sign.OTHER_MODEL:
            return (
                "The optimizer had none of the parameters of the model that came back. Is that the "
                "model that was trained?"
            )
        case Sign.NO_GRADIENT:
            return (
                "When the optimizer made its step, every gradient was 0 or missing. Compute the "
                "loss from what the model gives, and call `zero_grad`, `backward`, `step` in this "
                "order."
            )
        case Sign.NOT_CLEARED:
            return (
                "The gradients were not cleared between the steps, so each step used the sum of "
                "all gradients so far. Call `zero_grad` in each step, before `backward`."
            )
        case Sign.FEW_EXAMPLES if seen.distinct <= seen.examples:
            return (
                f"All {seen.steps:,} steps saw the same examples, {seen.distinct:,} different "
                "ones. Sample new ones in each step, from all that there are."
            )
        case Sign.FEW_EXAMPLES:
            return (
                f"The model read {seen.distinct:,} different examples in {seen.steps:,} steps. "
                "Sample new ones in each step, from all that there are, and pass them whole."
            )
        case Sign.COPYING:
            return (
                "The targets were the tokens that the model reads at the same positions, so it "
                "learns to repeat its input. Shift one of them: the target is the *next* token."
            )
        case Sign.SKIPPING:
            return (
                "The targets were the tokens two positions after those that the model reads, so it "
                "learns to leave one out. Inputs and targets are shifted twice: shift them once."
            )
        case Sign.FIRST_WEIGHTS:
            return "The model came back with its weights from before the training."
        case Sign.EARLY_WEIGHTS:
            return (
                f"The model came back with the weights after step {seen.kept:,} of "
                f"{seen.steps:,}. Are these the best ones? What it learned later is lost."
            )
        case Sign.NEW_OPTIMIZERS:
            return (
                "There was a new optimizer in each step, so Adam remembered nothing of the steps "
                "before. Create it once, before the loop."
            )
        case Sign.PARTLY_TRAINED:
            return (
                f"The optimizer had only {seen.held} of the {seen.of} parameter tensors of the "
                "model; the others were not trained."
            )
        case Sign.FEW_STEPS:
            steps = "one step" if seen.steps == 1 else f"{seen.steps:,} steps"
            return f"The optimizer made {steps}; {enough.steps:,} are enough."
        case Sign.NOT_ADAM:
            return "The optimizer was not Adam, for which the course's learning rates are meant."
        case Sign.SMALL_RATE if not seen.peak:
            return "The learning rate was 0."
        case Sign.SMALL_RATE:
            return (
                f"The learning rate was at most {_limit(seen.peak)}. A rate about "
                f"{enough.rate / seen.peak:.0f} times as large is enough."
            )
        case Sign.LARGE_RATE:
            return (
                f"The learning rate rose to {seen.peak:.2g}. A rate about "
                f"{seen.peak / enough.rate:.0f} times smaller is enough."
            )
        case Sign.SMALL_BATCHES:
            examples = "one example" if seen.examples == 1 else f"{seen.examples} examples"
            return f"Each step saw {examples}; {enough.examples} are enough."
        case Sign.DECAY:
            return f"The weight decay was {seen.decay:g}, which pulls all weights towards 0."


def _limit(peak: float) -> str:
    """A peak as an upper limit: a schedule may stay a little below the number that was written."""
    written = float(f"{peak:.1g}")
    return f"{written if peak <= written <= 1.06 * peak else peak:.2g}"


# ------------------------------------------------------------------ values


def form(came: Form, array: str = "an array") -> str:
    """What a value is: "None", "an array of shape (2, 3)", "a list of 4"."""
    match came.kind:
        case FormKind.NONE:
            return "None"
        case FormKind.SCALAR:
            return TYPES[came.name]
        case FormKind.ARRAY:
            return f"{array} of shape {came.size}"
        case FormKind.CONTAINER:
            return f"a {came.name} of {came.size[0]}"
        case FormKind.DTYPE:
            return f"{array} of {came.name}"
        case FormKind.OBJECT:
            return f"an object of type {came.name}"


COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
TYPES = {"bool": "a boolean", "int": "a whole number", "float": "a number", "str": "a string"}
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


def not_plain(came: Form, array: str = "an array") -> str:
    """What a value is that is not plain data."""
    return f"{form(came, array)}, which is not plain data"


def results(name: str, came: str, wanted: Sequence[str]) -> str:
    """That something else came than the several results that are wanted."""
    listed = " and ".join([", ".join(wanted[:-1]), wanted[-1]])
    return f"{name} returns {came}, but it must return {COUNTS[len(wanted)]} results: {listed}."


def difference(
    found: Difference,
    name: str = "the result",
    *,
    of: Sequence[str] = (),
    hidden: bool = False,
    array: str = "an array",
    labels: bool = False,
) -> str:
    """How a value differs from what was expected: "result[1] is 3; expected 2."

    Places are counted from 0 and written as in Python.

    Args:
        found: the difference.
        name: of the value.
        of: what its parts are, if they have names.
        hidden: whether what was expected is left out, since it would only have to be copied.
        array: what an array is called.
        labels: whether keys are the check's own labels, which are quoted and not indexed with.
    """
    where = _place(name, found.path, labels)
    if of and found.path:
        where += f", {of[found.path[0]]},"
    truth = isinstance(found.got, bool | np.bool_) and isinstance(found.want, bool | np.bool_)
    if labels and found.path and isinstance(found.path[-1], str) and truth:
        return _holds(where, found.got)
    came, wanted = _came_and_wanted(found, array)
    if hidden:
        return f"{where} {came}: this is not right."
    return f"{where} {came}; expected {wanted}." + _table(found)


def fact(name: str, came: object, wanted: object) -> str:
    """How a fact that a task's check has a name for differs from what was expected."""
    said = f"“{name[:1].upper()}{name[1:]}”"
    if isinstance(came, bool) and isinstance(wanted, bool):
        return _holds(said, came)
    return f"{said} is {came}; expected {wanted}."


def _holds(said: str, holds: bool) -> str:
    """That something holds that should not, or the other way around."""
    return f"This {'holds, but should not' if holds else 'should hold, but does not'}: {said}."


def _place(name: str, path: Sequence[int | str], labels: bool) -> str:
    """Where in a value: "result[1]['a']", or "“contexts”[1]" with labels."""
    where = name.removeprefix("the ") if path else name
    for depth, key in enumerate(path):
        if labels and isinstance(key, str):  # a number before it only puts labels in order
            label = f"“{key.lstrip('0123456789 ')}”"
            where = f"{where}, {label}" if depth else label
        else:
            where += f"[{key!r}]"
    return where


def _came_and_wanted(found: Difference, array: str) -> tuple[str, str]:
    got, want = found.got, found.want
    wrong = f"differs from what was expected in {found.wrong} of {found.size} entries"
    match found.aspect:
        case Aspect.FORM:
            return f"is {form(got, array)}", form(want, array)
        case Aspect.KEYS:
            return f"is {form(got, array)}", f"a dict with {want}"
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
        case Aspect.ENTRIES if not found.place:  # an array of no axes
            return f"is {_entry(got)}", _entry(want)
        case Aspect.ENTRIES:
            return f"{wrong}, most at {found.place}: {_entry(got)}", _entry(want)


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
    """Why an answer that is not right earns a part of the points, or none."""
    if isinstance(earned.reason, OrdinaryFails | AllEqual):
        return reason(earned)
    return f"Partial credit: {reason(earned)}"


def reason(earned: Earned) -> str:
    """What is right in an answer, and what is not yet."""
    match earned.reason:
        case ByKind(right, wrong, worth, mutated):
            text = f"right on {_worth(right, worth)}"
            if wrong:
                text += f"; not yet all right on {_worth(wrong, worth)}"
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
        case OrdinaryFails(bugs):
            if bugs:
                return "The points come when all bugs are fixed."
            return "No partial credit, because an ordinary case fails."
        case AllEqual():
            return "No partial credit, because all entries of the list are the same."
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


def not_found() -> str:
    """What comes of that search if no known mistake fits."""
    return "The cause is not clear; there may be several. Begin here:"


def one_change(number: int, part: str) -> str:
    """Where one small change makes an answer right; not which."""
    change = f"One small change in line {number} of your cell makes every case right."
    return f"{change} Look at `{part}`."


def random(number: int, cases: Sequence[Case]) -> str:
    """That an answer gives something else with other random numbers, though ours does not."""
    where = _which_case(number, cases).removeprefix("On ")
    return (
        f"Something in your code is random: two runs on {where} gave different results. Is there a "
        "dropout that nobody asked for, or does something depend on random starting weights?"
    )


def no_task(name: object, like: str) -> str:
    """That no task has this name, and the one that may be meant."""
    if not isinstance(name, str):
        return f'Write the name of the task in quotation marks: check("{like or "…"}").'
    return f"There is no task {name}." + (f" Did you mean {like}?" if like else "")


def printed(stdout: str) -> str:
    """What the student's own code printed."""
    return f"Your code printed:\n{stdout}"


def points(task: Task, verdict: Verdict) -> str:
    """The line above a verdict: "✓ masked_softmax: 12 of 12 points"."""
    if verdict.needs_review:
        return f"… {task.name}: up to {task.points} points"
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
    page = "A worked project" if task.lecture == PROJECT else f"Answers to sheet {task.lecture}"
    place = f'task {number} of "{page}" on the course\'s site'
    if tries is None:
        return f"To compare, see {place}."
    return f"After {tries} attempts: the model answer, with its reasons, is in {place}."


def progress(
    tasks: Sequence[Task],
    done: Sequence[Task],
    read: Sequence[Task],
    points: float,
    fallen: Sequence[Task] = (),
) -> str:
    """How many tasks of a lecture are done, and what is left.

    Args:
        tasks: of the lecture, in the order of its notebook.
        done: those with full points.
        read: those whose answers a person reads.
        points: that all answers have together.
        fallen: those whose last try earned less than an earlier one.
    """
    possible = sum(task.points for task in tasks)
    lines = [
        f"{len(done)} of {len(tasks)} tasks, {points:g} of {possible} points on the public cases"
    ]
    if fallen:
        names = ", ".join(task.name for task in fallen)
        lines.append(f"Your last try of each task counts. An earlier one was better: {names}")
    if read:
        lines.append("To be marked: " + ", ".join(task.name for task in read))
    closed = [*done, *read]
    left = [f"{n}. {task.name}" for n, task in enumerate(tasks, 1) if task not in closed]
    if left:
        lines.append("Still open: " + ", ".join(left))
    return "\n".join(lines)


# ------------------------------------------------------------------ mistakes in several tasks

TORCH_TRANSPOSE = re.compile(r"\.transpose\(\s*-\d\s*,\s*-\d\s*\)")
"""Two axes counted from the end; with a ValueError, which torch does not raise here."""
_NOT_AS_IN_TORCH = (
    "NumPy's transpose takes the new order of all axes, so transpose(-2, -1) leaves a matrix as it "
    "is. To exchange the last two axes, write np.swapaxes(…, -2, -1)."
)
_CLASSES_ON_AXIS_1 = (
    "`cross_entropy` takes axis 1 of the logits for the vocabulary. If yours comes last, flatten "
    "batch and words into one axis, of the logits and of the targets, or move it to axis 1."
)

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
