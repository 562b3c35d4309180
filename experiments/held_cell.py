"""What the LSTM of lecture 1 writes while a cell is held: `python -m experiments.held_cell`.

The weights are those of `experiments/character_lstm.py`. Holding a cell means that after each
character it is set to its mean on the tenth of the plays that chose the cells. Held are the two
cells that follow the place in the line most closely, in that order, after no cell at all. Lines are
counted in many texts, as in `character_lstm`. Writes `helpers/results/stored/held_cell.json`:

    samples      for each held cell, its `mean`, and a `text` of `LENGTH` characters after `START`,
                 sampled from the same seed at the temperature of `character_lstm`
    every        for each of the 128 cells, held at its mean: the `median` line
    shown        the same for the two cells, if not the cell is held but what the network reads of
                 it, its number in the hidden state, at the mean of that number
    at           the median line while the second of the two is held at each of `VALUES`
    losses       of the true text, on the last tenth of the plays, with no cell and with each of the
                 two held: nats at the characters that are line breaks, and at all others
    networks     of trainings from `OTHER_SEEDS` at the rate of `character_lstm`: the median line,
                 and for the `HELD` closest cells the correlations with the place in the line on the
                 text that chose them and on the last tenth, the mean, and the median line if held
"""

from __future__ import annotations

import time

import torch
from torch import Tensor, nn

from experiments import character_lstm as first
from experiments.character_lstm import READ, SEED, SKIPPED, TEMPERATURE, cell_states, parts
from experiments.search import write_table
from helpers.apps.character_lstm import model as new_model
from helpers.apps.character_lstm import trained_character_lstm
from helpers.data.shakespeare import character_batch, decode, encode, windows
from helpers.results.store import stored
from helpers.rnn import RecurrentModel
from helpers.training import set_seed, train

START, LENGTH, HELD = "ROMEO:\n", 200, 2
VALUES = (-0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6)
OTHER_SEEDS = (1, 2, 3)
PLACE = "place in the line"


@torch.no_grad()
def write(model: RecurrentModel, n: int, cell: int | None = None, value: float = 0.0) -> str:
    """Sample n characters after `START`, with a cell of the state held at a value."""
    generator, state = torch.Generator().manual_seed(SEED), None
    new, text = encode(START), ""
    for _ in range(n):
        for vector in model.embedding(new).split(1):  # (1, d_model) each
            h, state = model.recurrence(vector, state)
            if cell is not None:
                state[1][..., cell] = value
        p = (model.lm_head(h[-1]) / TEMPERATURE).softmax(dim=-1)  # (vocab,)
        new = torch.multinomial(p, 1, generator=generator)
        text += decode(new)
    return text


def means(model: RecurrentModel) -> list[float]:
    """The mean of each cell on the tenth of the plays that chose the cells."""
    with torch.no_grad():
        return cell_states(model, windows(parts()[1], READ)[0]).mean(dim=0).tolist()


@torch.no_grad()
def hidden_mean(model: RecurrentModel, cell: int) -> float:
    """The mean of one number of the hidden state on the same text."""
    h, _ = model.recurrence(model.embedding(windows(parts()[1], READ)[0]))  # (n, READ, d_model)
    return h[:, SKIPPED:, cell].mean().item()


@torch.no_grad()
def losses(model: RecurrentModel, cell: int | None, value: float) -> dict:
    """Nats at line breaks and at all other characters of the last tenth, with a cell held."""
    inputs, targets = windows(parts()[2], READ)
    found, state = [], None
    for x, target in zip(model.embedding(inputs).split(1, dim=1), targets.T, strict=True):
        h, state = model.recurrence(x, state)
        if cell is not None:
            state[1][..., cell] = value
        logits = model.lm_head(h[:, 0])  # (n, vocab)
        found.append(nn.functional.cross_entropy(logits, target, reduction="none"))
    nats = torch.stack(found, dim=1)[:, SKIPPED:]  # (n, READ - SKIPPED)
    breaks = targets[:, SKIPPED:] == encode("\n")
    kinds = {"line breaks": nats[breaks], "others": nats[~breaks]}
    return {"cell": cell} | {name: round(part.mean().item(), 3) for name, part in kinds.items()}


def other_network(seed: int, lr: float) -> dict:
    """Train again from another seed, and hold the cells that follow the line most closely."""
    training, choose, report = parts()
    generator, model = set_seed(seed), new_model()

    def draw() -> tuple[Tensor, Tensor]:
        return character_batch(training, first.BATCH, first.CONTEXT, generator)

    train(model, draw, first.STEPS, lr, warmup=first.WARMUP)
    chosen, reported = (first.correlations(model, text)[PLACE] for text in (choose, report))
    mean, cells = means(model), []
    for cell in chosen.abs().argsort(descending=True)[:HELD].tolist():
        row = {"chosen": chosen[cell].item(), "reported": reported[cell].item(), "mean": mean[cell]}
        held = first.written_lines(model, cell, mean[cell])["median"]
        numbers = {name: round(value, 3) for name, value in row.items()}
        cells.append({"cell": cell} | numbers | {"median": held})
    free = first.written_lines(model, None, 0.0)["median"]
    return {"seed": seed, "loss": first.loss(model, report), "median": free, "cells": cells}


def main() -> None:
    """Write once freely and once with each cell held, store the texts, and measure the rest."""
    torch.set_num_threads(1)
    start = time.process_time()
    model = trained_character_lstm()
    mean = means(model)
    closest = [row["cell"] for row in stored("character_lstm")["cells"][:HELD]]
    samples: list[dict] = [{"cell": None, "mean": None, "text": write(model, LENGTH)}]
    for cell in closest:
        text = write(model, LENGTH, cell, mean[cell])
        samples.append({"cell": cell, "mean": round(mean[cell], 3), "text": text})
    every = [
        {"cell": k, "median": first.written_lines(model, k, value)["median"]}
        for k, value in enumerate(mean)
    ]
    shown = [
        {
            "cell": k,
            "median": first.written_lines(model, k, hidden_mean(model, k), of="hidden")["median"],
        }
        for k in closest
    ]
    at = [
        {"value": v, "median": first.written_lines(model, closest[1], v)["median"]} for v in VALUES
    ]
    lost = [losses(model, None, 0.0), *(losses(model, k, mean[k]) for k in closest)]
    networks = [other_network(seed, stored("character_lstm")["lr"]) for seed in OTHER_SEEDS]
    head = {
        "made_by": "experiments/held_cell.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "text": "tinyshakespeare",
        "start": START,
        "seed": SEED,
        "temperature": TEMPERATURE,
        "cpu_seconds": round(time.process_time() - start),
    }
    parts_ = {"every": every, "shown": shown, "at": at, "losses": lost, "networks": networks}
    write_table("held_cell", head, samples=samples, **parts_)


if __name__ == "__main__":
    main()
