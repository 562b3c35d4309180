"""Extractive question answering (lecture 10): models that predict a span, and scores of spans.

A reader maps token ids of contexts and questions to two logits for each position of the context:
for the first and for the last word of the answer. They have the shape (batch, 2, T_c), so that
`training.train` takes them with targets (batch, 2). Position 0 of a context means "no answer"; a
span is a pair of positions, both inclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from helpers.blocks import DecoderBlock
from helpers.positions import RotaryPositions
from helpers.rnn import set_forget_bias
from helpers.tokens import PAD, check_tokens
from helpers.validation import require, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

    Flag = Callable[[Tensor, Tensor], Tensor]


def occurs_in(
    context: Int[Tensor, "batch T_c"], question: Int[Tensor, "batch T_q"]
) -> Bool[Tensor, "batch T_c"]:
    """True for words of the context that also occur in the question; False for pad tokens.

    Source: one of the features of Chen et al. (2017), section 3.2, "exact match".
    """
    same = context[:, :, None] == question[:, None, :]  # (batch, T_c, T_q)
    return same.any(dim=-1) & (context != PAD)


class _Reader(nn.Module):
    """The parts that both readers share: embeddings, the flag, the two output logits."""

    def __init__(
        self, vocab: int, d_model: int, width: int, flag: Flag | None, fixed: Sequence[int]
    ) -> None:
        super().__init__()
        require_sizes(vocab=vocab, d_model=d_model)
        outside = [i for i in fixed if not 0 <= i < vocab][:3]
        require(not outside, "fixed", f"ids such as {outside}", f"numbers from 0 to {vocab - 1}")
        self.embedding = nn.Embedding(vocab, d_model)
        nn.init.normal_(self.embedding.weight, std=0.3)
        is_fixed = torch.zeros(vocab, 1, dtype=torch.bool)
        is_fixed[list(fixed)] = True
        self.register_buffer("is_fixed", is_fixed, persistent=False)  # (vocab, 1)
        self.flag = flag
        self.mark = nn.Parameter(torch.randn(d_model))
        self.pointers = nn.Linear(width, 2)

    @property
    def words(self) -> Float[Tensor, "vocab d_model"]:
        """The embeddings, without a gradient for the fixed ones."""
        weight = self.embedding.weight
        return torch.where(self.is_fixed, weight.detach(), weight)

    def embed(self, context: Tensor, question: Tensor) -> Float[Tensor, "batch T_c d_model"]:
        """Embeddings of the context, plus the mark where a word has a flag."""
        check_tokens(context, self.embedding.num_embeddings, "context")
        check_tokens(question, self.embedding.num_embeddings, "question")
        same = len(context) == len(question)
        require(same, "question", f"{len(question)} rows", f"{len(context)}, as many as contexts")
        x = self.words[context]  # (batch, T_c, d_model)
        if self.flag is None:
            return x
        return x + self.flag(context, question)[..., None].to(x.dtype) * self.mark

    def point(self, x: Tensor, context: Tensor) -> Float[Tensor, "batch 2 T_c"]:
        """Two logits for each word; −∞ for pad tokens."""
        logits = self.pointers(x).mT  # (batch, 2, T_c)
        return logits.masked_fill((context == PAD)[:, None], -torch.inf)


class Reader(_Reader):
    """A transformer that reads the context and attends to the question.

    Each block is a `DecoderBlock`, usually without a causal mask: the words of the context attend
    to each other, then to the words of the question. The question is a bag of embeddings without
    positions, since it is enough to know which words it contains.

    Args:
        vocab: number of different tokens.
        d_model, n_heads, d_ff: as in `DecoderBlock`.
        n_layers: number of blocks.
        flag: maps contexts and questions to a number for each word of the context, the factor of a
            trained vector (the mark) that is added to the word. None for no flag.
        fixed: ids whose embeddings keep their initial values. If names are fixed, a name that is
            not in the training data looks like any other.
        causal: whether the words of the context attend to earlier words only.

    Raises:
        ValueError: if a size is below 1 or an id no token, and as `DecoderBlock`.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int = 32,
        n_layers: int = 2,
        n_heads: int = 2,
        d_ff: int = 64,
        flag: Flag | None = occurs_in,
        fixed: Sequence[int] = (),
        *,
        causal: bool = False,
    ) -> None:
        super().__init__(vocab, d_model, d_model, flag, fixed)
        require_sizes(n_layers=n_layers)
        self.causal = causal
        positions = RotaryPositions(base=30.0)  # contexts are short: much slower turns tell little
        self.blocks = nn.ModuleList(
            DecoderBlock(d_model, n_heads, d_ff, positions=positions) for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)

    def forward(
        self,
        context: Int[Tensor, "batch T_c"],
        question: Int[Tensor, "batch T_q"],
        return_weights: bool = False,
        visible: Bool[Tensor, "batch T_q"] | None = None,
    ) -> (
        Float[Tensor, "batch 2 T_c"]
        | tuple[Float[Tensor, "batch 2 T_c"], list[tuple[Tensor, Tensor]]]
    ):
        """Logits of the first and the last word, and the attention weights if asked for.

        Args:
            context, question: token ids, with pad tokens on the right.
            return_weights: whether to return, for each block, the weights on the context, (batch,
                heads, T_c, T_c), and on the question, (batch, heads, T_c, T_q).
            visible: True for words of the question that may be attended to; all but pad tokens if
                not given.

        Raises:
            ValueError: if contexts and questions are not ids, or their batches differ.
        """
        x = self.embed(context, question)  # (batch, T_c, d_model)
        memory = self.words[question]  # (batch, T_q, d_model)
        real = (context != PAD)[:, None, None]  # (batch, 1, 1, T_c)
        visible = question != PAD if visible is None else visible  # (batch, T_q)
        all_weights = []
        for block in self.blocks:
            masks = real, visible[:, None, None]
            x = block(x, memory, *masks, return_weights, causal=self.causal)
            if return_weights:
                x, *weights = x
                all_weights.append(tuple(weights))
        logits = self.point(self.norm(x), context)  # (batch, 2, T_c)
        return (logits, all_weights) if return_weights else logits


