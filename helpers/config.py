"""`TransformerConfig`: the sizes and options of a transformer, and what they cost (lecture 12).

The models of `helpers.models` and `helpers.encoder_decoder` are built from a config, pretrained
models are described by one, and the functions below count its parameters, operations, memory and
time. They count a `LanguageModel`, such as GPT-2 or Llama. A multiplication and an addition are two
operations; norms, softmax and other small terms are left out of the operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from helpers.validation import require, require_share, require_sizes

ACTIVATIONS = ("relu", "gelu", "swiglu")


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes and options of a transformer. `dataclasses.replace` makes a copy with changes.

    Args:
        vocab: number of tokens in the vocabulary.
        d_model: width of the residual stream.
        n_layers: number of blocks, 0 or more; of an encoder-decoder, in each half.
        n_heads: heads of every attention layer.
        d_ff: hidden units of each feed-forward network; `4 · d_model` if not given.
        n_kv_heads: heads of keys and values, which divide `n_heads`; `n_heads` if not given.
        d_head: width of a head; `d_model // n_heads` if not given.
        source_vocab: tokens in the vocabulary of an encoder; `vocab` if not given.
        n_outputs: logits at each position of a `TransformerModel`; `vocab` if not given.
        context_length: the longest sequence that a model accepts; any length if not given.
        learned_positions: whether positions are learned vectors, `context_length` of them.
        norm: "pre" normalizes the input of each sublayer, "post" the sum after it.
        rms_norm: whether the norms are RMSNorm in place of layer norm.
        norm_eps: the small number added to the variance in each norm.
        activation: "relu" or "gelu" between two matrices, or "swiglu", which has three.
        bias: whether projections, norms, feed-forward networks and the LM head have biases.
            RMSNorm, SwiGLU and the LM head of a `LanguageModel` have none.
        dropout: probability of dropout on attention weights, hidden units and sublayer outputs.
        embedding_dropout: probability of dropout on the sum of embeddings and positions (Vaswani et
            al., 2017, section 5.4; GPT-2).
        tied: whether the LM head shares its weights with the embedding. A `LanguageModel` does if
            this is not given; the other models cannot.
        scale_embedding: whether embeddings are multiplied by √d_model, so that sinusoidal positions
            do not drown them; with GPT-2 and Llama they are not. A `LanguageModel` does if this is
            not given; the other models cannot.

    Raises:
        ValueError: if a size is too small, `n_heads` does not divide `d_model` where `d_head` is
            not given, `n_kv_heads` does not divide `n_heads`, an option is unknown, or positions
            are learned without a `context_length`.
    """

    vocab: int
    d_model: int
    n_layers: int = 2
    n_heads: int = 2
    d_ff: int | None = None
    n_kv_heads: int | None = None
    d_head: int | None = None
    source_vocab: int | None = None
    n_outputs: int | None = None
    context_length: int | None = None
    learned_positions: bool = False
    norm: Literal["pre", "post"] = "pre"
    rms_norm: bool = False
    norm_eps: float = 1e-5
    activation: Literal["relu", "gelu", "swiglu"] = "relu"
    bias: bool = True
    dropout: float = 0.0
    embedding_dropout: float = 0.0
    tied: bool | None = None
    scale_embedding: bool | None = None

    def __post_init__(self) -> None:
        require_sizes(vocab=self.vocab, d_model=self.d_model, n_heads=self.n_heads, d_ff=self.d_ff)
        require_sizes(n_kv_heads=self.n_kv_heads, d_head=self.d_head, n_outputs=self.n_outputs)
        require_sizes(source_vocab=self.source_vocab, context_length=self.context_length)
        require(self.n_layers >= 0, "n_layers", self.n_layers, "at least 0")
        divides = self.d_head is not None or self.d_model % self.n_heads == 0
        needed = f"a multiple of n_heads = {self.n_heads}, or d_head given"
        require(divides, "d_model", self.d_model, needed)
        divides = self.n_heads % self.kv_heads == 0
        needed = f"a number that divides n_heads = {self.n_heads}"
        require(divides, "n_kv_heads", self.n_kv_heads, needed)
        require(self.norm in ("pre", "post"), "norm", repr(self.norm), "'pre' or 'post'")
        known, needed = self.activation in ACTIVATIONS, " or ".join(map(repr, ACTIVATIONS))
        require(known, "activation", repr(self.activation), needed)
        require_share("dropout", self.dropout)
        require_share("embedding_dropout", self.embedding_dropout)
        has_length = self.context_length is not None or not self.learned_positions
        require(has_length, "context_length", None, "a number, for learned positions")

    @property
    def head_width(self) -> int:
        """Width of a head: `d_head`, or its default."""
        return self.d_head or self.d_model // self.n_heads

    @property
    def kv_heads(self) -> int:
        """Number of heads of keys and values: `n_kv_heads`, or its default."""
        return self.n_kv_heads or self.n_heads

    @property
    def ff_width(self) -> int:
        """Hidden units of a feed-forward network: `d_ff`, or its default."""
        return self.d_ff or 4 * self.d_model


