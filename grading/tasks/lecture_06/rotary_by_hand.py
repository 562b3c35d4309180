"""Rotary scores by hand: a hand that turns by a quarter of a turn for each word."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=5,
    minutes=10,
    section="Rotary position embeddings",
    outcome="show by numbers that sinusoidal codes hold a rotation, and that rotary scores depend "
    "on distance alone",
    hints=(
        "Four quarter turns change nothing, so position 6 turns as position 2 does.",
        "After the first score you need not turn anything twice: what is different in the second, "
        "and what in the third?",
    ),
)

# %% the cell
rotary_by_hand = ...  # a list of three numbers
# BEGIN SOLUTION
rotary_by_hand = [-13.0, -13.0, 13.0]
# END SOLUTION
# %%

task.mistake(
    "All three have the wrong sign. Either this turns the other way: a quarter turn takes (a, b) "
    "to (−b, a), and so (1, 0) to (0, 1). Or query and key are swapped.",
    [13.0, 13.0, -13.0],
)
task.mistake(
    "The first two are right. But three positions to the right is not three positions to the "
    "left: the query is then turned three quarters *less* than the key.",
    [-13.0, -13.0, -13.0],
)
task.mistake(
    "These are the scores without any turn. Query and key are turned by their places first.",
    [11.0, 11.0, 11.0],
)
task.mistake(
    "Here only the query was turned. The key is turned by its own position, too.",
    [-11.0, -11.0, -13.0],
)
task.mistake(
    "Here only the key was turned. The query is turned by its own position, too.",
    [13.0, 13.0, -11.0],
)
task.mistake(
    "In the first and the second the distance is the same, so the score is too. Four quarter "
    "turns are none: what is left of 106, and of 103?",
    [-13.0, 13.0, 13.0],
)
