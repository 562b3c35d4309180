"""What BLEU and chrF say, and do not say, of the errors of one's own translator."""

from grading.author import mistake, plan, task

# %% the cell
what_the_scores_hid = ...  # four to six sentences
# BEGIN ANSWER
what_the_scores_hid = (
    "For “the girl washed my old name” the right object stands there, "
    "but the verb has the ending of a thing, *toḷeyitu*: who reads it "
    "looks for something that washed, and not for a girl. For “i washed "
    "my new book” the verb is of now, and of a man: a wrong time and a "
    "wrong person in one word. BLEU counts runs of words and chrF runs "
    "of letters that the reference has, too; all words but one are "
    "there, and of that one the stem, so the sentences that are wrong "
    "still get about 50 by BLEU and 80 by chrF, and all together 83 and "
    "93. Exact match says 0.68, but it fails an ending like nonsense, "
    "and where a thing can be said in two ways it fails one of them. I "
    "would count, for each sentence, whether the doer, the time, the "
    "deed and what it was done to are right: of the four errors shown "
    "three have a wrong doer, two a wrong time, one another deed, and "
    "one makes the second dog an old one."
)
# END ANSWER
# %%

mistake(
    "It quotes no figure of its own table, or none of an error.",
    "BLEU and chrF are only rough measures.",
)
mistake(
    "It counts errors without saying what they do to a reader: a wrong ending may name another "
    "person or another time.",
    "Most words are right, so the translations are nearly right.",
)
mistake(
    "It does not say what the two scores count: runs of words, and runs of letters.",
    "chrF is larger than BLEU, so it is the kinder one.",
)
mistake(
    "It takes exact match for the fair one. That fails every sentence for a single ending, and "
    "where a thing can be said in two ways it fails one of them.",
    "Exact match is the only honest score.",
)
mistake(
    "What it would count is a score again, and no error that matters.",
    "I would report all three scores.",
)

TASK = task(
    plan("written", points=5, minutes=13),
    section="What a score hides",
    outcome="choose between exact match, BLEU and chrF, and say what each of them hides",
    hints=(
        "Put a wrong translation and its reference side by side. Which words differ, and who would "
        "notice what?",
        "In how many letters do two endings of one verb differ?",
    ),
)
