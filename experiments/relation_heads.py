"""Which heads of SmolLM2 follow a grammatical relation: `python -m experiments.relation_heads`.

As Clark et al. (2019) do for BERT: for each relation, the head and the fixed distance that are
right most often on some sentences are measured on other sentences. A head is right if its largest
weight, the first token aside, is on the related word. The sentences come from a pattern, such as
*At last, the old keys near the box were*, so that every relation is known, and what stands between
the two words varies. In this pattern the subject is always the first noun after the comma. In two
further patterns it never is: *At last, near the jar the old keys were* and *At last, the jar fell
because the old keys were*. The head for the subject, chosen on the first pattern, is measured there
too. One thread. Writes `helpers/results/stored/relation_heads.json`:

    relations   for each relation: the chosen head, as (layer, head), and distance, in tokens; the
                accuracy of both on the other sentences; how many of the 270 heads are right more
                often there than the distance; the accuracy there of all heads, (layers, heads); and
                the accuracy of the chosen head by the number of nouns between verb and subject
                ("subject" only)
    control     for each pattern: an example; the accuracy of the head for the subject, also by the
                number of nouns between, and how often it is on the first noun after the comma
                instead; the accuracy of the distance; the best head of this pattern, in hindsight
    other words the same for the three patterns with other nouns, openings, adjectives, prepositions
                and verbs; the head is still the one chosen with the first words
    map         the attention of the three chosen heads, and of the head that attends most to the
                previous token in `real_model.json`, on EXAMPLE
"""

from __future__ import annotations

import json
import random
import time
from typing import NamedTuple

import torch
from torch import Tensor

from experiments.real_model import TABLE as REAL_MODEL
from experiments.real_model import rounded
from helpers import pretrained
from helpers.data.agreement import NOUNS
from helpers.pretrained import Pretrained

TABLE = REAL_MODEL.with_name("relation_heads.json")
OPENINGS = (
    "Yesterday",
    "At last",
    "In the morning",
    "As we all know",
    "After the long walk home",
    "To the surprise of the children",
)
ADJECTIVES = ("old", "small", "heavy", "red", "new", "dark")
PREPOSITIONS = ("in", "under", "behind", "near", "on", "above")
EXAMPLE = "The letters in the drawer under the lamp that hums lie unopened."
RELATIONS = ("subject", "preposition", "article")
PATTERNS = ("first noun", "after a phrase", "after a clause")
VERBS = ("fell", "moved", "opened", "shook")
N, DISTANCES = 300, range(1, 25)


class Words(NamedTuple):
    """What sentences are made of."""

    nouns: tuple[tuple[str, str], ...]
    openings: tuple[str, ...]
    adjectives: tuple[str, ...]
    prepositions: tuple[str, ...]
    verbs: tuple[str, ...]


OURS = Words(NOUNS, OPENINGS, ADJECTIVES, PREPOSITIONS, VERBS)
OTHERS = Words(
    tuple(
        (noun, noun + "s")
        for noun in "dog farmer king bird teacher car tree student ship horse".split()
    ),
    ("Today", "In fact", "After a while", "Last summer"),
    ("young", "tall", "green", "quiet"),
    ("with", "beside", "from", "for"),
    ("slept", "waited"),
)
Item = tuple[list[int], dict[str, tuple[int, int]], int]
"""Token ids; for each relation the places of the asking word and its target; nouns between."""


def sentence(
    lm: Pretrained, rng: random.Random, pattern: str = PATTERNS[0], words: Words = OURS
) -> Item:
    """One sentence up to its verb; "first" is the verb and the first noun after the comma."""
    single = [
        pair for pair in words.nouns if all(len(lm.encode(f" {noun}")[0]) == 1 for noun in pair)
    ]
    ids = lm.encode(rng.choice(words.openings) + ",")[0].tolist()
    places: dict[str, tuple[int, int]] = {}

    def add(word: str) -> int:
        ids.extend(lm.encode(f" {word}")[0].tolist())
        return len(ids) - 1

    def noun_phrase(number: int) -> tuple[int, int]:
        article = add("the")
        for adjective in rng.sample(words.adjectives, rng.choice((0, 0, 1, 2))):
            add(adjective)
        return article, add(rng.choice(single)[number])

    early = None
    if pattern == "after a phrase":
        add(rng.choice(words.prepositions))
        _, early = noun_phrase(rng.randrange(2))
    elif pattern == "after a clause":
        _, early = noun_phrase(rng.randrange(2))
        add(rng.choice(words.verbs))
        add("because")
    plural = rng.randrange(2)
    _, subject = noun_phrase(plural)
    between = rng.randint(0, 3)
    for _ in range(between):
        preposition = add(rng.choice(words.prepositions))
        article, noun = noun_phrase(rng.randrange(2))
        places |= {"preposition": (noun, preposition), "article": (noun, article)}
    verb = add(("was", "were")[plural])
    places |= {"subject": (verb, subject), "first": (verb, subject if early is None else early)}
    return ids, places, between


