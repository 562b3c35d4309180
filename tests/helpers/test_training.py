"""The training loop learns, repeats itself to the bit, and stops at nonsense."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from helpers.config import TransformerConfig
from helpers.models import TransformerModel, eval_mode
from helpers.rnn import RecurrentModel
from helpers.tokens import IGNORE_INDEX
from helpers.training import (
    History,
    accuracy,
    batch_loss,
    count_parameters,
    masked_cross_entropy,
    progress,
    set_seed,
    train,
)
from tests.helpers.properties import examples


def copy_task(generator, batch=16, T=6, vocab=5):
    """At every position but the first, say what the token before was."""

    def make_batch():
        tokens = torch.randint(vocab, (batch, T), generator=generator)
        targets = torch.full_like(tokens, IGNORE_INDEX)
        targets[:, 1:] = tokens[:, :-1]
        return tokens, targets

    return make_batch


def run(seed, steps=40, **options):
    """One small training: the history and the final weights."""
    generator = set_seed(seed)
    model = RecurrentModel(5, 16, 5, "rnn")
    history = train(model, copy_task(generator), steps, lr=1e-2, **options)
    return history, model


def test_loss_falls_and_accuracy_rises():
    history, model = run(0, steps=120)
    means = history.smoothed(20)
    assert history.loss[0] > 1.4  # chance is ln 5 = 1.61
    assert means[-1] < 0.3 * means[0]
    batch = copy_task(torch.Generator().manual_seed(99))()
    assert accuracy(model, batch) > 0.9
    assert not model.training


def test_train_refuses_a_batch_for_a_function():
    model, batch = RecurrentModel(5, 16, 5, "rnn"), copy_task(set_seed(0))()
    with pytest.raises(ValueError, match=r"make_batch: got a tuple; needed a function without"):
        train(model, batch, steps=1)
    with pytest.raises(ValueError, match=r"make_batch\(\): got a Tensor; needed a pair"):
        train(model, lambda: batch[0], steps=1)


@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_same_seed_same_weights_to_the_bit(dropout):
    """On one machine at one thread: initial weights, data and dropout all come from the seed."""
    results = []
    for seed in (1, 1, 2):
        generator = set_seed(seed)
        model = TransformerModel(TransformerConfig(5, 8, dropout=dropout))
        history = train(model, copy_task(generator), steps=8)
        results.append((history.loss, [p.detach().clone() for p in model.parameters()]))
    (loss, weights), (loss_again, weights_again), (other_loss, _) = results
    assert loss == loss_again
    assert all(torch.equal(a, b) for a, b in zip(weights, weights_again, strict=True))
    assert loss != other_loss


def test_learning_rate_warms_up_and_falls(monkeypatch):
    """By the formula in the docstring, seen by the optimizer at each step."""
    seen = []
    step = torch.optim.AdamW.step

    def spy(self, *args, **kwargs):
        seen.append(self.param_groups[0]["lr"])
        return step(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.AdamW, "step", spy)
    generator = set_seed(0)
    train(RecurrentModel(5, 4, 5), copy_task(generator), steps=20, lr=0.1, warmup=5)
    rise = [0.1 * (n + 1) / 5 for n in range(5)]
    fall = [0.1 * (0.1 + 0.45 * (1 + math.cos(math.pi * n / 15))) for n in range(15)]
    assert seen == pytest.approx(rise + fall, rel=1e-6)


def test_gradients_are_clipped(monkeypatch):
    """What the optimizer sees has the norm `clip` at most; without a clip it is larger."""
    norms = []
    step = torch.optim.AdamW.step

    def spy(self, *args, **kwargs):
        gradients = [p.grad.flatten() for group in self.param_groups for p in group["params"]]
        norms.append(torch.cat(gradients).norm().item())
        return step(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.AdamW, "step", spy)
    run(0, steps=3, clip=1e-3)
    assert max(norms) <= 1e-3 * 1.0001
    norms.clear()
    run(0, steps=3, clip=None)
    assert min(norms) > 1e-2


@examples
@given(st.integers(1, 4), st.integers(1, 5), st.integers(2, 6), st.integers(0, 10_000))
def test_ignored_positions_do_not_count(batch, T, n_outputs, seed):
    """Neither in the loss, nor in its gradient, nor in the accuracy."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(batch, T, n_outputs, dtype=torch.float64, generator=generator)
    targets = torch.randint(n_outputs, (batch, T), generator=generator)
    ignored = torch.rand(batch, T, generator=generator) < 0.5
    ignored[0, 0] = False
    targets[ignored] = IGNORE_INDEX
    logits.requires_grad_()
    loss = masked_cross_entropy(logits, targets)
    by_hand = F.cross_entropy(logits[~ignored], targets[~ignored])
    assert loss.item() == pytest.approx(by_hand.item(), rel=1e-12)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert (gradient[ignored] == 0).all()
    assert (gradient[~ignored] != 0).any()

    other = torch.where(ignored[..., None], 1e3 * torch.rand_like(logits), logits)
    right = (logits.argmax(-1) == targets)[~ignored].double().mean().item()
    for answers in (logits, other):
        assert accuracy(Answers(answers), (targets, targets)) == pytest.approx(right)


