"""A loader of one's own: the logits of a model that somebody else trained."""

import torch

from grading.author import Case, TaskFile
from grading.tasks.lecture_12.gated_feed_forward import gated_feed_forward
from grading.tasks.lecture_12.grouped_heads import grouped_heads
from grading.tasks.lecture_12.rms_norm import rms_norm

task = TaskFile(
    "implement",
    points=16,
    minutes=40,
    section="GPT-2 in your own modules",
    outcome="write the parts that Llama exchanges in a block, count their parameters, and load "
    "such a model",
    forbidden=("helpers.pretrained.llama",),
    hints=(
        "Begin without any layer: embedding, final norm, output layer. Then add attention, then "
        "the rest.",
        "A projection gives (T, n · d_head). `unflatten` and `transpose` turn it into (n, T, "
        "d_head).",
        "Twice in each layer: x = x + sublayer(norm(x)). Which sublayer, and which of the two "
        "norms?",
    ),
)


# %% given
def turned(x, base):
    """Rotary positions of x (heads, T, d) as such files have them: features i and i + d/2."""
    T, half = x.shape[1], x.shape[2] // 2
    speed = base ** (-torch.arange(half, dtype=x.dtype) / half)  # (d / 2,)
    angle = torch.arange(T, dtype=x.dtype)[:, None] * speed  # (T, d / 2)
    first, second = x[..., :half], x[..., half:]
    return torch.cat(
        [
            first * angle.cos() - second * angle.sin(),
            second * angle.cos() + first * angle.sin(),
        ],
        dim=-1,
    )  # (heads, T, d)


# %%


# %% the cell
def load_llama(weights, config, tokens):
    """Logits (T, vocab) of tokens (T,), from the arrays of a pretrained model."""
    # BEGIN SOLUTION
    eps, base = config["rms_norm_eps"], config["rope_theta"]
    heads = config["num_attention_heads"], config["num_key_value_heads"]
    x = weights["embed_tokens.weight"][tokens]  # (T, d)
    for layer in range(config["num_hidden_layers"]):

        def get(name, layer=layer):
            return weights[f"layers.{layer}.{name}.weight"]

        def project(h, part, n, get=get):
            out = h @ get(f"self_attn.{part}_proj").T  # (T, n · d_head)
            return out.unflatten(-1, (n, -1)).transpose(0, 1)  # (n, T, d_head)

        h = rms_norm(x, get("input_layernorm"), eps)
        q, k = turned(project(h, "q", heads[0]), base), turned(project(h, "k", heads[1]), base)
        contexts = grouped_heads(q, k, project(h, "v", heads[1]))  # (heads, T, d_head)
        joined = contexts.transpose(0, 1).flatten(1)  # (T, heads · d_head)
        x = x + joined @ get("self_attn.o_proj").T
        h = rms_norm(x, get("post_attention_layernorm"), eps)
        x = x + gated_feed_forward(
            h, get("mlp.gate_proj"), get("mlp.up_proj"), get("mlp.down_proj")
        )
    return rms_norm(x, weights["norm.weight"], eps) @ weights["lm_head.weight"].T
    # END SOLUTION


# %%


@task.alternative
def through_the_course(weights, config, tokens):
    """In the modules of the course, the rotation's pairs put side by side."""
    from helpers.config import TransformerConfig
    from helpers.models import LanguageModel
    from helpers.positions import RotaryPositions

    vocab, d = weights["embed_tokens.weight"].shape
    n_heads = config["num_attention_heads"]
    d_head = d // n_heads
    ours = TransformerConfig(
        vocab,
        d,
        n_layers=config["num_hidden_layers"],
        n_heads=n_heads,
        d_ff=len(weights["layers.0.mlp.up_proj.weight"]),
        n_kv_heads=config["num_key_value_heads"],
        rms_norm=True,
        norm_eps=config["rms_norm_eps"],
        activation="swiglu",
        bias=False,
        tied=False,
        scale_embedding=False,
    )
    model = LanguageModel(ours, RotaryPositions(config["rope_theta"]))
    order = torch.arange(d_head).view(2, -1).T.flatten()
    names = {
        "embedding": "embed_tokens",
        "lm_head": "lm_head",
        "stack.norm": "norm",
        "norm_attention": "input_layernorm",
        "norm_feed_forward": "post_attention_layernorm",
        "attention.W_query": "self_attn.q_proj",
        "attention.W_key": "self_attn.k_proj",
        "attention.W_value": "self_attn.v_proj",
        "attention.W_out": "self_attn.o_proj",
        "feed_forward.gate_proj": "mlp.gate_proj",
        "feed_forward.up_proj": "mlp.up_proj",
        "feed_forward.down_proj": "mlp.down_proj",
    }
    for name, parameter in model.double().named_parameters():
        stem = name.removesuffix(".weight")
        if stem.startswith("stack.blocks."):
            _, _, layer, stem = stem.split(".", 3)
            array = weights[f"layers.{layer}.{names[stem]}.weight"]
        else:
            array = weights[f"{names[stem]}.weight"]
        if stem in ("attention.W_query", "attention.W_key"):
            array = array.unflatten(0, (-1, d_head))[:, order].flatten(0, 1)
        parameter.data.copy_(array)
    with torch.no_grad():
        return model(tokens[None])[0]


