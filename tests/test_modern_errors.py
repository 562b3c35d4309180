"""What `helpers.modern` refuses, and in which words."""

import pytest
import torch
from errors import assert_refused, calls, language_model, never_refused, x
from torch import nn

from helpers import modern

CASES = {
    modern.RMSNorm: [
        (lambda: modern.RMSNorm(0), "d_model: got 0; needed at least 1"),
        (lambda: modern.RMSNorm(4)(x(2, 3)), "x: got shape (2, 3); needed shape (…, 4)"),
    ],
    modern.SwiGLU: [
        (lambda: modern.SwiGLU(4, 0), "d_ff: got 0; needed at least 1"),
        (lambda: modern.SwiGLU(4, 5)(x(2, 3)), "x: got shape (2, 3); needed shape (…, 4)"),
    ],
    modern.swiglu_width: [(lambda: modern.swiglu_width(1), "d_ff: got 1; needed at least 2")],
    modern.GroupedQueryAttention: [
        (
            lambda: modern.GroupedQueryAttention(12, 6, 4),
            "n_kv_heads: got 4; needed a number that divides n_heads = 6",
        ),
        (lambda: modern.GroupedQueryAttention(12, 6, 0), "n_kv_heads: got 0; needed at least 1"),
        (
            lambda: modern.GroupedQueryAttention(12, 5, 5),
            "d_model: got 12; needed a multiple of n_heads = 5, or d_k given",
        ),
        (
            lambda: modern.GroupedQueryAttention(12, 6, 2)(x(1, 2, 11)),
            "query: got shape (1, 2, 11); needed shape (batch, T, 12)",
        ),
    ],
    modern.SlidingWindow: [
        (lambda: modern.SlidingWindow(0), "window: got 0; needed at least 1"),
        (
            lambda: modern.SlidingWindow(2).bias(3, 2, torch.ones(1)),
            "T_q, T_k: got (3, 2); needed 0 <= T_q <= T_k",
        ),
    ],
    modern.with_parts: [
        (
            lambda: modern.with_parts(language_model(), attention=lambda: nn.Linear(4, 4)),
            "attention: got Linear; needed a MultiHeadAttention, or one of its kind",
        ),
    ],
}

CANNOT_FAIL = {modern.gelu: "takes every number"}


@pytest.mark.parametrize(("call", "message"), calls(CASES))
def test_bad_call(call, message):
    assert_refused(call, message)


def test_every_public_function_has_a_bad_call():
    assert never_refused(modern, CASES, CANNOT_FAIL) == []