class Answers(nn.Module):
    """A model that says what it was told to say."""

    def __init__(self, logits):
        super().__init__()
        self.logits = logits

    def forward(self, tokens):
        return self.logits


def test_without_decay_it_is_adam_to_the_bit():
    torch.manual_seed(0)
    model = TransformerModel(TransformerConfig(5, 8))
    other, draw = copy.deepcopy(model), copy_task(torch.Generator().manual_seed(0))
    batch = draw()
    train(model, lambda: batch, steps=1, lr=0.01, clip=None)
    optimizer = torch.optim.Adam(other.parameters(), lr=0.01)
    masked_cross_entropy(other.train()(batch[0]), batch[1]).backward()
    optimizer.step()
    pairs = zip(model.parameters(), other.parameters(), strict=True)
    assert all(torch.equal(ours, theirs) for ours, theirs in pairs)


def test_weight_decay_shrinks_matrices_alone():
    """Without a gradient, by the factor 1 − lr · weight_decay at each step."""

    class Idle(nn.Module):
        def __init__(self):
            super().__init__()
            self.matrix, self.vector = nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.ones(3))
            self.logits = nn.Parameter(torch.zeros(5))

        def forward(self, tokens):
            nothing = 0.0 * (self.matrix.sum() + self.vector.sum())
            return self.logits + nothing + 0.0 * tokens[..., None]

    model = Idle()
    train(model, copy_task(set_seed(0)), steps=1, lr=0.1, weight_decay=0.5)
    assert model.matrix.flatten().tolist() == pytest.approx([0.95] * 6)
    assert model.vector.tolist() == [1.0] * 3


def test_validation_loss_is_measured_on_the_way():
    """In evaluation mode, every so many updates and at the end, without a trace in the training."""
    validation = copy_task(torch.Generator().manual_seed(9))()
    runs = []
    for options in ({}, {"validation": validation, "validate_every": 3}):
        generator = set_seed(0)
        model = TransformerModel(TransformerConfig(5, 8, dropout=0.3))
        runs.append((train(model, copy_task(generator), steps=7, **options), model))
    (plain, _), (measured, model) = runs
    assert plain.validation == [] and measured.loss == plain.loss
    assert [steps for steps, _ in measured.validation] == [3, 6, 7]
    assert measured.validation[-1][1] == batch_loss(model, validation)
    assert batch_loss(model.train(), validation) == measured.validation[-1][1] and model.training


def test_a_failed_training_leaves_evaluation_mode():
    model = TransformerModel(TransformerConfig(5, 8, dropout=0.3)).train()
    with pytest.raises(ValueError, match="make_batch"):
        train(model, lambda: None, steps=3)
    assert not model.training and not model.stack.training


