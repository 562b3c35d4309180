"""One week is one place: a lecture, its sheet and the answers to it know of each other.

From the numbers in the file names (`lectures/04_…`, `exercises/04_…`, `solutions/04_…`):

- a lecture's core ends with two links, *Exercises* and *Next lecture*;
- a sheet says at its top how to run it, and its rules, the same on every sheet, are folded;
- a page of answers has a title of its own and says at its top where the sheet is; the marks that
  the notebooks are made with are not shown.
"""

import re

from docutils import nodes
from folds import FoldNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

PAGE = re.compile(r"(lectures|exercises|solutions)/(\d\d)_")
# "#|" begins a line of the students' notebook that the answer replaces.
MARKS = re.compile(r"^ *(?:# (?:BEGIN|END) SOLUTION\b.*|#\|.*)(?:\n|\Z)", re.M)
SHEET = re.compile(r"^Exercises (\d+): ")


def pages_of(env: BuildEnvironment, folder: str) -> dict[int, str]:
    """The pages of a folder by the number of their lecture."""
    found = {}
    for name in env.found_docs:
        match = PAGE.match(name)
        if match and match[1] == folder:
            found[int(match[2])] = name
    return found


class OfAnswers(SphinxTransform):
    """Title and code of a page of answers, before anything is collected from it."""

    default_priority = 300

    def apply(self) -> None:
        """Change them."""
        if not self.env.docname.startswith("solutions/"):
            return
        title = next(iter(self.document.findall(nodes.title)), None)
        if title is not None:
            text = SHEET.sub(r"Answers to sheet \1: ", title.astext())
            if text == title.astext():
                text = f"{text}: a worked answer"
            title.children = []
            title += nodes.Text(text)
        for block in self.document.findall(nodes.literal_block):
            text = MARKS.sub("", block.astext())
            if text != block.astext():
                block.children = []
                block.rawsource = text
                block += nodes.Text(text)


def link(app: Sphinx, page: str, target: str, text: str, *classes: str) -> nodes.reference:
    """A link between two pages."""
    uri = app.builder.get_relative_uri(page, target)
    return nodes.reference("", text, internal=True, refuri=uri, classes=list(classes))


def show_the_way(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put the links of a week on a page of it."""
    match = PAGE.match(page)
    if not match or app.builder.name != "html":
        return
    kind, number = match[1], int(match[2])
    add = {"lectures": after_the_core, "exercises": how_to_run, "solutions": try_first}
    add[kind](app, doctree, page, number)
    if kind != "lectures":
        fold_rules(doctree)


def fold_rules(doctree: nodes.document) -> None:
    """Fold the list of a sheet's rules, which who has done a sheet knows."""
    for section in doctree.findall(nodes.section):
        if section.children[0].astext() == "How this works":
            for rules in [part for part in section.children if isinstance(part, nodes.bullet_list)]:
                fold = FoldNode("", summary="How checking, hints and points work")
                section.replace(rules, fold)
                fold += rules


def after_the_core(app: Sphinx, doctree: nodes.document, page: str, number: int) -> None:
    """The two buttons, in front of *Deeper*, or at the end of a lecture that has no such part."""
    for time in doctree.findall(nodes.paragraph):
        if time.astext().startswith("Time: "):
            time["classes"].append("time")
            break
    sheets, lectures = pages_of(app.env, "exercises"), pages_of(app.env, "lectures")
    box = nodes.container(classes=["ways-on"])
    line = nodes.paragraph()
    if number in sheets:
        name = "The project" if sheets[number].endswith("_project") else "Exercises"
        line += link(app, page, sheets[number], name, "way-on", "first")
    if number + 1 in lectures:
        target = lectures[number + 1]
        text = "Next lecture: " + app.env.titles[target].astext()
        line += link(app, page, target, text, "way-on")
    elif number + 1 in sheets:
        line += link(app, page, sheets[number + 1], "The project", "way-on")
    if not line.children:
        return
    box += line
    sections = [s for s in doctree.findall(nodes.section) if s.children]
    for section in sections:
        if section.children[0].astext() == "Deeper":
            section.parent.insert(section.parent.index(section), box)
            return
    if sections:
        sections[0] += box


def top(doctree: nodes.document, box: nodes.Node) -> None:
    """Put something right below the title of a page."""
    section = next(iter(doctree.findall(nodes.section)))
    section.insert(1, box)


def how_to_run(app: Sphinx, doctree: nodes.document, page: str, number: int) -> None:
    """One line for those who open a sheet, in place of the badge of its notebook."""
    for picture in list(doctree.findall(nodes.image)):
        if "colab" in picture["uri"]:
            picture.parent.parent.parent.remove(picture.parent.parent)
    config = app.config.html_theme_options
    repository = config.get("repository_url", "").removeprefix("https://github.com/")
    colab = f"https://colab.research.google.com/github/{repository}/blob/"
    colab += f"{config.get('repository_branch', 'main')}/{page}.ipynb"
    notebook = app.builder.get_relative_uri(page, f"_sources/{page}").removesuffix(".html")
    line = nodes.paragraph("", "Run this sheet ", classes=["run-it"])
    line += nodes.reference("", "on Colab", refuri=colab)
    line += nodes.Text(", ")
    line += nodes.reference("", "download the notebook", refuri=f"{notebook}.ipynb")
    line += nodes.Text(", or type ")
    line += nodes.literal("", "make lab")
    line += nodes.Text(" in a copy of the course. ")
    if number in (answers := pages_of(app.env, "solutions")):
        line += link(app, page, answers[number], "Model answers")
        line += nodes.Text(" are there when you want to compare.")
    top(doctree, line)


def try_first(app: Sphinx, doctree: nodes.document, page: str, number: int) -> None:
    """A banner for those who come to answers, perhaps from a search."""
    box = nodes.admonition(classes=["answers"])
    box += nodes.title("", "These are the model answers")
    line = nodes.paragraph()
    if number in (sheets := pages_of(app.env, "exercises")):
        line += link(app, page, sheets[number], "Try the sheet first")
        line += nodes.Text(": an answer that you have found stays with you.")
    box += line
    top(doctree, box)


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.add_transform(OfAnswers)
    app.connect("doctree-resolved", show_the_way)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
