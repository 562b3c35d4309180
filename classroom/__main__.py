"""The command line: `python -m classroom SUBMISSIONS`."""

import sys

from classroom.grade import main

sys.exit(main())
