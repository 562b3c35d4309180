"""Run by `test_annotations.py`: valid calls with every jaxtyping shape checked at run time.

The annotations name types that are imported for type checkers only. Here `TYPE_CHECKING` is set
true while the package is imported, through jaxtyping's import hook, so that beartype checks each
annotated argument and result. At the end it prints as JSON which annotated functions were called.
"""

import importlib
import inspect
import json
import pkgutil
import sys
import typing
from types import SimpleNamespace

# All that the package imports must be there before TYPE_CHECKING lies.
import beartype  # noqa: F401
import IPython.display  # noqa: F401
import jaxtyping
import matplotlib.pyplot as plt
import numpy as np
import torch
import tqdm.auto  # noqa: F401
from torch import nn

from helpers.config import TransformerConfig

torch.set_num_threads(1)

KINDS = ("Float[", "Bool[", "Int[", "Num[")

typing.TYPE_CHECKING = True
with jaxtyping.install_import_hook("helpers", "beartype.beartype"):
    import helpers
    from helpers import (
        adapters,
        attention,
        blocks,
        encoder_decoder,
        generation,
        masks,
        models,
        numpy_attention,
        positions,
        pretrained,
        rnn,
        training,
        variants,
    )
    from helpers.apps import (
        attention_reader,
        character_lstm,
        metrics,
        question_answering,
        story_model,
        summarization,
    )
    from helpers.data import agreement, kannada, news, questions, recall, shakespeare, stories
    from helpers.interp import ablation, attribution, hooks, induction
    from helpers.tokens import Vocabulary, next_word_batch
    from helpers.viz import plotting

    names = {module.name for module in pkgutil.walk_packages(helpers.__path__, "helpers.")}
    # The types of one are spaCy's; the other takes many forms.
    names -= {"helpers.viz.dependency_trees", "helpers.viz.attention_viewer"}
    loaded = {name: importlib.import_module(name) for name in sorted(names)}
typing.TYPE_CHECKING = False


def annotated_functions() -> dict[object, str]:
    """The code of each function with a jaxtyping shape in its annotations, and its name."""
    found = {}
    for module in loaded.values():
        classes = [c for c in vars(module).values() if isinstance(c, type)]
        for function in [f for place in (module, *classes) for f in vars(place).values()]:
            function = inspect.unwrap(function)
            hints = map(str, getattr(function, "__annotations__", {}).values())
            own = getattr(function, "__module__", "") == module.__name__
            if own and any(kind in hint for hint in hints for kind in KINDS):
                found[function.__code__] = f"{module.__name__}.{function.__qualname__}"
    return found


called = set()


def note(frame, event, _argument):
    if event == "call":
        called.add(frame.f_code)


def must_be_refused(call) -> None:
    """The check itself must work: a wrong shape or type is noticed by beartype, not by us."""
    try:
        call()
    except jaxtyping.TypeCheckError:
        return
    sys.exit("The annotations are not checked at run time.")


