"""Put the entries of `pages/references.bib` in the order of their keys; `make format` does it.

With `--check` nothing is written, and entries out of order or there twice are named.
"""

import re
import sys
from itertools import pairwise
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "pages" / "references.bib"
KEY = re.compile(r"@\w+\{([^,]+),")


def ordered(text: str) -> tuple[str, list[str]]:
    """The text with its entries in order, and what was wrong with it."""
    head, *entries = re.split(r"^(?=@)", text, flags=re.MULTILINE)
    keys = [KEY.match(entry)[1] for entry in entries]
    wrong = [f"{key} stands there twice" for key in sorted(set(keys)) if keys.count(key) > 1]
    wrong += [f"{b} stands after {a}" for a, b in pairwise(keys) if b < a]
    entries = [entry.strip() + "\n" for _, entry in sorted(zip(keys, entries, strict=True))]
    return head.strip() + "\n\n" + "\n".join(entries), wrong


def main(check: bool) -> int:
    """Order the file, or only say what is out of order."""
    text, wrong = ordered(SOURCES.read_text(encoding="utf-8"))
    for line in wrong if check else []:
        print(f"pages/references.bib: {line}; run: make format")
    if not check:
        SOURCES.write_text(text, encoding="utf-8")
    return 1 if check and wrong else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
