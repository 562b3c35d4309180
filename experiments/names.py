"""Real names, letter by letter: `python -m experiments.names`, about ten minutes of one core.

The English names of territories, languages, scripts and cities and their Kannada names, from the
Unicode CLDR as `babel` carries it (names of one word on both sides). A model reads the letters of
the English name and writes those of the Kannada name. Two translators of about the same size:

    LSTM             one reads, one writes; the last state is all that passes between them
    LSTM, attention  the writer attends to all states of the reader

A setting is a language, as CLDR calls it. Writes `helpers/results/stored/names.json`. Measured on
names that were not trained on:

    validation  share of right next letters, the true ones before them given
    exact       share of names with every letter right, written greedily
    chrf        chrF of what was written
    forward     share of steps from letter to letter at which the largest attention weight does not
                move back
    written     what the first seed wrote for the first names of the test: [English, right, written]
    map         of the longest of these that is right: [English, written, attention weights], with a
                row for each letter that was written
    places      the same as `written` for the first territories of the test, and with attention
    decoded     how each of these was written: `source`, and for each letter `look`, its attention
                to the letters of the source, and `next`, the three likeliest letters as
                [probability, Latin letters, the name up to there in Latin letters, in Kannada]

The head holds `nearest`, the same scores of a control without a network: the Kannada name of the
English name in the training set that differs in the fewest letters.
"""

from __future__ import annotations

import random
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise

import sacrebleu
import torch
from torch import Tensor

from experiments.search import search
from helpers.rnn import RecurrentTranslator
from helpers.tokens import END, IGNORE_INDEX, Batch, shift_right
from helpers.training import count_parameters, set_seed, train
from helpers.viz.transliteration import transliterate

MODELS = ("LSTM", "LSTM, attention")
LANGUAGES = ("kn",)
STEPS, BATCH, WARMUP, HELD_OUT, LONGEST = 1500, 32, 50, 120, 40
PLACES = 9
"""Of the test, shown letter by letter."""
Pair = tuple[str, str]
SILENT = "್"
"""The sign that removes the vowel *a* of a Kannada consonant."""


