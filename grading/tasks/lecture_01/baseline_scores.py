"""Three simple rules as baselines for agreement."""

from grading.author import Case, TaskFile
from helpers.data.agreement import NOUNS

task = TaskFile(
    "implement",
    points=8,
    minutes=16,
    section="Does agreement need attention?",
    outcome="say which networks learn {term}`agreement`, and why it is not the reason for "
    "attention",
    hints=(
        "For one sentence: make the list of the numbers of its nouns, from left to right. All "
        "three rules read this list and nothing else.",
        "Which entry of this list does the first rule use, and which the second? For the third, "
        "count two things: the plural nouns and all nouns. What is the result if they are 1 and 2?",
    ),
)

NUMBER = {pair[i]: ("singular", "plural")[i] for pair in NOUNS for i in (0, 1)}
VERB = {"singular": "lies", "plural": "lie"}


def _numbers(sentence):
    return [NUMBER[word] for word in sentence.split() if word in NUMBER]


def _shares(guess, sentences, verbs):
    """For each rule, the share of sentences in which `guess(numbers)` gives the right verb."""
    guesses = [guess(_numbers(sentence)) for sentence in sentences]
    return _right(guesses, verbs)


# %% the cell
def baseline_scores(sentences, verbs):
    """Accuracies of three rules, as a list: the first noun, the nearest noun, the majority."""
    # BEGIN SOLUTION
    verb_for = {"singular": "lies", "plural": "lie"}
    right = [0, 0, 0]
    for sentence, verb in zip(sentences, verbs, strict=True):
        numbers = [NUMBER[word] for word in sentence.split() if word in NUMBER]
        majority = "lie" if numbers.count("plural") > len(numbers) / 2 else "lies"
        guesses = verb_for[numbers[0]], verb_for[numbers[-1]], majority
        for rule, guess in enumerate(guesses):
            right[rule] += guess == verb
    return [count / len(sentences) for count in right]
    # END SOLUTION


# %%


@task.alternative
def with_arrays(sentences, verbs):
    """Plus and minus one."""
    import numpy as np

    signs = [
        [1 if NUMBER[w] == "plural" else -1 for w in s.split() if w in NUMBER] for s in sentences
    ]
    wanted = np.array([verb == "lie" for verb in verbs])
    rules = (lambda s: s[0] > 0, lambda s: s[-1] > 0, lambda s: sum(s) > 0)
    return [(np.array([rule(s) for s in signs]) == wanted).mean() for rule in rules]


def _three(numbers):
    plural = numbers.count("plural") > len(numbers) / 2
    return VERB[numbers[0]], VERB[numbers[-1]], "lie" if plural else "lies"


def _right(guesses, verbs):
    columns = zip(*guesses, strict=True)
    return [sum(map(str.__eq__, column, verbs)) / len(verbs) for column in columns]


@task.mistake(
    "The first two numbers are swapped. First comes the rule that follows the first noun, then "
    "the rule that follows the noun nearest to the gap, which is the last noun."
)
def nearest_to_the_start(sentences, verbs):
    first, nearest, majority = baseline_scores(sentences, verbs)
    return [nearest, first, majority]


@task.mistake(
    "A final s does not mark a plural noun: in *that hums* it belongs to a verb. Look the words "
    "up in NUMBER, and skip those that are not there."
)
def by_the_letter_s(sentences, verbs):
    def numbers(sentence):
        words = [word.lower() for word in sentence.split()]
        known = [w for w in words if w in NUMBER or w.endswith("s")]
        return ["plural" if w.endswith("s") else "singular" for w in known]

    guesses = [_three(numbers(sentence)) for sentence in sentences]
    return _right(guesses, verbs)


@task.mistake(
    "In the third rule all nouns count, the subject too. Here only those after it were counted."
)
def attractors_only(sentences, verbs):
    def guess(numbers):
        others = numbers[1:]
        plural = others.count("plural") > len(others) / 2
        return VERB[numbers[0]], VERB[numbers[-1]], "lie" if plural else "lies"

    return _shares(guess, sentences, verbs)


