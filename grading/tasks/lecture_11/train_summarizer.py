"""Train a summarizer that writes about people whom it has never met."""

import functools

import torch

from grading.author import Case, Enough, TaskFile
from helpers.apps.summarization import NEWS_WORDS, CopyingSummarizer, some_rows
from helpers.config import TransformerConfig
from helpers.positions import RotaryPositions
from helpers.training import set_seed, train

task = TaskFile(
    "train",
    points=10,
    minutes=20,
    outcome="add {term}`copying` to an encoder-decoder in a few lines, so that it can write words "
    "that its vocabulary does not hold",
    threshold=0.8,
    enough=Enough(300, 32, 5e-3),
    rtol=0.0,
    atol=1.0,
    hints=(
        "Let `data` be the pair of inputs and targets. Then `lambda: some_rows(data, 32, "
        "generator)` is a `make_batch`.",
        "The lecture's model learned within 300 batches. At which learning rate?",
    ),
)

CONFIG = TransformerConfig(len(NEWS_WORDS), d_model=48, n_layers=1, n_heads=2, d_ff=96)


def _trained(source, target, asked, steps):
    generator = set_seed(0)
    model = CopyingSummarizer(CONFIG, RotaryPositions())
    data = ((source, target), asked)
    train(model, lambda: some_rows(data, 32, generator), steps, 5e-3, warmup=min(30, steps))
    return model


# %% the cell
def train_summarizer(source, target, asked):
    """A CopyingSummarizer, trained on texts and summaries."""
    # BEGIN SOLUTION
    generator = set_seed(0)
    config = TransformerConfig(len(NEWS_WORDS), d_model=48, n_layers=1, n_heads=2, d_ff=96)
    model = CopyingSummarizer(config, RotaryPositions())
    data = ((source, target), asked)
    train(model, lambda: some_rows(data, 32, generator), steps=300, lr=5e-3, warmup=30)
    return model
    # END SOLUTION


# %%


NOTHING = (
    "Its summaries keep almost none of the facts, like those of an untrained model. Do you "
    "train it before you return it, and is the target at each position the *next* word?"
)


@task.mistake(NOTHING)
def untrained(source, target, asked):
    set_seed(0)
    return CopyingSummarizer(CONFIG, RotaryPositions())


@task.mistake(NOTHING)
def not_shifted(source, target, asked):
    return _trained(source, target, target, 60)


@task.mistake(
    "It has begun to learn the grammar, but its facts are guesses. Do the texts and the summaries "
    "of a batch come from the same rows? If so, does it need more steps, another rate, or new rows "
    "in each step?"
)
def too_short(source, target, asked):
    return _trained(source, target, asked, 25)


@task.harness
def harness(answer, source, target, asked, seed):
    """Facts kept by the trained summarizer in texts with new people."""
    import torch

    from helpers.apps.metrics import mean_facts
    from helpers.apps.summarization import CopyingSummarizer, write_summaries
    from helpers.data.news import tell_news

    new = tell_news(200, torch.Generator().manual_seed(seed), "unseen")
    model = answer(source, target, asked)
    if model is None:
        return None
    if not isinstance(model, CopyingSummarizer):
        raise ValueError("expected a CopyingSummarizer of the helpers")
    size = sum(p.numel() for p in model.parameters())
    if size > 120_000:
        raise ValueError(f"at most 120,000 parameters are allowed, but the model has {size:,}")
    model.eval()
    with torch.no_grad():
        written = write_summaries(model, new, "copying")
    facts = mean_facts(written, new)
    right = sum(item.event.who in text for item, text in zip(new, written, strict=True))
    unknown = sum("<unknown>" in text for text in written)
    return {
        "facts kept, of five": facts["kept"],
        "right people, of five": 5 * right / len(new),
        "called unknown, of five": 5 * unknown / len(new),
    }


@functools.lru_cache(maxsize=4)
def _texts(seed):
    from helpers.apps.summarization import news_batch
    from helpers.data.news import tell_news

    items = tell_news(3000, torch.Generator().manual_seed(1000 + seed), "mixed")
    (source, target), asked = news_batch(items, "copying")
    return source, target, asked


@task.cases
def cases(seed):
    """3,000 texts to learn from; the last number is the seed of 200 texts about new people."""
    return [
        Case((*(tensor.clone() for tensor in _texts(seed)), 2000 + seed), kind="ordinary cases")
    ]


@task.score
def score(args, value):
    """The share of the facts that is kept."""
    return value["facts kept, of five"] / 5


@task.diagnostic
def after_training(args, result):
    """Facts and people."""
    return (
        f"Of five facts {result['facts kept, of five']:.1f} are kept, and of five people "
        f"{result['right people, of five']:.1f} are called by their names."
    )
