"""A training run that is ill, for a number of reasons that is not told."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

from grading.author import Case, Enough, TaskFile
from helpers.models import LanguageModel

ABOVE = 0.13
"""How far above the floor the loss may be, in nats."""

task = TaskFile(
    "train",
    points=12,
    minutes=30,
    section="Training",
    outcome="compute {term}`cross-entropy` and {term}`perplexity` by hand, and say how low "
    "the loss of any model can be on average",
    threshold=math.exp(-ABOVE),
    enough=Enough(400, 32, 5e-3),
    nats=True,
    rtol=0.0,
    atol=0.02,
    hints=(
        "Check the parts one by one, on a text of three words and two pad tokens, and print: the "
        "target at each position, the mask, the learning rate of the first steps.",
        "A loss far below the entropy is not luck: either the model sees the targets, or the "
        "mean is taken over the wrong positions.",
        "What does PyTorch keep from one step to the next by default? And from training to "
        "evaluation?",
    ),
)


# %% the cell
class DiagnoseRun(LanguageModel):
    """A small language model, with its training and its evaluation."""

    def forward(self, tokens):
        """Logits (batch, T, 99) of tokens (batch, T)."""
        T = tokens.shape[1]
        x = self.embedding_scale * self.embedding(tokens)  # (batch, T, 32)
        #| seen = torch.ones(T, T).triu().bool()  # (T, T)
        # BEGIN SOLUTION
        seen = torch.ones(T, T).tril().bool()  # (T, T)
        # END SOLUTION
        return self.lm_head(self.stack(x, seen))  # (batch, T, 99)

    def loss(self, texts):
        """Mean surprisal of the next words in texts (batch, T)."""
        logits = self(texts[:, :-1]).transpose(1, 2)  # (batch, 99, T - 1)
        #| return F.cross_entropy(logits, texts[:, :-1])
        # BEGIN SOLUTION
        return F.cross_entropy(logits, texts[:, 1:], ignore_index=0)
        # END SOLUTION

    def learn(self, texts, steps, generator):
        """Train on texts (n, T). The rate rises to 0.005 over 20 steps and then stays constant."""
        self.train()
        optimizer = torch.optim.Adam(self.parameters())
        for step in range(steps):
            rows = torch.randint(len(texts), (32,), generator=generator)
            #| optimizer.param_groups[0]["lr"] = 0.005 * max(1, (step + 1) / 20)
            # BEGIN SOLUTION
            optimizer.zero_grad()
            optimizer.param_groups[0]["lr"] = 0.005 * min(1, (step + 1) / 20)
            # END SOLUTION
            self.loss(texts[rows]).backward()
            nn.utils.clip_grad_norm_(self.parameters(), 1.0)
            optimizer.step()

    @torch.no_grad()
    def measured(self, texts):
        """The loss on new texts (n, T), a number."""
        # BEGIN SOLUTION
        self.eval()
        # END SOLUTION
        return self.loss(texts).item()


# %%

task.as_given(
    "This does the same as the given code. The loss that it reports has nothing to do with the "
    "loss of its model."
)


@task.harness
def harness(answer, texts, held_out, begin):
    """Train, measure, and read its predictions of words of which it has seen nothing."""
    import torch

    from helpers.config import TransformerConfig
    from helpers.models import LanguageModel

    generator = torch.Generator().manual_seed(begin)
    run = answer(TransformerConfig(99, 32, n_heads=4, dropout=0.05))
    torch.nn.init.normal_(run.embedding.weight, std=0.05)
    run.learn(texts, 400, generator)
    said = run.measured(held_out)
    if said is None:
        return None
    torch.manual_seed(begin + 1)
    said_again = run.measured(held_out)
    run.eval()
    with torch.no_grad():
        written_out = run(held_out[:8]) - LanguageModel.forward(run, held_out[:8])
    surprise = torch.zeros(len(held_out), held_out.shape[1] - 1)
    with torch.no_grad():
        for t in range(1, held_out.shape[1]):  # what it has not read it cannot use
            log_p = run(held_out[:, :t])[:, -1].log_softmax(dim=-1)
            surprise[:, t - 1] = -log_p.gather(-1, held_out[:, t : t + 1])[:, 0]
    read, words = held_out[:, :-1] != 0, held_out[:, 1:] != 0
    found = {
        "loss": surprise[words].mean(),
        "its own number": said,
        "its own number, measured again": said_again,
        "mean of the texts' means": ((surprise * words).sum(1) / words.sum(1)).mean(),
        "with the token after each text": surprise[read].mean(),
        "with padding": surprise.mean(),
        "by the number of all words": surprise[words].sum() / (held_out != 0).sum(),
        "off in forward": written_out.abs().max(),
    }
    return {name: min(float(number), 9.0) for name, number in found.items()}


@functools.lru_cache(maxsize=4)
def _sentences(seed):
    from helpers.data.stories import scene, tell_stories

    texts = tell_stories(3000, torch.Generator().manual_seed(3000 + seed), scene)
    return texts, tell_stories(300, torch.Generator().manual_seed(4000 + seed), scene)


@task.cases
def cases(seed):
    """3,000 sentences to learn from, and 300 new ones."""
    texts, new = _sentences(seed)
    return [Case((texts.clone(), new.clone(), seed), kind="ordinary cases")]


def _floor(held_out):
    from helpers.data.stories import scene, story_probabilities

    chances = [p for text in held_out for p in story_probabilities(text, scene)[1:]]
    return -sum(map(math.log, chances)) / len(chances)


SAME_LOGITS = 1e-3
"""How far the logits may lie from those of a `LanguageModel` with the same weights."""
HONEST = 0.003
"""How far its own number may lie from the loss, in nats."""


@task.score
def score(args, value):
    """The floor's perplexity divided by the model's; 0 if its own number or `forward` is wrong."""
    said = value["its own number"], value["its own number, measured again"]
    honest = abs(value["loss"] - said[0]) < HONEST and abs(said[0] - said[1]) < 1e-5
    right = honest and value["off in forward"] < SAME_LOGITS
    return math.exp(_floor(args[1]) - value["loss"]) if right else 0.0


EQUAL = 0.0005
"""How far its own number may lie from one that is explained, in nats."""
OTHER_LOGITS = (
    "But its logits are not those of a `LanguageModel` with the same weights. Which words may each "
    "position see? Print the mask for three words."
)
REPORTED = {
    "mean of the texts' means": "It reports the mean of the texts' means, in which a word of a "
    "short text counts more. Take one mean over all target words.",
    "with the token after each text": "It also counts the pad token after the last word of each "
    "text. Whether something is padding is seen at the *target*.",
    "with padding": "It also counts padding as targets.",
    "by the number of all words": "It divides by the number of all words, but the first word of a "
    "text is no target.",
}
"""Numbers that are not the loss, and what is wrong with them."""


@task.diagnostic
def what_is_seen(args, result):
    """Symptoms."""
    loss, said, floor = result["loss"], result["its own number"], _floor(args[1])
    told = "On new sentences, where it sees only the previous words, its loss is "
    told += f"{loss:.2f} nats; the floor is {floor:.2f}. It reports a loss of {said:.3f}"
    again = result["its own number, measured again"]
    if abs(said - again) > 1e-5:
        return (
            f"{told}, and when asked again {again:.3f}. Measuring draws random numbers: is dropout "
            "active?"
        )
    if abs(loss - said) < HONEST:
        off = loss < floor + ABOVE and result["off in forward"] > SAME_LOGITS
        return f"{told}. {OTHER_LOGITS}" if off else f"{told}."
    told += f", but the loss is {loss:.3f}."
    fit = [name for name in REPORTED if abs(said - result[name]) < EQUAL < abs(loss - result[name])]
    if len(fit) == 1:
        return f"{told} {REPORTED[fit[0]]}"
    if loss > floor + 0.2:
        return told
    told += " It learns well." if loss < floor + ABOVE else " It learns, but could learn better."
    if said > loss:
        return f"{told} What may differ between training and evaluation?"
    return f"{told} Over which positions is the reported mean taken?"
