"""What is seen of a training, and what a student is told of it; on models of a few numbers."""

import copy
import importlib
import json
from dataclasses import asdict, replace

import pytest
import torch
from torch import nn
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

from classroom.sandbox.bubblewrap import CourseFiles
from classroom.sandbox.examiner import Examiner, Prepared, outcomes_from
from classroom.sandbox.limits import Limits
from classroom.sandbox.serialize import SerializeError
from classroom.sandbox.worker import as_sent
from grading.feedback import messages
from grading.feedback.judge import grade, judge
from grading.feedback.training_facts import Sign, signs
from grading.runner.outcome import MOST_DISTINCT, Outcome, Training
from grading.runner.run import run
from grading.runner.training_trace import FIRST, TrainingTrace, _are_later
from grading.task import CODE, Case, Enough, Mistake, all_tasks
from helpers.training import train
from tests.conftest import system_program
from tests.grading.mistake_variants import sheet_of
from tests.grading.sample_tasks import example

checking = importlib.import_module("grading.check")
STEPS, BATCH, RATE = 30, 4, 0.1


class Tiny(nn.Module):
    """Logits (batch, T, 5) of tokens (batch, T)."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 3)
        self.lm_head = nn.Linear(3, 5)

    def forward(self, tokens):
        return self.lm_head(self.embedding(tokens))


def batch(n=BATCH):
    tokens = torch.randint(5, (n, 12))
    return tokens, (tokens + 1) % 5


def loop(
    model,
    steps=STEPS,
    rate=RATE,
    draw=batch,
    clear=True,
    late=False,
    shift=True,
    parameters=None,
    kind=torch.optim.Adam,
    new=False,
    set_to_none=True,
    loss_of=None,
    **settings,
):
    """A training loop with a place for each fault."""
    held = list(model.parameters() if parameters is None else parameters)
    optimizer = kind(held, rate, **settings)
    for _ in range(steps):
        optimizer = kind(held, rate, **settings) if new else optimizer
        tokens, targets = draw()
        loss_of = loss_of or nn.functional.cross_entropy
        loss = loss_of(model(tokens).flatten(0, 1), (targets if shift else tokens).flatten())
        if clear:
            optimizer.zero_grad(set_to_none)
        loss.backward()
        nn.utils.clip_grad_norm_(held, 1.0)
        if late:
            optimizer.zero_grad()
        optimizer.step()
    return model


def answer(**faults):
    """A student's function that trains by this loop."""

    def trained(seed):
        torch.manual_seed(seed)
        return loop(Tiny(), **faults)

    return trained


def same_batch():
    first = batch()
    return lambda: first


def two_later():
    tokens = torch.randint(1, 5, (BATCH, 14))
    return tokens[:, :-2], tokens[:, 2:]


def same_texts():
    texts = batch(BATCH)[0]

    def draw():
        tokens = texts[torch.randint(BATCH, (BATCH,))]
        tokens = nn.functional.pad(tokens, (0, int(torch.randint(3, ()))))
        return tokens, (tokens + 1) % 5

    return draw


def harness(answer, seed):
    """Not good enough, whatever comes; it trains a model of its own, which is not to be seen."""
    model = answer(seed)
    if model is None:
        return None
    loop(Tiny(), steps=3)
    return 0.0


ENOUGH = Enough(STEPS, BATCH, RATE)


def task(**changes):
    fields = {"kind": "train", "score": lambda args, value: value, "threshold": 0.5}
    fields |= {"harness": harness, "cases": lambda seed: [Case((seed,))], "mistakes": ()}
    return example(**fields | {"name": "trained", "enough": ENOUGH} | changes)


def seen(answer):
    [outcome] = run(task(), answer, task().cases(0))
    assert outcome.ok, outcome.error
    return outcome.training


def of_other(seed):
    """Trains one model and returns another."""
    loop(Tiny())
    return Tiny()


def early(seed):
    """Returns the weights of the tenth step."""
    model = loop(Tiny(), steps=10)
    kept = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    for _ in range(STEPS - 10):
        tokens, targets = batch()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten()).backward()
        optimizer.step()
    model.load_state_dict(kept)
    return model


