"""Where one small change of the student's own code makes every case right."""

import contextlib
import inspect
import linecache
import sys
import time
import warnings

import numpy as np
import pytest
import torch

from grading import check
from grading.author import Case
from grading.repair import search
from grading.repair.edits import Source
from grading.task import Mistake, load
from tests.grading import sample_tasks
from tests.test_imports import imported, modules


def cell(*sources, **given):
    """What the cells of a notebook define."""
    space = {"__name__": "__main__", "np": np, "torch": torch, **given}
    for source in sources:
        name = f"<cell {hash(source)}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        exec(compile(source, name, "exec"), space)
    return space


def example(**changes):
    def cases(seed):
        return [Case((np.arange(1.0, n + seed),)) for n in (2, 3, 4)]

    return sample_tasks.example(**{"cases": cases} | changes)


def place(source, task=None, name="doubled", seeds=(0, 1), **given):
    return search.locate(task or example(), cell(source, **given)[name], seeds)


SLIPS = {
    "log_softmax": ("sum(axis=-1", "sum(axis=0"),
    "LayerNorm": ("x - x.mean", "x + x.mean"),
    "split_heads": ("transpose(1, 2)", "transpose(2, 3)"),
    "batch_mask": (".tril()", ".triu()"),
    "nucleus": ("dim=-1", "dim=0"),
    "MultiHead": ("k.transpose(-2, -1)", "k.T"),
    "accuracy_by_carries": ("(part, minlength=n + 1)", "(part)"),
    "greedy_sums": ("train(was_training)", "train()"),
}
"""A slip in the model answers of several tasks."""


@pytest.mark.parametrize("name", SLIPS)
def test_planted_slip_is_located(name):
    right, wrong = SLIPS[name]
    task = load(name)
    source = inspect.getsource(task.reference)
    number = next(i for i, line in enumerate(source.splitlines(), 1) if right in line)
    slip = source.replace(right, wrong, 1)
    given = vars(sys.modules[task.reference.__module__]).items()
    answer = cell(slip, **{k: v for k, v in given if not k.startswith("__")})[name]
    found = search.locate(task, answer, (0, 1))
    assert found.line == number
    assert found.part in slip.splitlines()[number - 1]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("return torch.zeros(n)", "return torch.zeros(n, dtype=x.dtype)"),
        ("return torch.zeros(n)", "return torch.zeros(n, dtype=torch.long)"),
        ("return x.to(torch.float16)", "return x.to(torch.float64)"),
        ("return x[:, None]", "return x[..., None]"),
        ("return x[0, n]", "return x[n]"),
        ("return x[n]", "return x[n + 1]"),
        ("return x.weight.train()", "return x.train()"),
        ("return x.train()", "return x.train(n)"),
        ("return x.bincount()", "return x.bincount(minlength=n + 1)"),
        ("return len(x)", "return len(set(x))"),
        ("return x.tril()", "return x.tril(diagonal=-1)"),
        ("return x.argsort()", "return x.argsort(descending=True)"),
        ("return x == n", "return x >= n"),
        ("return x", "return x.swapaxes(0, 1)"),
        ("return x", "return sorted(x)"),
        ("return f(n)", "return f(n + 1)"),
        (
            "y = x.copy()\n    for i in x:\n        y[i] = 1",
            "pass\n    for i in x:\n        y = x.copy()\n        y[i] = 1",
        ),
        (
            "for i in x:\n        y = []\n        y.append(i)",
            "y = []\n    for i in x:\n        y.append(i)",
        ),
    ],
)
def test_slip_has_a_change_that_undoes_it(wrong, right):
    source = Source(f"def f(x, n):\n    {wrong}\n")
    assert f"def f(x, n):\n    {right}\n" in map(source.changed, source.changes())


def test_doubling_is_not_moved_into_a_loop():
    source = Source("def f(x, n):\n    x = x + x\n    for i in range(n):\n        n = i\n")
    assert not [c for c in source.changes() if "        x = x + x" in source.changed(c)]


def test_axis_too_many_and_an_axis_that_is_lost():
    source = "def doubled(x):\n    return np.sum([x, x, x], axis=0)\n"
    assert place(source) == search.Place(2, "[x, x, x]")
    source = "def log_softmax(scores):\n    return scores - np.logaddexp.reduce(scores, axis=-1)\n"
    assert place(source, load("log_softmax"), "log_softmax").line == 2


def test_slip_in_a_function_that_is_used():
    source = """\
print("the cell")

def twice(x):
    return 3 * x


def doubled(x):
    return twice(x)
"""
    assert place(source) == search.Place(4, "3 * x")


