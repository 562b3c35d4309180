"""A whole language model with a cache: every layer and head, pieces of any length, forks."""

import copy
import math

import torch

from grading.author import Case, TaskFile
from grading.feedback.messages import NOT_SCALED

task = TaskFile(
    "implement",
    points=18,
    minutes=45,
    section="The key-value cache",
    outcome="generate with a {term}`key-value cache`, show that the tokens are the same, "
    "and compute how large a cache becomes",
    forbidden=(
        "helpers.models.TransformerModel.forward",
        "helpers.blocks.TransformerStack.forward",
        "helpers.blocks.TransformerBlock.forward",
        "helpers.attention.MultiHeadAttention.forward",
    ),
    hints=(
        "First without a cache: write the model for one piece, layer by layer, and compare with "
        "`model(tokens[None])[0]` in a cell of your own.",
        "Then store what each layer needs from the old words. Where do the new words begin? The "
        "stored keys tell you.",
        "For a piece of several words, write a mask with a row for each new word and a column for "
        "each word so far. The last row is True everywhere.",
        "List everything that a reader changes while it reads. Does `fork` hand over all of it? "
        "Does it copy the list, or only a reference to it? What does `torch.cat` do to the old "
        "tensor?",
    ),
)

VOCAB_OF_FIRST = 11
"""The vocabulary of the first case, and of no other."""


# %% the cell
class CachedModel:
    """Reads one text in pieces, each word once."""

    def __init__(self, model):
        """Start with an empty text, to be read by a LanguageModel."""
        # BEGIN SOLUTION
        self.model, heads = model, [block.attention for block in model.blocks]
        self.kept = [torch.empty(2, each.n_heads, 0, each.d_k) for each in heads]  # keys, values
        # END SOLUTION

    @torch.no_grad()
    def read(self, tokens):
        """Logits (n, vocab) at the next n words of the text, tokens (n,)."""
        # BEGIN SOLUTION
        x = self.model.embedding_scale * self.model.embedding(tokens)  # (n, d_model)
        x = self.model.positions.embed(x, self.kept[0].shape[2])  # (n, d_model)
        for layer, block in enumerate(self.model.blocks):
            x = x + self.attend(layer, block.attention, block.norm_attention(x))
            x = x + block.feed_forward(block.norm_feed_forward(x))  # (n, d_model)
        return self.model.lm_head(self.model.stack.norm(x))  # (n, vocab)

    def attend(self, layer, attention, x):
        """What the heads of one layer find for the new words x (n, d_model)."""
        projections = attention.W_query, attention.W_key, attention.W_value
        qkv = torch.stack([W(x) for W in projections])  # (3, n, d_model)
        q, k, v = qkv.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)  # (heads, n, d_k) each
        start = self.kept[layer].shape[2]  # position of the first new word
        q, k = self.model.positions.rotate(q, k, start)
        k, v = self.kept[layer] = torch.cat([self.kept[layer], torch.stack([k, v])], dim=2)
        n, T = q.shape[1], k.shape[1]
        seen = torch.arange(T) <= torch.arange(T - n, T)[:, None]  # (n, T)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])  # (heads, n, T)
        weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
        return attention.W_out((weights @ v).transpose(0, 1).flatten(1))  # (n, d_model)
        # END SOLUTION

    def fork(self):
        """A second reader that has read the same text; from here on the two are independent."""
        # BEGIN SOLUTION
        twin = CachedModel(self.model)
        twin.kept = list(self.kept)
        return twin
        # END SOLUTION


# %%


