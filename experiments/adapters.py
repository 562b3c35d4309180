"""Low-rank adapters beside full fine-tuning: `python -m experiments.adapters --jobs 1` (`--help`).

SmolLM2 learns lecture 10's questions from 40 of them, each seen once: 10 steps at batch size 4 on
the tokens of the answers, with weights in float32 and matrix products in bfloat16. Models:

    adapters         of rank 8 beside the queries and values of all 30 blocks, as in lecture 13
    all weights      full fine-tuning
    reader           lecture 10's reader, with the flag, trained on the same questions only

Each model has its own grid of learning rates. A step takes seconds, so there is one rank, and the
rate is chosen by one seed and not by three: by the loss on the answers of 32 other questions.
Writes `helpers/results/stored/adapters.json`, for 70 held-out questions of each seed's own:

    exact, f1       of greedy answers
    kind            share of answers with a value of the kind that was asked for
    sentence        share of answers with a value from the right sentence
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache

import torch
from torch import Tensor

from experiments import question_answering, real_model
from experiments.adapter_costs import RANK, AnswerLogits, batch_of
from experiments.search import search
from helpers import pretrained
from helpers.adapters import add_adapters
from helpers.apps.question_answering import best_spans
from helpers.data import questions as facts
from helpers.data.questions import Asked, to_batch
from helpers.pretrained import Pretrained
from helpers.tokens import IGNORE_INDEX
from helpers.training import count_parameters, masked_cross_entropy, set_seed, train

RATES = {
    "adapters": (1e-3, 3e-3, 1e-2, 3e-2),
    "all weights": (1e-5, 3e-5, 1e-4, 3e-4),
    "reader": (1e-3, 3e-3, 1e-2, 3e-2),
}
STEPS, BATCH, WARMUP = 10, 4, 1
READER_STEPS, READER_BATCH = question_answering.STEPS, question_answering.BATCH
SEARCH_SEED, SEEDS = 100, (0, 1, 2)
VALIDATION, VALIDATION_SEED = 32, 3000
TEST, TEST_SEED = 70, 4000


@cache
def untouched() -> Pretrained:
    """The pretrained model, read once by each process."""
    return pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))


def trial(model: str, setting: str, lr: float, seed: int) -> dict:
    """Train one model; the seeds of the comparison are measured on the held-out questions."""
    generator = set_seed(seed)
    some = [facts.ask(generator) for _ in range(STEPS * BATCH)]
    return (reader if model == "reader" else tuned)(model, some, lr, seed)


def tuned(model: str, some: list[Asked], lr: float, seed: int) -> dict:
    """SmolLM2, trained in part or as a whole."""
    lm = replace(untouched(), model=copy.deepcopy(untouched().model))
    if model == "adapters":
        add_adapters(lm.model, RANK)
    answering = AnswerLogits(lm.model)
    batches = iter(some[i : i + BATCH] for i in range(0, len(some), BATCH))
    with torch.autocast("cpu", torch.bfloat16):
        train(answering, lambda: answers_of(lm, next(batches)), STEPS, lr, warmup=WARMUP)
    others = real_model.asked(VALIDATION, VALIDATION_SEED)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        tokens, targets = answers_of(lm, others)
        loss = masked_cross_entropy(answering(*tokens), targets).item()
    found = {"validation": round(loss, 3), "parameters": count_parameters(lm.model)}
    if seed in SEEDS:
        line_break = lm.token_id("\n")
        found |= measure(replace(lm, eos_id=line_break), seed)
    return found


def answers_of(lm: Pretrained, some: list[Asked]) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """A batch for `AnswerLogits`, with the tokens of the answers as targets (1, n)."""
    tokens, targets = batch_of(lm, some)
    where = targets != IGNORE_INDEX
    return (tokens, where), targets[where][None]


def measure(lm: Pretrained, seed: int) -> dict[str, float]:
    """Scores of greedy answers to the held-out questions, in bfloat16; `eos_id` ends an answer."""
    test = real_model.asked(TEST, TEST_SEED + seed)
    lm = replace(lm, model=copy.deepcopy(lm.model).to(torch.bfloat16))
    said = real_model.answers(lm, "completion", test)
    return real_model.scores(list(zip(said, test, strict=True)))


def reader(model: str, some: list[Asked], lr: float, seed: int) -> dict:
    """Lecture 10's reader, with as many steps as there, on these questions only."""
    own = question_answering.make("flag")
    generator = torch.Generator().manual_seed(seed)

    def batch() -> tuple:
        chosen = torch.randint(len(some), (READER_BATCH,), generator=generator)
        return to_batch([some[i] for i in chosen])

    train(own, batch, READER_STEPS, lr, warmup=question_answering.WARMUP)
    with torch.no_grad():
        pair, spans = to_batch(real_model.asked(VALIDATION, VALIDATION_SEED))
        loss = masked_cross_entropy(own(*pair), spans).item()
        test = real_model.asked(TEST, TEST_SEED + seed)
        found, _ = best_spans(own(*to_batch(test)[0]))
    said = [" ".join(q.context[a : b + 1]) for q, (a, b) in zip(test, found.tolist(), strict=True)]
    pairs = list(zip(said, test, strict=True))
    return {
        "validation": round(loss, 3),
        "parameters": count_parameters(own),
        **real_model.scores(pairs),
    }


if __name__ == "__main__":
    search(
        "adapters",
        trial,
        tuple(RATES),
        rates=RATES,
        seeds=SEEDS,
        search_seeds=(SEARCH_SEED,),
        lower_is_better=True,
        about={
            "rank": RANK,
            "steps": STEPS,
            "batch": BATCH,
            "warmup": WARMUP,
            "questions": STEPS * BATCH,
            "validation_questions": VALIDATION,
            "held_out": TEST,
            "reader_steps": READER_STEPS,
            "reader_batch": READER_BATCH,
        },
    )
