"""Cross-entropy, perplexity and floor of a language of four words, in bits."""

from grading.task import Mistake, Task

TASK = Task(
    name="surprise_by_hand",
    lecture=8,
    kind="predict",
    points=6,
    difficulty=2,
    minutes=8,
    outcome="compute {term}`cross-entropy` and {term}`perplexity` by hand, and say how low the "
    "loss of any model can go on a given text",
    reference=[2.0, 4.0, 1.75, 2.625],
    mistakes=(
        Mistake(
            [2.0, 7.389, 1.75, 2.625],
            "Perplexity undoes the logarithm. This loss is in bits, made with log₂, so e to the "
            "power of it is not what undoes it.",
        ),
        Mistake(
            [2.0, 7.39, 1.75, 2.625],
            "Perplexity undoes the logarithm. This loss is in bits, made with log₂, so e to the "
            "power of it is not what undoes it.",
        ),
        Mistake(
            [2.0, 7.4, 1.75, 2.625],
            "Perplexity undoes the logarithm. This loss is in bits, made with log₂, so e to the "
            "power of it is not what undoes it.",
        ),
        Mistake(
            [4 / 3, 2.5198, 1.75, 2.625],
            "The loss was divided by 6. Nothing is asked where filler stands.",
        ),
        Mistake(
            [8.0, 256.0, 1.75, 2.625],
            "This is the sum of the surprises. The loss is their mean.",
        ),
        Mistake(
            [1.678, 3.2, 1.75, 2.625],
            "Here probabilities were averaged, and then the logarithm was taken. Each word has a "
            "surprise, and the surprises are averaged.",
        ),
        Mistake(
            [2.0, 4.0, 2.25, 2.625],
            "The third is the plain mean of the four surprises. But *a* comes four times as often "
            "as *d*: weight each surprise with how often it occurs.",
        ),
        Mistake(
            [2.0, 4.0, 2.0, 2.625],
            "The third is the loss on this one text, or of a model that says ¼ each time. Asked is "
            "the loss that can be expected over endless texts.",
        ),
        Mistake(
            [2.0, 4.0, 1.213, 1.8195],
            "The last two are in nats. Asked are bits, as in the first.",
        ),
        Mistake(
            [2.0, 4.0, 1.75, 1.75],
            "The fourth is the entropy of what B *says*. But the words come as the language draws "
            "them: weight B's surprises with the true probabilities.",
        ),
        Mistake(
            [2.0, 4.0, 1.75, 2.25],
            "The fourth is not about the text of the first question, nor a plain mean: weight B's "
            "surprises with the true probabilities.",
        ),
        Mistake(
            [2.0, 4.0, 1.75, 0.875],
            "The fourth is by how much B is worse than the best. Asked is its loss.",
        ),
    ),
    hints=(
        "The surprise of a word with probability ½ is 1 bit, with ¼ it is 2 bits, with ⅛ it is 3.",
        "An expected loss is a sum over the four words: how often the word comes, times the "
        "surprise that the model then has.",
    ),
)
