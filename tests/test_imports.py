"""Which component may import which: the drawing in CONTRIBUTING.md, as a test."""

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.conftest import ROOT

BASE = ("validation", "tokens", "config", "numpy_attention", "bpe", "gguf_weights")
ARCHITECTURE = ("masks", "positions", "attention", "variants", "blocks", "models")
ARCHITECTURE += ("encoder_decoder", "rnn")
USE = ("training", "adapters", "generation", "pretrained")

BELOW = {
    "base": (),
    "architecture": ("base",),
    "use": ("base", "architecture"),
    "data": ("base",),
    "results": ("base",),
    "viz": ("base",),
    "apps": ("base", "architecture", "use", "data"),
    "interp": ("base", "architecture", "use", "results"),
    "grading": ("helpers",),
    "classroom": ("helpers", "grading"),
}
"""For each component, those below it; a component may import itself and these, and no other."""

COMPONENTS = {f"helpers.{name}": "base" for name in BASE}
COMPONENTS |= {f"helpers.{name}": "architecture" for name in ARCHITECTURE}
COMPONENTS |= {f"helpers.{name}": "use" for name in USE}
COMPONENTS |= {f"helpers.{name}": name for name in ("data", "results", "viz", "apps", "interp")}
COMPONENTS |= {
    name: name for name in ("grading", "classroom", "experiments", "benchmarks", "tests")
}


def component_of(module: str) -> str:
    """The component that a module of the project belongs to; empty for any other module."""
    first_two = ".".join(module.split(".")[:2])
    return COMPONENTS.get(first_two) or COMPONENTS.get(module.split(".")[0], "")


def imported(source: str) -> set[str]:
    """Modules and names that a module imports, also inside functions and for annotations."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def forbidden(module: str, source: str) -> list[str]:
    """Imports that a module's component does not allow, as MODULE (ITS COMPONENT) -> NAME (…)."""
    own = component_of(module)
    allowed = {own, *BELOW[own]}
    in_helpers = {"helpers"} & allowed
    return [
        f"{module} ({own}) -> {name} ({component_of(name)})"
        for name in sorted(imported(source))
        if component_of(name) not in allowed | {""}
        and not (in_helpers and name.startswith("helpers."))
    ]


def modules(*folders: str) -> Iterable[tuple[str, Path]]:
    """The modules below these folders of the project, with their paths."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            yield module.removesuffix(".__init__"), path


def test_imports_go_down():
    wrong = [
        line
        for module, path in modules("helpers", "grading", "classroom")
        if module != "helpers"
        for line in forbidden(module, path.read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_every_module_of_helpers_has_a_component():
    assert [module for module, _ in modules("helpers") if not component_of(module)] == ["helpers"]


@pytest.mark.parametrize(
    ("module", "line", "component"),
    [
        ("helpers.masks", "from helpers.training import train", "use"),
        ("helpers.encoder_decoder", "from helpers import training", "use"),
        ("helpers.data.kannada", "from helpers.models import LanguageModel", "architecture"),
        ("helpers.viz.quiz", "from helpers.apps.metrics import f1_score", "apps"),
        ("helpers.tokens", "import helpers.masks", "architecture"),
        ("helpers.apps.metrics", "from grading.check import check", "grading"),
        ("helpers.apps.metrics", "def f():\n    from experiments import order", "experiments"),
        ("grading.check", "from classroom import policy", "classroom"),
        ("classroom.policy", "from tests.conftest import ROOT", "tests"),
    ],
)
def test_upward_import_is_noticed(module, line, component):
    (found,) = forbidden(module, line)
    assert found.startswith(f"{module} (") and found.endswith(f"({component})")


def test_import_from_below_is_allowed():
    for module, line in (
        ("helpers.blocks", "from helpers.attention import MultiHeadAttention\nimport torch"),
        ("helpers.apps.metrics", "from helpers.data import news"),
        ("grading.check", "from helpers.viz.markup import figcaption"),
        ("classroom.policy", "from grading.task import Task"),
    ):
        assert forbidden(module, line) == []


def test_no_two_modules_import_each_other():
    """Neither directly nor through others: helpers can be sorted, each after what it imports."""
    names = {module for module, _ in modules("helpers")}
    needs = {
        module: {
            next(part for part in (name, name.rpartition(".")[0]) if part in names)
            for name in imported(path.read_text(encoding="utf-8"))
            if name.startswith("helpers.")
        }
        for module, path in modules("helpers")
    }
    while free := {module for module, below in needs.items() if not below & needs.keys()}:
        needs = {module: below for module, below in needs.items() if module not in free}
    assert needs == {}


def test_drawing_shows_every_component():
    text = (ROOT / "_static" / "architecture.svg").read_text(encoding="utf-8")
    words = set(re.findall(r"[\w.]+", text))
    modules_of_helpers = {
        name.removeprefix("helpers.") for name in COMPONENTS if "helpers." in name
    }
    assert modules_of_helpers <= words
    assert "![" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
