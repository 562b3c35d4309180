"""Readers from which something is hidden: `python -m experiments.reader_controls` (`--help`).

Trained and measured like the readers of `experiments.question_answering`. Models:

    causal           with the flag, but a word of the passage sees only itself and the words before
    passage only     the question is one word, "?", whatever was asked; no flag
    question only    all words of the passage are replaced by one; no flag

Writes `helpers/results/stored/reader_controls.json`: exact match on known and on unseen names, the
shares of answers with a value of the right kind and from the right sentence; and exact match by
whether both cues stand before the answer (`cues_first`), or one at least comes after it
(`answer_first`). The head holds `longer`: the same of one causal reader after more steps, at the
rate that the search chose.
"""

from __future__ import annotations

import time

import torch
from torch import Tensor, nn

from experiments.question_answering import (
    BATCH,
    HELD_OUT,
    STEPS,
    TEST_SEED,
    WARMUP,
    measured,
    right,
)
from experiments.search import search
from helpers.apps.question_answering import Reader, best_spans
from helpers.data.questions import FACTS_VOCABULARY, NAMES, Asked, ask, to_batch
from helpers.tokens import PAD

MODELS = ("causal", "passage only", "question only")
LONGER, LONGER_RATE, LONGER_SEED = 2000, 0.01, 0


class Blindfolded(nn.Module):
    """A reader without a flag, from which the question or the passage is hidden."""

    def __init__(self, hidden: str) -> None:
        super().__init__()
        self.reader = Reader(len(FACTS_VOCABULARY), flag=None, fixed=NAMES)
        self.hidden = hidden

    def forward(self, context: Tensor, question: Tensor) -> Tensor:
        """Two logits for each word of the passage, which may be hidden."""
        ids = FACTS_VOCABULARY.ids
        if self.hidden == "question":
            question = torch.full_like(question[:, :1], ids["?"])  # (batch, 1)
        else:
            context = torch.where(context == PAD, PAD, ids["something"])  # (batch, T_c)
        return self.reader(context, question)


def make(model: str) -> nn.Module:
    """An untrained reader."""
    if model == "causal":
        return Reader(len(FACTS_VOCABULARY), fixed=NAMES, causal=True)
    return Blindfolded("question" if model == "passage only" else "passage")


def cues_first(asked: Asked) -> bool:
    """Whether both cues of the answer's sentence stand before the answer."""
    words = set(asked.question)
    ends = [
        last
        for first, last in asked.sentence.values()
        if set(asked.context[first : last + 1]) <= words
    ]
    return max(ends) < asked.span[0]


@torch.no_grad()
def by_order(reader: nn.Module) -> dict[str, float]:
    """Exact match where both cues come before the answer, and where they do not."""
    generator = torch.Generator().manual_seed(TEST_SEED)
    asked = [ask(generator) for _ in range(HELD_OUT)]
    spans, _ = best_spans(reader(to_batch(asked)[0][0], to_batch(asked)[0][1]))
    groups: dict[str, list[bool]] = {"cues_first": [], "answer_first": []}
    for one, span in zip(asked, spans.tolist(), strict=True):
        groups["cues_first" if cues_first(one) else "answer_first"].append(right(one, span))
    return {name: round(sum(group) / len(group), 4) for name, group in groups.items()}


def trial(model: str, setting: str, lr: float, seed: int, steps: int = STEPS) -> dict:
    """Train one reader and measure it on questions that it has not seen."""
    reader, row = measured(lambda: make(model), lr, seed, steps)
    return row | by_order(reader)


def longer() -> dict[str, object]:
    """One causal reader after more steps."""
    torch.set_num_threads(1)
    begun = time.process_time()
    run = trial("causal", "", LONGER_RATE, LONGER_SEED, LONGER)
    return {
        "steps": LONGER,
        "lr": LONGER_RATE,
        "seed": LONGER_SEED,
        "cpu_seconds": round(time.process_time() - begun),
        **{field: run[field] for field in ("known", "unseen", "cues_first", "answer_first")},
    }


if __name__ == "__main__":
    head = {"steps": STEPS, "batch": BATCH, "warmup": WARMUP, "held_out": HELD_OUT}
    about = {**head, "longer": longer()}
    search("reader_controls", trial, MODELS, equal=0.03, about=about)
