"""What attention must keep, as functions that raise AssertionError when it is not kept.

`test_attention.py` and its neighbours hold the course's code to them; `test_property_power.py`
proves that they notice the mistakes that the course warns of.

Two kinds of things are tested. An *attend* is called with q, k, v and a mask and returns context
vectors and weights. A *layer* is called with vectors (batch, T, d_model), perhaps with a mask, and
returns vectors. Everything is computed in float64 at one thread.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from hypothesis import settings
from torch import Tensor, nn

torch.set_num_threads(1)

CLOSE = 1e-12
"""How near two ways to compute the same thing come in float64."""

examples = settings(derandomize=True, deadline=None, max_examples=60)
"""The same examples on every run, so that a failure on one machine is one on all."""

Attend = Callable[..., tuple[Tensor, Tensor]]
Layer = Callable[..., Tensor]


# --------------------------------------------------------------------------- material


def normal(*shape: int, seed: int, grad: bool = False) -> Tensor:
    """Standard normal numbers in float64."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randn(*shape, dtype=torch.float64, generator=generator)
    return numbers.requires_grad_(grad)


def random_mask(*shape: int, seed: int, blind_rows: bool = True) -> Tensor:
    """A mask of which about half is allowed. Rows that see nothing occur, unless refused."""
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(shape, generator=generator) < 0.5
    if not blind_rows:
        allowed = torch.randint(shape[-1], (*shape[:-1], 1), generator=generator)
        mask.scatter_(-1, allowed, True)
    elif seed % 2 and len(shape) >= 2 and shape[-2] > 0:
        mask[..., 0, :] = False  # for certain in every other example
    return mask


def gradients(outputs: Tensor, inputs: list[Tensor], seed: int = 0) -> list[Tensor]:
    """Gradients of a random combination of all outputs."""
    direction = normal(*outputs.shape, seed=seed).to(outputs.dtype)
    return list(torch.autograd.grad((outputs * direction).sum(), inputs))


def assert_equal(ours: Tensor, reference: Tensor, what: str = "values") -> None:
    """Same shape, no NaN, and near to `CLOSE` (relative to numbers above 1)."""
    assert ours.shape == reference.shape, f"{what}: {ours.shape} is not {reference.shape}"
    assert not ours.isnan().any(), f"{what}: NaN"
    distance = (ours - reference).abs() / reference.abs().clamp(min=1.0)
    assert (distance <= CLOSE).all(), f"{what} differ by {distance.max()}"


# --------------------------------------------------------------------------- attend(q, k, v, mask)


