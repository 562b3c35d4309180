"""Readers point at legal spans of the context; scores are those of SQuAD's programs."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from experiments import reader_controls
from helpers.apps.metrics import exact_match, f1_score, normalized
from helpers.apps.question_answering import (
    Reader,
    RecurrentReader,
    best_spans,
    no_answer_margin,
    occurs_in,
)
from helpers.apps.real_questions import real_questions
from helpers.data.questions import FACTS_VOCABULARY, NAMES, ask, reading_batch
from helpers.results.store import stored
from helpers.tokens import PAD
from helpers.training import train

VOCAB = len(FACTS_VOCABULARY)


def batch(n=6, seed=0):
    return reading_batch(n, torch.Generator().manual_seed(seed))


def make_reader(kind, **how):
    torch.manual_seed(0)
    return kind(VOCAB, **how).eval()


both = pytest.mark.parametrize("kind", [Reader, RecurrentReader])


@both
def test_padding_is_ignored_and_never_predicted(kind):
    """Longer padding leaves scores and spans as they are; padding scores −inf."""
    reader, ((context, question), _) = make_reader(kind), batch()
    logits = reader(context, question)
    longer = reader(F.pad(context, (0, 7)), F.pad(question, (0, 4)))
    T = context.shape[1]
    real = (context != PAD)[:, None].expand_as(logits)
    torch.testing.assert_close(longer[..., :T][real], logits[real], rtol=0, atol=1e-5)
    assert (longer[..., T:] == -torch.inf).all() and (logits[~real] == -torch.inf).all()
    spans, _ = best_spans(longer)
    lengths = (context != PAD).sum(dim=1, keepdim=True)
    assert (spans < lengths).all() and torch.equal(spans, best_spans(logits)[0])


@both
def test_rows_of_a_batch_do_not_meet(kind):
    reader, ((context, question), _) = make_reader(kind), batch()
    alone = reader(context[2:3], question[2:3])
    together = reader(context, question)[2:3]
    torch.testing.assert_close(alone, together, rtol=0, atol=1e-5)


@both
def test_the_question_matters(kind):
    reader, ((context, question), _) = make_reader(kind, flag=None), batch()
    other = reader(context, question.roll(1, dims=0))
    assert not torch.allclose(other, reader(context, question))


def test_a_hidden_word_of_the_question_is_not_seen():
    reader, ((context, question), _) = make_reader(Reader, flag=None), batch()
    asks = question != PAD
    asks[:, 0] = False
    changed = question.clone()
    changed[:, 0] = FACTS_VOCABULARY.ids["key"]
    same = reader(context, question, visible=asks), reader(context, changed, visible=asks)
    torch.testing.assert_close(*same)
    assert not torch.allclose(reader(context, question), reader(context, changed))


@both
def test_fixed_embeddings_stay_and_others_move(kind):
    reader = make_reader(kind, fixed=NAMES)
    before = reader.embedding.weight.detach().clone()
    train(reader, lambda: batch(8), 3, 0.01)
    moved = (reader.embedding.weight - before).abs().amax(dim=1) > 0
    assert not moved[list(NAMES)].any()
    assert moved[FACTS_VOCABULARY.ids["was"]] and moved[FACTS_VOCABULARY.ids["?"]]


def test_weights_are_rows_over_context_and_question():
    reader, ((context, question), _) = make_reader(Reader), batch()
    logits, weights = reader(context, question, return_weights=True)
    torch.testing.assert_close(logits, reader(context, question), rtol=0, atol=1e-5)
    B, T_c, T_q = len(context), context.shape[1], question.shape[1]
    for own, cross in weights:
        assert own.shape == (B, 2, T_c, T_c) and cross.shape == (B, 2, T_c, T_q)
        torch.testing.assert_close(cross.sum(-1), torch.ones(B, 2, T_c))
        assert (cross * (question == PAD)[:, None, None]).sum() == 0


def test_flag_is_on_the_words_of_the_question_only():
    context, question = torch.tensor([[5, 6, 7, 6, PAD]]), torch.tensor([[6, 9, PAD]])
    assert occurs_in(context, question).tolist() == [[False, True, False, True, False]]


def by_brute_force(logits, longest):
    T = logits.shape[-1]
    spans = [(i, j) for i in range(1, T) for j in range(i, min(T, i + longest))]
    return max(spans, key=lambda p: logits[0, p[0]] + logits[1, p[1]])


@given(T=st.integers(2, 9), longest=st.integers(1, 10), seed=st.integers(0, 10_000))
def test_best_span_is_that_of_brute_force(T, longest, seed):
    logits = torch.randn(3, 2, T, generator=torch.Generator().manual_seed(seed))
    filler = seed % (T - 1)
    logits[..., T - filler :] = -torch.inf
    spans, sums = best_spans(logits, longest)
    for row, span, total in zip(logits, spans.tolist(), sums, strict=True):
        assert tuple(span) == by_brute_force(row, longest)
        assert total == row[0, span[0]] + row[1, span[1]]
    margin = no_answer_margin(logits, longest)
    torch.testing.assert_close(margin, logits[:, :, 0].sum(1) - sums)


def test_no_limit_is_the_whole_context():
    logits = torch.randn(4, 2, 8, generator=torch.Generator().manual_seed(1))
    assert torch.equal(best_spans(logits)[0], best_spans(logits, 8)[0])


@pytest.mark.parametrize(
    ("answer", "wanted", "exact", "f1"),
    [
        ("the red key", "a red key", True, 1.0),
        ("Red Key!", "the red key", True, 1.0),
        ("key", "red key", False, 2 / 3),
        ("red red key", "red key", False, 4 / 5),
        ("red red key", "red red map", False, 2 / 3),
        ("key red", "red key", False, 1.0),
        ("lima", "oslo", False, 0.0),
        ("3 may", "5 may", False, 1 / 2),
        ("", "", True, 1.0),
        ("", "lima", False, 0.0),
        ("the", "", True, 1.0),
        ("an anthem", "anthem", True, 1.0),
        ("well-known", "wellknown", True, 1.0),
    ],
)
def test_scores_of_worked_examples(answer, wanted, exact, f1):
    assert exact_match(answer, wanted) is exact and exact_match(wanted, answer) is exact
    assert f1_score(answer, wanted) == pytest.approx(f1) == f1_score(wanted, answer)


def test_articles_inside_words_stay():
    assert normalized("The theatre, another  AN!") == ["theatre", "another"]


def test_a_causal_reader_does_not_see_what_comes_later():
    (context, question), _ = batch()
    other = context.clone()
    other[:, 20:] = context.roll(1, dims=0)[:, 20:]
    question = question.clone()
    question[:] = FACTS_VOCABULARY.ids["?"]  # so that no flag changes
    for causal in (True, False):
        reader = make_reader(Reader, causal=causal)
        before, after = (reader(c, question)[..., :20] for c in (context, other))
        assert torch.allclose(before, after, atol=1e-6) == causal


def test_blindfolded_reader_ignores_hidden_text():
    (context, question), _ = batch()
    others = context.clone(), question.roll(1, dims=0)
    others[0][:, 1:] = torch.where(context[:, 1:] == PAD, PAD, FACTS_VOCABULARY.ids["key"])
    for hidden in ("question", "passage"):
        torch.manual_seed(0)
        reader = reader_controls.Blindfolded(hidden).eval()
        before = reader(context, question)
        assert torch.equal(before, reader(context, others[1])) == (hidden == "question")
        assert torch.equal(before, reader(others[0], question)) == (hidden == "passage")


def test_cues_come_first_only_where_both_do():
    generator = torch.Generator().manual_seed(0)
    asked = [ask(generator) for _ in range(200)]
    first = [reader_controls.cues_first(one) for one in asked]
    assert 0.2 < sum(first) / len(first) < 0.5
    for one, cues in zip(asked, first, strict=True):
        start = max(i for i, w in enumerate(one.context[: one.span[0]]) if w in (".", "<none>"))
        earlier = set(one.context[start + 1 : one.span[0]])
        named = [set(one.context[a : b + 1]) for a, b in one.sentence.values()]
        seen = [words for words in named if words <= set(one.question) and words <= earlier]
        assert (len(seen) == 2) == cues


@pytest.mark.parametrize("passage", stored("real_reader")["passages"], ids=lambda p: p["article"])
def test_stored_logits_point_at_what_the_reader_said(passage):
    """A token is two numbers and a text in three lists: one of another length would shift them."""
    said = []
    for asked in real_questions(stored("real_reader"), passage["article"]):
        spans, _ = best_spans(asked.logits, longest=30)
        said.append(asked.text(*spans[0].tolist()))
        assert asked.logits.shape == (1, 2, len(asked.pieces))
    wanted = [one["said"] for one in passage["asked"]]
    assert [text.replace(" ", "") for text in said] == [text.replace(" ", "") for text in wanted]


def test_the_last_real_question_has_no_answer():
    *answered, last = real_questions(stored("real_reader"), "Black Death")
    assert last.wanted == ("",) and all(all(one.wanted) for one in answered)
    with pytest.raises(ValueError, match="article"):
        real_questions(stored("real_reader"), "Nowhere")
