#!/usr/bin/env bash
# Builds the archive that users unpack, and tries it: ./dev release [--built DIR] [--no-try]
#
# It is tried in a root that holds Debian's packages for handlers and programs in C and nothing else: no checkout, no cargo,
# no network. The root is made once (some minutes, 2 GB) and kept; it takes root and the Debian package mmdebstrap.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "release: $*" >&2; exit 1; }

install=(--strip) try=yes
while [[ $# != 0 ]]; do
    case $1 in
        --built) install+=(--built "${2:?"--built needs a folder"}"); shift 2 ;;
        --no-try) try=""; shift ;;
        *) echo "release: there is no option \`$1\`; usage: ./dev release [--built DIR] [--no-try]" >&2; exit 2 ;;
    esac
done

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name=spinneret-$version-$(uname -m)-linux
folder=target/release-archive
root=target/tools/root-bookworm
packages=make,gcc-riscv64-unknown-elf,picolibc-riscv64-unknown-elf,gcc,libc6-dev,pkg-config

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/install.sh --prefix "$work/$name" "${install[@]}" >/dev/null
mkdir -p "$folder"
# The same bytes from run to run: no dates, no owners.
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf "$work/archive.tar" "$name"
gzip -n "$work/archive.tar"
mv "$work/archive.tar.gz" "$folder/$name.tar.gz"
echo "$folder/$name.tar.gz, $(du -h "$folder/$name.tar.gz" | cut -f1)"
[[ -n $try ]] || exit 0

[[ $(id -u) == 0 ]] || fail "the archive is there, and was not tried: that takes root"
if [[ ! -e $root/complete ]]; then
    command -v mmdebstrap >/dev/null || fail "the archive is there, and was not tried: install the Debian package mmdebstrap"
    rm -rf "$root"
    mkdir -p "$root"
    mmdebstrap --quiet --variant=apt --include="$packages" bookworm "$root" || fail "mmdebstrap failed: is there a network?"
    touch "$root/complete"
fi
trial=$root/trial
rm -rf "$trial"
mkdir "$trial"
trap 'rm -rf "$work" "$trial"' EXIT
cp "$folder/$name.tar.gz" tools/try-release.sh "$trial"
# Programs find their files by /proc.
unshare --net --mount sh -c "mount -t proc proc '$root/proc' && chroot '$root' /trial/try-release.sh '$name'"
