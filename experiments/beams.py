"""Greedy decoding against beam search in a half-trained translator: `python -m experiments.beams`.

About four minutes of one core. The transformer of `experiments/translation.py` is trained on its
4,000 sentences of one clause, but for 200 steps instead of 600, so that it is still unsure. Then it
translates sentences that are not in its training set.

Writes `helpers/results/stored/beams.json`:

    rows      for each seed and each kind of search, of `sentences` translations:
              likelier   how many have a higher probability than the greedy one
              right      how many are right in every word
              length     their mean number of words
    decoded   three new sentences, each with its `source` and with what a translator that was
              trained to the end does at each step of its greedy translation (seed 0): `look` is its
              attention to the source (mean of the heads), `next` its three likeliest tokens as
              [probability, Latin letters, gloss, Kannada]
    examples  three sentences for the figure about beams in lecture 9: one by that translator, and
              two of seed 7: one in which four beams repair what greedy decoding spoils, and one in
              which they spoil it and dividing by the length helps. All are new sentences that
              somebody might say (`is_likely`), and do not count in `rows`. Each has a tree: `next`
              are the four likeliest next tokens, as [token, probability, tree after it].
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import torch

from experiments.translation import BATCH, WARMUP, build, corpus, draw
from helpers.data.kannada import (
    ENGLISH,
    KANNADA,
    VERBS,
    Sentence,
    encode,
    gloss,
    sentences,
    words_of,
)
from helpers.encoder_decoder import EncoderDecoder
from helpers.generation import Hypothesis, beam_search
from helpers.results.comparison import results
from helpers.tokens import END, START
from helpers.training import set_seed, train
from helpers.viz.transliteration import transliterate

TABLE = Path(__file__).parent.parent / "helpers" / "results" / "stored" / "beams.json"
SEEDS, STEPS, LONGEST, MOST_BEAMS = (7, 8, 9), 200, 12, 4
TRAINED, TRAINED_SEED = 600, 0
"""Steps and seed of the translator that lecture 9 trains to the end."""
DECODED = ("she called our old dog", "the girls protect our new house", "she wanted my book")
SEARCHES = ((1, 0.0), (2, 0.0), (4, 0.0), (8, 0.0), (4, 1.0), (4, 2.0))
"""Beams, and the power of the length by which the log-probability is divided."""

PEOPLE = {"boy", "boys", "girl", "girls"}
ANIMALS = {"dog", "dogs", "horse", "horses", "lion", "lions"}
THINGS = {"house", "houses", "book", "books", "tree", "trees", "river", "rivers", "hill", "hills"}
OBJECTS = {
    "see": PEOPLE | ANIMALS | THINGS,
    "want": {"house", "houses", "book", "books", "dog", "dogs", "horse", "horses"},
    "protect": PEOPLE | ANIMALS | THINGS,
    "call": PEOPLE | {"dog", "dogs", "horse", "horses"},
    "wash": {"dog", "dogs", "horse", "horses"},
}
"""What somebody might see, want, protect, call or wash."""


def translator(seed: int, steps: int) -> EncoderDecoder:
    """The transformer of lecture 9 after some steps."""
    generator = set_seed(seed)
    model = build("transformer")
    batch, rate = corpus(1)[1], results("translation").rate("transformer", 1)
    train(model, lambda: draw(batch, lambda b: b, generator), steps, rate, warmup=WARMUP)
    return model.eval()


def find(model: EncoderDecoder, pair: Sentence, beams: int, power: float) -> Hypothesis:
    """The best translation that a search finds."""
    writer = model.condition_on(encode(ENGLISH, pair.source)[None])
    options = {"eos_id": END, "n_beams": beams, "length_penalty": power}
    return beam_search(writer, torch.tensor([START]), LONGEST, **options)[0]


def compare(model: EncoderDecoder, pairs: list[Sentence], seed: int) -> list[dict]:
    """A row for each kind of search; the first is greedy decoding."""
    rows, first = [], []
    for beams, power in SEARCHES:
        found = [find(model, pair, beams, power) for pair in pairs]
        first = first or found
        texts = [words_of(one.tokens) for one in found]
        likelier = (
            a.log_probability > b.log_probability + 1e-5 for a, b in zip(found, first, strict=True)
        )
        right = (text == pair.target for text, pair in zip(texts, pairs, strict=True))
        row = {"seed": seed, "beams": beams, "power": power}
        row |= {"likelier": sum(likelier), "right": sum(right)}
        rows.append(row | {"length": round(sum(map(len, texts)) / len(texts), 2)})
    return rows


def is_likely(pair: Sentence) -> bool:
    """Whether somebody might say this: the generator of sentences knows no meanings."""
    words = pair.source
    verb = next(v for v, forms in VERBS.items() for w in (v, *forms[:2]) if w in words)
    at = next(i for i, w in enumerate(words) if w in (verb, *VERBS[verb][:2]))
    by_animal = bool(ANIMALS & set(words[:at])) and verb not in ("see", "protect")
    person = words[-1] in PEOPLE and (words[-2] != "the" or words[at - 1] in PEOPLE)
    itself = words[-1] in words[:at]
    return words[-1] in OBJECTS[verb] and not (by_animal or person or itself)


def spoiled_and_repaired(model: EncoderDecoder, pairs: list[Sentence]) -> tuple[Sentence, Sentence]:
    """A sentence that four beams spoil and one that they repair, by the largest factor."""
    spoiled, repaired = [], []
    for pair in pairs:
        greedy, plain, divided = (
            find(model, pair, n, power) for n, power in ((1, 0.0), (4, 0.0), (4, 1.0))
        )
        right = [words_of(one.tokens) == pair.target for one in (greedy, plain, divided)]
        factor = plain.log_probability - greedy.log_probability
        if right == [True, False, True] and len(plain.tokens) < len(greedy.tokens):
            spoiled.append((factor, pair))
        if right[:2] == [False, True]:
            repaired.append((factor, pair))
    return tuple(max(found, key=lambda one: one[0])[1] for found in (spoiled, repaired))


def decoded(model: EncoderDecoder, source: list[str]) -> dict:
    """What the translator attends to and predicts, token by token; see above."""
    ids, steps = [START], []

    def named(token: int) -> tuple[str, str, str]:
        word = KANNADA.words[token]
        return ("⟨end⟩", "", "") if token == END else (transliterate(word), gloss(word), word)

    while ids[-1] != END:
        with torch.no_grad():
            logits, (weights,) = model(
                encode(ENGLISH, source)[None], torch.tensor([ids]), return_weights=True
            )
        likeliest = logits[0, -1].double().softmax(dim=-1).topk(3)
        pairs = zip(*(x.tolist() for x in likeliest), strict=True)
        look = weights[0, :, -1].mean(dim=0).tolist()  # (T_k,)
        following = [[round(p, 3), *named(token)] for p, token in pairs]
        steps.append({"look": [round(w, 3) for w in look], "next": following})
        ids.append(int(likeliest.indices[0]))
    return {"source": source, "steps": steps}


def tree(model: EncoderDecoder, pair: Sentence) -> dict:
    """What a search with up to `MOST_BEAMS` beams can meet; see above."""
    source = encode(ENGLISH, pair.source)[None]

    @torch.no_grad()
    def node(words: tuple[int, ...]) -> dict:
        logits = model(source, torch.tensor([[START, *words]]))
        shares, ids = logits[0, -1].double().softmax(dim=-1).topk(MOST_BEAMS)
        following = [[int(i), float(f"{p:.4g}")] for i, p in zip(ids, shares, strict=True)]
        return {"next": following}

    root = node(())
    greedy = search(root, node, 1)
    for beams in range(1, MOST_BEAMS + 1):
        best = max(greedy + search(root, node, beams), key=lambda one: one[1])
        assert best[0] == find(model, pair, beams, 0.0).tokens  # the tree finds what the model does
    return root


def search(
    root: dict, node: Callable[[tuple[int, ...]], dict], beams: int
) -> list[tuple[tuple[int, ...], float]]:
    """What a beam finds in the tree, with log-probabilities. Makes nodes that are missing."""
    kept, ends = [((), 0.0, root)], []
    for step in range(LONGEST):
        pool = [
            (words, total + math.log(child[1]), child)
            for words, total, at in kept
            for child in at["next"]
        ]
        pool.sort(key=lambda one: -one[1])
        open_beams = beams - len(ends)
        kept = []
        for words, total, child in pool[:open_beams]:
            now = (*words, child[0])
            if child[0] == END or step == LONGEST - 1:
                ends.append((now, total))
                continue
            if len(child) == 2:
                child.append(node(now))
            kept.append((now, total, child[2]))
        if not kept:
            break
    return ends


def example(name: str, model: EncoderDecoder, pair: Sentence) -> dict:
    """A sentence with its tree, and the words that occur in it."""
    root = tree(model, pair)
    ids, todo = {END}, [root]
    while todo:
        for child in todo.pop()["next"]:
            ids.add(child[0])
            todo += child[2:]
    names = {i: KANNADA.words[i] for i in sorted(ids)}
    words = {
        i: ["", word.strip("<>"), ""] if i <= END else [word, transliterate(word), gloss(word)]
        for i, word in names.items()
    }
    right = [int(i) for i in encode(KANNADA, pair.target)]
    kinds = {"name": name, "source": list(pair.source), "right": right, "longest": LONGEST}
    return kinds | {"words": words, "tree": root}


def main() -> None:
    """Train, compare, and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    known = set(corpus(1)[0])
    assert not {" ".join(pair.source) for pair in known} & set(DECODED)
    drawn = sentences(500, 1, torch.Generator().manual_seed(4))
    pairs = [pair for pair in drawn if pair not in known]
    halfway = {seed: translator(seed, STEPS) for seed in SEEDS}
    rows = [row for seed, model in halfway.items() for row in compare(model, pairs, seed)]
    model = halfway[SEEDS[0]]
    more = sentences(3000, 1, torch.Generator().manual_seed(10))
    likely = [p for p in dict.fromkeys(more) if is_likely(p) and p not in known]
    spoiled, repaired = spoiled_and_repaired(model, likely)
    long = next(pair for pair in likely if len(pair.source) == 7)
    trained = translator(TRAINED_SEED, TRAINED)
    examples = [
        example("trained", trained, long),
        example("stopped early: beams help", model, repaired),
        example("stopped early: beams hurt", model, spoiled),
    ]
    table = {
        "made_by": "experiments/beams.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "steps": STEPS,
        "batch": BATCH,
        "sentences": len(pairs),
        "words": round(sum(len(pair.target) for pair in pairs) / len(pairs), 2),
        "cpu_seconds": round(time.process_time() - start),
        "rows": rows,
        "decoded": [decoded(trained, text.split()) for text in DECODED],
        "examples": examples,
    }
    lines = [f' "{name}": {json.dumps(part, ensure_ascii=False)}' for name, part in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
