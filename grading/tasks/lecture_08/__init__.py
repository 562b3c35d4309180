"""Tasks of lecture 8, in the order of its sheet."""

TASKS = [
    "nucleus",
    "cached_generation",
    "TiedModel",
    "training_loop",
    "next_token_loss",
    "perplexity_by_hand",
    "train_language_model",
    "DiagnoseRun",
    "claim_two_tables",
    "cache_savings",
    "CachedModel",
    "cache_test",
    "parameter_counts",
    "speculative_sampling",
    "speculative_step",
]
