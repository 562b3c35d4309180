#!/bin/sh
# Make sure that programs of the system are there: sh tools/system.sh [venv] [chromium] [bwrap] …
# As root on a machine with apt, a missing one is installed. Elsewhere it is named, and the tests
# that need it are skipped and listed at the end (with CI=true they fail).

have() {
  case $1 in
    venv) python3 -c 'import ensurepip' 2>/dev/null ;;
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

for program in "$@"; do
  have "$program" && continue
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing $(package "$program") with apt-get"
    apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "$(package "$program")" >/dev/null
  fi
  have "$program" || echo "Missing: $program. Install it, for instance: sudo apt-get install $(package "$program")"
done
exit 0
