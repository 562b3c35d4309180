"""Models that read one sequence and write another (lecture 9).

All of them map (source, target) to logits (batch, T_q, vocab): the logits at a position of the
target depend on the whole source and on the target up to and including that position. Filler
(`PAD`) stands on the right, in both. In the source nobody attends to it. In the target a causal
mask hides it from everything before it, and what is computed at filler itself counts for nothing,
as its targets are `IGNORE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from helpers.attention import masked_softmax
from helpers.blocks import DecoderCache, DecoderStack, TransformerStack
from helpers.checks import require, require_dims, require_sizes
from helpers.data import PAD
from helpers.models import check_tokens, set_forget_bias
from helpers.positions import Positions
from helpers.training import IGNORE, Batch, evaluating

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

START, END = 1, 2
"""Ids in the target's vocabulary: what begins each target, and what ends it."""


def shifted(sources: Sequence[Int[Tensor, " _"]], targets: Sequence[Int[Tensor, " _"]]) -> Batch:
    """A batch: sources, targets from `START` on, and what is asked: their next ids up to `END`.

    Raises:
        ValueError: if there is no source, or not one target for each.
    """
    require(len(sources) >= 1, "sources", "none", "at least one")
    needed = f"{len(sources)}, one for each source"
    require(len(targets) == len(sources), "targets", len(targets), needed)
    begun = [torch.cat([torch.tensor([START]), row]) for row in targets]
    ended = [torch.cat([row, torch.tensor([END])]) for row in targets]
    source, target = (pad_sequence(rows, True, PAD) for rows in (sources, begun))
    return (source, target), pad_sequence(ended, True, IGNORE)


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
        positions: Positions | None = None,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_sizes(source_vocab=source_vocab, target_vocab=target_vocab, d_model=d_model)
        self.positions = Positions() if positions is None else positions
        sizes = (n_layers, d_model, n_heads, d_ff, norm, dropout, self.positions)
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = TransformerStack(*sizes)
        self.decoder = DecoderStack(*sizes)
        self.readout = nn.Linear(d_model, target_vocab)

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
            return self.readout(x), weights
        return self.readout(x)  # (batch, T_q, vocab)

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

    def given(self, source: Int[Tensor, "batch T_k"]) -> Given:
        """The decoder with this source held: a model of the target alone, which can write.

        The source is read once, here, in evaluation and without a gradient.

        Raises:
            ValueError: as `encode`.
        """
        with evaluating(self), torch.no_grad():
            memory = self.encode(source)  # (batch, T_k, d_model)
        return Given(self, memory, source_mask(source))


