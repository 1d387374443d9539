#!/usr/bin/env bash
# ./dev test --quick [NAME...]: the tests of an edit, and a list of what did not run. NAME is a crate's folder or name, or a
# testbench in tb/tests. Without one they are those of the files that differ from the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "quick: $*" >&2; exit 2; }

declare -A crate_of chosen benches
crates() {
    local manifest
    while read -r manifest; do
        [[ $manifest == */* ]] && crate_of[${manifest%/*}]=$(sed -n 's/^name = "\(.*\)"/\1/p;T;q' "$manifest")
    done < <(git ls-files --cached --others --exclude-standard '*Cargo.toml')
}

all_benches() { (cd tb/tests && printf '%s\n' *.rs */main.rs | sed 's|/main\.rs$||; s|\.rs$||'); }

# The testbenches named like a part of a block's path, or like its start: ingress/pkt_match/rule.rs has pkt_match,
# pkt_match_ip and pkt_match_rules. Parts that several blocks share, such as hdl/src/stream, have benches of their folder's name.
choose_benches() {
    local path=/$1 bench part found=
    path=${path%.rs}
    for part in ${path//\// }; do
        part=${part#pspin_}
        part=${part#spinneret_}
        for bench in $(all_benches); do
            case $bench in
                "$part" | "${part}_"*) benches[$bench]=1 found=1 ;;
            esac
        done
    done
    [[ -n $found ]] || for bench in $(all_benches); do benches[$bench]=1; done
}

choose_file() {
    local file=$1 folder=$1
    while [[ $folder == */* ]]; do
        folder=${folder%/*}
        [[ -n ${crate_of[$folder]:-} ]] && { chosen[${crate_of[$folder]}]=1; break; }
    done
    case $file in
        hdl/src/*) choose_benches "${file#hdl/src/}" ;;
        tb/tests/*) unset "chosen[spinneret-tb]"; file=${file#tb/tests/}; file=${file%%/*}; benches[${file%.rs}]=1 ;;
        runtime/*) handlers=1 ;;
    esac
}

choose_name() {
    local folder
    for folder in "${!crate_of[@]}"; do
        case ${1%/} in
            "$folder" | "${crate_of[$folder]}" | "${crate_of[$folder]#spinneret-}") chosen[${crate_of[$folder]}]=1; return ;;
        esac
    done
    grep -qx -- "$1" < <(all_benches) || fail "\`$1\` is neither a crate nor a testbench of tb/tests; crates are: ${!crate_of[*]}"
    benches[$1]=1
}

handlers=
crates
if [[ $# == 0 ]]; then
    while read -r file; do choose_file "$file"; done < <(git diff --name-only HEAD; git ls-files --others --exclude-standard)
else
    for name; do choose_name "$name"; done
fi

cargo fmt --all --check
status=0
if [[ ${#chosen[@]} != 0 ]]; then
    packages=()
    for crate in "${!chosen[@]}"; do packages+=(-p "$crate"); done
    cargo test --quiet "${packages[@]}" || status=1
fi
if [[ ${#benches[@]} != 0 ]]; then
    tests=()
    for bench in "${!benches[@]}"; do tests+=(--test "$bench"); done
    cargo test --quiet -p spinneret-tb "${tests[@]}" || status=1
fi
[[ -z ${chosen[spinneret-hdl]:-}${chosen[spinneret-verilog]:-} ]] || cargo run --quiet --bin gen-verilog -- --check || status=1
[[ -z $handlers ]] || runtime/check || status=1

# left NAME...: those that were not chosen.
echo "quick: ran the tests of: ${!chosen[*]} ${!benches[*]}${handlers:+ runtime/check}"
left=()
for folder in "${!crate_of[@]}"; do [[ -n ${chosen[${crate_of[$folder]}]:-} ]] || left+=("$folder"); done
echo "quick: did NOT run: $(printf '%s\n' "${left[@]}" | sort | tr '\n' ' ')"
skipped=()
for bench in $(all_benches); do [[ -n ${benches[$bench]:-}${chosen[spinneret-tb]:-} ]] || skipped+=("$bench"); done
echo "quick: did NOT run of tb: ${skipped[*]:-nothing}"
echo "quick: did NOT run: clippy, lint of Verilog, bitstream, virtual machine${handlers:-, runtime/check}; ./dev test does"
exit $status
