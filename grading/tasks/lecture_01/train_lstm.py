"""Train an LSTM that remembers over sixty words."""

import torch

from grading.author import Case, Enough, TaskFile
from helpers.data.recall import first_token_recall_batch
from helpers.rnn import RecurrentModel
from helpers.training import set_seed, train

task = TaskFile(
    "train",
    points=10,
    minutes=16,
    section="Many facts in one state",
    outcome="explain with the chain rule why a gradient vanishes or explodes with distance, and "
    "what a {term}`forget gate` changes",
    threshold=0.9,
    enough=Enough(500, 32, 3e-3),
    rtol=0.0,
    atol=0.45,
    hints=(
        "Half of the gradient is left if σ(b) is the 59th root of one half, `0.5 ** (1 / 59)`. "
        "And σ(b) = p means b = log(p / (1 − p)).",
        "`train(model, make_batch, steps)` calls `make_batch()` with no arguments: pass `lambda: "
        "first_token_recall_batch(32, length, generator)`.",
    ),
)


def _trained(length, steps=500, batch=32, **settings):
    from helpers.data.recall import first_token_recall_batch
    from helpers.rnn import RecurrentModel
    from helpers.training import set_seed, train

    generator = set_seed(0)
    model = RecurrentModel(17, 32, 8, **{"cell": "lstm", **settings})
    train(model, lambda: first_token_recall_batch(batch, length, generator), steps)
    return model


# %% the cell
def train_lstm(length):
    """A RecurrentModel with an LSTM, trained to recall the first of `length` tokens."""
    # BEGIN SOLUTION
    generator = set_seed(0)
    model = RecurrentModel(17, 32, 8, "lstm", forget_bias=5.0)
    train(model, lambda: first_token_recall_batch(32, length, generator), steps=500)
    return model
    # END SOLUTION


# %%


@task.mistake(
    "The forget gates are open, but the accuracy is at chance, one in eight. Do you train the "
    "model before you return it, with sequences of the given length?"
)
def untrained(length):
    from helpers.rnn import RecurrentModel

    torch.manual_seed(0)
    return RecurrentModel(17, 32, 8, "lstm", forget_bias=5.0)


task.mistake(
    "The accuracy is at chance, one in eight, and the biases of the forget gates are near 0. A "
    "gate near one half leaves 0.5 to the power of 59 of the gradient along the cell state. Open "
    "the gates before training.",
    lambda length: _trained(length, steps=50),
)
task.mistake(
    "The accuracy is at chance, one in eight. The biases of the forget gates are near 1, and σ(1) "
    "is 0.73: along the cell state 0.73 to the power of 59 is left, about 10⁻⁸. (Did you mean a "
    "gate near 1? Then look for the bias b with σ(b) near 1.)",
    lambda length: _trained(length, steps=50, forget_bias=1.0),
)
task.mistake(
    "The accuracy is at chance, one in eight, with biases of the forget gates near 3. σ(3) is "
    "0.95, so 0.06 of the gradient is left after 59 steps. That is enough only for some seeds "
    "and with more steps. Give the forget gates a larger bias.",
    lambda length: _trained(length, steps=50, forget_bias=3.0),
)
task.mistake(
    "The biases of the forget gates are far below 0. That closes the gates, and the cell state "
    "forgets at once. Change the sign.",
    lambda length: _trained(length, steps=50, forget_bias=-5.0),
)


@task.harness
def harness(answer, length, seed):
    """How many of ten symbols an LSTM with the answer's weights recalls, and its forget bias."""
    import torch

    from helpers.data.recall import first_token_recall_batch
    from helpers.rnn import RecurrentModel
    from helpers.training import accuracy

    model = answer(length)
    if model is None:
        return None
    if not isinstance(model, RecurrentModel) or not isinstance(model.recurrence, torch.nn.LSTM):
        came = f"{type(model).__name__} came back"
        raise ValueError(f"{came}; expected the trained model, a RecurrentModel with cell 'lstm'")
    if model.recurrence.hidden_size > 32 or model.recurrence.num_layers > 1:
        raise ValueError("a state of at most 32 numbers and one layer are allowed")
    own = RecurrentModel(17, model.recurrence.hidden_size, 8, "lstm")
    own.load_state_dict(model.state_dict())
    test = first_token_recall_batch(400, length, torch.Generator().manual_seed(seed))
    lstm = own.recurrence
    bias = (lstm.bias_ih_l0 + lstm.bias_hh_l0).view(4, -1)[1].mean().item()
    return {"right of ten": 10 * accuracy(own, test), "forget bias": bias}


@task.cases
def cases(seed):
    """One length; the test sequences come from a seed of their own."""
    return [Case((60, 1000 + seed), kind="ordinary cases")]


@task.score
def score(args, value):
    """The share of recalled symbols."""
    return value["right of ten"] / 10


@task.diagnostic
def after_training(args, result):
    """Where the forget gates are, since that decides it."""
    bias = result["forget bias"]
    said = f"After training, the biases of the forget gates are {bias:.1f} on average."
    if bias < -1:
        said += (
            " Gates with such a bias are closed, and the cell state forgets at once. Which sign?"
        )
    return said
