//! Files for the tools.

use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;

/// Writes a file with the folders above it, and answers its path.
pub(super) fn write(path: &Path, text: &str) -> Result<String> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path.display().to_string())
}
