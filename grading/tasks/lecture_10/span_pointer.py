"""Find the bugs: the question as query."""

import numpy as np
import torch
import torch.nn.functional as F

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=8,
    minutes=10,
    outcome="say which text must provide the queries when an answer is pointed at, and what it "
    "gains by seeing both sides",
    hints=(
        "Attention returns a row for each query. For which text do you want rows?",
        "You can check three things on the result: its shape, which axis sums to 1, and the "
        "probability of padding.",
    ),
)


# %% the cell
def span_pointer(context, question, is_padding, W):
    """Probabilities (batch, 2, T_c) that a word is the first, or the last, of the answer."""
    #| found = F.scaled_dot_product_attention(question, context, context)
    #| logits = (question + found) @ W  # (batch, T, 2)
    #| return logits.mT.softmax(dim=1)
    # BEGIN SOLUTION
    found = F.scaled_dot_product_attention(context, question, question)  # (batch, T_c, d)
    logits = (context + found) @ W  # (batch, T_c, 2)
    logits = logits.mT.masked_fill(is_padding[:, None], -torch.inf)  # (batch, 2, T_c)
    return logits.softmax(dim=-1)
    # END SOLUTION


# %%


@task.alternative
def renormalised(context, question, is_padding, W):
    """Filler is set to zero after softmax, and the rest is made to sum to 1."""
    weights = (context @ question.mT / context.shape[-1] ** 0.5).softmax(dim=-1)
    p = ((context + weights @ question) @ W).softmax(dim=1) * ~is_padding[..., None]
    return (p / p.sum(dim=1, keepdim=True)).mT


@task.alternative
def row_by_row(context, question, is_padding, W):
    """One context at a time, without its padding."""
    out = torch.zeros(len(context), 2, context.shape[1], dtype=context.dtype)
    for b, (c, q, padding) in enumerate(zip(context, question, is_padding, strict=True)):
        words = c[~padding]
        found = F.scaled_dot_product_attention(words[None], q[None], q[None])[0]
        out[b][:, ~padding] = ((words + found) @ W).softmax(dim=0).T
    return out


task.as_given(
    "This does the same as the given code. Which text do these positions belong to? Look at the "
    "shape."
)
task.edit(
    "The context provides the queries now. But padding still gets some probability, and may be "
    "chosen.",
    "logits.mT.masked_fill(is_padding[:, None], -torch.inf)",
    "logits.mT",
)
task.edit(
    "The two numbers of each *word* sum to 1 here. But the positions compete: each of the two "
    "rows must sum to 1.",
    "softmax(dim=-1)",
    "softmax(dim=1)",
)
task.edit(
    "Softmax runs over the two numbers of a *word*. But the words compete: each of the two rows "
    "must sum to 1.",
    "-torch.inf",
    "-1e9",
    "softmax(dim=-1)",
    "softmax(dim=1)",
)
task.edit(
    "The context provides the queries now, but the rest is as given: padding takes part, and the "
    "two numbers of a word sum to 1 instead of a row.",
    "logits.mT.masked_fill(is_padding[:, None], -torch.inf)",
    "logits.mT",
    "softmax(dim=-1)",
    "softmax(dim=1)",
)
task.edit(
    "Padding gets the logit 0 here, and 0 is an ordinary logit. Set it to −∞.",
    "-torch.inf",
    "0.0",
)
task.edit(
    "Only padding can be chosen here: the mask is inverted.",
    "(is_padding[:, None]",
    "(~is_padding[:, None]",
)
task.edit(
    "The padding was set to zero after softmax, so the rest no longer sums to 1. Mask it before "
    "softmax.",
    "logits.mT.masked_fill(is_padding[:, None], -torch.inf)",
    "logits.mT",
    "logits.softmax(dim=-1)",
    "logits.softmax(dim=-1) * ~is_padding[:, None]",
)
task.edit(
    "The word's own vector is lost: the pointers get only what it found in the question.",
    "(context + found) @ W",
    "found @ W",
)
task.edit(
    "The context attends to itself here, and the question is not used.",
    "(context, question, question)",
    "(context, context, context)",
)


