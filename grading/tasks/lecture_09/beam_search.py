"""Beam search with a pool in which finished sentences compete."""

import operator
from functools import partial

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=11,
    minutes=18,
    redraw=True,
    outcome="decode greedily and by {term}`beam search`, and say when each of them is worse",
    hints=(
        "Keep a list of pairs: the words, and the sum of their log-probabilities. The list "
        "starts with one pair: no words, and 0.",
        "Each step computes a new, longer list from the old one, sorts it, and cuts it.",
    ),
)

END = 2


# %% the cell
def beam_search(step, n_beams, longest):
    """The words of the most probable translation found, END included, as a list."""
    # BEGIN SOLUTION
    kept = [([], 0.0)]  # words, log-probability
    for _ in range(longest):
        pool = []
        for words, total in kept:
            if words and words[-1] == 2:
                pool.append((words, total))
                continue
            for word, more in enumerate(step(words).tolist()):
                pool.append(([*words, word], total + more))
        kept = sorted(pool, key=lambda found: -found[1])[:n_beams]
    return kept[0][0]
    # END SOLUTION


# %%


@task.alternative
def by_tensors(step, n_beams, longest):
    """One vector of all totals, and topk."""
    kept, totals = [()], torch.zeros(1, dtype=torch.float64)
    for _ in range(longest):
        texts, sums = [], []
        for words, total in zip(kept, totals, strict=True):
            if words[-1:] == (END,):
                texts.append(words)
                sums.append(total[None])
            else:
                log_p = step(list(words)).double()
                texts += [(*words, word) for word in range(len(log_p))]
                sums.append(total + log_p)
        totals, rows = torch.cat(sums).topk(min(n_beams, len(texts)))
        kept = [texts[row] for row in rows]
    return list(kept[0])


@task.alternative
def by_heap(step, n_beams, longest):
    """The n largest, and an early end when all are finished."""
    import heapq

    kept = [(0.0, ())]
    for _ in range(longest):
        if all(words and words[-1] == END for _, words in kept):
            break
        pool = [pair for pair in kept if pair[1] and pair[1][-1] == END]
        for total, words in kept:
            if not words or words[-1] != END:
                log_p = step(list(words)).tolist()
                pool += [(total + more, (*words, word)) for word, more in enumerate(log_p)]
        kept = heapq.nlargest(n_beams, pool)
    return list(kept[0][1])


def _search(
    step,
    n_beams,
    longest,
    *,
    ends=True,
    each=False,
    first=False,
    start=0.0,
    joined=lambda total, more: total + more,
    rank=lambda words, total: total,
    place=0,
):
    kept = [([], start)]
    for _ in range(longest):
        pool = []
        for words, total in kept:
            if ends and words and words[-1] == END:
                pool.append((words, total))
                continue
            grown = [
                ([*words, w], joined(total, more)) for w, more in enumerate(step(words).tolist())
            ]
            pool += sorted(grown, key=lambda x: -x[1])[:1] if each and words else grown
        kept = sorted(pool, key=lambda x: -rank(*x))[:n_beams]
        if first and any(words[-1] == END for words, _ in kept):
            return next(words for words, _ in kept if words[-1] == END)
    return kept[place][0]


def _extended(step, kept):
    """Each text with each token after it, with the sum of its logarithms."""
    return [
        ([*words, w], total + more)
        for words, total in kept
        for w, more in enumerate(step(words).tolist())
    ]


task.mistake(
    "This is greedy decoding, whatever the number of beams. Keep `n_beams` beginnings at each "
    "step, not one.",
    lambda step, n_beams, longest: _search(step, 1, longest),
)
task.mistake(
    "Each beginning is continued by its own most probable word only. Two of the kept ones may "
    "share a beginning: compare all continuations of all beginnings.",
    lambda step, n_beams, longest: _search(step, n_beams, longest, each=True),
)
task.mistake(
    "Sentences continue after END. One that has ended stays in the pool as it is.",
    lambda step, n_beams, longest: _search(step, n_beams, longest, ends=False),
)


@task.mistake(
    "Sentences continue after END and are cut there at last. But their sums include words after "
    "END. One that has ended stays in the pool as it is."
)
def cut_at_last(step, n_beams, longest):
    words = _search(step, n_beams, longest, ends=False)
    return words[: words.index(END) + 1] if END in words else words


task.mistake(
    "Only the last word's logarithm is compared. The score of a beginning is the sum over all its "
    "words.",
    lambda step, n_beams, longest: _search(step, n_beams, longest, joined=lambda total, more: more),
)


