#!/usr/bin/env bash
# tools/compare-revisions.sh [--parts PART,...] REV1 [REV2]: what differs between two revisions (REV2: HEAD) of what a change
# inside of the project keeps. Exit code 1 if anything differs but comments.
#   text      the committed Verilog, byte for byte         headers  C headers of host programs, handlers and the driver
#   json      the keys that commands print with --json     cycles   figures of the benches of blocks
#   proofs    the list of proofs
# The first two need no build and are the default; the others build each revision in target/compare/, which is kept.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "compare-revisions: $*" >&2; exit 2; }

all=(text headers json cycles proofs)
parts=(text headers)
if [[ ${1:-} == --parts ]]; then
    [[ ${2:-} != all ]] || set -- --parts "$(IFS=, && echo "${all[*]}")" "${@:3}"
    IFS=, read -ra parts <<<"${2:?"--parts needs names: ${all[*]}, or all"}"
    shift 2
fi
for part in "${parts[@]}"; do
    [[ " ${all[*]} " == *" $part "* ]] || fail "there is no part \`$part\`; there are: ${all[*]}"
done
[[ $# == 1 || $# == 2 ]] || fail "usage: tools/compare-revisions.sh [--parts PART,...|all] REV1 [REV2]"
revisions=()
for revision in "$1" "${2:-HEAD}"; do
    revisions+=("$(git rev-parse --verify --quiet --short "$revision^{commit}")") || fail "there is no revision $revision"
done

home=$PWD/target/compare
export CARGO_TARGET_DIR=$home/target

# Prints the set of keys in a JSON document, with [] for any element of a list.
keys() {
    python3 -c '
import json, sys
def walk(value, path):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner, path + "[]")
    else:
        yield path
print("\n".join(sorted(set(walk(json.load(sys.stdin), "")))))'
}

# committed FOLDER FILE...: files of a revision as they are committed.
committed() {
    mkdir -p "$1"
    [[ $# == 1 ]] || git archive "$revision" "${@:2}" | tar -x -C "$1"
}

collect_text() { committed "$out/text" gen/verilog; }

collect_headers() {
    local names
    mapfile -t names < <(git ls-tree -r --name-only "$revision" | grep -E '(^|/)include/[^/]+\.h$|^kernel/[^/]+\.h$')
    committed "$out/headers" "${names[@]}"
}

# answer NAME COMMAND...: the keys of what a command prints, or why there are none.
answer() {
    timeout 300 "$CARGO_TARGET_DIR/debug/$2" "${@:3}" 2>"$out/errors.$1" | keys >"$out/json/$1" 2>/dev/null ||
        { echo "no JSON: $(tail -1 "$out/errors.$1")"; } >"$out/json/$1"
}

collect_json() {
    local port=$((20000 + RANDOM % 10000)) files receiver ping=runtime/examples/udp_ping
    files=$(mktemp -d)
    mkdir -p "$out/json"
    answer gen-verilog-list gen-verilog --list --json
    answer gen-verilog-check gen-verilog --check --json
    answer synth synth pspin_pkt_alloc --dir gen/verilog/reference --json
    answer run spinneret run $ping --generate udp,count=20 --json
    answer match spinneret match --pcap sim/captures/lan.pcap --rules sim/captures/rules.toml --json
    answer fabric spinneret fabric docs/run/incast.toml --json
    answer molly-plan molly plan heat --json
    answer molly-check molly check heat --json
    answer molly-run molly run heat --json
    head -c 3000 /dev/urandom >"$files/sent"
    "$CARGO_TARGET_DIR/debug/spinneret" receive --udp "127.0.0.1:$port" "$files/received" &>"$out/errors.receive" &
    receiver=$!
    sleep 1
    answer send spinneret send --to "127.0.0.1:$port" "$files/sent" --json
    kill -INT $receiver 2>/dev/null || true
    wait $receiver || true
    rm -r "$files"
}

# Cycles are exact; the time of a simulation is not part of the figures.
collect_cycles() {
    local name
    mkdir -p "$out/cycles"
    for name in match ingress egress hostdma limiter app; do
        echo "  cycles: $name" >&2
        "$CARGO_TARGET_DIR/debug/bench" "$name" --json "$out/cycles/$name" >/dev/null
    done
}

collect_proofs() {
    mkdir -p "$out/proofs"
    "$CARGO_TARGET_DIR/debug/prove" --list | sed 's/  */ /g; /─/d' >"$out/proofs/list"
}

build() {
    local programs=()
    case " ${parts[*]} " in *" json "*) programs+=(gen-verilog synth spinneret molly) ;; esac
    case " ${parts[*]} " in *" cycles "*) programs+=(bench) ;; esac
    case " ${parts[*]} " in *" proofs "*) programs+=(prove) ;; esac
    [[ ${#programs[@]} != 0 ]] || return 0
    [[ -d $home/$revision ]] || git worktree add --quiet --detach "$home/$revision" "$revision"
    echo "building $revision: ${programs[*]}" >&2
    cd "$home/$revision"
    cargo build --quiet --workspace "${programs[@]/#/--bin=}"
}

# Prints Verilog or C without comments, and anything else as it is.
without_comments() {
    case $1 in
        */headers/*) cc -fpreprocessed -dD -E -P -x c "$1" 2>/dev/null ;;
        */text/*.sv) sed 's|//.*||; s/ *$//; /^$/d' "$1" ;;
        *) cat "$1" ;;
    esac
}

for revision in "${revisions[@]}"; do
    out=$home/out/$revision
    rm -rf "$out"
    mkdir -p "$out"
    (
        build
        for part in "${parts[@]}"; do "collect_$part"; done
    )
    rm -f "$out"/errors.*
done

row() { printf ' %-8s %-60s %s\n' "$1" "$2" "$3"; }
row part what "${revisions[0]} and ${revisions[1]}"
differs=0
for part in "${parts[@]}"; do
    same=0
    while read -r name; do
        old=$home/out/${revisions[0]}/$part/$name
        new=$home/out/${revisions[1]}/$part/$name
        if [[ ! -e $old || ! -e $new ]]; then
            row "$part" "$name" "only in ${revisions[$([[ -e $old ]]; echo $?)]}"
            differs=1
        elif cmp -s "$old" "$new"; then
            same=$((same + 1))
        elif cmp -s <(without_comments "$old") <(without_comments "$new"); then
            row "$part" "$name" "comments differ"
        else
            row "$part" "$name" "DIFFERENT: $(diff <(without_comments "$old") <(without_comments "$new") | grep -c '^[<>]' || true) lines"
            differs=1
        fi
    done < <(cd "$home/out" && for revision in "${revisions[@]}"; do (cd "$revision/$part" && find . -type f -printf '%P\n'); done | sort -u)
    row "$part" "$same others" same
done
echo "what was compared: target/compare/out/REVISION/PART"
exit $differs
