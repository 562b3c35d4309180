"""Three conventions for the same mask."""

import numpy as np
import torch

from grading.task import Case, Mistake, Task


def _keeps(mask, source):
    if source == "added":
        return mask == 0
    return ~mask if source == "blocks" else mask


def _added(keeps):
    return torch.zeros(keeps.shape).masked_fill(~keeps, -torch.inf)


def convert_mask(mask, source, target):
    """The model answer."""
    keeps = {"keeps": mask, "blocks": mask == 0, "added": mask == 0}[source]
    if target == "added":
        return torch.zeros(mask.shape).masked_fill(~keeps, -torch.inf)
    return keeps if target == "keeps" else ~keeps


def by_numpy(mask, source, target):
    """Right, in another way: in NumPy, in float64."""
    mask = mask.numpy()
    keeps = np.isfinite(mask) if source == "added" else mask ^ (source == "blocks")
    return np.where(keeps, 0.0, -np.inf) if target == "added" else keeps ^ (target == "blocks")


def always_turned(mask, source, target):
    """Wrong: turned around whatever comes."""
    keeps = mask == 0
    return _added(keeps) if target == "added" else ~keeps if target == "blocks" else keeps


def by_truth(mask, source, target):
    """Wrong: −∞ counts as True."""
    keeps = ~mask if source == "blocks" else mask.bool()
    return _added(keeps) if target == "added" else keeps if target == "keeps" else ~keeps


def multiplied(mask, source, target):
    """Wrong: 0 times −∞."""
    keeps = _keeps(mask, source)
    return ~keeps * -torch.inf if target == "added" else convert_mask(mask, source, target)


def finite(mask, source, target):
    """Wrong: −1e9 in the place of −∞."""
    result = convert_mask(mask, source, target)
    return result.clamp(min=-1e9) if target == "added" else result


def one_for_visible(mask, source, target):
    """Wrong: 1 where a key may be seen, 0 where not."""
    result = convert_mask(mask, source, target)
    return _keeps(mask, source).float() if target == "added" else result


def one_and_minus_infinity(mask, source, target):
    """Wrong: 1 where a key may be seen, −∞ where not."""
    result = convert_mask(mask, source, target)
    return result + 1.0 if target == "added" else result


def wrong_side_hidden(mask, source, target):
    """Wrong: −∞ for what may be seen."""
    result = convert_mask(mask, source, target)
    return _added(~_keeps(mask, source)) if target == "added" else result


def source_ignored(mask, source, target):
    """Wrong: what comes is taken for True = may attend."""
    return convert_mask(mask if mask.dtype == torch.bool else mask == 0, "keeps", target)


def target_ignored(mask, source, target):
    """Wrong: what goes out is always True = may attend."""
    return _keeps(mask, source)


def cases(seed):
    """A mask of two by two first; then all nine pairs of conventions."""
    rng = np.random.default_rng(seed)
    names = ("keeps", "blocks", "added")
    pairs = [("keeps", "added"), ("added", "keeps"), ("blocks", "keeps"), ("keeps", "blocks")]
    pairs += [("blocks", "added"), ("added", "blocks")] + [(name, name) for name in names]
    found = []
    for number, (source, target) in enumerate(pairs):
        keeps = torch.tensor([[True, False], [True, True]])
        if number >= 2:
            shape = (2, 1 + number % 3, 4)[number % 2 :]
            keeps = torch.tensor(rng.random(shape) < 0.6)
            keeps[..., 0, 0], keeps[..., 0, 1] = True, False
        made = {"keeps": keeps, "blocks": ~keeps, "added": _added(keeps)}[source]
        found.append(Case((made, source, target), f'"{source}" to "{target}"'))
    return found


def only_zero_and_infinity(args, result):
    """What a mask to be added holds."""
    if args[2] != "added" or result.dtype == bool:
        return None
    strange = result[~((result == 0) | np.isneginf(result))]
    if strange.size:
        return f"A mask to be added holds 0 and −∞ only; here stands {strange[0]:g}, too."
    return None


TASK = Task(
    name="convert_mask",
    lecture=4,
    kind="implement",
    points=8,
    difficulty=2,
    minutes=7,
    outcome="convert between the three mask conventions in use, by name",
    reference=convert_mask,
    also_right=(by_numpy,),
    cases=cases,
    properties=(only_zero_and_infinity,),
    forbidden=(
        "helpers.masks.to_blocking",
        "helpers.masks.from_blocking",
        "helpers.masks.to_additive",
        "helpers.masks.from_additive",
    ),
    mistakes=(
        Mistake(
            always_turned,
            'The mask is turned around whatever comes in. Of the sources only "blocks" means the '
            "opposite of “may attend”.",
        ),
        Mistake(
            by_truth,
            "A number counts as True if it is not 0, and −∞ is not 0: so what was blocked is now "
            "visible. In an additive mask the 0 means “may attend”.",
        ),
        Mistake(
            multiplied,
            "0 times ∞ is NaN, so multiplying a mask by −∞ spoils the places that should be 0. "
            "Write −∞ into the blocked places with `masked_fill` or `torch.where`.",
        ),
        Mistake(
            finite,
            "−1e9 is very low, but it is not −∞: in a row in which everything is blocked it hides "
            "nothing. The lecture's additive mask holds 0 and −∞.",
        ),
        Mistake(
            one_for_visible,
            "This adds 1 to visible scores and 0 to blocked ones, so the blocked ones keep a "
            "share. To be added are 0, which changes nothing, and −∞.",
        ),
        Mistake(
            one_and_minus_infinity,
            "The blocked places are right. What may be seen should stay as it is, so 0 is added "
            "there, not 1.",
        ),
        Mistake(
            wrong_side_hidden,
            "Here −∞ is added to what may be seen. It belongs where the mask blocks.",
        ),
        Mistake(
            source_ignored,
            'A boolean mask is taken for "keeps", also where `source` is "blocks".',
        ),
        Mistake(
            target_ignored,
            'The mask comes back as "keeps", whatever `target` says.',
        ),
    ),
    hints=(
        "Nine pairs are too many to write one by one. First make “True = may attend” of whatever "
        "comes, then make the target of that.",
        "What is `-torch.inf * 0`? And `torch.tensor(-torch.inf).bool()`?",
    ),
)
