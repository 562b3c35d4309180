"""Distributions for the next token do what their names say; generation is the same with a cache."""

import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import generation
from helpers.attention import KeyValueCache, MultiHeadAttention
from helpers.blocks import TransformerBlock
from helpers.config import TransformerConfig
from helpers.generation import (
    beam_search,
    filter_top_k,
    filter_top_p,
    generate,
    greedy,
    next_token_probabilities,
)
from helpers.masks import causal_mask
from helpers.models import LanguageModel, TransformerModel
from helpers.positions import (
    ALiBiPositions,
    LearnedPositions,
    PositionEncoding,
    RotaryPositions,
    SinusoidalPositions,
)
from helpers.rnn import RecurrentModel
from helpers.tokens import PAD
from tests.helpers.properties import assert_equal, examples, normal

VOCAB = 11
seeds = st.integers(0, 10_000)
vocabs = st.integers(1, 12)
shapes = st.sampled_from([(), (3,), (2, 3)])
temperatures = st.sampled_from([1e-3, 0.3, 1.0, 2.5, 1e6])


def some_logits(shape, vocab, seed, ties=False):
    logits = 3.0 * normal(*shape, vocab, seed=seed)
    return logits.round() if ties else logits


def assert_distribution(p):
    assert (p >= 0).all()
    assert_equal(p.sum(dim=-1), torch.ones(p.shape[:-1], dtype=p.dtype))


# --------------------------------------------------------------------------- distributions


@examples
@given(
    shapes,
    vocabs,
    st.sampled_from([0.0, 1e-300, 1e-3, 0.7, 1.0, 3.0, 1e300]),
    st.none() | st.integers(1, 12),
    st.none() | st.sampled_from([1e-6, 0.1, 0.5, 0.9, 1.0]),
    st.booleans(),
    seeds,
)
def test_always_a_distribution(shape, vocab, temperature, k, p, ties, seed):
    """Whatever is asked for, and in every row by itself."""
    logits = some_logits(shape, vocab, seed, ties)
    k = None if k is None else min(k, vocab)
    found = next_token_probabilities(logits, temperature, k, p)
    assert found.shape == logits.shape and found.dtype == logits.dtype
    assert_distribution(found)
    rows = [next_token_probabilities(row, temperature, k, p) for row in logits.reshape(-1, vocab)]
    assert_equal(found.reshape(-1, vocab), torch.stack(rows))


@examples
@given(shapes, vocabs, temperatures, seeds)
def test_temperature_divides_the_logits(shape, vocab, temperature, seed):
    """The formula, where it can be computed as it stands; ratios are powers of those at 1."""
    logits = some_logits(shape, vocab, seed)
    found = next_token_probabilities(logits, temperature)
    assert_equal(found, (logits / temperature).softmax(dim=-1))
    if temperature >= 0.3:
        at_one = next_token_probabilities(logits).log()
        gaps = (at_one - at_one.amax(dim=-1, keepdim=True)) / temperature
        assert_equal(found.log() - found.log().amax(dim=-1, keepdim=True), gaps)


@examples
@given(shapes, vocabs, seeds)
def test_cold_is_greedy_and_hot_is_uniform(shape, vocab, seed):
    logits = some_logits(shape, vocab, seed)
    best = torch.nn.functional.one_hot(logits.argmax(dim=-1), vocab).double()
    assert_equal(greedy(logits), best)
    assert_equal(next_token_probabilities(logits, 0.0), best)
    if vocab > 1:  # two logits may come near each other by chance
        two = logits.topk(2, dim=-1).values
        assume((two[..., 0] - two[..., 1]).min() > 1e-4)
    assert_equal(next_token_probabilities(logits, 1e-6), best)
    uniform = torch.full_like(logits, 1.0 / vocab)
    assert (next_token_probabilities(logits, 1e9) - uniform).abs().max() < 1e-7


def test_greedy_takes_the_first_of_equal_ones():
    logits = torch.tensor([[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]])
    assert torch.equal(greedy(logits), torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))


def test_tiny_temperature_does_not_overflow():
    for dtype in (torch.float32, torch.float64):
        logits = torch.tensor([1e4, -1e4, 9e3, -torch.inf], dtype=dtype)
        expected = torch.tensor([1.0, 0.0, 0.0, 0.0], dtype=dtype)
        assert torch.equal(next_token_probabilities(logits, 1e-40), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [1e-10, 1e-40, 1e-50, 1e-300, 5e-324])
