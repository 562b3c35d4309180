"""Tasks of lecture 12, in the order of its sheet."""

TASKS = [
    "mean_ablation",
    "induction_score",
    "equivalent_weights",
    "claims_maps",
    "claim_agreement_head",
    "llama_sizes",
    "rms_norm",
    "gated_feed_forward",
    "grouped_heads",
    "load_gpt2",
    "load_llama",
]
