//! The common part of these benches: the command that they start, memory of processes, and pictures.

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Args;
use spinneret_nic::picture::{Area, Painted, svg};
use spinneret_table::bench::write;
use std::path::{Path, PathBuf};

/// The command `spinneret`, for benches that start it.
#[derive(Debug, Args)]
pub(crate) struct Spinneret {
    /// Command to measure [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    spinneret: Option<PathBuf>,
}

impl Spinneret {
    /// Its path.
    ///
    /// # Errors
    /// If there is no such file.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        let path = match &self.spinneret {
            Some(path) => path.clone(),
            None => std::env::current_exe()?.with_file_name("spinneret"),
        };
        ensure!(
            path.exists(),
            "no such file: {}; `cargo build --workspace --bins` makes it",
            path.display()
        );
        Ok(path)
    }
}

/// Draws a picture into a file.
pub(crate) fn draw(path: &Path, size: (u32, u32), paint: impl FnOnce(&Area<'_>) -> Painted) -> Result<()> {
    let picture = svg(size, paint).map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))?;
    write(path, &picture)
}

/// Memory of a process in bytes: `VmRSS` now, `VmHWM` at most.
///
/// # Errors
/// If the process has ended, or the system has no such figure.
pub(crate) fn memory_bytes(process: u32, figure: &str) -> Result<u64> {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    let figures = status.lines().filter_map(|line| line.split_once(':'));
    let kibibytes = figures
        .filter(|(name, _)| *name == figure)
        .find_map(|(_, value)| value.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(kibibytes.with_context(|| format!("{path} has no {figure}"))? << 10)
}
