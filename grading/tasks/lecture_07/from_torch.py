"""Weights of PyTorch's layer for the course's block."""

import torch
from torch import nn

from grading.author import Case, TaskFile
from helpers import masks

task = TaskFile(
    "implement",
    points=8,
    minutes=16,
    section="The transformer block in code",
    outcome="write a transformer block, tell post-norm from pre-norm, and check your block against "
    "PyTorch's own layer",
    hints=(
        "`copy_weights` in the lecture goes in the other direction. Each of its lines has a "
        "counterpart.",
        "`chunk` undoes `torch.cat`.",
    ),
)

PARTS = ("W_query", "W_key", "W_value")
NAMES = {
    "self_attn.out_proj": "attention.W_out",
    "linear1": "feed_forward.up_proj",
    "linear2": "feed_forward.down_proj",
    "norm1": "norm_attention",
    "norm2": "norm_feed_forward",
}


# %% the cell
def from_torch(state):
    """The weights of nn.TransformerEncoderLayer, under the names of TransformerBlock."""
    # BEGIN SOLUTION
    parts = {
        "self_attn.out_proj": "attention.W_out",
        "linear1": "feed_forward.up_proj",
        "linear2": "feed_forward.down_proj",
        "norm1": "norm_attention",
        "norm2": "norm_feed_forward",
    }
    ours = {}
    for kind in ("weight", "bias"):
        pieces = state[f"self_attn.in_proj_{kind}"].chunk(3)  # queries, keys, values
        for part, piece in zip(("W_query", "W_key", "W_value"), pieces, strict=True):
            ours[f"attention.{part}.{kind}"] = piece
        for theirs, name in parts.items():
            ours[f"{name}.{kind}"] = state[f"{theirs}.{kind}"]
    return ours
    # END SOLUTION


# %%


@task.alternative
def by_slices(state):
    """Each by its rows, in NumPy."""
    d = state["norm1.weight"].shape[0]
    ours = {}
    for name, value in state.items():
        stem, kind = name.rsplit(".", 1)
        if stem == "self_attn":
            for i, part in enumerate(PARTS):
                key = f"attention.{part}.{kind.removeprefix('in_proj_')}"
                ours[key] = value.numpy()[i * d : (i + 1) * d]
        else:
            ours[f"{NAMES[stem]}.{kind}"] = value.numpy()
    return ours


def _changed(change):
    """The right answer, changed: `change` gets a copy of it and what came in."""

    def answer(state):
        ours = dict(from_torch(state))
        change(ours, state)
        return ours

    return answer


def _put(names):
    """The pieces of in_proj in another order."""

    def change(ours, state):
        right = dict(ours)
        for part, source in zip(PARTS, names, strict=True):
            for kind in ("weight", "bias"):
                ours[f"attention.{part}.{kind}"] = right[f"attention.{source}.{kind}"]

    return _changed(change)


def _dealt_out(ours, state):
    for kind in ("weight", "bias"):
        for i, part in enumerate(PARTS):
            ours[f"attention.{part}.{kind}"] = state[f"self_attn.in_proj_{kind}"][i::3]


def _turned(ours, state):
    for part in (*PARTS, "W_out"):
        ours[f"attention.{part}.weight"] = ours[f"attention.{part}.weight"].T


def _turned_in(ours, state):
    for part in PARTS:
        ours[f"attention.{part}.weight"] = ours[f"attention.{part}.weight"].T


def _turned_out(ours, state):
    ours["attention.W_out.weight"] = ours["attention.W_out.weight"].T


def _norms_swapped(ours, state):
    for kind in ("weight", "bias"):
        first, second = f"norm_attention.{kind}", f"norm_feed_forward.{kind}"
        ours[first], ours[second] = ours[second], ours[first]


def _one_norm(ours, state):
    for kind in ("weight", "bias"):
        ours[f"norm_feed_forward.{kind}"] = ours[f"norm_attention.{kind}"]


def _biases_not_cut(ours, state):
    for part in PARTS:
        ours[f"attention.{part}.bias"] = state["self_attn.in_proj_bias"]


def _biases_swapped(ours, state):
    names = [f"attention.{part}.bias" for part in ("W_query", "W_key")]
    ours[names[0]], ours[names[1]] = ours[names[1]], ours[names[0]]


def _no_biases(ours, state):
    for part in PARTS:
        ours[f"attention.{part}.bias"] = torch.zeros_like(ours[f"attention.{part}.bias"])


def _not_changed(ours, state):
    ours.clear()
    ours.update(state)


def _not_cut(ours, state):
    for kind in ("weight", "bias"):
        for part in PARTS:
            ours[f"attention.{part}.{kind}"] = state[f"self_attn.in_proj_{kind}"]


def _networks_swapped(ours, state):
    for kind in ("weight", "bias"):
        first, second = f"feed_forward.up_proj.{kind}", f"feed_forward.down_proj.{kind}"
        ours[first], ours[second] = ours[second], ours[first]


def _networks_turned(ours, state):
    for name in ("up_proj", "down_proj"):
        key = f"feed_forward.{name}.weight"
        ours[key] = ours[key].T


