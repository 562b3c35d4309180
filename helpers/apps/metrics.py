"""Metrics: exact match, F1, ROUGE, facts, area under the ROC curve."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from helpers.data import news
from helpers.data.news import News
from helpers.validation import require

if TYPE_CHECKING:
    from jaxtyping import Float, Int


def normalized(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation and the articles a, an, the."""
    bare = "".join(mark for mark in text.lower() if mark not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def exact_match(answer: str, wanted: str) -> bool:
    """Whether the normalized words are equal, in the same order.

    Source: Rajpurkar et al. (2016), section 6.1, and their program.
    """
    return normalized(answer) == normalized(wanted)


def f1_score(answer: str, wanted: str) -> float:
    """Harmonic mean of precision and recall over the normalized words, as bags of words.

    A word counts as often as it occurs in both. F1 is 1 if both texts are empty, and 0 if one is.

    Source: Rajpurkar et al. (2016), section 6.1; for empty answers the program of Rajpurkar et al.
    (2018).
    """
    ours, theirs = normalized(answer), normalized(wanted)
    if not ours or not theirs:
        return float(ours == theirs)
    shared = (Counter(ours) & Counter(theirs)).total()
    return 2 * shared / (len(ours) + len(theirs))


def rouge(summaries: Sequence[str], items: Sequence[News]) -> dict[str, float]:
    """Mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L (Lin, 2004), by the library rouge-score.

    Raises:
        ValueError: if there is not one summary for each text, or none.
    """
    from rouge_score.rouge_scorer import RougeScorer  # not needed by any other function

    needed = f"{len(items)}, one for each text, and at least one"
    require(0 < len(summaries) == len(items), "summaries", len(summaries), needed)
    kinds = ("rouge1", "rouge2", "rougeL")
    scorer = RougeScorer(kinds)
    found = [scorer.score(i.summary, s) for s, i in zip(summaries, items, strict=True)]
    return {kind: sum(one[kind].fmeasure for one in found) / len(found) for kind in kinds}


def mean_facts(summaries: Sequence[str], items: Sequence[News]) -> dict[str, float]:
    """Means of `count_facts`, and the share of summaries with all facts and no other ("whole").

    Raises:
        ValueError: as `rouge`.
    """
    needed = f"{len(items)}, one for each text, and at least one"
    require(0 < len(summaries) == len(items), "summaries", len(summaries), needed)
    found = [news.count_facts(s, i) for s, i in zip(summaries, items, strict=True)]
    means = {
        name: sum(getattr(one, name) for one in found) / len(found)
        for name in ("kept", "lost", "strayed", "invented")
    }
    whole = [(one.kept, one.strayed, one.invented) == (5, 0, 0) for one in found]
    return means | {"whole": sum(whole) / len(whole)}


def roc_auc(scores: Float[Tensor, " n"], positive: Int[Tensor, " n"]) -> float:
    """Area under the ROC curve.

    It is the share of all pairs of a positive and a negative case in which the positive case has
    the higher score: 1 if some threshold separates the two kinds, 0.5 for scores without
    information. A constant added to all scores changes nothing.

    Raises:
        ValueError: if there is not one `positive` for each score, or all cases are of one kind.
    """
    needed = f"shape {tuple(scores.shape)}, one for each of scores"
    require(positive.shape == scores.shape, "positive", f"shape {tuple(positive.shape)}", needed)
    yes, no = scores[positive == 1], scores[positive == 0]
    counts = f"{len(yes)} positive and {len(no)} negative cases"
    require(len(yes) > 0 and len(no) > 0, "positive", counts, "at least one of each")
    apart = yes[:, None] - no  # (positive, negative)
    return ((apart > 0).double() + (apart == 0).double() / 2).mean().item()
