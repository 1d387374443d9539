//! `host/include/spinneret.h` is what the sources say, and good C and C++.

use cbindgen::{Builder, Config, DocumentationStyle, Language};
use spinneret::{spinneret_addresses, spinneret_options, spinneret_rule, spinneret_ruleset};
use std::path::{Path, PathBuf};
use std::process::Command;

/// In the order of the header.
const SOURCES: [&str; 6] = ["border", "nic", "network", "rules", "context", "memory"];

const INTRODUCTION: &str = "\
/*
 * What applications use a spinneret NIC with. Made from host/c; docs/host/library.md explains it.
 *
 * Calls that give back an int succeed with 0, or what they say instead, and fail with one of the negative numbers below;
 * spinneret_error_message() says why. Strings are UTF-8, and end with a 0.
 *
 * Handles are closed once, by the call that has close in its name. A handle that is closed, or of another kind, is an error,
 * and so is a null pointer where none is allowed. Every call may be made by every thread.
 */";

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> PathBuf {
    folder().join("../include/spinneret.h")
}

/// What the header should be.
fn made() -> String {
    let config = Config {
        language: Language::C,
        cpp_compat: true,
        header: Some(INTRODUCTION.to_owned()),
        include_guard: Some("SPINNERET_H".to_owned()),
        no_includes: true,
        sys_includes: ["stddef.h", "stdint.h"].map(str::to_owned).to_vec(),
        usize_is_size_t: true,
        documentation_style: DocumentationStyle::Doxy,
        line_length: 112,
        tab_width: 4,
        ..Config::default()
    };
    let builder = SOURCES
        .iter()
        .fold(Builder::new().with_config(config), |builder, source| {
            builder.with_src(folder().join(format!("src/{source}.rs")))
        });
    let made = builder.generate().expect("the compiler has taken the sources");
    let mut text = Vec::new();
    made.write(&mut text);
    let text = String::from_utf8(text).expect("the sources are UTF-8");
    // Comments are Markdown, of which C knows nothing; what callers promise follows what the call does.
    text.replace('`', "").replace(" *\n * # Safety\n", "")
}

#[test]
fn the_header_is_up_to_date() {
    let wanted = made();
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        std::fs::write(header(), &wanted).expect("it can be written");
    }
    let found = std::fs::read_to_string(header()).unwrap_or_default();
    assert!(
        found == wanted,
        "host/include/spinneret.h differs from host/c: run `SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-c --test header`"
    );
}

/// cbindgen leaves out what it does not know, and says so to nobody.
#[test]
fn no_call_is_left_out() {
    let header = made();
    let mut calls = 0;
    for file in std::fs::read_dir(folder().join("src")).expect("the crate has sources") {
        let path = file.expect("the folder can be read").path();
        let source = std::fs::read_to_string(&path).expect("it is a source file");
        for exported in source.split("#[unsafe(no_mangle)]").skip(1) {
            let (_, named) = exported.split_once("fn ").expect("calls are marked");
            let (name, _) = named.split_once('(').expect("calls have arguments");
            let declared = [' ', '*'].map(|before| format!("{before}{name}("));
            assert!(
                declared.iter().any(|call| header.contains(call)),
                "{name} of {} is not in the header",
                path.display()
            );
            calls += 1;
        }
    }
    assert!(calls > 0, "no calls are found in the sources");
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
         _Static_assert(sizeof(spinneret_addresses) == {}, \"addresses\");\n\
         _Static_assert(SPINNERET_OK == 0 && SPINNERET_ERROR_ARGUMENT < 0, \"results\");\n\
         int main(void) {{ spinneret_nic *nic = 0; return spinneret_open(\"\", &nic) == SPINNERET_OK; }}\n",
        size_of::<spinneret_rule>(),
        size_of::<spinneret_ruleset>(),
        size_of::<spinneret_options>(),
        size_of::<spinneret_addresses>(),
    );
    let folder = tempfile::tempdir().expect("there is room");
    // Not the file of the project, which another test may be writing.
    std::fs::write(folder.path().join("spinneret.h"), made()).expect("there is room");
    let source = folder.path().join("uses.c");
    std::fs::write(&source, sizes).expect("there is room");
    for (compiler, flags) in [("gcc", &["-std=c11"][..]), ("g++", &["-std=c++11", "-x", "c++"])] {
        let checked = Command::new(compiler)
            .args(flags)
            .args(["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
            .args([folder.path(), &source])
            .output()
            .unwrap_or_else(|error| panic!("{compiler} does not run ({error}): ./dev setup installs it"));
        assert!(
            checked.status.success(),
            "{compiler}: {}",
            String::from_utf8_lossy(&checked.stderr)
        );
    }
}
