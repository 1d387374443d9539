//! The captures that are shipped with the project: made here, the same bytes on every machine.
//!
//! Each capture is a scene of several hosts that talk at the same time, so frames of different flows
//! interleave as they do on a real link. Lengths and checksums are right; frames shorter than 60 bytes
//! are padded as Ethernet cards do. Chance comes from a generator with a fixed seed.

mod encode;
mod flows;
mod frames;
mod scenes;
mod trace;

use thiserror::Error;

/// A capture that is shipped.
#[derive(Clone, Debug)]
pub struct ShippedCapture {
    /// Name of the file.
    pub name: &'static str,
    /// One line that says what is in it.
    pub contents: &'static str,
    /// The file, byte for byte.
    pub bytes: Vec<u8>,
}

/// Makes all captures that are shipped.
///
/// # Errors
/// If the packet or capture library refuses a packet, which would be a mistake in a scene.
pub fn shipped() -> Result<Vec<ShippedCapture>, TrafficError> {
    scenes::ALL.iter().map(scenes::Scene::play).collect()
}

/// A scene asks for a packet that cannot exist.
#[derive(Debug, Error)]
pub enum TrafficError {
    /// The frame cannot be built.
    #[error("a frame of the scene cannot be built: {0}")]
    Frame(String),
    /// The packets cannot be written.
    #[error("the packets of the scene cannot be written: {0}")]
    Encoding(#[from] pcap_file::PcapError),
}
