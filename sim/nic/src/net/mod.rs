//! Where the NIC's packets come from and where they go to: captures, a generator, and Linux.
//!
//! ```text
//! PcapSource, Generator ──► Source ──► the simulated NIC ──► Sink ──► PcapSink
//! Tap (wire, host), PacketSocket ──►                         ──► Tap (wire, host), PacketSocket
//! ```
//!
//! Times are picoseconds of the simulation since the start. A capture and a generator say when their packets are at
//! the NIC, and may say so in advance. A live source cannot: its packets are there at the time of the call.
//!
//! Packets are Ethernet frames without their check sequence. What has been created in the system (interfaces, a
//! namespace) goes away when the last part that uses it is dropped, so a command that uses it should end by
//! returning: [`Interrupt`] turns Ctrl-C into a question for its main loop.

mod clock;
pub mod generator;
mod linux;
mod packet_socket;
mod pcap;
mod tap;

pub(crate) use clock::picoseconds;
pub use clock::{Interrupt, Pacer, wait};
pub use generator::{Generator, Recipe};
pub use packet_socket::PacketSocket;
pub use pcap::{PcapSink, PcapSource, Timing};
pub use tap::{InterfaceAddress, Tap, TapConfig, TapEnd};

use crate::nic::{DAY_PS, LAST_PS};
use crate::terminal::tell;
use generator::RecipeError;
use spinneret_packets::capture::CaptureError;
use std::io;
use std::path::PathBuf;

/// Smallest Ethernet frame without its check sequence, in bytes. Linux hands over shorter ones, and a wire pads them.
pub const MIN_FRAME_BYTES: usize = 60;

/// What comes next from a [`Source`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A packet. Each is delivered once, and none is before the one that came before it.
    Packet {
        /// When it is at the NIC, in picoseconds since the start; may be in the future.
        at_ps: u64,
        /// The frame without its check sequence.
        bytes: Vec<u8>,
    },
    /// A packet that comes when the NIC has room for it, so that it is not dropped, and not before the one that came before it.
    WithRoom(Vec<u8>),
    /// Nothing has come yet; look again later. Only live sources say so.
    Nothing,
    /// There will be no more packets.
    End,
}

/// Where packets come from.
pub trait Source {
    /// The next packet, if there is one; never waits for one.
    ///
    /// # Errors
    /// If what the packets come from is damaged or gone.
    fn next(&mut self, now_ps: u64) -> Result<Next, NetError>;

    /// How many packets there are altogether, if that is known.
    fn total(&self) -> Option<u64> {
        None
    }

    /// Packets so far of which only the beginning is known; they come as they are.
    fn cut_short(&self) -> u64 {
        0
    }

    /// Whether packets come when they like, so that simulated time has to keep up with the clock on the wall.
    fn is_live(&self) -> bool {
        false
    }
}

/// Where packets go to.
pub trait Sink {
    /// Takes a packet that left the NIC then.
    ///
    /// # Errors
    /// If what the packets go to is full or gone.
    fn put(&mut self, at_ps: u64, bytes: &[u8]) -> Result<(), NetError>;

    /// Ends the work; what is incomplete without this is not left behind.
    ///
    /// # Errors
    /// If the work cannot be completed.
    fn finish(self: Box<Self>) -> Result<(), NetError> {
        Ok(())
    }
}

/// Tells how many frames of the NIC an interface did not take.
fn tell_dropped(interface: &str, frames: u64) {
    if frames > 0 {
        tell(format_args!(
            "interface `{interface}` did not take {frames} frames of the NIC: it was down, had no room, or they did not fit it"
        ));
    }
}

/// Pads a frame as a wire does.
fn pad(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().max(MIN_FRAME_BYTES), 0);
    bytes
}

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
    fn system(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System {
            what: what.into(),
            source: source.into(),
        }
    }
}
