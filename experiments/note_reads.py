"""Which words *note* attends to in SmolLM2, for lecture 2: `stored/note_reads.json`.

    python -m experiments.note_reads

The sentences are those of `experiments/moving_note.py`; the weights are those of the token *note*:

    heads       the four heads of blocks 1 to 15 that give the most weight to content words before
                the last two tokens, on average over the 36 sentences that choose the plane; that
                share of the weight there, and in the 48 tested sentences
    rows        the opening sentences, one of each sense, all of them tested ones: the tokens, the
                weights of these four heads, and the mean over all heads of these blocks
    first       mean weight on the first token in the 48 sentences, over all heads of these blocks
    right       how many of the 48 are nearest to the center of their own sense at the end, for each
                sense
    pairs       after blocks 8 and 30, how many tested sentences are right with *note* and wrong
                with *thing* in its place, and the reverse
    silenced    without some heads of blocks 1 to 15: how many of the 48 are nearest to the center
                of their own sense after block 15, on the plane of all heads, and how far they have
                moved toward it there; of the head that adds most, its weights in the opening
                sentences

A silenced head gives *note* the same context vector in each sentence, its mean over the 36. The
rows silence none; the first head of `heads`; all four; the four that add most to the distance,
directly and on average over the 36 sentences; all 135.

Content words are all words but those in SMALL.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import torch
from torch import Tensor

from experiments.moving_note import CHOSEN_AFTER, SENSES, measured, toward_centers, vectors
from experiments.real_model import rounded
from helpers import pretrained
from helpers.interp.hooks import cache_activations, patch
from helpers.pretrained import Pretrained

TABLE = Path(__file__).parents[1] / "helpers" / "results" / "stored" / "note_reads.json"
HEADS = 4
"""How many heads are shown."""
SMALL = frozenset(
    "a an and he her his i in it its my no of on one she that the there to was what with".split()
)


@torch.no_grad()
def read(lm: Pretrained, text: str) -> tuple[list[str], Tensor]:
    """The tokens (T,), and the weights of the last one in blocks 1 to 15 (blocks, heads, T)."""
    tokens = lm.encode(text)
    _, weights = lm.model(tokens, return_weights=True, last_only=True)
    words = [lm.tokenizer.decode([token]).strip() for token in tokens[0].tolist()]
    return words, torch.stack([w[0, :, -1] for w in weights[:CHOSEN_AFTER]])


def farther_back(found: list[tuple[list[str], Tensor]]) -> Tensor:
    """Mean share of the weight on content words before the last two tokens, (blocks, heads)."""
    shares = []
    for words, weights in found:
        content = torch.tensor([word.lower() not in SMALL for word in words[:-2]])
        content[0] = False  # the first token attracts weight in any text
        shares.append(weights[..., :-2][..., content].sum(dim=-1))
    return torch.stack(shares).mean(dim=0)


def nearest_own(lm: Pretrained, word: str) -> Tensor:
    """Whether each tested sentence is nearest to its own center, (senses, n, 1 + blocks)."""
    found = measured(vectors(lm, "plane", word), vectors(lm, "test", word))
    far = (found["path"][:, :, None] - found["centers"]).norm(dim=-1)  # (senses, n, senses, blocks)
    return far.argmin(dim=2) == torch.arange(len(SENSES))[:, None, None]


def contexts(lm: Pretrained, part: str) -> Tensor:
    """The context vectors of *note* in blocks 1 to 15, (senses, n, blocks, d)."""
    rows = []
    for groups in SENSES.values():
        for text in groups[part]:
            found = cache_activations(lm.model, lm.encode(text))
            rows.append(torch.stack([found["contexts", i][0, -1] for i in range(CHOSEN_AFTER)]))
    return torch.stack(rows).unflatten(0, (len(SENSES), -1))


@torch.no_grad()
def added_by_head(lm: Pretrained, found: Tensor, directions: Tensor) -> Tensor:
    """How far each head moves *note* along its sense's direction, on average, (blocks, heads).

    Args:
        lm: the model.
        found: of `contexts`, less what all sentences have in common, (senses, n, blocks, d).
        directions: one for each sense, (senses, d).
    """
    blocks = lm.model.blocks[:CHOSEN_AFTER]
    n_heads = blocks[0].attention.n_heads
    out = torch.stack([block.attention.W_out.weight for block in blocks])  # (blocks, d, d)
    written = torch.einsum(
        "snbhv,bdhv->snbhd", found.unflatten(-1, (n_heads, -1)), out.unflatten(-1, (n_heads, -1))
    )
    return torch.einsum("snbhd,sd->snbh", written, directions).mean(dim=(0, 1))


def without(lm: Pretrained, heads: list[tuple[int, int]], common: Tensor) -> Tensor:
    """The vectors of the tested sentences with these heads silenced, (senses, n, 1 + blocks, d).

    Args:
        lm: the model.
        heads: block and head of each, from 0.
        common: the mean context vectors, (blocks, d).
    """
    silent: dict[int, list[int]] = {}
    for block, head in heads:
        silent.setdefault(block, []).append(head)
    with contextlib.ExitStack() as stack:
        for block, of_block in silent.items():
            d_v = lm.model.blocks[block].attention.d_v
            columns = torch.cat([torch.arange(h * d_v, (h + 1) * d_v) for h in of_block])

            def change(value: Tensor, block: int = block, columns: Tensor = columns) -> Tensor:
                value = value.clone()
                value[:, -1, columns] = common[block, columns]
                return value

            stack.enter_context(patch(lm.model, ("contexts", block), change))
        return vectors(lm, "test")


def silenced(lm: Pretrained, heads: list[tuple[int, int]]) -> dict:
    """What is left of the movement without some heads; see `silenced` above."""
    chosen, found = vectors(lm, "plane"), contexts(lm, "plane")
    directions = toward_centers(chosen, CHOSEN_AFTER)  # (senses, d)
    common = found.mean(dim=(0, 1))  # (blocks, d)
    added = added_by_head(lm, found - common, directions)  # (blocks, heads)
    n_blocks, n_heads = added.shape
    most = [divmod(i, n_heads) for i in added.flatten().topk(HEADS).indices.tolist()]
    rows = []
    for name, off in (
        ("none", []),
        ("first of the heads", heads[:1]),
        ("the heads", heads),
        ("adding most", most),
        ("all", [(b, h) for b in range(n_blocks) for h in range(n_heads)]),
    ):
        left = without(lm, off, common)
        right = measured(chosen, left)["plane"][CHOSEN_AFTER]
        moved = left[:, :, CHOSEN_AFTER] - chosen[:, :, CHOSEN_AFTER].mean(dim=(0, 1))
        distance = (moved * directions[:, None]).sum(dim=-1).mean().item()
        rows.append([name, len(off), right, round(distance, 1)])
    weights = [read(lm, groups["test"][0]) for groups in SENSES.values()]
    block, head = most[0]
    return {
        "rows": rows,
        "most": [[b + 1, h] for b, h in most],
        "weights": [rounded(row[block, head], 4) for _, row in weights],
    }


def main() -> None:
    """Measure, and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    chosen, tested = (
        [read(lm, text) for groups in SENSES.values() for text in groups[part]]
        for part in ("plane", "test")
    )
    by_chosen, by_tested = farther_back(chosen), farther_back(tested)
    heads = [
        divmod(i, by_chosen.shape[1]) for i in by_chosen.flatten().topk(HEADS).indices.tolist()
    ]
    rows = []
    for groups in SENSES.values():
        words, weights = read(lm, groups["test"][0])
        shown = [rounded(weights[block, head], 4) for block, head in heads]
        rows.append({"words": words, "heads": shown, "mean": rounded(weights.mean(dim=(0, 1)), 4)})
    note, thing = nearest_own(lm, "note"), nearest_own(lm, "thing")
    table = {
        "made_by": "experiments/note_reads.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "file": pretrained.find(pretrained.SMOLLM2_NAME).name,
        "heads": [
            {
                "block": block + 1,
                "head": head,
                "chosen": round(by_chosen[block, head].item(), 2),
                "tested": round(by_tested[block, head].item(), 2),
            }
            for block, head in heads
        ],
        "rows": rows,
        "first": round(torch.stack([w[..., 0].mean() for _, w in tested]).mean().item(), 2),
        "right": dict(zip(SENSES, note[..., -1].sum(dim=1).tolist(), strict=True)),
        "pairs": {
            str(block): [
                int((note & ~thing)[..., block].sum()),
                int((thing & ~note)[..., block].sum()),
            ]
            for block in (8, 30)
        },
        "silenced": silenced(lm, heads),
    }
    table["cpu_seconds"] = round(time.process_time() - start)
    lines = [f' "{name}": {json.dumps(part)}' for name, part in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
