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
        "The surprisal of a word is −log₂ of its probability: 1 bit for ½, 2 bits for ¼, 3 bits "
        "for ⅛.",
        "An expected loss is a sum over the four words: the probability of the word, times the "
        "surprisal that the model assigns to it.",
    ),
)

# %% the cell
perplexity_by_hand = ...  # a list of four numbers
# BEGIN SOLUTION
perplexity_by_hand = [2.0, 4.0, 1.75, 2.625]
# END SOLUTION
# %%

task.mistake(
    "Perplexity undoes the logarithm. This loss is in bits, so it uses log₂: which power undoes "
    "that?",
    [2.0, 7.389, 1.75, 2.625],
)
task.mistake(
    "Perplexity undoes the logarithm. This loss is in bits, so it uses log₂: which power undoes "
    "that?",
    [2.0, 7.39, 1.75, 2.625],
)
task.mistake(
    "Perplexity undoes the logarithm. This loss is in bits, so it uses log₂: which power undoes "
    "that?",
    [2.0, 7.4, 1.75, 2.625],
)
task.mistake(
    "The loss was divided by 6. Padding is not a target.",
    [4 / 3, 2.5198, 1.75, 2.625],
    [1.333, 2.5198, 1.75, 2.625],
    [1.33, 2.5198, 1.75, 2.625],
)
task.mistake(
    "The first word was left out. Here it is a target, too.",
    [7 / 3, 5.0397, 1.75, 2.625],
    [2.333, 5.0397, 1.75, 2.625],
    [2.33, 5.0397, 1.75, 2.625],
)
task.mistake(
    "The losses are in nats. Give them in bits: the logarithm is log₂ here.",
    [1.3863, 4.0, 1.213, 1.8195],
    [1.386, 4.0, 1.213, 1.8195],
    [1.386, 4.0, 1.213, 1.82],
    [1.39, 4.0, 1.213, 1.82],
    [1.39, 4.0, 1.21, 1.82],
)
task.mistake(
    "This is the sum of the surprisals. The loss is their mean.", [8.0, 256.0, 1.75, 2.625]
)
task.mistake(
    "Here probabilities were averaged, and then the logarithm was taken. Each word has a "
    "surprisal, and the surprisals are averaged.",
    [1.678, 3.2, 1.75, 2.625],
)
task.mistake(
    "The third is the plain mean of the four surprisals. But *a* occurs four times as often as "
    "*d*: weight each surprisal by how often the word occurs.",
    [2.0, 4.0, 2.25, 2.625],
)
task.mistake(
    "The third is the loss on this one text, or of a model that gives every word ¼. Give the "
    "expected loss over all texts.",
    [2.0, 4.0, 2.0, 2.625],
)
task.mistake(
    "The last two are in nats. Give them in bits, like the first.", [2.0, 4.0, 1.213, 1.8195]
)
task.mistake(
    "The fourth is the entropy of what B *predicts*. But the words are sampled from the "
    "language: weight B's surprisals by the true probabilities.",
    [2.0, 4.0, 1.75, 1.75],
)
task.mistake(
    "The fourth is neither the loss on the first question's text nor a plain mean: weight B's "
    "surprisals by the true probabilities.",
    [2.0, 4.0, 1.75, 2.25],
)
task.mistake(
    "The fourth is rounded too far: give it exactly.",
    [2.0, 4.0, 1.75, 2.6],
    [2.0, 4.0, 1.75, 2.63],
    [2.0, 4.0, 1.75, 2.62],
)
task.mistake(
    "The fourth is the difference between B and the best model. Give B's loss.",
    [2.0, 4.0, 1.75, 0.875],
)
task.mistake(
    "This is the perplexity of the whole language. Take 2 to the power of the loss on *this* text.",
    [2.0, 3.3636, 1.75, 2.625],
    [2.0, 3.364, 1.75, 2.625],
    [2.0, 3.36, 1.75, 2.625],
)
