"""Settings for every kernel that nbval starts, whichever notebook is named."""

import os

os.environ["LAMPLIGHT_QUIET"] = "1"  # no progress bars in outputs
os.environ["PYTHONHASHSEED"] = "0"  # one order of sets
