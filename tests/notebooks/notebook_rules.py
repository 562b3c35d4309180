"""What every committed notebook must keep, as functions that return a list of complaints.

They are functions so that `test_mutations.py` can apply them to spoiled copies.
"""

import copy
import re
import statistics

from nbformat import NotebookNode

from tools import times
from tools.address import colab_cell
from tools.execute import is_folded, predicted

MEDIAN_LINES, USUAL_LINES, MOST_LINES = 6, 20, 40
PROSE_WORDS = (70, 130)
IGNORED_SHARE = 0.10
WIDEST = 74
"""Characters of code that the page has room for."""
LONGEST_RUN = 120
"""Seconds that a lecture may run."""


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook: NotebookNode) -> str:
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def not_run(notebook: NotebookNode) -> list[str]:
    """nbval skips a cell without an execution count, so a cleared notebook would pass it."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        return [f"execution counts are {counts}, not 1..{len(counts)}: make execute"]
    return []


def without_output(notebook: NotebookNode) -> list[str]:
    """A cell that ends in an expression or calls print or show must have an output stored."""
    talks = re.compile(r"^(print|show|quiz|predict|display)\(|^\s+(print|show)\(", re.MULTILINE)
    return [
        f"a cell prints or shows something but has no output: make execute ({cell.source[:40]!r})"
        for cell in code_cells(notebook)
        if talks.search(cell.source) and not cell.outputs
    ]


def bad_outputs(notebook: NotebookNode) -> list[str]:
    """Errors, warnings, paths of a machine, time stamps, object addresses, walls of output."""
    complaints = []
    patterns = {
        "a warning": r"Warning\b",
        "a path of a machine": r"(?<![\w.])/(home|root|tmp|Users|work|usr|opt)/\w|[A-Z]:\\\\",
        "an object's address": r" at 0x[0-9a-f]{6,}",
        "a time stamp": r"20\d\d-\d\d-\d\d[ T]\d\d:\d\d",
        "a script or file of another server": r"(src|href)=[\"']?(https?:)?//",
    }
    for cell in code_cells(notebook):
        for output in cell.outputs:
            where = f"cell {cell.execution_count}"
            if output.output_type == "error" and "raises-exception" not in tags(cell):
                complaints.append(f"{where} stores an error: {output.ename}")
            if output.output_type == "stream" and output.name == "stderr":
                complaints.append(f"{where} writes to stderr: {output.text[:60]!r}")
            text = str(output.get("text", "")) + str(output.get("data", ""))
            complaints += [f"{where} shows {n}" for n, p in patterns.items() if re.search(p, text)]
            plain = output.get("text", "") or output.get("data", {}).get("text/plain", "")
            if plain.count("\n") > 30:
                complaints.append(f"{where} prints {plain.count(chr(10))} lines")
        if "execution" in cell.metadata:
            complaints.append(f"cell {cell.execution_count} stores when it ran")
    return complaints


def too_much_ignored(notebook: NotebookNode) -> list[str]:
    """nbval must compare at least nine cells of ten, and may skip none."""
    cells = code_cells(notebook)
    ignored = [c for c in cells if "nbval-ignore-output" in tags(c)]
    skipped = [c.execution_count for c in cells if "nbval-skip" in tags(c)]
    complaints = [f"cells {skipped} are skipped by nbval"] if skipped else []
    if len(ignored) > IGNORED_SHARE * len(cells):
        complaints.append(f"{len(ignored)} of {len(cells)} cells are ignored by nbval")
    return complaints


def bad_form(notebook: NotebookNode) -> list[str]:
    """Ids, kernel, the first code cell, the recorded seconds."""
    complaints = []
    ids = [cell.get("id") for cell in notebook.cells]
    if None in ids or len(set(ids)) != len(ids):
        complaints.append("cells lack ids of their own")
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        complaints.append("the kernel is not python3")
    cells = code_cells(notebook)
    if not cells or cells[0].source != colab_cell(notebook):
        complaints.append("the first code cell is not the Colab cell: make address")
    if not isinstance(notebook.metadata.get("lamplight", {}).get("seconds"), int):
        complaints.append("its execution time is not recorded: make execute")
    return complaints


def predictions_given_away(notebook: NotebookNode) -> list[str]:
    """What comes out after "Predict, then run" is folded, nothing else is, and something does."""
    groups = predicted(notebook)
    folded = [cell.id for group in groups for cell in group]
    complaints = [
        f"prediction {n}: no output follows before the next text"
        for n, group in enumerate(groups, 1)
        if not group
    ]
    for cell in code_cells(notebook):
        touched = is_folded(cell) or "hide-output" in tags(cell)
        if cell.id in folded and not is_folded(cell):
            complaints.append(f"cell {cell.execution_count} is not folded: make execute")
        elif cell.id not in folded and touched:
            complaints.append(f"cell {cell.execution_count} follows no prediction: make execute")
    return complaints


def figures_without_words(notebook: NotebookNode) -> list[str]:
    """Each picture says in words what it shows; a bare matplotlib picture has no way to."""
    complaints = []
    for cell in code_cells(notebook):
        for output in cell.outputs:
            data = output.get("data", {})
            if {"image/png", "image/svg+xml", "image/jpeg"} & set(data):
                complaints.append(f"cell {cell.execution_count} shows a picture without show()")
            for svg in re.findall(r"<svg[^>]*>", str(data.get("text/html", ""))):
                label = re.search(r'aria-label="([^"]*)"', svg)
                hidden = 'aria-hidden="true"' in svg
                if not hidden and (label is None or len(label[1].split()) < 4):
                    complaints.append(f"cell {cell.execution_count} has a drawing without words")
    return complaints


def cell_too_long(notebook: NotebookNode) -> list[str]:
    """No cell, seen or hidden, is longer than a reader keeps in view."""
    return [
        f"a cell has {size} lines, more than {MOST_LINES}: {cell.source[:40]!r}"
        for cell in code_cells(notebook)
        if (size := sum(bool(line.strip()) for line in cell.source.splitlines())) > MOST_LINES
    ]


def cells_mostly_long(notebook: NotebookNode) -> list[str]:
    """One idea to a cell. A quiz is not read as code, and a folded cell may be a little longer."""
    lines = sorted(
        sum(bool(line.strip()) for line in cell.source.splitlines())
        for cell in code_cells(notebook)
        if not {"remove-input", "remove-cell", "hide-input"} & set(tags(cell))
    )
    complaints = []
    if statistics.median(lines) > MEDIAN_LINES:
        complaints.append(f"half of the code cells have more than {MEDIAN_LINES} lines")
    if lines[int(0.9 * (len(lines) - 1))] > USUAL_LINES:
        complaints.append(f"more than a tenth of the code cells exceed {USUAL_LINES} lines")
    return complaints


COLORED = re.compile(r"(?:fill|stroke)(?:=[\"']?|: *)#[0-9a-f]{3}")


def measured_figures_empty(notebook: NotebookNode) -> list[str]:
    """nbval does not compare measured figures, so each must show at least something in colour."""
    complaints = []
    for cell in code_cells(notebook):
        for output in cell.outputs:
            page = str(output.get("data", {}).get("text/html", ""))
            for figure in re.findall(r"<figure[^>]*data-measured.*?</figure>", page, re.DOTALL):
                # The numbers of these stand in their text, and they have tests of their own.
                alive = 'class="heat"' in figure or "data-explorable" in figure
                if not alive and not COLORED.search(figure):
                    complaints.append(
                        f"cell {cell.execution_count}: a measured figure shows no data"
                    )
    return complaints


NUMBER = re.compile(r"(?<![\w.,])(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?")
DECIMAL = re.compile(r"(?<![\w.,])\d*\.\d+(?!\.?\d)")
NO_QUOTE = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|\]\([^)]*\)", re.DOTALL)
CALCULATED = re.compile(r"[=×÷/]|to the power")


def shown(cells: list[NotebookNode]) -> list[float]:
    """The numbers that stand in code, in what it prints, and in what figures say in words."""
    texts = []
    for cell in cells:
        if cell.cell_type == "code" and "quiz(" not in cell.source:
            texts.append(cell.source)
            for output in cell.outputs:
                data = output.get("data", {})
                page = str(data.get("text/html", ""))
                texts += [str(output.get("text", "")), str(data.get("text/plain", ""))]
                texts += re.findall(r'aria-label="([^"]*)"', page)
                texts += re.findall(r"<t[dh][^>]*>([^<]+)<", page)
    found = NUMBER.findall("\n".join(texts).replace("−", "-"))
    return [float(number.replace(",", "")) for number in found]


def quotes(text: str) -> list[str]:
    """The numbers with a decimal point that a text may quote.

    What is calculated in the paragraph (with =, ×, ÷, /), taken from a source, or part of a formula
    is no quotation.
    """
    found = []
    for paragraph in re.split(r"\n\s*\n", text):
        bare = NO_QUOTE.sub("", paragraph)
        if "{cite" not in paragraph and not CALCULATED.search(bare):
            found += DECIMAL.findall(bare)
    return found


LOOKS_BACK = re.compile(r"^## (In one page|What we showed)$", re.MULTILINE)


def numbers_not_shown(notebook: NotebookNode) -> list[str]:
    """A number in prose that quotes an output is one that a cell of its section shows, rounded.

    Sections that look back over the page (from *What we showed* on) may quote every cell before.
    """
    sections: list[list[NotebookNode]] = [[]]
    complaints, back = [], False
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and re.search(r"^## ", cell.source, re.MULTILINE):
            sections.append([])
        sections[-1].append(cell)
    for section in filter(None, sections):
        back |= bool(LOOKS_BACK.search(section[0].source))
        there = shown(notebook.cells if back else section)
        for cell in section:
            for number in quotes(cell.source) if cell.cell_type == "markdown" else []:
                near = 0.500001 * 10 ** -len(number.partition(".")[2])
                if not any(abs(x - float(number)) < near for x in there):
                    heading = re.findall(r"^## (.*)$", section[0].source, re.MULTILINE)
                    complaints.append(f"{heading[:1]}: no cell of this section shows {number}")
    return complaints


def lines_too_wide(notebook: NotebookNode) -> list[str]:
    """Visible code fits the page: what is wider is cut there."""
    return [
        f"cell {cell.execution_count}: {len(line)} characters, more than {WIDEST}: {line}"
        for cell in code_cells(notebook)
        if not times.HIDDEN & set(tags(cell))
        for line in cell.source.splitlines()
        if len(line) > WIDEST
    ]


def ids_shared(stored: dict) -> list[str]:
    """Each cell has an id of its own. Reading by nbformat would mend this without a word."""
    ids = [cell.get("id") for cell in stored["cells"]]
    return [
        f"cell {n} has no id of its own ({name}): jupytext --update gave a new cell that of its "
        "neighbour; make address gives it another"
        for n, name in enumerate(ids)
        if name is None or name in ids[:n]
    ]


def prose_out_of_range(notebook: NotebookNode) -> list[str]:
    """Enough words between cells to follow, not so many that the cells are lost.

    A question whose code is never shown is a part of the text and no cell of code.
    """
    low, high = PROSE_WORDS
    read = [cell for cell in code_cells(notebook) if "remove-input" not in tags(cell)]
    words = len(prose(notebook).split()) / len(read)
    return [] if low <= words <= high else [f"{words:.0f} words per code cell, not {low} to {high}"]


def parts_missing(notebook: NotebookNode) -> list[str]:
    """The parts that every lecture has."""
    text = prose(notebook)
    sources = "\n".join(cell.source for cell in code_cells(notebook))
    needed = {
        "the Colab badge": "[![Open in Colab]" in text,
        "the time it takes": re.search(r"^Time: .* to run\.$", text, re.MULTILINE),
        "outcomes": "you will be able to" in text.lower(),
        "predict, then run": "predict" in text.lower(),
        "a quiz": "quiz(" in sources,
        "what was shown": LOOKS_BACK.search(text),
        "a table of shapes": re.search(r"\|.*shape.*\|", text, re.IGNORECASE),
        "further reading with sources": re.search(r"\{cite", text),
        "what comes next": re.search(r"^#+ .*next", text, re.IGNORECASE | re.MULTILINE),
    }
    return [f"{part} is missing" for part, there in needed.items() if not there]


def runs_too_long(notebook: NotebookNode) -> list[str]:
    """By the seconds that the stored run took, wherever that was."""
    seconds = notebook.metadata["lamplight"]["seconds"]
    return [] if seconds <= LONGEST_RUN else [f"it runs {seconds} s, not {LONGEST_RUN} at most"]


def times_stale(notebook: NotebookNode) -> list[str]:
    """The times that a lecture states are those that `tools/times.py` computes."""
    return times.timed(copy.deepcopy(notebook))


def not_core_and_deeper(notebook: NotebookNode) -> list[str]:
    """A core of one evening that says where it ends, then *Deeper*, then what comes next."""
    complaints = times.too_long(notebook)
    headings = re.findall(r"^## (.*)$", prose(notebook), re.MULTILINE)
    lower = [heading.lower() for heading in headings]
    if "deeper" not in lower:
        return [*complaints, "there is no heading `## Deeper`"]
    if lower[lower.index("deeper") - 1] not in ("in one page", "limits"):
        complaints.append("`## Deeper` does not follow `## Limits`")
    before = prose(notebook).split("\n## Deeper")[0].split("\n\n")[-1]
    if not before.startswith("**Here the core ends.**"):
        complaints.append("no paragraph `**Here the core ends.** …` stands before `## Deeper`")
    _, sections = times.parts(notebook)
    return complaints + ([] if sections else ["there is no `### ` section under `## Deeper`"])


CORE_WORDS, CORE_LINES, CORE_PREDICTIONS, CORE_CELL = 2400, 150, 8, 25


def core_too_large(notebook: NotebookNode) -> list[str]:
    """An evening's core, by what readers took who timed themselves."""
    core, _ = times.parts(notebook)
    sizes = {
        "words": (core.words, CORE_WORDS),
        "visible lines of code": (core.lines, CORE_LINES),
        "predictions": (core.predictions, CORE_PREDICTIONS),
    }
    complaints = [
        f"the core has {size} {name}, at most {most}"
        for name, (size, most) in sizes.items()
        if size > most
    ]
    for cell in core_cells(notebook):
        size = sum(bool(line.strip()) for line in cell.source.splitlines())
        if cell.cell_type == "code" and not times.HIDDEN & set(tags(cell)) and size > CORE_CELL:
            complaints.append(f"a cell of the core has {size} lines, at most {CORE_CELL}")
    return complaints


