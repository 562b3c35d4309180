"""Every bad call of the tables in `bad_calls` is refused, and every public function has one."""

import importlib
import importlib.util
import pkgutil
from types import ModuleType

import pytest

import helpers
from tests.conftest import ROOT
from tests.helpers import bad_calls
from tests.helpers.bad_call import assert_refused, calls, never_refused

NEEDS = {"pretrained": "transformers"}
"""What a table needs beside the requirements of `helpers`; without it the table is left out."""
NAMES = [table.name for table in pkgutil.iter_modules(bad_calls.__path__)]
LEFT_OUT = {name for name, package in NEEDS.items() if not importlib.util.find_spec(package)}
TABLES = [
    importlib.import_module(f"{bad_calls.__name__}.{name}")
    for name in NAMES
    if name not in LEFT_OUT
]
CASES = {function: bad for table in TABLES for function, bad in table.CASES.items()}
CANNOT_FAIL = {
    function: why for table in TABLES for function, why in getattr(table, "CANNOT_FAIL", {}).items()
}

ELSEWHERE = {
    "gguf_weights": "helpers/test_gguf_weights.py",
    "apps.story_model": "helpers/apps/test_story_model.py",
    "apps.character_lstm": "helpers/apps/test_character_lstm.py",
    "data.attraction": "helpers/data/test_attraction.py",
    "interp.ablation": "helpers/interp/test_ablation.py",
    "interp.attribution": "helpers/interp/test_attribution.py",
    "results.comparison": "experiments/test_search.py",
    "apps.real_questions": "helpers/apps/test_question_answering.py",
    "viz.attention_viewer": "helpers/viz/test_attention_viewer.py",
    "viz.dependency_trees": "helpers/viz/test_dependency_trees.py",
    "viz.drawings": "helpers/viz/test_explorables.py",
    "viz.explorables": "helpers/viz/test_explorables.py",
    "viz.tables": "helpers/viz/test_explorables.py",
}
"""Modules whose refusals are tested with the rest of their behaviour, and where."""
REFUSES_NOTHING = {"data.chef": "has no argument", "viz.markup": "takes any text"}

MODULES = [
    name
    for name in (
        module.name.removeprefix("helpers.")
        for module in pkgutil.walk_packages(helpers.__path__, "helpers.")
        if not module.ispkg
    )
    if name not in ELSEWHERE and name not in REFUSES_NOTHING and name not in LEFT_OUT
]


@pytest.mark.parametrize(("call", "message"), calls(CASES))
def test_bad_call(call, message):
    assert_refused(call, message)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_has_a_bad_call(name):
    module = importlib.import_module(f"helpers.{name}")
    assert never_refused(module, CASES, CANNOT_FAIL) == []


def test_refusals_elsewhere_are_tested():
    for name, place in ELSEWHERE.items():
        text = (ROOT / "tests" / place).read_text(encoding="utf-8")
        assert name.rpartition(".")[2] in text
        assert "pytest.raises(" in text


def test_no_function_is_in_two_tables():
    assert len(CASES) == sum(len(table.CASES) for table in TABLES)


def test_missing_bad_call_is_noticed():
    module = ModuleType("helpers.new")
    exec("def open_up(x):\n    return x\n\ndef _own(x):\n    return x", vars(module))
    assert [line.partition(":")[0] for line in never_refused(module, CASES)] == ["open_up"]
    assert never_refused(module, {module.open_up: []}) == []


def test_accepted_call_is_noticed():
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        assert_refused(lambda: 1, "x: got 1; needed 2")
