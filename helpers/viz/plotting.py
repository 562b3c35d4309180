"""Figures in the page's colours, light or dark, with a text alternative.

A figure becomes inline SVG that is drawn in the colour of the surrounding text. Data colours are
those of Okabe and Ito (2008) which colour-blind readers can distinguish *and* which are legible on
white and on black; markers and line styles differ too.
"""

from __future__ import annotations

import hashlib
import html
import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from helpers.validation import require, require_dims
from helpers.viz.markup import figcaption

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Num

INK = "#010203"
"""Stands for the text colour of the page; `show` replaces it by `currentColor`."""

BLUE, ORANGE, GREEN, PURPLE, GREY = COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#808080")

_STYLE = {
    "figure.figsize": (5.6, 3.2),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": mpl.cycler(color=COLORS)
    + mpl.cycler(marker=["o", "s", "^", "D", "v"])
    + mpl.cycler(linestyle=["-", "--", "-.", ":", "-"]),
    "lines.markersize": 5,
    "legend.frameon": False,
    "font.size": 11,
    "svg.fonttype": "none",
} | {
    key: INK
    for key in (
        "text.color",
        "axes.edgecolor",
        "axes.labelcolor",
        "axes.titlecolor",
        "xtick.color",
        "ytick.color",
        "legend.labelcolor",
    )
}


def use_style() -> None:
    """Use the course's style for every figure from here on."""
    mpl.rcParams.update(_STYLE)


def show(fig: Figure, alt: str, measured: bool = False, caption: str = "") -> None:
    """Display a figure as inline SVG, and close it.

    Args:
        fig: the figure.
        alt: what the figure shows, in words, for those who do not see it.
        measured: the data were trained or timed and may differ a little on another machine, so
            the re-execution of the notebook does not compare the drawing.
        caption: the sentence below the figure. `code` and *emphasis* are set as such.

    Raises:
        ValueError: if `alt` is shorter than a sentence.
    """
    from IPython.display import HTML, display

    display(HTML(to_html(fig, alt, measured, caption)))
    plt.close(fig)


def to_html(fig: Figure, alt: str, measured: bool = False, caption: str = "") -> str:
    """The `<figure>` that `show` displays; the same figure gives the same text every time."""
    require(len(alt.split()) >= 4, "alt", repr(alt), "a sentence that says what the figure shows")
    salt = hashlib.sha256(alt.encode()).hexdigest()[:8]  # ids differ between figures of a page
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}), io.StringIO() as buffer:
        fig.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<(metadata|style)[^>]*>.*?</\1>\s*", "", svg, flags=re.DOTALL)
    # matplotlib derives ids from coordinates to the last bit, which differs between machines.
    used = dict.fromkeys(re.findall(r'(?:href="|url\()#([^")]+)', svg))
    ids = {old: f"f{salt}-{number}" for number, old in enumerate(used)}
    svg = re.sub(r' id="([^"]+)"', lambda m: f' id="{ids[m[1]]}"' if m[1] in ids else "", svg)
    svg = re.sub(r'(href="|url\()#([^")]+)', lambda m: f"{m[1]}#{ids[m[2]]}", svg)
    svg = _slim(svg.replace(INK, "currentColor"))
    width, height = fig.get_size_inches() * 72
    # Below this width the smallest text of the figure would be smaller than 10 pixels.
    sizes = re.findall(r"<text[^>]*font(?:-size)?: ([\d.]+)px", svg)  # `font` before matplotlib 3.9
    readable = width * min(1.25, 10 / min(map(float, sizes), default=11))
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{html.escape(alt)}" '
        f'style="width:100%;max-width:{width * 1.25:.0f}px;--readable:{readable:.0f}px;'
        'height:auto;font-family:DejaVu Sans,sans-serif" stroke-linejoin="round" '
        'stroke-linecap="butt">'
    )
    svg = re.sub(r"<svg[^>]*>", lambda _: opening, svg, count=1)
    mark = " data-measured" if measured else ""
    below = figcaption(caption)
    return f'<figure class="lamplight-figure"{mark}>{svg.strip()}{below}</figure>'


def _slim(svg: str) -> str:
    """The same drawing in one line, rounded to tenths of a point, without invisible elements.

    Notebooks store text line by line, so a changed drawing is one line of a diff.
    """
    svg = re.sub(r'<path d="[^"]*"[^>]* style="fill: none"/>', "", svg)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: [^;\"]*(; )?", "", svg)  # stands once, at the top

    def rounded(attribute: re.Match) -> str:
        text = re.sub(
            r"-?\d+\.\d+", lambda n: f"{float(n[0]):.1f}".removesuffix(".0"), attribute[2]
        )
        text = re.sub(r"(?<![\d.])-0(?![\d.])", "0", text)
        text = re.sub(r"\s*([MLCQz])\s*", r"\1", text) if attribute[1] == "d" else text
        return f'{attribute[1]}="{text}"'

    svg = re.sub(r'\b(d|x|y|width|height|transform)="([^"]*)"', rounded, svg)
    return re.sub(r"\s+", " ", re.sub(r">\s+<", "><", svg)).strip()