def before(seed):
    """Returns the weights from before the training, in a copy of the model."""
    model = Tiny()
    first = copy.deepcopy(model)
    loop(model)
    return first


def last_layer_only(seed):
    model = Tiny()
    return loop(model, parameters=model.lm_head.parameters())


def diverges(logits, targets):
    return nn.functional.cross_entropy(logits, targets) * float("nan")


def slices():
    """Batch after batch of three; then the slices are empty."""
    tokens, targets = batch(3 * BATCH)
    starts = iter(range(0, STEPS * BATCH, BATCH))

    def draw():
        start = next(starts)
        return tokens[start : start + BATCH], targets[start : start + BATCH]

    return draw


FAULTS = {
    Sign.NO_STEP: lambda seed: Tiny(),
    Sign.EMPTY: lambda seed: loop(Tiny(), draw=slices()),
    Sign.NOT_FINITE: answer(loss_of=diverges),
    Sign.OTHER_MODEL: of_other,
    Sign.NO_GRADIENT: answer(late=True),
    Sign.NOT_CLEARED: answer(clear=False),
    Sign.FEW_EXAMPLES: lambda seed: loop(Tiny(), draw=same_batch()),
    Sign.COPYING: answer(shift=False),
    Sign.SKIPPING: lambda seed: loop(Tiny(), draw=two_later),
    Sign.FIRST_WEIGHTS: before,
    Sign.EARLY_WEIGHTS: early,
    Sign.NEW_OPTIMIZERS: answer(new=True),
    Sign.PARTLY_TRAINED: last_layer_only,
    Sign.FEW_STEPS: answer(steps=12),
    Sign.NOT_ADAM: answer(kind=torch.optim.SGD),
    Sign.SMALL_RATE: answer(rate=RATE / 10),
    Sign.LARGE_RATE: answer(rate=10 * RATE),
    Sign.SMALL_BATCHES: answer(draw=lambda: batch(2), steps=STEPS),
    Sign.DECAY: answer(kind=torch.optim.AdamW, weight_decay=1.0),
}


@pytest.mark.parametrize("sign", Sign, ids=lambda sign: sign.name)
def test_planted_fault_is_seen_and_told(sign):
    enough = replace(ENOUGH, examples=32) if sign is Sign.SMALL_BATCHES else ENOUGH
    own = task(enough=enough)
    verdict = grade(own, FAULTS[sign], 0)
    assert verdict.points == 0 and verdict.seen.sign is sign
    assert verdict.message.startswith("Seen during training: ")
    assert "It reaches 0.000; the goal is at least 0.5." in verdict.message


@pytest.mark.parametrize(
    ("sign", "said"),
    [
        (Sign.EMPTY, "27 of 30 steps got a batch without examples."),
        (Sign.FEW_EXAMPLES, "All 30 steps saw the same examples, 4 different ones."),
        (Sign.FEW_STEPS, "The optimizer made 12 steps; 30 are enough."),
        (Sign.SMALL_RATE, "was at most 0.01. A rate about 10 times as large is enough."),
        (Sign.LARGE_RATE, "rose to 1. A rate about 10 times smaller is enough."),
        (Sign.EARLY_WEIGHTS, "with the weights after step 10 of 30."),
        (Sign.PARTLY_TRAINED, "only 2 of the 3 parameter tensors"),
    ],
)
def test_message_states_what_was_seen(sign, said):
    assert said in grade(task(), FAULTS[sign], 0).message


@pytest.mark.parametrize(
    ("peak", "said"), [(0.00029, "0.0003"), (0.00031, "0.00031"), (0.0027, "0.0027")]
)
def test_a_peak_below_a_round_number_is_rounded_up(peak, said):
    assert messages._limit(peak) == said


def by_helper(seed):
    model = Tiny()
    train(model, batch, STEPS, RATE, warmup=3)
    return model


def with_everything_unusual_but_right(seed):
    """Evaluates with gradients, accumulates over two batches, clears by hand, copies the model."""
    model, held_out = Tiny(), batch(50)
    optimizer = torch.optim.AdamW(model.parameters(), RATE)
    best = None
    for _ in range(STEPS):
        nn.functional.cross_entropy(model(held_out[0]).flatten(0, 1), held_out[1].flatten())
        for p in model.parameters():
            p.grad = None
        for _ in range(2):
            tokens, targets = batch(2)
            nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten()).backward()
        optimizer.step()
        best = copy.deepcopy(model)
    return best