def test_tiny_temperature_shares_among_the_largest(dtype, temperature):
    """Also where it is 0 in the dtype of the logits: 0/0 would be NaN."""
    logits = torch.tensor([[2.0, 1.0, 2.0, -torch.inf], [0.0, 1.0, 0.5, -3.0]], dtype=dtype)
    expected = torch.tensor([[0.5, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0]])
    expected = expected.to(torch.promote_types(dtype, torch.float32))
    assert torch.equal(next_token_probabilities(logits, temperature), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_top_p_of_half_precision_sums_in_float32(dtype):
    """1,024 equal tokens: near 1, sums in bfloat16 are 0.004 apart, as much as four of them."""
    logits = torch.zeros(1024, dtype=dtype)
    assert (next_token_probabilities(logits, top_p=0.75) > 0).sum() == 768
    kept = filter_top_p(torch.full((1024,), 2.0**-10, dtype=dtype), 0.75)
    assert (kept > 0).sum() == 768 and kept.dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_beam_search_of_half_precision_sums_in_float32(dtype):
    table = torch.randn(12, 12, generator=torch.Generator().manual_seed(0)).to(dtype)
    options = {"eos_id": 11, "n_beams": 3}
    table[:, 11] = -torch.inf  # so that all 40 steps are summed
    narrow = beam_search(lambda rows: table[rows], torch.tensor([0]), 40, **options)
    wide = beam_search(lambda rows: table.float()[rows], torch.tensor([0]), 40, **options)
    assert narrow == wide


@examples
@given(
    vocabs,
    st.sampled_from([0.0, 0.3, 1.0, 4.0]),
    st.integers(1, 12),
    st.sampled_from([0.2, 0.8, 1.0]),
    st.booleans(),
    seeds,
)
def test_order_is_kept(vocab, temperature, k, p, ties, seed):
    """A likelier token never becomes the less likely one; only dropped ones may become equal."""
    logits = some_logits((), vocab, seed, ties)
    found = next_token_probabilities(logits, temperature, min(k, vocab), p)
    for i in range(vocab):
        for j in range(vocab):
            if logits[i] > logits[j]:
                assert found[i] >= found[j]


def test_temperature_comes_before_the_filters():
    """Cold, one token reaches 0.8; hot, it takes three."""
    logits = torch.tensor([3.0, 2.0, 1.0, 0.0], dtype=torch.float64)
    kept = [int((next_token_probabilities(logits, t, top_p=0.8) > 0).sum()) for t in (0.5, 1.0, 3)]
    assert kept == [1, 2, 3]


def test_top_k_comes_before_top_p():
    """Of two equal halves the first reaches 0.5; of the whole it takes two quarters."""
    logits = torch.zeros(4)
    assert torch.equal(
        next_token_probabilities(logits, 1.0, top_k=2, top_p=0.5), torch.tensor([1.0, 0, 0, 0])
    )
    assert torch.equal(
        next_token_probabilities(logits, 1.0, top_p=0.5), torch.tensor([0.5, 0.5, 0, 0])
    )


# --------------------------------------------------------------------------- filters


def assert_only_filtered(kept, probabilities):
    """What is kept has the same ratios as before: all grew by one factor for each row."""
    assert_distribution(kept)
    stays = kept > 0
    total = (probabilities * stays).sum(dim=-1, keepdim=True)
    assert_equal(kept * total, probabilities * stays)


@examples
@given(shapes, vocabs, st.integers(1, 12), st.booleans(), seeds)
def test_top_k_keeps_exactly_k(shape, vocab, k, ties, seed):
    """The likeliest; of equal ones those with the smaller ids."""
    k = min(k, vocab)
    probabilities = some_logits(shape, vocab, seed, ties).softmax(dim=-1)
    kept = filter_top_k(probabilities, k)
    assert_only_filtered(kept, probabilities)
    for row, found in zip(probabilities.reshape(-1, vocab), kept.reshape(-1, vocab), strict=True):
        by_hand = sorted(range(vocab), key=lambda i: (-float(row[i]), i))[:k]
        assert found.nonzero().flatten().tolist() == sorted(by_hand)


@examples
@given(shapes, vocabs, st.sampled_from([1e-6, 0.1, 0.5, 0.9, 0.999, 1.0]), st.booleans(), seeds)
def test_top_p_keeps_the_smallest_set_that_reaches_p(shape, vocab, p, ties, seed):
    """It reaches p; without its least likely token it does not; nothing outside is likelier."""
    probabilities = some_logits(shape, vocab, seed, ties).softmax(dim=-1)
    kept = filter_top_p(probabilities, p)
    assert_only_filtered(kept, probabilities)
    for row, found in zip(probabilities.reshape(-1, vocab), kept.reshape(-1, vocab), strict=True):
        inside, outside = row[found > 0], row[found == 0]
        assert inside.sum() >= p - 1e-12
        if p < 1:
            assert inside.sum() - inside.min() < p + 1e-12
        if len(outside):
            assert inside.min() >= outside.max()


def test_top_p_by_hand():
    """Sums of powers of two are exact, so that reaching p is no matter of rounding."""
    p = torch.tensor([[0.125, 0.5, 0.25, 0.125], [0.25, 0.25, 0.25, 0.25]])
    cases = {
        0.001: [[0, 1, 0, 0], [1, 0, 0, 0]],
        0.5: [[0, 1, 0, 0], [1, 1, 0, 0]],
        0.51: [[0, 1, 1, 0], [1, 1, 1, 0]],
        0.75: [[0, 1, 1, 0], [1, 1, 1, 0]],
        0.875: [[1, 1, 1, 0], [1, 1, 1, 1]],
        1.0: [[1, 1, 1, 1], [1, 1, 1, 1]],
    }
    for reach, stays in cases.items():
        assert (filter_top_p(p, reach) > 0).int().tolist() == stays


def test_everything_kept_is_nothing_changed():
    """Also what is so unlikely that it vanishes in the rounding of a sum."""
    probabilities = torch.tensor([0.0, 40.0, 1.0, -5.0]).softmax(dim=-1)
    assert (probabilities > 0).all() and probabilities[1] == 1.0
    assert torch.equal(filter_top_p(probabilities, 1.0) > 0, probabilities > 0)
    assert torch.allclose(filter_top_p(probabilities, 1.0), probabilities, rtol=1e-6, atol=0)
    assert torch.allclose(filter_top_k(probabilities, 4), probabilities, rtol=1e-6, atol=0)


# --------------------------------------------------------------------------- models to draw from


class Fixed(torch.nn.Module):
    """Whatever it reads, the same logits for the next token."""

    def __init__(self, logits):
        super().__init__()
        self.logits = logits

    def forward(self, tokens):
        return self.logits.expand(*tokens.shape, -1)


class Next(torch.nn.Module):
    """After token n comes n + 1."""

    def forward(self, tokens):
        return torch.nn.functional.one_hot((tokens + 1) % VOCAB, VOCAB).double()


@pytest.mark.parametrize(
    "options",
    [{}, {"temperature": 0.5}, {"temperature": 2.0}, {"top_k": 2}, {"top_p": 0.8}],
    ids=str,
)
def test_drawn_as_often_as_probable(options):
    """Of 40,000 draws each token gets its share, within five standard deviations; others none."""
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0], dtype=torch.float64)
    n = 40_000
    drawn = generate(
        Fixed(logits),
        torch.zeros(n, 1, dtype=torch.long),
        1,
        generator=torch.Generator().manual_seed(0),
        use_cache=False,
        **options,
    )[:, 1]
    counts = drawn.bincount(minlength=4).double()
    expected = next_token_probabilities(logits, **options)
    spread = (n * expected * (1 - expected)).sqrt()
    assert ((counts - n * expected).abs() <= 5 * spread).all()
    assert (counts[expected == 0] == 0).all()
    # The bound is narrow enough to tell the settings apart.
    plain = next_token_probabilities(logits)
    assert not options or ((counts - n * plain).abs() > 5 * spread).any()


