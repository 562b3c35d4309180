"""One step of a recurrent network, by hand."""

from grading.task import Mistake, Task

TASK = Task(
    name="one_step",
    lecture=1,
    kind="predict",
    points=4,
    difficulty=1,
    minutes=4,
    outcome="compute one step of a {term}`recurrent network` by hand, and give the shape of "
    "every weight",
    reference=[0.0, 0.76],
    rtol=0.0,
    atol=0.006,
    mistakes=(
        Mistake(
            [0.0, 1.0],
            "These are the sums before tanh. The last thing that happens to them is tanh.",
        ),
        Mistake(
            [-0.76, 0.46],
            "This is W_h used by its columns. In `W_h @ h` each number of the result belongs to a "
            "row: row 0 is (0, 1), so it gives 0 × 0.5 + 1 × (−1).",
        ),
        Mistake(
            [0.76, 1.0],
            "The bias b is missing. It is added before tanh.",
        ),
        Mistake(
            [0.76, 0.0],
            "The state before this word is missing: W_h @ h has to be added before tanh.",
        ),
        Mistake(
            [-0.96, -0.76],
            "The word is missing: W_x @ x has to be added before tanh.",
        ),
        Mistake(
            [0.5, 0.73],
            "This is the logistic function of the right sums. The step of the lecture uses tanh, "
            "which is 0 at 0.",
        ),
        Mistake(
            [0.9, -0.76],
            "The old state was added as it is. It goes through W_h first.",
        ),
        Mistake(
            [-0.24, 1.0],
            "Tanh was taken of W_x @ x + b alone, and W_h @ h was added afterwards. All three "
            "parts are inside of tanh.",
        ),
    ),
    hints=(
        "Three vectors of two numbers each are added: W_x @ x, W_h @ h and b. Write them below "
        "each other.",
        "In `W @ v` each row of W gives one number: multiply the row with v, entry by entry, and "
        "add up.",
    ),
)
