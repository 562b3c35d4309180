"""Quizzes and predictions with a reason for every answer, for mouse and keyboard.

Both are plain HTML that works in a page and in a notebook. Only a prediction with a number needs a
small script to compare; without it the answer and its reason can be unfolded.
"""

from __future__ import annotations

import hashlib
import html
import math
from collections.abc import Sequence

from helpers.validation import require
from helpers.viz.markup import to_inline

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
.quiz.predict fieldset{border-style:dashed}
.predict .guess{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;margin:.35rem 0}
.predict :is(.guess input,button){font:inherit;color:inherit;background:none;padding:.3rem .6rem;
border:1px solid currentColor;border-radius:.3rem}
.predict .guess input{width:7rem}
.predict button{cursor:pointer}
.predict:not(.live) button,.predict.live details{display:none}
.predict summary{cursor:pointer}
.predict [role=status]:not(:empty){border-left:3px solid;padding-left:.6rem}
</style>"""

# Set in one line, so statements end in semicolons and there is no // comment. A guess may have a
# comma, be a fraction, or be given in percent of a number between 0 and 1.
_SCRIPT = """
for (const root of document.querySelectorAll(".predict[data-answer]:not(.live)")) {
  root.classList.add("live");
  const form = root.querySelector("form"), said = root.querySelector("[role=status]");
  const { answer, within, unit } = root.dataset;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = root.querySelector("input").value;
    const text = typed.replaceAll(" ", "").replace(",", ".").replace("−", "-");
    const [, top, bottom = 1, percent] =
      text.match(/^([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)(?:[/]([0-9.]+))?(%?)$/i) ?? [];
    const guess = top / bottom / (percent && unit !== "%" ? 100 : 1);
    said.className = "";
    if (!isFinite(guess)) { said.textContent = "Please type a number."; return; }
    const far = guess - answer, right = Math.abs(far) <= within * (1 + 1e-9);
    const verdict = document.createElement("strong");
    verdict.textContent = right ? "Right. " : far > 0 ? "Too high. " : "Too low. ";
    said.className = right ? "right" : "wrong";
    said.replaceChildren(verdict, root.querySelector(".because").cloneNode(true));
  });
}"""
_POINT = 'replace(",", ".")'
_THOUSANDS = 'replace(/,(?=[0-9]{3}(?![0-9]))/g, "")'


def quiz(*questions: tuple[str, Sequence[Option]]) -> None:
    """Display questions; each option shows at once whether it is right, and why.

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


def predict(
    question: str,
    options: Sequence[Option] | None = None,
    *,
    answer: float | None = None,
    within: float = 0.0,
    reason: str = "",
    unit: str = "",
) -> None:
    """Ask for a prediction, a number or a choice, and answer it with the reason.

    It stands in a cell of its own with the tag `remove-input`, between the text that says
    "Predict, then run" and the cell whose output is to be guessed:

        predict(
            "What share of the verbs does the untrained model get right?",
            answer=0.5,
            within=0.05,
            reason="It knows nothing yet, and there are two verbs to choose from.",
        )
        predict(
            "Which model is right more often?",
            [
                ("The recurrent one", False, "It is as good up to four attractors, and not after."),
                ("The one with attention", True, "It looks back as easily over ten words as one."),
            ],
        )

    Args:
        question: the question.
        options: for a choice, `(text, right, reason)` each, as in `quiz`.
        answer: for a number, the result of the next cell.
        within: largest error of a guess that counts as right.
        reason: for a number, the reason of the result.
        unit: of the number, such as "%" or "words".

    Raises:
        ValueError: if there are both options and an answer, or neither, or if a text is empty,
            the answer is not a finite number, or `within` is below 0.
    """
    from IPython.display import HTML, display

    number = {"answer": answer, "within": within, "reason": reason, "unit": unit}
    display(HTML(prediction_html(question, options, **number)))


def prediction_html(
    question: str,
    options: Sequence[Option] | None = None,
    *,
    answer: float | None = None,
    within: float = 0.0,
    reason: str = "",
    unit: str = "",
) -> str:
    """The HTML that `predict` displays."""
    one = (options is None) != (answer is None)
    require(one, "options and answer", "both" if answer is not None else "neither", "one of them")
    if options is not None:
        return f'{_STYLE}<div class="quiz predict">{_question((question, options))}</div>'
    require(bool(question.strip()), "question", repr(question), "a text")
    require(bool(reason.strip()), "reason", "nothing", "a sentence")
    require(math.isfinite(answer), "answer", answer, "a finite number")
    require(within >= 0, "within", within, "at least 0")
    name = "p" + hashlib.sha256(question.encode()).hexdigest()[:8]
    after = f" {html.escape(unit)}" if unit else ""
    value = f"{answer:,.10g}".replace("-", "−")
    off = f", a guess within {within:g} counts as right" if within else ""
    # An answer of 1,275 is printed with a comma, and may be typed with it.
    large = abs(answer) >= 1000
    script = _SCRIPT.replace(_POINT, f"{_THOUSANDS}.{_POINT}") if large else _SCRIPT
    page = f"""{_STYLE}<div class="quiz predict" data-answer="{answer}" data-within="{within}"
 data-unit="{html.escape(unit)}"><form data-lm-suppress-shortcuts="true"><fieldset>
<legend>{to_inline(question)}</legend><div class="guess"><label for="{name}">My guess:</label>
<input id="{name}" inputmode="text" autocomplete="off" size="8">{after}
<button>Compare</button></div><div role="status"></div>
<details><summary>Show the answer and why</summary>
<div class="because">It is {value}{after}{off}. {to_inline(reason)}</div></details>
</fieldset></form></div><script>{script}</script>"""
    return " ".join(line.strip() for line in page.splitlines())


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
            f'<label for="{name}-{number}">{to_inline(option)}</label>'
            f'<div role="status"><div class="why {css}"><strong>{verdict}</strong> '
            f"{to_inline(reason)}</div></div></div>"
        )
    return f"<fieldset><legend>{to_inline(text)}{ask}</legend>{''.join(rows)}</fieldset>"