@pytest.mark.parametrize(
    "body",
    [
        "    x = 2 * x\n    x = 2 * x\n    return x",
        "    return np.sort(3 * x**2)[::-1]",
    ],
    ids=["two lines", "no line"],
)
def test_nothing_is_said_without_one_line(body):
    assert place(f"def doubled(x):\n{body}\n") is None


def test_repair_must_hold_for_other_seeds():
    """On arrays of the one length, `x + 2` is the double of x."""
    source = "def doubled(x):\n    return x + 3\n"
    task = example(cases=lambda seed: [Case((np.array([2.0 + seed]),))])
    assert place(source, task, seeds=(0,)) == search.Place(2, "x + 3")
    assert place(source, task, seeds=(0, 1)) is None


def test_variants_leave_no_trace(capsys):
    """Globals are copied, the cell does not run again, and nothing that variants print shows."""
    source = """\
ran.append("the cell")
seen = []

def doubled(x):
    print("called")
    seen.append(len(x))
    x *= 2
    return x
"""
    ran = []
    space = cell(source, ran=ran)
    before = dict(space)
    found = search.locate(example(), space["doubled"])
    assert found == search.Place(7, "x *= 2")
    assert ran == ["the cell"] and space["seen"] == [] and space == before
    assert capsys.readouterr() == ("", "") and sys.gettrace() is None


def test_code_with_while_is_left_alone():
    source = "def doubled(x):\n    while False:\n        pass\n    return 3 * x\n"
    assert place(source) is None
    assert place(source.replace("while False", "for _ in []")).line == 4


def test_variants_that_would_not_end_are_stopped():
    source = """\
def doubled(x):
    sums = [0.0]
    for total in sums[:3]:
        sums.append(total)
    return 3 * x
"""
    assert place(source).line == 5


@pytest.mark.parametrize(
    "line",
    ["x = x + [y]", "x += [y]", "x.append(x[-1])", "x[0] = x[1]", "z, x = y, x + [y * 2]"],
)
def test_no_change_makes_a_list_hold_itself_or_double(line):
    """A list of 40 doublings fills the memory, and one that holds itself ends the kernel."""
    source = Source(f"def f(x, y):\n    for z in range(9):\n        {line}\n    return y\n")
    for change in source.changes():
        if change.node.lineno != 3:
            continue
        x, y = [0, 1], 2
        with contextlib.suppress(Exception):
            for _ in range(9):
                exec(source.changed(change).splitlines()[2].strip(), space := {"x": x, "y": y})
                x = space["x"]
        if isinstance(x, list):
            assert len(x) < 30 and not any(each is x for each in x), change.text


def test_search_is_bounded(monkeypatch):
    source = "def doubled(x):\n" + "    x = x + 1 - 1\n" * 200 + "    return 3 * x\n"
    tried = []
    monkeypatch.setattr(search._Search, "_mends", lambda *args: tried.append(args))
    assert place(source) is None
    assert len(tried) == search.CANDIDATES
    monkeypatch.undo()
    short = "def doubled(x):\n    return 3 * x\n"
    assert place(short) == search.Place(2, "3 * x")
    monkeypatch.setattr(search, "STEPS", 200)
    assert place(short) is None


def test_answer_without_source_is_skipped():
    space = {"__name__": "__main__"}
    exec(compile("def doubled(x):\n    return 3 * x\n", "<nowhere>", "exec"), space)
    for answer in (space["doubled"], lambda x: 3 * x, np.negative, sample_tasks.Scale(3)):
        assert search.locate(example(), answer) is None


# ------------------------------------------------------------------ nothing else happens


TWICE = "def doubled(x):\n    for i in range(3):\n        y = i\n    return 2 * x\n"
NEVER = "    return np.sort(3 * x**2)[::-1]\n"
"""No small change makes it right, so that all of them are tried."""


@pytest.mark.parametrize("limit", range(150, 250))
def test_search_that_ends_anywhere_restores_all(limit):
    """Also where the steps run out while the output and the warnings are put back."""
    text, space = search._source_of(cell(TWICE)["doubled"])
    trial = search._Search(example(), "doubled", text, space, (0,), until=float("inf"))
    before = sys.stdout, warnings.showwarning, list(warnings.filters)
    try:
        trial._tried(TWICE, 0, [0, 1, 2], limit)
        assert (sys.stdout, warnings.showwarning, list(warnings.filters)) == before
    finally:
        sys.stdout, warnings.showwarning = before[:2]


