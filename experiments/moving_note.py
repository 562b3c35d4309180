"""How the vector of *note* moves through SmolLM2, for lecture 2: `stored/moving_note.json`.

    python -m experiments.moving_note

84 sentences end in *note*, 28 with each of three senses. SmolLM2 reads from left to right, so the
words that tell the sense come before it. 36 sentences choose the plane and the center of each
sense; the other 48 are measured and shown, all of them.

    plane       the plane through the three centers after block 15, the middle one of 30; it stays
                the same for all blocks. From each vector we subtract the mean over the 36 sentences
                after that block, which all sentences have in common.
    path        of each tested sentence: the two coordinates at the embedding and after each block
    correct     after each block, how many of the 48 lie nearest to the center of their own sense:
                on the plane, and with all 576 entries; the same for *thing* in the place of *note*
                (with its own plane and centers), for the mean embedding of the other words, and
                on planes of shuffled senses
    apart       largest difference between two sentences' vectors of *note* with every attention
                output set to zero
    parts       how far the 48 have moved toward their own centers by block 15: what attention and
                the feed-forward networks have added to that; and the same by the last block, toward
                the centers there, on the same plane

The sentences and block 15 were chosen before anything was measured, and no sentence was exchanged
afterwards. The first four tested sentences of each sense are also in `experiments/word_vectors.py`.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments.real_model import rounded
from helpers import pretrained
from helpers.interp.hooks import cache_activations, patch
from helpers.pretrained import Pretrained

TABLE = Path(__file__).parents[1] / "helpers" / "results" / "stored" / "moving_note.json"

CHOSEN_AFTER = 15
"""The block whose vectors choose the plane."""
SHUFFLES = 200

SENSES = {
    "message": {
        "plane": (
            "My neighbour slipped under the door a note",
            "On the fridge there was a yellow sticky note",
            "The teacher folded and confiscated the note",
            "She signed and posted the thank-you note",
            "Before he ran away, the boy left his parents a note",
            "He scribbled on a scrap of paper a hasty note",
            "The secretary typed and delivered the note",
            "In the margin of the book somebody had pencilled a note",
            "The flowers arrived together with a short note",
            "The kidnappers sent the family a ransom note",
            "She tore up and burned his love note",
            "The doctor gave the pupil a sick note",
        ),
        "test": (
            "He took a pencil and wrote a note",
            "She pinned to the door a short note",
            "The parcel came with a handwritten note",
            "He left on the kitchen table a brief note",
            "The clerk stapled to the report a brief note",
            "The prisoner smuggled out of his cell a secret note",
            "She read aloud what was written in the note",
            "The courier handed the minister a sealed note",
            "He found on his windscreen an apologetic note",
            "The editor returned the manuscript with a polite note",
            "I stuck to the monitor a reminder note",
            "My aunt answered the invitation with a kind note",
            "The pupils passed around the classroom a crumpled note",
            "She opened the envelope and unfolded the note",
            "On the last page of her diary there was an unfinished note",
            "The landlord pinned to the wall an illegible note",
        ),
    },
    "music": {
        "plane": (
            "The tenor could not reach the top note",
            "The organ sounded a deep bass note",
            "The flute began the melody on a soft note",
            "Her finger slid along the string to the next note",
            "The choir sang together a single note",
            "In the second bar he forgot to play one note",
            "The guitarist bent and held the last note",
            "The composer crossed out the final note",
            "The trombone came in on the wrong note",
            "The pianist struck with his left hand the lowest note",
            "The conductor frowned at a flat note",
            "The soprano trilled on a high note",
        ),
        "test": (
            "The violin held a high note",
            "The singer missed the highest note",
            "On the piano he played a wrong note",
            "The trumpet ended on a long note",
            "The saxophone wailed on one long note",
            "The scale begins and ends on the same note",
            "The orchestra tuned to the oboe's note",
            "The bugler blew a single clear note",
            "The chord lacks its middle note",
            "The cello answered with a low note",
            "In this key F sharp is the leading note",
            "The drummer waited for the singer's first note",
            "The tune rises by an octave to its top note",
            "The accordion wheezed and lost a note",
            "With her eyes closed the harpist plucked each note",
            "The bell rang with a pure, steady note",
        ),
    },
    "feeling": {
        "plane": (
            "There was in his laughter a false note",
            "The minister's apology struck a humble note",
            "Her farewell ended on a hopeful note",
            "In the old man's words I heard a bitter note",
            "The meeting closed on a friendly note",
            "His reply had a defensive note",
            "The debate began on a hostile note",
            "Into her cheerful talk crept a melancholy note",
            "The president's address struck an optimistic note",
            "Behind his politeness there was an impatient note",
            "The year ended for the firm on a gloomy note",
            "Her mother's question had a suspicious note",
        ),
        "test": (
            "In her voice there was an angry note",
            "His speech ended on a bitter note",
            "The evening closed on a sad note",
            "There crept into his voice a worried note",
            "The trial finished on a bizarre note",
            "His otherwise calm answer carried a desperate note",
            "The talks broke up on a sour note",
            "Through the whole novel runs a nostalgic note",
            "The visit started on an awkward note",
            "Her refusal contained a regretful note",
            "On the telephone he spoke with a pleading note",
            "The film closes on a tender note",
            "The crowd's shouting took on a menacing note",
            "The ceremony opened on a solemn note",
            "There was in the child's complaint a jealous note",
            "The speaker added to his warning a personal note",
        ),
    },
}


def vectors(lm: Pretrained, part: str, word: str = "note") -> Tensor:
    """The last token's embedding and its vector after each block, (senses, n, 1 + blocks, d)."""
    found = []
    for groups in SENSES.values():
        for text in groups[part]:
            tokens = lm.encode(text.removesuffix("note") + word)
            assert lm.tokenizer.decode([tokens[0, -1].item()]) == f" {word}"
            found.append(streams(lm, tokens))
    return torch.stack(found).unflatten(0, (len(SENSES), -1))


