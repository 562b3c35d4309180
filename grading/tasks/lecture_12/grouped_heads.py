"""Several heads of queries that share keys and values."""

import math

import torch

from grading.author import Case, TaskFile
from grading.feedback.messages import NOT_SCALED, SCALED_BY_D_K
from helpers.masks import causal_mask

task = TaskFile(
    "implement",
    points=10,
    minutes=15,
    section="What today's models changed",
    two_at_once=True,
    outcome="write the parts that Llama exchanges in a block, count their parameters, and load "
    "such a model",
    forbidden=("torch.nn.functional.scaled_dot_product_attention",),
    hints=(
        "Give each query head its own copy of keys and values. The rest is as before.",
        "`repeat_interleave` and `repeat` order copies differently. Print both of [0, 1].",
    ),
)


# %% the cell
def grouped_heads(q, k, v):
    """Contexts (n_heads, T_q, d); q (n_heads, T_q, d), k and v (n_kv_heads, T_k, d)."""
    # BEGIN SOLUTION
    group = len(q) // len(k)
    keys = k.repeat_interleave(group, dim=0)  # (n_heads, T_k, d)
    values = v.repeat_interleave(group, dim=0)  # (n_heads, T_k, d)
    scores = q @ keys.mT / math.sqrt(q.shape[-1])  # (n_heads, T_q, T_k)
    hidden = ~causal_mask(q.shape[1], k.shape[1])  # (T_q, T_k)
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ values
    # END SOLUTION


# %%


@task.alternative
def one_by_one(q, k, v):
    """Head by head."""
    contexts = []
    for head, queries in enumerate(q):
        own = head // (len(q) // len(k))
        scores = queries @ k[own].T / math.sqrt(q.shape[-1])
        late = torch.ones_like(scores).triu(k.shape[1] - q.shape[1] + 1).bool()
        contexts.append(scores.masked_fill(late, -torch.inf).softmax(dim=-1) @ v[own])
    return torch.stack(contexts)


@task.alternative
def in_groups(q, k, v):
    """An axis more, and nothing repeated."""
    q = q.unflatten(0, (len(k), -1))  # (n_kv_heads, group, T_q, d)
    scores = q @ k[:, None].mT / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~causal_mask(q.shape[2], k.shape[1]), -torch.inf)
    return (scores.softmax(dim=-1) @ v[:, None]).flatten(0, 1)


KEYS, VALUES = "k.repeat_interleave(group, dim=0)", "v.repeat_interleave(group, dim=0)"
task.edit(
    "The shared heads are assigned in turn. Neighbours share: with four query heads and two "
    "key-value heads, heads 0 and 1 use head 0, heads 2 and 3 use head 1.",
    KEYS,
    "k.repeat(group, 1, 1)",
    VALUES,
    "v.repeat(group, 1, 1)",
)
task.edit(
    "The keys are assigned in turn, but the values to neighbours. A head uses keys and values of "
    "the same shared head.",
    KEYS,
    "k.repeat(group, 1, 1)",
)
task.edit(
    "The values are assigned in turn, but the keys to neighbours. A head uses keys and values of "
    "the same shared head.",
    VALUES,
    "v.repeat(group, 1, 1)",
)
task.edit(
    "All heads use the first key-value head.",
    KEYS,
    "k[:1].expand(len(q), -1, -1)",
    VALUES,
    "v[:1].expand(len(q), -1, -1)",
)
task.edit(
    "The offset of the mask has the wrong sign. The queries are the *last* words, T_k − T_q "
    "positions after the first key.",
    "~causal_mask(q.shape[1], k.shape[1])",
    "~torch.ones(q.shape[1], k.shape[1]).tril(q.shape[1] - k.shape[1]).bool()",
    "-torch.inf",
    "-1e9",
)
task.edit(
    "The triangle of the mask begins at the first key. The queries are the *last* words, so the "
    "last row sees everything.",
    "~causal_mask(q.shape[1], k.shape[1])",
    "~torch.ones(q.shape[1], k.shape[1]).tril().bool()",
)
task.edit(
    "Later words are visible. Where is the causal mask?",
    "scores.masked_fill(hidden, -torch.inf)",
    "scores",
)
task.edit(NOT_SCALED, " / math.sqrt(q.shape[-1])", "")
task.edit(SCALED_BY_D_K, "math.sqrt(q.shape[-1])", "q.shape[-1]")
task.edit(
    "The scores are divided by the square root of the number of heads. Use the width of a head.",
    "math.sqrt(q.shape[-1])",
    "math.sqrt(len(q))",
)


