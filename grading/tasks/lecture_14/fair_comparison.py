"""A fair comparison: each model at its own rate, chosen on separate data from separate seeds."""

import math

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=7,
    minutes=25,
    two_at_once=True,
    redraw=True,
    outcome="compare fairly: each at its own rate, chosen on separate data",
    hints=(
        "For one model, make a list of the mean validation results, one for each rate. Then find "
        "the position of the largest.",
        "What is `float('nan') > 0.5`, and what is `not float('nan') <= 0.5`?",
    ),
)


# %% the cell
def fair_comparison(trial, models, rates, search_seeds, seeds):
    """For each model, the chosen rate and the test results at this rate, one per seed."""
    # BEGIN SOLUTION
    found = {}
    for model in models:
        best, chosen = -math.inf, None
        for rate in rates:
            tried = [trial(model, rate, seed)[0] for seed in search_seeds]
            mean = sum(tried) / len(tried)
            if mean > best:  # never where a validation is NaN
                best, chosen = mean, rate
        tests = [trial(model, chosen, seed)[1] for seed in seeds]
        found[model] = {"rate": chosen, "tests": tests}
    return found
    # END SOLUTION


# %%


@task.alternative
def by_max(trial, models, rates, search_seeds, seeds):
    """All searches first, then all tests."""

    def validation(model, rate):
        values = [trial(model, rate, seed)[0] for seed in search_seeds]
        mean = torch.tensor(values, dtype=torch.float64).mean().item()
        return -math.inf if math.isnan(mean) else mean

    table = {model: [validation(model, rate) for rate in rates] for model in models}
    own = {model: rates[row.index(max(row))] for model, row in table.items()}
    return {
        model: {"rate": rate, "tests": [trial(model, rate, seed)[1] for seed in seeds]}
        for model, rate in own.items()
    }


task.edit(
    "The rate was chosen by the test results. A reported result must not have been used for a "
    "choice: choose by the validation result, the first number.",
    "[trial(model, rate, seed)[0]",
    "[trial(model, rate, seed)[1]",
)
task.edit(
    "The validation results are reported. They were selected for being high: report the test "
    "results.",
    "tests = [trial(model, chosen, seed)[1]",
    "tests = [trial(model, chosen, seed)[0]",
)
task.edit(
    "The rate was chosen with the seeds of the comparison, so the reported results were selected "
    "for being good.",
    "for seed in search_seeds]",
    "for seed in seeds]",
)
task.edit(
    "The results of the search seeds are reported. Report those of `seeds`.",
    "for seed in seeds]",
    "for seed in search_seeds]",
)


task.edit(
    "A rate is chosen only if its mean is above 0. Results may be negative: start with −∞.",
    "-math.inf, None",
    "0.0, rates[0]",
)


@task.mistake(
    "All models were compared at one rate, the best one on average. Each model needs its own rate."
)
def best_on_average(trial, models, rates, search_seeds, seeds):
    def mean(rate):
        values = [trial(model, rate, seed)[0] for model in models for seed in search_seeds]
        return -math.inf if math.isnan(sum(values)) else sum(values)

    best = max(rates, key=mean)
    return {
        model: {"rate": best, "tests": [trial(model, best, seed)[1] for seed in seeds]}
        for model in models
    }


task.edit(
    "The rate with the *smallest* validation result was taken. Higher results are better.",
    "-math.inf, None",
    "math.inf, None",
    "if mean > best:",
    "if mean < best:",
)
task.edit(
    "The rate of a failed run (NaN) was chosen: `argmax` takes NaN for the largest number. Leave "
    "such rates out, or use `nanargmax`.",
    "if mean > best:",
    "if mean > best or (mean != mean and best == best):",
)
task.edit(
    "The best single run decides. Take the mean over the search seeds.",
    "mean = sum(tried) / len(tried)",
    "mean = max(tried)",
)
task.edit(
    "Of equally good rates the largest was taken. Take the first.",
    "if mean > best:",
    "if mean >= best:",
)


task.edit(
    "A failed run (NaN) was chosen: every comparison with NaN is False, so `not mean <= best` "
    "accepts it.",
    "if mean > best:",
    "if not mean <= best:",
)
task.edit(
    "The first rate was chosen although a run failed (NaN): nothing is larger than NaN, so `max` "
    "keeps it if it comes first.",
    "if mean > best:",
    "if mean > best or chosen is None:",
)
task.edit(
    "A rate was chosen although one of its runs failed (NaN): the mean did not become NaN. Such a "
    "rate must not be chosen, however good its other runs are.",
    "mean = sum(tried) / len(tried)",
    "tried = [x for x in tried if x == x]\n"
    "            mean = sum(tried) / len(tried) if tried else -1",
)


