"""Models of whole sequences. All of them turn tokens (batch, T) into logits (batch, T, n_outputs).

(`AttentionReader` can answer several questions: then the T positions come once for each.)
At every position the logits depend on the tokens up to and including that position.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from helpers.attention import KeyValueCache, MultiHeadAttention
from helpers.blocks import TransformerStack
from helpers.checks import require, require_dims, require_sizes
from helpers.masks import causal_mask
from helpers.positions import Positions

if TYPE_CHECKING:
    from jaxtyping import Float, Int


class RecurrentModel(nn.Module):
    """Embedding, a recurrent network, a linear readout.

    Args:
        vocab: number of different tokens.
        d_model: width of the embeddings and of the state.
        n_outputs: number of logits at each position.
        cell: "rnn" (Elman, 1990), "lstm" (Hochreiter and Schmidhuber, 1997) or "gru".
        n_layers: recurrent layers on top of each other.
        forget_bias: for the LSTM, the total bias of the forget gates at the start (torch's own
            is close to 0; Jozefowicz et al., 2015, recommend 1 or more).
        identity_start: for the plain network, ReLU in place of tanh, and at the start the identity
            as the matrix from state to state and no bias, so that a state is handed on as it is
            (Le, Jaitly and Hinton, 2015).

    Raises:
        ValueError: for another cell, a forget bias without an LSTM, an identity start without a
            plain network, or a size below 1.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        n_outputs: int,
        cell: Literal["rnn", "lstm", "gru"] = "rnn",
        n_layers: int = 1,
        forget_bias: float | None = None,
        identity_start: bool = False,
    ) -> None:
        super().__init__()
        require_sizes(vocab=vocab, d_model=d_model, n_outputs=n_outputs, n_layers=n_layers)
        cells = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
        require(cell in cells, "cell", repr(cell), " or ".join(map(repr, cells)))
        needs_lstm = forget_bias is None or cell == "lstm"
        require(needs_lstm, "forget_bias", f"one for cell {cell!r}", "cell 'lstm'")
        plain = cell == "rnn" or not identity_start
        require(plain, "identity_start", f"one for cell {cell!r}", "cell 'rnn'")
        self.embedding = nn.Embedding(vocab, d_model)
        self.recurrence = cells[cell](d_model, d_model, n_layers, batch_first=True)
        self.readout = nn.Linear(d_model, n_outputs)
        if forget_bias is not None:
            set_forget_bias(self.recurrence, forget_bias)
        if identity_start:
            self.recurrence = identity_rnn(d_model, n_layers)

    def forward(self, tokens: Int[Tensor, "batch T"]) -> Float[Tensor, "batch T n_outputs"]:
        """Read from left to right.

        Raises:
            ValueError: if `tokens` are not ids, (batch, T), with T at least 1.
        """
        check_tokens(tokens, self.embedding.num_embeddings)
        require(tokens.shape[1] >= 1, "tokens", f"shape {tuple(tokens.shape)}", "T at least 1")
        states, _ = self.recurrence(self.embedding(tokens))  # (batch, T, d_model)
        return self.readout(states)


def set_forget_bias(lstm: nn.LSTM, value: float) -> None:
    """Make the two biases of each forget gate sum to `value` (Gers et al., 2000).

    Raises:
        ValueError: if the network is not an LSTM with biases.
    """
    has_gates = isinstance(lstm, nn.LSTM) and lstm.bias
    require(has_gates, "lstm", lstm, "an nn.LSTM with biases")
    for name, bias in lstm.named_parameters():
        if "bias" in name:  # torch's order of the gates: input, forget, cell, output
            forget = slice(lstm.hidden_size, 2 * lstm.hidden_size)
            with torch.no_grad():
                bias[forget] = value if name.startswith("bias_ih") else 0.0


def identity_rnn(d_model: int, n_layers: int = 1) -> nn.RNN:
    """A plain network with ReLU whose layers begin by handing their state on (Le et al., 2015).

    Raises:
        ValueError: if a size is below 1.
    """
    require_sizes(d_model=d_model, n_layers=n_layers)
    rnn = nn.RNN(d_model, d_model, n_layers, nonlinearity="relu", batch_first=True)
    with torch.no_grad():
        for name, parameter in rnn.named_parameters():
            if "weight_hh" in name:
                nn.init.eye_(parameter)
            elif "bias" in name:
                parameter.zero_()
    return rnn


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
        positions: Positions | None = None,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_sizes(vocab=vocab, d_model=d_model, n_outputs=n_outputs)
        self.positions = Positions() if positions is None else positions
        self.embedding = nn.Embedding(vocab, d_model)
        self.embedding_scale = 1.0
        self.context_length: int | None = None
        self.stack = TransformerStack(
            n_layers, d_model, n_heads, d_ff, norm, dropout, self.positions
        )
        self.readout = nn.Linear(d_model, n_outputs)

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
            return self.readout(x[:, asked]), all_weights
        x = self.stack(x, cache=cache, causal=True)  # (batch, T, d_model)
        return self.readout(x[:, asked])  # (batch, T or 1, n_outputs)

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
        positions: Positions | None = None,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab, d_model, vocab, n_layers, n_heads, d_ff, positions, norm, dropout)
        nn.init.normal_(self.embedding.weight, std=1.0 / d_model)
        self.embedding_scale = math.sqrt(d_model)
        self.readout = nn.Linear(d_model, vocab, bias=False)
        self.readout.weight = self.embedding.weight


