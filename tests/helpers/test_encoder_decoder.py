"""The encoder-decoder equals torch's; filler and the future change nothing; caches and writing."""

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from helpers.apps.summarization import CopyingSummarizer
from helpers.blocks import DecoderBlock, DecoderCache, DecoderStack
from helpers.config import TransformerConfig
from helpers.encoder_decoder import EncoderDecoder, source_mask
from helpers.generation import beam_search, generate
from helpers.masks import causal_mask, combine_masks, padding_mask
from helpers.positions import ALiBiPositions, LearnedPositions, RotaryPositions, SinusoidalPositions
from helpers.rnn import AdditiveAttention, RecurrentTranslator
from helpers.tokens import IGNORE_INDEX, PAD
from helpers.training import accuracy, train
from tests.helpers import properties as prop
from tests.helpers.properties import assert_equal, examples, normal
from tests.helpers.test_blocks_models import (
    MASKS,
    NORMS,
    assert_same,
    copy_to_torchs,
    for_torch,
    pick_mask,
    pick_padding,
    randomize,
    seeds,
)

SOURCE, TARGET, D, STOP = 9, 7, 8, 2
ENCODINGS = {
    "none": lambda: None,
    "learned": lambda: LearnedPositions(20, D),
    "sinusoidal": SinusoidalPositions,
    "rotary": RotaryPositions,
    "alibi": lambda: ALiBiPositions(2),
}
MODELS = {
    **{f"transformer, {name}": name for name in ENCODINGS},
    "recurrent": None,
    "recurrent with attention": None,
}
every_model = pytest.mark.parametrize("name", MODELS)


def make(name, seed=0, norm="pre"):
    """In float64, with weights so large that every part is felt in the logits."""
    torch.manual_seed(seed)
    if name.startswith("transformer"):
        encoding = ENCODINGS[MODELS[name]]()
        model = EncoderDecoder(
            TransformerConfig(TARGET, D, n_layers=2, n_heads=2, source_vocab=SOURCE, norm=norm),
            encoding,
        )
    else:
        model = RecurrentTranslator(SOURCE, TARGET, D, attention="with" in name)
    return randomize(model.double(), seed).eval()


def words(vocab, *shape, seed=0):
    """Ids without filler."""
    return torch.randint(1, vocab, shape, generator=torch.Generator().manual_seed(seed))


# --------------------------------------------------------------------------- equal to torch


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@examples
@given(
    NORMS,
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(1, 5),
    MASKS,
    MASKS.filter(lambda kind: kind != "causal"),
    st.booleans(),
    seeds,
)
def test_encoder_and_decoder_are_torchs(
    norm, batch, n_layers, T_q, T_k, kind, source_kind, pad, seed
):
    """`nn.Transformer` from end to end: outputs, and gradients of inputs and all parameters."""
    model = randomize(
        EncoderDecoder(
            TransformerConfig(
                TARGET, 6, n_layers=n_layers, n_heads=2, d_ff=7, source_vocab=SOURCE, norm=norm
            )
        ).double(),
        seed,
    )
    torchs = nn.Transformer(
        6, 2, n_layers, n_layers, 7, dropout=0.0, batch_first=True, norm_first=norm == "pre"
    ).double()
    if norm == "post":  # torch adds a norm at the end of each stack there, too
        torchs.encoder.norm = torchs.decoder.norm = None
    copy_to_torchs(model, torchs)
    source = normal(batch, T_k, 6, seed=seed, grad=True)
    target = normal(batch, T_q, 6, seed=seed + 1, grad=True)
    mask, read = pick_mask(kind, T_q, T_q, seed), pick_mask(source_kind, T_k, T_k, seed)
    padding = pick_padding(pad, batch, T_k, seed)
    (tgt_mask, _), (src_mask, blocked) = for_torch(mask, None), for_torch(read, padding)
    reference = torchs(
        source,
        target,
        src_mask=src_mask,
        tgt_mask=tgt_mask,
        src_key_padding_mask=blocked,
        memory_key_padding_mask=blocked,
    )
    both = combine_masks(read, padding)
    outs = [model.decoder(target, model.encoder(source, both), mask, padding)]
    outs += [model.decoder(target, model.encoder(source, both), mask, padding, True)[0]]
    assert_same(model, outs, torchs, reference, [source, target])


