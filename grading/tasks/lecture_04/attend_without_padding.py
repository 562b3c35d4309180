"""Find the bug: a mask in the other convention."""

import numpy as np
import torch
import torch.nn.functional as F

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=5,
    minutes=5,
    section="Padding",
    outcome="convert between mask conventions by name, and build a head with its own mask and "
    "dropout",
    hints=(
        "The mask means the opposite of what the code needs. What does True mean in `is_padding`, "
        "and what does it mean in `attn_mask`?",
    ),
)


# %% the cell
def attend_without_padding(q, k, v, is_padding):
    """Context vectors (batch, T_q, d_v) of queries that do not attend to padding."""
    #| mask = is_padding[:, None, :]  # (batch, 1, T_k)
    # BEGIN SOLUTION
    mask = ~is_padding[:, None, :]  # (batch, 1, T_k), True = may attend
    # END SOLUTION
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # (batch, T_q, d_v)


# %%


@task.alternative
def by_adding(q, k, v, is_padding):
    """−∞ added to the scores of the padding."""
    bias = torch.zeros(is_padding.shape, dtype=q.dtype).masked_fill(is_padding, -torch.inf)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias[:, None, :])


@task.alternative
def by_sentence(q, k, v, is_padding):
    """Filler is cut off."""
    found = []
    for queries, keys, values, padding in zip(q, k, v, is_padding, strict=True):
        scores = queries @ keys[~padding].T / keys.shape[-1] ** 0.5
        found.append(scores.softmax(dim=-1) @ values[~padding])
    return torch.stack(found)


task.as_given(
    "This does the same as the given code. The context vectors are averages of the values of the "
    "padding only."
)
task.mistake(
    "Without a mask the padding is attended to. Mask it.",
    lambda q, k, v, is_padding: F.scaled_dot_product_attention(q, k, v),
)
task.mistake(
    "Padding still takes part in the softmax. A key of zeros has the score 0, and not −∞.",
    lambda q, k, v, is_padding: F.scaled_dot_product_attention(
        q, k * ~is_padding[..., None], v * ~is_padding[..., None]
    ),
)
task.edit(
    "A mask of numbers is *added* to the scores. Compared with those of the words, the scores of "
    "the padding are now 1 lower. That lowers the weight of the padding but does not remove it. "
    "Pass booleans, or 0 and −∞.",
    "~is_padding",
    "(~is_padding).to(q.dtype)",
)


@task.mistake(
    "The padding contributes nothing now, because its values or its finished weights are 0. But in "
    "softmax it still took some of the weight, which the words lack. Mask it before softmax."
)
def silent_padding(q, k, v, is_padding):
    return F.scaled_dot_product_attention(q, k, v.masked_fill(is_padding[..., None], 0.0))


@task.mistake("A key of zeros has the score 0, and e⁰ is 1: the padding keeps some weight.")
def keys_of_zero(q, k, v, is_padding):
    return F.scaled_dot_product_attention(q, k.masked_fill(is_padding[..., None], 0.0), v)


task.mistake(
    "A mask of numbers was multiplied by −∞, and 0 · (−∞) is NaN. Begin with zeros, and put −∞ "
    "where the padding is: torch.zeros(…).masked_fill(is_padding, -torch.inf).",
    lambda q, k, v, is_padding: F.scaled_dot_product_attention(
        q, k, v, attn_mask=(is_padding.to(q.dtype) * -torch.inf)[:, None, :]
    ),
)
task.mistake(
    "All sentences use the mask of the first one. Keep the batch axis.",
    lambda q, k, v, is_padding: F.scaled_dot_product_attention(q, k, v, attn_mask=~is_padding[0]),
)


@task.mistake(
    "The new axis comes after the keys, so the mask is applied along the queries. It belongs "
    "between batch and keys: (batch, 1, T_k)."
)
def along_queries(q, k, v, is_padding):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~is_padding[:, :, None])


@task.mistake(
    "The mask hides rows of the scores, which are queries, not the keys that are padding. You took "
    "as many entries of `is_padding` as there are queries, but it has one for each key: its axis "
    "comes last."
)
def rows_hidden(q, k, v, is_padding):
    keep = ~is_padding[:, : q.shape[1], None]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=keep)


task.mistake(
    "The booleans are now right. But a mask of shape (batch, T_k) is broadcast over (T_q, T_k): "
    "the axis for the queries must stay, (batch, 1, T_k).",
    lambda q, k, v, is_padding: F.scaled_dot_product_attention(q, k, v, attn_mask=~is_padding),
)


@task.mistake(
    "The padding is masked right. But there is a causal mask as well, and here every query may "
    "attend to all words."
)
def causal_as_well(q, k, v, is_padding):
    triangle = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool).tril()
    mask = ~is_padding[:, None, :] & triangle
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


@task.cases
def cases(seed):
    """One sentence to check by hand; then other sizes, with padding on either side or between."""
    rng = np.random.default_rng(seed)
    k = torch.ones(1, 3, 1, dtype=torch.float64)
    v = torch.tensor([[[2.0], [6.0], [70.0]]], dtype=torch.float64)
    padding = torch.tensor([[False, False, True]])
    found = [Case((k[:, :1], k, v, padding), "one query, equal keys", kind="ordinary cases")]
    for batch, T_q, T_k, d_k, d_v in ((2, 3, 4, 5, 6), (3, 5, 7, 2, 4), (4, 1, 6, 3, 2)):
        shapes = ((batch, T_q, d_k), (batch, T_k, d_k), (batch, T_k, d_v))
        q, k, v = (torch.tensor(rng.normal(size=shape)) for shape in shapes)
        lengths = torch.tensor(rng.permutation([1, *rng.integers(2, T_k, size=batch - 1)]))
        right = torch.arange(T_k) >= lengths[:, None]
        sides = {"right": right, "left": right.flip(1), "left and right": right.roll(1, dims=1)}
        side = list(sides)[len(found) - 1]
        note = f"padding on the {side}"
        found.append(Case((q, k, v, sides[side]), note, kind="ordinary cases"))
    loud = k.new_tensor([[[1.0], [2.0], [500.0]]])
    values = v.new_tensor([[[2.0], [6.0], [70.0]]])
    found.append(
        Case(
            (loud[:, :1], loud, values, padding),
            "the padding has the largest score",
            kind="edge cases",
        )
    )
    return found


@task.diagnostic
def not_moved_by_padding(args, result):
    """A weighted average of words stays among the words."""
    v, padding = args[2].numpy(), args[3].numpy()
    for b in range(len(v)):
        words = v[b][~padding[b]]
        if (result[b] < words.min(axis=0) - 1e-6).any() or (
            result[b] > words.max(axis=0) + 1e-6
        ).any():
            return (
                f"In sentence {b} a context vector lies outside the range of the values of its "
                "words, which a weighted average of these never does."
            )
    return None
