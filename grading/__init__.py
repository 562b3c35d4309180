"""Exercises that say which mistake was made.

task      what a task is: cases, reference, properties, known mistakes
author    what a task's file is written with
sentences what is said of mistakes in several tasks
plain     the plain data that answers are made of
tensors   what is a tensor, where torch may not be imported
parts     what a part of an answer is worth
judge     running an answer on cases, and the verdict on what came out
evidence  which known mistake a wrong answer shows, and how sure that is
watch     what a call changes that is not its own
stop      at which line of a student's code an error arose
check     check("name"), progress() and keep_back() for notebooks
workload  how long a sheet takes
generate  student notebooks from the solutions
tasks     one short file a task
"""

from grading.check import check, keep_back, progress

__all__ = ["check", "keep_back", "progress"]
