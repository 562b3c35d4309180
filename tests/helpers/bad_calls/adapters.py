"""What `helpers.adapters` refuses, and in which words."""

from torch import nn

from helpers import adapters
from tests.helpers.bad_call import language_model


def adapted():
    model = language_model()
    adapters.add_adapters(model, rank=1)
    return model


CASES = {
    adapters.LowRankAdapter: [
        (lambda: adapters.LowRankAdapter(nn.Linear(4, 3), 0), "rank: got 0; needed at least 1"),
        (
            lambda: adapters.LowRankAdapter(nn.Linear(4, 3), 4),
            "rank: got 4; needed at most 3, the smaller side of the layer",
        ),
    ],
    adapters.add_adapters: [
        (
            lambda: adapters.add_adapters(language_model(), names=("W",)),
            "names: got ['W']; needed the name of at least one linear layer",
        ),
        (
            lambda: adapters.add_adapters(language_model(), rank=1, names=("W_query", "lm_head")),
            "names: got ['lm_head']; needed layers that share no weights",
        ),
        (
            lambda: adapters.add_adapters(adapted()),
            "model: got one with adapters; needed one without: merge_adapters first",
        ),
    ],
    adapters.merge_adapters: [
        (
            lambda: adapters.merge_adapters(language_model()),
            "model: got one without adapters; needed one that went through add_adapters",
        ),
    ],
}
