"""Find the bugs: the bias of another gate, and twice."""

import copy
import math

import torch

from grading.author import Case, TaskFile
from helpers.rnn import set_forget_bias

task = TaskFile(
    "find the bug",
    points=8,
    minutes=13,
    section="Vanishing and exploding gradients",
    outcome="explain with the chain rule why a gradient vanishes or explodes with distance, and "
    "what a {term}`forget gate` changes",
    hints=(
        "Make an LSTM with a state of 1. Print both of its biases before and after the call. Which "
        "entries have changed, and to what?",
        "PyTorch's page on nn.LSTM (or `help(nn.LSTM)`) gives the order of the parts as "
        "(W_ii|W_if|W_ig|W_io), and a formula for f_t. Which quarter is f, and how do the two "
        "biases enter?",
    ),
)


def _biases(lstm):
    return [lstm.bias_ih_l0, lstm.bias_hh_l0]


# %% the cell
def open_forget_gates(lstm, value):
    """Make the two biases of each forget gate sum to the value, in place."""
    size = lstm.hidden_size
    with torch.no_grad():
        #| lstm.bias_ih_l0[2 * size : 3 * size] = value
        #| lstm.bias_hh_l0[2 * size : 3 * size] = value
        # BEGIN SOLUTION
        lstm.bias_ih_l0[size : 2 * size] = value
        lstm.bias_hh_l0[size : 2 * size] = 0.0
        # END SOLUTION


# %%


@task.alternative
@torch.no_grad()
def half_each(lstm, value):
    """Half of the value in each bias."""
    for bias in _biases(lstm):
        bias.view(4, -1)[1].fill_(value / 2)


@task.alternative
def by_the_course(lstm, value):
    """The course's own function."""
    set_forget_bias(lstm, value)


def _set(lstm, value, first, last, which=(0, 1)):
    h = lstm.hidden_size
    with torch.no_grad():
        for number in which:
            _biases(lstm)[number][first * h : last * h] = value


task.as_given(
    "This does the same as the given code. The forget gates are unchanged after the call, and "
    "other parameters of the LSTM have changed."
)


@task.mistake(
    "Only the right gates are changed now. But they open as if the value were twice as large. "
    "There is still one bug."
)
def right_gate_twice(lstm, value):
    _set(lstm, value, 1, 2)


@task.mistake(
    "The value would now be right. But the forget gates are unchanged: the function changed "
    "something else instead. There is still one bug."
)
def right_sum_wrong_gate(lstm, value):
    _set(lstm, value, 2, 3, which=(0,))
    _set(lstm, 0.0, 2, 3, which=(1,))


@task.mistake(
    "One of the two biases is set, but the other one keeps its random numbers, and the LSTM adds "
    "them. Set its forget part too, for instance to 0."
)
def one_bias_left(lstm, value):
    _set(lstm, value, 1, 2, which=(0,))


@task.mistake(
    "The value was added to the random numbers that were there. The two biases together must be "
    "the value, so set them."
)
def added(lstm, value):
    h = lstm.hidden_size
    with torch.no_grad():
        lstm.bias_ih_l0[h : 2 * h] += value


@task.mistake(
    "The first quarter is the input gate. The order is input, forget, new content, output."
)
def first_quarter(lstm, value):
    _set(lstm, value, 0, 1, which=(0,))
    _set(lstm, 0.0, 0, 1, which=(1,))


@task.mistake(
    "The last quarter is the output gate. The order is input, forget, new content, output."
)
def last_quarter(lstm, value):
    _set(lstm, value, 3, 4, which=(0,))
    _set(lstm, 0.0, 3, 4, which=(1,))


@task.mistake(
    "All four parts were set. Only the forget gate's part may change: from hidden_size up to 2 · "
    "hidden_size."
)
def all_gates(lstm, value):
    _set(lstm, value, 0, 4, which=(0,))
    _set(lstm, 0.0, 0, 4, which=(1,))


@task.mistake(
    "The bias was set to σ(value). The LSTM applies σ itself, so the value goes in as it is."
)
def the_gate_itself(lstm, value):
    open_forget_gates(lstm, torch.sigmoid(torch.tensor(value)).item())


