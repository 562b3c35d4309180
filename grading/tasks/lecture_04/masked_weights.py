"""A softmax with a mask, by hand, that survives rows in which everything is masked."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=13,
    minutes=19,
    section="Fully masked rows",
    outcome="mask padding on either side, combine masks, and say what a fully masked row gives",
    forbidden=(
        "helpers.numpy_attention.softmax",
        "helpers.attention.masked_softmax",
        "helpers.attention.scaled_dot_product_attention",
        "helpers.numpy_attention.scaled_dot_product_attention_numpy",
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.softmax",
        "torch.nn.functional.log_softmax",
        "torch.softmax",
        "torch.log_softmax",
        "torch.Tensor.softmax",
        "torch.Tensor.log_softmax",
        "torch.special.softmax",
        "torch.special.log_softmax",
    ),
    hints=(
        "Softmax by hand: subtract a number from the row, take exp, divide by the sum. Which "
        "number keeps exp in bounds, if some scores are masked? The largest score may be a masked "
        "one.",
        "First write −∞ over the masked scores, so that their exponential is 0. In which rows is "
        "the largest score then −∞, and what could you subtract there instead?",
        "The sum of an empty row is 0. Which number in the denominator gives weights of 0 and no "
        "NaN, neither in the forward pass nor in the backward pass?",
    ),
)


def _largest_visible(scores, mask):
    top = scores.masked_fill(~mask, -torch.inf).amax(dim=-1, keepdim=True)
    return top.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def _exponentials(scores, mask):
    """Of the visible scores, less the largest visible one of the row; 0 for hidden ones."""
    hidden = scores.masked_fill(~mask, -torch.inf)
    return (hidden - _largest_visible(scores, mask)).exp()


# %% the cell
def masked_weights(scores, mask):
    """Weights (…, T_q, T_k) of scores (…, T_q, T_k) under a mask (T_q, T_k)."""
    # BEGIN SOLUTION
    empty = ~mask.any(dim=-1, keepdim=True)  # (T_q, 1)
    hidden = scores.masked_fill(~mask, -torch.inf)  # (…, T_q, T_k)
    top = hidden.amax(dim=-1, keepdim=True).masked_fill(empty, 0.0)  # (…, T_q, 1)
    exp = (hidden - top).exp()  # (…, T_q, T_k), 0 where hidden
    total = exp.sum(dim=-1, keepdim=True)  # (…, T_q, 1)
    return exp / total.masked_fill(empty, 1.0)
    # END SOLUTION


# %%


@task.alternative
def by_filling(scores, mask):
    """An empty row keeps finite scores, and loses its weights at the end."""
    some = mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(some & ~mask, -torch.inf)
    exp = (scores - scores.amax(dim=-1, keepdim=True).detach()).exp()
    return (exp / exp.sum(dim=-1, keepdim=True)).masked_fill(~mask, 0.0)


@task.alternative
def by_clamping(scores, mask):
    """Hidden scores are set to the row's largest, then taken out."""
    low = torch.finfo(scores.dtype).min
    top = scores.masked_fill(~mask, low).amax(dim=-1, keepdim=True)
    exp = torch.where(mask, scores - top, 0.0).exp() * mask
    return exp / exp.sum(dim=-1, keepdim=True).clamp(min=1e-9)


@task.alternative
def by_patch(scores, mask):
    """Though fragile: `masked_fill` keeps the NaN out of the gradient."""
    hidden = scores.masked_fill(~mask, -torch.inf)
    exp = (hidden - hidden.amax(dim=-1, keepdim=True).detach()).exp()
    return (exp / exp.sum(dim=-1, keepdim=True)).nan_to_num()


def _plain(scores):
    """A softmax by hand without a mask."""
    exp = (scores - scores.amax(dim=-1, keepdim=True).detach()).exp()
    return exp / exp.sum(dim=-1, keepdim=True)


task.mistake(
    "A row in which everything is masked holds only −∞, and its largest score is −∞, too: −∞ − "
    "(−∞) is NaN. The other rows are right.",
    lambda scores, mask: _plain(scores.masked_fill(~mask, -torch.inf)),
)


@task.mistake(
    "With a finite number such as −1e9 instead of −∞, all scores of a row in which everything is "
    "masked are equal: the row becomes uniform, without any error. Its weights must be 0."
)
def finite(scores, mask):
    return _plain(scores.masked_fill(~mask, -1e9))


@task.mistake(
    "Replacing NaN afterwards fixes the weights, but the backward pass still goes through what "
    "gave NaN, such as −∞ − (−∞) or 0/0. Prevent the NaN in the first place."
)
def patched_additive(scores, mask):
    bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    return _plain(scores + bias).nan_to_num()


@task.mistake(
    "exp of a score above 709 is ∞, and ∞/∞ and 0 · ∞ are NaN. Subtract the row's largest "
    "visible score first."
)
def no_maximum(scores, mask):
    exp = scores.exp() * mask
    return exp / exp.sum(dim=-1, keepdim=True).clamp(min=1e-300)


