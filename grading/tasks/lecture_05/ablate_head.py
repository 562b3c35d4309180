"""Switch one head off."""

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
        "`W_out` receives the context vectors of all heads side by side, head 0 first. Which of "
        "its columns are multiplied by the numbers of head 0, and which by those of head 1?",
        "How wide is a head, if `W_out` has n_heads · d_v columns?",
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


@task.mistake(
    "Rows were set to zero. The rows of `nn.Linear.weight` are its outputs; the heads are its "
    "inputs, so they own columns."
)
def rows(W_out, head, n_heads):
    d, changed = -(-W_out.shape[0] // n_heads), W_out.clone()
    changed[head * d : (head + 1) * d] = 0
    return changed


task.edit(
    "Rows were set to 0. The context vector of a head is multiplied by *columns* of W_out; the "
    "rows are the outputs.",
    "changed[:, head",
    "changed[head",
)
task.edit(
    "Rows were set to 0, d_out / n_heads of them. The rows are the outputs, to which every head "
    "adds; what belongs to a single head are d_v *columns*.",
    "W_out.shape[1]",
    "W_out.shape[0]",
    "changed[:, head",
    "changed[head",
)
task.edit(
    "One row was set to 0: `changed[i]` is row i. A head owns columns, `changed[:, …]`, and d_v of "
    "them.",
    "    d_v = W_out.shape[1] // n_heads\n",
    "",
    ":, head * d_v : (head + 1) * d_v",
    "head",
)
task.edit(
    "The matrix itself was changed, and the model with it: the head would stay ablated. Change a "
    "copy, `W_out.clone()`.",
    "W_out.clone()",
    "W_out",
)


task.edit(
    "Every n-th column was set to zero. The heads are side by side, so a head has d_v consecutive "
    "columns.",
    "    d_v = W_out.shape[1] // n_heads\n",
    "",
    " * d_v : (head + 1) * d_v",
    "::n_heads",
)
task.edit(
    "Only one column was set to zero. A head has d_v of them.",
    "    d_v = W_out.shape[1] // n_heads\n",
    "",
    " * d_v : (head + 1) * d_v",
    "",
)
task.mistake(
    "This keeps one head and ablates all others. Ablate this one head and keep the others.",
    lambda W_out, head, n_heads: W_out - ablate_head(W_out, head, n_heads),
)
task.mistake(
    "Another head was ablated. Heads are counted from 0 here.",
    lambda W_out, head, n_heads: ablate_head(W_out, head - 1 if head else n_heads - 1, n_heads),
)


@task.mistake(
    "The columns were removed, so the context vectors no longer fit. Set them to zero instead; "
    "the shape stays the same."
)
def cut_out(W_out, head, n_heads):
    pieces = W_out.chunk(n_heads, dim=1)
    return torch.cat([p for i, p in enumerate(pieces) if i != head], dim=1)


task.mistake(
    "The other heads were scaled up to compensate. Then you would measure that change, too. Leave "
    "them as they are.",
    lambda W_out, head, n_heads: ablate_head(W_out, head, n_heads) * n_heads / (n_heads - 1),
)
task.edit(
    "Heads are counted from 0: head 0 owns the first columns.",
    "changed[:, head * d_v : (head + 1) * d_v]",
    "changed[:, (head - 1) * d_v : head * d_v]",
)

task.edit(
    "The width of a head was computed from the number of rows. The rows are the outputs; the "
    "heads are the columns, n_heads · d_v of them.",
    "W_out.shape[1]",
    "W_out.shape[0]",
)
task.edit(
    "The last column of the head was left out. The end of a slice, or of `arange`, is excluded, "
    "so it needs no −1.",
    "(head + 1) * d_v",
    "(head + 1) * d_v - 1",
)
task.edit(
    "One column too many was set to zero: the first one of the next head. The end of a slice is "
    "excluded, so it is the position where the next head begins.",
    "(head + 1) * d_v",
    "(head + 1) * d_v + 1",
)
task.edit(
    "Only the first column of the head was set to zero. A head has d_v of them, side by side.",
    "head * d_v : (head + 1) * d_v",
    "head * d_v",
)
task.edit(
    "The number of heads was used as their width: n_heads columns were set to zero, in steps of "
    "n_heads. How wide is a head?",
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
            return (
                f"Column {column} belongs to head {head}, which should be ablated, but it is not 0."
            )
        if owner != head and not np.allclose(result[:, column], W_out[:, column]):
            return (
                f"Column {column} belongs to head {owner}, which should stay, but it has changed."
            )
    return None
