"""One head of cross-attention, with padding in the source."""

import math

import torch

from grading.author import Case, TaskFile
from grading.feedback.messages import NOT_SCALED, SCALED_BY_D_K

task = TaskFile(
    "implement",
    points=9,
    minutes=12,
    outcome="write {term}`cross-attention` with `T_q` ≠ `T_k`, and say which mask each of the "
    "three attentions needs",
    results=("the context vectors", "the weights"),
    hints=(
        "Which of the three projections gets `x`, and which get `memory`?",
        "`torch.arange(T_k) < lengths[:, None]` is True at the words of each source. Which axis "
        "is still missing for (batch, T_q, T_k)?",
    ),
)


# %% the cell
def cross_attention(x, memory, lengths, W_query, W_key, W_value):
    """Context (batch, T_q, d_v) and weights (batch, T_q, T_k)."""
    # BEGIN SOLUTION
    q = x @ W_query  # (batch, T_q, d_k)
    k, v = memory @ W_key, memory @ W_value  # (batch, T_k, d_k), (batch, T_k, d_v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])  # (batch, T_q, T_k)
    is_word = torch.arange(memory.shape[1]) < lengths[:, None]  # (batch, T_k)
    scores = scores.masked_fill(~is_word[:, None], -torch.inf)  # (batch, T_q, T_k)
    weights = scores.softmax(dim=-1)  # (batch, T_q, T_k)
    return weights @ v, weights
    # END SOLUTION


# %%


@task.alternative
def sentence_by_sentence(x, memory, lengths, W_query, W_key, W_value):
    """Filler is cut off, and each sentence is taken alone."""
    contexts, maps = [], []
    for a, b, n in zip(x, memory, lengths.tolist(), strict=True):
        k, v = b[:n] @ W_key, b[:n] @ W_value
        weights = (a @ W_query @ k.T / k.shape[-1] ** 0.5).softmax(-1)
        contexts.append(weights @ v)
        maps.append(torch.nn.functional.pad(weights, (0, len(b) - n)))
    return torch.stack(contexts), torch.stack(maps)


@task.alternative
def by_einsum(x, memory, lengths, W_query, W_key, W_value):
    """Einsum, and weights of zero by exp(−∞)."""
    scores = torch.einsum("bqd,bkd->bqk", x @ W_query, memory @ W_key)
    scores = scores / W_key.shape[-1] ** 0.5
    hidden = torch.arange(memory.shape[1])[None, None] >= lengths[:, None, None]
    weights = torch.exp(scores - scores.amax(-1, keepdim=True)) * ~hidden
    weights = weights / weights.sum(-1, keepdim=True)
    return torch.einsum("bqk,bkd->bqd", weights, memory @ W_value), weights


