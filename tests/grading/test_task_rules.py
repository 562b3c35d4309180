"""What a task promises and its file must keep: fresh cases, the ban that it states, reasons."""

import ast
import builtins
import dataclasses
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import textwrap
import types

import nbformat
import numpy as np
import pytest
import torch

import helpers
from classroom.sandbox.serialize import decode, encode
from grading.author import functions_of
from grading.feedback.baseline import Baseline
from grading.feedback.findings import on_text
from grading.feedback.judge import judge
from grading.runner.compare import difference, plain
from grading.runner.outcome import Outcome
from grading.runner.run import run
from grading.task import CODE, all_tasks, names_by_lecture
from helpers import masks
from tests.conftest import ROOT
from tests.grading import sample_tasks
from tests.grading.mistake_variants import sheet_of

TASKS = sorted(all_tasks().values(), key=lambda task: (task.lecture, task.name))
MARK = re.compile(r"<!-- task: (\w+) -->")
APART = re.compile(  # marks, code, formulas, tables, addresses
    r"<!--.*?-->|```.*?```|\$\$.*?\$\$|`[^`]*`|\$[^$]*\$|^\|.*?$|\]\([^)]*\)"
    r"|^For instance,.*?(?=\n\n|\Z)"  # the example
    r"|^- \(?\**[a-h][.:)].*?(?=^- |\n\n|\Z)"  # what is to be judged
    r"|\([^()\s]+(?:, [^()\s]+)*,?\)",  # shapes
    re.DOTALL | re.MULTILINE,
)
"""What stands beside a statement: signature and example, and what is quoted for the student."""
RUNS = r"\w+"
LONGEST = 120
"""The most words of a statement."""
BAN = re.compile(r"\b[Dd]o not (?:call|use) (?:[^.:|]|\.\w)*")
TORCH = {
    "torch": torch,
    "torch.Tensor": torch.Tensor,
    "torch.nn.functional": torch.nn.functional,
    "torch.special": torch.special,
}
HELPERS = {
    module.name: importlib.import_module(module.name)
    for module in pkgutil.walk_packages(helpers.__path__, "helpers.")
}


