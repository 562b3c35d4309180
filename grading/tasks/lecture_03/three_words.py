"""From weights back to scores, and forward to a context vector."""

from grading.task import Mistake, Task

TASK = Task(
    name="three_words",
    lecture=3,
    kind="predict",
    points=6,
    difficulty=1,
    minutes=8,
    outcome="work from weights back to scores, and compute a {term}`context vector` by hand",
    reference=[28.3, 52.0, 10.1, 26.7],
    rtol=0.0,
    atol=0.11,
    mistakes=(
        Mistake(
            [2.83, 5.20, 10.1, 26.7],
            "The first two are the scores after the division. Before it they were √d_k times as "
            "large, and √100 is 10.",
        ),
        Mistake(
            [283.0, 520.0, 10.1, 26.7],
            "The scores were multiplied by d_k. They are divided by its root, 10.",
        ),
        Mistake(
            [49.0, 90.1, 10.1, 26.7],
            "The first two were multiplied by √300. The divisor is the root of d_k, the width of "
            "queries and keys, not of the words.",
        ),
        Mistake(
            [12.3, 22.6, 10.1, 26.7],
            "These are logarithms to the base 10. Softmax is made of powers of e, so take the "
            "natural logarithm.",
        ),
        Mistake(
            [170.0, 1820.0, 10.1, 26.7],
            "17 and 182 are the ratios of the weights. A ratio of weights is e to the difference "
            "of the scores, so take the logarithm first.",
        ),
        Mistake(
            [28.3, 23.7, 10.1, 26.7],
            "The second number is the lead of the third word over the second. Asked for is the dot "
            "product itself, and it is the first word that has 0.",
        ),
        Mistake(
            [28.3, 52.0, 70.0, 40.0],
            "The last two are the plain average of the three values. Each value counts as much as "
            "its weight says.",
        ),
        Mistake(
            [28.3, 52.0, 10.0, 20.0],
            "The last two are the value of the third word. It has most of the weight, and the "
            "others still add their part.",
        ),
        Mistake(
            [28.3, 52.0, 210.0, 120.0],
            "The last two are the sum of the values. Multiply each by its weight first.",
        ),
    ),
    hints=(
        "The ratio of two weights is e to the power of the difference of their scores, and these "
        "are scores after the division.",
        "0.085 is 17 times 0.005, and 0.91 is 182 times 0.005. log 17 is 2.83, log 182 is 5.20.",
    ),
)
