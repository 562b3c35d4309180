"""A split without leaks: a + b and b + a are one question."""

import torch

from grading.author import Case, TaskFile
from grading.feedback import messages

task = TaskFile(
    "implement",
    points=7,
    minutes=35,
    two_at_once=True,
    outcome="set data aside so that a test tests",
    hints=(
        "`torch.combinations(torch.arange(size), with_replacement=True)` holds each question once.",
        "`torch.randperm(n, generator=generator)` gives a random order. Split it in three, and "
        "only then add each question with its numbers exchanged.",
    ),
)


# %% the cell
def split_pairs(size, n_validation, n_test, generator):
    """Three tensors of pairs (·, 2), all from 0 to size − 1: training, validation, test."""
    # BEGIN SOLUTION
    questions = torch.combinations(torch.arange(size), with_replacement=True)  # a <= b
    order = torch.randperm(len(questions), generator=generator)
    questions = questions[order]  # (size · (size + 1) / 2, 2)
    n_train = len(questions) - n_validation - n_test
    parts = []
    for part in questions.split([n_train, n_validation, n_test]):
        turned = part[part[:, 0] != part[:, 1]].flip(1)  # b + a
        parts.append(torch.cat([part, turned]))
    return tuple(parts)
    # END SOLUTION


# %%


@task.alternative
def by_labels(size, n_validation, n_test, generator):
    """A table of labels, the same on both sides of its diagonal."""
    rows, columns = torch.triu_indices(size, size)
    label = torch.zeros(len(rows), dtype=torch.long)
    order = torch.randperm(len(rows), generator=generator)
    label[order[:n_validation]], label[order[n_validation:][:n_test]] = 1, 2
    table = torch.zeros(size, size, dtype=torch.long)
    table[rows, columns] = table[columns, rows] = label
    return [(table == part).nonzero() for part in range(3)]


@task.mistake(
    "Pairs were sampled one by one, so 3 + 5 can be in the training data and 5 + 3 in the test: "
    "the model may have memorized the answer. Sample *questions*, and put both orders into one "
    "part."
)
def leaks(size, n_validation, n_test, generator):
    pairs = torch.cartesian_prod(torch.arange(size), torch.arange(size))
    pairs = pairs[torch.randperm(len(pairs), generator=generator)]
    n_validation, n_test = 2 * n_validation, 2 * n_test
    return pairs[n_validation + n_test :], pairs[:n_validation], pairs[n_validation:][:n_test]


task.edit(
    "Each question is in one order only, the smaller number first. Then the model never sees a "
    "sum such as 9 + 2.",
    "parts.append(torch.cat([part, turned]))",
    "parts.append(part)",
)
task.edit(
    "7 + 7 with its numbers exchanged is 7 + 7 again, so such pairs occur twice.",
    "part[part[:, 0] != part[:, 1]].flip(1)",
    "part.flip(1)",
)
task.edit(
    "Pairs of equal numbers, such as 7 + 7, are missing.",
    "with_replacement=True",
    "with_replacement=False",
)
task.edit(
    "There is no random order, so one part has small numbers and another has large ones.",
    "questions = questions[order]",
    "questions = questions + 0 * order[:, None]",
)
task.edit(
    "Something other than `generator` was used for sampling. Then the split is different each "
    "time, and the test cannot be repeated.",
    "generator=generator",
    "generator=None",
)
task.edit(
    "The generator is seeded inside the function, so every split is the same, whichever generator "
    "is passed.",
    "generator=generator",
    "generator=torch.Generator().manual_seed(0)",
)


@task.mistake(
    "Only questions of two different numbers were sampled, so 7 + 7 and its like are always in the "
    "training data. Sample from all questions."
)
def unequal_only(size, n_validation, n_test, generator):
    pairs = torch.combinations(torch.arange(size))
    pairs = pairs[torch.randperm(len(pairs), generator=generator)]
    n_train = len(pairs) - n_validation - n_test
    train, *others = (
        torch.cat([part, part.flip(1)]) for part in pairs.split([n_train, n_validation, n_test])
    )
    return torch.cat([train, torch.arange(size)[:, None].repeat(1, 2)]), *others


@task.mistake("Validation and test questions were left in the training data.")
def left_in(size, n_validation, n_test, generator):
    _, validation, test = split_pairs(size, n_validation, n_test, generator)
    return torch.cartesian_prod(torch.arange(size), torch.arange(size)), validation, test


@task.mistake("Validation and test share their questions.")
def same_twice(size, n_validation, n_test, generator):
    train, _, test = split_pairs(size, 0, max(n_validation, n_test), generator)
    questions = test[test[:, 0] <= test[:, 1]]
    both = []
    for count in (n_validation, n_test):
        part = questions[:count]
        both.append(torch.cat([part, part[part[:, 0] != part[:, 1]].flip(1)]))
    return train, *both


