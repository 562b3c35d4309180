"""A loss that is too good, its cause, and how to make sure."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="What a leak does to training",
    outcome="test a layer for leaks from the future, and recognize a leak by a loss that is too "
    "good",
    hints=(
        "What may the model attend to when its loss is measured, and what during generation?",
        "Change one word late in a text. Which outputs may change?",
        "For another cause: have these texts really never been seen? And over which positions is "
        "the loss averaged?",
    ),
)

# %% the cell
suspicious_loss = ...  # four to six sentences
# BEGIN SOLUTION
suspicious_loss = (
    "On really new texts no model can beat the entropy on average, so "
    "0.02 means that the model saw the words that it had to predict: "
    "the mask leaks the future, or the targets are not shifted. "
    "Unseen texts contain their future as well, so the leak works "
    "there, too; during generation there is no future, and the model "
    "has learned nothing else. The future-token test changes "
    "everything from some position on, for each position, and "
    "compares the earlier outputs: if the mask leaks, some of them "
    "change by far more than 0. If nothing changes, I would check "
    "whether the targets are shifted, by printing inputs and targets "
    "next to each other. Another cause would be test texts that also "
    "occur in the training texts. Then both tests find nothing, "
    "freshly sampled texts have a high loss, and the model generates "
    "well what it has memorized."
)
# END SOLUTION
# %%

task.mistake(
    "It explains by overfitting. Overfitting raises the loss on unseen texts.",
    "The model is overfitted and knows the training texts by heart.",
)
task.mistake(
    "It does not compare with the entropy of the generating program, which no model can beat on "
    "new texts on average.",
    "0.02 is very low.",
)
task.mistake(
    "It does not say why unseen texts cannot reveal the leak: their future is given, too.",
    "Unseen texts are similar to the training texts.",
)
task.mistake(
    "Its test needs a trained model, or only looks at the loss.",
    "I would train again with a causal mask and compare the losses.",
)
task.mistake(
    "It does not say how to distinguish the other cause from a leak.",
    "Or the data was too easy.",
)
