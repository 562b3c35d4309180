"""Low-rank adapters: fine-tune a model by training a small number of new weights (lecture 13).

`add_adapters` freezes a model and puts a trainable product of two narrow matrices beside some of
its linear layers; `merge_adapters` adds the product to the weights, and nothing of it is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import nn

from helpers.validation import require, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Float


class LowRankAdapter(nn.Linear):
    """A frozen linear layer plus a trainable low-rank update: W x + (alpha / rank) · B A x.

    A starts with random numbers and B with zeros, so at first the update is zero and the layer
    computes what it did before.
    Source: Hu et al. (2021), section 4.1.

    Args:
        linear: the layer; its weights are shared, not copied, and frozen.
        rank: the number of rows of A and of columns of B.
        alpha: the scale of the update, divided by the rank.

    Raises:
        ValueError: if the rank is less than 1, or more than the layer is wide.
    """

    def __init__(self, linear: nn.Linear, rank: int = 8, alpha: float = 16.0) -> None:
        require_sizes(rank=rank)
        d_in, d_out = linear.in_features, linear.out_features
        most = min(d_in, d_out)
        require(rank <= most, "rank", rank, f"at most {most}, the smaller side of the layer")
        super().__init__(d_in, d_out, bias=linear.bias is not None, device="meta")
        self.weight, self.bias = linear.weight, linear.bias
        self.requires_grad_(False)
        like = {"dtype": linear.weight.dtype, "device": linear.weight.device}
        self.A = nn.Parameter(torch.randn(rank, d_in, **like) / d_in**0.5)  # (rank, d_in)
        self.B = nn.Parameter(torch.zeros(d_out, rank, **like))  # (d_out, rank)
        self.scale = alpha / rank

    def forward(self, x: Float[torch.Tensor, "... d_in"]) -> Float[torch.Tensor, "... d_out"]:
        """The layer's output and the update's, added."""
        return super().forward(x) + self.scale * (x @ self.A.T @ self.B.T)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """A plain layer that computes the same, with the update added to a copy of the weights."""
        linear = nn.Linear(self.in_features, self.out_features, self.bias is not None)
        linear.to(self.weight)
        linear.weight.copy_(self.weight + self.scale * self.B @ self.A)
        if self.bias is not None:
            linear.bias.copy_(self.bias)
        return linear


def add_adapters(
    model: nn.Module,
    rank: int = 8,
    alpha: float = 16.0,
    names: Sequence[str] = ("W_query", "W_value"),
) -> list[LowRankAdapter]:
    """Freeze all weights of a model, and give each linear layer of these names an adapter.

    The model keeps the names of its trainable parameters, for `merge_adapters`.

    Args:
        model: is changed.
        rank, alpha: as in `LowRankAdapter`.
        names: the last part of the layers' names; queries and values as in Hu et al. (2021).

    Returns:
        The adapters, in the order of the model's layers.

    Raises:
        ValueError: if no linear layer has such a name, one of them shares its weights with another
            layer, the model has adapters already, and as `LowRankAdapter`.
    """
    linears = [layer for layer in _layers(model) if isinstance(layer[2], nn.Linear)]
    adapted = [name for _, name, linear in linears if isinstance(linear, LowRankAdapter)]
    require(not adapted, "model", "one with adapters", "one without: merge_adapters first")
    found = [layer for layer in linears if layer[1] in names]
    require(bool(found), "names", list(names), "the name of at least one linear layer")
    weights = [id(p) for _, p in model.named_parameters(remove_duplicate=False)]
    shared = [name for _, name, linear in found if weights.count(id(linear.weight)) > 1]
    needed = "layers that share no weights: merge_adapters would change only one of two"
    require(not shared, "names", shared, needed)
    model.trainable_without_adapters = [n for n, p in model.named_parameters() if p.requires_grad]
    model.requires_grad_(False)
    adapters = []
    for parent, name, linear in found:
        adapters.append(LowRankAdapter(linear, rank, alpha))
        setattr(parent, name, adapters[-1])
    return adapters


def merge_adapters(model: nn.Module) -> None:
    """Put a plain layer with the same outputs in the place of each adapter.

    The parameters that were trainable before `add_adapters` are so again, and no others.

    Raises:
        ValueError: if the model has no adapter.
    """
    found = [layer for layer in _layers(model) if isinstance(layer[2], LowRankAdapter)]
    known = bool(found) and hasattr(model, "trainable_without_adapters")
    require(known, "model", "one without adapters", "one that went through add_adapters")
    for parent, name, adapter in found:
        setattr(parent, name, adapter.merged())
    trainable = vars(model).pop("trainable_without_adapters")
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in trainable)


def _layers(model: nn.Module) -> Iterable[tuple[nn.Module, str, nn.Module]]:
    """Every module of a model with its parent and its name there."""
    return [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
    ]
