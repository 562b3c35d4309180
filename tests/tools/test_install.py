"""What the commands install: PyTorch's build by the machine, pins that fit every Python."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.conftest import ROOT, skip_or_fail
from tools import lab, lowest, pins, pytorch


def versions(name):
    lines = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+)", lines, re.MULTILINE))


def test_a_package_has_one_version_in_all_files():
    whole = {}
    for name in pins.FILES:
        for package, version in versions(name).items():
            assert whole.setdefault(package, version) == version, package
    assert {"jupyterlab", "jupyterlab-myst", "torch", "numpy"} <= set(versions("requirements.txt"))
    assert "torch" not in versions("requirements/book.txt")


def test_what_is_wanted_is_pinned():
    known = set()
    for name, (source, _, _) in pins.FILES.items():
        known |= {package.lower() for package in versions(name)}
        lines = (ROOT / "requirements" / f"{source}.in").read_text(encoding="utf-8").splitlines()
        wanted = {re.match(r"[\w-]+", line)[0].lower() for line in lines if line[:1].isalnum()}
        assert {package.replace("_", "-") for package in wanted} <= known


NETWORK = "there is no network: whether the pins fit each Python was not asked"
PROBE = "beautifulsoup4==4.15.0"


def resolved(requirements, python, *options):
    """What the resolver says to requirements on a Python that need not be here: error, or nothing.

    A package must come as a wheel; only rouge-score is a source of pure Python.
    """
    command = [sys.executable, "-m", "uv", "pip", "compile", "--python-version", python, "--quiet"]
    command += ["--no-header", "--only-binary", ":all:", "--no-binary", "rouge-score"]
    command += ["--no-python-downloads", "--no-annotate", *options, "-"]
    environment = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
    finds = environment.get("PIP_FIND_LINKS")
    environment |= {"UV_FIND_LINKS": finds} if finds else {}
    done = subprocess.run(
        command, input=requirements, capture_output=True, text=True, env=environment
    )
    return done.stderr if done.returncode else ""


@pytest.fixture(scope="module")
def resolver():
    """Asks, unless there is no network; in public CI there has to be one."""
    if importlib.util.find_spec("uv") is None:
        skip_or_fail("uv is not installed: make test installs it")
    if resolved(PROBE, "3.12"):
        skip_or_fail(NETWORK)
    return resolved


@pytest.mark.network
@pytest.mark.parametrize("python", pins.PYTHONS)
def test_pins_resolve_for_every_promised_python(python, resolver):
    """Those for tests hold all others."""
    whole = [line for name in pins.FILES for line in pins.pins(name)]
    assert resolver("\n".join(whole), python) == ""


@pytest.mark.network
def test_unavailable_pin_is_noticed(resolver):
    assert "soupsieve" in resolver("soupsieve==4.1.1", pins.PYTHONS[0])


def test_lowest_versions_run_the_tests_of_helpers():
    files = lowest.tests()
    assert {"tests/helpers/test_masks.py", "tests/helpers/test_bad_calls.py"} <= set(files)
    assert len(files) >= 19
    for name in lowest.LECTURES:
        assert list((ROOT / "lectures").glob(f"{name}.ipynb"))


@pytest.mark.network
@pytest.mark.parametrize("python", [pins.PYTHONS[0], pins.PYTHONS[-2]])
def test_the_lowest_versions_fit_together(python, resolver):
    assert resolver(f"{ROOT}[spacy,scores,published]", python, "--resolution=lowest-direct") == ""


@pytest.mark.parametrize(
    ("system", "gpu", "arguments", "cpu"),
    [
        ("Linux", None, [], True),
        ("Linux", None, ["--cuda"], False),
        ("Linux", "/usr/bin/nvidia-smi", [], False),
        ("Darwin", None, [], False),
        ("Windows", None, [], False),
    ],
)
def test_who_gets_the_build_for_cpus(monkeypatch, system, gpu, arguments, cpu):
    monkeypatch.setattr(pytorch.platform, "system", lambda: system)
    monkeypatch.setattr(pytorch.shutil, "which", lambda name: gpu)
    monkeypatch.setattr(Path, "exists", lambda self: False)
    assert pytorch.wants_cpu_build(arguments) is cpu


def run(monkeypatch, codes, *, reachable, there=False):
    """What pip is asked for, and what comes out, where its calls end with these codes."""
    asked, codes = [], iter(codes)

    def call(command):
        asked.append(command[command.index("torch==9.9") :])
        return next(codes)

    monkeypatch.setattr(pytorch, "pinned", lambda: "torch==9.9")
    monkeypatch.setattr(pytorch, "installed", lambda requirement: there)
    monkeypatch.setattr(pytorch, "wants_cpu_build", lambda arguments: True)
    monkeypatch.setattr(pytorch, "reachable", lambda index: reachable)
    monkeypatch.setattr(subprocess, "call", call)
    return pytorch.main([]), asked


def test_the_index_is_used_where_it_answers(monkeypatch, capsys):
    from_index = ["torch==9.9", "--index-url", pytorch.CPU_INDEX]
    assert run(monkeypatch, [0], reachable=True) == (0, [from_index])
    assert run(monkeypatch, [0], reachable=False) == (0, [["torch==9.9"]])
    assert run(monkeypatch, [1, 0], reachable=True) == (0, [from_index, ["torch==9.9"]])
    assert "With the network back" not in capsys.readouterr().out
    assert run(monkeypatch, [1], reachable=False) == (1, [["torch==9.9"]])
    assert "With the network back" in capsys.readouterr().out
    assert run(monkeypatch, [], reachable=True, there=True) == (0, [])


def test_a_silent_index_is_not_waited_for(monkeypatch):
    def refuse(url, timeout):
        assert timeout <= 10
        raise TimeoutError

    monkeypatch.setattr(pytorch.urllib.request, "urlopen", refuse)
    assert pytorch.reachable(pytorch.CPU_INDEX) is False


def test_the_pinned_version_is_the_one_installed_here():
    assert pytorch.pinned() == f"torch=={versions('requirements.txt')['torch']}"
    assert pytorch.installed(pytorch.pinned())
    assert not pytorch.installed("torch==0.1")


@pytest.fixture
def environment(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(lab, "MINE", tmp_path / "mine")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(subprocess, "call", lambda command, **_: asked.append(command) or 0)
    return asked


def test_lab_installs_once_and_opens_the_lectures(environment):
    assert lab.main(["--cuda"]) == 0
    *steps, opened = environment
    assert len(steps) == 3 and "--cuda" in steps[0]
    assert opened[1:4] == ["-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}"]
    environment.clear()
    assert lab.main([]) == 0 and len(environment) == 1
    assert lab.main(["--install-only"]) == 0 and len(environment) == 1
    environment.clear()
    assert lab.main(["--port", "8899"]) == 0 and environment[0][-2:] >= ["--port", "8899"]


def test_lab_opens_copies_that_are_the_readers_own(monkeypatch, tmp_path, capsys):
    course = tmp_path / "course"
    for folder in ("lectures", "exercises", "_static"):
        (course / folder).mkdir(parents=True)
    asked = new_code_cell("1 + 1", metadata={"tags": ["hide-output"]}, execution_count=1)
    asked.outputs = [new_output("stream", text="2")]
    lecture = course / "lectures" / "01.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("x = 1"), asked]), lecture)
    sheet = course / "exercises" / "01.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("answer = ...")]), sheet)
    monkeypatch.setattr(lab, "ROOT", course)
    monkeypatch.setattr(lab, "MINE", course / "mine")
    lab.copy_notebooks()
    copy, mine = (course / "mine" / path.relative_to(course) for path in (lecture, sheet))
    assert nbformat.read(copy, as_version=4).cells[1].outputs == []
    mine.write_text(mine.read_text().replace("...", "42"))
    for path in (lecture, sheet):
        path.write_text(path.read_text().replace("x = 1", "x = 2").replace("...", "..., ..."))
    lab.copy_notebooks()
    assert "x = 2" in copy.read_text() and "42" in mine.read_text()
    assert "exercises/01.ipynb of the course has changed" in capsys.readouterr().out


def test_lab_stops_where_an_installation_fails(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(subprocess, "call", lambda command, **_: 1)
    assert lab.main([]) == 1
    assert "run the command again" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_lab_wants_an_environment_of_its_own(monkeypatch, capsys):
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert lab.main([]) == 2
    assert "python -m venv .venv" in capsys.readouterr().out
