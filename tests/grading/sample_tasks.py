"""Tasks of every kind, and one submission after another that a class grader must survive."""

from __future__ import annotations

import ast
import contextlib
import inspect
import json
import textwrap
from dataclasses import dataclass, field

import numpy as np
import torch

from grading.feedback.judge import grade
from grading.task import Case, Mistake, Task, all_tasks


def doubled(x):
    return 2 * x


def example(**changes):
    """A task to try the judge on: double an array."""
    fields = {
        "name": "doubled",
        "lecture": 1,
        "kind": "implement",
        "points": 5,
        "minutes": 1,
        "outcome": "double",
        "reference": doubled,
        "cases": lambda seed: [Case((np.arange(n, dtype=float),)) for n in (2, 3)],
    }
    return Task(**fields | changes)


def harness_class(answer, x):
    """Build the class and call what it builds."""
    import torch

    return answer(3)(torch.as_tensor(x))


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return self.by * x


class Shift:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return self.by + x


class Forget:
    def __init__(self, by):
        self.by = 1

    def __call__(self, x):
        return self.by * x


def fit_line(x, y):
    return [float((x * y).sum() / (x * x).sum())]


def closeness(args, value):
    x, y = args
    return 1.0 - float(((value[0] * x - y) ** 2).mean())


def arrays(seed):
    rng = np.random.default_rng(seed)
    return [Case((rng.normal(size=n),), f"{n} numbers") for n in (2, 3)]


def tensors(seed):
    made = torch.Generator().manual_seed(seed)
    return [Case((torch.randn(n, 2, generator=made),)) for n in (1, 3)]


def lines(seed):
    x = torch.linspace(-1, 1, 9)
    return [Case((x, x * (1 + seed % 3)))]


def task(name, kind, reference, lecture=2, points=3, **more):
    return Task(name, lecture, kind, points, 1, "to test", reference, **more)


OPTIONS = tuple(Mistake(letter, f"The reason for {letter}.") for letter in "abc")
SEED = 5
"""Of the hidden cases."""
SLEEPER = "7654.25"
"""Seconds, by which a process left behind is recognised."""
ZOO_ANSWERS = {
    "good": "return 2 * x",
    "nan": "return 2 * x * np.nan",
    "inf": "return 2 * x / 0",
    "dtype": "return x > 0",
    "shape": "return (2 * x)[:, None]",
    "listed": "return [(2 * x).tolist()]",
    "none": "print(2 * x)",
    "liar": "return Liar()",
    "tensor_class": "return torch.as_tensor(2 * x).as_subclass(Sub)",
    "text_class": "return Text('x')",
    "float_class": "return Number(2.0)",
    "false_class": "return FalseClass()",
    "loop": "while True: pass",
    "sleep": "time.sleep(600)",
    "leave": "os._exit(0)",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "exit": "import sys; sys.exit(1)",
    "recursion": "return zoo_recursion(x)",
    "kill_parent": "os.kill(os.getppid(), 9)",
    "kill_all": "os.kill(-1, 9)",
    "block": "return bytearray(64 << 30)",
    "chunks": "kept = []\n    while True: kept.append(np.ones(4_000_000))",
    "huge": "return torch.zeros(10**13)",
    "forks": "while True: os.fork()",
    "processes": "import subprocess\n"
    f"    return [subprocess.Popen(['sleep', '{SLEEPER}']).pid * 0.0 for _ in range(500)]",
    "prints": "print('x' * 20_000_000); return 2 * x",
    "asks": "return input()",
    "changes": "x *= 2\n    return x",
    "rude": "torch.set_default_dtype(torch.float64); np.multiply = None; torch.manual_seed(7)\n"
    "    globals()['zoo_good'] = None; return 2 * x",
    "printed_forever": "while True: os.write(1, b'x' * 60_000)",
    "deep": "deep = []\n    for _ in range(100): deep = [deep]\n    return deep",
    "big": "return np.zeros(10_000_000)",
}

TASKS = {name: t for name, t in all_tasks().items() if name in ("stable_softmax", "query_context")}
for made in (
    task(
        "Scale",
        "find the bug",
        Scale,
        cases=tensors,
        harness=harness_class,
        mistakes=(Mistake(Shift, "Added, not multiplied."), Mistake(Forget, "`by` is forgotten.")),
    ),
    task("pick", "choose", {"a", "c"}, mistakes=OPTIONS),
    task("fit_line", "train", fit_line, cases=lines, score=closeness, threshold=0.99),
    task("essay", "written", "Because of the softmax."),
    *(
        task(f"zoo_{name}", "implement", doubled, lecture=91, points=1, cases=arrays)
        for name in ZOO_ANSWERS
    ),
):
    TASKS[made.name] = made

