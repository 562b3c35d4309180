"""The verdict on an answer, in typed fields."""

from __future__ import annotations

from dataclasses import dataclass

from grading.feedback.diagnosis import Certainty, Diagnosis
from grading.feedback.findings import Finding
from grading.feedback.partial_credit import Earned
from grading.feedback.training_facts import Seen
from grading.runner.outcome import Outcome, Status


@dataclass(frozen=True)
class Verdict:
    """What is right in an answer and what is not, and the text that says so.

    Args:
        points: what the answer earns.
        status: how the run ended on the case that the student is told about.
        case: the number of that case, from 0; None if every case is right.
        finding: what is wrong there.
        outcome: what the answer gave there.
        diagnosis: the known mistake that fits, and how well.
        two_mistakes: sentences of two known mistakes that together explain the answer; one, if
            several pairs do that and have one in common.
        seen: what was seen of a training that explains its low score.
        earned: why an answer that is not right earns a part of the points.
        score: the lowest score of a training that reached its goal.
        needs_review: whether a person has to read the answer.
        message, part: the text for the student: what is wrong, and why it is a part of the points.
    """

    points: float
    status: Status = Status.OK
    case: int | None = None
    finding: Finding | None = None
    outcome: Outcome | None = None
    diagnosis: Diagnosis | None = None
    two_mistakes: tuple[str, ...] = ()
    seen: Seen | None = None
    earned: Earned | None = None
    score: float | None = None
    needs_review: bool = False
    message: str = ""
    part: str = ""

    @property
    def mistake(self) -> int | None:
        """Which known mistake the results show. An error alone can have many causes."""
        sure = self.diagnosis and self.diagnosis.certainty is not Certainty.SYMPTOM_ONLY
        return self.diagnosis.mistake if sure else None

    @property
    def certainty(self) -> Certainty | None:
        """How well the known mistake fits."""
        return self.diagnosis.certainty if self.diagnosis else None

    @property
    def stdout(self) -> str:
        """What the answer printed on the case that the student is told about."""
        return self.outcome.stdout if self.outcome else ""
