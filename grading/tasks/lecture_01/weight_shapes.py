"""The shapes of two readers, joined and added."""

from grading.task import Mistake, Task

RIGHT = [(100, 200), (60, 60), (7, 100), (7, 160), (200, 160), (100, 100)]


def instead(**changes):
    """The right list with some entries replaced: `at0`, `at1`, …"""
    return [changes.get(f"at{i}", shape) for i, shape in enumerate(RIGHT)]


TASK = Task(
    name="weight_shapes",
    lecture=1,
    kind="predict",
    points=6,
    difficulty=1,
    minutes=6,
    outcome="compute one step of a {term}`recurrent network` by hand, and give the shape of "
    "every weight",
    reference=RIGHT,
    mistakes=(
        Mistake(
            instead(at0=(200, 100)),
            "W_x of the left reader is turned around. In `W_x @ x` the columns of W_x meet the "
            "200 numbers of the word, and its rows give the 100 numbers of the state.",
        ),
        Mistake(
            instead(at0=(200, 100), at4=(160, 200)),
            "W_x and W_out are turned around. In `W @ v` the number of columns is what goes in, "
            "the number of rows is what comes out.",
        ),
        Mistake(
            instead(at4=(160, 200)),
            "W_out is turned around. It takes the 160 joined numbers and gives 200.",
        ),
        Mistake(
            instead(at1=(60, 100)),
            "W_h of the right reader: while they read, the two readers do not know of each other. "
            "It takes its own state, of 60 numbers.",
        ),
        Mistake(
            instead(at1=(60, 200)),
            "(60, 200) is the shape of the right reader's W_x. W_h takes a state and gives a "
            "state.",
        ),
        Mistake(
            instead(at2=(100,)),
            "(100,) is one state. There is one after each of the 7 words, and all are asked for.",
        ),
        Mistake(
            instead(at2=(7, 200)),
            "The states of the left reader: 200 is the width of a word. A state of the left "
            "reader has 100 numbers.",
        ),
        Mistake(
            instead(at3=(14, 160)),
            "The joined states: both readers have a state for the same 7 words. They are joined "
            "word by word.",
        ),
        Mistake(
            instead(at3=(7, 200), at4=(200, 200)),
            "The joined states and W_out: the readers have 100 and 60 numbers. Joined they are "
            "160.",
        ),
        Mistake(
            instead(at4=(200, 100)),
            "(200, 100) fits the left reader alone. The output sees both states, joined.",
        ),
        Mistake(
            instead(at5=(60, 60)),
            "The last one: a sum is taken entry by entry, and 100 numbers cannot be added to 60. "
            "The right reader has to give as many as the left one.",
        ),
        Mistake(
            instead(at5=(100, 60)),
            "The last one: it is not enough that the result has 100 numbers. At the next word the "
            "right reader's W_h must take the state that it gave, so it is square.",
        ),
    ),
    hints=(
        "In `W @ v` the columns of W are as many as v has numbers, and the rows as many as come "
        "out.",
        "Each reader is a network of its own, with a W_x, a W_h and a state of its own size.",
    ),
)
