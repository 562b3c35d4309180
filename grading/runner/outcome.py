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

    @property
    def ok(self) -> bool:
        """Whether the run reached its end and gave plain data."""
        return self.status is Status.OK
