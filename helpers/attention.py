"""Attention, from scaled dot-product attention (lecture 2) to the KV cache (lecture 8).

Shapes are written `(batch, heads, query, key)`; masks are boolean and True means "may attend".

Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.2, equation 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.masks import causal_mask, combine_masks, require_bool, to_additive
from helpers.positions import PositionEncoding
from helpers.validation import (
    require,
    require_broadcastable,
    require_qkv,
    require_share,
    require_sizes,
    shape_text,
)

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


def masked_softmax(
    scores: Float[Tensor, "*batch T_q T_k"], mask: Bool[Tensor, "..."] | None = None
) -> Float[Tensor, "*batch T_q T_k"]:
    """Softmax over the keys that a query may attend to.

    A query that may attend to nothing gets weights of zero, and a gradient of zero, not NaN.

    Raises:
        ValueError: if `mask` is not boolean or does not broadcast to the scores.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    _check_mask(mask, scores.shape)
    # A row of −∞ would make softmax compute 0/0. So a row that is masked throughout keeps its
    # finite scores here, and the last line sets its weights to 0, which also stops the gradient.
    sees_something = mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(sees_something & ~mask, -torch.inf)
    return scores.softmax(dim=-1).masked_fill(~mask, 0.0)


def scaled_dot_product_attention(
    q: Float[Tensor, "*batch T_q d_k"],
    k: Float[Tensor, "*batch T_k d_k"],
    v: Float[Tensor, "*batch T_k d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    bias: Float[Tensor, "..."] | None = None,
    scale: float | None = None,
    dropout_p: float = 0.0,
) -> tuple[Float[Tensor, "*batch T_q d_v"], Float[Tensor, "*batch T_q T_k"]]:
    """softmax(Q Kᵀ · scale + bias) V, Vaswani et al. (2017), equation 1.

    Args:
        q, k, v: queries, keys and values with any equal leading dimensions.
        mask: True where a query may attend to a key; broadcasts to `(*batch, T_q, T_k)`.
        bias: numbers added to the scores before the mask, for instance ALiBi's; −∞ blocks.
        scale: factor of the scores; 1/√d_k if not given.
        dropout_p: probability of dropping a weight. The caller passes 0 in evaluation.

    Returns:
        The context vectors, and the attention weights before dropout.

    Raises:
        ValueError: if shapes or dtypes do not fit together or the mask is not boolean.
    """
    require_qkv(q, k, v)
    require_share("dropout_p", dropout_p)
    require(q.is_floating_point(), "q", f"dtype {q.dtype}", "a floating-point dtype")
    for name, x in (("k", k), ("v", v)):
        require(x.dtype == q.dtype, name, f"dtype {x.dtype}", f"{q.dtype}, as q has")
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    # Scaled before the product: in float16 a sum of d_k products soon exceeds 65,504.
    scores = (q * scale) @ k.transpose(-2, -1)  # (*batch, T_q, T_k)
    if mask is not None:
        _check_mask(mask, scores.shape)
    if bias is not None:
        require(bias.dtype == q.dtype, "bias", f"dtype {bias.dtype}", f"{q.dtype}, as q has")
        require_broadcastable("bias", bias.shape, scores.shape)
        blocked = bias.isneginf()
        mask = combine_masks(mask, ~blocked)
        scores = scores + bias.masked_fill(blocked, 0.0)
    weights = masked_softmax(scores, mask)  # (*batch, T_q, T_k)
    return F.dropout(weights, dropout_p) @ v, weights  # (*batch, T_q, d_v)


class SelfAttention(nn.Module):
    """One head: three projections, then scaled dot-product attention (lecture 3).

    Args:
        d_model: width of the input vectors.
        d_k: width of queries and keys.
        d_v: width of values and of the output; `d_k` if not given.
        bias: whether the projections have a bias.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int | None = None, bias: bool = False) -> None:
        super().__init__()
        require_sizes(d_model=d_model, d_k=d_k, d_v=d_v)
        self.W_query = nn.Linear(d_model, d_k, bias=bias)
        self.W_key = nn.Linear(d_model, d_k, bias=bias)
        self.W_value = nn.Linear(d_model, d_k if d_v is None else d_v, bias=bias)

    def forward(
        self,
        x: Float[Tensor, "*batch T d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        return_weights: bool = False,
    ) -> (
        Float[Tensor, "*batch T d_v"]
        | tuple[Float[Tensor, "*batch T d_v"], Float[Tensor, "*batch T T"]]
    ):
        """Context vectors of every position of `x`, and the attention weights if asked for.

        Raises:
            ValueError: if the last axis of `x` is not `d_model` or the mask does not fit.
        """
        _check_input("x", x, self.W_query)
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)  # (*batch, T, d_k or d_v)
        context, weights = scaled_dot_product_attention(q, k, v, mask)  # (*batch, T, d_v)
        return (context, weights) if return_weights else context


class CausalSelfAttention(SelfAttention):
    """One head with a causal mask and dropout on its attention weights (lecture 4).

    The mask is a buffer: it moves with the module to another device and is not trained. It is used
    only to return weights; otherwise torch's fused function gets `is_causal=True`, with the same
    result.

    Args:
        d_model, d_k, d_v, bias: as in `SelfAttention`.
        context_length: length of the longest sequence.
        dropout: probability of dropping an attention weight in training.
    """

    def __init__(
        self,
        d_model: int,
        d_k: int,
        context_length: int,
        d_v: int | None = None,
        dropout: float = 0.0,
        bias: bool = False,
    ) -> None:
        super().__init__(d_model, d_k, d_v, bias)
        require_sizes(context_length=context_length)
        require_share("dropout", dropout)
        self.dropout = dropout
        self.register_buffer("mask", causal_mask(context_length), persistent=False)

    def forward(
        self, x: Float[Tensor, "*batch T d_model"], *, return_weights: bool = False
    ) -> (
        Float[Tensor, "*batch T d_v"]
        | tuple[Float[Tensor, "*batch T d_v"], Float[Tensor, "*batch T T"]]
    ):
        """As `SelfAttention.forward`, with the causal mask cut to the length of `x`.

        Raises:
            ValueError: if `x` is longer than `context_length` or has another width.
        """
        _check_input("x", x, self.W_query)
        T, longest = x.shape[-2], self.mask.shape[0]
        require(T <= longest, "x", f"{T} positions", f"at most context_length = {longest}")
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)  # (*batch, T, d_k or d_v)
        dropout_p = self.dropout if self.training else 0.0
        if not return_weights:
            return _fused(q, k, v, causal=True, dropout_p=dropout_p)  # (*batch, T, d_v)
        return scaled_dot_product_attention(
            q, k, v, self.mask[:T, :T], dropout_p=dropout_p
        )  # (*batch, T, d_v), (*batch, T, T)


class KeyValueCache:
    """The KV cache of one self-attention layer: keys and values of the tokens read so far.

    Under a causal mask they do not change when more tokens follow, so generation token by token
    computes them once (lecture 8; Shazeer, 2019, section 2.4).

    seen: number of positions read so far, including those that a sliding window has dropped.
    """

    def __init__(self) -> None:
        self.keys: Tensor | None = None
        self.values: Tensor | None = None
        self.seen = 0

    def __len__(self) -> int:
        """The number of positions in the cache."""
        return 0 if self.keys is None else self.keys.shape[-2]

    def append(
        self,
        k: Float[Tensor, "batch heads T d_k"],
        v: Float[Tensor, "batch heads T d_v"],
        window: int | None = None,
    ) -> tuple[Float[Tensor, "batch heads T_k d_k"], Float[Tensor, "batch heads T_k d_v"]]:
        """Append k and v of T new positions; return the keys and values of all T_k positions.

        With a window the cache keeps the last `window` positions only: later queries see no others.

        Raises:
            ValueError: if batch, heads or widths differ from those in the cache.
        """
        if self.keys is not None:
            for name, new, old in (("k", k, self.keys), ("v", v, self.values)):
                (*lead, _, width), came = old.shape, tuple(new.shape)
                fits = new.dim() == 4 and [*came[:2], came[-1]] == [*lead, width]
                needed = f"{shape_text(*lead, 'T', width)}, as the cache holds"
                require(fits, name, f"shape {came}", needed)
            k, v = torch.cat([self.keys, k], dim=-2), torch.cat([self.values, v], dim=-2)
        self.seen += k.shape[-2] - len(self)
        self.keys, self.values = k, v
        if window is not None and k.shape[-2] > window:  # a slice alone would hold all in memory
            self.keys, self.values = (x[..., -window:, :].clone() for x in (k, v))
        return k, v


class MultiHeadAttention(nn.Module):
    """Several heads side by side, for self- and cross-attention (lecture 5).

    Vaswani et al. (2017), section 3.2.2. One projection serves all heads: its output is cut into
    `n_heads` pieces of width `d_k` (`d_v` for values).

    Args:
        d_model: width of the queries' input.
        n_heads: number of heads.
        d_k: width of a head's queries and keys; `d_model // n_heads` if not given.
        d_v: width of a head's values; `d_k` if not given.
        d_out: width of the output; `d_model` if not given.
        d_context: width of the keys' and values' input; `d_model` if not given.
        bias: whether the four projections have a bias.
        dropout: probability of dropping an attention weight in training.
        positions: an encoding that acts inside attention (rotary, ALiBi), or None.
        n_kv_heads: heads of keys and values; `n_heads` if not given. With fewer, groups of query
            heads share them (`helpers.variants.GroupedQueryAttention`).

    Raises:
        ValueError: if `d_k` is not given and `n_heads` does not divide `d_model`, if `n_kv_heads`
            does not divide `n_heads`, if a size is below 1, or if `dropout` is not from 0 to 1.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_k: int | None = None,
        d_v: int | None = None,
        d_out: int | None = None,
        d_context: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        positions: PositionEncoding | None = None,
        n_kv_heads: int | None = None,
    ) -> None:
        super().__init__()
        require_sizes(d_model=d_model, n_heads=n_heads, d_k=d_k, d_v=d_v, d_out=d_out)
        require_sizes(d_context=d_context, n_kv_heads=n_kv_heads)
        require_share("dropout", dropout)
        if d_k is None:
            divides = d_model % n_heads == 0
            require(divides, "d_model", d_model, f"a multiple of n_heads = {n_heads}, or d_k given")
            d_k = d_model // n_heads
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        divides = n_heads % n_kv_heads == 0
        require(divides, "n_kv_heads", n_kv_heads, f"a number that divides n_heads = {n_heads}")
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.n_heads, self.n_kv_heads, self.d_k, self.d_v = n_heads, n_kv_heads, d_k, d_v
        self.dropout = dropout
        self.positions = PositionEncoding() if positions is None else positions
        self.W_query = nn.Linear(d_model, n_heads * d_k, bias=bias)
        self.W_key = nn.Linear(d_context, n_kv_heads * d_k, bias=bias)
        self.W_value = nn.Linear(d_context, n_kv_heads * d_v, bias=bias)
        self.W_out = nn.Linear(n_heads * d_v, d_model if d_out is None else d_out, bias=bias)

    def forward(
        self,
        query: Float[Tensor, "batch T_q d_model"],
        key: Float[Tensor, "batch T_k d_context"] | None = None,
        value: Float[Tensor, "batch T_k d_context"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        return_weights: bool = False,
        cache: KeyValueCache | None = None,
        *,
        causal: bool = False,
    ) -> (
        Float[Tensor, "batch T_q d_out"]
        | tuple[Float[Tensor, "batch T_q d_out"], Float[Tensor, "batch heads T_q T_k"]]
    ):
        """Let every position of `query` attend to `key`, and average `value` by the weights.

        Args:
            query: input of the queries.
            key: input of the keys; `query` if not given (self-attention).
            value: input of the values; `key` if not given.
            mask: True = may attend, of shape `(T_q, T_k)` or broadcastable to
                `(batch, heads, T_q, T_k)`. Three dimensions are refused: `(batch, T_q, T_k)`
                would broadcast as `(heads, T_q, T_k)`.
                A padding mask has four dimensions, `(batch, 1, 1, T_k)`, as `padding_mask` makes
                it: `(batch, T_k)` cannot be told from `(T_q, T_k)` where batch equals T_q.
            return_weights: if not, torch's fused attention computes the same output faster.
            cache: keys and values of earlier positions. They precede those of `key`, which are
                appended to the cache; T_k in the mask and the weights then counts all of them,
                except those that a sliding window has dropped.
            causal: whether later positions are hidden; the queries are the last T_q of T_k
                positions. The result is that of `causal_mask`, but torch's fused function can skip
                the hidden half of the scores.

        Raises:
            ValueError: if a shape does not fit.
        """
        key = query if key is None else key
        value = key if value is None else value
        start, cached = (0, 0) if cache is None else (cache.seen, len(cache))
        self.check(query, key, value, mask, cache, causal=causal)
        q = self._split(self.W_query(query), self.d_k)  # (batch, heads, T_q, d_k)
        k = self._split(self.W_key(key), self.d_k)  # (batch, kv_heads, T_k, d_k)
        v = self._split(self.W_value(value), self.d_v)  # (batch, kv_heads, T_k, d_v)
        q, k, bias = self._encode_positions(q, k, start, cached)
        if cache is not None:
            k, v = cache.append(k, v, self.positions.window)  # T_k now counts earlier positions
        k, v = self._share(k), self._share(v)  # (batch, heads, T_k, d_k or d_v)
        context, weights = self._attend(q, k, v, mask, bias, causal, return_weights)
        out = self.W_out(context.transpose(1, 2).flatten(2))  # (batch, T_q, d_out)
        return (out, weights) if return_weights else out

    def _split(self, x: Tensor, width: int) -> Tensor:
        """(batch, T, heads · width) to (batch, heads, T, width)."""
        return x.unflatten(-1, (-1, width)).transpose(1, 2)

    def _encode_positions(
        self, q: Tensor, k: Tensor, start: int, cached: int
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Rotated queries and keys, and a bias of the scores, (heads, T_q, T_k), or None.

        The first new key has position `start`; `cached` earlier keys precede it.
        """
        q, k = self.positions.rotate(q, k, start)
        scores_shape = (*q.shape[:-1], cached + k.shape[-2])
        bias = self.positions.bias(*scores_shape[-2:], q)
        if bias is not None:
            require_broadcastable("bias of positions", bias.shape, scores_shape)
        return q, k, bias

    def _share(self, x: Tensor) -> Tensor:
        """(batch, kv_heads, T, width) to (batch, heads, T, width): a copy for each query head."""
        group = self.n_heads // self.n_kv_heads
        return x if group == 1 else x.repeat_interleave(group, dim=1)

    def _attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        bias: Tensor | None,
        causal: bool,
        return_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """Context vectors (batch, heads, T_q, d_v), and the attention weights if asked for."""
        dropout_p = self.dropout if self.training else 0.0
        if not return_weights:
            return _fused(q, k, v, mask, bias, causal, dropout_p), None
        mask = _with_causal(mask, causal, q, k)
        return scaled_dot_product_attention(q, k, v, mask, bias=bias, dropout_p=dropout_p)

    def check(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        *,
        causal: bool = False,
    ) -> None:
        """Refuse inputs of `forward` that do not fit together; the cache does not change.

        Raises:
            ValueError: as `forward`.
        """
        _check_input("query", query, self.W_query, batched=True)
        _check_input("key", key, self.W_key, batched=True)
        _check_input("value", value, self.W_value, batched=True)
        lead = (query.shape[0], key.shape[1])
        for name, x in (("key", key), ("value", value)):
            if x.shape[:2] != lead:
                needed = f"{shape_text(*lead, '…')}: batch as query, T_k as key"
                require(False, name, f"shape {tuple(x.shape)}", needed)
        T_q, T_k = query.shape[1], key.shape[1] + (0 if cache is None else len(cache))
        if mask is not None:
            needed = "2 or 4: (T_q, T_k) or (batch, heads, T_q, T_k)"
            require(mask.dim() in (2, 4), "mask", f"{mask.dim()} dimensions", needed)
            _check_mask(mask, (query.shape[0], self.n_heads, T_q, T_k))
        if causal and T_q > T_k:
            needed = "at least as many keys: the queries are the last positions"
            require(False, "causal", f"{T_q} queries for {T_k} keys", needed)


def _fused(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    causal: bool = False,
    dropout_p: float = 0.0,
) -> Tensor:
    """Context vectors by torch's fused attention; zeros for a query that may attend to nothing."""
    if causal and mask is None and bias is None and q.shape[-2] == k.shape[-2]:
        return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p, is_causal=True)
    mask = _with_causal(mask, causal, q, k)
    if bias is not None:
        mask = bias if mask is None else bias + to_additive(mask, bias.dtype)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout_p)


def _with_causal(mask: Tensor | None, causal: bool, q: Tensor, k: Tensor) -> Tensor | None:
    """The mask combined with a causal mask; a single query is the last and needs none."""
    T_q, T_k = q.shape[-2], k.shape[-2]
    if not causal or T_q == 1:
        return mask
    return combine_masks(mask, causal_mask(T_q, T_k, device=q.device))


def _check_mask(mask: Tensor, scores_shape: Sequence[int]) -> None:
    require_bool("mask", mask)
    require_broadcastable("mask", mask.shape, scores_shape)


def _check_input(name: str, x: Tensor, layer: nn.Linear, batched: bool = False) -> None:
    """Refuse inputs that a projection cannot take. Under autocast torch converts dtypes itself."""
    width, dtype = layer.in_features, layer.weight.dtype
    fits = (x.dim() == 3 if batched else x.dim() >= 2) and x.shape[-1] == width
    if fits and x.dtype == dtype:
        return  # the usual case, without the cost of a message
    needed = shape_text("batch" if batched else "…", "T", width)
    require(fits, name, f"shape {tuple(x.shape)}", needed)
    automatic = torch.is_autocast_enabled(x.device.type)
    require(automatic, name, f"dtype {x.dtype}", f"{dtype}, as the weights have")
