"""Data: generated tasks, small corpora, the running example.

Every `…_batch` function draws from the generator that it is given and returns tokens (batch, T)
and targets (batch, T). A target is `IGNORE_INDEX` wherever nothing is asked, so that
`training.train` and `training.accuracy` take the batches as they are. (The task that asks two
questions at once has targets (batch, 2 · T), as its model has logits.)
"""
