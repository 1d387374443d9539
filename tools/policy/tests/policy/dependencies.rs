//! The dependencies are as `deny.toml` wants them, and what it does not want is found.
//!
//! `cargo deny` reads the same file and looks for advisories as well, but takes minutes to build; this is what every machine
//! can check before each change, without a network. A rule that this test does not know is an error.

use crate::{read, root};
use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The registry that dependencies come from, as Cargo calls it.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// The rules that [`complaints`] checks.
const KNOWN: &str = "\
[bans]
multiple-versions = 'warn'
wildcards = 'deny'
allow-wildcard-paths = true
[sources]
unknown-registry = 'deny'
unknown-git = 'deny'
";

/// `deny.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    licenses: Licenses,
    bans: toml::Table,
    sources: toml::Table,
    /// `cargo deny` alone has the database for these.
    #[serde(rename = "advisories")]
    _advisories: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Licenses {
    allow: Vec<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

/// The part of `cargo metadata` that the rules are about.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// Absent for packages of the workspace.
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    req: String,
    path: Option<String>,
}

/// The errors, a sentence for each: the crate, the problem, and the remedy.
fn complaints(rules: &str, packages: &[Package]) -> Result<Vec<String>, String> {
    let rules: Rules = toml::from_str(rules).map_err(|error| format!("deny.toml: {error}"))?;
    let known: toml::Table = KNOWN.parse().map_err(|error| format!("{error}"))?;
    for (name, rule) in [("bans", &rules.bans), ("sources", &rules.sources)] {
        if known[name].as_table() != Some(rule) {
            return Err(format!("deny.toml: [{name}] is not what {} checks", file!()));
        }
    }
    let allowed = licences(&rules.licenses.allow)?;
    let mut complaints = Vec::new();
    for Exception { name, .. } in &rules.licenses.exceptions {
        if packages.iter().all(|package| package.name != *name) {
            complaints.push(format!(
                "deny.toml makes an exception for {name}, which is no dependency any more: remove the exception"
            ));
        }
    }
    for package in packages {
        let Package { name, version, .. } = package;
        let mut allowed = allowed.clone();
        let exceptions = rules.licenses.exceptions.iter();
        for exception in exceptions.filter(|exception| exception.name == *name) {
            allowed.extend(licences(&exception.allow)?);
        }
        let text = package.license.as_deref().unwrap_or_default();
        // Older crates write `MIT/Apache-2.0`.
        let is_allowed = Expression::parse_mode(text, ParseMode::LAX).is_ok_and(|expression| {
            expression.evaluate(|wanted| allowed.iter().any(|licence| licence.satisfies(wanted)))
        });
        if !is_allowed {
            complaints.push(format!(
                "{name} {version} has the licence `{text}`, which deny.toml does not allow: use another crate, or add the \
                 licence to deny.toml with the reason"
            ));
        }
        match &package.source {
            Some(source) if source != CRATES_IO => complaints.push(format!(
                "{name} {version} comes from {source}: use a version from crates.io"
            )),
            Some(_) => {}
            None => {
                let dependencies = package.dependencies.iter();
                let any = dependencies.filter(|other| other.req == "*" && other.path.is_none());
                complaints.extend(any.map(|other| {
                    let other = &other.name;
                    format!("{name} depends on any version of {other}: name a version in Cargo.toml")
                }));
            }
        }
    }
    Ok(complaints)
}

fn licences(names: &[String]) -> Result<Vec<Licensee>, String> {
    let parse = |name: &String| {
        Licensee::parse(name)
            .map_err(|error| format!("deny.toml allows `{name}`, which is no licence: {error}"))
    };
    names.iter().map(parse).collect()
}

