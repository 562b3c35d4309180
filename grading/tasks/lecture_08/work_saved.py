"""Count what is computed with a cache and without."""

from grading.task import Mistake, Task

TASK = Task(
    name="work_saved",
    lecture=8,
    kind="predict",
    points=6,
    difficulty=2,
    minutes=8,
    outcome="write with a {term}`key-value cache`, show that the words are the same, and measure "
    "what it saves",
    reference=[60, 14, 730, 150, 3_584],
    mistakes=(
        Mistake(
            [75, 15, 730, 150, 3_584],
            "The first two are too large. After which word does the model stop, and has that word "
            "been read?",
        ),
        Mistake(
            [60, 15, 730, 150, 3_584],
            "The second is too large by one. The last word is drawn, and then nobody reads it.",
        ),
        Mistake(
            [60, 5, 730, 150, 3_584],
            "The second leaves out the beginning. Its words have to be read as well, once.",
        ),
        Mistake(
            [60, 14, 730, 50, 3_584],
            "The fourth leaves out the scores of the first call, in which ten words are read.",
        ),
        Mistake(
            [60, 14, 730, 196, 3_584],
            "The fourth is a whole table of 14 × 14. With a cache the old words ask nothing again: "
            "each later call has one query.",
        ),
        Mistake(
            [60, 14, 730, 105, 3_584],
            "The fourth counts what the mask leaves. In the first call all of the table is "
            "computed here, and the mask comes after.",
        ),
        Mistake(
            [60, 14, 730, 150, 1_792],
            "The last one is half of it. Which *two* things are kept of each word?",
        ),
        Mistake(
            [60, 14, 730, 150, 3_840],
            "The last one counts 15 words. Keys and values are made of words that were read.",
        ),
        Mistake(
            [60, 14, 730, 150, 896],
            "The last one leaves out that each layer has several heads, with keys and values of "
            "its own each.",
        ),
    ),
    hints=(
        "Write down the five calls, one in a line: how many words does each read, and how many "
        "are there to be looked at?",
        "The scores of one call are queries × keys. With a cache, the second call has one query.",
    ),
)
