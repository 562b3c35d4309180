"""A bidirectional reader: two loops, joined word by word."""

import torch

from grading.task import Case, Mistake, Task


def _read(x, W_x, W_h, b):
    h = torch.zeros(len(b), dtype=x.dtype)
    states = []
    for x_t in x:
        h = torch.tanh(W_x @ x_t + W_h @ h + b)
        states.append(h)
    return torch.stack(states)


def read_both_ways(x, left, right):
    """The model answer."""
    from_left = _read(x, *left)  # (T, d_left)
    from_right = _read(x.flip(0), *right).flip(0)  # (T, d_right)
    return torch.cat([from_left, from_right], dim=-1)


def by_index(x, left, right):
    """Right, in another way: the second loop runs through the places from the end."""
    T = len(x)
    states = [[None, None] for _ in range(T)]
    for side, places in ((0, range(T)), (1, range(T - 1, -1, -1))):
        W_x, W_h, b = (left, right)[side]
        h = torch.zeros_like(b)
        for t in places:
            h = torch.tanh(x[t] @ W_x.T + h @ W_h.T + b)
            states[t][side] = h
    return torch.stack([torch.cat(pair) for pair in states])


def by_torch(x, left, right):
    """Right, in another way: two of torch's networks with these weights."""

    def states(x, W_x, W_h, b):
        network = torch.nn.RNN(W_x.shape[1], len(b)).to(x.dtype)
        with torch.no_grad():
            for mine, theirs in zip(network.parameters(), (W_x, W_h, b, 0 * b), strict=True):
                mine.copy_(theirs)
        return network(x)[0].detach()

    return torch.cat([states(x, *left), states(x.flip(0), *right).flip(0)], dim=1)


def not_turned_back(x, left, right):
    """Wrong: the states from the right stand in the order in which they were read."""
    return torch.cat([_read(x, *left), _read(x.flip(0), *right)], dim=-1)


def both_from_the_left(x, left, right):
    """Wrong: the second reader also starts at the first word."""
    return torch.cat([_read(x, *left), _read(x, *right)], dim=-1)


def only_turned_back(x, left, right):
    """Wrong: the sentence is read from the left, and then the states are turned."""
    return torch.cat([_read(x, *left), _read(x, *right).flip(0)], dim=-1)


def turned_numbers(x, left, right):
    """Wrong: the numbers of each word are turned around, not the words."""
    return torch.cat([_read(x, *left), _read(x.flip(-1), *right).flip(0)], dim=-1)


def right_first(x, left, right):
    """Wrong: the halves have changed places."""
    return torch.cat([_read(x.flip(0), *right).flip(0), _read(x, *left)], dim=-1)


def below_each_other(x, left, right):
    """Wrong: joined along the words."""
    return torch.cat([_read(x, *left), _read(x.flip(0), *right).flip(0)], dim=0)


def stacked(x, left, right):
    """Wrong: stacked, which makes an axis of its own for the two readers."""
    return torch.stack([_read(x, *left), _read(x.flip(0), *right).flip(0)], dim=-1)


def ends_only(x, left, right):
    """Wrong: the two last states, for the whole sentence."""
    return torch.cat([_read(x, *left)[-1], _read(x.flip(0), *right)[-1]])


def no_memory(x, left, right):
    """Wrong: the state is zero again at every word."""
    return torch.cat([torch.tanh(x @ W_x.T + b) for W_x, _, b in (left, right)], dim=-1)


def no_tanh(x, left, right):
    """Wrong: the step without tanh."""

    def read(x, W_x, W_h, b):
        h = torch.zeros_like(b)
        states = []
        for x_t in x:
            h = W_x @ x_t + W_h @ h + b
            states.append(h)
        return torch.stack(states)

    return torch.cat([read(x, *left), read(x.flip(0), *right).flip(0)], dim=-1)


def goes_on(x, left, right):
    """Wrong: the state before each word is kept, not the one after it."""

    def before(x, W_x, W_h, b):
        return torch.cat([torch.zeros(1, len(b), dtype=x.dtype), _read(x, W_x, W_h, b)[:-1]])

    return torch.cat([before(x, *left), before(x.flip(0), *right).flip(0)], dim=-1)


def by_columns(x, left, right):
    """Wrong: W_h is used by its columns."""
    turned = [(W_x, W_h.T, b) for W_x, W_h, b in (left, right)]
    return read_both_ways(x, *turned)


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
        Case((two, hand(1.0), hand(2.0)), "two words, 0.5 and 0, states of one number"),
        Case((numbers(1, 2), reader(2, 3), reader(2, 1)), "one word"),
        Case((numbers(4, 2), reader(2, 3), reader(2, 3)), "states of equal size"),
        Case((numbers(7, 5), reader(5, 2), reader(5, 4)), "states of different sizes"),
    ]


def between(args, result):
    """States are values of tanh."""
    if abs(result).max() > 1 + 1e-9:
        return "A state lies between −1 and 1, since tanh is the last thing that happens to it."
    return None


TASK = Task(
    name="read_both_ways",
    lecture=1,
    kind="implement",
    points=9,
    difficulty=2,
    minutes=12,
    outcome="compute one step of a {term}`recurrent network` by hand, and give the shape of "
    "every weight",
    reference=read_both_ways,
    also_right=(by_index, by_torch),
    cases=cases,
    properties=(between,),
    mistakes=(
        Mistake(
            not_turned_back,
            "The states from the right were joined in the order in which they were read: row 0 "
            "holds the left state of the first word and the right state of the last one. Turn them "
            "back before you join.",
        ),
        Mistake(
            both_from_the_left,
            "Both readers start at the first word. The second one reads from the end: turn the "
            "words around for it, and its states back.",
        ),
        Mistake(
            only_turned_back,
            "The states of the second reader were turned around, but it had read from the left. "
            "The words must be turned around for it first.",
        ),
        Mistake(
            turned_numbers,
            "The numbers of each word were turned around, not the order of the words. Words are "
            "axis 0 of x.",
        ),
        Mistake(
            right_first,
            "The halves have changed places: the left reader's state comes first.",
        ),
        Mistake(
            below_each_other,
            "The states were joined along the words, one table below the other. Join them word by "
            "word, along the last axis: torch.cat with dim=-1.",
        ),
        Mistake(
            stacked,
            "torch.stack makes a new axis for the two readers. The two states of a word become one "
            "longer vector: torch.cat with dim=-1.",
        ),
        Mistake(
            ends_only,
            "These are the last states of both readers, one vector for the whole sentence. A row "
            "is wanted for each word: what each reader had in its state after that word.",
        ),
        Mistake(
            no_memory,
            "Each word was read with a state of zeros. Carry h from one word to the next: W_h @ h "
            "is what is missing, or h is set to zero inside of the loop.",
        ),
        Mistake(
            no_tanh,
            "The sums are right, but tanh is missing.",
        ),
        Mistake(
            goes_on,
            "These are the states before each word. Take down h after the word was read.",
        ),
        Mistake(
            by_columns,
            "The old state was multiplied with W_h the wrong way round: W_h @ h, or h @ W_h.T, "
            "but not h @ W_h.",
        ),
    ),
    hints=(
        "Write the reader for one direction first, as the lecture's `read`: a loop over the rows "
        "of x that keeps every state.",
        "For the other direction use the same function with the words turned around, "
        "`x.flip(0)`. In which order do its states come out?",
    ),
)