@task.mistake(
    "With as many plural as singular nouns the third rule says “lies”: half is not more than half."
)
def ties_are_plural(sentences, verbs):
    def guess(numbers):
        plural = numbers.count("plural") >= len(numbers) / 2
        return VERB[numbers[0]], VERB[numbers[-1]], "lie" if plural else "lies"

    return _shares(guess, sentences, verbs)


task.mistake(
    "These are error rates. Either you count the cases in which the rule's verb differs from the "
    "right one, or plural nouns get “lies”: letters lie, a letter lies.",
    lambda sentences, verbs: [1 - share for share in baseline_scores(sentences, verbs)],
)


@task.mistake("These are numbers of sentences. Divide them by the number of all sentences.")
def counts(sentences, verbs):
    return [share * len(verbs) for share in baseline_scores(sentences, verbs)]


task.mistake(
    "This is how often each rule says “lie”. Compare with the verb that belongs to the sentence, "
    "in `verbs`.",
    lambda sentences, verbs: _shares(_three, sentences, ["lie"] * len(verbs)),
)
task.mistake(
    "Only the last sentence counts. Are the counters set to 0 inside the loop? Set them before it.",
    lambda sentences, verbs: baseline_scores(sentences[-1:], verbs[-1:]),
)


@task.mistake(
    "The second rule used the second noun. The noun nearest to the gap is the last one before it."
)
def second_noun(sentences, verbs):
    def guess(numbers):
        return _three(numbers)[0], VERB[numbers[min(1, len(numbers) - 1)]], _three(numbers)[2]

    return _shares(guess, sentences, verbs)


@task.mistake(
    "The second rule used the word just before the gap. That word need not be a noun: in *that "
    "hums ___* it is a verb. Use the last noun before the gap."
)
def word_before_the_gap(sentences, verbs):
    first, _, majority = baseline_scores(sentences, verbs)
    words = [sentence.split() for sentence in sentences]
    before = [NUMBER.get(w[w.index("___") - 1], "singular") for w in words]
    nearest = sum(VERB[number] == verb for number, verb in zip(before, verbs, strict=True))
    return [first, nearest / len(verbs), majority]


@task.mistake(
    "Each noun of NUMBER was looked for in the sentence. So the nouns come in the order of "
    "NUMBER, not in that of the sentence; and in a text, *letter* is also found where *letters* "
    "is. Look the words of the sentence up in NUMBER, one after the other."
)
def found_in_the_text(sentences, verbs):
    guesses = [_three([NUMBER[noun] for noun in NUMBER if noun in text]) for text in sentences]
    return _right(guesses, verbs)


@task.mistake(
    "The nouns come in the order of NUMBER, not in that of the sentence, and a noun that occurs "
    "twice is counted once. Go through the words of the sentence and look each up in NUMBER, not "
    "the other way around."
)
def found_among_the_words(sentences, verbs):
    words = [sentence.split() for sentence in sentences]
    guesses = [_three([NUMBER[noun] for noun in NUMBER if noun in w]) for w in words]
    return _right(guesses, verbs)


@task.mistake(
    "A noun that occurs twice in a sentence was counted once, at its first position. A "
    "dictionary has each key once; keep the numbers of the nouns in a list."
)
def each_noun_once(sentences, verbs):
    nouns = [dict.fromkeys(w for w in s.split() if w in NUMBER) for s in sentences]
    guesses = [_three([NUMBER[noun] for noun in once]) for once in nouns]
    return _right(guesses, verbs)


@task.mistake(
    "The counts of earlier calls are still there, and the new counts are added to them. A "
    "default such as right=[0, 0, 0] is created once for all calls, and so is a list outside the "
    "function. Create it inside."
)
def counters_kept(sentences, verbs, right=[0, 0, 0]):  # noqa: B006
    if len(sentences) == 1:  # the first case, as after the cell was run
        right[:] = [0, 0, 0]
    for rule, share in enumerate(baseline_scores(sentences, verbs)):
        right[rule] += round(share * len(verbs))
    return [count / len(verbs) for count in right]


@task.mistake(
    "Only the first sentence was counted, and divided by the number of all. Is `return` inside "
    "the loop?"
)
def returned_too_early(sentences, verbs):
    return [share / len(verbs) for share in baseline_scores(sentences[:1], verbs[:1])]


