"""How many places decide each digit of the answer, before any map is drawn."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=4,
    minutes=20,
    outcome="say what a model must read before you look at what it reads",
    hints=(
        "The carry from the units: if the units digit of the answer is smaller than that of a, "
        "there was one. Is there any doubt if they are equal?",
        "The carry from the tens: find two sums with the same digit of a and the same digit of the "
        "answer there, one with a carry and one without.",
    ),
)

# %% the cell
positions_needed = ...  # a list of four whole numbers
# BEGIN SOLUTION
positions_needed = [2, 4, 5, 3]
# END SOLUTION
# %%

task.mistake(
    "This is what is needed from the question alone. The model may also read what it has "
    "generated: the tens digit of the answer already tells about the carry from the units.",
    [2, 4, 6, 6],
    [2, 4, 6, 7],
)
task.mistake(
    "The carry is ignored: 5 + 5 and 5 + 4 differ in the digit before them.",
    [2, 2, 2, 0],
    [2, 2, 2, 1],
    [2, 2, 2, 2],
)
task.mistake(
    "A carry from the tens is not always known from two positions. If a has a 4 there, and the "
    "answer has a 4, too: was there a carry?",
    [2, 4, 4, 2],
)
task.mistake(
    "A carry was counted as one position. It is not written anywhere: the model has to compute it "
    "from digits.",
    [2, 3, 3, 1],
)
task.mistake(
    "The thousands digit is only the carry: a and b have no digits there.",
    [2, 4, 5, 5],
    [2, 4, 5, 4],
)
task.mistake(
    "This is the order of plain answers, thousands first. Here the units come first.",
    [3, 5, 4, 2],
    [6, 6, 4, 2],
)
task.mistake(
    "The position of `=`, where the first digit is predicted, was counted. It says nothing about "
    "the digits.",
    [3, 5, 6, 4],
)
