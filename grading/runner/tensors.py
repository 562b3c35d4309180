"""Tensors, without importing torch: where nobody has imported it, nothing is a tensor.

The import takes longer than all else that a submission in NumPy needs. So what runs in the sandbox
asks here and imports torch nowhere by itself.
"""

from __future__ import annotations

import sys
from types import ModuleType


def torch_if_there() -> ModuleType | None:
    """torch, if it was imported."""
    return sys.modules.get("torch")


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor or a parameter; a class of the student's own is neither."""
    torch = torch_if_there()
    return torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter)
