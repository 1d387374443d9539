#!/usr/bin/env bash
# for-public-loader.sh PROGRAM OUT: a handler's program, as our runtime links it, in the shape that the public loader, libfpspin,
# can read. That loader writes the sections .vectors, .text and .rodata, and no other data, to fixed places; and it takes the
# handler memory from the line of `readelf -S` for .l2_handler_data, which it understands if the section's number has two digits.
set -euo pipefail

program=$1 out=$2 cross=${CROSS:-riscv64-unknown-elf-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# section NAME COLUMN: address or size, in hexadecimal.
section() {
    "${cross}readelf" -SW "$program" | awk -v name="$1" -v column="$2" \
        '{ sub(/^ *\[ *[0-9]+\] /, "") } $1 == name { print $(column == "address" ? 3 : 5) }'
}

image() { "${cross}objcopy" -O binary "${@:2}" --set-section-flags .bss=alloc,load,contents "$program" "$work/$1"; }

image vectors -j .vectors
image text -j .text
image rodata -j .rodata -j .tdata -j .data -j .bss -j .l2_handler_data
{
    for name in vectors text rodata; do
        echo ".section .$name,\"a$([[ $name == rodata ]] || echo x)\"; .incbin \"$work/$name\""
    done
    echo ".section .l2_handler_data,\"a\"; .skip 0x$(section .l2_handler_data size)"
    # So that the number of the last one has two digits.
    for name in 1 2 3 4 5 6 7; do
        echo ".section .before.$name,\"\"; .byte 0"
    done
    "${cross}nm" "$program" | awk '$3 ~ /_hh$|_ph$|_th$|^__host_data$/ { print ".globl " $3 "; .set " $3 ", 0x" $1 }'
} >"$work/all.S"
{
    echo "SECTIONS {"
    echo ".vectors 0x$(section .vectors address) : { *(.vectors) }"
    echo ".text 0x$(section .text address) : { *(.text) }"
    echo ".rodata 0x$(section .rodata address) : { *(.rodata) }"
    for name in 1 2 3 4 5 6 7; do
        echo ".before.$name 0 : { *(.before.$name) }"
    done
    echo ".l2_handler_data 0x$(section .l2_handler_data address) : { *(.l2_handler_data) } }"
} >"$work/all.ld"
"${cross}gcc" -march=rv32ima -mabi=ilp32 -c "$work/all.S" -o "$work/all.o"
"${cross}ld" -m elf32lriscv --no-check-sections -T "$work/all.ld" "$work/all.o" -o "$out"
