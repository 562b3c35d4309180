"""A page: one HTML file without scripts, with its style sheet inside."""

from __future__ import annotations

import functools
import html
from pathlib import Path

FOLDER = Path(__file__).parent


def write(path: Path, title: str, body: str) -> None:
    """Write a page.

    Args:
        title: any text.
        body: HTML.
    """
    text = _template().format(title=html.escape(title), style=_style(), body=body)
    path.write_text(text, encoding="utf-8", errors="replace")


@functools.cache
def _template() -> str:
    return (FOLDER / "page.html").read_text(encoding="utf-8")


@functools.cache
def _style() -> str:
    return (FOLDER / "page.css").read_text(encoding="utf-8")
