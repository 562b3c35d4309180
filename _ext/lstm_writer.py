"""The LSTM of lecture 1, run by the reader's browser.

The explorable `lstm_writes` adds this script to the page when the network is asked to write: the
weights, and the arithmetic of one step (`lstm_writer.js`). It is a script because a page that was
opened as a file may load nothing else.
"""

import base64
import json
import zipfile
from pathlib import Path

from open_model import read_npy
from sphinx.application import Sphinx

HERE = Path(__file__).parent
WEIGHTS = HERE.parent / "helpers" / "results" / "stored" / "character_lstm.npz"
SCRIPT = "_static/lstm_writer.js"


def stored_lstm() -> dict:
    """Shapes of the arrays, and their numbers as text.

    Raises:
        ValueError: if an array has another type than `helpers.apps.character_lstm.save` writes.
    """
    with zipfile.ZipFile(WEIGHTS) as file:
        arrays = {name.removesuffix(".npy"): read_npy(file.read(name)) for name in file.namelist()}
    wrong = {name: kind for name, (kind, _, _) in arrays.items() if kind != "<f2"}
    if wrong:
        raise ValueError(f"{WEIGHTS.name}: got {wrong}, but need half precision, <f2")
    shapes = {name: shape for name, (_, shape, _) in arrays.items()}
    numbers = b"".join(data for *_, data in arrays.values())
    return {"shapes": shapes, "numbers": base64.b64encode(numbers).decode("ascii")}


def script() -> str:
    """All that is loaded when the network is asked to write."""
    stored = f"const STORED = {json.dumps(stored_lstm())};\n"
    parts = ("half_precision.js", "lstm_writer.js")
    code = "".join((HERE / name).read_text(encoding="utf-8") for name in parts)
    return f'"use strict";\nwindow.lamplightLSTM = (() => {{\n{stored}{code}}})();\n'


def write_script(app: Sphinx, error: Exception | None) -> None:
    """Put it beside the pages, if there are stored weights."""
    if not error and app.builder.name == "html" and WEIGHTS.exists():
        (Path(app.outdir) / SCRIPT).write_text(script(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.connect("build-finished", write_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
