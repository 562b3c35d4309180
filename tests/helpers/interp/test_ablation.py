"""Heads are switched off in three ways, and the model is whole again afterwards."""

import pytest
import torch

from helpers.attention import MultiHeadAttention
from helpers.config import TransformerConfig
from helpers.interp.ablation import ablated
from helpers.models import LanguageModel


@pytest.fixture
def model():
    torch.manual_seed(0)
    return LanguageModel(TransformerConfig(11, 16, n_layers=2, n_heads=4)).eval()


@pytest.fixture
def tokens():
    return torch.randint(11, (5, 6), generator=torch.Generator().manual_seed(1))


def heads_of(attention, x):
    """What each head hands to W_out: (batch, T, heads, d_v)."""
    kept = []
    hook = attention.W_out.register_forward_pre_hook(lambda _, args: kept.append(args[0]))
    attention(x)
    hook.remove()
    return kept[0].unflatten(-1, (attention.n_heads, -1))


@torch.no_grad()
@pytest.mark.parametrize("by", ["zero", "mean", "resample"])
def test_only_the_named_head_is_replaced(by):
    torch.manual_seed(0)
    attention = MultiHeadAttention(12, 3)
    x = torch.randn(4, 5, 12)
    before = heads_of(attention, x)
    with ablated(attention, [(0, 1)], by, torch.Generator().manual_seed(0)):
        after = heads_of(attention, x)
    torch.testing.assert_close(after[:, :, [0, 2]], before[:, :, [0, 2]], rtol=0, atol=0)
    own, was = after[:, :, 1], before[:, :, 1]  # (batch, T, d_v)
    if by == "zero":
        assert (own == 0).all()
    elif by == "mean":
        torch.testing.assert_close(own, was.mean(0, keepdim=True).expand_as(was))
    else:
        came_from = [(was == row).flatten(1).all(1).nonzero().item() for row in own]
        assert sorted(came_from) == [0, 1, 2, 3]
        assert all(other != at for at, other in enumerate(came_from))


@torch.no_grad()
def test_the_model_is_whole_again(model, tokens):
    before = model(tokens)
    with pytest.raises(RuntimeError), ablated(model, [(0, 0), (1, 3)]):
        assert not torch.equal(model(tokens), before)
        raise RuntimeError
    torch.testing.assert_close(model(tokens), before, rtol=0, atol=0)


@torch.no_grad()
def test_mean_ablation_keeps_constant_outputs(model, tokens):
    """With equal inputs, mean and resample ablation change nothing; zero ablation does."""
    same = tokens[:1].expand(5, -1)
    before = model(same)
    for by in ("mean", "resample"):
        with ablated(model, [(0, 0), (1, 2)], by):
            torch.testing.assert_close(model(same), before)
    with ablated(model, [(0, 0)]):
        assert not torch.allclose(model(same), before)


@torch.no_grad()
def test_the_weights_are_those_of_the_model(model, tokens):
    _, before = model(tokens, return_weights=True)
    with ablated(model, [(1, 0)]):
        _, after = model(tokens, return_weights=True)
    torch.testing.assert_close(after[1], before[1], rtol=0, atol=0)


def test_what_cannot_be_switched_off(model, tokens):
    for heads, text in (([(2, 0)], "layer 2"), ([(0, 4)], "head 4"), ([(-1, 0)], "layer -1")):
        with pytest.raises(ValueError, match=text), ablated(model, heads):
            pass
    with pytest.raises(ValueError, match="'median'"), ablated(model, [(0, 0)], "median"):
        pass
    with pytest.raises(ValueError, match="Linear"), ablated(torch.nn.Linear(2, 2), []):
        pass
    for by in ("mean", "resample"):
        with pytest.raises(ValueError, match="at least 2"), ablated(model, [(0, 0)], by):
            model(tokens[:1])
