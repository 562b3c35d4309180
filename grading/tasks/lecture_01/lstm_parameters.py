"""How many numbers an LSTM has."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=4,
    minutes=6,
    section="The LSTM cell",
    outcome="compute one step of a {term}`recurrent network` and of an LSTM cell by hand, and "
    "give the shape of every weight",
    hints=(
        "Count a plain `nn.RNN(30, 20)` first: W_x, W_h and two biases.",
        "Which vectors does an LSTM compute from the word and the state at each step? They are i, "
        "f, g, and o, the output gate. Each is computed in the same way as the RNN's state.",
    ),
)

# %% the cell
lstm_parameters = ...  # a whole number
# BEGIN SOLUTION
lstm_parameters = 4160
# END SOLUTION
# %%

task.mistake(
    "This is the count for one gate, or for a plain RNN. An LSTM has four times as many: for the "
    "input gate, the forget gate, the new content and the output gate.",
    1040,
)
task.mistake(
    "Three times is a GRU. In an LSTM the input gate, the forget gate, the new content and the "
    "output gate each have weights of their own: four times.",
    3120,
)
task.mistake(
    "With one bias each this would be right. PyTorch keeps two, bias_ih and bias_hh, as the "
    "lecture's list of the RNN's parameters shows.",
    4080,
)
task.mistake(
    "The matrices are counted, but the biases are missing: two of 20 numbers for each of the four.",
    4000,
)
task.mistake(
    "One of the two biases was given 30 numbers. A bias has one for each output, here 20; only a "
    "matrix has a side for what comes in.",
    4200,
)
task.mistake(
    "The second matrix takes the old state, not the word: 20 × 20 numbers, not 20 × 30.",
    4960,
)
task.mistake(
    "The matrices that take the old state are missing: 20 × 20 numbers for each of the four.",
    2560,
)
task.mistake(
    "The two biases were counted once for the whole LSTM. Each of the three gates and the new "
    "content has both.",
    4040,
)
task.mistake(
    "The cell state has no matrix of its own: it is scaled number by number. Only the two "
    "vectors that come in, word and old state, go through matrices.",
    5760,
)
task.mistake(
    "The matrices for the word are missing: each of the four vectors has one of shape 20 × 30.",
    1760,
)
task.mistake(
    "This is one of the four, without its biases. There are four, each with matrices and biases.",
    1000,
)
task.mistake(
    "This is one of the four, with one bias. There are four, and PyTorch stores two biases for "
    "each.",
    1020,
)
task.mistake("This is a bidirectional LSTM. Count one direction.", 8320)
task.mistake(
    "Input and hidden size are exchanged. In `nn.LSTM(30, 20)` a word has 30 numbers and the state "
    "has 20, so each of the four vectors has 20.",
    6240,
)
