"""Vocabularies, special tokens, and batches of tokens and targets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from helpers.validation import require, require_dims

if TYPE_CHECKING:
    from jaxtyping import Int


PAD = 0
"""Id of the pad token, which brings the sequences of a batch to one length."""

START, END = 1, 2
"""Ids of the start token and the end token of each target sequence."""

IGNORE_INDEX = -100
"""Target at positions that do not count in the loss (as in `F.cross_entropy`)."""


Batch = tuple[Tensor | tuple[Tensor, ...], Tensor]
"""Tokens (batch, T) and targets (batch, T); `IGNORE_INDEX` marks targets that do not count.

A model that reads more than one sequence gets a tuple of them in place of the tokens.
"""


class Vocabulary:
    """Words and their ids. Id 0 is the pad token `<pad>`; the words follow in the order given.

    Words are in lower case: `encode` ignores case, and `decode` begins a text with a capital.

    Raises:
        ValueError: if a word occurs twice or holds a capital letter.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = ("<pad>", *words)
        self.ids = {word: i for i, word in enumerate(self.words)}
        twice = sorted({word for word in self.words if self.words.count(word) > 1})
        require(not twice, "words", f"{twice} more than once", "different words")
        capital = [word for word in self.words if word != word.lower()]
        require(not capital, "words", f"capital letters in {capital}", "words in lower case")

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> Int[Tensor, " T"]:
        """The ids of the words and punctuation marks of `text`, without regard to case.

        Raises:
            ValueError: if a word is not in the vocabulary.
        """
        found = re.findall(r"\w+|[^\w\s]", text.lower())
        unknown = [word for word in found if word not in self.ids]
        require(not unknown, "text", f"the unknown words {unknown}", "words of the vocabulary")
        return torch.tensor([self.ids[word] for word in found], dtype=torch.long)

    def decode(self, ids: Int[Tensor, " T"] | Sequence[int]) -> str:
        """The words of one sentence as text, without pad tokens.

        Raises:
            ValueError: if an id lies outside the vocabulary.
        """
        numbers = [int(i) for i in ids]
        self.require_known(numbers)
        text = " ".join(self.words[i] for i in numbers if i != PAD)
        text = re.sub(r" (?=[^\w\s])", "", text)
        return text[:1].upper() + text[1:]

    def require_known(self, ids: Sequence[int]) -> None:
        """Refuse ids outside the vocabulary.

        Raises:
            ValueError: if an id lies outside.
        """
        outside = [i for i in ids if not 0 <= i < len(self)]
        require(not outside, "ids", outside, f"numbers from 0 to {len(self) - 1}")


def check_tokens(tokens: Int[Tensor, "batch T"], vocab: int, name: str = "tokens") -> None:
    """Refuse tokens that an embedding of `vocab` rows cannot look up.

    Ids on a GPU are not read, since that would wait for all work given to it; torch's own check
    runs there. Nor are those that torch compiles a model for: they do not exist yet.

    Raises:
        ValueError: if `tokens` are not ids, (batch, T). The message calls them `name`.
    """
    require_dims(name, tokens, 2, "(batch, T)")
    whole = tokens.dtype in (torch.int64, torch.int32)
    require(whole, name, f"dtype {tokens.dtype}", "torch.int64, ids of tokens")
    if torch.compiler.is_compiling() or tokens.device.type != "cpu":
        return
    outside = tokens[(tokens < 0) | (tokens >= vocab)][:3].tolist()
    require(not outside, name, f"ids such as {outside}", f"numbers from 0 to {vocab - 1}")


def shift_right(
    sources: Sequence[Int[Tensor, " _"]], targets: Sequence[Int[Tensor, " _"]]
) -> Batch:
    """A batch for teacher forcing: (sources, targets from `START` on), and the targets up to `END`.

    Raises:
        ValueError: if there is no source, or not one target for each.
    """
    require(len(sources) >= 1, "sources", "none", "at least one")
    needed = f"{len(sources)}, one for each source"
    require(len(targets) == len(sources), "targets", len(targets), needed)
    device = sources[0].device
    first, last = (torch.tensor([id], device=device) for id in (START, END))  # (1,) each
    begun = [torch.cat([first, row]) for row in targets]
    ended = [torch.cat([row, last]) for row in targets]
    source, target = (pad_sequence(rows, True, PAD) for rows in (sources, begun))
    return (source, target), pad_sequence(ended, True, IGNORE_INDEX)


def next_word_batch(tokens: Int[Tensor, "batch T"]) -> Batch:
    """Texts, and the next token as the target of each; pad tokens are never a target.

    Raises:
        ValueError: if `tokens` are not (batch, T).
    """
    require_dims("tokens", tokens, 2, "(batch, T)")
    targets = torch.full_like(tokens, IGNORE_INDEX)
    targets[:, :-1] = tokens[:, 1:].masked_fill(tokens[:, 1:] == PAD, IGNORE_INDEX)
    return tokens, targets
