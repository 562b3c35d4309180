"""What `helpers.viz.quiz` refuses, and in which words."""

from helpers.viz import quiz
from tests.helpers.bad_call import option, other

CASES = {
    quiz.to_html: [
        (lambda: quiz.to_html(), "questions: got none; needed at least one"),
        (
            lambda: quiz.to_html(*[("Q?", [option, other])] * 2),
            "questions: got the same text twice; needed different texts",
        ),
        (lambda: quiz.to_html((" ", [option, other])), "question: got ' '; needed a text"),
    ],
    quiz.quiz: [
        (lambda: quiz.quiz(("Q?", [option])), "options of 'Q?': got 1; needed at least 2"),
        (
            lambda: quiz.quiz(("Q?", [other, ("c", False, "why")])),
            "options of 'Q?': got none that is right; needed at least one",
        ),
        (
            lambda: quiz.quiz(("Q?", [option, option])),
            "options of 'Q?': got the same text twice; needed different texts",
        ),
        (
            lambda: quiz.quiz(("Q?", [option, ("c", False)])),
            "options of 'Q?': got [('a', True, 'why'), ('c', False)]; needed (text, right,",
        ),
        (
            lambda: quiz.quiz(("Q?", [option, ("c", False, " ")])),
            "reason for 'c': got nothing; needed a sentence",
        ),
    ],
    quiz.prediction_html: [
        (
            lambda: quiz.prediction_html("Q?"),
            "options and answer: got neither; needed one of them",
        ),
        (
            lambda: quiz.prediction_html(" ", answer=1, reason="why"),
            "question: got ' '; needed a text",
        ),
        (
            lambda: quiz.prediction_html("Q?", answer=1),
            "reason: got nothing; needed a sentence",
        ),
    ],
    quiz.predict: [
        (
            lambda: quiz.predict("Q?", [option, other], answer=1),
            "options and answer: got both; needed one of them",
        ),
        (lambda: quiz.predict("Q?", [option]), "options of 'Q?': got 1; needed at least 2"),
        (
            lambda: quiz.predict("Q?", answer=float("nan"), reason="why"),
            "answer: got nan; needed a finite number",
        ),
        (
            lambda: quiz.predict("Q?", answer=1, within=-1, reason="why"),
            "within: got -1; needed at least 0",
        ),
    ],
}
