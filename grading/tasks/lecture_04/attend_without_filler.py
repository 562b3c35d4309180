"""Find the bug: a mask in the other convention."""

import numpy as np
import torch
import torch.nn.functional as F

from grading.task import Case, Mistake, Task


def attend_without_filler(q, k, v, is_filler):
    """The model answer."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~is_filler[:, None, :])


def by_adding(q, k, v, is_filler):
    """Right, in another way: −∞ added to the scores of the filler."""
    bias = torch.zeros(is_filler.shape, dtype=q.dtype).masked_fill(is_filler, -torch.inf)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias[:, None, :])


def by_sentence(q, k, v, is_filler):
    """Right, in another way: filler is cut off."""
    found = []
    for queries, keys, values, filler in zip(q, k, v, is_filler, strict=True):
        scores = queries @ keys[~filler].T / keys.shape[-1] ** 0.5
        found.append(scores.softmax(dim=-1) @ values[~filler])
    return torch.stack(found)


def as_given(q, k, v, is_filler):
    """Wrong: the mask says the opposite."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=is_filler[:, None, :])


def open_eyes(q, k, v, is_filler):
    """Wrong: no mask."""
    return F.scaled_dot_product_attention(q, k, v)


def ones_added(q, k, v, is_filler):
    """Wrong: numbers are added to the scores, 1 for words."""
    mask = (~is_filler).to(q.dtype)[:, None, :]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def silent_filler(q, k, v, is_filler):
    """Wrong: filler has values of zero, and keeps its weight."""
    return F.scaled_dot_product_attention(q, k, v.masked_fill(is_filler[..., None], 0.0))


def keys_of_zero(q, k, v, is_filler):
    """Wrong: filler has keys of zero, so scores of zero."""
    return F.scaled_dot_product_attention(q, k.masked_fill(is_filler[..., None], 0.0), v)


def first_sentence(q, k, v, is_filler):
    """Wrong: the mask of the first sentence for all."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~is_filler[0])


def along_queries(q, k, v, is_filler):
    """Wrong: the mask lies along the queries."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~is_filler[:, :, None])


def without_an_axis(q, k, v, is_filler):
    """Wrong: the mask has no axis for the queries."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~is_filler)


def cases(seed):
    """One sentence to check by hand; then other sizes. Each sentence has a word and filler."""
    rng = np.random.default_rng(seed)
    k = torch.ones(1, 3, 1, dtype=torch.float64)
    v = torch.tensor([[[2.0], [6.0], [70.0]]], dtype=torch.float64)
    found = [Case((k[:, :1], k, v, torch.tensor([[False, False, True]])), "one query, equal keys")]
    for batch, T_q, T_k, d_k, d_v in ((2, 3, 4, 5, 6), (3, 5, 7, 2, 4), (4, 1, 6, 3, 2)):
        shapes = ((batch, T_q, d_k), (batch, T_k, d_k), (batch, T_k, d_v))
        q, k, v = (torch.tensor(rng.normal(size=shape)) for shape in shapes)
        lengths = torch.tensor(rng.permutation([1, *rng.integers(2, T_k, size=batch - 1)]))
        found.append(Case((q, k, v, torch.arange(T_k) >= lengths[:, None])))
    return found


def not_moved_by_filler(args, result):
    """A weighted average of words stays among the words."""
    v, filler = args[2].numpy(), args[3].numpy()
    for b in range(len(v)):
        words = v[b][~filler[b]]
        if (result[b] < words.min(axis=0) - 1e-6).any() or (
            result[b] > words.max(axis=0) + 1e-6
        ).any():
            return f"In sentence {b} a context vector leaves the range of the values of its words."
    return None


TASK = Task(
    name="attend_without_filler",
    lecture=4,
    kind="find the bug",
    points=5,
    difficulty=1,
    minutes=3,
    outcome="convert between the three mask conventions in use, by name",
    reference=attend_without_filler,
    also_right=(by_adding, by_sentence),
    cases=cases,
    properties=(not_moved_by_filler,),
    mistakes=(
        Mistake(
            as_given,
            "This is the code as given. The context vectors are made of the values of the filler "
            "alone.",
        ),
        Mistake(open_eyes, "Without a mask the filler takes part. It has to be hidden."),
        Mistake(
            ones_added,
            "A mask of numbers is *added* to the scores, so the filler's are 1 below the "
            "others now. That makes it quieter and does not hide it. Hand over truth values, or 0 "
            "and −∞.",
        ),
        Mistake(
            silent_filler,
            "The filler hands over zeros now, but it still takes its share of the weight, and the "
            "words lack it. Hide it before softmax.",
        ),
        Mistake(
            keys_of_zero,
            "A key of zeros has the score 0, and a score of 0 is not nothing: the filler keeps a "
            "share.",
        ),
        Mistake(
            first_sentence,
            "All sentences use the mask of the first one. The axis of the batch must stay.",
        ),
        Mistake(
            along_queries,
            "The new axis stands behind the keys, so the mask lies along the queries. It belongs "
            "between batch and keys: (batch, 1, T_k).",
        ),
        Mistake(
            without_an_axis,
            "The truth values are right now. But a mask of shape (batch, T_k) is laid over "
            "(T_q, T_k): the axis for the queries must stay, (batch, 1, T_k).",
        ),
    ),
    hints=(
        "The code does what it says, with the opposite mask. What does True mean in `is_filler`, "
        "and what does it mean in `attn_mask`?",
    ),
)
