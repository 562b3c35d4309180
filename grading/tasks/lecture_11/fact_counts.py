"""Facts kept, lost, strayed and invented, from three lists of words."""

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=5,
    minutes=8,
    two_at_once=True,
    outcome="count which facts of a text a summary keeps, loses and makes up",
    hints=(
        "Python's sets have the operators `a & b` (in both) and `a - b` (in a but not in b).",
        "Every word of the summary is either kept, strayed or invented.",
    ),
)

NAMES = ("mara", "zora", "ben", "ida", "noah", "cleo")
CITIES = ("oslo", "lima", "rome", "cairo", "quito")
DAYS = ("monday", "tuesday", "friday", "sunday")
DEEDS = ("sold", "bought", "opened", "closed")


# %% the cell
def fact_counts(said, right, told):
    """[kept, lost, strayed, invented] of three lists of fact words."""
    # BEGIN SOLUTION
    said, right, told = set(said), set(right), set(told)
    kept, lost = len(said & right), len(right - said)
    strayed = len(said & (told - right))
    invented = len(said - told)
    return [kept, lost, strayed, invented]
    # END SOLUTION


# %%


@task.alternative
def by_loop(said, right, told):
    """Word by word."""
    counts = [0, 0, 0, 0]
    for word in dict.fromkeys(said):
        if word in right:
            counts[0] += 1
        elif word in told:
            counts[2] += 1
        else:
            counts[3] += 1
    counts[1] = sum(word not in said for word in dict.fromkeys(right))
    return counts


@task.mistake("A fact that occurs twice in the summary was counted twice. It is still one fact.")
def with_repeats(said, right, told):
    return [
        sum(word in right for word in said),
        sum(word not in said for word in right),
        sum(word in told and word not in right for word in said),
        sum(word not in told for word in said),
    ]


@task.mistake(
    "A word that the summary repeats counts once among the kept, but each time among the strayed "
    "and invented. Count *different* words there too."
)
def repeats_of_others(said, right, told):
    return [*fact_counts(said, right, told)[:2], *with_repeats(said, right, told)[2:]]


task.edit(
    "Facts that were kept are also counted as strayed here. A fact of the news has not strayed.",
    "said & (told - right)",
    "said & told",
)
task.edit(
    "Words that are not in the text are counted as strayed. They are invented, and only that.",
    "said & (told - right)",
    "said - right",
)
task.edit(
    "Every word that is not a fact of the news was counted as invented. If the text contains it "
    "elsewhere, it has strayed; only a word that the text does not contain at all is invented.",
    "said - told",
    "said - right",
)
task.edit(
    "Lost facts were counted among all facts of the text. Only the facts of the news can be lost.",
    "len(right - said)",
    "len(told - said)",
)
task.edit(
    "The numbers of words were subtracted. A summary that says five wrong things has still lost "
    "five facts.",
    "len(right - said)",
    "max(0, len(right) - len(said))",
)
task.edit(
    "Here all other words of the text count as strayed, whether the summary says them or not. "
    "Count only those in the summary.",
    "len(said & (told - right))",
    "len(told - right)",
)
task.edit(
    "The third counts words of the text that the summary does *not* contain. Only a word that the "
    "summary contains can have strayed.",
    "len(said & (told - right))",
    "len(told - right - said)",
)
task.mistake(
    "Lost facts were found by subtracting from the length of a *list*, in which a fact may occur "
    "twice. Count different words.",
    lambda said, right, told: [
        *fact_counts(said, right, told)[:1],
        len(right) - fact_counts(said, right, told)[0],
        *fact_counts(said, right, told)[2:],
    ],
)
task.edit(
    "The second counts words of the summary that the news lacks. It should be the other way round.",
    "len(right - said)",
    "len(said - right)",
)
task.edit(
    "In the result, strayed and invented are swapped.",
    "return [kept, lost, strayed, invented]",
    "return [kept, lost, invented, strayed]",
)
task.edit(
    "In the result, kept and lost are swapped.",
    "return [kept, lost, strayed, invented]",
    "return [lost, kept, strayed, invented]",
)
task.edit(
    "All words of the text that the summary says count as kept here. A fact is kept if it is one "
    "of the news.",
    "len(said & right)",
    "len(said & told)",
)


@task.cases
def cases(seed):
    """One by hand with all four; then drawn, with repeats and other sizes."""
    import random

    draw = random.Random(seed)
    found = [
        Case(
            (
                ["mara", "sold", "lima", "friday", "mara", "zora"],
                ["mara", "sold", "oslo", "monday"],
                ["mara", "sold", "oslo", "monday", "ben", "bought", "lima", "friday"],
            ),
            "zora is invented, lima and friday have strayed",
            kind="ordinary cases",
        )
    ]
    for n in (3, 5, 4, 0):
        words = [*NAMES, *CITIES, *DAYS, *DEEDS]
        draw.shuffle(words)
        right, other, strange = words[:5], words[5:9], words[9:]
        said = draw.sample(right, min(n, 4)) + draw.sample(other, 2 if n else 0)
        said += draw.sample(strange, 3 if n else 0)
        said += [said[0], said[-4], said[-1]] if n else []  # one of each kind again
        draw.shuffle(said)
        told = right + other
        if n in (5, 4):  # facts of the news that are told twice: one that is lost, and one kept
            twice = [next(w for w in right if w not in said), next(w for w in right if w in said)]
            right, told = right + twice, told + twice
        draw.shuffle(told)
        note = f"{len(said)} words with repeats" if n else "a summary without facts"
        note += ", facts of the news that are told twice" if n in (5, 4) else ""
        found.append(Case((said, right, told), note, kind="ordinary cases"))
    return found


@task.diagnostic
def twice_lost(args, result):
    """Whether a fact of the news that is lost counts as often as it is told."""
    said, right, _ = args
    repeated = sum(word not in said for word in right)
    if len(result) == 4 and result[1] == repeated > len(set(right) - set(said)):
        return "A lost fact that the news tells twice counts twice. Count *different* words."
    return None
