//! Holds the dependencies to `deny.toml`, without a network: licences, bans and sources; and modules to use no other one
//! that uses them.
//!
//! `cargo deny` reads the same file and does more, such as looking for advisories; this is what every machine can hold to
//! before each change. What the file says and this crate does not know is an error, so that nothing is only written down.

mod circles;
mod metadata;
mod rules;

pub use circles::circles;
pub use metadata::{Dependency, Metadata, Package};
pub use rules::Rules;

use spdx::{Expression, Licensee, ParseMode};
use std::collections::BTreeMap;

/// What is wrong, a sentence for each: the crate, what it is, and what to do.
///
/// # Errors
/// If the rules name a licence that there is not.
pub fn complaints(rules: &Rules, metadata: &Metadata) -> Result<Vec<String>, String> {
    let allowed = licences(&rules.licenses.allow)?;
    let mut complaints = Vec::new();
    for exception in &rules.licenses.exceptions {
        let is_there = |package: &Package| package.name == exception.name;
        if !metadata.packages.iter().any(is_there) {
            complaints.push(format!(
                "deny.toml makes an exception for {}, which is no dependency any more: remove the exception",
                exception.name
            ));
        }
    }
    for package in &metadata.packages {
        let mut allowed = allowed.clone();
        let exceptions = rules.licenses.exceptions.iter();
        for exception in exceptions.filter(|exception| exception.name == package.name) {
            allowed.extend(licences(&exception.allow)?);
        }
        complaints.extend(licence(package, &allowed));
        complaints.extend(source(rules, package));
        if package.source.is_none() {
            complaints.extend(wildcards(rules, package));
        }
    }
    Ok(complaints)
}

/// Crates that are there in several versions, with these.
pub fn several_versions(metadata: &Metadata) -> Vec<(&str, Vec<&str>)> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in &metadata.packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    versions.into_iter().filter(|(_, all)| all.len() > 1).collect()
}

fn licences(names: &[String]) -> Result<Vec<Licensee>, String> {
    let parse = |name: &String| {
        Licensee::parse(name)
            .map_err(|error| format!("deny.toml allows `{name}`, which is no licence: {error}"))
    };
    names.iter().map(parse).collect()
}

fn licence(package: &Package, allowed: &[Licensee]) -> Option<String> {
    let Package { name, version, .. } = package;
    let Some(text) = &package.license else {
        return Some(format!(
            "{name} {version} names no licence: use another crate, or ask its authors to name one"
        ));
    };
    // Older crates write `MIT/Apache-2.0`.
    let Ok(expression) = Expression::parse_mode(text, ParseMode::LAX) else {
        return Some(format!(
            "{name} {version} has the licence `{text}`, which is no SPDX expression: use another crate"
        ));
    };
    let is_allowed = expression.evaluate(|wanted| allowed.iter().any(|licence| licence.satisfies(wanted)));
    (!is_allowed).then(|| {
        format!(
            "{name} {version} has the licence `{text}`, which deny.toml does not allow: use another crate, or add the \
             licence to deny.toml with the reason"
        )
    })
}

/// The one registry, as Cargo calls it.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn source(rules: &Rules, package: &Package) -> Option<String> {
    let Package { name, version, .. } = package;
    let source = package.source.as_deref()?;
    let is_refused = match source.starts_with("git+") {
        true => rules.sources.unknown_git.denies(),
        false => source != CRATES_IO && rules.sources.unknown_registry.denies(),
    };
    is_refused.then(|| format!("{name} {version} comes from {source}: use a version from crates.io"))
}

/// Dependencies of our own on any version.
fn wildcards(rules: &Rules, package: &Package) -> Vec<String> {
    if !rules.bans.wildcards.denies() {
        return Vec::new();
    }
    let is_excused = |dependency: &&Dependency| dependency.path.is_some() && rules.bans.allow_wildcard_paths;
    let wild = package
        .dependencies
        .iter()
        .filter(|dependency| dependency.req == "*");
    wild.filter(|dependency| !is_excused(dependency))
        .map(|Dependency { name, .. }| {
            format!(
                "{} depends on any version of {name}: name a version in Cargo.toml",
                package.name
            )
        })
        .collect()
}
