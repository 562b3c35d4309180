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
            "Queries and keys are computed in every layer, and they are rotated there. Before the "
            "first layer there is nothing to rotate yet."
        ),
        "b": correct(
            "The code was added to the word's vector, and query, key and value are all computed "
            "from that sum."
        ),
        "c": correct(
            "Every pair of words keeps its distance when a sentence is reversed, and the penalty "
            "depends on nothing else. So the outputs are the same, in reverse order."
        ),
        "d": correct(
            "Rotary positions rotate queries and keys only, and the word vectors before the first "
            "layer contain no position."
        ),
        "e": incorrect(
            "In the lecture one causal layer was at chance. For the question mark, which is last, "
            "the mask hides nothing, so it sees a bag of words."
        ),
        "f": incorrect(
            "Nothing was trained at rows that no text reached: they keep their random initial "
            "values exactly. The model adds noise there."
        ),
        "g": correct("It adds one number to each score, and each head has T² of them."),
        "h": incorrect(
            "They can represent the rotation, so a solution that works everywhere exists. "
            "Training on 16 positions did not find it in the lecture: accuracy fell at 2×."
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
