"""Tasks of lecture 6, in the order of its sheet."""

TASKS = [
    "learned_positions",
    "sinusoidal_encoding",
    "add_positions",
    "shift_matrix",
    "rotary_by_hand",
    "apply_rotary",
    "rotary_attention",
    "alibi_bias",
    "claims_encodings",
    "order_and_batch",
    "claims_length",
    "claim_best_encoding",
    "length_generalization",
    "RecurrentALiBi",
]
