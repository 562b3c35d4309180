"""What `helpers.viz.plotting` refuses, and in which words."""

import matplotlib.pyplot as plt

from helpers.viz import plotting
from tests.helpers.bad_call import array, axes

CASES = {
    plotting.to_html: [
        (
            lambda: plotting.to_html(plt.figure(), "A plot"),
            "alt: got 'A plot'; needed a sentence that says what the figure shows",
        ),
    ],
    plotting.show: [
        (
            lambda: plotting.show(plt.figure(), ""),
            "alt: got ''; needed a sentence that says what the figure shows",
        ),
    ],
    plotting.plot_series: [
        (
            lambda: plotting.plot_series(axes(), [0, 1], {"a": [1.0]}),
            "series['a']: got shape (1,); needed (…, 2), as long as x",
        ),
    ],
    plotting.heatmap: [
        (
            lambda: plotting.heatmap(axes(), array(3)),
            "values: got shape (3,); needed shape (rows, columns)",
        ),
        (
            lambda: plotting.heatmap(axes(), array(0, 3)),
            "values: got shape (0, 3); needed at least one row and column",
        ),
        (
            lambda: plotting.heatmap(axes(), array(2, 3), ["a"]),
            "rows: got 1 labels; needed 2, as `values` has",
        ),
        (
            lambda: plotting.heatmap(axes(), array(2, 3), None, ["a"]),
            "columns: got 1 labels; needed 3, as `values` has",
        ),
        (
            lambda: plotting.heatmap(axes(), array(2, 3), decimals=-1),
            "decimals: got -1; needed at least 0, or None",
        ),
        (
            lambda: plotting.heatmap(axes(), array(2, 3), top=0.0),
            "top: got 0.0; needed a number above 0, or None",
        ),
    ],
}

CANNOT_FAIL = {
    plotting.use_style: "has no argument",
}
