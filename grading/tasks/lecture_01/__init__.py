"""Tasks of lecture 1, in the order of its sheet."""

TASKS = [
    "model_requirements",
    "rnn_step",
    "weight_shapes",
    "lstm_parameters",
    "baseline_scores",
    "bidirectional_rnn",
    "sequential_steps",
    "gradient_through_time",
    "open_forget_gates",
    "truncated_bptt",
    "claims_recurrence",
    "claim_agreement",
    "train_lstm",
    "delta_rule",
]
