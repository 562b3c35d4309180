"""Short stories from a generator with known next-word probabilities (lecture 8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from helpers.data.agreement import (
    AGREEMENT_VOCABULARY,
    ANSWERS,
    NOUNS,
    OUTCOMES,
    PREPOSITIONS,
    VERBS,
)
from helpers.tokens import PAD, Vocabulary
from helpers.validation import require

if TYPE_CHECKING:
    from jaxtyping import Int


WOMEN, MEN = ("ada", "cleo", "ida"), ("ben", "emil", "noah")
THINGS = ("key", "coin", "map", "ring", "candle", "feather", "stamp", "ribbon")
CITIES = ("cairo", "delhi", "lima", "oslo", "quito", "rome")

STORY_VOCABULARY = Vocabulary(
    [
        *AGREEMENT_VOCABULARY.words[1:],
        *(*WOMEN, *MEN, *THINGS, *CITIES, "she", "he", "finds", "a", "takes", "from"),
        *("to", "gives", "loses", "nobody", "where", "who", "is", "has", "?", "good", "night"),
    ]
)
"""The words of `AGREEMENT_VOCABULARY`, with the same ids, and the words of the stories."""

Storyteller = Generator[dict[str, float], str, None]
"""Yields the possible next words with their probabilities, and receives the chosen word."""


def scene(attractors: int = 3) -> Storyteller:
    """One sentence as in `agreement_batch`, with the verb in place of the gap.

    Each number of attractors from 0 to `attractors` is equally likely.

    Raises:
        ValueError: if `attractors` is negative.
    """
    require(attractors >= 0, "attractors", attractors, "at least 0")
    nouns = _one_of(*(word for pair in NOUNS for word in pair))
    yield _one_of("the")
    noun = yield nouns
    verb = ANSWERS[_is_plural(noun)]
    for left in range(attractors, -1, -1):  # how many attractors may still come
        end_or_phrase = _mix(1 / (left + 1), _one_of(verb), _one_of(*PREPOSITIONS))
        clause = 0.5 if left < attractors else 0.0  # only an attractor has one
        word = yield _mix(clause, _one_of("that"), end_or_phrase)
        if word == "that":
            yield _one_of(*(pair[_is_plural(noun)] for pair in VERBS))
            word = yield end_or_phrase
        if word == verb:
            break
        yield _one_of("the")
        noun = yield nouns
    yield _one_of(*OUTCOMES)
    yield _one_of(".")


def storyteller() -> Storyteller:
    """A scene, then a person who finds a thing, moves it, gives it away or loses it.

    Every choice is between different words. So the probability of each word given the previous
    ones is known exactly, and with it the lowest loss that a language model can reach. The thing,
    its owner and its place follow from earlier sentences, so the answers to the two questions at
    the end have probability 1.
    """
    yield from scene()
    name = yield _one_of(*WOMEN, *MEN)
    yield from _say("finds a")
    thing = yield _one_of(*THINGS)
    yield _one_of("in")
    place = yield _one_of(*CITIES)
    yield _one_of(".")
    for n_events in range(4):  # at least one and at most three
        start = _one_of(name, "she" if name in WOMEN else "he")
        enough = (0.0, 0.25, 0.25, 1.0)[n_events]
        if (yield _mix(enough, _one_of("who"), start)) == "who":
            break
        deed = yield _one_of("takes", "gives", "loses")
        yield from _say(f"the {thing}")
        if deed == "takes":
            yield from _say(f"from {place} to")
            place = yield _one_of(*(city for city in CITIES if city != place))
        elif deed == "gives":
            yield _one_of("to")
            name = yield _one_of(*(MEN if name in WOMEN else WOMEN))
            yield from _say(f"in {place}")
        else:
            yield from _say(f"in {place}")
            name = "nobody"
        yield _one_of(".")
        if deed == "loses":
            yield _one_of("who")
            break
    yield from _say(f"has the {thing} ? {name} . where is the {thing} ? in {place} .")
    yield from _say("good night .")


def tell_stories(
    n: int, generator: torch.Generator, teller: Callable[[], Storyteller] = storyteller
) -> Int[Tensor, "n T"]:
    """Stories as tokens, one in each row, with pad tokens on the right.

    Raises:
        ValueError: if `n` is less than 1.
    """
    require(n >= 1, "n", n, "at least 1")
    rows = []
    for _ in range(n):
        story, words = teller(), []
        with suppress(StopIteration):
            options = next(story)
            while True:
                words.append(_draw(options, generator))
                options = story.send(words[-1])
        rows.append(torch.tensor([STORY_VOCABULARY.ids[word] for word in words]))
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def story_probabilities(
    tokens: Int[Tensor, " T"] | Sequence[int], teller: Callable[[], Storyteller] = storyteller
) -> list[float]:
    """The storyteller's probability of each word of a story, without pad tokens.

    The list ends with the story, or with the first word that is impossible (probability 0).

    Raises:
        ValueError: if an id lies outside the vocabulary.
    """
    numbers = [int(i) for i in tokens]
    STORY_VOCABULARY.require_known(numbers)
    story = teller()
    options, found = next(story), []
    with suppress(StopIteration):
        for number in numbers:
            if number == PAD:
                break
            word = STORY_VOCABULARY.words[number]
            found.append(options.get(word, 0.0))
            if found[-1] == 0.0:
                break
            options = story.send(word)
    return found


def story_text(tokens: Int[Tensor, " T"] | Sequence[int]) -> str:
    """A story as text, with capital letters for names and at the beginnings of sentences.

    Raises:
        ValueError: if an id lies outside the vocabulary.
    """
    text = STORY_VOCABULARY.decode(tokens)
    capital = rf"(?<=[.?] )[a-z]|\b({'|'.join(WOMEN + MEN + CITIES)})\b"
    return re.sub(capital, lambda found: found[0].capitalize(), text)


def _one_of(*words: str) -> dict[str, float]:
    return dict.fromkeys(words, 1 / len(words))


def _mix(share: float, one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """A choice from `one` with probability `share`, and else from `other`."""
    mixed = {word: share * p for word, p in one.items()}
    mixed |= {word: (1 - share) * p for word, p in other.items()}
    return {word: p for word, p in mixed.items() if p > 0}


def _say(text: str) -> Storyteller:
    """Words with probability 1."""
    for word in text.split():
        yield {word: 1.0}


def _draw(options: dict[str, float], generator: torch.Generator) -> str:
    if len(options) == 1:
        return next(iter(options))
    at = torch.rand((), generator=generator).item()
    for word, p in options.items():
        at -= p
        if at < 0:
            return word
    return word  # rounding may leave a rest of 1e-16


def _is_plural(word: str) -> bool:
    return any(word == plural for _, plural in NOUNS)
