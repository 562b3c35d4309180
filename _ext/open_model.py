"""The stored language model as a part of a page, run by the reader's browser: `{open-model}`.

    ```{open-model}
    :answers: lies lie

    the letters / the letter | in the drawer / in the drawers
    ```

The content is a sentence: parts between `|`, each with its alternatives between `/`; the reader
may leave out every part but the first. With `:small:` the page shows only the sentence and how
likely the two answers are. The page holds a button; when it is pressed, one script is added with
the weights, the arithmetic (`open_model.js`) and what the reader sees (`open_model_page.js`). It is
a script because a page that was opened as a file may load nothing else.
"""

import ast
import base64
import json
import struct
import zipfile
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent
WEIGHTS = HERE.parent / "helpers" / "results" / "stored" / "language_model.npz"
SCRIPT = "_static/open_model.js"

CLOSED = """<div class="open-model" data-source="{source}" data-about="{about}">
<p class="open-model-closed"><button type="button" hidden>{label}</button></p>
<noscript><p><em>{without}</em></p></noscript>
</div>
<script>
for (const root of document.querySelectorAll(".open-model:not(.waits)")) {{
  const button = root.querySelector("button");
  root.classList.add("waits");
  button.hidden = false;
  const whole = JSON.parse(root.dataset.about).kind === "whole";
  button.onclick = () => {{
    const open = () => window.lamplightModel.open(root);
    if (window.lamplightModel) return open();
    button.disabled = true;
    button.textContent = "Loading …";
    const failed = () => {{ button.textContent = "The model could not be loaded."; }};
    const script = document.createElement("script");
    document.head.append(Object.assign(script, {{ onload: open, onerror: failed,
      src: root.dataset.source }}));
  }};
  if (whole && /[?&]text=/.test(location.search)) button.click();
}}
</script>
"""
WITHOUT = {
    "whole": "With JavaScript, the model of lecture 8 would run here: you would choose words, see "
    "what it predicts next and what each of its heads attends to, and ablate heads.",
    "small": "With JavaScript, a trained model would fill the gap here.",
}


class OpenModel(SphinxDirective):
    """``{open-model}`` with a sentence; options ``:answers:``, two words, and ``:small:``."""

    has_content = True
    option_spec = {"answers": directives.unchanged_required, "small": directives.flag}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """The closed model, as HTML."""
        kind = "small" if "small" in self.options else "whole"
        sentence = [
            [alternative.strip() for alternative in part.split("/")]
            for part in " ".join(self.content).split("|")
        ]
        answers = self.options["answers"].split()
        words, _ = stored_model()
        used = " ".join(text for part in sentence for text in part).split() + answers
        if unknown := sorted(set(used) - set(words)):
            logger.warning("open-model: the model does not know %s", unknown)
        about = {"kind": kind, "sentence": sentence, "answers": answers}
        about["page"] = "../" * self.env.docname.count("/") + "pages/open_the_model.html"
        html = CLOSED.format(
            source="../" * self.env.docname.count("/") + SCRIPT,
            about=escape(json.dumps(about)),
            label="Ask a trained model" if kind == "small" else "Open the model",
            without=WITHOUT[kind],
        )
        return [nodes.raw("", html, format="html")]


def stored_model() -> tuple[list[str], dict]:
    """The words, and what the script needs: numbers of heads, shapes, and the weights as text.

    Raises:
        ValueError: if an array has another type than `helpers.apps.story_model.save` writes.
    """
    with zipfile.ZipFile(WEIGHTS) as file:
        arrays = {name.removesuffix(".npy"): read_npy(file.read(name)) for name in file.namelist()}
    _, (n_words,), data = arrays.pop("words")
    width = len(data) // n_words  # a word is filled up with zeros
    words = [
        data[i : i + width].decode("utf-32-le").rstrip("\0") for i in range(0, len(data), width)
    ]
    _, (n_layers,), data = arrays.pop("n_heads")
    heads = list(struct.unpack(f"<{n_layers}q", data))
    wrong = {name: kind for name, (kind, _, _) in arrays.items() if kind != "<f2"}
    if wrong:
        raise ValueError(f"{WEIGHTS.name}: got {wrong}, but need half precision, <f2")
    shapes = {name: shape for name, (_, shape, _) in arrays.items()}
    numbers = b"".join(data for *_, data in arrays.values())
    text = base64.b64encode(numbers).decode("ascii")
    return words, {"heads": heads, "shapes": shapes, "numbers": text}


def read_npy(data: bytes) -> tuple[str, tuple[int, ...], bytes]:
    """Type, shape and bytes of an array, of NumPy's format 1.0; the site is built without NumPy."""
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode("latin-1"))
    return header["descr"], header["shape"], data[10 + length :]


def script() -> str:
    """All that is loaded when the model is opened."""
    words, stored = stored_model()
    numbers, model, page, style = (
        (HERE / name).read_text(encoding="utf-8")
        for name in ("half_precision.js", "open_model.js", "open_model_page.js", "open_model.css")
    )
    values = {"WORDS": words, "STYLE": style, "STORED": stored}
    constants = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in values.items())
    code = f"{constants}{numbers}{model}{page}"
    return f'"use strict";\nwindow.lamplightModel = (() => {{\n{code}}})();\n'


def write_script(app: Sphinx, error: Exception | None) -> None:
    """Put it beside the pages, if there is a stored model."""
    if not error and app.builder.name == "html" and WEIGHTS.exists():
        (Path(app.outdir) / SCRIPT).write_text(script(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.add_directive("open-model", OpenModel)
    app.connect("build-finished", write_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