def _attend(q, k, v, mask, scale=None, dim=-1):
    scores = q @ k.transpose(-2, -1) / (math.sqrt(k.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=dim)
    return weights @ v, weights


def _words(memory, lengths):
    return (torch.arange(memory.shape[1]) < lengths[:, None])[:, None]


@task.mistake("Padding gets weight. Mask it: of each source only the first `lengths` are words.")
def no_mask(x, memory, lengths, W_query, W_key, W_value):
    return _attend(x @ W_query, memory @ W_key, memory @ W_value, None)


@task.mistake("The mask is inverted: padding is visible, and the words are masked.")
def turned_mask(x, memory, lengths, W_query, W_key, W_value):
    hidden = _words(memory, lengths)
    scores = (x @ W_query) @ (memory @ W_key).mT / W_key.shape[-1] ** 0.5
    weights = scores.masked_fill(hidden, -1e9).softmax(-1)
    return weights @ memory @ W_value, weights


@task.mistake(
    "Queries and keys are swapped: here the source attends to the target. Which of the two needs "
    "information?"
)
def other_way(x, memory, lengths, W_query, W_key, W_value):
    return _attend(memory @ W_query, x @ W_key, x @ W_value, None)


@task.mistake(
    "`W_query` is applied to the memory, and `W_key` to `x`. The target's words ask: queries are "
    "`x @ W_query`, and keys `memory @ W_key`."
)
def other_matrices(x, memory, lengths, W_query, W_key, W_value):
    return _attend(x @ W_key, memory @ W_query, memory @ W_value, _words(memory, lengths))


@task.mistake("The memory is not used: this is self-attention of the target.")
def self_attention(x, memory, lengths, W_query, W_key, W_value):
    return _attend(x @ W_query, x @ W_key, x @ W_value, None)


@task.mistake(
    "The weights are right. But the values come from the memory as it is, without `W_value`."
)
def values_plain(x, memory, lengths, W_query, W_key, W_value):
    _, weights = cross_attention(x, memory, lengths, W_query, W_key, W_value)
    return weights @ memory, weights


@task.mistake(
    "A causal mask is wrong here: even the first word may attend to the whole source, which is "
    "complete."
)
def causal_too(x, memory, lengths, W_query, W_key, W_value):
    T_q, T_k = x.shape[1], memory.shape[1]
    mask = _words(memory, lengths) & torch.ones(T_q, T_k).tril().bool()
    return _attend(x @ W_query, memory @ W_key, memory @ W_value, mask)


@task.mistake(
    "Padding is masked after softmax, so the rows no longer sum to 1. Mask the scores before "
    "softmax."
)
def masked_after(x, memory, lengths, W_query, W_key, W_value):
    _, weights = _attend(x @ W_query, memory @ W_key, memory @ W_value, None)
    weights = weights * _words(memory, lengths)
    return weights @ memory @ W_value, weights


@task.mistake(
    "The mask is applied along the queries: the last ones attend to everything equally, including "
    "padding. Mask keys instead."
)
def rows_even(x, memory, lengths, W_query, W_key, W_value):
    rows = (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    scores = (x @ W_query) @ (memory @ W_key).mT / W_key.shape[-1] ** 0.5
    weights = scores.masked_fill(~rows, -1e9).softmax(dim=-1)
    return weights @ memory @ W_value, weights


@task.mistake(
    "The mask is on the wrong axis: it masks the last *queries*. Padding is among the keys."
)
def rows_hidden(x, memory, lengths, W_query, W_key, W_value):
    rows = (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    _, weights = _attend(x @ W_query, memory @ W_key, memory @ W_value, None)
    weights = weights * rows
    return weights @ memory @ W_value, weights


@task.mistake(
    "Softmax runs down the columns, so the weights of each *key* sum to 1. The rows, one for each "
    "query, have to sum to 1."
)
def softmax_down(x, memory, lengths, W_query, W_key, W_value):
    scores = (x @ W_query) @ (memory @ W_key).mT / W_key.shape[-1] ** 0.5
    weights = scores.masked_fill(~_words(memory, lengths), -1e9).softmax(dim=-2)
    return weights @ memory @ W_value, weights


@task.mistake("Softmax runs over the queries. The weights of each *query* have to sum to 1.")
def softmax_over_queries(x, memory, lengths, W_query, W_key, W_value):
    mask = _words(memory, lengths)
    scores = (x @ W_query) @ (memory @ W_key).mT / W_key.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-2)
    return weights @ memory @ W_value, weights


@task.mistake("All sources are cut at the length of the shortest one. Each has its own length.")
def one_length(x, memory, lengths, W_query, W_key, W_value):
    mask = _words(memory, torch.full_like(lengths, int(lengths.min())))
    return _attend(x @ W_query, memory @ W_key, memory @ W_value, mask)


@task.mistake("One word too many is visible: the position `length` is already padding.")
def one_too_many(x, memory, lengths, W_query, W_key, W_value):
    mask = (torch.arange(memory.shape[1]) <= lengths[:, None])[:, None]
    return _attend(x @ W_query, memory @ W_key, memory @ W_value, mask)


@task.mistake(
    "Masked padding should have a weight of exactly 0, but a little remains: the number that you "
    "write over masked scores is not low enough. Use −∞."
)
def not_low_enough(x, memory, lengths, W_query, W_key, W_value):
    scores = (x @ W_query) @ (memory @ W_key).mT / W_key.shape[-1] ** 0.5
    weights = scores.masked_fill(~_words(memory, lengths), -10.0).softmax(dim=-1)
    return weights @ memory @ W_value, weights


task.mistake(
    "The scores are divided by the square root of the wrong number, the width of `x`. Use d_k, "
    "the width of queries and keys.",
    lambda x, memory, lengths, W_query, W_key, W_value: _attend(
        x @ W_query, memory @ W_key, memory @ W_value, _words(memory, lengths), x.shape[-1] ** 0.5
    ),
)
task.mistake(
    "The scores are divided by the square root of the number of keys. Use the width d_k: which "
    "axis of the keys is that?",
    lambda x, memory, lengths, W_query, W_key, W_value: _attend(
        x @ W_query,
        memory @ W_key,
        memory @ W_value,
        _words(memory, lengths),
        memory.shape[1] ** 0.5,
    ),
)


task.mistake(
    "The last word of each source is masked as well. The first `lengths` words are visible.",
    lambda x, memory, lengths, W_query, W_key, W_value: cross_attention(
        x, memory, lengths - 1, W_query, W_key, W_value
    ),
)


@task.mistake("Masked entries have the score 0, which is a score like any other. Use −∞.")
def zero_for_hidden(x, memory, lengths, W_query, W_key, W_value):
    scores = (x @ W_query) @ (memory @ W_key).mT / W_key.shape[-1] ** 0.5
    weights = scores.masked_fill(~_words(memory, lengths), 0.0).softmax(dim=-1)
    return weights @ memory @ W_value, weights


@task.mistake(
    "Words are masked and padding is visible, so a source without padding has nothing left. "
    "`masked_fill` fills where its mask is True."
)
def words_hidden(x, memory, lengths, W_query, W_key, W_value):
    return _attend(x @ W_query, memory @ W_key, memory @ W_value, ~_words(memory, lengths))


task.mistake(
    "The scores are divided by the square root of the width of the *values*. d_k is the width of "
    "queries and keys.",
    lambda x, memory, lengths, W_query, W_key, W_value: _attend(
        x @ W_query,
        memory @ W_key,
        memory @ W_value,
        _words(memory, lengths),
        W_value.shape[1] ** 0.5,
    ),
)
task.mistake(
    "The scores are multiplied by √d_k. Divide by it.",
    lambda x, memory, lengths, W_query, W_key, W_value: _attend(
        x @ W_query,
        memory @ W_key,
        memory @ W_value,
        _words(memory, lengths),
        W_key.shape[1] ** -0.5,
    ),
)


@task.mistake(NOT_SCALED)
def not_scaled(x, memory, lengths, W_query, W_key, W_value):
    return _attend(x @ W_query, memory @ W_key, memory @ W_value, _words(memory, lengths), 1.0)


@task.mistake(SCALED_BY_D_K)
def by_width(x, memory, lengths, W_query, W_key, W_value):
    k = memory @ W_key
    return _attend(x @ W_query, k, memory @ W_value, _words(memory, lengths), k.shape[-1])


@task.mistake("The two results are exchanged: first the contexts, then the weights.")
def exchanged(x, memory, lengths, W_query, W_key, W_value):
    return cross_attention(x, memory, lengths, W_query, W_key, W_value)[::-1]


@task.cases
def cases(seed):
    """Sizes that all differ; sources of different lengths."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for batch, T_q, T_k, d, d_k, d_v in (
        (2, 3, 4, 3, 4, 2),
        (3, 5, 7, 6, 4, 3),
        (2, 6, 4, 5, 9, 7),
    ):
        x = torch.randn(batch, T_q, d, generator=generator, dtype=torch.float64)
        memory = torch.randn(batch, T_k, d, generator=generator, dtype=torch.float64)
        lengths = torch.randint(2, T_k, (batch,), generator=generator)
        lengths[0] = T_k
        lengths[1] = 2
        if batch == 2 and d_v == 7:
            lengths = lengths.flip(0)
        matrices = [
            torch.randn(d, width, generator=generator, dtype=torch.float64)
            for width in (d_k, d_k, d_v)
        ]
        note = f"{T_q} target words, sources of {', '.join(map(str, lengths.tolist()))} words"
        found.append(Case((x, memory, lengths, *matrices), note, kind="ordinary cases"))
    return found


@task.diagnostic
def for_each_query(args, result):
    """Whether there is a context vector for each word of the target."""
    came, (T_q, T_k) = len(result[0][0]), (args[0].shape[1], args[1].shape[1])
    if came == T_k != T_q:
        return (
            f"There are {T_k} context vectors, one for each word of the source. But the {T_q} "
            "words of the target ask: queries come from `x`, keys and values from `memory`."
        )
    return None
