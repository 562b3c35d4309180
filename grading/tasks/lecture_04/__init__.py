"""Tasks of lecture 4, in the order of its sheet."""

TASKS = [
    "masked_row",
    "keys_seen",
    "causal_lower_right",
    "attend_without_padding",
    "claims_masks",
    "suspicious_loss",
    "convert_mask",
    "batch_mask",
    "sliding_window_attention",
    "BuggyCausalHead",
    "tree_mask",
    "masked_weights",
    "future_leaks",
]
