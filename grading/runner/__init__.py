"""Running an answer on the cases of a task: this package is all of `grading` in the sandbox.

run             one answer on its cases, with all that it must not do prevented or undone
outcome         what one run gave: a status and plain data, which may cross the sandbox's border
compare         plain data, and the difference between two values
mutation_guard  what a call changes in place that is not its own
error_location  the line of the student's code at which an error arose
tensors         what is a tensor, where torch may not be imported

Nothing in here knows a right answer, and nothing in here writes a sentence.
"""
