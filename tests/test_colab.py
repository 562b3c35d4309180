"""Each notebook runs as on Colab: alone in an empty folder, its first cell installs the course.

The environment has torch, numpy and the rest, but not the course. The first cell runs as it is:
its `git+https://…` address leads, by git's own rewriting of addresses, to a repository made from
this working tree. The network may be off; pip is told to ask no index, so that installing anything
beyond the course would fail.
"""

import json
import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest
from copies import copy_project

from tools import address

NOTEBOOKS = address.notebooks()
ON_COLAB = "import sys, types; sys.modules['google.colab'] = types.ModuleType('google.colab')\n"


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """A git repository of the working tree, tagged with the course's version."""
    folder = copy_project(tmp_path_factory.mktemp("origin"), without=("_static",))
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    run(*git, "init", "--quiet", cwd=folder)
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
    return folder / "bin" / "python"


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


def test_the_environment_lacks_the_course(colab_python, tmp_path):
    """Otherwise the tests below would prove nothing."""
    check = "import torch, numpy, importlib.util as u; print(u.find_spec('helpers') is None)"
    assert run(colab_python, "-c", check, cwd=tmp_path).strip() == "True"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_runs_alone(notebook, colab_python, environment, tmp_path):
    shutil.copy(notebook, tmp_path)
    tool = tmp_path.parent / "execute.py"
    shutil.copy(address.ROOT / "tools" / "execute.py", tool)
    [packages] = colab_python.parent.parent.glob("lib/python*/site-packages")
    for installed in [*packages.glob("lamplight*"), packages / "helpers", packages / "grading"]:
        shutil.rmtree(installed, ignore_errors=True)
    before = {path.name for path in packages.iterdir()}
    run(colab_python, tool, tmp_path / notebook.name, cwd=tmp_path, env=environment)
    new = {path.name for path in packages.iterdir()} - before - {"__pycache__"}
    allowed = {"helpers", "grading", f"lamplight-{address.version()}.dist-info"}
    assert new <= allowed, f"the first cell installed more than the course: {new - allowed}"
    assert "helpers" in new
    for untouched in ("torch", "numpy"):
        assert (packages / untouched).is_symlink(), f"{untouched} was replaced"
    direct = json.loads(next(packages.glob("lamplight-*.dist-info/direct_url.json")).read_text())
    assert direct["vcs_info"]["requested_revision"] == f"v{address.version()}"
