"""ROUGE-L: the longest run of words in the same order, gaps allowed."""

import random

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=9,
    minutes=20,
    redraw=True,
    outcome="compute {term}`ROUGE` by hand and with a library, and say what it cannot see",
    hints=(
        "Let L[i][j] be the length of the longest common subsequence of the first i words of the "
        "summary and the first j of the reference. How does L[i + 1][j + 1] follow from its "
        "neighbours?",
        "If the two new words are equal, the subsequence of both shorter beginnings grows by one. "
        "If not, leave one of the two words out.",
    ),
)


# %% the cell
def rouge_l(summary, reference):
    """F1 of two lists of words, by their longest common subsequence."""
    # BEGIN SOLUTION
    longest = [[0] * (len(reference) + 1) for _ in range(len(summary) + 1)]
    for i, word in enumerate(summary):
        for j, other in enumerate(reference):
            if word == other:
                longest[i + 1][j + 1] = longest[i][j] + 1
            else:
                longest[i + 1][j + 1] = max(longest[i][j + 1], longest[i + 1][j])
    n = longest[-1][-1]
    if n == 0:
        return 0.0
    precision, recall = n / len(summary), n / len(reference)
    return 2 * precision * recall / (precision + recall)
    # END SOLUTION


# %%


def _run(a, b):
    row = [0] * (len(b) + 1)
    for word in a:
        before = row[:]
        for j, other in enumerate(b):
            row[j + 1] = before[j] + 1 if word == other else max(before[j + 1], row[j])
    return row[-1]


def _f1(n, summary, reference):
    return 2 * n / (len(summary) + len(reference)) if n else 0.0


@task.alternative
def in_one_line(summary, reference):
    """F1 is twice the run by both lengths together."""
    return _f1(_run(summary, reference), summary, reference)


@task.alternative
def recursive(summary, reference):
    """By recursion, each pair of places once."""
    from functools import cache

    @cache
    def run(i, j):
        if i == len(summary) or j == len(reference):
            return 0
        if summary[i] == reference[j]:
            return 1 + run(i + 1, j + 1)
        return max(run(i + 1, j), run(i, j + 1))

    return _f1(run(0, 0), summary, reference)


@task.mistake(
    "Gaps are allowed: the words of the subsequence need not be neighbours. You compare neighbours."
)
def neighbours(summary, reference):
    best = 0
    for i in range(len(summary)):
        for j in range(len(reference)):
            n = 0
            while summary[i + n : i + n + 1] == reference[j + n : j + n + 1] != []:
                n += 1
            best = max(best, n)
    return _f1(best, summary, reference)


@task.mistake("The order does not count here: this is ROUGE-1.")
def any_order(summary, reference):
    n = sum(min(summary.count(word), reference.count(word)) for word in set(summary))
    return _f1(n, summary, reference)


@task.mistake("This is the recall, the fraction of the reference. F1 uses precision and recall.")
def recall_only(summary, reference):
    return _run(summary, reference) / len(reference)


@task.mistake("This is the precision, the fraction of the summary. F1 uses precision and recall.")
def precision_only(summary, reference):
    return _run(summary, reference) / len(summary) if summary else 0.0


@task.mistake("This is the plain mean of precision and recall. F1 is 2 · p · r / (p + r).")
def plain_mean(summary, reference):
    n = _run(summary, reference)
    return (n / len(summary) + n / len(reference)) / 2 if n else 0.0


@task.mistake(
    "This is the length of the subsequence, not a score. Compute precision, recall and F1 from it."
)
def length_only(summary, reference):
    return float(_run(summary, reference))


@task.mistake(
    "You looked for each word after the last match, and took the first match. But one match may "
    "block several others: leaving it out may give a longer subsequence."
)
def greedy(summary, reference):
    n = at = 0
    for word in summary:
        if word in reference[at:]:
            at = reference.index(word, at) + 1
            n += 1
    return _f1(n, summary, reference)


@task.mistake(
    "One word of the summary was matched with several words of the reference, because the entry up "
    "and left had been overwritten. Keep the row before. (In `[[0] * m] * n`, all rows are one "
    "list.)"
)
def reused(summary, reference):
    row = [0] * (len(reference) + 1)
    for word in summary:
        for j, other in enumerate(reference):
            row[j + 1] = row[j] + 1 if word == other else max(row[j + 1], row[j])
    return _f1(row[-1], summary, reference)


@task.mistake(
    "Where two words are equal, the length grew from a neighbour in the table. It must grow from "
    "the entry up and left, where *both* words are left out, or one of the two words is used "
    "twice."
)
def from_a_neighbour(summary, reference):
    table = [[0] * (len(reference) + 1) for _ in range(len(summary) + 1)]
    for i, word in enumerate(summary):
        for j, other in enumerate(reference):
            table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j]) + (word == other)
    return _f1(table[-1][-1], summary, reference)


@task.mistake(
    "A word at one end is never compared: the table begins or stops one entry too early. It has "
    "one row and one column more than there are words."
)
def first_words_missing(summary, reference):
    return _f1(_run(summary[1:], reference[1:]), summary, reference)


@task.mistake("The factor 2 is missing: F1 is 2 · p · r / (p + r).")
def half(summary, reference):
    return rouge_l(summary, reference) / 2


@task.mistake(
    "`difflib` looks for the longest block of *neighbours* first, and then on both sides of it. "
    "That need not be the longest common subsequence."
)
def by_difflib(summary, reference):
    import difflib

    return difflib.SequenceMatcher(None, summary, reference, autojunk=False).ratio()


task.edit(
    "Where two words are equal, the length grew from the entry above, where the same word of the "
    "reference may be used already. It must grow from the entry up and left.",
    "longest[i][j] + 1",
    "longest[i][j + 1] + 1",
)
task.edit(
    "This is F with β = 1.2, as some libraries compute it, where recall counts more. Here it is "
    "F1: 2 · p · r / (p + r).",
    "2 * precision * recall / (precision + recall)",
    "2.44 * precision * recall / (recall + 1.44 * precision)",
)
task.edit(
    "This is the geometric mean of precision and recall. F1 is the harmonic one: "
    "2 · p · r / (p + r).",
    "2 * precision * recall / (precision + recall)",
    "(precision * recall) ** 0.5",
)


task.edit(
    "Where no word is shared, precision and recall are both 0, and F1 is 0 / 0. Return 0 there.",
    "if n == 0:",
    "if not summary:",
)


@task.cases
def cases(seed):
    """One by hand; then words drawn with repeats, and nothing in common."""
    draw = random.Random(seed)
    found = [
        Case(
            (
                "on monday mara sold in oslo a ship".split(),
                "mara sold a ship in oslo on monday".split(),
            ),
            "the run is: mara sold in oslo",
            kind="ordinary cases",
        ),
        Case(
            ("ida on monday sold a ship".split(), "ida sold a ship on monday".split()),
            kind="ordinary cases",
        ),
    ]
    words = "mara sold a ship in oslo on".split()
    for n, m in ((5, 8), (9, 6), (12, 12), (7, 10)):
        found.append(
            Case((draw.choices(words, k=n), draw.choices(words, k=m)), kind="ordinary cases")
        )
    found.append(Case((["ben"], ["ida", "sold"]), "nothing in common", kind="ordinary cases"))
    found.append(Case(([], ["ida", "sold"]), "an empty summary", kind="edge cases"))
    return found
