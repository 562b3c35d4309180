"""Running an answer on cases, and the verdict on what came out.

The two are apart on purpose: a class grader runs answers inside a sandbox, where only plain data
comes out, and gives the verdict outside.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import importlib
import inspect
import io
import linecache
import math
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from grading import evidence, parts
from grading.parts import Earned
from grading.plain import NotPlain, describe_type, difference, plain
from grading.stop import line_of
from grading.task import CODE, Case, Task
from grading.tensors import is_tensor, torch_if_there
from grading.watch import Watch

MISSING = object()
"""Stands for an answer that is not there."""
UNWRITTEN = (" yet. Run the cell", "is not written yet")
"""By these words a student, or a program, sees that nothing was tried so far."""
COPY = "work on a copy."
RIGHT_BUT = "The result is right, but"
"""How the sentence begins about a result that is right where something was changed in place."""
SAID: dict[evidence.Sure, str] = {
    "all agrees": "What went wrong:",
    "most agrees": "It looks like this:",
    "the error only": "A frequent cause of this:",
}
"""How a known mistake is introduced, by how well it fits."""
STOPS = "It stops with"
"""How the sentence about an error begins; a known mistake may stop with the same one."""
REFUSED = "It cannot be judged:"
"""How it begins where nothing stopped: the check itself says what it cannot use."""


@dataclass(frozen=True)
class Outcome:
    """What one run of an answer gave: plain data, or a sentence that says why there is none."""

    value: object = None
    error: str = ""
    changed: tuple[int, ...] = ()
    """Positions of the arguments that the answer changed in place."""
    printed: str = ""
    """What the answer printed, as far as it is kept. The class grader does not have it."""
    noticed: str = ""
    """What else a call changed though it is not its own, where a task drives the answer."""
    at: str = ""
    """The line of the student's code that stopped. Told, and never compared."""


@dataclass(frozen=True)
class Verdict:
    """Points, and what to tell the student."""

    points: float
    message: str
    mistake: int | None = None
    """Which known mistake it was, if one fits."""
    review: bool = False
    """Whether a person has to read the answer."""
    printed: str = ""
    """What the answer printed on the case that the message is about."""
    part: str = ""
    """Why it is a part of the points, and which."""


class ForbiddenCall(Exception):
    """The answer called a function that the task forbids."""


KEPT_LINES, KEPT = 20, 2_000
"""How much is kept of what an answer prints on one case: lines, and characters."""


class _Drain(io.TextIOBase):
    """Takes what an answer prints, and warnings with it, and keeps the beginning."""

    def __init__(self) -> None:
        self.left = 10_000_000
        self.kept = ""

    def write(self, text: str) -> int:
        self.left -= len(text)
        if self.left < 0:
            raise RuntimeError("it prints more than 10 million characters")
        self.kept += text[: KEPT + 1 - len(self.kept)]
        return len(text)

    def warn(self, message: object, category: type, filename: str, lineno: int, *_: object) -> None:
        """Stands for `warnings.showwarning`: the warning, and the line that it is about."""
        line = linecache.getline(filename, lineno).strip()
        said = str(message).partition(" (Triggered internally at ")[0]  # a place in torch's source
        self.write(f"{category.__name__}: {said}\n" + (f"  in {line}\n" if line else ""))

    def beginning(self) -> str:
        """The first lines, and a sign if there was more."""
        shown = "\n".join(self.kept[:KEPT].splitlines()[:KEPT_LINES])
        return shown if shown == self.kept.rstrip("\n") else shown + "\n…"


def run(task: Task, answer: object, cases: Sequence[Case], torch_seed: int = 0) -> list[Outcome]:
    """Run an answer on every case. Nothing that it raises gets out."""
    return [_run_one(task, answer, case, torch_seed) for case in cases]


