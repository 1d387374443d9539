//! Where waveforms go.

use std::env;
use std::path::{Path, PathBuf};

/// The file for a waveform of that name, in the folder `waves` of Cargo's target directory.
pub(crate) fn path(name: &str) -> PathBuf {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    let file: String = name.chars().map(plain).collect();
    target_dir().join("waves").join(file + ".fst")
}

/// Cargo's target directory, which the running test is in; `target` here if it was moved elsewhere.
fn target_dir() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let is_target = |folder: &&Path| folder.join(".rustc_info.json").is_file();
    program
        .ancestors()
        .skip(1)
        .find(is_target)
        .map_or_else(|| PathBuf::from("target"), Path::to_owned)
}
