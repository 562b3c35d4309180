"""A context vector by hand."""

from grading.task import Mistake, Task

TASK = Task(
    name="query_context",
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
            "This is the sum of the first two vectors. The weights of a query sum to 1: neither of "
            "the two gets a whole 1.",
        ),
        Mistake(
            [1.0, 4 / 3],
            "This is the plain average of all three words. It would be right if all three scores "
            "were the same; work out the third one.",
        ),
        Mistake(
            [1.0, 3.0],
            "This is the first vector alone. Work out the second score as well.",
        ),
        Mistake(
            [3.0, -1.0],
            "This is the second vector alone. Work out the first score as well.",
        ),
        Mistake(
            [200.0, 100.0],
            "Here the scores themselves served as weights. Softmax comes between: it makes of the "
            "scores weights that sum to 1.",
        ),
        Mistake(
            [50.0, 50.0, 0.0],
            "These are the three scores, the first operation of three. Softmax and the weighted "
            "sum are still to come.",
        ),
        Mistake(
            [0.5, 0.5, 0.0],
            "These are the weights, the second operation of three. The context vector takes that "
            "much of each word's vector.",
        ),
        Mistake(
            [0.5, 0.5],
            "These are two of the weights, the second operation of three. The context vector takes "
            "that much of each word's vector.",
        ),
        Mistake(
            [20.0, 10.0],
            "This is the query. It only asks: what the context vector is made of are the vectors "
            "of the words, each times its weight.",
        ),
        Mistake(
            [1.0, 0.5],
            "The weights were applied, and then the result was divided by 2 again. The weights sum "
            "to 1 already.",
        ),
    ),
    hints=(
        "Three operations: a dot product for each word, softmax, and then a sum in which each "
        "word's vector is multiplied by its weight.",
        "You need no calculator. What does softmax make of two equal scores? And how much is left "
        "for a score that lies 50 below, if e⁵⁰ has 22 digits?",
    ),
)
