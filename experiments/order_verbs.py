"""The correct verb against the wrong one, on long sentences: `python -m experiments.order_verbs`.

Trains the agreement models of `experiments.order` and `experiments.order_opening` again, from the
same seeds and at the rates chosen there, and compares at the gap the logits of the two verb forms.
In `runs`, one entry for each setting, model and seed; its lists follow `attractors`:

    choice       fraction of sentences in which the correct form has the larger logit of the two;
                 a coin has 0.5
    accuracy     fraction in which the correct form has the largest logit of *all* words
    neither      fraction in which the largest logit belongs to no form of the verb

Writes `helpers/results/stored/order_verbs.json`, about five minutes of one core.
"""

from __future__ import annotations

import os
import time

os.environ["LAMPLIGHT_QUIET"] = "1"

import torch
from torch import nn

from experiments import order, order_opening
from experiments.search import SEEDS, write_table
from helpers.data.agreement import AGREEMENT_VOCABULARY, ANSWERS, agreement_batch
from helpers.results.comparison import results
from helpers.tokens import IGNORE_INDEX, Batch
from helpers.training import set_seed, train

FORMS = torch.tensor([AGREEMENT_VOCABULARY.ids[word] for word in ANSWERS])
SETTINGS = {
    "agreement": ("order", "agreement"),
    "agreement, chosen at 4×": ("order", "agreement, chosen at 4×"),
    "after an opening": ("order_opening", ""),
}
"""For each setting here, the table and the setting in it whose rates are taken."""


@torch.no_grad()
def measure(model: nn.Module, test: Batch) -> tuple[float, float, float]:
    """`choice`, `accuracy` and `neither` on sentences that ask at the gap alone."""
    tokens, targets = test
    asked = targets != IGNORE_INDEX  # (batch, T), one in each row
    logits, right = model.eval()(tokens)[asked], targets[asked]  # (batch, vocab), (batch,)
    best = logits.argmax(dim=1)  # (batch,)
    chosen = FORMS[logits[:, FORMS].argmax(dim=1)]  # (batch,)
    shares = chosen == right, best == right, ~torch.isin(best, FORMS)
    return tuple(round(share.double().mean().item(), 3) for share in shares)


def run(setting: str, name: str, seed: int) -> dict:
    """Train one model and measure it at each length."""
    table, chosen_in = SETTINGS[setting]
    lr, generator = results(table).rate(name, chosen_in), set_seed(seed)
    opening = table == "order_opening"
    model = order_opening.make(name) if opening else order.make(name, "agreement")

    def batch() -> Batch:
        sentences = agreement_batch(64, (0, 3), generator, every_word=True)
        return order_opening.put_opening(sentences, generator) if opening else sentences

    train(model, batch, order.STEPS["agreement"], lr)
    tests = order_opening.tests(1000) if opening else order.tests("agreement", 1000, begin=False)
    choice, accuracy, neither = zip(*(measure(model, test) for test in tests), strict=True)
    row = {"setting": setting, "model": name, "seed": seed, "lr": lr}
    return {**row, "choice": choice, "accuracy": accuracy, "neither": neither}


def main() -> None:
    """Train, measure, and write the file."""
    torch.set_num_threads(1)
    start = time.process_time()
    runs = [
        run(setting, name, seed)
        for setting in SETTINGS
        for name in order.ENCODINGS
        for seed in SEEDS
    ]
    head = {"made_by": "experiments/order_verbs.py", "torch": torch.__version__.split("+")[0]}
    head |= {"threads": 1, "attractors": order.ATTRACTORS}
    head["cpu_seconds"] = round(time.process_time() - start)
    write_table("order_verbs", head, runs=runs)


if __name__ == "__main__":
    main()
