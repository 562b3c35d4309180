"""What a stack of averages does to the words, as one matrix."""

import numpy as np
import torch

from grading.task import Case, Mistake, Task


def mixed_by_stack(weights, residual):
    """The model answer."""
    mixed = np.eye(weights.shape[-1])
    for layer in weights:
        mixed = layer @ mixed + residual * mixed
    return mixed


def by_product(weights, residual):
    """Right, in another way: in torch, a product of matrices from the last to the first."""
    layers = torch.from_numpy(weights) + residual * torch.eye(weights.shape[-1])
    return torch.linalg.multi_dot([*layers.flip(0), torch.eye(weights.shape[-1]).double()])


def one_word_at_a_time(weights, residual):
    """Right, in another way: each word alone is sent through the stack."""
    columns = []
    for x in np.eye(weights.shape[-1]):
        for layer in weights:
            x = layer @ x + (x if residual else 0)
        columns.append(x)
    return np.stack(columns, axis=1)


def first_layer_last(weights, residual):
    """Wrong: the order of the layers."""
    return mixed_by_stack(weights[::-1], residual)


def transposed(weights, residual):
    """Wrong: rows and columns exchanged."""
    return mixed_by_stack(weights, residual).T


def entry_by_entry(weights, residual):
    """Wrong: multiplied number by number."""
    return (weights + residual * np.eye(weights.shape[-1])).prod(axis=0)


def never_kept(weights, residual):
    """Wrong: no residual connection."""
    return mixed_by_stack(weights, False)


def always_kept(weights, residual):
    """Wrong: always a residual connection."""
    return mixed_by_stack(weights, True)


def kept_once(weights, residual):
    """Wrong: one residual connection around the whole stack."""
    return mixed_by_stack(weights, False) + residual * np.eye(weights.shape[-1])


def half_kept(weights, residual):
    """Wrong: the mean of the two."""
    return mixed_by_stack(weights, residual) / (2.0 if residual else 1.0) ** len(weights)


def all_read_the_input(weights, residual):
    """Wrong: every layer reads the words as they came in."""
    return weights.sum(axis=0) + np.eye(weights.shape[-1]) if residual else weights[-1]


def added_up(weights, residual):
    """Wrong: the layers are added up."""
    return weights.sum(axis=0) + residual * np.eye(weights.shape[-1])


def last_only(weights, residual):
    """Wrong: the last layer."""
    return weights[-1] + residual * np.eye(weights.shape[-1])


def ones_everywhere(weights, residual):
    """Wrong: 1 is added to each number."""
    mixed = np.eye(weights.shape[-1])
    for layer in weights:
        mixed = (layer + residual) @ mixed
    return mixed


def cases(seed):
    """One layer of two words; then more of both, with residual connections and without."""
    rng = np.random.default_rng(seed)
    example = np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]])
    found = [Case((example, False), "the example"), Case((example, True), "the example")]
    for n_layers, T in ((1, 3), (3, 4), (5, 2)):
        scores = 2 * rng.normal(size=(n_layers, T, T))
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        for residual in (False, True):
            note = f"{n_layers} layers, {T} words, residual = {residual}"
            found.append(Case((weights, residual), note))
    return found


def sums_of_rows(args, result):
    """What each row must sum to."""
    weights, residual = args
    sums, wanted = result.sum(axis=-1), 2.0 ** len(weights) if residual else 1.0
    if sums.ndim == 1 and not np.allclose(sums, wanted):
        worst = sums[np.abs(sums - wanted).argmax()]
        return (
            f"A row of the matrix sums to {worst:.3g}. If all words were the same word x, "
            f"{wanted:.3g} times x would come out."
        )
    return None


TASK = Task(
    name="mixed_by_stack",
    lecture=7,
    kind="implement",
    points=8,
    difficulty=1,
    minutes=10,
    outcome="show by measurement two things that a stack of attention layers cannot do",
    reference=mixed_by_stack,
    also_right=(by_product, one_word_at_a_time),
    cases=cases,
    properties=(sums_of_rows,),
    mistakes=(
        Mistake(
            first_layer_last,
            "The layers act in the wrong order. In a product of matrices, the one that stands "
            "next to X acts first.",
        ),
        Mistake(
            transposed,
            "Rows and columns are exchanged: row i of the matrix says of what the new word i is "
            "made.",
        ),
        Mistake(
            entry_by_entry,
            "The matrices were multiplied number by number. Which product applies one layer after "
            "the other?",
        ),
        Mistake(
            never_kept,
            "`residual` makes no difference here: what was there before a layer is lost.",
        ),
        Mistake(always_kept, "`residual` makes no difference here: it may also be False."),
        Mistake(
            kept_once,
            "There is one residual connection here, around the whole stack. Each layer has one of "
            "its own.",
        ),
        Mistake(
            half_kept,
            "The sum was divided by 2 in each layer. A residual connection adds, and leaves it at "
            "that.",
        ),
        Mistake(
            all_read_the_input,
            "Every layer reads the words as they came into the stack. It reads what the layer "
            "before it left.",
        ),
        Mistake(
            added_up,
            "The matrices of the layers were added up. Each layer works on what the one before "
            "it left.",
        ),
        Mistake(last_only, "This is what the last layer does. The others act before it."),
        Mistake(
            ones_everywhere,
            "1 was added to every number of the matrix. Which matrix gives each word back "
            "unchanged, and nothing of the others?",
        ),
    ),
    hints=(
        "Write down what comes out of two layers, first without residual connections: a matrix "
        "times a matrix times X.",
        "X + A X is a matrix times X, too. Which one?",
    ),
)
