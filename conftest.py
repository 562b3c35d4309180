"""What every way to run the tests needs, also `pytest lectures/NAME.ipynb` alone."""

import os
import tempfile
from pathlib import Path

import psutil
import pytest
from nbval import plugin as nbval

# Also for the kernels that nbval starts: no progress bars in outputs, one order of sets, and one
# thread each, since tests run side by side and more threads would only wait for each other.
os.environ["LAMPLIGHT_QUIET"] = "1"
os.environ["PYTHONHASHSEED"] = "0"
os.environ["OMP_NUM_THREADS"] = "1"
# A sheet fetches a model where it can. Here it neither does, nor finds what was fetched before.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_CACHE"] = "no models here"


def pytest_addoption(parser) -> None:
    """Where outputs come from other versions than the tested ones, running is all that is asked."""
    parser.addoption(
        "--outputs-may-differ",
        action="store_true",
        help="run notebooks without comparing their outputs with the stored ones",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config) -> None:
    """Say what nbval leaves out of its comparison, whatever folder pytest is started in."""
    option = config.option
    sanitize = Path(__file__).with_name("tests") / "notebooks" / "nbval_sanitize.cfg"
    option.nbval_sanitize_with = str(sanitize)
    if option.outputs_may_differ:
        option.nbval, option.nbval_lax = False, True


def setup(notebook: nbval.IPyNbFile) -> None:
    """Start a kernel in an empty folder, as on Colab, so that nothing leans on the repository."""
    notebook.folder = tempfile.TemporaryDirectory()
    notebook.kernel = nbval.RunningKernel(
        nbval.CURRENT_ENV_KERNEL_NAME,
        cwd=notebook.folder.name,
        startup_timeout=notebook.config.option.nbval_kernel_startup_timeout,
    )
    notebook.setup_sanitize_files()


nbval.IPyNbFile.setup = setup


def cpu_seconds(notebook: nbval.IPyNbFile) -> float:
    """CPU seconds of the kernel since it was started."""
    times = psutil.Process(notebook.kernel.km.provisioner.pid).cpu_times()
    return times.user + times.system


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """Note after each cell what the notebook has taken so far."""
    yield
    if isinstance(item.parent, nbval.IPyNbFile) and item.parent.kernel.is_alive():
        seconds = cpu_seconds(item.parent)
        item.user_properties.append(("notebook", (item.nodeid.partition("::")[0], seconds)))


def pytest_collection_modifyitems(items) -> None:
    """Notebooks come first, and of these the longest, so that nobody waits for one at the end."""

    def turn(item) -> float:
        if not isinstance(item.parent, nbval.IPyNbFile):
            return 0
        return -1 - item.parent.nb.metadata.get("lamplight", {}).get("seconds", 0)

    items.sort(key=turn)


def pytest_terminal_summary(terminalreporter) -> None:
    """Say what the notebooks took."""
    taken: dict[str, float] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "notebook":
                    taken[value[0]] = max(taken.get(value[0], 0), value[1])
    if taken:
        longest = max(taken, key=taken.get)
        terminalreporter.write_line(
            f"Notebooks: {len(taken)} were run in {sum(taken.values()):.0f} CPU seconds; the "
            f"longest, {longest}, took {taken[longest]:.0f}."
        )
