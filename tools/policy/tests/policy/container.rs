//! The container's packages are those of the project's list. No image is built here: that takes a container engine.

use crate::{read, root};
use std::process::Command;

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
    // The very pipeline of the image, but for the last step.
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
