#!/usr/bin/env bash
# Gradescope runs this once, when the image is made: install what the grader needs, and close the
# folders with the tasks to every user but root (a student's code runs as another user).
# Choose a base image with Ubuntu 24.04 or newer; with an older one, Python 3.11 is installed beside.
set -euo pipefail
TOP=${AUTOGRADER:-/autograder}
apt-get update -qq
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -qq --no-install-recommends bubblewrap python3 python3-venv
PYTHON=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  PYTHON=python3.11
  apt-get install -y -qq --no-install-recommends python3.11 python3.11-venv || {
    echo "Python 3.11 or newer is needed: choose a base image with Ubuntu 24.04 or newer." >&2; exit 1; }
fi
cd "$TOP/source"
$PYTHON -m venv .venv
.venv/bin/pip install --quiet "$(grep '^torch==' requirements.txt)" \
  --index-url https://download.pytorch.org/whl/cpu
.venv/bin/pip install --quiet nbformat matplotlib tqdm numpy ipython babel sacrebleu rouge-score
. gradescope/settings.sh
# shellcheck disable=SC2086 # one word a package
[ -z "${PACKAGES:-}" ] || .venv/bin/pip install --quiet $PACKAGES
.venv/bin/python -c 'import classroom.cli'
chmod 755 "$TOP" "$TOP/source"
for closed in grading classroom gradescope exercises solutions; do chmod -R go-rwx "$TOP/source/$closed"; done