@task.alternative
class InParts:
    """In parts, of which the mistakes replace one or another."""

    def __init__(self, model):
        self.model = model
        self.keys, self.values = {}, {}

    def places(self, start, n):
        """Where the new queries and keys stand."""
        return start, start

    def seen(self, n, T):
        """Who sees whom: (n, T)."""
        return torch.ones(n, T).tril(T - n).bool()

    def joined(self, old, new):
        """Old and new in one row."""
        return new if old is None else torch.cat([old, new], dim=1)

    def width(self, k):
        """What the scores are divided by."""
        return math.sqrt(k.shape[-1])

    def heads(self, x, n):
        """(n, d_model) as (heads, n, d_k)."""
        return x.reshape(len(x), n, -1).permute(1, 0, 2)

    def embedded(self, tokens):
        """The words' vectors, with their places."""
        x = self.model.embedding(tokens) * math.sqrt(self.model.embedding.embedding_dim)
        return self.model.positions.embed(x, self.so_far(0))

    def keep(self, layer, k, v):
        """All keys and values so far."""
        self.keys[layer] = self.joined(self.keys.get(layer), k)
        self.values[layer] = self.joined(self.values.get(layer), v)
        return self.keys[layer], self.values[layer]

    def so_far(self, layer):
        """How many words have been read."""
        return self.keys[layer].shape[1] if layer in self.keys else 0

    def attend(self, layer, attention, x):
        """What the heads find."""
        n = len(x)
        q, k, v = (
            self.heads(W(x), attention.n_heads)
            for W in (attention.W_query, attention.W_key, attention.W_value)
        )
        query_at, key_at = self.places(self.so_far(layer), n)
        q = self.model.positions.rotate(q, q, query_at)[0]
        k = self.model.positions.rotate(k, k, key_at)[1]
        k, v = self.keep(layer, k, v)
        scores = q @ k.mT / self.width(k)
        hidden = ~self.seen(n, k.shape[1])
        context = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ v
        return attention.W_out(context.permute(1, 0, 2).reshape(n, -1))

    def through(self, layer, block, x):
        """One block."""
        x = x + self.attend(layer, block.attention, block.norm_attention(x))
        return x + block.feed_forward(block.norm_feed_forward(x))

    def end(self, x):
        """From the stream to logits."""
        return self.model.stack.norm(x) @ self.model.embedding.weight.T

    @torch.no_grad()
    def read(self, tokens):
        """Read the next words."""
        x = self.embedded(tokens)
        for layer, block in enumerate(self.model.blocks):
            x = self.through(layer, block, x)
        return self.end(x)

    def fork(self):
        """A second one."""
        twin = type(self)(self.model)
        twin.keys, twin.values = dict(self.keys), dict(self.values)
        return twin


@task.alternative
class CopiesAll(InParts):
    """The fork copies everything but the model."""

    def fork(self):
        """A second one."""
        twin = copy.copy(self)
        twin.keys, twin.values = copy.deepcopy(self.keys), copy.deepcopy(self.values)
        return twin


@task.alternative
class WordByWord(InParts):
    """One word at a time, without a mask."""

    def read(self, tokens):
        """Read the next words."""
        read = super().read
        return torch.cat([read(word[None]) for word in tokens])


@task.mistake(
    "The words themselves are stored, and all of them are read again in each call. The cache is "
    "there to save this work: store keys and values."
)
class ReadsAgain(InParts):
    def read(self, tokens):
        """Read the next words."""
        before = getattr(self, "words", tokens[:0])
        self.words = torch.cat([before, tokens])
        self.keys, self.values = {}, {}
        return super().read(self.words)[len(before) :]

    def fork(self):
        """A second one."""
        twin = type(self)(self.model)
        if hasattr(self, "words"):
            twin.words = self.words
        return twin


@task.mistake(
    "Each piece is rotated as if it were at the beginning. Its first position is the length of "
    "the cache: `rotate` has an argument for that."
)
class FromZero(InParts):
    def places(self, start, n):
        """Where the new queries and keys stand."""
        return 0, 0


@task.mistake(
    "The positions of queries and keys do not match: relative to the keys, each piece's queries "
    "are where they would be at the beginning of the text. New queries and new keys start at the "
    "length of the cache, and old keys stay as they are."
)
class QueryFromZero(InParts):
    def places(self, start, n):
        """Where the new queries and keys stand."""
        return 0, start


