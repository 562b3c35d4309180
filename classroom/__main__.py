"""The command line: `python -m classroom SUBMISSIONS`."""

import gc
import sys

gc.disable()  # while modules are imported: of torch's time a sixth

from classroom.cli import main  # noqa: E402

gc.freeze()
gc.enable()
sys.exit(main())
