#!/usr/bin/env bash
# Gradescope runs this once, when the image is made: install what the grader needs, and close the
# folder with the tasks to every user but root (a student's code runs as another user).
set -euo pipefail
TOP=${AUTOGRADER:-/autograder}
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  bubblewrap python3 python3-venv
cd "$TOP/source"
python3 -m venv .venv
.venv/bin/pip install --quiet "$(grep '^torch==' requirements.txt)" \
  --index-url https://download.pytorch.org/whl/cpu
.venv/bin/pip install --quiet nbformat matplotlib tqdm numpy
chmod 755 "$TOP" "$TOP/source"
chmod -R go-rwx "$TOP/source/grading" "$TOP/source/gradescope"
