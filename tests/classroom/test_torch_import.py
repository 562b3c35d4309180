"""With torch at the start, without, or from a fork server: the same grades to the last byte."""

import contextlib
import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from classroom import execute
from classroom.options import Options
from classroom.pipeline import grade_class
from classroom.sandbox import examiner, supervisor
from classroom.sandbox.examiner import Prepared
from classroom.sandbox.limits import Limits
from classroom.sandbox.torch_import import holds_tensor, needs_torch
from classroom.sheets import sheets
from grading.runner import tensors
from grading.task import Case, Task, all_tasks
from tests.conftest import ROOT, system_program
from tests.grading.sample_tasks import as_written, notebook

pytestmark = pytest.mark.grader

TASKS = {name: task for name, task in all_tasks().items() if task.lecture == 2}
FIRST = """import itertools
import os
import numpy as np
from grading import check, progress
from helpers.numpy_attention import softmax"""
ANSWERS = dict(sheets()[2].answers)

# ------------------------------------------------------------------ what is seen beforehand


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("import numpy as np", False),
        ("import torch", True),
        ("import numpy, torch.nn as nn", True),
        ("exec('import torch')", True),
        ("torches = 1", False),
        ("from helpers.numpy_attention import softmax", False),
        ("from helpers import numpy_attention as a, bpe", False),
        ("from helpers import numpy_attention, attention", True),
        ("from helpers.attention import softmax", True),
        ("import helpers.attention as a", True),
        ("from helpers import (attention)", True),
        ("if x:\n    from helpers import masks", True),
        ("import helpers", False),
        ("from helpers.viz import quiz", False),
        ("from helpers.data import agreement", True),
        ("from helpers.results.comparison import results", False),
        ("", False),
    ],
)
def test_what_names_torch_is_seen(source, needed):
    assert needs_torch(source) == needed


def test_inputs_and_drives_that_need_torch_are_seen():
    tensor = torch.zeros(2)
    assert holds_tensor((1, [{"x": tensor}]))
    assert not holds_tensor((np.zeros(2), [{"x": "tensor"}], None))

    def harness(answer, x):
        import torch

        return answer(torch.as_tensor(x))

    def made(**more):
        task = Task("name", 2, "implement", 1, 1, "to test", abs, **more)
        return Prepared.of(task, 1, Limits()).torch

    assert not made(cases=lambda seed: [Case((1.0,))])
    assert made(cases=lambda seed: [Case((1.0,)), Case((tensor,))])
    assert made(cases=lambda seed: [Case((1.0,))], harness=harness)


def test_nothing_is_a_tensor_without_torch(monkeypatch):
    class Own(torch.Tensor):
        pass

    parameter = torch.nn.Parameter(torch.zeros(2))
    assert tensors.is_tensor(torch.zeros(2)) and tensors.is_tensor(parameter)
    assert not tensors.is_tensor(torch.zeros(2).as_subclass(Own))
    assert not tensors.is_tensor(np.zeros(2))
    monkeypatch.delitem(sys.modules, "torch")
    assert tensors.torch_if_there() is None
    assert not tensors.is_tensor(parameter)


def test_sheet_2_needs_no_torch():
    assert not any(Prepared.of(task, 3, Limits()).torch for task in TASKS.values())
    for kind in ("template", "answers"):
        assert not any(map(needs_torch, getattr(sheets()[2], kind).values()))


def test_list_of_modules_without_torch_is_complete():
    paths = (path.relative_to(ROOT / "helpers") for path in (ROOT / "helpers").rglob("[!_]*.py"))
    names = sorted(".".join(path.with_suffix("").parts) for path in paths)
    code = f"""
import importlib, sys
class NoTorch:
    def find_spec(name, path=None, target=None):
        if name == "torch": raise ImportError
sys.meta_path.insert(0, NoTorch)
for name in {names}:
    try: importlib.import_module("helpers." + name)
    except ImportError: continue
    print(name)
"""
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    without = [name for name in names if not needs_torch(f"import helpers.{name}")]
    assert shown.split() == without
    for name in names:
        package, _, module = f"helpers.{name}".rpartition(".")
        assert needs_torch(f"from {package} import {module}") == (name not in without)


# ------------------------------------------------------------------ both ways