@task.mistake(
    "Masked scores are no longer a problem, but exp of a visible one above 709 is ∞, and of one "
    "below −745 it is 0. Subtract the row's largest visible score first."
)
def hidden_without_maximum(scores, mask):
    exp = scores.masked_fill(~mask, -torch.inf).exp()
    return exp / exp.sum(dim=-1, keepdim=True).clamp(min=1e-300)


@task.mistake(
    "What was subtracted depends on the masked scores, too. If one of these is far above the "
    "visible ones, all their exponentials are rounded to 0. Subtract the largest *visible* score."
)
def maximum_of_all(scores, mask):
    exp = (scores - scores.amax(dim=-1, keepdim=True)).exp() * mask
    return exp / exp.sum(dim=-1, keepdim=True).clamp(min=1e-300)


@task.mistake(
    "There are two problems. An empty row is 0/0. And the largest score of a row may be a masked "
    "one: if it is far above the visible ones, all their exponentials are rounded to 0."
)
def maximum_of_all_uncovered(scores, mask):
    exp = (scores - scores.amax(dim=-1, keepdim=True)).exp() * mask
    return exp / exp.sum(dim=-1, keepdim=True)


@task.mistake(
    "One largest score was subtracted from all rows. In a row far below it, all exponentials are "
    "rounded to 0. Each row needs its own maximum."
)
def maximum_of_the_table(scores, mask):
    exp = (scores - scores.amax()).exp() * mask
    return exp / exp.sum(dim=-1, keepdim=True).clamp(min=1e-300)


@task.mistake(
    "The weights are right. But exp was also taken of masked scores, and of one far above the "
    "others it is ∞. `torch.where` discards the ∞, but in the backward pass its gradient is "
    "multiplied in: 0 · ∞ is NaN. Mask the scores *before* exp."
)
def where_afterwards(scores, mask):
    top = _largest_visible(scores, mask)
    exp = torch.where(mask, (scores - top).exp(), 0.0)
    return exp / exp.sum(dim=-1, keepdim=True).clamp(min=1e-9)


@task.mistake(
    "exp was also taken of masked scores. For one far above the visible ones it is ∞, and ∞ times "
    "the 0 of the mask is NaN. Mask the scores *before* exp."
)
def times_the_mask(scores, mask):
    top = _largest_visible(scores, mask)
    exp = (scores - top).exp() * mask
    return exp / exp.sum(dim=-1, keepdim=True).clamp(min=1e-9)


task.mistake(
    "The weights were set to 0 after softmax, so the rows do not sum to 1. That works for empty "
    "rows, but in the other rows masked scores must not enter the sum.",
    lambda scores, mask: _plain(scores) * mask,
)
task.mistake(
    "Masked scores were set to 0, and e⁰ is 1, so they keep some weight. Set them to −∞.",
    lambda scores, mask: _plain(scores.masked_fill(~mask, 0.0)),
)
task.mistake(
    "These are the exponentials. They still have to be divided by the sum of their row.",
    lambda scores, mask: _exponentials(scores, mask),
)
task.mistake(
    "The mask is inverted: in this course True means “may attend”, so −∞ goes where it is False.",
    lambda scores, mask: masked_weights(scores, ~mask),
)
task.mistake(
    "Softmax runs down the columns. Each query has a row, so it must run along the last axis.",
    lambda scores, mask: masked_weights(scores.mT, mask.mT).mT,
)
task.mistake(
    "Only fully masked rows were treated. In the other rows, too, masked entries must get no "
    "weight.",
    lambda scores, mask: _plain(scores).masked_fill(~mask.any(dim=-1, keepdim=True), 0.0),
)


@task.mistake(
    "The weights are right. But exp was taken before the scores were masked, and for one far "
    "above the visible ones it is ∞. So is its gradient, and in the backward pass 0 · ∞ is NaN. "
    "Mask the scores *before* exp."
)
def where_afterwards_detached(scores, mask):
    top = _largest_visible(scores, mask).detach()
    exp = torch.where(mask, (scores - top).exp(), 0.0)
    return exp / exp.sum(dim=-1, keepdim=True).clamp(min=1e-9)


@task.mistake(
    "The row sums have lost their axis, so they are broadcast along the rows instead of down the "
    "columns, or raise an error. Write keepdim=True."
)
def sums_without_axis(scores, mask):
    exp, empty = _exponentials(scores, mask), ~mask.any(dim=-1)
    return exp / exp.sum(dim=-1).masked_fill(empty, 1.0)


@task.mistake(
    "The lost axis of the sums was put back at position 1, as `[:, None]` does. That is right "
    "only without leading axes: it belongs at the end. Write keepdim=True, or [..., None]."
)
def axis_at_place_one(scores, mask):
    exp, empty = _exponentials(scores, mask), ~mask.any(dim=-1)
    return exp / exp.sum(dim=-1).masked_fill(empty, 1.0)[:, None]


