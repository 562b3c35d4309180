"""A mask for many continuations at once: each token sees its ancestors."""

import math

import numpy as np
import torch

from grading.author import Case, TaskFile
from grading.feedback.messages import TRUTH_SWAPPED

task = TaskFile(
    "implement",
    points=11,
    minutes=11,
    section="Other masks in use",
    outcome="mask padding on either side, combine masks, and say what a fully masked row gives",
    hints=(
        "Take the tokens one by one. What does token i see, if you already know what its parent "
        "sees?",
        "In which order must the rows be computed, so that the parent's row is finished when you "
        "need it?",
    ),
)


# %% the cell
def tree_mask(parents):
    """Mask (T, T): each token sees itself, its parent, its parent's parent, and so on."""
    # BEGIN SOLUTION
    mask = torch.eye(len(parents), dtype=torch.bool)  # (T, T)
    for i, parent in enumerate(parents):
        if parent >= 0:
            mask[i] |= mask[parent]
    return mask
    # END SOLUTION


# %%


@task.alternative
def by_walking(parents):
    """From each token up to its root."""
    mask = np.zeros((len(parents), len(parents)), dtype=bool)
    for i in range(len(parents)):
        j = i
        while j >= 0:
            mask[i, j] = True
            j = parents[j]
    return mask


@task.alternative
def by_powers(parents):
    """One step up, as often as there are tokens."""
    n = len(parents)
    step = np.eye(n, dtype=int)
    for i, parent in enumerate(parents):
        if parent >= 0:
            step[i, parent] = 1
    return torch.tensor(np.linalg.matrix_power(step, n) > 0)


def _step(parents):
    n = len(parents)
    step = torch.zeros(n, n, dtype=torch.bool)
    for i, parent in enumerate(parents):
        if parent >= 0:
            step[i, parent] = True
    return step


task.mistake(
    "Each token sees only itself and its parent. It needs its whole past: the parent's parent, "
    "too, and so on to the beginning of its text.",
    lambda parents: torch.eye(len(parents), dtype=torch.bool) | _step(parents),
)


@task.mistake(
    "Each token sees itself, its parent and its grandparent. Its text goes on beyond: follow the "
    "parents until there is none."
)
def two_steps(parents):
    step = _step(parents).int()
    return torch.eye(len(parents), dtype=torch.bool) | (step + step @ step > 0)


@task.mistake(
    "A long chain is not followed to its root: squaring doubles the number of steps, so T tokens "
    "need log₂ T squarings, rounded *up*."
)
def squared_too_seldom(parents):
    mask = (torch.eye(len(parents), dtype=torch.bool) | _step(parents)).float()
    for _ in range(int(math.log2(len(parents)))):
        mask = (mask @ mask > 0).float()
    return mask.bool()


task.mistake(
    "Each token must see itself, too, as under every causal mask.",
    lambda parents: tree_mask(parents) & ~torch.eye(len(parents), dtype=torch.bool),
)
task.mistake(
    "The mask is transposed: each token sees its continuations. Each row is a query, each column "
    "a key.",
    lambda parents: tree_mask(parents).T,
)


@task.mistake(
    "This is the causal mask: each token sees everything earlier in the list, including other "
    "continuations, which do not belong to its text."
)
def causal(parents):
    return torch.ones(len(parents), len(parents), dtype=torch.bool).tril()


@task.mistake(
    "Trees are kept apart, but within a tree each token sees everything earlier, including other "
    "continuations. Only its parent, the parent's parent and so on are its past."
)
def same_root(parents):
    mask = tree_mask(parents)
    roots = mask.int().argmax(dim=1)
    return (roots[:, None] == roots) & causal(parents)


def _depths(parents):
    return tree_mask(parents).sum(dim=1)


@task.mistake(
    "Each token sees all tokens with fewer ancestors than itself. Some of these belong to other "
    "continuations."
)
def all_of_less_depth(parents):
    depths = _depths(parents)
    return (depths < depths[:, None]) | torch.eye(len(parents), dtype=torch.bool)


