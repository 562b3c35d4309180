"""Rotary scores by hand: a hand that turns by a quarter of a turn for each word."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=5,
    minutes=10,
    section="Rotary position embeddings",
    outcome="show by numbers that one matrix leads from each sinusoidal code to the code three "
    "positions on, and that rotary scores depend on distance alone",
    hints=(
        "Four quarter turns change nothing, so the rotation at position 6 is the same as at "
        "position 2.",
        "After the first score you do not need another rotation: what is different in the second "
        "score, and what in the third?",
    ),
)

# %% the cell
rotary_by_hand = ...  # a list of three numbers
# BEGIN SOLUTION
rotary_by_hand = [-13.0, -13.0, 13.0]
# END SOLUTION
# %%

task.mistake(
    "All three have the wrong sign. Either you rotate in the other direction: a quarter turn "
    "takes (a, b) to (−b, a), and so (1, 0) to (0, 1). Or query and key are swapped.",
    [13.0, 13.0, -13.0],
)
task.mistake(
    "The first two are right. But three positions to the right is not three positions to the "
    "left: the query is then rotated by three quarters *less* than the key.",
    [-13.0, -13.0, -13.0],
)
task.mistake(
    "These are the scores without any rotation. First rotate query and key by their positions.",
    [11.0, 11.0, 11.0],
)
task.mistake(
    "Here only the query was rotated. The key is rotated by its own position, too.",
    [-11.0, -11.0, -13.0],
)
task.mistake(
    "Here only the key was rotated. The query is rotated by its own position, too.",
    [13.0, 13.0, -11.0],
)
task.mistake(
    "The first and the second have the same distance, so the score is the same. Four quarter "
    "turns change nothing: what remains of 106, and of 103?",
    [-13.0, 13.0, 13.0],
    [-13.0, 11.0, 13.0],
    [-13.0, -11.0, 13.0],
)
