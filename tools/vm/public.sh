# For vm.sh: the public drivers and programs of your checkouts, behind `spinneret serve --pci SOCKET --function mqnic`. The
# checkouts are only read: what is built is built in copies.

their_pspin=fpga/app/pspin
their_examples=$their_pspin/deps/pspin/examples
their_programs=(icmp_ping udp_ping slmp)

# check_checkouts: both are what they should be, before anything long begins.
check_checkouts() {
    local wrong=''
    [[ -n $fpspin ]] || wrong="public needs --fpspin-dir DIR, a checkout of FPsPIN"
    [[ -z $fpspin || -d $fpspin/$their_pspin/modules/mqnic_app_pspin ]] || wrong="--fpspin-dir $fpspin: that is no checkout of FPsPIN"
    [[ -z $corundum || -d $corundum/modules/mqnic ]] || wrong="--corundum-dir $corundum: that is no checkout of Corundum"
    [[ -z $wrong ]] || { echo "vm: $wrong" >&2; exit 2; }
}

# build_public NAME TREE: `mqnic` of a checkout, and the driver of the application against its headers.
build_public() {
    local copy=$work/public-$1 module begun log
    mkdir "$copy"
    cp -rL "$2/modules/mqnic" "$fpspin/$their_pspin/modules/mqnic_app_pspin" "$copy/"
    for module in mqnic mqnic_app_pspin; do
        begun=$SECONDS log=$work/public-$1-$module.log
        if make -C "$kernel/build" M="$copy/$module" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$log" 2>&1; then
            show "$release, $1" "build $module" ok $((SECONDS - begun)) s
        else
            show "$release, $1" "build $module" FAILED $((SECONDS - begun)) s
            grep -m 10 'error:' "$log" >&2 || tail -n 20 "$log" >&2
            failed=1
            return 1
        fi
    done
}

# The programs of the host, with the public library, and their handlers. These are built with our runtime, because the public
# one has instructions that only the compiler of its project knows.
build_programs() {
    local begun=$SECONDS log=$work/public-programs.log status=ok name copy=$work/fpspin
    {
        mkdir -p "$copy/${their_pspin%/*}" "$work/public/build" &&
            cp -rL "$fpspin/lib" "$copy/lib" && cp -r "$fpspin/$their_pspin" "$copy/$their_pspin" || status=FAILED
        for name in "${their_programs[@]}"; do
            # Their Makefiles compile for the processor of this machine, which is not that of the guest.
            make -B -C "$copy/$their_examples/$name/host" CFLAGS="-O2 -fopenmp -D__FPSPIN_HOST__" || status=FAILED
            cp "$copy/$their_examples/$name/host/${name//_/-}" "$work/public/" || status=FAILED
            make -C "$copy/$their_examples/$name" deploy PSPIN_RT="$PWD/runtime" EXTRA_CFLAGS=-DDO_HOST=1 || status=FAILED
            tools/vm/for-public-loader.sh "$copy/$their_examples/$name/build/$name.elf" "$work/public/build/$name" ||
                status=FAILED
        done
    } >"$log" 2>&1
    [[ $status == ok ]] || { tail -n 20 "$log" >&2; failed=1; }
    show "FPsPIN" "build programs" $status $((SECONDS - begun)) s
}

# fill_public NAME: puts the public parts in the place of the stand-in.
fill_public() {
    local root=$work/root-$1 cross=${CROSS:-riscv64-unknown-elf-} tool
    cp -r "$work/root-$suite" "$root"
    cp "$work/public-$1/mqnic/mqnic.ko" "$root/mqnic.ko"
    cp -r "$work/public" "$root/public"
    cp "$work/public-$1/mqnic_app_pspin/mqnic_app_pspin.ko" "$root/public/"
    cp tools/vm/guest/public "$root/public/trials"
    find "$kernel/root" -name 'i2c-algo-bit.ko*' | while read -r module; do copy_module "$module" "$root/public"; done
    strip -g "$root/mqnic.ko" "$root/public/"*.ko
    # The public library calls these, and one of them by the name that it has for programs of the host.
    mkdir -p "$root/opt/riscv/bin"
    for tool in objcopy nm readelf; do
        cp "$(command -v "$cross$tool")" "$root/opt/riscv/bin/riscv32-unknown-elf-$tool"
    done
    ln -s /opt/riscv/bin/riscv32-unknown-elf-nm "$root/bin/nm"
    copy_libraries "$root" "$root"/opt/riscv/bin/* "$root/public/slmp"
}

# try_public NAME: all boots with `mqnic` of one checkout.
try_public() {
    local between=no limit=1500 traffic program protocol driver
    fill_public "$1"
    pack_root "$1"
    traffic=(--generate udp,dport=7000..7003,rate=50Mbps,count=1000000)
    boot "$1" ", $1" mqnic "TRIALS=public $amounts" -machine q35
    for program in icmp-ping udp-ping; do
        protocol=${program%-ping}
        traffic=(--generate "$protocol,pps=1e5,count=1000000" --out "$work/replies.pcap")
        boot "$1" ", $1" mqnic "TRIALS=public_program PROGRAM=$program,-e,64 $amounts" -machine q35
        # When it has answered 64 the program resets the cluster, where up to 16 HPUs are about to send.
        try_replies "$1" "$program" "$protocol" $((2 * (64 - 16)))
    done
    # The public handler takes the end of a message for all of it: so each program gets packets from the first one on.
    traffic=(--pcap "$work/message.pcap")
    for driver in /spinneret.ko /public/mqnic_app_pspin.ko; do
        boot "$1" ", $1" mqnic "TRIALS=public_receive DRIVER=$driver BYTES=$bytes $amounts" -machine q35
    done
}

# try_replies NAME PROGRAM PROTOCOL COUNT: what a program and its handler have sent, under each of both drivers.
try_replies() {
    local status=ok
    tools/vm/replies.py "$work/replies.pcap" "$3" "$4" >"$work/replies.log" 2>&1 || { status=FAILED failed=1; cat "$work/replies.log" >&2; }
    show "$release, $1" "$2 replies" $status 0 s
}

public() {
    local suite
    # So much memory is in one piece without an IOMMU, behind which the public driver does not work.
    bytes=$((1 << 20))
    build_programs
    "$examples/pci_programs" capture "$work/message.pcap" $bytes
    "$examples/pci_programs" message "$work/public/message" $bytes
    for suite in "${suites[@]}"; do
        fetch kernel kernel "$suite" amd64
        release=$(sed 's/-amd64//' "$kernel/release")
        build_module "$suite"
        fill_root "$suite"
        ! build_public FPsPIN "$fpspin" || try_public FPsPIN
        [[ -z $corundum ]] || ! build_public Corundum "$corundum" || try_public Corundum
    done
}