def test_draws_follow_the_generator():
    """The same seed gives the same tokens, another one others; torch's own seed plays no part."""
    model, tokens = Fixed(torch.zeros(5)), torch.zeros(3, 1, dtype=torch.long)

    def draw(seed):
        generator = torch.Generator().manual_seed(seed)
        return generate(model, tokens, 20, generator=generator, use_cache=False)

    first = draw(0)
    torch.manual_seed(1)
    assert torch.equal(draw(0), first) and not torch.equal(draw(1), first)
    assert len({tuple(row) for row in first.tolist()}) == 3  # rows are drawn independently


def test_generation_writes_on():
    """Each row after its own beginning, which stays; `max_new_tokens` tokens."""
    tokens = torch.tensor([[5, 1], [0, 7]])
    found = generate(Next(), tokens, 4, temperature=0.0, use_cache=False)
    assert found.tolist() == [[5, 1, 2, 3, 4, 5], [0, 7, 8, 9, 10, 0]]
    assert torch.equal(generate(Next(), tokens, 0, use_cache=False), tokens)
    assert tokens.tolist() == [[5, 1], [0, 7]]


def test_rows_stop_by_themselves():
    """At `stop`, which is kept; then filler; the end when all have stopped."""
    tokens = torch.tensor([[2], [6], [9], [4]])
    found = generate(Next(), tokens, 5, temperature=0.0, eos_id=8, use_cache=False)
    assert found.tolist() == [
        [2, 3, 4, 5, 6, 7],
        [6, 7, 8, PAD, PAD, PAD],
        [9, 10, 0, 1, 2, 3],
        [4, 5, 6, 7, 8, PAD],
    ]
    options = {"temperature": 0.0, "eos_id": 8, "use_cache": False}
    for pad_id in (8, 10):  # where id 0 is a word like any other
        padded = generate(Next(), tokens, 5, pad_id=pad_id, **options)
        assert padded[1].tolist() == [6, 7, 8, *[pad_id] * 3]
        assert torch.equal(padded[[0, 2]], found[[0, 2]]) and padded[3, -1] == pad_id
    assert generate(
        Next(), tokens[1:2], 5, temperature=0.0, eos_id=8, use_cache=False
    ).tolist() == [[6, 7, 8]]
    several = generate(Next(), tokens, 5, **options | {"eos_id": (6, 8)})
    assert several[[1, 3]].tolist() == [[6, 7, 8, *[PAD] * 3], [4, 5, 6, *[PAD] * 3]]
    for eos_id in (torch.tensor(8), torch.tensor(8).numpy()[()], {8}):  # a number in other clothes
        assert torch.equal(generate(Next(), tokens, 5, **options | {"eos_id": eos_id}), found)
    # A stop in the beginning does not count: the row has yet to begin.
    again = generate(Next(), torch.tensor([[8]]), 2, temperature=0.0, eos_id=8, use_cache=False)
    assert again.tolist() == [[8, 9, 10]]


