//! Captures.

use super::files::{Files, NAME, said, seeds};
use crate::Target;
use spinneret_packets::capture::CaptureReader;
use std::path::Path;

/// Reads all packets of a capture.
pub(super) fn target() -> anyhow::Result<Box<dyn Target>> {
    Ok(Files::target(seeds("sim/captures", &["pcap", "pcapng"])?, read))
}

fn read(input: &[u8]) -> Result<bool, String> {
    let reader = match CaptureReader::new(Path::new(NAME), input) {
        Ok(reader) => reader,
        Err(error) => return said(&error.to_string()).map(|()| false),
    };
    let (mut bytes, mut packets) = (0, 0);
    for packet in reader {
        match packet {
            Ok(packet) => {
                bytes += packet.data.len();
                packets += 1;
            }
            Err(error) => said(&error.to_string())?,
        }
    }
    match bytes <= input.len() {
        true => Ok(packets > 0),
        false => Err(format!(
            "{packets} packets have {bytes} bytes, and the file {}",
            input.len()
        )),
    }
}
