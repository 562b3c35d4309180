"""A summary with a high score and a wrong fact, and what one should count instead."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="A high score and a wrong fact",
    outcome="compute {term}`ROUGE` by hand and with a library, and say what it cannot see",
    hints=(
        "How many words of a summary may be wrong before its ROUGE-L falls below 0.85?",
        "Which words could you add, or exchange, without a change in the set of facts?",
    ),
)

# %% the cell
claim_rouge = ...  # four to six sentences
# BEGIN SOLUTION
claim_rouge = (
    "ROUGE-L ranks the summary with the wrong day second, at 0.88, "
    "and the correct one in another word order last, at 0.42; a "
    "reader would take the two correct ones and reject the wrong day. "
    "The score counts words in the same order: a wrong day is one "
    "word of eight, and seven of eight remain, while another order "
    "breaks the subsequence although nothing false is said. My own "
    "summary is “gwendolyn never opened a library in oslo on friday”: "
    "it has a ROUGE-L of 0.94 and the counts [5, 0, 0, 0], because it "
    "names all five facts and *never* is not a fact word; a bag of "
    "facts does not represent what is said about them. I would count "
    "facts as triples of who did what and where, kept and "
    "contradicted, and flag words such as *not* and *never*. For a "
    "thousand summaries a program counts these, and a person reads "
    "fifty random ones and all that were flagged, without knowing "
    "which system wrote them."
)
# END SOLUTION
# %%

task.mistake(
    "It gives no false summary of its own that the counter accepts, or the counter does find "
    "something in it.",
    "ROUGE can be high although a fact is wrong.",
)
task.mistake(
    "It says that ROUGE is useless. ROUGE measures the shared words, and that is informative.",
    "ROUGE says nothing about summaries.",
)
task.mistake(
    "It does not say why a wrong day costs so little: it is one word of eight, like any other.",
    "ROUGE does not understand days.",
)
task.mistake(
    "It trusts the counter in the same way as ROUGE. A set of facts does not represent who did "
    "what, nor a *not*.",
    "With the facts counted, nothing can go wrong any more.",
)
task.mistake(
    "Its check needs a person for every text, or none at all.",
    "Somebody should read all summaries.",
)
