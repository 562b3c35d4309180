"""Folds and figures: predictions that do not give themselves away, one kind of fold, numbers.

- From a question "Predict, then run" to the admonition with the class `explanation`, all becomes
  one box. The question, the field and the code to be run are seen; what comes out and why are
  folded until the reader guesses or asks (`_static/predict.js`). Without JavaScript it is a native
  fold. Where there is no explanation, the fold holds the folded output and the paragraph after it.
- An admonition with the class `dropdown`, such as *Fine print*, becomes a native fold.
- Cells that only set up a notebook, folded and without output, and the imports of a sheet become a
  fold that names what they define, so that no function on a page comes from nowhere. It is not
  colored: that would make the pages much heavier.
- In a question for an examination the answer is folded.
- Folded code of a cell with the tag `answer` is named "Show the answer".
- A cell whose metadata holds a sentence as `slide` shows it on its slide (`_static/present.js`).
- Captions of figures in outputs are numbered, as in "Figure 7.3".
- A style or script that several outputs bring along stands on the page once.
"""

import re
from html import escape

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

LECTURE = re.compile(r"lectures/(\d\d)_")
CAPTION = re.compile(r"<figcaption(?: [^>]*)?>")
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
SCRIPT = re.compile(r"<script>.*?</script>", re.DOTALL)


class FoldNode(nodes.General, nodes.Element):
    """A fold; `summary` is the line to press."""


def open_fold(self: HTML5Translator, node: FoldNode) -> None:
    """The line to press."""
    classes = " ".join(["fold", *node["classes"]])
    text = self.encode(node["summary"])
    self.body.append(f'<details class="{classes}"><summary>{text}</summary>\n')


def close_fold(self: HTML5Translator, _node: FoldNode) -> None:
    """The end of it."""
    self.body.append("</details>\n")


def open_cell_fold(self: HTML5Translator, node: HideCodeCellNode) -> None:
    """A folded part of a cell, whose line to press says what is behind it.

    MyST-NB gives each the name "Toggle hidden content", which hides what the line says from a
    screen reader.
    """
    code = "above-input" in node["classes"]
    kind, what = ("code", "Show the code") if code else ("output", "Show the result")
    if "tag_answer" in node.parent["classes"]:
        what = "Show the answer"
    classes = " ".join(["fold", f"fold-{kind}", *node["classes"]])
    self.body.append(f'<details class="{classes}"><summary>{what}</summary>\n')


# ------------------------------------------------------------------ cells


def is_cell(node: nodes.Node) -> bool:
    """Whether a node is a cell with code."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def part(cell: nodes.Node, kind: str) -> nodes.Element | None:
    """The source or the output of a cell."""
    for child in cell.children:
        if isinstance(child, nodes.container) and child.get("nb_element") == f"cell_code_{kind}":
            return child
    return None


def asks(cell: nodes.Node) -> bool:
    """Whether a cell shows the field of a prediction."""
    return is_cell(cell) and not part(cell, "source") and "quiz predict" in cell_text(cell)


def cell_text(cell: nodes.Node) -> str:
    """All that stands in a cell's outputs, raw HTML included."""
    return "".join(raw.astext() for raw in cell.findall(nodes.raw))


def summary_of(code: str) -> str:
    """The line of a fold with code that only sets up: what it defines, checks or answers."""
    if code.startswith("# @title The answer\n"):
        return "Show the answer"
    names = re.findall(r"^(?:def|class) (\w+)", code, re.MULTILINE)
    more = f" and {len(names) - 6} more" if len(names) > 7 else ""
    shown = ", ".join(names[:6] if more else names) + more
    if "import " not in code:
        checks = re.search(r"\bassert", code)
        what = "Show the check" if checks else "Show the code"
        return f"Show the code of {shown}" if shown else what
    return f"Show the imports, and {shown}" if shown else "Show the imports"


def titled(node: nodes.Node, start: str) -> bool:
    """Whether a node is an admonition whose title begins so."""
    if not isinstance(node, nodes.admonition):
        return False
    title = next(iter(node.findall(nodes.title)), None)
    return title is not None and title.astext().startswith(start)


