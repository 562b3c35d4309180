"""Naming a mistake by evidence, and seeing what a call changes."""

import numpy as np
import pytest
import torch

from grading.author import Case
from grading.feedback.baseline import Catalogue
from grading.feedback.diagnosis import Certainty, says_little, shown_mistake
from grading.feedback.judge import grade
from grading.feedback.messages import mutation
from grading.runner.mutation_guard import MutationGuard
from grading.runner.outcome import Outcome, Status
from grading.task import Mistake, Pair, load
from tests.grading import sample_tasks

RIGHT = ["r1", "r2", "r3", "r4"]
KNOWN = [
    ["a1", "a2", "a3", "a4"],
    ["b1", "b2", "b3", "b4"],
    ["r1", "r2", "c3", "c4"],
    ["d1", "a2", "d3", "d4"],
    ["stop", "stop", "stop", "stop"],
]
SAID = ["A.", "B.", "C.", "D.", "E."]


def named(*got, known=KNOWN, said=SAID):
    def same(one, other):
        return one == other

    catalogue = Catalogue.of(RIGHT, known, said, same)
    return shown_mistake(got, catalogue, same, lambda outcome: outcome == "stop")


@pytest.mark.parametrize(
    ("got", "which", "certainty"),
    [
        (("a1", "a2", "a3", "a4"), 0, Certainty.ALL_AGREE),
        (("r1", "r2", "c3", "c4"), 2, Certainty.ALL_AGREE),
        (("r1", "a2", "a3", "a4"), 0, Certainty.MOST_AGREE),  # an edge case handled
        (("stop", "b2", "b3", "b4"), 1, Certainty.MOST_AGREE),  # or not at all
        (("x1", "b2", "b3", "b4"), 1, Certainty.MOST_AGREE),
        (("stop",) * 4, 4, Certainty.SYMPTOM_ONLY),
    ],
)
def test_the_mistake_that_explains_most_is_named(got, which, certainty):
    found = named(*got)
    assert (found.mistake, found.certainty) == (which, certainty)
    assert all(got[i] != RIGHT[i] for i in found.cases)


@pytest.mark.parametrize(
    "got",
    [
        ("x1", "x2", "x3", "x4"),  # nothing is like it
        ("a1", "b2", "x3", "x4"),  # it agrees on less than it differs
        ("a1", "a2", "b3", "b4"),  # two explain the same
        ("r1", "a2", "r3", "r4"),  # and here two agree on the only case
        ("stop", "stop", "r3", "r4"),  # an error text alone
        ("stop", "stop", "x3", "r4"),
    ],
)
def test_nothing_is_named_without_evidence(got):
    assert named(*got) is None


def test_indistinguishable_mistakes_are_not_named():
    """They are named if both say the same."""
    twins = [KNOWN[0], KNOWN[0]]
    assert named(*KNOWN[0], known=twins, said=["A.", "B."]) is None
    assert named(*KNOWN[0], known=twins, said=["A.", "A."]).mistake == 0
    part = ("r1", *KNOWN[0][1:])
    assert named(*part, known=[*twins, *KNOWN[1:]], said=["A.", "A.", *SAID[1:]]).mistake in (0, 1)


def test_an_outcome_of_two_says_nothing():
    """Where the outcome is yes or no, half of all mistakes agree by chance."""
    known = [["no", "no", "yes", "yes"], ["no", "yes", "no", "yes"]]
    right = ["yes", "yes", "yes", "yes"]
    catalogue = Catalogue.of(right, known, ["A.", "B."], lambda a, b: a == b)
    got = ("no", "no", "no", "no")
    assert shown_mistake(got, catalogue, lambda a, b: a == b, lambda o: False) is None


def example(**changes):
    fields = {
        "cases": lambda seed: [Case((np.arange(1.0, n),), f"n = {n}") for n in (2, 4, 6, 8)],
        "mistakes": (
            Mistake(lambda x: x**2, "Squared."),
            Mistake(lambda x: x + 2, "Added."),
            Mistake(lambda x: -2 * x, "Negated."),
            Mistake(lambda x: 2 * x[:7] + 0 * x[9], "Fixed length."),
        ),
    }
    return sample_tasks.example(**fields | changes)