@task.mistake("Return the score of every seed, not their mean.")
def mean_only(trial, models, rates, search_seeds, seeds):
    found = fair_comparison(trial, models, rates, search_seeds, seeds)
    for row in found.values():
        row["tests"] = [sum(row["tests"]) / len(row["tests"])]
    return found


task.edit(
    "Only the first of the search seeds was used. Take the mean over all of them.",
    "for seed in search_seeds]",
    "for seed in search_seeds[:1]]",
)
task.edit(
    "Only one of `seeds` was tested. Report a result for each.",
    "for seed in seeds]",
    "for seed in seeds[:1]]",
)


task.edit(
    "Every rate was tested with all of `seeds`. Choose the rate first, and test only that one.",
    "mean = sum(tried) / len(tried)",
    "mean = sum(tried) / len(tried)\n"
    "            at_rate = [trial(model, rate, seed)[1] for seed in seeds]",
    "best, chosen = mean, rate",
    "best, chosen, tests = mean, rate, at_rate",
    "        tests = [trial(model, chosen, seed)[1] for seed in seeds]\n",
    "",
)


@task.harness
def harness(answer, models, rates, search_seeds, seeds, validation, test):
    """Trials from a table; what was chosen and reported, and how many trials were made."""
    every = list(search_seeds) + list(seeds)
    made = []

    def trial(model, rate, seed):
        place = models.index(model), rates.index(rate), every.index(seed)
        made.append(place)
        return float(validation[place]), float(test[place])

    found = answer(trial, list(models), list(rates), list(search_seeds), list(seeds))
    if found is None:
        return None
    enough = len(models) * (len(rates) * len(search_seeds) + len(seeds))
    return {
        "chosen": {model: float(found[model]["rate"]) for model in models},
        "tests": {model: [float(t) for t in found[model]["tests"]] for model in models},
        "trials too many": max(0, len(made) - enough),  # none after a NaN is needed, but allowed
    }


def _tells(validation, test, n_search):
    """Whether another way to choose gives another rate, for each such way and some model."""
    searched = validation[..., :n_search]  # (models, rates, search seeds)
    means = searched.mean(dim=-1)  # (models, rates)
    ways = (
        searched[..., 0],
        searched.amax(dim=-1),
        test[..., :n_search].mean(dim=-1),
        validation[..., n_search:].mean(dim=-1),
        means[:1].expand_as(means),
        means.mean(dim=0, keepdim=True).expand_as(means),
    )
    own = means.argmax(dim=-1)  # (models,)
    return all((way.argmax(dim=-1) != own).any() for way in ways)


@task.cases
def cases(seed):
    """Two models whose best rates differ; three; ties; a training that failed."""
    generator = torch.Generator().manual_seed(seed)
    names = ("plain", "reversed", "other")
    found = []
    four, five, larger = (
        (0.001, 0.003, 0.01, 0.03),
        (0.001, 0.003, 0.01, 0.03, 0.1),
        (0.003, 0.01, 0.03, 0.1),
    )
    for n_models, rates, n_search, n_seeds, edge, note in (
        (2, four, 2, 3, None, "two models, four rates"),
        (3, five, 3, 2, None, "three models, five rates, negative validation results"),
        (2, four, 2, 3, "ties", "two rates with equal validation results"),
        (2, larger, 2, 4, "failures", "some runs failed (NaN)"),
    ):
        search_seeds, seeds = tuple(range(100, 100 + n_search)), tuple(range(n_seeds))
        shape = n_models, len(rates), n_search + n_seeds
        while True:
            validation = (torch.rand(shape, generator=generator) * 64).round() / 64
            test = (torch.rand(shape, generator=generator) * 64).round() / 64
            if n_models == 3:
                validation = validation - 1.25  # such as the negative of a loss
            if edge == "ties":
                validation = validation.clamp(max=0.875)
                validation[:, 1:3] = 0.9375
            if edge == "failures":  # the best run of all shares its rate with a failed one
                validation = validation / 4
                for model, rate in ((0, 3), (1, 1)):
                    validation[model, rate, :2] = torch.tensor([1.0, math.nan])
                validation[0, 0] = math.nan
            args = names[:n_models], rates, search_seeds, seeds, validation, test
            if edge or _tells(validation, test, n_search):
                break
        found.append(Case(args, note, kind="edge cases" if edge else "ordinary cases"))
    return found


@task.diagnostic
def too_many(args, result):
    """How many trials would have been enough."""
    models, rates, search_seeds, seeds = args[:4]
    enough = len(models) * (len(rates) * len(search_seeds) + len(seeds))
    more = result["trials too many"]
    return f"{enough + more} trials were run; {enough} are enough." if more else None
