"""What the site needs beyond Jupyter Book: tables of measured times, and a repair.

The directive ``execution-times`` lists every notebook of the table of contents with the seconds
that its last execution took (``metadata.lamplight.seconds``, written by ``tools/execute.py``).
The directive ``benchmark-table`` shows a part of what ``benchmarks/attention.py`` and
``benchmarks/decoding.py`` stored.
"""

import json
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
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
        if path.suffix != ".ipynb" or path.parent.name == "exercises":  # no outputs stored there
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


class BenchmarkTable(SphinxDirective):
    """``{benchmark-table} PART`` with ``:device: cpu``, the default, or ``cuda``.

    PART is ``summary``, ``forward``, ``backward``, ``functions`` or ``decoding``. Without stored
    results for the CPU the build warns; without those for a GPU there is nothing to show.
    """

    required_arguments = 1
    option_spec = {"device": lambda text: directives.choice(text, ("cpu", "cuda"))}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """The nodes of one part."""
        parts = {
            "summary": benchmark_summary,
            "forward": benchmark_modules,
            "backward": benchmark_modules,
            "functions": benchmark_functions,
            "decoding": benchmark_decoding,
        }
        part = directives.choice(self.arguments[0], tuple(parts))
        device = self.options.get("device", "cpu")
        name = "decoding" if part == "decoding" else device
        path = Path(self.env.srcdir) / "benchmarks" / "results" / f"{name}.json"
        self.env.note_reread()  # results change, or come to be, without this page changing
        if not path.exists():
            if device == "cpu":
                logger.warning("no benchmark results are stored; run `make bench`")
            return []
        results = json.loads(path.read_text(encoding="utf-8"))
        return parts[part](results, part, device)


def benchmark_summary(results: dict, _part: str, device: str) -> list[nodes.Node]:
    """What was measured on and how the two modules compare, in sentences."""
    rows = results["modules"]
    best, worst = (choose(rows, key=lambda row: row["ratio"]) for choose in (min, max))

    def where(row: dict) -> str:
        kind = "forward and backward" if row["backward"] else "forward"
        mask = "causal" if row["causal"] else "no mask"
        size = f"batch {row['batch']}, length {row['length']}, width {row['width']}"
        return f"{row['ratio']:.2f} ({size}, {mask}, {kind})"

    sentences = benchmark_conditions(results)
    sentences += [
        f"Median of all {len(rows)} ratios: {results['median ratio']:.2f}; smallest "
        f"{where(best)}; largest {where(worst)}."
    ]
    both_ways = all("fast path" in row for row in rows if not row["backward"])
    used = "the faster one" if both_ways else "the fast path, which torch chooses"
    sentences += [f"Of torch's two code paths without gradients, the table uses {used}."]
    if results["left out"]:
        sizes = ", ".join(" × ".join(map(str, size)) for size in results["left out"])
        sentences += [
            f"Sizes left out because they take minutes (batch × length × width): {sizes}."
        ]
    title = [nodes.rubric("", "On a GPU")] if device == "cuda" else []
    return [*title, bullets(sentences)]


def benchmark_conditions(results: dict) -> list[str]:
    """What was measured on, in sentences."""
    sentences = [
        f"{results['machine']}, {results['dtype']}, heads of width {results['head width']}.",
        f"Each time is the smallest of {results['repeats']} repeats or more.",
    ]
    if results["load"]:
        first, last = results["load"]
        sentences += [
            f"Load average (processes that were using or waiting for a core, including this one): "
            f"{first} at the start, {last} at the end."
        ]
    return sentences


def bullets(sentences: list[str]) -> nodes.bullet_list:
    """A list with one sentence an item."""
    items = [nodes.list_item("", nodes.paragraph("", text)) for text in sentences]
    return nodes.bullet_list("", *items)


def benchmark_modules(results: dict, part: str, _device: str) -> list[nodes.Node]:
    """One row a size: our time and the ratio to torch's, without and with a causal mask."""
    sizes: dict[tuple[int, int, int], dict[bool, dict]] = {}
    for row in results["modules"]:
        if row["backward"] == (part == "backward"):
            size = (row["batch"], row["length"], row["width"])
            sizes.setdefault(size, {})[row["causal"]] = row
    rows = [
        [*map(str, size), *(c for m in (False, True) for c in (ms(of[m]["ours"]), ratio(of[m])))]
        for size, of in sizes.items()
    ]
    heads = ["Batch", "Length", "Width", "No mask: ours, ms", "No mask: ours ÷ torch"]
    return [number_table([*heads, "Causal: ours, ms", "Causal: ours ÷ torch"], rows)]


def benchmark_functions(results: dict, _part: str, _device: str) -> list[nodes.Node]:
    """One row a length: peak memory and time of naive and of fused attention."""
    rows = [
        [
            str(row["length"]),
            *(f"{row[h]['MiB']:.1f}" if h in row else "–" for h in ("naive", "fused")),
            *(ms(row[h]["microseconds"]) if h in row else "–" for h in ("naive", "fused")),
        ]
        for row in results["functions"]
    ]
    return [number_table(["Length", "Naive, MiB", "Fused, MiB", "Naive, ms", "Fused, ms"], rows)]


def benchmark_decoding(results: dict, _part: str, _device: str) -> list[nodes.Node]:
    """One row a model and number of tokens: both times, and how many times faster the cache is."""
    rows = [
        [
            *(str(row[name]) for name in ("width", "layers", "tokens")),
            *(ms(row[way]) for way in ("with cache", "without")),
            f"{row['ratio']:.1f}",
        ]
        for row in results["rows"]
    ]
    heads = ["Width", "Layers", "Tokens", "With cache, ms", "Without, ms", "Without ÷ with"]
    return [bullets(benchmark_conditions(results)), number_table(heads, rows)]


def ms(microseconds: float) -> str:
    """Milliseconds with three digits."""
    number = f"{microseconds / 1000:#.3g}"
    return f"{float(number):.0f}" if "e" in number else number.rstrip(".")


def ratio(row: dict) -> str:
    """Our time divided by torch's."""
    return f"{row['ratio']:.2f}"


def number_table(heads: list[str], rows: list[list[str]]) -> nodes.table:
    """A table of numbers, set flush right."""
    group = nodes.tgroup("", cols=len(heads))
    group += [nodes.colspec("", colwidth=1) for _ in heads]
    group += nodes.thead("", make_row(*map(nodes.Text, heads)))
    group += nodes.tbody("", *(make_row(*map(nodes.Text, row)) for row in rows))
    for entry in group.findall(nodes.entry):
        entry["classes"] = ["text-right"]
    return nodes.table("", group, classes=["benchmark"])


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
    app.add_directive("benchmark-table", BenchmarkTable)
    app.connect("doctree-resolved", fill_in_times)
    app.connect("html-page-context", repair_bibliography)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
