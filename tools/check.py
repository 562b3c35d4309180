"""Check style, rules, and just what is named: what `make check` runs.

    make check                                  style, and the rules of every notebook
    make check NB=lectures/04_masks.ipynb       the rules of this one, and its outputs compared
    make check FILE=helpers/masks.py            the tests with this module's name; those that import
                                                it as far as a minute goes; the last line names the
                                                others
    make check TASK=causal_mask                 the rules of its lecture's notebooks; the proof of
                                                this task: model answer, stub, known mistakes,
                                                other seeds, its place in its notebooks

Several are named in quotation marks: FILE="helpers/masks.py helpers/blocks.py".
"""

import itertools
import json
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = 60
"""CPU seconds for the tests of other modules that import the one that is named."""
TASK_TESTS = [f"tests/grading/test_{of}.py" for of in ("tasks", "task_rules", "partial_credit")]
"""What `make check TASK=…` runs of a task; the other tests of `grading` come with `make test`."""
PYTEST = (sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider")


def tests_of(file: str) -> tuple[list[str], list[str]]:
    """The test files of a module, and those of other modules that import it, the fastest first.

    A module's own lie in the folder of its package and their name holds the module's, as
    `tests/helpers/test_masks.py`. Bad calls and annotated
    shapes belong to every module of `helpers`.
    """
    path = Path(file)
    tests = sorted(ROOT.glob("tests/**/test_*.py"))
    folder = ROOT / "tests" / path.parent
    own = [t for t in tests if t.parent == folder and f"_{path.stem}_" in f"{t.stem}_"]
    if path.parts[0] == "helpers":
        own += [ROOT / "tests" / "helpers" / f"test_{t}.py" for t in ("bad_calls", "annotations")]
    module = re.escape(path.with_suffix("").as_posix().replace("/", "."))
    package, _, name = module.rpartition(r"\.")
    imports = rf"(import|from) {module}\b"
    if package:
        imports += rf"|from {package} import (\([^)]*|.*)\b{name}\b"
    others = [t for t in tests if re.search(imports, t.read_text(encoding="utf-8"))]
    taken = seconds()
    names = [t.relative_to(ROOT).as_posix() for t in own]
    more = {t.relative_to(ROOT).as_posix() for t in others} - {*names}
    return names, sorted(more, key=lambda test: (taken.get(test, math.inf), test))


def seconds() -> dict[str, float]:
    """CPU seconds of each test file, as `tests/file_seconds.py` stored them."""
    return json.loads((ROOT / "tests" / "file_seconds.json").read_text(encoding="utf-8"))


def chosen(file: str) -> tuple[list[str], list[str]]:
    """The test files that are run for a module, and those that are not.

    Its own are always run, those that import it within `BUDGET` seconds, of which a file whose
    seconds are not stored takes all. A module without tests of its own gets one file at least.
    """
    own, others = tests_of(file)
    taken = seconds()
    sums = itertools.accumulate(taken.get(test, BUDGET) for test in others)
    number = sum(so_far <= BUDGET for so_far in sums) or int(not own)
    return own + others[:number], others[number:]


def not_run(file: str) -> str:
    """One line about the tests of a module that were not run, with the command that runs them."""
    run, left_out = chosen(file)
    if not run:
        return f"No test names or imports {file}; make test tries everything."
    said = "Not run: tests marked full (make test-all)"
    if left_out:
        taken = seconds()
        total = sum(taken.get(test, BUDGET) for test in left_out)
        more = " or more" if {*left_out} - taken.keys() else ""
        said += f"; other tests that import {file}, {total:.0f} s{more}: "
        said += f'make check FILE="{" ".join(left_out)}"'
    return said


def steps(wanted: dict[str, list[str]]) -> list[tuple[str, list[str]]]:
    """What to run: for each step its name and its command."""
    rules = [*PYTEST, "tests/notebooks/test_notebooks.py"]
    books = [Path(name).stem for name in wanted["NB"]]
    books += [f"{lecture_of(name)}_" for name in wanted["TASK"]]
    if books:
        rules += ["-k", " or ".join(f"[{book}" for book in books)]
    found = [
        ("style", [sys.executable, "-m", "ruff", "check", "--quiet", "."]),
        ("format", [sys.executable, "-m", "ruff", "format", "--check", "--quiet", "."]),
    ]
    if books or not wanted["FILE"]:
        found.append(("rules of notebooks", rules))
    for name in wanted["NB"]:
        if not name.startswith("exercises/"):  # students' notebooks hold no outputs
            found.append((f"outputs of {name}", [*PYTEST, name]))
    for name in wanted["FILE"]:
        if Path(name).name.startswith("test_"):
            found.append((f"tests of {name}", [*PYTEST, name]))
        elif tests := chosen(name)[0]:
            quick = [*PYTEST, "-m", "not full and not network"]
            found.append((f"tests of {name}", [*quick, *tests]))
    proof = [*PYTEST, *TASK_TESTS, "-k"]
    for name in wanted["TASK"]:
        found.append((f"task {name}", [*proof, of_task(name)]))
    return found


def lecture_of(name: str) -> str:
    """The number of the lecture that a task belongs to, in two digits."""
    folders = [path.parent.name for path in ROOT.glob(f"grading/tasks/lecture_*/{name}.py")]
    if not folders:
        sys.exit(f"TASK={name}: there is no grading/tasks/lecture_NN/{name}.py")
    return folders[0].removeprefix("lecture_")


def of_task(name: str) -> str:
    """What selects the tests of a task and of the notebooks that it stands in."""
    return f"[{name}] or [{name}- or [{lecture_of(name)}_ or in_step or stands_in_its_notebook"


def main(arguments: list[str]) -> int:
    """Run every step; returns how many failed."""
    wanted: dict[str, list[str]] = {"NB": [], "FILE": [], "TASK": []}
    for argument in arguments:
        kind, _, name = argument.partition("=")
        if kind not in wanted or not name:
            sys.exit(__doc__)
        if kind != "TASK" and not (ROOT / name).is_file():
            sys.exit(f"{kind}={name}: no such file. Name it from the root of the repository.")
        wanted[kind].append(name)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    failed = []
    for step, command in steps(wanted):
        print(f"  {step} …", flush=True)
        start = time.perf_counter()
        result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        right = result.returncode == 0
        mark = "✓" if right else "✗"
        print(f"{mark} {step} ({time.perf_counter() - start:.0f} s)", flush=True)
        if not right:
            print(result.stdout + result.stderr)
            failed.append(step)
    if failed:
        print("Something is wrong with: " + "; ".join(failed))
    for name in wanted["FILE"]:
        if not Path(name).name.startswith("test_"):
            print(not_run(name))
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
