"""Find the bug: codes for the number of the sentence, not for the place of the word."""

import numpy as np
import torch

from grading.author import Case, TaskFile
from helpers import positions
from helpers.positions import SinusoidalPositions, sinusoidal_codes

task = TaskFile(
    "find the bug",
    points=8,
    minutes=13,
    section="Sinusoidal positional encodings",
    outcome="test whether a layer can tell the order of its tokens, find a bug in which it cannot, "
    "and say what a causal mask alone tells",
    hints=(
        "Give it zeros of shape (3, 2, 4): the output is what was added. Which rows are equal?",
        "Write the shape of the codes below the shape of x, aligned on the right, as broadcasting "
        "reads them.",
    ),
)


# %% the cell
def add_positions(x):
    """The words x (T, batch, d_model), each with the code of its position added."""
    #| T, d_model = x.shape[1:]
    #| codes = positions.sinusoidal_codes(T, d_model, dtype=x.dtype)  # (T, d_model)
    #| return x + codes
    # BEGIN SOLUTION
    T, _, d_model = x.shape
    codes = positions.sinusoidal_codes(T, d_model, dtype=x.dtype)  # (T, d_model)
    return x + codes[:, None]  # (T, batch, d_model)
    # END SOLUTION


# %%


@task.alternative
def batch_first_and_back(x):
    """The axes are exchanged, and exchanged back."""
    return SinusoidalPositions().embed(x.transpose(0, 1)).transpose(0, 1)


@task.alternative
def by_word(x):
    """Place by place."""
    codes = sinusoidal_codes(x.shape[0], x.shape[2], dtype=x.dtype)
    return torch.stack([words + code for words, code in zip(x, codes, strict=True)])


task.as_given(
    "This does the same as the given code: both words of the example get the same code, although "
    "they are at two positions."
)

task.mistake(
    "There is a code for each word now, but codes of shape (T, d_model) are added to x of shape "
    "(T, batch, d_model) along its last two axes, and these are batch and d_model. Give the codes "
    "an axis of size 1 for the batch.",
    lambda x: x + sinusoidal_codes(x.shape[0], x.shape[2], dtype=x.dtype),
)
task.mistake(
    "The codes are right, but the result is (batch, T, d_model). It must have the shape of the "
    "input: exchange the axes once more.",
    lambda x: SinusoidalPositions().embed(x.transpose(0, 1)),
)


@task.mistake(
    "The codes were added to the wrong words, as if the words of a sentence were next to each "
    "other. But in (T, batch, d_model) the first words of all sentences are. `reshape` and `view` "
    "do not exchange axes: they keep the numbers in order and regroup them. Use `transpose`, or "
    "give the codes an axis of size 1 for the batch."
)
def reshaped(x):
    T, batch, d_model = x.shape
    return SinusoidalPositions().embed(x.reshape(batch, T, d_model)).reshape(T, batch, d_model)


task.mistake(
    "The codes of the positions are added, but those of the sentences are still there. Remove "
    "what depends on the index of the sentence.",
    lambda x: add_positions(x + sinusoidal_codes(*x.shape[1:], dtype=x.dtype)),
)
task.mistake(
    "All words got the code of position 0, wherever they are. So order still does not matter.",
    lambda x: x + sinusoidal_codes(1, x.shape[2], dtype=x.dtype),
)
task.mistake(
    "These are the codes alone, for each sentence. *Add* them to the words.",
    lambda x: sinusoidal_codes(x.shape[0], x.shape[2], dtype=x.dtype)[:, None].expand(x.shape),
)
task.mistake(
    "The first word got the code of position 1. Positions are counted from 0.",
    lambda x: x + sinusoidal_codes(x.shape[0] + 1, x.shape[2], dtype=x.dtype)[1:, None],
)
task.edit(
    "The words were multiplied by √d_model first, as the original paper does with its embeddings. "
    "Here only the codes are added, and the words stay as they are.",
    "x + codes[:, None]",
    "x * d_model**0.5 + codes[:, None]",
)


@task.mistake(
    "The words were counted through the whole batch, so the same position has another code in "
    "each sentence. Each sentence begins at position 0."
)
def one_count_for_all(x):
    T, batch, d_model = x.shape
    return x + sinusoidal_codes(T * batch, d_model, dtype=x.dtype).view(T, batch, d_model)


@task.cases
def cases(seed):
    """Two words of zeros, to be checked by hand; then sizes that are all different."""
    generator = torch.Generator().manual_seed(seed)

    def words(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    return [
        Case(
            (torch.zeros(2, 1, 2, dtype=torch.float64),),
            "one sentence of two words, all zeros",
            kind="ordinary cases",
        ),
        Case((words(5, 3, 4),), kind="ordinary cases"),
        Case((words(2, 7, 6),), "more sentences than words", kind="other shapes"),
        Case((words(1, 4, 8),), "sentences of one word", kind="edge cases"),
        Case((words(3, 3, 2),), "as many sentences as words", kind="ordinary cases"),
    ]


@task.diagnostic
def same_for_all_sentences(args, result):
    """What was added is the same in every sentence, and differs from word to word."""
    x, out = np.asarray(args[0]), np.asarray(result)
    if out.shape != x.shape:
        return None
    added = out - x
    if abs(added - added[:, :1]).max() > 1e-6:
        return (
            "At one position, output minus input differs between the sentences of the batch. But "
            "only a code may be added, and it is the same in all of them."
        )
    if len(x) > 1 and abs(added - added[:1]).max() < 1e-6:
        return "The same was added to all words of a sentence, so order still does not matter."
    return None
