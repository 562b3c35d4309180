"""Two heads and W_out by hand."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=4,
    minutes=5,
    section="A list of heads",
    outcome="say why one row of weights averages several relations, and what a second head changes",
    hints=(
        "Each head collects one number: a sum of its values, each multiplied by its weight.",
        "Concatenated, these are two numbers. Multiply the first row of the matrix by the number "
        "of head 0 and its second row by the number of head 1, and add the two.",
    ),
)

# %% the cell
multi_head_output = ...  # a list of two numbers
# BEGIN SOLUTION
multi_head_output = [19.0, 8.0]
# END SOLUTION
# %%

task.mistake(
    "The heads collect 4 and 5, which is right. But the matrix is transposed: its first *row* "
    "says what head 0 adds to the two outputs.",
    [14.0, 12.0],
)
task.mistake(
    "The heads are swapped: 4 was collected by head 0, so it meets the first row of the matrix, "
    "and 5 by head 1.",
    [17.0, 10.0],
)
task.mistake(
    "This is what the two heads collect, concatenated. The output matrix has not been applied yet.",
    [4.0, 5.0],
)
task.mistake(
    "Head 1 used the values of head 0. Each head has values of its own.",
    [23.5, 8.0],
)
task.mistake(
    "Head 1 collects a weighted *sum* of its values, too, not only the value with the largest "
    "weight.",
    [16.0, 8.0],
)
task.mistake("This is what head 0 adds to the output. Head 1 adds something, too.", [4.0, 8.0])
task.mistake("This is what head 1 adds to the output. Head 0 adds something, too.", [15.0, 0.0])
task.mistake(
    "The entries were multiplied one by one. Multiply the number of head 0 with the whole first "
    "row of the matrix and the number of head 1 with the second row, then add both rows.",
    [4.0, 0.0],
)
task.mistake(
    "The numbers of the two heads were averaged before the output matrix. They are concatenated: "
    "the number of head 0 meets the first row, that of head 1 the second row.",
    [18.0, 9.0],
)
