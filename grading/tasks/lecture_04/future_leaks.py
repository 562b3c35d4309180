"""A property test: which outputs of a layer depend on which later rows?"""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=14,
    minutes=19,
    section="The future-token test",
    outcome="test a layer for leaks from the future, and recognize a leak by a loss that is too "
    "good",
    hints=(
        "The lecture's test changes everything from a position on. Here you change only row j: "
        "which outputs do you compare, and what goes into the list?",
        "Two layers are hard to catch. One depends only on how the entries of a row differ from "
        "each other. How must you change a row so that this layer's output changes?",
        "The other has a NaN in its output. What does `abs().max() > 1e-6` say then? "
        "`torch.isclose` compares entry by entry and can treat NaN as equal to NaN.",
    ),
)


def _table(layer, x, change=None, equal_nan=True, tolerance=1e-6, several=False):
    """True at (i, j) where output i moves when row j is changed (T, T)."""
    change = change or (lambda row: torch.randn_like(row))
    before = layer(x)
    table = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        other = x.clone()
        rows = slice(j, None) if several else slice(j, j + 1)
        other[rows] = other[rows] + change(other[rows])
        same = torch.isclose(layer(other), before, rtol=0, atol=tolerance, equal_nan=equal_nan)
        table[:, j] = ~same.all(dim=1).numpy()
    return table


def _pairs(table, offset=1):
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(table, offset))]


# %% the cell
def future_leaks(layer, x):
    """Pairs (i, j), j > i, for which row i of layer(x) depends on row j of x (T, 3)."""
    # BEGIN SOLUTION
    before, found = layer(x), []  # (T, 3)
    for j in range(1, len(x)):
        changed = x.clone()  # (T, 3)
        changed[j] = torch.randn_like(x[j])
        same = torch.isclose(layer(changed), before, rtol=0, atol=1e-6, equal_nan=True)  # (T, 3)
        found += [(i, j) for i in range(j) if not same[i].all()]
    return found
    # END SOLUTION


# %%


@task.alternative
def by_replacing(layer, x):
    """Each row replaced, as a set."""
    torch.manual_seed(3)
    return set(_pairs(_table(layer, x, lambda row: 2 * torch.rand_like(row) - 2 * row)))


@task.alternative
def one_number_at_a_time(layer, x):
    """Each single number moved, in NumPy."""
    before, found = layer(x).numpy(), set()
    for j in range(1, len(x)):
        for column in range(x.shape[1]):
            other = x.clone()
            other[j, column] += 1.5
            moved = ~np.isclose(layer(other).numpy(), before, rtol=0, atol=1e-6, equal_nan=True)
            found |= {(i, j) for i in range(j) if moved[i].any()}
    return sorted(found)


@task.mistake(
    "Two kinds of layers pass your test. Some depend only on how the entries of a row differ, so "
    "change them by different amounts. And with NaN, `>` is False."
)
def as_in_the_lecture(layer, x):
    found, before = [], layer(x)
    for j in range(len(x)):
        other = x.clone()
        other[j] += 1.0
        moved = (layer(other) - before).abs().amax(dim=1) > 1e-6
        found += [(i, j) for i in range(j) if moved[i]]
    return found


@task.mistake(
    "All entries of a row were changed by the same amount. A layer that depends only on their "
    "differences does not notice: change each by an amount of its own."
)
def moved_alike(layer, x):
    return _pairs(_table(layer, x, lambda row: torch.ones_like(row)))


@task.mistake(
    "Only the first entry of a row was changed. A layer may use another one: change all of them, "
    "each by an amount of its own."
)
def first_number_only(layer, x):
    return _pairs(_table(layer, x, lambda row: torch.tensor([1.5, 0.0, 0.0]).double()))


task.mistake(
    "Only the first entry of each output was compared. A row may change only in another one: "
    "compare all entries.",
    lambda layer, x: _pairs(_table(lambda row: layer(row)[:, :1], x)),
)


@task.mistake(
    "NaN was put into a row to see where it comes out. But under a mask the row is multiplied by a "
    "weight of 0, and 0 · NaN is NaN, so it comes out where nothing depends on it. Put ordinary "
    "random numbers there."
)
def filled_with_nan(layer, x):
    return _pairs(_table(layer, x, lambda row: torch.full_like(row, torch.nan)))


@task.mistake(
    "The maximum is NaN if one of the entries is NaN, and NaN > 10⁻⁶ is False. So a NaN that was "
    "there before hides any change next to it."
)
def whole_maximum(layer, x):
    before, table = layer(x), np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        other = x.clone()
        other[j] += torch.randn_like(other[j])
        table[:, j] = ((layer(other) - before).abs().amax(dim=1) > 1e-6).numpy()
    return _pairs(table)


