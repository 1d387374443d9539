#!/usr/bin/env bash
# Installs what tools/debian-packages.txt lists and is missing; prints nothing when nothing is.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "setup: $*" >&2; exit 1; }

# Prints the packages that are missing. A command that is there without its package counts as there.
missing() {
    local package command
    while IFS='|' read -r package command _; do
        package=$(tr -d ' ' <<<"$package")
        command=$(tr -d ' ' <<<"$command")
        [[ -z $package || $package == '#'* ]] && continue
        if [[ $command != - ]]; then
            command -v "$command" >/dev/null && continue
        elif [[ $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) == *' installed' ]]; then
            continue
        elif ! command -v dpkg-query >/dev/null && echo '#include <zlib.h>' | cpp >/dev/null 2>&1; then
            continue # Not a Debian system: the header decides.
        fi
        echo "$package"
    done <tools/debian-packages.txt
}

as_root() {
    if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

install() {
    command -v apt-get >/dev/null ||
        fail "this is not Debian or Ubuntu: install $* (or what your system calls them) by hand"
    [[ $(id -u) == 0 ]] || command -v sudo >/dev/null ||
        fail "installing $* needs root and there is no sudo: run ./dev setup as root"
    echo "setup: installing the Debian packages $*"
    as_root apt-get update -qq || fail "apt-get update failed: is there a network?"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
        fail "apt-get could not install $*"
}

# Older releases of Verilator have no --binary and know less SystemVerilog.
check_verilator() {
    local version
    version=$(verilator --version | awk '{ print $2 }')
    [[ $(printf '5.006\n%s\n' "$version" | sort -V | head -n 1) == 5.006 ]] ||
        fail "Verilator $version is too old, 5.006 is needed: use Debian 12, Ubuntu 24.04 or later"
}

rust_component() {
    local component=$1 command=$2
    cargo "$command" --version >/dev/null 2>&1 && return
    command -v rustup >/dev/null || fail "cargo $command is missing and there is no rustup to add it: install $component"
    echo "setup: adding the Rust component $component"
    rustup component add "$component" || fail "rustup could not add $component: is there a network?"
}

command -v cargo >/dev/null || fail "Rust is missing: install it with rustup (https://rustup.rs)"
mapfile -t packages < <(missing)
[[ ${#packages[@]} == 0 ]] || install "${packages[@]}"
check_verilator
rust_component rustfmt fmt
rust_component clippy clippy
