#!/usr/bin/env bash
# Installs the packages of tools/debian-packages.txt that are missing; prints nothing if none is.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "setup: $*" >&2; exit 1; }

# missing [?]: prints the packages that are missing, or those of them that only save time, which have a `?` before their
# names. A command that is there without its package counts as there.
missing() {
    local package command kind
    while IFS='|' read -r package command _; do
        package=$(tr -d ' ' <<<"$package")
        [[ ${package:0:1} == '?' ]] && kind='?' || kind=
        [[ $kind == "${1:-}" ]] || continue
        package=${package#'?'}
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

check_root() {
    command -v apt-get >/dev/null ||
        fail "this is not Debian or Ubuntu: install $* (or what your system calls them) by hand"
    [[ $(id -u) == 0 ]] || command -v sudo >/dev/null ||
        fail "installing $* needs root and there is no sudo: run ./dev setup as root"
}

install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
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
mapfile -t faster < <(missing '?')
if [[ ${#packages[@]} != 0 ]]; then
    check_root "${packages[@]}"
    echo "setup: installing the Debian packages ${packages[*]} ${faster[*]}"
    as_root apt-get update -qq || fail "apt-get update failed: is there a network?"
    install "${packages[@]}" || fail "apt-get could not install ${packages[*]}"
elif [[ ${#faster[@]} != 0 ]]; then
    echo "setup: installing the Debian packages ${faster[*]}"
fi
for package in "${faster[@]}"; do
    if (check_root "$package") 2>/dev/null && install "$package" 2>/dev/null; then
        # Build scripts look for the best compiler when they run.
        touch sim/*/build.rs
    else
        echo "setup: $package cannot be installed; all works without it, but slower (tools/debian-packages.txt says what)"
    fi
done
check_verilator
rust_component rustfmt fmt
rust_component clippy clippy
