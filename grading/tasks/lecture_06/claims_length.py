"""Read two tables of three seeds, of two tasks."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=7,
    minutes=13,
    section="Length generalization",
    outcome="read a table of length generalization without naming a winner that the figures do not "
    "show",
    reasons={
        "a": correct("It is rotary in both: 0.99 on the shift, and 0.18 on agreement."),
        "b": correct("0.84 against 0.80."),
        "c": correct("With seed 1 it is 0.94 against 0.62, and with seed 2 0.51 against 1.00."),
        "d": incorrect(
            "All these models are right in more than 99 of 100 sentences at 1×. So accuracy at 1× "
            "cannot tell which of them will still work at 8×."
        ),
        "e": incorrect("One of the three is right in 0.53 of the sentences."),
        "f": incorrect(
            "The row “none” has the highest mean there. But on the shift it was right in about one "
            "case of seven. One task does not speak for all."
        ),
        "g": incorrect(
            "The table shows that it happened, but not why. It says nothing about how the models "
            "use distances."
        ),
    },
    hints=(
        "For (a) compare the two tables; for (b) take means; for (c) compare two rows column by "
        "column.",
        "Two of the statements claim more than any table of accuracies can show.",
    ),
)

# %% the cell
claims_length = ...  # a set of letters
# BEGIN SOLUTION
claims_length = {"a", "b", "c"}
# END SOLUTION
# %%
