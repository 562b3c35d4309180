"""What two translators write for one long sentence: `python -m experiments.bottleneck`.

About half a minute of one core. The LSTMs of `experiments/translation.py`, without attention (with
its better forget bias) and with it, are trained as there on sentences of one to three clauses, from
the first of its seeds. Both translate one sentence of its test set: the first of three clauses in
which somebody might say every clause (`is_likely`).

Writes `helpers/results/stored/bottleneck.json`:

    source    the English words
    right     the meanings of the words of the right translation, in their order
    written   the same for what each model writes
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path

import torch

from experiments.beams import is_likely
from experiments.search import SEEDS
from experiments.translation import STEPS, TEST_SEED, WARMUP, build, corpus, draw, greedy, held_out
from helpers.data.kannada import Sentence, gloss
from helpers.results.comparison import results
from helpers.training import set_seed, train

TABLE = Path(__file__).parent.parent / "helpers" / "results" / "stored" / "bottleneck.json"
MODELS, CLAUSES = ("LSTM, bias 3", "LSTM, attention"), 3


def somebody_might_say(pair: Sentence) -> bool:
    """Whether every clause of a sentence is likely."""
    clauses = " ".join(pair.source).split(" and ")
    return all(is_likely(Sentence(tuple(clause.split()), (), ())) for clause in clauses)


def main() -> None:
    """Train both, let them translate, and write the file."""
    torch.set_num_threads(1)
    start = time.process_time()
    batch = corpus(CLAUSES)[1]
    pair = next(p for p in held_out(CLAUSES, CLAUSES, TEST_SEED) if somebody_might_say(p))
    written = {}
    for name in MODELS:
        generator = set_seed(SEEDS[0])
        model = build(name)
        rate = results("translation").rate(name, CLAUSES)
        draw_one = partial(draw, batch, lambda batch: batch, generator)
        train(model, draw_one, STEPS, rate, warmup=WARMUP)
        (words,) = greedy(model.eval(), [pair])
        written[name] = [gloss(word) for word in words]
    table = {
        "made_by": "experiments/bottleneck.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "cpu_seconds": round(time.process_time() - start),
        "source": list(pair.source),
        "right": [gloss(word) for word in pair.target],
        "written": written,
    }
    lines = [f' "{name}": {json.dumps(part, ensure_ascii=False)}' for name, part in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
