"""The running example of lectures 2 to 5.

Source: V. Koti, "Attention for your Transformers" (see the bibliography). The numbers are made up.
"""

import torch
from torch import Tensor

CHEF_TOKENS: tuple[str, ...] = tuple(
    "The chef prepared a delicious meal and it was served with wine".split()
)

_CHEF_TABLE = (
    (0.32, 0.68, 0.45),  # The
    (0.71, 0.23, 0.89),  # chef
    (0.55, 0.92, 0.37),  # prepared
    (0.18, 0.79, 0.60),  # a
    (0.84, 0.41, 0.13),  # delicious
    (0.29, 0.63, 0.76),  # meal
    (0.50, 0.15, 0.95),  # and
    (0.67, 0.38, 0.82),  # it
    (0.43, 0.91, 0.26),  # was
    (0.75, 0.20, 0.58),  # served
    (0.36, 0.72, 0.49),  # with
    (0.88, 0.54, 0.11),  # wine
)


def chef_vectors(dtype: torch.dtype = torch.float32) -> Tensor:
    """One vector for each word of the sentence, (12, 3)."""
    return torch.tensor(_CHEF_TABLE, dtype=dtype)
