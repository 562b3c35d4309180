"""What has to wait for what."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=7,
    minutes=13,
    section="Sequential steps and path lengths",
    outcome="compare recurrence, attention and convolution by path length and by how many steps "
    "have to wait for one another",
    hints=(
        "Draw a grid: a row for each layer, a column for each word, an arrow to each step from "
        "what it needs. What is the longest path?",
        "For the last question, write both counts down and divide one by the other. T cancels "
        "once, d twice.",
    ),
)

# %% the cell
sequential_steps = ...  # a list of four whole numbers
# BEGIN SOLUTION
sequential_steps = [102, 300, 3, 512]
# END SOLUTION
# %%

task.mistake(
    "Three layers from the left: the second layer need not wait until the first has read "
    "everything. It can read the first word as soon as the first layer has its state there. Draw "
    "a grid of layers and words.",
    [300, 300, 3, 512],
)
task.mistake(
    "Three layers from the left: at the last word the layers still have to follow one after the "
    "other.",
    [100, 300, 3, 512],
)
task.mistake(
    "Three layers from the left: 100 steps bring the first layer to the last word. How many "
    "layers have not read that word yet?",
    [103, 300, 3, 512],
)
task.mistake(
    "Bidirectional layers: to begin at the first word, the second layer needs both states there, "
    "and the one from the right comes last. No layer can begin before the one below it has "
    "finished.",
    [102, 102, 3, 512],
)
task.mistake(
    "Bidirectional layers: the two directions of a layer do not need each other, so they read at "
    "the same time.",
    [102, 600, 3, 512],
)
task.mistake(
    "Bidirectional layers: the two directions of a layer read at the same time. But to begin at "
    "the first word, the second layer needs the state from the right there, and it comes last.",
    [102, 204, 3, 512],
)
task.mistake(
    "Bidirectional layers: here the layers follow each other like a wave, as in the first "
    "question. But draw an arrow to the first word of the second layer from the state that the "
    "network from the *right* has there. When is that state computed?",
    *([102, wave, 3, 512] for wave in (103, 104, 105, 106, 202, 203)),
)
task.mistake(
    "Attention: each layer of attention uses the output of the layer below, so the layers follow "
    "one another.",
    [102, 300, 1, 512],
)
task.mistake(
    "Attention: inside a layer no word waits for the result of another word. All 100 are one step.",
    [102, 300, 300, 512],
)
task.mistake(
    "Attention: inside a layer no word waits for the result of another word, so a layer of "
    "attention is one step.",
    [102, 300, 102, 512],
)
task.mistake(
    "The multiplications: you left out attention's projections, 4Td². They alone are twice the "
    "work of the recurrent network.",
    [102, 300, 3, 640],
)
task.mistake(
    "The multiplications: that is T / d. With d = 64, multiply it by 64.", [102, 300, 3, 8]
)
task.mistake(
    "The multiplications: 2T²d is the work of scores and weighted sums together, and you counted "
    "half of it.",
    [102, 300, 3, 1024],
)
task.mistake(
    "The multiplications: attention's projections, 4Td², are twice the work of the recurrent "
    "network, and you counted half of that.",
    [102, 300, 3, 576],
)
task.mistake(
    "The multiplications: 2T²d is the work of scores and weighted sums together, and you counted "
    "it twice.",
    [102, 300, 3, 256],
)
task.mistake(
    "There are two slips. Bidirectional layers: the two directions of a layer do not wait for each "
    "other. Attention: each layer waits for the one below it.",
    [102, 600, 1, 512],
)
