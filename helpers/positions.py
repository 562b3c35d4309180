"""Position encodings with one interface (lecture 6).

An encoding acts in one of three places: it adds to the embeddings (learned, sinusoidal), rotates
queries and keys (rotary), or adds to the scores (ALiBi).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from helpers.validation import require, require_length, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Float


class PositionEncoding(nn.Module):
    """No positions, and the interface of the encodings below."""

    window: int | None = None
    """Number of positions that a query may attend to, its own among them; None for all."""

    context_length: int | None = None
    """Number of positions that it knows; None for any number."""

    def embed(
        self, x: Float[Tensor, "batch T d_model"], start: int = 0
    ) -> Float[Tensor, "batch T d_model"]:
        """Token embeddings with positions; the first token has position `start`. Called once."""
        return x

    def rotate(
        self,
        q: Float[Tensor, "batch heads T_q d_k"],
        k: Float[Tensor, "batch kv_heads T_k d_k"],
        start: int = 0,
    ) -> tuple[Float[Tensor, "batch heads T_q d_k"], Float[Tensor, "batch kv_heads T_k d_k"]]:
        """Queries and keys with positions. Called in every layer.

        The first key has position `start`; the queries are the last T_q of the positions.
        """
        return q, k

    def bias(self, T_q: int, T_k: int, like: Tensor) -> Float[Tensor, "heads T_q T_k"] | None:
        """Numbers added to the scores in every layer, with dtype and device of `like`, or None."""
        return None

    def for_attention(self) -> PositionEncoding:
        """The encoding that attention layers get: none, if this one only adds to the embeddings.

        So the trained table of `LearnedPositions` is in a model's `state_dict` once, and not again
        for each layer.
        """
        kind, plain = type(self), PositionEncoding
        acts = kind.rotate is not plain.rotate or kind.bias is not plain.bias
        return self if acts or self.window is not None else PositionEncoding()


class LearnedPositions(PositionEncoding):
    """One trained vector per position, added to the embedding.

    Source: Gehring et al. (2017), section 3.1; used by BERT and GPT-2.

    Args:
        context_length: number of positions.
        d_model: width of the vectors.
        std: initial standard deviation; best that of the embeddings, so that neither drowns the
            other. GPT-2's is 0.02 for both.
    """

    def __init__(self, context_length: int, d_model: int, std: float = 0.02) -> None:
        super().__init__()
        require_sizes(context_length=context_length, d_model=d_model)
        require(std > 0, "std", std, "a number above 0")
        self.context_length = context_length
        self.table = nn.Embedding(context_length, d_model)
        nn.init.normal_(self.table.weight, std=std)

    def embed(
        self, x: Float[Tensor, "batch T d_model"], start: int = 0
    ) -> Float[Tensor, "batch T d_model"]:
        """Embeddings plus T rows of the table, from row `start` on.

        Raises:
            ValueError: if there are more positions than the table has rows, or of another width,
                or `start` is negative.
        """
        require(start >= 0, "start", start, "at least 0")
        end, d_model = start + x.shape[-2], self.table.embedding_dim
        require_length("x", end, self.context_length)
        fits = x.shape[-1] == d_model
        require(fits, "x", f"shape {tuple(x.shape)}", f"shape (…, T, {d_model})")
        return x + self.table.weight[start:end]


def sinusoidal_codes(
    T: int,
    d_model: int,
    *,
    start: int = 0,
    base: float = 10_000.0,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "T d_model"]:
    """Sine and cosine of the positions from `start` on, each pair with a frequency of its own.

    Source: Vaswani et al. (2017), section 3.5.

    Raises:
        ValueError: if `d_model` is odd, or a number is too small.
    """
    require(T >= 0, "T", T, "at least 0")
    require(start >= 0, "start", start, "at least 0")
    require(base > 0, "base", base, "a number above 0")
    require_sizes(d_model=d_model)
    require(d_model % 2 == 0, "d_model", d_model, "an even number: sine and cosine come in pairs")
    angles = _angles(T, d_model, base, start)  # (T, d_model / 2), float64
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(dtype)


class SinusoidalPositions(PositionEncoding):
    """`sinusoidal_codes` added to the embedding, for sequences of any length."""

    def embed(
        self, x: Float[Tensor, "batch T d_model"], start: int = 0
    ) -> Float[Tensor, "batch T d_model"]:
        """Embeddings plus the codes of the positions `start` … start + T − 1.

        Raises:
            ValueError: if the width is odd, or `start` is negative.
        """
        codes = sinusoidal_codes(x.shape[-2], x.shape[-1], start=start, dtype=x.dtype)
        return x + codes.to(x.device)


class RotaryPositions(PositionEncoding):
    """Rotary positions: each pair of features of q and k is rotated in proportion to its position.

    The dot product of a rotated query and a rotated key depends on their distance alone.
    Source: Su et al. (2021), "RoFormer", equation 34.

    Args:
        base: of the frequencies; a larger base makes the slow pairs rotate more slowly.
        scaling_factor: positions are divided by it, so that texts that many times longer than the
            training texts keep to the trained angles (Chen et al., 2023).
    """

    def __init__(self, base: float = 10_000.0, scaling_factor: float = 1.0) -> None:
        super().__init__()
        require(base > 0, "base", base, "a number above 0")
        require(scaling_factor > 0, "scaling_factor", scaling_factor, "a number above 0")
        self.base, self.scaling_factor = base, scaling_factor
        self._tables: dict[tuple, tuple[Tensor, Tensor]] = {}

    def rotate(
        self,
        q: Float[Tensor, "batch heads T_q d_k"],
        k: Float[Tensor, "batch kv_heads T_k d_k"],
        start: int = 0,
    ) -> tuple[Float[Tensor, "batch heads T_q d_k"], Float[Tensor, "batch kv_heads T_k d_k"]]:
        """Queries and keys rotated by their positions.

        Raises:
            ValueError: if d_k is odd or not the same, there are more queries than keys, or
                `start` is negative.
        """
        require(start >= 0, "start", start, "at least 0")
        T_q, T_k, d_k = q.shape[-2], k.shape[-2], q.shape[-1]
        fits = k.shape[-1] == d_k
        require(fits, "k", f"shape {tuple(k.shape)}", f"d_k = {d_k} as last axis, as q has")
        require(d_k % 2 == 0, "d_k", d_k, "an even number: rotations act on pairs of features")
        if T_q > T_k:
            require(False, "q", f"{T_q} positions", f"at most T_k = {T_k}")
        cos, sin = self._cos_sin(start, start + T_k, q)  # (T_k, d_k / 2) each
        return _rotate_pairs(q, cos[T_k - T_q :], sin[T_k - T_q :]), _rotate_pairs(k, cos, sin)

    def _cos_sin(self, start: int, end: int, like: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines of positions `start` … end − 1, with dtype and device of `like`.

        All layers and steps share one table, which grows with the longest text so far. A compiler
        gets no table, since it would have to watch whether it grows.
        """
        if torch.compiler.is_compiling():
            return self._compute(start, end, like)
        key = (like.shape[-1], like.dtype, like.device, self.base, self.scaling_factor)
        known = self._tables.get(key)
        if known is None or len(known[0]) < end:
            longer = end if known is None else max(end, 2 * len(known[0]))
            with torch.inference_mode(False):  # what it makes could not be used in training
                known = self._tables[key] = self._compute(0, longer, like)
        cos, sin = known
        return cos[start:end], sin[start:end]

    def _compute(self, start: int, end: int, like: Tensor) -> tuple[Tensor, Tensor]:
        angles = _angles(end - start, like.shape[-1], self.base, start) / self.scaling_factor
        return angles.cos().to(like), angles.sin().to(like)  # not every device has float64


