"""One search for all comparisons: every model gets its own learning rate before it is compared.

    from experiments.search import search

    def trial(model: str, setting: int, lr: float, seed: int) -> dict:
        ...train, measure...
        return {"validation": …, "test": …, "parameters": …}

    search("my_table", trial, models=("RNN", "LSTM"), settings=(2, 4, 8))

1. Each model is trained at each rate of one grid, in each setting, from the search seeds.
2. The rate with the best mean `validation` is chosen, and among equals the one in the middle. Where
   the best stands at an end of the grid, the grid is continued beyond it, up to eight rates, so
   that no model is compared at a rate that was merely the last one tried. Where the eighth rate is
   still the best at its end, the program says so.
3. At its own rate, each model is trained from the seeds of the comparison, which are others.

`validation` must come from data that is neither trained on nor reported; the rest of what `trial`
returns is reported. All of it goes to `helpers/results/stored/NAME.json`, the search beside the
results; `helpers.results.comparison` reads it.

Each finished training is written down at once, in `build/experiments/NAME.jsonl`, and is not done
again when the program is started again. Start with `--fresh` when the code of a trial has changed.
`--jobs 1` leaves the other cores free.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path

os.environ["LAMPLIGHT_QUIET"] = "1"  # one bar for all trainings instead of one for each

import torch
from tqdm import tqdm

from helpers.results.comparison import choose_rate, mean_validation
from helpers.validation import require

ROOT = Path(__file__).parents[1]
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
SEARCH_SEEDS = (100, 101, 102)
SEEDS = (0, 1, 2)
LONGEST_GRID = 8

Trial = Callable[[str, object, float, int], dict]
"""(model, setting, lr, seed) → what was measured, with `validation` among it."""
Job = tuple[str, object, float, int]
Rates = Sequence[float] | Mapping[str, Sequence[float]]
"""One grid of learning rates for all models, or one for each."""


def search(
    name: str,
    trial: Trial,
    models: Sequence[str],
    settings: Sequence[object] = ("",),
    *,
    rates: Rates = RATES,
    seeds: Sequence[int] = SEEDS,
    search_seeds: Sequence[int] = SEARCH_SEEDS,
    lower_is_better: bool = False,
    equal: float = 0.0,
    skip: Callable[[str, object], bool] | None = None,
    about: Mapping[str, object] | None = None,
    arguments: Sequence[str] | None = None,
) -> Path:
    """Run every training that is still missing, and write the table.

    Args:
        name: of the table.
        trial: a function at the top of its module, so that other processes can find it.
        models: their names, in the order of the table.
        settings: what the models are compared at: numbers, strings or lists of these.
        rates: the grid at which every search begins, at least four, rising; or one for each model.
        seeds: of the comparison.
        search_seeds: of the search; none of `seeds`.
        lower_is_better: whether `validation` is a loss.
        equal: how far from the best a rate may stay and still count as equally good.
        skip: (model, setting) that are left out of the comparison.
        about: what else belongs into the head of the table: steps, sizes, what the fields mean.
        arguments: of the command line, if not those of the program.

    Returns:
        The path of the table.

    Raises:
        ValueError: if the grid is too short or not rising, or a seed serves for both.
    """
    for grid in {tuple(_grid(rates, model)) for model in models}:
        require(len(grid) >= 4, "rates", f"{len(grid)} of them", "at least 4")
        require(list(grid) == sorted(set(grid)), "rates", list(grid), "different numbers, rising")
    shared = sorted(set(seeds) & set(search_seeds))
    require(not shared, "seeds", f"{shared}, which the search uses too", "others than the search's")
    parser = argparse.ArgumentParser(description=f"The trainings of {name}.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--fresh", action="store_true", help="do not use earlier trainings")
    options = parser.parse_args(arguments)
    pairs = [(m, s) for m in models for s in settings if skip is None or not skip(m, s)]
    kept = _Kept(name, options.fresh)
    choose = partial(choose_rate, lower_is_better=lower_is_better, equal=equal)

    def missing() -> list[Job]:
        return plan(pairs, kept.rows, rates, seeds, search_seeds, choose)

    bar = tqdm(desc=name, unit="training", total=len(kept.rows) + len(missing()))
    bar.update(len(kept.rows))
    with ProcessPoolExecutor(options.jobs) as pool:
        while jobs := missing():
            bar.total = bar.n + len(jobs)
            for done in as_completed([pool.submit(_timed, trial, job) for job in jobs]):
                kept.add(done.result())
                bar.update()
    bar.close()
    head = {
        **made_by(name),
        "lower_is_better": lower_is_better,
        "equal": equal,
        "search_seeds": list(search_seeds),
        "seeds": list(seeds),
        **(about or {}),
    }
    return _write(name, head, pairs, kept.rows, seeds, search_seeds, choose)


def made_by(name: str) -> dict:
    """The first entries of a table: its program, the version of torch, and one thread."""
    return {
        "made_by": f"experiments/{name}.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
    }


def write_table(name: str, head: Mapping, **parts: Sequence[Mapping]) -> Path:
    """Store a table: what is said of it once, then its parts, a line for each row."""
    text = json.dumps(head, indent=1)[:-2]
    for part, rows in parts.items():
        lines = ",\n".join("  " + json.dumps(row) for row in rows)
        text += f',\n "{part}": [\n{lines}\n ]'
    table = ROOT / "helpers" / "results" / "stored" / f"{name}.json"
    table.write_text(text + "\n}\n", encoding="utf-8")
    return table


def plan(
    pairs: Sequence[tuple[str, object]],
    rows: Sequence[dict],
    rates: Rates,
    seeds: Sequence[int],
    search_seeds: Sequence[int],
    choose: Callable[[dict[float, float | None]], float],
) -> list[Job]:
    """The trainings that are missing: those of the search first, then those at the chosen rates."""
    done = {_key(row) for row in rows}
    jobs: list[Job] = []
    for model, setting in pairs:
        tried = searched(rows, model, setting, search_seeds)
        grid = sorted({*_grid(rates, model), *tried})
        wanted = [(model, setting, lr, s) for lr in grid for s in search_seeds]
        missing = [job for job in wanted if _key(job) not in done]
        if not missing:
            lr = choose(tried)
            beyond = _beyond(sorted(tried), lr)
            if beyond is not None and len(tried) < LONGEST_GRID:
                wanted = [(model, setting, beyond, s) for s in search_seeds]
            else:
                wanted = [(model, setting, lr, s) for s in seeds]
            missing = [job for job in wanted if _key(job) not in done]
        jobs += missing
    return jobs


def _grid(rates: Rates, model: str) -> Sequence[float]:
    return rates[model] if isinstance(rates, Mapping) else rates


def searched(
    rows: Iterable[dict], model: str, setting: object, search_seeds: Sequence[int]
) -> dict[float, float | None]:
    """The mean validation at each rate that was tried from all search seeds."""
    own = [row for row in rows if row["model"] == model and row["setting"] == setting]
    own = [row for row in own if row["seed"] in search_seeds]
    counts = Counter(row["lr"] for row in own)
    means = mean_validation(own)
    return {lr: means[lr] for lr in sorted(means) if counts[lr] == len(search_seeds)}


def _beyond(rates: list[float], best: float) -> float | None:
    """The next rate outside the grid, in its own step, if the best one stands at its end.

    It has as few digits as leave it outside.
    """
    if best not in (rates[0], rates[-1]):
        return None
    further = best * best / (rates[1] if best == rates[0] else rates[-2])
    rounded = (float(f"{further:.{digits}g}") for digits in range(1, 18))
    return next(rate for rate in rounded if not rates[0] <= rate <= rates[-1])


def _timed(trial: Trial, job: Job) -> dict:
    """One training on one thread. Where loss or gradient was not finite, `validation` is None."""
    torch.set_num_threads(1)
    start = time.process_time()
    try:
        measured = trial(*job)
    except ValueError as error:
        if not str(error).startswith(("loss: ", "gradient: ")):
            raise
        measured = {"validation": None}
    row = {**dict(zip(("model", "setting", "lr", "seed"), job, strict=True)), **measured}
    return row | {"cpu_seconds": round(time.process_time() - start, 1)}


def _key(job: Job | dict) -> str:
    if isinstance(job, dict):
        job = tuple(job[name] for name in ("model", "setting", "lr", "seed"))
    return json.dumps(job)


class _Kept:
    """The finished trainings, in memory and on disk."""

    def __init__(self, name: str, fresh: bool) -> None:
        self.path = ROOT / "build" / "experiments" / f"{name}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if fresh:
            self.path.unlink(missing_ok=True)
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.rows: list[dict] = [json.loads(line) for line in lines]

    def add(self, row: dict) -> None:
        row = json.loads(json.dumps(row))  # tuples become lists, as they will be when read again
        self.rows.append(row)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _write(
    name: str,
    head: dict,
    pairs: Sequence[tuple[str, object]],
    rows: Sequence[dict],
    seeds: Sequence[int],
    search_seeds: Sequence[int],
    choose: Callable[[dict[float, float | None]], float],
) -> Path:
    """The table, in an order that does not depend on who finished first.

    A line of the search has one validation for each of its seeds; a line of the runs is a training.
    What was trained for another search, with other seeds or models, is left out.
    """
    wanted = {json.dumps(pair) for pair in pairs}
    rows = [row for row in rows if json.dumps((row["model"], row["setting"])) in wanted]
    by_key = {_key(row): row for row in rows}
    tried = {json.dumps(pair): searched(rows, *pair, search_seeds) for pair in pairs}
    parts: dict[str, list[dict]] = {"search": [], "runs": []}
    for model, setting in pairs:
        rates = tried[json.dumps((model, setting))]
        for lr in rates:
            own = [by_key[_key((model, setting, lr, seed))] for seed in search_seeds]
            row = {"model": model, "setting": setting, "lr": lr}
            parts["search"].append(row | {"validation": [one["validation"] for one in own]})
        lr = choose(rates)
        parts["runs"] += [by_key[_key((model, setting, lr, seed))] for seed in seeds]
    head["cpu_seconds"] = round(sum(row["cpu_seconds"] for row in rows))
    table = write_table(name, head, **parts)
    print(f"{len(rows)} trainings, {head['cpu_seconds']} s of CPU time: {table.relative_to(ROOT)}")
    for pair in pairs:
        rates = tried[json.dumps(pair)]
        if choose(rates) in (min(rates), max(rates)):
            print(f"{pair}: the best rate, {choose(rates):g}, is the last of {len(rates)} tried")
    return table
