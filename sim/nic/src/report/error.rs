//! What a record cannot have.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file of a record is not there.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// It cannot be written.
    #[error("the {what} cannot be written to {path}: {source}")]
    Write {
        /// Trace, plot or report.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The page cannot be served.
    #[error(
        "the page cannot be served at port {port} of loopback: {source}; name another port, or none for any that is free"
    )]
    Page {
        /// The port that was asked for.
        port: u16,
        /// Why not.
        source: io::Error,
    },
    /// The picture cannot be drawn.
    #[error("the plot for {path} cannot be drawn: {reason}")]
    Draw {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
}

impl ReportError {
    pub(super) fn write(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Write {
            what,
            path: path.to_owned(),
            source,
        }
    }
}
