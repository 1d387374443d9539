//! From a folder with handlers to their ELF file.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Why there is no program to run.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is nothing of that name.
    #[error("{path} does not exist: name an ELF file, or a folder with handlers and a Makefile")]
    Missing {
        /// What was named.
        path: PathBuf,
    },
    /// The folder has no Makefile.
    #[error("{path} has no Makefile: name an ELF file, or a folder whose Makefile includes runtime/spin.mk")]
    NoMakefile {
        /// The folder.
        path: PathBuf,
    },
    /// Make cannot be started.
    #[error("make cannot be started: {source}; `./dev setup` installs what is missing")]
    NoMake {
        /// Why not.
        source: std::io::Error,
    },
    /// Make failed.
    #[error("make failed in {path}:\n{output}")]
    Failed {
        /// The folder.
        path: PathBuf,
        /// What it said.
        output: String,
    },
    /// Make left no program, or several.
    #[error("{path} holds {count} ELF files after make: name the one to run")]
    Unclear {
        /// The folder with the results.
        path: PathBuf,
        /// How many there are.
        count: usize,
    },
}

/// The program of a path: an ELF file, or what make builds in a folder. What make says goes to standard error.
///
/// # Errors
/// If there is no such thing, or it cannot be built.
pub fn program(path: &Path) -> Result<PathBuf, BuildError> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if !path.is_dir() {
        return Err(BuildError::Missing {
            path: path.to_owned(),
        });
    }
    make(path)?;
    only_elf(&path.join("build"))
}

fn make(path: &Path) -> Result<(), BuildError> {
    if !["Makefile", "makefile", "GNUmakefile"]
        .iter()
        .any(|name| path.join(name).is_file())
    {
        return Err(BuildError::NoMakefile {
            path: path.to_owned(),
        });
    }
    let done = Command::new("make")
        .args(["--silent", "--no-print-directory", "-C"])
        .arg(path)
        .output()
        .map_err(|source| BuildError::NoMake { source })?;
    let output = [done.stdout, done.stderr].concat();
    let output = String::from_utf8_lossy(&output).trim_end().to_owned();
    if !done.status.success() {
        return Err(BuildError::Failed {
            path: path.to_owned(),
            output,
        });
    }
    if !output.is_empty() {
        eprintln!("{output}");
    }
    Ok(())
}

fn only_elf(folder: &Path) -> Result<PathBuf, BuildError> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let elf: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "elf"))
        .collect();
    match &elf[..] {
        [one] => Ok(one.clone()),
        _ => Err(BuildError::Unclear {
            path: folder.to_owned(),
            count: elf.len(),
        }),
    }
}
