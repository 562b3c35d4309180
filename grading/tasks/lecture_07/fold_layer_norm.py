"""A trained model rewritten so that a simpler norm serves it."""

import torch

from grading.author import Case, TaskFile
from grading.feedback.messages import NORMS_SWAPPED
from helpers.config import TransformerConfig
from helpers.models import TransformerModel

task = TaskFile(
    "implement",
    points=16,
    minutes=48,
    extra=True,
    section="What pre-norm costs, and what came after",
    outcome="write a residual connection and a layer norm, and say what each of them preserves",
    hints=(
        "Write a linear layer after layer norm as one formula: W (γ · z + β) + b, where z is the "
        "word with mean 0 and variance 1. Multiply out. Which matrix is z multiplied by, and "
        "what is constant?",
        "Layer norm subtracts the mean of each word. So nothing that reads the residual stream "
        "through a norm would notice if the residual stream had mean 0 from the start. The "
        "residual stream is a sum: which modules write its terms?",
        "`weight.mean(dim=0)` of the matrix of an `nn.Linear` averages over its outputs: one "
        "number for each input. Its product with an input is the mean of the outputs, without the "
        "bias.",
    ),
)

LAYERS = ("attention.W_query", "attention.W_key", "attention.W_value")


def _version(**wrong):
    """The rewriting, with one thing or another left out or done wrongly."""

    def answer(state):
        ours = {n: v.clone() for n, v in state.items() if "norm" not in n}
        n_blocks = len({n.split(".")[2] for n in state if n.startswith("stack.blocks.")})

        def fold(norm, layers):
            gain, shift = state[f"{norm}.weight"], state[f"{norm}.bias"]
            for layer in layers:
                weight, bias = ours[f"{layer}.weight"], ours[f"{layer}.bias"]
                scaled = weight * gain
                if wrong.get("rows"):
                    scaled = weight * gain[:, None] if len(gain) == len(weight) else scaled
                carried = (scaled if wrong.get("twice") else weight) @ shift
                if wrong.get("raw_shift"):
                    carried = shift if len(shift) == len(bias) else 0 * bias
                ours[f"{layer}.weight"] = weight if wrong.get("no_gain") else scaled
                ours[f"{layer}.bias"] = bias if wrong.get("no_shift") else bias + carried

        for i in range(n_blocks):
            block = f"stack.blocks.{i}"
            first, second = f"{block}.norm_attention", f"{block}.norm_feed_forward"
            if wrong.get("swapped"):
                first, second = second, first
            parts = LAYERS[: wrong.get("parts", 3)]
            fold(first, [f"{block}.{layer}" for layer in parts])
            if not wrong.get("attention_only"):
                fold(second, [f"{block}.feed_forward.up_proj"])
            for layer in ("attention.W_out", "feed_forward.down_proj"):
                for kind in ("weight", "bias"):
                    name = f"{block}.{layer}.{kind}"
                    left = wrong.get("not_centred", ())
                    if kind in left or layer in left or "all" in left:
                        continue
                    axis = int(bool(wrong.get("rows_centred")) and kind == "weight")
                    ours[name] = ours[name] - ours[name].mean(dim=axis, keepdim=True)
        if not wrong.get("no_last"):
            fold("stack.norm", ["lm_head"])
        if not {"embedding", "all"} & {*wrong.get("not_centred", ())}:
            axis = 0 if wrong.get("vocabulary") else 1
            table = ours["embedding.weight"]
            ours["embedding.weight"] = table - table.mean(dim=axis, keepdim=True)
        return ours

    return answer