class RecurrentReader(_Reader):
    """A reader of two bidirectional LSTMs, without attention.

    The last states of the first, which reads the question, are concatenated to each word of the
    context, which the second one reads. Forget biases are initialized to 1.

    Args:
        vocab: number of different tokens.
        d_model: width of the embeddings and of the question's states, an even number.
        d_state: width of the hidden state that reads the context, in each direction.
        flag, fixed: as in `Reader`.

    Raises:
        ValueError: if a size is below 1, `d_model` is odd, or an id is no token.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int = 32,
        d_state: int = 26,
        flag: Flag | None = occurs_in,
        fixed: Sequence[int] = (),
    ) -> None:
        require_sizes(d_state=d_state)
        require(d_model % 2 == 0, "d_model", d_model, "an even number: half for each direction")
        super().__init__(vocab, d_model, 2 * d_state, flag, fixed)
        both = {"batch_first": True, "bidirectional": True}
        self.asking = nn.LSTM(d_model, d_model // 2, **both)
        self.reading = nn.LSTM(2 * d_model, d_state, **both)
        set_forget_bias(self.asking, 1.0)
        set_forget_bias(self.reading, 1.0)

    def forward(
        self, context: Int[Tensor, "batch T_c"], question: Int[Tensor, "batch T_q"]
    ) -> Float[Tensor, "batch 2 T_c"]:
        """Logits of the first and the last word.

        Raises:
            ValueError: as `Reader`, or if a question has no word.
        """
        x = self.embed(context, question)  # (batch, T_c, d_model)
        asked = self._read(self.asking, self.words[question], question)[1]  # (2, batch, half)
        asked = asked.transpose(0, 1).flatten(1)[:, None].expand_as(x)  # (batch, T_c, d_model)
        x = torch.cat([x, asked], dim=-1)  # (batch, T_c, 2 · d_model)
        states = self._read(self.reading, x, context)[0]  # (batch, T_c, 2 · d_state)
        return self.point(states, context)

    @staticmethod
    def _read(lstm: nn.LSTM, x: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """States at all words, and the last states of both directions, without pad tokens."""
        lengths = (tokens != PAD).sum(dim=1)  # (batch,)
        require(bool((lengths > 0).all()), "tokens", "a row of pad tokens", "a word in each row")
        pack, unpack = nn.utils.rnn.pack_padded_sequence, nn.utils.rnn.pad_packed_sequence
        packed = pack(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, (last, _) = lstm(packed)
        return unpack(states, batch_first=True, total_length=x.shape[1])[0], last


def best_spans(
    logits: Float[Tensor, "batch 2 T_c"], longest: int | None = None
) -> tuple[Int[Tensor, "batch 2"], Float[Tensor, " batch"]]:
    """The spans with the largest sum of both logits, and these sums. No span ends before it starts.

    Position 0 is not part of any span; see `no_answer_margin`.

    Args:
        logits: of the first and the last word; −∞ for pad tokens.
        longest: most words of a span; any number if not given.

    Raises:
        ValueError: if logits are not (batch, 2, T_c) with two positions at least, `longest` is
            below 1, or a row has no possible span.
    """
    _check_logits(logits)
    require_sizes(longest=longest)
    T = logits.shape[-1]
    sums = logits[:, 0, :, None] + logits[:, 1, None, :]  # (batch, first, last)
    legal = torch.ones(T, T, dtype=torch.bool, device=logits.device).triu()  # last >= first
    if longest is not None:
        legal = legal.tril(longest - 1)  # (T, T)
    legal[0] = False
    best, at = sums.masked_fill(~legal, -torch.inf).flatten(1).max(dim=1)  # (batch,) each
    needed = "a place to choose"
    require(bool((best > -torch.inf).all()), "logits", "a row of −inf, or NaN", needed)
    return torch.stack([at // T, at % T], dim=1), best


def no_answer_margin(
    logits: Float[Tensor, "batch 2 T_c"], longest: int | None = None
) -> Float[Tensor, " batch"]:
    """Score of "no answer", the sum of both logits at position 0, minus that of the best span.

    A question counts as unanswerable if the margin exceeds a threshold, which is chosen on
    validation data (Devlin et al., 2019, section 4.3, with the opposite sign).

    Raises:
        ValueError: as `best_spans`.
    """
    _, best = best_spans(logits, longest)  # (batch,)
    return logits[:, :, 0].sum(dim=1) - best


def _check_logits(logits: Tensor) -> None:
    shape = tuple(logits.shape)
    fits = len(shape) == 3 and shape[1] == 2 and shape[2] >= 2
    require(fits, "logits", f"shape {shape}", "shape (batch, 2, T_c), T_c at least 2")
