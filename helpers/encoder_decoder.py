"""The encoder-decoder transformer, which maps one sequence to another (lecture 9).

It maps (source, target) to logits (batch, T_q, vocab). The logits at a position of the target
depend on the whole source and on the target up to and including that position. Pad tokens (`PAD`)
stand on the right of both sequences. In the source a mask hides them. In the target the causal mask
hides them from all earlier positions, and their own outputs do not count, because the targets there
are `IGNORE_INDEX`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from helpers.blocks import DecoderCache, DecoderStack, TransformerStack
from helpers.config import TransformerConfig
from helpers.models import (
    eval_mode,
    positions_or_default,
    refuse_language_model_options,
    smaller_length,
)
from helpers.positions import PositionEncoding
from helpers.tokens import PAD, check_tokens
from helpers.validation import require, require_dims, require_length

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


def source_mask(source: Int[Tensor, "batch T_k"]) -> Bool[Tensor, "batch 1 1 T_k"]:
    """A mask that hides the pad tokens of the source.

    Raises:
        ValueError: if `source` is not (batch, T_k).
    """
    require_dims("source", source, 2, "(batch, T_k)")
    return (source != PAD)[:, None, None, :]  # (batch, 1, 1, T_k)


class EncoderDecoder(nn.Module):
    """The transformer of Vaswani et al. (2017), figure 1, made of this course's blocks.

    With `norm="post"` and `SinusoidalPositions()` its blocks are theirs. Unlike theirs, it does not
    scale or share its embeddings (their section 3.4).

    Args:
        config: sizes and options. `source_vocab` is the vocabulary of the source; `vocab` is that
            of the target, and the number of logits. Encoder and decoder have `n_layers` blocks
            each. `context_length` limits source and target, each by itself.
        positions: an encoding of `helpers.positions` for both sequences, as in `TransformerModel`.

    Raises:
        ValueError: if the config asks for tied weights, scaled embeddings or another number of
            outputs than `vocab`, or the positions have a window: it is causal, and an encoder reads
            in both directions.
    """

    def __init__(
        self, config: TransformerConfig, positions: PositionEncoding | None = None
    ) -> None:
        super().__init__()
        refuse_language_model_options(config)
        fits = config.n_outputs in (None, config.vocab)
        needed = f"{config.vocab}, as vocab, or not given"
        require(fits, "n_outputs", config.n_outputs, needed)
        self.config = config
        self.positions = positions_or_default(config, positions)
        window = self.positions.window
        needed = "none: it is causal, and an encoder reads in both directions"
        require(window is None, "positions", f"a window of {window}", needed)
        self.source_embedding = nn.Embedding(config.source_vocab or config.vocab, config.d_model)
        self.target_embedding = nn.Embedding(config.vocab, config.d_model)
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        in_attention = self.positions.for_attention()
        self.encoder = TransformerStack(config, in_attention)
        self.decoder = DecoderStack(config, in_attention)
        self.lm_head = nn.Linear(config.d_model, config.vocab, bias=config.bias)

    @property
    def context_length(self) -> int | None:
        """The longest source, and the longest target, that the model accepts; None for any."""
        return smaller_length(self.config.context_length, self.positions.context_length)

    def forward(
        self,
        source: Int[Tensor, "batch T_k"],
        target: Int[Tensor, "batch T_q"],
        return_weights: bool = False,
    ) -> (
        Float[Tensor, "batch T_q vocab"]
        | tuple[Float[Tensor, "batch T_q vocab"], list[Float[Tensor, "batch heads T_q T_k"]]]
    ):
        """Logits of the token after each target token; cross-attention weights if asked for.

        Args:
            source: token ids of the source.
            target: token ids of the target so far, from the start token on.
            return_weights: whether to return each block's cross-attention weights.

        Raises:
            ValueError: if source or target are not ids, (batch, T), or longer than
                `context_length`, or their batches differ.
        """
        memory = self.encode(source)  # (batch, T_k, d_model)
        return self.decode(target, memory, source_mask(source), return_weights)

    def encode(self, source: Int[Tensor, "batch T_k"]) -> Float[Tensor, "batch T_k d_model"]:
        """The memory: the encoder's output vector for each token of the source.

        Raises:
            ValueError: if `source` is not ids, (batch, T_k), or longer than `context_length`.
        """
        self._check("source", source, self.source_embedding)
        x = self.positions.embed(self.source_embedding(source))  # (batch, T_k, d_model)
        return self.encoder(self.embedding_dropout(x), source_mask(source))

    def decode(
        self,
        target: Int[Tensor, "batch T_q"],
        memory: Float[Tensor, "batch T_k d_model"],
        memory_mask: Bool[Tensor, "batch 1 1 T_k"] | None = None,
        return_weights: bool = False,
        cache: list[DecoderCache] | None = None,
    ) -> (
        Float[Tensor, "batch T_q vocab"]
        | tuple[Float[Tensor, "batch T_q vocab"], list[Float[Tensor, "batch heads T_q T_k"]]]
    ):
        """Logits of the token after each target token, given the memory.

        Args:
            target: token ids of the target so far; with a cache, those that follow the cached ones.
            memory: from `encode`.
            memory_mask: from `source_mask`.
            return_weights: whether to return each block's cross-attention weights.
            cache: from `new_cache`.

        Raises:
            ValueError: as `forward`, or if the cache is of another model, batch or memory.
        """
        x = self.states(target, memory, memory_mask, return_weights, cache)
        x, weights = x if return_weights else (x, None)
        logits = self.lm_head(x)  # (batch, T_q, vocab)
        return (logits, weights) if return_weights else logits

    def states(
        self,
        target: Int[Tensor, "batch T_q"],
        memory: Float[Tensor, "batch T_k d_model"],
        memory_mask: Bool[Tensor, "batch 1 1 T_k"] | None = None,
        return_weights: bool = False,
        cache: list[DecoderCache] | None = None,
    ) -> (
        Float[Tensor, "batch T_q d_model"]
        | tuple[Float[Tensor, "batch T_q d_model"], list[Float[Tensor, "batch heads T_q T_k"]]]
    ):
        """The decoder's output before the LM head; arguments and errors as in `decode`."""
        start = cache[0].own.seen if cache else 0
        self._check("target", target, self.target_embedding, start)
        x = self.positions.embed(self.target_embedding(target), start)  # (batch, T_q, d_model)
        x = self.embedding_dropout(x)
        return self.decoder(x, memory, None, memory_mask, return_weights, cache, causal=True)

    def _check(self, name: str, tokens: Tensor, embedding: nn.Embedding, start: int = 0) -> None:
        """Refuse tokens that the embedding or the context length does not allow."""
        check_tokens(tokens, embedding.num_embeddings, name)
        require_length(name, start + tokens.shape[1], self.context_length)

    def new_cache(self) -> list[DecoderCache]:
        """An empty cache for each block of the decoder."""
        return [DecoderCache() for _ in self.decoder.blocks]

    def condition_on(self, source: Int[Tensor, "batch T_k"]) -> ConditionedDecoder:
        """The decoder for a fixed source: a model of the target alone, which can generate.

        The source is encoded once, here, in evaluation mode and without a gradient.

        Raises:
            ValueError: as `encode`.
        """
        with eval_mode(self), torch.no_grad():
            memory = self.encode(source)  # (batch, T_k, d_model)
        return ConditionedDecoder(self, memory, source_mask(source))


