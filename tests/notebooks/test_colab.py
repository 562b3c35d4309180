"""A notebook runs as on Colab: alone in an empty folder, where its first cell installs the course.

The environment has torch, numpy and the rest, but not the course. The first cell runs as it is:
its `git+https://…` address leads, by git's own rewriting of addresses, to a repository made from
this working tree. The network may be off; pip is told to ask no index, so that installing anything
beyond the course would fail.
"""

import json
import os
import re
import site
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output

from tests.conftest import ROOT
from tests.repo_copy import copy_project, project_files
from tools import address

ON_COLAB = "import sys, types; sys.modules['google.colab'] = types.ModuleType('google.colab')\n"


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """A git repository of the working tree, on main, tagged with the course's version."""
    folder = copy_project(tmp_path_factory.mktemp("origin"), without=("_static",))
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    run(*git, "init", "--quiet", "--initial-branch=main", cwd=folder)
    run(*git, "add", "--all", cwd=folder)
    run(*git, "commit", "--quiet", "--message", "copy", cwd=folder)
    run(*git, "tag", f"v{address.version()}", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def colab_python(tmp_path_factory) -> Path:
    """A Python that takes itself for Colab and has all that this one has, but for the course."""
    folder = tmp_path_factory.mktemp("colab")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    [target] = folder.glob("lib/python*/site-packages")
    for source in map(Path, site.getsitepackages()):
        for entry in source.iterdir():
            if "lamplight" not in entry.name and not (target / entry.name).exists():
                (target / entry.name).symlink_to(entry)
    (target / "on_colab.pth").write_text(ON_COLAB)
    python = folder / "bin" / "python"
    check = "import torch, numpy, importlib.util as u; print(u.find_spec('helpers') is None)"
    apart = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert run(python, "-c", check, cwd=folder, env=apart).strip() == "True"  # or all is in vain
    return python


@pytest.fixture(scope="module")
def environment(repository) -> dict[str, str]:
    settings = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": address.address(),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say: build without isolation
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PIP_FIND_LINKS")}
    return inherited | settings


def run_and_compare(notebook, python, environment, pytestconfig):
    """Run a copy, whose first cell may say something, in its own folder; compare its outputs."""
    compare = "--nbval-lax" if pytestconfig.option.outputs_may_differ else "--nbval"
    settings = [o for o in pytestconfig.getini("addopts") if o.startswith("--nbval-")]
    rules = f"--nbval-sanitize-with={pytestconfig.option.nbval_sanitize_with}"
    tool = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", compare, *settings, rules]
    run(*tool, notebook, cwd=notebook.parent, env=environment)


def written(notebook, path):
    """The file of a copy whose first cell may say something."""
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    first.metadata["tags"] = ["nbval-ignore-output"]
    nbformat.write(notebook, path)
    return path


@pytest.mark.full
def test_a_notebook_installs_the_course_and_runs(colab_python, environment, tmp_path, pytestconfig):
    """All begin with the same cell, as test_notebooks.py proves, so one stands for all."""
    [path] = (ROOT / "lectures").glob("02_*.ipynb")
    copy = written(nbformat.read(path, as_version=4), tmp_path / path.name)
    [packages] = colab_python.parent.parent.glob("lib/python*/site-packages")
    before = {path.name for path in packages.iterdir()}
    run_and_compare(copy, colab_python, environment, pytestconfig)
    new = {path.name for path in packages.iterdir()} - before - {"__pycache__"}
    allowed = {"helpers", "grading", "classroom", f"lamplight-{address.version()}.dist-info"}
    assert new <= allowed, f"the first cell installed more than the course: {new - allowed}"
    for untouched in ("torch", "numpy"):
        assert (packages / untouched).is_symlink(), f"{untouched} was replaced"
    direct = json.loads(next(packages.glob("lamplight-*.dist-info/direct_url.json")).read_text())
    assert direct["vcs_info"]["requested_revision"] == address.ref()
    for path in project_files():
        relative = path.relative_to(ROOT)
        if relative.parts[0] in ("helpers", "grading"):
            assert (packages / relative).is_file(), f"{relative} is not installed"


def test_badge_and_first_cell_name_the_same_version():
    """The branch main, or the tag of a release."""
    assert address.ref() in ("main", f"v{address.version()}")
    for path in address.notebooks():
        cells = nbformat.read(path, as_version=4).cells
        first = next(cell.source for cell in cells if cell.cell_type == "code")
        assert f'@{address.ref()}"' in first
        badges = [ref for cell in cells for ref in re.findall(r"/blob/([^/]+)/", cell.source)]
        assert set(badges) <= {address.ref()}


def test_first_cell_without_helpers_says_what_to_do():
    notebook = nbformat.read(address.notebooks()[0], as_version=4)
    first = next(cell.source for cell in notebook.cells if cell.cell_type == "code")
    python = first.replace("%pip", "pass  # ").replace('"helpers"', '"not_there"')
    with pytest.raises(ModuleNotFoundError, match="run this cell again"):
        exec(python, {})


@pytest.mark.full
def test_another_output_is_noticed(colab_python, environment, tmp_path, pytestconfig):
    """A notebook like the others, as it is and with one stored number changed."""
    if pytestconfig.option.outputs_may_differ:
        pytest.skip("outputs are not compared")
    notebook = nbformat.read(address.notebooks()[0], as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    second = new_code_cell("print(1 + 1)", execution_count=2)
    notebook.cells = [first, second]
    for stored in ("2\n", "3\n"):
        second.outputs = [new_output("stream", name="stdout", text=stored)]
        copy = written(notebook, tmp_path / "small.ipynb")
        if stored == "2\n":
            run_and_compare(copy, colab_python, environment, pytestconfig)
        else:
            with pytest.raises(AssertionError, match="mismatch"):
                run_and_compare(copy, colab_python, environment, pytestconfig)