@cache
def names(language: str) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Pairs of names to train on, to choose rates by, and to test, each name in one of them."""
    from babel import Locale

    english, other = Locale("en"), Locale(language)
    found = {}
    both = [
        (ours[code], theirs[code])
        for kind in ("territories", "languages", "scripts")
        for ours, theirs in [(getattr(english, kind), getattr(other, kind))]
        for code in sorted(set(ours) & set(theirs))
    ]
    both += [
        (zone.rpartition("/")[2], info["city"])
        for zone, info in sorted(other.time_zones.items())
        if "city" in info
    ]
    for one, two in both:
        if one.isalpha() and one.isascii() and " " not in two and one != two:
            found.setdefault(one.lower(), two)
    pairs = sorted(found.items())
    random.Random(0).shuffle(pairs)
    return pairs[2 * HELD_OUT :], pairs[:HELD_OUT], pairs[HELD_OUT : 2 * HELD_OUT]


@cache
def territories() -> set[str]:
    """The English names of countries and other territories, in small letters."""
    from babel import Locale

    return {name.lower() for name in Locale("en").territories.values()}


@cache
def letters(language: str) -> tuple[dict[str, int], dict[str, int]]:
    """Ids of the letters of both sides, after padding, start and end."""
    pairs = [pair for part in names(language) for pair in part]
    sides = (sorted({letter for pair in pairs for letter in pair[i]}) for i in (0, 1))
    one, two = ({letter: i for i, letter in enumerate(side, END + 1)} for side in sides)
    return one, two


def batch_of(pairs: list[Pair], language: str) -> Batch:
    """Letters of English names and of those that belong to them."""
    one, two = letters(language)
    sources = [torch.tensor([one[letter] for letter in pair[0]]) for pair in pairs]
    return shift_right(sources, [torch.tensor([two[x] for x in pair[1]]) for pair in pairs])


def build(model: str, language: str) -> RecurrentTranslator:
    """A model by its name; sizes are chosen for about equal numbers of parameters."""
    sizes = [len(side) + END + 1 for side in letters(language)]
    attends = "attention" in model
    return RecurrentTranslator(*sizes, 96 if attends else 104, attends, forget_bias=3.0)


def trial(model: str, language: str, lr: float, seed: int) -> dict:
    """Train one model and measure it."""
    generator = set_seed(seed)
    training, validation, test = names(language)
    translator = build(model, language)

    def make_batch() -> Batch:
        rows = torch.randint(len(training), (BATCH,), generator=generator)
        return batch_of([training[i] for i in rows], language)

    train(translator, make_batch, STEPS, lr, warmup=WARMUP)
    written, looks = write(translator, test, language)
    row = {"validation": round(next_letters(translator, validation, language), 4)}
    row |= {"parameters": count_parameters(translator), **scores(written, test)}
    steps = [(a, b) for places in looks for a, b in pairwise(places)]
    row["forward"] = round(sum(b >= a for a, b in steps) / len(steps), 3) if steps else None
    if seed == 0:
        row["written"] = [[*pair, text] for pair, text in zip(test, written, strict=True)][:12]
        if translator.attention is not None:
            right = [(one, two) for one, two, text in row["written"] if two == text]
            longest = max(right, key=lambda pair: len(pair[1]))
            row["map"] = [*longest, attention_map(translator, longest, language)]
        found = zip(test, written, strict=True)
        row["places"] = [[*pair, text] for pair, text in found if pair[0] in territories()][:PLACES]
        if translator.attention is not None:
            row["decoded"] = [
                decoded(translator, (one, text), language) for one, _, text in row["places"]
            ]
    return row


@torch.no_grad()
def next_letters(translator: RecurrentTranslator, pairs: list[Pair], language: str) -> float:
    """The share of right next letters."""
    translator.eval()
    inputs, wanted = batch_of(pairs, language)
    right = translator(*inputs).argmax(-1) == wanted  # (batch, T_q)
    return right[wanted != IGNORE_INDEX].double().mean().item()


@torch.no_grad()
def write(
    translator: RecurrentTranslator, pairs: list[Pair], language: str
) -> tuple[list[str], list[list[int]]]:
    """What is written greedily, and at each letter where the largest attention weight is."""
    translator.eval()
    (source, begun), _ = batch_of(pairs, language)
    back = {i: letter for letter, i in letters(language)[1].items()}
    target = begun[:, :1]  # (batch, 1): START
    while target.shape[1] <= LONGEST and not (target == END).any(dim=1).all():
        best = translator(source, target)[:, -1].argmax(dim=-1, keepdim=True)  # (batch, 1)
        target = torch.cat([target, best], dim=1)
    rows = [row[1 : row.index(END)] if END in row else row[1:] for row in target.tolist()]
    texts = ["".join(back.get(i, "") for i in row) for row in rows]
    if translator.attention is None:
        return texts, []
    _, weights = translator(source, target, return_weights=True)
    maps: Tensor = weights[-1].mean(dim=1)  # (batch, T_q, T_k)
    return texts, [m[: len(row)].argmax(-1).tolist() for m, row in zip(maps, rows, strict=True)]


@torch.no_grad()
def attention_map(translator: RecurrentTranslator, pair: Pair, language: str) -> list[list[float]]:
    """The attention weights of each letter of the second name, over the letters of the first."""
    _, weights = translator(*batch_of([pair], language)[0], return_weights=True)
    rows = weights[-1][0].mean(dim=0)[: len(pair[1])]  # (T_q, T_k)
    return [[round(weight, 2) for weight in row] for row in rows.tolist()]


@torch.no_grad()
def decoded(translator: RecurrentTranslator, pair: Pair, language: str) -> dict:
    """The steps in which the second name was written for the first."""
    name, written = pair
    back = {i: letter for letter, i in letters(language)[1].items()}
    logits, weights = translator(*batch_of([pair], language)[0], return_weights=True)
    steps = []
    for at, row in enumerate(logits[0].softmax(dim=-1)):  # (vocab,)
        top = row.topk(3)
        likeliest = []
        for p, i in zip(top.values.tolist(), top.indices.tolist(), strict=True):
            so_far = written[:at] + back.get(i, "")
            sign = {"": "⟨end⟩", SILENT: "−a"}.get(back.get(i, ""), transliterate(back.get(i, "")))
            likeliest.append([round(p, 3), sign, transliterate(so_far), so_far])
        look = weights[-1][0].mean(dim=0)[at].tolist()
        steps.append({"look": [round(weight, 3) for weight in look], "next": likeliest})
    return {"name": name, "source": list(name), "steps": steps}


def scores(written: list[str], pairs: list[Pair]) -> dict:
    """Exact match and chrF."""
    right = [pair[1] for pair in pairs]
    same = sum(a == b for a, b in zip(written, right, strict=True)) / len(pairs)
    chrf = sacrebleu.corpus_chrf(written, [right]).score
    return {"exact": round(same, 3), "chrf": round(chrf, 1)}


def nearest(language: str) -> dict:
    """The control without a network."""
    training, _, test = names(language)

    def likest(name: str) -> str:
        return max(training, key=lambda pair: SequenceMatcher(None, pair[0], name).ratio())[1]

    return scores([likest(pair[0]) for pair in test], test)


if __name__ == "__main__":
    search(
        "names",
        trial,
        MODELS,
        LANGUAGES,
        equal=0.002,
        about={
            "steps": STEPS,
            "batch": BATCH,
            "trained_on": len(names("kn")[0]),
            "tested_on": HELD_OUT,
            "nearest": nearest("kn"),
        },
    )
