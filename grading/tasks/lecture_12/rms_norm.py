"""The norm of today's models."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=5,
    minutes=6,
    section="What today's models changed",
    two_at_once=True,
    outcome="write the parts that Llama exchanges in a block, count their parameters, and load "
    "such a model",
    forbidden=(
        "torch.rms_norm",
        "torch.nn.functional.rms_norm",
        "torch.nn.RMSNorm",
        "helpers.variants.RMSNorm",
    ),
    hints=(
        "`keepdim=True` keeps an axis of size 1, so that each vector is divided by "
        "its own root mean square.",
    ),
)


# %% the cell
def rms_norm(x, weight, eps):
    """Vectors x (…, d) with a mean square of 1, times weight (d,)."""
    # BEGIN SOLUTION
    mean_square = (x * x).mean(dim=-1, keepdim=True)  # (…, 1)
    return x / torch.sqrt(mean_square + eps) * weight
    # END SOLUTION


# %%


@task.alternative
def by_length(x, weight, eps):
    """By the squared length of each vector."""
    d = x.shape[-1]
    return x * weight * (x.norm(dim=-1, keepdim=True) ** 2 / d + eps).rsqrt()


SQUARES, ROOT = "(x * x).mean(dim=-1, keepdim=True)", "torch.sqrt(mean_square + eps)"
task.edit(
    "The mean was subtracted first, as in layer norm. Here nothing is subtracted.",
    "mean_square = (x * x)",
    "x = x - x.mean(dim=-1, keepdim=True)\n    mean_square = (x * x)",
)
task.edit(
    "The squares were summed. Their *mean* does not grow with the width.",
    SQUARES,
    "(x * x).sum(dim=-1, keepdim=True)",
)
task.edit(
    "You divide by the mean square itself. The square root is missing.", ROOT, "(mean_square + eps)"
)
task.edit(
    "eps was added to the square root. It belongs under it.",
    ROOT,
    "(torch.sqrt(mean_square) + eps)",
)
task.edit("eps was left out.", ROOT, "torch.sqrt(mean_square)")
task.edit(
    "The mean is taken over all vectors together. Each vector is normalized on its own.",
    SQUARES,
    "(x * x).mean()",
)
task.edit(
    "The mean is taken along the first axis. Each vector, along the last axis, is normalized on "
    "its own.",
    SQUARES,
    "(x * x).mean(dim=0, keepdim=True)",
)
task.edit("The weight was left out.", " * weight", "")
task.edit("1 was added to the weight. Use it as it is.", " * weight", " * (1 + weight)")
task.edit("You divide by the weight. Multiply by it.", " * weight", " / weight")


task.edit(
    "A variance was used, which subtracts the mean. Here nothing is subtracted.",
    SQUARES,
    "x.var(dim=-1, keepdim=True, unbiased=False)",
)
task.edit(
    "An axis was counted from the front. Vectors are along the *last* one, whatever comes before.",
    SQUARES,
    "(x * x).mean(dim=min(1, x.dim() - 1), keepdim=True)",
)
task.edit("eps was squared. Add it as it is.", ROOT, "torch.sqrt(mean_square + eps**2)")


task.edit("You multiply by the square root. Divide by it.", "x / torch", "x * torch")
task.edit(
    "The mean lost its axis, so it is broadcast along the wrong one, or raises an error. Keep it: "
    "`keepdim=True`.",
    SQUARES,
    "(x * x).mean(dim=-1)",
)


@task.mistake("This uses the mean of the absolute values. Use the root mean square.")
def absolute(x, weight, eps):
    return x / (x.abs().mean(dim=-1, keepdim=True) + eps) * weight


@task.mistake("Each vector has *length* 1. Its mean square should be 1.")
def length_one(x, weight, eps):
    return torch.nn.functional.normalize(x, dim=-1) * weight


task.edit(
    "eps is a lower limit of the mean square here. Add it.",
    "mean_square + eps",
    "mean_square.clamp(min=eps)",
)


@task.cases
def cases(seed):
    """Two vectors to check by hand; then random ones, also in a batch."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    x = torch.tensor([[1.0, 7.0, 1.0, 7.0], [2.0, 2.0, 2.0, 2.0]], dtype=torch.float64)
    found = [
        Case(
            (x, torch.tensor([1.0, 2.0, 3.0, 0.5], dtype=torch.float64), 11.0),
            "two rows",
            kind="ordinary cases",
        )
    ]
    for shape, eps in (((3, 5), 0.5), ((2, 4, 6), 1e-2), ((5,), 2.0)):
        found.append(Case((draw(*shape) + 1, draw(shape[-1]) + 2, eps), kind="ordinary cases"))
    return found
