"""What each encoding does, where, and at what cost."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=7,
    minutes=13,
    section="Where order can enter",
    outcome="build four positional encodings by hand (learned, sinusoidal, rotary, ALiBi), and "
    "say where in the model each one enters",
    reasons={
        "a": incorrect(
            "Queries and keys are made again in every layer, and they are turned there. Before "
            "the first layer there is nothing to turn yet."
        ),
        "b": correct(
            "The code was added to the word's vector, and query, key and value are all made of "
            "that sum."
        ),
        "c": correct(
            "Every pair of words keeps its distance when a sentence is read backward, and the "
            "penalty knows nothing else. So the outputs are the same, in reverse order."
        ),
        "d": correct(
            "Rotary positions turn queries and keys only, and the vectors of words in front of "
            "the first layer hold no place."
        ),
        "e": incorrect(
            "In the lecture one causal layer was no better than a coin. To the question mark, "
            "which is last, the mask hides nothing, so it sees a bag."
        ),
        "f": incorrect(
            "Nothing was trained at rows that no text reached: they stay bit for bit as they "
            "were made. The model adds noise there."
        ),
        "g": correct("It adds one number to each score, and there are T² of them in a head."),
        "h": incorrect(
            "They hold the rotation, so a solution that works everywhere exists. Training on 16 "
            "positions did not find it in the lecture: accuracy fell at 2×."
        ),
    },
    hints=(
        "For (b) and (d): from which vector is a value computed, and does this vector contain the "
        "position?",
        "(e), (f) and (h) were measured in the lecture, each in a cell of its own.",
    ),
)

# %% the cell
claims_encodings = ...  # a set of letters
# BEGIN SOLUTION
claims_encodings = {"b", "c", "d", "g"}
# END SOLUTION
# %%
