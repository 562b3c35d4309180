"""Readers with and without a flag: `python -m experiments.question_answering` (`--help`).

Each reader answers questions about contexts of `helpers.data.questions`, all with an answer.
Models:

    flag             a transformer; "occurs in the question" is added to the words of the context
    no flag          the same without it
    random flag      as many flags, on words drawn at random
    likeness         no flag, but how like its nearest word of the question each word's embedding is
    recurrent, …     LSTMs without attention, with the flag and without

All have equal parameters within 2 %, steps and data. Writes
`helpers/results/stored/question_answering.json`: exact match on known and on unseen names; and for
known names the shares of answers with a value of the right kind, and from the right sentence.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from experiments.search import search
from helpers.apps.metrics import exact_match
from helpers.apps.question_answering import Reader, RecurrentReader, best_spans, occurs_in
from helpers.data.questions import (
    FACTS_VOCABULARY,
    NAMES,
    Asked,
    ask,
    reading_batch,
    sides,
    to_batch,
)
from helpers.tokens import PAD
from helpers.training import count_parameters, set_seed, train

MODELS = ("flag", "no flag", "random flag", "likeness", "recurrent, flag", "recurrent, no flag")
STEPS, BATCH, WARMUP, HELD_OUT = 500, 32, 50, 500
VALIDATION_SEED, TEST_SEED = 2000, 1000


def random_flag(context: Tensor, question: Tensor) -> Tensor:
    """As many words of each context as occur in the question, but any words."""
    flag = occurs_in(context, question)  # (batch, T_c)
    lots = torch.rand(flag.shape).masked_fill(context == PAD, 2.0)  # filler comes last
    return lots.argsort(dim=1).argsort(dim=1) < flag.sum(dim=1, keepdim=True)


def likeness(reader: Reader):
    """For each word the largest cosine with a word of the question, from trained embeddings."""

    def flag(context: Tensor, question: Tensor) -> Tensor:
        words = F.normalize(reader.words, dim=-1)  # (vocab, d_model)
        cosines = words[context] @ words[question].mT  # (batch, T_c, T_q)
        return cosines.masked_fill((question == PAD)[:, None], -1.0).amax(dim=-1)

    return flag


def make(model: str) -> Reader | RecurrentReader:
    """An untrained reader."""
    flags = {"no flag": None, "random flag": random_flag}
    kind = RecurrentReader if model.startswith("recurrent") else Reader
    flag = flags.get(model.split(", ")[-1], occurs_in)
    reader = kind(len(FACTS_VOCABULARY), flag=flag, fixed=NAMES)
    if model == "likeness":
        reader.flag = likeness(reader)
    return reader


def trial(model: str, setting: str, lr: float, seed: int) -> dict:
    """Train one reader and measure it on questions that it has not seen."""
    return measured(lambda: make(model), lr, seed)[1]


def measured(
    new: Callable[[], nn.Module], lr: float, seed: int, steps: int = STEPS
) -> tuple[nn.Module, dict]:
    """A new reader after training, and its row: scores on questions that it has not seen."""
    generator = set_seed(seed)
    reader = new()
    train(reader, lambda: reading_batch(BATCH, generator), steps, lr, warmup=WARMUP)
    known = measure(reader, TEST_SEED, "known")
    return reader, {
        "validation": measure(reader, VALIDATION_SEED, "known")["exact"],
        "known": known["exact"],
        "unseen": measure(reader, TEST_SEED, "unseen")["exact"],
        "kind": known["kind"],
        "sentence": known["sentence"],
        "parameters": count_parameters(reader),
    }


@torch.no_grad()
def measure(reader: Reader | RecurrentReader, seed: int, names: str) -> dict[str, float]:
    """Shares of held-out questions: answered exactly, with the right kind, from its sentence."""
    generator = torch.Generator().manual_seed(seed)
    asked = [ask(generator, names) for _ in range(HELD_OUT)]
    pair, _ = to_batch(asked)
    spans, _ = best_spans(reader(*pair))
    rows = [(right(a, s), *sides(a, s)) for a, s in zip(asked, spans.tolist(), strict=True)]
    shares = [sum(column) / HELD_OUT for column in zip(*rows, strict=True)]
    return dict(zip(("exact", "kind", "sentence"), shares, strict=True))


def right(asked: Asked, span: list[int]) -> bool:
    """Whether the words of the span are the answer's."""
    first, last = span
    return exact_match(" ".join(asked.context[first : last + 1]), asked.answer)


if __name__ == "__main__":
    search(
        "question_answering",
        trial,
        MODELS,
        equal=0.03,
        about={"steps": STEPS, "batch": BATCH, "warmup": WARMUP, "held_out": HELD_OUT},
    )
