"""The site without the model answers, for a class: `python tools/student_site.py [TARGET]`.

TARGET is a new or an empty folder; `_build/student`, if none is named, is made anew each time.

It is built from a copy in which the solutions are missing, and so are the pages about grading,
the teaching plans and the questions for an examination, so that neither a page nor the search
holds any of them, and in whose notebooks `check` does not point at them. It does not make them
secret: they stand in the public repository.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = ROOT / "_build" / "student"
LEFT_OUT = {"solutions", "grading", "classroom", "tests", "experiments", "tools"}
TEACHERS = ("grading", "grading_situations", "grading_reference")
TEACHERS += ("teaching", "sessions", "examination")
LEFT_OUT |= {f"pages/{page}.md" for page in TEACHERS}
IMPORT = '"from grading import check, progress\\n"'
README = """# Lamplight, for students

Self-attention and transformers, step by step, measured. This folder holds the site, the lectures
and the sheets of exercises.

- **Read:** open `_build/html/index.html` in a browser.
- **Do the exercises:** the sheets are in `exercises/`, one for each lecture. Open one on Colab,
  with *File*, *Upload notebook*: the first cell with code installs what it needs. Or install the
  course on your own machine, as the site's first page says under *Run*, and upload the sheet there.
- **Run a lecture:** in the same way; the lectures are in `lectures/`.
"""
KEPT_BACK = '"from grading import check, keep_back, progress\\n",\n    "keep_back()\\n"'
SAID = (
    " After a full score, or after five attempts, `check` tells you where to find the model answer."
)
BREAK = r"""(?: |\\n",\s*"  )"""
"""Between two words of a list in a notebook's file: a space, or the beginning of another line."""
POINTS_AT = re.compile(re.escape(SAID).replace(r"\ ", BREAK))
PART = re.compile(r"  - caption: For instructors\n(?:    .*\n)+")
ANSWERS = re.compile(r" +- file: solutions/.*\n +title: .*\n")
EMPTY = re.compile(r" +sections:\n(?=(?: {0,6}\S|\Z))", re.MULTILINE)
TEACH = re.compile(r"^There are \[teaching plans\].*?(?=Code: MIT)", re.DOTALL | re.MULTILINE)
LINK = re.compile(rf"\[([^\]]*)\]\((?:pages/)?(?:{'|'.join(TEACHERS)})\.md[^)]*\)")


def copy(target: Path) -> None:
    """Copy what the site is built from, without the solutions.

    Raises:
        ValueError: if a sheet does not import `check` as all do, or the table of contents has no
            such part, or names solutions elsewhere.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        mine = {name, name.split("/")[0]} & LEFT_OUT or re.fullmatch(r"benchmarks/.*\.py", name)
        if not mine and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    for sheet in sorted((target / "exercises").glob("*.ipynb")):
        text = sheet.read_text(encoding="utf-8")
        if text.count(IMPORT) != 1:
            raise ValueError(f"exercises/{sheet.name}: one line {IMPORT} was expected")
        text, count = POINTS_AT.subn("", text)
        if count != 1:
            raise ValueError(f"exercises/{sheet.name}: where `check` points was expected once")
        sheet.write_text(text.replace(IMPORT, KEPT_BACK), encoding="utf-8")
    (target / "README.md").write_text(README, encoding="utf-8")  # the course's is for teachers too
    toc = target / "_toc.yml"
    text, count = PART.subn("", toc.read_text(encoding="utf-8"))
    text = EMPTY.sub("", ANSWERS.sub("", text))
    if count != 1 or "solutions/" in text:
        wanted = "model answers, each a file with a title, and a part named 'For instructors'"
        raise ValueError(f"_toc.yml: {wanted} were expected")
    toc.write_text(text, encoding="utf-8")
    index = target / "index.md"
    text, count = TEACH.subn("", index.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(
            "index.md: a paragraph that begins with 'There are [teaching plans]' is gone"
        )
    index.write_text(text, encoding="utf-8")
    for page in [
        *target.glob("*.md"),
        *target.glob("pages/*.md"),
    ]:
        page.write_text(LINK.sub(r"\1", page.read_text(encoding="utf-8")), encoding="utf-8")


def chosen(arguments: list[str]) -> Path:
    """The folder for the copy. Only the default one is cleared: another may hold anything.

    Raises:
        ValueError: if the folder that was named holds something already.
    """
    if not arguments:
        shutil.rmtree(DEFAULT, ignore_errors=True)
        return DEFAULT
    target = Path(arguments[0])
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ValueError(f"TARGET: {target} is not empty; a new or an empty folder is needed")
    return target


def main() -> int:
    """Copy and build."""
    target = chosen(sys.argv[1:])
    copy(target)
    book = [Path(sys.executable).with_name("jupyter-book"), "build", "-W", "-n", "--keep-going"]
    code = subprocess.run([*book, "--quiet", "."], cwd=target).returncode
    if not code:
        print(f"The site without model answers: {target / '_build' / 'html' / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
