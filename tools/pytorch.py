"""Install PyTorch, pinned, in the build that fits the machine: `python tools/pytorch.py [--cuda]`.

From the usual index pip takes, on Linux, a build with several gigabytes of CUDA libraries. Where no
NVIDIA GPU is to be seen, the same version is taken from PyTorch's own index of builds for CPUs; if
that cannot be reached, pip's usual way is taken. On macOS and Windows the usual build is already
the one for CPUs.
"""

import importlib.metadata
import platform
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PROBE_SECONDS = 5


def pinned() -> str:
    """The requirement, as it stands in requirements.txt."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return re.search(r"^torch==\S+", lines, re.MULTILINE)[0]


def installed(requirement: str) -> bool:
    """Whether that version is there already, in whatever build."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return False
    return version.split("+")[0] == requirement.removeprefix("torch==")


def wants_cpu_build(arguments: list[str]) -> bool:
    """Linux without a sign of an NVIDIA GPU, and nobody asked for CUDA."""
    has_gpu = shutil.which("nvidia-smi") or Path("/proc/driver/nvidia").exists()
    return platform.system() == "Linux" and not has_gpu and "--cuda" not in arguments


def reachable(index: str) -> bool:
    """A short look whether the index answers."""
    try:
        with urllib.request.urlopen(f"{index}/torch/", timeout=PROBE_SECONDS) as answer:
            return answer.status == 200
    except OSError:
        return False


def main(arguments: list[str]) -> int:
    """Install it, unless it is there."""
    requirement = pinned()
    if installed(requirement):
        return 0
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    where = (
        ["--index-url", CPU_INDEX] if wants_cpu_build(arguments) and reachable(CPU_INDEX) else []
    )
    build = "build for CPUs" if where else "usual build"
    print(f"Installing {requirement}, the {build}", flush=True)
    code = subprocess.call([*pip, requirement, *where])
    if code and where:
        code = subprocess.call([*pip, requirement])
    if code:
        print(f"pip could not install {requirement}. With the network back, run the command again.")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