def streams(lm: Pretrained, tokens: Tensor) -> Tensor:
    """The last token's embedding and its vector after each block, (1 + blocks, d)."""
    found = cache_activations(lm.model, tokens)
    return torch.stack([found["stream", i][0, -1] for i in range(len(lm.model.blocks) + 1)])


@torch.no_grad()
def sublayer_outputs(lm: Pretrained, part: str, after: int) -> Tensor:
    """What attention and the feed-forward networks add to *note* by a block, (senses, n, 2, d)."""
    rows = []
    for groups in SENSES.values():
        for text in groups[part]:
            added = torch.zeros(2, lm.model.embedding.weight.shape[1])
            with contextlib.ExitStack() as stack:
                for block in lm.model.blocks[:after]:
                    for row, layer in enumerate((block.attention, block.feed_forward)):

                        def add(
                            _: object, __: object, out: Tensor, to: Tensor = added[row]
                        ) -> None:
                            to += out[0, -1]

                        hook = layer.register_forward_hook(add)
                        stack.callback(hook.remove)
                lm.model(lm.encode(text), last_only=True)
            rows.append(added)
    return torch.stack(rows).unflatten(0, (len(SENSES), -1))


def plane_of(chosen: Tensor) -> Tensor:
    """Two orthonormal directions (2, d) through the centers; message is up, music on the left."""
    centers = chosen[:, :, CHOSEN_AFTER].mean(dim=1)  # (3, d)
    centers = centers - centers.mean(dim=0)
    up = centers[0] / centers[0].norm()
    across = centers[1] - (centers[1] @ up) * up
    return torch.stack([-across / across.norm(), up])


def nearest(points: Tensor, centers: Tensor) -> list[int]:
    """After each block, how many points (senses, n, blocks, d) are nearest to their own center."""
    senses, n, blocks, _ = points.shape
    own = torch.arange(senses).repeat_interleave(n)
    flat = points.flatten(0, 1)
    return [
        int((torch.cdist(flat[:, b], centers[:, b]).argmin(dim=1) == own).sum())
        for b in range(blocks)
    ]


