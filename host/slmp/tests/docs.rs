//! The generated files are what the tables say, and the C header is good C and C++.

use spinneret_slmp::generate;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags for handlers, as in `runtime/spin.mk`.
const HANDLER_FLAGS: [&str; 6] = [
    "-march=rv32imac_zicsr",
    "-mabi=ilp32",
    "--specs=picolibc.specs",
    "-std=gnu11",
    "-fno-strict-aliasing",
    "-O3",
];
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file with what it should hold; writes it first if that is asked for.
fn check(name: &str, write: fn(&mut String) -> fmt::Result) {
    let mut wanted = String::new();
    write(&mut wanted).expect("strings take every text");
    let path = root().join(name);
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap_or_else(|error| panic!("{name} cannot be written: {error}"));
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{name} differs from the tables of spinneret-slmp: \
         run `SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-slmp --test docs`"
    );
}

#[test]
fn the_c_header_is_up_to_date() {
    check("runtime/include/slmp.h", generate::c_header);
}

#[test]
fn the_dissector_is_up_to_date() {
    check("host/slmp/wireshark/slmp.lua", generate::dissector);
}

/// Checks a source that includes `slmp.h` and `packets.h`, without writing anything.
fn compiles(compiler: &str, flags: &[&str], source: &Path) {
    let checked = Command::new(compiler)
        .args(flags)
        .args(WARNINGS)
        .arg("-I")
        .arg(root().join("runtime/include"))
        .arg(source)
        .output()
        .unwrap_or_else(|error| panic!("{compiler} does not run ({error}): ./dev setup installs it"));
    assert!(
        checked.status.success(),
        "{compiler} {flags:?}:\n{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}

#[test]
fn the_c_header_compiles_for_handlers_and_hosts() {
    let uses = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/uses_slmp.c");
    compiles("riscv64-unknown-elf-gcc", &HANDLER_FLAGS, &uses);
    compiles("gcc", &["-std=c11", "-pedantic", "-DALONE"], &uses);
    compiles("g++", &["-std=c++11", "-pedantic", "-DALONE", "-x", "c++"], &uses);
}
