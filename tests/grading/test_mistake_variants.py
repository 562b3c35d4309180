"""How checks recognise wrong answers that are not in the catalogue; see `mistake_variants.py`.

The shares are printed at the end of a test run.
"""

import statistics
from collections import Counter

import pytest

from grading.author import cell_of
from grading.feedback import messages
from grading.feedback.baseline import Catalogue, same
from grading.feedback.diagnosis import Certainty, says_little, shown_mistake
from grading.feedback.judge import grade
from grading.generate import TASKS as FOLDER
from grading.runner.run import run
from grading.task import CODE, all_tasks
from tests.grading.mistake_variants import Variant, changed, of_outcomes, sheet_of, spelled

pytestmark = pytest.mark.full  # rates over a whole catalogue; test_tasks.py asks each task alone
LECTURES = sorted({task.lecture for task in all_tasks().values() if task.kind in CODE})
RIGHT_AT_LEAST = 0.8
WRONG_AT_MOST = 0.005
UNSEEN_NAMED_AT_MOST = 0.15
KEPT_AT_MOST = 0.1


def tasks_of(lecture):
    return [t for t in all_tasks().values() if t.lecture == lecture and t.kind in CODE]


def sheets_of(lecture):
    return [sheet_of(task) for task in tasks_of(lecture)]


def in_other_words(sheet):
    """The known mistakes of a task in another spelling, run anew."""
    for mistake in sheet.task.mistakes:
        answer = spelled(mistake.answer)
        if answer is not None:
            outcomes = run(sheet.task, answer, sheet.cases)
            yield Variant("another spelling", tuple(outcomes), frozenset({mistake.why}))


@pytest.mark.parametrize("lecture", LECTURES)
def test_variants_of_mistakes_are_rejected_and_named(lecture, record_property):
    """At least 80 % get the right name, at most 0.5 % a wrong one."""
    said, faults = Counter(), []
    for sheet in sheets_of(lecture):
        variants = [v for k in range(len(sheet.known)) for v in of_outcomes(sheet, k)]
        for variant in [*variants, *in_other_words(sheet)]:
            verdict = sheet.verdict(variant.outcomes)
            others = {m.why for m in sheet.task.mistakes} - variant.true
            if verdict.points == sheet.task.points:
                faults.append((sheet.task.name, variant.rule, "passes"))
            elif any(why in verdict.message for why in variant.true):
                said["right"] += 1
            elif any(f"\n{how} {why}" in verdict.message for how in SURE for why in others):
                said["wrong"] += 1
                faults.append((sheet.task.name, variant.rule, verdict.message))
            else:
                said["none"] += 1
    tried = said.total()
    record_property("variants", (lecture, tried, said["right"], said["wrong"]))
    assert said["right"] >= RIGHT_AT_LEAST * tried, (said, faults)
    assert said["wrong"] <= WRONG_AT_MOST * tried, (said, faults)
    assert not [fault for fault in faults if fault[2] == "passes"]


SURE = [messages.SAID[how] for how in (Certainty.ALL_AGREE, Certainty.MOST_AGREE)]


@pytest.mark.parametrize("lecture", LECTURES)
def test_unlisted_mistake_is_seldom_misnamed(lecture, record_property):
    tried, named = 0, []
    for sheet in sheets_of(lecture):
        task = sheet.task

        def equal(one, other, task=task):
            return same(task, one, other)

        sentences = [mistake.why for mistake in task.mistakes]
        all_known = Catalogue.of(sheet.right, sheet.known, sentences, equal)
        for which, outcomes in enumerate(sheet.known):
            others = [k for k, said in enumerate(sentences) if said != sentences[which]]
            without = Catalogue(
                sheet.right,
                [sheet.known[k] for k in others],
                [sentences[k] for k in others],
                all_known.n_outcomes,
            )
            found = shown_mistake(outcomes, without, equal, says_little)
            tried += 1
            if found:
                named.append((task.name, sentences[which], without.sentences[found.mistake]))
    record_property("unseen", (lecture, tried, len(named)))
    assert len(named) <= UNSEEN_NAMED_AT_MOST * tried, named


@pytest.mark.parametrize("lecture", LECTURES)
def test_how_much_the_known_mistakes_keep_is_told(lecture, record_property):
    """A task that is about edges says so, or whoever misses its point keeps nearly all of them."""
    kept = []
    for sheet in sheets_of(lecture):
        points = sheet.task.points
        shares = [sheet.verdict(outcomes).points / points for outcomes in sheet.known]
        assert statistics.fmean(shares) <= 0.4, (sheet.task.name, shares)
        kept += shares
    assert statistics.fmean(kept) <= KEPT_AT_MOST
    record_property("kept", (len(kept), statistics.fmean(kept)))


@pytest.mark.parametrize("lecture", LECTURES)
def test_public_seed_rejects_what_another_rejects(lecture, record_property):
    """No verdict depends on the seed: what seed 1 finds wrong, seed 0 finds wrong."""
    tried, passed = 0, []
    for sheet in sheets_of(lecture):
        task = sheet.task
        path = FOLDER / f"lecture_{task.lecture:02d}" / f"{task.name}.py"
        space = vars(__import__(f"grading.tasks.{path.parent.name}.{task.name}", fromlist=["x"]))
        for number in range(0, 60, 15):
            answer = changed(cell_of(path), task.name, space, number)
            if answer is None:
                break
            tried += 1
            public = sheet.verdict(run(task, answer, sheet.cases))
            if public.points == task.points > grade(task, answer, 1).points:
                passed.append((task.name, number))
    record_property("changed answers", (lecture, tried, len(passed)))
    assert passed == []
