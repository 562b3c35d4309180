"""What heads cost: parameters, FLOPs, and numbers to keep."""

import itertools
import math

import numpy as np

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=9,
    minutes=16,
    extra=True,
    section="What heads cost",
    outcome="say what a trained head does, by its map and by ablation, and what n heads cost",
    results=("the parameters", "the FLOPs", "the number of attention weights"),
    hints=(
        "Write down the six products with their shapes: four with a matrix of parameters, the "
        "scores, and the weighted sum.",
        "Which of the four projections have T_q rows, and which have T_k?",
        "All heads together have T_q × T_k × n_heads scores, and each is a sum of d_k products.",
    ),
)


# %% the cell
def attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Parameters, FLOPs, and the number of attention weights."""
    # BEGIN SOLUTION
    keys, values = n_heads * d_k, n_heads * d_v  # the widths of all heads together
    parameters = 2 * d_model * keys + 2 * d_model * values
    if bias:
        parameters += 2 * keys + values + d_model
    queries_and_out = T_q * d_model * keys + T_q * values * d_model
    keys_and_values = T_k * d_model * keys + T_k * d_model * values
    attending = T_q * T_k * keys + T_q * T_k * values
    flops = 2 * (queries_and_out + keys_and_values + attending)
    return parameters, flops, n_heads * T_q * T_k
    # END SOLUTION


# %%


@task.alternative
def by_modules(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Counted on a module, and product by product."""
    from torch import nn

    sizes = [(d_model, n_heads * d_k)] * 2 + [(d_model, n_heads * d_v), (n_heads * d_v, d_model)]
    layers = [nn.Linear(*size, bias=bias) for size in sizes]
    parameters = sum(p.numel() for layer in layers for p in layer.parameters())
    rows = (T_q, T_k, T_k, T_q)
    flops = sum(2 * T * a * b for T, (a, b) in zip(rows, sizes, strict=True))
    flops += n_heads * (2 * T_q * d_k * T_k + 2 * T_q * T_k * d_v)
    return [parameters, flops, n_heads * T_q * T_k]


def _changed(which, number):
    """The right answer with one of its three parts changed."""

    def answer(*args):
        result = list(attention_cost(*args))
        result[which] = number(*args)
        return result

    return answer


