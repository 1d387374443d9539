//! `docs/registers.md` and the C header are what the tables say, and the header is good C and C++.

use spinneret_regmap::{header, render};
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
    return 0;
}
"#;

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
