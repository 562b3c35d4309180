"""The trainings of lecture 6: `python -m experiments.order`.

Two tasks (the setting), on texts up to eight times as long as those of the training:

    shift        name the token three to the left: 16 tokens in training, 16 to 128 in the tests
    agreement    as in lecture 1: 0 to 3 attractors in training; 3 to 33, all opposing, in the tests

`accuracy` is the share right at each of `lengths`, or of `attractors`, whose sentences have the
mean number of `words`. With the shift only the second half of each text is asked, so that from
twice the length on every place that is asked lies beyond the training (but for one, where a token
for the beginning stands in front). `validation` is the mean share right on other texts of the first
two lengths; in the setting "agreement, chosen at 4×" it is that of the third length alone, since
rates that are alike on short texts may not be on long ones. "few speeds" are rotary positions with
the speeds of a head of 16 features, repeated, in a head of 64; "base 2" are those whose slowest
hands turn far more than usual. "Blocks" are those of lecture 7: attention with layer norm, and a
feed-forward network. "none, 2 blocks" reads a token for the beginning, too; the three rows after it
lack the token, the second block, or what blocks have besides attention.

The head holds `more_seeds`: agreement at 8× from five further seeds, at rates that the searches
chose; and `more_steps`: the shift at 1× after 2,000 steps for those three rows, at the rates of the
search. For the bare layers it chose 0.03 by a hair; here they have 0.003, the better one of 0.003
and 0.01 in it.

`Reader` and `shift_batch` are those of the lecture. The result depends on the seeds and, in the
second digit, on the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

import torch
from torch import Tensor, nn

from experiments.search import SEEDS, search
from helpers.attention import MultiHeadAttention
from helpers.config import TransformerConfig
from helpers.data.agreement import AGREEMENT_VOCABULARY, agreement_batch
from helpers.masks import causal_mask
from helpers.models import TransformerModel
from helpers.positions import (
    ALiBiPositions,
    LearnedPositions,
    PositionEncoding,
    RotaryPositions,
    SinusoidalPositions,
)
from helpers.tokens import IGNORE_INDEX, PAD, Batch
from helpers.training import accuracy, count_parameters, set_seed, train

STEPS = {"shift": 300, "agreement": 400}
HELD_OUT = {"shift": 100, "agreement": 500}
CHOSEN_AT = {"shift": slice(0, 2), "agreement": slice(0, 2), "agreement, chosen at 4×": slice(2, 3)}
"""The settings, and the lengths at which each model's rate is chosen."""
LENGTHS = (16, 32, 64, 128)
ATTRACTORS = (3, 7, 16, 33)  # 1, 2, 4 and 8 times as many words on average
LONGEST = 5 * ATTRACTORS[-1] + 5  # words in the longest sentence
SYMBOLS = 16
BEGIN = SYMBOLS  # a token that stands before the first one
WORDS = len(AGREEMENT_VOCABULARY)


