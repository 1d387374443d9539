//! Rules of the tree that no compiler checks: dependencies, modules, pages, words and the container.

mod circles;
mod dependencies;
mod pages;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a file of the project.
fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
