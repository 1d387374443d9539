//! From a folder with handlers to their ELF file.

use crate::terminal::tell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Clusters that a program is built for if nobody says otherwise.
const DEFAULT_CLUSTERS: usize = 2;

/// Why there is no program to run.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is nothing of that name.
    #[error("{path} does not exist: name an ELF file, or a folder with handlers and a Makefile")]
    Missing {
        /// What was named.
        path: PathBuf,
    },
    /// It is something else.
    #[error(
        "{path} is neither a file nor a folder: name an ELF file, or a folder with handlers and a Makefile"
    )]
    Neither {
        /// What was named.
        path: PathBuf,
    },
    /// The folder has no Makefile.
    #[error("{path} has no Makefile: name an ELF file, or a folder whose Makefile includes runtime/spin.mk")]
    NoMakefile {
        /// The folder.
        path: PathBuf,
    },
    /// There is no place for results.
    #[error("{path} cannot be written to: {source}")]
    NoFolder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
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

/// The program of a path for that many clusters: an ELF file, or what make builds in a folder. What make says goes to
/// standard error.
///
/// # Errors
/// If there is no such thing, or it cannot be built.
pub fn program(path: &Path, clusters: usize) -> Result<PathBuf, BuildError> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if !path.is_dir() {
        let exists = path.exists();
        let path = path.to_owned();
        return Err(match exists {
            true => BuildError::Neither { path },
            false => BuildError::Missing { path },
        });
    }
    // Relative to the folder: objects that make knows by another name would not be built anew when headers change.
    let results = match clusters {
        DEFAULT_CLUSTERS => "build".to_owned(),
        _ => format!("build/clusters-{clusters}"),
    };
    let _lock = lock(&path.join(&results))?;
    make(path, clusters, &results)?;
    only_elf(&path.join(results))
}

fn make(path: &Path, clusters: usize, results: &str) -> Result<(), BuildError> {
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
        .arg(format!("CLUSTERS={clusters}"))
        .arg(format!("BUILD={results}"))
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
        tell(output);
    }
    Ok(())
}

/// Others who build the same at the same time wait.
fn lock(results: &Path) -> Result<File, BuildError> {
    let no_folder = |source| BuildError::NoFolder {
        path: results.to_owned(),
        source,
    };
    std::fs::create_dir_all(results).map_err(no_folder)?;
    let file = File::create(results.join(".lock")).map_err(no_folder)?;
    file.lock().map_err(no_folder)?;
    Ok(file)
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