task.mistake(
    "A NaN that was there before and after counts as a change here, because NaN does not equal "
    "itself. `torch.isclose` has an argument `equal_nan`.",
    lambda layer, x: _pairs(_table(layer, x, equal_nan=False)),
)
task.mistake(
    "Everything from row j on was changed at once. That shows whether there is a leak, but not "
    "from which row. Change row j alone.",
    lambda layer, x: _pairs(_table(layer, x, several=True)),
)
task.mistake(
    "Pairs with i = j are in the list. An output may depend on its own row; leaks are pairs with "
    "j > i.",
    lambda layer, x: _pairs(_table(layer, x), offset=0),
)
task.mistake(
    "The two numbers of each pair are swapped: first the output, then the row on which it depends.",
    lambda layer, x: [(j, i) for i, j in future_leaks(layer, x)],
)
task.mistake(
    "Only the row one position ahead was tried. A layer may look farther ahead.",
    lambda layer, x: [(i, j) for i, j in future_leaks(layer, x) if j == i + 1],
)
task.mistake(
    "Only the last row was changed. Change each row, one at a time.",
    lambda layer, x: [(i, j) for i, j in future_leaks(layer, x) if j == len(x) - 1],
)


@task.mistake("For each output only the first leak is in the list. Return all of them.")
def first_of_each(layer, x):
    pairs = future_leaks(layer, x)
    return [(i, j) for i, j in pairs if j == min(b for a, b in pairs if a == i)]


task.mistake(
    "Sums in another order are rounded differently. Differences below 10⁻⁶ count as equal.",
    lambda layer, x: _pairs(_table(layer, x, tolerance=0)),
)


@task.mistake("A decrease was not counted as a change: take the absolute value of the differences.")
def with_a_sign(layer, x):
    before, table = layer(x), np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        other = x.clone()
        other[j] += torch.rand_like(other[j]) + 0.5
        table[:, j] = ((layer(other) - before) > 1e-6).any(dim=1).numpy()
    return _pairs(table)


@task.mistake(
    "What you changed in one round is still changed in the next. Start each round with a fresh "
    "copy, `x.clone()`."
)
def not_undone(layer, x):
    before, other = layer(x), x.clone()
    table = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        other[j] += torch.randn_like(other[j])
        same = torch.isclose(layer(other), before, rtol=0, atol=1e-6, equal_nan=True)
        table[:, j] = ~same.all(dim=1).numpy()
    return _pairs(table)


task.mistake(
    "The list is empty for every layer, even for those that look ahead. Do you change anything, "
    "and do you append to the list?",
    lambda layer, x: [],
)


@task.mistake(
    "Only the sums or means of the rows were compared. If one entry grows and another falls by "
    "the same amount, these do not change: compare entry by entry."
)
def sums_compared(layer, x):
    before, table = layer(x), np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        other = x.clone()
        other[j] = torch.randn_like(other[j])
        table[:, j] = ((layer(other) - before).sum(dim=1).abs() > 1e-6).numpy()
    return _pairs(table)


@task.mistake(
    "The gradient only describes tiny changes. A layer that rounds has gradient 0, although its "
    "output depends on the row. Besides, where one output is NaN, a gradient may be NaN for all. "
    "Put other numbers into the row, and compare the outputs."
)
def by_gradient(layer, x):
    slopes = torch.autograd.functional.jacobian(layer, x)
    return _pairs((slopes.abs().sum(dim=(1, 3)) > 1e-6).numpy())


task.mistake(
    "The last row was never changed: does the loop end one row too early?",
    lambda layer, x: [(i, j) for i, j in future_leaks(layer, x) if j < len(x) - 1],
)
task.mistake(
    "One layer gives the same output for a row that is doubled, negated, or reversed, so such a "
    "change does not show. Replace the row by new random numbers.",
    lambda layer, x: _pairs(_table(layer, x, lambda row: row)),
)


@task.mistake(
    "The copy was made before the loop, so rows that were changed in an earlier round are still "
    "changed in the next. Make a fresh copy, `x.clone()`, inside the loop."
)
def one_copy(layer, x):
    generator = torch.Generator().manual_seed(0)
    before, changed, found = layer(x), x.clone(), []
    for j in range(1, len(x)):
        changed[j] = torch.randn(x.shape[1:], generator=generator, dtype=x.dtype)
        same = torch.isclose(layer(changed), before, rtol=0, atol=1e-6, equal_nan=True)
        found += [(i, j) for i in range(j) if not same[i].all()]
    return found


