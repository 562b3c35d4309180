"""A model's size, work and memory, from the numbers in its config (lecture 12).

Counts of a decoder such as GPT-2 or Llama. A multiplication and the addition behind it are two
operations, as usual; norms, softmax and other small things are left out of the operations.
"""

from __future__ import annotations

from dataclasses import dataclass

from helpers.validation import require, require_sizes


@dataclass(frozen=True)
class TransformerConfig:
    """What the counts depend on.

    Args:
        vocab, d_model, n_layers, n_heads, d_ff: as in `helpers.models.LanguageModel`.
        n_kv_heads: heads of keys and values; as many as `n_heads` if not given.
        d_head: width of a head; `d_model // n_heads` if not given.
        context: rows of a table of learned positions; 0 if there is none.
        tied: whether embedding and readout are one table.
        gated: whether the feed-forward networks have three matrices, as SwiGLU, or two.
        biases: whether projections and norms have them (the readout has none).

    Raises:
        ValueError: if a size is below 1 or `context` below 0, `n_heads` does not divide `d_model`
            where `d_head` is not given, or `n_kv_heads` does not divide `n_heads`.
    """

    vocab: int
    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int
    n_kv_heads: int | None = None
    d_head: int | None = None
    context: int = 0
    tied: bool = True
    gated: bool = False
    biases: bool = True

    def __post_init__(self) -> None:
        require_sizes(vocab=self.vocab, d_model=self.d_model, n_layers=self.n_layers)
        require_sizes(n_heads=self.n_heads, d_ff=self.d_ff, n_kv_heads=self.n_kv_heads)
        require_sizes(d_head=self.d_head)
        require(self.context >= 0, "context", self.context, "at least 0")
        divides = self.d_head is not None or self.d_model % self.n_heads == 0
        needed = f"a multiple of n_heads = {self.n_heads}, or d_head given"
        require(divides, "d_model", self.d_model, needed)
        divides = self.n_heads % self.kv_heads == 0
        needed = f"a number that divides n_heads = {self.n_heads}"
        require(divides, "n_kv_heads", self.n_kv_heads, needed)

    @property
    def head_width(self) -> int:
        """The width of a head."""
        return self.d_head or self.d_model // self.n_heads

    @property
    def kv_heads(self) -> int:
        """The number of heads of keys and values."""
        return self.n_kv_heads or self.n_heads


GPT2 = TransformerConfig(
    vocab=50_257, d_model=768, n_layers=12, n_heads=12, d_ff=3_072, context=1_024
)
"""The smallest GPT-2 (Radford et al., 2019): its `config.json` on huggingface.co."""

LLAMA3_8B = TransformerConfig(
    vocab=128_256,
    d_model=4_096,
    n_layers=32,
    n_heads=32,
    d_ff=14_336,
    n_kv_heads=8,
    tied=False,
    gated=True,
    biases=False,
)
"""Llama 3 with 8 billion parameters (Dubey et al., 2024, table 3; the vocabulary with its 256
special tokens, as in its `config.json`)."""


def matrices(sizes: TransformerConfig) -> dict[str, int]:
    """The weights of all layers that every token is multiplied with, and of the readout."""
    d, heads = sizes.d_model, sizes.n_heads + sizes.kv_heads  # queries and out; keys and values
    return {
        "attention": sizes.n_layers * 2 * d * heads * sizes.head_width,
        "feed-forward": sizes.n_layers * (3 if sizes.gated else 2) * d * sizes.d_ff,
        "lm_head": sizes.vocab * d,
    }


def parameters(sizes: TransformerConfig) -> int:
    """The number of trained numbers."""
    d, d_ff = sizes.d_model, sizes.d_ff
    tables = sizes.context * d + (0 if sizes.tied else sizes.vocab * d)
    norms = (2 * sizes.n_layers + 1) * d
    biases = 0
    if sizes.biases:
        projections = (sizes.n_heads + 2 * sizes.kv_heads) * sizes.head_width + d
        feed_forward = (2 if sizes.gated else 1) * d_ff + d
        biases = sizes.n_layers * (projections + feed_forward) + norms
    return sum(matrices(sizes).values()) + tables + norms + biases


def flops_per_token(sizes: TransformerConfig, seen: int = 0) -> int:
    """Operations for one more token after `seen` others, with a cache.

    Two for each weight of a matrix, and in each layer and head two for each number of the keys and
    of the values that are looked at. Training costs about three times as many (Kaplan et al.,
    2020, section 2.1).

    Raises:
        ValueError: if `seen` is negative.
    """
    require(seen >= 0, "seen", seen, "at least 0")
    looks = 2 * sizes.n_layers * sizes.n_heads * sizes.head_width * (seen + 1)
    return 2 * (sum(matrices(sizes).values()) + looks)


def weight_bytes(sizes: TransformerConfig, bytes_each: float = 2.0) -> float:
    """What the weights take; two bytes each in half precision.

    Raises:
        ValueError: if `bytes_each` is not above 0.
    """
    require(bytes_each > 0, "bytes_each", bytes_each, "a number above 0")
    return parameters(sizes) * bytes_each


def cache_bytes(
    sizes: TransformerConfig, tokens: int, bytes_each: float = 2.0, window: int | None = None
) -> float:
    """What keys and values of a text take; with a sliding window no more than the window.

    Raises:
        ValueError: if `tokens` is negative, `window` below 1, or `bytes_each` not above 0.
    """
    require(tokens >= 0, "tokens", tokens, "at least 0")
    require(bytes_each > 0, "bytes_each", bytes_each, "a number above 0")
    require_sizes(window=window)
    kept = tokens if window is None else min(tokens, window)
    return 2 * sizes.n_layers * sizes.kv_heads * sizes.head_width * kept * bytes_each


def seconds_per_token(
    sizes: TransformerConfig,
    bandwidth: float,
    seen: int = 0,
    batch: int = 1,
    bytes_each: float = 2.0,
) -> float:
    """The least time for one more token in each of `batch` texts, from reading alone.

    The weights are read once for all texts, each text's cache for itself. Arithmetic is taken to
    be faster, as it is for small batches; embeddings that are not read out are looked up, not read
    whole.

    Args:
        sizes: of the model.
        bandwidth: bytes of memory that can be read in a second.
        seen: tokens of each text in the cache.
        batch: how many texts are written side by side.
        bytes_each: of a number.

    Raises:
        ValueError: if `bandwidth` is not above 0 or `batch` below 1, and as `cache_bytes`.
    """
    require(bandwidth > 0, "bandwidth", bandwidth, "bytes a second, above 0")
    require_sizes(batch=batch)
    tables = sizes.context * sizes.d_model + (0 if sizes.tied else sizes.vocab * sizes.d_model)
    read = (parameters(sizes) - tables) * bytes_each
    return (read + batch * cache_bytes(sizes, seen, bytes_each)) / bandwidth
