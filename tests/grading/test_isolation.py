"""What a run must not leave behind: seeds, default precision, threads, forbidden calls."""

import random
import threading

import numpy as np
import pytest
import torch

from grading.runner.isolation import ForbiddenCall, forbid, one_thread, restored


def answer(x):
    return np.sort(x)


def test_global_state_is_restored_after_an_error():
    before = random.getstate(), torch.get_rng_state()
    with pytest.raises(ValueError, match="no"), restored():
        random.random()
        torch.rand(1)
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        raise ValueError("no")
    assert random.getstate() == before[0] and torch.equal(torch.get_rng_state(), before[1])
    assert torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled()


def test_one_thread_lasts_as_long_as_the_run():
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_forbidden_call_raises_while_the_answer_runs():
    with forbid(["numpy.sort"], answer), pytest.raises(ForbiddenCall, match=r"numpy\.sort"):
        answer(np.zeros(2))
    assert answer(np.array([2, 1])).tolist() == [1, 2]


@pytest.mark.parametrize(
    "own",
    [
        "from numpy import sort as mine",
        "import numpy as other\nmine = lambda x: getattr(other, 'so' + 'rt')(x)",
        "import functools, numpy\nmine = functools.partial(numpy.sort, axis=-1)",
    ],
)
def test_forbidden_function_has_no_other_name(own):
    space = {}
    exec(f"{own}\ndef answer(x):\n    return mine(x)", space)
    with pytest.raises(ForbiddenCall), forbid(["numpy.sort"], space["answer"]):
        space["answer"](np.zeros(2))
    assert space["answer"](np.array([2, 1])).tolist() == [1, 2]


@pytest.mark.parametrize(
    "answer",
    [
        "import torch\n@torch.no_grad()\ndef answer(x): return sort(x)",
        "import functools\ndef two(n, x): return sort(x)\nanswer = functools.partial(two, 1)",
        "class A:\n    def __call__(self, x): return sort(x)\nanswer = A()",
        "class answer:\n    size = 1\n    def __new__(cls, x): return sort(x)",
    ],
)
def test_forbidden_function_below_a_wrapper(answer):
    space = {}
    exec(f"from numpy import sort\n{answer}", space)
    with pytest.raises(ForbiddenCall), forbid(["numpy.sort"], space["answer"]):
        space["answer"](np.zeros(2))
    assert space["sort"] is np.sort and space["answer"](np.array([2, 1])).tolist() == [1, 2]


def test_what_the_answer_defines_meanwhile_stays():
    """New names, and names that it gave to something else; a ban under a new name ends."""
    code = (
        "import functools\nfrom numpy import sort\nlast = functools.partial(sort, axis=-1)\n"
        "calls = 0\nother = sort\n"
        "def answer(x):\n    global calls, seen, other, mine\n"
        "    calls += 1\n    seen = list(x)\n    other, mine = max, sort\n"
    )
    space = {}
    exec(code, space)
    last = space["last"]
    with forbid(["numpy.sort", "numpy.argsort"], space["answer"]):
        space["answer"]([2, 1])
    assert (space["calls"], space["seen"], space["other"]) == (1, [2, 1], max)
    assert space["sort"] is space["mine"] is np.sort and space["last"] is last


def test_method_of_a_class_can_be_forbidden():
    with forbid(["torch.Tensor.softmax"], answer), pytest.raises(ForbiddenCall):
        torch.zeros(2).softmax(-1)
    assert torch.zeros(2).softmax(-1).tolist() == [0.5, 0.5]


def test_bans_of_two_threads_leave_nothing_banned():
    entered, leave = threading.Event(), threading.Event()

    def second():
        with forbid(["torch.Tensor.softmax"], answer):
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=second)
    with forbid(["torch.Tensor.softmax"], answer):
        other.start()
        assert not entered.wait(0.1)  # it waits for this ban to end
    leave.set()
    other.join()
    assert torch.zeros(2).softmax(-1).tolist() == [0.5, 0.5]


def test_forbidden_function_itself_is_no_answer():
    with pytest.raises(ForbiddenCall, match=r"numpy\.sort"), forbid(["numpy.sort"], np.sort):
        pass