def without_heads(model: TransformerModel, heads: Iterable[tuple[int, int]]) -> TransformerModel:
    """A copy of the model in which heads are switched off, each given as (layer, head).

    As in lecture 5: zeros in the head's piece of `W_out`, so that it adds nothing to the stream.
    The model itself stays as it is.

    Raises:
        ValueError: if there is no such layer or head.
    """
    copied = copy.deepcopy(model)
    for layer, head in heads:
        n_layers = len(copied.blocks)
        fits = 0 <= layer < n_layers
        require(fits, "heads", f"layer {layer}", f"numbers from 0 to {n_layers - 1}")
        attention = copied.blocks[layer].attention
        fits = 0 <= head < attention.n_heads
        require(fits, "heads", f"head {head}", f"numbers from 0 to {attention.n_heads - 1}")
        d_v = attention.d_v
        with torch.no_grad():
            attention.W_out.weight[:, head * d_v : (head + 1) * d_v] = 0.0
    return copied


def check_tokens(tokens: Int[Tensor, "batch T"], vocab: int, name: str = "tokens") -> None:
    """Refuse what an embedding of `vocab` rows cannot look up.

    Raises:
        ValueError: if `tokens` are not ids, (batch, T), and then it speaks of them by their name.
    """
    require_dims(name, tokens, 2, "(batch, T)")
    whole = tokens.dtype in (torch.int64, torch.int32)
    require(whole, name, f"dtype {tokens.dtype}", "torch.int64, ids of tokens")
    outside = tokens[(tokens < 0) | (tokens >= vocab)][:3].tolist()
    require(not outside, name, f"ids such as {outside}", f"numbers from 0 to {vocab - 1}")


class AttentionReader(nn.Module):
    """Attention and next to nothing else: embeddings, one multi-head attention, a readout.

    Without residual connection, feed-forward network or layer norm, whatever the readout knows of
    another position came through a head. The logits are (batch, n_questions · T, n_words): all
    positions for the first question, then all for the second.

    Args:
        n_words: number of different words; a token `n_words + i` is word i with a flag.
        length: the largest T.
        n_heads: number of heads.
        d_model: width of the embeddings.
        n_questions: how many answers each position gives.
        start: standard deviation of words and places before training.
        flag_start: the same for the flag.
        d_hidden: width of a hidden layer with ReLU in the readout, which is linear if this is 0.

    Raises:
        ValueError: if a size is below 1 (`d_hidden` may be 0), and as `MultiHeadAttention`.
    """

    def __init__(
        self,
        n_words: int,
        length: int,
        n_heads: int,
        d_model: int = 48,
        n_questions: int = 1,
        start: float = 1.0,
        flag_start: float = 0.5,
        d_hidden: int = 0,
    ) -> None:
        super().__init__()
        require_sizes(n_words=n_words, length=length, n_questions=n_questions)
        require_sizes(n_heads=n_heads, d_model=d_model)
        require(d_hidden >= 0, "d_hidden", d_hidden, "at least 0")
        self.n_words = n_words
        self.word = nn.Embedding(n_words, d_model)
        self.place = nn.Embedding(length, d_model)
        self.flag = nn.Embedding(2, d_model)
        for table, std in ((self.word, start), (self.place, start), (self.flag, flag_start)):
            nn.init.normal_(table.weight, std=std)
        self.attention = MultiHeadAttention(d_model, n_heads)
        n_logits = n_questions * n_words
        self.readout: nn.Module = nn.Linear(d_model, n_logits)
        if d_hidden:
            hidden = nn.Linear(d_model, d_hidden)
            self.readout = nn.Sequential(hidden, nn.ReLU(), nn.Linear(d_hidden, n_logits))

    def forward(
        self, tokens: Int[Tensor, "batch T"], return_weights: bool = False
    ) -> (
        Float[Tensor, "batch n n_words"]
        | tuple[Float[Tensor, "batch n n_words"], Float[Tensor, "batch heads T T"]]
    ):
        """Logits for every question and position, and the attention weights if asked for.

        Raises:
            ValueError: if `tokens` are not ids, (batch, T), with T at most `length`.
        """
        check_tokens(tokens, 2 * self.n_words)
        T, longest = tokens.shape[1], self.place.num_embeddings
        require(T <= longest, "tokens", f"{T} positions", f"at most length = {longest}")
        x = self.word(tokens % self.n_words) + self.flag(tokens // self.n_words)
        x = x + self.place.weight[:T]  # (batch, T, d_model)
        mask = causal_mask(T, device=tokens.device)  # (T, T)
        context, weights = self.attention(x, mask=mask, return_weights=True)
        answers = self.readout(context).unflatten(-1, (-1, self.n_words))
        logits = answers.transpose(1, 2).flatten(1, 2)  # (batch, n_questions · T, n_words)
        return (logits, weights) if return_weights else logits
