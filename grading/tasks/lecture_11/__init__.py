"""Tasks of lecture 11, in the order of its sheet."""

TASKS = [
    "fact_counts",
    "rouge_by_hand",
    "rouge_l",
    "sentence_vectors",
    "extract_by_attention",
    "extended_vocab_ids",
    "pointer_generator_shapes",
    "copy_distribution",
    "pointer_generator",
    "train_summarizer",
    "claims_summaries",
    "claim_rouge",
]
