"""Material for the tables in `bad_calls`, and what `test_bad_calls.py` asks of each."""

import inspect
import re
from collections.abc import Callable, Mapping
from types import ModuleType

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from helpers import attention, models
from helpers.config import TransformerConfig
from tests.helpers.properties import normal

Cases = Mapping[object, list[tuple[Callable[[], object], str]]]

WHOLE = re.compile(r".+: got .+; needed .+|axis \d is out of bounds for")
"""The name, what came, what is needed. NumPy's own for a wrong axis does so in other words."""


def full_name(function) -> str:
    """Its name with its module's, as in `data.news.tell_news`."""
    return f"{function.__module__}.{function.__name__}".removeprefix("helpers.")


def calls(cases: Cases) -> list:
    """One parameter for each bad call."""
    return [
        pytest.param(call, message, id=f"{full_name(function)}: {message.split('; ')[0]}")
        for function, bad in cases.items()
        for call, message in bad
    ]


def assert_refused(call: Callable[[], object], message: str) -> None:
    """The call ends in a ValueError whose message begins like this and says all three things."""
    assert WHOLE.match(message)
    try:
        with pytest.raises(ValueError, match="^" + re.escape(message)):
            call()
    finally:
        plt.close("all")


def never_refused(module: ModuleType, cases: Cases, cannot_fail: Mapping = {}) -> list[str]:
    """Public functions and classes without a bad call, and without a reason why they have none."""
    return sorted(
        f"{name}: no bad call in the table above, and no reason why it has none"
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__ == module.__name__
        and thing not in cases
        and thing not in cannot_fail
    )


# --------------------------------------------------------------------------- material


def x(*shape, dtype=torch.float32):
    return normal(*shape, seed=0).to(dtype)


def true(*shape):
    return torch.ones(shape, dtype=torch.bool)


def ids(*rows):
    return torch.tensor(rows)


def axes():
    return plt.subplots()[1]


def one_cache(*shape):
    cache = attention.KeyValueCache()
    if shape:
        cache.append(x(*shape), x(*shape))
    return cache


def cache_of(model, *tokens):
    cache = model.new_cache()
    model(ids(*tokens), cache=cache)
    return cache


def language_model(**options):
    return models.LanguageModel(TransformerConfig(5, 4, **options))


def one_batch():
    return ids([1, 2]), ids([0, 1])


def array(*shape):
    return np.zeros(shape)


sdpa = attention.scaled_dot_product_attention
heads = attention.MultiHeadAttention
generator = torch.Generator()
option = ("a", True, "why")
other = ("b", False, "why")
