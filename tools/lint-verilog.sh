#!/usr/bin/env bash
# Lints with three tools; any warning is an error. Without arguments every block in every file list below gen/verilog,
# with a directory for a board and its top module that design, with the vendor's primitives as its lint folder declares
# them.
set -euo pipefail
cd "$(dirname "$0")/.."
waivers=$PWD/tools/verilator.vlt

fail() { echo "lint: $*" >&2; exit 1; }

# Icarus 11 says this where a process reads a part of a signal: it then wakes the process up more often
# than needed, which changes nothing.
icarus_remark='sorry: constant selects in always_\* processes are not currently supported'

# yosys has no real numbers; it says so of the parameters of a vendor's primitive, and keeps their text.
yosys_remark='Replacing floating point parameter'

# Runs a tool in silence; what it says is shown when it fails or says anything that is not known to be harmless.
quietly() {
    local what=$1 output status=0
    shift
    output=$("$@" 2>&1) || status=$?
    output=$(grep -v "$icarus_remark" <<<"$output" || true)
    [[ $status == 0 && -z $output ]] && return
    echo "$output" >&2
    fail "$what"
}

lint_block() {
    local folder=$1 block=$2
    shift 2
    quietly "Verilator warns about $folder/$block.sv" \
        verilator --lint-only -Wall --top-module "$block" "$waivers" "$@"
    quietly "Icarus Verilog warns about $folder/$block.sv" \
        iverilog -g2012 -Wall -Wno-timescale -t null -s "$block" "$@"
    quietly "yosys warns about $folder/$block.sv" \
        yosys -q -w "$yosys_remark" -e '.*' -p "read_verilog -sv $*; hierarchy -check -top $block; proc; check -assert"
}

shopt -s nullglob
if [[ $# == 2 ]]; then
    [[ -f $1/filelist.f ]] || fail "there is no $1/filelist.f: run ./dev gen --board"
    mapfile -t files < <(cd "$1" && printf '%s\n' lint/*.sv && grep -v '^//' filelist.f)
    (cd "$1" && lint_block "$1" "$2" "${files[@]}")
    echo "$1: ${#files[@]} files are clean"
    exit
fi
lists=(gen/verilog/*/filelist.f)
[[ ${#lists[@]} != 0 ]] || fail "there is no generated Verilog: run ./dev gen"
for list in "${lists[@]}"; do
    folder=$(dirname "$list")
    mapfile -t files < <(grep -v '^//' "$list")
    mapfile -t blocks < <(sed -n 's|^// block: ||p' "$list")
    for block in "${blocks[@]}"; do
        (cd "$folder" && lint_block "$folder" "$block" "${files[@]}")
    done
    echo "$folder: ${#blocks[@]} blocks in ${#files[@]} files are clean"
done
