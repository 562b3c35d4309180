"""A small fragment of Kannada and its English: sentences and translations, aligned.

A fragment, made for lecture 9, and not the language: clauses with a subject, a verb and an object,
joined by "and". Kannada puts the verb last; it agrees with the subject in person, number and
gender; the object has an ending of its own; there is no word for "the". Words are written as in
formal prose. Their forms are those of UniMorph's table (Kirov et al., 2018); endings, order and
pronouns were compared with a second source for each (lecture 9 names them).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from helpers.tokens import END, PAD, START, Batch, Vocabulary, shift_right
from helpers.validation import require

if TYPE_CHECKING:
    from jaxtyping import Int

PRONOUNS = {
    "i": ("ನಾನು", "1 sg"),
    "we": ("ನಾವು", "1 pl"),
    "he": ("ಅವನು", "3 sg m"),
    "she": ("ಅವಳು", "3 sg f"),
    "they": ("ಅವರು", "3 pl"),
}
"""The Kannada pronoun, and the agreement of the verb with it."""

NOUNS = {
    "boy": ("ಹುಡುಗನು", "ಹುಡುಗನನ್ನು", "ಹುಡುಗರು", "ಹುಡುಗರನ್ನು"),
    "girl": ("ಹುಡುಗಿಯು", "ಹುಡುಗಿಯನ್ನು", "ಹುಡುಗಿಯರು", "ಹುಡುಗಿಯರನ್ನು"),
    "dog": ("ನಾಯಿಯು", "ನಾಯಿಯನ್ನು", "ನಾಯಿಗಳು", "ನಾಯಿಗಳನ್ನು"),
    "horse": ("ಕುದುರೆಯು", "ಕುದುರೆಯನ್ನು", "ಕುದುರೆಗಳು", "ಕುದುರೆಗಳನ್ನು"),
    "lion": ("ಸಿಂಹವು", "ಸಿಂಹವನ್ನು", "ಸಿಂಹಗಳು", "ಸಿಂಹಗಳನ್ನು"),
    "house": ("ಮನೆಯು", "ಮನೆಯನ್ನು", "ಮನೆಗಳು", "ಮನೆಗಳನ್ನು"),
    "book": ("ಪುಸ್ತಕವು", "ಪುಸ್ತಕವನ್ನು", "ಪುಸ್ತಕಗಳು", "ಪುಸ್ತಕಗಳನ್ನು"),
    "tree": ("ಮರವು", "ಮರವನ್ನು", "ಮರಗಳು", "ಮರಗಳನ್ನು"),
    "leaf": ("ಎಲೆಯು", "ಎಲೆಯನ್ನು", "ಎಲೆಗಳು", "ಎಲೆಗಳನ್ನು"),
    "river": ("ನದಿಯು", "ನದಿಯನ್ನು", "ನದಿಗಳು", "ನದಿಗಳನ್ನು"),
    "hill": ("ಬೆಟ್ಟವು", "ಬೆಟ್ಟವನ್ನು", "ಬೆಟ್ಟಗಳು", "ಬೆಟ್ಟಗಳನ್ನು"),
    "name": ("ಹೆಸರು", "ಹೆಸರನ್ನು", "ಹೆಸರುಗಳು", "ಹೆಸರುಗಳನ್ನು"),
}
"""Kannada forms: subject, object, subject in the plural, object in the plural."""

SUBJECTS = {"boy": "3 sg m", "girl": "3 sg f", "dog": "3 sg n", "horse": "3 sg n", "lion": "3 sg n"}
"""Nouns that can be subjects. Animals are always singular, because sources differ on plurals."""

PLURALS = {"leaf": "leaves"}

VERBS = {
    "see": ("sees", "saw", "ನೋಡುತ್ತ", "ನೋಡಿದ", "ನೋಡಿತು"),
    "want": ("wants", "wanted", "ಬಯಸುತ್ತ", "ಬಯಸಿದ", "ಬಯಸಿತು"),
    "protect": ("protects", "protected", "ಕಾಪಾಡುತ್ತ", "ಕಾಪಾಡಿದ", "ಕಾಪಾಡಿತು"),
    "call": ("calls", "called", "ಕರೆಯುತ್ತ", "ಕರೆದ", "ಕರೆಯಿತು"),
    "wash": ("washes", "washed", "ತೊಳೆಯುತ್ತ", "ತೊಳೆದ", "ತೊಳೆಯಿತು"),
}
"""English third person and past; Kannada stem of the present and of the past, and the whole past
form for a thing or an animal."""

ENDINGS = {
    "1 sg": ("ೇನೆ", "ೆನು"),
    "1 pl": ("ೇವೆ", "ೆವು"),
    "3 sg m": ("ಾನೆ", "ನು"),
    "3 sg f": ("ಾಳೆ", "ಳು"),
    "3 pl": ("ಾರೆ", "ರು"),
    "3 sg n": ("ದೆ", ""),
}
"""Endings of the present and of the past, by person, number and gender of the subject."""

ADJECTIVES = {"big": "ದೊಡ್ಡ", "small": "ಚಿಕ್ಕ", "new": "ಹೊಸ", "old": "ಹಳೆಯ"}
OWNERS = {"my": "ನನ್ನ", "our": "ನಮ್ಮ", "his": "ಅವನ", "her": "ಅವಳ"}
AND = "ಮತ್ತು"


@dataclass(frozen=True)
class Sentence:
    """A sentence and its translation.

    source: the English words.
    target: the Kannada words.
    alignment: for each Kannada word, the position of its English word.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: tuple[int, ...]


