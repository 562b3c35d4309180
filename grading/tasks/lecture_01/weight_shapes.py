"""The shapes of two readers, joined, and of a third one on top of them."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=6,
    minutes=10,
    section="Recurrent networks",
    outcome="compute one step of a {term}`recurrent network` and of an LSTM cell by hand, and "
    "give the shape of every weight",
    hints=(
        "In `W @ v`, W has one column for each entry of v, and one row for each entry of the "
        "result.",
        "Each network has its own W_x, its own W_h and its own state size. For the third network, "
        "the “word” is the concatenated vector that it reads at each position.",
        "In `x @ M` the rows of x are multiplied one by one: row t of the result is x[t] @ M.",
    ),
)

# %% the cell
weight_shapes = ...  # a list of six tuples
# BEGIN SOLUTION
weight_shapes = [(24, 50), (24, 24), (9, 64), (32, 64), (10, 32), (50, 24)]
# END SOLUTION
# %%


def instead(**changes):
    """The right list with some entries replaced: `at0`, `at1`, …"""
    return [changes.get(f"at{i}", shape) for i, shape in enumerate(weight_shapes)]


ALL_TURNED = (
    "All three are transposed: W_x of the network from the right, W_x of the third network, and "
    "W_out. In `W @ v` the columns of W belong to the input, the rows to the output."
)
ONE_ROW_A_WORD = (
    "The concatenated states: there is one row for each of the 9 words, with the concatenated "
    "state of that word."
)

task.mistake(
    "W_x of the network from the right is transposed. In `W_x @ x` its columns belong to the "
    "word and its rows to the state.",
    instead(at0=(50, 24)),
)
task.mistake(ALL_TURNED, instead(at0=(50, 24), at3=(64, 32), at4=(32, 10)))
task.mistake(ALL_TURNED, instead(at0=(50, 24), at3=(64, 32), at4=(32, 10), at5=(24, 50)))
task.mistake(
    "W_x of the third network is transposed. Its columns belong to its input, its rows to its "
    "state.",
    instead(at3=(64, 32)),
)
task.mistake(
    "W_out is transposed. Its columns belong to the state, its rows to the outputs.",
    instead(at4=(32, 10)),
)
task.mistake(
    "40 is the state size of the network from the left. The question asks for the network from "
    "the right.",
    instead(at0=(40, 50), at1=(40, 40), at5=(50, 40)),
)
task.mistake(
    "W_h of the network from the right: the two networks do not see each other's states. W_h "
    "takes the network's own state.",
    instead(at1=(24, 40)),
)
task.mistake(
    "(24, 50) is the shape of W_x of the network from the right. W_h takes a state and returns a "
    "state.",
    instead(at1=(24, 50)),
)
task.mistake(
    "(64,) is one concatenated state. There is one for each of the 9 words, and the question "
    "asks for all of them.",
    instead(at2=(64,)),
)
task.mistake(
    "The concatenated states have a row for each word here, not a column. (In the lecture's "
    "picture, each state is a column.)",
    instead(at2=(64, 9)),
)
task.mistake(
    "The concatenated states: both networks have a state for each of the same 9 words. They are "
    "concatenated word by word.",
    instead(at2=(18, 64)),
)
task.mistake(ONE_ROW_A_WORD + " The words have 50 numbers, not the state.", instead(at2=(9, 50)))
task.mistake(
    ONE_ROW_A_WORD + " 40 numbers come from the network from the left only.", instead(at2=(9, 40))
)
task.mistake(
    "W_x of the third network: it does not see the words. What it reads at each word is the "
    "concatenated state.",
    instead(at3=(32, 50)),
)
task.mistake(
    "W_x of the third network: it reads both states of the layer below, concatenated.",
    instead(at3=(32, 40)),
)
task.mistake(
    "W_out takes the state of the third network, not the concatenated states.",
    instead(at4=(10, 64)),
)
task.mistake(
    "The last one: `x @ M` with x of shape (9, 50) needs an M with 50 rows. Transpose W_x.",
    instead(at5=(24, 50)),
)
task.mistake(
    "The last one: (9, 24) is the shape of the result, `x @ M`. The question asks for M.",
    instead(at5=(9, 24)),
)
task.mistake(
    "W_x of the network from the right: it reads the words, as the network from the left does, and "
    "not the states of that network.",
    instead(at0=(24, 40)),
)
task.mistake(
    "W_x of the third network: it reads both states of the layer below. 24 numbers come from the "
    "network from the right only.",
    instead(at3=(32, 24)),
)
task.mistake(
    ONE_ROW_A_WORD + " 24 numbers come from the network from the right only.",
    instead(at2=(9, 24)),
)
task.mistake(
    ONE_ROW_A_WORD + " 32 is the state of the third network, which reads them.",
    instead(at2=(9, 32)),
)
