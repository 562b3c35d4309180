"""Tasks of lecture 10, in the order of its sheet."""

TASKS = [
    "exact_match_by_hand",
    "exact_match_feature",
    "span_pointer",
    "best_span",
    "token_f1",
    "table_of_readers",
    "claims_exact_match",
    "best_threshold",
    "claim_threshold",
    "train_question_answering",
]