GPT2 = TransformerConfig(
    vocab=50_257,
    d_model=768,
    n_layers=12,
    n_heads=12,
    d_ff=3_072,
    context_length=1_024,
    learned_positions=True,
    activation="gelu",
    scale_embedding=False,
)
"""The smallest GPT-2 (Radford et al., 2019): its `config.json` on huggingface.co."""

LLAMA3_8B = TransformerConfig(
    vocab=128_256,
    d_model=4_096,
    n_layers=32,
    n_heads=32,
    d_ff=14_336,
    n_kv_heads=8,
    context_length=8_192,
    rms_norm=True,
    activation="swiglu",
    bias=False,
    tied=False,
    scale_embedding=False,
)
"""Llama 3 with 8 billion parameters (Dubey et al., 2024, table 3; the vocabulary with its 256
special tokens, as in its `config.json`)."""


def matrices(config: TransformerConfig) -> dict[str, int]:
    """Number of weights in the matrices that every token passes through, by kind."""
    d, heads = config.d_model, config.n_heads + config.kv_heads  # query, output; key, value
    return {
        "attention": config.n_layers * 2 * d * heads * config.head_width,
        "feed-forward": config.n_layers * _ff_matrices(config) * d * config.ff_width,
        "lm_head": config.vocab * d,
    }


def parameters(config: TransformerConfig) -> int:
    """Number of trainable parameters of `LanguageModel(config)`."""
    d, norms = config.d_model, 2 * config.n_layers + (config.norm == "pre")
    norm_weights, biases = norms * d, 0
    if config.bias:
        projections = (config.n_heads + 2 * config.kv_heads) * config.head_width + d
        feed_forward = 0 if config.activation == "swiglu" else config.ff_width + d
        biases = config.n_layers * (projections + feed_forward)
        biases += 0 if config.rms_norm else norm_weights
    return sum(matrices(config).values()) + _lookup_tables(config) + norm_weights + biases


def flops_per_token(config: TransformerConfig, seen: int = 0) -> int:
    """Operations to process one more token after `seen` tokens, with a KV cache.

    Each weight of a matrix costs two. In each layer and head, each number of the keys and of the
    values that the token attends to costs two. Training costs about three times as many (Kaplan et
    al., 2020, section 2.1).

    Raises:
        ValueError: if `seen` is negative.
    """
    require(seen >= 0, "seen", seen, "at least 0")
    attended = 2 * config.n_layers * config.n_heads * config.head_width * (seen + 1)
    return 2 * (sum(matrices(config).values()) + attended)


def weight_bytes(config: TransformerConfig, bytes_each: float = 2.0) -> float:
    """Memory of the weights in bytes; two bytes each in half precision.

    Raises:
        ValueError: if `bytes_each` is not above 0.
    """
    require(bytes_each > 0, "bytes_each", bytes_each, "a number above 0")
    return parameters(config) * bytes_each


def cache_bytes(
    config: TransformerConfig, tokens: int, bytes_each: float = 2.0, window: int | None = None
) -> float:
    """Memory of the KV cache in bytes, for one sequence of `tokens` tokens.

    With a sliding window the cache holds the last `window` tokens only.

    Raises:
        ValueError: if `tokens` is negative, `window` below 1, or `bytes_each` not above 0.
    """
    require(tokens >= 0, "tokens", tokens, "at least 0")
    require(bytes_each > 0, "bytes_each", bytes_each, "a number above 0")
    require_sizes(window=window)
    cached = tokens if window is None else min(tokens, window)
    return 2 * config.n_layers * config.kv_heads * config.head_width * cached * bytes_each


def seconds_per_token(
    config: TransformerConfig,
    bandwidth: float,
    seen: int = 0,
    batch: int = 1,
    bytes_each: float = 2.0,
) -> float:
    """Lower bound in seconds for generating one more token of each sequence: memory reads alone.

    Each step reads the weights once for the whole batch, and one KV cache for each sequence.
    Arithmetic is assumed to be faster than these reads, which holds for small batches. Embeddings
    are looked up row by row, so their tables are not read as a whole unless they are the LM head.

    Args:
        config: of the model.
        bandwidth: of the memory, in bytes a second.
        seen: tokens of each sequence that are in the cache.
        batch: number of sequences generated side by side.
        bytes_each: size of a number in bytes.

    Raises:
        ValueError: if `bandwidth` is not above 0 or `batch` below 1, and as `cache_bytes`.
    """
    require(bandwidth > 0, "bandwidth", bandwidth, "bytes a second, above 0")
    require_sizes(batch=batch)
    weights = (parameters(config) - _lookup_tables(config)) * bytes_each
    return (weights + batch * cache_bytes(config, seen, bytes_each)) / bandwidth


def _ff_matrices(config: TransformerConfig) -> int:
    return 3 if config.activation == "swiglu" else 2


def _lookup_tables(config: TransformerConfig) -> int:
    """Number of weights that are only looked up: learned positions, and an untied embedding."""
    rows = config.context_length if config.learned_positions else 0
    return (rows + (config.vocab if config.tied is False else 0)) * config.d_model