def test_the_words_say_how_sure_it_is():
    said = grade(example(), lambda x: x**2, 0).message
    assert "What went wrong: Squared." in said
    part = grade(example(), lambda x: x**2 if len(x) != 3 else 2 * x, 0)
    assert part.message.startswith("Probable cause: Squared.\n") and part.mistake == 0
    error = grade(example(), lambda x: 2 * x[:7] + 0 * x[9], 0)
    assert "Possible cause: Fixed length." in error.message and error.mistake is None


def test_reported_case_shows_the_named_mistake():
    said = grade(example(), lambda x: x**2 if len(x) > 1 else x * 7, 0).message
    assert said.startswith("Probable cause: Squared.\nOn case 2 of 4 (n = 4): ")
    assert said.endswith(
        "\nIt may not explain everything: after your change, look at case 1 of 4 (n = 2) again."
    )


def test_another_error_is_no_second_mistake():
    """In another spelling the same mistake ends in another error."""
    squared = Mistake(lambda x: x**2 if len(x) > 1 else x[5], "Squared.")
    task = example(mistakes=(squared, Mistake(lambda x: x + 2, "Added.")))
    said = grade(task, lambda x: x**2 if len(x) > 1 else x.reshape(2, 3), 0).message
    assert said.startswith("Probable cause: Squared.\n") and "explain" not in said


@pytest.mark.parametrize(
    ("got", "more"), [((2, 5), ""), ((2, 6), " Beyond what this explains, another entry is wrong.")]
)
def test_another_wrong_entry_is_told(got, more):
    task = example(kind="predict", reference=(1, 5, 7), mistakes=(Mistake((2, 5, 7), "One more."),))
    said = grade(task, (*got, 7), 0).message
    assert "One more.\n" in said and said.endswith(f"[0] is 2: this is not right.{more}")


@pytest.mark.parametrize(
    ("name", "why", "said"),
    [
        ("BuggyCausalHead", "Here scores", "In training no weight is set to 0."),
        ("BuggyCausalHead", "One dropout mask", "all sentences of a batch share one draw"),
        (
            "BuggyBlock",
            "In evaluation everything is right. But dropout",
            "stream itself are dropped",
        ),
        ("equivalent_weights", "Some weights are negative", "A weight is below zero; none may be."),
        ("equivalent_weights", "The context vector is a multiple", "another context vector."),
        ("Block", "The two norms of a block are swapped", "but this is not its output."),
        (
            "BuggyBlock",
            "In evaluation everything is right. But in",
            "from the output of attention.",
        ),
        ("MultiHead", "The second result holds the scores", "holds negative numbers"),
        ("accuracy_by_carries", "All were counted as right", "expected"),
        ("cache_test", "It tries one reader", "readers that share one cache."),
        ("greedy_sums", "`argmax` was taken over the batch", "“tokens” differs"),
        (
            "split_pairs",
            "There is no random order",
            "should hold, but does not: “Another generator",
        ),
        ("train_keep_best", "It measures after the first", "The returned list is right. But"),
        ("speculative_step", "All accepted words", "2 words are accepted here; it should be 1"),
    ],
)
def test_what_a_case_shows_fits_the_cause(name, why, said):
    task = load(name)
    which = next(k for k, known in enumerate(task.mistakes) if known.why.startswith(why))
    message = grade(task, task.mistakes[which].answer, 0).message
    assert message.startswith(f"What went wrong: {why}") and said in message


def test_uninformative_case_is_not_reported_first():
    """On such a case all mistakes give the same result."""
    cases = [Case((np.array([0.0]),), "nothing"), Case((np.array([1.0, 3.0]),), "two")]
    wrong = [Mistake(lambda x, n=n: n * x + 1, f"Times {n}.") for n in range(10, 18)]
    task = example(name="told", cases=lambda seed: cases, mistakes=tuple(wrong))
    assert grade(task, lambda x: 9 * x + 1, 0).message.startswith("On case 2 of 2 (two)")
    assert "\nOn case 2 of 2 (two)" in grade(task, wrong[0].answer, 0).message
    one = Mistake(lambda x: 9 * x + 5, "Five.")  # this one can be told from the others there
    task = example(name="told", cases=lambda seed: cases, mistakes=(*wrong, one))
    assert "Five.\nOn case 1 of 2 (nothing)" in grade(task, one.answer, 0).message
    three = [*cases, Case((np.array([2.0, 5.0, 7.0]),), "three")]  # the mistake does not fit here
    task = example(name="told", cases=lambda seed: three, mistakes=(*wrong, one))
    said = grade(task, lambda x: 9 * x + 5 + (len(x) > 2), 0).message
    assert "Probable cause: Five.\nOn case 2 of 3 (two)" in said


