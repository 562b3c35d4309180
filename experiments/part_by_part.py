"""A text model of lecture 7 that gets its parts one by one: `python -m experiments.part_by_part`.

The text is Shakespeare's plays, character by character. Each model of `MODELS` has the parts of the
previous one and one more; the setting is the number of blocks, 1 or 6. Without residual connections
a part replaces the vectors that it reads. The last tenth of the text reports, the tenth before it
chooses the learning rate, and the rest trains. Each entry of `runs` is one training:

    loss         nats per character on the last tenth
    sample       what the model writes, at temperature 0.8
    parameters   trainable numbers

In the head, `counts`: the loss of a model that knows how often each character occurs, and of one
that knows how often each follows each (both from the training text, with one added to each count).
Writes `helpers/results/stored/part_by_part.json`, a quarter of an hour of one core.
"""

from __future__ import annotations

from functools import cache, partial

import torch
from torch import Tensor, nn

from experiments.search import SEARCH_SEEDS, search  # first: it silences the progress bars
from experiments.transformer_block import Stack
from helpers.data.shakespeare import character_batch, characters, decode, encode, plays, windows
from helpers.data.shakespeare import split as cut_off
from helpers.generation import generate
from helpers.training import count_parameters, masked_cross_entropy, set_seed, train

STEPS, WARMUP, ROWS, CONTEXT, D_MODEL = 1000, 100, 16, 32, 32
VOCAB = len(characters()) + 1
WINDOWS = 500
SIZES = {"rows": ROWS, "context": CONTEXT, "d_model": D_MODEL, "windows": WINDOWS}
WRITTEN = 160
TEMPERATURE = 0.8
PROMPT = "\n\n"

MODELS: dict[str, dict | None] = {
    "embedding": None,
    "attention": {"feed_forward": False, "residual": False, "norm": "none"},
    "feed-forward": {"residual": False, "norm": "none"},
    "residual": {"norm": "none"},
    "layer norm": {},
}
"""What each model adds, and the switches of its `Stack`; the first has no blocks."""

DEPTHS = {
    "embedding": (1,),
    "attention": (1,),
    "feed-forward": (1, 6),
    "residual": (6,),
    "layer norm": (6,),
}
"""The numbers of blocks of each model."""

CHOOSING_SEEDS = SEARCH_SEEDS[:2]
"""Two seeds try every rate; a training with six blocks takes 20 seconds."""


@cache
def parts() -> tuple[Tensor, Tensor, Tensor]:
    """Text to train with, to choose by and to report on."""
    before, report = cut_off(encode(plays()))
    cut = len(before) - len(report)
    return before[:cut], before[cut:], report


def make(name: str, n_blocks: int) -> Stack:
    """An untrained model."""
    switches = MODELS[name]
    if switches is None:
        n_blocks, switches = 0, {"norm": "none"}
    model = Stack(n_blocks, d_model=D_MODEL, **switches)
    model.embedding = nn.Embedding(VOCAB, D_MODEL)
    model.lm_head = nn.Linear(D_MODEL, VOCAB)
    return model


@torch.no_grad()
def loss(model: nn.Module, text: Tensor) -> float:
    """Nats per character on the first windows of a text."""
    inputs, targets = (part[:WINDOWS] for part in windows(text, CONTEXT))
    return round(masked_cross_entropy(model(inputs), targets).item(), 4)


def write(model: nn.Module) -> str:
    """A sample that follows an empty line, where a speech begins."""
    generator = torch.Generator().manual_seed(0)
    text = encode(PROMPT)[None]  # (1, 2)
    for _ in range(WRITTEN):
        seen = text[:, -CONTEXT:]
        new = generate(
            model, seen, 1, temperature=TEMPERATURE, generator=generator, use_cache=False
        )
        text = torch.cat([text, new[:, -1:]], dim=1)
    return decode(text[0, len(PROMPT) :])


def trained(
    name: str, n_blocks: int, lr: float, seed: int, *, steps: int, warmup: int
) -> tuple[Stack, dict]:
    """A model and what was measured of it; only the seeds that report see the last tenth."""
    training, choose, report = parts()
    generator = set_seed(seed)
    model = make(name, n_blocks)
    draw = partial(character_batch, training, ROWS, CONTEXT, generator)
    train(model, draw, steps, lr, warmup=warmup)
    row = {"validation": loss(model, choose), "parameters": count_parameters(model)}
    return model, row if seed in CHOOSING_SEEDS else row | {"loss": loss(model, report)}


def trial(name: str, n_blocks: int, lr: float, seed: int) -> dict:
    """Train one model."""
    model, row = trained(name, n_blocks, lr, seed, steps=STEPS, warmup=WARMUP)
    return row if seed in CHOOSING_SEEDS else row | {"sample": write(model)}


def counts() -> dict[str, float]:
    """Losses of two models that count."""
    training, _, report = parts()
    inputs, targets = (part[:WINDOWS] for part in windows(report, CONTEXT))
    single = torch.bincount(training, minlength=VOCAB).double() + 1  # (vocab,)
    pairs = torch.bincount(training[:-1] * VOCAB + training[1:], minlength=VOCAB**2)
    pairs = pairs.view(VOCAB, VOCAB).double() + 1  # (vocab, vocab)
    log_single = (single / single.sum()).log()  # (vocab,)
    log_pairs = (pairs / pairs.sum(dim=1, keepdim=True)).log()  # (vocab, vocab)
    return {
        "single": round(-log_single[targets].mean().item(), 4),
        "pairs": round(-log_pairs[inputs, targets].mean().item(), 4),
    }


def main() -> None:
    """Search, compare, write the table."""
    search(
        "part_by_part",
        trial,
        models=tuple(MODELS),
        settings=(1, 6),
        search_seeds=CHOOSING_SEEDS,
        lower_is_better=True,
        skip=lambda name, n_blocks: n_blocks not in DEPTHS[name],
        equal=0.01,
        about={"steps": STEPS, "warmup": WARMUP}
        | SIZES
        | {"temperature": TEMPERATURE, "counts": counts()},
    )


if __name__ == "__main__":
    main()
