#!/usr/bin/env bash
# fetch.sh qemu|gcc|busybox|sparse|kernel SUITE [FLAVOUR]: brings a part of the virtual machine and prints where it is.
# Debian's packages are unpacked in a folder of ours, $SPINNERET_VM or target/vm, with an apt of its own that checks their
# signatures: nothing is installed. SUITE is the Debian suite whose kernel is taken, its image and its headers; FLAVOUR is
# cloud-amd64, the small one, or amd64.
set -euo pipefail
self=$(realpath "$0")
cd "$(dirname "$0")/../.."

folder=$(realpath -m "${SPINNERET_VM:-target/vm}")
apt=$folder/apt
keys=/usr/share/keyrings/debian-archive-keyring.gpg

fail() { echo "vm: $*" >&2; exit 1; }

# Suites of both releases: QEMU has to be newer than what Debian 12 and 13 have.
prepare_apt() {
    export APT_CONFIG=$apt/apt.conf
    [[ ! -e $apt/complete ]] || return 0
    command -v apt-get >/dev/null && [[ -r $keys ]] ||
        fail "there is no apt-get or no $keys: this needs Debian, or Ubuntu with debian-archive-keyring"
    local host
    host=$(sed -n 's/^URIs: *\(.*debian\)$/\1/p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
    mkdir -p "$apt"/etc/{apt.conf.d,sources.list.d,preferences.d} "$apt/state/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    cat >"$apt/etc/sources.list.d/debian.sources" <<TEXT
Types: deb
URIs: ${host:-http://deb.debian.org/debian}
Suites: bookworm bookworm-backports trixie trixie-backports
Components: main
Signed-By: $keys
TEXT
    cat >"$APT_CONFIG" <<TEXT
Dir::Etc "$apt/etc"; Dir::Etc::Trusted "/etc/apt/trusted.gpg"; Dir::Etc::TrustedParts "/etc/apt/trusted.gpg.d";
Dir::State "$apt/state"; Dir::State::status "$apt/status"; Dir::Cache "$apt/cache";
APT::Architecture "amd64"; APT::Install-Recommends "false"; APT::Sandbox::User "$(id -un)";
TEXT
    apt-get -qq update || fail "Debian's package lists cannot be had: is there a network?"
    touch "$apt/complete"
}

# unpack FOLDER PACKAGE...: these packages alone, without what they depend on.
unpack() {
    local into=$1 work
    shift
    work=$(mktemp -d)
    (cd "$work" && apt-get -qq download "$@") || fail "the packages $* cannot be had: is there a network?"
    mkdir -p "$into"
    local package
    for package in "$work"/*.deb; do dpkg-deb -x "$package" "$into"; done
    rm -r "$work"
}

# unpack_all FOLDER SUITE PACKAGE...: packages of a newer Debian with all that they depend on.
unpack_all() {
    local into=$1 suite=$2 package
    shift 2
    apt-get -qq install --download-only -y -t "$suite" "$@" ||
        fail "$* cannot be had: is there a network?"
    for package in "$apt"/cache/archives/*.deb; do
        case ${package##*/} in
            adduser_* | base-passwd_* | debconf_* | passwd_* | libpam* | login*) ;;
            *) dpkg-deb -x "$package" "$into" ;;
        esac
    done
    apt-get -qq clean
}

# It runs with the loader and the libraries of its own Debian.
fetch_qemu() {
    unpack_all "$part/root" trixie-backports qemu-system-x86
    cat >"$part/run" <<TEXT
#!/bin/sh
root=$part/root
exec \$root/usr/lib64/ld-linux-x86-64.so.2 --library-path \$root/usr/lib/x86_64-linux-gnu \$root/usr/bin/qemu-system-x86_64 \\
    -L \$root/usr/share/qemu -L \$root/usr/share/seabios "\$@"
TEXT
    chmod +x "$part/run"
    "$part/run" --version | grep -qE 'version (10\.[1-9]|1[1-9]|[2-9][0-9])' ||
        fail "this QEMU has no vfio-user: 10.1 or newer is needed"
}