def test_generate_uses_eval_mode_and_restores_training():
    """Without dropout and without gradients; a model in training goes on in training."""
    torch.manual_seed(0)
    model = LanguageModel(TransformerConfig(VOCAB, 8, dropout=0.5), LearnedPositions(9, 8))
    tokens = torch.randint(VOCAB, (2, 3))
    for training in (True, False):
        model.train(training)
        first = generate(model, tokens, 6, temperature=0.0)
        assert torch.equal(generate(model, tokens, 6, temperature=0.0), first)
        assert model.training == training == model.blocks[0].training
        with pytest.raises(ValueError, match="context_length"):
            generate(model, tokens, 8)
        assert model.training == training == model.blocks[0].training
        assert not first.requires_grad


@pytest.mark.parametrize("use_cache", [False, True])
@pytest.mark.parametrize("T", [2, 4, 6])
def test_cropped_context_is_the_last_tokens(T, use_cache):
    """Each token follows from the `context_length` tokens before it, read from position 0."""
    torch.manual_seed(0)
    model = LanguageModel(TransformerConfig(VOCAB, 8), LearnedPositions(4, 8)).eval()
    for i, parameter in enumerate(model.parameters()):
        parameter.data.copy_(normal(*parameter.shape, seed=i))
    tokens = expected = some_tokens(2, T)
    options = {"temperature": 0.0, "use_cache": use_cache}
    found = generate(model, tokens, 7, crop_context=True, **options)
    for _ in range(7):
        best = model(expected[:, -4:])[:, -1:].argmax(dim=-1)
        expected = torch.cat([expected, best], dim=1)
    assert torch.equal(found, expected)
    with pytest.raises(ValueError, match="or crop_context=True"):
        generate(model, tokens, 7, **options)


