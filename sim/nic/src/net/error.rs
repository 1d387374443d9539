//! Why packets do not come in or go out.

use super::generator::RecipeError;
use crate::nic::{DAY_PS, LAST_PS};
use spinneret_packets::capture::CaptureError;
use std::io;
use std::path::PathBuf;

/// Why packets do not come in or go out.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// A capture is damaged, or cannot be read or written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A packet of a capture is no frame.
    #[error("{}: packet {packet} has no bytes, so there is nothing to send", file.display())]
    EmptyPacket {
        /// The capture.
        file: PathBuf,
        /// Number of the packet, counted from 1.
        packet: u64,
    },
    /// A packet of a capture comes when simulated time is over.
    #[error(
        "{}: packet {packet} comes {days} days after the first, and simulated time ends after {}: --back-to-back takes \
         packets without their times",
        file.display(),
        LAST_PS / DAY_PS
    )]
    TooLate {
        /// The capture.
        file: PathBuf,
        /// Number of the packet, counted from 1.
        packet: u64,
        /// Days that it comes after the first one.
        days: u64,
    },
    /// The description of generated traffic is wrong.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The process may not do this.
    #[error("{wanted} needs more privileges: run `{command}` once, or run this with sudo")]
    Privileges {
        /// What was to be done.
        wanted: String,
        /// What grants them.
        command: String,
    },
    /// An interface or namespace has a name that cannot be.
    #[error("`{name}` cannot be the name of an interface: {problem}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An address is none.
    #[error("`{text}` is not an interface's address: write it as 10.9.0.1/24")]
    BadAddress {
        /// What was given.
        text: String,
    },
    /// An interface or namespace exists, and is not to be touched.
    #[error("{what} `{name}` exists already: choose another name, or remove it with `{command}`")]
    Exists {
        /// Interface or network namespace.
        what: &'static str,
        /// Its name.
        name: String,
        /// What removes it.
        command: String,
    },
    /// There is no such interface.
    #[error("there is no interface `{name}`: `ip link` lists those that exist")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The interface carries no packets.
    #[error("interface `{name}` is down: `ip link set {name} up` brings it up")]
    Down {
        /// Its name.
        name: String,
    },
    /// The interface is not an Ethernet interface.
    #[error("interface `{name}` does not carry Ethernet frames (its hardware type is {found}, not 1)")]
    NotEthernet {
        /// Its name.
        name: String,
        /// Its hardware type.
        found: u16,
    },
    /// The interface was removed by someone else.
    #[error("interface `{name}` is gone: somebody removed it")]
    Gone {
        /// Its name.
        name: String,
    },
    /// A program of the system failed, or is missing.
    #[error("`{command}` failed: {problem}")]
    Command {
        /// The command.
        command: String,
        /// What it said.
        problem: String,
    },
    /// The program that has the packets wants no more of it.
    #[error("the program that has the packets ended the run: {0}")]
    Program(String),
    /// The system refuses something.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system says.
        source: io::Error,
    },
}

impl NetError {
    /// The system refuses something.
    pub(super) fn system(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System {
            what: what.into(),
            source: source.into(),
        }
    }
}
