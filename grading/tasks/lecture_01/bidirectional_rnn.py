"""A bidirectional reader: two loops, joined word by word."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=9,
    minutes=19,
    section="Bidirectional networks",
    outcome="compute one step of a {term}`recurrent network` and of an LSTM cell by hand, and "
    "give the shape of every weight",
    hints=(
        "Write the network for one direction first, as the lecture's `read`: a loop over the rows "
        "of x that keeps every state.",
        "For the other direction use the same function with the words in reverse order, "
        "`x.flip(0)`. In which order does it return its states?",
    ),
)


def _read(x, W_x, W_h, b):
    h = torch.zeros(len(b), dtype=x.dtype)
    states = []
    for x_t in x:
        h = torch.tanh(W_x @ x_t + W_h @ h + b)
        states.append(h)
    return torch.stack(states)


# %% the cell
def bidirectional_rnn(x, left, right):
    """The concatenated states (T, d_left + d_right) of the words x (T, d_in)."""
    # BEGIN SOLUTION
    halves = []
    for words, (W_x, W_h, b) in ((x, left), (x.flip(0), right)):
        h = torch.zeros_like(b)  # (d_hidden,)
        states = []
        for x_t in words:
            h = torch.tanh(W_x @ x_t + W_h @ h + b)  # (d_hidden,)
            states.append(h)
        halves.append(torch.stack(states))  # (T, d_hidden)
    from_left, from_right = halves  # (T, d_left), (T, d_right)
    return torch.cat([from_left, from_right.flip(0)], dim=-1)  # (T, d_left + d_right)
    # END SOLUTION


# %%


@task.alternative
def by_index(x, left, right):
    """The second loop runs through the places from the end."""
    T = len(x)
    states = [[None, None] for _ in range(T)]
    for side, places in ((0, range(T)), (1, range(T - 1, -1, -1))):
        W_x, W_h, b = (left, right)[side]
        h = torch.zeros_like(b)
        for t in places:
            h = torch.tanh(x[t] @ W_x.T + h @ W_h.T + b)
            states[t][side] = h
    return torch.stack([torch.cat(pair) for pair in states])


@task.alternative
def by_torch(x, left, right):
    """Two of torch's networks with these weights."""

    def states(x, W_x, W_h, b):
        network = torch.nn.RNN(W_x.shape[1], len(b)).to(x.dtype)
        with torch.no_grad():
            for mine, theirs in zip(network.parameters(), (W_x, W_h, b, 0 * b), strict=True):
                mine.copy_(theirs)
        return network(x)[0].detach()

    return torch.cat([states(x, *left), states(x.flip(0), *right).flip(0)], dim=1)


task.mistake(
    "The states from the right were concatenated in the order in which they were read: row 0 "
    "holds the left state of the first word and the right state of the last one. Flip them back "
    "before you concatenate.",
    lambda x, left, right: torch.cat([_read(x, *left), _read(x.flip(0), *right)], dim=-1),
)
task.mistake(
    "Both networks start at the first word. The second one reads from the end: flip the words for "
    "it, and flip its states back.",
    lambda x, left, right: torch.cat([_read(x, *left), _read(x, *right)], dim=-1),
)
task.mistake(
    "The states of the second network were flipped, but it had read from the left. Flip the words "
    "for it first.",
    lambda x, left, right: torch.cat([_read(x, *left), _read(x, *right).flip(0)], dim=-1),
)
task.mistake(
    "The entries of each word vector were flipped, not the order of the words. Words are axis 0 "
    "of x.",
    lambda x, left, right: torch.cat([_read(x, *left), _read(x.flip(-1), *right).flip(0)], dim=-1),
)
task.mistake(
    "The entries of the words and of the states were flipped, not their order. Words are axis 0: "
    "flip(0).",
    lambda x, left, right: torch.cat([_read(x, *left), _read(x.flip(-1), *right).flip(-1)], dim=-1),
)
task.mistake(
    "The halves are swapped: the state of the left network comes first in each row.",
    lambda x, left, right: torch.cat([_read(x.flip(0), *right).flip(0), _read(x, *left)], dim=-1),
)
task.mistake(
    "The states were concatenated along the words, one table below the other. Concatenate them "
    "word by word, along the last axis: torch.cat with dim=-1.",
    lambda x, left, right: torch.cat([_read(x, *left), _read(x.flip(0), *right).flip(0)], dim=0),
)
task.mistake(
    "torch.stack makes a new axis for the two networks. The two states of a word become one "
    "longer vector: torch.cat with dim=-1.",
    lambda x, left, right: torch.stack([_read(x, *left), _read(x.flip(0), *right).flip(0)], dim=-1),
)
task.mistake(
    "These are the last states of both networks, one vector for the whole sentence. The result "
    "needs a row for each word: the state of each network after that word.",
    lambda x, left, right: torch.cat([_read(x, *left)[-1], _read(x.flip(0), *right)[-1]]),
)


@task.mistake(
    "Each word was read with a state of zeros. Carry h from one word to the next: W_h @ h is "
    "missing, or h is set to zero inside the loop."
)
def no_memory(x, left, right):
    return torch.cat([torch.tanh(x @ W_x.T + b) for W_x, _, b in (left, right)], dim=-1)


@task.mistake("The sums are right, but tanh is missing.")
def no_tanh(x, left, right):
    def read(x, W_x, W_h, b):
        h = torch.zeros_like(b)
        states = []
        for x_t in x:
            h = W_x @ x_t + W_h @ h + b
            states.append(h)
        return torch.stack(states)

    return torch.cat([read(x, *left), read(x.flip(0), *right).flip(0)], dim=-1)


