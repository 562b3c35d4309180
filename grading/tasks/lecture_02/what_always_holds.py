"""Choose: what holds whatever the vectors are."""

from grading.task import Mistake, Task

TASK = Task(
    name="what_always_holds",
    lecture=2,
    kind="choose",
    points=6,
    difficulty=2,
    minutes=6,
    outcome="name what always holds for this kind of attention, and what it costs for T words",
    reference={"b", "c", "e"},
    mistakes=(
        Mistake(
            "a",
            "That would be invariance: the same rows in the same places. Here the rows move with "
            "their words, so word 0 of the reordered sentence gets another row than before.",
        ),
        Mistake(
            "b",
            "This is permutation equivariance: reordered words give the same context vectors, "
            "reordered in the same way.",
        ),
        Mistake(
            "c",
            "No output depends on another output. That is why all rows can be computed at the "
            "same time, or in any order.",
        ),
        Mistake(
            "d",
            "The scores are symmetric. Softmax then divides each row by a sum of its own, so what "
            "i gives to j and what j gives to i differ.",
        ),
        Mistake(
            "e",
            "There is a score for each pair, T² of them. Twice the words give 2² = 4 times the "
            "scores.",
        ),
        Mistake(
            "f",
            "Distance plays no part. Only the dot product counts, and so a distant word that fits "
            "gets more than a near one that does not.",
        ),
        Mistake(
            "g",
            "No weight is negative and they sum to 1, so in each column the context vector stays "
            "between the smallest and the largest number of the words. It can be shorter than its "
            "word.",
        ),
    ),
    hints=(
        "Try a statement that you doubt on random vectors, with your `context_vectors`. One "
        "counterexample is enough to drop it.",
    ),
)
