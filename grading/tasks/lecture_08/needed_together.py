"""Find the smallest set of heads that a skill cannot do without."""

import itertools
from itertools import combinations

from grading.author import Case, also_right, mistake, plan, task


# %% the cell
def needed_together(score, heads, limit):
    """The smallest list of heads without which the score is below the limit."""
    # BEGIN ANSWER
    for size in range(len(heads) + 1):
        sets = [list(off) for off in itertools.combinations(heads, size)]
        worst = min(sets, key=score)
        if score(worst) < limit:
            return worst
    # END ANSWER


# %%


@also_right
def by_sorting(score, heads, limit):
    """All sets, the best one by size and score."""
    sets = [off for size in range(len(heads) + 1) for off in combinations(heads, size)]
    return list(min((off for off in sets if score(off) < limit), key=lambda s: (len(s), score(s))))


@also_right
def as_set(score, heads, limit):
    """A set, found by counting in binary."""
    found = None
    for number in range(2 ** len(heads)):
        off = {head for i, head in enumerate(heads) if number >> i & 1}
        rank = len(off), score(off)
        if rank[1] < limit and (found is None or rank < found[0]):
            found = rank, off
    return found[1]


@mistake(
    "This is the head whose loss *alone* hurts most. Where several can stand in for each other, "
    "no head alone brings the score down."
)
def singly(score, heads, limit):
    return [min(heads, key=lambda head: score([head]))]


@mistake(
    "Each head was tried alone, and those that hurt were put together. Heads that stand in for "
    "each other do not hurt alone."
)
def all_that_hurt(score, heads, limit):
    below = [head for head in heads if score([head]) < limit]
    return below or [head for head in heads if score([head]) < score([]) - 1e-9]


@mistake(
    "In each round the head is added that hurts most *then*. A pair that hurts only together is "
    "overlooked, and the set becomes larger than needed."
)
def worst_first(score, heads, limit):
    off = []
    while score(off) >= limit:
        off.append(min((h for h in heads if h not in off), key=lambda head: score([*off, head])))
    return off


@mistake(
    "All heads were switched off, and put back one by one as long as the score stayed below. "
    "What is left cannot be made smaller, and yet another set may be."
)
def leaving_out(score, heads, limit):
    off = list(heads)
    for head in heads:
        rest = [h for h in off if h != head]
        if score(rest) < limit:
            off = rest
    return off


@mistake(
    "This is the set with the lowest score of all. Asked is the *smallest* set that brings it "
    "below the limit."
)
def lowest_of_all(score, heads, limit):
    sets = [off for size in range(len(heads) + 1) for off in combinations(heads, size)]
    return list(min(sets, key=score))


@mistake(
    "The number of heads is right. But of the sets of this size, the one with the lowest score "
    "is asked for, and not the first."
)
def first_found(score, heads, limit):
    for size in range(len(heads) + 1):
        for off in combinations(heads, size):
            if score(off) < limit:
                return list(off)


@mistake("A score that equals the limit is not below it.")
def limit_counts(score, heads, limit):
    for size in range(len(heads) + 1):
        worst = min((list(off) for off in combinations(heads, size)), key=score)
        if score(worst) <= limit:
            return worst


@mistake(
    "If the score is below the limit with all heads on, nothing needs to be switched off: the "
    "set of no heads is the smallest."
)
def never_none(score, heads, limit):
    for size in range(1, len(heads) + 1):
        worst = min((list(off) for off in combinations(heads, size)), key=score)
        if score(worst) < limit:
            return worst


@mistake("Sets of three heads and more have to be tried, too.")
def pairs_at_most(score, heads, limit):
    sets = [off for size in range(3) for off in combinations(heads, size)]
    return list(min(sets, key=lambda off: (score(off) >= limit, len(off), score(off))))


@mistake("Only heads that follow one another in the list were tried together.")
def neighbours(score, heads, limit):
    for size in range(len(heads) + 1):
        tried = [list(heads[i : i + size]) for i in range(len(heads) - size + 1)]
        worst = min(tried, key=score)
        if score(worst) < limit:
            return worst


@mistake("These are the heads that stay on. Return those that are switched off.")
def only_these(score, heads, limit):
    off = needed_together(score, heads, limit)
    return [head for head in heads if head not in off]