task.edit(
    "The mask lets each query see one word too many: the one after it.",
    "~causal_mask(q.shape[1], k.shape[1])",
    "~torch.ones(q.shape[1], k.shape[1]).tril(k.shape[1] - q.shape[1] + 1).bool()",
)
task.edit(
    "The mask hides each query's own word. It may attend to itself and to everything before.",
    "~causal_mask(q.shape[1], k.shape[1])",
    "~torch.ones(q.shape[1], k.shape[1]).tril(k.shape[1] - q.shape[1] - 1).bool()",
)
task.edit(
    "The scores are divided by the square root of the width of all heads together. Use the width "
    "d of one head.",
    "math.sqrt(q.shape[-1])",
    "math.sqrt(len(q) * q.shape[-1])",
)


task.edit(
    "The scores are divided by the square root of the width of a *group* of query heads. Heads "
    "share keys, but each query has width d: divide by √d.",
    "math.sqrt(q.shape[-1])",
    "math.sqrt(group * q.shape[-1])",
)
task.edit(
    "The mask is inverted: each query sees only its own word and those after it.",
    "~causal_mask(q.shape[1], k.shape[1])",
    "~torch.ones(q.shape[1], k.shape[1]).triu(k.shape[1] - q.shape[1]).bool()",
)
task.edit(
    "Later words are masked after softmax, so the rows no longer sum to 1. Mask the scores before "
    "softmax.",
    "scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)",
    "(scores.softmax(dim=-1) * ~hidden)",
)


@task.mistake("Softmax runs over the queries. The weights of each *query* have to sum to 1.")
def softmax_down(q, k, v):
    group = len(q) // len(k)
    keys, values = (t.repeat_interleave(group, dim=0) for t in (k, v))
    scores = q @ keys.mT / math.sqrt(q.shape[-1])
    hidden = ~causal_mask(q.shape[1], k.shape[1])
    return scores.masked_fill(hidden, -1e30).softmax(dim=-2) @ values


@task.mistake(
    "The index of the shared head is the head's index divided by the size of a group, not by the "
    "number of *shared heads*. How many heads share one?"
)
def by_number_of_shared(q, k, v):
    own = torch.tensor([min(head // len(k), len(k) - 1) for head in range(len(q))])
    return grouped_heads(q, k[own], v[own])


@task.mistake("You return one context for each shared head: the heads of a group were averaged.")
def averaged(q, k, v):
    return grouped_heads(q, k, v).unflatten(0, (len(k), -1)).mean(dim=1)


@task.mistake(
    "The query heads of a group were put one after the other as rows, but the rows of the mask "
    "were repeated one by one. Repeat the mask as a whole (`repeat`), in the order of the rows."
)
def mask_row_by_row(q, k, v):
    n_heads, T_q, d = q.shape
    group = n_heads // len(k)
    rows = q.reshape(len(k), group * T_q, d)
    hidden = ~causal_mask(T_q, k.shape[1]).repeat_interleave(group, dim=0)
    scores = (rows @ k.mT / math.sqrt(d)).masked_fill(hidden, -torch.inf)
    return (scores.softmax(dim=-1) @ v).reshape(n_heads, T_q, d)


@task.cases
def cases(seed):
    """Four heads, two of keys; then other groups, and fewer queries than keys."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    found = []
    for n_heads, n_kv, T_q, T_k, d in (
        (4, 2, 3, 3, 2),
        (6, 2, 2, 5, 3),
        (6, 3, 4, 4, 5),
        (3, 1, 1, 4, 2),
        (2, 2, 3, 5, 4),
    ):
        note = f"{n_heads} query heads, {n_kv} key-value heads, {T_q} queries for {T_k} keys"
        found.append(
            Case(
                (draw(n_heads, T_q, d), draw(n_kv, T_k, d), draw(n_kv, T_k, d)),
                note,
                kind="ordinary cases",
            )
        )
    return found
