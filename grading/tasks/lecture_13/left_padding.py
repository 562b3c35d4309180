"""Find the bugs: texts of different length, padded at the left."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=9,
    minutes=13,
    section="Testing agreement with minimal pairs",
    outcome="test a language model for agreement with minimal pairs, with controls",
    results=("the positions", "the mask"),
    hints=(
        "Which position does the first token of the short text have if it is read alone?",
        "In `mask[i, query, key]`, must `real` choose the columns (keys) or the rows (queries), so "
        "that no query attends to a pad token?",
        "`real.cumsum(dim=1)` counts the real tokens up to each position.",
    ),
)


# %% the cell
def left_padding(tokens, pad_id):
    """Positions (batch, T) and mask (batch, T, T), True where a query may attend to a key."""
    real = tokens != pad_id  # (batch, T)
    T = tokens.shape[1]
    causal = torch.ones(T, T, dtype=torch.bool).tril()  # (query, key)
    #| positions = torch.arange(T).expand_as(tokens)  # (batch, T)
    #| return positions, causal & real[:, :, None]
    # BEGIN SOLUTION
    positions = (real.cumsum(dim=1) - 1).clamp(min=0)  # (batch, T)
    return positions, causal & real[:, None, :]
    # END SOLUTION


# %%


@task.alternative
def text_by_text(tokens, pad_id):
    """One text after the other."""
    batch, T = tokens.shape
    positions = torch.zeros_like(tokens)
    mask = torch.zeros(batch, T, T, dtype=torch.bool)
    for i, row in enumerate(tokens.tolist()):
        start = sum(token == pad_id for token in row)
        positions[i, start:] = torch.arange(T - start)
        for query in range(T):
            mask[i, query, start : query + 1] = True
    return positions, mask


task.as_given(
    "This does the same as the given code: in the statement's example the first token of the text "
    "should have position 0, but it has 2. There are two bugs. Print the positions and the mask "
    "of the example, and compare."
)
task.edit(
    "The positions of a row are not counted from its own first real token, so a text has other "
    "positions than when it is read alone.",
    "(real.cumsum(dim=1) - 1).clamp(min=0)",
    "torch.arange(T).expand_as(tokens)",
)
task.edit(
    "The positions are now right. But the mask still hides the *queries* of pad tokens. Mask the "
    "keys, so that no token attends to padding.",
    "real[:, None, :]",
    "real[:, :, None]",
)
task.edit(
    "The first token of a text got position 1. Positions are counted from 0.",
    "(real.cumsum(dim=1) - 1).clamp(min=0)",
    "real.cumsum(dim=1)",
)
task.edit(
    "A pad token has position −1, which is in no table of positions. It should be 0.",
    ".clamp(min=0)",
    "",
)
task.edit(
    "Both bugs are fixed. But the mask is no longer causal: a token may attend to those after it.",
    "causal & real[:, None, :]",
    "real[:, None, :].expand(-1, T, -1)",
)
task.edit(
    "The mask is inverted. True means *may attend*.",
    "causal & real[:, None, :]",
    "~(causal & real[:, None, :])",
)
task.edit(
    "The real tokens were counted across the whole batch. Count each text on its own.",
    "(real.cumsum(dim=1) - 1)",
    "(real.flatten().cumsum(dim=0).view_as(tokens) - 1)",
)


task.edit(
    "A pad token may attend to itself here. No key of padding may be seen by any query, so all of "
    "its row is False.",
    "causal & real[:, None, :]",
    "causal & (real[:, None, :] | torch.eye(T, dtype=torch.bool))",
)


task.edit(
    "A pad token got position 1, as in some libraries. It should be 0 here.",
    "(real.cumsum(dim=1) - 1).clamp(min=0)",
    "(real.cumsum(dim=1) - 1).masked_fill(~real, 1)",
)
task.edit(
    "Pad tokens got negative positions, down to minus their number, which are in no table of "
    "positions. They should be 0.",
    "(real.cumsum(dim=1) - 1).clamp(min=0)",
    "torch.arange(T) - (~real).sum(dim=1, keepdim=True)",
)


@task.cases
def cases(seed):
    """Two texts to check by hand; then longer batches, and one without padding."""
    generator = torch.Generator().manual_seed(seed)

    def draw(batch, T, pad_id):
        tokens = torch.randint(11, 90, (batch, T), generator=generator)
        padding = torch.randint(T, (batch,), generator=generator)
        padding[0], padding[1] = 0, T // 2
        return tokens.masked_fill(torch.arange(T) < padding[:, None], pad_id)

    hand = torch.tensor([[0, 0, 7, 5], [4, 9, 6, 8]])
    alone = torch.randint(11, 90, (3, 5), generator=generator)
    return [
        Case((hand, 0), "two texts, one with two pad tokens", kind="ordinary cases"),
        Case((draw(4, 6, 0), 0), "four texts", kind="ordinary cases"),
        Case((draw(5, 9, 2), 2), "the pad token has id 2", kind="ordinary cases"),
        Case((alone, 0), "no padding", kind="edge cases"),
    ]


@task.diagnostic
def what_is_off(args, result):
    """The first property of positions or mask that is not as it should be."""
    tokens, pad_id = args
    positions, mask = (torch.as_tensor(part) for part in result)
    batch, T = tokens.shape
    if positions.shape != (batch, T) or mask.shape != (batch, T, T):
        return None
    for i, row in enumerate(tokens):
        pads, (own, seen) = row == pad_id, (positions[i], mask[i])
        first = int(pads.sum())
        if own[pads].any():
            return f"Row {i}: a pad token has position {int(own[pads].max())}; it should have 0."
        if own[first:].tolist() != list(range(T - first)):
            due = "they should begin at 0 and rise by 1"
            return f"Row {i}: the text has the positions {own[first:].tolist()}; {due}."
        if seen[first:, :first].any():
            return f"Row {i}: a token of the text attends to padding."
        if seen[first:].triu(first + 1).any():
            return f"Row {i}: a token attends to one that comes after it."
        if not seen.diagonal()[first:].all():
            return f"Row {i}: a token does not attend to itself."
    return None
