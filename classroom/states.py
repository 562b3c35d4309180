"""States of files, sheets and points: code and queries decide by them, and never by sentences."""

import enum


class State(enum.StrEnum):
    """What becomes of a file, and so of the sheet that it was handed in for."""

    COUNTS = "counts"
    SUPERSEDED = "superseded"
    """Another file of the student counts."""
    REFUSED = "refused"
    """It cannot be graded."""
    OTHER_SHEET = "other sheet"
    """It cannot be graded, since it is another sheet than the one that is graded."""
    GRADER_FAILED = "grader failed"
    """The grader itself failed on it."""
    MISSING = "missing"
    """Of a sheet only: nothing was handed in."""


class By(enum.StrEnum):
    """Who gave the points of a task."""

    GRADER = "grader"
    WAITING = "waiting"
    """Nobody yet: a person has to read the answer."""
    PERSON = "person"
