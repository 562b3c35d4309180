"""Tasks of the project, in the order of its sheet."""

TASKS = [
    "sum_tokens",
    "read_answers",
    "split_pairs",
    "inputs_and_targets",
    "positions_needed",
    "Adder",
    "train_keep_best",
    "train_adder",
    "greedy_sums",
    "accuracy_by_carries",
    "fair_comparison",
    "head_ablation",
    "project_report",
]