@task.mistake(
    "`n_validation` and `n_test` are numbers of questions. Here they are used as numbers of pairs."
)
def counted_pairs(size, n_validation, n_test, generator):
    return split_pairs(size, n_validation // 2, n_test // 2, generator)


@task.mistake("The parts are in the wrong order: training, validation, test.")
def other_order(size, n_validation, n_test, generator):
    train, validation, test = split_pairs(size, n_validation, n_test, generator)
    return train, test, validation


def _both_orders(questions):
    return torch.cat([questions, questions[questions[:, 0] != questions[:, 1]].flip(1)])


@task.mistake(
    "The parts were cut from the end, and `[-0:]` is everything: without questions for the test, "
    "the test has them all. Cut from the start, or use `split`."
)
def cut_at_the_end(size, n_validation, n_test, generator):
    pairs = torch.combinations(torch.arange(size), with_replacement=True)
    pairs = pairs[torch.randperm(len(pairs), generator=generator)]
    held = n_validation + n_test
    parts = pairs[:-held], pairs[-held : len(pairs) - n_test], pairs[-n_test:]
    return tuple(map(_both_orders, parts))


@task.mistake("Only training has both orders. Each part has them: 3 + 5 and 5 + 3.")
def others_in_one_order(size, n_validation, n_test, generator):
    train, *others = split_pairs(size, n_validation, n_test, generator)
    return train, *(part[part[:, 0] <= part[:, 1]] for part in others)


task.edit(
    "The numbers go from 1 to `size`. They go from 0 to `size` − 1.",
    "torch.arange(size)",
    "torch.arange(1, size + 1)",
)


@task.mistake(
    "Training has each question in one order only, the smaller number first. Then the model never "
    "learns from a sum such as 9 + 2."
)
def training_in_one_order(size, n_validation, n_test, generator):
    train, *others = split_pairs(size, n_validation, n_test, generator)
    return train[train[:, 0] <= train[:, 1]], *others


@task.harness
def harness(answer, size, n_validation, n_test, seed):
    """Facts about the split, and about those of the same and of another seed."""
    import torch

    def split(seed):
        found = answer(size, n_validation, n_test, torch.Generator().manual_seed(seed))
        if found is None:
            raise NotImplementedError
        if len(found) != 3:
            raise ValueError(f"expected three parts, not {len(found)}")
        sets = []
        for part in found:
            if not isinstance(part, torch.Tensor) or part.dim() != 2 or part.shape[1] != 2:
                raise ValueError("each part is a tensor of pairs, of shape (n, 2)")
            sets.append({tuple(pair) for pair in part.tolist()})
        return found, sets

    parts, (train, validation, test) = split(seed)
    _, again = split(seed)
    _, other = split(seed + 1)
    every = train | validation | test

    def questions(part):
        return {tuple(sorted(pair)) for pair in part}

    leaked = [
        len(questions(one) & questions(another))
        for one, another in ((train, validation), (train, test), (validation, test))
    ]
    several = [split(seed + i)[1] for i in range(8)]  # one order alone may be an odd one
    large = [sum(map(sum, part)) / max(1, len(part)) for sets in several for part in sets[::2]]
    apart = sum(large[::2]) - sum(large[1::2]) if test else 0
    numbers = [number for pair in every for number in pair]
    return {
        "pairs in all": sum(map(len, parts)),
        "smallest and largest number": [min(numbers, default=0), max(numbers, default=0)],
        "questions in validation and test": [len(questions(part)) for part in (validation, test)],
        "pairs that occur twice": sum(map(len, parts)) - sum(map(len, (train, validation, test))),
        "different pairs": len(every),
        "questions shared by two parts": leaked,
        "pairs without b + a in the same part": sum(
            (b, a) not in part for part in (train, validation, test) for a, b in part
        ),
        "equal generators give equal parts": again == [train, validation, test],
        "another generator gives other parts": other != [train, validation, test],
        "large and small numbers in both": abs(apart) / len(several) < 0.4 * size,
        "of eight splits, some set aside a question such as 7 + 7": any(
            a == b for sets in several for part in sets[1:] for a, b in part
        ),
    }


NUMBERS = "smallest and largest number"


@task.diagnostic
def first_fact(args, result):
    """The first fact that is not as it should be, in words."""
    right = harness(split_pairs, *args)
    shared = sum(result["questions shared by two parts"])
    if shared and result["pairs in all"] == result["different pairs"]:  # so in different orders
        return (
            f"For {shared} questions, a + b is in one part and b + a in another, so a test may ask "
            "what was in training. Split *questions*, and then add both orders to the same part."
        )
    for fact, want in right.items():
        came = result[fact]
        if came != want and fact not in ("pairs in all", NUMBERS):
            return messages.fact(fact, came, want)
    if result[NUMBERS] != right[NUMBERS]:
        return messages.fact(NUMBERS, result[NUMBERS], right[NUMBERS])
    return None


@task.cases
def cases(seed):
    """A small table, and larger ones."""
    found = []
    sizes = (12, 10, 16), (20, 40, 30), (31, 50, 80), (9, 0, 12), (9, 12, 0)
    for size, n_validation, n_test in sizes:
        shift = (7 * seed + 3 * size) % 5
        n_validation += shift if n_validation else 0
        n_test += 2 * shift if n_test else 0
        args = size + shift, n_validation, n_test, 10 * seed + size
        note = f"numbers below {args[0]}, {args[1]} and {args[2]} questions set aside"
        found.append(Case(args, note, kind="ordinary cases"))
    return found
