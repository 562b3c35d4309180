"""What today's models changed in the transformer block, each part a few lines (lecture 12).

`RMSNorm`, `SwiGLU` and `GroupedQueryAttention` stand in for the parts of `helpers.blocks` and take
the same input; `replace_modules` puts them into a model. `SlidingWindow` goes where positions go.
Positions stretched beyond the trained length are options of `helpers.positions.RotaryPositions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.attention import KeyValueCache, MultiHeadAttention
from helpers.masks import to_additive, window_mask
from helpers.positions import PositionEncoding
from helpers.validation import require, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Float

    from helpers.models import TransformerModel


class RMSNorm(nn.Module):
    """Divide each vector by the root of the mean square of its numbers, then scale each number.

    A layer norm that neither subtracts the mean nor adds a bias.
    Source: Zhang and Sennrich (2019), equation 4.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        require_sizes(d_model=d_model)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Vectors whose numbers have a mean square of 1, times `weight`.

        Raises:
            ValueError: if the last axis of `x` is not `d_model`.
        """
        _check_width(x, len(self.weight))
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # float16 ends before 256²
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (…, 1)
        return (wide * (mean_square + self.eps).rsqrt()).to(x.dtype) * self.weight


def gelu(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """x · P(Z < x) for a normal Z: a ReLU without its corner, in the form that GPT-2 computes.

    0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))); Hendrycks and Gimpel (2016), section 2.
    """
    return F.gelu(x, approximate="tanh")


class SwiGLU(nn.Module):
    """A feed-forward network in which one up-projection of the input gates another.

    down_proj(SiLU(gate_proj(x)) · up_proj(x)), without biases, where SiLU(z) = z · sigmoid(z). It
    has three matrices where `FeedForward` has two: with `swiglu_width` as `d_ff` both have equal
    size.
    Source: Shazeer (2020), equation 6.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        require_sizes(d_model=d_model, d_ff=d_ff)
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Widen twice, multiply, narrow again.

        Raises:
            ValueError: if the last axis of `x` is not `d_model`.
        """
        _check_width(x, self.up_proj.in_features)
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


def swiglu_width(d_ff: int) -> int:
    """The width at which `SwiGLU` has as many weights as two matrices of width `d_ff`: ⅔ of it.

    Raises:
        ValueError: if `d_ff` is below 2, which has no two thirds.
    """
    require(d_ff >= 2, "d_ff", d_ff, "at least 2")
    return round(2 * d_ff / 3)


class GroupedQueryAttention(MultiHeadAttention):
    """Multi-head attention in which several heads of queries share one head of keys and values.

    The cache holds `n_kv_heads` heads in place of `n_heads`. Query head i reads the keys of head
    i // (n_heads / n_kv_heads). With `n_kv_heads = 1` this is Shazeer's (2019) multi-query
    attention, with `n_kv_heads = n_heads` it is `MultiHeadAttention`.
    Source: Ainslie et al. (2023), section 2.2.

    Args:
        d_model, n_heads, d_k, bias, dropout, positions: as in `MultiHeadAttention`.
        n_kv_heads: heads of keys and values.

    Raises:
        ValueError: if `n_kv_heads` does not divide `n_heads`, and as `MultiHeadAttention`.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int,
        d_k: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        positions: PositionEncoding | None = None,
    ) -> None:
        super().__init__(d_model, n_heads, d_k, bias=bias, dropout=dropout, positions=positions)
        require_sizes(n_kv_heads=n_kv_heads)
        divides = n_heads % n_kv_heads == 0
        require(divides, "n_kv_heads", n_kv_heads, f"a number that divides n_heads = {n_heads}")
        self.n_kv_heads = n_kv_heads
        self.W_key = nn.Linear(d_model, n_kv_heads * self.d_k, bias=bias)
        self.W_value = nn.Linear(d_model, n_kv_heads * self.d_v, bias=bias)

    def _remember(self, k: Tensor, v: Tensor, cache: KeyValueCache | None) -> tuple[Tensor, Tensor]:
        """The cache holds each shared head once; each query head then gets a copy of it."""
        k, v = super()._remember(k, v, cache)  # (batch, n_kv_heads, T_k, d_k or d_v)
        group = self.n_heads // self.n_kv_heads
        return k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)


class SlidingWindow(PositionEncoding):
    """Each query sees only the last `window` positions, its own among them.

    One layer reaches window − 1 words back, and each further layer as many again. So a cache
    keeps the last `window` positions only.
    Source: Beltagy et al. (2020), section 3.1; causal as in Jiang et al. (2023), section 2.

    Args:
        window: how many positions a query sees.
        inside: the encoding of these positions; none if not given.
    """

    def __init__(self, window: int, inside: PositionEncoding | None = None) -> None:
        super().__init__()
        require_sizes(window=window)
        self.window = window
        self.inside = PositionEncoding() if inside is None else inside

    def embed(
        self, x: Float[Tensor, "batch T d_model"], start: int = 0
    ) -> Float[Tensor, "batch T d_model"]:
        """As `inside`."""
        return self.inside.embed(x, start)

    def rotate(
        self,
        q: Float[Tensor, "batch heads T_q d_k"],
        k: Float[Tensor, "batch kv_heads T_k d_k"],
        start: int = 0,
    ) -> tuple[Float[Tensor, "batch heads T_q d_k"], Float[Tensor, "batch kv_heads T_k d_k"]]:
        """As `inside`."""
        return self.inside.rotate(q, k, start)

    def bias(self, T_q: int, T_k: int, like: Tensor) -> Float[Tensor, "heads T_q T_k"] | None:
        """−∞ outside the window, and what `inside` adds.

        Raises:
            ValueError: if there are more queries than keys.
        """
        blocked = to_additive(window_mask(T_q, T_k, self.window, device=like.device), like.dtype)
        inner = self.inside.bias(T_q, T_k, like)
        return blocked[None] if inner is None else blocked + inner  # (1 or heads, T_q, T_k)


def replace_modules(
    model: TransformerModel,
    *,
    norm: Callable[[], nn.Module] | None = None,
    feed_forward: Callable[[], nn.Module] | None = None,
    attention: Callable[[], MultiHeadAttention] | None = None,
) -> TransformerModel:
    """The model itself, with fresh parts in every block, made by what is given.

        replace_modules(model, norm=lambda: RMSNorm(64), feed_forward=lambda: SwiGLU(64, 85))

    `norm` also replaces the norm at the end of the stack. An attention that was made without
    positions takes over those of the one whose place it takes.

    Raises:
        ValueError: if an attention is not a `MultiHeadAttention`.
    """
    for block in model.blocks:
        if norm is not None:
            block.norm_attention, block.norm_feed_forward = norm(), norm()
        if feed_forward is not None:
            block.feed_forward = feed_forward()
        if attention is not None:
            new, old = attention(), block.attention
            fits = isinstance(new, MultiHeadAttention)
            require(
                fits, "attention", type(new).__name__, "a MultiHeadAttention, or one of its kind"
            )
            new.positions = old.positions if new.positions is None else new.positions
            block.attention = new
    if norm is not None:
        model.stack.norm = norm()
    return model


def _check_width(x: Tensor, d_model: int) -> None:
    fits = x.dim() >= 1 and x.shape[-1] == d_model
    require(fits, "x", f"shape {tuple(x.shape)}", f"shape (…, {d_model})")