def test_accuracy_uses_eval_mode_and_restores_training():
    torch.manual_seed(0)
    model = TransformerModel(TransformerConfig(5, 8, dropout=0.5))
    batch = copy_task(torch.Generator().manual_seed(0), batch=64)()
    model.train()
    first = accuracy(model, batch)
    assert model.training
    model.eval()
    assert accuracy(model, batch) == first
    assert not model.training


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_train_stops_at_nan_before_the_update(bad):
    class Breaks(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Embedding(5, 5)
            self.calls = 0

        def forward(self, tokens):
            self.calls += 1
            return self.layer(tokens) * (bad if self.calls > 2 else 1.0)

    model = Breaks()
    with pytest.raises(ValueError, match=r"loss: got nan at step 2"):
        train(model, copy_task(set_seed(0)), steps=5)
    assert model.layer.weight.isfinite().all()


@pytest.mark.parametrize("clip", [1.0, None])
def test_train_stops_at_a_nan_gradient(clip):
    """√|w − 1| is 0 at w = 1, and its gradient there is 0 · ∞."""

    class Kink(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.w = nn.Embedding(5, 5), nn.Parameter(torch.ones(1))
            self.calls = 0

        def forward(self, tokens):
            self.calls += 1
            kink = (self.w.detach() if self.calls < 3 else self.w).sub(1).abs().sqrt()
            return self.layer(tokens) + kink

    model = Kink()
    with pytest.raises(ValueError, match="gradient: got norm nan at step 2; needed a finite"):
        train(model, copy_task(set_seed(0)), steps=5, clip=clip)
    assert all(parameter.isfinite().all() for parameter in model.parameters())


def test_loss_compiles_and_reads_no_number_off_the_cpu():
    """Such a read would break the graph, and would wait for all work given to a GPU."""
    logits, targets = torch.randn(2, 3, 5), torch.tensor([[0, 4, IGNORE_INDEX], [1, 2, 3]])
    torch.compiler.reset()
    compiled = torch.compile(masked_cross_entropy, fullgraph=True, backend="eager")
    assert torch.equal(compiled(logits, targets), masked_cross_entropy(logits, targets))
    assert masked_cross_entropy(logits.to("meta"), targets.to("meta")).shape == ()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_parameters_of_other_dtypes_train(dtype):
    """Only float16 is refused, and only where it would train."""
    set_seed(0)
    model = nn.Sequential(nn.Embedding(5, 5, dtype=dtype), nn.Linear(5, 5, dtype=dtype))
    model.frozen = nn.Linear(5, 5, dtype=torch.float16).requires_grad_(False)
    model.forward = lambda tokens: model[1](model[0](tokens))
    losses = train(model, copy_task(set_seed(0)), 20, lr=0.1).loss
    assert losses[-1] < losses[0] and model[0].weight.isfinite().all()


def test_history_smoothed():
    assert History([1.0, 3.0, 5.0, 7.0, 9.0]).smoothed(2) == [2.0, 6.0, 9.0]
    assert History().smoothed() == []


def test_count_parameters():
    layer = nn.Linear(3, 4)
    assert count_parameters(layer) == 16
    layer.bias.requires_grad_(False)
    assert count_parameters(layer) == 12


def test_seed_returns_a_generator_of_its_own():
    """What the model draws does not shift the data."""
    first = torch.rand(3, generator=set_seed(5))
    generator = set_seed(5)
    torch.rand(100)
    assert torch.equal(torch.rand(3, generator=generator), first)
    assert (
        torch.equal(torch.rand(3), torch.rand(3, generator=torch.Generator().manual_seed(5)))
        is False
    )


def test_no_progress_bar_where_outputs_are_recorded(capfd, monkeypatch):
    monkeypatch.setenv("LAMPLIGHT_QUIET", "1")
    run(0, steps=3)
    assert list(progress(range(3), "name")) == [0, 1, 2]
    assert capfd.readouterr() == ("", "")
    monkeypatch.delenv("LAMPLIGHT_QUIET")
    run(0, steps=3, name="little net")
    assert "little net" in capfd.readouterr().err


def test_each_part_gets_its_own_mode_back():
    """Also after an error, and where some parts were in evaluation before."""
    model = nn.Sequential(nn.Embedding(5, 5), nn.Dropout(0.5), nn.Dropout(0.5))
    model[1].eval()
    modes = [True, True, False, True]
    assert [part.training for part in model.modules()] == modes
    accuracy(model, (torch.tensor([[1, 2]]), torch.tensor([[1, 2]])))
    assert [part.training for part in model.modules()] == modes
    with pytest.raises(IndexError), eval_mode(model):
        assert not any(part.training for part in model.modules())
        model(torch.tensor([[9]]))
    assert [part.training for part in model.modules()] == modes
