#!/usr/bin/env bash
# Installs programs, the library for C, and what handlers are built with, into a folder that can be moved afterwards:
# ./dev install --prefix DIR [--built DIR] [--strip]
#
# Everything is put together in a folder of its own first, and then moved, file by file: what fails leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { echo "install: $*; usage: ./dev install --prefix DIR [--built DIR] [--strip]" >&2; exit 2; }
fail() { echo "install: $*" >&2; exit 1; }

prefix="" built="" strip=""
while [[ $# != 0 ]]; do
    case $1 in
        --prefix) prefix=${2:-}; shift 2 || usage "--prefix needs a folder" ;;
        # Programs that are built already, such as target/debug.
        --built) built=${2:-}; shift 2 || usage "--built needs a folder" ;;
        --strip) strip=yes; shift ;;
        *) usage "there is no option \`$1\`" ;;
    esac
done
[[ -n $prefix ]] || usage "--prefix is missing"
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
major=${version%%.*}

build() {
    # With programs named, a library is built only if libraries are asked for.
    local packages=(-p spinneret-nic --bin spinneret -p spinneret-gen --bin gen-verilog -p spinneret-c --lib)
    # isl may be missing; then there is no molly.
    if echo '#include <isl/ctx.h>' | cc -E - >/dev/null 2>&1; then
        packages+=(-p spinneret-molly-command --bin molly)
    fi
    # Others than this machine's processor have to run it.
    SPINNERET_PORTABLE=1 cargo build --release --quiet "${packages[@]}"
    built=${CARGO_TARGET_DIR:-target}/release
}

# put MODE FROM TO: a file, below the folder that is put together.
put() { install -D -m "$1" "$2" "$stage/$3"; }

programs() {
    local program
    for program in spinneret gen-verilog molly; do
        if [[ ! -x $built/$program ]]; then
            [[ $program == molly ]] && continue
            fail "there is no $built/$program: build it, or leave --built out"
        fi
        put 755 "$built/$program" "bin/$program"
        [[ -z $strip ]] || command strip "$stage/bin/$program"
    done
}

library() {
    local file
    for file in libspinneret.so libspinneret.a; do
        [[ -f $built/deps/$file ]] || fail "there is no $built/deps/$file: build the library for C, or leave --built out"
    done
    put 755 "$built/deps/libspinneret.so" "lib/libspinneret.so.$version"
    put 644 "$built/deps/libspinneret.a" lib/libspinneret.a
    if [[ -n $strip ]]; then
        command strip --strip-unneeded "$stage/lib/libspinneret.so.$version"
        command strip --strip-debug "$stage/lib/libspinneret.a"
    fi
    ln -s "libspinneret.so.$version" "$stage/lib/libspinneret.so.$major"
    ln -s "libspinneret.so.$major" "$stage/lib/libspinneret.so"
    put 644 host/include/spinneret.h include/spinneret.h
    make -s -C host/lib/fpspin archive BUILD="$stage/objects" || fail "libfpspin cannot be built: is there a C compiler?"
    put 644 "$stage/objects/libfpspin.a" lib/libfpspin.a
    rm -rf "$stage/objects"
    put 644 host/lib/fpspin/fpspin.h include/fpspin/fpspin.h
    mkdir -p "$stage/lib/pkgconfig"
    for file in spinneret fpspin; do
        sed "s/@VERSION@/$version/" "tools/$file.pc.in" >"$stage/lib/pkgconfig/$file.pc"
    done
}

# What handlers are built with, examples and captures, without what was built in their folders.
data() {
    local data=$stage/share/spinneret
    mkdir -p "$data"
    tar -c --exclude=build --exclude=tests --exclude=check --exclude=public-examples runtime | tar -x -C "$data"
    for file in c/count.c paper/listing1.c paper/listing2.c; do
        put 644 "host/examples/$file" "share/spinneret/host/${file##*/}"
    done
    put 644 python/examples/cocotb/test_pkt_match.py share/spinneret/testbench/test_pkt_match.py
    for capture in sim/captures/*; do
        put 644 "$capture" "share/spinneret/captures/${capture##*/}"
    done
    for page in LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md; do
        put 644 "$page" "share/doc/spinneret/$page"
    done
    # With links to each other; those to the runtime lead to where it is here.
    tar -c docs | tar -x -C "$stage/share/doc/spinneret"
    ln -s ../../spinneret/runtime "$stage/share/doc/spinneret/runtime"
}

manuals() {
    "$stage/bin/spinneret" manual "$stage/share"
    "$stage/bin/gen-verilog" --manual "$stage/share"
    [[ ! -x $stage/bin/molly ]] || "$stage/bin/molly" manual "$stage/share"
}

move() {
    local file
    (cd "$stage" && find . -type d) | (cd "$prefix" && xargs -r mkdir -p)
    while IFS= read -r file; do
        mv -f "$stage/$file" "$prefix/$file"
    done < <(cd "$stage" && find . ! -type d)
}

[[ -n $built ]] || build
mkdir -p "$prefix" 2>/dev/null || fail "$prefix cannot be made: name a folder that you may write to"
stage=$(mktemp -d "$prefix/.spinneret.XXXXXX" 2>/dev/null) || fail "$prefix cannot be written to: name another folder"
trap 'rm -rf "$stage"' EXIT
programs
library
data
manuals
move
echo "spinneret $version is in $prefix: put $prefix/bin into PATH, and $prefix/lib/pkgconfig into PKG_CONFIG_PATH"
