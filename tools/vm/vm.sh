#!/usr/bin/env bash
# vm.sh [--all | BOOT... | public --fpspin-dir DIR [--corundum-dir DIR]]: boots Debian kernels in a virtual machine with a
# simulated NIC as a PCI device, and tries the drivers there. Without --all: one kernel, some seconds of each trial. A BOOT
# (own, iommu, mqnic, faults, answers, tenants, ping, receive, receive-public, receive-vfio, long) is that part of --all alone, on the
# oldest kernel or on those of the Debian suites in $SPINNERET_SUITES. With public: the drivers and programs of your checkouts
# of FPsPIN and Corundum, and ours with them. Needs `spinneret` and the examples of the host library built.
set -euo pipefail
cd "$(dirname "$0")/../.."

built=${CARGO_TARGET_DIR:-target}/debug
spinneret=${SPINNERET_SERVE:-$built/spinneret}
examples=${SPINNERET_EXAMPLES:-$built/examples}
work=$(mktemp -d)
server='' proxy='' puller='' taken=''
trap 'stop_all; rm -rf "$work"' EXIT
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

show() { printf ' %-20s %-24s %-8s %8s %s\n' "$@"; }

# build_module SUITE: without a warning of the compiler, nor of sparse with --all.
build_module() {
    local copy=$work/kernel-$1 log=$work/build-$1.log begun=$SECONDS status=ok checks=()
    mkdir "$copy"
    mkdir "$copy/stand-in"
    cp kernel/*.[ch] kernel/Kbuild kernel/Makefile "$copy"
    cp tools/vm/guest/mqnic.c "$copy/stand-in"
    echo "obj-m := mqnic.o" >"$copy/stand-in/Kbuild"
    [[ $whole == no ]] || checks=(C=2 "CHECK=$sparse/usr/bin/sparse")
    # The type information of modules needs pahole, and is not needed.
    (
        [[ $1 != trixie* ]] || PATH=$gcc/root/usr/bin:$PATH
        for folder in "$copy" "$copy/stand-in"; do
            make -C "$kernel/build" M="$folder" W=1 CONFIG_DEBUG_INFO_BTF_MODULES= "${checks[@]}" modules
        done
    ) >"$log" 2>&1 || status=FAILED
    if grep -E '^[^ ]*(kernel|spinneret)[^ ]*: (warning|error)|: (warning|error):' "$log"; then status=FAILED; fi
    [[ $status == ok ]] || { tail -n 20 "$log" >&2; failed=1; }
    show "$release" build $status $((SECONDS - begun)) s
}

# fill_root SUITE: busybox, our programs, the C library of this machine, our module, and those of vfio-pci.
fill_root() {
    local root=$work/root-$1 program module
    mkdir -p "$root"/{bin,dev,proc,run,sys,tmp,vfio}
    cp "$busybox/bin/busybox" "$root/bin/"
    cp tools/vm/guest/init "$examples/pci_check" "$examples/pci_programs" "$work"/*.elf "$root/"
    cp "$work/kernel-$1/spinneret.ko" "$work/kernel-$1/stand-in/mqnic.ko" "$root/"
    strip -g "$root"/*.ko "$root"/pci_*
    find "$kernel/root" -path '*/vfio/*.ko*' -o -name 'irqbypass.ko*' | while read -r module; do
        copy_module "$module" "$root/vfio"
    done
    for program in misuse cycles; do
        gcc -O2 -Wall -Wextra -Werror -static "tools/vm/guest/$program.c" -o "$root/$program"
    done
    copy_libraries "$root" "$root/pci_check"
}

# copy_module MODULE FOLDER: newer kernels have them compressed.
copy_module() {
    case $1 in
        *.xz) xz -dc "$1" >"$2/$(basename "$1" .xz)" ;;
        *) cp "$1" "$2/" ;;
    esac
}

# copy_libraries ROOT PROGRAM...: what they are linked with.
copy_libraries() {
    local root=$1 library
    for library in $(ldd "${@:2}" | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do
        mkdir -p "$root${library%/*}"
        cp "$library" "$root$library"
    done
}

pack_root() {
    (cd "$work/root-$1" && find . | ./bin/busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$work/initramfs-$1"
}

# boot SUITE NAME FUNCTION COMMAND-LINE OPTIONS...: prints a line for each trial of the guest, with the packets of `traffic`.
boot() {
    local suite=$1 name=$2 function=$3 append=$4 socket=$work/nic.sock log=$work/$1-$2.log
    shift 4
    "$spinneret" serve --pci "$socket" --function "$function" "${traffic[@]}" >"$work/serve.log" 2>&1 &
    server=$!
    wait_for "$socket"
    if [[ $between != no ]]; then
        python3 tools/vm/between.py "$work/between.sock" "$socket" "$between" &
        proxy=$!
        socket=$work/between.sock
        wait_for "$socket"
    fi
    : >"$work/serial"
    pull_out "$work/serial" &
    puller=$!
    # Of an access that failed QEMU says two lines; behind so many bytes nobody reads them.
    timeout "$limit" "$qemu/run" -accel tcg -smp 2 -m 512M -nographic -nodefaults -no-reboot \
        -chardev "file,id=log,path=$work/serial" -serial chardev:log \
        -object memory-backend-memfd,id=mem,size=512M,share=on -numa node,memdev=mem \
        -kernel "$kernel/vmlinuz" -initrd "$work/initramfs-$suite" "$@" \
        -append "console=ttyS0 quiet panic=-1 no_timer_check FUNCTION=$function $append" \
        -device "{\"driver\":\"vfio-user-pci\",\"x-msg-timeout\":60000,\"socket\":{\"type\":\"unix\",\"path\":\"$socket\"}}" \
        </dev/null 2>&1 | { head -c 100000 >"$log.qemu"; cat >/dev/null; } || true
    stop_all
    tr -d '\r' <"$work/serial" >"$log"
    rm -f "$work"/*.sock
    # The first line of the guest comes behind what the firmware leaves on the screen.
    while read -r kind trial rest; do
        case $kind in
            *RESULT) show "$release$name" "$trial" ${rest% *} "${rest#* }" s ;;
            *FIGURE) show "$release$name" "$trial" "" ${rest% *} "${rest#* }" ;;
        esac
    done < <(grep -aoE '(RESULT|FIGURE) .*' "$log")
    if grep -aq 'RESULT .* FAILED' "$log" || ! grep -aq 'RESULT log ok' "$log"; then
        failed=1
        echo "vm: the guest says:" >&2
        tail -n 60 "$log" >&2
        head -n 10 "$log.qemu" >&2
    fi
}

wait_for() { for _ in $(seq 100); do [[ ! -S $1 ]] || return 0; sleep 0.1; done; fail "nobody listens at $1"; }

# pull_out LOG: lets the card go when the guest asks for it.
pull_out() {
    until grep -aq '^REQUEST removal' "$1"; do sleep 0.2; done
    kill -USR1 "$proxy"
}

# Ends what runs beside the virtual machine; `taken` is the processor time of the simulated NIC, in seconds.
stop_all() {
    local process
    [[ -z $server ]] || taken=$(awk '{ printf "%.1f", ($14 + $15) / 100 }' "/proc/$server/stat" 2>/dev/null) || true
    for process in $puller $proxy $server; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    puller='' proxy='' server=''
}

# outside: the transfer of `receive` without a virtual machine, by the same program, for comparison.
outside() {
    local socket=$work/outside.sock begun=$SECONDS log=$work/outside.log status=ok
    "$spinneret" serve "$socket" "${traffic[@]}" >"$work/serve.log" 2>&1 &
    server=$!
    wait_for "$socket"
    "$examples/pci_programs" receive "unix:$socket" "$work/slmp.elf" "$1" >"$log" 2>&1 || { status=FAILED failed=1; cat "$log" >&2; }
    stop_all
    show "no guest" receive $status $((SECONDS - begun)) s
    show "no guest" receive "" "$(grep -ao 'FIGURE receive .*' "$log" | cut -d ' ' -f 3)" kB/s
    show_taken "no guest"
}

# show_taken WHERE: how long the simulated NIC had computed for the transfer: on a machine that has a processor for the guest,
# and is not busy with other things, that is how long it takes.
show_taken() { show "$1" "receive, processor" "" "$taken" s; }

# try_boot NAME: one of the boots, on the kernel of `suite`.
try_boot() {
    local iommu=(-machine "q35,kernel-irqchip=split" -device intel-iommu,caching-mode=on,intremap=on)
    local everything="TRIALS=everything $amounts" translated="intel_iommu=on" between=no limit=1500
    local traffic=(--generate udp,dport=7000..7003,rate=50Mbps,count=1000000)
    case $1 in
        own) boot "$suite" "" own "$everything" -machine q35 ;;
        iommu) boot "$suite" ", IOMMU" own "$everything $translated" "${iommu[@]}" ;;
        mqnic) boot "$suite" ", mqnic" mqnic "$everything" -machine q35 ;;
        faults)
            between=remove
            boot "$suite" ", faults" own "TRIALS=faults $amounts $translated" "${iommu[@]}"
            ;;
        answers)
            between=spoil
            boot "$suite" ", answers" own "TRIALS=answers $amounts" -machine q35
            ;;
        tenants) boot "$suite" ", tenants" own "TRIALS=shared $amounts $translated" "${iommu[@]}" ;;
        ping)
            traffic=(--generate icmp,pps=1e5,count=1000000)
            boot "$suite" "" own "TRIALS=ping $amounts" -machine q35
            ;;
        receive | receive-public | receive-vfio)
            # So much memory is in one piece only behind an IOMMU.
            "$examples/pci_programs" capture "$work/message.pcap" $bytes
            traffic=(--pcap "$work/message.pcap")
            [[ $1 != receive ]] || outside $bytes
            boot "$suite" ", $1" own "TRIALS=${1/-/_} BYTES=$bytes $amounts $translated" "${iommu[@]}"
            show_taken "$release, $1"
            ;;
        long)
            limit=3000
            boot "$suite" ", long" own "TRIALS=everything $amounts LOADS=100 CYCLES=1000 RUNS=1000 MISUSE=120 BUSY=50" -machine q35
            ;;
        *) echo "vm: there is no boot \`$1\`" >&2; exit 2 ;;
    esac
}

. tools/vm/public.sh
all=no whole=no suites=(bookworm) boots=(iommu) bytes=$((10 << 20)) fpspin='' corundum=''
case ${1:-} in
    '') ;;
    public)
        shift
        all=yes boots=() suites=(${SPINNERET_SUITES:-bookworm})
        while [[ $# != 0 ]]; do
            case $1 in
                --fpspin-dir) fpspin=${2:?"--fpspin-dir needs a folder"} ;;
                --corundum-dir) corundum=${2:?"--corundum-dir needs a folder"} ;;
                *) echo "vm: public knows --fpspin-dir DIR and --corundum-dir DIR, not \`$1\`" >&2; exit 2 ;;
            esac
            shift 2
        done
        check_checkouts
        ;;
    --all) all=yes whole=yes suites=(bookworm bookworm-backports trixie-backports) boots=(own iommu mqnic) ;;
    -*) echo "vm: vm.sh knows --all and names of boots, not \`$1\`" >&2; exit 2 ;;
    *) all=yes boots=("$@") suites=(${SPINNERET_SUITES:-bookworm}) ;;
esac
[[ -x $spinneret && -x $examples/pci_programs ]] || fail "there is no $spinneret or no $examples/pci_programs: run ./dev vm, which builds them"
for folder in tests/contexts tests/trips examples/icmp_ping examples/slmp; do
    make -s -C "runtime/$folder" >/dev/null
    cp "runtime/$folder/build/${folder##*/}.elf" "$work/"
done
amounts="SLOWER=${SPINNERET_SLOWER:-1000} ALL=$all LOADS=3 CYCLES=20 RUNS=5 MISUSE=5 BUSY=1"
fetch qemu qemu
fetch busybox busybox
[[ $whole == no ]] || fetch sparse sparse
[[ ${suites[*]} != *trixie* ]] || fetch gcc gcc
show kernel trial result "" ""
if [[ -n $fpspin ]]; then
    public
    exit $failed
fi
for suite in "${suites[@]}"; do
    fetch kernel kernel "$suite"
    release=$(sed 's/-cloud.*//' "$kernel/release")
    build_module "$suite"
    fill_root "$suite"
    pack_root "$suite"
    for name in "${boots[@]}"; do try_boot "$name"; done
done
if [[ $whole == yes ]]; then
    # On the newest kernel.
    for name in faults answers tenants ping receive receive-public receive-vfio long; do try_boot "$name"; done
fi
exit $failed
