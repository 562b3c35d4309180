"""A rotary head with a key-value cache, which reads pieces of any length."""

import math

import torch

from grading.author import Case, also_right, mistake, plan, task
from grading.sentences import NOT_SCALED, SCALED_BY_D_K
from helpers.masks import causal_mask
from helpers.positions import RotaryPositions


def _turn(x, start):
    """What the notebook gives: the words x (…, T, d), turned by their places."""
    from helpers.positions import RotaryPositions

    front = x.new_zeros(*x.shape[:-2], start, x.shape[-1])
    words = torch.cat([front, x], dim=-2)
    return RotaryPositions().rotate(words, words)[0][..., start:, :]


# %% given
def turn(x, start):
    """The words x (T, d), turned by the places start, start + 1, …"""
    front = x.new_zeros(start, x.shape[-1])  # (start, d)
    words = torch.cat([front, x])  # (start + T, d)
    return RotaryPositions().rotate(words, words)[0][start:]  # (T, d)


# %%


# %% the cell
class CachedHead:
    """One causal rotary head that keeps keys and values."""

    def __init__(self, W_query, W_key, W_value):
        """Begin a text."""
        # BEGIN ANSWER
        self.W_query, self.W_key, self.W_value = W_query, W_key, W_value
        self.keys = self.values = None
        # END ANSWER

    def read(self, x):
        """Context vectors (n, d_v) of the next words x (n, d_model)."""
        # BEGIN ANSWER
        start = 0 if self.keys is None else len(self.keys)
        q, k, v = turn(self.W_query(x), start), turn(self.W_key(x), start), self.W_value(x)
        if start:
            k, v = torch.cat([self.keys, k]), torch.cat([self.values, v])  # (T, …)
        self.keys, self.values = k, v
        scores = q @ k.T / math.sqrt(k.shape[-1])  # (n, T)
        hidden = ~causal_mask(len(x), len(k))  # (n, T)
        return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ v  # (n, d_v)
        # END ANSWER


# %%


@also_right
class InParts:
    """In parts, of which the mistakes replace one or another."""

    def __init__(self, W_query, W_key, W_value):
        self.W_query, self.W_key, self.W_value = W_query, W_key, W_value
        self.keys = self.values = None

    def places(self, start, n):
        """Where the new queries and keys stand."""
        return start, start

    def mask(self, n, T):
        """Who sees whom: (n, T)."""
        return torch.arange(T) <= torch.arange(T - n, T)[:, None]

    def joined(self, old, new):
        """Old and new in one row."""
        return new if old is None else torch.cat([old, new])

    def width(self, k):
        """What the scores are divided by."""
        return math.sqrt(k.shape[-1])

    def read(self, x):
        """Read the next words."""
        n, start = len(x), 0 if self.keys is None else len(self.keys)
        query_at, key_at = self.places(start, n)
        q, k = _turn(self.W_query(x), query_at), _turn(self.W_key(x), key_at)
        self.keys = self.joined(self.keys, k)
        self.values = self.joined(self.values, self.W_value(x))
        scores = q @ self.keys.T / self.width(k)
        scores = scores.masked_fill(~self.mask(n, len(self.keys)), -torch.inf)
        return scores.softmax(dim=-1) @ self.values


@also_right
class TurnsLater(InParts):
    """Keys are kept as they are, and all are turned in each call."""

    def read(self, x):
        """Read the next words."""
        self.keys = self.joined(self.keys, self.W_key(x))
        self.values = self.joined(self.values, self.W_value(x))
        n, T = len(x), len(self.keys)
        q, k = _turn(self.W_query(x), T - n), _turn(self.keys, 0)
        scores = (q @ k.T / self.width(k)).masked_fill(~self.mask(n, T), -torch.inf)
        return scores.softmax(dim=-1) @ self.values


@also_right
class WordByWord(InParts):
    """One word at a time, without a mask."""

    def read(self, x):
        """Read the next words."""
        read = super().read
        return torch.cat([read(word[None]) for word in x])


@also_right
class NewestFirst(InParts):
    """Keys lie in the order of their age, and so do mask and values."""

    def joined(self, old, new):
        """New ones in front."""
        return new.flip(0) if old is None else torch.cat([new.flip(0), old])

    def mask(self, n, T):
        """Who sees whom: (n, T)."""
        return super().mask(n, T).flip(1)


@mistake(
    "The words themselves are kept, and all of them are projected again in each call. That is "
    "the work which the cache is to save: keep keys and values."
)
class ReadsAgain(InParts):
    def __init__(self, W_query, W_key, W_value):
        super().__init__(W_query, W_key, W_value)
        self.words = None

    def read(self, x):
        """Read the next words."""
        self.words = self.joined(self.words, x)
        self.keys = self.values = None
        return super().read(self.words)[-len(x) :]