def _run_one(task: Task, answer: object, case: Case, torch_seed: int) -> Outcome:
    if answer is MISSING:
        return Outcome(error=f"There is no {task.name} yet. Run the cell that defines it.")
    if answer is ...:
        return Outcome(error=f"{task.name} is not written yet.")
    if task.kind in ("predict", "choose", "written"):
        try:
            return Outcome(plain(answer))
        except NotPlain as error:
            return Outcome(error=f"{task.name} is {error}.")
    if not callable(answer):
        return Outcome(
            error=f"{task.name} is {describe_type(answer)}, but it should be a function."
        )
    args, drain, watch = _fresh(case.args), _Drain(), Watch()
    before, result, sentence, at = plain(args), None, "", ""
    try:
        with (
            _restored(),
            _one_thread() if task.kind == "train" else contextlib.nullcontext(),
            _forbid(task.forbidden, answer),
            contextlib.redirect_stdout(drain),
            warnings.catch_warnings(),
        ):
            warnings.showwarning = drain.warn
            random.seed(torch_seed)
            np.random.seed(torch_seed)  # noqa: NPY002
            if torch := torch_if_there():
                torch.default_generator.manual_seed(torch_seed)  # no accelerators are asked
            value = task.drive(watch.over(answer), *args) if task.drive else answer(*args)
            result = plain(value)
    except ForbiddenCall as error:
        sentence = f"It calls {error}, which this task is about: write that part yourself."
    except NotPlain as error:
        sentence = f"It returns {error}."
    except (Exception, SystemExit) as error:
        trace = sys.exc_info()[2]  # not the error's own, whose class may be the student's
        began, at = f"{STOPS} {type(error).__name__}:", line_of(trace)
        if task.drive and _raised_in(task.drive, trace):
            began, at = REFUSED, ""
        sentence = f"{began} {_one_line(error)}"
        if type(error) is NotImplementedError and not str(error):
            sentence, at = f"{task.name} is not written yet.", ""
    if sentence:
        return Outcome(error=sentence, printed=drain.beginning(), at=at)
    pairs = enumerate(zip(before, args, strict=True))
    changed = tuple(i for i, (old, arg) in pairs if _is_other(arg, old))
    return Outcome(result, changed=changed, printed=drain.beginning(), noticed=watch.noticed)


def _raised_in(drive: Callable[..., object], trace: TracebackType | None) -> bool:
    """Whether a `raise` of `drive` itself, or of a function in it, is where an error arose.

    Not one of the answer's, nor of a library that `drive` called.
    """
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not inspect.isfunction(drive):
        return False
    code, own = trace.tb_frame.f_code, drive.__code__
    inside = f"{code.co_qualname}.".startswith(f"{own.co_qualname}.")
    raises = code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]
    return raises and inside and code.co_filename == own.co_filename


def _is_other(arg: object, old: object) -> bool:
    """Whether an argument is no longer what it was, or no longer plain data at all."""
    try:
        return difference(plain(arg), old, 0, 0) is not None
    except (NotPlain, RecursionError):
        return True


def judge(
    task: Task,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    known: dict | None = None,
) -> Verdict:
    """The verdict on what an answer gave on these cases.

    Told is the first case that is wrong, of those on which the known mistakes differ: a case so
    small that many of them look alike says little. `known` keeps what the model answer and the
    known mistakes gave, for the next answer.
    """
    known = {} if known is None else known
    if task.kind == "choose":
        return _judge_choice(task, outcomes[0])
    if task.kind == "written":
        return _judge_text(task, outcomes[0])
    complaints = [_complaint(task, cases, i, outcomes[i], known) for i in range(len(cases))]
    wrong = [i for i, complaint in enumerate(complaints) if complaint]
    if wrong:
        found = _known_mistake(task, cases, outcomes, known) if _ran(task, outcomes) else None
        number = _case_to_tell(wrong, found, known.get(TOGETHER))
        outcome, note = outcomes[number], cases[number].note
        complaint = complaints[number]
        if len(cases) > 1:
            note = f" ({note})" if note else ""
            complaint = f"On case {number + 1} of {len(cases)}{note}: {complaint}"
        besides = _changed(task, outcome)
        if besides and not complaint.endswith(COPY):
            complaint += f"\nAlso, {besides}, which may be the cause: {COPY}"
        which = None
        if found is not None:
            complaint += f"\n{SAID[found.sure]} {task.mistakes[found.which].why}"
            which = None if found.sure == "the error only" else found.which
        elif task.pairs is not None and _ran(task, outcomes):
            complaint += _two_at_once(task, cases, outcomes, known)
        earned = _earned(task, cases, outcomes, complaints, known)
        return _verdict(task, earned, complaint, which, outcome.printed)
    if task.score is None:
        return Verdict(task.points, "Right.")
    pairs = zip(cases, outcomes, strict=True)
    least = min(float(task.score(case.args, outcome.value)) for case, outcome in pairs)
    reached, _, wanted = _told(task, least)
    return Verdict(task.points, f"Right. It reaches {reached}; {wanted} was wanted.")


