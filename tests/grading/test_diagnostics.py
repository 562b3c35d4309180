"""Sentences of a task's diagnostic are true of the code, not only of the numbers of one case."""

import copy

import numpy as np
import pytest
import torch

from grading.feedback.findings import compare
from grading.runner.run import run
from grading.task import all_tasks
from grading.tasks.lecture_04.BuggyCausalHead import _Head
from grading.tasks.lecture_05.MultiHead import _divisor
from tests.grading.mistake_variants import sheet_of


def said(name, args, result):
    """What the diagnostics of a task say of a result, first to last."""
    sentences = (check(args, result) for check in all_tasks()[name].diagnostics)
    return next(filter(None, sentences), "")


def said_of_mistake(name, begin):
    """What they say of the known mistake whose sentence begins so, case by case."""
    task = all_tasks()[name]
    sheet = sheet_of(task)
    which = next(n for n, known in enumerate(task.mistakes) if known.why.startswith(begin))
    return said_of(sheet, sheet.outcomes(which))


def said_of(sheet, outcomes):
    found = compare(sheet.task, sheet.cases, outcomes, sheet.baseline)
    return [getattr(finding, "diagnostic", None) or "" for finding in found]


@pytest.mark.parametrize(
    ("name", "mistake", "false"),
    [
        ("bidirectional_rnn", "The network from the right has not read", "*before*"),
        ("one_head", "The two results are in the wrong order", "of the weights sums"),
        ("sliding_window_attention", "0 · (−∞) is NaN", "somewhere"),
        ("attend_without_padding", "The padding is masked right", "attended"),
        ("masked_weights", "Masked scores are no longer", "largest *visible* score"),
        ("low_rank_head", "Columns were cut off", "All scores"),
        ("RecurrentALiBi", "The formula for the sum", "grow with the text"),
        ("BuggyBlock", "One bug is left: the second residual", "nothing is dropped"),
        ("widest_model", "The two numbers are swapped", "does not have"),
        ("LayerNorm", "Mean and variance are computed along the words", "as it should"),
        ("nucleus", "Softmax runs down the batch", "right probabilities"),
        ("training_loop", "These are the losses *after*", "No step"),
    ],
)
def test_what_is_false_of_the_code_is_not_said(name, mistake, false):
    cases = said_of_mistake(name, mistake)
    assert not [sentence for sentence in cases if false in sentence]


@pytest.mark.parametrize(
    ("name", "mistake", "true"),
    [
        ("masked_weights", "What was subtracted depends", "largest *visible* score"),
        ("masked_weights", "One largest score was subtracted", "largest *visible* score"),
        ("BuggyBlock", "In evaluation everything is right. But in training", "nothing is"),
        ("nucleus", "The probabilities are right, but in descending", "right probabilities"),
        ("train_keep_best", "It measures after the first", "after which you measure"),
    ],
)
def test_what_is_true_of_the_code_is_said(name, mistake, true):
    assert any(true in sentence for sentence in said_of_mistake(name, mistake))


@pytest.mark.parametrize("change", [lambda scores: 2 * scores, lambda scores: scores * torch.nan])
def test_wrong_weights_say_nothing_of_dropout(change):
    class Changed(_Head):
        def _before(self, scores):
            return change(scores)

    sheet = sheet_of(all_tasks()["BuggyCausalHead"])
    assert not any(said_of(sheet, run(sheet.task, Changed, sheet.cases))[:1])


def test_one_word_receives_1_from_itself():
    x = np.array([[2.0, 1.0]])
    assert said("attention_received", (x, 1), ([3], np.ones(1))) == ""


def test_unsure_rejection_needs_no_more_orders():
    x = np.zeros((2, 1))
    assert "try many" not in said("is_equivariant", ("self-attention", x), "now and then")
    assert "try many" in said("is_equivariant", ("a fading state", x), "now and then")


def test_matrix_that_reaches_no_code_moves_nowhere():
    sine, cosine = np.sin(1), np.cos(1)
    M = np.array([[0.0, sine], [5.0, cosine]])
    assert said("shift_matrix", (1, 2), M).endswith("is not the code of position 1.")
    assert "is that of position -1" in said("shift_matrix", (1, 2), _turn(-1))


def _turn(n):
    return np.array([[np.cos(n), -np.sin(n)], [np.sin(n), np.cos(n)]])


