"""One step of a recurrent network, by hand."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=4,
    minutes=6,
    section="Recurrent networks",
    outcome="compute one step of a {term}`recurrent network` and of an LSTM cell by hand, and "
    "give the shape of every weight",
    rtol=0.0,
    atol=0.006,
    hints=(
        "Three vectors of two numbers each are added: W_x @ x, W_h @ h and b. Write them below "
        "each other.",
        "In `W @ v` each row of W gives one number: multiply the row by v, entry by entry, and "
        "add up the products.",
    ),
)

# %% the cell
rnn_step = ...  # a list of two numbers
# BEGIN SOLUTION
rnn_step = [0.0, 0.76]
# END SOLUTION
# %%

task.mistake(
    "These are the sums before tanh. Apply tanh to them last.",
    [0.0, 1.0],
)
task.mistake(
    "You used the columns of W_h. In `W_h @ h` each number of the result belongs to a row: row 0 "
    "is (0, 1), so it gives 0 × 0.5 + 1 × (−1).",
    [-0.76, 0.46],
)
task.mistake("The bias b is missing. It is added before tanh.", [0.76, 1.0])
task.mistake(
    "The state before this word is missing: W_h @ h has to be added before tanh.",
    [0.76, 0.0],
)
task.mistake("The word is missing: W_x @ x has to be added before tanh.", [-0.96, -0.76])
task.mistake(
    "This is the sigmoid of the right sums. The lecture's step uses tanh, which is 0 at 0.",
    [0.5, 0.73],
)
task.mistake("The old state was added as it is. Multiply it by W_h first.", [0.9, -0.76])
task.mistake(
    "Tanh was taken of W_x @ x + b alone, and W_h @ h was added afterwards. All three terms are "
    "inside tanh.",
    [-0.24, 1.0],
)
task.mistake(
    "A sign was lost: the second number of the old state is −1, and row 0 of W_h takes it as it "
    "is.",
    [0.96, 0.76],
)