def _verdict(
    task: Task, earned: Earned, message: str, mistake: int | None = None, printed: str = ""
) -> Verdict:
    """The verdict on an answer that is not right, with the points for what is right in it."""
    points = earned.of(task.points)
    part = f"Partial points: {earned.why}" if points else ""
    return Verdict(points, message, mistake, printed=printed, part=part)


def _earned(
    task: Task,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    complaints: Sequence[str | None],
    known: dict,
) -> Earned:
    """What is right in an answer that is not."""
    if not _ran(task, outcomes) or task.score is not None:
        return Earned()
    if task.kind == "predict":
        return parts.of_entries(task, outcomes[0].value)
    clean = [not _changed(task, outcome) for outcome in outcomes]
    right = [c is None or c.startswith(RIGHT_BUT) for c in complaints]
    given = None
    if task.kind == "find the bug":
        ours = (
            [_ours(task, which, cases, i, known) for which in (MODEL, 0)] for i in range(len(cases))
        )
        given = [same(task, *pair) for pair in ours]
    return parts.of_code(parts.kinds(cases), right, clean, given)


_kept: dict[tuple[str, int], tuple[Task, dict]] = {}
"""What the model answer and the known mistakes of a task gave, by its name and the seed."""


def grade(
    task: Task, answer: object, seed: int, looking: Callable[[], None] | None = None
) -> Verdict:
    """Run an answer on the cases of a seed and judge it, in this process.

    `looking` is called each time that a known mistake has to be run.
    """
    cases, known = task.cases(seed), kept(task, seed)
    known[LOOKING] = looking
    return judge(task, cases, run(task, answer, cases), known)


def kept(task: Task, seed: int) -> dict:
    """What `grade` keeps of the model answer and the known mistakes on the cases of a seed."""
    if _kept.get((task.name, seed), (None,))[0] is not task:
        _kept[task.name, seed] = task, {}
    return _kept[task.name, seed][1]


MODEL = -1
"""Stands for the model answer, where a number stands for a known mistake."""
LOOKING = "looking"
"""Under this, what is called when a known mistake is run."""
PAIRS = "pairs"
"""Under this, answers with two known mistakes are kept."""
TOGETHER = "together"
"""Under this, what they gave on all cases is kept."""


def _ours(
    task: Task,
    which: int,
    cases: Sequence[Case],
    number: int,
    known: dict,
) -> Outcome:
    """What the model answer or a known mistake gives on one case."""
    if (which, number) not in known:
        answer = task.reference if which == MODEL else task.mistakes[which].answer
        if which != MODEL and known.get(LOOKING):
            known[LOOKING]()
        [known[which, number]] = run(task, answer, [cases[number]])
    return known[which, number]


