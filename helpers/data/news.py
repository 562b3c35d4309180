"""Small news texts with known facts, and a count of the facts in a summary (lecture 11).

A text reports two events: the news, and an event of long ago. Each has five facts: who did what,
where and when. Two more sentences contain a city, a day and a name of neither event.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Literal

import torch

from helpers.validation import require

SYLLABLES = (
    ("ma", "ta", "li", "re", "ka", "no", "su", "be", "da", "vi", "jo", "fe"),
    ("ra", "lin", "dor", "sa", "mek", "von", "tia", "nel", "bu", "rik", "gan", "pes"),
)
"""First and second syllables of names."""


def _names(group: int) -> tuple[str, ...]:
    """A third of all names, in which every syllable occurs."""
    first, second = SYLLABLES
    return tuple(
        a + b for i, a in enumerate(first) for j, b in enumerate(second) if (i + j) % 3 == group
    )


KNOWN_NAMES, RARE_NAMES, UNSEEN_NAMES = _names(0), _names(1), _names(2)
"""Names in every vocabulary; in training texts but in no vocabulary; in no training text."""

DEEDS = ("opened", "painted", "sold", "closed", "bought", "repaired")
THINGS = ("bridge", "library", "school", "ship", "garden", "tower", "market", "theatre")
THINGS += ("clock", "museum", "harbour", "mill")
CITIES = ("cairo", "delhi", "lima", "oslo", "quito", "rome", "turin", "accra", "seoul", "perth")
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

LONG_AGO = ("last year", "years ago", "long ago")
"""Openings of the sentence about the old event."""

SORTS = {
    "who": KNOWN_NAMES + RARE_NAMES + UNSEEN_NAMES,
    "did": DEEDS,
    "what": THINGS,
    "where": CITIES,
    "when": DAYS,
}
"""The words of each sort of fact."""

_WHAT = ("{who} {did} a {what} in {where} .", "in {where} {who} {did} a {what} .")
_WHAT += ("a {what} in {where} was {did} by {who} .",)
_WHEN = ("people came to the {what} on {when} .", "on {when} there was music at the {what} .")
_WEATHER = ("it rained in {where} on {when} .", "on {when} the sun shone in {where} .")
_WITNESS = ("{who} was pleased .", '" well done , " said {who} .')
_SUMMARY = "{who} {did} a {what} in {where} on {when} ."


@dataclass(frozen=True)
class Event:
    """Five facts: who did what, where and when."""

    who: str
    did: str
    what: str
    where: str
    when: str


@dataclass(frozen=True)
class News:
    """A text, sentence by sentence; the event that it reports, and the one of long ago."""

    sentences: tuple[str, ...]
    event: Event
    other: Event

    @property
    def text(self) -> str:
        """All sentences, a space before each word and mark."""
        return " ".join(self.sentences)

    @property
    def summary(self) -> str:
        """The reference: one sentence with the five facts of the news."""
        return _SUMMARY.format(**vars(self.event))


@dataclass(frozen=True)
class Facts:
    """Counts of facts in a summary.

    kept: facts of the news that occur in the summary.
    lost: facts of the news that do not; kept + lost = 5.
    strayed: other fact words of the text, of the old event or of neither.
    invented: fact words that are not in the text.
    """

    kept: int
    lost: int
    strayed: int
    invented: int


def tell_news(
    n: int,
    generator: torch.Generator,
    names: Literal["known", "mixed", "unseen"] = "known",
    news_first: float = 2 / 3,
) -> list[News]:
    """Random news texts.

    The two events differ in every fact. The first sentence reports the news with probability
    `news_first`, and otherwise the old event; the other four follow in random order.

    Args:
        n: number of texts.
        generator: random generator.
        names: "known" takes them from `KNOWN_NAMES`, "unseen" from `UNSEEN_NAMES`, and "mixed",
            as for training, every fifth from `RARE_NAMES` and the others from `KNOWN_NAMES`.
        news_first: a probability; see above.

    Raises:
        ValueError: if `n` is less than 1, `names` is none of the three, or `news_first` is not
            from 0 to 1.
    """
    require(n >= 1, "n", n, "at least 1")
    kinds = ("known", "mixed", "unseen")
    require(names in kinds, "names", repr(names), " or ".join(map(repr, kinds)))
    require(0.0 <= news_first <= 1.0, "news_first", news_first, "a share from 0 to 1")
    return [_one_text(generator, names, news_first) for _ in range(n)]


def count_facts(summary: str, news: News) -> Facts:
    """Facts kept, lost, strayed and invented in a summary, counted by words."""
    said = set(words_of(summary)) & FACT_WORDS
    right, told = set(astuple(news.event)), set(words_of(news.text))
    return Facts(
        kept=len(said & right),
        lost=len(right - said),
        strayed=len(said & told - right),
        invented=len(said - told),
    )


def words_of(text: str) -> list[str]:
    """Words and punctuation marks, without regard to case."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


def plain_words() -> str:
    """All words of the texts that are not facts."""
    forms = " ".join((*LONG_AGO, *_WHAT, *_WHEN, *_WEATHER, *_WITNESS, _SUMMARY))
    return re.sub(r"{\w+}", "", forms)


def syllables(word: str) -> tuple[str, ...]:
    """The two syllables of a name; any other word as it is."""
    return (word[:2], word[2:]) if word in SORTS["who"] else (word,)


def joined(text: str) -> str:
    """The text with the two syllables of each name joined to one word."""
    first, second = ("|".join(pieces) for pieces in SYLLABLES)
    return re.sub(rf"\b({first}) ({second})\b", r"\1\2", text)


FACT_WORDS = {word for sort in SORTS.values() for word in sort}


def _one_text(generator: torch.Generator, names: str, news_first: float) -> News:
    def draw(words: Sequence[str], n: int = 1) -> list[str]:
        return [words[i] for i in torch.randperm(len(words), generator=generator)[:n].tolist()]

    def chance(share: float) -> bool:
        return torch.rand((), generator=generator).item() < share

    pool = {"known": KNOWN_NAMES, "unseen": UNSEEN_NAMES, "mixed": KNOWN_NAMES}[names]
    who = draw(pool, 3)
    if names == "mixed":
        rare = draw(RARE_NAMES, 3)
        who = [new if chance(0.2) else old for old, new in zip(who, rare, strict=True)]
    deeds, things, cities, days = draw(DEEDS, 2), draw(THINGS, 2), draw(CITIES, 3), draw(DAYS, 3)
    event, other = (Event(who[i], deeds[i], things[i], cities[i], days[i]) for i in (0, 1))

    def say(forms: Sequence[str], facts: dict[str, str]) -> str:
        return draw(forms)[0].format(**facts)

    news = say(_WHAT, vars(event))
    old = f"{draw(LONG_AGO)[0]} {say(_WHAT, vars(other))}"
    opening = [news, old] if chance(news_first) else [old, news]
    rest = [
        say(_WHEN, vars(event)),
        say(_WHEN, vars(other)),
        say(_WEATHER, {"where": cities[2], "when": days[2]}),
        say(_WITNESS, {"who": who[2]}),
    ]
    return News((*opening, *draw(rest, 4)), event, other)
