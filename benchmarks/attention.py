"""Our multi-head attention beside torch's, and naive beside fused attention, measured.

    python benchmarks/attention.py            the whole grid on the CPU, some ten minutes
    python benchmarks/attention.py --quick    a few sizes, to see that it works; stores nothing
    python benchmarks/attention.py --device cuda --dtype bfloat16

Both modules are called by turns in one process, with the same weights, after their outputs were
found equal. A time is the smallest of the repeats: whatever else the machine does can only add to
it. On a CPU it is the CPU time of the process, run with one thread: on an idle machine that equals
wall-clock time, and on a busy one it excludes time spent waiting. Results go to
`benchmarks/results/<device>.json`, from which the page *Benchmarks* is built.
"""

import argparse
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.benchmark import Timer
from tqdm import tqdm

from helpers.attention import MultiHeadAttention
from helpers.masks import causal_mask, to_blocking

RESULTS = Path(__file__).resolve().parent / "results"
HEAD_WIDTH = 32
LARGEST = 2**20
"""Sizes with more numbers in the input than this are left out on a CPU: they take minutes."""

GRIDS = {  # batch sizes, lengths, widths; then the lengths for naive beside fused attention
    "quick": ((1,), (64,), (64,), (512,)),
    "cpu": ((1, 8), (64, 256, 1024), (64, 256, 512), (256, 512, 1024, 2048, 4096, 8192)),
    "cuda": ((1, 8), (256, 1024, 4096), (256, 1024), (1024, 4096, 16384, 32768, 65536)),
}
CLEAR = Path("/proc/self/clear_refs")
"""Writing 5 here sets Linux's mark of the largest memory of this process back to what it has."""

NAIVE_LIMIT = {"cpu": 8192, "cuda": 32768}
"""Beyond this length the matrix of weights alone is too large."""


def main() -> None:
    """Measure, print, store."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few sizes; nothing is stored")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), default="float32")
    parser.add_argument("--repeats", type=int, default=15, help="at least 15 for stored results")
    parser.add_argument("--output", type=Path, help="instead of benchmarks/results/<device>.json")
    parser.add_argument("--memory-of", nargs=2, metavar=("HOW", "LENGTH"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    dtype = getattr(torch, args.dtype)
    if args.memory_of:  # a process of its own for each, or the peaks could not be told apart
        how, length = args.memory_of
        print(json.dumps(long_attention(how, int(length), args.device, dtype, args.repeats)))
        return
    if args.device == "cuda" and not torch.cuda.is_available():
        sys.exit("Torch finds no GPU here; leave out --device cuda.")
    if args.quick:
        args.repeats = min(args.repeats, 3)

    batches, lengths, widths, long = GRIDS["quick" if args.quick else args.device]
    sizes = [(b, n, w) for b in batches for n in lengths for w in widths]
    left_out = [s for s in sizes if args.device == "cpu" and s[0] * s[1] * s[2] > LARGEST]
    load = [os.getloadavg()[0]] if hasattr(os, "getloadavg") else []
    modules = [
        row
        for size in tqdm([s for s in sizes if s not in left_out], desc="modules", leave=False)
        for row in compare_modules(*size, args.device, dtype, args.repeats)
    ]
    functions = compare_functions(long, args)
    load += [os.getloadavg()[0]] if load else []
    results = {
        "machine": machine(args.device),
        "load": [round(x, 1) for x in load],
        "dtype": args.dtype,
        "repeats": args.repeats,
        "head width": HEAD_WIDTH,
        "left out": left_out,
        "median ratio": round(statistics.median(row["ratio"] for row in modules), 2),
        "modules": modules,
        "functions": functions,
    }
    show(results)
    if args.output or not args.quick:
        path = args.output or RESULTS / f"{args.device}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(f"Stored in {path}")


# --------------------------------------------------------------------------- the two modules


def compare_modules(
    batch: int, length: int, width: int, device: str, dtype: torch.dtype, repeats: int
) -> list[dict]:
    """Forward, and forward with backward, each with and without a causal mask."""
    torch.manual_seed(0)
    options = {"device": device, "dtype": dtype}
    ours = MultiHeadAttention(width, width // HEAD_WIDTH).to(**options)
    torchs = nn.MultiheadAttention(width, width // HEAD_WIDTH, batch_first=True, **options)
    copy_weights(ours, torchs)
    x = torch.randn(batch, length, width, **options)
    blocking = to_blocking(causal_mask(length, device=device))

    def call_ours(causal: bool) -> Tensor:
        return ours(x, causal=causal)

    def call_torchs(causal: bool, fast_path: bool) -> Tensor:
        # Without gradients torch has two ways; either can be the faster one.
        torch.backends.mha.set_fastpath_enabled(fast_path)
        # Told that the mask is causal, either module lets the kernel skip the half that is blocked.
        attn_mask = blocking if causal else None
        return torchs(x, x, x, need_weights=False, attn_mask=attn_mask, is_causal=causal)[0]

    rows = []
    for causal, training in itertools.product((False, True), (False, True)):
        ours.train(training)
        torchs.train(training)
        ways = [partial(call_ours, causal), partial(call_torchs, causal, True)]
        if not training:
            ways += [partial(call_torchs, causal, False)]
        with torch.set_grad_enabled(training):
            outputs = [way() for way in ways]
            tolerance = 1e-5 if dtype == torch.float32 else 2e-2
            for output in outputs[1:]:
                torch.testing.assert_close(outputs[0], output, atol=tolerance, rtol=tolerance)
        run = with_backward if training else without_gradient
        times = by_turns([partial(run, way) for way in ways], repeats, device)
        best = [min(t) for t in times]
        row = {"batch": batch, "length": length, "width": width}
        row |= {"causal": causal, "backward": training}
        row |= {"ours": microseconds(best[0]), "torch": microseconds(min(best[1:]))}
        row["ratio"] = round(best[0] / min(best[1:]), 3)
        if not training:
            row["fast path"] = microseconds(best[1])
        rows.append(row)
    return rows


def copy_weights(ours: MultiHeadAttention, torchs: nn.MultiheadAttention) -> None:
    """Give torch's module the weights of ours."""
    projections = (ours.W_query, ours.W_key, ours.W_value)
    with torch.no_grad():
        torchs.in_proj_weight.copy_(torch.cat([W.weight for W in projections]))
        torchs.in_proj_bias.copy_(torch.cat([W.bias for W in projections]))
    torchs.out_proj.load_state_dict(ours.W_out.state_dict())


