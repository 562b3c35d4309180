"""Read a table of losses and stories, seed by seed."""

from grading.author import fails, holds, plan, task

# %% the cell
what_stories_show = ...  # a set of letters
# BEGIN ANSWER
what_stories_show = {"b", "c", "d", "f"}
# END ANSWER
# %%

TASK = task(
    plan("choose", points=7, difficulty=2, minutes=10),
    outcome="read a table of models of equal size, with baselines that know nothing, single words, "
    "or pairs of words",
    reasons={
        "a": fails(
            "Compare seeds 0 and 1 of the transformer without positions: which has the lower "
            "loss, and which has the larger share?"
        ),
        "b": holds(
            "The eight losses after 200 steps end at 0.71, and the LSTM's and RNN's begin at "
            "0.89. And yet none has more than 0.64 of the verbs right."
        ),
        "c": holds("The smallest fall is 0.58, of the transformer without positions with seed 2."),
        "d": holds(
            "0.574 − 0.551 is 0.023 nats a word. Over 50 words they add up to 1.1, and e to the "
            "power of −1.1 is a third."
        ),
        "e": fails(
            "All models had one learning rate, and it suits the transformers. At a rate of its own "
            "the LSTM of the lecture came as close to the floor."
        ),
        "f": holds(
            "The smallest share of the eight transformers is 0.63, and all of these have less "
            "than 0.59. The largest of the other eight is 0.60."
        ),
        "g": fails(
            "At temperature 1 the model draws as it believes, and its beliefs are nearly those "
            "of the storyteller. Colder writing has other frequencies: likely words come more "
            "often than in true stories."
        ),
    },
    hints=(
        "A statement about all models falls with one that does otherwise.",
        "For (d): the surprises of a text are added up, and the probability of the text is e to "
        "the power of minus their sum.",
    ),
)