# %% the cell
def fold_layer_norm(state):
    """Weights with which RMSNorm computes the same as layer norm did."""
    # BEGIN SOLUTION
    ours = {name: value.clone() for name, value in state.items() if "norm" not in name}

    def fold(norm, layer):
        """Let a linear layer do what the scale and the shift before it did."""
        gain, shift = state[f"{norm}.weight"], state[f"{norm}.bias"]  # (d_model,) each
        weight = state[f"{layer}.weight"]  # (d_out, d_model)
        ours[f"{layer}.weight"] = weight * gain
        ours[f"{layer}.bias"] = state[f"{layer}.bias"] + weight @ shift

    for name in state:
        block, _, part = name.removesuffix(".weight").rpartition(".")
        if name.endswith("norm_attention.weight"):
            for layer in ("W_query", "W_key", "W_value"):
                fold(f"{block}.{part}", f"{block}.attention.{layer}")
        if name.endswith("norm_feed_forward.weight"):
            fold(f"{block}.{part}", f"{block}.feed_forward.up_proj")
        if ".W_out." in name or ".down_proj." in name:  # outputs are the first axis of both
            ours[name] = state[name] - state[name].mean(dim=0)
    fold("stack.norm", "lm_head")
    words = state["embedding.weight"]  # (vocab, d_model)
    ours["embedding.weight"] = words - words.mean(dim=1, keepdim=True)
    return ours
    # END SOLUTION


# %%


@task.alternative
def by_matrix(state):
    """The mean is taken away by a matrix, after and not before."""
    ours = dict(state)
    d = state["embedding.weight"].shape[1]
    centre = torch.eye(d).to(state["embedding.weight"]) - 1 / d
    for norm in [n.removesuffix(".weight") for n in state if "norm" in n and n.endswith("weight")]:
        gain, shift = ours.pop(f"{norm}.weight"), ours.pop(f"{norm}.bias")
        block, _, which = norm.rpartition(".")
        layers = [f"{block}.{layer}" for layer in LAYERS]
        if which == "norm_feed_forward":
            layers = [f"{block}.feed_forward.up_proj"]
        if which == "norm":
            layers = ["lm_head"]
        for layer in layers:
            ours[f"{layer}.bias"] = ours[f"{layer}.bias"] + ours[f"{layer}.weight"] @ shift
            ours[f"{layer}.weight"] = ours[f"{layer}.weight"] @ torch.diag(gain)
    for name in ours:
        if ".W_out." in name or ".down_proj." in name:
            ours[name] = centre @ ours[name]
    ours["embedding.weight"] = ours["embedding.weight"] @ centre
    return ours


@task.alternative
def in_numpy(state):
    """In NumPy, and the matrices centred on both sides."""
    ours = {name: value.numpy() for name, value in fold_layer_norm(state).items()}
    for name in ours:
        if any(f".{layer}.weight" in name for layer in (*LAYERS, "feed_forward.up_proj")):
            ours[name] = ours[name] - ours[name].mean(axis=1, keepdims=True)
    return ours


