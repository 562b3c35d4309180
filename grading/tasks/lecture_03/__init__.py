"""Tasks of lecture 3, in the order of its sheet."""

TASKS = [
    "projection_shapes",
    "scores_from_weights",
    "query_key_value_roles",
    "claim_untrained_head",
    "one_head",
    "transpose_bug",
    "projection_bugs",
    "score_variances",
    "attention_entropy",
    "softmax_gradient",
    "Head",
    "train_head",
    "low_rank_lookup",
]