@task.mistake(
    "Sums decide only at the end: until then, the beams are chosen by the logarithm of their last "
    "word. Sort the pool by the sums."
)
def cut_by_last(step, n_beams, longest):
    kept = [([], 0.0, 0.0)]  # words, sum, logarithm of the last word
    for _ in range(longest):
        pool = [found for found in kept if found[0][-1:] == [END]]
        for words, total, _ in kept:
            if words[-1:] != [END]:
                log_p = step(words).tolist()
                pool += [([*words, w], total + more, more) for w, more in enumerate(log_p)]
        kept = sorted(pool, key=lambda x: -x[2])[:n_beams]
    return max(kept, key=lambda x: x[1])[0]


task.mistake(
    "The *least* probable sentences are kept. A logarithm closer to zero is a larger probability.",
    lambda step, n_beams, longest: _search(
        step, n_beams, longest, rank=lambda words, total: -total
    ),
)
task.mistake(
    "The search stops at the first sentence that ends. A longer one may still be more probable.",
    lambda step, n_beams, longest: _search(step, n_beams, longest, first=True),
)


@task.mistake(
    "At the end a sentence with END is preferred to a more probable one without. Return the most "
    "probable of those kept, whether it has ended or not."
)
def ended_first(step, n_beams, longest):
    places = [_search(step, n_beams, longest, place=place) for place in range(n_beams)]
    return next((words for words in places if words[-1] == END), places[0])


@task.mistake(
    "Sentences that have ended are dropped from the pool. They stay in it as they are, so that the "
    "others have to be more probable than they."
)
def dropped(step, n_beams, longest):
    kept = [([], 0.0)]
    for _ in range(longest):
        pool = _extended(step, [x for x in kept if x[0][-1:] != [END]])
        kept = sorted(pool, key=lambda x: -x[1])[:n_beams]
    return kept[0][0]


task.mistake(
    "END was removed. It belongs to the sentence: without it, the sentence is not finished.",
    lambda step, n_beams, longest: [w for w in beam_search(step, n_beams, longest) if w != END],
)


@task.mistake(
    "Sentences that have ended do not compete with the others here. They stay in the pool as they "
    "are, count among the `n_beams`, and may be pushed out again."
)
def laid_aside(step, n_beams, longest):
    kept, done = [([], 0.0)], []
    for _ in range(longest):
        pool = _extended(step, kept)
        done += [x for x in pool if x[0][-1] == END]
        kept = sorted((x for x in pool if x[0][-1] != END), key=lambda x: -x[1])[:n_beams]
    return max(done + kept, key=lambda x: x[1])[0]


task.mistake(
    "The logarithms were multiplied. Probabilities are multiplied, and their logarithms added.",
    lambda step, n_beams, longest: _search(step, n_beams, longest, start=1.0, joined=operator.mul),
)


@task.mistake(
    "A sentence that ends leaves the beams for a list of its own, and at the end the best one of "
    "that list wins, even if another sentence is more probable. Keep it in the pool."
)
def list_of_ended(step, n_beams, longest):
    kept, done = [([], 0.0)], []
    for _ in range(longest):
        pool = _extended(step, kept)
        best = sorted(pool, key=lambda x: -x[1])[:n_beams]
        done += [x for x in best if x[0][-1] == END]
        kept = [x for x in best if x[0][-1] != END]
    return max(done or kept, key=lambda x: x[1])[0]


@task.mistake(
    "Probabilities were added up. They are multiplied, that is, their *logarithms* are added."
)
def added_up(step, n_beams, longest):
    return _search(lambda words: step(words).exp(), n_beams, longest)


task.mistake(
    "The sentence begins with START. Return only the words: the first call of `step` gets an "
    "empty list.",
    lambda step, n_beams, longest: [1, *beam_search(step, n_beams, longest)],
)
task.mistake(
    "There is one step too many. The pool is extended and cut `longest` times.",
    lambda step, n_beams, longest: _search(step, n_beams, longest + 1),
)
task.mistake(
    "One step is missing. The pool is extended and cut `longest` times, the first time from the "
    "empty sentence.",
    lambda step, n_beams, longest: _search(step, n_beams, longest - 1),
)


@task.mistake(
    "The sum was divided by the number of words. Return the most probable sentence, without "
    "length normalization."
)
def normed(step, n_beams, longest):
    return _search(step, n_beams, longest, rank=lambda words, total: total / len(words))


