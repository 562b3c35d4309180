"""What `helpers.variants` refuses, and in which words."""

import torch

from helpers import variants
from tests.helpers.bad_call import x

CASES = {
    variants.RMSNorm: [
        (lambda: variants.RMSNorm(0), "d_model: got 0; needed at least 1"),
        (lambda: variants.RMSNorm(4)(x(2, 3)), "x: got shape (2, 3); needed shape (…, 4)"),
    ],
    variants.SwiGLU: [
        (lambda: variants.SwiGLU(4, 0), "d_ff: got 0; needed at least 1"),
        (lambda: variants.SwiGLU(4, 5, 1.0), "dropout: got 1.0; needed a share from 0 up to"),
        (lambda: variants.SwiGLU(4, 5)(x(2, 3)), "x: got shape (2, 3); needed shape (…, 4)"),
    ],
    variants.swiglu_width: [(lambda: variants.swiglu_width(1), "d_ff: got 1; needed at least 2")],
    variants.GroupedQueryAttention: [
        (
            lambda: variants.GroupedQueryAttention(12, 6, n_kv_heads=4),
            "n_kv_heads: got 4; needed a number that divides n_heads = 6",
        ),
        (
            lambda: variants.GroupedQueryAttention(12, 6, n_kv_heads=0),
            "n_kv_heads: got 0; needed at least 1",
        ),
        (
            lambda: variants.GroupedQueryAttention(12, 5, n_kv_heads=5),
            "d_model: got 12; needed a multiple of n_heads = 5, or d_k given",
        ),
        (
            lambda: variants.GroupedQueryAttention(12, 6, n_kv_heads=2)(x(1, 2, 11)),
            "query: got shape (1, 2, 11); needed shape (batch, T, 12)",
        ),
    ],
    variants.SlidingWindow: [
        (lambda: variants.SlidingWindow(0), "window: got 0; needed at least 1"),
        (
            lambda: variants.SlidingWindow(2).bias(3, 2, torch.ones(1)),
            "T_q, T_k: got (3, 2); needed 0 <= T_q <= T_k",
        ),
    ],
}

CANNOT_FAIL = {variants.gelu: "takes every number"}
