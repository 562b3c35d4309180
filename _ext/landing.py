"""The first page: the opening sentence with a gap to fill, and a card for each lecture.

    ```{opening}
    :start: lectures/01_limits_of_recurrence
    :need: lectures/00_before_you_start

    What you will be able to do.
    ```

shows the question, the sentence with its two buttons, what the course is about, and one button
that starts, with what a reader needs below; whoever has started goes on from there (`remember.js`).
A click draws the arc to the subject and asks the stored model (`open_model.py`), whose script is
loaded only then.

    ```{lecture-cards}
    lectures/04_masks: What a token may see decides what a model learns.
    ```

shows one card a line. Title, sheet and the minutes of both come from the notebooks, the glyph from
`_ext/glyphs/NUMBER.svg`; `remember.js` adds the reader's progress.
"""

import json
import re
from html import escape
from pathlib import Path

import open_model
import teaching
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent
NUMBER = re.compile(r"\w+/(\d\d)_")
TIME = re.compile(r"^Time: .*?(\d+) with the interactive parts\.", re.M)
PROJECT = "exercises/14_project.ipynb"

SENTENCE = [["the letters", "the letter"], ["in the drawer", "in the drawers"]]
SENTENCE += [["under the lamp that hums", "under the lamps that hum"]]

OPENING = """<style>
{style}
</style>
<div class="landing">
<p class="question" id="question">Which verb fits the gap?</p>
<div class="sentence">
<p>The <span class="subject">letters</span> in the <span class="attractor">drawer</span> under the
<span class="attractor">lamp</span> that hums
<span class="gap" role="group" aria-labelledby="question">
<button type="button" disabled>lie</button>
<button type="button" disabled>lies</button></span> unopened.</p>
</div>
<div class="ask">
<div class="verdict" role="status"><p>Choose one, and see what a trained model says.</p></div>
<div class="asked" data-source="{source}" data-about="{about}">
<ul class="waiting" aria-hidden="true"><li>lie <i></i> ?</li><li>lies <i></i> ?</li></ul></div>
<noscript><style>.landing :is(.verdict, .asked) {{ display: none; }}</style>
<details><summary>Which verb fits?</summary><p><em>Lie</em>, because its subject is
<em>letters</em>, nine words back. Two singular nouns are closer. With JavaScript, a trained model
would fill the gap here, too.</p></details></noscript>
</div>
<div class="promise">
<p>{promise}</p>
<p class="starts"><a class="start" href="{start}">Start with lecture 1</a></p>
<p class="need">What you need</p>
<ul class="need">
<li>Python and some PyTorch. Is yours rusty? <a href="{need}">Test yourself</a>.</li>
<li>A browser to read; to run the code, a laptop or Colab. No GPU.</li>
<li>{hours}</li>
</ul>
</div>
</div>
<script>
{script}
</script>
"""


class Opening(SphinxDirective):
    """``{opening}``: the promise; options ``:start:`` and ``:need:`` are pages."""

    has_content = True
    option_spec = {  # noqa: RUF012
        "start": directives.unchanged_required,
        "need": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """The opening, as HTML."""
        self.env.note_reread()  # notebooks change without this page changing
        about = {"kind": "small", "sentence": SENTENCE, "answers": ["lie", "lies"], "quiet": True}
        about["page"] = "pages/open_the_model.html"
        html = OPENING.format(
            source=open_model.SCRIPT,
            about=escape(json.dumps(about)),
            promise=escape(" ".join(self.content), quote=False),
            hours=hours(Path(self.env.srcdir)),
            start=f"{self.options['start']}.html",
            need=f"{self.options['need']}.html",
            style=(HERE / "landing.css").read_text(encoding="utf-8").strip(),
            script=(HERE / "landing.js").read_text(encoding="utf-8").strip(),
        )
        return [nodes.raw("", html, format="html")]


def hours(root: Path) -> str:
    """What the whole course takes."""
    lectures = teaching.lectures_of(root)
    project = sum(task.minutes for task in teaching.tasks_of(teaching.markdown(root / PROJECT)))
    reading = sum(lecture.core for lecture in lectures)
    tasks = sum(task.minutes for some in lectures for task in teaching.chosen(some, None))
    read, practise, build = (round(minutes / 60) for minutes in (reading, tasks, project))
    return (
        f"About {read + practise + build} hours: {read} for the {len(lectures)} lectures, "
        f"{practise} for exercises that are checked as you go, and {build} for the project."
    )


class CardsNode(nodes.General, nodes.Element):
    """Marks where the cards go; titles are known only after every page was read."""


class LectureCards(SphinxDirective):
    """``{lecture-cards}`` with lines ``PAGE: message``."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Leave a mark on the page."""
        self.env.note_reread()  # titles and minutes change without this page changing
        lines = [line.partition(": ") for line in self.content if line.strip()]
        return [CardsNode("", cards=[(page.strip(), message) for page, _, message in lines])]


def fill_in_cards(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Replace each mark by the cards."""
    for mark in list(doctree.findall(CardsNode)):
        cards = [card(app, page, *entry) for entry in mark["cards"]]
        html = f'<ol class="lecture-cards">\n{"".join(cards)}</ol>\n'
        mark.replace_self(nodes.raw("", html, format="html"))


def card(app: Sphinx, page: str, target: str, message: str) -> str:
    """One card."""
    env = app.env
    if target not in env.titles:
        logger.warning("lecture-cards: there is no page %s", target, location=page)
        return ""
    number = NUMBER.match(target)[1]
    title = escape(env.titles[target].astext(), quote=False)
    text = teaching.markdown(Path(env.doc2path(target)))
    minutes = TIME.search(text)
    glyph = HERE / "glyphs" / f"{'project' if target.startswith('exercises/') else number}.svg"
    drawing = re.sub(r"<!--.*?-->\s*|\n", "", glyph.read_text(encoding="utf-8"))
    drawing = drawing.replace("<svg", '<svg aria-hidden="true" class="glyph"', 1)
    whole = round(sum(task.minutes for task in teaching.tasks_of(text)) / 60)
    time = f"{minutes[1]} minutes" if minutes else f"about {whole} hours"
    facts = [f"<span>{time}</span>"]
    sheet = target.replace("lectures/", "exercises/", 1)
    if sheet != target and sheet in env.titles:
        uri = app.builder.get_relative_uri(page, sheet)
        lecture = teaching.lecture_of(Path(app.srcdir), target)
        name = f"Exercises: {sum(task.minutes for task in teaching.chosen(lecture, None))} minutes"
        facts.append(f'<a href="{uri}" aria-label="{name}, lecture {int(number)}">{name}</a>')
    uri = app.builder.get_relative_uri(page, target)
    return (
        f'<li>{drawing}<h3><a href="{uri}">{title}</a></h3>'
        f"<p>{escape(message, quote=False)}</p>"
        f'<p class="facts">{" ".join(facts)}</p></li>\n'
    )


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.add_node(CardsNode)
    app.add_directive("opening", Opening)
    app.add_directive("lecture-cards", LectureCards)
    app.connect("doctree-resolved", fill_in_cards)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
