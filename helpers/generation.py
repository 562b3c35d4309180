"""From logits to tokens: next-token probabilities, sampling (lecture 8), beam search (lecture 9).

The functions on logits and probabilities return distributions, so that they can be tested; only
`generate` samples.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from helpers.models import TransformerModel, eval_mode
from helpers.tokens import PAD
from helpers.validation import require, require_dims

if TYPE_CHECKING:
    from jaxtyping import Float, Int


def greedy(logits: Float[Tensor, "*batch vocab"]) -> Float[Tensor, "*batch vocab"]:
    """A distribution with all probability on the largest logit; ties go to the first.

    Raises:
        ValueError: if `logits` are not floating-point numbers, the largest of them finite.
    """
    _check_logits(logits)
    best = logits.argmax(dim=-1, keepdim=True)  # (*batch, 1)
    return torch.zeros_like(logits).scatter(-1, best, 1.0)


def next_token_probabilities(
    logits: Float[Tensor, "*batch vocab"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "*batch vocab"]:
    """softmax(logits / temperature), filtered by `top_k` and then by `top_p`.

    Logits in half precision give probabilities in float32: sums of thousands of small numbers
    would be wrong in bfloat16.

    Args:
        logits: one number for each token of the vocabulary; −∞ for a token that is impossible.
        temperature: below 1 likely tokens become likelier, above 1 all become more equal; 0 is
            the limit, `greedy`.
        top_k: as in `filter_top_k`; None keeps all.
        top_p: as in `filter_top_p`; None keeps all.

    Raises:
        ValueError: if the temperature is negative or not finite, and as `greedy`, `filter_top_k`
            and `filter_top_p`.
    """
    _check_logits(logits)
    logits = _at_least_float32(logits)
    sensible = 0.0 <= temperature < torch.inf
    require(sensible, "temperature", temperature, "a finite number, 0 or more")
    if temperature == 0.0:
        probabilities = greedy(logits)
    else:
        # With the largest at 0, division by a small temperature cannot overflow. It can give 0/0,
        # since a temperature below 1e-45 is 0 in float32: the largest stay 0.
        shifted = logits - logits.amax(dim=-1, keepdim=True)
        divided = (shifted / temperature).masked_fill(shifted == 0.0, 0.0)
        probabilities = divided.softmax(dim=-1)  # (*batch, vocab)
    if top_k is not None:
        probabilities = filter_top_k(probabilities, top_k)
    if top_p is not None:
        probabilities = filter_top_p(probabilities, top_p)
    return probabilities


def filter_top_k(
    probabilities: Float[Tensor, "*batch vocab"], k: int
) -> Float[Tensor, "*batch vocab"]:
    """The distribution restricted to the k likeliest tokens and normalized again.

    Ties go to the smaller ids, so that exactly k tokens remain.
    Source: Fan et al. (2018).

    Raises:
        ValueError: if k is not from 1 to vocab, or `probabilities` are none.
    """
    _check_probabilities(probabilities)
    vocab = probabilities.shape[-1]
    require(1 <= k <= vocab, "k", k, f"a number from 1 to vocab = {vocab}")
    order = probabilities.argsort(dim=-1, descending=True, stable=True)  # (*batch, vocab)
    keep = torch.zeros_like(probabilities, dtype=torch.bool).scatter(-1, order[..., :k], True)
    return _only(probabilities, keep)


def filter_top_p(
    probabilities: Float[Tensor, "*batch vocab"], p: float
) -> Float[Tensor, "*batch vocab"]:
    """The distribution restricted to the fewest tokens with a total probability of p.

    It is normalized again; ties go to the smaller ids. How many tokens remain depends on how sure
    the model is. Probabilities in half precision are summed, and returned, in float32.
    Source: Holtzman et al. (2020), section 3.1, "nucleus sampling".

    Raises:
        ValueError: if p is not above 0 and at most 1, or `probabilities` are none.
    """
    _check_probabilities(probabilities)
    require(0.0 < p <= 1.0, "p", p, "a number above 0 and at most 1")
    probabilities = _at_least_float32(probabilities)
    falling, order = probabilities.sort(dim=-1, descending=True, stable=True)  # (*batch, vocab)
    likelier = falling.cumsum(dim=-1) - falling  # total of all likelier tokens
    # p = 1 keeps all: otherwise the rounding of the sum could drop the least likely ones.
    needed = (likelier < p) | (p == 1.0)
    keep = torch.zeros_like(needed).scatter(-1, order, needed)
    return _only(probabilities, keep)


@torch.no_grad()
def generate(
    model: nn.Module,
    tokens: Int[Tensor, "batch T"],
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos_id: int | Collection[int] | None = None,
    pad_id: int = PAD,
    generator: torch.Generator | None = None,
    use_cache: bool = True,
    crop_context: bool = False,
) -> Int[Tensor, "batch T_all"]:
    """Each row of `tokens`, continued by sampling one token at a time.

    Args:
        model: maps tokens (batch, T) to logits (batch, T, vocab). It is called in evaluation mode.
        tokens: the prompts, all of the same length.
        max_new_tokens: the most tokens to append.
        temperature, top_k, top_p: as in `next_token_probabilities`; temperature 0 takes the
            likeliest token each time.
        eos_id: the token that ends a row, or several that do; None for no end.
        pad_id: the token that fills up the rows that have ended. `PAD` is the pad token of this
            course's vocabularies; in a vocabulary without one, `eos_id` can take its place.
        generator: random generator; torch's global one if not given.
        use_cache: whether to use a KV cache (`model.new_cache()`), or else process the whole text
            for each new token. The result is the same.
        crop_context: whether a text may become longer than the model's `context_length`. Then the
            model reads only its last `context_length` tokens, anew for each token, since their
            positions shift.

    Returns:
        The prompts and the appended tokens: `max_new_tokens`, or fewer if all rows have ended.

    Raises:
        ValueError: if a prompt is empty, if the model has no `new_cache`, or no token `pad_id`, if
            the text could become longer than the model's `context_length` without `crop_context`,
            and as the model and `next_token_probabilities`.
    """
    _check_generation(model, tokens, max_new_tokens, use_cache, crop_context)
    ends = _ends(model, eos_id, pad_id).to(tokens)
    longest = getattr(model, "context_length", None)
    # Only the logits of the last position are needed.
    asked = {"last_only": True} if isinstance(model, TransformerModel) else {}
    cache = model.new_cache() if use_cache else None
    unread = tokens  # tokens that are not in the cache
    running = torch.ones_like(tokens[:, :1], dtype=torch.bool)  # (batch, 1)
    with eval_mode(model):
        for _ in range(max_new_tokens):
            if not running.any():
                break
            if longest is not None and tokens.shape[1] > longest:
                logits = model(tokens[:, -longest:], **asked)
            elif use_cache:
                logits = model(unread, cache=cache, **asked)
            else:
                logits = model(tokens, **asked)
            last = logits[:, -1]  # (batch, vocab)
            probabilities = next_token_probabilities(last, temperature, top_k, top_p)
            drawn = torch.multinomial(probabilities, 1, generator=generator)  # (batch, 1)
            unread = drawn.to(tokens.dtype).masked_fill(~running, pad_id)
            tokens = torch.cat([tokens, unread], dim=1)  # (batch, T + 1)
            running = running & ~torch.isin(unread, ends)
    return tokens


def _check_generation(
    model: nn.Module, tokens: Tensor, max_new_tokens: int, use_cache: bool, crop_context: bool
) -> None:
    """Refuse prompts that cannot be continued, and a text that the model could not read."""
    require_dims("tokens", tokens, 2, "(batch, T)")
    require(tokens.shape[1] >= 1, "tokens", f"shape {tuple(tokens.shape)}", "T at least 1")
    require(max_new_tokens >= 0, "max_new_tokens", max_new_tokens, "at least 0")
    knows = not use_cache or hasattr(model, "new_cache")
    needed = "use_cache=False for a model without new_cache()"
    require(knows, "use_cache", f"True with {type(model).__name__}", needed)
    total, longest = tokens.shape[1] + max_new_tokens, getattr(model, "context_length", None)
    came = f"{max_new_tokens}, after {tokens.shape[1]} tokens"
    fits = crop_context or longest is None or total <= longest
    needed = f"in all at most context_length = {longest}, or crop_context=True"
    require(fits, "max_new_tokens", came, needed)


def _ends(model: nn.Module, eos_id: int | Collection[int] | None, pad_id: int) -> Tensor:
    """The tokens that end a row; refuse padding behind them that the model cannot read."""
    several = isinstance(eos_id, Collection) and not isinstance(eos_id, Tensor)
    ends = torch.as_tensor(() if eos_id is None else list(eos_id) if several else eos_id).flatten()
    vocab = getattr(getattr(model, "embedding", None), "num_embeddings", None)
    known = not len(ends) or vocab is None or 0 <= pad_id < vocab
    require(known, "pad_id", pad_id, f"a number from 0 to {(vocab or 1) - 1}")
    return ends


@dataclass(frozen=True)
class Hypothesis:
    """A continuation found by beam search.

    tokens: the tokens after the prompt, the end token included.
    log_probability: of these tokens, in nats.
    score: log-probability with the length penalty; hypotheses are sorted by it.
    """

    tokens: tuple[int, ...]
    log_probability: float
    score: float


@torch.no_grad()
def beam_search(
    model: Callable[[Tensor], Tensor],
    tokens: Int[Tensor, " T"],
    max_new_tokens: int,
    *,
    eos_id: int,
    n_beams: int = 4,
    length_penalty: float = 0.0,
) -> list[Hypothesis]:
    """Likely continuations of one prompt, the best first.

    Each step extends all open hypotheses by every token and keeps the `n_beams` likeliest. A
    hypothesis that ends leaves the beam one place smaller. With one beam this is greedy decoding.

    A wider beam can lose the greedy continuation on the way. So greedy decoding runs as well, and
    the best score is never below its score.

    Args:
        model: maps tokens (n, T) to logits (n, T, vocab). Any function will do; a module is called
            in evaluation mode.
        tokens: the prompt, at least one token.
        max_new_tokens: the most tokens to append. A hypothesis that has not ended by then counts
            as it is.
        eos_id: the token that ends a hypothesis.
        n_beams: number of hypotheses kept at each step.
        length_penalty: a score is the log-probability divided by (number of new tokens) to this
            power. 0 favours short continuations; 1 takes the mean of each token (Wu et al., 2016,
            section 7, divide by another function of the length).

    Raises:
        ValueError: if a number is too small or the prompt is empty, and as the model.
    """
    require_dims("tokens", tokens, 1, "(T,)")
    require(len(tokens) >= 1, "tokens", "none", "at least one to begin with")
    require(max_new_tokens >= 1, "max_new_tokens", max_new_tokens, "at least 1")
    require(n_beams >= 1, "n_beams", n_beams, "at least 1")
    require(length_penalty >= 0, "length_penalty", length_penalty, "0 or more")
    with eval_mode(model) if isinstance(model, nn.Module) else nullcontext():
        ends = _search(model, tokens, max_new_tokens, eos_id, n_beams)
        if n_beams > 1:
            ends |= _search(model, tokens, max_new_tokens, eos_id, 1)
    found = [Hypothesis(new, p, p / len(new) ** length_penalty) for new, p in ends.items()]
    return sorted(found, key=lambda hypothesis: -hypothesis.score)


def _search(
    model: Callable[[Tensor], Tensor],
    tokens: Tensor,
    max_new_tokens: int,
    eos_id: int,
    n_beams: int,
) -> dict[tuple[int, ...], float]:
    """The new tokens of each ended hypothesis, with their log-probability."""
    start, ended = len(tokens), {}
    rows, total = tokens[None], torch.zeros(1)  # (n, T), (n,)
    for step in range(max_new_tokens):
        logits = model(rows)[:, -1]  # (n, vocab)
        _check_logits(logits)
        logits = _at_least_float32(logits)
        totals = total.to(logits)[:, None] + logits.log_softmax(dim=-1)  # (n, vocab)
        falling, order = totals.flatten().sort(descending=True, stable=True)
        kept = order[falling.isfinite()][: n_beams - len(ended)]  # (n,), without impossible tokens
        before, token = kept // totals.shape[1], kept % totals.shape[1]  # (n,), (n,)
        rows, total = torch.cat([rows[before], token[:, None]], dim=1), falling[: len(kept)]
        over = (token == eos_id) | (step == max_new_tokens - 1)  # (n,)
        for row, p in zip(rows[over], total[over], strict=True):
            ended[tuple(row[start:].tolist())] = p.item()
        rows, total = rows[~over], total[~over]
        if not len(rows):
            break
    return ended


def _at_least_float32(x: Tensor) -> Tensor:
    """Half precision as float32; wider numbers as they are."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _only(probabilities: Tensor, keep: Tensor) -> Tensor:
    """Probabilities set to zero outside `keep` and normalized again."""
    kept = probabilities.masked_fill(~keep, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


def _check_logits(logits: Tensor) -> None:
    """Refuse rows without a likeliest token: with NaN or ∞, or with −∞ only."""
    fits = logits.dim() >= 1 and logits.shape[-1] >= 1
    require(fits, "logits", f"shape {tuple(logits.shape)}", "shape (…, vocab), vocab at least 1")
    require(logits.is_floating_point(), "logits", f"dtype {logits.dtype}", "a floating-point dtype")
    top = logits.amax(dim=-1)  # (*batch,), NaN where any logit is
    strange = top[~top.isfinite()][:3].tolist()
    require(not strange, "logits", f"largest ones such as {strange}", "finite largest ones")


def _check_probabilities(probabilities: Tensor) -> None:
    """Refuse rows that are no distribution, for instance logits passed by mistake."""
    real = probabilities.is_floating_point()
    needed = "a floating-point dtype"
    require(real, "probabilities", f"dtype {probabilities.dtype}", needed)
    negative = probabilities[probabilities < 0][:3].tolist()
    require(not negative, "probabilities", f"numbers such as {negative}", "none below 0")
    total = probabilities.sum(dim=-1)  # (*batch,)
    wrong = total[~((total - 1.0).abs() <= 0.01)][:3].tolist()
    require(not wrong, "probabilities", f"rows with sums such as {wrong}", "a sum of 1 in each")
