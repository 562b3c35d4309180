"""Attention on places becomes probabilities of words."""

import torch

from grading.author import Case, TaskFile, functions_of

task = TaskFile(
    "implement",
    points=8,
    minutes=15,
    outcome="add {term}`copying` to an encoder-decoder in a few lines, so that it can write words "
    "that its vocabulary does not hold",
    forbidden=functions_of("helpers.apps.summarization"),
    hints=(
        "`scatter_add(-1, at, weights)` needs `at` in the shape of `weights`: for each weight, "
        "the entry to which it is added.",
        "The words are the same at every step of the summary: `source[:, None]` has an axis for "
        "the steps, of size 1, and can be expanded.",
    ),
)


# %% the cell
def copy_distribution(weights, source, n_words):
    """Copy distribution (batch, T_q, n_words); weights (batch, T_q, T_k), source (batch, T_k)."""
    # BEGIN SOLUTION
    at = source[:, None, :].expand_as(weights)  # (batch, T_q, T_k)
    empty = weights.new_zeros(*weights.shape[:2], n_words)  # (batch, T_q, n_words)
    return empty.scatter_add(-1, at, weights)
    # END SOLUTION


# %%


@task.alternative
def by_product(weights, source, n_words):
    """A product with a matrix of zeros and ones."""
    places = torch.nn.functional.one_hot(source, n_words).to(weights.dtype)
    return weights @ places


@task.alternative
def by_loop(weights, source, n_words):
    """Place by place."""
    found = torch.zeros(weights.shape[0], weights.shape[1], n_words, dtype=weights.dtype)
    for row in range(len(source)):
        for place, word in enumerate(source[row].tolist()):
            found[row, :, word] += weights[row, :, place]
    return found


task.edit(
    "A word that occurs several times has the weight of only one of its positions. Add up the "
    "weights of all its positions.",
    "empty.scatter_add(-1, at, weights)",
    "empty.scatter(-1, at, weights)",
)


@task.mistake(
    "A word that occurs several times has the *mean* of its weights, so a row no longer sums to "
    "1. Add the weights up."
)
def averaged(weights, source, n_words):
    places = torch.nn.functional.one_hot(source, n_words).to(weights.dtype)
    return weights @ places / places.sum(dim=1, keepdim=True).clamp(min=1)


@task.mistake(
    "A word that occurs several times has the *largest* of its weights, so a row no longer sums "
    "to 1. Add the weights up."
)
def largest(weights, source, n_words):
    at = source[:, None, :].expand_as(weights)
    empty = weights.new_zeros(*weights.shape[:2], n_words)
    return empty.scatter_reduce(-1, at, weights, "amax")


@task.mistake("The first text's words were used for all texts of the batch.")
def first_row(weights, source, n_words):
    places = torch.nn.functional.one_hot(source[0], n_words).to(weights.dtype)
    return weights @ places


@task.mistake("Every step of the summary has the sum of all steps. Keep the steps separate.")
def all_steps(weights, source, n_words):
    found = by_product(weights, source, n_words)
    return found.sum(dim=1, keepdim=True).expand_as(found)


@task.mistake(
    "Only the first step of the summary was filled: `scatter_add` goes only as far as its index, "
    "and yours has an axis of size 1. Expand it."
)
def first_step_only(weights, source, n_words):
    empty = weights.new_zeros(*weights.shape[:2], n_words)
    return empty.scatter_add(-1, source[:, None], weights)


@task.mistake(
    "Softmax was applied again. The weights are already probabilities, and zeros have to stay "
    "zeros."
)
def softmax_again(weights, source, n_words):
    return by_product(weights, source, n_words).softmax(dim=-1)


@task.mistake(
    "Steps of a summary get the words of other texts: `repeat` goes through all texts before it "
    "begins again. Give `source` an axis for the steps, and expand it."
)
def words_of_other_texts(weights, source, n_words):
    empty = weights.new_zeros(*weights.shape[:2], n_words)
    return empty.scatter_add(-1, source.repeat(weights.shape[1], 1).view(weights.shape), weights)


@task.mistake("The last two axes are swapped.")
def turned(weights, source, n_words):
    return by_product(weights, source, n_words).transpose(1, 2)


@task.mistake(
    "The weights on id 0 were removed, and the rest divided by its sum. Every id of the text keeps "
    "its weights, 0 as well."
)
def without_padding(weights, source, n_words):
    copied = copy_distribution(weights, source, n_words)
    copied[..., 0] = 0
    return copied / copied.sum(dim=-1, keepdim=True)


@task.mistake(
    "The weights on id 0 were removed, so a row no longer sums to 1. Every id of the text keeps "
    "its weights, 0 as well."
)
def zero_removed(weights, source, n_words):
    copied = copy_distribution(weights, source, n_words)
    copied[..., 0] = 0
    return copied


@task.cases
def cases(seed):
    """One text with a word twice; then sizes that all differ, and words behind the list."""
    generator = torch.Generator().manual_seed(seed)
    weights = torch.tensor([[[0.6, 0.1, 0.1, 0.2], [0.3, 0.3, 0.3, 0.1]]], dtype=torch.float64)
    found = [
        Case(
            (weights, torch.tensor([[3, 1, 2, 3]]), 5), "word 3 occurs twice", kind="ordinary cases"
        )
    ]
    for batch, T_q, T_k, n_words in ((3, 4, 7, 5), (2, 5, 3, 9), (4, 2, 9, 6)):
        scores = torch.randn(batch, T_q, T_k, generator=generator, dtype=torch.float64)
        source = torch.randint(n_words, (batch, T_k), generator=generator)
        source[0, 0] = 0  # an id like the others
        found.append(
            Case((scores.softmax(dim=-1), source, n_words), f"{batch} texts", kind="ordinary cases")
        )
    return found


@task.diagnostic
def rows_sum_to_one(args, result):
    """Whatever the attention is, some word is copied."""
    weights, source, n_words = args
    if result.shape != (*weights.shape[:2], n_words):
        return None
    for word in source.unique().tolist():
        if not result[..., word].any():
            return f"Word {word} occurs, but no row has any probability for it."
    sums = result.sum(axis=-1)
    at = abs(sums - 1).argmax()
    return (
        None if abs(sums.flat[at] - 1) < 1e-6 else f"A row sums to {sums.flat[at]:.3f}, not to 1."
    )
