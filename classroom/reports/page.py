"""A page: one HTML file without scripts, with its style sheet inside."""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path

FOLDER = Path(__file__).parent
MARKS = (
    (re.compile(r"`([^`]+)`"), "code"),
    (re.compile(r"\*\*([^*]+)\*\*"), "strong"),
    (re.compile(r"(?<!\w)\*([^*\s][^*]*)\*(?!\w)"), "em"),
)
"""Markdown inside a line, and its element."""


def write(path: Path, title: str, body: str) -> None:
    """Write a page.

    Args:
        title: any text.
        body: HTML.
    """
    text = _template().format(title=html.escape(title), style=_style(), body=body)
    path.write_text(text, encoding="utf-8", errors="replace")


def markdown(text: str) -> str:
    """A text of a sheet as HTML: paragraphs, lists, emphasis and code; every other mark stays."""
    blocks: list[tuple[str, list[str]]] = []
    for line in text.strip().splitlines():
        words = line.strip()
        item = words.removeprefix("- ")
        if not words:
            blocks.append(("", []))
        elif item != words or not blocks or not blocks[-1][0]:
            blocks.append(("li" if item != words else "p", [item]))
        else:  # a line goes on with the paragraph, or with the item of a list, before it
            blocks[-1][1].append(words)
    parts = (f"<{kind}>{_inline(' '.join(lines))}</{kind}>" for kind, lines in blocks if kind)
    return re.sub(r"(?:<li>.*?</li>)+", r"<ul>\g<0></ul>", "".join(parts))


def _inline(text: str) -> str:
    """One line with its emphasis and code."""
    text = html.escape(text)
    for mark, element in MARKS:
        text = mark.sub(rf"<{element}>\1</{element}>", text)
    return text


@functools.cache
def _template() -> str:
    return (FOLDER / "page.html").read_text(encoding="utf-8")


@functools.cache
def _style() -> str:
    return (FOLDER / "page.css").read_text(encoding="utf-8")
