"""Find the bug: heads are joined without bringing the words back to the front."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=6,
    minutes=7,
    section="One projection, cut into heads",
    outcome="use a test to detect heads that are cut wrongly, and say when n_heads must divide "
    "d_model",
    hints=(
        "Print the result for the small numbers of the example. Row 0 should hold word 0.",
        "Which two axes must be neighbours, and in which order, before they can be merged?",
    ),
)


# %% the cell
def merge_heads(context):
    """Merge heads (batch, n_heads, T, d_v) into rows (batch, T, n_heads * d_v)."""
    batch, n_heads, T, d_v = context.shape
    #| return context.reshape(batch, T, n_heads * d_v)
    # BEGIN SOLUTION
    return context.transpose(1, 2).reshape(batch, T, n_heads * d_v)
    # END SOLUTION


# %%


@task.alternative
def by_cat(context):
    """The heads side by side."""
    return torch.cat(context.unbind(dim=1), dim=-1)


@task.alternative
def by_numpy(context):
    """In NumPy."""
    return np.concatenate([context[:, h].numpy() for h in range(context.shape[1])], axis=-1)


task.as_given(
    "This does the same as the given code. The shape is right, but the rows are not: row 0 holds "
    "numbers of several words."
)
task.edit(
    "Two axes were exchanged, but the wrong ones: the axis of the words must come before the axis "
    "of the heads.",
    "1, 2",
    "2, 3",
)
task.edit(
    "`transpose(1, 3)` exchanges the heads with their numbers. Exchange the heads, axis 1, with "
    "the words, axis 2.",
    "1, 2",
    "1, 3",
)
task.edit(
    "The steps are right. But after `transpose` the numbers are no longer in order in memory, and "
    "`view` never copies them. `reshape` and `flatten` do if necessary.",
    "reshape",
    "view",
)
task.edit(
    "The numbers of the heads alternate now. Side by side means: all numbers of head 0, then all "
    "of head 1.",
    "transpose(1, 2",
    "permute(0, 2, 3, 1",
)
task.mistake(
    "This is the mean over the heads, which mixes what they kept separate. Concatenate them.",
    lambda context: context.mean(dim=1),
)
task.mistake(
    "This is the sum over the heads. Concatenate them: adding comes later, in `W_out`, where each "
    "head has its own columns.",
    lambda context: context.sum(dim=1),
)
task.mistake(
    "Now the heads are stacked below each other, in n_heads · T rows. There must be one row for "
    "each word.",
    lambda context: context.flatten(1, 2),
)
task.mistake(
    "The words come first now. What remains is to merge the last two axes.",
    lambda context: context.transpose(1, 2),
)

task.edit(
    "With one sentence this is right. With more, the words are exchanged with the *sentences*, "
    "and merging mixes numbers of several sentences. Leave axis 0 where it is.",
    "1, 2",
    "0, 2",
)
task.mistake(
    "The last two axes were merged as they were, so there is one row for each head, with all "
    "words in it. There must be one row for each word, with all heads in it.",
    lambda context: context.flatten(2),
)


@task.cases
def cases(seed):
    """Small numbers to read by eye; then sizes that are all different."""
    rng = np.random.default_rng(seed)
    heads = [[[0.0, 1], [10, 11], [20, 21]], [[2, 3], [12, 13], [22, 23]]]
    found = [Case((torch.tensor([heads]),), "two heads, three words", kind="ordinary cases")]
    for shape in ((2, 3, 4, 5), (3, 4, 2, 1), (2, 1, 5, 3), (3, 2, 5, 4)):
        found.append(
            Case((torch.tensor(rng.normal(size=shape)),), f"context {shape}", kind="ordinary cases")
        )
    return found


@task.diagnostic
def each_word_its_own(args, result):
    """Row 0 must hold what the heads have collected for word 0."""
    context = args[0].numpy()
    if result.shape != (len(context), context.shape[2], context.shape[1] * context.shape[3]):
        return None
    own, row = sorted(context[0, :, 0].ravel().tolist()), sorted(result[0, 0].tolist())
    if not np.allclose(own, row):
        return "Row 0 of the first sentence does not hold the context vectors of word 0."
    if not np.allclose(context[0, :, 0].ravel(), result[0, 0]):
        return "Row 0 holds the right numbers, but in the wrong order."
    return None
