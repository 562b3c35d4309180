"""Find the bugs: rotary pairs in another order, and keys that have heads of their own number."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=9,
    minutes=14,
    section="The Llama block",
    outcome="fit a pretrained model's arrays into modules of your own, and test that the logits "
    "are right",
    results=("the query matrix", "the key matrix"),
    hints=(
        "Take one head with d_k = 8 and rows 0 to 7. Which rows are rotated together in the "
        "file, and where must they be afterwards?",
        "With 64 query heads and 8 key heads one of the two bugs does not show. With 32 and 4 it "
        "does. Why?",
    ),
)


# %% the cell
def rotary_pair_order(W_query, W_key, n_heads, n_kv_heads):
    """Both reordered: rows i and i + d_k/2 of each head move to places 2i and 2i + 1."""

    def reorder(W, heads):
        #| pairs = W.unflatten(0, (heads, -1, 2))  # (heads, d_k/2, 2, d_model)
        # BEGIN SOLUTION
        pairs = W.unflatten(0, (heads, 2, -1))  # (heads, 2, d_k/2, d_model)
        # END SOLUTION
        return pairs.transpose(1, 2).flatten(0, 2)  # (heads · d_k, d_model)

    #| return reorder(W_query, n_heads), reorder(W_key, n_heads // n_kv_heads)
    # BEGIN SOLUTION
    return reorder(W_query, n_heads), reorder(W_key, n_kv_heads)
    # END SOLUTION


# %%


@task.alternative
def row_by_row(W_query, W_key, n_heads, n_kv_heads):
    """One row after the other."""
    found = []
    for W, heads in ((W_query, n_heads), (W_key, n_kv_heads)):
        d_k, rows = len(W) // heads, torch.empty_like(W)
        for head in range(heads):
            for i in range(d_k // 2):
                rows[head * d_k + 2 * i] = W[head * d_k + i]
                rows[head * d_k + 2 * i + 1] = W[head * d_k + d_k // 2 + i]
        found.append(rows)
    return tuple(found)


task.as_given(
    "This does the same as the given code: in the statement's example the rows should be 0, 4, 1, "
    "5, 2, 6, 3, 7, but they are not. There are two bugs. Print `pairs[0]` for the example: which "
    "rows become a pair?"
)
task.edit(
    "The pairs are now right. But the keys are still split into the wrong number of heads: how "
    "many key heads are there?",
    "reorder(W_key, n_kv_heads)",
    "reorder(W_key, n_heads // n_kv_heads)",
)
task.edit(
    "The heads are now right. But the rows are moved in the wrong direction: this converts the "
    "course's order to the file's.",
    "W.unflatten(0, (heads, 2, -1))",
    "W.unflatten(0, (heads, -1, 2))",
)
task.edit(
    "The keys were split into as many heads as the queries. With grouped queries there are fewer "
    "key heads.",
    "reorder(W_key, n_kv_heads)",
    "reorder(W_key, n_heads)",
)
task.edit(
    "The keys were left as they are. A query and its key must rotate the same pairs of features.",
    "reorder(W_key, n_kv_heads)",
    "W_key",
)
task.edit(
    "The queries were left as they are. A query and its key must rotate the same pairs of "
    "features.",
    "reorder(W_query, n_heads)",
    "W_query",
)
task.edit(
    "The rows of all heads were reordered together, as if there were a single head.",
    "W.unflatten(0, (heads, 2, -1))",
    "W.unflatten(0, (1, 2, -1))",
)
task.edit(
    "Nothing was moved: without the transposition, flattening restores the original order of the "
    "rows.",
    "pairs.transpose(1, 2).flatten(0, 2)",
    "pairs.flatten(0, 2)",
)
task.edit(
    "The right rows become a pair, but its two rows are exchanged: row i belongs in place 2i, and "
    "row i + d_k/2 in place 2i + 1.",
    "pairs.transpose(1, 2).flatten(0, 2)",
    "pairs.flip(1).transpose(1, 2).flatten(0, 2)",
)
task.edit(
    "The columns were reordered. A head's features are *rows* of W, as `nn.Linear` stores it.",
    "W.unflatten(0, (heads, 2, -1))",
    "W.T.unflatten(0, (heads, 2, -1))",
    "pairs.transpose(1, 2).flatten(0, 2)",
    "pairs.transpose(1, 2).flatten(0, 2).T",
)


@task.mistake("Both bugs are fixed, but queries and keys are exchanged in the result.")
def swapped(W_query, W_key, n_heads, n_kv_heads):
    return rotary_pair_order(W_query, W_key, n_heads, n_kv_heads)[::-1]


@task.cases
def cases(seed):
    """Heads of eight rows to check by hand; then grouped-query attention."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    hand = torch.arange(16, dtype=torch.float64)[:, None].expand(16, 12).clone()
    found = [
        Case(
            (hand, hand[:8] * 10, 2, 1),
            "two query heads, one key head, d_k 8",
            kind="ordinary cases",
        )
    ]
    for n_heads, n_kv_heads, d_k in ((6, 2, 12), (9, 3, 4), (4, 4, 8), (8, 2, 8)):
        d_model = 12 * n_heads
        note = f"{n_heads} query heads, {n_kv_heads} key heads, d_k {d_k}"
        args = draw(n_heads * d_k, d_model), draw(n_kv_heads * d_k, d_model), n_heads, n_kv_heads
        found.append(Case(args, note, kind="ordinary cases"))
    return found