@mistake(
    "Each piece is turned as if it stood at the beginning. The first word of a piece stands "
    "where the cache ends."
)
class FromZero(InParts):
    def places(self, start, n):
        """Where the new queries and keys stand."""
        return 0, 0


@mistake(
    "The keys stand where they should. But the queries of each piece are turned as if it stood "
    "at the beginning."
)
class QueryFromZero(InParts):
    def places(self, start, n):
        """Where the new queries and keys stand."""
        return 0, start


@mistake(
    "The queries stand too far to the right, by the number of words in the piece. Take the "
    "length of the cache *before* the new keys go into it, for both."
)
class OneBehind(InParts):
    def places(self, start, n):
        """Where the new queries and keys stand."""
        return start + n, start


@mistake("The places count the calls. They have to count words: a piece may have several.")
class PiecesCounted(InParts):
    count = -1

    def places(self, start, n):
        """Where the new queries and keys stand."""
        self.count = self.count + 1
        return self.count, self.count


@mistake("Nothing is turned: this head does not know the order of the words.")
class NoPositions(InParts):
    def read(self, x):
        """Read the next words."""
        n = len(x)
        self.keys = self.joined(self.keys, self.W_key(x))
        self.values = self.joined(self.values, self.W_value(x))
        scores = self.W_query(x) @ self.keys.T / self.width(self.keys)
        scores = scores.masked_fill(~self.mask(n, len(self.keys)), -torch.inf)
        return scores.softmax(dim=-1) @ self.values


@mistake(
    "With one new word no mask is needed. With several, the first of them must not see the others."
)
class NoMask(InParts):
    def mask(self, n, T):
        """Who sees whom: (n, T)."""
        return torch.ones(n, T, dtype=torch.bool)


@mistake(
    "The triangle of the mask begins at the first key, so new words hardly see what is kept. The "
    "*last* row has to see everything: align the triangle on the right."
)
class MaskFromLeft(InParts):
    def mask(self, n, T):
        """Who sees whom: (n, T)."""
        return torch.ones(n, T).tril().bool()


@mistake("A word does not see itself here. In causal attention it does.")
class WithoutItself(InParts):
    def mask(self, n, T):
        """Who sees whom: (n, T)."""
        seen = torch.arange(T) < torch.arange(T - n, T)[:, None]
        seen[:, 0] = True
        return seen


@mistake(
    "New keys and values are put in front of the old ones, and the mask takes them for the oldest."
)
class NewInFront(InParts):
    def joined(self, old, new):
        """New ones in front."""
        return new if old is None else torch.cat([new, old])


@mistake("Nothing is kept: each piece sees itself only.")
class PieceOnly(InParts):
    def read(self, x):
        """Read the next words."""
        self.keys = self.values = None
        return super().read(x)


@mistake("Only the last piece is kept. The cache has to grow with each call.")
class LastPieceOnly(InParts):
    def read(self, x):
        """Read the next words."""
        out = super().read(x)
        self.keys, self.values = self.keys[-len(x) :], self.values[-len(x) :]
        return out


@mistake(
    "The values were turned, too. A place should change who looks at whom, not what is handed over."
)
class ValuesTurned(InParts):
    def read(self, x):
        """Read the next words."""
        plain, start = self.W_value, 0 if self.keys is None else len(self.keys)
        self.W_value = lambda words: _turn(plain(words), start)
        try:
            return super().read(x)
        finally:
            self.W_value = plain


@mistake(
    "Keys that have been turned are kept, and turned once more in the next call. Keep them "
    "turned and turn new ones only, or keep them as they are."
)
class TurnedTwice(InParts):
    def read(self, x):
        """Read the next words."""
        n, start = len(x), 0 if self.keys is None else len(self.keys)
        self.keys = _turn(self.joined(self.keys, self.W_key(x)), 0)
        self.values = self.joined(self.values, self.W_value(x))
        q = _turn(self.W_query(x), start)
        scores = q @ self.keys.T / self.width(q)
        scores = scores.masked_fill(~self.mask(n, start + n), -torch.inf)
        return scores.softmax(dim=-1) @ self.values


@mistake(
    "The mask comes after softmax, so the weights of a row no longer sum to 1. Hide scores "
    "before softmax."
)
class MaskedAfter(InParts):
    def read(self, x):
        """Read the next words."""
        n, start = len(x), 0 if self.keys is None else len(self.keys)
        q, k = _turn(self.W_query(x), start), _turn(self.W_key(x), start)
        self.keys = self.joined(self.keys, k)
        self.values = self.joined(self.values, self.W_value(x))
        weights = (q @ self.keys.T / self.width(k)).softmax(dim=-1)
        return (weights * self.mask(n, start + n)) @ self.values