class Given(nn.Module):
    """A model that writes what belongs to one source, or to a batch of them.

    It maps targets (batch, T_q) to logits, as a language model does, so that the functions of
    `helpers.decoding` can write with it. A single source serves any number of targets.
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


class AdditiveAttention(nn.Module):
    """Scores of a small network, vᵀ tanh(W query + U key + b), in place of dot products.

    Source: Bahdanau, Cho and Bengio (2015), appendix A.1.2.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        require_sizes(d_model=d_model)
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.v = nn.Linear(d_model, 1, bias=False)

    def forward(
        self,
        query: Float[Tensor, "batch T_q d_model"],
        key: Float[Tensor, "batch T_k d_model"],
        mask: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch T_q d_model"], Float[Tensor, "batch T_q T_k"]]:
        """Context vectors, which are weighted means of the keys, and the weights.

        Raises:
            ValueError: if the mask does not fit, and as torch where the widths do not.
        """
        pairs = self.W_query(query)[:, :, None] + self.W_key(key)[:, None]  # (batch, T_q, T_k, d)
        scores = self.v(pairs.tanh()).squeeze(-1)  # (batch, T_q, T_k)
        weights = masked_softmax(scores, mask)  # (batch, T_q, T_k)
        return weights @ key, weights


class RecurrentTranslator(nn.Module):
    """An LSTM reads the source, a second one writes, beginning with the state of the first.

    Without attention that state is all that the writer knows of the source (Sutskever, Vinyals
    and Le, 2014). With it, each state of the writer asks all states of the reader, by additive
    attention. The order of steps is that of Luong, Pham and Manning (2015): the writer steps
    first, then asks, so that all steps of the target can ask at once. Bahdanau et al. (2015) ask
    before the step.

    Args:
        source_vocab, target_vocab: as in `EncoderDecoder`.
        d_model: width of embeddings and states.
        attention: whether the writer may look back at the source.
        forget_bias: as in `RecurrentModel`.

    Raises:
        ValueError: if a size is below 1.
    """

    def __init__(
        self,
        source_vocab: int,
        target_vocab: int,
        d_model: int,
        attention: bool = False,
        forget_bias: float = 1.0,
    ) -> None:
        super().__init__()
        require_sizes(source_vocab=source_vocab, target_vocab=target_vocab, d_model=d_model)
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.reader = nn.LSTM(d_model, d_model, batch_first=True)
        self.writer = nn.LSTM(d_model, d_model, batch_first=True)
        for lstm in (self.reader, self.writer):
            set_forget_bias(lstm, forget_bias)
        self.attention = AdditiveAttention(d_model) if attention else None
        self.readout = nn.Linear(2 * d_model if attention else d_model, target_vocab)

    def forward(
        self,
        source: Int[Tensor, "batch T_k"],
        target: Int[Tensor, "batch T_q"],
        return_weights: bool = False,
    ) -> (
        Float[Tensor, "batch T_q vocab"]
        | tuple[Float[Tensor, "batch T_q vocab"], list[Float[Tensor, "batch 1 T_q T_k"]]]
    ):
        """As `EncoderDecoder.forward`; the weights as those of one layer with one head.

        Raises:
            ValueError: as `EncoderDecoder.forward`, if a source is filler throughout, or weights
                are asked for where there is no attention.
        """
        check_tokens(source, self.source_embedding.num_embeddings, "source")
        check_tokens(target, self.target_embedding.num_embeddings, "target")
        needed = f"{len(source)} rows, as the source has"
        require(len(target) == len(source), "target", f"{len(target)} rows", needed)
        lengths = (source != PAD).sum(dim=1)  # (batch,)
        require(bool((lengths > 0).all()), "source", "a row of filler alone", "words in each row")
        has = self.attention is not None or not return_weights
        require(has, "return_weights", True, "a model with attention")
        packed = nn.utils.rnn.pack_padded_sequence(
            self.source_embedding(source), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        read, last = self.reader(packed)
        x, _ = self.writer(self.target_embedding(target), last)  # (batch, T_q, d_model)
        if self.attention is None:
            return self.readout(x)
        memory, _ = nn.utils.rnn.pad_packed_sequence(
            read, batch_first=True, total_length=source.shape[1]
        )  # (batch, T_k, d_model)
        found, weights = self.attention(x, memory, source_mask(source)[:, 0])
        logits = self.readout(torch.cat([x, found], dim=-1))  # (batch, T_q, vocab)
        return (logits, [weights[:, None]]) if return_weights else logits

    def given(self, source: Int[Tensor, "batch T_k"]) -> RereadGiven:
        """The role of `EncoderDecoder.given`, but all is read again and checked for each token."""
        return RereadGiven(self, source)


class RereadGiven(nn.Module):
    """A model of (source, target) with its source held; it reads all again for each token."""

    def __init__(self, model: nn.Module, source: Tensor) -> None:
        super().__init__()
        self.model, self.source = model, source
        self.train(model.training)

    def forward(self, target: Int[Tensor, "batch T_q"]) -> Float[Tensor, "batch T_q vocab"]:
        """Logits of the token after each one of the target."""
        n = len(target) if len(self.source) == 1 else len(self.source)
        return self.model(self.source.expand(n, -1), target)
