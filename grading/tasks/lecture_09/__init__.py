"""Tasks of lecture 9, in the order of its sheet."""

TASKS = [
    "translator_shapes",
    "teacher_forcing",
    "cross_attention",
    "translator_logits",
    "beam_search_by_hand",
    "beam_search",
    "claims_translation",
    "train_translator",
    "claim_translation_scores",
]
