"""Layer norm of one word by hand, with a scale and a shift."""

from grading.author import mistake, plan, task

# %% the cell
normed_word = ...  # a list of five numbers
# BEGIN ANSWER
normed_word = [0.0, -1.0, -1.0, -1.0, 5.0]
# END ANSWER
# %%

mistake(
    "This is the word with mean 0 and variance 1. Scale and shift come after that.",
    [-0.5, -0.5, -0.5, -0.5, 2.0],
)
mistake("Nothing was shifted.", [-1.0, -1.0, -1.0, -1.0, 6.0])
mistake("Nothing was scaled.", [0.5, -0.5, -0.5, -0.5, 1.0])
mistake(
    "The shift was added first, and so it was scaled, too. Look at the order in the equation.",
    [1.0, -1.0, -1.0, -1.0, 3.0],
)
mistake(
    "The mean is gone, but nothing was divided: the deviations are still as large as they came.",
    [-5.0, -6.0, -6.0, -6.0, 35.0],
)
mistake(
    "It was divided by the variance. Which power of it stands in the equation?",
    [5 / 6, -1 / 6, -1 / 6, -1 / 6, 0.0],
)
mistake(
    "The sum of the squares was divided by 4. That is what `std` does if nobody tells it "
    "otherwise. Layer norm divides by the count.",
    [0.10557, -0.89443, -0.89443, -0.89443, 4.36656],
)
mistake(
    "The mean was not subtracted before the division.",
    [106 / 3, 103 / 3, 103 / 3, 103 / 3, 58.0],
)

TASK = task(
    plan("predict", points=4, difficulty=1, minutes=5),
    outcome="write a residual connection and a layer norm, and say what each of them keeps",
    rtol=1e-2,
    atol=1e-2,
    hints=(
        "What would be different, if the word were (3, 3, 3, 3, 18)?",
        "The five deviations from the mean add up to 0. The variance is the mean of their squares.",
    ),
)
