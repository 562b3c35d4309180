"""What a learned table trains, and where it ends."""

from grading.task import Mistake, Task

TASK = Task(
    name="table_rows",
    lecture=6,
    kind="predict",
    points=5,
    difficulty=1,
    minutes=5,
    outcome="say what each encoding costs, and where a learned one ends",
    reference=[960, 20, 40, 15],
    mistakes=(
        Mistake(
            [40, 20, 40, 15],
            "The first number counts rows. Each row is a vector of 24 numbers, and each of them is "
            "trained.",
        ),
        Mistake(
            [480, 20, 40, 15],
            "The first number leaves out the rows that no text reaches. They get no gradient, but "
            "the table still holds them, and they count among what can be trained.",
        ),
        Mistake(
            [960, 40, 40, 15],
            "All 40 rows are said to change. A row changes if some text has a word at its place, "
            "and the longest training text has 20 words.",
        ),
        Mistake(
            [960, 12, 40, 15],
            "The shortest text has 12 words. But the rows after that are reached by longer texts.",
        ),
        Mistake(
            [960, 9, 40, 15],
            "12 to 20 are numbers of words, not places. Each text begins at place 0, so the rows "
            "before the twelfth are reached by all texts.",
        ),
        Mistake(
            [960, 21, 40, 15],
            "Places are counted from 0: the 20 words of the longest text stand at the places 0 to "
            "19.",
        ),
        Mistake(
            [960, 20, 20, 15],
            "The third number is that of the rows that were trained. The table has more rows, and "
            "accepts a text as long as there is a row for each word. Whether they are of use is "
            "another question.",
        ),
        Mistake(
            [960, 20, 40, 40],
            "The last piece does not begin at place 0: it begins at 25, and it too must end "
            "within the table.",
        ),
        Mistake(
            [960, 20, 40, 16],
            "The last number is one too many: the rows that are left are those from 25 to 39.",
        ),
    ),
    hints=(
        "Write down the numbers of the first and the last row that a text of 20 words uses.",
        "What does `embed` add to the word at place t, and what does training do with a row that "
        "no word ever used?",
    ),
)
