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

from experiments.part_by_part import CHOOSING_SEEDS, SIZES, trained
from experiments.search import search

STEPS, WARMUP = 500, 50
RATES = (0.005, 0.01, 0.02, 0.03, 0.06)
N_BLOCKS = 6
MODELS = ("residual", "layer norm")
"""Names of `experiments.part_by_part`: without norms, and with them."""


def trial(name: str, n_blocks: int, lr: float, seed: int) -> dict:
    """Train one model."""
    _, row = trained(name, n_blocks, lr, seed, steps=STEPS, warmup=WARMUP)
    return row


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
        about={"steps": STEPS, "warmup": WARMUP} | SIZES,
    )


if __name__ == "__main__":
    main()