@mistake(
    "Only heads of the same layer were switched off together. They may be in different layers."
)
def one_layer(score, heads, limit):
    found = []
    for layer in sorted({head[0] for head in heads}):
        own = [head for head in heads if head[0] == layer]
        for size in range(len(own) + 1):
            found += [list(off) for off in combinations(own, size) if score(off) < limit]
    return min(found, key=lambda off: (len(off), score(off))) if found else list(heads)


def drive(answer, jobs, heads, limit):
    """A model whose jobs are done by any one of some heads; what the answer finds, in order."""
    names = [tuple(head) for head in heads]

    def score(off):
        gone = {tuple(head) for head in off}
        strange = sorted(gone - set(names))
        if strange:
            raise ValueError(f"there is no head {strange[0]}")
        lost = [loss for group, loss in jobs if {tuple(head) for head in group} <= gone]
        return round(1.0 - sum(lost), 9)

    found = answer(score, list(names), limit)
    return None if found is None else [head for head in names if head in {tuple(h) for h in found}]


def cases(seed):
    """A head alone; two that stand in for each other; traps for each short cut; then random."""
    import random

    rng = random.Random(seed)
    four = [(0, 0), (0, 1), (1, 0), (1, 1)]
    six = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    found = [
        Case(([([(0, 1)], 0.4), ([(1, 0)], 0.1)], four, 0.8), "one head is needed alone"),
        Case(([([(0, 0), (1, 1)], 0.5)], four, 0.8), "the example of the statement"),
        Case(([([(0, 1)], 0.15), ([(0, 0), (1, 2)], 0.45)], six, 0.6), "another head hurts more"),
        Case(
            (
                [([(0, 1), (1, 1)], 0.5)] + [([h], 0.16) for h in ((0, 2), (1, 0), (1, 2))],
                six,
                0.6,
            ),
            "two sets, of two heads and of three",
        ),
        Case(([([(0, 0), (0, 2)], 0.3), ([(0, 1), (1, 2)], 0.6)], six, 0.8), "two sets of two"),
        Case(([([(0, 0)], 0.2), ([(1, 0), (1, 1)], 0.5)], four, 0.8), "a score at the limit"),
        Case(([([(0, 1)], 0.3)], four, 1.5), "below the limit already"),
        Case(([([(0, 0), (0, 2), (1, 1)], 0.5), ([(1, 0)], 0.1)], six, 0.8), "three heads"),
        Case(([(four, 0.5)], four, 0.8), "all four heads"),
        Case(([([(0, 0), (0, 1), (1, 0), (1, 2)], 0.5)], six, 0.8), "four heads of six"),
    ]
    while len(found) < 13:
        groups = [rng.sample(six, rng.randint(1, 3)) for _ in range(4)]
        jobs = [(sorted(group), rng.randint(5, 40) / 100) for group in groups]
        case = Case((jobs, six, 0.545), "six heads, four jobs")
        scores = {}
        for size in range(7):
            for off in combinations(six, size):
                gone = sum(loss for group, loss in jobs if set(group) <= set(off))
                scores.setdefault(size, []).append(round(1 - gone, 9))
            if min(scores[size]) < 0.545:
                break
        else:
            continue
        lowest, *others = sorted(scores[size])
        if 2 <= size <= 4 and others[0] - lowest > 1e-6:  # no tie
            found.append(case)
    return found


def says_what(args, result):
    """What the set that came does to the score, and whether a smaller one does."""
    jobs, _, limit = args

    def score(off):
        return 1 - sum(loss for group, loss in jobs if set(group) <= set(map(tuple, off)))

    right = drive(needed_together, *args)
    if score(result) > limit - 1e-9:
        return (
            f"With {len(result)} heads off the score is {score(result):.2f}, which is not below "
            f"{limit:g}."
        )
    if len(result) > len(right):
        return f"{len(result)} heads are returned, and a set of {len(right)} does it, too."
    if len(result) == len(right) and score(result) > score(right) + 1e-9:
        return (
            f"The score is {score(result):.2f}, and another set of {len(right)} brings it to "
            f"{score(right):.2f}."
        )
    return None


TASK = task(
    plan("implement", points=10, difficulty=2, minutes=15),
    outcome="measure {term}`agreement`, find the heads that do it, and say what weights prove and "
    "what switching off proves",
    cases=cases,
    properties=(says_what,),
    drive=drive,
    hints=(
        "`itertools.combinations(heads, size)` gives all sets of one size.",
        "Go from small sets to large ones, and begin with the set of no heads at all.",
    ),
)
