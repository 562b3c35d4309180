"""Pretrained models in GGUF files, which hold config, tokenizer and weights in one file.

The format comes from llama.cpp. Its weights are usually quantized: a block of 32 numbers shares a
scale, and each number is stored in four or eight bits. The library `gguf` reads the file and turns
the blocks into float32 again (lecture 13 does so by hand for one kind of block).

Only models of the Llama architecture with a byte-level BPE tokenizer are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from helpers.validation import require

if TYPE_CHECKING:
    from gguf import GGUFReader
    from tokenizers import Tokenizer

NAMES = {
    "token_embd": "embed_tokens",
    "output_norm": "norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""Names of weights: in GGUF, and in the safetensors file of a Llama."""

SPECIAL = 3
"""The type of special tokens such as `<|im_end|>`."""


@dataclass(frozen=True)
class GGUF:
    """The content of a GGUF file.

    config: sizes, under the names that a Llama's `config.json` uses.
    weights: float32 arrays, under the names of a Llama's safetensors file. The rows of queries and
        keys are in the order of `helpers.positions.RotaryPositions`: features 2i and 2i + 1 of a
        head turn together.
    tokenizer: the byte-level BPE tokenizer of the model.
    chat_template: a Jinja template that turns messages into one text; empty if there is none.
    eos_id: the token that ends a text, or None.
    bos_id: the token that begins a text, or None.
    """

    config: Mapping[str, object]
    weights: Mapping[str, Tensor]
    tokenizer: Tokenizer
    chat_template: str
    eos_id: int | None
    bos_id: int | None = None


def read_gguf(path: str | Path) -> GGUF:
    """Read a GGUF file.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if it is no GGUF file, or the architecture or the tokenizer is another kind.
    """
    from gguf.quants import dequantize

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist.")
    with path.open("rb") as file:
        start = file.read(4)
    require(start == b"GGUF", "path", f"a file that starts with {start!r}", "a GGUF file")
    reader = _reader(path)
    kind = _value(reader, "general.architecture")
    require(kind == "llama", "path", f"architecture {kind!r}", "'llama'")
    weights = {
        _long_name(array.name): torch.from_numpy(
            dequantize(array.data, array.tensor_type).copy()
        ).float()
        for array in reader.tensors
    }
    return GGUF(
        _config(reader, tied="lm_head.weight" not in weights),
        weights,
        _tokenizer(reader),
        str(_value(reader, "tokenizer.chat_template", "")),
        _value(reader, "tokenizer.ggml.eos_token_id", None),
        _value(reader, "tokenizer.ggml.bos_token_id", None),
    )


def _reader(path: Path) -> GGUFReader:
    """A reader whose data is a plain array: slices of a `np.memmap` cost four times the time."""
    from gguf import GGUFReader

    class Plain(GGUFReader):
        @property
        def data(self) -> np.ndarray:
            return self._plain

        @data.setter
        def data(self, mapped: np.ndarray) -> None:
            self._plain = np.asarray(mapped)

    return Plain(path)


def _value(reader: GGUFReader, name: str, *default: object) -> object:
    field = reader.fields.get(name)
    if field is not None:
        return field.contents()
    require(bool(default), "path", f"no field {name!r}", "one, as in a GGUF file of a Llama")
    return default[0]


def _config(reader: GGUFReader, tied: bool) -> dict[str, object]:
    def of(name: str, *default: object) -> object:
        return _value(reader, f"llama.{name}", *default)

    width, n_heads = of("embedding_length"), of("attention.head_count")
    return {
        "model_type": "llama",
        "vocab_size": len(_value(reader, "tokenizer.ggml.tokens")),
        "hidden_size": width,
        "intermediate_size": of("feed_forward_length"),
        "num_hidden_layers": of("block_count"),
        "num_attention_heads": n_heads,
        "num_key_value_heads": of("attention.head_count_kv", n_heads),
        "head_dim": of("attention.key_length", width // n_heads),
        "max_position_embeddings": of("context_length"),
        # Stored in float32: 1e-5 comes back as 9.999999747378752e-06.
        "rms_norm_eps": float(f"{of('attention.layer_norm_rms_epsilon'):.6g}"),
        "rope_theta": of("rope.freq_base", 10_000.0),
        "tie_word_embeddings": tied,
    }


def _long_name(name: str) -> str:
    """The safetensors name: `layers.3.self_attn.q_proj.weight` for `blk.3.attn_q.weight`."""
    *block, short, kind = name.split(".")
    known = short in NAMES and kind == "weight"
    require(known, "path", f"an array {name!r}", "those of a Llama without biases")
    layer = f"layers.{block[1]}." if block else ""
    return f"{layer}{NAMES[short]}.{kind}"


def _tokenizer(reader: GGUFReader) -> Tokenizer:
    """The tokenizer with the merges and the pre-tokenizer of the file."""
    from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import BPE

    kind = _value(reader, "tokenizer.ggml.model")
    require(kind == "gpt2", "path", f"tokenizer {kind!r}", "'gpt2', byte-level BPE")
    tokens = _value(reader, "tokenizer.ggml.tokens")
    merges = [tuple(pair.split(" ")) for pair in _value(reader, "tokenizer.ggml.merges")]
    tokenizer = Tokenizer(BPE({token: i for i, token in enumerate(tokens)}, merges))
    words = pre_tokenizers.ByteLevel(add_prefix_space=False)
    one_digit = pre_tokenizers.Digits(individual_digits=True)
    ways = {
        "gpt-2": words,
        "smollm": pre_tokenizers.Sequence([one_digit, words]),  # each digit is a token of its own
    }
    way = _value(reader, "tokenizer.ggml.pre", "gpt-2")
    require(way in ways, "path", f"pre-tokenizer {way!r}", " or ".join(map(repr, ways)))
    tokenizer.pre_tokenizer, tokenizer.decoder = ways[way], decoders.ByteLevel()
    types = _value(reader, "tokenizer.ggml.token_type")
    special = [token for token, type_ in zip(tokens, types, strict=True) if type_ == SPECIAL]
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    return tokenizer
