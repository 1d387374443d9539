#!/usr/bin/env bash
# libfpspin.sh --fpspin-dir DIR: builds host programs of a checkout of FPsPIN, without a change, with spinneret's libfpspin and
# runs them on simulated NICs. The checkout is only read: all is built in a copy.
set -euo pipefail
cd "$(dirname "$0")/../.."

fpspin=
while [[ $# != 0 ]]; do
    case $1 in
        --fpspin-dir) fpspin=${2:-}; shift 2 || true ;;
        *) echo "libfpspin: there is no option \`$1\`; usage: ./dev interop libfpspin --fpspin-dir DIR" >&2; exit 2 ;;
    esac
done
examples=fpga/app/pspin/deps/pspin/examples
if [[ ! -d $fpspin/$examples/icmp_ping ]]; then
    echo "libfpspin: --fpspin-dir must be a checkout of FPsPIN, and ${fpspin:-nothing} is none" >&2
    exit 2
fi

# Requests that a program answers, and bytes of the file that arrives.
requests=64 bytes=$((1 << 20))
target=${CARGO_TARGET_DIR:-$PWD/target}/debug
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
failed=0

# step NAME COMMAND...: prints whether it succeeded, and its last lines if not.
step() {
    local name=$1 status=ok begun=$SECONDS
    shift
    "$@" >"$work/log" 2>&1 || { status=FAILED failed=1; tail -n 20 "$work/log" >&2; }
    printf '%-28s %-6s %4d s\n' "$name" "$status" $((SECONDS - begun))
}

own() {
    cargo build --quiet -p spinneret-nic --bin spinneret -p spinneret-c --lib &&
        cargo build --quiet -p spinneret-host --example pci_programs
}

# build NAME: handlers that ask the host, and the program.
build() {
    make -C "$work/$1" deploy PSPIN_RT="$PWD/runtime" EXTRA_CFLAGS=-DDO_HOST=1 &&
        make -B -C "$work/$1/host" LIBS="$PWD/host/lib" LIBRARY="$target/libspinneret.a" CFLAGS="-O2 -D__FPSPIN_HOST__"
}

# on_nic NAME TRAFFIC COMMAND...: runs a program where its handlers are, on a NIC that gets packets.
on_nic() {
    local name=$1 status=0 look
    "$target/spinneret" serve "$work/nic.sock" $2 >"$work/serve" 2>&1 &
    server=$!
    for ((look = 0; look < 600; look++)); do [[ ! -S $work/nic.sock ]] || break; sleep 0.1; done
    (cd "$work/$name" && FPSPIN_DEVICE=$work/nic.sock timeout 300 "${@:3}") || status=1
    kill -INT "$server"
    wait "$server" || status=1
    server=
    return $status
}

# pings NAME PROTOCOL: up to 16 HPUs are about to send when the program ends.
pings() {
    on_nic "$1" "--generate $2,pps=1e5 --out $work/replies.pcap" "host/${1//_/-}" -e $requests -o "$work/$1.csv" &&
        tools/vm/replies.py "$work/replies.pcap" "$2" $((requests - 16)) && cat "$work/$1.csv"
}

receives() {
    "$target/examples/pci_programs" capture "$work/message.pcap" $bytes &&
        "$target/examples/pci_programs" message "$work/message" $bytes &&
        on_nic slmp "--pcap $work/message.pcap" host/slmp -m $bytes -p "$work/received" -e 1 &&
        cmp "$work/received-0.out" "$work/message"
}

cp -rL "$fpspin/$examples/"{icmp_ping,udp_ping,slmp,generic_driver} "$work/"
step "spinneret" own
for name in icmp_ping udp_ping slmp; do
    step "$name: build" build $name
done
step "icmp_ping: $requests requests" pings icmp_ping icmp
step "udp_ping: $requests requests" pings udp_ping udp
step "slmp: $bytes bytes" receives
exit $failed
