"""What the site needs beyond Jupyter Book: the table of execution times, and a repair.

The directive ``execution-times`` lists every notebook of the table of contents with the seconds
that its last execution took (``metadata.lamplight.seconds``, written by ``tools/execute.py``).
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)


class ExecutionTimesNode(nodes.General, nodes.Element):
    """Marks where the table goes; titles are known only after every page was read."""


class ExecutionTimes(SphinxDirective):
    """``{execution-times}``: no argument, no option, no content."""

    def run(self) -> list[nodes.Node]:
        """Leave a mark on the page."""
        self.env.note_reread()  # notebooks change without this page changing
        return [ExecutionTimesNode()]


def documents_in_order(env: BuildEnvironment) -> list[str]:
    """Names of all pages in the order of the table of contents."""
    found: list[str] = []

    def visit(name: str) -> None:
        if name not in found:
            found.append(name)
            for child in env.toctree_includes.get(name, []):
                visit(child)

    visit(env.config.root_doc)
    return found


def recorded_seconds(notebook: Path) -> float | None:
    """Seconds stored in a notebook's metadata, or None if it was never executed by our tool."""
    metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
    seconds = metadata.get("lamplight", {}).get("seconds")
    return None if seconds is None else float(seconds)


def make_row(*cells: nodes.Node) -> nodes.row:
    """A table row with one paragraph a cell."""
    row = nodes.row()
    for cell in cells:
        row += nodes.entry("", nodes.paragraph("", "", cell))
    return row


def make_table(app: Sphinx, page: str) -> nodes.table:
    """The table of all notebooks, linked from ``page``, with the total in the last row."""
    env = app.env
    body = nodes.tbody()
    total = 0.0
    for name in documents_in_order(env):
        path = Path(env.doc2path(name))
        if path.suffix != ".ipynb":
            continue
        seconds = recorded_seconds(path)
        if seconds is None:
            logger.warning("no execution time is stored; run `make execute NB=%s.ipynb`", name)
            continue
        total += seconds
        link = nodes.reference("", "", internal=True)
        link["refuri"] = app.builder.get_relative_uri(page, name)
        link += nodes.Text(env.titles[name].astext())
        body += make_row(link, nodes.Text(f"{seconds:.0f}"))
    body += make_row(nodes.strong("", "All notebooks"), nodes.strong("", f"{total:.0f}"))

    group = nodes.tgroup("", cols=2)
    group += [nodes.colspec("", colwidth=width) for width in (4, 1)]
    group += nodes.thead("", make_row(nodes.Text("Notebook"), nodes.Text("Seconds")))
    group += body
    return nodes.table("", group, classes=["execution-times"])


def fill_in_times(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Replace each mark by the table."""
    for mark in list(doctree.findall(ExecutionTimesNode)):
        mark.replace_self(make_table(app, page))


def repair_bibliography(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Make each bibliography entry an item of its list.

    The HTML writer gives entries a role that ARIA has withdrawn, so that the list around them has
    no items and a screen reader announces an empty list.
    """
    if 'role="doc-biblioentry"' in context.get("body", ""):
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.add_node(ExecutionTimesNode)
    app.add_directive("execution-times", ExecutionTimes)
    app.connect("doctree-resolved", fill_in_times)
    app.connect("html-page-context", repair_bibliography)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
