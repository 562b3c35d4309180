"""Tiny Shakespeare: about a million characters of Shakespeare's plays, for character-level models.

The text is the file `data/tinyshakespeare/input.txt` of char-rnn (Karpathy, 2015), compressed:
parts of the plays, which are in the public domain. The split is that of nanoGPT: the first nine
tenths for training, the last tenth for evaluation. Ids follow the sorted characters, and 0 is the
pad token, as in all vocabularies of the course.
"""

from __future__ import annotations

import bz2
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from helpers.tokens import Batch
from helpers.validation import require

if TYPE_CHECKING:
    from jaxtyping import Int

HELD_OUT = 0.1
"""Share of the text at its end that no model is trained on."""


@cache
def plays() -> str:
    """The whole text: speeches, each after the name of its speaker, separated by empty lines."""
    file = resources.files("helpers") / "data" / "shakespeare.txt.bz2"
    return bz2.decompress(file.read_bytes()).decode("ascii")


@cache
def characters() -> str:
    """The 65 characters of the text in sorted order; the id of a character is its place plus 1."""
    return "".join(sorted(set(plays())))


def encode(text: str) -> Int[Tensor, " T"]:
    """The ids of the characters of a text.

    Raises:
        ValueError: if a character does not occur in the plays.
    """
    ids = {character: i for i, character in enumerate(characters(), start=1)}
    unknown = sorted(set(text) - set(ids))
    require(not unknown, "text", f"the characters {unknown}", "those of the plays")
    return torch.tensor([ids[character] for character in text])


def decode(ids: Int[Tensor, " T"]) -> str:
    """The text of some ids, without pad tokens.

    Raises:
        ValueError: if an id is none of a character or the pad token.
    """
    known = ("", *characters())
    outside = [i for i in ids.tolist() if not 0 <= i < len(known)][:3]
    require(not outside, "ids", f"numbers such as {outside}", f"numbers from 0 to {len(known) - 1}")
    return "".join(known[i] for i in ids.tolist())


def split(text: Int[Tensor, " N"]) -> tuple[Int[Tensor, " n"], Int[Tensor, " m"]]:
    """The part of a text for training, and its end for evaluation."""
    end = int((1 - HELD_OUT) * len(text))
    return text[:end], text[end:]


def character_batch(
    text: Int[Tensor, " n"], size: int, length: int, generator: torch.Generator
) -> Batch:
    """`size` random windows of `length` characters, and the next character at each position.

    Raises:
        ValueError: if the text is not longer than a window.
    """
    require(len(text) > length, "text", f"{len(text)} characters", f"more than length = {length}")
    starts = torch.randint(len(text) - length, (size, 1), generator=generator)
    windows = text[starts + torch.arange(length + 1)]  # (size, length + 1)
    return windows[:, :-1], windows[:, 1:]


def windows(text: Int[Tensor, " n"], length: int) -> Batch:
    """The text cut into windows of `length` characters, each with its next characters.

    Raises:
        ValueError: if the text is not longer than a window.
    """
    require(len(text) > length, "text", f"{len(text)} characters", f"more than length = {length}")
    n = (len(text) - 1) // length
    return text[: n * length].view(n, length), text[1 : n * length + 1].view(n, length)
