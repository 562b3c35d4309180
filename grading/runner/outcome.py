"""What one run of an answer gave: a status and plain data, and no sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a run ended."""

    OK = "ok"
    RAISED = "raised"
    """The answer, or what it calls, raised an error."""
    REFUSED = "refused"
    """The task's harness raised an error: it cannot use what the answer gives."""
    GAVE_NONE = "gave none"
    """The task's harness could not go on, since the answer or a method of it had returned None."""
    MISSING = "missing"
    """Nothing has the answer's name."""
    UNWRITTEN = "unwritten"
    """The answer is still what the exercise had in its place."""
    FORBIDDEN = "forbidden"
    """The answer called a function that the task forbids."""
    NOT_PLAIN = "not plain"
    """The answer gives something that is not plain data."""
    NOT_CALLABLE = "not callable"
    """A function or a class is wanted, and the answer is neither."""
    UNSENDABLE = "unsendable"
    """The value is plain data, but too large or too deep to leave the sandbox."""


ERRORS = (Status.RAISED, Status.REFUSED, Status.GAVE_NONE)
"""The statuses that code has which was run and did not reach its end."""
UNTRIED = (Status.MISSING, Status.UNWRITTEN)
"""The statuses of an answer that nobody has tried to write yet."""


class FormKind(StrEnum):
    """What a value may be, as far as its type tells."""

    NONE = "none"
    SCALAR = "scalar"
    CONTAINER = "container"
    ARRAY = "array"
    DTYPE = "dtype"
    OBJECT = "object"


@dataclass(frozen=True)
class Form:
    """The form of a value, without the value.

    Args:
        kind: what it is, as far as its type tells.
        name: of the type; for `DTYPE`, an array of entries that are not plain, of their dtype.
        size: the shape of an array, or the one length of a container.
    """

    kind: FormKind
    name: str = ""
    size: tuple[int, ...] = ()


class Target(StrEnum):
    """What a call may change in place although it is not its own."""

    ARGUMENT = "argument"
    OWN_RESULT = "own result"
    """What the same function returned before."""
    OTHER_RESULT = "other result"
    """What a method of the same object returned before."""


@dataclass(frozen=True)
class Mutation:
    """A change in place that the mutation guard saw; `name` is the name of an argument."""

    target: Target
    name: str = ""


@dataclass(frozen=True)
class Location:
    """A line of the student's code: its number in its cell, from 1, and its text if known."""

    number: int
    text: str = ""


MOST_DISTINCT = 4096
"""Number of different examples after which they are no longer counted."""


@dataclass(frozen=True)
class Training:
    """What was seen of the training of the model that an answer returns; see `training_trace`.

    Args:
        steps: number of optimizer steps.
        examples: number of examples in the largest step.
        distinct: number of different examples in all steps, at most `MOST_DISTINCT`.
        not_cleared: steps that added their gradients to those of the step before.
        no_gradient: steps in which every gradient was 0 or missing.
        empty: steps with a batch of no examples.
        not_finite: steps whose loss was NaN or infinite, although there were examples.
        copying: steps whose targets were the tokens of the input at the same positions.
        skipping: steps whose targets were the tokens of the input two positions later.
        new_optimizers: steps of an optimizer that remembered nothing of an earlier step.
        adam: whether the optimizer was a kind of Adam.
        peak, decay: the largest learning rate and weight decay.
        held, of: how many of the model's parameter tensors were in the optimizer, and their number.
        kept: the step after which the weights were those that came back; −1 if after none.
    """

    steps: int = 0
    examples: int = 0
    distinct: int = 0
    not_cleared: int = 0
    no_gradient: int = 0
    empty: int = 0
    not_finite: int = 0
    copying: int = 0
    skipping: int = 0
    new_optimizers: int = 0
    adam: int = 0
    peak: float = 0.0
    decay: float = 0.0
    held: int = 0
    of: int = 0
    kept: int = -1


@dataclass(frozen=True)
class Outcome:
    """What one run of an answer on one case gave.

    Args:
        status: how the run ended.
        value: what came back, as plain data; None if the status is not OK.
        error: for `RAISED` the type and the text of the error, for `REFUSED` its text, for
            `FORBIDDEN` the dotted name of the function, for `UNSENDABLE` the reason, for
            `GAVE_NONE` the name of the method, empty if it is the answer itself.
        form: what came instead, for `NOT_PLAIN` and `NOT_CALLABLE`.
        mutated: the positions of the arguments that were changed in place.
        mutation: what else a call changed in place, where a harness makes the calls.
        stdout: the beginning of what the answer printed. The class grader does not have it.
        line: where in the student's code the error arose. Shown, and never compared.
        undefined: the name that a `NameError` is about. Never compared.
        training: what was seen of a training, in a task that wants one. Never compared.
    """

    status: Status = Status.OK
    value: object = None
    error: str = ""
    form: Form | None = None
    mutated: tuple[int, ...] = ()
    mutation: Mutation | None = None
    stdout: str = ""
    line: Location | None = None
    undefined: str = ""
    training: Training | None = None

    @property
    def ok(self) -> bool:
        """Whether the run reached its end and gave plain data."""
        return self.status is Status.OK