@task.harness
def harness(answer, sizes, norm, state, x, mask):
    """Give a block of the course what the answer returns, and run it."""
    import torch

    from helpers.blocks import TransformerBlock

    found = answer(state)
    if found is None:
        return None
    if not isinstance(found, dict):
        raise ValueError("expected a dictionary of tensors")
    block = TransformerBlock(**sizes, norm=norm).double().eval()
    want = block.state_dict()
    missing, strange = sorted(set(want) - set(found)), sorted(set(found) - set(want))
    if missing:
        raise ValueError(
            f"{missing[0]} is missing; {len(missing)} of {len(want)} names are missing"
        )
    if strange:
        raise ValueError(f"{strange[0]} is not a name in our block")
    found = {name: torch.as_tensor(value) for name, value in found.items()}
    odd = [name for name, value in want.items() if found[name].shape != value.shape]
    if odd:
        came, needed = tuple(found[odd[0]].shape), tuple(want[odd[0]].shape)
        more = f"; {len(odd)} of {len(want)} shapes do not fit"
        raise ValueError(f"{odd[0]} has shape {came}, and our block has {needed}{more}")
    block.load_state_dict(found)
    with torch.no_grad():
        return {"weights": found, "output": block(x, mask)}


@task.cases
def cases(seed):
    """One word with one head; then post-norm and pre-norm, with a causal mask."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    found = []
    for norm, batch, T, d_model, n_heads, d_ff in (
        ("post", 1, 1, 2, 1, 3),
        ("post", 2, 4, 6, 2, 10),
        ("pre", 3, 5, 6, 3, 7),
        ("post", 2, 3, 8, 2, 5),
    ):
        layer = nn.TransformerEncoderLayer(d_model, n_heads, d_ff)
        state = {name: draw(*p.shape) for name, p in layer.state_dict().items()}
        sizes = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff}
        mask, note = masks.causal_mask(T), f"{norm}-norm, {T} words, {n_heads} heads"
        note = "post-norm, one word, one head" if T == 1 else note
        found.append(
            Case((sizes, norm, state, draw(batch, T, d_model), mask), note, kind="ordinary cases")
        )
    return found


@task.diagnostic
def which_are_wrong(args, result):
    """The names under which something else stands than should."""
    want, found = from_torch(args[2]), result["weights"]
    odd = [n for n, t in want.items() if abs(found[n] - t.numpy()).max() > 1e-6]
    if not odd:
        return None
    more = f", and {len(odd) - 3} more" if len(odd) > 3 else ""
    told = f"The numbers in {', '.join(odd[:3])}{more} are not the expected ones."
    source = args[2]["self_attn.in_proj_weight"].numpy()
    stacked = [n for n in odd if n in [f"attention.{part}.weight" for part in PARTS]]
    if not stacked or len(source) == len(stacked):
        return told
    rows = found[stacked[0]]
    came = [int(abs(source - row).max(axis=1).argmin()) for row in rows]
    if any(abs(source[i] - row).max() > 1e-6 for i, row in zip(came, rows, strict=True)):
        return f"{told} The rows of {stacked[0]} are no rows of `in_proj_weight`."
    first = PARTS.index(stacked[0].split(".")[1]) * len(rows)
    return (
        f"{told} {stacked[0]} has the rows {came} of `in_proj_weight`; it should have the rows "
        f"{list(range(first, first + len(rows)))}."
    )


task.mistake(
    "Queries and keys are swapped. Which of the three comes first in `in_proj_weight`?",
    _put(("W_key", "W_query", "W_value")),
)
task.mistake(
    "The three parts of `in_proj` were taken in the wrong order.",
    _put(("W_value", "W_query", "W_key")),
)
task.mistake(
    "The weights are in order, but the biases of queries and keys are swapped.",
    _changed(_biases_swapped),
)
task.mistake("Keys and values are swapped.", _put(("W_query", "W_value", "W_key")))
task.mistake("Queries and values are swapped.", _put(("W_value", "W_key", "W_query")))
task.mistake(
    "The rows of `in_proj` were dealt out in turn to queries, keys and values. The three "
    "matrices are stacked, each as a whole.",
    _changed(_dealt_out),
)
task.mistake(
    "The matrices of attention were transposed. Both modules store a matrix with a row for each "
    "output.",
    _changed(_turned),
)
task.mistake(
    "The matrices from `in_proj_weight` were transposed. They have a row for each output, like "
    "ours.",
    _changed(_turned_in),
)
task.mistake(
    "`W_out.weight` was transposed. It has a row for each output in PyTorch, too.",
    _changed(_turned_out),
)
task.mistake(
    "The two norms are swapped. Their shapes are the same, so there is no error.",
    _changed(_norms_swapped),
)
task.mistake("Both norms got the numbers of `norm1`.", _changed(_one_norm))
task.mistake(
    "`in_proj_bias` holds three biases, stacked like the matrices.",
    _changed(_biases_not_cut),
)
task.mistake(
    "`in_proj_weight` holds three matrices, each as large as one of ours.",
    _changed(_not_cut),
)
task.mistake(
    "The biases of queries, keys and values are 0. They are in `in_proj_bias`.",
    _changed(_no_biases),
)
task.mistake(
    "These are PyTorch's names. A block of the course has others: print those of its "
    "`state_dict()`.",
    _changed(_not_changed),
)
task.mistake("`linear1` is the layer that comes first.", _changed(_networks_swapped))
task.mistake(
    "The matrices of the feed-forward network were transposed. Both modules have a row for each "
    "output.",
    _changed(_networks_turned),
)
