"""How many numbers an LSTM has."""

from grading.task import Mistake, Task

TASK = Task(
    name="lstm_parameters",
    lecture=1,
    kind="predict",
    points=4,
    difficulty=1,
    minutes=4,
    outcome="compute one step of a {term}`recurrent network` by hand, and give the shape of "
    "every weight",
    reference=4160,
    mistakes=(
        Mistake(
            1040,
            "This is one gate's share, or a plain RNN. An LSTM has it four times: for the input "
            "gate, the forget gate, the new content and the output gate.",
        ),
        Mistake(
            3120,
            "Three times is a GRU. In an LSTM the input gate, the forget gate, the new content and "
            "the output gate each have weights of their own: four times.",
        ),
        Mistake(
            4080,
            "With one bias each this would be right. PyTorch keeps two, bias_ih and bias_hh, as "
            "the lecture's list of the RNN's parameters shows.",
        ),
        Mistake(
            4000,
            "The matrices are counted, the biases are missing: two of 20 numbers for each of the "
            "four.",
        ),
        Mistake(
            4960,
            "The second matrix takes the old state, not the word: 20 × 20 numbers, not 20 × 30.",
        ),
        Mistake(
            2560,
            "The matrices that take the old state are missing: 20 × 20 numbers for each of the "
            "four.",
        ),
        Mistake(
            1020,
            "This is one gate's share, and with one bias. There are four such shares, and PyTorch "
            "keeps two biases in each.",
        ),
        Mistake(
            5760,
            "The cell state has no matrix of its own: it is scaled number by number. Only the two "
            "vectors that come in, word and old state, go through matrices.",
        ),
    ),
    hints=(
        "Count a plain `nn.RNN(30, 20)` first: W_x, W_h and two biases.",
        "What has to be computed from word and state at each step of an LSTM? i, f, g, and o, the "
        "output gate. Each is computed as the RNN computes its state.",
    ),
)
