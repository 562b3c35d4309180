#!/bin/sh
# Make sure that programs of the system are there: sh tools/system.sh [venv] [chromium] [bwrap] …
# `venv` asks the Python that PYTHON names.
# As root on a machine with apt, a missing one is installed, and this is said first; SYSTEM=no
# installs nothing. Elsewhere it is named, and the tests that need it are skipped and listed at the
# end (with CI=true they fail).

have() {
  case $1 in
    venv) "${PYTHON:-python3}" -c 'import ensurepip' 2>/dev/null ;;
    chromium) command -v chromium chromium-browser google-chrome >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

package() {
  case $1 in
    venv) echo python3-venv ;;
    bwrap) echo bubblewrap ;;
    *) echo "$1" ;;
  esac
}

missing=
for program in "$@"; do
  have "$program" || missing="$missing $(package "$program")"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ] && [ "$SYSTEM" != no ] && command -v apt-get >/dev/null; then
  echo "Missing on this system:$missing. You are root, so apt-get installs this now;"
  echo "SYSTEM=no before the command installs nothing (Ctrl-C stops it)."
  if [ -t 1 ]; then sleep 5; fi
  # shellcheck disable=SC2086 # one word a package
  apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
for program in "$@"; do
  have "$program" || echo "Missing: $program. Install it, for instance: sudo apt-get install $(package "$program")"
done
exit 0
