"""The command line: `python -m grading.classroom SUBMISSIONS`."""

import sys

from grading.classroom.grade import main

sys.exit(main())