@task.mistake(
    "Tokens see their siblings. These are alternatives for the same position, so neither is in "
    "the other's past."
)
def with_siblings(parents):
    same = torch.tensor([[a == b >= 0 for b in parents] for a in parents])
    return tree_mask(parents) | (same & causal(parents))


@task.mistake(
    "−1 means that there is no parent. As an index it means the last position, so tokens without "
    "a parent see the last one."
)
def last_is_the_parent(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        mask[i] |= mask[parent]
    return mask


@task.mistake(
    "Each token sees only itself and its parent, but the parent's parent belongs to its text, "
    "too. Also, −1 means that there is no parent, but as an index it means the last position."
)
def parent_at_the_index(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        mask[i, parent] = True
    return mask


@task.mistake(
    "A token whose parent is at position 0 does not see its parent. Only −1 means that there is "
    "no parent."
)
def place_0_forgotten(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        if parent > 0:
            mask[i] |= mask[parent]
    return mask


@task.mistake(
    "Every token sees token 0, but it may belong to another tree. −1 is not 0: it means that there "
    "is no parent, and there the text begins."
)
def all_from_token_0(parents):
    mask = tree_mask(parents)
    mask[:, 0] = True
    return mask


@task.mistake(
    "Each token sees everything that comes before its parent. Some of that belongs to other "
    "continuations: follow the parents instead."
)
def up_to_the_parent(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        mask[i, : parent + 1] = True
    return mask


task.mistake(
    TRUTH_SWAPPED,
    lambda parents: ~tree_mask(parents),
)


task.edit(
    "A token sees what its parent sees, but not itself: its own position was overwritten.",
    "mask[i] |= mask[parent]",
    "mask[i] = mask[parent]",
)


@task.mistake(
    "Within a tree each token sees all of it, including what comes later. If a token shares its "
    "parent's row instead of a copy, everything written for the token is also written for the "
    "parent."
)
def rows_shared(parents):
    rows = []
    for i, parent in enumerate(parents):
        row = rows[parent] if parent >= 0 else np.zeros(len(parents), dtype=bool)
        row[i] = True
        rows.append(row)
    return np.array(rows)


@task.mistake(
    "Parents see their children, which come later. A row of a tensor is a view: what you write "
    "into it for the child is also written for the parent. Take a copy first, or write into the "
    "row of the child."
)
def into_the_parents_row(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        if parent >= 0:
            row = mask[parent]
            row[i] = True
            mask[i] = row
    return mask


@task.mistake(
    "The loop over the parents ends one step too early: nobody sees the tokens without a parent, "
    "not even these tokens themselves. They belong to the text, too."
)
def root_left_out(parents):
    roots = torch.tensor([parent < 0 for parent in parents])
    return tree_mask(parents) & ~roots


@task.cases
def cases(seed):
    """A fork to check by hand; a chain, a forest, and random trees."""
    rng = np.random.default_rng(seed)
    found = [([-1, 0, 0], "one token and two continuations"), ([-1, 0, 1, 2], "a chain")]
    found.append(([-1, 0, 1, 1, 0, 4, 3], "a tree"))
    found.append(([-1, 0, -1, 2, 2, 1, 5], "two trees"))
    found.append(([-1, 0, 1, 2, 3, 4, 5], "a longer chain"))
    for n in (8, 11):
        tree = [-1, 0, 0, 1, 2, *(int(rng.integers(-1, i)) for i in range(5, n))]
        found.append((tree, f"{n} tokens"))
    return [
        Case((parents,), f"{note}: {parents}", kind="ordinary cases") for parents, note in found
    ]


@task.diagnostic
def who_sees_whom(args, result):
    """The first pair that is wrong, with the path that decides it."""
    [parents] = args
    if result.dtype != bool or result.shape != (len(parents), len(parents)):
        return None
    i, j = np.argwhere(result != tree_mask(parents).numpy())[0]
    path, at = [], int(i)
    while at >= 0:
        path.append(at)
        at = parents[at]
    does = "sees" if result[i, j] else "does not see"
    return f"Token {i} {does} token {j}; the text that ends with it has the positions {path[::-1]}."
