"""Choose: what the lecture has measured about the parts of a deep stack."""

from grading.author import fails, holds, plan, task

# %% the cell
what_each_part_does = ...  # a set of letters
# BEGIN ANSWER
what_each_part_does = {"a", "e", "h"}
# END ANSWER
# %%

TASK = task(
    plan("choose", points=6, difficulty=2, minutes=7),
    outcome="take a part away from a stack of twelve blocks, give each stack its own learning "
    "rate, and say what the result shows and what it does not",
    reasons={
        "a": holds(
            "The table before training shows a gradient of the usual size in the first block, and "
            "the share right stayed at a guess at every rate that was tried."
        ),
        "b": fails(
            "Without norms it learned them at three of the four rates. At 0.03 its loss was no "
            "number any more."
        ),
        "c": fails(
            "It shows that with this start, at these rates, in 300 steps it did not learn. What "
            "was not learned in one setting may be learned in another."
        ),
        "d": fails("Words became alike in that stack, feed-forward networks and all."),
        "e": holds(
            "They reached the same share right as the whole stack. For this task a little "
            "computing, twelve times over, is enough."
        ),
        "f": fails(
            "At the first word one block knew the facts, and the twelve layers only a part of "
            "them. What helped them elsewhere was company."
        ),
        "g": fails("At 0.001 it learned the sums without."),
        "h": holds("At 0.003 pre-norm learned without warm-up and post-norm did not."),
        "i": fails(
            "The words of a row are drawn independently, so a neighbour knows nothing of the "
            "answer. It helps in another way: how much of it is mixed in depends on the word's own "
            "parts."
        ),
    },
    hints=(
        "The tables in *Each part taken away*, *A word that is alone* and *The place of the norm, "
        "and the learning rate* answer most of them.",
    ),
)
