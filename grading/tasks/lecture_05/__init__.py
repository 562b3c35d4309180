"""Tasks of lecture 5, in the order of its sheet."""

TASKS = [
    "multi_head_output",
    "split_heads",
    "merge_heads",
    "MultiHead",
    "ablate_head",
    "head_roles_by_ablation",
    "train_heads",
    "claim_head_role",
    "BuggyMultiHead",
    "weights_to_torch",
    "multi_head_shapes",
    "attention_cost",
    "claims_heads",
    "which_test_finds",
    "low_rank_head",
]
