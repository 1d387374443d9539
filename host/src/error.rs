//! Errors of the library, with the call, the context and the register.

use crate::device::{DeviceError, OpenError};
use spinneret_program::ProgramError;
use spinneret_rules::RulesetError;
use std::fmt;

/// A call that failed.
pub struct Error {
    /// The call, such as `Nic::open_context`.
    pub call: &'static str,
    /// The context that it was for.
    pub context: Option<u32>,
    /// Why.
    pub kind: ErrorKind,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ErrorKind {
    /// There is no such NIC.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A register did not answer.
    #[error("{action} of register {register} failed: {source}")]
    Register {
        /// Read or write.
        action: &'static str,
        /// Its name and offset.
        register: String,
        /// Why.
        source: DeviceError,
    },
    /// A register did not reach the expected value.
    #[error("{what} did not happen: register {register} stays {value:#010x}")]
    State {
        /// The expected event.
        what: &'static str,
        /// Its name and offset.
        register: String,
        /// Its last value.
        value: u32,
    },
    /// The cluster's memory did not answer.
    #[error("{action} of {bytes} bytes of the cluster's memory at {address:#010x} failed: {source}")]
    Cluster {
        /// Read or write.
        action: &'static str,
        /// The first byte.
        address: u32,
        /// How many.
        bytes: usize,
        /// Why.
        source: DeviceError,
    },
    /// Something else that the device refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The program has no such handlers.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The hardware does not support the rules.
    #[error(transparent)]
    Ruleset(#[from] RulesetError),
    /// All contexts are taken.
    #[error("all {0} contexts are in use: drop one first")]
    NoContext(u32),
    /// The cluster runs another program.
    #[error(
        "the cluster runs {running}, and all contexts share one program: build the handlers of {wanted} into the same ELF \
         file (SRCS = a.c b.c in its Makefile), or drop the other contexts first"
    )]
    OtherProgram {
        /// The file that runs.
        running: String,
        /// The file that was asked for.
        wanted: String,
    },
    /// The program does not start.
    #[error("{program} does not start: {why}")]
    NoStart {
        /// The file.
        program: String,
        /// The reason.
        why: String,
    },
    /// Memory that is not there.
    #[error("{bytes} bytes at offset {offset:#x} are not within the {size} bytes of {what}")]
    Outside {
        /// The accessed object.
        what: &'static str,
        /// Where.
        offset: u32,
        /// How much.
        bytes: usize,
        /// How much there is.
        size: u32,
    },
    /// A word at an address where it cannot be accessed at once.
    #[error("offset {offset:#x} of {what} is no multiple of the {bytes} bytes of a word")]
    Misaligned {
        /// The accessed object.
        what: &'static str,
        /// Where.
        offset: u32,
        /// Size of the word.
        bytes: usize,
    },
    /// There is no variable of that name.
    #[error("the program {program} has no variable `{name}` in L2; it has {found}")]
    NoVariable {
        /// The file.
        program: String,
        /// The requested name.
        name: String,
        /// The existing names.
        found: String,
    },
    /// The handlers need a scratchpad in each cluster, and the NIC has too many clusters.
    #[error("the NIC has {clusters} clusters, and these handlers can have scratchpads in {most} of them")]
    TooManyClusters {
        /// Clusters of the NIC.
        clusters: u32,
        /// Most clusters with scratchpads.
        most: u32,
    },
    /// The clusters have no shares.
    #[error(
        "the clusters of this NIC have no shares of contexts: spinneret's own have, such as those of `--cluster rtl`"
    )]
    NoShares,
    /// A share that this process may not set.
    #[error("a {what} of {value} is not possible: this process may set {} to {}", .allowed.start(), .allowed.end())]
    Share {
        /// Weight, budget, bound or rate.
        what: &'static str,
        /// The requested value.
        value: u32,
        /// The allowed ones.
        allowed: std::ops::RangeInclusive<u32>,
    },
    /// A condition did not hold in time.
    #[error("{what} did not happen within {limit:?}")]
    TimedOut {
        /// The expected event.
        what: String,
        /// How long.
        limit: std::time::Duration,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.context {
            Some(context) => write!(f, "{}, context {context}: {}", self.call, self.kind),
            None => write!(f, "{}: {}", self.call, self.kind),
        }
    }
}

/// Prints the message, because that is what a program shows whose `main` returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.kind)
    }
}

/// Adds the call to an error.
pub(crate) trait In<T> {
    /// In that call.
    fn call(self, call: &'static str) -> Result<T, Error>;
    /// In that call, for that context.
    fn of(self, call: &'static str, context: u32) -> Result<T, Error>;
}

impl<T, E: Into<ErrorKind>> In<T> for Result<T, E> {
    fn call(self, call: &'static str) -> Result<T, Error> {
        self.map_err(|kind| Error {
            call,
            context: None,
            kind: kind.into(),
        })
    }

    fn of(self, call: &'static str, context: u32) -> Result<T, Error> {
        self.map_err(|kind| Error {
            call,
            context: Some(context),
            kind: kind.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorKind};

    #[test]
    fn debug_output_is_the_message() {
        let error = Error {
            call: "Nic::open_context",
            context: None,
            kind: ErrorKind::NoContext(4),
        };
        let sentence = "Nic::open_context: all 4 contexts are in use: drop one first";
        assert_eq!(format!("{error:?}"), sentence);
        assert_eq!(format!("{error}"), sentence);
    }
}