/// Returns the output of a program.
fn output(program: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program).args(arguments).current_dir(root()).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(
        output.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

#[test]
fn dependencies_follow_deny_toml() {
    let rustc = String::from_utf8(output("rustc", &["-vV"])).unwrap();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    // A machine without a network lacks packages of other platforms.
    let text = output(
        env!("CARGO"),
        &[
            "metadata",
            "--format-version=1",
            "--locked",
            "--offline",
            "--filter-platform",
            host.unwrap(),
        ],
    );
    let Metadata { packages } = serde_json::from_slice(&text).unwrap();
    assert!(
        packages.iter().any(|package| package.name == "spdx"),
        "these packages are not ours"
    );
    let complaints = complaints(&read("deny.toml"), &packages).unwrap();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Changes a dependency that is as it should be: what is wrong then.
fn wrong(change: impl FnOnce(&mut Package)) -> Vec<String> {
    let package = |name: &str| Package {
        name: name.to_owned(),
        version: "1.2.3".to_owned(),
        license: Some("MIT".to_owned()),
        source: Some(CRATES_IO.to_owned()),
        dependencies: Vec::new(),
    };
    let mut packages = ["other", "vmm-sys-util", "cbindgen", "target-lexicon"].map(package);
    change(&mut packages[0]);
    complaints(&read("deny.toml"), &packages).unwrap()
}

#[test]
fn licences_are_read_as_expressions() {
    let with = |licence: Option<&str>| wrong(|package| package.license = licence.map(str::to_owned));
    for allowed in ["MIT/GPL-3.0", "Zlib OR (MIT AND Apache-2.0)", "Apache-2.0"] {
        assert_eq!(with(Some(allowed)), [""; 0], "{allowed}");
    }
    for refused in [
        "GPL-3.0-only",
        "MIT AND GPL-2.0-only",
        "MPL-2.0",
        "see LICENSE",
        "",
    ] {
        let told = with(Some(refused));
        assert_eq!(told.len(), 1, "{refused}");
        let start = format!("other 1.2.3 has the licence `{refused}`, which deny.toml does not allow: ");
        assert!(told[0].starts_with(&start), "{}", told[0]);
    }
    assert_eq!(with(None), with(Some("")));
}

#[test]
fn exceptions_apply_to_one_crate_and_must_be_needed() {
    let named = |name: &str| {
        wrong(|package| {
            package.name = name.to_owned();
            package.license = Some("MPL-2.0".to_owned());
        })
    };
    assert_eq!((named("cbindgen").len(), named("vmm-sys-util").len()), (0, 1));
    let unneeded = complaints(&read("deny.toml"), &[]).unwrap();
    let is_told = |told: &String| told.ends_with("is no dependency any more: remove the exception");
    assert!(
        unneeded.len() == 3 && unneeded.iter().all(is_told),
        "{unneeded:?}"
    );
}

#[test]
fn other_sources_and_versions_are_refused() {
    for other in [
        "git+https://example.com/other",
        "registry+https://example.com/index",
    ] {
        assert_eq!(
            wrong(|package| package.source = Some(other.to_owned())),
            [format!(
                "other 1.2.3 comes from {other}: use a version from crates.io"
            )]
        );
    }
    let with = |source: Option<&str>, path: Option<&str>| {
        wrong(|package| {
            package.source = source.map(str::to_owned);
            package.dependencies.push(Dependency {
                name: "any".to_owned(),
                req: "*".to_owned(),
                path: path.map(str::to_owned),
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
fn unchecked_rules_are_errors() {
    for (from, to, said) in [
        (
            "[sources]",
            "[sources]\nallow-org = {}",
            "deny.toml: [sources] is not what ",
        ),
        ("\nwildcards = \"deny\"", "", "deny.toml: [bans] is not what "),
        ("[sources]", "[graph]\n[sources]", "unknown field `graph`"),
        (
            "\"MIT\"",
            "\"MTI\"",
            "deny.toml allows `MTI`, which is no licence",
        ),
    ] {
        let text = read("deny.toml").replace(from, to);
        let error = complaints(&text, &[]).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

/// Whether a source file in this folder has unit tests.
fn has_tests(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .map(|entry| entry.expect("a readable entry").path())
        .any(|path| {
            if path.is_dir() {
                return has_tests(&path);
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            text.contains("#[test]") || text.contains("proptest!")
        })
}

/// A library with `test = false` saves a build of the crate and a link, but Cargo runs none of its unit tests.
#[test]
fn libraries_without_a_test_program_have_no_unit_tests() {
    let workspace: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let members = workspace["workspace"]["members"].as_array().expect("a list");
    let mut checked = 0;
    for folder in members.iter().map(|member| member.as_str().expect("a folder")) {
        let manifest: toml::Table = read(&format!("{folder}/Cargo.toml")).parse().expect("TOML");
        let is_tested = manifest.get("lib").and_then(|lib| lib.get("test")?.as_bool());
        if is_tested == Some(false) {
            let found = has_tests(&root().join(folder).join("src"));
            assert!(
                !found,
                "{folder}/src has tests, but {folder}/Cargo.toml has `test = false`"
            );
            checked += 1;
        }
    }
    assert_ne!(checked, 0);
}