@task.mistake(
    "A mask in square brackets is applied to the *first* axes. `empty` has the shape (T_q,), so "
    "`scores[empty]` works only without leading axes. Keep the lost axis (keepdim=True), and use "
    "`masked_fill` or `torch.where`, which broadcast."
)
def index_of_the_first_axis(scores, mask):
    hidden = scores.masked_fill(~mask, -torch.inf)
    hidden[~mask.any(dim=-1)] = 0.0
    return _plain(hidden).masked_fill(~mask, 0.0)


@task.mistake(
    "−1,000 is low, but visible scores may be as low, and then the masked ones get some weight. "
    "Only −∞ is below every score."
)
def not_low_enough(scores, mask):
    return _plain(scores.masked_fill(~mask, -1000.0)).masked_fill(~mask, 0.0)


@task.harness
def harness(answer, scores, mask, probe):
    """The weights, and the gradient of a sum in which each weight has a factor of its own."""
    import torch

    leaf = scores.clone().requires_grad_()
    weights = answer(leaf * 1.0, mask)
    if weights is None:
        return None
    if not isinstance(weights, torch.Tensor):
        raise ValueError("expected a tensor, computed from `scores` by torch functions")
    if weights.shape != scores.shape:
        raise ValueError(f"the weights have shape {tuple(weights.shape)}, not {(*scores.shape,)}")
    if not weights.requires_grad:
        raise ValueError("no gradient flows from the weights back to the scores")
    (weights * probe).sum().backward()
    gradient = torch.zeros_like(scores) if leaf.grad is None else leaf.grad
    return {"weights": weights, "gradient": gradient}


@task.cases
def cases(seed):
    """Two keys to check by hand; then empty rows, and scores far apart."""
    rng = np.random.default_rng(seed)
    hard = "empty or extreme rows"  # what the task is about
    two = torch.tensor([[0.0, 0.0], [1.0, 3.0]], dtype=torch.float64)
    found = [
        (
            two,
            torch.tensor([[True, True], [True, False]]),
            "two queries, two keys",
            "ordinary cases",
        )
    ]
    some = torch.tensor([[True, False, True], [False, True, True]])
    found.append(
        (torch.tensor(rng.normal(size=(2, 3))), some, "no row is without a key", "ordinary cases")
    )
    found.append((two, torch.tensor([[True, False], [False, False]]), "an empty row", hard))
    for shape in ((3, 4), (2, 5, 3), (2, 3, 4, 6)):
        scores = torch.tensor(rng.normal(size=shape))
        mask = torch.tensor(rng.random(shape[-2:]) < 0.6)
        mask[0, 0], mask[0, 1], mask[1] = True, False, False
        found.append((scores, mask, "an empty row", hard))
    near = torch.tensor([[800.0, 799.0], [-800.0, -801.0]], dtype=torch.float64)
    found.append((near, torch.ones(2, 2, dtype=torch.bool), "large scores", hard))
    far = torch.tensor([[0.0, 900.0, 1.0], [-1000.0, 5.0, -999.0], [3.0, 1.0, 2.0]]).double()
    seen = torch.tensor([[True, False, True], [True, False, True], [False, False, False]])
    found.append((far, seen, "hidden scores far above the visible ones", hard))
    probes = [torch.tensor(rng.normal(size=s.shape)) for s, *_ in found]
    return [
        Case((scores, mask, probe), note, kind=kind)
        for (scores, mask, note, kind), probe in zip(found, probes, strict=True)
    ]


@task.diagnostic
def what_rows_hold(args, result):
    """NaN, an empty row that is not zero, a row that does not sum to 1, a gradient with NaN."""
    mask = np.broadcast_to(args[1].numpy(), result["weights"].shape)
    weights, empty = result["weights"], ~mask.any(axis=-1)
    if np.isnan(weights).any():
        place = tuple(int(i) for i in np.argwhere(np.isnan(weights))[0])
        return f"The weight at {place} is NaN."
    if (weights[~mask] != 0).any():
        place = tuple(int(i) for i in np.argwhere((weights != 0) & ~mask)[0])
        row = "In a row in which everything is masked the" if empty[place[:-1]] else "The"
        return f"{row} weight at {place} is {weights[place]:.3g}; masked weights must be 0."
    sums = weights.sum(axis=-1)[~empty]
    if not np.allclose(sums, 1.0):
        wrong = sums[np.abs(sums - 1.0).argmax()]
        seen = np.where(mask, args[0].numpy(), -np.inf).max(axis=-1)[~empty]
        own = seen[np.abs(sums - 1.0).argmax()]
        # If nothing was subtracted, scores as low give 0, too, and ones as high give NaN.
        subtracted = own > -700 or seen.max() > 710
        if wrong < 1e-100 and args[0].max().item() - own > 700 and subtracted:
            return (
                "In a row in which something is visible all exponentials have become 0 or nearly "
                "0. Only after subtracting the row's largest *visible* score is one of them 1."
            )
        return f"A row in which something is visible sums to {wrong:.3g}, not to 1."
    right = np.allclose(weights, masked_weights(*args[:2]).detach().numpy(), atol=1e-6)
    if right and np.isnan(result["gradient"]).any():
        return "The weights are right, but the gradient of the scores holds NaN."
    return None
