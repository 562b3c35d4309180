"""How a pretrained model writes under six decodings: `python -m experiments.decoding`.

SmolLM2-135M-Instruct (`helpers.pretrained`) continues `PROMPTS` by `N_TOKENS` tokens: greedily, by
beam search, and by sampling with four settings. The settings were fixed beforehand and all are
reported. For each text, `repeated` is the share of its runs of four tokens that have occurred in it
before, and `perplexity` is the model's own, at temperature 1, on what it wrote. For `SURE_OR_NOT`,
one text each, it stores the likeliest next tokens and their logits.

Writes `helpers/results/stored/decoding.json`. A few minutes of one core.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor

from helpers import pretrained
from helpers.generation import beam_search, generate
from helpers.pretrained import Pretrained

TABLE = Path(__file__).parents[1] / "helpers/results/stored/decoding.json"
N_TOKENS, N_BEAMS, RUN = 40, 4, 4
PROMPTS = (
    "The lamp on the desk was",
    "In the morning she opened the",
    "The city was quiet, and",
    "My grandfather liked to say that",
    "Once upon a time, a",
    "Scientists have now discovered that the",
)
"""Six beginnings of six tokens each, so that they can be one batch."""

SURE_OR_NOT = (
    "The Earth goes around the",
    "In the morning she opened the",
    "At the zoo we saw a",
)
"""Texts after which the model is nearly certain, less certain and uncertain of the next token."""

N_LIKELIEST = 8

SAMPLINGS = {
    "greedy": {"temperature": 0.0},
    "temperature 0.7": {"temperature": 0.7},
    "temperature 1": {"temperature": 1.0},
    "temperature 1, top-p 0.9": {"temperature": 1.0, "top_p": 0.9},
    "temperature 1.5": {"temperature": 1.5},
}


def repeated(tokens: Tensor) -> float:
    """The share of runs of `RUN` tokens, (T,), that have occurred in the text before."""
    if len(tokens) < RUN:
        return 0.0
    runs = [tuple(run) for run in tokens.unfold(0, RUN, 1).tolist()]
    return 1 - len(set(runs)) / len(runs)


def until_end(tokens: Tensor, eos_id: int) -> Tensor:
    """The tokens, (T,), before the token that ends a text."""
    ends = (tokens == eos_id).nonzero()  # (n, 1)
    return tokens[: int(ends[0])] if len(ends) else tokens


@torch.no_grad()
def perplexity(lm: Pretrained, prompts: Tensor, written: list[Tensor]) -> float:
    """The model's own perplexity on the tokens that it wrote, at temperature 1."""
    nats = []
    for prompt, new in zip(prompts, written, strict=True):
        text = torch.cat([prompt, new])  # (T,)
        logits = lm.model(text[None, :-1])[0, len(prompt) - 1 :]  # (T_new, vocab)
        nats.append(F.cross_entropy(logits, new, reduction="none"))
    return torch.cat(nats).mean().exp().item()


@torch.no_grad()
def likeliest(lm: Pretrained, text: str) -> dict[str, object]:
    """The `N_LIKELIEST` next tokens after a text, their logits and their share of probability."""
    logits = lm.model(lm.encode(text))[0, -1]  # (vocab,)
    top = logits.topk(N_LIKELIEST)
    return {
        "text": text,
        "tokens": [lm.tokenizer.decode([i]) for i in top.indices.tolist()],
        "logits": [round(value, 3) for value in top.values.tolist()],
        "share": round(logits.softmax(dim=-1)[top.indices].sum().item(), 3),
    }


def main() -> None:
    """Write with every decoding, measure, and store."""
    torch.set_num_threads(1)
    start = time.process_time()
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    prompts = torch.cat([lm.encode(text) for text in PROMPTS])  # (n, T)
    written = {}
    for name, options in SAMPLINGS.items():
        generator = torch.Generator().manual_seed(0)
        options = {"eos_id": lm.eos_id, "pad_id": lm.eos_id, "generator": generator} | options
        rows = generate(lm.model, prompts, N_TOKENS, **options)[:, prompts.shape[1] :]
        written[name] = [until_end(row, lm.eos_id) for row in rows]
        print(name, [lm.tokenizer.decode(row.tolist()) for row in written[name]], flush=True)
    beams = {"eos_id": lm.eos_id, "n_beams": N_BEAMS}
    found = [beam_search(lm.model, prompt, N_TOKENS, **beams)[0] for prompt in prompts]
    written[f"beam search, {N_BEAMS} beams"] = [
        until_end(torch.tensor(best.tokens), lm.eos_id) for best in found
    ]
    rows = [
        {
            "decoding": name,
            "repeated": round(fmean(map(repeated, texts)), 3),
            "repeated_by_prompt": [round(repeated(text), 3) for text in texts],
            "perplexity": round(perplexity(lm, prompts, texts), 2),
            "texts": [lm.tokenizer.decode(text.tolist()) for text in texts],
        }
        for name, texts in written.items()
    ]
    table = {
        "about": "Continuations by SmolLM2-135M-Instruct under six decodings",
        "made_by": "experiments/decoding.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "prompts": PROMPTS,
        "n_tokens": N_TOKENS,
        "run": RUN,
        "rows": rows,
        "next": [likeliest(lm, text) for text in SURE_OR_NOT],
        "cpu_seconds": round(time.process_time() - start),
    }
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
