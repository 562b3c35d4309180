"""The plays of lecture 8: the text that other people use, its split, and windows of it."""

import hashlib

import torch

from helpers.data import shakespeare

SHA1 = "04486597058d11dcc2c556b1d0433891eb639d2e"


def test_text_is_the_published_one():
    text = shakespeare.plays()
    assert (len(text), len(shakespeare.characters())) == (1_115_394, 65)
    assert text.startswith("First Citizen:\nBefore we proceed any further, hear me speak.")
    assert hashlib.sha1(text.encode()).hexdigest() == SHA1


def test_text_survives_encoding():
    text = shakespeare.plays()[:2000]
    assert shakespeare.decode(shakespeare.encode(text)) == text
    assert shakespeare.decode(torch.tensor([0, *shakespeare.encode("Lie")])) == "Lie"


def test_split_keeps_the_end_apart():
    text = shakespeare.encode(shakespeare.plays())
    read, held_out = shakespeare.split(text)
    assert torch.cat([read, held_out]).equal(text) and len(read) == 1_003_854


def test_batches_are_windows_and_their_next_characters():
    text = torch.arange(100)
    inputs, targets = shakespeare.character_batch(text, 50, 7, torch.Generator().manual_seed(0))
    assert inputs.shape == targets.shape == (50, 7)
    assert (targets == inputs + 1).all() and (inputs.diff(dim=1) == 1).all()
    starts = [
        shakespeare.character_batch(torch.arange(9), 40, 7, torch.Generator().manual_seed(s))[0]
        for s in range(3)
    ]
    assert set(torch.cat(starts)[:, 0].tolist()) == {0, 1}  # the last window ends the text


def test_windows_cover_the_text_once():
    inputs, targets = shakespeare.windows(torch.arange(23), 7)
    assert inputs.flatten().tolist() == list(range(21))
    assert (targets == inputs + 1).all()