task.edit(
    "The final norm is missing, between the last block and the output layer.",
    'rms_norm(x, weights["norm.weight"], eps) @',
    "x @",
)
task.edit(
    "Attention reads the residual stream without the norm.",
    'rms_norm(x, get("input_layernorm"), eps)',
    "x",
)
task.edit(
    "The feed-forward network reads the residual stream without the norm.",
    'rms_norm(x, get("post_attention_layernorm"), eps)',
    "x",
)
task.edit(
    "The residual connection around attention is missing.",
    'x = x + joined @ get("self_attn.o_proj").T',
    'x = joined @ get("self_attn.o_proj").T',
)
task.edit(
    "The residual connection around the feed-forward network is missing.",
    "x = x + gated_feed_forward(",
    "x = gated_feed_forward(",
)
task.edit(
    "`gate_proj` and `up_proj` are swapped. Their shapes are the same.",
    'get("mlp.gate_proj"), get("mlp.up_proj")',
    'get("mlp.up_proj"), get("mlp.gate_proj")',
)
task.edit(
    "The embedding is used as the output layer. In this file the two are not tied.",
    'weights["lm_head.weight"]',
    'weights["embed_tokens.weight"]',
)
task.edit(
    "Nothing is rotated: only the mask tells the model the order of the words.",
    'turned(project(h, "q", heads[0]), base), turned(project(h, "k", heads[1]), base)',
    'project(h, "q", heads[0]), project(h, "k", heads[1])',
)
task.edit(
    "The keys are not rotated. Rotate queries and keys.",
    'turned(project(h, "k", heads[1]), base)',
    'project(h, "k", heads[1])',
)
task.edit(
    "The values are rotated, too. Positions affect the weights, not the values.",
    'grouped_heads(q, k, project(h, "v", heads[1]))',
    'grouped_heads(q, k, turned(project(h, "v", heads[1]), base))',
)
task.edit(
    "The rotation uses another base. It is in the config.",
    'config["rope_theta"]',
    "10_000.0",
)
task.edit("Another eps is used. It is in the config.", 'config["rms_norm_eps"]', "1e-12")
task.edit(
    "The contexts of the heads were concatenated in the wrong order: for each word, head after "
    "head.",
    "contexts.transpose(0, 1).flatten(1)",
    "contexts.permute(1, 2, 0).flatten(1)",
)
task.edit(
    "The heads were merged without exchanging their axis with that of the words, so a row belongs "
    "to several words.",
    "contexts.transpose(0, 1).flatten(1)",
    "contexts.reshape(len(tokens), -1)",
)
task.edit(
    "The heads were split in the wrong way: `view` and `reshape` do not exchange axes. Split the "
    "last axis first, then exchange.",
    "out.unflatten(-1, (n, -1)).transpose(0, 1)",
    "out.reshape(n, len(tokens), -1)",
)
task.edit(
    "Heads were split and merged by reshaping alone, which does not exchange the axes of words and "
    "heads. Split the last axis, then transpose; transpose again before you merge.",
    "out.unflatten(-1, (n, -1)).transpose(0, 1)",
    "out.reshape(n, len(tokens), -1)",
    "contexts.transpose(0, 1).flatten(1)",
    "contexts.reshape(len(tokens), -1)",
)
task.edit(
    "The residual connection adds the output of the *norm*. Add the residual stream itself.",
    'x = x + joined @ get("self_attn.o_proj").T',
    'x = h + joined @ get("self_attn.o_proj").T',
)
task.edit(
    "`post_attention_layernorm` is applied to what attention adds. Despite its name it is the norm "
    "before the feed-forward network.",
    'x = x + joined @ get("self_attn.o_proj").T',
    'h = rms_norm(joined @ get("self_attn.o_proj").T, get("post_attention_layernorm_"), eps)\n'
    "        x = x + h",
    'h = rms_norm(x, get("post_attention_layernorm"), eps)',
    "h = x",
    "post_attention_layernorm_",
    "post_attention_layernorm",
)
task.edit(
    "The shared keys and values are assigned in turn. Neighbours share, as in the previous task.",
    "contexts = grouped_heads(q, k,",
    "k = k.repeat(heads[0] // heads[1], 1, 1)\n        contexts = grouped_heads(q, k,",
    'project(h, "v", heads[1]))',
    'project(h, "v", heads[1]).repeat(heads[0] // heads[1], 1, 1))',
)


