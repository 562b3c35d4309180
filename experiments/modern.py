"""What today's models changed, on the stories of lecture 8: `python -m experiments.modern`.

Setting "stories": the rotary model of lecture 8 and variants of it, of equal size within 1 %, each
at its own rate. Training is short, so that there is something left to differ in.

    parameters, cache_bytes   the size; what keys and values of a text of `words` words take
    loss, above               cross-entropy in nats on new stories; what facts, and what other
                              words, add to it above the floor
    agreement                 share of right verbs with 3 attractors, all of them opposing

Setting "long texts": one model for each seed reads stories, one after the other, cut at `short`
words. Then its positions are changed, and it reads on for a few steps in texts of `long` words, at
the rate that was searched for this.

    at_once, after            loss on the first `short` words of long texts, and on the rest, before
                              and after these steps

The result depends on the seeds and, in the second digit, on the processor.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import torch
from torch import Tensor, nn

from experiments.search import SEARCH_SEEDS, search  # first: it silences the progress bars
from helpers.apps import story_model
from helpers.attention import MultiHeadAttention
from helpers.blocks import FeedForward
from helpers.models import LanguageModel
from helpers.positions import PositionEncoding, RotaryPositions
from helpers.tokens import PAD, next_word_batch
from helpers.training import count_parameters, masked_cross_entropy, set_seed, train
from helpers.variants import (
    GroupedQueryAttention,
    RMSNorm,
    SlidingWindow,
    SwiGLU,
    gelu,
    swiglu_width,
)

D_MODEL, N_HEADS, D_FF, D_HEAD = 64, 4, 128, 16
STEPS, BATCH, WARMUP = 300, 16, 50
RATES = (0.0025, 0.005, 0.01, 0.02)
N_TEXTS, HELD_OUT, WORDS = 6_000, 300, 48

SHORT, LONG = 64, 256
LONG_RATE, LONG_STEPS, LONG_BATCH = 0.005, 40, 8


def model(d_ff: int = D_FF, positions: PositionEncoding | None = None) -> LanguageModel:
    """Lecture 8's model with another width inside, or other positions."""
    positions = RotaryPositions() if positions is None else positions
    made = LanguageModel(replace(story_model.CONFIG, d_ff=d_ff), positions)
    nn.init.normal_(made.embedding.weight, std=story_model.START_STD)
    return made


def replace_parts(
    made: LanguageModel,
    *,
    norm: Callable[[], nn.Module] | None = None,
    feed_forward: Callable[[], nn.Module] | None = None,
    attention: Callable[[], MultiHeadAttention] | None = None,
) -> LanguageModel:
    """The model with new parts in every block; all others keep their initial weights.

    So with one seed two models differ in these parts alone. `norm` also replaces the final norm,
    and a new attention layer takes over the positions of the old one.
    """
    for block in made.blocks:
        if norm is not None:
            block.norm_attention, block.norm_feed_forward = norm(), norm()
        if feed_forward is not None:
            block.feed_forward = feed_forward()
        if attention is not None:
            positions = block.attention.positions
            block.attention = attention()
            block.attention.positions = positions
    if norm is not None:
        made.stack.norm = norm()
    return made


def grouped_attention(n_kv_heads: int) -> GroupedQueryAttention:
    """Queries and output are initialized as in multi-head attention, keys and values after them."""
    whole = MultiHeadAttention(D_MODEL, N_HEADS)
    keys, values = (nn.Linear(D_MODEL, n_kv_heads * D_HEAD) for _ in range(2))
    with torch.random.fork_rng():
        made = GroupedQueryAttention(D_MODEL, N_HEADS, n_kv_heads=n_kv_heads)
    made.W_query, made.W_key, made.W_value, made.W_out = whole.W_query, keys, values, whole.W_out
    return made


def grouped(n_kv_heads: int, d_ff: int) -> LanguageModel:
    """Fewer heads of keys and values; wider feed-forward networks make up for their weights."""
    return replace_parts(model(d_ff), attention=partial(grouped_attention, n_kv_heads))


