#!/usr/bin/env bash
# Prints a Python that has slang, a front end for SystemVerilog.
set -euo pipefail
folder=$("$(dirname "$0")"/from-python.sh pyslang 12.1.0)
echo "$folder/python"