# The compiler of kernels of Debian 13.
fetch_gcc() {
    unpack_all "$part/root" trixie gcc-14 libelf1t64 libssl3t64
    run_by_loader "$part/root" "$part/root/usr/bin"
    run_by_loader "$part/root" "$part/root/usr/libexec/gcc"
}

# The newest kernel of a suite: `vmlinuz`, `release`, and `build`, against which modules are made.
fetch_kernel() {
    local suite=$1 flavour=$2 work version packages headers
    work=$(mktemp -d)
    (cd "$work" && apt-get -qq download "linux-headers-$flavour/$suite") ||
        fail "no kernel of $suite can be had: is there a network?"
    version=$(dpkg-deb -f "$work"/*.deb Depends | sed -n "s/.*linux-headers-\([^ ,]*\)-$flavour.*/\1/p")
    rm -r "$work"
    packages=("linux-image-$version-$flavour" "linux-headers-$version-$flavour" "linux-headers-$version-common")
    case $version in
        6.1.*) packages+=(linux-kbuild-6.1) ;;
        *) packages+=("linux-kbuild-$version") ;;
    esac
    # Since 6.19 the image is in packages of its own.
    if apt-cache show "linux-binary-$version-$flavour" >/dev/null 2>&1; then
        packages+=("linux-binary-$version-$flavour" "linux-modules-$version-$flavour")
    fi
    unpack "$part/root" "${packages[@]}"
    headers=$part/root/usr/src/linux-headers-$version-$flavour
    sed -i "s|/usr/src/|$part/root/usr/src/|g" "$headers/Makefile"
    # Its programs need a newer C library.
    [[ $suite != trixie* ]] || run_by_loader "$("$self" gcc)/root" "$part/root/usr/lib/linux-kbuild-$version"
    ln -s "$headers" "$part/build"
    ln -s "$(find "$part/root" -name "vmlinuz*$version-$flavour" -o -path "*modules/$version-$flavour/vmlinuz" |
        head -n 1)" "$part/vmlinuz"
    echo "$version-$flavour" >"$part/release"
}

# run_by_loader ROOT FOLDER: each program in a folder becomes a script that calls the loader of another Debian, in ROOT.
run_by_loader() {
    local program
    find "$2" -type f -perm -u+x -exec sh -c 'head -c 4 "$1" | grep -q ELF' _ {} \; -print | while read -r program; do
        mv "$program" "$program.elf"
        cat >"$program" <<TEXT
#!/bin/sh
exec $1/usr/lib64/ld-linux-x86-64.so.2 --argv0 "\$0" --library-path $1/usr/lib/x86_64-linux-gnu $program.elf "\$@"
TEXT
        chmod +x "$program"
    done
}

name=${1:-} suite=${2:-} flavour=${3:-cloud-amd64}
case $name in
    qemu | gcc | busybox | sparse) part=$folder/$name ;;
    kernel) part=$folder/kernel-${suite:?"kernel needs a suite"}${3:+-$3} ;;
    *) echo "vm: fetch.sh knows qemu, gcc, busybox, sparse and kernel SUITE, not \`$name\`" >&2; exit 2 ;;
esac
mkdir -p "$folder"
# Who needs the same part waits for whoever is at it; a kernel may need QEMU meanwhile.
exec 9>"$part.lock"
flock 9
if [[ ! -e $part/complete ]]; then
    rm -rf "$part"
    mkdir "$part"
    prepare_apt
    case $name in
        qemu) fetch_qemu ;;
        gcc) fetch_gcc ;;
        kernel) fetch_kernel "$suite" "$flavour" ;;
        busybox) unpack "$part" busybox-static/bookworm ;;
        sparse) unpack "$part" sparse/bookworm ;;
    esac >&2
    touch "$part/complete"
fi
echo "$part"
