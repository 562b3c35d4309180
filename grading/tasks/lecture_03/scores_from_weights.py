"""From weights back to scores, and forward to a context vector."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=6,
    minutes=10,
    section="Three words by hand",
    outcome="work from weights back to differences of scores, and compute a context vector by hand",
    rtol=0.0,
    atol=0.06,
    hints=(
        "The ratio of two weights is e to the power of the difference of their scores. These are "
        "the scores after the division.",
        "Compare the first and the third word with the second. Is the weight larger or smaller "
        "than 0.16?",
    ),
)

# %% the cell
scores_from_weights = ...  # a list of four numbers
# BEGIN SOLUTION
scores_from_weights = [-11.1, 12.9, 12.0, 24.0]
# END SOLUTION
# %%

task.mistake(
    "The first two are the scores after the division. The dot products before it were √d_k times "
    "as large.",
    [-1.39, 1.61, 12.0, 24.0],
)
task.mistake(
    "The logarithms were divided by √d_k. They are scores after the division already: the dot "
    "products before it were √d_k times as large.",
    [-0.17, 0.2, 12.0, 24.0],
)
task.mistake(
    "The scores were multiplied by d_k. They had been divided by its square root, √d_k.",
    [-88.7, 103.0, 12.0, 24.0],
)
task.mistake(
    "The first two were multiplied by √256. The divisor is √d_k, and d_k is the width of queries "
    "and keys, not of the words.",
    [-22.2, 25.8, 12.0, 24.0],
    [-22.1, 25.7, 12.0, 24.0],
    [-22.2, 25.7, 12.0, 24.0],
)
task.mistake(
    "These are logarithms to the base 10. Softmax is made of powers of e, so take the natural "
    "logarithm.",
    [-4.8, 5.6, 12.0, 24.0],
)
task.mistake(
    "The first two come from the ratios of the weights. A ratio of weights is e to the power of "
    "the difference of the scores, so take its logarithm.",
    [2.0, 40.0, 12.0, 24.0],
)
task.mistake(
    "The first word has less weight than the second, so its score is below that of the second, "
    "which is 0. What is the sign of the logarithm of a number below 1?",
    [11.1, 12.9, 12.0, 24.0],
)
task.mistake(
    "These are differences from the first word: the second is 11.1 above it, the third 24.0. But "
    "the dot product 0 is that of the second word, so what is the sign of the first one's?",
    [11.1, 24.0, 12.0, 24.0],
)
task.mistake(
    "Here the dot product of the *second* key is 0, not that of the first as in the lecture. So "
    "the first one must be found, too.",
    [0.0, 24.0, 12.0, 24.0],
    [0.0, 23.9, 12.0, 24.0],
)
task.mistake(
    "The second number is the difference between the third word and the first. We want the dot "
    "product itself, and the word with 0 is the second one.",
    [-11.1, 24.0, 12.0, 24.0],
)
task.mistake(
    "The first number is the difference between the first word and the third. We want the dot "
    "product itself, and the word with 0 is the second one.",
    [-24.0, 12.9, 12.0, 24.0],
)
task.mistake(
    "The first two are √d_k times the logarithms of the weights themselves. A weight is e to the "
    "power of its score *divided by a sum*, so compare it with the weight of the second word.",
    [-25.8, -1.8, 12.0, 24.0],
)
task.mistake(
    "The first two are rounded too early or too far. Keep three decimals of the logarithms, and "
    "round the results to one decimal.",
    *(
        [*first_two, 12.0, 24.0]
        for first_two in ((-11.2, 12.8), (-11.0, 13.0), (-11.0, 12.9), (-11.1, 13.0))
    ),
)
task.mistake(
    "Both signs are wrong. The larger the score, the larger the weight: the first word has less "
    "weight than the second, whose score is 0, and the third has more.",
    [11.1, -12.9, 12.0, 24.0],
)
task.mistake(
    "The last two are the plain average of the three values. Multiply each value by its weight "
    "instead.",
    [-11.1, 12.9, 36.7, 23.3],
)
task.mistake(
    "The last two are the value of the third word. It has most of the weight, but the other two "
    "words contribute as well.",
    [-11.1, 12.9, 10.0, 20.0],
)
task.mistake(
    "The last two are exchanged. The first numbers of the values, 100, 0 and 10, make the first "
    "number of the context vector.",
    [-11.1, 12.9, 24.0, 12.0],
)
task.mistake(
    "The last two are the plain sum of the values. Multiply each by its weight first.",
    [-11.1, 12.9, 110.0, 70.0],
)