def _complaint(
    task: Task, cases: Sequence[Case], number: int, outcome: Outcome, known: dict
) -> str | None:
    """What is wrong with one outcome, or None."""
    case = cases[number]
    if outcome.error:
        return f"{outcome.error}\n  in {outcome.at}" if outcome.at else outcome.error
    if outcome.value is None and task.kind != "predict":
        return f"{task.name} returns None. Is a return statement missing, or the code itself?"
    if task.score is not None:
        try:
            reached = float(task.score(case.args, outcome.value))
        except Exception:
            return f"{task.name} returns {describe_type(outcome.value)}, which cannot be scored."
        if not reached >= task.reach:
            broken = _broken(task, case.args, outcome.value)
            if broken and reached == 0:
                return broken
            told, most, wanted = _told(task, reached)
            wanted = f"It reaches {told}; the goal is {most} {wanted}."
            return f"{wanted} {broken}" if broken else wanted
        return None
    expected = _ours(task, MODEL, cases, number, known)
    where = task.name if task.kind == "predict" else "the result"
    wrong = difference(outcome.value, expected.value, task.rtol, task.atol, where)
    if wrong and task.kind == "predict":
        return _without_the_answer(wrong)
    if wrong:
        broken = _broken(task, case.args, outcome.value)
        ours = task.drive is not None and wrong.startswith("result['")  # a name of the check's own
        return (
            f"{broken} ({wrong})" if broken and not ours and "\n" not in wrong else broken or wrong
        )
    besides = _changed(task, outcome)
    return f"{RIGHT_BUT} {besides}: {COPY}" if besides else None


def _told(task: Task, score: float) -> tuple[str, str, str]:
    """A score, "at least" or "at most", and what is wanted, as the student is told."""
    if not task.nats:
        return _apart(score, task.reach), "at least", f"{task.reach:g}"
    above, most = -math.log(max(score, 1e-9)), -math.log(task.reach)
    return f"{_apart(above, float(f'{most:.2g}'))} nats above the floor", "at most", f"{most:.2g}"


def _apart(number: float, limit: float) -> str:
    """A number with three digits behind the point, or as many as tell it from the limit."""
    digits = range(3, 7)
    told = (f"{number:.{n}f}" for n in digits if number == limit or round(number, n) != limit)
    return next(told, f"{number:.{digits[-1]}f}")


def _changed(task: Task, outcome: Outcome) -> str:
    """What was changed that is not the answer's own, by the names that the task has for it."""
    if not outcome.changed:
        return outcome.noticed
    names = list(inspect.signature(task.drive or task.reference).parameters)
    names = names[1:] if task.drive else names  # the first one of `drive` is the answer
    changed = [f"`{names[i]}`" for i in outcome.changed]
    return f"{' and '.join(changed)} {'were' if len(changed) > 1 else 'was'} changed in place"


FORMS = ("a ", "an ", "None", "shape ", "numbers", "whole numbers", "booleans")


def _without_the_answer(sentence: str) -> str:
    """What came, but not the value that was expected: it would only have to be copied.

    Which form is wanted (type, size, shape) may be told.
    """
    came, _, wanted = sentence.rpartition("; expected ")
    return sentence if wanted.startswith(FORMS) else f"{came}: this is not right."


def _broken(task: Task, args: tuple, value: object) -> str | None:
    """The first property that does not hold, as a sentence."""
    sentences = (_property_sentence(p, args, value) for p in task.properties)
    return next(filter(None, sentences), None)


def _property_sentence(check, args: tuple, value: object) -> str | None:
    try:
        return check(args, value)
    except Exception:  # the result has a form for which the property makes no sense
        return None


def _ran(task: Task, outcomes: Sequence[Outcome]) -> bool:
    """Whether the outcomes are those of an answer that is there and was allowed to run."""
    return all(
        not o.error or (task.kind in CODE and o.error.startswith((STOPS, REFUSED)))
        for o in outcomes
    )


def _known_mistake(
    task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome], kept: dict
) -> evidence.Named | None:
    """The known mistake that the outcomes show."""
    if task.score is not None:  # the model answer trains for long, and is not needed
        if any(outcome.value is None and not outcome.error for outcome in outcomes):
            return None  # nothing was trained: no mistake has to be, to say so
        for which in range(len(task.mistakes)):
            theirs = (_ours(task, which, cases, i, kept) for i in range(len(cases)))
            if all(same(task, a, b) for a, b in zip(outcomes, theirs, strict=True)):
                return evidence.Named(which, "all agrees", tuple(range(len(cases))))
        return None

    def equal(one: Outcome, other: Outcome) -> bool:
        return same(task, one, other)

    if TOGETHER not in kept:
        right, *wrong = (
            [_ours(task, which, cases, i, kept) for i in range(len(cases))]
            for which in range(MODEL, len(task.mistakes))
        )
        kept[TOGETHER] = evidence.known(
            right, wrong, [mistake.why for mistake in task.mistakes], equal
        )
    together = kept[TOGETHER]
    found = evidence.named(
        outcomes, together, equal, lambda o: o.error.startswith((STOPS, REFUSED))
    )
    return found or (_among_others(task, outcomes[0].value) if task.kind == "predict" else None)


