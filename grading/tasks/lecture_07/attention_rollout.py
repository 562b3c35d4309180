"""What a stack of averages does to the words, as one matrix."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=16,
    extra=True,
    section="Six plain blocks learn almost nothing",
    outcome="measure what a stack of bare attention layers does to its tokens",
    hints=(
        "Write down the output of two layers, first without residual connections: a matrix times "
        "a matrix times X.",
        "X + A X is a matrix times X, too. Which one?",
    ),
)


# %% the cell
def attention_rollout(weights, residual):
    """The matrix M (T, T) of a stack with the weights (n_layers, T, T)."""
    # BEGIN SOLUTION
    mixed = np.eye(weights.shape[-1])  # (T, T): no layer yet
    for layer in weights:
        added = layer @ mixed  # (T, T)
        mixed = mixed + added if residual else added
    return mixed
    # END SOLUTION


# %%


@task.alternative
def by_product(weights, residual):
    """In torch, a product of matrices from the last to the first."""
    layers = torch.from_numpy(weights) + residual * torch.eye(weights.shape[-1])
    return torch.linalg.multi_dot([*layers.flip(0), torch.eye(weights.shape[-1]).double()])


@task.alternative
def one_word_at_a_time(weights, residual):
    """Each word alone is sent through the stack."""
    columns = []
    for x in np.eye(weights.shape[-1]):
        for layer in weights:
            x = layer @ x + (x if residual else 0)
        columns.append(x)
    return np.stack(columns, axis=1)


task.mistake(
    "The layers are applied in the wrong order. In a product of matrices, the one next to X is "
    "applied first.",
    lambda weights, residual: attention_rollout(weights[::-1], residual),
)
task.mistake(
    "Rows and columns are exchanged: row i of the matrix holds the weights of the new word i.",
    lambda weights, residual: attention_rollout(weights, residual).T,
)
task.mistake(
    "The matrices were multiplied entry by entry. Which product applies one layer after the other?",
    lambda weights, residual: (weights + residual * np.eye(weights.shape[-1])).prod(axis=0),
)
task.mistake(
    "`residual` makes no difference here: the input of a layer is always lost.",
    lambda weights, residual: attention_rollout(weights, False),
)
task.mistake(
    "`residual` makes no difference here: it may also be False.",
    lambda weights, residual: attention_rollout(weights, True),
)
task.mistake(
    "There is one residual connection here, around the whole stack. Each layer has one of its own.",
    lambda weights, residual: (
        attention_rollout(weights, False) + residual * np.eye(weights.shape[-1])
    ),
)


@task.mistake("The sum was divided by 2 in each layer. A residual connection only adds.")
def half_kept(weights, residual):
    return attention_rollout(weights, residual) / (2.0 if residual else 1.0) ** len(weights)


@task.mistake(
    "Every layer reads the input of the stack. It should read the output of the layer before it."
)
def all_read_the_input(weights, residual):
    return weights.sum(axis=0) + np.eye(weights.shape[-1]) if residual else weights[-1]


task.mistake(
    "The matrices of the layers were added up. Each layer is applied to the output of the one "
    "before it.",
    lambda weights, residual: weights.sum(axis=0) + residual * np.eye(weights.shape[-1]),
)
task.mistake(
    "This is the last layer alone. The others are applied before it.",
    lambda weights, residual: weights[-1] + residual * np.eye(weights.shape[-1]),
)


@task.mistake(
    "1 was added to every entry of the matrix. Which matrix gives each word back unchanged, and "
    "nothing of the others?"
)
def ones_everywhere(weights, residual):
    mixed = np.eye(weights.shape[-1])
    for layer in weights:
        mixed = (layer + residual) @ mixed
    return mixed


@task.mistake(
    "The first layer has no residual connection here: its matrix was used as it is. Begin before "
    "the first layer."
)
def first_without_residual(weights, residual):
    mixed = weights[0]
    for layer in weights[1:]:
        mixed = layer @ mixed + residual * mixed
    return mixed.copy()


@task.mistake(
    "Each layer adds the input of the stack. Its residual connection adds the layer's own input."
)
def adds_the_input(weights, residual):
    mixed = unit = np.eye(weights.shape[-1])
    for layer in weights:
        mixed = layer @ mixed + residual * unit
    return mixed


@task.mistake(
    "The identity matrix has as many rows as there are layers. It is applied to the words: which "
    "of the three sizes is their number?"
)
def as_large_as_layers(weights, residual):
    mixed = np.eye(len(weights))
    for layer in weights:
        mixed = layer @ mixed + residual * mixed
    return mixed


@task.cases
def cases(seed):
    """One layer of two words; then more of both, with residual connections and without."""
    rng = np.random.default_rng(seed)
    example = np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]])
    found = [
        Case((example, False), "the example", kind="ordinary cases"),
        Case((example, True), "the example", kind="ordinary cases"),
    ]
    for n_layers, T in ((1, 3), (3, 4), (5, 2)):
        scores = 2 * rng.normal(size=(n_layers, T, T))
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        for residual in (False, True):
            note = f"{n_layers} layers, {T} words, residual = {residual}"
            found.append(Case((weights, residual), note, kind="ordinary cases"))
    return found


@task.diagnostic
def sums_of_rows(args, result):
    """What each row must sum to."""
    weights, residual = args
    sums, wanted = result.sum(axis=-1), 2.0 ** len(weights) if residual else 1.0
    if sums.ndim == 1 and not np.allclose(sums, wanted):
        worst = sums[np.abs(sums - wanted).argmax()]
        return (
            f"A row of the matrix sums to {worst:.3g}. If all words were the same word x, the "
            f"output would be {wanted:.3g} times x."
        )
    return None
