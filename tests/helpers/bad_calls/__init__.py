"""What the modules of `helpers` refuse, and in which words: a table for each module.

A table holds `CASES`: for each public function or class of its module, bad calls and how the
message of each begins. It names the argument, what came and what is needed. `CANNOT_FAIL` says
why a function has no bad call. `test_bad_calls.py` makes every call.
"""
