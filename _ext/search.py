"""Search: an index with the text itself, so that excerpts need no other page, also from files.

Each section of a page, and each term of the glossary, is one entry: where it is, its title, and its
text without code. Of model answers only the titles are kept. `search.js` ranks what it finds; what
people type for a thing that the course calls otherwise stands in `SYNONYMS`.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

HERE = Path(__file__).parent
GLOSSARY = "pages/glossary"
LEFT_OUT = ("pages/genindex", "pages/bibliography", "pages/execution_times")

# What counts, by how much: titles of answers come last, whatever they hold.
WEIGHTS = {
    "index": 1.0,
    "lectures/": 1.0,
    "pages/glossary": 0.85,
    "pages/open": 0.5,
    "exercises/": 0.3,
}
WEIGHTS |= {"exercises/": 0.3, "pages/": 0.3, "solutions/": 0.1}
DEEPER = 0.65
SIGNS = {"cdot": "·", "times": "×", "infty": "∞", "top": "ᵀ", "le": "≤", "approx": "≈"}
SIGNS |= {"leftarrow": "←", "rightarrow": "→", "to": "→", "ge": "≥", "sum": "Σ"}
MOST = 600  # letters of a section's text, on pages other than lectures and the glossary
KINDS = {"lectures/": "Lecture", "exercises/": "Exercises", "solutions/": "Model answers"}

SYNONYMS = {
    "-inf": "−∞",
    "ai": "transformer",
    "attention head": "head",
    "autoregressive": "causal mask",
    "backprop": "backpropagation",
    "bert": "three families of transformers",
    "bpe": "byte pair encoding",
    "chatgpt": "language model",
    "copy mechanism": "copying",
    "dot product attention": "scaled dot-product attention",
    "encoder decoder": "encoder-decoder",
    "exposure bias": "teacher forcing",
    "fact checking": "facts",
    "feedforward": "feed-forward",
    "ffn": "feed-forward",
    "fine tuning": "low-rank adapters",
    "fine-tuning": "low-rank adapters",
    "finetuning": "low-rank adapters",
    "flash attention": "fused",
    "forget gate": "lstm",
    "generation": "sampling",
    "gpt": "language model",
    "gqa": "grouped-query attention",
    "gru": "recurrent",
    "head pruning": "ablation",
    "hallucinate": "what a summary can get wrong",
    "hallucination": "what a summary can get wrong",
    "install": "clone the repository",
    "installation": "clone the repository",
    "interpretability": "patching",
    "kv cache": "cache",
    "kv-cache": "cache",
    "layernorm": "layer norm",
    "license": "licence",
    "llm": "language model",
    "logit lens": "patching",
    "lookahead": "causal mask",
    "look ahead": "causal mask",
    "lora": "low-rank adapter",
    "low rank": "low-rank",
    "lr": "learning rate",
    "masking": "masks",
    "mha": "multi-head attention",
    "mlp": "feed-forward",
    "multihead": "multi-head",
    "nan": "fully masked rows",
    "nmt": "translation",
    "nucleus": "top-p",
    "position embedding": "position encoding",
    "pointer network": "pointer-generator",
    "presenter notes": "session plans",
    "plagiarism": "similar answers",
    "positional": "position",
    "qkv": "queries keys values",
    "rms norm": "rmsnorm",
    "rnn": "recurrent",
    "rope": "rotary",
    "scaling": "divided √d_k",
    "seq2seq": "translation",
    "sequence to sequence": "translation",
    "skip connection": "residual",
    "speaker notes": "session plans",
    "speaker's notes": "session plans",
    "squad": "question answering",
    "sqrt": "√d_k",
    "subword": "byte pair encoding",
    "swiglu": "gated",
    "tokenizer": "byte pair encoding",
    "tokenization": "byte pair encoding",
    "vanishing": "vanishing gradient",
    "warmup": "warm-up",
    "why sqrt": "divided √d_k",
    "word embedding": "embedding",
}


def entries(env: BuildEnvironment) -> dict[str, list[list[str]]]:
    """For each page its entries: id, title, text, and "d" if it stands under *Deeper*."""
    if not hasattr(env, "search_entries"):
        env.search_entries = {}
    return env.search_entries


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the entries of a page that was read."""
    page = app.env.docname
    found = entries(app.env)[page] = []
    if page in LEFT_OUT:
        return
    for section in doctree.findall(nodes.section):
        title = section.children[0].astext()
        text = "" if page.startswith("solutions/") else said(section)
        if not page.startswith(("lectures/", GLOSSARY)):
            text = text[:MOST]
        deeper, above = "", section
        while isinstance(above, nodes.section):
            deeper = "d" if above.children[0].astext() == "Deeper" else deeper
            above = above.parent
        place = section["ids"][0] if section.parent is not doctree else ""
        found.append([place, title, text, deeper])
    if page == GLOSSARY:
        for item in doctree.findall(nodes.definition_list_item):
            term, definition = item.children[0], item.children[-1]
            text = plain(" ".join(map(words_of, definition.children)))
            found.append([term["ids"][0], term.astext(), text, ""])