def _two_at_once(task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome], kept: dict) -> str:
    """The two known mistakes that together give just this; of several such pairs, what all hold.

    Nothing where all that came is an error.
    """
    if all(outcome.error for outcome in outcomes):
        return ""
    if PAIRS not in kept:
        kept[PAIRS] = list(task.pairs())
    fits: list[tuple[str, str]] = []
    for number, pair in enumerate(kept[PAIRS]):

        def theirs(i: int, answer: object = pair.answer, key: tuple = (PAIRS, number)) -> Outcome:
            if (*key, i) not in kept:
                if kept.get(LOOKING):
                    kept[LOOKING]()
                [kept[*key, i]] = run(task, answer, [cases[i]])
            return kept[*key, i]

        if all(same(task, theirs(i), outcome) for i, outcome in enumerate(outcomes)):
            fits.append(pair.whys)
    first = dict.fromkeys(fits[0]) if fits else ()
    both = [why for why in first if all(why in others for others in fits)]
    said = {0: "", 1: "\nThere seem to be two mistakes. One is this:", 2: "\nTwo mistakes:"}
    return " ".join([said[len(both)], *both])


def _among_others(task: Task, got: object) -> evidence.Named | None:
    """The known mistake behind the first wrong entry of a list in which more than it is wrong.

    All entries in which this mistake differs from the right answer must have come.
    """
    want = task.reference
    if not all(isinstance(x, list | tuple) for x in (got, want)) or len(got) != len(want):
        return None

    def differs(one: Sequence, other: Sequence) -> set[int]:
        pairs = enumerate(zip(one, other, strict=True))
        return {i for i, pair in pairs if difference(*pair, task.rtol, task.atol)}

    wrong, fits = differs(got, want), {}
    for which, mistake in enumerate(task.mistakes):
        theirs = mistake.answer
        if isinstance(theirs, list | tuple) and len(theirs) == len(want):
            shown = differs(theirs, want)
            if min(wrong) in shown and not shown & differs(got, theirs):
                fits.setdefault(mistake.why, which)
    return evidence.Named(min(fits.values()), "most agrees", (0,)) if len(fits) == 1 else None


def _case_to_tell(
    wrong: Sequence[int], found: evidence.Named | None, known: evidence.Known | None
) -> int:
    """The case that the student is told about.

    One that shows the mistake that is named; and the first on which the known mistakes differ.
    """
    shown = [i for i in wrong if found is None or i in found.cases] or list(wrong)
    most = max(known.kinds) if known else 1
    return next((i for i in shown if known and 3 * known.kinds[i] >= most), shown[0])


