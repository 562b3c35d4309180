"""What the LSTM of lecture 1 writes while a cell is held: `python -m experiments.held_cell`.

The weights are those of `experiments/character_lstm.py`. Holding a cell means that after each
character it is set to its mean on the tenth of the plays that chose the cells. Held are the two
cells that follow the place in the line most closely, in that order, after no cell at all. Writes
`helpers/results/stored/held_cell.json`:

    samples      for each held cell, its `mean`, and a `text` of `LENGTH` characters after `START`,
                 sampled from the same seed at the temperature of `character_lstm`

The seed is 0 and no other was stored. How long the lines are in many texts is in `character_lstm`.
"""

from __future__ import annotations

import time

import torch

from experiments.character_lstm import READ, SEED, TEMPERATURE, cell_states, parts
from experiments.search import write_table
from helpers.apps.character_lstm import trained_character_lstm
from helpers.data.shakespeare import decode, encode, windows
from helpers.results.store import stored
from helpers.rnn import RecurrentModel

START, LENGTH, HELD = "ROMEO:\n", 200, 2


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


def main() -> None:
    """Write once freely and once with each cell held, and store the texts."""
    torch.set_num_threads(1)
    start = time.process_time()
    model = trained_character_lstm()
    inputs, _ = windows(parts()[1], READ)
    with torch.no_grad():
        means = cell_states(model, inputs).mean(dim=0).tolist()
    closest = [row["cell"] for row in stored("character_lstm")["cells"][:HELD]]
    samples: list[dict] = [{"cell": None, "mean": None, "text": write(model, LENGTH)}]
    for cell in closest:
        text = write(model, LENGTH, cell, means[cell])
        samples.append({"cell": cell, "mean": round(means[cell], 3), "text": text})
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
    write_table("held_cell", head, samples=samples)


if __name__ == "__main__":
    main()
