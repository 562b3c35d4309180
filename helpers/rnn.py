"""Recurrent models: RNN, LSTM and GRU, and a recurrent translator with additive attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from helpers.validation import require, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Float, Int
from typing import TYPE_CHECKING

from helpers.attention import masked_softmax
from helpers.tokens import PAD, check_tokens

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
from helpers.encoder_decoder import source_mask


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
        self.lm_head = nn.Linear(d_model, n_outputs)
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
        return self.lm_head(states)


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
        self.lm_head = nn.Linear(2 * d_model if attention else d_model, target_vocab)

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
            return self.lm_head(x)
        memory, _ = nn.utils.rnn.pad_packed_sequence(
            read, batch_first=True, total_length=source.shape[1]
        )  # (batch, T_k, d_model)
        found, weights = self.attention(x, memory, source_mask(source)[:, 0])
        logits = self.lm_head(torch.cat([x, found], dim=-1))  # (batch, T_q, vocab)
        return (logits, [weights[:, None]]) if return_weights else logits

    def condition_on(self, source: Int[Tensor, "batch T_k"]) -> UncachedDecoder:
        """As `EncoderDecoder.condition_on`, but both sequences are read again for each token."""
        return UncachedDecoder(self, source)


class UncachedDecoder(nn.Module):
    """A model of (source, target) with its source held; it reads all again for each token."""

    def __init__(self, model: nn.Module, source: Tensor) -> None:
        super().__init__()
        self.model, self.source = model, source
        self.train(model.training)

    def forward(self, target: Int[Tensor, "batch T_q"]) -> Float[Tensor, "batch T_q vocab"]:
        """Logits of the token after each one of the target."""
        n = len(target) if len(self.source) == 1 else len(self.source)
        return self.model(self.source.expand(n, -1), target)