task.edit(
    "The norm before attention and the one before the feed-forward network are swapped.",
    "input_layernorm",
    "post_attention_layernorm_",
    'get("post_attention_layernorm")',
    'get("input_layernorm")',
    "post_attention_layernorm_",
    "post_attention_layernorm",
)
task.edit(
    "The embedding is multiplied by the √d of Lecture 8. This model does not do that.",
    'weights["embed_tokens.weight"][tokens]',
    'weights["embed_tokens.weight"][tokens] * weights["norm.weight"].shape[0] ** 0.5',
)
task.edit(
    "Queries and keys are rotated before they are split into heads. The pairs of a head lie within "
    "the head: split first.",
    'turned(project(h, "q", heads[0]), base), turned(project(h, "k", heads[1]), base)',
    '(turned((h @ get(f"self_attn.{p}_proj").T)[None], base)[0].unflatten(-1, (n, -1))'
    '.transpose(0, 1) for p, n in zip("qk", heads))',
)


task.edit(
    "The feed-forward network reads the residual stream from before attention.",
    'x = x + joined @ get("self_attn.o_proj").T',
    'before, x = x, x + joined @ get("self_attn.o_proj").T',
    'rms_norm(x, get("post_attention_layernorm"), eps)',
    'rms_norm(before, get("post_attention_layernorm"), eps)',
)


task.edit(
    "Both residual connections add the output of the *norm*: the name x was used again for it. Add "
    "the residual stream itself.",
    'x = x + joined @ get("self_attn.o_proj").T',
    'x = h + joined @ get("self_attn.o_proj").T',
    "x = x + gated_feed_forward(",
    "x = h + gated_feed_forward(",
)
task.edit(
    "The residual connection around the feed-forward network adds the output of the *norm*. Add "
    "the residual stream itself.",
    "x = x + gated_feed_forward(",
    "x = h + gated_feed_forward(",
)


@task.harness
def harness(answer, weights, config, tokens):
    """The logits, and what the model writes when it takes the likeliest word five times."""
    import torch

    logits = answer(weights, config, tokens)
    if logits is None:
        return None
    written = tokens
    for _ in range(5):
        last = torch.as_tensor(answer(weights, config, written))[-1]
        written = torch.cat([written, last.argmax()[None]])
    return {"logits": logits, "written": written}


@task.cases
def cases(seed):
    """One layer, one word; then several, in groups."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    found = []
    for layers, n_heads, n_kv, d_head, d_ff, vocab, T, eps, base in (
        (1, 1, 1, 2, 3, 4, 1, 0.05, 50.0),
        (1, 4, 2, 2, 5, 6, 4, 0.05, 50.0),
        (2, 4, 2, 4, 7, 9, 5, 0.1, 20.0),
        (3, 6, 2, 2, 6, 8, 6, 0.02, 80.0),
    ):
        d = n_heads * d_head
        weights = {"embed_tokens.weight": draw(vocab, d), "lm_head.weight": draw(vocab, d)}
        weights["norm.weight"] = 1 + 0.5 * draw(d)
        for i in range(layers):
            for name, shape in {
                "self_attn.q_proj": (d, d),
                "self_attn.k_proj": (n_kv * d_head, d),
                "self_attn.v_proj": (n_kv * d_head, d),
                "self_attn.o_proj": (d, d),
                "mlp.gate_proj": (d_ff, d),
                "mlp.up_proj": (d_ff, d),
                "mlp.down_proj": (d, d_ff),
            }.items():
                weights[f"layers.{i}.{name}.weight"] = 0.7 * draw(*shape)
            for name in ("input_layernorm", "post_attention_layernorm"):
                weights[f"layers.{i}.{name}.weight"] = 1 + 0.5 * draw(d)
        config = {
            "num_hidden_layers": layers,
            "num_attention_heads": n_heads,
            "num_key_value_heads": n_kv,
            "rms_norm_eps": eps,
            "rope_theta": base,
        }
        tokens = torch.randint(vocab, (T,), generator=generator)
        note = f"{layers} layers, {n_heads} query heads, {n_kv} key-value heads, {T} words"
        found.append(Case((weights, config, tokens), note, kind="ordinary cases"))
    return found
