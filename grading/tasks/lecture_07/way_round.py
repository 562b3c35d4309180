"""A feed-forward network by hand: the shorter way round a clock."""

import torch

from grading.author import Case, also_right, mistake, plan, task


def _row(*numbers):
    return torch.tensor([numbers], dtype=torch.float64)


def _network(starts, slopes, base=0.0):
    """A network of bends: at each start the slope changes."""
    b_1 = -torch.tensor(starts, dtype=torch.float64)
    return _row(*[1.0] * len(starts)), b_1, _row(*slopes).T, torch.tensor([base]).double()


# %% the cell
def way_round(hours):
    """W_1 (1, d_ff), b_1 (d_ff,), W_2 (d_ff, 1) and b_2 (1,), with d_ff of at most 4."""
    # BEGIN ANSWER
    half = hours / 2
    W_1 = torch.ones(1, 4)  # (1, d_ff)
    b_1 = torch.tensor([hours, half, 0.0, -half])  # (d_ff,): bends at -hours, -half, 0 and half
    W_2 = torch.tensor([[1.0], [-2.0], [2.0], [-2.0]])  # (d_ff, 1): how the slope changes there
    return W_1, b_1, W_2, torch.zeros(1)
    # END ANSWER


# %%


@also_right
def from_the_right(hours):
    """Read from the other end."""
    half = hours / 2
    W_1, b_1, W_2, b_2 = _network((-hours, -half, 0.0, half), (1.0, -2.0, 2.0, -2.0))
    return -W_1, b_1, W_2, b_2


@also_right
def from_the_middle(hours):
    """Both sides alike, from the middle."""
    half = hours / 2
    starts = torch.tensor([0.0, 0.0, -half, -half], dtype=torch.float64)
    return _row(1, -1, 1, -1), starts, _row(1, 1, -2, -2).T, torch.zeros(1)


@also_right
def scaled(hours):
    """As lists, with the size in the second matrix."""
    return [[2 / hours] * 4], [2, 1, 0, -1], [[s * hours / 2] for s in (1, -2, 2, -2)], [0]


@mistake(
    "This is the absolute value. It is right up to half of the way round; from there on, the "
    "other way is shorter."
)
def absolute(hours):
    return _row(1, -1), torch.zeros(2).double(), _row(1, 1).T, torch.zeros(1)


mistake("These are the weights for 12 hours, whatever `hours` is.", lambda hours: way_round(12))
mistake(
    "For differences above 0 it is right. Below 0 no hidden number is at work, and the output "
    "is 0.",
    lambda hours: _network((0.0, hours / 2), (1.0, -2.0)),
)


@mistake(
    "Between the bends the output stays level. To turn a slope of 1 around, it has to change by "
    "more than 1."
)
def levels_off(hours):
    half = hours / 2
    return _network((-hours, -half, 0.0, half), (1.0, -1.0, 1.0, -1.0))


@mistake(
    "This is the absolute value, and level from hours / 2 on. There it has to come down again."
)
def capped(hours):
    half = hours / 2
    return _row(1, -1, 1, -1), -_row(0, 0, half, half)[0], _row(1, 1, -1, -1).T, torch.zeros(1)


@mistake(
    "The matrices lie on their side. `nn.Linear` keeps them so; here `d * W_1` and `hidden @ "
    "W_2` are computed as they stand in the task."
)
def on_their_side(hours):
    W_1, b_1, W_2, b_2 = way_round(hours)
    return W_1.T, b_1, W_2.T, b_2


@mistake("Nearly: if `hours` is odd, the bend does not lie at a whole number. `//` rounds.")
def whole_bend(hours):
    half = hours // 2
    return _network((-hours, -half, 0.0, half), (1.0, -2.0, 2.0, -2.0))


@mistake(
    "On the far left the line starts level: no hidden number is at work there. Draw what you "
    "want at differences below −hours / 2. And look at the signs of `b_1`: ReLU(d + b) bends "
    "where d + b is 0."
)
def three_bends(hours):
    half = hours / 2
    return _network((-half, 0.0, half), (-2.0, 2.0, -2.0))