# ------------------------------------------------------------------ two at once

PLUS, TIMES, LATE = "Added.", "Tripled.", "Shifted."
IN_PAIRS = [
    Pair(lambda x: 3 * x + 1, (PLUS, TIMES)),
    Pair(lambda x: 3 * np.roll(x, 1), (TIMES, LATE)),
    Pair(lambda x: 3 * np.roll(x, 1) + 0.0, (TIMES, PLUS)),
    Pair(lambda x: np.roll(x, 2), (LATE, PLUS)),
    Pair(lambda x: np.roll(x, 2) + 0.0, (TIMES, "Negated.")),
    Pair(lambda x: x[50], (PLUS, LATE)),
]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: 1 + x + x + x, f"Two mistakes:\n- {PLUS}\n- {TIMES}\n"),
        (lambda x: 3 * np.roll(x, 1), f"There seem to be two mistakes. One of them:\n- {TIMES}\n"),
        (lambda x: np.roll(x, 2), ""),  # they have nothing in common
        (lambda x: x[50], ""),  # an error alone
        (lambda x: 3 * x + (len(x) < 6), ""),  # one case is otherwise
        (lambda x: x + 2, ""),  # one alone explains it
    ],
)
def test_pair_is_named_if_no_single_mistake_fits(answer, said):
    task = example(name="paired", pairs=lambda: iter(IN_PAIRS))
    message = grade(task, answer, 0).message
    assert message.startswith(said) and ("two mistakes" in message.lower()) == bool(said)
    assert grade(task, answer, 0).message == message
    assert "two mistakes" not in grade(example(name="alone"), answer, 0).message


def test_pair_that_explains_all_is_preferred():
    both = Pair(lambda x: x**2 if len(x) > 1 else 7 * x, (PLUS, TIMES))
    task = example(name="preferred", pairs=lambda: iter([both]))
    verdict = grade(task, lambda x: x**2 if len(x) > 1 else x * 7, 0)
    assert verdict.two_mistakes == (PLUS, TIMES) and verdict.mistake is None
    assert "Probable cause" not in verdict.message


def test_two_mistakes_in_a_training_loop_are_named():
    task = load("training_loop")
    pairs = {pair.whys: pair.answer for pair in task.pairs()}
    whys = [m.why for m in task.mistakes]
    ours = [next(w for w in whys if words in w) for words in ("Padding is used", "add up", "AdamW")]
    for which in ((0, 1), (1, 2)):
        both = tuple(ours[i] for i in which)
        message = grade(task, pairs[both], 0).message
        assert message.startswith("\n- ".join(["Two mistakes:", *both]) + "\nOn case ")


def test_bad_training_is_told_a_frequent_cause():
    """Another mistake may reach as little, so none is said to be what went wrong."""
    task = example(
        name="trained",
        kind="train",
        score=lambda args, value: float(np.sum(value)),
        threshold=100.0,
        mistakes=(Mistake(lambda x: 0 * x, "Is it trained?"),),
        atol=0.5,
    )
    assert "Possible cause: Is it trained?" in grade(task, lambda x: 0 * x + 0.1, 0).message
    assert "Is it trained?" not in grade(task, lambda x: 0 * x + 1, 0).message


# ------------------------------------------------------------------ what a call changes


class Mean:
    """The mean so far, in one tensor that is used again and again."""

    def __init__(self, start):
        self.sum, self.n = start, 0
        self.out = torch.zeros(2)

    def step(self, v):
        return self.sum.add(v)


class HandsOutItsOwn(Mean):
    def step(self, v):
        self.out += v
        return self.out


class KeepsTheFirst(Mean):
    def step(self, v):
        if self.n == 0:
            self.sum = v
        else:
            self.sum += v
        self.n += 1
        return self.sum.clone()


class AddsToInput(Mean):
    def step(self, v):
        v += 1
        return v.clone()


