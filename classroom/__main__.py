"""The command line: `python -m classroom SUBMISSIONS`."""

import sys

from classroom.cli import main

sys.exit(main())
