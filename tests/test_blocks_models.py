"""Blocks equal torch's encoder layer; models read only what came before."""

import properties as prop
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from properties import assert_equal, examples, gradients, normal, random_mask
from test_attention import copy_weights
from torch import nn

from helpers.blocks import FeedForward, TransformerBlock
from helpers.masks import causal_mask, combine_masks, padding_mask, to_blocking
from helpers.models import AttentionReader, RecurrentModel, TransformerModel, set_forget_bias
from helpers.positions import ALiBiPositions, LearnedPositions, RotaryPositions, SinusoidalPositions

seeds = st.integers(0, 10_000)


def copy_block(ours: TransformerBlock, torchs: nn.TransformerEncoderLayer) -> None:
    """Give torch's layer the weights of ours."""
    copy_weights(ours.attention, torchs.self_attn)
    torchs.linear1.load_state_dict(ours.feed_forward.widen.state_dict())
    torchs.linear2.load_state_dict(ours.feed_forward.narrow.state_dict())
    torchs.norm1.load_state_dict(ours.norm_attention.state_dict())
    torchs.norm2.load_state_dict(ours.norm_feed_forward.state_dict())


def shake(module: nn.Module, seed: int) -> nn.Module:
    """Random numbers in all parameters: fresh layer norms and biases hide what is swapped."""
    for i, parameter in enumerate(module.parameters()):
        parameter.data.copy_(0.5 * normal(*parameter.shape, seed=seed + i))
    return module


@examples
@given(
    st.sampled_from(["pre", "post"]),
    st.integers(1, 3),
    st.integers(1, 6),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 9),
    st.sampled_from(["none", "causal", "random"]),
    st.booleans(),
    seeds,
)
def test_block_is_torchs(norm, batch, T, n_heads, d_head, d_ff, kind, pad, seed):
    """Outputs and all gradients, with the norm before or after, masks and padding."""
    torch.manual_seed(seed)
    d_model = n_heads * d_head
    ours = shake(TransformerBlock(d_model, n_heads, d_ff, norm).double(), seed)
    torchs = nn.TransformerEncoderLayer(
        d_model, n_heads, d_ff, dropout=0.0, batch_first=True, norm_first=norm == "pre"
    ).double()
    copy_block(ours, torchs)
    x = normal(batch, T, d_model, seed=seed, grad=True)
    mask = {"none": None, "causal": causal_mask(T), "random": random_mask(T, T, seed=seed)}[kind]
    if kind == "random":
        mask[:, 0] = True  # torch gives NaN to a query that sees nothing
    padding = padding_mask(torch.arange(batch) % T + 1, T) if pad else None
    reference = torchs(
        x,
        src_mask=None if mask is None else to_blocking(mask),
        src_key_padding_mask=None if padding is None else to_blocking(padding)[:, 0, 0],
    )
    pairs = [
        (x, x),
        (ours.feed_forward.widen.weight, torchs.linear1.weight),
        (ours.norm_attention.weight, torchs.norm1.weight),
        (ours.norm_feed_forward.bias, torchs.norm2.bias),
        (ours.attention.W_out.weight, torchs.self_attn.out_proj.weight),
    ]
    expected = gradients(reference, [theirs for _, theirs in pairs])
    for return_weights in (False, True):
        out = ours(x, combine_masks(mask, padding), return_weights)
        out = out[0] if return_weights else out
        assert_equal(out, reference)
        for a, b in zip(gradients(out, [mine for mine, _ in pairs]), expected, strict=True):
            assert_equal(a, b, "gradients")


