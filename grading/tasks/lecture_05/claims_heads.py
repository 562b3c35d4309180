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
            "Same queries and same keys give the same weights. Both heads then average the same "
            "words, and their values, side by side, are the values of one wider head."
        ),
        "b": incorrect(
            "It reads all 64, each through its own row of a matrix. What is narrow is what it "
            "makes of them: 8 numbers."
        ),
        "c": correct(
            "Each head has its own columns in `W_out`. They have to go along, or each head's "
            "numbers meet the columns of the other."
        ),
        "d": correct(
            "Its scores depend on the table W_Q W_Kᵀ, and through a width of 8 no table of more "
            "than 8 independent rows can pass."
        ),
        "e": incorrect(
            "In some seeds of the stored table both heads looked at the flag, and nobody at the "
            "position before. Having two heads is not the same as using them."
        ),
        "f": correct(
            "A product with joined columns is a sum: each head adds its own piece, and the "
            "others do not notice when it is taken away."
        ),
        "g": incorrect(
            "Equal weights bring the mean of all values, which tells what is in the text. What "
            "comes after may need it. Ablate the head and measure."
        ),
    },
    hints=(
        "Write down what one head computes, step by step. Which of the steps does a statement "
        "change, and which does it leave as it was?",
    ),
)

# %% the cell
claims_heads = ...  # a set of letters
# BEGIN SOLUTION
claims_heads = {"a", "c", "d", "f"}
# END SOLUTION
# %%