def equals_torch(attend: Attend, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    """Context vectors and their gradients as from torch's own function."""
    q, k, v = (x.detach().clone().requires_grad_() for x in (q, k, v))
    ours, _ = attend(q, k, v, mask)
    reference = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert_equal(ours, reference)
    for name, a, b in zip(
        "qkv", gradients(ours, [q, k, v]), gradients(reference, [q, k, v]), strict=True
    ):
        assert_equal(a, b, f"gradient of {name}")


def rows_sum_to_one(attend: Attend, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    """The weights of a query are a distribution over the keys that it may attend to."""
    _, weights = attend(q, k, v, mask)
    assert (weights >= 0).all(), "a weight is negative"
    sees = torch.ones(weights.shape[:-1], dtype=torch.bool)
    if mask is not None:
        full = mask.expand(weights.shape)
        assert (weights[~full] == 0).all(), "a blocked key has a weight"
        sees = full.any(dim=-1)
    if weights.shape[-1] > 0:
        assert_equal(weights.sum(dim=-1)[sees], torch.ones(int(sees.sum()), dtype=weights.dtype))


def blind_rows_give_zeros(attend: Attend, q: Tensor, k: Tensor, v: Tensor) -> None:
    """A query that may attend to nothing gets zeros, and its gradient is zero, never NaN."""
    q, k, v = (x.detach().clone().requires_grad_() for x in (q, k, v))
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    mask[0] = False
    context, weights = attend(q, k, v, mask)
    assert (context[..., 0, :] == 0).all(), "a query that sees nothing gets something"
    assert (weights[..., 0, :] == 0).all(), "a query that sees nothing has weights"
    with torch.autograd.set_detect_anomaly(True):  # refuses NaN on the way back, too
        context, _ = attend(q, k, v, mask)
        try:
            found = gradients(context, [q, k, v])
        except RuntimeError as error:
            raise AssertionError("a gradient is NaN on its way") from error
    for name, gradient in zip("qkv", found, strict=True):
        assert gradient.isfinite().all(), f"the gradient of {name} is not finite"
    assert (found[0][..., 0, :] == 0).all(), "a query that sees nothing has a gradient"


def survives_large_scores(attend: Attend) -> None:
    """Scores of 10,000 neither overflow nor lose the differences between them."""
    q = torch.full((1, 1), 1e4, dtype=torch.float64)
    k = torch.tensor([[1.0], [1.0], [0.999]], dtype=torch.float64)
    _, weights = attend(q, k, torch.eye(3, dtype=torch.float64), None)
    smallest = torch.exp(torch.tensor(-10.0, dtype=torch.float64))
    expected = torch.stack([torch.ones_like(smallest), torch.ones_like(smallest), smallest])
    assert weights.isfinite().all(), "the weights are not finite"
    assert torch.allclose(weights, expected / expected.sum(), rtol=1e-9), "wrong weights"


# --------------------------------------------------------------------------- layer(x, mask)


def each_sequence_alone(layer: Layer, x: Tensor) -> None:
    """A sequence gives the same in a batch as alone."""
    alone = torch.cat([layer(x[i : i + 1]) for i in range(len(x))])
    assert_equal(layer(x), alone)


def follows_permutation(layer: Layer, x: Tensor) -> None:
    """Without positions, shuffled inputs give the same outputs, shuffled."""
    order = torch.randperm(x.shape[1], generator=torch.Generator().manual_seed(0))
    assert_equal(layer(x[:, order]), layer(x)[:, order])


def minds_order(layer: Layer, x: Tensor) -> None:
    """With positions, the last output changes when earlier inputs change places."""
    order = torch.tensor([1, 0, *range(2, x.shape[1])])
    assert (layer(x[:, order])[:, -1] - layer(x)[:, -1]).abs().max() > 1e-6, "order is not seen"


def future_changes_nothing(layer: Layer, x: Tensor) -> None:
    """Whatever comes after a position leaves its output as it is, to the last bit or nearly."""
    before = layer(x)
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, t:] = normal(*changed[:, t:].shape, seed=t)
        assert_equal(layer(changed)[:, :t], before[:, :t], f"outputs before position {t}")


def past_is_seen(layer: Layer, x: Tensor) -> None:
    """Every position listens to all before it, and to itself."""
    before = layer(x)
    for t in range(x.shape[1]):
        changed = x.clone()
        changed[:, t] = normal(*changed[:, t].shape, seed=t)
        moved = (layer(changed) - before).abs().amax(dim=(0, 2))  # (T,)
        assert (moved[t:] > 1e-9).all(), (
            f"position {t} is not heard by {(moved[t:] == 0).nonzero()}"
        )


def everything_is_seen(layer: Layer, x: Tensor) -> None:
    """In an encoder every position listens to every other one, also to later ones."""
    before = layer(x)
    for t in range(x.shape[1]):
        changed = x.clone()
        changed[:, t] = normal(*changed[:, t].shape, seed=t)
        moved = (layer(changed) - before).abs().amax(dim=(0, 2))  # (T,)
        assert (moved > 1e-9).all(), f"position {t} is not heard everywhere"


def padding_changes_nothing(layer: Layer, x: Tensor) -> None:
    """`layer(x, lengths)`: more padding, or other padding, leaves the real positions alone."""
    T, lengths = x.shape[1], torch.tensor([x.shape[1], *[x.shape[1] - 1] * (len(x) - 1)])
    before = layer(x, lengths)
    longer = torch.cat([x, normal(len(x), 3, x.shape[2], seed=1)], dim=1)
    longer[1:, T - 1] = 7.0
    after = layer(longer, lengths)
    for i, length in enumerate(lengths):
        assert_equal(after[i, :length], before[i, :length], f"sequence {i}")


def evaluation_repeats_itself(module: nn.Module, *inputs: Tensor) -> None:
    """After eval() two calls agree to the bit, and equal a module without dropout."""
    module.eval()
    assert torch.equal(module(*inputs), module(*inputs)), "evaluation is random"


def training_drops(module: nn.Module, *inputs: Tensor) -> None:
    """After train() a module with dropout gives something else each time."""
    module.train()
    assert not torch.equal(module(*inputs), module(*inputs)), "nothing is dropped in training"


def inputs_are_kept(function: Callable[..., object], *inputs: Tensor | None) -> None:
    """A call leaves its arguments as they were."""
    before = [x if x is None else x.detach().clone() for x in inputs]
    function(*inputs)
    for x, old in zip(inputs, before, strict=True):
        assert x is None or torch.equal(x, old), "an input was changed"