def valid_calls() -> None:
    """Different sizes everywhere, so that two axes cannot be taken for each other."""
    B, H, T_q, T_k, d_k, d_v = 2, 3, 4, 5, 6, 7
    for lead in ((), (B,), (B, H)):
        q, k, v = (torch.randn(*lead, *s) for s in ((T_q, d_k), (T_k, d_k), (T_k, d_v)))
        for mask in (None, masks.causal_mask(T_q, T_k), torch.ones(*lead, 1, T_k) > 0):
            attention.scaled_dot_product_attention(q, k, v, mask, bias=torch.randn(T_q, T_k))
            attention.masked_softmax(q @ k.mT, mask)
            numpy_attention.scaled_dot_product_attention_numpy(
                q.numpy(), k.numpy(), v.numpy(), None if mask is None else mask.numpy()
            )
    numpy_attention.softmax(np.ones((2, 3)), axis=0)
    numpy_attention.softmax(np.ones(3, dtype=np.float32))

    lengths = torch.tensor([1, 5])
    padding = masks.padding_mask(lengths, T_k)
    masks.window_mask(T_q, T_k, 2)
    masks.combine_masks(None, padding, masks.causal_mask(T_k))
    masks.from_blocking(masks.to_blocking(padding))
    for dtype in (torch.float16, torch.float64):
        masks.from_additive(masks.to_additive(padding, dtype))

    d_model, d_context, d_out = 8, 9, 10
    x = torch.randn(B, T_k, d_model)
    head = attention.SelfAttention(d_model, d_k, d_v)
    for inputs in (x, x[0]):
        head(inputs)
        head(inputs, masks.causal_mask(T_k), return_weights=True)
    causal = attention.CausalSelfAttention(d_model, d_k, 11, d_v, dropout=0.5)
    causal(x)
    causal(x[0], return_weights=True)

    encodings = {
        "none": positions.PositionEncoding(),
        "learned": positions.LearnedPositions(11, d_model),
        "sinusoidal": positions.SinusoidalPositions(),
        "rotary": positions.RotaryPositions(),
        "alibi": positions.ALiBiPositions(H),
        "window": variants.SlidingWindow(2, positions.ALiBiPositions(H)),
        "window alone": variants.SlidingWindow(2),
    }
    positions.sinusoidal_codes(5, 8)
    for encoding in encodings.values():
        encoding.embed(x)
        encoding.rotate(torch.randn(B, H, T_q, d_k), torch.randn(B, H, T_k, d_k))
        encoding.bias(T_q, T_k, x)
        heads = attention.MultiHeadAttention(
            d_model, H, d_k=d_k, d_v=d_v, d_out=d_out, d_context=d_context, positions=encoding
        )
        query, context = torch.randn(B, T_q, d_model), torch.randn(B, T_k, d_context)
        heads(query, context)
        heads(query, context, context, masks.causal_mask(T_q, T_k), return_weights=True)
        heads(query, context, mask=padding)

    tokens = torch.randint(12, (B, T_k))
    for norm in ("pre", "post"):
        block = blocks.TransformerBlock(d_model, 2, 13, norm, 0.1)
        block(x)
        block(x, masks.causal_mask(T_k), return_weights=True)
        model = models.TransformerModel(TransformerConfig(12, d_model, n_outputs=3, norm=norm))
        model(tokens)
        model(tokens.int(), return_weights=True)
        decoder = blocks.DecoderBlock(d_model, 2, 13, norm)
        memory = torch.randn(B, T_q, d_model)
        decoder(x, memory)
        decoder(x, memory, masks.causal_mask(T_k), return_weights=True)
        blocks.TransformerStack(TransformerConfig(1, d_model, n_layers=2, n_heads=2, norm=norm))(
            x, return_weights=True
        )
        blocks.DecoderStack(TransformerConfig(1, d_model, n_layers=2, n_heads=2, norm=norm))(
            x, memory, return_weights=True
        )
        language_model = models.LanguageModel(TransformerConfig(12, d_model, norm=norm))
        cache = language_model.new_cache()
        language_model(tokens, cache=cache)
        language_model(tokens[:, :2], return_weights=True, cache=cache)
        ablation.without_heads(language_model, [(0, 1)])(tokens)
    cache = attention.KeyValueCache()
    for T in (T_q, T_k):
        cache.append(torch.randn(B, H, T, d_k), torch.randn(B, H, T, d_v))
    blocks.FeedForward(d_model, 13)(x)
    blocks.FeedForward(d_model, 13)(x[0, 0])
    variants.RMSNorm(d_model)(x)
    variants.RMSNorm(d_model)(x[0, 0])
    variants.SwiGLU(d_model, 13)(x)
    variants.gelu(x)
    adapters.LowRankAdapter(nn.Linear(d_model, 5), 2)(x)

    encoding = SimpleNamespace(ids=[3, 1, 4])
    tokenizer = SimpleNamespace(encode=lambda text, add_special_tokens: encoding)
    cuts = SimpleNamespace(tokenizer=tokenizer, special_tokens={})
    pretrained.Pretrained.encode(cuts, "three short words")
    opened = models.LanguageModel(TransformerConfig(12, d_model, n_layers=2, n_heads=2)).eval()
    texts = torch.randint(12, (B, T_k))

    def first(logits):
        return logits[:, 0]

    attribution.head_attribution(opened, texts, texts.flip(0), first)
    attribution.head_effects(opened, texts, first, lambda layer, head, found: 0 * found, [(0, 1)])
    found = hooks.cache_activations(opened, torch.randint(12, (B, T_k)))
    with hooks.patch_from(opened, found, ["values"], layer=0, head=0, word=0):
        opened(torch.randint(12, (B, T_k)))
    metrics.roc_auc(torch.rand(B + 2), torch.arange(B + 2) % 2)
    induction.broken_turns(B, 12, 4, torch.Generator())
    _, _, lengths = induction.repeated_segments(B, T_k, 12, (1, 2), torch.Generator())
    induction.prefix_matching_scores(torch.rand(B, H, T_k, T_k), lengths)
    induction.broken_turns(B, 12, 4, torch.Generator())
    grouped = variants.GroupedQueryAttention(
        d_model, 4, n_kv_heads=2, positions=positions.RotaryPositions()
    )
    grouped(x, causal=True)
    grouped(x, causal=True, return_weights=True)
    for cell in ("rnn", "lstm", "gru"):
        recurrent = rnn.RecurrentModel(12, d_model, 3, cell)
        recurrent(tokens)
    reader = attention_reader.AttentionReader(12, T_k, 2, d_model, n_questions=2)
    reader(tokens)
    reader(tokens, return_weights=True)
    rnn.set_forget_bias(nn.LSTM(2, 3), 1.0)
    rnn.identity_rnn(3)

    pair, _ = questions.reading_batch(3, torch.Generator().manual_seed(0))
    n_words = len(questions.FACTS_VOCABULARY)
    question_answering.RecurrentReader(n_words, 6, 5)(*pair)
    answerer = question_answering.Reader(n_words, 8)
    answerer(*pair, return_weights=True, visible=pair[1] != 0)
    question_answering.no_answer_margin(answerer(*pair), longest=3)
    question_answering.best_spans(answerer(*pair))

    targets = torch.randint(3, (B, T_k))
    training.set_seed(0)
    training.train(recurrent, lambda: (tokens, targets), 2).smoothed()
    training.masked_cross_entropy(recurrent(tokens), targets)
    training.accuracy(recurrent, (tokens, targets))

    logits = language_model(tokens)
    for row in (logits, logits[0, 0]):
        generation.greedy(row)
        generation.next_token_probabilities(row, 0.5, top_k=5, top_p=0.9)
        generation.filter_top_k(row.softmax(dim=-1), 3)
        generation.filter_top_p(row.softmax(dim=-1), 0.5)
    for use_cache in (True, False):
        generation.generate(language_model, tokens, 3, use_cache=use_cache)

    generation.beam_search(language_model, tokens[0], 3, eos_id=1, n_beams=2)

    source, target = torch.randint(1, 9, (B, T_k)), torch.randint(1, 12, (B, T_q))
    encoder_decoder.source_mask(source)
    translators = (
        encoder_decoder.EncoderDecoder(TransformerConfig(12, d_model, source_vocab=9)),
        rnn.RecurrentTranslator(9, 12, d_model, attention=True),
        rnn.RecurrentTranslator(9, 12, d_model),
    )
    for translator in translators:
        translator(source, target)
        translator.condition_on(source)(target)
        translator.condition_on(source[:1])(target)
    for translator in translators[:2]:
        translator(source, target, return_weights=True)
    writer = translators[0].condition_on(source)
    cache = writer.new_cache()
    writer(target[:, :2], cache)
    writer(target[:, 2:], cache)
    rnn.AdditiveAttention(d_model)(x, x)

    items = news.tell_news(2, torch.Generator(), "unseen")
    for reading in ("closed", "copying", "pieces"):
        summarization.encode_news(items[0], reading)
    words = len(summarization.NEWS_WORDS)
    copying = summarization.CopyingSummarizer(TransformerConfig(words, d_model, n_layers=1))
    read = summarization.news_batch(items, "copying")[0]
    copying(*read, return_weights=True)
    copying.condition_on(read[0])(read[1])
    summarization.write_summaries(copying, items, "copying", 2)
    plain, _ = summarization.sentence_batch(items)
    scores = summarization.SentenceScorer(TransformerConfig(words, d_model, n_layers=1))(plain)
    summarization.choose_sentences(scores[..., 1], items)
    even = torch.ones(2, 1, plain.shape[1], plain.shape[1])
    summarization.attention_received(even, plain > 0, plain, per_word=False)
    pairs = kannada.sentences(3, (1, 2), torch.Generator())
    (_, begun), _ = kannada.translation_batch(pairs)
    kannada.words_of(begun[0])

    vocabulary = Vocabulary(["a", "b"])
    vocabulary.decode(vocabulary.encode("a b a"))
    vocabulary.decode([1, 2])
    generator = torch.Generator()
    agreement.agreement_batch(3, (0, 2), generator)
    recall.first_token_recall_batch(3, 5, generator)
    recall.associative_recall_batch(3, 4, generator)
    recall.two_relations_batch(3, 4, generator)
    speech, held_out = shakespeare.split(shakespeare.encode("To be, or not to be"))
    shakespeare.decode(held_out)
    shakespeare.character_batch(speech, 2, 5, generator)
    shakespeare.windows(speech, 5)
    tokens, _ = next_word_batch(stories.tell_stories(3, generator))
    stories.story_probabilities(tokens[0])
    stories.story_text(tokens[0])

    model = story_model.trained_language_model()
    story_model.story_batch(tokens, generator)
    story_model.first_words(2)
    story_model.is_consistent(tokens[0])
    story_model.floor(tokens)
    story_model.agreement(model, 1, 4)
    story_model.attention_to_subject(model, 1, 4)
    story_model.stories(3, 1)
    story_model.recurrent_model("lstm")
    character_lstm.trained_character_lstm()
    story_model.above_floor(story_model.language_model(), story_model.stories(3, 1))

    _, ax = plt.subplots()
    plotting.plot_series(ax, [0.0, 1.0], {"a": [1.0, 2.0], "b": np.ones((3, 2))})
    plotting.plot_series(ax, np.arange(2), {"a": np.arange(2), "b": np.ones((3, 2))})
    plotting.heatmap(ax, np.ones((2, 3)), ["a", "b"], ["c", "d", "e"])


if __name__ == "__main__":
    must_be_refused(lambda: numpy_attention.softmax("not an array"))
    must_be_refused(lambda: masks.to_blocking(torch.ones(2)))
    must_be_refused(lambda: masks.padding_mask(torch.ones(2, 2, dtype=torch.long), 3))
    functions = annotated_functions()
    sys.setprofile(note)
    valid_calls()
    sys.setprofile(None)
    missed = sorted(name for code, name in functions.items() if code not in called)
    print(json.dumps({"annotated": sorted(functions.values()), "not called": missed}))
