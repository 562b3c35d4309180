"""From weights back to scores, and forward to a context vector."""

from grading.task import Mistake, Task

TASK = Task(
    name="three_words",
    lecture=3,
    kind="predict",
    points=6,
    difficulty=1,
    minutes=6,
    outcome="work from weights back to scores, and compute a {term}`context vector` by hand",
    reference=[-11.1, 12.9, 12.0, 24.0],
    rtol=0.0,
    atol=0.06,
    mistakes=(
        Mistake(
            [-1.39, 1.61, 12.0, 24.0],
            "The first two are the scores after the division. The dot products before it were √d_k "
            "times as large.",
        ),
        Mistake(
            [-88.7, 103.0, 12.0, 24.0],
            "The scores were multiplied by d_k. What they had been divided by is its root.",
        ),
        Mistake(
            [-22.2, 25.8, 12.0, 24.0],
            "The first two were multiplied by √256. The divisor is the root of d_k, the width of "
            "queries and keys, not of the words.",
        ),
        Mistake(
            [-4.8, 5.6, 12.0, 24.0],
            "These are logarithms to the base 10. Softmax is made of powers of e, so take the "
            "natural logarithm.",
        ),
        Mistake(
            [2.0, 40.0, 12.0, 24.0],
            "The first two come from the ratios of the weights. A ratio of weights is e to the "
            "difference of the scores: take the logarithm of it.",
        ),
        Mistake(
            [11.1, 12.9, 12.0, 24.0],
            "The first word has less weight than the second, so its score is below that of the "
            "second, which is 0. What is the sign of the logarithm of a number below 1?",
        ),
        Mistake(
            [11.1, 24.0, 12.0, 24.0],
            "These are leads over the first word, as if it had the dot product 0. It is the second "
            "word that has 0.",
        ),
        Mistake(
            [-11.1, 24.0, 12.0, 24.0],
            "The second number is the lead of the third word over the first. Asked for is the dot "
            "product itself, and it is the second word that has 0.",
        ),
        *(
            Mistake(
                [*first_two, 12.0, 24.0],
                "The first two are right to whole numbers. One decimal is asked for.",
            )
            for first_two in ((-11.0, 13.0), (-11.0, 12.9), (-11.1, 13.0))
        ),
        Mistake(
            [11.1, -12.9, 12.0, 24.0],
            "Both signs are turned around. The larger the score, the larger the weight: the first "
            "word has less weight than the second, whose score is 0, and the third has more.",
        ),
        Mistake(
            [-11.1, 12.9, 36.7, 23.3],
            "The last two are the plain average of the three values. Each value counts as much as "
            "its weight says.",
        ),
        Mistake(
            [-11.1, 12.9, 10.0, 20.0],
            "The last two are the value of the third word. It has most of the weight, and the "
            "others still add their part.",
        ),
        Mistake(
            [-11.1, 12.9, 110.0, 70.0],
            "The last two are the sum of the values. Multiply each by its weight first.",
        ),
    ),
    hints=(
        "The ratio of two weights is e to the power of the difference of their scores, and these "
        "are scores after the division.",
        "Compare each of the two with the word whose score is known. Is its weight larger or "
        "smaller?",
    ),
)
