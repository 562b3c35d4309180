"""The shape of everything, for words of 256 numbers."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=6,
    minutes=10,
    section="Shapes, and products that look right",
    outcome="give the shape of every tensor in self-attention, and recognize two mistakes "
    "that raise no error",
    hints=(
        "Begin with one sentence: what is the shape of (8, 256) times (256, 32)? Then put the "
        "batch in front.",
        "What is summed over in `q @ k.mT`, and what in `weights @ v`? That axis goes away.",
    ),
)

# %% the cell
projection_shapes = ...  # a list of six tuples
# BEGIN SOLUTION
projection_shapes = [(5, 8, 32), (5, 8, 48), (5, 8, 8), (5, 8, 8), (5, 8, 48), (32, 256)]
# END SOLUTION
# %%


def instead(**changes):
    """The right list with some entries replaced: `at0`, `at1`, …"""
    return [changes.get(f"at{i}", shape) for i, shape in enumerate(projection_shapes)]


task.mistake(
    "256 is the size of a word vector. The projections map it to 32 for queries and keys, and to "
    "48 for values.",
    instead(at0=(5, 8, 256), at1=(5, 8, 256), at4=(5, 8, 256)),
)
task.mistake(
    "Values have a width of their own, here 48. Only queries and keys must be equally wide, "
    "since they are compared.",
    instead(at1=(5, 8, 32), at4=(5, 8, 32)),
)
task.mistake(
    "The last product: a context vector is a weighted sum of values, so it is as wide as a value.",
    instead(at4=(5, 8, 32)),
)
task.mistake(
    "The last product: the sum runs over the 8 words, and the width of a value takes their place.",
    instead(at4=(5, 8, 8)),
)
task.mistake(
    "The last product: nothing brings the width back to 256. A context vector is as wide as a "
    "value.",
    instead(at4=(5, 8, 256)),
)
task.mistake(
    "These scores compare columns. A dot product runs along the vectors, so 32 is summed over, "
    "and a score is left for each pair of words.",
    instead(at2=(5, 32, 32), at3=(5, 32, 32)),
    instead(at2=(5, 32, 32)),
)
task.mistake(
    "The scores: `k.mT` has the shape (5, 32, 8), so 32 is summed over, and each query has a score "
    "for each of the 8 words.",
    instead(at2=(5, 8, 32), at3=(5, 8, 32)),
    instead(at2=(5, 8, 32)),
)
task.mistake(
    "The batch does not take part: each of its 5 sentences has a score for every pair of its 8 "
    "words.",
    instead(at2=(5, 8, 5), at3=(5, 8, 5)),
)
task.mistake(
    "The weights: softmax keeps the shape. It sums over a row only to divide by the sum.",
    instead(at3=(5, 8)),
)
task.mistake(
    "The layer's weight: `nn.Linear` computes x @ weight.T, so its weight is stored the other way "
    "around, (d_out, d_in).",
    instead(at5=(256, 32)),
)
task.mistake(
    "This is right for one sentence. The batch of 5 is the first axis of everything except the "
    "layer's weight.",
    [shape[1:] if len(shape) == 3 else shape for shape in projection_shapes],
)
task.mistake(
    "The scores and the weights: each of the 5 sentences has a table of its own, so the batch "
    "comes first.",
    instead(at2=(8, 8), at3=(8, 8)),
    instead(at2=(8, 8)),
    instead(at3=(8, 8)),
)
task.mistake(
    "There are two slips. The scores compare columns: there must be one for each pair of words. "
    "And the context vectors are sums of values, so their width is that of the values, 48.",
    instead(at2=(5, 32, 32), at3=(5, 32, 32), at4=(5, 8, 32)),
)
task.mistake(
    "There are two slips. Softmax keeps the shape of the scores: a query has a weight for each "
    "word. And a context vector is as wide as a value, since nothing leads back to 256.",
    instead(at3=(5, 8), at4=(5, 8, 256)),
)
