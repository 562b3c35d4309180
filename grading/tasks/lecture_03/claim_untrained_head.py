"""A control for what untrained heads seem to prefer."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="What untrained weights show",
    outcome="write one head as a module, check it against other implementations, and "
    "read what a trained one has learned",
    hints=(
        "What information about the word *and* does the head receive? Print `chef_vectors()` "
        "next to `CHEF_TOKENS`.",
        "Which single change would give *meal* exactly what *and* has now?",
    ),
)

# %% the cell
claim_untrained_head = ...  # four to six sentences
# BEGIN SOLUTION
claim_untrained_head = (
    "A head with random weights sees three numbers for each word and "
    "knows nothing about language. Its scores are dot products with a "
    "random direction, and a vector at the edge of the cloud is the "
    "largest one in many directions. That of *and* is such a vector: "
    "its last number is the largest of all, its second the smallest. "
    "As a control I would swap the vectors of *and* and *meal*, and "
    "keep seeds, sentence and positions fixed. If the word matters, "
    "*and* still wins; if the vector matters, *meal* gets its "
    "proportion. It must be the vector, and we know that without a "
    "run: nothing else of a word enters a head, so the two "
    "proportions are swapped exactly. To say that a head prefers a "
    "kind of word, it must be trained, and we must see the same for "
    "several words of this kind, in other sentences and with more "
    "than one seed, and not for other words with similar vectors."
)
# END SOLUTION
# %%

task.mistake(
    "It does not say that random weights know nothing but the numbers of a vector.",
    "Conjunctions join things, so attention looks at them.",
)
task.mistake(
    "It gives no way in which one word can attract others by chance: where its vector lies.",
    "It is chance.",
)
task.mistake(
    "Its control changes more than one thing, such as the sentence and the seeds.",
    "I would take another sentence with other seeds and count again.",
)
task.mistake(
    "It does not say which result it expects if the word is the cause, and which if the vector is.",
    "I would exchange the vectors and look.",
)
task.mistake(
    "It asks for more seeds only. A thousand are enough to see that *and* wins; they do not "
    "say why.",
    "A thousand seeds are too few, I would take a million.",
)
