"""Parts of today's transformers, each a few lines (lecture 12).

`RMSNorm`, `SwiGLU` and `GroupedQueryAttention` take the place of layer norm, feed-forward network
and multi-head attention in a block; a `TransformerConfig` chooses them. `SlidingWindow` is an
encoding of positions, and scaled positions are an option of `helpers.positions.RotaryPositions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.attention import MultiHeadAttention
from helpers.masks import to_additive, window_mask
from helpers.positions import PositionEncoding
from helpers.validation import require, require_share, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Float


class RMSNorm(nn.Module):
    """A layer norm that neither subtracts the mean nor adds a bias.

    Each vector is divided by the root mean square of its entries, then multiplied by a trained
    weight for each entry. Source: Zhang and Sennrich (2019), equation 4.

    Args:
        d_model: width of the vectors.
        eps: added to the mean square before its root is taken.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        require_sizes(d_model=d_model)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Vectors with a mean square of 1, times `weight`.

        Raises:
            ValueError: if the last axis of `x` is not `d_model`.
        """
        _check_width(x, len(self.weight))
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # 256² overflows in float16
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (…, 1)
        return (wide * (mean_square + self.eps).rsqrt()).to(x.dtype) * self.weight


def gelu(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """The GELU, x · P(Z < x) for a standard normal Z, in the approximation that GPT-2 uses.

    0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))); Hendrycks and Gimpel (2016), section 2.
    """
    return F.gelu(x, approximate="tanh")


class SwiGLU(nn.Module):
    """A feed-forward network in which one up-projection of the input gates another.

    down_proj(SiLU(gate_proj(x)) · up_proj(x)), without biases, where SiLU(z) = z · sigmoid(z). It
    has three matrices, and `FeedForward` two; `swiglu_width` gives the `d_ff` of equal size.
    Source: Shazeer (2020), equation 6.

    Args:
        d_model: width of input and output.
        d_ff: number of hidden units.
        dropout: probability of dropping a hidden unit in training.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        require_sizes(d_model=d_model, d_ff=d_ff)
        require_share("dropout", dropout)
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Two up-projections, their product, down-projection.

        Raises:
            ValueError: if the last axis of `x` is not `d_model`.
        """
        _check_width(x, self.up_proj.in_features)
        hidden = F.silu(self.gate_proj(x)) * self.up_proj(x)  # (…, d_ff)
        return self.down_proj(self.dropout(hidden))


def swiglu_width(d_ff: int) -> int:
    """The width at which `SwiGLU` has as many weights as a `FeedForward` of `d_ff`: ⅔ of `d_ff`.

    Raises:
        ValueError: if `d_ff` is below 2.
    """
    require(d_ff >= 2, "d_ff", d_ff, "at least 2")
    return round(2 * d_ff / 3)


class GroupedQueryAttention(MultiHeadAttention):
    """Multi-head attention in which groups of query heads share a head of keys and values.

    Query head i attends to the keys of head i // (n_heads / n_kv_heads), and the KV cache holds
    `n_kv_heads` heads in place of `n_heads`. With `n_kv_heads = 1` this is multi-query attention
    (Shazeer, 2019), with `n_kv_heads = n_heads` it is `MultiHeadAttention`.
    Source: Ainslie et al. (2023), section 2.2.

    Args:
        d_model, n_heads, d_k, bias, dropout, positions: as in `MultiHeadAttention`.
        n_kv_heads: heads of keys and values, a number that divides `n_heads`.

    Raises:
        ValueError: as `MultiHeadAttention`.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int,
        d_k: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        positions: PositionEncoding | None = None,
    ) -> None:
        options = {"bias": bias, "dropout": dropout, "positions": positions}
        super().__init__(d_model, n_heads, d_k=d_k, **options, n_kv_heads=n_kv_heads)


class SlidingWindow(PositionEncoding):
    """Causal attention to the last `window` positions, the query's own among them.

    One layer reaches window − 1 tokens back, and each further layer as many again. The KV cache
    keeps the last `window` positions only.
    Source: Beltagy et al. (2020), section 3.1; causal as in Jiang et al. (2023), section 2.

    Args:
        window: number of positions that a query may attend to.
        inside: the encoding of these positions; none if not given.
    """

    def __init__(self, window: int, inside: PositionEncoding | None = None) -> None:
        super().__init__()
        require_sizes(window=window)
        self.window = window
        self.inside = PositionEncoding() if inside is None else inside
        self.context_length = self.inside.context_length

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

    def for_attention(self) -> PositionEncoding:
        """The same window, with what `inside` does in attention."""
        return SlidingWindow(self.window, self.inside.for_attention())


def _check_width(x: Tensor, d_model: int) -> None:
    fits = x.dim() >= 1 and x.shape[-1] == d_model
    require(fits, "x", f"shape {tuple(x.shape)}", f"shape (…, {d_model})")
