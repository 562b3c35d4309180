"""Stands in for `grading` inside the sandbox: notebooks import `check`, and no task is there."""


def check(name: str, answer: object = None) -> None:
    """Do nothing: the verdict is given outside."""


def keep_back(*names: str) -> None:
    """Do nothing: nothing of what is printed here is shown."""


def progress(lecture: int) -> None:
    """Do nothing: the verdict is given outside."""