@torch.no_grad()
def hits(lm: Pretrained, items: list[Item]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """For each relation: is each head, (n, layers, heads), and each distance, (n, D), right?"""
    heads: dict[str, list[Tensor]] = {name: [] for name in (*RELATIONS, "first")}
    fixed: dict[str, list[Tensor]] = {name: [] for name in (*RELATIONS, "first")}
    for ids, places, _ in items:
        _, weights = lm.model(torch.tensor([ids]), return_weights=True, last_only=True)
        stacked = torch.stack(weights)[:, 0]  # (layers, heads, T, T)
        for name, (asks, target) in places.items():
            row = stacked[:, :, asks, 1 : asks + 1]  # the first token aside
            heads[name].append(row.argmax(dim=-1) + 1 == target)
            fixed[name].append(torch.tensor([asks - d == target for d in DISTANCES]))
    return (
        {name: torch.stack(found) for name, found in heads.items()},
        {name: torch.stack(found) for name, found in fixed.items()},
    )


def relations(lm: Pretrained) -> dict:
    """Head and distance chosen on some sentences, measured on others."""
    rng = random.Random(0)
    items = [sentence(lm, rng) for _ in range(2 * N)]
    heads, fixed = hits(lm, items[:N])
    new_heads, new_fixed = hits(lm, items[N:])
    found = {}
    for name in RELATIONS:
        best = heads[name].double().mean(dim=0).argmax().item()
        layer, head = divmod(int(best), heads[name].shape[-1])
        d = int(fixed[name].double().mean(dim=0).argmax())
        accuracy = new_heads[name].double().mean(dim=0)  # (layers, heads)
        by_distance = new_fixed[name][:, d].double().mean().item()
        found[name] = {
            "n": len(new_heads[name]),
            "head": [layer, head],
            "accuracy": accuracy[layer, head].item(),
            "distance": DISTANCES[d],
            "by distance": by_distance,
            "heads above distance": (accuracy > by_distance).sum().item(),
            "median head": accuracy.flatten().quantile(0.5).item(),
            "heads": accuracy.tolist(),
        }
    between = torch.tensor([item[2] for item in items[N:]])
    layer, head = found["subject"]["head"]
    own = new_heads["subject"][:, layer, head].double()
    found["subject"]["by nouns between"] = [own[between == k].mean().item() for k in range(4)]
    return found


def control(lm: Pretrained, head: list[int], distance: int, words: Words = OURS) -> dict:
    """The head for the subject where a rule by the first noun is right, and where it is wrong."""
    found = {}
    for seed, pattern in enumerate(PATTERNS, start=1):
        rng = random.Random(seed)
        items = [sentence(lm, rng, pattern, words) for _ in range(N)]
        heads, fixed = hits(lm, items)
        accuracy = heads["subject"].double().mean(dim=0)  # (layers, heads)
        own = heads["subject"][:, head[0], head[1]].double()  # (N,)
        on_first = heads["first"][:, head[0], head[1]].double().mean().item()
        between = torch.tensor([item[2] for item in items])
        best = divmod(int(accuracy.argmax()), accuracy.shape[-1])
        found[pattern] = {
            "example": lm.tokenizer.decode(items[0][0]),
            "accuracy": own.mean().item(),
            "by nouns between": [own[between == k].mean().item() for k in range(4)],
            "on the first noun": on_first,
            "first noun is the subject": sum(
                places["first"] == places["subject"] for _, places, _ in items
            )
            / N,
            "by distance": fixed["subject"][:, DISTANCES.index(distance)].double().mean().item(),
            "best head": list(best),
            "best head's accuracy": accuracy[best].item(),
        }
    return found


@torch.no_grad()
def attention_map(lm: Pretrained, heads: list[list[int]]) -> dict:
    """Tokens of EXAMPLE and the attention of these heads, (n_heads, T, T)."""
    _, weights = lm.model(lm.encode(EXAMPLE), return_weights=True, last_only=True)
    return {
        "heads": [list(at) for at in heads],
        "tokens": lm.tokens(EXAMPLE),
        "weights": [weights[layer][0, head].tolist() for layer, head in heads],
    }


def previous_token_head() -> list[int]:
    """The head with the largest mean weight on the previous token, as (layer, head)."""
    scores = torch.tensor(json.loads(REAL_MODEL.read_text(encoding="utf-8"))["heads"]["previous"])
    return list(divmod(int(scores.argmax()), scores.shape[-1]))


def main() -> None:
    """Measure, and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    rng = random.Random(0)
    found = relations(lm)
    chosen = found["subject"]["head"], found["subject"]["distance"]
    table = {
        "made_by": "experiments/relation_heads.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "file": pretrained.find(pretrained.SMOLLM2_NAME).name,
        "examples": [lm.tokenizer.decode(sentence(lm, rng)[0]) for _ in range(3)],
        "relations": rounded(found),
        "control": rounded(control(lm, *chosen)),
        "other words": rounded(control(lm, *chosen, OTHERS)),
        "map": rounded(
            attention_map(lm, [*(found[name]["head"] for name in RELATIONS), previous_token_head()])
        ),
    }
    table["cpu_seconds"] = round(time.process_time() - start)
    lines = [f' "{name}": {json.dumps(part)}' for name, part in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