def test_nan_everywhere_has_many_causes():
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    nothing = np.full((1, 3, 2), np.nan), np.full((1, 1, 3, 3), np.nan)
    assert said("weights_to_torch", (None, None, mask, 1), nothing) == "The output holds NaN."


def test_own_penalty_says_where_queries_are():
    distance = abs(np.subtract.outer(np.arange(3), np.arange(3)))
    bias = -(distance[None] + 1.0)
    assert "last T_q" not in said("alibi_bias", (1, 3, 3), bias)
    assert "last T_q" in said("alibi_bias", (1, 2, 3), bias[:, :2])


def test_divisors_of_one_size_are_both_named():
    sizes = {"d_model": 10, "n_heads": 2, "d_k": 3, "d_v": 4}
    x = torch.zeros(1, 7, 10)
    assert _divisor(sizes, x, x, 7.0) == "√T_q or √T_k"


def test_too_few_words_read_are_not_enough():
    task = all_tasks()["cached_generation"]
    case, right = sheet_of(task).cases[0], sheet_of(task).right[0].value
    fewer = {**right, "words read": right["words read"] - 1}
    assert "are enough" not in said("cached_generation", case.args, fewer)


def test_as_many_right_as_wrong_are_not_told_apart():
    one, two, three = (torch.tensor(numbers) for numbers in ([1, 2], [2, 5], [1, 2, 3]))
    even, uneven = (one, one, two, 1), (three, three, torch.tensor([2, 4, 7]), 1)
    assert said("accuracy_by_carries", even, np.array([[1, 3], [0, 0]])) == ""
    assert "*wrong*" in said("accuracy_by_carries", uneven, np.array([[1, 3], [0, 0]]))


def test_speed_of_a_hand_is_read_from_its_codes():
    places = torch.arange(3)
    task = all_tasks()["sinusoidal_encoding"]
    codes = task.reference(places, 4).numpy().copy()
    assert said("sinusoidal_encoding", (places, 4), codes) == ""
    codes[:, 2:] = np.stack([np.sin(1e-4 * np.arange(3)), np.cos(1e-4 * np.arange(3))], axis=1)
    assert "Hand 1 turns by 0.0001 radians per position; it should turn by 0.01." in said(
        "sinusoidal_encoding", (places, 4), codes
    )


def test_words_that_a_window_shows_are_named():
    q, k, v = np.zeros((3, 1)), np.ones((3, 1)), np.array([[8.0], [4.0], [2.0]])
    blocks = np.array([[8.0], [6.0], [2.0]])
    assert said("sliding_window_attention", (q, k, v, 2), blocks) == (
        "Word 2 sees only word 2; it should see the words 1 to 2."
    )


def test_wrong_ratio_of_weights_is_told():
    scores = np.array([[0.0, np.log(3)]])
    told = said("stable_softmax", (scores,), np.array([[0.2689, 0.7311]]))
    assert "stand as 3.00 to 1, but they stand as 2.72 to 1" in told
    assert said("stable_softmax", (scores,), np.array([[0.25, 0.75]])) == ""
    row = torch.tensor([[0.1, 0.6, 0.05, 0.25]]).log()
    told = said("nucleus", (row, 1.0, 0.7), np.array([[0.0, 0.5866, 0.0, 0.4134]]))
    assert "1.42 to 1" in told and "gives 2.40 to 1" in told


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("residual_stream", lambda v: v["contributions"][2:].__iadd__(1), "that of the feed-for"),
        ("RecurrentALiBi", lambda v: v["contexts"][64:].__iadd__(1), "The first 64 context"),
        ("from_torch", lambda v: v["weights"]["attention.W_key.weight"].__iadd__(1), "no rows of"),
    ],
)
def test_first_wrong_part_is_named(name, change, told):
    sheet = sheet_of(all_tasks()[name])
    value = copy.deepcopy(sheet.right[-1].value)
    change(value)
    if name == "residual_stream":  # the output stays the last norm of the sum
        state, total = sheet.cases[-1].args[1], value["contributions"].sum(axis=0)
        normed = torch.nn.functional.layer_norm(torch.tensor(total), total.shape[-1:])
        value["output"] = (normed * state["norm.weight"] + state["norm.bias"]).numpy()
    assert told in said(name, sheet.cases[-1].args, value)
