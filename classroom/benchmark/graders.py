"""The class grader beside nbgrader and otter-grader: `python classroom/benchmark/graders.py`.

All three grade the same notebooks of one small exercise (`stable_softmax`, 10 points, and
`query_context`, 4 points) on cases of the same kind: first honest and wrong ones, for the time, in
two forms, one that imports NumPy alone and one that imports torch too; then hostile ones, for what
each scores. nbgrader and otter-grader are installed into a throw-away
environment that sees the course's packages, so that torch is not installed twice; nothing of them
goes into the course's own environment.

Rounds of 25 submissions of each form are graded by each tool in turn, so that what else the machine
does falls on all of them alike; otter-grader, the slowest, gets three of each round. What comes out
stands in `classroom/benchmark/graders.json`, and as tables for the grading reference in
`classroom/benchmark/graders.md`.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("graders.json")
LIMIT = 240
ROUND = 25
OTTER_EACH = 3

FIRST = "import os\nimport numpy as np\nimport torch\nfrom grading import check, progress"
FORMS = {"NumPy": "import os\nimport numpy as np", "torch": FIRST}
"""The first cell of a notebook that is graded for the time, by what it imports."""
START = "import classroom.cli"
"""What the command does once, however many submissions there are."""
RIGHT = {
    "stable_softmax": "def stable_softmax(scores):\n"
    "    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
    "    return exp / exp.sum(axis=-1, keepdims=True)",
    "query_context": "query_context = [2.0, 1.0]",
}
WRONG = {
    "stable_softmax": "def stable_softmax(scores):\n    return np.zeros_like(scores)",
    "query_context": "query_context = [4.0, 2.0]",
}
TESTS = {
    "stable_softmax": """\
def _wanted(scores):
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True)
_rng = np.random.default_rng(7)
_cases = [np.array([[0.0, np.log(3.0)]]), _rng.normal(size=(3, 3)), _rng.normal(size=(2, 5))]
_cases += [_rng.normal(size=(2, 3, 4)), _rng.normal(size=(2, 3)) + [[1000.0], [-1000.0]]]
for _scores in _cases:
    assert np.allclose(stable_softmax(_scores.copy()), _wanted(_scores), rtol=1e-4, atol=1e-5)
""",
    "query_context": "assert query_context == [2.0, 1.0]\n",
}
POINTS = {"stable_softmax": 10, "query_context": 4}
ALL_RIGHT = (RIGHT, (), 14)
HONEST = RIGHT | {"query_context": WRONG["query_context"]}  # 10 points
HOSTILE = {
    "model answers": ALL_RIGHT,
    "untouched": (
        {
            "stable_softmax": "def stable_softmax(scores):\n    pass",
            "query_context": "query_context = ...",
        },
        (),
        0,
    ),
    "wrong, but np.allclose always says True": (
        WRONG,
        ("np.allclose = torch.allclose = lambda *a, **k: True",),
        0,
    ),
    "an object that equals everything": (
        RIGHT
        | {
            "query_context": "class Yes:\n    def __eq__(self, other): return True\n"
            "    __hash__ = None\nquery_context = Yes()"
        },
        (),
        10,
    ),
    "reads the teacher's file of answers": (
        RIGHT | {"query_context": "import json\nquery_context = json.load(open(TEACHER))"},
        (),
        10,
    ),
    "changes other students' grades": (
        WRONG,
        (
            "import sqlite3\ntry:\n    base = sqlite3.connect(BOOK)\n"
            "    base.execute('UPDATE grade SET manual_score = 99')\n    base.commit()\n"
            "except sqlite3.Error:\n    pass",
        ),
        0,
    ),
    "endless loop in a cell": (RIGHT, ("while True: pass",), 14),
    "os._exit in a cell": (RIGHT, ("os._exit(0)",), 14),
    "takes all memory": (
        RIGHT,
        ("kept = []\nwhile len(kept) < 100:\n    kept.append(np.ones(8_000_000))",),
        14,
    ),
    "prints 100 MB": (RIGHT, ("for _ in range(100): print('x' * 1_000_000)",), 14),
    "a warning, and a cell that raises": (
        RIGHT,
        ("import warnings; warnings.warn('careful')", "1 / 0"),
        14,
    ),
    "answer cell twice": ("twice", (), 14),
    "ids and metadata lost": ("bare", (), 14),
}
OURS, OURS_ALONE = "this grader", "this grader, one worker"
NBGRADER, OTTER = "nbgrader", "otter-grader"


def code(source: str, **metadata: object) -> dict:
    """A code cell."""
    return {
        "cell_type": "code",
        "id": metadata.get("nbgrader", {}).get("grade_id", f"c{abs(hash(source)) % 10**9}"),
        "metadata": metadata,
        "outputs": [],
        "execution_count": None,
        "source": source,
    }


def nbgrader_cell(source: str, name: str, grade: bool) -> dict:
    """A code cell as nbgrader marks it: an answer, or tests."""
    marks = {"grade": grade, "solution": not grade, "locked": grade, "task": False}
    more = {"points": POINTS[name]} if grade else {}
    grade_id = f"test_{name}" if grade else name
    return code(source, nbgrader={**marks, **more, "grade_id": grade_id, "schema_version": 3})


def notebook(
    answers: dict, before: tuple = (), tests: bool = True, places: str = "", first: str = FIRST
) -> dict:
    """A notebook; the student's has the tests too, where nbgrader expects them to be."""
    cells = [code(first + places), *(code(source) for source in before)]
    for name, source in answers.items():
        cells.append(nbgrader_cell(source, name, grade=False))
        hidden = f"### BEGIN HIDDEN TESTS\n{TESTS[name]}### END HIDDEN TESTS"
        cells.append(nbgrader_cell(hidden if tests else "", name, grade=True))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": whole, "cells": cells}


