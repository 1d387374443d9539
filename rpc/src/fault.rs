//! Why a port cannot go on.

use core::fmt;

/// Why a port cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault<E> {
    /// The memory cannot be reached.
    Memory(E),
    /// The other side's mailbox holds what no side writes: it would never become equal by inverting.
    Mailbox {
        /// The port.
        port: u32,
        /// What stands in the mailbox.
        value: u32,
    },
}

impl<E> From<E> for Fault<E> {
    fn from(error: E) -> Self {
        Self::Memory(error)
    }
}

impl<E: fmt::Display> fmt::Display for Fault<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => error.fmt(f),
            Self::Mailbox { port, value } => {
                write!(
                    f,
                    "the other side's mailbox of port {port} holds {value}: it is 0 or 1"
                )
            }
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for Fault<E> {}
