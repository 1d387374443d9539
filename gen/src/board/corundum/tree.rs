//! What checks of all trees have in common.

use super::error::CheckoutError;
use std::fs;
use std::path::{Path, PathBuf};

/// The absolute path of a directory that is there and that make can handle.
pub(super) fn open(option: &'static str, path: &Path) -> Result<PathBuf, CheckoutError> {
    if !path.is_dir() {
        return Err(CheckoutError::NoDirectory {
            option,
            path: path.display().to_string(),
        });
    }
    let absolute = path.canonicalize().map_err(|source| CheckoutError::Io {
        path: path.display().to_string(),
        source,
    })?;
    check_path(&absolute)?;
    Ok(absolute)
}

/// Refuses a path that make or a shell would take for something else; Corundum's own Makefiles quote nothing.
pub(super) fn check_path(path: &Path) -> Result<(), CheckoutError> {
    let shown = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+@,".contains(c);
    match shown.chars().find(|c| !plain(*c)) {
        Some(character) => Err(CheckoutError::UnfitPath {
            path: shown,
            character,
        }),
        None => Ok(()),
    }
}

/// A file that has to be readable text.
pub(super) fn read(path: &Path) -> Result<String, CheckoutError> {
    fs::read_to_string(path).map_err(|source| CheckoutError::Io {
        path: path.display().to_string(),
        source,
    })
}

/// A file whose comments may be in any encoding.
pub(super) fn read_lossy(path: &Path) -> Result<String, CheckoutError> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(source) => Err(CheckoutError::Io {
            path: path.display().to_string(),
            source,
        }),
    }
}

/// A file relative to a folder of a tree, both as text, without `..` in it, so that it can be read.
pub(super) fn joined(root: &Path, folder: &str, file: &str) -> PathBuf {
    if file.starts_with('/') {
        return PathBuf::from(file);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(file.split('/')) {
        match part {
            "." | "" => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    root.join(parts.join("/"))
}
