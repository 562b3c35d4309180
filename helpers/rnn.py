"""Recurrent models: RNN, LSTM, GRU, and a recurrent translator with additive attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from helpers.attention import masked_softmax
from helpers.encoder_decoder import source_mask
from helpers.tokens import PAD, check_tokens
from helpers.validation import require, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


class RecurrentModel(nn.Module):
    """Embedding, a recurrent network, and a linear output layer.

    Args:
        vocab: number of different tokens.
        d_model: width of the embeddings and of the hidden state.
        n_outputs: number of logits at each position.
        cell: "rnn" (Elman, 1990), "lstm" (Hochreiter and Schmidhuber, 1997) or "gru".
        n_layers: number of recurrent layers.
        forget_bias: for the LSTM, the initial total bias of the forget gates (torch's own is close
            to 0; Jozefowicz et al., 2015, recommend 1 or more).
        identity_init: for the plain RNN, ReLU in place of tanh, and the identity as the initial
            recurrent matrix, without bias, so that it copies its state (Le, Jaitly and Hinton,
            2015).

    Raises:
        ValueError: for another cell, a forget bias without an LSTM, identity_init without a plain
            RNN, or a size below 1.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        n_outputs: int,
        cell: Literal["rnn", "lstm", "gru"] = "rnn",
        n_layers: int = 1,
        forget_bias: float | None = None,
        identity_init: bool = False,
    ) -> None:
        super().__init__()
        require_sizes(vocab=vocab, d_model=d_model, n_outputs=n_outputs, n_layers=n_layers)
        cells = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
        require(cell in cells, "cell", repr(cell), " or ".join(map(repr, cells)))
        needs_lstm = forget_bias is None or cell == "lstm"
        require(needs_lstm, "forget_bias", f"one for cell {cell!r}", "cell 'lstm'")
        plain = cell == "rnn" or not identity_init
        require(plain, "identity_init", f"one for cell {cell!r}", "cell 'rnn'")
        self.embedding = nn.Embedding(vocab, d_model)
        self.recurrence = cells[cell](d_model, d_model, n_layers, batch_first=True)
        self.lm_head = nn.Linear(d_model, n_outputs)
        if forget_bias is not None:
            set_forget_bias(self.recurrence, forget_bias)
        if identity_init:
            self.recurrence = identity_rnn(d_model, n_layers)

    def forward(self, tokens: Int[Tensor, "batch T"]) -> Float[Tensor, "batch T n_outputs"]:
        """Logits at every position, which depend on the tokens up to that position.

        Raises:
            ValueError: if `tokens` are not ids, (batch, T), with T at least 1.
        """
        check_tokens(tokens, self.embedding.num_embeddings)
        require(tokens.shape[1] >= 1, "tokens", f"shape {tuple(tokens.shape)}", "T at least 1")
        states, _ = self.recurrence(self.embedding(tokens))  # (batch, T, d_model)
        return self.lm_head(states)


def set_forget_bias(lstm: nn.LSTM, value: float) -> None:
    """Set the two biases of each forget gate so that their sum is `value` (Gers et al., 2000).

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
    """A ReLU RNN with the identity as its initial recurrent matrices (Le et al., 2015).

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
    """Additive attention: the scores are vᵀ tanh(W query + U key + b), not dot products.

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
        """Context vectors, which are weighted averages of the keys, and the attention weights.

        Raises:
            ValueError: if the mask does not fit, and as torch where the widths do not.
        """
        pairs = self.W_query(query)[:, :, None] + self.W_key(key)[:, None]  # (batch, T_q, T_k, d)
        scores = self.v(pairs.tanh()).squeeze(-1)  # (batch, T_q, T_k)
        weights = masked_softmax(scores, mask)  # (batch, T_q, T_k)
        return weights @ key, weights


class RecurrentTranslator(nn.Module):
    """An LSTM encoder, and an LSTM decoder that starts from the encoder's last state.

    Without attention that state is all that the decoder has of the source (Sutskever, Vinyals and
    Le, 2014). With it, each decoder state attends to all encoder states, by additive attention. As
    in Luong, Pham and Manning (2015) the decoder steps first and attends after it, so that all
    positions of the target attend in parallel; in Bahdanau et al. (2015) attention comes first.

    Args:
        source_vocab, target_vocab: as in `EncoderDecoder`.
        d_model: width of embeddings and hidden states.
        attention: whether the decoder attends to the source.
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
        self.encoder = nn.LSTM(d_model, d_model, batch_first=True)
        self.decoder = nn.LSTM(d_model, d_model, batch_first=True)
        for lstm in (self.encoder, self.decoder):
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
        """As `EncoderDecoder.forward`; the weights have the shape of one layer with one head.

        Raises:
            ValueError: as `EncoderDecoder.forward`, if a source holds pad tokens only, or weights
                are asked for without attention.
        """
        check_tokens(source, self.source_embedding.num_embeddings, "source")
        check_tokens(target, self.target_embedding.num_embeddings, "target")
        needed = f"{len(source)} rows, as the source has"
        require(len(target) == len(source), "target", f"{len(target)} rows", needed)
        lengths = (source != PAD).sum(dim=1)  # (batch,)
        require(bool((lengths > 0).all()), "source", "a row of pad tokens", "words in each row")
        has = self.attention is not None or not return_weights
        require(has, "return_weights", True, "a model with attention")
        packed = nn.utils.rnn.pack_padded_sequence(
            self.source_embedding(source), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        read, last = self.encoder(packed)
        x, _ = self.decoder(self.target_embedding(target), last)  # (batch, T_q, d_model)
        if self.attention is None:
            return self.lm_head(x)
        memory, _ = nn.utils.rnn.pad_packed_sequence(
            read, batch_first=True, total_length=source.shape[1]
        )  # (batch, T_k, d_model)
        found, weights = self.attention(x, memory, source_mask(source)[:, 0])
        logits = self.lm_head(torch.cat([x, found], dim=-1))  # (batch, T_q, vocab)
        return (logits, [weights[:, None]]) if return_weights else logits

    def condition_on(self, source: Int[Tensor, "batch T_k"]) -> UncachedDecoder:
        """As `EncoderDecoder.condition_on`, but without a cache."""
        return UncachedDecoder(self, source)


class UncachedDecoder(nn.Module):
    """A model of (source, target) for a fixed source; it recomputes everything for each token."""

    def __init__(self, model: nn.Module, source: Tensor) -> None:
        super().__init__()
        self.model, self.source = model, source
        self.training = model.training  # `train` would reset the modes of the model's parts

    @property
    def context_length(self) -> int | None:
        """The longest target that the model accepts; None for any length."""
        return getattr(self.model, "context_length", None)

    def forward(self, target: Int[Tensor, "batch T_q"]) -> Float[Tensor, "batch T_q vocab"]:
        """Logits of the token after each target token."""
        n = len(target) if len(self.source) == 1 else len(self.source)
        return self.model(self.source.expand(n, -1), target)
