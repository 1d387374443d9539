//! Packets, counted.

use serde::Serialize;

/// Packets, and their bytes without the check sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Number of packets.
    pub packets: u64,
    /// Bytes of them.
    pub bytes: u64,
}

impl Traffic {
    /// Counts a packet.
    pub fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}
