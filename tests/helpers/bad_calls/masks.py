"""What `helpers.masks` refuses, and in which words."""

import torch

from helpers import masks
from tests.helpers.bad_call import ids, true, x

CASES = {
    masks.causal_mask: [
        (lambda: masks.causal_mask(-1), "T_q, T_k: got (-1, -1); needed 0 <= T_q <= T_k"),
        (lambda: masks.causal_mask(3, 2), "T_q, T_k: got (3, 2); needed 0 <= T_q <= T_k"),
    ],
    masks.window_mask: [
        (lambda: masks.window_mask(3, 3, 0), "window: got 0; needed at least 1"),
        (lambda: masks.window_mask(3, 2, 1), "T_q, T_k: got (3, 2); needed 0 <= T_q <= T_k"),
    ],
    masks.padding_mask: [
        (
            lambda: masks.padding_mask(ids([1], [2]), 3),
            "lengths: got shape (2, 1); needed shape (batch,)",
        ),
        (
            lambda: masks.padding_mask(torch.tensor([1, 4]), 3),
            "lengths: got [1, 4]; needed numbers from 0 to T_k = 3",
        ),
        (
            lambda: masks.padding_mask(torch.tensor([-1]), 3),
            "lengths: got [-1]; needed numbers from 0 to T_k = 3",
        ),
        (
            lambda: masks.padding_mask(torch.tensor([1.5]), 3),
            "lengths: got dtype torch.float32; needed a dtype of whole numbers",
        ),
    ],
    masks.combine_masks: [
        (
            lambda: masks.combine_masks(true(2), x(2)),
            "mask 2: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
        (
            lambda: masks.combine_masks(None, true(2, 3), true(2, 4)),
            "mask 3: got shape (2, 4); needed a shape that broadcasts with (2, 3)",
        ),
    ],
    masks.require_bool: [
        (
            lambda: masks.require_bool("mask", x(2)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
    ],
    masks.to_blocking: [
        (
            lambda: masks.to_blocking(x(2)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
    ],
    masks.from_blocking: [
        (
            lambda: masks.from_blocking(x(2)),
            "blocking: got dtype torch.float32; needed torch.bool (True = may attend);",
        ),
    ],
    masks.to_additive: [
        (
            lambda: masks.to_additive(x(2)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
        (
            lambda: masks.to_additive(true(2), torch.int64),
            "dtype: got torch.int64; needed a floating-point dtype: it must hold −inf",
        ),
    ],
    masks.from_additive: [
        (
            lambda: masks.from_additive(torch.tensor([0.0, -1e9])),
            "additive: got values such as [-1000000000.0]; needed only 0 and −inf",
        ),
        (
            lambda: masks.from_additive(~true(2)),
            "additive: got dtype torch.bool; needed a floating-point dtype",
        ),
    ],
}
