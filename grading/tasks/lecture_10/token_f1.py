"""Find the bugs: F1 of two answers."""

import random
from collections import Counter

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=7,
    minutes=10,
    two_at_once=True,
    redraw=True,
    outcome="compute {term}`exact match` and F1 by hand, with articles and repeated words",
    hints=(
        'How many words can two answers share at most? Try `["key", "key"]` and `["key"]`.',
        "An answer without any word says that there is no answer. When is that right?",
    ),
)


# %% the cell
def token_f1(answer, wanted):
    """F1 of two lists of words."""
    articles = {"a", "an", "the"}
    ours = [word.lower() for word in answer if word.lower() not in articles]
    #| theirs = [word.lower() for word in wanted]
    #| shared = sum(word in theirs for word in ours)
    #| return 2 * shared / (len(ours) + len(theirs))
    # BEGIN SOLUTION
    theirs = [word.lower() for word in wanted if word.lower() not in articles]
    if not ours or not theirs:
        return float(ours == theirs)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * shared / (len(ours) + len(theirs))
    # END SOLUTION


# %%


@task.alternative
def by_removal(answer, wanted):
    """Each word that is found is used up."""
    keep = [
        [w.lower() for w in words if w.lower() not in ("a", "an", "the")]
        for words in (answer, wanted)
    ]
    ours, rest = keep[0], list(keep[1])
    if not ours and not rest:
        return 1.0
    shared = 0
    for word in ours:
        if word in rest:
            rest.remove(word)
            shared += 1
    if shared == 0:
        return 0.0
    precision, recall = shared / len(ours), shared / len(keep[1])
    return 2 * precision * recall / (precision + recall)


task.as_given(
    "This does the same as the given code. Try *the red key* for *the red key*, *key key* for "
    "*key*; and with two empty lists."
)
task.edit(
    "Articles still count in the right answer.",
    "theirs = [word.lower() for word in wanted if word.lower() not in articles]",
    "theirs = [word.lower() for word in wanted]",
)
task.edit(
    "A word that occurs twice in the answer counts twice, although the right answer has it once.",
    "sum((Counter(ours) & Counter(theirs)).values())",
    "sum(word in theirs for word in ours)",
)
task.edit(
    "A word that occurs twice in both counts only once. Words are counted as multisets, not as "
    "sets.",
    "sum((Counter(ours) & Counter(theirs)).values())",
    "len(set(ours) & set(theirs))",
)
task.edit(
    "Two empty answers agree: both say that there is no answer. That is 1.",
    "return float(ours == theirs)",
    "return 0.0",
)
task.edit(
    "Only *both* empty is agreement. If one is empty and the other is not, it is 0.",
    "return float(ours == theirs)",
    "return 1.0",
)
task.edit(
    "This is precision: shared words divided by the words of the answer. F1 is the harmonic mean "
    "of precision and recall.",
    "2 * shared / (len(ours) + len(theirs))",
    "shared / len(ours)",
)
task.edit(
    "This is recall: shared words divided by the words of the right answer. F1 is the harmonic "
    "mean of precision and recall.",
    "2 * shared / (len(ours) + len(theirs))",
    "shared / len(theirs)",
)
task.edit(
    "This is the plain mean of precision and recall. F1 is the harmonic one.",
    "2 * shared / (len(ours) + len(theirs))",
    "(shared / len(ours) + shared / len(theirs)) / 2",
)
task.edit(
    "In the right answer *The* is kept. Convert its words to lower case before you compare them "
    "with the articles.",
    "theirs = [word.lower() for word in wanted if word.lower() not in articles]",
    "theirs = [word.lower() for word in wanted if word not in articles]",
)


ARTICLES = ("a", "an", "the")


def _f1(ours, theirs):
    if not ours or not theirs:
        return float(ours == theirs)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * shared / (len(ours) + len(theirs))


def _left(words):
    return [word.lower() for word in words if word.lower() not in ARTICLES]


@task.mistake(
    "Case matters here when articles are removed, but *The* is an article, too. Convert words to "
    "lower case before you compare them with the articles."
)
def capital_articles(answer, wanted):
    return _f1(*([w.lower() for w in words if w not in ARTICLES] for words in (answer, wanted)))


@task.mistake("Case matters here, but *Key* and *key* are the same word.")
def capitals_matter(answer, wanted):
    return _f1(*([w for w in words if w.lower() not in ARTICLES] for words in (answer, wanted)))


@task.mistake(
    "You check for an empty side before the articles are removed. An answer that is only an "
    "article has no word left."
)
def empty_too_early(answer, wanted):
    if not answer or not wanted:
        return float(answer == wanted)
    return _f1(_left(answer), _left(wanted))


@task.mistake(
    "Words were removed from a list while a loop ran over it, so of two articles in a row the "
    "second one is skipped. Make a new list."
)
def removed_in_the_loop(answer, wanted):
    kept = [[word.lower() for word in words] for words in (answer, wanted)]
    for words in kept:
        for word in words:
            if word in ARTICLES:
                words.remove(word)
    return _f1(*kept)


@task.mistake(
    "The words of both sides were turned into sets, so the lengths are counted without repeats "
    "as well. Words are counted as multisets."
)
def sets_throughout(answer, wanted):
    return _f1(sorted(set(_left(answer))), sorted(set(_left(wanted))))


task.mistake(
    "The words of the answer were turned into a set: a word that occurs twice counts as two words "
    "for precision.",
    lambda answer, wanted: _f1(sorted(set(_left(answer))), _left(wanted)),
)


task.edit(
    "A word that is there several times is counted again at each of its places. Go through the "
    "*different* words.",
    "shared = sum((Counter(ours) & Counter(theirs)).values())",
    "shared = sum(min(ours.count(word), theirs.count(word)) for word in ours)",
)


@task.cases
def cases(seed):
    """Worked examples, then words drawn at random, some of them twice."""
    chance = random.Random(seed)
    found = [
        Case(
            (["the", "red", "key"], ["a", "red", "key", "key"]),
            "an article on each side",
            kind="ordinary cases",
        ),
        Case(
            (["key", "key", "map"], ["The", "key"]),
            "a word twice in the answer, once in the right answer",
            kind="edge cases",
        ),
        Case(
            (["Red", "red", "key"], ["red", "red", "map", "lamp"]),
            "a word twice on both sides",
            kind="edge cases",
        ),
        Case(([], ["lima"]), "an empty answer", kind="edge cases"),
        Case((["lima"], []), "an empty right answer", kind="edge cases"),
        Case(([], []), "both answers empty", kind="edge cases"),
        Case((["the"], []), "only an article in the answer", kind="ordinary cases"),
    ]
    found.append(
        Case(
            (["the", "an", "key"], ["An", "The", "a", "red", "key"]),
            "two articles in a row",
            kind="ordinary cases",
        )
    )
    words = ["red", "Key", "key", "map", "the", "A", "lamp"]
    for n, m in ((4, 3), (5, 6), (3, 7), (6, 4)):
        found.append(
            Case(
                (["key", *chance.choices(words, k=n)], ["Key", *chance.choices(words, k=m)]),
                kind="ordinary cases",
            )
        )
    return found


@task.diagnostic
def share(args, result):
    """F1 lies between 0 and 1."""
    if not 0 <= float(result) <= 1 + 1e-9:
        return f"F1 is {float(result):.3f}, but it is always between 0 and 1."
    return None
