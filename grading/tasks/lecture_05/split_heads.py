"""Cut one projection into heads."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=5,
    minutes=5,
    section="One projection, cut into heads",
    outcome="build multi-head attention as a list of heads and as one projection that is "
    "cut, with the shape of every step",
    hints=(
        "It takes two steps: one splits every row into pieces, the other exchanges two axes.",
        "`view` needs the width of a head. How is it found from `x` and `n_heads`?",
    ),
)


# %% the cell
def split_heads(x, n_heads):
    """Split x (batch, T, n_heads * d) into heads (batch, n_heads, T, d)."""
    # BEGIN SOLUTION
    batch, T, width = x.shape
    cut = x.view(batch, T, n_heads, width // n_heads)  # (batch, T, n_heads, d)
    return cut.transpose(1, 2)  # (batch, n_heads, T, d)
    # END SOLUTION


# %%


@task.alternative
def by_chunks(x, n_heads):
    """Pieces of the last axis, stacked."""
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@task.alternative
def by_hand(x, n_heads):
    """Head by head."""
    d = x.shape[-1] // n_heads
    return np.stack([x[:, :, h * d : (h + 1) * d].numpy() for h in range(n_heads)], axis=1)


task.mistake(
    "The shape is right, but the content is not. `view` and `reshape` read the numbers in order, "
    "so the first head gets the first numbers of a sentence, and not a piece of each word. Cut "
    "each row first, (batch, T, n_heads, d), and then exchange two axes.",
    lambda x, n_heads: x.reshape(x.shape[0], n_heads, x.shape[1], -1),
)
task.mistake(
    "Each row is cut correctly. Now the axis of the heads must come before the axis of the words: "
    "`transpose(1, 2)`.",
    lambda x, n_heads: x.unflatten(-1, (n_heads, -1)),
)
task.mistake(
    "Each head gets every n-th number of a row. It should get a piece: the first d numbers belong "
    "to head 0, the next d to head 1. In the `view`, the heads come before their width.",
    lambda x, n_heads: x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2),
)
task.mistake(
    "The content is right, but the heads come before the batch. Batch comes first.",
    lambda x, n_heads: torch.stack(x.chunk(n_heads, dim=-1)),
)
task.mistake(
    "Each row is cut correctly, but `transpose(1, 3)` exchanges the words with the numbers of a "
    "head. Exchange the axes of words and heads: `transpose(1, 2)`.",
    lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(1, 3),
)
task.mistake(
    "`transpose(1, 3)` puts the heads first, but the words last. In the `view`, the heads come "
    "before their width, (batch, T, n_heads, d). Then `transpose(1, 2)` is enough.",
    lambda x, n_heads: x.unflatten(-1, (-1, n_heads)).transpose(1, 3),
)
task.mistake(
    "Each head got the whole row. The row has the numbers of all heads side by side, and each "
    "head needs its own piece.",
    lambda x, n_heads: x[:, None].expand(-1, n_heads, -1, -1),
)
task.mistake(
    "Each row is cut correctly, but then the last two axes were exchanged. Exchange the axes of "
    "words and heads: `transpose(1, 2)`.",
    lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(2, 3),
)
task.mistake(
    "The number of heads and their width are swapped: `n_heads` says how many there are.",
    lambda x, n_heads: split_heads(x, x.shape[-1] // n_heads),
)


task.edit(
    "The width of a head must be a whole number, but `/` gives a float. Use `//`.",
    "width // n_heads",
    "width / n_heads",
)
task.edit(
    "`/` gives a float, but the width of a head must be a whole number: use `//`.",
    "view(batch, T, n_heads, width // n_heads)",
    "reshape(batch, T, n_heads, width / n_heads)",
)


@task.mistake(
    "With one sentence this is right. With more, the numbers of different sentences get mixed: "
    "the pieces were stacked head by head, first those of all sentences for head 0, and `view` "
    "and `reshape` do not reorder them. Along which axis do you stack them?"
)
def heads_outside(x, n_heads):
    batch, T, _ = x.shape
    return torch.cat(x.chunk(n_heads, dim=-1)).view(batch, n_heads, T, -1)


@task.cases
def cases(seed):
    """The lecture's table; then sizes that are all different."""
    rng = np.random.default_rng(seed)
    table = torch.tensor([[[0.0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]])
    found = [Case((table, 2), "the numbers of the lecture", kind="ordinary cases")]
    for batch, T, n_heads, d in ((2, 4, 3, 5), (3, 2, 4, 1), (2, 5, 1, 3), (3, 5, 2, 6)):
        x = torch.tensor(rng.normal(size=(batch, T, n_heads * d)))
        found.append(Case((x, n_heads), f"{n_heads} heads of width {d}", kind="ordinary cases"))
    return found
