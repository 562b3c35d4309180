"""`make check` finds the tests of what is named, and fails when they do."""

import pytest

from tests.conftest import ROOT
from tests.repo_copy import copy_project
from tools import check

MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("helpers", "grading", "tools")
    for path in (ROOT / folder).glob("*.py")
    if path.name != "__init__.py"
)


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_tests(module):
    assert check.tests_of(module)


REFUSE_ELSEWHERE = {
    "ablation": "test_ablation.py",
    "agreement": "test_data_errors.py",
    "attraction": "test_attraction.py",
    "attribution": "test_attribution.py",
    "gguf_weights": "test_gguf_weights.py",
    "attention_reader": "test_models_errors.py",
    "attention_viewer": "test_attention_viewer.py",
    "chef": "has no argument",
    "comparison": "test_search.py",
    "dependency_trees": "test_dependency_trees.py",
    "drawings": "test_explorables.py",
    "explorables": "test_explorables.py",
    "induction": "test_hooks_errors.py",
    "markup": "takes any text",
    "metrics": "test_question_answering_errors.py",
    "recall": "test_data_errors.py",
    "rnn": "test_models_errors.py",
    "store": "test_data_errors.py",
    "stories": "test_data_errors.py",
    "story_model": "test_story_model.py",
    "tables": "test_explorables.py",
    "tokens": "test_data_errors.py",
    "transliteration": "has nothing to refuse",
}
"""Modules without a file of bad calls, and where their refusals are tested."""


def test_every_module_of_the_helpers_has_bad_calls():
    """A new one needs `test_NAME_errors.py`."""
    modules = {path.stem for path in (ROOT / "helpers").rglob("[!_]*.py")}
    files = {path.stem[5:-7] for path in (ROOT / "tests").rglob("test_*_errors.py")} - {"data"}
    assert files | set(REFUSE_ELSEWHERE) == modules


def test_the_index_names_every_test():
    """`tests/README.md`; those named after a module need no line of their own."""
    index = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    modules = {path.stem for path in (ROOT / "helpers").rglob("*.py")} | {"data"}
    for path in (ROOT / "tests").rglob("test_*.py"):
        of_a_module = any(f"_{name}_" in f"{path.stem}_" for name in modules)
        known = of_a_module or path.name in ("test_check.py", "test_mutations.py")
        assert known or path.name in index, path.name


def test_names_come_before_imports():
    assert check.tests_of("helpers/masks.py")[0] == "tests/helpers/test_masks.py"
    assert "tests/helpers/test_attention.py" not in check.tests_of("helpers/masks.py")
    assert "tests/grading/test_mistake_variants.py" not in check.tests_of("helpers/variants.py")
    assert check.tests_of("tests/helpers/test_masks.py") == ["tests/helpers/test_masks.py"]


def test_what_is_not_there_is_refused():
    for argument in ("NB=lectures/99.ipynb", "FILE=helpers/nothing.py", "TASK=no_such_task", "X=1"):
        with pytest.raises(SystemExit):
            check.main([argument])


@pytest.mark.full
def test_a_fault_is_found(tmp_path, monkeypatch, capsys):
    copy_project(tmp_path, without=("lectures", "solutions", "exercises", "_static"))
    monkeypatch.setattr(check, "ROOT", tmp_path)
    right = check.steps({"NB": [], "FILE": ["helpers/masks.py"], "TASK": []})
    monkeypatch.setattr(check, "steps", lambda wanted: [right[0], right[-1]])
    assert check.main([]) == 0
    masks = tmp_path / "helpers" / "masks.py"
    masks.write_text(masks.read_text(encoding="utf-8").replace("tril(", "triu("), encoding="utf-8")
    assert check.main([]) == 1
    assert "✗ tests of helpers/masks.py" in capsys.readouterr().out
