"""Tasks of lecture 2, in the order of its sheet."""

TASKS = [
    "query_context",
    "causal_mean",
    "stable_softmax",
    "log_softmax",
    "attention_shapes",
    "context_vectors",
    "attend_in_batch",
    "claims_vectors",
    "attention_received",
    "attention_properties",
    "claim_gates",
    "is_equivariant",
    "argmax_by_attention",
]
