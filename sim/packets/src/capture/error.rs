//! What can be wrong with a capture, and where.

use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// Why a capture cannot be read or written.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be opened, or its beginning cannot be read.
    #[error("{}: cannot read the capture: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file does not begin as a capture does.
    #[error("{}: this is not a pcap or pcapng capture: {found}", file.display())]
    NotACapture {
        /// The file.
        file: PathBuf,
        /// What the file begins with, and what to do about it if that is known.
        found: String,
    },
    /// The file ends early or holds what no capture can.
    #[error("{}: {at}: {problem}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where.
        at: DamagedAt,
        /// What is wrong.
        problem: String,
    },
    /// The capture is not of Ethernet frames.
    #[error(
        "{}: {place} has link type {found}, but only Ethernet (link type 1) can be read: \
         capture on an Ethernet interface",
        file.display()
    )]
    NotEthernet {
        /// The file.
        file: PathBuf,
        /// The capture as a whole, or a packet and its interface.
        place: String,
        /// The link type that was found.
        found: String,
    },
    /// The file cannot be written.
    #[error("{}: cannot write the capture: {source}", file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The packet has no place in a pcap file.
    #[error("{}: packet {packet} cannot be written to a pcap file: {problem}", file.display())]
    Unsuitable {
        /// The file.
        file: PathBuf,
        /// Number of the packet in the file that is written, counted from 1.
        packet: u64,
        /// What is wrong with it.
        problem: String,
    },
}

/// A position in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DamagedAt {
    /// Number of the packet that could not be read, counted from 1.
    pub packet: u64,
    /// Offset in the file of the record that could not be read, in bytes.
    pub offset: u64,
}

/// Shows `packet 12 (at byte 3456)`.
impl fmt::Display for DamagedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet {} (at byte {})", self.packet, self.offset)
    }
}
