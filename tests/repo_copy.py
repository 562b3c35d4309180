"""Copies of the repository to spoil or to install from, without touching the original."""

import shutil
import subprocess
from pathlib import Path

from tests.conftest import ROOT


def project_files() -> list[Path]:
    """Every file that is, or would be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def copy_project(target: Path, without: tuple[str, ...] = ()) -> Path:
    """Copy the project, leaving out folders at the top that the purpose does not need."""
    for path in project_files():
        relative = path.relative_to(ROOT)
        if relative.parts[0] not in without:
            (target / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target / relative)
    return target