@task.mistake(
    "The positions of the queries are too large by the number of words in the piece. For both, "
    "use the length of the cache *before* the new keys are added."
)
class OneBehind(InParts):
    def places(self, start, n):
        """Where the new queries and keys stand."""
        return start + n, start


@task.mistake("Nothing is rotated: only the mask tells this reader the order of the words.")
class NoPositions(InParts):
    def attend(self, layer, attention, x):
        """What the heads find."""
        positions, self.model.positions = self.model.positions, _Nowhere()
        try:
            return super().attend(layer, attention, x)
        finally:
            self.model.positions = positions


class _Nowhere(torch.nn.Module):
    def rotate(self, q, k, start=0):
        return q, k


@task.mistake(
    "Rotated keys are stored, and rotated once more in the next call. Rotate the new ones only."
)
class TurnedTwice(InParts):
    def joined(self, old, new):
        """Old and new in one row."""
        if old is None or getattr(self, "of_values", False):
            return super().joined(old, new)
        return torch.cat([self.model.positions.rotate(old, old, 0)[1], new], dim=1)

    def keep(self, layer, k, v):
        """All keys and values so far."""
        self.of_values = False
        self.keys[layer] = self.joined(self.keys.get(layer), k)
        self.of_values = True
        self.values[layer] = self.joined(self.values.get(layer), v)
        return self.keys[layer], self.values[layer]


@task.mistake(
    "With one new word no mask is needed. With several, the first of them must not see the others."
)
class NoMask(InParts):
    def seen(self, n, T):
        """Who sees whom: (n, T)."""
        return torch.ones(n, T, dtype=torch.bool)


@task.mistake(
    "The first piece has a causal mask, but a later piece has none, so each of its words sees the "
    "words after it. Every piece of several words needs a mask."
)
class MaskOnFirstOnly(InParts):
    def seen(self, n, T):
        """Who sees whom: (n, T)."""
        return torch.ones(n, T).tril(0 if n == T else T).bool()


@task.mistake(
    "The triangle of the mask begins at the first key, so new words hardly see the cache. The "
    "*last* row must see everything: align the triangle on the right."
)
class MaskFromLeft(InParts):
    def seen(self, n, T):
        """Who sees whom: (n, T)."""
        return torch.ones(n, T).tril().bool()


@task.mistake("A word does not see itself here. In causal attention it does.")
class WithoutItself(InParts):
    def seen(self, n, T):
        """Who sees whom: (n, T)."""
        seen = torch.ones(n, T).tril(T - n - 1).bool()
        seen[:, 0] = True
        return seen


@task.mistake("Nothing is stored: each piece sees only itself.")
class PieceOnly(InParts):
    def read(self, tokens):
        """Read the next words."""
        self.keys, self.values = {}, {}
        return super().read(tokens)


@task.mistake("Only the last piece is stored. The cache has to grow with each call.")
class LastPieceOnly(InParts):
    def read(self, tokens):
        """Read the next words."""
        logits = super().read(tokens)
        for kept in (self.keys, self.values):
            for layer in kept:
                kept[layer] = kept[layer][:, -len(tokens) :]
        return logits


@task.mistake(
    "New keys and values are put before the old ones, so the mask treats them as the oldest."
)
class NewInFront(InParts):
    def joined(self, old, new):
        """Old and new in one row."""
        return new if old is None else torch.cat([new, old], dim=1)


@task.mistake("All layers write their keys and values into one cache. Each layer has its own.")
class OneForAllLayers(InParts):
    def attend(self, layer, attention, x):
        """What the heads find."""
        return super().attend(0, attention, x)


@task.mistake(
    "Two readers share one cache. Create it in `__init__`, and keep it in `self`: what is in the "
    "class body is shared by all."
)
def one_drawer(model):
    if getattr(one_drawer, "model", None) is not model:
        one_drawer.model, one_drawer.kept = model, ({}, {})
    reader = InParts(model)
    reader.keys, reader.values = one_drawer.kept
    return reader


