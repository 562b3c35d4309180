"""Pin what `requirements/*.in` asks for: `python tools/pins.py [--upgrade [NAME …]]`.

A resolver (`uv pip compile --universal`) looks for one version of each package that fits every
promised Python on every system. What is pinned stays, unless `--upgrade` is given. PyTorch's CUDA
libraries are left out: its build for CPUs does not need them, and pip adds them to the other.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11.2", "3.11.15", "3.12", "3.13", "3.14")
"""The oldest Python that is promised, which is Debian 12's, a late 3.11, and each later one."""
FILES = {
    "requirements/book.txt": (
        "book",
        "Who only builds the site: neither torch nor spaCy, since pages show stored outputs.",
        [],
    ),
    "requirements.txt": (
        "reader",
        "Readers and builders: the site, every notebook in Jupyter Lab, the course itself.\n"
        "# On Linux without a GPU run this first: python tools/pytorch.py",
        ["-r requirements/book.txt", "-e ."],
    ),
    "requirements/test.txt": (
        "test",
        "Contributors: what make test needs, too.",
        ["-r ../requirements.txt"],
    ),
}
CUDA = re.compile(r"(nvidia|cuda|triton)\b")


def pins(name: str) -> list[str]:
    """The lines with a version in a requirements file, as far as it is there."""
    path = ROOT / name
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [line for line in lines if "==" in line and not line.startswith("#")]


def versions(lines: list[str]) -> set[str]:
    """Packages with their versions, without the systems on which they are wanted."""
    return {line.partition(" ")[0] for line in lines}


def compiled(source: str, before: list[str], options: list[str]) -> list[str]:
    """What the resolver makes of a file in `requirements/`; what was pinned before is preferred."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "pins.txt"
        output.write_text("\n".join(before) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "uv", "pip", "compile", "--universal", "--quiet"]
        command += ["--python-version", PYTHONS[0], "--no-header", "--no-annotate"]
        command += ["--no-python-downloads", "--output-file", str(output), *options]
        subprocess.run([*command, str(ROOT / "requirements" / f"{source}.in")], check=True)
        lines = output.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not CUDA.match(line)]


def main(arguments: list[str]) -> int:
    """Write all files; the one for tests holds all, and the others take their versions from it."""
    options = ["--upgrade"] if arguments == ["--upgrade"] else []
    for name in arguments[1:]:
        options += ["--upgrade-package", name]
    try:
        whole = compiled("test", [line for name in FILES for line in pins(name)], options)
        known: set[str] = set()
        for name, (source, whose, first) in FILES.items():
            lines = compiled(source, whole, [])
            if other := versions(lines) - versions(whole):
                print(f"{name}: {', '.join(sorted(other))} would have another version in tests")
                return 1
            new = [line for line in lines if line not in known]
            head = f"# {whose}\n# Written by make pins from requirements/{source}.in."
            (ROOT / name).write_text("\n".join([head, *first, *new, ""]), encoding="utf-8")
            known |= set(lines)
            print(f"{name}: {len(new)} packages beside {', '.join(first) or 'none'}")
    except (subprocess.CalledProcessError, FileNotFoundError):
        print("The resolver found no answer, or is not there (uv of requirements/test.txt).")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
