"""Choose: which claims the measurements of lecture 1 support."""

from grading.author import fails, holds, plan, task

# %% the cell
what_was_measured = ...  # a set of letters
# BEGIN ANSWER
what_was_measured = {"a", "e", "f", "g"}
# END ANSWER
# %%

TASK = task(
    plan("choose", points=7, difficulty=2, minutes=8),
    outcome="say what recurrent networks learn about {term}`agreement` with little and with long "
    "training",
    reasons={
        "a": holds(
            "It was below one half there, and the nearest noun is wrong in each of these "
            "sentences. In training that rule is right for almost four verbs in five."
        ),
        "b": fails(
            "After 2,400 steps it was right with every seed, at three opposing attractors. What "
            "it needs is more steps than the transformer."
        ),
        "c": fails(
            "At twelve attractors the LSTM was well ahead, and the transformer below one half. "
            "It learned with the fewest steps, and that is another thing."
        ),
        "d": fails(
            "The facts would fit: eight values are 32 bits, and their keys about as much again, "
            "for 90 numbers. The run shows what was learned at that cost, not what a state can "
            "hold."
        ),
        "e": holds(
            "None of its seeds got further than 0.1 above the baseline. It takes one layer to "
            "tie key and value together and another to look the key up."
        ),
        "f": holds(
            "That run is in the lecture: every seed was above 0.9 after 200 steps. The network "
            "is the same, only the question is another one."
        ),
        "g": holds(
            "Both have the same state and the same weights to train. The open gate keeps the "
            "gradient alive, so the failure of the plain one was one of learning."
        ),
        "h": fails(
            "On one thread it won while texts were short, and lost when its T² took over. What "
            "it offers is work that can be done at once, on a machine that can do so."
        ),
    },
    hints=(
        "For each statement ask: which cell of the lecture measured this, and did it measure "
        "*this*, or something near it?",
    ),
)
