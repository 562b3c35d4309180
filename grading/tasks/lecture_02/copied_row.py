"""Predict a context vector from the weights."""

from grading.task import Mistake, Task

TASK = Task(
    name="copied_row",
    lecture=2,
    kind="predict",
    points=4,
    difficulty=1,
    minutes=3,
    outcome="compute a context vector by hand",
    reference=[2.0, 1.0],
    mistakes=(
        Mistake([4.0, 2.0], "This is the sum of the two vectors. The weights halve each of them."),
        Mistake(
            [1.0, 0.5],
            "The weights were applied, and then the result was divided by the number of words "
            "again. The weights sum to 1 already.",
        ),
        Mistake(
            [4.0, 0.0],
            "This is the first vector alone. The weight of the second is 0.5 too.",
        ),
    ),
)
