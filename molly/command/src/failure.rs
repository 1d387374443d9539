//! How the command ends when it does not succeed.

use std::fmt;
use std::process::ExitCode;

/// Why the command did not succeed, by exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The work could not begin as asked; nothing was written. All ranks come to it by themselves.
    Usage(anyhow::Error),
    /// The work began and failed.
    Work(anyhow::Error),
}

impl Failure {
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::Usage(error.into())
    }

    pub(crate) fn work(error: impl Into<anyhow::Error>) -> Self {
        Self::Work(error.into())
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Work(_) => ExitCode::from(1),
        }
    }
}

/// Plans and grids are what was asked for; anything else goes wrong while it works.
impl From<molly::Error> for Failure {
    fn from(error: molly::Error) -> Self {
        match error {
            error if error.is_found_by_all() => Self::usage(error),
            _ => Self::work(error),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(error) | Self::Work(error) => write!(f, "{error}"),
        }
    }
}
