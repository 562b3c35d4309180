"""What `helpers.attention` refuses, and in which words."""

from helpers import attention, positions
from tests.helpers.bad_call import heads, ids, one_cache, sdpa, true, x

CASES = {
    sdpa: [
        (lambda: sdpa(x(4), x(3, 4), x(3, 4)), "q: got shape (4,); needed shape (…, T, d)"),
        (
            lambda: sdpa(x(3, 0), x(3, 0), x(3, 4)),
            "q: got shape (3, 0); needed a last axis of at least 1",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 5), x(3, 5)),
            "k: got shape (3, 5); needed shape (T_k, 4) to go with q of shape (2, 4)",
        ),
        (
            lambda: sdpa(x(2, 2, 4), x(3, 4), x(3, 4)),
            "k: got shape (3, 4); needed shape (2, T_k, 4) to go with q of shape (2, 2, 4)",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(2, 4)),
            "v: got shape (2, 4); needed shape (3, d_v) to go with k of shape (3, 4)",
        ),
        (
            lambda: sdpa(ids([1]), ids([1]), ids([1])),
            "q: got dtype torch.int64; needed a floating-point dtype",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4).double(), x(3, 4)),
            "k: got dtype torch.float64; needed torch.float32, as q has",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4).half()),
            "v: got dtype torch.float16; needed torch.float32, as q has",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), x(2, 3)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), true(3, 2)),
            "mask: got shape (3, 2); needed a shape that broadcasts to (2, 3)",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), true(5, 2, 3)),
            "mask: got shape (5, 2, 3); needed a shape that broadcasts to (2, 3)",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), bias=x(3, 2)),
            "bias: got shape (3, 2); needed a shape that broadcasts to (2, 3)",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), bias=true(2, 3)),
            "bias: got dtype torch.bool; needed torch.float32, as q has",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), dropout_p=1.0),
            "dropout_p: got 1.0; needed a share from 0 up to, but not including, 1",
        ),
    ],
    attention.masked_softmax: [
        (
            lambda: attention.masked_softmax(x(2, 3), x(2, 3)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
        (
            lambda: attention.masked_softmax(x(2, 3), true(3, 3)),
            "mask: got shape (3, 3); needed a shape that broadcasts to (2, 3)",
        ),
    ],
    attention.SelfAttention: [
        (lambda: attention.SelfAttention(0, 2), "d_model: got 0; needed at least 1"),
        (lambda: attention.SelfAttention(3, 0), "d_k: got 0; needed at least 1"),
        (lambda: attention.SelfAttention(3, 2, 0), "d_v: got 0; needed at least 1"),
        (
            lambda: attention.SelfAttention(3, 2)(x(5, 4)),
            "x: got shape (5, 4); needed shape (…, T, 3)",
        ),
        (lambda: attention.SelfAttention(3, 2)(x(3)), "x: got shape (3,); needed shape (…, T, 3)"),
        (
            lambda: attention.SelfAttention(3, 2)(x(5, 3).double()),
            "x: got dtype torch.float64; needed torch.float32, as the weights have",
        ),
    ],
    attention.CausalSelfAttention: [
        (
            lambda: attention.CausalSelfAttention(3, 2, 0),
            "context_length: got 0; needed at least 1",
        ),
        (
            lambda: attention.CausalSelfAttention(3, 2, 4, dropout=-0.1),
            "dropout: got -0.1; needed a share from 0 up to, but not including, 1",
        ),
        (
            lambda: attention.CausalSelfAttention(3, 2, 4)(x(5, 3)),
            "x: got 5 positions; needed at most context_length = 4",
        ),
        (
            lambda: attention.CausalSelfAttention(3, 2, 4)(x(5, 2)),
            "x: got shape (5, 2); needed shape (…, T, 3)",
        ),
    ],
    attention.KeyValueCache: [
        (
            lambda: one_cache(2, 3, 4, 5).append(x(1, 3, 4, 5), x(1, 3, 4, 5)),
            "k: got shape (1, 3, 4, 5); needed shape (2, 3, T, 5), as the cache holds",
        ),
        (
            lambda: one_cache(2, 3, 4, 5).append(x(2, 3, 1, 5), x(2, 3, 1, 6)),
            "v: got shape (2, 3, 1, 6); needed shape (2, 3, T, 5), as the cache holds",
        ),
    ],
    heads: [
        (
            lambda: heads(4, 2)(x(3, 1, 4), cache=one_cache(2, 2, 5, 2)),
            "k: got shape (3, 2, 1, 2); needed shape (2, 2, T, 2), as the cache holds",
        ),
        (
            lambda: heads(4, 2)(x(2, 1, 4), mask=true(1, 1, 1, 2), cache=one_cache(2, 2, 5, 2)),
            "mask: got shape (1, 1, 1, 2); needed a shape that broadcasts to (2, 2, 1, 6)",
        ),
        (lambda: heads(5, 2), "d_model: got 5; needed a multiple of n_heads = 2, or d_k given"),
        (lambda: heads(4, 0), "n_heads: got 0; needed at least 1"),
        (lambda: heads(0, 1), "d_model: got 0; needed at least 1"),
        (lambda: heads(4, 2, d_k=0), "d_k: got 0; needed at least 1"),
        (lambda: heads(4, 2, d_v=0), "d_v: got 0; needed at least 1"),
        (lambda: heads(4, 2, d_out=0), "d_out: got 0; needed at least 1"),
        (lambda: heads(4, 2, d_context=0), "d_context: got 0; needed at least 1"),
        (
            lambda: heads(4, 2, dropout=1.5),
            "dropout: got 1.5; needed a share from 0 up to, but not including, 1",
        ),
        (lambda: heads(4, 2)(x(3, 4)), "query: got shape (3, 4); needed shape (batch, T, 4)"),
        (lambda: heads(4, 2)(x(2, 3, 5)), "query: got shape (2, 3, 5); needed shape (batch, T, 4)"),
        (
            lambda: heads(4, 2)(x(2, 3, 4).double()),
            "query: got dtype torch.float64; needed torch.float32, as the weights have",
        ),
        (
            lambda: heads(4, 2, d_context=6)(x(2, 3, 4)),
            "key: got shape (2, 3, 4); needed shape (batch, T, 6)",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), x(3, 4)),
            "key: got shape (3, 4); needed shape (batch, T, 4)",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), x(3, 3, 4)),
            "key: got shape (3, 3, 4); needed shape (2, 3, …): batch as query, T_k as key",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), None, x(2, 3, 3)),
            "value: got shape (2, 3, 3); needed shape (batch, T, 4)",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), None, x(2, 5, 4)),
            "value: got shape (2, 5, 4); needed shape (2, 3, …): batch as query, T_k as key",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), mask=x(3, 3)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), mask=true(2, 3, 3)),
            "mask: got 3 dimensions; needed 2 or 4: (T_q, T_k) or (batch, heads, T_q, T_k)",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), mask=true(3, 4)),
            "mask: got shape (3, 4); needed a shape that broadcasts to (2, 2, 3, 3)",
        ),
        (
            lambda: heads(4, 2, positions=positions.ALiBiPositions(3))(x(2, 3, 4)),
            "bias of positions: got shape (3, 3, 3); needed a shape that broadcasts to (2, 2, 3,",
        ),
    ],
}
