"""Explorables: interactive figures.

Each is a small script, `helpers/viz/explorables/NAME.js`, on top of the shared `kit.js`. The output
of the cell also has a table (or another figure) for readers without JavaScript. An explorable works
on the site, in Jupyter and on Colab, without a server.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from helpers.validation import require
from helpers.viz import tables
from helpers.viz.markup import figcaption

FOLDER = Path(__file__).with_name("explorables")


def explorable(
    name: str,
    config: Mapping[str, object],
    *,
    table: tuple[Sequence[str], Sequence[Sequence[object]]] | None = None,
    still: str = "",
    caption: str,
    measured: bool = False,
) -> None:
    """Display an explorable.

    Args:
        name: of the script in `helpers/viz/explorables`, without `.js`.
        config: initial state of the script; anything that JSON can represent.
        table: (headers, rows) of the table for readers without JavaScript.
        still: HTML in place of that table, such as a drawing.
        caption: what to do and what to look for. `code` and *emphasis* are set as such.
        measured: the config was trained or timed and may differ a little on another machine, so
            the re-execution of the notebook does not compare it.

    Raises:
        ValueError: if there is no such script, or neither a table nor a still.
    """
    from IPython.display import HTML, display

    options = {"table": table, "still": still, "caption": caption, "measured": measured}
    display(HTML(to_html(name, config, **options)))


def to_html(
    name: str,
    config: Mapping[str, object],
    *,
    table: tuple[Sequence[str], Sequence[Sequence[object]]] | None = None,
    still: str = "",
    caption: str,
    measured: bool = False,
) -> str:
    """The `<figure>` and the scripts that `explorable` displays."""
    names = sorted(path.stem for path in FOLDER.glob("*.js") if path.stem != "kit")
    require(name in names, "name", repr(name), f"one of {', '.join(names)}")
    require(bool(table) != bool(still), "table and still", "both or neither", "one of them")
    if table:
        headers, rows = table
        still = tables.to_html(rows, headers)
    data = html.escape(json.dumps(config, ensure_ascii=False, separators=(",", ":")))
    mark = " data-measured" if measured else ""
    scripts = "\n".join(_slim(FOLDER / f"{part}.js") for part in ("kit", name))
    return (
        f"<style>{_slim(FOLDER / 'kit.css')}</style>"
        f'<figure class="lamplight-figure explorable"{mark} data-explorable="{name}" '
        f'data-config="{data}"><div class="still">{still}</div>{figcaption(caption)}</figure>'
        f"<script>\n{scripts}\n</script>"
    )


def _slim(path: Path) -> str:
    """A script or style without comments and indentation; the file keeps them."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
