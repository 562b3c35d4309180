"""Exercises that say which mistake was made.

check     check("name"), progress() and keep_back() for notebooks
task      what a task is: cases, model answer, diagnostics, known mistakes
author    what a task's file is written with
tasks     one short file a task, in a package for each lecture
runner    runs an answer on cases: outcomes, comparison, mutation guard, location of errors
feedback  from outcomes to a verdict: findings, diagnosis, partial credit, messages
repair    in which line one small change would make an answer right; only in a notebook
workload  how long a sheet takes
generate  student notebooks from the solutions
"""

from grading.check import check, keep_back, progress

__all__ = ["check", "keep_back", "progress"]
