#!/usr/bin/env bash
# vm.sh [--all]: boots Debian kernels in a virtual machine with a simulated NIC as a PCI device, and tries the kernel driver there.
# Without --all: one kernel, some seconds of each trial. Needs `spinneret` and the examples of the host library built.
set -euo pipefail
cd "$(dirname "$0")/../.."

built=${CARGO_TARGET_DIR:-target}/debug
spinneret=${SPINNERET_SERVE:-$built/spinneret}
examples=${SPINNERET_EXAMPLES:-$built/examples}
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
failed=0

fail() { echo "vm: $*" >&2; exit 1; }

# As tools/skip: whoever has no network goes on, but CI does not.
unavailable() {
    if [[ ${SPINNERET_ALL_TESTS:-} == 1 || (${SPINNERET_ALL_TESTS:-} != 0 && -n ${CI:-}) ]]; then
        fail "the virtual machine has to run here, and its parts cannot be had"
    fi
    echo "skipped: vm: its parts cannot be had" >&2
    exit 0
}

# fetch NAME PART [SUITE]: sets a variable to where the part is.
fetch() { declare -g "$1=$(tools/vm/fetch.sh "${@:2}")" || return 1; [[ -n ${!1} ]] || unavailable; }

show() { printf ' %-20s %-16s %-8s %8s s\n' "$@"; }

# build_module SUITE: without a warning of the compiler, nor of sparse with --all.
build_module() {
    local copy=$work/kernel-$1 log=$work/build-$1.log begun=$SECONDS status=ok checks=()
    mkdir "$copy"
    mkdir "$copy/stand-in"
    cp kernel/*.[ch] kernel/Kbuild kernel/Makefile "$copy"
    cp tools/vm/guest/mqnic.c "$copy/stand-in"
    echo "obj-m := mqnic.o" >"$copy/stand-in/Kbuild"
    [[ $all == no ]] || checks=(C=2 "CHECK=$sparse/usr/bin/sparse")
    # The type information of modules needs pahole, and is not needed.
    (
        [[ $1 != trixie* ]] || PATH=$gcc/root/usr/bin:$PATH
        for folder in "$copy" "$copy/stand-in"; do
            make -C "$kernel/build" M="$folder" W=1 CONFIG_DEBUG_INFO_BTF_MODULES= "${checks[@]}" modules
        done
    ) >"$log" 2>&1 || status=FAILED
    if grep -E '^[^ ]*(kernel|spinneret)[^ ]*: (warning|error)|: (warning|error):' "$log"; then status=FAILED; fi
    [[ $status == ok ]] || { tail -n 20 "$log" >&2; failed=1; }
    show "$release" build $status $((SECONDS - begun))
}

# make_initramfs SUITE: busybox, our programs, the C library of this machine, and the module.
make_initramfs() {
    local root=$work/root-$1 program library
    mkdir -p "$root"/{bin,dev,proc,sys,tmp}
    cp "$busybox/bin/busybox" "$root/bin/"
    cp tools/vm/guest/init "$examples/pci_check" "$examples/pci_programs" "$work"/*.elf "$root/"
    cp "$work/kernel-$1/spinneret.ko" "$work/kernel-$1/stand-in/mqnic.ko" "$root/"
    strip -g "$root"/*.ko "$root"/pci_*
    for program in misuse cycles; do
        gcc -O2 -Wall -Wextra -Werror -static "tools/vm/guest/$program.c" -o "$root/$program"
    done
    for library in $(ldd "$root/pci_check" | grep -o '/[^ ]*'); do
        mkdir -p "$root${library%/*}"
        cp "$library" "$root$library"
    done
    (cd "$root" && find . | "$root/bin/busybox" cpio -o -H newc 2>/dev/null) | gzip -1 >"$work/initramfs-$1"
}

# boot SUITE NAME FUNCTION COMMAND-LINE OPTIONS...: prints a line for each trial of the guest, with the packets of `traffic`.
boot() {
    local suite=$1 name=$2 function=$3 append=$4 socket=$work/nic.sock log=$work/$1-$2.log
    shift 4
    "$spinneret" serve --pci "$socket" --function "$function" "${traffic[@]}" >"$work/serve.log" 2>&1 &
    server=$!
    for _ in $(seq 100); do [[ -S $socket ]] && break; sleep 0.1; done
    timeout "$limit" "$qemu/run" -accel tcg -smp 2 -m 512M -nographic -nodefaults -no-reboot -serial stdio \
        -object memory-backend-memfd,id=mem,size=512M,share=on -numa node,memdev=mem \
        -kernel "$kernel/vmlinuz" -initrd "$work/initramfs-$suite" "$@" \
        -append "console=ttyS0 quiet panic=-1 no_timer_check FUNCTION=$function $append" \
        -device "{\"driver\":\"vfio-user-pci\",\"x-msg-timeout\":60000,\"socket\":{\"type\":\"unix\",\"path\":\"$socket\"}}" \
        </dev/null 2>&1 | head -c 4000000 | tr -d '\r' >"$log" || true
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
    rm -f "$socket"
    # The first line of the guest comes behind what the firmware leaves on the screen.
    while read -r _ trial status seconds; do show "$release$name" "$trial" "$status" "$seconds"; done < <(grep -ao 'RESULT .*' "$log")
    if grep -aq 'RESULT .* FAILED' "$log" || ! grep -aq 'RESULT log ok' "$log"; then
        failed=1
        echo "vm: the guest says:" >&2
        tail -n 60 "$log" >&2
    fi
}

all=no suites=(bookworm) limit=600 amounts="LOADS=3 CYCLES=40 MISUSE=5"
case ${1:-} in
    '') ;;
    --all) all=yes suites=(bookworm bookworm-backports trixie-backports) limit=1500 amounts="LOADS=100 CYCLES=1000 MISUSE=30" ;;
    *) echo "vm: vm.sh knows --all, not \`$1\`" >&2; exit 2 ;;
esac
[[ -x $spinneret && -x $examples/pci_programs ]] || fail "there is no $spinneret or no $examples/pci_programs: run ./dev vm, which builds them"
for folder in tests/contexts examples/icmp_ping examples/slmp; do
    make -s -C "runtime/$folder" >/dev/null
    cp "runtime/$folder/build/${folder##*/}.elf" "$work/"