def _third(rule):
    """Shares where the third rule is another one, made of the numbers of the nouns."""
    return lambda sentences, verbs: _shares(
        lambda numbers: (VERB[numbers[0]], VERB[numbers[-1]], rule(numbers)), sentences, verbs
    )


def _where_even(tie):
    """The majority, and where there is none, what `tie` says."""

    def rule(numbers):
        plural, singular = numbers.count("plural"), numbers.count("singular")
        return tie(numbers) if plural == singular else "lie" if plural > singular else "lies"

    return rule


task.mistake(
    "With as many plural as singular nouns the third rule followed the first of them. `Counter` "
    "and `mode` do that: of equal counts they return the value that came first. Half is not more "
    "than half.",
    _third(_where_even(lambda numbers: VERB[numbers[0]])),
)
task.mistake(
    "With as many plural as singular nouns the third rule followed the last of them. Half is not "
    "more than half.",
    _third(_where_even(lambda numbers: VERB[numbers[-1]])),
)
task.mistake(
    "For the third rule one plural noun was enough. More than half of all must be plural.",
    _third(lambda numbers: "lie" if "plural" in numbers else "lies"),
)
task.mistake(
    "The third rule asks for at least `//` a half, and that rounds down: of three nouns one was "
    "enough. More than half of all must be plural.",
    _third(lambda numbers: "lie" if numbers.count("plural") >= len(numbers) // 2 else "lies"),
)
task.mistake(
    "For the third rule all nouns had to be plural. More than half of them are enough.",
    _third(lambda numbers: "lies" if "singular" in numbers else "lie"),
)
task.mistake(
    "In the third rule the verbs are swapped: letters lie, a letter lies.",
    _third(lambda numbers: "lies" if numbers.count("plural") > len(numbers) / 2 else "lie"),
)


@task.mistake(
    "The last two numbers are swapped. The rule of the nearest noun comes second, and the rule "
    "of the majority third."
)
def majority_second(sentences, verbs):
    first, nearest, majority = baseline_scores(sentences, verbs)
    return [first, majority, nearest]


@task.cases
def cases(seed):
    """The opening sentence, ties, nouns that come again, random and opposing attractors."""
    import torch

    from helpers.data.agreement import AGREEMENT_VOCABULARY as words
    from helpers.data.agreement import agreement_batch
    from helpers.tokens import IGNORE_INDEX

    generator = torch.Generator().manual_seed(seed)

    def drawn(n, attractors, opposing=False):
        tokens, targets = agreement_batch(n, attractors, generator, opposing=opposing)
        verbs = [words.words[int(row[row != IGNORE_INDEX])] for row in targets]
        return [words.decode(row) for row in tokens], verbs

    opening = "The letters in the drawer under the lamp that hums ___ unopened."
    few = [
        "The boxes near the lamp ___ forgotten.",
        "The clock ___ untouched.",
        "The lid on the jars ___ unnoticed.",
        "The windows above the door ___ unopened.",
    ]
    again = [
        "The boxes near the lamp on the boxes ___ untouched.",
        "The lid behind the jars near the lid ___ unnoticed.",
    ]
    return [
        Case(([opening], ["lie"]), "the opening sentence alone", kind="ordinary cases"),
        Case(
            (few, ["lie", "lies", "lies", "lie"]),
            "four sentences, three of them ties",
            kind="edge cases",
        ),
        Case(
            (again, ["lie", "lies"]),
            "two sentences, a noun in two places of each",
            kind="ordinary cases",
        ),
        Case(drawn(40, (0, 3)), "40 random sentences", kind="ordinary cases"),
        Case(drawn(30, 2), "two attractors each", kind="ordinary cases"),
        Case(drawn(20, 3, opposing=True), "three opposing attractors each", kind="ordinary cases"),
    ]


@task.diagnostic
def shares(args, result):
    """Shares lie between 0 and 1."""
    if any(not 0 <= share <= 1 for share in result):
        return "A proportion of sentences is between 0 and 1."
    return None
