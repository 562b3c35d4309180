"""Read a table of five seeds after little and after long training."""

from grading.author import fails, holds, plan, task

# %% the cell
what_longer_texts_show = ...  # a set of letters
# BEGIN ANSWER
what_longer_texts_show = {"b", "c", "e"}
# END ANSWER
# %%

TASK = task(
    plan("choose", points=7, difficulty=2, minutes=8),
    outcome="read a table of accuracies on texts longer than the training texts, without naming a "
    "winner that the figures do not show",
    reasons={
        "a": fails(
            "Compare the two rows of ALiBi: its mean falls from 0.83 to 0.59. That of no "
            "encoding falls, too, because of one seed."
        ),
        "b": holds("0.83 against 0.69 after 300 steps, and 0.59 against 0.69 after 1,200."),
        "c": holds("With seed 0 it is 0.53 against 0.64, and with seed 4 1.00 against 0.48."),
        "d": fails(
            "All these models are right in more than 99 of 100 sentences at 1×. So accuracy at "
            "1× cannot tell which of them will hold at 8×."
        ),
        "e": holds("The largest of its five numbers after 1,200 steps is 0.47."),
        "f": fails(
            "The row “none” has the highest mean in both. But in the lecture's other task, the "
            "shift, a model without encoding was right in fewer than half of the cases, at "
            "every length. One task does not speak for all."
        ),
        "g": fails(
            "The table shows that it happened and not why. What the models do with distances, "
            "no cell has looked at."
        ),
    },
    hints=(
        "For (a) and (b) compare the two tables row by row; for (c) compare two rows column by "
        "column.",
        "Two of the statements say more than any table of accuracies can.",
    ),
)
