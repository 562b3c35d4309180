"""Readers of the files in `helpers/results/stored`, which `experiments/` writes."""

from __future__ import annotations

import json
from importlib import resources

from helpers.validation import require


def stored(name: str) -> dict:
    """The results that `experiments/<name>.py` wrote to `helpers/results/stored/<name>.json`.

    Raises:
        ValueError: if there is no file of that name.
    """
    folder = resources.files("helpers") / "results" / "stored"
    names = sorted(
        entry.name.removesuffix(".json")
        for entry in folder.iterdir()
        if entry.name.endswith(".json")
    )
    require(name in names, "name", repr(name), f"one of {names}")
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def course_prose() -> str:
    """Plain text of the lectures, one paragraph in each line, for character-level models.

    `tools/prose.py` extracts it from the pages.
    """
    file = resources.files("helpers") / "results" / "stored" / "prose.txt"
    return file.read_text(encoding="utf-8")
