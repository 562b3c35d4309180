"""Committed notebooks are run, clean and shaped as the course promises."""

import json
import re
import tomllib

import nbformat
import pytest

from tests.conftest import ROOT
from tests.notebooks.notebook_rules import (
    EVERY_LECTURE,
    EVERY_NOTEBOOK,
    IN_AN_EVENING,
    IN_NEW_FORM,
    ids_shared,
    lines_too_wide,
    numbers_not_shown,
    times_stale,
)
from tools import address, times

EXECUTED = [p for p in address.notebooks() if p.parent.name != "exercises"]
WITH_WARM_UP = [p for p in EXECUTED if p.parent.name == "lectures"]
LECTURES = [p for p in WITH_WARM_UP if not p.name.startswith("00")]
"""Lecture 0 is a warm-up: it keeps all rules but those of an evening with core and *Deeper*."""


@pytest.mark.parametrize("rule", EVERY_NOTEBOOK, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", EXECUTED, ids=lambda path: path.stem)
def test_notebook(path, rule):
    assert rule(nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("rule", EVERY_LECTURE, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", WITH_WARM_UP, ids=lambda path: path.stem)
def test_lecture(path, rule):
    assert rule(nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("path", address.notebooks(), ids=lambda path: path.stem)
def test_every_cell_has_an_id_of_its_own(path):
    assert ids_shared(json.loads(path.read_text(encoding="utf-8"))) == []


STILL_WIDE = set(tomllib.loads((ROOT / "lectures/ruff.toml").read_text())["format"]["exclude"])


@pytest.mark.parametrize(
    "path", sorted((ROOT / "lectures").glob("*.ipynb")), ids=lambda path: path.stem
)
def test_code_fits_the_page(path):
    wide = lines_too_wide(nbformat.read(path, as_version=4))
    if path.name in STILL_WIDE:
        assert wide, f"take {path.name} out of lectures/ruff.toml, then: make format"
    else:
        assert wide == []


NOT_YET_SHOWN: set[str] = set()
"""Lectures with numbers in prose that no cell of the section shows; who mends one takes it out."""


@pytest.mark.parametrize("path", WITH_WARM_UP, ids=lambda path: path.stem)
def test_numbers_in_prose_are_those_of_the_outputs(path):
    complaints = numbers_not_shown(nbformat.read(path, as_version=4))
    assert bool(complaints) == (path.stem in NOT_YET_SHOWN), complaints


@pytest.mark.parametrize("path", WITH_WARM_UP, ids=lambda path: path.stem)
def test_no_lecture_counts_the_tasks_of_a_sheet(path):
    """A sheet counts its own; a number in a lecture goes stale with the next task."""
    cells = nbformat.read(path, as_version=4).cells
    text = " ".join(" ".join(c.source for c in cells if c.cell_type == "markdown").split())
    assert re.findall(r"\b(?:\d+|eleven|twelve|\w+teen) tasks\b", text) == []


def test_address_and_version_stand_once():
    """Badges and Colab cells come from _config.yml and pyproject.toml."""
    assert address.main(check=True) == 0


NOT_YET: set[str] = set()
"""Lectures not yet cut into *Core* and *Deeper*; who cuts one takes its name out."""


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_lecture_takes_an_evening(path):
    notebook = nbformat.read(path, as_version=4)
    complaints = [line for rule in IN_AN_EVENING for line in rule(notebook)]
    assert bool(complaints) == (path.stem in NOT_YET), complaints


def test_the_warm_up_takes_45_minutes():
    notebook = nbformat.read(ROOT / "lectures" / "00_before_you_start.ipynb", as_version=4)
    assert times_stale(notebook) == []
    whole, sections = times.parts(notebook)
    assert whole.minutes <= 45 and sections == []


OLD_FORM: set[str] = set()
"""Lectures not yet rewritten; the one who rewrites a lecture takes its name out."""


@pytest.mark.parametrize("path", WITH_WARM_UP, ids=lambda path: path.stem)
def test_lecture_has_its_form(path):
    notebook = nbformat.read(path, as_version=4)
    complaints = [line for rule in IN_NEW_FORM for line in rule(notebook)]
    assert bool(complaints) == (path.stem in OLD_FORM), complaints


def test_every_term_names_its_lecture():
    """By `{term}` in a lecture, which the site turns into "Introduced in", or by a link."""
    marked = set()
    for path in WITH_WARM_UP:
        text = " ".join(path.read_text(encoding="utf-8").replace("\\n", " ").split())
        marked |= {name.lower() for name in re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", text)}
    glossary = (ROOT / "pages/glossary.md").read_text(encoding="utf-8").partition(":sorted:")[2]
    entries = re.findall(r"^(\S.*)\n((?:(?: .*)?\n)+)", glossary, re.MULTILINE)
    assert len(entries) > 100
    linked = {name.lower() for name, text in entries if "](../lectures/" in text}
    names = {name.lower() for name, _ in entries}
    assert (sorted(names - marked - linked), sorted(marked & linked)) == ([], [])  # told once