def core_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells before *Deeper*."""
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and times.DEEPER.search(cell.source):
            break
        cells.append(cell)
    return cells


def nothing_to_play_with(notebook: NotebookNode) -> list[str]:
    """A drawing and an explorable stand in the first third of the core."""
    cells = core_cells(notebook)
    first = "".join(
        str(output.get("data", {}).get("text/html", ""))
        for cell in cells[: len(cells) // 3 + 1]
        if cell.cell_type == "code"
        for output in cell.outputs
    )
    wanted = {"a drawing": 'class="lamplight-figure drawing"', "an explorable": "data-explorable="}
    return [
        f"the first third of the core lacks {what}"
        for what, mark in wanted.items()
        if mark not in first
    ]


def figures_without_caption(notebook: NotebookNode) -> list[str]:
    """Each figure says in a caption what one sees."""
    return [
        f"cell {cell.execution_count} has a figure without a caption"
        for cell in code_cells(notebook)
        for output in cell.outputs
        for figure in re.findall(
            r'<figure class="lamplight-figure.*?</figure>',
            str(output.get("data", {}).get("text/html", "")),
            re.DOTALL,
        )
        if "<figcaption>" not in figure
    ]


def predictions_unexplained(notebook: NotebookNode) -> list[str]:
    """After each prediction and its result comes the explanation, in a box of its own."""
    complaints, asked = [], False
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        if asked and ":class: explanation" not in "\n".join(cell.source.splitlines()[:2]):
            complaints.append(f"no `What happened` box follows a prediction: {cell.source[:40]!r}")
        asked = "Predict, then run" in cell.source
    return complaints


EVERY_NOTEBOOK = (
    cell_too_long,
    not_run,
    without_output,
    bad_outputs,
    too_much_ignored,
    bad_form,
    predictions_given_away,
    figures_without_words,
    figures_without_caption,
    measured_figures_empty,
)
EVERY_LECTURE = (cells_mostly_long, prose_out_of_range, parts_missing, runs_too_long)
IN_AN_EVENING = (times_stale, not_core_and_deeper)
IN_NEW_FORM = (
    core_too_large,
    nothing_to_play_with,
    predictions_unexplained,
)