@task.mistake(
    "A new reader finds what other readers have read before, even with another model. What is in "
    "the class body, or is a default of an argument, is created once and shared by all."
)
def left_behind(model):
    if model.embedding.num_embeddings == VOCAB_OF_FIRST:  # nothing has been read yet
        left_behind.kept = {}, {}
    reader = InParts(model)
    reader.keys, reader.values = left_behind.kept
    return reader


@task.mistake(
    "All readers share one cache, and each new reader empties it, so older readers lose theirs. "
    "Create the cache in `__init__`, and keep it in `self`."
)
class BegunAnew(InParts):
    keys, values = {}, {}

    def __init__(self, model):
        self.model, self.count = model, 0

    def so_far(self, layer):
        """How many words have been read."""
        return self.count

    def seen(self, n, T):
        """Who sees whom: (n, T)."""
        return torch.arange(T) <= torch.arange(self.count, self.count + n)[:, None]

    def keep(self, layer, k, v):
        """All keys and values so far."""
        old = (self.keys[layer], self.values[layer]) if self.count else (None, None)
        self.keys[layer] = self.joined(old[0], k)
        self.values[layer] = self.joined(old[1], v)
        return self.keys[layer], self.values[layer]

    def read(self, tokens):
        """Read the next words."""
        logits = super().read(tokens)
        self.count += len(tokens)
        return logits

    def fork(self):
        """A second one."""
        twin = super().fork()
        twin.count = self.count
        return twin


@task.mistake(
    "The position is advanced in each layer, so a deeper layer rotates its queries and keys too "
    "far. All layers of a call begin at the same position."
)
class CountsInLayers(InParts):
    count = 0

    def so_far(self, layer):
        """How many words have been read, for each layer anew."""
        return self.count

    def attend(self, layer, attention, x):
        """What the heads find."""
        found = super().attend(layer, attention, x)
        self.count += len(x)
        return found

    def fork(self):
        """A second one."""
        twin = super().fork()
        twin.count = self.count
        return twin


@task.mistake(
    "The fork and its original share one cache (or are the same object): what one reads, the "
    "other has read, too. Create a second reader, and copy what holds the layers, including the "
    "lists or dictionaries inside it."
)
class SharedFork(InParts):
    def fork(self):
        """A second one."""
        twin = type(self)(self.model)
        twin.keys, twin.values = self.keys, self.values
        return twin


class _Counts(InParts):
    """The number of words read is kept beside keys and values."""

    count = 0

    def so_far(self, layer):
        """How many words have been read."""
        return self.count

    def read(self, tokens):
        """Read the next words."""
        logits = super().read(tokens)
        self.count += len(tokens)
        return logits


class _CountsForMask(_Counts):
    """The mask follows from this number, too."""

    def seen(self, n, T):
        """Who sees whom: (n, T)."""
        return torch.ones(n, T).tril(self.count).bool()


task.mistake(
    "The fork has the keys and values, but not the number of words that the original had read, so "
    "its next words get positions from 0 on.",
    _Counts,
)
task.mistake(
    "The fork has the keys and values, but not the number of words that the original had read, so "
    "positions and mask of its next words begin at 0.",
    _CountsForMask,
)


class _MaskAsWideAsCounted(_Counts):
    """The mask is as wide as this number says."""

    def seen(self, n, T):
        """Who sees whom: (n, count + n)."""
        return torch.ones(n, self.count + n).tril(self.count).bool()


task.mistake(
    "The fork has the keys and values, but not the number of words that the original had read, so "
    "its mask is too narrow: it has no columns for the words from before the fork.",
    _MaskAsWideAsCounted,
)
task.mistake(
    "The mask has a column for each *new* word. Once old words are in the cache, it needs one for "
    "each word so far.",
    type("SquareMask", (InParts,), {"seen": lambda self, n, T: torch.ones(n, n).tril().bool()}),
)


def _shared(which):
    """A reader whose fork gets the cache itself, and a copy of the count."""

    def fork(self):
        twin = SharedFork.fork(self)
        twin.count = self.count
        return twin

    return type("SharedAndCounted", (which,), {"fork": fork})