def test_the_model_is_its_parts():
    """Embeddings, encoder, decoder with a causal mask, readout; filler in the source is masked."""
    model = make("transformer, sinusoidal")
    source, target = words(SOURCE, 2, 5), words(TARGET, 2, 4)
    source[1, 3:] = PAD
    seen = padding_mask(torch.tensor([5, 3]), 5)
    codes = SinusoidalPositions()
    memory = model.encoder(codes.embed(model.source_embedding(source)), seen)
    x = codes.embed(model.target_embedding(target))
    x = model.decoder(x, memory, causal_mask(4), seen)
    assert torch.equal(source_mask(source), seen)
    assert_equal(model.encode(source), memory)
    assert_equal(model.states(target, memory, seen), x)
    assert_equal(model(source, target), model.lm_head(x))


def test_additive_attention_by_loops():
    """v · tanh(W q + U k) for each pair, softmax over the keys, a weighted sum of them."""
    attention = randomize(AdditiveAttention(4).double(), 0)
    query, key = normal(2, 3, 4, seed=1), normal(2, 5, 4, seed=2)
    mask = padding_mask(torch.tensor([5, 2]), 5)[:, 0]
    found, weights = attention(query, key, mask)
    W, U, v = attention.W_query, attention.W_key, attention.v.weight[0]
    for b in range(2):
        for i in range(3):
            scores = torch.stack([v @ (W(query[b, i]) + U(k)).tanh() for k in key[b]])
            scores[~mask[b, 0]] = -torch.inf
            assert_equal(weights[b, i], scores.softmax(-1))
            assert_equal(found[b, i], scores.softmax(-1) @ key[b])


# --------------------------------------------------------------------------- properties


@every_model
@settings(examples, max_examples=15)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 4), st.integers(0, 4), seeds)
def test_more_filler_changes_nothing(name, T_k, T_q, more_source, more_target, seed):
    model = make(name, seed)
    source, target = words(SOURCE, 2, T_k, seed=seed), words(TARGET, 2, T_q, seed=seed)
    with torch.no_grad():
        longer = [
            torch.nn.functional.pad(x, (0, more), value=PAD)
            for x, more in ((source, more_source), (target, more_target))
        ]
        assert_equal(model(*longer)[:, :T_q], model(source, target))


@every_model
def test_short_rows_of_a_batch_are_as_alone(name):
    model, source, target = make(name), words(SOURCE, 3, 6), words(TARGET, 3, 5)
    lengths = [(6, 2), (3, 5), (1, 1)]
    for row, (T_k, T_q) in enumerate(lengths):
        source[row, T_k:], target[row, T_q:] = PAD, PAD
    together = model(source, target)
    for row, (T_k, T_q) in enumerate(lengths):
        alone = model(source[row : row + 1, :T_k], target[row : row + 1, :T_q])
        assert_equal(together[row : row + 1, :T_q], alone)


@every_model
def test_logits_depend_on_source_and_earlier_targets(name):
    """Position t sees targets 0 … t, and the whole source."""
    model, source, target = make(name), words(SOURCE, 1, 5), words(TARGET, 1, 6)
    before = model(source, target)
    for t in range(6):
        changed = target.clone()
        changed[0, t] = changed[0, t] % (TARGET - 1) + 1
        moved = (model(source, changed) - before).abs().amax(dim=(0, 2))
        assert (moved[:t] == 0).all() or moved[:t].max() < 1e-12
        assert (moved[t:] > 1e-9).all()
    for t in range(5):
        changed = source.clone()
        changed[0, t] = changed[0, t] % (SOURCE - 1) + 1
        moved = (model(changed, target) - before).abs().amax(dim=(0, 2))
        assert (moved > 1e-9).all()


@every_model
def test_weights_are_distributions_over_the_source(name):
    """Padding gets no weight; the recurrent model without attention has no weights to return."""
    model, source, target = make(name), words(SOURCE, 2, 5), words(TARGET, 2, 4)
    source[1, 3:] = PAD
    if name == "recurrent":
        with pytest.raises(ValueError, match="return_weights: got True; needed a model with"):
            model(source, target, return_weights=True)
        return
    logits, maps = model(source, target, return_weights=True)
    assert_equal(logits, model(source, target))
    assert len(maps) == (2 if name.startswith("transformer") else 1)
    for weights in maps:
        assert weights.shape[0] == 2 and weights.shape[2:] == (4, 5)
        assert (weights[1, ..., 3:] == 0).all()
        assert_equal(weights.sum(-1), torch.ones_like(weights[..., 0]))


def test_training_and_accuracy_take_pairs_of_sequences():
    """A model that reads two sequences is handed both; it learns to copy the source."""
    torch.manual_seed(0)
    model = EncoderDecoder(TransformerConfig(5, 16, n_layers=1, n_heads=2), SinusoidalPositions())
    source = torch.randint(3, 5, (64, 3), generator=torch.Generator().manual_seed(0))
    target = torch.cat([torch.ones_like(source[:, :1]), source[:, :-1]], dim=1)
    wanted = source.clone()
    wanted[:, 2] = IGNORE_INDEX
    before = accuracy(model, ((source, target), wanted))
    train(model, lambda: ((source, target), wanted), 60, 1e-2)
    assert before < 0.9 and accuracy(model, ((source, target), wanted)) == 1.0


