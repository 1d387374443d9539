#!/usr/bin/env bash
# Lints with four tools; any warning is an error. Without arguments every block that a file list below gen/verilog names,
# with a directory for a board and a module of it that module. A board's lint folder declares the vendor's primitives and the
# cluster.
set -euo pipefail
from=$PWD
cd "$(dirname "$0")/.."
waivers=$PWD/tools/verilator.vlt
slang=$PWD/tools/slang.py
python=$(tools/slang.sh)

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

# All files of a folder at once, with every module that nothing instantiates as a top.
lint_folder() {
    local folder=$1
    shift
    quietly "slang warns about $folder" "$python" "$slang" "$@"
}

shopt -s nullglob

# The files that are read for a folder: what is declared for lint, then the list.
files_of() {
    local declarations
    cd "$1"
    declarations=(lint/*.sv)
    [[ ${#declarations[@]} == 0 ]] || printf '%s\n' "${declarations[@]}"
    grep -v '^//' filelist.f
}

if [[ $# == 2 ]]; then
    directory=$1
    [[ $1 == /* ]] || directory=$from/$1
    [[ -f $directory/filelist.f ]] || fail "there is no $1/filelist.f: run ./dev gen --board"
    mapfile -t files < <(files_of "$directory")
    (cd "$directory" && lint_folder "$1" "${files[@]}" && lint_block "$1" "$2" "${files[@]}")
    echo "$1: ${#files[@]} files are clean"
    exit
fi
lists=(gen/verilog/*/filelist.f)
[[ ${#lists[@]} != 0 ]] || fail "there is no generated Verilog: run ./dev gen"
for list in "${lists[@]}"; do
    folder=$(dirname "$list")
    mapfile -t files < <(files_of "$folder")
    (cd "$folder" && lint_folder "$folder" "${files[@]}")
    mapfile -t blocks < <(sed -n 's|^// block: ||p' "$list")
    for block in "${blocks[@]}"; do
        (cd "$folder" && lint_block "$folder" "$block" "${files[@]}")
    done
    echo "$folder: ${#blocks[@]} blocks in ${#files[@]} files are clean"
done
