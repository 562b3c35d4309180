"""What `helpers.apps.summarization` refuses, and in which words."""

import torch

from helpers.apps import metrics, summarization
from helpers.config import TransformerConfig
from helpers.data.news import Event, News, tell_news
from tests.helpers.bad_call import ids

ITEMS = tell_news(2, torch.Generator().manual_seed(0))
EVENT = Event("mara", "sold", "ship", "oslo", "monday")
STRANGE = News(("some quite strange words here .",), EVENT, EVENT)
WEIGHTS = torch.ones(1, 2, 3)
copying = summarization.CopyingSummarizer
SIZES = TransformerConfig(9, 4)

CASES = {
    summarization.vocabulary_of: [
        (
            lambda: summarization.vocabulary_of("letters"),
            "reading: got 'letters'; needed 'closed' or 'copying' or 'pieces'",
        ),
    ],
    summarization.encode_news: [
        (
            lambda: summarization.encode_news(STRANGE, "copying"),
            "item: got 5 unknown words; needed at most 3",
        ),
    ],
    summarization.news_batch: [
        (lambda: summarization.news_batch([], "closed"), "items: got none; needed at least one"),
    ],
    summarization.sentence_batch: [
        (lambda: summarization.sentence_batch([]), "items: got none; needed at least one"),
    ],
    summarization.write_summaries: [
        (
            lambda: summarization.write_summaries(copying(SIZES), [], "copying"),
            "items: got none; needed at least one",
        ),
    ],
    summarization.copy_probabilities: [
        (
            lambda: summarization.copy_probabilities(WEIGHTS, ids([1, 2]), 9),
            "weights: got shape (1, 2, 3); needed shape (batch, T_q, T_k) for a source (1, 2)",
        ),
        (
            lambda: summarization.copy_probabilities(WEIGHTS, ids([1, 2, 9]), 9),
            "source: got the id 9; needed ids below n_words = 9",
        ),
    ],
    copying: [
        (
            lambda: copying(TransformerConfig(9, 4, n_layers=0)),
            "n_layers: got 0; needed at least 1",
        ),
        (
            lambda: copying(SIZES)(ids([12]), ids([1])),
            "source: got ids such as [12]; needed numbers from 0 to 8",
        ),
    ],
    summarization.SentenceScorer: [
        (
            lambda: summarization.SentenceScorer(TransformerConfig(0, 4)),
            "vocab: got 0; needed at least 1",
        ),
    ],
    summarization.choose_sentences: [
        (
            lambda: summarization.choose_sentences(torch.ones(2, 6), ITEMS, 7),
            "k: got 7; needed a number from 1 to 6, as there are sentences",
        ),
    ],
    summarization.attention_received: [
        (
            lambda: summarization.attention_received(
                torch.ones(1, 2, 3, 4), torch.ones(1, 4).bool(), ids([1, 2, 3, 4])
            ),
            "weights: got (1, 2, 3, 4) with (1, 4) and (1, 4); needed (batch, heads, T_q, T_k)",
        ),
        (
            lambda: summarization.attention_received(
                torch.ones(1, 2, 3, 4), torch.zeros(1, 3).bool(), ids([1, 2, 3, 4])
            ),
            "asks: got a row without True; needed a query in each row",
        ),
    ],
    metrics.rouge: [
        (
            lambda: metrics.rouge(["a"], ITEMS),
            "summaries: got 1; needed 2, one for each text, and at least one",
        ),
    ],
    metrics.mean_facts: [
        (
            lambda: metrics.mean_facts([], []),
            "summaries: got 0; needed 0, one for each text, and at least one",
        ),
    ],
}
CANNOT_FAIL = {
    summarization.some_rows: "draws from what a batch holds",
    summarization.sentence_numbers: "any ids have their full stops or none",
    summarization.sentence_means: "torch refuses what does not fit",
}