# --------------------------------------------------------------------------- the cache


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("pieces", [(1, 1, 1, 1, 1), (2, 0, 3), (5,)])
def test_written_in_pieces_is_written_at_once(norm, encoding, pieces):
    model = make(f"transformer, {encoding}", norm=norm)
    source, target = words(SOURCE, 3, 4), words(TARGET, 3, 5)
    source[2, 1:] = PAD
    memory, seen = model.encode(source), source_mask(source)
    whole, maps = model.decode(target, memory, seen, True)
    cache, end = model.new_cache(), 0
    for piece in pieces:
        start, end = end, end + piece
        found, own = model.decode(target[:, start:end], memory, seen, True, cache)
        assert_equal(found, whole[:, start:end])
        for weights, expected in zip(own, maps, strict=True):
            assert_equal(weights, expected[:, :, start:end])
        assert [len(kept) for kept in cache] == [end, end]


def test_the_memory_is_projected_once():
    model = make("transformer, rotary")
    seen = []
    model.decoder.blocks[1].cross_attention.W_key.register_forward_hook(
        lambda _module, inputs, _output: seen.append(inputs[0].shape[1])
    )
    writer = model.condition_on(words(SOURCE, 2, 4))
    generate(writer, torch.ones(2, 1, dtype=torch.long), 3)
    assert seen == [4, 0, 0]


def test_decoder_block_refuses_another_batch_size():
    """The cache stays as it was."""
    block, cache = DecoderBlock(8, 2).double(), DecoderCache()
    x, memory = normal(2, 3, 8, seed=0), normal(2, 4, 8, seed=1)
    block(x, memory, cache=cache, causal=True)
    with pytest.raises(ValueError, match="the cache holds"):
        block(x[:1], memory[:1], cache=cache, causal=True)
    assert len(cache) == 3 and len(cache.memory) == 4


def test_cache_refuses_another_memory():
    """Equal numbers in another tensor are the same memory; the cache stays as it was."""
    block, cache = DecoderBlock(8, 2).double(), DecoderCache()
    x, memory = normal(2, 3, 8, seed=0), normal(2, 4, 8, seed=1)
    block(x, memory, cache=cache, causal=True)
    for other in (memory + 1, memory[:, :3], torch.cat([memory, memory], dim=1), memory.float()):
        with pytest.raises(ValueError, match="memory: got another one than before; needed the"):
            block(x, other, cache=cache, causal=True)
        assert len(cache) == 3 and len(cache.memory) == 4
    block(x, memory.clone(), cache=cache, causal=True)
    assert len(cache) == 6 and len(cache.memory) == 4


# --------------------------------------------------------------------------- length


def test_encoder_decoder_refuses_longer_sequences():
    """Source and target each by itself; tokens in the cache count."""
    model = EncoderDecoder(TransformerConfig(TARGET, D, source_vocab=SOURCE, context_length=4))
    for source, target, name in ((5, 1, "source"), (4, 5, "target")):
        with pytest.raises(ValueError, match=f"{name}: got 5 positions; needed at most context_"):
            model(words(SOURCE, 1, source), words(TARGET, 1, target))
    source, target = words(SOURCE, 2, 4), words(TARGET, 2, 4)
    assert model(source, target).shape == (2, 4, TARGET)
    memory, cache = model.encode(source), model.new_cache()
    model.decode(target[:, :3], memory, cache=cache)
    with pytest.raises(ValueError, match="target: got 5 positions"):
        model.decode(target[:, :2], memory, cache=cache)


@pytest.mark.parametrize("kind", [EncoderDecoder, CopyingSummarizer])
def test_generation_refuses_too_long_a_target(kind):
    """At once, and not after all tokens that fit."""
    model = kind(TransformerConfig(TARGET, D, context_length=4))
    writer, start = model.condition_on(words(TARGET, 1, 3)), torch.ones(1, 1, dtype=torch.long)
    cached = kind is EncoderDecoder
    assert generate(writer, start, 3, use_cache=cached).shape == (1, 4)
    with pytest.raises(ValueError, match="max_new_tokens: got 4, after 1 tokens; needed in all"):
        generate(writer, start, 4, use_cache=cached)


