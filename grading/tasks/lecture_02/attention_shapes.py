"""The shape of each step, for a batch in which fewer words ask than are looked at."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=5,
    minutes=8,
    section="All queries at once",
    outcome="compute context vectors, one by hand and all at once, and give the shape of each step",
    hints=(
        "Begin with one sentence: 4 queries and 6 words give how many dot products?",
        "`x.swapaxes(1, 2)` has the shape (3, 5, 6). Which numbers of (4, 5) and (5, 6) are left "
        "after the product of the two?",
    ),
)

# %% the cell
attention_shapes = ...  # a list of three tuples
# BEGIN SOLUTION
attention_shapes = [(3, 4, 6), (3, 4, 6), (3, 4, 5)]
# END SOLUTION
# %%

task.mistake(
    "Queries and words are swapped. Each of the 4 queries has a row, with an entry for each of "
    "the 6 words.",
    [(3, 6, 4), (3, 6, 4), (3, 6, 5)],
)
task.mistake(
    "Scores and weights are right. But there is one context vector for each query, not for each "
    "word that is attended to.",
    [(3, 4, 6), (3, 4, 6), (3, 6, 5)],
)
task.mistake(
    "Scores and weights are right. Multiplying by x sums over the words, so their axis goes "
    "away, and the width of a word's vector takes its place.",
    [(3, 4, 6), (3, 4, 6), (3, 4, 6)],
)
task.mistake(
    "This is right for one sentence. The batch axis of 3 comes first in every shape: no sentence "
    "attends to another one.",
    [(4, 6), (4, 6), (4, 5)],
)
task.mistake(
    "Softmax sums over the words only to divide by the sum. A query has a weight for each word, "
    "so the shape stays that of the scores.",
    [(3, 4, 6), (3, 4), (3, 4, 5)],
)
task.mistake(
    "Here the queries attend to each other. They should attend to the words of x, and each "
    "sentence has 6.",
    [(3, 4, 4), (3, 4, 4), (3, 4, 5)],
)
task.mistake(
    "These scores compare the 5 columns. A dot product runs along the vectors, so 5 is what is "
    "summed over: it cannot be an axis of the scores.",
    [(3, 5, 5), (3, 5, 5), (3, 4, 5)],
)
task.mistake(
    "The context vectors are right. But in scores and weights, queries and words are swapped: "
    "each of the 4 queries has a row.",
    [(3, 6, 4), (3, 6, 4), (3, 4, 5)],
)
task.mistake(
    "Softmax keeps the shape of the scores.",
    [(3, 4, 6), (3, 6, 4), (3, 4, 5)],
)
task.mistake(
    "The sizes 5 and 6 are exchanged. A dot product sums over the 5 numbers of a vector, so a "
    "query has 6 scores, one for each word. The context vector sums over the 6 words, and 5 "
    "numbers are left.",
    [(3, 4, 5), (3, 4, 5), (3, 4, 6)],
)
task.mistake(
    "The context vectors are right. But a dot product sums over the 5 numbers of a vector, so 5 "
    "is no size of the scores: a query has one score for each of the 6 words.",
    [(3, 4, 5), (3, 4, 5), (3, 4, 5)],
)
