"""Terms: where each was introduced, in the glossary, and where it is used, in the index.

A lecture uses a term by `{term}`; the first lecture that does so introduces it. The glossary is cut
at its letters. `{course-index}` makes the index.
"""

import re
from itertools import groupby

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

GLOSSARY = "pages/glossary"
LECTURE = re.compile(r"lectures/(\d\d)_")


class IndexNode(nodes.General, nodes.Element):
    """Marks where the index goes; it is known only after every page was read."""


class CourseIndex(SphinxDirective):
    """``{course-index}``: no argument, no option, no content."""

    def run(self) -> list[nodes.Node]:
        """Leave a mark on the page."""
        self.env.note_reread()
        return [IndexNode()]


def uses(env: BuildEnvironment) -> dict[str, dict[str, str]]:
    """For each page, the terms that it uses, each with the id of the section of its first use."""
    if not hasattr(env, "uses_of_terms"):
        env.uses_of_terms = {}
    return env.uses_of_terms


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Note the terms of a lecture that was read."""
    page = app.env.docname
    uses(app.env).pop(page, None)
    if not LECTURE.match(page):
        return
    found = {}
    for reference in doctree.findall(pending_xref):
        if reference.get("reftype") == "term":
            section = reference.parent
            while section is not None and not isinstance(section, nodes.section):
                section = section.parent
            place = section["ids"][0] if section is not None else ""
            found.setdefault(reference["reftarget"].lower(), place)
    uses(app.env)[page] = found


def forget(_app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """A page that is gone uses nothing."""
    uses(env).pop(page, None)


def lectures_with(env: BuildEnvironment, term: str) -> list[tuple[int, str, str]]:
    """Number, page and section of each lecture that uses a term, in order."""
    return [
        (int(LECTURE.match(page)[1]), page, found[term.lower()])
        for page, found in sorted(uses(env).items())
        if term.lower() in found
    ]


def named_there(app: Sphinx) -> dict[str, list[tuple[int, str, str]]]:
    """The lecture that the glossary itself names, for each term that no lecture links to."""
    pages = {int(m[1]): page for page in app.env.found_docs if (m := LECTURE.match(page))}
    found = {}
    for item in app.env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        if named := re.search(r"Introduced in lecture (\d+)\.$", item.astext()):
            number = int(named[1])
            found[item.children[0].astext()] = [(number, pages[number], "")]
    return found


def first_letter(term: str) -> str:
    """Under which letter a term stands."""
    letter = term.strip()[:1].upper()
    return letter if "A" <= letter <= "Z" else "#"


def letters(groups: list[str]) -> nodes.paragraph:
    """The line of links at the top."""
    line = nodes.paragraph(classes=["letters"])
    for letter in groups:
        line += nodes.reference("", letter, refid=f"letter-{letter.lower()}", internal=True)
        line += nodes.Text(" ")
    return line


def headed(letter: str) -> nodes.rubric:
    """The letter above its terms."""
    return nodes.rubric("", letter, ids=[f"letter-{letter.lower()}"], classes=["letter"])


def link(app: Sphinx, page: str, target: str, text: str) -> nodes.reference:
    """To a place on another page."""
    name, _, place = target.partition("#")
    uri = app.builder.get_relative_uri(page, name) + (f"#{place}" if place else "")
    return nodes.reference("", text, internal=True, refuri=uri)


def resolve(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Cut the glossary, fill in the index."""
    if page == GLOSSARY:
        for glossary in list(doctree.findall(nodes.definition_list)):
            if "glossary" in glossary["classes"]:
                cut_glossary(app, glossary, page)
    for mark in list(doctree.findall(IndexNode)):
        mark.replace_self(make_index(app, page))


def cut_glossary(app: Sphinx, glossary: nodes.definition_list, page: str) -> None:
    """One list a letter, and the lecture that introduces each term."""
    items = list(glossary.children)
    new: list[nodes.Node] = []
    names = []
    for letter, group in groupby(items, lambda item: first_letter(item.children[0].astext())):
        names.append(letter)
        part = nodes.definition_list(classes=list(glossary["classes"]))
        for item in group:
            for number, target, place in lectures_with(app.env, item.children[0].astext())[:1]:
                line = nodes.paragraph("", "Introduced in ", classes=["introduced"])
                name = f"lecture {number}" if number else app.env.titles[target].astext()
                line += link(app, page, f"{target}#{place}", name)
                line += nodes.Text(".")
                item.children[-1] += line
            last = item.children[-1].children[-1]  # some pages are named in the glossary itself
            if last.astext().startswith("Introduced in ") and not last["classes"]:
                last["classes"].append("introduced")
            part += item
        new += [headed(letter), part]
    glossary.replace_self([letters(names), *new])


def make_index(app: Sphinx, page: str) -> list[nodes.Node]:
    """All terms of the glossary, with the lectures that use each."""
    objects = app.env.get_domain("std").get_objects()
    terms = sorted(
        {(name, place) for name, _, kind, doc, place, _ in objects if kind == "term"},
        key=lambda pair: pair[0].lower(),
    )
    named = named_there(app)
    new: list[nodes.Node] = []
    names = []
    for letter, group in groupby(terms, lambda pair: first_letter(pair[0])):
        names.append(letter)
        part = nodes.bullet_list(classes=["course-index"])
        for term, place in group:
            line = nodes.paragraph("", "", link(app, page, f"{GLOSSARY}#{place}", term))
            for number, target, section in lectures_with(app.env, term) or named.get(term, []):
                line += nodes.Text(" ")
                where = link(app, page, f"{target}#{section}", str(number))
                where["reftitle"] = app.env.titles[target].astext()
                line += where
            part += nodes.list_item("", line)
        new += [headed(letter), part]
    return [letters(names), *new]


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.add_node(IndexNode)
    app.add_directive("course-index", CourseIndex)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("doctree-resolved", resolve)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