def conjugate(verb: str, agreement: str, past: bool) -> str:
    """The form of a verb that agrees with a subject.

    Raises:
        ValueError: if there is no such verb or agreement.
    """
    require(verb in VERBS, "verb", repr(verb), f"one of {list(VERBS)}")
    require(agreement in ENDINGS, "agreement", repr(agreement), f"one of {list(ENDINGS)}")
    *_, now, before, neuter = VERBS[verb]
    if past and agreement == "3 sg n":
        return neuter
    return (before if past else now) + ENDINGS[agreement][past]


def plural(noun: str) -> str:
    """The plural of an English noun."""
    return PLURALS.get(noun, noun + "s")


def gloss(word: str) -> str:
    """A Kannada word in English, with the meaning of its ending in brackets.

    For instance "tree (object)" or "saw (he)".

    Raises:
        ValueError: if the word does not belong to the fragment.
    """
    require(word in _GLOSSES, "word", repr(word), "a Kannada word of the fragment")
    return _GLOSSES[word]


ENGLISH = Vocabulary(
    [*PRONOUNS, "the", *OWNERS, *ADJECTIVES, *NOUNS, *map(plural, NOUNS)]
    + [form for verb, (third, past, *_) in VERBS.items() for form in (verb, third, past)]
    + ["and"]
)
KANNADA = Vocabulary(
    ["<start>", "<end>", *(word for word, _ in PRONOUNS.values()), *OWNERS.values()]
    + [*ADJECTIVES.values(), *(form for forms in NOUNS.values() for form in forms)]
    + [conjugate(v, a, past) for v in VERBS for a in ENDINGS for past in (False, True)]
    + [AND]
)


def is_held_out(verb: str, noun: str) -> bool:
    """Whether this verb with this object is held out, for a test on unseen combinations.

    Each verb and each noun occurs in training; two or three nouns are held out for each verb.

    Raises:
        ValueError: if there is no such verb or noun.
    """
    require(verb in VERBS, "verb", repr(verb), f"one of {list(VERBS)}")
    require(noun in NOUNS, "noun", repr(noun), f"one of {list(NOUNS)}")
    return (list(NOUNS).index(noun) - 2 * list(VERBS).index(verb)) % 5 == 0


def sentences(
    n: int,
    clauses: int | tuple[int, int],
    generator: torch.Generator,
    *,
    new_pairs: bool = False,
) -> list[Sentence]:
    """Random sentences. Their parts are sampled independently, except for pairs of verb and object.

    Args:
        n: number of sentences.
        clauses: clauses in each sentence, or the smallest and the largest number.
        generator: random generator.
        new_pairs: whether all pairs of verb and object are held out, or none.

    Raises:
        ValueError: if `n` is less than 1, or `clauses` an empty range or less than 1.
    """
    low, high = (clauses, clauses) if isinstance(clauses, int) else clauses
    require(n >= 1, "n", n, "at least 1")
    require(1 <= low <= high, "clauses", clauses, "1 <= least <= greatest")
    # Python's random choices are ten times as fast as torch's.
    pick = random.Random(int(torch.randint(2**31, (), generator=generator)))
    found = []
    for _ in range(n):
        source, target, alignment = [], [], []
        for i in range(pick.randint(low, high)):
            if i > 0:
                alignment.append(len(source))
                source.append("and")
                target.append(AND)
            english, kannada = _clause(pick, new_pairs)
            places = {part: len(source) + at for at, (part, _) in enumerate(english)}
            alignment += [places[part] for part, _ in kannada]
            source += [word for _, word in english]
            target += [word for _, word in kannada]
        found.append(Sentence(tuple(source), tuple(target), tuple(alignment)))
    return found