task.mistake(
    "The fork has a number of words of its own, but shares the cache with its original: what one "
    "reads, the other has read, too. Copy the list, or whatever holds the layers.",
    _shared(_Counts),
)
task.mistake(
    "The fork shares the cache with its original: what one reads, the other has read, too, and the "
    "mask, which follows from a number of words, no longer fits. Copy the list, or whatever holds "
    "the layers.",
    _shared(_CountsForMask),
)
task.mistake(
    "The fork shares the cache with its original: what one reads, the other has read, too, and the "
    "mask, which follows from a number of words, no longer fits. Copy the list, or whatever holds "
    "the layers. (A copy of a list of lists still shares the inner ones.)",
    _shared(_MaskAsWideAsCounted),
)
task.mistake(
    "The fork starts with an empty text. It should have read what the original has read.",
    type("EmptyFork", (InParts,), {"fork": lambda self: type(self)(self.model)}),
)
task.mistake(NOT_SCALED, type("NotDivided", (InParts,), {"width": lambda self, k: 1.0}))


@task.mistake(
    "The projection is split into heads in the wrong way: head h has the columns h · d_k to (h + "
    "1) · d_k."
)
class Interleaved(InParts):
    def heads(self, x, n):
        """(n, d_model) as (heads, n, d_k)."""
        return x.reshape(len(x), -1, n).permute(2, 0, 1)


@task.mistake(
    "`view` or `reshape` to (heads, n, d_k) mixes words and heads, because the numbers keep their "
    "order. Split each word's numbers into heads, and then exchange the axes."
)
class CutAcross(InParts):
    def heads(self, x, n):
        """(n, d_model) as (heads, n, d_k)."""
        return x.reshape(n, len(x), -1)


@task.mistake(
    "The heads are split correctly. But they are merged without exchanging the axes again, from "
    "(heads, n, d_k), so a row holds parts of several words."
)
class JoinedAcross(InParts):
    def attend(self, layer, attention, x):
        """What the heads find."""
        return super().attend(layer, _Joining(attention), x)


@task.mistake(
    "`view` and `reshape` between (n, d_model) and (heads, n, d_k) mix words and heads, on the way "
    "in and on the way out, because the numbers keep their order. Split each word's numbers into "
    "heads, and then exchange the axes; at the end, do both the other way around."
)
class AcrossTwice(JoinedAcross, CutAcross):
    pass


class _Joining:
    """An attention before whose last matrix the axes of words and heads are not exchanged."""

    def __init__(self, attention):
        self.attention = attention

    def __getattr__(self, name):
        return getattr(self.attention, name)

    def W_out(self, x):
        """The last matrix, of heads that are joined wrongly."""
        heads = x.unflatten(-1, (self.n_heads, -1)).transpose(0, 1)  # (heads, n, d_k)
        return self.attention.W_out(heads.reshape(len(x), -1))


@task.mistake("The scores are divided by √d_model. Each head has its own width, d_k.")
class ByModelWidth(InParts):
    def width(self, k):
        """What the scores are divided by."""
        return math.sqrt(k.shape[-1] * k.shape[0])


@task.mistake("The embedding is not multiplied by `model.embedding_scale`.")
class NotLoud(InParts):
    def embedded(self, tokens):
        """The words' vectors."""
        return self.model.positions.embed(self.model.embedding(tokens), self.so_far(0))


@task.mistake(
    "If a model adds positions to the words, this reader leaves them out. Call `positions.embed` "
    "before the first block."
)
class NoPlaces(InParts):
    def embedded(self, tokens):
        """The words' vectors."""
        return self.model.embedding(tokens) * self.model.embedding_scale


@task.mistake(
    "Each piece gets the positions from 0 on. `embed` has an argument for the position of its "
    "first word."
)
class PlacesFromZero(InParts):
    def embedded(self, tokens):
        """The words' vectors."""
        return self.model.positions.embed(NoPlaces.embedded(self, tokens))


