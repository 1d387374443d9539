//! What becomes of a scene: a capture, or the reason why there is none.

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
