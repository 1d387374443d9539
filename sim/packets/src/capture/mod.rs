//! Captures: packets from pcap and pcapng files, and pcap files from packets.
//!
//! [`CaptureReader`] delivers every packet that can be read. A file that ends early or is damaged
//! gives its readable packets first and then one error that names the packet and the byte.
//! [`CaptureWriter`] makes a file appear when it is complete, or not at all.
//!
//! Packets are numbered from 1, as protocol analysers show them.

mod error;
mod input;
mod pcap;
mod pcapng;
mod reader;
pub mod whole_file;
mod writer;

pub use error::{CaptureError, DamagedAt};
pub use reader::CaptureReader;
pub use writer::CaptureWriter;

use std::time::Duration;

/// Largest packet that a capture may hold, in bytes; a file that claims more is damaged.
///
/// This is also the largest snapshot length of the programs that write captures.
pub const MAX_PACKET_BYTES: usize = 262_144;

/// One packet of a capture: an Ethernet frame without its check sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When the packet was captured, since the Unix epoch.
    pub timestamp: Duration,
    /// The bytes that were captured.
    pub data: Vec<u8>,
    /// Size of the packet on the wire, in bytes; larger than what was captured if the capture cut it short.
    pub original_len: u32,
}

impl Packet {
    /// Whether the capture holds only the beginning of the packet.
    pub fn is_cut_short(&self) -> bool {
        self.original_len as usize > self.data.len()
    }
}

/// Resolution of the time stamps of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Microseconds.
    Micro,
    /// Nanoseconds.
    Nano,
}