def with_evaluations(seed):
    """Looks at the same held-out examples before each step, in evaluation mode."""
    model, held_out = Tiny(), batch(50)[0]

    def draw():
        model.eval()
        model(held_out).argmax(dim=-1)
        model.train()
        return batch()

    return loop(model, draw=draw)


RIGHT = {
    "by hand": answer(),
    "zeros": answer(set_to_none=False),
    "by the helper": by_helper,
    "evaluated": with_evaluations,
    "unusual": with_everything_unusual_but_right,
}


@pytest.mark.parametrize("name", RIGHT)
def test_sound_training_shows_nothing_unusual(name):
    enough = replace(ENOUGH, examples=2) if name == "unusual" else ENOUGH
    training = seen(RIGHT[name])
    assert training.steps == STEPS and training.kept == STEPS
    assert list(signs(training, enough)) == []
    verdict = grade(task(enough=enough), RIGHT[name], 0)
    assert verdict.seen is None and verdict.message.startswith("It reaches 0.000")


@pytest.mark.parametrize(
    ("kept", "first"),
    [(0, Sign.FIRST_WEIGHTS), (STEPS // 3, Sign.SMALL_RATE), (STEPS, Sign.SMALL_RATE)],
)
def test_a_small_rate_is_told_before_early_weights(kept, first):
    """The best weights of a training that learns nothing may be early ones."""
    seen = Training(steps=STEPS, examples=BATCH, adam=STEPS, peak=RATE / 10, kept=kept)
    assert next(signs(seen, ENOUGH)) is first


@pytest.mark.parametrize(
    ("x", "wanted", "two_later"),
    [
        ([1, 2, 3, 4, 5], [3, 4, 5, 6, 7], True),
        ([1, 2, 3, 0, 0], [3, 4, -100, -100, -100], True),
        ([1, 2, 3, 4, 0], [3, 4, 9, -100, -100], True),
        ([1, 2, 3, 4, 5], [-100, 4, 5, 6, 7], True),
        ([1, 2, 3, 4, 5], [2, 3, 4, 5, 6], False),
        ([1, 2, 2, 2, 2], [2, 2, 2, 2, 2], False),  # the next token is the same
        ([1, 2, 3, 4, 5], [3, 4, 6, 6, 7], False),
    ],
)
def test_targets_two_tokens_later_are_told_apart(x, wanted, two_later):
    x, wanted = torch.tensor([x]), torch.tensor([wanted])
    assert _are_later(wanted, x, wanted != -100) is two_later


def test_few_empty_batches_are_no_loss_that_diverged():
    draws = iter([batch(BATCH)] * (STEPS - 1) + [batch(0)])
    training = seen(lambda seed: loop(Tiny(), draw=lambda: next(draws)))
    assert (training.empty, training.not_finite) == (1, 0)


def test_padding_makes_no_other_examples():
    assert seen(lambda seed: loop(Tiny(), draw=same_texts())).distinct <= BATCH


def test_different_examples_are_counted_to_a_limit():
    assert seen(answer(steps=3)).distinct == 3 * BATCH
    assert seen(answer(steps=9, draw=lambda: batch(1000))).distinct == MOST_DISTINCT


def test_training_is_not_changed_by_being_watched():
    """Weights, losses and random numbers are those of a training that nobody watches."""
    watched, trace = answer(), TrainingTrace()
    with trace.watching():
        seen_one, number = watched(0).state_dict(), torch.rand(1)
    alone = watched(0).state_dict()
    assert number == torch.rand(1)
    assert all(torch.equal(seen_one[name], alone[name]) for name in alone)


def hooks():
    kinds = "_global_forward_pre_hooks", "_global_forward_hooks"
    found = [len(getattr(modules, kind)) for kind in kinds]
    found += [len(optimizers._global_optimizer_pre_hooks)]
    found += [len(optimizers._global_optimizer_post_hooks)]
    return [*found, torch.autograd.backward, nn.functional.cross_entropy]


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_hooks_are_gone_after_any_error(error):
    def stops(seed):
        loop(Tiny(), steps=1)
        raise error

    before = hooks()
    if error is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            run(task(), stops, task().cases(0))
    else:
        [outcome] = run(task(), stops, task().cases(0))
        assert not outcome.ok and outcome.training is None
    assert hooks() == before


def test_only_the_training_of_the_answer_is_watched():
    """Neither a training by the check, of the same model, nor one in a task of another kind."""

    def trains_on(answer, seed):
        loop(answer(seed), steps=3)
        return 0.0

    own = task(harness=trains_on)
    [outcome] = run(own, answer(), own.cases(0))
    assert outcome.training.steps == STEPS
    code = task(kind=CODE[0], score=None, enough=None, reference=answer())
    [outcome] = run(code, answer(), code.cases(0))
    assert outcome.training is None


def test_answer_that_is_a_class_is_watched():
    class Model(Tiny):
        def learn(self):
            loop(self, clear=False)

    def drive(answer, seed):
        model = answer()
        model.learn()
        loop(model, steps=3)  # the check's own
        return 0.0

    verdict = grade(task(harness=drive), Model, 0)
    assert verdict.seen.sign is Sign.NOT_CLEARED and verdict.seen.training.held == 3


# ------------------------------------------------------------------ sound, but written otherwise


def step_on(model, *of, draw=batch):
    """One step of these optimizers."""
    tokens, targets = draw()
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
    for optimizer in of:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in of:
        optimizer.step()


def adam(*modules_):
    return torch.optim.Adam([p for module in modules_ for p in module.parameters()], RATE)


def two_optimizers(seed):
    model = Tiny()
    pair = adam(model.embedding), adam(model.lm_head)
    for _ in range(STEPS):
        step_on(model, *pair)
    return model


def two_models_in_turn(seed):
    """The gradients of each stay until its own next step."""
    pair = [Tiny(), Tiny()]
    of = [adam(model) for model in pair]
    for _ in range(STEPS):
        for model, optimizer in zip(pair, of, strict=True):
            step_on(model, optimizer)
    return pair[0]


def thawed(seed):
    model = Tiny()
    optimizer = adam(model.lm_head)
    for number in range(STEPS):
        if number == STEPS // 2:
            optimizer.add_param_group({"params": [*model.embedding.parameters()]})
        step_on(model, optimizer)
    return model


def in_two_phases(seed):
    model = Tiny()
    for optimizer in (adam(model.lm_head), adam(model)):
        for _ in range(STEPS // 2):
            step_on(model, optimizer)
    return model


def best_of_three(seed):
    """Returns a copy of the first of three models."""
    first, *_ = [copy.deepcopy(loop(Tiny())) for _ in range(3)]
    return first


def validated_before_backward(seed):
    """The loss on other examples, with gradients, stands between the loss and its gradient."""
    model, held_out = Tiny(), batch(50)
    optimizer = adam(model)
    for _ in range(STEPS):
        tokens, targets = batch()
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
        nn.functional.cross_entropy(model(held_out[0]).flatten(0, 1), held_out[1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def validated_after_step(seed):
    """The same, from the second step on."""
    model, held_out = Tiny(), batch(50)
    optimizer = adam(model)
    for _ in range(STEPS):
        step_on(model, optimizer)
        nn.functional.cross_entropy(model(held_out[0]).flatten(0, 1), held_out[1].flatten())
    return model


def validated_with_own_loss(seed):
    """The same, where only calls of the model tell that there are two."""
    model, held_out = Tiny(), batch(30)
    optimizer = adam(model)
    for _ in range(STEPS):
        loss_on(model, *held_out)
        loss = loss_on(model, *batch())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def loss_on(model, tokens, targets):
    return -model(tokens).log_softmax(-1).gather(-1, targets[..., None]).mean()


def text_by_text(seed):
    """Without an axis of the batch: the entries are no examples."""
    model = Tiny()
    optimizer = adam(model)
    for _ in range(STEPS):
        tokens, targets = batch(1)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(tokens[0]), targets[0]).backward()
        optimizer.step()
    return model


def by_closure(seed):
    """Reads its examples many times in a step."""
    model = Tiny()
    optimizer = torch.optim.LBFGS(model.parameters(), RATE)
    for _ in range(STEPS):
        tokens, targets = batch()

        def closure(tokens=tokens, targets=targets):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
            loss.backward()
            return loss

        optimizer.step(closure)
    return model


def full_batches(seed):
    """All 200 examples that there are, in batches of 50."""
    tokens, targets = batch(200)

    def draw():
        rows = torch.randperm(200)[:50]
        return tokens[rows], targets[rows]

    return loop(Tiny(), draw=draw)


OTHERWISE = (two_optimizers, two_models_in_turn, thawed, in_two_phases, best_of_three)
OTHERWISE += (
    validated_before_backward,
    validated_after_step,
    validated_with_own_loss,
    text_by_text,
    full_batches,
)


@pytest.mark.parametrize("answer", OTHERWISE, ids=lambda answer: answer.__name__)
def test_sound_training_in_any_style_is_told_nothing(answer):
    assert list(signs(seen(answer), ENOUGH)) == []


def test_many_fresh_examples_are_not_few():
    assert list(signs(seen(answer(draw=lambda: batch(512))), ENOUGH)) == []


def test_closure_is_no_fault():
    assert list(signs(seen(by_closure), ENOUGH)) == [Sign.NOT_ADAM]


def test_function_that_is_kept_watches_no_more():
    def keeps(seed):
        model = loop(Tiny(), steps=1)
        model.loss = nn.functional.cross_entropy
        kept.append(model)
        return model

    kept, before = [], hooks()
    seen(keeps)
    kept[0].loss(torch.zeros(2, 5), torch.zeros(2, dtype=torch.long))
    assert hooks() == before


# ------------------------------------------------------------------ beside the known mistakes


def known(answer, faulty):
    """The verdict on a faulty answer, in a task with this known mistake."""
    return grade(task(mistakes=(Mistake(answer, "Is it trained?"),)), faulty, 0)


def test_fact_takes_the_place_of_a_known_mistake():
    verdict = known(lambda seed: Tiny(), FAULTS[Sign.FEW_EXAMPLES])
    assert verdict.seen.sign is Sign.FEW_EXAMPLES and verdict.diagnosis is None
    assert "Is it trained?" not in verdict.message


def test_known_mistake_of_the_same_training_is_named():
    verdict = known(answer(clear=False), answer(clear=False))
    assert verdict.seen is None and "Possible cause: Is it trained?" in verdict.message


def test_known_mistakes_of_one_sentence_are_one():
    twice = [
        Mistake(answer, "Is it trained?") for answer in (lambda seed: Tiny(), answer(late=True))
    ]
    verdict = grade(task(mistakes=tuple(twice)), answer(late=True), 0)
    assert verdict.seen is None and "Is it trained?" in verdict.message


def test_number_does_not_displace_a_known_mistake():
    """What trains as badly at the rate and for the steps that are enough has another cause."""
    few = FAULTS[Sign.FEW_STEPS]
    assert known(answer(), few).seen is None
    for poor in (answer(steps=5), FAULTS[Sign.NO_STEP]):
        assert known(poor, few).seen.sign is Sign.FEW_STEPS


def test_right_answer_is_told_no_fact():
    poor = task(score=lambda args, value: 1.0)
    for fault in (Sign.NOT_CLEARED, Sign.FEW_EXAMPLES, Sign.FEW_STEPS):
        verdict = grade(poor, FAULTS[fault], 0)
        assert verdict.points == poor.points and "Seen during" not in verdict.message


class Odd(Tiny):
    """A module of a student's that nobody can ask for its parameters."""

    def parameters(self, recurse=True):
        raise RuntimeError


def test_right_answer_is_right_whatever_is_seen():
    poor = task(harness=lambda answer, seed: float(isinstance(answer(seed), nn.Module)))
    for right in (lambda seed: Odd(), answer(clear=False), lambda seed: Tiny()):
        verdict = grade(poor, right, 0)
        assert (verdict.points, verdict.seen) == (poor.points, None)


def test_check_does_not_say_that_the_cause_is_unclear(monkeypatch, capsys):
    own = task(mistakes=(Mistake(lambda seed: Tiny(), "Is it trained?"),))
    monkeypatch.setattr(checking, "load", lambda name: own)
    checking.check("trained", FAULTS[Sign.NOT_CLEARED])
    said = capsys.readouterr().out
    assert messages.looking() in said and messages.not_found() not in said
    assert "The gradients were not cleared" in said


# ------------------------------------------------------------------ out of the sandbox


def sent(**changes):
    made = json.loads(json.dumps(as_sent(Outcome(training=Training(steps=3, peak=0.1)))))
    made["training"] = {**made["training"], **changes}
    return made


def test_numbers_leave_the_sandbox_as_they_are():
    [outcome] = outcomes_from([sent()], task().cases(0))
    assert outcome.training == Training(steps=3, peak=0.1)
    [outcome] = outcomes_from([{**sent(), "training": None}], task().cases(0))
    assert outcome.training is None


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": "3"},
        {"steps": 2**40},
        {"steps": True},
        {"held": -9},
        {"kept": 0.5},
        {"peak": [1.0]},
        {"peak": float("nan")},
        {"peak": float("inf")},
        {"more": 1},
    ],
)
def test_other_numbers_do_not_leave_the_sandbox(changes):
    with pytest.raises(SerializeError):
        outcomes_from([sent(**changes)], task().cases(0))


def test_rate_without_bounds_can_be_sent():
    training = seen(answer(rate=float("inf"), steps=2))
    assert json.loads(json.dumps(asdict(training)), parse_constant=pytest.fail)["peak"] > 1e6


CELL = """
import torch

def trained(seed):
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters(), 0.1)
    x = torch.randn(4, 3)
    for _ in range(30):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    return model
"""


def drive(answer, seed):
    import torch

    return float(isinstance(answer(seed), torch.nn.Linear)) - 1.0


@pytest.mark.grader
def test_training_in_the_sandbox_is_seen():
    program = system_program("bwrap")
    own = task(harness=drive)
    prepared = Prepared.of(own, 0, Limits())
    with CourseFiles() as course:
        answers = Examiner(Limits(), course, program)([CELL], [prepared], 0)
    assert answers.flags == set() and not answers.failed
    outcomes = answers.outcomes["trained"]
    assert (outcomes[0].training.steps, outcomes[0].training.distinct) == (30, 4)
    verdict = judge(own, prepared.cases, outcomes, prepared.baseline)
    assert "All 30 steps saw the same examples, 4 different ones." in verdict.message


# ------------------------------------------------------------------ the tasks


TRAININGS = [own for own in all_tasks().values() if own.enough is not None]
QUICK = ("train_head",)


@pytest.mark.parametrize(
    "own",
    [pytest.param(t, marks=() if t.name in QUICK else pytest.mark.full) for t in TRAININGS],
    ids=lambda own: own.name,
)
def test_enough_is_what_the_model_answer_takes(own):
    training = sheet_of(own).right[0].training
    assert (training.steps, training.examples) == (own.enough.steps, own.enough.examples)
    assert 0.5 <= training.peak / own.enough.rate <= 2.0
    assert list(signs(training, own.enough)) == []


def test_trainings_by_the_answer_say_what_is_enough():
    """All but one, whose model the check trains."""
    without = [t.name for t in all_tasks().values() if t.kind == "train" and t.enough is None]
    assert without == ["length_generalization"]


def test_parts_of_the_model_run_without_a_hook():
    """After a few steps, one call in each is seen; more would cost a tenth of the time."""

    class Counted(TrainingTrace):
        calls = 0

        def _forward(self, module, inputs):
            self.calls += 1
            super()._forward(module, inputs)

    model = nn.Sequential(nn.Embedding(99, 8), *[nn.Linear(8, 8) for _ in range(8)])
    model.append(nn.Linear(8, 99))
    tokens = torch.randint(99, (4, 6))
    trace = Counted()
    with trace.watching():
        loop(model, steps=20, draw=lambda: (tokens, tokens))
    assert trace.calls == FIRST * (1 + len(model)) + 20 - FIRST
