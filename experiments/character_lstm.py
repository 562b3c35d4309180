"""An LSTM that writes for lecture 1: `python -m experiments.character_lstm`.

The text is Shakespeare's plays, cut as in `experiments/order_text.py`: the last tenth reports, the
tenth before it chooses the learning rate and the cells, and the rest trains. At each rate of
`RATES` the LSTM of `helpers.apps.character_lstm` is trained in full from the same seed, and the one
with the lowest loss on the tenth that chooses is kept. Writes its weights to
`helpers/results/stored/character_lstm.npz`, and to the file of that name in JSON:

    rates        for each rate, nats per character on the tenth that chooses, and the largest
                 correlation there of a cell with the place in the line, in absolute value
    stages       of the chosen run, after each number of steps of `CHECKPOINTS`: nats per character
                 on the last tenth, and what the network writes at temperature `TEMPERATURE`
    cells        for each property of `PROPERTIES`, and for the trained and the untrained network,
                 the `BEST` cells whose state correlates most with it, in absolute value, on
                 the tenth that chooses; with the correlation there and on the last tenth
    longer       of a training at the chosen rate with `LONGER` steps: nats per character on the
                 tenth that chooses, and the largest correlation there with the place in the line
    words        of the trained network's cell that correlates most with the place in the line: its
                 correlation with the number of words read of the line, on the last tenth
    held         what the trained network writes while one of these cells is held at its mean on the
                 tenth that chooses, and while none is: the number of `lines` in `TEXTS` texts of
                 `LENGTH` characters, and the `median` of their characters; names are left out

A property has a number for each character that was just read. For the cells, each text is read in
windows of `READ` characters, of which a correlation leaves out the first `SKIPPED`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from statistics import median

import torch
from torch import Tensor, nn

from experiments.search import write_table  # first: it silences the progress bars
from helpers.apps import character_lstm
from helpers.data.shakespeare import character_batch, decode, encode, plays, split, windows
from helpers.rnn import RecurrentModel
from helpers.training import count_parameters, set_seed, train

CONTEXT, BATCH, STEPS, WARMUP = 128, 32, 1500, 50
LONGER = 4 * STEPS
RATES = (0.004, 0.008, 0.016, 0.03)
SEED = 0
CHECKPOINTS = (0, 50, 100, 200, 500, 1000, STEPS)
TEMPERATURE, WRITTEN = 0.7, 240
READ, SKIPPED, BEST = 512, 128, 3
TEXTS, LENGTH = 64, 1000


def parts() -> tuple[Tensor, Tensor, Tensor]:
    """Text to train with, to choose by and to report on."""
    before, report = split(encode(plays()))
    cut = len(before) - len(report)
    return before[:cut], before[cut:], report


@torch.no_grad()
def loss(model: nn.Module, text: Tensor) -> float:
    """Nats per character of a text, in windows of `CONTEXT`."""
    inputs, targets = windows(text, CONTEXT)
    logits = model(inputs).transpose(1, 2)  # (n, vocab, CONTEXT)
    return round(nn.functional.cross_entropy(logits, targets).item(), 4)


@torch.no_grad()
def write(model: RecurrentModel, n: int, seed: int = 0) -> str:
    """A sample of n characters that follow an empty line."""
    generator, state = torch.Generator().manual_seed(seed), None
    ids = [encode("\n\n")]
    for _ in range(n):
        h, state = model.recurrence(model.embedding(ids[-1]), state)  # (1 or 2, d)
        p = (model.lm_head(h[-1]) / TEMPERATURE).softmax(dim=-1)  # (vocab,)
        ids.append(torch.multinomial(p, 1, generator=generator))
    return decode(torch.cat(ids[1:]))


def run(lr: float, steps: int = STEPS) -> tuple[float, list[dict], dict]:
    """Train at one rate: the loss that chooses, the stages, and the weights."""
    training, choose, report = parts()
    generator = set_seed(SEED)
    model = character_lstm.model()
    stages: list[dict] = []
    done = 0

    def look() -> None:
        written = write(model, WRITTEN)
        stages.append({"steps": done, "loss": loss(model, report), "sample": written})

    def draw() -> tuple[Tensor, Tensor]:
        nonlocal done
        if done in CHECKPOINTS:
            look()
        done += 1
        return character_batch(training, BATCH, CONTEXT, generator)

    train(model, draw, steps, lr, warmup=WARMUP)
    look()
    return loss(model, choose), stages, model.state_dict()


def inside_name(text: str) -> Tensor:
    """1 for each character of a speaker's name, which stands alone in a line before a colon."""
    inside = torch.zeros(len(text))
    for name in re.finditer(r"(?<=\n\n)[^\n:]+(?=:\n)", text):
        inside[name.start() : name.end()] = 1
    return inside


def place_in_line(text: str) -> Tensor:
    """How many characters of its line were read: 0 after a line break."""
    starts = [line for line in re.finditer(r"[^\n]*\n?", text) if line[0]]
    places = [torch.arange(1, len(line[0]) + 1) for line in starts]
    read = torch.cat(places)
    read[torch.tensor([character == "\n" for character in text])] = 0
    return read.float()


def words_in_line(text: str) -> Tensor:
    """How many spaces of its line were read: 0 after a line break."""
    counts, count = [], 0
    for character in text:
        count = 0 if character == "\n" else count + (character == " ")
        counts.append(count)
    return torch.tensor(counts).float()


