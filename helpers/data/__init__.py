"""Data: generated tasks, small corpora, the running example.

Every `…_batch` function samples with the given generator and returns tokens (batch, T) and targets
(batch, T). Targets that do not count are `IGNORE_INDEX`, so that `training.train` and
`training.accuracy` take the batches as they are. (The task with two questions at once has targets
(batch, 2 · T), and so has its model logits.)
"""
