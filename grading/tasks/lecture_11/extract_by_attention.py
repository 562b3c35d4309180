"""Mend a textbook's summarizer that takes the largest attention weights."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=8,
    minutes=15,
    redraw=True,
    outcome="test a claim about attention weights, here that they summarize, against controls",
    hints=(
        "Compute the sums by hand for the first case. What do they say about the words?",
        "Take a sentence twice as long as the others, in which all words receive the same "
        "attention. Which sentence is chosen?",
        "What should the result be for a text of two sentences and k = 3?",
    ),
)


# %% the cell
def extract_by_attention(weights, sentence, k):
    """The numbers of k sentences, in the order of the text; weights (T, T), sentence (T,)."""
    n = int(sentence.max()) + 1
    #| looked = weights.sum(dim=1)  # (T,)
    #| scores = weights.new_zeros(n).scatter_add(0, sentence, looked)  # (n,)
    #| return scores.topk(k).indices.tolist()
    # BEGIN SOLUTION
    looked = weights.sum(dim=0)  # (T,)
    scores = weights.new_zeros(n).scatter_add(0, sentence, looked)  # (n,)
    scores = scores / sentence.bincount(minlength=n)  # (n,)
    best = scores.topk(min(k, n)).indices  # (k,) or (n,)
    return sorted(best.tolist())
    # END SOLUTION


# %%


@task.alternative
def by_loop(weights, sentence, k):
    """Sentence by sentence."""
    received = weights.sum(dim=0)
    means = {int(i): received[sentence == i].mean().item() for i in sentence.unique()}
    return sorted(sorted(means, key=means.get, reverse=True)[:k])


task.as_given(
    "This does the same as the given code. It chooses the longest sentences, whatever the weights "
    "are."
)


@task.mistake(
    "By these sums, no word is more important than another, whatever the weights are: along which "
    "axis did softmax make them 1? Use what each word *receives*."
)
def wrong_axis(weights, sentence, k):
    n = int(sentence.max()) + 1
    looked = weights.sum(dim=1)
    scores = weights.new_zeros(n).scatter_add(0, sentence, looked) / sentence.bincount(minlength=n)
    return sorted(scores.topk(min(k, n)).indices.tolist())


task.edit(
    "The score of a sentence is not divided by the number of its own words, so long sentences win. "
    "Take the mean over its words.",
    "scores / sentence.bincount(minlength=n)",
    "scores",
)
task.edit(
    "The sentences are in the order of their scores. In a summary they are in the order of the "
    "text.",
    "sorted(best.tolist())",
    "best.tolist()",
)
task.edit(
    "Everything is right if the text has k sentences or more. A shorter text is its own summary.",
    "topk(min(k, n))",
    "topk(k)",
)


task.edit(
    "The 0 that each sum starts from is counted as one more word, as `scatter_reduce` does without "
    "`include_self=False`. This lowers the means of short sentences most.",
    "sentence.bincount(minlength=n)",
    "(1 + sentence.bincount(minlength=n))",
)


@task.mistake(
    "The attention from a sentence to its own words was left out. Words receive from *all* words, "
    "including those of their own sentence."
)
def from_others_only(weights, sentence, k):
    own = sentence[:, None] == sentence
    looked = weights.masked_fill(own, 0).sum(dim=0)
    n = int(sentence.max()) + 1
    scores = weights.new_zeros(n).scatter_add(0, sentence, looked) / sentence.bincount(minlength=n)
    return sorted(scores.topk(min(k, n)).indices.tolist())


@task.mistake(
    "The attention of a word to itself was left out. Words receive from *all* words, including "
    "themselves."
)
def without_diagonal(weights, sentence, k):
    return extract_by_attention(weights.clone().fill_diagonal_(0), sentence, k)


@task.mistake(
    "These are positions of words. Average what the words of each sentence receive, and return "
    "the numbers of sentences."
)
def words_not_sentences(weights, sentence, k):
    looked = weights.sum(dim=0)
    return sorted(looked.topk(min(k, len(looked))).indices.tolist())


@task.mistake(
    "Only the attention from a sentence to its own words was counted. Words receive from *all* "
    "words, including those of other sentences."
)
def from_itself_only(weights, sentence, k):
    return extract_by_attention(weights * (sentence[:, None] == sentence), sentence, k)


@task.mistake("Order and length are now right, but the sums still run along the given axis.")
def only_the_end(weights, sentence, k):
    n = int(sentence.max()) + 1
    scores = weights.new_zeros(n).scatter_add(0, sentence, weights.sum(dim=1))
    return sorted(scores.topk(min(k, n)).indices.tolist())


@task.cases
def cases(seed):
    """Four sentences of different lengths by hand; drawn ones; fewer sentences than k."""
    generator = torch.Generator().manual_seed(seed)
    row = torch.tensor([0.05, 0.05, 0.05, 0.05, 0.1, 0.3, 0.25, 0.15], dtype=torch.float64)
    by_hand = row.expand(8, 8).clone()
    found = [
        Case(
            (by_hand, torch.tensor([0, 0, 0, 0, 1, 2, 3, 3]), 2),
            "all rows are the same",
            kind="ordinary cases",
        ),
    ]
    for shares, lengths, note, kind in (
        ([0.1] * 6 + [0.2, 0.06, 0.07, 0.07], [6, 2, 2], "a long sentence", "ordinary cases"),
        (
            [0.36, 0.02, 0.02, 0.2, 0.2, 0.1, 0.1],
            [3, 2, 2],
            "a single word that receives much",
            "edge cases",
        ),
        ([0.16] + [0.14] * 4 + [0.14] * 2, [1, 4, 2], "a sentence of one word", "edge cases"),
    ):
        row = torch.tensor(shares, dtype=torch.float64)
        sentence = torch.repeat_interleave(torch.arange(3), torch.tensor(lengths))
        found.append(Case((row.expand(len(row), -1).clone(), sentence, 1), note, kind=kind))
    sentence = torch.tensor([0, 0, 1, 1, 2])
    selfish = torch.full((5, 5), 0.05, dtype=torch.float64)
    selfish[:2, :2], selfish[2:, 4] = 0.425, 0.36  # sentence 0 looks at itself
    selfish[2:, :4] = 0.16
    found.append(
        Case((selfish, sentence, 1), "a sentence that attends to itself", kind="ordinary cases")
    )
    own_words = selfish.clone()
    own_words[:2, :2] = torch.tensor([[0.8, 0.05], [0.05, 0.8]])
    found.append(
        Case((own_words, sentence, 1), "words that attend to themselves", kind="ordinary cases")
    )
    for lengths, k in (([3, 6, 2, 4], 2), ([5, 2, 7, 3, 4], 3), ([4, 3, 6], 1), ([6, 2, 5], 5)):
        sentence = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
        T = len(sentence)
        while True:
            liked = torch.randn(len(lengths), generator=generator, dtype=torch.float64)[sentence]
            scores = torch.randn(T, T, generator=generator, dtype=torch.float64) + 2 * liked
            args = scores.softmax(dim=-1), sentence, k
            by_sum = scores.softmax(dim=-1).sum(dim=0) * sentence.bincount()[sentence]
            others = (
                extract_by_attention(by_sum.expand(T, -1), sentence, k),
                from_itself_only(*args),
            )
            if k != 2 or (others[0] != others[1] != extract_by_attention(*args)):
                break
        note = f"{len(lengths)} sentences, k = {k}"
        kind = "edge cases" if k > len(lengths) else "ordinary cases"
        found.append(Case(args, note, kind=kind))
    return found