def test_recurrent_models_generate_too():
    torch.manual_seed(0)
    model = RecurrentModel(VOCAB, 8, VOCAB, "lstm")
    found = generate(model, torch.randint(VOCAB, (2, 3)), 4, temperature=0.0, use_cache=False)
    assert torch.equal(found[:, -1], model(found[:, :-1])[:, -1].argmax(dim=-1))


# --------------------------------------------------------------------------- key-value cache

LONGEST = 24
ENCODINGS = {
    "none": PositionEncoding,
    "learned": lambda: LearnedPositions(LONGEST, 8),
    "sinusoidal": SinusoidalPositions,
    "rotary": RotaryPositions,
    "alibi": lambda: ALiBiPositions(2),
}
every_encoding = pytest.mark.parametrize("encoding", ENCODINGS)
every_norm = pytest.mark.parametrize("norm", ["pre", "post"])


def make(encoding, norm, seed=0):
    """Weights so large that every part of the model is felt in the logits."""
    torch.manual_seed(seed)
    model = LanguageModel(
        TransformerConfig(VOCAB, 8, n_layers=2, n_heads=2, norm=norm), ENCODINGS[encoding]()
    ).double()
    for i, parameter in enumerate(model.parameters()):
        parameter.data.copy_(0.5 * normal(*parameter.shape, seed=seed + i))
    return model.eval()


def some_tokens(batch, T, seed=0):
    return torch.randint(VOCAB, (batch, T), generator=torch.Generator().manual_seed(seed))


def assert_near(ours, reference):
    """Numbers computed in another order differ in their last digits only."""
    assert ours.shape == reference.shape
    assert torch.allclose(ours, reference, rtol=0.0, atol=1e-10)


@every_encoding
@every_norm
@settings(examples, max_examples=20)
@given(
    chunks=st.lists(st.integers(0, 6), min_size=1, max_size=6),
    batch=st.integers(1, 3),
    weights=st.booleans(),
    seed=seeds,
)
def test_read_in_pieces_is_read_at_once(encoding, norm, chunks, batch, weights, seed):
    """Any pieces, also empty ones; logits, and weights over all that was read so far."""
    assume(sum(chunks) <= LONGEST)
    model, tokens = make(encoding, norm, seed), some_tokens(batch, sum(chunks), seed)
    with torch.no_grad():
        logits, maps = model(tokens, return_weights=True)
        cache, end = model.new_cache(), 0
        for chunk in chunks:
            start, end = end, end + chunk
            piece = tokens[:, start:end]
            found = model(piece, weights, cache)
            if weights:
                found, found_maps = found
                for layer, whole in zip(found_maps, maps, strict=True):
                    assert_equal(layer, whole[:, :, start:end, :end], "weights")
            assert_near(found, logits[:, start:end])
            assert [len(own) for own in cache] == [end, end]


@every_encoding
@every_norm
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_cache_changes_no_token(encoding, norm, temperature):
    """Several rows, some of which stop earlier, with the same draws."""
    model, tokens = make(encoding, norm), some_tokens(4, 3)
    found = [
        generate(
            model,
            tokens,
            LONGEST - 3,
            temperature=temperature,
            eos_id=4,
            generator=torch.Generator().manual_seed(0),
            use_cache=use_cache,
        )
        for use_cache in (True, False)
    ]
    assert torch.equal(*found)
    assert temperature == 0.0 or found[0].shape[1] > 6


@every_encoding
def test_generated_tokens_are_those_of_the_whole(encoding):
    """Each is the likeliest by the logits that the finished sequence gets when read at once."""
    model, tokens = make(encoding, "pre"), some_tokens(3, 2)
    found = generate(model, tokens, 10, temperature=0.0)
    assert torch.equal(found[:, 2:], model(found)[:, 1:-1].argmax(dim=-1))


def test_gradients_flow_through_the_cache():
    """Nothing is overwritten that the way back needs."""
    model, tokens = make("rotary", "pre"), some_tokens(2, 6)
    cache = model.new_cache()
    pieces = torch.cat([model(tokens[:, :4], cache=cache), model(tokens[:, 4:], cache=cache)], 1)
    direction = normal(*pieces.shape, seed=0)
    parameters = list(model.parameters())
    ours = torch.autograd.grad((pieces * direction).sum(), parameters)
    whole = torch.autograd.grad((model(tokens) * direction).sum(), parameters)
    for a, b in zip(ours, whole, strict=True):
        assert_near(a, b)


