"""Choose: what holds whatever the vectors are."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=13,
    section="What always holds, and what it costs",
    outcome="name what holds for any vectors, and what attention costs for T tokens",
    reasons={
        "a": incorrect(
            "Twice the vectors make four times the scores, so the weights change too: they "
            "concentrate on the largest score."
        ),
        "b": correct(
            "A score is a product of two vectors, so it does not change when both are negated. "
            "The weights do not change either, and the average of the negated vectors is the "
            "negated average."
        ),
        "c": incorrect(
            "The new word scores 0 with every word, and a score of 0 is not a weight of 0. What "
            "it gets is taken from the others."
        ),
        "d": correct(
            "Every weight is halved, because the denominator is twice as large, and every vector "
            "is counted twice."
        ),
        "e": correct(
            "Its scores are in one row and one column: T + T numbers, one of them in both. But "
            "the column affects every row, so all context vectors may change."
        ),
        "f": incorrect(
            "No weight is negative and they sum to 1, so a context vector is an average. An "
            "average is never longer than the longest vector in it, and it may be shorter than the "
            "word's own."
        ),
        "g": correct(
            "A score is norm times norm times the cosine of the angle. With itself the cosine "
            "is 1, and no other norm is larger: no other score of its row can be."
        ),
    },
    hints=(
        "Try a statement that you doubt on random vectors, with your `context_vectors` or with "
        "`self_attention` from the lecture. One counterexample is enough to refute it.",
    ),
)

# %% the cell
attention_properties = ...  # a set of letters
# BEGIN SOLUTION
attention_properties = {"b", "d", "e", "g"}
# END SOLUTION
# %%
