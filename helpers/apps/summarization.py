"""Extractive, abstractive and copying summarizers of the news in `helpers.data.news` (lecture 11).

With a *closed* vocabulary, a word outside it becomes `UNKNOWN`. For a model that *copies*, the
unknown words of a text get the ids after the vocabulary in order of occurrence: len(NEWS_WORDS),
len(NEWS_WORDS) + 1 and so on, valid for this text only. In *pieces*, each name is two subword
tokens, and no word is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.blocks import TransformerStack
from helpers.config import TransformerConfig
from helpers.data import news
from helpers.data.news import News, words_of
from helpers.encoder_decoder import EncoderDecoder, source_mask
from helpers.generation import generate
from helpers.positions import PositionEncoding
from helpers.rnn import UncachedDecoder
from helpers.tokens import END, PAD, START, Batch, Vocabulary, shift_right
from helpers.validation import require

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

UNKNOWN = 3
MOST_UNKNOWN = 3
"""Largest number of different unknown words in a text."""

Reading = Literal["closed", "copying", "pieces"]

_MARKS = ("<start>", "<end>", "<unknown>")
_PLAIN = sorted(set(words_of(news.plain_words())))
_FACTS = (*news.DEEDS, *news.THINGS, *news.CITIES, *news.DAYS)
NEWS_WORDS = Vocabulary([*_MARKS, *_PLAIN, *_FACTS, *news.KNOWN_NAMES])
NEWS_PIECES = Vocabulary([*_MARKS, *_PLAIN, *_FACTS, *news.SYLLABLES[0], *news.SYLLABLES[1]])


def vocabulary_of(reading: Reading) -> Vocabulary:
    """The vocabulary of a reading: words and known names, or words and the pieces of all names.

    Raises:
        ValueError: if `reading` is another one.
    """
    known = ("closed", "copying", "pieces")
    require(reading in known, "reading", repr(reading), " or ".join(map(repr, known)))
    return NEWS_PIECES if reading == "pieces" else NEWS_WORDS


def encode_news(
    item: News, reading: Reading
) -> tuple[Int[Tensor, " T_k"], Int[Tensor, " T_q"], tuple[str, ...]]:
    """The ids of text and reference summary, and the text's unknown words.

    Raises:
        ValueError: as `vocabulary_of`, or if more than `MOST_UNKNOWN` words are unknown.
    """
    ids = vocabulary_of(reading).ids
    unknown: dict[str, int] = {}

    def encode(text: str) -> Tensor:
        found = []
        for word in words_of(text):
            for part in news.syllables(word) if reading == "pieces" else (word,):
                if part in ids:
                    found.append(ids[part])
                elif reading == "closed":
                    found.append(UNKNOWN)
                else:
                    found.append(len(ids) + unknown.setdefault(part, len(unknown)))
        return torch.tensor(found)

    text, summary = encode(item.text), encode(item.summary)
    few = len(unknown) <= MOST_UNKNOWN
    require(few, "item", f"{len(unknown)} unknown words", f"at most {MOST_UNKNOWN}")
    return text, summary, tuple(unknown)


def news_batch(items: Sequence[News], reading: Reading) -> Batch:
    """Texts and summaries from `START` on, and as targets the next tokens up to `END`.

    Raises:
        ValueError: if there is no text, and as `encode_news`.
    """
    require(len(items) >= 1, "items", "none", "at least one")
    texts, summaries, _ = zip(*(encode_news(item, reading) for item in items), strict=True)
    return shift_right(texts, summaries)


def some_rows(batch: Batch, n: int, generator: torch.Generator) -> Batch:
    """n rows of a batch, sampled with replacement, for one training step."""
    inputs, targets = batch
    rows = torch.randint(len(targets), (n,), generator=generator)
    if isinstance(inputs, Tensor):
        return inputs[rows], targets[rows]
    return tuple(part[rows] for part in inputs), targets[rows]


def copy_probabilities(
    weights: Float[Tensor, "batch T_q T_k"], source: Int[Tensor, "batch T_k"], n_words: int
) -> Float[Tensor, "batch T_q n_words"]:
    """Total attention that each word of the vocabulary gets, over all its positions in the source.

    Source: See, Liu and Manning (2017), the second term of equation 9.

    Raises:
        ValueError: if the shapes do not fit, or an id of the source is not below `n_words`.
    """
    fits = weights.dim() == 3 and weights.shape[::2] == source.shape
    came, needed = tuple(weights.shape), f"(batch, T_q, T_k) for a source {tuple(source.shape)}"
    require(fits, "weights", f"shape {came}", f"shape {needed}")
    largest = int(source.max())
    require(largest < n_words, "source", f"the id {largest}", f"ids below n_words = {n_words}")
    zeros = weights.new_zeros(*weights.shape[:2], n_words)  # (batch, T_q, n_words)
    return zeros.scatter_add(-1, source[:, None].expand_as(weights), weights)


class CopyingSummarizer(EncoderDecoder):
    """An encoder-decoder that can also copy words of the source, known or unknown.

    At each step a gate g weighs two distributions: g times that of an encoder-decoder, which
    *generates*, plus 1 − g times the attention on each word, which *copies*. The attention is the
    mean of the last block's heads.

    Source: the pointer-generator of See, Liu and Manning (2017), section 2.2. Its gate takes
    context vector, state and input; here it takes the decoder's output, which combines them.

    Args:
        config: sizes and options; `vocab` is the number of words that can be generated.
        positions: as in `EncoderDecoder`.
        most_unknown: number of ids after the vocabulary that stand for unknown words of a text.

    Raises:
        ValueError: if the config has no layer.
    """

    def __init__(
        self,
        config: TransformerConfig,
        positions: PositionEncoding | None = None,
        most_unknown: int = MOST_UNKNOWN,
    ) -> None:
        super().__init__(config, positions)
        needed = "at least 1: something must attend"
        require(config.n_layers >= 1, "n_layers", config.n_layers, needed)
        self.n_words = config.vocab + most_unknown
        self.gate = nn.Linear(config.d_model, 1)

    def probabilities(
        self, source: Int[Tensor, "batch T_k"], target: Int[Tensor, "batch T_q"]
    ) -> tuple[
        Float[Tensor, "batch T_q n_words"],
        Float[Tensor, "batch T_q 1"],
        Float[Tensor, "batch T_q T_k"],
    ]:
        """Probabilities of the token after each target token, the gate, and the copy attention.

        Raises:
            ValueError: as `EncoderDecoder.forward`.
        """
        memory = self.encode(self._known(source))  # (batch, T_k, d_model)
        mask = source_mask(source)  # (batch, 1, 1, T_k)
        x, weights = self.states(self._known(target), memory, mask, return_weights=True)
        attention = weights[-1].mean(dim=1)  # (batch, T_q, T_k)
        gate = self.gate(x).sigmoid()  # (batch, T_q, 1)
        written = self.lm_head(x).softmax(dim=-1)  # (batch, T_q, vocab)
        written = F.pad(written, (0, self.n_words - written.shape[-1]))  # (batch, T_q, n_words)
        copied = copy_probabilities(attention, source, self.n_words)  # (batch, T_q, n_words)
        return gate * written + (1 - gate) * copied, gate, attention

    def forward(
        self,
        source: Int[Tensor, "batch T_k"],
        target: Int[Tensor, "batch T_q"],
        return_weights: bool = False,
    ) -> (
        Float[Tensor, "batch T_q n_words"]
        | tuple[Float[Tensor, "batch T_q n_words"], list[Float[Tensor, "batch 1 T_q T_k"]]]
    ):
        """Log-probabilities, which serve as logits, and the copy attention if asked for."""
        p, _, attention = self.probabilities(source, target)
        logits = p.clamp(min=1e-9).log()  # log 0 is −∞; below 1e-9 the gradient is 0
        return (logits, [attention[:, None]]) if return_weights else logits

    def condition_on(self, source: Int[Tensor, "batch T_k"]) -> UncachedDecoder:
        """The model for a fixed source, without a cache."""
        return UncachedDecoder(self, source)

    def _known(self, tokens: Tensor) -> Tensor:
        """Token ids with `UNKNOWN` in place of the unknown words of the text."""
        unknown = (tokens >= self.lm_head.out_features) & (tokens < self.n_words)
        return tokens.masked_fill(unknown, UNKNOWN)


def write_summaries(
    model: EncoderDecoder, items: Sequence[News], reading: Reading, longest: int = 14
) -> list[str]:
    """A summary for each text, by greedy decoding.

    Raises:
        ValueError: as `news_batch`.
    """
    (source, _), _ = news_batch(items, reading)
    start = torch.full((len(items), 1), START)  # (batch, 1)
    writer = model.condition_on(source)
    cached = not isinstance(model, CopyingSummarizer)
    tokens = generate(writer, start, longest, temperature=0.0, eos_id=END, use_cache=cached)
    return [_in_words(row, item, reading) for row, item in zip(tokens, items, strict=True)]


def _in_words(tokens: Tensor, item: News, reading: Reading) -> str:
    words = (*vocabulary_of(reading).words, *encode_news(item, reading)[2])
    text = " ".join(words[i] for i in tokens.tolist() if i not in (PAD, START, END))
    return news.joined(text) if reading == "pieces" else text


# --------------------------------------------------------------------------- choosing sentences


def sentence_numbers(source: Int[Tensor, "batch T"]) -> Int[Tensor, "batch T"]:
    """Index of the sentence of each word; a full stop ends its sentence."""
    stops = (source == NEWS_WORDS.ids["."]).long()
    return stops.cumsum(dim=1) - stops


def sentence_means(
    x: Float[Tensor, "batch T width"], source: Int[Tensor, "batch T"]
) -> Float[Tensor, "batch sentences width"]:
    """Mean vector of the words of each sentence, without pad tokens."""
    here = F.one_hot(sentence_numbers(source)).to(x.dtype)  # (batch, T, sentences or more)
    here = here * (source != PAD)[..., None]
    sizes = here.sum(dim=1)  # (batch, sentences)
    kept = int((sizes > 0).sum(dim=1).max())
    return (here.transpose(1, 2) @ x / sizes.clamp(min=1)[..., None])[:, :kept]


class SentenceScorer(nn.Module):
    """An encoder whose mean vector of each sentence gives two logits: leave it out, keep it.

    Args:
        config: sizes and options of the encoder.
        positions: an encoding that acts inside attention, or None.
    """

    def __init__(
        self, config: TransformerConfig, positions: PositionEncoding | None = None
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocab, config.d_model)
        self.encoder = TransformerStack(config, positions)
        self.head = nn.Linear(config.d_model, 2)

    def forward(self, source: Int[Tensor, "batch T"]) -> Float[Tensor, "batch sentences 2"]:
        """Logits for each sentence of a text without unknown words (a closed vocabulary)."""
        x = self.encoder(self.embedding(source), source_mask(source))  # (batch, T, d_model)
        return self.head(sentence_means(x, source))


def sentence_batch(items: Sequence[News]) -> Batch:
    """Texts, and for each sentence the target 1 if it tells the news, else 0.

    Raises:
        ValueError: as `news_batch`.
    """
    (source, _), _ = news_batch(items, "closed")
    tells = [[item.event.what in words_of(s) for s in item.sentences] for item in items]
    return source, torch.tensor(tells).long()


def choose_sentences(
    scores: Float[Tensor, "batch sentences"], items: Sequence[News], k: int = 2
) -> list[str]:
    """The k sentences of each text with the largest scores, in the order of the text.

    Raises:
        ValueError: if k is not from 1 to the number of sentences.
    """
    n = scores.shape[1]
    require(1 <= k <= n, "k", k, f"a number from 1 to {n}, as there are sentences")
    best = scores.topk(k, dim=1).indices.sort(dim=1).values.tolist()
    return [" ".join(item.sentences[i] for i in row) for row, item in zip(best, items, strict=True)]


def attention_received(
    weights: Float[Tensor, "batch heads T_q T_k"],
    asks: Bool[Tensor, "batch T_q"],
    source: Int[Tensor, "batch T_k"],
    per_word: bool = True,
) -> Float[Tensor, "batch sentences"]:
    """Attention on each sentence of the source, averaged over heads and queries.

    Args:
        weights: attention weights; each row sums to 1 over the keys, the words of the source.
        asks: True for queries that count; False for pad tokens.
        source: token ids of the text.
        per_word: whether to take the mean over the words of a sentence, or else the sum, which
            favours long sentences.

    Raises:
        ValueError: if the shapes do not fit, or no query counts in a row.
    """
    fits = weights.dim() == 4 and weights.shape[::3] == source.shape
    fits = fits and asks.shape == weights.shape[::2]
    came = f"{tuple(weights.shape)} with {tuple(asks.shape)} and {tuple(source.shape)}"
    require(fits, "weights", came, "(batch, heads, T_q, T_k), (batch, T_q) and (batch, T_k)")
    require(bool(asks.any(dim=1).all()), "asks", "a row without True", "a query in each row")
    counted = weights.mean(dim=1) * asks[..., None]  # (batch, T_q, T_k)
    received = counted.sum(dim=1) / asks.sum(dim=1, keepdim=True)  # (batch, T_k)
    means = sentence_means(received[..., None], source)[..., 0]  # (batch, sentences)
    if per_word:
        return means
    sizes = F.one_hot(sentence_numbers(source)) * (source != PAD)[..., None]
    return means * sizes.sum(dim=1)[:, : means.shape[1]]
