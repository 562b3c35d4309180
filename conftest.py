"""What every way to run the tests needs, also `pytest lectures/NAME.ipynb` alone."""

import os
from pathlib import Path

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


def pytest_configure(config) -> None:
    """Say what nbval leaves out of its comparison, whatever folder pytest is started in."""
    tests = Path(__file__).with_name("tests")
    config.option.nbval_sanitize_with = str(tests / "nbval_sanitize.cfg")
