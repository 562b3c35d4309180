"""Real questions about real paragraphs, with the logits of the encoder that read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from helpers.validation import require


@dataclass(frozen=True)
class RealQuestion:
    """A question about a paragraph of Wikipedia, with the logits of a fine-tuned MiniLM.

    question: of SQuAD 1.1, about this paragraph or another one.
    wanted: the answers that people gave; an empty text if the paragraph holds none.
    pieces: the tokens of the paragraph; those that follow without a space begin with `##`. Position
        0 is `<none>`.
    logits: of the first and the last token of the answer, (1, 2, T_c); −∞ at position 0.
    """

    question: str
    wanted: tuple[str, ...]
    pieces: tuple[str, ...]
    logits: Tensor

    def text(self, first: int, last: int) -> str:
        """The words of a span, both ends included."""
        joined = " ".join(self.pieces[first : last + 1])
        return joined.replace(" ##", "").removeprefix("##")


def real_questions(table: Mapping[str, Any], article: str) -> list[RealQuestion]:
    """Five questions about a paragraph of an article, and one that it does not answer.

    `experiments/real_reader.py` fine-tuned the reader, on other articles, and stored its logits.
    Text: SQuAD 1.1, CC BY-SA 4.0.

    Args:
        table: the stored results of that experiment, `stored("real_reader")`.
        article: title of the article.

    Raises:
        ValueError: if there is no paragraph of this article.
    """
    passages = {passage["article"]: passage for passage in table["passages"]}
    require(article in passages, "article", repr(article), f"one of {sorted(passages)}")
    found = []
    for asked in passages[article]["asked"]:
        logits = torch.tensor([[asked["start"], asked["end"]]])  # (1, 2, T)
        logits = F.pad(logits, (1, 0), value=-torch.inf)  # (1, 2, T_c)
        wanted = tuple(asked["answers"]) or ("",)
        pieces = ("<none>", *passages[article]["pieces"])
        found.append(RealQuestion(asked["question"], wanted, pieces, logits))
    return found
