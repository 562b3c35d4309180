"""What `helpers.interp.hooks` refuses, and in which words."""

import torch

from helpers.apps import metrics
from helpers.attention import MultiHeadAttention
from helpers.interp import hooks, induction
from tests.helpers.bad_call import language_model


def enter(place):
    with hooks.patch(language_model(), place, lambda found: found):
        pass


def swap(names, layer=0, head=None, length=5):
    model = language_model()
    found = hooks.cache_activations(model, torch.zeros(1, length, dtype=torch.int64))
    with hooks.patch_from(model, found, names, layer, head):
        model(torch.zeros(1, 5, dtype=torch.int64))


def segments(batch=2, length=8, segment=(2, 4)):
    induction.repeated_segments(batch, length, 5, segment, torch.Generator())


def broken(batch=2, segment=4):
    return induction.broken_turns(batch, 8, segment, torch.Generator())


def with_wide_values():
    model = language_model()
    model.blocks[0].attention = MultiHeadAttention(4, HEADS, d_k=2, d_v=3)
    return model


def with_shared_keys():
    return language_model(n_kv_heads=1)


LAYERS = len(language_model().blocks)
HEADS = language_model().blocks[0].attention.n_heads

CASES = {
    hooks.cache_activations: [
        (
            lambda: hooks.cache_activations(language_model(), torch.zeros(3, dtype=torch.int64)),
            "tokens: got shape (3,); needed shape (batch, T)",
        )
    ],
    hooks.patch: [
        (lambda: enter(("weights", 0)), "place: got 'weights'; needed 'stream' or 'queries'"),
        (
            lambda: enter(("keys", LAYERS)),
            f"place: got layer {LAYERS}; needed numbers from 0 to {LAYERS - 1}",
        ),
        (
            lambda: enter(("stream", LAYERS + 1)),
            f"place: got layer {LAYERS + 1}; needed numbers from 0 to {LAYERS}",
        ),
    ],
    hooks.patch_from: [
        (lambda: swap(["place"]), "names: got 'place'; needed 'stream' or 'queries' or 'keys'"),
        (lambda: swap(["stream"], head=0), "names: got 'stream'; needed 'queries' or 'keys'"),
        (lambda: swap(["keys"], head=HEADS), f"head: got {HEADS}; needed a number from 0 to"),
        (lambda: swap(["keys"], LAYERS), f"layer: got {LAYERS}; needed one that was recorded"),
        (
            lambda: swap(["keys"], length=4),
            "found: got shape (1, 4, 4); needed shape (1, 5, 4), as in this run",
        ),
    ],
    hooks.head_columns: [
        (
            lambda: hooks.head_columns(language_model(), LAYERS, 0),
            f"layer: got {LAYERS}; needed a number from 0 to {LAYERS - 1}",
        ),
        (
            lambda: hooks.head_columns(language_model(), 0, HEADS),
            f"head: got {HEADS}; needed a number from 0 to {HEADS - 1}",
        ),
        (
            lambda: hooks.head_columns(with_wide_values(), 0, 0),
            "model: got d_k = 2 and d_v = 3; needed heads whose widths are equal",
        ),
        (
            lambda: hooks.head_columns(with_shared_keys(), 0, 1),
            "model: got 1 heads of keys for 2 of queries; needed keys and values of its own",
        ),
    ],
    metrics.roc_auc: [
        (
            lambda: metrics.roc_auc(torch.zeros(3), torch.ones(2)),
            "positive: got shape (2,); needed shape (3,), one for each of scores",
        ),
        (
            lambda: metrics.roc_auc(torch.zeros(2), torch.ones(2)),
            "positive: got 2 positive and 0 negative cases; needed at least one of each",
        ),
    ],
    induction.repeated_segments: [
        (lambda: segments(batch=0), "batch: got 0; needed at least 1"),
        (lambda: segments(segment=(2, 6)), "segment: got (2, 6); needed 1 <= least <= greatest"),
        (lambda: segments(segment=(0, 3)), "segment: got (0, 3); needed 1 <= least <= greatest"),
        (lambda: segments(length=4), "segment: got (2, 4); needed less than length = 4"),
    ],
    induction.broken_turns: [
        (lambda: broken(batch=0), "batch: got 0; needed at least 1"),
        (lambda: broken(segment=5), "segment: got 5; needed an even number from 4 to 8"),
        (lambda: broken(segment=2), "segment: got 2; needed an even number from 4 to 8"),
        (lambda: broken(segment=10), "segment: got 10; needed an even number from 4 to 8"),
    ],
    induction.prefix_matching_scores: [
        (
            lambda: induction.prefix_matching_scores(torch.ones(2, 3, 3), torch.ones(2)),
            "weights: got shape (2, 3, 3); needed shape (batch, heads, T, T)",
        ),
        (
            lambda: induction.prefix_matching_scores(torch.ones(2, 1, 3, 3), torch.ones(3)),
            "lengths: got shape (3,); needed shape (2,), one for each row of weights",
        ),
        (
            lambda: induction.prefix_matching_scores(torch.ones(2, 1, 3, 3), torch.tensor([3, 4])),
            "lengths: got [3, 4]; needed one below T = 3",
        ),
    ],
}

CANNOT_FAIL = {induction.trained_copier: "has no argument"}
