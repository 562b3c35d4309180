"""Every public function refuses bad arguments: it names the argument, what came, what is needed."""

import importlib
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from properties import normal
from torch import nn

from helpers import (
    attention,
    blocks,
    checks,
    data,
    decoding,
    masks,
    models,
    plotting,
    positions,
    quiz,
    training,
)
from helpers.training import IGNORE

MODULES = (
    "attention",
    "masks",
    "positions",
    "blocks",
    "models",
    "decoding",
    "training",
    "data",
    "plotting",
    "quiz",
    "checks",
)


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
    return models.LanguageModel(5, 4, **options)


def one_batch():
    return ids([1, 2]), ids([0, 1])


def array(*shape):
    return np.zeros(shape)


sdpa = attention.scaled_dot_product_attention
sdpa_numpy = attention.scaled_dot_product_attention_numpy
heads = attention.MultiHeadAttention
generator = torch.Generator()
option = ("a", True, "why")
other = ("b", False, "why")

# Each function or class with bad calls and how the message of each begins.
CASES = {
    sdpa: [
        (lambda: sdpa(x(4), x(3, 4), x(3, 4)), "q: got shape (4,); needed shape (…, T, d)"),
        (
            lambda: sdpa(x(3, 0), x(3, 0), x(3, 4)),
            "q: got shape (3, 0); needed a last axis of at least 1",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 5), x(3, 5)),
            "k: got shape (3, 5); needed shape (T_k, 4) to go with q of shape (2, 4)",
        ),
        (
            lambda: sdpa(x(2, 2, 4), x(3, 4), x(3, 4)),
            "k: got shape (3, 4); needed shape (2, T_k, 4) to go with q of shape (2, 2, 4)",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(2, 4)),
            "v: got shape (2, 4); needed shape (3, d_v) to go with k of shape (3, 4)",
        ),
        (
            lambda: sdpa(ids([1]), ids([1]), ids([1])),
            "q: got dtype torch.int64; needed a floating-point dtype",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4).double(), x(3, 4)),
            "k: got dtype torch.float64; needed torch.float32, as q has",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4).half()),
            "v: got dtype torch.float16; needed torch.float32, as q has",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), x(2, 3)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), true(3, 2)),
            "mask: got shape (3, 2); needed a shape that broadcasts to (2, 3)",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), true(5, 2, 3)),
            "mask: got shape (5, 2, 3); needed a shape that broadcasts to (2, 3)",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), bias=x(3, 2)),
            "bias: got shape (3, 2); needed a shape that broadcasts to (2, 3)",
        ),
        (
            lambda: sdpa(x(2, 4), x(3, 4), x(3, 4), dropout_p=1.0),
            "dropout_p: got 1.0; needed a share from 0 up to, but not including, 1",
        ),
    ],
    sdpa_numpy: [
        (
            lambda: sdpa_numpy(array(4), array(3, 4), array(3, 4)),
            "q: got shape (4,); needed shape (…, T, d)",
        ),
        (
            lambda: sdpa_numpy(array(2, 4), array(3, 5), array(3, 4)),
            "k: got shape (3, 5); needed shape (T_k, 4) to go with q of shape (2, 4)",
        ),
        (
            lambda: sdpa_numpy(array(2, 4), array(3, 4), array(2, 4)),
            "v: got shape (2, 4); needed shape (3, d_v) to go with k of shape (3, 4)",
        ),
        (
            lambda: sdpa_numpy(array(2, 4), array(3, 4), array(3, 4), array(2, 3)),
            "mask: got dtype float64; needed bool (True = may attend)",
        ),
        (
            lambda: sdpa_numpy(array(2, 4), array(3, 4), array(3, 4), array(3, 2) == 0),
            "mask: got shape (3, 2); needed a shape that broadcasts to (2, 3)",
        ),
    ],
    attention.softmax: [
        (
            lambda: attention.softmax(array(2, 3), axis=2),
            "axis 2 is out of bounds for array of dimension 2",
        ),
    ],
    attention.masked_softmax: [
        (
            lambda: attention.masked_softmax(x(2, 3), x(2, 3)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
        (
            lambda: attention.masked_softmax(x(2, 3), true(3, 3)),
            "mask: got shape (3, 3); needed a shape that broadcasts to (2, 3)",
        ),
    ],
    attention.SelfAttention: [
        (lambda: attention.SelfAttention(0, 2), "d_model: got 0; needed at least 1"),
        (lambda: attention.SelfAttention(3, 0), "d_k: got 0; needed at least 1"),
        (lambda: attention.SelfAttention(3, 2, 0), "d_v: got 0; needed at least 1"),
        (
            lambda: attention.SelfAttention(3, 2)(x(5, 4)),
            "x: got shape (5, 4); needed shape (…, T, 3)",
        ),
        (lambda: attention.SelfAttention(3, 2)(x(3)), "x: got shape (3,); needed shape (…, T, 3)"),
        (
            lambda: attention.SelfAttention(3, 2)(x(5, 3).double()),
            "x: got dtype torch.float64; needed torch.float32, as the weights have",
        ),
    ],
    attention.CausalSelfAttention: [
        (
            lambda: attention.CausalSelfAttention(3, 2, 0),
            "context_length: got 0; needed at least 1",
        ),
        (
            lambda: attention.CausalSelfAttention(3, 2, 4, dropout=-0.1),
            "dropout: got -0.1; needed a share from 0 up to, but not including, 1",
        ),
        (
            lambda: attention.CausalSelfAttention(3, 2, 4)(x(5, 3)),
            "x: got 5 positions; needed at most context_length = 4",
        ),
        (
            lambda: attention.CausalSelfAttention(3, 2, 4)(x(5, 2)),
            "x: got shape (5, 2); needed shape (…, T, 3)",
        ),
    ],
    attention.KeyValueCache: [
        (
            lambda: one_cache(2, 3, 4, 5).append(x(1, 3, 4, 5), x(1, 3, 4, 5)),
            "k: got shape (1, 3, 4, 5); needed shape (2, 3, T, 5), as the cache holds",
        ),
        (
            lambda: one_cache(2, 3, 4, 5).append(x(2, 3, 1, 5), x(2, 3, 1, 6)),
            "v: got shape (2, 3, 1, 6); needed shape (2, 3, T, 5), as the cache holds",
        ),
    ],
    heads: [
        (
            lambda: heads(4, 2)(x(3, 1, 4), cache=one_cache(2, 2, 5, 2)),
            "k: got shape (3, 2, 1, 2); needed shape (2, 2, T, 2), as the cache holds",
        ),
        (
            lambda: heads(4, 2)(x(2, 1, 4), mask=true(1, 1, 1, 2), cache=one_cache(2, 2, 5, 2)),
            "mask: got shape (1, 1, 1, 2); needed a shape that broadcasts to (2, 2, 1, 6)",
        ),
        (lambda: heads(5, 2), "d_model: got 5; needed a multiple of n_heads = 2, or d_k given"),
        (lambda: heads(4, 0), "n_heads: got 0; needed at least 1"),
        (lambda: heads(0, 1), "d_model: got 0; needed at least 1"),
        (lambda: heads(4, 2, d_k=0), "d_k: got 0; needed at least 1"),
        (lambda: heads(4, 2, d_v=0), "d_v: got 0; needed at least 1"),
        (lambda: heads(4, 2, d_out=0), "d_out: got 0; needed at least 1"),
        (lambda: heads(4, 2, d_context=0), "d_context: got 0; needed at least 1"),
        (
            lambda: heads(4, 2, dropout=1.5),
            "dropout: got 1.5; needed a share from 0 up to, but not including, 1",
        ),
        (lambda: heads(4, 2)(x(3, 4)), "query: got shape (3, 4); needed shape (batch, T, 4)"),
        (lambda: heads(4, 2)(x(2, 3, 5)), "query: got shape (2, 3, 5); needed shape (batch, T, 4)"),
        (
            lambda: heads(4, 2)(x(2, 3, 4).double()),
            "query: got dtype torch.float64; needed torch.float32, as the weights have",
        ),
        (
            lambda: heads(4, 2, d_context=6)(x(2, 3, 4)),
            "key: got shape (2, 3, 4); needed shape (batch, T, 6)",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), x(3, 4)),
            "key: got shape (3, 4); needed shape (batch, T, 4)",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), x(3, 3, 4)),
            "key: got shape (3, 3, 4); needed shape (2, 3, …): batch as query, T_k as key",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), None, x(2, 3, 3)),
            "value: got shape (2, 3, 3); needed shape (batch, T, 4)",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), None, x(2, 5, 4)),
            "value: got shape (2, 5, 4); needed shape (2, 3, …): batch as query, T_k as key",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), mask=x(3, 3)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), mask=true(2, 3, 3)),
            "mask: got 3 dimensions; needed 2 or 4: (T_q, T_k) or (batch, heads, T_q, T_k)",
        ),
        (
            lambda: heads(4, 2)(x(2, 3, 4), mask=true(3, 4)),
            "mask: got shape (3, 4); needed a shape that broadcasts to (2, 2, 3, 3)",
        ),
        (
            lambda: heads(4, 2, positions=positions.ALiBiPositions(3))(x(2, 3, 4)),
            "bias of positions: got shape (3, 3, 3); needed a shape that broadcasts to (2, 2, 3,",
        ),
    ],
    masks.causal_mask: [
        (lambda: masks.causal_mask(-1), "T_q, T_k: got (-1, -1); needed 0 <= T_q <= T_k"),
        (lambda: masks.causal_mask(3, 2), "T_q, T_k: got (3, 2); needed 0 <= T_q <= T_k"),
    ],
    masks.padding_mask: [
        (
            lambda: masks.padding_mask(ids([1], [2]), 3),
            "lengths: got shape (2, 1); needed shape (batch,)",
        ),
        (
            lambda: masks.padding_mask(torch.tensor([1, 4]), 3),
            "lengths: got [1, 4]; needed numbers from 0 to T_k = 3",
        ),
        (
            lambda: masks.padding_mask(torch.tensor([-1]), 3),
            "lengths: got [-1]; needed numbers from 0 to T_k = 3",
        ),
        (
            lambda: masks.padding_mask(torch.tensor([1.5]), 3),
            "lengths: got dtype torch.float32; needed a dtype of whole numbers",
        ),
    ],
    masks.combine_masks: [
        (
            lambda: masks.combine_masks(true(2), x(2)),
            "mask 2: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
        (
            lambda: masks.combine_masks(None, true(2, 3), true(2, 4)),
            "mask 3: got shape (2, 4); needed a shape that broadcasts with (2, 3)",
        ),
    ],
    masks.require_bool: [
        (
            lambda: masks.require_bool("mask", x(2)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
    ],
    masks.to_blocking: [
        (
            lambda: masks.to_blocking(x(2)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
    ],
    masks.from_blocking: [
        (
            lambda: masks.from_blocking(x(2)),
            "blocking: got dtype torch.float32; needed torch.bool (True = may attend);",
        ),
    ],
    masks.to_additive: [
        (
            lambda: masks.to_additive(x(2)),
            "mask: got dtype torch.float32; needed torch.bool (True = may attend); masks.from_…",
        ),
        (
            lambda: masks.to_additive(true(2), torch.int64),
            "dtype: got torch.int64; needed a floating-point dtype: it must hold −inf",
        ),
    ],
    masks.from_additive: [
        (
            lambda: masks.from_additive(torch.tensor([0.0, -1e9])),
            "additive: got values such as [-1000000000.0]; needed only 0 and −inf",
        ),
        (
            lambda: masks.from_additive(~true(2)),
            "additive: got dtype torch.bool; needed a floating-point dtype",
        ),
    ],
    positions.LearnedPositions: [
        (lambda: positions.LearnedPositions(0, 4), "context_length: got 0; needed at least 1"),
        (lambda: positions.LearnedPositions(4, 0), "d_model: got 0; needed at least 1"),
        (
            lambda: positions.LearnedPositions(4, 3).embed(x(1, 5, 3)),
            "x: got 5 positions; needed at most context_length = 4",
        ),
        (
            lambda: positions.LearnedPositions(4, 3).embed(x(1, 2, 5)),
            "x: got shape (1, 2, 5); needed shape (…, T, 3)",
        ),
        (
            lambda: positions.LearnedPositions(4, 3).embed(x(1, 2, 3), -1),
            "start: got -1; needed at least 0",
        ),
        (
            lambda: positions.LearnedPositions(4, 3).embed(x(1, 2, 3), 3),
            "x: got 5 positions; needed at most context_length = 4",
        ),
    ],
    positions.sinusoidal_codes: [
        (
            lambda: positions.sinusoidal_codes(3, 5),
            "d_model: got 5; needed an even number: sine and cosine come in pairs",
        ),
        (lambda: positions.sinusoidal_codes(3, 0), "d_model: got 0; needed at least 1"),
        (lambda: positions.sinusoidal_codes(-1, 4), "T: got -1; needed at least 0"),
        (
            lambda: positions.sinusoidal_codes(3, 4, start=-2),
            "start: got -2; needed at least 0",
        ),
        (
            lambda: positions.sinusoidal_codes(3, 4, base=0.0),
            "base: got 0.0; needed a number above 0",
        ),
    ],
    positions.SinusoidalPositions: [
        (
            lambda: positions.SinusoidalPositions().embed(x(1, 2, 5)),
            "d_model: got 5; needed an even number: sine and cosine come in pairs",
        ),
        (
            lambda: positions.SinusoidalPositions().embed(x(1, 2, 4), -1),
            "start: got -1; needed at least 0",
        ),
    ],
    positions.RotaryPositions: [
        (lambda: positions.RotaryPositions(-1.0), "base: got -1.0; needed a number above 0"),
        (
            lambda: positions.RotaryPositions().rotate(x(1, 1, 2, 3), x(1, 1, 2, 3)),
            "d_k: got 3; needed an even number: rotations act on pairs of features",
        ),
        (
            lambda: positions.RotaryPositions().rotate(x(1, 1, 2, 4), x(1, 1, 2, 6)),
            "k: got shape (1, 1, 2, 6); needed d_k = 4 as last axis, as q has",
        ),
        (
            lambda: positions.RotaryPositions().rotate(x(1, 1, 3, 4), x(1, 1, 2, 4)),
            "q: got 3 positions; needed at most T_k = 2",
        ),
        (
            lambda: positions.RotaryPositions().rotate(x(1, 1, 3, 4), x(1, 1, 3, 4), -1),
            "start: got -1; needed at least 0",
        ),
    ],
    positions.ALiBiPositions: [
        (lambda: positions.ALiBiPositions(0), "n_heads: got 0; needed at least 1"),
        (
            lambda: positions.ALiBiPositions(2).bias(3, 2, x(1)),
            "T_q, T_k: got (3, 2); needed 0 <= T_q <= T_k",
        ),
    ],
    blocks.FeedForward: [
        (lambda: blocks.FeedForward(0, 3), "d_model: got 0; needed at least 1"),
        (lambda: blocks.FeedForward(3, 0), "d_ff: got 0; needed at least 1"),
        (
            lambda: blocks.FeedForward(3, 3, 2.0),
            "dropout: got 2.0; needed a share from 0 up to, but not including, 1",
        ),
        (lambda: blocks.FeedForward(3, 3)(x(2, 4)), "x: got shape (2, 4); needed shape (…, 3)"),
    ],
    blocks.TransformerBlock: [
        (
            lambda: blocks.TransformerBlock(4, 2, norm="both"),
            "norm: got 'both'; needed 'pre' or 'post'",
        ),
        (
            lambda: blocks.TransformerBlock(4, 3),
            "d_model: got 4; needed a multiple of n_heads = 3, or d_k given",
        ),
        (lambda: blocks.TransformerBlock(4, 2, d_ff=0), "d_ff: got 0; needed at least 1"),
        (
            lambda: blocks.TransformerBlock(4, 2)(x(3, 4)),
            "x: got shape (3, 4); needed shape (batch, T, 4)",
        ),
        (
            lambda: blocks.TransformerBlock(4, 2)(x(2, 3, 4), cache=one_cache(2, 4, 3, 1)),
            "k: got shape (2, 2, 3, 2); needed shape (2, 4, T, 1), as the cache holds",
        ),
        (
            lambda: blocks.TransformerBlock(4, 2, norm="post")(x(2, 3, 5)),
            "x: got shape (2, 3, 5); needed shape (batch, T, 4)",
        ),
    ],
    blocks.DecoderBlock: [
        (
            lambda: blocks.DecoderBlock(4, 2, norm="both"),
            "norm: got 'both'; needed 'pre' or 'post'",
        ),
        (
            lambda: blocks.DecoderBlock(4, 2)(x(3, 4), x(2, 3, 4)),
            "x: got shape (3, 4); needed shape (batch, T, 4)",
        ),
        (
            lambda: blocks.DecoderBlock(4, 2)(x(2, 3, 4), x(2, 3, 5)),
            "memory: got shape (2, 3, 5); needed shape (batch, T, 4)",
        ),
        (
            lambda: blocks.DecoderBlock(4, 2)(x(2, 3, 4), x(3, 3, 4)),
            "memory: got shape (3, 3, 4); needed shape (2, T_k, 4): batch as x",
        ),
        (
            lambda: blocks.DecoderBlock(4, 2)(x(2, 3, 4), x(2, 5, 4), None, true(3, 3)),
            "mask: got shape (3, 3); needed a shape that broadcasts to (2, 2, 3, 5)",
        ),
    ],
    blocks.TransformerStack: [
        (lambda: blocks.TransformerStack(-1, 4, 2), "n_layers: got -1; needed at least 0"),
        (
            lambda: blocks.TransformerStack(1, 4, 2, norm="no"),
            "norm: got 'no'; needed 'pre' or 'post'",
        ),
        (
            lambda: blocks.TransformerStack(2, 4, 2)(x(1, 3, 4), cache=[one_cache()]),
            "cache: got 1 caches; needed 2, one for each block",
        ),
        (
            lambda: blocks.TransformerStack(1, 4, 2)(x(1, 3, 5)),
            "x: got shape (1, 3, 5); needed shape (batch, T, 4)",
        ),
    ],
    models.RecurrentModel: [
        (lambda: models.RecurrentModel(0, 4, 2), "vocab: got 0; needed at least 1"),
        (
            lambda: models.RecurrentModel(5, 4, 2, "grru"),
            "cell: got 'grru'; needed 'rnn' or 'lstm' or 'gru'",
        ),
        (lambda: models.RecurrentModel(5, 4, 2, n_layers=0), "n_layers: got 0; needed at least 1"),
        (
            lambda: models.RecurrentModel(5, 4, 2, "gru", forget_bias=1.0),
            "forget_bias: got one for cell 'gru'; needed cell 'lstm'",
        ),
        (
            lambda: models.RecurrentModel(5, 4, 2, "gru", identity_start=True),
            "identity_start: got one for cell 'gru'; needed cell 'rnn'",
        ),
        (
            lambda: models.RecurrentModel(5, 4, 2)(torch.tensor([1])),
            "tokens: got shape (1,); needed shape (batch, T)",
        ),
        (
            lambda: models.RecurrentModel(5, 4, 2)(ids([])),
            "tokens: got dtype torch.float32; needed torch.int64, ids of tokens",
        ),
        (
            lambda: models.RecurrentModel(5, 4, 2)(torch.zeros(2, 0, dtype=torch.long)),
            "tokens: got shape (2, 0); needed T at least 1",
        ),
        (
            lambda: models.RecurrentModel(5, 4, 2)(ids([1, 5])),
            "tokens: got ids such as [5]; needed numbers from 0 to 4",
        ),
    ],
    models.set_forget_bias: [
        (
            lambda: models.set_forget_bias(nn.GRU(2, 3), 1.0),
            "lstm: got GRU(2, 3); needed an nn.LSTM with biases",
        ),
        (
            lambda: models.set_forget_bias(nn.LSTM(2, 3, bias=False), 1.0),
            "lstm: got LSTM(2, 3, bias=False); needed an nn.LSTM with biases",
        ),
    ],
    models.identity_rnn: [
        (lambda: models.identity_rnn(0), "d_model: got 0; needed at least 1"),
        (lambda: models.identity_rnn(2, 0), "n_layers: got 0; needed at least 1"),
    ],
    models.TransformerModel: [
        (lambda: models.TransformerModel(5, 4, 0), "n_outputs: got 0; needed at least 1"),
        (lambda: models.TransformerModel(5, 4, 2, -1), "n_layers: got -1; needed at least 0"),
        (
            lambda: models.TransformerModel(5, 4, 2, norm="no"),
            "norm: got 'no'; needed 'pre' or 'post'",
        ),
        (
            lambda: models.TransformerModel(5, 4, 2)(ids([-1])),
            "tokens: got ids such as [-1]; needed numbers from 0 to 4",
        ),
        (
            lambda: models.TransformerModel(5, 4, 2)(x(1, 2)),
            "tokens: got dtype torch.float32; needed torch.int64, ids of tokens",
        ),
        (
            lambda: models.TransformerModel(5, 4, 2, 0).new_cache(),
            "n_layers: got 0; needed at least 1: attention keeps keys and values",
        ),
        (
            lambda: models.TransformerModel(5, 4, 2)(
                ids([1]), cache=cache_of(models.TransformerModel(5, 4, 2, 3), [1])
            ),
            "cache: got 3 caches; needed 2, one for each block",
        ),
    ],
    models.LanguageModel: [
        (lambda: models.LanguageModel(0, 4), "vocab: got 0; needed at least 1"),
        (lambda: language_model(n_layers=-1), "n_layers: got -1; needed at least 0"),
        (
            lambda: language_model()(ids([5])),
            "tokens: got ids such as [5]; needed numbers from 0 to 4",
        ),
        (
            lambda: (model := language_model())(ids([1], [2]), cache=cache_of(model, [1])),
            "tokens: got 2 rows; needed 1, as the cache holds",
        ),
        (
            lambda: (model := language_model(positions=positions.LearnedPositions(3, 4)))(
                ids([1, 2]), cache=cache_of(model, [1, 2])
            ),
            "x: got 4 positions; needed at most context_length = 3",
        ),
    ],
    models.without_heads: [
        (
            lambda: models.without_heads(language_model(), [(2, 0)]),
            "heads: got layer 2; needed numbers from 0 to 1",
        ),
        (
            lambda: models.without_heads(language_model(), [(0, 1), (1, -1)]),
            "heads: got head -1; needed numbers from 0 to 1",
        ),
    ],
    decoding.greedy: [
        (
            lambda: decoding.greedy(torch.tensor(1.0)),
            "logits: got shape (); needed shape (…, vocab), vocab at least 1",
        ),
        (
            lambda: decoding.greedy(x(2, 0)),
            "logits: got shape (2, 0); needed shape (…, vocab), vocab at least 1",
        ),
        (
            lambda: decoding.greedy(ids([1])),
            "logits: got dtype torch.int64; needed a floating-point dtype",
        ),
        (
            lambda: decoding.greedy(torch.tensor([[1.0, 2.0], [1.0, torch.nan]])),
            "logits: got largest ones such as [nan]; needed finite largest ones",
        ),
        (
            lambda: decoding.greedy(torch.tensor([1.0, torch.inf])),
            "logits: got largest ones such as [inf]; needed finite largest ones",
        ),
    ],
    decoding.next_token_probabilities: [
        (
            lambda: decoding.next_token_probabilities(x(3), -0.1),
            "temperature: got -0.1; needed a finite number, 0 or more",
        ),
        (
            lambda: decoding.next_token_probabilities(x(3), torch.inf),
            "temperature: got inf; needed a finite number, 0 or more",
        ),
        (
            lambda: decoding.next_token_probabilities(x(3), torch.nan),
            "temperature: got nan; needed a finite number, 0 or more",
        ),
        (
            lambda: decoding.next_token_probabilities(torch.full((2, 3), -torch.inf)),
            "logits: got largest ones such as [-inf, -inf]; needed finite largest ones",
        ),
        (
            lambda: decoding.next_token_probabilities(x(3), top_k=0),
            "k: got 0; needed a number from 1 to vocab = 3",
        ),
        (
            lambda: decoding.next_token_probabilities(x(3), top_p=1.2),
            "p: got 1.2; needed a number above 0 and at most 1",
        ),
    ],
    decoding.keep_top_k: [
        (
            lambda: decoding.keep_top_k(x(2, 3).softmax(-1), 4),
            "k: got 4; needed a number from 1 to vocab = 3",
        ),
        (
            lambda: decoding.keep_top_k(torch.tensor([-1.0, 2.0]), 1),
            "probabilities: got numbers such as [-1.0]; needed none below 0",
        ),
        (
            lambda: decoding.keep_top_k(torch.tensor([[0.5, 0.5], [1.0, 2.0]]), 1),
            "probabilities: got rows with sums such as [3.0]; needed a sum of 1 in each",
        ),
        (
            lambda: decoding.keep_top_k(ids([1, 0]), 1),
            "probabilities: got dtype torch.int64; needed a floating-point dtype",
        ),
    ],
    decoding.keep_top_p: [
        (
            lambda: decoding.keep_top_p(x(2, 3).softmax(-1), 0.0),
            "p: got 0.0; needed a number above 0 and at most 1",
        ),
        (
            lambda: decoding.keep_top_p(torch.tensor([torch.nan, 0.5]), 0.5),
            "probabilities: got rows with sums such as [nan]; needed a sum of 1 in each",
        ),
    ],
    decoding.generate: [
        (
            lambda: decoding.generate(language_model(), torch.tensor([1]), 1),
            "tokens: got shape (1,); needed shape (batch, T)",
        ),
        (
            lambda: decoding.generate(language_model(), torch.zeros(2, 0, dtype=torch.long), 1),
            "tokens: got shape (2, 0); needed T at least 1",
        ),
        (
            lambda: decoding.generate(language_model(), ids([1]), -1),
            "max_new_tokens: got -1; needed at least 0",
        ),
        (
            lambda: decoding.generate(models.RecurrentModel(5, 4, 5), ids([1]), 1),
            "use_cache: got True with RecurrentModel; needed use_cache=False for a model without",
        ),
        (
            lambda: decoding.generate(language_model(), ids([1]), 1, temperature=-1.0),
            "temperature: got -1.0; needed a finite number, 0 or more",
        ),
        (
            lambda: decoding.generate(language_model(), ids([1]), 1, top_k=6),
            "k: got 6; needed a number from 1 to vocab = 5",
        ),
        (
            lambda: decoding.generate(
                language_model(positions=positions.LearnedPositions(3, 4)), ids([1, 2]), 3
            ),
            "x: got 4 positions; needed at most context_length = 3",
        ),
    ],
    models.AttentionReader: [
        (
            lambda: models.AttentionReader(4, 2, 1)(ids([0, 1, 2])),
            "tokens: got 3 positions; needed at most length = 2",
        ),
        (
            lambda: models.AttentionReader(4, 2, 1)(torch.tensor([0, 1])),
            "tokens: got shape (2,); needed shape (batch, T)",
        ),
    ],
    training.History: [
        (lambda: training.History([1.0]).smoothed(0), "window: got 0; needed at least 1"),
    ],
    training.train: [
        (lambda: training.train(nn.Linear(1, 1), one_batch, 0), "steps: got 0; needed at least 1"),
        (
            lambda: training.train(nn.Linear(1, 1), one_batch, 1, lr=-1.0),
            "lr: got -1.0; needed a number above 0",
        ),
        (
            lambda: training.train(nn.Linear(1, 1), one_batch, 1, warmup=-1),
            "warmup: got -1; needed at least 0",
        ),
        (
            lambda: training.train(nn.Linear(1, 1), one_batch, 1, clip=0.0),
            "clip: got 0.0; needed a number above 0, or None",
        ),
    ],
    training.masked_cross_entropy: [
        (
            lambda: training.masked_cross_entropy(x(1, 2, 3), ids([0, 1, 2])),
            "logits: got shape (1, 2, 3); needed shape (1, 3, n_outputs) to go with the targets",
        ),
        (
            lambda: training.masked_cross_entropy(x(1, 2, 3), ids([0, 3])),
            "targets: got numbers such as [3]; needed numbers from 0 to 2, or -100",
        ),
        (
            lambda: training.masked_cross_entropy(x(1, 1, 3), ids([IGNORE])),
            "targets: got none other than -100; needed at least one that counts",
        ),
    ],
    training.accuracy: [
        (
            lambda: training.accuracy(models.TransformerModel(5, 4, 2), (ids([1]), ids([IGNORE]))),
            "targets: got none other than -100; needed at least one that counts",
        ),
        (
            lambda: training.accuracy(models.TransformerModel(5, 4, 2), (ids([1]), ids([1, 0]))),
            "logits: got shape (1, 1, 2); needed shape (1, 2, n_outputs) to go with the targets",
        ),
    ],
    data.Vocabulary: [
        (
            lambda: data.Vocabulary(["a", "b", "a"]),
            "words: got ['a'] more than once; needed different words",
        ),
        (
            lambda: data.Vocabulary(["a"]).encode("a b"),
            "text: got the unknown words ['b']; needed words of the vocabulary",
        ),
        (lambda: data.Vocabulary(["a"]).decode([2]), "ids: got [2]; needed numbers from 0 to 1"),
    ],
    data.agreement_batch: [
        (lambda: data.agreement_batch(0, 1, generator), "batch: got 0; needed at least 1"),
        (
            lambda: data.agreement_batch(1, (2, 1), generator),
            "attractors: got (2, 1); needed 0 <= least <= greatest",
        ),
        (
            lambda: data.agreement_batch(1, -1, generator),
            "attractors: got -1; needed 0 <= least <= greatest",
        ),
    ],
    data.two_relations_batch: [
        (lambda: data.two_relations_batch(0, 4, generator), "batch: got 0; needed at least 1"),
        (lambda: data.two_relations_batch(1, 1, generator), "length: got 1; needed at least 2"),
        (
            lambda: data.two_relations_batch(1, 4, generator, n_symbols=1),
            "n_symbols: got 1; needed at least 2",
        ),
    ],
    data.scene: [(lambda: next(data.scene(-1)), "attractors: got -1; needed at least 0")],
    data.tell_stories: [(lambda: data.tell_stories(0, generator), "n: got 0; needed at least 1")],
    data.story_probabilities: [
        (lambda: data.story_probabilities([-1]), "ids: got [-1]; needed numbers from 0 to"),
    ],
    data.story_text: [
        (lambda: data.story_text([10_000]), "ids: got [10000]; needed numbers from 0 to"),
    ],
    data.next_word_batch: [
        (
            lambda: data.next_word_batch(torch.tensor([1, 2])),
            "tokens: got shape (2,); needed shape (batch, T)",
        ),
    ],
    data.stored: [
        (lambda: data.stored("nothing"), "name: got 'nothing'; needed one of ["),
    ],
    plotting.to_html: [
        (
            lambda: plotting.to_html(plt.figure(), "A plot"),
            "alt: got 'A plot'; needed a sentence that says what the figure shows",
        ),
    ],
    plotting.show: [
        (
            lambda: plotting.show(plt.figure(), ""),
            "alt: got ''; needed a sentence that says what the figure shows",
        ),
    ],
    plotting.plot_series: [
        (
            lambda: plotting.plot_series(axes(), [0, 1], {"a": [1.0]}),
            "series['a']: got shape (1,); needed (…, 2), as long as x",
        ),
    ],
    plotting.heatmap: [
        (
            lambda: plotting.heatmap(axes(), array(3)),
            "values: got shape (3,); needed shape (rows, columns)",
        ),
        (
            lambda: plotting.heatmap(axes(), array(0, 3)),
            "values: got shape (0, 3); needed at least one row and column",
        ),
        (
            lambda: plotting.heatmap(axes(), array(2, 3), ["a"]),
            "rows: got 1 labels; needed 2, as `values` has",
        ),
        (
            lambda: plotting.heatmap(axes(), array(2, 3), None, ["a"]),
            "columns: got 1 labels; needed 3, as `values` has",
        ),
        (
            lambda: plotting.heatmap(axes(), array(2, 3), decimals=-1),
            "decimals: got -1; needed at least 0, or None",
        ),
        (
            lambda: plotting.heatmap(axes(), array(2, 3), top=0.0),
            "top: got 0.0; needed a number above 0, or None",
        ),
    ],
    quiz.to_html: [
        (lambda: quiz.to_html(), "questions: got none; needed at least one"),
        (
            lambda: quiz.to_html(*[("Q?", [option, other])] * 2),
            "questions: got the same text twice; needed different texts",
        ),
        (lambda: quiz.to_html((" ", [option, other])), "question: got ' '; needed a text"),
    ],
    quiz.quiz: [
        (lambda: quiz.quiz(("Q?", [option])), "options of 'Q?': got 1; needed at least 2"),
        (
            lambda: quiz.quiz(("Q?", [other, ("c", False, "why")])),
            "options of 'Q?': got none that is right; needed at least one",
        ),
        (
            lambda: quiz.quiz(("Q?", [option, option])),
            "options of 'Q?': got the same text twice; needed different texts",
        ),
        (
            lambda: quiz.quiz(("Q?", [option, ("c", False)])),
            "options of 'Q?': got [('a', True, 'why'), ('c', False)]; needed (text, right,",
        ),
        (
            lambda: quiz.quiz(("Q?", [option, ("c", False, " ")])),
            "reason for 'c': got nothing; needed a sentence",
        ),
    ],
    quiz.prediction_html: [
        (
            lambda: quiz.prediction_html("Q?"),
            "options and answer: got neither; needed one of them",
        ),
        (
            lambda: quiz.prediction_html(" ", answer=1, reason="why"),
            "question: got ' '; needed a text",
        ),
        (
            lambda: quiz.prediction_html("Q?", answer=1),
            "reason: got nothing; needed a sentence",
        ),
    ],
    quiz.predict: [
        (
            lambda: quiz.predict("Q?", [option, other], answer=1),
            "options and answer: got both; needed one of them",
        ),
        (lambda: quiz.predict("Q?", [option]), "options of 'Q?': got 1; needed at least 2"),
        (
            lambda: quiz.predict("Q?", answer=float("nan"), reason="why"),
            "answer: got nan; needed a finite number",
        ),
        (
            lambda: quiz.predict("Q?", answer=1, within=-1, reason="why"),
            "within: got -1; needed at least 0",
        ),
    ],
    checks.require: [
        (lambda: checks.require(False, "n", 3, "4"), "n: got 3; needed 4"),
    ],
    checks.require_dims: [
        (
            lambda: checks.require_dims("n", x(3), 2, "(a, b)"),
            "n: got shape (3,); needed shape (a, b)",
        ),
    ],
    checks.require_sizes: [
        (lambda: checks.require_sizes(n=1, m=None, k=0), "k: got 0; needed at least 1"),
    ],
    checks.require_share: [
        (
            lambda: checks.require_share("p", 1.0),
            "p: got 1.0; needed a share from 0 up to, but not including, 1",
        ),
    ],
    checks.require_broadcastable: [
        (
            lambda: checks.require_broadcastable("n", (2, 3), (3,)),
            "n: got shape (2, 3); needed a shape that broadcasts to (3,)",
        ),
    ],
    data.first_token_recall_batch: [
        (lambda: data.first_token_recall_batch(0, 5, generator), "batch: got 0; needed at least 1"),
        (
            lambda: data.first_token_recall_batch(1, 1, generator),
            "length: got 1; needed at least 2: a symbol and a question",
        ),
        (
            lambda: data.first_token_recall_batch(1, 5, generator, n_symbols=1),
            "n_symbols: got 1; needed at least 2",
        ),
    ],
    data.associative_recall_batch: [
        (lambda: data.associative_recall_batch(0, 5, generator), "batch: got 0; needed at least 1"),
        (
            lambda: data.associative_recall_batch(1, 65, generator),
            "n_pairs: got 65; needed 1 to n_keys = 64: keys differ",
        ),
        (
            lambda: data.associative_recall_batch(1, 5, generator, n_values=0),
            "n_values: got 0; needed at least 1",
        ),
    ],
}

CANNOT_FAIL = {
    positions.Positions: "takes everything and changes nothing",
    training.set_seed: "takes any whole number",
    training.count_parameters: "counts whatever is there",
    training.progress: "shows whatever range it is given",
    plotting.use_style: "has no argument",
    data.storyteller: "has no argument",
    checks.shape_text: "writes whatever it is given",
}


CALLS = [
    pytest.param(call, message, id=f"{function.__name__}: {message.split('; ')[0]}")
    for function, calls in CASES.items()
    for call, message in calls
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_bad_call(call, message):
    try:
        with pytest.raises(ValueError, match="^" + re.escape(message)):
            call()
    finally:
        plt.close("all")


def test_every_message_says_all_three():
    """The name, what came, what is needed. NumPy's own for a wrong axis does so in other words."""
    messages = [message for calls in CASES.values() for _, message in calls]
    whole = re.compile(r".+: got .+; needed .+|axis \d is out of bounds for")
    assert [message for message in messages if not whole.match(message)] == []


def test_every_public_function_has_a_bad_call():
    """A new one needs a case above, or a reason why it refuses nothing."""
    public = {
        thing
        for module in map(importlib.import_module, (f"helpers.{name}" for name in MODULES))
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__ == module.__name__
    }
    uncovered = public - set(CASES) - set(CANNOT_FAIL)
    assert sorted(f"{thing.__module__}.{thing.__name__}" for thing in uncovered) == []
