#!/usr/bin/env bash
# Prints a Python that has slang, a front end for SystemVerilog, and installs it from the Python registry if it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

version=12.1.0
folder=target/tools/slang-$version
if [[ ! -e $folder/complete ]]; then
    echo "installing pyslang $version from the Python registry into $folder" >&2
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet "pyslang==$version" >&2
    touch "$folder/complete"
fi
realpath --no-symlinks "$folder/bin/python"
