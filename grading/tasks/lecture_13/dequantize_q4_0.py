"""Read weights of four bits from the bytes of a file."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=13,
    section="Four bits by hand",
    two_at_once=True,
    outcome="fit a pretrained model's arrays into modules of your own, and test that the logits "
    "are right",
    hints=(
        "A byte holds two numbers: `byte & 15` keeps its low four bits, `byte >> 4` moves the "
        "high four down.",
        "`x.view(torch.float16)` reads each pair of neighbouring bytes of a row as one number.",
        "Bytes cannot be negative. Convert the numbers to float before you subtract.",
    ),
)


# %% the cell
def dequantize_q4_0(blocks):
    """Weights (n, 32), float32, of blocks (n, 18) of bytes in the format Q4_0."""
    # BEGIN SOLUTION
    scale = blocks[:, :2].contiguous().view(torch.float16).float()  # (n, 1)
    low, high = blocks[:, 2:] & 15, blocks[:, 2:] >> 4  # (n, 16) each
    numbers = torch.cat([low, high], dim=1).float()  # (n, 32), 0 to 15
    return scale * (numbers - 8)
    # END SOLUTION


# %%


@task.alternative
def byte_by_byte(blocks):
    """With divisions, one weight after the other."""
    weights = torch.zeros(len(blocks), 32)
    for row, block in enumerate(blocks):
        scale = block[:2].clone().view(torch.float16).item()
        for i, byte in enumerate(block[2:].tolist()):
            weights[row, i] = scale * (byte % 16 - 8)
            weights[row, i + 16] = scale * (byte // 16 - 8)
    return weights


task.edit(
    "The 8 is missing: a number from 0 to 15 stands for a weight from −8 to 7 steps.",
    "(numbers - 8)",
    "numbers",
)
task.edit(
    "You subtracted 7.5, so no weight can be 0. The format subtracts 8.",
    "(numbers - 8)",
    "(numbers - 7.5)",
)
task.edit(
    "The halves of the bytes are exchanged: the low four bits belong to the first 16 weights.",
    "[low, high]",
    "[high, low]",
)
task.edit(
    "The two numbers of a byte are next to each other. In this format all low halves come first, "
    "then all high ones.",
    "torch.cat([low, high], dim=1)",
    "torch.stack([low, high], dim=2).flatten(1)",
)
task.edit(
    "Only the low halves were read, twice. `byte >> 4` gives the high half.",
    "blocks[:, 2:] >> 4",
    "blocks[:, 2:] & 15",
)
task.edit(
    "The high half was not shifted down, so it is 16 times too large.",
    "blocks[:, 2:] >> 4",
    "blocks[:, 2:] & 240",
)
task.edit(
    "The 8 was subtracted from the bytes before they were split: a byte cannot hold numbers below "
    "0.",
    "blocks[:, 2:] & 15, blocks[:, 2:] >> 4",
    "(blocks[:, 2:] - 8) & 15, (blocks[:, 2:] - 8) >> 4",
    "(numbers - 8)",
    "numbers",
)
task.edit(
    "The numbers were still bytes when the 8 was subtracted, and a byte cannot hold numbers below "
    "0: 7 − 8 became 255.",
    "torch.cat([low, high], dim=1).float()",
    "torch.cat([low, high], dim=1)",
)
task.edit(
    "The high half was divided by 16, so the low bits are left as a fraction. `byte >> 4` drops "
    "them.",
    "blocks[:, 2:] >> 4",
    "blocks[:, 2:] / 16",
)


@task.mistake(
    "The weights were computed in float16, the dtype of the scale, and rounded to it. Convert the "
    "scale to float32 first: `.float()`."
)
def in_half_precision(blocks):
    scale = blocks[:, :2].clone().view(torch.float16)
    numbers = torch.cat([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], dim=1).half()
    return scale * (numbers - 8)


@task.mistake(
    "The numbers were still bytes when the 8 was subtracted, and a byte cannot hold numbers below "
    "0: 7 − 8 became 255. The product was also rounded to float16, the dtype of the scale. Convert "
    "numbers and scale first: `.float()`."
)
def bytes_in_half_precision(blocks):
    scale = blocks[:, :2].clone().view(torch.float16)
    numbers = torch.cat([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], dim=1)
    return scale * (numbers - 8)


task.edit(
    "The scale's two bytes were read as a bfloat16. They are a float16.",
    "torch.float16",
    "torch.bfloat16",
)
task.edit(
    "The scale's two bytes were read as two numbers. Together they are one float16: "
    "`.view(torch.float16)`.",
    "blocks[:, :2].contiguous().view(torch.float16).float()",
    "blocks[:, :1].float()",
)
task.edit(
    "The scale's two bytes were read as a whole number. They are the bytes of a float16.",
    "view(torch.float16)",
    "view(torch.int16)",
)
task.edit(
    "This is the number of steps. Multiply it by the scale.",
    "return scale * (numbers - 8)",
    "return numbers - 8",
)


@task.mistake("The scale of the first block was used for all. Each block has its own.")
def first_scale(blocks):
    scale = blocks[:1, :2].clone().view(torch.float16).float()
    numbers = torch.cat([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], dim=1).float()
    return scale * (numbers - 8)


task.edit(
    "The four bits were read as a number with a sign, where 8 to 15 stand for −8 to −1. Here they "
    "are a number from 0 to 15, from which 8 is subtracted.",
    "return scale * (numbers - 8)",
    "return scale * (numbers - 16 * (numbers > 7))",
)


task.edit(
    "The scale's two bytes were put together as a whole number, and that number was converted. "
    "They are the *bits* of a float16: `.view(torch.float16)`.",
    "blocks[:, :2].contiguous().view(torch.float16).float()",
    "(blocks[:, :1].int() + 256 * blocks[:, 1:2].int()).to(torch.float16).float()",
)


@task.cases
def cases(seed):
    """A block to check by hand; then random ones."""
    generator = torch.Generator().manual_seed(seed)

    def draw(n):
        scales = 0.01 + torch.rand(n, 1, generator=generator) / 4
        scales = scales.half().view(torch.uint8)  # (n, 2)
        rest = torch.randint(256, (n, 16), dtype=torch.uint8, generator=generator)
        return torch.cat([scales, rest], dim=1)

    half = torch.tensor([[0.5]]).half().view(torch.uint8)
    hand = torch.cat([half, torch.full((1, 16), 0x9A, dtype=torch.uint8)], dim=1)
    return [
        Case((hand,), "one block, as in the example", kind="ordinary cases"),
        Case((draw(1),), "one block of random bytes", kind="ordinary cases"),
        Case((draw(3),), "three blocks", kind="batches"),
        Case((draw(8),), "eight blocks", kind="batches"),
    ]
