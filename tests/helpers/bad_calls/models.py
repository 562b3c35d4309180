"""What `helpers.models` refuses, and in which words."""

import torch
from torch import nn

from helpers import models, rnn
from helpers.apps import attention_reader
from helpers.config import TransformerConfig
from helpers.interp import ablation
from helpers.positions import RotaryPositions
from helpers.tokens import check_tokens
from tests.helpers.bad_call import cache_of, ids, language_model, x

CASES = {
    rnn.RecurrentModel: [
        (lambda: rnn.RecurrentModel(0, 4, 2), "vocab: got 0; needed at least 1"),
        (
            lambda: rnn.RecurrentModel(5, 4, 2, "grru"),
            "cell: got 'grru'; needed 'rnn' or 'lstm' or 'gru'",
        ),
        (lambda: rnn.RecurrentModel(5, 4, 2, n_layers=0), "n_layers: got 0; needed at least 1"),
        (
            lambda: rnn.RecurrentModel(5, 4, 2, "gru", forget_bias=1.0),
            "forget_bias: got one for cell 'gru'; needed cell 'lstm'",
        ),
        (
            lambda: rnn.RecurrentModel(5, 4, 2, "gru", identity_init=True),
            "identity_init: got one for cell 'gru'; needed cell 'rnn'",
        ),
        (
            lambda: rnn.RecurrentModel(5, 4, 2)(torch.tensor([1])),
            "tokens: got shape (1,); needed shape (batch, T)",
        ),
        (
            lambda: rnn.RecurrentModel(5, 4, 2)(ids([])),
            "tokens: got dtype torch.float32; needed torch.int64, ids of tokens",
        ),
        (
            lambda: rnn.RecurrentModel(5, 4, 2)(torch.zeros(2, 0, dtype=torch.long)),
            "tokens: got shape (2, 0); needed T at least 1",
        ),
        (
            lambda: rnn.RecurrentModel(5, 4, 2)(ids([1, 5])),
            "tokens: got ids such as [5]; needed numbers from 0 to 4",
        ),
    ],
    rnn.set_forget_bias: [
        (
            lambda: rnn.set_forget_bias(nn.GRU(2, 3), 1.0),
            "lstm: got GRU(2, 3); needed an nn.LSTM with biases",
        ),
        (
            lambda: rnn.set_forget_bias(nn.LSTM(2, 3, bias=False), 1.0),
            "lstm: got LSTM(2, 3, bias=False); needed an nn.LSTM with biases",
        ),
    ],
    rnn.identity_rnn: [
        (lambda: rnn.identity_rnn(0), "d_model: got 0; needed at least 1"),
        (lambda: rnn.identity_rnn(2, 0), "n_layers: got 0; needed at least 1"),
    ],
    models.refuse_language_model_options: [
        (
            lambda: models.refuse_language_model_options(TransformerConfig(5, 4, tied=True)),
            "tied: got True; needed False or not given: only a LanguageModel has it",
        ),
    ],
    models.TransformerModel: [
        (
            lambda: models.TransformerModel(TransformerConfig(5, 4, tied=True)),
            "tied: got True; needed False or not given: only a LanguageModel has it",
        ),
        (
            lambda: models.TransformerModel(TransformerConfig(5, 4, n_outputs=2))(ids([-1])),
            "tokens: got ids such as [-1]; needed numbers from 0 to 4",
        ),
        (
            lambda: models.TransformerModel(TransformerConfig(5, 4, n_outputs=2))(x(1, 2)),
            "tokens: got dtype torch.float32; needed torch.int64, ids of tokens",
        ),
        (
            lambda: models.TransformerModel(
                TransformerConfig(5, 4, n_layers=0, n_outputs=2)
            ).new_cache(),
            "n_layers: got 0; needed at least 1: attention keeps keys and values",
        ),
        (
            lambda: models.TransformerModel(TransformerConfig(5, 4, n_outputs=2))(
                ids([1]),
                cache=cache_of(
                    models.TransformerModel(TransformerConfig(5, 4, n_layers=3, n_outputs=2)), [1]
                ),
            ),
            "cache: got 3 caches; needed 2, one for each block",
        ),
    ],
    models.LanguageModel: [
        (lambda: language_model(n_outputs=3), "n_outputs: got 3; needed 5, as vocab, or not given"),
        (
            lambda: language_model(context_length=2)(ids([1, 2, 3])),
            "tokens: got 3 positions; needed at most context_length = 2",
        ),
        (
            lambda: language_model()(ids([5])),
            "tokens: got ids such as [5]; needed numbers from 0 to 4",
        ),
        (
            lambda: (model := language_model())(ids([1], [2]), cache=cache_of(model, [1])),
            "tokens: got 2 rows; needed 1, as the cache holds",
        ),
        (
            lambda: (model := language_model(context_length=3, learned_positions=True))(
                ids([1, 2]), cache=cache_of(model, [1, 2])
            ),
            "tokens: got 4 positions; needed at most context_length = 3",
        ),
    ],
    models.positions_or_default: [
        (
            lambda: models.LanguageModel(
                TransformerConfig(5, 4, context_length=3, learned_positions=True),
                RotaryPositions(),
            ),
            "positions: got RotaryPositions; needed None, since the config has learned_positions",
        ),
    ],
    ablation.without_heads: [
        (
            lambda: ablation.without_heads(language_model(), [(2, 0)]),
            "heads: got layer 2; needed numbers from 0 to 1",
        ),
        (
            lambda: ablation.without_heads(language_model(), [(0, 1), (1, -1)]),
            "heads: got head -1; needed numbers from 0 to 1",
        ),
    ],
    check_tokens: [
        (
            lambda: check_tokens(ids([1, 9]), 5, "source"),
            "source: got ids such as [9]; needed numbers from 0 to 4",
        ),
        (
            lambda: check_tokens(torch.ones(2, 3), 5),
            "tokens: got dtype torch.float32; needed torch.int64, ids of tokens",
        ),
    ],
    attention_reader.AttentionReader: [
        (
            lambda: attention_reader.AttentionReader(4, 2, 1)(ids([0, 1, 2])),
            "tokens: got 3 positions; needed at most length = 2",
        ),
        (
            lambda: attention_reader.AttentionReader(4, 2, 1)(torch.tensor([0, 1])),
            "tokens: got shape (2,); needed shape (batch, T)",
        ),
        (
            lambda: attention_reader.AttentionReader(4, 2, 1)(ids([9, -1])),
            "tokens: got ids such as [9, -1]; needed numbers from 0 to 7",
        ),
        (lambda: attention_reader.AttentionReader(0, 2, 1), "n_words: got 0; needed at least 1"),
        (
            lambda: attention_reader.AttentionReader(4, 2, 1, d_hidden=-3),
            "d_hidden: got -3; needed at least 0",
        ),
    ],
}

CANNOT_FAIL = {
    models.eval_mode: "takes any module",
    models.smaller_length: "takes lengths that have been checked",
}