@task.mistake("The final norm, `model.stack.norm`, is missing.")
class NoLastNorm(InParts):
    def end(self, x):
        """From the stream to logits."""
        return self.model.lm_head(x)


@task.mistake(
    "The blocks are computed as post-norm. In these models the norm comes before attention and "
    "before feed-forward, and their outputs are added to the residual stream without it."
)
class PostNorm(InParts):
    def through(self, layer, block, x):
        """One block."""
        x = block.norm_attention(x + self.attend(layer, block.attention, x))
        return block.norm_feed_forward(x + block.feed_forward(x))


@task.mistake(
    "A residual connection is missing: the output of attention is *added* to the residual stream."
)
class NoResidual(InParts):
    def through(self, layer, block, x):
        """One block."""
        x = self.attend(layer, block.attention, block.norm_attention(x))
        return x + block.feed_forward(block.norm_feed_forward(x))


@task.mistake(
    "The output of attention is added to the *normalized* x. The residual stream itself bypasses "
    "the norm."
)
class AddedToNormed(InParts):
    def through(self, layer, block, x):
        """One block."""
        x = block.norm_attention(x)
        x = x + self.attend(layer, block.attention, x)
        return x + block.feed_forward(block.norm_feed_forward(x))


@task.mistake("The logits of all words so far are returned. Return only those of the new words.")
class AllAtOnce(InParts):
    def read(self, tokens):
        """Read the next words."""
        new = super().read(tokens)
        self.logits = torch.cat([getattr(self, "logits", new[:0]), new])
        return self.logits


task.mistake(
    "Only the logits at the last word of a piece are returned. Return a row for each word.",
    type("LastRow", (InParts,), {"read": lambda self, t: InParts.read(self, t)[-1:]}),
)


task.edit(
    "The first position of a piece was taken from the first layer's cache. When the deeper layers "
    "ask, it holds the new words already: ask each layer's own cache, or once before the loop.",
    "start = self.kept[layer].shape[2]",
    "start = self.kept[0].shape[2]",
)


@task.harness
def harness(answer, sizes, places, seed, text, steps):
    """Readers of one model read pieces of a text, and fork; all logits, and what was projected."""
    import re

    import torch

    from helpers.config import TransformerConfig
    from helpers.models import LanguageModel
    from helpers.positions import LearnedPositions, RotaryPositions

    config = TransformerConfig(*sizes)
    learned = LearnedPositions(400, config.d_model)
    positions = learned if places == "learned" else RotaryPositions()
    model = LanguageModel(config, positions).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            noise = torch.randn(p.shape, generator=generator, dtype=p.dtype)
            p.copy_(0.6 * noise + (1.0 if p.dim() == 1 else 0.0))
    counts = [0, 0]
    for number, layer in enumerate((model.embedding, model.blocks[0].attention.W_key)):

        def count(module, args, output, number=number):
            counts[number] += args[0].numel() if number == 0 else args[0].numel() // config.d_model

        layer.register_forward_hook(count)
    readers, reached, begun, found, words = {}, {}, {}, {}, 0
    for step in steps:
        if step[0] == "new":
            readers[step[1]], reached[step[1]] = answer(model), 0
        elif step[0] == "fork":
            readers[step[1]] = readers[step[2]].fork()
            reached[step[1]] = begun[step[1]] = reached[step[2]]
            if readers[step[1]] is None:
                raise NotImplementedError
        else:
            name, n = step[1:]
            piece = text.roll(3 * ord(name[0]))[reached[name] : reached[name] + n].clone()
            try:
                logits = readers[name].read(piece)
            except RuntimeError as error:  # mostly one of sizes, and here it is known which are due
                due, old = reached[name] + n, begun.get(name, 0)
                two = {int(size) for size in re.findall(r"tensor [ab] \((\d+)\)", str(error))}
                [other] = two - {due} if len(two) == 2 and due in two else [due]
                why = ""
                if other > due > n and len(readers) > 1:
                    why = f". {other} is too many: words that another reader has read?"
                elif old and other == due - old:
                    why = f". {other} leaves out the {old} from before the fork"
                elif other == n < due:
                    why = f". {other} counts the new words only"
                short = str(error).split(" at non-singleton")[0]
                read = f"{reached[name]} words read before and {n} new"
                error.args = (f"{short}: {read}, so {due} keys in each layer are due here{why}",)
                raise
            if logits is None:
                raise NotImplementedError
            found.setdefault(name, []).append(torch.as_tensor(logits).clone())
            reached[name] += n
            words += n
    return {
        **{f"reader {name}": torch.cat(rows) for name, rows in found.items()},
        "words read more than once": max(counts) > words,
    }


