"""The summarizers of lecture 11: copying adds up, reaches unknown words, and ignores filler."""

import pytest
import torch
from torch.nn.functional import pad

from helpers.apps.metrics import mean_facts, rouge
from helpers.apps.summarization import (
    MOST_UNKNOWN,
    NEWS_PIECES,
    NEWS_WORDS,
    UNKNOWN,
    CopyingSummarizer,
    SentenceScorer,
    attention_received,
    choose_sentences,
    copy_probabilities,
    encode_news,
    news_batch,
    sentence_batch,
    sentence_means,
    sentence_numbers,
    some_rows,
    vocabulary_of,
    write_summaries,
)
from helpers.config import TransformerConfig
from helpers.data.news import Event, News, tell_news
from helpers.encoder_decoder import EncoderDecoder
from helpers.positions import RotaryPositions
from helpers.tokens import END, IGNORE_INDEX, PAD, START

V = len(NEWS_WORDS)
READINGS = ("closed", "copying", "pieces")


def sample_news(n=5, names="unseen"):
    return tell_news(n, torch.Generator().manual_seed(3), names)


@pytest.fixture(scope="module")
def copying():
    torch.manual_seed(0)
    model = CopyingSummarizer(
        TransformerConfig(V, 16, n_layers=1, n_heads=2, d_ff=32), RotaryPositions()
    ).double()
    return model.eval()


@pytest.mark.parametrize("reading", READINGS)
def test_what_is_read_and_asked(reading):
    items = sample_news()
    (source, target), asked = news_batch(items, reading)
    assert (target[:, 0] == START).all()
    for item, begun, row in zip(items, target, asked, strict=True):
        text, summary, unknown = encode_news(item, reading)
        words = (*vocabulary_of(reading).words, *unknown)
        assert row.tolist() == [*summary.tolist(), END]
        assert begun.tolist()[1:] == summary.tolist()
        if reading != "closed":
            spelled = "".join(words[i] for i in text.tolist())
            assert spelled == item.text.replace(" ", "")
        else:
            assert (text == UNKNOWN).sum() == 3
    assert int(source.max()) < len(vocabulary_of(reading)) + MOST_UNKNOWN


def test_unknown_words_are_numbered_as_they_come():
    item = sample_news(1)[0]
    text, summary, unknown = encode_news(item, "copying")
    assert sorted({int(i) for i in text if i >= V}) == [V, V + 1, V + 2]
    assert [i for i in text.tolist() if i >= V] == [V, V + 1, V + 2]
    assert item.text.split().index(unknown[0]) < item.text.split().index(unknown[1])
    assert unknown[next(i for i in summary.tolist() if i >= V) - V] == item.event.who


def test_filler_is_not_asked():
    short = News(
        ("mara sold a ship in oslo .",), *[Event("mara", "sold", "ship", "oslo", "monday")] * 2
    )
    (source, _), asked = news_batch([short, sample_news(1, "known")[0]], "closed")
    assert (source[0, 7:] == PAD).all()
    assert (asked[:, -1] == END).all()
    assert IGNORE_INDEX not in asked


def test_attention_is_added_up_by_word():
    weights = torch.tensor([[[0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 1.0, 0.0]]])
    source = torch.tensor([[5, 2, 5, 1]])
    copied = copy_probabilities(weights, source, 6)
    wanted = torch.tensor([[[0, 0.4, 0.2, 0, 0, 0.4], [0, 0, 0, 0, 0, 1.0]]])
    assert torch.allclose(copied, wanted)


def test_copying_gives_unknown_words_probability(copying):
    """Probabilities sum to 1; an unknown word's is what the gate and the attention give it."""
    (source, target), _ = news_batch(sample_news(), "copying")
    p, gate, attention = copying.probabilities(source, target)
    assert p.shape == (*target.shape, V + MOST_UNKNOWN)
    assert torch.allclose(p.sum(dim=-1), torch.ones_like(p[..., 0]), rtol=0, atol=1e-12)
    assert ((gate > 0) & (gate < 1)).all()
    for row in range(len(source)):
        for i in range(V, V + MOST_UNKNOWN):
            looked = attention[row, :, source[row] == i].sum(dim=-1)
            assert torch.allclose(p[row, :, i], (1 - gate[row, :, 0]) * looked, rtol=0, atol=1e-12)
            assert (p[row, :, i] > 0).all()


def test_a_closed_gate_copies_and_an_open_one_writes(copying):
    (source, target), _ = news_batch(sample_news(), "copying")
    bias = copying.gate.bias.detach().clone()
    with torch.no_grad():
        copying.gate.bias.fill_(-1e3)
        shut = copying.probabilities(source, target)[0]
        copying.gate.bias.fill_(1e3)
        open_ = copying.probabilities(source, target)[0]
        copying.gate.bias.copy_(bias)
    absent = [i for i in range(V) if not (source[0] == i).any()]
    assert shut[0, :, absent].max() < 1e-12
    assert open_[..., V:].max() < 1e-12
    assert open_[..., :V].min() > 0


def test_longer_padding_changes_nothing(copying):
    (source, target), _ = news_batch(sample_news(), "copying")
    with torch.no_grad():
        for n in (1, 7):
            longer = copying(pad(source, (0, n)), target)
            assert torch.allclose(longer, copying(source, target), rtol=0, atol=1e-9)
            later = copying(source, pad(target, (0, n)))[:, : target.shape[1]]
            assert torch.allclose(later, copying(source, target), rtol=0, atol=1e-9)


