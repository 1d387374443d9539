//! The dependencies are as `deny.toml` wants them, and what it does not want is found.

use spinneret_policy::{Dependency, Metadata, Package, Rules, complaints, several_versions};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rules() -> Rules {
    let text = fs::read_to_string(root().join("deny.toml")).expect("it is in the project's root");
    Rules::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// The platform that this test runs on.
fn host() -> String {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .expect("rustc is there when Cargo is");
    let text = String::from_utf8(output.stdout).expect("rustc writes text");
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its host").to_owned()
}

#[test]
fn all_dependencies_are_as_deny_toml_wants_them() {
    let rules = rules();
    let metadata = Metadata::read(&root(), env!("CARGO"), &host()).unwrap_or_else(|error| panic!("{error}"));
    let is_known = |name: &str| metadata.packages.iter().any(|package| package.name == name);
    assert!(
        is_known("spinneret-policy") && is_known("spdx"),
        "these packages are not ours"
    );
    let complaints = complaints(&rules, &metadata).unwrap_or_else(|error| panic!("{error}"));
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    let several = several_versions(&metadata);
    for (name, versions) in &several {
        println!("{name} is there in several versions: {}", versions.join(", "));
    }
    assert!(
        rules.allow_several_versions() || several.is_empty(),
        "{several:?}"
    );
}

/// What is said of one more package, besides what is said of none.
fn said_of(change: impl FnOnce(&mut Package)) -> Vec<String> {
    let mut package = Package {
        name: "other".to_owned(),
        version: "1.2.3".to_owned(),
        license: Some("MIT".to_owned()),
        source: Some(CRATES_IO.to_owned()),
        dependencies: Vec::new(),
    };
    change(&mut package);
    let mut metadata = Metadata { packages: Vec::new() };
    let of_none = complaints(&rules(), &metadata).expect("the rules are right");
    metadata.packages.push(package);
    let mut said = complaints(&rules(), &metadata).expect("the rules are right");
    said.retain(|complaint| !of_none.contains(complaint));
    said
}

#[test]
fn licences_are_read_as_expressions() {
    let with = |text: &str| said_of(|package| package.license = Some(text.to_owned()));
    for allowed in ["MIT/GPL-3.0", "Zlib OR (MIT AND Apache-2.0)", "Apache-2.0"] {
        assert_eq!(with(allowed), [""; 0], "{allowed}");
    }
    for refused in ["GPL-3.0-only", "MIT AND GPL-2.0-only", "MPL-2.0"] {
        assert_eq!(
            with(refused),
            [format!(
                "other 1.2.3 has the licence `{refused}`, which deny.toml does not allow: use another crate, or add \
                 the licence to deny.toml with the reason"
            )]
        );
    }
    assert_eq!(
        with("see LICENSE"),
        ["other 1.2.3 has the licence `see LICENSE`, which is no SPDX expression: use another crate"]
    );
    assert_eq!(
        said_of(|package| package.license = None),
        ["other 1.2.3 names no licence: use another crate, or ask its authors to name one"]
    );
}

#[test]
fn an_exception_is_for_its_crate_alone_and_has_to_be_needed() {
    let is_cbindgen = |package: &mut Package| {
        package.name = "cbindgen".to_owned();
        package.license = Some("MPL-2.0".to_owned());
    };
    assert_eq!(said_of(is_cbindgen), [""; 0]);
    let empty = Metadata { packages: Vec::new() };
    let unneeded = ["vmm-sys-util", "cbindgen", "target-lexicon"].map(|name| {
        format!(
            "deny.toml makes an exception for {name}, which is no dependency any more: remove the exception"
        )
    });
    assert_eq!(
        complaints(&rules(), &empty).expect("the rules are right"),
        unneeded
    );
}

#[test]
fn other_sources_are_refused() {
    for other in [
        "git+https://example.com/other",
        "registry+https://example.com/index",
    ] {
        assert_eq!(
            said_of(|package| package.source = Some(other.to_owned())),
            [format!(
                "other 1.2.3 comes from {other}: use a version from crates.io"
            )]
        );
    }
}

#[test]
fn our_packages_name_versions_but_of_each_other() {
    let with = |source: Option<&str>, path: Option<&str>| {
        said_of(|package| {
            package.source = source.map(str::to_owned);
            package.dependencies.push(Dependency {
                name: "any".to_owned(),
                req: "*".to_owned(),
                path: path.map(PathBuf::from),
            });
        })
    };
    assert_eq!(
        with(None, None),
        ["other depends on any version of any: name a version in Cargo.toml"]
    );
    assert_eq!(with(None, Some("any")), [""; 0]);
    assert_eq!(with(Some(CRATES_IO), None), [""; 0]);
}

#[test]
fn rules_that_nobody_holds_to_are_errors() {
    let text = fs::read_to_string(root().join("deny.toml")).expect("it is in the project's root");
    let unknown = text.replace("[sources]", "[sources]\nallow-org = {}");
    let error = Rules::parse(&unknown).expect_err("this rule is not known");
    assert!(error.contains("unknown field `allow-org`"), "{error}");
    let mistyped = text.replace("\"MIT\"", "\"MTI\"");
    let rules = Rules::parse(&mistyped).expect("licences are looked at later");
    let error = complaints(&rules, &Metadata { packages: Vec::new() }).expect_err("there is no such licence");
    assert!(
        error.starts_with("deny.toml allows `MTI`, which is no licence"),
        "{error}"
    );
}