def untied() -> LanguageModel:
    """An LM head of its own, and narrower feed-forward networks."""
    made = model(D_FF - 24)
    made.lm_head = nn.Linear(D_MODEL, story_model.VOCAB, bias=False)
    return made


def without_root(made: LanguageModel) -> LanguageModel:
    """Tied, but words' vectors are not multiplied by √d on the way in; they begin as large."""
    made.embedding_scale = 1.0
    nn.init.normal_(made.embedding.weight, std=1 / (3 * D_MODEL) ** 0.5)  # as an LM head of its own
    return made


def with_gelu(made: LanguageModel) -> LanguageModel:
    """The corner of each ReLU is rounded."""
    return replace_parts(made, feed_forward=lambda: FeedForward(D_MODEL, D_FF, activation=gelu))


def with_swiglu(made: LanguageModel, d_ff: int = D_FF) -> LanguageModel:
    """In place of networks of width `d_ff`, with as many weights."""
    return replace_parts(made, feed_forward=lambda: SwiGLU(D_MODEL, swiglu_width(d_ff)))


def with_rms_norm(made: LanguageModel) -> LanguageModel:
    """All norms, the one at the end among them."""
    return replace_parts(made, norm=lambda: RMSNorm(D_MODEL))


def three_at_once() -> LanguageModel:
    """RMSNorm, SwiGLU and two heads of keys and values."""
    return with_swiglu(with_rms_norm(grouped(2, D_FF + 32)), D_FF + 32)


def window() -> LanguageModel:
    """Each word sees 12."""
    return model(positions=SlidingWindow(12, RotaryPositions()))


MODELS: dict[str, Callable[[], LanguageModel]] = {
    "as in lecture 8": model,
    "RMSNorm": lambda: with_rms_norm(model()),
    "GELU": lambda: with_gelu(model()),
    "SwiGLU": lambda: with_swiglu(model()),
    "2 key-value heads": lambda: grouped(2, D_FF + 32),
    "1 key-value head": lambda: grouped(1, D_FF + 48),
    "window 12": window,
    "not tied": untied,
    "tied, without √d": lambda: without_root(model()),
    "RMSNorm, without √d": lambda: without_root(with_rms_norm(model())),
    "GELU, without √d": lambda: without_root(with_gelu(model())),
    "SwiGLU, without √d": lambda: without_root(with_swiglu(model())),
    "2 key-value heads, without √d": lambda: without_root(grouped(2, D_FF + 32)),
    "1 key-value head, without √d": lambda: without_root(grouped(1, D_FF + 48)),
    "window 12, without √d": lambda: without_root(window()),
    "RMSNorm, SwiGLU, 2 key-value heads": three_at_once,
    "RMSNorm, SwiGLU, 2 key-value heads, without √d": lambda: without_root(three_at_once()),
}

# A pair of features turns slowest by about 1 / base: with this base a text four times as long
# turns it as far as the short one did (the rule that Peng et al., 2023, call NTK-aware).
TIMES = LONG // SHORT
LARGER_BASE = 10_000.0 * TIMES ** (D_HEAD / (D_HEAD - 2))

STRETCHED: dict[str, RotaryPositions] = {
    "as it is": RotaryPositions(),
    "positions divided by 4": RotaryPositions(scaling_factor=TIMES),
    "larger base": RotaryPositions(base=LARGER_BASE),
}


@cache
def texts() -> list[Tensor]:
    """Stories for training, for testing and for the choice of a rate, (n, T) each."""
    sizes = (N_TEXTS, HELD_OUT, HELD_OUT)
    return [story_model.stories(n, seed) for seed, n in enumerate(sizes, start=1)]


@cache
def rows(which: int, length: int) -> Tensor:
    """Stories one after the other, each row cut at `length` words and begun with a new story."""
    made, row = [], []
    for story in texts()[which]:
        row += story[story != PAD].tolist()
        if len(row) >= length:
            made.append(row[:length])
            row = []
    return torch.tensor(made)


def trial(name: str, setting: str, lr: float, seed: int) -> dict:
    """Train one model, and measure it on texts that it has not seen."""
    return (on_stories if setting == "stories" else on_long_texts)(name, lr, seed)


