"""Tasks of lecture 7, in the order of its sheet."""

TASKS = [
    "LayerNorm",
    "FeedForwardNetwork",
    "Block",
    "Stack",
    "BuggyBlock",
    "from_torch",
    "residual_stream",
    "claim_residuals",
    "layer_norm_bug",
    "attention_rollout",
    "widest_model",
    "fold_layer_norm",
]