def statements() -> dict[str, str]:
    """What the notebooks say of each task, without its heading and hints."""
    found = {}
    for path in sorted((ROOT / "solutions").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if mark := MARK.search(cell.source):
                text = cell.source.partition("<!-- hints -->")[0]
                found[mark[1]] = text.partition("<!-- end of task -->")[2]
    return found


WRITTEN = statements()
STATEMENTS = {name: " ".join(text.split()) for name, text in WRITTEN.items()}


def words(text: str) -> list[str]:
    """The words of a statement, beside signature and example."""
    return re.findall(r"[^\W\d_]{2,}(?:['’-]\w+)*|\b[aI]\b", APART.sub(" ", text))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_statement_is_short(task):
    """Who has to read for long forgets what is asked."""
    count = len(words(WRITTEN[task.name]))
    assert 10 <= count <= LONGEST, f"{count} words; at most {LONGEST} beside signature and example"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_hints_do_not_repeat_the_statement(task):
    """Eight words in a row that stand in both are a sentence that helps nobody."""
    said = f" {' '.join(re.findall(RUNS, STATEMENTS[task.name].lower()))} "
    for hint in task.hints:
        run = re.findall(RUNS, hint.lower())
        twice = [" ".join(run[i : i + 8]) for i in range(len(run) - 7)]
        assert not [part for part in twice if f" {part} " in said], hint


def test_a_written_task_knows_how_many_sentences():
    counts = {"four": 4, "six": 6}
    for task in TASKS:
        [path] = (ROOT / "grading/tasks").glob(f"*/{task.name}.py")
        line = rf"^{task.name} = \.\.\.  # (\w+) to \w+ sentences$"
        said = re.search(line, path.read_text(encoding="utf-8"), re.MULTILINE)
        assert task.sentences == (counts[said[1]] if said else 0)
        if task.kind == "written":
            assert on_text(Outcome(value=task.reference), task.sentences) is None


def test_words_excludes_code_formulas_and_examples():
    text = (
        "`f(x)` doubles $x$, (batch, T).\n\n| a | b |\n\n- (a) It does.\n\nFor instance, two.\n\n"
    )
    text += "Do it."
    assert words(text) == ["doubles", "Do", "it"]


def fingerprint(value) -> str:
    """The same for equal arguments."""
    if isinstance(value, torch.nn.Module):
        value = value.state_dict()
    if isinstance(value, torch.Tensor | np.ndarray):
        return str(
            np.asarray(value.detach() if isinstance(value, torch.Tensor) else value).tolist()
        )
    if isinstance(value, dict):
        return str([(key, fingerprint(item)) for key, item in value.items()])
    if isinstance(value, list | tuple):
        return str([fingerprint(item) for item in value])
    if isinstance(value, types.FunctionType):
        return str([fingerprint(cell.cell_contents) for cell in value.__closure__ or ()])
    return repr(value)


@pytest.mark.parametrize("task", [t for t in TASKS if t.kind in CODE], ids=lambda task: task.name)
def test_cases_follow_the_seed(task):
    """Or a student could store the answers that the notebook shows."""
    made = sheet_of(task, 1).cases, task.cases(1), sheet_of(task, 2).cases
    first, again, other = ([fingerprint(case.args) for case in cases] for cases in made)
    assert first == again
    assert first != other


def names_of(name: str, rooms: dict) -> set[str]:
    """Under which dotted names a function of this name is found there."""
    return {f"{room}.{name}" for room in rooms if callable(getattr(rooms[room], name, None))}


def banned(sentence: str) -> tuple[set[str], set[str]]:
    """Dotted names that a sentence of a statement forbids, and names without a place."""
    names = set(re.findall(r"`([\w.]+)`", sentence))
    if "attention function" in sentence:
        names.add("scaled_dot_product_attention")
    if "softmax of" in sentence:
        names.add("softmax")
    dotted = set()
    for module in [name for name in names if name in HELPERS]:
        names.remove(module)
        convert = "that convert" in sentence
        dotted |= {
            function
            for function in functions_of(module)
            if not convert or re.search(r"\.(to|from)_\w+$", function)
        }
    for name in names:
        dotted |= names_of(name, TORCH) if "PyTorch" in sentence else set()
        dotted |= names_of(name, HELPERS) if "helpers" in sentence else set()
    return dotted, names


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_what_the_statement_forbids_is_forbidden(task):
    sentences = BAN.findall(STATEMENTS[task.name])
    assert bool(sentences) == bool(task.forbidden), "the statement and the ban do not agree"
    for sentence in sentences:
        dotted, names = banned(sentence)
        assert dotted <= set(task.forbidden), sentence
        for name in names:
            assert any(f".{function}".endswith(f".{name}") for function in task.forbidden), sentence
        for word, package in (
            ("PyTorch", "torch."),
            ("helpers", "helpers."),
            ("course's own", "h"),
        ):
            if word in sentence:
                assert any(function.startswith(package) for function in task.forbidden), sentence


@pytest.mark.parametrize(
    "task", [t for t in TASKS if names_of(t.name, HELPERS)], ids=lambda task: task.name
)
def test_helper_of_the_same_name_earns_less(task):
    """Where `helpers` has what a student writes, the statement and `forbidden` must exclude it."""
    for dotted in sorted(names_of(task.name, HELPERS) - set(task.forbidden)):
        module, _, name = dotted.rpartition(".")
        mine = task.cases(0)
        outcomes = run(task, getattr(HELPERS[module], name), mine)
        assert judge(task, mine, outcomes).points < task.points, f"{dotted} needs a ban"


@pytest.mark.parametrize("task", [t for t in TASKS if t.forbidden], ids=lambda task: task.name)
def test_ban_covers_every_name_of_a_function(task):
    """`torch.softmax` is also a method, and a function of `torch.nn.functional`."""
    for name in task.forbidden:
        place, _, last = name.rpartition(".")
        if place in TORCH:
            assert names_of(last, TORCH) <= set(task.forbidden)
        if place in HELPERS:
            home = getattr(HELPERS[place], last).__module__
            assert f"{home}.{last}" in task.forbidden


def test_functions_of_lists_the_public_functions():
    public = {
        f"helpers.masks.{name}"
        for name, thing in vars(masks).items()
        if inspect.isfunction(thing) and thing.__module__ == masks.__name__ and name[0] != "_"
    }
    assert set(functions_of("helpers.masks")) == public
    assert "helpers.masks.causal_mask" in public


@pytest.mark.parametrize("task", [t for t in TASKS if t.section], ids=lambda task: task.name)
def test_the_section_of_a_task_stands_in_its_lecture(task):
    [path] = (ROOT / "lectures").glob(f"{task.lecture:02d}_*.ipynb")
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    assert re.search(rf"^##+ {re.escape(task.section)}$", text, re.MULTILINE)


# ------------------------------------------------------------------ in the class grader


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_inputs_of_a_task_can_cross_the_border(task):
    for case in sheet_of(task, 1).cases:
        for arg in case.args:
            back = decode(json.loads(json.dumps(encode(arg))))
            assert type(back) is type(arg)
            assert difference(plain(back), plain(arg), 0, 0) is None


DRIVEN = [task for task in [*TASKS, sample_tasks.TASKS["Scale"]] if task.harness is not None]


@pytest.mark.parametrize("task", DRIVEN, ids=lambda task: task.name)
def test_harness_is_self_contained(task):
    """Only its own source goes into the sandbox: it may use no name of its module."""
    source = textwrap.dedent(inspect.getsource(task.harness))
    assert re.match(r"(@task\.harness\n)?def ", source), "a function written with def"
    tree = ast.parse(source[source.index("def ") :])
    code = compile(tree, "harness", "exec")
    free, todo = set(), [c for c in code.co_consts if inspect.iscode(c)]
    for inner in todo:
        todo += [c for c in inner.co_consts if inspect.iscode(c)]
        used = {i.argval for i in __import__("dis").get_instructions(inner) if "GLOBAL" in i.opname}
        free |= used
    assert free <= set(dir(builtins)) | {task.harness.__name__}


QUICK = [task for task in TASKS if task.kind != "train"]


@pytest.mark.full
@pytest.mark.parametrize("task", QUICK, ids=lambda task: task.name)
def test_verdicts_do_not_depend_on_the_seed_of_torch(task):
    mine = task.cases(11)
    outcomes = run(task, task.reference, mine, torch_seed=7)
    assert judge(task, mine, outcomes).points == (task.points if task.kind != "written" else 0)
    if task.kind == "choose":
        return
    unnamed = dataclasses.replace(task, mistakes=task.mistakes[:1], pairs=None)  # only points
    baseline = Baseline(unnamed, mine)
    for mistake in task.mistakes:
        outcomes = run(task, mistake.answer, mine, torch_seed=7)
        assert judge(unnamed, mine, outcomes, baseline).points < task.points


def test_every_file_of_a_task_is_listed():
    """`check` finds only what the lists name."""
    for lecture, names in names_by_lecture().items():
        folder = ROOT / "grading" / "tasks" / f"lecture_{lecture:02d}"
        files = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
        assert sorted(names) == sorted(files)


def test_a_check_imports_only_its_own_task():
    code = (
        "import sys; from grading.task import load; load('rnn_step'); "
        "print([name for name in sys.modules if name.count('.') == 3 and '.lecture_' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "['grading.tasks.lecture_01.rnn_step']\n", done.stderr


@pytest.mark.parametrize("task", [t for t in TASKS if t.kind in CODE], ids=lambda task: task.name)
def test_several_results_have_names(task):
    """A message can then say which of them are wanted."""
    outcome = sheet_of(task).right[0]
    several = len(outcome.value) if isinstance(outcome.value, tuple) else 0
    assert len(task.results) == several


@pytest.mark.parametrize("task", [t for t in TASKS if t.pairs], ids=lambda task: task.name)
def test_mistakes_in_pairs_do_not_praise_the_rest(task):
    praised = [m.why for m in task.mistakes if re.search(r"\b(is|are) right\b", m.why)]
    assert praised == []
