"""A state of fixed size that keeps facts: one matrix, changed by one line."""

import numpy as np

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=12,
    minutes=32,
    section="Many facts in one state",
    outcome="measure what makes recall hard: binding a value to its key, or keeping many pairs",
    hints=(
        "Begin with an empty state. Which matrix M of shape (d_v, d_k) gives M @ key = value, "
        "and M @ other = 0 for everything orthogonal to the key? Try a multiple of "
        "np.outer(value, key).",
        "Now the state is not empty. What does it return for the key before you write? Only the "
        "difference has to be written.",
        "Put the two together. `np.outer(a, key) @ key` is a times key @ key, a number. So what "
        "must the product be divided by, for any a?",
    ),
)


# %% the cell
def delta_rule(state, key, value):
    """The new state (d_v, d_k) after writing a fact: a key (d_k,) and its value (d_v,)."""
    # BEGIN SOLUTION
    missing = value - state @ key  # (d_v,)
    return state + np.outer(missing, key) / (key @ key)  # (d_v, d_k)
    # END SOLUTION


# %%


@task.alternative
def forget_then_write(state, key, value):
    """First forget what is kept under the key, then write."""
    unit = key / np.linalg.norm(key)
    forgotten = state @ (np.eye(len(key)) - np.outer(unit, unit))
    return forgotten + np.outer(value, unit) / np.linalg.norm(key)


@task.alternative
def row_by_row(state, key, value):
    """A loop over the rows of the state."""
    new = np.array(state, dtype=float)
    for i, row in enumerate(state):
        new[i] = row + (value[i] - row @ key) / (key**2).sum() * key
    return new


task.mistake(
    "The new value was added to what the state already gave for this key, so that reading gives "
    "both together. What did the state give before you wrote?",
    lambda state, key, value: state + np.outer(value, key) / (key @ key),
)
task.mistake(
    "The right product was added, but reading multiplies it by the key once more. Which factor "
    "does that introduce? For a key of length 1 it would not show.",
    lambda state, key, value: state + np.outer(value - state @ key, key),
)
task.mistake(
    "This is the sum of all facts, value times key. Try it with the key [2.0] and the value "
    "[6.0]: what is read? Also, it ignores what the state returned before.",
    lambda state, key, value: state + np.outer(value, key),
)
task.mistake(
    "It was divided by the key's length. Reading introduces a factor key @ key, which is the "
    "square of the length.",
    lambda state, key, value: state + np.outer(value - state @ key, key) / np.linalg.norm(key),
)
task.mistake(
    "Only the newest fact is kept. Change the given state; do not start a new one.",
    lambda state, key, value: np.outer(value, key) / (key @ key),
)
task.mistake(
    "Whole columns of the state were emptied. Other keys use these columns too, so their facts "
    "change, although they are orthogonal to the new key.",
    lambda state, key, value: state * (key == 0) + np.outer(value, key) / (key @ key),
)
task.mistake(
    "The old facts fade a little with every new one. What is stored under keys that are "
    "orthogonal to the new key must stay exactly as it is.",
    lambda state, key, value: 0.9 * state + np.outer(value - 0.9 * state @ key, key) / (key @ key),
)
task.mistake(
    "The sign of the correction is wrong: it is the new value minus what the state returns for "
    "the key.",
    lambda state, key, value: state + np.outer(state @ key - value, key) / (key @ key),
)
task.mistake(
    "Rows and columns are swapped: a state of shape (d_v, d_k) takes np.outer(value, key), with "
    "the value first.",
    lambda state, key, value: state + np.outer(key, value - state @ key) / (key @ key),
)


@task.mistake(
    "The key was scaled to length 1, but the value was left as it is. Reading uses the key as "
    "given, so the result is the value times the key's length."
)
def unit_key(state, key, value):
    unit = key / np.linalg.norm(key)
    return state + np.outer(value - state @ unit, unit)


@task.mistake(
    "Each column was divided by its own entry of the key. Where that entry is 0, the result is "
    "not a number; otherwise reading adds the correction once for each entry of the key. Divide "
    "the whole matrix by one number."
)
def by_entries(state, key, value):
    with np.errstate(divide="ignore", invalid="ignore"):
        return state + np.outer(value - state @ key, 1 / key)


@task.mistake(
    "Each column was divided by its own entry of the key. A key without a 0 then returns its "
    "value, but vectors orthogonal to it no longer return what they did before. To preserve "
    "these, add a multiple of np.outer(…, key)."
)
def by_entries_and_their_number(state, key, value):
    with np.errstate(divide="ignore", invalid="ignore"):
        return state + np.outer(value - state @ key, 1 / key) / len(key)


@task.mistake(
    "What the key returned before is removed correctly. But the new value is written as if the "
    "key had length 1: reading multiplies it by the key once more."
)
def only_forgetting_divided(state, key, value):
    return state - np.outer(state @ key, key) / (key @ key) + np.outer(value, key)


@task.mistake(
    "The new value is written correctly. But what the key returned before is removed as if the "
    "key had length 1."
)
def only_writing_divided(state, key, value):
    return state - np.outer(state @ key, key) + np.outer(value, key) / (key @ key)


@task.harness
def harness(answer, keys, values):
    """Tell the facts one by one to a state that begins at zero."""
    import numpy as np

    state = np.zeros((values.shape[1], keys.shape[1]))
    for key, value in zip(keys, values, strict=True):
        new = answer(state.copy(), key.copy(), value.copy())
        if new is None:
            return None
        new = np.asarray(new, dtype=float)
        if new.shape != state.shape:
            came = f"the returned state has shape {new.shape}"
            raise ValueError(f"{came}; its size is fixed, here {state.shape}")
        state = new
    return {"state": state, "last fact read": state @ keys[-1]}


@task.cases
def cases(seed):
    """One number; a key told twice; keys at right angles; more facts than fit."""
    rng = np.random.default_rng(seed)
    square, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    lengths = rng.uniform(0.5, 3, size=(4, 1))
    twice = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0], [1.0, 1.0, 0.0]])
    return [
        Case(
            (np.array([[2.0]]), np.array([[6.0]])),
            "one fact: key 2, value 6",
            kind="ordinary cases",
        ),
        Case(
            (twice, np.array([[4.0, 2.0], [1.0, 3.0], [8.0, 0.0]])),
            "the first key written again",
            kind="edge cases",
        ),
        Case(
            (square * lengths, rng.normal(size=(4, 3))),
            "four orthogonal keys",
            kind="ordinary cases",
        ),
        Case(
            (rng.normal(size=(3, 5)), rng.normal(size=(3, 2))),
            "three random keys",
            kind="ordinary cases",
        ),
        Case(
            (rng.normal(size=(9, 4)), rng.normal(size=(9, 6))),
            "nine facts, keys of 4 numbers",
            kind="ordinary cases",
        ),
    ]


@task.diagnostic
def reads_back(args, result):
    """The newest fact must be there."""
    wanted, came = args[1][-1], result["last fact read"]
    if not np.allclose(came, wanted):
        return (
            f"After the last fact its key returns {came.round(3).tolist()}, not the value that "
            f"was written, {wanted.round(3).tolist()}."
        )
    return None
