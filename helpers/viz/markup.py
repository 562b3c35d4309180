"""The small markup of captions, quizzes and tables."""

from __future__ import annotations

import html
import re


def to_inline(text: str) -> str:
    """Escaped HTML in which `code` and *emphasis* are set as such."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<em>\1</em>", text)


def figcaption(caption: str) -> str:
    """The caption of a figure, or nothing if there is none. The site adds the number."""
    return f"<figcaption>{to_inline(caption)}</figcaption>" if caption else ""