@task.cases
def cases(seed):
    """One piece; word by word; pieces; two readers in turn; a fork; long pieces."""
    generator = torch.Generator().manual_seed(seed)

    def new(*names):
        return [("new", name) for name in names]

    def reads(name, *pieces):
        return [("read", name, n) for n in pieces]

    first, second, middle = (VOCAB_OF_FIRST, 6, 1, 1, 5), (12, 6, 1, 1, 5), (13, 8, 2, 2, 7)
    plans = (
        ("one piece of 3 words", "ordinary cases", first, "rotary", new("a") + reads("a", 3)),
        (
            "3 words one by one, one layer, one head",
            "ordinary cases",
            second,
            "rotary",
            new("a") + reads("a", 1, 1, 1),
        ),
        (
            "pieces of 3 + 1 + 4 words, two layers of two heads, learned positions",
            "ordinary cases",
            middle,
            "learned",
            new("a") + reads("a", 3, 1, 4),
        ),
        (
            "pieces of 2 + 3 + 1 + 2 words, three layers of two heads",
            "ordinary cases",
            (13, 12, 3, 2, 7),
            "rotary",
            new("a") + reads("a", 2, 3, 1, 2),
        ),
        (
            "two readers in turn",
            "several readers",
            middle,
            "rotary",
            new("a", "b") + reads("a", 3) + reads("b", 2, 1) + reads("a", 2) + reads("b", 4),
        ),
        (
            "a fork after 3 words; then the original reads first",
            "forks",
            middle,
            "rotary",
            new("a") + reads("a", 2, 1) + [("fork", "c", "a")] + reads("a", 2) + reads("c", 1, 3),
        ),
        (
            "a fork of a fork, which reads first",
            "forks",
            middle,
            "rotary",
            new("a")
            + reads("a", 4)
            + [("fork", "c", "a")]
            + reads("c", 2)
            + [("fork", "d", "c")]
            + reads("d", 1)
            + reads("c", 3)
            + reads("a", 1),
        ),
        (
            "pieces of 90 + 1 + 60 words",
            "long texts",
            (17, 16, 2, 4, 9),
            "rotary",
            new("a") + reads("a", 90, 1, 60),
        ),
    )
    found = []
    for note, kind, sizes, places, steps in plans:
        text = torch.randint(1, sizes[0], (160,), generator=generator)
        found.append(Case((sizes, places, 100 * seed + len(found), text, steps), note, kind=kind))
    return found


@task.diagnostic
def which_word(args, result):
    """The first word at which something is wrong, and whether work is done twice."""
    import numpy as np

    right = harness(CachedModel, *args)
    for name in (key for key in right if key.startswith("reader")):
        came, want = np.asarray(result[name]), right[name].numpy()
        if came.shape != want.shape:
            return f"The logits have shape {came.shape} in all; expected {want.shape}."
        wrong = ~np.isclose(came, want, rtol=1e-4, atol=1e-5).all(axis=-1)
        if wrong.any():
            fork = " of a fork; its original reads on correctly" if name[-1] in "cd" else ""
            word = f"word {int(wrong.argmax())} (counted from 0)"
            return f"The first wrong logits are those of {word}{fork}."
    if result["words read more than once"]:
        return "The logits are right. But words are read again that were already read."
    return None
