"""Where a mistake is that no known mistake explains: only for `check` in a notebook.

edits   small changes of a student's own code, each of which undoes one kind of slip
search  locate: the line in which one of them makes every case right

The search runs variants of a student's code, so the class grader does not use it: where it gives
its verdict, no such code runs.
"""
