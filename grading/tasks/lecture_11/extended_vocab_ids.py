"""Ids for words that are in no list: behind the list, in the order of the text."""

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=5,
    minutes=10,
    outcome="add {term}`copying` to an encoder-decoder in a few lines, so that it can write words "
    "that its vocabulary does not hold",
    hints=(
        "Keep a second dictionary, for the unknown words of this text.",
        "How many unknown words have you met so far? That many ids after the vocabulary are taken.",
    ),
)


# %% the cell
def extended_vocab_ids(words, ids):
    """The id of each word; the unknown ones get len(ids), len(ids) + 1, …"""
    # BEGIN SOLUTION
    unknown = {}
    found = []
    for word in words:
        if word in ids:
            found.append(ids[word])
        else:
            new = len(ids) + len(unknown)
            found.append(unknown.setdefault(word, new))
    return found
    # END SOLUTION


# %%


@task.alternative
def in_two_steps(words, ids):
    """The unknown words first."""
    strange = list(dict.fromkeys(word for word in words if word not in ids))
    return [ids[word] if word in ids else len(ids) + strange.index(word) for word in words]


@task.mistake("An unknown word that occurs twice got two ids. It is one word, so it needs one id.")
def each_time_anew(words, ids):
    found, n = [], len(ids)
    for word in words:
        found.append(ids.get(word, n))
        n += word not in ids
    return found


@task.mistake(
    "All unknown words have the same id, as with a closed vocabulary. Then nobody can say which "
    "of them was copied."
)
def all_the_same(words, ids):
    return [ids.get(word, len(ids)) for word in words]


task.edit(
    "The first unknown word got len(ids) + 1. The ids of the vocabulary go from 0 to len(ids) - 1.",
    "len(ids) + len(unknown)",
    "len(ids) + len(unknown) + 1",
)
task.edit(
    "The unknown words are counted from 0, as if there were no vocabulary. These ids belong to "
    "words of the vocabulary.",
    "len(ids) + len(unknown)",
    "len(unknown)",
)


@task.mistake("The unknown words were numbered in alphabetical order. Number them as they occur.")
def by_alphabet(words, ids):
    strange = sorted({word for word in words if word not in ids})
    return [ids[word] if word in ids else len(ids) + strange.index(word) for word in words]


@task.mistake(
    "The next id increased with *each* unknown word, even if it had occurred before. Count "
    "different words."
)
def grows_each_time(words, ids):
    unknown, found, n = {}, [], len(ids)
    for word in words:
        if word in ids:
            found.append(ids[word])
        else:
            found.append(unknown.setdefault(word, n))
            n += 1
    return found


task.edit(
    "The first unknown word got the last id of the vocabulary, which belongs to another word. The "
    "first free id is len(ids).",
    "len(ids) + len(unknown)",
    "max(ids.values(), default=0) + len(unknown)",
)


@task.mistake(
    "The word with the id 0 is treated as unknown: `or`, and `if` with a number, treat 0 as "
    "missing. Test `word in ids`."
)
def zero_is_missing(words, ids):
    unknown = {}
    return [ids.get(word) or unknown.setdefault(word, len(ids) + len(unknown)) for word in words]


@task.mistake("An unknown word got the number of its position. Count the unknown words only.")
def by_place(words, ids):
    return [ids.get(word, len(ids) + words.index(word)) for word in words]


@task.mistake(
    "The unknown words were added to `ids` itself. Then they are known in the next text, which "
    "should start again."
)
def list_grows(words, ids):
    return [ids.setdefault(word, len(ids)) for word in words]


@task.mistake("The unknown words were left out. Each word of the text needs an id.")
def left_out(words, ids):
    return [ids[word] for word in words if word in ids]


@task.cases
def cases(seed):
    """By hand, with a name twice; then drawn texts."""
    import random

    draw = random.Random(seed)
    small = {"a": 0, "met": 1, "mara": 2}
    found = [
        Case(
            ("zora met mara and zora met ben".split(), small),
            "zora occurs twice",
            kind="ordinary cases",
        )
    ]
    pool = "zora ben ada ship sold in oslo the old mill".split()
    found.append(
        Case(
            ("a ship met a mara".split(), small), "the word with the id 0 again", kind="edge cases"
        )
    )
    for n, known in ((8, 4), (12, 6), (6, 0), (7, 10)):
        draw.shuffle(pool)
        words = draw.choices(pool, k=n)
        found.append(
            Case((words, {word: i for i, word in enumerate(pool[:known])}), kind="ordinary cases")
        )
    return found