def test_decoder_stack_keeps_attention_properties():
    torch.manual_seed(0)
    stack, memory = (
        DecoderStack(TransformerConfig(1, 8, n_layers=2, n_heads=2)).double(),
        normal(3, 4, 8, seed=1),
    )
    x = normal(3, 5, 8, seed=0)

    def causal(x):
        return stack(x, memory[: len(x)], causal=True)

    prop.future_changes_nothing(causal, x)
    prop.past_is_seen(causal, x)
    prop.inputs_are_kept(stack, x, memory, causal_mask(5), padding_mask(torch.tensor([4, 2, 1]), 4))


# --------------------------------------------------------------------------- writing


@every_model
@pytest.mark.parametrize("seed", range(4))
def test_beam_of_one_is_greedy_choice(name, seed):
    """With and without a cache, alone and in a batch; what comes after the end is filler."""
    model, source = make(name, seed), words(SOURCE, 3, 4, seed=seed)
    start = torch.ones(3, 1, dtype=torch.long)
    options = {"temperature": 0.0, "eos_id": STOP, "use_cache": False}
    written = generate(model.condition_on(source), start, 9, **options)
    if name.startswith("transformer"):
        cached = generate(model.condition_on(source), start, 9, **options | {"use_cache": True})
        assert torch.equal(written, cached)
    for row in range(3):
        writer = model.condition_on(source[row : row + 1])
        (only,) = beam_search(writer, start[row], 9, eos_id=STOP, n_beams=1)
        new = written[row, 1:].tolist()
        assert list(only.tokens) == new[: len(only.tokens)]
        assert set(new[len(only.tokens) :]) <= {PAD}
        assert len(only.tokens) == 9 or only.tokens[-1] == STOP


@every_model
def test_a_score_is_the_models_own_probability(name):
    model, source = make(name), words(SOURCE, 1, 4)
    for best in beam_search(
        model.condition_on(source), torch.tensor([1]), 5, eos_id=STOP, n_beams=3
    ):
        target = torch.tensor([[1, *best.tokens]])
        log_p = model(source, target)[0, :-1].log_softmax(-1)
        total = log_p[torch.arange(len(best.tokens)), torch.tensor(best.tokens)].sum()
        assert best.log_probability == pytest.approx(total.item(), abs=1e-9)


def test_condition_on_encodes_in_evaluation_mode():
    """Otherwise dropout would make of one source many."""
    torch.manual_seed(0)
    model = EncoderDecoder(TransformerConfig(TARGET, D, source_vocab=SOURCE, dropout=0.5)).train()
    source, start = words(SOURCE, 1, 4), torch.ones(1, 1, dtype=torch.long)
    writer, again = model.condition_on(source), model.condition_on(source)
    assert model.training and model.encoder.training
    assert torch.equal(writer.memory, again.memory) and not writer.memory.requires_grad
    assert torch.equal(writer.memory, model.eval().encode(source))
    options = {"temperature": 0.0, "max_new_tokens": 8}
    assert torch.equal(generate(writer, start, **options), generate(again, start, **options))


def test_given_follows_the_mode_of_its_model():
    model = make("transformer, none")
    assert not model.condition_on(words(SOURCE, 1, 3)).training
    model.train()
    writer = model.condition_on(words(SOURCE, 1, 3))
    generate(writer, torch.ones(1, 1, dtype=torch.long), 2)
    assert writer.training and model.training
    assert copy.deepcopy(model).training


def test_a_conditioned_decoder_moves_as_a_whole():
    """What it remembers of the source goes with the weights, but is not stored with them."""
    writer = make("transformer, none").condition_on(words(SOURCE, 1, 3))
    assert not [name for name in writer.state_dict() if "memory" in name]
    assert writer.float()(torch.ones(1, 2, dtype=torch.long)).dtype is torch.float32


@pytest.mark.parametrize("name", ["transformer, none", "recurrent"])
def test_condition_on_leaves_each_parts_mode(name):
    """A part in evaluation, such as a frozen encoder, is not put in training with the rest."""
    model = make(name).train()
    model.encoder.eval()
    writer = model.condition_on(words(SOURCE, 1, 3))
    assert writer.training and model.training and not model.encoder.training


def test_beam_search_uses_eval_mode_and_restores_it():
    torch.manual_seed(0)
    config = TransformerConfig(TARGET, D, source_vocab=SOURCE, dropout=0.5)
    model, start = EncoderDecoder(config).train(), torch.tensor([1])
    writer = model.condition_on(words(SOURCE, 1, 4))
    found = beam_search(writer, start, 6, eos_id=STOP)
    assert writer.training and model.decoder.training
    assert beam_search(writer, start, 6, eos_id=STOP) == found
    assert beam_search(writer.eval(), start, 6, eos_id=STOP) == found
