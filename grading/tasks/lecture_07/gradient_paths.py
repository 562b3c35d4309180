"""The gradient through three layers, and the ways that it takes."""

from grading.author import mistake, plan, task

# %% the cell
gradient_paths = ...  # a list of four numbers
# BEGIN ANSWER
gradient_paths = [-0.05, 0.9, 0.2, -0.25]
# END ANSWER
# %%

mistake(
    "The first number is the sum of the three. One layer after the other: what does the chain "
    "rule do with their derivatives?",
    [0.2, 0.9, 0.2, -0.25],
)
mistake(
    "The first number has the wrong sign: one of the three derivatives is negative.",
    [0.05, 0.9, 0.2, -0.25],
)
mistake(
    "The second number belongs to *one* residual connection around all three layers. Each layer "
    "has its own.",
    [-0.05, 0.95, 0.2, -0.25],
)
mistake(
    "The second number is 1 and the three derivatives added up. The ways through two and three "
    "layers are missing from it.",
    [-0.05, 1.2, 0.2, -0.25],
)
mistake(
    "In the second number one derivative has lost its sign: 1 and −0.5 give 0.5.",
    [-0.05, 2.7, 0.2, -0.25],
)
mistake(
    "The second number is the sum of 1 + 0.2, 1 + 0.5 and 1 − 0.5. The layers stand one after "
    "the other: they multiply.",
    [-0.05, 3.2, 0.2, -0.25],
)
mistake(
    "The third number is too large by 1. Either the way past all three functions is in it, or "
    "−0.5 has lost its sign.",
    [-0.05, 0.9, 1.2, -0.25],
)
mistake(
    "The last number is that of the way through all three layers. How many ways pass exactly two?",
    [-0.05, 0.9, 0.2, -0.05],
)
mistake(
    "The last number is that of one way through two layers. There are more of them.",
    [-0.05, 0.9, 0.2, 0.1],
)
mistake("In the last number all products have been taken as positive.", [-0.05, 0.9, 0.2, 0.45])
mistake(
    "The last number has the wrong sign: two of its three products are negative. All eight ways "
    "together must give the second number.",
    [-0.05, 0.9, 0.2, 0.25],
)
mistake(
    "In the last number one way is missing: the two functions need not stand next to each other.",
    [-0.05, 0.9, 0.2, -0.15],
)
mistake(
    "These are the ways through *at least* one function, and through at least two.",
    [-0.05, 0.9, -0.1, -0.3],
)
mistake("The last number contains the way through all three.", [-0.05, 0.9, 0.2, -0.3])
mistake(
    "The third number is that of the one way through all three. Which ways pass *one*?",
    [-0.05, 0.9, -0.05, -0.25],
)

TASK = task(
    plan("predict", points=6, difficulty=2, minutes=8),
    outcome="write a residual connection and a layer norm, and say what each of them keeps",
    hints=(
        "The derivative of x + f(x) is 1 plus that of f. Three such steps follow each other.",
        "Multiply out (1 + a)(1 + b)(1 + c). Each of the eight terms is one way through the stack, "
        "and its letters are the layers that it passes.",
        "A test for the end: each way passes none of the functions, one, two or all three. So 1, "
        "your third, your fourth and your first number must add up to the second.",
    ),
)
