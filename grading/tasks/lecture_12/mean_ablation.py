"""One head replaced by its mean over other sentences."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=10,
    section="Ablation: which heads are needed",
    two_at_once=True,
    outcome="show by {term}`ablation` which heads a trained model needs for a task, with a control",
    hints=(
        "With heads of d_v numbers, head 1 has the entries from d_v up to 2 · d_v.",
        "Change a copy: `found` belongs to the caller.",
    ),
)


# %% the cell
def mean_ablation(found, W_out, n_heads, head):
    """What attention adds, (batch, T, d_model), with one head replaced by its mean."""
    # BEGIN SOLUTION
    d_v = found.shape[-1] // n_heads
    own = slice(head * d_v, (head + 1) * d_v)
    context = found.clone()  # (batch, T, n_heads · d_v)
    context[..., own] = found[..., own].mean(dim=0)
    return context @ W_out.T  # (batch, T, d_model)
    # END SOLUTION


# %%


@task.alternative
def by_heads(found, W_out, n_heads, head):
    """With an axis for heads."""
    context = found.unflatten(-1, (n_heads, -1)).clone()
    context[:, :, head] = context[:, :, head].mean(dim=0, keepdim=True)
    return context.flatten(2) @ W_out.T


@task.alternative
def by_difference(found, W_out, n_heads, head):
    """The head's deviation from its mean, taken away."""
    d_v = found.shape[-1] // n_heads
    off = (found - found.mean(dim=0))[..., head * d_v : (head + 1) * d_v]
    return found @ W_out.T - off @ W_out[:, head * d_v : (head + 1) * d_v].T


MEAN = "found[..., own].mean(dim=0)"
task.edit("The head was replaced by zeros. Use its mean.", MEAN, "0.0")
task.edit(
    "The mean is taken over sentences and positions. Each position has its own mean.",
    MEAN,
    "found[..., own].mean(dim=(0, 1))",
)
task.edit(
    "The mean is taken over the positions of each sentence. Take it over sentences, separately "
    "for each position.",
    MEAN,
    "found[..., own].mean(dim=1, keepdim=True)",
)
task.edit(
    "The mean is also taken over the numbers of the head. The result must be a mean vector.",
    MEAN,
    "found[..., own].mean(dim=(0, 2), keepdim=True)[0]",
)
task.edit(
    "The mean is taken over the numbers of the head: one number for each word. The mean over "
    "sentences is a vector.",
    MEAN,
    "found[..., own].mean(dim=-1, keepdim=True)",
)
task.edit(
    "The mean is taken over the heads. Use the mean of this one head over sentences.",
    MEAN,
    "found.unflatten(-1, (n_heads, -1)).mean(dim=2)",
)
task.edit(
    "The head has the values of the next sentence: that is resampling. Use the mean.",
    MEAN,
    "found[..., own].roll(1, 0)",
)
task.edit(
    "Heads are counted from 1 here. Count them from 0.",
    "slice(head * d_v, (head + 1) * d_v)",
    "slice(max(head - 1, 0) * d_v, max(head, 1) * d_v)",
)
task.edit(
    "The heads are treated as interleaved. Each has consecutive numbers.",
    "slice(head * d_v, (head + 1) * d_v)",
    "slice(head, None, n_heads)",
)
task.edit(
    "All heads were replaced.",
    "slice(head * d_v, (head + 1) * d_v)",
    "slice(None)",
)
task.edit("Nothing was replaced.", MEAN, "found[..., own]")
task.edit(
    "`W_out` was transposed once too often or not at all: nn.Linear computes x @ W.T.",
    "context @ W_out.T",
    "context @ W_out",
)


task.edit(
    "The width of a head and the number of heads are exchanged: a head has as many numbers as the "
    "width divided by `n_heads`.",
    "slice(head * d_v, (head + 1) * d_v)",
    "slice(head * n_heads, (head + 1) * n_heads)",
)


@task.mistake(
    "Numbers of the *output* were replaced. After `W_out` each number is a sum over all heads: "
    "replace them before."
)
def behind_the_projection(found, W_out, n_heads, head):
    d_v = found.shape[-1] // n_heads
    own = slice(head * d_v, (head + 1) * d_v)
    added = found @ W_out.T
    added[..., own] = added[..., own].mean(dim=0)
    return added


@task.mistake("All heads except this one were replaced.")
def the_others(found, W_out, n_heads, head):
    d_v = found.shape[-1] // n_heads
    own = slice(head * d_v, (head + 1) * d_v)
    context = found.mean(dim=0, keepdim=True).expand_as(found).clone()
    context[..., own] = found[..., own]
    return context @ W_out.T


@task.mistake("This is what the head adds on its own. Return the sum with the others.")
def alone(found, W_out, n_heads, head):
    d_v = found.shape[-1] // n_heads
    own = slice(head * d_v, (head + 1) * d_v)
    return found[..., own].mean(dim=0, keepdim=True).expand(len(found), -1, -1) @ W_out[:, own].T


@task.cases
def cases(seed):
    """Two heads in two sentences; then more."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    found = []
    for batch, T, n_heads, d_v, head in ((2, 3, 2, 2, 1), (3, 4, 3, 2, 0), (4, 2, 4, 3, 2)):
        width = n_heads * d_v
        d_model = 8 if d_v == 3 else width
        note = f"head {head} of {n_heads}"
        found.append(
            Case(
                (draw(batch, T, width) + 1, draw(d_model, width), n_heads, head),
                note,
                kind="ordinary cases",
            )
        )
    return found


@task.diagnostic
def width_of_a_head(args, result):
    """Whether the width of a head was taken from d_model."""
    found, W_out, n_heads, head = args
    d_v = len(W_out) // n_heads
    own = slice(head * d_v, (head + 1) * d_v)
    context = found.clone()
    context[..., own] = found[..., own].mean(dim=0)
    if d_v * n_heads != found.shape[-1] and torch.allclose(
        torch.as_tensor(result), context @ W_out.T
    ):
        return "d_v was computed from d_model, which may be another number: `found` has the heads."
    return None
