"""Questions with a reason for every answer: plain HTML, no script, by mouse or by keyboard."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Sequence

from helpers.checks import require

Option = tuple[str, bool, str]
"""What the option says, whether it is right, and why."""

_STYLE = """<style>
.quiz fieldset{border:1px solid currentColor;border-radius:.4rem;margin:0 0 1rem;padding:.6rem 1rem}
.quiz legend{float:none;width:auto;font-size:1rem;font-weight:600;margin:0;padding:0 .4rem}
.quiz .option{margin:.35rem 0}
.quiz .option label{display:inline;margin-left:.4rem;cursor:pointer}
.quiz .why{display:none;margin:.2rem 0 .5rem 1.6rem;padding-left:.6rem;border-left:3px solid}
.quiz input:checked~[role=status] .why{display:block}
.quiz .right{border-color:#009e73}.quiz .wrong{border-color:#d55e00}
</style>"""


def quiz(*questions: tuple[str, Sequence[Option]]) -> None:
    """Show questions; choosing an option shows at once whether it is right, and why.

    A question with exactly one right option takes one answer, any other takes several. Text
    between backticks is set as code. Options are shuffled, the same way every time.

    Args:
        questions: pairs of the question and its options `(text, right, reason)`.

    Raises:
        ValueError: if two questions are the same, or a question has fewer than two options, none
            that is right, two that say the same, or one without a text or reason.
    """
    from IPython.display import HTML, display

    display(HTML(to_html(*questions)))


def to_html(*questions: tuple[str, Sequence[Option]]) -> str:
    """The HTML that `quiz` displays."""
    require(len(questions) > 0, "questions", "none", "at least one")
    distinct = len({text for text, _ in questions})
    require(distinct == len(questions), "questions", "the same text twice", "different texts")
    return f'{_STYLE}<div class="quiz">{"".join(map(_question, questions))}</div>'


def _question(question: tuple[str, Sequence[Option]]) -> str:
    text, options = question
    where = f"options of {text!r}"
    require(bool(text.strip()), "question", repr(text), "a text")
    require(len(options) >= 2, where, len(options), "at least 2")
    triples = all(len(option) == 3 and option[0].strip() for option in options)
    require(triples, where, list(options), "(text, right, reason) each")
    n_right = sum(right for _, right, _ in options)
    require(n_right >= 1, where, "none that is right", "at least one")
    distinct = len({option for option, _, _ in options})
    require(distinct == len(options), where, "the same text twice", "different texts")
    name = "q" + hashlib.sha256(text.encode()).hexdigest()[:8]
    kind = "radio" if n_right == 1 else "checkbox"
    ask = "" if n_right == 1 else " (several may be right)"
    rows = []
    # In an order that no author chose, and that is the same every time.
    shuffled = sorted(options, key=lambda o: hashlib.sha256(o[0].encode()).digest())
    for number, (option, right, reason) in enumerate(shuffled):
        require(bool(reason.strip()), f"reason for {option!r}", "nothing", "a sentence")
        verdict, css = ("Right.", "right") if right else ("No.", "wrong")
        rows.append(
            f'<div class="option"><input type="{kind}" name="{name}" id="{name}-{number}">'
            f'<label for="{name}-{number}">{_markup(option)}</label>'
            f'<div role="status"><div class="why {css}"><strong>{verdict}</strong> '
            f"{_markup(reason)}</div></div></div>"
        )
    return f"<fieldset><legend>{_markup(text)}{ask}</legend>{''.join(rows)}</fieldset>"


def _markup(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
