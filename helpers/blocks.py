"""The transformer block and its parts (lecture 7), the decoder block (lecture 9), and stacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

import torch.nn.functional as F
from torch import Tensor, nn

from helpers.attention import KeyValueCache, MultiHeadAttention
from helpers.validation import require, require_share, require_sizes, shape_text

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

    from helpers.positions import PositionEncoding


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them, applied to each position separately.

    Source: Vaswani et al. (2017), section 3.3, equation 2.

    Args:
        d_model: width of input and output.
        d_ff: number of hidden units.
        dropout: probability of dropping a hidden unit in training.
        activation: the nonlinearity; the ReLU if not given.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.0,
        activation: Callable[[Tensor], Tensor] = F.relu,
    ) -> None:
        super().__init__()
        require_sizes(d_model=d_model, d_ff=d_ff)
        require_share("dropout", dropout)
        self.up_proj = nn.Linear(d_model, d_ff)
        self.down_proj = nn.Linear(d_ff, d_model)
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


class TransformerBlock(nn.Module):
    """Attention, then a feed-forward network, each with a residual connection and a layer norm.

    Args:
        d_model: width of the residual stream.
        n_heads: number of heads.
        d_ff: hidden units of the feed-forward network; `4 · d_model` if not given.
        norm: "post" normalizes after each addition, as in Vaswani et al. (2017); "pre" normalizes
            the input of attention and feed-forward network, as in Xiong et al. (2020).
        dropout: on attention weights, inside the feed-forward network, and on both results.
        positions: an encoding that acts inside attention, or None.

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
    ) -> None:
        super().__init__()
        require(norm in ("pre", "post"), "norm", repr(norm), "'pre' or 'post'")
        self.norm = norm
        self.attention = MultiHeadAttention(d_model, n_heads, dropout=dropout, positions=positions)
        self.feed_forward = FeedForward(d_model, 4 * d_model if d_ff is None else d_ff, dropout)
        self.norm_attention = nn.LayerNorm(d_model)
        self.norm_feed_forward = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

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
        normed = self._before(x, self.norm_attention)
        found = self.attention(normed, None, None, mask, return_weights, cache, causal=causal)
        found, weights = found if return_weights else (found, None)
        x = self._add(x, found, self.norm_attention)  # (batch, T, d_model)
        x = self._feed(x)  # (batch, T, d_model)
        return (x, weights) if return_weights else x

    def _feed(self, x: Tensor) -> Tensor:
        """The feed-forward network with its residual connection and its norm."""
        normed = self._before(x, self.norm_feed_forward)
        return self._add(x, self.feed_forward(normed), self.norm_feed_forward)

    def _before(self, x: Tensor, norm: nn.Module) -> Tensor:
        """What a sublayer reads: with pre-norm the normalized stream."""
        return norm(x) if self.norm == "pre" else x

    def _add(self, x: Tensor, change: Tensor, norm: nn.Module) -> Tensor:
        """The residual connection; with post-norm the sum is normalized."""
        x = x + self.dropout(change)
        return norm(x) if self.norm == "post" else x

    def _check(self, name: str, x: Tensor) -> None:
        """Refuse what is not (batch, T, d_model)."""
        d_model = self.feed_forward.up_proj.in_features
        fits = x.dim() == 3 and x.shape[-1] == d_model
        require(fits, name, f"shape {tuple(x.shape)}", f"shape (batch, T, {d_model})")


class DecoderCache:
    """Keys and values of a decoder block during generation: its own, and those of the memory."""

    def __init__(self) -> None:
        self.own = KeyValueCache()
        self.memory = KeyValueCache()

    def __len__(self) -> int:
        """The number of its own positions kept."""
        return len(self.own)


