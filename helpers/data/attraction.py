"""English sentences for agreement tests on pretrained models (lecture 13).

A sentence stops before its verb. Its subject is singular or plural, and nouns of the same or of
the other number may stand between subject and verb: *attractors*. Each noun is one token of
SmolLM2 in both numbers, so that a sentence and its twin with the other subject have one length.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from helpers.validation import require

NOUNS = (
    ("key", "keys"),
    ("letter", "letters"),
    ("book", "books"),
    ("picture", "pictures"),
    ("box", "boxes"),
    ("chair", "chairs"),
    ("table", "tables"),
    ("door", "doors"),
    ("window", "windows"),
    ("car", "cars"),
    ("house", "houses"),
    ("tree", "trees"),
    ("bottle", "bottles"),
    ("plate", "plates"),
    ("stone", "stones"),
    ("flower", "flowers"),
    ("bird", "birds"),
    ("boat", "boats"),
    ("shoe", "shoes"),
    ("clock", "clocks"),
)
"""Things, singular and plural."""

OTHER_NOUNS = (
    ("cup", "cups"),
    ("coin", "coins"),
    ("ring", "rings"),
    ("lamp", "lamps"),
    ("phone", "phones"),
    ("bag", "bags"),
    ("card", "cards"),
    ("ball", "balls"),
    ("bike", "bikes"),
    ("hat", "hats"),
    ("ship", "ships"),
    ("map", "maps"),
    ("sign", "signs"),
    ("song", "songs"),
    ("gift", "gifts"),
    ("road", "roads"),
    ("report", "reports"),
    ("photo", "photos"),
    ("wheel", "wheels"),
    ("bell", "bells"),
)
"""As many others, for the question whether a result depends on the nouns."""

PEOPLE = (
    ("doctor", "doctors"),
    ("student", "students"),
    ("teacher", "teachers"),
    ("neighbor", "neighbors"),
    ("farmer", "farmers"),
    ("artist", "artists"),
)
"""Nouns, singular and plural, that act in a relative clause or stand in a phrase."""

PREPOSITIONS = ("near", "behind", "beside", "under")
OTHER_PREPOSITIONS = ("with", "by", "above", "against")
"""As many others, for the same question."""
SEEN = ("found", "wanted", "painted", "liked")
FRAMES = ("{}", "Yesterday I noticed that {}", "As everyone in the village knows, {}")
VERBS = ((" is", " are"), (" was", " were"), (" has", " have"))
"""Tokens of verbs, singular and plural."""

Kind = Literal["phrase", "person", "clause"]


@dataclass(frozen=True)
class Sentence:
    """The beginning of a sentence up to its verb.

    text: the sentence.
    twin: the same with a subject of the other number.
    plural: whether the subject of `text` is plural.
    """

    text: str
    twin: str
    plural: bool


def sentences(
    n: int,
    attractors: int,
    *,
    opposing: bool = True,
    plural: bool | None = None,
    kind: Kind = "phrase",
    frame: str = FRAMES[0],
    nouns: Sequence[tuple[str, str]] = NOUNS,
    prepositions: Sequence[str] = PREPOSITIONS,
    seed: int = 0,
) -> list[Sentence]:
    """Random sentences.

    Args:
        n: number of sentences.
        attractors: number of nouns between subject and verb.
        opposing: whether all of them have the other number than the subject, or all the same.
        plural: the number of every subject; if not given, every other one is plural.
        kind: attractors in prepositional phrases (*the key near the boxes*), or one that is a
            person there (*the key near the doctors*), or one as the subject of a relative clause
            (*the key that the doctors found*).
        frame: what the sentence stands in, with `{}` for it.
        nouns: things, singular and plural.
        prepositions: those of the phrases.
        seed: of the random choices.

    Raises:
        ValueError: if `n` or `attractors` is too small, there are too few nouns, the kind is
            another, or a person is asked for with another number of attractors than 1.
    """
    require(n >= 1, "n", n, "at least 1")
    most = len(nouns) - 1
    require(0 <= attractors <= most, "attractors", attractors, f"a number from 0 to {most}")
    kinds = get_args(Kind)
    require(kind in kinds, "kind", repr(kind), " or ".join(map(repr, kinds)))
    fits = kind == "phrase" or attractors == 1
    require(fits, "attractors", f"{attractors} with kind {kind!r}", "1")
    chance = random.Random(seed)
    return [
        _sentence(
            chance,
            nouns,
            prepositions,
            attractors,
            opposing,
            bool(i % 2) if plural is None else plural,
            kind,
            frame,
        )
        for i in range(n)
    ]


def _sentence(
    chance: random.Random,
    nouns: Sequence[tuple[str, str]],
    prepositions: Sequence[str],
    attractors: int,
    opposing: bool,
    plural: bool,
    kind: Kind,
    frame: str,
) -> Sentence:
    subject, *others = chance.sample(nouns, attractors + 1)
    number = plural != opposing
    if kind == "clause":
        rest = f" that the {chance.choice(PEOPLE)[number]} {chance.choice(SEEN)}"
    else:
        others = [chance.choice(PEOPLE)] if kind == "person" else others
        rest = "".join(f" {chance.choice(prepositions)} the {noun[number]}" for noun in others)
    text, twin = (_framed(frame, f"the {subject[form]}{rest}") for form in (plural, not plural))
    return Sentence(text, twin, plural)


def _framed(frame: str, text: str) -> str:
    """The text in its frame, with a capital letter at the start."""
    framed = frame.format(text)
    return framed[0].upper() + framed[1:]


def by_length(texts: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """Indices of the texts of each length, which fit into one batch without padding."""
    places: dict[int, list[int]] = {}
    for place, ids in enumerate(texts):
        places.setdefault(len(ids), []).append(place)
    return places