@task.mistake(
    "The forget gate is right, but the other parts of bias_hh were set to zero as well. Only the "
    "forget gate's part may change."
)
def other_bias_emptied(lstm, value):
    open_forget_gates(lstm, value)
    with torch.no_grad():
        lstm.bias_hh_l0.zero_()


@task.mistake(
    "Every fourth entry was set, as if the four entries of a unit were adjacent; with a state of "
    "size 1 that is the same. But all entries of one gate come together, followed by those of the "
    "next gate."
)
def unit_by_unit(lstm, value):
    with torch.no_grad():
        lstm.bias_ih_l0.view(-1, 4)[:, 1] = value
        lstm.bias_hh_l0.view(-1, 4)[:, 1] = 0.0


task.mistake(
    "Nothing in the LSTM has changed. Did you change a copy? clone() makes one, and so do "
    "torch.cat, a sum and other calculations. Or does only a name stand for another tensor now? "
    "`f = …` does that; `f[:] = …` or `f.fill_(…)` changes the tensor itself.",
    lambda lstm, value: None,
)


@task.mistake(
    "The numbers are right, but the LSTM has new parameters. An optimizer that was made before "
    "the call still holds the old ones. In place means that you change the numbers in the "
    "existing parameters."
)
def new_parameters(lstm, value):
    changed = copy.deepcopy(lstm)
    open_forget_gates(changed, value)
    lstm.bias_ih_l0, lstm.bias_hh_l0 = _biases(changed)


@task.mistake(
    "One of the two lines sets the forget gates now, but the other one still sets something else. "
    "So random numbers remain in the forget gates, and other parameters of the LSTM have changed."
)
def one_line_mended(lstm, value):
    _set(lstm, value, 1, 2, which=(0,))
    _set(lstm, value, 2, 3, which=(1,))


@task.harness
def harness(answer, d_in, d_hidden, value, seed):
    """An LSTM, its gates opened by the answer; by gate, what its biases amount to."""
    import torch

    torch.manual_seed(seed)
    lstm = torch.nn.LSTM(d_in, d_hidden, batch_first=True)
    parameters = dict(lstm.named_parameters())
    before = {name: p.detach().clone() for name, p in parameters.items()}
    answer(lstm, value)
    sums = (lstm.bias_ih_l0 + lstm.bias_hh_l0).detach().view(4, -1)
    matrices = [name for name in before if "weight" in name]
    same = all(torch.equal(before[name], lstm.get_parameter(name)) for name in matrices)
    kept = all(lstm.get_parameter(name) is p for name, p in parameters.items())
    trainable = lstm.bias_ih_l0.requires_grad and lstm.bias_hh_l0.requires_grad
    # A dictionary is compared in the order of its keys.
    return {
        "biases in the forget gates": sums[1],
        "matrices as before": same,
        "other biases": sums[[0, 2, 3]],
        "the parameters are those of before": kept,
        "trainable": trainable,
    }


@task.cases
def cases(seed):
    """Gates of one number first."""
    return [
        Case((2, 1, 3.0, 10 * seed), "a state of one number, a bias of 3", kind="ordinary cases"),
        Case((3, 2, 1.0, 10 * seed + 1), "a state of 2, a bias of 1", kind="ordinary cases"),
        Case((2, 5, -2.5, 10 * seed + 2), "a state of 5, a bias of −2.5", kind="ordinary cases"),
    ]


@task.diagnostic
def forget_gates(args, result):
    """What the forget gates are for a word and a state of zeros; then what else has changed."""
    value, came = args[2], result["biases in the forget gates"]
    wrong = [number for number in came if abs(number - value) > 1e-4]
    for number in wrong:
        gate, wanted = (1 / (1 + math.exp(-x)) for x in (number, value))
        said = (
            f"For a word and a state of zeros, a forget gate is σ({number:.3f}) = {gate:.3f}; "
            f"it must be σ({value:g}) = {wanted:.3f}."
        )
        some = f" Right so far: {len(came) - len(wrong)} of {len(came)} forget gates."
        return said + (some if len(wrong) < len(came) else "")
    return "The forget gates are right, but something else has changed."
