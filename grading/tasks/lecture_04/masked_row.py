"""A row of weights under a causal mask, by hand."""

import math

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=4,
    minutes=5,
    section="The causal mask",
    outcome="hide a key from a query, and say why its score goes to −∞ before softmax",
    hints=(
        "Which of the four words may the word at position 2 attend to?",
        "The exponentials are 1, 2, 5 and 7. A masked word has the exponential 0. Divide by the "
        "sum of the others.",
    ),
)

# %% the cell
masked_row = ...  # a list of four numbers
# BEGIN SOLUTION
masked_row = [1 / 8, 2 / 8, 5 / 8, 0.0]
# END SOLUTION
# %%

task.mistake(
    "This is the row without a mask. The word at position 2 may not attend to position 3, which "
    "comes later.",
    [1 / 15, 2 / 15, 5 / 15, 7 / 15],
)
task.mistake(
    "The masked weight was set to 0 after softmax, so the row sums to less than 1. Its "
    "exponential must be missing from the sum in the denominator, too.",
    [1 / 15, 2 / 15, 5 / 15, 0.0],
)
task.mistake(
    "The masked score was set to 0, and e⁰ is 1, so the masked word still has some weight. Set "
    "its score to −∞, so that its exponential is 0.",
    [1 / 9, 2 / 9, 5 / 9, 1 / 9],
)
task.mistake(
    "This is one position too few. Positions are counted from 0, and under a causal mask a word "
    "also attends to itself: position 2 attends to positions 0, 1 and 2.",
    [1 / 3, 2 / 3, 0.0, 0.0],
)
task.mistake(
    "The right words are visible, but their weights should differ: the scores still matter. The "
    "weight of each is its exponential divided by the sum of the visible ones.",
    [1 / 3, 1 / 3, 1 / 3, 0.0],
)
task.mistake(
    "Here the mask is inverted: the word attends to exactly what is masked.",
    [0.0, 0.0, 0.0, 1.0],
)
task.mistake(
    "Here the word looks ahead: it attends to itself and what comes later. A causal mask allows "
    "itself and what came before.",
    [0.0, 0.0, 5 / 12, 7 / 12],
)
task.mistake(
    "The exponentials of the visible words were divided by the largest one, which is masked. "
    "Divide by the sum of the visible ones.",
    [1 / 7, 2 / 7, 5 / 7, 0.0],
)
task.mistake(
    "The scores themselves were divided by their sum. Softmax divides their exponentials: e to "
    "the power of log 5 is 5.",
    [0.0, math.log(2) / math.log(10), math.log(5) / math.log(10), 0.0],
)
task.mistake(
    "Softmax was taken of 1, 2 and 5. The scores are their logarithms, and exp of log 5 is 5.",
    [0.01715, 0.04661, 0.93624, 0.0],
    [0.017, 0.047, 0.936, 0.0],
)