SHEET = [name for name, made in TASKS.items() if made.lecture == 2]
FULL = sum(TASKS[name].points for name in SHEET if name != "essay")

SOFTMAX = """
def stable_softmax(scores):
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True)
"""
ANSWERS = {
    "stable_softmax": SOFTMAX,
    "query_context": "query_context = [2.0, 1.0]",
    "Scale": textwrap.dedent(inspect.getsource(Scale)),
    "pick": "pick = {'a', 'c'}",
    "fit_line": textwrap.dedent(inspect.getsource(fit_line)),
    "essay": "essay = 'Since rows sum to 1.'",
}
STUBS = {
    "stable_softmax": "def stable_softmax(scores):\n    '''Write it.'''",
    "query_context": "query_context = ...",
    "Scale": "class Scale:\n    pass",
    "pick": "pick = ...",
    "fit_line": "def fit_line(x, y):\n    raise NotImplementedError",
    "essay": "essay = ...",
}
WRONG = {
    "stable_softmax": "def stable_softmax(scores):\n    return np.zeros_like(scores)",
    "query_context": "query_context = [9.0, 9.0]",
    "Scale": "class Scale:\n    def __init__(self, by): pass\n"
    "    def __call__(self, x): return x - 7",
    "pick": "pick = {'b'}",
    "fit_line": "def fit_line(x, y):\n    return [50.0]",
    "essay": "essay = ''",
}
FIRST = """import sys

if "google.colab" in sys.modules:
    %pip install --quiet lamplight
import os, time
import numpy as np
import torch
from grading import check, progress"""


def cells_with(answers=ANSWERS, before=(), after=(), checks=True, first=FIRST):
    """The cells of a notebook in which the answers stand."""
    made = [source + (f'\ncheck("{name}")' if checks else "") for name, source in answers.items()]
    return [first, *before, *made, "progress(2)", *after]


def notebook(cells, **more):
    """A notebook as bytes, with nothing in it that is not needed."""
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": s}
        if isinstance(s, str)
        else s
        for s in cells
    ]
    whole = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": made, **more}
    return json.dumps(whole).encode()


@dataclass
class Trial:
    """A submission, and what it must come to.

    `lost` names the tasks that must get 0, or what `kept` says of their points, while all others
    keep full marks; `flags` and `says` must occur in the flags, and in messages or notes; `never`
    must not.
    """

    row: int
    data: bytes
    lost: tuple[str, ...] = ()
    kept: dict[str, float] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    clean: bool = False
    """Whether there must be no flag at all."""
    seen: dict = field(default_factory=dict)


def with_cell(row, source, **expected):
    """The model answers, after a cell that does something."""
    return Trial(row, notebook(cells_with(before=[textwrap.dedent(source)])), **expected)


def with_answer(row, name, source, **expected):
    """The model answers, but one."""
    answers = ANSWERS | {name: textwrap.dedent(source)}
    return Trial(row, notebook(cells_with(answers)), **expected)


def as_written(name, answer):
    """A function of a task's file as a student would write it: under this name, without marks."""
    source = textwrap.dedent(inspect.getsource(answer))
    if answer.__name__ != "<lambda>":
        function = ast.parse(source).body[0]
        function.decorator_list = []
        return f"{ast.unparse(function)}\n{name} = {answer.__name__}"
    text = source[source.index("lambda") :]
    for end in range(len(text), 0, -1):  # what stands behind it belongs to the call around it
        with contextlib.suppress(SyntaxError):
            if isinstance(ast.parse(text[:end], mode="eval").body, ast.Lambda):
                return f"{name} = {text[:end]}"
    raise ValueError(f"no lambda in {source!r}")


def mistakes():
    """One submission for every known mistake, written as a student would."""
    for name in SHEET:
        for number, mistake in enumerate(TASKS[name].mistakes):
            answer = mistake.answer
            if TASKS[name].kind == "choose":
                if answer in TASKS[name].reference:
                    continue
                answer = TASKS[name].reference | {answer}
                source = f"{name} = {answer!r}"
            elif callable(mistake.answer):
                source = as_written(name, mistake.answer)
            else:
                source = f"{name} = {mistake.answer!r}"
            said = mistake.why.replace("\n", " ")
            kept = {name: grade(TASKS[name], answer, SEED).points}
            yield (
                f"mistake-{name}-{number}",
                with_answer(3, name, source, lost=(name,), kept=kept, says=(said,), clean=True),
            )
