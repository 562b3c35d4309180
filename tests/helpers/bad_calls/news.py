"""What `helpers.data.news` refuses, and in which words."""

import torch

from helpers.data import news


def tell(*arguments):
    return lambda: news.tell_news(*arguments[:1], torch.Generator(), *arguments[1:])


CASES = {
    news.tell_news: [
        (tell(0), "n: got 0; needed at least 1"),
        (tell(1, "new"), "names: got 'new'; needed 'known' or 'mixed' or 'unseen'"),
        (tell(1, "known", 1.5), "news_first: got 1.5; needed a share from 0 to 1"),
    ],
}
CANNOT_FAIL = {
    news.Event: "holds what it is given",
    news.News: "holds what it is given",
    news.Facts: "holds what it is given",
    news.count_facts: "every text has a count",
    news.words_of: "every text has words or none",
    news.plain_words: "takes nothing",
    news.syllables: "a word that is no name stays one piece",
    news.joined: "a text without pieces stays as it is",
}
