"""Layer norms and the learning rate in the text model of lecture 7: `python -m experiments.norms`.

Six blocks with residual connections learn Shakespeare's plays, character by character, without
layer norms and with them (`experiments.part_by_part` describes text and model). The grid of
learning rates is finer and reaches further than there, because the range of rates at which a model
trains is what is compared; the trainings are half as long, like those of the lecture's reader. Each
entry of `runs` is one training:

    loss         nats per character on the last tenth of the text
    parameters   trainable numbers

Writes `helpers/results/stored/norms.json`, five minutes of one core.
"""

from __future__ import annotations

from functools import partial

from experiments.part_by_part import CONTEXT, D_MODEL, ROWS, WINDOWS, loss, make, parts
from experiments.search import SEARCH_SEEDS, search
from helpers.data.shakespeare import character_batch
from helpers.training import count_parameters, set_seed, train

STEPS, WARMUP = 500, 50
RATES = (0.005, 0.01, 0.02, 0.03, 0.06)
N_BLOCKS = 6
CHOOSING_SEEDS = SEARCH_SEEDS[:2]
MODELS = ("residual", "layer norm")
"""Names of `experiments.part_by_part`: without norms, and with them."""


def trial(name: str, n_blocks: int, lr: float, seed: int) -> dict:
    """Train one model."""
    training, choose, report = parts()
    generator = set_seed(seed)
    model = make(name, n_blocks)
    draw = partial(character_batch, training, ROWS, CONTEXT, generator)
    train(model, draw, STEPS, lr, warmup=WARMUP)
    row = {"validation": loss(model, choose), "parameters": count_parameters(model)}
    return row if seed in CHOOSING_SEEDS else row | {"loss": loss(model, report)}


def main() -> None:
    """Search, compare, write the table."""
    search(
        "norms",
        trial,
        models=MODELS,
        settings=(N_BLOCKS,),
        rates=RATES,
        search_seeds=CHOOSING_SEEDS,
        lower_is_better=True,
        equal=0.01,
        about={
            "steps": STEPS,
            "warmup": WARMUP,
            "rows": ROWS,
            "context": CONTEXT,
            "d_model": D_MODEL,
            "windows": WINDOWS,
        },
    )


if __name__ == "__main__":
    main()