def test_feed_forward_takes_each_position_alone():
    torch.manual_seed(0)
    layer = FeedForward(4, 9).double()
    x = normal(2, 5, 4, seed=0)
    together = layer(x)
    for t in range(5):
        assert_equal(layer(x[:, t]), together[:, t])
    assert_equal(together, layer.narrow(F.relu(layer.widen(x))))
    assert_equal(layer(x[0, 0]), together[0, 0])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_block_keeps_the_properties_of_attention(norm):
    torch.manual_seed(0)
    block = TransformerBlock(8, 2, norm=norm).double()
    x = normal(3, 5, 8, seed=0)
    prop.each_sequence_alone(block, x)
    prop.follows_permutation(block, x)
    prop.everything_is_seen(block, x)
    prop.future_changes_nothing(lambda x: block(x, causal_mask(x.shape[1])), x)
    prop.past_is_seen(lambda x: block(x, causal_mask(x.shape[1])), x)
    prop.padding_changes_nothing(lambda x, n: block(x, padding_mask(n, x.shape[1])), x)
    prop.inputs_are_kept(block, x, causal_mask(5))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_block_drops_in_training_only(norm):
    torch.manual_seed(0)
    block = TransformerBlock(8, 2, norm=norm, dropout=0.3).double()
    x = normal(2, 5, 8, seed=0)
    prop.training_drops(block, x)
    prop.evaluation_repeats_itself(block, x)
    same = TransformerBlock(8, 2, norm=norm).double().train()
    same.load_state_dict(block.state_dict())
    assert_equal(block(x), same(x))


