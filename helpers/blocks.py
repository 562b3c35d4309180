"""The transformer block and its parts (lecture 7), the decoder block (lecture 9), and stacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.attention import KeyValueCache, MultiHeadAttention
from helpers.config import TransformerConfig
from helpers.positions import PositionEncoding
from helpers.validation import require, require_share, require_sizes, shape_text
from helpers.variants import RMSNorm, SwiGLU, gelu

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them, applied to each position separately.

    Source: Vaswani et al. (2017), section 3.3, equation 2.

    Args:
        d_model: width of input and output.
        d_ff: number of hidden units.
        dropout: probability of dropping a hidden unit in training.
        activation: the nonlinearity; the ReLU if not given.
        bias: whether both layers have a bias.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.0,
        activation: Callable[[Tensor], Tensor] = F.relu,
        bias: bool = True,
    ) -> None:
        super().__init__()
        require_sizes(d_model=d_model, d_ff=d_ff)
        require_share("dropout", dropout)
        self.up_proj = nn.Linear(d_model, d_ff, bias=bias)
        self.down_proj = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.activation = activation

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Up-projection, activation, down-projection.

        Raises:
            ValueError: if the last axis of `x` is not `d_model`.
        """
        d_model = self.up_proj.in_features
        fits = x.dim() >= 1 and x.shape[-1] == d_model
        require(fits, "x", f"shape {tuple(x.shape)}", f"shape (…, {d_model})")
        return self.down_proj(self.dropout(self.activation(self.up_proj(x))))


@dataclass(frozen=True)
class BlockParts:
    """The classes that a block is made of; variants of them can take their place.

    attention: makes an attention layer from `d_model` and `n_heads`.
    feed_forward: makes a feed-forward network from `d_model`, `d_ff` and `dropout`.
    norm: makes a norm from `d_model`.
    """

    attention: Callable[..., MultiHeadAttention] = MultiHeadAttention
    feed_forward: Callable[[int, int, float], nn.Module] = FeedForward
    norm: Callable[[int], nn.Module] = nn.LayerNorm

    @classmethod
    def of(cls, config: TransformerConfig) -> BlockParts:
        """The parts that a config describes."""
        bias, eps = config.bias, config.norm_eps
        heads = {"d_k": config.d_head, "bias": bias, "n_kv_heads": config.n_kv_heads}
        layer_norm = partial(nn.LayerNorm, eps=eps, bias=bias)
        feed_forwards = {
            "relu": partial(FeedForward, bias=bias),
            "gelu": partial(FeedForward, activation=gelu, bias=bias),
            "swiglu": SwiGLU,
        }
        return cls(
            partial(MultiHeadAttention, **heads),
            feed_forwards[config.activation],
            partial(RMSNorm, eps=eps) if config.rms_norm else layer_norm,
        )


