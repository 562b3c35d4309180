"""What the documents say in numbers is what the code has: versions, limits, lectures, commands."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from classroom.intake.archives import MOST_DEEP, MOST_WITHIN
from classroom.sandbox.limits import Limits
from grading import task
from tests.conftest import ROOT
from tools import sources

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("pages/*.md")])
MiB, GiB = 1 << 20, 1 << 30


def relative(path: Path) -> str:
    """A document as it is named from the root."""
    return path.relative_to(ROOT).as_posix()


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def find_in(name: str, pattern: str) -> list[str]:
    """What a document says at each place of this form."""
    found = re.findall(pattern, " ".join(text(name).split()))
    assert found, f"{name} no longer says {pattern!r}: look for it anew"
    return found


def test_the_citation_has_the_version():
    assert yaml.safe_load(text("CITATION.cff"))["version"] == PROJECT["version"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_versions_are_those_of_the_requirements(path):
    pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)", text("requirements.txt"), re.MULTILINE))
    for package, version in re.findall(r"\b([\w-]+)==(\d[\w.]*\w)", text(relative(path))):
        assert version == pinned[package], package


def test_python_is_the_one_that_the_package_wants():
    wanted = PROJECT["requires-python"].removeprefix(">=")
    assert find_in("README.md", r"Python (3\.\d+) or newer") == [wanted]
    assert re.findall(r"Python (3\.\d+) or newer", text("Makefile")) == [wanted]


LIMITS = {
    r"\((\d+) s per cell": Limits.cell,
    r"(\d+) s per task,": Limits.task,
    r"(\d+) s per task that trains": Limits.train,
    r"(\d+) minutes in all": Limits.total / 60,
    r"at worst (\d+) minutes": Limits.total / 60,
    r"(\d+) MB a folder": Limits.disk / MiB,
    r"limits on memory \((\d+) GB": Limits.memory / GiB,
    r"processes \((\d+)\)": Limits.processes,
    r"output \((\d+) MB\)": Limits.printed / MiB,
    r"up to (\d+) levels deep": MOST_DEEP,
    r"(\d+) MB for the contents of a student's zip": MOST_WITHIN / 1e6,
}


@pytest.mark.parametrize("pattern", LIMITS)
def test_limits_of_the_sandbox(pattern):
    assert {float(number) for number in find_in("pages/grading_reference.md", pattern)} == {
        LIMITS[pattern]
    }


def test_lectures_with_exercises_are_counted():
    numbers = {int(path.name[:2]) for path in (ROOT / "exercises").glob("*.ipynb")}
    last = max(numbers - {task.PROJECT})
    assert find_in("README.md", r"Each of lectures 1 to (\d+)") == [str(last)]


CODE = [
    (relative(path), number, code)
    for path in DOCUMENTS
    for number, code in enumerate(
        re.findall(r"```python\n(.*?)```", text(relative(path)), re.DOTALL)
    )
]


@pytest.mark.parametrize(("name", "number", "code"), CODE, ids=[f"{n}-{i}" for n, i, _ in CODE])
def test_printed_code_passes_ruff(name, number, code):
    place = ["--stdin-filename", "grading/tasks/lecture_02/as_printed.py", "-"]
    own = [] if "TaskFile" in code else ["--extend-ignore", "D100"]  # a file of the reader's own
    for command in (["check", "--quiet", *own], ["format", "--check", "--diff"]):
        words = [sys.executable, "-m", "ruff", *command, *place]
        done = subprocess.run(words, input=code, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_commands_are_those_of_the_makefile(path):
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
    assert (
        set(re.findall(r"(?:`|^ *)make ([a-z-]+)", text(relative(path)), re.MULTILINE)) <= targets
    )


def test_contributing_names_every_command():
    targets = set(re.findall(r"^([a-z]+):.*## ", text("Makefile"), re.MULTILINE))
    assert targets - {"help", "grade", "autograder"} <= set(
        re.findall(r"make ([a-z]+)", text("CONTRIBUTING.md"))
    )


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_files_that_are_named_are_there(path):
    places = r"`((?:helpers|grading|tests|tools|lectures|solutions|experiments)/[\w./]+\.\w+)`"
    for name in re.findall(places, text(relative(path))):
        if "NN" not in name and "NAME" not in name:
            assert (ROOT / name).exists(), name


def test_sources_stand_in_the_order_of_their_keys(capsys):
    assert sources.main(check=True) == 0, capsys.readouterr().out
    swapped = "@book{b1,\n}\n\n@book{a1,\n}\n"
    assert sources.ordered(swapped)[1] == ["a1 stands after b1"]
    assert sources.ordered(sources.ordered(swapped)[0])[1] == []
    assert sources.ordered(swapped + "@book{b1,\n}\n")[1][0] == "b1 stands there twice"