class FewSpeeds(RotaryPositions):
    """Rotary positions in which each 16 features turn alike, as those of a head of 16 do."""

    def rotate(self, q: Tensor, k: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Turn each 16 features of q and k (batch, heads, T, d_k) as a head of its own."""
        q, k = (x.unflatten(-1, (-1, 16)).transpose(2, 3).flatten(1, 2) for x in (q, k))
        turned = super().rotate(q, k, start)  # (batch, heads · d_k / 16, T, 16) each
        groups = (-1, q.shape[1] // 2)  # two heads
        q, k = (x.unflatten(1, (2, groups[1])).transpose(2, 3).flatten(3) for x in turned)
        return q, k


@dataclass(frozen=True)
class Kind:
    """One model of the comparison."""

    encoding: Callable[[int], PositionEncoding]  # of d_model
    d_k: int = 64
    n_layers: int = 1
    residual: bool = True
    blocks: bool = False
    begin: bool = False  # whether a token for the beginning stands in front


def no_encoding(d_model: int) -> PositionEncoding:
    """No encoding."""
    return PositionEncoding()


ENCODINGS = {
    "none": Kind(no_encoding),
    "learned": Kind(lambda d_model: LearnedPositions(LONGEST, d_model)),
    "sinusoidal": Kind(lambda d_model: SinusoidalPositions()),
    "rotary": Kind(lambda d_model: RotaryPositions()),
    "ALiBi": Kind(lambda d_model: ALiBiPositions(2)),
}
CONTROLS = {
    "rotary, d_k 16": Kind(lambda d_model: RotaryPositions(), d_k=16),
    "rotary, few speeds": Kind(lambda d_model: FewSpeeds()),
    "rotary, d_k 16, base 2": Kind(lambda d_model: RotaryPositions(base=2.0), d_k=16),
    "rotary, 2 layers": Kind(lambda d_model: RotaryPositions(), n_layers=2),
    "rotary, 2 layers, base 2": Kind(lambda d_model: RotaryPositions(base=2.0), n_layers=2),
    "rotary, 2 layers, no residual": Kind(
        lambda d_model: RotaryPositions(), n_layers=2, residual=False
    ),
    "rotary, 2 blocks": Kind(lambda d_model: RotaryPositions(), n_layers=2, blocks=True),
    "none, 2 blocks": Kind(no_encoding, d_k=32, n_layers=2, blocks=True, begin=True),
    "none, 2 blocks, no token": Kind(no_encoding, d_k=32, n_layers=2, blocks=True),
    "none, 1 block": Kind(no_encoding, d_k=32, blocks=True, begin=True),
    "none, 2 bare layers": Kind(no_encoding, d_k=32, n_layers=2, begin=True),
}
"""On the shift only."""
KINDS = ENCODINGS | CONTROLS


class Reader(nn.Module):
    """Embedding, some layers of attention, a linear readout."""

    def __init__(
        self,
        vocab: int,
        d_model: int,
        n_layers: int,
        encoding: PositionEncoding,
        d_k: int,
        residual: bool,
    ) -> None:
        super().__init__()
        self.encoding, self.residual = encoding, residual
        self.embedding = nn.Embedding(vocab, d_model)
        options = {"d_k": d_k, "d_v": d_model // 2, "positions": encoding}
        layers = (MultiHeadAttention(d_model, 2, **options) for _ in range(n_layers))
        self.layers = nn.ModuleList(layers)
        self.lm_head = nn.Linear(d_model, vocab)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (batch, T, vocab) for tokens (batch, T)."""
        mask = causal_mask(tokens.shape[1])  # (T, T)
        x = self.encoding.embed(self.embedding(tokens))  # (batch, T, d_model)
        for layer in self.layers:
            found = layer(x, mask=mask)  # (batch, T, d_model)
            x = x + found if self.residual else found
        return self.lm_head(x)


def make(model: str, task: str) -> nn.Module:
    """A fresh model: a reader for the shift, blocks for agreement and for some controls."""
    kind = KINDS[model]
    if task == "agreement":
        config = TransformerConfig(WORDS, d_model=32, n_layers=2, n_heads=2, d_ff=96)
        return TransformerModel(config, kind.encoding(32))
    encoding, vocab = kind.encoding(64), SYMBOLS + kind.begin
    if not kind.blocks:
        return Reader(vocab, 64, kind.n_layers, encoding, kind.d_k, kind.residual)
    config = TransformerConfig(vocab, 64, kind.n_layers, n_heads=2, n_outputs=SYMBOLS)
    network = TransformerModel(config, encoding)
    if kind.d_k != 32:  # heads as wide as those of the reader
        for block in network.blocks:
            options = {"d_k": kind.d_k, "d_v": 32, "positions": encoding}
            block.attention = MultiHeadAttention(64, 2, **options)
    return network


def shift_batch(batch: int, T: int, generator: torch.Generator, begin: bool = False) -> Batch:
    """Random tokens; the target is the token three places to the left."""
    tokens = torch.randint(SYMBOLS, (batch, T), generator=generator)
    targets = torch.full_like(tokens, IGNORE_INDEX)
    targets[:, 3:] = tokens[:, :-3]
    if begin:
        tokens = torch.cat([torch.full((batch, 1), BEGIN), tokens], dim=1)
        targets = torch.cat([torch.full((batch, 1), IGNORE_INDEX), targets], dim=1)
    return tokens, targets


def tests(task: str, seed: int, begin: bool) -> list[Batch]:
    """Texts of each length, the second half asked, or sentences with all attractors opposing."""
    generator = torch.Generator().manual_seed(seed)
    if task == "agreement":
        n = HELD_OUT["agreement"]
        return [agreement_batch(n, a, generator, opposing=True) for a in ATTRACTORS]
    batches = [shift_batch(HELD_OUT["shift"], T, generator, begin) for T in LENGTHS]
    for _, targets in batches:
        targets[:, : targets.shape[1] // 2] = IGNORE_INDEX
    return batches


def trial(name: str, setting: str, lr: float, seed: int, steps: int | None = None) -> dict:
    """Train one model on one task, for the steps of that task or for others."""
    task = setting.partition(",")[0]
    generator, begin = set_seed(seed), KINDS[name].begin
    model = make(name, task)

    def batch() -> Batch:
        if task == "agreement":
            return agreement_batch(64, (0, 3), generator, every_word=True)
        return shift_batch(32, LENGTHS[0], generator, begin)

    history = train(model, batch, steps or STEPS[task], lr)
    choosing = tests(task, 2000, begin)[CHOSEN_AT[setting]]
    other = [accuracy(model, test) for test in choosing]
    right = [accuracy(model, test) for test in tests(task, 1000, begin)]
    return {
        "validation": round(fmean(other), 3),
        "accuracy": [round(share, 3) for share in right],
        "loss": round(history.smoothed(50)[-1], 3),
        "parameters": count_parameters(model),
    }


MORE_SEEDS = tuple(range(3, 8))
MORE = (("none", 3e-3), ("ALiBi", 3e-3), ("ALiBi", 1e-2))


def more_seeds() -> dict[str, list[float]]:
    """Agreement at 8× from seeds that the comparison did not have."""
    torch.set_num_threads(1)
    return {
        f"{model}, {lr:g}": [
            trial(model, "agreement", lr, seed)["accuracy"][-1] for seed in MORE_SEEDS
        ]
        for model, lr in MORE
    }


MORE_STEPS = 2000
LACKING = (
    ("none, 2 blocks, no token", 3e-3),
    ("none, 1 block", 3e-3),
    ("none, 2 bare layers", 3e-3),
)


def more_steps() -> dict[str, list[float]]:
    """The shift at 1× after more steps, from the seeds of the comparison."""
    torch.set_num_threads(1)
    return {
        f"{model}, {lr:g}": [
            trial(model, "shift", lr, seed, MORE_STEPS)["accuracy"][0] for seed in SEEDS
        ]
        for model, lr in LACKING
    }


def main() -> None:
    """Search, compare, write the table."""
    sentences = tests("agreement", 1000, begin=False)
    words = [(tokens != PAD).sum(dim=1).double().mean().item() for tokens, _ in sentences]
    search(
        "order",
        trial,
        models=tuple(KINDS),
        settings=tuple(CHOSEN_AT),
        skip=lambda model, setting: model in CONTROLS and setting != "shift",
        about={
            "steps": STEPS,
            "held_out": HELD_OUT,
            "lengths": LENGTHS,
            "attractors": ATTRACTORS,
            "words": [round(mean, 1) for mean in words],
            "more_seeds": more_seeds(),
            "more_steps": more_steps(),
        },
    )


if __name__ == "__main__":
    main()
