//! The waveform of a run.

use super::args::ResultArguments;
use crate::terminal::Failure;
use anyhow::anyhow;
use spinneret_packets::capture::whole_file::ForeignFile;
use spinneret_sim::waveform;
use std::path::PathBuf;

/// A waveform that is being written; it has its name when the run is over.
#[derive(Debug)]
pub(super) struct Wave {
    named: PathBuf,
    file: ForeignFile,
}

impl Wave {
    /// A place for the waveform that was asked for.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub(super) fn create(results: &ResultArguments) -> Result<Option<Self>, Failure> {
        let Some(named) = &results.wave else {
            return Ok(None);
        };
        let file = ForeignFile::create(named)
            .map_err(|error| Failure::usage(anyhow!("--wave {}: {error}", named.display())))?;
        Ok(Some(Self {
            named: named.clone(),
            file,
        }))
    }

    /// Where the hardware writes it.
    pub(super) fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// Gives it its name, if it is whole. The hardware must be gone.
    ///
    /// # Errors
    /// If it is not.
    pub(super) fn finish(self) -> Result<(), Failure> {
        waveform::check(&self.file.path())
            .and_then(|()| self.file.finish())
            .map_err(|error| Failure::work(anyhow!("{} was not written: {error}", self.named.display())))
    }
}
