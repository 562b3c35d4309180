"""What `helpers.apps.question_answering` refuses, and in which words."""

import torch

from helpers.apps import metrics, question_answering
from tests.helpers.bad_call import ids

row = ids([1, 2, 3])

CASES = {
    question_answering.Reader: [
        (lambda: question_answering.Reader(0), "vocab: got 0; needed at least 1"),
        (lambda: question_answering.Reader(5, n_layers=0), "n_layers: got 0; needed at least 1"),
        (
            lambda: question_answering.Reader(5, fixed=[5]),
            "fixed: got ids such as [5]; needed numbers from 0 to 4",
        ),
        (
            lambda: question_answering.Reader(5)(row, ids([1], [2])),
            "question: got 2 rows; needed 1, as many as contexts",
        ),
        (
            lambda: question_answering.Reader(5)(row + 3, row),
            "context: got ids such as [5, 6]; needed numbers from 0 to 4",
        ),
        (
            lambda: question_answering.Reader(5)(row.float(), row),
            "context: got dtype torch.float32; needed torch.int64, ids of tokens",
        ),
        (
            lambda: question_answering.Reader(5)(row, row > 1),
            "question: got dtype torch.bool; needed torch.int64, ids of tokens",
        ),
        (
            lambda: question_answering.Reader(5)(row, row[0]),
            "question: got shape (3,); needed shape (batch, T)",
        ),
    ],
    question_answering.RecurrentReader: [
        (
            lambda: question_answering.RecurrentReader(5, d_model=7),
            "d_model: got 7; needed an even number: half for each direction",
        ),
        (
            lambda: question_answering.RecurrentReader(5, d_state=0),
            "d_state: got 0; needed at least 1",
        ),
        (
            lambda: question_answering.RecurrentReader(5)(row, 0 * row),
            "tokens: got a row of pad tokens; needed a word in each row",
        ),
    ],
    question_answering.best_spans: [
        (
            lambda: question_answering.best_spans(torch.zeros(2, 3)),
            "logits: got shape (2, 3); needed shape (batch, 2, T_c), T_c at least 2",
        ),
        (
            lambda: question_answering.best_spans(torch.zeros(1, 2, 3), longest=0),
            "longest: got 0; needed at least 1",
        ),
        (
            lambda: question_answering.best_spans(torch.full((1, 2, 3), -torch.inf)),
            "logits: got a row of −inf, or NaN; needed a place to choose",
        ),
    ],
    question_answering.no_answer_margin: [
        (
            lambda: question_answering.no_answer_margin(torch.zeros(2, 5)),
            "logits: got shape (2, 5); needed shape (batch, 2, T_c), T_c at least 2",
        ),
        (
            lambda: question_answering.no_answer_margin(torch.zeros(1, 2, 1)),
            "logits: got shape (1, 2, 1); needed shape (batch, 2, T_c), T_c at least 2",
        ),
    ],
}

CANNOT_FAIL = {
    question_answering.occurs_in: "compares any two tables of ids; readers check them first",
    metrics.normalized: "takes any text",
    metrics.exact_match: "takes any two texts",
    metrics.f1_score: "takes any two texts",
}
