"""One head against two: `python -m experiments.two_heads` (`--help`), eight minutes of one core.

An `AttentionReader` is asked at once for the symbol just before and for the flagged one. Settings:

    ReLU         a readout with a hidden layer, and a flag that begins half as loud as a symbol
    linear       the control: a linear readout, and the same flag
    loud flag    the flag begins as loud as a symbol; two heads only
    quiet start  as ReLU, and all vectors begin 0.3 times as large; only in `experiments.one_head`

Writes `helpers/results/stored/two_heads.json`. Shares are of held-out places:

    previous, flagged, both  at which that answer, or both, is right
    on_previous, on_flagged  for each head, its mean weight on the symbol that is asked for

In the head, `flag_control`: `both` of two heads with each start of the flag and a linear readout,
at the same rates and from the same further seeds.

Near the edge between success and failure the result depends on the processor.
"""

from __future__ import annotations

import torch

from experiments.search import search
from helpers.apps.attention_reader import AttentionReader
from helpers.data.recall import two_relations_batch
from helpers.tokens import IGNORE_INDEX
from helpers.training import count_parameters, set_seed, train

HEADS = {"one head": 1, "two heads": 2}
SETTINGS = ("linear", "ReLU", "loud flag")
N_SYMBOLS, LENGTH, BATCH, STEPS, D_HIDDEN = 52, 12, 64, 300, 192
STARTS = {"loud flag": (1.0, 1.0), "quiet start": (0.3, 0.15)}
"""How words and places, and flags, begin where it is not with 1 and 0.5."""
HELD_OUT, VALIDATION_SEED, TEST_SEED = 1000, 2000, 1000
FLAGS = {"linear": 0.003, "loud flag": 0.01}
"""The two starts of the flag, each with the rate that the search chose; both are tried at both."""
FLAG_SEEDS = tuple(range(200, 236))


def trial(model: str, setting: str, lr: float, seed: int, steps: int = STEPS) -> dict:
    """Train one reader and measure it on sequences that it has not seen."""
    generator = set_seed(seed)
    init_std, flag_init_std = STARTS.get(setting, (1.0, 0.5))
    reader = AttentionReader(
        N_SYMBOLS,
        LENGTH,
        HEADS[model],
        n_questions=2,
        init_std=init_std,
        flag_init_std=flag_init_std,
        d_hidden=D_HIDDEN if setting in ("ReLU", "quiet start") else 0,
    )
    train(reader, lambda: two_relations_batch(BATCH, LENGTH, generator), steps, lr)
    measured = measure(reader, TEST_SEED)
    return {
        "validation": measure(reader, VALIDATION_SEED)["both"],
        "parameters": count_parameters(reader),
        **measured,
    }


@torch.no_grad()
def measure(reader: AttentionReader, seed: int) -> dict:
    """Shares of right answers, and where each head looks."""
    held_out = torch.Generator().manual_seed(seed)
    tokens, targets = two_relations_batch(HELD_OUT, LENGTH, held_out)
    logits, weights = reader(tokens, return_weights=True)
    right = (logits.argmax(-1) == targets)[targets != IGNORE_INDEX]
    right = right.view(HELD_OUT, 2, -1)  # (batch, question, place)
    shares = right[:, 0], right[:, 1], right.all(dim=1)
    # Not the first place that is asked: there the symbol before may be the flagged one.
    asked = weights[:, :, LENGTH // 2 + 1 :]  # (batch, heads, places, T)
    before = asked.diagonal(LENGTH // 2, dim1=-2, dim2=-1)  # (batch, heads, places)
    at = (tokens >= N_SYMBOLS).int().argmax(dim=1)  # (batch,)
    flagged = asked[torch.arange(HELD_OUT), :, :, at]  # (batch, heads, places)
    found = dict(zip(("previous", "flagged", "both"), shares, strict=True))
    found = {name: round(share.double().mean().item(), 3) for name, share in found.items()}
    for name, looked in (("on_previous", before), ("on_flagged", flagged)):
        found[name] = [round(mean, 3) for mean in looked.mean(dim=(0, 2)).tolist()]
    return found


def flag_control() -> list[dict]:
    """How loud the flag begins is all that differs, where rate and seed are the same."""
    torch.set_num_threads(1)
    return [
        {
            "setting": setting,
            "lr": lr,
            "both": [trial("two heads", setting, lr, seed)["both"] for seed in FLAG_SEEDS],
        }
        for setting in FLAGS
        for lr in FLAGS.values()
    ]


if __name__ == "__main__":
    search(
        "two_heads",
        trial,
        list(HEADS),
        SETTINGS,
        seeds=range(5),
        equal=0.01,
        skip=lambda model, setting: (model, setting) == ("one head", "loud flag"),
        about={
            "steps": STEPS,
            "batch": BATCH,
            "held_out": HELD_OUT,
            "d_hidden": D_HIDDEN,
            "flag_seeds": FLAG_SEEDS,
            "flag_control": flag_control(),
        },
    )
