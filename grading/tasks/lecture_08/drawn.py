"""Draw words with given chances."""

import torch

from grading.author import Case, also_right, mistake, plan, task


# %% the cell
def drawn(probabilities, chances):
    """Ids (batch,) of words drawn from probabilities (batch, vocab) by chances (batch,)."""
    # BEGIN ANSWER
    sums = probabilities.cumsum(dim=-1)  # (batch, vocab)
    words = (sums <= chances[:, None]).sum(dim=-1)  # (batch,)
    ids = torch.arange(probabilities.shape[-1])  # (vocab,)
    last = (ids * (probabilities > 0)).amax(dim=-1)  # (batch,), the last possible word
    return torch.minimum(words, last)
    # END ANSWER


# %%


@also_right
def by_search(probabilities, chances):
    """Torch's search."""
    sums = probabilities.cumsum(dim=-1)
    sums = sums.masked_fill(sums >= sums[:, -1:], 2.0)
    return torch.searchsorted(sums, chances[:, None], right=True)[:, 0]


@also_right
def divided(probabilities, chances):
    """The sums are divided by the last one, so that they end at 1."""
    sums = probabilities.cumsum(dim=-1)
    return torch.searchsorted(sums / sums[:, -1:], chances[:, None], right=True)[:, 0]


@also_right
def by_steps(probabilities, chances):
    """What is left of the chance, word by word."""
    found = []
    for row, chance in zip(probabilities.tolist(), chances.tolist(), strict=True):
        reached, word = 0.0, None
        for i, p in enumerate(row):
            if p > 0:
                word, reached = i, reached + p
                if chance < reached:
                    break
        found.append(word)
    return torch.tensor(found)


@mistake(
    "A chance that equals a sum falls into the field *before* it here. A field begins at the sum "
    "of the probabilities before it, and that point belongs to it."
)
def from_left(probabilities, chances):
    sums = probabilities.cumsum(dim=-1)
    words = torch.searchsorted(sums, chances[:, None])[:, 0]
    return words.clamp(max=probabilities.shape[-1] - 1)


@mistake(
    "Rounding can leave the last sum a little below 1, and a chance above it falls off the end. "
    "Which word should it be then?"
)
def beyond(probabilities, chances):
    return (probabilities.cumsum(dim=-1) <= chances[:, None]).sum(dim=-1)


@mistake(
    "What fell off the end became the last word of the vocabulary. It may be impossible. Take "
    "the last word whose probability is above 0."
)
def clamped(probabilities, chances):
    return beyond(probabilities, chances).clamp(max=probabilities.shape[-1] - 1)


@mistake(
    "Where no sum lies above the chance, `argmax` finds nothing and says 0. That happens when "
    "rounding leaves the last sum a little below 1."
)
def by_argmax(probabilities, chances):
    return (probabilities.cumsum(dim=-1) > chances[:, None]).int().argmax(dim=-1)


mistake(
    "This is the word before the right one: count the sums up to the chance.",
    lambda probabilities, chances: (drawn(probabilities, chances) - 1).clamp(min=0),
)


@mistake("This is greedy: the chance plays no part.")
def greedy(probabilities, chances):
    return probabilities.argmax(dim=-1)


@mistake(
    "The number is a place in the sorted row. Sorting is not needed: keep the words in the order "
    "of their ids."
)
def sorted_first(probabilities, chances):
    return drawn(probabilities.sort(dim=-1, descending=True).values, chances)


@mistake(
    "This draws fairly, but the fields lie in the order of their size. They are to lie in the "
    "order of the ids."
)
def in_order_of_size(probabilities, chances):
    falling, order = probabilities.sort(dim=-1, descending=True, stable=True)
    return order.gather(-1, drawn(falling, chances)[:, None])[:, 0]


mistake(
    "The chance is compared with single probabilities. Compare it with their sums from the left.",
    lambda probabilities, chances: (probabilities > chances[:, None]).int().argmax(dim=-1),
)
mistake(
    "All rows use the first chance. Row b has a chance of its own.",
    lambda probabilities, chances: drawn(probabilities, chances[:1].expand(len(probabilities))),
)


@mistake("The sums go down the batch (axis 0). They have to go along the words of each row.")
def down_the_batch(probabilities, chances):
    sums = probabilities.cumsum(dim=0)
    return (sums <= chances[:, None]).sum(dim=-1).clamp(max=probabilities.shape[-1] - 1)


mistake(
    "The words are right, with an axis too many: (batch,) is wanted.",
    lambda probabilities, chances: drawn(probabilities, chances)[:, None],
)


def cases(seed):
    """One row at four chances by hand; impossible words; rounding; then random rows."""
    generator = torch.Generator().manual_seed(seed)
    quarters = torch.tensor([[0.25, 0.5, 0.125, 0.125]], dtype=torch.float64)
    chances = torch.tensor([0.2, 0.25, 0.8, 0.9], dtype=torch.float64)
    holes = torch.tensor([[0.0, 0.5, 0.0, 0.5, 0.0]], dtype=torch.float64)
    edges = torch.tensor([0.0, 0.5, 0.99], dtype=torch.float64)
    tenths = torch.tensor([0.1] * 10 + [0.0] * 2, dtype=torch.float64)
    top = 1 - 2.0**-53
    found = [
        Case((quarters.repeat(4, 1), chances), "the example of the statement"),
        Case((holes.repeat(3, 1), edges), "words that cannot come"),
        Case(
            (tenths.repeat(2, 1), torch.tensor([top, 0.15], dtype=torch.float64)),
            "ten words of 0.1, and a chance just below 1",
        ),
        Case(
            (
                torch.stack([tenths, tenths.roll(2), tenths.roll(1)]),
                torch.full((3,), top, dtype=torch.float64),
            ),
            "as before, with another last word in each row",
        ),
    ]
    for batch, vocab in ((7, 3), (40, 9)):
        p = torch.rand(batch, vocab, generator=generator, dtype=torch.float64) ** 3
        p[:, 1] = 0
        p = p / p.sum(dim=-1, keepdim=True)
        u = torch.rand(batch, generator=generator, dtype=torch.float64)
        near = (p.cumsum(dim=-1) - u[:, None]).abs().amin(dim=-1) < 1e-6
        found.append(Case((p, u.masked_fill(near, 0.0)), f"{batch} rows of {vocab} words"))
    return found


def possible(args, result):
    """Whether each word drawn is a possible one."""
    probabilities = args[0].numpy()
    for i, word in enumerate(result):
        if not 0 <= word < probabilities.shape[1]:
            n = len(probabilities[i])
            return f"Row {i}: there is no word {word}; the words are 0 to {n - 1}."
        if probabilities[i, word] == 0:
            return f"Row {i}: word {word} was drawn, and it has probability 0."
    return None


TASK = task(
    plan("implement", points=8, difficulty=2, minutes=12),
    outcome="draw words greedily, by {term}`temperature`, top-k and top-p, test the distributions, "
    "and measure what temperature does to facts",
    cases=cases,
    properties=(possible,),
    forbidden=("torch.multinomial", "torch.Tensor.multinomial"),
    hints=(
        "Draw the example as a line from 0 to 1, with a mark at each sum. At which mark does the "
        "field of word 1 begin, and at which does it end?",
        "How many of the sums are at most as large as the chance?",
        "Ten times 0.1, added up in float64, is a little less than 1. What does your function do "
        "with a chance between that and 1?",
    ),
)
