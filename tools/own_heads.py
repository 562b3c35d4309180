"""The picture at the top of sheet 5: `python tools/own_heads.py` writes `_static/own_heads.svg`.

Four heads that the model answer of `train_heads` trains, each with the question that it serves.
"""

import string
from pathlib import Path

import matplotlib.pyplot as plt
import torch

from grading.tasks.lecture_05.train_heads import three_relations_batch, train_heads
from helpers.viz.plotting import heatmap, to_html, use_style

TARGET = Path(__file__).resolve().parent.parent / "_static" / "own_heads.svg"
SAID = {0: "just before?", 1: "flagged?", 2: "the first?", None: "(to spare)"}


def main() -> None:
    """Draw the rows of the six places that are asked."""
    torch.set_num_threads(1)
    model, roles = train_heads(1)
    tokens, _ = three_relations_batch(1, torch.Generator().manual_seed(4))  # (1, 12)
    with torch.no_grad():
        _, weights = model(tokens, return_weights=True)  # (1, heads, 12, 12)
    names = [string.ascii_letters[t % 52] + "*" * (t >= 52) for t in tokens[0].tolist()]
    use_style()
    fig, axes = plt.subplots(2, 2, figsize=(6.4, 3.9))
    for head, (ax, role) in enumerate(zip(axes.flat, roles, strict=True)):
        heatmap(ax, weights[0, head, 6:].numpy(), names[6:], names, decimals=None, top=1.0)
        ax.set_title(f"head {head}: {SAID[role]}", fontsize=12)
    drawing = to_html(fig, "Four heat maps, one of each head, with the question that it serves")
    TARGET.write_text(drawing.partition(">")[2].removesuffix("</figure>") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
