"""Attribution patching is the first-order estimate of what patching does."""

import pytest
import torch

from helpers.config import TransformerConfig
from helpers.interp.attribution import head_attribution, head_effects
from helpers.models import TransformerModel
from helpers.positions import RotaryPositions


@pytest.fixture
def model():
    torch.manual_seed(0)
    model = TransformerModel(TransformerConfig(20, 24, n_layers=3, n_heads=4), RotaryPositions())
    return model.double().eval()


def score(logits):
    return logits[:, 3] - logits[:, 5]


TOKENS = torch.randint(20, (6, 7), generator=torch.Generator().manual_seed(1))
OTHER = torch.randint(20, (6, 7), generator=torch.Generator().manual_seed(2))
HEADS = [(i, h) for i in range(3) for h in range(4)]


def contexts_of(model, tokens):
    found = []
    hooks = [
        b.attention.W_out.register_forward_pre_hook(lambda _, args: found.append(args[0]))
        for b in model.blocks
    ]
    with torch.no_grad():
        model(tokens)
    for hook in hooks:
        hook.remove()
    return found


def test_head_effects_match_a_full_forward_pass(model):
    """Layers below the head are not computed again; the result must be the same."""
    effects = head_effects(model, TOKENS, score, lambda *_: torch.zeros(6, 7, 6).double(), HEADS)
    for layer, head in HEADS:
        own = slice(head * 6, (head + 1) * 6)
        W, kept = model.blocks[layer].attention.W_out.weight, None
        with torch.no_grad():
            clean = score(model(TOKENS)[:, -1])
            kept = W[:, own].clone()
            W[:, own] = 0.0
            changed = score(model(TOKENS)[:, -1])
            W[:, own] = kept
        assert effects[layer, head] == pytest.approx((changed - clean).mean().item(), abs=1e-12)
    assert max(map(abs, effects.values())) > 1e-3


def test_replacing_by_the_same_changes_nothing(model):
    effects = head_effects(model, TOKENS, score, lambda _i, _h, found: found, HEADS)
    assert max(map(abs, effects.values())) < 1e-12


def test_head_attribution_is_the_first_order_effect(model):
    """The estimate for a head divided by the true effect of 1 % of the way goes to 1."""
    estimate = head_attribution(model, TOKENS, OTHER, score)
    other, step = contexts_of(model, OTHER), 1e-3

    def towards(layer, head, found):
        return found + step * (other[layer][..., head * 6 : (head + 1) * 6] - found)

    effects = head_effects(model, TOKENS, score, towards, HEADS)
    real = torch.tensor([effects[pair] for pair in HEADS]).view(3, 4).double() / step
    torch.testing.assert_close(estimate, real, rtol=0.02, atol=2e-4)


def test_no_gradient_stays_behind(model):
    head_attribution(model, TOKENS, OTHER, score)
    assert all(p.grad is None for p in model.parameters())


def test_what_does_not_fit_is_refused(model):
    with pytest.raises(ValueError, match="other: got shape"):
        head_attribution(model, TOKENS, OTHER[:, 1:], score)
    for heads, said in (([(3, 0)], "layer 3"), ([(0, 4)], "head 4")):
        with pytest.raises(ValueError, match=said):
            head_effects(model, TOKENS, score, lambda _i, _h, found: found, heads)