class Folds(SphinxTransform):
    """Makes the boxes and folds when a page is read."""

    default_priority = 350

    def apply(self) -> None:
        """Change the page."""
        for section in list(self.document.findall(nodes.section)):
            self.fold_setup(section)
            self.box_predictions(section)
        for item in list(self.document.findall(nodes.list_item)):
            self.fold_answer(item)
        for node in list(self.document.findall(nodes.admonition)):
            if "dropdown" in node["classes"]:
                title = node.children[0]
                classes = [
                    name
                    for name in node["classes"]
                    if not name.startswith(("dropdown", "admonition"))
                ]
                fold = FoldNode("", *node.children[1:], summary=title.astext(), classes=classes)
                node.replace_self(fold)

    @staticmethod
    def fold_answer(item: nodes.list_item) -> None:
        """In a question for an examination, all from *A good answer* on."""
        for number, node in enumerate(item.children):
            first = next(iter(node.children), None)
            if isinstance(first, nodes.emphasis) and first.astext() == "A good answer.":
                fold = FoldNode("", summary="A good answer, and its marks", classes=["answer"])
                inside = item.children[number:]
                for part in inside:
                    item.remove(part)
                fold += inside
                item += fold
                return

    def fold_setup(self, section: nodes.section) -> None:
        """Neighbouring cells that only import and define become one fold."""
        sheet = self.env.docname.startswith(("exercises/", "solutions/"))
        if not sheet and not LECTURE.match(self.env.docname):
            return
        last = None
        for cell in list(section.children):
            source = part(cell, "source") if is_cell(cell) else None
            code = source.astext() if source else ""
            imports = sheet and code.startswith(("import ", "from "))
            folded = imports or (code and not sheet and cell.get("hide_mode") == "input")
            if not folded or part(cell, "output"):
                last = None
                continue
            if last is None:
                last = FoldNode("", classes=["fold-code", "setup"])
                last += nodes.literal_block("", "", language="none")
                section.insert(section.index(cell), last)
            block = last.children[0]
            text = f"{block.astext()}\n\n\n{code}" if block.children else code
            last.children[0] = nodes.literal_block(text, text, language="none")
            last["summary"] = summary_of(text)
            section.remove(cell)

    def box_predictions(self, section: nodes.section) -> None:
        """Group what belongs to each question."""
        at = 0
        while at < len(section.children):
            question = section.children[at]
            at += 1
            if titled(question, "Predict"):
                group = self.group(section, at)
                if group:
                    self.box(section, question, group)

    @staticmethod
    def group(section: nodes.section, start: int) -> list[nodes.Node]:
        """The siblings from after the question to the explanation, or as far as one can tell."""
        rest = section.children[start:]
        for number, node in enumerate(rest):
            if isinstance(node, nodes.section) or titled(node, "Predict"):
                break
            if "explanation" in getattr(node, "attributes", {}).get("classes", ()):
                return rest[: number + 1]
        cells = []
        for node in rest:
            if not is_cell(node):
                break
            cells.append(node)
        while cells and cells[-1].get("hide_mode") != "output":
            cells.pop()
        after = rest[len(cells) : len(cells) + 1]
        return cells + [n for n in after if cells and isinstance(n, nodes.paragraph)]

    def box(self, section: nodes.section, question: nodes.Node, group: list[nodes.Node]) -> None:
        """Put the question and its group into one box."""
        box = nodes.container(classes=["prediction"])
        box["ids"] = [f"prediction-{self.env.new_serialno('prediction') + 1}"]
        fold = FoldNode("", summary="Show the result", classes=["result"])
        place = section.index(question)
        section.remove(question)
        box += question
        shown = False  # the code that is to be run
        for node in group:
            section.remove(node)
            if asks(node):
                box += node
            elif is_cell(node):
                if node.get("hide_mode") in ("output", "input+output", "all"):
                    node["hide_mode"] = "input" if node["hide_mode"] != "output" else ""
                source, output = part(node, "source"), part(node, "output")
                if source and not shown and not node.get("hide_mode"):
                    shown = True
                    if output:
                        node.remove(output)
                        below = node.copy()
                        below += output
                        fold += below
                    box += node
                else:
                    fold += node
            else:
                fold += node
        box += fold
        section.insert(place, box)


# ------------------------------------------------------------------ pages


def bring_sentences(_app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Put the sentence of a cell's metadata before the cell, where only slides show it."""
    said = set()  # a prediction cuts a cell into its code and its output
    for cell in filter(is_cell, list(doctree.findall(nodes.container))):
        sentence = cell["cell_metadata"].get("slide")
        if sentence and cell["cell_index"] not in said:
            said.add(cell["cell_index"])
            html = f'<p class="for-slides" hidden>{escape(sentence, quote=False)}</p>'
            cell.insert(0, nodes.raw("", html, format="html"))


def number_figures(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Number captions, and keep one of what several outputs bring along."""
    body = context.get("body", "")
    lecture = LECTURE.match(page)
    if lecture or page.startswith("solutions/"):  # a sheet's own: Figure 1, not Figure 8.1
        count = 0
        before = f"{int(lecture[1])}." if lecture else ""

        def numbered(caption: re.Match) -> str:
            nonlocal count
            count += 1
            return f'{caption[0]}<span class="figure-number">Figure {before}{count}</span> '

        body = CAPTION.sub(numbered, body)
    if "<style>" in body or "<script>" in body:
        body = once(SCRIPT, once(STYLE, body), last=True)
    context["body"] = body


def once(pattern: re.Pattern, body: str, last: bool = False) -> str:
    """A page in which of equal parts only the first is left, or the last.

    Scripts look for what stands before them, so the last one does for all.
    """
    seen = set()
    kept = []
    matches = list(pattern.finditer(body))
    for match in reversed(matches) if last else matches:
        if match[0] not in seen:
            kept.append(match.start())
            seen.add(match[0])
    return pattern.sub(lambda match: match[0] if match.start() in kept else "", body)


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.add_node(FoldNode, html=(open_fold, close_fold))
    app.add_node(HideCodeCellNode, override=True, html=(open_cell_fold, close_fold))
    app.add_transform(Folds)
    app.connect("doctree-resolved", bring_sentences)
    app.connect("html-page-context", number_figures)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
