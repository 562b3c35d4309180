"""Choose: which claims the measurements of lecture 1 support."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=7,
    minutes=13,
    section="What attention adds",
    outcome="say which networks learn {term}`agreement`, and why it is not the reason for "
    "attention",
    reasons={
        "a": correct(
            "Its accuracy was below one half, and sorting the sentences separates the two rules: "
            "the noun at the gap decided, and the majority made no difference."
        ),
        "b": incorrect(
            "Three of the four recurrent networks learned it, each at its own rate. Look again "
            "at the table after 300 steps."
        ),
        "c": incorrect(
            "What is true at one rate is a fact about that rate. Each network has to be compared "
            "at its own best rate."
        ),
        "d": incorrect(
            "The facts would fit: four values out of 16 are 16 bits, and their keys about as "
            "much, for 256 numbers. The run shows what was learned in that time, not what a state "
            "can store."
        ),
        "e": correct(
            "It stayed at the baseline at every rate of its search. It takes one layer to bind "
            "key and value and another to look the key up."
        ),
        "f": correct(
            "The figure shows it: as the state grows from 64 to 128 and 256 numbers, the accuracy "
            "of the values rises."
        ),
        "g": correct(
            "Both LSTMs have a state of the same size and the same number of parameters. The "
            "open gate preserves the gradient, so the other LSTM failed to learn; its state was "
            "not too small."
        ),
        "h": incorrect(
            "That holds if there is a tanh between the steps. In a linear recurrence, two steps "
            "in a row are again one step of the same kind, and a scan combines all pairs at the "
            "same time."
        ),
    },
    hints=(
        "For each statement ask which cell of the lecture measured it, and whether that cell "
        "measured exactly this.",
    ),
)

# %% the cell
claims_recurrence = ...  # a set of letters
# BEGIN SOLUTION
claims_recurrence = {"a", "e", "f", "g"}
# END SOLUTION
# %%
