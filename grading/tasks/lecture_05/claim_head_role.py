"""Two readings of a head whose map is clear and whose absence costs nothing."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=6,
    points=5,
    minutes=13,
    section="Ablating a head",
    outcome="say what a trained head does, by its map and by ablation, and what n heads cost",
    hints=(
        "Could another head do the same job?",
        "A head's output passes through `W_out` and then to later layers. What if these "
        "layers ignore the output?",
    ),
)

# %% the cell
claim_head_role = ...  # six to eight sentences
# BEGIN SOLUTION
claim_head_role = (
    "The map shows where the head attends, but not whether anything "
    "uses its output; an ablation shows what the other heads cannot "
    "do without it, but not what it does when they are there. So "
    "neither classmate's conclusion follows. One explanation is that "
    "another head does the same and compensates. The other is that "
    "the output of head 2 is not used, because the output projection "
    "hardly passes it on or later layers ignore it. I would ablate "
    "head 2 together with each other head, and each other head alone. "
    "If one of them does the same job, ablating the pair costs much "
    "more than the two separate ablations together; if nothing uses "
    "head 2, the pair costs no more than the other head alone."
)
# END SOLUTION
# %%

task.mistake(
    "It agrees with one of the two. Neither a map nor a single ablation decides.",
    "The head does nothing, since the accuracy stays.",
)
task.mistake(
    "It does not say what an ablation leaves open: another head may compensate.",
    "Switching off shows what a head does.",
)
task.mistake(
    "It gives one explanation only.",
    "Another head looks at the same word.",
)
task.mistake(
    "Its measurement is the same under both explanations.",
    "I would switch the head off with other sentences, too.",
)
task.mistake(
    "It does not say which result each explanation predicts.",
    "I would switch off two heads at once.",
)
