"""Tables of results as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.validation import require
from helpers.viz.markup import to_inline

_STYLE = """<style>
.results{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.5rem 0 1rem}
.results caption{caption-side:top;text-align:left;padding:0 0 .4rem;color:inherit}
.results :is(th,td){background:none;border:0;border-bottom:1px solid #8884;color:inherit;
font-weight:400;padding:.25rem .9rem .25rem 0;text-align:left}
.results thead th{border-bottom:1px solid currentColor;font-weight:600}
.results .number{text-align:right}
</style>"""


def table(
    rows: Sequence[Sequence[object]],
    headers: Sequence[str],
    *,
    caption: str = "",
    digits: int = 2,
    measured: bool = False,
) -> None:
    """Display a table; the first column names the rows.

    Args:
        rows: one sequence for each row. Floats are rounded to `digits`, None is shown as a dash.
        headers: a name for each column.
        caption: a sentence about the table. `code` and *emphasis* are set as such.
        digits: decimal places of floats.
        measured: the numbers were trained or timed and may differ a little on another machine, so
            the re-execution of the notebook does not compare them.

    Raises:
        ValueError: if there is no row, or a row has not as many cells as there are headers.
    """
    from IPython.display import HTML, display

    display(HTML(to_html(rows, headers, caption=caption, digits=digits, measured=measured)))


def to_html(
    rows: Sequence[Sequence[object]],
    headers: Sequence[str],
    *,
    caption: str = "",
    digits: int = 2,
    measured: bool = False,
) -> str:
    """The HTML that `table` displays."""
    require(len(rows) >= 1, "rows", "none", "at least one")
    for number, row in enumerate(rows):
        needed = f"{len(headers)}, one for each header"
        require(len(row) == len(headers), f"row {number}", f"{len(row)} cells", needed)
    numeric = [
        all(row[i] is None or _is_number(row[i]) for row in rows) for i in range(len(headers))
    ]
    head = "".join(
        f'<th scope="col"{_css(numeric[i])}>{to_inline(name)}</th>'
        for i, name in enumerate(headers)
    )
    body = "".join(f"<tr>{_row(row, numeric, digits)}</tr>" for row in rows)
    above = f"<caption>{to_inline(caption)}</caption>" if caption else ""
    mark = " data-measured" if measured else ""
    return (
        f'{_STYLE}<table class="results"{mark}>{above}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _row(row: Sequence[object], numeric: list[bool], digits: int) -> str:
    first = f'<th scope="row"{_css(numeric[0])}>{_text(row[0], digits)}</th>'
    rest = zip(row[1:], numeric[1:], strict=True)
    return first + "".join(f"<td{_css(is_n)}>{_text(cell, digits)}</td>" for cell, is_n in rest)


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _css(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


def _text(cell: object, digits: int) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        rounded = f"{cell:,.{digits}f}"
        return rounded.replace("-", "−") if float(rounded.replace(",", "")) else rounded.strip("-")
    if isinstance(cell, int):
        return (f"{cell:,}" if abs(cell) >= 10_000 else str(cell)).replace("-", "−")
    return to_inline(str(cell))
