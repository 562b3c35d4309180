"""The course's own sentences as a text for models to learn from: `python tools/prose.py`.

Writes `helpers/results/stored/prose.txt`, one paragraph a line, from the Markdown of the lectures.
What is no plain English is left out: headings, tables, quotations, code, and each sentence with a
formula, a citation, an address or a sign that is rare. The file need not follow every change of a
lecture.
"""

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "helpers" / "results" / "stored" / "prose.txt"
APART = re.compile(r"```.*?```|\$\$.*?\$\$", re.DOTALL)
NOT_PROSE = re.compile(r"\s*(#|\||:::|>|\[!\[|<|\*\d+ minutes|Time:)")
TERM = re.compile(r"\{term\}`([^`<]*?)(?: <[^`]*>)?`")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
EMPHASIS = re.compile(r"\*{1,2}([^*`]+)\*{1,2}")
PLAIN = re.compile(r"""[A-Z][A-Za-z0-9 .,;:?!()'"-]*[.?!]""")


def paragraphs(markdown: str) -> list[str]:
    """The plain sentences of a cell, those of each paragraph or item of a list in one line."""
    found = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:-|\d+\.) )", APART.sub("", markdown)):
        if NOT_PROSE.match(block):
            continue
        text = EMPHASIS.sub(r"\1", LINK.sub(r"\1", TERM.sub(r"\1", block)))
        text = " ".join(re.sub(r"^\s*(?:-|\d+\.) ", "", text).split())
        sentences = re.split(r"(?<=[.?!]) (?=[^a-z])", text)
        found.append(" ".join(filter(PLAIN.fullmatch, sentences)))
    return [text for text in found if text]


def main() -> None:
    """Write the file."""
    lines = []
    for path in sorted((ROOT / "lectures").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                lines += paragraphs(cell.source)
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {len(lines):,} paragraphs")


if __name__ == "__main__":
    main()
