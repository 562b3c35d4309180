"""Find the bugs: attribution patching with the wrong sign and the wrong heads."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=9,
    minutes=13,
    section="All 270 heads by one gradient",
    outcome="follow a decision through the residual stream layer by layer, and find the heads that "
    "carry it",
    hints=(
        "Work out the example by hand. In head 1, the twin differs in one number: it is smaller, "
        "and the gradient there is positive. Which sign should its result have?",
        "Write `torch.arange(6)` for a row of three heads with two numbers each. Compare "
        "`.unflatten(0, (-1, 3))` with `.unflatten(0, (3, -1))`.",
    ),
)


# %% the cell
def attribution_patching(contexts, twins, gradients, n_heads):
    """Estimated change of the metric (layers, n_heads) if a head had read the twin sentence."""
    #| moved = contexts - twins  # (layers, batch, T, n_heads · d_v)
    # BEGIN SOLUTION
    moved = twins - contexts  # (layers, batch, T, n_heads · d_v)
    # END SOLUTION
    each = (moved * gradients).sum(dim=2)  # (layers, batch, n_heads · d_v)
    #| heads = each.unflatten(-1, (-1, n_heads)).sum(dim=-2)  # (layers, batch, n_heads)
    # BEGIN SOLUTION
    heads = each.unflatten(-1, (n_heads, -1)).sum(dim=-1)  # (layers, batch, n_heads)
    # END SOLUTION
    return heads.mean(dim=1)  # (layers, n_heads)


# %%


@task.alternative
def head_by_head(contexts, twins, gradients, n_heads):
    """One head after the other."""
    d_v = contexts.shape[-1] // n_heads
    found = torch.zeros(len(contexts), n_heads, dtype=contexts.dtype)
    for head in range(n_heads):
        own = slice(head * d_v, (head + 1) * d_v)
        change = ((twins - contexts) * gradients)[..., own]  # (layers, batch, T, d_v)
        found[:, head] = change.sum(dim=(1, 2, 3)) / contexts.shape[1]
    return found


task.as_given(
    "This does the same as the given code: in the statement's example head 0 should get 10, but "
    "it does not. There are two bugs. Print `moved` and `each` for the example, and compare with "
    "your own sums."
)
task.edit(
    "The heads are split correctly now. But the sign is still wrong: how does the metric change if "
    "the *twin's* context vector is put in?",
    "twins - contexts",
    "contexts - twins",
)
task.edit(
    "The sign is now right. But each head still collects numbers from the whole row: the d_v "
    "numbers of one head are consecutive.",
    "each.unflatten(-1, (n_heads, -1)).sum(dim=-1)",
    "each.unflatten(-1, (-1, n_heads)).sum(dim=-2)",
)
task.edit(
    "The numbers are split by heads now. But the sum runs over the heads, so each head's own "
    "numbers are left. Which axis is which after `unflatten`?",
    ".sum(dim=-1)",
    ".sum(dim=-2)",
)
task.edit(
    "Both bugs are fixed. But the tokens are averaged. A patch replaces a head at all tokens "
    "together, so their contributions add up.",
    "(moved * gradients).sum(dim=2)",
    "(moved * gradients).mean(dim=2)",
)
task.edit(
    "Both bugs are fixed. But the sentences are now summed. Their mean was right.",
    "heads.mean(dim=1)",
    "heads.sum(dim=1)",
)
task.edit(
    "Both bugs are fixed. But the numbers of a head are now averaged. Their sum was right.",
    ".sum(dim=-1)",
    ".mean(dim=-1)",
)
task.edit(
    "The signs are lost: an estimate may be negative, and contributions may cancel.",
    "(moved * gradients).sum(dim=2)",
    "(moved * gradients).abs().sum(dim=2)",
)
task.edit(
    "The context vector itself was subtracted, as if it were replaced by zeros. Here the twin's "
    "context vector replaces it.",
    "twins - contexts",
    "-contexts",
)
task.edit(
    "The whole context vector of the twin was used. What matters is its difference from the one "
    "it replaces.",
    "twins - contexts",
    "twins",
)
task.edit(
    "The gradient is missing: this is how far the context vectors move, not how much that "
    "changes the metric.",
    "(moved * gradients)",
    "moved",
)


@task.mistake("Only the last token was patched. A patch replaces a head at all tokens.")
def last_token(contexts, twins, gradients, n_heads):
    each = ((twins - contexts) * gradients)[:, :, -1]
    return each.unflatten(-1, (n_heads, -1)).sum(dim=-1).mean(dim=1)


task.edit(
    "Changes and gradients were averaged over the sentences before they were multiplied. Multiply "
    "within each sentence, and take the mean at the end.",
    "each = (moved * gradients).sum(dim=2)",
    "each = (moved.mean(1, True) * gradients.mean(1, True)).sum(dim=2)",
)


task.edit(
    "Changes and gradients were averaged over the tokens before they were multiplied. Multiply at "
    "each token, and then add up.",
    "(moved * gradients).sum(dim=2)",
    "moved.mean(dim=2) * gradients.mean(dim=2)",
)
task.edit(
    "Changes and gradients were summed over the tokens before they were multiplied. Multiply at "
    "each token, and then add up.",
    "(moved * gradients).sum(dim=2)",
    "moved.sum(dim=2) * gradients.sum(dim=2)",
)


@task.mistake(
    "Changes and gradients were summed over the tokens and over the numbers of a head before they "
    "were multiplied. Multiply number by number, and then add up."
)
def summed_first(contexts, twins, gradients, n_heads):
    moved, slope = (
        x.unflatten(-1, (n_heads, -1)).sum(dim=(2, 4)) for x in (twins - contexts, gradients)
    )
    return (moved * slope).mean(dim=1)


@task.cases
def cases(seed):
    """Two heads of two numbers to check by hand; then random ones."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    hand = [[1.0, 1, 1, 1], [3, 2, 1, 0], [4, 2, 5, 3]]
    contexts, twins, gradients = (torch.tensor(row).double().view(1, 1, 1, 4) for row in hand)
    found = [
        Case(
            (contexts, twins, gradients, 2),
            "one layer, one token, two heads",
            kind="ordinary cases",
        )
    ]
    for layers, batch, T, n_heads, d_v in ((2, 3, 4, 3, 2), (3, 2, 5, 2, 4), (4, 5, 3, 4, 3)):
        shape = (layers, batch, T, n_heads * d_v)
        note = f"{layers} layers, {n_heads} heads of width {d_v}"
        found.append(
            Case(
                (1 + draw(*shape), draw(*shape), draw(*shape), n_heads), note, kind="ordinary cases"
            )
        )
    return found
