"""The project's comparison: sums written plain or reversed (`python -m experiments.addition`).

Four minutes of one core (`--help`). The same model, the same pairs and steps. Settings:

    sums             numbers of up to three digits, with all carries
    no carries       the control: each digit of the answer is the last digit of a sum of two

Writes `helpers/results/stored/addition.json`. Shares are of test pairs that no training has seen,
in either order of a and b:

    test             whole answers
    places           digits of the answer, units first
    carries          for 0 to n carries, the number of right answers and of all
"""

from __future__ import annotations

import torch

from experiments.search import search
from grading.tasks.lecture_14.accuracy_by_carries import accuracy_by_carries
from grading.tasks.lecture_14.Adder import Adder
from grading.tasks.lecture_14.greedy_sums import greedy_sums
from grading.tasks.lecture_14.inputs_and_targets import inputs_and_targets
from grading.tasks.lecture_14.read_answers import read_answers
from grading.tasks.lecture_14.split_pairs import split_pairs
from grading.tasks.lecture_14.sum_tokens import sum_tokens
from grading.tasks.lecture_14.train_keep_best import train_keep_best
from helpers.training import count_parameters, set_seed

ORDERS = ("plain", "reversed")
SETTINGS = ("sums", "no carries")
N = 3
SIZES = {"d_model": 32, "n_layers": 2, "n_heads": 4}
STEPS, BATCH, WARMUP, EVERY = 300, 128, 50, 100
SPLIT_SEED, PAIRS, ASIDE = 1, 50_000, 1000


def tokens_of(pairs: torch.Tensor, order: str, setting: str) -> torch.Tensor:
    """Whole sums (·, 3n + 3) of pairs (·, 2)."""
    tokens = sum_tokens(*pairs.T, N, order == "reversed")
    if setting == "no carries":
        digits = (tokens[:, :N] + tokens[:, N + 1 : 2 * N + 1]) % 10  # (·, n)
        answer = torch.cat([torch.zeros_like(digits[:, :1]), digits], dim=1)
        tokens[:, 2 * N + 2 :] = answer.flip(1) if order == "reversed" else answer
    return tokens


def trial(order: str, setting: str, lr: float, seed: int) -> dict:
    """Train one model, and measure what it writes."""
    train, validation, test = split_pairs(1000, ASIDE, ASIDE, set_seed(SPLIT_SEED))
    generator = set_seed(seed)
    model = Adder(N, **SIZES)
    known = tokens_of(
        train[torch.randperm(len(train), generator=generator)[:PAIRS]], order, setting
    )
    aside = tokens_of(validation, order, setting)

    def make_batch():
        rows = torch.randint(len(known), (BATCH,), generator=generator)
        return inputs_and_targets(known[rows], N)

    measured = train_keep_best(
        model, make_batch, STEPS, lr, WARMUP, lambda model: whole(model, aside), EVERY
    )
    tokens = tokens_of(test, order, setting)
    written = greedy_sums(model, tokens[:, : 2 * N + 2], N)
    right = (written == tokens)[:, 2 * N + 2 :]  # (·, n + 1)
    found = {
        "validation": max(measured),
        "test": right.all(dim=1).double().mean().item(),
        "places": (right if order == "reversed" else right.flip(1)).double().mean(dim=0).tolist(),
        "curve": measured,
        "parameters": count_parameters(model),
    }
    if setting == "sums":
        answers = read_answers(written, N, order == "reversed")
        found["carries"] = accuracy_by_carries(*test.T, answers, N).tolist()
    return found


def whole(model: Adder, tokens: torch.Tensor) -> float:
    """The share of answers that are right from the first digit to the last."""
    written = greedy_sums(model, tokens[:, : 2 * N + 2], N)
    return (written == tokens).all(dim=1).double().mean().item()


if __name__ == "__main__":
    search(
        "addition",
        trial,
        ORDERS,
        SETTINGS,
        rates=(3e-3, 1e-2, 3e-2, 1e-1),
        seeds=range(5),
        equal=0.005,
        about={"steps": STEPS, "batch": BATCH, "pairs": PAIRS, **SIZES},
    )
