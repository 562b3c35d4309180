"""Running an answer on cases, and the verdict on what came out.

The two are apart on purpose: a class grader runs answers inside a sandbox, where only plain data
comes out, and gives the verdict outside.
"""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unittest import mock

import torch

from grading.plain import NotPlain, describe_type, difference, plain
from grading.task import Case, Task

MISSING = object()
"""Stands for an answer that is not there."""


@dataclass(frozen=True)
class Outcome:
    """What one run of an answer gave: plain data, or a sentence that says why there is none."""

    value: object = None
    error: str = ""
    changed: tuple[int, ...] = ()
    """Positions of the arguments that the answer changed in place."""


@dataclass(frozen=True)
class Verdict:
    """Points, and what to tell the student."""

    points: int
    message: str
    mistake: int | None = None
    """Which known mistake it was, if one fits."""


class ForbiddenCall(Exception):
    """The answer called a function that the task forbids."""


def run(task: Task, answer: object, cases: Sequence[Case]) -> list[Outcome]:
    """Run an answer on every case. Nothing that it raises gets out."""
    return [_run_one(task, answer, case) for case in cases]


def _run_one(task: Task, answer: object, case: Case) -> Outcome:
    if answer is MISSING:
        return Outcome(error=f"There is no {task.name} yet. Run the cell that defines it.")
    if answer is ...:
        return Outcome(error=f"{task.name} is not written yet.")
    if task.kind in ("predict", "choose"):
        try:
            return Outcome(plain(answer))
        except NotPlain as error:
            return Outcome(error=f"{task.name} is {error}.")
    if not callable(answer):
        return Outcome(error=f"{task.name} is {describe_type(answer)}, and a function is wanted.")
    args = _fresh(case.args)
    before = plain(args)
    try:
        with (
            _restored(),
            _forbid(task.forbidden, answer),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            torch.manual_seed(0)
            value = task.drive(answer, *args) if task.drive else answer(*args)
            result = plain(value)
    except ForbiddenCall as error:
        return Outcome(
            error=f"It calls {error}, which this task is about: write that part yourself."
        )
    except NotImplementedError:
        return Outcome(error=f"{task.name} is not written yet.")
    except NotPlain as error:
        return Outcome(error=f"It returns {error}.")
    except Exception as error:
        return Outcome(error=f"It stops with {type(error).__name__}: {_one_line(error)}")
    after = plain(args)
    changed = tuple(
        i
        for i, (old, new) in enumerate(zip(before, after, strict=True))
        if difference(new, old, 0, 0)
    )
    return Outcome(result, changed=changed)


def judge(task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
    """The verdict on what an answer gave on these cases."""
    if task.kind == "choose":
        return _judge_choice(task, outcomes[0])
    for number, (case, outcome) in enumerate(zip(cases, outcomes, strict=True), 1):
        complaint = _complaint(task, case, outcome)
        if complaint:
            if len(cases) > 1:
                note = f" ({case.note})" if case.note else ""
                complaint = f"On case {number} of {len(cases)}{note}: {complaint}"
            which = None if outcome.error else _known_mistake(task, cases, outcomes)
            if which is not None:
                complaint += f"\nWhat went wrong: {task.mistakes[which].why}"
            return Verdict(0, complaint, which)
    return Verdict(task.points, "Right.")


def grade(task: Task, answer: object, seed: int) -> Verdict:
    """Run an answer on the cases of a seed and judge it, in this process."""
    cases = task.cases(seed)
    return judge(task, cases, run(task, answer, cases))


def _complaint(task: Task, case: Case, outcome: Outcome) -> str | None:
    """What is wrong with one outcome, or None."""
    if outcome.error:
        return outcome.error
    if outcome.value is None and task.kind != "predict":
        return f"{task.name} returns None: is there a return, and has it been written?"
    if task.score is not None:
        try:
            reached = float(task.score(case.args, outcome.value))
        except Exception:
            return f"{task.name} returns {describe_type(outcome.value)}, which cannot be scored."
        if not reached >= task.reach:
            return f"It reaches {reached:.3f}; at least {task.reach:g} is wanted."
        return None
    [expected] = run(task, task.reference, [case])
    where = task.name if task.kind == "predict" else "the result"
    wrong = difference(outcome.value, expected.value, task.rtol, task.atol, where)
    if wrong:
        sentences = (_property_sentence(p, case.args, outcome.value) for p in task.properties)
        broken = next(filter(None, sentences), None)
        return f"{broken} ({wrong})" if broken and "\n" not in wrong else broken or wrong
    if outcome.changed:
        places = " and ".join(str(i + 1) for i in outcome.changed)
        return f"The result is right, but argument {places} was changed in place: work on a copy."
    return None


def _property_sentence(check, args: tuple, value: object) -> str | None:
    try:
        return check(args, value)
    except Exception:  # the result has a form for which the property makes no sense
        return None


def _known_mistake(task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> int | None:
    """The first known mistake that gives the same on every case."""
    for number, mistake in enumerate(task.mistakes):
        theirs = run(task, mistake.answer, cases)
        if all(same(task, a, b) for a, b in zip(outcomes, theirs, strict=True)):
            return number
    return None


def same(task: Task, one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes cannot be told apart."""
    if one.error or other.error:
        return one.error == other.error
    equal = difference(one.value, other.value, task.rtol, task.atol) is None
    return equal and one.changed == other.changed


def _judge_choice(task: Task, outcome: Outcome) -> Verdict:
    """Name every option that was chosen wrongly or left out, with its reason."""
    reasons = {mistake.answer: mistake.why for mistake in task.mistakes}
    letters = outcome.value
    if outcome.error or not isinstance(letters, set | list | tuple | str):
        wanted = f'{task.name} = {{"a", "b"}}, the letters of what you choose, is wanted.'
        return Verdict(0, outcome.error or wanted)
    chosen, right = set(letters), set(task.reference)
    strange = chosen - set(reasons)
    if strange or not chosen:
        came = f"holds {sorted(map(str, strange))}" if strange else "is empty"
        return Verdict(0, f"{task.name} {came}; the options are {', '.join(sorted(reasons))}.")
    wrong = [f"({x}) is not right: {reasons[x]}" for x in sorted(chosen - right)]
    left_out = len(right - chosen)
    if left_out and not wrong:
        wrong = [f"What you chose is right; {left_out} more of the options also holds."]
    return Verdict(0, "\n".join(wrong)) if wrong else Verdict(task.points, "Right.")


def _fresh(args: tuple) -> tuple:
    """Copies of the arguments, so that no case sees what an answer did to another."""
    return tuple(arg.clone() if isinstance(arg, torch.Tensor) else _copied(arg) for arg in args)


def _copied(arg: object) -> object:
    import copy

    return copy.deepcopy(arg)


@contextlib.contextmanager
def _restored() -> Iterator[None]:
    """Give the global state back as it was: seeds, default precision, gradients."""
    state, dtype, grad = torch.get_rng_state(), torch.get_default_dtype(), torch.is_grad_enabled()
    try:
        yield
    finally:
        torch.set_rng_state(state)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)


@contextlib.contextmanager
def _forbid(names: Sequence[str], answer: object) -> Iterator[None]:
    """While the answer runs, calling one of these functions raises `ForbiddenCall`.

    Also where the student imported it under a name of their own.
    """

    def refusal(name: str):
        def refuse(*args: object, **kwargs: object) -> None:
            raise ForbiddenCall(name)

        return refuse

    space = getattr(answer, "__globals__", None)
    if space is None:  # a class: the names its methods see
        methods = (getattr(value, "__globals__", None) for value in vars(answer).values())
        space = next(filter(None, methods), {})
    with contextlib.ExitStack() as stack:
        for name in names:
            owner, attribute = _resolve(name)
            original = getattr(owner, attribute)
            refuse = refusal(name)
            stack.enter_context(mock.patch.object(owner, attribute, refuse))
            own = {key: refuse for key, value in space.items() if value is original}
            stack.enter_context(mock.patch.dict(space, own))
        yield


def _resolve(name: str) -> tuple[object, str]:
    """The object that holds a dotted name, and the attribute: a module, or a class in one."""
    path, _, attribute = name.rpartition(".")
    try:
        return importlib.import_module(path), attribute
    except ModuleNotFoundError:
        module, _, owner = path.rpartition(".")
        return getattr(importlib.import_module(module), owner), attribute


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:199] + "…"
