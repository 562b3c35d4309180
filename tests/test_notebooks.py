"""Committed notebooks are run, clean and shaped as the course promises."""

import re

import nbformat
import pytest
from notebook_rules import EVERY_LECTURE, EVERY_NOTEBOOK, prose

from tools import address

EXECUTED = [p for p in address.notebooks() if p.parent.name != "exercises"]
LECTURES = [p for p in EXECUTED if p.parent.name == "lectures" and not p.name.startswith("00")]


@pytest.mark.parametrize("rule", EVERY_NOTEBOOK, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", EXECUTED, ids=lambda path: path.stem)
def test_notebook(path, rule):
    assert rule(nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("rule", EVERY_LECTURE, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_lecture(path, rule):
    assert rule(nbformat.read(path, as_version=4)) == []


def test_address_and_version_stand_once():
    """Badges and Colab cells come from _config.yml and pyproject.toml."""
    assert address.main(check=True) == 0


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_stated_time_is_near_the_measured_one(path):
    """The header's seconds are no more than twice off what the last run took."""
    notebook = nbformat.read(path, as_version=4)
    stated = int(re.search(r"about (\d+) s(?:econds)? to run", prose(notebook))[1])
    assert stated / 2 <= notebook.metadata["lamplight"]["seconds"] <= stated * 2
