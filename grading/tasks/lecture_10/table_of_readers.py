"""The lecture's table of readers, from the rows of its search and of its runs."""

import random
from itertools import pairwise
from statistics import fmean, median

from grading.author import Case, TaskFile, functions_of

task = TaskFile(
    "implement",
    points=10,
    minutes=18,
    section="What the flag does",
    outcome='say what a flag "occurs in the question" does for a reader, from an experiment with '
    "controls",
    forbidden=functions_of("helpers.results.comparison"),
    hints=(
        "For one model, make a dictionary from each rate to the list of its validation results, "
        "and then to their mean.",
        "Sort the rates that count as equal. Which position do you need in a list of one, two, "
        "three and four?",
        "What does a `None` do to a mean? And what would it mean to leave it out of the list?",
    ),
)


# %% the cell
def table_of_readers(search, runs, equal):
    """A list of (model, rate, mean test result), the best first."""
    # BEGIN SOLUTION
    table = []
    for name in {row["model"] for row in runs}:
        tried = {}
        for row in search:
            if row["model"] == name:
                tried.setdefault(row["lr"], []).append(row["validation"])
        means = {rate: fmean(tried[rate]) for rate in sorted(tried) if None not in tried[rate]}
        good = [rate for rate in means if means[rate] >= max(means.values()) - equal]
        rate = good[(len(good) - 1) // 2]
        at_rate = [row["test"] for row in runs if (row["model"], row["lr"]) == (name, rate)]
        table.append((name, rate, fmean(at_rate)))
    return sorted(table, key=lambda line: -line[2])
    # END SOLUTION


# %%


@task.alternative
def by_arrays(search, runs, equal):
    """Means of arrays, in which a rate that failed is NaN."""
    import numpy as np

    found = []
    for name in dict.fromkeys(row["model"] for row in search):
        own = [row for row in search if row["model"] == name]
        rates = np.unique([row["lr"] for row in own])
        means = np.array(
            [
                np.mean(
                    [
                        np.nan if (v := r["validation"]) is None else v
                        for r in own
                        if r["lr"] == rate
                    ]
                )
                for rate in rates
            ]
        )
        good = np.flatnonzero(means >= np.nanmax(means) - equal)
        rate = rates[good[(len(good) - 1) // 2]]
        tests = [row["test"] for row in runs if row["model"] == name and row["lr"] == rate]
        found.append([name, rate, np.mean(tests)])
    return sorted(found, key=lambda line: line[2], reverse=True)


@task.alternative
def by_two_dictionaries(search, runs, equal):
    """The rows are sorted into dictionaries first."""
    from collections import defaultdict

    tried, tested = defaultdict(list), defaultdict(list)
    for row in search:
        tried[row["model"], row["lr"]].append(row["validation"])
    for row in runs:
        tested[row["model"], row["lr"]].append(row["test"])
    means = {at: sum(v) / len(v) for at, v in tried.items() if all(x is not None for x in v)}
    table = []
    for name in {name for name, _ in tested}:
        best = max(mean for (other, _), mean in means.items() if other == name)
        good = sorted(lr for (other, lr), m in means.items() if other == name and m >= best - equal)
        rate = good[len(good) // 2] if len(good) % 2 else good[len(good) // 2 - 1]
        table.append((sum(tested[name, rate]) / len(tested[name, rate]), name, rate))
    return [(name, rate, mean) for mean, name, rate in sorted(table, reverse=True)]


def _table(search, runs, equal, choose=None, report=fmean, on="validation", none=None):
    """The table, with another way to choose a rate, to report, or to read what failed."""
    table = []
    for name in dict.fromkeys(row["model"] for row in runs):
        tried = {}
        for row in search if on == "validation" else runs:
            if row["model"] == name:
                tried.setdefault(row["lr"], []).append(row[on])
        means = {rate: _mean(tried[rate], none) for rate in sorted(tried)}
        means = {rate: mean for rate, mean in means.items() if mean is not None}
        good = [rate for rate in means if means[rate] >= max(means.values()) - equal]
        rate = good[(len(good) - 1) // 2] if choose is None else choose(means)
        own = [row["test"] for row in runs if row["model"] == name and row["lr"] == rate]
        table.append((name, rate, report(own)))
    return sorted(table, key=lambda line: -line[2])


def _mean(values, none):
    """The mean; `none` says what is done with a training that failed."""
    if none == "left out":
        values = [v for v in values if v is not None]
    elif none == "as 0":
        values = [v or 0.0 for v in values]
    return fmean(values) if values and None not in values else None


def _likeliest(means):
    return max(means, key=means.get)


task.mistake(
    "Rates were chosen by the *test* score: chosen and reported on the same questions, a result is "
    "too good by luck. Choose by `validation`, with the rows of `search`.",
    lambda search, runs, equal: _table(search, runs, equal, _likeliest, on="test"),
)


@task.mistake(
    "All models share one rate here. It suits some of them better than others, so the table "
    "compares rates as much as models. Each model has its own rate."
)
def one_rate(search, runs, equal):
    everybody = [{**row, "model": "all"} for row in search]
    [(_, rate, _)] = _table(everybody, [{**row, "model": "all"} for row in runs], equal)
    return _table(search, runs, equal, lambda means: rate)


task.mistake(
    "The single best rate is used. A rate within `equal` of it may be worse only by chance, so "
    "all of these count as equal, and the task asks for the middle one.",
    lambda search, runs, equal: _table(search, runs, equal, _likeliest),
)


@task.mistake(
    "Rates are compared by the best of their validation results, which reports luck. Compare their "
    "means."
)
def best_runs(search, runs, equal):
    best = {}
    for row in search:
        at, value = (row["model"], row["lr"]), row["validation"]
        best[at] = None if value is None or best.get(at, 0) is None else max(value, best.get(at, 0))
    rows = [{"model": model, "lr": lr, "validation": value} for (model, lr), value in best.items()]
    return _table(rows, runs, equal)


task.mistake(
    "A failed run was counted as 0. If the other rates are bad, such a rate may still have the "
    "best mean, but it must not be chosen at all.",
    lambda search, runs, equal: _table(search, runs, equal, none="as 0"),
)


def _good(place):
    def choose_by(search, runs, equal):
        def choose(means):
            good = [rate for rate in means if means[rate] >= max(means.values()) - equal]
            return good[place(len(good))]

        return _table(search, runs, equal, choose)

    return choose_by


task.mistake(
    "You take the smallest of the tied rates. Take the one in the middle.",
    _good(lambda n: 0),
)


@task.mistake(
    "If two rates are in the middle, `median` gives their mean, at which no model was trained. "
    "Take the smaller of the two: `median_low`."
)
def mean_of_two(search, runs, equal):
    def choose(means):
        return median(rate for rate in means if means[rate] >= max(means.values()) - equal)

    return _table(search, runs, equal, choose)


task.mistake(
    "If two rates are in the middle, you take the larger. Take the smaller: counted from 0, the "
    "middle of four is position 1.",
    _good(lambda n: n // 2),
)
task.mistake(
    "A rate with one failed run is treated as if that seed had not been run. A rate that fails "
    "with one seed in three is not safe: leave it out.",
    lambda search, runs, equal: _table(search, runs, equal, none="left out"),
)
task.mistake(
    "The mean over *all* rates is reported. Report the mean at the model's own rate: nobody "
    "would use a model at a rate that does not suit it.",
    lambda search, runs, equal: [
        (name, rate, fmean(row["test"] for row in runs if row["model"] == name))
        for name, rate, _ in sorted(
            table_of_readers(search, runs, equal),
            key=lambda line: -fmean(row["test"] for row in runs if row["model"] == line[0]),
        )
    ],
)
task.mistake(
    "You report the best seed, which is partly luck. Report the mean over seeds.",
    lambda search, runs, equal: _table(search, runs, equal, report=max),
)


@task.mistake(
    "The reported scores come from the search, on the questions by which the rates were chosen. "
    "That is too good by chance: report `test`."
)
def validation_reported(search, runs, equal):
    found = [
        (
            name,
            rate,
            fmean(r["validation"] for r in search if (r["model"], r["lr"]) == (name, rate)),
        )
        for name, rate, _ in table_of_readers(search, runs, equal)
    ]
    return sorted(found, key=lambda line: -line[2])


@task.mistake(
    "Only the last seed's row of each rate is left, because a dictionary keeps one value for a "
    "key. Collect a list for each rate, and take its mean."
)
def last_seed(search, runs, equal):
    last = {(row["model"], row["lr"]): row for row in search}
    return _table(list(last.values()), runs, equal)


task.edit("The lines are right, but the worst model comes first.", "-line[2]", "line[2]")
task.edit(
    "The lines are right, but not in order: the best mean comes first.", "-line[2]", "line[0]"
)
task.edit(
    "The rates that count as equal are in the order of the rows, which is arbitrary. Sort them "
    "before you take the one in the middle.",
    "in sorted(tried) if",
    "in tried if",
)


@task.mistake(
    "A validation result of 0 was taken for a failed run. Only `None` says that training failed: "
    "compare with it, and do not ask whether the number is true."
)
def without_zeros(search, runs, equal):
    rows = [row | {"validation": row["validation"] or None} for row in search]
    return _table(rows, runs, equal)


def _means(search, name):
    tried = {}
    for row in search:
        if row["model"] == name:
            tried.setdefault(row["lr"], []).append(row["validation"])
    means = {rate: _mean(values, None) for rate, values in sorted(tried.items())}
    return {rate: mean for rate, mean in means.items() if mean is not None}


RATES = (0.001, 0.003, 0.01, 0.03, 0.1)
EQUAL = 0.03


def _rows(chance, names, rates, seeds, fails):
    """A search and runs: each reader has a hill of its own, and chance says the rest.

    With the readers named in `fails`, the largest rate is the best one until it fails.
    """
    search, runs = [], []
    for name in names:
        height, top = chance.uniform(0.6, 0.95), chance.randrange(len(rates))
        top = len(rates) - 1 if name in fails else top
        for i, lr in enumerate(rates):
            level = height - 0.12 * max(0, abs(i - top) - chance.choice((0, 1))) ** 1.3
            level += chance.gauss(0, 0.01)
            for seed in range(seeds):
                score = round(min(1.0, max(0.01, level + chance.gauss(0, 0.03))), 3)
                lost = name in fails and i == top and seed == 0
                row = {"model": name, "lr": lr, "seed": 100 + seed}
                search.append(row | {"validation": None if lost else score})
                score = round(min(1.0, max(0.01, level + chance.gauss(-0.02, 0.05))), 3)
                runs.append({"model": name, "lr": lr, "seed": seed, "test": score})
    chance.shuffle(search)
    chance.shuffle(runs)
    return search, runs


def _safe(search, equal):
    """Whether no mean lies at the very border of what counts as equal."""
    for name in {row["model"] for row in search}:
        means = _means(search, name)
        if not means or any(abs(max(means.values()) - m - equal) < 0.002 for m in means.values()):
            return False
    return True


def _nearly_equal(chance):
    """Four and three rates that count as equal; the last seed alone would choose others."""
    search, runs = [], []
    for name, means, last in (
        ("flag", (0.7, 0.88, 0.89, 0.875, 0.9), (0.0, 0.1, -0.1, 0.1, -0.12)),
        ("state", (0.4, 0.385, 0.375, 0.2, 0.1), (-0.05, 0.0, 0.05, 0.0, 0.0)),
    ):
        for i, lr in enumerate(RATES):
            own = 0.002 * chance.random()
            for seed, off in enumerate((-last[i] / 2, -last[i] / 2, last[i])):
                row = {"model": name, "lr": lr, "seed": seed}
                search.append(row | {"validation": round(means[i] + off + own, 4)})
                tested = 0.9 * means[i] + 0.02 * i + 0.01 * chance.random()
                runs.append(row | {"test": round(tested, 4)})
    return Case((search, runs, EQUAL), "several rates are nearly equal", kind="ordinary cases")


def _much_the_best_but_failed(chance):
    """Rates of which all are bad but one, with which one seed of three fails."""
    search, runs = [], []
    for name in ("state", "flag"):
        for lr, level in ((0.01, 0.1), (0.03, 0.2), (0.1, 0.9)):
            for seed in range(3):
                row = {"model": name, "lr": lr, "seed": seed}
                lost = (name, lr, seed) == ("state", 0.1, 1)
                score = round(level + 0.04 * chance.random(), 3)
                search.append(row | {"validation": None if lost else score})
                runs.append(row | {"test": round(level + 0.02 * chance.random(), 3)})
    note = "a training failed at a rate that is much the best with the other seeds"
    return Case((search, runs, EQUAL), note, kind="a training that failed")


def _hardly_any(chance):
    """A reader that finds hardly any answer, and with some seeds none: 0, but not failed."""
    search, runs = [], []
    for name, high in (("memory", 0.0), ("flag", 0.8)):
        for lr, found in ((0.003, (0.0, 0.02)), (0.01, (0.0, 0.04)), (0.03, (0.02, 0.02))):
            for seed, score in enumerate(found):
                row = {"model": name, "lr": lr, "seed": seed}
                search.append(row | {"validation": score + high})
                runs.append(row | {"test": round(high + lr + 0.01 * chance.random(), 4)})
    note = "a reader that finds nothing with some seeds"
    return Case((search, runs, EQUAL), note, kind="a training that failed")


task.edit(
    "If two rates are in the middle, `median` gives their mean, at which no model was trained. "
    "Take the smaller of the two (`median_low`).",
    "rate = good[(len(good) - 1) // 2]",
    "rate = (good[(len(good) - 1) // 2] + good[len(good) // 2]) / 2",
    "table.append((name, rate, fmean(at_rate)))",
    "table.append((name, rate, fmean(at_rate or [0.0])))",
)


task.edit(
    "The rates that count as equal were put in the order of their results, the best first, before "
    "the one in the middle was taken. The middle rate is meant: sort them by rate.",
    "rate = good[(len(good) - 1) // 2]",
    "rate = sorted(good, key=means.get, reverse=True)[(len(good) - 1) // 2]",
)


task.edit(
    "The lines are in the order of the validation results. Put them in the order of the mean test "
    "results that they show.",
    "table.append((name, rate, fmean(at_rate)))",
    "table.append((name, rate, fmean(at_rate), means[rate]))",
    "return sorted(table, key=lambda line: -line[2])",
    "return [line[:3] for line in sorted(table, key=lambda line: -line[3])]",
)


@task.cases
def cases(seed):
    """Three readers on paper; then drawn ones, in which each hurried choice gives another order."""
    small = [
        ("state", 0.01, (0.62, 0.64), (0.61, 0.63)),
        ("state", 0.03, (0.74, 0.78), (0.66, 0.64)),
        ("flag", 0.01, (0.81, 0.79), (0.79, 0.75)),
        ("flag", 0.03, (0.52, 0.60), (0.83, 0.80)),
    ]
    search, runs = [], []
    for name, lr, chosen_by, tested in small:
        for i, (a, b) in enumerate(zip(chosen_by, tested, strict=True)):
            search.append({"model": name, "lr": lr, "seed": 100 + i, "validation": a})
            runs.append({"model": name, "lr": lr, "seed": i, "test": b})
    found = [Case((search, runs, EQUAL), "two readers and two rates", kind="ordinary cases")]
    chance = random.Random(seed)
    found += [_nearly_equal(chance), _much_the_best_but_failed(chance), _hardly_any(chance)]
    for n, seeds, equal, fails, note in (
        (3, 3, 0.03, 0, "three readers, three seeds"),
        (4, 2, 0.05, 0, "four readers, two seeds"),
        (5, 3, 0.02, 0, "five readers, three seeds"),
        (3, 1, 0.03, 0, "a single seed in each row of the search"),
        (4, 3, 0.03, 2, "a training failed with one seed"),
    ):
        names = chance.sample(("flag", "no flag", "likeness", "random", "state", "memory"), n)
        while True:
            rows = *_rows(chance, names, RATES, seeds, names[:fails]), equal
            right = table_of_readers(*rows) if _safe(rows[0], equal) else []
            order = [line[0] for line in right]
            means = [line[2] for line in right]
            apart = all(a - b > 0.01 for a, b in pairwise(means))
            hurried = (_table(*rows, _likeliest, on="test"), one_rate(*rows)) if right else ()
            others = all([line[0] for line in table] != order for table in hurried)
            ties = right and right != _table(*rows, _likeliest)
            left = fails and right == _table(*rows, none="left out")
            if right and apart and others and ties and not left:
                break
        kind = "a training that failed" if fails else "ordinary cases"
        found.append(Case(rows, note, kind=kind))
    return found


@task.diagnostic
def lines(args, result):
    """One line for each reader, with one of its rates, and the best first."""
    names = {row["model"] for row in args[1]}
    if any(len(line) != 3 for line in result) or {line[0] for line in result} != names:
        return f"Return a line (reader, rate, mean) for each of {', '.join(sorted(names))}."
    means = [float(line[2]) for line in result]
    if means != sorted(means, reverse=True):
        return "The lines are not in order: the best mean comes first."
    return None