@mistake("The keys of earlier words are there, and their values are not. Both have to be kept.")
class KeysOnly(InParts):
    def read(self, x):
        """Read the next words."""
        self.values = None
        return super().read(x)


@mistake(NOT_SCALED)
class NotDivided(InParts):
    def width(self, k):
        """What the scores are divided by."""
        return 1.0


@mistake(SCALED_BY_D_K)
class ByWidth(InParts):
    def width(self, k):
        """What the scores are divided by."""
        return k.shape[-1]


@mistake("All context vectors so far are returned. Asked are those of the new words.")
class AllAtOnce(InParts):
    def read(self, x):
        """Read the next words."""
        new = super().read(x)
        self.contexts = self.joined(getattr(self, "contexts", None), new)
        return self.contexts


@mistake(
    "Two heads keep their things in one place. Make the cache in `__init__`, and keep it in `self`."
)
def one_drawer(W_query, W_key, W_value):
    one_drawer.heads = getattr(one_drawer, "heads", 0) + 1
    if one_drawer.heads % 2:
        one_drawer.kept = [None, None]
    kept = one_drawer.kept

    class Head(InParts):
        def read(self, x):
            self.keys, self.values = kept
            out = super().read(x)
            kept[:] = self.keys, self.values
            return out

    return Head(W_query, W_key, W_value)


def drive(answer, W_query, W_key, W_value, words, pieces):
    """Two heads read two texts in turn, piece by piece; what comes, and how much was projected."""
    import torch

    matrices, counts, layers = (W_query, W_key, W_value), [0, 0, 0], []
    for number, matrix in enumerate(matrices):
        layer = torch.nn.Linear(*matrix.T.shape, bias=False).requires_grad_(False)
        layer.weight.data = matrix.clone()

        def count(module, args, output, number=number):
            counts[number] += args[0].shape[0] if args[0].dim() > 1 else 1

        layer.register_forward_hook(count)
        layers.append(layer)
    heads = [answer(*layers), answer(*layers)]
    found = [[], []]
    for piece in words.split(pieces):
        for head, out, text in zip(heads, found, (piece, piece.flip(-1) + 1), strict=True):
            context = head.read(text.clone())
            if context is None:
                raise NotImplementedError
            out.append(torch.as_tensor(context).clone())
    return {
        "contexts": torch.cat(found[0]),
        "contexts of a second head": torch.cat(found[1]),
        "words projected more than once": max(counts) > 2 * len(words),
    }


def cases(seed):
    """Two words one by one; one piece; then pieces of different lengths."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    eye = torch.eye(2, dtype=torch.float64)
    value = torch.tensor([[4.0, 0.0]], dtype=torch.float64)
    two = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    found = [Case((eye, eye, value, two, (1, 1)), "two words, one by one")]
    for d_model, d_k, d_v, pieces in (
        (5, 4, 3, (4,)),
        (3, 6, 4, (1, 1, 1, 1)),
        (5, 2, 3, (3, 2, 1, 4)),
        (7, 8, 5, (4, 1, 3, 5)),
        (3, 2, 2, (120, 1, 90)),
    ):
        W = draw(d_k, d_model), draw(d_k, d_model), draw(d_v, d_model)
        parts = " + ".join(map(str, pieces))
        found.append(Case((*W, draw(sum(pieces), d_model), pieces), f"pieces of {parts} words"))
    return found


def which_call(args, result):
    """The first word at which something is wrong, and whether work is done twice."""
    import numpy as np

    pieces = args[-1]
    right = drive(CachedHead, *args)
    for name in ("contexts", "contexts of a second head"):
        came, want = np.asarray(result[name]), right[name].numpy()
        if came.shape != want.shape:
            return (
                f"All calls together returned {len(came)} context vectors for {len(want)} words."
                if came.ndim == 2 and len(came) != len(want)
                else None
            )
        wrong = ~np.isclose(came, want, rtol=1e-4, atol=1e-5).all(axis=-1)
        if wrong.any():
            word = int(wrong.argmax())
            call = int(np.searchsorted(np.cumsum(pieces), word, side="right"))
            head = "" if name == "contexts" else " of the second head, which reads another text"
            return f"The first wrong context vector{head} is that of word {word}, in call {call}."
    if result["words projected more than once"]:
        return "The context vectors are right. But words are projected again that were read before."
    return None


TASK = task(
    plan("implement", points=13, difficulty=3, minutes=20),
    outcome="write with a {term}`key-value cache`, show that the words are the same, and measure "
    "what it saves",
    cases=cases,
    properties=(which_call,),
    drive=drive,
    hints=(
        "Begin with one word a call, as in the lecture, and count in the keys how many words have "
        "been read.",
        "For a piece of several words write down who may see whom, in a table with a row for each "
        "new word and a column for each word so far.",
        "`helpers.masks.causal_mask(n, T)` is such a table.",
    ),
)