def plot_series(
    ax: Axes,
    x: Sequence[float] | Num[np.ndarray, " n"],
    series: Mapping[str, Sequence[float] | Num[np.ndarray, "*seeds n"]],
) -> None:
    """Draw one line per entry, with a legend.

    Args:
        ax: axes to draw on.
        x: the common horizontal values, `n` of them.
        series: by label, either `n` values, or `(seeds, n)` values: then the line is the mean
            and the band reaches from the worst seed to the best.

    Raises:
        ValueError: if an entry has not `n` values per line.
    """
    for label, values in series.items():
        y = np.asarray(values, dtype=float)
        fits = y.ndim in (1, 2) and y.shape[-1] == len(x)
        require(fits, f"series[{label!r}]", f"shape {y.shape}", f"(…, {len(x)}), as long as x")
        if y.ndim == 2:
            (line,) = ax.plot(x, y.mean(axis=0), label=label)
            ax.fill_between(x, y.min(axis=0), y.max(axis=0), color=line.get_color(), alpha=0.2)
        else:
            ax.plot(x, y, label=label)
    ax.legend()


def heatmap(
    ax: Axes,
    values: Float[np.ndarray, "rows columns"],
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    decimals: int | None = 2,
    top: float | None = None,
) -> None:
    """Draw a matrix as coloured cells: blue above zero, orange below, stronger = larger.

    The colours are transparent, so that the numbers stay readable on a light and a dark page.

    Args:
        ax: axes to draw on.
        values: the matrix.
        rows, columns: a label for each row and column, or None.
        decimals: digits written into each cell; None for no numbers.
        top: the size that gets the strongest colour; the largest in `values` if not given.

    Raises:
        ValueError: if `values` is not a matrix, a number of labels does not match it, or
            `decimals` or `top` is too small.
    """
    values = np.asarray(values, dtype=float)
    require_dims("values", values, 2, "(rows, columns)")
    require(values.size > 0, "values", f"shape {values.shape}", "at least one row and column")
    require(decimals is None or decimals >= 0, "decimals", decimals, "at least 0, or None")
    require(top is None or top > 0, "top", top, "a number above 0, or None")
    n_rows, n_columns = values.shape
    for name, labels, n in (("rows", rows, n_rows), ("columns", columns, n_columns)):
        if labels is not None:
            require(len(labels) == n, name, f"{len(labels)} labels", f"{n}, as `values` has")
    finite = np.where(np.isfinite(values), values, 0.0)
    top = (np.abs(finite).max() or 1.0) if top is None else top
    strength = np.rint(70 * np.clip(np.abs(finite) / top, 0, 1)).astype(int)  # opacity in percent
    for sign, color in ((1, BLUE), (-1, ORANGE)):
        for percent in np.unique(strength[strength > 0]):
            where = (strength == percent) & (np.sign(finite) == sign)
            if where.any():
                ax.add_patch(PathPatch(_squares(where), fc=color, alpha=percent / 100, lw=0))
    lines = [[(0, i), (n_columns, i)] for i in range(n_rows + 1)]
    lines += [[(j, 0), (j, n_rows)] for j in range(n_columns + 1)]
    grid = Path(np.concatenate(lines), [Path.MOVETO, Path.LINETO] * len(lines))
    ax.add_patch(PathPatch(grid, fill=False, edgecolor=GREY, linewidth=0.3))
    ax.set(xlim=(0, n_columns), ylim=(n_rows, 0), aspect="equal")
    ax.set_xticks(np.arange(n_columns) + 0.5, [""] * n_columns if columns is None else columns)
    ax.set_yticks(np.arange(n_rows) + 0.5, [""] * n_rows if rows is None else rows)
    ax.tick_params(length=0, top=True, bottom=False, labeltop=True, labelbottom=False)
    if columns is not None and max(len(str(c)) for c in columns) > 3:
        plt.setp(ax.get_xticklabels(), rotation=45, ha="left", rotation_mode="anchor")
    ax.spines[:].set_visible(False)
    if decimals is not None:
        for (i, j), number in np.ndenumerate(values):
            text = f"{number:.{decimals}f}".replace("-", "−").replace("inf", "∞")
            ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=8)


def _squares(where: Bool[np.ndarray, "rows columns"]) -> Path:
    """One path around all these cells; cells side by side in a row share a rectangle."""
    edges = np.diff(
        np.pad(where, ((0, 0), (1, 1))).astype(int)
    )  # 1 at the start of a run, -1 after
    starts, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)  # (runs, 2) as row, column
    corners = [
        [(left, row), (right, row), (right, row + 1), (left, row + 1), (left, row)]
        for (row, left), (_, right) in zip(starts, ends, strict=True)
    ]
    codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY]
    return Path(np.concatenate(corners), codes * len(corners))
