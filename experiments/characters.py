"""A character-level language model of Shakespeare's plays for lecture 8.

    python -m experiments.characters [--jobs 2]

Writes `helpers/results/stored/characters.json`. The model is the course's `LanguageModel`, with 4
layers of 4 heads and width 128, on windows of `CONTEXT` characters. The text is cut three times:
the last tenth of it reports, the tenth before it chooses the learning rate (by runs of `SHORT`
steps) and the smoothing of the baselines, and the rest trains while these are chosen. Then
everything before the last tenth trains. Each entry of `runs` is one training:

    loss         nats per character on the held-out end, in windows of `CONTEXT` characters, of
                 which the first knows nothing of the text before
    last_half    the same, in the second half of each window
    held_out     the loss after each number of steps of `checkpoints`; the last is `loss`
    read         the same on as much of the text that trains
    samples      what the model writes after each of them, at temperature `TEMPERATURE`
    longest_copy the longest piece of 1,000 written characters that occurs in the training text,
                 and the same of 1,000 characters of the held-out text

In the head, `n_grams`: models that count. An n-gram knows the n − 1 characters before; where their
count is small, it leans on the (n − 1)-gram: (count + a · p of the shorter one) / (total + a). Each
has its own a, the best of a grid on the part that chooses. `sample` and `longest_copy` are of the
best of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache, partial

import torch
from torch import Tensor, nn

from experiments.search import SEARCH_SEEDS, search  # first: it silences the progress bars
from helpers.apps.story_model import START_STD
from helpers.config import TransformerConfig
from helpers.data.shakespeare import (
    character_batch,
    characters,
    decode,
    encode,
    plays,
    split,
    windows,
)
from helpers.generation import generate
from helpers.models import LanguageModel
from helpers.positions import RotaryPositions
from helpers.training import count_parameters, set_seed, train

CONTEXT, BATCH, STEPS, SHORT, WARMUP = 128, 16, 3000, 250, 50
CONFIG = TransformerConfig(len(characters()) + 1, d_model=128, n_layers=4, n_heads=4)
RATES = (0.001, 0.002, 0.004, 0.008)
CHECKPOINTS = (0, 30, 100, 300, 1000, 2000, STEPS)
TEMPERATURE = 0.8
WRITTEN = 240
ORDERS = (1, 2, 3, 4, 5, 6, 7)
SMOOTHING = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)


@cache
def parts() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Text to train with while choosing, to choose by, to train with in the end, to report on."""
    before, last = split(encode(plays()))
    cut = len(before) - len(last)
    return before[:cut], before[cut:], before, last


@torch.no_grad()
def losses(model: nn.Module, text: Tensor) -> Tensor:
    """Surprise in nats at each character of a text, in windows, (n, CONTEXT)."""
    inputs, targets = windows(text, CONTEXT)
    chunks = zip(inputs.split(128), targets.split(128), strict=True)
    by_chunk = [
        nn.functional.cross_entropy(model(x).transpose(1, 2), y, reduction="none")
        for x, y in chunks
    ]
    return torch.cat(by_chunk)