@task.harness
def harness(answer, sizes, state, tokens):
    """The logits of the rewritten model with RMSNorm; and with layer norm without parameters."""
    import torch

    from helpers.config import TransformerConfig
    from helpers.models import TransformerModel

    class RootMeanSquare(torch.nn.Module):
        def forward(self, x):
            return x / (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()

    found = answer(state)
    if found is None:
        return None
    if not isinstance(found, dict):
        raise ValueError("expected a dictionary of tensors")
    model, logits = TransformerModel(TransformerConfig(**sizes)).double().eval(), {}
    for name, norm in (
        ("with RMSNorm", RootMeanSquare()),
        ("with layer norm", torch.nn.LayerNorm(sizes["d_model"], elementwise_affine=False)),
    ):
        model.stack.norm = norm
        for block in model.stack.blocks:
            block.norm_attention = block.norm_feed_forward = norm
        want = model.state_dict()
        odd = sorted(set(want) ^ set(found))
        if odd:
            what = "missing" if odd[0] in want else "there, and not wanted"
            raise ValueError(f"{odd[0]} is {what}: expected all names except those of the norms")
        for key, value in want.items():
            if tuple(found[key].shape) != tuple(value.shape):
                came = f"{key} has shape {tuple(found[key].shape)}"
                raise ValueError(f"{came}, not {tuple(value.shape)}")
        model.load_state_dict({key: torch.as_tensor(value) for key, value in found.items()})
        with torch.no_grad():
            logits[name] = model(tokens)
    return logits


@task.cases
def cases(seed):
    """No block, so that only embedding, norm and output layer count; then one block and more."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for n_layers, batch, T, d_model, n_heads, d_ff, vocab, n_outputs in (
        (0, 1, 1, 2, 1, 3, 2, 1),
        (1, 2, 3, 6, 2, 7, 5, 4),
        (3, 2, 5, 8, 2, 11, 9, 7),
        (2, 3, 4, 6, 3, 6, 10, 6),
    ):
        sizes = {"vocab": vocab, "d_model": d_model, "n_outputs": n_outputs, "d_ff": d_ff}
        sizes |= {"n_layers": n_layers, "n_heads": n_heads}
        state = {
            name: torch.randn(p.shape, dtype=torch.float64, generator=generator) * 0.7
            for name, p in TransformerModel(TransformerConfig(**sizes)).state_dict().items()
        }
        tokens = torch.randint(vocab, (batch, T), generator=generator)
        note = f"{n_layers} blocks" if n_layers else "no block: embedding, last norm, output layer"
        found.append(Case((sizes, state, tokens), note, kind="ordinary cases"))
    return found


@task.diagnostic
def where_it_goes_wrong(args, result):
    """Whether the folding is right already."""
    sizes, state, tokens = args
    model = TransformerModel(TransformerConfig(**sizes)).double().eval()
    model.load_state_dict(state)
    with torch.no_grad():
        right = model(tokens).numpy()
    folded = abs(result["with layer norm"] - right).max() < 1e-6
    if folded:
        return (
            "With layer norms without scale and shift the logits are right. So scales and shifts "
            "are in the right places. With RMSNorm they are not right: some mean is left."
        )
    return (
        "Even with layer norms, which subtract the mean themselves, the logits are not right. So "
        "a scale or a shift is missing or in the wrong place, or more than a mean was subtracted."
    )


task.mistake(
    "Scales and shifts are in the linear layers, but the residual stream still has a mean. Which "
    "modules write into the residual stream?",
    _version(not_centred=("all",)),
)
task.mistake(
    "The outputs of the blocks have mean 0 now. But what is written into the residual stream "
    "before the first block?",
    _version(not_centred=("embedding",)),
)
task.mistake(
    "The residual stream starts with mean 0 now. But each block writes into it, twice.",
    _version(not_centred=("attention.W_out", "feed_forward.down_proj")),
)
task.mistake(
    "What attention writes into the residual stream still has a mean.",
    _version(not_centred=("attention.W_out",)),
)
task.mistake(
    "What the feed-forward network writes into the residual stream still has a mean.",
    _version(not_centred=("feed_forward.down_proj",)),
)
task.mistake(
    "The matrices write with mean 0 now, but their biases still have a mean.",
    _version(not_centred=("bias",)),
)
task.mistake(
    "The matrices that write were centred along the wrong axis. The d_model numbers that they "
    "write are their outputs: the rows.",
    _version(rows_centred=True),
)
task.mistake(
    "The embedding was centred over the vocabulary. Each *word's* vector must have the mean 0.",
    _version(vocabulary=True),
)
task.mistake(
    "The scales are folded in, but the shifts are lost. How does a linear layer change a constant "
    "vector that is added to its input?",
    _version(no_shift=True),
)
task.mistake(
    "The shift was added to the bias as it is. But it was added *before* the matrix.",
    _version(raw_shift=True),
)
task.mistake(
    "The shift was multiplied by the matrix after the scale had been folded into it. In layer "
    "norm the shift is not scaled: use the original matrix.",
    _version(twice=True),
)
task.mistake("The shifts are folded in, but the scales are lost.", _version(no_gain=True))
task.mistake(
    "The scale belongs to the *inputs* of a linear layer: to the columns of its weight.",
    _version(rows=True),
)
task.mistake(
    "The norms in the blocks are folded in. There is one more norm, and a layer reads it.",
    _version(no_last=True),
)
task.mistake(
    "The norm before the feed-forward network is lost: which layer reads it?",
    _version(attention_only=True),
)
task.mistake(
    "Only the queries got scale and shift. Which other layers read that norm?", _version(parts=1)
)
task.mistake("Queries and keys got scale and shift, but the values did not.", _version(parts=2))
task.mistake(NORMS_SWAPPED, _version(swapped=True))
task.mistake(
    "The means are subtracted in the right places. But the scales and shifts are gone, and "
    "nothing compensates for them.",
    _version(no_shift=True, no_gain=True),
)
task.mistake(
    "The norms' parameters are gone, and nothing compensates for them.",
    lambda state: {n: v for n, v in state.items() if "norm" not in n},
)
