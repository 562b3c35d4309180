"""A claim about position encodings, judged by two tables."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="Length generalization",
    outcome="read a table of length generalization without naming a winner that the figures do "
    "not show",
    hints=(
        "What does the shift require, and what can rotary scores represent?",
        "Read the column for 8×, and the worst seed in brackets.",
    ),
)

# %% the cell
claim_best_encoding = ...  # four to six sentences
# BEGIN SOLUTION
claim_best_encoding = (
    "On the shift, rotary is the only encoding that works at twice "
    "the training length, with all three seeds, while learned and "
    "sinusoidal codes fall to chance or nearly so (0.99 against 0.07 "
    "and 0.13). But at eight times the length it has 0.71, so “at any "
    "length” says more than the table does. The shift needs a fixed "
    "distance, which is exactly what rotary scores can represent; on "
    "agreement, the second task, rotary has 0.18 at eight times the "
    "length, and a model without an encoding 0.86. So the shift alone "
    "decides little, and three seeds of small models do not allow "
    "much more. I would measure the candidates on my own task, each "
    "at its own rate chosen on other texts, at the lengths that I "
    "need, with at least three seeds. The figures allow this: on the "
    "shift, at this size, rotary positions generalized to longer "
    "texts than the other three."
)
# END SOLUTION
# %%

task.mistake(
    "It quotes no figure, or none for more than one length.",
    "Rotary is good but not always.",
)
task.mistake(
    "It agrees that rotary works at any length. At eight times the length the accuracy has fallen.",
    "The table proves that rotary works at any length.",
)
task.mistake(
    "It does not use the second task, in which the ranking is different.",
    "On the shift, rotary is the best one at each length.",
)
task.mistake(
    "Its experiment gives all encodings one learning rate, or chooses rates by the test.",
    "I would train all of them again with the same rate.",
)
task.mistake(
    "Its last sentence names no task and no size.",
    "Rotary positions are usually the best.",
)
