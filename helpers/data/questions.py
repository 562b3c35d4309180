"""Small contexts with facts, and questions about them: who, what, where, when (lecture 10).

A context has four sentences with one verb. Each says who did it, with what, where and when:

    on monday ada brook hid a red key in lima . a map was hidden by ben on the roof on 3 may . …

A question names two of these *cues* and asks for a third: `where did ada brook hide the red key ?`
Each cue of a question occurs in two sentences, and only one sentence has both (the four are the
pairs of two values of each cue). So a model that uses one cue is right in half of the cases, and
a model that ignores the question in a quarter. Nothing else is shared but single words: two
people may have one last name, two things one colour, two dates one month.

A question without an answer has cues that do not meet: in the sentence with both, one was replaced.
Where such questions are asked, as many contexts have a cue replaced in another sentence: each cue
then stands as often as in a context without an answer, and only reading tells the two apart.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from helpers.tokens import PAD, Vocabulary
from helpers.validation import require

if TYPE_CHECKING:
    from jaxtyping import Int

Names = Literal["known", "unseen"]
Kind = Literal["who", "what", "where", "when"]
Span = tuple[int, int]
Pair = tuple[Tensor, Tensor]
"""Contexts (batch, T_c) and questions (batch, T_q), with pad tokens on the right."""

KINDS: tuple[Kind, ...] = ("who", "what", "where", "when")
FIRST = {
    "known": tuple(
        """
        ada anna arlo bea ben carl cleo cora dana dora edda eli emil erik fay finn gina gus
        hanna hugo ida igor iris jana jon karl kira lars lea leo lina luca mara max mia nils
        nina noah nora olga omar otto paul pia remo rosa sami sara sina theo tom uma vera
        viktor wanda yara yusuf zoe
        """.split()
    ),
    "unseen": tuple(
        """
        alma boris clara david esra felix greta henry inga jakob kemal lotta
        """.split()
    ),
}
LAST = {
    "known": tuple(
        """
        adler baker berg brook carver cole diaz fisher frost gold grant hill huber keller
        khan lang lopez marsh meyer moss nowak park reed rossi shah silva stone tanaka wolf
        wood
        """.split()
    ),
    "unseen": tuple(
        """
        becker castro dunn farmer greene hansen ito jensen
        """.split()
    ),
}
TOWNS = {
    "known": tuple(
        """
        accra athens baku bergen berlin bern bogota boston cairo cork dakar delhi dhaka
        dublin essen faro geneva ghent hanoi havana kabul kiel kyoto lagos lima lisbon lyon
        madrid malmo manila milan minsk nairobi naples oslo padua paris perth porto prague
        quito riga rome seoul sofia tunis turin vienna vilnius warsaw
        """.split()
    ),
    "unseen": tuple(
        """
        amman brno cadiz dover evora florence graz hamburg izmir jena kigali leeds
        """.split()
    ),
}
SPOTS = tuple(
    f"{where} the {spot}"
    for where, spots in (
        ("in", "cellar garden attic kitchen library shed"),
        ("on", "roof pier bridge ship balcony stairs"),
    )
    for spot in spots.split()
)
NOUNS = tuple(
    """
    key coin map ring candle feather stamp ribbon letter lamp clock book violin mirror
    kettle lantern compass drum vase medal
    """.split()
)
COLOURS = tuple("red blue green black white golden".split())
MONTHS = tuple(
    "january february march april may june july august september october november december".split()
)
WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
DAYS = tuple(map(str, range(1, 29)))
VERBS = (
    ("hid", "hidden", "hide"),
    ("found", "found", "find"),
    ("lost", "lost", "lose"),
    ("sold", "sold", "sell"),
    ("left", "left", "leave"),
    ("bought", "bought", "buy"),
)
"""Past, participle, infinitive; questions use the infinitive."""
NO_ANSWER = "<none>"
"""The first word of every context, and the answer if the context has none."""
_SMALL = "who what where when did somebody something a the was by in on . ?".split()
FACTS_VOCABULARY = Vocabulary(
    dict.fromkeys(
        [
            *(NO_ANSWER, *_SMALL, *MONTHS, *WEEKDAYS, *DAYS, *COLOURS, *NOUNS),
            *(word for spot in SPOTS for word in spot.split()),
            *(form for verb in VERBS for form in verb),
            *(name for names in (FIRST, LAST, TOWNS) for name in names["known"]),
            *(name for names in (FIRST, LAST, TOWNS) for name in names["unseen"]),
        ]
    )
)

_CAPITALS = {*MONTHS, *WEEKDAYS} | {
    name for part in (FIRST, LAST, TOWNS) for names in part.values() for name in names
}
NAMES = tuple(
    FACTS_VOCABULARY.ids[name]
    for part in (FIRST, LAST, TOWNS)
    for names in part.values()
    for name in names
)
"""The ids of people and towns, known and unseen."""


@dataclass(frozen=True)
class Asked:
    """A context with a question, as words.

    span: positions of the first and the last word of the answer in the context; (0, 0), the
        position of `NO_ANSWER`, if it has none.
    kind: kind of the answer, the first word of the question.
    values: for each sentence of the context, the span of each kind.
    """

    context: tuple[str, ...]
    question: tuple[str, ...]
    span: Span
    kind: Kind
    values: tuple[dict[Kind, Span], ...]

    @property
    def answer(self) -> str:
        """The words of the answer; empty if the context has none."""
        first, last = self.span
        return " ".join(self.context[first : last + 1]) if first else ""

    @property
    def sentence(self) -> dict[Kind, Span]:
        """The values of the sentence that holds the answer.

        Raises:
            ValueError: if there is no answer.
        """
        require(self.span != (0, 0), "question", "one without an answer", "one that has one")
        return next(values for values in self.values if values[self.kind] == self.span)


def ask(generator: torch.Generator, names: Names = "known", unanswerable: float = 0.0) -> Asked:
    """A random context with a question.

    Args:
        generator: random generator.
        names: "known" takes people and towns from the lists for training, "unseen" from the others.
        unanswerable: probability of a question without an answer, at most ½. Equally many other
            questions also have a cue replaced.

    Raises:
        ValueError: if `names` is not "known" or "unseen", or the share is not in 0 … 0.5.
    """
    require(names in FIRST, "names", repr(names), "'known' or 'unseen'")
    require(0.0 <= unanswerable <= 0.5, "unanswerable", unanswerable, "a share from 0 to 0.5")
    return _ask(_chance(generator), names, unanswerable)


def exchanged(asked: Asked, cue: int) -> Asked:
    """The same context, with the other value of one cue in the question, and so another answer.

    Args:
        asked: a question with an answer, in a context where both cues occur in two sentences.
        cue: the cue to exchange, 0 or 1, in the order of `KINDS`.

    Raises:
        ValueError: if `cue` is another number, there is no answer, or a cue was replaced.
    """
    require(cue in (0, 1), "cue", cue, "0 or 1")
    own = asked.sentence

    def said(kind: Kind, values: dict[Kind, Span]) -> tuple[str, ...]:
        first, last = values[kind]
        first -= kind in ("where", "when")  # "in" or "on" goes with it
        return asked.context[first : last + 1]

    def shares(kind: Kind, values: dict[Kind, Span]) -> bool:
        return said(kind, values) == said(kind, own)

    cues = [k for k in KINDS if sum(shares(k, values) for values in asked.values) == 2]
    require(len(cues) == 2, "asked", "a context with a cue replaced", "one as `ask` draws it")
    kept, changed = cues[1 - cue], cues[cue]
    other = next(v for v in asked.values if v is not own and shares(kept, v))
    old, new = said(changed, own), said(changed, other)
    words = asked.question
    at = next(i for i in range(len(words)) if words[i : i + len(old)] == old)
    question = words[:at] + new + words[at + len(old) :]
    return Asked(asked.context, question, other[asked.kind], asked.kind, asked.values)


def sides(asked: Asked, span: Span) -> tuple[bool, bool]:
    """Whether a span starts in a value of the right kind, and whether in the right sentence.

    Raises:
        ValueError: if the question has no answer, or the span begins outside the context.
    """
    first, n = span[0], len(asked.context)
    require(0 <= first < n, "span", f"first place {first}", f"a place from 0 to {n - 1}")
    require(bool(asked.answer), "asked", "a question without an answer", "one that has one")
    kind = any(v[asked.kind][0] <= first <= v[asked.kind][1] for v in asked.values)
    ends = [asked.context[:place].count(".") for place in (first, asked.span[0])]
    return kind, ends[0] == ends[1] and first > 0


def in_english(words: Sequence[str], sentences: bool = True) -> str:
    """Words as an English text: names with capitals, and no space before a mark.

    Args:
        words: as in `Asked`.
        sentences: whether they are whole sentences, whose first words get a capital too.
    """
    text = " ".join(word.capitalize() if word in _CAPITALS else word for word in words)
    text = re.sub(r" ([.?])", r"\1", text)
    if not sentences:
        return text
    return re.sub(r"(^|[.?] )(\w)", lambda m: m[1] + m[2].upper(), text)


def _chance(generator: torch.Generator) -> random.Random:
    """A generator of Python, which makes single choices much faster than torch."""
    return random.Random(int(torch.randint(2**62, (), generator=generator)))


def _ask(chance: random.Random, names: Names, unanswerable: float) -> Asked:
    kind = chance.choice(KINDS)
    cues = chance.sample([other for other in KINDS if other != kind], 2)
    verb = chance.choice(VERBS)
    values = _values(chance, names)
    facts = [{k: values[k].pop() for k in KINDS} for _ in range(4)]
    facts[1][cues[0]], facts[3][cues[0]] = facts[0][cues[0]], facts[2][cues[0]]
    facts[2][cues[1]], facts[3][cues[1]] = facts[0][cues[1]], facts[1][cues[1]]
    wanted: dict | None = facts[0]
    question = _question(kind, cues, facts[0], verb).split()
    if chance.random() < 2 * unanswerable:
        cue = chance.randrange(2)
        changed = chance.choice((0, 1 + cue))  # the sentence with both cues, or one with this cue
        facts[changed][cues[cue]] = values[cues[cue]].pop()
        wanted = facts[0] if changed else None
    words, spans = [NO_ANSWER], {}
    for fact in chance.sample(facts, 4):
        said, spans[id(fact)] = _sentence(chance, fact, verb, len(words))
        words += said
    span = spans[id(wanted)][kind] if wanted else (0, 0)
    return Asked(tuple(words), tuple(question), span, kind, tuple(spans.values()))


def _values(chance: random.Random, names: Names) -> dict[str, list[str]]:
    """Six values of each kind, with different words."""
    who = chance.sample(FIRST[names], 6)
    what = chance.sample(NOUNS, 6)
    towns, days = chance.sample(TOWNS[names], 4), chance.sample(DAYS, 4)
    values = {
        "who": [n + " " + chance.choice(LAST[names]) if chance.random() < 0.5 else n for n in who],
        "what": [chance.choice(COLOURS) + " " + n if chance.random() < 0.5 else n for n in what],
        "where": ["in " + town for town in towns] + chance.sample(SPOTS, 2),
        "when": [f"on {day} {chance.choice(MONTHS)}" for day in days]
        + ["on " + day for day in chance.sample(WEEKDAYS, 2)],
    }
    return {kind: chance.sample(options, len(options)) for kind, options in values.items()}


def _sentence(
    chance: random.Random, fact: dict[str, str], verb: Sequence[str], start: int
) -> tuple[list[str], dict[Kind, Span]]:
    """The words of a sentence that starts at a position of the context, and its spans."""
    past, participle, _ = verb
    thing = ["a", ("what", fact["what"])]
    who = ("who", fact["who"])
    core = [who, past, *thing] if chance.random() < 0.6 else [*thing, f"was {participle} by", who]
    one, other = chance.sample(("where", "when"), 2)
    one, other = ((part, fact[part]) for part in (one, other))
    parts = [*core, one, other, "."] if chance.random() < 0.5 else [one, *core, other, "."]
    words, spans = [], {}
    for part in parts:
        kind, text = part if isinstance(part, tuple) else (None, part)
        words += text.split()
        if kind:  # "in" and "on" are no part of the answer
            length = len(text.split()) - (kind in ("where", "when"))
            end = start + len(words) - 1
            spans[kind] = (end - length + 1, end)
    return words, spans


def _question(kind: Kind, cues: Sequence[str], fact: dict[str, str], verb: Sequence[str]) -> str:
    past, _, infinitive = verb
    said = {k: fact[k] if k in cues else "" for k in KINDS}
    who = said["who"] or "somebody"
    what = "the " + said["what"] if said["what"] else "something"
    rest = " ".join(said[k] for k in ("where", "when") if said[k])
    text = {
        "who": f"who {past} {what} {rest} ?",
        "what": f"what did {who} {infinitive} {rest} ?",
        "where": f"where did {who} {infinitive} {what} {rest} ?",
        "when": f"when did {who} {infinitive} {what} {rest} ?",
    }
    return text[kind]


def reading_batch(
    batch: int, generator: torch.Generator, names: Names = "known", unanswerable: float = 0.0
) -> tuple[Pair, Int[Tensor, "batch 2"]]:
    """Contexts and questions as ids; as targets the places of each answer's first and last word.

    Raises:
        ValueError: if `batch` is less than 1, and as `ask`.
    """
    require(batch >= 1, "batch", batch, "at least 1")
    return to_batch([ask(generator, names, unanswerable) for _ in range(batch)])


def to_batch(asked: Sequence[Asked]) -> tuple[Pair, Int[Tensor, "batch 2"]]:
    """The same for questions that are there already.

    Raises:
        ValueError: if there are none.
    """
    require(len(asked) >= 1, "asked", "none", "at least one")
    ids = FACTS_VOCABULARY.ids
    pair = tuple(
        torch.nn.utils.rnn.pad_sequence(
            [torch.tensor([ids[word] for word in words]) for words in texts],
            batch_first=True,
            padding_value=PAD,
        )
        for texts in ([a.context for a in asked], [a.question for a in asked])
    )
    return pair, torch.tensor([a.span for a in asked])
