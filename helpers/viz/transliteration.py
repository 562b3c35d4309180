"""Transliteration of Kannada, and tables of sentences with both scripts."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

_CELL = (
    "background:none;border:0;border-bottom:1px solid #8884;font-weight:normal;"
    "padding:.3rem 1.6rem .3rem 0;text-align:left;vertical-align:top"
)


def show_sentences(
    *rows: tuple[str, Sequence[str]], gloss: Callable[[str], str] | None = None
) -> None:
    """A table: words of English or a note, the Kannada words, and below them how they sound.

    Args:
        rows: text of the left column, and the Kannada words.
        gloss: maps a Kannada word to its meaning, for a third line.
    """
    from IPython.display import HTML, display

    display(HTML(to_html(*rows, gloss=gloss)))


def to_html(*rows: tuple[str, Sequence[str]], gloss: Callable[[str], str] | None = None) -> str:
    """The table that `show_sentences` displays. Kannada is marked as such, for screen readers."""

    def meaning(words: Sequence[str]) -> str:
        return "" if gloss is None else f"<br>{html.escape(' · '.join(map(gloss, words)))}"

    lines = "".join(
        f'<tr><th scope="row" style="{_CELL}">{html.escape(left)}</th>'
        f'<td style="{_CELL}"><span lang="kn">{html.escape(" ".join(words))}</span><br>'
        f'<i lang="kn-Latn">{html.escape(transliterate(" ".join(words)))}</i>{meaning(words)}'
        "</td></tr>"
        for left, words in rows
    )
    return f'<table style="border-collapse:collapse"><tbody>{lines}</tbody></table>'


_CONSONANTS = dict(
    zip(
        "ಕಖಗಘಙಚಛಜಝಞಟಠಡಢಣತಥದಧನಪಫಬಭಮಯರಲವಶಷಸಹಳ",
        "k kh g gh ṅ c ch j jh ñ ṭ ṭh ḍ ḍh ṇ t th d dh n p ph b bh m y r l v ś ṣ s h ḷ".split(),
        strict=True,
    )
)


_VOWELS = dict(zip("ಅಆಇಈಉಊಋಎಏಐಒಓಔ", "a ā i ī u ū r̥ e ē ai o ō au".split(), strict=True))


_SIGNS = dict(zip("ಾಿೀುೂೃೆೇೈೊೋೌ", "ā i ī u ū r̥ e ē ai o ō au".split(), strict=True))


_OTHERS = {"ಂ": "ṁ", "ಃ": "ḥ"}


_SILENT = "್"


def transliterate(text: str) -> str:
    """The Kannada letters of the lecture in Latin ones, as in ISO 15919. All others stay."""
    found = []
    for at, letter in enumerate(text):
        if letter in _CONSONANTS:
            after = text[at + 1 : at + 2]
            found.append(_CONSONANTS[letter])
            found.append("" if after == _SILENT or after in _SIGNS else "a")
        elif letter != _SILENT:
            found.append((_VOWELS | _SIGNS | _OTHERS).get(letter, letter))
    return "".join(found)
