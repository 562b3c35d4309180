"""Mend a top-p filter."""

import torch

from grading.task import Case, Mistake, Task


def nucleus(logits, temperature, p):
    """The model answer."""
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    needed = falling.cumsum(dim=-1) - falling < p
    keep = torch.zeros_like(needed).scatter(-1, order, needed)
    kept = probabilities * keep
    return kept / kept.sum(dim=-1, keepdim=True)


def by_rows(logits, temperature, p):
    """Right, in another way: word by word."""
    rows = []
    for row in (logits / temperature).softmax(dim=-1):
        kept, reached = torch.zeros_like(row), 0.0
        for word in row.argsort(descending=True).tolist():
            if reached < p:
                kept[word] = row[word]
                reached += float(row[word])
        rows.append(kept / reached)
    return torch.stack(rows)


def by_inverse(logits, temperature, p):
    """Right, in another way: the order is undone by its own order."""
    falling, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = falling.masked_fill(falling.cumsum(dim=-1) - falling >= p, 0)
    kept = kept.gather(-1, order.argsort(dim=-1))
    return kept / kept.sum(dim=-1, keepdim=True)


def _divided(kept):
    return kept / kept.sum(dim=-1, keepdim=True)


def as_given(logits, temperature, p):
    """Wrong: one word too few, and the filter meets words in another order."""
    probabilities = (logits / temperature).softmax(dim=-1)
    keep = probabilities.sort(dim=-1, descending=True).values.cumsum(dim=-1) < p
    return _divided(probabilities * keep)


def order_left(logits, temperature, p):
    """Wrong: the filter meets words in another order."""
    probabilities = (logits / temperature).softmax(dim=-1)
    falling = probabilities.sort(dim=-1, descending=True).values
    return _divided(probabilities * (falling.cumsum(dim=-1) - falling < p))


def too_few(logits, temperature, p):
    """Wrong: the word with which p is reached is dropped."""
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    needed = falling.cumsum(dim=-1) < p
    return _divided(probabilities * torch.zeros_like(needed).scatter(-1, order, needed))


def too_few_but_one(logits, temperature, p):
    """Wrong: the same, but the first word always stays."""
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    needed = falling.cumsum(dim=-1) < p
    needed[..., 0] = True
    return _divided(probabilities * torch.zeros_like(needed).scatter(-1, order, needed))


def one_more(logits, temperature, p):
    """Wrong: one word more than needed."""
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    before = (falling.cumsum(dim=-1) - falling).roll(1, dims=-1)
    before[..., 0] = 0
    needed = before < p
    return _divided(probabilities * torch.zeros_like(needed).scatter(-1, order, needed))


def gathered(logits, temperature, p):
    """Wrong: the order is applied once more and not undone."""
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    needed = falling.cumsum(dim=-1) - falling < p
    return _divided(probabilities * needed.gather(-1, order))


def in_falling_order(logits, temperature, p):
    """Wrong: the result is sorted."""
    return nucleus(logits, temperature, p).sort(dim=-1, descending=True).values


def rising(logits, temperature, p):
    """Wrong: the least likely words are kept."""
    probabilities = (logits / temperature).softmax(dim=-1)
    growing, order = probabilities.sort(dim=-1)
    needed = growing.cumsum(dim=-1) - growing < p
    return _divided(probabilities * torch.zeros_like(needed).scatter(-1, order, needed))


def not_divided(logits, temperature, p):
    """Wrong: what is kept does not sum to 1."""
    return (logits / temperature).softmax(dim=-1) * (nucleus(logits, temperature, p) > 0)


def softmax_again(logits, temperature, p):
    """Wrong: softmax of what was kept."""
    return not_divided(logits, temperature, p).softmax(dim=-1)


def multiplied(logits, temperature, p):
    """Wrong: multiplied by the temperature."""
    return nucleus(logits, 1 / temperature, p)


def no_temperature(logits, temperature, p):
    """Wrong: the temperature is not used."""
    return nucleus(logits, 1.0, p)


def filter_first(logits, temperature, p):
    """Wrong: the filter comes before the temperature."""
    keep = nucleus(logits, 1.0, p) > 0
    return (logits / temperature).masked_fill(~keep, -torch.inf).softmax(dim=-1)


def divides_probabilities(logits, temperature, p):
    """Wrong: the temperature is applied to probabilities, where it cancels or counts twice."""
    return nucleus(logits.softmax(dim=-1), temperature, p)


