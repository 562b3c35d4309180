"""Whether code or inputs name torch, whose import takes longer than all else in NumPy's sheets.

This decides only what is imported at the start. Code that comes to torch in another way is run
again with it, so a mistake here costs time and nothing else.
"""

from __future__ import annotations

import re

from grading.tensors import is_tensor

WITHOUT_TORCH = {
    "arrays",
    "attraction",
    "checks",
    "language",
    "pieces",
    "plotting",
    "quiz",
    "scale",
    "viewer",
}
"""Modules of `helpers` that do not import torch; a new one may be added."""
HELPERS = re.compile(r"\bhelpers(?:\.(\w+)|\s+import\s+\(?([\w ,]+))")


def needs_torch(source: str) -> bool:
    """Whether code names torch, or a module of `helpers` that imports it."""
    pairs = ((one or many).split(",") for one, many in HELPERS.findall(source))
    named = {word.split()[0] for words in pairs for word in words if word.strip()}
    return bool(re.search(r"\btorch\b", source)) or not named <= WITHOUT_TORCH


def holds_tensor(value: object) -> bool:
    """Whether there is a tensor in it, however deep."""
    inner = value.values() if isinstance(value, dict) else value
    return is_tensor(value) or (
        isinstance(value, list | tuple | set | dict) and any(map(holds_tensor, inner))
    )
