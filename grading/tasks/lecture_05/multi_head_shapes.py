"""The shape of each step, with two lengths and all widths different."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=6,
    minutes=8,
    extra=True,
    section="One projection, cut into heads",
    outcome="say what a trained head does, by its map and by ablation, and what n heads cost",
    hints=(
        "Write down the sizes with their names: batch 2, T_q 5, T_k 7, n_heads 3, d_k 4, d_v 6.",
        "The four axes are (batch, heads, words, width) before the scores, and "
        "(batch, heads, query, key) for the scores.",
    ),
)

# %% the cell
multi_head_shapes = ...  # a list of six tuples
# BEGIN SOLUTION
multi_head_shapes = [(18, 10), (2, 3, 5, 4), (2, 3, 7, 6), (2, 3, 5, 7), (2, 5, 18), (2, 5, 9)]
# END SOLUTION
# %%


def _but(**changed):
    """The right shapes, but for some: `_but(s4=…)` changes the fourth."""
    return [changed.get(f"s{i}", shape) for i, shape in enumerate(multi_head_shapes, 1)]


task.mistake(
    "The first shape: the rows of `nn.Linear.weight` are its outputs.",
    _but(s1=(10, 18)),
)
task.mistake(
    "The first shape: one projection serves all heads, so it has n_heads · d_v outputs.",
    _but(s1=(6, 10)),
)
task.mistake(
    "The scores: each row is a query, each column a key, so T_q comes first.",
    _but(s4=(2, 3, 7, 5)),
)
task.mistake(
    "Each *query* gets a context vector, so the concatenated vectors and the output have T_q = 5 "
    "rows. The keys are summed over.",
    _but(s5=(2, 7, 18), s6=(2, 7, 9)),
)
task.mistake(
    "The fifth shape: context vectors are made of values, so their width is d_v = 6.",
    _but(s5=(2, 5, 12)),
)
task.mistake(
    "The fifth shape: the context vectors of *all* heads are concatenated.",
    _but(s5=(2, 5, 6)),
)
task.mistake(
    "The output: its width is d_out = 9, which need not be the width of the input.",
    _but(s6=(2, 5, 10)),
)
task.mistake(
    "The second and third: these are the shapes after `view`. `transpose` then moves the heads "
    "before the words.",
    _but(s2=(2, 5, 3, 4), s3=(2, 7, 3, 6)),
)
task.mistake(
    "The third shape: values have a width of their own, d_v = 6.",
    _but(s3=(2, 3, 7, 4)),
)
task.mistake(
    "The third shape: each *key* has a value, and there are 7 keys.",
    _but(s3=(2, 3, 5, 6)),
)
task.mistake(
    "The values have the width 6 in each of the 3 heads, not that of the keys.",
    [(12, 10), (2, 3, 5, 4), (2, 3, 7, 6), (2, 3, 5, 7), (2, 5, 18), (2, 5, 9)],
)
task.mistake(
    "The queries have the width of the keys, 4, since the two are compared.",
    [(18, 10), (2, 3, 5, 6), (2, 3, 7, 6), (2, 3, 5, 7), (2, 5, 18), (2, 5, 9)],
)
task.mistake(
    "The axis of the heads is missing in the scores: each of the 3 has a table of its own.",
    [(18, 10), (2, 3, 5, 4), (2, 3, 7, 6), (2, 5, 7), (2, 5, 18), (2, 5, 9)],
)
task.mistake(
    "These are the context vectors of the heads. They are concatenated: 3 of width 6 make one of "
    "width 18.",
    [(18, 10), (2, 3, 5, 4), (2, 3, 7, 6), (2, 3, 5, 7), (2, 3, 5, 6), (2, 5, 9)],
)
task.mistake(
    "There are two slips. The rows of `nn.Linear.weight` are its outputs. And after `view` the "
    "heads still come after the words: `transpose` exchanges the two.",
    _but(s1=(10, 18), s2=(2, 5, 3, 4), s3=(2, 7, 3, 6)),
)
