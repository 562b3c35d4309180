"""What each encoding does, where, and at what cost."""

from grading.author import fails, holds, plan, task

# %% the cell
claims_encodings = ...  # a set of letters
# BEGIN SOLUTION
claims_encodings = {"b", "c", "d", "g"}
# END SOLUTION
# %%

TASK = task(
    plan("choose", points=7, minutes=13),
    section="Where order can enter",
    outcome="build four positional encodings by hand (learned, sinusoidal, rotary, ALiBi), and "
    "say where in the model each one enters",
    reasons={
        "a": fails(
            "Queries and keys are made again in every layer, and they are turned there. Before "
            "the first layer there is nothing to turn yet."
        ),
        "b": holds(
            "The code was added to the word's vector, and query, key and value are all made of "
            "that sum."
        ),
        "c": holds(
            "Every pair of words keeps its distance when a sentence is read backward, and the "
            "penalty knows nothing else. So the outputs are the same, in reverse order."
        ),
        "d": holds(
            "Rotary positions turn queries and keys only, and the vectors of words in front of "
            "the first layer hold no place."
        ),
        "e": fails(
            "In the lecture one causal layer was no better than a coin. To the question mark, "
            "which is last, the mask hides nothing, so it sees a bag."
        ),
        "f": fails(
            "Nothing was trained at rows that no text reached: they stay bit for bit as they "
            "were made. The model adds noise there."
        ),
        "g": holds("It adds one number to each score, and there are T² of them in a head."),
        "h": fails(
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