class TransformerBlock(nn.Module):
    """Attention, then a feed-forward network, each with a residual connection and a layer norm.

    Args:
        d_model: width of the residual stream.
        n_heads: number of heads.
        d_ff: hidden units of the feed-forward network; `4 · d_model` if not given.
        norm: "post" normalizes after each addition, as in Vaswani et al. (2017); "pre" normalizes
            the input of attention and feed-forward network, as in Xiong et al. (2020).
        dropout: probability of dropout on attention weights, on hidden units of the feed-forward
            network, and on the outputs of both sublayers.
        positions: an encoding that acts inside attention, or None.
        parts: classes of attention, feed-forward network and norm.

    Raises:
        ValueError: if `norm` is neither "pre" nor "post", and as `MultiHeadAttention`.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int | None = None,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
        positions: PositionEncoding | None = None,
        parts: BlockParts = BlockParts(),
    ) -> None:
        super().__init__()
        require(norm in ("pre", "post"), "norm", repr(norm), "'pre' or 'post'")
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.d_model, self.norm = d_model, norm
        self.attention = parts.attention(d_model, n_heads, dropout=dropout, positions=positions)
        self.feed_forward = parts.feed_forward(d_model, d_ff, dropout)
        self.norm_attention = parts.norm(d_model)
        self.norm_feed_forward = parts.norm(d_model)
        self.dropout = nn.Dropout(dropout)

    @classmethod
    def from_config(
        cls, config: TransformerConfig, positions: PositionEncoding | None = None
    ) -> TransformerBlock:
        """A block of the config's sizes and parts."""
        sizes = (config.d_model, config.n_heads, config.d_ff, config.norm, config.dropout)
        return cls(*sizes, positions, BlockParts.of(config))

    def forward(
        self,
        x: Float[Tensor, "batch T d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        return_weights: bool = False,
        cache: KeyValueCache | None = None,
        *,
        causal: bool = False,
    ) -> (
        Float[Tensor, "batch T d_model"]
        | tuple[Float[Tensor, "batch T d_model"], Float[Tensor, "batch heads T T_k"]]
    ):
        """The residual stream after this block, and the attention weights if asked for.

        Args:
            x: the residual stream before this block.
            mask: True = may attend, as in `MultiHeadAttention`.
            return_weights: whether to return the attention weights.
            cache: keys and values of earlier positions, which T_k then includes.
            causal: whether later positions are hidden, as in `MultiHeadAttention`.

        Raises:
            ValueError: if `x` is not (batch, T, d_model), or the mask or the cache does not fit.
        """
        self._check("x", x)
        y = self._pre(x, self.norm_attention)
        y = self.attention(y, None, None, mask, return_weights, cache, causal=causal)
        y, weights = y if return_weights else (y, None)
        x = self._add(x, y, self.norm_attention)  # (batch, T, d_model)
        y = self.feed_forward(self._pre(x, self.norm_feed_forward))
        x = self._add(x, y, self.norm_feed_forward)  # (batch, T, d_model)
        return (x, weights) if return_weights else x

    def _pre(self, x: Tensor, norm: nn.Module) -> Tensor:
        """The input of a sublayer: with pre-norm the normalized residual stream."""
        return norm(x) if self.norm == "pre" else x

    def _add(self, x: Tensor, y: Tensor, norm: nn.Module) -> Tensor:
        """The residual connection around a sublayer; with post-norm the sum is normalized."""
        x = x + self.dropout(y)
        return norm(x) if self.norm == "post" else x

    def _check(self, name: str, x: Tensor) -> None:
        """Refuse a tensor that is not (batch, T, d_model)."""
        fits = x.dim() == 3 and x.shape[-1] == self.d_model
        require(fits, name, f"shape {tuple(x.shape)}", f"shape (batch, T, {self.d_model})")


class DecoderCache:
    """The two KV caches of a decoder block: of its self-attention, and of the memory."""

    def __init__(self) -> None:
        self.own = KeyValueCache()
        self.memory = KeyValueCache()
        self._projected: Tensor | None = None

    def __len__(self) -> int:
        """The number of target positions in the cache."""
        return len(self.own)

    def to_project(
        self, memory: Float[Tensor, "batch T_k d_model"]
    ) -> Float[Tensor, "batch T_new d_model"]:
        """The part of the memory that is not in the cache: all of it at first, nothing later.

        Raises:
            ValueError: if the cache holds keys and values of another memory.
        """
        if self.memory.keys is None:
            self._projected = memory
            return memory
        known = self._projected
        same = memory is known or (memory.dtype == known.dtype and torch.equal(memory, known))
        needed = "the one whose keys and values the cache holds; new_cache() for another"
        require(same, "memory", "another one than before", needed)
        return memory[:, :0]


class DecoderBlock(TransformerBlock):
    """A transformer block that also attends to a second sequence, the *memory*.

    Cross-attention comes between self-attention and the feed-forward network: its queries come
    from this sequence, its keys and values from the memory (Vaswani et al., 2017, section 3.1).
    Arguments and errors are those of `TransformerBlock`; `positions` acts in self-attention only.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int | None = None,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
        positions: PositionEncoding | None = None,
        parts: BlockParts = BlockParts(),
    ) -> None:
        super().__init__(d_model, n_heads, d_ff, norm, dropout, positions, parts)
        self.cross_attention = parts.attention(d_model, n_heads, dropout=dropout)
        self.norm_cross_attention = parts.norm(d_model)

    def forward(
        self,
        x: Float[Tensor, "batch T_q d_model"],
        memory: Float[Tensor, "batch T_k d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        return_weights: bool = False,
        cache: DecoderCache | None = None,
        *,
        causal: bool = False,
    ) -> (
        Float[Tensor, "batch T_q d_model"]
        | tuple[
            Float[Tensor, "batch T_q d_model"],
            Float[Tensor, "batch heads T_q T"],
            Float[Tensor, "batch heads T_q T_k"],
        ]
    ):
        """The residual stream after this block, and the weights of both attentions if asked for.

        Args:
            x: the residual stream before this block.
            memory: output of the encoder. It is not normalized here.
            mask: of self-attention.
            memory_mask: of cross-attention, usually the padding mask of the memory.
            return_weights: whether to return the attention weights.
            cache: keys and values of both attentions. `x` then continues the positions in the
                cache, which T includes, and the memory is projected only once.
            causal: whether self-attention hides later positions; usually True.

        Raises:
            ValueError: if `x` or `memory` is not (batch, T, d_model), a mask or the cache does not
                fit, or the cache was filled with another memory.
        """
        self._check("x", x)
        self._check("memory", memory)
        batch, d_model = x.shape[0], x.shape[-1]
        needed = f"{shape_text(batch, 'T_k', d_model)}: batch as x"
        require(len(memory) == batch, "memory", f"shape {tuple(memory.shape)}", needed)
        own, cross = (None, None) if cache is None else (cache.own, cache.memory)
        memory = memory if cache is None else cache.to_project(memory)
        # All checks come before self-attention, which appends to the cache.
        self.cross_attention.check(x, memory, memory, memory_mask, cross)
        y = self._pre(x, self.norm_attention)
        y = self.attention(y, None, None, mask, return_weights, own, causal=causal)
        y, self_weights = y if return_weights else (y, None)
        x = self._add(x, y, self.norm_attention)  # (batch, T_q, d_model)
        y = self._pre(x, self.norm_cross_attention)
        y = self.cross_attention(y, memory, None, memory_mask, return_weights, cross)
        y, cross_weights = y if return_weights else (y, None)
        x = self._add(x, y, self.norm_cross_attention)  # (batch, T_q, d_model)
        y = self.feed_forward(self._pre(x, self.norm_feed_forward))
        x = self._add(x, y, self.norm_feed_forward)  # (batch, T_q, d_model)
        return (x, self_weights, cross_weights) if return_weights else x


class _Stack(nn.Module):
    """Blocks of one type, and with pre-norm a final norm."""

    block_type: type[TransformerBlock]

    def __init__(
        self, config: TransformerConfig, positions: PositionEncoding | None = None
    ) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            self.block_type.from_config(config, positions) for _ in range(config.n_layers)
        )
        final_norm = BlockParts.of(config).norm if config.norm == "pre" else nn.Identity
        self.norm = final_norm(config.d_model)

    def _with_caches(self, cache: list | None) -> Iterator[tuple[nn.Module, object]]:
        """Pairs of a block and its cache, or None in place of the cache."""
        caches = [None] * len(self.blocks) if cache is None else cache
        needed = f"{len(self.blocks)}, one for each block"
        require(len(caches) == len(self.blocks), "cache", f"{len(caches)} caches", needed)
        return zip(self.blocks, caches, strict=True)


class TransformerStack(_Stack):
    """Transformer blocks on top of each other, and with pre-norm a final norm.

    With pre-norm no block normalizes the residual stream itself, which can grow with every block;
    hence the final norm. (Torch calls such a stack `nn.TransformerEncoder`, whatever its mask.)

    Args:
        config: sizes, number and parts of the blocks.
        positions: an encoding that acts inside attention, or None.
    """

    block_type = TransformerBlock

    def forward(
        self,
        x: Float[Tensor, "batch T d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        return_weights: bool = False,
        cache: list[KeyValueCache] | None = None,
        *,
        causal: bool = False,
    ) -> (
        Float[Tensor, "batch T d_model"]
        | tuple[Float[Tensor, "batch T d_model"], list[Float[Tensor, "batch heads T T_k"]]]
    ):
        """The residual stream after all blocks, and each block's attention weights if asked for.

        Args:
            x: the residual stream before the first block.
            mask: the same for every block.
            return_weights: whether to return the attention weights.
            cache: one for each block.
            causal: whether later positions are hidden, as in `MultiHeadAttention`.

        Raises:
            ValueError: if there is not one cache for each block, and, with at least one block,
                as `TransformerBlock`.
        """
        all_weights = []
        for block, own in self._with_caches(cache):
            x = block(x, mask, return_weights, own, causal=causal)  # (batch, T, d_model)
            if return_weights:
                x, weights = x
                all_weights.append(weights)
        x = self.norm(x)  # (batch, T, d_model)
        return (x, all_weights) if return_weights else x


class DecoderStack(_Stack):
    """Decoder blocks on top of each other, and with pre-norm a final norm.

    Every block attends to the same memory: the output of the encoder's last block.

    Args:
        config: sizes, number and parts of the blocks.
        positions: an encoding that acts inside self-attention, or None.
    """

    block_type = DecoderBlock

    def forward(
        self,
        x: Float[Tensor, "batch T_q d_model"],
        memory: Float[Tensor, "batch T_k d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        return_weights: bool = False,
        cache: list[DecoderCache] | None = None,
        *,
        causal: bool = False,
    ) -> (
        Float[Tensor, "batch T_q d_model"]
        | tuple[Float[Tensor, "batch T_q d_model"], list[Float[Tensor, "batch heads T_q T_k"]]]
    ):
        """The residual stream after all blocks, and each block's cross-attention if asked for.

        Args:
            x: the residual stream before the first block.
            memory, mask, memory_mask, causal: the same for every block, as in `DecoderBlock`.
            return_weights: whether to return the weights of cross-attention.
            cache: one for each block.

        Raises:
            ValueError: if there is not one cache for each block, and, with at least one block,
                as `DecoderBlock`.
        """
        all_weights = []
        for block, own in self._with_caches(cache):
            x = block(x, memory, mask, memory_mask, return_weights, own, causal=causal)
            if return_weights:
                x, _, weights = x
                all_weights.append(weights)
        x = self.norm(x)  # (batch, T_q, d_model)
        return (x, all_weights) if return_weights else x
