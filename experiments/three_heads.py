"""What three heads of SmolLM2 do for a verb and a pronoun: `python -m experiments.three_heads`.

The heads are those that `experiments/number_of_the_subject.py` chose. One thread. Writes
`helpers/results/stored/three_heads.json`:

    knob    in single sentences: the logit of *are* minus that of *is*, if the three heads pay one
            token a given share of attention from the last token, for each token and each share; the
            same for three other heads of the same blocks. `draws at 0.5`: the lowest and the
            highest lead for each token, if three heads of one of the twelve draws below pay it half
            of their attention. `attention`: what the heads pay each token if nothing is changed
    relay   where two phrases stand between subject and verb: how far the twin moves the margin if,
            at the last token, the three heads fetch its values from the subject, from the noun of
            the first phrase, from both, or from all other tokens; and if only L26H0 is patched, and
            only at that noun. With the heads' attention to the subject and to that noun
    clause  the lead of *are* after a sentence and with *that hums* behind it; and if the three
            heads pay the subject, the noun of the first phrase, or both, the attention that they
            pay them in the other sentence. `other pairs`: lowest and highest mean if two other
            tokens get that attention instead
    words   where a verb follows or a pronoun: how far the twin with the noun in the other number
            moves the margin of the right word, from the sentence's own (0) to the twin's (1), if
            three heads are patched at the last token. Three sets of heads: those for the verb;
            those with the largest estimates (attribution patching) for a pronoun, in sentences of
            the kind `CHOSEN_ON` with other nouns; and three others. `draws`: the lowest and the
            highest share of twelve random draws of three other heads, six from blocks 26, 27 and
            27, and six from blocks 25, 26 and 27
"""

from __future__ import annotations

import json
import random
import time

import torch
from torch import Tensor

from experiments import real_model
from experiments.number_of_the_subject import (
    Change,
    Run,
    at_the_last_token,
    name_of,
    values_from_the_twin,
    weight_on,
)
from experiments.number_of_the_subject import own as own_part
from experiments.real_model import N_HEADS, first_heads, margin_of, rounded
from helpers import pretrained
from helpers.data import attraction
from helpers.interp.attribution import Score, head_contexts
from helpers.pretrained import Pretrained

TABLE = real_model.TABLE.with_name("three_heads.json")
THREE, OTHERS = [(26, 0), (27, 8), (27, 7)], [(26, 4), (27, 2), (27, 5)]
SENTENCES = (
    "The keys behind the teacher",
    "The letters in the drawer under the lamp that hums",
    "The letter in the drawer under the lamp that hums",
)
SHARES = [i / 20 for i in range(13)]
CHOSEN_ON = ("She found the {} and opened", (" it", " them"))
WORDS = (
    ("The {} in the drawer", (" is", " are")),
    ("The {} that my sister found", (" is", " are")),
    CHOSEN_ON,
    ("I like the {}, so I bought", (" it", " them")),
    ("The {} fell and then", (" it", " they")),
    ("The {} fell and then", (" was", " were")),
    ("The {} in the drawer", (" has", " have")),
    ("I think that the {} on the shelf", (" has", " have")),
    ("The old {} that she bought last year", (" was", " were")),
    ("She looked for the {} but could not find", (" it", " them")),
    ("He kept the {} because", (" it", " they")),
    ("The {} fell because", (" it", " they")),
    ("My {}", (" is", " are")),
)
"""Sentences for each noun, and what may follow it, singular and plural. In each of them the model
itself is right in at least eight of ten."""
BETWEEN = (
    "The {} in the drawer under the lamp",
    "The {} in the drawer under the lamp that hums",
    "The {} near the box behind the tree",
    "The {} on the table beside the door",
    "The {} with the coin above the chair",
)
"""Sentences with two phrases between subject and verb."""
SUBJECT, NOUN, VERBS = 1, 4, (" is", " are")
"""Places of the subject and of the first phrase's noun."""


def knob(lm: Pretrained, pronoun: list[tuple[int, int]]) -> dict:
    """Leads for every token and share."""
    one, many = real_model.verb_ids(lm)[0].tolist()
    rows = []
    for text in SENTENCES:
        tokens = lm.encode(text)
        run = Run(lm, tokens.expand(len(SHARES), -1))
        own = run.logits()[0]
        row = {
            "tokens": lm.tokens(text),
            "own": rounded((own[many] - own[one]).item(), 2),
        }
        row["attention"] = {}
        for name, heads in ("three", THREE), ("others", OTHERS):
            row["attention"][name] = [rounded(run.weights[i][0, h], 2) for i, h in heads]
            row[name] = []
            for place in range(tokens.shape[1]):
                wanted = dict.fromkeys(heads, torch.tensor(SHARES))
                change = weight_on(run, torch.full((len(SHARES),), place), wanted)
                found = run.changed(change, 26)
                row[name].append(rounded(found[:, many] - found[:, one], 2))
        run = Run(lm, tokens.expand(tokens.shape[1], -1))
        each, leads = torch.arange(tokens.shape[1]), []
        for heads in draws(THREE + pronoun):
            found = run.changed(weight_on(run, each, dict.fromkeys(heads, 0.5)), min(heads)[0])
            leads.append(found[:, many] - found[:, one])
        low, high = torch.stack(leads).amin(dim=0), torch.stack(leads).amax(dim=0)
        rows.append(row | {"draws at 0.5": rounded(torch.stack([low, high], dim=-1), 2)})
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
    frame, pair = CHOSEN_ON
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


