"""The bottleneck in one sentence, and measured: `python -m experiments.bottleneck`.

About eight minutes of one core. Two LSTMs of `experiments/translation.py`, the one without
attention that does best there (forget bias 3, a wide state, four times the steps) and the one with
attention, are trained as there on sentences of one to three clauses, from the first of its seeds.
Both translate one sentence of its test set: of those with three clauses, each of which somebody
might say (`is_likely`), the first that the LSTM without attention gets wrong.

Then the LSTM without attention is trained again, with one change: its decoder receives only the
first `KEPT` of the numbers of the encoder's last hidden state, and as many of its cell state; the
others are zero. Nothing else changes: seeds, parameters, steps, and the rate, which is the one that
was chosen for the whole state.

Writes `helpers/results/stored/bottleneck.json`:

    asked     how many such sentences there are, and how many of them it gets wrong
    source    the English words
    right     the meanings of the words of the right translation, in their order
    written   the same for what each model writes
    width     how many numbers the hidden state has
    narrowed  for each training: how many of them the decoder receives (`kept`), the seed, and
              `exact`: the share of new sentences with every word right, by number of clauses
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from experiments.beams import is_likely
from experiments.search import SEEDS
from experiments.translation import (
    STEPS,
    TEST_SEED,
    WARMUP,
    build,
    corpus,
    draw,
    greedy,
    held_out,
    shares,
)
from helpers.data.kannada import Sentence, gloss, translation_batch
from helpers.results.comparison import results
from helpers.training import set_seed, train

TABLE = Path(__file__).parent.parent / "helpers" / "results" / "stored" / "bottleneck.json"
HELPED = "LSTM, bias 3, wide, longer"
MODELS, CLAUSES, KEPT = (HELPED, "LSTM, attention"), 3, (14, 56)


class NarrowEncoder(nn.Module):
    """An LSTM whose last state is handed on in part: the first `kept` numbers, the others zero."""

    def __init__(self, lstm: nn.LSTM, kept: int) -> None:
        super().__init__()
        self.lstm, self.kept = lstm, kept

    def forward(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """All states, and the narrowed last one: hidden and cell state."""
        states, (hidden, cell) = self.lstm(x)
        handed_on = torch.arange(hidden.shape[-1]) < self.kept  # (d_model,)
        return states, (hidden * handed_on, cell * handed_on)


def trained(name: str, seed: int, kept: int | None = None) -> nn.Module:
    """A model as in `experiments/translation.py`, at its rate there."""
    generator = set_seed(seed)
    model = build(name)
    if kept is not None:
        model.encoder = NarrowEncoder(model.encoder, kept)
    draw_one = partial(draw, corpus(CLAUSES)[1], lambda batch: batch, generator)
    steps = STEPS * (4 if "longer" in name else 1)
    train(model, draw_one, steps, results("translation").rate(name, CLAUSES), warmup=WARMUP)
    return model.eval()


def exact_matches(model: nn.Module) -> list[float]:
    """The share of new sentences with every word right, by number of clauses."""
    tests = (held_out(n, CLAUSES, TEST_SEED) for n in range(1, CLAUSES + 1))
    return [round(shares(model, translation_batch(pairs))[1], 3) for pairs in tests]


def somebody_might_say(pair: Sentence) -> bool:
    """Whether every clause of a sentence is likely."""
    clauses = " ".join(pair.source).split(" and ")
    return all(is_likely(Sentence(tuple(clause.split()), (), ())) for clause in clauses)


def main() -> None:
    """Train both, let them translate, train the narrowed ones, and write the file."""
    torch.set_num_threads(1)
    start = time.process_time()
    pairs = [p for p in held_out(CLAUSES, CLAUSES, TEST_SEED) if somebody_might_say(p)]
    texts = {name: greedy(trained(name, SEEDS[0]), pairs) for name in MODELS}
    wrong = [a != b.target for a, b in zip(texts[HELPED], pairs, strict=True)]
    first = wrong.index(True)
    pair = pairs[first]
    written = {name: [gloss(word) for word in texts[name][first]] for name in MODELS}
    narrowed = [
        {"kept": kept, "seed": seed, "exact": exact_matches(trained(HELPED, seed, kept))}
        for kept in KEPT
        for seed in SEEDS
    ]
    table = {
        "made_by": "experiments/bottleneck.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "cpu_seconds": round(time.process_time() - start),
        "asked": [len(wrong), sum(wrong)],
        "source": list(pair.source),
        "right": [gloss(word) for word in pair.target],
        "written": written,
        "width": build(HELPED).encoder.hidden_size,
        "narrowed": narrowed,
    }
    lines = [f' "{name}": {json.dumps(part, ensure_ascii=False)}' for name, part in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