@task.mistake(
    "Sentences that have ended are set aside, so all beams go to the others, and one that has "
    "ended is never pushed out. Keep it in the pool, where it takes one of the `n_beams` places."
)
def more_places(step, n_beams, longest):
    beams, ended = [([], 0.0)], []
    for _ in range(longest):
        pool = [
            ([*words, word], total + more)
            for words, total in beams
            for word, more in enumerate(step(words).tolist())
        ]
        pool.sort(key=lambda found: -found[1])
        ended += [found for found in pool[:n_beams] if found[0][-1] == 2]
        beams = [found for found in pool if found[0][-1] != 2][:n_beams]
    return max(ended + beams, key=lambda found: found[1])[0]


@task.harness
def harness(answer, first, later, n_beams, longest):
    """The answer with a model of these numbers."""

    def step(words):
        """The logarithms of the next word's probabilities."""
        if not words:
            return first.log_softmax(0)
        if later.dim() == 2:  # the last word decides
            return later[words[-1]].log_softmax(0)
        back = list(reversed(words))
        mixed = sum(0.5**i * later[word, i % 2] for i, word in enumerate(back))
        return (1.5 * mixed).log_softmax(0)

    found = answer(step, n_beams, longest)
    return found if found is None else [int(word) for word in found]


@task.cases
def cases(seed):
    """The tempting word and a lost ending by hand; then models where beams beat greedy choice."""
    none = -50.0  # a logarithm that comes to nothing
    table = torch.full((5, 5), none, dtype=torch.float64)
    table[3, :3] = torch.tensor([0.3, 0.3, 0.4]).log()
    table[4, 2:4] = torch.tensor([0.9, 0.1]).log()
    first = torch.tensor([none, none, none, 0.0, 0.0], dtype=torch.float64)
    first[3:] = torch.tensor([0.6, 0.4]).log()
    found = [Case((first, table, 2, 4), "the tempting first word", kind="ordinary cases")]
    first, table = torch.full((5,), none, dtype=torch.float64), table.clone()
    first[2:] = torch.tensor([0.3, 0.65, 0.05]).log()
    table[3] = torch.tensor([0.51, 0.49, 1e-9, 1e-9, 1e-9]).log()
    table[0] = torch.tensor([0.3, 0.22, 0.18, 0.16, 0.14]).log()
    table[1] = torch.tensor([0.26, 0.21, 0.19, 0.18, 0.16]).log()
    note = "a sentence that has ended is pushed out again"
    found.append(Case((first, table, 2, 3), note, kind="ordinary cases"))
    generator = torch.Generator().manual_seed(seed)
    first_end = partial(_search, first=True)
    for n_beams, vocab, longest, hurried in (
        (2, 6, 5, [(_search, 3, 5), (_search, 2, 4)]),
        (3, 7, 6, [(first_end, 3, 6), (_search, 3, 7)]),
        (4, 9, 5, [(normed, 4, 5), (added_up, 4, 5)]),
        (3, 5, 7, [(_search, 4, 7), (laid_aside, 3, 7)]),
        (3, 7, 3, [(ended_first, 3, 3)]),
        (4, 6, 4, [(cut_at_last, 4, 4), (normed, 4, 4)]),
    ):
        while True:
            first = torch.randn(vocab, generator=generator, dtype=torch.float64)
            later = torch.randn(vocab, 2, vocab, generator=generator, dtype=torch.float64)
            best = harness(beam_search, first, later, n_beams, longest)
            others = [harness(_search, first, later, 1, longest)] if len(best) > 2 else [best]
            for other, n, steps in hurried:
                if best not in others:
                    others.append(harness(other, first, later, n, steps))
            if best not in others and others[-1] != others[-2]:
                break
        found.append(
            Case(
                (first, later, n_beams, longest),
                f"{n_beams} beams, {vocab} words",
                kind="ordinary cases",
            )
        )
    first, later = torch.randn(4, generator=generator), torch.randn(4, 2, 4, generator=generator)
    found.append(
        Case((first.double(), later.double(), 6, 3), "6 beams, 4 words", kind="edge cases")
    )
    return found


@task.diagnostic
def length(args, result):
    """Whether the sentence is longer than it can be."""
    longest = args[-1]
    if len(result) > longest + 1:
        return (
            f"This sentence has {len(result)} words, but at most {longest} are possible. Does the "
            "loop go on for too long, or do the continuations share one list? (`append` and `+=` "
            "change a list in place.)"
        )
    return None
