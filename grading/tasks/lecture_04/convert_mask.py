"""Three conventions for the same mask."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=11,
    section="A head with its own mask",
    outcome="convert between mask conventions by name, and build a head with its own mask and "
    "dropout",
    forbidden=(
        "helpers.masks.to_blocking",
        "helpers.masks.from_blocking",
        "helpers.masks.to_additive",
        "helpers.masks.from_additive",
    ),
    hints=(
        "Nine pairs are too many to write one by one. First convert the source to “True = may "
        "attend”, then convert that to the target.",
        "What is `-torch.inf * 0`? And `torch.tensor(-torch.inf).bool()`?",
    ),
)


def _keeps(mask, source):
    if source == "added":
        return mask == 0
    return ~mask if source == "blocks" else mask


def _added(keeps):
    return torch.zeros(keeps.shape).masked_fill(~keeps, -torch.inf)


# %% the cell
def convert_mask(mask, source, target):
    """The mask (any shape) in the convention `target`: "keeps", "blocks" or "added"."""
    # BEGIN SOLUTION
    keeps = mask if source == "keeps" else mask == 0  # of "blocks" 0 is False, of "added" 0
    if target == "added":
        return torch.zeros(mask.shape).masked_fill(~keeps, -torch.inf)
    return keeps if target == "keeps" else ~keeps
    # END SOLUTION


# %%


@task.alternative
def by_numpy(mask, source, target):
    """In NumPy, in float64."""
    mask = mask.numpy()
    keeps = np.isfinite(mask) if source == "added" else mask ^ (source == "blocks")
    return np.where(keeps, 0.0, -np.inf) if target == "added" else keeps ^ (target == "blocks")


@task.mistake(
    'The mask is always inverted, whatever the source is. Of the sources, only "blocks" means the '
    "opposite of “may attend”."
)
def always_turned(mask, source, target):
    keeps = mask == 0
    return _added(keeps) if target == "added" else ~keeps if target == "blocks" else keeps


@task.mistake(
    "An additive mask was read the wrong way round: what was blocked is now visible. In it, 0 "
    "means “may attend”. (As a boolean −∞ is True, because it is not 0.)"
)
def by_truth(mask, source, target):
    keeps = ~mask if source == "blocks" else mask.bool()
    return _added(keeps) if target == "added" else keeps if target == "keeps" else ~keeps


@task.mistake(
    "0 times ∞ is NaN, so multiplying a mask by −∞ spoils the positions that should be 0. Write "
    "−∞ into the blocked positions with `masked_fill` or `torch.where`."
)
def multiplied(mask, source, target):
    keeps = _keeps(mask, source)
    return ~keeps * -torch.inf if target == "added" else convert_mask(mask, source, target)


@task.mistake(
    "−1e9 is very low, but it is not −∞: in a row in which everything is blocked, it masks "
    "nothing. The lecture's additive mask holds 0 and −∞."
)
def finite(mask, source, target):
    result = convert_mask(mask, source, target)
    return result.clamp(min=-1e9) if target == "added" else result


@task.mistake(
    "This adds 1 to visible scores and 0 to blocked ones, so the blocked ones keep some weight. "
    "Add 0 to visible scores, which changes nothing, and −∞ to blocked ones."
)
def one_for_visible(mask, source, target):
    result = convert_mask(mask, source, target)
    return _keeps(mask, source).float() if target == "added" else result


@task.mistake(
    "The blocked positions are right. Visible scores should stay as they are, so add 0 to them, "
    "not 1."
)
def one_and_minus_infinity(mask, source, target):
    result = convert_mask(mask, source, target)
    return result + 1.0 if target == "added" else result


@task.mistake("Here −∞ is added to the visible scores. It belongs where the mask blocks.")
def wrong_side_hidden(mask, source, target):
    result = convert_mask(mask, source, target)
    return _added(~_keeps(mask, source)) if target == "added" else result


@task.mistake('A boolean mask is always read as "keeps", even if `source` is "blocks".')
def source_ignored(mask, source, target):
    return convert_mask(mask if mask.dtype == torch.bool else mask == 0, "keeps", target)


task.mistake(
    'The mask is always returned as "keeps", whatever `target` says.',
    lambda mask, source, target: _keeps(mask, source),
)


@task.mistake(
    'From "blocks" to "blocks" the mask is inverted. It must be inverted twice or not at all: '
    "check the source first, and then, separately, the target."
)
def turned_once(mask, source, target):
    if (source, target) == ("blocks", "blocks"):
        return ~mask
    return convert_mask(mask, source, target)


@task.mistake(
    'If `target` is "blocks", the mask is returned as "keeps". It still has to be inverted.'
)
def target_blocks_forgotten(mask, source, target):
    return convert_mask(mask, source, "keeps" if target == "blocks" else target)


@task.mistake(
    "From a boolean mask you return a boolean mask again, with True where −∞ should be. Did "
    "`zeros_like` give the zeros the type of the mask? There, even −∞ becomes True. An additive "
    "mask holds floating-point numbers."
)
def type_of_the_mask(mask, source, target):
    if target != "added":
        return convert_mask(mask, source, target)
    result = torch.zeros_like(mask)
    result[~_keeps(mask, source)] = -torch.inf
    return result


@task.cases
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
        note = f'"{source}" to "{target}"'
        kind = "masks to be added" if "added" in (source, target) else "ordinary cases"
        found.append(Case((made, source, target), note, kind=kind))
    return found


@task.diagnostic
def only_zero_and_infinity(args, result):
    """What a mask to be added holds."""
    if args[2] != "added" or result.dtype == bool:
        return None
    strange = result[~((result == 0) | np.isneginf(result))]
    if strange.size:
        return f"An additive mask holds 0 and −∞ only; here it also holds {strange[0]:g}."
    return None


@task.diagnostic
def which_positions_are_blocked(args, result):
    """All of them, none, or just the others."""
    right = convert_mask(*args).numpy()
    if result.shape != right.shape or (result.dtype == bool) != (right.dtype == bool):
        return None
    visible, wanted = ((r == 0) == (args[2] != "keeps") for r in (result, right))
    pair = f'From "{args[1]}" to "{args[2]}"'
    if (visible != wanted).all():
        return f"{pair} the mask is inverted: what may be attended to is blocked, and vice versa."
    if not visible.any() or visible.all():
        return f"{pair} {'nothing' if visible.all() else 'everything'} is blocked."
    return None
