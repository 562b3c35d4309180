"""What a run must not do or leave behind: forbidden calls, changed global state, threads."""

from __future__ import annotations

import contextlib
import functools
import importlib
import random
import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from grading.runner.tensors import torch_if_there

ABSENT = object()
"""Stands for an attribute that a module or a class does not have."""


class ForbiddenCall(Exception):
    """The answer called a function that the task forbids; the text is its dotted name."""


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Restore the global state afterwards: seeds, default precision, gradients."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    if torch := torch_if_there():
        state, dtype = torch.get_rng_state(), torch.get_default_dtype()
        grad = torch.is_grad_enabled()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        if torch:
            torch.set_rng_state(state)
            torch.set_default_dtype(dtype)
            torch.set_grad_enabled(grad)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Models as small as the tasks' gain nothing from several threads: these hinder each other."""
    torch = torch_if_there()
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


_FORBIDDING = threading.RLock()
"""One ban at a time: threads that put functions back in turn would leave one banned for good."""


@contextlib.contextmanager
def forbid(names: Sequence[str], answer: object) -> Iterator[None]:
    """While the answer runs, calling one of these functions raises `ForbiddenCall`.

    Also where the student imported it under a name of their own, or it is the answer itself.
    """
    spaces = _globals_of(answer)
    with _FORBIDDING, contextlib.ExitStack() as stack:
        for name in names:
            owner, attribute = _resolve(name)
            original = getattr(owner, attribute)
            if answer is original:
                raise ForbiddenCall(name)
            refuse = _refusal(name)
            stack.enter_context(replaced(owner, attribute, refuse))
            for space in spaces:
                stack.enter_context(_replaced_in(space, original, refuse))
        yield


def _refusal(name: str) -> Callable[..., None]:
    """A function that takes the place of a forbidden one."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise ForbiddenCall(name)

    return refuse


def _globals_of(answer: object) -> list[dict]:
    """The global names that an answer sees: those of functions and of the methods of classes.

    A decorator and `functools.partial` are looked through, since their own globals are others.
    """
    spaces: dict[int, dict] = {}
    seen: set[int] = set()
    todo = [answer]
    while todo:
        thing = todo.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        space = getattr(thing, "__globals__", None)
        if space is not None:
            spaces[id(space)] = space
        elif type(thing) is not type:
            todo.append(type(thing))
        todo += [getattr(thing, name) for name in ("__wrapped__", "func") if hasattr(thing, name)]
        if isinstance(thing, type) or thing is answer:
            todo += filter(callable, getattr(thing, "__dict__", {}).values())
    return list(spaces.values())


def _calls(value: object, original: object) -> bool:
    """Whether a value is a function, or `functools.partial` of it, bound to some arguments."""
    return value is original or (type(value) is functools.partial and value.func is original)


@contextlib.contextmanager
def replaced(owner: object, attribute: str, other: object) -> Iterator[None]:
    """Something else under this name, in a module or a class. (`unittest.mock` loads slowly.)"""
    original = vars(owner).get(attribute, ABSENT)
    setattr(owner, attribute, other)
    try:
        yield
    finally:
        if original is ABSENT:  # a class that has it from its base
            delattr(owner, attribute)
        else:
            setattr(owner, attribute, original)


@contextlib.contextmanager
def _replaced_in(space: dict, original: object, refuse: object) -> Iterator[None]:
    """A refusal under every name of a function; what else is defined meanwhile stays."""
    before = {key: value for key, value in space.items() if _calls(value, original)}
    space.update(dict.fromkeys(before, refuse))
    try:
        yield
    finally:
        for key, value in list(space.items()):
            if value is refuse:  # also under a name that the answer gave it
                space[key] = before.get(key, original)


def _resolve(name: str) -> tuple[object, str]:
    """The object that holds a dotted name, and the attribute: a module, or a class in one."""
    path, _, attribute = name.rpartition(".")
    try:
        return importlib.import_module(path), attribute
    except ModuleNotFoundError:
        module, _, owner = path.rpartition(".")
        return getattr(importlib.import_module(module), owner), attribute
