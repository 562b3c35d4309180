"""Byte pair encoding from scratch, on bytes as in GPT-2 (lecture 12).

A text is first split into words, each with the space before it. A word is a sequence of bytes, so
that every character of every script is covered, and each byte is written as a printable character:
`Ġ` is the space. Then the most frequent pair of neighbouring tokens is merged into one token, again
and again. The same merges, in the same order, tokenize new text.

Sources: Sennrich et al. (2016), section 3.2; Radford et al. (2019), section 2.2, for bytes. Merges
and tokens are those of the library `tokenizers`, ties included.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

from helpers.validation import require

Pair = tuple[str, str]


def _signs() -> list[str]:
    """A character for each byte: itself if it can be printed, else the next one from 256 on."""
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in printed)
    signs = {byte: chr(byte) for byte in printed}
    signs |= {byte: chr(256 + i) for i, byte in enumerate(others)}
    return [signs[byte] for byte in range(256)]


SIGNS = _signs()
BYTES = {sign: byte for byte, sign in enumerate(SIGNS)}

# Letters, numbers, other signs, each with one space before them, or white space. The text is
# first written as a letter for the kind of each of its characters; see `_kinds`.
_RUN = re.compile(r"_?L+|_?N+|_?O+|[_S]+(?![LNO])|[_S]+")
_ENDINGS = re.compile(r"'(?:s|t|re|ve|m|ll|d)")


def words(text: str) -> list[str]:
    """The text split as in GPT-2: words with the space before them, numbers, other characters.

    Of several spaces the last one belongs to the word; an ending such as 's is a word of its own.
    """
    kinds, cut, at = _kinds(text), [], 0
    while at < len(text):
        found = _ENDINGS.match(text, at) or _RUN.match(kinds, at)
        cut.append(text[at : found.end()])
        at = found.end()
    return cut


def _kinds(text: str) -> str:
    """L for a letter, N for a number, _ for a space, S for other white space, O for the rest."""
    return "".join(map(_kind, text))


def _kind(sign: str) -> str:
    category = unicodedata.category(sign)
    if sign == " ":
        return "_"
    # Python also counts four control characters as white space, Unicode does not.
    if sign.isspace() and sign not in "\x1c\x1d\x1e\x1f":
        return "S"
    return category[0] if category[0] in "LN" else "O"


def spelled(word: str) -> tuple[str, ...]:
    """The bytes of a word, each as its sign."""
    return tuple(SIGNS[byte] for byte in word.encode("utf-8"))


def merge(tokens: Sequence[str], pair: Pair) -> tuple[str, ...]:
    """The tokens, with the two of the pair made one wherever they are neighbours, from the left."""
    out, at = [], 0
    while at < len(tokens):
        both = tuple(tokens[at : at + 2]) == pair
        out.append(tokens[at] + tokens[at + 1] if both else tokens[at])
        at += 2 if both else 1
    return tuple(out)


class BPETokenizer:
    """A vocabulary of subword tokens, and the pairs that are merged, the first one first.

    Args:
        merges: the pairs.

    Raises:
        ValueError: if a pair needs a token that no earlier one makes.
    """

    def __init__(self, merges: Iterable[Pair] = ()) -> None:
        self.merges = [tuple(pair) for pair in merges]
        self.ids = {sign: i for i, sign in enumerate(sorted(SIGNS))}
        for pair in self.merges:
            known = len(pair) == 2 and all(token in self.ids for token in pair)
            require(known, "merges", pair, "pairs of bytes' signs and of tokens made before")
            self.ids.setdefault("".join(pair), len(self.ids))

    @classmethod
    def train(cls, texts: Iterable[str], size: int) -> BPETokenizer:
        """A tokenizer that merges the most frequent pair of `texts` until it has `size` tokens.

        Of equally frequent pairs the one whose tokens have the smaller ids is first. There are
        fewer tokens where no two neighbours are left.

        Raises:
            ValueError: if `size` is below the 256 tokens that every vocabulary has.
        """
        require(size >= len(SIGNS), "size", size, f"at least {len(SIGNS)}, one for each byte")
        counts = Counter(word for text in texts for word in words(text))
        tokens_of = {word: spelled(word) for word in counts}
        tokenizer, found = cls(), Counter[Pair]()
        for word, own in tokens_of.items():
            _count(found, own, counts[word])
        while len(tokenizer.ids) < size and found:
            ids = tokenizer.ids
            best = min(found, key=lambda pair: (-found[pair], ids[pair[0]], ids[pair[1]]))
            tokenizer.merges.append(best)
            ids.setdefault("".join(best), len(ids))
            for word, own in tokens_of.items():
                if best in pairwise(own):
                    tokens_of[word] = merge(own, best)
                    _count(found, own, -counts[word])
                    _count(found, tokens_of[word], counts[word])
            found = +found  # without those that no longer occur
        return tokenizer

    @cached_property
    def _ranks(self) -> dict[Pair, int]:
        return {pair: rank for rank, pair in enumerate(self.merges)}

    def _tokens_of(self, word: str) -> tuple[str, ...]:
        """The tokens of one word: of the pairs in it, the one learned first is merged first."""
        own = spelled(word)
        while pairs := [p for p in pairwise(own) if p in self._ranks]:
            own = merge(own, min(pairs, key=self._ranks.__getitem__))
        return own

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text."""
        return [token for word in words(text) for token in self._tokens_of(word)]

    def encode(self, text: str) -> list[int]:
        """The ids of a text's tokens."""
        return [self.ids[token] for token in self.tokenize(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of these tokens. Bytes that are no whole sign become �.

        Raises:
            ValueError: if there is no token with an id.
        """
        known = list(self.ids)
        ids = list(ids)
        strange = [i for i in ids if not 0 <= i < len(known)][:3]
        require(not strange, "ids", f"numbers such as {strange}", f"0 to {len(known) - 1}")
        signs = "".join(known[i] for i in ids)
        return bytes(BYTES[sign] for sign in signs).decode("utf-8", errors="replace")

    def __len__(self) -> int:
        return len(self.ids)


def _count(found: Counter[Pair], tokens: Sequence[str], times: int) -> None:
    """Add the neighbours in a word that comes that many times."""
    for pair in pairwise(tokens):
        found[pair] += times
