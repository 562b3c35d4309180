"""Mend a loader of GPT-2's weights."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=10,
    minutes=15,
    section="What today's models changed",
    outcome="load GPT-2 into the modules of this course, and prove without a download that "
    "the loader is right",
    hints=(
        "For each line, write down the shape of the source and the shape that is needed. If the "
        "two are square, the shape does not help.",
        "What is the order of queries, keys and values, and what comes before attention?",
    ),
)


# %% the cell
def load_gpt2(theirs, n_layers):
    """GPT-2's arrays under the names of the course's LanguageModel."""
    ours = {"embedding.weight": theirs["wte.weight"]}
    ours["positions.table.weight"] = theirs["wpe.weight"]
    for layer in range(n_layers):
        for kind in ("weight", "bias"):
            from_, to = f"h.{layer}.", f"stack.blocks.{layer}."
            pieces = theirs[f"{from_}attn.c_attn.{kind}"].chunk(3, dim=-1)
            #| names = ("query", "value", "key")
            #| ours[f"{to}attention.W_out.{kind}"] = theirs[f"{from_}attn.c_proj.{kind}"]
            #| ours[f"{to}norm_attention.{kind}"] = theirs[f"{from_}ln_2.{kind}"]
            #| ours[f"{to}norm_feed_forward.{kind}"] = theirs[f"{from_}ln_1.{kind}"]
            # BEGIN SOLUTION
            names = ("query", "key", "value")
            pieces = [piece.t() for piece in pieces]
            ours[f"{to}attention.W_out.{kind}"] = theirs[f"{from_}attn.c_proj.{kind}"].t()
            ours[f"{to}norm_attention.{kind}"] = theirs[f"{from_}ln_1.{kind}"]
            ours[f"{to}norm_feed_forward.{kind}"] = theirs[f"{from_}ln_2.{kind}"]
            # END SOLUTION
            for name, piece in zip(names, pieces, strict=True):
                ours[f"{to}attention.W_{name}.{kind}"] = piece
            ours[f"{to}feed_forward.up_proj.{kind}"] = theirs[f"{from_}mlp.c_fc.{kind}"].t()
            ours[f"{to}feed_forward.down_proj.{kind}"] = theirs[f"{from_}mlp.c_proj.{kind}"].t()
    for kind in ("weight", "bias"):
        ours[f"stack.norm.{kind}"] = theirs[f"ln_f.{kind}"]
    return ours


# %%


@task.alternative
def by_table(theirs, n_layers):
    """A table of names; matrices of projections are turned."""
    ours = {
        "embedding.weight": theirs["wte.weight"],
        "positions.table.weight": theirs["wpe.weight"],
    }
    table = {
        "attn.c_proj": "attention.W_out",
        "mlp.c_fc": "feed_forward.up_proj",
        "mlp.c_proj": "feed_forward.down_proj",
        "ln_1": "norm_attention",
        "ln_2": "norm_feed_forward",
    }
    d = theirs["wte.weight"].shape[1]
    for name, array in theirs.items():
        if name.startswith("h."):
            _, layer, part = name.split(".", 2)
            stem, kind = part.rsplit(".", 1)
            array = array.mT if array.dim() == 2 else array
            if stem == "attn.c_attn":
                for i, own in enumerate(("query", "key", "value")):
                    piece = array[i * d : (i + 1) * d]
                    ours[f"stack.blocks.{layer}.attention.W_{own}.{kind}"] = piece
            else:
                ours[f"stack.blocks.{layer}.{table[stem]}.{kind}"] = array
        elif name.startswith("ln_f"):
            ours[name.replace("ln_f", "stack.norm")] = array
    return ours


task.as_given(
    "This does the same as the given code: every shape fits, but the model's output is wrong."
)
OUT = 'theirs[f"{from_}attn.c_proj.{kind}"].t()'
PIECES = '("query", "key", "value")'
task.edit("Keys and values are swapped.", PIECES, '("query", "value", "key")')
task.edit("Queries and keys are swapped.", PIECES, '("key", "query", "value")')
task.edit(
    "Queries, keys and values are not transposed. GPT-2 stores the W of x @ W, nn.Linear its "
    "transpose.",
    "piece.t() for",
    "piece for",
)
task.edit(
    "`W_out` is not transposed. It is square, so there is no error.", OUT, OUT.removesuffix(".t()")
)


@task.mistake(
    "`reshape` to (3, d, d) mixes queries, keys and values, although every shape fits. They are "
    "side by side along the last axis."
)
def cut_by_reshape(theirs, n_layers):
    d, mixed = len(theirs["ln_f.weight"]), dict(theirs)
    for layer in range(n_layers):
        name = f"h.{layer}.attn.c_attn.weight"
        mixed[name] = torch.cat(list(theirs[name].reshape(3, d, d)), dim=1)
    return load_gpt2(mixed, n_layers)


@task.mistake("The two norms of each block are swapped: `ln_1` comes before attention.")
def norms_swapped(theirs, n_layers):
    return _swapped_norms(load_gpt2(theirs, n_layers))


def _swapped_norms(ours):
    swap = {"norm_attention": "norm_feed_forward", "norm_feed_forward": "norm_attention"}
    changed = {}
    for name, array in ours.items():
        part = next((p for p in swap if f".{p}." in name), None)
        changed[name.replace(part, swap[part]) if part else name] = array
    return changed


def _keys_for_values(ours):
    swap = {"W_key": "W_value", "W_value": "W_key"}
    changed = {}
    for name, array in ours.items():
        part = next((p for p in swap if f".{p}." in name), None)
        changed[name.replace(part, swap[part]) if part else name] = array
    return changed


def _turned(ours, names):
    return {
        name: array.T if any(f".{own}.weight" in name for own in names) else array
        for name, array in ours.items()
    }


@task.mistake("The matrices are transposed correctly now. Two pairs of names are still mixed up.")
def names_left(theirs, n_layers):
    return _keys_for_values(_swapped_norms(load_gpt2(theirs, n_layers)))


@task.mistake("The norms are now right. Something else is not.")
def norms_mended(theirs, n_layers):
    square = ("W_query", "W_key", "W_value", "W_out")
    return _turned(_keys_for_values(load_gpt2(theirs, n_layers)), square)


@task.mistake(
    "`c_attn` was reshaped to (3d, d), which cuts the same sequence of numbers into other rows. "
    "Transpose it."
)
def reshaped_for_transposed(theirs, n_layers):
    d, mixed = len(theirs["ln_f.weight"]), dict(theirs)
    for layer in range(n_layers):
        name = f"h.{layer}.attn.c_attn.weight"
        mixed[name] = theirs[name].reshape(3 * d, d).T
    return load_gpt2(mixed, n_layers)


@task.harness
def harness(answer, sizes, theirs, tokens):
    """Give a model of the course what the answer returns, and run it."""
    import torch

    from helpers.config import TransformerConfig
    from helpers.models import LanguageModel

    found = answer(dict(theirs), sizes["n_layers"])
    if found is None:
        return None
    context = {"context_length": len(theirs["wpe.weight"]), "learned_positions": True}
    model = LanguageModel(TransformerConfig(**sizes, **context, scale_embedding=False)).double()
    want = dict(model.named_parameters())
    missing, strange = sorted(set(want) - set(found)), sorted(set(found) - set(want))
    if missing:
        raise ValueError(
            f"{missing[0]} is missing; {len(missing)} of {len(want)} names are missing"
        )
    if strange:
        raise ValueError(f"{strange[0]} is not a name in our model")
    for name, parameter in want.items():
        came = tuple(found[name].shape)
        if came != tuple(parameter.shape):
            raise ValueError(f"{name} has shape {came}, but ours has {tuple(parameter.shape)}")
        parameter.data.copy_(found[name])
    with torch.no_grad():
        return {"arrays": {name: p.data for name, p in want.items()}, "logits": model(tokens)}


@task.cases
def cases(seed):
    """One layer; then two, with other sizes."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for n_layers, d, d_ff, vocab in ((1, 2, 3, 4), (2, 4, 6, 5), (3, 6, 6, 7)):
        shapes = {"wte.weight": (vocab, d), "wpe.weight": (6, d)}
        for i in range(n_layers):
            for name, shape in (
                ("ln_1.weight", (d,)),
                ("ln_1.bias", (d,)),
                ("attn.c_attn.weight", (d, 3 * d)),
                ("attn.c_attn.bias", (3 * d,)),
                ("attn.c_proj.weight", (d, d)),
                ("attn.c_proj.bias", (d,)),
                ("ln_2.weight", (d,)),
                ("ln_2.bias", (d,)),
                ("mlp.c_fc.weight", (d, d_ff)),
                ("mlp.c_fc.bias", (d_ff,)),
                ("mlp.c_proj.weight", (d_ff, d)),
                ("mlp.c_proj.bias", (d,)),
            ):
                shapes[f"h.{i}.{name}"] = shape
        shapes |= {"ln_f.weight": (d,), "ln_f.bias": (d,)}
        theirs = {
            name: torch.randn(shape, dtype=torch.float64, generator=generator)
            for name, shape in shapes.items()
        }
        sizes = {"vocab": vocab, "d_model": d, "n_layers": n_layers, "n_heads": 2, "d_ff": d_ff}
        tokens = torch.randint(vocab, (2, 5), generator=generator)
        found.append(
            Case((sizes, theirs, tokens), f"{n_layers} layers of width {d}", kind="ordinary cases")
        )
    return found


@task.diagnostic
def which_are_wrong(args, result):
    """The names under which something else stands than should."""
    want, found = load_gpt2(args[1], args[0]["n_layers"]), result["arrays"]
    odd = [n for n, t in want.items() if abs(found[n] - t.numpy()).max() > 1e-6]
    return (
        f"The numbers in {len(odd)} of {len(want)} arrays are not the expected ones."
        if odd
        else None
    )
