//! Pages agree with the tree: the code map of ARCHITECTURE.md with the manifests, links with files and headings.

use crate::{read, root};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A crate's line in the map.
struct Line<'a> {
    folder: &'a str,
    name: &'a str,
    uses: Vec<&'a str>,
}

fn lines(page: &str) -> Vec<Line<'_>> {
    page.lines()
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

fn manifest(folder: &str) -> toml::Table {
    read(&format!("{folder}/Cargo.toml")).parse().unwrap()
}

#[test]
fn crates_use_only_crates_above_them_in_the_map() {
    let workspace = manifest(".")["workspace"].as_table().unwrap().clone();
    let folder_of = |dependency: &str| {
        let found = workspace["dependencies"].get(dependency)?.get("path")?;
        found.as_str().map(str::to_owned)
    };
    let page = read("ARCHITECTURE.md");
    let lines = lines(&page);
    for member in workspace["members"].as_array().unwrap() {
        let member = member.as_str().unwrap();
        let manifest = manifest(member);
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

/// Users with a design of their own take these two from a registry.
#[test]
fn bus_models_and_their_builder_use_no_other_crate() {
    for line in lines(&read("ARCHITECTURE.md")) {
        if ["sim", "sim/verilate"].contains(&line.folder) {
            assert!(line.uses.is_empty(), "{}", line.folder);
        }
    }
}

/// The pages at the root and in folders that have pages, with their texts.
pub(crate) fn pages() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut folders = ["docs", "runtime", "sim", "python", "constraints"]
        .map(|name| root.join(name))
        .to_vec();
    let mut pages = Vec::new();
    let mut add = |path: PathBuf| {
        if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).unwrap();
            pages.push((path, text));
        }
    };
    for entry in fs::read_dir(&root).unwrap() {
        add(entry.unwrap().path());
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => add(path),
            }
        }
    }
    pages
}

/// The lines of a page that are not in a fenced block.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_fenced = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fence && !is_fenced
    })
}

/// The names by which headings of a page are linked.
fn anchors(text: &str) -> Vec<String> {
    let heading = |line: &str| {
        let title = line.trim_start_matches('#').strip_prefix(' ')?.to_lowercase();
        let kept = title
            .chars()
            .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        Some(
            kept.map(|letter| if letter == ' ' { '-' } else { letter })
                .collect(),
        )
    };
    prose(text)
        .filter(|line| line.starts_with('#'))
        .filter_map(heading)
        .collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for (page, text) in pages() {
        for link in prose(&text).flat_map(|line| line.split("](").skip(1)) {
            let link = link.split(')').next().unwrap_or_default();
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            if link.contains("://") || link.contains(' ') {
                continue;
            }
            let target = match file {
                "" => page.clone(),
                _ => page.with_file_name("").join(file),
            };
            let leads = match anchor {
                "" => target.exists(),
                _ => fs::read_to_string(&target)
                    .is_ok_and(|text| anchors(&text).iter().any(|name| name == anchor)),
            };
            if !leads {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}

#[test]
fn pages_that_use_the_terms_of_the_glossary_link_to_it() {
    let is_term = |word: &str| ["sPIN", "HER", "HERs", "HPU", "HPUs"].contains(&word);
    for (page, text) in pages() {
        let is_old = page.ends_with("CHANGELOG.md");
        let is_example = page.components().any(|part| part.as_os_str() == "examples");
        let uses = prose(&text).any(|line| {
            line.contains("the paper") || line.split(|letter: char| !letter.is_alphanumeric()).any(is_term)
        });
        if uses && !is_old && !is_example && !page.ends_with("glossary.md") {
            assert!(
                text.contains("glossary.md"),
                "{} uses a term of docs/glossary.md, and does not link to it",
                page.display()
            );
        }
    }
}

/// The commands that the image runs, with their lines joined.
fn commands(file: &str) -> Vec<String> {
    let joined = file.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("RUN "));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_image_installs_the_list_and_copies_what_exists() {
    let file = read("tools/Containerfile");
    let copied = file
        .lines()
        .find_map(|line| line.strip_prefix("COPY "))
        .expect("it copies the list");
    let source = copied.split_whitespace().next().expect("it has a source");
    assert_eq!(source, "tools/debian-packages.txt");
    let sent = read(".dockerignore");
    assert!(
        sent.lines().any(|line| line.strip_prefix('!') == Some(source)),
        "{sent}"
    );
    let run = commands(&file).join("\n");
    // The pipeline of the image without the last step.
    let pipeline = run
        .split("&&")
        .find(|step| step.contains("xargs"))
        .expect("it installs the list");
    let pipeline = pipeline.split("| xargs").next().expect("it has a beginning");
    let pipeline = pipeline.replace(
        "/tmp/debian-packages.txt",
        &root().join(source).display().to_string(),
    );
    let listed = Command::new("sh")
        .args(["-c", &pipeline])
        .output()
        .expect("there is a shell");
    let listed = String::from_utf8(listed.stdout).expect("names are text");
    let packages: Vec<&str> = listed.split_whitespace().collect();
    for name in ["verilator", "zlib1g-dev", "libisl-dev"] {
        assert!(packages.contains(&name), "{packages:?}");
    }
    assert!(
        packages.iter().all(|name| !name.contains(['|', '#'])),
        "{packages:?}"
    );
}

#[test]
fn the_image_has_the_compiler_of_the_workspace() {
    let manifest: toml::Table = read("Cargo.toml").parse().expect("it is TOML");
    let version = manifest["workspace"]["package"]["rust-version"]
        .as_str()
        .expect("it is text");
    let image = format!("FROM docker.io/library/rust:{version}-bookworm");
    assert!(
        read("tools/Containerfile").contains(&image),
        "the image is not {image}"
    );
}

#[test]
fn editors_take_the_same_image() {
    let file = read(".devcontainer/devcontainer.json");
    assert!(
        file.contains("\"dockerfile\": \"../tools/Containerfile\""),
        "{file}"
    );
}
