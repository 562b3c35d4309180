"""The verdict on each task of a submission, given outside the sandbox, with feedback."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

import numpy as np

from classroom.gradebook.store import Result
from classroom.sandbox.examiner import Answers, Flag, Prepared
from classroom.sheets import DEFINES, definitions, sheets
from grading.feedback import messages
from grading.feedback.judge import judge
from grading.feedback.verdict import Verdict
from grading.runner.outcome import Status
from grading.runner.tensors import is_tensor
from grading.task import CODE, Task

try:
    import resource
except ImportError:  # Windows, where only the tests of the parts run
    resource = None

JUDGING_MEMORY = 8 << 30
CHECK = re.compile(r"^[ \t]*check\(", re.MULTILINE)
UNTOUCHED = re.compile(r"\A(?:\w+[ \t]*=[ \t]*)?\.\.\.[ \t]*(?:#.*)?")
"""What a sheet has in place of an answer: three dots, and a comment on the same line."""
SYNTAX = re.compile(r"\b(?:SyntaxError|IndentationError|TabError)\b")
MERGE = "<<<<<<<"
MOST_NAMES = 1_000
"""How many names are compared with a task's."""
LONGEST = 4_000
SHOWN = 800
"""How many characters of an input are shown."""


def results_of(
    answers: Answers, tasks: Sequence[Prepared], cells: Sequence[str] = ()
) -> list[Result]:
    """The verdict on each task; expected values exist only here, outside the sandbox.

    Args:
        cells: the student's code cells: what each task's answer is, and what kept it from running.
    """
    own = definitions(cells, {prepared.task.name for prepared in tasks})
    results = []
    for prepared in tasks:
        task = prepared.task
        result = Result(task.name, 0, task.points, answers.failed.get(task.name, ""))
        result.answer = own.get(task.name, "")
        outcomes, verdict = answers.outcomes.get(task.name), None
        if not result.message and outcomes is not None:
            try:
                with _memory_limit():
                    verdict = judge(task, prepared.cases, outcomes, prepared.baseline)
            except Exception as error:
                answers.flags.add(Flag.NOT_JUDGED)
                result.message = f"The result could not be judged ({type(error).__name__})."
            else:
                result.points, result.mistake = verdict.points, verdict.mistake
                result.message, result.review = verdict.message, verdict.needs_review
                result.part = verdict.part
                if verdict.needs_review:
                    result.answer = outcomes[0].value
        if task.kind == "written" and not result.review:
            # Curly or inner quotation marks break the cell; what was written still is an answer.
            # So does one in a comment, which the sheet's own lines leave over.
            whole = result.answer
            result.answer = written_text(task.name, cells) or whole
            said, beside = UNTOUCHED.sub("", result.answer), beside_template(task, whole)
            if _words(said) < 3 <= _words(beside):
                result.answer = said = beside
            result.review = _words(said) >= 3
        if result.points < task.points and not result.review:
            result.input = failing_input(prepared, verdict)
            why = cause(task.name, verdict, cells, answers.notes)
            status = verdict and verdict.status
            if status is Status.MISSING:
                said = why or messages.not_in_notebook(task.name, similar(task, cells))
                broken = SYNTAX.search(why)
                answers.flags |= {Flag.BROKEN_CELL} if broken else set()
            elif status is Status.UNWRITTEN:
                said = messages.left_open(task.name)
            else:
                said = f"{result.message}\n{why}".strip()
            result.message = said
        if len(result.message) > LONGEST:
            result.message = result.message[:LONGEST] + "…"
        results.append(result)
    return results


def similar(task: Task, cells: Sequence[str]) -> str:
    """A name that the cells define and that is nearly a task's; not that of another task."""
    names = {name for cell in cells for pair in DEFINES.findall(cell) for name in pair}
    sheet = sheets().get(task.lecture)
    names -= {item.task for item in sheet.items} if sheet else set()
    return next(iter(get_close_matches(task.name, sorted(names)[:MOST_NAMES], 1, 0.8)), "")


def written_text(name: str, cells: Sequence[str]) -> str:
    """The student's text after `name =`, from the last cell that has it."""
    begins = re.compile(rf"^[ \t]*{name}[ \t]*=(?!=)", re.MULTILINE)
    found = ""
    for cell in cells:  # each search goes on where the last one ended: linear in what was written
        end = 0
        while begin := begins.search(cell, end):
            check = CHECK.search(cell, begin.end())
            end = check.start() if check else len(cell)
            found = cell[begin.end() : end].strip()
    return found


def beside_template(task: Task, cell: str) -> str:
    """The lines of a cell that the sheet does not have, without the task's name and its dots."""
    sheet = sheets().get(task.lecture)
    template = sheet.template.get(task.name, "") if sheet else ""
    if not template:  # a task of the lecturer's own
        return ""
    own = set(template.splitlines())
    lines = "\n".join(line for line in cell.splitlines() if line not in own)
    return re.sub(rf"^{task.name}\s*=\s*\.\.\.", "", lines, flags=re.MULTILINE).strip()


def _words(text: str) -> int:
    return len(re.findall(r"\w+", text))


def failing_input(prepared: Prepared, verdict: Verdict | None) -> str:
    """The input of the case that the verdict is about; without a verdict, that of the only case."""
    task = prepared.task
    if task.kind not in (*CODE, "train"):
        return ""
    number = verdict.case if verdict else None
    if number is None and len(prepared.cases) > 1:
        return ""
    args = prepared.cases[number or 0].args
    names = list(inspect.signature(task.harness or task.reference).parameters)[bool(task.harness) :]
    with np.printoptions(precision=4, suppress=True, threshold=60):
        shown = [f"{name} = {_shown(arg)}" for name, arg in zip(names, args, strict=False)]
    return "\n".join(text if len(text) < SHOWN else text[:SHOWN] + "…" for text in shown)


def _shown(arg: object) -> str:
    array = arg.detach().numpy() if is_tensor(arg) else arg
    if isinstance(array, np.ndarray):
        return f"{np.array2string(array, separator=', ')}  # shape {array.shape}"
    return repr(arg)


def cause(
    name: str, verdict: Verdict | None, cells: Sequence[str], notes: Mapping[int, str]
) -> str:
    """A sentence about the unfinished cell that was to define the answer or a name it needs."""
    undefined = verdict.outcome.undefined if verdict and verdict.outcome else ""
    for word in dict.fromkeys(filter(None, [name, undefined])):
        makes = re.compile(
            rf"^[ \t]*(?:(?:async )?(?:def|class)[ \t]+{word}\b|{word}[ \t]*=[^=]"
            rf"|(?:from|import)\b.*\b{word}\b)",
            re.MULTILINE,
        )
        stopped = [i for i in notes if i < len(cells) and makes.search(cells[i])]
        if stopped:
            merge = MERGE in cells[stopped[-1]]
            said = f"The cell that defines `{word}` did not finish. {notes[stopped[-1]]}"
            return said + "\nThe cell contains the marks of an unfinished merge." * merge
    return ""


@contextlib.contextmanager
def _memory_limit() -> Iterator[None]:
    """Bound the memory of a comparison, since a result may have an odd shape."""
    if resource is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    bound = JUDGING_MEMORY if hard == resource.RLIM_INFINITY else min(JUDGING_MEMORY, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses
        resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
