"""Times as Moodle writes them for people: the month in words, in any language."""

from __future__ import annotations

import functools
import re
from datetime import datetime

from classroom.tables import normal

YEAR = re.compile(r"\b(\d{4})\b")
CLOCK = re.compile(r"\b(\d{1,2})[:.h](\d{2})(?:[:.]\d{2})?\b")
NOON = re.compile(r"\b([ap])\.? ?m\b\.?", re.IGNORECASE)


def moodle_time(words: str) -> datetime:
    """A time such as "Wednesday, 23 September 2020, 9:00 PM" or "Mittwoch, 23. September, …".

    Order and punctuation are free; the month is a word, as Moodle writes it in every language.

    Raises:
        ValueError: if a part is missing, or the month's word means two months in two languages.
    """
    text = " ".join(normal(words).replace("\u202f", " ").replace("\xa0", " ").split())
    clock, noon = CLOCK.search(text), NOON.search(text)
    rest = CLOCK.sub(" ", NOON.sub(" ", text))
    year = YEAR.search(rest)
    days = re.findall(r"(?<!\d)(\d{1,2})(?!\d)", YEAR.sub(" ", rest))
    months = {m for word in re.findall(r"[^\W\d_]+", rest.lower()) for m in _months().get(word, ())}
    if not (clock and year and len(days) == 1 and len(months) == 1):
        raise ValueError(f"{words!r} is no time that is understood")
    hour, minute = int(clock[1]), int(clock[2])
    if noon:
        if not 1 <= hour <= 12:
            raise ValueError(f"{words!r} has no hour from 1 to 12 before {noon[0]}")
        hour = hour % 12 + 12 * (noon[1].lower() == "p")
    try:
        return datetime(int(year[1]), min(months), int(days[0]), hour, minute)
    except ValueError as error:
        raise ValueError(f"{words!r} is no time: {error}") from error


@functools.cache
def _months() -> dict[str, frozenset[int]]:
    """The months that a word in lower case may mean, from Unicode's CLDR."""
    from babel import Locale, localedata

    found: dict[str, set[int]] = {}
    for name in localedata.locale_identifiers():
        if "_" in name:  # the languages, not their variants by country
            continue
        months = Locale.parse(name).months
        for context in ("format", "stand-alone"):
            for number, said in months[context]["wide"].items():
                if not re.search(r"\d", said):
                    found.setdefault(normal(said).lower(), set()).add(number)
    # A word of English is English: its months are what Moodle writes where no language was chosen.
    for number, said in Locale.parse("en").months["format"]["wide"].items():
        found[said.lower()] = {number}
    return {word: frozenset(numbers) for word, numbers in found.items()}