def write(model: nn.Module, n: int, seed: int = 0) -> str:
    """A sample of n characters that follow an empty line, read in windows of the context."""
    generator = torch.Generator().manual_seed(seed)
    text = encode("\n")[None]  # (1, 1)
    while text.shape[1] <= n:
        kept = text[:, -CONTEXT // 2 :]  # half the context, and then as much again
        more = generate(model, kept, CONTEXT // 2, temperature=TEMPERATURE, generator=generator)
        text = torch.cat([text, more[:, kept.shape[1] :]], dim=1)
    return decode(text[0, 1 : n + 1])


def trial(_model: str, _setting: object, lr: float, seed: int) -> dict:
    """Train one model: shortly for the search, or in full with samples on the way."""
    shorter, choose, longer, report = parts()
    generator = set_seed(seed)
    model = LanguageModel(CONFIG, RotaryPositions())
    nn.init.normal_(model.embedding.weight, std=START_STD)
    if seed in SEARCH_SEEDS:
        batch = partial(character_batch, shorter, BATCH, CONTEXT, generator)
        train(model, batch, SHORT, lr, warmup=WARMUP)
        return {"validation": round(losses(model, choose).mean().item(), 4)}

    seen = longer[: len(report)]
    held_out, read, samples, done = [], [], [], 0

    def look() -> None:
        held_out.append(round(losses(model, report).mean().item(), 4))
        read.append(round(losses(model, seen).mean().item(), 4))
        samples.append(write(model, WRITTEN))

    def draw() -> tuple[Tensor, Tensor]:
        nonlocal done
        if done in CHECKPOINTS:
            look()
        done += 1
        return character_batch(longer, BATCH, CONTEXT, generator)

    train(model, draw, STEPS, lr, warmup=WARMUP)
    look()
    surprise = losses(model, report)  # (n, CONTEXT)
    plain = decode(longer)
    return {
        "parameters": count_parameters(model),
        "loss": round(surprise.mean().item(), 4),
        "last_half": round(surprise[:, CONTEXT // 2 :].mean().item(), 4),
        "held_out": held_out,
        "read": read,
        "samples": samples,
        "longest_copy": [
            longest_copy(text, plain) for text in (write(model, 1000, 1), decode(report[:1000]))
        ],
    }


def longest_copy(text: str, source: str) -> int:
    """Length of the longest piece of `text` that occurs in `source`."""
    longest = 0
    for start in range(len(text)):
        while text[start : start + longest + 1] in source and start + longest < len(text):
            longest += 1
    return longest


class NGrams:
    """Counts of all n-grams of a text up to the longest order."""

    def __init__(self, text: str, longest: int) -> None:
        self.follow: dict[str, Counter] = defaultdict(Counter)
        for before in range(longest):
            for i in range(before, len(text)):
                self.follow[text[i - before : i]][text[i]] += 1
        self.totals = {context: counts.total() for context, counts in self.follow.items()}

    def probability(self, context: str, character: str, a: float) -> float:
        """Smoothed probability of a character after a context."""
        p = 1 / len(characters())
        for start in range(len(context), -1, -1):
            known = context[start:]
            if known not in self.totals:
                break
            p = (self.follow[known][character] + a * p) / (self.totals[known] + a)
        return p

    def loss(self, text: str, order: int, a: float) -> float:
        """Mean surprise in nats at each character of a text after the first."""
        chances = torch.tensor(
            [
                self.probability(text[max(0, i - order + 1) : i], text[i], a)
                for i in range(1, len(text))
            ],
            dtype=torch.float64,
        )
        return -chances.log().mean().item()

    def write(self, n: int, order: int, a: float, seed: int = 0) -> str:
        """A sample of n characters at the temperature of the transformer."""
        generator, text = torch.Generator().manual_seed(seed), "\n"
        for _ in range(n):
            known = text[max(0, len(text) - order + 1) :]
            p = torch.tensor([self.probability(known, c, a) for c in characters()])
            p = (p.log() / TEMPERATURE).softmax(dim=0)
            text += characters()[int(torch.multinomial(p, 1, generator=generator))]
        return text[1:]


def n_grams() -> dict[str, object]:
    """Loss of the n-grams, each with its own smoothing, and a sample of the best."""
    shorter, choose, longer, report = map(decode, parts())
    tried = NGrams(shorter, max(ORDERS))
    search = {
        order: {a: tried.loss(choose[:30_000], order, a) for a in SMOOTHING} for order in ORDERS
    }
    best = {order: min(row, key=row.get) for order, row in search.items()}
    counted = NGrams(longer, max(ORDERS))
    rows = [
        {
            "order": order,
            "a": best[order],
            "validation": {a: round(loss, 4) for a, loss in search[order].items()},
            "loss": round(counted.loss(report, order, best[order]), 4),
        }
        for order in ORDERS
    ]
    order = min(search, key=lambda order: search[order][best[order]])
    copied = longest_copy(counted.write(1000, order, best[order], seed=1), longer)
    sample = counted.write(WRITTEN, order, best[order])
    return {"rows": rows, "best": order, "sample": sample, "longest_copy": copied}


def main() -> None:
    """Count, train and write the table."""
    about = {
        "text": "tinyshakespeare",
        "characters": len(plays()),
        "context": CONTEXT,
        "batch": BATCH,
        "steps": STEPS,
        "search_steps": SHORT,
        "warmup": WARMUP,
        "checkpoints": CHECKPOINTS,
        "temperature": TEMPERATURE,
        "n_grams": n_grams(),
    }
    search(
        "characters",
        trial,
        ["transformer"],
        rates=RATES,
        seeds=(0,),
        search_seeds=SEARCH_SEEDS[:1],
        lower_is_better=True,
        equal=0.002,
        about=about,
    )


if __name__ == "__main__":
    main()