def test_cache_reads_only_what_is_new():
    """The projections of keys see one position a step: that is where the time is saved."""
    model, tokens = make("rotary", "pre"), some_tokens(2, 5)
    seen = []
    model.blocks[1].attention.W_key.register_forward_hook(
        lambda _module, inputs, _output: seen.append(inputs[0].shape[1])
    )
    generate(model, tokens, 4)
    assert seen == [5, 1, 1, 1]
    seen.clear()
    generate(model, tokens, 4, use_cache=False)
    assert seen == [5, 6, 7, 8]


def test_a_cache_of_one_layer():
    """Attention and block by themselves, with an encoding that looks at positions."""
    attention = MultiHeadAttention(8, 2, d_k=6, d_v=3, positions=RotaryPositions()).double()
    block = TransformerBlock(8, 2, positions=ALiBiPositions(2)).double()
    x = normal(2, 7, 8, seed=0)
    for layer in (lambda x, mask, cache: attention(x, mask=mask, cache=cache), block):
        cache = KeyValueCache()
        assert len(cache) == 0
        options = {"cache": cache}
        first = layer(x[:, :5], causal_mask(5), **options)
        second = layer(x[:, 5:], causal_mask(2, 7), **options)
        assert len(cache) == 7
        assert_equal(torch.cat([first, second], 1), layer(x, causal_mask(7), cache=None))
    assert cache.keys.shape == cache.values.shape == (2, 2, 7, 4)


def test_a_refused_call_leaves_the_cache():
    """Other numbers of rows, or more positions than were learned."""
    model = make("learned", "pre")
    cache = model.new_cache()
    model(some_tokens(2, 20), cache=cache)
    for tokens in (some_tokens(3, 1), some_tokens(2, 5)):
        with pytest.raises(ValueError, match="needed"):
            model(tokens, cache=cache)
        assert [len(own) for own in cache] == [20, 20]
    whole = torch.cat([some_tokens(2, 20), some_tokens(2, 4, 1)], 1)
    assert_near(model(whole[:, 20:], cache=cache), model(whole)[:, 20:])


def test_models_with_other_outputs_have_a_cache_too():
    torch.manual_seed(0)
    model, tokens = (
        TransformerModel(TransformerConfig(VOCAB, 8, n_outputs=3)).double(),
        some_tokens(2, 6),
    )
    cache = model.new_cache()
    found = torch.cat([model(tokens[:, :1], cache=cache), model(tokens[:, 1:], cache=cache)], 1)
    assert_equal(found, model(tokens))


def test_uniform_logits_need_no_cache():
    """A model without blocks: log(vocab) is its loss, and it can write without a cache."""
    model = LanguageModel(TransformerConfig(VOCAB, 8, n_layers=0))
    with torch.no_grad():
        model.embedding.weight.zero_()
    p = next_token_probabilities(model(some_tokens(2, 3)))
    assert torch.allclose(-p.log(), torch.full_like(p, math.log(VOCAB)))
    assert generate(model, some_tokens(2, 3), 4, use_cache=False).shape == (2, 7)


# --------------------------------------------------------------------------- beam search


def table(*rows):
    """A model whose next token depends on the last one alone, with these probabilities."""
    log_p = torch.tensor(rows, dtype=torch.float64).log()
    return lambda tokens: log_p[tokens]


# 0 begins, 3 ends. The likelier first step leads to three equal ones, the other to a sure one.
TEMPTING = table([0, 0.6, 0.4, 0], [0.3, 0.2, 0.2, 0.3], [0, 0, 0, 1], [0.25] * 4)


def test_beams_find_what_greedy_choice_passes_by():
    (greedy_one,) = beam_search(TEMPTING, torch.tensor([0]), 5, eos_id=3, n_beams=1)
    best = beam_search(TEMPTING, torch.tensor([0]), 5, eos_id=3, n_beams=2)[0]
    assert greedy_one.tokens[0] == 1
    assert best.tokens == (2, 3) and best.score == pytest.approx(math.log(0.4))
    assert greedy_one.score < best.score


def every_continuation(model, start, longest, stop):
    """All of them with their log-probabilities, by going through the tree."""
    found, rows = {}, [((), 0.0)]
    while rows:
        new, p = rows.pop()
        log_p = model(torch.tensor([[*start, *new]]))[0, -1].log_softmax(-1)
        for token, more in enumerate(log_p.tolist()):
            longer = (*new, token)
            if token == stop or len(longer) == longest:
                found[longer] = p + more
            else:
                rows.append((longer, p + more))
    return found


