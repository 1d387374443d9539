#!/usr/bin/env bash
# Runs a test program for the first of two Cargos that asks; `./dev test` makes both call this. Whatever uses the
# network, or measures real time, stays with the first one, so that no two such programs run at the same time.
set -euo pipefail

if [[ $1 == */deps/* ]]; then
    elsewhere="is run at the same time, by the other of two: its result is there"
    case ${SPINNERET_SECOND:-}$PWD in
        1*/host | 1*/host/* | 1*/sim/nic | 1*/sim/fuzz | 1*/bench) echo "$elsewhere"; exit ;;
    esac
    mkdir "$SPINNERET_CLAIMS/${1##*/}" 2>/dev/null || { echo "$elsewhere"; exit; }
fi
exec "$@"