def said(section: nodes.section) -> str:
    """The text of a section, without that of sections in it, code and what is shown as HTML."""
    texts: list[str] = []

    def visit(node: nodes.Node) -> None:
        if isinstance(node, nodes.section | nodes.literal_block | nodes.raw | nodes.comment):
            return
        if isinstance(node, nodes.container) and node.get("nb_element") == "cell_code":
            return
        if isinstance(node, nodes.definition_list) and "glossary" in node["classes"]:
            return
        if isinstance(node, nodes.TextElement):
            texts.append(words_of(node))
            return
        for child in node.children:
            visit(child)

    for child in section.children[1:]:
        visit(child)
    return plain(" ".join(text for text in texts if not text.startswith("Time: ")))


def words_of(node: nodes.Element) -> str:
    """The text of a node as a reader sees it: no raw HTML, and no key of a citation.

    In a sentence, as in "Vaswani et al. found", and at the beginning of an entry of a list, the
    first author and the year stand for the key.
    """
    parts = []
    for child in node.children:
        if isinstance(child, pending_xref) and child.get("refdomain") == "cite":
            if child.get("reftype") == "t" or not "".join(parts).strip():
                parts.append(", ".join(map(author_and_year, child["reftarget"].split(","))))
        elif isinstance(child, nodes.Text):
            parts.append(child.astext())
        elif not isinstance(child, nodes.raw | nodes.comment):
            parts.append(words_of(child))
    return "".join(parts)


def author_and_year(key: str) -> str:
    """`vaswani2017` as "Vaswani 2017"."""
    name, year = re.match(r"([a-z]*)\D*(\d{4})?", key.strip()).groups()
    return f"{name.capitalize()} {year or ''}".strip()


def plain(text: str) -> str:
    """A text in one line, formulas in it as one would type them."""
    inside = r"\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
    text = re.sub(rf"\\d?frac{inside}{inside}", r"\1 / \2 ", text)
    text = re.sub(r"\\sqrt\s*\{([^}]*)\}", r"√\1", text)
    text = re.sub(r"\\(?:text|mathrm|operatorname|mathbf)\s*\{([^}]*)\}", r"\1", text)
    text = re.sub(r"\\(tanh|log|exp|max|min|sin|cos)\b", r"\1", text)
    text = re.sub(r"\\([a-z]+)(?![a-zA-Z])", lambda sign: SIGNS.get(sign[1], " "), text)
    text = re.sub(r"[{}]", "", re.sub(r"\\[,;:!]|\\[a-zA-Z]+|\\", " ", text))
    return " ".join(text.split())


def forget(_app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """A page that is gone holds nothing."""
    entries(env).pop(page, None)


def weight(page: str) -> float:
    """How much a page counts."""
    return next((w for start, w in WEIGHTS.items() if page.startswith(start)), 0.5)


def index(env: BuildEnvironment) -> dict[str, object]:
    """All that the script needs."""
    pages = []
    for page, found in sorted(entries(env).items()):
        if found:
            kind = next((k for start, k in KINDS.items() if page.startswith(start)), "")
            title = env.titles[page].astext()
            pages.append([page, title, kind, weight(page), found])
    return {"pages": pages, "synonyms": SYNONYMS, "deeper": DEEPER}


def write(app: Sphinx, error: Exception | None) -> None:
    """Put the index and the script beside the pages."""
    if error or app.builder.name != "html":
        return
    folder = Path(app.outdir) / "_static"
    data = json.dumps(index(app.env), ensure_ascii=False, separators=(",", ":"))
    (folder / "search_index.js").write_text(f"window.lamplightIndex={data};\n", encoding="utf-8")
    script = (HERE / "search.js").read_text(encoding="utf-8")
    (folder / "search.js").write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
