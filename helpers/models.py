"""Transformers that map tokens (batch, T) to logits (batch, T, n_outputs).

The logits at a position depend on the tokens up to and including that position.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from helpers.attention import KeyValueCache
from helpers.blocks import TransformerStack
from helpers.config import TransformerConfig
from helpers.positions import LearnedPositions, PositionEncoding
from helpers.tokens import check_tokens
from helpers.validation import require, require_length

if TYPE_CHECKING:
    from jaxtyping import Float, Int


EMBEDDING_STD = 0.02
"""Initial standard deviation of a language model's embeddings: GPT-2's, for its tokens and learned
positions (`initializer_range` in its `config.json`)."""


class TransformerModel(nn.Module):
    """Embedding, transformer blocks with a causal mask, final norm, and an LM head.

    Args:
        config: sizes and options.
        positions: an encoding of `helpers.positions`; if not given, none, or learned vectors where
            the config asks for them.

    Raises:
        ValueError: if the config asks for tied weights or scaled embeddings, which only a
            `LanguageModel` has, or for learned positions although others are given.
    """

    def __init__(
        self, config: TransformerConfig, positions: PositionEncoding | None = None
    ) -> None:
        super().__init__()
        if not isinstance(self, LanguageModel):
            refuse_language_model_options(config)
        self.config = config
        self.positions = positions_or_default(config, positions)
        self.embedding = nn.Embedding(config.vocab, config.d_model)
        self.embedding_scale = 1.0
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.stack = TransformerStack(config, self.positions.for_attention())
        n_outputs = config.n_outputs or config.vocab
        self.lm_head = nn.Linear(config.d_model, n_outputs, bias=config.bias)

    @property
    def context_length(self) -> int | None:
        """The longest sequence that the model accepts; None for any length.

        The smaller one of the config's `context_length` and that of the positions.
        """
        return smaller_length(self.config.context_length, self.positions.context_length)

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
            tokens: token ids.
            return_weights: whether to return the attention weights.
            cache: from `new_cache`. `tokens` then continue the tokens in the cache and are appended
                to it; T_k counts both.
            last_only: logits of the last position only, so that T_out is 1; otherwise T_out is T.
                With a large vocabulary this saves a large part of the work.

        Raises:
            ValueError: if `tokens` are not ids, (batch, T), there are more than
                `context_length`, or the cache is of another model or batch.
        """
        start = cache[0].seen if cache else 0
        self._check(tokens, cache, start)
        x = self.embedding_scale * self.embedding(tokens)  # (batch, T, d_model)
        x = self.embedding_dropout(self.positions.embed(x, start))  # (batch, T, d_model)
        x = self.stack(x, None, return_weights, cache, causal=True)  # (batch, T, d_model)
        x, all_weights = x if return_weights else (x, None)
        logits = self.lm_head(x[:, -1:] if last_only else x)  # (batch, T_out, n_outputs)
        return (logits, all_weights) if return_weights else logits

    def _check(self, tokens: Tensor, cache: list[KeyValueCache] | None, start: int) -> None:
        """Refuse tokens that the embedding, the cache or the context length does not allow."""
        check_tokens(tokens, self.embedding.num_embeddings)
        rows = len(cache[0].keys) if start else len(tokens)
        if len(tokens) != rows:
            require(False, "tokens", f"{len(tokens)} rows", f"{rows}, as the cache holds")
        require_length("tokens", start + tokens.shape[1], self.context_length)

    def new_cache(self) -> list[KeyValueCache]:
        """An empty KV cache for each block; `forward` fills it from call to call.

        Raises:
            ValueError: if the model has no block.
        """
        n_layers = len(self.blocks)
        require(n_layers >= 1, "n_layers", n_layers, "at least 1: attention keeps keys and values")
        return [KeyValueCache() for _ in range(n_layers)]


class LanguageModel(TransformerModel):
    """A transformer that predicts the next token, with an LM head without a bias.

    With tied weights (Press and Wolf, 2017; Vaswani et al., 2017, section 3.4) the LM head shares
    the table of the embedding: the logit of a token is the dot product of the final residual stream
    and the embedding of that token. Vaswani et al. also multiply embeddings by √d_model.

    The embeddings are initialized with GPT-2's standard deviation, `EMBEDDING_STD`, and multiplied,
    if the config asks for it, by √d_model. So at every usual width they enter the first block at a
    size that sinusoidal positions do not drown. Learned positions that the config asks for are
    initialized at that size, too. The price is that a wide untrained model expects each token to
    repeat: from a width of about 256 on its loss is above log(vocab).

    Args:
        config: sizes and options; `n_outputs` is `vocab`.
        positions: as in `TransformerModel`.

    Raises:
        ValueError: if the config gives another `n_outputs`, and as `TransformerModel`.
    """

    def __init__(
        self, config: TransformerConfig, positions: PositionEncoding | None = None
    ) -> None:
        n_outputs = config.n_outputs or config.vocab
        fits = n_outputs == config.vocab
        require(fits, "n_outputs", n_outputs, f"{config.vocab}, as vocab, or not given")
        super().__init__(config, positions)
        nn.init.normal_(self.embedding.weight, std=EMBEDDING_STD)
        if config.scale_embedding is not False:
            self.embedding_scale = math.sqrt(config.d_model)
        if positions is None and config.learned_positions:
            std = EMBEDDING_STD * self.embedding_scale
            nn.init.normal_(self.positions.table.weight, std=std)
        self.lm_head.bias = None
        if config.tied is not False:
            # As many random numbers are drawn as for an untied LM head: seeds keep their models.
            torch.empty_like(self.lm_head.weight).uniform_()
            _tie(self)
            self.register_load_state_dict_post_hook(_tie)  # `assign=True` sets two tables


def _tie(model: LanguageModel, *_: object) -> None:
    """Let the LM head share the table of the embedding."""
    model.lm_head.weight = model.embedding.weight


def positions_or_default(
    config: TransformerConfig, positions: PositionEncoding | None
) -> PositionEncoding:
    """`positions`; where they are None, learned vectors if the config asks for them, else none.

    Raises:
        ValueError: if the config asks for learned positions and others are given.
    """
    given, learned = positions is not None, config.learned_positions
    needed = "None, since the config has learned_positions=True"
    require(not (given and learned), "positions", type(positions).__name__, needed)
    if learned:
        return LearnedPositions(config.context_length, config.d_model)
    return positions if given else PositionEncoding()


def smaller_length(*lengths: int | None) -> int | None:
    """The smallest of several limits, of which None is no limit."""
    known = [length for length in lengths if length is not None]
    return min(known) if known else None


def refuse_language_model_options(config: TransformerConfig) -> None:
    """Refuse what a config asks for and only a `LanguageModel` has."""
    for name in ("tied", "scale_embedding"):
        needed = "False or not given: only a LanguageModel has it"
        require(not getattr(config, name), name, True, needed)


@contextlib.contextmanager
def eval_mode(model: nn.Module) -> Iterator[None]:
    """Evaluation mode within the block; after it, each module is in its previous mode again."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training