class ConditionedDecoder(nn.Module):
    """A decoder conditioned on one source, or on a batch of sources.

    It maps targets (batch, T_q) to logits, as a language model does, so that the functions of
    `helpers.generation` work with it. A single source serves any number of targets.
    """

    def __init__(self, model: nn.Module, memory: Tensor, memory_mask: Tensor) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("memory", memory, persistent=False)  # moves with the model
        self.register_buffer("memory_mask", memory_mask, persistent=False)
        self.training = model.training  # `train` would reset the modes of the model's parts

    @property
    def context_length(self) -> int | None:
        """The longest target that the model accepts; None for any length."""
        return self.model.context_length

    def forward(
        self, target: Int[Tensor, "batch T_q"], cache: list[DecoderCache] | None = None
    ) -> Float[Tensor, "batch T_q vocab"]:
        """Logits of the token after each target token.

        Raises:
            ValueError: as the model's `decode`.
        """
        memory, mask = self.memory, self.memory_mask
        if len(memory) == 1:
            memory = memory.expand(len(target), -1, -1)  # (batch, T_k, d_model)
            mask = mask.expand(len(target), -1, -1, -1)  # (batch, 1, 1, T_k)
        return self.model.decode(target, memory, mask, cache=cache)

    def new_cache(self) -> list[DecoderCache]:
        """An empty cache for each block of the decoder."""
        return self.model.new_cache()