def translation_batch(pairs: Sequence[Sentence]) -> Batch:
    """Sources and translations from `START` on, and as targets the next tokens up to `END`.

    Raises:
        ValueError: if there is no sentence.
    """
    require(len(pairs) >= 1, "pairs", "none", "at least one")
    source = [encode(ENGLISH, pair.source) for pair in pairs]
    target = [encode(KANNADA, pair.target) for pair in pairs]
    return shift_right(source, target)


def encode(vocabulary: Vocabulary, words: Sequence[str]) -> Int[Tensor, " T"]:
    """The ids of words. (`Vocabulary.encode` would split Kannada words at their vowel signs.)

    Raises:
        ValueError: if a word is not in the vocabulary.
    """
    unknown = [word for word in words if word not in vocabulary.ids]
    require(not unknown, "words", f"the unknown {unknown}", "words of the vocabulary")
    return torch.tensor([vocabulary.ids[word] for word in words], dtype=torch.long)


def words_of(ids: Int[Tensor, " T"] | Sequence[int]) -> tuple[str, ...]:
    """The Kannada words of a translation, up to its end.

    Raises:
        ValueError: if an id lies outside the vocabulary.
    """
    numbers = [int(i) for i in ids]
    KANNADA.require_known(numbers)
    if END in numbers:
        numbers = numbers[: numbers.index(END)]
    return tuple(KANNADA.words[i] for i in numbers if i not in (PAD, START))


def _clause(pick: random.Random, new_pairs: bool) -> tuple[list, list]:
    """A clause in English and Kannada, as lists of (part of the clause, word)."""
    subject, agreement, third = _subject(pick)
    verb = pick.choice(list(VERBS))
    past = bool(pick.randint(0, 1))
    noun = pick.choice([noun for noun in NOUNS if is_held_out(verb, noun) == new_pairs])
    several = bool(pick.randint(0, 1))
    owner = pick.choice(["the", *OWNERS])
    before = [("owner", owner), *_adjective(pick, "which")]
    spoken = VERBS[verb][1] if past else VERBS[verb][0] if third else verb
    form = NOUNS[noun][3 if several else 1]
    english = [*subject, ("verb", spoken), *before, ("object", plural(noun) if several else noun)]
    kannada = [(part, _KANNADA_OF[word]) for part, word in before if word != "the"]
    kannada = [*_kannada_subject(subject), *kannada, ("object", form)]
    return english, [*kannada, ("verb", conjugate(verb, agreement, past))]


def _subject(pick: random.Random) -> tuple[list, str, bool]:
    """English words of a subject, the agreement of the Kannada verb, whether English adds an -s."""
    if pick.randint(0, 1):
        pronoun = pick.choice(list(PRONOUNS))
        return [("subject", pronoun)], PRONOUNS[pronoun][1], pronoun in ("he", "she")
    noun = pick.choice(list(SUBJECTS))
    several = noun in ("boy", "girl") and bool(pick.randint(0, 1))
    word = plural(noun) if several else noun
    words = [("the", "the"), *_adjective(pick, "what"), ("subject", word)]
    return words, "3 pl" if several else SUBJECTS[noun], not several


def _adjective(pick: random.Random, part: str) -> list[tuple[str, str]]:
    """An adjective in half of the cases."""
    return [(part, pick.choice(list(ADJECTIVES)))] if pick.randint(0, 1) else []


def _kannada_subject(english: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(part, _KANNADA_OF[word]) for part, word in english if word != "the"]


_KANNADA_OF = (
    {pronoun: word for pronoun, (word, _) in PRONOUNS.items()}
    | {noun: forms[0] for noun, forms in NOUNS.items()}
    | {plural(noun): forms[2] for noun, forms in NOUNS.items()}
    | ADJECTIVES
    | OWNERS
)

_PERSONS = {"1 sg": "I", "1 pl": "we", "3 sg m": "he", "3 sg f": "she", "3 pl": "they"}
_GLOSSES = (
    {word: "I" if pronoun == "i" else pronoun for pronoun, (word, _) in PRONOUNS.items()}
    | {word: english for english, word in (ADJECTIVES | OWNERS).items()}
    | {
        form: (plural(noun) if several else noun) + (" (object)" if at % 2 else "")
        for noun, forms in NOUNS.items()
        for at, (form, several) in enumerate(zip(forms, (0, 0, 1, 1), strict=True))
    }
    | {
        conjugate(verb, agreement, past): f"{spoken} ({_PERSONS.get(agreement, 'it')})"
        for verb, (third, before, *_) in VERBS.items()
        for agreement in ENDINGS
        for past in (False, True)
        for spoken in [before if past else third if agreement.startswith("3 sg") else verb]
    }
    | {AND: "and"}
)
