//! What can be wrong with the trees that a board is built in.

use super::checkout;
use super::header::HeaderError;
use std::path::{Path, PathBuf};
use std::{fs, io};
use thiserror::Error;

/// Why a checkout of Corundum or PsPIN cannot be used; nothing has been written then.
#[derive(Debug, Error)]
pub enum CheckoutError {
    /// The directory is not there.
    #[error("`{option} {path}`: there is no such directory")]
    NoDirectory {
        /// The option that names it.
        option: &'static str,
        /// The directory as given.
        path: String,
    },
    /// The directory is something else.
    #[error("{path} is no {what}: it has no {file}; give the root of {source_tree}")]
    NotACheckout {
        /// The directory as given.
        path: String,
        /// What it should be.
        what: &'static str,
        /// The file that was looked for, below the directory.
        file: String,
        /// What to give instead.
        source_tree: &'static str,
    },
    /// The directory is PsPIN without what makes it fit an FPGA.
    #[error(
        "{path} is PsPIN alone (it has {found}): the module `pspin_wrap` and the changes for FPGAs are in FPsPIN, so \
         give a checkout of https://github.com/spcl/FPsPIN, which has {wanted}"
    )]
    PlainPspin {
        /// The directory as given.
        path: String,
        /// The file that gives it away.
        found: &'static str,
        /// The file that was looked for.
        wanted: &'static str,
    },
    /// The application block that the tree ships has other names than ours.
    #[error(
        "{path} does not fit generation {asked}: the module in its {file}, lines {first} to {last}, {differences}; \
         {advice}"
    )]
    OtherNames {
        /// The directory as given.
        path: String,
        /// What was asked for.
        asked: &'static str,
        /// The file with the application block.
        file: &'static str,
        /// Where the header of the module begins.
        first: usize,
        /// Where it ends.
        last: usize,
        /// The names of parameters and ports that differ.
        differences: String,
        /// What to do.
        advice: String,
    },
    /// The application block that the tree ships cannot be read.
    #[error(
        "{path} is of no known generation: its {file} should have the module `{module}`, but {source}; check out a \
         revision of Corundum that fits one: {}",
        checkout::supported_revisions()
    )]
    UnreadableTemplate {
        /// The directory as given.
        path: String,
        /// The file that was looked at.
        file: &'static str,
        /// The module.
        module: &'static str,
        /// What is wrong with it.
        source: HeaderError,
    },
    /// The tree has no design for the board.
    #[error(
        "{path} has no design for board `{board}`: there is no {}; {advice}", looked_for.join(" and no ")
    )]
    NoBoard {
        /// The directory as given.
        path: String,
        /// Name of the board.
        board: &'static str,
        /// The files that were looked for, below the directory.
        looked_for: Vec<String>,
        /// What to do.
        advice: String,
    },
    /// A file of the tree lacks what the overlay hooks into.
    #[error("{file} has {found} {what} where the overlay needs one: is this revision of Corundum changed?")]
    NoHook {
        /// The file.
        file: String,
        /// How many there are.
        found: usize,
        /// What was looked for.
        what: String,
    },
    /// Files that the tree's own list names are not there.
    #[error("{list} names {}: {advice}", missing_files(first, *missing))]
    MissingFiles {
        /// The file with the list.
        list: String,
        /// The first of them.
        first: String,
        /// How many there are.
        missing: usize,
        /// What to do.
        advice: String,
    },
    /// A package that no file of the cluster has.
    #[error(
        "{file} uses the package `{package}` in line {line}, which no file of the cluster declares: check out an unchanged \
         revision of FPsPIN"
    )]
    NoPackage {
        /// The file, below the root of the checkout.
        file: String,
        /// The line of the first use.
        line: usize,
        /// The package.
        package: String,
    },
    /// Packages that cannot be compiled one after the other.
    #[error(
        "the cluster's packages need each other in a circle ({}), so no order of them can be compiled: check out an \
         unchanged revision of FPsPIN", files.join(" needs ")
    )]
    PackageCycle {
        /// Their files below the root of the checkout; the first is also the last.
        files: Vec<String>,
    },
    /// A path that make would take for several.
    #[error(
        "{path} cannot be used: make takes `{character}` in a path for something else; move the directory"
    )]
    UnfitPath {
        /// The path.
        path: String,
        /// The character.
        character: char,
    },
    /// A file that is there cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// `a file that is not there, A`, or `3 files that are not there, the first of them A`.
fn missing_files(first: &str, count: usize) -> String {
    match count {
        1 => format!("a file that is not there, {first}"),
        _ => format!("{count} files that are not there, the first of them {first}"),
    }
}

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