def on_stories(name: str, lr: float, seed: int) -> dict:
    """One of `MODELS`, from its start."""
    read, new, others = texts()
    generator, network = set_seed(seed), MODELS[name]()

    def batch() -> tuple[Tensor, Tensor]:
        drawn = read[torch.randint(len(read), (BATCH,), generator=generator)]  # (BATCH, T)
        return next_word_batch(drawn[:, : int((drawn != PAD).sum(dim=1).max())])

    train(network, batch, STEPS, lr, warmup=WARMUP)
    row = {"validation": loss(network, others), "parameters": count_parameters(network)}
    if seed in SEARCH_SEEDS:
        return row
    return row | {
        "cache_bytes": cache_bytes(network, new[:1, :WORDS]),
        "loss": loss(network, new),
        "above": [round(part, 4) for part in story_model.above_floor(network, new)],
        "agreement": round(story_model.agreement(network, 3), 3),
    }


def on_long_texts(name: str, lr: float, seed: int) -> dict:
    """One of `STRETCHED`, in a model that knows short texts."""
    network = copy.deepcopy(reader_of_short_texts(seed))
    for block in network.blocks:
        block.attention.positions = STRETCHED[name]
    at_once = by_place(network, 1)
    generator = set_seed(seed)
    read_rows(network, LONG, LONG_BATCH, LONG_STEPS, lr, generator)
    validation = loss(network, rows(2, LONG))
    return {"validation": validation, "at_once": at_once, "after": by_place(network, 1)}


@cache
def reader_of_short_texts(seed: int) -> LanguageModel:
    """The same for all of `STRETCHED`."""
    generator, network = set_seed(seed), model()
    read_rows(network, SHORT, BATCH, STEPS, LONG_RATE, generator)
    return network


def read_rows(
    network: LanguageModel,
    length: int,
    size: int,
    steps: int,
    lr: float,
    generator: torch.Generator,
) -> None:
    """Train on rows of that length."""
    read = rows(0, length)

    def batch() -> tuple[Tensor, Tensor]:
        return next_word_batch(read[torch.randint(len(read), (size,), generator=generator)])

    train(network, batch, steps, lr, warmup=min(WARMUP, steps // 4))


@torch.no_grad()
def loss(network: nn.Module, stories: Tensor) -> float:
    """Mean cross-entropy in nats."""
    tokens, targets = next_word_batch(stories)
    return round(masked_cross_entropy(network(tokens), targets).item(), 4)


@torch.no_grad()
def by_place(network: nn.Module, which: int) -> list[float]:
    """Mean cross-entropy on the first `SHORT` words of long texts, and on the rest."""
    tokens, targets = next_word_batch(rows(which, LONG))
    logits = network(tokens)
    parts = (slice(None, SHORT), slice(SHORT, None))
    return [round(masked_cross_entropy(logits[:, p], targets[:, p]).item(), 4) for p in parts]


@torch.no_grad()
def cache_bytes(network: LanguageModel, tokens: Tensor) -> int:
    """What all layers keep of these words, in float32."""
    kept = network.new_cache()
    network(tokens, cache=kept)
    return sum(4 * x.numel() for layer in kept for x in (layer.keys, layer.values))


def main() -> None:
    """Run everything and write the table."""
    settings = {"stories": MODELS, "long texts": STRETCHED}
    options = {
        "lower_is_better": True,
        "equal": 0.002,
        "about": {
            "steps": STEPS,
            "batch": BATCH,
            "warmup": WARMUP,
            "floor": round(story_model.floor(texts()[1]), 4),
            "words": WORDS,
            "short": SHORT,
            "long": LONG,
            "long_steps": LONG_STEPS,
            "long_batch": LONG_BATCH,
        },
    }
    search(
        "modern",
        trial,
        [*MODELS, *STRETCHED],
        tuple(settings),
        rates=RATES,
        skip=lambda name, setting: name not in settings[setting],
        **options,
    )


if __name__ == "__main__":
    main()
