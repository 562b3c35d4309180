"""Temperature and top-p."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=9,
    redraw=True,
    minutes=18,
    section="Sampling: temperature, top-k and top-p",
    outcome="write the generation loop with {term}`temperature`, say what greedy decoding, top-k "
    "and top-p do, and measure what temperature does to a text",
    forbidden=("helpers.generation.filter_top_p", "helpers.generation.next_token_probabilities"),
    hints=(
        "Work through the example by hand: the probabilities in descending order, and their "
        "cumulative sums. Which sums are below 0.7, and which words are needed?",
        "`falling, order = probabilities.sort(dim=-1, descending=True)` gives the probabilities "
        "and their words. `falling.cumsum(dim=-1) - falling` is the cumulative sum *before* each "
        "word.",
        "A mask made for the sorted row has to be put back into the original order of the words: "
        "see `Tensor.scatter`.",
    ),
)


# %% the cell
def nucleus(logits, temperature, p):
    """Probabilities (batch, vocab) after temperature and top-p, of logits (batch, vocab)."""
    # BEGIN SOLUTION
    probabilities = (logits / temperature).softmax(dim=-1)  # (batch, vocab)
    falling, order = probabilities.sort(dim=-1, descending=True)  # (batch, vocab) each
    needed = falling.cumsum(dim=-1) - falling < p  # (batch, vocab), the likeliest first
    keep = torch.zeros_like(needed).scatter(-1, order, needed)  # (batch, vocab), by word
    kept = probabilities * keep  # (batch, vocab)
    return kept / kept.sum(dim=-1, keepdim=True)
    # END SOLUTION


# %%


@task.alternative
def by_rows(logits, temperature, p):
    """Word by word."""
    rows = []
    for row in (logits / temperature).softmax(dim=-1):
        kept, reached = torch.zeros_like(row), 0.0
        for word in row.argsort(descending=True).tolist():
            if reached < p:
                kept[word] = row[word]
                reached += float(row[word])
        rows.append(kept / reached)
    return torch.stack(rows)


@task.alternative
def by_inverse(logits, temperature, p):
    """The order is undone by its own order."""
    falling, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = falling.masked_fill(falling.cumsum(dim=-1) - falling >= p, 0)
    kept = kept.gather(-1, order.argsort(dim=-1))
    return kept / kept.sum(dim=-1, keepdim=True)


def _divided(kept):
    return kept / kept.sum(dim=-1, keepdim=True)


@task.mistake(
    "The mask of the sorted row was applied to the words in their original order, so the wrong "
    "words are kept; and it leaves out the word that crosses p. If the first word alone reaches "
    "p, nothing is left, and 0 is divided by 0."
)
def both(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    falling = probabilities.sort(dim=-1, descending=True).values
    return _divided(probabilities * (falling.cumsum(dim=-1) < p))


@task.mistake(
    "The cumulative sums run over the words in their original order. In the lecture's example the "
    "row was sorted already: sort first."
)
def not_sorted(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    return _divided(probabilities * (probabilities.cumsum(dim=-1) - probabilities < p))


@task.mistake(
    "The *probabilities* are divided by the temperature, so they no longer sum to 1. It divides "
    "the logits, before softmax."
)
def cooled_too_late(logits, temperature, p):
    falling, order = (logits.softmax(dim=-1) / temperature).sort(dim=-1, descending=True)
    needed = falling.cumsum(dim=-1) - falling < p
    keep = torch.zeros_like(needed).scatter(-1, order, needed)
    return _divided(logits.softmax(dim=-1) * keep)


@task.mistake(
    "The right *number* of words is kept. But they are not the most probable: the mask of the "
    "sorted row was applied to the words in their original order."
)
def order_left(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    falling = probabilities.sort(dim=-1, descending=True).values
    return _divided(probabilities * (falling.cumsum(dim=-1) - falling < p))


@task.mistake(
    "The right words are considered. But one too few is kept, and if the first alone reaches p, "
    "none."
)
def too_few(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    needed = falling.cumsum(dim=-1) < p
    return _divided(probabilities * torch.zeros_like(needed).scatter(-1, order, needed))


@task.mistake(
    "The most probable word is always kept. But where one is not enough, one word too few is kept: "
    "the words that are kept have to *reach* p."
)
def too_few_but_one(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    needed = falling.cumsum(dim=-1) < p
    needed[..., 0] = True
    return _divided(probabilities * torch.zeros_like(needed).scatter(-1, order, needed))


@task.mistake(
    "Each word is compared with the most probable one. p limits the *sum* of the probabilities "
    "that are kept, the largest first."
)
def relative_to_the_largest(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    least = (1 - p) * probabilities.amax(dim=-1, keepdim=True)
    return _divided(probabilities * (probabilities >= least))


@task.mistake("One word too many is kept: without it, p was already reached.")
def one_more(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    before = (falling.cumsum(dim=-1) - falling).roll(1, dims=-1)
    before[..., 0] = 0
    needed = before < p
    return _divided(probabilities * torch.zeros_like(needed).scatter(-1, order, needed))


@task.mistake(
    "`gather` with `order` sorts a second time. Undo the sorting instead: position n of the "
    "sorted row belongs to the word `order[n]`."
)
def gathered(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    needed = falling.cumsum(dim=-1) - falling < p
    return _divided(probabilities * needed.gather(-1, order))


@task.mistake(
    "`gather` with `order` rearranges the sorted probabilities once more. Undo the sorting "
    "instead: position n of the sorted row belongs to the word `order[n]`."
)
def gathered_probabilities(logits, temperature, p):
    falling, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = falling * (falling.cumsum(dim=-1) - falling < p)
    return _divided(kept.gather(-1, order))


@task.mistake(
    "The probabilities are right, but in descending order. Entry j has to belong to word j."
)
def in_falling_order(logits, temperature, p):
    return nucleus(logits, temperature, p).sort(dim=-1, descending=True).values


@task.mistake(
    "The row is returned in descending order, so entry j does not belong to word j. And it leaves "
    "out the word that crosses p; if the first word alone reaches p, 0 is divided by 0."
)
def falling_and_too_few(logits, temperature, p):
    falling = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True).values
    return _divided(falling * (falling.cumsum(dim=-1) < p))


@task.mistake(
    "`[order]` picks whole rows of the batch, not words within a row. To put the kept "
    "probabilities back to their words, see `Tensor.scatter`."
)
def rows_picked(logits, temperature, p):
    falling, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    return _divided((falling * (falling.cumsum(dim=-1) - falling < p))[order])


@task.mistake(
    "Softmax runs down the batch, so each *word's* probabilities sum to 1. Each row is a "
    "distribution of its own: use the last axis."
)
def softmax_down(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=0)
    falling, order = probabilities.sort(dim=-1, descending=True)
    needed = falling.cumsum(dim=-1) - falling < p
    return _divided(probabilities * torch.zeros_like(needed).scatter(-1, order, needed))


@task.mistake(
    "Here the *least* likely words are kept: the cumulative sums start at the smallest probability."
)
def rising(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    growing, order = probabilities.sort(dim=-1)
    needed = growing.cumsum(dim=-1) - growing < p
    return _divided(probabilities * torch.zeros_like(needed).scatter(-1, order, needed))


@task.mistake("The right words are kept. But their probabilities do not sum to 1.")
def not_divided(logits, temperature, p):
    return (logits / temperature).softmax(dim=-1) * (nucleus(logits, temperature, p) > 0)


task.mistake(
    "Softmax of probabilities changes their ratios and gives some probability to words that were "
    "removed. Divide by the sum instead.",
    lambda logits, temperature, p: not_divided(logits, temperature, p).softmax(dim=-1),
)


@task.mistake(
    "The logits are multiplied by the temperature, so high and low are exchanged. Divide by it."
)
def multiplied(logits, temperature, p):
    return nucleus(logits, 1 / temperature, p)


task.mistake(
    "The temperature has no effect here.",
    lambda logits, temperature, p: nucleus(logits, 1.0, p),
)


@task.mistake(
    "The words were chosen from the probabilities at temperature 1. Apply the temperature first, "
    "and then top-p to the result."
)
def filter_first(logits, temperature, p):
    keep = nucleus(logits, 1.0, p) > 0
    return (logits / temperature).masked_fill(~keep, -torch.inf).softmax(dim=-1)


task.mistake(
    "Softmax was applied twice: before the temperature and after it. The temperature divides "
    "logits.",
    lambda logits, temperature, p: nucleus(logits.softmax(dim=-1), temperature, p),
)


@task.mistake(
    "The probabilities were divided by the sum over the whole batch. Each row has its own sum."
)
def over_batch(logits, temperature, p):
    kept = not_divided(logits, temperature, p)
    return kept / kept.sum()


@task.mistake(
    "The removed words have the logit 0, and softmax gives that some probability. Which logit "
    "gets the probability 0?"
)
def cut_to_zero(logits, temperature, p):
    keep = nucleus(logits, temperature, p) > 0
    return (logits / temperature * keep).softmax(dim=-1)


@task.mistake(
    "`roll` moves entries in a circle: the sum of all words came to the first position, so the "
    "most probable word is removed."
)
def rolled(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    needed = falling.cumsum(dim=-1).roll(1, dims=-1) < p
    return _divided(probabilities * torch.zeros_like(needed).scatter(-1, order, needed))


@task.mistake(
    "All rows keep as many words as the first one. The number of words differs from row to row."
)
def first_row_decides(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    n = int((falling[0].cumsum(dim=-1) - falling[0] < p).sum())
    keep = torch.zeros_like(probabilities, dtype=torch.bool).scatter(-1, order[:, :n], True)
    return _divided(probabilities * keep)


task.edit(
    "The indexing ignores the batch: each row has its own order, but the order of row 0 was used "
    "for all.",
    "scatter(-1, order, needed)",
    "index_copy(-1, order[0], needed)",
)


@task.mistake(
    "Every row keeps as many words as the row that needs most. Each row has a number of its own."
)
def one_number_for_all(logits, temperature, p):
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    most = int((falling.cumsum(dim=-1) - falling < p).sum(dim=-1).max())
    kept = torch.zeros_like(falling).scatter(-1, order[:, :most], falling[:, :most])
    return kept / kept.sum(dim=-1, keepdim=True)


@task.cases
def cases(seed):
    """One row by hand; a certain one; then batches at several temperatures, far from any tie."""
    generator = torch.Generator().manual_seed(seed)
    row = torch.tensor([[0.1, 0.6, 0.05, 0.25]], dtype=torch.float64).log()
    found = [
        Case((row, 1.0, 0.7), "the example in the text", kind="ordinary cases"),
        Case((row, 1.0, 0.5), "p is reached with the first word", kind="ordinary cases"),
    ]
    for batch, vocab, temperature, p in ((2, 5, 1.0, 0.8), (3, 7, 0.5, 0.9), (4, 6, 2.0, 0.6)):
        rows = []
        while len(rows) < batch:
            new = 2 * torch.randn(1, vocab, generator=generator, dtype=torch.float64)
            reached = (new / temperature).softmax(dim=-1).sort(descending=True).values.cumsum(-1)
            differs = filter_first(new, temperature, p).ne(nucleus(new, temperature, p)).any()
            if (reached - p).abs().min() > 0.01 and (differs or temperature == 1.0):
                rows.append(new)
        note = f"{batch} rows of {vocab} words, temperature {temperature:g}, p = {p:g}"
        found.append(Case((torch.cat(rows), temperature, p), note, kind="ordinary cases"))
    return found


@task.diagnostic
def kept_enough(args, result):
    """Whether there is one row for each row, that sums to 1, and what is kept reaches p."""
    logits, temperature, p = args
    if result.ndim == 3:
        return (
            "There is an axis too many. Was a tensor indexed with `order`, as in `kept[:, order]`? "
            "That takes the order of every row for every row."
        )
    full = (logits / temperature).softmax(dim=-1).numpy()
    right = nucleus(*args).numpy()
    for i, (row, all_words) in enumerate(zip(result, full, strict=True)):
        if np.isnan(row).any():
            return f"Row {i} holds NaN."
        if abs(row.sum() - 1) > 1e-6:
            return f"Row {i} sums to {row.sum():.3f}, not to 1."
        if all_words[row > 0].sum() < p:
            several = (right[i] > 0).sum() > 1  # a single word has the probability 1 anywhere
            if several and np.allclose(np.sort(row), np.sort(right[i]), rtol=1e-4):
                return f"Row {i} holds the right probabilities, but at the wrong words."
            return (
                f"Row {i}: together, the kept words have the probability "
                f"{all_words[row > 0].sum():.3f}, which is less than p = {p:g}."
            )
        kept = np.flatnonzero(row > 0)
        if set(kept) == set(np.flatnonzero(right[i])) and not np.allclose(row, right[i], atol=1e-6):
            first, second = kept[right[i][kept].argsort()[::-1][:2]]
            return (
                f"Row {i} keeps the right words, but their probabilities do not stand in the right "
                f"ratio. The first two are {row[first]:.3f} and {row[second]:.3f}, "
                f"{row[first] / row[second]:.2f} to 1; softmax of the logits, divided by the "
                f"temperature, gives {right[i][first] / right[i][second]:.2f} to 1. Cutting does "
                "not change a ratio: was softmax taken once more?"
            )
    return None
