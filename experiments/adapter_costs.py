"""What a step of fine-tuning costs: `python -m experiments.adapter_costs`.

SmolLM2 takes three steps of Adam on eight of lecture 10's questions: once with low-rank adapters
beside the queries and values of all 30 blocks, once with every weight. Float32, one thread; each
way runs in a process of its own, since memory is counted by the process. Writes
`helpers/results/stored/adapter_costs.json`:

    parameters          trained numbers
    megabytes           of their gradients and of what Adam keeps
    peak_megabytes      the most memory that the process used; loaded_megabytes, before the steps
    seconds             of CPU time, for the fastest of the steps
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from experiments import real_model
from helpers import pretrained
from helpers.adapters import add_adapters
from helpers.data import questions as facts
from helpers.data.questions import Asked, in_english
from helpers.models import LanguageModel
from helpers.pretrained import Pretrained
from helpers.tokens import IGNORE_INDEX
from helpers.training import count_parameters, set_seed

TABLE = Path(__file__).parents[1] / "helpers" / "results" / "stored" / "adapter_costs.json"
WAYS = ("adapters", "all weights")
RANK, BATCH, STEPS, SEED = 8, 8, 3, 500_000


def tokens_of(lm: Pretrained, question: Asked) -> tuple[Tensor, Tensor]:
    """The tokens of a question with its answer; the targets are the answer's and a line break."""
    text = real_model.PLAIN.format(
        context=in_english(question.context[1:]), question=in_english(question.question)
    )
    prompt = lm.encode(text)[0]
    answer = lm.encode(f" {in_english(question.answer.split(), sentences=False)}\n")[0]
    targets = torch.full((len(prompt) + len(answer),), IGNORE_INDEX)
    targets[len(prompt) - 1 : -1] = answer
    return torch.cat([prompt, answer]), targets


def batch_of(lm: Pretrained, some: Sequence[Asked]) -> tuple[Tensor, Tensor]:
    """Tokens and targets (n, T) of n questions, padded at the right."""
    pairs = [tokens_of(lm, question) for question in some]
    tokens, targets = zip(*pairs, strict=True)
    pad = nn.utils.rnn.pad_sequence
    return pad(tokens, batch_first=True), pad(targets, batch_first=True, padding_value=IGNORE_INDEX)


class AnswerLogits(nn.Module):
    """The logits before each token of an answer, and no others: all that the loss needs."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, where: Tensor) -> Tensor:
        """Logits (1, answer tokens, vocab) of tokens (batch, T) where (batch, T) is True."""
        x = self.model.stack(self.model.embedding(tokens), causal=True)  # (batch, T, d_model)
        return self.model.lm_head(x[where])[None]


def peak() -> float:
    """The most memory that this process has used, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measure(way: str) -> dict[str, float]:
    """Three steps in this process."""
    torch.set_num_threads(1)
    set_seed(0)
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    model = lm.model
    if way == "adapters":
        add_adapters(model, RANK)
    loaded = peak()
    generator = torch.Generator().manual_seed(SEED)
    tokens, targets = batch_of(lm, [facts.ask(generator) for _ in range(BATCH)])
    where = targets != IGNORE_INDEX
    answering = AnswerLogits(model)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
    seconds = []
    for _ in range(STEPS):
        start = time.process_time()
        loss = nn.functional.cross_entropy(answering(tokens, where)[0], targets[where])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seconds.append(time.process_time() - start)
    kept = sum(v.numel() for state in optimizer.state.values() for v in state.values() if v.dim())
    gradients = sum(p.numel() for p in model.parameters() if p.grad is not None)
    return {
        "parameters": count_parameters(model),
        "megabytes": round(4 * (kept + gradients) / 1e6, 1),
        "loaded_megabytes": round(loaded),
        "peak_megabytes": round(peak()),
        "seconds": round(min(seconds), 1),
    }


def main() -> None:
    """Measure both ways, and write the table."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
        return
    found: dict[str, object] = {
        "made_by": "experiments/adapter_costs.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "rank": RANK,
        "batch": BATCH,
    }
    for way in WAYS:
        line = [sys.executable, "-m", "experiments.adapter_costs", way]
        found[way] = json.loads(subprocess.run(line, capture_output=True, check=True).stdout)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found["cpu_seconds"] = round(used.ru_utime + used.ru_stime)
    TABLE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
