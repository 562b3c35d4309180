"""Five positional encodings in a small language model: `python -m experiments.order_text`.

The text is Shakespeare's plays, character by character, as in `experiments/characters.py`: the last
tenth reports, the tenth before it chooses each encoding's learning rate, and the rest trains. Of
both tenths the first `EVALUATED` characters are read. All models are the same `LanguageModel` but
for the encoding, and train on windows of `CONTEXT` characters. Each entry of `runs` is a training:

    loss         nats per character of the last tenth, in windows of `CONTEXT` characters
    beyond       nats per character in windows of `LONGEST` characters, in each part of `PARTS`:
                 the positions of the training, and up to 2, 4 and 8 times as many
    parameters   trainable numbers

The learned table has `LONGEST` rows, of which training reaches the first `CONTEXT`. Writes
`helpers/results/stored/order_text.json`, six minutes of one core.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor, nn

from experiments.search import SEARCH_SEEDS, search  # first: it silences the progress bars
from helpers.config import TransformerConfig
from helpers.data.shakespeare import character_batch, characters, encode, plays, split, windows
from helpers.models import LanguageModel
from helpers.positions import (
    ALiBiPositions,
    LearnedPositions,
    PositionEncoding,
    RotaryPositions,
    SinusoidalPositions,
)
from helpers.training import count_parameters, set_seed, train

CONTEXT, LONGEST, BATCH, STEPS, WARMUP = 64, 512, 16, 500, 50
CONFIG = TransformerConfig(len(characters()) + 1, d_model=64, n_layers=2, n_heads=4)
STD = 0.05
EVALUATED = 51_201  # characters that choose, and that report
RATES = (0.002, 0.004, 0.008, 0.016)
PARTS = ((0, 64), (64, 128), (128, 256), (256, 512))
CHOOSING_SEEDS = SEARCH_SEEDS[:1]

ENCODINGS: dict[str, Callable[[], PositionEncoding]] = {
    "none": PositionEncoding,
    "learned": lambda: LearnedPositions(LONGEST, CONFIG.d_model),
    "sinusoidal": SinusoidalPositions,
    "rotary": RotaryPositions,
    "ALiBi": lambda: ALiBiPositions(CONFIG.n_heads),
}


@cache
def parts() -> tuple[Tensor, Tensor, Tensor]:
    """Text to train with, to choose by and to report on."""
    before, report = split(encode(plays()))
    cut = len(before) - len(report)
    return before[:cut], before[cut : cut + EVALUATED], report[:EVALUATED]


@torch.no_grad()
def losses(model: nn.Module, text: Tensor, length: int) -> Tensor:
    """Nats at each position of windows of a text, their mean, (length,)."""
    inputs, targets = windows(text, length)
    chunks = zip(inputs.split(32), targets.split(32), strict=True)
    each = [
        nn.functional.cross_entropy(model(x).transpose(1, 2), y, reduction="none")
        for x, y in chunks
    ]
    return torch.cat(each).mean(dim=0)


def trial(name: str, _setting: object, lr: float, seed: int) -> dict:
    """Train one model."""
    training, choose, report = parts()
    generator = set_seed(seed)
    model = LanguageModel(CONFIG, ENCODINGS[name]())
    nn.init.normal_(model.embedding.weight, std=STD)
    draw = partial(character_batch, training, BATCH, CONTEXT, generator)
    train(model, draw, STEPS, lr, warmup=WARMUP)
    if seed in CHOOSING_SEEDS:
        return {"validation": round(losses(model, choose, CONTEXT).mean().item(), 4)}
    far = losses(model, report, LONGEST)
    return {
        "loss": round(losses(model, report, CONTEXT).mean().item(), 4),
        "beyond": [round(far[start:end].mean().item(), 4) for start, end in PARTS],
        "parameters": count_parameters(model),
    }


def main() -> None:
    """Search, compare, write the table."""
    search(
        "order_text",
        trial,
        models=tuple(ENCODINGS),
        rates=RATES,
        search_seeds=CHOOSING_SEEDS,
        lower_is_better=True,
        equal=0.01,
        about={
            "text": "tinyshakespeare",
            "context": CONTEXT,
            "parts": PARTS,
            "batch": BATCH,
            "steps": STEPS,
            "warmup": WARMUP,
            "d_model": CONFIG.d_model,
            "n_layers": CONFIG.n_layers,
        },
    )


if __name__ == "__main__":
    main()