class ALiBiPositions(PositionEncoding):
    """ALiBi: a penalty on each score in proportion to the distance, with a slope for each head.

    Meant for causal attention: the penalty is the same in both directions.
    Source: Press et al. (2022), section 3; slopes 2^(−8/n), 2^(−16/n), … for n heads.
    """

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        require_sizes(n_heads=n_heads)
        slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1) / n_heads)  # (heads,)
        self.register_buffer("slopes", slopes, persistent=False)

    def bias(self, T_q: int, T_k: int, like: Tensor) -> Float[Tensor, "heads T_q T_k"] | None:
        """−slope · distance, for queries that are the last T_q of T_k positions.

        Raises:
            ValueError: if there are more queries than keys.
        """
        require(0 <= T_q <= T_k, "T_q, T_k", (T_q, T_k), "0 <= T_q <= T_k")
        query_at = torch.arange(T_k - T_q, T_k, device=like.device)  # (T_q,)
        distance = (query_at[:, None] - torch.arange(T_k, device=like.device)).abs()  # (T_q, T_k)
        return -(self.slopes[:, None, None] * distance).to(like.dtype)  # (heads, T_q, T_k)


def _angles(T: int, width: int, base: float, start: int) -> Float[Tensor, "T half"]:
    """position · base^(−2i / width) in float64, since float32 rounds angles of thousands."""
    frequency = torch.exp(
        -math.log(base) * torch.arange(0, width, 2, dtype=torch.float64) / width
    )  # (width / 2,)
    return torch.arange(start, start + T, dtype=torch.float64)[:, None] * frequency


def _rotate_pairs(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate the pairs (0, 1), (2, 3), … of the last axis."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
