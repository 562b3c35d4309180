"""From what an answer gave to what a student reads, in a straight line.

findings        compare: what is wrong on each case
baseline        what the model answer, the known mistakes and pairs of them give
diagnosis       diagnose: which known mistake a wrong answer shows, and how sure that is
partial_credit  what a part of an answer is worth
verdict         the verdict: points, case, mistake, certainty, in typed fields
messages        render: every sentence that a student reads

Nothing is decided by the words of a sentence: only `messages` knows them.
"""
