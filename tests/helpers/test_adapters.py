"""Adapters change nothing at first, train nothing but themselves, and can be merged."""

import copy

import pytest
import torch
from torch import nn

from helpers.adapters import LowRankAdapter, add_adapters, merge_adapters
from helpers.config import TransformerConfig
from helpers.models import TransformerModel
from helpers.positions import RotaryPositions

TOKENS = torch.randint(20, (3, 7), generator=torch.Generator().manual_seed(1))


@pytest.fixture
def model():
    torch.manual_seed(0)
    config = TransformerConfig(20, 24, n_layers=2, n_heads=4, n_kv_heads=2, bias=False)
    return TransformerModel(config, RotaryPositions()).double().eval()


def trained(model, steps=5):
    """After a few steps at a large rate, so that B is far from zero."""
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(TOKENS)[..., 0].sum().backward()
        optimizer.step()
    return model


def test_new_adapters_change_no_logit(model):
    wanted = model(TOKENS)
    add_adapters(model, rank=3)
    assert torch.equal(model(TOKENS), wanted)


def test_training_changes_the_adapters_alone(model):
    add_adapters(model, rank=3)
    before = copy.deepcopy(model.state_dict())
    trained(model)
    after = model.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    ends = (".A", ".B")
    assert changed == {name for name in before if name.endswith(ends)}
    assert len(changed) == 2 * 2 * len(ends)  # blocks, queries and values


def test_only_queries_and_values_count_as_trained(model):
    adapters = add_adapters(model, rank=3)
    own = 3 * (24 + 24) + 3 * (24 + 12)  # W_query is (24, 24), W_value (12, 24)
    assert sum(p.numel() for p in model.parameters() if p.requires_grad) == 2 * own
    assert len(adapters) == 4


def test_merged_model_has_equal_logits_and_old_modules(model):
    names = [name for name, _ in model.named_parameters()]
    untrained = model(TOKENS).detach()
    add_adapters(model, rank=3)
    wanted = trained(model)(TOKENS).detach()
    merge_adapters(model)
    torch.testing.assert_close(model(TOKENS), wanted, rtol=0, atol=1e-12)
    assert (wanted - untrained).abs().max() > 0.1
    assert [name for name, _ in model.named_parameters()] == names
    assert not any(isinstance(module, LowRankAdapter) for module in model.modules())


def test_merged_model_trains_what_trained_before(model):
    model.embedding.requires_grad_(False)
    model.blocks[0].attention.W_query.requires_grad_(False)
    before = {name: p.requires_grad for name, p in model.named_parameters()}
    add_adapters(model, rank=3)
    merge_adapters(model)
    assert {name: p.requires_grad for name, p in model.named_parameters()} == before
    assert set(before.values()) == {False, True}


def test_untied_output_layer_takes_an_adapter(model):
    assert len(add_adapters(model, rank=3, names=("lm_head",))) == 1


@pytest.mark.parametrize("bias", [False, True])
def test_output_is_the_formula_of_the_paper(bias):
    torch.manual_seed(0)
    linear = nn.Linear(6, 5, bias=bias).double()
    adapter = LowRankAdapter(linear, rank=2, alpha=3.0)
    with torch.no_grad():
        adapter.B.normal_()
    x = torch.randn(4, 6, dtype=torch.float64)
    wanted = linear(x) + 3.0 / 2 * torch.einsum("or,ri,bi->bo", adapter.B, adapter.A, x)
    torch.testing.assert_close(adapter(x), wanted, rtol=0, atol=1e-12)
    torch.testing.assert_close(adapter.merged()(x), wanted, rtol=0, atol=1e-12)


def test_update_has_the_rank_asked_for(model):
    adapter = add_adapters(model, rank=3)[0]
    before = adapter.weight.clone()
    trained(model)
    update = adapter.merged().weight - before
    assert torch.linalg.matrix_rank(update, atol=1e-9) == 3