done
amounts="SLOWER=${SPINNERET_SLOWER:-1000} ALL=$all $amounts"
iommu=(-machine "q35,kernel-irqchip=split" -device intel-iommu,caching-mode=on,intremap=on)
udp=(--generate udp,dport=7000..7003,rate=50Mbps,count=1000000)
fetch qemu qemu
fetch busybox busybox
[[ $all == no ]] || { fetch sparse sparse && fetch gcc gcc; }
show kernel trial result time
for suite in "${suites[@]}"; do
    fetch kernel kernel "$suite"
    release=$(sed 's/-cloud.*//' "$kernel/release")
    build_module "$suite"
    make_initramfs "$suite"
    traffic=("${udp[@]}")
    boot "$suite" "" own "TRIALS=everything $amounts" -machine q35
    [[ $all == yes ]] || continue
    boot "$suite" ", mqnic" mqnic "TRIALS=everything $amounts" -machine q35
    boot "$suite" ", IOMMU" own "TRIALS=everything $amounts intel_iommu=on" "${iommu[@]}"
done
if [[ $all == yes ]]; then
    traffic=(--generate icmp,pps=1e5,count=1000000)
    boot "$suite" "" own "TRIALS=ping $amounts" -machine q35
    # So much memory is in one piece only behind an IOMMU.
    bytes=$((10 << 20))
    "$examples/pci_programs" capture "$work/message.pcap" $bytes
    traffic=(--pcap "$work/message.pcap")
    boot "$suite" ", IOMMU" own "TRIALS=receive BYTES=$bytes $amounts intel_iommu=on" "${iommu[@]}"
fi
exit $failed
