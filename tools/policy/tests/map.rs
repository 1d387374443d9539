//! The code map of ARCHITECTURE.md is that of the manifests.

use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../../ARCHITECTURE.md");

/// A crate's line in the map.
struct Line<'a> {
    folder: &'a str,
    name: &'a str,
    uses: Vec<&'a str>,
}

fn lines() -> Vec<Line<'static>> {
    PAGE.lines()
        .filter_map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [folder, name, _, uses] = cells[..] else {
                return None;
            };
            Some(Line {
                folder: folder.strip_prefix('`')?.strip_suffix("/`")?,
                name: name.trim_matches('`'),
                uses: uses
                    .split([',', ';', ':', ' '])
                    .filter(|word| !word.is_empty())
                    .collect(),
            })
        })
        .collect()
}

fn manifest(path: &Path) -> toml::Table {
    fs::read_to_string(path.join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn every_crate_is_in_the_map_and_uses_only_what_stands_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = manifest(&root)["workspace"].as_table().unwrap().clone();
    let folder_of = |dependency: &str| {
        let found = workspace["dependencies"].get(dependency)?.get("path")?;
        found.as_str().map(str::to_owned)
    };
    let lines = lines();
    for member in workspace["members"].as_array().unwrap() {
        let member = member.as_str().unwrap();
        let manifest = manifest(&root.join(member));
        let at = lines.iter().position(|line| line.folder == member);
        let at = at.unwrap_or_else(|| panic!("the code map of ARCHITECTURE.md lacks {member}"));
        assert_eq!(
            manifest["package"]["name"].as_str(),
            Some(lines[at].name),
            "{member}"
        );
        let tables = ["dependencies", "build-dependencies"].map(|table| manifest.get(table));
        let used = tables.into_iter().flatten().filter_map(toml::Value::as_table);
        for used in used
            .flat_map(|table| table.keys())
            .filter_map(|name| folder_of(name))
        {
            assert!(
                lines[at].uses.contains(&&*used),
                "the code map of ARCHITECTURE.md does not say that {member} uses {used}"
            );
            assert!(
                lines[..at].iter().any(|line| line.folder == used),
                "the code map of ARCHITECTURE.md has {used} below {member}, which uses it"
            );
        }
    }
}

/// Whoever simulates a design of their own takes these two from a registry.
#[test]
fn bus_models_and_their_builder_use_no_other_crate() {
    for line in lines() {
        if ["sim", "sim/verilate"].contains(&line.folder) {
            assert!(line.uses.is_empty(), "{}", line.folder);
        }
    }
}