@mistake("This is the longer way round.")
def long_way(hours):
    W_1, b_1, W_2, b_2 = way_round(hours)
    return W_1, b_1, -W_2, b_2 + hours


@mistake("The output is negative where the difference is. A way is never shorter than 0.")
def signed(hours):
    half = hours / 2
    return _network((-hours, -half, half), (-1.0, 2.0, -2.0), 0.0)


@mistake("The weights are right, and some hidden numbers are never at work: leave them out.")
def six_numbers(hours):
    half = hours / 2
    return _network((-hours, -half, 0.0, half, hours, hours), (1.0, -2.0, 2.0, -2.0, 1.0, 1.0))


def drive(answer, hours, differences):
    """Run the feed-forward network on the differences, and count its hidden numbers."""
    import torch

    found = answer(hours)
    if found is None:
        return None
    if not isinstance(found, tuple | list) or len(found) != 4:
        raise ValueError("four things are wanted: W_1, b_1, W_2 and b_2")
    W_1, b_1, W_2, b_2 = (torch.as_tensor(part, dtype=torch.float64) for part in found)
    b_2 = b_2.reshape(1) if b_2.dim() == 0 else b_2
    if W_1.dim() != 2 or W_1.shape[0] != 1:
        raise ValueError(f"W_1 has shape {tuple(W_1.shape)}, not (1, d_ff)")
    d_ff = W_1.shape[1]
    for name, part, shape in (("b_1", b_1, (d_ff,)), ("W_2", W_2, (d_ff, 1)), ("b_2", b_2, (1,))):
        if part.shape != shape:
            raise ValueError(
                f"{name} has shape {tuple(part.shape)}, not {shape}, and d_ff = {d_ff}"
            )
    hidden = torch.relu(differences[:, None] @ W_1 + b_1)
    return {"output": (hidden @ W_2 + b_2)[:, 0], "at most four hidden": d_ff <= 4}


def cases(seed):
    """Three differences on a clock; all of them; then other numbers of hours, and parts of one."""
    generator = torch.Generator().manual_seed(seed)

    def between(hours, n):
        return hours * (2 * torch.rand(n, generator=generator, dtype=torch.float64) - 1)

    return [
        Case((12, torch.tensor([5.0, 11.0, -8.0], dtype=torch.float64)), "the example"),
        Case((12, torch.arange(-11.0, 12.0, dtype=torch.float64)), "hours = 12"),
        Case((24, torch.arange(-23.0, 24.0, dtype=torch.float64)), "hours = 24"),
        Case((7, torch.arange(-6.0, 7.0, dtype=torch.float64)), "the seven days of a week"),
        Case((10, between(10, 9)), "hours = 10, parts of an hour"),
    ]


def which_difference(args, result):
    """The first difference that is wrong, and the size of the network."""
    hours, differences = args
    for d, came in zip(differences.tolist(), result["output"].tolist(), strict=True):
        right = min(abs(d), hours - abs(d))
        if abs(came - right) > 1e-4 * (1 + hours):
            given = f"With hours = {hours} and a difference of {d:.3g}"
            return f"{given} the output is {came:.3g}, and should be {right:.3g}."
    if not result["at most four hidden"]:
        return "All outputs are right, but there are more than four hidden numbers."
    return None


TASK = task(
    plan("implement", points=10, difficulty=2, minutes=15),
    outcome="choose the weights of a feed-forward network by hand, so that it computes what you "
    "want",
    cases=cases,
    properties=(which_difference,),
    drive=drive,
    hints=(
        "Draw the output against d, from −hours to hours. Where does the slope change, and by how "
        "much?",
        "A hidden number ReLU(d − p) adds nothing left of p, and a slope right of p. So go from "
        "left to right: which slope do you need first, and what must be added at each bend?",
    ),
)
