"""Commands used wrongly say so in a sentence: no traceback, and nothing is installed first."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from tests.conftest import ROOT
from tools import audit, ready, serve

WRONG = {
    "grade": ("grade", "Name the submissions"),
    "task": ("task LECTURE=4", "make task LECTURE=4 NAME="),
    "autograder": ("autograder", "Name the sheet"),
    "seeds": ("seeds", "Name a notebook"),
    "a notebook": ("check NB=lectures/typo.ipynb", "There is no lectures/typo.ipynb"),
    "an experiment": ("experiments NAME=typo", "There is no experiments/typo.py"),
}


def make(folder, *arguments):
    """What make says in a folder with the Makefile and no environment."""
    for name in ("Makefile", "tools", "experiments"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    done = subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment | {"SYSTEM": "no"},
    )
    return done.returncode, done.stdout + done.stderr


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@needs_make
@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_refused_before_installation(case, tmp_path):
    arguments, said = WRONG[case]
    code, output = make(tmp_path, *arguments.split())
    assert code != 0 and said in output and "Traceback" not in output
    assert not (tmp_path / ".venv").exists()


@needs_make
def test_failed_environment_leaves_nothing_behind(tmp_path):
    for body in ("exit 1", "[ $1 = -c ] || { mkdir .venv; exit 1; }"):
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\n{body}\n")
        python.chmod(0o755)
        code, output = make(tmp_path, "book", f"PYTHON={python}")
        assert code != 0 and "make PYTHON=" in output
        assert not (tmp_path / ".venv").exists()


def test_a_port_that_is_taken_and_a_port_that_is_none(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        assert serve.main([port]) == 1
        assert f"Port {port} cannot be used" in capsys.readouterr().out
    assert serve.main(["http"]) == 2


def test_a_page_that_is_not_there(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(audit, "HTML", tmp_path)
    monkeypatch.setattr(audit.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(sys, "argv", ["audit.py", "typo"])
    assert audit.main() == 1
    assert "There is no page typo" in capsys.readouterr().out


def test_what_a_machine_lacks_is_said(monkeypatch, capsys):
    assert ready.main() == 0
    monkeypatch.setattr(ready.shutil, "which", lambda name: None)
    assert ready.main() == 0
    assert "chromium" in capsys.readouterr().out
    monkeypatch.setattr(ready, "OLDEST", (9, 0))
    assert ready.main() == 1
    assert "Python 9.0 or newer" in capsys.readouterr().out


@pytest.fixture
def site(tmp_path):
    """A folder with an environment whose jupyter-book writes a page, and waits if told to."""
    (tmp_path / "requirements").mkdir()
    for name in ("_config.yml", "_toc.yml", "requirements/book.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "pages").symlink_to(ROOT / "pages")
    (tmp_path / "_ext").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    book = tmp_path / ".venv" / "bin" / "jupyter-book"
    book.write_text("#!/bin/sh\necho built >> _build/log\n[ ! -e wait ] || sleep 60\n")
    book.chmod(0o755)
    (tmp_path / ".venv" / "book.stamp").touch()
    return tmp_path


def heed_interrupts():
    """Undo what a shell does to commands in the background: these ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@needs_make
def test_a_build_that_was_stopped_is_begun_anew(site):
    assert make(site, "book")[0] == 0 and make(site, "book")[0] == 0
    assert (site / "_build" / "log").read_text().split() == ["built", "built"]
    (site / "wait").touch()
    command = ["make", "--no-print-directory", "book"]
    process = subprocess.Popen(
        command, cwd=site, start_new_session=True, preexec_fn=heed_interrupts
    )
    log = site / "_build" / "log"
    until = time.monotonic() + 60
    while log.read_text().count("built") < 3 and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() != 0
    (site / "wait").unlink()
    assert make(site, "book")[0] == 0
    assert log.read_text().split() == ["built"], "the folder was not made anew"


@needs_make
def test_pycache_does_not_rebuild_the_site(site):
    """A new extension rebuilds it."""
    make(site, "book")
    (site / "_ext" / "__pycache__").mkdir()
    make(site, "book")
    assert (site / "_build" / "log").read_text().split() == ["built", "built"]
    (site / "_ext" / "new.py").touch()
    make(site, "book")
    assert (site / "_build" / "log").read_text().split() == ["built"]
