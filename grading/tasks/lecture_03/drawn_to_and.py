"""A control for what untrained heads seem to prefer."""

from grading.author import mistake, plan, task

# %% the cell
drawn_to_and = ...  # four to six sentences
# BEGIN ANSWER
drawn_to_and = (
    "A head whose weights were drawn at random knows three numbers of "
    "each word and nothing of language. The scores are products with a "
    "direction that is random, and a vector that lies at the edge of the "
    "cloud is the largest one in many directions, as that of *and* does: "
    "its last number is the largest of all, its second the smallest. The "
    "control: exchange the vectors of *and* and *meal*, and keep seeds, "
    "sentence and places. If it is the word, *and* stays in front; if it "
    "is the vector, *meal* gets its share. It must be the vector, and "
    "one can know it without a run: nothing else of a word enters a head, "
    "so the two shares are exchanged to the digit. To say that a head "
    "prefers a kind of words, it must be trained, the same must be seen "
    "for several words of this kind, in other sentences and for more "
    "than one seed, and not for other words whose vectors are alike."
)
# END ANSWER
# %%

mistake(
    "It does not say that random weights know nothing but the numbers of a vector.",
    "Conjunctions join things, so attention looks at them.",
)
mistake(
    "It gives no way in which one word can attract others by chance: where its vector lies.",
    "It is chance.",
)
mistake(
    "Its control changes more than one thing, such as the sentence and the seeds.",
    "I would take another sentence with other seeds and count again.",
)
mistake(
    "It does not say what comes out in either case.",
    "I would exchange the vectors and look.",
)
mistake(
    "It asks for more seeds only. A thousand are enough to see that *and* wins; they do not "
    "say why.",
    "A thousand seeds are too few, I would take a million.",
)

TASK = task(
    plan("written", points=5, minutes=13),
    section="What untrained weights show, and what training changes",
    outcome=(
        "write one head as a module, check it against others, and read what a trained "
        "one has learned"
    ),
    hints=(
        "What does the head get of the word *and*?",
        "How could *meal* be given what *and* has?",
    ),
)
