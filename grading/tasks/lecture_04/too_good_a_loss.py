"""A loss that is too good, its cause, and how to make sure."""

from grading.author import mistake, plan, task

# %% the cell
too_good_a_loss = ...  # four to six sentences
# BEGIN ANSWER
too_good_a_loss = (
    "On texts that are really new no model can be less surprised on "
    "average than the program that made them, so 0.02 says that the "
    "model saw the words that it was to predict: the mask lets a "
    "position look at the future, or the targets are not shifted. Unseen "
    "texts come with their future as well, so the leak works there, too; "
    "when the model writes, there is no future, and it has learned "
    "nothing else. The future-token test changes everything from a place "
    "on, for each place, and looks at the earlier outputs: if the mask "
    "leaks, some move, by far more than 0. If nothing moves, look "
    "whether the targets are shifted: inputs and targets printed side by "
    "side show it. Another cause would be test texts that stand in the "
    "training texts. Then both tests find nothing, freshly made texts "
    "have a high loss, and the model writes well what it knows by heart."
)
# END ANSWER
# %%

mistake(
    "It explains by overfitting. Overfitting raises the loss on unseen texts.",
    "The model is overfitted and knows the training texts by heart.",
)
mistake(
    "It does not compare with the surprise of the program, which on new texts no model can be "
    "below on average.",
    "0.02 is very low.",
)
mistake(
    "It does not say why unseen texts cannot give it away: their future is given, too.",
    "Unseen texts are similar to the training texts.",
)
mistake(
    "Its test needs a trained model, or only looks at the loss.",
    "I would train again with a causal mask and compare the losses.",
)
mistake(
    "It does not say how the other cause is told from a leak.",
    "Or the data was too easy.",
)

TASK = task(
    plan("written", points=5, minutes=13),
    section="What a leak does to training",
    outcome=(
        "test a layer for leaks from the future, and recognize a leak by a loss that is too good"
    ),
    hints=(
        "What may the model look at when its loss is measured, and what when it writes?",
        "Change one word late in a text. Which outputs may change?",
        "For another cause: have these texts really never been seen? And over which positions is "
        "the loss averaged?",
    ),
)
