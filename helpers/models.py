"""Models of whole sequences. All of them turn tokens (batch, T) into logits (batch, T, n_outputs).

At every position the logits depend on the tokens up to and including that position.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from helpers.blocks import TransformerBlock
from helpers.checks import require, require_dims
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

    Raises:
        ValueError: for another cell, or a forget bias without an LSTM.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        n_outputs: int,
        cell: Literal["rnn", "lstm", "gru"] = "rnn",
        n_layers: int = 1,
        forget_bias: float | None = None,
    ) -> None:
        super().__init__()
        cells = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
        require(cell in cells, "cell", repr(cell), " or ".join(map(repr, cells)))
        needs_lstm = forget_bias is None or cell == "lstm"
        require(needs_lstm, "forget_bias", f"one for cell {cell!r}", "cell 'lstm'")
        self.embedding = nn.Embedding(vocab, d_model)
        self.recurrence = cells[cell](d_model, d_model, n_layers, batch_first=True)
        self.readout = nn.Linear(d_model, n_outputs)
        if forget_bias is not None:
            set_forget_bias(self.recurrence, forget_bias)

    def forward(self, tokens: Int[Tensor, "batch T"]) -> Float[Tensor, "batch T n_outputs"]:
        """Read from left to right."""
        require_dims("tokens", tokens, 2, "(batch, T)")
        states, _ = self.recurrence(self.embedding(tokens))  # (batch, T, d_model)
        return self.readout(states)


def set_forget_bias(lstm: nn.LSTM, value: float) -> None:
    """Make the two biases of each forget gate sum to `value` (Gers et al., 2000)."""
    for name, bias in lstm.named_parameters():
        if "bias" in name:  # torch's order of the gates: input, forget, cell, output
            forget = slice(lstm.hidden_size, 2 * lstm.hidden_size)
            with torch.no_grad():
                bias[forget] = value if name.startswith("bias_ih") else 0.0


class TransformerModel(nn.Module):
    """Embedding, transformer blocks with a causal mask, layer norm, a linear readout.

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
        self.positions = Positions() if positions is None else positions
        self.embedding = nn.Embedding(vocab, d_model)
        self.blocks = nn.ModuleList(
            TransformerBlock(d_model, n_heads, d_ff, norm, dropout, self.positions)
            for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.readout = nn.Linear(d_model, n_outputs)

    def forward(
        self, tokens: Int[Tensor, "batch T"], return_weights: bool = False
    ) -> (
        Float[Tensor, "batch T n_outputs"]
        | tuple[Float[Tensor, "batch T n_outputs"], list[Float[Tensor, "batch heads T T"]]]
    ):
        """Logits at every position, and each block's attention weights if asked for."""
        require_dims("tokens", tokens, 2, "(batch, T)")
        mask = causal_mask(tokens.shape[1], device=tokens.device)  # (T, T)
        x = self.positions.embed(self.embedding(tokens))  # (batch, T, d_model)
        all_weights = []
        for block in self.blocks:
            if return_weights:
                x, weights = block(x, mask, return_weights=True)
                all_weights.append(weights)
            else:
                x = block(x, mask)  # (batch, T, d_model)
        logits = self.readout(self.norm(x))  # (batch, T, n_outputs)
        return (logits, all_weights) if return_weights else logits
