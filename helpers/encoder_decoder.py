"""The transformer that reads one sequence and writes another (lecture 9).

All of them map (source, target) to logits (batch, T_q, vocab): the logits at a position of the
target depend on the whole source and on the target up to and including that position. Filler
(`PAD`) stands on the right, in both. In the source nobody attends to it. In the target a causal
mask hides it from everything before it, and what is computed at filler itself counts for nothing,
as its targets are `IGNORE_INDEX`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from helpers.blocks import DecoderCache, DecoderStack, TransformerStack
from helpers.positions import PositionEncoding
from helpers.tokens import PAD, check_tokens
from helpers.training import eval_mode
from helpers.validation import require_dims, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


def source_mask(source: Int[Tensor, "batch T_k"]) -> Bool[Tensor, "batch 1 1 T_k"]:
    """Everybody may attend to the words of the source, and nobody to filler.

    Raises:
        ValueError: if `source` is not (batch, T_k).
    """
    require_dims("source", source, 2, "(batch, T_k)")
    return (source != PAD)[:, None, None, :]  # (batch, 1, 1, T_k)


class EncoderDecoder(nn.Module):
    """The transformer of Vaswani et al. (2017), figure 1, of the course's own blocks.

    As there with `norm="post"` and `SinusoidalPositions()`; the defaults are those of the course.

    Args:
        source_vocab: number of different tokens of the source.
        target_vocab: number of different tokens of the target, and of logits.
        d_model: width of both residual streams.
        n_layers: number of blocks in the encoder, and in the decoder.
        n_heads: heads of every attention.
        d_ff: width inside the feed-forward networks; `4 · d_model` if not given.
        positions: an encoding of `helpers.positions` for both sequences; none if not given.
        norm: "pre" or "post", as in `TransformerBlock`.
        dropout: as in `TransformerBlock`.

    Raises:
        ValueError: if a size is below 1 (`n_layers` may be 0: then the blocks' sizes are not used,
            nor checked), and as `TransformerBlock`.
    """

    def __init__(
        self,
        source_vocab: int,
        target_vocab: int,
        d_model: int,
        n_layers: int = 2,
        n_heads: int = 2,
        d_ff: int | None = None,
        positions: PositionEncoding | None = None,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_sizes(source_vocab=source_vocab, target_vocab=target_vocab, d_model=d_model)
        self.positions = PositionEncoding() if positions is None else positions
        sizes = (n_layers, d_model, n_heads, d_ff, norm, dropout, self.positions)
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = TransformerStack(*sizes)
        self.decoder = DecoderStack(*sizes)
        self.lm_head = nn.Linear(d_model, target_vocab)

    def forward(
        self,
        source: Int[Tensor, "batch T_k"],
        target: Int[Tensor, "batch T_q"],
        return_weights: bool = False,
    ) -> (
        Float[Tensor, "batch T_q vocab"]
        | tuple[Float[Tensor, "batch T_q vocab"], list[Float[Tensor, "batch heads T_q T_k"]]]
    ):
        """Logits of the token after each one of the target; each block's weights on the source.

        Args:
            source: what is to be read.
            target: what is written so far, from the start token on.
            return_weights: whether the weights of the cross-attention are wanted.

        Raises:
            ValueError: if one of both is not made of ids, (batch, T), or the batches differ (with a
            block in which the two meet).
        """
        memory = self.encode(source)  # (batch, T_k, d_model)
        return self.decode(target, memory, source_mask(source), return_weights)

    def encode(self, source: Int[Tensor, "batch T_k"]) -> Float[Tensor, "batch T_k d_model"]:
        """The memory: a vector for each token of the source, which has seen all the others.

        Raises:
            ValueError: if `source` is not made of ids, (batch, T_k).
        """
        check_tokens(source, self.source_embedding.num_embeddings, "source")
        x = self.positions.embed(self.source_embedding(source))  # (batch, T_k, d_model)
        return self.encoder(x, source_mask(source))

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
        """Logits of the token after each one of the target, given the memory.

        Args:
            target: what is written so far; with a cache, what has been written since.
            memory: from `encode`.
            memory_mask: from `source_mask`.
            return_weights: whether the weights of the cross-attention are wanted.
            cache: from `new_cache`.

        Raises:
            ValueError: as `forward`, or if the cache is of another model or batch.
        """
        x = self.states(target, memory, memory_mask, return_weights, cache)
        if return_weights:
            x, weights = x
            return self.lm_head(x), weights
        return self.lm_head(x)  # (batch, T_q, vocab)

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
        """The decoder's stream before the readout; arguments and errors as in `decode`."""
        check_tokens(target, self.target_embedding.num_embeddings, "target")
        start = cache[0].own.seen if cache else 0
        x = self.positions.embed(self.target_embedding(target), start)  # (batch, T_q, d_model)
        return self.decoder(x, memory, None, memory_mask, return_weights, cache, causal=True)

    def new_cache(self) -> list[DecoderCache]:
        """An empty cache for each block of the decoder."""
        return [DecoderCache() for _ in self.decoder.blocks]

    def condition_on(self, source: Int[Tensor, "batch T_k"]) -> ConditionedDecoder:
        """The decoder with this source held: a model of the target alone, which can write.

        The source is read once, here, in evaluation and without a gradient.

        Raises:
            ValueError: as `encode`.
        """
        with eval_mode(self), torch.no_grad():
            memory = self.encode(source)  # (batch, T_k, d_model)
        return ConditionedDecoder(self, memory, source_mask(source))


class ConditionedDecoder(nn.Module):
    """A model that writes what belongs to one source, or to a batch of them.

    It maps targets (batch, T_q) to logits, as a language model does, so that the functions of
    `helpers.generation` can write with it. A single source serves any number of targets.
    """

    def __init__(self, model: nn.Module, memory: Tensor, memory_mask: Tensor) -> None:
        super().__init__()
        self.model, self.memory, self.memory_mask = model, memory, memory_mask
        self.train(model.training)

    def forward(
        self, target: Int[Tensor, "batch T_q"], cache: list[DecoderCache] | None = None
    ) -> Float[Tensor, "batch T_q vocab"]:
        """Logits of the token after each one of the target.

        Raises:
            ValueError: as the model's `decode`.
        """
        n = len(target) if len(self.memory) == 1 else len(self.memory)
        memory = self.memory.expand(n, -1, -1)  # (batch, T_k, d_model)
        mask = self.memory_mask.expand(n, -1, -1, -1)  # (batch, 1, 1, T_k)
        return self.model.decode(target, memory, mask, cache=cache)

    def new_cache(self) -> list[DecoderCache]:
        """An empty cache, as the model makes it."""
        return self.model.new_cache()