def without_gradient(call: Callable[[], Tensor]) -> None:
    """As in use."""
    with torch.no_grad():
        call()


def with_backward(call: Callable[[], Tensor]) -> None:
    """As in training; gradients add up in place, which costs both the same."""
    call().sum().backward()


def by_turns(calls: list[Callable[[], None]], repeats: int, device: str) -> list[list[float]]:
    """Seconds of each call, `repeats` times or more: first, second, first, second, …"""
    clock = {"timer": time.process_time} if device == "cpu" else {}  # else torch's, which waits
    timers = [Timer("call()", globals={"call": c}, num_threads=1, **clock) for c in calls]
    once = min(timer.timeit(1).mean for timer in timers)
    number = max(1, round(0.001 / once))  # a millisecond each, or the clock would show
    repeats = max(repeats, min(100, round(0.5 / (number * once))))  # more where it costs little
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for timer, found in zip(timers, seconds, strict=True):
            found.append(timer.timeit(number).mean)
    return seconds


# --------------------------------------------------------------------------- the two functions


def compare_functions(lengths: tuple[int, ...], args: argparse.Namespace) -> list[dict]:
    """Peak memory and time of naive and fused attention, each in a process of its own."""
    if args.device == "cpu" and not CLEAR.exists():
        print("Peak memory on a CPU is measured through /proc, which only Linux has: left out.")
        return []
    rows = []
    for length in tqdm(lengths, desc="lengths", leave=False):
        row: dict = {"length": length}
        for how in ("naive", "fused"):
            if how == "naive" and length > NAIVE_LIMIT[args.device]:
                continue
            command = [sys.executable, __file__, "--memory-of", how, str(length)]
            command += ["--device", args.device, "--dtype", args.dtype]
            command += ["--repeats", str(args.repeats)]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            row[how] = json.loads(output)
        rows.append(row)
    return rows


def long_attention(how: str, length: int, device: str, dtype: torch.dtype, repeats: int) -> dict:
    """One head of width 64 over a sequence: peak memory beyond the inputs, and time."""
    torch.manual_seed(0)
    attend = {"naive": naive, "fused": F.scaled_dot_product_attention}[how]

    def inputs(T: int) -> list[Tensor]:
        return [torch.randn(1, 1, T, 64, device=device, dtype=dtype) for _ in range(3)]

    with torch.no_grad():
        attend(*inputs(16))  # whatever is loaded at the first call does not count
        q, k, v = inputs(length)
        reset_peak(device)
        before = peak(device)
        attend(q, k, v)
        used = peak(device) - before
        (seconds,) = by_turns([lambda: attend(q, k, v)], repeats, device)
    return {"MiB": round(used / 2**20, 1), "microseconds": microseconds(min(seconds))}


def naive(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """As in the textbook: the whole matrix of scores, the whole matrix of weights."""
    return (q @ k.mT * q.shape[-1] ** -0.5).softmax(dim=-1) @ v


def reset_peak(device: str) -> None:
    """Let the largest memory so far be what is in use now."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    else:
        CLEAR.write_text("5", encoding="utf-8")


def peak(device: str) -> int:
    """The most memory in use since the reset, in bytes."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


# --------------------------------------------------------------------------- words and tables


def machine(device: str) -> str:
    """What was measured on, in words."""
    if device == "cuda":
        name = torch.cuda.get_device_name()
    else:
        info = Path("/proc/cpuinfo")
        lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
        name = f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"
    threads = torch.get_num_threads()
    return f"{name}, {threads} thread{'s'[: threads - 1]}, torch {torch.__version__.split('+')[0]}"


def microseconds(seconds: float) -> float:
    """Three digits are what repeats."""
    return float(f"{seconds * 1e6:.3g}")


def show(results: dict) -> None:
    """Print what was found."""
    print(f"{results['machine']}, {results['dtype']}, smallest of {results['repeats']} or more")
    print("batch length width  mask    pass              ours µs   torch µs  ratio")
    for row in results["modules"]:
        mask = "causal" if row["causal"] else "none"
        kind = "forward+backward" if row["backward"] else "forward"
        print(
            f"{row['batch']:5} {row['length']:6} {row['width']:5}  {mask:6}  {kind:16} "
            f"{row['ours']:9.0f} {row['torch']:10.0f}  {row['ratio']:5.2f}"
        )
    print(f"median ratio {results['median ratio']:.2f}")
    print("length   naive MiB  fused MiB   naive µs   fused µs")
    for row in results["functions"]:
        cells = [
            f"{row[how][unit]:{width}.{digits}f}" if how in row else "too large".rjust(width)
            for unit, digits, width in (("MiB", 1, 10), ("microseconds", 0, 10))
            for how in ("naive", "fused")
        ]
        print(f"{row['length']:6}  {' '.join(cells)}")


if __name__ == "__main__":
    main()
