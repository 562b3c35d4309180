"""What a divisor does to the variance of the scores."""

from grading.task import Mistake, Task

TASK = Task(
    name="variances",
    lecture=3,
    kind="predict",
    points=5,
    difficulty=2,
    minutes=6,
    outcome="say what dividing by √d_k does to the scores, to the softmax and to the gradient, and "
    "what happens with another divisor",
    reference=[256.0, 4.0, 0.5, 0.0625],
    mistakes=(
        Mistake(
            [16.0, 2.0, 0.7071, 0.25],
            "These are the standard deviations. The variance is the square.",
        ),
        Mistake(
            [64.0, 1.0, 0.125, 0.015625],
            "The keys have variance 4, not 1. A product of independent numbers with mean 0 has the "
            "product of their variances.",
        ),
        Mistake(
            [256.0, 32.0, 11.3137, 4.0],
            "The variance was divided by the divisor. Dividing numbers by c divides their variance "
            "by c².",
        ),
        Mistake(
            [1024.0, 16.0, 2.0, 0.25],
            "The variance of the keys is 4 already; it was squared. That of the product is 1 × 4.",
        ),
        Mistake(
            [128.0, 2.0, 0.25, 0.03125],
            "The keys count with 2 here, their standard deviation. For a product of independent "
            "numbers the variances are multiplied: 1 × 4.",
        ),
        Mistake(
            [2048.0, 32.0, 4.0, 0.5],
            "512 products were summed. A score is a sum of d_k products, however wide the words "
            "are.",
        ),
        Mistake(
            [4.0, 0.0625, 0.0078125, 0.0009765625],
            "This is the variance of one product. A score is a sum of d_k of them, and variances "
            "of independent numbers add up.",
        ),
        Mistake(
            [320.0, 5.0, 0.625, 0.078125],
            "The variances of query and key were added. For a product of independent numbers with "
            "mean 0 they are multiplied.",
        ),
    ),
    hints=(
        "One product of a query's number and a key's number has the variance 1 × 4. How many of "
        "them are added?",
        "Divide a list of numbers by 10, and see what its variance does.",
    ),
)
