"""What `helpers.training` refuses, and in which words."""

from torch import nn

from helpers import models, training
from helpers.config import TransformerConfig
from helpers.tokens import IGNORE_INDEX
from tests.helpers.bad_call import ids, one_batch, x

CASES = {
    training.History: [
        (lambda: training.History([1.0]).smoothed(0), "window: got 0; needed at least 1"),
    ],
    training.train: [
        (
            lambda: training.train(nn.Linear(1, 1).half(), one_batch, 1),
            "model: got parameters in float16; needed float32 or bfloat16",
        ),
        (lambda: training.train(nn.Linear(1, 1), one_batch, 0), "steps: got 0; needed at least 1"),
        (
            lambda: training.train(nn.Linear(1, 1), one_batch, 1, lr=-1.0),
            "lr: got -1.0; needed a number above 0",
        ),
        (
            lambda: training.train(nn.Linear(1, 1), one_batch, 1, warmup=-1),
            "warmup: got -1; needed a number from 0 to steps = 1",
        ),
        (
            lambda: training.train(nn.Linear(1, 1), one_batch, 3, warmup=4),
            "warmup: got 4; needed a number from 0 to steps = 3",
        ),
        (
            lambda: training.train(nn.Linear(1, 1), one_batch, 1, weight_decay=-0.1),
            "weight_decay: got -0.1; needed at least 0",
        ),
        (
            lambda: training.train(nn.Linear(1, 1), one_batch, 1, validate_every=0),
            "validate_every: got 0; needed at least 1",
        ),
        (
            lambda: training.train(nn.Linear(1, 1), one_batch, 1, clip=0.0),
            "clip: got 0.0; needed a number above 0, or None",
        ),
    ],
    training.masked_cross_entropy: [
        (
            lambda: training.masked_cross_entropy(x(1, 2, 3), ids([0, 1, 2])),
            "logits: got shape (1, 2, 3); needed shape (1, 3, n_outputs) to go with the targets",
        ),
        (
            lambda: training.masked_cross_entropy(x(1, 2, 3), ids([0, 3])),
            "targets: got numbers such as [3]; needed numbers from 0 to 2, or -100",
        ),
        (
            lambda: training.masked_cross_entropy(x(1, 1, 3), ids([IGNORE_INDEX])),
            "targets: got none other than -100; needed at least one that counts",
        ),
    ],
    training.batch_loss: [
        (
            lambda: training.batch_loss(
                models.TransformerModel(TransformerConfig(5, 4, n_outputs=2)), (ids([1]), ids([2]))
            ),
            "targets: got numbers such as [2]; needed numbers from 0 to 1, or -100",
        ),
    ],
    training.accuracy: [
        (
            lambda: training.accuracy(
                models.TransformerModel(TransformerConfig(5, 4, n_outputs=2)),
                (ids([1]), ids([IGNORE_INDEX])),
            ),
            "targets: got none other than -100; needed at least one that counts",
        ),
        (
            lambda: training.accuracy(
                models.TransformerModel(TransformerConfig(5, 4, n_outputs=2)),
                (ids([1]), ids([1, 0])),
            ),
            "logits: got shape (1, 1, 2); needed shape (1, 2, n_outputs) to go with the targets",
        ),
    ],
}

CANNOT_FAIL = {
    training.set_seed: "takes any whole number",
    training.count_parameters: "counts whatever is there",
    training.progress: "shows whatever range it is given",
}
