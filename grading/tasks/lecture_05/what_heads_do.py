"""Choose: what heads are for, what they cost, and what a map shows."""

from grading.task import Mistake, Task

TASK = Task(
    name="what_heads_do",
    lecture=5,
    kind="choose",
    points=5,
    difficulty=2,
    minutes=6,
    outcome="train heads on a task, and say what each one does by its map and by switching it off",
    reference={"b", "d", "f"},
    mistakes=(
        Mistake(
            "a",
            "The weights of a row sum to 1. One head can give half to each, and then it hands over "
            "their average.",
        ),
        Mistake(
            "b",
            "Eight narrow matrices, row on row, are as many numbers as one wide one. What grows is "
            "the memory for the weights.",
        ),
        Mistake(
            "c",
            "A map shows where a head looks. What it brings may be ignored afterwards. To know, "
            "switch the head off and measure.",
        ),
        Mistake(
            "d",
            "Its scores depend on the table W_Q W_Kᵀ, and through a width of 8 no table of more "
            "than 8 independent rows can pass.",
        ),
        Mistake(
            "e",
            "In some seeds of the stored table both heads looked at the flag, and nobody at the "
            "place before. Having two heads is not the same as using them.",
        ),
        Mistake(
            "f",
            "A product with joined columns is a sum: each head adds its own piece, and the others "
            "do not notice when it is taken away.",
        ),
        Mistake(
            "g",
            "The mean mixes again what the heads took apart. Ask for `average_attn_weights=False`.",
        ),
    ),
    hints=(
        "The sections *What each head does* and *What heads cost* have measured most of these.",
    ),
)
