"""What `helpers.data.shakespeare` refuses, and in which words."""

import torch

from helpers.data import shakespeare

TEXT = torch.arange(1, 9)  # 8 characters
GENERATOR = torch.Generator()

CASES = {
    shakespeare.encode: [
        (lambda: shakespeare.encode("a 9 é"), "text: got the characters ['9', 'é']; needed those"),
    ],
    shakespeare.decode: [
        (
            lambda: shakespeare.decode(torch.tensor([1, 66, -1])),
            "ids: got numbers such as [66, -1]; needed numbers from 0 to 65",
        ),
    ],
    shakespeare.character_batch: [
        (
            lambda: shakespeare.character_batch(TEXT, 2, 8, GENERATOR),
            "text: got 8 characters; needed more than length = 8",
        ),
    ],
    shakespeare.windows: [
        (
            lambda: shakespeare.windows(TEXT, 8),
            "text: got 8 characters; needed more than length = 8",
        ),
    ],
}
CANNOT_FAIL = {
    shakespeare.plays: "takes nothing",
    shakespeare.characters: "takes nothing",
    shakespeare.split: "any text has a first part and an end",
}
