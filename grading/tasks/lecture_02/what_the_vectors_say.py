"""Choose: what the two examples with hand-made vectors show."""

from grading.task import Mistake, Task

TASK = Task(
    name="what_the_vectors_say",
    lecture=2,
    kind="choose",
    points=5,
    difficulty=2,
    minutes=6,
    outcome="predict which way a word's vector moves in a sentence, and say what a map of "
    "untrained vectors does not show",
    reference={"a", "d", "f"},
    mistakes=(
        Mistake(
            "a",
            "All entries of that map lie between 0.06 and 0.12. A recipe that is nearly even gives "
            "nearly the plain average, for every word.",
        ),
        Mistake(
            "b",
            "Nobody trained these numbers, so no weight in the map knows what a word refers to. "
            "“It” looks at “chef” since that vector is long and points almost the same way.",
        ),
        Mistake(
            "c",
            "All scores of the row would be divided by the same number. That brings the weights "
            "closer together and leaves their order as it is: “meal” stays fourth.",
        ),
        Mistake(
            "d",
            "All numbers in the table are positive, so every word's score with “meal” is positive "
            "and doubles. A longer vector is louder for everyone, not only for “it”.",
        ),
        Mistake(
            "e",
            "Its scores are all 0, but softmax of zeros is the even share. A word that looks for "
            "nothing collects the plain average.",
        ),
        Mistake(
            "f",
            "What is collected is the whole vector of “voice”, also its music. The score decides "
            "how much is taken, not which part of it.",
        ),
    ),
    hints=(
        "Each of these was run in the lecture, in one of the sections *One word, three meanings*, "
        "*Twelve words and a claim* and *All words ask at once*.",
    ),
)