@task.mistake("These are the states before each word. Store h after the word has been read.")
def goes_on(x, left, right):
    def before(x, W_x, W_h, b):
        return torch.cat([torch.zeros(1, len(b), dtype=x.dtype), _read(x, W_x, W_h, b)[:-1]])

    return torch.cat([before(x, *left), before(x.flip(0), *right).flip(0)], dim=-1)


@task.mistake(
    "The states of `left` are right. But those of `right` are one word late: row t joins the state "
    "of `left` after word t with the state of `right` before it reads word t. Both must have read "
    "that word."
)
def right_before_the_word(x, left, right):
    b = right[-1]
    before = torch.cat([torch.zeros_like(b)[None], _read(x.flip(0), *right)[:-1]])
    return torch.cat([_read(x, *left), before.flip(0)], dim=-1)


@task.mistake(
    "The old state was multiplied by W_h in the wrong order: W_h @ h, or h @ W_h.T, but not h @ "
    "W_h."
)
def by_columns(x, left, right):
    turned = [(W_x, W_h.T, b) for W_x, W_h, b in (left, right)]
    return bidirectional_rnn(x, *turned)


task.edit(
    "The network from the right continues with the last state of the one from the left. It should "
    "start with a state of zeros.",
    "    halves = []\n",
    "    halves, h = [], None\n",
    "h = torch.zeros_like(b)",
    "h = torch.zeros_like(b) if h is None or len(h) != len(b) else h",
)


task.mistake(
    "The entries within each row were flipped as well, in the words and in the states: np.flip "
    "without an axis flips all axes. Flip only the order of the words, axis 0.",
    lambda x, left, right: torch.cat([_read(x, *left), _read(x.flip(0, 1), *right).flip(0, 1)], 1),
)


@task.mistake(
    "Every row holds the last state of its network. If h is changed in place (h[:] = …, "
    "h.copy_(…)), the list holds the same tensor T times, and all of them change. Make a new h in "
    "each step, or keep a copy."
)
def one_tensor(x, left, right):
    states = _read(x, *left), _read(x.flip(0), *right)
    return torch.cat([state[-1].expand_as(state) for state in states], dim=-1)


@task.mistake(
    "All states from the left were put in one row, followed by all states from the right, and the "
    "row was cut into T rows. `view` and `reshape` do not bring the two states of a word "
    "together. Concatenate the two arrays along the last axis."
)
def cut_from_a_line(x, left, right):
    states = _read(x, *left), _read(x.flip(0), *right).flip(0)
    return torch.cat([state.flatten() for state in states]).view(len(x), -1)


@task.mistake(
    "The network from the right has not read the first word: its part of row 0 is still zero. A "
    "range ends before its second number, even when it counts down."
)
def first_word_not_read(x, left, right):
    joined = bidirectional_rnn(x, left, right)
    joined[0, len(left[2]) :] = 0
    return joined


task.mistake(
    "Slices of tensors cannot have a negative step: x[::-1] works for lists and NumPy only. A "
    "tensor has a method that reverses an axis.",
    lambda x, left, right: bidirectional_rnn(x[::-1], left, right),
)
task.mistake(
    "Both networks used the weights of `left`. The second one has its own, in `right`.",
    lambda x, left, right: bidirectional_rnn(x, left, left),
)


@task.cases
def cases(seed):
    """One word; two words with states of one number; then sizes that are all different."""
    g = torch.Generator().manual_seed(seed)

    def numbers(*shape):
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    def reader(d_in, d_hidden):
        return numbers(d_hidden, d_in), numbers(d_hidden, d_hidden), numbers(d_hidden)

    def hand(number):
        return tuple(torch.tensor(n, dtype=torch.float64) for n in ([[1]], [[number]], [0]))

    two = torch.tensor([[0.5], [0.0]], dtype=torch.float64)
    return [
        Case(
            (two, hand(1.0), hand(2.0)),
            "two words, 0.5 and 0, states of one number",
            kind="ordinary cases",
        ),
        Case((numbers(1, 2), reader(2, 3), reader(2, 1)), "one word", kind="edge cases"),
        Case(
            (numbers(4, 2), reader(2, 3), reader(2, 3)),
            "states of equal size",
            kind="ordinary cases",
        ),
        Case(
            (numbers(7, 5), reader(5, 2), reader(5, 4)),
            "states of different sizes",
            kind="other shapes",
        ),
    ]


@task.diagnostic
def halves(args, result):
    """States are values of tanh; which of the two networks is wrong, and whether it is early."""
    if abs(result).max() > 1 + 1e-9:
        return "A state lies between −1 and 1, because tanh is applied last."
    x, left, right = args
    wanted, width = bidirectional_rnn(x, left, right).numpy(), len(left[2])
    if result.shape != wanted.shape or not np.allclose(result[:, :width], wanted[:, :width]):
        return None
    early = np.vstack([wanted[1:, width:], np.zeros((1, len(right[2])))])
    # One word has no other before it, and a word of 0 may change no state.
    if len(x) > 1 and x[1:].all() and np.allclose(result[:, width:], early):
        return (
            "The states of `left` are right. Row t contains the state that `right` has *before* it "
            "reads word t."
        )
    return "The states of `left` are right, those of `right` are not."
