"""Whether code or inputs name torch, whose import takes longer than all else in NumPy's sheets.

This decides only what is imported at the start. Code that comes to torch in another way is run
again with it, so a mistake here costs time and nothing else.
"""

from __future__ import annotations

import re

from grading.runner.tensors import is_tensor

WITHOUT_TORCH = {"bpe", "config", "numpy_attention", "results", "validation", "viz"}
WITHOUT_TORCH |= {"data.attraction"}
"""Modules of `helpers`, and whole packages, that do not import torch; a new one may be added."""
PACKAGES = {"apps", "data", "interp", "results", "viz"}
FROM = re.compile(r"\bfrom\s+helpers(?:\.([\w.]+))?\s+import\s+\(?([\w ,]+)")
DOTTED = re.compile(r"\bhelpers\.([\w.]+)")


def needs_torch(source: str) -> bool:
    """Whether code names torch, or a module of `helpers` that imports it."""
    named = [name for name in DOTTED.findall(source) if name not in PACKAGES]
    for module, names in FROM.findall(source):
        if not module or module in PACKAGES:
            words = [word.split()[0] for word in names.split(",") if word.strip()]
            named += [f"{module}.{word}".lstrip(".") for word in words]
    return bool(re.search(r"\btorch\b", source)) or not all(map(_is_without, named))


def _is_without(name: str) -> bool:
    """Whether a module, or the package that it belongs to, does not import torch."""
    parts = name.split(".")
    return any(".".join(parts[: i + 1]) in WITHOUT_TORCH for i in range(len(parts)))


def holds_tensor(value: object) -> bool:
    """Whether there is a tensor in it, however deep."""
    inner = value.values() if isinstance(value, dict) else value
    return is_tensor(value) or (
        isinstance(value, list | tuple | set | dict) and any(map(holds_tensor, inner))
    )