def no_output(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: W_out is not counted."""
    keys, values = n_heads * d_k, n_heads * d_v
    return d_model * (2 * keys + values) + bias * (2 * keys + values)


def bias_of_inputs(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: a bias for each input."""
    return 2 * d_model * n_heads * (d_k + d_v) + bias * (3 * d_model + n_heads * d_v)


def four_wide_biases(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: d_model numbers for each bias."""
    return 2 * d_model * n_heads * (d_k + d_v) + bias * 4 * d_model


def without_bias(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: never a bias."""
    return attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, False)[0]


def always_bias(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: always a bias."""
    return attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, True)[0]


def no_bias_of_output(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: W_out without a bias."""
    return attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[0] - bias * d_model


def multiplications(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: additions are not counted."""
    return attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1] // 2


def no_attending(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: the projections only."""
    return attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1] - 2 * T_q * T_k * (
        n_heads * (d_k + d_v)
    )


def no_output_flops(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: W_out does no work."""
    flops = attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1]
    return flops - 2 * T_q * n_heads * d_v * d_model


def one_length(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: T_q words everywhere in the projections."""
    keys, values = n_heads * d_k, n_heads * d_v
    return 4 * T_q * d_model * (keys + values) + 2 * T_q * T_k * (keys + values)


def scores_only(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: the weighted sum is not counted."""
    flops = attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1]
    return flops - 2 * T_q * T_k * n_heads * d_v


def wide_heads(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: each head attends with the full width."""
    flops = attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1]
    return flops + 2 * T_q * T_k * (n_heads - 1) * n_heads * (d_k + d_v)


def bias_of_joined(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: the bias of W_out is as wide as what is joined."""
    wrong = bias * (n_heads * d_v - d_model)
    return attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[0] + wrong


def output_of_keys(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: T_k rows go through W_out."""
    flops = attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1]
    return flops + 2 * (T_k - T_q) * n_heads * d_v * d_model


def keys_of_queries(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: keys have T_q rows, values T_k."""
    flops = attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1]
    return flops + 2 * (T_q - T_k) * n_heads * d_k * d_model


def values_of_queries(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: values have T_q rows, keys T_k."""
    flops = attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1]
    return flops + 2 * (T_q - T_k) * n_heads * d_v * d_model


def queries_of_keys(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: queries have T_k rows."""
    flops = attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1]
    return flops + 2 * (T_k - T_q) * n_heads * d_k * d_model


def all_rows_of_keys(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: T_k words everywhere in the projections."""
    keys, values = n_heads * d_k, n_heads * d_v
    return 4 * T_k * d_model * (keys + values) + 2 * T_q * T_k * (keys + values)


def one_head_attends(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: only one head attends."""
    flops = attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1]
    return flops - 2 * T_q * T_k * (n_heads - 1) * (d_k + d_v)


def model_width_attends(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: scores and weighted sums are as wide as the model."""
    flops = attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1]
    return flops + 2 * T_q * T_k * (2 * d_model - n_heads * (d_k + d_v))


def biases_added(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    """Wrong: adding the biases is counted."""
    flops = attention_cost(d_model, n_heads, d_k, d_v, T_q, T_k, bias)[1]
    rows_of_queries = T_q * (n_heads * d_k + d_model)
    return flops + bias * (rows_of_queries + T_k * n_heads * (d_k + d_v))


@task.cases
def cases(seed):
    """All sizes 1 but one, to check by hand; then the lecture's; then sizes that all differ."""
    rng = np.random.default_rng(seed)
    found = [((2, 1, 1, 1, 1, 1, False), "the example"), ((2, 1, 1, 1, 1, 1, True), "with bias")]
    found.append(((64, 8, 8, 8, 128, 128, True), "the layer of the lecture"))
    for bias in (False, True):
        d_model, d_k, d_v = (int(n) for n in rng.permutation([5, 7, 9]) + 2)
        n_heads, T_q = int(rng.integers(2, 5)), int(rng.integers(3, 9))
        T_k = T_q + int(rng.integers(2, 6))
        for lengths in ((T_q, T_k), (T_k, T_q)):
            found.append(((d_model, n_heads, d_k, d_v, *lengths, bias), ""))
    names = ("d_model", "n_heads", "d_k", "d_v", "T_q", "T_k", "bias")
    notes = [", ".join(f"{n} {a}" for n, a in zip(names, args, strict=True)) for args, _ in found]
    return [
        Case(args, f"{note}: {sizes}" if note else sizes, kind="ordinary cases")
        for (args, note), sizes in zip(found, notes, strict=True)
    ]


def _which_product(args, off):
    """By how much the FLOPs are off, what each product takes, and which it is, if only one fits."""
    d_model, n_heads, d_k, d_v, T_q, T_k, _ = args
    keys, values = "n_heads · d_k", "n_heads · d_v"
    lengths = {"T_q": T_q, "T_k": T_k}
    widths = {
        "d_model": d_model,
        "d_k": d_k,
        "d_v": d_v,
        keys: n_heads * d_k,
        values: n_heads * d_v,
    }
    products = {
        "the queries": ("T_q", "d_model", keys),
        "the keys": ("T_k", "d_model", keys),
        "the values": ("T_k", "d_model", values),
        "the scores": ("T_q", keys, "T_k"),
        "the weighted sums of the values": ("T_q", "T_k", values),
        "the output": ("T_q", values, "d_model"),
    }
    takes, found = {}, []
    for name, factors in products.items():
        size = takes[name] = 2 * math.prod((lengths | widths)[factor] for factor in factors)
        if abs(off) == size:
            found.append(f"just as many as for {name}")
        for kind in (lengths, widths):
            for (was, n), (new, m) in itertools.permutations(kind.items(), 2):
                if was in factors and off == size // n * (m - n):
                    found.append(f"as if {new} = {m} were in the place of {was} = {n} for {name}")
    which = f", {found[0]}" if len(found) == 1 else ""
    said = f"The number of FLOPs is too {'small' if off < 0 else 'large'} by {abs(off)}{which}."
    return f"{said} The products: " + ", ".join(f"{a} {b}" for a, b in takes.items()) + "."


@task.diagnostic
def which_part(args, result):
    """The name of the first number that is wrong; of the FLOPs also the products."""
    bias, right = args[-1], attention_cost(*args)
    if result[0] != right[0]:
        if not bias:
            return "The number of parameters is wrong, here with bias = False."
        without = attention_cost(*args[:-1], False)[0]
        return f"The number of parameters is wrong; {without} of them are in the matrices."
    if result[1] != right[1]:
        return _which_product(args, result[1] - right[1])
    if result[2] != right[2]:
        return "The number of attention weights is wrong."
    return None


task.mistake("`W_out` has parameters, too: n_heads · d_v inputs.", _changed(0, no_output))
task.mistake("A bias has a number for each *output* of its matrix.", _changed(0, bias_of_inputs))
task.mistake(
    "The four biases were given d_model numbers each. A bias has a number for each output of its "
    "matrix, and that is d_model for `W_out` alone.",
    _changed(0, four_wide_biases),
)
task.mistake("With `bias` all four matrices have one.", _changed(0, without_bias))
task.mistake("The biases were counted, though `bias` is False.", _changed(0, always_bias))
task.mistake(
    "Three of the four biases were counted: `W_out` has one, too, of d_model numbers.",
    _changed(0, no_bias_of_output),
)
task.mistake(
    "The bias of `W_out` was given the width of the concatenated heads. A bias has a number for "
    "each *output*: d_model.",
    _changed(0, bias_of_joined),
)
task.mistake(
    "`W_out` was given T_k rows. The concatenated heads belong to the queries: T_q rows.",
    _changed(1, output_of_keys),
)
task.mistake(
    "The keys were given T_q rows. Keys and values belong to the T_k words.",
    _changed(1, keys_of_queries),
)
task.mistake(
    "The values were given T_q rows. Keys and values belong to the T_k words.",
    _changed(1, values_of_queries),
)
task.mistake(
    "The queries were given T_k rows. They belong to the T_q words that attend.",
    _changed(1, queries_of_keys),
)
task.mistake(
    "Not all projections have T_k rows: queries and output belong to the T_q words.",
    _changed(1, all_rows_of_keys),
)
task.mistake(
    "Scores and weighted sums were counted for one head. Each of the n_heads has its own.",
    _changed(1, one_head_attends),
)
task.mistake(
    "These are the multiplications alone. The lecture counts about as many additions, so a "
    "product of (a, b) and (b, c) costs 2 · a · b · c.",
    _changed(1, multiplications),
)
task.mistake(
    "These are the four projections. Scores and weighted sum are products, too.",
    _changed(1, no_attending),
)
task.mistake(
    "The product with `W_out` is missing from the FLOPs: T_q rows go through it.",
    _changed(1, no_output_flops),
)
task.mistake(
    "Not all projections have T_q rows: keys and values are computed for T_k words.",
    _changed(1, one_length),
)
task.mistake(
    "The scores are counted, but the weighted sum of the values is not.",
    _changed(1, scores_only),
)
task.mistake(
    "Each head was given the width of all heads. A score is a sum of the d_k products of one head.",
    _changed(1, wide_heads),
)

task.mistake(
    "Scores and weighted sums were given the width d_model. All heads together have the width "
    "n_heads · d_k in the scores, and n_heads · d_v in the sums, whatever d_model is.",
    _changed(1, model_width_attends),
)
task.mistake(
    "Adding the biases was counted. The statement asks for the six products alone.",
    _changed(1, biases_added),
)


@task.mistake("d_v was taken to be the same as d_k. Here they may differ.")
def values_as_keys(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    return attention_cost(d_model, n_heads, d_k, d_k, T_q, T_k, bias)


@task.mistake(
    "The projections were made for one head. Each head has its own, so together they are n_heads "
    "· d_k or n_heads · d_v wide."
)
def one_head_projects(d_model, n_heads, d_k, d_v, T_q, T_k, bias):
    parameters, flops, _ = attention_cost(d_model, 1, d_k, d_v, T_q, T_k, bias)
    flops += 2 * T_q * T_k * (n_heads - 1) * (d_k + d_v)
    return parameters, flops, n_heads * T_q * T_k


task.mistake(
    "Each head has its own T_q × T_k weights.",
    _changed(2, lambda d_model, n_heads, d_k, d_v, T_q, T_k, bias: T_q * T_k),
)
task.mistake(
    "A table of weights has a row for each query and a column for each key.",
    _changed(2, lambda d_model, n_heads, d_k, d_v, T_q, T_k, bias: n_heads * T_q**2),
)