@task.harness
def harness(answer, name, x):
    """Make the layer of this name, ask for its leaks, and put the pairs into order."""
    import torch

    def attend(x, mask):
        scores = torch.tanh(x @ x.T).masked_fill(~mask, -torch.inf)
        return scores.softmax(dim=-1) @ x

    def triangle(x, diagonal=0):
        return torch.ones(len(x), len(x), dtype=torch.bool).tril(diagonal)

    def causal(x):
        return attend(x, triangle(x))

    def ahead(x, steps):
        return torch.cat([x[steps:], torch.zeros_like(x[:steps])])

    def peek(x):
        out = causal(x)
        last = torch.cat([torch.zeros_like(x[-1:, :2]), x[-1:, 2:]], dim=1)
        return torch.cat([out[:1], out[1:2] + last, out[2:]])

    def two_halves(x):
        half = torch.arange(len(x)) * 2 // len(x)
        return attend(x, half[:, None] == half)

    def hint(x):  # the same for a row that is doubled, negated or read backwards
        unit = torch.nn.functional.normalize(ahead(x, 1), dim=1)
        return (unit[:, :1] * unit[:, 2:] + 2 * unit[:, 1:2] ** 2).expand(-1, 3)

    layers = {
        "each row minus the mean of all": lambda x: x - x.mean(dim=0),
        "each number for itself": torch.tanh,
        "attention under a causal mask": causal,
        "causal attention, rounded in another way": lambda x: causal(x) + 1e-10 * x.sum(),
        "attention one place ahead": lambda x: attend(x, triangle(x, 1)),
        "row 1 peeks at the last row": peek,
        "the row two places ahead is taken away": lambda x: torch.exp(causal(x) - ahead(x, 2)),
        "attention within each half": two_halves,
        "the next row, less the mean of its numbers": lambda x: (
            causal(x) + ahead(x - x.mean(dim=1, keepdim=True), 1)
        ),
        "the next row, whatever its length, sign and direction": lambda x: causal(x) + hint(x),
        "the sum of the next row": lambda x: causal(x) + ahead(x, 1).sum(dim=1, keepdim=True),
        "the next row, rounded to three decimals": lambda x: (
            causal(x) + torch.round(ahead(x, 1), decimals=3)
        ),
        "a number of the next row, added to one and taken from another": lambda x: (
            causal(x) + ahead(x, 1)[:, :1] * x.new_tensor([0.0, 1.0, -1.0])
        ),
        "attention to earlier rows only: an empty row": lambda x: attend(x, triangle(x, -1)),
        "attention to all others but for an empty row": lambda x: attend(
            x, triangle(x, len(x)) & (torch.arange(len(x)) > 0)[:, None]
        ),
        "one number of each row is NaN, another peeks": lambda x: torch.cat(
            [ahead(x, 1)[:, :2], torch.full_like(x[:, 2:], torch.nan)], dim=1
        ),
    }
    found = answer(layers[name], x)
    if found is None:
        return None
    try:
        return sorted({(int(i), int(j)) for i, j in found})
    except (TypeError, ValueError):
        raise ValueError("expected a list of pairs (i, j) of whole numbers") from None


@task.cases
def cases(seed):
    """Two rows by hand; then layers that leak in ways that are easy to miss."""
    rng = np.random.default_rng(seed)
    names = [
        ("each row minus the mean of all", 2, "ordinary cases"),
        ("each number for itself", 3, "ordinary cases"),
        ("attention under a causal mask", 5, "ordinary cases"),
        ("causal attention, rounded in another way", 6, "ordinary cases"),
        ("attention one place ahead", 4, "ordinary cases"),
        ("row 1 peeks at the last row", 6, "ordinary cases"),
        ("the row two places ahead is taken away", 7, "ordinary cases"),
        ("attention within each half", 6, "ordinary cases"),
        ("the next row, less the mean of its numbers", 5, "ordinary cases"),
        ("the next row, whatever its length, sign and direction", 5, "ordinary cases"),
        ("the sum of the next row", 5, "ordinary cases"),
        ("the next row, rounded to three decimals", 4, "ordinary cases"),
        ("a number of the next row, added to one and taken from another", 5, "ordinary cases"),
        ("attention to earlier rows only: an empty row", 4, "edge cases"),
        ("attention to all others but for an empty row", 4, "edge cases"),
        ("one number of each row is NaN, another peeks", 5, "edge cases"),
    ]
    made = [(name, torch.tensor(rng.normal(size=(T, 3))), kind) for name, T, kind in names]
    return [Case((name, x), f"{name}; T = {len(x)}", kind=kind) for name, x, kind in made]


@task.diagnostic
def first_difference(args, result):
    """The first pair that is missing or too much."""
    right, came = set(harness(future_leaks, *args)), set(result)
    for i, j in sorted(right - came):
        return f"Output {i} depends on row {j}, but ({i}, {j}) is not in your list."
    for i, j in sorted(came - right):
        if j <= i:
            return f"({i}, {j}) is in your list, but row {j} is not later than output {i}."
        return f"({i}, {j}) is in your list, but output {i} does not depend on row {j}."
    return None