class AddsToItsOwn(Mean):
    def step(self, v):
        self.add(self.out, v)
        return self.out.clone()

    def add(self, total, v):
        total += v


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Mean, ""),
        (AddsToItsOwn, ""),
        (HandsOutItsOwn, "a result that was returned before was changed in place"),
        (KeepsTheFirst, "`v` was changed in place"),
        (AddsToInput, "`v` was changed in place"),
    ],
)
def test_a_watched_class_tells_what_it_changes(answer, said):
    guard = MutationGuard()
    watched = guard.around(answer)
    one = watched(torch.zeros(2))
    for _ in range(3):
        one.step(torch.ones(2))
    assert (mutation(guard.seen) if guard.seen else "") == said
    assert issubclass(watched, answer) and watched.__name__ == answer.__name__


def test_watched_module_behaves_like_the_original():
    class Double(torch.nn.Module):
        def forward(self, x, scale=2):
            x.mul_(scale)
            return x.clone()

    guard = MutationGuard()
    module = guard.around(Double)()
    assert isinstance(module, torch.nn.Module)
    assert torch.equal(module(torch.ones(2), scale=3), torch.full((2,), 3.0))
    assert mutation(guard.seen) == "`x` was changed in place"


def test_what_is_changed_behind_a_drive_is_told():
    def harness(answer, x):
        return [answer(x.copy()) for _ in range(2)]

    def in_place(x):
        x *= 2
        return x

    task = example(name="driven", harness=harness, mistakes=())
    assert grade(task, lambda x: 2 * x, 0).points == 5
    verdict = grade(task, in_place, 0)
    assert verdict.points == 2.5
    assert "The result is right, but `x` was changed in place: work on a copy." in verdict.message


def test_mistake_is_named_beside_a_change_in_place():
    def three_times_in_place(x):
        x *= 3
        return x

    tripled = Mistake(lambda x: 3 * x, "It was tripled.")
    verdict = grade(sample_tasks.example(mistakes=(tripled,)), three_times_in_place, 0)
    assert "It was tripled." in verdict.message
    assert "Also, `x` was changed in place: work on a copy." in verdict.message


def test_no_cause_is_sought_where_all_is_none():
    nothing = Mistake(lambda x: None, "The return is missing.")
    verdict = grade(sample_tasks.example(mistakes=(nothing,)), lambda x: None, 0)
    assert verdict.diagnosis is None
    assert "doubled returns None." in verdict.message


@pytest.mark.parametrize(
    ("outcome", "little"),
    [
        (Outcome(Status.RAISED, error="KeyError: 3"), True),
        (Outcome(value=np.full((2, 2), np.nan)), True),
        (Outcome(value=[0, {"a": np.zeros(3)}, (False,)]), True),
        (Outcome(value={"a": np.array([0.0, 1.0])}), False),
        (Outcome(value=[np.nan, 1.0]), False),
        (Outcome(value=[]), False),
        (Outcome(value="0"), False),
    ],
)
def test_errors_nan_and_zeros_say_little(outcome, little):
    assert says_little(outcome) == little


def test_zeros_of_a_mistake_are_a_frequent_cause():
    zeros = Mistake(lambda x: 0 * x, "Multiplied by 0.")
    task = sample_tasks.example(
        cases=lambda seed: [Case((np.array([1.0, 2.0]),))], mistakes=(zeros,)
    )
    verdict = grade(task, lambda x: np.zeros(2), 0)
    assert verdict.certainty is Certainty.SYMPTOM_ONLY and verdict.mistake is None
    assert "Possible cause: Multiplied by 0." in verdict.message


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: (x - 1, 2 * x + 5), "Probable cause: One less."),
        (lambda x: (x, 3 * x), "Probable cause: Tripled."),
        (lambda x: (x - 2, 2 * x + 1), ""),  # two known mistakes give this
    ],
)
def test_one_of_several_results_shows_a_mistake(answer, said):
    task = sample_tasks.example(
        reference=lambda x: (x, 2 * x),
        results=("the number", "the double"),
        mistakes=(
            Mistake(lambda x: (x - 1, 2 * x - 2), "One less."),
            Mistake(lambda x: (x + 1, 3 * x), "Tripled."),
            Mistake(lambda x: (x - 2, 2 * x), "Two less."),
            Mistake(lambda x: (x - 2, 2 * x - 4), "Two less before."),
        ),
    )
    message = grade(task, answer, 0).message
    assert said in message and (said or "cause:" not in message)
