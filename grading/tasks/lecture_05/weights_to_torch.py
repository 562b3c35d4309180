"""Our weights and our mask in PyTorch's module."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from grading.author import Case, TaskFile
from helpers import masks

task = TaskFile(
    "implement",
    points=9,
    minutes=14,
    section="Multi-head attention in PyTorch",
    outcome="copy weights to and from `nn.MultiheadAttention`, with masks and unaveraged weights",
    forbidden=("helpers.attention.MultiHeadAttention",),
    results=("the output", "the weights"),
    hints=(
        "The lecture's section *Multi-head attention in PyTorch* does this, with a module of ours "
        "in place of `state`.",
        "`torch.cat` stacks the three matrices, queries first: `in_proj_weight`. The same goes "
        "for `in_proj_bias`. A new module is in float32, but `x` is in float64: `.double()`.",
        "That module differs from ours in three more ways: which axis it takes for the batch, what "
        "True means in a mask, and whether the weights are averaged over the heads.",
    ),
)

PARTS = ("W_query", "W_key", "W_value")


def _module(state, d_model, n_heads, parts=PARTS, **options):
    module = nn.MultiheadAttention(d_model, n_heads, **{"batch_first": True, **options}).double()
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([state[f"{part}.weight"] for part in parts]))
        module.in_proj_bias.copy_(torch.cat([state[f"{part}.bias"] for part in parts]))
        module.out_proj.weight.copy_(state["W_out.weight"])
        module.out_proj.bias.copy_(state["W_out.bias"])
    return module


# %% the cell
def weights_to_torch(state, x, mask, n_heads):
    """Output (batch, T, d_model) and weights (batch, n_heads, T, T) by nn.MultiheadAttention."""
    # BEGIN SOLUTION
    module = nn.MultiheadAttention(x.shape[-1], n_heads, batch_first=True).double()
    names = ("W_query", "W_key", "W_value")
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([state[f"{name}.weight"] for name in names]))
        module.in_proj_bias.copy_(torch.cat([state[f"{name}.bias"] for name in names]))
        module.out_proj.weight.copy_(state["W_out.weight"])
        module.out_proj.bias.copy_(state["W_out.bias"])
    blocking = masks.to_blocking(mask)  # (T, T), True = is blocked
    return module(x, x, x, attn_mask=blocking, average_attn_weights=False)
    # END SOLUTION


# %%


@task.alternative
def additive(state, x, mask, n_heads):
    """A mask to be added, and load_state_dict."""
    module = nn.MultiheadAttention(x.shape[-1], n_heads, batch_first=True, dtype=x.dtype)
    module.load_state_dict(
        {
            "in_proj_weight": torch.cat([state[f"{part}.weight"] for part in PARTS]),
            "in_proj_bias": torch.cat([state[f"{part}.bias"] for part in PARTS]),
            "out_proj.weight": state["W_out.weight"],
            "out_proj.bias": state["W_out.bias"],
        }
    )
    bias = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, -torch.inf)
    return module(x, x, x, attn_mask=bias, average_attn_weights=False)


@task.alternative
def by_hand(state, x, mask, n_heads):
    """Without PyTorch's module."""
    q, k, v = (F.linear(x, state[f"{p}.weight"], state[f"{p}.bias"]) for p in PARTS)
    q, k, v = (t.unflatten(-1, (n_heads, -1)).transpose(1, 2) for t in (q, k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    joined = (weights @ v).transpose(1, 2).flatten(2)
    return F.linear(joined, state["W_out.weight"], state["W_out.bias"]), weights


@task.mistake(
    "The mask was passed on as it is. In `nn.MultiheadAttention` True *blocks*: convert it, "
    "`masks.to_blocking(mask)`."
)
def mask_as_it_is(state, x, mask, n_heads):
    module = _module(state, x.shape[-1], n_heads)
    return module(x, x, x, attn_mask=mask, average_attn_weights=False)


@task.mistake("The mask was not passed on: it goes into `attn_mask`.")
def mask_forgotten(state, x, mask, n_heads):
    return _module(state, x.shape[-1], n_heads)(x, x, x, average_attn_weights=False)


@task.mistake(
    "A mask of numbers is *added* to the scores, so ones and zeros hide nothing. Pass booleans, "
    "with True for what is blocked."
)
def ones_added(state, x, mask, n_heads):
    module = _module(state, x.shape[-1], n_heads)
    return module(x, x, x, attn_mask=mask.to(x.dtype), average_attn_weights=False)


@task.mistake(
    "The output is right. But the weights are averaged over the heads by default: pass "
    "`average_attn_weights=False`."
)
def averaged(state, x, mask, n_heads):
    return _module(state, x.shape[-1], n_heads)(x, x, x, attn_mask=~mask)


@task.mistake(
    "The output is right. But these are the averaged weights, repeated for each head. Pass "
    "`average_attn_weights=False`."
)
def summed_over_heads(state, x, mask, n_heads):
    out, weights = averaged(state, x, mask, n_heads)
    return out, weights[:, None].expand(-1, n_heads, -1, -1)


@task.mistake(
    "The module takes the first axis as the words. Pass `batch_first=True` for our order of axes."
)
def words_first(state, x, mask, n_heads):
    module = _module(state, x.shape[-1], n_heads, batch_first=False)
    return module(x, x, x, attn_mask=~mask, average_attn_weights=False)


@task.mistake("In `in_proj_weight` and `in_proj_bias` queries come first, then keys, then values.")
def keys_first(state, x, mask, n_heads):
    module = _module(state, x.shape[-1], n_heads, parts=("W_key", "W_query", "W_value"))
    return module(x, x, x, attn_mask=~mask, average_attn_weights=False)


@task.mistake(
    "The values were put first. In `in_proj_weight` and `in_proj_bias` the order is queries, "
    "keys, values."
)
def values_first(state, x, mask, n_heads):
    module = _module(state, x.shape[-1], n_heads, parts=("W_value", "W_query", "W_key"))
    return module(x, x, x, attn_mask=~mask, average_attn_weights=False)


@task.mistake(
    "The matrices were transposed. Both modules keep them as `nn.Linear` does, with a row for "
    "each output."
)
def turned(state, x, mask, n_heads):
    state = {name: value.mT if value.dim() == 2 else value for name, value in state.items()}
    return weights_to_torch(state, x, mask, n_heads)


@task.mistake(
    "The biases of queries, keys and values were not copied: they go into `in_proj_bias`, in this "
    "order."
)
def no_bias(state, x, mask, n_heads):
    zero = {f"{part}.bias": torch.zeros_like(state[f"{part}.bias"]) for part in PARTS}
    return weights_to_torch(state | zero, x, mask, n_heads)


@task.mistake(
    "The weights were copied, but the biases were not: there are `in_proj_bias` and "
    "`out_proj.bias`."
)
def no_bias_at_all(state, x, mask, n_heads):
    zero = {name: torch.zeros_like(value) for name, value in state.items() if value.dim() == 1}
    return weights_to_torch(state | zero, x, mask, n_heads)


@task.mistake(
    "The weights are right. But the output lacks the bias of `W_out`, which was not copied: "
    "PyTorch's module starts with zeros there."
)
def no_bias_of_output(state, x, mask, n_heads):
    return weights_to_torch(state | {"W_out.bias": torch.zeros_like(x[0, 0])}, x, mask, n_heads)


@task.mistake(
    "The module still has the random weights that it was made with. Copy those of `state` into it."
)
def not_copied(state, x, mask, n_heads):
    module = nn.MultiheadAttention(x.shape[-1], n_heads, batch_first=True).double()
    return module(x, x, x, attn_mask=~mask, average_attn_weights=False)


@task.mistake(
    "Two conventions of PyTorch's module are left as they are: in its mask True *blocks*, and its "
    "weights are averaged over the heads."
)
def both_defaults(state, x, mask, n_heads):
    return _module(state, x.shape[-1], n_heads)(x, x, x, attn_mask=mask)


task.edit(
    "The output projection was not copied: `W_out.weight` and `W_out.bias` go into `out_proj`.",
    '        module.out_proj.weight.copy_(state["W_out.weight"])\n',
    "",
    '        module.out_proj.bias.copy_(state["W_out.bias"])\n',
    "",
)
task.edit(
    "A parameter that is trained must not be changed in place, as `copy_` does. Copy under `with "
    "torch.no_grad():`.",
    "with torch.no_grad():",
    "with torch.enable_grad():",
)


@task.mistake("The new module is in float32, but `x` is in float64: `.double()`.")
def other_precision(state, x, mask, n_heads):
    module = _module(state, x.shape[-1], n_heads).float()
    return module(x, x, x, attn_mask=~mask, average_attn_weights=False)


task.mistake(
    "All heads were treated as one: pass `num_heads`.",
    lambda state, x, mask, n_heads: weights_to_torch(state, x, mask, 1),
)


@task.mistake(
    "The words come first in what was passed on, but the output was not brought back to "
    "(batch, T, d_model)."
)
def not_brought_back(state, x, mask, n_heads):
    output, weights = weights_to_torch(state, x, mask, n_heads)
    return output.transpose(0, 1), weights


@task.cases
def cases(seed):
    """One word; then a causal mask, and one that is not."""
    rng = np.random.default_rng(seed)
    found = []
    for batch, T, n_heads, d_k, kind in (
        (1, 1, 1, 2, "one word, one head"),
        (2, 4, 3, 2, "a causal mask"),
        (3, 5, 2, 4, "another mask"),
        (2, 6, 4, 3, "another mask"),
    ):
        d = n_heads * d_k
        state = {}
        for part in (*PARTS, "W_out"):
            state[f"{part}.weight"] = torch.tensor(rng.normal(size=(d, d)))
            state[f"{part}.bias"] = torch.tensor(rng.normal(size=d))
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if kind == "another mask":
            mask = torch.tensor(rng.random((T, T)) < 0.4)
            mask[:, 1], mask[0, 0], mask[:, 2] = True, True, False
        x = torch.tensor(rng.normal(size=(batch, T, d)))
        found.append(Case((state, x, mask, n_heads), kind, kind="ordinary cases"))
    return found


@task.diagnostic
def mask_is_kept(args, result):
    """What the mask hides has no weight."""
    mask, weights = args[2].numpy(), result[1]
    if np.isnan(result[0]).any():
        blocked = np.broadcast_to(mask.all(axis=-1), result[0].shape[:-1])
        if (np.isnan(result[0]).any(axis=-1) == blocked).all():
            return "NaN: can some row attend to nothing? What does True mean in PyTorch's mask?"
        return "The output holds NaN."
    if weights.shape[-2:] == mask.shape and (np.nan_to_num(weights, nan=1.0) * ~mask > 1e-9).any():
        return "Masked keys get weight."
    return None