HELPERS = """\
class Keeper:
    def keep(self, x):
        keep(x)

def keep(x):
    with open(path, "a") as file:
        file.write(str(x))
"""


@pytest.mark.parametrize(
    "line",
    [
        "print(x, file=open(path, 'a'))",
        "plt.plot(x)",
        "pause.sleep(0.01)",
        "torch.save(x, path)",
        "keep(x)",
        "Keeper().keep(x)",
    ],
)
def test_code_that_acts_on_more_is_not_repeated(line, tmp_path, monkeypatch):
    """A file or a figure is not to come a thousand times; also not from another cell."""
    plt = type("plt", (), {"plot": lambda *args: None})
    given = {"plt": plt, "pause": time, "path": str(tmp_path / "file")}
    answer = cell(HELPERS, f"def doubled(x):\n    {line}\n    return 3 * x\n", **given)["doubled"]
    monkeypatch.setattr(search._Search, "repair", lambda *args: pytest.fail("it ran"))
    assert search.locate(example(), answer) is None


def test_what_another_cell_holds_is_not_changed(capsys):
    first = """\
import sys
seen = []

def keep(x, *, more=0):
    seen.append(len(x) + more)
    print("kept", file=sys.stderr)
    return x
"""
    space = cell(first, "def doubled(x):\n    return 3 * keep(x)\n")
    assert search.locate(example(), space["doubled"], (0, 1)) == search.Place(2, "3 * keep(x)")
    assert space["seen"] == [] and capsys.readouterr() == ("", "")


def test_random_numbers_are_not_drawn():
    """Not even by a default value, which a variant computes anew."""
    space = cell("def doubled(x, start=np.random.rand(3)):\n" + NEVER)
    before = np.random.get_state()[2]  # noqa: NPY002
    assert search.locate(example(), space["doubled"], (0, 1)) is None
    assert np.random.get_state()[2] == before  # noqa: NPY002


def test_while_in_another_cell_is_stopped():
    halves = "def halves(n):\n    while n != 1:\n        n = n // 2\n    return 0\n"
    space = cell(halves, "def doubled(x):\n    x = x + halves(4)\n" + NEVER)
    assert search.locate(example(), space["doubled"], (0, 1)) is None


@pytest.mark.parametrize("error", ["", " BaseException", " (ValueError, BaseException)"])
def test_code_that_catches_all_errors_is_left_alone(error):
    source = f"""\
def doubled(x):
    try:
        return 3 * x
    except{error}:
        return x
"""
    assert place(source) is None
    assert place(source.replace(f"except{error}", "except ValueError")).line == 3


def test_search_takes_a_limited_time(monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 0.5)
    slow = "def doubled(x):\n    sum(range(2_000_000))\n" + NEVER
    began = time.thread_time()
    assert place(slow) is None
    assert time.thread_time() - began < 5


def test_lines_are_counted_as_python_does():
    """A form feed, or a line separator pasted from a document, ends no line."""
    source = "# as in the notes\u2028(above)\n\x0c\ndef doubled(x):\n\tλ = 3\n\treturn λ * x\n"
    assert place(source).line == 4


NEVER_RANDOM = "def doubled(x):\n    return x - 7\n"


def shown(monkeypatch, capsys, source, task):
    monkeypatch.setattr(sys.modules[check.__module__], "load", lambda name: task)
    check("doubled", cell(source)["doubled"])
    return capsys.readouterr().out


def test_check_names_the_line(monkeypatch, capsys):
    said = "One small change in line 2 of your cell makes every case right. Look at `3 * x`."
    source = "def doubled(x):\n    return 3 * x\n"
    assert said in shown(monkeypatch, capsys, source, example())
    known = Mistake(lambda x: 3 * x, "It is tripled.")
    out = shown(monkeypatch, capsys, source, example(mistakes=(known,)))
    assert "It is tripled." in out and "small change" not in out


def test_check_says_that_an_answer_is_random(monkeypatch, capsys):
    source = "import numpy as np\ndef doubled(x):\n    return 2 * x + np.random.rand()\n"
    out = shown(monkeypatch, capsys, source, example())
    assert "Something in your code is random: two runs on case" in out
    assert "is random" not in shown(monkeypatch, capsys, NEVER_RANDOM, example())


def test_class_grader_does_not_search():
    """Its trusted side runs no code of students."""
    for module, path in modules("classroom", "grading/runner", "grading/feedback"):
        found = imported(path.read_text(encoding="utf-8"))
        assert not any(name.startswith("grading.repair") for name in found), module
