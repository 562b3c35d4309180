"""A context vector by hand."""

from grading.task import Mistake, Task

TASK = Task(
    name="copied_row",
    lecture=2,
    kind="predict",
    points=4,
    difficulty=1,
    minutes=4,
    outcome="compute one context vector by hand in three operations: scores, softmax, weighted sum",
    reference=[2.0, 1.0],
    mistakes=(
        Mistake(
            [4.0, 2.0],
            "This is the sum of the two vectors. The weights halve each of them first.",
        ),
        Mistake(
            [1.0, 0.5],
            "The weights were applied, and then the result was divided by the number of words "
            "again. The weights sum to 1 already.",
        ),
        Mistake(
            [4.0, 0.0],
            "This is the first vector alone. Work out the second score as well: both words get a "
            "weight.",
        ),
        Mistake(
            [16.0, 8.0],
            "Here the scores themselves served as weights. Softmax comes between: it makes of the "
            "scores two weights that sum to 1.",
        ),
        Mistake(
            [4.0, 4.0],
            "These are the two scores, the first operation of three. Softmax and the weighted sum "
            "are still to come.",
        ),
        Mistake(
            [0.5, 0.5],
            "These are the weights, the second operation of three. The context vector takes that "
            "much of each word's vector.",
        ),
        Mistake(
            [1.0, 2.0],
            "This is the query. It only asks: what the context vector is made of are the vectors "
            "of the words, each times its weight.",
        ),
    ),
    hints=(
        "Three operations: a dot product for each word, softmax, and then a sum in which each "
        "word's vector is multiplied by its weight.",
        "You need no calculator. What does softmax make of two equal scores?",
    ),
)
