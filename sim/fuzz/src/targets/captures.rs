//! Captures.

use super::seeds;
use crate::mutate::damaged;
use crate::{Fed, Target};
use rand_chacha::ChaCha8Rng;
use spinneret_sim::capture::CaptureReader;
use std::path::Path;

/// Reads all packets of a capture.
pub(super) struct Captures {
    seeds: Vec<Vec<u8>>,
}

impl Captures {
    pub(super) fn new() -> anyhow::Result<Self> {
        Ok(Self {
            seeds: seeds("sim/captures", &["pcap", "pcapng"])?,
        })
    }
}

impl Target for Captures {
    fn pieces(&self) -> &'static str {
        "files"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        damaged(&self.seeds, rng)
    }

    fn run(&mut self, input: &[u8]) -> Result<Fed, String> {
        let mut fed = Fed {
            pieces: 1,
            understood: 0,
        };
        let reader = match CaptureReader::new(Path::new("fuzzed"), input) {
            Ok(reader) => reader,
            Err(error) => return said(&error.to_string()).map(|()| fed),
        };
        let (mut bytes, mut packets) = (0, 0);
        for packet in reader {
            match packet {
                Ok(packet) => {
                    bytes += packet.data.len();
                    packets += 1;
                    fed.understood = 1;
                }
                Err(error) => said(&error.to_string())?,
            }
        }
        match bytes <= input.len() {
            true => Ok(fed),
            false => Err(format!(
                "{packets} packets have {bytes} bytes, and the file {}",
                input.len()
            )),
        }
    }
}

/// Whether an error names the file, in one sentence.
fn said(error: &str) -> Result<(), String> {
    match error.contains("fuzzed") && !error.contains('\n') {
        true => Ok(()),
        false => Err(format!("this is no sentence about the file: {error:?}")),
    }
}
