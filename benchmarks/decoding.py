"""Writing token by token with and without a key-value cache, measured.

    python benchmarks/decoding.py            the stored table, a minute or two
    python benchmarks/decoding.py --quick    a few tokens, to see that it works; stores nothing

Both ways write the same tokens, the likeliest one each time, after the same beginning of one
token; that they are the same is checked first. They are called by turns in one process, at one
thread. A time is the smallest of the repeats, and counts while the process was computing, as in
`benchmarks/attention.py`. Results go to `benchmarks/results/decoding.json`, from which the page
*Benchmarks* is built.
"""

import argparse
import json
import os
from functools import partial
from pathlib import Path

import torch
from attention import HEAD_WIDTH, RESULTS, by_turns, machine, microseconds
from tqdm import tqdm

from helpers.config import TransformerConfig
from helpers.generation import generate
from helpers.models import LanguageModel

SIZES = ((64, 2), (128, 4))
"""Width and number of layers."""

TOKENS = (64, 128, 256, 512)
VOCAB = 100


def main() -> None:
    """Measure, print, store."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few tokens; nothing is stored")
    parser.add_argument("--repeats", type=int, default=7, help="at least 5 for stored results")
    parser.add_argument("--output", type=Path, default=RESULTS / "decoding.json")
    args = parser.parse_args()
    torch.set_num_threads(1)
    load = [os.getloadavg()[0]] if hasattr(os, "getloadavg") else []
    cases = [(*size, n) for size in SIZES for n in ((8,) if args.quick else TOKENS)]
    repeats = min(args.repeats, 2) if args.quick else args.repeats
    rows = [compare(*case, repeats) for case in tqdm(cases, desc="sizes", leave=False)]
    load += [os.getloadavg()[0]] if load else []
    results = {
        "machine": machine("cpu"),
        "load": [round(x, 1) for x in load],
        "dtype": "float32",
        "repeats": repeats,
        "head width": HEAD_WIDTH,
        "vocab": VOCAB,
        "rows": rows,
    }
    show(results)
    if not args.quick or args.output != parser.get_default("output"):
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(f"Stored in {args.output}")


def compare(width: int, layers: int, tokens: int, repeats: int) -> dict:
    """One model, one number of tokens to write: both times and their ratio."""
    torch.manual_seed(0)
    sizes = {"context_length": tokens + 1, "learned_positions": True}
    config = TransformerConfig(VOCAB, width, layers, width // HEAD_WIDTH, **sizes)
    model = LanguageModel(config).eval()
    begin = torch.ones(1, 1, dtype=torch.long)
    write = partial(generate, model, begin, tokens, temperature=0.0)
    check(model, write(use_cache=True), write(use_cache=False))
    ways = [partial(write, use_cache=use_cache) for use_cache in (True, False)]
    cached, uncached = (min(times) for times in by_turns(ways, repeats, "cpu"))
    return {
        "width": width,
        "layers": layers,
        "tokens": tokens,
        "with cache": microseconds(cached),
        "without": microseconds(uncached),
        "ratio": round(uncached / cached, 2),
    }


@torch.no_grad()
def check(model: LanguageModel, with_cache: torch.Tensor, without: torch.Tensor) -> None:
    """The same tokens, and the same logits up to rounding."""
    torch.testing.assert_close(with_cache, without)
    cache = model.new_cache()
    step_by_step = torch.cat([model(one, cache=cache) for one in with_cache.split(1, dim=1)], dim=1)
    torch.testing.assert_close(step_by_step, model(without), atol=1e-5, rtol=1e-5)


def show(results: dict) -> None:
    """Print what was found."""
    print(f"{results['machine']}, {results['dtype']}, smallest of {results['repeats']} or more")
    print("width layers tokens   with cache ms   without ms   without ÷ with")
    for row in results["rows"]:
        print(
            f"{row['width']:5} {row['layers']:6} {row['tokens']:6} "
            f"{row['with cache'] / 1000:15.1f} {row['without'] / 1000:12.1f} {row['ratio']:16.2f}"
        )


if __name__ == "__main__":
    main()
