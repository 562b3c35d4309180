"""Cross-entropy, perplexity and floor of a language of four words, in bits."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=6,
    minutes=13,
    section="The loss: cross-entropy and perplexity",
    outcome="compute {term}`cross-entropy` and {term}`perplexity` by hand, and say how low "
    "the loss of any model can be on average",
    hints=(
        "The surprise of a word with probability ½ is 1 bit, with ¼ it is 2 bits, with ⅛ it is 3.",
        "An expected loss is a sum over the four words: how often the word comes, times the "
        "surprise that the model then has.",
    ),
)

# %% the cell
perplexity_by_hand = ...  # a list of four numbers
# BEGIN SOLUTION
perplexity_by_hand = [2.0, 4.0, 1.75, 2.625]
# END SOLUTION
# %%

task.mistake(
    "Perplexity undoes the logarithm. This loss is in bits, made with log₂, so e to the power of "
    "it is not what undoes it.",
    [2.0, 7.389, 1.75, 2.625],
)
task.mistake(
    "Perplexity undoes the logarithm. This loss is in bits, made with log₂, so e to the power of "
    "it is not what undoes it.",
    [2.0, 7.39, 1.75, 2.625],
)
task.mistake(
    "Perplexity undoes the logarithm. This loss is in bits, made with log₂, so e to the power of "
    "it is not what undoes it.",
    [2.0, 7.4, 1.75, 2.625],
)
task.mistake(
    "The loss was divided by 6. Nothing is asked where padding is.",
    [4 / 3, 2.5198, 1.75, 2.625],
)
task.mistake("This is the sum of the surprises. The loss is their mean.", [8.0, 256.0, 1.75, 2.625])
task.mistake(
    "Here probabilities were averaged, and then the logarithm was taken. Each word has a "
    "surprise, and the surprises are averaged.",
    [1.678, 3.2, 1.75, 2.625],
)
task.mistake(
    "The third is the plain mean of the four surprises. But *a* comes four times as often as "
    "*d*: weight each surprise with how often it occurs.",
    [2.0, 4.0, 2.25, 2.625],
)
task.mistake(
    "The third is the loss on this one text, or of a model that says ¼ each time. You need the "
    "loss that can be expected over endless texts.",
    [2.0, 4.0, 2.0, 2.625],
)
task.mistake(
    "The last two are in nats. Asked are bits, as in the first.", [2.0, 4.0, 1.213, 1.8195]
)
task.mistake(
    "The fourth is the entropy of what B *says*. But the words come as the language draws them: "
    "weight B's surprises with the true probabilities.",
    [2.0, 4.0, 1.75, 1.75],
)
task.mistake(
    "The fourth is not about the text of the first question, nor a plain mean: weight B's "
    "surprises with the true probabilities.",
    [2.0, 4.0, 1.75, 2.25],
)
task.mistake(
    "The fourth is by how much B is worse than the best. You need its loss.",
    [2.0, 4.0, 1.75, 0.875],
)