def hostile(kind: str, places: str) -> dict:
    """The notebook of a hostile case."""
    answers, before, _ = HOSTILE[kind]
    made = notebook(RIGHT if isinstance(answers, str) else answers, before, False, places)
    if answers == "twice":
        made["cells"].insert(2, made["cells"][1])
    elif answers == "bare":
        for cell in made["cells"]:
            cell["metadata"] = {}
    return made


class Bench:
    """The three tools, each with a folder of its own."""

    def __init__(self, folder: Path, environment: Path):
        self.folder, self.bin = folder, environment / "bin"
        self.env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        self.env |= {"OMP_NUM_THREADS": "1", "LAMPLIGHT_QUIET": "1", "PYTHONHASHSEED": "0"}
        self.env |= {"JUPYTER_PLATFORM_DIRS": "1", "PYTHONPATH": str(ROOT)}
        self.env |= {"HOME": str(folder / "home"), "IPYTHONDIR": str(folder / "home")}
        (folder / "home").mkdir(parents=True)

    def call(self, *command: object, cwd: Path, limit: float = LIMIT) -> float:
        """Run a command, whatever comes of it, and return the seconds."""
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd,
            env=self.env,
            stdout=open(self.folder / "log", "ab"),  # noqa: SIM115
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
        return time.perf_counter() - start

    def course(self, name: str) -> Path:
        """A course of nbgrader's with the assignment released."""
        course = self.folder / name
        (course / "source" / "a1").mkdir(parents=True)
        config = "c = get_config()\nc.CourseDirectory.course_id = 'course'\n"
        config += "c.ExecutePreprocessor.timeout = 20\nc.Execute.timeout = 20\n"
        (course / "nbgrader_config.py").write_text(config)
        (course / "source" / "a1" / "nb.ipynb").write_text(json.dumps(notebook(RIGHT)))
        self.call("nbgrader", "generate_assignment", "a1", "--force", cwd=course)
        return course

    def nbgrader(self, course: Path, students: str, limit: float = LIMIT) -> float:
        """Grade the students that fit a pattern; the seconds."""
        command = ("nbgrader", "autograde", "a1", f"--student={students}")
        return self.call(*command, cwd=course, limit=limit)

    def nbgrader_scores(self, course: Path) -> dict[str, float]:
        """What its gradebook says of those whose notebook it could grade."""
        table = course / "out.csv"
        self.call("nbgrader", "export", f"--to={table}", cwd=course)
        if not table.exists():
            return {}
        with open(table, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        graded = {path.name for path in (course / "autograded").glob("*") if any(path.glob("*/*"))}
        return {r["student_id"]: float(r["score"]) for r in rows if r["student_id"] in graded}

    def otter_zip(self) -> Path:
        """Its autograder, with the same tests as doctests."""
        made = self.folder / "otter"
        (made / "tests").mkdir(parents=True)
        for name, source in TESTS.items():
            lines = source.splitlines()
            text = "\n".join(("... " if x.startswith(" ") else ">>> ") + x for x in lines)
            case = {"code": text, "hidden": True, "locked": False}
            suite = {
                "cases": [case],
                "scored": True,
                "setup": "",
                "teardown": "",
                "type": "doctest",
            }
            test = {"name": name, "points": POINTS[name], "suites": [suite]}
            place = made / "tests" / f"{name}.py"
            place.write_text(f"OK_FORMAT = True\ntest = {test!r}\n", encoding="utf-8")
        self.call("otter", "generate", "-t", "tests", "-o", "autograder.zip", cwd=made)
        return made / "autograder.zip"

    def otter(self, zipped: Path, path: Path) -> tuple[float, float | None]:
        """Grade one notebook: seconds and score."""
        out = self.folder / "otter-out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        options = ("--no-logo", "-a", zipped, "-o", out)
        seconds = self.call("otter", "run", *options, path, cwd=self.folder)
        results = out / "results.json"
        if not results.exists():
            return seconds, None
        tests = json.loads(results.read_text())["tests"]
        return seconds, sum(t.get("score", 0) for t in tests if t.get("name") in POINTS)

    def ours(self, source: Path, out: Path, *options: object) -> tuple[float, dict[str, float]]:
        """Grade a folder: seconds, and scores by student."""
        command = (sys.executable, "-m", "classroom", source, "--out", out, "--lecture", 2)
        seconds = self.call(*command, "--seed", 7, *options, cwd=ROOT, limit=3600)
        with open(out / "grades.csv", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
        names = POINTS  # other tasks of the lecture are not in these notebooks
        scores = {r["id"]: sum(float(r[n] or 0) for n in names) for r in rows}
        return seconds, scores


def environment(folder: Path) -> Path:
    """A throw-away environment with the two other graders, beside the course's packages."""
    place = folder / "venv"
    if not (place / "bin" / "otter").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        pip = [place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "nbgrader", "otter-grader"], check=True)
    [packages] = place.glob("lib/python*/site-packages")
    (packages / "course.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


def time_all(bench: Bench, zipped: Path, count: int) -> list[dict[str, object]]:
    """Seconds of each tool for each round, and how many submissions it graded in them."""
    course, found = bench.course("timed"), []
    parts = [range(start, min(start + ROUND, count)) for start in range(0, count, ROUND)]
    rounds = [(members, form) for members in parts for form in FORMS]
    for number, (members, form) in enumerate(tqdm(rounds, desc="rounds", unit="round")):
        folder = bench.folder / f"round{number}"
        folder.mkdir()
        wanted = {}
        for member in members:
            answers = RIGHT if member % 2 else RIGHT | {"query_context": WRONG["query_context"]}
            made = notebook(answers, (f"# {member}",), tests=False, first=FORMS[form])
            text = json.dumps(made)
            name = f"r{number}s{member}"
            wanted[name] = 14.0 if member % 2 else 10.0
            (folder / f"{name}.ipynb").write_text(text)
            place = course / "submitted" / name / "a1"
            place.mkdir(parents=True)
            (place / "nb.ipynb").write_text(text)

        def add(tool: str, seconds: float, graded: int, scores: dict, expected: dict) -> None:
            right = sum(scores.get(name) == score for name, score in expected.items())
            seconds = round(seconds, 1)
            row = {"tool": tool, "seconds": seconds, "submissions": graded, "right": right}
            found.append(row)
            print(row, flush=True)

        before = len(found)
        for tool, options in ((OURS, ()), (NBGRADER, None), (OURS_ALONE, ("--jobs", 1))):
            if options is None:
                seconds = bench.nbgrader(course, f"r{number}s*", 3600)
                scores = bench.nbgrader_scores(course)
                scores = {name: score for name, score in scores.items() if name in wanted}
            else:
                out = bench.folder / f"{folder.name}-{len(options)}"
                seconds, scores = bench.ours(folder, out, *options)
            add(tool, seconds, len(members), scores, wanted)
        few = list(wanted)[:OTTER_EACH]
        taken = {name: bench.otter(zipped, folder / f"{name}.ipynb") for name in few}
        seconds = sum(one for one, _ in taken.values())
        scores = {name: score for name, (_, score) in taken.items()}
        add(OTTER, seconds, len(few), scores, {name: wanted[name] for name in few})
        found[before:] = [{"form": form, **row} for row in found[before:]]
    return found


def try_hostile(bench: Bench, zipped: Path, kinds: list[str]) -> dict[str, dict[str, object]]:
    """What each tool scores for each hostile submission, handed in beside an honest classmate."""
    found: dict[str, dict[str, object]] = {}
    for number, kind in enumerate(tqdm(kinds, desc="hostile", unit="case")):
        course = bench.course(f"hostile{number}")
        teacher = course / "answers.json"
        teacher.write_text(json.dumps([2.0, 1.0]))
        folder = course / "for-us"
        folder.mkdir()
        row: dict[str, object] = {"fair": HOSTILE[kind][2]}
        places = f"\nTEACHER = {str(teacher)!r}\nBOOK = {str(course / 'gradebook.db')!r}"
        for name, made in {
            "mallory": hostile(kind, places),
            "alice": notebook(HONEST, ("# honest",), tests=False),
        }.items():
            (folder / f"{name}.ipynb").write_text(json.dumps(made))
            place = course / "submitted" / name / "a1"
            place.mkdir(parents=True)
            (place / "nb.ipynb").write_text(json.dumps(made))
        out = bench.folder / f"hostile-out{number}"
        seconds, scores = bench.ours(folder, out)
        row["this grader"] = _said(scores, seconds)
        seconds = bench.nbgrader(course, "*")
        row["nbgrader"] = _said(bench.nbgrader_scores(course), seconds)
        seconds, score = bench.otter(zipped, folder / "mallory.ipynb")
        row["otter-grader"] = {"score": score, "seconds": round(seconds, 1)}
        found[kind] = row
    return found


def _said(scores: dict[str, float], seconds: float) -> dict[str, object]:
    """The scores of the hostile one and of its classmate, and the seconds for both."""
    return {
        "score": scores.get("mallory"),
        "classmate": scores.get("alice"),
        "seconds": round(seconds, 1),
    }


def seconds_each(results: dict) -> dict[tuple[str, str], tuple[float, int, float, int]]:
    """By form and tool: seconds per submission, submissions, seconds in all, and right scores."""
    per = {}
    for place in itertools.product(FORMS, (OURS, OURS_ALONE, NBGRADER, OTTER)):
        rows = [row for row in results["time"]["rounds"] if (row["form"], row["tool"]) == place]
        keys = ("seconds", "submissions", "right")
        seconds, graded, right = (sum(row[key] for row in rows) for key in keys)
        per[place] = seconds / graded, graded, seconds, right
    return per


def tables(results: dict) -> str:
    """What was found, as Markdown."""
    found, per = results["time"], seconds_each(results)
    first, last = found["load"]
    lines = [
        f"We measured with {found['system']} and {found['cores']} cores, on a machine that did "
        f"other work too: its load average was {first:g} at the start and {last:g} at the end.",
        f"This grader needs {found['start']:.1f} s to start, once per class; the times include it.",
        "",
        "| imports | tool | submissions | scored correctly | seconds in all | each "
        "| relative to nbgrader |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for (form, tool), (each, graded, seconds, right) in per.items():
        share = f"{each / per[form, NBGRADER][0]:.2f}"
        numbers = f"{graded} | {right} | {seconds:.0f} | {each:.2f} | {share}"
        lines.append(f"| {form} | {tool} | {numbers} |")
    lines += [
        "",
        "These are the scores, out of 14 points, for ordinary, damaged and hostile submissions:",
        "",
        "| submission | fair | this grader | nbgrader | otter-grader |",
        "|---|---:|---|---|---|",
    ]
    for kind, row in results["hostile"].items():
        cells = [_cell(row[tool]) for tool in (OURS, NBGRADER, OTTER)]
        lines.append(f"| {kind} | {row['fair']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(found: dict) -> str:
    """A score, and what else happened."""
    score = found["score"]
    said = "no result" if score is None else f"{score:g}"
    if found.get("classmate", 10) is None:
        said += "; no result for the classmate"
    elif found.get("classmate", 10) != 10:
        said += f"; the classmate's 10 became {found['classmate']:g}"
    if found["seconds"] >= LIMIT:
        said += f"; stopped from outside after {found['seconds']:.0f} s"
    return said


def main() -> None:
    """Measure, and store what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--environment", type=Path, help="where to make or find the environment")
    parser.add_argument("--only", choices=("time", "hostile", "tables"))
    parser.add_argument("--case", action="append", choices=HOSTILE, help="only these hostile ones")
    given = parser.parse_args()
    if given.only == "tables":
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
        RESULTS.with_suffix(".md").write_text(tables(results), encoding="utf-8")
        return
    with tempfile.TemporaryDirectory(prefix="graders-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        bench = Bench(folder / "bench", environment(given.environment or folder))
        zipped = bench.otter_zip()
        results: dict = {}
        if given.only != "hostile":
            before = os.getloadavg()[0]
            starts = [bench.call(sys.executable, "-c", START, cwd=ROOT) for _ in range(3)]
            rounds = time_all(bench, zipped, given.count)
            results["time"] = {
                "system": f"{platform.system()}, Python {platform.python_version()}",
                "cores": len(os.sched_getaffinity(0)),
                "load": [round(before, 1), round(os.getloadavg()[0], 1)],
                "start": round(statistics.median(starts), 1),
                "rounds": rounds,
            }
        if given.only != "time":
            results["hostile"] = try_hostile(bench, zipped, given.case or list(HOSTILE))
    if RESULTS.exists():
        stored = json.loads(RESULTS.read_text(encoding="utf-8"))
        results["hostile"] = stored.get("hostile", {}) | results.get("hostile", {})
        results = stored | results
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if {"time", "hostile"} <= set(results):
        RESULTS.with_suffix(".md").write_text(tables(results), encoding="utf-8")
    print(f"Stored in {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
