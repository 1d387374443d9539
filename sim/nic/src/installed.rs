//! Location of the data files: headers, start-up code and linker script of handlers, and examples.
//!
//! Searched in this order: the folder in [`VARIABLE`]; `share/spinneret` next to the folder of the program, as in installations
//! and archives; the checkout that the program was built in.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The variable that names the folder with `runtime/`.
pub const VARIABLE: &str = "SPINNERET_DATA";

/// The variable of make with the folder of the runtime.
pub const RUNTIME_VARIABLE: &str = "SPINNERET_RUNTIME";

/// The file that identifies the folder.
const MARK: &str = "runtime/spin.mk";

/// Folder for a library outside of a program's folder.
static BESIDE: OnceLock<PathBuf> = OnceLock::new();

/// Why the files were not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// The variable names another folder.
    #[error(
        "{VARIABLE} is {path}, where there is no {MARK}: set it to the share/spinneret of an installation, or unset it"
    )]
    Variable {
        /// The folder in it.
        path: PathBuf,
    },
    /// The files were not found.
    #[error(
        "the files of spinneret are neither in {installed} nor in {checkout}: unpack the whole archive, or set {VARIABLE} to \
         the share/spinneret of an installation"
    )]
    Nowhere {
        /// Folder of an installation.
        installed: PathBuf,
        /// Folder of the checkout.
        checkout: PathBuf,
    },
}

/// Sets the folder to search in place of the program's, once.
pub fn set_beside(folder: PathBuf) {
    let _ = BESIDE.set(folder);
}

/// The folder with headers, linker script, rules of make and examples.
///
/// # Errors
/// If it was not found.
pub fn runtime() -> Result<PathBuf, DataError> {
    let variable = env::var_os(VARIABLE).map(PathBuf::from);
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    find(variable, &beside(), &checkout).map(|folder| folder.join("runtime"))
}

/// The folder of an example.
///
/// # Errors
/// As [`runtime`].
pub fn example(name: &str) -> Result<PathBuf, DataError> {
    runtime().map(|folder| folder.join("examples").join(name))
}

fn beside() -> PathBuf {
    let of_program = || {
        let program = env::current_exe().ok()?;
        Some(program.parent()?.parent()?.join("share/spinneret"))
    };
    let beside = BESIDE.get().cloned().or_else(of_program);
    beside.unwrap_or_else(|| PathBuf::from("share/spinneret"))
}

fn find(variable: Option<PathBuf>, beside: &Path, checkout: &Path) -> Result<PathBuf, DataError> {
    let is_there = |folder: &Path| folder.join(MARK).is_file();
    // Make sets these variables for its own folder.
    let whole = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    match variable {
        Some(path) if is_there(&path) => Ok(whole(&path)),
        Some(path) => Err(DataError::Variable { path }),
        None => [beside, checkout]
            .into_iter()
            .find(|folder| is_there(folder))
            .map(whole)
            .ok_or_else(|| DataError::Nowhere {
                installed: beside.to_owned(),
                checkout: checkout.to_owned(),
            }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_order_is_variable_installation_checkout() {
        let folder = tempfile::tempdir().expect("there is room");
        let folders = ["named", "beside", "checkout"].map(|name| folder.path().join(name));
        let [named, beside, checkout] = &folders;
        let nowhere = find(None, beside, checkout).expect_err("nothing is there");
        assert!(matches!(nowhere, DataError::Nowhere { .. }), "{nowhere}");
        for folder in &folders {
            std::fs::create_dir_all(folder.join("runtime")).expect("there is room");
        }
        let wrong = find(Some(named.clone()), beside, checkout).expect_err("it is empty");
        assert_eq!(wrong, DataError::Variable { path: named.clone() });
        for (folder, variable) in [(checkout, None), (beside, None), (named, Some(named.clone()))] {
            std::fs::write(folder.join(MARK), "").expect("there is room");
            let found = find(variable, beside, checkout).expect("it is there");
            assert_eq!(found, folder.canonicalize().expect("it is there"));
        }
    }
}
