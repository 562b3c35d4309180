"""A model of one attention layer and little else, so that every effect comes from a head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from helpers.attention import MultiHeadAttention
from helpers.masks import causal_mask
from helpers.tokens import check_tokens
from helpers.validation import require, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Float, Int


class AttentionReader(nn.Module):
    """Embeddings, one multi-head attention layer, and an output layer.

    There is no residual connection, feed-forward network or layer norm, so all information about
    other positions passes through a head. The logits are (batch, n_questions · T, n_words): all
    positions for the first question, then all for the second.

    Args:
        n_words: number of different words; a token `n_words + i` is word i with a flag.
        length: largest T.
        n_heads: number of heads.
        d_model: width of the embeddings.
        n_questions: number of answers at each position.
        init_std: initial standard deviation of the embeddings of words and positions.
        flag_init_std: initial standard deviation of the embeddings of the flag.
        d_hidden: hidden units of the output network; 0 for a linear output layer.

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
        init_std: float = 1.0,
        flag_init_std: float = 0.5,
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
        for table, std in (
            (self.word, init_std),
            (self.place, init_std),
            (self.flag, flag_init_std),
        ):
            nn.init.normal_(table.weight, std=std)
        self.attention = MultiHeadAttention(d_model, n_heads)
        n_logits = n_questions * n_words
        self.lm_head: nn.Module = nn.Linear(d_model, n_logits)
        if d_hidden:
            hidden = nn.Linear(d_model, d_hidden)
            self.lm_head = nn.Sequential(hidden, nn.ReLU(), nn.Linear(d_hidden, n_logits))

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
        answers = self.lm_head(context).unflatten(-1, (-1, self.n_words))
        logits = answers.transpose(1, 2).flatten(1, 2)  # (batch, n_questions · T, n_words)
        return (logits, weights) if return_weights else logits
