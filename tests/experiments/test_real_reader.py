"""The encoder of lecture 10 is BERT, and questions are read as the pages show them."""

import pytest
import torch

from experiments.real_reader import SEP, EncoderReader, Question, collate, load, points, read
from helpers.config import TransformerConfig

SMALL = TransformerConfig(
    vocab=120,
    d_model=24,
    n_layers=2,
    n_heads=3,
    d_ff=48,
    context_length=16,
    learned_positions=True,
    norm="post",
    norm_eps=1e-12,
    activation="gelu",
)
PAGE = """<pre>Ada &amp; Ben hid a key.</pre><strong class="question">Who hid it? </strong>
<span class="answer">Ada &amp; Ben</span><span class="answer">Ben</span>
<span class="prediction">x</span><pre>It rained.</pre>
<strong class="question">What did it do?</strong><span class="answer">rained</span>"""


def weights_of_transformers():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=120,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=48,
        max_position_embeddings=16,
        hidden_act="gelu",
    )
    torch.manual_seed(0)
    return transformers.BertModel(config, add_pooling_layer=False).eval().double()


def test_modules_agree_with_transformers():
    theirs = weights_of_transformers()
    with torch.no_grad():
        for p in theirs.parameters():
            p.normal_(std=0.3)
    ours = EncoderReader(SMALL).eval().double()
    load(ours, theirs.state_dict())
    tokens = torch.randint(1, 100, (3, 9))
    tokens[0, 6:] = 0
    segments = (torch.arange(9) >= 4).long().expand(3, 9)
    real = tokens != 0
    with torch.no_grad():
        wanted = theirs(tokens, attention_mask=real.long(), token_type_ids=segments)
        apart = (ours.encode(tokens, segments) - wanted.last_hidden_state)[real]
        other = (ours.encode(tokens, 1 - segments) - wanted.last_hidden_state)[real]
    assert apart.abs().max() < 1e-12 < 1e-2 < other.abs().max()


def test_missing_and_additional_weights_are_named():
    weights = dict(weights_of_transformers().state_dict())
    with pytest.raises(ValueError, match=r"also \['cls\.bias'\]"):
        load(EncoderReader(SMALL).double(), weights | {"cls.bias": torch.zeros(2)})
    weights.pop("encoder.layer.1.output.dense.bias")
    with pytest.raises(ValueError, match=r"no encoder\.layer\.1\.output\.dense\.bias"):
        load(EncoderReader(SMALL).double(), weights)


def test_only_the_passage_can_be_chosen():
    model = EncoderReader(SMALL)
    model.embedding = torch.nn.Embedding(120, 24)
    tokens = torch.tensor([[101, 7, SEP, 8, 9, SEP, 0]])
    logits = model(tokens, torch.tensor([[0, 0, 0, 1, 1, 1, 0]]))[0]
    assert logits.isfinite().tolist() == 2 * [[False, False, False, True, True, False, False]]


def test_pages_are_read(tmp_path):
    page = tmp_path / "Old_keys.html"
    page.write_text(PAGE, encoding="utf-8")
    assert read(page) == [
        Question("Old keys", "Ada & Ben hid a key.", "Who hid it?", ("Ada & Ben", "Ben")),
        Question("Old keys", "It rained.", "What did it do?", ("rained",)),
    ]
    assert points("the Ben", read(page)[0]) == (1.0, 1.0)
    assert points("Ada", read(page)[0]) == (0.0, pytest.approx(2 / 3))


def test_shorter_rows_are_padded():
    class Row:
        def __init__(self, ids):
            self.ids, self.segments = ids, [1] * len(ids)

    tokens, segments = collate([Row([5, 6, 7]), Row([8])])
    assert tokens.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert segments.tolist() == [[1, 1, 1], [1, 0, 0]]
