"""Drawings of mechanisms: SVG files in the page's ink, with the new part lit.

Each drawing is one file in `helpers/viz/drawings`. A file sets no size and no font. It takes its
ink from the page and its accents from these classes:

| class | what it does |
|---|---|
| `box` | a soft fill with an outline, for a part of the mechanism |
| `lamp`, `blue`, `green`, `grey` | the outline in that colour |
| `lamp-fill`, `blue-fill`, `green-fill` | a soft fill in that colour |
| `small` | smaller text, for remarks and shapes |

A line ends in an arrow by `marker-end="url(#arrow)"`. A group with `data-part="mask"` can be lit,
and left out, so that a drawing can grow over several pages. Groups with `data-with="mask"` go with
that part; those with `data-without="mask"` take its place.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

from helpers.validation import require
from helpers.viz.markup import figcaption

FOLDER = Path(__file__).with_name("drawings")

_STYLE = """<style>
.drawing svg{display:block;width:100%;height:auto;margin:0 auto;--lamp:var(--lamplight,#c26a00)}
.drawing svg :is(path,line,polyline,polygon,rect,circle,ellipse){fill:none;stroke:currentColor;
stroke-width:1.5}
.drawing svg text{fill:currentColor;stroke:none;font-size:16px}
.drawing svg text.small{font-size:13px}
.drawing svg .box{fill:#8882}
.drawing svg .lamp{stroke:var(--lamp);stroke-width:2.5}
.drawing svg .blue{stroke:#0072b2;stroke-width:2.5}
.drawing svg .green{stroke:#009e73;stroke-width:2.5}
.drawing svg .grey{stroke:#8888}
.drawing svg .lamp-fill{fill:#e0902055}
.drawing svg .blue-fill{fill:#0072b233}
.drawing svg .green-fill{fill:#009e7333}
.drawing svg .tip{fill:context-stroke;stroke:none}
.drawing svg .lit .box{fill:#e0902055;stroke:var(--lamp);stroke-width:2.5}
.drawing svg .lit text{font-weight:700}
.drawing svg .lit :is(path,line,polyline):not(.box){stroke:var(--lamp);stroke-width:2.5}
@media (max-width:700px){.drawing svg{min-width:var(--readable,0)}}
</style>"""
_SMALLEST = 13
"""Size of the smallest text in a drawing, in its own units."""


def drawing(
    name: str,
    *,
    alt: str,
    caption: str,
    highlight: str | Sequence[str] = (),
    without: str | Sequence[str] = (),
) -> None:
    """Display a drawing.

    Args:
        name: of the file in `helpers/viz/drawings`, without `.svg`.
        alt: description of the drawing for readers who do not see it.
        caption: the sentence below it. `code` and *emphasis* are set as such.
        highlight: the part or parts to be lit, as named by `data-part`.
        without: the part or parts to be left out, for example because they come later.

    Raises:
        ValueError: if there is no such drawing or part, or `alt` is shorter than a sentence.
    """
    from IPython.display import HTML, display

    page = to_html(name, alt=alt, caption=caption, highlight=highlight, without=without)
    display(HTML(page))


def to_html(
    name: str,
    *,
    alt: str,
    caption: str,
    highlight: str | Sequence[str] = (),
    without: str | Sequence[str] = (),
) -> str:
    """The `<figure>` that `drawing` displays."""
    svg = to_svg(name, alt=alt, highlight=highlight, without=without)
    return f'{_STYLE}<figure class="lamplight-figure drawing">{svg}{figcaption(caption)}</figure>'


def still(name: str, *, alt: str, highlight: str | Sequence[str] = ()) -> str:
    """A drawing without a caption, as the `still` of an explorable that brings it to life."""
    return f'{_STYLE}<div class="drawing">{to_svg(name, alt=alt, highlight=highlight)}</div>'


def to_svg(
    name: str,
    *,
    alt: str,
    highlight: str | Sequence[str] = (),
    without: str | Sequence[str] = (),
) -> str:
    """The `<svg>` of a drawing, with ids of its own."""
    names = sorted(path.stem for path in FOLDER.glob("*.svg"))
    require(name in names, "name", repr(name), f"one of {', '.join(names)}")
    require(len(alt.split()) >= 4, "alt", repr(alt), "a sentence that says what the drawing shows")
    svg = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    svg = re.sub(r"<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    parts = set(re.findall(r'data-part="([^"]+)"', svg))
    hidden = [without] if isinstance(without, str) else list(without)
    for part in hidden:
        require(part in parts, "without", repr(part), f"one of {', '.join(sorted(parts))}")
    for part in parts:
        gone = f'(?:part|with)="{part}"' if part in hidden else f'without="{part}"'
        svg = re.sub(rf"<g data-{gone}>.*?</g>", "", svg, flags=re.DOTALL)
    parts -= set(hidden)
    lit = [highlight] if isinstance(highlight, str) else list(highlight)
    for part in lit:
        require(part in parts, "highlight", repr(part), f"one of {', '.join(sorted(parts))}")
        svg = svg.replace(f'data-part="{part}"', f'data-part="{part}" class="lit"')
    # Ids are those of the whole page, so each drawing gets its own, also when it comes twice.
    own = "-".join([name.replace("_", "-"), *lit, *(f"no-{part}" for part in hidden)])
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{own}-\1"', svg)
    svg = re.sub(r'(url\(|href=")#([^")]+)', rf"\1#{own}-\2", svg)
    box = re.search(r'viewBox="([^"]+)"', svg)
    require(box is not None, f"{name}.svg", "no viewBox", "a viewBox")
    width = float(box[1].split()[2])
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box[1]}" role="img" '
        f'aria-label="{html.escape(alt)}" '
        f'style="max-width:{width:g}px;--readable:{width * 10 / _SMALLEST:.0f}px">'
        f'<defs><marker id="{own}-arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" '
        'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse">'
        '<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    svg = re.sub(r"<svg[^>]*>", lambda _: opening, svg, count=1)
    return re.sub(r"\s+", " ", re.sub(r">\s+<", "><", svg)).strip()
