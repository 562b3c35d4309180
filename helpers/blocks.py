"""The transformer block and its parts (lecture 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch.nn.functional as F
from torch import Tensor, nn

from helpers.attention import MultiHeadAttention
from helpers.checks import require, require_dims, require_share, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

    from helpers.positions import Positions


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them, applied to each position alone.

    Source: Vaswani et al. (2017), section 3.3, equation 2.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        require_sizes(d_model=d_model, d_ff=d_ff)
        require_share("dropout", dropout)
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Widen, cut off below zero, narrow again.

        Raises:
            ValueError: if the last axis of `x` is not `d_model`.
        """
        d_model = self.widen.in_features
        fits = x.dim() >= 1 and x.shape[-1] == d_model
        require(fits, "x", f"shape {tuple(x.shape)}", f"shape (…, {d_model})")
        return self.narrow(self.dropout(F.relu(self.widen(x))))


class TransformerBlock(nn.Module):
    """Attention, then a feed-forward network, each with a residual connection and a layer norm.

    Args:
        d_model: width of the residual stream.
        n_heads: number of heads.
        d_ff: width inside the feed-forward network; `4 · d_model` if not given.
        norm: "post" normalises after each addition, as Vaswani et al. (2017); "pre" normalises
            what goes into attention and feed-forward, as Xiong et al. (2020).
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
        positions: Positions | None = None,
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
    ) -> (
        Float[Tensor, "batch T d_model"]
        | tuple[Float[Tensor, "batch T d_model"], Float[Tensor, "batch heads T T"]]
    ):
        """The stream after this block, and the attention weights if asked for.

        Raises:
            ValueError: if `x` is not (batch, T, d_model) or the mask does not fit.
        """
        d_model = self.feed_forward.widen.in_features
        require_dims("x", x, 3, f"(batch, T, {d_model})")
        fits = x.shape[-1] == d_model
        require(fits, "x", f"shape {tuple(x.shape)}", f"shape (batch, T, {d_model})")
        normed = self.norm_attention(x) if self.norm == "pre" else x
        attended, weights = normed, None
        if return_weights:
            attended, weights = self.attention(normed, mask=mask, return_weights=True)
        else:
            attended = self.attention(normed, mask=mask)
        x = x + self.dropout(attended)  # (batch, T, d_model)
        if self.norm == "post":
            x = self.norm_attention(x)
        normed = self.norm_feed_forward(x) if self.norm == "pre" else x
        x = x + self.dropout(self.feed_forward(normed))  # (batch, T, d_model)
        if self.norm == "post":
            x = self.norm_feed_forward(x)
        return (x, weights) if return_weights else x
