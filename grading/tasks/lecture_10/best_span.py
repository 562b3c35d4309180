"""From two rows of logits to a span."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=12,
    two_at_once=True,
    redraw=True,
    outcome="choose a span from two rows of logits, so that the end is never before the start and "
    "padding is never chosen",
    results=("the first word", "the last word"),
    hints=(
        "Two loops are enough: over first words, and over the last words that are allowed for "
        "each.",
        "In the example, write down the sums of all spans that begin at position 2.",
    ),
)


# %% the cell
def best_span(start, end, n_words, longest):
    """The best span as (first, last), two whole numbers."""
    # BEGIN SOLUTION
    best, span = -float("inf"), None
    for first in range(1, n_words):
        for last in range(first, min(first + longest, n_words)):
            total = (start[first] + end[last]).item()
            if total > best:
                best, span = total, (first, last)
    return span
    # END SOLUTION


# %%


@task.alternative
def by_table(start, end, n_words, longest):
    """A table of all pairs, with illegal ones at −∞."""
    sums = start[:, None] + end[None, :]
    legal = torch.ones_like(sums, dtype=torch.bool).triu().tril(longest - 1)
    legal[0], legal[:, n_words:] = False, False
    at = sums.masked_fill(~legal, -torch.inf).argmax().item()
    return at // len(start), at % len(start)


@task.alternative
def by_list(start, end, n_words, longest):
    """The largest of a list."""
    pairs = [(i, j) for i in range(1, n_words) for j in range(i, n_words) if j - i < longest]
    return list(max(pairs, key=lambda p: float(start[p[0]] + end[p[1]])))


@task.mistake(
    "Start and end are chosen separately, so the end may come before the start. Choose the pair "
    "with the largest sum among the allowed ones."
)
def one_by_one(start, end, n_words, longest):
    return start[1:n_words].argmax().item() + 1, end[1:n_words].argmax().item() + 1


@task.mistake(
    "The best start is chosen first, and then the best end after it. A slightly worse start may "
    "have a much better end."
)
def start_first(start, end, n_words, longest):
    first = start[1:n_words].argmax().item() + 1
    stop = min(first + longest, n_words)
    return first, first + end[first:stop].argmax().item()


@task.mistake(
    "The best end is chosen first, and then the best start before it. A slightly worse end may "
    "have a much better start."
)
def end_first(start, end, n_words, longest):
    last = end[1:n_words].argmax().item() + 1
    low = max(1, last - longest + 1)
    return low + start[low : last + 1].argmax().item(), last


@task.mistake(
    "Where the end came before the start, the two were exchanged. A good end need not be a good "
    "start. Compare the sums of allowed spans."
)
def exchanged(start, end, n_words, longest):
    return tuple(sorted(one_by_one(start, end, n_words, longest)))


task.edit(
    "Padding was chosen, or could be: no position from `n_words` on holds a word.",
    "range(1, n_words)",
    "range(1, len(start))",
    "min(first + longest, n_words)",
    "min(first + longest, len(start))",
)
task.edit(
    "Position 0 is not a word of the text: it stands for “no answer” and belongs to no span.",
    "range(1, n_words)",
    "range(n_words)",
)
task.edit(
    "Spans may have one word more than `longest` here. From position 3 to position 5 there are "
    "three words.",
    "first + longest",
    "first + longest + 1",
)
task.edit(
    "A span is chosen only if its sum is above 0. All logits may be negative: start with −∞.",
    '-float("inf"), None',
    "0.0, (1, 1)",
)
task.edit(
    "Spans of `longest` words are never tried: `range` stops before its end. From position 3 to "
    "position 5 there are three words.",
    "first + longest",
    "first + longest - 1",
)
task.edit(
    "The first position of padding counts as a word. Words are at the positions 1 to `n_words` − "
    "1.",
    "range(1, n_words)",
    "range(1, n_words + 1)",
    "min(first + longest, n_words)",
    "min(first + longest, n_words + 1, len(start))",
)
task.edit(
    "The last word is in no span. Words are at the positions 1 to `n_words` − 1, and `range` "
    "stops before its end.",
    "range(1, n_words)",
    "range(1, n_words - 1)",
    "min(first + longest, n_words)",
    "min(first + longest, n_words - 1)",
)
task.edit(
    "No span is found where all sums are below 0, and the result is None: start with −∞.",
    '-float("inf")',
    "0.0",
)


@task.mistake(
    "A span may end before it begins here, as long as it is short. The last word is at the first "
    "word's position or after it."
)
def either_way(start, end, n_words, longest):
    places = range(1, n_words)
    pairs = [(i, j) for i in places for j in places if abs(j - i) < longest]
    return max(pairs, key=lambda p: float(start[p[0]] + end[p[1]]))


task.edit(
    "The length of a span has no limit here. It may have at most `longest` words.",
    "min(first + longest, n_words)",
    "n_words",
)
task.edit(
    "A span must have at least two words here. Start and end may be the same position.",
    "range(first, min",
    "range(first + 1, min",
)
task.edit(
    "The two logits are multiplied. Logits are logarithms, up to a constant: multiplying "
    "probabilities means adding logits. (Two negative logits have a positive product.)",
    "start[first] + end[last]",
    "start[first] * end[last]",
)
task.mistake(
    "The second number is the position *after* the last word. Return the position of the last "
    "word.",
    lambda start, end, n_words, longest: (
        (span := by_list(start, end, n_words, longest))[0],
        span[1] + 1,
    ),
)
task.mistake(
    "The positions are counted from the first word, as if position 0 were cut off. The first word "
    "is at position 1.",
    lambda start, end, n_words, longest: tuple(
        place - 1 for place in by_list(start, end, n_words, longest)
    ),
)
task.mistake(
    "Start and end are exchanged: the second row of logits was used as the first.",
    lambda start, end, n_words, longest: best_span(end, start, n_words, longest),
)


@task.cases
def cases(seed):
    """The example; then cases in which each hurried choice leads astray."""
    generator = torch.Generator().manual_seed(seed)
    start = torch.tensor([9.0, 0.0, 1.8, 2.0, -1.0, 5.0], dtype=torch.float64)
    end = torch.tensor([9.0, 2.5, 2.2, 0.0, -1.0, 5.0], dtype=torch.float64)
    found = [Case((start, end, 5, 3), "the example of the statement", kind="ordinary cases")]
    for n_words, T, longest in ((7, 9, 2), (10, 13, 3), (6, 6, 4), (12, 14, 1), (9, 12, 8)):
        for _ in range(3 if longest > 1 else 1):
            rows = 2 * torch.randn(2, T, generator=generator, dtype=torch.float64)
            rows[:, 0] += 3
            rows[:, n_words:] += 4
            note = f"{n_words - 1} words and {T - n_words} pad tokens, at most {longest} words"
            found.append(Case((rows[0], rows[1], n_words, longest), note, kind="ordinary cases"))
    for n_words, T, longest in ((6, 8, 3), (8, 8, 2)):  # the best one ends with the last word
        rows = torch.randn(2, T, generator=generator, dtype=torch.float64)
        rows[1, n_words - 1] += 8
        rows[:, n_words:] += 4
        note = f"{n_words - 1} words and {T - n_words} pad tokens, at most {longest} words"
        found.append(Case((rows[0], rows[1], n_words, longest), note, kind="ordinary cases"))
    low = -3 - torch.rand(2, 8, generator=generator, dtype=torch.float64)
    low[:, 1] -= 1  # so that (1, 1), with which a search may begin, is not the best
    found.append(Case((low[0], low[1], 7, 3), "all logits are negative", kind="edge cases"))
    return found


@task.diagnostic
def legal(args, result):
    """Whether the span is one."""
    _, _, n_words, longest = args
    if len(result) != 2:
        return f"expected two numbers, but you returned {len(result)}."
    first, last = (int(x) for x in result)
    if last < first:
        return f"The span ends at {last}, before it begins at {first}."
    if not 1 <= first or not last < n_words:
        return f"From {first} to {last}: words are at the positions 1 to {n_words - 1}."
    if last - first + 1 > longest:
        return f"The span has {last - first + 1} words, but only {longest} are allowed."
    return None