def test_a_future_target_changes_nothing(copying):
    (source, target), _ = news_batch(sample_news(), "copying")
    changed = target.clone()
    changed[:, 5:] = UNKNOWN
    with torch.no_grad():
        same = copying(source, changed)[:, :5]
        assert torch.allclose(same, copying(source, target)[:, :5], rtol=0, atol=1e-12)


def test_swapped_unknown_words_swap_probabilities(copying):
    """The model cannot tell unknown words apart but by their places."""
    (source, target), _ = news_batch(sample_news(1), "copying")
    swapped = source.clone()
    swapped[source == V], swapped[source == V + 1] = V + 1, V
    with torch.no_grad():
        p, q = (copying.probabilities(s, target)[0] for s in (source, swapped))
    assert torch.allclose(p[..., V], q[..., V + 1], rtol=0, atol=1e-12)
    assert torch.allclose(p[..., :V], q[..., :V], rtol=0, atol=1e-12)


def test_gradients_are_finite(copying):
    (source, target), asked = news_batch(sample_news(), "copying")
    logits = copying(source, target)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), asked.flatten())
    loss.backward()
    assert all(p.grad.isfinite().all() for p in copying.parameters() if p.grad is not None)
    assert copying.gate.weight.grad.abs().sum() > 0
    copying.zero_grad()


@pytest.mark.parametrize("reading", READINGS)
def test_untrained_models_write_something(reading):
    torch.manual_seed(0)
    n = len(vocabulary_of(reading))
    kind = (
        CopyingSummarizer(TransformerConfig(n, 16, n_layers=1))
        if reading == "copying"
        else EncoderDecoder(TransformerConfig(n, 16, n_layers=1))
    )
    items = sample_news(3)
    written = write_summaries(kind, items, reading, longest=4)
    assert len(written) == 3
    assert all(len(text.split()) <= 4 for text in written)
    assert written == [write_summaries(kind, [item], reading, 4)[0] for item in items]


def test_words_belong_to_their_sentence():
    stop = NEWS_WORDS.ids["."]
    source = torch.tensor([[49, 48, stop, 47, stop, PAD], [49, stop, 45, 46, 47, stop]])
    assert sentence_numbers(source)[0, :5].tolist() == [0, 0, 0, 1, 1]
    assert sentence_numbers(source)[1].tolist() == [0, 0, 1, 1, 1, 1]
    x = torch.arange(12.0).view(2, 6, 1)
    means = sentence_means(x, source)[..., 0]
    assert means.tolist() == [[1.0, 3.5], [6.5, 9.5]]


def test_sentences_are_labelled_scored_and_chosen():
    items = sample_news(4)
    source, tells = sentence_batch(items)
    assert tells.shape == (4, 6)
    assert (tells.sum(dim=1) == 2).all()
    best = choose_sentences(tells.double(), items)
    assert all(
        mean["kept"] == 5
        for mean in (mean_facts([s], [i]) for s, i in zip(best, items, strict=True))
    )
    assert mean_facts(best, items)["strayed"] == 0
    torch.manual_seed(0)
    scorer = SentenceScorer(TransformerConfig(V, 16, n_layers=1)).double().eval()
    scores = scorer(source)
    assert scores.shape == (4, 6, 2)
    assert torch.allclose(scorer(pad(source, (0, 5))), scores, rtol=0, atol=1e-9)
    assert choose_sentences(torch.arange(6.0).expand(4, 6), items, 6) == [i.text for i in items]


def test_attention_received_and_its_sums():
    stop = NEWS_WORDS.ids["."]
    source = torch.tensor([[49, 48, stop, 47, stop, PAD]])
    asks = source != PAD
    weights = torch.zeros(1, 1, 6, 6)
    weights[..., 3] = 1.0
    received = attention_received(weights, asks, source)
    assert torch.allclose(received, torch.tensor([[0.0, 0.5]]))
    whole = attention_received(weights, asks, source, per_word=False)
    assert torch.allclose(whole, torch.tensor([[0.0, 1.0]]))
    weights[:, :, 5] = 9.0  # what filler asks is not counted
    assert torch.allclose(attention_received(weights, asks, source), received)
    uniform = torch.full((1, 2, 6, 6), 0.2) * asks[:, None, None]
    assert torch.allclose(attention_received(uniform, asks, source), torch.tensor([[0.2, 0.2]]))


def test_rows_are_drawn_together():
    (source, target), asked = news_batch(sample_news(), "copying")
    (s, t), a = some_rows(((source, target), asked), 9, torch.Generator().manual_seed(0))
    assert len(s) == len(t) == len(a) == 9
    for row in range(9):
        at = next(i for i in range(5) if source[i].equal(s[row]))
        assert target[at].equal(t[row])
        assert asked[at].equal(a[row])
    alone, labels = some_rows(sentence_batch(sample_news()), 2, torch.Generator())
    assert len(alone) == len(labels) == 2


def test_scores_of_known_summaries():
    items = sample_news(3)
    perfect = rouge([item.summary for item in items], items)
    assert all(value == pytest.approx(1.0) for value in perfect.values())
    assert rouge(["", "", ""], items)["rouge1"] == 0.0
    item = items[0]
    wrong = item.summary.replace(item.event.who, item.other.who)
    assert rouge([wrong], [item])["rouge1"] == pytest.approx(7 / 8)
    means = mean_facts([wrong, items[1].summary], items[:2])
    assert (means["kept"], means["strayed"], means["whole"]) == (4.5, 0.5, 0.5)
    assert NEWS_PIECES.ids["ma"] != NEWS_PIECES.ids["ra"]
