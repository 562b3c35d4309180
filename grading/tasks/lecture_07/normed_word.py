"""Layer norm of one word by hand, with a scale and a shift."""

from grading.task import Mistake, Task

TASK = Task(
    name="normed_word",
    lecture=7,
    kind="predict",
    points=4,
    difficulty=1,
    minutes=5,
    outcome="write a residual connection and a layer norm, and say which of three illnesses of "
    "deep stacks each of them cures, and which it does not",
    reference=[0.0, -1.0, -1.0, -1.0, 5.0],
    rtol=1e-2,
    atol=1e-2,
    mistakes=(
        Mistake(
            [-0.5, -0.5, -0.5, -0.5, 2.0],
            "This is the word with mean 0 and variance 1. Scale and shift come after that.",
        ),
        Mistake([-1.0, -1.0, -1.0, -1.0, 6.0], "Nothing was shifted."),
        Mistake([0.5, -0.5, -0.5, -0.5, 1.0], "Nothing was scaled."),
        Mistake(
            [1.0, -1.0, -1.0, -1.0, 3.0],
            "The shift was added first, and so it was scaled, too. Look at the order in the "
            "equation.",
        ),
        Mistake(
            [-5.0, -6.0, -6.0, -6.0, 35.0],
            "The mean is gone, but nothing was divided: the deviations are still as large as they "
            "came.",
        ),
        Mistake(
            [5 / 6, -1 / 6, -1 / 6, -1 / 6, 0.0],
            "It was divided by the variance. Which power of it stands in the equation?",
        ),
        Mistake(
            [0.10557, -0.89443, -0.89443, -0.89443, 4.36656],
            "The sum of the squares was divided by 4. That is what `std` does if nobody tells it "
            "otherwise. Layer norm divides by the count.",
        ),
        Mistake(
            [106 / 3, 103 / 3, 103 / 3, 103 / 3, 58.0],
            "The mean was not subtracted before the division.",
        ),
    ),
    hints=(
        "What would be different, if the word were (3, 3, 3, 3, 18)?",
        "The five deviations from the mean add up to 0. The variance is the mean of their squares.",
    ),
)
