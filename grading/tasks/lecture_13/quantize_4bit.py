"""Round weights to four bits, block by block."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=14,
    section="Four bits by hand",
    two_at_once=True,
    outcome="fit a pretrained model's arrays into modules of your own, and test that the logits "
    "are right",
    results=("the scales", "the smallest weights", "the numbers"),
    hints=(
        "The smallest weight gets the number 0, and the largest gets 15. How many steps lie "
        "between the two?",
        "`least[:, None]` has shape (n, 1), so each row is shifted by its own number.",
        "What is the range of a block whose weights are all equal, and what happens if you divide "
        "by it?",
    ),
)


# %% the cell
def quantize_4bit(weights):
    """Scale (n,), least (n,) and numbers (n, 32) from 0 to 15, of weights (n, 32)."""
    # BEGIN SOLUTION
    least, most = weights.amin(dim=1), weights.amax(dim=1)  # (n,) each
    scale = (most - least) / 15  # (n,)
    step = torch.where(scale > 0, scale, 1.0)  # (n,): a block of equal weights has no step
    numbers = ((weights - least[:, None]) / step[:, None]).round()  # (n, 32)
    return scale, least, numbers
    # END SOLUTION


# %%


@task.alternative
def by_nearest(weights):
    """The nearest of the sixteen values of each block."""
    least = weights.min(dim=1).values
    scale = (weights.max(dim=1).values - least) / 15
    values = least[:, None] + scale[:, None] * torch.arange(16)  # (n, 16)
    return scale, least, (weights[:, :, None] - values[:, None]).abs().argmin(dim=-1)


task.edit(
    "The numbers were truncated instead of rounded: a weight just below a step becomes the step "
    "before.",
    ".round()",
    ".floor()",
)
task.edit(
    "The range was divided by 16. From 0 to 15 there are 15 steps.",
    "(most - least) / 15",
    "(most - least) / 16",
)
task.edit(
    "The smallest weight was not subtracted, so the numbers do not begin at 0.",
    "(weights - least[:, None])",
    "weights",
)
task.edit(
    "One smallest and one largest weight were used for all blocks. Each block has its own.",
    "weights.amin(dim=1), weights.amax(dim=1)",
    "weights.min().expand(len(weights)), weights.max().expand(len(weights))",
)
task.edit(
    "With a dimension, `min` and `max` return values and indices. You need the values.",
    "weights.amin(dim=1), weights.amax(dim=1)",
    "weights.min(dim=1), weights.max(dim=1)",
)
task.edit(
    "A block of equal weights has the scale 0, and 0 / 0 is NaN. Its numbers should be 0.",
    "torch.where(scale > 0, scale, 1.0)",
    "scale",
)
task.edit(
    "Nothing was rounded. Four bits hold whole numbers only.",
    ".round()",
    "",
)
task.edit(
    "These are the weights after rounding. Return the numbers from 0 to 15.",
    ".round()",
    ".round() * scale[:, None] + least[:, None]",
)
task.edit(
    "Scale and least are exchanged.",
    "return scale, least, numbers",
    "return least, scale, numbers",
)
task.edit(
    "The numbers were divided by the largest weight, not by the scale, so they do not count steps "
    "of the block.",
    "/ step[:, None]",
    "/ most[:, None]",
)
task.edit(
    "The scale is the whole range of the block. One step is a fifteenth of it.",
    "scale = (most - least) / 15  # (n,)",
    "scale = most - least",
)
task.edit(
    "The range is symmetric around 0 here. It reaches from the smallest weight of a block to its "
    "largest.",
    "weights.amin(dim=1), weights.amax(dim=1)",
    "-weights.abs().amax(dim=1), weights.abs().amax(dim=1)",
)
task.edit(
    "A block of equal weights has the scale 0. You returned the number that only avoids dividing "
    "by 0.",
    "return scale, least",
    "return step, least",
)


@task.mistake(
    "There is a single scale and a single smallest weight for all blocks. Return one of each for "
    "every block."
)
def one_for_all(weights):
    least, most = weights.min(), weights.max()
    scale = (most - least) / 15
    return scale, least, ((weights - least) / scale).round()


@task.mistake("Scales and smallest weights have one axis too many: (n, 1) where (n,) is wanted.")
def axis_kept(weights):
    scale, least, numbers = quantize_4bit(weights)
    return scale[:, None], least[:, None], numbers


@task.mistake("The numbers run from −8 to 7. In this format they run from 0 to 15.")
def symmetric(weights):
    scale, least, numbers = quantize_4bit(weights)
    return scale, least, numbers - 8


@task.mistake(
    "Rows and columns are exchanged: a block is a row of 32 weights, and each has a scale of its "
    "own."
)
def by_columns(weights):
    least, most = weights.amin(dim=0), weights.amax(dim=0)
    scale = (most - least) / 15
    step = torch.where(scale > 0, scale, 1.0)
    return scale, least, ((weights - least) / step).round()


task.edit(
    "The weight and the smallest weight were rounded separately, so some numbers are one off. "
    "Subtract first, and round once.",
    "((weights - least[:, None]) / step[:, None]).round()",
    "(weights / step[:, None]).round() - (least / step).round()[:, None]",
)


task.edit(
    "The scale has a lower limit of 0.01, against dividing by 0. Return the scale as it is, and "
    "use another number only where you divide.",
    "scale = (most - least) / 15",
    "scale = ((most - least) / 15).clamp(min=0.01)",
)


@task.cases
def cases(seed):
    """One block to check by hand; then random ones, and a block of equal weights."""
    generator = torch.Generator().manual_seed(seed)

    def draw(n, middle):
        drawn = torch.randn(n, 32, dtype=torch.float64, generator=generator)
        size = 0.2 + torch.rand(n, 1, dtype=torch.float64, generator=generator)
        return middle + size * drawn

    hand = torch.arange(32, dtype=torch.float64)[None] % 4 - 1.0  # −1, 0, 1, 2, and again
    equal = draw(4, -1.0)
    equal[2] = equal[2, 0]
    return [
        Case((hand,), "one block, as in the example", kind="ordinary cases"),
        Case((draw(3, 0.1),), "three blocks", kind="ordinary cases"),
        Case((draw(7, -0.5),), "seven blocks", kind="ordinary cases"),
        Case((draw(5, 3.0),), "weights above zero", kind="ordinary cases"),
        Case((equal,), "a block of equal weights", kind="equal weights"),
    ]