def first_row_decides(logits, temperature, p):
    """Wrong: as many words in every row as in the first."""
    probabilities = (logits / temperature).softmax(dim=-1)
    falling, order = probabilities.sort(dim=-1, descending=True)
    n = int((falling[0].cumsum(dim=-1) - falling[0] < p).sum())
    keep = torch.zeros_like(probabilities, dtype=torch.bool).scatter(-1, order[:, :n], True)
    return _divided(probabilities * keep)


def cases(seed):
    """One row by hand; a certain one; then batches at several temperatures, far from any tie."""
    generator = torch.Generator().manual_seed(seed)
    row = torch.tensor([[0.1, 0.6, 0.05, 0.25]], dtype=torch.float64).log()
    found = [
        Case((row, 1.0, 0.7), "the example of the statement"),
        Case((row, 1.0, 0.5), "p is reached with the first word"),
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
        found.append(Case((torch.cat(rows), temperature, p), note))
    return found


def kept_enough(args, result):
    """Whether rows sum to 1, and what is kept reaches p, and is the likeliest."""
    import numpy as np

    logits, temperature, p = args
    full = (logits / temperature).softmax(dim=-1).numpy()
    for i, (row, all_words) in enumerate(zip(result, full, strict=True)):
        if np.isnan(row).any():
            return f"Row {i} holds NaN."
        if abs(row.sum() - 1) > 1e-6:
            return f"Row {i} sums to {row.sum():.3f}, not to 1."
        if all_words[row > 0].sum() < p:
            return (
                f"Row {i}: the words that are kept have together {all_words[row > 0].sum():.3f} "
                f"of the probability, which is less than p = {p:g}."
            )
    return None


TASK = Task(
    name="nucleus",
    lecture=8,
    kind="find the bug",
    points=9,
    difficulty=2,
    minutes=10,
    outcome="draw words greedily, by {term}`temperature`, top-k and top-p, test the distributions, "
    "and measure what temperature does to facts",
    reference=nucleus,
    also_right=(by_rows, by_inverse),
    cases=cases,
    properties=(kept_enough,),
    forbidden=("helpers.decoding.keep_top_p", "helpers.decoding.next_token_probabilities"),
    mistakes=(
        Mistake(
            as_given,
            "This is the code as given: rows become NaN, and where they do not, words are kept "
            "that are not the likeliest.",
        ),
        Mistake(
            order_left,
            "The right *number* of words is kept now. But they are not the likeliest: compare "
            "which words `keep` speaks of, and which words `probabilities` holds.",
        ),
        Mistake(
            too_few,
            "The right words are looked at now. But one too few is kept, and if the first alone "
            "reaches p, none.",
        ),
        Mistake(
            too_few_but_one,
            "The likeliest word is saved by an exception. But in all other rows one word too few "
            "is kept: what is kept has to *reach* p.",
        ),
        Mistake(
            one_more,
            "One word too many is kept: without it, p was reached already.",
        ),
        Mistake(
            gathered,
            "`gather` with `order` sorts a second time. It has to be undone: what stands at place "
            "n of the sorted row belongs to the word `order[n]`.",
        ),
        Mistake(
            in_falling_order,
            "The probabilities are right, and stand in falling order. Entry j has to belong to "
            "word j.",
        ),
        Mistake(
            rising,
            "Here the *least* likely words are kept: the sums were taken from the small end.",
        ),
        Mistake(
            not_divided,
            "The right words are kept. But what is left does not sum to 1.",
        ),
        Mistake(
            softmax_again,
            "Softmax of probabilities is something else, and gives a share to words that were cut "
            "off. Divide by the sum.",
        ),
        Mistake(
            multiplied,
            "The logits are multiplied by the temperature, so hot became cold. They are divided.",
        ),
        Mistake(no_temperature, "The temperature has no effect here."),
        Mistake(
            filter_first,
            "The words were chosen from the probabilities at temperature 1. The temperature comes "
            "first, and top-p chooses from what it made.",
        ),
        Mistake(
            divides_probabilities,
            "Softmax was taken twice: once before the temperature, and once after it. The "
            "temperature divides logits.",
        ),
        Mistake(
            first_row_decides,
            "All rows keep as many words as the first. Each row has a certainty of its own.",
        ),
    ),
    hints=(
        "Take the example by hand: the probabilities in falling order, and their sums. Which of "
        "the sums is below 0.7, and which words are needed?",
        "`falling.cumsum(dim=-1) - falling` is what is reached *without* the word itself.",
        "A mask made on the sorted row has to be put back to the places of the words: see "
        "`Tensor.scatter`.",
    ),
)
