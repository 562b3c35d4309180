"""What `helpers.pretrained` refuses, and in which words."""

import torch

from helpers import pretrained
from tests.helpers.test_pretrained import GPT2_SIZES, LLAMA_SIZES, gpt2, llama, randomize

SMALL = randomize(gpt2(**GPT2_SIZES["one head"]))
CONFIG = SMALL.config.to_dict()
WEIGHTS = {name.removeprefix("transformer."): a for name, a in SMALL.state_dict().items()}
GROUPED = randomize(llama(**LLAMA_SIZES["grouped"]))
LLAMA_CONFIG, LLAMA_WEIGHTS = GROUPED.config.to_dict(), GROUPED.state_dict()
TIED = randomize(llama(**LLAMA_SIZES["tied"]))


def without(*names):
    return {name: array for name, array in WEIGHTS.items() if name not in names}


def with_shape(name, *shape):
    return WEIGHTS | {name: torch.zeros(shape)}


def llama_without(name):
    return {n: a for n, a in LLAMA_WEIGHTS.items() if n != name}


CASES = {
    pretrained.gpt2: [
        (
            lambda: pretrained.gpt2(CONFIG, without("h.0.ln_1.bias", "ln_f.weight")),
            "weights: got none named h.0.ln_1.bias, ln_f.weight; needed 16 arrays, those of this",
        ),
        (
            lambda: pretrained.gpt2(CONFIG, WEIGHTS | {"h.1.ln_1.bias": torch.zeros(6)}),
            "weights: got also h.1.ln_1.bias; needed 16 arrays, those of this config",
        ),
        (
            lambda: pretrained.gpt2(CONFIG, {"wte.weight": WEIGHTS["wte.weight"]}),
            "weights: got none named h.0.attn.c_attn.bias, h.0.attn.c_attn.weight, "
            "h.0.attn.c_proj.bias, h.0.attn.c_proj.weight, h.0.ln_1.bias, h.0.ln_1.weight, "
            "h.0.ln_2.bias, h.0.ln_2.weight and 7 more; needed 16 arrays",
        ),
        (
            lambda: pretrained.gpt2(CONFIG, with_shape("h.0.attn.c_attn.weight", 18, 6)),
            "weights['h.0.attn.c_attn.weight']: got shape (18, 6); needed shape (6, 18)",
        ),
        (
            lambda: pretrained.gpt2(CONFIG, with_shape("wpe.weight", 31, 6)),
            "weights['wpe.weight']: got shape (31, 6); needed shape (32, 6)",
        ),
        (
            lambda: pretrained.gpt2(CONFIG, WEIGHTS | {"lm_head.weight": torch.zeros(50, 6)}),
            "weights['lm_head.weight']: got other numbers; needed those of wte.weight, to which it",
        ),
        (
            lambda: pretrained.gpt2(CONFIG | {"activation_function": "relu"}, WEIGHTS),
            "config: got activation_function = 'relu'; needed 'gelu_new'",
        ),
        (
            lambda: pretrained.gpt2(CONFIG | {"scale_attn_by_inverse_layer_idx": True}, WEIGHTS),
            "config: got scale_attn_by_inverse_layer_idx = True; needed False",
        ),
        (
            lambda: pretrained.gpt2(CONFIG | {"n_layer": 2}, WEIGHTS),
            "weights: got none named h.1.attn.c_attn.bias, h.1.attn.c_attn.weight, "
            "h.1.attn.c_proj.bias, h.1.attn.c_proj.weight, h.1.ln_1.bias, h.1.ln_1.weight, "
            "h.1.ln_2.bias, h.1.ln_2.weight and 4 more; needed 28 arrays",
        ),
    ],
    pretrained.llama: [
        (
            lambda: pretrained.llama(LLAMA_CONFIG, llama_without("lm_head.weight")),
            "weights: got none named lm_head.weight; needed 21 arrays, those of this config",
        ),
        (
            lambda: pretrained.llama(LLAMA_CONFIG | {"num_key_value_heads": 3}, LLAMA_WEIGHTS),
            "weights['layers.0.self_attn.k_proj.weight']: got shape (8, 24); needed shape (12, 24)",
        ),
        (
            lambda: pretrained.llama(LLAMA_CONFIG | {"attention_bias": True}, LLAMA_WEIGHTS),
            "config: got attention_bias = True; needed False",
        ),
        (
            lambda: pretrained.llama(
                LLAMA_CONFIG | {"rope_parameters": {"rope_type": "yarn"}}, LLAMA_WEIGHTS
            ),
            "config: got rope_type 'yarn'; needed 'default' or 'linear'",
        ),
        (
            lambda: pretrained.llama(
                TIED.config.to_dict(), TIED.state_dict() | {"lm_head.weight": torch.zeros(50, 24)}
            ),
            "weights['lm_head.weight']: got other numbers; needed those of embed_tokens.weight, to",
        ),
    ],
}

CANNOT_FAIL = {
    pretrained.StoredArray: "takes what the two tables hold",
    pretrained.Pretrained: "takes what `load` has read",
    pretrained.load: "see below: it reads a folder",
    pretrained.read_weights: "see below: a missing file is the system's own error",
    pretrained.find: "test_gguf_weights.py: no network is no bad argument",
    pretrained.fetch: "test_pretrained.py: no network is no bad argument",
    pretrained.load_if_found: "test_pretrained.py: as `load` and `fetch`, which it calls",
    pretrained.main: "argparse refuses what is no option",
}
