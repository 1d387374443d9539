//! `host/include/spinneret.h` is what the sources say, and good C and C++.

mod c;

use c::Declarations;
use spinneret::{spinneret_options, spinneret_rule, spinneret_ruleset};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: [&str; 5] = ["border", "nic", "rules", "context", "memory"];

const FRAME: [&str; 2] = [
    "/*
 * What applications use a spinneret NIC with. Made from host/c; docs/host/library.md explains it.
 *
 * Calls that give back an int succeed with 0, or what they say instead, and fail with one of the negative numbers below;
 * spinneret_error_message() says why. Strings are UTF-8, and end with a 0.
 *
 * Handles are closed once, by the call that has close in its name. A handle that is closed, or of another kind, is an error,
 * and so is a null pointer where none is allowed. Every call may be made by every thread.
 */
#ifndef SPINNERET_H
#define SPINNERET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {
#endif

",
    "#ifdef __cplusplus
}
#endif

#endif
",
];

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> PathBuf {
    folder().join("../include/spinneret.h")
}

#[test]
fn the_header_is_up_to_date() {
    let mut declarations = Declarations::default();
    for source in SOURCES {
        let path = folder().join(format!("src/{source}.rs"));
        declarations.add(&std::fs::read_to_string(path).expect("it is in the list"));
    }
    let wanted = format!("{}{}{}", FRAME[0], declarations.text(), FRAME[1]);
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        std::fs::write(header(), &wanted).expect("it can be written");
    }
    let found = std::fs::read_to_string(header()).unwrap_or_default();
    assert!(
        found == wanted,
        "host/include/spinneret.h differs from host/c: run `SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-c --test header`"
    );
}

/// A program that does not compile if structures are not as large, or functions not there, as the header says.
#[test]
fn the_header_compiles_as_c_and_cpp() {
    let sizes = format!(
        "#include <spinneret.h>\n\
         #ifdef __cplusplus\n#define _Static_assert static_assert\n#endif\n\
         _Static_assert(sizeof(spinneret_rule) == {}, \"rule\");\n\
         _Static_assert(sizeof(spinneret_ruleset) == {}, \"ruleset\");\n\
         _Static_assert(sizeof(spinneret_options) == {}, \"options\");\n\
         _Static_assert(SPINNERET_OK == 0 && SPINNERET_ERROR_ARGUMENT < 0, \"results\");\n\
         int main(void) {{ spinneret_nic *nic = 0; return spinneret_open(\"\", &nic) == SPINNERET_OK; }}\n",
        size_of::<spinneret_rule>(),
        size_of::<spinneret_ruleset>(),
        size_of::<spinneret_options>(),
    );
    let folder = tempfile::tempdir().expect("there is room");
    let source = folder.path().join("uses.c");
    std::fs::write(&source, sizes).expect("there is room");
    for (compiler, flags) in [("gcc", &["-std=c11"][..]), ("g++", &["-std=c++11", "-x", "c++"])] {
        let checked = Command::new(compiler)
            .args(flags)
            .args(["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
            .args([header().parent().expect("it is in a folder"), &source])
            .output()
            .unwrap_or_else(|error| panic!("{compiler} does not run ({error}): ./dev setup installs it"));
        assert!(
            checked.status.success(),
            "{compiler}: {}",
            String::from_utf8_lossy(&checked.stderr)
        );
    }
}
