"""Exercises that say which mistake was made.

task      what a task is: cases, reference, properties, known mistakes
author    what a task's file is written with
sentences what is said of mistakes in several tasks
plain     the plain data that answers are made of
judge     running an answer on cases, and the verdict on what came out
evidence  which known mistake a wrong answer shows, and how sure that is
watch     what a call changes that is not its own
check     check("name") and progress() for notebooks
generate  student notebooks from the solutions
tasks     one short file a task
"""

from grading.check import check, progress

__all__ = ["check", "progress"]