def same(task: Task, one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes cannot be told apart."""
    if one.error or other.error:
        return one.error == other.error
    equal = difference(one.value, other.value, task.rtol, task.atol) is None
    return equal and (one.changed, one.noticed) == (other.changed, other.noticed)


def _judge_choice(task: Task, outcome: Outcome) -> Verdict:
    """Give the reason of the first option that was chosen wrongly, and count the others.

    Only one, or ticking every option would show every reason.
    """
    reasons = {mistake.answer: mistake.why for mistake in task.mistakes}
    letters = outcome.value
    if outcome.error or not _are_texts(letters):
        wanted = f'Write the letters that you choose as a set: {task.name} = {{"a", "b"}}.'
        return Verdict(0, outcome.error or wanted)
    chosen, right = set(letters), set(task.reference)
    strange = chosen - set(reasons)
    if strange or not chosen:
        came = f"holds {sorted(map(str, strange))}" if strange else "is empty"
        return Verdict(0, f"{task.name} {came}; the options are {', '.join(sorted(reasons))}.")
    wrong, left_out = sorted(chosen - right), len(right - chosen)
    if not wrong and not left_out:
        return Verdict(task.points, "Right.")
    earned = parts.of_slips(len(wrong) + left_out, "letter")
    if not wrong:
        hold = "option is right" if left_out == 1 else "options are right"
        return _verdict(task, earned, f"Your choices are right, but {left_out} more {hold}.")
    said, more = f"({wrong[0]}) is not right: {reasons[wrong[0]]}", len(wrong) - 1 + left_out
    if more:
        said += f"\n{more} more {'choice is' if more == 1 else 'choices are'} wrong or missing."
    return _verdict(task, earned, said)


def _are_texts(letters: object) -> bool:
    return isinstance(letters, set | list | tuple | str) and all(type(x) is str for x in letters)


def _judge_text(task: Task, outcome: Outcome) -> Verdict:
    """What a person writes, a person reads."""
    if outcome.error or not isinstance(outcome.value, str) or not outcome.value.strip():
        return Verdict(0, outcome.error or f"{task.name} is not written yet: write a text.")
    return Verdict(0, "A person reads this answer and gives the points.", review=True)


def _fresh(args: tuple) -> tuple:
    """Copies of the arguments, so that no case sees what an answer did to another."""
    return tuple(arg.clone() if is_tensor(arg) else copy.deepcopy(arg) for arg in args)


@contextlib.contextmanager
def _restored() -> Iterator[None]:
    """Give the global state back as it was: seeds, default precision, gradients."""
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
def _one_thread() -> Iterator[None]:
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


@contextlib.contextmanager
def _forbid(names: Sequence[str], answer: object) -> Iterator[None]:
    """While the answer runs, calling one of these functions raises `ForbiddenCall`.

    Also where the student imported it under a name of their own, or it is the answer itself.
    """

    def refusal(name: str):
        def refuse(*args: object, **kwargs: object) -> None:
            raise ForbiddenCall(name)

        return refuse

    space = getattr(answer, "__globals__", None)
    if space is None:  # a class: the names its methods see
        methods = (
            getattr(v, "__globals__", None) for v in getattr(answer, "__dict__", {}).values()
        )
        space = next(filter(None, methods), {})
    with contextlib.ExitStack() as stack:
        for name in names:
            owner, attribute = _resolve(name)
            original = getattr(owner, attribute)
            if answer is original:
                raise ForbiddenCall(name)
            refuse = refusal(name)
            own = {key: refuse for key, value in space.items() if value is original}
            stack.enter_context(_replaced(owner, attribute, refuse))
            stack.enter_context(_with_names(space, own))
        yield


@contextlib.contextmanager
def _replaced(owner: object, attribute: str, other: object) -> Iterator[None]:
    """Something else under this name, in a module or a class. (`unittest.mock` loads slowly.)"""
    original = vars(owner).get(attribute, MISSING)
    setattr(owner, attribute, other)
    try:
        yield
    finally:
        if original is MISSING:  # a class that has it from its base
            delattr(owner, attribute)
        else:
            setattr(owner, attribute, original)


@contextlib.contextmanager
def _with_names(space: dict, own: Mapping[str, object]) -> Iterator[None]:
    """Other values under these names; afterwards all names are as they were."""
    original = dict(space)
    space.update(own)
    try:
        yield
    finally:
        space.clear()
        space.update(original)


def _resolve(name: str) -> tuple[object, str]:
    """The object that holds a dotted name, and the attribute: a module, or a class in one."""
    path, _, attribute = name.rpartition(".")
    try:
        return importlib.import_module(path), attribute
    except ModuleNotFoundError:
        module, _, owner = path.rpartition(".")
        return getattr(importlib.import_module(module), owner), attribute


def _one_line(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # a class of the student's
        text = "(its text cannot be read)"
    return text if len(text) <= 200 else text[:199] + "…"