class DecoderBlock(TransformerBlock):
    """A transformer block that also attends to a second sequence, the *memory*.

    Cross-attention comes between self-attention and the feed-forward network: its queries come
    from this sequence, its keys and values from the memory (Vaswani et al., 2017, section 3.1). The
    arguments are those of `TransformerBlock`; `positions` acts in self-attention only.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int | None = None,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
        positions: PositionEncoding | None = None,
    ) -> None:
        super().__init__(d_model, n_heads, d_ff, norm, dropout, positions)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout=dropout)
        self.norm_cross_attention = nn.LayerNorm(d_model)

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
            ValueError: if `x` or `memory` is not (batch, T, d_model), or a mask or the cache does
                not fit.
        """
        self._check("x", x)
        self._check("memory", memory)
        batch, d_model = x.shape[0], x.shape[-1]
        needed = f"{shape_text(batch, 'T_k', d_model)}: batch as x"
        require(len(memory) == batch, "memory", f"shape {tuple(memory.shape)}", needed)
        own, cross = (None, None) if cache is None else (cache.own, cache.memory)
        if cross is not None:
            memory = memory[:, len(cross) :]  # its keys and values are kept: nothing is left of it
        normed = self._before(x, self.norm_attention)
        found = self.attention(normed, None, None, mask, return_weights, own, causal=causal)
        found, self_weights = found if return_weights else (found, None)
        x = self._add(x, found, self.norm_attention)  # (batch, T_q, d_model)
        normed = self._before(x, self.norm_cross_attention)
        found = self.cross_attention(normed, memory, None, memory_mask, return_weights, cross)
        found, cross_weights = found if return_weights else (found, None)
        x = self._add(x, found, self.norm_cross_attention)  # (batch, T_q, d_model)
        x = self._feed(x)  # (batch, T_q, d_model)
        return (x, self_weights, cross_weights) if return_weights else x


class _Stack(nn.Module):
    """Blocks of one type, and with pre-norm one more layer norm at the end."""

    block_type: type[nn.Module]

    def __init__(
        self,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int | None = None,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
        positions: PositionEncoding | None = None,
    ) -> None:
        super().__init__()
        require(n_layers >= 0, "n_layers", n_layers, "at least 0")
        self.blocks = nn.ModuleList(
            self.block_type(d_model, n_heads, d_ff, norm, dropout, positions)
            for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()

    def _with_caches(self, cache: list | None) -> Iterator[tuple[nn.Module, object]]:
        """Each block, and what keeps its keys and values, if anything does."""
        caches = [None] * len(self.blocks) if cache is None else cache
        needed = f"{len(self.blocks)}, one for each block"
        require(len(caches) == len(self.blocks), "cache", f"{len(caches)} caches", needed)
        return zip(self.blocks, caches, strict=True)


class TransformerStack(_Stack):
    """Transformer blocks on top of each other, and with pre-norm one more layer norm at the end.

    With pre-norm nothing normalizes the stream itself, which can grow with every block; hence the
    last norm. (Torch calls such a stack `nn.TransformerEncoder`, whatever its mask.)

    Args:
        n_layers: number of blocks, 0 or more.
        d_model, n_heads, d_ff, norm, dropout, positions: as in `TransformerBlock`.

    Raises:
        ValueError: if `n_layers` is negative, and, with at least one block, as
            `TransformerBlock`.
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
    """Decoder blocks on top of each other, and with pre-norm one more layer norm at the end.

    Every block looks at the same memory: what the encoder's last block made of the other sequence.

    Args:
        n_layers: number of blocks, 0 or more.
        d_model, n_heads, d_ff, norm, dropout, positions: as in `DecoderBlock`.

    Raises:
        ValueError: if `n_layers` is negative, and, with at least one block, as `DecoderBlock`.
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
        """The stream after all blocks, and each block's weights on the memory if asked for.

        Args:
            x: the residual stream before the first block.
            memory, mask, memory_mask, causal: the same for every block, as in `DecoderBlock`.
            return_weights: whether to return the weights on the memory.
            cache: one for each block.

        Raises:
            ValueError: if there is not one cache for each block, and, with at least one block,
                as `DecoderBlock`.
        """
        all_weights = []
        for block, kept in self._with_caches(cache):
            x = block(x, memory, mask, memory_mask, return_weights, kept, causal=causal)
            if return_weights:
                x, _, weights = x
                all_weights.append(weights)
        x = self.norm(x)  # (batch, T_q, d_model)
        return (x, all_weights) if return_weights else x
