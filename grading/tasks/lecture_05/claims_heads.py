"""Choose: what heads are for, what they cost, and what a map shows."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=10,
    extra=True,
    section="Ablating a head",
    outcome="say what a trained head does, by its map and by ablation, and what n heads cost",
    reasons={
        "a": correct(
            "The same queries and keys give the same weights. Both heads then average the same "
            "words, and their values, side by side, are the values of one wider head."
        ),
        "b": incorrect(
            "It reads all 64, because each of its outputs is a dot product with the whole word. "
            "Only its result is narrow: 8 numbers."
        ),
        "c": correct(
            "Each head has its own columns in `W_out`. They have to be swapped as well, or each "
            "head's numbers are multiplied with the columns of the other."
        ),
        "d": correct(
            "Its scores depend on W_Q W_Kᵀ, a product through an inner dimension of 8, and the "
            "rank of such a product is at most 8."
        ),
        "e": incorrect(
            "In some runs of the lecture both heads attended to the flag, and no head to the "
            "previous position. Having two heads is not the same as using them."
        ),
        "f": correct(
            "A product with concatenated vectors is a sum: each head adds its own term, and "
            "ablating one leaves the others unchanged."
        ),
        "g": incorrect(
            "Equal weights give the mean of all values, which says what is in the text. Later "
            "layers may need it. Ablate the head and measure."
        ),
    },
    hints=(
        "Write down what one head computes, step by step. Which steps does a statement change, "
        "and which does it leave unchanged?",
    ),
)

# %% the cell
claims_heads = ...  # a set of letters
# BEGIN SOLUTION
claims_heads = {"a", "c", "d", "f"}
# END SOLUTION
# %%
