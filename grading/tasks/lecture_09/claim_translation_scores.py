"""What BLEU and chrF say, and do not say, of the errors of one's own translator."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="What a score hides",
    outcome="score an {term}`alignment` and a translation, and say what exact match, BLEU and "
    "chrF each hide",
    hints=(
        "Put a wrong translation and its reference side by side. Which words differ, and what "
        "would a reader notice?",
        "In how many letters do two endings of one verb differ?",
    ),
)

# %% the cell
claim_translation_scores = ...  # four to six sentences
# BEGIN SOLUTION
claim_translation_scores = (
    "In “i washed my new book” the verb says *washes*: nothing else "
    "in the sentence says when it was, so a reader believes that it "
    "is now. Its ending also says *he*, and that of “the girl washed "
    "my old name” says *it*; but the subject is there, so the reader "
    "recognizes a slip and knows who it was. BLEU counts n-grams of "
    "words and chrF n-grams of letters that the reference has, too; "
    "in these two sentences all words except one are right, and of "
    "that one the stem. So the wrong sentences still get about 50 by "
    "BLEU and 80 by chrF, and all sentences together 83 and 93. Exact "
    "match is 0.68, but it rejects a wrong ending just like nonsense, "
    "and if there are two correct ways to say something it rejects "
    "one of them. I would count, for each sentence, whether the time, "
    "the action and its object are right, and separately whether the "
    "verb agrees: of the four errors shown two have a wrong time, one "
    "another action, one an old dog instead of a dog, and three a "
    "verb that does not agree."
)
# END SOLUTION
# %%

task.mistake(
    "It quotes no figure of its own table, or none of an error.",
    "BLEU and chrF are only rough measures.",
)
task.mistake(
    "It counts errors without saying what they do to a reader: a wrong ending may name another "
    "time, or may be seen to be a slip.",
    "Most words are right, so the translations are nearly right.",
)
task.mistake(
    "It does not say what the two scores count: n-grams of words, and n-grams of letters.",
    "chrF is larger than BLEU, so it is the kinder one.",
)
task.mistake(
    "It calls exact match the fair score. But exact match rejects every sentence for a single "
    "ending, and if there are two correct translations it rejects one of them.",
    "Exact match is the only honest score.",
)
task.mistake(
    "What it would count is a score again, and no error that matters.",
    "I would report all three scores.",
)
