"""Train a translator of one's own, and let it translate."""

import functools

import torch

from grading.author import Case, Enough, TaskFile
from helpers.config import TransformerConfig
from helpers.encoder_decoder import EncoderDecoder
from helpers.positions import RotaryPositions
from helpers.training import set_seed, train

task = TaskFile(
    "train",
    points=12,
    minutes=20,
    outcome="decode greedily and by {term}`beam search`, and say when each of them is worse",
    threshold=0.9,
    enough=Enough(500, 32, 0.01),
    rtol=0.0,
    atol=1.5,
    hints=(
        "`train(model, make_batch, steps, lr, warmup=…)` calls `make_batch()` without arguments. "
        "You decide which rows to sample.",
        "In the task on teacher forcing, you made `begun` and `wanted` from a list of sentences. "
        "Here the sentences are one tensor, and the end token comes after the last word of each "
        "row.",
        "A translation model without positional encodings sees a bag of words. Give it some.",
        "The lecture's learning rate and number of steps are a good start.",
    ),
)


def _trained(source, target, steps, shift=1):
    from helpers.config import TransformerConfig
    from helpers.data.kannada import ENGLISH, KANNADA
    from helpers.encoder_decoder import EncoderDecoder
    from helpers.positions import RotaryPositions
    from helpers.training import set_seed, train

    generator = set_seed(0)
    config = TransformerConfig(len(KANNADA), 40, 1, 2, source_vocab=len(ENGLISH))
    model = EncoderDecoder(config, RotaryPositions())
    begun = torch.nn.functional.pad(target, (1, 0), value=1)
    wanted = torch.nn.functional.pad(target, (0, 1))
    wanted[torch.arange(len(target)), (target != 0).sum(dim=1)] = 2
    if not shift:
        wanted = begun
    wanted = wanted.masked_fill(wanted == 0, -100)

    def batch():
        rows = torch.randint(len(source), (32,), generator=generator)
        return (source[rows], begun[rows]), wanted[rows]

    train(model, batch, steps, 1e-2, warmup=20)
    return model


# %% the cell
def train_translator(source, target):
    """An EncoderDecoder, trained on source (n, T_k) and target (n, T)."""
    # BEGIN SOLUTION
    begun = torch.nn.functional.pad(target, (1, 0), value=1)  # (n, T + 1)
    wanted = torch.nn.functional.pad(target, (0, 1))  # (n, T + 1)
    wanted[torch.arange(len(target)), (target != 0).sum(dim=1)] = 2
    wanted = wanted.masked_fill(wanted == 0, -100)
    generator = set_seed(0)
    config = TransformerConfig(125, 40, n_layers=1, n_heads=2, source_vocab=55)
    model = EncoderDecoder(config, RotaryPositions())

    def make_batch():
        rows = torch.randint(len(source), (32,), generator=generator)  # (32,)
        return (source[rows], begun[rows]), wanted[rows]

    train(model, make_batch, steps=500, lr=1e-2, warmup=20)
    return model
    # END SOLUTION


# %%


@task.mistake(
    "It generates the start token again and again, because input and target are the same. Shift "
    "one of them."
)
def not_shifted(source, target):
    return _trained(source, target, 80, shift=0)


@task.mistake(
    "Its accuracy is at chance. Do you train it before you return it, with source and target of "
    "the same rows?"
)
def untrained(source, target):
    from helpers.config import TransformerConfig
    from helpers.data.kannada import ENGLISH, KANNADA
    from helpers.encoder_decoder import EncoderDecoder

    torch.manual_seed(0)
    return EncoderDecoder(TransformerConfig(len(KANNADA), 40, 1, 2, source_vocab=len(ENGLISH)))


@task.mistake(
    "It has begun to learn, but most sentences still have a wrong word. Does it need more steps, "
    "and is END among the targets?"
)
def too_short(source, target):
    return _trained(source, target, 100)


@task.harness
def harness(answer, source, target, new_source, new_target):
    """What the trained model writes for sentences that are new to it."""
    import torch

    from helpers.encoder_decoder import EncoderDecoder
    from helpers.generation import generate
    from helpers.tokens import END, START

    model = answer(source, target)
    if model is None:
        return None
    if not isinstance(model, EncoderDecoder):
        raise ValueError("expected an EncoderDecoder of the helpers")
    size = sum(p.numel() for p in model.parameters())
    if size > 80_000:
        raise ValueError(f"at most 80,000 parameters are allowed, but the model has {size:,}")
    model.eval()
    start = torch.full((len(new_source), 1), START)
    written = generate(
        model.condition_on(new_source), start, new_target.shape[1] + 2, temperature=0.0, eos_id=END
    )[:, 1:]
    fill = new_target.shape[1] + 3 - written.shape[1]
    written = torch.nn.functional.pad(written, (0, fill))
    wanted = torch.nn.functional.pad(new_target, (0, 3))
    wanted[torch.arange(len(wanted)), (new_target != 0).sum(dim=1)] = END
    asked = wanted != 0
    same = (written == wanted) & asked
    words = wanted > END
    up_to_the_end = ((written == wanted) | ~words).all(dim=1)
    return {
        "sentences right, of ten": 10 * (written == wanted).all(dim=1).double().mean().item(),
        "words right, of ten": 10 * same.sum().item() / asked.sum().item(),
        "all words right, of ten": 10 * up_to_the_end.double().mean().item(),
        "start tokens written, of ten": 10 * (written == START).double().mean().item(),
    }


@functools.lru_cache(maxsize=4)
def _sentences(seed):
    from helpers.data.kannada import sentences, translation_batch
    from helpers.tokens import PAD

    known = sentences(2000, 1, torch.Generator().manual_seed(3000 + seed))
    new = sentences(300, 1, torch.Generator().manual_seed(4000 + seed))
    found = []
    for pairs in (known, [pair for pair in new if pair not in set(known)][:200]):
        (source, begun), _ = translation_batch(pairs)
        found += [source, torch.where(begun[:, 1:] > 2, begun[:, 1:], PAD)]
    return found


@task.cases
def cases(seed):
    """2,000 sentences to learn from, and 200 new ones."""
    return [Case(tuple(tensor.clone() for tensor in _sentences(seed)), kind="ordinary cases")]


@task.score
def score(args, value):
    """The share of new sentences that are right in every word."""
    return value["sentences right, of ten"] / 10


@task.diagnostic
def after_training(args, result):
    """What it reached, and whether it is only the end that is missing."""
    right, words = result["sentences right, of ten"], result["all words right, of ten"]
    said = (
        f"Of ten new sentences {right:.1f} are right, and of ten words "
        f"{result['words right, of ten']:.1f}."
    )
    if words - right < 2:
        return said
    return (
        f"{said} In {words - right:.1f} of ten all words are right, but it goes on after them. Is "
        "END the target right after the last word of each sentence, before the padding?"
    )
