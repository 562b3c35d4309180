"""Word vectors of SmolLM2-135M-Instruct for lecture 2: `helpers/results/stored/word_vectors.json`.

    python -m experiments.word_vectors

    near     for some words, the words whose embeddings have the largest cosine with theirs, among
             all tokens that are a word of at least three lower-case letters
    senses   words with several senses at the end of four sentences for each sense: after each
             block, how often the nearest other vector (by the cosine, once the mean of the word's
             vectors is subtracted) has the same sense, and the mean cosine within and between
             senses. As a control the same by the mean embedding of the other words.

The sentences were written before anything was measured, and none was exchanged afterwards.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments.real_model import rounded
from helpers import pretrained
from helpers.interp.hooks import cache_activations
from helpers.pretrained import Pretrained

TABLE = Path(__file__).parents[1] / "helpers" / "results" / "stored" / "word_vectors.json"

WORDS = ("note", "letter", "violin", "anger", "pencil", "lamp", "green", "seven")
SENSES = {
    "note": {
        "message": (
            "He took a pencil and wrote a note",
            "She pinned to the door a short note",
            "The parcel came with a handwritten note",
            "He left on the kitchen table a brief note",
        ),
        "music": (
            "The violin held a high note",
            "The singer missed the highest note",
            "On the piano he played a wrong note",
            "The trumpet ended on a long note",
        ),
        "feeling": (
            "In her voice there was an angry note",
            "His speech ended on a bitter note",
            "The evening closed on a sad note",
            "There crept into his voice a worried note",
        ),
    },
    "bank": {
        "money": (
            "She paid the money into the bank",
            "He borrowed a million from the bank",
            "The loan was refused by the bank",
            "Thieves broke into the vault of the bank",
        ),
        "river": (
            "The boat was tied up at the bank",
            "They fished all day from the bank",
            "The river had flooded its bank",
            "Willows grew along the grassy bank",
        ),
    },
    "letter": {
        "mail": (
            "The postman brought me a letter",
            "She sealed and stamped the letter",
            "He answered her long letter",
            "In the envelope there was a letter",
        ),
        "alphabet": (
            "The word begins with a capital letter",
            "In Greek, beta is the second letter",
            "The child misspelled the word by one letter",
            "Q is the least common letter",
        ),
    },
}


def near(lm: Pretrained, k: int = 6) -> dict:
    """The k nearest words of each of WORDS, with their cosines."""
    table = F.normalize(lm.model.embedding.weight.detach().float(), dim=-1)  # (vocab, d_model)
    pieces = [lm.tokenizer.decode([i], skip_special_tokens=False) for i in range(len(table))]
    words = [i for i, piece in enumerate(pieces) if re.fullmatch(r" [a-z]{3,}", piece)]
    found = {}
    for word in WORDS:
        own = lm.token_id(f" {word}")
        cosines = table[words] @ table[own]
        best = cosines.argsort(descending=True).tolist()
        others = [i for i in best if words[i] != own][:k]
        found[word] = [[pieces[words[i]].strip(), cosines[i].item()] for i in others]
        found[word].append(["median", cosines.median().item()])
    return {"words": len(words), "nearest": found}


def after_each_block(lm: Pretrained, text: str) -> Tensor:
    """The last token's embedding and its vector after each block, (1 + blocks, d_model)."""
    found = cache_activations(lm.model, lm.encode(text))
    return torch.stack([found["stream", i][0, -1] for i in range(len(lm.model.blocks) + 1)])


def same_sense(vectors: Tensor, senses: list[str]) -> list[float]:
    """Share whose nearest other has the same sense; mean cosine within and between senses."""
    v = F.normalize(vectors - vectors.mean(dim=0), dim=-1)  # (n, d)
    cosines = v @ v.T
    same = torch.tensor([[a == b for b in senses] for a in senses])
    other = ~torch.eye(len(senses), dtype=torch.bool)
    nearest = cosines.masked_fill(~other, -2).argmax(dim=1)
    right = same[torch.arange(len(senses)), nearest].float().mean().item()
    return [right, cosines[same & other].mean().item(), cosines[~same].mean().item()]


def senses(lm: Pretrained) -> dict:
    """Each word's vectors, sentence by sentence."""
    found = {}
    for word, by_sense in SENSES.items():
        names = [sense for sense, texts in by_sense.items() for _ in texts]
        texts = [text for group in by_sense.values() for text in group]
        for text in texts:
            assert lm.tokens(text)[-1] == f" {word}"
        depths = torch.stack([after_each_block(lm, text) for text in texts])  # (n, 1 + blocks, d)
        rest = torch.stack(
            [lm.model.embedding(lm.encode(text))[0, :-1].mean(dim=0).detach() for text in texts]
        )
        found[word] = {
            "sentences": by_sense,
            "by_depth": [same_sense(depths[:, d], names) for d in range(1, depths.shape[1])],
            "other_words": same_sense(rest, names),
            "spread_of_embeddings": (depths[:, 0] - depths[0, 0]).abs().max().item(),
        }
    return found


def main() -> None:
    """Measure, and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    table = {
        "made_by": "experiments/word_vectors.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "file": pretrained.find(pretrained.SMOLLM2_NAME).name,
        "near": rounded(near(lm)),
        "senses": rounded(senses(lm)),
    }
    table["cpu_seconds"] = round(time.process_time() - start)
    lines = [f' "{name}": {json.dumps(part)}' for name, part in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