def _logits(context, question, W):
    return ((context + F.scaled_dot_product_attention(context, question, question)) @ W).mT


task.mistake(
    "Padding is masked. But softmax lets the two numbers of one word compete, while the positions "
    "should compete: along which axis?",
    lambda context, question, is_padding, W: (
        _logits(context, question, W)
        .masked_fill(is_padding[:, None], -torch.inf)
        .softmax(dim=1)
        .nan_to_num()
    ),
)
task.mistake(
    "The words are masked and the padding is not: `is_padding` is True at padding.",
    lambda context, question, is_padding, W: (
        _logits(context, question, W).masked_fill(~is_padding[:, None], -1e9).softmax(dim=-1)
    ),
)
task.mistake(
    "Both rows together sum to 1 here. Each of the two must sum to 1.",
    lambda context, question, is_padding, W: (
        _logits(context, question, W)
        .masked_fill(is_padding[:, None], -torch.inf)
        .flatten(1)
        .softmax(dim=1)
        .unflatten(1, (2, -1))
    ),
)
task.mistake(
    "Each position got a sigmoid of its own. The positions compete for one answer: softmax.",
    lambda context, question, is_padding, W: (
        _logits(context, question, W).sigmoid().masked_fill(is_padding[:, None], 0)
    ),
)
task.mistake(
    "Everything is right except the order of the axes: the two rows must come before the "
    "positions.",
    lambda context, question, is_padding, W: span_pointer(context, question, is_padding, W).mT,
)
task.mistake(
    "The scores of attention are not scaled, or not by √d.",
    lambda context, question, is_padding, W: (
        ((context + (context @ question.mT).softmax(dim=-1) @ question) @ W)
        .mT.masked_fill(is_padding[:, None], -torch.inf)
        .softmax(dim=-1)
    ),
)


task.edit(
    "`reshape` and `view` do not exchange axes: they mix the two numbers of a word with those of "
    "other words. Transpose the last two axes.",
    "logits.mT.masked_fill",
    "logits.reshape(len(logits), 2, -1).masked_fill",
)
task.edit(
    "What the context found in the question is not used: add it to the context's own vectors.",
    "(context + found) @ W",
    "context @ W",
)


@task.cases
def cases(seed):
    """A context of three words and one of padding; then other sizes, T_q = T_c among them."""
    rng = np.random.default_rng(seed)
    context = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [3.0, 3.0]]], dtype=torch.float64)
    question = torch.tensor([[[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]]], dtype=torch.float64)
    W = torch.tensor([[1.0, -1.0], [0.5, 2.0]], dtype=torch.float64)
    found = [
        Case(
            (context, question, torch.arange(4)[None] >= 3, W),
            "three words, one pad token",
            kind="ordinary cases",
        )
    ]
    for batch, T_c, T_q, d in ((2, 6, 3, 4), (3, 5, 5, 3), (2, 4, 7, 5)):
        c, q = (torch.tensor(rng.normal(size=(batch, T, d))) for T in (T_c, T_q))
        lengths = torch.tensor([T_c, *rng.integers(1, T_c, size=batch - 1)])
        padding = torch.arange(T_c) >= lengths[:, None]
        note = f"T_c = {T_c}, T_q = {T_q}"
        found.append(
            Case(
                (c, q, padding, torch.tensor(rng.normal(size=(d, 2)))), note, kind="ordinary cases"
            )
        )
    return found


@task.diagnostic
def rows_sum_to_one(args, result):
    """Two rows for each context, over its places."""
    batch, T_c = args[2].shape
    if result.shape != (batch, 2, T_c):
        return f"The shape is {result.shape}; expected (batch, 2, T_c) = {(batch, 2, T_c)}."
    if (result[:, 0][args[2].numpy()] > 1e-9).any():
        return "A position of padding has a probability above 0."
    sums = result.sum(axis=-1)
    if not np.allclose(sums, 1):
        return f"A row sums to {sums.flat[np.abs(sums - 1).argmax()]:.3f}, not to 1."
    return None
