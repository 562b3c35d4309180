"""Choose: what the lecture has measured about the parts of a deep stack."""

from grading.author import fails, holds, plan, task

# %% the cell
what_each_part_does = ...  # a set of letters
# BEGIN ANSWER
what_each_part_does = {"a", "d", "f"}
# END ANSWER
# %%

TASK = task(
    plan("choose", points=6, difficulty=2, minutes=7),
    outcome="say how the two depend on the learning rate and on warm-up, and what a stack of "
    "twelve blocks loses with each part",
    reasons={
        "a": holds(
            "Before training the gradient was alive in each seed, down to the first block, and "
            "the loss stayed at a guess. What such a stack lacks is differences between its "
            "words."
        ),
        "b": fails(
            "With PyTorch's small start the stack without norms reached the lowest loss of all. "
            "It was the wider start that failed without them."
        ),
        "c": fails(
            "In all three stacks that were watched, words were nearly alike after 20 to 40 "
            "steps. Two of the stacks came back from there."
        ),
        "d": holds(
            "A few of the random pairs of heads could. Two heads are two fractions with "
            "different lower parts, and the proof is about one fraction."
        ),
        "e": fails(
            "It applies the same rule to each word, so what is alike stays alike. The twelve "
            "blocks without the addition showed it."
        ),
        "f": holds(
            "They reached the same share right, with norms and without. Here a word can look at "
            "the digit that it needs; *A word that is alone* is about another task."
        ),
        "g": fails(
            "The trainings that failed began with PyTorch's start, where the two gradients are "
            "nearly of one size. The lecture leaves the cause open."
        ),
        "h": fails(
            "At 0.01 post-norm failed also with warm-up, and at 0.001 it needed none. It was "
            "0.003 at which the warm-up decided."
        ),
        "i": fails(
            "The numbers were drawn independently, so a neighbour knows nothing of the answer. "
            "It helps in another way: how much of it is mixed in depends on the word's own "
            "digits."
        ),
    },
    hints=(
        "The tables in *Each part taken away* and in *Learning rate and warm-up* answer four of "
        "them.",
    ),
)
