//! `docs/registers.md`, the C headers and the linker script are what the tables say, and the header is good C and C++.

use spinneret_regmap::{header, pspin, render};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compares a file with what it should hold; writes it first if that is asked for.
fn check(name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        std::fs::write(&path, wanted).unwrap_or_else(|error| panic!("{name} cannot be written: {error}"));
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{name} differs from the tables of spinneret-regmap: run `./dev docs`, \
         which runs this test with SPINNERET_UPDATE_DOCS=1"
    );
}

#[test]
fn the_register_reference_is_up_to_date() {
    let mut wanted = String::new();
    render::markdown(&mut wanted).expect("strings take every text");
    check("docs/registers.md", &wanted);
}

#[test]
fn the_c_header_is_up_to_date() {
    check("regmap/include/spinneret_regs.h", &c_header());
}

#[test]
fn the_kernel_drivers_headers_are_up_to_date() {
    let mut table = String::new();
    header::kernel_table(&mut table).expect("strings take every text");
    check("kernel/table.h", &table);
    let header = c_header();
    let numbers = header
        .lines()
        .filter(|line| line.starts_with("#define SPINNERET_") && line.split(' ').count() == 3);
    let numbers: String = numbers.map(|line| format!("{line}\n")).collect();
    check(
        "kernel/spinneret_regs.h",
        &format!("{KERNEL_BEGIN}{numbers}\n#endif\n"),
    );
}

#[test]
fn the_runtimes_addresses_are_up_to_date() {
    let (mut map, mut script) = (String::new(), String::new());
    header::runtime_header(&mut map).expect("strings take every text");
    header::linker_script(&mut script).expect("strings take every text");
    check("runtime/include/spin_map.h", &map);
    check("runtime/spin_map.ld", &script);
}

#[test]
fn the_pages_about_the_cluster_name_its_addresses() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
        std::fs::read_to_string(path).expect("the page is there")
    };
    let runtime = read("cluster/runtime.md");
    let driver = pspin::DRIVER_BASE;
    for address in [
        pspin::L1_BASE,
        pspin::HANDLER_BASE,
        pspin::PACKET_BASE,
        pspin::PROGRAM_BASE,
        pspin::PROGRAM_BASE + pspin::RESET_VECTOR,
        pspin::PROGRAM_BASE + pspin::ENTRY,
        pspin::PROGRAM_BASE + pspin::PROGRAM_BYTES,
        pspin::TERMINATE,
        pspin::ICACHE_BASE,
        pspin::DMA_BASE,
        pspin::DMA_BASE + pspin::dma::START,
        pspin::DMA_BASE + pspin::dma::DONE,
        driver,
        driver + pspin::driver::DOORBELL,
        driver + pspin::driver::ERROR,
        driver + pspin::driver::ISSUE,
        driver + pspin::driver::WAIT,
        driver + pspin::driver::TEST,
        driver + pspin::driver::INFO,
        driver + pspin::driver::COMMAND,
        driver + pspin::driver::COMMAND_END - 4,
        pspin::STDOUT,
    ] {
        let address = format!("{address:#010x}");
        assert!(
            runtime.contains(&address),
            "docs/cluster/runtime.md lacks {address}"
        );
    }
    let wrap = read("blocks/mqnic_app_block.md");
    for (base, bytes) in [
        (pspin::HANDLER_BASE, pspin::HANDLER_BYTES + pspin::PACKET_BYTES),
        (pspin::PROGRAM_BASE, pspin::PROGRAM_BYTES),
    ] {
        let range = format!("{base:#010x} to {:#010x}", base + (bytes - 1));
        assert!(
            wrap.contains(&range),
            "docs/blocks/mqnic_app_block.md lacks {range}"
        );
    }
}

#[test]
fn the_c_header_compiles_as_c_and_as_cpp_and_says_what_the_table_says() {
    for (compiler, language) in [("gcc", "-std=c99"), ("g++", "-std=c++11")] {
        let directory = scratch(language);
        let (source, program) = (directory.join("uses.c"), directory.join("uses"));
        std::fs::write(directory.join("spinneret_regs.h"), c_header()).expect("the directory is ours");
        std::fs::write(&source, USES).expect("the directory is ours");
        let flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", language];
        let kind = if compiler == "g++" { "c++" } else { "c" };
        let compiled = Command::new(compiler)
            .args(flags)
            .args(["-x", kind])
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .output()
            .unwrap_or_else(|error| panic!("{compiler} does not run ({error}): ./dev setup installs it"));
        assert!(
            compiled.status.success(),
            "{}",
            String::from_utf8_lossy(&compiled.stderr)
        );
        let ran = Command::new(&program).status().expect("what was compiled runs");
        assert!(ran.success(), "{language}: {ran}");
        std::fs::remove_dir_all(&directory).expect("the directory is ours");
    }
}

/// A program that uses the header and returns 0 if it says what it should.
const USES: &str = r#"
#include "spinneret_regs.h"
#include "spinneret_regs.h"

int main(void)
{
    uint32_t offset = spinneret_element(SPINNERET_ME_MASK_OFFSET, spinneret_rule_element(1, 2));
    if (offset != 0x206cu) return 1;
    if (spinneret_rule_bytes(0x11223344u) != 0x44332211u) return 2;
    if (SPINNERET_CL_AUX_RESET_OFFSET != 4u || SPINNERET_CL_AUX_RESET_RESET != 1u) return 3;
    if (SPINNERET_MAGIC != 0x4e495053u) return 4;
    if (SPINNERET_CAPS_FEATURES_GUARD_MASK != 2u) return 5;
    if (SPINNERET_BAR_REGISTERS_OFFSET != 0x800000u) return 6;
    if (SPINNERET_EVENTS_PENDING_STDOUT_MASK != 0x10u || SPINNERET_PCI_VECTORS != 6u) return 7;
    if (SPINNERET_PCI_DEVICE != 0x5350u) return 8;
    return 0;
}
"#;

/// The numbers of `spinneret_regs.h` with comments and types as the kernel has them.
const KERNEL_BEGIN: &str = "\
/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Numbers of the registers, which docs/registers.md explains.
 *
 * Generated from the tables of the crate spinneret-regmap: change those, then run `./dev docs`.
 */
#ifndef SPINNERET_REGS_H
#define SPINNERET_REGS_H

";

fn c_header() -> String {
    let mut text = String::new();
    header::c_header(&mut text).expect("strings take every text");
    text
}

/// An empty directory of this test.
fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("header{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("cargo gives tests a directory");
    directory
}