@examples
@given(st.integers(1, 3), st.integers(2, 4), st.sampled_from([0.0, 0.6, 1.0]), seeds)
def test_beams_that_hold_everything_find_the_best(longest, vocab, length_power, seed):
    """With room for all beginnings, beam search is exact; with less, never below greedy choice."""
    embed = normal(vocab, 5, seed=seed)
    mix = normal(5, vocab, seed=seed + 1)
    weight = torch.linspace(1.0, 2.0, 8, dtype=torch.float64)[:, None]

    def model(tokens):
        return 3 * (embed[tokens] * weight[: tokens.shape[1]]).cumsum(1).sin() @ mix

    options = {"eos_id": vocab - 1, "length_penalty": length_power}
    start = torch.tensor([0])
    everything = every_continuation(model, [0], longest, vocab - 1)
    scores = {new: p / len(new) ** length_power for new, p in everything.items()}
    found = beam_search(model, start, longest, n_beams=vocab**longest, **options)
    assert {h.tokens for h in found} == scores.keys()
    assert all(h.score == pytest.approx(scores[h.tokens], abs=1e-12) for h in found)
    assert found[0].score == pytest.approx(max(scores.values()))
    assert sum(math.exp(p) for p in everything.values()) == pytest.approx(1.0)
    lowest = beam_search(model, start, longest, n_beams=1, **options)[0].score
    for n_beams in (2, 3, 5):
        best = beam_search(model, start, longest, n_beams=n_beams, **options)
        assert best[0].score >= lowest
        assert [h.score for h in best] == sorted((h.score for h in best), reverse=True)


def test_beam_search_never_loses_to_greedy():
    """A beam alone can lose what greedy choice finds, so that is followed too. 0 begins, 6 ends.

    Greedy choice takes 1, 2, 6: .55 · .3 = .165, the best of all. After the second step a beam of
    two holds (3, 4) and (3, 5), .225 each, and both go on to ten equal words.
    """
    rows = torch.zeros(17, 17, dtype=torch.float64)
    rows[0, [1, 3]] = torch.tensor([0.55, 0.45], dtype=torch.float64)
    rows[1, 2], rows[1, 7:14] = 0.3, 0.1
    rows[3, [4, 5]] = 0.5
    rows[[4, 5], 7:] = 0.1
    rows[[2, 6], 6] = rows[7:, 6] = 1.0
    model, start = table(*rows.tolist()), torch.tensor([0])
    (greedy_one,) = beam_search(model, start, 5, eos_id=6, n_beams=1)
    assert greedy_one.tokens == (1, 2, 6) and greedy_one.score == pytest.approx(math.log(0.165))
    assert max(every_continuation(model, [0], 5, 6).values()) == pytest.approx(math.log(0.165))
    plain = generation._search(model, start, 5, 6, n_beams=2)
    assert max(plain.values()) == pytest.approx(math.log(0.0225))
    assert beam_search(model, start, 5, eos_id=6, n_beams=2)[0] == greedy_one


def test_the_length_norm_lets_longer_ones_win():
    """(3) has .4; (1, 2, 3) has .6 · .8 · .8 = .384, and more for each token."""
    model = table([0, 0.6, 0, 0.4], [0, 0, 0.8, 0.2], [0.2, 0, 0, 0.8], [0.25] * 4)
    plain, mean = (
        beam_search(model, torch.tensor([0]), 5, eos_id=3, n_beams=3, length_penalty=power)[0]
        for power in (0.0, 1.0)
    )
    assert plain.tokens == (3,) and plain.score == pytest.approx(math.log(0.4))
    assert mean.tokens == (1, 2, 3) and mean.score == pytest.approx(math.log(0.384) / 3)


def test_what_cannot_come_is_no_hypothesis():
    found = beam_search(table([0, 0, 1], [0, 0, 1], [0, 0, 1]), torch.tensor([0]), 3, eos_id=2)
    assert [h.tokens for h in found] == [(2,)]


def test_beam_search_scores_unfinished_hypotheses():
    found = beam_search(table([0.5, 0.5, 0], [0, 1, 0]), torch.tensor([0]), 3, eos_id=2, n_beams=2)
    assert all(len(h.tokens) == 3 for h in found)