Properties = Mapping[str, Callable[[str], Tensor]]
PROPERTIES: Properties = {"place in the line": place_in_line, "inside a name": inside_name}


def cell_states(model: RecurrentModel, inputs: Tensor) -> Tensor:
    """The cell state after each character of each window but the first `SKIPPED`."""
    state, cells = None, []
    for x in model.embedding(inputs).split(1, dim=1):  # (n, 1, d_model)
        _, state = model.recurrence(x, state)
        cells.append(state[1][0])  # (n, d_model)
    return torch.stack(cells, dim=1)[:, SKIPPED:].flatten(0, 1)  # (characters, d_model)


@torch.no_grad()
def correlations(
    model: RecurrentModel, text: Tensor, properties: Properties = PROPERTIES
) -> dict[str, Tensor]:
    """Of each property with each cell, (d_model,)."""
    inputs, _ = windows(text, READ)
    read = cell_states(model, inputs)  # (characters, d_model)
    found = {}
    for name, number in properties.items():
        wanted = number(decode(inputs.flatten())).view(inputs.shape)[:, SKIPPED:].flatten()
        found[name] = torch.corrcoef(torch.cat([wanted[:, None], read], dim=1).T)[0, 1:]
    return found


def largest(weights: dict[str, Tensor]) -> float:
    """The largest correlation of a cell with the place in the line, without its sign."""
    model = character_lstm.model()
    model.load_state_dict(weights)
    found = correlations(model, parts()[1])["place in the line"]
    return round(found.abs().max().item(), 3)


def best_cells(models: dict[str, RecurrentModel]) -> list[dict]:
    """The cells of each model that correlate most with each property."""
    _, choose, report = parts()
    rows = []
    for network, model in models.items():
        chosen, reported = correlations(model, choose), correlations(model, report)
        for name, r in chosen.items():
            for cell in r.abs().argsort(descending=True)[:BEST].tolist():
                row = {"network": network, "property": name, "cell": cell}
                there = {"chosen": r[cell].item(), "reported": reported[name][cell].item()}
                rows.append(row | {key: round(value, 3) for key, value in there.items()})
    return rows


@torch.no_grad()
def written_lines(
    model: RecurrentModel, number: int | None, value: float, *, of: str = "cell"
) -> dict:
    """Number and median length of the lines that a model writes while a number is held at a value.

    The number is one of the cell state or, with `of="hidden"`, of the hidden state.
    """
    generator, state = torch.Generator().manual_seed(SEED), None
    ids = [encode("\n").repeat(TEXTS, 1)]  # (TEXTS, 1)
    for _ in range(LENGTH):
        _, state = model.recurrence(model.embedding(ids[-1]), state)  # hidden state, cell state
        if number is not None:
            state[of == "cell"][..., number] = value
        p = (model.lm_head(state[0][0]) / TEMPERATURE).softmax(dim=-1)  # (TEXTS, vocab)
        ids.append(torch.multinomial(p, 1, generator=generator))
    texts = map(decode, torch.cat(ids[1:], dim=1))
    lines = [line for text in texts for line in text.split("\n")[:-1]]
    lengths = [len(line) for line in lines if line and not line.endswith(":")]
    return {of: number, "lines": len(lengths), "median": median(lengths)}


def main() -> None:
    """Train at each rate, keep the best, look into it, write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    runs = {lr: run(lr) for lr in RATES}
    best = min(runs, key=lambda lr: runs[lr][0])
    _, stages, weights = runs[best]
    set_seed(SEED)
    untrained, model = character_lstm.model(), character_lstm.model()
    model.load_state_dict(weights)
    character_lstm.save(model)
    head = {
        "made_by": "experiments/character_lstm.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "text": "tinyshakespeare",
        "parameters": count_parameters(model),
        "context": CONTEXT,
        "batch": BATCH,
        "steps": STEPS,
        "warmup": WARMUP,
        "lr": best,
        "temperature": TEMPERATURE,
        "half_precision_loss": loss(character_lstm.trained_character_lstm(), parts()[2]),
    }
    rates = [
        {"lr": lr, "validation": validation, "largest": largest(weights)}
        for lr, (validation, _, weights) in runs.items()
    ]
    validation, _, weights = run(best, LONGER)
    longer = {"steps": LONGER, "validation": validation, "largest": largest(weights)}
    cells = best_cells({"trained": character_lstm.trained_character_lstm(), "untrained": untrained})
    model, (inputs, _) = character_lstm.trained_character_lstm(), windows(parts()[1], READ)
    with torch.no_grad():
        means = cell_states(model, inputs).mean(dim=0).tolist()
    in_words = correlations(model, parts()[2], {"words": words_in_line})["words"]
    words = round(in_words[cells[0]["cell"]].item(), 3)
    tried = [row["cell"] for row in cells if row["network"] == "trained"]
    held = [written_lines(model, None, 0.0), *(written_lines(model, k, means[k]) for k in tried)]
    head |= {"longer": longer, "words": words}
    head["cpu_seconds"] = round(time.process_time() - start)
    write_table("character_lstm", head, rates=rates, stages=stages, cells=cells, held=held)


if __name__ == "__main__":
    main()