@pytest.mark.parametrize("part", ["attention", "feed_forward"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_block_without_a_part_is_its_residual(norm, part):
    """With zero weights at the end of one part, what is left is the sum's other half."""
    block = TransformerBlock(8, 2, norm=norm).double()
    last = block.attention.W_out if part == "attention" else block.feed_forward.narrow
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    x = normal(2, 5, 8, seed=0)
    n1, n2 = block.norm_attention, block.norm_feed_forward
    if norm == "pre":
        expected = (
            x + block.feed_forward(n2(x)) if part == "attention" else x + block.attention(n1(x))
        )
    elif part == "attention":
        expected = n2(n1(x) + block.feed_forward(n1(x)))
    else:
        expected = n2(n1(x + block.attention(x)))
    assert_equal(block(x), expected)


# --------------------------------------------------------------------------- models

MODELS = {
    "rnn": lambda: RecurrentModel(11, 8, 5, "rnn"),
    "lstm": lambda: RecurrentModel(11, 8, 5, "lstm", n_layers=2, forget_bias=2.0),
    "gru": lambda: RecurrentModel(11, 8, 5, "gru"),
    "transformer": lambda: TransformerModel(11, 8, 5),
    "one layer, post-norm": lambda: TransformerModel(11, 8, 5, n_layers=1, norm="post"),
    "learned": lambda: TransformerModel(11, 8, 5, positions=LearnedPositions(16, 8)),
    "sinusoidal": lambda: TransformerModel(11, 8, 5, positions=SinusoidalPositions()),
    "rotary": lambda: TransformerModel(11, 8, 5, positions=RotaryPositions()),
    "alibi": lambda: TransformerModel(11, 8, 5, positions=ALiBiPositions(2)),
}


def make(name: str) -> nn.Module:
    torch.manual_seed(0)
    return MODELS[name]().double().eval()


def some_tokens(batch: int, T: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(11, (batch, T), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name", MODELS)
def test_model_reads_only_what_came_before(name):
    """A later token changes nothing, an earlier one does."""
    model, tokens = make(name), some_tokens(2, 7)
    before = model(tokens)
    assert before.shape == (2, 7, 5)
    for t in range(7):
        changed = tokens.clone()
        changed[:, t] = (changed[:, t] + 1) % 11
        after = model(changed)
        assert_equal(after[:, :t], before[:, :t], f"logits before position {t}")
        moved = (after - before).abs().amax(dim=(0, 2))[t:]
        assert (moved > 0).all(), f"position {t} is not heard"


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("T", [1, 4])
def test_model_gives_the_same_for_a_beginning(name, T):
    """Thus padding on the right changes nothing, and sequences do not mix."""
    model, tokens = make(name), some_tokens(3, 9)
    assert_equal(model(tokens[:, :T]), model(tokens)[:, :T])
    assert_equal(model(tokens[1:2]), model(tokens)[1:2])


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("rnn", "lstm", "gru")])
def test_weights_come_with_the_same_logits(name):
    model, tokens = make(name), some_tokens(2, 7)
    logits, weights = model(tokens, return_weights=True)
    assert_equal(logits, model(tokens))
    assert len(weights) == len(model.blocks)
    for layer in weights:
        assert layer.shape == (2, 2, 7, 7)
        assert (layer.triu(1) == 0).all()
        assert_equal(layer.sum(dim=-1), torch.ones(2, 2, 7, dtype=torch.float64))


def test_transformer_model_is_torchs_encoder():
    """Embedding, torch's encoder with a causal mask, layer norm, readout."""
    torch.manual_seed(0)
    ours = shake(TransformerModel(11, 8, 5, n_layers=3, n_heads=2, d_ff=20).double(), 1)
    layer = nn.TransformerEncoderLayer(
        8, 2, 20, dropout=0.0, batch_first=True, norm_first=True
    ).double()
    torchs = nn.TransformerEncoder(
        layer, 3, norm=nn.LayerNorm(8).double(), enable_nested_tensor=False
    )
    for mine, theirs in zip(ours.blocks, torchs.layers, strict=True):
        copy_block(mine, theirs)
    torchs.norm.load_state_dict(ours.norm.state_dict())
    tokens = some_tokens(2, 7)
    states = torchs(ours.embedding(tokens), mask=to_blocking(causal_mask(7)))
    assert_equal(ours(tokens), ours.readout(states))


def test_no_blocks_no_sequences_no_tokens():
    assert TransformerModel(11, 8, 5, n_layers=0)(some_tokens(2, 3)).shape == (2, 3, 5)
    assert TransformerModel(11, 8, 5)(some_tokens(0, 3)).shape == (0, 3, 5)
    assert TransformerModel(11, 8, 5)(some_tokens(2, 0)).shape == (2, 0, 5)


@pytest.mark.parametrize("n_questions", [1, 3])
def test_attention_reader_is_its_parts(n_questions):
    """Against a loop over positions, with a token that has a flag (5 + 2) and without weights."""
    torch.manual_seed(0)
    model = AttentionReader(5, 6, 2, d_model=8, n_questions=n_questions).double()
    tokens = torch.tensor([[1, 7, 3, 0], [4, 4, 2, 9]])
    logits, weights = model(tokens, return_weights=True)
    assert weights.shape == (2, 2, 4, 4) and torch.equal(logits, model(tokens))
    words = [[model.word.weight[i % 5] + model.flag.weight[i // 5] for i in row] for row in tokens]
    x = torch.stack([torch.stack(row) for row in words]) + model.place.weight[:4]
    for t in range(4):  # what comes later is not even there
        context = model.attention(x[:, : t + 1])[:, -1]
        answers = model.readout(context).view(2, n_questions, 5)
        assert_equal(logits.view(2, n_questions, 4, 5)[:, :, t], answers)


@pytest.mark.parametrize("n_layers", [1, 3])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_forget_bias_is_the_sum_in_every_layer(n_layers, bidirectional):
    """And the other gates keep theirs."""
    torch.manual_seed(0)
    lstm = nn.LSTM(4, 6, n_layers, bidirectional=bidirectional)
    before = {name: p.detach().clone() for name, p in lstm.named_parameters()}
    set_forget_bias(lstm, 2.5)
    ends = [f"l{n}{way}" for n in range(n_layers) for way in ("", "_reverse")[: 1 + bidirectional]]
    for end in ends:
        total = getattr(lstm, f"bias_ih_{end}") + getattr(lstm, f"bias_hh_{end}")
        assert (total[6:12] == 2.5).all()
    for name, parameter in lstm.named_parameters():
        others = [*range(6), *range(12, 24)] if "bias" in name else range(24)
        assert torch.equal(parameter[list(others)], before[name][list(others)])


def test_forget_bias_of_the_model():
    model = RecurrentModel(11, 8, 5, "lstm", n_layers=2, forget_bias=3.0)
    for n in range(2):
        total = getattr(model.recurrence, f"bias_ih_l{n}") + getattr(
            model.recurrence, f"bias_hh_l{n}"
        )
        assert (total[8:16] == 3.0).all()
        assert total[:8].abs().max() < 1.0