def draws(taken: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Twelve random sets of three heads from the blocks of those that are taken."""
    generator, found = random.Random(0), []
    for blocks in 6 * [(26, 27, 27)] + 6 * [(25, 26, 27)]:
        heads = list(taken[:1])
        while len(set(heads)) < 3 or set(heads) & set(taken):
            heads = [(block, generator.randrange(N_HEADS)) for block in blocks]
        found.append(heads)
    return found


def relay(lm: Pretrained) -> list[dict]:
    """What the three heads fetch from the subject, and what from the noun of the first phrase."""
    rows = []
    for frame in BETWEEN:
        tokens, other, sign = twins(lm, frame, attraction.OTHER_NOUNS)
        score = margin_of(pair_of(lm, VERBS), sign)
        run, twin = Run(lm, tokens), Run(lm, other)
        own, theirs = score(run.logits()).mean(), score(twin.logits()).mean()

        def moved(change: Change, z: Score = score, a: Tensor = own, b: Tensor = theirs) -> float:
            logits = run.changed(change, 26)  # noqa: B023
            return rounded(((z(logits).mean() - a) / (b - a)).item(), 2)

        def values(*places: int) -> float:
            there = torch.zeros(tokens.shape, dtype=torch.bool)  # noqa: B023
            there[:, list(places)] = True
            return moved(values_from_the_twin(run, twin, there, THREE))  # noqa: B023

        def at_the_noun(layer: int, z: Tensor) -> Tensor:
            if layer == 26:
                z[:, NOUN, :64] = twin.contexts[26][:, NOUN, :64]  # noqa: B023
            return z

        rest = [i for i in range(tokens.shape[1]) if i not in (SUBJECT, NOUN)]
        rows.append(
            {
                "frame": frame,
                "n": len(tokens),
                "right": rounded((score(run.logits()) > 0).double().mean().item()),
                "margin": rounded(own.item(), 2),
                "heads": moved(at_the_last_token(twin, THREE)),
                "subject": values(SUBJECT),
                "noun": values(NOUN),
                "both": values(SUBJECT, NOUN),
                "others": values(*rest),
                "L26H0 at the noun": moved(at_the_noun),
                "attention": [
                    rounded(run.weights[i][:, h, [SUBJECT, NOUN]].mean(dim=0), 2) for i, h in THREE
                ],
            }
        )
    return rows


def weights_on(run: Run, places: list[int], wanted: dict) -> Change:
    """At the last token each head pays these tokens this much attention, (n, places).

    Its other weights shrink or grow in proportion.
    """
    new = {}
    for (i, h), weight in wanted.items():
        w = run.weights[i][:, h].clone()  # (n, T)
        w *= ((1 - weight.sum(dim=-1)) / (1 - w[:, places].sum(dim=-1)))[:, None]
        w[:, places] = weight
        new[i, h] = torch.einsum("nt,ntd->nd", w, run.values(i, h))

    def change(layer: int, z: Tensor) -> Tensor:
        for i, h in wanted:
            if i == layer:
                z[:, -1, own_part(h)] = new[i, h]
        return z

    return change


def clause(lm: Pretrained) -> dict:
    """Leads after each sentence, with its own attention and with the other sentence's."""
    pair, found = pair_of(lm, VERBS), {}
    runs = {}
    for frame in BETWEEN[:2]:
        tokens, _, sign = twins(lm, frame, attraction.OTHER_NOUNS)
        runs[frame] = Run(lm, tokens)

    def leads(logits: Tensor) -> list[float]:
        lead = logits[:, pair[1]] - logits[:, pair[0]]
        return [rounded(lead[sign == s].mean().item(), 2) for s in (1, -1)]

    for frame, other in (BETWEEN[:2], BETWEEN[1::-1]):
        run = runs[frame]

        def given(from_: list[int], to: list[int], a: Run = run, b: str = other) -> list[float]:
            wanted = {(i, h): runs[b].weights[i][:, h][:, from_] for i, h in THREE}
            return leads(a.changed(weights_on(a, to, wanted), 26))

        short = range(runs[BETWEEN[0]].tokens.shape[1])
        free = [i for i in short if i not in (SUBJECT, NOUN)]
        controls = [given([SUBJECT, NOUN], [i, j]) for i in free for j in free if i != j]
        found[frame] = {
            "own": leads(run.logits()),
            "subject": given([SUBJECT], [SUBJECT]),
            "noun": given([NOUN], [NOUN]),
            "both": given([SUBJECT, NOUN], [SUBJECT, NOUN]),
            "other pairs": [[min(x), max(x)] for x in zip(*controls, strict=True)],
        }
    return {"n": len(sign), "order": ["plural", "singular"], "sentences": found}


def words(lm: Pretrained, found: list[tuple[int, int]]) -> dict:
    """Shares of the way to the twin's margin, over twenty nouns in both numbers."""
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
        after = [
            run.changed(at_the_last_token(twin, heads), min(heads)[0])
            for heads in [*sets.values(), *draws(THREE + found)]
        ]
        shares = [rounded(((score(z).mean() - own) / (theirs - own)).item()) for z in after]
        row |= dict(zip(sets, shares[:3], strict=True))
        rows.append(row | {"draws": [min(shares[3:]), max(shares[3:])]})
    return {
        "heads": {key: [name_of(h) for h in heads] for key, heads in sets.items()},
        "rows": rows,
    }


def main() -> None:
    """Measure all parts and write the table."""
    torch.set_num_threads(1)
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    start = time.process_time()
    pronoun = for_a_pronoun(lm)
    found = {
        "knob": knob(lm, pronoun),
        "relay": relay(lm),
        "clause": clause(lm),
        "words": words(lm, pronoun),
    }
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
