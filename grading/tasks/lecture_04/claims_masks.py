"""Choose: what a leak does, why one trains with a mask, and when not to."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=8,
    section="When not to mask",
    outcome="say why a causal mask lets one pass train every position, and when a layer needs no "
    "mask",
    reasons={
        "a": incorrect(
            "New sentences cannot have been memorized. A loss below the entropy says that the "
            "answers are in the input: somewhere the model sees the future."
        ),
        "b": correct(
            "Under the mask, one pass and T cuts are the same function of the weights. The "
            "lecture compared outputs and gradients of all parameters."
        ),
        "c": incorrect(
            "New text contains its answers just as old text does, and copying works there too. "
            "(In *Deeper* the lecture measures a loss under 0.2 on a pair of words that was never "
            "seen.)"
        ),
        "d": correct(
            "The newest word is in the last row, and that row of a causal mask is True "
            "everywhere. With a second layer it would make a difference. (Training without the "
            "mask is another matter.)"
        ),
        "e": incorrect(
            "The whole sentence is given when the model is used, so attending to later words is "
            "not cheating. A causal mask removes what it needs: in the lecture, the words before "
            "the noun were then at chance."
        ),
        "f": incorrect(
            "All scores are computed, and some of them are discarded. A mask decides what is "
            "attended to, not what is computed."
        ),
        "g": correct(
            "It has learned to copy the next word, and during generation there is none. In the "
            "lecture its loss was under 0.2, and under a tenth of its sentences were good."
        ),
        "h": incorrect(
            "Dropout removes random weights, different ones each time, and scales up the others. "
            "In evaluation it removes nothing. So the future would be visible in most training "
            "steps."
        ),
    },
    hints=(
        "Most of these were measured in *What a leak does to training*, *Teacher forcing* and "
        "*When not to mask*.",
    ),
)

# %% the cell
claims_masks = ...  # a set of letters
# BEGIN SOLUTION
claims_masks = {"b", "d", "g"}
# END SOLUTION
# %%
