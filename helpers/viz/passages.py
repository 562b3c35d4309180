"""A passage with the scores of a span reader below its words (lecture 10)."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from helpers import numpy_attention
from helpers.validation import require
from helpers.viz.markup import figcaption

_START, _END = "var(--lamp, #e09020)", "#0072b2"
_SEEN = 0.01
"""Smallest probability that gets a bar."""


def show_passage(
    pieces: Sequence[str],
    logits: Sequence[Sequence[float]],
    span: tuple[int, int],
    *,
    question: str,
    caption: str,
) -> None:
    """Display a passage: the predicted span is framed, and bars show both probabilities.

    Args:
        pieces: the tokens; those that follow without a space begin with `##`.
        logits: of the first and of the last token of the answer, two rows of one for each token.
        span: first and last token of the predicted answer.
        question: is set above the passage.
        caption: of the figure.

    Raises:
        ValueError: if there is not one logit of each kind for each token, or the span is illegal.
    """
    from IPython.display import HTML, display

    display(HTML(to_html(pieces, logits, span, question=question, caption=caption)))


def to_html(
    pieces: Sequence[str],
    logits: Sequence[Sequence[float]],
    span: tuple[int, int],
    *,
    question: str,
    caption: str,
) -> str:
    """The HTML that `show_passage` displays; as `show_passage`."""
    n, (first, last) = len(pieces), span
    needed = f"two rows of {n}, one for each token"
    require([len(row) for row in logits] == [n, n], "logits", [len(row) for row in logits], needed)
    require(0 <= first <= last < n, "span", span, f"first and last token, of {n}")
    start, end = numpy_attention.softmax(np.array(logits)).tolist()  # (2, n)
    words: list[list[int]] = []  # the tokens of each word, which no line break may part
    for i, piece in enumerate(pieces):
        if piece.startswith("##") and words:
            words[-1].append(i)
        else:
            words.append([i])
    plain = [piece.removeprefix("##") for piece in pieces]

    def shown(i: int) -> str:
        inside = (
            "border-bottom:2px solid currentColor;font-weight:600;" if first <= i <= last else ""
        )
        bars = _bar(start[i], _START) + _bar(end[i], _END)
        style = f"display:inline-block;vertical-align:top;{inside}"
        return f'<span style="{style}">{html.escape(plain[i])}{bars}</span>'

    def together(word: list[int]) -> str:
        text = "".join(map(shown, word))
        return text if len(word) == 1 else f'<span style="white-space:nowrap">{text}</span>'

    text = " ".join(map(together, words))
    tops = [max(range(n), key=row.__getitem__) for row in (start, end)]
    said = " and ".join(
        f"the largest {kind} probability, {row[at]:.2f}, is at "
        f"“{next(''.join(plain[i] for i in word) for word in words if at in word)}”"
        for kind, row, at in zip(("start", "end"), (start, end), tops, strict=True)
    )
    key = "".join(
        f'<i aria-hidden="true" style="display:inline-block;width:1em;height:.4em;'
        f'background:{color}"></i> {name} '
        for name, color in (("start", _START), ("end", _END))
    )
    return (
        '<figure class="lamplight-figure">'
        f"<p><strong>{html.escape(question)}</strong></p>"
        f'<p style="line-height:1.35;text-align:left">{text}</p>'
        f"<p>{key}probability: {html.escape(said)}.</p>{figcaption(caption)}</figure>"
    )


def _bar(share: float, color: str) -> str:
    """A bar for one probability."""
    if share < _SEEN:
        return ""
    return (
        '<i aria-hidden="true" style="display:block;height:.25em;margin-top:1px;'
        f'width:{2.4 * share:.2f}em;background:{color}"></i>'
    )
