//! What `cargo metadata` says of packages, as far as the rules ask for it.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All packages of a workspace.
#[derive(Clone, Debug, Deserialize)]
pub struct Metadata {
    /// Packages of the workspace, and what they depend on.
    pub packages: Vec<Package>,
}

/// A package.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SPDX expression of its licence, if it names one.
    pub license: Option<String>,
    /// Where it comes from; nothing for packages of the workspace.
    pub source: Option<String>,
    /// What it asks for.
    pub dependencies: Vec<Dependency>,
}

/// What a package asks for.
#[derive(Clone, Debug, Deserialize)]
pub struct Dependency {
    /// Name of the other package.
    pub name: String,
    /// Versions that are asked for.
    pub req: String,
    /// The other package's folder, if it is named by that.
    pub path: Option<PathBuf>,
}

impl Metadata {
    /// Asks Cargo for the workspace in a folder. Packages that are for other platforms alone are left out: who has no
    /// network has not got them.
    ///
    /// # Errors
    /// If Cargo fails, or `Cargo.lock` is out of date.
    pub fn read(root: &Path, cargo: &str, platform: &str) -> Result<Self, String> {
        let mut command = Command::new(cargo);
        command
            .current_dir(root)
            .args(["metadata", "--format-version", "1", "--locked", "--offline"])
            .args(["--filter-platform", platform]);
        let output = command
            .output()
            .map_err(|error| format!("cannot start {cargo}: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("cargo metadata fails: {}", said.trim()));
        }
        serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cargo metadata says something else: {error}"))
    }
}
