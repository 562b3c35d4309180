"""A mask for many continuations at once: each token sees its ancestors."""

import numpy as np
import torch

from grading.task import Case, Mistake, Task


def tree_mask(parents):
    """The model answer."""
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        if parent >= 0:
            mask[i] |= mask[parent]
    return mask


def by_walking(parents):
    """Right, in another way: from each token up to its root."""
    mask = np.zeros((len(parents), len(parents)), dtype=bool)
    for i in range(len(parents)):
        j = i
        while j >= 0:
            mask[i, j] = True
            j = parents[j]
    return mask


def by_powers(parents):
    """Right, in another way: one step up, as often as there are tokens."""
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


def parent_only(parents):
    """Wrong: the token and its parent."""
    return torch.eye(len(parents), dtype=torch.bool) | _step(parents)


def two_steps(parents):
    """Wrong: up to the grandparent."""
    step = _step(parents).int()
    return torch.eye(len(parents), dtype=torch.bool) | (step + step @ step > 0)


def without_self(parents):
    """Wrong: the ancestors only."""
    return tree_mask(parents) & ~torch.eye(len(parents), dtype=torch.bool)


def descendants(parents):
    """Wrong: turned on its side."""
    return tree_mask(parents).T


def causal(parents):
    """Wrong: everything that stands earlier."""
    return torch.ones(len(parents), len(parents), dtype=torch.bool).tril()


def same_root(parents):
    """Wrong: everything earlier that hangs on the same root."""
    mask = tree_mask(parents)
    roots = mask.int().argmax(dim=1)
    return (roots[:, None] == roots) & causal(parents)


def _depths(parents):
    return tree_mask(parents).sum(dim=1)


def all_of_less_depth(parents):
    """Wrong: everything that is nearer to a root, and itself."""
    depths = _depths(parents)
    return (depths < depths[:, None]) | torch.eye(len(parents), dtype=torch.bool)


def with_siblings(parents):
    """Wrong: the other children of the same parent, too."""
    same = torch.tensor([[a == b >= 0 for b in parents] for a in parents])
    return tree_mask(parents) | (same & causal(parents))


def last_is_the_parent(parents):
    """Wrong: −1 is taken for a place, counted from the end."""
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        mask[i] |= mask[parent]
    return mask


def place_0_forgotten(parents):
    """Wrong: 0 is taken for no parent."""
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        if parent > 0:
            mask[i] |= mask[parent]
    return mask


def up_to_the_parent(parents):
    """Wrong: everything up to the parent's place."""
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        mask[i, : parent + 1] = True
    return mask


def blocking(parents):
    """Wrong: True where a token is hidden."""
    return ~tree_mask(parents)


def cases(seed):
    """A fork to check by hand; a chain, a forest, and random trees."""
    rng = np.random.default_rng(seed)
    found = [([-1, 0, 0], "one token and two continuations"), ([-1, 0, 1, 2], "a chain")]
    found.append(([-1, 0, 1, 1, 0, 4, 3], "a tree"))
    found.append(([-1, 0, -1, 2, 2, 1, 5], "two trees"))
    for n in (8, 11):
        tree = [-1, 0, 0, 1, 2, *(int(rng.integers(-1, i)) for i in range(5, n))]
        found.append((tree, f"{n} tokens"))
    return [Case((parents,), f"{note}: {parents}") for parents, note in found]


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
    return f"Token {i} {does} token {j}; the text that ends with it has the places {path[::-1]}."


TASK = Task(
    name="tree_mask",
    lecture=4,
    kind="implement",
    points=11,
    difficulty=2,
    minutes=7,
    outcome="mask padding, combine masks, and handle rows in which everything is masked",
    reference=tree_mask,
    also_right=(by_walking, by_powers),
    cases=cases,
    properties=(who_sees_whom,),
    mistakes=(
        Mistake(
            parent_only,
            "Each token sees itself and its parent, and no farther. It needs its whole past: the "
            "parent's parent, too, and so on to the beginning of its text.",
        ),
        Mistake(
            two_steps,
            "Each token sees itself, its parent and its grandparent. Its text goes on beyond: "
            "follow the parents until there is none.",
        ),
        Mistake(without_self, "Each token must see itself, too, as under every causal mask."),
        Mistake(
            descendants,
            "The mask is turned on its side: each token sees what grows out of it. Rows ask, "
            "columns are looked at.",
        ),
        Mistake(
            causal,
            "This is the causal mask: each token sees everything that stands earlier in the list, "
            "also other continuations, which in its own text were never written.",
        ),
        Mistake(
            same_root,
            "Trees are kept apart, but within a tree each token sees everything earlier, also "
            "other continuations. Only its own parents, and theirs, are its past.",
        ),
        Mistake(
            all_of_less_depth,
            "Each token sees all that have fewer ancestors than itself. Some of these belong to "
            "other continuations.",
        ),
        Mistake(
            with_siblings,
            "Tokens see their siblings. These are other choices for the same place, so neither is "
            "in the other's past.",
        ),
        Mistake(
            last_is_the_parent,
            "−1 says that there is no parent. As an index it means the last place, so tokens "
            "without a parent see the last one.",
        ),
        Mistake(
            place_0_forgotten,
            "Whose parent stands at place 0 does not see it. Only −1 says that there is none.",
        ),
        Mistake(
            up_to_the_parent,
            "Each token sees everything that stands before its parent. Some of that belongs to "
            "other continuations: follow the parents instead.",
        ),
        Mistake(
            blocking,
            "True and False have changed places. In this course True means “may attend”.",
        ),
    ),
    hints=(
        "Take the tokens one by one. What does token i see, if you know already what its parent "
        "sees?",
        "In which order must the rows be made, so that the parent's is finished when you need it?",
    ),
)
