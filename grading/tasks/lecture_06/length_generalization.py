"""Train: an encoding with which narrow heads keep a distance on long texts."""

import math

import numpy as np
import torch
from torch import nn

from grading.author import Case, TaskFile
from helpers import positions
from helpers.positions import (
    ALiBiPositions,
    LearnedPositions,
    PositionEncoding,
    SinusoidalPositions,
)

task = TaskFile(
    "train",
    points=10,
    minutes=24,
    section="Length generalization",
    outcome="read a table of length generalization without naming a winner that the figures do not "
    "show",
    threshold=0.95,
    hints=(
        "The lecture explains the ghosts by the speeds of the hands. Write down the speeds of all "
        "eight. Which of them turn far within 15 words, the longest distance in training?",
        "`positions.RotaryPositions` has a setting for the speeds: `base`, 10,000 by default. "
        "Hand i turns by base^(−2i / 16) radians per word. Choose it such that the slowest hand, "
        "i = 7, makes about one turn (six radians) within 15 words: then all of them are useful.",
    ),
)

VOCAB = 16


# %% the cell
def length_generalization():
    """A new encoding with which narrow heads can find a fixed distance in long texts."""
    #| return positions.RotaryPositions()
    # BEGIN SOLUTION
    return positions.RotaryPositions(base=2.0)
    # END SOLUTION


# %%


class _Table(PositionEncoding):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(2, 16))

    def bias(self, T_q, T_k, like):
        distance = torch.arange(T_k - T_q, T_k)[:, None] - torch.arange(T_k)
        added = self.table[:, distance.clamp(0, 15)]
        return torch.where(distance < 16, added, -30.0)


@task.alternative
def table_of_distances():
    """A trained number for each distance, and far words are shut out."""
    return _Table()


task.as_given(
    "These are the lecture's rotary positions, as given. In heads of 16 features they have ghosts."
)
task.mistake(
    "This is no encoding. One causal layer then sees a bag of words, and cannot single out a "
    "distance even in short texts.",
    lambda: PositionEncoding(),
)
task.mistake(
    "Sinusoidal codes can be computed for any position. But as in the lecture's shift, what "
    "training finds on 16 positions does not work beyond them.",
    lambda: SinusoidalPositions(),
)
task.mistake(
    "The table is long enough, but training reaches only its first 16 rows. The others keep their "
    "random initial values.",
    lambda: LearnedPositions(64, 64),
)
task.mistake(
    "With ALiBi the nearest word always gets the smallest penalty. So a head cannot single out "
    "another distance.",
    lambda: ALiBiPositions(2),
)


@task.harness
def harness(answer, tokens, targets, asked):
    """Train a model with this encoding on short texts; the tokens that it names in long ones."""
    import torch
    from torch import nn

    from helpers.attention import MultiHeadAttention
    from helpers.masks import causal_mask
    from helpers.positions import RotaryPositions
    from helpers.training import train

    class Reader(nn.Module):
        def __init__(self, vocab, encoding):
            super().__init__()
            self.encoding = encoding
            self.embedding = nn.Embedding(vocab, 64)
            self.layer = MultiHeadAttention(64, 2, d_k=16, d_v=32, positions=encoding)
            self.lm_head = nn.Linear(64, vocab)

        def forward(self, tokens):
            mask = causal_mask(tokens.shape[1])
            x = self.encoding.embed(self.embedding(tokens))
            return self.lm_head(self.layer(x, mask=mask))

    encoding = answer()
    if encoding is None:
        raise NotImplementedError
    missing = [m for m in ("embed", "rotate", "bias") if not hasattr(encoding, m)]
    if missing or isinstance(encoding, type):
        wanted = "expected an encoding such as positions.PositionEncoding(), with the brackets"
        raise TypeError(f"{wanted}; you returned {encoding!r}")
    batches = iter(zip(tokens.split(32), targets.split(32), strict=True))
    model = Reader(16, encoding)
    train(model, lambda: next(batches), steps=len(tokens) // 32, lr=5e-3)
    with torch.no_grad():
        named = model(asked).argmax(dim=-1)
    rotary = isinstance(encoding, RotaryPositions)
    return {
        "named": named,
        "base": float(encoding.base) if rotary else 0.0,
        "scaling_factor": float(encoding.scaling_factor) if rotary else 1.0,
    }


@task.cases
def cases(seed):
    """Two distances; for each 300 batches of texts of 16 tokens, and 100 texts of 64."""
    generator = torch.Generator().manual_seed(seed)
    distances = 2 + torch.randperm(4, generator=generator)[:2]
    made = []
    for n in distances.tolist():
        tokens = torch.randint(VOCAB, (300 * 32, 16), generator=generator)
        targets = torch.full_like(tokens, -100)
        targets[:, n:] = tokens[:, :-n]
        asked = torch.randint(VOCAB, (100, 64), generator=generator)
        made.append(Case((tokens, targets, asked), f"n = {n}", kind="ordinary cases"))
    return made


def _distance(args):
    tokens, targets = (np.asarray(arg) for arg in args[:2])
    return next(n for n in range(1, 16) if (targets[:, n:] == tokens[:, :-n]).all())


@task.score
def share_right(args, result):
    """The share of right tokens in the second half of the long texts."""
    n, asked = _distance(args), np.asarray(args[2])
    return (np.asarray(result["named"])[:, 32:] == asked[:, 32 - n : -n]).mean()


@task.diagnostic
def where_it_fails(args, result):
    """How it does where training was, and where the wrong tokens come from."""
    n, asked, named = _distance(args), np.asarray(args[2]), np.asarray(result["named"])
    early = (named[:, n:16] == asked[:, : 16 - n]).mean()
    said = f"At the positions {n} to 15, as in training, {early:.2f} of its answers are right."
    wrong = named[:, 32:] != asked[:, 32 - n : -n]
    shares = [(named[:, 32:] == asked[:, 32 - m : 64 - m])[wrong].mean() for m in range(33)]
    ghost = int(np.argmax(shares))
    if early > 0.9 and shares[ghost] > 0.2:
        said += (
            f" Of the wrong answers at the positions 32 to 63, {shares[ghost]:.2f} name the token "
            f"{ghost} positions to the left."
        )
    turn = 15 * result["base"] ** (-14 / 16) if result["base"] > 1 else math.inf
    turn /= result["scaling_factor"]
    if turn < 3:
        settings = "this base" if result["scaling_factor"] == 1 else "this base and scaling factor"
        said += (
            f" With {settings} the slowest hand turns by only {turn:.2g} radians within 15 words, "
            "the longest distance in training."
        )
    if result["scaling_factor"] > 1:
        said += " A scaling factor above 1 makes every hand slower."
    if result["base"] > 10_000:
        said += " A larger base makes the slow hands slower still."
    if result["base"] == 1:
        said += " With a base of 1 all hands turn at the same speed."
    return said
