"""Ablate one head."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=6,
    minutes=7,
    section="Ablating a head",
    two_at_once=True,
    outcome="say what a trained head does, by its map and by ablation, and what n heads cost",
    hints=(
        "The input of `W_out` is the concatenation of the heads' context vectors, head 0 first. "
        "Which columns of `W_out` does the vector of head 0 meet, and which does that of head 1?",
        "`W_out` has n_heads · d_v columns. How do you get d_v, the width of one head, from that?",
        "`changed = W_out.clone()` makes a copy. `changed[:, start:end] = 0` sets its columns to "
        "zero from `start` up to, but not including, `end`.",
    ),
)


# %% the cell
def ablate_head(W_out, head, n_heads):
    """A copy of W_out (d_out, n_heads * d_v) in which one head has no effect."""
    # BEGIN SOLUTION
    d_v = W_out.shape[1] // n_heads
    changed = W_out.clone()  # (d_out, n_heads * d_v)
    changed[:, head * d_v : (head + 1) * d_v] = 0
    return changed
    # END SOLUTION


# %%


@task.alternative
def by_pieces(W_out, head, n_heads):
    """A factor for each head."""
    factors = torch.ones(n_heads)
    factors[head] = 0
    return W_out * factors.repeat_interleave(W_out.shape[1] // n_heads)


@task.alternative
def by_numpy(W_out, head, n_heads):
    """In NumPy."""
    pieces = np.split(W_out.numpy(), n_heads, axis=1)
    return np.concatenate([p * (i != head) for i, p in enumerate(pieces)], axis=1)


task.edit(
    "The width of a head must be a whole number, but `/` gives a float. Use `//`.",
    "// n_heads",
    "/ n_heads",
)


@task.mistake(
    "Rows were set to zero. But the rows of `nn.Linear.weight` are its outputs. The context "
    "vectors of the heads are its inputs, so a head owns columns."
)
def rows(W_out, head, n_heads):
    d, changed = -(-W_out.shape[0] // n_heads), W_out.clone()
    changed[head * d : (head + 1) * d] = 0
    return changed


task.edit(
    "Rows were set to zero. The rows of `W_out` are its outputs, to which every head adds. The "
    "context vector of a head is multiplied by *columns*: `changed[:, start:end]`.",
    "changed[:, head",
    "changed[head",
)
task.edit(
    "Rows were set to zero, d_out / n_heads of them. The rows of `W_out` are its outputs, to which "
    "every head adds. A single head owns d_v *columns*.",
    "W_out.shape[1]",
    "W_out.shape[0]",
    "changed[:, head",
    "changed[head",
)
task.edit(
    "One row was set to zero, because `changed[i]` is row i. A head owns d_v *columns*: "
    "`changed[:, start:end]`.",
    "    d_v = W_out.shape[1] // n_heads\n",
    "",
    ":, head * d_v : (head + 1) * d_v",
    "head",
)
task.edit(
    "`W_out` itself was modified in place, so the head of the model would stay ablated. Modify a "
    "copy instead: `W_out.clone()`.",
    "W_out.clone()",
    "W_out",
)


task.edit(
    "Every n_heads-th column was set to zero. The context vectors of the heads are concatenated "
    "one after the other, so a head owns d_v *consecutive* columns.",
    "    d_v = W_out.shape[1] // n_heads\n",
    "",
    " * d_v : (head + 1) * d_v",
    "::n_heads",
)
task.edit(
    "Only one column was set to zero, the one with the number of the head. A head owns d_v "
    "columns, so head 1 begins at column d_v, not at column 1.",
    "    d_v = W_out.shape[1] // n_heads\n",
    "",
    " * d_v : (head + 1) * d_v",
    "",
)
task.mistake(
    "All other heads were ablated, and this one was kept. Set the columns of this head to zero, "
    "and keep those of the others.",
    lambda W_out, head, n_heads: W_out - ablate_head(W_out, head, n_heads),
)
task.mistake(
    "The head before this one was ablated. Heads are numbered from 0, so head 0 owns the first d_v "
    "columns.",
    lambda W_out, head, n_heads: ablate_head(W_out, head - 1 if head else n_heads - 1, n_heads),
)


@task.mistake(
    "The columns were removed, so the context vectors no longer fit. Set these columns to zero "
    "instead, and keep the shape."
)
def cut_out(W_out, head, n_heads):
    pieces = W_out.chunk(n_heads, dim=1)
    return torch.cat([p for i, p in enumerate(pieces) if i != head], dim=1)


task.mistake(
    "The other heads were scaled up to compensate. Then you would measure two changes at once, the "
    "ablation and the scaling. Leave the columns of the other heads unchanged.",
    lambda W_out, head, n_heads: ablate_head(W_out, head, n_heads) * n_heads / (n_heads - 1),
)
task.edit(
    "The columns before those of this head were set to zero, and for head 0 none at all. Heads are "
    "numbered from 0, so head 0 owns the first d_v columns.",
    "changed[:, head * d_v : (head + 1) * d_v]",
    "changed[:, (head - 1) * d_v : head * d_v]",
)

task.edit(
    "The width of a head was computed from the number of rows. The rows of `W_out` are its "
    "outputs. The heads share the columns, n_heads · d_v of them.",
    "W_out.shape[1]",
    "W_out.shape[0]",
)
task.edit(
    "The last column of the head was not set to zero. The end of a slice, or of `arange`, is "
    "excluded, so it needs no −1.",
    "(head + 1) * d_v",
    "(head + 1) * d_v - 1",
)
task.edit(
    "One column too many was set to zero: the first column of the next head. The end of a slice is "
    "excluded, so it is the number of the column where the next head begins.",
    "(head + 1) * d_v",
    "(head + 1) * d_v + 1",
)
task.edit(
    "Only the first column of the head was set to zero. A head owns d_v consecutive columns: use a "
    "slice, `start:end`.",
    "head * d_v : (head + 1) * d_v",
    "head * d_v",
)
task.edit(
    "The number of heads was used as their width: n_heads columns were set to zero, from head · "
    "n_heads on. How do you get the width of one head from the number of columns?",
    "head * d_v : (head + 1) * d_v",
    "head * n_heads : (head + 1) * n_heads",
)


@task.cases
def cases(seed):
    """One row to check by hand; then other sizes and each place of a head."""
    rng = np.random.default_rng(seed)
    found = [
        Case((torch.tensor([[1.0, 2.0, 3.0, 4.0]]), 0, 2), "head 0 of two", kind="ordinary cases")
    ]
    for d_out, n_heads, d_v, head in ((5, 3, 4, 1), (9, 4, 2, 3), (3, 2, 5, 1), (6, 3, 3, 0)):
        matrix = torch.tensor(rng.normal(size=(d_out, n_heads * d_v)))
        found.append(
            Case((matrix, head, n_heads), f"head {head} of {n_heads}", kind="ordinary cases")
        )
    return found


@task.diagnostic
def which_columns(args, result):
    """The first column that is wrong, and whose it is."""
    W_out, head, n_heads = args[0].numpy(), *args[1:]
    if result.shape != W_out.shape:
        return None
    for column in range(W_out.shape[1]):
        owner = column // (W_out.shape[1] // n_heads)
        if owner == head and result[:, column].any():
            return f"Column {column} belongs to head {head}, the head to ablate, but it is not 0."
        if owner != head and not np.allclose(result[:, column], W_out[:, column]):
            return f"Column {column} belongs to head {owner}, which stays, but it has changed."
    return None
