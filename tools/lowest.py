"""Try the code with the lowest versions that `pyproject.toml` allows: `python tools/lowest.py`.

Run it with an environment of its own that has uv: the versions are installed there. Promised is
that the code runs: the tests of the helpers pass, and two lectures run. The stored outputs are
those of the pinned versions, so they are not compared.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LECTURES = ("02_*", "04_*")
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
TOOLS = ("pytest", "nbval", "hypothesis", "jaxtyping", "beartype", "psutil", "pyyaml", "ipykernel")


BEYOND = re.compile(
    r"^ *(from|import) (axe_playwright_python|playwright|tokenizers|safetensors|transformers|gguf"
    r"|nbformat|grading|classroom|experiments|tools|benchmarks|tests\.helpers\.test_pretrained)\b",
    re.MULTILINE,
)
"""Left out: tests of other packages and of pages, and those whose reference is Hugging Face's."""
HELPERS = re.compile(r"^(from|import) helpers\b", re.MULTILINE)


def tests() -> list[str]:
    """The files of tests that import the helpers, and nothing of the course besides."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    plain = [p for p, text in texts.items() if HELPERS.search(text) and not BEYOND.search(text)]
    return [path.relative_to(ROOT).as_posix() for path in plain]


def main() -> int:
    """Install, then run."""
    install = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable]
    lowest = ["--resolution", "lowest-direct", "--extra-index-url", CPU_INDEX]
    lowest += ["--index-strategy", "unsafe-best-match", f"{ROOT}[spacy,scores]"]
    pytest = [sys.executable, "-m", "pytest", "-q", "--outputs-may-differ"]
    lectures = [str(path) for name in LECTURES for path in ROOT.glob(f"lectures/{name}.ipynb")]
    for command in (
        [*install, *lowest],
        [*install, *TOOLS],
        [*pytest, "-m", "not full and not grader", *tests()],
        [*pytest, *lectures],
    ):
        if code := subprocess.call(command, cwd=ROOT):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
