"""What a learned table trains, and where it ends."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=5,
    minutes=8,
    section="Learned position embeddings",
    outcome="choose an encoding for a task, and say where it fails and, with Deeper, what it costs",
    hints=(
        "Write down the positions of the first and the last row that a text of 20 words uses.",
        "What does `embed` add to the word at position t, and what happens in training to a row "
        "that no word ever used?",
    ),
)

# %% the cell
learned_positions = ...  # a list of four whole numbers
# BEGIN SOLUTION
learned_positions = [960, 20, 40, 15]
# END SOLUTION
# %%

task.mistake(
    "The first number counts rows. Each row is a vector of 24 numbers, and each of them is "
    "trained.",
    [40, 20, 40, 15],
)
task.mistake(
    "The first number leaves out the rows that no text reaches. They get no gradient, but the "
    "table still holds them, so they are trainable parameters.",
    [480, 20, 40, 15],
)
task.mistake(
    "You say that all 40 rows change. A row changes if some text has a word at its position, and "
    "the longest training text has 20 words.",
    [960, 40, 40, 15],
)
task.mistake(
    "The last number is one too small: the row of position 25 is free, too, and so are all to 39.",
    [960, 20, 40, 14],
)
task.mistake(
    "12 to 20 are numbers of words, not positions. Each text begins at position 0, so the rows "
    "before the twelfth are reached by all texts.",
    [960, 9, 40, 15],
)
task.mistake(
    "Positions are counted from 0: the 20 words of the longest text are at the positions 0 to 19.",
    [960, 21, 40, 15],
)
task.mistake(
    "The third number is the number of rows that were trained. The table has more rows, and "
    "accepts a text as long as there is a row for each word. Whether these rows are useful is "
    "another question.",
    [960, 20, 20, 15],
)
task.mistake(
    "The last piece does not begin at position 0: it begins at 25, and it too must end within the "
    "table.",
    [960, 20, 40, 40],
)
task.mistake(
    "The last number is one too large: the remaining rows are those from 25 to 39.",
    [960, 20, 40, 16],
)
task.mistake(
    "25 words have been read. The fourth asks how many more there is room for.",
    [960, 20, 40, 25],
)
task.mistake(
    "The second counts the rows that *every* text uses. The longest texts have 20 words.",
    [960, 12, 40, 15],
)
task.mistake(
    "The second is one too few: the positions 0 to 19 are 20 rows.",
    [960, 19, 40, 15],
)
task.mistake(
    "There are two slips. The second counts the rows that *every* text uses, but the longest texts "
    "have 20 words. And the last is one too small: the row of position 25 is free, too.",
    [960, 12, 40, 14],
)
