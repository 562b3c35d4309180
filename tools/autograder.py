"""The zip that Gradescope takes: `python tools/autograder.py LECTURE [--seed N] [--policy FILE]`.

It holds the tasks with their answers and the seed of the hidden cases: keep it to yourself.
"""

import argparse
import secrets
import tomllib
import zipfile
from collections.abc import Iterable
from importlib.metadata import packages_distributions, version
from pathlib import Path

from classroom.policy import Policy, possible_points, read_policy
from classroom.private_tasks import applied
from grading.task import all_tasks

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("grading", "classroom", "helpers", "exercises", "solutions")
SCRIPTS = ROOT / "classroom" / "lms" / "gradescope"
FILES = ("requirements.txt", "_config.yml")  # what is installed; where the lectures stand
LEFT_OUT = {"__pycache__", ".ipynb_checkpoints", "benchmark"}


def make(path: Path, lecture: int, seed: int, policy: Path | None = None) -> None:
    """Write the zip, with the two scripts at its top.

    Raises:
        ValueError: if there is no sheet for this lecture, or the policy names files of yours.
    """
    sheets = {int(sheet.name[:2]) for sheet in (ROOT / "exercises").glob("*.ipynb")}
    if lecture not in sheets:
        raise ValueError(f"there is no sheet {lecture}; the sheets are {sorted(sheets)}")
    given = tomllib.loads(policy.read_text(encoding="utf-8")) if policy else {}
    own = [name for name in ("roster", "private") if given.get(name)]
    own += ["late.times"] * (given.get("late", {}).get("times", "files") not in ("files", "moodle"))
    rules = given.get("sheets", {}).values()
    own += ["extensions"] * any("extensions" in sheet for sheet in rules)
    if own:
        wanted = "the zip must not hold what is yours alone; make a copy of the policy without them"
        raise ValueError(f"{policy.name} names {', '.join(own)}: {wanted}")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for folder in FOLDERS:
            for file in sorted((ROOT / folder).rglob("*")):
                if file.is_file() and not LEFT_OUT & set(file.parts):
                    archive.write(file, file.relative_to(ROOT))
        for name in FILES:
            archive.writestr(name, as_on_linux(ROOT / name))
        settings = f"LECTURE={lecture}\nSEED={seed}\n"
        if wanted := " ".join(installed(given.get("packages", ()))):
            settings += f"PACKAGES='{wanted}'\n"
        archive.writestr("gradescope/settings.sh", settings)
        if policy is not None:
            archive.write(policy, "gradescope/class.toml")
        for script in ("setup.sh", "run_autograder"):
            entry = zipfile.ZipInfo(script)
            entry.external_attr = 0o755 << 16
            archive.writestr(entry, as_on_linux(SCRIPTS / script))


def installed(names: Iterable[str]) -> list[str]:
    """What pip has to install so that packages can be imported, in the versions that are here."""
    known = packages_distributions()
    found = {one for name in names for one in known.get(name.partition(".")[0], ())}
    return [f"{one}=={version(one).partition('+')[0]}" for one in sorted(found)]


def as_on_linux(file: Path) -> bytes:
    """The content of a text file, which git on Windows may have given other line ends."""
    return file.read_bytes().replace(b"\r\n", b"\n")


def possible(lecture: int, policy: Path | None = None) -> tuple[float, dict[str, float]]:
    """The points of a sheet, without bonus tasks; and by written task, those that are in them.

    Raises:
        ValueError: if the policy names what is not there.
    """
    rules = read_policy(policy, deadlines=False) if policy else Policy()
    tasks = applied(rules, all_tasks())
    points = possible_points(rules, tasks, lecture)
    return sum(points.values()), {n: p for n, p in points.items() if tasks[n].kind == "written"}


def without_effect(policy: Path) -> list[str]:
    """What a policy sets about deadlines, which are Gradescope's there."""
    given = tomllib.loads(policy.read_text(encoding="utf-8"))
    due = any("due" in rules for rules in given.get("sheets", {}).values())
    return ["due"] * due + list(given.get("late", {}))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lecture", type=int)
    parser.add_argument("--seed", type=int, help="of the hidden cases (drawn if not given)")
    parser.add_argument("--policy", type=Path, help="your class.toml")
    parser.add_argument("--out", type=Path, default=ROOT / "autograder.zip")
    given = parser.parse_args()
    seed = secrets.randbits(128) if given.seed is None else given.seed
    try:
        points, written = possible(given.lecture, given.policy)
        make(given.out, given.lecture, seed, given.policy)
    except (ValueError, OSError) as error:
        raise SystemExit(f"No zip was made: {error}") from error
    print(f"{given.out}: sheet {given.lecture}, hidden cases of seed {seed}. Keep it to yourself.")
    print(f"The same cases in a later zip: SEED={seed}. Autograder points: {points:g}")
    for name, of in written.items():
        said = f"{of:g} of them are of the written task `{name}`, which has 0 points there"
        other = f"type {of:g} less and add a question of {of:g} points that is graded by hand"
        print(f"{said}: exclude it in the policy, or {other}.")
    if given.policy and (names := without_effect(given.policy)):
        print(f"Not used in Gradescope, which has deadlines of its own: {', '.join(names)}.")


if __name__ == "__main__":
    main()
