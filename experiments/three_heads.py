"""What three heads of SmolLM2 do for a verb and a pronoun: `python -m experiments.three_heads`.

The heads are those that `experiments/number_of_the_subject.py` chose. One thread. Writes
`helpers/results/stored/three_heads.json`:

    knob    in single sentences: the logit of *are* minus that of *is*, if the three heads pay one
            token a given share of attention from the last token, for each token and each share; the
            same for three other heads of the same blocks
    words   where a verb follows or a pronoun: how far the twin with the noun in the other number
            moves the margin of the right word, from the sentence's own (0) to the twin's (1), if
            three heads are patched at the last token. Three sets of heads: those for the verb;
            those with the largest estimates (attribution patching) for a pronoun, in sentences of
            the fourth kind with other nouns; and three others
"""

from __future__ import annotations

import json
import time

import torch
from torch import Tensor

from experiments import real_model
from experiments.number_of_the_subject import Run, at_the_last_token, name_of, weight_on
from experiments.real_model import N_HEADS, first_heads, margin_of, rounded
from helpers import pretrained
from helpers.data import attraction
from helpers.interp.attribution import head_contexts
from helpers.pretrained import Pretrained

TABLE = real_model.TABLE.with_name("three_heads.json")
THREE, OTHERS = [(26, 0), (27, 8), (27, 7)], [(26, 4), (27, 2), (27, 5)]
SENTENCES = (
    "The keys behind the teacher",
    "The letters in the drawer under the lamp that hums",
    "The letter in the drawer under the lamp that hums",
)
SHARES = [i / 20 for i in range(13)]
WORDS = (
    ("The {} in the drawer", (" is", " are")),
    ("The {} in the drawer", (" has", " have")),
    ("The {} that my sister found", (" is", " are")),
    ("She found the {} and opened", (" it", " them")),
    ("She looked for the {} but could not find", (" it", " them")),
    ("The {} fell because", (" it", " they")),
)
"""Sentences for each noun, and what may follow it, singular and plural."""


def knob(lm: Pretrained) -> dict:
    """Leads for every token and share, and what the heads do by themselves."""
    one, many = real_model.verb_ids(lm)[0].tolist()
    rows = []
    for text in SENTENCES:
        tokens = lm.encode(text)
        run = Run(lm, tokens.expand(len(SHARES), -1))
        own = run.logits()[0]
        row = {
            "tokens": lm.tokens(text),
            "own": rounded((own[many] - own[one]).item(), 2),
            "attention": [rounded(run.weights[i][0, h], 2) for i, h in THREE],
        }
        for name, heads in ("three", THREE), ("others", OTHERS):
            row[name] = []
            for place in range(tokens.shape[1]):
                wanted = dict.fromkeys(heads, torch.tensor(SHARES))
                change = weight_on(run, torch.full((len(SHARES),), place), wanted)
                found = run.changed(change, 26)
                row[name].append(rounded(found[:, many] - found[:, one], 2))
        rows.append(row)
    return {"shares": SHARES, "sentences": rows}


def twins(lm: Pretrained, frame: str, nouns: tuple) -> tuple[Tensor, Tensor, Tensor]:
    """Sentences with each noun in both numbers, their twins, and the number's sign."""
    each = [(noun[i], noun[1 - i], 2.0 * i - 1) for noun in nouns for i in (0, 1)]
    tokens, other = (torch.cat([lm.encode(frame.format(two[i])) for two in each]) for i in (0, 1))
    return tokens, other, torch.tensor([sign for _, _, sign in each])


def pair_of(lm: Pretrained, pair: tuple[str, str]) -> Tensor:
    """Tokens of the two words."""
    return torch.tensor([lm.token_id(word) for word in pair])


def for_a_pronoun(lm: Pretrained) -> list[tuple[int, int]]:
    """The three heads with the largest estimates at the last token."""
    frame, pair = WORDS[3]
    tokens, other, sign = twins(lm, frame, attraction.NOUNS)
    score = margin_of(pair_of(lm, pair), sign)
    z, gradients, _ = head_contexts(lm.model, tokens, score)
    z_twin, _, _ = head_contexts(lm.model, other, score)
    estimate = torch.stack(
        [
            ((b - a) * g)[:, -1].unflatten(-1, (N_HEADS, -1)).sum(dim=(0, -1))
            for a, b, g in zip(z, z_twin, gradients, strict=True)
        ]
    )  # (layers, heads)
    return first_heads(estimate, 3)


def words(lm: Pretrained) -> dict:
    """Shares of the way to the twin's margin, over twenty nouns in both numbers."""
    found = for_a_pronoun(lm)
    sets = {"for the verb": THREE, "for a pronoun": found, "others": OTHERS}
    rows = []
    for frame, pair in WORDS:
        tokens, other, sign = twins(lm, frame, attraction.OTHER_NOUNS)
        score = margin_of(pair_of(lm, pair), sign)
        run, twin = Run(lm, tokens), Run(lm, other)
        own, theirs = score(run.logits()).mean(), score(twin.logits()).mean()
        row = {
            "frame": frame,
            "words": pair,
            "n": len(tokens),
            "right": rounded((score(run.logits()) > 0).double().mean().item()),
            "margin": rounded(own.item(), 2),
        }
        for name, heads in sets.items():
            after = score(run.changed(at_the_last_token(twin, heads), min(heads)[0])).mean()
            row[name] = rounded(((after - own) / (theirs - own)).item())
        rows.append(row)
    return {
        "heads": {key: [name_of(h) for h in heads] for key, heads in sets.items()},
        "rows": rows,
    }


def main() -> None:
    """Measure both parts and write the table."""
    torch.set_num_threads(1)
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    start = time.process_time()
    found = {"knob": knob(lm), "words": words(lm)}
    head = {
        "made_by": "experiments/three_heads.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "file": pretrained.find(pretrained.SMOLLM2_NAME).name,
        "cpu_seconds": round(time.process_time() - start),
    }
    body = ",\n ".join(f'"{key}": {json.dumps(part)}' for key, part in (head | found).items())
    TABLE.write_text("{" + body + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