def measured(chosen: Tensor, tested: Tensor) -> dict:
    """The paths on the plane of the chosen sentences, the centers, and the counts of `nearest`."""
    plane, common = plane_of(chosen), chosen.mean(dim=(0, 1))  # (2, d), (1 + blocks, d)
    path = (tested - common) @ plane.T  # (senses, n, 1 + blocks, 2)
    centers = (chosen.mean(dim=1) - common) @ plane.T  # (senses, 1 + blocks, 2)
    # Counted as they are stored and shown, so that a page counts the same.
    path, centers = path.round(decimals=2), centers.round(decimals=2)
    whole = nearest(tested, chosen.mean(dim=1))
    return {"path": path, "centers": centers, "plane": nearest(path, centers), "whole": whole}


def shuffled(chosen: Tensor, tested: Tensor) -> float:
    """Mean number nearest to their own center on the plane of shuffled senses, CHOSEN_AFTER."""
    generator = torch.Generator().manual_seed(0)
    flat, counts = chosen.flatten(0, 1), []
    for _ in range(SHUFFLES):
        mixed = flat[torch.randperm(len(flat), generator=generator)].view_as(chosen)
        counts.append(measured(mixed, tested)["plane"][CHOSEN_AFTER])
    return sum(counts) / len(counts)


def others(lm: Pretrained, part: str) -> Tensor:
    """The mean embedding of the other words, (senses, n, 1, d)."""
    rows = [
        lm.model.embedding(lm.encode(text))[0, :-1].mean(dim=0).detach()
        for groups in SENSES.values()
        for text in groups[part]
    ]
    return torch.stack(rows).unflatten(0, (len(SENSES), -1))[:, :, None]


def apart_without_attention(lm: Pretrained) -> float:
    """Largest difference between sentences at any block if every attention output is zero."""
    with contextlib.ExitStack() as stack:
        for layer in range(len(lm.model.blocks)):
            stack.enter_context(patch(lm.model, ("contexts", layer), torch.zeros_like))
        alone = vectors(lm, "test").flatten(0, 1)  # (48, 1 + blocks, d)
    return (alone - alone[0]).abs().max().item()


def toward_centers(chosen: Tensor, after: int) -> Tensor:
    """For each sense the direction on the plane toward its center after a block, (senses, d)."""
    plane = plane_of(chosen)
    centers = chosen[:, :, after].mean(dim=1) - chosen[:, :, after].mean(dim=(0, 1))
    return F.normalize(centers @ plane.T, dim=-1) @ plane


def parts(lm: Pretrained, chosen: Tensor, after: int) -> list[float]:
    """Mean distance moved toward the own center by a block: attention's, feed-forward's."""
    common = sublayer_outputs(lm, "plane", after).mean(dim=(0, 1))  # (2, d)
    added = sublayer_outputs(lm, "test", after) - common  # (senses, n, 2, d)
    along = (added * toward_centers(chosen, after)[:, None, None]).sum(dim=-1)  # (senses, n, 2)
    return along.mean(dim=(0, 1)).tolist()


def main() -> None:
    """Measure, and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    chosen, tested = vectors(lm, "plane"), vectors(lm, "test")
    note = measured(chosen, tested)
    thing = measured(vectors(lm, "plane", "thing"), vectors(lm, "test", "thing"))
    (other_words,) = nearest(others(lm, "test"), others(lm, "plane").mean(dim=1))
    table = {
        "made_by": "experiments/moving_note.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "file": pretrained.find(pretrained.SMOLLM2_NAME).name,
        "senses": list(SENSES),
        "chosen_by": sum(len(groups["plane"]) for groups in SENSES.values()),
        "chosen_after": CHOSEN_AFTER,
        "correct": {
            "note": note["plane"],
            "note, all entries": note["whole"],
            "thing": thing["plane"],
            "thing, all entries": thing["whole"],
            "other words": other_words,
            "shuffled": round(shuffled(chosen, tested), 1),
        },
        "apart": apart_without_attention(lm),
        "parts": rounded(parts(lm, chosen, CHOSEN_AFTER), 1),
        "parts at the end": rounded(parts(lm, chosen, len(lm.model.blocks)), 1),
        "centers": rounded(note["centers"], 2),
        "sentences": [list(groups["test"]) for groups in SENSES.values()],
        "paths": rounded(note["path"], 2),
    }
    table["cpu_seconds"] = round(time.process_time() - start)
    lines = [f' "{name}": {json.dumps(part)}' for name, part in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
