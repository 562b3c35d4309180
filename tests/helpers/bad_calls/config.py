"""What `helpers.config` refuses, and in which words."""

from helpers import config
from helpers.config import GPT2, TransformerConfig

CASES = {
    config.TransformerConfig: [
        (lambda: TransformerConfig(0, 4, 1, 1, 4), "vocab: got 0; needed at least 1"),
        (
            lambda: TransformerConfig(9, 4, 1, 1, 4, n_kv_heads=0),
            "n_kv_heads: got 0; needed at least 1",
        ),
        (
            lambda: TransformerConfig(9, 4, context_length=0),
            "context_length: got 0; needed at least 1",
        ),
        (
            lambda: TransformerConfig(9, 4, learned_positions=True),
            "context_length: got None; needed a number, for learned positions",
        ),
        (lambda: TransformerConfig(9, 4, -1), "n_layers: got -1; needed at least 0"),
        (lambda: TransformerConfig(9, 4, n_outputs=0), "n_outputs: got 0; needed at least 1"),
        (lambda: TransformerConfig(9, 4, source_vocab=0), "source_vocab: got 0; needed at least 1"),
        (lambda: TransformerConfig(9, 4, norm="no"), "norm: got 'no'; needed 'pre' or 'post'"),
        (
            lambda: TransformerConfig(9, 4, activation="tanh"),
            "activation: got 'tanh'; needed 'relu' or 'gelu' or 'swiglu'",
        ),
        (lambda: TransformerConfig(9, 4, dropout=1.0), "dropout: got 1.0; needed a share from 0"),
        (
            lambda: TransformerConfig(10, 10, 1, 3, 4),
            "d_model: got 10; needed a multiple of n_heads = 3, or d_head given",
        ),
        (
            lambda: TransformerConfig(9, 12, 1, 6, 4, n_kv_heads=4),
            "n_kv_heads: got 4; needed a number that divides n_heads = 6",
        ),
    ],
    config.flops_per_token: [
        (lambda: config.flops_per_token(GPT2, -1), "seen: got -1; needed at least 0"),
    ],
    config.weight_bytes: [
        (lambda: config.weight_bytes(GPT2, 0), "bytes_each: got 0; needed a number above 0"),
    ],
    config.cache_bytes: [
        (lambda: config.cache_bytes(GPT2, -1), "tokens: got -1; needed at least 0"),
        (lambda: config.cache_bytes(GPT2, 3, window=0), "window: got 0; needed at least 1"),
        (lambda: config.cache_bytes(GPT2, 3, -2), "bytes_each: got -2; needed a number above 0"),
    ],
    config.seconds_per_token: [
        (
            lambda: config.seconds_per_token(GPT2, 0),
            "bandwidth: got 0; needed bytes a second, above 0",
        ),
        (lambda: config.seconds_per_token(GPT2, 1e9, batch=0), "batch: got 0; needed at least 1"),
    ],
}

CANNOT_FAIL = {
    config.matrices: "every `TransformerConfig` has matrices",
    config.parameters: "every `TransformerConfig` has parameters",
}
