"""Stored comparisons: a learning-rate search for each model, and runs at the chosen rate.

The scripts in `experiments/` write the tables in `helpers/results/stored/`. A row of `search` holds
the validation scores of a model at one rate, one for each seed of the search. A row of `runs` holds
the scores at the model's own best rate, from another seed and on other data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from helpers.results.store import stored
from helpers.validation import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Results:
    """A stored comparison.

    head: settings of the comparison, such as seeds and steps.
    search: rows with model, setting, lr, seed and validation score, one for each seed.
    runs: rows of the final runs, with all measures.
    """

    head: Mapping[str, object]
    search: Sequence[Mapping]
    runs: Sequence[Mapping]

    def of(self, field: str, model: str, setting: object = "") -> list:
        """One measure of a model in a setting, a value for each seed.

        Raises:
            ValueError: if there is no such model, setting or field.
        """
        rows = _rows(self.runs, model, setting)
        require(field in rows[0], "field", repr(field), " or ".join(map(repr, rows[0])))
        return [row[field] for row in rows]

    def rate(self, model: str, setting: object = "") -> float:
        """The learning rate that the search chose.

        Raises:
            ValueError: if there is no such model or setting.
        """
        return _rows(self.runs, model, setting)[0]["lr"]

    def tried(self, model: str, setting: object = "") -> dict[float, float | None]:
        """Mean validation score at each rate of the search; None where a loss was not finite.

        Raises:
            ValueError: if there is no such model or setting.
        """
        return mean_validation(_rows(self.search, model, setting))

    def by_seed(self, model: str, setting: object = "") -> dict[float, list[float | None]]:
        """Validation scores at each rate of the search, one for each seed.

        Raises:
            ValueError: if there is no such model or setting.
        """
        return by_rate(_rows(self.search, model, setting))


def results(name: str) -> Results:
    """A stored comparison by its name.

    Raises:
        ValueError: if there is none of that name, or it has no search.
    """
    table = stored(name)
    require("search" in table, "name", repr(name), "a table with the search beside the runs")
    tried, runs = table.pop("search"), table.pop("runs")
    by_seed = [
        {**row, "seed": seed, "validation": validation}
        for row in tried
        for seed, validation in zip(table["search_seeds"], row["validation"], strict=True)
    ]
    return Results(table, by_seed, runs)


def by_rate(rows: Iterable[Mapping]) -> dict[float, list[float | None]]:
    """Validation scores by rate, in ascending order; None where the loss was not finite."""
    at: dict[float, list] = {}
    for row in rows:
        at.setdefault(row["lr"], []).append(row["validation"])
    return dict(sorted(at.items()))


def mean_validation(rows: Iterable[Mapping]) -> dict[float, float | None]:
    """Mean validation score over seeds by rate, in ascending order; None if one was not finite."""
    found = by_rate(rows)
    return {lr: None if None in values else fmean(values) for lr, values in found.items()}


def choose_rate(
    tried: Mapping[float, float | None], *, lower_is_better: bool = False, equal: float = 0.0
) -> float:
    """The rate with the best validation score; of equal ones the middle one, which is the safest.

    Args:
        tried: validation score by rate; None where training failed.
        lower_is_better: whether the score is a loss.
        equal: largest difference from the best score that counts as equal.

    Raises:
        ValueError: if training failed at every rate.
    """
    sign = -1.0 if lower_is_better else 1.0
    finite = {lr: sign * value for lr, value in sorted(tried.items()) if value is not None}
    require(bool(finite), "tried", dict(tried), "a number at one rate at least")
    best = max(finite.values())
    equals = [lr for lr, value in finite.items() if value >= best - equal]
    return equals[(len(equals) - 1) // 2]


def plot_rates(
    ax: Axes, found: Results, models: Sequence[str] | None = None, setting: object = ""
) -> None:
    """Plot the validation score of each model by learning rate; a ring marks the chosen rate.

    With several seeds in the search, the line is their mean, and each seed has a small dot.

    Args:
        ax: axes to draw on.
        found: the comparison.
        models: models to draw; all models of the setting if not given.
        setting: setting of the comparison.

    Raises:
        ValueError: if a model was not compared in that setting.
    """
    if models is None:
        models = list(dict.fromkeys(r["model"] for r in found.runs if r["setting"] == setting))
    for model in models:
        tried = {
            lr: value for lr, value in found.tried(model, setting).items() if value is not None
        }
        (line,) = ax.plot(list(tried), list(tried.values()), label=model)
        for lr, values in found.by_seed(model, setting).items():
            seeds = [value for value in values if value is not None]
            if len(values) > 1:
                ax.scatter([lr] * len(seeds), seeds, s=14, alpha=0.6, color=line.get_color())
        own = found.rate(model, setting)
        ring = {"marker": "o", "markersize": 13, "fillstyle": "none", "linestyle": "none"}
        ax.plot([own], [tried[own]], color=line.get_color(), **ring)
    ax.set_xscale("log")
    ax.set_xlabel("learning rate")
    ax.legend()


def _rows(rows: Sequence[Mapping], model: str, setting: object) -> list[Mapping]:
    found = [row for row in rows if row["model"] == model and row["setting"] == setting]
    if not found:
        known = dict.fromkeys(f"{row['model']!r} at {row['setting']!r}" for row in rows)
        require(False, "model and setting", f"{model!r} at {setting!r}", " or ".join(known))
    return found
