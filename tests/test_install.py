"""What the commands install: PyTorch's build by the machine, one version of each package."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import lab, pytorch

ROOT = Path(__file__).resolve().parent.parent


def versions(name):
    lines = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+)", lines, re.MULTILINE))


def test_a_package_has_one_version_in_all_lists():
    tested = versions("requirements.txt") | versions("requirements-book.txt")
    for package, version in versions("requirements-lab.txt").items():
        assert tested.get(package, version) == version, package
    assert {"jupyterlab", "torch", "numpy", "matplotlib"} <= set(versions("requirements-lab.txt"))


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
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(subprocess, "call", lambda command: asked.append(command) or 0)
    return asked


def test_lab_installs_once_and_opens_the_lectures(environment):
    assert lab.main(["--cuda"]) == 0
    *steps, opened = environment
    assert len(steps) == 3 and "--cuda" in steps[0]
    assert opened[1:3] == ["-m", "jupyterlab"] and opened[3].endswith("lectures")
    environment.clear()
    assert lab.main([]) == 0 and len(environment) == 1
    assert lab.main(["--install-only"]) == 0 and len(environment) == 1


def test_lab_stops_where_an_installation_fails(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(subprocess, "call", lambda command: 1)
    assert lab.main([]) == 1
    assert "run the command again" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_lab_wants_an_environment_of_its_own(monkeypatch, capsys):
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert lab.main([]) == 2
    assert "python -m venv .venv" in capsys.readouterr().out
