"""What a message says about a wrong array when no known mistake explains it."""

import numpy as np
import pytest

from grading.feedback.judge import grade
from grading.feedback.relations import Exchanged, Nearly, Reordered, Scaled, Scattered, relation
from grading.task import Case, Mistake
from tests.grading.sample_tasks import example

WANT = np.arange(12.0).reshape(3, 4) ** 2 - 7


@pytest.mark.parametrize(
    ("got", "found"),
    [
        (0.25 * WANT, Scaled(0.25)),
        (-WANT, Scaled(-1.0)),
        (WANT.astype(np.float16) + 0.03, Nearly()),
        (WANT[[2, 0, 1]], Reordered(0)),
        (WANT[:, ::-1], Reordered(1)),
        (WANT + 1, None),
        (0 * WANT, None),
        (np.where(WANT > 0, np.nan, WANT), None),
        (np.sort(WANT.ravel())[::-1].reshape(3, 4), Scattered()),  # not whole rows
    ],
)
def test_relations(got, found):
    came = relation(got, WANT)
    assert came == found or np.isclose(came.factor, found.factor)


def test_exchanged_axes():
    square = WANT[:, :3]
    assert relation(square.T, square) == Exchanged((0, 1))
    turned = np.stack([square, square + 1, 2 * square])
    assert relation(turned.swapaxes(1, 2), turned) == Exchanged((1, 2))


def test_few_numbers_say_nothing():
    few = np.array([1.0, 2.0, 2.0, 1.0, 3.0])
    assert relation(few[::-1], few) is None
    assert relation(2 * few, few) is None


def test_relation_is_told_if_no_mistake_fits():
    def cases(seed):
        return [Case((np.arange(1.0, n),)) for n in (9, 25)]

    task = example(name="related", cases=cases)
    assert grade(task, lambda x: 3 * x, 0).message.endswith(
        "\nEach entry is 1.5 times the expected one."
    )
    assert grade(task, lambda x: -2 * x, 0).message.endswith("\nEach entry has the opposite sign.")
    assert "times the expected" not in grade(task, lambda x: x + 1, 0).message
    assert "but in another order" in grade(task, lambda x: 2 * x[::-1], 0).message
    told = example(name="told", cases=cases, diagnostics=(lambda args, result: "Odd.",))
    assert "times" not in grade(told, lambda x: 3 * x, 0).message
    known = example(name="known", cases=cases, mistakes=(Mistake(lambda x: 3 * x, "Tripled."),))
    assert "times" not in grade(known, lambda x: 3 * x, 0).message
