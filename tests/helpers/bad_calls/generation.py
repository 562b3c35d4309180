"""What `helpers.generation` refuses, and in which words."""

import torch

from helpers import generation, positions, rnn
from helpers.config import TransformerConfig
from helpers.models import LanguageModel
from tests.helpers.bad_call import ids, language_model, x

CASES = {
    generation.greedy: [
        (
            lambda: generation.greedy(torch.tensor(1.0)),
            "logits: got shape (); needed shape (…, vocab), vocab at least 1",
        ),
        (
            lambda: generation.greedy(x(2, 0)),
            "logits: got shape (2, 0); needed shape (…, vocab), vocab at least 1",
        ),
        (
            lambda: generation.greedy(ids([1])),
            "logits: got dtype torch.int64; needed a floating-point dtype",
        ),
        (
            lambda: generation.greedy(torch.tensor([[1.0, 2.0], [1.0, torch.nan]])),
            "logits: got largest ones such as [nan]; needed finite largest ones",
        ),
        (
            lambda: generation.greedy(torch.tensor([1.0, torch.inf])),
            "logits: got largest ones such as [inf]; needed finite largest ones",
        ),
    ],
    generation.next_token_probabilities: [
        (
            lambda: generation.next_token_probabilities(x(3), -0.1),
            "temperature: got -0.1; needed a finite number, 0 or more",
        ),
        (
            lambda: generation.next_token_probabilities(x(3), torch.inf),
            "temperature: got inf; needed a finite number, 0 or more",
        ),
        (
            lambda: generation.next_token_probabilities(x(3), torch.nan),
            "temperature: got nan; needed a finite number, 0 or more",
        ),
        (
            lambda: generation.next_token_probabilities(torch.full((2, 3), -torch.inf)),
            "logits: got largest ones such as [-inf, -inf]; needed finite largest ones",
        ),
        (
            lambda: generation.next_token_probabilities(x(3), top_k=0),
            "k: got 0; needed a number from 1 to vocab = 3",
        ),
        (
            lambda: generation.next_token_probabilities(x(3), top_p=1.2),
            "p: got 1.2; needed a number above 0 and at most 1",
        ),
    ],
    generation.filter_top_k: [
        (
            lambda: generation.filter_top_k(x(2, 3).softmax(-1), 4),
            "k: got 4; needed a number from 1 to vocab = 3",
        ),
        (
            lambda: generation.filter_top_k(torch.tensor([-1.0, 2.0]), 1),
            "probabilities: got numbers such as [-1.0]; needed none below 0",
        ),
        (
            lambda: generation.filter_top_k(torch.tensor([[0.5, 0.5], [1.0, 2.0]]), 1),
            "probabilities: got rows with sums such as [3.0]; needed a sum of 1 in each",
        ),
        (
            lambda: generation.filter_top_k(ids([1, 0]), 1),
            "probabilities: got dtype torch.int64; needed a floating-point dtype",
        ),
    ],
    generation.filter_top_p: [
        (
            lambda: generation.filter_top_p(x(2, 3).softmax(-1), 0.0),
            "p: got 0.0; needed a number above 0 and at most 1",
        ),
        (
            lambda: generation.filter_top_p(torch.tensor([torch.nan, 0.5]), 0.5),
            "probabilities: got rows with sums such as [nan]; needed a sum of 1 in each",
        ),
    ],
    generation.beam_search: [
        (
            lambda: generation.beam_search(language_model(), ids([1, 2]), 3, eos_id=1),
            "tokens: got shape (1, 2); needed shape (T,)",
        ),
        (
            lambda: generation.beam_search(language_model(), ids([1, 2])[0, :0], 3, eos_id=1),
            "tokens: got none; needed at least one to begin with",
        ),
        (
            lambda: generation.beam_search(language_model(), ids([1, 2])[0], 0, eos_id=1),
            "max_new_tokens: got 0; needed at least 1",
        ),
        (
            lambda: generation.beam_search(
                language_model(), ids([1, 2])[0], 3, eos_id=1, n_beams=0
            ),
            "n_beams: got 0; needed at least 1",
        ),
        (
            lambda: generation.beam_search(
                language_model(), ids([1, 2])[0], 3, eos_id=1, length_penalty=-1.0
            ),
            "length_penalty: got -1.0; needed 0 or more",
        ),
        (
            lambda: generation.beam_search(
                lambda rows: x(1, 1, 3) * torch.nan, ids([1])[0], 1, eos_id=1
            ),
            "logits: got largest ones such as [nan]; needed finite largest ones",
        ),
    ],
    generation.generate: [
        (
            lambda: generation.generate(language_model(), torch.tensor([1]), 1),
            "tokens: got shape (1,); needed shape (batch, T)",
        ),
        (
            lambda: generation.generate(language_model(), torch.zeros(2, 0, dtype=torch.long), 1),
            "tokens: got shape (2, 0); needed T at least 1",
        ),
        (
            lambda: generation.generate(language_model(), ids([1]), -1),
            "max_new_tokens: got -1; needed at least 0",
        ),
        (
            lambda: generation.generate(rnn.RecurrentModel(5, 4, 5), ids([1]), 1),
            "use_cache: got True with RecurrentModel; needed use_cache=False for a model without",
        ),
        (
            lambda: generation.generate(language_model(), ids([1]), 1, temperature=-1.0),
            "temperature: got -1.0; needed a finite number, 0 or more",
        ),
        (
            lambda: generation.generate(language_model(), ids([1]), 1, top_k=6),
            "k: got 6; needed a number from 1 to vocab = 5",
        ),
        (
            lambda: generation.generate(
                LanguageModel(TransformerConfig(5, 4), positions.LearnedPositions(3, 4)),
                ids([1, 2]),
                3,
            ),
            "max_new_tokens: got 3, after 2 tokens; needed in all at most context_length = 3",
        ),
        (
            lambda: generation.generate(language_model(), ids([1, 2]), 3, eos_id=1, pad_id=-1),
            "pad_id: got -1; needed a number from 0 to 4",
        ),
    ],
}

CANNOT_FAIL = {generation.Hypothesis: "holds what beam_search found"}
