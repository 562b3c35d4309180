"""What `helpers.blocks` refuses, and in which words."""

from helpers import blocks
from helpers.config import TransformerConfig
from tests.helpers.bad_call import one_cache, true, x

CASES = {
    blocks.FeedForward: [
        (lambda: blocks.FeedForward(0, 3), "d_model: got 0; needed at least 1"),
        (lambda: blocks.FeedForward(3, 0), "d_ff: got 0; needed at least 1"),
        (
            lambda: blocks.FeedForward(3, 3, 2.0),
            "dropout: got 2.0; needed a share from 0 up to, but not including, 1",
        ),
        (lambda: blocks.FeedForward(3, 3)(x(2, 4)), "x: got shape (2, 4); needed shape (…, 3)"),
    ],
    blocks.TransformerBlock: [
        (
            lambda: blocks.TransformerBlock(4, 2, norm="both"),
            "norm: got 'both'; needed 'pre' or 'post'",
        ),
        (
            lambda: blocks.TransformerBlock(4, 3),
            "d_model: got 4; needed a multiple of n_heads = 3, or d_k given",
        ),
        (lambda: blocks.TransformerBlock(4, 2, d_ff=0), "d_ff: got 0; needed at least 1"),
        (
            lambda: blocks.TransformerBlock(4, 2)(x(3, 4)),
            "x: got shape (3, 4); needed shape (batch, T, 4)",
        ),
        (
            lambda: blocks.TransformerBlock(4, 2)(x(2, 3, 4), cache=one_cache(2, 4, 3, 1)),
            "k: got shape (2, 2, 3, 2); needed shape (2, 4, T, 1), as the cache holds",
        ),
        (
            lambda: blocks.TransformerBlock(4, 2, norm="post")(x(2, 3, 5)),
            "x: got shape (2, 3, 5); needed shape (batch, T, 4)",
        ),
    ],
    blocks.DecoderBlock: [
        (
            lambda: blocks.DecoderBlock(4, 2, norm="both"),
            "norm: got 'both'; needed 'pre' or 'post'",
        ),
        (
            lambda: blocks.DecoderBlock(4, 2)(x(3, 4), x(2, 3, 4)),
            "x: got shape (3, 4); needed shape (batch, T, 4)",
        ),
        (
            lambda: blocks.DecoderBlock(4, 2)(x(2, 3, 4), x(2, 3, 5)),
            "memory: got shape (2, 3, 5); needed shape (batch, T, 4)",
        ),
        (
            lambda: blocks.DecoderBlock(4, 2)(x(2, 3, 4), x(3, 3, 4)),
            "memory: got shape (3, 3, 4); needed shape (2, T_k, 4): batch as x",
        ),
        (
            lambda: blocks.DecoderBlock(4, 2)(x(2, 3, 4), x(2, 5, 4), None, true(3, 3)),
            "mask: got shape (3, 3); needed a shape that broadcasts to (2, 2, 3, 5)",
        ),
    ],
    blocks.DecoderStack: [
        (
            lambda: blocks.DecoderStack(TransformerConfig(1, 4, n_layers=2, n_heads=2))(
                x(1, 3, 4), x(1, 3, 4), cache=[blocks.DecoderCache()]
            ),
            "cache: got 1 caches; needed 2, one for each block",
        ),
        (
            lambda: blocks.DecoderStack(TransformerConfig(1, 4, n_layers=1, n_heads=2))(
                x(1, 3, 4), x(2, 3, 4)
            ),
            "memory: got shape (2, 3, 4); needed shape (1, T_k, 4): batch as x",
        ),
    ],
    blocks.TransformerStack: [
        (
            lambda: blocks.TransformerStack(TransformerConfig(1, 4, n_layers=2, n_heads=2))(
                x(1, 3, 4), cache=[one_cache()]
            ),
            "cache: got 1 caches; needed 2, one for each block",
        ),
        (
            lambda: blocks.TransformerStack(TransformerConfig(1, 4, n_layers=1, n_heads=2))(
                x(1, 3, 5)
            ),
            "x: got shape (1, 3, 5); needed shape (batch, T, 4)",
        ),
    ],
}

CANNOT_FAIL = {
    blocks.DecoderCache: "takes nothing; its two parts refuse what does not fit",
    blocks.BlockParts: "holds classes, which refuse what does not fit",
}
