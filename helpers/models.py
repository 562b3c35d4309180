"""Models of whole sequences. All of them turn tokens (batch, T) into logits (batch, T, n_outputs).

(`AttentionReader` can answer several questions: then the T positions come once for each.)
At every position the logits depend on the tokens up to and including that position.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from torch import Tensor, nn

from helpers.attention import KeyValueCache
from helpers.blocks import TransformerStack
from helpers.positions import PositionEncoding
from helpers.tokens import check_tokens
from helpers.validation import require, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Float, Int


class TransformerModel(nn.Module):
    """Embedding, transformer blocks with a causal mask, layer norm, a linear readout.

    `context_length` is the number of positions that a model was trained for. If it is set, longer
    texts are refused.

    Args:
        vocab: number of different tokens.
        d_model: width of the residual stream.
        n_outputs: number of logits at each position.
        n_layers: number of blocks.
        n_heads: heads in each block.
        d_ff: width inside the feed-forward networks; `4 · d_model` if not given.
        positions: an encoding of `helpers.positions`; none if not given.
        norm: "pre" or "post", as in `TransformerBlock`.
        dropout: as in `TransformerBlock`.

    Raises:
        ValueError: if a size is below 1 (`n_layers` may be 0), and as `TransformerBlock`.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        n_outputs: int,
        n_layers: int = 2,
        n_heads: int = 2,
        d_ff: int | None = None,
        positions: PositionEncoding | None = None,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_sizes(vocab=vocab, d_model=d_model, n_outputs=n_outputs)
        self.positions = PositionEncoding() if positions is None else positions
        self.embedding = nn.Embedding(vocab, d_model)
        self.embedding_scale = 1.0
        self.context_length: int | None = None
        self.stack = TransformerStack(
            n_layers, d_model, n_heads, d_ff, norm, dropout, self.positions
        )
        self.lm_head = nn.Linear(d_model, n_outputs)

    @property
    def blocks(self) -> nn.ModuleList:
        """The transformer blocks, the first one first."""
        return self.stack.blocks

    def forward(
        self,
        tokens: Int[Tensor, "batch T"],
        return_weights: bool = False,
        cache: list[KeyValueCache] | None = None,
        *,
        last_only: bool = False,
    ) -> (
        Float[Tensor, "batch T_out n_outputs"]
        | tuple[Float[Tensor, "batch T_out n_outputs"], list[Float[Tensor, "batch heads T T_k"]]]
    ):
        """Logits at every position, and each block's attention weights if asked for.

        Args:
            tokens: what is to be read.
            return_weights: whether the weights are wanted.
            cache: from `new_cache`. Then `tokens` come after those that the cache has seen, and
                are added to it; T_k counts both.
            last_only: whether logits of the last position are enough; then T_out is 1, and else T.
                With a large vocabulary the output layer is a large part of the work.

        Raises:
            ValueError: if `tokens` are not ids, (batch, T), there are more than `context_length`,
                or the cache is of another model or batch.
        """
        check_tokens(tokens, self.embedding.num_embeddings)
        start = cache[0].seen if cache else 0
        if start:
            held = len(cache[0].keys)
            require(
                len(tokens) == held, "tokens", f"{len(tokens)} rows", f"{held}, as the cache holds"
            )
        end, longest = start + tokens.shape[1], self.context_length
        fits = longest is None or end <= longest
        require(fits, "tokens", f"{end} positions", f"at most context_length = {longest}")
        x = self.embedding_scale * self.embedding(tokens)  # (batch, T, d_model)
        x = self.positions.embed(x, start)  # (batch, T, d_model)
        asked = slice(-1, None) if last_only else slice(None)
        if return_weights:
            x, all_weights = self.stack(x, None, True, cache, causal=True)
            return self.lm_head(x[:, asked]), all_weights
        x = self.stack(x, cache=cache, causal=True)  # (batch, T, d_model)
        return self.lm_head(x[:, asked])  # (batch, T or 1, n_outputs)

    def new_cache(self) -> list[KeyValueCache]:
        """An empty cache for each block, to be handed to `forward` again and again.

        Raises:
            ValueError: if there is no block: without attention there is nothing to keep.
        """
        n_layers = len(self.blocks)
        require(n_layers >= 1, "n_layers", n_layers, "at least 1: attention keeps keys and values")
        return [KeyValueCache() for _ in range(n_layers)]


class LanguageModel(TransformerModel):
    """A transformer whose outputs are the vocabulary and whose readout is its embedding.

    The logit of a word is the dot product of the stream's end with that word's embedding: one
    table serves both ways ("tied"; Press and Wolf, 2017; Vaswani et al., 2017, section 3.4, who
    also multiply it by √d_model on the way in). It starts with numbers of the size 1/d_model, so
    that even the logit of the word just read is no larger than about 1 and all words are about
    equally likely. With 1/√d_model an untrained model is nearly sure that each word comes twice.

    Args:
        vocab: number of different tokens, as many as logits.
        d_model, n_layers, n_heads, d_ff, positions, norm, dropout: as in `TransformerModel`.

    Raises:
        ValueError: as `TransformerModel`.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        n_layers: int = 2,
        n_heads: int = 2,
        d_ff: int | None = None,
        positions: PositionEncoding | None = None,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab, d_model, vocab, n_layers, n_heads, d_ff, positions, norm, dropout)
        nn.init.normal_(self.embedding.weight, std=1.0 / d_model)
        self.embedding_scale = math.sqrt(d_model)
        self.lm_head = nn.Linear(d_model, vocab, bias=False)
        self.lm_head.weight = self.embedding.weight
