"""Exercises that say which mistake was made.

task      what a task is: cases, reference, properties, known mistakes
plain     the plain data that answers are made of
judge     running an answer on cases, and the verdict on what came out
check     check("name") and progress() for notebooks
generate  student notebooks from the solutions
tasks     one short file a task
"""

from grading.check import check, progress

__all__ = ["check", "progress"]
