#!/usr/bin/env bash
# check.sh [SEEDS [FIRST]]: the bus models of sim/ against the drivers of cocotbext-axi, with SEEDS seeds (default 10)
# from FIRST on (default: SPINNERET_SEED, or random). sim/tests/suite/cocotb.rs says how.
set -euo pipefail
cd "$(dirname "$0")/../.."

count=${1:-10} first=${2:-${SPINNERET_SEED:-$RANDOM}}
[[ $# -le 2 && $count =~ ^[1-9][0-9]*$ && $first =~ ^(0x[0-9a-fA-F]+|0|[1-9][0-9]*)$ ]] || {
    echo "usage: tools/cocotb/check.sh [SEEDS [FIRST]], whole numbers, SEEDS at least 1" >&2
    exit 2
}
fail() { echo "cocotb: $*" >&2; exit 1; }

requirements=tools/cocotb/requirements.txt
environment=$(realpath -m "${CARGO_TARGET_DIR:-target}/cocotb")
if ! cmp -s "$requirements" "$environment/requirements.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment" || fail "no environment for Python: install python3-venv"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements" ||
        fail "cannot install $requirements: is there a network?"
    cp "$requirements" "$environment/"
fi
"$environment/bin/python" -c 'import find_libpython, sys; sys.exit(find_libpython.find_libpython() is None)' ||
    fail "Icarus cannot load Python, which has no shared library: install libpython3-dev"

export SPINNERET_COCOTB=$environment/bin/python SPINNERET_SEED
for ((SPINNERET_SEED = first; SPINNERET_SEED < first + count; SPINNERET_SEED++)); do
    echo "cocotb: seed $SPINNERET_SEED"
    # Without a line of a test, none has run, which is no success either.
    cargo test --workspace --test suite -- cocotb:: >"$environment/log" 2>&1 && grep '^test cocotb::' "$environment/log" || {
        cat "$environment/log"
        fail "seed $SPINNERET_SEED failed; repeat it with: tools/cocotb/check.sh 1 $SPINNERET_SEED"
    }
done