LATE = 'late = __import__("tor" + "ch")'
BY_LATE = """
def stable_softmax(scores):
    exp = late.exp(late.as_tensor(scores) - late.as_tensor(scores).amax(-1, keepdim=True))
    return exp / exp.sum(-1, keepdim=True)
"""
FORBIDDEN = """
def stable_softmax(scores):
    import importlib, sys
    late = importlib.import_module("tor" + "ch")
    weights = late.softmax(late.as_tensor(scores), -1).numpy()
    for name in [name for name in sys.modules if name.partition(".")[0] == "tor" + "ch"]:
        del sys.modules[name]
    return weights
"""
SAYS_SO = """
import stat
for number in range(3, 99):
    try:
        if stat.S_ISFIFO(os.fstat(number).st_mode):
            os.write(number, b'{"state": "tor' + b'ch"}\\n')
    except OSError: pass
"""
HOSTILE = {
    "late, and a tensor for an array": ([LATE], BY_LATE),
    "late, and a parameter": (
        [LATE],
        "def stable_softmax(x):\n    return late.nn.Parameter(late.ones(3, dtype=late.bfloat16))",
    ),
    "late, and by chance": ([LATE], "def stable_softmax(x):\n    return late.rand(*x.shape)"),
    "late, with what it sets": (
        [LATE, "late.set_default_dtype(late.float64)", "late.set_grad_enabled(False)"],
        "def stable_softmax(x):\n    return late.ones(3) / 3",
    ),
    "late, and in place": (
        [LATE],
        "def stable_softmax(x):\n    return late.from_numpy(x).mul_(2)",
    ),
    "by a helper": (['masks = __import__("helpers." + "masks")'], ANSWERS["stable_softmax"]),
    "if it is there": (
        [f"try:\n    {LATE}\nexcept BaseException:\n    late = None"],
        "def stable_softmax(x):\n    return np.zeros(3) if late is None else np.ones(3)",
    ),
    "past the watch": ([f"import sys\nsys.meta_path.pop(0)\n{LATE}"], BY_LATE),
    "who says so and does not": ([SAYS_SO], ANSWERS["stable_softmax"]),
    # these two never ask for torch
    "forbidden, by the helpers": ([], "stable_softmax = softmax"),
    "forbidden, by their module": (
        ["from helpers import numpy_attention"],
        "def stable_softmax(x):\n    return numpy_attention.softmax(x)",
    ),
}
ALONE = 2
WITHIN = {
    "in the answer, forbidden, and away again": ([], FORBIDDEN),
    "in the answer, and the end": (
        [],
        'def stable_softmax(x):\n    __import__("tor" + "ch")\n    os._exit(3)',
    ),
    "in a copy": (
        [f"pid = os.fork()\nif pid == 0:\n    {LATE}\n    os._exit(7)\nok = os.waitpid(pid, 0)[1]"],
        "def stable_softmax(x):\n    return np.full(3, ok)",
    ),
}
FALSE = {
    "a false one": (
        ['import sys, types\nsys.modules["tor" + "ch"] = types.ModuleType("false")'],
        ANSWERS["stable_softmax"],
    ),
    "a false one in an answer": (
        [],
        'def stable_softmax(x):\n    import sys\n    sys.modules["tor" + "ch"] = np\n    return x',
    ),
    "a false one, and what belongs to it": (
        [
            'import sys, types\nsys.modules["tor" + "ch"] = types.ModuleType("false")\n'
            '__import__("tor" + "ch.nn")'
        ],
        ANSWERS["stable_softmax"],
    ),
}


def made(answers, before=()):
    return notebook([FIRST, *before, *(ANSWERS | answers).values(), "progress(2)"])


def plain_sheets() -> dict[str, bytes]:
    """Model answers, the stub, and other right answers and known mistakes of every task."""
    found = {"model": made({}), "stub": made(dict(sheets()[2].template))}
    written = {name: [] for name in TASKS}
    for name, task in TASKS.items():
        for answer in (*task.alternatives, *(mistake.answer for mistake in task.mistakes)):
            choice = task.reference | {answer} if task.kind == "choose" else answer
            source = as_written(name, answer) if callable(answer) else f"{name} = {choice!r}"
            written[name].append(source)
    for number, row in enumerate(itertools.zip_longest(*written.values())):
        pairs = zip(written, row, strict=True)
        found[f"wrong-{number}"] = made({name: source for name, source in pairs if source})
    return found


def spoiled(hostile) -> dict[str, bytes]:
    return {
        f"hostile-{number}": made({"stable_softmax": answer}, before)
        for number, (before, answer) in enumerate(hostile.values())
    }


def everything(folder: Path) -> dict[str, bytes]:
    """What a run wrote, but for the database, which holds times."""
    files = [path for path in folder.rglob("*") if path.is_file() and "sqlite" not in path.name]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_grader_prepares_numpy_sheet_without_torch():
    """Its import takes longer than grading ten submissions."""
    source = (
        "import sys, classroom.cli\n"
        "from classroom.execute import Prepared, case_seed\n"
        "from classroom.sandbox.limits import Limits\n"
        "from grading.task import all_tasks\n"
        "tasks = all_tasks()\n"
        "for name in tasks.of_lecture(2):\n"
        "    Prepared.of(tasks[name], case_seed(1, name), Limits())\n"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is one of Linux")
@pytest.mark.parametrize(
    ("handed_in", "again"),
    [
        (plain_sheets(), 0),
        (spoiled(HOSTILE), len(HOSTILE) - ALONE),
        (spoiled(WITHIN), len(WITHIN)),
        (spoiled(FALSE), len(FALSE)),
    ],
    ids=["plain sheets", "hostile sheets", "within an answer", "a false torch"],
)
def test_grades_do_not_depend_on_torch_at_start(handed_in, again, tmp_path, monkeypatch):
    system_program("bwrap")
    folder = tmp_path / "in"
    folder.mkdir()
    for name, data in handed_in.items():
        (folder / f"{name}.ipynb").write_bytes(data)
    started, listen = Counter(), supervisor.listen

    def counting(job, *others):
        started[job["torch"]] += 1
        return listen(job, *others)

    def graded(name):
        started.clear()
        done = grade_class(folder, tmp_path / name, Options(seed=5, jobs=2), tasks=TASKS)
        assert done.failures == 0
        return everything(tmp_path / name), (started[False], started[True])

    monkeypatch.setattr(supervisor, "listen", counting)
    as_seen, starts = graded("as seen")
    assert starts == (len(handed_in), again)
    monkeypatch.setattr(examiner, "needs_torch", lambda source: True)
    always, starts = graded("always")
    assert starts == (0, len(handed_in))
    monkeypatch.setattr(execute, "ForkServer", lambda torch: contextlib.nullcontext())
    not_forked, starts = graded("not forked")
    assert starts == (0, len(handed_in))
    for other in (always, not_forked):
        assert as_seen.keys() == other.keys()
        assert {name for name in other if as_seen[name] != other[name]} == set()
