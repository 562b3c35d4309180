"""What `helpers.encoder_decoder` refuses, and in which words."""

import torch

from helpers import encoder_decoder, rnn
from helpers.config import TransformerConfig
from helpers.tokens import shift_right
from helpers.variants import SlidingWindow
from tests.helpers.bad_call import ids, x


def transformer(source_vocab, vocab, d_model):
    config = TransformerConfig(vocab, d_model, source_vocab=source_vocab)
    return encoder_decoder.EncoderDecoder(config)


recurrent = rnn.RecurrentTranslator

CASES = {
    encoder_decoder.source_mask: [
        (
            lambda: encoder_decoder.source_mask(torch.tensor([1, 2])),
            "source: got shape (2,); needed shape (batch, T_k)",
        ),
    ],
    encoder_decoder.EncoderDecoder: [
        (
            lambda: encoder_decoder.EncoderDecoder(TransformerConfig(5, 4, tied=True)),
            "tied: got True; needed False or not given: only a LanguageModel has it",
        ),
        (
            lambda: encoder_decoder.EncoderDecoder(TransformerConfig(5, 4, scale_embedding=True)),
            "scale_embedding: got True; needed False or not given: only a LanguageModel has it",
        ),
        (
            lambda: encoder_decoder.EncoderDecoder(TransformerConfig(5, 4, n_outputs=3)),
            "n_outputs: got 3; needed 5, as vocab, or not given",
        ),
        (
            lambda: encoder_decoder.EncoderDecoder(TransformerConfig(5, 4), SlidingWindow(2)),
            "positions: got a window of 2; needed none: it is causal, and an encoder reads in both "
            "directions",
        ),
        (
            lambda: transformer(3, 5, 4)(ids([4]), ids([4])),
            "source: got ids such as [4]; needed numbers from 0 to 2",
        ),
        (
            lambda: transformer(5, 3, 4)(ids([4]), ids([4])),
            "target: got ids such as [4]; needed numbers from 0 to 2",
        ),
        (
            lambda: transformer(5, 3, 4)(ids([1, 2]), ids([1], [1])),
            "memory: got shape (1, 2, 4); needed shape (2, T_k, 4): batch as x",
        ),
        (
            lambda: (m := transformer(5, 3, 4)).decode(
                ids([1]), m.encode(ids([1])), cache=m.new_cache()[:1]
            ),
            "cache: got 1 caches; needed 2, one for each block",
        ),
    ],
    shift_right: [
        (lambda: shift_right([], []), "sources: got none; needed at least one"),
        (
            lambda: shift_right(ids([1], [2]), ids([1])),
            "targets: got 1; needed 2, one for each source",
        ),
    ],
    encoder_decoder.ConditionedDecoder: [
        (
            lambda: transformer(5, 3, 4).condition_on(ids([1], [2]))(ids([1], [1], [1])),
            "memory: got shape (2, 1, 4); needed shape (3, T_k, 4): batch as x",
        ),
    ],
    rnn.AdditiveAttention: [
        (lambda: rnn.AdditiveAttention(0), "d_model: got 0; needed at least 1"),
        (
            lambda: rnn.AdditiveAttention(3)(x(2, 4, 3), x(2, 5, 3), torch.ones(2, 1, 4).bool()),
            "mask: got shape (2, 1, 4); needed a shape that broadcasts to (2, 4, 5)",
        ),
    ],
    recurrent: [
        (lambda: recurrent(3, 3, 0), "d_model: got 0; needed at least 1"),
        (
            lambda: recurrent(3, 3, 4)(ids([1], [2]), ids([1])),
            "target: got 1 rows; needed 2 rows, as the source has",
        ),
        (
            lambda: recurrent(3, 3, 4)(ids([1], [0]), ids([1], [1])),
            "source: got a row of pad tokens; needed words in each row",
        ),
        (
            lambda: recurrent(3, 3, 4)(ids([1]), ids([1]), return_weights=True),
            "return_weights: got True; needed a model with attention",
        ),
    ],
    rnn.UncachedDecoder: [
        (
            lambda: recurrent(5, 3, 4).condition_on(ids([1], [2]))(ids([1], [1], [1])),
            "target: got 3 rows; needed 2 rows, as the source has",
        ),
    ],
}
