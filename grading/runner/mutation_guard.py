"""Detection of changes in place to objects that are not the answer's own.

Where a task has a harness (it builds a class, or calls it step by step), what the student's code
is given comes from the harness, and what it returns is used later. A call must change neither: not
what it was given, now or before, and not what it returned before.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from grading.runner.compare import NotPlain, difference, plain
from grading.runner.outcome import Mutation, Target
from grading.runner.tensors import is_tensor
from grading.runner.training_trace import TrainingTrace

KEPT = 6
"""How many objects are watched at most; the oldest are let go."""


@dataclass
class MutationGuard:
    """Watches what goes into an answer and what comes out; with a `trace`, its trainings, too."""

    trace: TrainingTrace | None = None
    seen: Mutation | None = None
    """The first change in place."""
    gave_none: str | None = None
    """Name of the method whose call was the last one and returned None; empty for a function."""
    _inside: bool = False
    _watched: list[tuple[Mutation, object]] = field(default_factory=list)

    def around(self, answer: object) -> object:
        """The answer, which behaves as before and is watched."""
        if isinstance(answer, types.FunctionType):
            return self._around(answer, of_class=False)
        if not isinstance(answer, type):
            return answer
        methods = {}
        for owner in reversed(answer.__mro__):  # its own methods, and those of its own bases
            if owner.__module__ == answer.__module__:
                methods |= {n: m for n, m in vars(owner).items() if type(m) is types.FunctionType}
        watched = {name: self._around(method, of_class=True) for name, method in methods.items()}
        try:
            return type(answer)(answer.__name__, (answer,), watched)
        except TypeError:  # a class that cannot be derived from
            return answer

    def _around(self, function: Callable, *, of_class: bool) -> Callable:
        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> object:
            if self._inside:  # what the answer does with its own objects is its own affair
                return function(*args, **kwargs)
            names = inspect.unwrap(function).__code__.co_varnames
            given = [*zip(names, args, strict=False), *kwargs.items()]
            if of_class:
                given = given[1:]  # without self
            for name, value in given:
                self._watch(Mutation(Target.ARGUMENT, name), value)
            with self._looking():
                result = function(*args, **kwargs)
            if self.trace:
                self.trace.returned(args[0] if of_class else result)
            self.gave_none = (function.__name__ if of_class else "") if result is None else None
            self._watch(Mutation(Target.OTHER_RESULT if of_class else Target.OWN_RESULT), result)
            return result

        return call

    @contextlib.contextmanager
    def _looking(self) -> Iterator[None]:
        """Keep the first change of what is watched, unless an error ends the call."""
        watched = [] if self.seen else [(m, thing, _snapshot(thing)) for m, thing in self._watched]
        self._inside = True
        try:
            with self.trace.watching() if self.trace else contextlib.nullcontext():
                yield
        finally:
            self._inside = False
        self.seen = next((m for m, thing, old in watched if _differs(thing, old)), self.seen)

    def _watch(self, mutation: Mutation, thing: object) -> None:
        known = any(thing is other for _, other in self._watched)
        if not known and not isinstance(thing, int | float | str | None):
            self._watched = [*self._watched, (mutation, thing)][-KEPT:]


def _snapshot(thing: object) -> object:
    """A copy of plain data; of anything else, such as a module, None."""
    if is_tensor(thing):
        return thing.detach().clone()
    return _plain(thing)


def _differs(thing: object, old: object) -> bool:
    if is_tensor(old) and old.equal(thing):  # the quick way; NaN is not equal
        return False
    return difference(_plain(thing), _plain(old), 0, 0) is not None


def _plain(thing: object) -> object:
    try:
        return plain(thing)
    except NotPlain:
        return None
