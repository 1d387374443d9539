//! How a command ends when it does not succeed.

use std::fmt;
use std::process::ExitCode;

/// Why a command did not succeed, by exit code.
#[derive(Debug)]
pub enum Failure {
    /// The work could not begin as asked; nothing was written.
    Usage(anyhow::Error),
    /// The work began and failed.
    Work(anyhow::Error),
    /// Ctrl-C, or a request to terminate, came before the work began; nothing was written.
    Interrupted,
}

impl Failure {
    /// The work could not begin as asked.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::Usage(error.into())
    }

    /// The work began and failed.
    pub fn work(error: impl Into<anyhow::Error>) -> Self {
        Self::Work(error.into())
    }

    /// Exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Work(_) => ExitCode::from(1),
            Self::Interrupted => ExitCode::from(130),
        }
    }
}

/// Shows the error; every error of the project names its cause in its own message.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(error) | Self::Work(error) => write!(f, "{error}"),
            Self::Interrupted => f.write_str("interrupted before the first packet; nothing was written"),
        }
    }
}
