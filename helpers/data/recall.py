"""Recall tasks: one token, many key-value pairs, two relations at once."""

from __future__ import annotations

import torch

from helpers.tokens import IGNORE_INDEX, Batch
from helpers.validation import require


def first_token_recall_batch(
    batch: int, length: int, generator: torch.Generator, *, n_symbols: int = 8
) -> Batch:
    """One symbol, then noise tokens without information, then a query for the symbol.

    Tokens 0 … n_symbols − 1 are symbols, the next n_symbols are noise, and the last one,
    2 · n_symbols, is the query. The only target is at the query, `length − 1` steps after the
    symbol. Guessing is right with probability 1 / n_symbols.

    Raises:
        ValueError: if `batch` is less than 1, or `length` or `n_symbols` less than 2.
    """
    require(batch >= 1, "batch", batch, "at least 1")
    require(length >= 2, "length", length, "at least 2: a symbol and a question")
    require(n_symbols >= 2, "n_symbols", n_symbols, "at least 2")
    tokens = torch.randint(n_symbols, 2 * n_symbols, (batch, length), generator=generator)
    tokens[:, 0] -= n_symbols
    tokens[:, -1] = 2 * n_symbols
    targets = torch.full_like(tokens, IGNORE_INDEX)
    targets[:, -1] = tokens[:, 0]
    return tokens, targets


def associative_recall_batch(
    batch: int, n_pairs: int, generator: torch.Generator, *, n_keys: int = 64, n_values: int = 64
) -> Batch:
    """Key, value, key, value, …, then every key once more, in random order.

    Tokens 0 … n_keys − 1 are keys, n_keys … n_keys + n_values − 1 are values. The keys of a
    sequence differ; its values are sampled independently. The target at each repeated key is its
    value, counted from 0, so a model needs `n_values` outputs. T = 3 · n_pairs.

    Source: after the multi-query recall of Arora et al. (2023), "Zoology".

    Raises:
        ValueError: if `batch` or `n_values` is less than 1 or `n_pairs` is not in 1 … n_keys.
    """
    require(batch >= 1, "batch", batch, "at least 1")
    require(n_values >= 1, "n_values", n_values, "at least 1")
    require(1 <= n_pairs <= n_keys, "n_pairs", n_pairs, f"1 to n_keys = {n_keys}: keys differ")
    keys = torch.rand(batch, n_keys, generator=generator).argsort(dim=1)[:, :n_pairs]
    values = torch.randint(n_values, (batch, n_pairs), generator=generator)  # (batch, n_pairs)
    order = torch.rand(batch, n_pairs, generator=generator).argsort(dim=1)  # (batch, n_pairs)
    facts = torch.stack([keys, n_keys + values], dim=-1).flatten(1)  # (batch, 2 · n_pairs)
    tokens = torch.cat([facts, keys.gather(1, order)], dim=1)  # (batch, 3 · n_pairs)
    return tokens, torch.cat([torch.full_like(facts, IGNORE_INDEX), values.gather(1, order)], dim=1)


def two_relations_batch(
    batch: int, length: int, generator: torch.Generator, *, n_symbols: int = 52
) -> Batch:
    """Symbols, one of them flagged, and two questions: the previous symbol, the flagged symbol.

    A token is a symbol, plus `n_symbols` if it is flagged. The flagged symbol is in the first half.
    Each position of the second half has two targets: the previous symbol and the flagged symbol.
    The targets are (batch, 2 · length): those of the first question, then those of the second.
    Guessing is right with probability 1 / n_symbols.

    Raises:
        ValueError: if `batch` is less than 1, or `length` or `n_symbols` less than 2.
    """
    require(batch >= 1, "batch", batch, "at least 1")
    require(length >= 2, "length", length, "at least 2")
    require(n_symbols >= 2, "n_symbols", n_symbols, "at least 2")
    half = length // 2
    symbols = torch.randint(n_symbols, (batch, length), generator=generator)
    flagged = torch.randint(half, (batch, 1), generator=generator)
    targets = torch.full((batch, 2, length), IGNORE_INDEX)
    targets[:, 0, half:] = symbols[:, half - 1 : -1]
    targets[:, 1, half:] = symbols.gather(1, flagged)
    tokens = symbols.scatter_add(1, flagged, torch.full_like(flagged, n_symbols))
    return tokens, targets.flatten(1)
